/*
 * Backends with one fault each, in front of the one in memory. They prove that the intended check
 * of the suite finds the fault.
 */
#include <stdlib.h>
#include "src/base/clock.h"
#include "tests/store/conform/backends.h"

#define INNER front_of(s)->inner
#define TXN                                                                                        \
	struct store *s, struct arena *a, const struct store_txn *t, struct store_result *r,       \
		struct error *err

/* ---- a store in front of another one ---- */

static enum store_status get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	return store_get(front_of(s)->inner, a, key, out, err);
}

static enum store_status get_document(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err)
{
	return store_get_document(front_of(s)->inner, key, out, kv, err);
}

static enum store_status list(struct store *s, struct arena *a, const char *prefix,
	const char *after, size_t max, struct store_kv **out, size_t *n, int64_t *at,
	struct error *err)
{
	return store_list(front_of(s)->inner, a, prefix, after, max, out, n, at, err);
}

static enum store_status txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	return store_txn(front_of(s)->inner, a, t, result, err);
}

static enum store_status watch(struct store *s, struct arena *a, const char *prefix, int64_t from,
	int wait_ms, size_t max, struct store_change **out, size_t *n, int64_t *next,
	struct error *err)
{
	return store_watch(front_of(s)->inner, a, prefix, from, wait_ms, max, out, n, next, err);
}

static enum store_status compact(struct store *s, int64_t rev, struct error *err)
{
	return store_compact(front_of(s)->inner, rev, err);
}

static enum store_status history(struct store *s, const struct store_range *range,
	struct store_history **out, struct error *err)
{
	return store_history(front_of(s)->inner, range, out, err);
}

static int64_t revision(struct store *s)
{
	return store_revision(front_of(s)->inner);
}

static int64_t events(struct store *s)
{
	return store_last_seq(front_of(s)->inner);
}

static void note(struct store *s, const char *what)
{
	store_note(front_of(s)->inner, what);
}

static void close_both(struct store *s)
{
	store_close(&front_of(s)->inner);
	free(s);
}

const struct store_ops front_ops = {
	.get = get,
	.get_document = get_document,
	.list = list,
	.txn = txn,
	.watch = watch,
	.compact = compact,
	.history = history,
	.revision = revision,
	.last_seq = events,
	.note = note,
	.close = close_both,
};

struct store *front_new(struct store *inner, const struct store_ops *ops)
{
	struct front *f = xmalloc(sizeof(*f));

	*f = (struct front){.base = {.ops = ops}, .inner = inner};
	return &f->base;
}

/* ---- broken transactions ---- */

/* Does the changed copy *own instead of the transaction. */
#define BROKEN_TXN(name, change)                                                                   \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		struct store_txn own = *t;                                                         \
                                                                                                   \
		change;                                                                            \
		return store_txn(INNER, a, &own, r, err);                                          \
	}
/* Changes the result or the store after a transaction. */
#define AFTER_TXN(name, happens, change)                                                           \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		enum store_status status = store_txn(INNER, a, t, r, err);                         \
                                                                                                   \
		if (happens)                                                                       \
			change;                                                                    \
		return status;                                                                     \
	}

BROKEN_TXN(blind, own.n_guards = 0)
BROKEN_TXN(one_eyed, own.n_guards = t->n_guards > 0)
BROKEN_TXN(half, own.n_ops = t->n_ops - t->n_ops / 2)
BROKEN_TXN(forgets, own.actor = own.opid = NULL)
BROKEN_TXN(confuses, own.actor = t->actor ? "all" : NULL)
AFTER_TXN(silent, status == STORE_REFUSED, r->n_now = 0)
AFTER_TXN(stands_still, status == STORE_OK && ++front_of(s)->n % 2 == 0, r->rev--)
AFTER_TXN(misremembers, status == STORE_OK, r->rev = store_revision(INNER))
AFTER_TXN(counts_refusals, status == STORE_REFUSED && t->events, front_of(s)->n++)

/* Treats a guard on create as one on mod. */
static enum store_status ageless(TXN)
{
	struct store_guard *guards = arena_alloc(a, (t->n_guards + 1) * sizeof(*guards));
	struct store_txn own = *t;

