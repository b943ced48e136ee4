#include "src/sys/digest.h"
#include "tests/lib/store_rig.h"

/* How much of a long journal each question reads. */

enum { COMMITS = 10000 };

static struct disk_ops counting;
static const struct disk_ops *under;
static size_t bytes_read;

static int count_pread(
	struct disk_file *f, int64_t at, size_t n, struct buf *out, struct error *err)
{
	bytes_read += n;
	return under->pread(f, at, n, out, err);
}

static int count_open(struct disk *d, const char *path, bool make, bool *made,
	struct disk_file **out, struct error *err)
{
	int rc = under->open(d, path, make, made, out, err);

	if (rc == 0)
		(*out)->ops = &counting;
	return rc;
}

static void count_reads(void)
{
	under = rig.disk->ops;
	counting = *under;
	counting.pread = count_pread;
	counting.open = count_open;
	rig.disk->ops = &counting;
}

static const char *text_of(int rev)
{
	struct buf text = BUF_INIT;
	const char *kept;

	for (int line = 0; line < 20; line++)
		buf_addf(&text, "line %d: %d\n", line, line == rev % 20 ? rev : 0);
	kept = arena_dup(&arena, buf_str(&text));
	buf_release(&text);
	return kept;
}

/* Every tenth commit changes the document; each has an event. */
static void write_long_journal(void)
{
	CLEANUP(json_free) json *events = json_array();
	struct store_txn t = {.events = events};
	json *event = json_object();

	json_put_str(event, "type", STR("x"));
	json_push(events, event);
	open_store(STORE_HOLD);
	for (int rev = 1; rev <= COMMITS; rev++) {
		assert_int_equal(
			put_in(&t, rev % 10 == 1 ? DOC : "k", rev % 10 == 1 ? text_of(rev) : "v"),
			STORE_OK);
	}
	store_close(&rig.s);
}

/* Reads `n` commits of the range; returns the last of them. */
static struct store_commit read_range(struct store_range range, unsigned n)
{
	struct store_commit c = {0};

	bytes_read = 0;
	store_history_close(&rig.history);
	store_close(&rig.reader);
	assert_int_equal(store_open(&rig.reader, store_files(rig.disk), DIRECTORY, "T",
				 STORE_HISTORY, 0, &rig.err),
		0);
	assert_int_equal(store_history(rig.reader, &range, &rig.history, &rig.err), STORE_OK);
	while (n--)
		next_commit(&c);
	return c;
}

RIG_TEST(a_question_reads_what_it_needs_of_10000_commits)
{
	struct store_commit c;
	size_t all;

	write_long_journal();
	count_reads();
	all = strlen(file(JOURNAL));
	assert_true(all > 2 << 20);
	c = read_range((struct store_range){.backwards = true}, 10);
	assert_int_equal(c.rev, COMMITS - 9);
	assert_true(bytes_read < 64 << 10);
	c = read_range((struct store_range){.from = 4001, .backwards = true, .texts = true}, 1);
	assert_true(str_is(c.text, text_of(4001)));
	assert_true(bytes_read < 1 << 20);
	c = read_range((struct store_range){.from = 4009, .backwards = true, .texts = true}, 9);
	assert_true(str_is(c.text, text_of(4001)));
	assert_true(bytes_read < 1 << 20);
	c = read_range((struct store_range){.from = COMMITS - 1, .texts = true}, 2);
	assert_int_equal(c.rev, COMMITS);
	assert_true(bytes_read < 128 << 10);
	c = read_range((struct store_range){.after_seq = COMMITS - 3}, 3);
	assert_int_equal(c.rev, COMMITS);
	assert_true(bytes_read < 128 << 10);
	(void)read_range((struct store_range){0}, COMMITS);
	assert_true(bytes_read >= all && bytes_read < all + (all >> 2));
	(void)read_range((struct store_range){.texts = true}, COMMITS);
	assert_true(bytes_read < all + (all >> 1)); /* a text comes from the one before */
}

