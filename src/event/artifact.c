#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/event/artifact.h"
#include "src/schema/schema.h"
#include "src/store/disk.h"
#include "src/sys/path.h"

enum {
	LOCK_WAIT_MS = 30000,
	FILE_BYTES_MAX = 16 << 20,
	PART_MAX = 240, /* bytes; a file name has at most 255, with `.tmp` */
};

static const char runtime_file[] = "runtime.json";
static const char *const scopes[] = {
	PIPELINE_SCOPE, "_classifier", "_ledger", ORCHESTRATOR_SCOPE, NULL};

/* ---- paths ---- */

static bool is_scope(const char *issue)
{
	return str_in(str_of(issue), scopes);
}

/* Names with a leading dot are locks, and those with `.tmp` are files being written. */
static bool part_valid(struct str part)
{
	if (!part.n || part.n > PART_MAX || part.p[0] == '.' || str_ends(part, ".tmp"))
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

	for (;;) {
		size_t end = str_find(rest, STR("/"));

		if (!part_valid(str_sub(rest, 0, end)))
			return false;
		if (end == rest.n)
			return true;
		rest = str_sub(rest, end + 1, rest.n);
	}
}

/* The directory of the issue, which has its lock. */
static int issue_directory(
	struct arena *a, const char *dir, const char *issue, char **directory, struct error *err)
{
	if (!dir || !dir[0])
		return error_set(err, ERR_USAGE, "the directory of artifacts has no name");
	if (issue && !is_scope(issue) && path_check_id(issue, err) < 0)
		return -1;
	*directory = issue ? path_join(a, dir, issue) : arena_dup(a, str_of(dir));
	return 0;
}

int artifact_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err)
{
	char *directory;

	if (issue_directory(a, dir, issue, &directory, err) < 0)
		return -1;
	if (!name_valid(name))
		return error_set(err, ERR_USAGE,
			"bad name of an artifact '%.120s': must be letters, digits, '.', '_', '-', "
			"with '/' between directories, no '.' in front",
			name);
	*path = path_join(a, directory, name);
	return 0;
}

/* An agent may write in its issue's directory, so a link there may lead anywhere. */
static int refuse_links(const char *dir, const char *path, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *p = arena_dup(&a, str_of(path)), *slash = p + strlen(dir);
	struct stat st;

	while (slash && *slash) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (lstat(p, &st) == 0 && S_ISLNK(st.st_mode))
			return error_set(err, ERR_STATE,
				"'%s' is a symbolic link: artifacts are not kept behind links", p);
		if (slash)
			*slash = '/';
	}
	return 0;
}

static int safe_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err)
{
	return artifact_path(a, dir, issue, name, path, err) < 0 ? -1
								 : refuse_links(dir, *path, err);
}

/* ---- whole files ---- */

static int lock_issue(const char *dir, const char *issue, struct disk_lock **out, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const struct disk_ops *ops = disk_real()->ops;
	char *directory;

	if (issue_directory(&a, dir, issue, &directory, err) < 0 ||
		refuse_links(dir, directory, err) < 0 ||
		ops->mkdirs(disk_real(), directory, err) < 0 ||
		ops->trusted(disk_real(), directory, err) < 0)
		return -1;
	return ops->lock(disk_real(), path_join(&a, directory, ".lock"), LOCK_WAIT_MS, out, err);
}

int artifact_read_text(const char *dir, const char *issue, const char *name, struct buf *out,
	bool *missing, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *path;

	*missing = false;
	if (safe_path(&a, dir, issue, name, &path, err) < 0)
		return -1;
	if (disk_real()->ops->read(disk_real(), path, FILE_BYTES_MAX, out, missing, err) < 0)
		return *missing ? 0 : -1;
	return 0;
}

/* With the lock. */
static int writable_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err)
{
	if (safe_path(a, dir, issue, name, path, err) < 0)
		return -1;
	return disk_real()->ops->mkdirs(disk_real(), arena_dup(a, path_dir(*path)), err);
}

static int artifact_replace(
	const char *dir, const char *issue, const char *name, struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *path;

	if (writable_path(&a, dir, issue, name, &path, err) < 0)
		return -1;
	return disk_replace(disk_real(), ".tmp", path, text, err);
}

int artifact_write_text(
	const char *dir, const char *issue, const char *name, struct str text, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;

	return lock_issue(dir, issue, &lock, err) < 0
		       ? -1
		       : artifact_replace(dir, issue, name, text, err);
}

