#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/tick/dispatch.h"

enum { OUTPUT_MAX = 16 << 20 };

struct result_options {
	const char *task, *type, *status, *request, *word, *parsed, *error, *repo, *artifacts;
	int64_t ms;
};

static const struct option options[] = {
	OPTION_REQUIRED(struct result_options, task, "task-id", "ID", "the task of the request"),
	OPTION_REQUIRED(struct result_options, type, "subagent-type", "NAME",
		"the agent that has answered, as the request names it"),
	OPTION_REQUIRED(struct result_options, status, "status", "success|error",
		"whether the agent came to its end"),
	OPTION_TEXT(struct result_options, request, "request-id", "ACTION",
		"the request; default: the only outstanding one to that agent"),
	OPTION_TEXT(struct result_options, word, "result", "WORD",
		"one of the words of its result format; default: as --parsed or the output says"),
	OPTION_TEXT(struct result_options, parsed, "parsed", "JSON",
		"what the agent has returned as JSON: a verdict, or a developer's envelope"),
	OPTION_TEXT(struct result_options, error, "error", "TEXT", "of an error: what it was"),
	OPTION_NUMBER(struct result_options, ms, "duration-ms", "N", 0, JSON_MAX_INT,
		"how long it took; default: 0"),
	CLI_ARTIFACTS(struct result_options),
	CLI_REPO(struct result_options),
	OPTION_END,
};

static int add_parsed(const char *text, json *all, struct error *err)
{
	json *parsed;

	if (!text)
		return 0;
	if (json_parse(&parsed, str_of(text), err) < 0)
		return error_prefix(err, "--parsed");
	json_put(all, "parsed", parsed);
	return 0;
}

/* ---- a result that no tick has taken yet ---- */

struct writing {
	struct arena *arena;
	const char *items, *file;
	struct dispatch_result result;
	struct str text;
};

/* The request that a tick has taken these bytes for, else the one that they name; NULL: none. */
static int find_result_request(struct writing *w, const struct dispatch_result *r, struct str text,
	const char **id, struct error *err)
{
	CLEANUP(tick_memory_close) struct tick_memory m = {0};
	char digest[DIGEST_TEXT];

	if (tick_memory_look(w->arena, w->items, &m, err) < 0)
		return -1;
	digest_text(text, digest);
	*id = json_dup(w->arena, json_get(json_get(m.all, "results"), r->task), digest);
	*id = *id ? *id : r->request;
	return 0;
}

/* `id` NULL: whether any request to this agent is. */
static bool result_is_outstanding(
	struct writing *w, const struct dispatch_result *r, const char *id)
{
	CLEANUP(run_outstanding_free) struct run_outstanding o = {0};
	const char *document = arena_printf(w->arena, "%s/%s.md", w->items, r->task);
	struct error ignored;
	bool found = false;

	if (!path_is_id(str_of(r->task)) || !path_exists(document))
		return false;
	if (run_outstanding_load(document, &o, &ignored) < 0)
		return true;
	for (const json *it = json_first(o.open); it; it = json_next(it)) {
		const char *agent = json_get_str(it, "agent");

		found |= id ? json_str_is(it, "id", id)
			    : strcmp(agent ? agent : "script-runner", r->type) == 0;
	}
	return found;
}

/* That of the same request may be corrected. */
static int refuse_other(
	struct writing *w, const struct dispatch_result *old, struct str text, struct error *err)
{
	const struct dispatch_result *r = &w->result;
	const char *id;

	if (find_result_request(w, old, text, &id, err) < 0)
		return -1;
	if ((strcmp(old->task, r->task) == 0 &&
		    (id && r->request ? strcmp(id, r->request) == 0
				      : strcmp(old->type, r->type) == 0 &&
						(!r->request || result_is_outstanding(
									w, r, r->request)))) ||
		!result_is_outstanding(w, old, id))
		return 0;
	return error_set(err, ERR_STATE,
		"'%s' is the result of '%.60s' for '%.100s', which no tick has taken yet: take it "
		"with 'dev-team tick --continue-from-result', or remove it",
		w->file, old->type, old->task);
}

static int replace_result(void *data, struct str old, struct buf *fresh, struct error *err)
{
	struct writing *w = data;
	struct dispatch_result r;
	struct error ignored;
	int rc = dispatch_parse(w->arena, w->file, old, &r, &ignored) < 0
			 ? 0
			 : refuse_other(w, &r, old, err);

	buf_add(fresh, w->text);
	json_free(&r.all);
	return rc;
}

static int run_write(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf output = BUF_INIT, text = BUF_INIT;
	const struct result_options *o = in->values;
	CLEANUP(json_free) json *all = NULL;
	struct writing w = {.arena = in->arena};
	const char *repo, *dir;
	int rc;

	if (cli_read_input(&output, OUTPUT_MAX, err) < 0)
		return -1;
	if (str_utf8_fault(buf_str(&output)))
		return error_set(err, ERR_INPUT, "the output is not valid UTF-8");
	all = JSON_OBJECT(JSON_INT("version", DISPATCH_VERSION), JSON_TEXT("taskId", o->task),
		JSON_TEXT("subagentType", o->type), JSON_TEXT("status", o->status),
		JSON_TEXT("output", output.len ? output.s : ""),
		JSON_IF(o->error, JSON_TEXT("error", o->error)),
		JSON_IF(o->request, JSON_TEXT("requestId", o->request)),
		JSON_IF(o->word, JSON_TEXT("result", o->word)), JSON_INT("durationMs", o->ms),
		JSON_TIME("writtenAt", clock_now()));
	if (add_parsed(o->parsed, all, err) < 0)
		return -1;
	json_print_pretty(&text, all);
	w.text = buf_str(&text);
	rc = dispatch_parse(in->arena, "result", w.text, &w.result, err);
	json_free(&w.result.all);
	if (rc < 0 || locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		status_directory(in->arena, repo, &w.items, err) < 0 ||
		locate_artifacts(in->arena, o->artifacts, repo, &dir, err) < 0)
		return -1;
	w.file = arena_printf(in->arena, "%s/" ORCHESTRATOR_SCOPE "/" DISPATCH_RESULT, dir);
	if (artifact_edit(dir, ORCHESTRATOR_SCOPE, DISPATCH_RESULT, replace_result, &w, err) < 0)
		return -1;
	buf_addf(in->out, "%s\n", w.file);
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("write", "< OUTPUT", run_write,
		"write the result of a request, for 'tick --continue-from-result'",
		.details = "Reads what the agent has printed from standard input, checks every "
			   "member, and prints the path of the file, dispatch-result.json in the "
			   "directory of artifacts.",
		.options = {options}),
	NULL,
};

const struct verb verb_result = {
	.name = "result",
	.group = "Backlog",
	.about = "write the result of a request of 'tick' as a file",
	.details = "For callers that exchange files with 'tick' in place of 'record'.",
	.examples = "dev-team result write --help",
	.size = sizeof(struct result_options),
	.subcommands = subcommands,
};
