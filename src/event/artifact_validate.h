/*
 * validate.h: no stage has succeeded before its artifact is there and right. An agent whose
 * artifact is wrong is asked once more, with what is wrong with it; a second wrong one fails the
 * stage. docs/artifacts.md.
 *
 *     artifact_remove(dir, issue, "plan.json", err);          what an earlier run left goes
 *     ... artifact_prompt(a, &want) ends the prompt ...      and the agent works
 *     artifact_validate_retry(a, &want, again, data, &end, err);
 */
#ifndef DT_ARTIFACT_VALIDATE_H
#define DT_ARTIFACT_VALIDATE_H

#include "src/event/event.h"
#include "src/event/artifact_schema.h"

struct artifact_target {
	const char *dir, *issue, *stage; /* stage NULL: none is told */
	const char *name;                /* plan.json, review/testing.json */
	const char *schema;              /* plan; NULL: by `name` */
	const char *version;             /* NULL: v1 */
};

/* What a prompt says of the artifact: where it goes, and its schema. "" when there is none. */
const char *artifact_prompt(struct arena *a, const struct artifact_target *want);

struct artifact_verdict {
	bool good;
	const char *fault; /* what is wrong, a line a fault; NULL when it is good */
	const char *first; /* the first of them */
};

/* Reads it and holds it to its schema. No file, no JSON and a link in the way are faults of the
 * artifact. -1: ERR_USAGE (no such schema), ERR_SYSTEM. */
int artifact_validate(struct arena *a, const struct artifact_target *want,
	struct artifact_verdict *out, struct error *err);
/* The prompt of the second try: names each fault and shows the schema. */
const char *artifact_retry_prompt(struct arena *a, const struct artifact_target *want,
	const struct artifact_verdict *verdict);

enum artifact_outcome {
	ARTIFACT_GOOD,    /* at once */
	ARTIFACT_RETRIED, /* at the second try; ArtifactSchemaRetry was told */
	ARTIFACT_INVALID, /* at the second, too, or the agent could not be asked again;
			     ArtifactSchemaInvalid was told: the stage has failed */
};

/*
 * Judges, asks again at most once, judges, tells. `again` runs the agent with the prompt; -1 from
 * it ends in ARTIFACT_INVALID with its text in *fault. NULL: nobody can be asked, or this was the
 * second try already (who is killed between the two calls this with NULL the next time).
 * *fault: what was wrong, the first time when it was mended; NULL: nothing.
 */
int artifact_validate_retry(struct arena *a, const struct artifact_target *want,
	int (*again)(void *data, const char *prompt, struct error *err), void *data,
	enum artifact_outcome *end, const char **fault, struct error *err);

#endif
