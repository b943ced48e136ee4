/*
 * schema.h: JSON Schema, draft 2020-12: the keywords that the schemas of this program use. Others
 * are refused where the schema is compiled, never ignored. docs/schemas.md lists them.
 *
 * Ownership: a compiled schema and its faults live in the arena; it borrows nothing of the text.
 */
#ifndef DT_SCHEMA_H
#define DT_SCHEMA_H

#include "src/base/json.h"

struct schema;

/* `name` stands in messages. -1: ERR_INPUT with place: no JSON, a keyword that is not known, a
 * value that the keyword cannot have, a $ref that leads nowhere or round. */
int schema_compile(
	struct arena *a, const char *name, struct str text, struct schema **out, struct error *err);

struct schema_fault {
	const char *at;      /* JSON pointer into the instance; "" is the whole */
	const char *keyword; /* that does not hold */
	const char *text;    /* for people: "'x' is not one of 'a', 'b'" */
	unsigned line, col;  /* of the instance's text; 0 when only a tree was given */
};

struct schema_faults {
	struct schema_fault *list; /* in the order of the instance */
	size_t n;
};

/* How many faults; at most 100 are listed. */
size_t schema_check(
	struct arena *a, const struct schema *s, const json *instance, struct schema_faults *out);
/* The same of a text, with places; -1: ERR_INPUT, it is no JSON. 0: `out` says. */
int schema_check_text(struct arena *a, const struct schema *s, const char *file, struct str text,
	struct schema_faults *out, struct error *err);

/* Line and column (1-based, in characters) of the value that `pointer` leads to. False: there is
 * none. `text` is valid JSON. */
bool json_locate(struct str text, const char *pointer, unsigned *line, unsigned *col);

#endif
