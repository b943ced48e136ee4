/*
 * gate_internal.h: a gate that is held, and programs that run under it. Private to src/merge.
 */
#ifndef DT_GATE_INTERNAL_H
#define DT_GATE_INTERNAL_H

#include "src/merge/gate.h"
#include "src/sys/git.h"

struct disk_lock;
struct gate {
	struct arena *a;
	struct pool *p;
	int64_t fence;
	const char *path;       /* of the file that is locked */
	const char *env[3];     /* DEV_TEAM_GATE_FENCE, DEV_TEAM_GATE_HOLD */
	struct disk_lock *lock; /* NULL: borrowed */
	const char *who;
	bool borrowed, lost;
	bool lease, entered; /* entered: a lease that is left is kept */
	unsigned lease_s;
	int64_t until;
	int cancel; /* descriptor of gate_cancel_on(); 0: none */
	bool interrupted;
};

/* As git_command(), under the gate: the program inherits its lock, and may be any program. Clears
 * `out` first. */
int gate_git(struct gate *g, const struct git_command *c, struct buf *out, int *status,
	struct error *err);
/* Waits, not at all while the time of day is fixed. -1: ERR_STATE: interrupted, or the gate is
 * lost. */
int gate_pause(struct gate *g, unsigned ms, struct error *err);

#endif
