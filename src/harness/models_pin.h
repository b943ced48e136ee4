/*
 * models_pin.h: the models that a run uses: their events, and the ids that are pinned for an issue.
 */
#ifndef DT_MODELS_PIN_H
#define DT_MODELS_PIN_H

#include "src/config/models.h"
#include "src/event/event.h"

/* The events of it, to `dir`. The grace period's once a run: pinned in runtime.json. */
int model_tell(
	const char *dir, const char *stage, const struct model_resolved *m, struct error *err);

struct model_pin {
	const char *stage;
	struct model_resolved model;
	bool kept; /* the id is the one that the issue's run began with */
};

/*
 * Resolves the model of every stage (out: as many as p->n_stages), tells the events and pins the
 * ids: `models: {STAGE: {alias, modelId, source}}` of runtime.json, of the pipeline and, unless
 * `issue` is NULL, of the issue. What an issue has pinned stays: a run ends on the models that it
 * began with, unless one was removed. `dir` NULL: only resolves. -1: also ERR_INPUT with the place
 * of the stage.
 */
int models_pin(struct arena *a, const struct model_registry *r, const struct pipeline *p,
	const char *dir, const char *issue, int64_t now, struct model_pin **out, struct error *err);
/* The id that a stage of an issue has pinned, else the pipeline's; *id NULL: none. */
int model_pinned(struct arena *a, const char *dir, const char *issue, const char *stage,
	const char **id, struct error *err);

#endif
