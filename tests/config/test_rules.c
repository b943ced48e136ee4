/*
 * Directories with several resources: names, references, and parallelism.
 */
#include "tests/lib/resource_rig.h"

#define PIPE     HEAD("Pipeline", "p")
#define PARALLEL PIPE "  parallelism: {maxConcurrent: 2, worktreePool: w}\n"
#define POOL     HEAD("WorktreePool", "w")
#define DATABASE(name, env)                                                                        \
	HEAD("DatabaseBranchPool", name)                                                           \
	"  adapter: neon\n  upstream: {connectionStringEnv: DEV}\n"                                \
	"  injection: {targetEnv: " env "}\n"

static void check(const char *pipeline, const char *pool, const char *expected)
{
	struct resources r;

	scratch_write("p.yaml", pipeline);
	scratch_write("w.yaml", pool);
	r = resource_load_all(base);
	assert_string_equal(resource_faults_text(&r), expected);
}

SCRATCH_TEST(a_name_is_one_of_a_kind)
{
	struct resources r;

	scratch_write("a.yaml", POOL "  {}\n");
	scratch_write("b.yml", PLAN_TEXT("w", "codex"));
	scratch_write("c.yaml", POOL "  {}\n");
	scratch_write("d.yaml", POOL "  {}\n");
	r = resource_load_all(base);
	assert_string_equal(resource_faults_text(&r),
		arena_printf(&arena,
			"c.yaml:4:9: duplicate WorktreePool 'w': also %s:4\n"
			"d.yaml:4:9: duplicate WorktreePool 'w': also %s:4\n",
			at("a.yaml"), at("a.yaml")));
}

SCRATCH_TEST(only_the_directory_itself_is_read)
{
	struct error err = {0};
	struct resources r;

	scratch_write("b.yaml", POOL "  {}\n");
	scratch_write("a.yml", PLAN_TEXT("s", "codex"));
	scratch_write("notes.md", "not: [read");
	scratch_write(".hidden.yaml", "not: [read");
	tree_mkdirs(at("below"));
	scratch_write("below/c.yaml", "not: [read");
	scratch_write("role.yaml", "kind: AgentRole\nanything: [1]\n");
	r = resource_load_all(base);
	assert_string_equal(resource_faults_text(&r), "");
	assert_int_equal(r.n_files, 3);
	assert_int_equal(r.n_other, 1);
	assert_int_equal(r.n_docs, 2);
	assert_string_equal(r.docs[0].name, "s");
	assert_ptr_equal(r.docs[1].of, resources_pool(&r, "w"));
	assert_string_equal(resources_pool(&r, "w")->file, at("b.yaml"));
	r = resource_load_all(at("b.yaml"));
	assert_int_equal(r.n_files, 1);
	assert_int_equal(r.n_pools, 1);
	assert_fails(resources_load(&arena, at("none"), &r, &err), err, ERR_USAGE);
	assert_fails(resources_load(&arena, at("b.yaml/x"), &r, &err), err, ERR_USAGE);
}

SCRATCH_TEST(who_needs_them_gets_the_first_fault)
{
	struct error err = {0};
	struct resources r;

	scratch_write("a.yaml", POOL "  basePort: 1\n  layout: x\n");
	assert_fails(resources_need(&arena, base, &r, &err), err, ERR_INPUT);
	assert_int_equal(err.line, 6);
	assert_string_equal(err.file, at("a.yaml"));
	scratch_write("a.yaml", POOL "  basePort: 5000\n");
	assert_int_equal(resources_need(&arena, base, &r, &err), 0);
}

