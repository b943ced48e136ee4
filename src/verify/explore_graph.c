/* explore_graph.c: builds the state graph: the possible answers, the nodes, the edges. */
#include <search.h>
#include "src/config/violation.h"
#include "src/verify/explore.h"

/* Above ALL_OUTCOMES actions, at most two fail at once; above FEW, one. */
enum { ALL_OUTCOMES = 3, FEW = 8 };

/* ---- the answers to an action ---- */

static struct explore_answer *add(
	struct explore_answers *l, const char *name, const char *word, const char *text)
{
	vec_push_in(l->arena, l, (struct explore_answer){.name = name, .word = word, .text = text});
	return &l->items[l->n - 1];
}

static struct explore_answer *add_silent(struct explore_answers *l, const char *name)
{
	struct explore_answer *answer = add(l, name, NULL, NULL);

	answer->silent = true;
	return answer;
}

const char *explore_expected_text(const char *section)
{
	static const struct {
		const char *section, *text;
	} table[] = {
		{CONTEXT_PULL_REQUEST, "https://git.example/o/r/pull/1"},
		{CONTEXT_DEBUG_REPORT, "# Debug report for the work item"},
	};

	for (size_t i = 0; i < COUNT(table); i++)
		if (strcmp(table[i].section, section) == 0)
			return table[i].text;
	return NULL;
}

const char *explore_result_word(struct arena *a, const json *action, size_t i)
{
	struct str rest = str_of(json_get_str(action, "result_format"));

	for (;; i--) {
		size_t end = str_find(rest, STR("|"));

		if (!i)
			return rest.n ? arena_dup(a, str_trim(str_sub(rest, 0, end))) : NULL;
		if (end == rest.n)
			return NULL;
		rest = str_sub(rest, end + 1, rest.n);
	}
}

static void agent_answers(struct explore_answers *l, const json *action)
{
	const char *expected = explore_expected_text(json_get_str(action, "write_section")), *word;

	for (size_t i = 0; (word = explore_result_word(l->arena, action, i)); i++)
		add(l, word, word,
			arena_printf(l->arena, "%s%sThe result is %s.", expected ? expected : "",
				expected ? "\n\n" : "", word));
	add_silent(l, "no answer");
	word = explore_result_word(l->arena, action, 0);
	if (expected)
		add(l, arena_printf(l->arena, "%s, without the expected text", word), word,
			"There is a result.");
	add(l, "prose without a verdict", NULL, "There is nothing to report.");
	add(l, "prose that approves", NULL, "Approved.\n\nvalidated");
}

/* The policy denied the command; what that means is up to the policy unless the workflow says. */
static void violation_answers(struct explore_answers *l, const json *security)
{
	const char *declared = json_get_str(security, "violation");

	for (int v = VIOLATION_HARD_ABORT; security && v <= VIOLATION_VALIDATION_FAIL; v++) {
		const char *name = violation_name((enum violation)v);

		if (declared && strcmp(declared, name) != 0)
			continue;
		add(l, arena_printf(l->arena, "security violation, %s", name), NULL,
			arena_printf(l->arena,
				"failed \xe2\x80\x94 security violation: write: denied\n\n"
				"{\"status\":\"failed\",\"violation\":\"%s\",\"rule\":\"write\","
				"\"reason\":\"denied\"}",
				name));
	}
}

static void script_answers(struct explore_answers *l, const json *action)
{
	add(l, "passed", NULL, "passed \xe2\x80\x94 log: /work/logs/script.log");
	add(l, "failed", NULL, "failed \xe2\x80\x94 log: /work/logs/script.log");
	violation_answers(l, json_get(action, "security"));
	add_silent(l, "no answer");
	add_silent(l, "still running")->running = true;
}

/* `change`: one member of `state_changes`, or NULL. */
static void add_decision(
	struct explore_answers *l, const char *word, const char *name, const char *change)
{
	const char *text = arena_printf(l->arena,
		"The decision:\n{\"action\": \"%s\", \"reason\": \"explored\"%s%s%s}", word,
		change ? ", \"state_changes\": [" : "", change ? change : "", change ? "]" : "");

	add(l, name, NULL, text)->change = change != NULL;
}

