#include "src/sys/git.h"
#include "tests/lib/git_rig.h"

static bool skipped;

static int push(void)
{
	return git_push(at("r"), NULL, &skipped, &err);
}

/* The lease is the commit in the file `seen`. */
static int push_over_seen(void)
{
	CLEANUP(buf_release) struct buf seen = BUF_INIT;

	sh_into(&seen, "printf %s \"$(cat seen)\"");
	return git_push(at("r"), seen.s, &skipped, &err);
}

GIT_TEST(a_branch_is_pushed_and_gets_no_upstream)
{
	sh("cd r && git checkout -qb work && echo two >a && git commit -qam two");
	assert_int_equal(push(), 0);
	assert_false(skipped);
	assert_sh("git -C org/o.git log -1 --format=%s work && git -C r config --get-regexp "
		  "'^branch.work' || echo none",
		"two\nnone\n");
	assert_int_equal(push(), 0);
}

GIT_TEST(the_first_branch_of_an_empty_remote_may_be_main)
{
	sh("rm -rf org r && git init -q --bare org/o.git && git clone -q org/o.git r 2>/dev/null\n"
	   "cd r && echo x >a && git add a && git commit -qm x");
	assert_int_equal(push(), 0);
	assert_false(skipped);
	assert_sh("git -C org/o.git log --format=%s main", "x\n");
}

GIT_TEST(without_origin_nothing_is_pushed)
{
	sh("git -C r remote remove origin");
	assert_int_equal(push(), 0);
	assert_true(skipped);
}

/* libgit2 takes a configuration that cannot be read for an empty one, so git is asked. */
GIT_TEST(a_configuration_that_cannot_be_read_is_not_one_without_origin)
{
	sh("mkdir bin && printf '#!/bin/sh\n[ \"$1\" != config ] || { echo fatal: I/O error >&2; "
	   "exit 128; }\nexec %s \"$@\"\n' \"$(command -v git)\" >bin/git && chmod +x bin/git\n"
	   "cd r && git checkout -qb work && git remote remove origin");
	path_begins_with("bin");
	assert_true(refused(push(), ERR_SYSTEM, "cannot read git's configuration of '"));
	assert_true(contains(err.text, "': fatal: I/O error"));
}

GIT_TEST(the_default_branch_is_never_pushed)
{
	assert_int_equal(push(), 0);
	assert_true(skipped);
	sh("cd r && echo two >a && git commit -qam two");
	assert_fails(push(), err, ERR_STATE);
	assert_string_equal(
		err.text, "'main' is the default branch of 'origin': nothing is pushed to it");
	assert_sh("git -C org/o.git log --format=%s main", "first\n");
}

GIT_TEST(a_default_branch_that_only_the_remote_knows_is_never_pushed)
{
	sh("cd r && git checkout -qb trunk && git push -q origin trunk\n"
	   "git update-ref -d refs/remotes/origin/trunk && git remote set-head origin -d\n"
	   "git update-ref -d refs/remotes/origin/main && echo two >a && git commit -qam two\n"
	   "echo ref: refs/heads/trunk >../org/o.git/HEAD");
	assert_true(refused(push(), ERR_STATE, "'trunk' may be the default branch of 'origin': "));
	sh("cd r && git checkout -qb dev-team/ADR-1");
	assert_int_equal(push(), 0);
	assert_false(skipped);
	assert_sh("git -C org/o.git log --format=%s trunk", "first\n");
}

/* The last fetch still names the old one. */
GIT_TEST(a_default_branch_that_has_moved_is_never_pushed)
{
	sh("cd r && git remote set-head origin main && git checkout -qb trunk\n"
	   "git push -q origin trunk && echo two >a && git commit -qam two\n"
	   "echo ref: refs/heads/trunk >../org/o.git/HEAD");
	assert_true(refused(push(), ERR_STATE, "'trunk' may be the default branch of 'origin': "));
	assert_sh("git -C org/o.git log --format=%s trunk", "first\n");
}

GIT_TEST(off_any_branch_nothing_is_pushed)
{
	sh("git -C r checkout -q --detach");
	assert_true(refused(push(), ERR_STATE, "no branch is checked out in '"));
	sh("cd r && git checkout -q --orphan empty");
	assert_int_equal(push(), -1);
	assert_string_equal(err.text, "no commit on branch 'empty' yet");
}

