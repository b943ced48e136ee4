#include <sys/stat.h>
#include "tests/lib/scratch.h"
#include "tests/lib/disk_cases.h"

static int begin(void **state)
{
	(void)scratch_make(state);
	disk = disk_real();
	root = base;
	return 0;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(at(name), &st), 0);
	return st.st_mode & 07777;
}

static void a_file_is_its_owners_alone_unless_somebody_chose(void **state)
{
	struct error err;

	(void)state;
	put("a", STR("x"));
	assert_int_equal(mode_of("a"), 0600);
	assert_int_equal(chmod(at("a"), 0644), 0);
	assert_int_equal(disk->ops->write(disk, at("b"), at("a"), STR("x"), &err), 0);
	assert_int_equal(mode_of("b"), 0644);
	put("b", STR("x"));
	assert_int_equal(mode_of("b"), 0600);
	assert_int_equal(disk->ops->mkdirs(disk, at("c/d"), &err), 0);
	assert_int_equal(mode_of("c"), 0700);
	assert_int_equal(mode_of("c/d"), 0700);
}

/* Nothing is written through a link that somebody else has put there. */
static void nothing_is_written_through_a_link(void **state)
{
	struct disk_file *f;
	struct error err;
	bool taken;

	(void)state;
	put("victim", STR("whole"));
	assert_int_equal(symlink("victim", at("link")), 0);
	assert_int_equal(disk->ops->open(disk, at("link"), true, NULL, &f, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_int_equal(disk->ops->create(disk, at("link"), STR("x"), &taken, &err), -1);
	assert_true(taken);
	put("link", STR("mine"));
	assert_file("victim", "whole");
	assert_file("link", "mine");
	assert_int_equal(link(at("victim"), at("second")), 0);
	put("second", STR("mine"));
	assert_file("victim", "whole");
}

static void a_pipe_is_no_file_and_blocks_nobody(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;
	bool missing;

	(void)state;
	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	assert_int_equal(disk->ops->read(disk, at("pipe"), 10, &got, &missing, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_int_equal(disk->ops->open(disk, at("pipe"), true, NULL, &f, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
}

/* A file of the kernel says that it is empty, and is not. */
static void a_file_that_says_it_is_empty_is_read_to_its_end(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	bool missing;

	(void)state;
	assert_int_equal(
		disk->ops->read(disk, "/proc/self/status", 1 << 20, &got, &missing, &err), 0);
	assert_non_null(strstr(got.s, "Pid:"));
}

#define real_test(f) cmocka_unit_test_setup_teardown(f, begin, scratch_remove)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		DISK_CASES(real_test),
		real_test(a_file_is_its_owners_alone_unless_somebody_chose),
		real_test(nothing_is_written_through_a_link),
		real_test(a_pipe_is_no_file_and_blocks_nobody),
		real_test(a_file_that_says_it_is_empty_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
