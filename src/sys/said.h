/*
 * said.h: what a program said when it failed, fit for one line of ours.
 */
#ifndef DT_SAID_H
#define DT_SAID_H

#include "src/sys/process.h"

/* The last lines of `said` that are not hints, joined by `; `; credentials in URLs are struck out.
 */
void said_last(struct str said, struct buf *out);

/*
 * 0 when a program, `name` for people, ended well; else -1: ERR_SYSTEM with the time limit or its
 * words.
 */
int said_check(const struct process *p, const struct process_end *end, const char *name,
	struct str said, struct error *err);

#endif
