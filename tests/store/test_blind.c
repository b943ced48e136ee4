/*
 * An error of the disk when it is asked for a file or its length does not mean that the file is
 * missing. Its data must not be lost, and no new file may be begun.
 */
#include <errno.h>
#include "tests/lib/store_rig.h"

static struct {
	const struct disk_ops *real;
	struct disk_ops ops;
	int exists, size; /* which call from now on fails; 0: none */
	int edits;        /* the number of edits of the document while it is being staged */
	bool late;        /* the file that the last commit has replaced is edited then */
	int half;         /* how often an edit is looked at before it is complete */
	bool over;        /* the document is edited after the next exchange */
	int back;         /* how often the document is looked for before an editor has made it */
} blind;

static bool strikes(int *n, struct error *err)
{
	if (!*n || --*n)
		return false;
	errno = EIO;
	error_errno(err, "cannot look");
	return true;
}

static int blind_exists(struct disk *d, const char *path, bool *there, struct error *err)
{
	if (blind.back && strcmp(path, PATH) == 0 && !--blind.back)
		sim_disk_put(d, PATH, STR("back"));
	return strikes(&blind.exists, err) ? -1 : blind.real->exists(d, path, there, err);
}

static int blind_size(struct disk_file *f, int64_t *size, struct error *err)
{
	return strikes(&blind.size, err) ? -1 : blind.real->size(f, size, err);
}

static int blind_open(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	int rc = blind.real->open(d, path, make, made, out, err);

	if (rc == 0)
		(*out)->ops = &blind.ops;
	return rc;
}

static int busy_write(
	struct disk *d, const char *path, const char *like, struct str text, struct error *err)
{
	int rc = blind.real->write(d, path, like, text, err);

	if (blind.edits && blind.edits--)
		sim_disk_put(d, PATH, str_of(arena_printf(&arena, "by hand %d", blind.edits)));
	if (blind.late && there(STAGED "4"))
		sim_disk_put(d, STAGED "4", STR("late"));
	return rc;
}

static int busy_exchange(struct disk *d, const char *from, const char *to, struct error *err)
{
	int rc = blind.real->exchange(d, from, to, err);

	if (blind.over)
		sim_disk_put(d, to, STR("over"));
	blind.over = false;
	return rc;
}

static bool half_written(struct disk *d, const char *path)
{
	if (blind.half && !--blind.half)
		sim_disk_put(d, path, STR("half and half"));
	return blind.half;
}

static int begin_blind(void **state)
{
	(void)store_rig_begin(state);
	blind.real = rig.disk->ops;
	blind.ops = *blind.real;
	blind.ops.exists = blind_exists;
	blind.ops.size = blind_size;
	blind.ops.open = blind_open;
	blind.ops.write = busy_write;
	blind.ops.exchange = busy_exchange;
	blind.ops.being_written = half_written;
	blind.edits = blind.half = blind.back = 0;
	blind.late = blind.over = false;
	blind.exists = blind.size = 0;
	rig.disk->ops = &blind.ops;
	return 0;
}

/* The result of a clean open, with the history; on a copy. */
static const char *found(const struct disk *disk)
{
	struct disk *mine = sim_disk_copy(disk), *kept = rig.disk;
	const char *text;
	struct store_kv kv;

	mine->ops = blind.real;
	rig.disk = mine;
	open_store(STORE_HOLD);
	kv = get(DOC);
	text = arena_printf(&arena, "%.*s %s", (int)kv.value.n, kv.value.p, history());
	store_close(&rig.s);
	rig.disk = kept;
	sim_disk_free(&mine);
	return text;
}

static void open_blindly(const struct disk *before, int exists, int size)
{
	const char *want = found(before);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_kv kv;

	rig.disk = sim_disk_copy(before);
	rig.disk->ops = &blind.ops;
	blind.exists = exists;
	blind.size = size;
	if (try_open(STORE_HOLD) < 0)
		assert_int_equal(rig.err.code, ERR_SYSTEM);
	else if (store_get_document(rig.s, DOC, &text, &kv, &rig.err) == STORE_OK)
		assert_true(str_starts(
			str_of(want), arena_printf(&arena, "%s ", text.len ? text.s : "")));
	store_close(&rig.s);
	blind.exists = blind.size = 0;
	assert_string_equal(found(rig.disk), want);
	sim_disk_free(&rig.disk);
}

