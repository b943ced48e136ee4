/*
 * memory.h: what a tick remembers for the next one: why tasks were not started, how often they
 * failed, and which of them are parked. A document beside the work items, `.tick.json`, replaced
 * at the end of each tick, and before a task is started, under the lock that keeps ticks apart.
 * docs/backlog.md.
 *
 *     {"tick": 7, "idle": 0, "gateFailures": 0, "tasks": {"X-1": {
 *         "filter": "Blocked", "reason": "...", "since": TIME, "rejected": 3,
 *         "failures": 5, "ends": 0, "failure": "...", "parked": TIME, "ended": "...",
 *         "endedAt": TIME, "requeues": 1, "pull": "merged", "released": TIME,
 *         "readied": TIME, "start": {"trace": []}}}}
 */
#ifndef DT_TICK_MEMORY_H
#define DT_TICK_MEMORY_H

#include "src/tick/admission.h"

enum {
	TICK_FAILURES_MAX = 5, /* of steps in a row; then a task is parked */
	TICK_ENDS_MAX = 3,     /* of its work item, however often that was retried */
	TICK_STUCK = 5,        /* a task that was rejected more often in a row is reported */
	TICK_COUNT_MAX = 1000000,
};

struct tick_memory {
	struct arena *arena;
	const char *path, *artifacts; /* the document; the directory of the events */
	json *all;
	struct disk_lock *lock;
	int64_t tick; /* the number of this one; from 1 */
	bool news;    /* a task was rejected that was no candidate before */
};

/* Takes the lock of the repository's ticks and reads the document. `items`: the directory of the
 * work items. -1: ERR_STATE (the lock, or the document is of another form), ERR_SYSTEM. */
int tick_memory_open(struct arena *a, const char *repo, const char *items, struct tick_memory *m,
	struct error *err);
/* The same for a change that is no tick; with the backlog and the directory of the items. */
int tick_memory_edit(struct arena *a, const char *repo, struct backlog *b, struct tick_memory *m,
	const char **items, struct error *err);
/* The same without the lock, for readers. */
int tick_memory_look(struct arena *a, const char *items, struct tick_memory *m, struct error *err);
/* Replaces the document. */
int tick_memory_save(struct tick_memory *m, struct error *err);
void tick_memory_close(struct tick_memory *m); /* for CLEANUP */

/* Adds 1 and returns the sum. */
int64_t tick_memory_count(json *of, const char *key);
/* Of a task: made by tick_memory_of(); NULL of tick_memory_find() if nothing is remembered. */
json *tick_memory_of(struct tick_memory *m, const struct task *t);
const json *tick_memory_find(const struct tick_memory *m, const struct task *t);
/* Of the work item of a task. */
const char *tick_memory_document(const struct tick_memory *m, const char *id);
/* Why it is parked; NULL: it is not, or its item was the reason and has been retried. */
const char *tick_memory_parked(const struct tick_memory *m, const struct task *t);
/* The time before which it is not tried again; NULL: that is over. */
const char *tick_memory_until(const struct tick_memory *m, const struct task *t);
/* Which of both keeps it from being started; NULL: none. */
const char *tick_memory_hold(const struct tick_memory *m, const struct task *t);
/* Gives tasks that have begun, and those whose id cannot be read, the id that is remembered. */
void tick_memory_name(const struct tick_memory *m, struct backlog *b);

/* A filter does not let it start: the event if the reason is new, and once if it is stuck. */
void tick_memory_reject(struct tick_memory *m, const struct admission *d);
/* Before it is started, so that a kill loses no event: what the event will tell, as `start`. */
int tick_memory_begin(struct tick_memory *m, const struct admission *d, struct error *err);
/* It was started: the event. */
void tick_memory_dispatch(struct tick_memory *m, const struct task *t);
enum tick_failure { TICK_STEP_FAILED, TICK_ITEM_FAILED, TICK_HOPELESS }; /* flags */
/* Counts it, and parks the task if that was too often, or is hopeless. `mode`: for the event. */
void tick_memory_fail(struct tick_memory *m, const struct task *t, const char *mode,
	const char *reason, unsigned what);
/* It waits for a person. */
void tick_memory_park(
	struct tick_memory *m, const struct task *t, const char *reason, int64_t failures);
/* Whether its item was the reason to park it. */
bool tick_memory_parked_item(const struct tick_memory *m, const struct task *t);
void tick_memory_forget_failures(struct tick_memory *m, const struct task *t);
/* A step of it succeeded. */
void tick_memory_succeed(struct tick_memory *m, const struct task *t);
/* Whether the end of its item is new; `reason` names it. */
bool tick_memory_end(struct tick_memory *m, const struct task *t, const char *reason);
/* Counts a tick that had nothing to do; `rejected`: candidates. The streak ends with one that had,
 * and with a candidate that is new. */
void tick_memory_idle(struct tick_memory *m, bool idle, size_t rejected);
/* Whether neither a work item nor a file of the task is there. A file whose id cannot be read may
 * be that of any task. */
bool tick_memory_is_gone(const struct tick_memory *m, const struct backlog *b, const char *id);
/* Forgets tasks that are gone, and the rejections of those that are no candidates. */
void tick_memory_sweep(struct tick_memory *m, const struct backlog *b);

/* Adds `tick` to the fields, which are taken. What cannot be written is logged. */
void tick_memory_report(
	struct tick_memory *m, enum event_id id, const struct task *t, json *fields);

/* Why a task that was not started waits, as the backlog says. */
const char *tick_waiting_reason(struct backlog *b, const struct task *t);

/* Forgets the failures of a task; NULL: of all. *n: how many were parked. */
int tick_release(struct arena *a, const char *repo, const char *task, size_t *n, struct error *err);

#endif
