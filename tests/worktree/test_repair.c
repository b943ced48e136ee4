#include <sys/wait.h>
#include "src/sys/process.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

/* A process that has ended, as a record names it. */
static void by_a_dead_one(struct allocation *of)
{
	of->pid = 4194999; /* above the kernel's maximum */
	of->start = 1;
	of->boot = boot_id();
}

/* A running process. */
static void by_another_one(struct allocation *of)
{
	struct process_info info = {0};

	record_claim(&arena, of);
	of->pid = getppid();
	assert_true(process_info(of->pid, &info));
	of->start = info.start;
}

static void put(struct allocation *of)
{
	assert_int_equal(record_put(&arena, &pool, of, &err), 0);
}

/* x as a process leaves it that dies while it creates it, after `act` in the scratch directory. */
static void half_made(const char *act)
{
	struct allocation of = have("x");

	sh(act);
	of.state = ALLOCATION_MAKING;
	by_a_dead_one(&of);
	put(&of);
	assert_int_equal(keys("doing/"), 1);
	pool_again();
	assert_null(pool.notice);
}

POOL_TEST(half_made_ones_are_taken_back)
{
	static const char *const rows[] = {
		":",
		/* killed before the branch, the registration, the files */
		"git -C r worktree remove --force ../pool/x && git -C r branch -qD x",
		"git -C r worktree remove --force ../pool/x",
		"rm -r pool/x/*",
		/* in the middle of the files, of one file, of the index */
		"rm pool/x/b; : >pool/x/index.lock; rm pool/x/index.lock",
		"printf o >pool/x/a",
		": >pool/x/a",
		"rm r/.git/worktrees/x/index && : >r/.git/worktrees/x/index.lock",
		/* git's own incomplete states */
		"echo initializing >r/.git/worktrees/x/locked",
		"echo initializing >r/.git/worktrees/x/locked && rm -r pool/x",
		"rm -r r/.git/worktrees/x",
		"rm -r r/.git/worktrees/x pool/x/.git",
		"rm r/.git/worktrees/x/gitdir",
		"rm r/.git/worktrees/x/HEAD",
		"rm pool/x/.git",
		"rm -r pool/x r/.git/worktrees/x/* && echo initializing "
		">r/.git/worktrees/x/locked",
		"rm -r pool/x && mv r/.git/worktrees/x r/.git/worktrees/x1 && rm "
		"r/.git/worktrees/x1/gitdir",
		"rm -r pool/x",
	};

	sh("cd r && echo b >b && git add b && git commit -qm b && git push -q origin main");
	for (size_t i = 0; i < COUNT(rows); i++) {
		half_made(rows[i]);
		nothing_is_left_of_x();
		sh("! git -C r rev-parse -q --verify refs/heads/x");
	}
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

static void half_removed(const char *act, bool confirmed)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_REMOVING;
	of.confirmed = confirmed;
	by_a_dead_one(&of);
	put(&of);
	sh(arena_printf(&arena, "trash=%s\nadmin=%s\n%s", trash_path(&arena, of.path),
		trash_admin_path(&arena, &pool, of.path), act));
	pool_again();
}

POOL_TEST(removals_that_had_begun_are_finished)
{
	static const char *const rows[] = {
		"mv pool/x $trash",
		"mv pool/x $trash && mv r/.git/worktrees/x $admin",
		"mv pool/x $trash && mv r/.git/worktrees/x $admin && rm $trash/a $admin/HEAD",
		"mv pool/x $trash && rm -r r/.git/worktrees/x",
		"mv pool/x $trash && rm -r r/.git/worktrees/x $trash",
		"mv pool/x $trash && rm -r $trash",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		half_removed(rows[i], false);
		nothing_is_left_of_x();
	}
}

/* Git deletes the reflog of a branch before the branch. */
POOL_TEST(a_branch_that_was_being_deleted_is_deleted)
{
	half_removed(
		"mv pool/x $trash && rm -r r/.git/worktrees/x r/.git/logs/refs/heads/x", false);
	nothing_is_left_of_x();
	sh("! git -C r rev-parse -q --verify refs/heads/x");
	half_made("rm -r pool/x r/.git/worktrees/x r/.git/logs/refs/heads/x");
	nothing_is_left_of_x();
	sh("! git -C r rev-parse -q --verify refs/heads/x");
	/* one that has moved is not, nor one of a removal whose process did not die */
	half_removed(
		"git -C pool/x commit -q --allow-empty -m mine && git -C pool/x push -q origin "
		"x && mv pool/x $trash && rm r/.git/logs/refs/heads/x",
		false);
	nothing_is_left_of_x();
	sh("git -C r rev-parse -q --verify refs/heads/x >/dev/null && git -C r branch -qD x");
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
	put(&of);
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
	put(&of);
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
	put(&of);
	pool_again();
	assert_int_equal(keys("doing/"), 1);
	of.since -= 3601;
	put(&of);
	pool_again();
	nothing_is_left_of_x();
}

