/*
 * torture.h: what the sessions of a torture run leave, and its accounting.
 *
 *     DIR/T-N.md      the work items, with their journals
 *     DIR/acks.N      of a session: an acknowledged answer a line, `ITEM ACTION CHECKSUM`
 *     DIR/produced    a line of each script that ran: its lock file
 *     DIR/slow        edits in place that took so long that they may be lost: `ITEM NUMBER` a line
 *
 * The files are apart because the run and its accounting are two programs in one.
 */
#ifndef DT_TESTS_CRASH_TORTURE_H
#define DT_TESTS_CRASH_TORTURE_H

#include "src/base/buf.h"

enum { TORTURE_ITEMS = 4 };

struct torture {
	char *dir;
	int64_t seed, end;             /* end: of clock_ticks() */
	unsigned edits[TORTURE_ITEMS]; /* by hand */
};

/* The numbers of edits in the line `hand:` of a document; cuts the next one off. */
struct str torture_markers(struct str text);
bool torture_next_marker(struct str *list, unsigned long *n);
/* Adds a result for each check. False: one failed. */
bool torture_audit(const struct torture *t);

#endif
