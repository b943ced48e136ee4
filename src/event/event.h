/*
 * event.h: what a run of a pipeline tells people and programs: a line each in
 * $ARTIFACTS_DIR/_events.jsonl. One table, src/event/event_rows.h, has them all; the JSON Schema
 * of the lines (schemas/events.schema.json) and docs/pipeline-events.md are made from it and tests
 * hold each line really written to it.
 */
#ifndef DT_EVENT_H
#define DT_EVENT_H

#include "src/event/artifact.h"

#define EVENT(id, name, severity, fields, about) EVENT_##id,
enum event_id {
#include "src/event/event_rows.h"
	EVENT_COUNT
};
#undef EVENT

struct event {
	enum event_id id;
	const char *issue, *stage; /* NULL: of no one in particular */
	const json *fields; /* object; borrowed; keys and kinds as the table says; NULL: none */
};

const char *event_name(enum event_id what);
const char *event_severity(enum event_id what);

/* One of the fields that a happening has beside the five that all have. */
struct event_field {
	char name[32];
	char kind; /* s, n, b, a, o as in the table */
	bool may_miss;
};
/* The next field of a row; false: there is none. *at is NULL for the first. */
bool event_next_field(enum event_id what, const char **at, struct event_field *out);
const char *event_about(enum event_id what);

/*
 * Appends the line: type, timestamp, severity, issueId, stage (these two only when there is one),
 * then the fields. `dir` NULL: nothing
 * is written (there is no folder of artifacts), 0. Fields that the table does not have, lacks, or
 * has of another kind are a fault of the caller's: ERR_SYSTEM and no line. `issue` may be
 * PIPELINE_SCOPE, which is no one.
 */
int event_emit(const char *dir, const struct event *h, struct error *err);

/*
 * The lines that there are, an array: from `since` on (RFC 3339; NULL: all), of `type` (NULL: any).
 * Lines that are no happening are left out and counted in *skipped (may be NULL). No file: an empty
 * one.
 */
int event_list(const char *dir, const char *since, const char *type, json **out, size_t *skipped,
	struct error *err);

/* Made from the table: the JSON Schema of a line, and docs/pipeline-events.md. */
void event_schema(struct buf *out);
void event_page(struct buf *out);

#endif
