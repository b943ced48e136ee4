/*
 * mending.h: what the two steps that have something mended share: `fixing` and `fixing-pr`.
 */
#ifndef DT_MENDING_H
#define DT_MENDING_H

#include "steps/steps.h"

struct mending {
	const char *counter; /* how often it was done */
	size_t limit;        /* how often it may be: offset in struct limits */
	const char *message; /* before the work item and the section */
	const char *notes;   /* section that says what is wrong */
};

/* Asks the developer for `Fix N`, unless it is there or the limit is reached. */
void mending_ask(struct moment *m, const struct mending *kind);
/* max_retries, a failed answer, or fix_done with the counter raised. True upon the last. */
bool mending_decide(struct moment *m, const struct mending *kind);

#endif
