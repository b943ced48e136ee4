/*
 * models.h: aliases of models and the ids behind them, with the dates of their end. The registry is
 * data: models/models.yaml, built in; a project may bring its own. docs/models.md.
 *
 * Ownership: what is loaded lives in the arena; what is resolved borrows from the registry and from
 * the texts that were given.
 */
#ifndef DT_MODELS_H
#define DT_MODELS_H

#include "src/config/resource.h"

#define DEFAULT_MODEL "sonnet"
#define INHERIT_MODEL "inherit"

enum { MODEL_DAY_S = 86400, MODEL_GRACE_DAYS = 30, MODEL_STALE_DAYS = 60 };

struct model_entry {
	const char *alias, *id;
	int64_t deprecated, removed; /* seconds since 1970; 0: not */
	const char *replacement;     /* alias; NULL: none */
	const char *use;             /* what it is good for; may be NULL */
};

struct model_registry {
	const char *file; /* NULL: the one that is built in */
	struct model_entry *list;
	size_t n;
};

/* `file` NULL: the one that is built in. -1: ERR_INPUT with place: a deprecated entry without a
 * replacement, an unknown replacement, an alias twice, removed before deprecated ... */
int models_load(struct arena *a, const char *file, struct model_registry *out, struct error *err);
/* The same of a text; `name` stands in messages. */
int models_read(struct arena *a, struct str text, const char *name, struct model_registry *out,
	struct error *err);
/* The registry of a repository, REPO/.dev-team/models.yaml; *file NULL: it has none. */
int models_file(struct arena *a, const char *repo, const char **file, struct error *err);
/* The text that is built in. */
struct str models_shipped(void);
/* NULL: there is no such alias. */
const struct model_entry *models_find(const struct model_registry *r, const char *alias);

struct model_resolved {
	const char *asked; /* what the chain gave: alias or id */
	const char *id;
	const char *source; /* "stage", "pipeline" or "default" */
	bool alias;         /* false: an explicit id, passed through */
	bool deprecated, grace, removed;
	const struct model_entry *entry; /* NULL unless alias */
};

/*
 * Stage.model unless NULL or `inherit`, else the pipeline's default, else DEFAULT_MODEL. What is no
 * alias but has the form of an id passes (letters, digits and `._:/-[]`, with a digit, `/` or `:`
 * in it, and not an alias with something in brackets behind); other words: ERR_INPUT, unknown
 * alias. Past its removal: ERR_STATE, ModelRemoved, and *out is filled in all the same.
 */
int model_resolve(const struct model_registry *r, const char *stage_model,
	const char *pipeline_model, int64_t now, struct model_resolved *out, struct error *err);

/* Deprecated for more than MODEL_STALE_DAYS and nobody has said when it will be removed. */
bool model_stale(const struct model_entry *e, int64_t now);
/* Ends within MODEL_GRACE_DAYS without ever having been deprecated, so no event tells of it. */
bool model_ends_untold(const struct model_entry *e, int64_t now);

/* What has to be changed where: the stages whose alias is deprecated or removed. */
struct bump_ask {
	const char *stage, *model; /* stage may be NULL; model as written */
};
struct bump_row {
	const char *stage;
	const struct model_entry *entry;
	const char *replacement_id; /* NULL: not known */
	bool grace, removed;
};
size_t models_bump_plan(struct arena *a, const struct model_registry *r, const struct bump_ask *ask,
	size_t n, const char *pipeline_model, int64_t now, struct bump_row **out);

#endif
