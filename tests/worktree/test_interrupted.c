/* What a killed command or another tool has left: the next command deletes, finishes or reports it.
 */
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

POOL_TEST(half_made_ones_are_deleted)
{
	static const char *const rows[] = {
		":",
		/* killed before the branch, the registration, the files */
		"git -C r worktree remove --force --force ../pool/x && git -C r branch -qD x",
		"git -C r worktree remove --force --force ../pool/x",
		"rm -r pool/x/*",
		/* in the middle of the files, of one file, of the index */
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
		"rm -r pool/x r/.git/worktrees/x/*; echo initializing >r/.git/worktrees/x/locked",
		"rm -r pool/x",
		"rm -r pool/x r/.git/worktrees/x r/.git/logs/refs/heads/x",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		half_made(rows[i]);
		nothing_is_left_of_x();
		sh("! git -C r rev-parse -q --verify refs/heads/x");
	}
}

POOL_TEST(a_branch_that_has_moved_outlives_its_half_made_worktree)
{
	half_made("git -C pool/x commit -q --allow-empty -m mine");
	nothing_is_left_of_x();
	sh("test \"$(git -C r log -1 --format=%s x)\" = mine");
}

POOL_TEST(what_somebody_has_put_there_since_stays)
{
	/* What git made for the interrupted command is locked. */
	half_made("git -C r worktree remove --force --force ../pool/x && git -C r worktree add -q "
		  "../pool/x x && echo mine >pool/x/mine");
	assert_int_equal(take("x", false).state, ALLOCATION_LIVE);
	sh("test -e pool/x/mine");
	sh("rm pool/x/mine");
	goes("x", false);
	half_removed("rm -r pool/x && git clone -q org/o.git pool/x");
	assert_string_equal(leaks(), "half-removed");
	sh("test -e pool/x/.git/HEAD && rm -r pool/x");
	assert_string_equal(leaks(), "");
	nothing_is_left_of_x();
}

POOL_TEST(removals_that_had_begun_are_finished)
{
	static const char *const rows[] = {
		"rm pool/x/.git",
		"rm pool/x/.git pool/x/a",
		"rm -r pool/x",
		"rm -r pool/x r/.git/worktrees/x",
		"rm -r pool/x r/.git/worktrees/x/gitdir",
		"rm -r pool/x r/.git/worktrees/x r/.git/logs/refs/heads/x",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		half_removed(rows[i]);
		nothing_is_left_of_x();
		sh("! git -C r rev-parse -q --verify refs/heads/x");
	}
}

POOL_TEST(a_removal_that_had_not_begun_has_not_happened)
{
	half_removed("echo late >pool/x/late");
	assert_int_equal(take("x", false).state, ALLOCATION_LIVE);
	sh("test -e pool/x/late");
}

POOL_TEST(what_cannot_be_settled_is_reported_and_blocks_nobody)
{
	struct allocation of = have("x");
	pid_t pid = somebody_in("pool/x");

	sh("git -C r worktree lock ../pool/x");
	of.state = ALLOCATION_MAKING;
	pool_put(&of);
	assert_true(take_refused("x", ERR_STATE, "works in"));
	(void)have("y");
	assert_string_equal(leaks(), "half-made");
	somebody_ends(pid);
	(void)take("x", true);
	assert_string_equal(leaks(), "");
}

POOL_TEST(a_failure_leaves_nothing)
{
	sh("cd r && echo 'a filter=broken' >.gitattributes && git add . && git commit -qm f && git "
	   "push -q origin main && git config filter.broken.smudge false && git config "
	   "filter.broken.required true");
	assert_true(take_refused("x", ERR_SYSTEM, "'git worktree add' failed"));
	nothing_is_left_of_x();
	sh("! git -C r rev-parse -q --verify refs/heads/x");
}

/* ---- other tools ---- */

POOL_TEST(a_worktree_that_went_by_another_hand_is_made_anew)
{
	struct allocation one = have("x"), two;

	sh("rm -r pool/x");
	two = take("x", true);
	assert_int_equal(one.port, two.port);
	sh("git -C r worktree remove ../pool/x");
	two = take("x", true);
}

