/*
 * cli.h: a verb is one file that opens with its descriptor; src/cli/list.h names them all. A verb
 * parses its options, calls one room, and hands back text and an exit code: main.c alone prints and
 * exits.
 *
 * To add a verb: (1) src/cli/NAME.c defining `verb_NAME`; (2) a row in src/cli/list.h; (3) a spec
 * case in tests/spec; (4) a row in docs/verbs.md. `make check` fails until all agree.
 */
#ifndef DT_CLI_H
#define DT_CLI_H

#include "src/base/buf.h"

struct option_spec {
	const char *name;     /* without the dashes */
	const char *argument; /* metavariable; NULL: a flag; "[X]": may be left out (--name or
				 --name=X) */
	const char *help;
	bool repeats;
};

enum { MAX_OPTIONS = 24, MAX_WORDS = 64, MAX_REPEATS = 512 };

/* What the command line said. Texts are argv's. */
struct args {
	const char *value[MAX_OPTIONS]; /* by index in the verb's option table; "" for a flag or an
					   omitted argument */
	const char **repeated;          /* values of the (one) option that repeats */
	size_t n_repeated;
	const char *words[MAX_WORDS]; /* positional */
	size_t n;
};

struct invocation {
	struct arena *arena;
	const struct args *args;
	struct buf *out; /* becomes stdout unless the verb returns -1 */
};

struct verb {
	const char *name;
	const char *synopsis;              /* words after the name */
	const char *about;                 /* one line */
	const char *details;               /* paragraphs for --help; may be NULL */
	const struct option_spec *options; /* ended by a NULL name; may be NULL */
	unsigned min_words, max_words;
	/* 0, ERR_CHECK (with text in out), -1 with *err; or its code, when the error was said and
	 * there is text in out all the same. */
	int (*run)(struct invocation *in, struct error *err);
};

#define X(name) extern const struct verb verb_##name;
#include "src/cli/list.h"
#undef X

extern const struct verb *const verbs[]; /* in the order of list.h, NULL-ended */

/* Parses what follows the verb's name. -1: ERR_USAGE. */
int args_parse(struct arena *a, const struct verb *v, int argc, char **argv, struct args *out,
	struct error *err);
/* Text of `dev-team --help` and `dev-team VERB --help`. */
void help_all(struct buf *out);
void help_verb(struct buf *out, const struct verb *v);

#endif
