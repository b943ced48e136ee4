#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/event/event.h"
#include "src/harness/pipeline.h"
#include "src/run/run.h"
#include "src/run/locate.h"
#include "src/sys/path.h"

enum { PROMPT_MAX = 16 << 20, TIMEOUT_MAX_S = 604800 };

struct harness_options {
	const char *prompt_file, *model, *cwd, *tools, *artifacts, *resources;
	const char **env;
	int64_t timeout_s;
	double max_budget;
	bool json;
};

static const struct option run_options[] = {
	OPTION_TEXT(struct harness_options, prompt_file, "prompt-file", "FILE",
		"the prompt; default: standard input"),
	OPTION_TEXT(struct harness_options, model, "model", "MODEL",
		"an alias or an id; default: the harness's own"),
	OPTION_TEXT(struct harness_options, cwd, "cwd", "DIR",
		"working directory of the agent; default: the current one"),
	OPTION_TEXT(struct harness_options, tools, "tools", "NAME,...",
		"the tools it may use, of Bash, Read, Edit, Write, Agent, Skill; default: all"),
	OPTION_LIST(struct harness_options, env, "env", "NAME",
		"pass this environment variable to the agent"),
	OPTION_NUMBER(struct harness_options, timeout_s, "timeout", "SECONDS", 1, TIMEOUT_MAX_S,
		"default: 300"),
	OPTION_DECIMAL(struct harness_options, max_budget, "max-budget", "USD", 0.0001, 999999,
		"what it may cost, where the harness reports costs"),
	OPTION_TEXT(struct harness_options, artifacts, "artifacts", "DIR",
		"ARTIFACTS_DIR of the agent"),
	OPTION_END,
};
static const struct option check_options[] = {
	CLI_RESOURCES(struct harness_options),
	OPTION_TEXT(struct harness_options, artifacts, "artifacts", "DIR",
		"write the events into this directory"),
	OPTION_END,
};

/* ---- list ---- */

/* The rows of the list; those of the capabilities follow. */
enum { ROW_NAME, ROW_PROGRAM, ROW_VERSIONS, ROW_CONTEXT, ROW_CAN };
enum { N_ROWS = ROW_CAN + HARNESS_CAPABILITIES };

static const char *fact_of(struct arena *a, const struct harness *h, int row)
{
	switch (row) {
	case ROW_NAME:
		return h->name;
	case ROW_PROGRAM:
		return h->binary ? h->binary : "-";
	case ROW_VERSIONS:
		return *h->range ? h->range : "any";
	case ROW_CONTEXT:
		return h->context_tokens ? arena_printf(a, "%lld", (long long)h->context_tokens)
					 : "varies";
	default:
		return harness_level_names[h->can[row - ROW_CAN]];
	}
}

/* Of a column: its name and its versions are the longest words in it. */
static int width_of(const struct harness *h)
{
	size_t name = strlen(h->name), range = strlen(h->range);

	return (int)(name > range ? name : range);
}

/* A harness is a column, so that the list fits into 80: it has more facts than there are harnesses.
 */
static void put_facts(struct invocation *in, int row)
{
	static const char *const names[] = {"harness", "program", "versions", "maxContextTokens"};

	buf_addf(in->out, "%-16s",
		row < ROW_CAN ? names[row] : harness_capability_names[row - ROW_CAN]);
	for (const struct harness *const *h = harness_all; *h; h++)
		buf_addf(in->out, " %-*s", width_of(*h), fact_of(in->arena, *h, row));
	cli_end_row(in->out);
}

static json *facts_json(const struct harness *h)
{
	json *can = json_object();

	for (int c = 0; c < HARNESS_CAPABILITIES; c++)
		json_put_str(
			can, harness_capability_names[c], str_of(harness_level_names[h->can[c]]));
	return JSON_OBJECT(JSON_TEXT("name", h->name), JSON_TEXT("binary", h->binary),
		JSON_TEXT("versionRange", h->range), JSON_VALUE("capabilities", can),
		h->context_tokens ? JSON_INT("maxContextTokens", h->context_tokens)
				  : JSON_TEXT("maxContextTokens", NULL),
		JSON_VALUE("models", json_names(h->models)), JSON_BOOL("anyModel", h->models_open),
		JSON_VALUE("credentials", json_names(h->credentials)));
}

static int harness_run_list(struct invocation *in, struct error *err)
{
	const struct harness_options *o = in->values;
	json *list = json_array();

	(void)err;
	for (int row = 0; row < N_ROWS; row++)
		put_facts(in, row);
	for (size_t i = 0; harness_all[i]; i++)
		json_push(list, facts_json(harness_all[i]));
	cli_put_json(in, o->json, list);
	return 0;
}

/* ---- probe ---- */

static int probe_json(struct invocation *in, const struct harness *h, json *list, struct error *err)
{
	const struct harness_availability *v = harness_available(h);
	const char *account;

	if (harness_account(in->arena, h, &account, err) < 0)
		return -1;
	json_push(list,
		JSON_OBJECT(JSON_TEXT("name", h->name), JSON_BOOL("available", v->available),
			JSON_TEXT("reason", harness_reason_names[v->reason]),
			JSON_TEXT("detail", v->detail), JSON_TEXT("installedVersion", v->version),
			JSON_TEXT("accountId", account)));
	return 0;
}

