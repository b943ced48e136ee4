/* Checks of transactions: atomicity, guards, limits and receipts. */
#include <stdio.h>
#include <stdlib.h>
#include "tests/lib/run.h"
#include "tests/store/conform/probe.h"

/* ---- revisions and atomicity ---- */

CHECK(empty_store, "a new store is empty, at revision 0")
{
	struct listing l = probe_list(p, s, "", NULL, 10);

	NEED(store_revision(s) == 0);
	NEED(store_last_seq(s) == 0);
	NEED(l.n == 0 && l.at == 0);
	NEED_VALUE(s, "a", NULL);
	NEED(probe_watch(p, s, "", 1, 10).n == 0);
}

CHECK(one_revision, "one transaction is one revision, the mod of all its keys")
{
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "2"), PUT("c/d", "3")));
	struct listing l = probe_list(p, s, "", NULL, 10);

	NEED(rev > 0 && store_revision(s) == rev);
	NEED(l.n == 3);
	for (size_t i = 0; i < l.n; i++)
		NEED(l.kv[i].mod == rev && l.kv[i].create == rev && l.kv[i].ttl_s == 0);
	NEED_VALUE(s, "a", "1");
	NEED_VALUE(s, "b", "2");
	NEED_VALUE(s, "c/d", "3");
}

CHECK(revisions_grow, "every revision is greater than the one before")
{
	int64_t last = 0, rev;

	for (int i = 0; i < 20; i++) {
		rev = i % 3 ? probe_put(p, s, "a", "1") : probe_del(p, s, "a");
		NEED(rev > last && store_revision(s) == rev);
		last = rev;
		NEED_REFUSED(s, GUARDS(MOD_IS("a", 999)), OPS(PUT("a", "2")));
		NEED(store_revision(s) == last);
	}
}

CHECK(revisions_outlive_the_store, "no revision is used again after reopening")
{
	int64_t last = 0, rev;

	for (int i = 0; i < 5; i++) {
		rev = probe_put(p, s, "a", "1");
		NEED(rev > last);
		last = probe_del(p, s, "a");
		NEED(last > rev);
		s = probe_rejoin(p, s);
		NEED(store_revision(s) == last);
	}
	NEED(probe_put(p, s, "a", "1") > last);
}

CHECK(revisions_outlive_history, "no revision is used again after compaction")
{
	struct error err = {0};
	int64_t last;

	probe_put(p, s, "a", "1");
	last = probe_del(p, s, "a");
	NEED_STATUS(store_compact(s, last, &err), STORE_OK);
	NEED(store_revision(s) >= last);
	s = probe_rejoin(p, s);
	NEED(store_revision(s) >= last);
	NEED(probe_put(p, s, "a", "1") > last);
}

CHECK(create_and_mod, "create stays and mod moves when a key is put again")
{
	int64_t first = probe_put(p, s, "a", "1"), second = probe_put(p, s, "a", "2");
	struct store_kv kv = probe_get(p, s, "a");

	NEED(kv.create == first && kv.mod == second);
	kv = probe_get(p, probe_rejoin(p, s), "a");
	NEED(kv.create == first && kv.mod == second);
}

CHECK(born_again, "a key deleted and made again has a new create")
{
	int64_t gone, back;
	struct store_kv kv;

	probe_put(p, s, "a", "1");
	gone = probe_del(p, s, "a");
	kv = probe_get(p, s, "a");
	NEED(kv.mod == 0 && kv.create == 0);
	back = probe_put(p, s, "a", "2");
	kv = probe_get(p, s, "a");
	NEED(back > gone && kv.create == back && kv.mod == back);
	kv = probe_get(p, probe_rejoin(p, s), "a");
	NEED(kv.create == back && kv.mod == back);
}

CHECK(same_value, "putting the same value again is a commit")
{
	int64_t first = probe_put(p, s, "a", "1"), second = probe_put(p, s, "a", "1");

	NEED(second > first && probe_get(p, s, "a").mod == second);
}

CHECK(no_operations, "a transaction without operations is a commit")
{
	int64_t first = probe_put(p, s, "a", "1"), second = COMMIT(s, .n_ops = 0);

	NEED(second > first && store_revision(s) == second);
	NEED(probe_get(p, s, "a").mod == first);
	NEED(COMMIT(s, .n_ops = 0) > second);
}

