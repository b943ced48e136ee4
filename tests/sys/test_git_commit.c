#include <time.h>
#include "src/sys/git.h"
#include "tests/lib/git_rig.h"

static bool made;

static int commit_rest(void)
{
	return git_commit_all(at("r"), "ADR-1", "leftovers", &made, &err);
}

static void committed_on(const char *branch)
{
	assert_int_equal(commit_rest(), 0);
	assert_sh("git -C r branch --show-current", arena_printf(&arena, "%s\n", branch));
}

GIT_TEST(all_that_is_left_is_committed)
{
	sh("cd r && git checkout -qb work && echo gone >g && git add g && git commit -qm g\n"
	   "echo '*.o' >.gitignore && echo two >>a && rm g && mkdir d && echo new >d/n && touch "
	   "x.o");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("cd r && git log -1 --format='%s %D' && git status --porcelain && git show "
		  "--name-status --format=",
		"leftovers HEAD -> work\nA\t.gitignore\nM\ta\nA\td/n\nD\tg\n");
}

GIT_TEST(a_clean_tree_makes_no_commit)
{
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
	assert_sh("cd r && git rev-list --count HEAD && git branch --show-current", "1\nmain\n");
}

GIT_TEST(a_message_is_taken_as_it_is)
{
	sh("cd r && git checkout -qb work && echo two >a");
	assert_int_equal(
		git_commit_all(at("r"), "b", "-m $(id) `x` 'q' \"d\"\n\nbody", &made, &err), 0);
	assert_sh("git -C r log -1 --format=%B", "-m $(id) `x` 'q' \"d\"\n\nbody\n\n");
}

