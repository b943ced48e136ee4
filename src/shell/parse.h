/*
 * parse.h: a command line to its tree, or a denial. Nothing is skipped and nothing is recovered
 * from.
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

/* The text of a word without quotes. NULL: it is known only when the command runs. */
const char *shell_word_text(struct arena *a, const struct word *w);

#endif
