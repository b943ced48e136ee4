#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { TRIES = 5 };

/* By path, else by branch, else by the name of its directory. */
static int find_record(struct arena *a, struct pool *p, const char *what, const char *path,
	struct allocation *out, bool *found, struct error *err)
{
	struct allocation *all;
	size_t n, best = 3;

	*found = false;
	if (record_all(a, p, &all, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct allocation *of = &all[i];
		size_t rank = strcmp(of->path, path) == 0     ? 0
			      : strcmp(of->branch, what) == 0 ? 1
			      : strcmp(of->slug, what) == 0   ? 2
							      : 3;

		if (rank < best && record_ours(p, of)) {
			*out = *of;
			best = rank;
		}
	}
	*found = best < 3;
	return 0;
}

/* The path that the word means, whether or not it exists. NULL: it cannot be a path. */
static char *place_meant(struct arena *a, const struct pool *p, const char *what)
{
	struct error ignored;
	char *slug, *path;

	if (what[0] == '/')
		return port_path(a, what, &path, &ignored) < 0 ? NULL : path;
	return pool_slug(a, what, &slug, &ignored) < 0 ? NULL : path_join(a, p->dir, slug);
}

/* A worktree without a record gets one without ports while it is removed. */
static int take_unrecorded(struct arena *a, struct pool *p, const char *path,
	struct allocation *out, bool *found, struct error *err)
{
	struct ownership own;
	struct place at;

	*found = false;
	if (pool_ownership(a, path, p->common, &own, err) < 0)
		return -1;
	if (own.reason == OWNED_POINTER_MISSING || !path_beneath(p->dir, path))
		return 0;
	if (own.reason != OWNED_OK)
		return error_set(err, ERR_STATE, "'%s' is not a worktree of '%s' (%s)", path,
			p->repo, owned_word(own.reason));
	place_look(a, own.actual, &at);
	*out = (struct allocation){.branch = at.branch ? at.branch : "",
		.slug = arena_dup(a, path_base(path)),
		.path = path,
		.repo = p->repo,
		.common = p->common,
		.pool = p->name,
		.state = ALLOCATION_LIVE,
		.created = clock_now()};
	*found = true;
	return 0;
}

static int find(struct arena *a, struct pool *p, const char *what, struct allocation *out,
	bool *found, struct error *err)
{
	char *path = place_meant(a, p, what);

	if (find_record(a, p, what, path ? path : what, out, found, err) < 0)
		return -1;
	return *found || !path ? 0 : take_unrecorded(a, p, path, out, found, err);
}

int pool_reclaim(struct arena *a, struct pool *p, const char *what, bool confirmed, bool *removed,
	struct error *err)
{
	struct allocation of;
	bool found, done;

	*removed = false;
	for (int i = 0; i < TRIES; i++) {
		if (find(a, p, what, &of, &found, err) < 0)
			return -1;
		if (!found)
			return 0;
		if (of.state == ALLOCATION_LIVE || record_busy(&of)) {
			if (pool_remove(a, p, &of, confirmed, err) < 0)
				return -1;
			*removed = true;
			return 0;
		}
		if (repair_one(a, p, &of, &done, err) < 0)
			return -1;
		*removed = *removed || done;
	}
	return error_set(err, ERR_STATE, "other processes are changing '%s': try again", what);
}
