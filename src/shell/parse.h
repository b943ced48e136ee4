/*
 * parse.h: a command line to its tree, or a denial. Nothing is skipped and nothing is recovered
 * from: every byte of the text is claimed exactly once by a node, a blank, a comment, an operator
 * or a reserved word, and the parse ends with the proof of that.
 *
 * Accepted: simple commands, assignments before them, `| |& || && ; & ! ( ) { }`, newlines,
 * comments,
 * `'...'` `"..."` and backslash, line continuation between words, redirections `< > >> >| &> &>>
 * n>&m n<&m n>&- <<< << <<-`, here documents with a quoted delimiter (or without `$`, backtick and
 * backslash), if / while / until / for-in / case, `time [-p]`, `$name`, `${name}`, `$?`, `$( )`.
 * All else is denied by name. See docs/policy.md, "The subset".
 */
#ifndef DT_SHELL_PARSE_H
#define DT_SHELL_PARSE_H

#include "src/shell/ast.h"

enum {
	SHELL_MAX = 64 << 10, /* bytes */
	SHELL_DEPTH = 32,     /* compound commands, lists and $( ) inside one another */
	SHELL_COMMANDS = 512,
	SHELL_WORDS = 4096, /* patterns and targets of redirections too */
};

/* 0 with the tree in *out (a NODE_LIST where there is more than one command), or -1 with *v. */
int shell_parse(struct arena *a, struct str text, struct node **out, struct verdict *v);

/*
 * The tree as canonical text, on one line where it has no here document: every word in single
 * quotes, reserved words and operators bare, here documents with a quoted delimiter that their body
 * does not hold. Parsing it again gives the same tree but for the offsets.
 */
void shell_print(struct buf *out, const struct node *n);
/* The tree for people, two blanks a level, each node with its bytes FROM-TO. */
void shell_draw(struct buf *out, const struct node *n);

/* ---- shared by printing and drawing of trees, and by the tests that compare them ---- */

/*
 * Whether byte `c` of an unquoted text in a pattern must stay unquoted to keep its meaning. To be
 * asked in order; *bracket (false at first) says that an unquoted `[` was there.
 */
bool shell_pattern_byte(char c, bool *bracket);

/* One word as shell_print() writes it. */
void shell_print_word(struct buf *out, const struct word *w);
/* The text of a word without quotes. NULL: it is known only when the command runs. */
const char *shell_word_text(struct arena *a, const struct word *w);

#endif
