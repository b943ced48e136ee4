#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/policy/where.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { TEXT_MAX = 32768 };

/* Real path of `path` as seen from `dir`, in the arena; NULL when it cannot be told. */
static const char *real_from(struct arena *a, const char *dir, const char *path)
{
	char real[PATH_MAX];

	return realpath(path[0] == '/' ? path : path_join(a, dir, path), real)
		       ? arena_dup(a, str_of(real))
		       : NULL;
}

/* The one line of a small file; NULL: it is not such a file. */
static const char *root_line_of(struct arena *a, const char *dir, const char *name)
{
	struct str line = str_trim(str_of(sys_read_small(a, path_join(a, dir, name), TEXT_MAX)));

	return line.n ? arena_dup(a, line) : NULL;
}

/* What `.git` leads to, when it is no directory itself. */
static const char *git_target(struct arena *a, const char *dir)
{
	char to[1];
	struct str line;

	if (readlink(path_join(a, dir, ".git"), to, sizeof(to)) >= 0)
		return real_from(a, dir, ".git");
	line = str_of(root_line_of(a, dir, ".git"));
	if (!str_starts(line, "gitdir: "))
		return NULL;
	return real_from(a, dir, line.p + strlen("gitdir: "));
}

static bool has_all(struct arena *a, const char *dir, const char *const *names)
{
	struct stat st;

	for (; *names; names++)
		if (lstat(path_join(a, dir, *names), &st) < 0)
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
	const char *to = has_all(a, git, own) ? root_line_of(a, git, "commondir") : NULL;
	const char *back = to ? root_line_of(a, git, "gitdir") : NULL;
	struct str above;

	*common = to ? real_from(a, git, to) : NULL;
	if (!back || !*common || !str_is(path_base(back), ".git"))
		return false;
	back = real_from(a, git, arena_dup(a, path_dir(back)));
	above = path_dir(git);
	return back && strcmp(back, r->path) == 0 && has_all(a, *common, shared) &&
	       str_is(above, path_join(a, *common, "worktrees"));
}

/* A submodule's directory stands in its superproject's and names the worktree in its settings. */
static bool is_submodule(struct arena *a, const struct root *r, const char *git)
{
	static const char *const own[] = {"HEAD", "objects", "refs", NULL};
	struct git_core core = {0};
	const char *back;

	if (has_all(a, git, own))
		git_config_core(a, git, &core);
	back = core.worktree ? real_from(a, git, core.worktree) : NULL;
	return back && strcmp(back, r->path) == 0;
}

static void find_git(struct arena *a, struct root *r)
{
	const char *git = git_target(a, r->path), *common = NULL;
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

	*out = (struct root){0};
	if (!realpath(path, real) || !path_is_directory(real)) {
		errno = errno ? errno : ENOTDIR;
		return error_errno(err, "cannot open '%.200s' as the root", path);
	}
	if (!real[1])
		return error_set(err, ERR_INPUT, "'/' cannot be the root");
	out->path = arena_dup(a, str_of(real));
	find_git(a, out);
	return 0;
}

int root_find(struct arena *a, const char *cwd, char **out, struct error *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(cwd, real) || !path_is_directory(real))
		return error_errno(err, "cannot enter '%.200s'", cwd);
	*out = arena_dup(a, str_of(real));
	for (size_t n = strlen(real); n > 1; n--) {
		if (real[n] && real[n] != '/')
			continue;
		real[n] = '\0';
		if (lstat(path_join(a, real, ".git"), &st) == 0) {
			*out = arena_dup(a, str_of(real));
			return 0;
		}
	}
	return 0;
}
