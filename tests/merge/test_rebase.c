#include "tests/lib/rebase_rig.h"

REBASE_TEST(a_branch_that_has_the_target_is_left_alone)
{
	const char *before = look();

	assert_string_equal(rebase(), "current");
	assert_string_equal(look(), before);
	assert_string_equal(done.head, done.commit);
	assert_int_equal(done.fence, 1);
}

REBASE_TEST(a_stale_branch_is_rebased_and_pushed)
{
	main_gets("m", "main");
	assert_string_equal(rebase(), "pushed");
	assert_string_not_equal(done.head, done.commit);
	assert_sh("cd wt && git fetch -q && git status --porcelain && cat m x d/y && "
		  "git symbolic-ref HEAD && git log --format=%s origin/main..",
		"main\nx\nx2\ny\nrefs/heads/feat/x\nx2\nx\n");
	sh("cd wt && test $(git rev-parse HEAD) = $(git --git-dir=../org/o.git rev-parse feat/x)");
	sh("cd wt && test $(git merge-base HEAD origin/main) = $(git rev-parse origin/main)");
	assert_string_equal(scratch_read("artifacts/_events.jsonl"), "");
	assert_string_equal(rebase(), "current");
}

REBASE_TEST(a_lock_that_a_killed_git_left_in_the_worktree_is_removed)
{
	main_gets("m", "main");
	sh("cd wt && : >\"$(git rev-parse --git-dir)/index.lock\"");
	assert_string_equal(rebase(), "pushed");
	assert_null(done.kept);
	sh("cd wt && test $(git rev-parse HEAD) = $(git --git-dir=../org/o.git rev-parse feat/x)");
}

REBASE_TEST(the_target_is_never_touched)
{
	struct land_ask ask = {.target = "feat/x"};

	main_gets("m", "main");
	sh("git --git-dir=org/o.git rev-parse main >main.sha");
	assert_string_equal(rebase(), "pushed");
	sh("test $(cat main.sha) = $(git --git-dir=org/o.git rev-parse main)");
	assert_int_equal(try_rebase_of(&ask), -1);
	assert_error(&err, "dev-team: 'feat/x' is the target branch itself");
}

REBASE_TEST(what_was_only_committed_is_pushed)
{
	sh("cd wt && echo new >n && git add n && git commit -qm n");
	assert_string_equal(rebase(), "pushed");
	assert_string_equal(done.head, done.commit);
	sh("cd wt && test $(git rev-parse HEAD) = $(git --git-dir=../org/o.git rev-parse feat/x)");
}

REBASE_TEST(a_branch_that_was_never_pushed_is)
{
	sh("cd wt && git checkout -q -b feat/new");
	wt.branch = "feat/new";
	main_gets("m", "main");
	assert_string_equal(rebase(), "pushed");
	sh("cd wt && test $(git rev-parse HEAD) = $(git --git-dir=../org/o.git rev-parse "
	   "feat/new)");
}

REBASE_TEST(a_conflict_leaves_all_as_it_was)
{
	const char *before;

	main_gets("x", "theirs");
	before = look();
	assert_string_equal(rebase(), "conflict");
	assert_string_equal(look(), before);
	assert_null(done.commit);
	assert_string_equal(done.paths[0], "x");
	assert_null(done.paths[1]);
	assert_sh("cd wt && grep -rl '<<<<<<<' --exclude-dir=.git . | cat", "");
	assert_non_null(
		strstr(scratch_read("artifacts/_events.jsonl"), "\"type\":\"RebaseConflict\""));
	assert_non_null(strstr(scratch_read("artifacts/_events.jsonl"), "\"paths\":[\"x\"]"));
}

static const struct {
	const char *make, *error;
} refusals[] = {
	{"cd r && git remote remove origin",
		"no remote 'origin' in '%s': there is nothing to land on or push to"},
	{"git --git-dir=org/o.git branch -m main trunk", "no branch 'main' on the remote 'origin'"},
};

REBASE_TEST(what_is_refused_is_left_alone)
{
	for (size_t i = 0; i < COUNT(refusals); i++) {
		if (i) {
			(void)gate_teardown(state);
			(void)rebase_setup(state);
		}
		sh(refusals[i].make);
		assert_fails(try_rebase(), err, ERR_STATE);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		assert_string_equal(err.text, arena_printf(&arena, refusals[i].error, pool.repo));
#pragma GCC diagnostic pop
	}
}

/* Whatever is in the worktree, the branch is pushed: what is not committed stays. */
static const struct {
	const char *make, *status, *kept;
} works[] = {
	{"cd wt && echo more >>x && echo more >new", " M x\n?? new\n", NULL},
	{"cd wt && git checkout -q --detach", "", "'feat/x' is not checked out there"},
	{"cd wt && git checkout -q -b other", "", "'feat/x' is not checked out there"},
	{"cd wt && git checkout -q -b o HEAD~1 && echo o >x && git commit -qam o && "
	 "git checkout -q feat/x && ! git merge -q o >/dev/null",
		"UU x\n", "git reset"},
};

REBASE_TEST(work_in_the_worktree_is_not_touched)
{
	for (size_t i = 0; i < COUNT(works); i++) {
		if (i) {
			(void)gate_teardown(state);
			(void)rebase_setup(state);
		}
		main_gets("m", "main");
		sh(works[i].make);
		assert_string_equal(rebase(), "pushed");
		assert_sh("cd wt && git status --porcelain", works[i].status);
		assert_true(works[i].kept ? done.kept && strstr(done.kept, works[i].kept) != NULL
					  : !done.kept);
		sh("cd wt && git fetch -q && git merge-base --is-ancestor origin/main "
		   "origin/feat/x");
	}
}

