#include "src/base/clock.h"
#include "src/verify/explore_graph.h"
#include "steps/steps.h"

/* ---- findings ---- */

struct finder {
	const struct explore_graph *graph;
	struct arena *arena;
	struct explore_findings *out;
	enum explore_exit *exits;
};

const char *explore_finding_name(enum explore_finding_kind kind)
{
	static const char *const names[] = {[FINDING_DEAD_END] = "dead end",
		[FINDING_LIVELOCK] = "livelock",
		[FINDING_LIMIT] = "only a limit",
		[FINDING_STATE] = "unreachable state",
		[FINDING_TRANSITION] = "unreachable transition"};

	return names[kind];
}

/* A finding about `state`. */
static struct explore_finding *add_finding(const struct finder *f, enum explore_finding_kind kind,
	uint32_t node, const char *state, const char *text)
{
	const struct workflow_state *fs = workflow_state(f->graph->workflow, state);

	vec_push_in(f->arena, &f->out->list,
		(struct explore_finding){.kind = kind,
			.text = text,
			.line = fs ? fs->line : 0,
			.col = fs ? fs->col : 0,
			.node = node,
			.last = EXPLORE_NONE});
	return &f->out->list.items[f->out->list.n - 1];
}

static bool find_errors(const struct finder *f)
{
	bool any = false;

	for (uint32_t i = 0; i < f->graph->nodes.n; i++) {
		const struct explore_node *n = &f->graph->nodes.items[i];

		if (n->kind != NODE_ERROR)
			continue;
		any = true;
		add_finding(f,
			strstr(n->error, "runs in a circle") ? FINDING_LIVELOCK : FINDING_DEAD_END,
			i, n->state,
			arena_printf(
				f->arena, "after '%s' every step fails: %s", n->state, n->error));
	}
	return any;
}

static bool is_trapped(const struct finder *f, uint32_t node)
{
	return f->exits[node] >= EXIT_BY_TROUBLESHOOTER;
}

/* The lowest node of the weakly connected group. */
static uint32_t group_root(uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

/* Groups the trapped nodes that edges connect. */
static uint32_t *trapped_groups(const struct finder *f)
{
	const struct explore_graph *g = f->graph;
	uint32_t *group = arena_alloc(f->arena, g->nodes.n * sizeof(*group));

	for (uint32_t i = 0; i < g->nodes.n; i++)
		group[i] = i;
	for (size_t i = 0; i < g->edges.n; i++) {
		uint32_t from = g->edges.items[i].from, to = g->edges.items[i].to;

		if (!is_trapped(f, from) || !is_trapped(f, to))
			continue;
		from = group_root(group, from);
		to = group_root(group, to);
		group[from > to ? from : to] = from > to ? to : from;
	}
	return group;
}

/* The states of a group in the order in which they were found; NULL when a step fails in it, which
 * has its finding already. */
static const char *group_states(const struct finder *f, uint32_t *group, uint32_t root)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "");
	for (uint32_t i = root; i < f->graph->nodes.n; i++) {
		const struct explore_node *n = &f->graph->nodes.items[i];
		const char *name = arena_printf(f->arena, "'%s'", n->state);

		if (!is_trapped(f, i) || group_root(group, i) != root)
			continue;
		if (n->kind == NODE_ERROR)
			return NULL;
		if (n->kind != NODE_START && !strstr(text.s, name))
			buf_addf(&text, "%s%s", text.len ? ", " : "", name);
	}
	return arena_dup(f->arena, buf_str(&text));
}

static void find_dead_ends(const struct finder *f)
{
	uint32_t *group = trapped_groups(f);

	for (uint32_t i = 0; i < f->graph->nodes.n; i++) {
		const char *states;
		uint32_t node = i || f->graph->nodes.n == 1 ? i : 1; /* not the start itself */

		if (!is_trapped(f, i) || group[i] != i || !(states = group_states(f, group, i)))
			continue;
		add_finding(f, FINDING_DEAD_END, node, f->graph->nodes.items[node].state,
			arena_printf(f->arena,
				"from %s no answer leads to an end; only the troubleshooter can "
				"end the run",
				states));
	}
}

/* The finding shows at the first edge with `flag`. */
static void show_at(const struct finder *f, struct explore_finding *finding, unsigned flag)
{
	for (uint32_t i = 0; i < f->graph->edges.n && finding->last == EXPLORE_NONE; i++)
		if (f->graph->edges.items[i].flags & flag) {
			finding->last = i;
			finding->node = f->graph->edges.items[i].from;
		}
}

static enum explore_exit best_exit(const struct finder *f, const char *state)
{
	enum explore_exit best = EXIT_NONE;

	for (uint32_t i = 0; i < f->graph->nodes.n; i++) {
		const struct explore_node *n = &f->graph->nodes.items[i];

		if (n->kind == NODE_WORK && !strcmp(n->state, state) && f->exits[i] < best)
			best = f->exits[i];
	}
	return best;
}

