/*
 * order.h: the vertices of a layered drawing and the order in which they stand in their layers.
 */
#ifndef DT_ORDER_H
#define DT_ORDER_H

#include "src/base/buf.h"

struct vertex {
	size_t layer;
	int left, right, h; /* from its x to both sides; height */
	bool passing;       /* a place held by an edge, not a node */
	bool stiff;         /* of an edge that passes several layers */
	int64_t x;
	size_t at;         /* place in its layer */
	size_t *up, *down; /* neighbours in the layers beside, from left to right */
	size_t n_up, n_down;
	int *port_up, *port_down; /* where their lines begin */
};

struct segment {
	size_t up, down;
};

struct layer {
	size_t *v, n;
};

struct grid {
	struct vertex *vertices;
	size_t n;
	struct segment *segments; /* each leads one layer down */
	size_t n_segments;
	struct layer *layers;
	size_t n_layers;
};

/* Fills layers, neighbours and places for few crossings. `vertices`, `segments` are given. */
void grid_order(struct arena *a, struct grid *g);

#endif
