/* What git may do: lines of every day that must pass, and what was ever tried with its options. */
#include "tests/lib/corpus.h"
#include "tests/lib/policy_rig.h"

struct hostile {
	const char *line, *rule;
};

#define ALLOW                                                                                      \
	"\"allow\":[\"git\",\"cd\",\"ls\",\"echo\",\"pwd\",\"cat\",\"xargs\",\"grep\",\"tail\"]"
static const char writes[] = "{\"name\":\"git\"," ALLOW ",\"write\":true}";
static const char reads[] = "{\"name\":\"look\"," ALLOW ",\"write\":false}";
static const char lonely[] = "{\"name\":\"lonely\"," ALLOW ",\"write\":true,\"network\":false}";
static const char listed[] =
	"{\"name\":\"readonly\"," ALLOW ",\"write\":false,\"git\":[\"status\",\"log\",\"diff\","
	"\"show\",\"blame\",\"ls-files\",\"rev-parse\",\"merge-base\",\"grep\",\"cat-file\","
	"\"describe\",\"shortlog\",\"stash list\"]}";
static const char pushes[] =
	"{\"name\":\"push\"," ALLOW ",\"write\":true,\"git\":[\"push\",\"commit\"]}";
static const char forces[] =
	"{\"name\":\"push\"," ALLOW ",\"write\":true,\"git\":[\"push\",\"push --force\"]}";

/* A row is a line that only reads, one that writes, or one that a rule denies. */
static void check_writer(const json *row, void *data)
{
	const char *line = json_get_str(row, "command"), *expect = json_get_str(row, "expect");
	size_t *rows = data;

	if (strcmp(expect, "reads") == 0 || strcmp(expect, "writes") == 0)
		rig_allowed(line);
	else
		rig_denied(line, expect);
	++*rows;
}

UNIT_TEST(lines_of_every_day_pass_and_hostile_ones_are_denied_by_their_rule, rig_make, rig_remove)
{
	size_t rows = 0;

	rig_use_json(writes);
	corpus_each("git.jsonl", check_writer, &rows);
	assert_true(rows > 600);
}

static void check_reader(const json *row, void *data)
{
	(void)data;
	if (strcmp(json_get_str(row, "expect"), "reads") == 0)
		rig_allowed(json_get_str(row, "command"));
}

UNIT_TEST(looking_needs_no_right_to_write, rig_make, rig_remove)
{
	rig_use_json(reads);
	corpus_each("git.jsonl", check_reader, NULL);
}

UNIT_TEST(what_changes_anything_needs_the_right_to_write, rig_make, rig_remove)
{
	static const char *const lines[] = {"git add .", "git commit -m x", "git checkout main",
		"git branch topic", "git branch -D main", "git branch --list -D main",
		"git branch -m x", "git branch -u origin/main", "git tag v1", "git tag -d v1",
		"git tag -l -d v1", "git stash", "git stash pop", "git stash drop",
		"git reset --hard", "git rm README.md", "git mv README.md x", "git clean -fd",
		"git fetch", "git pull", "git push", "git merge x", "git rebase x", "git init",
		"git worktree add wt", "git worktree prune", "git remote add x https://e.example/x",
		"git remote remove x", "git remote prune x", "git apply x.patch",
		"git apply --stat --apply x.patch", "git format-patch -1",
		"git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD",
		"git notes add -m x", "git bisect start", "git gc", "git restore .", "git switch x",
		"git update-index --refresh", "git clone https://e.example/x"};

	rig_use_json(reads);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "write");
}

UNIT_TEST(what_talks_to_others_needs_the_network, rig_make, rig_remove)
{
	static const char *const lines[] = {"git fetch", "git fetch origin", "git fetch --all",
		"git pull", "git push", "git push origin main", "git push -u origin x",
		"git clone https://example.com/x", "git ls-remote origin", "git remote show origin",
		"git remote prune origin", "git remote update", "git remote set-head origin -a",
		"git remote add -f x https://example.com/x", "git fetch --multiple a b"};

	rig_use_json(lonely);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "network");
	rig_allowed("git fetch . main:other");
	rig_allowed("git clone ./sub copy");
	rig_allowed("git remote add x https://example.com/x");
	rig_allowed("git remote show -n origin");
	rig_allowed("git ls-remote .");
	rig_allowed("git commit -m x");
}

UNIT_TEST(a_list_of_commands_is_the_limit, rig_make, rig_remove)
{
	rig_use_json(listed);
	rig_allowed("git log -1");
	rig_allowed("git stash list");
	rig_denied("git stash show", "git.command");
	rig_denied("git push --force origin main", "git.command");
	rig_denied("git branch -D main", "git.command");
	rig_denied("git branch", "git.command");
	rig_denied("git version", "git.command");
}

