#include <stdarg.h>
#include "src/verify/findings.h"
#include "steps/steps.h"

struct judge {
	const struct walk *k;
	struct arena *a;
	struct findings *out;
	enum way *ways;
};

const char *finding_name(enum finding_kind kind)
{
	static const char *const names[] = {[FINDING_BROKEN] = "broken",
		[FINDING_DEAD_END] = "dead end",
		[FINDING_LIVELOCK] = "livelock",
		[FINDING_LIMIT] = "only a limit",
		[FINDING_STATE] = "unreachable state",
		[FINDING_EDGE] = "unreachable transition"};

	return names[kind];
}

static struct finding *add(struct judge *j, enum finding_kind kind, uint32_t node, char *text)
{
	struct findings *f = j->out;

	if (f->n == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 16;
		struct finding *more = arena_alloc(j->a, cap * sizeof(*more));

		if (f->n)
			memcpy(more, f->list, f->n * sizeof(*more));
		f->list = more;
		f->cap = cap;
	}
	f->list[f->n] = (struct finding){.kind = kind, .text = text, .node = node, .last = NONE};
	return &f->list[f->n++];
}

static void place(const struct judge *j, struct finding *f, const char *state)
{
	const struct workflow_state *fs = workflow_state(j->k->w, state);

	f->line = fs ? fs->line : 0;
	f->col = fs ? fs->col : 0;
}

static void note(struct judge *j, char *text)
{
	struct findings *f = j->out;

	if (f->n_notes == f->cap_notes) {
		size_t cap = f->cap_notes ? f->cap_notes * 2 : 16;
		char **more = arena_alloc(j->a, cap * sizeof(*more));

		if (f->n_notes)
			memcpy(more, f->notes, f->n_notes * sizeof(*more));
		f->notes = more;
		f->cap_notes = cap;
	}
	f->notes[f->n_notes++] = text;
}

static void find_broken(struct judge *j)
{
	for (size_t i = 0; i < j->k->n_broken; i++) {
		const struct broken *b = &j->k->broken[i];
		struct finding *f =
			add(j, FINDING_BROKEN, b->node, arena_dup(j->a, str_of(b->text)));

		f->offers = b->offers;
		f->n_offers = b->n_offers;
	}
}

/* A step that fails for ever, whoever calls it. */
static void find_errors(struct judge *j)
{
	for (uint32_t i = 0; i < j->k->n_nodes; i++) {
		const struct node *n = &j->k->nodes[i];
		bool circle;

		if (n->kind != NODE_ERROR)
			continue;
		circle = str_find(str_of(n->printed), STR("runs in a circle")) < strlen(n->printed);
		place(j,
			add(j, circle ? FINDING_LIVELOCK : FINDING_DEAD_END, i,
				arena_printf(j->a, "after '%s' every step fails: %s", n->state,
					n->printed)),
			n->state);
	}
}

/* Weakly connected parts of the nodes without a way: `part` is the smallest number in each. */
static uint32_t root_of(uint32_t *part, uint32_t i)
{
	while (part[i] != i)
		i = part[i] = part[part[i]];
	return i;
}

static uint32_t *trapped_parts(const struct judge *j)
{
	const struct walk *k = j->k;
	uint32_t *part = arena_alloc(j->a, (k->n_nodes + 1) * sizeof(*part));

	for (uint32_t i = 0; i < k->n_nodes; i++)
		part[i] = i;
	for (uint32_t i = 0; i < k->n_edges; i++) {
		uint32_t from = k->edges[i].from, to = k->edges[i].to;

		if (j->ways[from] < WAY_TROUBLE || j->ways[to] < WAY_TROUBLE)
			continue;
		from = root_of(part, from);
		to = root_of(part, to);
		part[from > to ? from : to] = from > to ? to : from;
	}
	return part;
}

/* The states of a part, in the order in which they were met. */
static char *states_of(const struct judge *j, uint32_t *part, uint32_t root)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "");
	for (uint32_t i = root; i < j->k->n_nodes; i++) {
		const struct node *n = &j->k->nodes[i];
		char *name = arena_printf(j->a, "'%s'", n->state);

		if (n->kind != NODE_START && j->ways[i] >= WAY_TROUBLE &&
			root_of(part, i) == root &&
			str_find(buf_str(&text), str_of(name)) == text.len)
			buf_addf(&text, "%s%s", text.len ? ", " : "", name);
	}
	return arena_dup(j->a, buf_str(&text));
}

/* Where a failing step stands in for the whole part, it has been told already. */
static bool fails(const struct judge *j, uint32_t *part, uint32_t root)
{
	for (uint32_t i = root; i < j->k->n_nodes; i++)
		if (j->k->nodes[i].kind == NODE_ERROR && root_of(part, i) == root)
			return true;
	return false;
}

static void find_dead_ends(struct judge *j)
{
	uint32_t *part = trapped_parts(j), at;

	for (uint32_t i = 0; i < j->k->n_nodes; i++) {
		if (j->ways[i] < WAY_TROUBLE || j->k->nodes[i].kind == NODE_ERROR || part[i] != i ||
			fails(j, part, i))
			continue;
		at = i || j->k->n_nodes == 1 ? i : 1; /* the start itself is of no interest */
		place(j,
			add(j, FINDING_DEAD_END, at,
				arena_printf(j->a,
					"from %s no answer leads to an end; only the "
					"troubleshooter can end the run",
					states_of(j, part, i))),
			j->k->nodes[at].state);
	}
}

