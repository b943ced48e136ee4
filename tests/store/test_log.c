#include "tests/lib/store_rig.h"

/* Five commits with documents, keys and events; where each of them ends. */
static struct str journal;
static size_t ends[6];

static size_t size_of(void)
{
	return there(JOURNAL) ? strlen(file(JOURNAL)) : 0;
}

static void write_journal(void)
{
	CLEANUP(json_free) json *events = json_array(), *note = json_object();
	struct store_op ops[] = {{STORE_PUT, DOC, STR("one\ntwo\nthree\n"), 0, NULL},
		{STORE_PUT, "k", STR("v"), 0, NULL}};
	struct store_txn t = {.actor = "A",
		.opid = "1",
		.ops = ops,
		.n_ops = 2,
		.events = events,
		.note = note,
		.ts = "2026-11-21T03:48:12Z"};

	json_push(events, json_object());
	json_put_str(note, "op", STR("step"));
	open_store(STORE_HOLD);
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	ends[1] = size_of();
	put("k", "w");
	ends[2] = size_of();
	(void)get(DOC);
	put(DOC, "one\n2\nthree\n");
	ends[3] = size_of();
	put(DOC, NULL);
	ends[4] = size_of();
	put(DOC, "again\n");
	ends[5] = size_of();
	store_close(&rig.s);
	journal = str_of(file(JOURNAL));
}

RIG_TEST(a_journal_that_is_not_there_has_no_history)
{
	assert_string_equal(history(), "?");
	assert_int_equal(rig.err.code, ERR_INPUT);
	assert_error(&rig.err, "dev-team: no journal '" JOURNAL "'");
	assert_null(rig.reader);
	for (int i = 0; i < 2; i++) {
		edit(JOURNAL, i ? "{\"format\":2}\n" : "");
		assert_string_equal(history(), "");
		open_history();
		assert_int_equal(store_revision(rig.reader), 0);
		assert_int_equal(store_last_seq(rig.reader), 0);
	}
}

RIG_TEST(a_journal_cut_anywhere_is_as_after_its_last_whole_commit)
{
	static const char *const is[] = {
		"", "one\ntwo\nthree\n", "one\ntwo\nthree\n", "one\n2\nthree\n", "", "again\n"};

	write_journal();
	for (size_t cut = 0, last = 0; cut <= journal.n; cut++) {
		last += last < 5 && cut == ends[last + 1];
		sim_disk_put(rig.disk, JOURNAL, str_sub(journal, 0, cut));
		sim_disk_remove(rig.disk, PATH);
		if (*is[last])
			edit(PATH, is[last]);
		open_store(STORE_READ);
		assert_int_equal(store_revision(rig.s), last);
		open_store(STORE_WRITE);
		assert_int_equal(store_revision(rig.s), last);
		assert_int_equal(get(DOC).value.n, strlen(is[last]));
		assert_int_equal(store_revision(rig.s), last); /* it was not taken for an edit */
		if (last)
			assert_int_equal(size_of(), ends[last]);
		put("k", "x");
		has("k", "x");
		assert_null(strchr(history(), '!'));
		store_close(&rig.s);
	}
}

/* Where `at` lies: 1-based. */
static unsigned line_at(size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += journal.p[i] == '\n';
	return line;
}

RIG_TEST(a_flipped_bit_is_found_with_its_lines)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	write_journal();
	for (size_t at = 0; at < ends[4]; at++) {
		const char *h;

		buf_clear(&b);
		buf_add(&b, journal);
		b.s[at] ^= 1 << at % 7;
		sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
		h = history();
		if (!str_ends(str_of(h), "!"))
			fail_msg("byte %zu: '%s'", at, h);
		assert_int_equal(rig.err.code, ERR_INPUT);
		assert_string_equal(rig.err.file, JOURNAL);
		assert_true(rig.err.line + 1 >= line_at(at));
		assert_true(rig.err.line <= line_at(ends[5] - 1));
	}
	buf_clear(&b);
	buf_add(&b, journal);
	b.s[ends[1] + 30] ^= 1;
	sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
	(void)history();
	assert_error(&rig.err, JOURNAL ":5:1: damaged: lines 5 to 5 have a wrong checksum");
}

