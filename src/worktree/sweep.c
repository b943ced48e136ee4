#include "src/sys/path.h"
#include "src/worktree/list.h"

/* A record whose worktree does not exist holds ports needlessly. If its parent directory does not
 * exist either, the disk may not be mounted. */
static bool is_gone(const struct pool_entry *e)
{
	return e->recorded && !e->there && e->of.state == ALLOCATION_LIVE &&
	       !path_exists(e->of.path);
}

static bool is_away(struct arena *a, const struct pool_entry *e)
{
	return !path_exists(arena_dup(a, path_dir(e->of.path)));
}

static int sweep_one(
	struct listing *l, struct pool_entry *e, bool apply, bool confirmed, struct error *err)
{
	struct error fault;

	if (e->keep != KEEP_NOTHING)
		return 0;
	if (!e->there && is_away(l->arena, e)) {
		e->keep = KEEP_UNSURE;
		e->why = "the directory around it does not exist either";
		return 0;
	}
	if (pool_keep(l->arena, l->pool, &e->of, confirmed, &e->keep, &e->why, err) < 0)
		return -1;
	if (e->keep != KEEP_NOTHING || !apply)
		return 0;
	/* One that cannot be removed must not block the others. */
	e->removed = pool_remove(l->arena, l->pool, &e->of, confirmed, &fault) == 0;
	if (!e->removed) {
		e->keep = KEEP_UNSURE;
		e->why = arena_dup(l->arena, str_of(fault.text));
	}
	return 0;
}

/* A pool of a repository that no longer exists cannot be opened, so no other command can release
 * its ports. */
static bool is_left_behind(const struct listing *l, const struct allocation *of)
{
	return !record_ours(l->pool, of) && !path_exists(of->common) && !path_exists(of->path) &&
	       !record_alive(of);
}

static int forget(struct listing *l, const struct allocation *of, bool *done, struct error *err)
{
	struct change c;
	bool refused;

	change_begin(&c, l->arena, l->pool);
	if (slot_release(l->arena, l->pool, of, &c, err) < 0)
		return -1;
	change_drop(&c, of);
	if (change_commit(&c, NULL, &refused, err) < 0)
		return -1;
	*done = !refused;
	return 0;
}

static int add_left_behind(struct listing *l, bool apply, struct error *err)
{
	struct pool_entry *more = arena_alloc(l->arena, (l->n + l->n_all + 1) * sizeof(*more));

	if (l->n)
		memcpy(more, l->entries, l->n * sizeof(*more));
	l->entries = more;
	for (size_t i = 0; i < l->n_all; i++) {
		struct pool_entry *e = &more[l->n];

		if (!is_left_behind(l, &l->all[i]))
			continue;
		*e = (struct pool_entry){.of = l->all[i], .recorded = true, .reason = "gone"};
		if (apply && forget(l, &e->of, &e->removed, err) < 0)
			return -1;
		l->n++;
	}
	return 0;
}

/* NULL: it is kept. */
static int reason_of(
	const struct due *d, const struct pool_entry *e, const char **reason, struct error *err)
{
	if (due_look(d, e, reason, err) < 0)
		return -1;
	if (!*reason)
		*reason = e->stale ? "stale" : is_gone(e) ? "gone" : NULL;
	return 0;
}

static int sweep_pool(struct listing *l, bool apply, bool confirmed, struct error *err)
{
	size_t kept = 0;
	struct due due;

	if (due_read(l, &due, err) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		struct pool_entry *e = &l->entries[i];

		if (reason_of(&due, e, &e->reason, err) < 0)
			return -1;
		if (!e->reason)
			continue;
		l->entries[kept] = *e;
		if (sweep_one(l, &l->entries[kept++], apply, confirmed, err) < 0)
			return -1;
	}
	l->n = kept;
	return 0;
}

int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, int64_t now,
	struct pool_entry **out, size_t *n, struct error *err)
{
	struct listing l = {.arena = a, .pool = p, .now = now};

	if (listing_read(&l, err) < 0 || sweep_pool(&l, apply, confirmed, err) < 0 ||
		add_left_behind(&l, apply, err) < 0)
		return -1;
	*out = l.entries;
	*n = l.n;
	return 0;
}
