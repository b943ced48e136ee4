#include <errno.h>
#include <sys/wait.h>
#include "src/policy/protected.h"
#include "tests/lib/policy_tree.h"
#include "tests/lib/shell.h"

static struct error err;

static struct protected *kept;
static struct texts changed;

static void remember_with(bool mounted, bool confined)
{
	if (protected_remember(
		    &arena, &root, &policy, (struct keeping){mounted, confined}, &kept, &err) < 0)
		fail_msg("%s", err.text);
}

static void remember(void)
{
	remember_with(false, false);
}

/* `expected`: paths with a newline behind each. */
static void restores(const char *expected)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;

	buf_adds(&all, "");
	if (protected_restore(kept, &changed, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < changed.n; i++)
		buf_addf(&all, "%s\n", changed.p[i]);
	assert_string_equal(all.s, expected);
	if (protected_restore(kept, &changed, &err) < 0 || changed.n)
		fail_msg("not all was put back: %s", changed.n ? changed.p[0] : err.text);
	protected_release(&kept);
}

static void has(const char *name, const char *text)
{
	assert_string_equal(scratch_read(name), text);
}

static void lacks(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(at(name), &st), -1);
}

static int make(void **state)
{
	policy_tree_make(state);
	scratch_write("tree/.git/HEAD", "ref: refs/heads/main\n");
	scratch_write("tree/.git/config", "[core]\n");
	scratch_write("tree/.git/hooks/pre-commit.sample", "#!/bin/sh\n");
	scratch_write("tree/.git/info/exclude", "*.o\n");
	scratch_write("tree/.claude/settings.json", "{}\n");
	scratch_write("tree/.claude/hooks/deep/x.sh", "#!/bin/sh\n");
	scratch_write("tree/.mcp.json", "{}\n");
	return 0;
}

#define KEPT_TEST(name) UNIT_TEST(name, make, policy_tree_remove)

KEPT_TEST(what_was_not_touched_is_not_reported)
{
	remember();
	scratch_write("tree/src/new.c", "x");
	scratch_write("tree/.git/index", "x");
	scratch_write("tree/.git/refs/heads/x", "x");
	scratch_write("tree/.dev-team/logs/x.log", "x");
	restores(".dev-team\n");
	remember();
	sh("cp -p tree/.mcp.json copy && cat copy >tree/.mcp.json && touch "
	   "tree/.claude/settings.json");
	restores("");
}

KEPT_TEST(changed_texts_and_modes_are_put_back)
{
	struct stat st;

	remember();
	scratch_write("tree/.git/config", "[core]\n\tfsmonitor = evil\n");
	scratch_write("tree/.claude/settings.json", "[]\n");
	assert_int_equal(chmod(at("tree/.git/hooks/pre-commit.sample"), 0777), 0);
	assert_int_equal(chmod(at("tree/.claude/hooks"), 0777), 0);
	restores(".claude/hooks\n.claude/settings.json\n.git/config\n.git/hooks/"
		 "pre-commit.sample\n");
	has("tree/.git/config", "[core]\n");
	has("tree/.claude/settings.json", "{}\n");
	assert_int_equal(stat(at("tree/.claude/hooks"), &st), 0);
	assert_int_equal(st.st_mode & 0022, 0);
}

KEPT_TEST(new_files_are_taken_away)
{
	policy.protect = (struct texts){(const char *[]){"./ci/run.yml", "conf/", "../secret"}, 3};
	remember();
	scratch_write("tree/.git/hooks/pre-commit", "#!/bin/sh\n");
	scratch_write("tree/.git/hooks/a/b/c/d", "x");
	scratch_write("tree/.git/config.worktree", "x");
	scratch_write("tree/.git/objects/info/alternates", "/else\n");
	scratch_write("tree/.codex/config.toml", "x");
	scratch_write("tree/.claude/hooks/deep/y.sh", "x");
	scratch_write("tree/ci/run.yml", "x");
	scratch_write("tree/ci/other.yml", "x");
	scratch_write("tree/conf/x", "x");
	restores(".claude/hooks/deep/y.sh\n.codex\n.git/config.worktree\n.git/hooks/a\n.git/hooks/"
		 "pre-commit\n.git/objects/info/alternates\nci/run.yml\nconf\n");
	lacks("tree/.codex");
	lacks("tree/.git/hooks/a");
	has("tree/ci/other.yml", "x");
	has("secret", "x\n");
}

