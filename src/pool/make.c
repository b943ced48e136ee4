#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/base/path.h"
#include "src/pool/pool_internal.h"

#define NO_COMMIT "0000000000000000000000000000000000000000"

enum { EXCLUDE_MAX = 1 << 20 };

/* With the mark by which repair_one() knows what a dead process has left running. */
static int git_for(struct arena *a, struct pool *p, const struct allocation *of, const char *at,
	const char *const *args, int *status, struct error *err)
{
	const char *const env[] = {making_mark(a, of->path), NULL};

	return pool_git_env(p, at, args, env, CHECKOUT_S, NULL, status, err);
}

/* ---- the folder of the pool ---- */

/* A pool inside the repository must not show in its status. */
static int exclude(struct arena *a, struct pool *p, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(close_fd) int fd = -1;
	const char *info = path_join(a, p->common, "info"), *file = path_join(a, info, "exclude"),
		   *line;
	struct str rest, each;
	bool missing = false;

	if (!path_beneath(p->repo, p->dir))
		return 0;
	line = arena_printf(a, "%s/", p->dir + strlen(p->repo));
	if (file_read(&text, file, EXCLUDE_MAX, &missing, err) < 0 && !missing)
		return -1;
	rest = buf_str(&text);
	while (str_line(&rest, &each))
		if (str_is(each, line))
			return 0;
	if (path_mkdirs(info, err) < 0)
		return -1;
	fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(err, "cannot open '%s'", file);
	line = arena_printf(
		a, "%s%s\n", text.len && text.s[text.len - 1] != '\n' ? "\n" : "", line);
	return fd_write_all(fd, str_of(line), file, err);
}

int folder_make(struct arena *a, struct pool *p, struct error *err)
{
	const char *marker = path_join(a, p->dir, POOL_MARKER);
	int fd;

	if (path_exists(marker))
		return 0;
	if (path_mkdirs(p->dir, err) < 0 || exclude(a, p, err) < 0)
		return -1;
	fd = open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, "cannot write into '%s'", p->dir);
	close(fd);
	return 0;
}

bool folder_folds(struct arena *a, const struct pool *p)
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

/* ---- files, without it ---- */

/* `git worktree add` does the same as its last act. */
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
