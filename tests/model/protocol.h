/*
 * protocol.h: the protocol of dispatch, record and take-over, model-checked: two loops, A and B, on
 * one work item, in every order of what they can do, with a crash at each point where a call
 * changes the disk, to a depth. Not a drawing of the protocol: each move is the real function on a
 * disk in memory. tests/model/README.md says what is merged and what is checked.
 */
#ifndef DT_PROTOCOL_H
#define DT_PROTOCOL_H

#include "src/verify/simulator.h"
#include "tests/model/sim_disk.h"

struct protocol_plan {
	unsigned depth;   /* moves */
	unsigned crashes; /* at most so many of them stop the machine */
	void (*sabotage)(struct simulator *s, unsigned call); /* as in simulate.h */
};

struct protocol_sums {
	uint64_t states, moves, merged; /* merged: moves that led to a state that was there */
	uint64_t crashes, progress;     /* progress: calls that were made to show a way on */
	int64_t ms;
	char fault[512]; /* the promise that was broken; "": none */
};

/* Stops at the first promise that is broken; its moves go to `trace`. -1: ERR_INPUT, ERR_SYSTEM. */
int protocol_check(const struct protocol_plan *plan, struct protocol_sums *sums, struct buf *trace,
	struct error *err);

#endif