	for (size_t i = 0; i < t->n_guards; i++) {
		guards[i] = t->guards[i];
		guards[i].what = STORE_MOD_IS;
	}
	own.guards = guards;
	return store_txn(INNER, a, &own, r, err);
}

/* Treats 0 as "any". */
static enum store_status easy(TXN)
{
	struct store_guard *guards = arena_alloc(a, (t->n_guards + 1) * sizeof(*guards));
	struct store_txn own = *t;

	own.n_guards = 0;
	for (size_t i = 0; i < t->n_guards; i++)
		if (t->guards[i].rev)
			guards[own.n_guards++] = t->guards[i];
	own.guards = guards;
	return store_txn(INNER, a, &own, r, err);
}

static enum store_status backwards(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	for (size_t i = 0; status == STORE_REFUSED && i < r->n_now / 2; i++) {
		struct store_kv kv = r->now[i];

		r->now[i] = r->now[r->n_now - 1 - i];
		r->now[r->n_now - 1 - i] = kv;
	}
	return status;
}

/* Counts from the keys in the store, so revisions of deleted keys are reused. */
static int64_t highest_mod(struct store *s)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_kv *kv;
	struct error err;
	int64_t at, top = 0;
	size_t n = 0;

	store_list(INNER, &a, "", NULL, 1000, &kv, &n, &at, &err);
	for (size_t i = 0; i < n; i++)
		top = kv[i].mod > top ? kv[i].mod : top;
	return top;
}

static enum store_status piecemeal(TXN)
{
	struct store_txn own = *t;
	enum store_status status;

	own.n_ops = t->n_ops > 1 ? 1 : t->n_ops;
	status = store_txn(INNER, a, &own, r, err);
	own = (struct store_txn){.n_ops = 1};
	for (size_t i = 1; status == STORE_OK && i < t->n_ops; i++) {
		own.ops = &t->ops[i];
		status = store_txn(INNER, a, &own, r, err);
	}
	return status;
}

/* Detects too late that the transaction is refused. */
static enum store_status hasty(TXN)
{
	struct store_result unseen = {0};
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_REFUSED && t->n_ops > 1)
		store_txn(INNER, a, &(struct store_txn){.ops = t->ops, .n_ops = 1}, &unseen, err);
	return status;
}

/* Evaluates the guards before the receipt, so a completed operation is refused. */
static enum store_status guards_first(TXN)
{
	enum store_status status = store_txn(INNER, a,
		&(struct store_txn){.guards = t->guards, .n_guards = t->n_guards}, r, err);

	return status == STORE_REFUSED ? status : store_txn(INNER, a, t, r, err);
}

static enum store_status writes_receipt_anyway(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status != STORE_OK && t->actor && t->opid) {
		struct store_result unseen = {0};

		store_txn(INNER, a, &(struct store_txn){.actor = t->actor, .opid = t->opid},
			&unseen, err);
	}
	return status;
}

static enum store_status lazy(TXN)
{
	if (t->n_ops || t->actor || t->events)
		return store_txn(INNER, a, t, r, err);
	r->rev = store_revision(INNER);
	return STORE_OK;
}

/* An engine with smaller limits. */
static enum store_status too_much(struct error *err)
{
	error_set(err, ERR_SYSTEM, "the engine does not take that much");
	return STORE_DOWN;
}

static enum store_status small(
	const struct store_txn *t, size_t key, size_t value, size_t all, size_t document)
{
	size_t total = 0;

	for (size_t i = 0; i < t->n_ops; i++) {
		bool is_document = str_starts(str_of(t->ops[i].key), "doc/");

		total += is_document ? 0 : t->ops[i].value.n;
		if (strlen(t->ops[i].key) > key ||
			t->ops[i].value.n > (is_document ? document : value))
			return STORE_DOWN;
	}
	return total > all ? STORE_DOWN : STORE_OK;
}

#define SMALL_ENGINE(name, exceeds)                                                                \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		return exceeds ? too_much(err) : store_txn(INNER, a, t, r, err);                   \
	}

