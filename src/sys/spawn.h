/*
 * spawn.h: the first half of process.h: one program started. For process.c alone.
 */
#ifndef DT_SPAWN_H
#define DT_SPAWN_H

#include <sys/types.h>
#include "src/sys/process.h"

struct spawned {
	pid_t pid;  /* also its process group and session */
	int handle; /* pidfd, -1 where the kernel has none */
	int output; /* read end, non-blocking; -1 when the program has p->output itself */
	int errors; /* the same of stderr; -1 unless p->heard */
};

/* -1: not started; nothing to clean up. */
int spawn(const struct process *p, struct spawned *s, bool *missing, struct error *err);

#endif
