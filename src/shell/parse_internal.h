/*
 * parse_internal.h: what the files of the parser share. There is one cursor, and take() alone moves
 * it: forward.
 *
 * Functions that can fail return 0, or -1 with the denial in p->v.
 */
#ifndef DT_SHELL_PARSE_INTERNAL_H
#define DT_SHELL_PARSE_INTERNAL_H

#include "src/shell/parse.h"

/* A here document whose lines come behind the next newline. The redirection is named by its place:
 * the array may still move. */
struct pending {
	struct pending *next;
	struct node *node;
	size_t redirect;
	struct str delimiter;
	unsigned parens; /* as below, where it stands */
	bool strip, literal;
};

struct parser {
	struct arena *a;
	struct verdict *v;
	const char *s; /* s[n] is NUL, and the only one */
	size_t n, at;
	size_t comment; /* where the last one ended */
	char *out; /* room for n bytes: texts with their quotes resolved, one behind the other */
	size_t used;
	struct pending *documents, *last; /* in the order of the text; last: while there are some */
	unsigned parens;                  /* ( ) $( ) and `case` that are open */
	unsigned outputs;                 /* $( ) alone */
	unsigned depth, commands, words;
	bool after_word; /* the last token was a word: no reserved word can follow it directly */
};

/* Words that bash takes for its own where a command may begin. */
#define RESERVED_WORDS(RESERVED)                                                                   \
	RESERVED(NOT, "!")                                                                         \
	RESERVED(OPEN, "{")                                                                        \
	RESERVED(CLOSE, "}")                                                                       \
	RESERVED(TEST, "[[")                                                                       \
	RESERVED(TEST_END, "]]")                                                                   \
	RESERVED(CASE, "case")                                                                     \
	RESERVED(COPROC, "coproc")                                                                 \
	RESERVED(DO, "do")                                                                         \
	RESERVED(DONE, "done")                                                                     \
	RESERVED(ELIF, "elif")                                                                     \
	RESERVED(ELSE, "else")                                                                     \
	RESERVED(ESAC, "esac")                                                                     \
	RESERVED(FI, "fi")                                                                         \
	RESERVED(FOR, "for")                                                                       \
	RESERVED(FUNCTION, "function")                                                             \
	RESERVED(IF, "if")                                                                         \
	RESERVED(IN, "in")                                                                         \
	RESERVED(SELECT, "select")                                                                 \
	RESERVED(THEN, "then")                                                                     \
	RESERVED(TIME, "time")                                                                     \
	RESERVED(UNTIL, "until")                                                                   \
	RESERVED(WHILE, "while")

enum reserved {
#define RESERVED(name, text) RESERVED_##name,
	RESERVED_WORDS(RESERVED)
#undef RESERVED
		RESERVED_NONE,
};

/* parse_lex.c */
void take(struct parser *p, size_t to);
int take_operator(struct parser *p, size_t length);
bool is_blank(char c);
/* A byte that ends a word: blank, newline, | & ; < > ( ) or the end of the text. */
bool is_meta(char c);
/* What stands before byte `at` is a whole token. */
bool token_ends(const struct parser *p, size_t at);
/* Blanks, continued lines and comments. */
void skip_blanks(struct parser *p);
/* Newlines too, and the here documents behind them. */
int skip_newlines(struct parser *p);
int take_newline(struct parser *p);
bool word_here(const struct parser *p);
const char *reserved_text(enum reserved r);
/* The reserved word at the cursor, if one can stand there. */
enum reserved reserved_here(const struct parser *p);
bool keyword_here(const struct parser *p, enum reserved r);
void take_reserved(struct parser *p, enum reserved r);
struct span span_here(const struct parser *p, size_t length);
/* The token at the cursor cannot stand there. */
int unexpected(struct parser *p);
/* *array with room for one more, of n so far; the same one, or a larger one. */
void *array_push(struct arena *a, void *array, size_t n, size_t size);
int enter(struct parser *p);
void leave(struct parser *p);

/* parse_word.c */
int parse_word(struct parser *p, struct word *out);
/* Where bash expands `~` behind `:` too. `from`: where the token begins, at the name of an
 * assignment. */
int parse_value(struct parser *p, size_t from, struct word *out);

/* parse_output.c: at `$(`. */
int parse_output(struct parser *p, struct node **out);

/* parse_redirect.c */
bool redirect_here(const struct parser *p);
int parse_redirect(struct parser *p, struct node *n);
struct redirect *redirect_push(struct parser *p, struct node *n);
int read_documents(struct parser *p);
/* At the end of ( ), $( ) or `case`. */
void close_parens(struct parser *p);

/* parse_list.c */
struct node *node_new(struct parser *p, enum node_kind kind, size_t from);
void node_push(struct parser *p, struct node *n, struct node *child);
int parse_list(struct parser *p, struct node **out);

/* parse_command.c */
int parse_command(struct parser *p, struct node **out);

/* parse_compound.c: what begins with `r`, or with `(` for RESERVED_NONE. */
int parse_compound(struct parser *p, enum reserved r, struct node **out);

#endif