UNIT_TEST(rewriting_what_others_have_is_listed_by_itself, rig_make, rig_remove)
{
	static const char *const lines[] = {"git push --force origin main", "git push -f",
		"git push origin +main", "git push origin :topic", "git push --delete origin topic",
		"git push -d origin topic", "git push --force-with-lease",
		"git push --force-with-lease=main:abc", "git push --prune origin"};

	rig_use_json(pushes);
	rig_allowed("git push origin main");
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "git.command");
	rig_use_json(forces);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_allowed(lines[i]);
}

UNIT_TEST(the_policy_may_name_further_settings, rig_make, rig_remove)
{
	rig_use_json("{\"name\":\"x\"," ALLOW ",\"write\":true,"
		     "\"git_config\":[\"http.proxy\",\"Filter.LFS.clean\",\"core.pager\"]}");
	rig_allowed("git -c http.proxy=http://proxy.example:3128 fetch");
	rig_allowed("git -c filter.lfs.clean='git-lfs clean' add .");
	rig_allowed("git -c core.pager=less log");
	rig_denied("git -c http.proxyAuthMethod=x fetch", "git.config");
	rig_denied("git -c filter.lfs.smudge=x checkout .", "git.config");
}

/* git reads the settings of a directory that looks like a repository, whoever made it. */
UNIT_TEST(a_directory_that_looks_like_a_repository_is_refused, rig_make, rig_remove)
{
	rig_use_json(writes);
	tree_mkdirs(at("tree/evil/objects"));
	tree_mkdirs(at("tree/evil/deep"));
	scratch_write("tree/evil/HEAD", "ref: refs/heads/main\n");
	rig_denied("git -C evil status", "cwd");
	rig_denied("cd evil && git status", "cwd");
	rig_denied("git -C evil/deep log", "cwd");
	rig_allowed("git log -- evil");
}

UNIT_TEST(a_repository_inside_has_nothing_of_its_own, rig_make, rig_remove)
{
	rig_use_json(writes);
	tree_mkdirs(at("tree/in/.git/hooks"));
	scratch_write("tree/in/.git/config",
		"[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
		"[remote \"origin\"]\n\turl = https://example.com/x\n");
	scratch_write("tree/in/.git/hooks/pre-commit.sample", "x\n");
	rig_allowed("git -C in status");
	rig_allowed("cd in && git log -1");
	scratch_write("tree/in/.git/hooks/pre-commit", "id\n");
	rig_denied("git -C in commit -m x", "cwd");
	assert_int_equal(unlink(at("tree/in/.git/hooks/pre-commit")), 0);
	scratch_write("tree/in/.git/config", "[core]\n\tfsmonitor = id\n");
	rig_denied("git -C in status", "cwd");
	rig_denied("cd in && git status", "cwd");
	rig_allowed("git status");
}

UNIT_TEST(a_file_in_the_place_of_git_leads_to_the_own_repository, rig_make, rig_remove)
{
	rig_use_json(writes);
	tree_mkdirs(at("tree/.git/worktrees/wt"));
	tree_mkdirs(at("tree/wt/deep"));
	tree_mkdirs(at("tree/evil"));
	scratch_write("tree/wt/.git",
		arena_printf(&arena, "gitdir: %s/.git/worktrees/wt\n", rig_root.path));
	rig_allowed("git -C wt status");
	rig_allowed("cd wt/deep && git add .");
	scratch_write("tree/wt/.git", "gitdir: ../.git/worktrees/wt\n");
	rig_allowed("git -C wt status");
	scratch_write("tree/wt/.git", "gitdir: ../evil\n");
	rig_denied("git -C wt status", "cwd");
	scratch_write("tree/wt/.git", "gitdir: ../.git/worktrees/../../evil\n");
	rig_denied("git -C wt status", "cwd");
	scratch_write("tree/wt/.git", "gitdir: /etc\n");
	rig_denied("git -C wt/deep status", "cwd");
	scratch_write("tree/wt/.git", "x\n");
	rig_denied("git -C wt status", "cwd");
}

UNIT_TEST(a_worktree_is_removed_where_it_stands, rig_make, rig_remove)
{
	rig_use_json(writes);
	tree_mkdirs(at("tree/wt"));
	scratch_write("tree/wt/.git", "gitdir: ../.git/worktrees/wt\n");
	rig_allowed("git worktree remove wt");
	rig_allowed("git worktree lock --reason 'in use' ./wt");
	rig_allowed("git worktree move wt sub/wt");
	rig_denied("git worktree move wt ../wt", "path.outside");
	rig_denied("git worktree remove sub", "operand");
}

/* Who removes the settings decides what is asked of the next line. */
UNIT_TEST(what_is_protected_and_not_tracked_is_not_cleaned_away, rig_make, rig_remove)
{
	rig_use_json(writes);
	rig_allowed("git clean -fdx");
	tree_mkdirs(at("tree/.dev-team"));
	scratch_write("tree/.dev-team/clearance.yaml", "x\n");
	rig_denied("git clean -fdx", "path.protected");
	rig_denied("git clean -fd .", "path.protected");
	rig_denied("git -C sub clean -fd ..", "path.protected");
	rig_denied("git clean -fd -e .dev-teams", "path.protected");
	rig_allowed("git clean -fdx -e .dev-team");
	rig_allowed("git clean -fdx build");
	rig_allowed("git clean -ndx");
}

