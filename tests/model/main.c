/*
 * The model: runs the real engine, steps and store on a simulated disk and clock, with faults, and
 * checks after every call that nothing is lost and nothing is used twice. README.md.
 *
 *   model simulate FILE [--runs N] [--seed S] [--jobs N] [--max-actions N]
 *   model protocol [--depth N] [--crashes N]
 *
 * Exit status: 0 every check passed, 1 one failed, 2 usage, else as the product's verbs.
 */
#include <getopt.h>
#include <inttypes.h>
#include "steps/steps.h"
#include "tests/model/protocol.h"
#include "tests/model/simulate.h"

struct model_options {
	unsigned long runs, seed, jobs, max_actions, depth, crashes;
	const char *file;
};

static int usage(void)
{
	(void)fputs(
		"usage: model simulate FILE [--runs N] [--seed S] [--jobs N] [--max-actions N]\n"
		"       model protocol [--depth N] [--crashes N]\n",
		stderr);
	return ERR_USAGE;
}

static int read_options(int argc, char **argv, struct model_options *out)
{
	static const struct option longs[] = {
		{"runs", required_argument, NULL, 0},
		{"seed", required_argument, NULL, 1},
		{"jobs", required_argument, NULL, 2},
		{"max-actions", required_argument, NULL, 3},
		{"depth", required_argument, NULL, 4},
		{"crashes", required_argument, NULL, 5},
		{0},
	};
	unsigned long *values[] = {
		&out->runs, &out->seed, &out->jobs, &out->max_actions, &out->depth, &out->crashes};
	int which;

	while ((which = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		char *end = NULL;

		if (which > 5)
			return -1;
		*values[which] = strtoul(optarg, &end, 10);
		if (*end || end == optarg)
			return -1;
	}
	return 0;
}

static void print_counts(
	const char *title, const char *const *names, const uint64_t *n, unsigned kinds)
{
	const char *separator = " ";

	printf("%s:", title);
	for (unsigned i = 0; i < kinds; i++) {
		if (!n[i])
			continue;
		printf("%s%s %" PRIu64, separator, names[i], n[i]);
		separator = ", ";
	}
	puts(*separator == ' ' ? " none" : "");
}

static void print_time(int64_t ms)
{
	printf("time: %" PRId64 ".%03d s", ms / 1000, (int)(ms % 1000));
}

static void report_runs(const struct simulate_plan *plan, const struct simulate_sums *s)
{
	printf("%" PRIu64 " runs of '%s', seeds from %" PRIu64 "\n", s->runs, plan->workflow->file,
		plan->seed);
	printf("calls: %" PRIu64 "; actions %" PRIu64 ", answers accepted %" PRIu64
	       ", calls refused %" PRIu64 "\n",
		s->calls, s->actions, s->answers, s->refused);
	print_counts("faults", simulate_fault_names, s->faults, FAULT_KINDS);
	print_counts("ends", simulate_end_names, s->ends, END_KINDS);
	print_time(s->ms);
	printf(", %" PRIu64 " runs a second\n", s->runs * 1000 / (uint64_t)(s->ms > 0 ? s->ms : 1));
	if (s->broken)
		printf("broken: %s\nrepeat: model simulate '%s' --runs 1 --seed %" PRIu64
		       " --max-actions %u\n",
			s->fault, plan->workflow->file, s->broken_seed, plan->max_actions);
	else
		puts("no answer was lost, none was used twice");
}

static int run_simulate(const struct model_options *o, struct error *err)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT, faults = BUF_INIT;
	struct simulate_plan plan = {.seed = o->seed,
		.runs = o->runs,
		.jobs = (unsigned)(o->jobs < o->runs ? o->jobs : o->runs),
		.max_actions = (unsigned)o->max_actions};
	struct simulate_sums sums;
	struct arena arena = {0};
	struct workflow w;

	if (workflow_load(&arena, o->file, &w, err) < 0)
		return -1;
	if (workflow_check(&w, steps_builtin(), &faults))
		return error_set(err, ERR_CHECK, "the workflow has faults:\n%s", faults.s);
	plan.workflow = &w;
	if (simulate(&plan, &sums, &trace, err) < 0)
		return -1;
	(void)fwrite(trace.s, 1, trace.len, stdout);
	report_runs(&plan, &sums);
	arena_release(&arena);
	return sums.broken ? ERR_CHECK : 0;
}

static int run_protocol(const struct model_options *o, struct error *err)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct protocol_plan plan = {.depth = (unsigned)o->depth, .crashes = (unsigned)o->crashes};
	struct protocol_sums s;

	if (protocol_check(&plan, &s, &trace, err) < 0)
		return -1;
	(void)fwrite(trace.s, 1, trace.len, stdout);
	printf("two loops, depth %u, at most %u crashes\n", plan.depth, plan.crashes);
	printf("states: %" PRIu64 "; moves %" PRIu64 ", of them crashes %" PRIu64
	       ", to a known state %" PRIu64 "; ways out tried %" PRIu64 "\n",
		s.states, s.moves, s.crashes, s.merged, s.progress);
	print_time(s.ms);
	printf("\n%s%s\n", s.fault[0] ? "broken: " : "every check passed in every state", s.fault);
	return s.fault[0] ? ERR_CHECK : 0;
}

int main(int argc, char **argv)
{
	struct model_options o = {
		.runs = 10000, .seed = 1, .jobs = 1, .max_actions = 24, .depth = 5, .crashes = 1};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct error err;
	int rc;

	o.jobs = processors > 0 ? (unsigned long)processors : 1;
	if (argc < 2 || read_options(argc - 1, argv + 1, &o) < 0)
		return usage();
	o.file = argv[1 + optind];
	if (!strcmp(argv[1], "simulate") && o.file && o.runs && o.jobs && o.max_actions)
		rc = run_simulate(&o, &err);
	else if (!strcmp(argv[1], "protocol") && !o.file && o.depth)
		rc = run_protocol(&o, &err);
	else
		return usage();
	if (rc < 0)
		(void)fprintf(stderr, "model: %s\n", err.text);
	return rc < 0 ? (int)err.code : rc;
}
