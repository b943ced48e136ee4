#include "src/cli/cli.h"
#include "src/run/run.h"

enum { TIMEOUT_MAX_S = 86400, MAX_ACTIONS_MAX = 9999999 };

static const struct option agent_options[] = {
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

/* ---- progress ---- */

#define GOOD "\033[32m"
#define BAD  "\033[33m"
#define BOLD "\033[1m"
#define DIM  "\033[2m"

static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(no_colour && *no_colour) && term &&
	       strcmp(term, "dumb") != 0;
}

/* Text of agents must not control the terminal. `colour` may be NULL. */
static void add_column(bool colours, struct buf *b, const char *colour, int width, struct str text)
{
	int fill = width - (int)text.n;

	if (colours && colour)
		buf_adds(b, colour);
	buf_add_printable(b, text, SIZE_MAX);
	if (colours && colour)
		buf_adds(b, "\033[0m");
	if (width)
		buf_addf(b, "%*s  ", fill > 0 ? fill : 0, "");
}

static void add_action(bool colours, struct buf *line, const json *action, const char *word)
{
	const char *agent = json_get_str(action, "agent"),
		   *trigger = json_get_str(action, "trigger"),
		   *words = json_get_str(action, "result_format");
	size_t n = strlen(word);
	/* The first result word of a format is the good one. */
	bool good = n && strncmp(words, word, n) == 0 && strchr(" |", words[n]);

	add_column(colours, line, NULL, 14, run_action_state(json_get_str(action, "id")));
	add_column(colours, line, NULL, 14, str_of(agent ? agent : "script"));
	add_column(colours, line, good ? GOOD : BAD, 17, n ? str_of(word) : STR("no answer"));
	add_column(colours, line, DIM, 0,
		str_of(trigger ? trigger : json_get_str(action, "write_section")));
}

static void add_done(bool colours, struct buf *line, const json *done)
{
	bool good = strcmp(json_get_str(done, "result"), "success") == 0;

	add_column(
		colours, line, good ? BOLD GOOD : BOLD BAD, 14, good ? STR("done") : STR("failed"));
	add_column(colours, line, NULL, 0, str_of(json_get_str(done, "reason")));
}

/* Below the line of what it explains. */
static void log_detail(const char *name, const char *text)
{
	struct str rest = str_of(text ? text : ""), one;

	for (; str_line(&rest, &one); name = "") {
		CLEANUP(buf_release) struct buf line = BUF_INIT;

		buf_adds(&line, "         ");
		add_column(wants_colour(), &line, DIM, 14, str_of(name));
		add_column(false, &line, NULL, 0, one);
		error_log("%s", line.s);
	}
}

static void log_refuted(void *data, const char *fault)
{
	(void)data;
	log_detail("does not count", fault);
}

/* A line on standard error for each action; coloured on a terminal. */
static void log_progress(int64_t ms, const json *action, const char *word)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	bool colours = wants_colour();
	char time[32];

	(void)snprintf(time, sizeof(time), "%6.2fs  ", (double)ms / 1000);
	add_column(colours, &line, DIM, 0, str_of(time));
	if (word)
		add_action(colours, &line, action, word);
	else
		add_done(colours, &line, action);
	error_log("%s", line.s);
	if (word)
		return;
	log_detail("log", json_get_str(action, "log"));
	log_detail("last words", json_get_str(action, "last_words"));
	log_detail("to continue", json_get_str(action, "continue"));
	if (json_get(action, "continue"))
		log_detail("", "then the same command again");
}

static int run(struct invocation *in, struct error *err)
{
	struct run_request q = *(const struct run_request *)in->values;

	q.progress = log_progress;
	q.call.refuted = log_refuted;
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
	.examples =
		"dev-team run ADR-1 --workflow implement-task --agents demo/agents.yaml\n"
		"dev-team run ADR-1 ADR-2 --workflow implement-task --harness claude-code,codex",
	.words = "ID...",
	.options = {cli_step_options, agent_options, place_options},
	.size = sizeof(defaults),
	.defaults = &defaults,
	.run = run,
};
