#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/audit.h"

/* ---- records ---- */

static bool has_place(const struct audit *t, const char *path)
{
	for (size_t i = 0; i < t->n_places; i++)
		if (t->places[i].there && strcmp(t->places[i].path, path) == 0)
			return true;
	return false;
}

static int check_worktree(struct audit *t, const struct allocation *of, struct error *err)
{
	struct ownership owned;

	if (!worktree_there(of->path)) {
		audit_add(t, "record-without-worktree", of->path, "%s",
			path_exists(of->path) ? "the directory is not a worktree"
					      : "the directory does not exist");
		return 0;
	}
	if (pool_ownership(t->arena, of->path, t->pool->common, &owned, err) < 0)
		return -1;
	if (owned.reason != OWNED_OK)
		audit_add(t, "foreign-worktree", of->path, "it belongs to '%s' (%s)",
			owned.actual ? owned.actual : "", owned_word(owned.reason));
	else if (!has_place(t, of->path))
		audit_add(t, "worktree-without-admin", of->path, "git has no worktree there: '%s'",
			owned.actual);
	return 0;
}

static void check_parent(struct audit *t, const struct allocation *of)
{
	const struct audit_record *parent;

	if (!of->parent)
		return;
	parent = audit_by_path(t, of->parent);
	if (!parent)
		audit_add(t, "orphan-child", of->path, "its parent '%s' no longer exists",
			of->parent);
	else if (of->port < parent->of.port + parent->of.ports ||
		 of->port + slot_block(of) > parent->of.port + slot_block(&parent->of))
		audit_add(t, "child-outside", of->path, "its ports are not from a slot of '%s'",
			of->parent);
}

static int check_records(struct audit *t, struct error *err)
{
	for (size_t i = 0; i < t->n_records; i++) {
		const struct audit_record *r = &t->records[i];

		check_parent(t, &r->of);
		if (!record_ours(t->pool, &r->of)) {
			if (!path_exists(r->of.common))
				audit_add(t, "record-without-repository", r->of.path,
					"the repository '%s' no longer exists", r->of.common);
			continue;
		}
		if (r->of.state == ALLOCATION_LIVE && check_worktree(t, &r->of, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- git's registrations ---- */

static bool is_busy_at(const struct audit *t, const char *path)
{
	const struct audit_record *r = audit_by_path(t, path);

	return r && r->busy;
}

/* The worktree behind a trash name, while its removal is in progress. */
static bool is_busy_trash(const struct audit *t, const char *path)
{
	for (size_t i = 0; i < t->n_records; i++)
		if (t->records[i].busy &&
			strcmp(trash_path(t->arena, t->records[i].of.path), path) == 0)
			return true;
	return false;
}

static void check_places(struct audit *t)
{
	for (size_t i = 0; i < t->n_places; i++) {
		const struct place *at = &t->places[i];

		if (at->there)
			continue;
		/* A git process is creating it. */
		if (at->locked && !lock_is_dead(t->arena, at))
			continue;
		if (!at->path)
			audit_add(t, "orphan-admin", at->admin, "it does not name a worktree");
		else if (path_beneath(t->pool->dir, at->path) && !is_busy_at(t, at->path) &&
			 !is_busy_trash(t, at->path))
			audit_add(t, "orphan-admin", at->admin,
				"its worktree '%s' no longer exists", at->path);
	}
}

/* Admin directories that are being removed. */
static void check_admin_trash(struct audit *t)
{
	DIR *dir = opendir(t->pool->common);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct str name = str_of(entry->d_name);
		const struct audit_record *r;

		if (!str_starts(name, ADMIN_TRASH_PREFIX))
			continue;
		r = audit_by_digest(t, str_sub(name, strlen(ADMIN_TRASH_PREFIX), name.n));
		if (!r || !r->busy)
			audit_add(t, "trash-admin",
				path_join(t->arena, t->pool->common, entry->d_name),
				"no process is removing it");
	}
	if (dir)
		closedir(dir);
}

/* ---- other files in the pool's directory ---- */

static bool has_records_beneath(const struct audit *t, const char *path)
{
	for (size_t i = 0; i < t->n_records; i++)
		if (path_beneath(path, t->records[i].of.path))
			return true;
	return false;
}

/* No record in the store owns its ports, so allocate skips them because of the same mark. */
static const char *ports_text(struct audit *t, const char *path)
{
	unsigned first, n;

	if (!mark_ports(t->arena, path, &first, &n))
		return "";
	return n == 1 ? arena_printf(t->arena, "; by its mark it has port %u", first)
		      : arena_printf(t->arena, "; by its mark it has ports %u to %u", first,
				first + n - 1);
}

static int check_worktree_found(struct audit *t, const char *path, struct error *err)
{
	struct allocation holder;
	struct ownership owned;
	const char *state;

	if (pool_ownership(t->arena, path, t->pool->common, &owned, err) < 0)
		return -1;
	if (owned.reason == OWNED_OK && mark_live(t->arena, path, &holder, &state))
		audit_add(t, "unrecorded-worktree", path,
			"it has no record here; process %d holds it (state directory '%s')%s",
			(int)holder.pid, state, ports_text(t, path));
	else if (owned.reason == OWNED_OK)
		audit_add(
			t, "unrecorded-worktree", path, "it has no record%s", ports_text(t, path));
	else if (owned.reason != OWNED_CROSS_CLONE || !path_exists(owned.actual))
		audit_add(t, "broken-worktree", path, "it points to '%s', which does not exist",
			owned.actual ? owned.actual : "");
	/* Otherwise it belongs to another repository that shares the directory, whose own audit
	 * reports it. */
	return 0;
}

static int check_entry(struct audit *t, const char *name, struct error *err)
{
	const char *path = path_join(t->arena, t->pool->dir, name);
	struct stat st;

	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || audit_by_path(t, path))
		return 0;
	if (str_starts(str_of(name), TRASH_PREFIX)) {
		if (!is_busy_trash(t, path))
			audit_add(t, "trash", path, "no process is removing it");
		return 0;
	}
	if (name[0] == '.')
		return 0;
	if (worktree_there(path))
		return check_worktree_found(t, path, err);
	if (!path_exists(path_join(t->arena, path, ".git")) &&
		!path_exists(path_join(t->arena, path, POOL_MARKER)) &&
		!has_records_beneath(t, path))
		audit_add(t, "stray-folder", path, "it is not a worktree");
	return 0;
}

static int check_directory(struct audit *t, struct error *err)
{
	DIR *dir = opendir(t->pool->dir);
	struct dirent *entry;
	int rc = 0;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return error_errno(err, "cannot read '%s'", t->pool->dir);
	while (rc == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = check_entry(t, entry->d_name, err);
	closedir(dir);
	return rc;
}

int audit_files(struct audit *t, struct error *err)
{
	if (check_records(t, err) < 0)
		return -1;
	check_places(t);
	check_admin_trash(t);
	return check_directory(t, err);
}
