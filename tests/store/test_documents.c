#include "tests/lib/store_rig.h"

static int64_t mod;
static bool by_hand; /* the get has found an edit and committed it */

static const char *text(void)
{
	int64_t before = store_revision(rig.s);
	struct store_kv kv = get(DOC);

	mod = kv.mod;
	by_hand = store_revision(rig.s) > before;
	return kv.value.n ? arena_dup(&arena, kv.value) : "";
}

#define is_by_hand(t, rev)                                                                         \
	do {                                                                                       \
		assert_string_equal(text(), t);                                                    \
		assert_true(by_hand);                                                              \
		assert_int_equal(mod, rev);                                                        \
	} while (0)
#define is_known(t, rev)                                                                           \
	do {                                                                                       \
		assert_string_equal(text(), t);                                                    \
		assert_false(by_hand);                                                             \
		assert_int_equal(mod, rev);                                                        \
	} while (0)

/* ---- edits by users ---- */

RIG_TEST(an_edit_by_hand_is_a_commit_of_its_own)
{
	struct store_commit c;

	open_store(STORE_HOLD);
	put(DOC, "one\ntwo\nthree\n");
	edit(PATH, "one\n2\nthree\n");
	is_by_hand("one\n2\nthree\n", 2);
	is_known("one\n2\nthree\n", 2);
	open_store(STORE_WRITE);
	is_known("one\n2\nthree\n", 2);
	open_history();
	next_commit(&c);
	next_commit(&c);
	assert_string_equal(c.actor, "hand");
	assert_string_equal(json_get_str(c.note, "op"), "edit");
	assert_str(c.text, "one\n2\nthree\n");
	assert_non_null(strstr(file(JOURNAL), "\"delta\":[[0,4],\"2\\n\",[8,14]]"));
}

RIG_TEST(any_bytes_are_an_edit)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	edit(PATH, "\xff\xfe broken\n---");
	is_by_hand("\xff\xfe broken\n---", 2);
	edit(PATH, "");
	is_by_hand("", 3);
	edit(PATH, "well\n");
	is_by_hand("well\n", 4);
	assert_string_equal(history(), "1=one\n 2=\xff\xfe broken\n--- 3= 4=well\n");
}

RIG_TEST(a_file_that_is_gone_is_a_commit_and_one_that_is_put_back_too)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	sim_disk_remove(rig.disk, PATH);
	is_by_hand("", 0);
	is_known("", 0);
	lacks(DOC);
	assert_int_equal(store_revision(rig.s), 2);
	edit(PATH, "one\n");
	is_by_hand("one\n", 3);
	assert_int_equal(get(DOC).create, 3);
	edit(PATH, "two\n");
	is_by_hand("two\n", 4);
	edit(PATH, "one\n"); /* as it was before */
	is_by_hand("one\n", 5);
	assert_string_equal(history(), "1=one\n 2=- 3=one\n 4=two\n 5=one\n");
}

RIG_TEST(a_file_that_nobody_has_committed_is_found)
{
	edit(PATH, "mine\n");
	open_store(STORE_READ);
	is_known("mine\n", STORE_UNCOMMITTED);
	open_store(STORE_WRITE);
	is_by_hand("mine\n", 1);
	put(DOC, "ours\n");
	file_is(PATH, "ours\n");
	assert_string_equal(history(), "1=mine\n 2=ours\n");
}

RIG_TEST(a_reader_has_the_file_as_it_is)
{
	struct store_kv kv;

	open_store(STORE_WRITE);
	put(DOC, "one\n");
	edit(PATH, "two\n");
	open_store(STORE_READ);
	kv = get(DOC);
	assert_str(kv.value, "two\n");
	assert_int_equal(kv.mod, 1);
	assert_int_equal(store_revision(rig.s), 1);
}

/* ---- writes ---- */

