/*
 * Any bytes as the journal of a store on a disk in memory. The first byte selects the form: `r`
 * unchanged; `m` with corrected sums and offsets in the commit lines, to reach the code behind the
 * sums; `a` after a valid journal; `b` both; `c` pairs of bytes that damage a valid journal. 0x1e
 * separates the journal, the document and the staged file.
 *
 * An open accepts it, or refuses it and changes nothing; a second open changes nothing more; the
 * commits before the damage are kept, and come first in the history.
 */
#include "src/base/clock.h"
#include "src/sys/digest.h"
#include "tests/model/sim_disk.h"
#include "src/store/store.h"
#include "tests/fuzz/fuzz.h"

#define DIR     "/s"
#define NAME    "T-1"
#define KEY     "doc/T-1.md"
#define JOURNAL DIR "/" NAME ".events.jsonl"
#define FILE_OF DIR "/" NAME ".md"
#define STAGED  DIR "/." NAME ".md.new2"
#define NOW     ((int64_t)1795240800)

enum { COMMITS = 6 };

/* ---- a valid journal ---- */

static void our_commit(struct store *s, unsigned i)
{
	static const char *const texts[] = {"one\n", "one\ntwo\n", "\xff\n", "two\n", "", "two\n"};
	const struct store_op ops[] = {{STORE_PUT, KEY, str_of(texts[i]), 0, NULL},
		{STORE_PUT, "holder", STR("Ada"), 0, NULL},
		{i == 3 ? STORE_DEL : STORE_PUT, "slot/1", STR("x"), 600, NULL}};
	struct store_txn t = {.ops = ops, .n_ops = COUNT(ops)};
	CLEANUP(json_free) json *events = json_array();
	struct arena a = {0};
	struct store_result result;
	struct error err;
	json *event = json_object();

	json_put_str(event, "type", STR("answer"));
	json_push(events, event);
	t.events = events;
	expect(store_txn(s, &a, &t, &result, &err) == STORE_OK);
	arena_release(&a);
}

static struct {
	struct buf text;
	size_t ends[COMMITS]; /* of its commits */
} ours;

static void make_ours(void)
{
	CLEANUP(sim_disk_free) struct disk *d = sim_disk_new(1);
	CLEANUP(store_close) struct store *s = NULL;
	struct error err;

	if (ours.text.len)
		return;
	expect(store_open(&s, store_files(d), DIR, NAME, STORE_HOLD, 0, &err) == 0);
	for (unsigned i = 0; i < COMMITS; i++) {
		our_commit(s, i);
		buf_clear(&ours.text);
		expect(sim_disk_get(d, JOURNAL, &ours.text));
		ours.ends[i] = ours.text.len;
	}
}

/* ---- corrected commit lines ---- */

static void put_number(struct buf *line, const char *member, size_t value)
{
	CLEANUP(buf_release) struct buf copy = BUF_INIT;
	struct str s = buf_str(line);
	size_t at = str_find(s, str_of(member)), end = at + strlen(member);

	if (at == s.n)
		return;
	while (end < s.n && s.p[end] >= '0' && s.p[end] <= '9')
		end++;
	buf_add(&copy, str_sub(s, 0, at));
	buf_addf(&copy, "%s%zu", member, value);
	buf_add(&copy, str_sub(s, end, s.n));
	buf_clear(line);
	buf_add(line, buf_str(&copy));
}

static void mend_line(struct buf *out, struct str text, size_t from)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	char sum[DIGEST_TEXT];
	size_t cut;

	buf_add(&line, text);
	put_number(&line, "\"from\":", from);
	put_number(&line, "\"at\":", out->len);
	cut = str_find(buf_str(&line), STR(",\"sum\":\""));
	if (cut < line.len)
		line.len = cut;
	else if (line.len)
		line.len--;
	buf_add(out, buf_str(&line));
	digest_text(str_sub(buf_str(out), from, out->len), sum);
	buf_addf(out, ",\"sum\":\"%s\"}\n", sum);
}

static void mend(struct buf *out, struct str text)
{
	size_t from = out->len;
	struct str line;

	while (text.n) {
		bool whole = memchr(text.p, '\n', text.n) != NULL;

		(void)str_line(&text, &line);
		if (whole && str_starts(line, "{\"commit\":")) {
			mend_line(out, line, from);
			from = out->len;
		} else {
			buf_add(out, line);
			buf_adds(out, whole ? "\n" : "");
		}
	}
}

/* ---- the checks ---- */

static void look_around(struct store *s)
{
	struct arena a = {0};
	struct store_kv *all, one;
	struct store_change *changes;
	struct error err;
	size_t n;
	int64_t at, next;

	if (store_list(s, &a, "", NULL, 1000, &all, &n, &at, &err) == STORE_OK)
		for (size_t i = 0; i < n; i++)
			(void)store_get(s, &a, all[i].key.p, &one, &err);
	(void)store_watch(s, &a, "", 1, 0, 1000, &changes, &n, &next, &err);
	arena_release(&a);
}

