/* Each state in which a killed process or another tool can leave a worktree. */
#include "tests/lib/pool_rig.h"

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

UNIT_GROUP(NULL, arena_end)