SMALL_ENGINE(few_ops, t->n_ops > 32)
SMALL_ENGINE(short_keys, small(t, 128, SIZE_MAX, SIZE_MAX, SIZE_MAX))
SMALL_ENGINE(short_values, small(t, SIZE_MAX, 60000, SIZE_MAX, SIZE_MAX))
SMALL_ENGINE(short_txns, small(t, SIZE_MAX, SIZE_MAX, 256 << 10, SIZE_MAX))
SMALL_ENGINE(short_documents, small(t, SIZE_MAX, SIZE_MAX, SIZE_MAX, 1 << 20))

static int64_t counted(struct store *s)
{
	return store_last_seq(INNER) + front_of(s)->n;
}

static enum store_mode never_hold(enum store_mode mode)
{
	return mode == STORE_HOLD ? STORE_WRITE : mode;
}

static enum store_mode never_read(enum store_mode mode)
{
	return mode == STORE_READ ? STORE_WRITE : mode;
}

/* ---- broken leases ---- */

/* Does the transaction with other times to live. */
#define BROKEN_TTL(name, change)                                                                   \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		struct store_op *ops = arena_alloc(a, (t->n_ops + 1) * sizeof(*ops));              \
		struct store_txn own = *t;                                                         \
                                                                                                   \
		for (size_t i = 0; i < t->n_ops; i++) {                                            \
			struct store_kv kv = {0};                                                  \
                                                                                                   \
			ops[i] = t->ops[i];                                                        \
			(void)store_get(INNER, a, ops[i].key, &kv, err);                           \
			change;                                                                    \
		}                                                                                  \
		own.ops = ops;                                                                     \
		return store_txn(INNER, a, &own, r, err);                                          \
	}

BROKEN_TTL(long_lease, ops[i].ttl_s *= ops[i].ttl_s > 0 && ops[i].ttl_s < 1000 ? 2 : 1)
BROKEN_TTL(short_lease, ops[i].ttl_s /= ops[i].ttl_s > 2 * STORE_TTL_MIN_S ? 2 : 1)
BROKEN_TTL(never_renews, if (ops[i].ttl_s && kv.ttl_s) ops[i].ttl_s = (int)(kv.until - clock_now()))
BROKEN_TTL(clinging, if (!ops[i].ttl_s) ops[i].ttl_s = kv.ttl_s)

static enum store_status renews_refused(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_REFUSED && t->n_ops && t->ops->ttl_s)
		(void)store_txn(INNER, a, &(struct store_txn){.ops = t->ops, .n_ops = 1},
			&(struct store_result){0}, err);
	return status;
}

/* A get renews. */
static enum store_status get_renews(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);
	struct store_op op = {.key = key, .value = out->value, .ttl_s = out->ttl_s};

	if (status == STORE_OK && out->ttl_s)
		(void)store_txn(INNER, a, &(struct store_txn){.ops = &op, .n_ops = 1},
			&(struct store_result){0}, err);
	return store_get(INNER, a, key, out, err);
}

/* Its clock never goes back, so earlier leases last too long. */
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

/* Leases that have ended stay visible until the next write. */
static struct store_kv shown;
static char shown_key[64], shown_value[64];

