/*
 * procfs.h: what /proc tells about processes.
 */
#ifndef DT_PROCFS_H
#define DT_PROCFS_H

#include <sys/types.h>
#include "src/base/base.h"

struct proc_info {
	pid_t pid, parent;
	char state;     /* 'Z': ended, not yet waited for */
	bool unborn;    /* forked, and no program was ever started in it */
	uint64_t start; /* clock ticks since boot: with the pid it names one process for ever */
};

/* False when there is none, or /proc cannot be read. */
bool proc_info(pid_t pid, struct proc_info *info);
/* Calls fn for every process that there is. */
void proc_each(void (*fn)(const struct proc_info *info, void *arg), void *arg);
/* True when `entry` (`NAME=value`) is in the environment that the process was started with. */
bool proc_has_env(pid_t pid, const char *entry);
/* *pid: of a process, this one apart, that works in folder `dir` (resolved) or below it; 0: none
 * that this user may see. -1: /proc cannot be read. */
int proc_within(const char *dir, pid_t *pid);
/* Some process that this user may look into has the file (resolved) open. */
bool proc_has_open(const char *path);

#endif
