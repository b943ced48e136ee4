/* Two backends side by side: the same random operations must give the same results. */
#include <stdio.h>
#include <stdlib.h>
#include "src/base/clock.h"
#include "tests/store/conform/conformance.h"

enum { KEYS = 9, COPIED = 64 };

/* What a watch made of one key. */
struct copy {
	char key[32];
	int64_t mod;
};

struct side {
	const struct backend *b;
	struct store *s;
	int64_t *rev; /* of each commit that both made, in their order */
	int64_t cursor;
	struct copy copy[COPIED];
	size_t n_copy;
};

struct pair {
	struct side side[2];
	size_t n_rev;
	uint64_t seed;
	struct arena a;
	char ns[64];
	unsigned opid;
	struct buf *why;
};

static uint32_t any(struct pair *p, uint32_t n)
{
	p->seed = p->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(p->seed >> 33) % n;
}

static bool differ(struct pair *p, const char *what, int64_t one, int64_t other)
{
	buf_addf(p->why, "%s: %lld and %lld", what, (long long)one, (long long)other);
	return false;
}

/* The index of the common commit; -1: one that only this side made. */
static int64_t ordinal(const struct pair *p, int i, int64_t rev)
{
	for (size_t n = p->n_rev; n-- > 0;)
		if (p->side[i].rev[n] == rev)
			return (int64_t)n + 1;
	return rev ? -1 : 0;
}

static bool same_kv(struct pair *p, const struct store_kv *one, const struct store_kv *other)
{
	if (!str_eq(one->key, other->key) || !str_eq(one->value, other->value)) {
		buf_addf(p->why, "'%.*s' is '%.*s' and '%.*s' is '%.*s'", (int)one->key.n,
			one->key.p, (int)one->value.n, one->value.p, (int)other->key.n,
			other->key.p, (int)other->value.n, other->value.p);
		return false;
	}
	if (one->until != other->until)
		return differ(p, "end of a lease", one->until, other->until);
	if (ordinal(p, 0, one->mod) != ordinal(p, 1, other->mod))
		return differ(p, "mod", one->mod, other->mod);
	if (ordinal(p, 0, one->create) != ordinal(p, 1, other->create))
		return differ(p, "create", one->create, other->create);
	return true;
}

static const char *any_key(struct pair *p)
{
	static const char *const keys[KEYS] = {
		"a", "a/b", "a/c", "b", "b.", "claim/T", "doc/A.md", "doc/B.md", "z"};

	return keys[any(p, KEYS)];
}

enum store_status conformance_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *kv, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	enum store_status status;

	if (!str_starts(str_of(key), "doc/"))
		return store_get(s, a, key, kv, err);
	status = store_get_document(s, key, &text, kv, err);
	kv->value = arena_str(a, buf_str(&text));
	return status;
}

static bool step_get(struct pair *p)
{
	const char *key = any_key(p);
	struct store_kv kv[2];
	struct error err = {0};

	for (int i = 0; i < 2; i++) {
		enum store_status status = conformance_get(p->side[i].s, &p->a, key, &kv[i], &err);

		if (status)
			return differ(p, "get", i, status);
	}
	return same_kv(p, &kv[0], &kv[1]);
}

static bool step_list(struct pair *p)
{
	static const char *const prefixes[] = {"", "a", "a/", "doc/", "rcpt/", "c"};
	const char *prefix = prefixes[any(p, 6)], *after = any(p, 2) ? any_key(p) : NULL;
	size_t n[2], max = 1 + any(p, 12);
	struct store_kv *kv[2];
	struct error err = {0};
	int64_t at[2];

	for (int i = 0; i < 2; i++) {
		enum store_status status = store_list(
			p->side[i].s, &p->a, prefix, after, max, &kv[i], &n[i], &at[i], &err);

		if (status)
			return differ(p, "list", i, status);
	}
	if (n[0] != n[1])
		return differ(p, "keys of a list", (int64_t)n[0], (int64_t)n[1]);
	for (size_t k = 0; k < n[0]; k++)
		if (!same_kv(p, &kv[0][k], &kv[1][k]))
			return false;
	return true;
}

