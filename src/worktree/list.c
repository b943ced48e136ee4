/*
 * list.c: the contents of a pool.
 */
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { DAY_S = 86400 };

struct entries {
	struct pool_entry *items;
	size_t n, cap;
};

static int list_by_path(const void *x, const void *y)
{
	const struct pool_entry *a = x, *b = y;

	return strcmp(a->of.path, b->of.path);
}

/* The age is the directory's modification time; a time in the future counts as new. */
static void list_add(struct op *o, struct entries *list, int64_t now, struct pool_entry e)
{
	struct stat st;

	if (lstat(e.of.path, &st) == 0 && S_ISDIR(st.st_mode)) {
		e.changed = st.st_mtime;
		e.there = worktree_there(e.of.path);
	}
	e.stale = e.there && e.changed < now - (int64_t)o->p->stale_days * DAY_S;
	vec_push_in(o->a, list, e);
}

/* Worktrees of git in the pool's directory without a record: made by plain git, or their records
 * were lost. */
static int list_add_unrecorded(struct op *o, struct entries *list, int64_t now)
{
	struct ownership own;

	if (trees_read(o) < 0)
		return -1;
	for (size_t i = 1; i < o->trees.n; i++) {
		const struct tree *t = &o->trees.items[i];
		const struct allocation *of = records_find(o, path_base(t->path).p);
		struct pool_entry e = {.of = {.path = t->path,
					       .slug = path_base(t->path).p,
					       .branch = t->branch ? t->branch : "",
					       .repo = o->p->repo,
					       .pool = o->p->name,
					       .state = ALLOCATION_LIVE}};

		if (!path_beneath(o->p->dir, t->path) || e.of.slug[0] == '.' ||
			(of && strcmp(of->path, t->path) == 0))
			continue;
		if (pool_ownership(o->a, t->path, o->p->common, &own, o->err) < 0)
			return -1;
		e.of.admin = own.reason == OWNED_OK ? path_base(own.actual).p : NULL;
		list_add(o, list, now, e);
	}
	return 0;
}

int entries_read(struct op *o, int64_t now, struct pool_entry **out, size_t *n)
{
	struct entries list = {0};

	for (size_t i = 0; i < o->all.n; i++)
		list_add(o, &list, now,
			(struct pool_entry){.of = o->all.items[i], .recorded = true});
	if (list_add_unrecorded(o, &list, now) < 0)
		return -1;
	vec_sort(&list, list_by_path);
	*out = list.items;
	*n = list.n;
	return 0;
}

int pool_list(
	struct arena *a, struct pool *p, struct pool_entry **out, size_t *n, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};

	return records_read(&o) < 0 ? -1 : entries_read(&o, clock_now(), out, n);
}

int entry_find(struct op *o, const char *what, struct pool_entry *out, bool *found)
{
	const char *path = path_settle(o->a, path_absolute(o->a, what));
	struct pool_entry *list;
	int best = 0;
	size_t n;

	if (entries_read(o, clock_now(), &list, &n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct allocation *of = &list[i].of;
		int rank = *what && strcmp(of->branch, what) == 0 ? 3
			   : strcmp(of->slug, what) == 0          ? 2
								  : strcmp(of->path, path) == 0;

		if (rank > best)
			*out = list[i];
		best = rank > best ? rank : best;
	}
	*found = best > 0;
	return 0;
}

int pool_find(struct arena *a, struct pool *p, const char *what, struct pool_entry *out,
	bool *found, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};

	if (records_read(&o) < 0 || entry_find(&o, what, out, found) < 0)
		return -1;
	*found = *found && out->recorded;
	return 0;
}

int pool_find_live(struct arena *a, struct pool *p, const char *what, struct allocation *out,
	struct error *err)
{
	struct pool_entry e;
	bool found;

	if (pool_find(a, p, what, &e, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERR_STATE, "no worktree of '%s' in this pool", what);
	*out = e.of;
	/* A look that failed is no sign that it does not exist. */
	if (!e.there && path_check_exists(path_join(a, out->path, ".git"), &found, err) < 0)
		return -1;
	e.there = e.there || worktree_there(out->path);
	if (!e.there || out->state != ALLOCATION_LIVE)
		return error_set(err, ERR_STATE, "the worktree of '%s' does not exist", what);
	return 0;
}
