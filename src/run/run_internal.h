/*
 * run_internal.h: shared by the files of src/run: one run of a work item, its actions, and the
 * child processes that carry them out.
 */
#ifndef DT_RUN_INTERNAL_H
#define DT_RUN_INTERNAL_H

#include "context/lease.h"
#include "src/event/artifact.h"
#include "src/harness/pipeline.h"
#include "src/machine/engine.h"
#include "src/machine/place.h"
#include "src/run/run.h"
#include "src/run/scripted_agents.h"
#include "src/sys/git.h"
#include "src/sys/secrets.h"

#define RUN_WORKFLOW_DEFAULT "implement-task"

/* ---- a run (begin.c) ---- */

struct run_item {
	const struct run_request *request;
	struct run_step_call call; /* resolved */
	const char *artifacts;     /* directory */
	struct resources resources;
	const struct pipeline *pipeline; /* NULL: none */
	unsigned max_concurrent;
	struct run_worktree worktree; /* of.path NULL: not made yet, or it works in the checkout */
	bool entered;                 /* people know of it */
	int cancel;                   /* of run_interrupt_begin() */
	const char *keeper;           /* the process of the run, which keeps the gate */
	size_t n_started;             /* actions */
	size_t n_steps;               /* between them */
	bool stopped;                 /* as run_stop() asked */

	struct scripted_agents scripted;
	/* Of an action's own process: variables of its database branches; `NAME` removes. NULL: its
	 * worktree has no databases. */
	const char *const *database_env;
	struct gate *gate; /* of an action's own process; NULL: its stage does not hold the gate */
	/* Only with real agents. */
	bool real;
	const char *plugin_root;     /* of roles and skills */
	const char *policy;          /* of its agents' tools; NULL: they are not judged */
	bool contain;                /* the settings name it: clients without hooks, too */
	const char *const *pass_env; /* `NAME=value`, NULL-ended */
	struct text_list chain;      /* of --harness; empty: as the stages say */
	struct model_registry models;
	struct model_pin *pins;      /* of the pipeline's stages */
	struct pipeline_check check; /* of the pipeline */
};

/* What a run and several have in common: repository, artifacts, pipeline and parallelism. */
int run_setup_shared(struct arena *a, struct run_item *r, struct error *err);
/* Checks everything before the first agent runs: harnesses, models, the pipeline. The call is
 * resolved. */
int run_setup(struct arena *a, struct run_item *r, struct error *err);
/* The names of `--harness NAME[,NAME...]`, in `out`. -1: ERR_USAGE, there is no such harness. */
int run_read_harnesses(struct arena *a, const char *text, struct text_list *out, struct error *err);
/* After each step: tells people where the item works. */
void run_setup_entered(struct run_item *r);
/* In the process of an action. *out: the item of the action, `r` itself or a child; PORT becomes
 * that of its worktree. */
int run_setup_action(struct arena *a, const struct run_item *r, const json *action,
	struct run_item *out, struct error *err);
/* Gives this process, which carries the action out, the databases that its stage asks for. */
int run_setup_databases(struct arena *a, struct run_item *r, const json *action, struct error *err);
/* Where an action is carried out. */
const char *run_action_directory(const struct run_item *r, const json *action);
/* Reclaims a worktree that this run created and did no work in. Best effort. */
void run_setup_undo(struct arena *a, struct run_item *r);
/* Opens the pool that the worktree is of: its own, else that of the resources, else one of all
 * defaults. Close it with pool_close(). */
int run_pool_open(struct arena *a, const struct run_worktree *w, const char *repo, struct pool *out,
	struct error *err);

/* What run_stop() has asked since run_stop_forget(): NULL, "after", "now". */
const char *run_stop_asked(struct arena *a, const char *document);
void run_stop_forget(const char *document);
/* The run of this process has not begun the item yet. */
int run_queue_enter(struct arena *a, const char *repo, const char *id, struct error *err);
/* It begins it now, unless this returns true: run_queue_stop() has asked that it does not. */
bool run_queue_leave(struct arena *a, const char *repo, const char *id);
/* Remembers how the run was called. Best effort. */
void run_options_note(const struct run_item *r);
/* Adds the options that call it again. */
void run_options_add(const struct run_request *q, const char *repo, struct buf *out);

/* ---- one item, and its children (step.c, tree.c) ---- */

