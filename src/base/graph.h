/*
 * graph.h: the order of a directed graph, its components, and its cycles, from one walk. For the
 * actions of a workflow's state and for the tasks of a backlog.
 *
 * The walk is Tarjan's (SIAM Journal on Computing 1, 1972), without recursion. It costs time in
 * proportion to nodes and edges.
 */
#ifndef DT_GRAPH_H
#define DT_GRAPH_H

#include "src/base/buf.h"

struct graph {
	size_t n;            /* nodes are 0 .. n - 1 */
	const size_t *first; /* n + 1 of them: the edges of node i lead to to[first[i]] and so on */
	const size_t *to;
};

/* Edges of the opposite direction, those of a node in the order of the nodes that they lead to; in
 * the arena. */
void graph_reverse(struct arena *a, const struct graph *g, struct graph *out);

struct graph_order {
	/* All nodes. A node comes after those that its edges lead to, unless they are in one
	 * component; also then a node comes after those of other components. */
	size_t *order;
	/* Of each node. Nodes that lead to each other have the same component. */
	size_t *component;
};

/* A cycle: `path` has `n` nodes; each leads to the next one, and the last to the first. */
typedef void graph_cycle_fn(void *data, const size_t *path, size_t n);

/* Nodes are visited in their order, edges in theirs. `on_cycle` (may be NULL) is called for each
 * edge that leads back; every component of several nodes has one. The result is in the arena. */
void graph_walk(struct arena *a, const struct graph *g, graph_cycle_fn *on_cycle, void *data,
	struct graph_order *out);

#endif
