/*
 * Backends with one fault each: the one in memory with an operation replaced. They prove that the
 * intended check of the suite finds the fault.
 */
#include <stdlib.h>
#include "src/base/clock.h"
#include "tests/store/conform/backends.h"

#define good memory_store_ops
/* The arguments of the operations. */
#define GET                                                                                        \
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err
#define LIST                                                                                       \
	struct store *s, struct arena *a, const char *prefix, const char *after, size_t max,       \
		struct store_kv **out, size_t *n, int64_t *at, struct error *err
#define TXN                                                                                        \
	struct store *s, struct arena *a, const struct store_txn *t, struct store_result *r,       \
		struct error *err
#define WATCH                                                                                      \
	struct store *s, struct arena *a, const char *prefix, int64_t from, int wait_ms,           \
		size_t max, struct store_change **out, size_t *n, int64_t *next, struct error *err
#define WATCH_GOOD good.watch(s, a, prefix, from, wait_ms, max, out, n, next, err)

/* Changes the arguments before the operation. */
#define BEFORE(name, ARGUMENTS, change, ...)                                                       \
	static enum store_status name(ARGUMENTS)                                                   \
	{                                                                                          \
		change;                                                                            \
		return __VA_ARGS__;                                                                \
	}
/* Changes the result or the store after it, or does something else in addition. */
#define AFTER(name, ARGUMENTS, operation, happens, ...)                                            \
	static enum store_status name(ARGUMENTS)                                                   \
	{                                                                                          \
		enum store_status status = operation;                                              \
                                                                                                   \
		if (happens)                                                                       \
			__VA_ARGS__;                                                               \
		return status;                                                                     \
	}

static void swap(void *one, void *other, size_t size)
{
	char kept[256];

	memcpy(kept, one, size);
	memcpy(one, other, size);
	memcpy(other, kept, size);
}

/* ---- broken transactions ---- */

/* Does the changed copy *own instead of the transaction. */
#define BROKEN_TXN(name, change)                                                                   \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		struct store_txn own = *t;                                                         \
                                                                                                   \
		change;                                                                            \
		return good.txn(s, a, &own, r, err);                                               \
	}
/* With copies *g of the guards. */
#define BROKEN_GUARDS(name, change)                                                                \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		struct store_guard *guards = arena_alloc(a, (t->n_guards + 1) * sizeof(*guards));  \
		struct store_txn own = *t;                                                         \
                                                                                                   \
		own.guards = guards;                                                               \
		own.n_guards = 0;                                                                  \
		for (size_t i = 0; i < t->n_guards; i++) {                                         \
			struct store_guard *g = &guards[own.n_guards++];                           \
                                                                                                   \
			*g = t->guards[i];                                                         \
			change;                                                                    \
		}                                                                                  \
		return good.txn(s, a, &own, r, err);                                               \
	}
#define AFTER_TXN(name, happens, ...)                                                              \
	AFTER(name, TXN, good.txn(s, a, t, r, err), happens, __VA_ARGS__)

static void also(struct store *s, struct arena *a, struct store_txn t)
{
	struct store_result unseen = {0};
	struct error ignored;

	(void)good.txn(s, a, &t, &unseen, &ignored);
}

static int64_t commits, refusals;

BROKEN_TXN(blind, own.n_guards = 0)
BROKEN_TXN(one_eyed, own.n_guards = t->n_guards > 0)
BROKEN_TXN(half, own.n_ops = t->n_ops - t->n_ops / 2)
BROKEN_TXN(forgets, own.actor = own.opid = NULL)
BROKEN_TXN(confuses, own.actor = t->actor ? "all" : NULL)
/* Treats a guard on create as one on mod. */
BROKEN_GUARDS(ageless, g->what = STORE_MOD_IS)
/* Treats 0 as "any". */
BROKEN_GUARDS(easy, own.n_guards -= !g->rev)
AFTER_TXN(silent, status == STORE_REFUSED, r->n_now = 0)
AFTER_TXN(stands_still, status == STORE_OK && ++commits % 2 == 0, r->rev--)
AFTER_TXN(misremembers, status == STORE_OK, r->rev = good.revision(s))
AFTER_TXN(counts_refusals, status == STORE_REFUSED && t->events, refusals++)
AFTER_TXN(backwards, status == STORE_REFUSED && r->n_now > 1,
	swap(r->now, r->now + r->n_now - 1, sizeof(*r->now)))
/* Detects too late that the transaction is refused. */
AFTER_TXN(hasty, status == STORE_REFUSED && t->n_ops > 1,
	also(s, a, (struct store_txn){.ops = t->ops, .n_ops = 1}))
AFTER_TXN(writes_receipt_anyway, status != STORE_OK && t->actor && t->opid,
	also(s, a, (struct store_txn){.actor = t->actor, .opid = t->opid}))

