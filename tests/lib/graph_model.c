#include "tests/lib/graph_model.h"

void graph_model_make(struct random *r, struct graph_model *g)
{
	*g = (struct graph_model){.n = 2 + (int)random_below(r, MODEL_NODES - 1)};
	for (int to = 0; to < g->n; to++) {
		g->any[to] = random_below(r, 2);
		g->block[to] = (int)random_below(r, MODEL_BLOCKS);
		g->retries[to] = (int)random_below(r, 3);
		for (int from = 0; from < to; from++)
			if (random_below(r, 3) == 0 || from == 0)
				g->edges[g->n_edges++] = (struct model_edge){.from = from,
					.to = to,
					.on = (int)random_below(r, 4),
					.event = random_below(r, 6) == 0,
					.had = random_below(r, 6) == 0};
	}
}

static bool is_sequential(int block)
{
	return block == 0 || block >= MODEL_SEQUENTIAL;
}

/* Of a node that was not dispatched. */
static enum model_status judge(
	const struct graph_model *g, int node, const enum model_status *others)
{
	int undecided = 0, chosen = 0, refused = 0, sources = 0;

	for (int from = 0; from < node; from++) {
		bool edge = false, chooses = false;

		for (int e = 0; e < g->n_edges; e++)
			if (g->edges[e].from == from && g->edges[e].to == node) {
				edge = true;
				chooses |= g->edges[e].taken;
			}
		if (!edge)
			continue;
		sources++;
		if (others[from] == MODEL_SKIPPED || (others[from] == MODEL_ENDED && !chooses))
			refused++;
		else if (others[from] == MODEL_ENDED)
			chosen++;
		else
			undecided++;
	}
	if (!sources)
		return MODEL_READY;
	if (!g->any[node] && refused)
		return MODEL_SKIPPED;
	if (undecided)
		return MODEL_WAIT;
	return chosen == sources || (g->any[node] && chosen) ? MODEL_READY : MODEL_SKIPPED;
}

void graph_model_status(const struct graph_model *g, enum model_status *out)
{
	bool busy[MODEL_BLOCKS] = {false};

	for (int i = 0; i < g->n; i++)
		out[i] = g->open[i] ? MODEL_OPEN : g->ended[i] ? MODEL_ENDED : judge(g, i, out);
	for (int i = 0; i < g->n; i++)
		if (out[i] == MODEL_OPEN)
			busy[g->block[i]] = true;
	for (int i = 0; i < g->n; i++)
		if (out[i] == MODEL_READY && is_sequential(g->block[i])) {
			if (busy[g->block[i]])
				out[i] = MODEL_WAIT;
			busy[g->block[i]] = true;
		}
}

void graph_model_answer(struct graph_model *g, int node, int status, bool event)
{
	g->open[node] = false;
	g->failed_validation |= status == 1;
	if (status == 1 && g->tried[node] < g->retries[node]) {
		g->tried[node]++;
		return;
	}
	g->ended[node] = true;
	g->how[node] = status;
	g->aborted = status == 2 && (g->block[node] == 0 || g->block[node] == MODEL_SEQUENTIAL);
	for (int e = 0; e < g->n_edges; e++)
		if (g->edges[e].from == node)
			g->edges[e].taken =
				(g->edges[e].on == MODEL_ALWAYS || g->edges[e].on == status) &&
				(!g->edges[e].event || event) &&
				(!g->edges[e].had || g->failed_validation);
}

bool graph_model_succeeds(const struct graph_model *g)
{
	for (int i = 0; i < g->n; i++) {
		bool handled = !g->ended[i] || g->how[i] == 0;

		for (int e = 0; e < g->n_edges; e++)
			handled |= g->edges[e].from == i && g->edges[e].taken;
		if (!handled)
			return false;
	}
	return !g->aborted;
}
