#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

/* Finds what is at the path of an allocation, and where else its branch is checked out. */

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static const char *branch_text(struct arena *a, const struct place *at)
{
	return at->branch ? arena_printf(a, "branch '%s'", at->branch)
			  : arena_printf(a, "commit %.12s", at->commit);
}

/* ---- a branch has one worktree ---- */

static int check_main(struct arena *a, struct pool *p, const char *branch, struct error *err)
{
	struct place own;

	place_look(a, p->common, &own);
	if (!is_same(own.branch, branch) || strcmp(p->repo, p->common) == 0)
		return 0;
	return error_set(err, ERR_STATE,
		"branch '%s' is checked out in '%s', the main work tree: switch to another branch "
		"there",
		branch, p->repo);
}

static int check_elsewhere(
	struct arena *a, struct pool *p, const char *branch, const char *path, struct error *err)
{
	struct place *list;
	size_t n;

	if (places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (is_same(list[i].branch, branch) && list[i].there &&
			!is_same(list[i].path, path))
			return error_set(err, ERR_STATE,
				"branch '%s' is checked out in another worktree: '%s'", branch,
				list[i].path);
	return 0;
}

/* ---- admin directories without a worktree ---- */

/* Another worktree, whose parent directory does not exist either: its disk may not be mounted. */
static bool is_away(struct arena *a, const struct allocation *of, const struct place *at)
{
	return !is_same(at->path, of->path) && !path_exists(arena_dup(a, path_dir(at->path)));
}

static int check_place(struct arena *a, struct pool *p, const struct allocation *of,
	const struct place *at, struct error *err)
{
	enum keep_reason why;
	const char *text;

	if (admin_keep(a, p, at, false, &why, &text, err) < 0)
		return -1;
	if (why == KEEP_LOCKED)
		return error_set(err, ERR_STATE,
			"%s: if it is gone for good, run 'git worktree unlock' and 'git worktree "
			"prune'",
			text);
	if (why)
		return error_set(err, ERR_STATE,
			"%s: if it is gone for good, run 'git worktree prune'", text);
	if (is_away(a, of, at))
		return error_set(err, ERR_STATE,
			"branch '%s' is checked out in '%s', which does not exist, nor does the "
			"directory "
			"around it: if it is gone for good, run 'git worktree prune'",
			at->branch, at->path);
	return 0;
}

static int drop_place(struct arena *a, struct pool *p, const struct allocation *of,
	const struct place *at, struct error *err)
{
	const char *moved;

	if (place_moved(a, p, at->path, at->branch ? at->branch : "", &moved, err) < 0)
		return -1;
	if (moved)
		return error_set(err, ERR_STATE,
			"'%s' has been moved to '%s': run 'git worktree repair %s' there, or move "
			"it back",
			at->path, moved, moved);
	if (check_place(a, p, of, at, err) < 0 || admin_drop(a, p, of, at->admin, err) < 0)
		return -1;
	return trash_delete(trash_admin_path(a, p, of->path), err);
}

/* Of our path or our branch, without a worktree: git would refuse because of it. */
static int drop_stale(
	struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	struct place *list;
	size_t n;

	if (places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct place *at = &list[i];

		if (at->there || !at->path ||
			(!is_same(at->path, of->path) && !is_same(at->branch, of->branch)))
			continue;
		if (drop_place(a, p, of, at, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- files at the path ---- */

static bool is_empty(const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(names[i]);
	if (n >= 0)
		free(names);
	return n >= 0 && n <= 2;
}

/* A directory without a valid `.git`: removes what an interrupted checkout or removal left. */
static int clear_remains(struct arena *a, struct pool *p, const struct allocation *of,
	const char *commit, struct error *err)
{
	const char *foreign = ".";

	if (is_empty(of->path))
		return 0;
	if (commit && remains_look(a, p, of->path, commit, false, &foreign, err) < 0)
		return -1;
	if (foreign)
		return error_set(err, ERR_STATE,
			"'%s' is in the way: it is not a worktree, and has files of its own, such "
			"as "
			"'%s'",
			of->path, foreign);
	if (trash_clear(a, p, of, err) < 0 ||
		trash_move(of->path, trash_path(a, of->path), err) < 0)
		return -1;
	return trash_delete(trash_path(a, of->path), err);
}

/* Its pointer names this repository. */
static int look_at_own(struct arena *a, struct pool *p, const struct allocation *of,
	const char *admin, const char *commit, enum stand *out, struct error *err)
{
	struct place at;

	if (!path_exists(path_join(a, admin, "HEAD")))
		return clear_remains(a, p, of, commit, err);
	place_look(a, admin, &at);
	if (!at.there || !is_same(at.path, of->path))
		return error_set(err, ERR_STATE,
			"'%s' is not where its repository has it, which is '%s': run 'git worktree "
			"repair %s', or remove the copy",
			of->path, at.path ? at.path : "nowhere", of->path);
	if (!is_same(at.branch, of->branch))
		return error_set(err, ERR_STATE, "'%s' has %s checked out, not branch '%s'",
			of->path, branch_text(a, &at), of->branch);
	*out = STAND_OURS;
	return 0;
}

static int look_at_directory(struct arena *a, struct pool *p, const struct allocation *of,
	const char *commit, struct ownership *own, enum stand *out, struct error *err)
{
	struct stat st;

	if (lstat(path_join(a, of->path, ".git"), &st) == 0 && !S_ISREG(st.st_mode))
		return error_set(err, ERR_STATE,
			"'%s' is in the way: it is a repository of its own", of->path);
	if (pool_ownership(a, of->path, p->common, own, err) < 0)
		return -1;
	if (own->reason == OWNED_POINTER_MISSING)
		return clear_remains(a, p, of, commit, err);
	if (own->reason == OWNED_OK)
		return look_at_own(a, p, of, own->actual, commit, out, err);
	*out = STAND_FOREIGN;
	return 0;
}

int stand_look(struct arena *a, struct pool *p, const struct allocation *of, const char *commit,
	struct ownership *own, enum stand *out, struct error *err)
{
	struct stat st;

	*out = STAND_NOTHING;
	if (check_main(a, p, of->branch, err) < 0 ||
		check_elsewhere(a, p, of->branch, of->path, err) < 0)
		return -1;
	if (lstat(of->path, &st) < 0 && errno != ENOENT)
		return error_errno(err, "cannot look at '%s'", of->path);
	if (lstat(of->path, &st) == 0) {
		if (!S_ISDIR(st.st_mode))
			return error_set(err, ERR_STATE,
				"'%s' is in the way: it is not a directory", of->path);
		if (look_at_directory(a, p, of, commit, own, out, err) < 0)
			return -1;
	}
	return *out == STAND_NOTHING ? drop_stale(a, p, of, err) : 0;
}
