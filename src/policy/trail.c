/*
 * A path is opened beneath the root first. Where that leads out it is opened freely (O_PATH alone:
 * nothing is read), since an absolute link or a detour may lead back in, and the real path of what
 * was opened decides. What does not exist is placed by the deepest directory above it that does.
 */
#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include "src/policy/trail.h"

enum { DEPTH_MAX = 256, CLIMB_MAX = 64 };

/* A path on its way: `text` up to `n` is asked about, what was cut off stands behind it. */
struct walk {
	int dir; /* what text is relative to */
	size_t n, all;
	char text[PATH_MAX];
};

void trail_close(struct trail *t)
{
	base_close(&t->fd);
}

static int fault(struct trail *t, const char *text)
{
	(void)snprintf(t->fault, sizeof(t->fault), "%s", text);
	return -1;
}

static int fault_errno(struct trail *t, int number)
{
	t->number = number;
	(void)snprintf(
		t->fault, sizeof(t->fault), "path that cannot be followed: %s", strerror(number));
	return -1;
}

static int walk_set(struct walk *w, const struct root *r, struct str cwd, struct str path)
{
	bool absolute = path.n && path.p[0] == '/';

	w->dir = absolute ? AT_FDCWD : r->fd;
	if (absolute && path_below(path, str_of(r->path), &path)) {
		w->dir = r->fd;
		absolute = false;
		cwd = STR("");
	}
	if (path.n + cwd.n + 2 >= sizeof(w->text))
		return -1;
	w->n = 0;
	if (!absolute && cwd.n) {
		memcpy(w->text, cwd.p, cwd.n);
		w->text[cwd.n] = '/';
		w->n = cwd.n + 1;
	}
	if (path.n)
		memcpy(w->text + w->n, path.p, path.n);
	w->n += path.n;
	w->all = w->n;
	w->text[w->n] = '\0';
	return 0;
}

static int open_text(int dir, const char *text, int flags)
{
	int fd = -1;

	if (!*text)
		text = ".";
	if (dir != AT_FDCWD)
		fd = beneath_open(dir, text, flags, 0, BENEATH);
	if (fd < 0 && (dir == AT_FDCWD || errno == EXDEV))
		fd = beneath_open(dir, text, flags, 0, 0);
	return fd;
}

static int walk_open(const struct walk *w, int flags)
{
	char text[PATH_MAX];

	if (!w->text[w->n])
		return open_text(w->dir, w->text, flags);
	memcpy(text, w->text, w->n);
	text[w->n] = '\0';
	return open_text(w->dir, text, flags);
}

/* Cuts the last part off; an absolute path keeps its first slash. */
static void walk_up(struct walk *w)
{
	size_t least = w->dir == AT_FDCWD ? 1 : 0;

	while (w->n > least && w->text[w->n - 1] == '/')
		w->n--;
	while (w->n > least && w->text[w->n - 1] != '/')
		w->n--;
}

static int add_part(struct trail *t, struct str part)
{
	if (t->n + part.n + 2 >= sizeof(t->real))
		return fault(t, "path that is too long");
	if (t->n > 1)
		t->real[t->n++] = '/';
	memcpy(t->real + t->n, part.p, part.n);
	t->n += part.n;
	t->real[t->n] = '\0';
	return 0;
}

/* The parts that do not exist. A first one that does, by name, is a link to nothing, or was made
 * just now: either way nobody knows where it leads. */
static int add_missing(struct trail *t, const struct walk *w)
{
	struct str rest = str_sub((struct str){w->text, w->all}, w->n, w->all), part;
	bool first = true;
	struct stat st;

	while (path_part(&rest, &part)) {
		if (str_is(part, ".."))
			return fault(t, "'..' behind what does not exist");
		if (str_is(part, "."))
			continue;
		if (add_part(t, part) < 0)
			return -1;
		if (first &&
			(fstatat(t->fd, t->real + t->n - part.n, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
				errno != ENOENT))
			return fault(t, "link to a file that does not exist");
		first = false;
	}
	return 0;
}

static int open_deepest(struct trail *t, struct walk *w)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		t->fd = walk_open(w, O_PATH);
		if (t->fd >= 0)
			return 0;
		if (errno != ENOENT || !w->n)
			return fault_errno(t, errno);
		walk_up(w);
	}
	return fault(t, "path of too many parts that do not exist");
}

