#include "tests/lib/sim_rig.h"

/* A process that is killed loses nothing that it has done. */
static void a_killed_process_loses_nothing_that_it_has_done(void **state)
{
	struct disk_file *f = journal("one.");
	struct disk_lock *l, *again;
	struct error err;

	(void)state;
	add(f, "two.");
	put("doc", STR("1"));
	assert_int_equal(disk->ops->lock(disk, in_root(".lock"), 0, &l, &err), 0);
	sim_disk_restart(disk, false);
	assert_string_equal(now("j"), "one.two.");
	assert_string_equal(now("doc"), "1");
	assert_int_equal(disk->ops->append(f, STR("x"), &err), -1);
	assert_int_equal(size_of(f), -1);
	assert_int_equal(disk->ops->lock(disk, in_root(".lock"), 0, &again, &err), 0);
	disk->ops->unlock(l);
	assert_int_equal(disk->ops->lock(disk, in_root(".lock"), 0, &l, &err), -1);
	disk->ops->unlock(again);
	disk->ops->close(f);
}

static void a_machine_that_stopped_does_nothing(void **state)
{
	struct disk_file *f = journal("one."), *other;
	struct disk_lock *l;
	struct error err;
	bool there;

	(void)state;
	sim_disk_plan(disk, 2, SIM_STOP);
	add(f, "two.");
	assert_false(sim_disk_stopped(disk));
	assert_int_equal(disk->ops->append(f, STR("three."), &err), -1);
	assert_true(sim_disk_stopped(disk));
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(disk->ops->write(disk, in_root("a"), NULL, STR("x"), &err), -1);
	assert_int_equal(disk->ops->unlink(disk, in_root("j"), &err), -1);
	assert_int_equal(disk->ops->mkdirs(disk, "/else", &err), -1);
	assert_int_equal(disk->ops->open(disk, in_root("j"), false, NULL, &other, &err), -1);
	assert_int_equal(disk->ops->lock(disk, in_root(".lock"), 0, &l, &err), -1);
	assert_int_equal(disk->ops->exists(disk, in_root("j"), &there, &err), -1);
	sim_disk_restart(disk, false);
	assert_false(sim_disk_stopped(disk));
	assert_string_equal(now("j"), "one.two.");
	disk->ops->close(f);
}

static void a_stop_after_a_call_leaves_it_done(void **state)
{
	struct disk_file *f = journal("one.");
	struct error err;

	(void)state;
	sim_disk_plan(disk, 1, SIM_STOP_AFTER);
	assert_int_equal(disk->ops->append(f, STR("two."), &err), -1);
	assert_true(sim_disk_stopped(disk));
	sim_disk_restart(disk, false);
	assert_string_equal(now("j"), "one.two.");
	disk->ops->close(f);
}

/* Appends under a fault, over many seeds; all that may come of it is seen. */
static void append_under(enum sim_fault fault, bool stops)
{
	struct error err;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct disk_file *f = journal("one.");

		sim_disk_seed(disk, seed);
		sim_disk_plan(disk, 1, fault);
		assert_int_equal(disk->ops->append(f, STR("23"), &err), -1);
		assert_int_equal(err.code, ERR_SYSTEM);
		assert_int_equal(sim_disk_stopped(disk), stops);
		sim_disk_restart(disk, false);
		note_seen(now("j"));
		disk->ops->close(f);
	}
}

static void a_fault_in_a_write_leaves_any_part_of_it(void **state)
{
	static const enum sim_fault faults[] = {SIM_ENOSPC, SIM_HALF, SIM_STOP_HALF};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		buf_clear(&seen);
		append_under(faults[i], faults[i] == SIM_STOP_HALF);
		assert_true(was_seen("one."));
		assert_true(was_seen("one.2"));
		assert_true(was_seen("one.23"));
	}
	buf_clear(&seen);
	append_under(SIM_EIO, false);
	assert_string_equal(seen.s, "one.\n");
}

static void a_full_disk_is_told_and_leaves_no_file(void **state)
{
	struct error err;

	(void)state;
	sim_disk_plan(disk, 2, SIM_ENOSPC);
	assert_int_equal(disk->ops->write(disk, in_root("a"), NULL, STR("text"), &err), -1);
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_null(now("a"));
	put("a", STR("text"));
	assert_string_equal(now("a"), "text");
}

/* write() is several calls: at each a machine may stop, and no half file is ever durable. */
static void a_write_may_stop_between_its_calls(void **state)
{
	struct error err;
	unsigned calls = sim_disk_calls(disk);

	(void)state;
	put("new", STR("0"));
	assert_int_equal(sim_disk_calls(disk) - calls, 3);
	put("new", STR("0"));
	assert_int_equal(sim_disk_calls(disk) - calls, 7);
	for (unsigned n = 1; n <= 4; n++) {
		sim_disk_put(disk, in_root("new"), STR("0"));
		sim_disk_plan(disk, n, SIM_STOP);
		assert_int_equal(disk->ops->write(disk, in_root("new"), NULL, STR("1"), &err), -1);
		assert_true(sim_disk_stopped(disk));
		sim_disk_restart(disk, false);
		note_seen(names_picture());
	}
	assert_string_equal(seen.s, "-,0\n-,-\n-,\n-,1\n");
}

