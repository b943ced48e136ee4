/*
 * run.h: carries out the actions of work items: steps, calls agents, runs scripts, and steps again
 * until the item is done. Needs a logger and, for progress, a callback; prints nothing itself.
 */
#ifndef DT_RUN_H
#define DT_RUN_H

#include "src/base/json.h"
#include "src/run/locate.h"

/* ---- one step ---- */

struct step_call {
	const char *id;
	/* NULL: locate them. */
	const char *workflow, *context_file, *research_skill, *root, *repo;
	bool returned;
	const char *returned_id;    /* may be NULL */
	const char *owner;          /* may be NULL */
	bool take_over;             /* needs owner */
	const char *const *results; /* `ACTION=TEXT` */
	size_t n_results;
	bool quiet;
	bool agents_are_paid; /* warns at the start of a run that cannot be validated */
};

/* Replaces every NULL by an absolute path. -1: also a malformed id or owner. */
int step_resolve(struct arena *a, struct step_call *call, struct error *err);
/* One step of a resolved call. Adds the array of actions, one line without a newline. */
int step_run(struct arena *a, const struct step_call *call, struct buf *out, struct error *err);
/* Releases the lease if call->owner holds it. Best effort. */
void step_release_lease(const struct step_call *call);

/* ---- progress ---- */

/* Called in the process of the run, as actions end. Either may be NULL. */
struct run_progress {
	/* `word`: the result word of the answer; "" if there is none. */
	void (*action)(void *data, const json *action, const char *word);
	void (*done)(void *data, const json *done);
	void *data;
};

/* A line on standard error for each; coloured on a terminal. */
struct run_progress run_progress_lines(void);

/* ---- runs ---- */

enum { RUN_MAX_ACTIONS = 1000 };

struct run_request {
	struct step_call call;       /* of the one work item; call.id is set by run_items() */
	const char *agents;          /* file of scripted agents; NULL: none */
	const char *harness, *model; /* real agents; NULL: as the pipeline says */
	const char *pipeline;        /* name; NULL: none */
	const char *resources, *artifacts;
	const char *parent, *at_once;
	const char *const *pass_env; /* variables that agents get too */
	size_t n_pass_env;
	unsigned timeout_s, slots; /* 0: default */
	unsigned long max_actions;
	bool worktree;
	struct run_progress progress;
	const char *const *options; /* as given; passed to each of several runs */
	size_t n_options;
};

/*
 * One id: prints the last array. Several: each is a run of its own in a worktree of its own, and
 * the result is an array with an object for each. 0: success; ERR_CHECK: a run ended failed; -1.
 */
int run_items(struct arena *a, const struct run_request *q, const char *const *ids, size_t n,
	struct buf *out, struct error *err);

/* ---- signals ---- */

/*
 * Catches INT, TERM, HUP and QUIT. The first one makes *fd readable for good, in all processes that
 * have it: whoever waits on it ends its program and returns. The second one ends this process at
 * once; that is safe, because the children finish what they have begun.
 */
int interrupt_begin(int *fd, struct error *err);
/* In a child that has a program to end: no later signal ends it at once. */
void interrupt_child(void);
/* The signal that was caught, or 0. */
int interrupt_caught(void);
/* Restores the previous handlers. */
void interrupt_end(void);

/* ---- doctor ---- */

/*
 * Checks everything a run needs: programs, the state directory, the sandbox, the installation, the
 * repository (`repo` NULL: that of the working directory). Adds a line for each finding: "ok",
 * "warn" (a run works without it) or "fail", the subject, the state, and the repair. False: a check
 * failed.
 */
bool doctor_check(struct arena *a, const char *repo, struct buf *out);

#endif
