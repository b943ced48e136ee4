/*
 * list.c: the contents of a pool, as entries, as JSON and as text for people.
 */
#include <limits.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { DAY_S = 86400 };

struct listing {
	struct arena *arena;
	struct pool *pool;
	int64_t now;
	VEC(struct pool_entry) entries;
};

static int by_path(const void *x, const void *y)
{
	const struct pool_entry *a = x, *b = y;

	return strcmp(a->of.path, b->of.path);
}

/* The age is the directory's modification time; a time in the future counts as new. */
static void look(const struct listing *l, struct pool_entry *e)
{
	struct stat st;

	if (lstat(e->of.path, &st) == 0 && S_ISDIR(st.st_mode)) {
		e->changed = st.st_mtime;
		e->there = worktree_there(e->of.path);
	}
	e->stale = e->there && e->changed < l->now - (int64_t)l->pool->stale_days * DAY_S;
}

/* Worktrees in the pool's directory without a record: created by plain git, by an earlier version,
 * or by another clone that shares the directory. */
static int add_found(struct listing *l, const char *path, const struct trees *t, struct error *err)
{
	struct pool_entry e = {.of = {.path = path,
				       .slug = path_base(path).p,
				       .branch = "",
				       .repo = l->pool->repo,
				       .pool = l->pool->name,
				       .state = ALLOCATION_LIVE}};
	const struct tree *at = trees_at(t, path);
	struct ownership owned;

	look(l, &e);
	if (pool_ownership(l->arena, path, l->pool->common, &owned, err) < 0)
		return -1;
	if (owned.reason == OWNED_OK) {
		e.of.admin = path_base(owned.actual).p;
		e.of.branch = at && at->branch ? at->branch : "";
	} else {
		e.keep = KEEP_FOREIGN;
		e.why = arena_printf(
			l->arena, "it belongs to another clone (%s)", owned_word(owned.reason));
	}
	vec_push_in(l->arena, &l->entries, e);
	return 0;
}

static int add_directory(struct listing *l, const struct records *all, struct error *err)
{
	struct directory_names names = {0};
	struct trees t = {0};
	bool missing = false;

	if (directory_list(l->arena, l->pool->dir, &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++) {
		const char *path = path_join(l->arena, l->pool->dir, names.items[i]);
		const struct allocation *of = records_find(all, names.items[i]);

		if (names.items[i][0] == '.' || (of && strcmp(of->path, path) == 0) ||
			!worktree_there(path))
			continue;
		if ((!t.n && trees_read(l->arena, l->pool, &t, err) < 0) ||
			add_found(l, path, &t, err) < 0)
			return -1;
	}
	return 0;
}

int entries_read(struct arena *a, struct pool *p, const struct records *all, int64_t now,
	struct pool_entry **out, size_t *n, struct error *err)
{
	struct listing l = {.arena = a, .pool = p, .now = now};

	for (size_t i = 0; i < all->n; i++) {
		struct pool_entry e = {.of = all->items[i], .recorded = true};

		look(&l, &e);
		vec_push_in(a, &l.entries, e);
	}
	if (add_directory(&l, all, err) < 0)
		return -1;
	vec_sort(&l.entries, by_path);
	*out = l.entries.items;
	*n = l.entries.n;
	return 0;
}

int pool_list(
	struct arena *a, struct pool *p, struct pool_entry **out, size_t *n, struct error *err)
{
	struct records all;

	return records_read(a, p, &all, err) < 0
		       ? -1
		       : entries_read(a, p, &all, clock_now(), out, n, err);
}

/* ---- one by its name ---- */

/* How well `what` names it: 3 by branch, 2 by slug, 1 by path, 0 not at all. */
static int match(const struct pool_entry *e, const char *what, const char *path)
{
	if (*what && strcmp(e->of.branch, what) == 0)
		return 3;
	if (strcmp(e->of.slug, what) == 0)
		return 2;
	return strcmp(e->of.path, path) == 0;
}

int entry_find(struct arena *a, struct pool *p, const struct records *all, const char *what,
	struct pool_entry *out, bool *found, struct error *err)
{
	const char *path = path_settle(a, path_absolute(a, what));
	struct pool_entry *list;
	int best = 0;
	size_t n;

	if (entries_read(a, p, all, clock_now(), &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		int rank = match(&list[i], what, path);

		if (rank > best) {
			*out = list[i];
			best = rank;
		}
	}
	*found = best > 0;
	return 0;
}

int pool_find(struct arena *a, struct pool *p, const char *what, struct pool_entry *out,
	bool *found, struct error *err)
{
	struct records all;

	if (records_read(a, p, &all, err) < 0 || entry_find(a, p, &all, what, out, found, err) < 0)
		return -1;
	*found = *found && out->recorded;
	return 0;
}

int pool_find_live(struct arena *a, struct pool *p, const char *what, struct allocation *out,
	struct error *err)
{
	struct pool_entry entry;
	bool found;

	if (pool_find(a, p, what, &entry, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERR_STATE, "no worktree of '%s' in this pool", what);
	*out = entry.of;
	if (!entry.there || out->state != ALLOCATION_LIVE)
		return error_set(err, ERR_STATE, "the worktree of '%s' does not exist", what);
	return 0;
}
