/*
 * frontier.c: which nodes are ready. A function of what has happened, so that every call finds the
 * same frontier again.
 */
#include "src/graph/manifest.h"

/* Several edges may lead from one node to another: one of them is enough. chosen[i] becomes
 * `to` + 1 for each node i that chose it. */
static void mark_choosers(const struct manifest *m, const bool *taken, size_t to, size_t *chosen)
{
	for (size_t k = m->in_first[to]; k < m->in_first[to + 1]; k++)
		if (taken[m->in_edges[k]])
			chosen[m->edges[m->in_edges[k]].from_node] = to + 1;
}

/* Of a node that was not dispatched. `all`: the first node that does not choose it ends the wait.
 * `any`: all have ended, so that it reads whatever there is to read. */
static enum item_status frontier_status_of(const struct manifest *m, size_t node,
	const struct node_progress *progress, const bool *taken, const enum item_status *status,
	size_t *choosers)
{
	bool any = !strcmp(m->nodes[node].join, "any"), open = false, chosen = false;
	size_t first = m->in_first[node], end = m->in_first[node + 1];

	mark_choosers(m, taken, node, choosers);
	for (size_t k = first; k < end; k++) {
		size_t from = m->edges[m->in_edges[k]].from_node;
		bool ended = progress[from].at == PROGRESS_ENDED,
		     skipped = status[from] == ITEM_SKIPPED;
		bool by = ended && choosers[from] == node + 1;

		if (!any && (skipped || (ended && !by)))
			return ITEM_SKIPPED;
		open |= !ended && !skipped;
		chosen |= by;
	}
	if (open)
		return ITEM_WAITING;
	return first == end || !any || chosen ? ITEM_READY : ITEM_SKIPPED;
}

/* Nodes without a block are a sequential one, too. */
static void hold_back(const struct manifest *m, enum item_status *status, bool *busy)
{
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t o = 0; o < m->n_nodes; o++) {
			size_t i = m->order[o];
			const struct manifest_block *b = m->nodes[i].block;
			size_t slot = b ? (size_t)(b - m->blocks) + 1 : 0;

			if (!block_is_sequential(b) ||
				status[i] != (pass ? ITEM_READY : ITEM_DISPATCHED))
				continue;
			if (pass && busy[slot])
				status[i] = ITEM_WAITING;
			busy[slot] = true;
		}
}

void manifest_frontier(const struct manifest *m, const struct node_progress *progress,
	const bool *taken, enum item_status *status)
{
	struct arena a = {0};
	size_t *choosers = arena_alloc(&a, m->n_nodes * sizeof(*choosers));

	for (size_t o = 0; o < m->n_nodes; o++) {
		size_t i = m->order[o];

		status[i] = progress[i].at == PROGRESS_NONE
				    ? frontier_status_of(m, i, progress, taken, status, choosers)
			    : progress[i].at == PROGRESS_OPEN ? ITEM_DISPATCHED
							      : ITEM_ANSWERED;
	}
	hold_back(m, status, arena_alloc(&a, (m->n_blocks + 1) * sizeof(bool)));
	arena_release(&a);
}
