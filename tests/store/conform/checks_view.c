/* Checks of what a client sees: documents, lists and watches. */
#include "tests/store/conform/probe.h"

/* ---- documents: keys doc/NAME, long and of any bytes ---- */

/* Must be `want`, and no commit of an edit; returns its mod. */
static int64_t need_document(struct probe *p, struct store *s, const char *key, struct str want)
{
	int64_t before = probe_list(p, s, "", NULL, 0).at;
	struct store_kv kv = probe_get(p, s, key);

	if (!str_eq(kv.value, want))
		MISS("'%s' is not what was put", key);
	NEED(kv.mod > 0 && kv.create > 0 && store_revision(s) == before);
	return kv.mod;
}

CHECK(any_bytes, "a document has any bytes")
{
	char all[512];
	const struct str texts[] = {STR(""), STR("\n"), STR("no newline"), STR("a\r\nb\rc\n"),
		{"\0", 1}, STR("\xff\xfe\xc3"), {all, sizeof(all)}};

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)(i * 7);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		int64_t rev = probe_put_text(p, s, "doc/D.md", texts[i]);

		NEED(need_document(p, s, "doc/D.md", texts[i]) == rev);
		s = probe_rejoin(p, s);
		NEED(need_document(p, s, "doc/D.md", texts[i]) == rev);
	}
}

CHECK(sixteen_mib, "a document has up to 16 MiB")
{
	struct str most = {probe_bytes(p, STORE_DOCUMENT_MAX + 1, 'm'), STORE_DOCUMENT_MAX};
	struct str over = {most.p, STORE_DOCUMENT_MAX + 1};
	int64_t rev = probe_put_text(p, s, "doc/D.md", most);

	NEED(need_document(p, s, "doc/D.md", most) == rev);
	NEED_BAD(s, OPS({.what = STORE_PUT, .key = "doc/D.md", .value = over}));
	NEED(store_revision(s) == rev);
	s = probe_rejoin(p, s);
	NEED(need_document(p, s, "doc/D.md", most) == rev);
	rev = probe_put(p, s, "doc/D.md", "small again\n");
	NEED(need_document(p, s, "doc/D.md", STR("small again\n")) == rev);
}

CHECK(with_keys, "a document and keys change in one commit")
{
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("doc/D.md", "one\n"), PUT("b", "2")));

	NEED(need_document(p, s, "doc/D.md", STR("one\n")) == rev);
	NEED(probe_get(p, s, "a").mod == rev);
	NEED_BAD(s, OPS(PUT("doc/D.md", "two\n"), PUT("a b", "2")));
	NEED(need_document(p, s, "doc/D.md", STR("one\n")) == rev);
	NEED_REFUSED(s, GUARDS(MOD_IS("a", 0)), OPS(PUT("doc/D.md", "two\n")));
	NEED(need_document(p, probe_rejoin(p, s), "doc/D.md", STR("one\n")) == rev);
}

CHECK(comes_and_goes, "a document can be deleted and made again")
{
	int64_t first = probe_put(p, s, "doc/D.md", "one\n"), back;

	NEED(probe_put(p, s, "doc/D.md", "two\n") > first);
	NEED(probe_get(p, s, "doc/D.md").create == first);
	probe_del(p, s, "doc/D.md");
	NEED_VALUE(s, "doc/D.md", NULL);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "doc/D.md", NULL);
	back = probe_put(p, s, "doc/D.md", "three\n");
	NEED(need_document(p, s, "doc/D.md", STR("three\n")) == back);
	NEED(probe_get(p, s, "doc/D.md").create == back);
}

CHECK_ALONE(guarded, "a document is guarded as a key is")
{
	struct store *a = probe_join(p, STORE_WRITE), *b = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(a, GUARDS(MOD_IS("doc/D.md", 0)), OPS(PUT("doc/D.md", "one\n")));
	struct store_result r = {0};

	COMMIT(b, GUARDS(MOD_IS("doc/D.md", rev)), OPS(PUT("doc/D.md", "by b\n")));
	NEED_STATUS(TRY(a, &r, GUARDS(MOD_IS("doc/D.md", rev)), OPS(PUT("doc/D.md", "by a\n"))),
		STORE_REFUSED);
	NEED(r.n_now == 1 && r.now[0].mod == store_revision(b) && r.now[0].create == rev);
	need_document(p, a, "doc/D.md", STR("by b\n"));
}

