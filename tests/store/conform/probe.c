#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/store/conform/probe.h"

/* ---- the suite ---- */

static struct check *first_check, **next_check = &first_check;

void probe_register(struct check *c)
{
	*next_check = c;
	next_check = &c->next;
}

/* In a function of its own: nothing that lives across the jump is in registers. */
static void attempt(struct probe *p, const struct check *c)
{
	if (!setjmp(p->out))
		c->run(p, c->alone ? NULL : probe_join(p, STORE_WRITE));
}

static void run_check(const struct backend *b, const struct check *c, unsigned n, struct probe *p)
{
	memset(p, 0, sizeof(*p));
	p->b = b;
	snprintf(p->ns, sizeof(p->ns), "check-%u", n);
	clock_fix(CONFORMANCE_TIME);
	attempt(p, c);
	for (size_t i = 0; i < PROBE_CLIENTS; i++)
		store_close(&p->clients[i]);
	arena_release(&p->arena);
	buf_release(&p->scratch);
	buf_release(&p->text);
	delta_release(&p->delta);
	json_free(&p->events);
}

void conformance(const struct backend *b, const char *only,
	void (*tell)(void *to, const struct verdict *v), void *to)
{
	unsigned n = 0;
	static struct probe p;

	for (const struct check *c = first_check; c; c = c->next) {
		n++;
		if (only && !strstr(c->name, only))
			continue;
		run_check(b, c, n, &p);
		tell(to, &(struct verdict){c->name, p.why[0] ? p.why : NULL, p.skipped});
	}
}

/* ---- functions of the checks ---- */

_Noreturn void probe_miss(struct probe *p, const char *file, int line, const char *fmt, ...)
{
	const char *slash = strrchr(file, '/');
	va_list ap;
	int n;

	n = snprintf(p->why, sizeof(p->why), "%s:%d: ", slash ? slash + 1 : file, line);
	va_start(ap, fmt);
	vsnprintf(p->why + n, sizeof(p->why) - (size_t)n, fmt, ap);
	va_end(ap);
	longjmp(p->out, 1);
}

_Noreturn void probe_skip(struct probe *p, const char *why)
{
	snprintf(p->why, sizeof(p->why), "%s", why);
	p->skipped = true;
	longjmp(p->out, 1);
}

static const char *status_name(enum store_status status)
{
	static const char *const names[] = {
		"OK", "REFUSED", "UNKNOWN", "COMPACTED", "TIMEOUT", "DOWN", "BAD"};

	return (size_t)status < sizeof(names) / sizeof(*names) ? names[status] : "no status";
}

void probe_status(
	struct probe *p, const char *file, int line, enum store_status got, enum store_status want)
{
	if (got != want)
		probe_miss(p, file, line, "%s, not %s", status_name(got), status_name(want));
}

struct store *probe_join(struct probe *p, enum store_mode mode)
{
	struct error err = {0};
	size_t i = 0;

	while (i < PROBE_CLIENTS && p->clients[i])
		i++;
	if (i == PROBE_CLIENTS)
		die("a check has too many clients");
	if (p->b->open(p->b, p->ns, mode, &p->clients[i], &err) < 0) {
		p->clients[i] = NULL;
		MISS("cannot open: %s", err.text);
	}
	return p->clients[i];
}

void probe_leave(struct probe *p, struct store *s)
{
	for (size_t i = 0; i < PROBE_CLIENTS; i++)
		if (p->clients[i] == s)
			store_close(&p->clients[i]);
}

struct store *probe_rejoin(struct probe *p, struct store *s)
{
	probe_leave(p, s);
	return probe_join(p, STORE_WRITE);
}

int64_t probe_commit(
	struct probe *p, const char *file, int line, struct store *s, const struct store_txn *t)
{
	struct store_result r = {0};
	struct error err = {0};
	enum store_status status = store_txn(s, &p->arena, t, &r, &err);

	if (status != STORE_OK)
		probe_miss(p, file, line, "%s: %s", status_name(status), err.text);
	return r.rev;
}

