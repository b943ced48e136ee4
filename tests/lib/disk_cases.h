/*
 * disk_cases.h: what the machine's disk and the one in memory have to do alike. The including test
 * makes `disk` and the folder `root` before each of them.
 */
#ifndef DT_TESTS_DISK_CASES_H
#define DT_TESTS_DISK_CASES_H

#include "src/sys/path.h"
#include "src/store/disk.h"
#include "tests/lib/scratch.h"
#include "tests/lib/unit.h"

static struct disk *disk;
static char *root;

static inline char *in_root(const char *name)
{
	return path_join(&arena, root, name);
}

static inline void put(const char *name, struct str text)
{
	struct error err;

	assert_int_equal(disk->ops->write(disk, in_root(name), NULL, text, &err), 0);
}

static inline void assert_file(const char *name, const char *text)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	bool missing;

	assert_int_equal(disk->ops->read(disk, in_root(name), 1 << 20, &got, &missing, &err), 0);
	assert_false(missing);
	assert_int_equal(got.len, strlen(text));
	assert_string_equal(got.s, text);
}

static inline struct disk_file *opened(const char *name, bool make)
{
	struct disk_file *f;
	struct error err;

	assert_int_equal(disk->ops->open(disk, in_root(name), make, NULL, &f, &err), 0);
	return f;
}

static inline bool exists(const char *path)
{
	struct error err;
	bool there;

	assert_int_equal(disk->ops->exists(disk, path, &there, &err), 0);
	return there;
}

/* -1: it cannot be told. */
static inline int64_t size_of(struct disk_file *f)
{
	struct error err;
	int64_t size;

	return f->ops->size(f, &size, &err) < 0 ? -1 : size;
}

static inline void a_file_is_read_whole_or_not(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	bool missing;

	(void)state;
	assert_int_equal(disk->ops->read(disk, in_root("a"), 10, &got, &missing, &err), -1);
	assert_true(missing);
	assert_int_equal(err.code, ERR_SYSTEM);
	put("a", STR("0123456789"));
	buf_adds(&got, "+");
	assert_int_equal(disk->ops->read(disk, in_root("a"), 10, &got, &missing, &err), 0);
	assert_false(missing);
	assert_string_equal(got.s, "+0123456789");
	assert_int_equal(disk->ops->read(disk, in_root("a"), 9, &got, &missing, &err), -1);
	assert_false(missing);
	assert_int_equal(err.code, ERR_INPUT);
	assert_int_equal(disk->ops->read(disk, root, 10, &got, &missing, &err), -1);
	assert_false(missing);
	assert_int_equal(err.code, ERR_INPUT);
	put("empty", (struct str){0});
	assert_file("empty", "");
}

