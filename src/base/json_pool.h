/*
 * json_pool.h: memory for many small pieces that come and go together. For json.c alone.
 */
#ifndef DT_JSON_POOL_H
#define DT_JSON_POOL_H

#include "src/base/base.h"

void *pool_alloc(size_t n); /* NULL: there is none left */
void pool_free(void *p);    /* safe on NULL */

#endif
