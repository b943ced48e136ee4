#include "src/verify/explore.h"

/* ---- exits ---- */

/* Gives `exit` to every node from which edges without a flag of `barred` lead to one that has it or
 * a better one. */
static void spread_exit(const struct explore_graph *g, enum explore_exit *exits,
	enum explore_exit exit, unsigned barred)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = g->edges.n; i--;) {
			const struct explore_edge *e = &g->edges.items[i];

			if ((e->flags & barred) || exits[e->to] > exit || exits[e->from] <= exit)
				continue;
			exits[e->from] = exit;
			changed = true;
		}
	}
}

enum explore_exit *explore_exits(const struct explore_graph *g, struct arena *a)
{
	enum explore_exit *exits = arena_alloc(a, g->nodes.n * sizeof(*exits));
	unsigned troubleshooter = EDGE_TERMINATE | EDGE_CHANGE | EDGE_BUDGET;

	for (size_t i = 0; i < g->nodes.n; i++)
		exits[i] = g->nodes.items[i].kind == NODE_END ? EXIT_BY_ANSWERS : EXIT_NONE;
	spread_exit(g, exits, EXIT_BY_ANSWERS, troubleshooter | EDGE_LIMIT);
	spread_exit(g, exits, EXIT_BY_LIMIT, troubleshooter);
	spread_exit(g, exits, EXIT_BY_TROUBLESHOOTER, 0);
	return exits;
}

/* ---- cycles ---- */

enum {
	ENDS_CYCLE = EDGE_USER | EDGE_CHANGE | EDGE_TERMINATE | EDGE_BUDGET | EDGE_EXTENDED |
		     EDGE_NOT_EXTENDED
};

/* Tarjan's strongly connected components, with an explicit path instead of recursion: the graph is
 * deeper than a thread's stack. */
struct components {
	const struct explore_graph *graph;
	uint32_t *index, *low, *component, *stack, *path, *next_edge;
	uint32_t n_stack, n_path, n_visited, n_components;
};

static bool may_repeat(const struct explore_graph *g, const struct explore_edge *e)
{
	return !(e->flags & ENDS_CYCLE) &&
	       g->nodes.items[e->from].changes == g->nodes.items[0].changes;
}

static void enter_node(struct components *c, uint32_t node)
{
	c->index[node] = c->low[node] = ++c->n_visited;
	c->stack[c->n_stack++] = node;
	c->path[c->n_path++] = node;
}

static void leave_node(struct components *c)
{
	uint32_t node = c->path[--c->n_path], member;

	if (c->n_path && c->low[c->path[c->n_path - 1]] > c->low[node])
		c->low[c->path[c->n_path - 1]] = c->low[node];
	if (c->low[node] != c->index[node])
		return;
	c->n_components++;
	do {
		member = c->stack[--c->n_stack];
		c->component[member] = c->n_components;
	} while (member != node);
}

static void visit_from(struct components *c, uint32_t root)
{
	enter_node(c, root);
	while (c->n_path) {
		uint32_t node = c->path[c->n_path - 1];
		const struct explore_node *n = &c->graph->nodes.items[node];
		const struct explore_edge *e = &c->graph->edges.items[n->edge + c->next_edge[node]];

		if (c->next_edge[node] == n->n_edges) {
			leave_node(c);
			continue;
		}
		c->next_edge[node]++;
		if (!may_repeat(c->graph, e))
			continue;
		if (!c->index[e->to])
			enter_node(c, e->to);
		else if (!c->component[e->to] && c->low[node] > c->index[e->to])
			c->low[node] = c->index[e->to];
	}
}

/* The component of each node, from 1. */
static uint32_t *components_of(const struct explore_graph *g, struct arena *a, uint32_t *n)
{
	size_t size = g->nodes.n * sizeof(uint32_t);
	struct components c = {g, arena_alloc(a, size), arena_alloc(a, size), arena_alloc(a, size),
		arena_alloc(a, size), arena_alloc(a, size), arena_alloc(a, size), 0, 0, 0, 0};

	for (uint32_t i = 0; i < g->nodes.n; i++)
		if (!c.index[i])
			visit_from(&c, i);
	*n = c.n_components;
	return c.component;
}

/* Turns a path of edges, given by the edge (+ 1) that leads to each node, from back to front. */
static void unroll(const struct explore_graph *g, const uint32_t *edge_to, uint32_t node,
	struct explore_cycle *c)
{
	size_t n = 0;

	for (uint32_t at = node; !n || at != node; at = g->edges.items[edge_to[at] - 1].from)
		n++;
	c->n = n;
	for (uint32_t at = node; n; at = g->edges.items[edge_to[at] - 1].from) {
		c->edges[--n] = edge_to[at] - 1;
		c->cost += g->edges.items[edge_to[at] - 1].cost;
	}
}

