#include "src/base/vec.h"
#include "src/workflow/layout.h"

enum { UP, DOWN };

/* The neighbours of a vertex in the layer above or below. */
struct layout_side {
	size_t *items, n, cap; /* from left to right */
	int *ports;            /* where their lines begin */
};

struct layout_vertex {
	size_t layer;
	int left, right, h; /* from x to both sides; height */
	bool passing;       /* a point of an edge, not a node */
	bool stiff;         /* of an edge that passes several layers */
	int64_t x;
	size_t at; /* position in its layer */
	struct layout_side side[2];
};

struct layout_segment {
	size_t end[2]; /* the vertices: UP in one layer, DOWN in the next */
};

struct layout_layer {
	size_t *items, n, cap;
};

struct layout_grid {
	struct layout_vertex *vertices;
	size_t n;
	struct layout_segment *segments; /* each spans one layer */
	size_t n_segments;
	struct layout_layer *layers;
	size_t n_layers;
};

/* The order within the layers */

enum {
	SWEEPS = 10,    /* per try */
	TRIES = 300,    /* with different initial orders; the first is that of the file */
	WORK = 4000000, /* limit on the vertices and segments visited in all tries */
};

static void find_neighbours(struct arena *a, struct layout_grid *g)
{
	for (size_t i = 0; i < g->n_segments; i++) {
		const size_t *end = g->segments[i].end;

		vec_push_in(a, &g->vertices[end[UP]].side[DOWN], end[DOWN]);
		vec_push_in(a, &g->vertices[end[DOWN]].side[UP], end[UP]);
	}
}

static void make_layers(struct arena *a, struct layout_grid *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->n_layers <= g->vertices[i].layer)
			g->n_layers = g->vertices[i].layer + 1;
	g->layers = arena_alloc(a, (g->n_layers + 1) * sizeof(*g->layers));
	for (size_t i = 0; i < g->n; i++)
		vec_push_in(a, &g->layers[g->vertices[i].layer], i);
}

/* With its own generator, so that the same graph always gives the same drawing. */
static void shuffle(size_t *list, size_t n, uint32_t *seed)
{
	for (size_t i = n; i > 1; i--) {
		size_t k, swap = list[i - 1];

		*seed = *seed * 1664525u + 1013904223u;
		k = (*seed >> 8) % i;
		list[i - 1] = list[k];
		list[k] = swap;
	}
}

/* Depth first from the top, so that connected vertices start next to each other. Seed 0 keeps the
 * order of the file. */
static void first_order(struct layout_grid *g, size_t *stack, bool *seen, uint32_t seed)
{
	size_t depth = 0;

	memset(seen, 0, g->n);
	for (size_t i = 0; i < g->n_layers; i++)
		g->layers[i].n = 0;
	for (size_t root = 0; root < g->n; root++) {
		if (!seen[root] && !g->vertices[root].side[UP].n)
			stack[depth++] = root;
		while (depth) {
			size_t i = stack[--depth];
			struct layout_vertex *v = &g->vertices[i];
			const struct layout_side *below = &v->side[DOWN];
			struct layout_layer *y = &g->layers[v->layer];

			if (seen[i])
				continue;
			seen[i] = true;
			v->at = y->n;
			y->items[y->n++] = i;
			if (seed)
				shuffle(below->items, below->n, &seed);
			for (size_t d = below->n; d-- > 0;)
				if (!seen[below->items[d]])
					stack[depth++] = below->items[d];
		}
	}
}

struct layout_key {
	size_t v, mean, at;
};