CHECK(told_by_delta, "a document put with a delta is its value")
{
	struct str one = STR("# T\n\nfirst\n\nlast\n"), two = STR("# T\n\nfirst\nnew\n\nlast\n");
	int64_t rev = probe_put_text(p, s, "doc/D.md", one);

	delta_between(&p->delta, one, two);
	rev = COMMIT(s, GUARDS(MOD_IS("doc/D.md", rev)),
		OPS({.what = STORE_PUT, .key = "doc/D.md", .value = two, .delta = &p->delta}));
	NEED(need_document(p, s, "doc/D.md", two) == rev);
	NEED(need_document(p, probe_rejoin(p, s), "doc/D.md", two) == rev);
}

CHECK(listed_without_text, "a document is listed and watched without its text")
{
	int64_t rev = COMMIT(s, OPS(PUT("doc/D.md", "text\n"), PUT("e", "1")));
	struct listing l = probe_list(p, s, "doc", NULL, 10);
	struct sight w = probe_watch(p, s, "doc/", 1, 10);

	NEED(l.n == 1 && str_is(l.kv[0].key, "doc/D.md") && l.kv[0].mod == rev);
	NEED(l.kv[0].value.n == 0 && l.kv[0].create == rev);
	NEED(w.n == 1 && str_is(w.change[0].kv.key, "doc/D.md") && w.change[0].rev == rev);
	NEED(w.change[0].kv.value.n == 0 && !w.change[0].deleted);
}

CHECK(two_documents, "two documents of a store are two")
{
	int64_t a, b;

	COMMIT(s, OPS(PUT("doc/A.md", "a1\n"), PUT("doc/B.md", "b1\n")));
	a = probe_put(p, s, "doc/A.md", "a2\n");
	b = probe_put(p, s, "doc/B.md", "b2\n");
	s = probe_rejoin(p, s);
	NEED(need_document(p, s, "doc/A.md", STR("a2\n")) == a);
	NEED(need_document(p, s, "doc/B.md", STR("b2\n")) == b);
	probe_del(p, s, "doc/A.md");
	s = probe_rejoin(p, s);
	NEED(need_document(p, s, "doc/B.md", STR("b2\n")) == b);
	NEED_VALUE(s, "doc/A.md", NULL);
}

CHECK(no_lease, "a document has no time to live")
{
	NEED_BAD(s, OPS(PUT_LEASED("doc/D.md", "x\n", 60)));
	NEED(store_revision(s) == 0);
	NEED_VALUE(s, "doc/D.md", NULL);
}

CHECK(names_of_files, "a document's name is that of a file in its directory")
{
	static const char *const bad[] = {"doc/", "doc/.", "doc/..", "doc/../D.md", "doc//D.md",
		"doc/a/../../D.md", "doc/a/D.md", "doc/.D.md", "doc/S.events.jsonl", "doc/\xff.md"};

	char *longest = arena_printf(
		&p->arena, "doc/%s", probe_bytes(p, STORE_DOCUMENT_KEY_MAX - strlen("doc/"), 'n'));

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		NEED_BAD(s, OPS(PUT(bad[i], "x\n")));
	NEED_BAD(s, OPS(PUT(arena_printf(&p->arena, "%sn", longest), "x")));
	NEED(store_revision(s) == 0);
	COMMIT(s, OPS(PUT(longest, "1"), PUT("doc/any name \xc3\xa9.md", "2")));
	NEED_VALUE(s, longest, "1");
	NEED_VALUE(s, "doc/any name \xc3\xa9.md", "2");
}

/* The next get reads the edit, which is a commit like any other. */
static int64_t need_hand(struct probe *p, struct store *s, struct str want)
{
	int64_t before = store_revision(s);
	struct store_kv kv = probe_get(p, s, "doc/D.md");

	NEED(str_eq(kv.value, want) && store_revision(s) > before);
	return kv.mod;
}

