/*
 * scan.h: JSON as text: whether it is, and where its values stand. Stricter than json_parse():
 * what this lets through, that takes, too, and means the same by it.
 */
#ifndef DT_SCAN_H
#define DT_SCAN_H

#include "src/base/json.h"

enum { JSON_DEPTH = 100, JSON_DIGITS = 60 };

/* A place in a text. All of it is the caller's. */
struct scan {
	struct str text;
	size_t at;
	unsigned depth;
	struct arena *keys; /* holds those of the objects that are open; NULL: twice is no fault */
	const char *fault;  /* NULL: none as yet; `at` is its place */
};

/* Over blanks; the character there, or NUL at the end. */
char scan_peek(struct scan *s);
/* Each goes behind what it stands on; false: s->fault says why not. */
bool scan_value(struct scan *s);
/* `out` gets what the text means, NULL: nobody wants to know. */
bool scan_text(struct scan *s, struct buf *out);

/*
 * json_parse() of a file's text, with the place of the first fault. Deeper than JSON_DEPTH, a
 * number that does not come back as it is, a key that comes twice and NUL are faults.
 */
int json_read(json **out, const char *file, struct str text, struct error *err);

#endif
