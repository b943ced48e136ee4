/*
 * A user works in the worktree while it is rebased, or after the rebase was killed: nothing of it
 * is lost, and a rebase of the user is not undone.
 */
#include "src/merge/rebase_internal.h"
#include "tests/lib/rebase_rig.h"

/* The state that a holder leaves if it is killed after its record. `onto` NULL: before the fetch.
 */
static void note_stays(const char *onto)
{
	struct gate *g = gate_now(0);
	struct rebasing w = {.a = &arena, .p = &pool, .g = g, .path = wt.path};
	CLEANUP(buf_release) struct buf sha = BUF_INIT, target = BUF_INIT;

	sh_into(&sha, "git -C wt rev-parse feat/x");
	w.rec = (struct rebase_record){.path = wt.path, .branch = "feat/x", .target = "main"};
	w.rec.before = arena_dup(&arena, str_trim(buf_str(&sha)));
	if (onto) {
		sh_into(&target, arena_printf(&arena, "git -C wt rev-parse %s", onto));
		w.rec.onto = arena_dup(&arena, str_trim(buf_str(&target)));
	}
	assert_int_equal(rebase_save(&w, "rebasing", &err), 0);
	gate_drop(&g);
}

#define OURS "GIT_REFLOG_ACTION='dev-team rebase' GIT_EDITOR=true "

static const struct {
	bool onto;
	const char *act;
} theirs[] = {
	/* a commit more, and the same target */
	{false, "echo more >more && git add more && git commit -qm more && "
		"! git rebase -q origin/main >/dev/null 2>&1 && echo solved >x && git add x"},
	{true, "echo more >more && git add more && git commit -qm more && "
	       "! git rebase -q origin/main >/dev/null 2>&1 && echo solved >x && git add x"},
	/* the same branch, and another target */
	{true, "! git rebase -q origin/main~1 --onto origin/main >/dev/null 2>&1 && echo solved >x "
	       "&& git add x"},
	{true, "! git rebase -q --onto origin/main~1 HEAD~1 >/dev/null 2>&1 && echo solved >x"},
	/* all the same, by a user */
	{true, "! git rebase -q origin/main >/dev/null 2>&1 && echo solved >x && git add x"},
	/* ours, continued by hand */
	{true, "! " OURS "git rebase -q origin/main >/dev/null 2>&1 && echo solved >x && "
	       "git add x && ! GIT_EDITOR=true git rebase --continue >/dev/null 2>&1"},
	{true, "! " OURS "git rebase -q origin/main >/dev/null 2>&1 && echo solved >x && "
	       "git add x && git commit -qm solved"},
};

/* During a rebase, with git's notes of it. */
static const char *stand(void)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;

	sh_into(&said, "cd wt && git rev-parse HEAD feat/x && git status --porcelain && "
		       "git ls-files -s && cat x && git stash list && "
		       "cd $(git rev-parse --git-dir) && cat rebase-merge/onto rebase-merge/done");
	return arena_dup(&arena, buf_str(&said));
}

REBASE_TEST(a_rebase_of_somebody_else_is_not_taken_back)
{
	for (size_t i = 0; i < COUNT(theirs); i++) {
		const char *before;

		if (i) {
			(void)gate_teardown(state);
			(void)rebase_setup(state);
		}
		main_gets("x", "theirs");
		sh("cd wt && git fetch -q");
		note_stays(theirs[i].onto ? "origin/main" : NULL);
		sh(arena_printf(&arena, "cd wt && %s", theirs[i].act));
		before = stand();
		assert_fails(try_rebase(), err, ERR_STATE);
		if (!strstr(err.text, "a rebase is in progress in '"))
			fail_msg("%zu: %s", i, err.text);
		assert_string_equal(stand(), before);
		assert_string_equal(record().state, "failed");
	}
}

