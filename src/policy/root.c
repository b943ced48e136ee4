#include <errno.h>
#include "src/sys/path.h"
#include "src/policy/trail.h"

enum { TEXT_MAX = 32768 };

/* Real path of `path` as seen from `dir`, in the arena; NULL when it cannot be told. */
static const char *real_from(struct arena *a, int dir, const char *path)
{
	char real[PATH_MAX];
	size_t n;
	CLEANUP(base_close) int fd = beneath_open(dir, path, O_PATH, 0, 0);

	return fd >= 0 && fd_real(fd, real, &n) == 0 ? arena_dup(a, (struct str){real, n}) : NULL;
}

/* A small file that is no link, NUL-ended; p == NULL: it is not such a file. */
static struct str text_of(struct arena *a, int dir, const char *name)
{
	CLEANUP(base_close) int fd = beneath_open(dir, name, O_RDONLY | O_NONBLOCK, 0, NO_LINKS);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > TEXT_MAX)
		return (struct str){0};
	text = arena_alloc(a, TEXT_MAX + 2);
	n = read(fd, text, TEXT_MAX + 1);
	if (n <= 0 || n > TEXT_MAX || memchr(text, '\0', (size_t)n))
		return (struct str){0};
	return (struct str){text, (size_t)n};
}

/* Its one line; NULL: it is not such a file. */
static char *line_of(struct arena *a, int dir, const char *name)
{
	struct str text = text_of(a, dir, name);

	while (text.n && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	return text.n ? arena_dup(a, text) : NULL;
}

/* What `.git` leads to, when it is no directory itself. */
static const char *git_target(struct arena *a, int fd)
{
	char to[1];
	struct str line;

	if (readlinkat(fd, ".git", to, sizeof(to)) >= 0)
		return real_from(a, fd, ".git");
	line = str_of(line_of(a, fd, ".git"));
	if (!str_starts(line, "gitdir: "))
		return NULL;
	return real_from(a, fd, line.p + strlen("gitdir: "));
}

static bool has_all(int dir, const char *const *names)
{
	struct stat st;

	for (; *names; names++)
		if (fstatat(dir, *names, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return false;
	return true;
}

/*
 * A linked worktree's directory is COMMON/worktrees/NAME, says where COMMON is, and points back at
 * the worktree. All three are asked, since a `.git` file may have been written by anybody: it must
 * not open another repository.
 */
static bool is_linked(struct arena *a, const struct root *r, const char *git, const char **common)
{
	static const char *const own[] = {"HEAD", "commondir", "gitdir", NULL};
	static const char *const shared[] = {"HEAD", "objects", "refs", NULL};
	CLEANUP(base_close) int fd = beneath_open(AT_FDCWD, git, O_PATH | O_DIRECTORY, 0, NO_LINKS);
	CLEANUP(base_close) int main_fd = -1;
	const char *to = fd >= 0 && has_all(fd, own) ? line_of(a, fd, "commondir") : NULL;
	const char *back = to ? line_of(a, fd, "gitdir") : NULL;
	struct str above;

	*common = to ? real_from(a, fd, to) : NULL;
	if (!back || !*common || !str_is(path_base(back), ".git"))
		return false;
	back = real_from(a, fd, arena_dup(a, path_dir(back)));
	above = path_dir(git);
	main_fd = beneath_open(AT_FDCWD, *common, O_PATH | O_DIRECTORY, 0, NO_LINKS);
	return back && strcmp(back, r->path) == 0 && main_fd >= 0 && has_all(main_fd, shared) &&
	       str_is(above, path_join(a, *common, "worktrees"));
}

/* `worktree = PATH` of the section core, as `git submodule` writes it. */
static const char *worktree_setting(struct arena *a, struct str config)
{
	bool core = false;
	struct str line;
	const char *path = NULL;

	while (str_line(&config, &line)) {
		line = str_trim(line);
		if (str_starts(line, "["))
			core = str_is(line, "[core]");
		else if (core && str_starts(line, "worktree = "))
			path = arena_dup(a, str_sub(line, strlen("worktree = "), line.n));
	}
	return path;
}

/* A submodule's directory stands in its superproject's and names the worktree in its settings. */
static bool is_submodule(struct arena *a, const struct root *r, const char *git)
{
	static const char *const own[] = {"HEAD", "objects", "refs", NULL};
	CLEANUP(base_close) int fd = beneath_open(AT_FDCWD, git, O_PATH | O_DIRECTORY, 0, NO_LINKS);
	const char *back = NULL;

	if (fd >= 0 && has_all(fd, own))
		back = worktree_setting(a, text_of(a, fd, "config"));
	back = back ? real_from(a, fd, back) : NULL;
	return back && strcmp(back, r->path) == 0;
}

static void find_git(struct arena *a, struct root *r)
{
	const char *git = git_target(a, r->fd), *common = NULL;
	struct str rest;

	if (!git)
		return;
	if (path_below(str_of(git), str_of(r->path), &rest) && rest.n)
		r->inner_git = rest.p;
	if (is_linked(a, r, git, &common)) {
		r->git_dir = git;
		r->common_dir = common;
	} else if (!r->inner_git && is_submodule(a, r, git)) {
		r->git_dir = git;
	}
}

int root_open(struct arena *a, const char *path, struct root *out, struct error *err)
{
	char real[PATH_MAX];
	size_t n;

	*out = (struct root){.fd = beneath_open(AT_FDCWD, path, O_PATH | O_DIRECTORY, 0, 0)};
	if (out->fd < 0 || fd_real(out->fd, real, &n) < 0) {
		error_errno(err, "cannot open '%.200s' as the root", path);
		root_close(out);
		return -1;
	}
	if (n == 1) {
		root_close(out);
		return error_set(err, ERR_INPUT, "'/' cannot be the root");
	}
	out->path = arena_dup(a, (struct str){real, n});
	out->linked = guard_linked(out);
	find_git(a, out);
	return 0;
}

void root_close(struct root *r)
{
	base_close(&r->fd);
	r->fd = -1;
}

int root_find(struct arena *a, const char *cwd, char **out, struct error *err)
{
	char real[PATH_MAX];
	struct stat st;
	CLEANUP(base_close) int fd = beneath_open(AT_FDCWD, cwd, O_PATH | O_DIRECTORY, 0, 0);
	size_t n, all;

	if (fd < 0 || fd_real(fd, real, &all) < 0) {
		(void)error_errno(err, "cannot enter '%.200s'", cwd);
		(void)beneath_needed(err);
		return -1;
	}
	*out = arena_dup(a, (struct str){real, all});
	for (n = all; n > 1; n--) {
		if (n < all && real[n] != '/')
			continue;
		real[n] = '\0';
		if (lstat(path_join(a, real, ".git"), &st) == 0) {
			*out = arena_dup(a, (struct str){real, n});
			return 0;
		}
	}
	return 0;
}
