#include "src/base/graph.h"
#include "src/verify/explore.h"

/* ---- values that spread from the ends ---- */

/* Lowers the value of each node to the best that an edge from it and the node behind it allow. */
static void explore_analysis_spread(const struct explore_graph *g, int64_t *values,
	int64_t (*through)(const struct explore_edge *e, int64_t behind))
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = g->edges.n; i--;) {
			const struct explore_edge *e = &g->edges.items[i];
			int64_t value = through(e, values[e->to]);

			if (value >= values[e->from])
				continue;
			values[e->from] = value;
			changed = true;
		}
	}
}

static int64_t exit_through(const struct explore_edge *e, int64_t behind)
{
	int64_t exit = (e->flags & (EDGE_TERMINATE | EDGE_CHANGE | EDGE_BUDGET | EDGE_PART))
			       ? EXIT_BY_TROUBLESHOOTER
		       : (e->flags & EDGE_LIMIT) ? EXIT_BY_LIMIT
						 : EXIT_BY_ANSWERS;

	return behind > exit ? behind : exit;
}

int64_t *explore_exits(const struct explore_graph *g, struct arena *a)
{
	int64_t *exits = arena_alloc(a, g->nodes.n * sizeof(*exits));

	for (size_t i = 0; i < g->nodes.n; i++)
		exits[i] = g->nodes.items[i].kind == NODE_END ? EXIT_BY_ANSWERS : EXIT_NONE;
	explore_analysis_spread(g, exits, exit_through);
	return exits;
}

enum { UNREACHED = INT32_MAX };

static int64_t actions_through(const struct explore_edge *e, int64_t behind)
{
	return (e->flags & (EDGE_BUDGET | EDGE_PART | EDGE_CHANGE)) ? UNREACHED : behind + e->cost;
}

int64_t explore_least_actions(const struct explore_graph *g)
{
	CLEANUP(arena_release) struct arena a = {0};
	int64_t *least = arena_alloc(&a, g->nodes.n * sizeof(*least));

	for (size_t i = 0; i < g->nodes.n; i++)
		least[i] = g->nodes.items[i].success ? 0 : UNREACHED;
	explore_analysis_spread(g, least, actions_through);
	return least[0] < UNREACHED ? least[0] : -1;
}

/* ---- cycles ---- */

enum {
	ENDS_CYCLE = EDGE_USER | EDGE_CHANGE | EDGE_TERMINATE | EDGE_BUDGET | EDGE_PART |
		     EDGE_EXTENDED | EDGE_NOT_EXTENDED
};

static bool may_repeat(const struct explore_graph *g, const struct explore_edge *e)
{
	return !(e->flags & ENDS_CYCLE) && (e->from != e->to || e->cost) &&
	       g->nodes.items[e->from].changes == g->nodes.items[0].changes;
}

/* By node: its strongly connected component. */
static size_t *components(const struct explore_graph *g, struct arena *a)
{
	VEC(size_t) first = {0}, to = {0};
	struct graph_order order;

	for (size_t i = 0; i < g->nodes.n; i++) {
		const struct explore_node *n = &g->nodes.items[i];

		vec_push_in(a, &first, to.n);
		for (uint32_t k = n->edge; k < n->edge + n->n_edges; k++)
			if (may_repeat(g, &g->edges.items[k]))
				vec_push_in(a, &to, g->edges.items[k].to);
	}
	vec_push_in(a, &first, to.n);
	graph_walk(a, &(struct graph){g->nodes.n, first.items, to.items}, NULL, NULL, &order);
	return order.component;
}

