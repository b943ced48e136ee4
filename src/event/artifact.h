/*
 * artifact.h: the folder of artifacts, $ARTIFACTS_DIR: what the stages of a run leave for one
 * another and for people. docs/artifacts.md.
 *
 *     DIR/ISSUE/plan.json, implementation.json, validation.json, pr.json and their .md,
 *               review/testing.json, critic.json, security.json, classifier.json,
 *               runtime.json, state.json, triage-history.jsonl
 *     DIR/_pipeline/runtime.json   DIR/_classifier/calibration.jsonl   DIR/_ledger/
 * DIR/_events.jsonl
 *
 * Every write goes by a file of another name, fsync, rename, fsync of the folder, under the lock of
 * the issue's folder. ISSUE is an id (path.h), which does not begin with `_`, or one of the three
 * scopes above; NULL is DIR itself. A symbolic link below DIR is refused, ERR_STATE: an agent may
 * have made it.
 */
#ifndef DT_ARTIFACT_H
#define DT_ARTIFACT_H

#include "src/base/json.h"

#define PIPELINE_SCOPE "_pipeline" /* in place of an issue's id */

/* DIR/ISSUE/NAME. -1: ERR_USAGE for what is no id, or a name with `..`. */
int artifact_path(struct arena *a, const char *dir, const char *issue, const char *name,
	char **path, struct error *err);

/* Writes it whole, folders made, two-space JSON and a line feed. */
int artifact_write(
	const char *dir, const char *issue, const char *name, const json *value, struct error *err);
/* The same of any text. */
int artifact_write_text(
	const char *dir, const char *issue, const char *name, struct str text, struct error *err);
/* *out NULL and 0 when there is none. -1: ERR_INPUT with place, ERR_SYSTEM. */
int artifact_read(
	const char *dir, const char *issue, const char *name, json **out, struct error *err);
/* Appends a line to a .jsonl, whole and durable also with other writers beside; what a kill left of
 * a line is cut first. */
int artifact_append(
	const char *dir, const char *issue, const char *name, const json *line, struct error *err);

/* Before a stage runs, so that what it leaves is its own; none there: no error. */
int artifact_remove(const char *dir, const char *issue, const char *name, struct error *err);
/*
 * Changes a whole file under the lock that artifact_append() takes, too: `edit` makes `fresh` of
 * what is there. -1: as it was; ERR_STATE when there is none, else what `edit` says.
 */
int artifact_edit(const char *dir, const char *issue, const char *name,
	int (*edit)(void *data, struct str old, struct buf *fresh, struct error *err), void *data,
	struct error *err);

/*
 * runtime.json of an issue, or PIPELINE_SCOPE: `members` (an object) replace those of the same name
 * at the top; objects are merged one level down, so that two stages add their rows. Under a lock:
 * nothing of another writer is lost.
 */
int runtime_merge(const char *dir, const char *issue, const json *members, struct error *err);
int runtime_read(const char *dir, const char *issue, json **out, struct error *err);

#endif
