/*
 * diff_internal.h: the state of diff_read(). For diff*.c alone.
 */
#ifndef DT_REVIEW_DIFF_INTERNAL_H
#define DT_REVIEW_DIFF_INTERNAL_H

#include "src/review/diff.h"

struct file {
	unsigned line;                /* where it begins */
	const char *old, *new, *both; /* NULL: not told yet */
	unsigned traits;
	bool sides;       /* there were --- and +++ */
	bool blanks_only; /* so far */
	unsigned blocks;  /* of changed lines */
};

struct reader {
	struct arena *arena;
	const char *name;
	struct str rest;
	unsigned line; /* of what was read last */
	struct error *err;
	const char **paths;
	unsigned *traits;
	size_t n, cap;
	int64_t added, removed;
	bool in_file, blanks_only;
	struct file file;
	struct buf out, in; /* a block's lines without the blanks at their ends */
};

static inline void reader_release(struct reader *r)
{
	buf_release(&r->out);
	buf_release(&r->in);
}

bool diff_next_line(struct reader *r, struct str *line);
int diff_fault(const struct reader *r, const char *what); /* at r->line; -1 */

/* Cuts a name off *text, quoted as git does or up to the end, and its prefix off it. NULL: there is
 * none. */
const char *diff_name(struct arena *a, struct str *text, const char *prefix);
/* The one name that `a/NAME b/NAME` says twice. NULL: it cannot be told, as of a renamed file. */
const char *diff_names(struct arena *a, struct str text);

/* The lines behind `@@ ` and this. */
int diff_take_hunk(struct reader *r, struct str text);
int diff_skip_binary(struct reader *r);

#endif