GIT_TEST(the_first_commit_of_all_can_be_ours)
{
	sh("rm -rf r && git init -q r && echo x >r/a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("git -C r log --format='%s %D'", "leftovers HEAD -> main\n");
}

GIT_TEST(on_the_default_branch_a_branch_is_made_first)
{
	sh("echo two >r/a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh(
		"cd r && git branch --show-current && git log main --format=%s", "ADR-1\nfirst\n");
}

GIT_TEST(main_is_the_default_branch_where_the_remote_does_not_say)
{
	sh("cd r && git remote set-head origin -d && echo two >a");
	committed_on("ADR-1");
}

GIT_TEST(another_default_branch_is_protected_as_well)
{
	sh("cd r && git checkout -qb trunk && git push -q origin trunk && git remote "
	   "set-head origin trunk && echo two >a");
	committed_on("ADR-1");
}

/* `r` has one commit on trunk; the remote's HEAD is `head`, which `r` does not know. */
static void remote_with_head(const char *head)
{
	sh(arena_printf(&arena,
		"rm -rf org r && git init -q --bare org/o.git && git init -q r && cd r\n"
		"git remote add origin ../org/o.git && git checkout -qb trunk\n"
		"echo one >a && git add a && git commit -qm first && git push -q origin trunk\n"
		"echo %s >../org/o.git/HEAD",
		head));
}

GIT_TEST(where_nothing_is_known_the_remote_is_asked)
{
	remote_with_head("ref: refs/heads/trunk");
	committed_on("trunk");
	assert_false(made);
	sh("echo two >r/a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh(
		"cd r && git branch --show-current && git log trunk --format=%s", "ADR-1\nfirst\n");
}

GIT_TEST(commits_on_what_the_remote_calls_its_default_move_too)
{
	remote_with_head("ref: refs/heads/trunk");
	sh("cd r && echo two >a && git commit -qam two");
	committed_on("ADR-1");
}

GIT_TEST(a_main_that_is_known_does_not_speak_for_the_remote)
{
	sh("cd r && git remote set-head origin -d && git checkout -qb trunk && git push -q origin "
	   "trunk && echo two >a\n"
	   "echo ref: refs/heads/trunk >../org/o.git/HEAD");
	committed_on("ADR-1");
}

GIT_TEST(another_branch_stays_when_the_remote_says_so)
{
	remote_with_head("ref: refs/heads/trunk");
	sh("cd r && git checkout -qb work && echo two >a");
	committed_on("work");
}

GIT_TEST(a_remote_that_does_not_tell_is_taken_at_its_worst)
{
	remote_with_head("ref: refs/heads/none");
	sh("echo two >r/a");
	committed_on("ADR-1");
	sh("cd r && git checkout -qb work && git remote set-url origin ../nowhere && echo 3 >a\n"
	   "git branch -D ADR-1 -q");
	committed_on("ADR-1");
}

GIT_TEST(an_empty_remote_has_no_default_branch_to_protect)
{
	sh("rm -rf org r && git init -q --bare org/o.git && git init -q r && cd r\n"
	   "git remote add origin ../org/o.git && echo one >a");
	committed_on("main");
}

GIT_TEST(a_branch_from_an_earlier_run_is_adopted)
{
	sh("cd r && git branch ADR-1 && echo mine >b && git add b && git commit -qm onmain\n"
	   "echo two >a");
	assert_int_equal(commit_rest(), 0);
	assert_sh("cd r && git branch --show-current && git log --format=%s",
		"ADR-1\nleftovers\nonmain\nfirst\n");
}

GIT_TEST(commits_on_the_default_branch_move_to_the_branch)
{
	sh("cd r && echo two >a && git commit -qam two");
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
	assert_sh("cd r && git branch --show-current && git log -1 --format=%s", "ADR-1\ntwo\n");
}

GIT_TEST(off_any_branch_a_branch_is_made)
{
	sh("cd r && git checkout -q --detach && echo two >a");
	committed_on("ADR-1");
	assert_true(made);
}

GIT_TEST(a_hook_can_refuse_a_commit)
{
	sh("cd r && git checkout -qb work && echo two >a && mkdir -p .git/hooks\n"
	   "printf '#!/bin/sh\\necho \"hint: no\"; echo \"lint: a:1: bad\\ttab\" >&2; exit 1\\n' "
	   ">.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit");
	assert_int_equal(commit_rest(), -1);
	assert_false(made);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_string_equal(err.text, "'git commit' failed: lint: a:1: bad tab");
}

GIT_TEST(hooks_see_the_commit)
{
	sh("cd r && git checkout -qb work && echo two >a && mkdir -p .git/hooks\n"
	   "printf '#!/bin/sh\\necho \"Signed: hook\" >>\"$1\"\\n' >.git/hooks/commit-msg\n"
	   "chmod +x .git/hooks/commit-msg");
	assert_int_equal(commit_rest(), 0);
	assert_sh("git -C r log -1 --format=%B", "leftovers\nSigned: hook\n\n");
}

GIT_TEST(without_a_name_git_says_so_itself)
{
	sh("cd r && git checkout -qb work && echo two >a && git config user.useConfigOnly true\n"
	   "git config user.name '' && git config user.email ''");
	assert_true(refused(commit_rest(), ERR_SYSTEM, "'git commit' failed: "));
	assert_true(contains(err.text, "fatal: "));
	assert_null(strchr(err.text, '\n'));
}

GIT_TEST(in_the_middle_of_a_merge_nothing_is_committed)
{
	sh("cd r && git checkout -qb work && echo l >a && git commit -qam l && git checkout -q "
	   "main && echo r >a && git commit -qam r && git checkout -q work && ! git merge -q main");
	assert_true(refused(commit_rest(), ERR_STATE, "a merge is in progress in '"));
	sh("cd r && git merge --abort && ! git rebase -q main 2>/dev/null");
	assert_true(refused(commit_rest(), ERR_STATE, "a rebase is in progress in '"));
}

GIT_TEST(with_conflicts_nothing_is_committed)
{
	sh("cd r && git checkout -qb work && echo s >a && git stash -q && echo w >a\n"
	   "git commit -qam w && ! git stash pop -q");
	assert_true(refused(commit_rest(), ERR_STATE, "unresolved conflicts in '"));
}

GIT_TEST(the_callers_git_variables_do_not_lead_astray)
{
	sh("git init -q other && cd r && git checkout -qb work && echo two >a");
	setenv("GIT_DIR", at("other/.git"), 1);
	setenv("GIT_INDEX_FILE", at("other/.git/index"), 1);
	assert_int_equal(commit_rest(), 0);
	unsetenv("GIT_DIR");
	unsetenv("GIT_INDEX_FILE");
	assert_true(made);
	assert_sh("git -C r log -1 --format=%s", "leftovers\n");
}

GIT_TEST(in_a_linked_work_tree_its_own_files_are_committed)
{
	sh("git -C r worktree add -q ../w -b other && echo two >w/a && echo not >r/a");
	assert_int_equal(git_commit_all(at("w"), "b", "in w", &made, &err), 0);
	assert_true(made);
	assert_sh("git -C w log -1 --format=%s && git -C r status --porcelain", "in w\n M a\n");
}

/* In place of the sleep, the wait for the index ends the other git. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)wanted, (void)left;
	return unlink(at("r/.git/index.lock"));
}

GIT_TEST(an_index_lock_that_goes_away_is_waited_for)
{
	sh("cd r && git checkout -qb work && echo two >a && touch .git/index.lock");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
}
