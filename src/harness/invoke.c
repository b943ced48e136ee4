#include <sys/stat.h>
#include "src/base/process.h"
#include "src/harness/environment.h"
#include "src/harness/lines.h"
#include "src/harness/session.h"

struct run {
	struct session *s;
	struct lines lines, error_lines;
	struct tail errors;
	struct tail plain; /* the last lines that are no JSON: what a program says that breaks */
	struct buf whole;
	struct buf said; /* what `errors` is when it has ended */
};

static void run_release(struct run *r)
{
	lines_release(&r->lines);
	lines_release(&r->error_lines);
	buf_release(&r->errors.kept);
	buf_release(&r->plain.kept);
	buf_release(&r->whole);
	buf_release(&r->said);
}

static void take_line(void *data, struct str line)
{
	struct run *r = data;
	const struct harness *h = r->s->harness;
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;

	if (line.p[0] == '{' && json_parse(&value, line, &ignored) == 0) {
		h->object(r->s, value);
		return;
	}
	tail_take(&r->plain, line);
	tail_take(&r->plain, STR("\n"));
	if (h->line)
		h->line(r->s, line);
}

static void take_error_line(void *data, struct str line)
{
	struct run *r = data;

	if (r->s->harness->error_line)
		r->s->harness->error_line(r->s, line);
}

static void hear_errors(struct run *r, struct str piece)
{
	tail_take(&r->errors, piece);
	lines_take(&r->error_lines, piece);
}

static bool hear(void *data, bool errors, struct str piece)
{
	struct run *r = data;
	size_t room = WHOLE_KEPT - r->whole.len;

	if (errors)
		hear_errors(r, piece);
	else if (r->s->harness->form == OUTPUT_WHOLE)
		buf_add(&r->whole, str_sub(piece, 0, piece.n < room ? piece.n : room));
	else
		lines_take(&r->lines, piece);
	return !r->s->stop;
}

static void beat(void *data)
{
	struct run *r = data;
	struct harness_event e = {.kind = HARNESS_HEARTBEAT, .tokens = r->s->progress};

	session_tell(r->s, &e);
}

static void hear_end(struct run *r)
{
	const struct harness *h = r->s->harness;

	lines_end(&r->lines);
	lines_end(&r->error_lines);
	utf8_mend(&r->errors.kept);
	utf8_mend(&r->plain.kept);
	secrets_mask(&r->s->secrets, buf_str(&r->errors.kept), &r->said);
	if (h->form != OUTPUT_WHOLE)
		return;
	utf8_mend(&r->whole);
	if (r->whole.len)
		h->whole(r->s, buf_str(&r->whole));
}

/* What it said last, of its stderr, else of what it printed and nobody understood. */
static struct str last_words(const struct run *r)
{
	struct str said = last_characters(buf_str(&r->said), DETAIL_KEPT);

	return said.n ? said : last_characters(buf_str(&r->plain.kept), DETAIL_KEPT);
}

static void verdict_with_words(struct run *r, enum harness_status verdict, const char *what)
{
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	struct str said = last_words(r);

	buf_adds(&why, what);
	if (r->lines.skipped)
		buf_addf(&why, " (%zu lines of more than %d MiB were left out)", r->lines.skipped,
			LINE_KEPT >> 20);
	if (said.n) {
		buf_adds(&why, ": ");
		buf_add(&why, said);
	}
	session_verdict(r->s, verdict, buf_str(&why));
}

/* What its exit status says, when nothing was said before. */
static void judge_status(struct run *r, int status)
{
	struct arena *a = r->s->arena;

	if (status > 128)
		verdict_with_words(r, HARNESS_FAILURE,
			arena_printf(a, "it was ended by signal %d", status - 128));
	else if (status)
		verdict_with_words(r, HARNESS_FAILURE, arena_printf(a, "exit status %d", status));
	else if (r->s->harness->needs_finish && !r->s->finished)
		verdict_with_words(r, HARNESS_FAILURE, "it ended without a result");
}

static unsigned timeout_of(const struct harness_input *input)
{
	return input->timeout_s ? input->timeout_s : HARNESS_TIMEOUT_S;
}

static void judge_budget(struct session *s)
{
	double max = s->input->max_budget_usd;

	if (max > 0 && s->cost_usd > max)
		session_verdict(s, HARNESS_BUDGET,
			str_of(arena_printf(s->arena, "it cost %.4f USD; at most %.4f were allowed",
				s->cost_usd, max)));
}

/* An end that we were asked for is no fault of the harness's, and leads to no other one. */
static void judge_cancel(struct session *s)
{
	s->judged = false;
	s->verdict = HARNESS_SUCCESS;
	session_verdict(s, HARNESS_FAILURE, STR("cancelled"));
}

/* What it was busy with when its time was over: trying again and again is not its content. */
static void judge_timeout(struct run *r)
{
	struct session *s = r->s;
	const char *what =
		arena_printf(s->arena, "it did not end within %u s", timeout_of(s->input));

	if (!s->retrying) {
		verdict_with_words(r, HARNESS_TIMEOUT, what);
		return;
	}
	session_verdict(s, HARNESS_UNAVAILABLE,
		str_of(arena_printf(s->arena, "%s; it was trying again: %s", what,
			s->retry_why.len ? s->retry_why.s : "nothing more is known")));
	s->rate_limited = s->rate_limited || s->retry_limited;
}

static void settle(struct run *r, const struct process_end *end)
{
	struct session *s = r->s;
	struct ending e = {.exit_code = end->status, .timed_out = end->timed_out};

	s->exit_code = end->status;
	if (end->cancelled && !s->stop) {
		judge_cancel(s);
		return;
	}
	e.cancelled = end->cancelled;
	e.errors = buf_str(&r->said);
	if (s->harness->judge)
		s->harness->judge(s, &e);
	judge_budget(s);
	if (end->timed_out)
		judge_timeout(r);
	judge_status(r, end->status);
}

static int run_program(struct session *s, const char *file, struct error *err)
{
	CLEANUP(run_release)
	struct run r = {.s = s,
		.lines = {.max = LINE_KEPT, .line = take_line, .data = &r},
		.error_lines = {.max = ERRORS_KEPT, .line = take_error_line, .data = &r},
		.errors = {.max = ERRORS_KEPT},
		.plain = {.max = ERRORS_KEPT}};
	struct command c = {.arena = s->arena, .env = s->env};
	struct process p = {.cwd = s->input->cwd,
		.env_whole = true,
		.input = s->input->prompt,
		.output = -1,
		.heard = hear,
		.tick = beat,
		.tick_ms = s->heartbeat_ms,
		.data = &r,
		.timeout_s = timeout_of(s->input),
		.cancel = s->input->cancel};
	struct process_end end;
	struct error fault;

	command_add(&c, file);
	if (s->harness->command(&c, s->input, err) < 0)
		return -1;
	p.argv = c.argv;
	p.env = c.env;
	if (process_run(&p, &end, &fault) < 0) {
		session_verdict(s, HARNESS_UNAVAILABLE, str_of(fault.text));
		return 0;
	}
	hear_end(&r);
	settle(&r, &end);
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
