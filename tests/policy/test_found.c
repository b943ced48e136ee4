/*
 * Names that other programs find: whether they can be taken apart by xargs, and whether a link that
 * leads out of the root is among them, by what is in the tree and in git's index.
 */
#include <sys/stat.h>
#include "tests/lib/policy_rig.h"
#include "tests/lib/shell.h"

static void git(const char *words)
{
	sh(arena_printf(&arena, "cd tree; GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git %s",
		words));
}

TEST(is_empty_of_blanks)
{
	/* `a b` is an empty directory: its name is put out only where all names are. */
	rig_allowed("find . -name '*.c' | xargs cat");
	rig_denied("find . -type d | xargs ls -d", "wrapper");
	rig_allowed("find . -type d -print0 | xargs -0 ls -d");
	rig_allowed("find src | xargs ls -d");
	scratch_write("tree/a b/x.c", "x\n");
	rig_denied("find . -name '*.c' | xargs cat", "wrapper");
	rig_denied("find 'a b' -name '*.c' | xargs cat", "wrapper");
	rig_allowed("find . -name '*.c' -print0 | xargs -0 cat");
	rig_allowed("find . -name '*.h' | xargs cat");
	rig_denied("find . -name '*.c' | xargs -I{} cat {}", "wrapper");
	rig_allowed("find . -name '*.c' | xargs -d '\\n' cat");
	assert_int_equal(unlink(at("tree/a b/x.c")), 0);
}

TEST(knows_quotes_and_dashes)
{
	static const char *const names[] = {"tree/sub/it's.x", "tree/sub/a\"b.x", "tree/sub/a\\b.x",
		"tree/sub/a\tb.x", "tree/sub/a\nb.x"};

	for (size_t i = 0; i < COUNT(names); i++) {
		rig_allowed("find sub -name '*.x' | xargs cat");
		scratch_write(names[i], "x\n");
		rig_denied("find sub -name '*.x' | xargs cat", "wrapper");
		rig_allowed("find sub -name '*.x' -print0 | xargs -0 cat");
		assert_int_equal(unlink(at(names[i])), 0);
	}
	scratch_write("tree/sub/a\nb.x", "x\n");
	rig_denied("find sub -name '*.x' | xargs -d '\\n' cat", "wrapper");
	assert_int_equal(unlink(at("tree/sub/a\nb.x")), 0);
	/* Names from git and from grep without a place begin as the files here do. */
	rig_allowed("grep -rlZ x | xargs -0 cat");
	scratch_write("tree/-f", "x\n");
	rig_denied("grep -rlZ x | xargs -0 cat", "wrapper");
	rig_allowed("grep -rlZ x . | xargs -0 cat");
	rig_allowed("find . -name '*.c' -print0 | xargs -0 cat");
	assert_int_equal(unlink(at("tree/-f")), 0);
}

TEST(follows_links_that_are_found)
{
	rig_allowed("find sub -exec cat {} +");
	assert_int_equal(symlink("../README.md", at("tree/sub/in.md")), 0);
	rig_allowed("find sub -exec cat {} +");
	assert_int_equal(symlink("/etc/hostname", at("tree/sub/out.x")), 0);
	rig_denied("find sub -exec cat {} +", "path.outside");
	rig_denied("find sub -exec chmod 644 {} +", "path.outside");
	rig_denied("find sub -print0 | xargs -0 grep -n x", "path.outside");
	rig_denied("find sub -name '*.x' -exec cat {} \\;", "path.outside");
	rig_denied("find sub -type f -o -exec cat {} \\;", "path.outside");
	rig_denied("find sub -type l -exec cat {} \\;", "path.outside");
	rig_allowed("find sub -name '*.txt' -exec cat {} \\;");
	rig_allowed("find sub -type f -exec cat {} \\;");
	/* The name is looked at or removed, and not what it leads to. */
	rig_allowed("find sub -exec echo {} +");
	rig_allowed("find sub -exec rm -f {} +");
	rig_allowed("grep -rlZ x sub | xargs -0 cat");
	assert_int_equal(unlink(at("tree/sub/out.x")), 0);
	assert_int_equal(unlink(at("tree/sub/in.md")), 0);
}

TEST(compares_directories_without_links)
{
	rig_allowed("diff -r src sub");
	assert_int_equal(symlink("../README.md", at("tree/sub/in.md")), 0);
	rig_allowed("diff -r src sub");
	assert_int_equal(symlink("../build", at("tree/sub/folder")), 0);
	rig_denied("diff -r src sub", "path.outside");
	rig_denied("diff src sub", "path.outside");
	rig_allowed("diff -r --no-dereference src sub");
	assert_int_equal(unlink(at("tree/sub/folder")), 0);
	assert_int_equal(symlink("/etc/hostname", at("tree/src/out")), 0);
	rig_denied("diff -r src sub", "path.outside");
	rig_denied("diff src sub", "path.outside");
	rig_denied("diff --recursive src build/none", "path.outside");
	assert_int_equal(unlink(at("tree/src/out")), 0);
	assert_int_equal(unlink(at("tree/sub/in.md")), 0);
}

#define BLOB "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" /* the empty one */