/* The last edge (+ 1) of the shortest path from `node` to each node of its component. */
static void find_paths(const struct explore_graph *g, const size_t *component, uint32_t node,
	uint32_t *edge_to, uint32_t *queue)
{
	uint32_t n = 0;

	queue[n++] = node;
	for (uint32_t done = 0; done < n; done++) {
		const struct explore_node *from = &g->nodes.items[queue[done]];

		for (uint32_t i = from->edge; i < from->edge + from->n_edges; i++) {
			const struct explore_edge *e = &g->edges.items[i];

			if (edge_to[e->to] || component[e->to] != component[node] ||
				!may_repeat(g, e))
				continue;
			edge_to[e->to] = i + 1;
			queue[n++] = e->to;
		}
	}
}

static struct explore_cycle cycle_of(
	const struct explore_graph *g, struct arena *a, uint32_t node, const uint32_t *edge_to)
{
	struct explore_cycle c = {0};
	uint32_t at = node;

	do {
		c.n++;
		at = g->edges.items[edge_to[at] - 1].from;
	} while (at != node);
	c.edges = arena_alloc(a, c.n * sizeof(*c.edges));
	for (size_t i = c.n; i--; at = g->edges.items[c.edges[i]].from) {
		c.edges[i] = edge_to[at] - 1;
		c.cost += g->edges.items[c.edges[i]].cost;
	}
	return c;
}

struct explore_cycle *explore_cycles(const struct explore_graph *g, struct arena *a, size_t *n)
{
	CLEANUP(arena_release) struct arena scratch = {0};
	uint32_t *edge_to = arena_alloc(&scratch, g->nodes.n * sizeof(*edge_to)),
		 *queue = arena_alloc(&scratch, (g->nodes.n + 1) * sizeof(*queue));
	const size_t *component = components(g, &scratch);
	bool *done = arena_alloc(&scratch, g->nodes.n); /* by component */
	VEC(struct explore_cycle) list = {0};

	for (uint32_t i = 0; i < g->nodes.n; i++) {
		if (done[component[i]])
			continue;
		done[component[i]] = true;
		find_paths(g, component, i, edge_to, queue);
		if (edge_to[i])
			vec_push_in(a, &list, cycle_of(g, a, i, edge_to));
	}
	*n = list.n;
	return list.items;
}

/* ---- the budget ---- */

/*
 * The nodes of the graph times what is spent of the budget (0 to max_actions) times how often it
 * was extended (0 to 2). The engine only asks "is it spent" and "was it extended twice", and the
 * graph has an edge for both answers.
 */
enum { EXTENSIONS = 3, MAX_POSITIONS = 40000000, MAX_DEPTH = 3000 };

struct position {
	uint32_t node, spent, extended;
};

/* 0: there are too many positions to count what is spent; the budget is never spent then. */
static uint32_t budget_of(const struct explore_graph *g)
{
	unsigned long budget = g->workflow->limits.max_actions;

	if (budget > MAX_DEPTH || g->nodes.n * (budget + 1) * EXTENSIONS >= MAX_POSITIONS)
		return 0;
	return (uint32_t)budget;
}

static size_t explore_analysis_index_of(const struct explore_graph *g, struct position p)
{
	return ((size_t)p.node * (budget_of(g) + 1) + p.spent) * EXTENSIONS + p.extended;
}

static size_t n_positions(const struct explore_graph *g)
{
	return explore_analysis_index_of(g, (struct position){.node = (uint32_t)g->nodes.n});
}

/* Whether the edge can be taken at `p`, and where it leads. */
static bool explore_analysis_follow(const struct explore_graph *g, const struct explore_edge *e,
	struct position p, struct position *to)
{
	uint32_t budget = budget_of(g), left = budget ? budget - p.spent : UINT32_MAX;

	*to = (struct position){e->to, p.spent + e->cost, p.extended};
	if (e->flags & EDGE_EXTENDED) {
		*to = (struct position){e->to, e->cost, p.extended + 1};
		if (p.extended + 1 == EXTENSIONS)
			return false;
	} else if (e->flags & EDGE_NOT_EXTENDED) {
		if (p.extended + 1 != EXTENSIONS)
			return false;
	} else if ((e->flags & EDGE_BUDGET) ? left : left < e->cost) {
		return false;
	} else if ((e->flags & EDGE_PART) && left != e->cost) {
		return false;
	}
	if (to->spent > budget)
		to->spent = budget;
	return true;
}

