/*
 * explore.h: runs every combination of the outcomes of a workflow's actions through the real
 * engine, and reports what is wrong with the workflow. docs/explore.md.
 *
 * explore_workflow() does all of it. Its parts are public for each other and for the tests: the
 * state graph, whose nodes are what `step` leaves on the disk and whose edges are what happens up
 * to the next `step`; its analysis; the findings. Everything lives in the graph's arena unless it
 * says otherwise.
 */
#ifndef DT_VERIFY_EXPLORE_H
#define DT_VERIFY_EXPLORE_H

#include "src/base/vec.h"
#include "src/verify/simulator.h"
#include "src/workflow/workflow.h"

enum { EXPLORE_STATES = 200000 };

struct explore_options {
	unsigned changes; /* how many the troubleshooter may make in one run */
	size_t states;    /* stop instead of making more */
	size_t trace;     /* print the script of this finding only; 0: print the report */
	bool json;
};

/* 0: no findings, or the script was printed. ERR_CHECK: findings, or the graph is not complete. -1:
 * there is no such finding, or no script shows it. */
int explore_workflow(const struct workflow *w, const struct explore_options *options,
	struct buf *out, struct error *err);

enum { EXPLORE_NONE = UINT32_MAX }; /* no node, no edge */

/* ---- answers: what may become of one action ---- */

struct explore_answer {
	const char *name; /* for people: `approved`, `no answer` */
	bool silent;      /* nothing is recorded */
	bool running;     /* and the script still runs at the next step */
	bool change;      /* the troubleshooter changes the document */
	const char *word; /* `--result`; NULL: none */
	const char *text;
};

struct explore_answers {
	struct arena *arena;
	struct explore_answer *items;
	size_t n, cap;
};

/* All variants of the answer to `action`; the first is the good one. `c`: the document, in which
 * the troubleshooter may make changes; NULL: it may not. */
void explore_answers(struct arena *a, const struct workflow *w, const json *action,
	const struct context *c, struct explore_answers *out);
/* Those of each printed action. `changes`: with changes by the troubleshooter. */
struct explore_answers *explore_choices(
	struct arena *a, const struct simulator *s, const json *printed, bool changes);
/* The `i`th word of the action's `result_format`, or NULL. */
const char *explore_result_word(struct arena *a, const json *action, size_t i);
/* What a step looks for in the text of this section besides the word, or NULL. */
const char *explore_expected_text(const char *section);

/* ---- keys: documents with the same key have the same future ---- */

/* A key is `COUNTERS; STATE ... [SECTIONS] OUTSTANDING`. */
#define EXPLORE_KEY_STATE       "; "
#define EXPLORE_KEY_OUTSTANDING "] "
#define EXPLORE_KEY_CARRIED     " carried " /* follows an answer that was kept from before */
#define EXPLORE_BUDGET_TRIGGER  "budget_exceeded"
#define EXPLORE_CIRCLE          "runs in a circle" /* in the message of a step */

struct explore_key_rules {
	const struct workflow *workflow;
	bool *reachable; /* n_states x n_states: the diagram leads from the first to the second */
};

void explore_key_rules(struct arena *a, const struct workflow *w, struct explore_key_rules *r);
/* Adds the key of the simulator's document to `out`. `changes`: how many the troubleshooter may
 * still make. */
void explore_key_now(const struct explore_key_rules *r, const struct simulator *s, unsigned changes,
	struct buf *out);
/* Removes from the document what its key leaves out; sets how much of the budget is spent. */
void explore_key_trim(struct context *c, unsigned long dispatched);
/* The sections that decide, sorted; NULL-ended. */
const char *const *explore_key_sections(struct arena *a, const struct context *c);

/* ---- the graph ---- */

enum explore_node_kind {
	NODE_START,    /* no document yet */
	NODE_WORK,     /* actions are outstanding */
	NODE_END,      /* the run is over */
	NODE_QUESTION, /* the user is asked */
	NODE_GIVEN_UP, /* the troubleshooter was called too often */
	NODE_ERROR,    /* every `step` fails */
};

enum explore_edge_flag {
	EDGE_USER = 1,          /* a person did something */
	EDGE_CHANGE = 2,        /* the troubleshooter changed the document */
	EDGE_TERMINATE = 4,     /* the troubleshooter ended the run */
	EDGE_BUDGET = 8,        /* only when the budget is spent */
	EDGE_LIMIT = 16,        /* through `max_retries` */
	EDGE_EXTENDED = 32,     /* extends the budget, which can be done twice */
	EDGE_NOT_EXTENDED = 64, /* only when it was extended twice already */
	EDGE_PART = 128,        /* dispatches the part of an array that is left of the budget */
};

/* What happens between two steps. */
enum explore_input { INPUT_STEP, INPUT_ANSWERS, INPUT_USER, INPUT_RESET };

struct explore_edge {
	uint32_t from, to, cost; /* cost: dispatched actions */
	unsigned flags;
	enum explore_input input;
	bool moved;       /* HEAD is not where it was when the answers were requested */
	unsigned refuted; /* enum evidence_kind: what is not as the answers claim */
	size_t n;
	const uint32_t *chosen; /* for each outstanding action: which of its explore_choices() */
};