static void any_ops(struct pair *p, struct store_txn *t)
{
	struct store_op *ops = arena_alloc(&p->a, KEYS * sizeof(*ops));
	uint32_t n = any(p, 4);

	t->ops = ops;
	while (n--) {
		const char *key = any_key(p);
		bool there = false, lease = !any(p, 4) && strncmp(key, "doc/", 4) != 0;

		for (size_t i = 0; i < t->n_ops; i++)
			there |= !strcmp(ops[i].key, key);
		if (there) /* backends may differ on two operations on one key */
			continue;
		ops[t->n_ops++] = (struct store_op){
			.what = any(p, 4) ? STORE_PUT : STORE_DEL,
			.key = key,
			.value = str_of(arena_printf(
				&p->a, "value %u\n%*u", any(p, 1000), (int)any(p, 200), 1)),
			.ttl_s = lease ? STORE_TTL_MIN_S + (int)any(p, 100) : 0,
		};
	}
}

/* An equivalent guard on both sides. */
static bool any_guard(struct pair *p, struct store_guard g[2])
{
	const char *key = any_key(p);
	uint32_t kind = any(p, 8), what = any(p, 2);
	struct error err = {0};

	for (int i = 0; i < 2; i++) {
		struct store_kv kv;

		if (conformance_get(p->side[i].s, &p->a, key, &kv, &err))
			return false;
		g[i] = (struct store_guard){.key = key, .what = what};
		g[i].rev = kind == 0              ? 0
			   : kind == 1            ? INT64_C(1000000000)
			   : what == STORE_MOD_IS ? kv.mod
						  : kv.create;
	}
	return true;
}

static bool same_refusal(struct pair *p, const struct store_result r[2], size_t n)
{
	if (r[0].n_now != n || r[1].n_now != n)
		return differ(p, "keys of a refusal", (int64_t)r[0].n_now, (int64_t)r[1].n_now);
	for (size_t i = 0; i < n; i++) {
		struct store_kv one = r[0].now[i], other = r[1].now[i];

		/* A backend may report it for a document or not. */
		if (str_starts(one.key, "doc/"))
			one.value = other.value = STR("");
		if (!same_kv(p, &one, &other))
			return false;
	}
	return true;
}

static void committed(struct pair *p, int64_t one, int64_t other)
{
	if (ordinal(p, 0, one) > 0)
		return;
	p->side[0].rev[p->n_rev] = one;
	p->side[1].rev[p->n_rev++] = other;
}

static bool step_txn(struct pair *p)
{
	struct store_guard guards[2][2];
	struct store_result r[2] = {{0}, {0}};
	enum store_status status[2];
	struct store_txn t = {.n_guards = any(p, 3)};
	struct error err = {0};

	any_ops(p, &t);
	for (size_t i = 0; i < t.n_guards; i++) {
		struct store_guard both[2];

		if (!any_guard(p, both))
			return differ(p, "get for a guard", 0, 0);
		guards[0][i] = both[0];
		guards[1][i] = both[1];
	}
	if (!any(p, 3)) {
		t.actor = any(p, 2) ? "x" : "y";
		t.opid = arena_printf(&p->a, "op-%u", any(p, 4) ? ++p->opid : p->opid);
	}
	for (int i = 0; i < 2; i++) {
		t.guards = guards[i];
		status[i] = store_txn(p->side[i].s, &p->a, &t, &r[i], &err);
	}
	if (status[0] != status[1])
		return differ(p, "status of a transaction", status[0], status[1]);
	if (status[0] == STORE_REFUSED)
		return same_refusal(p, r, t.n_guards);
	if (status[0] == STORE_OK)
		committed(p, r[0].rev, r[1].rev);
	return status[0] != STORE_OK || ordinal(p, 0, r[0].rev) == ordinal(p, 1, r[1].rev) ||
	       differ(p, "revision", r[0].rev, r[1].rev);
}

