/* Backends whose transactions are broken. */
#include "tests/store/conform/broken.h"
#include "tests/store/conform/front.h"

#define TXN                                                                                        \
	struct store *s, struct arena *a, const struct store_txn *t, struct store_result *r,       \
		struct error *err
#define INNER front_of(s)->inner

static enum store_status blind(TXN)
{
	struct store_txn own = *t;

	own.n_guards = 0;
	return store_txn(INNER, a, &own, r, err);
}

static enum store_status one_eyed(TXN)
{
	struct store_txn own = *t;

	own.n_guards = t->n_guards > 1;
	return t->n_guards > 1 ? store_txn(INNER, a, &own, r, err) : store_txn(INNER, a, t, r, err);
}

/* Takes a guard on create for one on mod. */
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

/* Takes 0 for "any". */
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

static enum store_status silent(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_REFUSED)
		r->n_now = 0;
	return status;
}

static enum store_status stands_still(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_OK && ++front_of(s)->n % 2 == 0)
		r->rev--;
	return status;
}

/* Counts from what is left in the store: revisions of deleted keys come again. */
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

static enum store_status half(TXN)
{
	struct store_txn own = *t;

	own.n_ops = t->n_ops - t->n_ops / 2;
	return store_txn(INNER, a, &own, r, err);
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

/* Finds out too late that it must not. */
static enum store_status hasty(TXN)
{
	struct store_result unseen = {0};
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_REFUSED && t->n_ops > 1)
		store_txn(INNER, a, &(struct store_txn){.ops = t->ops, .n_ops = 1}, &unseen, err);
	return status;
}

static enum store_status forgets(TXN)
{
	struct store_txn own = *t;

	if (t->actor && t->opid)
		own.actor = own.opid = NULL;
	return store_txn(INNER, a, &own, r, err);
}

static enum store_status misremembers(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	if (status == STORE_OK)
		r->rev = store_revision(INNER);
	return status;
}

static enum store_status confuses(TXN)
{
	struct store_txn own = *t;

	if (t->actor)
		own.actor = "all";
	return store_txn(INNER, a, &own, r, err);
}

/* Looks at the guards first, so that what is done already is refused. */
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
	if (t->n_ops || t->actor || t->lease || t->events)
		return store_txn(INNER, a, t, r, err);
	r->rev = store_revision(INNER);
	return STORE_OK;
}

/* An engine whose own limits are smaller. */
static enum store_status too_much(struct error *err)
{
	error_set(err, ERR_SYSTEM, "the engine does not take that much");
	return STORE_DOWN;
}

static enum store_status few_ops(TXN)
{
	return t->n_ops > 32 ? too_much(err) : store_txn(INNER, a, t, r, err);
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

static enum store_status short_keys(TXN)
{
	return small(t, 128, SIZE_MAX, SIZE_MAX, SIZE_MAX) ? too_much(err)
							   : store_txn(INNER, a, t, r, err);
}

static enum store_status short_values(TXN)
{
	return small(t, SIZE_MAX, 60000, SIZE_MAX, SIZE_MAX) ? too_much(err)
							     : store_txn(INNER, a, t, r, err);
}

static enum store_status short_txns(TXN)
{
	return small(t, SIZE_MAX, SIZE_MAX, 256 << 10, SIZE_MAX) ? too_much(err)
								 : store_txn(INNER, a, t, r, err);
}

static enum store_status short_documents(TXN)
{
	return small(t, SIZE_MAX, SIZE_MAX, SIZE_MAX, 1 << 20) ? too_much(err)
							       : store_txn(INNER, a, t, r, err);
}

static enum store_status counts_refusals(TXN)
{
	enum store_status status = store_txn(INNER, a, t, r, err);