static void add_key_change(struct explore_answers *l, const char *key, const char *value)
{
	add_decision(l, "continue", arena_printf(l->arena, "continue, %s = '%s'", key, value),
		arena_printf(l->arena, "{\"key\": \"%s\", \"value\": \"%s\"}", key, value));
}

static void add_section_change(struct explore_answers *l, const char *section, const char *text)
{
	add_decision(l, "continue",
		arena_printf(l->arena, "continue, section '%s' %s", section,
			*text ? "written" : "emptied"),
		arena_printf(l->arena, "{\"section\": \"%s\", \"text\": \"%s\"}", section, text));
}

static void change_answers(
	struct explore_answers *l, const struct workflow *w, const char *const *sections)
{
	static const char *const counters[] = {"fix_iteration", "review_fix_iteration",
		"signoff_cycle_count", "review_cycle_count", "consecutive_failures",
		"actions_dispatched", "budget_extensions"};

	for (size_t i = 0; i < w->n_states; i++)
		if (strcmp(w->states[i].name, w->initial) != 0)
			add_key_change(l, "state", w->states[i].name);
	for (size_t i = 0; i < COUNT(counters); i++)
		add_key_change(l, counters[i], "0");
	add_key_change(l, "pr_url", "");
	add_key_change(l, "spec_path", "");
	for (; *sections; sections++) {
		add_section_change(l, *sections, "");
		add_section_change(l, *sections, "There is nothing to report.");
	}
}

void explore_answers(struct arena *a, const struct workflow *w, const json *action, bool changes,
	const char *const *sections, struct explore_answers *out)
{
	static const char *const decisions[] = {"continue", "terminate", "needs_user_input"};

	*out = (struct explore_answers){.arena = a};
	if (strcmp(json_get_str(action, "action"), "run_script") == 0) {
		script_answers(out, action);
	} else if (!json_get_str(action, "trigger")) {
		agent_answers(out, action);
	} else {
		for (size_t i = 0; i < COUNT(decisions); i++)
			add_decision(out, decisions[i], decisions[i], NULL);
		add_silent(out, "no answer");
		if (changes)
			change_answers(out, w, sections);
	}
}

/* ---- storage ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(
		((const struct explore_text *)a)->text, ((const struct explore_text *)b)->text);
}

const struct explore_text *explore_texts_add(
	struct explore_texts *t, struct arena *a, const char *text, bool *added)
{
	struct explore_text probe = {text, t->n}, *copy, **found;

	found = tsearch(&probe, &t->tree, by_text);
	*added = *found == &probe;
	if (*added) {
		copy = arena_alloc(a, sizeof(*copy));
		*copy = (struct explore_text){arena_dup(a, str_of(text)), t->n++};
		*found = copy;
	}
	return *found;
}

static void keep_text(void *text)
{
	(void)text;
}

void explore_texts_release(struct explore_texts *t)
{
	tdestroy(t->tree, keep_text);
}

static uint32_t add_node(struct explore_graph *g, const char *key, bool *added)
{
	const struct explore_text *text = explore_texts_add(&g->keys, &g->arena, key, added);

	if (*added)
		vec_push(
			&g->nodes, (struct explore_node){
					   .key = text->text, .state = "", .parent = EXPLORE_NONE});
	return text->number;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The graph's own copy of an answer. */
static const struct explore_answer *keep_answer(
	struct explore_graph *g, const struct explore_answer *answer)
{
	struct explore_answer *copy;

	for (size_t i = 0; i < g->answers.n; i++)
		if (same_text(g->answers.items[i]->name, answer->name) &&
			same_text(g->answers.items[i]->text, answer->text))
			return g->answers.items[i];
	copy = arena_alloc(&g->arena, sizeof(*copy));
	*copy = *answer;
	copy->name = arena_dup(&g->arena, str_of(answer->name));
	copy->word = answer->word ? arena_dup(&g->arena, str_of(answer->word)) : NULL;
	copy->text = answer->text ? arena_dup(&g->arena, str_of(answer->text)) : NULL;
	vec_push(&g->answers, copy);
	return copy;
}

static const struct explore_label *keep_label(
	struct explore_graph *g, const struct explore_label *label)
{
	struct explore_label *copy = arena_alloc(&g->arena, sizeof(*copy));
	const struct explore_answer **answers =
		arena_alloc(&g->arena, (label->n + 1) * sizeof(struct explore_answer *));

