/*
 * yml_plain.h: the short way for yml_parse(): text in the plainest of forms, which is what this
 * program writes, without libyaml. For yml.c and its test alone.
 */
#ifndef DT_YML_PLAIN_H
#define DT_YML_PLAIN_H

#include "src/base/yml.h"

/* False for anything that is not surely read as libyaml would: then that has to read it. What was
 * allocated by then stays in the arena. */
bool yml_plain(struct arena *a, struct str text, unsigned line, struct yml **out);

#endif
