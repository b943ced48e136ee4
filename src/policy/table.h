/*
 * table.h: rows of commands with what the rules must say of them, one JSON object a line, each with
 * its own policy:
 *
 *   {"id":"A1","command":"ls","policy":{"name":"x","allow":["ls"]},"cwd":"/w/tree",
 *    "expect":"allow","class":"ok","tier":1,"why":"plain"}
 *
 * All members must be there and there is no other. `policy` is an object (see policy_from_json()),
 * or the name of one that a former row of the file has, or of a shipped one. `tier` 2 is what is
 * nice to have: an allow row of it may be denied. In `command` \u0000 is a NUL.
 */
#ifndef DT_POLICY_TABLE_H
#define DT_POLICY_TABLE_H

#include "src/policy/policy.h"
#include "src/policy/check.h"

struct table_row {
	const char *id, *class, *why, *cwd;
	struct str command;
	const struct policy *policy;
	bool allow;
	unsigned tier, line;
};

struct table {
	const char *file;
	struct table_row *rows; /* in the arena, like all their texts */
	size_t n;
};

/* -1: ERR_INPUT with FILE:LINE:COL, or ERR_SYSTEM. */
int table_read(struct arena *a, const char *file, struct table *out, struct error *err);

/* How the rows of one class came out: [expected to be allowed][allowed]; tier 2 for itself. */
struct confusion {
	const char *class;
	unsigned count[2][2], second[2][2];
};

struct confusions {
	struct confusion *p; /* in the order in which the classes first come */
	size_t n, cap;
};

void confusion_add(
	struct arena *a, struct confusions *all, const struct table_row *row, bool allowed);
struct confusion confusion_sum(const struct confusions *all);
/* True where a row came out as it must not: only allow rows of tier 2 may differ. */
bool confusion_bad(const struct confusion *c);
/* A table for people. */
void confusion_print(struct buf *out, const struct confusions *all);
json *confusion_json(const struct confusion *c);

/* ---- the small world in which the rows of a table stand ---- */

/*
 * They call it /w: /w/tree is the root, and beside it are /w/tree-other, /w/other and /w/secret,
 * which nothing may reach.
 *
 * A row's text and working directory are mapped to where the world is on this machine: each of
 * these four names, at the beginning of a path, becomes the real one. What the verdict says is
 * mapped back: its offsets are those of the row's own text, its paths begin with /w.
 */
struct fixture {
	const char *tree;  /* real path; plain characters only, so that it can stand in any text */
	const char *world; /* the directory around it, when it was made here: removed at the end */
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