SCRATCH_TEST(the_final_stage_holds_the_gate)
{
#define LACKS(place, name)                                                                         \
	"p.yaml:" place ": the final stage '" name                                                 \
	"' must have 'holdsMergeGate: true': up to 2 issues reach it at the same time\n"
	static const struct {
		const char *stages, *faults;
	} rows[] = {
		{"[{name: a}, {name: b, holdsMergeGate: true}]", ""},
		{"[{name: a}]", LACKS("7:12", "a")},
		{"[{name: a, holdsMergeGate: true}, {name: b}]", LACKS("7:45", "b")},
		{"[{name: a}, {name: b, holdsMergeGate: false}]", LACKS("7:49", "b")},
		/* a tag on the main checkout merges nothing */
		{"[{name: a, holdsMergeGate: true}, {name: tag, isolation: inplace}]", ""},
		{"[{name: a}, {name: tag, isolation: inplace}]", LACKS("7:12", "a")},
		{"[{name: a, isolation: inplace}, {name: b, isolation: inplace}]",
			LACKS("7:43", "b")},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(arena_printf(&arena, PARALLEL "  stages: %s\n", rows[i].stages),
			POOL "  {}\n", rows[i].faults);
	check(PIPE "  parallelism: {worktreePool: w}\n  stages: [{name: a}]\n", POOL "  {}\n", "");
}

SCRATCH_TEST(a_database_is_for_one_at_a_time)
{
	static const char *const needs[] = {"read", "write", "migrate"};

	for (size_t i = 0; i < COUNT(needs); i++) {
		const char *text = arena_printf(&arena,
			PARALLEL "  stages: [{name: a, holdsMergeGate: true, databaseAccess: "
				 "%s}]\n",
			needs[i]);

		scratch_write("d.yaml", DATABASE("d", "URL"));
		check(text, POOL "  {}\n",
			"p.yaml:7:60: stage 'a' uses a database, up to 2 issues run it at "
			"the same time, and WorktreePool 'w' names no DatabaseBranchPool "
			"(DatabaseIsolationRequired)\n");
		check(text, POOL "  databaseBranchPools: [d]\n", "");
	}
	check(PARALLEL "  stages: [{name: a, holdsMergeGate: true, databaseAccess: none}]\n",
		POOL "  {}\n", "");
	check(PIPE "  parallelism: {maxConcurrent: 1, worktreePool: w}\n"
		   "  stages: [{name: a, databaseAccess: write}]\n",
		POOL "  {}\n", "");
	check(PIPE "  stages: [{name: a, databaseAccess: write}]\n", POOL "  {}\n", "");
}

SCRATCH_TEST(two_databases_are_two_variables)
{
	const char *one = PIPE STAGES;

	scratch_write("d.yaml", DATABASE("d", "URL"));
	scratch_write("e.yaml", DATABASE("e", "URL"));
	scratch_write("f.yaml", DATABASE("f", "OTHER_URL"));
	check(one, POOL "  databaseBranchPools: [d, f]\n", "");
	check(one, POOL "  databaseBranchPools: [d, f, e]\n",
		"w.yaml:6:24: 'd' and 'e' are both injected as 'URL'\n");
}

/* Plans make it more than one, as a number does. */
SCRATCH_TEST(plans_ask_for_a_pool_too)
{
	scratch_write("s.yaml", PLAN_TEXT("claude-code-pro", "claude-code"));
	check(PIPE "  parallelism: {}\n  subscriptionPlans: [claude-code-pro]\n"
		   "  stages: [{name: a}]\n",
		POOL "  {}\n",
		"p.yaml:6:16: there is no WorktreePool 'p', which several issues at the same "
		"time require\n"
		"p.yaml:8:12: the final stage 'a' must have 'holdsMergeGate: true': up to 3 issues "
		"reach it at the same time\n");
	check(HEAD("Pipeline", "w") "  parallelism: {}\n  subscriptionPlans: [claude-code-pro]\n"
				    "  stages: [{name: a, holdsMergeGate: true}]\n",
		POOL "  {}\n", "");
}

/* A fault in one file neither hides nor causes faults in others. */
SCRATCH_TEST(a_faulty_pool_is_still_there)
{
	check(PARALLEL STAGES, POOL "  basePort: 1\n",
		"w.yaml:6:13: 'basePort' must be a whole number from 1024 to 65000, not '1'\n");
}

#define PRIMARY   HEAD("DatabaseBranchPool", "primary-postgres")
#define MAX_5X    HEAD("SubscriptionPlan", "claude-code-max-5x")
#define IMPLEMENT HEAD("Pipeline", "default-pool")

/* As the format's documentation shows them. */
SCRATCH_TEST(the_examples_of_the_format_are_taken)
{
	struct resources r;

	scratch_write("pool.yaml",
		"apiVersion: ai-sdlc.dev/v1alpha1\nkind: WorktreePool\nmetadata:\n"
		"  name: default-pool\nspec:\n  rootDir: ~/.dev-team/worktrees\n"
		"  layout: workspace-scoped # or \"repo-local\"\n  staleThresholdDays: 14\n"
		"  basePort: 3190\n  ownershipGuard: strict # \"strict\" | \"advisory\"\n"
		"  cleanup:\n    onMerge: true\n    onAbort: true\n    onTimeout: true\n"
		"  databaseBranchPools: # optional\n    - primary-postgres\n"
		"    - analytics-postgres\n  subscriptionPlans: # optional\n"
		"    - claude-code-max-5x\n");
	scratch_write("primary.yaml",
		PRIMARY "  adapter: neon # 'neon' | 'sqlite-copy'\n  upstream:\n"
			"    connectionStringEnv: DATABASE_URL_DEV\n    branchFrom: dev\n"
			"  injection:\n    targetEnv: DATABASE_URL\n"
			"    additionalEnvs: [PGHOST, PGDATABASE]\n  lifecycle:\n"
			"    createOn: worktree-allocation\n    reclaimOn: pr-merge\n"
			"    maxConcurrent: 10\n    branchTtl: P14D\n    abandonAfter: P7D\n"
			"    warmPoolSize: 0\n  migrations:\n    runOnBranchCreate: true\n"
			"    migrationCommand: 'pnpm db:migrate'\n"
			"    migrationCwd: orchestrator\n  credentials:\n"
			"    apiTokenEnv: NEON_API_TOKEN\n    projectId: prj_abc123\n");
	scratch_write("analytics.yaml", DATABASE("analytics-postgres", "ANALYTICS_DATABASE_URL"));
	scratch_write("plan.yaml", MAX_5X
		"  harness: claude-code\n  billingMode: session-window\n"
		"  windowDuration: PT5H # ISO 8601\n  windowQuotaTokens: 1000000\n"
		"  offPeak:\n    enabled: true\n    multiplier: 2.0\n    schedule:\n"
		"      - { tz: 'America/Los_Angeles', hours: '22-06' }\n"
		"      - { tz: 'America/Los_Angeles', hours: '0-7', daysOfWeek: 'Sat,Sun' }\n"
		"    lastVerified: '2026-04-15'\n  pacingTarget: 0.85\n  hardCap: 0.95\n"
		"  quotaSource: self-tracked\n");
	scratch_write("pipeline.yaml",
		IMPLEMENT "  parallelism: {}\n  stages:\n    - name: implement\n"
			  "      agent: developer\n      databaseAccess: write\n"
			  "      holdsMergeGate: true\n");
	r = resource_load_all(base);
	assert_string_equal(resource_faults_text(&r), "");
	assert_int_equal(r.n_docs, 5);
}

UNIT_GROUP(NULL, arena_end)
