/*
 * crowd: eight processes, a thousand operations each, on one store. At the end every operation is
 * accounted for: nothing is lost or duplicated. Prints TAP. STORE=memory: in a shared memory. SEED
 * in the environment chooses the operations.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "src/store/store.h"
#include "src/sys/path.h"
#include "tests/lib/memory_store.h"
#include "tests/lib/random.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum { CROWD = 8, CROWD_OPS = 1000 };

static unsigned crowd_ops(void)
{
	const char *san = getenv("SAN");

	return (san && !strcmp(san, "1")) || run_on_memory() ? CROWD_OPS / 10 : CROWD_OPS;
}

static _Noreturn void crowd_fail(unsigned i, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "process %u: ", i);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(1);
}

/* ---- all on one store ---- */

enum { COUNTERS = 5, SLOTS = 3, REVS = 4 * CROWD_OPS };

/* The operations that a member knows to have succeeded. */
struct tally {
	unsigned added[COUNTERS], events, lines, admitted, seen, refused, n_rev;
	int64_t rev[REVS];
};

struct hall {
	char dir[512];
	uint64_t seed;
	struct tally tally[CROWD];
};

struct member {
	unsigned i, k; /* the member, and the number of its operation */
	struct tally *t;
	struct store *s;
	struct random random;
	struct arena a;
	int64_t cursor;
	unsigned value[COUNTERS]; /* as watched */
	int64_t mod[COUNTERS];    /* as got */
};

static unsigned number(struct str s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		n = n * 10 + (unsigned)(s.p[i] - '0');
	return n;
}

static struct store *join(const char *dir, enum store_mode mode)
{
	struct store *s;
	struct error err = {0};

	if (store_open(&s, store_backend(), dir, "S", mode, WAIT_LIMIT_S * 1000, &err) < 0)
		die("cannot open the store: %s", err.text);
	return s;
}

static struct store_kv get(struct member *m, const char *key)
{
	struct store_kv kv;
	struct error err = {0};

	if (store_get(m->s, &m->a, key, &kv, &err))
		crowd_fail(m->i, "get of '%s': %s", key, err.text);
	return kv;
}

/* True when it succeeded; false when it was refused. Its note names the member. */
static bool commit(struct member *m, struct store_txn *t, struct store_result *r)
{
	CLEANUP(json_free) json *note = json_object();
	struct error err = {0};
	enum store_status status;

	json_put_int(note, "by", m->i);
	json_put_int(note, "n", m->t->n_rev);
	t->note = note;
	status = store_txn(m->s, &m->a, t, r, &err);
	if (status != STORE_OK && status != STORE_REFUSED)
		crowd_fail(m->i, "operation %u: status %d: %s", m->k, (int)status, err.text);
	m->t->refused += status == STORE_REFUSED;
	if (status != STORE_OK)
		return false;
	if (m->t->n_rev == REVS)
		crowd_fail(m->i, "too many commits");
	m->t->rev[m->t->n_rev++] = r->rev;
	return true;
}

/* Returns the number of changes. A store in memory may drop a watch, which is then repeated. */
static size_t watch(struct member *m, const char *prefix, int64_t from, int ms, size_t max,
	struct store_change **out, int64_t *next)
{
	struct error err = {0};
	enum store_status got;
	size_t n;

	do
		got = store_watch(m->s, &m->a, prefix, from, ms, max, out, &n, next, &err);
	while (got == STORE_COMPACTED && run_on_memory());
	if (got != STORE_OK)
		crowd_fail(m->i, "watch of '%s': %s", prefix, err.text);
	return n;
}

/* Until the key has changed since, or for a while. */
static void await(struct member *m, const char *key, int64_t since, int ms)
{
	struct store_change *c;
	int64_t next;

	(void)watch(m, key, since + 1, ms, 1, &c, &next);
}

