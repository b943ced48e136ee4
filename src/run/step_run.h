/*
 * step_run.h: one step of a work item from what a command line says; `step` and `run` share it.
 */
#ifndef DT_STEP_RUN_H
#define DT_STEP_RUN_H

#include "src/run/locate.h"

struct step_call {
	const char *id, *workflow, *context_file, *research_skill, *root,
		*repo; /* NULL: find out */
	bool returned;
	const char *returned_id; /* NULL: not said */
	const char *owner;       /* NULL: not said */
	bool take_over;
	const char *const *results; /* `ACTION=TEXT` */
	size_t n_results;
	bool quiet;
	bool agents_are_paid; /* so a run that cannot be validated is warned of at its start */
};

/* Fills in what was NULL: absolute paths. -1: also when the owner is no good. */
int step_resolve(struct arena *a, struct step_call *call, struct error *err);
/* Runs it; the call must be resolved. Adds the array, one line without a newline. */
int step_run(struct arena *a, const struct step_call *call, struct buf *out, struct error *err);
/* Nobody holds the work item any more, if it was call->owner. Best effort. */
void step_give_back(const struct step_call *call);

#endif
