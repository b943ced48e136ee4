/*
 * schemas.h: the JSON Schemas that are built in: those of schemas/artifacts/ and `events`, which is
 * made from happenings.h. There is one version of each, `v1`.
 */
#ifndef DT_SCHEMAS_H
#define DT_SCHEMAS_H

#include "src/schema/schema.h"

#define SCHEMA_VERSION "v1"

/* plan, implementation, validation, review, pr, classifier, events; ended by NULL. */
const char *const *schema_names(void);
bool schema_known(const char *name);
/* The text of one, in the arena; {NULL, 0}: no such. */
struct str schema_text(struct arena *a, const char *name);
/* `version` NULL is v1, and so is `latest`. -1: ERR_USAGE, no such schema or version. */
int schema_built_in(struct arena *a, const char *name, const char *version, struct schema **out,
	struct error *err);

/*
 * The schema that an artifact's text asks for: by its `$schema`, else by the name of its file
 * (plan.json, review/NAME.json), else NULL.
 */
const char *schema_asked(struct arena *a, const char *file, struct str text);

#endif
