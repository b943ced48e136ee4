/*
 * tick.h: one step of the backlog: of all work items of its tasks, and the first step of tasks that
 * are admitted now. docs/backlog.md.
 *
 * The item of a task has its id and the workflow TICK_WORKFLOW; it is made, or found again, by that
 * id, so a tick that was killed is repeated by the next one. Besides the items there are counters
 * (memory.h).
 */
#ifndef DT_TICK_H
#define DT_TICK_H

#include "src/backlog/backlog.h"
#include "src/run/run.h"

#define TICK_WORKFLOW "backlog-task"

/* Exit statuses besides 0, actions to carry out. */
enum {
	TICK_IDLE = 6,
	TICK_FINISHED = 7,
	TICK_GATE_FAILED = 8, /* what decides which tasks may start could not be read */
};

enum tick_mode {
	TICK_CARRY_OUT, /* the caller carries out what is printed */
	TICK_QUEUE,     /* nobody does: requests are put on the board (board.h) */
	TICK_POLL,      /* only of tasks whose requests on the board are approved */
};

struct tick_call {
	enum tick_mode mode;
	const char *repo, *plugin_root; /* NULL: the default places */
	const char *task;               /* ids, separated by commas: no other task; NULL: all */
	const char *owner;              /* of the work items; NULL: none */
	bool take_over;
	bool new_session;     /* as of struct run_step_call */
	const char *returned; /* as of struct run_step_call */
	/* Items with actions at the same time; TICK_QUEUE: tasks on the board; TICK_POLL: that the
	 * caller works on. 0: 1; TICK_QUEUE: BOARD_TASKS. */
	int64_t max_concurrent;
	const char *result; /* file whose result is recorded first; "": the default; NULL: none */
	const struct run_step_call *like; /* of a run_next; NULL: the caller carries out */
	bool *passed;                     /* set: neither call nor gate has a fault; or NULL */
};

/* -1: ERR_STATE, AI_SDLC_AUTONOMOUS_ORCHESTRATOR is off. */
int tick_check_enabled(struct error *err);

/* The tasks that may be started if the filters let them pass, in their order: the frontier and
 * stacked tasks; or only the tasks `id` (as of struct tick_call). -1: ERR_INPUT, there is no such
 * task. */
int tick_candidates(
	const struct backlog *b, const char *id, struct task_list *out, struct error *err);

/*
 * Adds the array of actions of all items, in one line without a newline: what is outstanding, or
 * one `done`. *status: 0 or one of the above. Items that have failed are reported in the log. -1:
 * also if an item could not be stepped and there is nothing else to do; with *status
 * TICK_GATE_FAILED: nothing was started, as the gate could not run. What is wrong with the call is
 * refused before any item is touched.
 */
int tick(struct arena *a, const struct tick_call *call, struct buf *out, int *status,
	struct error *err);

/* ---- the unattended loop (start.c) ---- */

enum { TICK_INTERVAL_S = 30, TICK_INTERVAL_MAX_S = 300 };

struct tick_start_call {
	struct run_request request; /* first: the agents */
	struct tick_call tick;
	const char *spawner; /* harness, api-key, mock; NULL: as tick_spawner() says */
	int64_t max_ticks;   /* 0: no limit */
	int64_t interval_s;  /* between two ticks, at least */
	bool until_idle;     /* end also when something fails, or only a person can make it go on */
};

/* Unless *spawner is set: that of AI_SDLC_ORCHESTRATOR_SPAWNER, else `otherwise`. -1: ERR_USAGE,
 * the variable has another word. */
int tick_spawner(const char *otherwise, const char **spawner, struct error *err);
/* Seconds until the next tick after so many that have changed nothing: `base`, then twice as many
 * each time, at most 300. */
int64_t tick_interval(int64_t base, int64_t idle);

/*
 * Ticks and carries out the actions, until all tasks are finished or `max_ticks` were made; waits
 * while there is nothing to do. With the spawner `harness` the API keys of all harnesses are
 * removed from the environment of this process. What fails after a tick has passed its gate is
 * logged and tried again. Adds the last array if nothing was to be carried out. *status: of the
 * last tick, 0 if all are finished. -1: also if the first ticks did not pass; ERR_STATE: as
 * tick_check_enabled(), `spawner-unavailable`, or another loop works on the backlog.
 */
int tick_start(struct arena *a, struct tick_start_call *c, struct buf *out, int *status,
	struct error *err);

#endif