POOL_TEST(a_pid_that_was_given_out_again_is_another_process)
{
	struct allocation of = have("x");

	of.state = ALLOCATION_MAKING;
	record_claim(&arena, &of);
	of.start++;
	put(&of);
	pool_again();
	nothing_is_left_of_x();
}

/* ---- leftovers of other tools ---- */

POOL_TEST(what_stands_in_the_way_and_is_of_no_value_goes)
{
	static const char *const rows[] = {
		"mkdir -p pool/x",
		/* removed by hand: prunable */
		"git -C r worktree add -q -b x ../pool/x && rm -r pool/x",
		/* git was killed while it removed it */
		"git -C r worktree add -q -b x ../pool/x && rm pool/x/.git",
		"git -C r worktree add -q -b x ../pool/x && rm -r r/.git/worktrees/x",
		"git -C r worktree add -q -b x ../pool/x && rm -r r/.git/worktrees/x pool/x/.git",
		"git -C r worktree add -q -b x ../pool/x && rm -r r/.git/worktrees/x pool/x/a",
		/* the branch has a registration elsewhere, whose worktree does not exist */
		"git -C r worktree add -q -b x ../gone && rm -r gone",
		/* locked by a process that has ended; by a git that has ended */
		"git -C r worktree add -q -b x ../pool/x && git -C r worktree lock --reason 'agent "
		"(pid 4194999)' ../pool/x && rm -r pool/x",
		"git -C r worktree add -q -b x ../pool/x && rm -r pool/x && cd r/.git/worktrees/x "
		"&& printf initializing >locked && touch -d 2020-01-01 locked",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(rows[i]);
		(void)take("x", true);
		sh("test -z \"$(git -C pool/x status --porcelain)\" && git -C r worktree remove "
		   "../pool/x && git -C r branch -qD x && git -C r worktree prune");
	}
}

POOL_TEST(what_stands_in_the_way_and_may_be_of_value_stays)
{
	static const struct {
		const char *act, *why, *check;
	} rows[] = {
		{"mkdir -p pool/x && echo 1 >pool/x/mine", "such as 'mine'", "test -e pool/x/mine"},
		{"mkdir -p pool/x && echo other >pool/x/a", "such as 'a'", "test -e pool/x/a"},
		{"mkdir -p pool && echo 1 >pool/x", "/x' is in the way: it is not a directory",
			"test -f pool/x"},
		{"mkdir -p pool && ln -s ../r pool/x", "/x' is in the way: it is not a directory",
			"test -L pool/x"},
		{"git clone -q org/o.git pool/x", "it is a repository of its own",
			"test -d pool/x/.git"},
		{"git -C r worktree add -q -b x ../pool/x && rm -r r/.git/worktrees/x && echo 1 "
		 ">pool/x/mine",
			"such as 'mine'", "test -e pool/x/mine"},
		{"git -C r worktree add -q -b x ../elsewhere && mkdir -p pool && cp -r elsewhere "
		 "pool/x && git -C elsewhere checkout -q --detach",
			"remove the copy", "test -e pool/x/a && test -e elsewhere/a"},
		{"git -C r worktree add -q -b x ../pool/x && mv pool/x pool/moved",
			"/pool/x' has been moved to '",
			"test -e pool/moved/a && test -e r/.git/worktrees/x/HEAD"},
		{"git -C r worktree add -q -b x ../pool/x && git -C r worktree move ../pool/x "
		 "../moved",
			"branch 'x' is checked out in another worktree: '", "test -e moved/a"},
		{"git -C r worktree add -q -b x ../pool/x && git -C r worktree lock --reason usb "
		 "../pool/x && rm -r pool/x",
			"its registration is locked: usb", "test -e r/.git/worktrees/x/HEAD"},
		{"git -C r worktree add -q -b x ../pool/x && rm -r pool/x && cd r/.git/worktrees/x "
		 "&& printf initializing >locked",
			"its registration is locked: initializing",
			"test -e r/.git/worktrees/x/HEAD"},
		{"git -C r worktree add -q --detach ../pool/x && git -C pool/x commit -q "
		 "--allow-empty -m lost && rm -r pool/x",
			": save it with", "test -e r/.git/worktrees/x/HEAD"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(rows[i].act);
		if (!take_refused("x", ERR_STATE, rows[i].why))
			fail_msg("row %zu", i);
		sh(rows[i].check);
		assert_int_equal(keys(""), 0);
		sh("rm -rf pool/x pool/moved moved elsewhere r/.git/worktrees; git -C r branch -qD "
		   "x 2>/dev/null || :");
	}
}

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