static inline void a_write_replaces_all_that_was_there(void **state)
{
	struct error err;

	(void)state;
	put("a", STR("a long first text"));
	assert_file("a", "a long first text");
	put("a", STR("short"));
	assert_file("a", "short");
	assert_int_equal(disk->ops->write(disk, in_root("no/such"), NULL, STR("x"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(disk->ops->write(disk, in_root("b"), in_root("none"), STR("x"), &err), 0);
	assert_file("b", "x");
}

/* A file that is written anew is another one: who has the old one open sees the old bytes. */
static inline void a_file_written_anew_is_another_one(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;

	(void)state;
	put("a", STR("old"));
	f = opened("a", false);
	put("a", STR("new one"));
	assert_int_equal(size_of(f), 3);
	assert_int_equal(disk->ops->pread(f, 0, 3, &got, &err), 0);
	assert_string_equal(got.s, "old");
	disk->ops->close(f);
	assert_file("a", "new one");
}

static inline void a_file_that_is_there_is_not_made_again(void **state)
{
	struct error err;
	bool taken;

	(void)state;
	assert_int_equal(disk->ops->create(disk, in_root("a"), STR("one"), &taken, &err), 0);
	assert_false(taken);
	assert_int_equal(disk->ops->create(disk, in_root("a"), STR("two"), &taken, &err), -1);
	assert_true(taken);
	assert_file("a", "one");
	assert_int_equal(disk->ops->create(disk, in_root("no/a"), STR("two"), &taken, &err), -1);
	assert_false(taken);
}

static inline void a_rename_replaces_and_a_removal_removes(void **state)
{
	struct error err;

	(void)state;
	put("a", STR("one"));
	put("b", STR("two"));
	assert_int_equal(disk->ops->rename(disk, in_root("a"), in_root("b"), &err), 0);
	assert_false(exists(in_root("a")));
	assert_true(exists(in_root("b")));
	assert_file("b", "one");
	assert_int_equal(disk->ops->rename(disk, in_root("a"), in_root("b"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(disk->ops->unlink(disk, in_root("b"), &err), 0);
	assert_int_equal(disk->ops->unlink(disk, in_root("b"), &err), 0);
	assert_false(exists(in_root("b")));
}

static inline void folders_are_made_with_those_above(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(disk->ops->sync_folder(disk, in_root("one/two"), &err), -1);
	assert_int_equal(disk->ops->mkdirs(disk, in_root("one/two"), &err), 0);
	assert_int_equal(disk->ops->mkdirs(disk, in_root("one/two"), &err), 0);
	assert_int_equal(disk->ops->mkdirs(disk, in_root("one/three/"), &err), 0);
	assert_true(exists(in_root("one")));
	put("one/two/a", STR("x"));
	put("one/three/a", STR("x"));
	assert_int_equal(disk->ops->sync_folder(disk, in_root("one/two"), &err), 0);
	assert_int_equal(disk->ops->mkdirs(disk, in_root("one/two/a/b"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(disk->ops->trusted(disk, root, &err), 0);
	assert_int_equal(disk->ops->trusted(disk, in_root("not/yet/there"), &err), 0);
}

static inline void an_open_makes_a_file_or_says_there_is_none(void **state)
{
	struct disk_file *f;
	struct error err;
	bool made = true;

	(void)state;
	assert_int_equal(disk->ops->open(disk, in_root("a"), false, &made, &f, &err), -1);
	assert_false(made);
	assert_null(f);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(disk->ops->open(disk, in_root("a"), true, &made, &f, &err), 0);
	assert_true(made);
	assert_int_equal(size_of(f), 0);
	disk->ops->close(f);
	assert_int_equal(disk->ops->open(disk, in_root("a"), true, &made, &f, &err), 0);
	assert_false(made);
	disk->ops->close(f);
	assert_int_equal(disk->ops->open(disk, root, true, &made, &f, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
}

static inline void all_who_append_write_at_the_end(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f, *other;
	struct error err;

	(void)state;
	f = opened("a", true);
	other = opened("a", true);
	assert_int_equal(disk->ops->append(f, STR("one\n"), &err), 0);
	assert_int_equal(disk->ops->append(other, STR("two\n"), &err), 0);
	assert_int_equal(disk->ops->append(f, STR("three\n"), &err), 0);
	assert_int_equal(disk->ops->sync(f, &err), 0);
	assert_int_equal(size_of(other), 14);
	assert_int_equal(disk->ops->pread(other, 4, 4, &got, &err), 0);
	assert_string_equal(got.s, "two\n");
	assert_int_equal(disk->ops->pread(other, 8, 6, &got, &err), 0);
	assert_string_equal(got.s, "two\nthree\n");
	assert_int_equal(disk->ops->pread(other, 14, 0, &got, &err), 0);
	assert_int_equal(disk->ops->pread(other, 8, 7, &got, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	disk->ops->close(f);
	disk->ops->close(other);
	assert_file("a", "one\ntwo\nthree\n");
}

static inline void a_cut_file_goes_on_where_it_was_cut(void **state)
{
	struct disk_file *f;
	struct error err;

	(void)state;
	put("a", STR("one\ntwo\nthr"));
	f = opened("a", true);
	assert_int_equal(disk->ops->truncate(f, 8, &err), 0);
	assert_int_equal(size_of(f), 8);
	assert_int_equal(disk->ops->append(f, STR("four\n"), &err), 0);
	assert_int_equal(disk->ops->sync(f, &err), 0);
	disk->ops->close(f);
	assert_file("a", "one\ntwo\nfour\n");
}

/* A file that nobody can find any more is there for who has it open. */
static inline void a_removed_file_is_there_for_who_has_it_open(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;

	(void)state;
	put("a", STR("one"));
	f = opened("a", true);
	assert_int_equal(disk->ops->unlink(disk, in_root("a"), &err), 0);
	for (int i = 0; i < 50; i++) /* what a disk does with the room of files that are gone */
		put("b", STR("other bytes"));
	assert_int_equal(disk->ops->append(f, STR(" more"), &err), 0);
	assert_int_equal(disk->ops->pread(f, 0, 8, &got, &err), 0);
	assert_string_equal(got.s, "one more");
	disk->ops->close(f);
	assert_false(exists(in_root("a")));
}

static inline void a_lock_is_held_by_one_who_says_what_for(void **state)
{
	struct disk_lock *l, *second;
	struct error err;

	(void)state;
	assert_int_equal(disk->ops->lock(disk, in_root(".a.lock"), 0, &l, &err), 0);
	assert_int_equal(disk->ops->lock(disk, in_root(".a.lock"), 0, &second, &err), -1);
	assert_null(second);
	assert_int_equal(err.code, ERR_STATE);
	disk->ops->lock_note(l, "git push");
	assert_int_equal(disk->ops->lock(disk, in_root(".a.lock"), 0, &second, &err), -1);
	assert_non_null(strstr(err.text, "git push"));
	assert_int_equal(disk->ops->lock(disk, in_root(".b.lock"), 0, &second, &err), 0);
	disk->ops->unlock(second);
	disk->ops->unlock(l);
	assert_int_equal(disk->ops->lock(disk, in_root(".a.lock"), 0, &l, &err), 0);
	disk->ops->unlock(l);
	assert_int_equal(disk->ops->lock(disk, in_root("no/.a.lock"), 0, &l, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
}

static inline void a_file_that_is_only_read_is_not_written(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;

	(void)state;
	put("a", STR("one"));
	f = opened("a", false);
	assert_int_equal(disk->ops->append(f, STR("two"), &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(disk->ops->truncate(f, 1, &err), -1);
	assert_int_equal(disk->ops->sync(f, &err), 0);
	assert_int_equal(disk->ops->pread(f, 0, 3, &got, &err), 0);
	assert_string_equal(got.s, "one");
	disk->ops->close(f);
}

#define DISK_CASES(test)                                                                           \
	test(a_file_is_read_whole_or_not), test(a_write_replaces_all_that_was_there),              \
		test(a_file_written_anew_is_another_one),                                          \
		test(a_file_that_is_there_is_not_made_again),                                      \
		test(a_rename_replaces_and_a_removal_removes),                                     \
		test(folders_are_made_with_those_above),                                           \
		test(an_open_makes_a_file_or_says_there_is_none),                                  \
		test(a_file_that_is_only_read_is_not_written),                                     \
		test(all_who_append_write_at_the_end), test(a_cut_file_goes_on_where_it_was_cut),  \
		test(a_removed_file_is_there_for_who_has_it_open),                                 \
		test(a_lock_is_held_by_one_who_says_what_for)

#endif