	for (size_t i = 0; i < label->n; i++)
		answers[i] = keep_answer(g, label->answers[i]);
	*copy = (struct explore_label){label->input, label->n, answers};
	return copy;
}

/* Adds an edge of the node that is being expanded; false when there is such an edge already. */
static bool add_edge(struct explore_graph *g, const struct explore_edge *e, bool new_node)
{
	struct explore_node *from = &g->nodes.items[e->from];

	for (uint32_t i = from->edge; i < from->edge + from->n_edges; i++) {
		const struct explore_edge *other = &g->edges.items[i];

		if (other->to == e->to && other->flags == e->flags && other->cost >= e->cost)
			return false;
	}
	vec_push(&g->edges, *e);
	g->edges.items[g->edges.n - 1].label = keep_label(g, e->label);
	from->n_edges++;
	if (new_node)
		g->nodes.items[e->to].parent = (uint32_t)g->edges.n - 1;
	return true;
}

/* ---- trials ---- */

static void set_key(struct explore_trial *t, unsigned changes)
{
	struct error err;

	t->changes = changes;
	buf_clear(&t->key);
	(void)explore_key_now(&t->graph->rules, t->simulator, changes, &t->key, &err);
}

void explore_trial_begin(
	struct explore_trial *t, struct explore_graph *g, uint32_t node, const struct simulator *at)
{
	*t = (struct explore_trial){.graph = g,
		.simulator = simulator_copy(at),
		.changes = g->nodes.items[node].changes};
}

void explore_trial_end(struct explore_trial *t)
{
	simulator_free(&t->simulator);
	buf_release(&t->key);
}

int explore_trial_record(struct explore_trial *t, const char *owner, const json *action,
	const struct explore_answer *answer, struct error *err)
{
	enum answer_outcome outcome;

	t->graph->calls++;
	if (simulator_record(t->simulator, owner, json_get_str(action, "id"), answer->word,
		    str_of(answer->text), &outcome, err) < 0)
		return -1;
	set_key(t, t->changes);
	return 0;
}

int explore_trial_step(struct explore_trial *t, const struct simulator_call *call, json **printed,
	struct error *err)
{
	t->graph->calls++;
	t->simulator->environment.requested = 0;
	if (simulator_step(t->simulator, call, printed, err) < 0)
		return -1;
	set_key(t, t->changes);
	return 0;
}

/* ---- transitions ---- */

/* What the journal says about one step. */
struct step_events {
	uint32_t dispatched;
	bool changed, terminated, limit;
};

/* One step of a round. */
struct transition {
	unsigned flags;
	bool change;    /* the chosen answer is a change by the troubleshooter, */
	uint32_t to;    /* out: EXPLORE_NONE: the step failed */
	uint32_t cost;  /* out */
	bool new_edge;  /* out */
	unsigned asked; /* out: effects that were requested */
};

static bool is(const json *event, const char *key, const char *value)
{
	return same_text(json_get_str(event, key), value);
}

static bool has(struct str line, const char *text)
{
	return str_find(line, str_of(text)) < line.n;
}

/* Marks the transition of the workflow as taken and its state as entered. */
static void mark_coverage(struct explore_graph *g, const json *event)
{
	const struct workflow *w = g->workflow;
	const struct workflow_state *to = workflow_state(w, json_get_str(event, "to"));

	if (to)
		g->visited[to - w->states] = true;
	for (size_t i = 0; i < w->n_edges; i++)
		if (is(event, "from", w->edges[i].from) &&
			is(event, "trigger", w->edges[i].trigger))
			g->taken[i] = true;
}

static void read_event(struct explore_graph *g, bool covers, struct str line, struct step_events *e)
{
	CLEANUP(json_free) json *event = NULL;
	struct error ignored;

	if (json_parse(&event, line, &ignored) < 0)
		return;
	e->dispatched += is(event, "type", "dispatch");
	e->changed |= is(event, "type", "change");
	if (!is(event, "type", "transition"))
		return;
	e->limit |= is(event, "trigger", "max_retries");
	e->terminated |=
		is(event, "trigger", "terminated") || is(event, "trigger", "security_violation");
	if (covers)
		mark_coverage(g, event);
}