CHECK(absent_key_deleted, "deleting an absent key does no harm")
{
	int64_t first = probe_put(p, s, "a", "1");

	NEED(probe_del(p, s, "b") > first);
	NEED_VALUE(s, "b", NULL);
	NEED_VALUE(s, "a", "1");
}

CHECK_ALONE(two_clients, "two clients see at once what the other commits")
{
	struct store *a = probe_join(p, STORE_WRITE), *b = probe_join(p, STORE_WRITE);
	int64_t rev;

	NEED_VALUE(b, "k", NULL);
	for (int i = 0; i < 5; i++) {
		rev = probe_put(p, a, "k", "from a");
		NEED_VALUE(b, "k", "from a");
		NEED(probe_get(p, b, "k").mod == rev);
		NEED(probe_put(p, b, "k", "from b") > rev);
		NEED_VALUE(a, "k", "from b");
		NEED(probe_list(p, a, "k", NULL, 9).at == store_revision(b));
	}
	probe_del(p, a, "k");
	NEED_VALUE(b, "k", NULL);
}

CHECK(all_or_nothing, "all operations of a transaction happen together")
{
	struct store *other = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "2")));
	int64_t last = COMMIT(s, OPS(PUT("c", "3"), DEL("a"), PUT("b", "4")));
	struct listing l = probe_list(p, other, "", NULL, 10);

	NEED(l.n == 2 && l.at == last);
	NEED(l.kv[0].create == rev && l.kv[0].mod == last && str_is(l.kv[0].value, "4"));
	NEED(l.kv[1].create == last && l.kv[1].mod == last && str_is(l.kv[1].value, "3"));
}

CHECK(all_is_there_after_reopening, "all is there after reopening")
{
	struct str all;
	int64_t rev;

	COMMIT(s, OPS(PUT("a", "1"), PUT("b", ""), PUT("doc/D.md", "# D\n"),
			  PUT_LEASED("l", "x", 100)));
	COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "2"), DEL("b")));
	all = probe_all(p, s);
	rev = store_revision(s);
	for (int i = 0; i < 3; i++) {
		s = probe_rejoin(p, s);
		NEED_UNCHANGED(s, all, rev);
		NEED_VALUE(s, "doc/D.md", "# D\n");
	}
}

static const json *two_events(struct probe *p)
{
	p->events = json_array();

	for (int i = 0; i < 2; i++) {
		json *e = json_object();

		json_put_str(e, "type", STR("tried"));
		json_push(p->events, e);
	}
	return p->events;
}

CHECK(events_are_numbered, "events are numbered on, and only with a commit")
{
	const json *events = two_events(p);

	COMMIT(s, .events = events, OPS(PUT("a", "1")));
	NEED(store_last_seq(s) == 2);
	NEED(TRY(s, NULL, .events = events, GUARDS(MOD_IS("a", 0))) == STORE_REFUSED);
	NEED(TRY(s, NULL, .events = events, OPS(PUT("not a key", ""))) == STORE_BAD);
	probe_put(p, s, "a", "2");
	NEED(store_last_seq(s) == 2);
	s = probe_rejoin(p, s);
	NEED(store_last_seq(s) == 2);
	COMMIT(s, .events = events);
	NEED(store_last_seq(s) == 4);
	NEED(store_last_seq(probe_rejoin(p, s)) == 4);
}

CHECK(one_holder, "who holds the store is the only writer")
{
	struct store *hold, *other = NULL;
	struct error err = {0};
	int64_t rev = probe_put(p, s, "a", "1");

	if (p->b->no_hold)
		probe_skip(p, "it offers no hold");
	probe_leave(p, s);
	hold = probe_join(p, STORE_HOLD);
	/* The refusal may come from the open or from the write. */
	if (p->b->open(p->b, p->ns, STORE_WRITE, &other, &err) == 0) {
		enum store_status status = TRY(other, NULL, OPS(PUT("a", "2")));

		store_close(&other);
		NEED_STATUS(status, STORE_TIMEOUT);
	} else {
		NEED(err.code == ERR_STATE && err.text[0]);
	}
	NEED_VALUE(hold, "a", "1");
	NEED(probe_put(p, hold, "a", "3") > rev);
	NEED_VALUE(probe_join(p, STORE_READ), "a", "3");
	probe_leave(p, hold);
	s = probe_join(p, STORE_WRITE);
	NEED_VALUE(s, "a", "3");
	probe_put(p, s, "a", "4");
}

