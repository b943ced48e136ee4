/*
 * model.h: aliases of models, their ids, and the dates of their deprecation and removal. The
 * registry is data: models/models.yaml is built in, and a repository may have its own.
 * docs/models.md.
 *
 * Ownership: a registry lives in the arena; a resolved model borrows from the registry and from the
 * caller's texts.
 */
#ifndef DT_MODEL_H
#define DT_MODEL_H

#include "src/config/resource.h"

#define DEFAULT_MODEL "sonnet"
#define INHERIT_MODEL "inherit"

enum { MODEL_DAY_S = 86400, MODEL_GRACE_DAYS = 30, MODEL_STALE_DAYS = 60 };

struct model_entry {
	const char *alias, *id;
	int64_t deprecated, removed; /* seconds since 1970; 0: never */
	const char *replacement;     /* alias; NULL: none */
	const char *use;             /* for people; may be NULL */
	/* USD of a million tokens, and when that was compared with the vendor's; all 0: unknown. */
	double input_usd, output_usd;
	int64_t price_verified;
};

struct model_registry {
	const char *file; /* NULL: the built-in one */
	struct model_entry *list;
	size_t n;
};

/* `file` NULL: the built-in one. -1: ERR_INPUT with the place: a deprecated entry without a
 * replacement, an unknown replacement, a duplicate alias, removed before deprecated ... */
int model_registry_load(
	struct arena *a, const char *file, struct model_registry *out, struct error *err);
/* The same from a text; `name` is the file in messages. */
int model_registry_parse(struct arena *a, struct str text, const char *name,
	struct model_registry *out, struct error *err);
/* The registry of a repository, REPO/.dev-team/models.yaml; *file NULL: it has none. */
int model_registry_file(struct arena *a, const char *repo, const char **file, struct error *err);
/* The entry of a physical id that has a price; NULL: its price is unknown. */
const struct model_entry *model_priced(const struct model_registry *r, const char *id);
/* NULL: there is no such alias. */
const struct model_entry *model_find(const struct model_registry *r, const char *alias);

/* A letter or digit, then letters, digits and `._:/-[]`; at most 200 bytes. Ids are arguments of
 * commands: no blank, no `-` in front. */
bool model_id_valid(struct str s);
/* `2026-05-01`, `2026-05-01T00:00:00Z`, also with a fraction, which is dropped; after 1970. */
bool model_date_parse(struct str s, int64_t *t);

struct model_resolved {
	const char *asked; /* the chosen word: alias or id */
	const char *id;
	const char *source; /* "stage", "pipeline" or "default" */
	bool alias;         /* false: an explicit id, passed on as it is */
	bool deprecated, grace, removed;
	const struct model_entry *entry; /* NULL unless alias */
};

/*
 * Resolves the stage's model unless it is NULL or `inherit`, else the pipeline's default, else
 * DEFAULT_MODEL. A word that is no alias but has the form of an id is an id (letters, digits and
 * `._:/-[]`, with a digit, `/` or `:` in it, and not an alias with brackets behind); other words:
 * ERR_INPUT, unknown alias. After its removal: ERR_STATE, ModelRemoved; *out is filled in even so.
 */
int model_resolve(const struct model_registry *r, const char *stage_model,
	const char *pipeline_model, int64_t now, struct model_resolved *out, struct error *err);

/* "active", "deprecated", "grace" or "removed" */
const char *model_state(const struct model_entry *e, int64_t now);
/* Deprecated for more than MODEL_STALE_DAYS, without a date of removal. */
bool model_stale(const struct model_entry *e, int64_t now);
/* Removed within MODEL_GRACE_DAYS without a deprecation, so that no event announces it. */
bool model_removal_unannounced(const struct model_entry *e, int64_t now);

/* A stage whose alias is deprecated or removed. */
struct model_bump {
	const char *stage; /* NULL: an alias of the registry */
	const struct model_entry *entry;
	const char *replacement_id; /* NULL: none */
	bool grace, removed;
};
/* Those of `stages` ("STAGE:MODEL,..."), else of a pipeline, else all aliases of the registry. -1:
 * ERR_USAGE. */
int model_bump_plan(struct arena *a, const struct model_registry *r, const struct pipeline *p,
	const char *stages, int64_t now, struct model_bump **out, size_t *n, struct error *err);
/* Adds a fault for every model of a pipeline that is unknown or was removed. */
void model_check(struct arena *a, const struct model_registry *registry, struct resources *r);

#endif
