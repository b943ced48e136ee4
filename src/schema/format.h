/*
 * format.h: texts of a form that a name stands for: what `format` says in a schema.
 */
#ifndef DT_FORMAT_H
#define DT_FORMAT_H

#include "src/base/buf.h"

/* NULL: no such format. */
typedef bool format_fn(struct str text);
format_fn *format_named(const char *name);
/* Their names, ended by NULL. */
const char *const *format_names(void);

/* RFC 3339 date and time of any offset, into seconds since 1970 UTC; fractions are dropped. A leap
 * second is the one after it. */
bool time_parse(struct str text, int64_t *t);

#endif
