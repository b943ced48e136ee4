/*
 * gate.h: the merge gate: one holder a pool directory, with a lease and a fence. Stages that hold
 * it rebase onto the target and push, one after another. docs/merge-gate.md.
 *
 * A holder is a process (pid, start time, boot id) with a fence, a number above all before it. The
 * gate of a dead process is free; of one whose lease is over it is taken after its processes have
 * been ended, so that none of them can write any more. Of a holder on another machine the lease
 * alone counts, and what it may still push is held back by the expected sha of the push.
 *
 * All that runs under the gate has DEV_TEAM_GATE_FENCE and DEV_TEAM_GATE_HOLD in its environment. A
 * program of ours that is started so is inside already: it borrows the hold and does not wait.
 *
 * Ownership: texts live in the caller's arena, a gate until gate_drop().
 */
#ifndef DT_GATE_H
#define DT_GATE_H

#include "src/worktree/pool.h"

enum { GATE_WAIT_MS = 300000, GATE_TTL_S = 600, GATE_TTL_MAX_S = 86400 };

/* The final merge stage says so of itself; one that migrates a database always does. */
bool gate_stage_holds(const struct stage_spec *s);

struct gate_holder {
	const char *who; /* run, issue or what the caller says; may be "" */
	const char *host, *boot;
	pid_t pid;
	uint64_t start;
	int64_t fence, since, until;
	bool live;     /* here: the process is there. Elsewhere: its lease runs */
	bool here;     /* it is a process that can be seen from here */
	bool over;     /* its lease is over */
	bool evicting; /* somebody is about to end it */
	/* It has the lock of the directory and no record here: its state folder is another one.
	 * What the lock tells of it, for people; all else is nothing. NULL: it is no such holder.
	 */
	const char *elsewhere;
};
/* For people's programs: docs/merge-gate.md. The caller frees it, as of the two below. */
json *gate_holder_json(const struct gate_holder *h);

struct gate;

/* Waits up to `wait_ms`; `ttl_s` 0: GATE_TTL_S. -1: ERR_STATE naming the holder
 * (MergeGateLockTimeout), or a holder that cannot be ended; ERR_SYSTEM. */
int gate_take(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	struct gate **out, struct error *err);
/* The same; once the descriptor `cancel` is readable it is not taken any more (-1: ERR_STATE). */
int gate_take_unless(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	int cancel, struct gate **out, struct error *err);
int64_t gate_fence(const struct gate *g);
/* `NAME=value`, NULL-ended: what all that runs under it must have in its environment. */
const char *const *gate_environment(const struct gate *g);
/* Still ours, and the lease renewed; -1: ERR_STATE, it has been taken over. */
int gate_check(struct gate *g, struct error *err);
/* Once `fd` is readable, gate_rebase() ends what it is at and puts the worktree back (-1:
 * ERR_STATE). */
void gate_cancel_on(struct gate *g, int fd);
/* Given back, only when it is still ours. For CLEANUP too; safe on NULL. */
void gate_drop(struct gate **g);
/* *held false: nobody; *fence (may be NULL): the last that was given. */
int gate_status(struct arena *a, struct pool *p, struct gate_holder *out, bool *held,
	int64_t *fence, struct error *err);

/* Takes the gate away: its processes here are ended first. `fence` 0: of whoever holds it; else
 * only of that one (ERR_STATE). ERR_STATE too for one with another state folder. *held false: there
 * was nobody. The next fence is higher all the same. */
int gate_force(struct arena *a, struct pool *p, int64_t fence, struct gate_holder *was, bool *held,
	struct error *err);

struct gate_run_ask {
	const char *who;
	unsigned wait_ms;
	int ttl_s;
	const char *const *argv; /* NULL-ended */
	const char *cwd;         /* NULL: as the caller */
	int output; /* descriptor for its output: stdout and stderr; -1: as the caller's own two */
	/* Descriptor; once it is readable the command is ended, or not begun (-1: ERR_STATE). 0:
	 * none */
	int cancel;
	int64_t fence; /* out */
};
/*
 * A command under the gate; *status is its own, 128 + N when signal N ended it. It and all that it
 * starts are ended when the gate is lost (-1: ERR_STATE), and when the caller dies.
 */
int gate_run(
	struct arena *a, struct pool *p, struct gate_run_ask *ask, int *status, struct error *err);

enum rebase_fate {
	REBASE_CURRENT,   /* nothing to do */
	REBASE_PUSHED,    /* rebased where that was needed, and pushed */
	REBASE_CONFLICT,  /* suspended: the worktree is as before, no markers, no rebase in progress
			   */
	REBASE_EXHAUSTED, /* a conflict for the last time allowed */
	REBASE_MOVED, /* the branch on the remote is not what was expected: somebody else pushed */
};
const char *rebase_word(enum rebase_fate f); /* "current", "pushed" ... */

enum { REBASE_ATTEMPTS = 3 };

struct rebase_ask {
	const struct allocation *of; /* branch and path are used */
	const char *target;          /* branch of origin; NULL: its default branch, else main */
	const char *issue;           /* for the event and runtime.json; NULL */
	unsigned attempts_max;       /* 0: REBASE_ATTEMPTS */
	bool again;                  /* the attempts that failed are forgotten */
};
struct rebase {
	enum rebase_fate fate;
	const char *branch, *target;
	const char *before, *after, *onto; /* shas; after: NULL unless the branch has a new one */
	const char *const *paths;          /* of the conflict, NULL-ended; else NULL */
	unsigned attempt;                  /* how many have failed */
	int64_t fence;
	bool repaired; /* what a killed one had left was taken back first */
	/* Commit of the stash with what somebody has written in the worktree meanwhile, and one of
	 * the files; NULL: nobody has. */
	const char *kept, *kept_path;
};
json *rebase_json(const struct rebase *r);
/*
 * Serialized rebase of an allocation's branch onto origin/target under the gate `held`: fetch, look
 * again, rebase, push with the expected sha. Never interactive, never anything at the target. -1:
 * ERR_STATE: no `origin`, no such branch there, not committed work, another branch checked out, a
 * merge or the like in progress, the gate was lost; ERR_SYSTEM: git said no. The worktree is then
 * as before.
 */
int gate_rebase(struct arena *a, struct pool *p, const struct rebase_ask *ask, struct gate *held,
	struct rebase *out, struct error *err);

/* What is kept of an allocation's rebases. */
struct rebase_record {
	const char *path, *branch, *target;
	const char *state;           /* rebase_word(), or while it works: "rebasing", "restoring";
				      * "failed": git said no, and the worktree is as it was */
	const char *before;          /* sha of the branch when it began */
	const char *onto, *expected; /* of the target; of the branch on the remote ("": none) */
	const char *after;           /* what was pushed last, or is about to be */
	const char *const *paths;
	unsigned attempts;
	int64_t fence, at;
	int64_t mod;
};
json *rebase_record_json(const struct rebase_record *r);
/* Of the pool, sorted by path. */
int rebase_list(
	struct arena *a, struct pool *p, struct rebase_record **out, size_t *n, struct error *err);

#endif
