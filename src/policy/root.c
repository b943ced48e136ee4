#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/policy/where.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { TEXT_MAX = 32768 };

/* NULL when it cannot be told. */
static const char *root_real_of(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? arena_dup(a, str_of(real)) : NULL;
}

/*
 * A linked worktree's directory is COMMON/worktrees/NAME, says where COMMON is, and points back at
 * the worktree. All three are asked, since a `.git` file may have been written by anybody: it must
 * not open another repository.
 */
static bool is_linked(struct arena *a, const struct root *r, const char *git, const char *common)
{
	const char *file = sys_read_small(a, path_join(a, git, "gitdir"), TEXT_MAX);
	const char *back = path_join(a, git, arena_dup(a, str_trim(str_of(file)))), *tree;

	tree = root_real_of(a, arena_dup(a, path_dir(back)));
	return tree && strcmp(tree, r->path) == 0 && str_is(path_base(back), ".git") &&
	       str_is(path_dir(git), path_join(a, common, "worktrees"));
}

/* A submodule's directory stands in its superproject's and names the worktree in its settings. */
static bool is_submodule(struct arena *a, const struct root *r, const char *git)
{
	struct git_core core = {0};
	const char *back;

	git_config_core(a, git, &core);
	back = core.worktree ? root_real_of(a, path_join(a, git, core.worktree)) : NULL;
	return back && strcmp(back, r->path) == 0;
}

/* Where `.git` is a directory, there is nothing to find. */
static void find_git(struct arena *a, struct root *r)
{
	const char *git, *common;
	char *own, *shared;
	struct stat st;
	struct str rest;

	if (lstat(path_join(a, r->path, ".git"), &st) < 0 || S_ISDIR(st.st_mode) ||
		!git_directories(a, r->path, &own, &shared) || !(git = root_real_of(a, own)))
		return;
	common = root_real_of(a, shared);
	if (path_below(str_of(git), str_of(r->path), &rest) && rest.n)
		r->inner_git = rest.p;
	if (common && is_linked(a, r, git, common)) {
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
	for (char *dir = arena_dup(a, str_of(real)); dir[1]; dir = arena_dup(a, path_dir(dir)))
		if (lstat(path_join(a, dir, ".git"), &st) == 0) {
			*out = dir;
			return 0;
		}
	*out = arena_dup(a, str_of(real));
	return 0;
}
