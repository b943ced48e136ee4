/*
 * artifact.h: the directory of artifacts, $ARTIFACTS_DIR: what the stages of a run leave for one
 * another and for people. docs/artifacts.md.
 *
 *     DIR/ISSUE/plan.json, implementation.json, validation.json, pr.json and their .md,
 *               review/testing.json, critic.json, security.json, classifier.json,
 *               runtime.json, triage-history.jsonl
 *     DIR/_pipeline/runtime.json   DIR/_classifier/calibration.jsonl   DIR/_ledger/
 *     DIR/_orchestrator/dispatch-manifest.json, dispatch-result.json
 *     DIR/_events.jsonl
 *
 * ISSUE is an id (path.h), which does not begin with `_`, or one of the four scopes above; NULL is
 * DIR itself. A whole file is replaced atomically, and every writer takes the lock of the issue's
 * directory. A symbolic link below DIR is refused with ERR_STATE: an agent may have made it.
 */
#ifndef DT_ARTIFACT_H
#define DT_ARTIFACT_H

#include "src/base/json.h"
#include "src/base/vec.h"
#include "src/schema/schema.h"

#define PIPELINE_SCOPE     "_pipeline" /* in place of an issue's id */
#define ORCHESTRATOR_SCOPE "_orchestrator"

/* DIR/ISSUE/NAME. -1: ERR_USAGE, not an id, or a name with `..`. */
int artifact_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err);

/* Replaces the whole file with two-space JSON and a newline; makes directories. */
int artifact_write(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err);
int artifact_write_text(
	const char *dir, const char *issue, const char *name, struct str text, struct error *err);

/* The same for a copy that only people read: it is not synced, so that after a power cut it may be
 * empty or an older one. */
int artifact_write_copy(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err);

/* *out is NULL without a file. -1: ERR_INPUT with the position, ERR_STATE, ERR_SYSTEM. */
int artifact_read(
	const char *dir, const char *issue, const char *name, json **out, struct error *err);
/* Appends the text to *out. */
int artifact_read_text(const char *dir, const char *issue, const char *name, struct buf *out,
	bool *missing, struct error *err);

/* Appends one line to a .jsonl, synced. An incomplete last line of a killed writer is removed. */
int artifact_append(
	const char *dir, const char *issue, const char *name, const json *line, struct error *err);
/*
 * Replaces the file with `fresh`, which `edit` makes from the old text ("" without a file), under
 * the lock that artifact_append() takes too. -1: the file is unchanged, also if `edit` says so.
 */
int artifact_edit(const char *dir, const char *issue, const char *name,
	int (*edit)(void *data, struct str old, struct buf *fresh, struct error *err), void *data,
	struct error *err);
/* Not an error without a file. */
int artifact_remove(const char *dir, const char *issue, const char *name, struct error *err);

/*
 * runtime.json of an issue or of PIPELINE_SCOPE: merges `members` into it, so that two stages may
 * add their rows at the same time; two objects are merged one level down. -1: ERR_INPUT, the file
 * is not a JSON object; it is unchanged.
 */
int artifact_merge_runtime(
	const char *dir, const char *issue, const json *members, struct error *err);
int artifact_read_runtime(const char *dir, const char *issue, json **out, struct error *err);

/* ---- schemas ---- */

/* The only version of each. */
#define SCHEMA_VERSION "v1"

/* plan, implementation, validation, review, pr, classifier, events; NULL ends the list. */
const char *const *artifact_schema_names(void);
/* The text of a schema, in the arena; {NULL, 0}: unknown. */
struct str artifact_schema_text(struct arena *a, const char *name);
/* `version` NULL and `latest` are v1. -1: ERR_USAGE, no such schema or version. */
int artifact_schema_compile(struct arena *a, const char *name, const char *version,
	struct schema **out, struct error *err);

struct artifact_target {
	const char *dir, *issue, *stage; /* stage NULL: not named in events */
	const char *name;                /* plan.json, review/testing.json */
	const char *schema;              /* NULL: by `name` */
	const char *version;             /* NULL: v1 */
};

/* The end of a prompt: where to write the artifact, and its schema. "" if it has none. */
const char *artifact_prompt(struct arena *a, const struct artifact_target *target);

enum artifact_outcome {
	ARTIFACT_GOOD,    /* valid on the first attempt */
	ARTIFACT_RETRIED, /* valid on the second; emitted ArtifactSchemaRetry */
	ARTIFACT_INVALID, /* emitted ArtifactSchemaInvalid: the stage has failed */
};

/*
 * Validates, runs the agent once more with `again` if the artifact is invalid, validates again and
 * emits the event. An error of `again` makes the outcome ARTIFACT_INVALID. `again` NULL: there is
 * no second attempt, because this was it (a run that was killed between the two resumes so).
 * *fault: what was wrong, one line a fault, for ARTIFACT_RETRIED at first; NULL for ARTIFACT_GOOD.
 * A missing file, invalid JSON and a link in the path are such faults. -1: ERR_USAGE (no such
 * schema), ERR_SYSTEM.
 */
int artifact_validate_retry(struct arena *a, const struct artifact_target *target,
	int (*again)(void *data, const char *prompt, struct error *err), void *data,
	enum artifact_outcome *outcome, const char **fault, struct error *err);

/* A schema to check files with: a built-in one by name, or a file (with a '/', or *.json). `given`
 * NULL: the one that the file's `$schema` names, else that of its name (plan.json,
 * review/NAME.json). */
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
