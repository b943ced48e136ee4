#include "tests/lib/store_rig.h"

static json *event_of(const char *key, const char *value)
{
	json *e = json_object();

	if (key)
		json_put_str(e, key, str_of(value));
	return e;
}

RIG_TEST(events_are_numbered_lines)
{
	CLEANUP(json_free) json *events = json_array();
	struct store_txn t = {.events = events, .ts = "2026-11-21T00:00:00Z"};

	json_push(events, event_of("type", "a"));
	json_push(events, event_of(NULL, NULL));
	json_push(events, event_of("ts", "then"));
	open_store(STORE_HOLD);
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	assert_int_equal(store_last_seq(rig.s), 3);
	assert_true(str_starts(str_of(file(JOURNAL)),
		"{\"format\":2}\n"
		"{\"seq\":1,\"rev\":1,\"ts\":\"2026-11-21T00:00:00Z\",\"type\":\"a\"}\n"
		"{\"seq\":2,\"rev\":1,\"ts\":\"2026-11-21T00:00:00Z\"}\n"
		"{\"seq\":3,\"rev\":1,\"ts\":\"then\"}\n"
		"{\"commit\":1,\"format\":2,\"ts\":\"2026-11-21T00:00:00Z\","));
	assert_int_equal(put_in(&t, NULL, NULL), STORE_OK);
	open_store(STORE_WRITE);
	assert_int_equal(store_last_seq(rig.s), 6);
}

/* ---- leases ---- */

/* The first look of a writer commits the new end, or each look would start the time again. */
RIG_TEST(a_clock_that_is_set_back_does_not_extend_a_lease)
{
	struct store_op op = {STORE_PUT, "claim", STR("me"), 100, NULL};
	struct store_txn t = {.ops = &op, .n_ops = 1};
	static const struct {
		int64_t now;
		enum store_mode mode;
		int64_t until;
		const char *put;
	} times[] = {
		{1800000000, STORE_WRITE, 1800000100, NULL},
		{1700000000, STORE_READ, 1700000100, NULL},
		{1700000050, STORE_READ, 1700000150, NULL}, /* a reader writes nothing */
		{1700000060, STORE_WRITE, 1700000160, NULL},
		{1700000061, STORE_READ, 1700000160, NULL},
		{1700000159, STORE_WRITE, 1700000160, "a commit changes nothing"},
		{1600000000, STORE_HOLD, 1600000100, NULL},
		{1600000001, STORE_HOLD, 1600000100, NULL},
		{1800000000, STORE_WRITE, 0, NULL},
		{1600000099, STORE_WRITE, 1600000100, NULL}, /* no commit since the last row */
		{1600000100, STORE_HOLD, 0, "it stays over"},
		{1600000000, STORE_HOLD, 0, NULL},
	};

	open_store(STORE_HOLD);
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	for (size_t i = 0; i < COUNT(times); i++) {
		clock_fix(times[i].now);
		open_store(times[i].mode);
		if (times[i].put)
			put("any", times[i].put);
		assert_int_equal(get("claim").until, times[i].until);
	}
	assert_string_equal(history(), "1 2 3 4 5");
}

RIG_TEST(a_compacted_store_has_its_keys_and_its_numbers_and_no_more_history)
{
	CLEANUP(json_free) json *events = json_array();
	struct store_txn t = {.events = events, .actor = "A", .opid = "1"};
	struct store_change *c;
	int64_t next;
	size_t n, before;

	json_push(events, event_of("type", "a"));
	open_store(STORE_WRITE);
	put(DOC, "one\ntwo\n");
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	for (int i = 0; i < 500; i++)
		put("n", arena_printf(&arena, "%d", i));
	before = strlen(file(JOURNAL));
	assert_int_equal(store_compact(rig.s, 500, &rig.err), STORE_OK);
	assert_true(strlen(file(JOURNAL)) < before / 10);
	assert_int_equal(store_watch(rig.s, &arena, "", 499, 0, 9, &c, &n, &next, &rig.err),
		STORE_COMPACTED);
	assert_error(&rig.err, "dev-team: history before revision 500 is no longer kept");
	assert_int_equal(
		store_watch(rig.s, &arena, "", 500, 0, 9, &c, &n, &next, &rig.err), STORE_OK);
	assert_int_equal(n, 3);
	for (int i = 0; i < 3; i++) {
		has(DOC, "one\ntwo\n");
		assert_int_equal(get(DOC).mod, 1);
		has("k", "v");
		has("n", "499");
		assert_int_equal(get("n").create, 3);
		assert_int_equal(store_last_seq(rig.s), 1);
		assert_int_equal(store_revision(rig.s), 503);
		open_store(i ? STORE_READ : STORE_HOLD);
	}
	open_store(STORE_HOLD);
	assert_int_equal(put_in(&t, "k", "w"), STORE_OK);
	assert_int_equal(rig.result.rev, 2);
	edit(PATH, "one\n2\n");
	has(DOC, "one\n2\n");
	assert_string_equal(history(), "500 501 502 503 504=one\n2\n");
	assert_int_equal(store_compact(rig.s, 9999, &rig.err), STORE_OK);
	assert_string_equal(history(), "505");
	assert_int_equal(store_compact(rig.s, 3, &rig.err), STORE_OK);
	has(DOC, "one\n2\n");
	put(DOC, "one\n2\nthree\n");
	assert_string_equal(history(), "505 506=one\n2\nthree\n");
}