UNIT_TEST(what_cannot_be_told_is_not_taken_for_no, begin_blind, store_rig_end)
{
	struct disk *disk = rig.disk;
	struct store_txn t = {0};

	open_store(STORE_HOLD);
	put(DOC, "old");
	store_close(&rig.s);
	for (unsigned n = 1; n < 12; n++) {
		struct disk *stopped = sim_disk_copy(disk);

		stopped->ops = &blind.ops;
		rig.disk = stopped;
		open_store(STORE_HOLD);
		sim_disk_plan(stopped, n, SIM_STOP);
		(void)put_in(&t, DOC, "new");
		store_close(&rig.s);
		sim_disk_restart(stopped, n % 2);
		for (int k = 1; k < 6; k++) {
			open_blindly(stopped, k, 0);
			open_blindly(stopped, 0, k);
		}
		sim_disk_free(&stopped);
	}
	rig.disk = disk;
}

UNIT_TEST(a_reader_is_told_too, begin_blind, store_rig_end)
{
	open_store(STORE_HOLD);
	put("k", "v");
	for (int call = 1; call <= 3; call++) {
		blind.exists = call;
		assert_fails(try_open((enum store_mode)(STORE_READ | STORE_MARKED)), rig.err,
			ERR_SYSTEM);
	}
}

static enum store_status replace(int64_t mod)
{
	struct store_guard guard = {DOC, STORE_MOD_IS, mod};
	struct store_txn t = {.guards = &guard, .n_guards = mod != 0};

	return put_in(&t, DOC, "new");
}

UNIT_TEST(an_edit_while_a_document_is_staged_is_not_written_over, begin_blind, store_rig_end)
{
	open_store(STORE_HOLD);
	put(DOC, "old");
	blind.edits = 1;
	assert_int_equal(replace(1), STORE_REFUSED);
	assert_int_equal(rig.result.now[0].mod, 2);
	file_is(PATH, "by hand 0");
	blind.edits = 2;
	assert_int_equal(replace(0), STORE_OK); /* nobody asked for what was there */
	file_is(PATH, "new");
	store_close(&rig.s);
	assert_string_equal(history(), "1=old 2=by hand 0 3=by hand 1 4=by hand 0 5=new");
	open_store(STORE_HOLD);
	blind.edits = 1000;
	assert_int_equal(replace(0), STORE_TIMEOUT);
	assert_int_equal(rig.err.code, ERR_STATE);
}

UNIT_TEST(an_edit_of_the_replaced_file_while_a_document_is_staged_is_not_lost, begin_blind,
	store_rig_end)
{
	open_store(STORE_HOLD);
	put(DOC, "one");
	edit(PATH, "two");
	assert_int_equal(replace(0), STORE_OK);
	assert_true(there(STAGED "3"));
	put(DOC, "three");
	blind.late = true;
	assert_int_equal(replace(4), STORE_REFUSED);
	blind.late = blind.over = false;
	file_is(PATH, "late");
	assert_string_equal(history(), "1=one 2=two 3=new 4=three 5=late");
}

UNIT_TEST(an_edit_is_committed_when_it_is_complete, begin_blind, store_rig_end)
{
	open_store(STORE_HOLD);
	put(DOC, "one");
	edit(PATH, "half");
	blind.half = 3;
	has(DOC, "half and half");
	edit(PATH, "and no more");
	blind.half = 1000;
	has(DOC, "and no more");
	open_store(STORE_READ);
	edit(PATH, "half");
	blind.half = 2;
	has(DOC, "half and half");
	assert_string_equal(history(), "1=one 2=half and half 3=and no more");
}

/* Some editors rename a file to a backup before they make the new one. */
UNIT_TEST(a_document_that_an_editor_renames_is_not_removed, begin_blind, store_rig_end)
{
	open_store(STORE_HOLD);
	put(DOC, "one");
	sim_disk_remove(rig.disk, PATH);
	blind.back = 3;
	has(DOC, "back");
	open_store(STORE_READ);
	sim_disk_remove(rig.disk, PATH);
	blind.back = 3;
	has(DOC, "back");
	open_store(STORE_HOLD);
	sim_disk_remove(rig.disk, PATH);
	blind.back = 1000;
	lacks(DOC);
	blind.back = 2;
	lacks(DOC);
	assert_int_equal(blind.back, 2); /* a removed document is not awaited */
	assert_string_equal(history(), "1=one 2=back 3=-");
}

/* ---- reads that fail ---- */

struct question {
	enum store_mode mode;
	struct store_range range;
	int64_t watch; /* from this revision; 0: the history of `range` */
	bool document; /* its text instead */
};

