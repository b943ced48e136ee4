/* The report on loading a pipeline: how many issues it works on at one time. */
#include "tests/lib/unit.h"
#include "src/event/event.h"
#include "tests/lib/event_log.h"
#include "tests/lib/scratch.h"

SCRATCH_TEST(the_parallelism_is_recorded_and_reported)
{
	const char *names[] = {"claude-code-max-20x", "codex-plus"};
	struct harness_share shares[] = {{"claude-code", 23}, {"codex", 2}};
	const struct pipeline p = {.name = "p"}, q = {.name = "q"};
	const struct parallelism by_plans = {.max = 20,
		.before = 23,
		.source = PARALLELISM_PLANS,
		.plans = {.list = names, .n = COUNT(names)},
		.shares = shares,
		.n_shares = COUNT(shares)};
	const struct parallelism no_plan = {.max = 1, .before = 1, .source = PARALLELISM_NO_PLAN};
	CLEANUP(json_free) json *runtime = NULL, *events = NULL;
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	char *dir = at("artifacts");
	struct error err = {0};

	assert_int_equal(event_report_parallelism(NULL, &p, &by_plans, &err), 0);
	assert_false(path_exists(dir));
	assert_int_equal(event_report_parallelism(dir, &p, &by_plans, &err), 0);
	assert_int_equal(event_report_parallelism(dir, &q, &no_plan, &err), 0);
	assert_int_equal(artifact_read_runtime(dir, PIPELINE_SCOPE, &runtime, &err), 0);
	json_print(&b, runtime);
	assert_string_equal(b.s,
		"{\"resolvedParallelism\":{\"p\":{\"maxConcurrent\":20,\"source\":\"plans\","
		"\"clampedFrom\":23,\"plans\":[\"claude-code-max-20x\",\"codex-plus\"],"
		"\"harnesses\":{\"claude-code\":23,\"codex\":2}},"
		"\"q\":{\"maxConcurrent\":1,\"source\":\"no-plan\"}}}");
	assert_int_equal(event_list(dir, NULL, "ResolvedParallelism", &events, NULL, &err), 0);
	assert_int_equal(event_log_count(dir, "ResolvedParallelism"), 2);
	assert_string_equal(json_get_str(json_at(events, 0), "pipeline"), "p");
	assert_int_equal(json_get_int(json_at(events, 0), "maxConcurrent", 0), 20);
}