/* Counts from the keys in the store, so revisions of deleted keys are reused. */
static int64_t highest_mod(struct store *s)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_kv *kv;
	struct error err;
	int64_t at, top = 0;
	size_t n = 0;

	good.list(s, &a, "", NULL, 1000, &kv, &n, &at, &err);
	for (size_t i = 0; i < n; i++)
		top = kv[i].mod > top ? kv[i].mod : top;
	return top;
}

static enum store_status piecemeal(TXN)
{
	struct store_txn own = *t;
	enum store_status status;

	own.n_ops = t->n_ops > 1 ? 1 : t->n_ops;
	status = good.txn(s, a, &own, r, err);
	own = (struct store_txn){.n_ops = 1};
	for (size_t i = 1; status == STORE_OK && i < t->n_ops; i++) {
		own.ops = &t->ops[i];
		status = good.txn(s, a, &own, r, err);
	}
	return status;
}

/* Evaluates the guards before the receipt, so a completed operation is refused. */
static enum store_status guards_first(TXN)
{
	enum store_status status = good.txn(
		s, a, &(struct store_txn){.guards = t->guards, .n_guards = t->n_guards}, r, err);

	return status == STORE_REFUSED ? status : good.txn(s, a, t, r, err);
}

static enum store_status lazy(TXN)
{
	if (t->n_ops || t->actor || t->events)
		return good.txn(s, a, t, r, err);
	r->rev = good.revision(s);
	return STORE_OK;
}

/* True when the transaction exceeds the limits of a smaller engine. */
static bool exceeds(
	const struct store_txn *t, size_t key, size_t value, size_t all, size_t document)
{
	size_t total = 0;
	bool over = false;

	for (size_t i = 0; i < t->n_ops; i++) {
		bool is_document = str_starts(str_of(t->ops[i].key), "doc/");

		total += is_document ? 0 : t->ops[i].value.n;
		over |= strlen(t->ops[i].key) > key ||
			t->ops[i].value.n > (is_document ? document : value);
	}
	return over || total > all;
}

#define SMALL_ENGINE(name, exceeds)                                                                \
	static enum store_status name(TXN)                                                         \
	{                                                                                          \
		if (!(exceeds))                                                                    \
			return good.txn(s, a, t, r, err);                                          \
		return error_set(err, ERR_SYSTEM, "the engine does not take that much"),           \
		       STORE_DOWN;                                                                 \
	}

SMALL_ENGINE(few_ops, t->n_ops > 32)
SMALL_ENGINE(short_keys, exceeds(t, 128, SIZE_MAX, SIZE_MAX, SIZE_MAX))
SMALL_ENGINE(short_values, exceeds(t, SIZE_MAX, 60000, SIZE_MAX, SIZE_MAX))
SMALL_ENGINE(short_txns, exceeds(t, SIZE_MAX, SIZE_MAX, 256 << 10, SIZE_MAX))
SMALL_ENGINE(short_documents, exceeds(t, SIZE_MAX, SIZE_MAX, SIZE_MAX, 1 << 20))

static int64_t counted(struct store *s)
{
	return good.last_seq(s) + refusals;
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
			(void)good.get(s, a, ops[i].key, &kv, err);                                \
			change;                                                                    \
		}                                                                                  \
		own.ops = ops;                                                                     \
		return good.txn(s, a, &own, r, err);                                               \
	}

BROKEN_TTL(long_lease, ops[i].ttl_s *= ops[i].ttl_s > 0 && ops[i].ttl_s < 1000 ? 2 : 1)
BROKEN_TTL(short_lease, ops[i].ttl_s /= ops[i].ttl_s > 2 * STORE_TTL_MIN_S ? 2 : 1)
BROKEN_TTL(never_renews, if (ops[i].ttl_s && kv.ttl_s) ops[i].ttl_s = (int)(kv.until - clock_now()))
BROKEN_TTL(clinging, if (!ops[i].ttl_s) ops[i].ttl_s = kv.ttl_s)
AFTER_TXN(renews_refused, status == STORE_REFUSED && t->n_ops && t->ops->ttl_s,
	also(s, a, (struct store_txn){.ops = t->ops, .n_ops = 1}))

static enum store_status get_renews(GET)
{
	enum store_status status = good.get(s, a, key, out, err);
	struct store_op op = {.key = key, .value = out->value, .ttl_s = out->ttl_s};

	if (status == STORE_OK && out->ttl_s)
		also(s, a, (struct store_txn){.ops = &op, .n_ops = 1});
	return good.get(s, a, key, out, err);
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
	enum store_status status = good.txn(s, a, t, r, err);

	clock_fix(now);
	return status;
}

static enum store_status forward_get(GET)
{
	int64_t now = forward_only();
	enum store_status status = good.get(s, a, key, out, err);

	clock_fix(now);
	return status;
}

/* The last key that was read, and by whom. */
static struct store *whose;
static struct store_kv last;
static char last_key[64], last_value[64];

