/*
 * run_loop.h: steps and serves one work item until it is done. For run.c.
 */
#ifndef DT_RUN_LOOP_H
#define DT_RUN_LOOP_H

#include "src/run/run_jobs.h"
#include "src/run/run_show.h"
#include "src/run/step_run.h"

/* One run: what it is about, and how far it is. The caller fills in the first
 * part. */
struct loop {
	struct step_call call; /* resolved */
	struct script_agents agents;
	struct staff staff;
	struct stage stage;
	unsigned long max; /* actions */

	struct show show;
	unsigned long served;
	const json *array; /* of the last step */
	struct buf line;   /* the same as text; released by loop_go() */
};

/* To the end. Adds the last array, a line. 0: success; ERR_CHECK: it ended
 * failed. After an interrupt the signal is raised again. */
int loop_go(struct loop *l, struct buf *out, struct error *err);

#endif
