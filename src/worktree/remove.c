#include <errno.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* ---- may it be removed ---- */

static int keep(enum keep_reason *why, enum keep_reason is, const char **text, const char *said)
{
	*why = is;
	*text = said;
	return 0;
}

static int keep_by_record(struct arena *a, struct pool *p, const struct allocation *of,
	enum keep_reason *why, const char **text, struct error *err)
{
	const char *who, *child;
	size_t n;

	if (of->state != ALLOCATION_LIVE && of->pid != getpid() && record_alive(of))
		return keep(why, KEEP_BUSY, text,
			arena_printf(a, "'%s' is being %s by process %d", of->path,
				of->state == ALLOCATION_MAKING ? "made" : "removed", (int)of->pid));
	if (pool_live(a, p, of, &who, err) < 0)
		return -1;
	if (who)
		return keep(
			why, KEEP_LIVE, text, arena_printf(a, "'%s' is in use: %s", of->path, who));
	if (slot_children(a, p, of, &n, &child, err) < 0)
		return -1;
	if (n)
		return keep(why, KEEP_CHILDREN, text,
			arena_printf(a, "'%s' has %zu child%s, such as '%s'", of->path, n,
				n == 1 ? "" : "ren", child));
	return 0;
}

/* Other worktrees of this repository below it, which would be removed with it. */
static const char *nested_in(const struct place *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].there && path_beneath(path, list[i].path))
			return list[i].path;
	return NULL;
}

/* After a partial removal git's registration, or the directory's own pointer, is missing. */
static int keep_remains(struct arena *a, struct pool *p, const struct allocation *of,
	const char *directory, bool confirmed, enum keep_reason *why, const char **text,
	struct error *err)
{
	const char *foreign, *commit;

	if (branch_commit(a, p, of, &commit, err) < 0)
		return -1;
	foreign = commit ? NULL : ".";
	if (commit && remains_look(a, p, directory, commit, false, &foreign, err) < 0)
		return -1;
	if (!foreign || confirmed)
		return 0;
	return keep(why, KEEP_UNSURE, text,
		arena_printf(a,
			"'%s' is no longer a worktree, and has files of its own, such as '%s'",
			of->path, foreign));
}

static bool keep_by_mount(
	struct arena *a, const char *directory, enum keep_reason *why, const char **text)
{
	const char *point = mount_inside(a, directory);

	if (point)
		(void)keep(why, KEEP_LIVE, text,
			arena_printf(
				a, "'%s' has a file system mounted in it: '%s'", directory, point));
	return point != NULL;
}

static int keep_by_place(struct arena *a, struct pool *p, const struct allocation *of,
	bool confirmed, enum keep_reason *why, const char **text, struct error *err)
{
	struct ownership own;
	struct place *list, at = {0};
	const char *below;
	size_t n;

	if (pool_ownership(a, of->path, p->common, &own, err) < 0 ||
		places_read(a, p->common, &list, &n, err) < 0)
		return -1;
	if (own.reason == OWNED_POINTER_MISSING && !is_there(path_join(a, of->path, ".git")))
		return keep_remains(a, p, of, of->path, confirmed, why, text, err);
	if (own.reason == OWNED_OK && !path_exists(own.actual))
		return keep_remains(a, p, of, of->path, confirmed, why, text, err);
	if (own.reason != OWNED_OK)
		return keep(why, KEEP_FOREIGN, text,
			arena_printf(a, "'%s' is not a worktree of '%s' (%s)", of->path, p->repo,
				owned_word(own.reason)));
	place_look(a, own.actual, &at);
	if (at.path && strcmp(at.path, of->path) != 0)
		return keep(why, KEEP_FOREIGN, text,
			arena_printf(a, "'%s' is a copy: its git directory belongs to '%s'",
				of->path, at.path));
	if (at.locked && !lock_is_dead(a, &at))
		return keep(why, KEEP_LOCKED, text,
			arena_printf(a, "'%s' is locked%s%s", of->path, *at.locked ? ": " : "",
				at.locked));
	below = nested_in(list, n, of->path);
	if (below)
		return keep(why, KEEP_CHILDREN, text,
			arena_printf(a, "'%s' contains another worktree: '%s'", of->path, below));
	return 0;
}

