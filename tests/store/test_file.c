#include "tests/lib/store_rig.h"

/* ---- keys ---- */

RIG_TEST(a_transaction_is_one_revision_for_all_its_keys)
{
	struct store_op ops[] = {{STORE_PUT, "a", STR("1"), 0, NULL},
		{STORE_PUT, "b/c", STR("\"2\"\n\t\x01\xc3\xa9"), 0, NULL},
		{STORE_PUT, DOC, STR("text\n"), 0, NULL}};
	struct store_txn t = {.ops = ops, .n_ops = COUNT(ops)};

	open_store(STORE_HOLD);
	assert_int_equal(store_revision(rig.s), 0);
	lacks("a");
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	assert_int_equal(rig.result.rev, 1);
	assert_int_equal(put("a", "2"), 2);
	for (int i = 0; i < 2; i++) {
		has("a", "2");
		has("b/c", "\"2\"\n\t\x01\xc3\xa9");
		has(DOC, "text\n");
		assert_int_equal(get("a").create, 1);
		assert_int_equal(get("a").mod, 2);
		assert_int_equal(get(DOC).mod, 1);
		assert_int_equal(store_revision(rig.s), 2);
		open_store(i ? STORE_READ : STORE_WRITE);
	}
	file_is(PATH, "text\n");
}

RIG_TEST(a_key_that_comes_back_is_created_anew)
{
	open_store(STORE_HOLD);
	put("a", "1");
	put("a", NULL);
	put("a", NULL);
	lacks("a");
	assert_int_equal(put("a", ""), 4);
	assert_int_equal(get("a").create, 4);
	has("a", "");
	open_store(STORE_READ);
	assert_int_equal(get("a").create, 4);
	has("a", "");
}

RIG_TEST(guards_say_how_things_are_when_they_do_not_hold)
{
	struct store_guard guards[] = {{"a", STORE_MOD_IS, 2}, {"b", STORE_MOD_IS, 0}};
	struct store_txn t = {.guards = guards, .n_guards = 2};

	open_store(STORE_HOLD);
	put("a", "1");
	assert_int_equal(put_in(&t, "b", "x"), STORE_REFUSED);
	assert_int_equal(rig.result.n_now, 2);
	assert_str(rig.result.now[0].value, "1");
	assert_int_equal(rig.result.now[0].mod, 1);
	assert_str(rig.result.now[1].key, "b");
	assert_int_equal(rig.result.now[1].mod, 0);
	lacks("b");
	put("a", "2");
	assert_int_equal(put_in(&t, "b", "x"), STORE_OK);
	guards[0] = (struct store_guard){"a", STORE_CREATED_AT, 1};
	guards[1] = (struct store_guard){DOC, STORE_CREATED_AT, 0};
	assert_int_equal(put_in(&t, "b", "y"), STORE_OK);
	guards[0].rev = 2;
	assert_int_equal(put_in(&t, "b", "z"), STORE_REFUSED);
	assert_int_equal(store_revision(rig.s), 4);
}

RIG_TEST(keys_are_listed_in_their_order_page_by_page)
{
	struct store_kv *kv;
	int64_t rev;
	size_t n;

	open_store(STORE_HOLD);
	put("b/2", "2");
	put("b/1", "1");
	put("a", "0");
	put("b/10", "10");
	put("c", "3");
	put(DOC, "text");
	assert_int_equal(
		store_list(rig.s, &arena, "b/", NULL, 2, &kv, &n, &rev, &rig.err), STORE_OK);
	assert_int_equal(n, 2);
	assert_int_equal(rev, 6);
	assert_str(kv[0].key, "b/1");
	assert_str(kv[1].key, "b/10");
	assert_int_equal(
		store_list(rig.s, &arena, "b/", "b/10", 9, &kv, &n, &rev, &rig.err), STORE_OK);
	assert_int_equal(n, 1);
	assert_str(kv[0].value, "2");
	assert_int_equal(
		store_list(rig.s, &arena, "", NULL, 99, &kv, &n, &rev, &rig.err), STORE_OK);
	assert_int_equal(n, 6);
	assert_str(kv[5].key, DOC);
	assert_int_equal(kv[5].value.n, 0);
	assert_int_equal(
		store_list(rig.s, &arena, "d/", NULL, 9, &kv, &n, &rev, &rig.err), STORE_OK);
	assert_int_equal(n, 0);
}

