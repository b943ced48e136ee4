/*
 * rebase_internal.h: a rebase while it is made: what git says, what the store keeps, and how a
 * worktree is put back. For rebase*.c alone.
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
	struct rebase_record rec;
	const char *known;  /* the branch on the remote as last seen; NULL */
	const char *theirs; /* as it is there now; NULL: it is not there */
	struct rebase *out;
};

/* rebase_record.c. *out of a path without a record: mod 0, texts NULL. */
int rebase_read(struct arena *a, struct pool *p, const char *path, struct rebase_record *out,
	struct error *err);
/* What w->rec says, with `state`, this fence and now. */
int rebase_save(struct rebasing *w, const char *state, struct error *err);

/* rebase_git.c. All run in the worktree, under the gate. */
int rebase_git(struct rebasing *w, const char *const *argv, const char *name, unsigned timeout_s,
	struct buf *out, int *status, struct error *err);
/* *sha NULL: there is no such ref. */
int rebase_sha(struct rebasing *w, const char *ref, const char **sha, struct error *err);
int rebase_contains(
	struct rebasing *w, const char *sha, const char *in, bool *yes, struct error *err);
/* The branch was once where `sha` is. */
int rebase_was_at(struct rebasing *w, const char *sha, bool *yes, struct error *err);
int rebase_dirty(struct rebasing *w, const char **what, struct error *err);
int rebase_conflicts(struct rebasing *w, const char *const **paths, struct error *err);
/* Where the two branches are on the remote; NULL: not there. */
int rebase_remote(struct rebasing *w, const char **target, const char **branch, struct error *err);
/* Brings the target, and the branch when it is there (w->theirs), from the remote. */
int rebase_fetch(struct rebasing *w, struct error *err);

/* rebase_whose.c. What the reflog says of each step of ours. */
#define REBASE_ACTION "dev-team rebase"

enum rebase_whose {
	REBASE_OURS,
	REBASE_UNBEGUN, /* ours, killed before it had done anything but a note of git's */
	REBASE_ANOTHERS,
};
/* Of the rebase in progress that `h` tells of; w->rec is the note of a killed one. */
int rebase_whose(
	struct rebasing *w, const struct git_head *h, enum rebase_whose *out, struct error *err);

/* rebase_keep.c. What is in the worktree and no rebase has put there. */
struct rebase_theirs {
	size_t n;
	const char *first; /* one of the files */
	const char *tree;  /* all files as they are now */
	const char *laid;  /* as they would be without them */
};
int rebase_theirs(struct rebasing *w, struct rebase_theirs *out, struct error *err);
/* Into the stash: w->out->kept. */
int rebase_keep(struct rebasing *w, const struct rebase_theirs *t, struct error *err);

/* rebase_repair.c. The branch checked out at `sha`, no rebase in progress, no lock files; what git
 * had half made is taken back, what somebody else has written meanwhile is kept. */
int rebase_put_back(struct rebasing *w, const char *sha, struct error *err);
/* What a killed one has left of this worktree. *done (may be NULL): there was something. */
int rebase_repair(struct rebasing *w, bool *done, struct error *err);
/* Where the worktree stands; ERR_STATE for what is not to be touched. */
int rebase_look(struct rebasing *w, struct git_head *h, struct error *err);

#endif
