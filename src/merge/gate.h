/*
 * gate.h: the merge gate: each pool directory has at most one holder, with a fence. A holder
 * rebases onto the target and pushes. docs/merge-gate.md.
 *
 * The gate is a lock of the kernel that the programs of the holder inherit: it is held until the
 * holder drops it, or until it and all that it has started have ended. Processes get it in the
 * order in which they came. A holder's fence is a number greater than all before it.
 *
 * An agent that a client dispatches has no process between two of its commands: it has a lease. The
 * gate is locked while a command runs, and kept for a time afterwards.
 *
 * Everything that runs under the gate has DEV_TEAM_GATE_FENCE and DEV_TEAM_GATE_HOLD in its
 * environment. A dev-team that runs under it borrows the hold and does not wait.
 *
 * Ownership: texts are in the caller's arena; a gate is valid until gate_drop().
 */
#ifndef DT_GATE_H
#define DT_GATE_H

#include "src/sys/git.h"
#include "src/worktree/pool.h"

#define GATE_TIMEOUT "MergeGateLockTimeout" /* in the message of gate_take() */
enum { GATE_WAIT_MS = 300000 };

/* Declared by the final merge stage; a database migration is always exclusive. */
bool gate_stage_holds(const struct stage_spec *s);

struct gate_holder {
	const char *who; /* run, issue or the caller's text; may be "" */
	const char *host;
	pid_t pid;
	int64_t fence, since; /* since: seconds since 1970; of one that waits: since it came */
	bool held;            /* it holds the gate or waits */
	bool live;            /* false: it has ended, and a process that it started has the gate */
	bool stopped;
	bool lease;    /* kept for the next command of the same `who` */
	int64_t until; /* of a lease without a process: seconds since 1970 */
};
/* As docs/merge-gate.md describes it. The caller frees it, as for the next two functions. */
json *gate_holder_json(const struct gate_holder *h);

struct gate_ask {
	const char *who;
	unsigned wait_ms;
	int cancel; /* descriptor; once it is readable this gives up. 0: none */
	/* A lease: gate_drop() keeps the gate for `lease_s`, for the next one that asks with the
	 * same `who`, which gets the same fence. After that time others may take it; if one has
	 * come meanwhile, the lease is lost: -1, ERR_STATE. */
	bool lease;
	unsigned lease_s;
	/* The process (process_name()) with which the lease ends, too; it keeps a place in the line
	 * that is not reached in time, and waits for its own commands without limit, unless wait_ms
	 * is 0. NULL: none. */
	const char *keeper;
};

struct disk_lock;
struct gate {
	struct arena *a;
	struct pool *p;
	int64_t fence;
	/* `NAME=value`, NULL-ended: environment of every program that runs under the gate. */
	const char *env[3];
	int cancel; /* descriptor; once it is readable, what runs under the gate stops. 0: none */
	bool interrupted;
	/* Of gate.c: */
	struct gate_ask ask;
	const char *path;       /* of the file that is locked */
	struct disk_lock *lock; /* NULL: borrowed */
	bool borrowed, lost;
	bool entered; /* a lease that is left is kept */
	int64_t until;
};
/* Waits for its turn, and says on standard error which it is. -1: ERR_STATE: the holder's name
 * (GATE_TIMEOUT), it was interrupted, or locks are not reliable in that directory; ERR_SYSTEM. */
int gate_take(struct arena *a, struct pool *p, const struct gate_ask *ask, struct gate **out,
	struct error *err);
/* The lock, for `inherit` of process.h; 0: the gate is borrowed. */
int gate_descriptor(const struct gate *g);
/* Checks that it is still ours; -1: ERR_STATE, it was released by force. */
int gate_check(struct gate *g, struct error *err);
/* As git_command(), under the gate: the program inherits its lock, and may be any program. Clears
 * `out` first. */
int gate_git(struct gate *g, const struct git_command *c, struct buf *out, int *status,
	struct error *err);
/* Waits, not at all while the time of day is fixed. -1: ERR_STATE: interrupted, or the gate is
 * lost. */
int gate_pause(struct gate *g, unsigned ms, struct error *err);
/* Releases it if it is still ours, or leaves its lease. For CLEANUP too; safe on NULL. */
void gate_drop(struct gate **g);
/* line[0] is the holder, the others wait in this order; *fence: the last one issued. */
int gate_status(struct arena *a, struct pool *p, struct gate_holder **line, size_t *n,
	int64_t *fence, struct error *err);

/* Ends the lease of a holder that needs it no more; `dir`: of the pool. Best effort. */
void gate_end_lease(struct arena *a, const char *dir, const char *who);

/* Takes the gate from its holder, by ending every process that has the lock. `fence` 0: from any
 * holder; otherwise only from that one (ERR_STATE). ERR_STATE: one of them cannot be ended from
 * here. was->held false: there was no holder. */
int gate_force(
	struct arena *a, struct pool *p, int64_t fence, struct gate_holder *was, struct error *err);

struct gate_run_ask {
	struct gate_ask gate;    /* its `cancel` ends the command too, or it is not started */
	const char *const *argv; /* NULL-ended */
	int output;              /* descriptor for stdout and stderr; -1: the caller's own */
	int64_t fence;           /* out */
};
/*
 * Runs a command under the gate; *status is its exit status, 128 + N when signal N ended it. What
 * it leaves in the background is ended with it. If the caller is killed the command is too;
 * processes that it has started keep the gate until they end.
 */
int gate_run(
	struct arena *a, struct pool *p, struct gate_run_ask *ask, int *status, struct error *err);

#endif