RIG_TEST(a_delta_that_the_caller_knows_is_taken_over)
{
	CLEANUP(delta_release) struct delta d = {0};
	struct store_op op = {STORE_PUT, DOC, STR("two\none\n"), 0, &d};
	struct store_txn t = {.ops = &op, .n_ops = 1};

	open_store(STORE_HOLD);
	put(DOC, "one\ntwo\n");
	delta_keep(&d, 0, 4, 4);
	delta_keep(&d, 4, 0, 4);
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	assert_non_null(strstr(file(JOURNAL), "\"delta\":[[4,8],[0,4]]"));
	edit(PATH, "two\none\nthree\n");
	is_by_hand("two\none\nthree\n", 3);
	assert_string_equal(history(), "1=one\ntwo\n 2=two\none\n 3=two\none\nthree\n");
}

RIG_TEST(a_text_is_told_from_the_one_before_whatever_the_caller_says)
{
	CLEANUP(delta_release) struct delta wrong = {0};
	struct store_op op = {STORE_PUT, DOC, STR("one\nII\n"), 0, &wrong};
	struct store_txn t = {.ops = &op, .n_ops = 1};

	open_store(STORE_HOLD);
	put(DOC, "one\ntwo\n");
	put(DOC, "one\n2\n");
	assert_non_null(strstr(file(JOURNAL), "\"delta\":[[0,4],\"2\\n\"]"));
	delta_keep(&wrong, 0, 1, 4);
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	assert_non_null(strstr(file(JOURNAL), "\"delta\":[[0,4],\"II\\n\"]"));
	assert_string_equal(history(), "1=one\ntwo\n 2=one\n2\n 3=one\nII\n");
}

RIG_TEST(an_edit_that_nobody_has_read_yet_refuses_a_guard)
{
	struct store_guard guard = {DOC, STORE_MOD_IS, 1};
	struct store_txn t = {.guards = &guard, .n_guards = 1};

	open_store(STORE_HOLD);
	put(DOC, "one\n");
	edit(PATH, "mine\n");
	assert_int_equal(put_in(&t, DOC, "ours\n"), STORE_REFUSED);
	assert_int_equal(rig.result.now[0].mod, 2);
	is_known("mine\n", 2);
	guard.rev = 2;
	edit(PATH, "mine too\n");
	assert_int_equal(put_in(&t, "k", "v"), STORE_REFUSED);
	sim_disk_remove(rig.disk, PATH);
	put(DOC, "ours\n"); /* without a guard too nothing is lost */
	assert_string_equal(history(), "1=one\n 2=mine\n 3=mine too\n 4=- 5=ours\n");
}

static struct str long_text(struct buf *b, int lines, int other)
{
	buf_clear(b);
	for (int i = 0; i < lines; i++)
		buf_addf(b, i == other ? "line %d is another\n" : "line %d\n", i);
	return buf_str(b);
}

RIG_TEST(large_documents_change_by_what_is_new)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	size_t before;

	open_store(STORE_HOLD);
	put(DOC, long_text(&b, 100000, -1).p);
	before = strlen(file(JOURNAL));
	assert_true(before > b.len);
	for (int i = 0; i < 20; i++) {
		edit(PATH, long_text(&b, 100000, i * 1000).p);
		assert_int_equal(get(DOC).mod, i + 2);
	}
	assert_true(strlen(file(JOURNAL)) < before + 20 * 15000);
	open_store(STORE_HOLD);
	edit(PATH, "short\n");
	is_by_hand("short\n", 22);
	assert_non_null(strstr(history(), "line 19000 is another\n"));
}

RIG_TEST(a_document_is_told_whole_again_before_its_changes_are_many)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	size_t whole = 0;

	open_store(STORE_HOLD);
	for (int i = 0; i < 1000; i++) {
		(void)get(DOC);
		put(DOC, long_text(&b, 30, i % 30).p);
	}
	for (const char *p = file(JOURNAL);
		(p = strstr(p, "\"delta\":[\"line 0\\nline 1\\nline 2\\n")); p++)
		whole++;
	assert_true(whole > 1 && whole < 40);
	edit(PATH, "short\n");
	is_by_hand("short\n", 1001);
	assert_null(strchr(history(), '!'));
}

