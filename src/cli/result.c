#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/run/locate.h"
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

static int run_write(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf output = BUF_INIT, text = BUF_INIT;
	const struct result_options *o = in->values;
	CLEANUP(json_free) json *all = NULL;
	struct dispatch_result ignored;
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
	json_print(&text, all);
	rc = dispatch_parse(in->arena, "result", buf_str(&text), &ignored, err);
	json_free(&ignored.all);
	if (rc < 0 || locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		locate_artifacts(in->arena, o->artifacts, repo, &dir, err) < 0 ||
		artifact_write(dir, ORCHESTRATOR_SCOPE, DISPATCH_RESULT, all, err) < 0)
		return -1;
	buf_addf(in->out, "%s/" ORCHESTRATOR_SCOPE "/" DISPATCH_RESULT "\n", dir);
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