/* The shortest way from `node` back to itself within its component; false when there is none. */
static bool shortest_cycle(const struct explore_graph *g, struct arena *a,
	const uint32_t *component, uint32_t node, struct explore_cycle *c)
{
	uint32_t *edge_to = arena_alloc(a, g->nodes.n * sizeof(*edge_to)); /* edge + 1 */
	uint32_t *queue = arena_alloc(a, (g->nodes.n + 1) * sizeof(*queue)), n = 0;

	queue[n++] = node;
	for (uint32_t done = 0; done < n && !edge_to[node]; done++) {
		const struct explore_node *from = &g->nodes.items[queue[done]];

		for (uint32_t i = from->edge; i < from->edge + from->n_edges; i++) {
			const struct explore_edge *e = &g->edges.items[i];

			if (!may_repeat(g, e) || component[e->to] != component[node] ||
				edge_to[e->to] || (e->to == e->from && !e->cost))
				continue;
			edge_to[e->to] = i + 1;
			queue[n++] = e->to;
		}
	}
	*c = (struct explore_cycle){.edges = arena_alloc(a, n * sizeof(uint32_t))};
	if (edge_to[node])
		unroll(g, edge_to, node, c);
	return edge_to[node] > 0;
}

struct explore_cycle *explore_cycles(const struct explore_graph *g, struct arena *a, size_t *n)
{
	uint32_t n_components, *component = components_of(g, a, &n_components);
	bool *cyclic = arena_alloc(a, n_components + 1);
	struct explore_cycle *list = arena_alloc(a, n_components * sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct explore_edge *e = &g->edges.items[i];

		if (may_repeat(g, e) && component[e->from] == component[e->to] &&
			(e->from != e->to || e->cost))
			cyclic[component[e->from]] = true;
	}
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		if (!cyclic[component[i]])
			continue;
		cyclic[component[i]] = false;
		*n += shortest_cycle(g, a, component, i, &list[*n]);
	}
	return list;
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

static size_t n_positions(const struct explore_graph *g)
{
	return g->nodes.n * (g->workflow->limits.max_actions + 1) * EXTENSIONS;
}

static bool is_searchable(const struct explore_graph *g)
{
	return g->workflow->limits.max_actions <= MAX_DEPTH && n_positions(g) < MAX_POSITIONS;
}

static size_t index_of(const struct explore_graph *g, struct position p)
{
	return ((size_t)p.node * (g->workflow->limits.max_actions + 1) + p.spent) * EXTENSIONS +
	       p.extended;
}

/* Whether the edge can be taken at `p`, and where it leads. */
static bool follow(const struct explore_graph *g, const struct explore_edge *e, struct position p,
	struct position *to)
{
	uint32_t budget = (uint32_t)g->workflow->limits.max_actions;
	bool is_spent = p.spent == budget;

	*to = (struct position){e->to, p.spent + e->cost, p.extended};
	if (e->flags & EDGE_EXTENDED) {
		*to = (struct position){e->to, e->cost, p.extended + 1};
		if (p.extended + 1 == EXTENSIONS)
			return false;
	} else if (e->flags & EDGE_NOT_EXTENDED) {
		if (p.extended + 1 != EXTENSIONS)
			return false;
	} else if ((e->flags & EDGE_BUDGET) ? !is_spent : is_spent && e->cost) {
		return false;
	}
	if (to->spent > budget)
		to->spent = budget;
	return true;
}

struct most_search {
	const struct explore_graph *graph;
	bool changes;
	int32_t *most; /* by position: 0: not known; ON_PATH; else the number + 1 */
	bool unbounded;
};

enum { ON_PATH = -1 };

static int32_t most_from(struct most_search *s, struct position p)
{
	const struct explore_node *n = &s->graph->nodes.items[p.node];
	int32_t *known = &s->most[index_of(s->graph, p)], best = 0;

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

		if ((e->flags & EDGE_USER) || (!s->changes && (e->flags & EDGE_CHANGE)) ||
			(e->to == e->from && !e->cost) || !follow(s->graph, e, p, &to))
			continue;
		more = (int32_t)e->cost + most_from(s, to);
		best = more > best ? more : best;
	}
	*known = best + 1;
	return best;
}

int64_t explore_most_actions(const struct explore_graph *g, bool changes)
{
	struct most_search s = {.graph = g, .changes = changes};
	struct arena a = {0};
	int64_t most;

	if (!is_searchable(g))
		return -2;
	s.most = arena_alloc(&a, n_positions(g) * sizeof(*s.most));
	most = most_from(&s, (struct position){0});
	arena_release(&a);
	return s.unbounded ? -1 : most;
}

