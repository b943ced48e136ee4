/*
 * shell_text.h: what printing, drawing and comparing of trees share.
 */
#ifndef DT_POLICY_SHELL_TEXT_H
#define DT_POLICY_SHELL_TEXT_H

#include "src/shell/parse.h"

/*
 * Whether byte `c` of an unquoted text in a pattern must stay unquoted to keep its meaning. To be
 * asked in order; *bracket (false at first) says that an unquoted `[` was there.
 */
bool shell_pattern_byte(char c, bool *bracket);

/* One word as shell_print() writes it. */
void shell_print_word(struct buf *out, const struct word *w);

#endif
