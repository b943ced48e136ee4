/*
 * schemas.h: the JSON Schemas that are built in: those of schemas/artifacts/ and `events`, which is
 * made from event_rows.h. There is one version of each, `v1`.
 */
#ifndef DT_ARTIFACT_SCHEMA_H
#define DT_ARTIFACT_SCHEMA_H

#include "src/schema/schema.h"

#define SCHEMA_VERSION "v1"

/* plan, implementation, validation, review, pr, classifier, events; ended by NULL. */
const char *const *artifact_schema_names(void);
bool artifact_schema_known(const char *name);
/* The text of one, in the arena; {NULL, 0}: no such. */
struct str artifact_schema_text(struct arena *a, const char *name);
/* `version` NULL is v1, and so is `latest`. -1: ERR_USAGE, no such schema or version. */
int artifact_schema_compile(struct arena *a, const char *name, const char *version,
	struct schema **out, struct error *err);

/*
 * The schema that an artifact's text asks for: by its `$schema`, else by the name of its file
 * (plan.json, review/NAME.json), else NULL.
 */
const char *artifact_schema_of(struct arena *a, const char *file, struct str text);

#endif
