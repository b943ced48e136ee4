/*
 * wait.h: a work item that waits for a time. The wait is in the document, so that any session sees
 * it and a person can change it: `wait_until`, an RFC 3339 time, and `wait_reason`. A step before
 * the time prints `done` with the result `waiting`; the first one after it drops the wait.
 */
#ifndef DT_WAIT_H
#define DT_WAIT_H

#include "context/file.h"

/* How long a limit is waited for whose end is not known: doubled each time until an answer comes.
 */
enum { WAIT_UNKNOWN_S = 900, WAIT_UNKNOWN_MAX_S = 14400 };

struct wait {
	int64_t until; /* seconds since 1970 UTC; 0: the item waits for nothing */
	const char *reason;
};

/* Texts are in the document's arena. */
struct wait wait_read(const struct context *c);
/* True if the item waits for a later time than `now`. */
bool wait_is_open(const struct context *c, int64_t now);

/*
 * The model's service has a usage limit, which says nothing about the agent: the item waits until
 * the limit is reset. `until` 0, or not later than now: the reset is not known. An item that waits
 * already keeps the later time, and one without outstanding actions does not wait. Saves; the
 * outstanding actions stay as they are.
 */
int wait_for_limit(struct context_file *f, int64_t until, const char *reason, struct error *err);
/* Drops the wait, without saving. */
void wait_drop(struct context *c);

#endif