CHECK(by_hand, "an edit by hand is a commit of the next get")
{
	const struct str edit = STR("one, and more\n"), other = STR("something else\n");
	int64_t rev = COMMIT(s, OPS(PUT("doc/D.md", "one\n"), PUT_LEASED("l", "1", 60))), mod,
		until = probe_get(p, s, "l").until;

	probe_by_hand(p, &edit);
	mod = need_hand(p, s, edit);
	NEED(mod > rev && mod == need_document(p, s, "doc/D.md", edit));
	NEED(probe_get(p, s, "l").until == until);
	NEED_REFUSED(s, GUARDS(MOD_IS("doc/D.md", rev)), OPS(PUT("doc/D.md", "lost\n")));
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("doc/D.md", rev))), STORE_OK);
	NEED(str_is(str_of(sight_text(p, &(struct sight[]){probe_watch(p, s, "doc/", 1, 9)}[0])),
		"doc/D.md= | doc/D.md="));
	probe_by_hand(p, NULL);
	need_hand(p, s, STR(""));
	NEED_VALUE(s, "doc/D.md", NULL);
	probe_by_hand(p, &other);
	mod = need_hand(p, s, other);
	NEED(probe_get(p, s, "doc/D.md").create == mod);
	NEED(need_document(p, probe_rejoin(p, s), "doc/D.md", other) == mod);
}

CHECK(by_hand_unread, "an edit by hand that nobody read yet is not written over")
{
	const struct str edit = STR("by hand\n");
	int64_t rev = probe_put(p, s, "doc/D.md", "one\n");

	probe_by_hand(p, &edit);
	NEED_REFUSED(s, GUARDS(MOD_IS("doc/D.md", rev)), OPS(PUT("doc/D.md", "lost\n")));
	need_document(p, s, "doc/D.md", edit);
}

/* ---- lists: sorted, by prefix, in pages, at a revision ---- */

CHECK(sorted, "a list is sorted by bytes")
{
	COMMIT(s, OPS(PUT("b", "1"), PUT("a/b", "1"), PUT("a", "1"), PUT("a-b", "1")));
	COMMIT(s, OPS(PUT("B", "1"), PUT("_", "1"), PUT("aa", "1"), PUT("a.b", "1")));
	COMMIT(s, OPS(PUT("a0", "1"), PUT("9", "1"), PUT("10", "1")));
	NEED_KEYS("10 9 B _ a a-b a.b a/b a0 aa b", s, "", NULL, 100);
	s = probe_rejoin(p, s);
	NEED_KEYS("10 9 B _ a a-b a.b a/b a0 aa b", s, "", NULL, 100);
}

CHECK(listed_of_a_prefix, "a list has the keys of its prefix alone")
{
	COMMIT(s, OPS(PUT("ev", "1"), PUT("ev/1", "1"), PUT("ev/2", "1"), PUT("ev0", "1"),
			  PUT("e", "1"), PUT("f", "1")));
	NEED_KEYS("ev/1 ev/2", s, "ev/", NULL, 100);
	NEED_KEYS("ev ev/1 ev/2 ev0", s, "ev", NULL, 100);
	NEED(probe_list(p, s, "g", NULL, 100).n == 0);
}

CHECK(in_pages, "a list in pages has each key once")
{
	const char *after = NULL;
	struct listing l;
	int n = 0;

	for (int i = 0; i < 25; i++)
		probe_put(p, s, arena_printf(&p->arena, "k/%02d", i * 7 % 25), "1");
	do {
		l = probe_list(p, s, "k/", after, 4);
		NEED(l.n == (n < 24 ? 4 : 1));
		for (size_t i = 0; i < l.n; i++)
			NEED(str_is(l.kv[i].key, arena_printf(&p->arena, "k/%02d", n++)));
		after = arena_dup(&p->arena, l.kv[l.n - 1].key);
	} while (n < 25);
	NEED(probe_list(p, s, "k/", after, 4).n == 0);
}

CHECK(after_what_is_absent, "a list goes on after a key that is not there")
{
	COMMIT(s, OPS(PUT("a", "1"), PUT("c", "1"), PUT("e", "1")));
	NEED_KEYS("c e", s, "", "b", 100);
	NEED_KEYS("e", s, "", "c", 1);
	NEED_KEYS("c", s, "c", "a", 100);
	NEED(probe_list(p, s, "", "e", 100).n == 0);
}

CHECK(as_get, "a list says of a key what a get says")
{
	struct listing l;

	COMMIT(s, OPS(PUT("a", "1"), PUT_LEASED("b", "2", 60), PUT("c", "3")));
	COMMIT(s, OPS(PUT("a", "4"), DEL("c"), PUT("d", "")));
	l = probe_list(p, s, "", NULL, 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "a b d"));
	for (size_t i = 0; i < l.n; i++) {
		struct store_kv kv = probe_get(p, s, arena_dup(&p->arena, l.kv[i].key));

		NEED(str_eq(kv.key, l.kv[i].key) && str_eq(kv.value, l.kv[i].value));
		NEED(kv.create == l.kv[i].create && kv.mod == l.kv[i].mod);
		NEED(kv.ttl_s == l.kv[i].ttl_s && kv.ttl_s == (i == 1 ? 60 : 0));
		NEED(kv.until == l.kv[i].until && !kv.until == (i != 1));
	}
}