	front_of(s)->n += status == STORE_REFUSED && t->events;
	return status;
}

static int64_t counted(struct store *s)
{
	return store_events(INNER) + front_of(s)->n;
}

static enum store_mode never_hold(enum store_mode mode)
{
	return mode == STORE_HOLD ? STORE_WRITE : mode;
}

static enum store_mode never_read(enum store_mode mode)
{
	return mode == STORE_READ ? STORE_WRITE : mode;
}

#define SPOIL(name, member, with)                                                                  \
	static void name(struct store_ops *ops)                                                    \
	{                                                                                          \
		ops->member = with;                                                                \
	}
SPOIL(no_guards, txn, blind)
SPOIL(first_guard, txn, one_eyed)
SPOIL(no_create, txn, ageless)
SPOIL(no_absent, txn, easy)
SPOIL(now_backwards, txn, backwards)
SPOIL(now_silent, txn, silent)
SPOIL(still, txn, stands_still)
SPOIL(from_mods, revision, highest_mod)
SPOIL(half_txn, txn, half)
SPOIL(pieces, txn, piecemeal)
SPOIL(refused_half, txn, hasty)
SPOIL(no_receipt, txn, forgets)
SPOIL(wrong_receipt, txn, misremembers)
SPOIL(shared_receipt, txn, confuses)
SPOIL(late_receipt, txn, guards_first)
SPOIL(early_receipt, txn, writes_receipt_anyway)
SPOIL(no_empty, txn, lazy)
SPOIL(less_ops, txn, few_ops)
SPOIL(less_key, txn, short_keys)
SPOIL(less_value, txn, short_values)
SPOIL(less_txn, txn, short_txns)
SPOIL(less_document, txn, short_documents)

static void refused_events(struct store_ops *ops)
{
	ops->txn = counts_refusals;
	ops->events = counted;
}

static void as_it_is(struct store_ops *ops)
{
	(void)ops;
}

const struct broken broken_txns[] = {
	{"guards do not count: updates are lost", "no update is lost between two clients",
		no_guards, NULL},
	{"the first guard alone counts", "every guard of several counts", first_guard, NULL},
	{"a guard on create is one on mod", "a guard on create holds until the key goes", no_create,
		NULL},
	{"a guard of 0 always holds", "a guard of 0 holds for an absent key alone", no_absent,
		NULL},
	{"a refusal tells the keys in another order",
		"a refusal tells the guards' keys as they are, in their order", now_backwards,
		NULL},
	{"a refusal tells nothing", "a refusal tells the guards' keys as they are, in their order",
		now_silent, NULL},
	{"two transactions have one revision", "every revision is greater than the one before",
		still, NULL},
	{"revisions of what is deleted come again", "no revision is used again after reopening",
		from_mods, NULL},
	{"half of a transaction is done", "all operations of a transaction happen together",
		half_txn, NULL},
	{"a transaction is many", "one transaction is one revision, the mod of all its keys",
		pieces, NULL},
	{"a refused transaction is half done", "a refused transaction is nothing at all",
		refused_half, NULL},
	{"receipts are forgotten", "an operation that comes twice is done once", no_receipt, NULL},
	{"a receipt tells the revision of now",
		"an operation that comes again gets the revision of then", wrong_receipt, NULL},
	{"all actors share a receipt", "actors do not share receipts", shared_receipt, NULL},
	{"guards come before receipts", "a receipt counts before the guards", late_receipt, NULL},
	{"a receipt is written of what failed", "there is no receipt of what did not happen",
		early_receipt, NULL},
	{"the engine takes fewer operations", "a transaction has at most 64 operations", less_ops,
		NULL},
	{"the engine takes shorter keys", "keys of all allowed characters and lengths are taken",
		less_key, NULL},
	{"the engine takes shorter values", "a value has at most 64 KiB", less_value, NULL},
	{"the engine takes shorter transactions", "a transaction has at most 512 KiB", less_txn,
		NULL},
	{"the engine takes shorter documents", "a document has up to 16 MiB", less_document, NULL},
	{"a transaction of nothing is none", "a transaction without operations is a commit",
		no_empty, NULL},
	{"events of refused transactions are counted",
		"events are numbered on, and only with a commit", refused_events, NULL},
	{"who holds the store holds nothing", "who holds the store is the only writer", as_it_is,
		never_hold},
	{"readers can write", "a reader changes nothing", as_it_is, never_read},
	{NULL, NULL, NULL, NULL},
};
