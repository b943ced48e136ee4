#include <dirent.h>
#include <sys/stat.h>
#include "src/base/path.h"
#include "src/pool/pool_internal.h"

enum { MODULES_DEEP = 8 };

const char *keep_word(enum keep_reason r)
{
	static const char *const words[] = {
		[KEEP_NOTHING] = "nothing",
		[KEEP_UNCOMMITTED] = "uncommitted",
		[KEEP_UNPUSHED] = "unpushed",
		[KEEP_LIVE] = "live",
		[KEEP_CHILDREN] = "children",
		[KEEP_FOREIGN] = "foreign",
		[KEEP_BUSY] = "busy",
		[KEEP_LOCKED] = "locked",
		[KEEP_UNSURE] = "unsure",
	};

	return words[r];
}

struct look {
	struct arena *arena;
	struct pool *pool;
	const char *path, *admin;
	const char *home; /* its path as git knows it */
	bool moved;       /* that is not `path`: it has its trash name */
	enum keep_reason *why;
	const char **text;
	struct error *err;
};

static int keep(struct look *l, enum keep_reason why, const char *text)
{
	*l->why = why;
	*l->text = text;
	return 0;
}

/* Git's own refusal is no fault of ours: nobody knows, so it stays. */
static int unsure(struct look *l, struct str said)
{
	struct str rest = str_trim(said), line = {0};

	(void)str_line(&rest, &line);
	return keep(l, KEEP_UNSURE,
		arena_printf(l->arena, "git cannot tell what is in '%s': %.*s", l->path,
			(int)line.n, line.n ? line.p : ""));
}

/* ---- not committed ---- */

/* `args` lists what has changed. */
static int look_at_changes(struct look *l, const char *const *args)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int status;

	if (pool_git(l->pool, l->path, args, &out, &status, l->err) < 0)
		return -1;
	rest = buf_str(&out);
	if (status != 0)
		return unsure(l, rest);
	if (!str_line(&rest, &line))
		return 0;
	utf8_mend(&out);
	return keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena, "there are uncommitted changes in '%s': '%.*s'%s", l->path,
			(int)line.n, line.p, str_trim(rest).n ? " and more" : ""));
}

/* A submodule knows where its files should be: under another name git cannot ask it. Then
 * look_at_module() does. */
static int look_at_status(struct look *l)
{
	const char *const args[] = {"status", "--porcelain", "--untracked-files=normal",
		l->moved ? "--ignore-submodules=all" : "--ignore-submodules=none", "--no-renames",
		NULL};

	return look_at_changes(l, args);
}

static int look_at_operation(struct look *l)
{
	const char *busy = place_busy(l->arena, l->admin);

	if (!busy)
		return 0;
	return keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena, "there are uncommitted changes in '%s': a %s is in progress",
			l->path, busy));
}

/* Files that git was told not to look at: `S` skip-worktree, lower case assume-unchanged. */
static bool hides_changes(struct look *l, struct str list)
{
	for (size_t at = 0; at < list.n; at += strlen(list.p + at) + 1) {
		char tag = list.p[at];

		if (tag >= 'a' && tag <= 'z')
			return true;
		if (tag == 'S' && path_exists(path_join(l->arena, l->path, list.p + at + 2)))
			return true;
	}
	return false;
}

static int look_at_hidden(struct look *l)
{
	static const char *const args[] = {"ls-files", "-v", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *foreign;

	if (pool_git(l->pool, l->path, args, &out, NULL, l->err) < 0)
		return -1;
	if (!hides_changes(l, buf_str(&out)))
		return 0;
	if (remains_look(l->arena, l->pool, l->path, "HEAD", &foreign, l->err) < 0)
		return -1;
	if (!foreign)
		return 0;
	return keep(l, KEEP_UNCOMMITTED,
		arena_printf(l->arena,
			"there are uncommitted changes in '%s': '%s', which git was told not to "
			"look at",
			l->path, foreign));
}

/* ---- not anywhere else ---- */

/* A line of output: a commit that nothing else has. */
static int look_at_commits(struct look *l, const char *const *args, const char *where)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int status;

	if (pool_git(l->pool, l->path, args, &out, &status, l->err) < 0)
		return -1;
	rest = buf_str(&out);
	if (status != 0)
		return unsure(l, rest);
	if (!str_line(&rest, &line))
		return 0;
	return keep(l, KEEP_UNPUSHED,
		arena_printf(l->arena,
			"there are unpushed commits in '%s': %.*s is on no remote and %s", l->path,
			(int)(line.n > 12 ? 12 : line.n), line.p, where));
}

