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

#endif
