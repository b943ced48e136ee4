#include <dirent.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/work.h"

/* Other repositories that would be removed with a worktree: those of its submodules, and clones in
 * it. */

enum { MODULES_DEEP = 64 };

static int look_at_module(struct look *l, const char *dir, unsigned deep);

static int look_below(struct look *l, const char *dir, unsigned deep)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (rc == 0 && *l->why == KEEP_NOTHING && strcmp(name, ".") != 0 &&
			strcmp(name, "..") != 0)
			rc = look_at_module(l, path_join(l->arena, dir, name), deep);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return rc;
}

/* Worktrees of its own would lose their repository. */
static bool has_worktrees(struct look *l, const char *dir)
{
	struct error ignored;
	struct place *list;
	size_t n;

	return places_read(l->arena, dir, &list, &n, &ignored) < 0 || n;
}

static int look_at_repository(struct look *l, const char *dir)
{
	const struct tree t = {.files = dir, .git_dir = dir};
	const char *const args[] = {
		"rev-list", "-n", "1", "--all", "HEAD", "--not", "--remotes", NULL};

	if (has_worktrees(l, dir))
		return look_keep(l, KEEP_UNSURE,
			arena_printf(l->arena, "repository '%s' has worktrees of its own", dir));
	return look_at_commits(l, &t, args, "only in its submodule");
}

/* The name of a submodule may contain slashes: its repository is then further below. */
static int look_at_module(struct look *l, const char *dir, unsigned deep)
{
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	if (deep > MODULES_DEEP)
		return look_keep(l, KEEP_UNSURE,
			arena_printf(l->arena, "'%s' is nested too deeply to check", dir));
	if (!path_exists(path_join(l->arena, dir, "HEAD")))
		return look_below(l, dir, deep + 1);
	if (look_at_repository(l, dir) < 0)
		return -1;
	return *l->why ? 0 : look_below(l, path_join(l->arena, dir, "modules"), deep + 1);
}

int look_at_modules(struct look *l, const char *git_dir)
{
	return look_below(l, path_join(l->arena, git_dir, "modules"), 0);
}

/* ---- among the files ---- */

static int look_at_clone(struct look *l, const char *dir, const char *git_dir)
{
	const struct tree t = {.files = dir, .git_dir = git_dir};

	if (look_at_module(l, git_dir, 0) < 0)
		return -1;
	return *l->why ? 0 : look_at_tree(l, &t);
}

static int look_at_pointer(struct look *l, const char *dir)
{
	char *to = NULL;
	const char *text;
	struct tree t = {.files = dir};

	if (!worktree_pointer(l->arena, dir, &to, &text) || !to || !path_exists(to))
		return look_keep(l, KEEP_UNSURE,
			arena_printf(l->arena,
				"'%s' has a '.git' that does not point to a repository", dir));
	t.git_dir = to = path_settle(l->arena, to);
	if (path_beneath(path_join(l->arena, l->admin, "modules"), to))
		return look_at_tree(l, &t); /* look_at_modules() checks its commits */
	if (path_beneath(l->path, to))
		return look_at_clone(l, dir, to);
	return look_keep(l, KEEP_UNSURE,
		arena_printf(l->arena, "'%s' contains another worktree: '%s'", l->path, dir));
}

int look_at_nested(struct look *l)
{
	const char **list, *closed;
	size_t n;

	if (nested_find(l->arena, l->path, &list, &n, &closed, l->err) < 0)
		return -1;
	if (closed)
		return look_keep(l, KEEP_UNSURE,
			arena_printf(l->arena, "cannot find out what is in '%s'", closed));
	for (size_t i = 0; i < n && !*l->why; i++) {
		const char *git = path_join(l->arena, list[i], ".git");
		struct stat st;
		bool directory = lstat(git, &st) == 0 && S_ISDIR(st.st_mode);

		if ((directory ? look_at_clone(l, list[i], git) : look_at_pointer(l, list[i])) < 0)
			return -1;
	}
	return 0;
}
