/*
 * process.h: programs that are run to their end: explicit arguments, no shell unless one is named,
 * own process group, a time limit (TERM, then KILL), nothing left behind.
 */
#ifndef DT_PROCESS_H
#define DT_PROCESS_H

#include "src/base/buf.h"

struct process {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *cwd;	 /* NULL: as the caller */
	const char *const *env;	 /* extra `NAME=value`, NULL-ended; may be NULL */
	struct str input;	 /* standard input; empty: /dev/null */
	int output;		 /* descriptor that gets stdout and stderr together; -1: collect */
	struct buf *out;    /* with output -1: collected stdout and stderr, at most out_max bytes */
	size_t out_max;	    /* the rest is read and thrown away */
	unsigned timeout_s; /* 0: none */
};

struct process_end {
	int status; /* exit status; 128 + N when signal N ended it */
	bool timed_out;
	bool missing; /* argv[0] could not be found */
	int64_t ms;
};

/* Runs it. 0 when it was started and has ended however it ended; -1 when it could not be started.
 */
int process_run(const struct process *p, struct process_end *end, struct error *err);

#endif
