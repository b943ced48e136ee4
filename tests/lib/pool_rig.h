/*
 * pool_rig.h: git_rig.h and a pool of its repository `r`, whose worktrees are in `pool`.
 */
#ifndef DT_TESTS_POOL_RIG_H
#define DT_TESTS_POOL_RIG_H

#include "src/worktree/pool.h"
#include "tests/lib/git_rig.h"

static struct pool pool;
static struct worktree_pool_spec spec;

static inline void pool_again(void)
{
	pool_close(&pool);
	assert_int_equal(
		pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err), 0);
}

static inline int pool_setup(void **state)
{
	(void)rig_setup(state);
	spec = (struct worktree_pool_spec){.name = "p",
		.root = at("pool"),
		.root_declared = true,
		.strict = true,
		.stale_days = 14,
		.base_port = 3190};
	return pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err);
}

static inline int pool_teardown(void **state)
{
	pool_close(&pool);
	return scratch_remove(state);
}

/* 0, or -1 with err. */
static inline int take(const char *branch, struct allocation *of, bool *created)
{
	const struct allocate_ask ask = {.branch = branch};

	return pool_allocate(&arena, &pool, &ask, of, created, &err);
}

static inline struct allocation have(const char *branch)
{
	struct allocation of;
	bool created;

	if (take(branch, &of, &created) < 0)
		fail_msg("%s", err.text);
	return of;
}

static inline bool refused(int rc, enum err code, const char *part)
{
	if (rc != -1 || err.code != code)
		print_error("rc %d, code %d, text '%s'\n", rc, (int)err.code, err.text);
	return rc == -1 && err.code == code && contains(err.text, part);
}

#define pool_test(f) cmocka_unit_test_setup_teardown(f, pool_setup, pool_teardown)

#endif
