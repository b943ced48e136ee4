#include "src/workflow/layout.h"
#include "src/workflow/order.h"

enum {
	MAX_VERTICES = 20000,
	GAP_X = 26,   /* between boxes and labels of one layer */
	GAP_MIN = 22, /* between layers */
	GAP_MAX = 64,
	PORT = 18,  /* between lines at one box */
	SCALE = 64, /* positions are kept finer than they are drawn */
	ROUNDS = 60,
	STIFF = 24, /* weight of an edge that is straight already */
};

struct work {
	struct arena *a;
	struct layout *l;
	struct grid g;
	size_t *rank;    /* of the nodes */
	size_t *chain;   /* first vertex of each edge; the others follow */
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

/* Edges by the node that they leave, as index lists. */
struct lists {
	size_t *first, *next; /* index + 1, 0 ends */
};

static struct lists lists_by(struct work *k, size_t (*end)(const struct lay_edge *e))
{
	struct lists s = {arena_alloc(k->a, (k->l->n_nodes + 1) * sizeof(size_t)),
		arena_alloc(k->a, (k->l->n_edges + 1) * sizeof(size_t))};

	for (size_t i = k->l->n_edges; i-- > 0;) {
		size_t at = end(&k->l->edges[i]);

		s.next[i] = s.first[at];
		s.first[at] = i + 1;
	}
	return s;
}

/* An edge that leads to a node on the way that was walked down closes a circle: it is turned. */
static void turn_edges(struct work *k)
{
	struct lists out = lists_by(k, upper);
	size_t *walk = arena_alloc(k->a, (k->l->n_nodes + 1) * sizeof(*walk)), depth;
	char *seen = arena_alloc(k->a, k->l->n_nodes + 1); /* 1: on the way, 2: done */

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

/* Each node stands below all that lead to it. */
static void rank_nodes(struct work *k)
{
	struct lists out = lists_by(k, upper);
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

static size_t add_vertex(struct work *k, size_t layer, int w, int h)
{
	struct vertex *v = &k->g.vertices[k->g.n];

	*v = (struct vertex){.layer = layer, .left = w / 2, .right = w - w / 2, .h = h};
	return k->g.n++;
}

static void add_segment(struct work *k, size_t up, size_t down)
{
	k->g.segments[k->g.n_segments++] = (struct segment){up, down};
}

/* Vertex i is node i; then one vertex for each layer that an edge passes. */
static void add_chain(struct work *k, size_t i)
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

static bool build(struct work *k)
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

/* One value that is pulled to `want` with `weight`, at least `gap` right of the one before it. */
struct pull {
	int64_t want, weight, gap, got;
};

/* The values nearest to what is wanted that keep order and gaps: neighbours that are in each
 * other's way are merged and settle at their common mean. */
static void settle(struct work *k, struct pull *p, size_t n)
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

/* Straight lines matter most where an edge only passes. */
static int64_t pull_of(const struct vertex *a, const struct vertex *b)
{
	return a->passing && b->passing ? 8 : 2;
}

static void want(const struct work *k, size_t v, bool from_above, bool from_below, struct pull *p)
{
	const struct vertex *at = &k->g.vertices[v];
	int64_t sum = 0, weight = 0;

	if (from_above && from_below && at->stiff) { /* straighten() has chosen */
		*p = (struct pull){.want = at->x, .weight = STIFF};
		return;
	}
	for (size_t i = 0; from_above && i < at->n_up; i++) {
		const struct vertex *o = &k->g.vertices[at->up[i]];

		sum += o->x * pull_of(at, o);
		weight += pull_of(at, o);
	}
	for (size_t i = 0; from_below && i < at->n_down; i++) {
		const struct vertex *o = &k->g.vertices[at->down[i]];

		sum += o->x * pull_of(at, o);
		weight += pull_of(at, o);
	}
	*p = (struct pull){.want = weight ? sum / weight : at->x, .weight = weight ? weight : 1};
}

static void place_layer(struct work *k, const struct layer *y, bool above, bool below)
{
	struct pull *p = arena_alloc(k->a, (y->n + 1) * sizeof(*p));

	for (size_t i = 0; i < y->n; i++) {
		want(k, y->v[i], above, below, &p[i]);
		if (i)
			p[i].gap = SCALE * (int64_t)(k->g.vertices[y->v[i - 1]].right + GAP_X +
						     k->g.vertices[y->v[i]].left);
	}
	settle(k, p, y->n);
	for (size_t i = 0; i < y->n; i++)
		k->g.vertices[y->v[i]].x = p[i].got;
}

/* Draws the places that one edge holds into one line, towards the boxes at its ends. */
static void straighten(struct work *k, size_t i)
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

/* Moves a long edge to one line where its neighbours leave room for that. */
static void align(struct work *k, size_t i)
{
	const struct lay_edge *e = &k->l->edges[i];
	size_t n = k->rank[lower(e)] - k->rank[upper(e)];
	int64_t low = INT64_MIN, high = INT64_MAX, sum = 0;

	for (size_t c = 0; n > 2 && c + 1 < n; c++) {
		const struct vertex *v = &k->g.vertices[k->chain[i] + c];
		const struct layer *y = &k->g.layers[v->layer];
		const struct vertex *a = v->at ? &k->g.vertices[y->v[v->at - 1]] : NULL;
		const struct vertex *b = v->at + 1 < y->n ? &k->g.vertices[y->v[v->at + 1]] : NULL;
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

static void place_x(struct work *k)
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

/* To pixels, the leftmost edge at 0. */
static void shift(struct work *k)
{
	int64_t least = 0, most = 0;

	for (size_t i = 0; i < k->g.n; i++) {
		struct vertex *v = &k->g.vertices[i];

		v->x = v->x >= 0 ? v->x / SCALE : -((SCALE - 1 - v->x) / SCALE);
		least = i && least < v->x - v->left ? least : v->x - v->left;
		most = i && most > v->x + v->right ? most : v->x + v->right;
	}
	for (size_t i = 0; i < k->g.n; i++)
		k->g.vertices[i].x -= least;
	k->l->width = (int)(most - least);
}

/* Layers stand further apart where a line has far to go. */
static void place_y(struct work *k)
{
	int *gap = arena_alloc(k->a, (k->g.n_layers + 1) * sizeof(*gap)), y = 0;

	for (size_t i = 0; i < k->g.n_segments; i++) {
		const struct vertex *up = &k->g.vertices[k->g.segments[i].up];
		const struct vertex *down = &k->g.vertices[k->g.segments[i].down];
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

/* Where the lines of one side of a box begin: as near to straight as order and width allow. */
static void place_ports(struct work *k, struct vertex *v, bool below, int w)
{
	size_t n = below ? v->n_down : v->n_up;
	int *ports = arena_alloc(k->a, (n + 1) * sizeof(*ports));
	struct pull *p = arena_alloc(k->a, (n + 1) * sizeof(*p));
	int inset = w > 40 ? 12 : w / 2;
	int64_t low = v->x - w / 2 + inset, high = v->x + w / 2 - inset;
	int64_t gap = n > 1 && (high - low) / (int64_t)(n - 1) < PORT
			      ? (high - low) / (int64_t)(n - 1)
			      : PORT;

	for (size_t i = 0; i < n; i++) {
		int64_t x = k->g.vertices[(below ? v->down : v->up)[i]].x;
		int64_t least = low + gap * (int64_t)i;
		int64_t most = high - gap * (int64_t)(n - 1 - i);

		x = n == 1 && (x < low || x > high) ? v->x : x;
		p[i] = (struct pull){.want = x < least  ? least
					     : x > most ? most
							: x,
			.weight = 1,
			.gap = gap};
	}
	settle(k, p, n);
	for (size_t i = 0; i < n; i++)
		ports[i] = (int)p[i].got;
	if (below)
		v->port_down = ports;
	else
		v->port_up = ports;
}

static int port(const struct work *k, size_t node, size_t other, bool below)
{
	const struct vertex *v = &k->g.vertices[node];
	const size_t *list = below ? v->down : v->up;

	for (size_t i = 0; i < (below ? v->n_down : v->n_up); i++)
		if (list[i] == other)
			return (below ? v->port_down : v->port_up)[i];
	return (int)v->x;
}

static void trace(struct work *k, size_t i)
{
	struct lay_edge *e = &k->l->edges[i];
	size_t from = upper(e), to = lower(e), n = k->rank[to] - k->rank[from] - 1;
	size_t first = k->chain[i], last = first + n - 1;
	struct lay_point *p = e->points = arena_alloc(k->a, (2 * n + 4) * sizeof(*p));
	int x = port(k, from, first, true), y = k->top[k->rank[from]];

	*p++ = (struct lay_point){x, y + k->l->nodes[from].h};
	*p++ = (struct lay_point){x, y + k->tall[k->rank[from]]};
	for (size_t v = first; v <= last; v++) {
		const struct vertex *at = &k->g.vertices[v];

		y = k->top[at->layer];
		*p++ = (struct lay_point){(int)at->x, y};
		*p++ = (struct lay_point){(int)at->x, y + k->tall[at->layer]};
		if (v == (e->back ? last : first))
			e->label = (struct lay_point){(int)at->x, y + k->tall[at->layer] / 2};
	}
	p[0] = p[1] = (struct lay_point){port(k, to, last, false), k->top[k->rank[to]]};
	p += 2;
	e->n = (size_t)(p - e->points);
	for (size_t a = 0, b = e->n - 1; e->back && a < b; a++, b--) {
		struct lay_point swap = e->points[a];

		e->points[a] = e->points[b];
		e->points[b] = swap;
	}
}

static void hand_back(struct work *k)
{
	for (size_t i = 0; i < k->l->n_nodes; i++) {
		struct lay_node *node = &k->l->nodes[i];
		struct vertex *v = &k->g.vertices[i];

		node->x = (int)v->x;
		node->y = k->top[v->layer];
		place_ports(k, v, true, node->w);
		place_ports(k, v, false, node->w);
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
	struct work k = {.a = a, .l = l};

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
	hand_back(&k);
	return true;
}