enum store_status probe_try(
	struct probe *p, struct store *s, struct store_result *r, const struct store_txn *t)
{
	struct store_result unread = {0};
	struct error err = {0};
	enum store_status status = store_txn(s, &p->arena, t, r ? r : &unread, &err);

	if (status > STORE_REFUSED && !err.text[0])
		MISS("%s without a text", status_name(status));
	return status;
}

int64_t probe_put(struct probe *p, struct store *s, const char *key, const char *value)
{
	return COMMIT(s, OPS(PUT(key, value)));
}

int64_t probe_put_text(struct probe *p, struct store *s, const char *key, struct str value)
{
	return COMMIT(s, OPS({.what = STORE_PUT, .key = key, .value = value}));
}

int64_t probe_del(struct probe *p, struct store *s, const char *key)
{
	return COMMIT(s, OPS(DEL(key)));
}

struct store_kv probe_get(struct probe *p, struct store *s, const char *key)
{
	struct store_kv kv = {0};
	struct error err = {0};
	enum store_status status = conformance_get(s, &p->arena, key, &kv, &err);

	if (status != STORE_OK)
		MISS("get of '%s': %s: %s", key, status_name(status), err.text);
	return kv;
}

void probe_value(struct probe *p, const char *file, int line, struct store *s, const char *key,
	const char *value)
{
	struct store_kv kv = probe_get(p, s, key);

	if (!value && kv.mod)
		probe_miss(p, file, line, "'%s' is still there", key);
	if (value && !kv.mod)
		probe_miss(p, file, line, "'%s' is not there", key);
	if (value && !str_is(kv.value, value))
		probe_miss(p, file, line, "'%s' is '%.*s', not '%.40s'", key,
			(int)(kv.value.n < 40 ? kv.value.n : 40), kv.value.p, value);
}

struct listing probe_list(
	struct probe *p, struct store *s, const char *prefix, const char *after, size_t max)
{
	struct listing l = {0};
	struct error err = {0};
	enum store_status status =
		store_list(s, &p->arena, prefix, after, max, &l.kv, &l.n, &l.at, &err);

	if (status != STORE_OK)
		MISS("list of '%s': %s: %s", prefix, status_name(status), err.text);
	return l;
}

const char *listing_keys(struct probe *p, const struct listing *l)
{
	buf_clear(&p->scratch);
	for (size_t i = 0; i < l->n; i++) {
		buf_adds(&p->scratch, i ? " " : "");
		buf_add(&p->scratch, l->kv[i].key);
	}
	return arena_dup(&p->arena, buf_str(&p->scratch));
}

struct sight probe_watch(
	struct probe *p, struct store *s, const char *prefix, int64_t from, size_t max)
{
	struct sight w = {0};
	struct error err = {0};
	enum store_status status;
	unsigned n = 0;

	do
		status = store_watch(
			s, &p->arena, prefix, from, 0, max, &w.change, &w.n, &w.next, &err);
	while (status == STORE_COMPACTED && p->b->drops_watches && ++n < 20);
	if (status != STORE_OK)
		MISS("watch from %lld: %s: %s", (long long)from, status_name(status), err.text);
	return w;
}

static int by_key(const void *a, const void *b)
{
	const struct str x = ((const struct store_change *)a)->kv.key;
	const struct str y = ((const struct store_change *)b)->kv.key;
	int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);

	return order ? order : (x.n > y.n) - (x.n < y.n);
}

const char *sight_text(struct probe *p, const struct sight *w)
{
	/* Within a commit sorted by key: backends share no other order. */
	for (size_t i = 0, n; i < w->n; i += n) {
		for (n = 1; i + n < w->n && w->change[i + n].rev == w->change[i].rev;)
			n++;
		qsort(w->change + i, n, sizeof(*w->change), by_key);
	}
	buf_clear(&p->scratch);
	for (size_t i = 0; i < w->n; i++) {
		const struct store_change *c = &w->change[i];

		if (i)
			buf_adds(&p->scratch, c->rev == c[-1].rev ? " " : " | ");
		buf_adds(&p->scratch, c->deleted ? "-" : "");
		buf_add(&p->scratch, c->kv.key);
		if (!c->deleted) {
			buf_addc(&p->scratch, '=');
			buf_add(&p->scratch, c->kv.value);
		}
	}
	return arena_dup(&p->arena, buf_str(&p->scratch));
}

