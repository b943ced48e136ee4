#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "src/sandbox/sandbox_internal.h"

/* Our own names, as the headers of distributions differ in what they know. */
enum {
	OPEN_TREE = 428,
	MOVE_MOUNT = 429,
	OPENAT2 = 437,
	FSOPEN = 430,
	FSCONFIG = 431,
	FSMOUNT = 432,
	SETATTR = 442,
	CONFIG_STRING = 1,
	CONFIG_CREATE = 6,
	TREE_CLONE = 1,
	FROM_EMPTY = 0x04,
	TO_EMPTY = 0x40,
	EMPTY_PATH = 0x1000,
	RECURSIVE = 0x8000,
	ATTR_RDONLY = 1,
	ATTR_NOSUID = 2,
	ATTR_NODEV = 4,
	NO_SYMLINKS = 0x04,
	IN_ROOT = 0x10,
};

struct attributes {
	uint64_t set, clear, propagation, user;
};

struct how {
	uint64_t flags, mode, resolve;
};

static int open_tree_of(const char *path)
{
	return (int)syscall(OPEN_TREE, AT_FDCWD, path, TREE_CLONE | O_CLOEXEC | RECURSIVE);
}

static int set_attributes(int tree, unsigned flags, uint64_t set)
{
	struct attributes attr = {.set = set};

	return (int)syscall(SETATTR, tree, "", EMPTY_PATH | flags, &attr, sizeof(attr));
}

