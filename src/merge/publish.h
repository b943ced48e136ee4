/*
 * publish.h: git's part of a landing: what the remote has, a rebase in a throw-away worktree, the
 * push. Private to publish.c and land.c.
 *
 * git is the record. What was interrupted is repeated from the beginning: the commit that a killed
 * process had pushed is still checked out in the throw-away worktree.
 */
#ifndef DT_PUBLISH_H
#define DT_PUBLISH_H

#include "src/merge/gate.h"

struct publish {
	struct arena *a;
	struct pool *p;
	struct gate *g;
	const char *branch, *target;

	/* Set by publish_begin(): */
	const char *dir; /* the throw-away worktree: `.landing` in the pool's directory */
	bool batch_ssh;
	/* Set by publish_learn(): */
	const char *theirs; /* the branch on the remote; NULL: it is not there */
	bool deleted;       /* and it was */
	const char *head;   /* the branch here, else there */
	const char *onto;   /* the target on the remote */
	const char *fork;   /* where `head` has left the target */
	const char *patch;  /* digest of its changes; "": none */
	/* Set by publish_rebase(): */
	const char *after;        /* what is to be pushed; NULL: a conflict */
	const char *const *paths; /* in conflict; NULL */
};

/* Chooses the target: the default branch of the remote if none is given. -1: it is the branch
 * itself, or there is no `origin`. */
int publish_begin(struct publish *w, struct error *err);
/* Asks the remote, and fetches both branches. -1: there is no such target or branch. */
int publish_learn(struct publish *w, struct error *err);
/* What the remote has on the branch is neither a commit that the branch has or had, nor one that a
 * process under the gate pushed: a push would discard the work of others. */
bool publish_is_foreign(struct publish *w);
/* *lost: a commit that the branch was made on, which the target had, as far as is known here, and
 * has no more; NULL: none. */
int publish_find_lost(struct publish *w, const char **lost, struct error *err);
/*
 * Rebases `head` onto the target, if it lacks commits of it. `files`: it is checked out in the
 * throw-away worktree also if it does not. What a killed process has left there is removed: only
 * the holder of the gate uses it.
 */
int publish_rebase(struct publish *w, bool files, struct error *err);
/* Always called at the end: the throw-away worktree is removed. */
int publish_end(struct publish *w, struct error *err);

enum pushed { PUSH_DONE, PUSH_LATE, PUSH_REFUSED };
/*
 * Pushes `after` to the branch; with `land` to the target, and to the branch too if the remote has
 * it: a forge then takes its pull request for merged. Each must be where publish_learn() found it.
 * A push that failed may have succeeded on the remote: it is asked. *said: why it was refused.
 */
int publish_push(
	struct publish *w, bool land, enum pushed *out, const char **said, struct error *err);

/* Whether `of` has the commit `sha`. */
bool publish_contains(struct publish *w, const char *of, const char *sha);
/* Digest of the changes between two commits, as git_patch_digest() has it. */
const char *publish_digest(struct publish *w, const char *from, const char *to);

#endif
