#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/worktree/list.h"

enum { DAY_S = 86400 };

static int by_path(const void *x, const void *y)
{
	const struct pool_entry *a = x, *b = y;

	return strcmp(a->of.path, b->of.path);
}

bool worktree_there(const char *path)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT;
	struct stat st;

	buf_addf(&file, "%s/.git", path);
	return lstat(file.s, &st) == 0 && S_ISREG(st.st_mode);
}

/* The age is the directory's modification time. pool_keep(), not the age, protects work from a
 * sweep. A time in the future counts as new. */
static void look(struct pool_entry *e, unsigned days, int64_t now)
{
	struct stat st;

	if (lstat(e->of.path, &st) == 0 && S_ISDIR(st.st_mode)) {
		e->changed = st.st_mtime;
		e->there = worktree_there(e->of.path);
	}
	e->stale = e->there && e->changed < now - (int64_t)days * DAY_S;
}

static void add_record(struct listing *l, const struct allocation *of)
{
	struct pool_entry *e = &l->entries[l->n++];

	*e = (struct pool_entry){.of = *of, .recorded = true};
	look(e, l->pool->stale_days, l->now);
}

/* Worktrees in the pool's directory without a record: created by plain git, or by another clone
 * that shares the directory. */
static int add_found(struct listing *l, const char *path, struct error *err)
{
	struct pool_entry *e = &l->entries[l->n];
	struct ownership owned;
	struct place at;

	*e = (struct pool_entry){.of = {.path = path,
					 .slug = path_base(path).p,
					 .branch = "",
					 .repo = l->pool->repo,
					 .common = l->pool->common,
					 .pool = l->pool->name,
					 .state = ALLOCATION_LIVE}};
	look(e, l->pool->stale_days, l->now);
	if (!e->there)
		return 0;
	if (pool_ownership(l->arena, path, l->pool->common, &owned, err) < 0)
		return -1;
	if (owned.reason == OWNED_OK) {
		place_look(l->arena, owned.actual, &at);
		e->of.branch = at.branch ? at.branch : "";
	} else {
		e->keep = KEEP_FOREIGN;
		e->why = arena_printf(
			l->arena, "it belongs to another clone (%s)", owned_word(owned.reason));
	}
	l->n++;
	return 0;
}

static bool is_recorded(const struct listing *l, const char *path)
{
	for (size_t lo = 0, hi = l->n_all; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;
		int way = strcmp(path, l->all[mid].path);

		if (way == 0)
			return true;
		if (way < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static int add_directory(struct listing *l, struct error *err)
{
	struct dirent **names;
	int n = scandir(l->pool->dir, &names, visible, NULL), rc = 0;
	struct pool_entry *more;

	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0)
		return error_errno(err, "cannot read '%s'", l->pool->dir);
	more = arena_alloc(l->arena, (l->n + (size_t)n + 1) * sizeof(*more));
	if (l->n)
		memcpy(more, l->entries, l->n * sizeof(*more));
	l->entries = more;
	for (int i = 0; i < n; i++) {
		const char *path = path_join(l->arena, l->pool->dir, names[i]->d_name);

		if (rc == 0 && !is_recorded(l, path))
			rc = add_found(l, path, err);
		free(names[i]);
	}
	free(names);
	return rc;
}

static int by_record_path(const void *x, const void *y)
{
	const struct allocation *a = x, *b = y;

	return strcmp(a->path, b->path);
}

int listing_read(struct listing *l, struct error *err)
{
	if (record_all(l->arena, l->pool, &l->all, &l->n_all, err) < 0)
		return -1;
	if (l->n_all)
		qsort(l->all, l->n_all, sizeof(*l->all), by_record_path);
	l->entries = arena_alloc(l->arena, (l->n_all + 1) * sizeof(*l->entries));
	for (size_t i = 0; i < l->n_all; i++)
		if (record_ours(l->pool, &l->all[i]))
			add_record(l, &l->all[i]);
	if (add_directory(l, err) < 0)
		return -1;
	qsort(l->entries, l->n, sizeof(*l->entries), by_path);
	return 0;
}

int pool_list(
	struct arena *a, struct pool *p, struct pool_entry **out, size_t *n, struct error *err)
{
	struct listing l = {.arena = a, .pool = p, .now = clock_now()};

	if (listing_read(&l, err) < 0)
		return -1;
	*out = l.entries;
	*n = l.n;
	return 0;
}

/* How well `what` names it: 3 by branch, 2 by slug, 1 by path, 0 not at all. */
static int match(const struct pool_entry *e, const char *what, const char *path)
{
	if (!e->recorded)
		return 0;
	if (strcmp(e->of.branch, what) == 0)
		return 3;
	if (strcmp(e->of.slug, what) == 0)
		return 2;
	return path && strcmp(e->of.path, path) == 0;
}

int pool_find(struct arena *a, struct pool *p, const char *what, struct pool_entry *out,
	bool *found, struct error *err)
{
	CLEANUP(base_free) char *path = realpath(what, NULL);
	struct pool_entry *list;
	int best = 0;
	size_t n;

	if (pool_list(a, p, &list, &n, err) < 0)
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
