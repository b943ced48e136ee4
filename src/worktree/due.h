/*
 * due.h: what a sweep may take before it is old: what is merged, and what a failed run has left.
 * For src/pool alone.
 */
#ifndef DT_POOL_DUE_H
#define DT_POOL_DUE_H

#include "src/event/run_state.h"
#include "src/worktree/list.h"

struct due {
	struct listing *listing;
	const char *target;    /* short name of the branch on origin; NULL: there is none */
	const char **branches; /* names of those that are in it */
	const char **commits;  /* and where each is */
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
