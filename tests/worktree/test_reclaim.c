#include "tests/lib/pool_rig.h"

static int reclaim(const char *what, bool confirmed, bool *removed)
{
	return pool_reclaim(&arena, &pool, what, confirmed, removed, &err);
}

POOL_TEST(a_clean_one_goes_whole)
{
	(void)have("x");
	goes("x", false);
	nothing_is_left_of_x();
	/* created with it, and without a commit of its own */
	sh("! git -C r rev-parse -q --verify refs/heads/x");
}

POOL_TEST(none_is_no_fault)
{
	bool removed = true;

	assert_int_equal(reclaim("x", false, &removed), 0);
	assert_false(removed);
	assert_int_equal(reclaim("@!?", false, &removed), 0);
	sh("mkdir -p pool/x && echo 1 >pool/x/f");
	assert_int_equal(reclaim("x", false, &removed), 0);
	assert_false(removed);
	sh("test -e pool/x/f");
}

POOL_TEST(branch_slug_and_path_name_it)
{
	(void)have("feat/x");
	goes("feat/x", false);
	(void)have("feat/x");
	goes("feat-x", false);
	(void)have("feat/x");
	goes(at("pool/feat-x"), false);
	(void)have("feat/x");
	goes(at("pool/../pool/feat-x/"), false);
}

POOL_TEST(it_can_be_had_again)
{
	struct allocation one = have("x"), two;

	sh("cd pool/x && echo 2 >a && git commit -qam two && git push -q origin x");
	goes("x", false);
	sh("git -C r rev-parse -q --verify refs/heads/x >/dev/null"); /* it has a commit */
	two = have("x");
	assert_int_equal(one.port, two.port);
	assert_false(two.made_branch);
	sh("test \"$(cat pool/x/a)\" = 2");
	goes("x", false);
	sh("git -C r rev-parse -q --verify refs/heads/x >/dev/null");
}

/* ---- work in it ---- */

