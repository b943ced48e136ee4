/* The frontier of random graphs, played to their end with random statuses, is that of the model. */
#include "src/graph/manifest.h"
#include "tests/graph/plays.h"
#include "tests/lib/graph_model.h"
#include "tests/lib/scratch.h"

enum { GRAPHS = 2000, STEPS = 200 };

/* The manifest without the checks of a file: fields that the frontier reads. */
static void make_manifest(const struct graph_model *g, struct manifest *m)
{
	m->n_nodes = (size_t)g->n;
	m->n_edges = (size_t)g->n_edges;
	m->n_blocks = 4;
	m->blocks = arena_alloc(&arena, 4 * sizeof(*m->blocks));
	m->nodes = arena_alloc(&arena, m->n_nodes * sizeof(*m->nodes));
	m->edges = arena_alloc(&arena, (m->n_edges + 1) * sizeof(*m->edges));
	m->order = arena_alloc(&arena, m->n_nodes * sizeof(*m->order));
	m->in_first = arena_alloc(&arena, (m->n_nodes + 1) * sizeof(*m->in_first));
	m->in_edges = arena_alloc(&arena, (m->n_edges + 1) * sizeof(*m->in_edges));
	for (size_t i = 0; i < 4; i++)
		m->blocks[i].kind = i < 2   ? BLOCK_PARALLEL
				    : i < 3 ? BLOCK_SEQUENTIAL
					    : BLOCK_RETRY_UNROLLED;
	for (size_t i = 0; i < m->n_nodes; i++) {
		m->order[i] = i;
		m->nodes[i].join = g->any[i] ? "any" : "all";
		m->nodes[i].block = g->block[i] ? &m->blocks[g->block[i] - 1] : NULL;
		m->in_first[i + 1] = m->in_first[i];
		for (size_t e = 0; e < m->n_edges; e++)
			if (g->edges[e].to == (int)i)
				m->in_edges[m->in_first[i + 1]++] = e;
	}
	for (size_t e = 0; e < m->n_edges; e++) {
		m->edges[e].from_node = (size_t)g->edges[e].from;
		m->edges[e].to_node = (size_t)g->edges[e].to;
	}
}

static void compare(const struct graph_model *g, const struct manifest *m, unsigned number)
{
	static const enum item_status same[] = {[MODEL_WAIT] = ITEM_WAITING,
		[MODEL_READY] = ITEM_READY,
		[MODEL_OPEN] = ITEM_DISPATCHED,
		[MODEL_ENDED] = ITEM_ANSWERED,
		[MODEL_SKIPPED] = ITEM_SKIPPED};
	struct node_progress progress[MODEL_NODES];
	enum item_status status[MODEL_NODES];
	enum model_status expected[MODEL_NODES];
	bool taken[MODEL_EDGES];

	for (int i = 0; i < g->n; i++)
		progress[i].at = g->open[i]    ? PROGRESS_OPEN
				 : g->ended[i] ? PROGRESS_ENDED
					       : PROGRESS_NONE;
	for (int e = 0; e < g->n_edges; e++)
		taken[e] = g->edges[e].taken;
	manifest_frontier(m, progress, taken, status);
	graph_model_status(g, expected);
	for (int i = 0; i < g->n; i++)
		if (status[i] != same[expected[i]])
			fail_msg("graph %u, node %d: %s, the model says %s", number, i,
				workflow_status_name(status[i]),
				workflow_status_name(same[expected[i]]));
}

/* One thing happens: a ready node is dispatched, or one that is open answers. */
static bool play_one(struct random *r, struct graph_model *g)
{
	enum model_status status[MODEL_NODES];
	int some[MODEL_NODES], n = 0;

	graph_model_status(g, status);
	for (int i = 0; i < g->n; i++)
		if (status[i] == MODEL_READY || status[i] == MODEL_OPEN)
			some[n++] = i;
	if (!n)
		return false;
	n = some[random_below(r, (unsigned)n)];
	if (status[n] == MODEL_READY)
		g->open[n] = true;
	else
		graph_model_answer(g, n, (int)random_below(r, NODE_STATUSES), random_below(r, 2));
	return true;
}

void play_graphs(unsigned seed, unsigned n_graphs)
{
	struct random r = {seed};

	for (unsigned i = 0; i < n_graphs; i++) {
		enum model_status end[MODEL_NODES];
		struct graph_model g;
		struct manifest m = {0};
		int steps = 0;

		graph_model_make(&r, &g);
		make_manifest(&g, &m);
		compare(&g, &m, i);
		while (play_one(&r, &g) && steps++ < STEPS)
			compare(&g, &m, i);
		graph_model_status(&g, end);
		for (int n = 0; n < g.n && steps < STEPS; n++)
			assert_true(end[n] == MODEL_ENDED || end[n] == MODEL_SKIPPED);
		arena_release(&arena);
	}
}

TEST(the_frontier_of_random_graphs_is_that_of_the_model)
{
	play_graphs(35, GRAPHS);
}