RIG_TEST(a_change_makes_the_text_of_the_one_before)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_commit c;

	open_store(STORE_HOLD);
	for (int rev = 1; rev <= 3; rev++)
		put(DOC, text_of(rev));
	c = read_range((struct store_range){.texts = true, .changes = true}, 1);
	for (int rev = 1; rev <= 3; rev++) {
		assert_int_equal(store_history_text(rig.history, &c, &text, &rig.err), 0);
		assert_string_equal(text.s, text_of(rev));
		if (rev < 3)
			next_commit(&c);
	}
	buf_clear(&text);
	assert_int_equal(store_history_text(rig.history, &c, &text, &rig.err), -1);
}

RIG_TEST(a_digest_names_the_last_commit)
{
	struct store_commit c;

	open_store(STORE_HOLD);
	put("k", "v");
	c = read_range((struct store_range){.backwards = true}, 1);
	assert_string_equal(store_digest(rig.s), c.digest);
	put("k", "v");
	assert_string_not_equal(store_digest(rig.s), c.digest);
	c = read_range((struct store_range){.backwards = true}, 1);
	assert_string_equal(store_digest(rig.s), c.digest);
}

/* A search that begins right where the line of a commit begins finds that commit. */
RIG_TEST(a_revision_is_found_wherever_its_line_begins)
{
	CLEANUP(buf_release) struct buf value = BUF_INIT;

	open_store(STORE_HOLD);
	put("k", "v");
	for (size_t n = 0; n < 16 << 10; n++)
		buf_addc(&value, 'v');
	for (; value.len > 15 << 10; buf_cut(&value, value.len - 1)) {
		CLEANUP(store_history_close) struct store_history *h = NULL;
		struct store_range range = {.from = put("k", value.s)};
		struct store_commit c;

		assert_int_equal(store_history(rig.s, &range, &h, &rig.err), STORE_OK);
		assert_int_equal(store_history_next(h, &c, &rig.err), 1);
		assert_int_equal(c.rev, range.from);
	}
}

/* Nothing was committed since the last operation, so the journal's end is compared, not read. */
RIG_TEST(an_operation_on_an_unchanged_store_reads_no_commit)
{
	open_store(STORE_HOLD);
	put("k", "v");
	store_close(&rig.s);
	count_reads();
	open_store(STORE_WRITE);
	for (int i = 0; i < 3; i++) {
		bytes_read = 0;
		has("k", "v");
		assert_true(bytes_read < 64);
		bytes_read = 0;
		if (i)
			put("k", "v");
		assert_true(bytes_read < 64);
	}
}

/* A document that a transaction both guards and puts is compared with its last text once. */
RIG_TEST(a_guard_on_a_document_that_is_put_reads_it_no_more_often)
{
	struct store_guard guard = {DOC, STORE_MOD_IS, 0};
	struct store_txn t = {.guards = &guard};
	unsigned reads[4];

	open_store(STORE_HOLD);
	put(DOC, "0\n");
	for (int i = 0; i < 4; i++) {
		unsigned before = sim_disk_reads(rig.disk);

		t.n_guards = (size_t)i % 2;
		guard.rev = store_revision(rig.s);
		assert_int_equal(put_in(&t, DOC, arena_printf(&arena, "%d\n", i)), STORE_OK);
		reads[i] = sim_disk_reads(rig.disk) - before;
	}
	assert_int_equal(reads[3], reads[2]);
}

RIG_TEST(an_open_of_a_store_in_order_changes_nothing)
{
	unsigned before;

	open_store(STORE_HOLD);
	put("k", "v");
	put(DOC, "one\n");
	before = sim_disk_calls(rig.disk);
	open_store(STORE_HOLD);
	assert_int_equal(sim_disk_calls(rig.disk), before);
}

/* An open that recovers has read the document. */
RIG_TEST(the_first_get_after_an_open_does_not_read_the_document_again)
{
	unsigned before;

	open_store(STORE_HOLD);
	put(DOC, "one\n");
	put(DOC, "two\n");
	open_store(STORE_HOLD);
	before = sim_disk_reads(rig.disk);
	has(DOC, "two\n");
	assert_int_equal(sim_disk_reads(rig.disk), before);
}
