#include "tests/lib/resource_rig.h"

#define PIPE HEAD("Pipeline", "p")

static const struct pipeline *pipeline(const char *spec)
{
	struct resources r = resource_good(arena_printf(&arena, PIPE "%s", spec));

	assert_int_equal(r.n_pipelines, 1);
	return resources_pipeline(&r, "p");
}

TEST(a_pipeline_of_one_stage_has_all_defaults)
{
	const struct pipeline *p = pipeline("  stages:\n  - name: a\n");
	const struct stage_spec *s = pipeline_stage(p, "a");

	assert_false(p->parallel || p->max_concurrent || p->default_model_declared);
	assert_string_equal(p->worktree_pool, "p");
	assert_string_equal(p->target_branch, "main");
	assert_null(p->branch_pattern);
	assert_string_equal(p->default_model, "sonnet");
	assert_string_equal(p->default_harness, "claude-code");
	assert_int_equal(p->default_fallback.n + p->plans.n, 0);
	assert_null(p->tenant);
	assert_null(p->account);
	assert_true(p->tenant_share < 0);
	assert_true(p->cost_budget_usd <= 0);
	assert_int_equal(p->off_peak_max_wait_s, 8 * 3600);
	assert_string_equal(p->artifact_version, "v1");
	assert_int_equal(p->n_stages, 1);
	assert_ptr_equal(s, p->stages);
	assert_null(pipeline_stage(p, "b"));
	assert_int_equal(s->line, 7);
	assert_int_equal(s->col, 5);
	assert_null(s->agent);
	assert_int_equal(s->isolation, ISOLATION_INPLACE);
	assert_false(s->holds_gate || s->fallback_declared || s->failure_declared);
	assert_null(s->model);
	assert_string_equal(s->harness, "claude-code");
	assert_int_equal(s->fallback.n + s->independent_of.n + s->needs.n, 0);
	assert_int_equal(s->schedule, SCHEDULE_NOW);
	assert_int_equal(s->estimate_in + s->estimate_out, 0);
	assert_int_equal(s->database, DATABASE_NONE);
	assert_int_equal(s->timeout_s, 0);
	assert_null(s->artifact);
}

TEST(all_of_a_stage_is_read)
{
	const struct stage_spec *s =
		pipeline("  stages:\n  - name: a\n  - name: b\n    agent: reviewer\n"
			 "    isolation: worktree\n"
			 "    holdsMergeGate: true\n    model: opus[1m]\n    maxBudgetUsd: 2.5\n"
			 "    harness: codex\n    harnessFallback: [aider, claude-code]\n"
			 "    requiresIndependentHarnessFrom: [a]\n"
			 "    requires: [skills, streaming]\n    schedule: defer-if-low-priority\n"
			 "    estimatedTokens: {input: 250000, output: 40000, frozen: true}\n"
			 "    databaseAccess: migrate\n    timeout: PT30M\n    artifact: review\n"
			 "    onFailure: {strategy: retry, maxRetries: 10, retryDelay: PT1M,\n"
			 "      on: MigrationFailed}\n")
			->stages +
		1;

	assert_string_equal(s->agent, "reviewer");
	assert_int_equal(s->isolation, ISOLATION_WORKTREE);
	assert_true(s->holds_gate);
	assert_string_equal(s->model, "opus[1m]");
	assert_true(s->max_budget_usd > 2.49 && s->max_budget_usd < 2.51);
	assert_string_equal(s->harness, "codex");
	assert_true(s->fallback_declared);
	assert_int_equal(s->fallback.n, 2);
	assert_string_equal(s->fallback.list[1], "claude-code");
	assert_string_equal(s->independent_of.list[0], "a");
	assert_string_equal(s->needs.list[1], "streaming");
	assert_int_equal(s->schedule, SCHEDULE_DEFER_LOW);
	assert_int_equal(s->estimate_in, 250000);
	assert_int_equal(s->estimate_out, 40000);
	assert_true(s->estimate_frozen);
	assert_int_equal(s->database, DATABASE_MIGRATE);
	assert_int_equal(s->timeout_s, 1800);
	assert_string_equal(s->artifact, "review");
	assert_true(s->failure_declared);
	assert_int_equal(s->on_failure, FAILURE_RETRY);
	assert_int_equal(s->max_retries, 10);
	assert_int_equal(s->retry_delay_s, 60);
	assert_string_equal(s->failure_on, "MigrationFailed");
}

