/*
 * match.h: compares output with expected output.
 */
#ifndef DT_TESTS_MATCH_H
#define DT_TESTS_MATCH_H

#include "src/base/buf.h"

/*
 * True when `got` is `want`, where in `want` a line `...` matches any number of lines, and
 * `[..]` for anything within its line.
 */
bool match_lines(struct str want, struct str got);

/* `text` with every `path` in it replaced by `name`. */
void replace_all(struct buf *out, struct str text, struct str path, struct str name);

/* Adds a unified diff of the two. */
void diff_add(struct buf *out, struct str want, struct str got);

#endif
