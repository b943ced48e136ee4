#include <dirent.h>
#include <errno.h>
#include "src/policy/protected_internal.h"

enum { DEPTH_MAX = 32, FILES_MAX = 16384, FILE_MAX = 1 << 20, BYTES_MAX = 16 << 20 };

/* Where a file is found: its name in an open directory, and its path in the base. */
struct spot {
	int dir;
	const char *name, *path;
	unsigned depth;
};

static int keep_spot(struct protected *p, struct watch *w, struct spot at, struct error *err);

int watch_parent(const struct watch *w, const char *path, const char **name)
{
	return beneath_parent(w->base->fd, path, BENEATH | NO_LINKS, name);
}

int list_folder(int dir, const char *name)
{
	return beneath_open(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, BENEATH | NO_LINKS);
}

static struct kept *add(struct protected *p, struct watch *w, const char *path)
{
	if (w->n == w->cap) {
		struct kept *more;

		w->cap = w->cap ? 2 * w->cap : 4;
		more = arena_alloc(p->arena, w->cap * sizeof(*more));
		if (w->n)
			memcpy(more, w->list, w->n * sizeof(*more));
		w->list = more;
	}
	w->list[w->n] = (struct kept){.path = path};
	return &w->list[w->n++];
}

static void copy_link(struct protected *p, struct kept *k, int dir, const char *name)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(dir, name, to, sizeof(to));

	if (n <= 0 || n >= (ssize_t)sizeof(to))
		return;
	k->text = arena_dup(p->arena, (struct str){to, (size_t)n});
	k->n = (size_t)n;
	k->copied = true;
}

static bool read_exactly(int fd, char *text, size_t n)
{
	size_t have = 0;
	char more;

	while (have < n) {
		ssize_t got = read(fd, text + have, n - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		have += (size_t)got;
	}
	return read(fd, &more, 1) == 0;
}

static void copy_file(struct protected *p, struct kept *k, int dir, const char *name)
{
	CLEANUP(base_close)
	int fd = beneath_open(
		dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, BENEATH | NO_LINKS);
	char *text;

	if (fd < 0 || fstat(fd, &k->st) < 0 || !S_ISREG(k->st.st_mode) ||
		k->st.st_size > FILE_MAX || p->bytes + (size_t)k->st.st_size > BYTES_MAX)
		return;
	k->n = (size_t)k->st.st_size;
	k->text = text = arena_alloc(p->arena, k->n + 1);
	k->copied = read_exactly(fd, text, k->n);
	p->bytes += k->n;
}

static void close_list(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int keep_below(struct protected *p, struct watch *w, struct spot at, struct error *err)
{
	int fd = list_folder(at.dir, at.name);
	CLEANUP(close_list) DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!list) {
		base_close(&fd);
		return errno == EACCES ? 0 : error_errno(err, "cannot list '%.200s'", at.path);
	}
	if (at.depth == DEPTH_MAX)
		return error_set(
			err, ERR_STATE, "protected files too deep to remember: '%.200s'", at.path);
	while ((e = readdir(list))) {
		struct spot next = {fd, e->d_name, NULL, at.depth + 1};

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		next.path = arena_printf(p->arena, "%s/%s", at.path, e->d_name);
		if (watched(next.path) && keep_spot(p, w, next, err) < 0)
			return -1;
	}
	return 0;
}

static int keep_spot(struct protected *p, struct watch *w, struct spot at, struct error *err)
{
	struct stat st;
	struct kept *k;

	if (fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, "cannot look at '%.200s'", at.path);
	if (++p->files > FILES_MAX)
		return error_set(err, ERR_STATE,
			"more than %d protected files to remember: '%.200s'", FILES_MAX, w->path);
	k = add(p, w, at.path);
	k->st = st;
	if (S_ISLNK(st.st_mode))
		copy_link(p, k, at.dir, at.name);
	if (S_ISREG(st.st_mode) && w->kind != WATCH_KIND)
		copy_file(p, k, at.dir, at.name);
	if (S_ISDIR(st.st_mode) && w->kind == WATCH_ALL)
		return keep_below(p, w, at, err);
	return 0;
}

int keep_watch(struct protected *p, struct watch *w, struct error *err)
{
	const char *name;
	CLEANUP(base_close) int dir = watch_parent(w, w->path, &name);

	if (dir < 0) /* a directory on the way is not there, or a link: that is watched, too */
		return errno == ENOENT || errno == ELOOP || errno == ENOTDIR
			       ? 0
			       : error_errno(err, "cannot look at '%.200s'", w->path);
	return keep_spot(p, w, (struct spot){dir, name, w->path, 0}, err);
}
