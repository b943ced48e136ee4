/*
 * brief.h: all that the agent of one action needs, as one text, so that the loop hands it only a
 * file and an id.
 */
#ifndef DT_BRIEF_H
#define DT_BRIEF_H

#include "src/machine/actions.h"

/* -1: ERR_STATE when `id` is not outstanding, ERR_INPUT when it is a script's. */
int brief_write(const struct context_file *f, const char *id, struct buf *out, struct error *err);

#endif