CHECK(readers_change_nothing, "a reader changes nothing")
{
	struct store *r;
	struct error err = {0};
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	r = probe_join(p, STORE_READ);
	NEED_UNCHANGED(r, all, rev);
	NEED_BAD(r, OPS(PUT("a", "2")));
	NEED_STATUS(store_compact(r, rev, &err), STORE_BAD);
	NEED_UNCHANGED(r, all, rev);
	NEED_UNCHANGED(s, all, rev);
}

CHECK(readers_see_what_others_commit, "a reader sees what others commit")
{
	struct store *r;

	probe_put(p, s, "a", "1");
	r = probe_join(p, STORE_READ);
	NEED_VALUE(r, "a", "1");
	for (int i = 0; i < 5; i++) {
		probe_put(p, s, "a", i % 2 ? "odd" : "even");
		NEED_VALUE(r, "a", i % 2 ? "odd" : "even");
		NEED(probe_list(p, r, "a", NULL, 1).at == store_revision(s));
	}
}

/* ---- guards ---- */

CHECK(mod_is, "a guard on mod holds for the last change alone")
{
	int64_t old = probe_put(p, s, "a", "1"), rev = probe_put(p, s, "a", "2");

	NEED_REFUSED(s, GUARDS(MOD_IS("a", old)), OPS(PUT("a", "3")));
	NEED_REFUSED(s, GUARDS(MOD_IS("a", rev + 1)), OPS(PUT("a", "3")));
	NEED_REFUSED(s, GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "3")));
	NEED_VALUE(s, "a", "2");
	COMMIT(s, GUARDS(MOD_IS("a", rev)), OPS(PUT("a", "3")));
	NEED_VALUE(s, "a", "3");
}

CHECK(created_at, "a guard on create holds until the key goes")
{
	int64_t born = probe_put(p, s, "a", "1"), mod = probe_put(p, s, "a", "2"), again;

	COMMIT(s, GUARDS(CREATED_AT("a", born)), OPS(PUT("b", "1")));
	NEED_REFUSED(s, GUARDS(CREATED_AT("a", mod)), OPS(DEL("b")));
	NEED_REFUSED(s, GUARDS(CREATED_AT("a", 0)), OPS(DEL("b")));
	probe_del(p, s, "a");
	NEED_REFUSED(s, GUARDS(CREATED_AT("a", born)), OPS(DEL("b")));
	again = probe_put(p, s, "a", "3");
	NEED_REFUSED(s, GUARDS(CREATED_AT("a", born)), OPS(DEL("b")));
	NEED_VALUE(s, "b", "1");
	COMMIT(s, GUARDS(CREATED_AT("a", again)), OPS(DEL("b")));
	NEED_VALUE(s, "b", NULL);
}

CHECK(must_be_absent, "a guard of 0 holds for an absent key alone")
{
	COMMIT(s, GUARDS(MOD_IS("a", 0), CREATED_AT("a", 0)), OPS(PUT("a", "1")));
	NEED_REFUSED(s, GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "2")));
	NEED_REFUSED(s, GUARDS(CREATED_AT("a", 0)), OPS(PUT("a", "2")));
	NEED_VALUE(s, "a", "1");
	probe_del(p, s, "a");
	COMMIT(s, GUARDS(CREATED_AT("a", 0), MOD_IS("a", 0)), OPS(PUT("a", "3")));
	NEED_VALUE(s, "a", "3");
}

CHECK(several, "every guard of several counts")
{
	int64_t a = probe_put(p, s, "a", "1"), b = probe_put(p, s, "b", "2");
	struct str all = probe_all(p, s);

	for (int wrong = 0; wrong < 4; wrong++)
		NEED_STATUS(
			TRY(s, NULL,
				GUARDS(MOD_IS("a", a + (wrong == 0)), MOD_IS("b", b + (wrong == 1)),
					CREATED_AT("a", a + (wrong == 2)),
					CREATED_AT("c", wrong == 3)),
				OPS(PUT("a", "x"), DEL("b"), PUT("c", "y"))),
			STORE_REFUSED);
	NEED_UNCHANGED(s, all, b);
	COMMIT(s, GUARDS(MOD_IS("a", a), MOD_IS("b", b), CREATED_AT("a", a), CREATED_AT("c", 0)),
		OPS(PUT("a", "x"), DEL("b"), PUT("c", "y")));
	NEED_VALUE(s, "c", "y");
}

