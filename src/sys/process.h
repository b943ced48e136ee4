/*
 * process.h: programs that are run to their end: explicit arguments, no shell unless one is named,
 * a session and process group of their own (so no terminal), a time limit (TERM, then KILL),
 * nothing left behind: what a program put into the background, daemons too, is ended with it.
 *
 * While process_run() works, the caller adopts orphans (PR_SET_CHILD_SUBREAPER). Children that it
 * had before are left alone. Not for two threads at once.
 */
#ifndef DT_PROCESS_H
#define DT_PROCESS_H

#include "src/base/buf.h"

enum { PROCESS_GRACE_MS = 5000 };

struct process {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *cwd;         /* NULL: as the caller */
	const char *const *env;  /* NULL-ended, may be NULL: `NAME=value` sets, `NAME` removes */
	bool env_whole;          /* env is all that it gets: nothing comes from the caller's */
	struct str input;        /* standard input; empty: /dev/null */
	int output;              /* descriptor that gets stdout and stderr together; -1: collect */
	size_t output_max;       /* with `output`: the rest is left out; 0: all of it */
	const char *output_cut;  /* what is written in place of the rest */
	struct buf *out; /* with output -1: collected stdout and stderr, at most out_max bytes */
	size_t out_max;  /* the rest is read and thrown away */
	/* With output -1, in place of `out`: each piece as it comes; `errors`: of stderr, which
	 * then is apart from stdout. False: it is ended as at a cancel. */
	bool (*heard)(void *data, bool errors, struct str piece);
	void (*tick)(void *data); /* each tick_ms until it ends; may be NULL */
	unsigned tick_ms;
	void *data;         /* of both */
	unsigned timeout_s; /* 0: none */
	unsigned grace_ms;  /* between TERM and KILL; 0: PROCESS_GRACE_MS */
	int cancel;   /* descriptor; once it is readable all is ended as at a time limit. 0: none */
	int on_death; /* signal that it gets when the caller dies; 0: KILL */
};

struct process_end {
	int status; /* exit status; 128 + N when signal N ended it */
	bool timed_out;
	bool cancelled;
	bool missing; /* argv[0] could not be found; process_run() gave -1 */
	int64_t ms;
};

/* Runs it. 0 when it was started and has ended however it ended; -1 when it could not be started.
 */
int process_run(const struct process *p, struct process_end *end, struct error *err);

#endif