CHECK(then_watched, "a watch goes on where a list was")
{
	struct store *other = probe_join(p, STORE_WRITE);
	struct listing l;

	COMMIT(s, OPS(PUT("k/1", "1"), PUT("z", "1")));
	probe_put(p, s, "z", "2");
	l = probe_list(p, s, "k/", NULL, 100);
	NEED(l.at == store_revision(s));
	NEED(probe_watch(p, s, "k/", l.at + 1, 100).n == 0);
	probe_put(p, other, "k/2", "2");
	probe_del(p, other, "k/1");
	NEED_CHANGES("k/2=2 | -k/1", s, "k/", l.at + 1, 100);
}

CHECK(many_keys, "a thousand keys are all there after reopening")
{
	struct listing l;

	for (int i = 0; i < 40; i++) {
		struct store_op ops[25];

		for (int k = 0; k < 25; k++)
			ops[k] = (struct store_op){.what = STORE_PUT,
				.key = arena_printf(&p->arena, "k/%03d", (i * 25 + k) * 7 % 1000),
				.value = STR("a value of some length, so that it counts")};
		COMMIT(s, .ops = ops, .n_ops = 25);
	}
	s = probe_rejoin(p, s);
	l = probe_list(p, s, "k/", NULL, 2000);
	NEED(l.n == 1000);
	for (size_t i = 0; i < l.n; i++)
		NEED(str_is(l.kv[i].key, arena_printf(&p->arena, "k/%03zu", i)));
}

/* ---- watches: every change, in order, whole commits, resumable ---- */

static void four_commits(struct probe *p, struct store *s, int64_t rev[4])
{
	rev[0] = COMMIT(s, OPS(PUT("a", "1"), PUT("b", "1")));
	rev[1] = COMMIT(s, OPS(PUT("a", "2"), DEL("b"), PUT("c", "2")));
	rev[2] = COMMIT(s, OPS(PUT("z", "3")));
	rev[3] = COMMIT(s, OPS(DEL("a")));
}

