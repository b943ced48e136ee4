/* transaction.c: guarded transactions, lists and leases. */
#include "src/base/clock.h"
#include "src/store/file/internal.h"

static enum store_status refuse_expired_lease(uint64_t id, struct error *err)
{
	error_set(err, ERR_STATE, "lease %llu is over", (unsigned long long)id);
	return STORE_GONE;
}

/* ---- receipts and guards ---- */

static char *receipt_key(struct arena *a, const struct store_txn *t)
{
	return arena_printf(a, "rcpt/%s", t->actor);
}

/* True when the actor's receipt has the opid: the operation was committed at *rev. */
static bool already_committed(
	const struct file_store *f, struct arena *a, const struct store_txn *t, int64_t *rev)
{
	const struct state_entry *e = t->opid ? state_find(&f->state, receipt_key(a, t)) : NULL;

	if (!e || !str_is((struct str){e->value, e->n}, t->opid))
		return false;
	*rev = e->mod;
	return true;
}

static bool guard_holds(const struct file_store *f, const struct store_guard *g, int64_t now)
{
	const struct state_entry *e = state_find_alive(&f->state, g->key, now);

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
		const struct state_entry *e = state_find_alive(&f->state, t->guards[i].key, now);

		if (e)
			state_entry_kv(e, a, &result->now[i]);
		else
			result->now[i].key = arena_str(a, str_of(t->guards[i].key));
	}
	return STORE_REFUSED;
}

/* ---- transactions ---- */

static bool usable(const struct file_store *f, const struct store_txn *t, uint64_t id, int64_t now)
{
	return (id == t->lease && t->lease_ttl_s) ||
	       state_lease_alive(state_find_lease(&f->state, id), now);
}

/* 0, or a lease that is over. */
static uint64_t expired_lease(const struct file_store *f, const struct store_txn *t, int64_t now)
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

/* Edits by hand of the documents in the operations and guards are committed first. The first
 * commit of a store overwrites what is there. */
static enum store_status commit_external_edits(
	struct file_store *f, const struct store_txn *t, struct buf *before, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	enum store_status got = STORE_OK;
	bool edited;

	for (size_t i = 0; i < t->n_ops && got == STORE_OK && f->committed; i++)
		if (key_is_document(t->ops[i].key))
			got = commit_external_edit(f, t->ops[i].key, &before[i], &edited, err);
	for (size_t i = 0; i < t->n_guards && got == STORE_OK && f->committed; i++)
		if (key_is_document(t->guards[i].key) && !has_op(t, t->guards[i].key))
			got = commit_external_edit(f, t->guards[i].key, &text, &edited, err);
	return got;
}

static void plan_transaction(
	struct commit_plan *p, struct arena *a, const struct store_txn *t, struct buf *before)
{
	for (size_t i = 0; i < t->n_ops; i++) {
		const struct store_op *op = &t->ops[i];

		vec_push_in(a, &p->changes,
			(struct planned_change){.key = op->key,
				.del = op->what == STORE_DEL,
				.value = op->value,
				.lease = op->lease,
				.delta = op->delta,
				.before = before[i].s ? &before[i] : NULL});
	}
	if (t->opid)
		vec_push_in(a, &p->changes,
			(struct planned_change){
				.key = receipt_key(a, t), .value = str_of(t->opid)});
	if (t->lease && t->lease_ttl_s)
		plan_lease(p, a,
			(struct state_lease){t->lease, p->now + t->lease_ttl_s, t->lease_ttl_s});
}

static enum store_status transact(struct file_store *f, struct arena *a, const struct store_txn *t,
	struct buf *before, struct store_result *result, bool *again, struct error *err)
{
	CLEANUP(arena_release) struct arena own = {0};
	struct commit_plan p = {
		.actor = t->actor, .ts = t->ts, .events = t->events, .note = t->note};
	enum store_status got;
	uint64_t expired;

	if (already_committed(f, &own, t, &result->rev))
		return STORE_OK;
	if ((got = commit_external_edits(f, t, before, err)) != STORE_OK)
		return got;
	plan_begin(&p, &own, f);
	if ((expired = expired_lease(f, t, p.now)))
		return refuse_expired_lease(expired, err);
	if (!guards_hold(f, t, p.now))
		return refuse(f, a, t, p.now, result);
	plan_transaction(&p, &own, t, before);
	got = journal_commit(f, &p, err);
	*again = p.edited;
	if (got == STORE_OK)
		result->rev = f->state.rev;
	return got;
}

