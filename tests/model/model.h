/*
 * model.h: two ways to look for states that must never occur. Both run the real engine and store on
 * a simulated disk and clock, and audit.h checks the disk after each call. README.md.
 */
#ifndef DT_MODEL_H
#define DT_MODEL_H

#include "src/verify/simulator.h"
#include "tests/model/sim_disk.h"

/* ---- random work items with random faults, each determined by a seed ---- */

enum simulate_fault {
	FAULT_KILL,      /* the process stops at a disk call */
	FAULT_POWER,     /* the machine stops at a disk call */
	FAULT_POWER_CUT, /* the machine stops between two invocations */
	FAULT_EIO,
	FAULT_ENOSPC,
	FAULT_HALF,   /* an error after it took effect in whole or in part */
	FAULT_CLOCK,  /* jumps ahead or back */
	FAULT_EFFECT, /* git, gh, the search for the spec */
	FAULT_EDIT,   /* a readable edit by hand */
	FAULT_BREAK,  /* an unreadable one */
	FAULT_REMOVE, /* the document is deleted by hand */
	FAULT_SECOND, /* another loop steps */
	FAULT_TAKE_OVER,
	FAULT_SILENT, /* from here on of answers */
	FAULT_MALFORMED,
	FAULT_LATE,
	FAULT_TWICE,
	FAULT_FOREIGN, /* from another owner, or to an unknown action */
	FAULT_KINDS,
};

enum simulate_end { END_SUCCESS, END_FAILED, END_LIMIT, END_KINDS };

extern const char *const simulate_fault_names[FAULT_KINDS], *const simulate_end_names[END_KINDS];

struct simulate_counts {
	uint64_t runs, calls, actions, answers, refused;
	uint64_t faults[FAULT_KINDS], ends[END_KINDS];
	uint64_t failed;      /* runs with a failed check */
	uint64_t failed_seed; /* the lowest of their seeds */
	char fault[512];      /* the check that failed there */
	int64_t ms;
};

struct simulate_plan {
	const struct workflow *workflow;
	uint64_t seed; /* of the first run; run i has seed + i */
	uint64_t runs;
	unsigned jobs;        /* processes */
	unsigned max_actions; /* from then on no faults are injected */
	/* For tests: plants a fault. Called before the first invocation of a run and after each;
	 * `call` counts from 0. May be NULL. */
	void (*plant_fault)(struct simulator *s, unsigned call);
};

/*
 * Makes the runs and stops at the first with a failed check, whose trace is added to `trace`. 0
 * also then; -1: ERR_SYSTEM.
 */
int simulate(const struct simulate_plan *plan, struct simulate_counts *counts, struct buf *trace,
	struct error *err);

/* ---- two loops, A and B, on one work item: every order of their calls, with a crash at each disk
 * call ---- */

struct protocol_plan {
	unsigned depth;   /* transitions */
	unsigned crashes; /* how many of them may stop the machine */
	void (*plant_fault)(struct simulator *s, unsigned call); /* as above */
};

struct protocol_counts {
	uint64_t states, transitions, known; /* known: to a state that was reached before */
	uint64_t crashes, progress;          /* progress: calls made to reach the end */
	int64_t ms;
	char fault[512]; /* the check that failed; "": none */
};

/* Stops at the first failed check, whose path is added to `trace`. -1: ERR_INPUT, ERR_SYSTEM. */
int protocol_check(const struct protocol_plan *plan, struct protocol_counts *counts,
	struct buf *trace, struct error *err);

#endif
