#include "src/base/clock.h"
#include "src/store/file/file_internal.h"

enum store_status lease_gone(uint64_t id, struct error *err)
{
	error_set(err, ERR_STATE, "lease %llu is over", (unsigned long long)id);
	return STORE_GONE;
}

/* ---- may it be done ---- */

static char *receipt_key(struct arena *a, const struct store_txn *t)
{
	return arena_printf(a, "rcpt/%s", t->actor);
}

/* True when the operation was done already: *rev is its commit. */
static bool done_before(
	const struct file_store *f, struct arena *a, const struct store_txn *t, int64_t *rev)
{
	const struct entry *e = t->opid ? state_find(&f->state, receipt_key(a, t)) : NULL;

	if (!e || !str_is((struct str){e->value, e->n}, t->opid))
		return false;
	*rev = e->mod;
	return true;
}

static bool guard_holds(const struct file_store *f, const struct store_guard *g, int64_t now)
{
	const struct entry *e = state_alive(&f->state, g->key, now);

	return g->rev == (!e ? 0 : g->what == STORE_MOD_IS ? e->mod : e->create);
}

static bool guards_hold(const struct file_store *f, const struct store_txn *t, int64_t now)
{
	for (size_t i = 0; i < t->n_guards; i++)
		if (!guard_holds(f, &t->guards[i], now))
			return false;
	return true;
}

static enum store_status refuse(const struct file_store *f, struct arena *a,
	const struct store_txn *t, int64_t now, struct store_result *result)
{
	result->n_now = t->n_guards;
	result->now = arena_alloc(a, (t->n_guards + 1) * sizeof(*result->now));
	for (size_t i = 0; i < t->n_guards; i++) {
		const struct entry *e = state_alive(&f->state, t->guards[i].key, now);

		if (e)
			entry_kv(e, a, &result->now[i]);
		else
			result->now[i].key = arena_str(a, str_of(t->guards[i].key));
	}
	return STORE_REFUSED;
}

/* ---- what is to be done ---- */

static bool usable(const struct file_store *f, const struct store_txn *t, uint64_t id, int64_t now)
{
	return (id == t->lease && t->lease_ttl_s) || lease_alive(state_lease(&f->state, id), now);
}

/* 0, or the lease that is over. */
static uint64_t dead_lease(const struct file_store *f, const struct store_txn *t, int64_t now)
{
	if (t->lease && !usable(f, t, t->lease, now))
		return t->lease;
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];

		if (op->what == STORE_PUT && op->lease && !usable(f, t, op->lease, now))
			return op->lease;
	}
	return 0;
}

static bool has_op(const struct store_txn *t, const char *key)
{
	for (size_t i = 0; i < t->n_ops; i++)
		if (strcmp(t->ops[i].key, key) == 0)
			return true;
	return false;
}

/*
 * People are clients too: what they did to a document that the transaction looks at or changes
 * comes before it. A store without a commit takes in what is there with its first one.
 */
static enum store_status settle_all(
	struct file_store *f, const struct store_txn *t, struct buf *before, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	enum store_status got = STORE_OK;
	bool edited;

	for (size_t i = 0; i < t->n_ops && got == STORE_OK && f->committed; i++)
		if (is_document(t->ops[i].key))
			got = file_settle(f, t->ops[i].key, &before[i], &edited, err);
	for (size_t i = 0; i < t->n_guards && got == STORE_OK && f->committed; i++)
		if (is_document(t->guards[i].key) && !has_op(t, t->guards[i].key))
			got = file_settle(f, t->guards[i].key, &text, &edited, err);
	return got;
}

static void fill(struct work *w, struct arena *a, const struct store_txn *t, struct buf *before)
{
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];

		w->changes[w->n++] = (struct change){.key = op->key,
			.del = op->what == STORE_DEL,
			.value = op->value,
			.lease = op->lease,
			.delta = op->delta,
			.before = before[i].s ? &before[i] : NULL};
	}
	if (t->opid)
		w->changes[w->n++] =
			(struct change){.key = receipt_key(a, t), .value = str_of(t->opid)};
	if (t->lease && t->lease_ttl_s)
		work_lease(w, (struct lease){t->lease, w->now + t->lease_ttl_s, t->lease_ttl_s});
}

static enum store_status transact(struct file_store *f, struct arena *a, const struct store_txn *t,
	struct buf *before, struct store_result *result, bool *again, struct error *err)
{
	CLEANUP(arena_release) struct arena own = {0};
	struct work w = {.actor = t->actor, .ts = t->ts, .events = t->events, .note = t->note};
	enum store_status got;
	uint64_t dead;

	if (done_before(f, &own, t, &result->rev))
		return STORE_OK;
	if ((got = settle_all(f, t, before, err)) != STORE_OK)
		return got;
	work_begin(&w, &own, f, t->n_ops + 1, 1);
	if ((dead = dead_lease(f, t, w.now)))
		return lease_gone(dead, err);
	if (!guards_hold(f, t, w.now))
		return refuse(f, a, t, w.now, result);
	fill(&w, &own, t, before);
	got = file_commit(f, &w, err);
	*again = w.edited;
	if (got == STORE_OK)
		result->rev = f->state.rev;
	return got;
}

/* Somebody who writes a document without end is not waited for without end. */
static enum store_status transact_in_the_end(struct file_store *f, struct arena *a,
	const struct store_txn *t, struct buf *before, struct store_result *result,
	struct error *err)
{
	for (int tries = 0; tries < 10; tries++) {
		bool again = false;
		enum store_status got = transact(f, a, t, before, result, &again, err);

		if (!again)
			return got;
	}
	error_set(err, ERR_STATE, "the documents in '%s' are changed all the time", f->dir);
	return STORE_TIMEOUT;
}

enum store_status file_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_enter(f, true, err);
	struct buf before[STORE_OPS_MAX] = {{0}};

	if (got != STORE_OK)
		return got;
	got = transact_in_the_end(f, a, t, before, result, err);
	file_leave(f);
	for (size_t i = 0; i < t->n_ops; i++)
		buf_release(&before[i]);
	return got;
}

/* ---- many keys ---- */

enum store_status file_list(struct store *s, struct arena *a, const char *prefix, const char *after,
	size_t max, struct store_kv **out, size_t *n, int64_t *at, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_enter(f, false, err);
	int64_t now = clock_now();
	size_t i;

	if (got != STORE_OK)
		return got;
	i = state_place(&f->state, after && strcmp(after, prefix) > 0 ? after : prefix);
	*out = arena_alloc(a, ((max < f->state.n ? max : f->state.n) + 1) * sizeof(**out));
	for (; i < f->state.n && *n < max; i++) {
		const struct entry *e = &f->state.keys[i];

		if (!str_starts(str_of(e->key), prefix))
			break;
		if ((!after || strcmp(e->key, after) != 0) && state_alive(&f->state, e->key, now))
			entry_kv(e, a, &(*out)[(*n)++]);
	}
	*at = f->state.rev;
	file_leave(f);
	return STORE_OK;
}
