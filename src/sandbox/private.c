#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "src/policy/beneath.h"
#include "src/sandbox/execute_internal.h"

#define RUN_PREFIX "run."
enum { TRIES = 16 };

/* Nobody else may put something of theirs in the place of what we make there. */
static bool is_safe(const char *dir)
{
	struct stat st;

	if (dir[0] != '/' || stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return false;
	return !(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX;
}

static const char *temporary(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && is_safe(dir) ? dir : "/tmp";
}

/* Passed through by all, so that a run under another uid finds its own. -1: not ours. */
static int open_ours(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0711) < 0 && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && fchmod(fd, 0711) == 0)
		return fd;
	base_close(&fd);
	return -1;
}

/* Eight bytes that nobody can foresee. */
static int draw(uint64_t *number)
{
	return getrandom(number, sizeof(*number), 0) == sizeof(*number) ? 0 : -1;
}

/*
 * dev-team-UID, shared by all runs of the user; where somebody else has put something of theirs
 * there, one of the run's own.
 */
static int open_base(struct arena *a, struct private *p, struct error *err)
{
	uint64_t number;

	p->path = arena_printf(a, "%s/dev-team-%u", temporary(), (unsigned)geteuid());
	p->base = open_ours(p->path);
	if (p->base >= 0)
		return 0;
	if (draw(&number) < 0)
		return error_errno(err, "cannot make a name");
	p->path = arena_printf(a, "%s.%016llx", p->path, (unsigned long long)number);
	p->base = open_ours(p->path);
	p->alone = p->base >= 0;
	return p->base < 0 ? error_errno(err, "cannot create the directory '%s'", p->path) : 0;
}

/* The lock is a directory's only while the directory has its name. */
static bool still_named(int base, const char *name, int fd)
{
	struct stat named, opened;

	return fstatat(base, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &opened) == 0 &&
	       same_file(&named, &opened);
}

static void remove_stale(int base)
{
	DIR *list = beneath_list(base);
	struct dirent *e;

	while (list && (e = readdir(list))) {
		CLEANUP(base_close) int fd = -1;

		if (strncmp(e->d_name, RUN_PREFIX, strlen(RUN_PREFIX)) != 0)
			continue;
		fd = beneath_open_locked(base, e->d_name);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || !still_named(base, e->d_name, fd))
			continue;
		beneath_empty(fd);
		(void)unlinkat(base, e->d_name, AT_REMOVEDIR);
	}
	if (list)
		closedir(list);
}

/* Another run may take it for a stale one before it is locked: then there is a next try. */
static int make_run(struct private *p)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t number = 0;

		if (draw(&number) < 0)
			return -1;
		(void)snprintf(
			p->name, sizeof(p->name), RUN_PREFIX "%016llx", (unsigned long long)number);
		if (mkdirat(p->base, p->name, 0700) < 0 && errno != EEXIST)
			return -1;
		p->dir = openat(p->base, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (p->dir >= 0 && flock(p->dir, LOCK_EX | LOCK_NB) == 0 &&
			still_named(p->base, p->name, p->dir))
			return 0;
		base_close(&p->dir);
		p->dir = -1;
	}
	errno = EBUSY;
	return -1;
}

static int make_one(struct private *p, const char *name, unsigned uid, unsigned gid)
{
	if (mkdirat(p->dir, name, 0700) < 0)
		return -1;
	return uid ? fchownat(p->dir, name, uid, gid ? gid : (gid_t)-1, AT_SYMLINK_NOFOLLOW) : 0;
}

static int make_all(struct private *p, unsigned uid, unsigned gid)
{
	if (make_run(p) < 0 || make_one(p, "home", uid, gid) < 0 ||
		make_one(p, "tmp", uid, gid) < 0)
		return -1;
	return uid ? fchown(p->dir, uid, gid ? gid : (gid_t)-1) : 0;
}

int private_make(struct arena *a, struct private *p, unsigned uid, unsigned gid, struct error *err)
{
	*p = (struct private)PRIVATE_INIT;
	if (open_base(a, p, err) < 0)
		return -1;
	remove_stale(p->base);
	if (make_all(p, uid, gid) < 0) {
		(void)error_errno(err, "cannot make a private directory in '%s'", p->path);
		private_remove(p);
		return -1;
	}
	p->home = arena_printf(a, "%s/%s/home", p->path, p->name);
	p->tmp = arena_printf(a, "%s/%s/tmp", p->path, p->name);
	return 0;
}

void private_remove(struct private *p)
{
	if (p->dir >= 0) {
		beneath_empty(p->dir);
		(void)unlinkat(p->base, p->name, AT_REMOVEDIR);
	}
	if (p->alone)
		(void)rmdir(p->path);
	base_close(&p->dir);
	base_close(&p->base);
	*p = (struct private)PRIVATE_INIT;
}
