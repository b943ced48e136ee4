/*
 * strays.h: processes that come (back) to the caller as children, and their end. For process.c
 * alone.
 */
#ifndef DT_STRAYS_H
#define DT_STRAYS_H

#include <signal.h>
#include <sys/types.h>
#include "src/base/base.h"

struct pids {
	pid_t *p;
	size_t n;
};

struct strays {
	struct pids before; /* children of the caller's own: not touched */
	struct pids told;   /* have had their TERM */
	int was_reaper;
	struct sigaction was_sigchld;
};

/* From here on orphans come to the caller. */
void strays_begin(struct strays *s);
/* Waits for those that have ended; asks the others to end, once, or kills them. How many it saw. */
size_t strays_end(struct strays *s, bool now);
/* Gives the adoption of orphans back, frees. */
void strays_release(struct strays *s);

#endif