CHECK(refused_is_nothing, "a refused transaction is nothing at all")
{
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "2")));
	struct str all = probe_all(p, s);

	NEED_REFUSED(s, GUARDS(MOD_IS("b", rev + 1)),
		OPS(PUT("a", "x"), PUT("c", "y"), DEL("b"), PUT("doc/D.md", "z")));
	NEED_UNCHANGED(s, all, rev);
	NEED(probe_watch(p, s, "", rev + 1, 10).n == 0);
	s = probe_rejoin(p, s);
	NEED_UNCHANGED(s, all, rev);
}

CHECK(refused_tells, "a refusal tells the guards' keys as they are, in their order")
{
	int64_t b = probe_put(p, s, "b", "bee"), a = probe_put(p, s, "a", "one");
	struct store_result r = {0};

	a = probe_put(p, s, "a", "two");
	NEED_STATUS(TRY(s, &r,
			    GUARDS(MOD_IS("zz", 0), MOD_IS("b", b), MOD_IS("a", 1),
				    CREATED_AT("none", 5)),
			    OPS(PUT("zz", "x"))),
		STORE_REFUSED);
	NEED(r.n_now == 4 && r.now);
	NEED(str_is(r.now[0].key, "zz") && r.now[0].mod == 0 && r.now[0].create == 0);
	NEED(str_is(r.now[1].key, "b") && r.now[1].mod == b && r.now[1].create == b);
	NEED(str_is(r.now[1].value, "bee"));
	NEED(str_is(r.now[2].key, "a") && r.now[2].mod == a && r.now[2].create < a);
	NEED(str_is(r.now[2].value, "two"));
	NEED(str_is(r.now[3].key, "none") && r.now[3].mod == 0);
}

CHECK(own_key, "guards are judged before the operations")
{
	int64_t rev = 0;

	/* Evaluated before the operations, whatever these do to the key. */
	rev = COMMIT(s, GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1"), PUT("b", "1")));
	rev = COMMIT(s, GUARDS(MOD_IS("a", rev), MOD_IS("b", rev)), OPS(DEL("a"), PUT("b", "2")));
	rev = COMMIT(s, GUARDS(MOD_IS("a", 0), MOD_IS("b", rev)), OPS(PUT("a", "3")));
	NEED(probe_get(p, s, "a").mod == rev);
}

CHECK_ALONE(lost_update, "no update is lost between two clients")
{
	struct store *a = probe_join(p, STORE_WRITE), *b = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, a, "n", "1");
	struct store_result r = {0};

	NEED(probe_get(p, a, "n").mod == rev && probe_get(p, b, "n").mod == rev);
	COMMIT(a, GUARDS(MOD_IS("n", rev)), OPS(PUT("n", "2")));
	NEED_STATUS(TRY(b, &r, GUARDS(MOD_IS("n", rev)), OPS(PUT("n", "2"))), STORE_REFUSED);
	NEED(r.n_now == 1 && str_is(r.now[0].value, "2"));
	COMMIT(b, GUARDS(MOD_IS("n", r.now[0].mod)), OPS(PUT("n", "3")));
	NEED_VALUE(a, "n", "3");
}

/* ---- limits: what breaks one is refused as BAD, and nothing happens ---- */

CHECK(sixty_four, "a transaction has at most 64 operations")
{
	struct store_op ops[STORE_OPS_MAX + 1] = {0};
	struct str all;
	int64_t rev;

	for (int i = 0; i <= STORE_OPS_MAX; i++)
		ops[i] = (struct store_op){.what = STORE_PUT,
			.key = arena_printf(&p->arena, "k/%02d", i),
			.value = STR("v")};
	rev = COMMIT(s, .ops = ops, .n_ops = STORE_OPS_MAX);
	NEED(probe_list(p, s, "k/", NULL, 100).n == STORE_OPS_MAX);
	all = probe_all(p, s);
	NEED_BAD(s, .ops = ops, .n_ops = STORE_OPS_MAX + 1);
	NEED_UNCHANGED(s, all, rev);
}

CHECK(long_value, "a value has at most 64 KiB")
{
	char *most = probe_bytes(p, STORE_VALUE_MAX, 'v');
	char *over = probe_bytes(p, STORE_VALUE_MAX + 1, 'v');
	int64_t rev = probe_put(p, s, "a", most);
	struct str all = probe_all(p, s);

	NEED_VALUE(s, "a", most);
	NEED_BAD(s, OPS(PUT("a", over)));
	NEED_BAD(s, OPS(PUT("b", "1"), PUT("a", over), PUT("c", "1")));
	NEED_UNCHANGED(s, all, rev);
	NEED_VALUE(probe_rejoin(p, s), "a", most);
}

