#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/verify/protocol_report.h"
#include "src/verify/simulate_report.h"
#include "steps/steps.h"

enum { RUNS, SEED, JOBS, MAX_ACTIONS, JSON, PROTOCOL, DEPTH, CRASHES, PLUGIN_ROOT };

static const struct option_spec options[] = {
	[RUNS] = {"runs", "N", "how many work items are played; default: 10000", false},
	[SEED] = {"seed", "S", "of the first; the next has the next; default: 1", false},
	[JOBS] = {"jobs", "N", "processes; default: one a processor", false},
	[MAX_ACTIONS] = {"max-actions", "N",
		"then a work item is brought to its end without faults; default: 24", false},
	[JSON] = {"json", NULL, "the summary as one JSON object", false},
	[PROTOCOL] = {"protocol", NULL,
		"no FILE: the protocol of two loops, in every order of their moves", false},
	[DEPTH] = {"depth", "N", "with --protocol: so many moves; default: 5", false},
	[CRASHES] = {"crashes", "N", "with --protocol: at most so many crashes; default: 1", false},
	[PLUGIN_ROOT] = {"plugin-root", "DIR", "where the shipped workflows are", false},
	{0},
};

static int take_number(const struct args *args, int option, uint64_t least, uint64_t most,
	uint64_t otherwise, uint64_t *out, struct error *err)
{
	const char *text = args->value[option];

	*out = otherwise;
	if (!text)
		return 0;
	if (*text && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 15)
		*out = strtoull(text, NULL, 10);
	else
		*out = most + 1;
	if (*out >= least && *out <= most)
		return 0;
	return error_set(err, ERR_USAGE,
		"--%s must be a whole number from %llu to %llu, not '%.60s'", options[option].name,
		(unsigned long long)least, (unsigned long long)most, text);
}

/* A path is told in messages as it was given; a bare name is that of a shipped workflow. */
static int load(struct invocation *in, struct workflow *w, struct error *err)
{
	const char *name = in->args->words[0];
	char *path = arena_dup(in->arena, str_of(name));

	if (!strchr(name, '/') && !str_ends(str_of(name), ".md") && !path_exists(name) &&
		workflow_path(in->arena, name, in->args->value[PLUGIN_ROOT], &path, err) < 0)
		return -1;
	return workflow_load(in->arena, path, w, err);
}

static int plan_runs(struct invocation *in, struct simulate_plan *plan, struct error *err)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t jobs, actions;

	if (take_number(in->args, RUNS, 1, 1000000000000, 10000, &plan->runs, err) < 0 ||
		take_number(in->args, SEED, 0, 100000000000000, 1, &plan->seed, err) < 0 ||
		take_number(in->args, JOBS, 1, 256, processors > 0 ? (uint64_t)processors : 1,
			&jobs, err) < 0 ||
		take_number(in->args, MAX_ACTIONS, 1, 100000, 24, &actions, err) < 0)
		return -1;
	plan->jobs = plan->runs < jobs ? (unsigned)plan->runs : (unsigned)jobs;
	plan->max_actions = (unsigned)actions;
	return 0;
}

static int run_simulation(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct simulate_plan plan = {0};
	struct simulate_sums sums;
	struct workflow w;

	if (plan_runs(in, &plan, err) < 0 || load(in, &w, err) < 0)
		return -1;
	if (workflow_check(&w, steps_serve(), in->out))
		return ERR_CHECK;
	plan.workflow = &w;
	if (simulate(&plan, &sums, &trace, err) < 0)
		return -1;
	(in->args->value[JSON] ? simulate_report_json : simulate_report)(
		in->out, &plan, &sums, buf_str(&trace));
	return sums.broken ? ERR_CHECK : 0;
}

static int run_protocol(struct invocation *in, struct error *err)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct protocol_plan plan = {0};
	struct protocol_sums sums;
	uint64_t depth, crashes;

	if (in->args->n)
		return error_set(err, ERR_USAGE, "--protocol takes no FILE");
	if (take_number(in->args, DEPTH, 1, 60, 5, &depth, err) < 0 ||
		take_number(in->args, CRASHES, 0, 60, 1, &crashes, err) < 0)
		return -1;
	plan.depth = (unsigned)depth;
	plan.crashes = (unsigned)crashes;
	if (protocol_check(&plan, &sums, &trace, err) < 0)
		return -1;
	(in->args->value[JSON] ? protocol_report_json : protocol_report)(
		in->out, &plan, &sums, buf_str(&trace));
	return sums.fault[0] ? ERR_CHECK : 0;
}

static int run(struct invocation *in, struct error *err)
{
	if (in->args->value[PROTOCOL])
		return run_protocol(in, err);
	if (!in->args->n)
		return error_set(err, ERR_USAGE,
			"simulate: FILE is missing (see 'dev-team simulate --help')");
	return run_simulation(in, err);
}

const struct verb verb_simulate = {
	.name = "simulate",
	.synopsis = "FILE [--runs N] [--seed S] [OPTION...] | --protocol [--depth N]",
	.about = "play a workflow with random outcomes and faults, and check that nothing is lost",
	.details =
		"Each run is a work item that is played to its end over the real engine and "
		"store, on a disk and a clock\n"
		"in memory: good, bad, late and missing answers, kills, power cuts, disk errors, "
		"clock jumps, a second\n"
		"loop, edits by hand. After each call what is on the disk is checked. FILE may be "
		"the name of a shipped\n"
		"workflow. Exit status 1 when a promise was broken: the trace is printed, and "
		"--seed S --runs 1 plays\n"
		"the same again.\n\n"
		"--protocol goes through every order of what two loops can do, instead of random "
		"ones. docs/simulate.md.",
	.options = options,
	.min_words = 0,
	.max_words = 1,
	.run = run,
};
