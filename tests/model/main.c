/*
 * The model: runs the real engine, steps and store on a simulated disk and clock, with faults, and
 * checks after every call that nothing is lost and nothing is used twice. README.md.
 *
 *   model simulate FILE [--runs N] [--seed S] [--jobs N] [--max-actions N]
 *   model protocol [--depth N] [--crashes N]
 *   model explore FILE [--crashes 0]
 *
 * Exit status: 0 every check passed, 1 one failed, 2 usage, else as the product's verbs.
 */
#include <getopt.h>
#include <inttypes.h>
#include "src/base/number.h"
#include "steps/steps.h"
#include "tests/model/engine_checks.h"
#include "tests/model/model.h"

struct model_options {
	uint64_t runs, seed, jobs, max_actions, depth, crashes;
	const char *file;
};

static int usage(void)
{
	(void)fputs(
		"usage: model simulate FILE [--runs N] [--seed S] [--jobs N] [--max-actions N]\n"
		"       model protocol [--depth N] [--crashes N]\n"
		"       model explore FILE [--crashes 0]\n",
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
	uint64_t *values[] = {
		&out->runs, &out->seed, &out->jobs, &out->max_actions, &out->depth, &out->crashes};
	int which;

	while ((which = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		if (which > 5 || !number_parse(str_of(optarg), 0, INT64_MAX, values[which]))
			return -1;
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

static void report_runs(const struct simulate_plan *plan, const struct simulate_counts *s)
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
	if (s->failed)
		printf("broken: %s\nrepeat: model simulate '%s' --runs 1 --seed %" PRIu64
		       " --max-actions %u\n",
			s->fault, plan->workflow->file, s->failed_seed, plan->max_actions);
	else
		puts("no answer was lost, none was used twice");
}

/* *w lives in the arena. */
static int load(struct arena *a, const char *file, struct workflow *w, struct error *err)
{
	CLEANUP(buf_release) struct buf faults = BUF_INIT;

	if (workflow_load(a, file, w, err) < 0)
		return -1;
	if (workflow_check(w, steps_builtin(), &faults))
		return error_set(err, ERR_CHECK, "the workflow has faults:\n%s", faults.s);
	return 0;
}

static int run_simulate(const struct model_options *o, struct error *err)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	CLEANUP(arena_release) struct arena arena = {0};
	struct simulate_plan plan = {.seed = o->seed,
		.runs = o->runs,
		.jobs = (unsigned)(o->jobs < o->runs ? o->jobs : o->runs),
		.max_actions = (unsigned)o->max_actions};
	struct simulate_counts counts;
	struct workflow w;

	if (load(&arena, o->file, &w, err) < 0)
		return -1;
	plan.workflow = &w;
	if (simulate(&plan, &counts, &trace, err) < 0)
		return -1;
	(void)fwrite(trace.s, 1, trace.len, stdout);
	report_runs(&plan, &counts);
	return counts.failed ? ERR_CHECK : 0;
}

static int run_protocol(const struct model_options *o, struct error *err)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct protocol_plan plan = {.depth = (unsigned)o->depth, .crashes = (unsigned)o->crashes};
	struct protocol_counts s;

	if (protocol_check(&plan, &s, &trace, err) < 0)
		return -1;
	(void)fwrite(trace.s, 1, trace.len, stdout);
	printf("two loops, depth %u, at most %u crashes\n", plan.depth, plan.crashes);
	printf("states: %" PRIu64 "; transitions %" PRIu64 ", of them crashes %" PRIu64
	       ", to a known state %" PRIu64 "; ways out tried %" PRIu64 "\n",
		s.states, s.transitions, s.crashes, s.known, s.progress);
	print_time(s.ms);
	printf("\n%s%s\n", s.fault[0] ? "broken: " : "every check passed in every state", s.fault);
	return s.fault[0] ? ERR_CHECK : 0;
}

static void report_failed(const struct engine_checks *c)
{
	for (size_t i = 0; i < c->failed.n; i++) {
		const struct failed_check *f = &c->failed.items[i];

		printf("broken: %s\n  at %s\n", f->text, c->graph->nodes.items[f->node].key);
		for (size_t k = 0; k < f->answers.n; k++)
			printf("  record --action %s <<< '%s'\n", f->answers.items[k].action,
				f->answers.items[k].text);
	}
}

/* What `dev-team workflow explore` says of the workflow. */
static size_t report_findings(const struct explore_graph *g, struct arena *a)
{
	struct explore_findings f;

	explore_find(g, a, &f);
	for (size_t i = 0; i < f.list.n; i++)
		printf("finding: %s\n", f.list.items[i].text);
	for (size_t i = 0; i < f.notes.n; i++)
		printf("note: %s\n", f.notes.items[i]);
	return f.list.n;
}

static int run_explore(const struct model_options *o, struct error *err)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct explore_graph g = {0};
	struct engine_checks c;
	struct workflow w;
	size_t found;
	bool failed;

	if (load(&arena, o->file, &w, err) < 0)
		return -1;
	engine_checks_run(&c, &g, &w, &sim_disk_kind, !o->crashes);
	printf("%s: %zu states, %zu transitions; the engine was called %zu times\n", o->file,
		g.nodes.n, g.edges.n, g.calls);
	printf("answers refused %zu; changes by the troubleshooter %zu; crashes %zu; take-overs "
	       "%zu; cancels %zu\n",
		c.refused, c.changes, c.crashes, c.takeovers, c.cancels);
	printf("calls compared with the model %zu, skipped %zu\n", c.oracle.compared,
		c.oracle.skipped);
	found = report_findings(&g, &arena);
	report_failed(&c);
	if (c.oracle.difference[0])
		printf("broken: %s\n", c.oracle.difference);
	failed = found || c.failed.n || c.oracle.difference[0] || !g.complete;
	engine_checks_release(&c);
	explore_graph_release(&g);
	return failed ? ERR_CHECK : 0;
}

int main(int argc, char **argv)
{
	struct model_options o = {
		.runs = 10000, .seed = 1, .jobs = 1, .max_actions = 24, .depth = 5, .crashes = 1};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct error err;
	int rc;

	o.jobs = processors > 0 ? (uint64_t)processors : 1;
	if (argc < 2 || read_options(argc - 1, argv + 1, &o) < 0)
		return usage();
	o.file = argv[1 + optind];
	if (!strcmp(argv[1], "simulate") && o.file && o.runs && o.jobs && o.max_actions)
		rc = run_simulate(&o, &err);
	else if (!strcmp(argv[1], "protocol") && !o.file && o.depth)
		rc = run_protocol(&o, &err);
	else if (!strcmp(argv[1], "explore") && o.file)
		rc = run_explore(&o, &err);
	else
		return usage();
	if (rc < 0)
		(void)fprintf(stderr, "model: %s\n", err.text);
	return rc < 0 ? (int)err.code : rc;
}
