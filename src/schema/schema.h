/*
 * schema.h: JSON Schema, draft 2020-12: the keywords that the schemas of this program use. Others
 * are refused when the schema is compiled, never ignored. docs/schemas.md lists them.
 *
 * Ownership: a compiled schema and its faults live in the arena; it borrows nothing of the text.
 */
#ifndef DT_SCHEMA_H
#define DT_SCHEMA_H

#include "src/base/json.h"

struct schema;

/*
 * `name` appears in messages. -1: ERR_INPUT with the position: not JSON, an unknown keyword, a
 * value that the keyword cannot have, a $ref that leads nowhere or in a cycle.
 */
int schema_compile(
	struct arena *a, const char *name, struct str text, struct schema **out, struct error *err);

struct schema_fault {
	const char *at;      /* JSON pointer into the instance; "" is the root */
	const char *keyword; /* that is violated */
	const char *text;    /* for people: "'x' is not one of 'a', 'b'" */
	unsigned line, col;  /* in the instance's text; 0 when only a tree was checked */
};

struct schema_faults {
	struct schema_fault *list; /* in the order of the instance */
	size_t n;
};

/* The number of faults; at most 100 are listed. */
size_t schema_check(
	struct arena *a, const struct schema *s, const json *instance, struct schema_faults *out);
/* The same for a text, with positions in it. -1: ERR_INPUT, not JSON. */
int schema_check_text(struct arena *a, const struct schema *s, const char *file, struct str text,
	struct schema_faults *out, struct error *err);

/*
 * The strict reader of JSON that schemas and instances are read with: whatever it accepts,
 * json_parse() accepts with the same meaning. -1: ERR_INPUT with the position of the first fault in
 * the text of `file`. Nesting deeper than SCHEMA_JSON_DEPTH, numbers that do not survive a round
 * trip, duplicate keys and NUL are faults.
 */
enum { SCHEMA_JSON_DEPTH = 100, SCHEMA_JSON_DIGITS = 60 };

int schema_read_json(json **out, const char *file, struct str text, struct error *err);
/*
 * Line and column (1-based, in characters) of the value that the JSON pointer leads to. False:
 * there is none. `text` is valid JSON.
 */
bool schema_locate_json(struct str text, const char *pointer, unsigned *line, unsigned *col);

#endif