TEST(reads_the_index_of_git)
{
	const char *line = "git ls-files -z | xargs -0 cat";

	/* `esc` leads out, but there is no index, so git names nothing. */
	rig_allowed(line);
	assert_int_equal(unlink(at("tree/.git/config")), 0);
	assert_int_equal(unlink(at("tree/.git/HEAD")), 0);
	git("init -q");
	git("add -f src sub");
	rig_allowed(line);
	rig_denied("git ls-files -z -o | xargs -0 cat", "path.outside");
	assert_int_equal(symlink("/etc/hostname", at("tree/sub/out")), 0);
	rig_allowed(line);
	git("add -f src sub");
	rig_denied(line, "path.outside");
	rig_denied("git grep -lz x | xargs -0 cat", "path.outside");
	rig_denied("git diff --name-only -z | xargs -0 cat", "path.outside");
	git("rm -q --cached sub/out");
	rig_allowed(line);
	/* Names that are in the index and not in the tree. */
	git("update-index --add --cacheinfo '100644," BLOB ",x /etc/hostname'");
	rig_denied("git ls-files | xargs cat", "wrapper");
	rig_allowed(line);
	rig_allowed("git ls-files '*.c' | xargs cat");
	rig_allowed("cd src && git ls-files | xargs cat");
	git("update-index --add --cacheinfo 100644," BLOB ",--output=/x");
	rig_denied(line, "wrapper");
	rig_denied("git ls-files -z | xargs -0 git log -p", "wrapper");
	rig_allowed("cd src && git ls-files -z | xargs -0 cat");
	git("rm -q --cached -- --output=/x");
	rig_allowed(line);
	/* What cannot be read is taken for the worst. */
	git("update-index --split-index");
	rig_denied(line, "wrapper");
	git("update-index --index-version 4");
	rig_denied(line, "wrapper");
	scratch_write("tree/.git/index", "DIRC");
	rig_denied(line, "wrapper");
	scratch_write("tree/.git/index", "nothing that is an index");
	rig_denied(line, "wrapper");
	assert_int_equal(unlink(at("tree/.git/index")), 0);
	assert_int_equal(unlink(at("tree/sub/out")), 0);
}

TEST(keeps_what_is_protected)
{
	tree_mkdirs(at("tree/.git/objects/pack"));
	scratch_write("tree/.git/objects/pack/a.pack", "x");
	rig_allowed("find . -name '*.md' -exec sed -i s/a/b/ {} +");
	rig_allowed("find . -name reviewer.md -delete");
	rig_denied("find . -name '*.pack' -delete", "path.protected");
	rig_allowed("find src -name '*.pack' -delete");
	tree_mkdirs(at("tree/.claude/agents"));
	scratch_write("tree/.claude/agents/reviewer.md", "x");
	rig_denied("find . -name '*.md' -exec sed -i s/a/b/ {} +", "path.protected");
	rig_denied("find . -name reviewer.md -delete", "path.protected");
	rig_denied("find . -name .claude -exec rm -r {} +", "path.protected");
	rig_denied(
		"grep -rlZ --include=reviewer.md x . | xargs -0 sed -i s/x/y/", "path.protected");
	rig_denied("find . -type f -not -path './.git/*' -exec rm {} +", "path.protected");
	rig_allowed("find . -name '*.c' -exec sed -i s/a/b/ {} +");
	rig_allowed("find . -name '*.md' -exec cat {} +");
	assert_int_equal(unlink(at("tree/.claude/agents/reviewer.md")), 0);
	assert_int_equal(rmdir(at("tree/.claude/agents")), 0);
	assert_int_equal(rmdir(at("tree/.claude")), 0);
	rig_allowed("find sub -type f -exec chmod 644 {} +");
	tree_mkdirs(at("tree/sub/.Claude"));
	scratch_write("tree/sub/.Claude/x", "x");
	rig_denied("find sub -type f -exec chmod 644 {} +", "path.protected");
	assert_int_equal(unlink(at("tree/sub/.Claude/x")), 0);
	assert_int_equal(rmdir(at("tree/sub/.Claude")), 0);
}

TEST(moves_directories_without_climbing_links)
{
	tree_mkdirs(at("tree/a1/b1/c1"));
	rig_allowed("mv a1/b1 .");
	assert_int_equal(symlink("../x", at("tree/a1/b1/c1/in")), 0);
	rig_allowed("mv a1/b1 .");
	rig_denied("mv a1/b1/c1 .", "path.outside");
	rig_denied("cp -a a1/b1/c1 .", "path.outside");
	rig_denied("cp -r a1/b1/c1 .", "path.outside");
	assert_int_equal(symlink("../../..", at("tree/a1/b1/c1/up")), 0);
	rig_denied("mv a1/b1 .", "path.outside");
	assert_int_equal(unlink(at("tree/a1/b1/c1/up")), 0);
	assert_int_equal(symlink("/etc", at("tree/a1/b1/c1/up")), 0);
	rig_denied("mv a1 a2", "path.outside");
	assert_int_equal(unlink(at("tree/a1/b1/c1/up")), 0);
	assert_int_equal(unlink(at("tree/a1/b1/c1/in")), 0);
}

/* A run looks when it is there, and has the kernel behind it. */
TEST(leaves_links_to_a_run)
{
	struct arg args[] = {{.text = STR("find")}, {.text = STR("sub")}, {.text = STR("-exec")},
		{.text = STR("cat")}, {.text = STR("{}")}, {.text = STR("+")}};
	struct call call = {.args = args, .n = COUNT(args), .cwd = STR("")};
	struct verdict v = {0};
	struct check c = {
		.arena = &arena, .policy = &rig_policy, .root = &rig_root, .v = &v, .left = 100};
	struct str program;

	assert_int_equal(symlink("/etc/hostname", at("tree/sub/out")), 0);
	assert_int_equal(check_call(&c, &call, &program), -1);
	v = (struct verdict){0};
	c.live = true;
	assert_int_equal(check_call(&c, &call, &program), 0);
	assert_int_equal(unlink(at("tree/sub/out")), 0);
}

UNIT_GROUP(programs_make, rig_remove)
