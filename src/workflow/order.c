#include "src/workflow/order.h"

enum {
	SWEEPS = 10,    /* of one try */
	TRIES = 300,    /* from different first orders; the first is that of the file */
	WORK = 4000000, /* vertices and segments looked at, all in all */
};

static void neighbours(struct arena *a, struct grid *g)
{
	for (size_t i = 0; i < g->n_segments; i++) {
		g->vertices[g->segments[i].up].n_down++;
		g->vertices[g->segments[i].down].n_up++;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct vertex *v = &g->vertices[i];

		v->up = arena_alloc(a, (v->n_up + 1) * sizeof(*v->up));
		v->down = arena_alloc(a, (v->n_down + 1) * sizeof(*v->down));
		v->n_up = v->n_down = 0;
	}
	for (size_t i = 0; i < g->n_segments; i++) {
		struct vertex *up = &g->vertices[g->segments[i].up];
		struct vertex *down = &g->vertices[g->segments[i].down];

		up->down[up->n_down++] = g->segments[i].down;
		down->up[down->n_up++] = g->segments[i].up;
	}
}

static void make_layers(struct arena *a, struct grid *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->n_layers <= g->vertices[i].layer)
			g->n_layers = g->vertices[i].layer + 1;
	g->layers = arena_alloc(a, (g->n_layers + 1) * sizeof(*g->layers));
	for (size_t i = 0; i < g->n; i++)
		g->layers[g->vertices[i].layer].n++;
	for (size_t i = 0; i < g->n_layers; i++)
		g->layers[i].v = arena_alloc(a, (g->layers[i].n + 1) * sizeof(size_t));
}

/* Shuffled by a small generator of its own: the same graph gives the same drawing. */
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

/* Depth first from the top: what belongs together begins side by side. A seed of 0 keeps the order
 * of the file. */
static void first_order(struct grid *g, size_t *stack, bool *seen, uint32_t seed)
{
	size_t depth = 0;

	memset(seen, 0, g->n);
	for (size_t i = 0; i < g->n_layers; i++)
		g->layers[i].n = 0;
	for (size_t root = 0; root < g->n; root++) {
		if (!seen[root] && !g->vertices[root].n_up)
			stack[depth++] = root;
		while (depth) {
			size_t i = stack[--depth];
			struct vertex *v = &g->vertices[i];
			struct layer *y = &g->layers[v->layer];

			if (seen[i])
				continue;
			seen[i] = true;
			v->at = y->n;
			y->v[y->n++] = i;
			if (seed)
				shuffle(v->down, v->n_down, &seed);
			for (size_t d = v->n_down; d-- > 0;)
				if (!seen[v->down[d]])
					stack[depth++] = v->down[d];
		}
	}
}

struct key {
	size_t v, mean, at;
};

static int compare_keys(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->mean != b->mean)
		return a->mean < b->mean ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Each vertex moves to the mean place of its neighbours in the layer above, or below. */
static void sort_layer(struct grid *g, struct layer *y, bool above, struct key *keys)
{
	for (size_t i = 0; i < y->n; i++) {
		const struct vertex *v = &g->vertices[y->v[i]];
		const size_t *list = above ? v->up : v->down;
		size_t n = above ? v->n_up : v->n_down, sum = 0;

		for (size_t k = 0; k < n; k++)
			sum += g->vertices[list[k]].at * 2 + 1;
		keys[i] = (struct key){y->v[i], n ? sum * 512 / n : (v->at * 2 + 1) * 512, v->at};
	}
	qsort(keys, y->n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < y->n; i++) {
		y->v[i] = keys[i].v;
		g->vertices[keys[i].v].at = i;
	}
}

static void sort_neighbours(struct grid *g, size_t *list, size_t n, struct key *keys)
{
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct key){list[i], g->vertices[list[i]].at, i};
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
		list[i] = keys[i].v;
}

/* Pairs of segments below `y` that cross: ends that lie right of the end now added, counted in a
 * Fenwick tree. */
static size_t crossings(struct grid *g, const struct layer *y, size_t below, size_t *tree)
{
	size_t total = 0, added = 0;

	memset(tree, 0, (below + 2) * sizeof(*tree));
	for (size_t i = 0; i < y->n; i++) {
		const struct vertex *v = &g->vertices[y->v[i]];

		for (size_t k = 0; k < v->n_down; k++) {
			size_t left = 0;

			for (size_t t = g->vertices[v->down[k]].at + 1; t; t &= t - 1)
				left += tree[t];
			total += added - left;
		}
		for (size_t k = 0; k < v->n_down; k++, added++)
			for (size_t t = g->vertices[v->down[k]].at + 1; t <= below; t += t & -t)
				tree[t]++;
	}
	return total;
}

static size_t all_crossings(struct grid *g, size_t *tree)
{
	size_t total = 0;

	for (size_t i = 0; i + 1 < g->n_layers; i++)
		total += crossings(g, &g->layers[i], g->layers[i + 1].n, tree);
	return total;
}

static void sweep(struct grid *g, bool down, struct key *keys)
{
	for (size_t i = 1; down && i < g->n_layers; i++)
		sort_layer(g, &g->layers[i], true, keys);
	for (size_t i = g->n_layers - 1; !down && i-- > 0;)
		sort_layer(g, &g->layers[i], false, keys);
}

static void restore(struct grid *g, const size_t *best)
{
	for (size_t i = 0; i < g->n; i++) {
		g->vertices[i].at = best[i];
		g->layers[g->vertices[i].layer].v[best[i]] = i;
	}
}

/* Sweeps from the order as it is; keeps the best places seen so far. */
static size_t try_order(struct grid *g, struct key *keys, size_t *tree, size_t *best, size_t least)
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

void grid_order(struct arena *a, struct grid *g)
{
	size_t *best = arena_alloc(a, (g->n + 1) * sizeof(*best)), least = SIZE_MAX;
	struct key *keys = arena_alloc(a, (g->n + 1) * sizeof(*keys));
	size_t *tree = arena_alloc(a, (g->n + 2) * sizeof(*tree));
	size_t *stack = arena_alloc(a, (g->n + g->n_segments + 1) * sizeof(*stack));
	bool *seen = arena_alloc(a, g->n + 1);

	make_layers(a, g);
	neighbours(a, g);
	for (uint32_t try = 0; try < TRIES && least && (g->n + g->n_segments) * SWEEPS * try < WORK;
		try++) {
		first_order(g, stack, seen, try * 2654435761u);
		least = try_order(g, keys, tree, best, least);
	}
	restore(g, best);
	for (size_t i = 0; i < g->n; i++) {
		sort_neighbours(g, g->vertices[i].up, g->vertices[i].n_up, keys);
		sort_neighbours(g, g->vertices[i].down, g->vertices[i].n_down, keys);
	}
}
