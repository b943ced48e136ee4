#include "tests/store/conform/front.h"
#include <stdlib.h>

static enum store_status get(
	struct store *s, struct arena *a, const char *key, struct store_kv *out, struct error *err)
{
	return store_get(front_of(s)->inner, a, key, out, err);
}

static enum store_status get_document(struct store *s, const char *key, struct buf *out,
	int64_t *mod, bool *by_hand, struct error *err)
{
	return store_get_document(front_of(s)->inner, key, out, mod, by_hand, err);
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

static enum store_status grant(struct store *s, uint64_t id, int ttl_s, struct error *err)
{
	return store_grant(front_of(s)->inner, id, ttl_s, err);
}

static enum store_status renew(struct store *s, uint64_t id, int *left_s, struct error *err)
{
	return store_renew(front_of(s)->inner, id, left_s, err);
}

static enum store_status end_lease(struct store *s, uint64_t id, struct error *err)
{
	return store_revoke(front_of(s)->inner, id, err);
}

static enum store_status lease_end(struct store *s, uint64_t id, int64_t *until, struct error *err)
{
	return store_lease_end(front_of(s)->inner, id, until, err);
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

static int64_t revision(struct store *s)
{
	return store_revision(front_of(s)->inner);
}

static int64_t events(struct store *s)
{
	return store_events(front_of(s)->inner);
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
	.grant = grant,
	.renew = renew,
	.revoke = end_lease,
	.lease_end = lease_end,
	.watch = watch,
	.compact = compact,
	.revision = revision,
	.events = events,
	.note = note,
	.close = close_both,
};

struct store *front_new(struct store *inner, const struct store_ops *ops)
{
	struct front *f = xmalloc(sizeof(*f));

	*f = (struct front){.base = {ops}, .inner = inner};
	return &f->base;
}
