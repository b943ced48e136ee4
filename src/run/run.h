/*
 * run.h: carries out the actions of work items: steps, calls agents, runs scripts, and steps again
 * until the item is done. Nothing but log lines is printed.
 */
#ifndef DT_RUN_H
#define DT_RUN_H

#include "context/file.h"
#include "src/event/usage.h"
#include "src/quota/quota.h"
#include "src/run/locate.h"
#include "src/workflow/workflow.h"
#include "src/worktree/pool.h"

/* ---- one step ---- */

/* How the worktree of an item is made. */
struct run_worktree {
	struct arena *arena; /* of `of`; NULL: that of the step */
	const struct worktree_pool_spec
		*pool;                     /* NULL: `default` of the resources, if there is one */
	const char *resources, *artifacts; /* directories; NULL */
	const char *branch;                /* NULL: dev-team/ID */
	const char *target;                /* NULL: the remote's default branch */
	const char *parent;                /* branch whose worktree gives the ports; NULL: none */
	unsigned slots;
	const char *run; /* it holds the worktree; NULL: nobody does */
	/* Set by the step that enters it. */
	struct allocation of;
	bool created; /* by that step */
	bool entered;
};

struct run_step_call {
	const char *id;
	/* NULL: the default place. run_step_resolve() replaces them by absolute paths. */
	const char *workflow, *context_file, *plugin_root, *repo;
	const char *research_skill; /* NULL: the workflow's */
	const char *owner;          /* NULL: none */
	bool take_over;             /* needs owner */
	bool new_session;           /* of its client: it goes on with what an earlier one holds */
	bool cancel;                /* the user ends the item */
	bool accept_workflow;       /* the user accepts what it requires, other than at the start */
	/* NULL: the agents of the last array have not returned. Ids of actions, separated by
	 * commas: they have, if these are outstanding. "": they have. */
	const char *returned;
	bool returned_alone;           /* ... and others of its array may still work */
	bool returned_checked;         /* as of struct engine */
	const char **results;          /* `ACTION=TEXT`, NULL-ended; may be NULL */
	bool in_place;                 /* work in the checkout; also if the workflow says so ... */
	bool own_worktree;             /* ... unless this says otherwise */
	bool allow_dirty;              /* ... even if it has uncommitted changes */
	struct run_worktree *worktree; /* NULL: as by default */
	bool in_run;                   /* of a run: its own command continues it */
	const char *client;            /* of a run: its process, as leases name it; else NULL */
	bool validated;                /* the validation needs no script of the repository */
	bool idle;          /* the lease is not taken of an item that only waits for its children */
	const char *parent; /* the action that waits for the end of this item; NULL: none */
	const char *base; /* of a child: the local branch where its own begins; NULL: as any item */
	const char *spec; /* of a child that has no document yet */
	bool *ended;      /* set: the item has ended; or NULL */
	/* Of a run: the budgets and plans of its pipeline apply; NULL: none do. */
	const struct run_item *run;
	bool scripted; /* of a run: no agent needs its role or skill */
	/* Set instead of waiting: the merge gate is not free for an effect, the step failed and is
	 * to be repeated; NULL: waits, as long as the stage may run. */
	bool *gate_busy;
	bool *ordered; /* set: the actions wait for each other, a step takes each answer; or NULL */
	/* Shows why an answer does not count; may be NULL. */
	void (*refuted)(void *data, const char *fault);
	/* Shows each of several faults that keep the item from starting; NULL: in the log. */
	void (*fault)(void *data, const char *text);
	void *fault_data;
	/* Asked before the troubleshooter is called for what has failed (`failed`: its text): the
	 * advice with which it is requested again, not before *until, if that is set; NULL: there
	 * is none. Not of children. May be NULL. */
	const char *(*remedy)(void *data, const char *failed, int64_t *until);
	void *remedy_data;
};

/* The state in the id of an action: `researching` of `ADR-7/researching/1`. */
struct str run_action_state(const char *id);
/* -1: also a malformed id or owner. */
int run_step_resolve(struct arena *a, struct run_step_call *call, struct error *err);
/* -1: call->returned names what is no action of the resolved call's item or of its children, or was
 * never requested. */
int run_check_returned(struct arena *a, const struct run_step_call *call, struct error *err);
/* One step of a resolved call, and of the item's children (tree.c). Adds the array of actions, one
 * line without a newline. */
int run_step(struct arena *a, const struct run_step_call *call, struct buf *out, struct error *err);

/*
 * The repository of a command about work items: as of locate_repository(), but of the worktree of
 * an item the checkout that the item belongs to, else the main one: in the worktree an agent can
 * change the workflow. `document`: of the item, which need not exist; NULL: of none.
 */
int run_place_repository(struct arena *a, const char *given, const char *document,
	const char **root, struct error *err);

/* The same of a step, which with `in_place` works where it is called. */
int run_step_repository(
	struct arena *a, const struct run_step_call *call, const char **root, struct error *err);

/* For `exec`, which makes no step. -1: ERR_STATE, the repository around the working directory has a
 * copy of the item's worktree, and no step has continued the item there. */
