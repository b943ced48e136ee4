/*
 * run_internal.h: shared by the files of src/run.
 */
#ifndef DT_RUN_INTERNAL_H
#define DT_RUN_INTERNAL_H

#include "src/event/artifact.h"
#include "src/harness/pipeline.h"
#include "src/machine/brief.h"
#include "src/machine/agents.h"
#include "src/merge/gate.h"
#include "src/run/run.h"
#include "src/worktree/pool.h"

/* ---- configuration of real agents (setup.c) ---- */

/* As given by the user; NULL: not given. */
struct run_config_request {
	const char *workflow; /* file */
	const char *harness, *model, *resources, *artifacts, *root;
	unsigned timeout_s; /* of each agent; 0: as the stages say */
	const struct pipeline *pipeline;
	const struct worktree_pool_spec *pool; /* of the pipeline */
	const char *id, *repo, *context_file;
	const char *const *pass; /* names of variables */
	size_t n_pass;
};

struct run_config {
	const char *id, *repo, *context_file;
	const char *main_repo;           /* for stages with `isolation: inplace`; NULL: repo */
	const char *branch;              /* of the worktree; NULL: dev-team/ID */
	unsigned port;                   /* of the worktree; 0: none */
	const char *resources;           /* may be NULL */
	const char *root;                /* of roles and skills */
	const char *artifacts;           /* directory */
	const struct pipeline *pipeline; /* NULL: none */
	const struct worktree_pool_spec *pool;
	struct words chain; /* of --harness; empty: as the stages say */
	const char *model;  /* of --model; NULL: as the stages say */
	unsigned timeout_s; /* 0: as the stages say */
	struct words pass;  /* variables that the agents get too */
	struct model_registry models;
	const struct model_pin *pins; /* of the pipeline's stages */
	struct pipeline_plan plan;    /* of the pipeline */
};

struct run_pipeline_request {
	const char *name;
	const char *resources, *artifacts; /* as given to locate_resources(); may be NULL */
	const char *repo;
};
/* Loads all resources and finds the pipeline. Emits the events of faults. */
int run_load_pipeline(struct arena *a, const struct run_pipeline_request *q, struct resources *all,
	const struct pipeline **out, struct error *err);
/* Checks everything before the first agent runs: harnesses, models, the pipeline. -1: the first
 * fault. */
int run_configure(struct arena *a, const struct run_config_request *q, struct run_config *out,
	struct error *err);

/* ---- worktrees (worktree.c) ---- */

struct run_worktree {
	const char *path; /* becomes the run's repository */
	const char *branch;
	unsigned port; /* first of its range */
	bool created;  /* false: an earlier run of the work item created it */
};

struct run_worktree_request {
	const char *id, *repo;
	const char *resources, *artifacts;
	const struct pipeline *pipeline;
	const char *port;   /* required port; NULL: any */
	const char *parent; /* branch or path of the parent allocation; NULL: none */
	unsigned slots;     /* ports reserved for children */
};

/* The pipeline's pool; without a pipeline the pool `default` of the resources, else one with
 * default values. Close it with pool_close(). */
int run_pool_open(struct arena *a, const char *repo, const char *resources, const char *artifacts,
	const struct pipeline *pipeline, struct pool *out, struct error *err);
/*
 * Allocates or adopts the worktree of branch `dev-team/ID`, or of the pipeline's branching.pattern
 * with {id}, {issueId} and {issueNumber} replaced. It outlives the run: its branch may wait for a
 * merge (`pool reclaim`, `pool sweep`).
 */
int run_worktree_open(struct arena *a, const struct run_worktree_request *q,
	struct run_worktree *out, struct error *err);
/* Reclaims a worktree that this run created and did no work in. Best effort. */
void run_worktree_undo(
	struct arena *a, const struct run_worktree_request *q, const struct run_worktree *own);

/* ---- one agent (dispatch.c, invoke.c) ---- */

struct agent_answer {
	bool answered;
	struct str text;
	const char *how; /* for people, if there is no answer: `codex: timeout` */
	json *note;      /* of the event agent_run; the caller's to free */
};