static int look_at_branch(struct look *l)
{
	struct place at;
	const char *args[] = {"rev-list", "-n", "1", "HEAD", "--glob=refs/worktree", "--not",
		"--remotes", "--branches", "--tags", NULL};

	place_look(l->arena, l->admin, &at);
	if (!at.branch)
		return look_at_commits(l, args, "in no branch");
	args[7] = arena_printf(l->arena, "--exclude=%s", at.branch);
	args[8] = "--branches";
	return look_at_commits(l, args, "in no other branch");
}

/* Where the files of a submodule's repository are now; NULL: it has none here. */
static int files_of(struct look *l, const char *dir, const char **tree)
{
	const char *const args[] = {arena_printf(l->arena, "--git-dir=%s", dir),
		arena_printf(l->arena, "--work-tree=%s", dir), "config", "core.worktree", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error ignored;
	int status;
	char *at;

	*tree = NULL;
	if (pool_git(l->pool, l->path, args, &out, &status, l->err) < 0)
		return -1;
	if (status != 0)
		return 0;
	at = path_join(l->arena, dir, arena_dup(l->arena, str_trim(buf_str(&out))));
	if (port_path(l->arena, at, &at, &ignored) < 0 || !path_beneath(l->home, at))
		return 0;
	at = arena_printf(l->arena, "%s%s", l->path, at + strlen(l->home));
	*tree = path_exists(path_join(l->arena, at, ".git")) ? at : NULL;
	return 0;
}

static int look_at_files_of(struct look *l, const char *dir)
{
	const char *tree,
		*args[] = {arena_printf(l->arena, "--git-dir=%s", dir), NULL, "-C", NULL, "status",
			"--porcelain", "--untracked-files=normal", "--ignore-submodules=all", NULL};

	if (!l->moved)
		return 0; /* git has asked it already */
	if (files_of(l, dir, &tree) < 0)
		return -1;
	if (!tree)
		return 0;
	args[1] = arena_printf(l->arena, "--work-tree=%s", tree);
	args[3] = tree;
	return look_at_changes(l, args);
}

/* The repositories of its submodules lie in the admin folder, and go with it. */
static int look_at_module(struct look *l, const char *dir, unsigned deep);

static int look_below(struct look *l, const char *dir, unsigned deep)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		if (rc == 0 && *l->why == KEEP_NOTHING && names[i]->d_name[0] != '.')
			rc = look_at_module(l, path_join(l->arena, dir, names[i]->d_name), deep);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return rc;
}

static int look_at_module(struct look *l, const char *dir, unsigned deep)
{
	const char *const args[] = {arena_printf(l->arena, "--git-dir=%s", dir),
		arena_printf(l->arena, "--work-tree=%s", dir), "rev-list", "-n", "1", "--all",
		"HEAD", "--not", "--remotes", NULL};
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || deep > MODULES_DEEP)
		return 0;
	if (!path_exists(path_join(l->arena, dir, "HEAD")))
		return look_below(l, dir, deep + 1);
	if (look_at_commits(l, args, "only in its submodule") < 0)
		return -1;
	if (!*l->why && look_at_files_of(l, dir) < 0)
		return -1;
	return *l->why ? 0 : look_below(l, path_join(l->arena, dir, "modules"), deep + 1);
}

static int look_at_modules(struct look *l)
{
	return look_below(l, path_join(l->arena, l->admin, "modules"), 0);
}

int work_keep(struct arena *a, struct pool *p, const char *path, enum keep_reason *why,
	const char **text, struct error *err)
{
	static int (*const looks[])(struct look *) = {
		look_at_operation, look_at_status, look_at_hidden, look_at_branch, look_at_modules};
	struct look l = {.arena = a, .pool = p, .path = path, .why = why, .text = text, .err = err};
	const char *pointer;
	struct place at;
	char *admin;

	*why = KEEP_NOTHING;
	*text = NULL;
	if (!worktree_pointer(a, path, &admin, &pointer) || !admin || !path_exists(admin))
		return keep(&l, KEEP_UNSURE,
			arena_printf(
				a, "'%s' is a worktree no more: its git folder is gone", path));
	place_look(a, admin, &at);
	l.admin = admin;
	l.home = at.path ? at.path : path;
	l.moved = strcmp(l.home, path) != 0;
	for (size_t i = 0; i < COUNT(looks) && *why == KEEP_NOTHING; i++)
		if (looks[i](&l) < 0)
			return -1;
	return 0;
}
