/*
 * ast.h: the tree of a command line in the subset of bash that is understood. What is not in here
 * cannot be said: the parser denies it.
 *
 * Ownership: nodes and texts live in the arena of the parse. Offsets are bytes of the text that was
 * parsed; a node covers its children, and the bytes between them are blanks, comments, operators
 * and reserved words that the parser has claimed for it.
 */
#ifndef DT_SHELL_AST_H
#define DT_SHELL_AST_H

#include "src/shell/verdict.h"

struct node;

enum part_kind {
	PART_TEXT,     /* characters; `text` has its quotes resolved */
	PART_VARIABLE, /* $name or ${name}; `text` is the name; `?` is the only special one */
	PART_OUTPUT,   /* $( ): `node` is what runs */
};

struct part {
	enum part_kind kind;
	struct span at;
	bool quoted; /* stood in quotes or behind a backslash: no splitting, no patterns */
	struct str text;
	struct node *node;
};

/* A word as written. No parts: '' or "". Adjacent text of the same quoting is one part. */
struct word {
	struct span at;
	struct part *parts;
	size_t n;
	bool quoted;  /* has quotes somewhere, so an empty result is still a word */
	bool dynamic; /* has a part that is no PART_TEXT */
	bool pattern; /* has an unquoted `*`, `?` or `[...]` */
};

enum redirect_kind {
	REDIRECT_READ,        /* n< word */
	REDIRECT_WRITE,       /* n> word, n>| word */
	REDIRECT_APPEND,      /* n>> word */
	REDIRECT_BOTH,        /* &> word */
	REDIRECT_BOTH_APPEND, /* &>> word */
	REDIRECT_DUP,         /* n>&m, n<&m: `other` */
	REDIRECT_CLOSE,       /* n>&-, n<&- */
	REDIRECT_TEXT, /* n<<< word, and here documents: `text` is what is read, its last newline
			  included */
};

struct redirect {
	enum redirect_kind kind;
	struct span at;
	int fd;           /* 0..2; others are denied */
	int other;        /* REDIRECT_DUP: 0..2 */
	struct word word; /* target; of <<<; the delimiter of a here document */
	struct str text;  /* of a here document: its body */
	struct span body; /* where that stands, with the line of the delimiter; not within `at` */
	bool document;    /* << and <<- */
	bool clobber;     /* >| */
	bool both_ways;   /* written as &> or as |&; that of |& is the last one, and its `at` is the
			     operator's, behind the command */
};

struct assignment {
	struct span at;
	struct str name;
	struct word value; /* never a pattern: none is expanded in an assignment */
};

enum node_kind {
	NODE_COMMAND, /* assignments words redirects; at least one of them */
	NODE_PIPE,    /* children, at least two */
	NODE_AND,     /* child 0 && child 1 */
	NODE_OR,
	NODE_NOT,        /* ! child 0 (a command or pipeline) */
	NODE_TIME,       /* time [-p] child 0 */
	NODE_LIST,       /* children one after the other */
	NODE_BACKGROUND, /* child 0 & */
	NODE_SUBSHELL,   /* ( child 0 ) */
	NODE_GROUP,      /* { child 0; } */
	NODE_IF,         /* condition, then, condition, then ... [, else] */
	NODE_WHILE,      /* condition, body */
	NODE_UNTIL,
	NODE_FOR,  /* name in words; do child 0 */
	NODE_CASE, /* words[0] in arms */
};

/* `pattern | pattern) body ;;` */
struct arm {
	struct span at;
	struct word *patterns;
	size_t n;
	struct node *body; /* NULL: nothing */
};

struct node {
	enum node_kind kind;
	struct span at;
	struct node **children;
	size_t n;
	const struct node *before; /* the part of the pipeline that its input comes from, or NULL */
	struct assignment *assignments; /* NODE_COMMAND */
	size_t n_assignments;
	struct word *words; /* NODE_COMMAND; what NODE_FOR goes through; what NODE_CASE looks at */
	size_t n_words;
	struct redirect *
		redirects; /* of commands, and of the compound commands ( ) { } if while for case */
	size_t n_redirects;
	struct str name; /* NODE_FOR */
	bool posix;      /* NODE_TIME: -p */
	struct arm *arms;
	size_t n_arms;
};

#endif