static int compare_keys(const void *pa, const void *pb)
{
	const struct layout_key *a = pa, *b = pb;

	if (a->mean != b->mean)
		return a->mean < b->mean ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Sorts a layer by the mean position of the neighbours on one side. */
static void sort_layer(
	struct layout_grid *g, struct layout_layer *y, int side, struct layout_key *keys)
{
	for (size_t i = 0; i < y->n; i++) {
		const struct layout_vertex *v = &g->vertices[y->items[i]];
		const struct layout_side *near = &v->side[side];
		size_t n = near->n, sum = 0;

		for (size_t k = 0; k < n; k++)
			sum += g->vertices[near->items[k]].at * 2 + 1;
		keys[i] = (struct layout_key){
			y->items[i], n ? sum * 512 / n : (v->at * 2 + 1) * 512, v->at};
	}
	qsort(keys, y->n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < y->n; i++) {
		y->items[i] = keys[i].v;
		g->vertices[keys[i].v].at = i;
	}
}

static void sort_neighbours(
	struct layout_grid *g, struct layout_side *side, struct layout_key *keys)
{
	for (size_t i = 0; i < side->n; i++)
		keys[i] = (struct layout_key){side->items[i], g->vertices[side->items[i]].at, i};
	qsort(keys, side->n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < side->n; i++)
		side->items[i] = keys[i].v;
}

/* Counts the pairs of crossing segments below `y`. A Fenwick tree holds the lower ends added so
 * far; each one to the right of a new end is a crossing. */
static size_t crossings(
	struct layout_grid *g, const struct layout_layer *y, size_t below, size_t *tree)
{
	size_t total = 0, added = 0;

	memset(tree, 0, (below + 2) * sizeof(*tree));
	for (size_t i = 0; i < y->n; i++) {
		const struct layout_side *down = &g->vertices[y->items[i]].side[DOWN];

		for (size_t k = 0; k < down->n; k++) {
			size_t left = 0;

			for (size_t t = g->vertices[down->items[k]].at + 1; t; t &= t - 1)
				left += tree[t];
			total += added - left;
		}
		for (size_t k = 0; k < down->n; k++, added++)
			for (size_t t = g->vertices[down->items[k]].at + 1; t <= below; t += t & -t)
				tree[t]++;
	}
	return total;
}

static size_t all_crossings(struct layout_grid *g, size_t *tree)
{
	size_t total = 0;

	for (size_t i = 0; i + 1 < g->n_layers; i++)
		total += crossings(g, &g->layers[i], g->layers[i + 1].n, tree);
	return total;
}

static void sweep(struct layout_grid *g, bool down, struct layout_key *keys)
{
	for (size_t i = 1; down && i < g->n_layers; i++)
		sort_layer(g, &g->layers[i], UP, keys);
	for (size_t i = g->n_layers - 1; !down && i-- > 0;)
		sort_layer(g, &g->layers[i], DOWN, keys);
}

static void restore(struct layout_grid *g, const size_t *best)
{
	for (size_t i = 0; i < g->n; i++) {
		g->vertices[i].at = best[i];
		g->layers[g->vertices[i].layer].items[best[i]] = i;
	}
}

/* Sweeps from the present order; `best` gets the positions with the fewest crossings so far. */
static size_t try_order(
	struct layout_grid *g, struct layout_key *keys, size_t *tree, size_t *best, size_t least)
{
	for (size_t round = 0; round < SWEEPS && least; round++) {
		size_t now = all_crossings(g, tree);

		for (size_t i = 0; now < least && i < g->n; i++)
			best[i] = g->vertices[i].at;
		least = now < least ? now : least;
		sweep(g, round % 2 == 0, keys);
	}
	return least;
}

/* Fills layers and neighbours, and orders each layer for few crossings. */
static void grid_order(struct arena *a, struct layout_grid *g)
{
	size_t *best = arena_alloc(a, (g->n + 1) * sizeof(*best)), least = SIZE_MAX;
	struct layout_key *keys = arena_alloc(a, (g->n + 1) * sizeof(*keys));
	size_t *tree = arena_alloc(a, (g->n + 2) * sizeof(*tree));
	size_t *stack = arena_alloc(a, (g->n + g->n_segments + 1) * sizeof(*stack));
	bool *seen = arena_alloc(a, g->n + 1);

	make_layers(a, g);
	find_neighbours(a, g);
	for (uint32_t try = 0; try < TRIES && least && (g->n + g->n_segments) * SWEEPS * try < WORK;
		try++) {
		first_order(g, stack, seen, try * 2654435761u);
		least = try_order(g, keys, tree, best, least);
	}
	restore(g, best);
	for (size_t i = 0; i < g->n; i++)
		for (int e = UP; e <= DOWN; e++)
			sort_neighbours(g, &g->vertices[i].side[e], keys);
}

/* Positions */

enum {
	MAX_VERTICES = 20000,
	GAP_X = 26,   /* between boxes and labels of one layer */
	GAP_MIN = 22, /* between layers */
	GAP_MAX = 64,
	PORT = 18,  /* between lines at one box */
	SCALE = 64, /* of positions in a pixel */
	ROUNDS = 60,
	STIFF = 24, /* weight of an edge that straighten() has placed */
};

struct layout_work {
	struct arena *a;
	struct layout *l;
	struct layout_grid g;
	size_t *rank;    /* of the nodes */
	size_t *chain;   /* first passing vertex of each edge; the others follow */
	int *top, *tall; /* of each layer */
};

static size_t upper(const struct lay_edge *e)
{
	return e->back ? e->to : e->from;
}

static size_t lower(const struct lay_edge *e)
{
	return e->back ? e->from : e->to;
}

/* The edges out of each node, as linked lists of indices + 1; 0 ends a list. */
struct layout_lists {
	size_t *first, *next;
};

static struct layout_lists edges_out(struct layout_work *k)
{
	struct layout_lists s = {arena_alloc(k->a, (k->l->n_nodes + 1) * sizeof(size_t)),
		arena_alloc(k->a, (k->l->n_edges + 1) * sizeof(size_t))};

	for (size_t i = k->l->n_edges; i-- > 0;) {
		size_t at = upper(&k->l->edges[i]);

		s.next[i] = s.first[at];
		s.first[at] = i + 1;
	}
	return s;
}

/* Depth-first search. An edge to a node on the current path closes a cycle and is reversed. */
static void turn_edges(struct layout_work *k)
{
	struct layout_lists out = edges_out(k);
	size_t *walk = arena_alloc(k->a, (k->l->n_nodes + 1) * sizeof(*walk)), depth;
	char *seen = arena_alloc(k->a, k->l->n_nodes + 1); /* 1: on the path, 2: done */

	for (size_t root = 0; root < k->l->n_nodes; root++) {
		depth = 0;
		if (!seen[root]) {
			walk[depth++] = root;
			seen[root] = 1;
		}
		while (depth) {
			size_t at = walk[depth - 1], e = out.first[at];

			if (!e) {
				seen[at] = 2;
				depth--;
				continue;
			}
			out.first[at] = out.next[e - 1];
			k->l->edges[e - 1].back = seen[k->l->edges[e - 1].to] == 1;
			if (!seen[k->l->edges[e - 1].to]) {
				walk[depth++] = k->l->edges[e - 1].to;
				seen[walk[depth - 1]] = 1;
			}
		}
	}
}

/* Each node is at least two layers below its predecessors; the layer between has the labels. */
static void rank_nodes(struct layout_work *k)
{
	struct layout_lists out = edges_out(k);
	size_t *open = arena_alloc(k->a, (k->l->n_nodes + 1) * sizeof(*open));
	size_t *queue = arena_alloc(k->a, (k->l->n_nodes + 1) * sizeof(*queue)), n = 0;

	for (size_t i = 0; i < k->l->n_edges; i++)
		if (k->l->edges[i].from != k->l->edges[i].to)
			open[lower(&k->l->edges[i])]++;
	for (size_t i = 0; i < k->l->n_nodes; i++)
		if (!open[i])
			queue[n++] = i;
	for (size_t done = 0; done < n; done++) {
		for (size_t e = out.first[queue[done]]; e; e = out.next[e - 1]) {
			size_t to = lower(&k->l->edges[e - 1]);

			if (to == queue[done])
				continue;
			if (k->rank[to] < k->rank[queue[done]] + 2)
				k->rank[to] = k->rank[queue[done]] + 2;
			if (!--open[to])
				queue[n++] = to;
		}
	}
}

static size_t add_vertex(struct layout_work *k, size_t layer, int w, int h)
{
	struct layout_vertex *v = &k->g.vertices[k->g.n];

	*v = (struct layout_vertex){.layer = layer, .left = w / 2, .right = w - w / 2, .h = h};
	return k->g.n++;
}

static void add_segment(struct layout_work *k, size_t up, size_t down)
{
	k->g.segments[k->g.n_segments++] = (struct layout_segment){{up, down}};
}

/* Adds one vertex for each layer that edge i passes. (Vertex n is node n for every node.) */
static void add_chain(struct layout_work *k, size_t i)
{
	struct lay_edge *e = &k->l->edges[i];
	size_t from = upper(e), to = lower(e), last = from;
	size_t labelled = e->back ? k->rank[to] - 1 : k->rank[from] + 1;

	k->chain[i] = k->g.n;
	if (from == to) {
		k->g.vertices[from].right += LAYOUT_LOOP + e->w;
		return;
	}
	for (size_t r = k->rank[from] + 1; r < k->rank[to]; r++) {
		size_t v = r == labelled ? add_vertex(k, r, e->w, e->h) : add_vertex(k, r, 0, 0);

		k->g.vertices[v].passing = true;
		k->g.vertices[v].stiff = k->rank[to] > k->rank[from] + 2;
		add_segment(k, last, v);
		last = v;
	}
	add_segment(k, last, to);
}

static bool build(struct layout_work *k)
{
	size_t vertices = k->l->n_nodes;

	for (size_t i = 0; i < k->l->n_edges; i++) {
		const struct lay_edge *e = &k->l->edges[i];

		vertices += k->rank[lower(e)] - k->rank[upper(e)];
		if (vertices > MAX_VERTICES)
			return false;
	}
	k->g.vertices = arena_alloc(k->a, (vertices + 1) * sizeof(*k->g.vertices));
	k->g.segments = arena_alloc(k->a, (vertices + k->l->n_edges + 1) * sizeof(*k->g.segments));
	for (size_t i = 0; i < k->l->n_nodes; i++)
		add_vertex(k, k->rank[i], k->l->nodes[i].w, k->l->nodes[i].h);
	for (size_t i = 0; i < k->l->n_edges; i++)
		add_chain(k, i);
	return true;
}

/* A position that should be `want`, and must be at least `gap` right of the one before it. */
struct layout_pull {
	int64_t want, weight, gap, got;
};

/* Finds the nearest positions that keep the order and the gaps (isotonic regression): neighbours
 * that collide are merged into a block, which takes the weighted mean. */
static void settle(struct layout_work *k, struct layout_pull *p, size_t n)
{
	struct block {
		int64_t sum, weight, end;
	} *b = arena_alloc(k->a, (n + 1) * sizeof(*b));
	int64_t offset = 0;
	size_t blocks = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		offset += i ? p[i].gap : 0;
		b[blocks++] = (struct block){
			(p[i].want - offset) * p[i].weight, p[i].weight, (int64_t)i + 1};
		while (blocks > 1 && b[blocks - 2].sum / b[blocks - 2].weight >=
					     b[blocks - 1].sum / b[blocks - 1].weight) {
			b[blocks - 2].sum += b[blocks - 1].sum;
			b[blocks - 2].weight += b[blocks - 1].weight;
			b[blocks - 2].end = b[blocks - 1].end;
			blocks--;
		}
	}
	offset = 0;
	for (size_t i = 0; i < n; i++) {
		offset += i ? p[i].gap : 0;
		at += (int64_t)i >= b[at].end;
		p[i].got = b[at].sum / b[at].weight + offset;
	}
}

