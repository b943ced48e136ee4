/*
 * work.h: finds work that would be lost with a worktree. Private to this room.
 */
#ifndef DT_WORKTREE_WORK_H
#define DT_WORKTREE_WORK_H

#include "src/worktree/pool_internal.h"

struct look {
	struct arena *arena;
	struct pool *pool;
	const char *path;  /* current path of the worktree */
	const char *admin; /* its git directory */
	const char *home;  /* its path as git has it */
	bool moved;        /* that differs from `path`: it has its trash name */
	enum keep_reason *why;
	const char **text;
	struct error *err;
};

/* Files and their repository. */
struct tree {
	const char *files;
	const char *git_dir; /* NULL: git finds it by itself */
};

int look_keep(struct look *l, enum keep_reason why, const char *text);
/* Notes that git refused and why: the state is unknown, so the worktree is kept. */
int look_unsure(struct look *l, struct str said);
/* Runs git in the tree. */
int look_git(struct look *l, const struct tree *t, const char *const *args, struct buf *out,
	int *status);
/* The first line that `args` lists is a commit that exists nowhere else. */
int look_at_commits(
	struct look *l, const struct tree *t, const char *const *args, const char *where);
/* Everything but commits: an operation in progress, changes, files marked assume-unchanged or
 * skip-worktree, files in the directory of a submodule that does not exist. */
int look_at_tree(struct look *l, const struct tree *t);

/* ---- modules.c ---- */

/* Repositories of submodules are in the git directory, and are removed with it. */
int look_at_modules(struct look *l, const char *git_dir);
/* Repositories whose files are among those of the worktree, including ignored ones. */
int look_at_nested(struct look *l);

/* ---- nested.c ---- */

/* Directories below `path` that have a `.git` of any kind. *closed: one that cannot be read; NULL.
 */
int nested_find(struct arena *a, const char *path, const char ***out, size_t *n,
	const char **closed, struct error *err);

/* ---- links.c: what the index says ---- */

struct links {
	const char *file; /* one below the directory of a submodule without a repository; NULL */
	bool hidden;      /* some files are marked assume-unchanged or skip-worktree */
};
/* `list`: the output of `git ls-files -s -v -z`, run in `files`. */
void links_look(struct arena *a, const char *files, struct str list, struct links *out);

#endif
