/*
 * gate.h: the merge gate: one holder a pool directory, with a lease and a fence. Stages that hold
 * it rebase onto the target and push, one after another. docs/merge-gate.md.
 *
 * A holder is a process (pid, start time, boot id) with a fence, a number above all before it. A
 * gate of a dead process is free; of one whose lease is over it is taken after its processes have
 * been ended, so that none of them can write any more. A later machine that shares the store waits
 * for the lease alone.
 */
#ifndef DT_GATE_H
#define DT_GATE_H

#include "src/pool/pool.h"

enum { GATE_WAIT_MS = 300000, GATE_TTL_S = 600 };

struct gate_holder {
	const char *who; /* run, issue or what the caller says; may be "" */
	const char *host, *boot;
	pid_t pid;
	uint64_t start;
	int64_t fence, since, until;
	bool live;
};

struct gate;

/* Waits up to `wait_ms`. -1: ERR_STATE naming the holder (MergeGateLockTimeout), ERR_SYSTEM. */
int gate_take(struct arena *a, struct pool *p, const char *who, unsigned wait_ms, int ttl_s,
	struct gate **out, struct error *err);
int64_t gate_fence(const struct gate *g);
/* Still ours, and the lease renewed; -1: ERR_STATE, it has been taken over. */
int gate_check(struct gate *g, struct error *err);
/* Given back, only when it is still ours. For CLEANUP too; safe on NULL. */
void gate_drop(struct gate **g);
/* *held false: nobody. */
int gate_status(
	struct arena *a, struct pool *p, struct gate_holder *out, bool *held, struct error *err);

/* Command under the gate: DEV_TEAM_GATE_FENCE in its environment, ended when the gate is lost. */
int gate_run(struct arena *a, struct pool *p, const char *who, unsigned wait_ms,
	const char *const *argv, int *status, struct error *err);

enum rebase_fate {
	REBASE_CURRENT,   /* nothing to do */
	REBASE_PUSHED,    /* rebased and pushed */
	REBASE_CONFLICT,  /* suspended: the worktree is as before, no markers, no rebase in progress
			   */
	REBASE_EXHAUSTED, /* a conflict for the last time allowed */
	REBASE_MOVED, /* the branch on the remote is not what was expected: somebody else pushed */
};
struct rebase {
	enum rebase_fate fate;
	const char *branch, *target;
	const char *before, *after, *onto; /* shas */
	const char *const *paths;          /* of the conflict, NULL-ended */
	unsigned attempt;
	int64_t fence;
};
/* Serialized rebase of an allocation's branch onto origin/target, under the gate: fetch, look
 * again, rebase, push with lease. */
int gate_rebase(struct arena *a, struct pool *p, const struct allocation *of, const char *target,
	unsigned attempts_max, struct gate *held, struct rebase *out, struct error *err);

#endif