/* One call of an agent through a harness. */
struct agent_call {
	const struct run_config *config;
	const json *action;
	const char *id, *stage;        /* stage: its name in the pipeline, else the state's */
	const struct stage_spec *spec; /* NULL: the pipeline has no such stage, or there is none */
	struct model_resolved model;
	struct chain chain;
	int64_t heartbeat_at; /* of state.json */
	struct gate *gate;    /* NULL: not needed */
	struct arena *arena;
};

/* Chooses harness and model, and calls the agent. -1: no harness of the chain can be used, or a
 * fault of this side: the run stops and nothing is counted against the agent. */
int run_dispatch_action(struct arena *a, const struct run_config *config, const json *action,
	int cancel, struct agent_answer *out, struct error *err);
/* Runs the chain, retries as the stage says, validates the artifact, records the outcome. */
int agent_call_invoke(struct agent_call *c, struct buf *prompt, const struct instructions *role,
	int cancel, struct agent_answer *out, struct error *err);
unsigned agent_call_timeout_s(const struct agent_call *c);
/* Records the result in runtime.json and fills the answer. `h` NULL: no harness could be used, -1.
 */
int agent_call_outcome(struct agent_call *c, const struct harness *h,
	const struct harness_result *r, struct str text, struct agent_answer *out,
	struct error *err);
/* A harness_listener for a struct agent_call: keeps state.json, the work item's lease and the gate
 * alive. */
void run_heartbeat(void *data, const struct harness_event *e);
/* Writes the state of the whole run to state.json; pending: it stopped and can continue. Best
 * effort. */
void run_write_state(const struct run_config *config, const char *stage, enum run_status status);

/* ---- actions (action.c) ---- */

enum { WORD_SIZE = 80 };

struct action_context {
	const char *id, *repo, *context_file;
	const char *script;              /* file of scripted agents; NULL: none */
	const struct run_config *config; /* real agents; NULL: none */
	int cancel;                      /* of interrupt_begin() */
};

struct run_action {
	const json *action;
	const struct script_entry *entry; /* NULL: a real script or agent */
	const struct scripted *turn;      /* of the entry */
};

/* Carries the action out and records the answer. `word`: its result word; "" if there is none. */
int run_action_execute(const struct action_context *c, const struct run_action *p,
	char word[WORD_SIZE], struct error *err);

/* ---- loops (loop.c, parallel.c) ---- */

struct run_loop {
	struct step_call call; /* resolved */
	struct script_agents agents;
	struct run_config config;
	struct action_context context;
	unsigned long max; /* actions */
	struct run_progress progress;

	unsigned long started; /* actions */
	const json *array;     /* of the last step */
	struct buf line;       /* the same as text; released by run_loop_finish() */
};

/* Runs to the end and adds the last array, a line. 0: success; ERR_CHECK: it ended failed. After an
 * interrupt the signal is raised again. */
int run_loop_finish(struct run_loop *l, struct buf *out, struct error *err);

struct run_parallel {
	const char *const *ids;
	size_t n;
	unsigned at_once;           /* 1..CONCURRENT_MAX */
	const char *artifacts;      /* directory of the events */
	const char *const *options; /* of each run: `--name=value` */
	size_t n_options;
};

/*
 * Runs each work item as a `dev-team run` of its own, in the order of `ids`, whether others fail or
 * not. Adds a line: an array with {id, result (`success`, `failed`, `stopped`), reason} for each.
 * 0: all succeeded; ERR_CHECK: some failed; -1: one could not be run to its end, or an interrupt.
 */
int run_parallel(struct arena *a, const struct run_parallel *p, struct buf *out, struct error *err);
/* `text` (of --max-concurrent; may be NULL), else the parallelism that the pipeline (NULL: none)
 * resolves to, which is recorded, else 1. */
int run_max_concurrent(struct arena *a, const char *text, const struct resources *r,
	const struct pipeline *p, const char *artifacts, unsigned *out, struct error *err);

#endif
