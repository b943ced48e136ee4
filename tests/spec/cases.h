/*
 * cases.h: a file of spec cases (tests/spec/README.md) read into blocks. Anything unknown to the
 * format is a fault: a block that is silently skipped tests nothing.
 *
 * Ownership: texts borrow from the file's text, arrays live in the arena.
 */
#ifndef DT_TESTS_SPEC_CASES_H
#define DT_TESTS_SPEC_CASES_H

#include "src/base/buf.h"

enum block_kind { BLOCK_FILE, BLOCK_REPO, BLOCK_CONSOLE, BLOCK_STDERR, BLOCK_EXPECT };

struct block {
	enum block_kind kind;
	struct str path; /* of file, repo and expect */
	struct str body; /* with its last newline */
	unsigned line;   /* of the opening fence */
};

struct spec_case {
	struct str title;
	struct str prose; /* from the heading to the first block */
	unsigned line;
	struct block *blocks;
	size_t n;
};

struct spec_file {
	struct spec_case *cases;
	size_t n;
};

/* -1: ERR_INPUT with the place. */
int cases_parse(struct arena *a, const char *file, struct str text, struct spec_file *out,
	struct error *err);

/* One command of a console block. */
struct command {
	struct str text;     /* what sh runs */
	struct str expected; /* its standard output */
	int status;
	unsigned line;
};

/*
 * Cuts the next command off *body, whose first line is `*line` of the file. 1, 0 at the end, or -1.
 */
int command_next(struct arena *a, const char *file, struct str *body, unsigned *line,
	struct command *out, struct error *err);

#endif
