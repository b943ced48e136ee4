/*
 * load.h: whether the stages of a pipeline can run on the harnesses that they name, asked once,
 * before anything runs. docs/harness.md.
 *
 * A stage's own harness must be there, do all that `requires` asks for, and drive its model. A
 * fallback of which that is not so is left out, and a warning says so.
 */
#ifndef DT_LOAD_H
#define DT_LOAD_H

#include "src/harness/chain.h"
#include "src/config/models.h"

struct load_note {
	const struct stage_spec *stage;
	bool fault; /* else a warning */
	const char *text;
};

struct load_stage {
	const struct stage_spec *stage;
	struct words chain; /* its harness and the fallbacks that are left */
	struct model_resolved model;
};

struct load {
	struct load_stage *stages; /* as many as the pipeline has */
	struct load_note *notes;   /* in the order of the stages */
	size_t n_notes, n_faults;
};

struct load_question {
	const struct pipeline *pipeline;
	const struct model_registry *registry;
	const struct worktree_pool_spec *pool; /* whose plans count beside its own; may be NULL */
	const char *artifacts;                 /* for the events; NULL: none are told */
	int64_t now;
	/* In place of harness_available(), for tests; NULL: that. */
	const struct availability *(*available)(const struct harness *h);
};

/* 0 also with faults; -1: faults of our own side. */
int harness_check_pipeline(
	struct arena *a, const struct load_question *q, struct load *out, struct error *err);
/* -1, ERR_INPUT with FILE:LINE:COL, of the first fault; 0: there is none. */
int load_need(const struct load *l, const struct pipeline *p, struct error *err);

/*
 * What a harness is asked for where a stage has this model: the id; NULL: its own default, for an
 * alias is a name of one vendor's models, and means no other's. *fits false: an id that it cannot
 * be asked for.
 */
const char *harness_model(const struct harness *h, const struct model_resolved *m, bool *fits);
/* Whether `h` has the capability in full; partly, or depending on something, is not enough. */
bool harness_has(const struct harness *h, const char *capability);

#endif