static void find_limits(const struct finder *f)
{
	const struct workflow *w = f->graph->workflow;

	for (size_t s = 0; s < w->n_states; s++) {
		const char *state = w->states[s].name;

		if (best_exit(f, state) != EXIT_BY_LIMIT)
			continue;
		show_at(f,
			add_finding(f, FINDING_LIMIT, EXPLORE_NONE, state,
				arena_printf(f->arena,
					"from state '%s' only a limit ('max_retries') leads to an "
					"end",
					state)),
			EDGE_LIMIT);
	}
}

/* `'a' -> 'b' -> 'a'` */
static char *cycle_states(const struct finder *f, const struct explore_cycle *c)
{
	const struct explore_graph *g = f->graph;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *last = g->nodes.items[g->edges.items[c->edges[0]].from].state;

	buf_addf(&text, "'%s'", last);
	for (size_t i = 0; i < c->n; i++) {
		const char *state = g->nodes.items[g->edges.items[c->edges[i]].to].state;

		if (strcmp(state, last) != 0 || i + 1 == c->n)
			buf_addf(&text, " -> '%s'", state);
		last = state;
	}
	return arena_dup(f->arena, buf_str(&text));
}

/* A budget that the troubleshooter can reset ends nothing. */
static void find_refills(const struct finder *f)
{
	const struct explore_graph *g = f->graph;
	size_t i = 0;

	while (i < g->edges.n && !(g->edges.items[i].flags & EDGE_REFILL))
		i++;
	if (i == g->edges.n)
		return;
	show_at(f,
		add_finding(f, FINDING_LIVELOCK, EXPLORE_NONE,
			g->nodes.items[g->edges.items[i].from].state,
			arena_printf(f->arena,
				"the troubleshooter can reset what is spent ('%s'), so that no "
				"budget ends the run",
				g->edges.items[i].label->answers[0]->name)),
		EDGE_REFILL);
}

static void find_livelocks(const struct finder *f)
{
	size_t n;
	struct explore_cycle *list = explore_cycles(f->graph, f->arena, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t node = f->graph->edges.items[list[i].edges[0]].from;
		struct explore_finding *finding = add_finding(f, FINDING_LIVELOCK, node,
			f->graph->nodes.items[node].state,
			arena_printf(f->arena,
				"%s repeats for as long as agents answer, %u action%s a round; "
				"no limit but the budget ends it",
				cycle_states(f, &list[i]), list[i].cost,
				list[i].cost == 1 ? "" : "s"));

		finding->cycle = list[i].edges;
		finding->n_cycle = list[i].n;
	}
	find_refills(f);
}

/* Whether the step of the edge's state can set its trigger. */
static bool can_trigger(const struct workflow *w, const struct workflow_edge *e)
{
	const struct step *step = steps_find(w, e->from);
	const struct workflow_state *fs = workflow_state(w, e->from);

	for (size_t i = 0; fs && fs->declared && i < fs->declared->n; i++)
		for (size_t o = 0; o < fs->declared->items[i].n_outcomes; o++)
			if (!strcmp(fs->declared->items[i].outcomes[o].trigger, e->trigger))
				return true;
	for (size_t i = 0; step && step->triggers[i]; i++)
		if (!strcmp(step->triggers[i], e->trigger))
			return true;
	return !strcmp(e->from, w->initial);
}

static void find_untaken(const struct finder *f, const struct workflow_edge *e)
{
	const struct workflow *w = f->graph->workflow;
	const struct workflow_state *from = workflow_state(w, e->from);
	const char *text = arena_printf(
		f->arena, "transition '%s --> %s : %s' is never taken", e->from, e->to, e->trigger);
	struct explore_finding *finding;

	if (!can_trigger(w, e)) {
		vec_push_in(f->arena, &f->out->notes,
			arena_printf(f->arena, "%s: no step of '%s' gives '%s'", text, e->from,
				e->trigger));
	} else if (from && f->graph->visited[from - w->states]) {
		finding = add_finding(f, FINDING_TRANSITION, EXPLORE_NONE, e->from, text);
		finding->line = e->line;
		finding->col = e->col;
	}
}

static void find_unreached(const struct finder *f)
{
	const struct workflow *w = f->graph->workflow;

	for (size_t i = 0; i < w->n_states; i++)
		if (!f->graph->visited[i] && strcmp(w->states[i].name, w->initial) != 0)
			add_finding(f, FINDING_STATE, EXPLORE_NONE, w->states[i].name,
				arena_printf(f->arena, "state '%s' is never entered",
					w->states[i].name));
	for (size_t i = 0; i < w->n_edges; i++)
		if (!f->graph->taken[i])
			find_untaken(f, &w->edges[i]);
}

