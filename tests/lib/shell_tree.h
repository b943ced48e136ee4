/*
 * shell_tree.h: trees of the shell's parser as text.
 */
#ifndef DT_TESTS_SHELL_TREE_H
#define DT_TESTS_SHELL_TREE_H

#include "src/shell/parse.h"

/*
 * The tree as canonical text, on one line where it has no here document: every word in single
 * quotes, reserved words and operators bare, here documents with a quoted delimiter that their body
 * does not hold. Parsing it again gives the same tree but for the offsets.
 */
void shell_print(struct buf *out, const struct node *n);
/* The tree for people, two blanks a level, each node with its bytes FROM-TO. */
void shell_draw(struct buf *out, const struct node *n);

/* One word as shell_print() writes it. */
void shell_print_word(struct buf *out, const struct word *w);

#endif
