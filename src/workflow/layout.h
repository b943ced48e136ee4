/*
 * layout.h: where the boxes, lines and labels of a layered drawing go. Whole numbers only, so that
 * the same graph gives the same drawing everywhere.
 *
 * The method is the classic one (Sugiyama, Tagawa, Toda 1981): turn edges round until there is no
 * circle, give each node a layer, let an edge that passes a layer hold a place in it, order each
 * layer for few crossings, then choose positions. Every second layer belongs to the labels, each of
 * which holds a place as a node does: so no line runs through a box and no two labels overlap.
 */
#ifndef DT_LAYOUT_H
#define DT_LAYOUT_H

#include "src/base/buf.h"

struct lay_point {
	int x, y;
};

struct lay_node {
	int w, h; /* in */
	int x, y; /* out: the middle of its top */
};

struct lay_edge {
	size_t from, to;
	int w, h;               /* in: of the label; 0 when there is none */
	bool back;              /* out: it leads up */
	struct lay_point label; /* out: the middle */
	/* out: between points 0-1, 2-3, ... the line is straight and passes a layer, between 1-2,
	 * 3-4, ... it swings from layer to layer. An edge from a node to itself has no points: it
	 * stands at the right of its box. */
	struct lay_point *points;
	size_t n;
};

struct layout {
	struct lay_node *nodes;
	struct lay_edge *edges;
	size_t n_nodes, n_edges;
	int width, height; /* out */
};

/* Node 0 comes first, at the top. False: too large to be laid out (or to be looked at). */
bool layout_run(struct arena *a, struct layout *l);

enum { LAYOUT_LOOP = 26 }; /* how far an edge to itself stands out */

#endif
