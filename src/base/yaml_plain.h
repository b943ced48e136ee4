/*
 * yaml_plain.h: a fast path of yaml_parse(): reads the simple form that this program itself writes,
 * without libyaml, which makes `history verify` take 1.5 times as long. For yaml.c and its test
 * alone.
 */
#ifndef DT_YAML_PLAIN_H
#define DT_YAML_PLAIN_H

#include "src/base/yaml.h"

/* False for anything that libyaml might read otherwise: then libyaml has to read it. What was
 * allocated until then stays in the arena. */
bool yaml_plain(struct arena *a, struct str text, unsigned line, struct yaml **out);

#endif
