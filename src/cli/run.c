#include <unistd.h>
#include "src/cli/cli.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/tick/tick.h"

enum { TIMEOUT_MAX_S = 86400, MAX_ACTIONS_MAX = 9999999 };

const struct option cli_agent_options[] = {
	OPTION_TEXT(struct run_request, agents, "agents", "SCRIPT",
		"scripted agents: what they do and answer (YAML)"),
	OPTION_TEXT(struct run_request, harness, "harness", "NAME[,NAME...]",
		"real agents: the harness that runs them, then its fallbacks"),
	OPTION_TEXT(struct run_request, pipeline, "pipeline", "NAME",
		"real agents: the Pipeline whose stages set harness, model and limits"),
	OPTION_TEXT(struct run_request, model, "model", "NAME",
		"with --harness: an alias or an id; default: sonnet"),
	OPTION_NUMBER(struct run_request, timeout_s, "timeout", "SECONDS", 1, TIMEOUT_MAX_S,
		"time limit of each real agent; default: 1800"),
	OPTION_LIST(struct run_request, pass_env, "pass-env", "NAME",
		"pass this environment variable to the agents, which get few"),
	OPTION_END,
};
static const struct option place_options[] = {
	OPTION_NUMBER(struct run_request, max_actions, "max-actions", "N", 0, MAX_ACTIONS_MAX,
		"stop after this many actions; default: 1000"),
	CLI_RESOURCES(struct run_request),
	CLI_ARTIFACTS(struct run_request),
	OPTION_NUMBER(struct run_request, slots, "slots", "N", 1, SLOTS_MAX,
		"reserve N ports for child worktrees"),
	OPTION_TEXT(struct run_request, parent, "parent", "BRANCH",
		"take the port from those reserved by BRANCH's worktree"),
	OPTION_NUMBER(struct run_request, max_concurrent, "max-concurrent", "N", 1, CONCURRENT_MAX,
		"how many of several work items run at the same time; default: the pipeline's, "
		"else 1"),
	OPTION_END,
};
static const struct run_request defaults = {.max_actions = RUN_ACTIONS_DEFAULT};

/* ---- tasks of the backlog ---- */

/* An open task that has no item yet, or one of the workflow of tasks. */
static bool is_task(struct arena *a, const struct backlog *b, const char *items, const char *word)
{
	const struct task *t = path_is_id(str_of(word)) ? backlog_find(b, word) : NULL;
	const char *document = t && t->id ? arena_printf(a, "%s/%s.md", items, t->id) : NULL;
	const char *workflow;
	struct error ignored;

	if (!document || t->state == TASK_DONE)
		return false;
	return !path_exists(document) ||
	       (run_step_workflow(a, document, b->repo, &workflow, &ignored) == 0 &&
		       str_starts(path_base(workflow), TICK_WORKFLOW));
}

/* *ids: of the tasks, separated by commas; NULL: no word is one. -1: also if only some are. */
static int find_tasks(
	struct invocation *in, const struct run_request *q, const char **ids, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *repo, *items, *other = NULL;
	struct backlog b;

	*ids = NULL;
	if (q->call.workflow || q->call.context_file || q->call.in_place)
		return 0;
	if (run_place_repository(in->arena, q->call.repo, NULL, &repo, err) < 0 ||
		status_directory(in->arena, repo, &items, err) < 0 ||
		backlog_read(in->arena, repo, &b, err) < 0)
		return -1;
	for (size_t i = 0; i < in->n; i++)
		if (is_task(in->arena, &b, items, in->words[i]))
			buf_addf(&text, "%s%s", text.len ? "," : "", in->words[i]);
		else
			other = in->words[i];
	if (text.len && other)
		return error_set(err, ERR_INPUT,
			"'%.100s' is not an open task of the backlog, but other ids of this "
			"command are: run tasks and other items separately ('dev-team backlog "
			"list' lists the tasks)",
			other);
	*ids = text.len ? arena_dup(in->arena, buf_str(&text)) : NULL;
	return 0;
}

/* As 'start' does it. */
static int run_tasks(
	struct invocation *in, const struct run_request *q, const char *ids, struct error *err)
{
	struct tick_start_call c = {.request = *q,
		.tick = {.task = ids, .max_concurrent = q->max_concurrent},
		.interval_s = TICK_INTERVAL_S,
		.until_idle = true};
	int status, rc;

	if (q->call.owner || q->call.research_skill || q->parent || q->slots ||
		q->max_actions != RUN_ACTIONS_DEFAULT)
		return error_set(err, ERR_USAGE,
			"--owner, --research-skill, --parent, --slots and --max-actions are not "
			"for tasks of the backlog, which are run as 'start --task' does");
	rc = tick_start(in->arena, &c, in->out, &status, err);
	return cli_end_ticks(in, rc, status, err);
}

static int run_cli_verb(struct invocation *in, struct error *err)
{
	struct run_request q = *(const struct run_request *)in->values;
	const char *tasks;
	int rc;

	progress_listen(&q);
	if (find_tasks(in, &q, &tasks, err) < 0)
		return -1;
	if (tasks)
		return run_tasks(in, &q, tasks, err);
	rc = run_items(in->arena, &q, in->words, in->n, in->out, err);
	if (isatty(STDOUT_FILENO)) /* people have read it already */
		buf_clear(in->out);
	return rc;
}

const struct verb verb_run = {
	.name = "run",
	.group = "Everyday",
	.about = "run work items to the end, with scripted agents or with real ones",
	.also = "resume continue start",
	.details =
		"Repeats 'step' and carries out every action until the work item is done. Scripts "
		"(run_script) are really run. Prints a line for each action on standard error and, "
		"unless that is a terminal, the last array on standard output. Exit status 1: the "
		"run ended failed; 4: it "
		"waits for a person's approval.\n"
		"\n"
		"WORDS that are not ids say what is wanted: the spec of a new item is written, as "
		"by 'new', and the item is run.\n"
		"\n"
		"One of --agents, --harness and --pipeline is required, unless "
		".dev-team/config.yaml names a harness. With --agents the agents do and answer "
		"what SCRIPT says (docs/agent-scripts.md). With --harness each action is one call "
		"of a coding agent: it gets its task as one prompt, and its "
		"last message is the answer. --pipeline takes harness, model and limits of each "
		"state from the stage of that name (docs/harness.md). With both, SCRIPT handles "
		"the actions that it has an entry for.\n"
		"\n"
		"Several IDs run side by side, each in its own worktree; the result is an array "
		"with an object for each. Tasks of the backlog are run as 'start' runs them, "
		"until only a person can make them go on (exit status 6). After an interruption "
		"or an error the same command continues.",
	.examples =
		"dev-team run greet people by their name\n"
		"dev-team run ADR-1 --workflow implement-task --agents demo/agents.yaml\n"
		"dev-team run ADR-1 ADR-2 --workflow implement-task --harness claude-code,codex",
	.words = "ID...|WORDS",
	.options = {cli_step_options, cli_agent_options, place_options},
	.size = sizeof(defaults),
	.defaults = &defaults,
	.run = run_cli_verb,
};