static void follow(struct side *s, const struct store_change *c)
{
	size_t i = 0;

	while (i < s->n_copy && !str_is(c->kv.key, s->copy[i].key))
		i++;
	if (i == s->n_copy && !c->deleted && s->n_copy < COPIED)
		snprintf(s->copy[s->n_copy++].key, sizeof(s->copy[i].key), "%.*s", (int)c->kv.key.n,
			c->kv.key.p);
	if (i == s->n_copy)
		return;
	s->copy[i].mod = c->kv.mod;
	if (c->deleted)
		s->copy[i] = s->copy[--s->n_copy];
}

/* A copy maintained by a watch equals the list. */
static bool step_watch(struct pair *p)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++) {
		struct side *s = &p->side[i];
		struct store_result r = {0};
		struct store_change *c;
		struct store_kv *kv;
		int64_t last = 0, at;
		size_t n, found = 0;

		/* So that expired leases are noticed. */
		if (store_txn(s->s, &p->a, &(struct store_txn){.n_ops = 0}, &r, &err))
			return differ(p, "empty transaction", i, 0);
		do {
			if (store_watch(s->s, &p->a, "", s->cursor, 0, 3, &c, &n, &s->cursor, &err))
				return differ(p, "watch", i, s->cursor);
			for (size_t k = 0; k < n; last = c[k++].rev) {
				if (c[k].rev < last)
					return differ(p, "watch goes back", last, c[k].rev);
				follow(s, &c[k]);
			}
		} while (n);
		if (store_list(s->s, &p->a, "", NULL, 1000, &kv, &n, &at, &err))
			return differ(p, "list", i, 0);
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < s->n_copy; j++)
				found += str_is(kv[k].key, s->copy[j].key) &&
					 kv[k].mod == s->copy[j].mod;
		if (found != n || n != s->n_copy)
			return differ(p, i ? "copy of the second" : "copy of the first",
				(int64_t)s->n_copy, (int64_t)n);
	}
	return true;
}

static bool reopen(struct pair *p)
{
	struct error err = {0};

	for (int i = 0; i < 2; i++) {
		struct side *s = &p->side[i];

		store_close(&s->s);
		if (s->b->open(s->b, p->ns, STORE_WRITE, &s->s, &err) < 0) {
			buf_addf(p->why, "cannot open: %s", err.text);
			return false;
		}
	}
	return true;
}

static bool step(struct pair *p)
{
	uint32_t what = any(p, 40);

	if (what < 26)
		return step_txn(p);
	if (what < 31)
		return step_get(p);
	if (what < 34)
		return step_list(p);
	if (what < 35)
		return step_watch(p);
	if (what < 37)
		return reopen(p);
	/* Both share the clock. The watch makes each of them look at it: the end of a lease is not
	 * defined if the clock was set back and forward again between two looks. */
	p->side[0].b->advance(p->side[0].b, any(p, 8) ? (int64_t)any(p, 30) : -(int64_t)any(p, 90));
	return step_watch(p);
}

bool conformance_compare(const struct backend *one, const struct backend *other, uint32_t seed,
	unsigned steps, struct buf *why)
{
	struct pair p = {.side = {{.b = one, .cursor = 1}, {.b = other, .cursor = 1}},
		.seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
		.why = why};
	bool good;
	unsigned i = 0;

	snprintf(p.ns, sizeof(p.ns), "compare-%u", seed);
	clock_fix(CONFORMANCE_TIME);
	for (int k = 0; k < 2; k++)
		p.side[k].rev = xmalloc((steps + 1) * sizeof(int64_t));
	good = reopen(&p);
	for (; good && i < steps; i++)
		good = step(&p);
	good = good && step_watch(&p);
	if (!good)
		buf_addf(why, " (step %u of seed %u)", i, seed);
	for (int k = 0; k < 2; k++) {
		store_close(&p.side[k].s);
		free(p.side[k].rev);
	}
	arena_release(&p.a);
	return good;
}
