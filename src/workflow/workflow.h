/*
 * workflow.h: a workflow file. Markdown with an optional YAML frontmatter (limits, commands,
 * declared states) and one fenced mermaid block, a stateDiagram-v2 whose edges carry triggers.
 *
 * Ownership: all of it lives in the arena that was passed in. Sources: the mermaid manual for the
 * syntax of state diagrams; docs/workflow-language.md for the part of it that is read.
 */
#ifndef DT_WORKFLOW_H
#define DT_WORKFLOW_H

#include "src/base/buf.h"

struct config_reader;
struct manifest;
struct yaml;

#define WORKFLOW_MAX    ((size_t)1 << 20)   /* bytes of a file */
#define FRONTMATTER_MAX ((size_t)256 << 10) /* bytes of its frontmatter */

/* Names, triggers, result words and texts: in bytes; labels: in characters. */
enum {
	WORKFLOW_STATES_MAX = 1000,
	WORKFLOW_EDGES_MAX = 10000,
	WORKFLOW_NAME_MAX = 64,
	WORKFLOW_LABEL_MAX = 200,
	WORKFLOW_ACTIONS_MAX = 1000,
	WORKFLOW_RESULTS_MAX = 32,
	WORKFLOW_VISITS_MAX = 1000,
	WORKFLOW_LIST_MAX = 100,
	WORKFLOW_TEXT_MAX = 4096,
	WORKFLOW_TIMEOUT_MAX_S = 86400,
	WORKFLOW_LEASE_MAX_MIN = 43200,
};

struct workflow_edge {
	const char *from, *to, *trigger; /* trigger "" where the edge has no label */
	size_t from_state, to_state;     /* indices of `states` */
	unsigned line, col;
};

struct workflow_state {
	const char *name;
	const char *label;  /* of `state "label" as name`, `name : label`; else name */
	unsigned line, col; /* first mentioned */
	bool terminal;      /* name --> [*], or `done`, `failed` with no way out */
	const struct declared_state *declared; /* NULL: a built-in step must serve it */
};

/* What can be checked of a claim: that a result is as its word says (docs/evidence.md). */
enum evidence_kind {
	EVIDENCE_WORK = 1,     /* new commits, and nothing left uncommitted */
	EVIDENCE_TREE = 2,     /* a script has passed on the files of HEAD */
	EVIDENCE_PULL = 4,     /* the pull request is open, and of this branch */
	EVIDENCE_REVIEW = 8,   /* HEAD is the commit that was reviewed */
	EVIDENCE_COMMAND = 16, /* a command of the user agrees */
	EVIDENCE_SHOWN = 32 /* of an approval, in no list: as EVIDENCE_REVIEW, but pushed or not */
};
enum { EVIDENCE_KINDS = 5, EVIDENCE_ALL = 15 };

/* In a workflow: what is required; of a declared action: what its good word claims. */
struct evidence_rule {
	unsigned kinds;      /* of enum evidence_kind */
	const char *command; /* NULL: none */
	bool given;          /* not the default */
};

struct declared_outcome {
	const char *word, *trigger;
	unsigned line, col;
};

/* The result words with which the answer in `section` lets an item be dispatched. */
struct declared_when {
	const char *section; /* NULL: of every section of its `after` */
	const char **words;
	size_t n_words;
	unsigned line, col;
};

/* An answer that an item waits for. */
struct declared_need {
	size_t item;    /* which item gives it: an index of `items` */
	uint32_t words; /* bit k: outcome k of that item lets this one be dispatched */
};

/* What a declared state has beside its actions. */
struct declared_rules {
	unsigned limit;            /* visits in one run; 0: any number */
	const char *limit_trigger; /* given instead of one visit more */
	unsigned limit_line, limit_col;
	const char **effects; /* `commit`, `push`: when all its answers are good */
	size_t n_effects;
};

