/*
 * delta.h: a new text told from an old one, as a list of what is kept and what is new. In JSON an
 * array: `[from,to]` is that range of the old text's bytes, a text is itself, and `{"b64":"..."}`
 * is bytes that are not UTF-8. A text that has nothing of the old one is an array of one text.
 */
#ifndef DT_DELTA_H
#define DT_DELTA_H

#include "src/base/json.h"

enum { DELTA_MAX = 16 << 20 };

/* new[at..at+n) is old[from..from+n). */
struct delta_copy {
	size_t at, from, n;
};

struct delta {
	struct delta_copy *copies; /* in the order of the new text, not overlapping in it */
	size_t n, cap;
};

void delta_keep(struct delta *d, size_t at, size_t from, size_t n);
void delta_release(struct delta *d);

/* What two texts share at their start and end, in whole lines where there are any. */
void delta_between(struct delta *d, struct str old_text, struct str new_text);

/* Adds the JSON array. Copies that reach over the new text are clipped. */
void delta_print(struct buf *out, const struct delta *d, struct str new_text);
/* True when all that is kept is what `old_text` has there. */
bool delta_holds(const struct delta *d, struct str old_text, struct str new_text);
/* Adds the new text. -1: ERR_INPUT when the array is none of ours, reaches out of `old_text`, or
 * makes more than DELTA_MAX bytes. */
int delta_apply(const json *array, struct str old_text, struct buf *out, struct error *err);

#endif
