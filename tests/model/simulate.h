/*
 * simulate.h: many work items played to their ends over the real engine and the real store, on a
 * disk and a clock in memory, with outcomes and faults that a seed decides; after each call the
 * audit (simulate_audit.h) looks at what is on the disk. tests/model/README.md.
 */
#ifndef DT_SIMULATE_H
#define DT_SIMULATE_H

#include "src/verify/simulator.h"
#include "tests/model/sim_disk.h"

enum simulate_fault {
	FAULT_KILL,     /* the process, at a call to the disk */
	FAULT_POWER,    /* the machine, at a call to the disk */
	FAULT_BLACKOUT, /* the machine, between two calls of the program */
	FAULT_EIO,
	FAULT_ENOSPC,
	FAULT_HALF,   /* an error, and yet it was done, or half of it */
	FAULT_CLOCK,  /* jumps, also back */
	FAULT_EFFECT, /* git, gh, the search for the spec */
	FAULT_EDIT,   /* by hand, good */
	FAULT_BREAK,  /* by hand, broken */
	FAULT_REMOVE, /* the document, by hand */
	FAULT_SECOND, /* another loop steps */
	FAULT_TAKE_OVER,
	FAULT_SILENT, /* answers... */
	FAULT_MALFORMED,
	FAULT_LATE,
	FAULT_TWICE,
	FAULT_FOREIGN, /* by one who does not hold the work item, or to an action that never was */
	FAULT_KINDS,
};

enum simulate_end { END_SUCCESS, END_FAILED, END_LIMIT, END_KINDS };

extern const char *const simulate_fault_names[FAULT_KINDS], *const simulate_end_names[END_KINDS];

struct simulate_sums {
	uint64_t runs, calls, actions, answers, refused;
	uint64_t faults[FAULT_KINDS], ends[END_KINDS];
	uint64_t broken;      /* runs in which a promise was broken */
	uint64_t broken_seed; /* the lowest of them */
	char fault[512];      /* what was broken there */
	int64_t ms;
};

struct simulate_plan {
	const struct workflow *workflow;
	uint64_t seed; /* of the first run; the next has the next */
	uint64_t runs;
	unsigned jobs;        /* processes */
	unsigned max_actions; /* then it is brought to its end without faults */
	/* For tests alone: what a broken program would do. Called before the first call of a run
	 * and after each; `call` counts from 0. May be NULL. */
	void (*sabotage)(struct simulator *s, unsigned call);
};

/*
 * Plays them; stops at the first that breaks a promise. Its trace, in lines, goes to `trace`. 0
 * also then; -1: ERR_SYSTEM.
 */
int simulate(const struct simulate_plan *plan, struct simulate_sums *sums, struct buf *trace,
	struct error *err);

#endif