/* One action of a declared state. */
struct declared_action {
	const char *agent, *skill; /* agent NULL: a script, or ... */
	const char *approve;       /* ... a person, who approves this, or ... */
	const char *child;         /* ... a work item, whose id ends with this; else NULL */
	const char *workflow;      /* of the child: a name or path */
	const char *task;          /* of the child; NULL: as of the item itself */
	const char **args;         /* words; ID and SPEC_PATH are replaced */
	size_t n_args;
	const char **reads;
	size_t n_reads;
	const char **after; /* sections of this state whose answers it waits for */
	size_t n_after;
	struct declared_need *needs; /* one for each of `after` */
	struct declared_when *when;  /* as read */
	size_t n_when;
	const char *join; /* `all`, `any`; NULL: as `all` */
	bool any;         /* one of the answers is enough, once none of the others can come */
	bool needed;      /* another item waits for it */
	bool optional;    /* it may be skipped */
	const char *writes;
	const char *command;
	unsigned timeout_s;
	struct declared_outcome *outcomes; /* the first is the good one */
	size_t n_outcomes;
	struct evidence_rule evidence;
	struct declared_rules rules; /* as read; those of its state count */
	unsigned line, col;
};

struct declared_state {
	const char *name;
	unsigned line, col;
	struct declared_rules rules;
	struct declared_action *items;
	size_t n;
	const struct declared_action **by_section; /* sorted by `writes` */
	size_t *order; /* indices of `items`, each after those that it needs; NULL: none needs one,
			  and none is a child */
	const struct manifest *manifest; /* its items are the nodes of this; NULL: declared */
};

/* Where an item of a declared state is. */
enum item_status {
	ITEM_WAITING,    /* for the answers that it needs */
	ITEM_READY,      /* to be dispatched */
	ITEM_DISPATCHED, /* and not answered */
	ITEM_ANSWERED,
	ITEM_SKIPPED, /* the answers that it needs have other words, or never come */
};

struct workflow_limits {
	unsigned long max_fix_iterations, max_review_fix_iterations, signoff_deadlock, review_loop,
		consecutive_failures, max_actions, lease_minutes;
};
/* Where each of them, and a key for a built-in state, is written; line 0: it is the default. */
struct workflow_places {
	struct {
		unsigned line, col;
	} max_fix_iterations, max_review_fix_iterations, signoff_deadlock, review_loop,
		consecutive_failures, max_actions, lease_minutes, validate, validate_timeout,
		checks, research_skill, reviewer, review_comments;
};
/* The defaults, as an initializer. */
#define WORKFLOW_LIMITS                                                                            \
	{                                                                                          \
		.max_fix_iterations = 5, .max_review_fix_iterations = 3, .signoff_deadlock = 2,    \
		.review_loop = 3, .consecutive_failures = 3, .max_actions = 60,                    \
		.lease_minutes = 120                                                               \
	}

/* Scripts run under a policy. */
struct workflow_security {
	const char *policy;    /* a shipped one or a file; NULL: they run as they are */
	const char *violation; /* what a denial means; NULL: as the policy says */
	const char **except;   /* `validate`, `checks`, declared states: without it */
	size_t n_except;
	unsigned line, col; /* of the policy's name */
};

#define WORKFLOW_VALIDATE "bash scripts/validate.sh"

struct workflow {
	const char *file;
	struct str source; /* as read */
	const char *initial;
	struct workflow_edge *edges;
	size_t n_edges;
	struct workflow_state *states;
	size_t n_states;
	struct declared_state *declared; /* in the order of the frontmatter */
	size_t n_declared;
	struct workflow_limits limits;
	struct workflow_places places;
	const char *validate;        /* command of `validating`; NULL: WORKFLOW_VALIDATE */
	unsigned validate_timeout_s; /* 0: the default */
	const char
		*checks; /* command that waits for the pull request's checks; NULL: the default */
	const char *research_skill; /* NULL: the default */
	const char *reviewer;       /* role in `reviewing` and `signoff`; NULL: the default */
	bool review_comments;       /* the reviewer posts its findings on the pull request */
	bool worktree;              /* of its own for each item; else the user's checkout */
	const char **allow_secrets; /* patterns of files that only look like secrets */
	size_t n_allow_secrets;
	const char *forge; /* command that describes a pull request; NULL: gh or glab */
	struct evidence_rule evidence;
	struct workflow_security security;
};

