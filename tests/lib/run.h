/*
 * run.h: runs a program to its end, and returns its output and exit status; or functions in several
 * processes at once.
 */
#ifndef DT_TESTS_RUN_H
#define DT_TESTS_RUN_H

#include "src/base/buf.h"

/* The one limit of every wait: a protection against hanging only. It is at least 20 times what
 * anything that a test waits for takes on an idle machine. */
enum { WAIT_LIMIT_S = 600 };

struct run {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *cwd;         /* NULL: the caller's */
	struct str input;        /* standard input; empty: /dev/null */
	unsigned limit_s;        /* 0: none; then its process group is killed */
	unsigned kill_us;        /* 0: never; after that time it is killed too */

	struct buf out, err; /* its output; run_release() */
	int status;          /* exit status; 128 + N when signal N ended it */
	bool timed_out;
};

/* Runs it; ends the program (die) when it cannot be started. Output is cleared first. */
void run(struct run *r);
void run_release(struct run *r);
/* Runs it for at most WAIT_LIMIT_S; true when its exit status is 0. */
bool run_succeeds(const char *const *argv);
/* Calls work(0, data) to work(n - 1, data) in processes of their own, all at once; each exits with
 * the result. Returns how many of them exit with 0. */
unsigned run_processes(unsigned n, int (*work)(unsigned i, void *data), void *data);
/* Memory that such processes share with their parent; zero, and never released. */
void *run_shared(size_t size);
/* A file in memory with this text, to be read from its beginning. */
int run_file(const char *name, struct str text);

/*
 * The directory above this test program that holds `dev-team`, the program under test; it is put
 * first in PATH. The text is static. Ends the program (die) when there is none.
 */
const char *run_find_build(void);
/* From now on every program under test waits WAIT_LIMIT_S for a lock: many processes on a busy
 * machine need more than the usual half a minute. */
void run_wait_for_locks(void);
/* The tests are to run on stores in memory: STORE=memory. That program is then the one under test.
 */
bool run_on_memory(void);

/* An installation in a new directory, with workflows that require no evidence: for tests whose
 * agents only say that they have done something. The caller removes it with tree_remove() and
 * frees it. */
char *run_plugin_without_evidence(const char *root);

#endif
