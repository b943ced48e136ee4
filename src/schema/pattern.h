/*
 * pattern.h: the regular expressions of `pattern` and `patternProperties`: those of ECMA-262 with
 * `u`, without what looks around or back. Matched in time that grows with pattern times text, never
 * faster.
 */
#ifndef DT_PATTERN_H
#define DT_PATTERN_H

#include "src/base/buf.h"

struct pattern;

/* -1: ERR_INPUT, without a place. Lives in the arena. */
int pattern_compile(struct arena *a, struct str source, struct pattern **out, struct error *err);
/* Whether it matches somewhere in `text`, which is UTF-8. */
bool pattern_match(const struct pattern *p, struct str text);

#endif
