/* The simulated disk: what its faults and power cuts leave. */
#include "tests/model/sim_disk.h"
#include "tests/lib/disk_cases.h"

static int begin(void **state)
{
	(void)state;
	case_disk = sim_disk_new(1);
	case_root = arena_dup(&arena, STR("/room"));
	sim_disk_put(case_disk, "/room/x", (struct str){0});
	sim_disk_remove(case_disk, "/room/x");
	return 0;
}

static int end(void **state)
{
	sim_disk_free(&case_disk);
	return arena_end(state);
}

/* The file's bytes, or NULL. */
static const char *now(const char *name)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;

	return sim_disk_get(case_disk, case_path(name), &got) ? arena_dup(&arena, buf_str(&got))
							      : NULL;
}

static void add(struct disk_file *f, const char *text)
{
	struct error err;

	assert_int_equal(case_disk->ops->append(f, str_of(text), &err), 0);
}

static void sync_root(void)
{
	struct error err;

	assert_int_equal(case_disk->ops->sync_directory(case_disk, case_root, &err), 0);
}

/* A durable file of this name, open. */
static struct disk_file *journal(const char *text)
{
	sim_disk_put(case_disk, case_path("j"), str_of(text));
	return case_open("j", true);
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

#define SIM_TEST(name) UNIT_TEST(name, begin, forget)

/* A process that is killed loses nothing that it has done. */
SIM_TEST(a_killed_process_loses_nothing_that_it_has_done)
{
	struct disk_file *f = journal("one.");
	struct disk_lock *l, *again;
	struct error err;

	add(f, "two.");
	case_put("doc", STR("1"));
	assert_int_equal(case_disk->ops->lock(case_disk, case_path(".lock"), 0, &l, &err), 0);
	sim_disk_restart(case_disk, false);
	assert_string_equal(now("j"), "one.two.");
	assert_string_equal(now("doc"), "1");
	assert_int_equal(case_disk->ops->append(f, STR("x"), &err), -1);
	assert_int_equal(case_size(f), -1);
	assert_int_equal(case_disk->ops->lock(case_disk, case_path(".lock"), 0, &again, &err), 0);
	case_disk->ops->unlock(l);
	assert_int_equal(case_disk->ops->lock(case_disk, case_path(".lock"), 0, &l, &err), -1);
	case_disk->ops->unlock(again);
	case_disk->ops->close(f);
}

SIM_TEST(a_machine_that_stopped_does_nothing)
{
	struct disk_file *f = journal("one."), *other;
	struct disk_lock *l;
	struct error err;
	bool there;

	sim_disk_plan(case_disk, 2, SIM_STOP);
	add(f, "two.");
	assert_false(sim_disk_stopped(case_disk));
	assert_int_equal(case_disk->ops->append(f, STR("three."), &err), -1);
	assert_true(sim_disk_stopped(case_disk));
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_int_equal(
		case_disk->ops->write(case_disk, case_path("a"), NULL, STR("x"), &err), -1);
	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("j"), &err), -1);
	assert_int_equal(case_disk->ops->mkdirs(case_disk, "/else", &err), -1);
	assert_int_equal(
		case_disk->ops->open(case_disk, case_path("j"), false, NULL, &other, &err), -1);
	assert_int_equal(case_disk->ops->lock(case_disk, case_path(".lock"), 0, &l, &err), -1);
	assert_int_equal(case_disk->ops->exists(case_disk, case_path("j"), &there, &err), -1);
	sim_disk_restart(case_disk, false);
	assert_false(sim_disk_stopped(case_disk));
	assert_string_equal(now("j"), "one.two.");
	case_disk->ops->close(f);
}

SIM_TEST(a_stop_after_a_call_leaves_it_done)
{
	struct disk_file *f = journal("one.");
	struct error err;

	sim_disk_plan(case_disk, 1, SIM_STOP_AFTER);
	assert_int_equal(case_disk->ops->append(f, STR("two."), &err), -1);
	assert_true(sim_disk_stopped(case_disk));
	sim_disk_restart(case_disk, false);
	assert_string_equal(now("j"), "one.two.");
	case_disk->ops->close(f);
}