/* Keeping the inner part of a long edge straight matters most. */
static int64_t pull_of(const struct layout_vertex *a, const struct layout_vertex *b)
{
	return a->passing && b->passing ? 8 : 2;
}

static void want(const struct layout_work *k, size_t v, const bool from[2], struct layout_pull *p)
{
	const struct layout_vertex *at = &k->g.vertices[v];
	int64_t sum = 0, weight = 0;

	if (from[UP] && from[DOWN] && at->stiff) { /* straighten() has chosen */
		*p = (struct layout_pull){.want = at->x, .weight = STIFF};
		return;
	}
	for (int e = UP; e <= DOWN; e++) {
		for (size_t i = 0; from[e] && i < at->side[e].n; i++) {
			const struct layout_vertex *o = &k->g.vertices[at->side[e].items[i]];

			sum += o->x * pull_of(at, o);
			weight += pull_of(at, o);
		}
	}
	*p = (struct layout_pull){
		.want = weight ? sum / weight : at->x, .weight = weight ? weight : 1};
}

static void place_layer(struct layout_work *k, const struct layout_layer *y, bool above, bool below)
{
	struct layout_pull *p = arena_alloc(k->a, (y->n + 1) * sizeof(*p));
	const bool from[2] = {above, below};

	for (size_t i = 0; i < y->n; i++) {
		want(k, y->items[i], from, &p[i]);
		if (i)
			p[i].gap = SCALE * (int64_t)(k->g.vertices[y->items[i - 1]].right + GAP_X +
						     k->g.vertices[y->items[i]].left);
	}
	settle(k, p, y->n);
	for (size_t i = 0; i < y->n; i++)
		k->g.vertices[y->items[i]].x = p[i].got;
}