int run_place_check_copy(
	struct arena *a, const char *document, const char *action, struct error *err);

/*
 * A step of one of several items; call->ended is set. Adds its actions to `actions`. If it waits,
 * or another session or run has it, adds what for to `waits`: {item, context_file, reason, until or
 * for, ...}. If it has ended, *done is the object `done`, which the caller frees; else NULL.
 */
int run_step_shared(struct arena *a, const struct run_step_call *call, json *actions, json *waits,
	json **done, struct error *err);
/* Releases the lease of a resolved call if call->owner holds it. Best effort. */
void run_step_release_lease(const struct run_step_call *call);
/* The object `done` of what waits for all of these, and for others that only their number says. The
 * caller frees it. */
json *run_waiting(const json *waits, size_t unlisted);

/* The outstanding actions of an item and, in place of those that are children, of these; each with
 * its `context_file`. */
struct run_outstanding {
	json *open; /* can be carried out now */
	json *rest; /* answered, or of a child that waits or that another session has */
	bool waits; /* only what others do makes the item go on; not of its own waits */
};
int run_outstanding_load(const char *document, struct run_outstanding *o, struct error *err);
void run_outstanding_free(struct run_outstanding *o);
/* Whether the action waits for an answer; true if the document cannot be read. */
bool run_is_outstanding(const char *document, const char *id);

/* Whether the repository of this document has others. */
bool run_has_other_items(struct arena *a, const char *document);
/* The item above that of this document whose `dev-team run` works on both; NULL: none. */
const char *run_above(struct arena *a, const char *document);
/* The document of item `id`, a child or the parent of that of `document`. */
char *run_child_document(struct arena *a, const char *document, const char *id);

/* The workflow that the item was last stepped with: a shipped one by its name, another by its path.
 * repo NULL: the checkout that the item was last stepped for. */
int run_step_workflow(struct arena *a, const char *document, const char *repo,
	const char **workflow, struct error *err);
/* The workflow of the item's last step. False: it is gone. `repo`: as above. */
bool run_load_workflow(
	struct arena *a, const char *document, const char *repo, struct workflow *out);
/* Whether the outstanding actions of the item wait for each other, so that a step takes each
 * answer. false: also where that cannot be read. */
bool run_step_ordered(const char *document);
/* Ends the item of a call that is not resolved; without a workflow, by its last one. -1: ERR_STATE,
 * it has ended already, or another session holds it. */
int run_cancel(struct arena *a, struct run_step_call *call, struct error *err);

/* Opens the ledger of this state directory. Close it with quota_close(), also after -1. */
int run_quota_open(struct arena *a, struct quota *q, bool write, struct error *err);
/* What a run would ask for the stage on that harness, with the price of its model; without action
 * and owner. n_seats 0: no plan is for the harness. */
int run_quota_request(struct arena *a, const struct resources *resources, const struct pipeline *p,
	const struct stage_spec *stage, const char *harness, struct quota_request *out,
	struct error *err);
/* Books what the quota ledger has reserved for the item, as estimated, since nobody will settle it.
 * Without a ledger there is nothing to do. */
int run_quota_end_item(struct arena *a, const char *document, const char *item, struct error *err);

/* What a vendor says is used of a plan whose `quotaSource` is not `self-tracked`, as a command of
 * the user reports it. Before the ledger decides, the figure replaces that of the ledger. The
 * command runs before the ledger is opened, which blocks other processes. */
struct quota_reading {
	const struct subscription_plan *plan;
	unsigned seat;
	int64_t used, resets_at; /* tokens; when the window ends, 0: not said */
	const char *fault;       /* why the ledger's figure counts; NULL */
};
struct quota_readings {
	struct quota_reading *items;
	size_t n, cap;
};
/* Of the seats of the request. -1: nothing may start: a plan of `authoritative-api` has no answer
 * (ERR_STATE: no command; ERR_SYSTEM), or the user's settings are refused. */
int quota_source_read(struct arena *a, const struct quota_request *r, struct quota_readings *out,
	struct error *err);
/* Sets the windows of the open ledger; reports LedgerSourceFallback, and LedgerReconciliation where
 * the first figure replaces one that was counted. */
int quota_source_apply(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_readings *readings, const char *artifacts, struct error *err);
/* Adds what was read from a cache to the input tokens, if the user's settings say so of a plan of
 * the request. Unknown figures stay so. */
int quota_source_add_reads(struct arena *a, const struct quota_request *r, const struct usage *used,
	struct quota_usage *out, struct error *err);
/* LedgerReconciliation. `was`: the window before. */
int quota_source_report(const char *artifacts, const struct quota_request *r,
	const struct quota_window *was, int64_t used, struct error *err);

/* Whether the settings of the repository name a pipeline. */
bool run_quota_session_asks(struct arena *a, const char *repo);
/* An agent of a session has ended, and its client says what it used. Without a pipeline in the
 * settings of the repository there is nothing to do. Best effort: what fails is logged. */
void run_quota_session_settle(struct arena *a, const char *repo, const char *document,
	const char *id, const char *agent, const struct usage *used);
