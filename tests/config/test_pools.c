#include "tests/lib/resource_rig.h"

#define POOL HEAD("WorktreePool", "w")

static const struct worktree_pool_spec *pool(const char *spec)
{
	struct resources r = good(arena_printf(&arena, POOL "%s", spec));

	assert_int_equal(r.n_pools, 1);
	return &r.pools[0];
}

#define ODD_ROOT "6:12: 'rootDir' must be no system's folder, and without '..'"

static void a_pool_of_nothing_has_all_defaults(void **state)
{
	const struct worktree_pool_spec *p = pool("  {}\n");

	(void)state;
	setenv("HOME", "/home/ada", 1);
	p = pool("  {}\n");
	assert_string_equal(p->name, "w");
	assert_string_equal(p->file, "r.yaml");
	assert_string_equal(p->root, "/home/ada/.dev-team/worktrees");
	assert_false(p->root_declared || p->repo_local);
	assert_int_equal(p->stale_days, 14);
	assert_int_equal(p->base_port, 3190);
	assert_true(p->strict && p->on_merge && p->on_abort && p->on_timeout);
	assert_int_equal(p->database_pools.n + p->plans.n, 0);
}

static void the_default_pool_is_the_same(void **state)
{
	struct worktree_pool_spec p = worktree_pool_default(&arena);

	(void)state;
	assert_string_equal(p.name, "default");
	assert_null(p.file);
	assert_string_equal(p.root, "/home/ada/.dev-team/worktrees");
	assert_false(p.root_declared || p.repo_local);
	assert_int_equal(p.stale_days, 14);
	assert_int_equal(p.base_port, 3190);
	assert_true(p.strict && p.on_merge && p.on_abort && p.on_timeout);
}

static void all_of_a_pool_is_read(void **state)
{
	const struct worktree_pool_spec *p =
		pool("  rootDir: ~/trees\n  staleThresholdDays: 1\n  basePort: 65000\n"
		     "  ownershipGuard: advisory\n"
		     "  cleanup: {onMerge: false, onAbort: false, onTimeout: false}\n");

	(void)state;
	assert_string_equal(p->root, "/home/ada/trees");
	assert_true(p->root_declared);
	assert_int_equal(p->stale_days, 1);
	assert_int_equal(p->base_port, 65000);
	assert_false(p->strict || p->on_merge || p->on_abort || p->on_timeout);
	assert_true(pool("  layout: repo-local\n")->repo_local);
	assert_string_equal(pool("  rootDir: \"~\"\n")->root, "/home/ada");
	assert_string_equal(pool("  rootDir: /srv/~x\n")->root, "/srv/~x");
	assert_string_equal(pool("  rootDir: /device/..x\n")->root, "/device/..x");
	assert_int_equal(good("\xef\xbb\xbf" HEAD("WorktreePool", "p") "  basePort: 4000\n")
				 .pools->base_port,
		4000);
}

static void what_a_pool_may_not_be(void **state)
{
	static const struct {
		const char *spec, *fault;
	} rows[] = {
		{"  staleThresholdDays: 0\n", "6:23: 'staleThresholdDays' must be a whole number "
					      "from 1 to 36500, not '0'"},
		{"  basePort: 1023\n",
			"6:13: 'basePort' must be a whole number from 1024 to 65000, not '1023'"},
		{"  basePort: 65001\n",
			"6:13: 'basePort' must be a whole number from 1024 to 65000, not '65001'"},
		{"  basePort: \"3190\"\n", "6:13: 'basePort' must be a whole number from 1024 to "
					   "65000, not the text '3190'"},
		{"  basePort: 03190\n",
			"6:13: 'basePort' must be a whole number from 1024 to 65000, not '03190'"},
		{"  basePort: 3190.5\n",
			"6:13: 'basePort' must be a whole number from 1024 to 65000, not '3190.5'"},
		{"  basePort:\n",
			"6:12: 'basePort' must be a whole number from 1024 to 65000, not nothing"},
		{"  ownershipGuard: lax\n",
			"6:19: 'ownershipGuard' must be 'advisory' or 'strict', not 'lax'"},
		{"  layout: [repo-local]\n", "6:11: 'layout' must be 'workspace-scoped' or "
					     "'repo-local', not a list"},
		{"  rootDir: trees\n", "6:12: 'rootDir' must be an absolute path, or one that "
				       "begins with '~/', not 'trees'"},
		{"  rootDir: /\n", ODD_ROOT},
		{"  rootDir: //.\n", ODD_ROOT},
		{"  rootDir: /proc\n", ODD_ROOT},
		{"  rootDir: /dev/null\n", ODD_ROOT},
		{"  rootDir: /sys/x\n", ODD_ROOT},
		{"  rootDir: /a/../../etc\n", ODD_ROOT},
		{"  rootDir: ~/..\n", ODD_ROOT},
		{"  rootDir: ~ada/x\n", "6:12: 'rootDir' must be an absolute path, or one that "
					"begins with '~/', not '~ada/x'"},
		{"  cleanup: {onMerge: yes}\n", "6:22: 'onMerge' must be true or false, not 'yes'"},
		{"  cleanup: true\n", "6:12: 'cleanup' must be a map, not 'true'"},
		{"  maxConcurrent: 10\n", "6:3: unknown key 'maxConcurrent'"},
		{"  rootDir: /x\n  layout: repo-local\n",
			"6:12: 'rootDir' and 'layout: repo-local' are two places for the "
			"worktrees"},
		{"  subscriptionPlans: [gone]\n", "6:23: there is no SubscriptionPlan 'gone'"},
		{"  databaseBranchPools: [gone]\n", "6:25: there is no DatabaseBranchPool 'gone'"},
		{"  databaseBranchPools: [a, a]\n",
			"6:25: there is no DatabaseBranchPool 'a'\nr.yaml:6:28: "
			"'databaseBranchPools' names 'a' twice\nr.yaml:6:28: there is no "
			"DatabaseBranchPool 'a'"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_faults(arena_printf(&arena, POOL "%s", rows[i].spec),
			arena_printf(&arena, "r.yaml:%s\n", rows[i].fault));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_of_nothing_has_all_defaults),
		cmocka_unit_test(the_default_pool_is_the_same),
		cmocka_unit_test(all_of_a_pool_is_read),
		cmocka_unit_test(what_a_pool_may_not_be),
	};

	return cmocka_run_group_tests(tests, NULL, arena_end);
}
