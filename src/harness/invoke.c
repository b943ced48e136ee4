#include <sys/stat.h>
#include "src/harness/environment.h"
#include "src/harness/hear.h"

static void beat(void *data)
{
	struct hearing *r = data;
	struct harness_event e = {.kind = HARNESS_HEARTBEAT, .tokens = r->s->progress};

	session_tell(r->s, &e);
}

static int run_program(struct session *s, const char *file, struct error *err)
{
	CLEANUP(hearing_release) struct hearing r;
	struct command c = {.arena = s->arena, .env = s->env};
	struct process p = {.cwd = s->input->cwd,
		.env_whole = true,
		.input = s->input->prompt,
		.output = -1,
		.heard = hearing_take,
		.tick = beat,
		.tick_ms = s->heartbeat_ms,
		.data = &r,
		.timeout_s = session_seconds(s),
		.cancel = s->input->cancel};
	struct process_end end;
	struct error fault;

	hearing_begin(&r, s);
	command_add(&c, file);
	if (s->harness->command(&c, s->input, err) < 0)
		return -1;
	p.argv = c.argv;
	p.env = c.env;
	if (process_run(&p, &end, &fault) < 0)
		session_verdict(s, HARNESS_UNAVAILABLE, str_of(fault.text));
	else
		hearing_end(&r, &end);
	return 0;
}

static int invoke_program(struct session *s, struct error *err)
{
	bool blocked;
	const char *file = harness_binary(s->arena, s->harness->binary, &blocked);

	if (file)
		return run_program(s, file, err);
	session_verdict(s, HARNESS_UNAVAILABLE,
		str_of(arena_printf(s->arena, blocked ? "'%s' may not be run" : "no '%s' on PATH",
			s->harness->binary)));
	return 0;
}

static bool is_model_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("._:/@[]-", c));
}

/* What ends up on a command line must not be taken for an option there. */
static int check_words(const struct harness_input *input, struct error *err)
{
	const char *m = input->model;

	if (m && (!*m || *m == '-'))
		return error_set(err, ERR_INPUT, "'%.100s' is no id of a model", m);
	for (; m && *m; m++)
		if (!is_model_byte(*m))
			return error_set(
				err, ERR_INPUT, "'%.100s' is no id of a model", input->model);
	for (const char *const *t = input->tools; t && *t; t++)
		if (!**t || **t == '-')
			return error_set(err, ERR_INPUT, "'%.100s' is no name of a tool", *t);
	return 0;
}

static int check_input(const struct harness_input *input, struct error *err)
{
	struct stat st;

	if (!str_trim(input->prompt).n)
		return error_set(err, ERR_INPUT, "the prompt is empty");
	if (input->cwd && stat(input->cwd, &st) < 0)
		return error_errno(err, "cannot use folder '%s'", input->cwd);
	if (input->cwd && !S_ISDIR(st.st_mode))
		return error_set(err, ERR_INPUT, "'%.500s' is no folder", input->cwd);
	return check_words(input, err);
}

int harness_invoke_with(struct arena *a, const struct harness *h, const struct harness_input *input,
	harness_listener *listener, void *data, unsigned heartbeat_ms,
	struct harness_result *result, struct error *err)
{
	CLEANUP(session_release)
	struct session s = {.arena = a,
		.harness = h,
		.input = input,
		.listener = listener,
		.listener_data = data,
		.heartbeat_ms = heartbeat_ms};
	struct harness_event e = {.kind = HARNESS_STARTED};

	if (check_input(input, err) < 0)
		return -1;
	session_begin(&s);
	session_tell(&s, &e);
	if ((h->invoke ? h->invoke(&s, err) : invoke_program(&s, err)) < 0)
		return -1;
	session_result(&s, result);
	e = (struct harness_event){.kind = HARNESS_COMPLETED,
		.tokens = s.progress,
		.status = result->status,
		.message = result->detail};
	session_tell(&s, &e);
	return 0;
}

int harness_invoke(struct arena *a, const struct harness *h, const struct harness_input *input,
	harness_listener *listener, void *data, struct harness_result *result, struct error *err)
{
	return harness_invoke_with(a, h, input, listener, data, HARNESS_HEARTBEAT_MS, result, err);
}