/* Every second one has a receipt and is repeated: it is complete already. */
static void do_add(struct member *m)
{
	unsigned c = random_below(&m->random, COUNTERS);
	char *key = arena_printf(&m->a, "c/%u", c), *name = arena_printf(&m->a, "p%u", m->i);
	struct store_kv kv = get(m, key);
	struct store_result r;
	struct store_guard guard = {.key = key, .what = STORE_MOD_IS};
	struct store_op op = {.what = STORE_PUT, .key = key};
	struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = &op, .n_ops = 1};
	int64_t rev;

	/* Its reads should be outdated now and then. */
	if (m->k % 3 == 0)
		await(m, key, kv.mod, 20);
	if (m->k % 2) {
		t.actor = name;
		t.opid = arena_printf(&m->a, "op %u", m->k);
	}
	for (;;) {
		guard.rev = kv.mod;
		op.value = str_of(arena_printf(&m->a, "%u", number(kv.value) + 1));
		if (commit(m, &t, &r))
			break;
		kv = r.now[0];
	}
	m->t->added[c]++;
	rev = r.rev;
	if (!t.actor)
		return;
	if (!commit(m, &t, &r) || r.rev != rev)
		crowd_fail(m->i, "a receipt tells of another commit");
	m->t->n_rev--; /* the same one */
}

static void do_events(struct member *m)
{
	CLEANUP(json_free) json *events = json_array();
	unsigned n = 1 + random_below(&m->random, 3);
	struct store_result r;

	for (unsigned i = 0; i < n; i++) {
		json *e = json_object();

		json_put_str(e, "type", STR("crowd"));
		json_put_int(e, "by", m->i);
		json_put_int(e, "n", m->t->events++);
		json_push(events, e);
	}
	commit(m, &(struct store_txn){.events = events}, &r);
}

/* Adds a line to the document. */
static void do_document(struct member *m)
{
	struct store_guard guard = {.key = "doc/D.md", .what = STORE_MOD_IS};
	struct store_op op = {.what = STORE_PUT, .key = "doc/D.md"};
	struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = &op, .n_ops = 1};
	struct store_result r;
	bool done = false;

	while (!done) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct error err = {0};
		struct store_kv kv;

		if (store_get_document(m->s, "doc/D.md", &text, &kv, &err))
			crowd_fail(m->i, "get of the document: %s", err.text);
		guard.rev = kv.mod;
		if (m->k % 3 == 0)
			await(m, guard.key, guard.rev, 20);
		buf_addf(&text, "%u %u\n", m->i, m->t->lines);
		op.value = buf_str(&text);
		done = commit(m, &t, &r);
	}
	m->t->lines++;
}

/* Takes a slot, a lease, in which it must be alone, and leaves it. */
static void do_slot(struct member *m)
{
	unsigned slot = random_below(&m->random, SLOTS);
	char *key = arena_printf(&m->a, "slot/%u", slot), *in = arena_printf(&m->a, "in/%u", slot);
	struct store_guard guard = {.key = key, .what = STORE_MOD_IS};
	struct store_op op = {.what = STORE_PUT, .key = key, .value = STR(""), .ttl_s = 3600};
	const struct store_op steps[] = {{.what = STORE_PUT, .key = in, .value = STR("in")},
		{.what = STORE_PUT, .key = in, .value = STR("out")},
		{.what = STORE_DEL, .key = key}};
	struct store_txn t = {.guards = &guard, .n_guards = 1, .ops = &op, .n_ops = 1};
	struct store_result r;
	struct store_kv kv;

	while (!commit(m, &t, &r))
		await(m, key, store_revision(m->s), 1000);
	kv = get(m, in);
	if (str_starts(kv.value, "in"))
		crowd_fail(m->i, "two are in slot %u", slot);
	guard = (struct store_guard){.key = key, .what = STORE_CREATED_AT, .rev = r.rev};
	for (size_t i = 0; i < COUNT(steps); i++) {
		t.ops = &steps[i];
		if (!commit(m, &t, &r))
			crowd_fail(m->i, "out of slot %u too early", slot);
	}
	m->t->admitted++;
}

static void do_get(struct member *m)
{
	unsigned c = random_below(&m->random, COUNTERS);
	struct store_kv kv = get(m, arena_printf(&m->a, "c/%u", c));

	if (kv.mod < m->mod[c] || number(kv.value) < m->t->added[c])
		crowd_fail(m->i, "counter %u went back", c);
	m->mod[c] = kv.mod;
}

