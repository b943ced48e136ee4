#include <sys/wait.h>
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

/* proof_repair.c has the states that a kill can leave, and what other tools leave. */

/* A running process. */
static void by_another_one(struct allocation *of)
{
	struct process_info info = {0};

	record_claim(&arena, of);
	of->pid = getppid();
	assert_true(process_info(of->pid, &info));
	of->start = info.start;
}

POOL_TEST(a_half_made_one_is_taken_back)
{
	half_made(":");
	nothing_is_left_of_x();
	sh("! git -C r rev-parse -q --verify refs/heads/x");
}

POOL_TEST(a_half_made_one_with_files_of_others_is_kept)
{
	static const char *const rows[] = {
		"echo mine >pool/x/mine",
		"echo two >pool/x/a",
		"echo one and more >pool/x/a",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		half_made(rows[i]);
		assert_int_equal(keys("doing/"), 0);
		(void)take("x", false);
		sh("test -n \"$(git -C pool/x status --porcelain)\"");
		sh("git -C r worktree remove --force ../pool/x && git -C r branch -qD x");
	}
}

POOL_TEST(a_branch_that_has_moved_outlives_its_half_made_worktree)
{
	half_made("git -C pool/x commit -q --allow-empty -m mine");
	nothing_is_left_of_x();
	sh("test \"$(git -C r log -1 --format=%s x)\" = mine");
}

/* ---- half removed ---- */

POOL_TEST(a_removal_that_had_begun_is_finished)
{
	half_removed("mv pool/x $trash && mv r/.git/worktrees/x $admin", false);
	nothing_is_left_of_x();
}

POOL_TEST(a_removal_that_had_not_begun_is_forgotten)
{
	struct allocation of;

	half_removed(":", true);
	assert_int_equal(keys("doing/"), 0);
	of = take("x", false);
	assert_int_equal(of.state, ALLOCATION_LIVE);
	assert_false(of.confirmed);
}

POOL_TEST(work_that_came_between_the_looks_is_given_back)
{
	half_removed("echo late >pool/x/late && mv pool/x $trash", false);
	assert_true(contains(pool.notice, "'?? late'"));
	(void)take("x", false);
	sh("test -e pool/x/late");
	assert_int_equal(keys("doing/"), 0);
}

POOL_TEST(work_under_the_trash_name_is_never_deleted)
{
	bool removed;

	/* it appeared between the looks, and its place has something of no value */
	half_removed("echo '*.log' >>r/.git/info/exclude && mv pool/x $trash && echo late "
		     ">$trash/late && mkdir pool/x && echo 1 >pool/x/f.log",
		false);
	assert_true(contains(pool.notice, "cannot move"));
	assert_int_equal(pool_reclaim(&arena, &pool, "x", false, &removed, &err), -1);
	sh("cat pool/.trash-*/late >/dev/null && rm -r pool/x");
	pool_again();
	sh("mv pool/.trash-* saved && git -C r worktree remove --force ../pool/x 2>/dev/null || :");
}

POOL_TEST(what_a_lost_removal_left_is_looked_at)
{
	struct allocation of = have("x");
	const char *trash = trash_path(&arena, of.path);

	sh(arena_printf(&arena, "mkdir %s && echo 1 >%s/mine", trash, trash));
	assert_true(stays("x", "such as 'mine'"));
	assert_true(stays_confirmed("x", "such as 'mine'"));
	sh(arena_printf(
		&arena, "test -e pool/x/a && mv %s/mine . && cp pool/x/a %s", trash, trash));
	goes("x", false);
	nothing_is_left_of_x();
}

POOL_TEST(what_was_confirmed_stays_confirmed)
{
	half_removed("echo late >pool/x/late && mv pool/x $trash", true);
	nothing_is_left_of_x();
}

/* ---- others ---- */

POOL_TEST(what_a_live_process_does_is_left_alone)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_MAKING;
	by_another_one(&of);
	pool_put(&of);
	pool_again();
	assert_int_equal(keys("doing/"), 1);
	sh("test -e pool/x/a");
}

POOL_TEST(another_boot_has_no_process_of_this_one)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_MAKING;
	record_claim(&arena, &of);
	of.boot = "00000000-0000-0000-0000-000000000000";
	pool_put(&of);
	pool_again();
	nothing_is_left_of_x();
}

POOL_TEST(another_container_is_given_an_hour)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_MAKING;
	record_claim(&arena, &of);
	of.pid = 4194999;
	of.boot = arena_printf(&arena, "%.36s/pid:[1]", boot_id());
	pool_put(&of);
	pool_again();
	assert_int_equal(keys("doing/"), 1);
	of.since -= 3601;
	pool_put(&of);
	pool_again();
	nothing_is_left_of_x();
}

POOL_TEST(a_pid_that_was_given_out_again_is_another_process)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_MAKING;
	record_claim(&arena, &of);
	of.start++;
	pool_put(&of);
	pool_again();
	nothing_is_left_of_x();
}

/* ---- leftovers of other tools ---- */

POOL_TEST(a_worktree_that_went_by_another_hand_is_made_anew)
{
	struct allocation one = have("x"), two;

	sh("rm -r pool/x");
	two = take("x", true);
	assert_int_equal(one.port, two.port);
	sh("git -C r worktree remove ../pool/x");
	two = take("x", true);
}

POOL_TEST(a_failure_leaves_nothing)
{
	sh("cd r && echo 'a filter=broken' >.gitattributes && git add . && git commit -qm f && git "
	   "push -q origin main && git config filter.broken.smudge false && git config "
	   "filter.broken.required true");
	assert_true(take_refused("x", ERR_SYSTEM, ""));
	nothing_is_left_of_x();
	sh("! git -C r rev-parse -q --verify refs/heads/x");
}

UNIT_GROUP(NULL, arena_end)