CHECK(in_order, "a watch shows all changes in order")
{
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

CHECK(from_a_revision, "a watch begins at its revision")
{
	int64_t rev[4];

	four_commits(p, s, rev);
	NEED_CHANGES("a=2 -b c=2 | z=3 | -a", s, "", rev[1], 100);
	NEED_CHANGES("z=3 | -a", s, "", rev[1] + 1, 100);
	NEED_CHANGES("-a", s, "", rev[3], 100);
}

CHECK(of_a_prefix, "a watch shows the changes of its prefix alone")
{
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

CHECK(whole_commits, "a watch never shows half a commit")
{
	int64_t from = 1, rev[4], last = 0;
	size_t changes = 0;
	int commits = 0;

	four_commits(p, s, rev);
	for (int i = 0; i < 10 && commits < 4; i++) {
		struct sight w = probe_watch(p, s, "", from, 2);

		/* A commit that alone exceeds `max` is returned whole. */
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

CHECK(one_at_a_time, "a watch in small pieces misses nothing")
{
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

CHECK(goes_on, "a watch goes on where another left off")
{
	struct store *r;
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

CHECK(in_the_future, "a watch of the future waits for it")
{
	int64_t rev = probe_put(p, s, "a", "1"), from = rev + 3;
	struct sight w = probe_watch(p, s, "", from, 10);

	NEED(w.n == 0 && w.next == from);
	for (; rev < from; rev = probe_put(p, s, "a", "2"))
		NEED(probe_watch(p, s, "", from, 10).n == 0);
	w = probe_watch(p, s, "", from, 10);
	NEED_SIGHT(w, "a=2");
}

CHECK(compacted, "a watch of what was compacted is told to list")
{
	struct store_change *change;
	struct error err = {0};
	struct listing l;
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
		NEED_CHANGES("z=3 | -a", s, "", rev[2], 10);
		s = probe_rejoin(p, s);
	}
	l = probe_list(p, s, "", NULL, 10);
	NEED(str_is(str_of(listing_keys(p, &l)), "c z"));
	probe_put(p, s, "d", "4");
	NEED_CHANGES("d=4", s, "", l.at + 1, 10);
}

CHECK(keys_outlive_compaction, "keys, documents, leases and receipts outlive compaction")
{
	struct error err = {0};
	struct str all;

	COMMIT(s, OPS(PUT("a", "1"), PUT("doc/D.md", "text\n"), PUT_LEASED("l", "1", 60)));
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
}

/* ---- removal ---- */

/* How many stores there are beside this one, and this one. */
static size_t count_stores(struct probe *p, struct store *s)
{
	struct store_paths names;
	struct error err = {0};

	if (!s->backend || !s->dir)
		return 0;
	NEED(store_names(s->backend, &p->arena, s->dir, &names, &err) == 0);
	return names.n;
}

CHECK(removed, "a store that was removed is new")
{
	struct error err = {0};
	size_t n;

	probe_put(p, s, "k", "v");
	n = count_stores(p, s);
	if (!p->b->no_hold)
		NEED_STATUS(store_remove(s, &err), STORE_BAD);
	probe_leave(p, s);
	s = probe_join(p, STORE_HOLD);
	probe_put(p, s, "doc/D.md", "text\n");
	NEED_STATUS(store_remove(s, &err), STORE_BAD);
	NEED_VALUE(s, "k", "v");
	probe_del(p, s, "doc/D.md");
	NEED_STATUS(store_remove(s, &err), STORE_OK);
	NEED(!n || count_stores(p, s) == n - 1);
	probe_leave(p, s);
	s = probe_join(p, STORE_WRITE);
	NEED_KEYS("", s, "", NULL, 10);
	NEED(store_revision(s) == 0);
	probe_put(p, s, "k", "w");
	NEED_VALUE(probe_rejoin(p, s), "k", "w");
}

/* ---- blobs ---- */

static char *keep_blob(struct probe *p, struct store *s, struct str text)
{
	struct error err = {0};
	char *path = NULL;

	if (!s->backend)
		probe_skip(p, "it keeps no blobs");
	if (store_keep_blob(s->backend, &p->arena, s->dir, "b", text, &path, &err) < 0)
		MISS("a blob of %zu bytes is not kept: %s", text.n, err.text);
	return path;
}

static void need_blob(struct probe *p, struct store *s, const char *path, struct str want)
{
	struct error err = {0};

	buf_clear(&p->text);
	if (store_read_blob(s->backend, path, &p->text, &err) < 0)
		MISS("'%s' cannot be read: %s", path, err.text);
	NEED(str_eq(buf_str(&p->text), want));
}

CHECK(blobs, "a blob has any bytes, a name of its own, and more than a document")
{
	enum { LONG = STORE_DOCUMENT_MAX + 1 };
	const struct str texts[] = {STR(""), {"\0", 1}, STR("\xff\xfe\xc3"), STR("text\n"),
		{probe_bytes(p, LONG, 'm'), LONG}};
	struct error err = {0};
	char *path[COUNT(texts)], *over;

	for (int twice = 0; twice < 2; twice++)
		for (size_t i = 0; i < COUNT(texts); i++) {
			path[i] = keep_blob(p, s, texts[i]);
			NEED(i == 0 || strcmp(path[i], path[i - 1]) != 0);
		}
	s = probe_rejoin(p, s);
	for (size_t i = 0; i < COUNT(texts); i++)
		need_blob(p, s, path[i], texts[i]);
	NEED(store_read_blob(s->backend, "none.txt", &p->text, &err) < 0 && err.code == ERR_INPUT);
	NEED(store_keep_blob(s->backend, &p->arena, s->dir, "b",
		     (struct str){"", (size_t)STORE_BLOB_MAX + 1}, &over, &err) < 0 &&
		err.code == ERR_INPUT);
}

enum { SEEN_COMMITS = 200 };

/* One process writes pairs; the other sees each pair, at least once, in order, never half. */
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
		enum store_status got = store_watch(s, &p->arena, "k/", from, 10000,
			i == 1 ? 2 : 50, &w.change, &w.n, &w.next, &err);

		if (got == STORE_COMPACTED && p->b->drops_watches)
			continue;
		NEED_STATUS(got, STORE_OK);
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

CHECK_ALONE(while_others_write, "a watch misses nothing while others write")
{
	/* The store must exist: a reader does not create one. */
	probe_leave(p, probe_join(p, STORE_WRITE));
	probe_fork(p, 3, write_or_see);
}
