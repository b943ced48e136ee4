/*
 * hear.h: what a program says while it runs, piece by piece, and what that makes of the run when it
 * has ended. For invoke.c, and for those who play a program.
 */
#ifndef DT_HARNESS_HEAR_H
#define DT_HARNESS_HEAR_H

#include "src/sys/process.h"
#include "src/harness/lines.h"
#include "src/harness/session.h"

struct hearing {
	struct session *s;
	struct lines lines, error_lines;
	struct tail errors;
	struct tail plain; /* the last lines that are no JSON: what a program says that breaks */
	struct buf whole;
	struct buf said, printed; /* what `errors` and `plain` are when it has ended, masked */
};

/* A session that session_begin() has begun. */
void hearing_begin(struct hearing *r, struct session *s);
/* As struct process wants it; false: no more is wanted. */
bool hearing_take(void *hearing, bool errors, struct str piece);
void hearing_end(struct hearing *r, const struct process_end *end);
void hearing_release(struct hearing *r);

#endif