/* -1 when it was refused; else the revision. */
static int64_t opened(struct disk *d)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};
	struct store_kv kv;

	if (store_open(&s, store_files(d), DIR, NAME, STORE_HOLD, 0, &err) < 0) {
		expect(err.code != ERR_NONE && err.text[0]);
		return -1;
	}
	(void)store_get_document(s, KEY, &text, &kv, &err);
	look_around(s);
	return store_revision(s);
}

/* From the last commit before the damage to the first. */
static void backwards(struct store *s, int64_t from)
{
	CLEANUP(store_history_close) struct store_history *h = NULL;
	const struct store_range range = {.from = from, .backwards = true, .texts = true};
	struct store_commit c;
	struct error err = {0};
	int64_t rev = INT64_MAX;

	if (store_history(s, &range, &h, &err) != STORE_OK)
		return;
	while (store_history_next(h, &c, &err) == 1) {
		expect(c.rev < rev);
		rev = c.rev;
	}
}

/* The number of commits in the history before its end or its damage. */
static size_t history(struct disk *d)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	struct error err = {0};
	size_t n = 0;
	int64_t rev = 0;
	int rc;

	if (store_open(&s, store_files(d), DIR, NAME, STORE_HISTORY, 0, &err) < 0)
		return 0;
	if (store_history(s, &(struct store_range){.texts = true}, &h, &err) != STORE_OK)
		return 0;
	while ((rc = store_history_next(h, &c, &err)) == 1) {
		expect(c.rev > rev);
		rev = c.rev;
		n++;
	}
	expect(rc == 0 || err.text[0]);
	backwards(s, rev);
	return n;
}

static void play(struct disk *d)
{
	CLEANUP(buf_release) struct buf before = BUF_INIT, after = BUF_INIT, again = BUF_INIT;
	int64_t rev;

	(void)sim_disk_get(d, JOURNAL, &before);
	(void)history(d);
	rev = opened(d);
	(void)sim_disk_get(d, JOURNAL, &after);
	if (rev < 0) {
		expect(str_eq(buf_str(&before), buf_str(&after)));
		return;
	}
	expect(opened(d) == rev);
	(void)sim_disk_get(d, JOURNAL, &again);
	expect(str_eq(buf_str(&after), buf_str(&again)));
	(void)history(d);
}

/* After a valid journal: all of it is kept. */
static void behind(struct disk *d, struct str more, bool mended)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, after = BUF_INIT;
	size_t n = ours.text.len;

	buf_add(&text, buf_str(&ours.text));
	if (mended)
		mend(&text, more);
	else
		buf_add(&text, more);
	sim_disk_put(d, JOURNAL, buf_str(&text));
	/* Unless a later version wrote the rest. */
	expect(history(d) >= COMMITS || opened(d) < 0);
	play(d);
	(void)sim_disk_get(d, JOURNAL, &after);
	expect(after.len >= n && memcmp(after.s, ours.text.s, n) == 0);
}

static void damaged(struct disk *d, struct str triples)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, after = BUF_INIT;
	size_t first = ours.text.len, whole = 0;

	buf_add(&text, buf_str(&ours.text));
	for (size_t i = 0; i + 2 < triples.n; i += 3) {
		size_t at =
			((size_t)(uint8_t)triples.p[i] << 8 | (uint8_t)triples.p[i + 1]) % text.len;

		text.s[at] = (char)(text.s[at] ^ triples.p[i + 2]);
		if (triples.p[i + 2] && at < first)
			first = at;
	}
	while (whole < COMMITS && ours.ends[whole] <= first)
		whole++;
	sim_disk_put(d, JOURNAL, buf_str(&text));
	expect(history(d) >= whole);
	play(d);
	(void)sim_disk_get(d, JOURNAL, &after);
	expect(after.len >= (whole ? ours.ends[whole - 1] : 0));
	if (whole)
		expect(memcmp(text.s, after.s, ours.ends[whole - 1]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(sim_disk_free) struct disk *d = sim_disk_new(1);
	CLEANUP(buf_release) struct buf mended = BUF_INIT;
	struct str rest = {(const char *)data, size}, journal;
	char how = size ? rest.p[0] : 'r';

	clock_fix(NOW);
	make_ours();
	rest = str_sub(rest, size ? 1 : 0, size);
	journal = how == 'c' ? rest : fuzz_part(&rest, STR("\x1e"));
	if (how != 'c' && rest.n)
		sim_disk_put(d, FILE_OF, fuzz_part(&rest, STR("\x1e")));
	if (how != 'c' && rest.n)
		sim_disk_put(d, STAGED, rest);
	mend(&mended, journal);
	if (how == 'c')
		damaged(d, journal);
	else if (how == 'a' || how == 'b')
		behind(d, journal, how == 'b');
	else
		sim_disk_put(d, JOURNAL, how == 'm' ? buf_str(&mended) : journal);
	if (how != 'a' && how != 'b' && how != 'c')
		play(d);
	return 0;
}
