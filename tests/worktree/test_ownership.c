#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

/* In the scratch directory: clone/.git/worktrees/my-branch, other/.git/worktrees/my-branch, and w.
 */
static int setup(void **state)
{
	(void)scratch_make(state);
	sh("mkdir -p clone/.git/worktrees/my-branch other/.git/worktrees/my-branch w\n"
	   "ln -s clone/.git/worktrees link && ln -s \"$PWD/other/.git/worktrees/my-branch\" "
	   "clone/.git/worktrees/out");
	return 0;
}

/* `@` stands for the scratch directory. */
static char *filled(const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (; *text; text++) {
		if (*text == '@')
			buf_adds(&out, base);
		else
			buf_addc(&out, *text);
	}
	return arena_dup(&arena, buf_str(&out));
}

#define ROW_TEST(name) UNIT_TEST(name, setup, scratch_remove)

#define OURS "@/clone/.git/worktrees/my-branch"

ROW_TEST(the_pointer_tells_whose_a_worktree_is)
{
	static const struct {
		const char *pointer; /* NULL: there is no .git */
		const char *word, *actual;
	} rows[] = {
		{"gitdir: " OURS "\n", "ok", OURS},
		{"gitdir:" OURS, "ok", OURS},
		{"  gitdir: \t" OURS " \r\n\n", "ok", OURS},
		{"gitdir: ../clone/.git/worktrees/my-branch\n", "ok", OURS},
		{"gitdir: ../clone/./.git/worktrees/../worktrees/my-branch\n", "ok", OURS},
		{"gitdir: @/link/my-branch\n", "ok", OURS},
		/* it does not exist, so the texts are compared */
		{"gitdir: @/clone/.git/worktrees/pruned\n", "ok", "@/clone/.git/worktrees/pruned"},
		{"gitdir: @/link/pruned\n", "ok", "@/clone/.git/worktrees/pruned"},
		{"gitdir: @/clone/.git/worktrees/../../../other/.git/x\n", "cross-clone",
			"@/other/.git/x"},
		{"gitdir: @/other/.git/worktrees/my-branch\n", "cross-clone",
			"@/other/.git/worktrees/my-branch"},
		{"gitdir: @/clone/.git/worktrees/out\n", "cross-clone",
			"@/other/.git/worktrees/my-branch"},
		{"gitdir: @/clone/.git/worktrees-2/my-branch\n", "cross-clone",
			"@/clone/.git/worktrees-2/my-branch"},
		/* the directory of all of them belongs to no worktree */
		{"gitdir: @/clone/.git/worktrees\n", "cross-clone", "@/clone/.git/worktrees"},
		{"gitdir: @/clone/.git/worktrees/\n", "cross-clone", "@/clone/.git/worktrees"},
		{"gitdir: @/clone/.git\n", "cross-clone", "@/clone/.git"},
		{"gitdir: /nowhere/at/all\n", "cross-clone", "/nowhere/at/all"},
		{"not a pointer\n", "pointer-malformed", "not a pointer"},
		{"gitdir\n", "pointer-malformed", "gitdir"},
		{"gitdir:\n", "pointer-malformed", "gitdir:"},
		{"GITDIR: " OURS, "pointer-malformed", "GITDIR: " OURS},
		{"x gitdir: " OURS, "pointer-malformed", "x gitdir: " OURS},
		{"gitdir: @/a\ngitdir: @/b", "pointer-malformed", "gitdir: @/a\ngitdir: @/b"},
		{"", "pointer-malformed", NULL},
		{"\n \n", "pointer-malformed", NULL},
		{NULL, "pointer-missing", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ownership own;
		const char *actual = rows[i].actual ? filled(rows[i].actual) : "";

		(void)unlink(at("w/.git"));
		if (rows[i].pointer)
			tree_write(at("w/.git"), str_of(filled(rows[i].pointer)));
		own = pool_ownership(&arena, at("w"), at("clone/.git"));
		if (strcmp(own.reason, rows[i].word) != 0)
			fail_msg("row %zu is %s", i, own.reason);
		assert_string_equal(own.expected, at("clone/.git/worktrees"));
		assert_string_equal(own.actual ? own.actual : "", actual);
		assert_int_equal(own.actual != NULL, rows[i].actual != NULL);
	}
}

ROW_TEST(a_clone_has_no_pointer)
{
	struct ownership own;

	own = pool_ownership(&arena, at("clone"), at("clone/.git"));
	assert_string_equal(own.reason, "pointer-missing");
	assert_null(own.actual);
	own = pool_ownership(&arena, at("none"), at("clone/.git"));
	assert_string_equal(own.reason, "pointer-missing");
}

ROW_TEST(what_is_no_text_is_told_as_text)
{
	struct ownership own;

	tree_write(at("w/.git"), (struct str){"a\0b\xff", 4});
	own = pool_ownership(&arena, at("w"), at("clone/.git"));
	assert_string_equal(own.reason, "pointer-malformed");
	assert_string_equal(own.actual, "a?b?");
}

UNIT_GROUP(NULL, arena_end)