enum { RUN_DEPTH_MAX = 8, RUN_ATTEMPTS_MAX = 1000 };
/* A limit from the environment; UINT_MAX: none. -1: ERR_USAGE, it is no whole number. */
#define RUN_RETRIES_VARIABLE  "AGENT_TOPOLOGY_MAX_RETRIES"
#define RUN_DEPTH_VARIABLE    "AGENT_TOPOLOGY_MAX_DEPTH"
#define RUN_MERGES_VARIABLE   "AGENT_MERGE_CONFLICT_MAX_ATTEMPTS"
#define RUN_TARGET_VARIABLE   "AGENT_WORKTREE_TARGET_PATH"
#define RUN_CHILDREN_VARIABLE "AGENT_RELATIONSHIP_MAX_CHILDREN"
int run_read_cap(const char *variable, unsigned *cap, struct error *err);
/* A step of the item alone: its array has the children as actions `run_item`. */
int run_step_item(
	struct arena *a, const struct run_step_call *call, struct buf *out, struct error *err);
/* The worktree of an item that has ended goes back to the pool: after a landing (`landed`: its
 * receipt), once its branch follows what has landed; else (empty) if it contains no work. Why it
 * stays after a landing is logged. */
void run_return_worktree(struct arena *a, const struct run_step_call *call, struct str landed);
/* Whether this call's session or run has the lease. */
bool run_step_holds(const struct run_step_call *call, const struct lease_holder *h);
/* Keeps the lease of an item of the run: renews it after half of its time. `wait`: also takes it,
 * since a step that waits has none. Best effort. */
void run_step_keep_lease(const struct run_step_call *call, const char *document, bool wait);
/* The command that makes the item go on. `repair`: what comes before it; NULL: nothing. */
const char *run_step_continuation(
	struct arena *a, const struct run_step_call *call, const char *repair);
/* A child that the item has begun and whose document is there. */
struct run_begun {
	const char *id, *document;
	const char *action; /* of the item: it waits for the child, or did */
};
struct run_begun_list {
	struct run_begun *items;
	size_t n, cap;
};
struct run_begun_list run_begun_children(struct arena *a, const struct context_file *f);
/* Ends the children that no outstanding action waits for; one that another session holds is named
 * to people. `all`: every child, and -1 if one cannot be ended. */
int run_end_children(struct arena *a, const struct run_step_call *call,
	const struct context_file *f, bool all, struct error *err);
/* The workflow of a child, as the workflow `parent` names it: a path is relative to that file. */
int run_child_workflow(struct arena *a, const char *parent, const char *name, const char *root,
	const char *repo, const char **path, struct error *err);
/* Whether the item waits still. `done`: as was printed of it. Of several children the first to go
 * on counts. */
bool run_still_waits(const char *document, const json *done);
/* The action that waits for the end of the item of this document; NULL: none. */
const char *run_parent_action(struct arena *a, const char *document);
/* The document of the item that is above all others of this one, which may not be saved yet; its
 * own if it is no child. */
const char *run_top_document(struct arena *a, const struct context_file *f);

/* ---- where an item is worked on (place.c: worktrees; checkout.c) ---- */

/* The data of the environment of a step. */
struct clearance;

struct run_entry {
	const char *repo; /* first: environment_local reads it */
	const struct run_step_call *call;
	const char *document;            /* of the item */
	const struct context_file *file; /* it */
	bool in_place;
	unsigned slots; /* ports to reserve for its children, unless the run says */
	const struct remote_state *remote; /* as the first step found it; NULL: not asked */
	const struct preflight *first;     /* the check of the first step; NULL: a later one */
	struct arena *arena;               /* of the notice and of denied_why */
	const char *notice;                /* for people, if the step succeeds; NULL: none */
	const char *damage; /* what an agent did to its worktree, until a claim is checked */
	bool costs_known;
	/* If `costs_known`: of the agents of the item at the top and all below it, so far. */
	double cost_usd, cost_today_usd;
	const struct stage_spec *denied; /* the last stage that the ledger denied; NULL: none */
	const char *denied_why;
	const char *plugin_root;
	bool clearance_known;
	struct clearance *clearance; /* if `clearance_known`: the file's; NULL: there is none */
};

/* environment.may_dispatch(): the caller's remedy; run_clearance_admit(), and, with a pipeline: an
 * agent waits for the next day (UTC) once those of the day have cost `costBudgetPerDay`, and is
 * refused once all have cost `costBudget`. Otherwise the quota ledger is asked. */
void run_may_dispatch(void *data, struct arena *a, const struct context_file *f, const char *id,
	const struct step_request *request, struct admission *out);

/* Sets the tools of an attempt of a node, if the clearance file leaves fewer than its persona has.
 * `run` finds an agent there by its role, a session by its type. */
void run_clearance_admit(struct run_entry *e, struct arena *a, const struct step_request *request,
	struct admission *out);

/* USD that the item at the top and all below it may still cost; -1: there is no limit. */
double run_budget_left(struct arena *a, struct run_entry *e, const struct context_file *f);