/* It shows at the first edge with `flag`. */
static void show_at(struct judge *j, struct finding *f, unsigned flag)
{
	for (uint32_t i = 0; i < j->k->n_edges && f->last == NONE; i++)
		if (j->k->edges[i].flags & flag) {
			f->last = i;
			f->node = j->k->edges[i].from;
		}
}

static void find_limits(struct judge *j)
{
	for (size_t s = 0; s < j->k->w->n_states; s++) {
		const char *state = j->k->w->states[s].name;
		enum way best = WAY_NONE;
		struct finding *f;

		for (uint32_t i = 0; i < j->k->n_nodes; i++) {
			const struct node *n = &j->k->nodes[i];

			if (n->kind == NODE_WORK && strcmp(n->state, state) == 0 &&
				j->ways[i] < best)
				best = j->ways[i];
		}
		if (best != WAY_LIMIT)
			continue;
		f = add(j, FINDING_LIMIT, NONE,
			arena_printf(j->a,
				"from state '%s' only a limit ('max_retries') leads to an end",
				state));
		place(j, f, state);
		show_at(j, f, EDGE_LIMIT);
	}
}

/* `'a' -> 'b' -> 'a'` */
static char *way_round(const struct judge *j, const struct circle *c)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *last = j->k->nodes[j->k->edges[c->edges[0]].from].state;

	buf_addf(&text, "'%s'", last);
	for (size_t i = 0; i < c->n; i++) {
		const char *state = j->k->nodes[j->k->edges[c->edges[i]].to].state;

		if (strcmp(state, last) != 0 || i + 1 == c->n)
			buf_addf(&text, " -> '%s'", state);
		last = state;
	}
	return arena_dup(j->a, buf_str(&text));
}

/* A budget that the troubleshooter can fill up again is none. */
static void find_refills(struct judge *j)
{
	const struct walk *k = j->k;
	uint32_t i = 0;
	struct finding *f;

	while (i < k->n_edges && !(k->edges[i].flags & EDGE_REFILL))
		i++;
	if (i == k->n_edges)
		return;
	f = add(j, FINDING_LIVELOCK, NONE,
		arena_printf(j->a,
			"the troubleshooter can set back what is spent ('%s'), so that no budget "
			"ends the run",
			k->edges[i].label->forms[0]->name));
	place(j, f, k->nodes[k->edges[i].from].state);
	show_at(j, f, EDGE_REFILL);
}

static void find_livelocks(struct judge *j)
{
	size_t n;
	struct circle *list = graph_circles(j->k, j->a, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t node = j->k->edges[list[i].edges[0]].from;
		struct finding *f = add(j, FINDING_LIVELOCK, node,
			arena_printf(j->a,
				"%s goes round for as long as agents answer, %u action%s a round; "
				"no limit but the budget ends it",
				way_round(j, &list[i]), list[i].cost,
				list[i].cost == 1 ? "" : "s"));

		f->round = list[i].edges;
		f->n_round = list[i].n;
		place(j, f, j->k->nodes[node].state);
	}
	find_refills(j);
}

static bool step_gives(const struct workflow *w, const struct workflow_edge *e)
{
	const struct step *step = step_for(w, e->from);
	const struct workflow_state *fs = workflow_state(w, e->from);

	for (size_t i = 0; fs && fs->declared && i < fs->declared->n; i++)
		for (size_t o = 0; o < fs->declared->items[i].n_outcomes; o++)
			if (strcmp(fs->declared->items[i].outcomes[o].trigger, e->trigger) == 0)
				return true;
	for (size_t i = 0; step && step->triggers[i]; i++)
		if (strcmp(step->triggers[i], e->trigger) == 0)
			return true;
	return strcmp(e->from, w->initial) == 0;
}

static void find_unreached(struct judge *j)
{
	const struct workflow *w = j->k->w;

	for (size_t i = 0; i < w->n_states; i++)
		if (!j->k->visited[i] && strcmp(w->states[i].name, w->initial) != 0)
			place(j,
				add(j, FINDING_STATE, NONE,
					arena_printf(j->a, "state '%s' is never entered",
						w->states[i].name)),
				w->states[i].name);
	for (size_t i = 0; i < w->n_edges; i++) {
		const struct workflow_edge *e = &w->edges[i];
		const struct workflow_state *from = workflow_state(w, e->from);
		struct finding *f;
		char *text = arena_printf(j->a, "transition '%s --> %s : %s' is never taken",
			e->from, e->to, e->trigger);

		if (j->k->taken[i])
			continue;
		if (!step_gives(w, e)) {
			note(j, arena_printf(j->a, "%s: no step of '%s' gives '%s'", text, e->from,
					e->trigger));
		} else if (from && j->k->visited[from - w->states]) {
			f = add(j, FINDING_EDGE, NONE, text);
			f->line = e->line;
			f->col = e->col;
		}
	}
}

static bool any_error(const struct walk *k)
{
	for (uint32_t i = 0; i < k->n_nodes; i++)
		if (k->nodes[i].kind == NODE_ERROR)
			return true;
	return false;
}

void findings_of(const struct walk *k, struct arena *a, struct findings *out)
{
	struct judge j = {k, a, out, NULL};

	*out = (struct findings){0};
	j.ways = graph_ways(k, a);
	find_broken(&j);
	find_errors(&j);
	find_livelocks(&j);
	if (!k->complete)
		return;
	find_dead_ends(&j);
	find_limits(&j);
	if (!any_error(k)) /* what lies behind one is not seen */
		find_unreached(&j);
}
