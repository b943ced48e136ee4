/*
 * publish.h: a branch that is rebased in a throw-away worktree and pushed, under the gate: what
 * `land` and `gate rebase` share. Private to publish.c, land.c and rebase.c.
 *
 * git is the record. What was interrupted is repeated from the beginning: the commit that a killed
 * process had pushed is still checked out in the throw-away worktree.
 */
#ifndef DT_PUBLISH_H
#define DT_PUBLISH_H

#include "src/merge/gate_internal.h"

/* Local work runs no hooks and no file system monitor: an agent can write the configuration. */
#define PUBLISH_QUIET                                                                              \
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"

struct publish {
	struct arena *a;
	struct pool *p;
	struct gate *g;
	const char *path; /* git runs here: the worktree or the repository */
	const char *branch, *target;
	bool batch_ssh;
	const struct rebase_part *part; /* NULL: none */
	bool part_began;

	/* Set by publish_begin(): */
	const char *dir; /* the throw-away worktree: `.landing` in the pool's directory */
	/* Set by publish_learn(): */
	const char *theirs; /* the branch on the remote; NULL: it is not there */
	const char *head;   /* the branch here, else there */
	const char *onto;   /* the target on the remote */
	const char *fork;   /* where `head` has left the target */
	const char *patch;  /* digest of its changes; "": none */
	/* Set by publish_rebase(): */
	const char *after;        /* what is to be pushed; NULL: a conflict, or a fault */
	const char *const *paths; /* in conflict; NULL */
	const char *fault;        /* of the part; NULL */
};

/* Chooses the target: the default branch of the remote if none is given. -1: it is the branch
 * itself. */
int publish_begin(struct publish *w, struct error *err);
/* Asks the remote, and fetches both branches. -1: there is no such target or branch. */
int publish_learn(struct publish *w, struct error *err);
/* What the remote has on the branch is neither a commit that the branch has or had, nor one that a
 * process under the gate pushed: a push would discard the work of others. */
int publish_find_foreign(struct publish *w, bool *foreign, struct error *err);
/*
 * Checks `head` out in the throw-away worktree and rebases it onto the target if it lacks commits
 * of it. What a killed process has left there is removed: only the holder of the gate uses it.
 */
int publish_rebase(struct publish *w, struct error *err);
/* The part begins with the rebased files. *env: for programs that run on them; NULL: none. */
int publish_begin_part(struct publish *w, const char *const **env, struct error *err);
void publish_end_part(struct publish *w);
/* Always called at the end: the part ends, and the worktree is removed. */
int publish_end(struct publish *w, struct error *err);

enum pushed { PUSH_DONE, PUSH_LATE, PUSH_REFUSED };
/*
 * Pushes `after` to the branch; with `land` to the target, and to the branch too if the remote has
 * it: a forge then takes its pull request for merged. Each must be where publish_learn() found it.
 * A push that failed may have succeeded on the remote: it is asked. *said: why it was refused.
 */
int publish_push(
	struct publish *w, bool land, enum pushed *out, struct error *said, struct error *err);

/* *sha NULL: the reference does not exist. */
int publish_read_sha(struct publish *w, const char *ref, const char **sha, struct error *err);
int publish_contains(
	struct publish *w, const char *sha, const char *in, bool *yes, struct error *err);
/* Digest of the changes between two commits, as git_patch_digest() has it. */
const char *publish_digest(struct publish *w, const char *from, const char *to);
/* The worktree `dir` goes to `to` if it is at `from`; otherwise *moved. */
int publish_follow(struct arena *a, const char *dir, const char *from, const char *to, bool *moved,
	struct error *err);

#endif