int64_t explore_least_actions(const struct explore_graph *g)
{
	struct arena a = {0};
	int64_t *least = arena_alloc(&a, g->nodes.n * sizeof(*least)), best = INT64_MAX / 2;
	bool changed = true;

	for (size_t i = 1; i < g->nodes.n; i++)
		least[i] = INT64_MAX / 2;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < g->edges.n; i++) {
			const struct explore_edge *e = &g->edges.items[i];

			if ((e->flags & (EDGE_BUDGET | EDGE_CHANGE)) ||
				least[e->from] + e->cost >= least[e->to])
				continue;
			least[e->to] = least[e->from] + e->cost;
			changed = true;
		}
	}
	for (size_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.items[i].kind == NODE_END && g->nodes.items[i].success &&
			least[i] < best)
			best = least[i];
	arena_release(&a);
	return best < INT64_MAX / 2 ? best : -1;
}

/* ---- paths ---- */

/* The path by which the node was found first; false when the budget matters on it. */
static bool first_path(
	const struct explore_graph *g, struct arena *a, uint32_t node, uint32_t **edges, size_t *n)
{
	const struct explore_edge *all = g->edges.items;
	const struct explore_node *nodes = g->nodes.items;
	size_t count = 0;

	for (uint32_t i = node; nodes[i].parent != EXPLORE_NONE; i = all[nodes[i].parent].from) {
		if (all[nodes[i].parent].flags & (EDGE_BUDGET | EDGE_EXTENDED | EDGE_NOT_EXTENDED))
			return false;
		count++;
	}
	*edges = arena_alloc(a, (count + 1) * sizeof(**edges));
	*n = count;
	for (uint32_t i = node; count; i = all[nodes[i].parent].from)
		(*edges)[--count] = nodes[i].parent;
	return true;
}

/* A position that was reached: by which edge, and from which earlier entry. */
struct path_entry {
	struct position position;
	uint32_t edge;
	size_t from;
};

struct path_search {
	const struct explore_graph *graph;
	bool *seen; /* by position */
	VEC(struct path_entry) queue;
};

/* True when `node` was reached; then it is the last entry of the queue. */
static bool search_from(struct path_search *s, size_t from, uint32_t node)
{
	struct position p = s->queue.items[from].position, to;
	const struct explore_node *n = &s->graph->nodes.items[p.node];

	for (uint32_t i = n->edge; i < n->edge + n->n_edges; i++) {
		if (!follow(s->graph, &s->graph->edges.items[i], p, &to) ||
			s->seen[index_of(s->graph, to)])
			continue;
		s->seen[index_of(s->graph, to)] = true;
		vec_push(&s->queue, (struct path_entry){to, i, from});
		if (to.node == node)
			return true;
	}
	return false;
}

static void copy_path(const struct path_search *s, struct arena *a, uint32_t **edges, size_t *n)
{
	size_t count = 0;

	for (size_t i = s->queue.n - 1; i; i = s->queue.items[i].from)
		count++;
	*edges = arena_alloc(a, (count + 1) * sizeof(**edges));
	*n = count;
	for (size_t i = s->queue.n - 1; i; i = s->queue.items[i].from)
		(*edges)[--count] = s->queue.items[i].edge;
}

/* Searches until `node` is reached; EXPLORE_NONE: until everything is. */
static bool search(struct path_search *s, struct arena *scratch, uint32_t node)
{
	bool found = false;

	s->seen = arena_alloc(scratch, n_positions(s->graph));
	vec_push(&s->queue, (struct path_entry){0});
	for (size_t from = 0; from < s->queue.n && !found; from++)
		found = search_from(s, from, node);
	return found;
}

bool explore_path(
	const struct explore_graph *g, struct arena *a, uint32_t node, uint32_t **edges, size_t *n)
{
	struct path_search s = {.graph = g};
	struct arena scratch = {0};
	bool found;

	if (first_path(g, a, node, edges, n))
		return true;
	if (!is_searchable(g))
		return false;
	found = search(&s, &scratch, node);
	if (found)
		copy_path(&s, a, edges, n);
	vec_release(&s.queue);
	arena_release(&scratch);
	return found;
}

bool *explore_reached(const struct explore_graph *g, struct arena *a)
{
	bool *reached = arena_alloc(a, g->nodes.n + 1);
	struct path_search s = {.graph = g};
	struct arena scratch = {0};

	if (!is_searchable(g))
		return NULL;
	(void)search(&s, &scratch, EXPLORE_NONE);
	for (size_t i = 0; i < s.queue.n; i++)
		reached[s.queue.items[i].position.node] = true;
	vec_release(&s.queue);
	arena_release(&scratch);
	return reached;
}
