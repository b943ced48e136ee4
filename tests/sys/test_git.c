#include "src/sys/git.h"
#include "src/sys/process.h"
#include "tests/lib/git_rig.h"

GIT_TEST(the_root_is_found_from_a_directory_inside)
{
	char *root;

	sh("mkdir -p r/x/y");
	assert_int_equal(git_root(&arena, at("r/x/y"), &root, &err), 0);
	assert_string_equal(root, at("r"));
	assert_int_equal(git_root(&arena, at("r"), &root, &err), 0);
	assert_string_equal(root, at("r"));
}

GIT_TEST(a_linked_work_tree_is_a_root_of_its_own)
{
	char *root, *slug;

	sh("git -C r worktree add -q ../w -b other; mkdir w/sub");
	assert_int_equal(git_root(&arena, at("w/sub"), &root, &err), 0);
	assert_string_equal(root, at("w"));
	assert_int_equal(git_slug(&arena, root, &slug, &err), 0);
	assert_string_equal(slug, "org/o");
}

GIT_TEST(outside_a_repository_there_is_no_root)
{
	char *root;

	sh("mkdir plain");
	assert_true(refused(git_root(&arena, at("plain"), &root, &err), ERR_STATE,
		"/plain' is not in a git repository"));
}

GIT_TEST(a_bare_repository_is_refused)
{
	char *root;

	assert_true(refused(git_root(&arena, at("org/o.git"), &root, &err), ERR_STATE,
		"/org/o.git' is in a bare repository: a work tree is needed"));
}

GIT_TEST(a_repository_of_another_user_is_called_one)
{
	char *root;

	if (geteuid() != 0)
		skip(); /* only root can give a file away */
	sh("mkdir r/sub && chown -R 12345:12345 r");
	assert_true(refused(git_root(&arena, at("r/sub"), &root, &err), ERR_STATE,
		"/r/sub' belongs to another user: "));
	assert_true(contains(err.text, "safe.directory"));
}

GIT_TEST(extensions_that_change_nothing_for_us_are_accepted)
{
	char *root;

	sh("cd r && git config core.repositoryformatversion 1 && git config "
	   "extensions.worktreeConfig true && git config extensions.partialClone origin");
	assert_int_equal(git_root(&arena, at("r"), &root, &err), 0);
}

GIT_TEST(the_slug_is_that_of_origin)
{
	char *slug;

	sh("cd r && git remote set-url origin gl:tool && git remote add zother https://h/x/y\n"
	   "git config url.git@gitlab.example:team/.insteadOf gl:");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), 0);
	assert_string_equal(slug, "team/tool");
}

GIT_TEST(without_origin_there_is_no_slug)
{
	char *slug;

	sh("git -C r remote rename origin upstream");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), 1);
	assert_true(refused(-1, ERR_STATE, "no remote 'origin' in '"));
	assert_non_null(strstr(err.text, "': run 'git remote add origin URL'"));
	sh("git -C r remote add origin https://secret@host/");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), 1);
	assert_true(refused(-1, ERR_STATE, "no repository name in the URL of remote 'origin'"));
	assert_non_null(strstr(err.text, "': run 'git remote set-url origin URL'"));
	assert_null(strstr(err.text, "secret"));
}

/* The actions of this program when it is called with a word. */
static int probe(void)
{
	char *version;

	if (git_library_version(&arena, &version, &err) == 0)
		return 0;
	fputs(err.text, stderr);
	return err.code;
}

/* Starts this program again, where the first library found is an empty file. */
GIT_TEST(without_the_library_the_error_names_it)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;
	const char *argv[] = {"/proc/self/exe", "test_git.c", "without_the_library", NULL};
	const char *env[] = {
		arena_printf(&arena, "LD_LIBRARY_PATH=%s", at("lib")), "UNIT_PROBE=1", NULL};
	struct process p = {
		.argv = argv, .env = env, .output = -1, .out = &said, .out_max = 1 << 20};
	struct process_end end;

	if (getenv("UNIT_PROBE"))
		exit(probe());
	sh("mkdir lib && cd lib && for n in $(seq 0 99); do : >libgit2.so.$((n / 10)).$((n % 10)); "
	   "done");
	assert_int_equal(process_run(&p, &end, &err), 0);
	assert_int_equal(end.status, ERR_SYSTEM);
	assert_true(contains(said.s, "cannot open the git library: "));
	assert_true(contains(said.s, "libgit2.so."));
}

GIT_TEST(the_library_tells_its_version)
{
	char *version;

	assert_int_equal(git_library_version(&arena, &version, &err), 0);
	assert_true(version[0] >= '0' && version[0] <= '9');
}

TEST(two_texts_are_told_apart_by_lines)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(
		git_diff_texts(&out, "a.md@1", STR("x\ny\nz\n"), "a.md", STR("x\nY\nz\n"), &err),
		0);
	assert_string_equal(out.s, "--- a.md@1\n+++ a.md\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n");
}

TEST(bytes_that_are_no_text_are_told_apart_too)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(git_diff_texts(&out, "a", (struct str){0}, "b", STR("\0\xff\n"), &err), 0);
	assert_str(buf_str(&out), "--- a\n+++ b\n@@ -0,0 +1 @@\n+\0\xff\n");
}

TEST(the_same_texts_have_no_difference)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(git_diff_texts(&out, "a", STR("x\n"), "b", STR("x\n"), &err), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(git_diff_texts(&out, "a", (struct str){0}, "b", (struct str){0}, &err), 0);
	assert_int_equal(out.len, 0);
}
