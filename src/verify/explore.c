/* explore.c: the findings about a workflow, the trace of one, and the report. */
#include "src/verify/explore.h"
#include "steps/steps.h"

/* ---- findings ---- */

struct finder {
	const struct explore_graph *graph;
	struct arena *arena;
	struct explore_findings *out;
	const int64_t *exits;
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
static struct explore_finding *explore_add_finding(const struct finder *f,
	enum explore_finding_kind kind, uint32_t node, const char *state, const char *text)
{
	const struct workflow_state *st = workflow_state(f->graph->workflow, state);

	vec_push_in(f->arena, &f->out->list,
		(struct explore_finding){.kind = kind,
			.text = text,
			.line = st ? st->line : 0,
			.col = st ? st->col : 0,
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
		explore_add_finding(f,
			strstr(n->error, EXPLORE_CIRCLE) ? FINDING_LIVELOCK : FINDING_DEAD_END, i,
			n->state,
			arena_printf(
				f->arena, "after '%s' every step fails: %s", n->state, n->error));
	}
	return any;
}

static bool is_trapped(const struct finder *f, uint32_t node)
{
	return f->exits[node] >= EXIT_BY_TROUBLESHOOTER;
}

/* By node: the lowest trapped node that edges between trapped nodes connect it with. */
static uint32_t *trapped_groups(const struct finder *f)
{
	const struct explore_graph *g = f->graph;
	uint32_t *group = arena_alloc(f->arena, g->nodes.n * sizeof(*group));

	for (uint32_t i = 0; i < g->nodes.n; i++)
		group[i] = i;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < g->edges.n; i++) {
			uint32_t from = g->edges.items[i].from, to = g->edges.items[i].to,
				 low = group[from] < group[to] ? group[from] : group[to];

			if (!is_trapped(f, from) || !is_trapped(f, to) || group[from] == group[to])
				continue;
			group[from] = group[to] = low;
			changed = true;
		}
	}
	return group;
}

/* The states of a group in the order in which they were found; NULL when a step fails in it, which
 * has its finding already. */