/* Moves the vertices of a long edge to one x, near the boxes at its ends. */
static void straighten(struct layout_work *k, size_t i)
{
	const struct lay_edge *e = &k->l->edges[i];
	size_t n = k->rank[lower(e)] - k->rank[upper(e)];
	int64_t sum = k->g.vertices[e->from].x + k->g.vertices[e->to].x;

	if (n < 3)
		return;
	for (size_t v = 0; v + 1 < n; v++)
		sum += 4 * k->g.vertices[k->chain[i] + v].x;
	for (size_t v = 0; v + 1 < n; v++)
		k->g.vertices[k->chain[i] + v].x = sum / (int64_t)(4 * n - 2);
}

/* Moves the vertices of a long edge to one x if their neighbours leave room for it. */
static void align(struct layout_work *k, size_t i)
{
	const struct lay_edge *e = &k->l->edges[i];
	size_t n = k->rank[lower(e)] - k->rank[upper(e)];
	int64_t low = INT64_MIN, high = INT64_MAX, sum = 0;

	for (size_t c = 0; n > 2 && c + 1 < n; c++) {
		const struct layout_vertex *v = &k->g.vertices[k->chain[i] + c];
		const struct layout_layer *y = &k->g.layers[v->layer];
		const struct layout_vertex *a = v->at ? &k->g.vertices[y->items[v->at - 1]] : NULL;
		const struct layout_vertex *b =
			v->at + 1 < y->n ? &k->g.vertices[y->items[v->at + 1]] : NULL;
		int64_t least = a ? a->x + SCALE * (int64_t)(a->right + GAP_X + v->left) : low;
		int64_t most = b ? b->x - SCALE * (int64_t)(b->left + GAP_X + v->right) : high;

		low = least > low ? least : low;
		high = most < high ? most : high;
		sum += v->x;
	}
	if (n < 3 || low > high)
		return;
	sum /= (int64_t)n - 1;
	sum = sum < low ? low : sum > high ? high : sum;
	for (size_t c = 0; c + 1 < n; c++)
		k->g.vertices[k->chain[i] + c].x = sum;
}

