/*
 * layout.h: positions of the boxes, lines and labels of a layered drawing. In whole numbers, so
 * that the same graph gives the same drawing everywhere.
 *
 * The method of Sugiyama, Tagawa and Toda (1981): reverse edges until the graph has no cycle,
 * assign each node a layer, add a vertex wherever an edge passes a layer, order each layer for few
 * crossings, then choose positions. Every second layer is for labels, which take up room as nodes
 * do; so no line crosses a box and no two labels overlap.
 */
#ifndef DT_LAYOUT_H
#define DT_LAYOUT_H

#include "src/base/buf.h"

struct lay_point {
	int x, y;
};

struct lay_node {
	int w, h; /* in */
	int x, y; /* out: the middle of the top */
};

struct lay_edge {
	size_t from, to;
	int w, h;               /* in: of the label; 0 when there is none */
	bool back;              /* out: it leads up */
	struct lay_point label; /* out: the middle */
	/* out: a straight line through a layer between points 0 and 1, 2 and 3, ...; a curve to the
	 * next layer between points 1 and 2, 3 and 4, ... An edge from a node to itself has no
	 * points: it is drawn at the right of the box. */
	struct lay_point *points;
	size_t n;
};

struct layout {
	struct lay_node *nodes;
	struct lay_edge *edges;
	size_t n_nodes, n_edges;
	int width, height; /* out */
};

/* Node 0 is at the top. False: the graph is too large. */
bool layout_run(struct arena *a, struct layout *l);

enum { LAYOUT_LOOP = 26 }; /* width of an edge from a node to itself */

#endif
