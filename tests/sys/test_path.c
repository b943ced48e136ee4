#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "tests/lib/scratch.h"

static void ids_that_climb_or_surprise_are_refused(void **state)
{
	static const char *const good[] = {"ADR-7", "444", "a", "a.b_c-d", "A.1"};
	static const char *const bad[] = {"", ".", "..", ".a", "-a", "_a", "a/b", "a..b", "a b",
		"a\n", "a\\b", "\xc3\xa9", "a\x7f", "a:b", "a..", "../a"};
	char longest[ID_MAX + 2];

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(id_valid(str_of(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(id_valid(str_of(bad[i])));
	memset(longest, 'a', sizeof(longest));
	assert_true(id_valid((struct str){longest, ID_MAX}));
	assert_false(id_valid((struct str){longest, ID_MAX + 1}));
	assert_false(id_valid(STR("a\0b")));
}

static void slugs_are_ids_with_slashes_between(void **state)
{
	static const char *const good[] = {"org/repo", "repo", "a/b/c", "a.b/c-d"};
	static const char *const bad[] = {
		"", "/", "/a", "a/", "a//b", "../a", "a/..", "a/./b", "a/-b"};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(slug_valid(str_of(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(slug_valid(str_of(bad[i])));
}

static void paths_are_joined_and_taken_apart(void **state)
{
	(void)state;
	assert_string_equal(path_join(&arena, "a", "b"), "a/b");
	assert_string_equal(path_join(&arena, "a/", "b"), "a/b");
	assert_string_equal(path_join(&arena, "/", "b"), "/b");
	assert_string_equal(path_join(&arena, "a", "/b"), "/b");
	assert_string_equal(path_join(&arena, "", "b"), "b");
	assert_str(path_dir("a/b/c"), "a/b");
	assert_str(path_dir("/c"), "/");
	assert_str(path_dir("c"), ".");
	assert_str(path_base("a/b/c"), "c");
	assert_str(path_base("c"), "c");
	assert_string_equal(path_absolute(&arena, "/x/./y"), "/x/./y");
	assert_int_equal(path_absolute(&arena, "x")[0], '/');
}

static void folders_are_made_with_all_above_them(void **state)
{
	struct error err;
	const char *deep = at("one/two//three/");
	const char *file = at("file");

	(void)state;
	assert_int_equal(path_mkdirs(deep, &err), 0);
	assert_int_equal(path_mkdirs(deep, &err), 0);
	assert_true(path_exists(deep));
	tree_write(file, STR("x"));
	assert_int_equal(path_mkdirs(path_join(&arena, file, "below"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "cannot make directory"));
}

static void a_file_comes_back_byte_for_byte(void **state)
{
	CLEANUP(buf_release) struct buf want = BUF_INIT;
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	const char *path = at("bytes");
	bool missing = true;

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_addc(&want, (char)(i * 7));
	tree_write(path, buf_str(&want));
	assert_int_equal(file_read(&got, path, want.len, &missing, &err), 0);
	assert_false(missing);
	assert_true(str_eq(buf_str(&got), buf_str(&want)));
	assert_int_equal(file_read(&got, path, want.len - 1, NULL, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
}

static void an_empty_file_is_an_empty_text(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	const char *path = at("empty");

	(void)state;
	tree_write(path, (struct str){0});
	assert_int_equal(file_read(&got, path, 0, NULL, &err), 0);
	assert_int_equal(got.len, 0);
	assert_string_equal(got.s, "");
}

static void a_file_that_is_not_there_is_told_from_one_that_cannot_be_read(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	bool missing = false;

	(void)state;
	assert_int_equal(file_read(&got, at("none"), 10, &missing, &err), -1);
	assert_true(missing);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(file_read(&got, base, 10, &missing, &err), -1);
	assert_false(missing);
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.text, "is not a regular file"));
}

/* Would hang for ever if the file were opened without O_NONBLOCK. */
static void a_named_pipe_is_refused_at_once(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	const char *path = at("pipe");

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(file_read(&got, path, 10, NULL, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
}

static void a_descriptor_is_read_to_its_end_but_not_past_the_limit(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(fd_write_all(p[1], STR("hello"), "pipe", &err), 0);
	close(p[1]);
	assert_int_equal(fd_read_all(&got, p[0], 5, "pipe", &err), 0);
	assert_str(buf_str(&got), "hello");
	close(p[0]);

	assert_int_equal(pipe(p), 0);
	assert_int_equal(fd_write_all(p[1], STR("hello!"), "pipe", &err), 0);
	close(p[1]);
	buf_clear(&got);
	assert_int_equal(fd_read_all(&got, p[0], 5, "standard input", &err), -1);
	assert_error(&err, "dev-team: 'standard input' is larger than 5 bytes");
	close(p[0]);
}

static void a_write_that_fails_says_why(void **state)
{
	CLEANUP(close_fd) int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct error err;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(fd_write_all(fd, STR("x"), "f", &err), -1);
	assert_error(&err, "dev-team: cannot write 'f': No space left on device");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_that_climb_or_surprise_are_refused),
		cmocka_unit_test(slugs_are_ids_with_slashes_between),
		cmocka_unit_test(paths_are_joined_and_taken_apart),
		cmocka_unit_test(folders_are_made_with_all_above_them),
		cmocka_unit_test(a_file_comes_back_byte_for_byte),
		cmocka_unit_test(an_empty_file_is_an_empty_text),
		cmocka_unit_test(a_file_that_is_not_there_is_told_from_one_that_cannot_be_read),
		cmocka_unit_test(a_named_pipe_is_refused_at_once),
		cmocka_unit_test(a_descriptor_is_read_to_its_end_but_not_past_the_limit),
		cmocka_unit_test(a_write_that_fails_says_why),
	};

	return cmocka_run_group_tests_name("path", tests, scratch_make, scratch_remove);
}