static enum store_status lingering(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);

	if (status == STORE_OK && out->ttl_s && out->key.n < 64 && out->value.n < 64) {
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

/* ---- wrong reads ---- */

#define LIST                                                                                       \
	struct store *s, struct arena *a, const char *prefix, const char *after, size_t max,       \
		struct store_kv **out, size_t *n, int64_t *at, struct error *err
#define WATCH                                                                                      \
	struct store *s, struct arena *a, const char *prefix, int64_t from, int wait_ms,           \
		size_t max, struct store_change **out, size_t *n, int64_t *next, struct error *err
#define HAND_ON store_watch(INNER, a, prefix, from, wait_ms, max, out, n, next, err)

static void swap_changes(struct store_change *one, struct store_change *other)
{
	struct store_change kept = *one;

	*one = *other;
	*other = kept;
}

/* Asks for something else, or changes what is returned. */
#define BROKEN_LIST(name, change)                                                                  \
	static enum store_status name(LIST)                                                        \
	{                                                                                          \
		change;                                                                            \
		return store_list(INNER, a, prefix, after, max, out, n, at, err);                  \
	}
#define BROKEN_WATCH(name, change)                                                                 \
	static enum store_status name(WATCH)                                                       \
	{                                                                                          \
		change;                                                                            \
		return HAND_ON;                                                                    \
	}
#define AFTER_WATCH(name, happens, change)                                                         \
	static enum store_status name(WATCH)                                                       \
	{                                                                                          \
		enum store_status status = HAND_ON;                                                \
                                                                                                   \
		if (status == STORE_OK && (happens))                                               \
			change;                                                                    \
		return status;                                                                     \
	}

BROKEN_LIST(from_the_first, after = NULL)
BROKEN_LIST(one_short, max -= max > 1)
BROKEN_WATCH(from_the_next, from++)
BROKEN_WATCH(all_prefixes, prefix = "")
AFTER_WATCH(shuffled, *n > 1, swap_changes(*out, *out + *n - 1))
AFTER_WATCH(jumps, *n, ++*next)
AFTER_WATCH(hurries, true, *next = store_revision(INNER) + 1)
AFTER_WATCH(impatient, from > store_revision(INNER), *next = store_revision(INNER) + 1)

static enum store_status unsorted(LIST)
{
	enum store_status status = store_list(INNER, a, prefix, after, max, out, n, at, err);

	if (status == STORE_OK && *n > 2) {
		struct store_kv kv = (*out)[0];

		(*out)[0] = (*out)[1];
		(*out)[1] = kv;
	}
	return status;
}

static enum store_status wide(LIST)
{
	struct str p = str_of(prefix);

	if (str_ends(p, "/"))
		p.n--;
	return store_list(INNER, a, arena_dup(a, p), after, max, out, n, at, err);
}

static enum store_status of_later(LIST)
{
	enum store_status status = store_list(INNER, a, prefix, after, max, out, n, at, err);

	*at += *at > 0;
	return status;
}

static enum store_status without_lease(LIST)
{
	enum store_status status = store_list(INNER, a, prefix, after, max, out, n, at, err);

	for (size_t i = 0; status == STORE_OK && i < *n; i++)
		(*out)[i].ttl_s = 0;
	return status;
}

static enum store_status skip_one(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && *n > 3) {
		(*out)[*n - 2] = (*out)[*n - 1];
		--*n;
	}
	return status;
}

static enum store_status halved(WATCH)
{
	enum store_status status = HAND_ON;

	if (status == STORE_OK && *n > max) {
		*n = max;
		*next = (*out)[max - 1].rev + 1;
	}
	return status;
}

static enum store_status no_deletions(WATCH)
{
	enum store_status status = HAND_ON;
	size_t kept = 0;

	if (status != STORE_OK)
		return status;
	for (size_t i = 0; i < *n; i++)
		if (!(*out)[i].deleted)
			(*out)[kept++] = (*out)[i];
	*n = kept;
	return status;
}

static enum store_status nothing_kept(WATCH)
{
	enum store_status status = HAND_ON;

	if (status != STORE_COMPACTED)
		return status;
	*n = 0;
	*next = store_revision(INNER) + 1;
	return STORE_OK;
}

static enum store_status full(WATCH)
{
	enum store_status status = HAND_ON;

	for (size_t i = 0; status == STORE_OK && i < *n; i++)
		if (str_starts((*out)[i].kv.key, "doc/"))
			(*out)[i].kv.value = STR("its text");
	return status;
}

/* Each client caches its last read. */
static struct store *whose;
static struct store_kv last;
static char last_key[64], last_value[64];

static enum store_status cached(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = STORE_OK;

	if (whose == s && str_is(last.key, key)) {
		*out = last;
		return STORE_OK;
	}
	status = store_get(INNER, a, key, out, err);
	whose = s;
	last = (struct store_kv){0};
	if (status == STORE_OK && out->value.n < 64 && out->key.n < 64) {
		last = *out;
		memcpy(last_key, out->key.p, out->key.n);
		if (out->value.n)
			memcpy(last_value, out->value.p, out->value.n);
		last.key.p = last_key;
		last.value.p = last_value;
	}
	return status;
}

