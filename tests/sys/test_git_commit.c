#include <time.h>
#include "src/sys/git.h"
#include "tests/lib/git_rig.h"

static bool made;

static int commit(const char *message, const char *path)
{
	return git_commit_paths(at("r"), &path, 1, message, &made, &err);
}

static int commit_rest(void)
{
	return commit("leftovers", "a");
}

GIT_TEST(these_files_alone_are_committed)
{
	static const char *const paths[] = {"a", "g", "d/n", ":(glob)*", "-x", "new\nline"};

	sh("cd r && echo gone >g && git add g && git commit -qm g\n"
	   "echo two >>a && rm g && mkdir d && echo new >d/n && echo 1 >':(glob)*' && echo 2 >-x\n"
	   "echo 3 >\"$(printf 'new\\nline')\" && echo no >other && echo staged >s && git add s");
	assert_int_equal(
		git_commit_paths(at("r"), paths, COUNT(paths), "leftovers", &made, &err), 0);
	assert_true(made);
	assert_sh("cd r && git log -1 --format='%s %D' && git status --porcelain && git show "
		  "--name-status --format=",
		"leftovers HEAD -> main\nA  s\n?? other\nA\t-x\nA\t:(glob)*\nM\ta\nA\td/n\n"
		"D\tg\nA\t\"new\\nline\"\n");
}

GIT_TEST(a_file_that_is_a_directory_now_is_replaced)
{
	static const char *const paths[] = {"a", "a/b"};

	sh("cd r && rm a && mkdir a && echo b >a/b");
	assert_int_equal(
		git_commit_paths(at("r"), paths, COUNT(paths), "leftovers", &made, &err), 0);
	assert_sh("cd r && git status --porcelain && git show --name-status --format=",
		"D\ta\nA\ta/b\n");
	sh("cd r && rm a/b && touch x && git add x && git commit -qm x && rm x && mkdir x");
	assert_int_equal(commit("leftovers", "x"), -1);
	assert_int_equal(err.code, ERR_CHECK);
}

GIT_TEST(a_submodule_is_committed_whatever_the_configuration_ignores)
{
	sh("cd r && git init -q sub && git -C sub commit -q --allow-empty -m one && git add sub "
	   "&&\n"
	   "git commit -qm sub && git -C sub commit -q --allow-empty -m two &&\n"
	   "git config diff.ignoreSubmodules all");
	assert_int_equal(commit("leftovers", "sub"), 0);
	assert_sh(
		"git -C r -c diff.ignoreSubmodules=none show --name-status --format=", "M\tsub\n");
}

GIT_TEST(a_file_that_git_refuses_to_add_is_a_fault_of_the_work)
{
	sh("cd r && git config core.autocrlf true && git config core.safecrlf true && echo 2 >>a");
	assert_int_equal(commit_rest(), -1);
	assert_int_equal(err.code, ERR_CHECK);
	assert_non_null(strstr(err.text, "LF would be replaced by CRLF in a"));
}

GIT_TEST(a_directory_that_is_a_link_now_is_replaced)
{
	static const char *const paths[] = {"d/e/f", "d"};

	sh("cd r && mkdir -p d/e && echo f >d/e/f && git add d && git commit -qm d && mv d ../d && "
	   "ln -s ../d d");
	assert_int_equal(
		git_commit_paths(at("r"), paths, COUNT(paths), "leftovers", &made, &err), 0);
	assert_sh("cd r && git status --porcelain && git show --name-status --format=",
		"A\td\nD\td/e/f\n");
}

GIT_TEST(what_is_no_change_after_all_makes_no_commit)
{
	sh("cd r && git config core.autocrlf input && printf 'one\\r\\n' >a");
	assert_int_equal(commit_rest(), 0);
	assert_false(made);
	assert_sh("cd r && git rev-list --count HEAD", "1\n");
}

GIT_TEST(a_message_is_taken_as_it_is)
{
	sh("cd r && git checkout -qb work && echo two >a");
	assert_int_equal(commit("-m $(id) `x` 'q' \"d\"\n\nbody", "a"), 0);
	assert_sh("git -C r log -1 --format=%B", "-m $(id) `x` 'q' \"d\"\n\nbody\n\n");
}

GIT_TEST(the_first_commit_of_all_can_be_ours)
{
	sh("rm -rf r && git init -q r && echo x >r/a");
	assert_int_equal(commit_rest(), 0);
	assert_true(made);
	assert_sh("git -C r log --format='%s %D'", "leftovers HEAD -> main\n");
}

GIT_TEST(a_hook_can_refuse_a_commit)
{
	sh("cd r && git checkout -qb work && echo two >a");
	scratch_program("r/.git/hooks/pre-commit",
		"echo 'hint: no'; echo 'lint: a:1: bad\ttab' >&2; exit 1");
	assert_int_equal(commit_rest(), -1);
	assert_false(made);
	assert_int_equal(err.code, ERR_CHECK);
	assert_string_equal(err.text, "'git commit' failed: lint: a:1: bad tab");
}

GIT_TEST(hooks_see_the_commit)
{
	sh("cd r && git checkout -qb work && echo two >a");
	scratch_program("r/.git/hooks/commit-msg", "echo 'Signed: hook' >>\"$1\"");
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
	assert_int_equal(
		git_commit_paths(at("w"), (const char *const[]){"a"}, 1, "in w", &made, &err), 0);
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

GIT_TEST(a_lock_file_that_stays_is_named_with_the_remedy)
{
	sh("cd r && git checkout -qb work && echo two >a && touch .git/refs/heads/work.lock");
	assert_int_equal(commit_rest(), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text,
		"/r/.git/refs/heads/work.lock': File exists: unless a git is running "
		"there, remove '"));
}