CHECK(long_txn, "a transaction has at most 512 KiB")
{
	struct store_op ops[8] = {0};
	struct str all;
	int64_t rev;

	for (int i = 0; i < 8; i++)
		ops[i] = (struct store_op){.what = STORE_PUT,
			.key = arena_printf(&p->arena, "k%d", i),
			.value = {
				probe_bytes(p, STORE_VALUE_MAX, (char)('a' + i)), STORE_VALUE_MAX}};
	ops[7].value.n -= 8 * strlen("k0"); /* keys count too */
	rev = COMMIT(s, .ops = ops, .n_ops = 8);
	all = probe_all(p, s);
	ops[7].value.n++;
	NEED_BAD(s, .ops = ops, .n_ops = 8);
	NEED_UNCHANGED(s, all, rev);
	NEED_VALUE(s, "k6", ops[6].value.p);
}

CHECK(bad_keys, "keys of other characters or lengths are refused")
{
	const char *const bad[] = {"", " ", "a b", "a\n", "\xc3\xa9", "a*", "a:b", "a\\b", "~",
		"\x7f", probe_bytes(p, STORE_KEY_MAX + 1, 'k')};
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);
	const char *const prefixes[] = {"\xff", probe_bytes(p, STORE_DOCUMENT_KEY_MAX + 1, 'k')};
	struct store_change *change;
	struct store_kv kv, *list;
	struct error err = {0};
	int64_t at;
	size_t n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		NEED_BAD(s, OPS(PUT(bad[i], "1")));
		NEED_BAD(s, OPS(PUT("b", "1"), DEL(bad[i])));
		NEED_BAD(s, GUARDS(MOD_IS(bad[i], 0)), OPS(PUT("b", "1")));
		NEED_STATUS(store_get(s, &p->arena, bad[i], &kv, &err), STORE_BAD);
		NEED(err.text[0]);
	}
	NEED_STATUS(store_get(s, &p->arena, "doc/D.md", &kv, &err), STORE_BAD);
	NEED_STATUS(store_get_document(s, "a", &p->text, &kv, &err), STORE_BAD);
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		NEED_STATUS(store_list(s, &p->arena, prefixes[i], NULL, 9, &list, &n, &at, &err),
			STORE_BAD);
		NEED_STATUS(store_watch(s, &p->arena, prefixes[i], 1, 0, 9, &change, &n, &at, &err),
			STORE_BAD);
	}
	NEED_UNCHANGED(s, all, rev);
}

CHECK(good_keys, "keys of all allowed characters and lengths are taken")
{
	const char *const good[] = {"-", ".", "/", "0", "A", "Zz", "_", "a", "a/", "a/b/c/../d",
		"a//b", "doc", "rcpt", "z.", probe_bytes(p, STORE_KEY_MAX, 'k')};
	size_t n = sizeof(good) / sizeof(*good);

	for (size_t i = 0; i < n; i++)
		probe_put(p, s, good[i], good[i]);
	s = probe_rejoin(p, s);
	for (size_t i = 0; i < n; i++)
		NEED_VALUE(s, good[i], good[i]);
	NEED(probe_list(p, s, "", NULL, 100).n == n);
}

CHECK(texts_alone, "values that are no text are refused")
{
	const struct str bad[] = {{"a\0b", 3}, {"\0", 1}, STR("\xff"), STR("a\xc3"),
		STR("\xc0\xaf"), STR("\xed\xa0\x80"), STR("\xf4\x90\x80\x80")};
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		NEED_BAD(s, OPS({.what = STORE_PUT, .key = "a", .value = bad[i]}));
	NEED_UNCHANGED(s, all, rev);
}

CHECK(odd_texts, "values of any text come back as they were")
{
	const char *const odd[] = {"", " ", "\n", "\r\n\t", "\"\\/{}[],:", "\x01\x02\x1f\x7f",
		"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xef\xbf\xbd\xef\xbf\xbf",
		"{\"commit\":1}\n"};
	size_t n = sizeof(odd) / sizeof(*odd);

	for (size_t i = 0; i < n; i++)
		probe_put(p, s, arena_printf(&p->arena, "k%zu", i), odd[i]);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < n; i++)
			NEED_VALUE(s, arena_printf(&p->arena, "k%zu", i), odd[i]);
		s = probe_rejoin(p, s);
	}
}

