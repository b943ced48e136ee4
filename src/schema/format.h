/*
 * format.h: the values of the schema keyword `format`: date, date-time, duration and uri.
 */
#ifndef DT_FORMAT_H
#define DT_FORMAT_H

#include "src/base/buf.h"

typedef bool format_fn(struct str text);
/* NULL: unknown. */
format_fn *format_named(const char *name);
/* The names, NULL-ended. */
const char *const *format_names(void);

/*
 * An RFC 3339 date and time with any offset, as seconds since 1970 UTC. Fractions are dropped; a
 * leap second counts as the second after it.
 */
bool format_time_parse(struct str text, int64_t *t);

#endif