/* Only the lines that matter are parsed. */
static void read_history(
	struct explore_graph *g, bool covers, struct simulator *s, struct step_events *e)
{
	CLEANUP(store_close) struct store *store = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	struct str line;
	struct error ignored;

	*e = (struct step_events){0};
	if (store_open(&store, store_files(s->disk), s->dir, s->id, STORE_HISTORY, 0, &ignored) <
			0 ||
		store_history(store, &(struct store_range){0}, &h, &ignored) != STORE_OK)
		return;
	while (store_history_next(h, &c, &ignored) > 0)
		while (str_line(&c.events, &line))
			if (has(line, "\"type\":\"dispatch\"") ||
				has(line, "\"type\":\"change\"") ||
				has(line, "\"type\":\"transition\""))
				read_event(g, covers, line, e);
}

static enum explore_node_kind kind_of(
	const struct explore_graph *g, const struct context *c, const json *printed)
{
	const json *first = json_first(printed);
	const struct workflow_state *state = workflow_state(g->workflow, context_get(c, "state").p);

	if (!is(first, "action", "done"))
		return NODE_WORK;
	if (json_get(first, "question"))
		return NODE_QUESTION;
	return state && !state->terminal ? NODE_GIVEN_UP : NODE_END;
}

static void fill_node(
	struct explore_graph *g, uint32_t i, const struct explore_trial *t, const json *printed)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct explore_node *n = &g->nodes.items[i];
	const char *trigger = json_get_str(json_first(printed), "trigger");
	struct buf text = BUF_INIT, document = BUF_INIT;
	struct error err;

	json_print(&text, printed);
	n->trigger = trigger ? arena_dup(&g->arena, str_of(trigger)) : NULL;
	n->printed = text.s;
	n->changes = t->changes;
	n->success = is(json_first(printed), "result", "success");
	if (simulator_open(t->simulator, &f, &err) < 0)
		return;
	n->kind = kind_of(g, &f.doc, printed);
	n->state = arena_dup(&g->arena, context_get(&f.doc, "state"));
	n->repeated = context_attempts(&f.doc, n->state) > 0;
	explore_key_trim(&g->rules, &f.doc);
	(void)context_render(&f.doc, &document, NULL, &err);
	n->document = document.s;
}

static void add_transition(
	struct explore_round *r, struct transition *t, uint32_t to, bool new_node)
{
	struct explore_label label = {.input = r->input, .n = r->n, .answers = r->chosen};
	struct explore_edge e = {
		.from = r->node, .to = to, .cost = t->cost, .flags = t->flags, .label = &label};

	t->to = to;
	t->new_edge = add_edge(r->graph, &e, new_node);
}

/* The step failed although nothing outside did. */
static void add_failure(struct explore_round *r, struct transition *t, const struct error *err)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	struct explore_graph *g = r->graph;
	const char *state = g->nodes.items[r->node].state;
	struct explore_node *n;
	char line[2048];
	bool added;
	uint32_t to;

	error_format(err, line, sizeof(line));
	buf_addf(&key, "error in %s: %s", state, line);
	to = add_node(g, key.s, &added);
	n = &g->nodes.items[to];
	n->kind = NODE_ERROR;
	n->state = state;
	n->error = n->key + (strlen(n->key) - strlen(line));
	n->changes = g->nodes.items[r->node].changes;
	t->cost = 0;
	add_transition(r, t, to, added);
}

static void add_success(struct explore_round *r, struct transition *t, struct explore_trial *trial,
	const json *printed)
{
	struct explore_graph *g = r->graph;
	unsigned changes = g->nodes.items[r->node].changes;
	bool covers = changes == g->nodes.items[0].changes && !t->change, added;
	struct step_events events;
	uint32_t to;

	read_history(g, covers, trial->simulator, &events);
	if (events.changed && t->change) {
		t->flags |= EDGE_CHANGE;
		changes -= changes > 0;
	}
	t->flags |= (events.limit ? EDGE_LIMIT : 0) | (events.terminated ? EDGE_TERMINATE : 0);
	t->cost = events.dispatched;
	if (changes != trial->changes)
		set_key(trial, changes);
	to = add_node(g, trial->key.s, &added);
	if (added)
		fill_node(g, to, trial, printed);
	add_transition(r, t, to, added);
}