/* ---- after a kill ---- */

RIG_TEST(what_was_staged_and_committed_is_put_in_place)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	store_close(&rig.s);
	edit(STAGED "2", "two\n");
	edit(PATH, "one\n");
	open_store(STORE_READ);
	is_known("two\n", 2);
	open_store(STORE_HOLD);
	file_is(PATH, "two\n");
	file_is(STAGED "2", "one\n");
	is_known("two\n", 2);
}

RIG_TEST(what_was_staged_and_not_committed_is_forgotten)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	store_close(&rig.s);
	edit(STAGED "2", "two\n");
	open_store(STORE_HOLD);
	file_is(PATH, "one\n");
	assert_false(there(STAGED "2"));
	assert_false(there(STAGED "1"));
	is_known("one\n", 1);
}

RIG_TEST(the_text_before_is_kept_until_the_exchange_is_durable)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	file_is(STAGED "2", "one\n");
	for (int again = 0; again < 2; again++) {
		store_close(&rig.s);
		open_store(STORE_HOLD);
		file_is(PATH, "two\n");
		file_is(STAGED "2", "one\n");
		is_known("two\n", 2);
	}
	put(DOC, "three\n");
	file_is(STAGED "3", "two\n");
	assert_false(there(STAGED "2"));
}

/* The files of a store may be moved or restored without the hidden ones: what those of another
 * time have is no edit. */
RIG_TEST(a_replaced_file_of_another_commit_is_no_edit)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	put(DOC, "three\n");
	store_close(&rig.s);
	edit(STAGED "1", "of an earlier commit\n");
	edit(STAGED "2", "of the commit before\n");
	edit(STAGED "4", "of a commit that was taken back\n");
	edit(STAGED "9", "of a later one\n");
	open_store(STORE_HOLD);
	is_known("three\n", 3);
	assert_string_equal(history(), "1=one\n 2=two\n 3=three\n");
}

/* A reader takes a staged file with the text of the last commit for a commit in progress. */
RIG_TEST(a_text_that_replaces_the_same_text_leaves_no_staged_file)
{
	edit(PATH, "one\n");
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	assert_false(there(STAGED "2"));
	put(DOC, "one\n");
	assert_false(there(STAGED "3"));
	store_close(&rig.s);
	edit(PATH, "by hand\n");
	open_store(STORE_READ);
	is_known("by hand\n", 2);
}

/* The text that recovery has read is not used for another get. */
RIG_TEST(an_edit_after_the_open_is_found)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	store_close(&rig.s);
	open_store(STORE_HOLD);
	is_known("two\n", 2);
	edit(PATH, "by hand\n");
	is_by_hand("by hand\n", 3);
}

RIG_TEST(what_was_staged_for_a_new_document_is_forgotten)
{
	edit(STAGED "1", "one\n");
	open_store(STORE_HOLD);
	is_known("", 0);
	assert_false(there(STAGED "1"));
}

RIG_TEST(an_edit_between_a_kill_and_the_next_open_is_not_lost)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	store_close(&rig.s);
	edit(STAGED "2", "two\n");
	edit(PATH, "one, edited\n");
	open_store(STORE_HOLD);
	is_by_hand("one, edited\n", 3);
	assert_string_equal(history(), "1=one\n 2=two\n 3=one, edited\n");
}

/* ---- edits of the file that a commit has replaced: a program had it open ---- */

static void begin_late(const char *late)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	edit(STAGED "2", late);
}