/* The record and git name different paths: somebody has moved the worktree. */
static int keep_by_move(struct arena *a, struct pool *p, const struct allocation *of,
	enum keep_reason *why, const char **text, struct error *err)
{
	const char *moved;

	if (place_moved(a, p, of->path, of->branch, &moved, err) < 0)
		return -1;
	if (!moved)
		return 0;
	return keep(why, KEEP_UNSURE, text,
		arena_printf(a, "'%s' has been moved to '%s': move it back, or remove it there",
			of->path, moved));
}

static bool has_admin(struct arena *a, const char *path)
{
	const char *text;
	char *to;

	return worktree_pointer(a, path, &to, &text) && to && path_exists(to);
}

/* There is no worktree, or no longer one; git may still have it registered. */
static int keep_by_admin(struct arena *a, struct pool *p, const struct allocation *of,
	bool confirmed, enum keep_reason *why, const char **text, struct error *err)
{
	struct place at;
	bool found;

	if (place_of(a, p, of->path, &at, &found, err) < 0)
		return -1;
	return found ? admin_keep(a, p, &at, confirmed, why, text, err) : 0;
}

static int keep_gone(struct arena *a, struct pool *p, const struct allocation *of, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err)
{
	if (keep_by_move(a, p, of, why, text, err) < 0)
		return -1;
	return *why ? 0 : keep_by_admin(a, p, of, confirmed, why, text, err);
}

int pool_keep(struct arena *a, struct pool *p, const struct allocation *of, bool confirmed,
	enum keep_reason *why, const char **text, struct error *err)
{
	*why = KEEP_NOTHING;
	*text = NULL;
	if (keep_by_record(a, p, of, why, text, err) < 0)
		return -1;
	if (*why)
		return 0;
	if (!is_there(of->path))
		return keep_gone(a, p, of, confirmed, why, text, err);
	if (keep_by_mount(a, of->path, why, text) ||
		keep_by_place(a, p, of, confirmed, why, text, err) < 0)
		return *why ? 0 : -1;
	if (*why)
		return 0;
	if (!has_admin(a, of->path))
		return keep_by_admin(a, p, of, confirmed, why, text, err);
	return confirmed ? 0 : work_keep(a, p, of->path, why, text, err);
}

static int refuse(enum keep_reason why, const char *text, struct error *err)
{
	const char *hint = "";

	if (why == KEEP_UNCOMMITTED || why == KEEP_UNPUSHED || why == KEEP_UNSURE)
		hint = ": it is kept, unless --confirm is given";
	return error_set(err, ERR_STATE, "%s%s", text, hint);
}

/* ---- two phases ---- */

/* Renames it first, so that no new process uses it; then checks again. */
static int look_again(struct arena *a, struct pool *p, const struct allocation *of,
	const char *trash, enum keep_reason *why, const char **text, struct error *err)
{
	const char *who;

	*why = KEEP_NOTHING;
	if (live_inside(a, trash, &who, err) < 0)
		return -1;
	if (who)
		return keep(
			why, KEEP_LIVE, text, arena_printf(a, "'%s' is in use: %s", of->path, who));
	if (keep_by_mount(a, trash, why, text) || of->confirmed)
		return 0;
	if (has_admin(a, trash))
		return work_keep(a, p, trash, why, text, err);
	return keep_remains(a, p, of, trash, false, why, text, err);
}

static int put_back(struct arena *a, struct pool *p, struct allocation *of, const char *trash,
	struct error *err)
{
	if (is_there(trash) && rename(trash, of->path) < 0)
		return error_errno(err, "cannot move '%s' back to '%s'", trash, of->path);
	of->state = ALLOCATION_LIVE;
	of->confirmed = false;
	of->pid = 0;
	return record_put(a, p, of, err);
}