/* A document that is edited during every try does not keep the caller here forever. */
static enum store_status transact_with_retries(struct file_store *f, struct arena *a,
	const struct store_txn *t, struct buf *before, struct store_result *result,
	struct error *err)
{
	for (int tries = 0; tries < 10; tries++) {
		bool again = false;
		enum store_status got = transact(f, a, t, before, result, &again, err);

		if (!again)
			return got;
	}
	error_set(err, ERR_STATE, "the documents in '%s' keep changing", f->dir);
	return STORE_TIMEOUT;
}

enum store_status file_txn(struct store *s, struct arena *a, const struct store_txn *t,
	struct store_result *result, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, true, err);
	struct buf before[STORE_OPS_MAX] = {{0}};

	if (got != STORE_OK)
		return got;
	got = transact_with_retries(f, a, t, before, result, err);
	file_end(f);
	for (size_t i = 0; i < t->n_ops; i++)
		buf_release(&before[i]);
	return got;
}

/* ---- lists ---- */

enum store_status file_list(struct store *s, struct arena *a, const char *prefix, const char *after,
	size_t max, struct store_kv **out, size_t *n, int64_t *at, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, false, err);
	int64_t now = clock_now();
	size_t i;

	if (got != STORE_OK)
		return got;
	i = state_index(&f->state, after && strcmp(after, prefix) > 0 ? after : prefix);
	*out = arena_alloc(
		a, ((max < f->state.keys.n ? max : f->state.keys.n) + 1) * sizeof(**out));
	for (; i < f->state.keys.n && *n < max; i++) {
		const struct state_entry *e = &f->state.keys.items[i];

		if (!str_starts(str_of(e->key), prefix))
			break;
		if ((!after || strcmp(e->key, after) != 0) &&
			state_find_alive(&f->state, e->key, now))
			state_entry_kv(e, a, &(*out)[(*n)++]);
	}
	*at = f->state.rev;
	file_end(f);
	return STORE_OK;
}

/* ---- leases ---- */

/*
 * One commit that sets the lease; ttl 0 ends it and deletes its keys. `alive`: refused if it is
 * over. That is judged by the plan's clock: if a second look at the clock found the lease over, it
 * would be renewed without its keys.
 */
static enum store_status set_lease(
	struct file_store *f, struct state_lease l, bool alive, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct commit_plan p = {0};

	plan_begin(&p, &a, f);
	if (alive && !state_lease_alive(state_find_lease(&f->state, l.id), p.now))
		return refuse_expired_lease(l.id, err);
	if (l.ttl)
		l.until = p.now + l.ttl;
	else
		plan_expired_keys(&p, &a, f, l.id);
	plan_lease(&p, &a, l);
	return journal_commit(f, &p, err);
}

enum store_status file_grant(struct store *s, uint64_t id, int ttl_s, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, true, err);

	if (got != STORE_OK)
		return got;
	got = set_lease(f, (struct state_lease){.id = id, .ttl = ttl_s}, false, err);
	file_end(f);
	return got;
}

/* Ends or renews a lease that is alive. */
static enum store_status change_lease(
	struct store *s, uint64_t id, bool renew, int *left_s, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, true, err);
	const struct state_lease *l;
	int ttl;

	if (got != STORE_OK)
		return got;
	l = state_find_lease(&f->state, id);
	ttl = l && renew ? l->ttl : 0;
	got = set_lease(f, (struct state_lease){.id = id, .ttl = ttl}, true, err);
	if (got == STORE_OK && left_s)
		*left_s = ttl;
	file_end(f);
	return got;
}

enum store_status file_renew(struct store *s, uint64_t id, int *left_s, struct error *err)
{
	return change_lease(s, id, true, left_s, err);
}

enum store_status file_revoke(struct store *s, uint64_t id, struct error *err)
{
	return change_lease(s, id, false, NULL, err);
}

enum store_status file_lease_end(struct store *s, uint64_t id, int64_t *until, struct error *err)
{
	struct file_store *f = file_of(s);
	enum store_status got = file_begin(f, false, err);
	const struct state_lease *l;
	int64_t now = clock_now();

	if (got != STORE_OK)
		return got;
	l = state_find_lease(&f->state, id);
	if (state_lease_alive(l, now))
		*until = state_lease_end(l, now);
	else
		got = refuse_expired_lease(id, err);
	file_end(f);
	return got;
}
