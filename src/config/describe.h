/*
 * describe.h: what the tables say to others: the JSON Schema of a kind, its page for people, and a
 * resource as it was resolved.
 */
#ifndef DT_RESOURCE_DESCRIBE_H
#define DT_RESOURCE_DESCRIBE_H

#include "src/config/rows.h"

/* Draft 2020-12, two-space JSON and a line feed. What the loader checks beyond it is in
 * docs/resources.md. */
void kind_schema(const struct resource_kind *kind, struct buf *out);
/* Markdown: a table of its fields. */
void kind_page(const struct resource_kind *kind, struct buf *out);

enum origin { ORIGIN_WRITTEN, ORIGIN_DEFAULT, ORIGIN_DERIVED, ORIGIN_ENVIRONMENT };

/* A field of a resource: `spec.parallelism.maxConcurrent`, `spec.stages[0].harness`. */
struct shown_field {
	const char *path;
	json *value; /* shown_release() frees it */
	enum origin origin;
	const char *file; /* WRITTEN */
	unsigned line;
	const char *why; /* DERIVED: of what; ENVIRONMENT: the variable; may be NULL */
	bool inert;      /* not acted on */
};
struct shown {
	struct shown_field *list;
	size_t n, cap;
};
/* Every field that has a value, in the order of the table. */
void resource_shown(struct arena *a, const struct resources *r, const struct resource_doc *doc,
	enum parallelism_mode mode, struct shown *out);
void shown_release(struct shown *s);

#endif
