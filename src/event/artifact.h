/*
 * artifact.h: the directory of artifacts, $ARTIFACTS_DIR: what the stages of a run leave for one
 * another and for people. docs/artifacts.md.
 *
 *     DIR/ISSUE/plan.json, implementation.json, validation.json, pr.json and their .md,
 *               review/testing.json, critic.json, security.json, classifier.json,
 *               runtime.json, state.json, triage-history.jsonl
 *     DIR/_pipeline/runtime.json   DIR/_classifier/calibration.jsonl   DIR/_ledger/
 *     DIR/_events.jsonl
 *
 * ISSUE is an id (path.h), which does not begin with `_`, or one of the three scopes above; NULL is
 * DIR itself. A whole file is replaced atomically, and every writer takes the lock of the issue's
 * directory. A symbolic link below DIR is refused with ERR_STATE: an agent may have made it.
 */
#ifndef DT_ARTIFACT_H
#define DT_ARTIFACT_H

#include "src/base/json.h"

#define PIPELINE_SCOPE "_pipeline" /* in place of an issue's id */

/* DIR/ISSUE/NAME. -1: ERR_USAGE, not an id, or a name with `..`. */
int artifact_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err);

/* Replaces the whole file with two-space JSON and a newline; makes directories. */
int artifact_write(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err);
int artifact_write_text(
	const char *dir, const char *issue, const char *name, struct str text, struct error *err);

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
 * Replaces the file with `fresh`, which `edit` makes from the old text, under the lock that
 * artifact_append() takes too. -1: the file is unchanged; ERR_STATE without a file, else the error
 * of `edit`.
 */
int artifact_edit(const char *dir, const char *issue, const char *name,
	int (*edit)(void *data, struct str old, struct buf *fresh, struct error *err), void *data,
	struct error *err);
/* Not an error without a file. */
int artifact_remove(const char *dir, const char *issue, const char *name, struct error *err);

/* The same on any disk (disk.h). */
struct disk;
struct artifact_place {
	struct disk *disk;
	const char *dir, *issue, *name;
};
int artifact_place_write(const struct artifact_place *at, struct str text, struct error *err);
/* `line` ends in a newline. */
int artifact_place_append(const struct artifact_place *at, struct str line, struct error *err);
/* The file is an object: replaces its members by `members`; two objects are merged one level down.
 * -1: ERR_INPUT, the file is not a JSON object; it is unchanged. */
int artifact_place_merge(const struct artifact_place *at, const json *members, struct error *err);

/*
 * runtime.json of an issue or of PIPELINE_SCOPE: merges `members` into it, so that two stages may
 * add their rows at the same time.
 */
int runtime_merge(const char *dir, const char *issue, const json *members, struct error *err);
int runtime_read(const char *dir, const char *issue, json **out, struct error *err);

#endif