RIG_TEST(nothing_is_a_commit_too)
{
	open_store(STORE_HOLD);
	assert_int_equal(put(NULL, NULL), 1);
	assert_int_equal(put(NULL, NULL), 2);
	open_store(STORE_READ);
	assert_int_equal(store_revision(rig.s), 2);
}

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

/* ---- receipts ---- */

RIG_TEST(an_operation_is_not_done_twice)
{
	struct store_txn t = {.actor = "A", .opid = "1"};

	open_store(STORE_HOLD);
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	put("k", "other");
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	assert_int_equal(rig.result.rev, 1);
	has("k", "other");
	open_store(STORE_WRITE);
	has("rcpt/A", "1");
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	assert_int_equal(rig.result.rev, 1);
	t.opid = "2";
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	assert_int_equal(rig.result.rev, 3);
	assert_int_equal(get("rcpt/A").mod, 3);
	t.actor = "B";
	assert_int_equal(put_in(&t, "k", "v"), STORE_OK);
	assert_int_equal(rig.result.rev, 4);
}

/* ---- leases ---- */

/* A reader that asks while the clock is set back does not see an end that nobody has committed. */
RIG_TEST(a_clock_that_is_put_back_does_not_lengthen_a_lease)
{
	struct store_op op = {STORE_PUT, "claim", STR("me"), 100, NULL};
	struct store_txn t = {.ops = &op, .n_ops = 1};
	static const struct {
		int64_t now, until;
		const char *put;
	} times[] = {
		{1800000000, 1800000100, NULL},
		{1700000000, 1700000100, NULL},
		{1700000001, 1700000101, "from here on every client sees it"},
		{1700000100, 1700000101, NULL},
		{1800000000, 0, NULL},
		{1700000099, 1700000101, NULL}, /* nobody has written meanwhile */
		{1700000101, 0, "it stays over"},
		{1700000000, 0, NULL},
	};

	open_store(STORE_HOLD);
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	for (size_t i = 0; i < COUNT(times); i++) {
		clock_fix(times[i].now);
		if (times[i].put)
			put("any", times[i].put);
		assert_int_equal(get("claim").until, times[i].until);
		open_store(i % 2 ? STORE_READ : STORE_HOLD);
		assert_int_equal(get("claim").until, times[i].until);
		open_store(STORE_HOLD);
	}
	assert_string_equal(history(), "1 2 3");
}

