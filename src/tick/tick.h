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

#define TICK_WORKFLOW "backlog-task"

/* Exit statuses besides 0, actions to carry out. */
enum {
	TICK_IDLE = 6,
	TICK_FINISHED = 7,
	TICK_GATE_FAILED = 8, /* what decides which tasks may start could not be read */
};

struct tick_call {
	const char *repo, *plugin_root; /* NULL: the default places */
	const char *task;               /* id: no other task; NULL: all */
	const char *owner;              /* of the work items; NULL: none */
	bool take_over;
	const char *returned;   /* as of struct run_step_call */
	int64_t max_concurrent; /* items with actions at the same time; 0: 1 */
};

/* The tasks that may be started if the filters let them pass, in their order: the frontier and
 * stacked tasks; or only the task `id` (may be NULL). -1: ERR_INPUT, there is no such task. */
int tick_candidates(
	const struct backlog *b, const char *id, struct task_list *out, struct error *err);

/*
 * Adds the array of actions of all items, in one line without a newline: what is outstanding, or
 * one `done`. *status: 0 or one of the above. Items that have failed are reported in the log. -1:
 * also if an item could not be stepped and there is nothing else to do; with *status
 * TICK_GATE_FAILED: nothing was started, as the gate could not run.
 */
int tick(struct arena *a, const struct tick_call *call, struct buf *out, int *status,
	struct error *err);

/*
 * Adds the open tasks of the backlog to what status_items() found in `dir`: one without a work item
 * is {id, status, state, reason, since, file} with the status `queued`, its state in the backlog
 * and why it waits; a parked one has the status `parked`, also if it has an item. Starts nothing,
 * and asks nobody: the reason is that of the last tick, else of the backlog. -1: the backlog cannot
 * be read.
 */
int tick_add_status(const char *repo, const char *dir, json **items, struct error *err);

#endif
