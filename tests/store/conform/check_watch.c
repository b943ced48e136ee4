/* Watches: every change, in order, whole commits, from where one left off. */
#include "tests/store/conform/probe.h"

#define NEED_SIGHT(w, text)                                                                        \
	do {                                                                                       \
		const char *seen_ = sight_text(p, &(w));                                           \
		if (!str_is(str_of(seen_), text))                                                  \
			MISS("seen: %s, not: %s", seen_, text);                                    \
	} while (0)

static void four_commits(struct probe *p, struct store *s, int64_t rev[4])
{
	rev[0] = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "1")));
	rev[1] = COMMIT(s, OPS(PUT("a", "2"), DEL("b"), PUT("c", "2")));
	rev[2] = COMMIT(s, OPS(PUT("z", "3")));
	rev[3] = COMMIT(s, OPS(DEL("a")));
}

static void in_order(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct sight w;
	int64_t rev[4];

	four_commits(p, s, rev);
	for (int i = 0; i < 2; i++) {
		w = probe_watch(p, s, "", 1, 100);
		NEED_SIGHT(w, "a=1 b=1 | a=2 -b c=2 | z=3 | -a");
		NEED(w.next > rev[3]);
		s = probe_rejoin(p, s);
	}
	for (size_t i = 0; i < w.n; i++) {
		struct store_change *c = &w.change[i];

		NEED(c->rev == rev[i < 2 ? 0 : i < 5 ? 1 : i - 3]);
		NEED(c->deleted || (c->kv.mod == c->rev && c->kv.create > 0));
	}
	w = probe_watch(p, s, "", 0, 100);
	NEED_SIGHT(w, "a=1 b=1 | a=2 -b c=2 | z=3 | -a");
}

static void from_a_revision(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct sight w;
	int64_t rev[4];

	four_commits(p, s, rev);
	w = probe_watch(p, s, "", rev[1], 100);
	NEED_SIGHT(w, "a=2 -b c=2 | z=3 | -a");
	w = probe_watch(p, s, "", rev[1] + 1, 100);
	NEED_SIGHT(w, "z=3 | -a");
	w = probe_watch(p, s, "", rev[3], 100);
	NEED_SIGHT(w, "-a");
}

static void of_a_prefix(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct sight w;
	int64_t rev;

	COMMIT(s, OPS(PUT("k", "1"), PUT("k/a", "1"), PUT("k0", "1")));
	probe_put(p, s, "l", "1");
	rev = probe_put(p, s, "k/b", "1");
	probe_put(p, s, "l", "2");
	w = probe_watch(p, s, "k/", 1, 100);
	NEED_SIGHT(w, "k/a=1 | k/b=1");
	NEED(w.next > rev);
	NEED(probe_watch(p, s, "k/", w.next, 100).n == 0);
}

static void whole_commits(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t from = 1, rev[4], last = 0;
	size_t changes = 0;
	int commits = 0;

	four_commits(p, s, rev);
	for (int i = 0; i < 10 && commits < 4; i++) {
		struct sight w = probe_watch(p, s, "", from, 2);

		/* A commit that alone is over `max` comes whole. */
		NEED(w.n >= 1 && w.next > from);
		NEED(w.change[0].rev > last);
		for (size_t c = 0; c < w.n; c++)
			commits += !c || w.change[c].rev != w.change[c - 1].rev;
		changes += w.n;
		last = w.change[w.n - 1].rev;
		NEED(commits <= 4 && last == rev[commits - 1]);
		NEED(w.n <= 2 || (w.change[0].rev == last && w.n == 3));
		NEED(w.change[0].rev != rev[0] || (w.n == 2 && w.change[1].rev == rev[0]));
		from = w.next;
	}
	NEED(commits == 4 && changes == 7);
	NEED(probe_watch(p, s, "", from, 2).n == 0);
}

static void one_at_a_time(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t from = 1;

	for (int i = 0; i < 12; i++)
		probe_put(p, s, "n", arena_printf(&p->arena, "%d", i));
	for (int i = 0; i < 12; i++) {
		struct sight w = probe_watch(p, s, "", from, 1);

		NEED(w.n == 1 && w.next > from);
		NEED(str_is(w.change[0].kv.value, arena_printf(&p->arena, "%d", i)));
		from = w.next;
		if (i % 4 == 3)
			s = probe_rejoin(p, s);
	}
	NEED(probe_watch(p, s, "", from, 1).n == 0);
}

static void goes_on(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *r;
	struct sight w = probe_watch(p, s, "", 1, 10);
	int64_t from = w.next;

	NEED(w.n == 0);
	for (int i = 0; i < 10; i++) {
		char *value = arena_printf(&p->arena, "%d", i);

		w = probe_watch(p, s, "", from, 10);
		NEED(w.n == 0 && w.next == from);
		COMMIT(s, OPS(PUT("a", value), PUT("b", value)));
		r = probe_join(p, i % 2 ? STORE_READ : STORE_WRITE);
		w = probe_watch(p, r, "", from, 10);
		NEED_SIGHT(w, arena_printf(&p->arena, "a=%d b=%d", i, i));
		from = w.next;
		probe_leave(p, r);
	}
}

