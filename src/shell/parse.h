/*
 * parse.h: the commands in the text of a shell, in the order in which they stand there, or a
 * denial. Nothing is skipped and nothing is recovered from. What bash does with the commands
 * (branches, pipes, subshells) is not kept: the rules look at each of them.
 *
 * What is accepted is in docs/policy.md, "The subset"; all else is denied by name. Bash refuses
 * some texts that are accepted.
 *
 * Ownership: everything lives in the arena of the parse. Offsets are bytes of the text.
 */
#ifndef DT_SHELL_PARSE_H
#define DT_SHELL_PARSE_H

#include "src/shell/verdict.h"

enum {
	SHELL_MAX = 64 << 10, /* bytes */
	SHELL_DEPTH = 32,     /* compound commands and $( ) inside one another */
	SHELL_COMMANDS = 512,
	SHELL_WORDS = 4096, /* values of assignments and targets of redirections too */
};

struct word {
	struct span at;
	const char *text; /* quotes resolved; NULL: known only when the command runs */
};

enum redirect_kind {
	REDIRECT_READ,  /* n< word */
	REDIRECT_WRITE, /* n> n>| n>> &> &>> word */
	REDIRECT_DUP,   /* n>&m, n<&m: `other` */
	REDIRECT_CLOSE, /* n>&-, n<&- */
	REDIRECT_TEXT,  /* n<<< word, and here documents: `word.text` is their body */
};

struct redirect {
	struct redirect *next;
	enum redirect_kind kind;
	struct span at;
	int fd, other; /* 0..2; others are denied */
	struct word word;
};

/* A simple command; or the redirections of a compound one, without words. */
struct command {
	struct command *next;
	struct span at;
	struct word *words; /* the name is the first one; may be NULL when n_words is 0 */
	size_t n_words, room, n_assignments; /* room: for words */
	struct redirect *redirects;
	bool alone; /* it is the whole text */
};

/* Bytes of the name of a variable at the beginning of the text. */
size_t shell_name_length(const char *text);
/* 0 with the commands in *out, at least one, or -1 with *v. */
int shell_parse(struct arena *a, struct str text, struct command **out, struct verdict *v);

#endif
