/*
 * shell_same.h: compares two trees of the shell parser.
 */
#ifndef DT_TESTS_SHELL_SAME_H
#define DT_TESTS_SHELL_SAME_H

#include "src/shell/parse.h"

/*
 * True when both trees are the same but for the offsets, and for the places of the quotes in a word
 * as long as they keep the same things from being split and the same bytes from being a pattern.
 */
bool shell_same(const struct node *a, const struct node *b);

#endif
