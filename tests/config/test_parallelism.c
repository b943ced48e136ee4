#include "src/config/resource.h"
#include "tests/lib/resource_rig.h"

#define PARALLEL         "  parallelism: {worktreePool: w}\n"
#define GATE(name, more) "    - {name: " name ", holdsMergeGate: true" more "}\n"

static void plan(const char *name, const char *harness)
{
	scratch_write(arena_printf(&arena, "plan-%s.yaml", name),
		arena_printf(&arena,
			HEAD("SubscriptionPlan",
				"%s") "  harness: %s\n  billingMode: pay-per-token\n",
			name, harness));
}

/* The six of the table and two of our own names. */
static void plans(void)
{
	plan("claude-code-pro", "claude-code");
	plan("claude-code-max-5x", "claude-code");
	plan("claude-code-max-20x", "claude-code");
	plan("codex-plus", "codex");
	plan("codex-pro", "codex");
	plan("pay-per-token", "generic-api");
	plan("house-plan", "claude-code");
	plan("other-plan", "claude-code");
}

static struct parallelism resolved(
	const char *pool_plans, const char *spec, enum parallelism_mode mode)
{
	struct parallelism n;
	struct resources r;

	scratch_write("pool.yaml",
		arena_printf(&arena, HEAD("WorktreePool", "w") "  subscriptionPlans: [%s]\n",
			pool_plans));
	scratch_write("pipeline.yaml", arena_printf(&arena, HEAD("Pipeline", "p") "%s", spec));
	r = resource_load_all(base);
	if (r.n_faults)
		fail_msg("%s%s", resource_faults_text(&r), spec);
	parallelism_resolve(&arena, &r, resources_pipeline(&r, "p"), mode, &n);
	return n;
}

SCRATCH_TEST(how_many_at_one_time)
{
#define CLAUDE     "  stages:\n" GATE("a", "")
#define ALONE      PARALLEL CLAUDE
#define WITH(line) PARALLEL "  " line "\n" CLAUDE
#define AT_MOST(n) "  parallelism: {worktreePool: w, maxConcurrent: " n "}\n" CLAUDE
#define BOTH       "  stages:\n    - {name: a}\n" GATE("b", ", harness: codex")
	static const struct {
		unsigned max, before;
		enum parallelism_source source;
		const char *plans, *spec;
	} rows[] = {
		/* no `parallelism`: one at a time, whatever the plans allow */
		{1, 1, PARALLELISM_SERIAL, "", CLAUDE},
		{1, 1, PARALLELISM_SERIAL, "claude-code-max-20x", CLAUDE},
		/* the table */
		{1, 1, PARALLELISM_NO_PLAN, "", ALONE},
		{3, 3, PARALLELISM_PLANS, "claude-code-pro", ALONE},
		{5, 5, PARALLELISM_PLANS, "claude-code-max-5x", ALONE},
		{10, 10, PARALLELISM_PLANS, "claude-code-max-20x", ALONE},
		{2, 2, PARALLELISM_PLANS, "codex-plus", WITH("defaultHarness: codex")},
		{5, 5, PARALLELISM_PLANS, "codex-pro", WITH("defaultHarness: codex")},
		{5, 5, PARALLELISM_PLANS, "pay-per-token", WITH("defaultHarness: generic-api")},
		/* several on one harness are added */
		{10, 10, PARALLELISM_PLANS, "claude-code-max-5x, claude-code-max-5x", ALONE},
		{8, 8, PARALLELISM_PLANS, "claude-code-pro, claude-code-max-5x", ALONE},
		{18, 18, PARALLELISM_PLANS,
			"claude-code-pro, claude-code-max-5x, claude-code-max-20x", ALONE},
		{20, 20, PARALLELISM_PLANS, "claude-code-max-20x, claude-code-max-20x", ALONE},
		{20, 30, PARALLELISM_PLANS,
			"claude-code-max-20x, claude-code-max-20x, claude-code-max-20x", ALONE},
		/* the same plan named by the pipeline and its pool is one seat */
		{3, 3, PARALLELISM_PLANS, "claude-code-pro",
			WITH("subscriptionPlans: [claude-code-pro]")},
		{6, 6, PARALLELISM_PLANS, "claude-code-pro",
			WITH("subscriptionPlans: [claude-code-pro, claude-code-pro]")},
		{8, 8, PARALLELISM_PLANS, "claude-code-max-5x",
			WITH("subscriptionPlans: [claude-code-pro]")},
		{3, 3, PARALLELISM_PLANS, "", WITH("subscriptionPlans: [claude-code-pro]")},
		/* the greatest of several harnesses */
		{5, 5, PARALLELISM_PLANS, "claude-code-max-5x, codex-plus", PARALLEL BOTH},
		{5, 5, PARALLELISM_PLANS, "claude-code-pro, codex-pro", PARALLEL BOTH},
		{7, 7, PARALLELISM_PLANS, "claude-code-max-5x, codex-pro, codex-plus",
			PARALLEL BOTH},
		/* a plan for a harness that no stage names does not count */
		{1, 1, PARALLELISM_NO_PLAN, "codex-pro", ALONE},
		{3, 3, PARALLELISM_PLANS, "codex-pro, claude-code-pro", ALONE},
		{3, 3, PARALLELISM_PLANS, "codex-pro, claude-code-pro",
			WITH("defaultHarnessFallback: [codex]")},
		/* a name outside the table counts as one */
		{1, 1, PARALLELISM_PLANS, "house-plan", ALONE},
		{2, 2, PARALLELISM_PLANS, "house-plan, other-plan", ALONE},
		{4, 4, PARALLELISM_PLANS, "house-plan, claude-code-pro", ALONE},
		/* an explicit value counts */
		{8, 8, PARALLELISM_DECLARED, "claude-code-pro", AT_MOST("8")},
		{1, 1, PARALLELISM_DECLARED, "claude-code-max-20x", AT_MOST("1")},
		{20, 20, PARALLELISM_DECLARED, "", AT_MOST("20")},
	};

	plans();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parallelism n = resolved(rows[i].plans, rows[i].spec, PARALLELISM_ON);

		if (n.max != rows[i].max || n.before != rows[i].before ||
			n.source != rows[i].source)
			fail_msg("row %zu (%s): %u of %u, %s", i, rows[i].plans, n.max, n.before,
				parallelism_word(n.source));
	}
}

SCRATCH_TEST(pay_per_token_is_no_seat)
{
	plans();
	plan("pay-per-token", "claude-code");
	assert_int_equal(resolved("pay-per-token, pay-per-token", ALONE, PARALLELISM_ON).max, 5);
	assert_int_equal(resolved("pay-per-token, claude-code-pro", ALONE, PARALLELISM_ON).max, 5);
	assert_int_equal(
		resolved("claude-code-max-20x, pay-per-token", ALONE, PARALLELISM_ON).max, 10);
}

SCRATCH_TEST(switched_off_it_is_one)
{
	const char *eight = AT_MOST("8");
	struct parallelism n;

	plans();
	n = resolved("", eight, PARALLELISM_OFF);
	assert_int_equal(n.max, 1);
	assert_int_equal(n.source, PARALLELISM_DISABLED);
	assert_int_equal(resolved("", eight, PARALLELISM_EXPERIMENTAL).max, 8);
}

UNIT_GROUP(NULL, arena_end)
