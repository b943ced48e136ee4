/*
 * option.h: command lines as tables. A verb is a descriptor: its name, its texts for people, its
 * options, its positional words, and either a function or subcommands, which are verbs themselves.
 * One parser binds the values of the options to the fields of a struct. `--help`, the completion
 * of the shells and the manual page are made from the same tables.
 *
 * Option values and words are borrowed from argv. All else lives in the invocation's arena.
 */
#ifndef DT_OPTION_H
#define DT_OPTION_H

#include "src/base/buf.h"

enum option_kind {
	OPTION_KIND_FLAG,     /* bool */
	OPTION_KIND_TEXT,     /* const char *; NULL: not given */
	OPTION_KIND_OPTIONAL, /* const char *: `--name` gives "", `--name=VALUE` the value */
	OPTION_KIND_CHOICE,   /* const char *: one of the words of `argument`, separated by '|' */
	OPTION_KIND_NUMBER,   /* int64_t in min..max */
	OPTION_KIND_DECIMAL,  /* double in min..max */
	OPTION_KIND_LIST, /* const char **, NULL-ended: may be given more than once; NULL: not */
};

struct option {
	const char *name;     /* without the dashes; NULL ends a table */
	const char *argument; /* how the value is called in the help; NULL: a flag */
	const char *help;     /* lower case, no full stop */
	enum option_kind kind;
	size_t field; /* offset in the verb's struct of values */
	double min, max;
	bool required; /* must be given, and not empty */
	char letter;   /* its short form, such as 'f' for -f; 0: none */
};

/* Rows of a table. `type` is the struct of the values; the type of the field is checked. */
#define OPTION_FIELD(type, field, of)                                                              \
	(offsetof(type, field) + 0 * sizeof((of *)NULL == &((type *)NULL)->field))
#define OPTION_ROW(KIND, of, type, field, name, argument, help, ...)                               \
	{                                                                                          \
		name, argument, help, OPTION_KIND_##KIND, OPTION_FIELD(type, field, of),           \
			__VA_ARGS__                                                                \
	}
#define OPTION_FLAG(type, field, name, help)                                                       \
	OPTION_ROW(FLAG, bool, type, field, name, NULL, help, 0, 0, false, 0)
#define OPTION_FLAG_LETTER(type, field, name, letter, help)                                        \
	OPTION_ROW(FLAG, bool, type, field, name, NULL, help, 0, 0, false, letter)
#define OPTION_TEXT(type, field, name, argument, help)                                             \
	OPTION_ROW(TEXT, const char *, type, field, name, argument, help, 0, 0, false, 0)
#define OPTION_REQUIRED(type, field, name, argument, help)                                         \
	OPTION_ROW(TEXT, const char *, type, field, name, argument, help, 0, 0, true, 0)
#define OPTION_OPTIONAL(type, field, name, argument, help)                                         \
	OPTION_ROW(OPTIONAL, const char *, type, field, name, argument, help, 0, 0, false, 0)
#define OPTION_CHOICE(type, field, name, words, help)                                              \
	OPTION_ROW(CHOICE, const char *, type, field, name, words, help, 0, 0, false, 0)
#define OPTION_NUMBER(type, field, name, argument, min, max, help)                                 \
	OPTION_ROW(NUMBER, int64_t, type, field, name, argument, help, min, max, false, 0)
#define OPTION_DECIMAL(type, field, name, argument, min, max, help)                                \
	OPTION_ROW(DECIMAL, double, type, field, name, argument, help, min, max, false, 0)
#define OPTION_LIST(type, field, name, argument, help)                                             \
	OPTION_ROW(LIST, const char **, type, field, name, argument, help, 0, 0, false, 0)
#define OPTION_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

enum { OPTION_TABLES = 4 };

struct verb;

struct invocation {
	struct arena *arena;
	const char *path;   /* of the verb that runs, such as "pool list" */
	const void *values; /* the struct that the options are bound to */
	const char **words; /* positional, NULL-ended */
	size_t n;           /* of words */
	struct buf *out;    /* becomes standard output unless run() returns -1 */
};

struct verb {
	const char *name;
	const char *group;    /* heading in the program's help; subcommands: NULL */
	const char *about;    /* one line: what it does for the user */
	const char *also;     /* words of other programs for it, with blanks: suggested; or NULL */
	const char *details;  /* paragraphs; lines that begin with a blank are kept; may be NULL */
	const char *examples; /* command lines, one a line; may be NULL */
	/*
	 * The positional words: "FILE [SECTION...]". One in brackets may be left out, "..." may be
	 * repeated; "< TEXT" at the end says what is read from standard input.
	 */
	const char *words;
	const struct option *options[OPTION_TABLES];
	/* Of the struct of values, and such a struct; NULL: all zero. Subcommands without a size
	 * have those of their verb. */
	size_t size;
	const void *defaults;
	const struct verb *const *subcommands; /* NULL-ended; may be NULL */
	/*
	 * Returns 0, or ERR_CHECK (with the result in out), or -1 with *err; or another exit code
	 * when the error was logged and there is a result all the same. A verb with subcommands and
	 * run() runs by itself where no word names a subcommand, which may then stand behind the
	 * first word, too.
	 */
	int (*run)(struct invocation *in, struct error *err);
};

/*
 * Runs what the command line asks of `program`, whose subcommands are the verbs. argv is without
 * the program's own name. -1: ERR_USAGE, or as run() says.
 */
int option_dispatch(struct arena *a, const struct verb *program, int argc, char **argv,
	struct buf *out, struct error *err);

/* Binds argv to `values` and the words: what option_dispatch() does for the verb that it finds. */
int option_parse(struct invocation *in, const struct verb *v, int argc, char **argv, void *values,
	struct error *err);

/* For every row `o` of the tables of the verb `v`. */
#define OPTION_EACH(v, o)                                                                          \
	for (size_t o##_table = 0; o##_table < OPTION_TABLES && (v)->options[o##_table];           \
		o##_table++)                                                                       \
		for (const struct option *o = (v)->options[o##_table]; o->name; o++)

/* The text of `--help`. `path` is as in the invocation; NULL: `v` is the program. */
void option_help(struct buf *out, const char *path, const struct verb *v);
/* For a command line without a verb: the usage, and the first group. */
void option_help_first(struct buf *out, const struct verb *program);
/* Scripts that complete the words of a command line. */
void option_bash(struct buf *out, const struct verb *program);
void option_zsh(struct buf *out, const struct verb *program);
void option_fish(struct buf *out, const struct verb *program);
/* The sections SYNOPSIS and COMMANDS of the manual page, in mdoc. */
void option_manual_synopsis(struct buf *out, const struct verb *program);
void option_manual_commands(struct buf *out, const struct verb *program);

#endif