static const char *group_states(const struct finder *f, const uint32_t *group, uint32_t root)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "");
	for (uint32_t i = root; i < f->graph->nodes.n; i++) {
		const struct explore_node *n = &f->graph->nodes.items[i];
		const char *name = arena_printf(f->arena, "'%s'", n->state);

		if (!is_trapped(f, i) || group[i] != root)
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
		explore_add_finding(f, FINDING_DEAD_END, node, f->graph->nodes.items[node].state,
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

static int64_t best_exit(const struct finder *f, const char *state)
{
	int64_t best = EXIT_NONE;

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
			explore_add_finding(f, FINDING_LIMIT, EXPLORE_NONE, state,
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

static void find_livelocks(const struct finder *f)
{
	size_t n;
	struct explore_cycle *list = explore_cycles(f->graph, f->arena, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t node = f->graph->edges.items[list[i].edges[0]].from;
		struct explore_finding *finding = explore_add_finding(f, FINDING_LIVELOCK, node,
			f->graph->nodes.items[node].state,
			arena_printf(f->arena,
				"%s repeats for as long as agents answer, %u action%s a round; "
				"no limit but the budget ends it",
				cycle_states(f, &list[i]), list[i].cost,
				list[i].cost == 1 ? "" : "s"));

		finding->cycle = list[i].edges;
		finding->n_cycle = list[i].n;
	}
}

/* Whether the step of the edge's state can set its trigger. */
static bool can_trigger(const struct workflow *w, const struct workflow_edge *e)
{
	const struct step *step = steps_find(w, e->from);
	const struct workflow_state *st = workflow_state(w, e->from);

	for (size_t i = 0; st && st->declared && i < st->declared->n; i++)
		for (size_t o = 0; o < st->declared->items[i].n_outcomes; o++)
			if (!strcmp(st->declared->items[i].outcomes[o].trigger, e->trigger))
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
		finding = explore_add_finding(f, FINDING_TRANSITION, EXPLORE_NONE, e->from, text);
		finding->line = e->line;
		finding->col = e->col;
	}
}

static void find_unreached(const struct finder *f)
{
	const struct workflow *w = f->graph->workflow;

	for (size_t i = 0; i < w->n_states; i++)
		if (!f->graph->visited[i] && strcmp(w->states[i].name, w->initial) != 0)
			explore_add_finding(f, FINDING_STATE, EXPLORE_NONE, w->states[i].name,
				arena_printf(f->arena, "state '%s' is never entered",
					w->states[i].name));
	for (size_t i = 0; i < w->n_edges; i++)
		if (!f->graph->taken[i])
			find_untaken(f, &w->edges[i]);
}

static bool fires(const struct explore_graph *g, const bool *reached, const char *trigger)
{
	for (size_t i = 0; i < g->nodes.n; i++)
		if (reached[i] && g->nodes.items[i].trigger &&
			!strcmp(g->nodes.items[i].trigger, trigger))
			return true;
	return false;
}

/* Whether a trigger should fire by its default too. The shipped workflows enter `reviewing` once.
 */
static bool default_fires(const struct workflow *w, const char *trigger)
{
	if (strcmp(trigger, "signoff_deadlock") == 0)
		return workflow_state(w, "signoff") != NULL;
	return strcmp(trigger, "review_loop") != 0;
}

/* Limits that no run reaches: those that the file gives, and the defaults of states that it has. */
static void find_idle_triggers(const struct finder *f)
{
	const struct workflow *w = f->graph->workflow;
	const struct {
		const char *trigger, *counter;
		unsigned long limit;
		bool given;
	} rows[] = {
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset)                                        \
	{trigger, #key, w->limits.limit, w->places.limit.line},
#include "context/counters.h"
	};
	const bool *reached = explore_reached(f->graph, f->arena);

	for (size_t i = 0; reached && i < COUNT(rows); i++)
		if ((rows[i].given || default_fires(w, rows[i].trigger)) &&
			!fires(f->graph, reached, rows[i].trigger))
			vec_push_in(f->arena, &f->out->notes,
				arena_printf(f->arena,
					"trigger '%s' never fires: no action is requested with "
					"'%s' at %lu",
					rows[i].trigger, rows[i].counter, rows[i].limit));
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
	if (errors) /* what lies behind a failing step is not known */
		return;
	find_unreached(&f);
	find_idle_triggers(&f);
}

/* ---- traces ---- */

enum { SHOWN_ROUNDS = 3 }; /* of a livelock */

/* The script, written while the path is replayed. */
struct explore_replay {
	const struct explore_graph *graph;
	struct simulator *simulator;
	json *printed;
	struct buf answers, scripts, people;
	bool failed; /* the last step failed, as it may at the end of a path */
};

static void trace_release(struct explore_replay *t)
{
	simulator_free(&t->simulator);
	json_free(&t->printed);
	buf_release(&t->answers);
	buf_release(&t->scripts);
	buf_release(&t->people);
}

static void write_entry(
	struct explore_replay *t, const json *action, const struct explore_answer *answer)
{
	struct buf *out = action_kind(action) == ACTION_SCRIPT ? &t->scripts : &t->answers;
	struct str text = str_of(answer->text), line;

	buf_addf(out, "  %s:  # %s: %s\n", json_get_str(action, "id"),
		json_get_str(action, "write_section"), answer->name);
	if (answer->silent) {
		buf_adds(out, "    silent: true\n");
		return;
	}
	buf_adds(out, "    text: |-\n");
	while (str_line(&text, &line))
		buf_addf(out, "%s%.*s\n", line.n ? "      " : "", (int)line.n, line.p);
	if (answer->word)
		buf_addf(out, "    result: %s\n", answer->word);
}

static void write_answer(
	struct explore_replay *t, const json *action, const struct explore_answer *answer)
{
	const char *id = json_get_str(action, "id");
	bool child = action_kind(action) == ACTION_CHILD;

	if (!child && !json_get(action, "for"))
		write_entry(t, action, answer);
	else if (child && !answer->silent)
		buf_addf(&t->people,
			"#   answers of the child of %s here, with which it ends with '%s'\n", id,
			answer->word);
	else if (!answer->silent)
		buf_addf(&t->people, "#   dev-team %s --context-file FILE  # %s\n",
			strcmp(answer->word, "approved") ? "reject T-1 TEXT" : "approve T-1", id);
}

static int replay_answers(
	struct explore_replay *t, const struct explore_edge *e, struct arena *a, struct error *err)
{
	bool changes = t->graph->nodes.items[e->from].changes > 0;
	const struct explore_answers *choices =
		explore_choices(a, t->simulator, t->printed, changes);
	size_t i = 0;

	if (json_len(t->printed) != e->n)
		return error_set(err, ERR_CHECK, "another array was printed");
	for (const json *action = json_first(t->printed); action; action = json_next(action), i++) {
		const struct explore_answer *answer = &choices[i].items[e->chosen[i]];
		struct simulator_call call = {.action = json_get_str(action, "id"),
			.word = answer->word,
			.text = str_of(answer->text ? answer->text : "")};

		write_answer(t, action, answer);
		if (!answer->silent && simulator_invoke(t->simulator, &call, NULL, err) < 0)
			return -1;
	}
	return 0;
}

static int replay_user(struct explore_replay *t, enum explore_input input, struct error *err)
{
	struct simulator_call call = explore_user_call(input);

	buf_addf(&t->people, "#   dev-team context set FILE %s <<< '%s'\n", call.key, call.text.p);
	return simulator_invoke(t->simulator, &call, NULL, err);
}

static int replay_input(struct explore_replay *t, const struct explore_edge *e, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};

	if (e->input == INPUT_STEP)
		return 0;
	return e->input == INPUT_ANSWERS ? replay_answers(t, e, &a, err)
					 : replay_user(t, e->input, err);
}

/* A script of answers cannot say what git and the forge find. */
static void replay_evidence(struct explore_replay *t, const struct explore_edge *e)
{
	t->simulator->environment.refuted = e->refuted;
	t->simulator->environment.moved = e->moved;
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if (e->refuted >> i & 1)
			buf_addf(&t->answers, "  # now the evidence is against it: %s\n",
				evidence_name(1u << i));
	if (e->moved)
		buf_adds(&t->answers, "  # now HEAD is another commit\n");
}

static int explore_check_node(const struct explore_replay *t, uint32_t node, struct error *err)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const struct explore_node *n = &t->graph->nodes.items[node];

	explore_key_now(&t->graph->rules, t->simulator, n->changes, &key);
	if (strcmp(key.s, n->key) != 0)
		return error_set(err, ERR_CHECK, "the trace leads elsewhere");
	return 0;
}

static int replay_edges(
	struct explore_replay *t, const uint32_t *edges, size_t n, struct error *err)
{
	for (size_t i = 0; i < n && !t->failed; i++) {
		const struct explore_edge *e = &t->graph->edges.items[edges[i]];
		struct simulator_call call = {.returned = e->input == INPUT_ANSWERS};

		if (replay_input(t, e, err) < 0)
			return -1;
		replay_evidence(t, e);
		json_free(&t->printed);
		t->failed = simulator_invoke(t->simulator, &call, &t->printed, err) < 0;
		if (t->failed != (t->graph->nodes.items[e->to].kind == NODE_ERROR))
			return error_prefix(err, "the trace stops early");
		if (!t->failed && explore_check_node(t, e->to, err) < 0)
			return -1;
	}
	return 0;
}

static int replay_finding(struct explore_replay *t, struct arena *a,
	const struct explore_finding *f, struct error *err)
{
	uint32_t *edges;
	size_t n;

	if (!explore_path(t->graph, a, f->node, &edges, &n))
		return error_set(err, ERR_CHECK, "the budget is too large to search for a trace");
	if (replay_edges(t, edges, n, err) < 0)
		return -1;
	for (unsigned i = 0; i < SHOWN_ROUNDS && f->n_cycle; i++)
		if (replay_edges(t, f->cycle, f->n_cycle, err) < 0)
			return -1;
	return f->last == EXPLORE_NONE ? 0 : replay_edges(t, &f->last, 1, err);
}

/* Nobody answers the last actions; but a script without an entry would really run. */
static void write_last(struct explore_replay *t)
{
	for (const json *a = json_first(t->printed); a; a = json_next(a))
		if (action_kind(a) == ACTION_SCRIPT)
			buf_addf(&t->scripts,
				"  %s:  # the trace ends here\n    run: exit 1\n    silent: true\n",
				json_get_str(a, "id"));
}

static void write_script(
	struct explore_replay *t, const struct explore_finding *f, size_t number, struct buf *out)
{
	const char *end = "where this file has no answer; there the finding shows";

	if (t->failed)
		end = "with a step that fails";
	else if (strcmp(json_get_str(json_first(t->printed), "action"), "done") == 0)
		end = "with the run, or with a question";
	buf_addf(out, "# Finding %zu of 'dev-team workflow explore %s', %s:\n# %s\n", number,
		t->graph->workflow->file, explore_finding_name(f->kind), f->text);
	buf_addf(out,
		"#\n# In a scratch repository with a file _spec_T-1.md:\n"
		"#   dev-team run T-1 --workflow WORKFLOW --agents THIS-FILE --context-file "
		"scratch/T-1.md\n# It ends %s.\n",
		end);
	if (f->n_cycle)
		buf_addf(out, "# %u rounds are shown.\n", SHOWN_ROUNDS);
	if (t->people.len)
		buf_addf(out,
			"# Where the run stops, a person enters this and runs the same command "
			"again:\n%s",
			t->people.s);
	write_last(t);
	if (t->answers.len)
		buf_addf(out, "answers:\n%s", t->answers.s);
	if (t->scripts.len)
		buf_addf(out, "scripts:\n%s", t->scripts.s);
	if (!t->answers.len && !t->scripts.len)
		buf_adds(out, "answers: {}\n");
}

int explore_trace(const struct explore_graph *g, const struct explore_finding *f, size_t number,
	struct buf *out, struct error *err)
{
	CLEANUP(trace_release) struct explore_replay t = {.graph = g};
	CLEANUP(arena_release) struct arena a = {0};

	if (f->node == EXPLORE_NONE)
		return error_set(err, ERR_CHECK, "this finding has no trace");
	t.simulator = simulator_new(g->workflow, "T-1", &simulator_in_memory);
	if (replay_finding(&t, &a, f, err) < 0)
		return -1;
	write_script(&t, f, number, out);
	return 0;
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
	return JSON_OBJECT(JSON_TEXT("kind", explore_finding_name(f->kind)),
		JSON_TEXT("text", f->text), JSON_IF(f->line, JSON_INT("line", f->line)),
		JSON_IF(f->line, JSON_INT("col", f->col)),
		JSON_BOOL("trace", f->node != EXPLORE_NONE));
}

static void print_json(const struct explore_report *r)
{
	const struct explore_graph *g = r->graph;
	json *findings = json_array(), *notes = json_array(), *j;

	for (size_t i = 0; i < r->findings->list.n; i++)
		json_push(findings, finding_json(&r->findings->list.items[i]));
	for (size_t i = 0; i < r->findings->notes.n; i++)
		json_push_str(notes, str_of(r->findings->notes.items[i]));
	j = JSON_OBJECT(JSON_TEXT("file", g->workflow->file), JSON_BOOL("complete", g->complete),
		JSON_INT("states", g->nodes.n), JSON_INT("transitions", g->edges.n),
		JSON_INT("calls", g->calls),
		JSON_IF(r->least >= 0, JSON_INT("least_actions", r->least)),
		JSON_IF(r->most >= 0, JSON_INT("most_actions", r->most)),
		JSON_VALUE("findings", findings), JSON_VALUE("notes", notes));
	json_print_line(r->out, j);
}

static int explore_report(const struct explore_graph *g, const struct explore_findings *f,
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
	r.most = g->complete ? explore_most_actions(g) : -1;
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

	explore_graph_build(&g, w, options, &simulator_in_memory);
	explore_find(&g, &g.arena, &f);
	return explore_report(&g, &f, options, out, err);
}