static struct transition transition_of(const struct explore_round *r, unsigned flags)
{
	return (struct transition){
		.flags = flags, .to = EXPLORE_NONE, .change = r->n && r->chosen[0]->change};
}

/* Steps. `good`: where it leads when no effect fails; EXPLORE_NONE: that is this step. */
static void take_step(
	struct explore_round *r, const struct simulator *at, struct transition *t, uint32_t good)
{
	struct simulator_call call = {.returned = r->input == INPUT_ANSWERS};
	const struct explore_observer *o = r->graph->observer;
	CLEANUP(explore_trial_end) struct explore_trial trial;
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	explore_trial_begin(&trial, r->graph, r->node, at);
	if (explore_trial_step(&trial, &call, &printed, &err) == 0)
		add_success(r, t, &trial, printed);
	else if (good == EXPLORE_NONE)
		add_failure(r, t, &err);
	t->asked = trial.simulator->environment.requested;
	if (o && o->step)
		o->step(o->data, r, at, t->flags, t->to, good == EXPLORE_NONE ? t->to : good);
}

/* A copy of `at` with the script that still runs. */
static struct simulator *with_running(const struct explore_round *r, const struct simulator *at)
{
	struct simulator *s = simulator_copy(at);

	s->environment.running = r->running;
	return s;
}

/* ---- outcomes ---- */

/* Steps once for each way in which a requested effect may fail or end otherwise. A step that fails
 * can be made again, so it adds no edge. */
static void try_effects(
	struct explore_round *r, const struct simulator *at, uint32_t good, unsigned asked)
{
	static const struct {
		unsigned effect;
		struct simulator_environment environment;
	} outcomes[] = {
		{EFFECT_FIND_SPEC, {.specs = 0}},
		{EFFECT_FIND_SPEC, {.specs = 2}},
		{EFFECT_FIND_SPEC, {.specs = 1, .find_fails = true}},
		{EFFECT_COMMIT, {.specs = 1, .commit_fails = true}},
		{EFFECT_COMMIT, {.specs = 1, .nothing_to_commit = true}},
		{EFFECT_PUSH, {.specs = 1, .push_fails = true}},
		{EFFECT_PUSH, {.specs = 1, .no_remote = true}},
		{EFFECT_PR_CHECKS, {.specs = 1, .checks = CHECKS_RED}},
		{EFFECT_PR_CHECKS, {.specs = 1, .checks = CHECKS_UNKNOWN}},
	};

	for (size_t i = 0; i < COUNT(outcomes); i++) {
		CLEANUP(simulator_free) struct simulator *there = NULL;
		struct transition t = transition_of(r, 0);

		if (!(asked & outcomes[i].effect))
			continue;
		there = simulator_copy(at);
		there->environment = outcomes[i].environment;
		there->environment.running = r->running;
		take_step(r, there, &t, good);
	}
}

/* Steps with the counter set to `value`. */
static void step_with(struct explore_round *r, const struct simulator *at, const char *counter,
	unsigned long value, struct transition *t)
{
	CLEANUP(simulator_free) struct simulator *there = with_running(r, at);
	struct error err;
	char text[32];

	(void)snprintf(text, sizeof(text), "%lu", value);
	(void)simulator_set(there, counter, str_of(text), &err);
	take_step(r, there, t, EXPLORE_NONE);
}

/*
 * The same step with the budget spent. The engine checks the budget right before it dispatches.
 * What it was about to dispatch, which the key of `to` says, decides the outcome together with
 * whether the state was entered before; so one step for each of these is enough.
 */
static void try_over_budget(struct explore_round *r, const struct simulator *at, uint32_t to)
{
	struct explore_node *nodes = r->graph->nodes.items;
	bool same_state = strcmp(nodes[r->node].state, nodes[to].state) == 0;
	bool repeated = nodes[r->node].repeated;
	struct transition t = transition_of(r, EDGE_BUDGET);

	if (same_state && nodes[to].over_budget[repeated]) {
		t.cost = nodes[to].over_budget_cost[repeated];
		add_transition(r, &t, nodes[to].over_budget[repeated] - 1, false);
		return;
	}
	step_with(r, at, "actions_dispatched", r->graph->workflow->limits.max_actions, &t);
	if (!same_state)
		return;
	r->graph->nodes.items[to].over_budget[repeated] = t.to + 1;
	r->graph->nodes.items[to].over_budget_cost[repeated] = t.cost;
}

