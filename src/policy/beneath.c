#include <errno.h>
#include <sys/syscall.h>
#include "src/policy/beneath.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* The kernel gives up (EAGAIN) when something is renamed while it climbs `..`. */
enum { TRIES = 64 };

enum { NAMES = 16, ONLY_NEW = 1 /* RENAME_NOREPLACE */ };

int beneath_open(int dir, const char *path, int flags, unsigned mode, unsigned resolve)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = {(uint64_t)(flags | O_CLOEXEC), mode, resolve | NO_MAGIC};
	long fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (int)fd;
}

int beneath_needed(struct error *err)
{
	CLEANUP(base_close) int fd = beneath_open(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0, 0);

	if (fd < 0 && errno == ENOSYS)
		return error_set(err, ERR_SYSTEM,
			"this kernel has no openat2: Linux 5.6 or later is needed");
	return 0;
}

int beneath_parent(int dir, const char *path, unsigned resolve, const char **name)
{
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	*name = slash ? slash + 1 : path;
	if (n >= sizeof(above)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(above, path, n);
	above[n] = '\0';
	return beneath_open(dir, n ? above : ".", O_PATH | O_DIRECTORY, 0, resolve);
}

bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The kernel adds this to the name of a file that has lost it. */
static bool looks_removed(struct str path)
{
	return str_ends(path, " (deleted)");
}

/* A file may really be called so. */
static int confirm(int fd, const char *path)
{
	struct stat opened, named;

	if (fstat(fd, &opened) == 0 && fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		same_file(&opened, &named))
		return 0;
	errno = ENOENT;
	return -1;
}

int fd_real(int fd, char out[PATH_MAX], size_t *n)
{
	char link[32];
	ssize_t got;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, out, PATH_MAX);
	if (got <= 0 || got >= PATH_MAX || out[0] != '/') {
		errno = got < 0 ? errno : ENAMETOOLONG;
		return -1;
	}
	out[got] = '\0';
	*n = (size_t)got;
	return looks_removed((struct str){out, *n}) ? confirm(fd, out) : 0;
}

bool path_below(struct str path, struct str dir, struct str *rest)
{
	while (dir.n && dir.p[dir.n - 1] == '/')
		dir.n--;
	if (path.n < dir.n || (dir.n && memcmp(path.p, dir.p, dir.n)))
		return false;
	if (dir.n && path.n > dir.n && path.p[dir.n] != '/')
		return false;
	*rest = str_sub(path, dir.n, path.n);
	while (rest->n && rest->p[0] == '/')
		*rest = str_sub(*rest, 1, rest->n);
	return true;
}

bool path_part(struct str *rest, struct str *part)
{
	size_t n = 0;

	while (rest->n && rest->p[0] == '/')
		*rest = str_sub(*rest, 1, rest->n);
	while (n < rest->n && rest->p[n] != '/')
		n++;
	*part = str_sub(*rest, 0, n);
	*rest = str_sub(*rest, n, rest->n);
	return n > 0;
}

DIR *beneath_list(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (!list)
		base_close(&fd);
	return list;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

int beneath_open_locked(int dir, const char *name)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, name, flags);

	if (fd >= 0 || errno != EACCES)
		return fd;
	(void)fchmodat(dir, name, 0700, 0);
	return openat(dir, name, flags);
}

/* Moves a directory to `top` under an unused name. */
static bool move_up(int from, const char *name, int top, unsigned *number)
{
	for (int i = 0; i < NAMES; i++) {
		char fresh[32];

		(void)snprintf(fresh, sizeof(fresh), ".lifted.%u", (*number)++);
		if (syscall(SYS_renameat2, from, name, top, fresh, ONLY_NEW) == 0)
			return true;
		if (errno == EACCES)
			(void)fchmodat(from, name, 0700, 0);
		else if (errno != EEXIST)
			return false;
	}
	return false;
}

static bool remove_entry(int dir, const char *name)
{
	return unlinkat(dir, name, 0) == 0 || unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

/* Removes what it can from one directory and moves its subdirectories to `top`. */
static void empty_one(int top, const char *name, unsigned *number)
{
	CLEANUP(base_close) int fd = beneath_open_locked(top, name);
	DIR *list = fd < 0 ? NULL : beneath_list(fd);
	struct dirent *e;

	if (!list)
		return;
	(void)fchmod(fd, 0700);
	while ((e = readdir(list)))
		if (!is_dots(e->d_name) && !remove_entry(fd, e->d_name))
			(void)move_up(fd, e->d_name, top, number);
	closedir(list);
}

/* Subdirectories are moved up instead of being descended into, so at most two are open. */
void beneath_empty(int dir)
{
	unsigned number = 0;
	bool some = true;

	(void)fchmod(dir, 0700);
	while (some) {
		DIR *list = beneath_list(dir);
		struct dirent *e;

		some = false;
		while (list && (e = readdir(list))) {
			if (is_dots(e->d_name))
				continue;
			if (!remove_entry(dir, e->d_name)) {
				empty_one(dir, e->d_name, &number);
				some |= unlinkat(dir, e->d_name, AT_REMOVEDIR) == 0;
			} else {
				some = true;
			}
		}
		if (list)
			closedir(list);
	}
}
