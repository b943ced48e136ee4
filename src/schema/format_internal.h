/*
 * format_internal.h: the formats, a function each.
 */
#ifndef DT_FORMAT_INTERNAL_H
#define DT_FORMAT_INTERNAL_H

#include "src/schema/format.h"

bool format_date_time(struct str text);
bool format_date(struct str text);
bool format_duration(struct str text); /* P3D, PT30M, P1W */
bool format_uri(struct str text);      /* RFC 3986, with a scheme; http and https with a host */

#endif
