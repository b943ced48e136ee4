/*
 * fixture.h: the small world in which the rows of a table stand. They call it /w: /w/tree is the
 * root, and beside it are /w/tree-other, /w/other and /w/secret, which nothing may reach.
 *
 * A row's text and working directory are mapped to where the world is on this machine: each of
 * these four names, at the beginning of a path, becomes the real one. What the verdict says is
 * mapped back: its offsets are those of the row's own text, its paths begin with /w.
 */
#ifndef DT_POLICY_FIXTURE_H
#define DT_POLICY_FIXTURE_H

#include "src/policy/check.h"
#include "src/policy/table.h"

struct fixture {
	const char *tree;  /* real path; plain characters only, so that it can stand in any text */
	const char *world; /* the folder around it, when it was made here: removed at the end */
	struct root root;
};

/* Makes a world of its own below $TMPDIR or /tmp. -1: ERR_SYSTEM. */
int fixture_make(struct arena *a, struct fixture *f, struct error *err);
/* Takes the tree that is there. -1: ERR_INPUT or ERR_SYSTEM. */
int fixture_take(struct arena *a, const char *dir, struct fixture *f, struct error *err);
void fixture_release(struct fixture *f); /* for CLEANUP; start with {.root.fd = -1} */

/* What the rules say of a row: 0 or -1 with *v. */
int fixture_check(
	struct arena *a, const struct fixture *f, const struct table_row *row, struct verdict *v);

/*
 * Checks every row of `files` in the tree `tree` (NULL: one that it makes) and prints the confusion
 * tables and the rows that differ. 0; ERR_CHECK: a row came out as it must not; -1.
 */
int table_test(struct arena *a, const char *tree, const char *const *files, size_t n, bool as_json,
	struct buf *out, struct error *err);

#endif
