#include "tests/lib/disk_cases.h"

struct disk *case_disk;
char *case_root;
struct error case_err;

#define CASE(name) static void name(__attribute__((unused)) void **state)

char *case_path(const char *name)
{
	return path_join(&arena, case_root, name);
}

void case_put(const char *name, struct str text)
{
	disk_does(write, case_path(name), NULL, text);
}

void case_assert_file(const char *name, const char *text)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	bool missing;

	disk_does(read, case_path(name), 1 << 20, &got, &missing);
	assert_false(missing);
	assert_int_equal(got.len, strlen(text));
	assert_string_equal(got.s, text);
}

struct disk_file *case_open(const char *name, bool make)
{
	struct disk_file *f;

	disk_does(open, case_path(name), make, NULL, &f);
	return f;
}

bool case_exists(const char *path)
{
	bool there;

	disk_does(exists, path, &there);
	return there;
}

int64_t case_size(struct disk_file *f)
{
	int64_t size;

	return f->ops->size(f, &size, &case_err) < 0 ? -1 : size;
}

CASE(a_file_is_read_whole_or_not)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	bool missing;

	disk_fails(ERR_SYSTEM, read, case_path("a"), 10, &got, &missing);
	assert_true(missing);
	case_put("a", STR("0123456789"));
	buf_adds(&got, "+");
	disk_does(read, case_path("a"), 10, &got, &missing);
	assert_false(missing);
	assert_string_equal(got.s, "+0123456789");
	disk_fails(ERR_INPUT, read, case_path("a"), 9, &got, &missing);
	assert_false(missing);
	disk_fails(ERR_INPUT, read, case_root, 10, &got, &missing);
	assert_false(missing);
	case_put("empty", (struct str){0});
	case_assert_file("empty", "");
}

CASE(a_write_replaces_all_that_was_there)
{
	case_put("a", STR("a long first text"));
	case_assert_file("a", "a long first text");
	case_put("a", STR("short"));
	case_assert_file("a", "short");
	disk_fails(ERR_SYSTEM, write, case_path("no/such"), NULL, STR("x"));
	disk_does(write, case_path("b"), case_path("none"), STR("x"));
	case_assert_file("b", "x");
}

/* A file that is replaced is a new one: open handles of the old one see the old bytes. */
CASE(a_file_written_anew_is_another_one)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;

	case_put("a", STR("old"));
	f = case_open("a", false);
	case_put("a", STR("new one"));
	assert_int_equal(case_size(f), 3);
	assert_int_equal(case_disk->ops->pread(f, 0, 3, &got, &case_err), 0);
	assert_string_equal(got.s, "old");
	case_disk->ops->close(f);
	case_assert_file("a", "new one");
}

CASE(a_rename_replaces_and_a_removal_removes)
{
	case_put("a", STR("one"));
	case_put("b", STR("two"));
	disk_does(rename, case_path("a"), case_path("b"));
	assert_false(case_exists(case_path("a")));
	assert_true(case_exists(case_path("b")));
	case_assert_file("b", "one");
	disk_fails(ERR_SYSTEM, rename, case_path("a"), case_path("b"));
	disk_does(unlink, case_path("b"));
	disk_does(unlink, case_path("b"));
	assert_false(case_exists(case_path("b")));
}

CASE(an_exchange_keeps_the_file_that_it_replaces)
{
	case_put("a", STR("one"));
	disk_does(exchange, case_path("a"), case_path("b"));
	assert_false(case_exists(case_path("a")));
	case_assert_file("b", "one");
	case_put("a", STR("two"));
	disk_does(exchange, case_path("a"), case_path("b"));
	case_assert_file("a", "one");
	case_assert_file("b", "two");
	disk_fails(ERR_SYSTEM, exchange, case_path("c"), case_path("b"));
}

CASE(directories_are_made_with_those_above)
{
	assert_int_equal(DISK(sync_directory, case_path("one/two")), -1);
	disk_does(mkdirs, case_path("one/two"));
	disk_does(mkdirs, case_path("one/two"));
	disk_does(mkdirs, case_path("one/three/"));
	assert_true(case_exists(case_path("one")));
	case_put("one/two/a", STR("x"));
	case_put("one/three/a", STR("x"));
	disk_does(sync_directory, case_path("one/two"));
	disk_fails(ERR_SYSTEM, mkdirs, case_path("one/two/a/b"));
	disk_does(trusted, case_root);
	disk_does(trusted, case_path("not/yet/there"));
}

CASE(an_open_makes_a_file_or_says_there_is_none)
{
	struct disk_file *f;
	bool made = true;

	disk_fails(ERR_SYSTEM, open, case_path("a"), false, &made, &f);
	assert_false(made);
	assert_null(f);
	disk_does(open, case_path("a"), true, &made, &f);
	assert_true(made);
	assert_int_equal(case_size(f), 0);
	case_disk->ops->close(f);
	disk_does(open, case_path("a"), true, &made, &f);
	assert_false(made);
	case_disk->ops->close(f);
	disk_fails(ERR_INPUT, open, case_root, true, &made, &f);
}