static void do_list(struct member *m)
{
	struct store_kv *kv;
	struct error err = {0};
	int64_t at;
	size_t n;

	if (store_list(m->s, &m->a, "c/", NULL, COUNTERS, &kv, &n, &at, &err))
		crowd_fail(m->i, "list: %s", err.text);
	for (size_t i = 0; i < n; i++) {
		unsigned c = number(str_sub(kv[i].key, 2, kv[i].key.n));

		if (kv[i].mod < m->mod[c] || kv[i].mod > at || number(kv[i].value) < m->t->added[c])
			crowd_fail(m->i, "counter %u went back in a list", c);
		m->mod[c] = kv[i].mod;
	}
}

/* Every step of every counter, in order. */
static size_t do_watch(struct member *m)
{
	struct store_change *c;
	int64_t last = 0;
	size_t n = watch(m, "c/", m->cursor, 0, 64, &c, &m->cursor);

	for (size_t i = 0; i < n; last = c[i++].rev) {
		unsigned which = number(str_sub(c[i].kv.key, 2, c[i].kv.key.n));

		if (c[i].deleted || c[i].rev <= last || number(c[i].kv.value) != ++m->value[which])
			crowd_fail(m->i, "a watch shows counter %u at %.*s after %u", which,
				(int)c[i].kv.value.n, c[i].kv.value.p, m->value[which] - 1);
		m->t->seen++;
	}
	return n;
}

static int work(unsigned i, void *arg)
{
	struct hall *hall = arg;
	struct member m = {
		.i = i, .t = &hall->tally[i], .random = {hall->seed * CROWD + i}, .cursor = 1};

	m.s = join(hall->dir, STORE_WRITE);
	for (m.k = 0; m.k < crowd_ops(); m.k++) {
		unsigned what = random_below(&m.random, 100);

		if (what < 25)
			do_add(&m);
		else if (what < 40)
			do_events(&m);
		else if (what < 50)
			do_document(&m);
		else if (what < 57)
			do_slot(&m);
		else if (what < 75)
			do_get(&m);
		else if (what < 88)
			do_list(&m);
		else
			do_watch(&m);
		arena_release(&m.a);
	}
	while (do_watch(&m))
		arena_release(&m.a);
	store_close(&m.s);
	arena_release(&m.a);
	return 0;
}

/* ---- the accounting ---- */

static void check_counters(struct member *m, struct hall *hall)
{
	unsigned right = 0, all = 0, most = 0;

	for (unsigned c = 0; c < COUNTERS; c++) {
		struct store_kv kv = get(m, arena_printf(&m->a, "c/%u", c));
		unsigned sum = 0;

		for (unsigned i = 0; i < CROWD; i++)
			sum += hall->tally[i].added[c];
		right += number(kv.value) == sum;
		all += sum;
	}
	tap(right == COUNTERS, "%u increments are all in the counters, once", all);
	m->cursor = 1;
	while (do_watch(m))
		;
	for (unsigned i = 0; i < CROWD; i++)
		most = hall->tally[i].seen > most ? hall->tally[i].seen : most;
	tap(m->t->seen == all && most <= all,
		"a watch from the first revision shows %u of them, in order", m->t->seen);
}

static struct str document(struct member *m)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct store_kv kv;
	struct error err = {0};

	if (store_get_document(m->s, "doc/D.md", &text, &kv, &err))
		crowd_fail(m->i, "get of the document: %s", err.text);
	return arena_str(&m->a, buf_str(&text));
}

static void check_document(struct member *m, struct hall *hall)
{
	struct str rest = document(m), line;
	unsigned next[CROWD] = {0}, all = 0, odd = 0;

	while (str_line(&rest, &line)) {
		unsigned by = number(line);

		odd += by >= CROWD || number(str_sub(line, 2, line.n)) != next[by]++;
		all++;
	}
	for (unsigned i = 0; i < CROWD; i++)
		odd += next[i] != hall->tally[i].lines;
	tap(all && !odd, "%u lines are all in the document, once, in their writers' order", all);
}

static void check_slots(struct member *m, struct hall *hall)
{
	struct error err = {0};
	struct store_kv *kv;
	unsigned admitted = 0, out = 0;
	int64_t at;
	size_t n = 1;

	for (unsigned i = 0; i < CROWD; i++)
		admitted += hall->tally[i].admitted;
	for (unsigned i = 0; i < SLOTS; i++)
		out += str_is(get(m, arena_printf(&m->a, "in/%u", i)).value, "out");
	store_list(m->s, &m->a, "slot/", NULL, 10, &kv, &n, &at, &err);
	tap(!n && out == SLOTS, "%u times one alone was in a slot, and all are free", admitted);
}

