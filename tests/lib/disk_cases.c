#include "tests/lib/disk_cases.h"

struct disk *case_disk;
char *case_root;

char *case_path(const char *name)
{
	return path_join(&arena, case_root, name);
}

void case_put(const char *name, struct str text)
{
	struct error err;

	assert_int_equal(case_disk->ops->write(case_disk, case_path(name), NULL, text, &err), 0);
}

void case_assert_file(const char *name, const char *text)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	bool missing;

	assert_int_equal(
		case_disk->ops->read(case_disk, case_path(name), 1 << 20, &got, &missing, &err), 0);
	assert_false(missing);
	assert_int_equal(got.len, strlen(text));
	assert_string_equal(got.s, text);
}

struct disk_file *case_open(const char *name, bool make)
{
	struct disk_file *f;
	struct error err;

	assert_int_equal(case_disk->ops->open(case_disk, case_path(name), make, NULL, &f, &err), 0);
	return f;
}

bool case_exists(const char *path)
{
	struct error err;
	bool there;

	assert_int_equal(case_disk->ops->exists(case_disk, path, &there, &err), 0);
	return there;
}

int64_t case_size(struct disk_file *f)
{
	struct error err;
	int64_t size;

	return f->ops->size(f, &size, &err) < 0 ? -1 : size;
}

static void a_file_is_read_whole_or_not(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct error err;
	bool missing;

	(void)state;
	assert_int_equal(
		case_disk->ops->read(case_disk, case_path("a"), 10, &got, &missing, &err), -1);
	assert_true(missing);
	assert_int_equal(err.code, ERR_SYSTEM);
	case_put("a", STR("0123456789"));
	buf_adds(&got, "+");
	assert_int_equal(
		case_disk->ops->read(case_disk, case_path("a"), 10, &got, &missing, &err), 0);
	assert_false(missing);
	assert_string_equal(got.s, "+0123456789");
	assert_int_equal(
		case_disk->ops->read(case_disk, case_path("a"), 9, &got, &missing, &err), -1);
	assert_false(missing);
	assert_int_equal(err.code, ERR_INPUT);
	assert_int_equal(case_disk->ops->read(case_disk, case_root, 10, &got, &missing, &err), -1);
	assert_false(missing);
	assert_int_equal(err.code, ERR_INPUT);
	case_put("empty", (struct str){0});
	case_assert_file("empty", "");
}

static void a_write_replaces_all_that_was_there(void **state)
{
	struct error err;

	(void)state;
	case_put("a", STR("a long first text"));
	case_assert_file("a", "a long first text");
	case_put("a", STR("short"));
	case_assert_file("a", "short");
	assert_fails(case_disk->ops->write(case_disk, case_path("no/such"), NULL, STR("x"), &err),
		err, ERR_SYSTEM);
	assert_int_equal(
		case_disk->ops->write(case_disk, case_path("b"), case_path("none"), STR("x"), &err),
		0);
	case_assert_file("b", "x");
}

/* A file that is replaced is a new one: open handles of the old one see the old bytes. */
static void a_file_written_anew_is_another_one(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;

	(void)state;
	case_put("a", STR("old"));
	f = case_open("a", false);
	case_put("a", STR("new one"));
	assert_int_equal(case_size(f), 3);
	assert_int_equal(case_disk->ops->pread(f, 0, 3, &got, &err), 0);
	assert_string_equal(got.s, "old");
	case_disk->ops->close(f);
	case_assert_file("a", "new one");
}

static void a_rename_replaces_and_a_removal_removes(void **state)
{
	struct error err;

	(void)state;
	case_put("a", STR("one"));
	case_put("b", STR("two"));
	assert_int_equal(
		case_disk->ops->rename(case_disk, case_path("a"), case_path("b"), &err), 0);
	assert_false(case_exists(case_path("a")));
	assert_true(case_exists(case_path("b")));
	case_assert_file("b", "one");
	assert_fails(case_disk->ops->rename(case_disk, case_path("a"), case_path("b"), &err), err,
		ERR_SYSTEM);
	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("b"), &err), 0);
	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("b"), &err), 0);
	assert_false(case_exists(case_path("b")));
}

