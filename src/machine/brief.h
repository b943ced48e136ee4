/*
 * brief.h: all that the agent of one action needs, as one text, so that the loop hands it only a
 * file and an id.
 */
#ifndef DT_BRIEF_H
#define DT_BRIEF_H

#include "src/machine/actions.h"
#include "src/machine/instructions.h"

/* -1: ERR_STATE when `id` is not outstanding, ERR_INPUT when it is a script's. */
int brief_write(const struct context_file *f, const char *id, struct buf *out, struct error *err);

/*
 * The same as one prompt for an agent that has no plugin: who it is and its skill stand in it, and
 * its last message is the answer; there is nothing to record. `role` and `skill` may be empty.
 */
int brief_prompt(const struct context_file *f, const char *id, const struct instructions *role,
	const struct instructions *skill, struct buf *out, struct error *err);

#endif
