/*
 * yml_plain.h: a fast path of yml_parse(): reads the simple form that this program itself writes,
 * without libyaml, with which `history verify` takes half as long again. For yml.c and its test
 * alone.
 */
#ifndef DT_YML_PLAIN_H
#define DT_YML_PLAIN_H

#include "src/base/yml.h"

/* False for anything that libyaml might read otherwise: then libyaml has to read it. What was
 * allocated until then stays in the arena. */
bool yml_plain(struct arena *a, struct str text, unsigned line, struct yml **out);

#endif