struct explore_node {
	const char *key, *state;
	char *document;      /* heap; NULL once the node is expanded */
	const char *facts;   /* about evidence; "": none */
	bool placed;         /* the item has a place */
	const char *error;   /* NODE_ERROR: the message */
	const char *trigger; /* why the troubleshooter is called; NULL: it is not */
	enum explore_node_kind kind;
	bool success;           /* of NODE_END */
	unsigned changes;       /* that the troubleshooter may still make */
	uint32_t edge, n_edges; /* its edges are consecutive */
};

/* Texts, each once, numbered from 0 in the order in which they were added. */
struct explore_texts {
	void *tree;
	uint32_t n;
};

struct explore_text {
	const char *text;
	uint32_t number;
};

/* *added: the text is new, and was copied to the arena. */
const struct explore_text *explore_texts_add(
	struct explore_texts *t, struct arena *a, const char *text, bool *added);
void explore_texts_release(struct explore_texts *t);

struct explore_graph {
	struct arena arena;
	const struct workflow *workflow;
	struct explore_key_rules rules;
	const struct simulator_kind *kind;
	size_t max_nodes;
	struct explore_texts keys; /* of the nodes, in their order */
	VEC(struct explore_node) nodes;
	VEC(struct explore_edge) edges;
	struct explore_round *round; /* while the graph is built */
	bool *taken;                 /* by edge of the workflow */
	bool *visited;               /* by state of the workflow */
	size_t calls;                /* of the engine */
	bool complete;               /* so far no node was left out, for there may be no more */
};

/* The outstanding actions of one node and the answers that are chosen for them so far. */
struct explore_round {
	struct explore_graph *graph;
	uint32_t node;
	struct arena arena;
	json *printed; /* by the step that repeats the node's array */
	size_t n;
	struct explore_answers *choices;      /* by action */
	const struct explore_answer **chosen; /* by action */
	size_t n_bad;                         /* chosen answers that are not the good one */
	const char *running;                  /* id of the script that still runs, or NULL */
	enum explore_input input;
};

void explore_graph_build(struct explore_graph *g, const struct workflow *w,
	const struct explore_options *options, const struct simulator_kind *kind);
void explore_graph_release(struct explore_graph *g);
/* What a person does for INPUT_USER or INPUT_RESET. */
struct simulator_call explore_user_call(enum explore_input input);

/* ---- analysis ---- */

/* The best way from a node to an end. */
enum explore_exit {
	EXIT_BY_ANSWERS,        /* of agents, scripts or the user */
	EXIT_BY_LIMIT,          /* only through `max_retries` */
	EXIT_BY_TROUBLESHOOTER, /* only when it ends the run or changes things */
	EXIT_NONE,
};

/* By node: enum explore_exit. */
int64_t *explore_exits(const struct explore_graph *g, struct arena *a);

/* A cycle that answers alone can repeat. */
struct explore_cycle {
	uint32_t *edges;
	size_t n;
	uint32_t cost; /* actions of one round */
};

/* The shortest cycle of each strongly connected component, in the order of the nodes. Without edges
 * that the budget, a person or a change by the troubleshooter ends. */
struct explore_cycle *explore_cycles(const struct explore_graph *g, struct arena *a, size_t *n);

/* The largest number of actions before a person is asked or the run is over, within the budget; -1:
 * there is no bound, or the graph is too large. */
int64_t explore_most_actions(const struct explore_graph *g);
/* The smallest number of actions to an end with success; -1: there is none. */
int64_t explore_least_actions(const struct explore_graph *g);
/* The edges of the shortest path to `node` within the budget; false when none was found. */
bool explore_path(
	const struct explore_graph *g, struct arena *a, uint32_t node, uint32_t **edges, size_t *n);
/* By node: it is reached within the budget. NULL: the graph is too large. */
bool *explore_reached(const struct explore_graph *g, struct arena *a);

/* ---- findings ---- */

enum explore_finding_kind {
	FINDING_DEAD_END,   /* no way leads to an end */
	FINDING_LIVELOCK,   /* a cycle that no limit of the workflow ends */
	FINDING_LIMIT,      /* the only way to an end is a limit */
	FINDING_STATE,      /* is never entered */
	FINDING_TRANSITION, /* is never taken */
};

struct explore_finding {
	enum explore_finding_kind kind;
	const char *text;      /* one line */
	unsigned line, col;    /* of the workflow file; 0: none */
	uint32_t node;         /* where it shows; EXPLORE_NONE: nowhere */
	uint32_t last;         /* the edge from there that shows it, or EXPLORE_NONE */
	const uint32_t *cycle; /* of a livelock: edges from the node back to it */
	size_t n_cycle;
};

struct explore_findings {
	VEC(struct explore_finding) list;
	VEC(const char *) notes; /* worth a line, but no fault */
};

const char *explore_finding_name(enum explore_finding_kind kind);
void explore_find(const struct explore_graph *g, struct arena *a, struct explore_findings *out);

/*
 * Adds the agents script that shows finding `number` (from 1). The path is replayed first: -1
 * (ERR_CHECK) when it does not lead where the graph says.
 */
int explore_trace(const struct explore_graph *g, const struct explore_finding *f, size_t number,
	struct buf *out, struct error *err);

#endif
