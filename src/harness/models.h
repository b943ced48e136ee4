/*
 * models.h: aliases of models and the ids behind them, with the dates of their end. The registry is
 * data: models.yaml, built in; a project may bring its own. docs/models.md.
 */
#ifndef DT_MODELS_H
#define DT_MODELS_H

#include "src/artifact/happening.h"

#define DEFAULT_MODEL "sonnet"

struct model_entry {
	const char *alias, *id;
	int64_t deprecated, removed; /* seconds since 1970; 0: not */
	const char *replacement;     /* alias; NULL: none */
	const char *use;             /* what it is good for; may be NULL */
};

struct model_registry {
	struct model_entry *list;
	size_t n;
};

/* `file` NULL: the one that is built in. -1: ERR_INPUT with place: a deprecated entry without a
 * replacement, an unknown replacement, an alias twice, removed before deprecated ... */
int models_load(struct arena *a, const char *file, struct model_registry *out, struct error *err);

struct model_resolved {
	const char *asked; /* what the chain gave: alias or id */
	const char *id;
	const char *source; /* "stage", "pipeline" or "default" */
	bool alias;         /* false: an explicit id, passed through */
	bool deprecated, grace;
	const struct model_entry *entry; /* NULL unless alias */
};

/*
 * Stage.model unless NULL or `inherit`, else the pipeline's default, else DEFAULT_MODEL. What is no
 * alias but has the form of an id (a letter or digit, then letters, digits and `._:/-[]`, with a
 * digit or `-` in it) passes; other words: ERR_INPUT, unknown alias. Past its removal: ERR_STATE,
 * ModelRemoved.
 */
int model_resolve(const struct model_registry *r, const char *stage_model,
	const char *pipeline_model, int64_t now, struct model_resolved *out, struct error *err);
/* The events of it, to `dir`. The grace period's once a run: pinned in runtime.json. */
int model_tell(
	const char *dir, const char *stage, const struct model_resolved *m, struct error *err);

#endif
