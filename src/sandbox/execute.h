/*
 * execute.h: runs a tree that was allowed. The tree itself is run (fork, execve, pipes,
 * redirections, cd, if, while, for, case, $( )): no shell is started and the original text is never
 * used again. Before each program the rules are asked again with the real words and the real
 * working directory.
 *
 * One run: private HOME and TMPDIR, an explicit environment, no inherited descriptors, layers of
 * the kernel, time limit, cap on output; when it returns no process of the run is left (but one
 * that the kernel itself holds for more than ten seconds after KILL), and the private directories are
 * gone.
 */
#ifndef DT_SANDBOX_EXECUTE_H
#define DT_SANDBOX_EXECUTE_H

#include "src/policy/check.h"
#include "src/sandbox/sandbox.h"

struct execution {
	const struct policy *policy;
	const struct root *root;
	const struct host *host;
	const struct node *tree;
	struct str text;    /* what the tree was parsed from: spans of denials point into it */
	const char *cwd;    /* relative to the root */
	int in, out, err;   /* descriptors; in -1: /dev/null; out and err get what was capped */
	unsigned timeout_s; /* 0: the policy's */
	unsigned grace_ms;  /* between TERM and KILL; 0: five seconds */
	int cancel;         /* readable: end it all. -1: none */
};

struct execution_end {
	int status; /* of the last command, as a shell gives it; 124 timed out; 128+N by signal N */
	bool started; /* the sandbox was entered: something may have been run, also when -1 came
			 back */
	bool timed_out, cancelled;
	bool cut;      /* output over the cap was left out */
	int unwritten; /* errno of passing output on, where that failed; not where the reader went
			* away */
	bool denied;   /* a check at run time denied something: `verdict` */
	struct verdict verdict;
	int64_t ms;
	json *layers;         /* sandbox_report(); the caller frees it */
	struct texts changed; /* protected files that are not as they were: put back where that
				 could be done */
};

/* 0 when it ran to its end however it ended; -1 when it could not be started (ERR_SYSTEM,
 * ERR_STATE). */
int policy_execute(
	struct arena *a, const struct execution *x, struct execution_end *end, struct error *err);

/*
 * The same on this host; x->host and x->cwd are filled in, the latter from `cwd` (NULL: the root).
 * The run itself tries the layers that such a host usually has; what is missing is probed only when
 * it could not be started. Call execution_end_release() also after -1.
 */
int policy_execute_here(struct arena *a, struct execution *x, const char *cwd,
	struct execution_end *end, struct error *err);
void execution_end_release(struct execution_end *end); /* for CLEANUP */

/* The environment of a run, NULL-ended, before the command's own assignments. */
char **run_environment(
	struct arena *a, const struct execution *x, const char *home, const char *tmp);

/*
 * The interpreter: runs `tree` in this process, which is the sandboxed one; the status. `denied`
 * gets the verdict of a check that said no at run time; then nothing further is started.
 */
int interpret(
	struct arena *a, const struct execution *x, char **environment, struct verdict *denied);

/* ---- what `policy exec --report FILE` leaves for machines ---- */

/* The command may be able to write FILE itself, so it is made anew when nothing of the run is left,
 * and put in place by a rename. */
/* What is known when it is written; each may be NULL. */
struct execution_report {
	const struct policy *policy;
	const struct verdict *verdict;
	const struct execution_end *end;
	const struct error *error; /* it could not be run */
};

/* Tries before anything is started whether FILE can be written. `path` NULL: no report. */
int execution_report_try(struct arena *a, const char *path, struct error *err);
int execution_report_write(
	struct arena *a, const char *path, const struct execution_report *o, struct error *err);

#endif
