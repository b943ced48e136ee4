#include "src/base/graph.h"

void graph_reverse(struct arena *a, const struct graph *g, struct graph *out)
{
	size_t *first = arena_alloc(a, (g->n + 2) * sizeof(*first)), edges = g->first[g->n],
	       *to = arena_alloc(a, edges * sizeof(*to) + 1);

	for (size_t e = 0; e < edges; e++)
		first[g->to[e] + 2]++;
	for (size_t i = 2; i <= g->n; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < g->n; i++) /* first[k + 1] is where the next one of k goes */
		for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
			to[first[g->to[e] + 1]++] = i;
	*out = (struct graph){g->n, first, to};
}

struct graph_visit {
	const struct graph *graph;
	graph_cycle_fn *on_cycle;
	void *data;
	struct graph_order *out;
	size_t *number, *low, *next, *place; /* of each node; number 0: not visited */
	size_t *path, on_path;
	size_t *open, n_open; /* visited, and in no component yet */
	size_t visited, ordered, components;
};

static void enter_node(struct graph_visit *v, size_t node)
{
	v->number[node] = v->low[node] = ++v->visited;
	v->next[node] = v->graph->first[node];
	v->place[node] = ++v->on_path;
	v->path[v->on_path - 1] = node;
	v->open[v->n_open++] = node;
}

/* The nodes that were entered since `node` and are still open lead to it, and it leads to them. */
static void close_component(struct graph_visit *v, size_t node)
{
	size_t one;

	do {
		one = v->open[--v->n_open];
		v->out->component[one] = v->components;
		v->low[one] = SIZE_MAX; /* closed */
	} while (one != node);
	v->components++;
}

static void leave_node(struct graph_visit *v, size_t node)
{
	size_t low = v->low[node];

	v->place[node] = 0;
	v->on_path--;
	v->out->order[v->ordered++] = node;
	if (low == v->number[node])
		close_component(v, node);
	else if (low < v->low[v->path[v->on_path - 1]])
		v->low[v->path[v->on_path - 1]] = low;
}

static void follow_edge(struct graph_visit *v, size_t node, size_t to)
{
	if (!v->number[to]) {
		enter_node(v, to);
		return;
	}
	if (v->place[to] && v->on_cycle)
		v->on_cycle(v->data, v->path + v->place[to] - 1, v->on_path - (v->place[to] - 1));
	if (v->low[to] != SIZE_MAX && v->number[to] < v->low[node])
		v->low[node] = v->number[to];
}

void graph_walk(struct arena *a, const struct graph *g, graph_cycle_fn *on_cycle, void *data,
	struct graph_order *out)
{
	size_t *memory = arena_alloc(a, (8 * g->n + 1) * sizeof(*memory));
	struct graph_visit v = {.graph = g,
		.on_cycle = on_cycle,
		.data = data,
		.out = out,
		.number = memory,
		.low = memory + g->n,
		.next = memory + 2 * g->n,
		.place = memory + 3 * g->n,
		.path = memory + 4 * g->n,
		.open = memory + 5 * g->n};

	*out = (struct graph_order){.order = memory + 6 * g->n, .component = memory + 7 * g->n};
	for (size_t i = 0; i < g->n; i++) {
		if (!v.number[i])
			enter_node(&v, i);
		while (v.on_path) {
			size_t node = v.path[v.on_path - 1];

			if (v.next[node] < g->first[node + 1])
				follow_edge(&v, node, g->to[v.next[node]++]);
			else
				leave_node(&v, node);
		}
	}
}