/* All actions of the round have their answers: steps. */
static void try_step(struct explore_round *r, const struct simulator *at)
{
	CLEANUP(simulator_free) struct simulator *there = with_running(r, at);
	bool extends = r->n && is(json_first(r->printed), "trigger", EXPLORE_BUDGET_TRIGGER) &&
		       r->chosen[0]->text && str_starts(str_of(r->chosen[0]->name), "continue");
	struct transition t = transition_of(r, extends ? EDGE_EXTENDED : 0);

	take_step(r, there, &t, EXPLORE_NONE);
	if (!t.new_edge)
		return;
	try_effects(r, at, t.to, t.asked);
	if (extends) {
		struct transition refused = transition_of(r, EDGE_NOT_EXTENDED);

		step_with(r, at, "budget_extensions", 2, &refused);
	} else if (t.cost) {
		try_over_budget(r, at, t.to);
	}
}

/* ---- answers ---- */

struct distinct_keys {
	VEC(const char *) keys;
};

static bool add_key(struct explore_round *r, struct distinct_keys *list, const char *key)
{
	for (size_t i = 0; i < list->keys.n; i++)
		if (strcmp(list->keys.items[i], key) == 0)
			return false;
	vec_push_in(&r->arena, &list->keys, arena_dup(&r->arena, str_of(key)));
	return true;
}

static void choose(struct explore_round *r, size_t i, const struct simulator *at);

/* Records the chosen answer to action `i`. Answers that lead to the same key are tried once. */
static void try_answer(
	struct explore_round *r, size_t i, const struct simulator *at, struct distinct_keys *list)
{
	const struct explore_observer *o = r->graph->observer;
	CLEANUP(explore_trial_end) struct explore_trial t;
	struct error err;
	bool recorded;

	explore_trial_begin(&t, r->graph, r->node, at);
	recorded = explore_trial_record(&t, NULL, json_at(r->printed, i), r->chosen[i], &err) == 0;
	if (o && o->answer)
		o->answer(o->data, r, i, at, recorded ? t.simulator : NULL, &err);
	if (recorded && add_key(r, list, t.key.s))
		choose(r, i + 1, t.simulator);
}

static size_t max_bad(const struct explore_round *r)
{
	return r->n <= ALL_OUTCOMES ? r->n : r->n <= FEW ? 2 : 1;
}

/* Tries every answer to action `i` and to those after it. */
static void choose(struct explore_round *r, size_t i, const struct simulator *at)
{
	const struct explore_observer *o = r->graph->observer;
	struct distinct_keys list = {0};

	if (o && o->prefix)
		o->prefix(o->data, r, i, at);
	if (i == r->n) {
		try_step(r, at);
		return;
	}
	for (size_t c = 0; c < r->choices[i].n; c++) {
		const struct explore_answer *answer = &r->choices[i].items[c];

		if ((c && r->n_bad >= max_bad(r)) || (answer->running && r->running))
			continue;
		r->chosen[i] = answer;
		r->n_bad += c > 0;
		if (answer->running)
			r->running = json_get_str(json_at(r->printed, i), "id");
		if (answer->silent)
			choose(r, i + 1, at);
		else
			try_answer(r, i, at, &list);
		if (answer->running)
			r->running = NULL;
		r->n_bad -= c > 0;
	}
}

/* ---- nodes ---- */

/* Sections in which the troubleshooter may write an answer in the place of an agent. */
static const char *const *sections_of(struct explore_round *r, const struct simulator *at)
{
	CLEANUP(context_close) struct context_file f = {0};
	static const char *const none[] = {NULL};
	struct error err;

	return simulator_open(at, &f, &err) < 0 ? none : explore_key_sections(&r->arena, &f.doc);
}