CHECK(half_a_receipt, "a receipt needs an actor and an opid")
{
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	NEED_BAD(s, .actor = "me", OPS(PUT("a", "2")));
	NEED_BAD(s, .opid = "op", OPS(PUT("a", "2")));
	NEED_BAD(s, .actor = "not me", .opid = "op", OPS(PUT("a", "2")));
	NEED_BAD(s, .actor = probe_bytes(p, STORE_KEY_MAX, 'a'), .opid = "op", OPS(PUT("a", "2")));
	NEED_BAD(s, .actor = "me", .opid = "\xff", OPS(PUT("a", "2")));
	NEED_BAD(s, .actor = "me", .opid = "", OPS(PUT("a", "2")));
	NEED_UNCHANGED(s, all, rev);
}

CHECK(ttls, "a lease lives 10 s to 30 days")
{
	static const int bad[] = {STORE_TTL_MIN_S - 1, STORE_TTL_MAX_S + 1, 1, -1, -60};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		NEED_BAD(s, OPS(PUT_LEASED("a", "1", bad[i])));
	NEED_VALUE(s, "a", NULL);
	COMMIT(s,
		OPS(PUT_LEASED("a", "1", STORE_TTL_MIN_S), PUT_LEASED("b", "1", STORE_TTL_MAX_S)));
}

CHECK(what_is_no_event, "events with numbers, notes that are no objects and odd times are refused")
{
	static const char *const members[] = {"seq", "rev"};
	json *event = json_object();

	p->events = json_array();
	NEED_BAD(s, .note = p->events);
	NEED_BAD(s, .ts = "\"now\"");
	json_push(p->events, event);
	COMMIT(s, .events = p->events, .note = event, .ts = "2026-01-01T00:00:00.5+01:00");
	for (size_t i = 0; i < COUNT(members); i++) {
		json_put_int(event, members[i], 1);
		NEED_BAD(s, .events = p->events);
		json_drop(event, members[i]);
	}
	json_push(p->events, json_array());
	NEED_BAD(s, .events = p->events);
	NEED(store_last_seq(s) == 1);
}

CHECK(twice, "a key comes once in a transaction")
{
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	NEED_BAD(s, OPS(PUT("a", "2"), PUT("a", "3")));
	NEED_BAD(s, OPS(PUT("b", "2"), PUT("c", "2"), DEL("b")));
	NEED_BAD(s, .actor = "me", .opid = "op", OPS(PUT("rcpt/me", "2")));
	NEED_UNCHANGED(s, all, rev);
	COMMIT(s, GUARDS(MOD_IS("a", rev), CREATED_AT("a", rev), MOD_IS("a", rev)));
}

CHECK(one_bad_apple, "one bad operation spoils its transaction")
{
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	NEED_BAD(s, OPS(PUT("b", "1"), DEL("a"), PUT("a b", "1")));
	NEED_BAD(s, .actor = "me", .opid = "op", OPS(PUT("b", "1"), PUT("", "1")));
	NEED_UNCHANGED(s, all, rev);
	NEED(probe_watch(p, s, "", rev + 1, 10).n == 0);
	s = probe_rejoin(p, s);
	NEED_UNCHANGED(s, all, rev);
}

/* ---- receipts ---- */

CHECK(done_once, "an operation that comes twice is done once")
{
	int64_t rev = COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "1")));

	NEED(COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "2"))) == rev);
	NEED_VALUE(s, "a", "1");
	NEED(store_revision(s) == rev);
	NEED(COMMIT(probe_join(p, STORE_WRITE), .actor = "me", .opid = "op-1", OPS(DEL("a"))) ==
		rev);
	s = probe_rejoin(p, s);
	NEED(COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "3"))) == rev);
	NEED_VALUE(s, "a", "1");
	NEED(COMMIT(s, .actor = "me", .opid = "op-2", OPS(PUT("a", "4"))) > rev);
	NEED_VALUE(s, "a", "4");
}

CHECK(first_revision, "an operation that comes again gets the revision of then")
{
	int64_t rev = COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "1")));

	for (int i = 0; i < 5; i++) {
		NEED(probe_put(p, s, "a", "by others") > rev);
		NEED(COMMIT(s, .actor = "me", .opid = "op-1", OPS(PUT("a", "1"))) == rev);
	}
	NEED_VALUE(s, "a", "by others");
}

