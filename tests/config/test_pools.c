/*
 * Worktree pools, subscription plans and database branch pools: what is read and what is refused.
 */
#include "tests/lib/resource_rig.h"

#define POOL HEAD("WorktreePool", "w")

static const struct worktree_pool_spec *only_pool(const char *text)
{
	struct resources r = resource_good(text);

	assert_int_equal(r.n_pools, 1);
	return resources_pool(&r, NULL);
}

static const struct worktree_pool_spec *pool(const char *spec)
{
	return only_pool(arena_printf(&arena, POOL "%s", spec));
}

#define ODD_ROOT "6:12: 'rootDir' must not be a directory of the system or contain '..'"

TEST(a_pool_of_nothing_has_all_defaults)
{
	const struct worktree_pool_spec *p = pool("  {}\n");

	setenv("HOME", "/home/ada", 1);
	p = pool("  {}\n");
	assert_string_equal(p->name, "w");
	assert_string_equal(p->file, "r.yaml");
	assert_null(p->root);
	assert_false(p->repo_local);
	assert_int_equal(p->stale_days, 14);
	assert_int_equal(p->base_port, 3190);
	assert_true(p->strict && p->on_merge && p->on_abort && p->on_timeout);
	assert_int_equal(p->database_pools.n + p->plans.n, 0);
}

TEST(without_a_pool_worktrees_are_in_the_repository)
{
	struct worktree_pool_spec p = resource_default_pool(&arena);

	assert_string_equal(p.name, "default");
	assert_null(p.file);
	assert_null(p.root);
	assert_true(p.repo_local);
	assert_int_equal(p.stale_days, 14);
	assert_int_equal(p.base_port, 3190);
	assert_true(p.strict && p.on_merge && p.on_abort && p.on_timeout);
}

TEST(all_of_a_pool_is_read)
{
	const struct worktree_pool_spec *p =
		pool("  rootDir: ~/trees\n  staleThresholdDays: 1\n  basePort: 65000\n"
		     "  ownershipGuard: advisory\n"
		     "  cleanup: {onMerge: false, onAbort: false, onTimeout: false}\n");

	assert_string_equal(p->root, "/home/ada/trees");
	assert_int_equal(p->stale_days, 1);
	assert_int_equal(p->base_port, 65000);
	assert_false(p->strict || p->on_merge || p->on_abort || p->on_timeout);
	assert_true(pool("  layout: repo-local\n")->repo_local);
	assert_false(pool("  layout: workspace-scoped\n")->repo_local);
	assert_string_equal(pool("  rootDir: \"~\"\n")->root, "/home/ada");
	assert_string_equal(pool("  rootDir: /srv/~x\n")->root, "/srv/~x");
	assert_string_equal(pool("  rootDir: /device/..x\n")->root, "/device/..x");
	assert_int_equal(
		only_pool("\xef\xbb\xbf" HEAD("WorktreePool", "p") "  basePort: 4000\n")->base_port,
		4000);
}

#define PORT          "6:13: 'basePort' must be a whole number from 1024 to 65000, not "
#define RELATIVE_ROOT "6:12: 'rootDir' must be an absolute path, or one that begins with '~/', not "

#define SETUP_PATH " must be a path within the repository, without '..', and not git's own"

