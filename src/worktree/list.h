/*
 * list.h: what a pool has: its records, and the worktrees in its folder that none tells of. For
 * src/pool alone.
 */
#ifndef DT_POOL_LIST_H
#define DT_POOL_LIST_H

#include "src/worktree/pool_internal.h"

struct listing {
	struct arena *arena;
	struct pool *pool;
	int64_t now;

	struct allocation *all; /* of all pools, by path */
	size_t n_all;
	struct pool_entry *entries; /* of this one, by path */
	size_t n;
};

/* Fills the second half. No git is started. */
int listing_read(struct listing *l, struct error *err);
/* PATH/.git is a file: a linked worktree, not a clone. */
bool worktree_there(const char *path);

#endif