KEPT_TEST(removed_files_come_back)
{
	struct stat st;

	assert_int_equal(chmod(at("tree/.claude/hooks/deep/x.sh"), 0750), 0);
	remember();
	sh("rm -rf tree/.claude tree/.git/hooks tree/.git/config tree/.mcp.json");
	restores(".claude\n.claude/hooks\n.claude/hooks/deep\n.claude/hooks/deep/x.sh\n.claude/"
		 "settings.json\n.git/config\n.git/hooks\n.git/hooks/pre-commit.sample\n.mcp."
		 "json\n");
	has("tree/.claude/hooks/deep/x.sh", "#!/bin/sh\n");
	assert_int_equal(stat(at("tree/.claude/hooks/deep/x.sh"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
}

KEPT_TEST(links_in_their_place_are_not_followed)
{
	scratch_write("victim/keep", "x");
	scratch_write("victim/settings.json", "mine");
	remember();
	sh("rm -rf tree/.claude tree/.git/hooks tree/.mcp.json tree/.git/config\n"
	   "ln -s ../victim tree/.claude; ln -s ../../victim tree/.git/hooks\n"
	   "ln -s ../victim/settings.json tree/.mcp.json\n"
	   "mkdir -p tree/.git/config/deep; ln -s ../../../../victim tree/.git/config/deep/x\n"
	   "ln -s ../victim tree/.codex");
	restores(".claude\n.claude/hooks\n.claude/hooks/deep\n.claude/hooks/deep/x.sh\n.claude/"
		 "settings.json\n.codex\n.git/config\n.git/hooks\n.git/hooks/pre-commit.sample\n."
		 "mcp.json\n");
	has("tree/.git/config", "[core]\n");
	has("victim/keep", "x");
	has("victim/settings.json", "mine");
	assert_sh("ls -A victim", "keep\nsettings.json\n");
}

KEPT_TEST(a_directory_on_the_way_that_became_a_link_is_made_anew)
{
	policy.protect = (struct texts){(const char *[]){"a/b/keep", "none/x"}, 2};
	scratch_write("tree/a/b/keep", "x");
	scratch_write("elsewhere/keep", "evil");
	scratch_write("elsewhere/x", "evil");
	remember();
	sh("mv tree/a/b tree/moved; ln -s ../../elsewhere tree/a/b; ln -s ../elsewhere tree/none");
	restores("a/b\na/b/keep\nnone\n");
	has("tree/a/b/keep", "x");
	has("elsewhere/keep", "evil");
	has("tree/moved/keep", "x");
	lacks("tree/none");
}

KEPT_TEST(a_second_name_for_a_file_is_cut_off)
{
	remember();
	sh("ln tree/.git/config tree/other-name");
	restores(".git/config\n");
	scratch_write("tree/other-name", "evil");
	has("tree/.git/config", "[core]\n");
	remember();
	sh("cp tree/.git/config tree/x; rm tree/.git/config; ln tree/x tree/.git/config");
	restores(".git/config\n");
}

KEPT_TEST(special_files_do_not_stop_it)
{
	remember();
	sh("rm tree/.mcp.json tree/.git/config; mkfifo tree/.mcp.json tree/.git/config "
	   "tree/.codex");
	restores(".codex\n.git/config\n.mcp.json\n");
	has("tree/.mcp.json", "{}\n");
}

KEPT_TEST(links_are_put_back_and_what_they_lead_to)
{
	scratch_write("tree/dot/gemini/settings.json", "{}");
	link_to("dot/gemini", "tree/.gemini");
	open_root("tree");
	remember();
	scratch_write("tree/dot/gemini/settings.json", "evil");
	sh("ln -sfn /etc tree/.gemini");
	restores(".gemini\ndot/gemini/settings.json\n");
	assert_sh("readlink tree/.gemini", "dot/gemini\n");
	has("tree/dot/gemini/settings.json", "{}");
}

KEPT_TEST(what_other_sessions_write_is_left_alone)
{
	scratch_write("tree/.dev-team/clearance.yaml", "a");
	scratch_write("tree/.git/worktrees/w/HEAD", "x");
	scratch_write("tree/.git/worktrees/w/commondir", "../..\n");
	scratch_write("tree/.git/worktrees/gone/HEAD", "x");
	scratch_write("tree/.git/worktrees/gone/commondir", "../..\n");
	scratch_write("tree/.git/modules/lib/a/HEAD", "x");
	scratch_write("tree/.git/modules/lib/a/config", "[core]\n");
	remember();
	scratch_write("tree/.claude/worktrees/w/file", "x");
	scratch_write("tree/.dev-team/T-1.md", "x");
	scratch_write("tree/.dev-team/logs/x.yaml", "x");
	scratch_write("tree/.git/worktrees/new/commondir", "../..\n");
	sh("rm -rf tree/.git/worktrees/gone");
	restores("");
	has("tree/.git/worktrees/new/commondir", "../..\n");
	remember();
	scratch_write("tree/.git/worktrees/w/commondir", "/evil\n");
	scratch_write("tree/.git/modules/lib/a/config", "[core]\nfsmonitor = x\n");
	scratch_write("tree/.dev-team/clearance.yaml", "b");
	scratch_write("tree/.dev-team/mine.yml", "b");
	restores(".dev-team/clearance.yaml\n.dev-team/mine.yml\n.git/modules/lib/a/config\n.git/"
		 "worktrees/w/commondir\n");
}

KEPT_TEST(what_is_mounted_is_left_to_the_kernel)
{
	remember_with(true, true);
	scratch_write("tree/.git/config", "by another");
	scratch_write("tree/.claude/settings.json", "by another");
	scratch_write("tree/.git/config.worktree", "x");
	scratch_write("tree/.codex/x", "x");
	restores(".codex\n.git/config.worktree\n");
	has("tree/.git/config", "by another");
}

KEPT_TEST(a_new_repository_may_come_if_it_is_plain)
{
	tree_mkdirs(at("plain"));
	open_root("plain");
	remember();
	sh("git init -q plain");
	restores("");
	sh("rm -rf plain/.git");
	remember();
	sh("git init -q plain; git -C plain config core.fsmonitor x");
	restores(".git\n");
	remember();
	sh("env -u GIT_TEMPLATE_DIR git init -q plain; cp plain/.git/hooks/pre-commit.sample "
	   "plain/.git/hooks/pre-commit");
	restores(".git\n");
	remember();
	scratch_write("plain/.git", "gitdir: /else\n");
	restores(".git\n");
	lacks("plain/.git");
}

static void make_linked(void)
{
	sh("mkdir main && cd main && git init -q . && git config user.name a && git config "
	   "user.email a@b && git commit -q --allow-empty -m x && git worktree add -q ../w");
	open_root("w");
	assert_non_null(root.git_dir);
}

static const char *of_common(const char *name)
{
	return arena_printf(&arena, "%s/%s", root.common_dir, name);
}

KEPT_TEST(hooks_that_worktrees_share_are_put_back)
{
	make_linked();
	remember();
	scratch_write("main/.git/hooks/pre-commit", "#!/bin/sh\n");
	sh("printf 'gitdir: /else\\n' >w/.git; git -C main config core.hooksPath /x");
	scratch_write("main/.git/worktrees/w/commondir", "/else\n");
	restores(arena_printf(&arena, ".git\n%s\n%s\n%s\n", of_common("config"),
		of_common("hooks/pre-commit"), of_common("worktrees/w/commondir")));
	lacks("main/.git/hooks/pre-commit");
	sh("git -C w commit -q --allow-empty -m y && git -C w status >/dev/null");
}

KEPT_TEST(confined_runs_leave_the_shared_directory_to_others)
{
	make_linked();
	remember_with(false, true);
	sh("git -C main config user.name other");
	scratch_write("main/.git/worktrees/w/config.worktree", "x\n");
	restores(arena_printf(&arena, "%s\n", of_common("worktrees/w/config.worktree")));
	assert_sh("git -C main config user.name", "other\n");
}

KEPT_TEST(too_long_files_are_told_though_not_mended)
{
	sh("head -c 2000000 /dev/zero >tree/.claude/long");
	remember();
	scratch_write("tree/.claude/long", "short");
	assert_fails(protected_restore(kept, &changed, &err), err, ERR_SYSTEM);
	assert_int_equal(changed.n, 1);
	assert_string_equal(changed.p[0], ".claude/long");
	protected_release(&kept);
}

KEPT_TEST(what_is_too_much_is_refused_before)
{
	sh("cd tree/.claude; for i in 1 2 3 4 5 6 7 8 9; do mkdir -p d/d/d/d/d; cd d/d/d/d/d; "
	   "done");
	assert_fails(protected_remember(&arena, &root, &policy, (struct keeping){0}, &kept, &err),
		err, ERR_STATE);
	protected_release(&kept);
}

KEPT_TEST(a_flood_is_taken_away_whole)
{
	remember();
	sh("cd tree/.git/hooks; seq 1 3000 | xargs touch; mkdir -p deep; cd deep; seq 1 500 | "
	   "xargs mkdir");
	{
		assert_int_equal(protected_restore(kept, &changed, &err), 0);
		assert_int_equal(changed.n, 256);
	}
	assert_sh("ls tree/.git/hooks", "pre-commit.sample\n");
	protected_release(&kept);
}

KEPT_TEST(nothing_outside_is_touched_while_directories_are_swapped)
{
	pid_t child;

	scratch_write("victim/pre-commit", "mine");
	scratch_write("victim/pre-commit.sample", "mine");
	child = policy_tree_swap(at("tree/.git/hooks"), at("tree/.git/aside"), at("victim"));
	for (int i = 0; i < 300; i++) {

		if (protected_remember(&arena, &root, &policy, (struct keeping){0}, &kept, &err) ==
			0)
			(void)protected_restore(kept, &changed, &err);
		protected_release(&kept);
	}
	kill(child, 9);
	assert_int_equal(waitpid(child, NULL, 0), child);
	has("victim/pre-commit", "mine");
	has("victim/pre-commit.sample", "mine");
}