/* What changes nothing is no place for a fault. */
static void what_changes_nothing_is_no_call(void **state)
{
	unsigned calls = sim_disk_calls(disk);
	struct disk_file *f;
	struct error err;

	(void)state;
	f = journal("one.");
	assert_int_equal(disk->ops->mkdirs(disk, root, &err), 0);
	assert_int_equal(disk->ops->unlink(disk, in_root("none"), &err), 0);
	assert_true(exists(in_root("j")));
	assert_file("j", "one.");
	assert_int_equal(size_of(f), 4);
	assert_int_equal(sim_disk_calls(disk), calls);
	disk->ops->close(f);
}

static void a_copy_and_its_origin_do_not_see_each_other(void **state)
{
	struct disk_file *f = journal("one."), *g;
	struct disk *first = disk;
	struct error err;

	(void)state;
	add(f, "two.");
	put("doc", STR("1"));
	disk = sim_disk_copy(first);
	g = opened("j", true);
	add(g, "copy.");
	put("doc", STR("2"));
	put("only-here", STR("3"));
	assert_string_equal(now("j"), "one.two.copy.");
	add(f, "first.");
	assert_string_equal(now("j"), "one.two.copy.");
	assert_int_equal(disk->ops->truncate(g, 2, &err), 0);
	add(g, "!");
	assert_string_equal(now("j"), "on!");
	disk->ops->close(g);
	sim_disk_free(&disk);
	disk = first;
	assert_string_equal(now("j"), "one.two.first.");
	assert_string_equal(now("doc"), "1");
	assert_null(now("only-here"));
	disk->ops->close(f);
}

/* Files that were open when the disk was copied are not in the copy, and its room is used again. */
static void files_that_are_open_are_not_in_a_copy(void **state)
{
	struct disk_file *f = journal("one.");
	struct disk *first = disk;
	struct error err;

	(void)state;
	assert_int_equal(disk->ops->unlink(disk, in_root("j"), &err), 0);
	sync_root();
	disk = sim_disk_copy(first);
	for (int i = 0; i < 20; i++)
		put("doc", STR("1"));
	assert_null(now("j"));
	assert_string_equal(now("doc"), "1");
	sim_disk_restart(disk, true);
	sim_disk_free(&disk);
	disk = first;
	add(f, "two.");
	assert_int_equal(size_of(f), 8);
	disk->ops->close(f);
}

static void files_are_listed_sorted(void **state)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;

	(void)state;
	sim_disk_put(disk, "/room/b", STR("1"));
	sim_disk_put(disk, "/other/c", STR("1"));
	sim_disk_put(disk, "/room/a", STR("1"));
	sim_disk_remove(disk, "/room/b");
	sim_disk_list(disk, &got);
	assert_string_equal(got.s, "/other/c\n/room/a\n");
	sim_disk_remove(disk, "/room/none");
	assert_false(sim_disk_get(disk, "/room/none", &got));
}

/* Names that no sync ever made durable do not pile up. */
static void names_do_not_pile_up(void **state)
{
	struct error err;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		put("new", STR("1"));
		assert_int_equal(disk->ops->rename(disk, in_root("new"), in_root("doc"), &err), 0);
	}
	sim_disk_restart(disk, true);
	assert_string_equal(now("doc"), "1");
}

static void run_of(uint64_t seed, struct buf *out)
{
	struct disk *d = sim_disk_new(seed);
	struct disk_file *f;
	struct error err;

	sim_disk_put(d, "/r/j", STR("one."));
	assert_int_equal(d->ops->open(d, "/r/j", true, NULL, &f, &err), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(d->ops->append(f, STR("0123456789"), &err), 0);
		assert_int_equal(
			d->ops->write(d, i % 2 ? "/r/a" : "/r/b", NULL, STR("1"), &err), 0);
		if (i % 5 == 0)
			assert_int_equal(d->ops->sync(f, &err), 0);
	}
	d->ops->close(f);
	sim_disk_restart(d, true);
	(void)sim_disk_get(d, "/r/j", out);
	sim_disk_list(d, out);
	sim_disk_free(&d);
}

static void one_seed_gives_one_run(void **state)
{
	CLEANUP(buf_release) struct buf first = BUF_INIT, second = BUF_INIT;
	bool differ = false;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		buf_clear(&second);
		run_of(seed, &second);
		differ = differ || !str_eq(buf_str(&first), buf_str(&second));
		buf_clear(&first);
		run_of(seed, &first);
		assert_int_equal(first.len, second.len);
		assert_memory_equal(first.s, second.s, first.len);
	}
	assert_true(differ);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		DISK_CASES(sim_test),
		sim_test(a_killed_process_loses_nothing_that_it_has_done),
		sim_test(a_machine_that_stopped_does_nothing),
		sim_test(a_stop_after_a_call_leaves_it_done),
		sim_test(a_fault_in_a_write_leaves_any_part_of_it),
		sim_test(a_full_disk_is_told_and_leaves_no_file),
		sim_test(a_write_may_stop_between_its_calls),
		sim_test(what_changes_nothing_is_no_call),
		sim_test(a_copy_and_its_origin_do_not_see_each_other),
		sim_test(files_that_are_open_are_not_in_a_copy),
		sim_test(files_are_listed_sorted),
		sim_test(names_do_not_pile_up),
		sim_test(one_seed_gives_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