static void in_the_future(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = probe_put(p, s, "a", "1");
	struct sight w = probe_watch(p, s, "", rev + 3, 10);

	NEED(w.n == 0 && w.next == rev + 3);
	while (probe_put(p, s, "a", "2") < rev + 2)
		NEED(probe_watch(p, s, "", rev + 3, 10).n == 0);
	NEED(probe_put(p, s, "a", "3") >= rev + 3);
	w = probe_watch(p, s, "", rev + 3, 10);
	NEED_SIGHT(w, "a=3");
}

static void compacted(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct store_change *change;
	struct error err = {0};
	struct listing l;
	struct sight w;
	struct str all;
	int64_t rev[4], next;
	size_t n;

	four_commits(p, s, rev);
	all = probe_all(p, s);
	NEED_STATUS(store_compact(s, rev[2], &err), STORE_OK);
	for (int i = 0; i < 2; i++) {
		NEED(str_eq(probe_all(p, s), all));
		NEED_STATUS(store_watch(s, &p->arena, "", rev[1], 0, 9, &change, &n, &next, &err),
			STORE_COMPACTED);
		NEED(err.text[0]);
		NEED_STATUS(store_watch(s, &p->arena, "", 1, 0, 9, &change, &n, &next, &err),
			STORE_COMPACTED);
		w = probe_watch(p, s, "", rev[2], 10);
		NEED_SIGHT(w, "z=3 | -a");
		s = probe_rejoin(p, s);
	}
	l = probe_list(p, s, "", NULL, 10);
	NEED(str_is(str_of(listing_keys(p, &l)), "c z"));
	probe_put(p, s, "d", "4");
	w = probe_watch(p, s, "", l.at + 1, 10);
	NEED_SIGHT(w, "d=4");
}

static void keys_outlive_compaction(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct error err = {0};
	struct str all;

	NEED_STATUS(probe_grant(s, 4, 60), STORE_OK);
	COMMIT(s, OPS(PUT("a", "1"), PUT("doc/D.md", "text\n"), PUT_LEASED("l", "1", 4)));
	COMMIT(s, .actor = "me", .opid = "op", OPS(PUT("a", "2")));
	COMMIT(s, OPS(PUT("doc/D.md", "text\nmore\n")));
	all = probe_all(p, s);
	NEED_STATUS(store_compact(s, store_revision(s), &err), STORE_OK);
	for (int i = 0; i < 2; i++) {
		NEED(str_eq(probe_all(p, s), all));
		NEED_VALUE(s, "doc/D.md", "text\nmore\n");
		NEED(COMMIT(s, .actor = "me", .opid = "op", OPS(PUT("a", "3"))) ==
			probe_get(p, s, "rcpt/me").mod);
		s = probe_rejoin(p, s);
	}
	probe_later(p, 61);
	NEED_VALUE(s, "l", NULL);
	NEED_STATUS(probe_renew(s, 4), STORE_GONE);
}

enum { SEEN_COMMITS = 200 };

/* One process writes pairs; the other sees each pair, once or more, in order, never half. */
static void write_or_see(struct probe *p, unsigned i)
{
	struct store *s = probe_join(p, i ? STORE_READ : STORE_WRITE);
	int64_t from = 1, last = 0;

	if (!i) {
		for (int n = 1; n <= SEEN_COMMITS; n++) {
			char *value = arena_printf(&p->arena, "%d", n);

			COMMIT(s, OPS(PUT("k/a", value), PUT("k/b", value)));
			probe_put(p, s, "other", value);
		}
		return;
	}
	for (int n = 0; n < SEEN_COMMITS;) {
		struct sight w = {0};
		struct error err = {0};

		NEED_STATUS(store_watch(s, &p->arena, "k/", from, 10000, i == 1 ? 2 : 50, &w.change,
				    &w.n, &w.next, &err),
			STORE_OK);
		NEED(w.n % 2 == 0 && w.next >= from);
		for (size_t c = 0; c < w.n; c += 2) {
			char *want = arena_printf(&p->arena, "%d", ++n);

			NEED(w.change[c].rev == w.change[c + 1].rev && w.change[c].rev > last);
			NEED(str_is(w.change[c].kv.value, want));
			NEED(str_is(w.change[c + 1].kv.value, want));
			last = w.change[c].rev;
		}
		from = w.next;
	}
}

static void while_others_write(struct probe *p)
{
	/* A store that is there: a reader makes none. */
	probe_leave(p, probe_join(p, STORE_WRITE));
	probe_fork(p, 3, write_or_see);
}

const struct check watch_checks[] = {
	{"a watch shows all changes in order", in_order},
	{"a watch begins at its revision", from_a_revision},
	{"a watch shows the changes of its prefix alone", of_a_prefix},
	{"a watch never shows half a commit", whole_commits},
	{"a watch in small pieces misses nothing", one_at_a_time},
	{"a watch goes on where another left off", goes_on},
	{"a watch of the future waits for it", in_the_future},
	{"a watch of what was compacted is told to list", compacted},
	{"keys, documents, leases and receipts outlive compaction", keys_outlive_compaction},
	{"a watch misses nothing while others write", while_others_write},
	{NULL, NULL},
};