CHECK(is_a_key, "a receipt is a key of the same commit")
{
	int64_t rev = COMMIT(s, .actor = "host-1.2", .opid = "an op", OPS(PUT("a", "1")));
	struct listing l = probe_list(p, s, "", NULL, 10);

	NEED_VALUE(s, "rcpt/host-1.2", "an op");
	NEED(probe_get(p, s, "rcpt/host-1.2").mod == rev);
	NEED(str_is(str_of(listing_keys(p, &l)), "a rcpt/host-1.2"));
	rev = COMMIT(s, .actor = "host-1.2", .opid = "another");
	NEED_VALUE(s, "rcpt/host-1.2", "another");
	NEED(probe_get(p, s, "rcpt/host-1.2").mod == rev);
}

CHECK(none_of_what_did_not_happen, "there is no receipt of what did not happen")
{
	int64_t rev = probe_put(p, s, "a", "1");

	NEED_REFUSED(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "2")));
	NEED_BAD(s, .actor = "me", .opid = "op", OPS(PUT("a b", "2")));
	NEED_VALUE(s, "rcpt/me", NULL);
	NEED(COMMIT(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", rev)), OPS(PUT("a", "2"))) >
		rev);
	NEED_VALUE(s, "a", "2");
}

CHECK(before_the_guards, "a receipt counts before the guards")
{
	int64_t rev =
		COMMIT(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1")));

	/* The guard no longer holds, and need not: the operation is complete. */
	NEED(COMMIT(s, .actor = "me", .opid = "op", GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1"))) ==
		rev);
	NEED_REFUSED(s, .actor = "you", .opid = "op", GUARDS(MOD_IS("a", 0)), OPS(PUT("a", "1")));
}

CHECK(one_an_actor, "actors do not share receipts")
{
	int64_t a = COMMIT(s, .actor = "a", .opid = "1", OPS(PUT("k", "a")));
	int64_t b = COMMIT(s, .actor = "b", .opid = "1", OPS(PUT("k", "b")));

	NEED(b > a);
	NEED_VALUE(s, "k", "b");
	NEED(COMMIT(s, .actor = "a", .opid = "1", OPS(PUT("k", "a"))) == a);
	NEED(COMMIT(s, .actor = "b", .opid = "1", OPS(PUT("k", "b"))) == b);
	NEED_VALUE(s, "k", "b");
}

CHECK(events_once, "events of an operation that comes twice are there once")
{
	json *event = json_object();

	p->events = json_array();
	json_put_str(event, "type", STR("tried"));
	json_push(p->events, event);
	for (int i = 0; i < 3; i++)
		COMMIT(s, .actor = "me", .opid = "op", .events = p->events);
	NEED(store_last_seq(s) == 1);
}

/* The operations of the client that loses replies, and those of its backend. */
static struct store_methods lossy;
static const struct store_methods *lossless;

/* Every third transaction fails; every third succeeds without a reply. */
static enum store_status lossy_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	static unsigned n;
	struct store_result unheard = {0};
	enum store_status status = STORE_UNKNOWN;

	if (++n % 3 != 1)
		do
			status = lossless->txn(s, a, t, &unheard, err);
		while (status == STORE_UNKNOWN);
	if (status != STORE_OK || n % 3 == 2)
		return error_set(err, ERR_SYSTEM, "no answer"), STORE_UNKNOWN;
	*result = unheard;
	return STORE_OK;
}

/* Repeats the operation until its outcome is known. */
static int64_t insist(struct probe *p, struct store *s, const struct store_txn *t)
{
	struct store_result r = {0};

	for (int i = 0; i < 10; i++) {
		enum store_status status = probe_try(p, s, &r, t);

		if (status == STORE_OK)
			return r.rev;
		NEED_STATUS(status, STORE_UNKNOWN);
	}
	MISS("never known");
}

CHECK(lost_replies, "a client that loses replies counts right")
{
	lossless = s->ops;
	lossy = *lossless;
	lossy.txn = lossy_txn;
	lossy.uncertain = false;
	s->ops = &lossy;
	for (int i = 1; i <= 30; i++) {
		struct store_kv kv = probe_get(p, s, "n");
		int n = probe_number(kv.value);
		int64_t rev = insist(p, s,
			&(struct store_txn){.actor = "me",
				.opid = arena_printf(&p->arena, "op-%d", i),
				OPS(PUT("n", arena_printf(&p->arena, "%d", n + 1)))});

		NEED(probe_get(p, s, "n").mod == rev);
	}
	NEED_VALUE(s, "n", "30");
}

/* What a killed transaction leaves to its successors. */
struct will {
	const struct backend *b;
	const char *ns;
	int tried, done;
	int64_t rev;
	char blob[512]; /* the last one that was kept */
};

enum { EACH_TIME = 5 };

static bool count(struct store *s, struct arena *a, int n, int64_t *rev)
{
	char *text = arena_printf(a, "%d", n);
	struct store_result r = {0};
	struct error err = {0};
	enum store_status status = store_txn(s, a,
		&(struct store_txn){.actor = "me",
			.opid = text,
			OPS(PUT("n", text), PUT("m", text),
				PUT("doc/D.md", arena_printf(a, "line %*d\n", n, n)))},
		&r, &err);

	*rev = r.rev;
	return status == STORE_OK;
}

/* Other places to be killed in: none of them may change the counters. */
static void around(struct store *s, struct arena *a, struct will *will)
{
	int n = will->done;
	struct store_op op = {.what = n % 4 == 2 ? STORE_PUT : STORE_DEL,
		.key = "leased",
		.value = STR("x"),
		.ttl_s = 60};
	struct store_result r = {0};
	struct error err = {0};
	char *path;

	if (n % 4 == 0 && store_keep_blob(s->backend, a, s->dir, "b",
				  str_of(arena_printf(a, "%d", n)), &path, &err) == 0)
		snprintf(will->blob, sizeof(will->blob), "%s", path);
	if (n % 4 == 1)
		store_compact(s, store_revision(s), &err);
	else if (n % 4 > 1)
		store_txn(s, a, &(struct store_txn){.ops = &op, .n_ops = 1}, &r, &err);
}

static void count_on(void *arg)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	struct will *will = arg;
	struct error err = {0};

	if (will->b->open(will->b, will->ns, STORE_WRITE, &s, &err) < 0)
		return;
	for (int i = 0; i < EACH_TIME; i++) {
		int64_t rev;

		around(s, &a, will);
		will->tried = will->done + 1;
		if (!count(s, &a, will->tried, &rev))
			return;
		will->done = will->tried;
		will->rev = rev;
	}
}

