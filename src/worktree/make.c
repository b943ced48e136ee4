#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

#define HIDE_ALL  "*\n"
#define NO_COMMIT "0000000000000000000000000000000000000000"

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

/*
 * A pool inside the repository must not show in its status, so its directory has a file of ignore
 * patterns. The repository's info/exclude applies to all worktrees, and would hide files there.
 */
static bool is_hidden(struct arena *a, const struct pool *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error ignored;

	return sys_read_file(&text, path_join(a, p->dir, ".gitignore"), sizeof(HIDE_ALL), NULL,
		       &ignored) == 0 &&
	       str_is(buf_str(&text), HIDE_ALL);
}

static int hide(struct arena *a, struct pool *p, struct error *err)
{
	const char *ignore = path_join(a, p->dir, ".gitignore"), *file,
		   *fresh = path_join(a, p->dir, POOL_MARKER "-new");
	CLEANUP(base_close) int fd = -1;

	if (first_file(a, p, &file, err) < 0)
		return -1;
	if (file)
		return error_set(err, ERR_STATE,
			"'%s' cannot hold worktrees: it has files of the repository, such as '%s'",
			p->dir, file);
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "cannot write into '%s'", p->dir);
	if (sys_write_all(fd, str_of(HIDE_ALL), fresh, err) < 0)
		return -1;
	return rename(fresh, ignore) == 0 ? 0 : error_errno(err, "cannot create '%s'", ignore);
}

int directory_make(struct arena *a, struct pool *p, struct error *err)
{
	const char *marker = path_join(a, p->dir, POOL_MARKER);
	bool hidden = !is_inside(p) || is_hidden(a, p);
	int fd;

	if (path_exists(marker) && hidden)
		return 0;
	if (path_mkdirs(p->dir, err) < 0 || (!hidden && hide(a, p, err) < 0))
		return -1;
	fd = open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "cannot write into '%s'", p->dir);
	close(fd);
	return 0;
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
