/*
 * land.h: brings the branch of a finished work item into its target branch, exactly once.
 *
 * A landing holds the merge gate. It fetches, rebases the branch in a throw-away worktree, compares
 * the result with the approved changes, runs the check there, and pushes target and branch
 * together, or nothing. Where a forge merges, it pushes the branch alone, waits for the checks of
 * its pull request, and has it merged. The item's own worktree is not touched before the push. git
 * is the record: a landing that was killed is repeated, and one that had already pushed finds the
 * changes in the target.
 *
 * Ownership: texts are in the caller's arena.
 */
#ifndef DT_LAND_H
#define DT_LAND_H

#include "src/merge/gate.h"

enum { LAND_TRIES = 3, LAND_CHECK_S = 1800, LAND_CHECK_MAX_S = 86400 };
/* A forge that names no check for so long has none. */
enum { LAND_NO_CHECKS_S = 30 };

enum land_fate {
	LAND_LANDED,        /* or, of a branch alone, pushed */
	LAND_CONFLICT,      /* it does not rebase onto the target */
	LAND_CHANGED,       /* not the approved changes: before the rebase, or because of it;
			     * `output`: how they differ */
	LAND_CHECKS_FAILED, /* or did not end in time */
	LAND_MOVED,         /* others pushed to the target LAND_TRIES times meanwhile, or to the
			     * branch that is to be pushed alone */
	LAND_NEEDS_PERSON,  /* the remote or a hook refuses */
};

/*
 * What goes along with a rebase, such as databases. After a kill all of it is repeated, until the
 * branch's worktree has the rebased commit.
 */
struct rebase_part {
	/* The rebased files are in `dir`; nothing is pushed yet. *env: more variables for programs
	 * that run there, as of struct process; *fault: why they cannot be pushed; NULL. */
	int (*begin)(void *data, const char *dir, bool rebased, const char *const **env,
		const char **fault, struct error *err);
	/* The branch was pushed: what begin() made is its own from now on. `land` lets it go. */
	int (*keep)(void *data, struct error *err);
	void (*end)(void *data); /* called after begin(), also after -1 */
	void *data;
};

struct land_ask {
	/* The branch alone is rebased and pushed, and this worktree follows; nothing is approved or
	 * checked. NULL: it lands. */
	const char *follow;
	const char *issue; /* of the event RebaseConflict; NULL */
	const char *branch;
	const char *target; /* of origin; NULL: its default branch */
	/* What was approved; NULL: the branch as it is. */
	const char *approved; /* a commit */
	const char *base;     /* where it had left the target; NULL: not known */
	const char *patch;    /* its changes, as git_patch_digest() has them; with `approved` */
	const char *check;    /* a command of sh that runs on the rebased files; NULL: none */
	unsigned check_s;     /* its time limit, and that of the forge's checks */
	const struct rebase_part *part; /* NULL: none. It begins before the check; a fault of it is
					 * LAND_CONFLICT */
	/* The pull request that the forge merges instead of a push to the target; NULL: none. */
	const char *pull, *method; /* method: as of forge_merge() */
};

struct land {
	enum land_fate fate;
	const char *branch, *target;
	const char *head;         /* of the branch */
	const char *onto;         /* of the target before */
	const char *commit;       /* of the target, with the changes; NULL: not landed */
	const char *tree;         /* of the files that were checked; NULL: none were */
	const char *patch;        /* digest of the changes */
	const char *const *paths; /* in conflict, NULL-ended; else NULL */
	const char *reason;       /* for people; NULL where it landed */
	const char *output;       /* the end of what the check or the remote printed; NULL */
	bool already;             /* it had landed before, or been pushed */
	bool alone;               /* the branch alone */
	const char *kept;         /* pushed, but the worktree does not follow: why; else NULL */
	int64_t fence;
};
const char *land_word(const struct land *l); /* "landed", "pushed", "current", "conflict" ... */
json *land_json(const struct land *l);
int land_status(const struct land *l); /* exit status: 0, ERR_CHECK or ERR_STATE */

/* -1: ERR_STATE: no `origin`, no such branch, no changes, the gate was lost, or `held` was
 * interrupted; ERR_SYSTEM: git failed. Nothing was pushed then. */
int land_branch(struct arena *a, struct pool *p, const struct land_ask *ask, struct gate *held,
	struct land *out, struct error *err);

/* After a landing on `target`, as last fetched: the branch of the item's worktree follows what has
 * landed, and the worktree goes back to the pool. *kept: why it stays; NULL: it is gone, or there
 * was none. */
int land_return(struct arena *a, struct pool *p, const char *branch, const char *target,
	const char **kept, struct error *err);

/* ---- before a landing (predict.c) ---- */

enum { PREDICT_MAX = 40 }; /* branches; each is merged with each */

/* Which branches would conflict with the target and with one another, as all of them are now.
 * Nothing is fetched or checked out. */
struct predicted {
	const char *name, *branch; /* name: in the conflicts of others */
	/* Set by land_predict(): */
	bool there, merged; /* there: the branch exists here; merged: the target has its changes */
	/* Those that it conflicts with: [{"with": NAME, "paths": [PATH]}]; the caller's to free. */
	json *conflicts;
};

/* Only the first PREDICT_MAX branches are looked at. `target`: the name of a branch of origin, or
 * of a local one. -1: ERR_SYSTEM. */
int land_predict(struct arena *a, const char *repo, const char *target, struct predicted *list,
	size_t n, struct error *err);

#endif
