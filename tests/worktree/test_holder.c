/*
 * A worktree has one holder at a time; all state directories see it.
 */
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

static int held_by(const char *run, pid_t pid, bool adopt)
{
	const struct allocate_ask ask = {.branch = "x", .run = run, .holder = pid, .adopt = adopt};
	struct allocation of;

	err = (struct error){0};
	return allocate(&ask, &of);
}

static void another_state_directory(const char *name)
{
	pool_close(&pool);
	assert_int_equal(
		pool_open(&arena, &spec, at("r"), at(name), at("artifacts"), &pool, &err), 0);
}

POOL_TEST(two_do_not_hold_one)
{
	pid_t one = somebody(), two = somebody();

	assert_int_equal(held_by(NULL, one, false), 0);
	assert_true(refused(held_by(NULL, two, false), ERR_STATE,
		arena_printf(&arena, "is held by process %d, which is still running", (int)one)));
	assert_true(refused(held_by(NULL, two, true), ERR_STATE, "is held by process"));
	assert_true(refused(held_by("run 2", 0, false), ERR_STATE, "is held by process"));
	somebody_ends(two);
	assert_true(stays_confirmed("x", "holds it"));
	assert_int_equal(held_by(NULL, one, true), 0); /* the same one */
	(void)have("x"); /* a caller that requests no hold gets none */
	assert_true(stays_confirmed("x", "holds it"));
	somebody_ends(one);
	two = somebody();
	assert_int_equal(held_by(NULL, two, false), 0);
	assert_true(stays_confirmed("x", "holds it"));
	somebody_ends(two);
}

POOL_TEST(a_run_may_ask_again)
{
	pid_t one = somebody(), two = somebody();

	assert_int_equal(held_by("run 1", one, false), 0);
	assert_true(refused(
		held_by("run 2", two, false), ERR_STATE, "for 'run 1', which is still running"));
	assert_int_equal(held_by("run 1", 0, false), 0); /* does not take over */
	somebody_ends(two);
	assert_true(stays_confirmed("x", "holds it"));
	two = somebody();
	assert_int_equal(held_by("run 1", two, false), 0); /* takes over */
	somebody_ends(one);
	assert_true(stays_confirmed("x", "holds it"));
	somebody_ends(two);
}

POOL_TEST(another_state_directory_sees_the_holder)
{
	pid_t one = somebody(), two = somebody();
	struct allocation of;

	assert_int_equal(held_by("run 1", one, false), 0);
	another_state_directory("other");
	assert_true(stays_confirmed("x", "holds it"));
	assert_true(refused(
		held_by(NULL, two, false), ERR_STATE, "for 'run 1', which is still running"));
	of = have("x");
	assert_int_equal(process_name_pid(of.holder), one);
	assert_string_equal(leaks(), "");
	somebody_ends(one);
	assert_int_equal(held_by(NULL, two, true), 0);
	another_state_directory("state");
	assert_true(stays_confirmed("x", "holds it"));
	somebody_ends(two);
	goes("x", false);
}

POOL_TEST(a_number_that_is_used_again_is_another_process)
{
	pid_t one = somebody();
	struct allocation of;

	assert_int_equal(held_by(NULL, one, false), 0);
	of = have("x");
	of.holder = arena_printf(&arena, "%s1", of.holder);
	pool_put(&of);
	goes("x", false);
	/* Nothing is known about a process of another machine. */
	assert_int_equal(held_by(NULL, one, false), 0);
	of = have("x");
	of.holder = arena_printf(&arena, "another another - %d 1", (int)one);
	pool_put(&of);
	assert_true(stays_confirmed("x", "holds it"));
	somebody_ends(one);
}

UNIT_GROUP(NULL, arena_end)