static void remember(struct store *s, const struct store_kv *kv)
{
	if (kv->key.n >= sizeof(last_key) || kv->value.n >= sizeof(last_value))
		return;
	whose = s;
	last = *kv;
	memcpy(last_key, kv->key.p, kv->key.n);
	if (kv->value.n)
		memcpy(last_value, kv->value.p, kv->value.n);
	last.key.p = last_key;
	last.value.p = last_value;
}

/* Leases that have ended stay visible until the next write. */
static enum store_status lingering(GET)
{
	enum store_status status = good.get(s, a, key, out, err);

	if (status == STORE_OK && out->ttl_s)
		remember(s, out);
	else if (status == STORE_OK && !out->mod && last.ttl_s && str_is(last.key, key))
		*out = last;
	return status;
}

/* ---- wrong reads ---- */

/* Each client caches its last read. */
static enum store_status cached(GET)
{
	enum store_status status = STORE_OK;

	if (whose == s && str_is(last.key, key))
		return *out = last, STORE_OK;
	status = good.get(s, a, key, out, err);
	whose = NULL;
	if (status == STORE_OK)
		remember(s, out);
	return status;
}

static enum store_status as_text(
	struct store *s, const char *key, struct buf *out, struct store_kv *kv, struct error *err)
{
	enum store_status status = good.get_document(s, key, out, kv, err);

	if (status == STORE_OK && out->s)
		out->len = strlen(out->s);
	return status;
}

#define AFTER_GET(name, change) AFTER(name, GET, good.get(s, a, key, out, err), true, change)
#define BROKEN_LIST(name, change)                                                                  \
	BEFORE(name, LIST, change, good.list(s, a, prefix, after, max, out, n, at, err))
#define AFTER_LIST(name, happens, ...)                                                             \
	AFTER(name, LIST, good.list(s, a, prefix, after, max, out, n, at, err),                    \
		status == STORE_OK && (happens), __VA_ARGS__)
#define BROKEN_WATCH(name, change) BEFORE(name, WATCH, change, WATCH_GOOD)
#define AFTER_WATCH(name, happens, ...)                                                            \
	AFTER(name, WATCH, WATCH_GOOD, status == STORE_OK && (happens), __VA_ARGS__)

AFTER_GET(young, out->create = out->mod)
AFTER_GET(stripped, out->value = str_trim(out->value))
BROKEN_LIST(from_the_first, after = NULL)
BROKEN_LIST(one_short, max -= max > 1)
/* Shows the neighbours of a directory, too. */
BROKEN_LIST(wide, if (str_ends(str_of(prefix), "/"))
			  prefix = arena_dup(a, str_sub(str_of(prefix), 0, strlen(prefix) - 1)))
AFTER_LIST(unsorted, *n > 2, swap(*out, *out + 1, sizeof(**out)))
AFTER_LIST(of_later, *at > 0, ++*at)
AFTER_LIST(without_lease, *n > 0, for (size_t i = 0; i < *n; i++) (*out)[i].ttl_s = 0)
BROKEN_WATCH(from_the_next, from++)
BROKEN_WATCH(all_prefixes, prefix = "")
AFTER_WATCH(shuffled, *n > 1, swap(*out, *out + *n - 1, sizeof(**out)))
AFTER_WATCH(skip_one, *n > 3, (*out)[*n - 2] = (*out)[*n - 1], --*n)
AFTER_WATCH(halved, *n > max, *n = max, *next = (*out)[max - 1].rev + 1)
AFTER_WATCH(jumps, *n, ++*next)
AFTER_WATCH(hurries, true, *next = good.revision(s) + 1)
AFTER_WATCH(impatient, from > good.revision(s), *next = good.revision(s) + 1)

static enum store_status no_deletions(WATCH)
{
	enum store_status status = WATCH_GOOD;
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
	enum store_status status = WATCH_GOOD;

	if (status != STORE_COMPACTED)
		return status;
	*n = 0;
	*next = good.revision(s) + 1;
	return STORE_OK;
}

static enum store_status full(WATCH)
{
	enum store_status status = WATCH_GOOD;

	for (size_t i = 0; status == STORE_OK && i < *n; i++)
		if (str_starts((*out)[i].kv.key, "doc/"))
			(*out)[i].kv.value = STR("its text");
	return status;
}

static enum store_status forgets_all(struct store *s, int64_t rev, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct store_kv *kv = NULL;
	size_t n = 0;
	int64_t at;

	good.list(s, &a, "", NULL, 1000, &kv, &n, &at, err);
	for (size_t i = 0; i < n; i++) {
		struct store_op op = {.what = STORE_DEL, .key = arena_dup(&a, kv[i].key)};

		if (kv[i].mod < rev)
			also(s, &a, (struct store_txn){.ops = &op, .n_ops = 1});
	}
	return good.compact(s, rev, err);
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
		return good.history(s, &own, out, err);                                            \
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
