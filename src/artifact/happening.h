/*
 * happening.h: what a run of a pipeline tells people and programs: a line each in
 * $ARTIFACTS_DIR/_events.jsonl. One table, src/artifact/happenings.h, has them all; the JSON Schema
 * of the lines (schemas/events.schema.json) and docs/pipeline-events.md are made from it and tests
 * hold each line really written to it.
 */
#ifndef DT_HAPPENING_H
#define DT_HAPPENING_H

#include "src/artifact/artifact.h"

#define HAPPENING(id, name, severity, fields, about) HAPPENED_##id,
enum happening_id {
#include "src/artifact/happenings.h"
	HAPPENINGS
};
#undef HAPPENING

struct happening {
	enum happening_id what;
	const char *issue, *stage; /* NULL: of no one in particular */
	const json *fields; /* object; borrowed; keys and kinds as the table says; NULL: none */
};

const char *happening_name(enum happening_id what);
const char *happening_severity(enum happening_id what);

/*
 * Appends the line: type, timestamp, severity, issueId, stage, then the fields. `dir` NULL: nothing
 * is written (there is no folder of artifacts), 0. Fields that the table does not have, lacks, or
 * has of another kind are a fault of the caller's: ERR_SYSTEM, in tests an assert.
 */
int happening_tell(const char *dir, const struct happening *h, struct error *err);

#endif
