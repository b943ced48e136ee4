/*
 * run_staff.h: real agents for `run`: each action of an agent is one prompt for a harness, and the
 * agent's last message is its answer. Which harness and model an action gets says --harness, or the
 * stage of a pipeline that has its name. For run.c and run_part.c.
 */
#ifndef DT_RUN_STAFF_H
#define DT_RUN_STAFF_H

#include "src/event/run_state.h"
#include "src/harness/pipeline.h"
#include "src/harness/pipeline.h"

struct staff_ask {            /* as the command line says; NULL: not said */
	const char *workflow; /* file */
	const char *harness, *model, *resources, *artifacts, *root;
	unsigned timeout_s; /* of each agent; 0: as the stages say */
	const struct pipeline *pipeline;
	const struct worktree_pool_spec *pool; /* the pipeline's */
	const char *id, *repo, *context_file;
	const char *const *pass; /* names of variables; n_pass */
	size_t n_pass;
};

struct staff {
	const char *id, *repo, *context_file;
	const char *main_repo; /* where stages with `isolation: inplace` work; NULL: repo */
	const char *branch;    /* of the worktree; NULL: as the skills say, dev-team/ID */
	unsigned port;         /* of the worktree; 0: none */
	const char *resources; /* as the command line says; NULL: not */
	const char *root;      /* of roles and skills */
	const char *artifacts; /* folder */
	const struct pipeline *pipeline; /* NULL: none */
	const struct worktree_pool_spec *pool;
	struct words chain; /* of --harness; none: as the stages say */
	const char *model;  /* --model; NULL: as the stages say */
	unsigned timeout_s; /* 0: as the stages say */
	struct words pass;  /* variables of ours that the agents get too */
	struct model_registry models;
	const struct model_pin *pins; /* of the pipeline's stages */
	struct pipeline_plan load;             /* of the pipeline, with the chains that are left */
};

struct pipeline_ask {
	const char *name;
	const char *resources, *artifacts; /* options (places.h); NULL: not given */
	const char *repo;
};
/* The pipeline; all resources go to *all. Of refused ones the events are told. */
int staff_pipeline(struct arena *a, const struct pipeline_ask *ask, struct resources *all,
	const struct pipeline **out, struct error *err);
/* Reads and checks all of it before anything runs: harnesses that there are and that can be used,
 * models, the pipeline. -1: the first fault, told. */
int staff_hire(struct arena *a, const struct staff_ask *ask, struct staff *out, struct error *err);

struct served {
	bool answered;
	struct str text; /* the answer */
	const char *how; /* for the line that people see: `codex: timeout` */
	json *note;      /* of the event agent_run; the caller's */
};

/* One action of an agent, done by a harness. -1: no harness of the chain can be used, or a fault of
 * our side: the run stops, nothing is counted against the agent. */
int staff_serve(struct arena *a, const struct staff *s, const json *action, int cancel,
	struct served *out, struct error *err);

/* What becomes of the whole run, for state.json: pending when it stopped and can go on. Best
 * effort. */
void staff_state(const struct staff *s, const char *stage, enum run_status status);

#endif
