/*
 * shell_cases.h: what the parser finds in a text, on one line: `['a' ?] [='b' 2>'f']`. A command is
 * in brackets: `=` for each assignment, the words (`?`: unknown), the redirections.
 */
#ifndef DT_TESTS_SHELL_CASES_H
#define DT_TESTS_SHELL_CASES_H

#include "src/shell/parse.h"

void shell_draw(struct buf *out, const struct command *commands);

#endif
