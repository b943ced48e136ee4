/*
 * happening.h: what a run of a pipeline tells people and programs: a line each in
 * $ARTIFACTS_DIR/_events.jsonl. One table, src/event/happenings.h, has them all; the JSON Schema
 * of the lines (schemas/events.schema.json) and docs/pipeline-events.md are made from it and tests
 * hold each line really written to it.
 */
#ifndef DT_HAPPENING_H
#define DT_HAPPENING_H

#include "src/event/artifact.h"

#define HAPPENING(id, name, severity, fields, about) HAPPENED_##id,
enum happening_id {
#include "src/event/happenings.h"
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

/* One of the fields that a happening has beside the five that all have. */
struct happening_field {
	char name[32];
	char kind; /* s, n, b, a, o as in the table */
	bool may_miss;
};
/* The next field of a row; false: there is none. *at is NULL for the first. */
bool happening_next_field(enum happening_id what, const char **at, struct happening_field *out);
const char *happening_about(enum happening_id what);

/*
 * Appends the line: type, timestamp, severity, issueId, stage (these two only when there is one),
 * then the fields. `dir` NULL: nothing
 * is written (there is no folder of artifacts), 0. Fields that the table does not have, lacks, or
 * has of another kind are a fault of the caller's: ERR_SYSTEM and no line. `issue` may be
 * PIPELINE_SCOPE, which is no one.
 */
int happening_tell(const char *dir, const struct happening *h, struct error *err);

/*
 * The lines that there are, an array: from `since` on (RFC 3339; NULL: all), of `type` (NULL: any).
 * Lines that are no happening are left out and counted in *skipped (may be NULL). No file: an empty
 * one.
 */
int happenings_read(const char *dir, const char *since, const char *type, json **out,
	size_t *skipped, struct error *err);

/* Made from the table: the JSON Schema of a line, and docs/pipeline-events.md. */
void happenings_schema(struct buf *out);
void happenings_page(struct buf *out);

#endif