/* The name of a kind of evidence in a workflow and in the journal. */
const char *evidence_name(enum evidence_kind kind);

/* Whether it may be read as a workflow: it has at most `max` bytes, and is UTF-8. -1: ERR_INPUT. */
int workflow_check_text(const char *file, struct str text, size_t max, struct error *err);
/* -1: ERR_INPUT with FILE:LINE:COL. */
int workflow_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err);
int workflow_load(struct arena *a, const char *path, struct workflow *w, struct error *err);

/*
 * Reads the text of a stateDiagram-v2, which begins at `line` of `file`, into initial, states and
 * edges of *w; the rest is left alone. Each line is read or refused at its own line and column;
 * only what changes the appearance is ignored (docs/workflow-language.md has the list).
 */
int workflow_parse_mermaid(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err);

/* A state, trigger or result word: 1 to 64 of A-Z a-z 0-9 _ -, with no - at either end. */
bool workflow_word_valid(struct str s);
/* An agent or a skill: as above, with `.` and `:` inside (plugin:skill), up to 100. */
bool workflow_skill_valid(struct str s);

const struct workflow_state *workflow_state(const struct workflow *w, const char *name);
/* The item that writes `section`, or NULL. */
const struct declared_action *workflow_item(const struct declared_state *d, const char *section);
/* Both arrays have one element an item. Replaces each ITEM_WAITING of `status` by what follows from
 * the others. `words`: the result word of each ITEM_ANSWERED; NULL while it lets nothing go on. */
void workflow_frontier(
	const struct declared_state *d, const char *const *words, enum item_status *status);
const char *workflow_status_name(enum item_status status);
/* For the reader of the file: `by_section`, `order`, `needs`, `any`, `needed`, `optional`, and the
 * faults of `after`, `when` and `join`. `maps`: one for each item. */
void workflow_order(struct config_reader *r, struct declared_state *d, struct yaml *const *maps);
/* Where `trigger` leads from `from`, or NULL. */
const char *workflow_target(const struct workflow *w, const char *from, const char *trigger);
/* The only edge out of `from`, or NULL when there is none or more than one. */
const struct workflow_edge *workflow_only_edge(const struct workflow *w, const char *from);

/* What a step (see step.h) can give, for the check: the built-in states and their triggers. */
struct workflow_builtin {
	const char *state;
	const char *const *triggers; /* NULL-ended; the first is the good one */
	unsigned evidence;           /* of enum evidence_kind: what its answers claim */
	const char *answer;          /* the section that it writes; NULL: none */
	const char *const *verdicts; /* others, NULL-ended; NULL: none */
};

/* Whether a run may end in `done` with commits that were never pushed. */
bool workflow_may_stay_local(const struct workflow *w, const struct workflow_builtin *builtin);

/*
 * Adds one line `FILE:LINE:COL: fault` per fault to `out` and returns how many: a trigger that a
 * state can give has no transition, a state that nothing serves, one that cannot be reached, one
 * that cannot reach an end.
 */
size_t workflow_check(
	const struct workflow *w, const struct workflow_builtin *builtin, struct buf *out);

/* The same for agents that get no task, alone. */
size_t workflow_check_tasks(
	const struct workflow *w, const struct workflow_builtin *builtin, struct buf *out);

/* Where a work item is. */
struct workflow_current {
	const char *state;
	const enum item_status
		*items; /* one for each item of the declared state; NULL: not shown */
};

/* The diagram again, normalised. `at` (may be NULL) is marked. */
void workflow_draw_mermaid(
	const struct workflow *w, const struct workflow_current *at, struct buf *out);
/* The same in the DOT language of Graphviz, with what the colours mean. */
void workflow_draw_dot(
	const struct workflow *w, const struct workflow_current *at, struct buf *out);
/* As SVG, which Graphviz's program `dot` makes. -1: ERR_SYSTEM. */
int workflow_draw_svg(const struct workflow *w, const struct workflow_current *at, struct buf *out,
	struct error *err);

#endif
