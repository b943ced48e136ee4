/*
 * recorded.h: the world as an operation met it when it was done: what the journal says that came in
 * from outside then. What it does not say fails, as it would at a kill.
 */
#ifndef DT_RECORDED_H
#define DT_RECORDED_H

#include "src/machine/engine.h"

/* `f` must outlive it; f->replay is what was recorded. */
void environment_recorded(struct environment *w, struct context_file *f);

#endif