static void place_x(struct layout_work *k)
{
	size_t n = k->g.n_layers;

	for (size_t i = 0; i < n; i++)
		place_layer(k, &k->g.layers[i], false, false);
	for (unsigned round = 0; round < ROUNDS && k->g.n * round < 600000; round++) {
		bool both = round > ROUNDS / 3;

		for (size_t i = 0; both && i < k->l->n_edges; i++)
			straighten(k, i);
		for (size_t i = 1; i < n; i++)
			place_layer(k, &k->g.layers[i], true, both);
		for (size_t i = n - 1; i-- > 0;)
			place_layer(k, &k->g.layers[i], both && i, true);
	}
	for (unsigned round = 0; round < 3; round++)
		for (size_t i = 0; i < k->l->n_edges; i++)
			align(k, i);
}

/* Converts to pixels, with the leftmost point at 0. */
static void shift(struct layout_work *k)
{
	int64_t least = 0, most = 0;

	for (size_t i = 0; i < k->g.n; i++) {
		struct layout_vertex *v = &k->g.vertices[i];

		v->x = v->x >= 0 ? v->x / SCALE : -((SCALE - 1 - v->x) / SCALE);
		least = i && least < v->x - v->left ? least : v->x - v->left;
		most = i && most > v->x + v->right ? most : v->x + v->right;
	}
	for (size_t i = 0; i < k->g.n; i++)
		k->g.vertices[i].x -= least;
	k->l->width = (int)(most - least);
}

/* The further a segment leads sideways, the larger the gap between its layers. */
static void place_y(struct layout_work *k)
{
	int *gap = arena_alloc(k->a, (k->g.n_layers + 1) * sizeof(*gap)), y = 0;

	for (size_t i = 0; i < k->g.n_segments; i++) {
		const struct layout_vertex *up = &k->g.vertices[k->g.segments[i].end[UP]];
		const struct layout_vertex *down = &k->g.vertices[k->g.segments[i].end[DOWN]];
		int64_t far = GAP_MIN + (up->x > down->x ? up->x - down->x : down->x - up->x) / 8;

		if (gap[up->layer] < far)
			gap[up->layer] = (int)(far < GAP_MAX ? far : GAP_MAX);
	}
	for (size_t i = 0; i < k->g.n; i++)
		if (k->tall[k->g.vertices[i].layer] < k->g.vertices[i].h)
			k->tall[k->g.vertices[i].layer] = k->g.vertices[i].h;
	for (size_t i = 0; i < k->g.n_layers; i++) {
		k->top[i] = y;
		y += k->tall[i] + (i + 1 < k->g.n_layers ? gap[i] : 0);
	}
	k->l->height = y;
}