TEST(what_a_pool_may_not_be)
{
	static const struct {
		const char *spec, *fault;
	} rows[] = {
		{"  staleThresholdDays: 0\n", "6:23: 'staleThresholdDays' must be a whole number "
					      "from 1 to 36500, not '0'"},
		{"  basePort: 1023\n", PORT "'1023'"},
		{"  basePort: 65001\n", PORT "'65001'"},
		{"  basePort: \"3190\"\n", PORT "the text '3190'"},
		{"  basePort: 03190\n", PORT "'03190'"},
		{"  basePort: 3190.5\n", PORT "'3190.5'"},
		{"  basePort:\n",
			"6:12: 'basePort' must be a whole number from 1024 to 65000, not nothing"},
		{"  ownershipGuard: lax\n",
			"6:19: 'ownershipGuard' must be 'advisory' or 'strict', not 'lax'"},
		{"  layout: [repo-local]\n",
			"6:11: 'layout' must be 'workspace-scoped' or 'repo-local', not a list"},
		{"  rootDir: trees\n", RELATIVE_ROOT "'trees'"},
		{"  rootDir: /\n", ODD_ROOT},
		{"  rootDir: //.\n", ODD_ROOT},
		{"  rootDir: /proc\n", ODD_ROOT},
		{"  rootDir: /dev/null\n", ODD_ROOT},
		{"  rootDir: /sys/x\n", ODD_ROOT},
		{"  rootDir: /a/../../etc\n", ODD_ROOT},
		{"  rootDir: ~/..\n", ODD_ROOT},
		{"  rootDir: ~ada/x\n", RELATIVE_ROOT "'~ada/x'"},
		{"  cleanup: {onMerge: yes}\n", "6:22: 'onMerge' must be true or false, not 'yes'"},
		{"  cleanup: true\n", "6:12: 'cleanup' must be a map, not 'true'"},
		{"  maxConcurrent: 10\n", "6:3: unknown key 'maxConcurrent'"},
		{"  rootDir: /x\n  layout: repo-local\n",
			"6:12: 'rootDir' and 'layout: repo-local' exclude each other"},
		{"  setup: {copy: [/etc/passwd]}\n",
			"6:18: 'copy' must be a relative path, not '/etc/passwd'"},
		{"  setup: {copy: [a/../../b]}\n", "6:18: 'a/../../b'" SETUP_PATH},
		{"  setup: {link: [.git/hooks]}\n", "6:18: '.git/hooks'" SETUP_PATH},
		{"  setup: {link: [., a]}\n", "6:18: '.'" SETUP_PATH},
		{"  setup: {timeout: PT0S}\n",
			"6:20: 'timeout' must be longer than zero, not 'PT0S'"},
		{"  subscriptionPlans: [gone]\n", "6:23: there is no SubscriptionPlan 'gone'"},
		{"  databaseBranchPools: [gone]\n", "6:25: there is no DatabaseBranchPool 'gone'"},
		{"  databaseBranchPools: [a, a]\n",
			"6:25: there is no DatabaseBranchPool 'a'\nr.yaml:6:28: "
			"'databaseBranchPools' names 'a' twice\nr.yaml:6:28: there is no "
			"DatabaseBranchPool 'a'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		resource_assert_faults(arena_printf(&arena, POOL "%s", rows[i].spec),
			arena_printf(&arena, "r.yaml:%s\n", rows[i].fault));
}

#define PLAN HEAD("SubscriptionPlan", "s")
#define BASE                                                                                       \
	HEAD("DatabaseBranchPool", "d")                                                            \
	"  adapter: neon\n  upstream: {connectionStringEnv: DEV}\n"                                \
	"  injection: {targetEnv: URL}\n"

TEST(all_of_a_plan_is_read)
{
	struct resources r = resource_good(PLAN
		"  harness: claude-code\n  billingMode: session-window\n  windowDuration: PT5H\n"
		"  windowQuotaTokens: 1000000\n  offPeak:\n    enabled: true\n    multiplier: 2.0\n"
		"    schedule:\n      - { tz: 'America/Los_Angeles', hours: '22-06' }\n"
		"      - { tz: 'America/Los_Angeles', hours: '0-7', daysOfWeek: 'Sat,Sun' }\n"
		"    lastVerified: '2026-04-15'\n  pacingTarget: 0.85\n  hardCap: 0.95\n"
		"  quotaSource: self-tracked\n");
	const struct subscription_plan *p = resources_plan(&r, "s");

	assert_string_equal(p->harness, "claude-code");
	assert_int_equal(p->billing, BILLING_WINDOW);
	assert_int_equal(p->window_s, 18000);
	assert_int_equal(p->quota_tokens, 1000000);
	assert_true(p->off_peak);
	assert_true(p->multiplier > 1.99 && p->multiplier < 2.01);
	assert_int_equal(p->n_windows, 2);
	assert_string_equal(p->windows[0].hours, "22-06");
	assert_null(p->windows[0].days);
	assert_string_equal(p->windows[1].tz, "America/Los_Angeles");
	assert_string_equal(p->windows[1].days, "Sat,Sun");
	assert_string_equal(p->verified, "2026-04-15");
	assert_true(p->pacing > 0.849 && p->pacing < 0.851);
}

TEST(a_plan_of_little_has_defaults)
{
	struct resources r = resource_good(PLAN "  harness: codex\n  billingMode: pay-per-token\n");
	const struct subscription_plan *p = resources_plan(&r, "s");

	assert_int_equal(p->billing, BILLING_PER_TOKEN);
	assert_int_equal(p->window_s + p->quota_tokens, 0);
	assert_false(p->off_peak);
	assert_true(p->multiplier > 0.99 && p->multiplier < 1.01);
	assert_true(p->pacing > 0.799 && p->pacing < 0.801);
	assert_true(p->hard_cap > 0.949 && p->hard_cap < 0.951);
	assert_null(p->verified);
	assert_null(resources_plan(&r, "t"));
}

TEST(all_of_a_database_pool_is_read)
{
	struct resources r = resource_good(HEAD("DatabaseBranchPool",
		"d") "  adapter: external\n"
		     "  upstream: {connectionStringEnv: DATABASE_URL_DEV, branchFrom: dev}\n"
		     "  injection: {targetEnv: DATABASE_URL, additionalEnvs: [PGHOST, "
		     "PGDATABASE]}\n"
		     "  lifecycle: {createOn: first-write-stage, reclaimOn: manual, maxConcurrent: "
		     "10,\n"
		     "    branchTtl: P14D, abandonAfter: PT1H, warmPoolSize: 3}\n"
		     "  allowBranchFromBranch: true\n"
		     "  migrations: {migrationCommand: pnpm db:migrate, migrationCwd: a/b}\n"
		     "  credentials: {allocateCommand: a b, acknowledgeUntrusted: true}\n");
	const struct database_pool_spec *d = resources_database(&r, "d");

	assert_string_equal(d->adapter, "external");
	assert_string_equal(d->connection_env, "DATABASE_URL_DEV");
	assert_string_equal(d->branch_from, "dev");
	assert_string_equal(d->target_env, "DATABASE_URL");
	assert_int_equal(d->additional_envs.n, 2);
	assert_string_equal(d->create_on, "first-write-stage");
	assert_string_equal(d->reclaim_on, "manual");
	assert_int_equal(d->max_concurrent, 10);
	assert_int_equal(d->ttl_s, 14 * 86400);
	assert_int_equal(d->abandon_s, 3600);
	assert_int_equal(d->warm, 3);
	assert_true(d->from_branch && d->migrations && d->on_create);
	assert_string_equal(d->migration_command, "pnpm db:migrate");
	assert_string_equal(d->migration_cwd, "a/b");
	assert_string_equal(database_credential(d, "allocateCommand"), "a b");
	assert_null(database_credential(d, "reclaimCommand"));
	assert_int_equal(d->max_branches, 10);
}

TEST(a_database_pool_of_little_has_defaults)
{
	struct resources r = resource_good(BASE);
	const struct database_pool_spec *d = resources_database(&r, "d");

	assert_string_equal(d->create_on, "worktree-allocation");
	assert_string_equal(d->reclaim_on, "pr-merge");
	assert_int_equal(d->max_concurrent + d->warm, 0);
	assert_int_equal(d->max_branches, CONCURRENT_MAX);
	assert_int_equal(d->ttl_s, 0);
	assert_int_equal(d->abandon_s, 7 * 86400);
	assert_false(d->from_branch || d->migrations);
	assert_null(d->credentials);
}

#define SESSION_NEEDS " is missing, which 'billingMode: session-window' needs"
#define CREATE_NEEDS  "'migrationCommand' is missing, which 'runOnBranchCreate: true' needs"

TEST(what_they_may_not_be)
{
#define CODEX   PLAN "  harness: codex\n"
#define SESSION CODEX "  billingMode: session-window\n"
#define PAYG    CODEX "  billingMode: pay-per-token\n"
#define OFF(x)  PAYG "  offPeak: {enabled: false, multiplier: 2, " x "}\n"
#define WHEN(x) OFF("schedule: [{" x "}]")
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{CODEX, "6:3: 'billingMode' is missing"},
		{PLAN "  billingMode: pay-per-token\n", "6:3: 'harness' is missing"},
		{SESSION "  windowDuration: PT5H\n", "7:16: 'windowQuotaTokens'" SESSION_NEEDS},
		{SESSION "  windowQuotaTokens: 5\n", "7:16: 'windowDuration'" SESSION_NEEDS},
		{CODEX "  billingMode: monthly-cap\n", "7:16: 'windowQuotaTokens' is missing, "
						       "which 'billingMode: monthly-cap' needs"},
		{SESSION "  windowQuotaTokens: 0\n  windowDuration: PT1H\n",
			"8:22: 'windowQuotaTokens' must be a whole number of at least 1, not '0'"},
		{SESSION "  windowQuotaTokens: 1\n  windowDuration: PT0H\n",
			"9:19: 'windowDuration' must be longer than zero, not 'PT0H'"},
		{SESSION "  windowQuotaTokens: 1\n  windowDuration: P1M\n",
			"9:19: 'windowDuration' must be a duration such as 'PT5H' or 'P14D', not "
			"'P1M'"},
		{PAYG "  pacingTarget: 1.01\n",
			"8:17: 'pacingTarget' must be a number from 0 to 1, not '1.01'"},
		{PAYG "  hardCap: -0.1\n",
			"8:12: 'hardCap' must be a number from 0 to 1, not '-0.1'"},
		{PAYG "  hardCap: .nan\n",
			"8:12: 'hardCap' must be a number from 0 to 1, not '.nan'"},
		{PAYG "  quotaSource: guess\n",
			"8:16: 'quotaSource' must be 'self-tracked', 'authoritative-api' or "
			"'authoritative-with-fallback', not 'guess'"},
		{PAYG "  quotaSource: authoritative-api\n",
			"8:16: a plan without a quota has no source of it"},
		{PAYG "  quotaCommand: [sh]\n",
			"8:3: 'quotaCommand' is not supported: a repository names no program: it "
			"stands under 'plans' in config.yaml of the state directory"},
		{PAYG "  offPeak: {multiplier: 2}\n", "8:12: 'enabled' is missing"},
		{PAYG "  offPeak: {enabled: false}\n", "8:12: 'multiplier' is missing"},
		{PAYG "  offPeak: {enabled: false, multiplier: 1}\n",
			"8:41: 'multiplier' must be a number above 1, not '1'"},
		{OFF("lastVerified: 2026-02-30"), "8:58: the day '2026-02-30' does not exist"},
		{OFF("lastVerified: 2025-02-29"), "8:58: the day '2025-02-29' does not exist"},
		{OFF("lastVerified: yesterday"), "8:58: 'lastVerified' must be a date such as "
						 "'2026-04-15', not 'yesterday'"},
		{PAYG "  windowDuration: PT5H\n",
			"8:19: 'windowDuration' goes with 'billingMode: session-window'"},
		{CODEX "  billingMode: monthly-cap\n  windowQuotaTokens: 5\n  windowDuration: "
		       "PT5H\n",
			"9:19: 'windowDuration' goes with 'billingMode: session-window'"},
		{PAYG "  windowQuotaTokens: 5\n",
			"8:22: 'billingMode: pay-per-token' has no quota"},
		{PAYG "  offPeak: {enabled: true, multiplier: 2}\n",
			"8:22: 'offPeak' has no effect without 'schedule'"},
		{WHEN("hours: 1-2"), "8:55: 'tz' is missing"},
		{WHEN("tz: UTC"), "8:55: 'hours' is missing"},
		{WHEN("tz: UTC, hours: 25-6"),
			"8:72: 'hours' must be two hours such as '22-06', not '25-6'"},
		{WHEN("tz: UTC, hours: 06-6"), "8:72: '06-6' is an empty range"},
		{WHEN("tz: UTC, hours: 1-2, daysOfWeek: Saturday"),
			"8:89: 'daysOfWeek' must be days such as 'Sat,Sun', not 'Saturday'"},
		{WHEN("tz: UTC, hours: 1-2, minutes: 5"),
			"8:77: unknown key 'minutes': must be 'tz', 'hours' or 'daysOfWeek'"},
		{HEAD("DatabaseBranchPool", "d") "  adapter: neon\n",
			"6:3: 'injection' is missing\nr.yaml:6:3: 'upstream' is missing"},
		{BASE "  lifecycle: {warmPoolSize: 21}\n",
			"9:29: 'warmPoolSize' must be a whole number from 0 to 20, not '21'"},
		{BASE "  lifecycle: {maxConcurrent: 0}\n",
			"9:30: 'maxConcurrent' must be a whole number from 1 to 1000000, not '0'"},
		{BASE "  lifecycle: {branchTtl: PT0S}\n",
			"9:26: 'branchTtl' must be longer than zero, not 'PT0S'"},
		{BASE "  migrations: {}\n", "9:15: " CREATE_NEEDS},
		{BASE "  migrations: {runOnBranchCreate: true}\n", "9:35: " CREATE_NEEDS},
		{BASE "  migrations: {migrationCommand: x, migrationCwd: a/../../b}\n",
			"9:51: 'migrationCwd' leads out of the worktree"},
		{BASE "  credentials: {apiToken: sk-1}\n",
			"9:27: the adapter 'neon' has no credential 'apiToken'"},
		{BASE "  credentials: {apiTokenEnv: 'sk-1'}\n",
			"9:30: 'apiTokenEnv' must be the name of an environment variable"},
		{BASE "  credentials: {projectId: [p]}\n", "9:28: 'projectId' must be a text"},
		{BASE "  credentials: {storageVolume: v}\n",
			"9:32: 'storageVolume' has no effect: branches are databases of the same "
			"server"},
		{BASE "  migrations: {migrationCommand: x, migrationCwd: /a}\n",
			"9:51: 'migrationCwd' must be a relative path, not '/a'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		resource_assert_faults(
			rows[i].text, arena_printf(&arena, "r.yaml:%s\n", rows[i].fault));
	assert_int_equal(
		resource_good(BASE "  migrations: {runOnBranchCreate: false}\n").n_databases, 1);
	assert_int_equal(resource_good(OFF("lastVerified: 2024-02-29")).n_plans, 1);
	assert_int_equal(resource_good(WHEN("tz: Europe/Berlin, hours: 0-24")).n_plans, 1);
}

/* A value given in place of a variable's name may be an address with a password. */
TEST(an_address_is_not_told)
{
	resource_assert_faults(
		HEAD("DatabaseBranchPool", "d") "  adapter: neon\n  upstream: "
						"{connectionStringEnv: 'postgres://u:pw@h/d'}\n"
						"  injection: {targetEnv: URL, additionalEnvs: "
						"['postgres://u:pw@h/d']}\n",
		"r.yaml:7:35: 'connectionStringEnv' must be the name of an environment variable\n"
		"r.yaml:8:48: 'additionalEnvs' must be the name of an environment variable\n");
}

UNIT_GROUP(NULL, arena_end)
