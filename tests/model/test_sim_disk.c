/* The simulated disk: what its faults and power cuts leave. */
#include "tests/model/sim_disk.h"
#include "tests/lib/disk_cases.h"

static int begin(void **state)
{
	(void)state;
	disk = sim_disk_new(1);
	root = arena_dup(&arena, STR("/room"));
	sim_disk_put(disk, "/room/x", (struct str){0});
	sim_disk_remove(disk, "/room/x");
	return 0;
}

static int end(void **state)
{
	sim_disk_free(&disk);
	return arena_end(state);
}

/* The file's bytes, or NULL. */
static const char *now(const char *name)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;

	return sim_disk_get(disk, in_root(name), &got) ? arena_dup(&arena, buf_str(&got)) : NULL;
}

static void add(struct disk_file *f, const char *text)
{
	struct error err;

	assert_int_equal(disk->ops->append(f, str_of(text), &err), 0);
}

static void sync_root(void)
{
	struct error err;

	assert_int_equal(disk->ops->sync_folder(disk, root, &err), 0);
}

/* A durable file of this name, open. */
static struct disk_file *journal(const char *text)
{
	sim_disk_put(disk, in_root("j"), str_of(text));
	return opened("j", true);
}

/* What came out of a power cut over many seeds, as a set: each text once. */
static struct buf seen;

static int forget(void **state)
{
	buf_release(&seen);
	return end(state);
}

static bool was_seen(const char *text)
{
	struct str rest = buf_str(&seen), line;

	while (str_line(&rest, &line))
		if (str_is(line, text))
			return true;
	return false;
}

static void note_seen(const char *text)
{
	if (!was_seen(text))
		buf_addf(&seen, "%s\n", text);
}

static const char *names_picture(void)
{
	static char text[64];
	const char *doc = now("doc"), *staged = now("new");

	(void)snprintf(text, sizeof(text), "%s,%s", doc ? doc : "-", staged ? staged : "-");
	return text;
}

#define sim_test(f) cmocka_unit_test_setup_teardown(f, begin, forget)

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

static void a_full_disk_is_reported_and_leaves_no_file(void **state)
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

/* ---- power cuts ---- */

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
static void a_sync_does_not_repair_one_that_failed(void **state)
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

static void a_rename_is_done_as_a_whole_or_not(void **state)
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

static void a_removal_may_not_be_done(void **state)
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
		DISK_CASES(sim_test),
		sim_test(a_killed_process_loses_nothing_that_it_has_done),
		sim_test(a_machine_that_stopped_does_nothing),
		sim_test(a_stop_after_a_call_leaves_it_done),
		sim_test(a_fault_in_a_write_leaves_any_part_of_it),
		sim_test(a_full_disk_is_reported_and_leaves_no_file),
		sim_test(a_write_may_stop_between_its_calls),
		sim_test(what_changes_nothing_is_no_call),
		sim_test(a_copy_and_its_origin_do_not_see_each_other),
		sim_test(files_that_are_open_are_not_in_a_copy),
		sim_test(files_are_listed_sorted),
		sim_test(names_do_not_pile_up),
		sim_test(one_seed_gives_one_run),
		sim_test(synced_bytes_stay),
		sim_test(of_the_rest_any_prefix_may_be_left),
		sim_test(blocks_may_be_zeros),
		sim_test(a_cut_that_is_not_synced_may_come_back),
		sim_test(a_sync_does_not_repair_one_that_failed),
		sim_test(a_new_file_may_be_gone_until_its_folder_is_synced),
		sim_test(a_rename_is_done_as_a_whole_or_not),
		sim_test(a_removal_may_not_be_done),
		sim_test(names_come_back_as_they_were_at_some_moment),
		sim_test(unordered_names_come_back_in_any_choice),
		sim_test(a_sync_of_another_folder_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
