/*
 * agent_runs.h: what a harness did for an action, as the event `agent_run` of the work item: which
 * harness and model really ran, how it ended, what it took. docs/events.md.
 */
#ifndef DT_AGENT_RUNS_H
#define DT_AGENT_RUNS_H

#include "context/file.h"

#define AGENT_RUN "agent_run"

/* Goes into the journal with what is saved or logged next. `members` (an object) is borrowed; seq,
 * rev, ts and type in it are left out. */
void agent_run_note(struct context_file *f, const json *members);

#endif