static void put_probe(struct buf *out, const struct harness *h)
{
	const struct harness_availability *v = harness_available(h);

	buf_addf(out, "%-12s %s", h->name, v->available ? "available" : "unavailable");
	if (v->version)
		buf_addf(out, " %s", v->version);
	if (v->reason != HARNESS_REASON_NONE)
		buf_addf(out, " %s: %s", harness_reason_names[v->reason], v->detail);
	buf_addc(out, '\n');
}

static int run_probe(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = json_array();
	const struct harness_options *o = in->values;
	const struct harness **named = arena_alloc(in->arena, (in->n + 1) * sizeof(*named));
	const struct harness *const *h = in->n ? named : harness_all;
	size_t n = 0, good = 0;

	for (size_t i = 0; i < in->n; i++)
		if (harness_find(in->words[i], &named[i], err) < 0)
			return -1;
	for (; h[n]; n++) {
		good += harness_available(h[n])->available;
		if (!o->json)
			put_probe(in->out, h[n]);
		else if (probe_json(in, h[n], list, err) < 0)
			return -1;
	}
	cli_put_json(in, o->json, json_copy(list));
	return good < (in->n ? n : 1) ? ERR_CHECK : 0;
}

/* ---- run ---- */

static int read_model(
	struct invocation *in, const struct harness *h, const char **id, struct error *err)
{
	const struct harness_options *o = in->values;
	struct model_registry r;

	if (!o->model)
		return 0;
	if (locate_models(in->arena, NULL, NULL, &r, err) < 0)
		return -1;
	return harness_choose_model(h, &r, o->model, id, err);
}

static void harness_put_result(struct buf *out, const char *name, const struct harness_result *r)
{
	buf_adds(out, r->text);
	if (*r->text && !str_ends(str_of(r->text), "\n"))
		buf_addc(out, '\n');
	if (r->status != HARNESS_SUCCESS)
		error_log("harness '%s': %s: %s", name, harness_status_names[r->status], r->detail);
}

static json *harness_result_json(const char *name, const struct harness_result *r)
{
	json *j = JSON_OBJECT(JSON_TEXT("harness", name),
		JSON_TEXT("status", harness_status_names[r->status]),
		r->exit_code < 0 ? JSON_TEXT("exitCode", NULL) : JSON_INT("exitCode", r->exit_code),
		JSON_TEXT("model", r->model), JSON_TEXT("text", r->text),
		JSON_TEXT("detail", r->detail), JSON_BOOL("rateLimited", r->rate_limited));

	usage_put(j, &r->usage, harness_usage_members, true);
	return j;
}

static void beat(void *data, const struct harness_event *e)
{
	if (e->kind == HARNESS_HEARTBEAT)
		error_log("harness '%s' is running: %lld tokens so far", (const char *)data,
			(long long)e->tokens);
}

static int harness_run_run(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	const struct harness_options *o = in->values;
	struct harness_input input = {.cwd = o->cwd,
		.artifacts = o->artifacts ? path_absolute(in->arena, o->artifacts) : NULL,
		.tools = o->tools ? arena_items(in->arena, str_of(o->tools)) : NULL,
		.timeout_s = (unsigned)o->timeout_s,
		.max_budget_usd = o->max_budget};
	struct chain_call call = {
		.effective = {in->words, 1}, .listener = beat, .data = (void *)in->words[0]};
	struct harness_result r;
	const struct harness *h;
	int rc;

	if (harness_find(in->words[0], &h, err) < 0 ||
		harness_read_env(in->arena, "--env", o->env, true, &input.env, err) < 0 ||
		read_model(in, h, &input.model, err) < 0 ||
		cli_read_text(&prompt, o->prompt_file, PROMPT_MAX, err) < 0 ||
		run_interrupt_begin(&input.cancel, err) < 0)
		return -1;
	input.prompt = buf_str(&prompt);
	rc = chain_run(in->arena, &call, &input, &r, &h, err);
	run_interrupt_end();
	if (rc < 0)
		return -1;
	harness_put_result(in->out, in->words[0], &r);
	cli_put_json(in, o->json, harness_result_json(in->words[0], &r));
	if (r.status == HARNESS_UNAVAILABLE)
		return ERR_SYSTEM;
	return r.status == HARNESS_SUCCESS ? 0 : ERR_CHECK;
}

/* ---- check ---- */

static json *stage_json(const struct pipeline_stage_check *s)
{
	json *chain = json_array();

	for (size_t i = 0; i < s->chain.n; i++)
		json_push(chain, JSON_OBJECT(JSON_TEXT("harness", s->chain.list[i]),
					 JSON_TEXT("model",
						 harness_model_for(s->chain.list[i], &s->model))));
	return JSON_OBJECT(JSON_TEXT("stage", s->stage->name), JSON_VALUE("chain", chain));
}

