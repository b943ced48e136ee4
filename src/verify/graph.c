#include "src/verify/graph.h"

/* Edges by where they lead to. */
struct back {
	uint32_t *first, *next; /* edge + 1 */
};

static struct back back_of(const struct walk *k, struct arena *a)
{
	struct back b = {arena_alloc(a, (k->n_nodes + 1) * sizeof(uint32_t)),
		arena_alloc(a, (k->n_edges + 1) * sizeof(uint32_t))};

	for (uint32_t i = 0; i < k->n_edges; i++) {
		b.next[i] = b.first[k->edges[i].to];
		b.first[k->edges[i].to] = i + 1;
	}
	return b;
}

/* Marks with `way` what leads to the marked ones by edges without any flag of `barred`. */
static void spread(const struct walk *k, const struct back *b, enum way *ways, uint32_t *queue,
	enum way way, unsigned barred)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n_nodes; i++)
		if (ways[i] < way || (k->nodes[i].kind == NODE_END && way == WAY_ANSWERS)) {
			ways[i] = ways[i] < way ? ways[i] : way;
			queue[n++] = i;
		}
	for (uint32_t done = 0; done < n; done++) {
		for (uint32_t e = b->first[queue[done]]; e; e = b->next[e - 1]) {
			const struct edge_to *edge = &k->edges[e - 1];

			if ((edge->flags & barred) || ways[edge->from] <= way)
				continue;
			ways[edge->from] = way;
			queue[n++] = edge->from;
		}
	}
}

enum way *graph_ways(const struct walk *k, struct arena *a)
{
	enum way *ways = arena_alloc(a, (k->n_nodes + 1) * sizeof(*ways));
	uint32_t *queue = arena_alloc(a, (k->n_nodes + 1) * sizeof(*queue));
	struct back b = back_of(k, a);
	unsigned trouble = EDGE_TERMINATE | EDGE_CHANGE | EDGE_BUDGET;

	for (uint32_t i = 0; i < k->n_nodes; i++)
		ways[i] = WAY_NONE;
	spread(k, &b, ways, queue, WAY_ANSWERS, trouble | EDGE_LIMIT);
	spread(k, &b, ways, queue, WAY_LIMIT, trouble);
	spread(k, &b, ways, queue, WAY_TROUBLE, 0);
	return ways;
}

enum {
	NO_CIRCLE = EDGE_USER | EDGE_CHANGE | EDGE_TERMINATE | EDGE_BUDGET | EDGE_EXTENDED |
		    EDGE_NOT_EXTENDED
};

/* Tarjan's parts, with a stack of its own: the graph is deeper than a thread's. */
struct parts {
	const struct walk *k;
	uint32_t *index, *low, *part, *stack, *path, *at;
	uint32_t n_stack, n_path, count, n_parts;
};

static bool in_circle(const struct walk *k, const struct edge_to *e)
{
	return !(e->flags & NO_CIRCLE) && k->nodes[e->from].changes == k->nodes[0].changes;
}

static void push(struct parts *p, uint32_t node)
{
	p->index[node] = p->low[node] = ++p->count;
	p->stack[p->n_stack++] = node;
	p->path[p->n_path++] = node;
	p->at[node] = 0;
}

static void pop(struct parts *p)
{
	uint32_t node = p->path[--p->n_path], other;

	if (p->n_path && p->low[p->path[p->n_path - 1]] > p->low[node])
		p->low[p->path[p->n_path - 1]] = p->low[node];
	if (p->low[node] != p->index[node])
		return;
	p->n_parts++;
	do {
		other = p->stack[--p->n_stack];
		p->part[other] = p->n_parts;
	} while (other != node);
}

static void visit(struct parts *p, uint32_t root)
{
	push(p, root);
	while (p->n_path) {
		uint32_t node = p->path[p->n_path - 1];
		const struct node *n = &p->k->nodes[node];

		if (p->at[node] == n->n_edges) {
			pop(p);
			continue;
		}
		const struct edge_to *e = &p->k->edges[n->edge + p->at[node]++];

		if (!in_circle(p->k, e))
			continue;
		if (!p->index[e->to])
			push(p, e->to);
		else if (!p->part[e->to] && p->low[node] > p->index[e->to])
			p->low[node] = p->index[e->to];
	}
}

static uint32_t *parts_of(const struct walk *k, struct arena *a, uint32_t *n)
{
	size_t size = (k->n_nodes + 1) * sizeof(uint32_t);
	struct parts p = {k, arena_alloc(a, size), arena_alloc(a, size), arena_alloc(a, size),
		arena_alloc(a, size), arena_alloc(a, size), arena_alloc(a, size), 0, 0, 0, 0};

	for (uint32_t i = 0; i < k->n_nodes; i++)
		if (!p.index[i])
			visit(&p, i);
	*n = p.n_parts;
	return p.part;
}

/* The shortest way from `node` back to itself within its part. */
static void round_of(const struct walk *k, struct arena *a, const uint32_t *part, uint32_t node,
	struct circle *c)
{
	uint32_t *from = arena_alloc(a, (k->n_nodes + 1) * sizeof(*from)); /* edge + 1 */
	uint32_t *queue = arena_alloc(a, (k->n_nodes + 1) * sizeof(*queue)), n = 0;

	queue[n++] = node;
	for (uint32_t done = 0; done < n && !from[node]; done++) {
		const struct node *at = &k->nodes[queue[done]];

		for (uint32_t e = at->edge; e < at->edge + at->n_edges; e++) {
			uint32_t to = k->edges[e].to;

			if (!in_circle(k, &k->edges[e]) || part[to] != part[node] || from[to] ||
				(to == queue[done] && !k->edges[e].cost))
				continue;
			from[to] = e + 1;
			queue[n++] = to;
		}
	}
	*c = (struct circle){arena_alloc(a, (n + 1) * sizeof(uint32_t)), 0, 0};
	for (uint32_t at = node; from[at] && (at != node || !c->n);
		at = k->edges[from[at] - 1].from) {
		c->edges[c->n++] = from[at] - 1;
		c->cost += k->edges[from[at] - 1].cost;
	}
	for (size_t i = 0; i < c->n / 2; i++) {
		uint32_t swap = c->edges[i];

		c->edges[i] = c->edges[c->n - 1 - i];
		c->edges[c->n - 1 - i] = swap;
	}
}

struct circle *graph_circles(const struct walk *k, struct arena *a, size_t *n)
{
	uint32_t n_parts, *part = parts_of(k, a, &n_parts);
	bool *round = arena_alloc(a, n_parts + 1), *told = arena_alloc(a, n_parts + 1);
	struct circle *list = arena_alloc(a, (n_parts + 1) * sizeof(*list));

	*n = 0;
	for (uint32_t i = 0; i < k->n_edges; i++) {
		const struct edge_to *e = &k->edges[i];

		if (in_circle(k, e) && part[e->from] == part[e->to] &&
			(e->from != e->to || e->cost))
			round[part[e->from]] = true;
	}
	for (uint32_t i = 0; i < k->n_nodes; i++) {
		if (!round[part[i]] || told[part[i]])
			continue;
		told[part[i]] = true;
		round_of(k, a, part, i, &list[*n]);
		*n += list[*n].n > 0;
	}
	return list;
}