/* Appends under a fault, over many seeds; all that may come of it is seen. */
static void append_under(enum sim_fault fault, bool stops)
{
	struct error err;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct disk_file *f = journal("one.");

		sim_disk_seed(case_disk, seed);
		sim_disk_plan(case_disk, 1, fault);
		assert_int_equal(case_disk->ops->append(f, STR("23"), &err), -1);
		assert_int_equal(err.code, ERR_SYSTEM);
		assert_int_equal(sim_disk_stopped(case_disk), stops);
		sim_disk_restart(case_disk, false);
		note_seen(now("j"));
		case_disk->ops->close(f);
	}
}

SIM_TEST(a_fault_in_a_write_leaves_any_part_of_it)
{
	static const enum sim_fault faults[] = {SIM_ENOSPC, SIM_HALF, SIM_STOP_HALF};

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

SIM_TEST(a_full_disk_is_reported_and_leaves_no_file)
{
	struct error err;

	sim_disk_plan(case_disk, 2, SIM_ENOSPC);
	assert_int_equal(
		case_disk->ops->write(case_disk, case_path("a"), NULL, STR("text"), &err), -1);
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_null(now("a"));
	case_put("a", STR("text"));
	assert_string_equal(now("a"), "text");
}

/* write() is several calls: at each a machine may stop, and no half file is ever durable. */
SIM_TEST(a_write_may_stop_between_its_calls)
{
	struct error err;
	unsigned calls = sim_disk_calls(case_disk);

	case_put("new", STR("0"));
	assert_int_equal(sim_disk_calls(case_disk) - calls, 3);
	case_put("new", STR("0"));
	assert_int_equal(sim_disk_calls(case_disk) - calls, 7);
	for (unsigned n = 1; n <= 4; n++) {
		sim_disk_put(case_disk, case_path("new"), STR("0"));
		sim_disk_plan(case_disk, n, SIM_STOP);
		assert_int_equal(
			case_disk->ops->write(case_disk, case_path("new"), NULL, STR("1"), &err),
			-1);
		assert_true(sim_disk_stopped(case_disk));
		sim_disk_restart(case_disk, false);
		note_seen(names_picture());
	}
	assert_string_equal(seen.s, "-,0\n-,-\n-,\n-,1\n");
}

/* What changes nothing is no place for a fault. */
SIM_TEST(what_changes_nothing_is_no_call)
{
	unsigned calls = sim_disk_calls(case_disk);
	struct disk_file *f;
	struct error err;

	f = journal("one.");
	assert_int_equal(case_disk->ops->mkdirs(case_disk, case_root, &err), 0);
	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("none"), &err), 0);
	assert_true(case_exists(case_path("j")));
	case_assert_file("j", "one.");
	assert_int_equal(case_size(f), 4);
	assert_int_equal(sim_disk_calls(case_disk), calls);
	case_disk->ops->close(f);
}

SIM_TEST(a_copy_and_its_origin_do_not_see_each_other)
{
	struct disk_file *f = journal("one."), *g;
	struct disk *first = case_disk;
	struct error err;

	add(f, "two.");
	case_put("doc", STR("1"));
	case_disk = sim_disk_copy(first);
	g = case_open("j", true);
	add(g, "copy.");
	case_put("doc", STR("2"));
	case_put("only-here", STR("3"));
	assert_string_equal(now("j"), "one.two.copy.");
	add(f, "first.");
	assert_string_equal(now("j"), "one.two.copy.");
	assert_int_equal(case_disk->ops->truncate(g, 2, &err), 0);
	add(g, "!");
	assert_string_equal(now("j"), "on!");
	case_disk->ops->close(g);
	sim_disk_free(&case_disk);
	case_disk = first;
	assert_string_equal(now("j"), "one.two.first.");
	assert_string_equal(now("doc"), "1");
	assert_null(now("only-here"));
	case_disk->ops->close(f);
}

