/*
 * lines.h: the output of a program cut into lines as it comes; none of more than LINE_KEPT bytes is
 * ever held.
 */
#ifndef DT_HARNESS_LINES_H
#define DT_HARNESS_LINES_H

#include "src/base/buf.h"

struct lines {
	size_t max;
	void (*line)(void *data, struct str line); /* without its end; valid UTF-8 */
	void *data;
	struct buf part; /* of a line that has not ended */
	bool skipping;   /* the rest of one that is too long */
	size_t skipped;  /* how many were */
};

void lines_take(struct lines *l, struct str piece);
void lines_end(struct lines *l); /* the last one, which need not end */
void lines_release(struct lines *l);

/* The last `max` bytes of what came, or some more. */
struct tail {
	size_t max;
	bool cut; /* there was more before them */
	struct buf kept;
};

void tail_take(struct tail *t, struct str piece);
/* The last `chars` characters of `text` that is valid UTF-8, without blanks around. */
struct str last_characters(struct str text, size_t chars);
/* Its first `max` bytes, or some less: not to within a character. */
struct str first_bytes(struct str text, size_t max);

#endif
