#include "tests/lib/pool_rig.h"

struct pool pool;
struct worktree_pool_spec spec;

void pool_again(void)
{
	pool_close(&pool);
	assert_int_equal(
		pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err), 0);
}

int pool_setup(void **state)
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

int pool_teardown(void **state)
{
	pool_close(&pool);
	return scratch_remove(state);
}

int take(const char *branch, struct allocation *of, bool *created)
{
	const struct allocate_ask ask = {.branch = branch};

	return pool_allocate(&arena, &pool, &ask, of, created, &err);
}

struct allocation have(const char *branch)
{
	struct allocation of;
	bool created;

	if (take(branch, &of, &created) < 0)
		fail_msg("%s", err.text);
	return of;
}

bool refused(int rc, enum err code, const char *part)
{
	if (rc != -1 || err.code != code)
		print_error("rc %d, code %d, text '%s'\n", rc, (int)err.code, err.text);
	return rc == -1 && err.code == code && contains(err.text, part);
}
