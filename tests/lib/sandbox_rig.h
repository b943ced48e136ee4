/*
 * sandbox_rig.h: one run in a sandbox: its user, the attempts inside, the results. A child process
 * prepares it, so that a test can run as another user.
 */
#ifndef DT_TESTS_SANDBOX_RIG_H
#define DT_TESTS_SANDBOX_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "src/sandbox/sandbox.h"
#include "tests/lib/scratch.h"

enum { ROWS = 96, NOBODY = 65534, FAILED = 90 };

/* Memory that the sandbox and the test share. */
struct sandbox_shared {
	int got[ROWS]; /* errno of each attempt; 0: it succeeded */
	int number;
	bool on[LAYERS];
	char error[1024]; /* of sandbox_prepare() */
	char failed[400]; /* of sandbox_enter() */
	char report[1024];
	struct host host;
	pid_t maker;   /* of the sandbox */
	pid_t outside; /* a process outside the sandbox */
	int port;      /* a listener outside */
};

extern struct sandbox_shared *shared;

struct sandbox_plan {
	struct policy policy;
	bool unprivileged;
	void (*host)(struct host *h); /* changes the results of the probe; may be NULL */
	int (*inside)(void);          /* exit status of the run */
};

extern char *tree, *outside;

struct policy plain_policy(void);

/* Gives every user access to the scratch directory: some tests continue as user `nobody`. */
void give_away(void);
int sandbox_rig_make(void **state);
int sandbox_rig_remove(void **state);
void copy_text(char *out, size_t size, const char *text);
int wait_for(pid_t pid);

/* Prepares, enters and ends a sandbox; returns the exit status of its program. */
int sandbox_rig_life(const struct sandbox_plan *p);

/* Skips the test if this user cannot become the plan's. */
void sandbox_rig_assume_user(const struct sandbox_plan *p);
int sandbox_rig_run(const struct sandbox_plan *p);

#define SANDBOX_TEST(name) UNIT_TEST(name, sandbox_rig_make, sandbox_rig_remove)

#endif
