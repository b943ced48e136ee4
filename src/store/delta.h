/*
 * delta.h: a new text as a list of ranges of an old text and new pieces. As JSON an array:
 * `[from,to]` is that range of the old text's bytes, a string is new text, and `{"hex":"..."}` is
 * new bytes that are not UTF-8. A text that has nothing in common with the old one is an array of
 * one string.
 */
#ifndef DT_DELTA_H
#define DT_DELTA_H

#include "src/base/json.h"

/* new[at..at+n) is old[from..from+n). */
struct delta_copy {
	size_t at, from, n;
};

struct delta {
	struct delta_copy *items; /* in the order of the new text, not overlapping in it */
	size_t n, cap;
};

void delta_keep(struct delta *d, size_t at, size_t from, size_t n);
void delta_release(struct delta *d);

/* Adds the common start and end of two texts, in whole lines where possible. */
void delta_between(struct delta *d, struct str old_text, struct str new_text);

/* Writes the JSON array. Copies that reach past the end of the new text are clipped. */
void delta_write(
	struct json_writer *w, const char *key, const struct delta *d, struct str new_text);
/* True when every copy is equal in both texts. */
bool delta_holds(const struct delta *d, struct str old_text, struct str new_text);
/* Appends the new text. -1: ERR_INPUT when the array is malformed, reaches past the end of
 * `old_text`, or produces more than STORE_DOCUMENT_MAX bytes. */
int delta_apply(const json *array, struct str old_text, struct buf *out, struct error *err);

#endif
