/*
 * gate_internal.h: the gate's record in the store, who is where, and the end of a holder. For the
 * files of the gate alone.
 *
 * gate/DIGEST of the pool's directory is never deleted: without a holder it keeps the last fence.
 */
#ifndef DT_GATE_INTERNAL_H
#define DT_GATE_INTERNAL_H

#include "src/merge/gate.h"

/* A process, for as long as the machine runs. */
struct gate_place {
	const char *host, *boot;
	const char *space; /* of process numbers: another container's mean nothing here */
	pid_t pid;
	uint64_t start;
};
int gate_place(struct arena *a, struct gate_place *out, struct error *err);
bool gate_process_lives(pid_t pid, uint64_t start);

struct gate_record {
	int64_t fence; /* the holder's, else the last one's */
	bool held, evicting;
	const char *hold; /* unlike that of any other hold */
	const char *who;
	struct gate_place at;
	int ttl_s;
	int64_t since, until; /* seconds since 1970, for people and other machines */
	int64_t until_ticks;  /* the same by the clock of this boot, which nobody can set */
	int64_t mod;          /* 0: there is no record */
};
char *gate_key(struct arena *a, const struct pool *p);
int gate_read(struct arena *a, struct pool *p, struct gate_record *out, struct error *err);
/* Only when the record is still the one of `mod`: else *lost. */
int gate_put(struct arena *a, struct pool *p, const struct gate_record *r, int64_t mod, bool *lost,
	struct error *err);

/* Locked in the directory of the pool, beside the record. */
char *gate_lock_path(struct arena *a, const struct pool *p);
/* *who: of somebody who has the lock and no record here; NULL: nobody. */
int gate_elsewhere(struct arena *a, struct pool *p, const char **who, struct error *err);

/* The holder for people: 'who', process N on HOST ... */
void gate_say_holder(struct buf *b, const struct gate_record *r);

enum gate_view {
	GATE_FREE,
	GATE_HELD,
	GATE_DEAD, /* the holder's process is gone; what it started may not be */
	GATE_OVER, /* its lease is over, and it lives: to be ended first */
	GATE_AWAY, /* somewhere else, and its lease is over */
};
enum gate_view gate_look(const struct gate_record *r, const struct gate_place *self);

/* Ends the holder and all that belongs to its hold; 0 when none is left. */
int gate_end(const struct gate_record *r, const struct gate_place *self, struct error *err);

struct disk_lock;
struct gate {
	struct arena *a;
	struct pool *p;
	struct gate_place self;
	struct gate_record r;
	const char *env[3]; /* DEV_TEAM_GATE_FENCE, DEV_TEAM_GATE_HOLD */
	struct disk_lock *lock;
	bool borrowed, lost;
	int cancel;            /* descriptor of gate_cancel_on(); 0: none */
	int64_t seen, seen_at; /* revision of the record last seen, and since when */
};
/* Ends the processes of the hold, with the record marked first, so that it cannot be renewed. 0
 * with *gone true: the record is *r, and nothing of it is left. *gone false: it changed meanwhile.
 */
int gate_evict(struct arena *a, struct pool *p, const struct gate_place *self,
	struct gate_record *r, bool *gone, struct error *err);

/* How often a holder renews its lease, and so finds out that it is lost. */
int gate_round_ms(const struct gate *g);

/* A renewal that could not be made now is no loss while the lease runs. */
bool gate_alive(struct gate *g, struct error *err);

struct git_call {
	const char *cwd;
	const char *const *argv; /* with "git" */
	const char *name;        /* for people */
	unsigned timeout_s;      /* 0: the usual one of local work */
	bool batch_ssh;          /* ssh must not ask; what the user has set for it stays */
	const char *const *env;  /* more of the environment, at most 2; NULL */
};
/* git under the gate: no prompt, no editor, the gate renewed meanwhile, ended when it is lost.
 * Adds what it
 * wrote to standard output. *status NULL: anything but 0 is an error; else *err has its words then,
 * and this is 0. */
int gate_git(
	struct gate *g, const struct git_call *c, struct buf *out, int *status, struct error *err);

#endif
