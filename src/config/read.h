/*
 * read.h: the parts of document_read(): values (read_value.c), lists and maps (read.c), and what is
 * said of those that are refused (fault.c).
 */
#ifndef DT_RESOURCE_READ_H
#define DT_RESOURCE_READ_H

#include "src/config/rows.h"

struct reading {
	struct faults *faults;
	const char *file;
};

/* For a message: at most 60 bytes, in quotes, never through the middle of a character. */
const char *scalar_shown(struct arena *a, const struct yml *v);
/* A fault "'KEY' must be WHAT, not VALUE (HINT)"; `secret`: without the value. False. */
bool row_refuse(const struct reading *r, const struct row *row, const struct yml *v,
	const char *what, bool secret);

bool scalar_is_text(const struct yml *v);
/* A text of the row's form, or one of its words. False: it was refused. */
bool row_item(
	const struct reading *r, const struct row *row, const struct yml *v, const char **out);
/* A single value into its place in the struct. */
void row_scalar(const struct reading *r, const struct row *row, const struct yml *v, char *into);
/* `value`, of n bytes, likewise; nowhere for a row that has no place. */
void row_put(char *into, const struct row *row, const void *value, size_t n);

#endif
