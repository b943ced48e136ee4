#include "src/base/number.h"
#include "src/cli/cli.h"
#include "src/tick/tick.h"

enum { TICKS_MAX = 1000000, INTERVAL_OPTION_MAX = 300 };

static const struct option options[] = {
	OPTION_NUMBER(struct tick_start_call, max_ticks, "max-ticks", "N", 1, TICKS_MAX,
		"end after N ticks; default: when all tasks are finished"),
	OPTION_NUMBER(struct tick_start_call, interval_s, "tick-interval", "SECONDS", 1,
		INTERVAL_OPTION_MAX,
		"wait so long, and longer each time, while nothing changes; default: 30"),
	OPTION_NUMBER(struct tick_start_call, tick.max_concurrent, "max-concurrent", "N", 1,
		CONCURRENT_MAX, "how many tasks are worked on at the same time; default: 1"),
	OPTION_TEXT(struct tick_start_call, tick.task, "task", "ID",
		"only this task, or these, separated by commas, also if they are not on the "
		"frontier"),
	OPTION_FLAG(struct tick_start_call, request.call.take_over, "take-over",
		"take over what another session holds when this begins"),
	OPTION_CHOICE(struct tick_start_call, spawner, "spawner",
		"inline|claude-cli|harness|api-key|mock",
		"harness: agents use the login of their program, API keys are not passed on; "
		"api-key: they use a key; mock: they are those of --agents; default: "
		"$AI_SDLC_ORCHESTRATOR_SPAWNER, else mock with --agents, else harness"),
	OPTION_END,
};
static const struct option place_options[] = {
	CLI_RESOURCES(struct run_request),
	CLI_ARTIFACTS(struct run_request),
	CLI_PLUGIN_ROOT(struct run_step_call),
	CLI_REPO(struct run_step_call),
	OPTION_END,
};
static const struct tick_start_call defaults = {.interval_s = TICK_INTERVAL_S};

static int start_run(struct invocation *in, struct error *err)
{
	struct tick_start_call c = *(const struct tick_start_call *)in->values;
	int status, rc;

	progress_listen(&c.request);
	rc = tick_start(in->arena, &c, in->out, &status, err);
	return cli_end_ticks(in, rc, status, err);
}

const struct verb verb_start = {
	.name = "start",
	.group = "Backlog",
	.about = "work on the backlog unattended, until every task has an approved pull request",
	.details =
		"Repeats 'tick' and carries out its actions, as 'run' does, of all tasks side by "
		"side. While there is nothing to do it waits, at most 300 seconds at a time. What "
		"fails is reported and tried again, unless the first tick cannot look at the "
		"tasks; a task that keeps failing is parked. After an interruption the same "
		"command continues.\n"
		"\n"
		"The first line on standard error says who pays. Exit status 0: all tasks are "
		"finished, or those of the last tick of --max-ticks were carried out. 6, 8: as of "
		"the last 'tick'. 4: spawner-unavailable, or another 'start' works on this "
		"backlog.",
	.examples = "dev-team start --max-concurrent 3\n"
		    "dev-team start --spawner api-key --harness claude-code --max-ticks 50\n"
		    "dev-team start --spawner mock --agents agents.yaml",
	.options = {cli_agent_options, options, place_options},
	.size = sizeof(defaults),
	.defaults = &defaults,
	.run = start_run,
};
