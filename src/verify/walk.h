/*
 * walk.h: the graph of all that can become of a work item, found by playing it: nodes are what a
 * step leaves behind, edges what happens up to the next step. The real engine makes every edge.
 *
 * For the files of this room alone. All of it lives in the walk's arena.
 */
#ifndef DT_EXPLORE_WALK_H
#define DT_EXPLORE_WALK_H

#include "src/verify/forms.h"
#include "src/verify/key.h"
#include "src/verify/stage.h"

enum node_kind {
	NODE_START,    /* there is no document yet */
	NODE_WORK,     /* actions are printed */
	NODE_END,      /* the run is over */
	NODE_QUESTION, /* the user is asked */
	NODE_GIVEN_UP, /* the troubleshooter was called too often */
	NODE_ERROR,    /* step fails, whatever is done */
};

enum edge_flag {
	EDGE_USER = 1,          /* a person did something */
	EDGE_CHANGE = 2,        /* the troubleshooter changed the state of things */
	EDGE_TERMINATE = 4,     /* the troubleshooter ended the run */
	EDGE_BUDGET = 8,        /* only when the budget is spent */
	EDGE_LIMIT = 16,        /* through `max_retries` */
	EDGE_EXTENDED = 32,     /* the budget is given once more, which can be done twice */
	EDGE_NOT_EXTENDED = 64, /* only when it was given twice already */
	EDGE_REFILL = 128,      /* the troubleshooter set back what is spent */
};

struct transition {
	const char *from, *to, *trigger;
};

enum label_op { LABEL_STEP, LABEL_ANSWERS, LABEL_USER, LABEL_RESET };

/* What happens between two steps. */
struct label {
	enum label_op op;
	size_t n; /* forms: one for each printed action */
	const struct form *const *forms;
};

struct edge_to {
	uint32_t from, to, cost; /* cost: actions dispatched */
	unsigned flags;
	const struct label *label;
};

struct node {
	char *key;
	uint64_t hash;
	char *doc;     /* until it is expanded */
	char *printed; /* what step printed; of NODE_ERROR the message */
	const char *state;
	enum node_kind kind;
	bool good;              /* NODE_END: with success */
	unsigned changes;       /* that the troubleshooter may still make */
	uint32_t parent;        /* the edge by which it was found first */
	uint32_t edge, n_edges; /* its edges stand together */
	bool asked;             /* its state has asked something before */
	/* Where a way to it from the same state leads instead when the budget is spent: node + 1,
	 * 0 when that was not tried. By `asked` of where it comes from. */
	uint32_t spent[2], spent_cost[2];
};

enum { NONE = UINT32_MAX, BROKEN_TOLD = 20 };

/* Something that `record` is offered; in a trace it is played by the agent of the first action. */
struct offer {
	const char *action; /* id */
	const char *word, *text;
};

struct broken {
	uint32_t node;
	const char *text;
	const struct offer *offers; /* what was done there, one after the other */
	size_t n_offers;
};

struct walk {
	struct arena arena;
	const struct workflow *w;
	struct key_rules rules;
	size_t max_nodes;
	struct node *nodes;
	uint32_t n_nodes, cap_nodes;
	struct edge_to *edges;
	uint32_t n_edges, cap_edges;
	uint32_t *table; /* by hash: node + 1 */
	size_t n_table;
	const struct form **forms; /* one of each */
	size_t n_forms, cap_forms;
	bool plain;     /* only the words themselves, in one form */
	bool *taken;    /* one an edge of the workflow */
	bool *visited;  /* one a state of the workflow */
	size_t plays;   /* invocations of the engine */
	size_t merged;  /* answers that mean the same as another one */
	size_t refused; /* answers that were refused, as they must be */
	size_t changes; /* of the troubleshooter that were tried and not followed */
	size_t crashes; /* restarts after which all was as before or as after */
	size_t takeovers;
	bool complete;
	bool differ; /* a form that should mean the same as another does not */
	struct broken broken[BROKEN_TOLD]; /* what must hold and does not */
	size_t n_broken;
	uint64_t *seen; /* kinds of nodes that were checked: a table of hashes */
	size_t n_seen, cap_seen;
	void (*sabotage)(struct stage *s); /* for tests alone: what a broken program would do */
};

/* `changes`: how often in one run the troubleshooter may change the state of things. */
void walk_init(
	struct walk *k, const struct workflow *w, unsigned changes, bool plain, size_t max_nodes);
void walk_all(struct walk *k);
void walk_drop(struct walk *k);

/* graph side (walk.c) */
uint32_t walk_node(struct walk *k, const char *key, bool *fresh);
/* False when there is such an edge already. Edges are of the node that is being expanded. */
bool walk_edge(struct walk *k, const struct edge_to *e);
const struct form *walk_form(struct walk *k, const struct form *f);
void walk_broken(struct walk *k, uint32_t node, const char *what, const char *detail);
/* With what was offered to `record` there. */
void walk_broken_by(struct walk *k, uint32_t node, const char *what, const char *detail,
	const struct offer *offers, size_t n);

/* expand.c */
void expand(struct walk *k, uint32_t node);

/* True for the first time that `kind` is named. */
bool walk_first(struct walk *k, const char *kind);

/* checks.c: what must hold at a node, whatever the workflow. `at`: as things are. */
/* False when nodes of this kind were looked at before. */
bool check_node(struct walk *k, uint32_t node, const struct stage *at, const json *printed);
/* An answer that must be refused, and change nothing. `owner` may be NULL. */
void check_refused(struct walk *k, uint32_t node, const struct stage *at, const char *owner,
	const json *action, const struct form *f, const char *what);
bool check_same(const struct stage *a, const struct stage *b); /* the documents */
void check_second(struct walk *k, uint32_t node, const struct stage *at, const json *action,
	const struct form *given);

/* play.c: the stage as the explorer uses it */
struct play {
	struct stage *stage;
	struct walk *walk;
	unsigned changes;
	struct buf key; /* of the document after the last call that was good */
};
/* On a copy of the stage. */
void play_begin(struct play *p, struct walk *k, uint32_t node, const struct stage *at);
void play_end(struct play *p); /* for CLEANUP */
/* -1 as the verb fails. */
int play_form(struct play *p, const json *action, const struct form *f, struct error *err);
int play_form_by(struct play *p, const char *owner, const json *action, const struct form *f,
	struct error *err);
int play_call(struct play *p, const struct stage_call *call, json **printed, struct error *err);
int play_step(struct play *p, bool returned, json **printed, struct error *err);
/* The key when the troubleshooter may make fewer changes from now on. */
void play_key(struct play *p, unsigned changes);
/* A stage with the node's document. */
struct stage *play_load(struct walk *k, uint32_t node);
/* A copy of the stage on which the budget is spent, or else extended as often as can be. */
struct stage *play_budget(struct walk *k, const struct stage *at, bool spent);

#endif
