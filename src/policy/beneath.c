#include <errno.h>
#include <sys/syscall.h>
#include "src/policy/beneath.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* The kernel gives up (EAGAIN) when something is renamed while it climbs `..`. */
enum { TRIES = 64 };

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