RIG_TEST(a_late_edit_is_found_by_the_next_open)
{
	begin_late("one, edited\n");
	for (int again = 0; again < 2; again++) {
		store_close(&rig.s);
		open_store(STORE_HOLD);
		assert_string_equal(text(), "one, edited\n");
		assert_int_equal(mod, 3);
		file_is(PATH, "one, edited\n");
		file_is(STAGED "2", "two\n");
	}
	assert_string_equal(history(), "1=one\n 2=two\n 3=one, edited\n");
}

RIG_TEST(a_late_edit_is_found_by_the_next_commit)
{
	struct store_guard guard = {DOC, STORE_MOD_IS, 2};
	struct store_txn t = {.guards = &guard, .n_guards = 1};

	begin_late("one, edited\n");
	assert_int_equal(put_in(&t, DOC, "three\n"), STORE_REFUSED);
	assert_int_equal(rig.result.now[0].mod, 3);
	put(DOC, "three\n");
	assert_string_equal(history(), "1=one\n 2=two\n 3=one, edited\n 4=three\n");
}

RIG_TEST(of_a_late_edit_and_another_one_both_are_kept)
{
	begin_late("late\n");
	edit(PATH, "two, edited\n");
	open_store(STORE_HOLD);
	is_by_hand("two, edited\n", 4);
	assert_string_equal(history(), "1=one\n 2=two\n 3=late\n 4=two, edited\n");
	open_store(STORE_HOLD);
	is_known("two, edited\n", 4);
	put(DOC, "five\n");
	edit(STAGED "5", "late again\n");
	sim_disk_remove(rig.disk, PATH);
	is_by_hand("", 0);
	assert_string_equal(
		history(), "1=one\n 2=two\n 3=late\n 4=two, edited\n 5=five\n 6=late again\n 7=-");
}

/* The replaced file still has the text before the last commit, not the one before the edit. */
RIG_TEST(a_late_edit_is_found_after_another_edit)
{
	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	edit(PATH, "by hand\n");
	is_by_hand("by hand\n", 3);
	open_store(STORE_HOLD);
	is_known("by hand\n", 3);
	edit(STAGED "2", "late\n");
	is_by_hand("late\n", 4);
	assert_string_equal(history(), "1=one\n 2=two\n 3=by hand\n 4=late\n");
}

/* Whoever opens the store after a kill may read a commit that was not synced. */
RIG_TEST(an_edit_that_was_read_after_a_kill_outlives_a_power_cut)
{
	for (unsigned call = 1; call < 12; call++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;
		struct store_kv kv;
		int64_t seen;

		sim_disk_free(&rig.disk);
		rig.disk = sim_disk_new(call);
		open_store(STORE_HOLD);
		put(DOC, "one\n");
		edit(PATH, "two\n");
		sim_disk_plan(rig.disk, call, SIM_STOP);
		(void)store_get_document(rig.s, DOC, &b, &kv, &rig.err);
		store_close(&rig.s);
		sim_disk_restart(rig.disk, false);
		open_store(STORE_HOLD);
		seen = store_revision(rig.s);
		store_close(&rig.s);
		edit(PATH, "three\n");
		sim_disk_restart(rig.disk, true);
		open_store(STORE_HOLD);
		has(DOC, "three\n");
		assert_true(get(DOC).mod > seen);
		store_close(&rig.s);
	}
}

/* A sync is not: after a failure a second one may succeed although data is lost. */
RIG_TEST(a_removal_that_fails_once_is_repeated)
{
	unsigned unknown = 0;

	for (unsigned call = 1; call < 20; call++) {
		struct store_txn t = {0};

		sim_disk_free(&rig.disk);
		rig.disk = sim_disk_new(call);
		open_store(STORE_HOLD);
		put(DOC, "one\n");
		sim_disk_plan(rig.disk, call, SIM_EIO);
		unknown += put_in(&t, DOC, NULL) == STORE_UNKNOWN;
		store_close(&rig.s);
	}
	assert_int_equal(unknown, 1);
}