/* A directory in memory, mounted nowhere yet; -1 with errno. */
static int scratch(void)
{
	CLEANUP(base_close) int fs = (int)syscall(FSOPEN, "tmpfs", 1 /* FSOPEN_CLOEXEC */);

	if (fs < 0 || syscall(FSCONFIG, fs, CONFIG_STRING, "mode", "1777", 0) < 0 ||
		syscall(FSCONFIG, fs, CONFIG_STRING, "size", "1g", 0) < 0 ||
		syscall(FSCONFIG, fs, CONFIG_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(FSMOUNT, fs, 1 /* FSMOUNT_CLOEXEC */, ATTR_NOSUID | ATTR_NODEV);
}

/* A copy of the mount that `g` is on, with no more rights than it grants; -1 with errno. */
static int detached(const struct grant *g)
{
	static const uint64_t attributes[] = {
		[GRANT_READ] = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV,
		[GRANT_WRITE] = ATTR_NOSUID | ATTR_NODEV,
		[GRANT_DEVICE] = ATTR_RDONLY | ATTR_NOSUID,
	};
	int tree = g->kind == GRANT_SCRATCH ? scratch() : open_tree_of(g->path);

	if (tree < 0 || g->kind == GRANT_SCRATCH ||
		set_attributes(tree, RECURSIVE, attributes[g->kind]) == 0)
		return tree;
	close(tree);
	return -1;
}

/* Makes `path`, and the directories above it only where they are missing. */
static int make_entry(int base, char *path, bool directory)
{
	char *slash = strrchr(path, '/');
	int rc;

	for (int again = 0; again < 2; again++) {
		rc = directory ? mkdirat(base, path, 0755) : mknodat(base, path, S_IFREG | 0644, 0);
		if (rc == 0 || errno == EEXIST)
			return 0;
		if (errno != ENOENT || !slash)
			return -1;
		*slash = '\0';
		rc = make_entry(base, path, true);
		*slash = '/';
		if (rc < 0)
			return -1;
	}
	return -1;
}

/* A descriptor of where `path` is in the view, which is made where needed. Nothing follows a link.
 */
static int entry(int base, const char *path, bool directory)
{
	char copy[PATH_MAX];
	struct how how = {O_PATH | O_CLOEXEC, 0, NO_SYMLINKS | IN_ROOT};
	size_t n = strlen(path);
	int fd;

	if (n >= sizeof(copy) || n < 2)
		return errno = ENAMETOOLONG, -1;
	/* Most are there already: below the root, or on the way to another. */
	if ((fd = (int)syscall(OPENAT2, base, path, &how, sizeof(how))) >= 0)
		return fd;
	memcpy(copy, path + 1, n);
	if (errno != ENOENT || make_entry(base, copy, directory) < 0)
		return -1;
	return (int)syscall(OPENAT2, base, path, &how, sizeof(how));
}

static int attach(int base, const char *path, int tree)
{
	struct stat st;
	CLEANUP(base_close) int to = -1;

	if (fstat(tree, &st) < 0 || (to = entry(base, path, S_ISDIR(st.st_mode))) < 0)
		return -1;
	return (int)syscall(MOVE_MOUNT, tree, "", to, "", FROM_EMPTY | TO_EMPTY);
}

/* The links in the uppermost directory: /bin, /lib and whatever else a system moved below /usr. */
static int copy_links(int base)
{
	DIR *d = opendir("/");
	char to[PATH_MAX];
	struct dirent *e;
	ssize_t n;

	if (!d)
		return -1;
	while ((e = readdir(d))) {
		if (e->d_type != DT_LNK)
			continue;
		n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);
		if (n < 0)
			continue;
		to[n] = '\0';
		if (symlinkat(to, base, e->d_name) < 0 && errno != EEXIST)
			break;
	}
	closedir(d);
	return e ? -1 : 0;
}

static int device_links(int base)
{
	static const char *const links[][2] = {{"/proc/self/fd", "dev/fd"},
		{"/proc/self/fd/0", "dev/stdin"}, {"/proc/self/fd/1", "dev/stdout"},
		{"/proc/self/fd/2", "dev/stderr"}};

	for (size_t i = 0; i < COUNT(links); i++)
		if (symlinkat(links[i][0], base, links[i][1]) < 0)
			return -1;
	return 0;
}

static int mounts_private(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static int mounts_proc(const char *at)
{
	return mount("proc", at, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

/* An empty directory in memory on top of `on`: what becomes the root of the view. */
static int new_root(const char *on)
{
	if (mount("none", on, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") < 0)
		return -1;
	return open(on, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Makes `base` the root. Not by pivot_root(): removing the old root then waits 0.4 ms for all
 * processors. What could lead back is given up next: capabilities, chroot(), descriptors.
 */
static int turn(int base)
{
	return fchdir(base) < 0 ? -1 : chroot(".");
}

/* A grant with a tree that cannot be had is left out, unless the run needs it. */
static int detach_all(const struct sandbox *s)
{
	struct grants *g = &s->state->grants;

	for (size_t i = 0; i < g->n; i++) {
		bool seen = g->list[i].use != USE_RULES;

		g->list[i].tree = seen ? detached(&g->list[i]) : -1;
		if (seen && g->list[i].tree < 0 && g->list[i].needed)
			return layer_failed(s, "mounts", g->list[i].path);
	}
	return 0;
}

static int attach_all(const struct sandbox *s, int base)
{
	struct grants *g = &s->state->grants;

	for (size_t i = 0; i < g->n; i++) {
		const struct grant *one = &g->list[i];

		if (one->tree < 0)
			continue;
		if (attach(base, one->path, one->tree) < 0)
			return layer_failed(s, "mounts", one->path);
		close(one->tree);
	}
	return 0;
}

/* Without a PID namespace there is but the one /proc; Landlock then lets nothing of it be read. */
static int show_processes(const struct sandbox *s, int base)
{
	CLEANUP(base_close) int old = s->state->own_proc ? -1 : open_tree_of("/proc");

	if (s->state->own_proc)
		return mkdirat(base, "proc", 0555) < 0 || fchdir(base) < 0 ? -1
									   : mounts_proc("proc");
	return old < 0 ? -1 : attach(base, "/proc", old);
}

static int build(const struct sandbox *s)
{
	CLEANUP(base_close) int base = -1;

	if (mounts_private() < 0)
		return layer_failed(s, "mounts", "cannot part from the others");
	if (detach_all(s) < 0)
		return -1;
	base = new_root(s->tmp);
	if (base < 0 || copy_links(base) < 0)
		return layer_failed(s, "mounts", "cannot make the view");
	if (attach_all(s, base) < 0)
		return -1;
	if (device_links(base) < 0 || show_processes(s, base) < 0)
		return layer_failed(s, "mounts", "cannot fill the view");
	if (turn(base) < 0 || set_attributes(base, 0, ATTR_RDONLY) < 0)
		return layer_failed(s, "mounts", "cannot change to the view");
	return 0;
}

/* The caller's descriptor of the root still leads to the old mounts, where nothing is read-only. */
static int reopen_root(const struct sandbox *s)
{
	CLEANUP(base_close) int fd = open(s->root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || dup3(fd, s->root->fd, O_CLOEXEC) < 0 || fchdir(s->root->fd) < 0)
		return layer_failed(s, "mounts", s->root->path);
	return 0;
}

/* Settings of the kernel belong to root's number there, whatever capabilities it has. */
static int seal_proc(const struct sandbox *s)
{
	struct attributes attr = {.set = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV};

	if (s->state->pid_limit && pid_limit_set("/proc", s->policy->limits.processes) < 0)
		return layer_failed(s, "processes", "cannot bound their number");
	if (syscall(SETATTR, AT_FDCWD, "/proc", RECURSIVE, &attr, sizeof(attr)) < 0)
		return layer_failed(s, "mounts", "/proc");
	return 0;
}

int mounts_enter(struct sandbox *s)
{
	mode_t mask;
	int rc;

	if (!s->state->on[LAYER_MOUNTS])
		return 0;
	mask = umask(022);
	rc = build(s);
	umask(mask);
	return rc < 0 || seal_proc(s) < 0 ? -1 : reopen_root(s);
}

int mounts_try(const char *directory, int *proc)
{
	struct grant g = {.path = directory, .kind = GRANT_READ};
	CLEANUP(base_close) int base = -1;
	CLEANUP(base_close) int tree = -1;

	if (mounts_private() < 0 || (tree = detached(&g)) < 0 || (base = new_root(directory)) < 0)
		return -1;
	if (attach(base, directory, tree) < 0 || fchdir(base) < 0)
		return -1;
	/* Before the old one is out of sight: a user namespace gets none that shows more. */
	*proc = mounts_proc(directory + 1) < 0 ? errno : 0;
	return turn(base);
}
