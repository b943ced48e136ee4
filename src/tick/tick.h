/*
 * tick.h: one step of the backlog: of all work items of its tasks, and the first step of tasks that
 * are admitted now. docs/backlog.md.
 *
 * Nothing is recorded besides the work items. The item of a task has its id and the workflow
 * TICK_WORKFLOW; it is made, or found again, by that id, so a tick that was killed is repeated by
 * the next one.
 */
#ifndef DT_TICK_H
#define DT_TICK_H

#include "src/backlog/backlog.h"

#define TICK_WORKFLOW "backlog-task"

/* Exit statuses besides 0, actions to carry out. */
enum { TICK_IDLE = 6, TICK_FINISHED = 7 };

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
 * also if an item could not be stepped and there is nothing else to do.
 */
int tick(struct arena *a, const struct tick_call *call, struct buf *out, int *status,
	struct error *err);

#endif
