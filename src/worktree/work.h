/*
 * work.h: looks for work that would be lost with a worktree, and what they share. For this room
 * alone.
 */
#ifndef DT_WORKTREE_WORK_H
#define DT_WORKTREE_WORK_H

#include "src/worktree/pool_internal.h"

struct look {
	struct arena *arena;
	struct pool *pool;
	const char *path;  /* of the worktree as it is called now */
	const char *admin; /* its git folder */
	const char *home;  /* its path as git knows it */
	bool moved;        /* that is not `path`: it has its trash name */
	enum keep_reason *why;
	const char **text;
	struct error *err;
};

/* Files and the repository that they are of. */
struct tree {
	const char *files;
	const char *git_dir; /* NULL: git finds it by itself */
};

int look_keep(struct look *l, enum keep_reason why, const char *text);
/* Git refused, and said so: that is no fault of ours, but nobody knows, so it stays. */
int look_unsure(struct look *l, struct str said);
/* Git in the tree. */
int look_git(struct look *l, const struct tree *t, const char *const *args, struct buf *out,
	int *status);
/* The first line that `args` lists is a commit that is nowhere else. */
int look_at_commits(
	struct look *l, const struct tree *t, const char *const *args, const char *where);
/* All but commits: an operation, changes, files that git was told not to look at, files in the
 * folder of a submodule that is not there. */
int look_at_tree(struct look *l, const struct tree *t);

/* ---- modules.c ---- */

/* The repositories of submodules lie in the git folder, and go with it. */
int look_at_modules(struct look *l, const char *git_dir);
/* Repositories whose files are among those of the worktree, ignored ones too. */
int look_at_nested(struct look *l);

/* ---- nested.c ---- */

/* Folders below `path` that have a `.git` of any kind. *closed: one that cannot be read; NULL. */
int nested_find(struct arena *a, const char *path, const char ***out, size_t *n,
	const char **closed, struct error *err);

/* ---- links.c: what the index says ---- */

struct links {
	const char *file; /* one below the folder of a submodule that has no repository; NULL */
	bool hidden;      /* there are files that git was told not to look at */
};
/* `list`: of `git ls-files -s -v -z`, run in `files`. */
void links_look(struct arena *a, const char *files, struct str list, struct links *out);

#endif
