/* Documents: keys doc/NAME, long and of any bytes. */
#include "tests/store/conform/probe.h"

/* It must be `want`, by either way to read it; returns its mod. */
static int64_t need_document(struct probe *p, struct store *s, const char *key, struct str want)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_kv kv = probe_get(p, s, key);
	bool by_hand = true, same = str_eq(kv.value, want);
	struct error err = {0};
	int64_t mod = -1;
	enum store_status status = store_get_document(s, key, &text, &mod, &by_hand, &err);

	same = same && str_eq(buf_str(&text), want);
	buf_release(&text);
	NEED_STATUS(status, STORE_OK);
	NEED(kv.mod > 0 && mod == kv.mod);
	if (!same)
		MISS("'%s' is not what was put", key);
	NEED(!by_hand);
	return mod;
}

static void any_bytes(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void sixteen_mib(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct str most = {probe_bytes(p, STORE_DOCUMENT_MAX + 1, 'm'), STORE_DOCUMENT_MAX};
	struct str over = {most.p, STORE_DOCUMENT_MAX + 1};
	int64_t rev = probe_put_text(p, s, "doc/D.md", most);

	NEED(need_document(p, s, "doc/D.md", most) == rev);
	NEED_STATUS(TRY(s, NULL, OPS({.what = STORE_PUT, .key = "doc/D.md", .value = over})),
		STORE_BAD);
	NEED(store_revision(s) == rev);
	s = probe_rejoin(p, s);
	NEED(need_document(p, s, "doc/D.md", most) == rev);
	rev = probe_put(p, s, "doc/D.md", "small again\n");
	NEED(need_document(p, s, "doc/D.md", STR("small again\n")) == rev);
}

static void with_keys(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, OPS(PUT("a", "1"), PUT("doc/D.md", "one\n"), PUT("b", "2")));

	NEED(need_document(p, s, "doc/D.md", STR("one\n")) == rev);
	NEED(probe_get(p, s, "a").mod == rev);
	NEED_STATUS(TRY(s, NULL, OPS(PUT("doc/D.md", "two\n"), PUT("a b", "2"))), STORE_BAD);
	NEED(need_document(p, s, "doc/D.md", STR("one\n")) == rev);
	NEED_STATUS(
		TRY(s, NULL, GUARDS(MOD_IS("a", 0)), OPS(PUT("doc/D.md", "two\n"))), STORE_REFUSED);
	NEED(need_document(p, probe_rejoin(p, s), "doc/D.md", STR("one\n")) == rev);
}

static void comes_and_goes(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t first = probe_put(p, s, "doc/D.md", "one\n"), mod = -1, back;
	struct error err = {0};

	NEED(probe_put(p, s, "doc/D.md", "two\n") > first);
	NEED(probe_get(p, s, "doc/D.md").create == first);
	probe_del(p, s, "doc/D.md");
	NEED_VALUE(s, "doc/D.md", NULL);
	NEED_STATUS(store_get_document(s, "doc/D.md", &p->text, &mod, NULL, &err), STORE_OK);
	NEED(mod == 0 && p->text.len == 0);
	s = probe_rejoin(p, s);
	NEED_VALUE(s, "doc/D.md", NULL);
	back = probe_put(p, s, "doc/D.md", "three\n");
	NEED(need_document(p, s, "doc/D.md", STR("three\n")) == back);
	NEED(probe_get(p, s, "doc/D.md").create == back);
}

static void guarded(struct probe *p)
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

static void told_by_delta(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	struct str one = STR("# T\n\nfirst\n\nlast\n"), two = STR("# T\n\nfirst\nnew\n\nlast\n");
	int64_t rev = probe_put_text(p, s, "doc/D.md", one);

	delta_between(&p->delta, one, two);
	rev = COMMIT(s, GUARDS(MOD_IS("doc/D.md", rev)),
		OPS({.what = STORE_PUT, .key = "doc/D.md", .value = two, .delta = &p->delta}));
	NEED(need_document(p, s, "doc/D.md", two) == rev);
	NEED(need_document(p, probe_rejoin(p, s), "doc/D.md", two) == rev);
}

static void listed_without_text(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev = COMMIT(s, OPS(PUT("doc/D.md", "text\n"), PUT("e", "1")));
	struct listing l = probe_list(p, s, "doc", NULL, 10);
	struct sight w = probe_watch(p, s, "doc/", 1, 10);

	NEED(l.n == 1 && str_is(l.kv[0].key, "doc/D.md") && l.kv[0].mod == rev);
	NEED(l.kv[0].value.n == 0 && l.kv[0].create == rev);
	NEED(w.n == 1 && str_is(w.change[0].kv.key, "doc/D.md") && w.change[0].rev == rev);
	NEED(w.change[0].kv.value.n == 0 && !w.change[0].deleted);
}