/* ---- the quota ledger (quota.c) ---- */

/* Of a step of a session: the pipeline that the settings of the repository name, its stages on the
 * client; NULL: none. */
int run_quota_session(struct arena *a, const struct run_step_call *call,
	const struct run_item **out, struct error *err);
/* When a run starts. -1: the accounts, tenants or zones of the pipeline's plans are refused. */
int run_quota_check(struct arena *a, const struct run_item *r, struct error *err);
/* Reserves what the action needs, or says why it must not start. Leaves *out if no plan is for its
 * harness, or if agents are scripted. */
void run_quota_admit(struct run_entry *e, struct arena *a, const struct context_file *f,
	const char *id, const struct step_request *request, struct admission *out);
/* After a step that printed `line`: -1 if it ended the item's work because the ledger denied a
 * stage whose `onFailure` is `abort` (ERR_CHECK) or `pause` (ERR_STATE). */
int run_quota_denied(const struct run_entry *e, struct str line, struct error *err);
/* Books what the harness used for an action. `part`: of a call that ended before the action did,
 * which keeps its reservation. Best effort: what fails is logged. */
void run_quota_settle(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, const struct usage *used, bool part);
/* The account of that harness, NULL: of the first of the action's chain, is at its limit until
 * then. Best effort. */
void run_quota_limit(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, int64_t until);

/* The process that starts an agent holds the agent's directory, as long as it lives. Best effort.
 */
void run_place_hold(const char *directory);
/* Before a run starts actions: the agents of a run that was killed end within the grace period. -1:
 * ERR_STATE, one of them works still in the worktree of the item or of a child. What somebody has,
 * or has ended, is left to the step. */
int run_place_wait(struct arena *a, const char *document, const char *id, struct error *err);
/* environment.enter() */
environment_ask run_place_enter;
/* environment.evidence(): what an agent did to its worktree refutes its answer. */
environment_ask run_place_evidence;

/* The same for the user's checkout, which one item at a time may use, on one branch. */
int checkout_enter(struct arena *a, const struct run_entry *e, const char *id,
	struct item_place *place, bool *changed, struct error *err);
/* Whether `document` is a copy of the one that holds the checkout, which still exists. */
bool checkout_is_copied(struct arena *a, const char *document, const char *directory);
/* -1: another item is in progress in the checkout, whose uncommitted files are not the user's. */
int checkout_check_free(struct arena *a, const struct run_entry *e, struct error *err);

/* ---- the merge gate (gate.c) ---- */

/* Waits until this process, which carries the action out, holds the gate of the pool, if its stage
 * does, or one whose state waits for the item: r->gate. Agents, scripts and scripted agents inherit
 * it. *pool is the caller's to close, after gate_drop(). The item keeps its place in the line until
 * run_gate_end(). */
int run_gate_take(struct arena *a, struct run_item *r, const json *action, struct pool *pool,
	struct error *err);
/* environment.carry_out(), under the gate in such a state. -1: also as struct run_step_call has
 * `gate_busy`. */
environment_ask run_gate_carry_out;
/* After a step: the item's place in the line ends, unless it is in such a state and has actions to
 * carry out. Best effort, as the next. */
void run_gate_leave(
	struct arena *a, const struct run_step_call *call, const struct context_file *f);
/* The same, whatever its state is. */
void run_gate_end(struct arena *a, const struct run_item *r, const char *item);

/* ---- actions (action.c, agent.c) ---- */

enum { RUN_WORD_SIZE = 80 };

struct run_action {
	const json *action;
	const struct scripted_entry *entry; /* NULL: a real script or agent */
	const struct scripted_turn *turn;   /* of the entry */
};

struct run_outcome {
	char word[RUN_WORD_SIZE]; /* result word of the answer; "" if there is none */
	struct usage usage;
};
/* Carries the action out and records the answer. */
int run_action_execute(const struct run_item *r, const struct run_action *p,
	struct run_outcome *out, struct error *err);

/* What the agent of an action prints, kept with the item: logs/NAME-STATE-N.agent.log. Best effort:
 * where it cannot be written the agent works all the same. */
struct run_log {
	struct arena arena;
	struct masked_output out; /* with the secrets of our environment */
};
void run_log_open(struct run_log *l, const char *document, const char *id);
void run_log_close(struct run_log *l);

struct run_environment {
	const char **items; /* `NAME=value` */
	size_t n, cap;
};
/* Adds the variables of the agent of an action, scripted or real. */
void run_action_environment(
	struct arena *a, const struct run_item *r, const json *action, struct run_environment *out);

