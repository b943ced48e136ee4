#include "src/verify/graph.h"

/*
 * The graph's nodes times what is spent of the budget (0 to max_actions, where it is spent) times
 * how often it was extended (0 to 2). What the engine does depends on these two only by "is it
 * spent" and "was it extended twice", and the walk has tried both.
 */
enum { EXTENSIONS = 3, TOO_MANY = 40000000, TOO_DEEP = 3000 };

struct spending {
	const struct walk *k;
	uint32_t budget;
	bool changes;
	int32_t *most; /* 0: not known yet; else number + 1; ON_THE_WAY */
	bool endless;
};

enum { ON_THE_WAY = -1 };

struct place {
	uint32_t node, spent, extended;
};

static size_t at(const struct spending *s, struct place p)
{
	return ((size_t)p.node * (s->budget + 1) + p.spent) * EXTENSIONS + p.extended;
}

/* Whether the edge can be taken there, and where it leads. */
static bool follow(
	const struct spending *s, const struct edge_to *e, struct place p, struct place *to)
{
	bool over = p.spent == s->budget;

	*to = (struct place){e->to, p.spent + e->cost, p.extended};
	if (e->flags & EDGE_EXTENDED) {
		*to = (struct place){e->to, e->cost, p.extended + 1};
		if (p.extended + 1 == EXTENSIONS)
			return false;
	} else if (e->flags & EDGE_NOT_EXTENDED) {
		if (p.extended + 1 != EXTENSIONS)
			return false;
	} else if ((e->flags & EDGE_BUDGET) ? !over : over && e->cost) {
		return false;
	}
	if (to->spent > s->budget)
		to->spent = s->budget;
	return true;
}

static int32_t most_from(struct spending *s, struct place p)
{
	const struct node *n = &s->k->nodes[p.node];
	int32_t *known = &s->most[at(s, p)], best = 0;

	if (*known > 0)
		return *known - 1;
	if (*known == ON_THE_WAY) {
		s->endless = true;
		return 0;
	}
	*known = ON_THE_WAY;
	for (uint32_t i = n->edge; i < n->edge + n->n_edges; i++) {
		const struct edge_to *e = &s->k->edges[i];
		struct place to;
		int32_t more;

		if ((e->flags & EDGE_USER) || (!s->changes && (e->flags & EDGE_CHANGE)) ||
			(e->to == e->from && !e->cost) || !follow(s, e, p, &to))
			continue;
		more = (int32_t)e->cost + most_from(s, to);
		best = more > best ? more : best;
	}
	s->most[at(s, p)] = best + 1;
	return best;
}

static bool fits(const struct walk *k)
{
	return k->w->limits.max_actions <= TOO_DEEP &&
	       (uint64_t)k->n_nodes * (k->w->limits.max_actions + 1) * EXTENSIONS < TOO_MANY;
}

int64_t graph_cost(const struct walk *k, bool changes)
{
	struct spending s = {
		.k = k, .budget = (uint32_t)k->w->limits.max_actions, .changes = changes};
	size_t size = (size_t)k->n_nodes * (s.budget + 1) * EXTENSIONS * sizeof(*s.most);
	int64_t most;

	if (!fits(k))
		return -2;
	for (uint32_t i = 0; i < k->n_edges; i++)
		if (changes && (k->edges[i].flags & EDGE_REFILL))
			return -1;
	s.most = xmalloc(size);
	memset(s.most, 0, size);
	most = most_from(&s, (struct place){0, 0, 0});
	free(s.most);
	return s.endless ? -1 : most;
}

int64_t graph_least(const struct walk *k)
{
	int64_t *least = xmalloc(k->n_nodes * sizeof(*least)), best = -1;
	bool better = true;

	for (uint32_t i = 0; i < k->n_nodes; i++)
		least[i] = i ? INT64_MAX / 2 : 0;
	while (better) {
		better = false;
		for (uint32_t i = 0; i < k->n_edges; i++) {
			const struct edge_to *e = &k->edges[i];

			if ((e->flags & (EDGE_BUDGET | EDGE_CHANGE)) ||
				least[e->from] + e->cost >= least[e->to])
				continue;
			least[e->to] = least[e->from] + e->cost;
			better = true;
		}
	}
	for (uint32_t i = 0; i < k->n_nodes; i++)
		if (k->nodes[i].kind == NODE_END && k->nodes[i].good && least[i] < INT64_MAX / 2 &&
			(best < 0 || least[i] < best))
			best = least[i];
	free(least);
	return best;
}

struct search {
	struct spending s;
	uint32_t *from; /* by place: edge + 1 */
	struct place *queue;
	size_t *back; /* of each in the queue: where it was found from */
	size_t n;
};

/* By the parents alone; false when the budget is on the way. */
static bool straight(
	const struct walk *k, struct arena *a, uint32_t node, uint32_t **edges, size_t *n)
{
	size_t count = 0;

	for (uint32_t i = node; k->nodes[i].parent != NONE; i = k->edges[k->nodes[i].parent].from) {
		if (k->edges[k->nodes[i].parent].flags &
			(EDGE_BUDGET | EDGE_EXTENDED | EDGE_NOT_EXTENDED))
			return false;
		count++;
	}
	*edges = arena_alloc(a, (count + 1) * sizeof(**edges));
	*n = count;
	for (uint32_t i = node; count; i = k->edges[k->nodes[i].parent].from)
		(*edges)[--count] = k->nodes[i].parent;
	return true;
}

static bool look_round(struct search *q, size_t done, uint32_t node, size_t *found)
{
	struct place p = q->queue[done];
	const struct node *n = &q->s.k->nodes[p.node];

	for (uint32_t i = n->edge; i < n->edge + n->n_edges; i++) {
		struct place to;

		if (!follow(&q->s, &q->s.k->edges[i], p, &to) || q->from[at(&q->s, to)])
			continue;
		q->from[at(&q->s, to)] = i + 1;
		q->back[q->n] = done;
		q->queue[q->n] = to;
		*found = q->n++;
		if (to.node == node)
			return true;
	}
	return false;
}

static void unroll(
	const struct search *q, struct arena *a, size_t found, uint32_t **edges, size_t *n)
{
	size_t count = 0;

	for (size_t i = found; i; i = q->back[i])
		count++;
	*edges = arena_alloc(a, (count + 1) * sizeof(**edges));
	*n = count;
	for (size_t i = found; i; i = q->back[i])
		(*edges)[--count] = q->from[at(&q->s, q->queue[i])] - 1;
}

bool graph_path(const struct walk *k, struct arena *a, uint32_t node, uint32_t **edges, size_t *n)
{
	struct search q = {.s = {.k = k, .budget = (uint32_t)k->w->limits.max_actions}};
	size_t places = (size_t)k->n_nodes * (q.s.budget + 1) * EXTENSIONS, found = 0;
	bool there = false;

	if (straight(k, a, node, edges, n))
		return true;
	if (!fits(k))
		return false;
	q.from = xmalloc(places * sizeof(*q.from));
	memset(q.from, 0, places * sizeof(*q.from));
	q.queue = xmalloc((places + 1) * sizeof(*q.queue));
	q.back = xmalloc((places + 1) * sizeof(*q.back));
	q.queue[q.n++] = (struct place){0, 0, 0};
	for (size_t done = 0; done < q.n && !there; done++)
		there = look_round(&q, done, node, &found);
	if (there)
		unroll(&q, a, found, edges, n);
	free(q.from);
	free(q.queue);
	free(q.back);
	return there;
}
