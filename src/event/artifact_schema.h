/*
 * artifact_schema.h: the JSON Schemas that are built in (the files of schemas/artifacts/, and
 * `events`, generated from the event table), and the validation of artifacts against them. A stage
 * succeeds only with a valid artifact: an agent whose artifact is invalid is asked once more, and a
 * second invalid one fails the stage. docs/artifacts.md.
 *
 *     artifact_remove(dir, issue, "plan.json", err);           of an earlier run
 *     ... artifact_prompt(a, &target) ends the prompt ...      the agent works
 *     artifact_validate_retry(a, &target, again, data, &outcome, &fault, err);
 */
#ifndef DT_ARTIFACT_SCHEMA_H
#define DT_ARTIFACT_SCHEMA_H

#include "src/base/vec.h"
#include "src/schema/schema.h"

/* The only version of each. */
#define SCHEMA_VERSION "v1"

/* plan, implementation, validation, review, pr, classifier, events; NULL ends the list. */
const char *const *artifact_schema_names(void);
bool artifact_schema_known(const char *name);
/* The text of a schema, in the arena; {NULL, 0}: unknown. */
struct str artifact_schema_text(struct arena *a, const char *name);
/* `version` NULL and `latest` are v1. -1: ERR_USAGE, no such schema or version. */
int artifact_schema_compile(struct arena *a, const char *name, const char *version,
	struct schema **out, struct error *err);
/* The schema that `$schema` in the text names, else that of the file's name (plan.json,
 * review/NAME.json), else NULL. */
const char *artifact_schema_of(struct arena *a, const char *file, struct str text);

struct artifact_target {
	const char *dir, *issue, *stage; /* stage NULL: not named in events */
	const char *name;                /* plan.json, review/testing.json */
	const char *schema;              /* NULL: by `name` */
	const char *version;             /* NULL: v1 */
};

/* The end of a prompt: where to write the artifact, and its schema. "" if it has none. */
const char *artifact_prompt(struct arena *a, const struct artifact_target *target);

struct artifact_verdict {
	bool good;
	const char *fault; /* one line a fault; NULL when it is valid */
};

/* A missing file, invalid JSON and a link in the path are faults of the artifact. -1: ERR_USAGE
 * (no such schema), ERR_SYSTEM. */
int artifact_validate(struct arena *a, const struct artifact_target *target,
	struct artifact_verdict *out, struct error *err);
/* The prompt of the second attempt: the faults and the schema. */
const char *artifact_retry_prompt(struct arena *a, const struct artifact_target *target,
	const struct artifact_verdict *verdict);

enum artifact_outcome {
	ARTIFACT_GOOD,    /* valid on the first attempt */
	ARTIFACT_RETRIED, /* valid on the second; emitted ArtifactSchemaRetry */
	ARTIFACT_INVALID, /* emitted ArtifactSchemaInvalid: the stage has failed */
};

/*
 * Validates, runs the agent once more with `again` if the artifact is invalid, validates again and
 * emits the event. An error of `again` makes the outcome ARTIFACT_INVALID. `again` NULL: there is
 * no second attempt, because this was it (a run that was killed between the two resumes so).
 * *fault: what was wrong, for ARTIFACT_RETRIED at first; NULL for ARTIFACT_GOOD.
 */
int artifact_validate_retry(struct arena *a, const struct artifact_target *target,
	int (*again)(void *data, const char *prompt, struct error *err), void *data,
	enum artifact_outcome *outcome, const char **fault, struct error *err);

/* A schema to check files with: a built-in one by name, or a file (with a '/', or *.json). `given`
 * NULL: each file names its own. */
struct artifact_schema {
	const char *name;
	struct schema *schema;
};
int artifact_schema_open(
	struct arena *a, const char *given, struct artifact_schema *out, struct error *err);

struct artifact_checked {
	const char *file, *schema; /* schema: its name; NULL: none was found */
	VEC(struct schema_fault) faults;
};
/* Checks a file, *.jsonl line by line. Faults are in *out, also after -1: the file cannot be read,
 * is no JSON, or names no schema. */
int artifact_check(struct arena *a, const struct artifact_schema *given, const char *file,
	struct artifact_checked *out, struct error *err);

#endif
