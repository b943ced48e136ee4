/*
 * gate.h: the merge gate: each pool directory has at most one holder, with a lease and a fence. A
 * holder rebases onto the target and pushes. docs/merge-gate.md.
 *
 * A holder is a process (pid, start time, boot id) with a fence, a number greater than all before
 * it. The gate of a dead process is free. If the lease of a running process has expired, its
 * processes are ended before the gate is taken, so that none of them can write any more. For a
 * holder on another machine only the lease counts; the expected sha of a push refuses what it may
 * still push.
 *
 * Everything that runs under the gate has DEV_TEAM_GATE_FENCE and DEV_TEAM_GATE_HOLD in its
 * environment. A dev-team that runs under it borrows the hold and does not wait.
 *
 * Ownership: texts are in the caller's arena; a gate is valid until gate_drop().
 */
#ifndef DT_GATE_H
#define DT_GATE_H

#include "src/worktree/pool.h"

enum { GATE_WAIT_MS = 300000, GATE_TTL_S = 600, GATE_TTL_MAX_S = 86400 };

/* Declared by the final merge stage; a database migration is always exclusive. */
bool gate_stage_holds(const struct stage_spec *s);

struct gate_holder {
	const char *who; /* run, issue or the caller's text; may be "" */
	const char *host, *boot;
	pid_t pid;
	uint64_t start;
	int64_t fence, since, until;
	bool live; /* on this machine: the process is running. Elsewhere: its lease has not expired
		    */
	bool here; /* a process that is visible from here */
	bool over; /* its lease has expired */
	bool evicting; /* a process is about to end it */
	/* The holder has the lock of the directory and no record here: it uses another state
	 * directory. The text of the lock, for people; all other members are zero. NULL: it has a
	 * record.
	 */
	const char *elsewhere;
};
/* As docs/merge-gate.md describes it. The caller frees it, as for the next two functions. */
json *gate_holder_json(const struct gate_holder *h);

struct gate;

/* Waits up to `wait_ms`; `ttl_s` 0: GATE_TTL_S. -1: ERR_STATE naming the holder
 * (MergeGateLockTimeout), or if a holder cannot be ended; ERR_SYSTEM. */
int gate_take(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	struct gate **out, struct error *err);
/* The same; gives up once the descriptor `cancel` is readable (-1: ERR_STATE). */
int gate_take_unless(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	int cancel, struct gate **out, struct error *err);
int64_t gate_fence(const struct gate *g);
/* `NAME=value`, NULL-ended: environment of every program that runs under the gate. */
const char *const *gate_environment(const struct gate *g);
/* Checks that it is still ours and renews the lease; -1: ERR_STATE, it has been taken over. */
int gate_check(struct gate *g, struct error *err);
/* Once `fd` is readable, gate_rebase() stops and restores the worktree (-1: ERR_STATE). */
void gate_cancel_on(struct gate *g, int fd);
/* Releases it if it is still ours. For CLEANUP too; safe on NULL. */
void gate_drop(struct gate **g);
/* *held false: there is no holder; *fence (may be NULL): the last one issued. */
int gate_status(struct arena *a, struct pool *p, struct gate_holder *out, bool *held,
	int64_t *fence, struct error *err);

/* Takes the gate from its holder, after ending its processes on this machine. `fence` 0: from any
 * holder; otherwise only from that one (ERR_STATE). Also ERR_STATE for one with another state
 * directory. *held false: there was no holder. The next fence is higher in any case. */
int gate_force(struct arena *a, struct pool *p, int64_t fence, struct gate_holder *was, bool *held,
	struct error *err);

struct gate_run_ask {
	const char *who;
	unsigned wait_ms;
	int ttl_s;
	const char *const *argv; /* NULL-ended */
	const char *cwd;         /* NULL: the caller's */
	int output;              /* descriptor for stdout and stderr; -1: the caller's own */
	/* Descriptor; once it is readable the command is ended, or not started (-1: ERR_STATE). 0:
	 * none */
	int cancel;
	int64_t fence; /* out */
};
/*
 * Runs a command under the gate; *status is its exit status, 128 + N when signal N ended it. The
 * command and its descendants are ended when the gate is lost (-1: ERR_STATE) and when the caller
 * dies.
 */
int gate_run(
	struct arena *a, struct pool *p, struct gate_run_ask *ask, int *status, struct error *err);

enum rebase_fate {
	REBASE_CURRENT,   /* nothing to do */
	REBASE_PUSHED,    /* rebased if necessary, and pushed */
	REBASE_CONFLICT,  /* suspended: the worktree is as before, without markers or a rebase in
			     progress */
	REBASE_EXHAUSTED, /* a conflict in the last attempt allowed */
	REBASE_MOVED,     /* the branch on the remote is not at the expected commit: somebody else
			     pushed */
};
const char *rebase_word(enum rebase_fate f); /* "current", "pushed" ... */

enum { REBASE_ATTEMPTS = 3 };

struct rebase_ask {
	const struct allocation *of; /* branch and path are used */
	const char *target;          /* branch of origin; NULL: its default branch, else main */
	const char *issue;           /* for the event and runtime.json; NULL */
	unsigned attempts_max;       /* 0: REBASE_ATTEMPTS */
	bool again;                  /* resets the count of failed attempts */
	/* After a rebase without conflicts, before the push. *fault: why it is suspended all the
	 * same; NULL. May be NULL. */
	int (*verify)(void *data, const char **fault, struct error *err);
	void *data;
};
struct rebase {
	enum rebase_fate fate;
	const char *branch, *target;
	const char *before, *after, *onto; /* shas; after: NULL unless the branch has a new one */
	const char *const *paths;          /* of the conflict, NULL-ended; else NULL */
	const char *fault;                 /* of rebase_ask.verify; NULL */
	unsigned attempt;                  /* number of failed attempts */
	int64_t fence;
	bool repaired; /* what a killed rebase had left was undone first */
	/* Stash commit with what somebody wrote in the worktree meanwhile, and one of the files;
	 * NULL: nothing was written. */
	const char *kept, *kept_path;
};
json *rebase_json(const struct rebase *r);
/*
 * Serialized rebase of an allocation's branch onto origin/target under the gate `held`: fetch,
 * check again, rebase, push with the expected sha. Never interactive, never changes the target. -1:
 * ERR_STATE: no `origin`, no such branch there, uncommitted changes, another branch checked out, a
 * merge or the like in progress, the gate was lost; ERR_SYSTEM: git failed. The worktree is then as
 * before.
 */
int gate_rebase(struct arena *a, struct pool *p, const struct rebase_ask *ask, struct gate *held,
	struct rebase *out, struct error *err);

/* The record of an allocation's rebases. */
struct rebase_record {
	const char *path, *branch, *target;
	const char *state;           /* rebase_word(), or in progress: "rebasing", "restoring";
				      * "failed": git failed, and the worktree is as before */
	const char *before;          /* sha of the branch at the beginning */
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