struct most_search {
	const struct explore_graph *graph;
	int32_t *most; /* by position: 0: not known; ON_PATH; else the number + 1 */
	bool unbounded;
};

enum { ON_PATH = -1 };

static int32_t most_from(struct most_search *s, struct position p)
{
	const struct explore_node *n = &s->graph->nodes.items[p.node];
	int32_t *known = &s->most[explore_analysis_index_of(s->graph, p)], best = 0;

	if (*known > 0)
		return *known - 1;
	if (*known == ON_PATH) {
		s->unbounded = true;
		return 0;
	}
	*known = ON_PATH;
	for (uint32_t i = n->edge; i < n->edge + n->n_edges; i++) {
		const struct explore_edge *e = &s->graph->edges.items[i];
		struct position to;
		int32_t more;

		if ((e->flags & EDGE_USER) || (e->to == e->from && !e->cost) ||
			!explore_analysis_follow(s->graph, e, p, &to))
			continue;
		more = (int32_t)e->cost + most_from(s, to);
		best = more > best ? more : best;
	}
	*known = best + 1;
	return best;
}

int64_t explore_most_actions(const struct explore_graph *g)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct most_search s = {.graph = g};
	int64_t most;

	if (!budget_of(g))
		return -1;
	s.most = arena_alloc(&a, n_positions(g) * sizeof(*s.most));
	most = most_from(&s, (struct position){0});
	return s.unbounded ? -1 : most;
}

/* ---- paths ---- */

/* A position that a run can reach: by which edge, and from which earlier entry. */
struct path_entry {
	struct position position;
	uint32_t edge;
	size_t from;
};

struct path_queue {
	struct path_entry *items;
	size_t n, cap;
};

/* Follows runs, the shortest first, until one reaches `node`: that entry, or the number of entries
 * when none does. */
static size_t explore_analysis_search(
	const struct explore_graph *g, struct arena *a, uint32_t node, struct path_queue *q)
{
	bool *seen = arena_alloc(a, n_positions(g));
	size_t at = 0;

	vec_push_in(a, q, (struct path_entry){0});
	for (; at < q->n && q->items[at].position.node != node; at++) {
		struct position p = q->items[at].position, to;
		const struct explore_node *n = &g->nodes.items[p.node];

		for (uint32_t i = n->edge; i < n->edge + n->n_edges; i++) {
			if (!explore_analysis_follow(g, &g->edges.items[i], p, &to) ||
				seen[explore_analysis_index_of(g, to)])
				continue;
			seen[explore_analysis_index_of(g, to)] = true;
			vec_push_in(a, q, (struct path_entry){to, i, at});
		}
	}
	return at;
}

bool explore_path(
	const struct explore_graph *g, struct arena *a, uint32_t node, uint32_t **edges, size_t *n)
{
	CLEANUP(arena_release) struct arena scratch = {0};
	struct path_queue q = {0};
	size_t end = explore_analysis_search(g, &scratch, node, &q), at = end;

	if (end == q.n)
		return false;
	for (*n = 0; at; at = q.items[at].from)
		++*n;
	*edges = arena_alloc(a, (*n + 1) * sizeof(**edges));
	for (size_t i = *n; i--; end = q.items[end].from)
		(*edges)[i] = q.items[end].edge;
	return true;
}

bool *explore_reached(const struct explore_graph *g, struct arena *a)
{
	CLEANUP(arena_release) struct arena scratch = {0};
	bool *reached = arena_alloc(a, g->nodes.n + 1);
	struct path_queue q = {0};

	if (!budget_of(g))
		return NULL;
	(void)explore_analysis_search(g, &scratch, EXPLORE_NONE, &q);
	for (size_t i = 0; i < q.n; i++)
		reached[q.items[i].position.node] = true;
	return reached;
}
