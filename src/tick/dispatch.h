/*
 * dispatch.h: the requests of a tick, and their results, as files of the directory of artifacts:
 *
 *     _orchestrator/dispatch-manifest.json       the latest request
 *     _orchestrator/dispatch-manifest.ID.json    each outstanding one, `/` of its id written `.`
 *     _orchestrator/dispatch-result.json         written by the caller, or `result write`
 *
 * A manifest is output: nothing reads it. A result becomes the answer of its action, with the
 * checks and refusals of answer.h. docs/backlog.md.
 */
#ifndef DT_DISPATCH_H
#define DT_DISPATCH_H

#include "src/tick/memory.h"

#define DISPATCH_RESULT "dispatch-result.json"

enum { DISPATCH_VERSION = 1 };

struct dispatch_place {
	const char *repo, *plugin_root; /* NULL: the default */
	const char *items;              /* directory of the documents */
	const char *artifacts;
};

/*
 * Removes the manifests of requests that are no longer outstanding, of whatever task, and writes
 * those of the actions, which have a `taskId`, that have none yet. Adds `outcome`,
 * `manifest-emitted`, to each action. `actions` NULL: there are none.
 */
int dispatch_emit(
	struct arena *a, const struct dispatch_place *p, json *actions, struct error *err);

struct dispatch_result {
	const char *task, *type;
	const char *request; /* id of the action; NULL: the only one that fits */
	const char *word;    /* its result; NULL: as `parsed`, else the text, says */
	struct str output;
	json *all; /* with the other members */
};
/* `file` is for messages. -1: ERR_INPUT, every member is checked. */
int dispatch_parse(struct arena *a, const char *file, struct str text, struct dispatch_result *out,
	struct error *err);
/*
 * Records the result in `path` (NULL: the default place). *returned: the action that has ended;
 * of one that cannot be given as an answer nothing is recorded, so that it counts as unanswered.
 * -1: missing or malformed: ERR_INPUT; stale, foreign, consumed: ERR_STATE.
 */
int dispatch_take(struct arena *a, const struct dispatch_place *p, struct tick_memory *m,
	const char *path, const char **returned, struct error *err);

#endif