/* An agent of a session has met a usage limit. */
void run_quota_session_limit(
	struct arena *a, const char *repo, const char *document, const char *id, int64_t until);

/* Ends all children of the item whose document the call names, as its cancellation does; it stays
 * as it is. */
int run_end_all_children(struct arena *a, struct run_step_call *call, struct error *err);

/* Adds a line for each fault of the workflow, its policy, roles and skills included; returns how
 * many there are. */
size_t run_workflow_check(
	struct arena *a, const struct workflow *w, const char *plugin_root, struct buf *out);

/* ---- runs ---- */

enum { RUN_ACTIONS_DEFAULT = 1000, RUN_TICK_MS = 500 };

/* What happens in a run. */
struct run_report {
	enum {
		RUN_REPORT_BEGIN, /* of an action */
		RUN_REPORT_END,   /* of an action */
		RUN_REPORT_TICK,  /* every RUN_TICK_MS while actions work */
		RUN_REPORT_DONE,  /* the item has ended, or waits; `action` is `done` */
		RUN_REPORT_OVER,  /* the last report, however the run ends */
	} what;
	int64_t ms;                /* since the run began */
	const json *action;        /* of BEGIN, END, DONE */
	bool several;              /* only the ids of the actions tell whose they are */
	const char *word;          /* of END: the result word, "" if there is none; else NULL */
	const struct usage *usage; /* of END */
};

struct run_request {
	struct run_step_call call;   /* of each work item; run_items() sets the id */
	const char *agents;          /* file of scripted agents; NULL: none */
	const char *harness, *model; /* real agents: `NAME[,NAME...]`; NULL: as the pipeline says */
	const char *pipeline;        /* its name; NULL: none */
	const char *resources, *artifacts;
	const char *parent;     /* branch whose worktree gives the ports; NULL: none */
	const char **pass_env;  /* names of variables that real agents get too; may be NULL */
	int64_t max_concurrent; /* 0: as the pipeline says, else 1 */
	int64_t max_actions;
	int64_t timeout_s; /* of each real agent; 0: as its stage says */
	int64_t slots;     /* ports reserved for children */
	/* Called in the process of the run. May be NULL. */
	void (*report)(const struct run_report *p);
};

/*
 * `words`: ids, or what is wanted of a new item (new_item_ids() in begin.h).
 * One id: `out` is the last array. Several: the result is an array with {id, result (`success`,
 * `failed`, `stopped`), reason} for each that was begun. 0: success; ERR_CHECK: an item has failed;
 * another exit code: a run stopped, which was logged; -1. After an interrupt of the run of one item
 * the signal is raised again.
 */
int run_items(struct arena *a, const struct run_request *q, const char *const *words, size_t n,
	struct buf *out, struct error *err);

/*
 * Adds an array of actions to carry out; nothing: there is none. `like`: how the items are to be
 * stepped; `returned` NULL: the agents of the last array have not returned, ""; they have, else the
 * one that has.
 */
typedef int run_next(
	void *data, const struct run_step_call *like, struct buf *array, struct error *err);
/*
 * Carries out actions of several items, with the agents of the request: those of `next`, and when
 * one has ended those that `next` then adds, until there are none. `q->call.workflow` is that of
 * the items. -1: also if an action could not be carried out; the others have ended.
 */
int run_actions(struct arena *a, const struct run_request *q, run_next *next, void *data,
	struct error *err);

/* The file with what the agent of action `id` printed; in the arena. It need not exist. */
char *run_log_path(struct arena *a, const char *document, const char *id);

/* Asks the run of the item to end after its actions; `now`: to end them. */
int run_stop(const char *document, bool now, struct error *err);
/* Asks a run of several items that has not begun this one not to begin it. *queued: there is one.
 */
int run_queue_stop(
	struct arena *a, const char *repo, const char *id, bool *queued, struct error *err);

/* How the item's last run was called; paths below the repository are relative to it. False: it had
 * none. _load() sets these members of *q; _describe() adds them as options, ` --harness 'codex'`.
 */
bool run_options_load(
	struct arena *a, struct context_file *f, const char *repo, struct run_request *q);
bool run_options_describe(struct context_file *f, struct buf *out);

/*
 * Checks what a run needs: programs, the state directory, the sandbox, the installation, the
 * repository (call->repo NULL: the one around the working directory) and, with call->id, the item's
 * first step. Adds a line for each finding: `ok`, `warn` or `fail`, the subject, its state and how
 * to repair it. False: a check failed.
 */
bool run_doctor(struct arena *a, const struct run_step_call *call, struct buf *out);

/* ---- signals ---- */

/*
 * Catches INT, TERM, HUP and QUIT. The first signal makes *fd readable permanently: a process
 * that waits on it ends its program and returns. The second one ends this process at once; that is
 * safe, because the children finish what they have begun.
 */
int run_interrupt_begin(int *fd, struct error *err);
/* The signal that was caught, or 0. */
int run_interrupt_caught(void);
/* Waits at most `ms` for it; true: it has come. Without run_interrupt_begin() it only waits. */
bool run_interrupt_wait(int ms);
/* Restores the previous handlers. */
void run_interrupt_end(void);

#endif
