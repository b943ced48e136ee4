/*
 * request.h: work items, brought to their end without a person, as one command line asks for it.
 */
#ifndef DT_RUN_REQUEST_H
#define DT_RUN_REQUEST_H

#include "src/run/step_run.h"

enum { RUN_MAX_ACTIONS = 1000 };

struct run_request {
	struct step_call call;       /* of the one work item; call.id is set by run_items() */
	const char *agents;          /* file of scripted agents; NULL: none */
	const char *harness, *model; /* real agents; NULL: as the pipeline says */
	const char *pipeline;        /* name; NULL: none */
	const char *resources, *artifacts;
	const char *parent, *at_once;
	const char *const *pass_env; /* names of variables that agents get too */
	size_t n_pass_env;
	unsigned timeout_s, slots; /* 0: default */
	unsigned long max_actions;
	bool worktree;
	const char *const *options; /* as they were given: each of several runs gets them */
	size_t n_options;
};

/*
 * One id: prints the last array. Several: each is a run of its own in a worktree of its own, and
 * the result is an array with an object for each. 0: success; ERR_CHECK: a run ended failed; -1.
 */
int run_items(struct arena *a, const struct run_request *q, const char *const *ids, size_t n,
	struct buf *out, struct error *err);

#endif
