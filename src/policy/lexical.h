/*
 * lexical.h: paths as texts. A shell that is told `cd a/..` counts names and does not look at the
 * disk: where the two differ a link is on the way.
 */
#ifndef DT_POLICY_LEXICAL_H
#define DT_POLICY_LEXICAL_H

#include "src/policy/where.h"

/* A part of the path is `..`. */
bool path_goes_up(struct str path);
/* `path` from the absolute `folder`: absolute, without `.`, `..` and empty parts. In the arena. */
struct str path_by_name(struct arena *a, struct str folder, struct str path);
/* Whether the shell's name for the working directory `cwd` has a link in it. */
bool path_is_alias(struct arena *a, const char *cwd);

#endif
