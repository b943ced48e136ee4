/*
 * Random graphs, played to their end with random statuses, against a model that shares no code: it
 * keeps sets of names and applies the rules of docs/manifests.md word by word.
 */
#include "src/graph/manifest.h"
#include "tests/lib/random.h"
#include "tests/lib/scratch.h"

enum { GRAPHS = 2000, NODES = 9, EDGES = NODES * NODES, STEPS = 200 };

struct graph_edge {
	int from, to, on; /* on: of enum node_status; 3: any */
};

struct graph_case {
	int n, n_edges;
	bool any[NODES];
	int block[NODES]; /* 0: none; 1, 2: parallel; 3, 4: sequential */
	struct graph_edge edges[EDGES];
	/* What has happened. */
	bool open[NODES], ended[NODES];
	int how[NODES];
};

/* Every node but the first has an edge from the first. */
static void make_case(struct random *r, struct graph_case *g)
{
	*g = (struct graph_case){.n = 2 + (int)random_below(r, NODES - 1)};
	for (int to = 0; to < g->n; to++) {
		g->any[to] = random_below(r, 2);
		g->block[to] = (int)random_below(r, 5);
		for (int from = 0; from < to; from++)
			if (random_below(r, 3) == 0 || from == 0)
				g->edges[g->n_edges++] =
					(struct graph_edge){from, to, (int)random_below(r, 4)};
	}
}

/* The manifest without the checks of a file: fields that the frontier reads. */
static void make_manifest(const struct graph_case *g, struct manifest *m)
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

static bool matches(int on, int how)
{
	return on == 3 || on == how;
}

/* ---- the model ---- */

enum model_status { M_WAIT, M_READY, M_OPEN, M_ENDED, M_SKIPPED };

static void model(const struct graph_case *g, enum model_status *out)
{
	bool busy[5] = {false};

	for (int i = 0; i < g->n; i++) {
		int undecided = 0, chosen = 0, refused = 0, sources = 0;

		for (int from = 0; from < i; from++) {
			bool edge = false, chooses = false;

			for (int e = 0; e < g->n_edges; e++)
				if (g->edges[e].from == from && g->edges[e].to == i) {
					edge = true;
					chooses |= g->ended[from] &&
						   matches(g->edges[e].on, g->how[from]);
				}
			if (!edge)
				continue;
			sources++;
			if (out[from] == M_SKIPPED || (out[from] == M_ENDED && !chooses))
				refused++;
			else if (out[from] == M_ENDED)
				chosen++;
			else
				undecided++;
		}
		out[i] = g->open[i]                                   ? M_OPEN
			 : g->ended[i]                                ? M_ENDED
			 : !sources                                   ? M_READY
			 : !g->any[i] && refused                      ? M_SKIPPED
			 : undecided                                  ? M_WAIT
			 : chosen == sources || (g->any[i] && chosen) ? M_READY
								      : M_SKIPPED;
	}
	for (int i = 0; i < g->n; i++)
		if (out[i] == M_OPEN)
			busy[g->block[i]] = true;
	for (int i = 0; i < g->n; i++)
		if (out[i] == M_READY && (g->block[i] == 0 || g->block[i] > 2)) {
			if (busy[g->block[i]])
				out[i] = M_WAIT;
			busy[g->block[i]] = true;
		}
}

static void compare(const struct graph_case *g, const struct manifest *m, unsigned number)
{
	static const enum item_status same[] = {[M_WAIT] = ITEM_WAITING,
		[M_READY] = ITEM_READY,
		[M_OPEN] = ITEM_DISPATCHED,
		[M_ENDED] = ITEM_ANSWERED,
		[M_SKIPPED] = ITEM_SKIPPED};
	struct node_progress progress[NODES];
	enum item_status status[NODES];
	enum model_status expected[NODES];
	bool taken[EDGES];

	for (int i = 0; i < g->n; i++)
		progress[i].at = g->open[i]    ? PROGRESS_OPEN
				 : g->ended[i] ? PROGRESS_ENDED
					       : PROGRESS_NONE;
	for (int e = 0; e < g->n_edges; e++)
		taken[e] = g->ended[g->edges[e].from] &&
			   matches(g->edges[e].on, g->how[g->edges[e].from]);
	manifest_frontier(m, progress, taken, status);
	model(g, expected);
	for (int i = 0; i < g->n; i++)
		if (status[i] != same[expected[i]])
			fail_msg("graph %u, node %d: %s, the model says %s", number, i,
				workflow_status_name(status[i]),
				workflow_status_name(same[expected[i]]));
}

/* One thing happens: a ready node is dispatched, or one that is open ends or is tried again. */
static bool play_one(struct random *r, struct graph_case *g)
{
	enum model_status status[NODES];
	int some[NODES], n = 0;

	model(g, status);
	for (int i = 0; i < g->n; i++)
		if (status[i] == M_READY || status[i] == M_OPEN)
			some[n++] = i;
	if (!n)
		return false;
	n = some[random_below(r, (unsigned)n)];
	if (status[n] == M_READY) {
		g->open[n] = true;
		return true;
	}
	g->open[n] = false;
	g->ended[n] = random_below(r, 4) > 0;
	g->how[n] = (int)random_below(r, NODE_STATUSES);
	return true;
}

TEST(the_frontier_of_random_graphs_is_that_of_the_model)
{
	struct random r = {35};

	for (unsigned i = 0; i < GRAPHS; i++) {
		struct graph_case g;
		struct manifest m = {0};
		int steps = 0;

		make_case(&r, &g);
		make_manifest(&g, &m);
		compare(&g, &m, i);
		while (play_one(&r, &g) && steps++ < STEPS)
			compare(&g, &m, i);
		for (int n = 0; n < g.n && steps < STEPS; n++) {
			enum model_status end[NODES];

			model(&g, end);
			assert_true(end[n] == M_ENDED || end[n] == M_SKIPPED);
		}
	}
}
