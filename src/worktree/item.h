/*
 * item.h: the worktree of a work item, on a branch of its own: create, inspect, release. Steps and
 * runs use nothing else of this room; the commands about pools use pool.h.
 *
 * Ownership: texts are in the caller's arena.
 */
#ifndef DT_WORKTREE_ITEM_H
#define DT_WORKTREE_ITEM_H

#include "src/config/resource.h"

struct item_worktree_request {
	const char *repo, *state;              /* in the repository; the state directory */
	const char *artifacts;                 /* directory for the events; NULL: none */
	const struct worktree_pool_spec *pool; /* where it is, and its ports */
	const char *branch;
	const char *base;   /* full name of the reference where a new branch begins; NULL: found */
	const char *target; /* the branch to merge into; NULL: the remote's default branch */
	const char *run;    /* the run that holds it; NULL: nobody does */
	const char *issue;  /* whose runtime.json gets the ports; NULL: nobody's */
	const char *port;   /* override as text; NULL or "": none */
	const char *parent; /* branch or path of the worktree that gives the ports; NULL: none */
	unsigned slots;     /* ports that are reserved for worktrees of children */
};

struct item_worktree {
	const char *path, *branch;
	const char *tip; /* the commit at which the worktree was created; NULL: not known */
	unsigned port;   /* the first of its own */
	bool created;    /* by this call */
};

/* Creates it, or finds it: a branch has one worktree. Nothing is left after -1, and a call that was
 * killed is finished or undone by the next one. -1: as pool_allocate(). */
int item_worktree_create(struct arena *a, const struct item_worktree_request *r,
	struct item_worktree *out, struct error *err);

enum item_worktree_state {
	ITEM_WORKTREE_MISSING, /* there is nothing, or no longer a worktree */
	ITEM_WORKTREE_LINK,    /* a symbolic link, which may lead to the user's checkout */
	ITEM_WORKTREE_THERE,
};
/* What is at the path of a worktree that was created earlier. */
enum item_worktree_state item_worktree_inspect(struct arena *a, const char *path);

/* Removes it, with its ports, unless work would be lost: it may be a worktree that was just
 * created, which undoes that. -1: ERR_STATE with why it is kept. */
int item_worktree_release(struct arena *a, const struct item_worktree_request *r, const char *path,
	struct error *err);

#endif
