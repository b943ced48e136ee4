/*
 * After a run: each file that was there is looked at, directories before what is in them, and
 * mended where it differs; then what is new in the directories is taken away. All by names in
 * directories that are opened without following a link.
 */
#include <dirent.h>
#include <errno.h>
#include "src/policy/protected_internal.h"

enum { PASSES = 8, REPORTED = 256 };

/* One name in a directory that is open. */
struct spot {
	struct protected *p;
	const struct watch *w;
	int dir;
	const char *name, *path;
};

static void report(struct spot at)
{
	struct protected *p = at.p;
	const char *base = at.w->base->name;
	const char *text = *base ? arena_printf(p->arena, "%s/%s", base, at.path) : at.path;

	if (!p->changed)
		p->changed = arena_alloc(p->arena, REPORTED * sizeof(*p->changed));
	for (size_t i = 0; i < p->n_changed; i++)
		if (strcmp(p->changed[i], text) == 0)
			return;
	if (p->n_changed < REPORTED)
		p->changed[p->n_changed++] = arena_dup(p->arena, str_of(text));
}

static void failed(struct spot at)
{
	if (at.p->failed)
		return;
	at.p->failed = true;
	(void)error_errno(at.p->err, "cannot put back '%.400s'", at.path);
}

static void mend(struct spot at, const struct kept *k)
{
	report(at);
	if (take_away(at.dir, at.name) < 0 || put_back(at.dir, at.name, k) < 0)
		failed(at);
}

static void remove_new(struct spot at)
{
	report(at);
	if (take_away(at.dir, at.name) < 0)
		failed(at);
}

static bool same_text(struct spot at, const struct kept *k)
{
	char piece[4096];
	size_t done = 0;
	CLEANUP(base_close)
	int fd = beneath_open(at.dir, at.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0,
		BENEATH | NO_LINKS);

	for (;;) {
		ssize_t n = fd < 0 ? -1 : read(fd, piece, sizeof(piece));

		if (n < 0 && fd >= 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 && done == k->n;
		if (done + (size_t)n > k->n || memcmp(piece, k->text + done, (size_t)n))
			return false;
		done += (size_t)n;
	}
}

static bool same_link(struct spot at, const struct kept *k)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(at.dir, at.name, to, sizeof(to));

	return n >= 0 && (size_t)n == k->n && memcmp(to, k->text, k->n) == 0;
}

/* Nothing at all was done to it: the time of its last change cannot be set. */
static bool untouched(const struct stat *was, const struct stat *is)
{
	return same_file(was, is) && was->st_size == is->st_size &&
	       was->st_ctim.tv_sec == is->st_ctim.tv_sec &&
	       was->st_ctim.tv_nsec == is->st_ctim.tv_nsec;
}

static bool same(struct spot at, const struct kept *k, const struct stat *is)
{
	const struct stat *was = &k->st;

	if (at.w->kind == WATCH_KNOWN)
		return k->copied ? S_ISREG(is->st_mode) && same_text(at, k) : true;
	if ((was->st_mode & S_IFMT) != (is->st_mode & S_IFMT))
		return false;
	if (S_ISLNK(was->st_mode))
		return k->copied && same_link(at, k);
	if (was->st_mode != is->st_mode || was->st_uid != is->st_uid || was->st_gid != is->st_gid)
		return at.w->kind == WATCH_KIND;
	if (!S_ISREG(was->st_mode) || untouched(was, is))
		return true;
	/* One more name for it elsewhere is one more way to write it. */
	return k->copied && is->st_nlink <= was->st_nlink && same_text(at, k);
}

/* A directory keeps what is in it when its mode alone differs. */
static void mend_mode(struct spot at, const struct kept *k)
{
	CLEANUP(base_close) int fd = list_folder(at.dir, at.name);

	report(at);
	if (fd < 0 || fchmod(fd, k->st.st_mode & 07777) < 0)
		failed(at);
}

static void check(struct spot at, const struct kept *k)
{
	struct stat is;

	if (fstatat(at.dir, at.name, &is, AT_SYMLINK_NOFOLLOW) < 0) {
		if (at.w->kind != WATCH_KNOWN)
			mend(at, k);
	} else if (S_ISDIR(is.st_mode) && S_ISDIR(k->st.st_mode)) {
		if (at.w->kind != WATCH_KIND && (is.st_mode & 07777) != (k->st.st_mode & 07777))
			mend_mode(at, k);
	} else if (!same(at, k, &is)) {
		mend(at, k);
	}
}

static int by_path(const void *key, const void *entry)
{
	return strcmp(key, ((const struct kept *)entry)->path);
}

static int by_order(const void *a, const void *b)
{
	return strcmp(((const struct kept *)a)->path, ((const struct kept *)b)->path);
}

/* True when something was taken away: the list may then have missed a name. */
static bool clear_new(struct spot at, int dir)
{
	int fd = list_folder(dir, ".");
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool some = false;

	if (!list)
		base_close(&fd);
	while (list && (e = readdir(list))) {
		struct spot next = {at.p, at.w, dir, e->d_name, NULL};

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		next.path = arena_printf(at.p->arena, "%s/%s", at.path, e->d_name);
		if (!watched(next.path) ||
			bsearch(next.path, at.w->list, at.w->n, sizeof(*at.w->list), by_path))
			continue;
		remove_new(next);
		some = true;
	}
	if (list)
		closedir(list);
	return some;
}

static void restore_kept(struct protected *p, const struct watch *w, const struct kept *k)
{
	struct spot at = {.p = p, .w = w, .path = k->path};
	CLEANUP(base_close) int dir = watch_parent(w, k->path, &at.name);
	CLEANUP(base_close) int below = -1;

	at.dir = dir;
	if (dir < 0) {
		if (w->kind != WATCH_KNOWN) {
			report(at);
			failed(at);
		}
		return;
	}
	check(at, k);
	if (w->kind != WATCH_ALL || !S_ISDIR(k->st.st_mode))
		return;
	below = list_folder(dir, at.name);
	for (int i = 0; below >= 0 && i < PASSES && clear_new(at, below); i++)
		;
}

/* There was none. */
static void restore_none(struct protected *p, const struct watch *w)
{
	struct spot at = {.p = p, .w = w, .path = w->path};
	CLEANUP(base_close) int dir = watch_parent(w, w->path, &at.name);
	struct stat is;

	at.dir = dir;
	if (dir < 0 || w->kind == WATCH_KNOWN ||
		fstatat(dir, at.name, &is, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (w->kind == WATCH_KIND && !S_ISLNK(is.st_mode))
		return;
	if (w->kind == WATCH_NEW_GIT && S_ISDIR(is.st_mode) && git_is_fresh(dir, at.name))
		return;
	remove_new(at);
}

static void restore_watch(struct protected *p, struct watch *w)
{
	if (!w->n)
		restore_none(p, w);
	else
		qsort(w->list, w->n, sizeof(*w->list), by_order);
	for (size_t i = 0; i < w->n; i++)
		restore_kept(p, w, &w->list[i]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int protected_restore(struct protected *p, struct texts *changed, struct error *err)
{
	p->err = err;
	p->failed = false;
	p->changed = NULL;
	p->n_changed = 0;
	for (size_t i = 0; i < p->n; i++)
		restore_watch(p, &p->list[i]);
	if (p->n_changed)
		qsort(p->changed, p->n_changed, sizeof(*p->changed), by_text);
	*changed = (struct texts){p->changed, p->n_changed};
	return p->failed ? -1 : 0;
}
