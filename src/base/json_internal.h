/*
 * json_internal.h: what the files of json.h share, and nobody else.
 */
#ifndef DT_JSON_INTERNAL_H
#define DT_JSON_INTERNAL_H

#include "src/base/json.h"

/* json_pool.c: memory for many small pieces that come and go together. */
void *pool_alloc(size_t n); /* NULL: there is none left */
void pool_free(void *p);    /* safe on NULL */

/* json_text.c: cJSON ends texts at a NUL: one with an escaped NUL would come back shorter. */
bool json_nul_escape(struct str text);
/* json.c: a value that is no object, list, text or whole number, as the library prints it. */
void json_print_other(struct buf *out, const json *j);

/* What the library lets through and would not give back as it came; NULL when all is well. */
const char *json_hole(const json *j);

#endif