POOL_TEST(uncommitted_work_stays)
{
	static const struct {
		const char *act, *why;
	} rows[] = {
		{"echo 2 >a", "' M a'"},
		{"echo 2 >new", "'?? new'"},
		{"echo 2 >a && git add a", "'M  a'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		change_stays(rows[i].act, rows[i].why);
}

POOL_TEST(ignored_files_and_the_stash_are_not_work)
{
	sh("cd r && echo '*.o' >.gitignore && git add . && git commit -qm i && git push -q origin "
	   "main");
	(void)have("x");
	sh("cd pool/x && echo 1 >f.o && mkdir build && echo 1 >build/f.o && echo 2 >a && git stash "
	   "-q");
	goes("x", false);
	sh("test -n \"$(git -C r stash list)\"");
}

POOL_TEST(unpushed_commits_stay)
{
	static const struct {
		const char *act;
		bool kept;
	} rows[] = {
		{"echo 2 >a && git commit -qam 2", true},
		{"git commit -q --allow-empty -m 2 && git push -q origin x", false},
		{"git commit -q --allow-empty -m 2 && git branch -q copy", false},
		{"git checkout -q --detach && git commit -q --allow-empty -m 2", true},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		commit_stays(rows[i].act, rows[i].kept);
}

POOL_TEST(a_branch_with_commits_is_never_deleted)
{
	(void)have("x");
	sh("cd pool/x && git commit -q --allow-empty -m mine");
	goes("x", true);
	sh("test \"$(git -C r log -1 --format=%s x)\" = mine");
}

POOL_TEST(a_branch_of_somebody_else_is_never_deleted)
{
	sh("git -C r branch x");
	(void)have("x");
	goes("x", false);
	sh("git -C r rev-parse -q --verify refs/heads/x >/dev/null");
	/* made here, moved, moved back */
	(void)have("y");
	sh("cd pool/y && git commit -q --allow-empty -m 2 && git reset -q --hard HEAD~1");
	goes("y", false);
	sh("git -C r rev-parse -q --verify refs/heads/y >/dev/null");
}

/* ---- never ---- */

POOL_TEST(a_locked_one_stays)
{
	(void)have("x");
	sh("git -C r worktree lock --reason 'in use' ../pool/x");
	assert_true(stays("x", "/x' is locked: in use"));
	assert_true(stays_confirmed("x", "is locked"));
	sh("git -C r worktree unlock ../pool/x");
	goes("x", false);
	nothing_is_left_of_x();
}

POOL_TEST(a_live_one_stays_even_when_confirmed)
{
	const struct allocate_ask ask = {.branch = "x", .holder = 1};
	struct allocation of;

	assert_int_equal(allocate(&ask, &of), 0);
	assert_true(stays("x", "process 1 holds it"));
	assert_true(stays_confirmed("x", "process 1 holds it"));
	sh("test -d pool/x");
}

POOL_TEST(another_clones_stays_even_when_confirmed)
{
	(void)have("x");
	sh("rm -r pool/x && git clone -q org/o.git clone2 && git -C clone2 worktree add -q -b x "
	   "../pool/x");
	assert_true(stays_confirmed("x", "(cross-clone)"));
	sh("test -e pool/x/a");
}

POOL_TEST(one_with_another_in_it_stays)
{
	(void)have("x");
	sh("echo inner >>r/.git/info/exclude && git -C r worktree add -q -b inner ../pool/x/inner");
	assert_true(stays_confirmed("x", "contains another worktree"));
	sh("test -e pool/x/inner/a");
}

POOL_TEST(the_name_of_the_other_need_not_be_utf_8)
{
	(void)have("x");
	sh("echo 'in*' >>r/.git/info/exclude && git -C r worktree add -q -b inner "
	   "\"$(printf '../pool/x/in\\377')\"");
	assert_true(stays_confirmed("x", "contains another worktree"));
	sh("test -e pool/x/in*/a");
}

POOL_TEST(one_without_a_record_is_not_of_the_pool)
{
	bool removed = true;

	sh("git -C r worktree add -q -b x ../pool/x");
	assert_int_equal(reclaim("x", true, &removed), 0);
	assert_false(removed);
	(void)take("x", false);
	goes("x", false);
	nothing_is_left_of_x();
	sh("git -C r rev-parse -q --verify refs/heads/x >/dev/null");
}

/* ---- unusual files ---- */

POOL_TEST(links_and_closed_directories_go_and_what_they_lead_to_stays)
{
	sh("mkdir keep && echo 1 >keep/f && echo ignored >>r/.git/info/exclude");
	(void)have("x");
	sh("cd pool/x && mkdir -p ignored/deep && ln -s ../../../keep ignored/link && ln -s "
	   "../../keep/f ignored/file && chmod 500 ignored/deep && chmod 500 ignored");
	goes("x", false);
	sh("test -e keep/f");
	nothing_is_left_of_x();
}

POOL_TEST(no_program_of_an_agent_runs_when_it_is_looked_at_and_removed)
{
	(void)have("x");
	sh("cd pool/x && printf '#!/bin/sh\\necho >>%s/ran\\n' \"$OLDPWD\" >../../spy && chmod +x "
	   "../../spy && git config core.fsmonitor \"$OLDPWD/spy\" && mkdir ../../hooks && cp "
	   "../../spy ../../hooks/post-index-change && cp ../../spy "
	   "../../hooks/reference-transaction && git config core.hooksPath \"$OLDPWD/hooks\"");
	goes("x", false);
	sh("test ! -e ran && git -C r status >/dev/null && test -e ran");
}

UNIT_GROUP(NULL, arena_end)

POOL_TEST(a_worktree_stays_if_git_cannot_read_its_commits)
{
	(void)have("x");
	sh("real=$(command -v git) && mkdir fake && cat >fake/git <<E && chmod +x fake/git\n"
	   "#!/bin/sh\n"
	   "case \" \\$* \" in *' rev-list '*)\n"
	   "echo 'fatal: bad object other' >&2; exit 128;;\n"
	   "esac\n"
	   "exec \"$real\" \"\\$@\"\n"
	   "E\n");
	path_begins_with("fake");
	assert_true(stays("x", "git cannot read"));
}
