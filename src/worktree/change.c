#include "src/worktree/pool_internal.h"

enum { KEPT = 1000 }; /* commits of history, at most */

void change_begin(struct change *c, struct arena *a, struct pool *p)
{
	*c = (struct change){.arena = a, .pool = p};
}

void change_guard(struct change *c, const char *key, int64_t mod)
{
	if (c->n_guards == STORE_OPS_MAX) {
		c->full = true;
		return;
	}
	c->guards[c->n_guards++] =
		(struct store_guard){.key = key, .what = STORE_MOD_IS, .rev = mod};
}

static void add(struct change *c, struct store_op op)
{
	if (c->n_ops == STORE_OPS_MAX)
		c->full = true;
	else
		c->ops[c->n_ops++] = op;
}

void change_put(struct change *c, const char *key, struct str value)
{
	add(c, (struct store_op){.what = STORE_PUT, .key = key, .value = value});
}

void change_del(struct change *c, const char *key)
{
	add(c, (struct store_op){.what = STORE_DEL, .key = key});
}

void change_record(struct change *c, const struct allocation *of)
{
	const char *at = key_at(c->arena, of->path), *doing = key_doing(c->arena, of->path);

	change_guard(c, at, of->mod);
	change_put(c, at, record_text(c->arena, of));
	if (of->state != ALLOCATION_LIVE)
		change_put(c, doing, str_of(of->common));
	else if (of->mod)
		change_del(c, doing);
}

void change_drop(struct change *c, const struct allocation *of)
{
	const char *at = key_at(c->arena, of->path);

	change_guard(c, at, of->mod);
	change_del(c, at);
	change_del(c, key_doing(c->arena, of->path));
}

/* Nobody reads the history. Compaction may fail: the next process tries again. */
static void shorten(struct pool *p, int64_t rev)
{
	struct error ignored;

	if (rev % KEPT == 0)
		(void)store_compact(p->store, rev, &ignored);
}

int change_commit(struct change *c, int64_t *rev, bool *refused, struct error *err)
{
	const struct store_txn t = {
		.guards = c->guards, .n_guards = c->n_guards, .ops = c->ops, .n_ops = c->n_ops};
	struct store_result result = {0};
	enum store_status got;

	if (refused)
		*refused = false;
	if (c->full)
		return error_set(err, ERR_USAGE, "one allocation cannot have more than %d ports",
			STORE_OPS_MAX - 4);
	got = store_txn(c->pool->store, c->arena, &t, &result, err);
	if (got == STORE_OK && rev)
		*rev = result.rev;
	if (got == STORE_OK)
		shorten(c->pool, result.rev);
	if (got != STORE_REFUSED)
		return got == STORE_OK ? 0 : -1;
	if (!refused)
		return error_set(err, ERR_STATE,
			"another process has changed the same worktree meanwhile: try again");
	*refused = true;
	return 0;
}

int record_put(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	struct change c;

	change_begin(&c, a, p);
	change_record(&c, of);
	return change_commit(&c, &of->mod, NULL, err);
}