void probe_later(struct probe *p, int64_t seconds)
{
	p->b->advance(p->b, seconds);
}

void probe_by_hand(struct probe *p, const struct str *text)
{
	if (!p->b->by_hand)
		probe_skip(p, "this backend does not keep documents in files");
	p->b->by_hand(p->b, p->ns, "D.md", text);
}

struct str probe_all(struct probe *p, struct store *s)
{
	struct listing l = probe_list(p, s, "", NULL, 10000);
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (size_t i = 0; i < l.n; i++) {
		const struct store_kv *kv = &l.kv[i];

		buf_add(&out, kv->key);
		buf_addf(&out, " %lld %lld %lld ", (long long)kv->create, (long long)kv->mod,
			(long long)kv->until);
		buf_add(&out, kv->value);
		buf_addc(&out, '\n');
	}
	buf_addf(&out, "%lld events", (long long)store_last_seq(s));
	return arena_str(&p->arena, buf_str(&out));
}

int probe_number(struct str s)
{
	int n = 0;

	for (size_t i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		n = n * 10 + (s.p[i] - '0');
	return n;
}

char *probe_bytes(struct probe *p, size_t n, char c)
{
	char *bytes = arena_alloc(&p->arena, n + 1);

	memset(bytes, c, n);
	return bytes;
}

bool probe_add(struct store *s, struct arena *a, const char *key, int *tries)
{
	for (int once = 0; once < 100000; once++) {
		struct store_result r = {0};
		struct store_kv kv;
		struct error err = {0};
		enum store_status status = store_get(s, a, key, &kv, &err);

		if (status != STORE_OK)
			return false;
		++*tries;
		status = store_txn(s, a,
			&(struct store_txn){GUARDS(MOD_IS(key, kv.mod)),
				OPS(PUT(key, arena_printf(a, "%d", probe_number(kv.value) + 1)))},
			&r, &err);
		if (status != STORE_REFUSED)
			return status == STORE_OK;
	}
	return false;
}

void probe_meet(struct probe *p, unsigned times)
{
	unsigned met = p->met ? __atomic_add_fetch(p->met, 1, __ATOMIC_SEQ_CST) : times;

	for (int i = 0; i < 2000 && met < times; i++) {
		sched_yield();
		met = __atomic_load_n(p->met, __ATOMIC_SEQ_CST);
	}
	if (met < times)
		p->met = NULL; /* nor the next time */
}

struct forked {
	struct probe *p;
	void (*f)(struct probe *p, unsigned i);
};

/* The child has its own clients. */
static int child(unsigned i, void *data)
{
	struct forked *forked = data;
	struct probe own = {.b = forked->p->b, .met = forked->p->met};

	memcpy(own.ns, forked->p->ns, sizeof(own.ns));
	if (setjmp(own.out)) {
		fprintf(stderr, "%s: process %u: %s\n", own.b->name, i, own.why);
		return 1;
	}
	forked->f(&own, i);
	for (size_t c = 0; c < PROBE_CLIENTS; c++)
		store_close(&own.clients[c]);
	arena_release(&own.arena);
	buf_release(&own.scratch);
	return 0;
}

void probe_fork(struct probe *p, unsigned n, void (*f)(struct probe *p, unsigned i))
{
	unsigned good;

	if (!p->b->shared)
		probe_skip(p, "no other process reaches it");
	p->met = run_shared(sizeof(*p->met));
	good = run_processes(n, child, &(struct forked){p, f});
	if (good < n)
		MISS("%u of %u processes failed", n - good, n);
}
