#include "tests/lib/sim_rig.h"

/* Cuts the power of copies of `disk`, each of another seed, and notes how each comes back. */
static void cut_power(const char *(*picture)(void))
{
	struct disk *whole = disk;

	for (uint64_t seed = 0; seed < 400; seed++) {
		disk = sim_disk_copy(whole);
		sim_disk_seed(disk, seed);
		sim_disk_restart(disk, true);
		note_seen(picture());
		sim_disk_free(&disk);
	}
	disk = whole;
}

static const char *journal_picture(void)
{
	return now("j");
}

static void synced_bytes_stay(void **state)
{
	struct disk_file *f = journal("one.");
	struct error err;

	(void)state;
	add(f, "two.");
	assert_int_equal(disk->ops->sync(f, &err), 0);
	disk->ops->close(f);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.two.\n");
}

static void of_the_rest_any_prefix_may_be_left(void **state)
{
	struct disk_file *f = journal("one.");

	(void)state;
	add(f, "2345");
	disk->ops->close(f);
	cut_power(journal_picture);
	assert_true(was_seen("one."));
	assert_true(was_seen("one.2"));
	assert_true(was_seen("one.23"));
	assert_true(was_seen("one.234"));
	assert_true(was_seen("one.2345"));
}

static const char *holes_picture(void)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	size_t zeros = 0, last = 0;

	assert_true(sim_disk_get(disk, in_root("j"), &got));
	assert_memory_equal(got.s, "one.", 4);
	for (size_t i = 0; i < got.len; i++) {
		zeros += got.s[i] == '\0';
		last = got.s[i] ? i : last;
	}
	return !zeros ? "whole" : last > got.len - zeros ? "zeros within" : "zeros behind";
}

static void blocks_may_be_zeros(void **state)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct disk_file *f = journal("one.");

	(void)state;
	for (int i = 0; i < 5000; i++)
		buf_addc(&text, 'x');
	add(f, text.s);
	disk->ops->close(f);
	cut_power(holes_picture);
	assert_true(was_seen("whole"));
	assert_true(was_seen("zeros within"));
	assert_true(was_seen("zeros behind"));
}

static void a_cut_that_is_not_synced_may_come_back(void **state)
{
	struct disk_file *f = journal("one.two.");
	struct error err;

	(void)state;
	assert_int_equal(disk->ops->truncate(f, 4, &err), 0);
	cut_power(journal_picture);
	assert_true(was_seen("one.two."));
	assert_true(was_seen("one."));
	buf_clear(&seen);
	add(f, "3");
	cut_power(journal_picture);
	assert_true(was_seen("one.two."));
	assert_true(was_seen("one."));
	assert_true(was_seen("one.3"));
	buf_clear(&seen);
	assert_int_equal(disk->ops->sync(f, &err), 0);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.3\n");
	disk->ops->close(f);
}

/* As on Linux: the next sync does not write what the one that failed has left. */
static void a_sync_does_not_mend_one_that_failed(void **state)
{
	struct disk_file *f = journal("one.");
	struct error err;

	(void)state;
	add(f, "two.");
	sim_disk_plan(disk, 1, SIM_EIO);
	assert_int_equal(disk->ops->sync(f, &err), -1);
	assert_int_equal(disk->ops->sync(f, &err), 0);
	cut_power(holes_picture);
	assert_true(was_seen("whole"));
	assert_true(was_seen("zeros behind"));
	buf_clear(&seen);
	/* Cut off and written once more, it is as good as new. */
	assert_int_equal(disk->ops->truncate(f, 4, &err), 0);
	add(f, "two.");
	assert_int_equal(disk->ops->sync(f, &err), 0);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.two.\n");
	disk->ops->close(f);
}

static void a_new_file_may_be_gone_until_its_folder_is_synced(void **state)
{
	(void)state;
	put("doc", STR("1"));
	cut_power(names_picture);
	assert_int_equal(seen.len, strlen("-,-\n1,-\n"));
	assert_true(was_seen("-,-"));
	assert_true(was_seen("1,-"));
	buf_clear(&seen);
	sync_root();
	cut_power(names_picture);
	assert_string_equal(seen.s, "1,-\n");
}

static void a_rename_happens_as_a_whole_or_not(void **state)
{
	struct error err;

	(void)state;
	put("doc", STR("1"));
	put("new", STR("2"));
	sync_root();
	assert_int_equal(disk->ops->rename(disk, in_root("new"), in_root("doc"), &err), 0);
	sim_disk_unordered(disk, true);
	cut_power(names_picture);
	assert_int_equal(seen.len, strlen("1,2\n2,-\n"));
	assert_true(was_seen("1,2"));
	assert_true(was_seen("2,-"));
	buf_clear(&seen);
	sync_root();
	cut_power(names_picture);
	assert_string_equal(seen.s, "2,-\n");
}

static void a_removal_may_not_have_happened(void **state)
{
	struct error err;

	(void)state;
	put("doc", STR("1"));
	sync_root();
	assert_int_equal(disk->ops->unlink(disk, in_root("doc"), &err), 0);
	cut_power(names_picture);
	assert_true(was_seen("1,-"));
	assert_true(was_seen("-,-"));
}

static void make_order(void)
{
	struct error err;

	put("doc", STR("1"));
	put("new", STR("2"));
	sync_root();
	assert_int_equal(disk->ops->rename(disk, in_root("new"), in_root("doc"), &err), 0);
	put("new", STR("3"));
}

static void names_come_back_as_they_were_at_some_moment(void **state)
{
	(void)state;
	make_order();
	cut_power(names_picture);
	assert_int_equal(seen.len, strlen("1,2\n2,-\n2,3\n"));
	assert_true(was_seen("1,2"));
	assert_true(was_seen("2,-"));
	assert_true(was_seen("2,3"));
}

static void unordered_names_come_back_in_any_choice(void **state)
{
	(void)state;
	sim_disk_unordered(disk, true);
	make_order();
	cut_power(names_picture);
	assert_true(was_seen("1,2"));
	assert_true(was_seen("2,3"));
	assert_true(was_seen("1,3"));
}

/* Only the folder that is synced. */
static void a_sync_of_another_folder_keeps_nothing(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(disk->ops->mkdirs(disk, "/else", &err), 0);
	put("doc", STR("1"));
	assert_int_equal(disk->ops->sync_folder(disk, "/else", &err), 0);
	cut_power(names_picture);
	assert_true(was_seen("-,-"));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		sim_test(synced_bytes_stay),
		sim_test(of_the_rest_any_prefix_may_be_left),
		sim_test(blocks_may_be_zeros),
		sim_test(a_cut_that_is_not_synced_may_come_back),
		sim_test(a_sync_does_not_mend_one_that_failed),
		sim_test(a_new_file_may_be_gone_until_its_folder_is_synced),
		sim_test(a_rename_happens_as_a_whole_or_not),
		sim_test(a_removal_may_not_have_happened),
		sim_test(names_come_back_as_they_were_at_some_moment),
		sim_test(unordered_names_come_back_in_any_choice),
		sim_test(a_sync_of_another_folder_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
