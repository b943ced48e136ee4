/*
 * parse_internal.h: what the files of the parser share. Functions that can fail return 0, or -1
 * with the denial in p->v.
 */
#ifndef DT_SHELL_PARSE_INTERNAL_H
#define DT_SHELL_PARSE_INTERNAL_H

#include "src/shell/parse.h"

enum { SHELL_DOCUMENTS = 8 };

/* A here document whose lines come behind the next newline. */
struct document {
	struct redirect *redirect;
	struct str delimiter;
	bool strip, literal;
};

struct parser {
	struct arena *a;
	struct verdict *v;
	const char *s; /* s[n] is NUL, and the only one */
	size_t n, at;
	char *out; /* texts with their quotes resolved, one behind the other */
	size_t used;
	struct document documents[SHELL_DOCUMENTS];
	unsigned n_documents, read; /* those that wait, and those that were read */
	char open[SHELL_DEPTH];     /* what is open: a letter for each (parse.c) */
	unsigned depth, commands, words;
	struct command **last;
	bool joined; /* there is more than simple commands one after the other */
};

/* parse.c */
/* A byte that ends a word: blank, newline, | & ; < > ( ) or the end of the text. */
bool shell_is_meta(char c);
bool shell_is_blank(char c);
void shell_skip_blanks(struct parser *p);
/* Past an operator of `length` bytes. */
int shell_take_operator(struct parser *p, size_t length);
/* The token at the cursor cannot stand there. */
int shell_unexpected(struct parser *p);
int shell_construct(struct parser *p, size_t length, const char *what);
struct span shell_span_here(const struct parser *p, size_t length);
/* At the `(` of a subshell or of `$(`; past its `)`. */
int shell_nested(struct parser *p);

/* parse_word.c */
int shell_word(struct parser *p, struct word *out);

/* parse_redirect.c */
bool shell_redirect_here(const struct parser *p);
int shell_redirect(struct parser *p, struct command *c);
/* At a newline: past it and the here documents behind it. */
int shell_newline(struct parser *p);

#endif