static void many_versions(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);

	for (int i = 0; i < 60; i++) {
		struct str copy;
		int64_t rev;

		if (i % 7 == 6)
			buf_clear(&p->text);
		buf_addf(&p->text, "line %d\n%*d\n", i, i * 3, i);
		copy = arena_str(&p->arena, buf_str(&p->text));
		rev = probe_put_text(p, s, "doc/D.md", copy);
		NEED(need_document(p, s, "doc/D.md", copy) == rev);
		if (i % 5 == 4)
			s = probe_rejoin(p, s);
		if (i % 5 == 4)
			NEED(need_document(p, s, "doc/D.md", copy) == rev);
	}
}

static void two_documents(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
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

static void no_lease(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	int64_t rev;

	NEED_STATUS(probe_grant(s, 1, 60), STORE_OK);
	rev = store_revision(s);
	NEED_STATUS(TRY(s, NULL, OPS(PUT_LEASED("doc/D.md", "x\n", 1))), STORE_BAD);
	NEED(store_revision(s) == rev);
	NEED_VALUE(s, "doc/D.md", NULL);
}

static void names_of_files(struct probe *p)
{
	static const char *const bad[] = {"doc/", "doc/.", "doc/..", "doc/../D.md", "doc//D.md",
		"doc/a/../../D.md", "doc/a/D.md", "doc/.D.md", "doc/S.events.jsonl", "doc/\xff.md"};
	struct store *s = probe_join(p, STORE_WRITE);

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		NEED_STATUS(TRY(s, NULL, OPS(PUT(bad[i], "x\n"))), STORE_BAD);
	NEED(store_revision(s) == 0);
}

/* The next get finds it; what it found is a commit like any other. */
static int64_t need_hand(struct probe *p, struct store *s, struct str want)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t before = store_revision(s), mod = -1;
	struct error err = {0};
	bool by_hand = false, same;
	enum store_status status = store_get_document(s, "doc/D.md", &text, &mod, &by_hand, &err);

	same = str_eq(buf_str(&text), want);
	buf_release(&text);
	NEED_STATUS(status, STORE_OK);
	NEED(by_hand && same);
	NEED(store_revision(s) > before);
	return mod;
}

static void by_hand(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	const struct str edit = STR("one, and more\n"), other = STR("something else\n");
	int64_t rev = probe_put(p, s, "doc/D.md", "one\n"), mod;

	if (!p->b->by_hand)
		probe_skip(p, "its documents are no files");
	p->b->by_hand(p->b, p->ns, "D.md", &edit);
	mod = need_hand(p, s, edit);
	NEED(mod > rev && mod == need_document(p, s, "doc/D.md", edit));
	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("doc/D.md", rev)), OPS(PUT("doc/D.md", "lost\n"))),
		STORE_REFUSED);
	NEED_STATUS(TRY(s, NULL, GUARDS(CREATED_AT("doc/D.md", rev))), STORE_OK);
	NEED(str_is(str_of(sight_text(p, &(struct sight[]){probe_watch(p, s, "doc/", 1, 9)}[0])),
		"doc/D.md= | doc/D.md="));
	p->b->by_hand(p->b, p->ns, "D.md", NULL);
	need_hand(p, s, STR(""));
	NEED_VALUE(s, "doc/D.md", NULL);
	p->b->by_hand(p->b, p->ns, "D.md", &other);
	mod = need_hand(p, s, other);
	NEED(probe_get(p, s, "doc/D.md").create == mod);
	NEED(need_document(p, probe_rejoin(p, s), "doc/D.md", other) == mod);
}

static void by_hand_unread(struct probe *p)
{
	struct store *s = probe_join(p, STORE_WRITE);
	const struct str edit = STR("by hand\n");
	int64_t rev = probe_put(p, s, "doc/D.md", "one\n");

	if (!p->b->by_hand)
		probe_skip(p, "its documents are no files");
	p->b->by_hand(p->b, p->ns, "D.md", &edit);
	NEED_STATUS(TRY(s, NULL, GUARDS(MOD_IS("doc/D.md", rev)), OPS(PUT("doc/D.md", "lost\n"))),
		STORE_REFUSED);
	need_document(p, s, "doc/D.md", edit);
}

const struct check document_checks[] = {
	{"a document has any bytes", any_bytes},
	{"a document has up to 16 MiB", sixteen_mib},
	{"a document and keys change in one commit", with_keys},
	{"a document can be deleted and made again", comes_and_goes},
	{"a document is guarded as a key is", guarded},
	{"a document put with a delta is its value", told_by_delta},
	{"a document is listed and watched without its text", listed_without_text},
	{"a document is the last version of many", many_versions},
	{"two documents of a store are two", two_documents},
	{"a document has no lease", no_lease},
	{"a document's name is that of a file in its folder", names_of_files},
	{"an edit by hand is a commit of the next get", by_hand},
	{"an edit by hand that nobody read yet is not written over", by_hand_unread},
	{NULL, NULL},
};