REBASE_TEST(what_somebody_else_pushed_is_never_thrown_away)
{
	const char *before;

	main_gets("m", "main");
	sh("git clone -q org/o.git other 2>/dev/null && cd other && git checkout -q feat/x && "
	   "echo theirs >t && git add t && git commit -qm t && git push -q 2>/dev/null");
	before = look();
	assert_string_equal(rebase(), "moved");
	assert_string_equal(look(), before);
	sh("cd wt && git merge -q --ff-only origin/feat/x");
	assert_string_equal(rebase(), "pushed"); /* now it is in here too */
}

REBASE_TEST(what_somebody_else_deleted_is_not_brought_back)
{
	sh("git --git-dir=org/o.git branch -D feat/x >/dev/null");
	main_gets("m", "main");
	assert_string_equal(rebase(), "moved");
	assert_sh("git --git-dir=org/o.git branch --list 'feat/*'", "");
}

REBASE_TEST(what_the_caller_has_in_its_environment_is_not_meant)
{
	main_gets("m", "main");
	setenv("GIT_DIR", at("org/o.git"), 1);
	setenv("GIT_INDEX_FILE", at("nowhere"), 1);
	assert_string_equal(rebase(), "pushed");
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
}

REBASE_TEST(names_that_git_would_take_for_more_are_refused)
{
	static const char *const names[] = {"", "-x", "a:b", "+a", "a*", "a b", "a..b", "a/", "/a",
		"a@{1}", "a.lock", "a~1", "a^"};

	for (size_t i = 0; i < COUNT(names); i++) {
		struct land_ask ask = {.target = names[i]};

		assert_fails(try_rebase_of(&ask), err, ERR_STATE);
	}
}

REBASE_TEST(without_the_gate_nothing_is_written)
{
	struct land_ask ask = {.branch = wt.branch, .follow = wt.path, .target = "main"};
	struct gate *g = gate_now(0), *other;
	const char *before;

	main_gets("m", "main");
	before = look();
	sh("truncate -s 0 pool/.merge-gate/1"); /* as by force */
	other = gate_now(0);
	assert_true(refused(
		land_branch(&arena, &pool, &ask, g, &done, &err), ERR_STATE, "was lost (fence 1)"));
	assert_string_equal(look(), before);
	gate_drop(&g);
	gate_drop(&other);
}

/* What a user writes while it runs is not touched; the worktree follows if it can. */
REBASE_TEST(an_edit_meanwhile_stays)
{
	main_gets("a", "main");
	scratch_program("r/.git/hooks/pre-push",
		arena_printf(&arena, "unset GIT_DIR; echo edited >>%s/d/y", wt.path));
	assert_string_equal(rebase(), "pushed");
	assert_null(done.kept);
	assert_sh("cd wt && git status --porcelain && cat a d/y && git rev-list --count "
		  "origin/main..",
		" M d/y\nmain\ny\nedited\n2\n");
	sh("cd wt && git checkout -q d/y");
	main_gets("a", "again");
	scratch_program("r/.git/hooks/pre-push",
		arena_printf(&arena, "unset GIT_DIR; echo edited >>%s/a", wt.path));
	assert_string_equal(rebase(), "pushed");
	assert_non_null(strstr(done.kept, "'a'"));
	assert_sh("cd wt && git status --porcelain && cat a", " M a\nmain\nedited\n");
	sh("cd wt && test $(git rev-parse feat/x) != $(git rev-parse origin/feat/x) && "
	   "git checkout -q a && rm ../r/.git/hooks/pre-push");
	assert_string_equal(rebase(), "pushed");
	assert_null(done.kept);
	assert_sh("cd wt && git fetch -q && git status --porcelain --branch && cat a",
		"## feat/x...origin/main [ahead 2]\nagain\n");
}

static void kill_after_push(void)
{
	sh(arena_printf(&arena,
		"cd wt && git worktree add -q --detach %s && git reset -q --hard %s",
		at("pool/.landing"), done.head));
}

/* The rebase has changed the lines around the changes: only the throw-away worktree shows whose it
 * is. */
REBASE_TEST(what_a_killed_one_pushed_is_its_own)
{
	sh("cd wt && seq 9 >n && git add n && git commit -qm n && git push -q origin feat/x:main "
	   "2>/dev/null && sed -i 5s/.*/ours/ n && git commit -qam n2 && git push -q origin feat/x "
	   "2>/dev/null");
	main_gets("n", "1\n2\ntheirs\n4\n5\n6\n7\n8\n9");
	assert_string_equal(rebase(), "pushed");
	kill_after_push();
	assert_string_equal(rebase(), "pushed");
	assert_sh("cd wt && cat n && test $(git rev-parse HEAD) = "
		  "$(git --git-dir=../org/o.git rev-parse feat/x)",
		"1\n2\ntheirs\n4\nours\n6\n7\n8\n9\n");
	assert_false(path_exists(at("pool/.landing")));
}

/* After another landing the changes show it, if they are the same. */
REBASE_TEST(what_a_killed_one_pushed_is_known_by_its_changes)
{
	main_gets("m", "main");
	assert_string_equal(rebase(), "pushed");
	sh(arena_printf(&arena, "cd wt && git reset -q --hard %s", done.head));
	sh("cd wt && git reflog expire --expire=all refs/heads/feat/x");
	main_gets("m2", "main");
	assert_string_equal(rebase(), "pushed");
	assert_sh("cd wt && git log --format=%s origin/main..", "x2\nx\n");
}