RIG_TEST(a_watch_tells_changes_in_their_order_and_never_half_a_commit)
{
	struct store_op two[] = {
		{STORE_PUT, "w/a", STR("3"), 0, NULL}, {STORE_PUT, "w/b", STR("3"), 0, NULL}};
	struct store_txn t = {.ops = two, .n_ops = 2};
	struct store_change *c;
	int64_t next;
	size_t n;

	open_store(STORE_WRITE);
	put("w/a", "1");
	put("other", "2");
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	put("w/a", NULL);
	put(DOC, "text");
	assert_int_equal(
		store_watch(rig.s, &arena, "w/", 1, 0, 2, &c, &n, &next, &rig.err), STORE_OK);
	assert_int_equal(n, 1);
	assert_int_equal(next, 3);
	assert_int_equal(c[0].kv.create, 1);
	assert_int_equal(
		store_watch(rig.s, &arena, "w/", next, 0, 1, &c, &n, &next, &rig.err), STORE_OK);
	assert_int_equal(n, 2);
	assert_int_equal(c[1].rev, 3);
	assert_int_equal(c[0].kv.create, 1);
	assert_int_equal(next, 4);
	assert_int_equal(
		store_watch(rig.s, &arena, "", next, 0, 9, &c, &n, &next, &rig.err), STORE_OK);
	assert_int_equal(n, 2);
	assert_true(c[0].deleted);
	assert_str(c[1].kv.key, DOC);
	assert_int_equal(c[1].kv.mod, 5);
	assert_int_equal(next, 6);
	assert_int_equal(
		store_watch(rig.s, &arena, "", next, 0, 9, &c, &n, &next, &rig.err), STORE_OK);
	assert_int_equal(n, 0);
	assert_int_equal(next, 6);
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

RIG_TEST(only_one_holds_a_store)
{
	CLEANUP(store_close) struct store *other = NULL;

	open_store(STORE_HOLD);
	assert_int_equal(
		store_open(&other, store_files(rig.disk), DIRECTORY, "T", STORE_HOLD, 0, &rig.err),
		-1);
	assert_int_equal(rig.err.code, ERR_STATE);
	assert_null(other);
	assert_int_equal(
		store_open(&other, store_files(rig.disk), DIRECTORY, "T", STORE_READ, 0, &rig.err),
		0);
	store_close(&other);
	open_store(STORE_WRITE);
	put("a", "1");
	assert_int_equal(
		store_open(&other, store_files(rig.disk), DIRECTORY, "T", STORE_HOLD, 0, &rig.err),
		0);
	{
		struct store_txn t = {0};

		assert_int_equal(put_in(&t, "a", "2"), STORE_TIMEOUT);
	}
	store_close(&other);
	put("a", "2");
}

RIG_TEST(writers_that_take_turns_see_one_another)
{
	CLEANUP(store_close) struct store *other = NULL;
	struct store *mine;

	open_store(STORE_WRITE);
	assert_int_equal(
		store_open(&other, store_files(rig.disk), DIRECTORY, "T", STORE_WRITE, 0, &rig.err),
		0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(put("n", arena_printf(&arena, "%d", i)), i + 1);
		mine = rig.s;
		rig.s = other;
		other = mine;
	}
	has("n", "99");
	assert_true(str_ends(str_of(history()), " 99 100")); /* each sum covers the one before */
}

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

static void bad(struct store_txn t, const char *key, const char *value)
{
	assert_int_equal(put_in(&t, key, value), STORE_BAD);
	assert_int_equal(rig.err.code, ERR_INPUT);
}

RIG_TEST(what_breaks_a_limit_is_refused)
{
	static char big[STORE_VALUE_MAX + 2];
	CLEANUP(json_free) json *events = json_array();
	struct store_op many[65],
		twice[] = {{STORE_PUT, "a", STR("1"), 0, NULL}, {STORE_DEL, "a", STR(""), 0, NULL}};
	struct store_guard guard = {"bad key", STORE_MOD_IS, 0};
	struct store_txn t = {.ops = twice, .n_ops = 2};

	open_store(STORE_HOLD);
	memset(big, 'x', sizeof(big) - 1);
	bad(t = (struct store_txn){0}, "", "1");
	bad(t, "a b", "1");
	bad(t, "a\xc3\xa9", "1");
	bad(t, arena_dup(&arena, (struct str){big, 201}), "1");
	bad(t, "a", big);
	bad(t, "a", "\xff");
	bad(t, "doc/", "1");
	bad(t, "doc/a/b", "1");
	bad(t, "doc/.hidden", "1");
	bad(t, arena_printf(&arena, "doc/%.*s", 240, big), "1");
	bad((struct store_txn){.actor = "A"}, "a", "1");
	bad((struct store_txn){.opid = "1"}, "a", "1");
	bad((struct store_txn){.actor = "A B", .opid = "1"}, "a", "1");
	bad((struct store_txn){.actor = "A", .opid = ""}, "a", "1");
	bad((struct store_txn){.actor = "A", .opid = "1"}, "rcpt/A", "1");
	bad((struct store_txn){.guards = &guard, .n_guards = 1}, "a", "1");
	bad((struct store_txn){.ts = "\"now\""}, "a", "1");
	json_push(events, event_of("seq", "1"));
	bad((struct store_txn){.events = events}, "a", "1");
	bad((struct store_txn){.note = events}, "a", "1");
	t = (struct store_txn){.ops = twice, .n_ops = 2};
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_BAD);
	for (int i = 0; i < 65; i++)
		many[i] = (struct store_op){
			STORE_PUT, arena_printf(&arena, "k%d", i), STR("1"), 0, NULL};
	t = (struct store_txn){.ops = many, .n_ops = 65};
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_BAD);
	for (int i = 0; i < 9; i++)
		many[i].value = (struct str){big, STORE_VALUE_MAX};
	t.n_ops = 9;
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_BAD);
	assert_int_equal(store_revision(rig.s), 0);
	t.n_ops = 7;
	assert_int_equal(store_txn(rig.s, &arena, &t, &rig.result, &rig.err), STORE_OK);
	put("doc/any name \xc3\xa9.md", "1");
	file_is(DIRECTORY "/any name \xc3\xa9.md", "1");
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
