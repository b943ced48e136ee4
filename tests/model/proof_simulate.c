/*
 * The simulation and the model check of the protocol on the program as it is: every kind of fault
 * and of end occurs in the runs.
 */
#include "tests/lib/random.h"
#include "tests/lib/unit.h"
#include "tests/model/model.h"

enum { RUNS = 1500, DEPTH = 3 };

static void assert_sound(const char *file)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct simulate_plan plan = {
		.seed = random_seed(NULL), .runs = RUNS, .jobs = 2, .max_actions = 20};
	struct simulate_counts counts;
	struct error err = {0};
	struct workflow w;

	assert_int_equal(workflow_load(&a, file, &w, &err), 0);
	plan.workflow = &w;
	assert_int_equal(simulate(&plan, &counts, &trace, &err), 0);
	if (counts.failed) {
		print_message("%s", trace.s);
		fail_msg("seed %llu: %s", (unsigned long long)counts.failed_seed, counts.fault);
	}
	assert_int_equal(counts.runs, RUNS);
	for (int k = 0; k < FAULT_KINDS; k++)
		if (!counts.faults[k])
			fail_msg("no '%s' in %d runs", simulate_fault_names[k], RUNS);
	for (int k = 0; k < END_KINDS; k++)
		assert_true(counts.ends[k] > 0);
}

TEST(implement_task_passes_every_check)
{
	assert_sound("workflows/implement-task.md");
}

TEST(fix_issue_passes_every_check)
{
	assert_sound("workflows/fix-issue.md");
}

TEST(the_protocol_holds_in_every_order_of_moves)
{
	CLEANUP(buf_release) struct buf trace = BUF_INIT;
	struct protocol_plan plan = {.depth = DEPTH, .crashes = 1};
	struct protocol_counts counts;
	struct error err = {0};

	assert_int_equal(protocol_check(&plan, &counts, &trace, &err), 0);
	if (counts.fault[0])
		print_message("%s", trace.s);
	assert_string_equal(counts.fault, "");
	assert_true(counts.states > 20);
}
