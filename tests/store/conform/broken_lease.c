/* Backends whose leases are broken. */
#include "src/base/clock.h"
#include "tests/store/conform/broken.h"
#include "tests/store/conform/front.h"

#define INNER front_of(s)->inner

static enum store_status long_grant(struct store *s, uint64_t id, int ttl_s, struct error *err)
{
	return store_grant(
		INNER, id, ttl_s > 0 && ttl_s < STORE_TTL_MAX_S / 2 ? ttl_s * 2 : ttl_s, err);
}

static enum store_status short_grant(struct store *s, uint64_t id, int ttl_s, struct error *err)
{
	return store_grant(INNER, id, ttl_s > 2 * STORE_TTL_MIN_S ? ttl_s / 2 : ttl_s, err);
}

/* What is there is not made longer. */
static enum store_status grant_once(struct store *s, uint64_t id, int ttl_s, struct error *err)
{
	int64_t until;

	if (store_lease_end(INNER, id, &until, err) == STORE_OK)
		return STORE_OK;
	return store_grant(INNER, id, ttl_s, err);
}

static enum store_status revive(struct store *s, uint64_t id, int *left_s, struct error *err)
{
	enum store_status status = store_renew(INNER, id, left_s, err);

	return status == STORE_GONE ? store_grant(INNER, id, 60, err) : status;
}

static enum store_status renew_not(struct store *s, uint64_t id, int *left_s, struct error *err)
{
	int64_t until;
	enum store_status status = store_lease_end(INNER, id, &until, err);

	if (left_s)
		*left_s = (int)(until - clock_now());
	return status;
}

static enum store_status end_renews(struct store *s, uint64_t id, int64_t *until, struct error *err)
{
	enum store_status status = store_renew(INNER, id, NULL, err);

	return status == STORE_OK ? store_lease_end(INNER, id, until, err) : status;
}

#define TXN                                                                                        \
	struct store *s, struct arena *a, const struct store_txn *t, struct store_result *r,       \
		struct error *err

/* The keys of a lease put again, or deleted, one by one. */
static void each_key(struct store *s, uint64_t id, bool keep)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_result r = {0};
	struct store_kv *kv = NULL;
	struct error err;
	size_t n = 0;
	int64_t at;

	store_list(INNER, &a, "", NULL, 1000, &kv, &n, &at, &err);
	for (size_t i = 0; i < n; i++) {
		struct store_op op = {.what = keep ? STORE_PUT : STORE_DEL,
			.key = arena_dup(&a, kv[i].key),
			.value = kv[i].value};

		if (kv[i].lease == id)
			store_txn(INNER, &a, &(struct store_txn){.ops = &op, .n_ops = 1}, &r, &err);
	}
}

static enum store_status revoke_alone(struct store *s, uint64_t id, struct error *err)
{
	each_key(s, id, true);
	return store_revoke(INNER, id, err);
}

static enum store_status revoke_in_pieces(struct store *s, uint64_t id, struct error *err)
{
	each_key(s, id, false);
	return store_revoke(INNER, id, err);
}

/* A put with a dead lease is one without. */
static enum store_status forgiving(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);
	struct store_op *ops = arena_alloc(a, (t->n_ops + 1) * sizeof(*ops));
	struct store_txn own = *t;

	if (status != STORE_GONE || t->lease)
		return status;
	for (size_t i = 0; i < t->n_ops; i++) {
		ops[i] = t->ops[i];
		ops[i].lease = 0;
	}
	own.ops = ops;
	return store_txn(INNER, a, &own, r, err);
}

static enum store_status unfenced(TXN)
{
	struct store_txn own = *t;
	enum store_status status = store_txn(INNER, a, t, r, err);

	own.lease = 0;
	return status == STORE_GONE && t->lease ? store_txn(INNER, a, &own, r, err) : status;
}

/* A key once leased stays so. */
static enum store_status clinging(TXN)
{
	struct store_op *ops = arena_alloc(a, (t->n_ops + 1) * sizeof(*ops));
	struct store_txn own = *t;

	for (size_t i = 0; i < t->n_ops; i++) {
		struct store_kv kv = {0};

		ops[i] = t->ops[i];
		if (!ops[i].lease && store_get(INNER, a, ops[i].key, &kv, err) == STORE_OK)
			ops[i].lease = kv.lease;
	}
	own.ops = ops;
	return store_txn(INNER, a, &own, r, err);
}

static enum store_status renews_refused(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_REFUSED && t->lease && t->lease_ttl_s)
		store_grant(INNER, t->lease, t->lease_ttl_s, err);
	return status;
}

static enum store_status never_renews(TXN)
{
	struct store_txn own = *t;
	int64_t until;

