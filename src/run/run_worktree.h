/*
 * run_worktree.h: a worktree and ports of its own for a run, so that several runs of one repository
 * go on side by side. For run.c.
 */
#ifndef DT_RUN_WORKTREE_H
#define DT_RUN_WORKTREE_H

#include "src/run/locate.h"
#include "src/worktree/pool.h"

struct own_worktree {
	const char *path; /* of the worktree; becomes the run's repository */
	const char *branch;
	unsigned port; /* first of its block */
	bool created;  /* false: it was there, of an earlier run of this work item */
};

/* The pool that the pipeline names; without one the pool `default` of the resources, else one of
 * all defaults. pool_close() it. */
int run_pool(struct arena *a, const char *repo, const char *resources, const char *artifacts,
	const struct pipeline *pipeline, struct pool *out, struct error *err);

struct worktree_ask {
	const char *id, *repo;
	const char *resources, *artifacts;
	const struct pipeline *pipeline;
	const char *port;   /* that it must have; NULL: as the path says */
	const char *parent; /* branch or path of the allocation that it is a child of; NULL: none */
	unsigned slots;     /* for children of its own */
};

/*
 * Allocates, or adopts, the worktree of branch `dev-team/ID` (or as the pipeline's
 * branching.pattern says, with {id}, {issueId} and {issueNumber} replaced) in run_pool(). It stays
 * when the run is over: its branch may wait for a merge (`pool reclaim`, `pool sweep`).
 */
int run_worktree(struct arena *a, const struct worktree_ask *ask, struct own_worktree *out,
	struct error *err);

/* One that this run has made and done nothing in is given back. Best effort: what has work stays.
 */
void run_worktree_undo(
	struct arena *a, const struct worktree_ask *ask, const struct own_worktree *own);

#endif