/* Places the ends of the lines at one side of a box, as straight as order and width allow. */
static void place_ports(
	struct layout_work *k, struct layout_vertex *v, struct layout_side *side, int w)
{
	size_t n = side->n;
	struct layout_pull *p = arena_alloc(k->a, (n + 1) * sizeof(*p));
	int inset = w > 40 ? 12 : w / 2;
	int64_t low = v->x - w / 2 + inset, high = v->x + w / 2 - inset;
	int64_t gap = n > 1 && (high - low) / (int64_t)(n - 1) < PORT
			      ? (high - low) / (int64_t)(n - 1)
			      : PORT;

	for (size_t i = 0; i < n; i++) {
		int64_t x = k->g.vertices[side->items[i]].x;
		int64_t least = low + gap * (int64_t)i;
		int64_t most = high - gap * (int64_t)(n - 1 - i);

		x = n == 1 && (x < low || x > high) ? v->x : x;
		p[i] = (struct layout_pull){.want = x < least  ? least
						    : x > most ? most
							       : x,
			.weight = 1,
			.gap = gap};
	}
	settle(k, p, n);
	side->ports = arena_alloc(k->a, (n + 1) * sizeof(*side->ports));
	for (size_t i = 0; i < n; i++)
		side->ports[i] = (int)p[i].got;
}

static int port(const struct layout_work *k, size_t node, size_t other, int e)
{
	const struct layout_side *side = &k->g.vertices[node].side[e];

	for (size_t i = 0; i < side->n; i++)
		if (side->items[i] == other)
			return side->ports[i];
	return (int)k->g.vertices[node].x;
}

/* The points of an edge, from its tail to its head. */
static void trace(struct layout_work *k, size_t i)
{
	struct lay_edge *e = &k->l->edges[i];
	size_t from = upper(e), to = lower(e), n = k->rank[to] - k->rank[from] - 1;
	size_t first = k->chain[i], last = first + n - 1;
	struct lay_point *p = e->points = arena_alloc(k->a, (2 * n + 4) * sizeof(*p));
	int x = port(k, from, first, DOWN), y = k->top[k->rank[from]];

	*p++ = (struct lay_point){x, y + k->l->nodes[from].h};
	*p++ = (struct lay_point){x, y + k->tall[k->rank[from]]};
	for (size_t v = first; v <= last; v++) {
		const struct layout_vertex *at = &k->g.vertices[v];

		y = k->top[at->layer];
		*p++ = (struct lay_point){(int)at->x, y};
		*p++ = (struct lay_point){(int)at->x, y + k->tall[at->layer]};
		if (v == (e->back ? last : first))
			e->label = (struct lay_point){(int)at->x, y + k->tall[at->layer] / 2};
	}
	p[0] = p[1] = (struct lay_point){port(k, to, last, UP), k->top[k->rank[to]]};
	p += 2;
	e->n = (size_t)(p - e->points);
	for (size_t a = 0, b = e->n - 1; e->back && a < b; a++, b--) {
		struct lay_point swap = e->points[a];

		e->points[a] = e->points[b];
		e->points[b] = swap;
	}
}

static void fill_layout(struct layout_work *k)
{
	for (size_t i = 0; i < k->l->n_nodes; i++) {
		struct lay_node *node = &k->l->nodes[i];
		struct layout_vertex *v = &k->g.vertices[i];

		node->x = (int)v->x;
		node->y = k->top[v->layer];
		for (int e = UP; e <= DOWN; e++)
			place_ports(k, v, &v->side[e], node->w);
	}
	for (size_t i = 0; i < k->l->n_edges; i++) {
		struct lay_edge *e = &k->l->edges[i];
		const struct lay_node *node = &k->l->nodes[e->from];

		if (e->from != e->to)
			trace(k, i);
		else
			e->label =
				(struct lay_point){node->x + node->w / 2 + LAYOUT_LOOP + e->w / 2,
					node->y + node->h / 2};
	}
}

bool layout_run(struct arena *a, struct layout *l)
{
	struct layout_work k = {.a = a, .l = l};

	k.rank = arena_alloc(a, (l->n_nodes + 1) * sizeof(*k.rank));
	k.chain = arena_alloc(a, (l->n_edges + 1) * sizeof(*k.chain));
	for (size_t i = 0; i < l->n_edges; i++)
		l->edges[i].back = false;
	turn_edges(&k);
	rank_nodes(&k);
	if (!build(&k))
		return false;
	grid_order(a, &k.g);
	k.top = arena_alloc(a, (k.g.n_layers + 1) * sizeof(*k.top));
	k.tall = arena_alloc(a, (k.g.n_layers + 1) * sizeof(*k.tall));
	place_x(&k);
	shift(&k);
	place_y(&k);
	fill_layout(&k);
	return true;
}
