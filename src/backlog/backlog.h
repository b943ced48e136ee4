/*
 * backlog.h: the tasks of a repository: markdown files with YAML frontmatter in backlog/tasks and,
 * once they are done, in backlog/completed; the graph of their dependencies; and which of them can
 * be started. docs/backlog.md.
 *
 * Nothing is cached: a backlog is what the files say when it is read. No file is left out: one that
 * cannot be read is a task with faults. It is not done, so what depends on it waits.
 *
 * Ownership: everything lives in the arena of the reader.
 */
#ifndef DT_BACKLOG_H
#define DT_BACKLOG_H

#include "src/base/graph.h"
#include "src/base/json.h"
#include "src/base/vec.h"

#define BACKLOG_TASKS     "backlog/tasks"
#define BACKLOG_KEPT      BACKLOG_TASKS "/.gitkeep"
#define BACKLOG_COMPLETED "backlog/completed"

enum { TASK_NONE = -1, TASK_TITLE_MAX = 200 };

struct task_dependency {
	const char *id;
	unsigned line, col;
	ptrdiff_t task; /* index in the backlog; TASK_NONE: there is no such task */
};

struct task_external {                              /* an entry of externalDependencies */
	const char *id, *description, *kind, *hint; /* hint: may be NULL */
};

struct task_texts {
	const char **items;
	size_t n;
};

/* What the status of a task says. */
enum task_status {
	STATUS_TODO,
	STATUS_STARTED, /* In Progress */
	STATUS_DONE,    /* Done, Completed, Shipped */
	STATUS_DRAFT,
	STATUS_UNCLEAR, /* Needs Clarification */
	STATUS_OTHER,
};

/* Where a task is on its way; each word is also what `dev-team backlog list` prints. */
enum task_state {
	TASK_READY,   /* can be started */
	TASK_STACKED, /* can be started on the branch of the one task that it waits for */
	TASK_WAITING, /* a dependency is not done */
	TASK_STARTED,
	TASK_HELD, /* its status says that it must not be started */
	TASK_DONE,
	TASK_BROKEN, /* its file has faults */
};

struct task {
	const char *file; /* relative to the repository */
	const char *id;   /* as written; of a broken file from its name; NULL: it has none */
	unsigned id_line, id_col;
	const char *title, *status_text;
	enum task_status status;
	unsigned weight; /* of its priority: 1 low, 2 medium, 3 high, 4 critical */
	struct task_dependency *dependencies;
	size_t n_dependencies;
	bool stacked;
	struct task_dependency parent; /* id NULL: it is no child */
	struct task_external *external;
	size_t n_external;
	struct task_texts labels, references, permitted;
	bool dispatchable;
	bool begun; /* set by admission_find_items() */
	const char *not_dispatchable_reason;
	const char *blocked, *blocked_until, *unblocked_by; /* may be NULL */
	double max_budget_usd;                              /* 0: none */
	const char *assignee, *created, *updated, *spec;    /* for people; may be NULL */

	bool completed; /* the file is in backlog/completed */
	bool hidden;    /* the file in backlog/completed is the one that counts */
	VEC(struct error) faults;
	struct str body; /* behind the frontmatter */

	/* Of the graph: */
	unsigned priority;      /* the greatest weight of it and the open tasks that need it */
	unsigned critical_path; /* open tasks in the longest chain of those that need it */
	enum task_state state;
};

struct backlog {
	struct arena *arena;
	const char *repo;
	struct task *tasks; /* those with an id by id, then the others by file */
	size_t n, n_named;
	VEC(const char *) strays;      /* markdown files that are no tasks where they are */
	struct graph needs, needed_by; /* of indices; dangling dependencies are left out */
	struct graph_order order;
};

/* Reads the backlog of the repository `repo`. Without the directories it is empty. -1: ERR_SYSTEM,
 * a directory cannot be read. */
int backlog_read(struct arena *a, const char *repo, struct backlog *out, struct error *err);

/* The keys of a task's frontmatter; docs/backlog.md has a row for each. */
struct config_field;
extern const struct config_field *const task_keys;

/* Reads the text of one task; `file` is for messages. Its faults are in *out. */
void task_parse(struct arena *a, const char *file, struct str text, struct task *out);

/* By id, in any case; NULL: there is none. */
const struct task *backlog_find(const struct backlog *b, const char *id);
/* The same; -1: ERR_INPUT. */
int backlog_require(
	const struct backlog *b, const char *id, const struct task **out, struct error *err);

