/*
 * list.h: the contents of a pool: its records, and the worktrees in its directory without one.
 * Private to this room.
 */
#ifndef DT_WORKTREE_LIST_H
#define DT_WORKTREE_LIST_H

#include "src/worktree/pool_internal.h"
#include "src/event/artifact.h"

struct listing {
	struct arena *arena;
	struct pool *pool;
	int64_t now;

	struct allocation *all; /* of all pools, by path */
	size_t n_all;
	struct pool_entry *entries; /* of this pool, by path */
	size_t n;
};

/* Fills the second half. Does not start git. */
int listing_read(struct listing *l, struct error *err);
/* PATH/.git is a file: a linked worktree, not a clone. */
bool worktree_there(const char *path);

/* ---- what a sweep may remove before it is old ---- */

/* What is merged, and what a failed run has left behind. */
struct due {
	struct listing *listing;
	const char *target;    /* short name of the branch on origin; NULL: there is none */
	const char **branches; /* names of the branches that are merged into it */
	const char **commits;  /* and their commits */
	size_t n_branches;
	struct run_state *runs;
	size_t n_runs;
};

/* Reads what the pool's onMerge, onAbort and onTimeout ask for. */
int due_read(struct listing *l, struct due *out, struct error *err);
/* *reason: "merged", "aborted" or "timeout"; NULL: none of them. */
int due_look(
	const struct due *d, const struct pool_entry *e, const char **reason, struct error *err);

#endif
