/*
 * pipeline.h: checks before a pipeline runs: whether its stages can run on the harnesses they name,
 * and which models they use. docs/harness.md, docs/models.md.
 */
#ifndef DT_HARNESS_PIPELINE_H
#define DT_HARNESS_PIPELINE_H

#include "src/config/model.h"
#include "src/harness/chain.h"

/* ---- harnesses ---- */

struct pipeline_note {
	const struct stage_spec *stage;
	bool fault; /* else a warning */
	const char *text;
};

struct pipeline_stage_check {
	const struct stage_spec *stage;
	struct text_list chain; /* its harness and the usable fallbacks */
	struct model_resolved model;
};

struct pipeline_check {
	struct pipeline_stage_check *stages; /* as many as the pipeline has */
	struct {
		struct pipeline_note *items;
		size_t n, cap;
	} notes; /* in the order of the stages */
	size_t n_faults;
};

struct pipeline_question {
	const struct pipeline *pipeline;
	const struct model_registry *registry;
	const struct worktree_pool_spec *pool; /* its plans count too; may be NULL */
	const char *artifacts;                 /* for events; NULL: none are emitted */
	int64_t now;
	/* Replaces harness_available(), for tests. May be NULL. */
	const struct harness_availability *(*available)(const struct harness *h);
};

/*
 * A stage's own harness must be available, have every capability in `requires`, and take the
 * stage's model; else that is a fault. A fallback that does not is dropped with a warning. 0 also
 * with faults; -1: an internal error.
 */
int harness_check_pipeline(struct arena *a, const struct pipeline_question *q,
	struct pipeline_check *out, struct error *err);
/* -1: the first fault, ERR_INPUT with its place in the file. */
int pipeline_check_fault(
	const struct pipeline_check *check, const struct pipeline *p, struct error *err);
/*
 * The model id to pass to a harness; NULL: its own default, since an alias names a model of one
 * vendor only. *fits false: it cannot take this id.
 */
const char *harness_model(const struct harness *h, const struct model_resolved *m, bool *fits);

/* The id for `word`, an alias or an id, without its dates; logs when it is the default instead. -1:
 * ERR_INPUT, it cannot take this id. */
int harness_choose_model(const struct harness *h, const struct model_registry *r, const char *word,
	const char **id, struct error *err);

/* The same as harness_model() for the harness of this name, in a checked chain. */
const char *harness_model_for(const char *name, const struct model_resolved *m);

/* ---- models ---- */

/* Emits the model's events to `dir` (NULL: none). That of the grace period once per removal date.
 */
int harness_emit_model(
	const char *dir, const char *stage, const struct model_resolved *m, struct error *err);

struct model_pin {
	const char *stage;
	struct model_resolved model;
	bool kept; /* the id was pinned when the issue's run began */
};

/*
 * Resolves the model of every stage (out: as many as the pipeline has), emits their events and pins
 * the ids in runtime.json, `models: {STAGE: {alias, modelId, source}}`, of the pipeline and, unless
 * `issue` is NULL, of the issue. An issue's run keeps its pinned ids, except removed ones.
 * q->artifacts NULL: only resolves. -1: also ERR_INPUT with the place of the stage.
 */
int harness_pin_models(struct arena *a, const struct pipeline_question *q, const char *issue,
	struct model_pin **out, struct error *err);

#endif
