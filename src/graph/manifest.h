/*
 * manifest.h: an AgentManifest, the second syntax of a workflow: personas, and a graph of nodes
 * whose edges are taken on statuses, events and conditions. It is compiled to a workflow whose
 * state `graph` has one item for each node, in the order of the file. docs/manifests.md.
 *
 * Ownership: everything lives in the arena that was passed in.
 */
#ifndef DT_MANIFEST_H
#define DT_MANIFEST_H

#include "src/base/json.h"
#include "src/config/resource.h"
#include "src/workflow/workflow.h"

#define MANIFEST_STATE "graph"
/* What follows the path of a manifest in the name of the workflow of one of its nodes. */
#define MANIFEST_NODE '#'
/* The section with the events of a run, a JSON object on each line. */
#define MANIFEST_EVENTS "Domain Events"
/* The section with the context of the project, for nodes that read it. */
#define MANIFEST_PROJECT "Project Context"

enum {
	MANIFEST_NODES_MAX = 100000,
	MANIFEST_EDGES_MAX = 300000,
	MANIFEST_RUN_MAX = 10000, /* nodes of one that runs: its document has an answer of each */
	MANIFEST_BYTES_MAX = 64 << 20,
	MANIFEST_RETRIES_MAX = 20,
	MANIFEST_DEPTH_MAX = 8,
	MANIFEST_UPDATES_MAX = 50, /* flags, artifacts and tasks of one answer */
};

/* How a node ends; also the index of the outcome of its item that means it. */
enum node_status { NODE_SUCCESS, NODE_VALIDATION_FAIL, NODE_FAILURE, NODE_STATUSES };
extern const char *const node_status_names[];  /* ended by NULL */
extern const char *const merge_status_names[]; /* the same of a node that merges */

enum block_kind { BLOCK_SEQUENTIAL, BLOCK_PARALLEL, BLOCK_HIERARCHICAL, BLOCK_RETRY_UNROLLED };
enum condition_kind { CONDITION_ALWAYS, CONDITION_FLAG, CONDITION_EVENT, CONDITION_FILE };

struct manifest_persona {
	const char *name;
	unsigned line, col;
	const char *prompt;          /* a template */
	const char *model;           /* NULL: as the run says */
	const char *role, *skill;    /* files of the plugin or the repository; NULL: none */
	struct text_list tools;      /* empty: as its role says */
	struct text_list subscribes; /* events that enter its briefs */
};

struct manifest_relationship {
	const char *parent, *child;
	unsigned max_depth, max_children; /* 0: any */
	unsigned line, col;
};

struct manifest_block {
	const char *name, *within; /* within NULL: it is in no other */
	enum block_kind kind;
	unsigned max_retries;
	bool limited; /* max_retries is given */
	unsigned line, col;
	size_t depth; /* 1: it is in no other */
};

struct manifest_node {
	const char *id;
	const char *persona, *command, *workflow; /* one of them, or `merge` or `close` */
	const char *merge; /* a node with a branch of its own, or `origin/BRANCH` */
	bool close;        /* lands the item's branch */
	const char *resolver;
	const char *block_name, *task, *join;
	struct text_list reads, evidence;
	unsigned max_retries; /* after compilation: what node, block and topology allow */
	bool limited;         /* max_retries is given */
	bool worktree;        /* of its own */
	unsigned timeout_s;
	unsigned line, col;
	const struct manifest_persona *actor; /* of a merge its resolver; NULL: none */
	size_t merge_node;                    /* SIZE_MAX: none */
	const struct manifest_block *block;   /* NULL: none */
};

struct manifest_condition {
	enum condition_kind kind;
	const char *flag, *event, *path;
	bool is; /* what it must be */
};

struct manifest_edge {
	const char *from, *to, *event; /* event NULL: any answer */
	unsigned on;                   /* bit k: taken on status k */
	const char *status;            /* as written */
	bool any;                      /* one of `when` is enough */
	struct manifest_condition *when;
	size_t n_when;
	unsigned line, col;
	size_t from_node, to_node;
};

struct manifest_field {
	const char *name, *type; /* text, number, boolean, list, map */
};

struct manifest_event {
	const char *name;
	struct manifest_field *payload;
	size_t n_payload;
	unsigned line, col;
};

struct manifest_variable {
	const char *name, *value;
};

struct manifest {
	const char *name;
	const char *entry; /* the first node of a run; NULL: the first of the list */
	struct manifest_persona *personas;
	size_t n_personas;
	struct manifest_relationship *relationships;
	size_t n_relationships;
	unsigned max_depth, max_retries; /* of the topology */
	struct manifest_block *blocks;
	size_t n_blocks;
	struct manifest_event *events;
	size_t n_events;
	struct manifest_variable *variables;
	size_t n_variables;
	struct manifest_node *nodes;
	size_t n_nodes;
	struct manifest_edge *edges;
	size_t n_edges;
	const char *policy, *violation;
	unsigned policy_line, policy_col;
	unsigned drop_uid,
		drop_gid; /* what is started for a node runs as these; 0: as the caller */
	unsigned drop_line, drop_col;
	unsigned max_actions; /* 0: the default */

