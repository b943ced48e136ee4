#include <errno.h>
#include <sys/stat.h>
#include "src/event/artifact_internal.h"
#include "src/sys/path.h"
#include "src/schema/json_text.h"

enum { LOCK_WAIT_MS = 30000 };

static const char *const scopes[] = {PIPELINE_SCOPE, "_classifier", "_ledger"};

static bool is_scope(const char *issue)
{
	for (size_t i = 0; i < COUNT(scopes); i++)
		if (strcmp(issue, scopes[i]) == 0)
			return true;
	return false;
}

/* No dot in front: those are the locks. No `.tmp`: those are files that are being written. */
static bool part_valid(struct str part)
{
	if (!part.n || part.n > ID_MAX || part.p[0] == '.' || str_ends(part, ".tmp"))
		return false;
	for (size_t i = 0; i < part.n; i++) {
		char c = part.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			    c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

static bool name_valid(const char *name)
{
	struct str rest = str_of(name);
	size_t end;

	for (;;) {
		end = str_find(rest, STR("/"));
		if (!part_valid(str_sub(rest, 0, end)))
			return false;
		if (end == rest.n)
			return true;
		rest = str_sub(rest, end + 1, rest.n);
	}
}

/* The folder that the lock of a place stands in. */
static int place_folder(
	struct arena *a, const struct artifact_place *at, char **folder, struct error *err)
{
	if (!at->dir || !at->dir[0])
		return error_set(err, ERR_USAGE, "the folder of artifacts has no name");
	if (at->issue && !is_scope(at->issue) && id_check(at->issue, err) < 0)
		return -1;
	*folder = at->issue ? path_join(a, at->dir, at->issue) : arena_dup(a, str_of(at->dir));
	return 0;
}

static int place_path(
	struct arena *a, const struct artifact_place *at, char **path, struct error *err)
{
	char *folder;

	if (place_folder(a, at, &folder, err) < 0)
		return -1;
	if (!name_valid(at->name))
		return error_set(err, ERR_USAGE,
			"bad name of an artifact '%.120s': must be letters, digits, '.', '_', '-', "
			"with '/' between folders, no '.' in front",
			at->name);
	*path = path_join(a, folder, at->name);
	return 0;
}

int artifact_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err)
{
	return place_path(a, ARTIFACT_AT(dir, issue, name), path, err);
}

/*
 * An agent may write in its issue's folder, so a link there may lead anywhere. Only the real disk
 * has links.
 */
static int refuse_links(const struct artifact_place *at, const char *path, struct error *err)
{
	struct arena a = {0};
	char *p = arena_dup(&a, str_of(path)), *slash = p + strlen(at->dir);
	struct stat st;
	int rc = 0;

	while (rc == 0 && slash && *slash && at->disk == disk_real()) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (lstat(p, &st) == 0 && S_ISLNK(st.st_mode))
			rc = error_set(err, ERR_STATE,
				"'%s' is a symbolic link: artifacts are not kept behind links", p);
		if (slash)
			*slash = '/';
	}
	arena_release(&a);
	return rc;
}

int artifact_find(struct arena *a, const struct artifact_place *at, char **path, struct error *err)
{
	return place_path(a, at, path, err) < 0 ? -1 : refuse_links(at, *path, err);
}

static char *folder_of(struct arena *a, const char *path)
{
	return arena_dup(a, path_dir(path));
}

int artifact_lock(const struct artifact_place *at, struct disk_lock **out, struct error *err)
{
	struct arena a = {0};
	const struct disk_ops *ops = at->disk->ops;
	char *folder;
	int rc = place_folder(&a, at, &folder, err);

	*out = NULL;
	if (rc == 0)
		rc = refuse_links(at, folder, err);
	if (rc == 0)
		rc = ops->mkdirs(at->disk, folder, err);
	if (rc == 0)
		rc = ops->trusted(at->disk, folder, err);
	if (rc == 0)
		rc = ops->lock(at->disk, path_join(&a, folder, ".lock"), LOCK_WAIT_MS, out, err);
	arena_release(&a);
	return rc;
}

void artifact_unlock(struct disk_lock **l)
{
	if (*l)
		(*l)->ops->unlock(*l);
	*l = NULL;
}

/* The name beside it is always the same, so that what a kill leaves there goes with the next. */
int artifact_replace(const struct artifact_place *at, struct str text, struct error *err)
{
	struct arena a = {0};
	const struct disk_ops *ops = at->disk->ops;
	char *path, *aside, *folder;
	struct error late;
	int rc = artifact_find(&a, at, &path, err);

	if (rc == 0) {
		aside = arena_printf(&a, "%s.tmp", path);
		folder = folder_of(&a, path);
		rc = ops->mkdirs(at->disk, folder, err);
		if (rc == 0)
			rc = ops->write(at->disk, aside, NULL, text, err);
		if (rc == 0 && (rc = ops->rename(at->disk, aside, path, err)) < 0)
			(void)ops->unlink(at->disk, aside, &late);
		if (rc == 0)
			rc = ops->sync_folder(at->disk, folder, err);
	}
	arena_release(&a);
	return rc;
}

int artifact_put(const struct artifact_place *at, struct str text, struct error *err)
{
	CLEANUP(artifact_unlock) struct disk_lock *lock = NULL;

	if (artifact_lock(at, &lock, err) < 0)
		return -1;
	return artifact_replace(at, text, err);
}

int artifact_get(const struct artifact_place *at, struct buf *out, bool *missing, struct error *err)
{
	struct arena a = {0};
	char *path;
	int rc = artifact_find(&a, at, &path, err);

	*missing = false;
	if (rc == 0 && at->disk->ops->read(at->disk, path, ARTIFACT_MAX, out, missing, err) < 0)
		rc = *missing ? 0 : -1;
	arena_release(&a);
	return rc;
}

int artifact_write(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_print_pretty(&text, value);
	return artifact_write_text(dir, issue, name, buf_str(&text), err);
}

int artifact_write_text(
	const char *dir, const char *issue, const char *name, struct str text, struct error *err)
{
	return artifact_put(ARTIFACT_AT(dir, issue, name), text, err);
}

int artifact_read(
	const char *dir, const char *issue, const char *name, json **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};
	bool missing;
	char *path;
	int rc = artifact_get(ARTIFACT_AT(dir, issue, name), &text, &missing, err);

	*out = NULL;
	if (rc == 0 && !missing && (rc = artifact_path(&a, dir, issue, name, &path, err)) == 0)
		rc = json_text_read(out, path, buf_str(&text), err);
	arena_release(&a);
	return rc;
}

int artifact_remove(const char *dir, const char *issue, const char *name, struct error *err)
{
	CLEANUP(artifact_unlock) struct disk_lock *lock = NULL;
	const struct artifact_place *at = ARTIFACT_AT(dir, issue, name);
	struct arena a = {0};
	bool there = false;
	char *path;
	int rc = artifact_find(&a, at, &path, err);

	if (rc == 0)
		rc = disk_real()->ops->exists(disk_real(), path, &there, err);
	if (rc == 0 && there) {
		rc = artifact_lock(at, &lock, err);
		if (rc == 0)
			rc = disk_real()->ops->unlink(disk_real(), path, err);
		if (rc == 0)
			rc = disk_real()->ops->sync_folder(disk_real(), folder_of(&a, path), err);
	}
	arena_release(&a);
	return rc;
}
