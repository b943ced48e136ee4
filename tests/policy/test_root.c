/* What the boundary is: the directory itself, and the git directory that belongs to it. */
#include "tests/lib/policy_tree.h"

static void assert_guarded(const char *path)
{
	struct place place;

	verdict = (struct verdict){0};
	if (where(&arena, &root, &policy, STR(""), str_of(path), ACCESS_WRITE, (struct span){0},
		    &place, &verdict) == 0)
		fail_msg("'%s' leads to '%s'", path, place.full.p);
	assert_denied_by(RULE_PATH_PROTECTED, path);
}

POLICY_TREE_TEST(the_directory_that_a_git_file_names_is_protected)
{
	tree_mkdirs(at("bare/.store"));
	scratch_write("bare/.git", "gitdir: ./.store\n");
	open_root("bare");
	assert_string_equal(root.inner_git, ".store");
	assert_null(root.git_dir);
	assert_guarded(".store/config");
	assert_guarded(".store");
}

POLICY_TREE_TEST(without_a_real_root_there_is_none)
{
	struct error err;
	struct root none;
	char *found;

	assert_fails(root_open(&arena, "/", &none, &err), err, ERR_INPUT);
	assert_fails(root_open(&arena, at("no-such"), &none, &err), err, ERR_SYSTEM);
	assert_int_equal(root_open(&arena, at("secret"), &none, &err), -1);
	assert_int_equal(root_find(&arena, at("no-such"), &found, &err), -1);
}

POLICY_TREE_TEST(the_root_is_the_worktree_around)
{
	struct error err;
	char *found;

	assert_int_equal(root_find(&arena, at("tree/inlink"), &found, &err), 0);
	assert_string_equal(found, at("tree"));
	assert_int_equal(root_find(&arena, at("tree"), &found, &err), 0);
	assert_string_equal(found, at("tree"));
	assert_int_equal(root_find(&arena, at("other"), &found, &err), 0);
	assert_string_equal(found, at("other"));
	link_to("tree/src", "to-src");
	assert_int_equal(root_find(&arena, at("to-src"), &found, &err), 0);
	assert_string_equal(found, at("tree"));
}

static void make_linked(const char *back)
{
	tree_mkdirs(at("main/.git/worktrees/w"));
	tree_mkdirs(at("main/.git/objects"));
	tree_mkdirs(at("main/.git/refs"));
	tree_mkdirs(at("w"));
	scratch_write("main/.git/HEAD", "ref: refs/heads/main\n");
	scratch_write("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
	scratch_write("main/.git/worktrees/w/commondir", "../..\n");
	scratch_write("main/.git/worktrees/w/gitdir", arena_printf(&arena, "%s\n", back));
	scratch_write("w/.git", arena_printf(&arena, "gitdir: %s\n", at("main/.git/worktrees/w")));
}

POLICY_TREE_TEST(a_linked_worktree_names_its_repository)
{
	make_linked(at("w/.git"));
	open_root("w");
	assert_string_equal(root.git_dir, at("main/.git/worktrees/w"));
	assert_string_equal(root.common_dir, at("main/.git"));
	assert_null(root.inner_git);
	assert_guarded(".git");
	scratch_write("w/.git", "gitdir: ../main/.git/worktrees/w\n");
	scratch_write("main/.git/worktrees/w/gitdir", "../../../../w/.git\n");
	open_root("w");
	assert_string_equal(root.git_dir, at("main/.git/worktrees/w"));
}

POLICY_TREE_TEST(a_worktree_that_is_not_pointed_back_at_has_no_repository)
{
	make_linked(at("other/.git"));
	open_root("w");
	assert_null(root.git_dir);
	assert_null(root.common_dir);
}

/* A directory below the root that claims to be another repository's worktree. */
POLICY_TREE_TEST(another_repository_is_not_opened_by_a_forged_directory)
{
	make_linked(at("w/.git"));
	tree_mkdirs(at("w/forged/worktrees/w"));
	scratch_write("w/forged/worktrees/w/HEAD", "x\n");
	scratch_write(
		"w/forged/worktrees/w/commondir", arena_printf(&arena, "%s\n", at("main/.git")));
	scratch_write("w/forged/worktrees/w/gitdir", arena_printf(&arena, "%s\n", at("w/.git")));
	scratch_write("w/.git", "gitdir: forged/worktrees/w\n");
	open_root("w");
	assert_null(root.git_dir);
	assert_null(root.common_dir);
	assert_string_equal(root.inner_git, "forged/worktrees/w");
}

static void make_submodule(const char *worktree)
{
	tree_mkdirs(at("super/.git/modules/m/objects"));
	tree_mkdirs(at("super/.git/modules/m/refs"));
	scratch_write("super/.git/modules/m/HEAD", "x\n");
	scratch_write("super/.git/modules/m/config",
		arena_printf(&arena,
			"[core]\n\tbare = false\n\tworktree = %s\n[x]\n\tworktree = /x\n",
			worktree));
	scratch_write("super/m/.git", "gitdir: ../.git/modules/m\n");
}

POLICY_TREE_TEST(a_submodule_names_its_repository)
{
	make_submodule("../../../m");
	open_root("super/m");
	assert_string_equal(root.git_dir, at("super/.git/modules/m"));
	assert_null(root.common_dir);
	make_submodule("../../../..");
	open_root("super/m");
	assert_null(root.git_dir);
	scratch_write("tree/sub/.git", "gitdir: ../../super/.git/modules/m\n");
	make_submodule("../../../m");
	open_root("tree/sub");
	assert_null(root.git_dir);
}