RIG_TEST(a_flipped_bit_in_the_last_commit_is_told_too)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	write_journal();
	buf_add(&b, journal);
	b.s[ends[4] + 50] ^= 1;
	sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
	assert_true(str_ends(str_of(history()), "!"));
}

RIG_TEST(a_transaction_that_is_missing_or_comes_twice_is_damage)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	write_journal();
	buf_add(&b, str_sub(journal, 0, ends[1]));
	buf_add(&b, str_sub(journal, ends[2], journal.n));
	sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
	assert_string_equal(history(), "1=one\ntwo\nthree\n!");
	assert_non_null(strstr(rig.err.text, "lines are missing before this one"));
	buf_clear(&b);
	buf_add(&b, str_sub(journal, 0, ends[2]));
	buf_add(&b, str_sub(journal, ends[1], journal.n));
	sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
	assert_string_equal(history(), "1=one\ntwo\nthree\n 2!");
	assert_non_null(strstr(rig.err.text, "a revision is repeated"));
}

/* One transaction can be incomplete; further damaged ones were durable, and are not cut. */
RIG_TEST(a_journal_that_is_damaged_at_its_end_is_left_alone)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	static const size_t places[] = {3, 4};

	write_journal();
	for (size_t i = 0; i < COUNT(places); i++) {
		buf_clear(&b);
		buf_add(&b, str_sub(journal, 0, ends[places[i]]));
		b.s[ends[2] + 60] ^= 1;
		if (i == 0)
			buf_adds(&b, "{\"seq\":");
		else
			b.s[ends[3] + 60] ^= 1;
		sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
		assert_fails(try_open(STORE_HOLD), rig.err, ERR_INPUT);
		assert_error(&rig.err,
			"dev-team: '" JOURNAL
			"' is damaged after commit 2: nothing was changed; move it away "
			"to begin a new one");
		file_is(JOURNAL, b.s);
		assert_string_equal(history(), "1=one\ntwo\nthree\n 2!");
	}
	buf_clear(&b);
	buf_adds(&b, "\n"); /* every offset is wrong now */
	buf_add(&b, journal);
	sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
	assert_int_equal(try_open(STORE_WRITE), -1);
	file_is(JOURNAL, b.s);
}

RIG_TEST(a_journal_of_another_format_is_refused)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	static const char *const others[][2] = {
		{"{\"commit\":6,\"format\":3,\"anything\":[]}\n",
			"has journal format 3; this version supports format 2"},
		{"{\"format\":3}\n{\"seq\":1,\"rev\":1}\n",
			"has journal format 3; this version supports format 2"},
		{"{\"seq\":1,\"rev\":1}\n", "is not a journal: its first line names no format; "
					    "move it away to begin a new one"},
	};

	write_journal();
	for (size_t i = 0; i < COUNT(others); i++) {
		buf_clear(&b);
		if (i == 0)
			buf_add(&b, journal);
		buf_adds(&b, others[i][0]);
		sim_disk_put(rig.disk, JOURNAL, buf_str(&b));
		for (int mode = STORE_READ; mode <= STORE_HOLD; mode++) {
			assert_fails(try_open((enum store_mode)mode), rig.err, ERR_INPUT);
			assert_string_equal(rig.err.text,
				arena_printf(&arena, "'" JOURNAL "' %s", others[i][1]));
		}
		assert_string_equal(history(), "?");
		assert_int_equal(rig.err.code, ERR_INPUT);
		file_is(JOURNAL, b.s);
	}
}

static int no_trust(struct disk *d, const char *dir, struct error *err)
{
	(void)d;
	return error_set(err, ERR_STATE, "'%s' is on a network file system", dir);
}

RIG_TEST(a_directory_that_cannot_be_trusted_is_refused_with_its_reason)
{
	struct disk_ops wary = *rig.disk->ops;

	wary.trusted = no_trust;
	rig.disk->ops = &wary;
	assert_fails(try_open(STORE_HOLD), rig.err, ERR_STATE);
	assert_error(&rig.err, "dev-team: '" DIRECTORY "' is on a network file system");
	assert_false(there(JOURNAL));
	assert_int_equal(try_open(STORE_READ), 0);
}