POOL_TEST(what_is_in_the_way_stays)
{
	static const struct {
		const char *act, *why, *check;
	} rows[] = {
		{"mkdir -p pool/x && echo 1 >pool/x/mine", "/x' is in the way",
			"test -e pool/x/mine"},
		{"mkdir -p pool && echo 1 >pool/x", "/x' is in the way", "test -f pool/x"},
		{"git clone -q org/o.git pool/x", "WorktreeOwnershipMismatch (pointer-missing)",
			"test -d pool/x/.git"},
		{"git -C r worktree add -q -b x ../pool/x && mv pool/x pool/moved",
			"git knows a worktree '",
			"test -e pool/moved/a && test -e r/.git/worktrees/x/HEAD"},
		{"git -C r worktree add -q -b x ../pool/x && git -C r worktree move ../pool/x "
		 "../moved",
			"branch 'x' is checked out in '", "test -e moved/a"},
		{"git -C r worktree add -q -b x ../pool/x && git -C r worktree lock --reason usb "
		 "../pool/x && rm -r pool/x",
			"git knows a worktree '", "test -e r/.git/worktrees/x/HEAD"},
		{"git -C r worktree add -q --detach ../pool/x && git -C pool/x commit -q "
		 "--allow-empty -m lost && rm -r pool/x",
			"git knows a worktree '", "test -e r/.git/worktrees/x/HEAD"},
		{"git -C r worktree add -q -b x ../other && cp -R other pool/x",
			"/x' is a copy of a worktree", "test -e pool/x/a"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(rows[i].act);
		if (!take_refused("x", ERR_STATE, rows[i].why))
			fail_msg("row %zu: %s", i, err.text);
		sh(rows[i].check);
		assert_int_equal(keys(""), 0);
		sh("rm -rf pool/x pool/moved moved other r/.git/worktrees; git -C r branch -qD x "
		   "2>/dev/null || :");
	}
}

POOL_TEST(what_git_alone_has_of_a_worktree_that_is_gone_stays)
{
	static const struct {
		const char *act, *why;
	} rows[] = {
		{"git worktree lock --reason usb .", "is locked: usb"},
		{"git checkout -q --detach && git commit -q --allow-empty -m mine",
			"can have commits of it"},
		{"mkdir ../../r/.git/worktrees/x/modules", "can have commits of it"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(arena_printf(&arena, "cd pool/x && %s && rm -r ../x", rows[i].act));
		if (!stays("x", rows[i].why) || !take_refused("x", ERR_STATE, rows[i].why))
			fail_msg("row %zu", i);
		sh("test -e r/.git/worktrees/x/HEAD; git -C r worktree unlock x 2>/dev/null || :");
		goes("x", true);
	}
}

static size_t n_due;

static void sweep_all(void)
{
	struct allocation *list;

	if (pool_sweep(&arena, &pool, true, false, &list, &n_due, &err) < 0)
		fail_msg("%s", err.text);
}

POOL_TEST(a_worktree_that_git_has_moved_is_found_again)
{
	struct allocation of = have("x");
	unsigned port = of.port;

	sh("mkdir else && git -C r worktree move ../pool/x ../else/y && echo 1 >else/y/new");
	sweep_all();
	assert_int_equal(n_due, 0);
	assert_string_equal(leaks(), "");
	of = take("x", false);
	assert_string_equal(of.path, at("else/y"));
	assert_int_equal(of.port, port);
	assert_true(stays("x", "uncommitted changes in '"));
	sh("rm else/y/new && git -C r worktree move ../else/y ../pool/z");
	goes("x", false);
	sh("test ! -e pool/z && test ! -e r/.git/worktrees/x");
	assert_int_equal(keys(""), 0);
	/* one that was adopted, too */
	sh("git -C r worktree add -q -b x ../pool/x");
	(void)take("x", false);
	sh("git -C r worktree move ../pool/x ../else/y");
	half_removed("true");
	assert_string_equal(take("x", false).path, at("else/y"));
}

POOL_TEST(a_worktree_of_the_user_with_the_same_name_is_another_one)
{
	(void)have("x");
	sh("git -C r worktree remove ../pool/x && git -C r worktree add -q ../mine/x x && test -e "
	   "r/.git/worktrees/x");
	assert_string_equal(leaks(), "record-without-worktree");
	sweep_all();
	assert_int_equal(n_due, 1);
	assert_int_equal(keys(""), 0);
	sh("test -e mine/x/a && git -C mine/x status >/dev/null");
}

POOL_TEST(a_worktree_whose_disk_is_away_is_not_dropped)
{
	(void)have("x");
	sh("mv pool away");
	assert_true(stays("x", "the directory around it does not exist either"));
	sh("mv away pool && test -z \"$(git -C pool/x status --porcelain)\"");
	goes("x", false);
}

/* ---- records ---- */

static int open_again(void)
{
	pool_close(&pool);
	return pool_open(&arena, &spec, at("r"), at("state"), at("artifacts"), &pool, &err);
}

#define JOURNAL "r/.git/dev-team/worktrees.events.jsonl"

POOL_TEST(records_that_were_lost_are_not_taken_for_none)
{
	static const char *const rows[] = {
		"printf '\\0\\0\\0' >$j",
		"head -c 700 good | head -c 100 >$j",
		": >$j",
		"sed -i '0,/\"branch/s//\"brunch/' $j",
	};

	(void)have("x");
	(void)have("y");
	sh("cp " JOURNAL " good");
	for (size_t i = 0; i < COUNT(rows); i++) {
		sh(arena_printf(&arena, "j=" JOURNAL "; cp good $j; %s; cp $j bad", rows[i]));
		if (!refused(open_again(), ERR_INPUT, ""))
			fail_msg("row %zu", i);
		sh("cmp " JOURNAL " bad");
	}
	sh("rm " JOURNAL);
	assert_int_equal(open_again(), 0);
	assert_string_equal(leaks(), "unrecorded-worktree unrecorded-worktree");
	(void)take("x", false);
	assert_string_equal(leaks(), "unrecorded-worktree");
	(void)take("y", false);
	assert_string_equal(leaks(), "");
}

/* ---- audit ---- */

POOL_TEST(an_audit_finds_what_does_not_match)
{
	static const struct {
		const char *act, *kinds;
	} rows[] = {
		{":", ""},
		{"rm -r pool/x", "record-without-worktree"},
		{"rm -r pool/x/.git", "record-without-worktree"},
		{"rm -r r/.git/worktrees/x", "foreign-worktree"},
		{"mkdir pool/other pool/.hidden", ""},
		{"git -C r worktree add -q -b z ../pool/z", "unrecorded-worktree"},
		{"git -C r worktree add -q -b z ../pool/z && rm -r pool/z", "unrecorded-worktree"},
		{"git clone -q org/o.git c && rm -r pool/x && git -C c worktree add -q -b x "
		 "../pool/x",
			"foreign-worktree"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)have("x");
		sh(rows[i].act);
		assert_string_equal(leaks(), rows[i].kinds);
		sh("rm -rf pool r/.git/worktrees r/.git/dev-team c; git -C r branch -qD x z "
		   "2>/dev/null || :");
		pool_again();
	}
}

UNIT_GROUP(NULL, arena_end)