TEST(stages_take_after_their_pipeline)
{
	const struct pipeline *p = pipeline(
		"  parallelism: {maxConcurrent: 1}\n  defaultHarness: codex\n  defaultModel: opus\n"
		"  defaultHarnessFallback: [aider]\n  stages:\n"
		"  - {name: a}\n  - {name: b, harness: inherit, model: inherit}\n"
		"  - {name: c, harness: opencode, harnessFallback: [], isolation: inplace}\n");

	assert_true(p->parallel && p->default_model_declared);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(p->stages[i].harness, "codex");
		assert_null(p->stages[i].model);
		assert_int_equal(p->stages[i].fallback.n, 1);
		assert_string_equal(p->stages[i].fallback.list[0], "aider");
		assert_false(p->stages[i].fallback_declared);
		assert_int_equal(p->stages[i].isolation, ISOLATION_WORKTREE);
	}
	assert_string_equal(p->stages[2].harness, "opencode");
	assert_int_equal(p->stages[2].fallback.n, 0);
	assert_true(p->stages[2].fallback_declared);
	assert_int_equal(p->stages[2].isolation, ISOLATION_INPLACE);
}

TEST(all_of_a_pipeline_is_read)
{
	const struct pipeline *p =
		pipeline("  branching: {pattern: 'ai-sdlc/issue-{issueNumber}', targetBranch: "
			 "release/1.x}\n  tenant: team_a\n  tenantQuotaShare: 0.6\n"
			 "  accountId: shared account\n  costBudget: 50\n  offPeakMaxWait: P2D\n"
			 "  stages: [{name: a}]\n");

	assert_string_equal(p->branch_pattern, "ai-sdlc/issue-{issueNumber}");
	assert_string_equal(p->target_branch, "release/1.x");
	assert_string_equal(p->tenant, "team_a");
	assert_true(p->tenant_share > 0.59 && p->tenant_share < 0.61);
	assert_string_equal(p->account, "shared account");
	assert_int_equal((int)p->cost_budget_usd, 50);
	assert_int_equal(p->off_peak_max_wait_s, 172800);
}

#define NO_BRANCH   " does not give the name of a git branch"
#define CONCURRENCY "'maxConcurrent' must be a whole number from 1 to 20, not "
#define HARNESSES                                                                                  \
	"must be 'claude-code', 'codex', 'gemini-cli', 'opencode', 'aider' or 'generic-api', not "
#define RETRIES "'maxRetries' must be a whole number from 1 to 10, not "

#define STAGE(text) "  stages: [{name: a, " text "}]\n"
#define INDEPENDENT_OF(stage)                                                                      \
	"  stages: [{name: a, requiresIndependentHarnessFrom: [" stage "]}, {name: z}]\n"
#define RETRY(n)      STAGE("onFailure: {strategy: retry, maxRetries: " n "}")
#define CONCURRENT(n) "  parallelism: {maxConcurrent: " n "}\n" STAGES
#define PATTERN(text) "  branching: {pattern: '" text "'}\n" STAGES

