#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

char *trash_path(struct arena *a, const char *path)
{
	char digest[DIGEST_TEXT];

	record_digest(path, digest);
	return arena_printf(a, "%s/" TRASH_PREFIX "%s", arena_dup(a, path_dir(path)), digest);
}

char *trash_admin_path(struct arena *a, const struct pool *p, const char *path)
{
	char digest[DIGEST_TEXT];

	record_digest(path, digest);
	return arena_printf(a, "%s/" ADMIN_TRASH_PREFIX "%s", p->common, digest);
}

static int delete_in(int dir, const char *name, dev_t dev);

static int empty(int dir, dev_t dev)
{
	int copy = dup(dir), rc = 0, why = 0;
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!list)
		return -1;
	while ((entry = readdir(list))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (delete_in(dir, name, dev) < 0) {
			why = errno;
			rc = -1;
		}
	}
	closedir(list);
	errno = why;
	return rc;
}

/* Read-only directories (package caches have them) are opened for the owner first. */
static int delete_directory(int dir, const char *name, dev_t dev)
{
	CLEANUP(base_close) int fd = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (dev && st.st_dev != dev) {
		errno = EXDEV;
		return -1;
	}
	if ((st.st_mode & S_IRWXU) != S_IRWXU)
		(void)fchmodat(dir, name, st.st_mode | S_IRWXU, 0);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || empty(fd, st.st_dev) < 0)
		return -1;
	return unlinkat(dir, name, AT_REMOVEDIR);
}

static int delete_in(int dir, const char *name, dev_t dev)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? delete_directory(dir, name, dev) : -1;
}

int trash_delete(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0 && errno == ENOENT)
		return 0;
	return delete_in(AT_FDCWD, path, 0) == 0
		       ? 0
		       : error_errno(err, "cannot remove the directory '%s'", path);
}

/* git still has it registered as a worktree. */
static bool is_worktree(struct arena *a, const char *path)
{
	const char *text;
	char *to;

	return worktree_pointer(a, path, &to, &text) && to && path_exists(to);
}

int trash_clear(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const char *trash = trash_path(a, of->path), *commit, *foreign = ".";
	struct stat st;

	if (lstat(trash, &st) < 0 || rmdir(trash) == 0)
		return 0;
	if (branch_commit(a, p, of, &commit, err) < 0)
		return -1;
	if (commit && !is_worktree(a, trash) &&
		remains_look(a, p, trash, commit, false, &foreign, err) < 0)
		return -1;
	if (!foreign)
		return trash_delete(trash, err);
	return error_set(err, ERR_STATE,
		"'%s' is in the way: an interrupted removal left it, and it has "
		"files of its own, such as '%s': save them, and delete it",
		trash, foreign);
}

int trash_move(const char *from, const char *to, struct error *err)
{
	struct stat st;

	if (lstat(from, &st) < 0 && errno == ENOENT)
		return 0;
	if (lstat(to, &st) == 0)
		return error_set(
			err, ERR_STATE, "cannot move '%s' out of the way: '%s' exists", from, to);
	if (rename(from, to) == 0)
		return 0;
	return error_errno(err, "cannot move '%s' to '%s'", from, to);
}