/* The journal's content, commit by commit. */
struct audit {
	unsigned commits[CROWD], events[CROWD];
	int64_t rev, seq;
	unsigned rev_gaps, seq_gaps, odd_events, odd_commits;
};

static void audit_events(struct audit *u, const struct store_commit *c)
{
	struct str events = c->events;

	for (json *e; (e = store_next_event(&events, "")); json_free(&e)) {
		int64_t by = json_get_int(e, "by", CROWD);

		u->seq_gaps += json_get_int(e, "seq", 0) != ++u->seq ||
			       json_get_int(e, "rev", 0) != c->rev;
		u->odd_events += by >= CROWD || json_get_int(e, "n", -1) != u->events[by]++;
	}
}

static void audit_commit(struct audit *u, const struct hall *hall, const struct store_commit *c)
{
	int64_t by = c->note ? json_get_int(c->note, "by", CROWD) : CROWD;

	u->rev_gaps += c->rev != ++u->rev;
	audit_events(u, c);
	if (by >= CROWD) {
		u->odd_commits++;
		return;
	}
	u->odd_commits += u->commits[by] >= hall->tally[by].n_rev ||
			  hall->tally[by].rev[u->commits[by]] != c->rev ||
			  json_get_int(c->note, "n", -1) != u->commits[by];
	u->commits[by]++;
}

static int open_history(const char *dir, const char *name, struct store **s,
	struct store_history **h, struct error *err)
{
	if (store_open(s, store_backend(), dir, name, STORE_HISTORY, 0, err) < 0)
		return -1;
	return store_history(*s, &(struct store_range){.texts = true}, h, err) == STORE_OK ? 0 : -1;
}

static void check_journal(struct member *m, struct hall *hall)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct audit u = {0};
	struct store_commit c;
	struct error err = {0};
	int more = open_history(hall->dir, "S", &s, &h, &err);

	while (more >= 0 && (more = store_history_next(h, &c, &err)) > 0) {
		audit_commit(&u, hall, &c);
		if (c.document) {
			buf_clear(&text);
			buf_add(&text, c.text);
		}
	}
	tap(more == 0, "the journal can be read to its end%s%s", more ? ": " : "", err.text);
	for (unsigned i = 0; i < CROWD; i++) {
		u.odd_events += u.events[i] != hall->tally[i].events;
		u.odd_commits += u.commits[i] != hall->tally[i].n_rev;
	}
	tap(!u.rev_gaps && u.rev == store_revision(m->s),
		"%lld revisions without a gap or a repeat", (long long)u.rev);
	tap(!u.odd_commits, "each commit has the revision that its writer was told");
	tap(!u.seq_gaps && u.seq == store_last_seq(m->s) && !u.odd_events,
		"%lld events without a gap, each once", (long long)u.seq);
	tap(str_eq(buf_str(&text), document(m)), "the document of the journal is the one on disk");
}

static void crowd_on_a_store(const char *dir)
{
	struct hall *hall = run_shared(sizeof(*hall));
	struct tally own = {0};
	struct member m = {.i = CROWD, .t = &own};
	unsigned good, refused = 0;
	int64_t start = clock_ticks(), took;

	hall->seed = random_seed(NULL);
	snprintf(hall->dir, sizeof(hall->dir), "%s/store", dir);
	good = run_processes(CROWD, work, hall);
	took = clock_ticks() - start;
	tap(good == CROWD, "%u of %d processes do %u operations each", good, CROWD, crowd_ops());
	m.s = join(hall->dir, STORE_WRITE);
	check_counters(&m, hall);
	check_document(&m, hall);
	check_slots(&m, hall);
	check_journal(&m, hall);
	for (unsigned i = 0; i < CROWD; i++)
		refused += hall->tally[i].refused;
	tap_notef("figures: %u operations of %d processes on one store: %lld commits, %u refused, "
		  "%.1f s",
		CROWD * crowd_ops(), CROWD, (long long)store_revision(m.s), refused,
		(double)took / 1000);
	store_close(&m.s);
	arena_release(&m.a);
}

int main(void)
{
	char *dir = tree_scratch("crowd");

	if (run_on_memory())
		memory_store_share(dir, false);
	crowd_on_a_store(dir);
	tree_remove(dir);
	free(dir);
	return tap_end();
}