/* False: the answer is an error. */
static bool ask(const struct question *q, struct buf *out)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_change *c;
	struct store_commit commit;
	struct store_kv kv;
	int64_t next;
	size_t n;
	int rc = 0;

	if (store_open(&s, store_files(rig.disk), DIRECTORY, "T", q->mode, 0, &rig.err) < 0)
		return false;
	if (q->document)
		return store_get_document(s, DOC, out, &kv, &rig.err) == STORE_OK;
	if (q->watch) {
		if (store_watch(s, &arena, "", q->watch, 0, 1000, &c, &n, &next, &rig.err) !=
			STORE_OK)
			return false;
		for (size_t i = 0; i < n; i++)
			buf_addf(out, "%lld %.*s ", (long long)c[i].rev, (int)c[i].kv.key.n,
				c[i].kv.key.p);
		return true;
	}
	if (store_history(s, &q->range, &h, &rig.err) != STORE_OK)
		return false;
	while ((rc = store_history_next(h, &commit, &rig.err)) > 0)
		buf_addf(out, "%lld %.*s %.*s", (long long)commit.rev, (int)commit.text.n,
			commit.text.p, (int)commit.events.n, commit.events.p);
	return rc == 0;
}

/* The beginning of the journal is cut off; what stays is much longer than one read. */
static int64_t write_long_journal(void)
{
	CLEANUP(json_free) json *events = json_array();
	struct store_txn t = {.events = events};

	json_push(events, json_object());
	open_store(STORE_HOLD);
	for (int i = 0; i < 40; i++) {
		char *text = arena_printf(&arena, "%0*d\n%d\n", 2000 + i, 7, i);

		assert_int_equal(put_in(&t, i % 3 ? "k" : DOC, text), STORE_OK);
		if (i == 9)
			assert_int_equal(store_compact(rig.s, 8, &rig.err), STORE_OK);
	}
	store_close(&rig.s);
	return rig.result.rev;
}

/* The first commit is longer than what an open reads, and its line is not at the beginning. */
RIG_TEST(an_open_that_cannot_read_a_commit_fails)
{
	char *value = arena_printf(&arena, "%012000d", 7);
	int rc = -1;

	open_store(STORE_HOLD);
	put("k", value);
	for (int i = 0; i < 9; i++)
		put("other", arena_printf(&arena, "%0900d", i));
	store_close(&rig.s);
	for (unsigned n = 1; rc < 0; n++) {
		sim_disk_plan_read(rig.disk, n);
		rc = try_open(STORE_READ);
		sim_disk_plan_read(rig.disk, 0);
		if (rc < 0)
			assert_int_equal(rig.err.code, ERR_SYSTEM);
	}
	open_store(STORE_READ);
	assert_true(str_is(get("k").value, value));
}

RIG_TEST(an_answer_is_right_though_a_read_fails_or_is_an_error)
{
	int64_t last = write_long_journal();
	const struct question questions[] = {
		{STORE_READ, .range = {.texts = true}},
		{STORE_READ, .range = {.texts = true, .backwards = true}},
		{STORE_READ, .range = {.from = 25, .texts = true}},
		{STORE_READ, .range = {.from = 25, .texts = true, .backwards = true}},
		{STORE_READ, .range = {.after_seq = last / 2}},
		{STORE_HISTORY, .range = {.from = last - 2, .texts = true}},
		{STORE_READ, .watch = 9},
		{STORE_WRITE, .watch = last - 3},
		{STORE_READ, .document = true},
	};

	edit(PATH, "by hand");
	for (size_t i = 0; i < COUNT(questions); i++) {
		CLEANUP(buf_release) struct buf right = BUF_INIT;
		unsigned before = 0;

		assert_true(ask(&questions[i], &right) && right.len);
		for (unsigned n = 1; sim_disk_reads(rig.disk) - before >= n - 1; n++) {
			CLEANUP(buf_release) struct buf text = BUF_INIT;

			before = sim_disk_reads(rig.disk);
			sim_disk_plan_read(rig.disk, n);
			rig.err = (struct error){0};
			if (ask(&questions[i], &text))
				assert_true(str_eq(buf_str(&text), buf_str(&right)));
			else
				assert_int_equal(rig.err.code, ERR_SYSTEM);
			sim_disk_plan_read(rig.disk, 0);
		}
	}
}

/* A program had the document open, and the disk makes it wait. */
UNIT_TEST(an_edit_of_the_replaced_file_that_has_begun_is_awaited, begin_blind, store_rig_end)
{
	open_store(STORE_HOLD);
	put(DOC, "one");
	put(DOC, "two");
	blind.half = 3;
	assert_int_equal(replace(2), STORE_REFUSED);
	assert_int_equal(blind.half, 0);
	assert_string_equal(history(), "1=one 2=two 3=half and half");
}

/* An editor that has read the document before a late edit was put back does not know of that. */
UNIT_TEST(a_late_edit_is_not_lost_when_the_next_one_overwrites_it, begin_blind, store_rig_end)
{
	open_store(STORE_HOLD);
	put(DOC, "one");
	put(DOC, "two");
	edit(STAGED "2", "late");
	blind.over = true;
	has(DOC, "over");
	assert_string_equal(history(), "1=one 2=two 3=late 4=over");
}
