/*
 * graph.h: what a walk's graph says: from where an end can be reached and how, what goes round, and
 * what a path can cost at most. For the files of this room alone.
 */
#ifndef DT_EXPLORE_GRAPH_H
#define DT_EXPLORE_GRAPH_H

#include "src/verify/walk.h"

/* By what an end can be reached from a node, the best of them. */
enum way {
	WAY_ANSWERS, /* answers lead there, with the user's help or without */
	WAY_LIMIT,   /* only a limit of the workflow does (`max_retries`) */
	WAY_TROUBLE, /* only the troubleshooter does: it ends the run, or changes things */
	WAY_NONE,
};

/* One a node. */
enum way *graph_ways(const struct walk *k, struct arena *a);

/* A part of the graph that can be gone round in, by answers alone. */
struct circle {
	uint32_t *edges; /* one round, from its first node to that again */
	size_t n;
	uint32_t cost; /* actions of it */
};

/* The shortest round of each part, in the order in which the walk met them. Only what the limits of
 * the workflow do not end: neither the budget nor a person is in it, and no change. */
struct circle *graph_circles(const struct walk *k, struct arena *a, size_t *n);

/*
 * The largest number of actions that can be spent before a person is asked or the run is over, with
 * the budget as it is. `changes`: the troubleshooter may change things. -1: there is no such
 * number; -2: it is too large to be looked for.
 */
int64_t graph_cost(const struct walk *k, bool changes);
/* The fewest actions with which a run ends with success; -1: none does. */
int64_t graph_least(const struct walk *k);

/* The shortest path to `node` that keeps to the budget: its edges. False when none was found. */
bool graph_path(const struct walk *k, struct arena *a, uint32_t node, uint32_t **edges, size_t *n);

#endif
