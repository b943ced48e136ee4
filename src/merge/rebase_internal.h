/*
 * rebase_internal.h: a rebase in progress: git's state, the record in the store, and how a worktree
 * is restored. Private to rebase*.c.
 */
#ifndef DT_REBASE_INTERNAL_H
#define DT_REBASE_INTERNAL_H

#include "src/sys/git.h"
#include "src/merge/gate_internal.h"

struct rebasing {
	struct arena *a;
	struct pool *p;
	struct gate *g;
	const struct rebase_ask *ask;
	const char *path, *branch, *target;
	const char *git_dir; /* of the worktree */
	bool batch_ssh;
	const char *const *env; /* more of git's environment for a while; NULL */
	bool interrupted;       /* an earlier rebase of this branch was killed */
	struct rebase_record rec;
	const char *known;  /* the branch on the remote as last seen; NULL */
	const char *theirs; /* its commit on the remote now; NULL: it does not exist */
	struct rebase *out;
};

/* rebase_record.c. *out without a record: mod 0, texts NULL. */
int rebase_read(struct arena *a, struct pool *p, const char *path, struct rebase_record *out,
	struct error *err);
/* Writes w->rec with `state`, this fence and the current time. */
int rebase_save(struct rebasing *w, const char *state, struct error *err);

/* rebase_git.c. All run in the worktree, under the gate. */
int rebase_git(struct rebasing *w, const char *const *argv, const char *name, unsigned timeout_s,
	struct buf *out, int *status, struct error *err);
/* *sha NULL: the reference does not exist. */
int rebase_sha(struct rebasing *w, const char *ref, const char **sha, struct error *err);
int rebase_contains(
	struct rebasing *w, const char *sha, const char *in, bool *yes, struct error *err);
/* The branch was at `sha` at some time. */
int rebase_was_at(struct rebasing *w, const char *sha, bool *yes, struct error *err);
int rebase_dirty(struct rebasing *w, const char **what, struct error *err);
int rebase_conflicts(struct rebasing *w, const char *const **paths, struct error *err);
/* The commits of both branches on the remote; NULL: the branch does not exist. */
int rebase_remote(struct rebasing *w, const char **target, const char **branch, struct error *err);
/* Fetches the target, and the branch if it exists there (w->theirs). */
int rebase_fetch(struct rebasing *w, struct error *err);

/* rebase_whose.c. The reflog text of each of our steps. */
#define REBASE_ACTION "dev-team rebase"

enum rebase_whose {
	REBASE_OURS,
	REBASE_UNBEGUN, /* ours, killed before it had done more than write a note of git's */
	REBASE_ANOTHERS,
};
/* Of the rebase in progress that `h` describes; w->rec is the record of the killed one. */
int rebase_whose(
	struct rebasing *w, const struct git_head *h, enum rebase_whose *out, struct error *err);

/* rebase_keep.c. What is in the worktree and did not come from a rebase. */
struct rebase_theirs {
	size_t n;
	const char *first; /* one of the files */
	const char *tree;  /* tree of all files as they are now */
	const char *laid;  /* tree of them without those changes */
};
int rebase_theirs(struct rebasing *w, struct rebase_theirs *out, struct error *err);
/* Puts it into the stash: w->out->kept. */
int rebase_keep(struct rebasing *w, const struct rebase_theirs *t, struct error *err);

/* rebase_repair.c. Checks the branch out at `sha`, without a rebase in progress or lock files.
 * Partial work of git is undone; what somebody else has written meanwhile is kept. */
int rebase_put_back(struct rebasing *w, const char *sha, struct error *err);
/* Undoes what a killed rebase has left in this worktree. *done (may be NULL): there was something.
 */
int rebase_repair(struct rebasing *w, bool *done, struct error *err);
/* Reads the state of the worktree; ERR_STATE if it must not be touched. */
int rebase_look(struct rebasing *w, struct git_head *h, struct error *err);

#endif