static void expand_work(struct explore_round *r, const struct simulator *at)
{
	bool changes = r->graph->nodes.items[r->node].changes > 0;
	size_t i = 0;

	r->input = INPUT_ANSWERS;
	r->n = json_len(r->printed);
	r->choices = arena_alloc(&r->arena, r->n * sizeof(*r->choices));
	r->chosen = arena_alloc(&r->arena, (r->n + 1) * sizeof(*r->chosen));
	for (const json *a = json_first(r->printed); a; a = json_next(a))
		explore_answers(&r->arena, r->graph->workflow, a, changes, sections_of(r, at),
			&r->choices[i++]);
	choose(r, 0, at);
}

/* A person does what the run waits for. */
static void expand_user(struct explore_round *r, const struct simulator *at,
	enum explore_input input, const char *key, const char *value)
{
	CLEANUP(simulator_free) struct simulator *there = simulator_copy(at);
	const struct explore_observer *o = r->graph->observer;
	struct transition t = transition_of(r, EDGE_USER);
	struct error err;

	r->input = input;
	if (o && o->user)
		o->user(o->data, r, at, key, value);
	if (simulator_set(there, key, str_of(value), &err) < 0)
		add_failure(r, &t, &err);
	else
		take_step(r, there, &t, EXPLORE_NONE);
}

static struct simulator *load_node(const struct explore_graph *g, uint32_t node)
{
	struct simulator *s = simulator_new(g->workflow, "T-1", g->disk, 1);

	s->observer = g->observer ? g->observer->calls : NULL;
	if (g->nodes.items[node].document)
		g->disk->put(s->disk, s->path, str_of(g->nodes.items[node].document));
	return s;
}

static void expand(struct explore_graph *g, uint32_t node)
{
	CLEANUP(simulator_free) struct simulator *at = load_node(g, node);
	enum explore_node_kind kind = g->nodes.items[node].kind;
	struct explore_round r = {.graph = g, .node = node};
	struct simulator_call call = {0};
	struct transition failure = {0};
	struct error err;

	g->calls += kind != NODE_START && kind != NODE_ERROR;
	if (kind == NODE_START)
		try_step(&r, at);
	else if (kind != NODE_ERROR && simulator_step(at, &call, &r.printed, &err) < 0)
		add_failure(&r, &failure, &err);
	if (kind == NODE_WORK && json_get(json_first(r.printed), "id"))
		expand_work(&r, at);
	else if (kind == NODE_QUESTION && r.printed)
		expand_user(&r, at, INPUT_USER, "troubleshooter_input", "Go on.");
	else if (kind == NODE_GIVEN_UP && r.printed)
		expand_user(&r, at, INPUT_RESET, "troubleshooter_calls", "0");
	json_free(&r.printed);
	arena_release(&r.arena);
}

static void init_graph(struct explore_graph *g)
{
	bool added;

	explore_key_rules(&g->arena, g->workflow, &g->rules);
	g->taken = arena_alloc(&g->arena, g->workflow->n_edges + 1);
	g->visited = arena_alloc(&g->arena, g->workflow->n_states + 1);
	(void)add_node(g, "start", &added);
	g->nodes.items[0].kind = NODE_START;
	g->nodes.items[0].state = g->workflow->initial;
}

/* Breadth first: the nodes behind the one that is expanded are the frontier. */
void explore_graph_build(struct explore_graph *g, const struct workflow *w,
	const struct explore_options *options, const struct simulator_disk *disk,
	const struct explore_observer *observer)
{
	uint32_t i = 0;

	*g = (struct explore_graph){.workflow = w,
		.disk = disk ? disk : &simulator_memory_disk,
		.observer = observer,
		.max_nodes = options->states};
	init_graph(g);
	g->nodes.items[0].changes = options->changes;
	for (; i < g->nodes.n && g->nodes.n <= g->max_nodes; i++) {
		struct explore_node *n = &g->nodes.items[i];

		n->edge = (uint32_t)g->edges.n;
		expand(g, i);
		n = &g->nodes.items[i];
		free(n->document);
		free(n->printed);
		n->document = n->printed = NULL;
	}
	g->complete = i == g->nodes.n;
}

void explore_graph_release(struct explore_graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++) {
		free(g->nodes.items[i].document);
		free(g->nodes.items[i].printed);
	}
	vec_release(&g->nodes);
	vec_release(&g->edges);
	vec_release(&g->answers);
	explore_texts_release(&g->keys);
	arena_release(&g->arena);
}