	if (t->lease && store_lease_end(INNER, t->lease, &until, err) == STORE_OK)
		own.lease_ttl_s = 0;
	return store_txn(INNER, a, &own, r, err);
}

/* Its clock never goes back, and so a lease of before lasts too long. */
static int64_t high;

static int64_t forward_only(void)
{
	int64_t now = clock_now();

	/* A check starts at the same time as the one before. */
	if (now == CONFORMANCE_TIME)
		high = 0;
	high = now > high ? now : high;
	clock_fix(high);
	return now;
}

static enum store_status forward_txn(TXN)
{
	int64_t now = forward_only();
	enum store_status status = store_txn(INNER, a, t, r, err);

	clock_fix(now);
	return status;
}

static enum store_status forward_get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	int64_t now = forward_only();
	enum store_status status = store_get(INNER, a, key, out, err);

	clock_fix(now);
	return status;
}

static enum store_status forward_renew(struct store *s, uint64_t id, int *left_s, struct error *err)
{
	int64_t now = forward_only();
	enum store_status status = store_renew(INNER, id, left_s, err);

	clock_fix(now);
	return status;
}

static enum store_status forward_end(
	struct store *s, uint64_t id, int64_t *until, struct error *err)
{
	int64_t now = forward_only();
	enum store_status status = store_lease_end(INNER, id, until, err);

	clock_fix(now);
	return status;
}

static void forward(struct store_ops *ops)
{
	ops->txn = forward_txn;
	ops->get = forward_get;
	ops->renew = forward_renew;
	ops->lease_end = forward_end;
}

/* Keys that are gone with their lease are shown as long as nobody writes. */
static struct store_kv shown;
static char shown_key[64], shown_value[64];

static enum store_status lingering(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);

	if (status == STORE_OK && out->lease && out->key.n < 64 && out->value.n < 64) {
		shown = *out;
		memcpy(shown_key, out->key.p, out->key.n);
		memcpy(shown_value, out->value.p, out->value.n);
		shown.key.p = shown_key;
		shown.value.p = shown_value;
	} else if (status == STORE_OK && !out->mod && str_is(shown.key, key)) {
		*out = shown;
	}
	return status;
}

#define SPOIL(name, member, with)                                                                  \
	static void name(struct store_ops *ops)                                                    \
	{                                                                                          \
		ops->member = with;                                                                \
	}
SPOIL(late, grant, long_grant)
SPOIL(early, grant, short_grant)
SPOIL(once, grant, grant_once)
SPOIL(revives, renew, revive)
SPOIL(no_renewal, renew, renew_not)
SPOIL(end_not_pure, lease_end, end_renews)
SPOIL(keys_stay, revoke, revoke_alone)
SPOIL(keys_one_by_one, revoke, revoke_in_pieces)
SPOIL(dead_put, txn, forgiving)
SPOIL(no_fence, txn, unfenced)
SPOIL(cling, txn, clinging)
SPOIL(refused_renews, txn, renews_refused)
SPOIL(txn_renews_not, txn, never_renews)
SPOIL(linger, get, lingering)

const struct broken broken_leases[] = {
	{"a lease is honoured after its end", "a lease does not last beyond its end", late, NULL},
	{"a lease ends early", "a lease lasts to its end", early, NULL},
	{"a second grant does not renew", "granting a lease again renews it", once, NULL},
	{"a lease that is over is renewed", "a lease that is over is never renewed", revives, NULL},
	{"renewing does nothing", "a renewed lease lasts its whole time again", no_renewal, NULL},
	{"asking for the end renews", "asking for the end of a lease changes nothing", end_not_pure,
		NULL},
	{"revoking leaves the keys", "revoking a lease deletes its keys in one commit", keys_stay,
		NULL},
	{"revoking deletes key by key", "revoking a lease deletes its keys in one commit",
		keys_one_by_one, NULL},
	{"a put with a dead lease is done", "a put with a dead lease is GONE and nothing", dead_put,
		NULL},
	{"the lease of a transaction may be dead", "a stale holder is refused", no_fence, NULL},
	{"a key put again keeps its lease", "a key put again leaves its lease", cling, NULL},
	{"a refused transaction renews its lease",
		"a transaction that does not happen renews no lease", refused_renews, NULL},
	{"a transaction does not renew its lease", "a transaction grants and renews its lease",
		txn_renews_not, NULL},
	{"the clock never goes back", "a clock set back leaves a lease no more than its time",
		forward, NULL},
	{"keys of a lease that is over can be read",
		"keys of a lease that is over are in no get and no list", linger, NULL},
	{NULL, NULL, NULL, NULL},
};
