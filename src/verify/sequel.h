/*
 * sequel.h: what the next step makes of a stage, so that two of them can be compared. For the
 * files of this room alone.
 */
#ifndef DT_EXPLORE_SEQUEL_H
#define DT_EXPLORE_SEQUEL_H

#include "src/verify/walk.h"

enum sequel_part { SEQUEL_STATE, SEQUEL_PRINTED, SEQUEL_DISPATCHED, SEQUEL_TEXTS, SEQUEL_ALL };

struct sequel {
	const char *part[SEQUEL_ALL]; /* of a step that fails its message, and "" */
	const char *twice;            /* an action that was dispatched more than once; NULL: none */
};

/* Makes the step, in a world where nothing fails. */
void sequel_of(struct arena *a, struct play *p, const struct stage_call *call, struct sequel *out);
/* The part in which they differ; SEQUEL_ALL: in none. */
enum sequel_part sequel_differs(const struct sequel *a, const struct sequel *b);
extern const char *const sequel_names[SEQUEL_ALL];

#endif