/* The removal cannot be undone from here on: git's registration goes first, then the files. */
static int finish(struct arena *a, struct pool *p, struct allocation *of, const char *admin,
	const char *trash, struct error *err)
{
	struct change c;

	{
		CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;

		if (admin_lock(p, &lock, err) < 0)
			return -1;
		locks_clear(a, p, of, admin);
		if ((admin && admin_drop(a, p, of, admin, err) < 0) ||
			branch_drop(a, p, of, err) < 0)
			return -1;
	}
	if (trash_delete(trash_admin_path(a, p, of->path), err) < 0 || trash_delete(trash, err) < 0)
		return -1;
	for (const struct pool_part *const *part = pool_parts(); *part; part++)
		(*part)->release(a, p, of);
	change_begin(&c, a, p);
	change_drop(&c, of);
	if (slot_release(a, p, of, &c, err) < 0)
		return -1;
	return change_commit(&c, NULL, NULL, err);
}

/* Its admin directory: from its own pointer, else from the repository. NULL: it has none. */
static int find_admin(struct arena *a, struct pool *p, const struct allocation *of,
	const char *directory, const char **admin, struct error *err)
{
	const char *text;
	struct place at;
	bool found;
	char *to;

	*admin = NULL;
	if (worktree_pointer(a, directory, &to, &text) && to && path_exists(to)) {
		*admin = to;
		return 0;
	}
	if (place_of(a, p, of->path, &at, &found, err) < 0)
		return -1;
	*admin = found ? at.admin : NULL;
	return 0;
}

/* The directory has its trash name, or does not exist. `resumed`: the process that began the
 * removal has died, possibly after it removed git's registration. */
static int second_phase(struct arena *a, struct pool *p, struct allocation *of, const char *trash,
	bool resumed, struct error *err)
{
	enum keep_reason why = KEEP_NOTHING;
	const char *text = NULL, *admin;

	if (find_admin(a, p, of, trash, &admin, err) < 0)
		return -1;
	if (is_there(trash) && (admin || !resumed) &&
		look_again(a, p, of, trash, &why, &text, err) < 0)
		return -1;
	if (!why && admin && !has_admin(a, trash) &&
		keep_by_admin(a, p, of, of->confirmed, &why, &text, err) < 0)
		return -1;
	if (why)
		return put_back(a, p, of, trash, err) < 0 ? -1 : refuse(why, text, err);
	return finish(a, p, of, admin, trash, err);
}

static int first_phase(struct arena *a, struct pool *p, struct allocation *of, const char *trash,
	struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;

	if (admin_lock(p, &lock, err) < 0 || trash_clear(a, p, of, err) < 0)
		return -1;
	of->state = ALLOCATION_REMOVING;
	record_claim(a, of);
	if (record_put(a, p, of, err) < 0)
		return -1;
	return trash_move(of->path, trash, err);
}

int pool_remove(
	struct arena *a, struct pool *p, struct allocation *of, bool confirmed, struct error *err)
{
	const char *trash = trash_path(a, of->path), *text;
	enum keep_reason why;

	if (pool_keep(a, p, of, confirmed, &why, &text, err) < 0)
		return -1;
	if (why)
		return refuse(why, text, err);
	of->confirmed = confirmed;
	if (first_phase(a, p, of, trash, err) == 0 &&
		second_phase(a, p, of, trash, false, err) == 0)
		return 0;
	record_give_up(a, p, of->path, err->text);
	return -1;
}

int remove_resume(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	const char *trash = trash_path(a, of->path);

	/* It was not begun: the caller may ask again. */
	if (is_there(of->path) && !is_there(trash))
		return put_back(a, p, of, trash, err);
	return second_phase(a, p, of, trash, true, err);
}
