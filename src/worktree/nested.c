#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/worktree/work.h"

/* Searches every directory below a worktree, ignored ones too: a clone may be anywhere. */

enum { FOUND_MAX = 1000 };

struct walk {
	struct arena *arena;
	const char **found;
	size_t n;
	const char *closed;
};

static void walk(struct walk *w, int dir, struct buf *path, bool top);

static bool is_directory(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void enter(struct walk *w, int dir, const char *name, struct buf *path)
{
	CLEANUP(base_close)
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	size_t len = path->len;

	buf_addf(path, "/%s", name);
	if (fd >= 0)
		walk(w, fd, path, false);
	else if (errno != ENOENT && !w->closed)
		w->closed = arena_dup(w->arena, buf_str(path));
	buf_cut(path, len);
}

static void take(struct walk *w, const struct buf *path)
{
	if (w->n < FOUND_MAX)
		w->found[w->n++] = arena_dup(w->arena, buf_str(path));
	else
		w->closed = arena_dup(w->arena, buf_str(path)); /* more than anybody has */
}

static void walk(struct walk *w, int dir, struct buf *path, bool top)
{
	int copy = dup(dir);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!list) {
		w->closed = arena_dup(w->arena, buf_str(path));
		return;
	}
	while ((entry = readdir(list))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (strcmp(name, ".git") == 0) {
			if (!top)
				take(w, path);
		} else if (is_directory(dir, entry)) {
			enter(w, dir, name, path);
		}
	}
	closedir(list);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

int nested_find(struct arena *a, const char *path, const char ***out, size_t *n,
	const char **closed, struct error *err)
{
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct walk w = {.arena = a, .found = arena_alloc(a, FOUND_MAX * sizeof(*w.found))};

	if (fd < 0)
		return error_errno(err, "cannot read '%s'", path);
	buf_adds(&text, path);
	walk(&w, fd, &text, true);
	qsort(w.found, w.n, sizeof(*w.found), by_name);
	*out = w.found;
	*n = w.n;
	*closed = w.closed;
	return 0;
}