REBASE_TEST(a_killed_one_of_ours_is_taken_back)
{
	main_gets("x", "theirs");
	sh("cd wt && git fetch -q");
	note_stays("origin/main");
	sh("cd wt && ! " OURS "git rebase -q origin/main >/dev/null 2>&1");
	assert_int_equal(rebase(), REBASE_CONFLICT);
	assert_true(done.repaired);
	assert_null(done.kept);
	assert_sh("cd wt && git status --porcelain && git stash list && git symbolic-ref HEAD",
		"refs/heads/feat/x\n");
}

REBASE_TEST(what_was_solved_in_it_is_kept)
{
	main_gets("x", "theirs");
	sh("cd wt && git fetch -q");
	note_stays("origin/main");
	sh("cd wt && ! " OURS "git rebase -q origin/main >/dev/null 2>&1 && echo solved >x && "
	   "git add x");
	assert_int_equal(rebase(), REBASE_CONFLICT);
	assert_string_equal(done.kept_path, "x");
	assert_sh(arena_printf(&arena, "git -C wt show %s:x", done.kept), "solved\n");
	assert_sh("cd wt && git status --porcelain && git stash list --format=%gd", "stash@{0}\n");
}

/* Killed before git had written its own notes: only they have to be removed. */
REBASE_TEST(its_first_note_alone_goes)
{
	main_gets("m", "main");
	sh("cd wt && git fetch -q");
	note_stays("origin/main");
	sh("cd wt && mkdir $(git rev-parse --git-dir)/rebase-merge && echo edited >x");
	assert_int_equal(try_rebase(), -1);
	assert_non_null(strstr(err.text, "uncommitted changes"));
	assert_sh("cd wt && cat x && git status --porcelain", "edited\n M x\n");
	sh("cd wt && git checkout -q x");
	assert_int_equal(rebase(), REBASE_PUSHED);
}

/* ---- while it runs ---- */

REBASE_TEST(a_new_file_meanwhile_stays_where_it_is)
{
	in_a_conflict("echo new >new && echo i >ignored");
	assert_int_equal(rebase(), REBASE_CONFLICT);
	assert_non_null(done.kept);
	assert_sh("cd wt && cat new ignored && git rev-parse -q --verify HEAD >/dev/null && "
		  "git diff HEAD",
		"new\ni\n");
	assert_sh(arena_printf(&arena, "git -C wt show %s:new", done.kept), "new\n");
}

REBASE_TEST(what_a_merge_driver_makes_is_no_edit)
{
	const char *before;

	in_a_conflict("true");
	before = look();
	sh("cd r && git config merge.slow.driver \"printf 'solved by hand' >%A; false\"");
	assert_int_equal(rebase(), REBASE_CONFLICT);
	assert_null(done.kept); /* the result of a merge driver belongs to the rebase */
	assert_string_equal(look(), before);
}

static void edit_in_hook(const char *name, int status)
{
	scratch_program(arena_printf(&arena, "r/.git/hooks/%s", name),
		arena_printf(&arena, "echo edited >>%s/d/y; exit %d", wt.path, status));
}

/* Where git did nothing there is nothing to undo. */
REBASE_TEST(an_edit_before_anything_was_done_stays)
{
	main_gets("m", "main");
	edit_in_hook("pre-rebase", 1);
	assert_int_equal(try_rebase(), -1);
	assert_null(done.kept);
	assert_sh("cd wt && git status --porcelain && cat d/y && git stash list",
		" M d/y\ny\nedited\n");
}

REBASE_TEST(an_edit_while_it_is_pushed_stays_or_is_put_by)
{
	main_gets("m", "main");
	edit_in_hook("pre-push", 1);
	assert_int_equal(try_rebase(), -1);
	assert_non_null(strstr(err.text, "what was written in '"));
	assert_non_null(strstr(err.text, "such as 'd/y', is the stash "));
	assert_sh("cd wt && git status --porcelain && git stash show --name-only", "d/y\n");
	edit_in_hook("pre-push", 0);
	assert_int_equal(rebase(), REBASE_PUSHED);
	assert_sh("cd wt && git status --porcelain && cat d/y", " M d/y\ny\nedited\n");
}
