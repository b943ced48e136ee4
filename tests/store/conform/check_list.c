/* Lists: sorted, of a prefix, in pages, and at which revision. */
#include "tests/store/conform/probe.h"

static void sorted(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct listing l;

	COMMIT(s, OPS(PUT("b", "1"), PUT("a/b", "1"), PUT("a", "1"), PUT("a-b", "1")));
	COMMIT(s, OPS(PUT("B", "1"), PUT("_", "1"), PUT("aa", "1"), PUT("a.b", "1")));
	COMMIT(s, OPS(PUT("a0", "1"), PUT("9", "1"), PUT("10", "1")));
	l = probe_list(p, s, "", NULL, 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "10 9 B _ a a-b a.b a/b a0 aa b"));
	s = probe_rejoin(p, s);
	l = probe_list(p, s, "", NULL, 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "10 9 B _ a a-b a.b a/b a0 aa b"));
}

static void of_a_prefix(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct listing l;

	COMMIT(s, OPS(PUT("ev", "1"), PUT("ev/1", "1"), PUT("ev/2", "1"), PUT("ev0", "1"),
			  PUT("e", "1"), PUT("f", "1")));
	l = probe_list(p, s, "ev/", NULL, 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "ev/1 ev/2"));
	l = probe_list(p, s, "ev", NULL, 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "ev ev/1 ev/2 ev0"));
	NEED(probe_list(p, s, "g", NULL, 100).n == 0);
}

static void in_pages(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void after_what_is_absent(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct listing l;

	COMMIT(s, OPS(PUT("a", "1"), PUT("c", "1"), PUT("e", "1")));
	l = probe_list(p, s, "", "b", 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "c e"));
	l = probe_list(p, s, "", "c", 1);
	NEED(str_is(str_of(listing_keys(p, &l)), "e"));
	l = probe_list(p, s, "c", "a", 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "c"));
	NEED(probe_list(p, s, "", "e", 100).n == 0);
}

static void as_get(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct listing l;

	NEED_STATUS(probe_grant(s, 3, 60), STORE_OK);
	COMMIT(s, OPS(PUT("a", "1"), PUT_LEASED("b", "2", 3), PUT("c", "3")));
	COMMIT(s, OPS(PUT("a", "4"), DEL("c"), PUT("d", "")));
	l = probe_list(p, s, "", NULL, 100);
	NEED(str_is(str_of(listing_keys(p, &l)), "a b d"));
	for (size_t i = 0; i < l.n; i++) {
		struct store_kv kv = probe_get(p, s, arena_dup(&p->arena, l.kv[i].key));

		NEED(str_eq(kv.key, l.kv[i].key) && str_eq(kv.value, l.kv[i].value));
		NEED(kv.create == l.kv[i].create && kv.mod == l.kv[i].mod);
		NEED(kv.lease == l.kv[i].lease && kv.lease == (i == 1 ? 3u : 0u));
	}
}

static void then_watched(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE), *other = probe_join(p, STORE_WRITE);
	struct listing l;
	struct sight w;

	COMMIT(s, OPS(PUT("k/1", "1"), PUT("z", "1")));
	probe_put(p, s, "z", "2");
	l = probe_list(p, s, "k/", NULL, 100);
	NEED(l.at == store_revision(s));
	NEED(probe_watch(p, s, "k/", l.at + 1, 100).n == 0);
	probe_put(p, other, "k/2", "2");
	probe_del(p, other, "k/1");
	w = probe_watch(p, s, "k/", l.at + 1, 100);
	NEED(str_is(str_of(sight_text(p, &w)), "k/2=2 | -k/1"));
}

static void many_keys(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

const struct check list_checks[] = {
	{"a list is sorted by bytes", sorted},
	{"a list has the keys of its prefix alone", of_a_prefix},
	{"a list in pages has each key once", in_pages},
	{"a list goes on after a key that is not there", after_what_is_absent},
	{"a list says of a key what a get says", as_get},
	{"a watch goes on where a list was", then_watched},
	{"a thousand keys are all there after reopening", many_keys},
	{NULL, NULL},
};
