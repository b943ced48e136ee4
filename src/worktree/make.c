#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

#define NO_COMMIT "0000000000000000000000000000000000000000"

enum { EXCLUDE_MAX = 1 << 20 };

/* With the mark by which repair_one() finds the processes that a dead one left running. */
static int git_for(struct arena *a, struct pool *p, const struct allocation *of, const char *at,
	const char *const *args, int *status, struct error *err)
{
	const char *const env[] = {making_mark(a, of->path), NULL};

	return pool_git_env(p, at, args, env, CHECKOUT_S, NULL, status, err);
}

/* ---- the pool's directory ---- */

/* Not git's directory, nor a bare repository, which has no status. */
static bool is_inside(const struct pool *p)
{
	return path_beneath(p->repo, p->dir) && strcmp(p->repo, p->common) != 0;
}

/* The first file in the directory that is tracked or untracked; NULL. Worktrees are directories. */
static int first_file(struct arena *a, struct pool *p, const char **file, struct error *err)
{
	const char *const args[] = {
		"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", p->dir, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	*file = NULL;
	if (pool_git(p, p->repo, args, &out, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < out.len && !*file; at += strlen(out.s + at) + 1) {
		const char *name = path_base(out.s + at).p;

		if (*name && !str_starts(str_of(name), POOL_MARKER))
			*file = arena_dup(a, str_of(out.s + at));
	}
	return 0;
}

/* /PATH/ relative to the repository, as a pattern of gitignore(5). */
static void hiding_pattern(const struct pool *p, struct buf *out)
{
	for (const char *c = p->dir + strlen(p->repo); *c; c++) {
		if (strchr("\\*?[ ", *c))
			buf_addc(out, '\\');
		buf_addc(out, *c);
	}
	buf_addc(out, '/');
}

static bool has_line(struct str text, struct str line)
{
	struct str l;

	while (str_line(&text, &l))
		if (str_eq(l, line))
			return true;
	return false;
}

static int check_files(struct arena *a, struct pool *p, struct error *err)
{
	const char *file;

	if (first_file(a, p, &file, err) < 0)
		return -1;
	if (file)
		return error_set(err, ERR_STATE,
			"'%s' cannot hold worktrees: it has files of the repository, such as '%s'",
			p->dir, file);
	return 0;
}

/*
 * A pool inside the repository must not show in its status. A `.gitignore` in the directory would
 * be ignored itself, so that `git clean -x` deletes it. `info/exclude` may be a link to a file that
 * several repositories share.
 */
static int hide(struct arena *a, struct pool *p, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, line = BUF_INIT;
	const char *info = path_join(a, p->common, "info");
	char *file = path_join(a, info, "exclude"), real[PATH_MAX];
	bool missing = false;

	if (sys_read_file(&text, file, EXCLUDE_MAX, &missing, err) < 0 && !missing)
		return -1;
	hiding_pattern(p, &line);
	if (has_line(buf_str(&text), buf_str(&line)))
		return 0;
	if (check_files(a, p, err) < 0)
		return -1;
	if (mkdir(info, 0777) < 0 && errno != EEXIST)
		return error_errno(err, "cannot create '%s'", info);
	if (text.len && text.s[text.len - 1] != '\n')
		buf_addc(&text, '\n');
	buf_add(&text, buf_str(&line));
	buf_addc(&text, '\n');
	return pool_replace_file(a, realpath(file, real) ? real : file, buf_str(&text), err);
}

/* git removes a worktree with all that is in it, also with other worktrees. */
static int check_around(struct arena *a, const struct pool *p, struct error *err)
{
	for (char *at = arena_dup(a, str_of(p->dir)); strcmp(at, "/") != 0;
		at = arena_dup(a, path_dir(at))) {
		const char *text;
		char *to;

		if (strcmp(at, p->repo) == 0)
			return 0;
		if (worktree_pointer(a, at, &to, &text) && to &&
			path_exists(path_join(a, to, "commondir")))
			return error_set(err, ERR_STATE,
				"'%s' cannot hold worktrees: it is in the worktree '%s', with "
				"which "
				"git would remove them: choose another 'rootDir'",
				p->dir, at);
	}
	return 0;
}

int directory_make(struct arena *a, struct pool *p, struct error *err)
{
	const char *marker = path_join(a, p->dir, POOL_MARKER);
	int fd;

	if (is_inside(p) && hide(a, p, err) < 0)
		return -1;
	if (path_exists(marker))
		return 0;
	if (check_around(a, p, err) < 0 || path_mkdirs(p->dir, err) < 0)
		return -1;
	fd = open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "cannot write into '%s'", p->dir);
	close(fd);
	return 0;
}

int pool_make_directory(struct arena *a, struct pool *p, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;

	return admin_lock(p, &lock, err) < 0 ? -1 : directory_make(a, p, err);
}

bool directory_folds(struct arena *a, const struct pool *p)
{
	static const char other[] = ".POOL";
	struct stat one, two;

	return stat(path_join(a, p->dir, POOL_MARKER), &one) == 0 &&
	       stat(path_join(a, p->dir, other), &two) == 0 && one.st_ino == two.st_ino &&
	       one.st_dev == two.st_dev;
}

/* ---- worktree, under the lock ---- */

static int sparse_begin(
	struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	static const char *const args[] = {"sparse-checkout", "init", "--cone", NULL};

	/* It writes to the configuration that all worktrees share. */
	return of->sparse ? git_for(a, p, of, of->path, args, NULL, err) : 0;
}

int worktree_add(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const char *const args[] = {
		"worktree", "add", "--no-checkout", "--", of->path, of->branch, NULL};

	if (of->made_branch && branch_make(a, p, of, err) < 0)
		return -1;
	if (git_for(a, p, of, NULL, args, NULL, err) < 0)
		return -1;
	return sparse_begin(a, p, of, err);
}

/* ---- files, without the lock ---- */

/* `git worktree add` also runs it last. */
static int run_hook(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	const char *const args[] = {"hook", "run", "--ignore-missing", "post-checkout", "--",
		NO_COMMIT, of->tip, "1", NULL};
	int status;

	if (git_for(a, p, of, of->path, args, &status, err) < 0)
		return -1;
	if (status != 0)
		of->warning = arena_printf(
			a, "the hook 'post-checkout' failed in '%s': status %d", of->path, status);
	return 0;
}

int worktree_fill(struct arena *a, struct pool *p, struct allocation *of, struct error *err)
{
	const char *const only[] = {"sparse-checkout", "set", of->sparse, NULL};
	static const char *const all[] = {"reset", "--hard", "-q", "--no-recurse-submodules", NULL};

	if (of->sparse && git_for(a, p, of, of->path, only, NULL, err) < 0)
		return -1;
	if (git_for(a, p, of, of->path, all, NULL, err) < 0)
		return -1;
	return run_hook(a, p, of, err);
}
