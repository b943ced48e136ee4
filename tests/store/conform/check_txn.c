/* Revisions, and what one transaction is. */
#include "tests/store/conform/probe.h"

static void empty_store(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct listing l = probe_list(p, s, "", NULL, 10);

	NEED(store_revision(s) == 0);
	NEED(store_events(s) == 0);
	NEED(l.n == 0 && l.at == 0);
	NEED_VALUE(s, "a", NULL);
	NEED(probe_watch(p, s, "", 1, 10).n == 0);
}

static void one_revision(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "2"), PUT("c/d", "3")));
	struct listing l = probe_list(p, s, "", NULL, 10);

	NEED(rev > 0 && store_revision(s) == rev);
	NEED(l.n == 3);
	for (size_t i = 0; i < l.n; i++)
		NEED(l.kv[i].mod == rev && l.kv[i].create == rev && l.kv[i].lease == 0);
	NEED_VALUE(s, "a", "1");
	NEED_VALUE(s, "b", "2");
	NEED_VALUE(s, "c/d", "3");
}

static void revisions_grow(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t last = 0, rev;

	for (int i = 0; i < 20; i++) {
		rev = i % 3 ? probe_put(p, s, "a", "1") : probe_del(p, s, "a");
		NEED(rev > last && store_revision(s) == rev);
		last = rev;
		NEED_STATUS(
			TRY(s, NULL, GUARDS(MOD_IS("a", 999)), OPS(PUT("a", "2"))), STORE_REFUSED);
		NEED(store_revision(s) == last);
	}
}

static void revisions_outlive_the_store(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void revisions_outlive_history(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void create_and_mod(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t first = probe_put(p, s, "a", "1"), second = probe_put(p, s, "a", "2");
	struct store_kv kv = probe_get(p, s, "a");

	NEED(kv.create == first && kv.mod == second);
	kv = probe_get(p, probe_rejoin(p, s), "a");
	NEED(kv.create == first && kv.mod == second);
}

static void born_again(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void same_value(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t first = probe_put(p, s, "a", "1"), second = probe_put(p, s, "a", "1");

	NEED(second > first && probe_get(p, s, "a").mod == second);
}

static void no_operations(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t first = probe_put(p, s, "a", "1"), second = COMMIT(s, .n_ops = 0);

	NEED(second > first && store_revision(s) == second);
	NEED(probe_get(p, s, "a").mod == first);
	NEED(COMMIT(s, .n_ops = 0) > second);
}

static void absent_key_deleted(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t first = probe_put(p, s, "a", "1");

	NEED(probe_del(p, s, "b") > first);
	NEED_VALUE(s, "b", NULL);
	NEED_VALUE(s, "a", "1");
}

static void two_clients(struct probe *p)
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

static void all_or_nothing(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *other = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "2")));
	int64_t last = COMMIT(s, OPS(PUT("c", "3"), DEL("a"), PUT("b", "4")));
	struct listing l = probe_list(p, other, "", NULL, 10);

	NEED(l.n == 2 && l.at == last);
	NEED(l.kv[0].create == rev && l.kv[0].mod == last && str_is(l.kv[0].value, "4"));
	NEED(l.kv[1].create == last && l.kv[1].mod == last && str_is(l.kv[1].value, "3"));
}

static void all_is_there_after_reopening(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct str all;
	int64_t rev;

	NEED_STATUS(probe_grant(s, 7, 100), STORE_OK);
	COMMIT(s, OPS(PUT("a", "1"), PUT("b", ""), PUT("doc/D.md", "# D\n"),
			  PUT_LEASED("l", "x", 7)));
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

static void events_are_numbered(struct probe *p)
{
	const json *events = two_events(p);
	struct store *s = probe_join(p, STORE_WRITE);

	COMMIT(s, .events = events, OPS(PUT("a", "1")));
	NEED(store_events(s) == 2);
	NEED(TRY(s, NULL, .events = events, GUARDS(MOD_IS("a", 0))) == STORE_REFUSED);
	NEED(TRY(s, NULL, .events = events, OPS(PUT("not a key", ""))) == STORE_BAD);
	probe_put(p, s, "a", "2");
	NEED(store_events(s) == 2);
	s = probe_rejoin(p, s);
	NEED(store_events(s) == 2);
	COMMIT(s, .events = events);
	NEED(store_events(s) == 4);
	NEED(store_events(probe_rejoin(p, s)) == 4);
}

static void one_holder(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *hold, *other = NULL;
	struct error err = {0};
	int64_t rev = probe_put(p, s, "a", "1");

	probe_leave(p, s);
	hold = probe_join(p, STORE_HOLD);
	/* It may be told so when it opens, or when it writes. */
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

static void readers_change_nothing(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *r;
	int64_t rev = probe_put(p, s, "a", "1");
	struct str all = probe_all(p, s);

	r = probe_join(p, STORE_READ);
	NEED_UNCHANGED(r, all, rev);
	NEED_STATUS(TRY(r, NULL, OPS(PUT("a", "2"))), STORE_BAD);
	NEED_STATUS(probe_grant(r, 1, 60), STORE_BAD);
	NEED_UNCHANGED(r, all, rev);
	NEED_UNCHANGED(s, all, rev);
}

static void readers_see_what_others_commit(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *r;

	probe_put(p, s, "a", "1");
	r = probe_join(p, STORE_READ);
	NEED_VALUE(r, "a", "1");
	for (int i = 0; i < 5; i++) {
		probe_put(p, s, "a", i % 2 ? "odd" : "even");
		NEED_VALUE(r, "a", i % 2 ? "odd" : "even");
		NEED(probe_list(p, r, "a", NULL, 1).at == store_revision(s));
	}
}

const struct check txn_checks[] = {
	{"a new store is empty, at revision 0", empty_store},
	{"one transaction is one revision, the mod of all its keys", one_revision},
	{"every revision is greater than the one before", revisions_grow},
	{"no revision is used again after reopening", revisions_outlive_the_store},
	{"no revision is used again after compaction", revisions_outlive_history},
	{"create stays and mod moves when a key is put again", create_and_mod},
	{"a key deleted and made again has a new create", born_again},
	{"putting the same value again is a commit", same_value},
	{"a transaction without operations is a commit", no_operations},
	{"deleting an absent key does no harm", absent_key_deleted},
	{"two clients see at once what the other commits", two_clients},
	{"all operations of a transaction happen together", all_or_nothing},
	{"all is there after reopening", all_is_there_after_reopening},
	{"events are numbered on, and only with a commit", events_are_numbered},
	{"who holds the store is the only writer", one_holder},
	{"a reader changes nothing", readers_change_nothing},
	{"a reader sees what others commit", readers_see_what_others_commit},
	{NULL, NULL},
};
