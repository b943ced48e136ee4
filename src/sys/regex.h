/*
 * regex.h: regular expressions as JSON Schema has them: ECMA-262 with the `u` flag, without back
 * references, \b and \p{...}. The only user of PCRE2, which is opened at the first call.
 *
 * Matching never backtracks: its time is at most proportional to the length of the expression times
 * the square of the length of the text. \d, \w and \s mean what ECMA-262 says: ASCII digits, ASCII
 * word characters, Unicode white space.
 */
#ifndef DT_REGEX_H
#define DT_REGEX_H

#include "src/base/buf.h"

struct regex;

/*
 * Compiles `source`; *out lives in the arena. -1: ERR_INPUT without a position (the expression is
 * malformed, too large, or uses what is not supported), or ERR_SYSTEM: there is no PCRE2.
 */
int regex_compile(struct arena *a, struct str source, struct regex **out, struct error *err);
/* Whether it matches anywhere in `text`, which is valid UTF-8. */
bool regex_match(const struct regex *r, struct str text);

#endif