/* Files that were open when the disk was copied are not in the copy, and its room is used again. */
SIM_TEST(files_that_are_open_are_not_in_a_copy)
{
	struct disk_file *f = journal("one.");
	struct disk *first = case_disk;
	struct error err;

	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("j"), &err), 0);
	sync_root();
	case_disk = sim_disk_copy(first);
	for (int i = 0; i < 20; i++)
		case_put("doc", STR("1"));
	assert_null(now("j"));
	assert_string_equal(now("doc"), "1");
	sim_disk_restart(case_disk, true);
	sim_disk_free(&case_disk);
	case_disk = first;
	add(f, "two.");
	assert_int_equal(case_size(f), 8);
	case_disk->ops->close(f);
}

SIM_TEST(files_are_listed_sorted)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;

	sim_disk_put(case_disk, "/room/b", STR("1"));
	sim_disk_put(case_disk, "/other/c", STR("1"));
	sim_disk_put(case_disk, "/room/a", STR("1"));
	sim_disk_remove(case_disk, "/room/b");
	sim_disk_list(case_disk, &got);
	assert_string_equal(got.s, "/other/c\n/room/a\n");
	sim_disk_remove(case_disk, "/room/none");
	assert_false(sim_disk_get(case_disk, "/room/none", &got));
}

/* Names that no sync ever made durable do not pile up. */
SIM_TEST(names_do_not_pile_up)
{
	struct error err;

	for (int i = 0; i < 1000; i++) {
		case_put("new", STR("1"));
		assert_int_equal(
			case_disk->ops->rename(case_disk, case_path("new"), case_path("doc"), &err),
			0);
	}
	sim_disk_restart(case_disk, true);
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

SIM_TEST(one_seed_gives_one_run)
{
	CLEANUP(buf_release) struct buf first = BUF_INIT, second = BUF_INIT;
	bool differ = false;

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
	struct disk *whole = case_disk;

	for (uint64_t seed = 0; seed < 400; seed++) {
		case_disk = sim_disk_copy(whole);
		sim_disk_seed(case_disk, seed);
		sim_disk_restart(case_disk, true);
		note_seen(picture());
		sim_disk_free(&case_disk);
	}
	case_disk = whole;
}

static const char *journal_picture(void)
{
	return now("j");
}

SIM_TEST(synced_bytes_stay)
{
	struct disk_file *f = journal("one.");
	struct error err;

	add(f, "two.");
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	case_disk->ops->close(f);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.two.\n");
}

SIM_TEST(of_the_rest_any_prefix_may_be_left)
{
	struct disk_file *f = journal("one.");

	add(f, "2345");
	case_disk->ops->close(f);
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

	assert_true(sim_disk_get(case_disk, case_path("j"), &got));
	assert_memory_equal(got.s, "one.", 4);
	for (size_t i = 0; i < got.len; i++) {
		zeros += got.s[i] == '\0';
		last = got.s[i] ? i : last;
	}
	return !zeros ? "whole" : last > got.len - zeros ? "zeros within" : "zeros behind";
}

SIM_TEST(blocks_may_be_zeros)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct disk_file *f = journal("one.");

	for (int i = 0; i < 5000; i++)
		buf_addc(&text, 'x');
	add(f, text.s);
	case_disk->ops->close(f);
	cut_power(holes_picture);
	assert_true(was_seen("whole"));
	assert_true(was_seen("zeros within"));
	assert_true(was_seen("zeros behind"));
}

SIM_TEST(a_cut_that_is_not_synced_may_come_back)
{
	struct disk_file *f = journal("one.two.");
	struct error err;

	assert_int_equal(case_disk->ops->truncate(f, 4, &err), 0);
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
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.3\n");
	case_disk->ops->close(f);
}