/* Files of the kernel's own file systems are doors to anywhere. */
static bool is_kernel_door(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	switch ((unsigned long)fs.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case BPF_FS_MAGIC:
		return true;
	default:
		return false;
	}
}

static int settle(struct trail *t)
{
	if (fd_real(t->fd, t->real, &t->n) < 0 || fstat(t->fd, &t->st) < 0)
		return fault_errno(t, errno);
	if (is_kernel_door(t->fd))
		return fault(t, "file of the kernel's own");
	if (t->exists && (S_ISCHR(t->st.st_mode) || S_ISBLK(t->st.st_mode)))
		return fault(t, "device");
	return 0;
}

/* Is the last part a plain name, which can be taken without following it? */
static bool split_name(struct walk *w, struct str *name)
{
	size_t n = w->n;

	while (n && w->text[n - 1] != '/')
		n--;
	*name = (struct str){w->text + n, w->n - n};
	if (!name->n || str_is(*name, ".") || str_is(*name, ".."))
		return false;
	w->n = w->all = n;
	return true;
}

static int add_name(struct trail *t, struct str name)
{
	if (add_part(t, name) < 0)
		return -1;
	if (!t->exists)
		return 0;
	t->exists = fstatat(t->fd, t->real + t->n - name.n, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
	return t->exists || errno == ENOENT ? 0 : fault_errno(t, errno);
}

/* How much of the directory's real path leads to the root's own directory: 0 when it is not above
 * it. */
static size_t climb(const struct root *r, int folder, const char *real, size_t n)
{
	struct stat top, here;
	CLEANUP(base_close) int at = beneath_open(folder, ".", O_PATH | O_DIRECTORY, 0, 0);

	if (fstat(r->fd, &top) < 0)
		return 0;
	for (int i = 0; i < CLIMB_MAX && at >= 0 && n > 1; i++) {
		int above;

		if (fstat(at, &here) < 0)
			return 0;
		if (same_file(&top, &here))
			return n;
		above = beneath_open(at, "..", O_PATH | O_DIRECTORY, 0, 0);
		close(at);
		at = above;
		while (n > 1 && real[n - 1] != '/')
			n--;
		while (n > 1 && real[n - 1] == '/')
			n--;
	}
	return 0;
}

/* The root's own name for a file that was reached by another (a bind mount); t->real becomes that.
 */
static void rename_alias(const struct root *r, struct trail *t)
{
	const char *name;
	char other[PATH_MAX];
	size_t up = t->n, top, rest, own = strlen(r->path);
	CLEANUP(base_close) int folder = -1;
	CLEANUP(base_close) int again = -1;
	struct stat st;

	if (S_ISDIR(t->st.st_mode)) {
		folder = beneath_open(t->fd, ".", O_PATH, 0, 0);
	} else {
		folder = beneath_parent(AT_FDCWD, t->real, NO_LINKS, &name);
		up = (size_t)(name - t->real) - 1;
	}
	top = folder < 0 ? 0 : climb(r, folder, t->real, up);
	if (!top || own + t->n - top >= sizeof(other))
		return;
	rest = t->n - top;
	memcpy(other, r->path, own);
	memcpy(other + own, t->real + top, rest + 1);
	again = beneath_open(r->fd, rest ? other + own + 1 : ".", O_PATH, 0, BENEATH | NO_LINKS);
	if (again < 0 || fstat(again, &st) < 0 || !same_file(&st, &t->st))
		return;
	memcpy(t->real, other, own + rest + 1);
	t->n = own + rest;
}

int trail_follow(
	const struct root *r, struct str cwd, struct str path, bool name_only, struct trail *t)
{
	struct walk w;
	struct str name = {0};

	t->real[0] = '\0';
	t->number = 0;
	t->n = 0;
	if (path.n && memchr(path.p, '\0', path.n))
		return fault(t, "path with a NUL byte");
	if (walk_set(&w, r, cwd, path) < 0)
		return fault(t, "path that is too long");
	if (name_only)
		name_only = split_name(&w, &name);
	if (open_deepest(t, &w) < 0)
		return -1;
	t->exists = w.n == w.all;
	if (settle(t) < 0)
		return -1;
	if (!path_below((struct str){t->real, t->n}, str_of(r->path), &t->rel))
		rename_alias(r, t);
	if (add_missing(t, &w) < 0 || (name_only && add_name(t, name) < 0))
		return -1;
	t->below = path_below((struct str){t->real, t->n}, str_of(r->path), &t->rel);
	return 0;
}