static void need_will(struct probe *p, struct will *will)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct store_kv n = probe_get(p, s, "n"), m = probe_get(p, s, "m");
	struct store_kv doc = probe_get(p, s, "doc/D.md"), rcpt = probe_get(p, s, "rcpt/me");
	int got = probe_number(n.value);
	struct error err = {0};

	if (got != will->done && got != will->tried)
		MISS("%d is there; %d was acknowledged, %d begun", got, will->done, will->tried);
	NEED(got != will->done || n.mod == will->rev);
	NEED(n.mod == m.mod && n.mod == doc.mod && n.mod == rcpt.mod);
	NEED(str_eq(n.value, m.value) && str_eq(n.value, rcpt.value));
	if (got)
		NEED(str_is(doc.value, arena_printf(&p->arena, "line %*d\n", got, got)));
	NEED(n.mod >= will->rev && store_revision(s) >= n.mod);
	if (will->blob[0] && store_read_blob(s->backend, will->blob, &p->text, &err) < 0)
		MISS("a blob is lost: %s", err.text);
	if (will->tried > will->done) {
		int64_t rev;

		NEED(count(s, &p->arena, will->tried, &rev));
		NEED(rev > will->rev && (got == will->done || rev == n.mod));
		will->done = will->tried;
		will->rev = rev;
	}
	NEED_VALUE(s, "n", will->done ? arena_printf(&p->arena, "%d", will->done) : NULL);
	probe_leave(p, s);
}

CHECK_ALONE(killed, "what was acknowledged outlives a kill, and a receipt tells of the rest")
{
	struct will *will;
	unsigned n = 0;

	if (!p->b->doom)
		probe_skip(p, "it cannot be killed");
	will = run_shared(sizeof(*will));
	*will = (struct will){.b = p->b, .ns = p->ns};
	while (p->b->doom(p->b, ++n, count_on, will))
		need_will(p, will);
	need_will(p, will);
	if (n < 6)
		MISS("it was killed at %u moments only", n - 1);
}