UNIT_TEST(what_a_patch_names_is_asked_about, rig_make, rig_remove)
{
	static const struct hostile patches[] = {
		{"--- a/x\n+++ b/src/../../x\n", "path.outside"},
		{"--- /dev/null\n+++ b/.claude/settings.json\t2026\n", "path.protected"},
		{"--- a/x\n+++ b/deep/.claude/settings.json\n", "path.protected"},
		{"diff --git a/.dev-team/x b/.dev-team/x\ndeleted file mode 100644\n",
			"path.protected"},
		{"diff --git a/x b/y\nrename from x\nrename to .mcp.json\n", "path.protected"},
		{"diff --git a/x b/y\ncopy from x\ncopy to .git/hooks/x\n", "path.protected"},
		{"--- a/x\n+++ \"b/.cl\\141ude/settings.json\"\n", "operand"},
		{"--- a/x\n+++ /etc/passwd\n", "operand"},
		{"Content-Transfer-Encoding: base64\n\nKysr\n", "operand"},
	};

	rig_use_json(writes);
	scratch_write("tree/good.patch",
		"diff --git a/src/a b.c b/src/a b.c\nnew file mode 100644\n"
		"--- /dev/null\n+++ b/src/a b.c\n@@ -0,0 +1 @@\n+x\n");
	rig_allowed("git apply good.patch");
	rig_allowed("git apply -R --index -p1 ./good.patch");
	rig_allowed("git am --3way good.patch");
	rig_denied("git apply --directory=.claude good.patch", "path.protected");
	for (size_t i = 0; i < COUNT(patches); i++) {
		scratch_write("tree/evil.patch", patches[i].line);
		rig_denied("git apply evil.patch", patches[i].rule);
		rig_denied("git am good.patch evil.patch", patches[i].rule);
		rig_allowed("git apply --stat evil.patch");
	}
}

UNIT_TEST(who_may_not_write_sees_no_settings_of_the_user_and_starts_no_gpg, rig_make, rig_remove)
{
	static const struct hostile lines[] = {{"git config --global --list", "git.config"},
		{"git config --list", "git.config"}, {"git config -l", "git.config"},
		{"git config list", "git.config"}, {"git config --get-regexp .", "git.config"},
		{"git config http.extraHeader", "git.config"},
		{"git config --get credential.helper", "git.config"}, {"git var -l", "git.config"},
		{"git log --format=%G?", "git.option"}, {"git log --show-signature", "git.option"},
		{"git show --pretty=format:%GS", "git.option"},
		{"git verify-commit HEAD", "git.option"}, {"git tag -v v1", "git.option"}};

	rig_use_json(reads);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i].line, lines[i].rule);
	rig_allowed("git config --local --list");
	rig_allowed("git config user.name");
}

/* `$(git describe)` puts out what somebody else has named so. */
UNIT_TEST(a_ref_that_begins_with_a_dash_makes_names_unknown, rig_make, rig_remove)
{
	static const char *const lines[] = {"git log $(git describe --tags --abbrev=0)..HEAD",
		"git diff $(git branch --show-current)", "git log $(git symbolic-ref --short HEAD)",
		"git push origin $(git rev-parse --abbrev-ref HEAD)"};
	rig_use_json(writes);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_allowed(lines[i]);
	rig_denied("git fetch --tags && git log $(git describe --tags)", "value.dynamic");
	scratch_write("tree/.git/HEAD", "ref: refs/heads/--output=x\n");
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "value.dynamic");
	rig_allowed("git log $(git merge-base main HEAD)..HEAD");
	rig_allowed("git log $(git rev-parse HEAD~2)..HEAD");
	scratch_write("tree/.git/HEAD", "ref: refs/heads/main\n");
	rig_allowed(lines[0]);
	scratch_write("tree/.git/packed-refs", "abc refs/tags/--output=x\n");
	rig_denied(lines[0], "value.dynamic");
	assert_int_equal(unlink(at("tree/.git/packed-refs")), 0);
	tree_mkdirs(at("tree/.git/refs/tags/--output="));
	rig_denied(lines[0], "value.dynamic");
}

UNIT_TEST(a_head_alone_may_be_a_repository, rig_make, rig_remove)
{
	rig_use_json(writes);
	tree_mkdirs(at("tree/d"));
	scratch_write("tree/d/HEAD", "ref: refs/heads/main\n");
	scratch_write("tree/d/commondir", "../r\n");
	rig_denied("git -C d diff HEAD~1 HEAD", "cwd");
}
