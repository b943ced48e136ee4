/*
 * execute.h: runs an allowed tree. It interprets the tree itself (fork, execve, pipes,
 * redirections, cd, if, while, for, case, $( )): no shell is started and the original text is never
 * used again. Before each program the rules are checked again with the real words and the real
 * working directory.
 *
 * One run: private HOME and TMPDIR, an explicit environment, no inherited descriptors, layers of
 * the kernel, time limit, cap on output; when it returns no process of the run is left (but one
 * that the kernel itself holds for more than ten seconds after KILL), and the private directories
 * are gone.
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
	struct str text;  /* the text of the tree: spans of denials point into it */
	const char *cwd;  /* relative to the root */
	int in, out, err; /* descriptors; in -1: /dev/null; out and err receive the capped output */
	unsigned timeout_s; /* 0: the policy's */
	unsigned grace_ms;  /* between TERM and KILL; 0: five seconds */
	int cancel;         /* readable: end the run. -1: none */
};

struct execution_end {
	int status; /* of the last command, as a shell gives it; 124 timed out; 128+N by signal N */
	bool started; /* the sandbox was entered: something may have run, also when -1 was returned
		       */
	bool timed_out, cancelled;
	bool cut;      /* output over the cap was dropped */
	int unwritten; /* errno of passing output on, where that failed; not where the reader went
			* away */
	bool denied;   /* a check at run time denied a command: `verdict` */
	struct verdict verdict;
	int64_t ms;
	json *layers;         /* sandbox_report(); the caller frees it */
	struct texts changed; /* protected files that were changed: restored where possible */
};

/* 0 when it ran to its end, whatever its status; -1 when it could not be started (ERR_SYSTEM,
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
 * The interpreter: runs `tree` in this process, which is the sandboxed one, and returns its status.
 * `denied` gets the verdict of a check that denied a command; then nothing further is started.
 */
int interpret(
	struct arena *a, const struct execution *x, char **environment, struct verdict *denied);

/* ---- the file of `policy exec --report FILE` ---- */

/* The command may be able to write FILE itself, so it is written after the last process of the run
 * has ended, and renamed into place. */
/* The known facts; each may be NULL. */
struct execution_report {
	const struct policy *policy;
	const struct verdict *verdict;
	const struct execution_end *end;
	const struct error *error; /* it could not be run */
};

/* Checks before the run whether FILE can be written. `path` NULL: no report. */
int execution_report_try(struct arena *a, const char *path, struct error *err);
int execution_report_write(
	struct arena *a, const char *path, const struct execution_report *o, struct error *err);

#endif