	/* Edges by node: those into node i are in_edges[in_first[i]] up to in_first[i + 1]. */
	size_t *in_first, *in_edges, *out_first, *out_edges;
	size_t *order;      /* nodes, each after those that lead to it */
	bool reads_project; /* a node reads MANIFEST_PROJECT */
};

/* The documents of this kind, for `resources schema`. */
extern const struct resource_kind manifest_kind;

/* Whether a file is a manifest, by its name. */
bool manifest_is_path(struct str path);

/* A workflow file of either syntax. -1: ERR_INPUT with FILE:LINE:COL; of several faults of a
 * manifest the first one and their number. */
int manifest_workflow_parse(
	struct arena *a, const char *file, struct str text, struct workflow *w, struct error *err);
int manifest_workflow_load(
	struct arena *a, const char *path, struct workflow *w, struct error *err);
/* -1: it has more than MANIFEST_RUN_MAX nodes. */
int manifest_check_run(const struct workflow *w, struct error *err);
/* Adds every fault of the manifest `path`, one a line, and returns how many. -1: it cannot be read.
 */
int manifest_check_file(
	struct arena *a, const char *path, struct buf *out, size_t *n, struct error *err);

/* The same of a text, as the file `name`. */
int manifest_check_text(struct arena *a, const char *name, struct str text, struct buf *out,
	size_t *n, struct error *err);

/* ---- for the files of this room ---- */

struct config_reader;

/* Finds what names refer to, and adds the faults that the fields by themselves cannot tell. */
void manifest_check(struct config_reader *r, const struct yaml *tree, struct manifest *m);
/* Whether a node merges or closes. */
bool manifest_node_merges(const struct manifest_node *n);
/* A block whose nodes are dispatched one after another; NULL is one. */
bool block_is_sequential(const struct manifest_block *b);

/* ---- templates ---- */

/* Calls `visit` for each `{{NAME}}`. Returns the byte behind an opening that is never closed or has
 * no name; 0: there is none. */
typedef void template_visit(void *data, struct str name, struct buf *out);
size_t template_render(struct str text, template_visit *visit, void *data, struct buf *out);
/* Names that every prompt has, besides the variables of the manifest; ended by NULL. */
extern const char *const template_names[];

/* ---- where a run is ---- */

struct node_progress {
	enum {
		PROGRESS_NONE,     /* not dispatched, or again after a failed validation */
		PROGRESS_OPEN,     /* dispatched */
		PROGRESS_ANSWERED, /* and not ended: its claim is not verified */
		PROGRESS_ENDED
	} at;
};

/*
 * Where each node is, from what the others have done. `taken`: one for each edge, of nodes that
 * have ended: it was chosen. A node becomes ITEM_READY when the nodes that lead to it have ended or
 * are skipped and, with `join: all`, each of them chose it, or, with `any`, one did; else it is
 * skipped. Of a sequential block one node at a time is ready or dispatched.
 */
void manifest_frontier(const struct manifest *m, const struct node_progress *progress,
	const bool *taken, enum item_status *status);

/* ---- events and updates of answers ---- */

/* The types that every manifest has. `observed`: the machine emits them itself; an answer that
 * names one is refused. */
struct domain_event {
	const char *name;
	bool observed;
};
extern const struct domain_event domain_events[]; /* ended by a NULL name */
/* Of the manifest or of every manifest; false: there is no such type. */
bool manifest_has_event(const struct manifest *m, const char *name);
/* The types that the manifest declares, for an action: {NAME: {FIELD: TYPE}}. The caller's. */
json *manifest_events_json(const struct manifest *m);
/* Why the members flags, artifacts, tasks and events of an answer's object are refused; NULL: they
 * are not. `declared`: as above, or NULL. */
const char *answer_updates_fault(struct arena *a, const json *answer, const json *declared);
/* The name of an entry of `events`. */
const char *answer_event_name(const json *event);

/* ---- the project ---- */

/* What the end of a node adds to the context of the project, and what is asked of it. */
struct project_query {
	const char *document;  /* of the item, absolute */
	const char *directory; /* where the item is worked on; NULL: nowhere yet */
	const char *action;    /* that has ended: the update is made once */
	const json *update;    /* {flags, artifacts, tasks}; NULL: none */
	struct text_list flags, paths;
	bool all; /* also what the context has */
};
/* *facts: {"flags": [NAME of each that is set], "files": [PATH of each that exists]}, with `all`
 * also "project": {"flags": {NAME: BOOL}, "artifacts": {NAME: PATH}, "tasks": [TASK]}; the
 * caller's. -1: ERR_SYSTEM, ERR_STATE. */
int project_ask(struct arena *a, const struct project_query *q, json **facts, struct error *err);

/* ---- drawing ---- */

/* Where a node of a run is. */
struct node_drawn {
	enum item_status at;
	const char *how; /* its status; NULL: it has not ended */
	size_t attempts;
	int64_t begin, end; /* of the last attempt; 0: not yet */
};

/* A box for each node; `run` NULL: of no run, else one element for each. */
void manifest_draw_mermaid(const struct manifest *m, const struct node_drawn *run, struct buf *out);
void manifest_draw_dot(
	const struct manifest *m, const char *file, const struct node_drawn *run, struct buf *out);

#endif