/* As on Linux: the next sync does not write what the one that failed has left. */
SIM_TEST(a_sync_does_not_repair_one_that_failed)
{
	struct disk_file *f = journal("one.");
	struct error err;

	add(f, "two.");
	sim_disk_plan(case_disk, 1, SIM_EIO);
	assert_int_equal(case_disk->ops->sync(f, &err), -1);
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	cut_power(holes_picture);
	assert_true(was_seen("whole"));
	assert_true(was_seen("zeros behind"));
	buf_clear(&seen);
	/* Cut off and written once more, it is as good as new. */
	assert_int_equal(case_disk->ops->truncate(f, 4, &err), 0);
	add(f, "two.");
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.two.\n");
	add(f, "six.");
	sim_disk_plan(case_disk, 1, SIM_EIO);
	assert_int_equal(case_disk->ops->sync(f, &err), -1);
	assert_int_equal(case_disk->ops->rewrite(f, 8, &err), 0);
	assert_int_equal(case_disk->ops->sync(f, &err), 0);
	buf_clear(&seen);
	cut_power(journal_picture);
	assert_string_equal(seen.s, "one.two.six.\n");
	case_disk->ops->close(f);
}

SIM_TEST(a_new_file_may_be_gone_until_its_directory_is_synced)
{
	case_put("doc", STR("1"));
	cut_power(names_picture);
	assert_int_equal(seen.len, strlen("-,-\n1,-\n"));
	assert_true(was_seen("-,-"));
	assert_true(was_seen("1,-"));
	buf_clear(&seen);
	sync_root();
	cut_power(names_picture);
	assert_string_equal(seen.s, "1,-\n");
}

SIM_TEST(a_rename_is_done_as_a_whole_or_not)
{
	struct error err;

	case_put("doc", STR("1"));
	case_put("new", STR("2"));
	sync_root();
	assert_int_equal(
		case_disk->ops->rename(case_disk, case_path("new"), case_path("doc"), &err), 0);
	sim_disk_unordered(case_disk, true);
	cut_power(names_picture);
	assert_int_equal(seen.len, strlen("1,2\n2,-\n"));
	assert_true(was_seen("1,2"));
	assert_true(was_seen("2,-"));
	buf_clear(&seen);
	sync_root();
	cut_power(names_picture);
	assert_string_equal(seen.s, "2,-\n");
}

SIM_TEST(a_removal_may_not_be_done)
{
	struct error err;

	case_put("doc", STR("1"));
	sync_root();
	assert_int_equal(case_disk->ops->unlink(case_disk, case_path("doc"), &err), 0);
	cut_power(names_picture);
	assert_true(was_seen("1,-"));
	assert_true(was_seen("-,-"));
}

static void make_order(void)
{
	struct error err;

	case_put("doc", STR("1"));
	case_put("new", STR("2"));
	sync_root();
	assert_int_equal(
		case_disk->ops->rename(case_disk, case_path("new"), case_path("doc"), &err), 0);
	case_put("new", STR("3"));
}

SIM_TEST(names_come_back_as_they_were_at_some_moment)
{
	make_order();
	cut_power(names_picture);
	assert_int_equal(seen.len, strlen("1,2\n2,-\n2,3\n"));
	assert_true(was_seen("1,2"));
	assert_true(was_seen("2,-"));
	assert_true(was_seen("2,3"));
}

SIM_TEST(unordered_names_come_back_in_any_choice)
{
	sim_disk_unordered(case_disk, true);
	make_order();
	cut_power(names_picture);
	assert_true(was_seen("1,2"));
	assert_true(was_seen("2,3"));
	assert_true(was_seen("1,3"));
}

/* Only the directory that is synced. */
SIM_TEST(a_sync_of_another_directory_keeps_nothing)
{
	struct error err;

	assert_int_equal(case_disk->ops->mkdirs(case_disk, "/else", &err), 0);
	case_put("doc", STR("1"));
	assert_int_equal(case_disk->ops->sync_directory(case_disk, "/else", &err), 0);
	cut_power(names_picture);
	assert_true(was_seen("-,-"));
}

DISK_CASES(begin, forget)
