/*
 * simulate_play.h: one run of the simulation: what its files share, and nobody else.
 */
#ifndef DT_SIMULATE_PLAY_H
#define DT_SIMULATE_PLAY_H

#include "src/sys/digest.h"
#include "tests/model/simulate.h"
#include "tests/model/simulate_audit.h"
#include "tests/model/simulate_dice.h"

enum { MAX_KEPT = 16, MAX_FLIGHTS = 48, WORD_MAX = 64, TURNS_TO_END = 300 };

/* How likely what is in this run, in a thousand. Most are 0 in most runs: a fault that comes alone
 * is seen where many would hide one another. */
struct odds {
	unsigned disk, blackout, clock, effect, edit, second, take_over;
	unsigned silent, malformed, late, twice, foreign, bad_word;
};

/* Somebody who steps. */
struct loop {
	const char *owner;     /* NULL: no name */
	char last[AUDIT_NAME]; /* first action of the last array; "": none */
};

/* What the program said that it keeps. */
struct kept {
	char path[512];
	char sum[DIGEST_TEXT];
};

/* An answer that is under way, or has come: it may come again. */
struct flight {
	char id[AUDIT_NAME], word[WORD_MAX]; /* word "": not given beside the text */
	const char *owner;
	struct buf text;
	bool fit; /* nothing is wrong with it */
	bool sent;
	unsigned due; /* turn */
};

struct play {
	const struct simulate_plan *plan;
	struct simulate_sums *sums;
	struct buf *trace; /* NULL: nobody looks */
	uint64_t seed;
	struct dice dice;
	struct odds odds;
	bool fair; /* from now on all goes well */
	struct simulator *simulator;
	struct audit audit;
	char *journal; /* path */
	struct loop loops[2];
	struct flight flights[MAX_FLIGHTS];
	unsigned n_flights, oldest;
	char running[AUDIT_NAME]; /* script that is at work */
	unsigned turn, calls, texts;
	/* of the call that was made last */
	unsigned fault_at, calls_before;
	enum sim_fault fault;
	bool fired, stopped;
	/* protocol.c alone: the next call is stopped there */
	unsigned crash_at;
	unsigned crash_power; /* 0: the process alone dies; else the seed of what is lost */
	bool crashed;         /* since then the power has not failed */
	/* the lease: alive before `sure`, over after `maybe` */
	int64_t ttl, sure, maybe;
	uint64_t fence;             /* whose */
	bool broken_by_hand;        /* the document; a person must mend it first */
	struct kept kept[MAX_KEPT]; /* texts of refused answers */
	unsigned n_kept;
	struct buf earlier; /* a version of the document that a person may put back */
	struct buf said;    /* scratch: a call and what came of it, for the trace */
};

/* simulate_play.c: the work item that it is about, on an empty disk. */
void run_begin(struct play *p);
void run_end(struct play *p);
/* Plays the run of a seed; false when a promise was broken (audit.fault). */
bool play(const struct simulate_plan *plan, uint64_t seed, struct simulate_sums *sums,
	struct buf *trace, char fault[AUDIT_FAULT]);

/* simulate_call.c: one invocation each, with the faults that are due, and what must hold after it.
 * 0, or -1 when it failed or its process did not live to say. */
int call_step(struct play *p, const struct loop *loop, const struct simulator_call *how,
	json **actions, struct error *err);
int call_record(struct play *p, struct flight *f, struct error *err);
int call_set(struct play *p, const char *key, const char *value, struct error *err);
/* A person puts the last good document back. */
int call_restore(struct play *p, struct error *err);

/* simulate_answers.c */
/* The answer of an agent to `action`; NULL: it is silent, or it has none that is due. */
struct flight *answer_new(struct play *p, const json *action, const char *owner);

/* simulate_world.c: what happens between calls. */
void world_now(struct play *p); /* what the next step meets outside */
void world_clock(struct play *p);
void world_edit(struct play *p);
void world_blackout(struct play *p);

/* simulate_trace.c */
void trace_call(struct play *p, const char *result);
void trace_note(struct play *p, const char *fmt, ...) PRINTF(2, 3);
void trace_actions(struct buf *out, const json *actions);
void trace_text(struct buf *out, struct str text);

static inline void count_fault(struct play *p, enum simulate_fault kind)
{
	p->sums->faults[kind]++;
}

#endif