static enum store_status young(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);

	out->create = out->mod;
	return status;
}

static enum store_status as_text(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err)
{
	enum store_status status = store_get_document(INNER, key, out, kv, err);

	if (status == STORE_OK && out->s)
		out->len = strlen(out->s);
	return status;
}

static enum store_status stripped(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	enum store_status status = store_get(INNER, a, key, out, err);

	out->value = str_trim(out->value);
	return status;
}

static enum store_status forgets_all(struct store *s, int64_t rev, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_result r = {0};
	struct store_kv *kv = NULL;
	size_t n = 0;
	int64_t at;

	store_list(INNER, &a, "", NULL, 1000, &kv, &n, &at, err);
	for (size_t i = 0; i < n; i++) {
		struct store_op op = {.what = STORE_DEL, .key = arena_dup(&a, kv[i].key)};

		if (kv[i].mod < rev)
			store_txn(INNER, &a, &(struct store_txn){.ops = &op, .n_ops = 1}, &r, err);
	}
	return store_compact(INNER, rev, err);
}

/* ---- broken histories ---- */

/* Reads another range than it was asked for. */
#define BROKEN_HISTORY(name, change)                                                               \
	static enum store_status name(struct store *s, const struct store_range *range,            \
		struct store_history **out, struct error *err)                                     \
	{                                                                                          \
		struct store_range own = *range;                                                   \
                                                                                                   \
		change;                                                                            \
		return store_history(INNER, &own, out, err);                                       \
	}

BROKEN_HISTORY(only_forwards, own.backwards = false)
BROKEN_HISTORY(one_later, own.from += own.from > 0)
BROKEN_HISTORY(at_the_event, own.after_seq -= own.after_seq > 0)
BROKEN_HISTORY(without_texts, own.texts = false)