/* As number_compare_ids() has it. */
bool task_same_id(const char *one, const char *other);

const char *task_name(const struct task *t); /* its id, else its file */
/* "ready", "waiting" ... */
const char *task_state_word(enum task_state s);
/* "low" ... of a weight or an effective priority */
const char *task_priority_word(unsigned weight);

/* ---- the graph (graph.c) ---- */

struct task_list {
	const struct task **items;
	size_t n, cap;
};

enum backlog_order {
	ORDER_BY_PRIORITY, /* effective priority, then critical path, then id */
	ORDER_BY_ID,
};
/* BY_ID where AI_SDLC_DEPS_COMPOSITION is `off`, `0`, `false` or `no`. */
enum backlog_order backlog_order(void);

/* Fills in what a task has of the graph; backlog_read() calls it. */
void backlog_link(struct backlog *b);
/* The tasks in one of two states, in the order in which they should be started. */
void backlog_frontier(
	const struct backlog *b, enum backlog_order order, bool stacked, struct task_list *out);
/* The open tasks that must be done before it, by id, and what it lacks: ids without a task. A task
 * that is done needs nothing any more. */
void backlog_blockers(const struct backlog *b, const struct task *t, struct task_list *out);
/* The open tasks that wait for it, by id. */
void backlog_impact(const struct backlog *b, const struct task *t, struct task_list *out);
/* The one open task that a stacked task waits for; NULL: there is none, or more than one. */
const struct task *backlog_base(const struct backlog *b, const struct task *t);

/* Faults that concern more than one file: dependencies and parents without a task, and cycles. */
struct backlog_problem {
	const struct task *task;
	const struct task_dependency *missing; /* NULL: a cycle */
	struct task_list cycle;                /* from the smallest id */
};
struct backlog_problems {
	struct backlog_problem *items;
	size_t n, cap;
};
void backlog_validate(const struct backlog *b, struct backlog_problems *out);
/* `FILE:LINE:COL: ...` */
void backlog_problem_add(struct buf *out, const struct backlog_problem *p);

/* DOT, and SVG as of dot_draw_svg(). `all`: also done tasks that no open one needs. */
void backlog_draw_dot(const struct backlog *b, bool all, struct buf *out);

/* ---- one task ---- */

struct task_criterion {
	struct str text;
	bool met;
};
struct task_criteria {
	struct task_criterion *items;
	size_t n, cap;
};
/* `- [ ] #1 TEXT` lines of the body; they are numbered in their order. */
void task_criteria(struct arena *a, const struct task *t, struct task_criteria *out);
/* Why work on it must not begin: its status, or its criteria; NULL: it may. In the arena. */
const char *task_refusal(struct arena *a, const struct task *t);

/*
 * Replaces the value of a key of the frontmatter by a scalar, and leaves every other byte as it is.
 * -1: ERR_INPUT: no frontmatter, no such key, or its value is a list or a map.
 */
int task_edit(struct arena *a, const char *file, struct str text, const char *key, struct str value,
	struct buf *out, struct error *err);

/* A new task. */
struct task_draft {
	const char *title;
	const char *key;                                 /* of its id: DEMO of DEMO-7 */
	const char *priority;                            /* NULL: none */
	const char **dependencies, **criteria, **labels; /* NULL-ended, or NULL */
	const char *description;                         /* NULL: none */
};
/* Writes the file under the next free id. Without criteria its status is Draft. -1: ERR_USAGE,
 * ERR_INPUT (a dependency does not exist), ERR_STATE, ERR_SYSTEM. */
int backlog_create(struct arena *a, const char *repo, const struct task_draft *draft,
	const char **id, const char **file, struct error *err);

/*
 * Sets the status of a task to Done, moves its file to backlog/completed, and commits both on the
 * branch that is checked out. Of a task that is done already nothing changes. `*file`: where it is
 * now; `*made`: there was something to commit. -1: ERR_INPUT, ERR_STATE (a file of its name is in
 * the way), ERR_SYSTEM, ERR_CHECK: a hook refuses the commit.
 */
int backlog_finish(const struct backlog *b, const struct task *t, const char **file, bool *made,
	struct error *err);

/* Of tasks: their ids, or the file of one without an id. */
json *backlog_ids_json(const struct task_list *list);

#endif
