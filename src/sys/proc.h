/*
 * proc.h: what /proc tells about processes.
 */
#ifndef DT_PROC_H
#define DT_PROC_H

#include <sys/types.h>
#include "src/base/base.h"

struct proc_info {
	pid_t pid, parent;
	char state;  /* 'Z': ended, not yet reaped */
	bool unborn; /* forked, and no program was ever started in it */
	uint64_t
		start; /* clock ticks since boot: with the pid it identifies one process for ever */
};

/* False when there is no such process, or /proc cannot be read. */
bool proc_info(pid_t pid, struct proc_info *info);
/* Calls fn for every process. */
void proc_each(void (*fn)(const struct proc_info *info, void *arg), void *arg);
/* True when `entry` (`NAME=value`) is in the environment that the process was started with. */
bool proc_has_env(pid_t pid, const char *entry);
/* *pid: of a process other than this one whose working directory is `dir` (resolved) or below it;
 * 0: none that this user may see. -1: /proc cannot be read. */
int proc_within(const char *dir, pid_t *pid);
/* True when a process that this user may inspect has the file (resolved) open. */
bool proc_has_open(const char *path);

#endif
