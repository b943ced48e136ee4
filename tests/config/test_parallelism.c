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
#define CLAUDE "  stages:\n" GATE("a", "")
#define BOTH   "  stages:\n    - {name: a}\n" GATE("b", ", harness: codex")
	static const struct {
		const char *plans, *spec;
		unsigned max, before;
		enum parallelism_source source;
	} rows[] = {
		/* no `parallelism`: one at a time, whatever the plans allow */
		{"", CLAUDE, 1, 1, PARALLELISM_SERIAL},
		{"claude-code-max-20x", CLAUDE, 1, 1, PARALLELISM_SERIAL},
		/* the table */
		{"", PARALLEL CLAUDE, 1, 1, PARALLELISM_NO_PLAN},
		{"claude-code-pro", PARALLEL CLAUDE, 3, 3, PARALLELISM_PLANS},
		{"claude-code-max-5x", PARALLEL CLAUDE, 5, 5, PARALLELISM_PLANS},
		{"claude-code-max-20x", PARALLEL CLAUDE, 10, 10, PARALLELISM_PLANS},
		{"codex-plus", PARALLEL "  defaultHarness: codex\n" CLAUDE, 2, 2,
			PARALLELISM_PLANS},
		{"codex-pro", PARALLEL "  defaultHarness: codex\n" CLAUDE, 5, 5, PARALLELISM_PLANS},
		{"pay-per-token", PARALLEL "  defaultHarness: generic-api\n" CLAUDE, 5, 5,
			PARALLELISM_PLANS},
		/* several on one harness are added */
		{"claude-code-max-5x, claude-code-max-5x", PARALLEL CLAUDE, 10, 10,
			PARALLELISM_PLANS},
		{"claude-code-pro, claude-code-max-5x", PARALLEL CLAUDE, 8, 8, PARALLELISM_PLANS},
		{"claude-code-pro, claude-code-max-5x, claude-code-max-20x", PARALLEL CLAUDE, 18,
			18, PARALLELISM_PLANS},
		{"claude-code-max-20x, claude-code-max-20x", PARALLEL CLAUDE, 20, 20,
			PARALLELISM_PLANS},
		{"claude-code-max-20x, claude-code-max-20x, claude-code-max-20x", PARALLEL CLAUDE,
			20, 30, PARALLELISM_PLANS},
		/* the same plan named by the pipeline and its pool is one seat */
		{"claude-code-pro", PARALLEL "  subscriptionPlans: [claude-code-pro]\n" CLAUDE, 3,
			3, PARALLELISM_PLANS},
		{"claude-code-pro",
			PARALLEL "  subscriptionPlans: [claude-code-pro, claude-code-pro]\n" CLAUDE,
			6, 6, PARALLELISM_PLANS},
		{"claude-code-max-5x", PARALLEL "  subscriptionPlans: [claude-code-pro]\n" CLAUDE,
			8, 8, PARALLELISM_PLANS},
		{"", PARALLEL "  subscriptionPlans: [claude-code-pro]\n" CLAUDE, 3, 3,
			PARALLELISM_PLANS},
		/* the greatest of several harnesses */
		{"claude-code-max-5x, codex-plus", PARALLEL BOTH, 5, 5, PARALLELISM_PLANS},
		{"claude-code-pro, codex-pro", PARALLEL BOTH, 5, 5, PARALLELISM_PLANS},
		{"claude-code-max-5x, codex-pro, codex-plus", PARALLEL BOTH, 7, 7,
			PARALLELISM_PLANS},
		/* a plan for a harness that no stage names does not count */
		{"codex-pro", PARALLEL CLAUDE, 1, 1, PARALLELISM_NO_PLAN},
		{"codex-pro, claude-code-pro", PARALLEL CLAUDE, 3, 3, PARALLELISM_PLANS},
		{"codex-pro, claude-code-pro",
			PARALLEL "  defaultHarnessFallback: [codex]\n" CLAUDE, 3, 3,
			PARALLELISM_PLANS},
		/* a name outside the table counts as one */
		{"house-plan", PARALLEL CLAUDE, 1, 1, PARALLELISM_PLANS},
		{"house-plan, other-plan", PARALLEL CLAUDE, 2, 2, PARALLELISM_PLANS},
		{"house-plan, claude-code-pro", PARALLEL CLAUDE, 4, 4, PARALLELISM_PLANS},
		/* an explicit value counts */
		{"claude-code-pro", "  parallelism: {worktreePool: w, maxConcurrent: 8}\n" CLAUDE,
			8, 8, PARALLELISM_DECLARED},
		{"claude-code-max-20x",
			"  parallelism: {worktreePool: w, maxConcurrent: 1}\n" CLAUDE, 1, 1,
			PARALLELISM_DECLARED},
		{"", "  parallelism: {worktreePool: w, maxConcurrent: 20}\n" CLAUDE, 20, 20,
			PARALLELISM_DECLARED},
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
	assert_int_equal(
		resolved("pay-per-token, pay-per-token", PARALLEL CLAUDE, PARALLELISM_ON).max, 5);
	assert_int_equal(
		resolved("pay-per-token, claude-code-pro", PARALLEL CLAUDE, PARALLELISM_ON).max, 5);
	assert_int_equal(
		resolved("claude-code-max-20x, pay-per-token", PARALLEL CLAUDE, PARALLELISM_ON).max,
		10);
}

SCRATCH_TEST(switched_off_it_is_one)
{
	const char *eight = "  parallelism: {worktreePool: w, maxConcurrent: 8}\n" CLAUDE;
	struct parallelism n;

	plans();
	n = resolved("", eight, PARALLELISM_OFF);
	assert_int_equal(n.max, 1);
	assert_int_equal(n.source, PARALLELISM_DISABLED);
	assert_int_equal(resolved("", eight, PARALLELISM_EXPERIMENTAL).max, 8);
}

UNIT_GROUP(NULL, arena_end)