static void an_exchange_keeps_the_file_that_it_replaces(void **state)
{
	struct error err;

	(void)state;
	case_put("a", STR("one"));
	assert_int_equal(
		case_disk->ops->exchange(case_disk, case_path("a"), case_path("b"), &err), 0);
	assert_false(case_exists(case_path("a")));
	case_assert_file("b", "one");
	case_put("a", STR("two"));
	assert_int_equal(
		case_disk->ops->exchange(case_disk, case_path("a"), case_path("b"), &err), 0);
	case_assert_file("a", "one");
	case_assert_file("b", "two");
	assert_fails(case_disk->ops->exchange(case_disk, case_path("c"), case_path("b"), &err), err,
		ERR_SYSTEM);
}

static void directories_are_made_with_those_above(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(case_disk->ops->sync_directory(case_disk, case_path("one/two"), &err), -1);
	assert_int_equal(case_disk->ops->mkdirs(case_disk, case_path("one/two"), &err), 0);
	assert_int_equal(case_disk->ops->mkdirs(case_disk, case_path("one/two"), &err), 0);
	assert_int_equal(case_disk->ops->mkdirs(case_disk, case_path("one/three/"), &err), 0);
	assert_true(case_exists(case_path("one")));
	case_put("one/two/a", STR("x"));
	case_put("one/three/a", STR("x"));
	assert_int_equal(case_disk->ops->sync_directory(case_disk, case_path("one/two"), &err), 0);
	assert_fails(
		case_disk->ops->mkdirs(case_disk, case_path("one/two/a/b"), &err), err, ERR_SYSTEM);
	assert_int_equal(case_disk->ops->trusted(case_disk, case_root, &err), 0);
	assert_int_equal(case_disk->ops->trusted(case_disk, case_path("not/yet/there"), &err), 0);
}

static void an_open_makes_a_file_or_says_there_is_none(void **state)
{
	struct disk_file *f;
	struct error err;
	bool made = true;

	(void)state;
	assert_int_equal(
		case_disk->ops->open(case_disk, case_path("a"), false, &made, &f, &err), -1);
	assert_false(made);
	assert_null(f);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(case_disk->ops->open(case_disk, case_path("a"), true, &made, &f, &err), 0);
	assert_true(made);
	assert_int_equal(case_size(f), 0);
	case_disk->ops->close(f);
	assert_int_equal(case_disk->ops->open(case_disk, case_path("a"), true, &made, &f, &err), 0);
	assert_false(made);
	case_disk->ops->close(f);
	assert_fails(
		case_disk->ops->open(case_disk, case_root, true, &made, &f, &err), err, ERR_INPUT);
}

static void all_who_append_write_at_the_end(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f, *other;
	struct error err;

	(void)state;
	f = case_open("a", true);
	other = case_open("a", true);
	assert_int_equal(case_disk->ops->append(f, STR("one\n"), &err), 0);
	assert_int_equal(case_disk->ops->append(other, STR("two\n"), &err), 0);
	assert_int_equal(case_disk->ops->append(f, STR("three\n"), &err), 0);
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	assert_int_equal(case_size(other), 14);
	assert_int_equal(case_disk->ops->pread(other, 4, 4, &got, &err), 0);
	assert_string_equal(got.s, "two\n");
	assert_int_equal(case_disk->ops->pread(other, 8, 6, &got, &err), 0);
	assert_string_equal(got.s, "two\nthree\n");
	assert_int_equal(case_disk->ops->pread(other, 14, 0, &got, &err), 0);
	assert_fails(case_disk->ops->pread(other, 8, 7, &got, &err), err, ERR_SYSTEM);
	case_disk->ops->close(f);
	case_disk->ops->close(other);
	case_assert_file("a", "one\ntwo\nthree\n");
}

