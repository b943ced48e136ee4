#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "tests/lib/scratch.h"

static struct error err;

TEST(ids_that_climb_or_surprise_are_refused)
{
	static const char *const good[] = {"ADR-7", "444", "a", "a.b_c-d", "A.1"};
	static const char *const bad[] = {"", ".", "..", ".a", "-a", "_a", "a/b", "a..b", "a b",
		"a\n", "a\\b", "\xc3\xa9", "a\x7f", "a:b", "a..", "../a"};
	char longest[ID_MAX + 2];

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(path_is_id(str_of(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(path_is_id(str_of(bad[i])));
	memset(longest, 'a', sizeof(longest));
	assert_true(path_is_id((struct str){longest, ID_MAX}));
	assert_false(path_is_id((struct str){longest, ID_MAX + 1}));
	assert_false(path_is_id(STR("a\0b")));
}

TEST(slugs_are_ids_with_slashes_between)
{
	static const char *const good[] = {"org/repo", "repo", "a/b/c", "a.b/c-d", "a%20b/%C3%BC"};
	static const char *const bad[] = {"", "/", "/a", "a/", "a//b", "../a", "a/..", "a/./b",
		"a/-b", "a/%", "a/%2", "a/%zz"};

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(path_is_slug(str_of(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(path_is_slug(str_of(bad[i])));
}

TEST(paths_are_joined_and_taken_apart)
{
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

TEST(a_path_as_seen_from_a_directory_leads_back)
{
	static const char *const rows[][3] = {
		{"/a/b", "/a/b", "."},
		{"/a/b", "/a/b/c/d", "c/d"},
		{"/a/b", "/a/c", "../c"},
		{"/a/b", "/a/bc", "../bc"},
		{"/a/bc", "/a/b", "../b"},
		{"/a/b/c", "/a", "../.."},
		{"/a/b", "/", "../.."},
		{"/", "/a", "a"},
		{"/a", "/a/...x", "...x"},
		{"/a", "/b/.x", "../b/.x"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(path_relative(&arena, rows[i][0], rows[i][1]), rows[i][2]);
		assert_string_equal(path_resolve(&arena, rows[i][0], rows[i][2]), rows[i][1]);
	}
	assert_string_equal(path_resolve(&arena, "/a", "/x"), "/x");
	assert_string_equal(path_resolve(&arena, "/a", "./x"), "/a/x");
	assert_string_equal(path_relative(&arena, "/a/b", "/a/b/../.."), "../..");
}

TEST(directories_are_made_with_all_above_them)
{
	const char *deep = at("one/two//three/");
	const char *file = at("file");

	assert_int_equal(path_mkdirs(deep, &err), 0);
	assert_int_equal(path_mkdirs(deep, &err), 0);
	assert_true(path_exists(deep));
	tree_write(file, STR("x"));
	assert_fails(path_mkdirs(path_join(&arena, file, "below"), &err), err, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "cannot make directory"));
}

TEST(a_file_comes_back_byte_for_byte)
{
	CLEANUP(buf_release) struct buf want = BUF_INIT;
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	const char *path = at("bytes");
	bool missing = true;

	for (int i = 0; i < 100000; i++)
		buf_addc(&want, (char)(i * 7));
	tree_write(path, buf_str(&want));
	assert_int_equal(sys_read_file(&got, path, want.len, &missing, &err), 0);
	assert_false(missing);
	assert_true(str_eq(buf_str(&got), buf_str(&want)));
	assert_fails(sys_read_file(&got, path, want.len - 1, NULL, &err), err, ERR_INPUT);
}

TEST(an_empty_file_is_an_empty_text)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	const char *path = at("empty");

	tree_write(path, (struct str){0});
	assert_int_equal(sys_read_file(&got, path, 0, NULL, &err), 0);
	assert_int_equal(got.len, 0);
	assert_string_equal(got.s, "");
}

TEST(a_file_that_is_not_there_is_told_from_one_that_cannot_be_read)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	bool missing = false;

	assert_int_equal(sys_read_file(&got, at("none"), 10, &missing, &err), -1);
	assert_true(missing);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(sys_read_file(&got, base, 10, &missing, &err), -1);
	assert_false(missing);
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.text, "is not a regular file"));
}

/* Would hang for ever if the file were opened without O_NONBLOCK. */
TEST(a_named_pipe_is_refused_at_once)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	const char *path = at("pipe");

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_fails(sys_read_file(&got, path, 10, NULL, &err), err, ERR_INPUT);
}

TEST(a_descriptor_is_read_to_its_end_but_not_past_the_limit)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(sys_write_all(p[1], STR("hello"), "pipe", &err), 0);
	close(p[1]);
	assert_int_equal(sys_read_all(&got, p[0], 5, "pipe", &err), 0);
	assert_str(buf_str(&got), "hello");
	close(p[0]);

	assert_int_equal(pipe(p), 0);
	assert_int_equal(sys_write_all(p[1], STR("hello!"), "pipe", &err), 0);
	close(p[1]);
	buf_clear(&got);
	assert_int_equal(sys_read_all(&got, p[0], 5, "standard input", &err), -1);
	assert_error(&err, "dev-team: 'standard input' is larger than 5 bytes");
	close(p[0]);
}

TEST(a_write_that_fails_says_why)
{
	CLEANUP(base_close) int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		skip();
	assert_int_equal(sys_write_all(fd, STR("x"), "f", &err), -1);
	assert_error(&err, "dev-team: cannot write 'f': No space left on device");
}

UNIT_GROUP(scratch_make, scratch_remove)
