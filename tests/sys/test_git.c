#include "src/sys/git.h"
#include "src/sys/process.h"
#include "tests/lib/git_rig.h"

static void the_root_is_found_from_a_directory_inside(void **state)
{
	char *root;

	(void)state;
	sh("mkdir -p r/x/y");
	assert_int_equal(git_root(&arena, at("r/x/y"), &root, &err), 0);
	assert_string_equal(root, at("r"));
	assert_int_equal(git_root(&arena, at("r"), &root, &err), 0);
	assert_string_equal(root, at("r"));
}

static void a_linked_work_tree_is_a_root_of_its_own(void **state)
{
	char *root, *slug;

	(void)state;
	sh("git -C r worktree add -q ../w -b other; mkdir w/sub");
	assert_int_equal(git_root(&arena, at("w/sub"), &root, &err), 0);
	assert_string_equal(root, at("w"));
	assert_int_equal(git_slug(&arena, root, &slug, &err), 0);
	assert_string_equal(slug, "org/o");
}

static void outside_a_repository_there_is_no_root(void **state)
{
	char *root;

	(void)state;
	sh("mkdir plain");
	assert_int_equal(git_root(&arena, at("plain"), &root, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "/plain' is not in a git repository"));
}

static void a_bare_repository_is_refused(void **state)
{
	char *root;

	(void)state;
	assert_int_equal(git_root(&arena, at("org/o.git"), &root, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(
		contains(err.text, "/org/o.git' is in a bare repository: a work tree is needed"));
}

static void a_repository_of_another_user_is_called_one(void **state)
{
	char *root;

	(void)state;
	if (geteuid() != 0)
		skip(); /* to give a file away takes root */
	sh("mkdir r/sub && chown -R 12345:12345 r");
	assert_int_equal(git_root(&arena, at("r/sub"), &root, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "/r/sub' belongs to another user: "));
	assert_true(contains(err.text, "safe.directory"));
}

static void extensions_that_change_nothing_for_us_are_accepted(void **state)
{
	char *root;

	(void)state;
	sh("cd r && git config core.repositoryformatversion 1 && git config "
	   "extensions.worktreeConfig true && git config extensions.partialClone origin");
	assert_int_equal(git_root(&arena, at("r"), &root, &err), 0);
}

static void the_slug_is_that_of_origin(void **state)
{
	char *slug;

	(void)state;
	sh("cd r && git remote set-url origin gl:tool && git remote add zother https://h/x/y\n"
	   "git config url.git@gitlab.example:team/.insteadOf gl:");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), 0);
	assert_string_equal(slug, "team/tool");
}

static void without_origin_there_is_no_slug(void **state)
{
	char *slug;

	(void)state;
	sh("git -C r remote rename origin upstream");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "no remote 'origin' in '"));
	sh("git -C r remote add origin https://secret@host/");
	assert_int_equal(git_slug(&arena, at("r"), &slug, &err), -1);
	assert_int_equal(err.code, ERR_STATE);
	assert_true(contains(err.text, "no repository name in the URL of remote 'origin'"));
	assert_null(strstr(err.text, "secret"));
}

/* What this program does when it is called with a word. */
static int probe(void)
{
	char *version;

	if (git_library_version(&arena, &version, &err) == 0)
		return 0;
	fputs(err.text, stderr);
	return err.code;
}

/* This program again, where the library in the first place is an empty file. */
static void without_the_library_the_error_names_it(void **state)
{
	CLEANUP(buf_release) struct buf said = BUF_INIT;
	const char *argv[] = {"/proc/self/exe", "test_git.c", NULL};
	const char *env[] = {
		arena_printf(&arena, "LD_LIBRARY_PATH=%s", at("lib")), "UNIT_PROBE=1", NULL};
	struct process p = {
		.argv = argv, .env = env, .output = -1, .out = &said, .out_max = 1 << 20};
	struct process_end end;

	(void)state;
	sh("mkdir lib && cd lib && for n in $(seq 0 99); do : >libgit2.so.$((n / 10)).$((n % 10)); "
	   "done");
	assert_int_equal(process_run(&p, &end, &err), 0);
	assert_int_equal(end.status, ERR_SYSTEM);
	assert_true(contains(said.s, "cannot open the git library: "));
	assert_true(contains(said.s, "libgit2.so."));
}

static void the_library_tells_its_version(void **state)
{
	char *version;

	(void)state;
	assert_int_equal(git_library_version(&arena, &version, &err), 0);
	assert_true(version[0] >= '0' && version[0] <= '9');
}

static void two_texts_are_told_apart_by_lines(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(
		git_diff_texts(&out, "a.md@1", STR("x\ny\nz\n"), "a.md", STR("x\nY\nz\n"), &err),
		0);
	assert_string_equal(out.s, "--- a.md@1\n+++ a.md\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n");
}

static void bytes_that_are_no_text_are_told_apart_too(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(git_diff_texts(&out, "a", (struct str){0}, "b", STR("\0\xff\n"), &err), 0);
	assert_str(buf_str(&out), "--- a\n+++ b\n@@ -0,0 +1 @@\n+\0\xff\n");
}

static void the_same_texts_have_no_difference(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	(void)state;
	assert_int_equal(git_diff_texts(&out, "a", STR("x\n"), "b", STR("x\n"), &err), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(git_diff_texts(&out, "a", (struct str){0}, "b", (struct str){0}, &err), 0);
	assert_int_equal(out.len, 0);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		git_test(the_root_is_found_from_a_directory_inside),
		git_test(a_linked_work_tree_is_a_root_of_its_own),
		git_test(outside_a_repository_there_is_no_root),
		git_test(a_bare_repository_is_refused),
		git_test(a_repository_of_another_user_is_called_one),
		git_test(extensions_that_change_nothing_for_us_are_accepted),
		git_test(the_slug_is_that_of_origin),
		git_test(without_origin_there_is_no_slug),
		git_test(without_the_library_the_error_names_it),
		git_test(the_library_tells_its_version),
		cmocka_unit_test(two_texts_are_told_apart_by_lines),
		cmocka_unit_test(bytes_that_are_no_text_are_told_apart_too),
		cmocka_unit_test(the_same_texts_have_no_difference),
	};

	if (getenv("UNIT_PROBE"))
		return probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
