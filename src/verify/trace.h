/*
 * trace.h: a path of the graph as a script of agents, which `dev-team run` replays.
 */
#ifndef DT_EXPLORE_TRACE_H
#define DT_EXPLORE_TRACE_H

#include "src/verify/findings.h"

/*
 * Adds the script of finding `number` (from 1). It is played first, from the start, on a stage of
 * its own: -1 (ERR_CHECK) when it does not lead where the graph says.
 */
int trace_write(const struct walk *k, const struct finding *f, size_t number, struct buf *out,
	struct error *err);

#endif
