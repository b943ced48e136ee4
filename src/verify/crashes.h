/*
 * crashes.h: the machine stops in the midst of one call of the program, and what the next call
 * makes of it. For the files of this room alone.
 */
#ifndef DT_EXPLORE_CRASHES_H
#define DT_EXPLORE_CRASHES_H

#include "src/verify/walk.h"

/* One call: of `record` when there is an action, of `context set` when there is a key, else of
 * `step`. It meets the stage's world as it is. */
struct deed {
	const char *what; /* for people */
	const json *action;
	const struct form *form;
	const char *key, *value;
	struct stage_call step; /* its owner is also who records */
	struct stage_call next; /* the step that comes then, whether the machine stopped or not */
	const struct offer *offers; /* recorded on the way to it, for the trace */
	size_t n_offers;
};

/* The machine stops at each call to the disk of the deed: before it, in its midst and after it,
 * with what was not durable lost or not. */
void crash_deed(struct walk *k, uint32_t node, const struct stage *at, const struct deed *deed);

/* As the program would do it. -1 as the verb fails. */
int deed_do(struct play *p, const struct deed *deed, struct error *err);

struct take_over {
	uint32_t node;
	const struct form *good; /* of the first action that is not answered yet */
	bool crashes;            /* the machine stops, too */
	const struct offer *offers;
	size_t n_offers;
};

/* takeover.c: one holds the work item as it is `at`, and another takes it over. */
void check_take_over(struct walk *k, const struct stage *at, const struct take_over *t);

#endif
