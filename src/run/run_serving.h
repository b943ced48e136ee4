/*
 * run_serving.h: one action on its way through a harness: chosen in run_staff.c, called in
 * run_call.c, kept alive and told of in run_told.c. For these alone.
 */
#ifndef DT_RUN_SERVING_H
#define DT_RUN_SERVING_H

#include "src/run/run_staff.h"
#include "src/machine/brief.h"
#include "src/merge/gate.h"

struct serving {
	const struct staff *staff;
	const json *action;
	const char *id, *stage; /* stage: the name that it has in the pipeline, or of its state */
	const struct stage_spec
		*spec; /* NULL: the pipeline has none for it, or there is no pipeline */
	struct model_resolved model;
	struct chain chain;
	int64_t beaten;    /* when state.json was written last */
	struct gate *gate; /* NULL: the stage needs none */
	struct arena *arena;
};

/* Runs the chosen chain, has the artifact settled, says what became of it. */
int serving_call(struct serving *s, struct buf *prompt, const struct instructions *role, int cancel,
	struct served *out, struct error *err);
/* Seconds that the action may take. */
unsigned serving_timeout(const struct serving *s);
/* A harness_listener: heartbeats into state.json, the lease of the work item, the gate. */
void serving_listen(void *data, const struct harness_event *e);
/* What it came to: runtime.json, events, the note for the work item, the answer. `h` NULL: none of
 * the chain could be used, -1. */
int serving_ended(struct serving *s, const struct harness *h, const struct harness_result *r,
	struct str text, struct served *out, struct error *err);

#endif