void explore_find(const struct explore_graph *g, struct arena *a, struct explore_findings *out)
{
	struct finder f = {g, a, out, explore_exits(g, a)};
	bool errors;

	*out = (struct explore_findings){0};
	errors = find_errors(&f);
	find_livelocks(&f);
	if (!g->complete)
		return;
	find_dead_ends(&f);
	find_limits(&f);
	if (!errors) /* what lies behind a failing step is not known */
		find_unreached(&f);
}

/* ---- report ---- */

struct explore_report {
	const struct explore_graph *graph;
	const struct explore_findings *findings;
	int64_t least, most;
	struct buf *out;
};

static void print_figures(const struct explore_report *r)
{
	const struct explore_graph *g = r->graph;
	const char *file = g->workflow->file;

	buf_addf(r->out, "%s: %zu states, %zu transitions; the engine was called %zu times\n", file,
		g->nodes.n, g->edges.n, g->calls);
	if (r->least >= 0)
		buf_addf(
			r->out, "%s: at least %lld actions to 'done'\n", file, (long long)r->least);
	if (r->most >= 0)
		buf_addf(r->out,
			"%s: at most %lld actions before a person is asked or the run is over\n",
			file, (long long)r->most);
	if (!g->complete)
		buf_addf(r->out, "%s: not finished: stopped at %zu states (see --states)\n", file,
			g->nodes.n);
}

static void print_findings(const struct explore_report *r)
{
	const char *file = r->graph->workflow->file;

	for (size_t i = 0; i < r->findings->notes.n; i++)
		buf_addf(r->out, "%s: note: %s\n", file, r->findings->notes.items[i]);
	for (size_t i = 0; i < r->findings->list.n; i++) {
		const struct explore_finding *f = &r->findings->list.items[i];

		buf_adds(r->out, file);
		if (f->line)
			buf_addf(r->out, ":%u:%u", f->line, f->col);
		buf_addf(r->out, ": %s: %s", explore_finding_name(f->kind), f->text);
		if (f->node != EXPLORE_NONE)
			buf_addf(r->out, " (--trace %zu)", i + 1);
		buf_addc(r->out, '\n');
	}
	if (!r->findings->list.n && r->graph->complete)
		buf_addf(r->out, "%s: free of findings\n", file);
}

static json *finding_json(const struct explore_finding *f)
{
	json *j = json_object();

	json_put_str(j, "kind", str_of(explore_finding_name(f->kind)));
	json_put_str(j, "text", str_of(f->text));
	if (f->line)
		json_put_int(j, "line", f->line);
	if (f->line)
		json_put_int(j, "col", f->col);
	json_put_bool(j, "trace", f->node != EXPLORE_NONE);
	return j;
}

static void print_json(const struct explore_report *r)
{
	const struct explore_graph *g = r->graph;
	CLEANUP(json_free) json *j = json_object();
	json *findings = json_array(), *notes = json_array();

	json_put_str(j, "file", str_of(g->workflow->file));
	json_put_bool(j, "complete", g->complete);
	json_put_int(j, "states", (int64_t)g->nodes.n);
	json_put_int(j, "transitions", (int64_t)g->edges.n);
	json_put_int(j, "calls", (int64_t)g->calls);
	if (r->least >= 0)
		json_put_int(j, "least_actions", r->least);
	if (r->most >= 0)
		json_put_int(j, "most_actions", r->most);
	for (size_t i = 0; i < r->findings->list.n; i++)
		json_push(findings, finding_json(&r->findings->list.items[i]));
	for (size_t i = 0; i < r->findings->notes.n; i++)
		json_push_str(notes, str_of(r->findings->notes.items[i]));
	json_put(j, "findings", findings);
	json_put(j, "notes", notes);
	json_print(r->out, j);
	buf_addc(r->out, '\n');
}

static int report(const struct explore_graph *g, const struct explore_findings *f,
	const struct explore_options *options, struct buf *out, struct error *err)
{
	struct explore_report r = {.graph = g, .findings = f, .out = out};

	if (options->trace > f->list.n)
		return error_set(err, ERR_INPUT, "no finding %zu: there %s %zu", options->trace,
			f->list.n == 1 ? "is" : "are", f->list.n);
	if (options->trace)
		return explore_trace(
			g, &f->list.items[options->trace - 1], options->trace, out, err);
	r.least = explore_least_actions(g);
	r.most = g->complete ? explore_most_actions(g, true) : -1;
	if (options->json) {
		print_json(&r);
	} else {
		print_figures(&r);
		print_findings(&r);
	}
	return f->list.n || !g->complete ? ERR_CHECK : 0;
}

int explore_workflow(const struct workflow *w, const struct explore_options *options,
	struct buf *out, struct error *err)
{
	CLEANUP(explore_graph_release) struct explore_graph g = {0};
	struct explore_findings f;
	int rc;

	explore_graph_build(&g, w, options, NULL, NULL);
	explore_find(&g, &g.arena, &f);
	rc = report(&g, &f, options, out, err);
	clock_fix(-1);
	return rc;
}
