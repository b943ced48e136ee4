/* What lives and dies with an allocation. */
#include "tests/lib/pool_rig.h"

static char calls[64]; /* one letter for each call */
static bool fails;

static void note(char c)
{
	size_t n = strlen(calls);

	calls[n] = c;
	calls[n + 1] = '\0';
}

static int create(struct arena *a, struct pool *p, const struct allocation *of, const char *issue,
	struct error *e)
{
	(void)a;
	(void)p;
	(void)of;
	(void)issue;
	note('c');
	return fails ? error_set(e, ERR_STATE, "the part fails") : 0;
}

static int inspect(
	struct arena *a, struct pool *p, pool_report *report, void *data, struct error *e)
{
	(void)a;
	(void)p;
	(void)e;
	if (report)
		report(data, "a-leak", "name", "text");
	return 0;
}

static void release(struct arena *a, struct pool *p, const struct allocation *of)
{
	(void)a;
	(void)p;
	note(of->state == ALLOCATION_MAKING ? 'u' : 'r');
}

static const struct pool_part part = {create, inspect, release};

static int parts_setup(void **state)
{
	calls[0] = '\0';
	fails = false;
	pool_set_part(&part);
	return pool_setup(state);
}

static int parts_teardown(void **state)
{
	pool_set_part(NULL);
	return pool_teardown(state);
}

#define PARTS_TEST(name) UNIT_TEST(name, parts_setup, parts_teardown)

PARTS_TEST(a_part_is_created_and_released_with_its_worktree)
{
	(void)have("x");
	(void)take("x", false);
	goes("x", false);
	assert_string_equal(calls, "ccr");
	assert_string_equal(leaks(), "a-leak");
}

PARTS_TEST(a_part_that_fails_undoes_the_worktree)
{
	fails = true;
	assert_true(take_refused("x", ERR_STATE, "the part fails"));
	assert_string_equal(calls, "cu");
	nothing_is_left_of_x();
}

PARTS_TEST(an_interrupted_command_is_undone_and_an_interrupted_removal_finished)
{
	half_made(":");
	assert_string_equal(calls, "cu");
	half_removed("rm pool/x/.git");
	assert_string_equal(calls, "cucr");
}

PARTS_TEST(a_worktree_that_is_made_again_keeps_its_part)
{
	(void)have("x");
	sh("rm -r pool/x");
	(void)take("x", true);
	assert_string_equal(calls, "cc");
}

UNIT_GROUP(NULL, arena_end)
