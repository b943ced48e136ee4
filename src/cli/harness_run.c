#include "src/base/log.h"
#include "src/sys/path.h"
#include "src/cli/harness.h"
#include "src/cli/registry.h"
#include "src/run/interrupt.h"
#include "src/cli/common.h"
#include "src/harness/load.h"

enum { PROMPT_MAX = 16 << 20, TIMEOUT_MAX = 604800 };

static int read_prompt(struct invocation *in, struct buf *out, struct error *err)
{
	const char *file = in->args->value[WITH_PROMPT_FILE];

	return file ? file_read(out, file, PROMPT_MAX, NULL, err)
		    : read_input(out, PROMPT_MAX, err);
}

static int read_model(
	struct invocation *in, const struct harness *h, const char **id, struct error *err)
{
	const char *given = in->args->value[WITH_MODEL];
	struct model_resolved m = {.asked = given, .id = given};
	struct model_registry r;
	bool fits;

	*id = NULL;
	if (!given)
		return 0;
	if (registry_open(in->arena, &r, err) < 0)
		return -1;
	m.entry = model_find(&r, given);
	m.alias = m.entry;
	m.id = m.entry ? m.entry->id : given;
	*id = harness_model(h, &m, &fits);
	if (!fits)
		return error_set(err, ERR_INPUT, "harness '%s' does not drive model '%.100s'",
			harness_name(h), given);
	if (!*id)
		log_line("harness '%s' does not drive '%s' (alias '%s'): its own default model is "
			 "used",
			harness_name(h), m.id, given);
	return 0;
}

/* `Bash,Read`; a comma in parentheses belongs to the name. */
static const char *const *read_tools(struct arena *a, const char *text)
{
	const char **list;
	size_t n = 0, from = 0;
	int depth = 0;

	if (!text)
		return NULL;
	list = arena_alloc(a, (strlen(text) + 2) * sizeof(*list));
	for (size_t i = 0;; i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (text[i] && (text[i] != ',' || depth > 0))
			continue;
		if (i > from)
			list[n++] = arena_dup(a, str_sub(str_of(text), from, i));
		from = i + 1;
		if (!text[i])
			return list;
	}
}

/* By name alone: a value on a command line can be seen by all. */
static int read_env(struct invocation *in, const char *const **out, struct error *err)
{
	const struct args *args = in->args;
	const char **list = arena_alloc(in->arena, (args->n_repeated + 1) * sizeof(*list));

	for (size_t i = 0; i < args->n_repeated; i++) {
		const char *name = args->repeated[i], *value = getenv(name);

		if (strchr(name, '='))
			return error_set(
				err, ERR_USAGE, "--env takes the name of a variable alone");
		if (!value)
			return error_set(err, ERR_USAGE, "there is no variable '%.100s'", name);
		list[i] = arena_printf(in->arena, "%s=%s", name, value);
	}
	*out = list;
	return 0;
}

static int read_budget(const char *text, double *usd, struct error *err)
{
	char *end;

	*usd = 0;
	if (!text)
		return 0;
	*usd = strtod(text, &end);
	if (strspn(text, "0123456789.") == strlen(text) && !*end && *usd > 0 && *usd < 1e6)
		return 0;
	return error_set(
		err, ERR_USAGE, "--max-budget must be an amount of dollars, not '%.60s'", text);
}

static int read_limits(struct invocation *in, struct harness_input *input, struct error *err)
{
	const char *text = in->args->value[WITH_TIMEOUT];
	long seconds = 0;

	if (text && read_seconds("timeout", text, 1, TIMEOUT_MAX, &seconds, err) < 0)
		return -1;
	input->timeout_s = (unsigned)seconds;
	return read_budget(in->args->value[WITH_MAX_BUDGET], &input->max_budget_usd, err);
}

static json *result_json(const struct harness *h, const struct harness_result *r)
{
	static const struct usage_member members[] = {{USAGE_COST, "costUsd"},
		{USAGE_INPUT, "inputTokens"}, {USAGE_OUTPUT, "outputTokens"},
		{USAGE_CACHE, "cacheTokens"}, {USAGE_MS, "durationMs"}, {0}};
	json *j = json_object();

	json_put_str(j, "harness", str_of(harness_name(h)));
	json_put_str(j, "status", str_of(harness_status_word(r->status)));
	if (r->exit_code < 0)
		json_put_null(j, "exitCode");
	else
		json_put_int(j, "exitCode", r->exit_code);
	harness_put_text(j, "model", r->model);
	json_put_str(j, "text", str_of(r->text));
	harness_put_text(j, "detail", r->detail);
	json_put_bool(j, "rateLimited", r->rate_limited);
	usage_put(j, &r->usage, members, true);
	return j;
}

static void put_result(
	struct invocation *in, const struct harness *h, const struct harness_result *r)
{
	if (in->args->value[WITH_JSON]) {
		CLEANUP(json_free) json *j = result_json(h, r);

		harness_put(in, j);
		return;
	}
	buf_adds(in->out, r->text);
	if (*r->text && !str_ends(str_of(r->text), "\n"))
		buf_addc(in->out, '\n');
	if (r->status != HARNESS_SUCCESS)
		log_line("harness '%s': %s: %s", harness_name(h), harness_status_word(r->status),
			r->detail ? r->detail : "nothing more is known");
}

static void beat(void *data, const struct harness_event *e)
{
	if (e->kind == HARNESS_HEARTBEAT)
		log_line("harness '%s' is at work: %lld tokens so far", (const char *)data,
			(long long)e->tokens);
}

/* What is there but cannot be used is told as a run would tell it. */
static void unusable(const struct harness *h, struct harness_result *r, struct arena *a)
{
	const struct availability *v = harness_available(h);

	*r = (struct harness_result){.status = HARNESS_UNAVAILABLE,
		.exit_code = -1,
		.usage = USAGE_NONE,
		.text = "",
		.detail = arena_printf(a, "%s: %s", unavailable_word(v->reason),
			v->detail ? v->detail : "nothing more is known")};
}

static int invoke(struct invocation *in, const struct harness *h, struct harness_input *input,
	struct harness_result *r, struct error *err)
{
	int rc;

	if (!harness_available(h)->available) {
		unusable(h, r, in->arena);
		return 0;
	}
	if (interrupt_begin(&input->cancel, err) < 0)
		return -1;
	rc = harness_invoke(in->arena, h, input, beat, (void *)harness_name(h), r, err);
	interrupt_end();
	return rc;
}

int harness_run(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	const struct args *args = in->args;
	struct harness_input input = {.cwd = args->value[WITH_CWD],
		.artifacts = args->value[ARTIFACTS]
				     ? path_absolute(in->arena, args->value[ARTIFACTS])
				     : NULL,
		.tools = read_tools(in->arena, args->value[WITH_TOOLS])};
	struct harness_result r;
	const struct harness *h;

	if (harness_find(args->words[1], &h, err) < 0 || read_limits(in, &input, err) < 0 ||
		read_env(in, &input.env, err) < 0 || read_model(in, h, &input.model, err) < 0 ||
		read_prompt(in, &prompt, err) < 0)
		return -1;
	input.prompt = buf_str(&prompt);
	if (invoke(in, h, &input, &r, err) < 0)
		return -1;
	put_result(in, h, &r);
	if (r.status == HARNESS_UNAVAILABLE)
		return ERR_SYSTEM;
	return r.status == HARNESS_SUCCESS ? 0 : ERR_CHECK;
}