CASE(all_who_append_write_at_the_end)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f, *other;

	f = case_open("a", true);
	other = case_open("a", true);
	assert_int_equal(case_disk->ops->append(f, STR("one\n"), &case_err), 0);
	assert_int_equal(case_disk->ops->append(other, STR("two\n"), &case_err), 0);
	assert_int_equal(case_disk->ops->append(f, STR("three\n"), &case_err), 0);
	assert_int_equal(case_disk->ops->sync(f, &case_err), 0);
	assert_int_equal(case_size(other), 14);
	assert_int_equal(case_disk->ops->pread(other, 4, 4, &got, &case_err), 0);
	assert_string_equal(got.s, "two\n");
	assert_int_equal(case_disk->ops->pread(other, 8, 6, &got, &case_err), 0);
	assert_string_equal(got.s, "two\nthree\n");
	assert_int_equal(case_disk->ops->pread(other, 14, 0, &got, &case_err), 0);
	assert_fails(case_disk->ops->pread(other, 8, 7, &got, &case_err), case_err, ERR_SYSTEM);
	case_disk->ops->close(f);
	case_disk->ops->close(other);
	case_assert_file("a", "one\ntwo\nthree\n");
}

CASE(a_cut_file_goes_on_where_it_was_cut)
{
	struct disk_file *f;

	case_put("a", STR("one\ntwo\nthr"));
	f = case_open("a", true);
	assert_int_equal(case_disk->ops->truncate(f, 8, &case_err), 0);
	assert_int_equal(case_size(f), 8);
	assert_int_equal(case_disk->ops->append(f, STR("four\n"), &case_err), 0);
	assert_int_equal(case_disk->ops->sync(f, &case_err), 0);
	case_disk->ops->close(f);
	case_assert_file("a", "one\ntwo\nfour\n");
}

CASE(bytes_that_are_written_once_more_stay_where_they_are)
{
	struct disk_file *f;

	case_put("a", STR("one\ntwo\n"));
	f = case_open("a", true);
	assert_int_equal(case_disk->ops->rewrite(f, 4, &case_err), 0);
	assert_int_equal(case_disk->ops->append(f, STR("three\n"), &case_err), 0);
	case_disk->ops->close(f);
	case_assert_file("a", "one\ntwo\nthree\n");
}

/* A file without a name still exists for its open handles. */
CASE(a_removed_file_is_there_for_who_has_it_open)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;

	case_put("a", STR("one"));
	f = case_open("a", true);
	disk_does(unlink, case_path("a"));
	for (int i = 0; i < 50; i++) /* disks differ in when they free the space of removed files */
		case_put("b", STR("other bytes"));
	assert_int_equal(case_disk->ops->append(f, STR(" more"), &case_err), 0);
	assert_int_equal(case_disk->ops->pread(f, 0, 8, &got, &case_err), 0);
	assert_string_equal(got.s, "one more");
	case_disk->ops->close(f);
	assert_false(case_exists(case_path("a")));
}

CASE(a_lock_is_held_by_one_who_says_what_for)
{
	struct disk_lock *l, *second;

	disk_does(lock, case_path(".a.lock"), 0, &l);
	disk_fails(ERR_STATE, lock, case_path(".a.lock"), 0, &second);
	assert_null(second);
	case_disk->ops->lock_note(l, "git push");
	assert_int_equal(DISK(lock, case_path(".a.lock"), 0, &second), -1);
	assert_non_null(strstr(case_err.text, "git push"));
	disk_does(lock, case_path(".b.lock"), 0, &second);
	case_disk->ops->unlock(second);
	case_disk->ops->unlock(l);
	disk_does(lock, case_path(".a.lock"), 0, &l);
	case_disk->ops->unlock(l);
	disk_fails(ERR_SYSTEM, lock, case_path("no/.a.lock"), 0, &l);
}

/* Takes the lock; false: its last holder has not settled it. */
static bool takes_settled(bool settles)
{
	struct disk_lock *l;
	bool settled;

	disk_does(lock, case_path(".a.lock"), 0, &l);
	settled = case_disk->ops->settled(l);
	if (settles)
		case_disk->ops->settle(l);
	case_disk->ops->unlock(l);
	return settled;
}

CASE(a_lock_is_settled_for_its_next_holder)
{
	assert_false(takes_settled(false));
	assert_false(takes_settled(true));
	assert_true(takes_settled(true));
	assert_true(takes_settled(false));
	assert_false(takes_settled(false));
}

CASE(a_file_that_is_only_read_is_not_written)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	struct disk_file *f;

	case_put("a", STR("one"));
	f = case_open("a", false);
	assert_fails(case_disk->ops->append(f, STR("two"), &case_err), case_err, ERR_SYSTEM);
	assert_int_equal(case_disk->ops->truncate(f, 1, &case_err), -1);
	assert_int_equal(case_disk->ops->sync(f, &case_err), 0);
	assert_int_equal(case_disk->ops->pread(f, 0, 3, &got, &case_err), 0);
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
		cmocka_unit_test(bytes_that_are_written_once_more_stay_where_they_are),
		cmocka_unit_test(a_removed_file_is_there_for_who_has_it_open),
		cmocka_unit_test(a_lock_is_held_by_one_who_says_what_for),
		cmocka_unit_test(a_lock_is_settled_for_its_next_holder),
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct CMUnitTest test = cases[i];

		test.setup_func = setup;
		test.teardown_func = teardown;
		unit_add(file, line, &test);
	}
}
