#include "src/cli/cli.h"
#include "src/run/run.h"

enum { TIMEOUT_MAX_S = 86400, MAX_ACTIONS_MAX = 9999999, SLOTS_LIMIT = 20 };

struct run_options {
	struct cli_step common;
	const char *agents, *harness, *model, *pipeline, *resources, *artifacts, *parent, *at_once;
	struct option_list pass_env;
	int64_t max_actions, timeout_s, slots;
	bool worktree;
};

static const struct option agent_options[] = {
	OPTION_TEXT(struct run_options, agents, "agents", "SCRIPT",
		"scripted agents: what they do and answer (YAML)"),
	OPTION_TEXT(struct run_options, harness, "harness", "NAME[,NAME...]",
		"real agents: the harness that runs them, then its fallbacks"),
	OPTION_TEXT(struct run_options, pipeline, "pipeline", "NAME",
		"real agents: the Pipeline whose stages set harness, model and limits"),
	OPTION_TEXT(struct run_options, model, "model", "NAME",
		"with --harness: an alias or an id; default: sonnet"),
	OPTION_NUMBER(struct run_options, timeout_s, "timeout", "SECONDS", 1, TIMEOUT_MAX_S,
		"time limit of each real agent; default: 1800"),
	OPTION_LIST(struct run_options, pass_env, "pass-env", "NAME",
		"pass this environment variable to the agents, which get few"),
	OPTION_END,
};
static const struct option place_options[] = {
	OPTION_NUMBER(struct run_options, max_actions, "max-actions", "N", 0, MAX_ACTIONS_MAX,
		"stop after this many actions; default: 1000"),
	CLI_RESOURCES(struct run_options),
	CLI_ARTIFACTS(struct run_options),
	OPTION_FLAG(struct run_options, worktree, "worktree",
		"work in a worktree of its own, with its own ports"),
	OPTION_NUMBER(struct run_options, slots, "slots", "N", 0, SLOTS_LIMIT,
		"with --worktree: reserve N ports for child worktrees"),
	OPTION_TEXT(struct run_options, parent, "parent", "BRANCH",
		"with --worktree: take the port from those reserved by BRANCH's worktree"),
	OPTION_TEXT(struct run_options, at_once, "max-concurrent", "N",
		"how many of several work items run at the same time; default: the pipeline's, "
		"else 1"),
	OPTION_END,
};
/* --slots 0 asks for a worktree, too. */
static const struct run_options defaults = {.max_actions = RUN_MAX_ACTIONS, .slots = -1};

/* Combinations that make no sense, before anything is done. */
static int check_options(const struct invocation *in, struct error *err)
{
	const struct run_options *o = in->values;
	const char *lone = o->model        ? "model"
			   : o->timeout_s  ? "timeout"
			   : o->pass_env.n ? "pass-env"
					   : NULL;

	if (!o->harness && !o->pipeline && !o->agents)
		return error_set(err, ERR_USAGE,
			"no agents given: --agents SCRIPT, --harness NAME or --pipeline NAME");
	if (!o->harness && !o->pipeline && lone)
		return error_set(err, ERR_USAGE, "--%s needs --harness or --pipeline", lone);
	if (in->n > 1 && o->common.context_file)
		return error_set(err, ERR_USAGE,
			"--context-file names the document of one work item, not of %zu", in->n);
	return 0;
}

static int run(struct invocation *in, struct error *err)
{
	const struct run_options *o = in->values;
	const struct run_request q = {.call = {CLI_STEP_CALL(in, &o->common)},
		.agents = o->agents,
		.harness = o->harness,
		.model = o->model,
		.pipeline = o->pipeline,
		.resources = o->resources,
		.artifacts = o->artifacts,
		.parent = o->parent,
		.at_once = o->at_once,
		.pass_env = o->pass_env.p,
		.n_pass_env = o->pass_env.n,
		.timeout_s = (unsigned)o->timeout_s,
		.slots = o->slots > 0 ? (unsigned)o->slots : 0,
		.max_actions = (unsigned long)o->max_actions,
		.progress = run_progress_lines(),
		.worktree = o->worktree || o->slots >= 0,
		.options = in->given.p,
		.n_options = in->given.n};

	if (check_options(in, err) < 0)
		return -1;
	return run_items(in->arena, &q, in->words, in->n, in->out, err);
}

const struct verb verb_run = {
	.name = "run",
	.group = "Work on an item",
	.about = "run work items to the end, with scripted agents or with real ones",
	.details =
		"Repeats 'step' and carries out every action until the work item is done. Scripts "
		"(run_script) are really run. Prints a line for each action on standard error and "
		"the last array on standard output. Exit status 1: the run ended failed.\n"
		"\n"
		"One of --agents, --harness and --pipeline is required. With --agents the agents "
		"do and answer what SCRIPT says (docs/agent-scripts.md). With --harness each "
		"action is one call of a coding agent: it gets its task as one prompt, and its "
		"last message is the answer. --pipeline takes harness, model and limits of each "
		"state from the stage of that name (docs/harness.md). With both, SCRIPT handles "
		"the actions that it has an entry for.\n"
		"\n"
		"Several IDs run side by side, each in its own worktree; the result is an array "
		"with an object for each. After an interruption or an error the same command "
		"continues.",
	.examples = "dev-team run ADR-1 --workflow implement --agents demo/agents.yaml\n"
		    "dev-team run ADR-1 ADR-2 --workflow implement --harness claude-code,codex",
	.words = "ID...",
	.options = {cli_step_options, agent_options, place_options},
	.size = sizeof(defaults),
	.defaults = &defaults,
	.run = run,
};