RIG_TEST(a_handle_sees_that_another_has_compacted)
{
	CLEANUP(store_close) struct store *other = NULL;

	open_store(STORE_WRITE);
	put("a", "1");
	put("a", "2");
	assert_int_equal(
		store_open(&other, store_files(rig.disk), DIRECTORY, "T", STORE_WRITE, 0, &rig.err),
		0);
	assert_int_equal(store_compact(other, 3, &rig.err), STORE_OK);
	assert_int_equal(put("a", "3"), 4);
	has("a", "3");
	open_store(STORE_READ);
	has("a", "3");
	assert_string_equal(history(), "3 4");
}

/* ---- modes and limits ---- */

RIG_TEST(a_reader_changes_nothing_and_needs_nothing)
{
	struct store_txn t = {0};

	open_store(STORE_READ);
	assert_int_equal(store_revision(rig.s), 0);
	lacks("a");
	lacks(DOC);
	assert_int_equal(put_in(&t, "a", "1"), STORE_BAD);
	assert_int_equal(sim_disk_calls(rig.disk), 0);
}

/* ---- growth ---- */

RIG_TEST(a_long_journal_is_opened_from_its_end)
{
	open_store(STORE_HOLD);
	put("first", "1");
	put(DOC, "text\n");
	for (int i = 0; i < 3000; i++)
		put(arena_printf(&arena, "k/%d", i % 40), arena_printf(&arena, "%d", i));
	for (int i = 0; i < 3; i++) {
		has("first", "1");
		has("k/0", "2960");
		has("k/39", "2999");
		assert_int_equal(get("k/39").create, 42);
		has(DOC, "text\n");
		open_store(i ? STORE_READ : STORE_WRITE);
	}
	assert_true(strlen(file(JOURNAL)) > 400000);
}

/* Otherwise every commit behind a large state would write all of it again. */
RIG_TEST(a_journal_grows_by_what_changes)
{
	static char large[STORE_VALUE_MAX / 2];
	size_t before;

	memset(large, 'x', sizeof(large) - 1);
	open_store(STORE_HOLD);
	for (int i = 0; i < 4; i++)
		put(arena_printf(&arena, "large/%d", i), large);
	before = strlen(file(JOURNAL));
	for (int i = 0; i < 400; i++)
		put("small", arena_printf(&arena, "%d", i));
	assert_true(strlen(file(JOURNAL)) - before < 2 * 4 * sizeof(large));
}

RIG_TEST(large_values_are_kept_over_many_commits)
{
	static char big[STORE_VALUE_MAX + 1];

	open_store(STORE_HOLD);
	for (int i = 0; i < 12; i++) {
		memset(big, 'a' + i, STORE_VALUE_MAX);
		put(arena_printf(&arena, "k%d", i % 5), big);
	}
	put("small", "1");
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 5; k++) {
			struct store_kv kv = get(arena_printf(&arena, "k%d", k));

			assert_int_equal(kv.value.n, STORE_VALUE_MAX);
			assert_int_equal(kv.value.p[77], 'a' + (k < 2 ? 10 : 5) + k);
		}
		open_store(STORE_WRITE);
	}
}