static void a_cut_file_goes_on_where_it_was_cut(void **state)
{
	struct disk_file *f;
	struct error err;

	(void)state;
	case_put("a", STR("one\ntwo\nthr"));
	f = case_open("a", true);
	assert_int_equal(case_disk->ops->truncate(f, 8, &err), 0);
	assert_int_equal(case_size(f), 8);
	assert_int_equal(case_disk->ops->append(f, STR("four\n"), &err), 0);
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	case_disk->ops->close(f);
	case_assert_file("a", "one\ntwo\nfour\n");
}

/* A file without a name still exists for its open handles. */
static void a_removed_file_is_there_for_who_has_it_open(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;

	(void)state;
	case_put("a", STR("one"));
	f = case_open("a", true);
	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("a"), &err), 0);
	for (int i = 0; i < 50; i++) /* disks differ in when they free the space of removed files */
		case_put("b", STR("other bytes"));
	assert_int_equal(case_disk->ops->append(f, STR(" more"), &err), 0);
	assert_int_equal(case_disk->ops->pread(f, 0, 8, &got, &err), 0);
	assert_string_equal(got.s, "one more");
	case_disk->ops->close(f);
	assert_false(case_exists(case_path("a")));
}

static void a_lock_is_held_by_one_who_says_what_for(void **state)
{
	struct disk_lock *l, *second;
	struct error err;

	(void)state;
	assert_int_equal(case_disk->ops->lock(case_disk, case_path(".a.lock"), 0, &l, &err), 0);
	assert_int_equal(
		case_disk->ops->lock(case_disk, case_path(".a.lock"), 0, &second, &err), -1);
	assert_null(second);
	assert_int_equal(err.code, ERR_STATE);
	case_disk->ops->lock_note(l, "git push");
	assert_int_equal(
		case_disk->ops->lock(case_disk, case_path(".a.lock"), 0, &second, &err), -1);
	assert_non_null(strstr(err.text, "git push"));
	assert_int_equal(
		case_disk->ops->lock(case_disk, case_path(".b.lock"), 0, &second, &err), 0);
	case_disk->ops->unlock(second);
	case_disk->ops->unlock(l);
	assert_int_equal(case_disk->ops->lock(case_disk, case_path(".a.lock"), 0, &l, &err), 0);
	case_disk->ops->unlock(l);
	assert_fails(case_disk->ops->lock(case_disk, case_path("no/.a.lock"), 0, &l, &err), err,
		ERR_SYSTEM);
}

static void a_file_that_is_only_read_is_not_written(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;
	struct error err;

	(void)state;
	case_put("a", STR("one"));
	f = case_open("a", false);
	assert_fails(case_disk->ops->append(f, STR("two"), &err), err, ERR_SYSTEM);
	assert_int_equal(case_disk->ops->truncate(f, 1, &err), -1);
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	assert_int_equal(case_disk->ops->pread(f, 0, 3, &got, &err), 0);
	assert_string_equal(got.s, "one");
	case_disk->ops->close(f);
}

void disk_cases_add(
	const char *file, unsigned line, CMFixtureFunction setup, CMFixtureFunction teardown)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_file_is_read_whole_or_not),
		cmocka_unit_test(a_write_replaces_all_that_was_there),
		cmocka_unit_test(a_file_written_anew_is_another_one),
		cmocka_unit_test(a_rename_replaces_and_a_removal_removes),
		cmocka_unit_test(an_exchange_keeps_the_file_that_it_replaces),
		cmocka_unit_test(directories_are_made_with_those_above),
		cmocka_unit_test(an_open_makes_a_file_or_says_there_is_none),
		cmocka_unit_test(a_file_that_is_only_read_is_not_written),
		cmocka_unit_test(all_who_append_write_at_the_end),
		cmocka_unit_test(a_cut_file_goes_on_where_it_was_cut),
		cmocka_unit_test(a_removed_file_is_there_for_who_has_it_open),
		cmocka_unit_test(a_lock_is_held_by_one_who_says_what_for),
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct CMUnitTest test = cases[i];

		test.setup_func = setup;
		test.teardown_func = teardown;
		unit_add(file, line, &test);
	}
}