GIT_TEST(a_refused_push_is_told_in_one_line)
{
	sh("cd r && git checkout -qb work && git push -q origin work && cd .. && git clone -q -b "
	   "work org/o.git s && cd s && echo s >a && git commit -qam s && git push -q\n"
	   "cd ../r && echo r >a && git commit -qam r");
	assert_true(refused(push(), ERR_CHECK, "'git push' failed: "));
	assert_true(contains(err.text, "[rejected] HEAD -> work (fetch first)"));
	assert_null(strstr(err.text, "hint:"));
	assert_null(strchr(err.text, '\n'));
}

#define AMENDED                                                                                    \
	"cd r && git checkout -qb work && echo two >a && git commit -qam two && git push -q "      \
	"origin work && git rev-parse HEAD >../seen && echo three >a && git commit -qa --amend "   \
	"-m three"

GIT_TEST(amended_commits_replace_those_that_were_pushed)
{
	sh(AMENDED);
	assert_true(refused(push(), ERR_CHECK, "'git push' failed: "));
	assert_true(contains(err.text, "(non-fast-forward)"));
	assert_int_equal(push_over_seen(), 0);
	assert_sh("git -C org/o.git log --format=%s work", "three\nfirst\n");
	assert_int_equal(push_over_seen(), 0); /* as after a kill before the save */
}

/* Not even if they were fetched. */
GIT_TEST(commits_of_others_are_never_replaced)
{
	sh(AMENDED);
	sh("git clone -q -b work org/o.git s && cd s && echo s >s && git add s && git commit -qm "
	   "theirs && git push -q && cd ../r && git fetch -q origin");
	assert_true(refused(push_over_seen(), ERR_CHECK, "'git push' failed: "));
	assert_true(contains(err.text, "[rejected] HEAD -> work (non-fast-forward)"));
	assert_sh("git -C org/o.git log -1 --format=%s work", "theirs\n");
}

GIT_TEST(commits_that_the_agent_has_pushed_need_no_lease)
{
	sh(AMENDED);
	sh("cd r && git push -q -f origin work && echo four >a && git commit -qam four");
	assert_int_equal(push_over_seen(), 0);
	assert_sh("git -C org/o.git log --format=%s work", "four\nthree\nfirst\n");
}

GIT_TEST(a_hook_of_the_remote_can_refuse)
{
	sh("git -C r checkout -qb work");
	scratch_program("org/o.git/hooks/pre-receive", "echo no ticket >&2; exit 1");
	assert_true(refused(push(), ERR_CHECK, "'git push' failed: remote: no ticket"));
	assert_true(contains(err.text, "[remote rejected] HEAD -> work (pre-receive hook"));
}

GIT_TEST(a_remote_that_cannot_be_reached_has_refused_nothing)
{
	sh("cd r && git checkout -qb work && git remote set-url origin ../nowhere/o.git");
	assert_true(refused(push(), ERR_SYSTEM, "'git push' failed: "));
}

GIT_TEST(a_fetch_changes_no_branch_of_the_user_and_brings_no_tag)
{
	bool fetched;

	sh("git -C org/o.git tag theirs main && git clone -q org/o.git t && cd t && git commit -q "
	   "--allow-empty -m second && git tag -a -m newer newer && git push -q --follow-tags "
	   "origin HEAD:main && cd ../r && git checkout -qb work && "
	   "git config remote.origin.tagOpt --tags && "
	   "git config remote.origin.fetch '+refs/heads/*:refs/heads/*'");
	assert_int_equal(git_fetch_branch(at("r"), "main", &fetched, &err), 0);
	assert_true(fetched);
	assert_non_null(git_fetch_newest(&arena, at("r")));
	assert_sh("git -C r log -1 --format=%s main", "first\n");
	assert_sh("git -C r log -1 --format=%s refs/remotes/origin/main", "second\n");
	assert_sh("git -C r tag; git -C org/o.git tag", "newer\ntheirs\n");
}

GIT_TEST(a_fetch_beside_a_worktree_that_is_being_made_is_repeated)
{
	bool fetched;

	tree_write(at("bin/git"),
		STR("#!/bin/sh\n"
		    "case \"$*\" in *' fetch '*) [ -e \"$0.met\" ] || { : >\"$0.met\"; "
		    "echo 'fatal: bad object worktrees/x/HEAD' >&2; exit 128; } ;; esac\n"
		    "PATH=${PATH#*:} exec git \"$@\"\n"));
	sh("chmod 755 bin/git");
	path_begins_with("bin");
	assert_int_equal(git_fetch_branch(at("r"), "main", &fetched, &err), 0);
	assert_true(fetched);
	assert_sh("test -e bin/git.met && echo met", "met\n");
}