struct run_answer {
	bool answered;
	bool hard; /* no answer, and another attempt would not give one: time, network, access */
	struct str text;
	const char *how;       /* for people, if there is no answer: `codex: timeout` */
	const char *limit;     /* the usage limit that was reached; NULL: none */
	int64_t resets_at;     /* of it; 0: not known */
	json *note;            /* of the event agent_run; the caller's to free, also after -1 */
	int64_t cache_written; /* tokens */
	bool within_quota;     /* of a plan: it costs nothing */
};

/* Whether the stage's onFailure is `strategy` and applies to the failure `name`. s NULL: no. */
bool run_failure_applies(
	const struct stage_spec *s, const char *name, enum failure_strategy strategy);
/* After the last retry. -1 if it ends the run: ERR_CHECK for `abort`, ERR_STATE for `pause` and for
 * a storm of triages; else 0. A failure that the stage's onFailure applies to is noted in the
 * history of triages, and the event Requeue says how the issue returns to the queue, if the failure
 * has a class (requeue.h). */
int run_failure_end(
	const struct run_item *r, const struct stage_spec *s, const char *name, struct error *err);
/* How long an agent of the stage may run, and wait for the gate. s NULL: none. */
unsigned run_agent_timeout(const struct run_item *r, const struct stage_spec *s);
/* Chooses harness and model, and calls the agent. `first`: where the chain begins; NULL: as it is.
 * What a harness did that was left for another one, or for the reset of a limit, is noted and
 * booked at once. -1: no harness of the chain can be used, none of them because of a usage limit,
 * or an internal error: the run stops and nothing is counted against the agent. */
int run_agent_call(struct arena *a, const struct run_item *r, const json *action, const char *first,
	struct run_answer *out, struct error *err);

/* Before the call: *harness, where the chain begins (NULL: as it is), or out->limit: the item must
 * wait until out->resets_at. -1: also ERR_STATE, AdmissionDenied. */
int run_quota_start(struct arena *a, const struct run_item *r, const json *action,
	const char **harness, struct run_answer *out, struct error *err);

/* The stage of an action, the first one named STATE-AGENT, STATE or AGENT; NULL: none, or there is
 * no pipeline. `id`: the action's. */
const struct stage_spec *run_agent_stage(
	struct arena *a, const struct pipeline *p, const char *id, const char *agent);
/* The chain of --harness, else the usable one of the stage, else the default of the pipeline. */
struct text_list run_agent_harnesses(
	struct arena *a, const struct run_item *r, const struct stage_spec *stage);

/* ---- child processes (children.c) ---- */

enum { RUN_CHILDREN_MAX = CONCURRENT_MAX };

struct run_children {
	size_t n;           /* items: each gets a process, in their order */
	size_t max;         /* that run at the same time; at most RUN_CHILDREN_MAX */
	size_t report_size; /* a child has ended when it has written so much; 0: at the end of it */
	int cancel;         /* of run_interrupt_begin() */
	/* In the child; the result is its exit status. `report`, `log`: write ends of pipes; the
	 * lines of the second go to `line`. */
	int (*run)(void *data, size_t item, int report, int log);
	void (*started)(void *data, size_t item); /* may be NULL */
	void (*line)(void *data, size_t item, struct str line);
	/* `status` as of waitpid(). */
	void (*ended)(void *data, size_t item, int status, struct str report);
	/* After each end, and (`tick`) every RUN_TICK_MS: returns how many items there are now. May
	 * be NULL. */
	size_t (*more)(void *data, bool tick);
	/* After `more`: a running item is ended with TERM, and a waiting one is not started. NULL:
	 * all are needed. */
	bool (*cancelled)(void *data, size_t item);
	void *data;
};

/*
 * Runs all. A child gets TERM if this process dies, so that it can end its own program. After an
 * interrupt no more are started, and those that run get TERM. -1: a process could not be started,
 * or there was an interrupt.
 */
int run_children(const struct run_children *c, struct error *err);
/* In a child that has a program to end: no later signal ends it at once. */
void run_interrupt_child(void);

/* Whether the document says that nobody waits for the action any more. */
bool run_is_cancelled(const char *document, const char *id);

/* ---- actions that have failed (held.c) ---- */

struct held_action {
	const char *id;
	int64_t until_ms; /* of clock_ticks(): not started before; 0: it was due */
};
struct held_actions {
	struct held_action *items;
	size_t n, cap;
};
/* Not started for 30 s, then for twice as long each time, at most 300 s. True: its first time. */
bool run_held_add(struct held_actions *h, struct arena *a, const char *id);
bool run_held_has(const struct held_actions *h, const char *id);
/* Whether the time of one is over; true once. */
bool run_held_due(struct held_actions *h);

#endif