const struct broken broken_backends[] = {
	{"guards do not count: updates are lost", "no update is lost between two clients",
		.with = {.txn = blind}},
	{"the first guard alone counts", "every guard of several counts",
		.with = {.txn = one_eyed}},
	{"a guard on create is one on mod", "a guard on create holds until the key goes",
		.with = {.txn = ageless}},
	{"a guard of 0 always holds", "a guard of 0 holds for an absent key alone",
		.with = {.txn = easy}},
	{"a refusal tells the keys in another order",
		"a refusal tells the guards' keys as they are, in their order",
		.with = {.txn = backwards}},
	{"a refusal tells nothing", "a refusal tells the guards' keys as they are, in their order",
		.with = {.txn = silent}},
	{"two transactions have one revision", "every revision is greater than the one before",
		.with = {.txn = stands_still}},
	{"revisions of what is deleted come again", "no revision is used again after reopening",
		.with = {.revision = highest_mod}},
	{"half of a transaction is done", "all operations of a transaction happen together",
		.with = {.txn = half}},
	{"a transaction is many", "one transaction is one revision, the mod of all its keys",
		.with = {.txn = piecemeal}},
	{"a refused transaction is half done", "a refused transaction is nothing at all",
		.with = {.txn = hasty}},
	{"receipts are forgotten", "an operation that comes twice is done once",
		.with = {.txn = forgets}},
	{"a receipt tells the revision of now",
		"an operation that comes again gets the revision of then",
		.with = {.txn = misremembers}},
	{"all actors share a receipt", "actors do not share receipts", .with = {.txn = confuses}},
	{"guards come before receipts", "a receipt counts before the guards",
		.with = {.txn = guards_first}},
	{"a receipt is written of what failed", "there is no receipt of what did not happen",
		.with = {.txn = writes_receipt_anyway}},
	{"the engine takes fewer operations", "a transaction has at most 64 operations",
		.with = {.txn = few_ops}},
	{"the engine takes shorter keys", "keys of all allowed characters and lengths are taken",
		.with = {.txn = short_keys}},
	{"the engine takes shorter values", "a value has at most 64 KiB",
		.with = {.txn = short_values}},
	{"the engine takes shorter transactions", "a transaction has at most 512 KiB",
		.with = {.txn = short_txns}},
	{"the engine takes shorter documents", "a document has up to 16 MiB",
		.with = {.txn = short_documents}},
	{"a transaction of nothing is none", "a transaction without operations is a commit",
		.with = {.txn = lazy}},
	{"events of refused transactions are counted",
		"events are numbered on, and only with a commit",
		.with = {.txn = counts_refusals, .last_seq = counted}},
	{"who holds the store holds nothing", "who holds the store is the only writer",
		.mode = never_hold},
	{"readers can write", "a reader changes nothing", .mode = never_read},
	{"a lease is honoured after its end", "a lease does not last beyond its end",
		.with = {.txn = long_lease}},
	{"a lease ends early", "a lease lasts to its end", .with = {.txn = short_lease}},
	{"a second put does not renew", "a renewed lease lasts its whole time again",
		.with = {.txn = never_renews}},
	{"a get renews", "looking at a lease does not renew it", .with = {.get = get_renews}},
	{"a key put again stays a lease", "a key put again without a time to live stays",
		.with = {.txn = clinging}},
	{"a refused transaction renews its lease",
		"a transaction that does not happen renews no lease",
		.with = {.txn = renews_refused}},
	{"the clock never goes back", "a clock set back leaves a lease no more than its time",
		.with = {.txn = forward_txn, .get = forward_get}},
	{"leases that have ended can be read", "leases that have ended are in no get and no list",
		.with = {.get = lingering}},
	{"lists are not sorted", "a list is sorted by bytes", .with = {.list = unsorted}},
	{"a list always begins at the first", "a list goes on after a key that is not there",
		.with = {.list = from_the_first}},
	{"a list is shorter than asked", "a list in pages has each key once",
		.with = {.list = one_short}},
	{"a list shows neighbours of its prefix", "a list has the keys of its prefix alone",
		.with = {.list = wide}},
	{"a list says a revision that is not yet", "a watch goes on where a list was",
		.with = {.list = of_later}},
	{"a list leaves out leases", "a list says of a key what a get says",
		.with = {.list = without_lease}},
	{"a watch skips", "a watch shows all changes in order", .with = {.watch = skip_one}},
	{"a watch is out of order", "a watch shows all changes in order",
		.with = {.watch = shuffled}},
	{"a watch shows half a commit", "a watch never shows half a commit",
		.with = {.watch = halved}},
	{"a watch shows no deletions", "leases that have ended are deletions in a watch",
		.with = {.watch = no_deletions}},
	{"a watch begins too late", "a watch begins at its revision",
		.with = {.watch = from_the_next}},
	{"a watch leaves a commit out when it goes on", "a watch goes on where another left off",
		.with = {.watch = jumps}},
	{"a watch goes on from the end", "a watch in small pieces misses nothing",
		.with = {.watch = hurries}},
	{"a watch shows all prefixes", "a watch shows the changes of its prefix alone",
		.with = {.watch = all_prefixes}},
	{"a watch is silent about what was compacted",
		"a watch of what was compacted is told to list", .with = {.watch = nothing_kept}},
	{"a watch of the future comes back to now", "a watch of the future waits for it",
		.with = {.watch = impatient}},
	{"a watch shows texts of documents", "a document is listed and watched without its text",
		.with = {.watch = full}},
	{"a client sees what it read before", "two clients see at once what the other commits",
		.with = {.get = cached}},
	{"create moves with mod", "create stays and mod moves when a key is put again",
		.with = {.get = young}},
	{"values lose their blanks", "values of any text come back as they were",
		.with = {.get = stripped}},
	{"a document ends at a NUL", "a document has any bytes", .with = {.get_document = as_text}},
	{"the history knows one direction", "the history has every commit, in both directions",
		.with = {.history = only_forwards}},
	{"the history begins too late", "the history begins at any revision",
		.with = {.history = one_later}},
	{"the history begins at an event", "the history begins after any event",
		.with = {.history = at_the_event}},
	{"the history keeps no texts", "a document of many commits is rebuilt at each of them",
		.with = {.history = without_texts}},
	{"compaction takes keys along", "keys, documents, leases and receipts outlive compaction",
		.with = {.compact = forgets_all}},
	{0},
};