static json *notes_json(const struct pipeline_check *l, bool faults)
{
	json *list = json_array();

	for (size_t i = 0; i < l->notes.n; i++) {
		const struct pipeline_note *n = &l->notes.items[i];

		if (n->fault == faults)
			json_push(list, JSON_OBJECT(JSON_TEXT("stage", n->stage->name),
						JSON_INT("line", n->stage->line),
						JSON_INT("column", n->stage->col),
						JSON_TEXT("text", n->text)));
	}
	return list;
}

static json *harness_check_json(const struct pipeline *p, const struct pipeline_check *l)
{
	json *stages = json_array();

	for (size_t i = 0; i < p->n_stages; i++)
		json_push(stages, stage_json(&l->stages[i]));
	return JSON_OBJECT(JSON_TEXT("pipeline", p->name), JSON_TEXT("file", p->file),
		JSON_VALUE("stages", stages), JSON_VALUE("faults", notes_json(l, true)),
		JSON_VALUE("warnings", notes_json(l, false)));
}

static void put_stage(struct buf *out, const struct pipeline_stage_check *s)
{
	buf_addf(out, "%s:", s->stage->name);
	for (size_t i = 0; i < s->chain.n; i++) {
		const char *model = harness_model_for(s->chain.list[i], &s->model);

		buf_addf(out, "%s %s (%s)", i ? "," : "", s->chain.list[i],
			model ? model : "its default model");
	}
	buf_adds(out, s->chain.n ? "\n" : " nothing to run on\n");
}

static void put_check(struct buf *out, const struct pipeline *p, const struct pipeline_check *l)
{
	for (size_t i = 0; i < p->n_stages; i++)
		put_stage(out, &l->stages[i]);
	for (size_t i = 0; i < l->notes.n; i++) {
		const struct pipeline_note *n = &l->notes.items[i];

		buf_addf(out, "%s:%u:%u: %sstage '%s': %s\n", p->file, n->stage->line,
			n->stage->col, n->fault ? "" : "warning: ", n->stage->name, n->text);
	}
}

static int harness_run_check(struct invocation *in, struct error *err)
{
	const struct harness_options *o = in->values;
	const char *artifacts = o->artifacts ? path_absolute(in->arena, o->artifacts) : NULL;
	const struct pipeline_choice choice = {.name = in->words[0],
		.resources = o->resources,
		.artifacts = artifacts,
		.missing = ERR_INPUT,
		.file = true};
	struct pipeline_question q = {.now = clock_now(), .artifacts = artifacts};
	struct resources resources;
	struct model_registry models;
	struct pipeline_check l;

	if (locate_pipeline(in->arena, &choice, &resources, &q.pipeline, err) < 0 ||
		locate_models(in->arena, NULL, NULL, &models, err) < 0)
		return -1;
	q.registry = &models;
	q.pool = resources_pool(&resources, q.pipeline->worktree_pool);
	if (harness_check_pipeline(in->arena, &q, &l, err) < 0)
		return -1;
	put_check(in->out, q.pipeline, &l);
	cli_put_json(in, o->json, harness_check_json(q.pipeline, &l));
	return l.n_faults ? ERR_CHECK : 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("list", NULL, harness_run_list, "print what each harness can do",
		.options = {CLI_JSON_TABLE(struct harness_options)}),
	CLI_SUBCOMMAND("probe", "[NAME...]", run_probe,
		"print whether harnesses are installed and can be used",
		.details = "Exit status 1: one of those named is unavailable; without a name, all "
			   "are.",
		.options = {CLI_JSON_TABLE(struct harness_options)}),
	CLI_SUBCOMMAND("run", "NAME", harness_run_run,
		"send the prompt on standard input to a harness and print its last message",
		.details =
			"A harness gets PATH, HOME, TERM, the language, TMPDIR, proxies and "
			"certificates, and the keys of its own vendor, never those of another one. "
			"No user is asked: a tool that --tools does not name is refused.\n"
			"\n"
			"Exit status: 1 after a failure, at the time limit, over the budget; 5 if "
			"the harness cannot be used (not installed, not logged in, at its limit).",
		.options = {run_options, CLI_JSON_TABLE(struct harness_options)}),
	CLI_SUBCOMMAND("check", "PIPELINE", harness_run_check,
		"check that the stages of a pipeline can run on the harnesses they name",
		.details =
			"PIPELINE is a name in the directory of resources, or a file. Prints the "
			"chain of each stage, then every fault (exit status 1) and every warning.",
		.options = {check_options, CLI_JSON_TABLE(struct harness_options)}),
	NULL,
};

const struct verb verb_harness = {
	.name = "harness",
	.group = "Workflows",
	.about = "list, probe and run the programs that run an agent",
	.examples = "dev-team harness probe\n"
		    "echo 'What does main.c do?' | dev-team harness run claude-code --tools Read\n"
		    "dev-team harness check implement-task",
	.size = sizeof(struct harness_options),
	.subcommands = subcommands,
};
