/*
 * node.h: the nodes of a manifest, whose state is kept with their outstanding actions: the member
 * `ended` is the status of a node that has ended, `routes` the nodes that it chose.
 */
#ifndef DT_NODE_H
#define DT_NODE_H

#include "src/graph/manifest.h"
#include "src/machine/action.h"

/* Where the nodes of a state are; one element for each. */
struct node_view {
	enum item_status *status;
	enum node_status *how; /* of those that have ended */
	bool *ended;
	const json **actions; /* the last one; NULL: none, or it is to be tried again */
	bool *taken;          /* one for each edge */
};

/* From the outstanding actions. In the arena. */
void node_view_load(struct arena *a, const struct context *doc, const struct declared_state *d,
	const json *actions, struct node_view *out);
/* Where the nodes were, from the journal of the item: also of a run that has ended. */
int node_drawn_load(struct arena *a, const char *document, const struct declared_state *d,
	struct node_drawn **out, struct error *err);
/* How often a node was tried again. */
unsigned long node_retries(struct arena *a, const struct context *doc, const char *node);
/* A node that merges: somebody must resolve a conflict before the next attempt. */
bool node_is_resolving(struct arena *a, const struct context *doc, const char *node);
/* Which outcome of the item the answer to its action gives; NULL: none. */
const struct declared_outcome *node_outcome(
	const struct context *doc, const struct declared_action *item, const json *action);

/* What the last attempt of a merge printed (docs/manifests.md); NULL: nothing. The caller's. */
json *node_merge_report(struct arena *a, const struct context *doc, const char *node);

#endif
