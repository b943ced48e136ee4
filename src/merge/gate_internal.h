/*
 * gate_internal.h: the gate's record in the store, the state of its holder, and how a holder is
 * ended. Private to the gate's files.
 *
 * gate/DIGEST of the pool's directory is never deleted: without a holder it keeps the last fence.
 */
#ifndef DT_GATE_INTERNAL_H
#define DT_GATE_INTERNAL_H

#include "src/merge/gate.h"
#include "src/sys/process.h"

struct gate_record {
	int64_t fence; /* the holder's, else the last one's */
	bool held, evicting;
	const char *hold; /* unique to this hold */
	const char *who;
	struct process_identity at;
	int ttl_s;
	int64_t since, until; /* seconds since 1970, for people and other machines */
	int64_t until_ticks;  /* the same by the clock of this boot, which cannot be set */
	int64_t mod;          /* 0: there is no record */
};
char *gate_key(struct arena *a, const struct pool *p);
int gate_read(struct arena *a, struct pool *p, struct gate_record *out, struct error *err);
/* Writes only if the record still has revision `mod`; otherwise *lost. */
int gate_put(struct arena *a, struct pool *p, const struct gate_record *r, int64_t mod, bool *lost,
	struct error *err);

/* Locked in the directory of the pool, beside the record. */
char *gate_lock_path(struct arena *a, const struct pool *p);
/* *who: a holder that has the lock and no record here; NULL: none. */
int gate_elsewhere(struct arena *a, struct pool *p, const char **who, struct error *err);

/* The holder for people: 'who', process N on HOST ... */
void gate_say_holder(struct buf *b, const struct gate_record *r);

enum gate_view {
	GATE_FREE,
	GATE_HELD,
	GATE_DEAD, /* the holder's process has ended; its descendants may be running */
	GATE_OVER, /* its lease has expired and it is running: it must be ended first */
	GATE_AWAY, /* on another machine, and its lease has expired */
};
enum gate_view gate_look(const struct gate_record *r, const struct process_identity *self);

/* Ends the holder and every process of its hold; 0 when none is left. */
int gate_end(const struct gate_record *r, const struct process_identity *self, struct error *err);

struct disk_lock;
struct gate {
	struct arena *a;
	struct pool *p;
	struct process_identity self;
	struct gate_record r;
	const char *env[3]; /* DEV_TEAM_GATE_FENCE, DEV_TEAM_GATE_HOLD */
	struct disk_lock *lock;
	bool borrowed, lost;
	int cancel;            /* descriptor of gate_cancel_on(); 0: none */
	int64_t seen, seen_at; /* revision of the record last seen, and since when */
};
/* Marks the record, so that it cannot be renewed, and ends the processes of the hold. 0 with *gone
 * true: the record is *r, and no process is left. *gone false: it changed meanwhile.
 */
int gate_evict(struct arena *a, struct pool *p, const struct process_identity *self,
	struct gate_record *r, bool *gone, struct error *err);

/* How often a holder renews its lease, and so notices that it is lost. */
int gate_round_ms(const struct gate *g);

/* A renewal that fails is no loss while the lease has not expired. */
bool gate_alive(struct gate *g, struct error *err);

struct git_call {
	const char *cwd;
	const char *const *argv; /* with "git" */
	const char *name;        /* for people */
	unsigned timeout_s;      /* 0: the usual limit of local work */
	bool batch_ssh;          /* ssh must not prompt; the user's other settings apply */
	const char *const *env;  /* more of the environment, at most 2; NULL */
};
/* Runs git under the gate, without prompts or an editor. Renews the gate meanwhile and ends git
 * when it is lost. Appends its standard output. *status NULL: a status other than 0 is an error;
 * otherwise this returns 0 then, and *err has git's message. */
int gate_git(
	struct gate *g, const struct git_call *c, struct buf *out, int *status, struct error *err);
/* Waits, not at all while the time of day is fixed. -1: ERR_STATE: interrupted, or the gate is
 * lost. */
int gate_pause(struct gate *g, unsigned ms, struct error *err);

#endif