int artifact_write(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_print_pretty(&text, value);
	return artifact_write_text(dir, issue, name, buf_str(&text), err);
}

static int put_copy(const char *path, struct str text, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *temporary = arena_printf(&a, "%s.tmp", path);
	CLEANUP(base_close) int fd = -1;

	(void)unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "cannot create '%s'", temporary);
	if (sys_write_all(fd, text, temporary, err) < 0)
		return -1;
	return rename(temporary, path) < 0 ? error_errno(err, "cannot replace '%s'", path) : 0;
}

int artifact_write_copy(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *path;

	json_print_pretty(&text, value);
	return lock_issue(dir, issue, &lock, err) < 0 ||
			       writable_path(&a, dir, issue, name, &path, err) < 0 ||
			       put_copy(path, buf_str(&text), err) < 0
		       ? -1
		       : 0;
}

int artifact_read(
	const char *dir, const char *issue, const char *name, json **out, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool missing;
	char *path;

	*out = NULL;
	if (artifact_path(&a, dir, issue, name, &path, err) < 0 ||
		artifact_read_text(dir, issue, name, &text, &missing, err) < 0)
		return -1;
	return missing ? 0 : schema_read_json(out, path, buf_str(&text), err);
}

int artifact_remove(const char *dir, const char *issue, const char *name, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	const struct disk_ops *ops = disk_real()->ops;
	bool exists;
	char *path;

	if (safe_path(&a, dir, issue, name, &path, err) < 0 ||
		ops->exists(disk_real(), path, &exists, err) < 0)
		return -1;
	if (!exists)
		return 0;
	if (lock_issue(dir, issue, &lock, err) < 0 || ops->unlink(disk_real(), path, err) < 0)
		return -1;
	return ops->sync_directory(disk_real(), arena_dup(&a, path_dir(path)), err);
}

int artifact_edit(const char *dir, const char *issue, const char *name,
	int (*edit)(void *data, struct str old, struct buf *fresh, struct error *err), void *data,
	struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(buf_release) struct buf old = BUF_INIT, fresh = BUF_INIT;
	bool missing;

	if (lock_issue(dir, issue, &lock, err) < 0 ||
		artifact_read_text(dir, issue, name, &old, &missing, err) < 0)
		return -1;
	if (edit(data, buf_str(&old), &fresh, err) < 0)
		return -1;
	return artifact_replace(dir, issue, name, buf_str(&fresh), err);
}

int artifact_append(
	const char *dir, const char *issue, const char *name, const json *line, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *path;

	json_print(&text, line);
	buf_addc(&text, '\n');
	if (lock_issue(dir, issue, &lock, err) < 0 ||
		writable_path(&a, dir, issue, name, &path, err) < 0)
		return -1;
	return disk_append_line(disk_real(), path, buf_str(&text), err);
}

/* ---- objects ---- */

/* Two objects of the same name are merged `levels` down. */
static void artifact_merge(json *into, const json *from, unsigned levels)
{
	for (const json *m = json_first(from); m; m = json_next(m)) {
		const json *old = json_get(into, json_key(m));

		if (levels && json_is_object(old) && json_is_object(m)) {
			json *both = json_copy(old);

			artifact_merge(both, m, levels - 1);
			json_set(into, json_key(m), both);
		} else {
			json_set(into, json_key(m), json_copy(m));
		}
	}
}

int artifact_merge_runtime(
	const char *dir, const char *issue, const json *members, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *whole = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *path;

	if (!json_is_object(members))
		return error_set(
			err, ERR_SYSTEM, "only an object can be merged into '%s'", runtime_file);
	if (lock_issue(dir, issue, &lock, err) < 0 ||
		artifact_read(dir, issue, runtime_file, &whole, err) < 0 ||
		artifact_path(&a, dir, issue, runtime_file, &path, err) < 0)
		return -1;
	if (!whole)
		whole = json_object();
	if (!json_is_object(whole))
		return error_at(err, path, 1, 1, "it must be an object");
	artifact_merge(whole, members, 1);
	json_print_pretty(&text, whole);
	return artifact_replace(dir, issue, runtime_file, buf_str(&text), err);
}

int artifact_read_runtime(const char *dir, const char *issue, json **out, struct error *err)
{
	return artifact_read(dir, issue, runtime_file, out, err);
}