GIT_TEST(tags_of_the_user_are_not_pushed)
{
	sh("cd r && git checkout -qb work && git config push.followTags true && git tag -a -m mine "
	   "mine");
	assert_int_equal(push(), 0);
	assert_sh("git -C org/o.git for-each-ref --format='%(refname)' refs/tags", "");
	assert_sh(
		"git -C org/o.git rev-parse -q --verify work >/dev/null && echo there", "there\n");
}

GIT_TEST(a_pre_push_hook_can_refuse)
{
	sh("git -C r checkout -qb work");
	scratch_program("r/.git/hooks/pre-push", "echo tests fail >&2; exit 1");
	assert_true(refused(push(), ERR_CHECK, "'git push' failed: tests fail; error: "));
}

GIT_TEST(secrets_in_a_url_are_not_told)
{
	sh("cd r && git checkout -qb work && git remote set-url origin "
	   "http://user:s3cret@127.0.0.1:1/org/o.git");
	assert_int_equal(push(), -1);
	assert_true(contains(err.text, "127.0.0.1:1/org/o.git"));
	assert_null(strstr(err.text, "s3cret"));
}

/* The fake ssh prints its arguments. */
GIT_TEST(ssh_never_asks_unless_the_user_has_a_command_of_their_own)
{
	scratch_program("bin/ssh", "echo \"ssh $1\" >&2; exit 255");
	scratch_program("bin/my", "echo \"my $1\" >&2; exit 255");
	sh("cd r && git checkout -qb work && git remote set-url origin "
	   "ssh://git@nowhere/org/o.git");
	path_begins_with("bin");
	assert_int_equal(push(), -1);
	assert_true(contains(err.text, "'git push' failed: ssh -oBatchMode=yes; "));
	setenv("GIT_SSH_COMMAND", "my", 1);
	assert_int_equal(push(), -1);
	assert_null(strstr(err.text, "BatchMode"));
	assert_true(contains(err.text, "my "));
	unsetenv("GIT_SSH_COMMAND");
	sh("git -C r config core.sshCommand my");
	assert_int_equal(push(), -1);
	assert_null(strstr(err.text, "BatchMode"));
}

/* A remote helper that asks git for a password, as https does. */
GIT_TEST(nothing_pops_up_to_ask_for_a_password)
{
	scratch_program("bin/ask", arena_printf(&arena, "echo \"$0\" >>%s; echo x", at("asked")));
	scratch_program("bin/help", arena_printf(&arena, "echo \"helped $1\" >>%s", at("helped")));
	scratch_program("bin/git-remote-pass",
		"printf 'protocol=https\\nhost=h\\n\\n' | git credential fill >&2; exit 1");
	sh("cd r && git checkout -qb work && git remote set-url origin pass://h/org/o.git\n"
	   "git config core.askPass ../bin/ask && git config credential.helper "
	   "\"$PWD/../bin/help\"");
	path_begins_with("bin");
	setenv("GIT_ALLOW_PROTOCOL", "file:pass", 1);
	setenv("GIT_ASKPASS", at("bin/ask"), 1);
	setenv("SSH_ASKPASS", at("bin/ask"), 1);
	assert_int_equal(push(), -1);
	assert_true(contains(err.text, "terminal prompts disabled"));
	assert_false(path_exists(at("asked")));
	assert_sh("cat helped", "helped get\nhelped get\n"); /* for the list, and for the push */
}

/* The environment of a hook that calls this program. */
GIT_TEST(the_callers_git_variables_do_not_lead_a_push_astray)
{
	sh("git init -q other && cd r && git checkout -qb work && git commit -q --allow-empty -m "
	   "w");
	setenv("GIT_DIR", at("other/.git"), 1);
	setenv("GIT_WORK_TREE", at("other"), 1);
	setenv("GIT_INDEX_FILE", at("other/.git/index"), 1);
	assert_int_equal(push(), 0);
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	unsetenv("GIT_INDEX_FILE");
	assert_sh("git -C org/o.git log -1 --format=%s work", "w\n");
}