TEST(what_a_pipeline_may_not_be)
{
	static const struct {
		const char *spec, *fault;
	} rows[] = {
		{"  stages: []\n", "6:11: 'stages' must have 1 to 200 entries, not 0"},
		{"  defaultModel: x\n", "6:3: 'stages' is missing"},
		{"  stages: [a]\n", "6:12: 'stages' must be a map, not 'a'"},
		{"  stages: [{name: ''}]\n", "6:19: 'name' must be letters, digits, '.', '_' and "
					     "'-', a letter or digit first, not ''"},
		{"  stages: [{name: a}, {name: b}, {name: a}]\n",
			"6:41: duplicate stage 'a': also line 6"},
		{STAGE("model: 5"),
			"6:29: 'model' must be an alias or the id of a model, in quotes, not '5'"},
		{STAGE("model: 'a b'"),
			"6:29: 'model' must be an alias or the id of a model, not 'a b'"},
		{STAGE("maxBudgetUsd: 0"),
			"6:36: 'maxBudgetUsd' must be a number above 0, not '0'"},
		{STAGE("maxBudgetUsd: -1"),
			"6:36: 'maxBudgetUsd' must be a number above 0, not '-1'"},
		{STAGE("kind: agent"),
			"6:28: 'kind' has no effect: remove it, or, if another program reads it, "
			"add 'stages.kind' to the annotation 'dev-team/ignored'"},
		{STAGE("isolation: clone"),
			"6:33: 'isolation' must be 'worktree' or 'inplace', not 'clone'"},
		{STAGE("databaseAccess: admin"), "6:38: 'databaseAccess' must be 'none', 'read', "
						 "'write' or 'migrate', not 'admin'"},
		{STAGE("schedule: later"),
			"6:32: 'schedule' must be 'now', 'off-peak', 'quota-permitting' or "
			"'defer-if-low-priority', not 'later'"},
		{STAGE("harnessFallback: [codex, codex]"),
			"6:47: 'harnessFallback' names 'codex' twice"},
		{STAGE("harnessFallback: [inherit]"),
			"6:40: 'harnessFallback' " HARNESSES "'inherit' (UnknownHarness)"},
		{STAGE("requires: [telepathy]"),
			"6:33: 'requires' must be 'freshContext', 'customTools', 'streaming', "
			"'worktreeAwareCwd', 'skills' or 'artifactWrites', not 'telepathy'"},
		{STAGE("estimatedTokens: {input: 1}"), "6:39: 'output' is missing"},
		{STAGE("estimatedTokens: {input: -1, output: 0}"),
			"6:47: 'input' must be a whole number of at least 0, not '-1'"},
		{STAGE("estimatedTokens: {input: 1, output: 1, error: 1}"),
			"6:61: unknown key 'error': must be 'input', 'output' or 'frozen'"},
		{STAGE("onFailure: {}"), "6:33: 'strategy' is missing"},
		{STAGE("onFailure: {strategy: ignore}"),
			"6:44: 'strategy' must be 'abort', 'retry', 'pause' or 'continue', not "
			"'ignore'"},
		{STAGE("onFailure: {strategy: retry}"),
			"6:44: 'maxRetries' is missing, which 'strategy: retry' needs"},
		{RETRY("0"), "6:63: " RETRIES "'0'"},
		{RETRY("11"), "6:63: " RETRIES "'11'"},
		{STAGE("onFailure: {strategy: abort, on: MigrationConflict}"),
			"6:55: 'on' must be 'AdapterUnavailable', 'AdmissionDenied', "
			"'AgentTimeout', "
			"'ArtifactSchemaInvalid', 'BranchQuotaExceeded', 'BudgetExceeded', "
			"'CIFailure', 'HarnessUnavailable', 'IndependenceViolated' or "
			"'MigrationFailed', not 'MigrationConflict'"},
		{STAGE("onFailure: {strategy: retry, maxRetries: 1, on: CIFailure}"),
			"6:44: 'retry' has no effect on 'CIFailure': 'strategy' must be 'abort' "
			"or 'pause'"},
		{STAGE("onFailure: {strategy: continue, on: AdmissionDenied}"),
			"6:44: 'continue' has no effect on 'AdmissionDenied': 'strategy' must be "
			"'abort' or 'pause'"},
		{STAGE("onFailure: {strategy: abort, on: MigrationFailed}"),
			"6:55: 'MigrationFailed' does not occur in a stage without "
			"'databaseAccess'"},
		{STAGE("onFailure: {strategy: abort, on: IndependenceViolated}"),
			"6:55: 'IndependenceViolated' does not occur in a stage without "
			"'requiresIndependentHarnessFrom'"},
		{STAGE("timeout: PT0S"), "6:31: 'timeout' must be longer than zero, not 'PT0S'"},
		{STAGE("timeout: 1800"), "6:31: 'timeout' must be a duration such as 'PT5H' or "
					 "'P14D', in quotes, not '1800'"},
		{STAGE("qualityGates: [x]"), "6:22: 'qualityGates' is not supported: a stage that "
					     "relies on it must not run without it"},
		{INDEPENDENT_OF("a"), "6:55: stage 'a' must be independent of itself "
				      "(CyclicIndependenceConstraint)"},
		{INDEPENDENT_OF("z"),
			"6:55: stage 'z' comes after 'a' (CyclicIndependenceConstraint)"},
		{INDEPENDENT_OF("phantom"),
			"6:55: there is no stage 'phantom' (CyclicIndependenceConstraint)"},
		{CONCURRENT("0"), "6:32: " CONCURRENCY "'0'"},
		{CONCURRENT("21"), "6:32: " CONCURRENCY "'21'"},
		{CONCURRENT("'3'"), "6:32: " CONCURRENCY "the text '3'"},
		{"  parallelism: {mergeStrategy: parallel-merge}\n" STAGES,
			"6:32: 'mergeStrategy' must be 'serialized-rebase', not 'parallel-merge' "
			"(parallel-merge is reserved and forbidden)"},
		{"  parallelism: {worktreePool: w}\n" STAGES, "6:31: there is no WorktreePool 'w'"},
		{CONCURRENT("2"),
			"6:16: there is no WorktreePool 'p', which several issues at the same time "
			"require"},
		{"  parallelism: []\n" STAGES, "6:16: 'parallelism' must be a map, not a list"},
		{"  defaultModel: inherit\n" STAGES, "6:17: 'defaultModel' cannot be 'inherit'"},
		{"  defaultHarness: inherit\n" STAGES,
			"6:19: 'defaultHarness' " HARNESSES "'inherit' (UnknownHarness)"},
		{"  tenantQuotaShare: 0.5\n" STAGES,
			"6:21: 'tenantQuotaShare' requires a 'tenant'"},
		{"  tenant: t\n  tenantQuotaShare: 1.1\n" STAGES,
			"7:21: 'tenantQuotaShare' must be a number from 0 to 1, not '1.1'"},
		{"  tenant: ../t\n" STAGES, "6:11: 'tenant' must be letters, digits, '.', '_' and "
					    "'-', a letter or digit first, not '../t'"},
		{"  artifactSchemaVersion: v2\n" STAGES,
			"6:26: 'artifactSchemaVersion' must be 'v1', not 'v2'"},
		{"  costPolicy: {}\n" STAGES,
			"6:3: 'costPolicy' is not supported: use the stages' 'maxBudgetUsd'"},
		{"  subscriptionPlans: [x]\n" STAGES, "6:23: there is no SubscriptionPlan 'x'"},
		{"  branching: {}\n" STAGES, "6:14: 'pattern' is missing"},
		{PATTERN("a..b"), "6:24: 'a..b'" NO_BRANCH},
		{PATTERN("a{b"), "6:24: 'a{b'" NO_BRANCH},
		{PATTERN("a{}"), "6:24: 'a{}'" NO_BRANCH},
		{PATTERN("a}{"), "6:24: 'a}{'" NO_BRANCH},
		{PATTERN("feature/all"),
			"6:24: 'feature/all' gives every issue the same branch: {id} must be in "
			"it"},
		{PATTERN("{id}/{slug}"),
			"6:24: '{slug}' is none of {id}, {issueId}, {issueNumber}"},
		{"  branching: {pattern: '{id}', targetBranch: -d}\n" STAGES,
			"6:46: 'targetBranch' must be the name of a git branch, not '-d'"},
		{"  branching: {pattern: '{id}', targetBranch: a.lock}\n" STAGES,
			"6:46: 'a.lock' is not the name of a git branch"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		resource_assert_faults(arena_printf(&arena, PIPE "%s%s", rows[i].spec,
					       strchr(rows[i].spec, '\n') ? "" : "\n"),
			arena_printf(&arena, "r.yaml:%s\n", rows[i].fault));
}

UNIT_GROUP(NULL, arena_end)
