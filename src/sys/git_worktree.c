/*
 * git_worktree.c: a linked work tree and its repository name each other by absolute paths: `.git`
 * names the git directory, and the file `gitdir` there names that `.git`. Copies of both still name
 * what they were copied from, so git takes the copy for the original. Not by `git worktree repair`,
 * which follows such a `.git` and changes what the original's repository says.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include "src/sys/git.h"
#include "src/sys/path.h"

#define GITDIR "gitdir: "
enum { POINTER_MAX = PATH_MAX + sizeof(GITDIR), LOG_LINE_MAX = 4096 };

/* The path in a file of `dir` behind `key`, resolved; NULL: there is no such file. */
static const char *read_link(struct arena *a, const char *dir, const char *file, const char *key)
{
	const char *text = sys_read_small(a, path_join(a, dir, file), POINTER_MAX);
	struct str path = text ? str_trim(str_of(text)) : STR("");

	if (!path.n || !str_starts(path, key))
		return NULL;
	return path_real(a, path_join(a, dir, arena_dup(a, str_sub(path, strlen(key), path.n))));
}

const char *git_worktree_directory(struct arena *a, const char *own)
{
	const char *to = read_link(a, own, "gitdir", "");

	return to ? arena_dup(a, path_dir(to)) : NULL;
}

/* The first line of a reflog, as far as it is the beginning of one. */
static struct str log_beginning(struct arena *a, const char *own)
{
	CLEANUP(base_close)
	int fd = open(path_join(a, own, "logs/HEAD"), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = arena_alloc(a, LOG_LINE_MAX);
	ssize_t n = fd < 0 ? 0 : TEMP_FAILURE_RETRY(read(fd, text, LOG_LINE_MAX));
	const char *end = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;

	return (struct str){text, end ? (size_t)(end - text) : 0};
}

bool git_is_copied_worktree(struct arena *a, const char *own, const char *dir, const char *original)
{
	const char *to = read_link(a, dir, ".git", GITDIR);
	struct str begun;

	original = path_real(a, original);
	if (!to || strcmp(original, path_real(a, own)) == 0)
		return false;
	begun = log_beginning(a, own);
	return strcmp(to, original) == 0 || (begun.n && str_eq(begun, log_beginning(a, original)));
}

/* At once: half a link would be none, and could not be repaired. */
static int write_link(
	struct arena *a, const char *dir, const char *file, const char *text, struct error *err)
{
	const char *path = path_join(a, dir, file), *fresh = arena_printf(a, "%s.new", path);
	CLEANUP(base_close) int fd = -1;

	(void)unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(err, "cannot write '%s'", fresh);
	if (sys_write_all(fd, str_of(text), fresh, err) < 0)
		return -1;
	return rename(fresh, path) < 0 ? error_errno(err, "cannot write '%s'", path) : 0;
}

/* The repository with the git directory `own` has the work tree at `dir`. */
static bool is_directory_of(struct arena *a, const char *own, const char *dir)
{
	const char *at = git_worktree_directory(a, own);

	return at && strcmp(at, dir) == 0;
}

int git_link_worktree(
	struct arena *a, const char *own, const char *dir, enum git_link *is, struct error *err)
{
	const char *to = read_link(a, dir, ".git", GITDIR), *at = git_worktree_directory(a, own);
	bool known, other = to && path_exists(to);

	own = path_real(a, own);
	dir = path_real(a, dir);
	known = is_directory_of(a, own, dir);
	*is = GIT_LINK_OWN;
	if (to ? known && strcmp(to, own) == 0 : !known || path_exists(path_join(a, dir, ".git")))
		return 0;
	*is = other ? GIT_LINK_OTHER : GIT_LINK_LOST;
	if (!at || (to && !str_eq(path_base(to), path_base(own))))
		return 0;
	if (other && is_directory_of(a, to, dir)) {
		*is = known ? GIT_LINK_CLAIMED : GIT_LINK_OTHER;
		return 0;
	}
	at = read_link(a, at, ".git", GITDIR);
	/* An agent has changed `.git`; or `own` is for another directory of its repository. */
	if (known ? other : at && strcmp(at, own) == 0)
		return 0;
	*is = GIT_LINK_MADE;
	/* After the first, a repetition finds that the second is missing. */
	return write_link(a, dir, ".git", arena_printf(a, GITDIR "%s\n", own), err) < 0
		       ? -1
		       : write_link(a, own, "gitdir", arena_printf(a, "%s/.git\n", dir), err);
}
