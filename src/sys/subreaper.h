/*
 * subreaper.h: ends the processes that a program leaves behind. As a subreaper the caller becomes
 * the parent of the children of processes that have ended (PR_SET_CHILD_SUBREAPER).
 */
#ifndef DT_SUBREAPER_H
#define DT_SUBREAPER_H

#include <signal.h>
#include <sys/types.h>
#include "src/base/base.h"

struct pid_list {
	pid_t *items;
	size_t n, cap;
};

struct subreaper {
	struct pid_list before;     /* children that the caller had: left alone */
	struct pid_list terminated; /* have been sent TERM */
	int was_subreaper;
	struct sigaction was_sigchld;
};

/* From here on orphans become children of the caller. */
void subreaper_begin(struct subreaper *s);
/* Reaps orphans that have ended; sends the others TERM, once, or KILL. Returns how many it saw. */
size_t subreaper_round(struct subreaper *s, bool kill_now);
/* Restores what was before subreaper_begin(). */
void subreaper_end(struct subreaper *s);

#endif
