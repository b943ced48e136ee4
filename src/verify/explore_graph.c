/* explore_graph.c: builds the state graph: the possible answers, the nodes, the edges. */
#include <search.h>
#include "src/config/violation.h"
#include "src/verify/explore.h"

/* Above ALL_OUTCOMES actions, at most two fail at once; above FEW, one. */
enum { ALL_OUTCOMES = 3, FEW = 8 };

/* ---- the answers to an action ---- */

static struct explore_answer *explore_graph_add(
	struct explore_answers *l, const char *name, const char *word, const char *text)
{
	vec_push_in(l->arena, l, (struct explore_answer){.name = name, .word = word, .text = text});
	return &l->items[l->n - 1];
}

static struct explore_answer *add_silent(struct explore_answers *l, const char *name)
{
	struct explore_answer *answer = explore_graph_add(l, name, NULL, NULL);

	answer->silent = true;
	return answer;
}

const char *explore_expected_text(const char *section)
{
	return strcmp(section, CONTEXT_PULL_REQUEST) == 0 ? "https://git.example/o/r/pull/1" : NULL;
}

const char *explore_result_word(struct arena *a, const json *action, size_t i)
{
	struct str rest = str_of(json_get_str(action, "result_format")), word;

	while (str_piece(&rest, '|', &word))
		if (!i--)
			return arena_dup(a, str_trim(word));
	return NULL;
}

static void agent_answers(struct explore_answers *l, const json *action)
{
	const char *expected = explore_expected_text(json_get_str(action, "write_section")), *word;

	for (size_t i = 0; (word = explore_result_word(l->arena, action, i)); i++)
		explore_graph_add(l, word, word,
			arena_printf(l->arena, "%s%sThe result is %s.", expected ? expected : "",
				expected ? "\n\n" : "", word));
	if (json_get(action, "for") || action_kind(action) == ACTION_CHILD) /* it is waited for */
		return;
	add_silent(l, "no answer");
	word = explore_result_word(l->arena, action, 0);
	if (expected)
		explore_graph_add(l, arena_printf(l->arena, "%s, without the expected text", word),
			word, "There is a result.");
}

/* The policy denied the command; what that means is up to the policy unless the workflow says. */
static void violation_answers(struct explore_answers *l, const json *security)
{
	const char *declared = json_get_str(security, "violation");

	for (int v = VIOLATION_HARD_ABORT; security && v <= VIOLATION_VALIDATION_FAIL; v++) {
		const char *name = violation_name((enum violation)v);

		if (declared && strcmp(declared, name) != 0)
			continue;
		explore_graph_add(l, arena_printf(l->arena, "security violation, %s", name), NULL,
			arena_printf(l->arena,
				"failed \xe2\x80\x94 security violation: write: denied\n\n"
				"{\"status\":\"failed\",\"violation\":\"%s\",\"rule\":\"write\","
				"\"reason\":\"denied\"}",
				name));
	}
}

static void script_answers(struct explore_answers *l, const json *action)
{
	const char *word;

	for (size_t i = 0; (word = explore_result_word(l->arena, action, i)); i++)
		explore_graph_add(l, word, word,
			arena_printf(
				l->arena, "%s \xe2\x80\x94 log: /state/logs/script.log", word));
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

	explore_graph_add(l, name, NULL, text)->change = change != NULL;
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
	struct explore_answers *l, const struct workflow *w, const struct context *c)
{
	static const char *const counters[] = {
#define COUNTER_LOOP(key, limit, state, counts, reset)      #key,
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset) #key,
#include "context/counters.h"
		"budget_extensions"};
	const char *const *sections = explore_key_sections(l->arena, c);

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

void explore_answers(struct arena *a, const struct workflow *w, const json *action,
	const struct context *c, struct explore_answers *out)
{
	static const char *const decisions[] = {"continue", "terminate", "needs_user_input"};

	*out = (struct explore_answers){.arena = a};
	if (action_kind(action) == ACTION_SCRIPT) {
		script_answers(out, action);
	} else if (!json_get_str(action, "trigger")) {
		agent_answers(out, action);
	} else {
		for (size_t i = 0; i < COUNT(decisions); i++)
			add_decision(out, decisions[i], decisions[i], NULL);
		add_silent(out, "no answer");
		if (c)
			change_answers(out, w, c);
	}
}

struct explore_answers *explore_choices(
	struct arena *a, const struct simulator *s, const json *printed, bool changes)
{
	CLEANUP(context_release) struct context doc = {0};
	struct explore_answers *list = arena_alloc(a, (json_len(printed) + 1) * sizeof(*list));
	struct error ignored;
	size_t i = 0;

	changes = changes && simulator_read(s, &doc, &ignored) == 0;
	for (const json *action = json_first(printed); action; action = json_next(action))
		explore_answers(a, s->workflow, action, changes ? &doc : NULL, &list[i++]);
	return list;
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

static void explore_graph_keep_text(void *text)
{
	(void)text;
}

void explore_texts_release(struct explore_texts *t)
{
	tdestroy(t->tree, explore_graph_keep_text);
}

/* EXPLORE_NONE: there would be more nodes than there may be. The first is always added. */
static uint32_t explore_graph_add_node(struct explore_graph *g, const char *key, bool *added)
{
	const struct explore_text *text = explore_texts_add(&g->keys, &g->arena, key, added);

	if (text->number && text->number >= g->max_nodes) {
		g->complete = false;
		return EXPLORE_NONE;
	}
	if (*added)
		vec_push(&g->nodes,
			(struct explore_node){.key = text->text, .state = "", .facts = ""});
	return text->number;
}

/* Adds an edge of the node that is being expanded; false when there is such an edge already. */
static bool add_edge(struct explore_round *r, struct explore_edge *e, uint32_t to)
{
	struct explore_graph *g = r->graph;
	struct explore_node *from = &g->nodes.items[r->node];
	uint32_t *chosen;

	e->from = r->node;
	e->to = to;
	for (uint32_t i = from->edge; i < from->edge + from->n_edges; i++) {
		const struct explore_edge *other = &g->edges.items[i];

		if (other->to == to && other->flags == e->flags && other->cost >= e->cost &&
			other->refuted <= e->refuted && other->moved <= e->moved)
			return false;
	}
	e->input = r->input;
	e->n = r->n;
	e->chosen = chosen = arena_alloc(&g->arena, (r->n + 1) * sizeof(*chosen));
	for (size_t i = 0; i < r->n; i++)
		chosen[i] = (uint32_t)(r->chosen[i] - r->choices[i].items);
	vec_push(&g->edges, *e);
	from->n_edges++;
	return true;
}

/* ---- transitions ---- */

/* What the journal says about one step. */
struct step_events {
	uint32_t dispatched;
	bool changed, terminated, limit;
};

/* Marks the transition of the workflow as taken and its state as entered. */
static void mark_coverage(struct explore_graph *g, const json *event)
{
	const struct workflow *w = g->workflow;
	const struct workflow_state *to = workflow_state(w, json_get_str(event, "to"));

	if (to)
		g->visited[to - w->states] = true;
	for (size_t i = 0; i < w->n_edges; i++)
		if (json_str_is(event, "from", w->edges[i].from) &&
			json_str_is(event, "trigger", w->edges[i].trigger))
			g->taken[i] = true;
}

static void explore_graph_read_event(
	struct explore_graph *g, bool covers, const json *event, struct step_events *e)
{
	e->dispatched += json_str_is(event, "type", "dispatch");
	e->changed |= json_str_is(event, "type", "change");
	if (!json_str_is(event, "type", "transition"))
		return;
	e->limit |= json_str_is(event, "trigger", "max_retries");
	e->terminated |= json_str_is(event, "trigger", "terminated") ||
			 json_str_is(event, "trigger", "security_violation");
	if (covers)
		mark_coverage(g, event);
}

static void explore_graph_read_history(
	struct explore_graph *g, bool covers, struct simulator *s, struct step_events *e)
{
	CLEANUP(store_close) struct store *store = NULL;
	CLEANUP(store_history_close) struct store_history *h = NULL;
	struct store_commit c;
	struct error ignored;

	*e = (struct step_events){0};
	if (store_open(&store, s->backend, s->dir, s->id, STORE_HISTORY, 0, &ignored) < 0 ||
		store_history(store, &(struct store_range){0}, &h, &ignored) != STORE_OK)
		return;
	while (store_history_next(h, &c, &ignored) > 0)
		for (json *event; (event = store_next_event(&c.events, "")); json_free(&event))
			explore_graph_read_event(g, covers, event, e);
}

static enum explore_node_kind explore_graph_kind_of(
	const struct explore_graph *g, const struct context *c, const json *printed)
{
	const json *first = json_first(printed);
	const struct workflow_state *state = workflow_state(g->workflow, context_get(c, "state").p);

	if (!json_str_is(first, "action", "done") || json_get(first, "for"))
		return NODE_WORK;
	if (json_get(first, "question"))
		return NODE_QUESTION;
	return state && !state->terminal ? NODE_GIVEN_UP : NODE_END;
}

static void fill_node(struct explore_graph *g, struct explore_node *n, const struct simulator *s,
	const json *printed)
{
	CLEANUP(context_release) struct context doc = {0};
	const char *trigger = json_get_str(json_first(printed), "trigger");
	struct buf document = BUF_INIT;
	struct error ignored;
	bool over_budget;

	n->trigger = trigger ? arena_dup(&g->arena, str_of(trigger)) : NULL;
	n->success = json_str_is(json_first(printed), "result", "success");
	if (simulator_read(s, &doc, &ignored) < 0)
		return;
	n->kind = explore_graph_kind_of(g, &doc, printed);
	n->state = arena_dup(&g->arena, context_get(&doc, "state"));
	/* The troubleshooter is called, or the user asked, because the budget is spent. */
	over_budget = str_is(context_get(&doc, "question_trigger"), EXPLORE_BUDGET_TRIGGER) ||
		      json_str_is(json_first(printed), "trigger", EXPLORE_BUDGET_TRIGGER);
	explore_key_trim(&doc, over_budget ? g->workflow->limits.max_actions : 0);
	(void)context_render(&doc, &document, NULL, &ignored);
	n->document = document.s;
	n->facts = arena_dup(&g->arena, str_of(s->facts));
	n->placed = s->placed;
}

/* The step failed although nothing outside did. */
static bool explore_graph_add_failure(
	struct explore_round *r, struct explore_edge *e, const struct error *err)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	struct explore_graph *g = r->graph;
	const struct explore_node *from = &g->nodes.items[r->node];
	struct explore_node node = {
		.kind = NODE_ERROR, .state = from->state, .changes = from->changes};
	char line[2048];
	bool added;
	uint32_t to;

	error_format(err, line, sizeof(line));
	buf_addf(&key, "error in %s: %s", node.state, line);
	to = explore_graph_add_node(g, key.s, &added);
	if (to == EXPLORE_NONE)
		return false;
	node.key = g->nodes.items[to].key;
	node.error = node.key + (strlen(node.key) - strlen(line));
	g->nodes.items[to] = node;
	return add_edge(r, e, to);
}

static bool add_success(
	struct explore_round *r, struct explore_edge *e, struct simulator *s, const json *printed)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	struct explore_graph *g = r->graph;
	unsigned changes = g->nodes.items[r->node].changes;
	bool change = r->n && r->chosen[0]->change, added;
	struct step_events events;
	uint32_t to;

	explore_graph_read_history(g, changes == g->nodes.items[0].changes && !change, s, &events);
	e->refuted = s->environment.refuted;
	e->moved = s->environment.moved;
	e->flags |= (events.limit ? EDGE_LIMIT : 0) | (events.terminated ? EDGE_TERMINATE : 0);
	e->cost = events.dispatched;
	if (events.changed && change) {
		e->flags |= EDGE_CHANGE;
		changes -= changes > 0;
	}
	explore_key_now(&g->rules, s, changes, &key);
	to = explore_graph_add_node(g, key.s, &added);
	if (to == EXPLORE_NONE)
		return false;
	if (added) {
		g->nodes.items[to].changes = changes;
		fill_node(g, &g->nodes.items[to], s, printed);
	}
	return add_edge(r, e, to);
}

static int explore_graph_invoke(struct explore_graph *g, struct simulator *s,
	const struct simulator_call *call, json **printed, struct error *err)
{
	g->calls++;
	return s->kind->invoke(s, call, printed, err);
}

/* Steps; true when it adds an edge. A step that fails because an effect does can be made again, so
 * it adds none, unless it runs in a circle. */
static bool explore_graph_take_step(
	struct explore_round *r, struct simulator *s, struct explore_edge *e, bool effect_fails)
{
	struct simulator_call call = {.returned = r->input == INPUT_ANSWERS};
	CLEANUP(json_free) json *printed = NULL;
	struct error err;

	if (!r->graph->complete)
		return false;
	s->environment.requested = s->environment.claimed = 0;
	s->environment.running = r->running;
	if (explore_graph_invoke(r->graph, s, &call, &printed, &err) == 0)
		return add_success(r, e, s, printed);
	return (!effect_fails || strstr(err.text, EXPLORE_CIRCLE)) &&
	       explore_graph_add_failure(r, e, &err);
}

/* ---- outcomes ---- */

/* Steps with the counter set to `value`. */
static void step_with(struct explore_round *r, const struct simulator *at, const char *counter,
	unsigned long value, struct explore_edge *e)
{
	CLEANUP(simulator_free) struct simulator *s = simulator_copy(at);
	char *text = arena_printf(&r->arena, "%lu", value);
	struct simulator_call set = {.key = counter, .text = str_of(text)};
	struct error ignored;

	(void)simulator_invoke(s, &set, NULL, &ignored);
	(void)explore_graph_take_step(r, s, e, false);
}

/* The same step, which dispatches `cost` actions, with less than them left of the budget. */
static void try_less_budget(struct explore_round *r, const struct simulator *at, uint32_t cost)
{
	unsigned long most = r->graph->workflow->limits.max_actions;

	for (uint32_t left = 0; left < cost && left < most && r->graph->complete; left++) {
		struct explore_edge e = {.flags = left ? EDGE_PART : EDGE_BUDGET};

		step_with(r, at, "actions_dispatched", most - left, &e);
	}
}

/* Steps once for each way in which a requested effect may fail or end otherwise, or a claim may be
 * refuted. */
static void try_effects(struct explore_round *r, const struct simulator *at,
	const struct simulator_environment *before)
{
	static const struct {
		unsigned effect, claim;
		struct simulator_environment environment;
	} outcomes[] = {
		{EFFECT_FIND_SPEC, 0, {.specs = 0}},
		{EFFECT_FIND_SPEC, 0, {.specs = 2}},
		{EFFECT_FIND_SPEC, 0, {.specs = 1, .find_fails = true}},
		{SIMULATOR_PLACE, 0, {.specs = 1, .enter_fails = true}},
		{EFFECT_COMMIT, 0, {.specs = 1, .commit_fails = true}},
		{EFFECT_COMMIT, 0, {.specs = 1, .nothing_to_commit = true}},
		{EFFECT_PUSH, 0, {.specs = 1, .push_fails = true}},
		{EFFECT_PUSH, 0, {.specs = 1, .no_remote = true}},
		{EFFECT_PR_CHECKS, 0, {.specs = 1, .checks = CHECKS_RED}},
		{EFFECT_PR_CHECKS, 0, {.specs = 1, .checks = CHECKS_UNKNOWN}},
		{0, EVIDENCE_WORK, {.specs = 1, .refuted = EVIDENCE_WORK}},
		{0, EVIDENCE_TREE, {.specs = 1, .refuted = EVIDENCE_TREE}},
		{0, EVIDENCE_PULL, {.specs = 1, .refuted = EVIDENCE_PULL}},
		{0, EVIDENCE_REVIEW, {.specs = 1, .refuted = EVIDENCE_REVIEW}},
		{0, EVIDENCE_COMMAND, {.specs = 1, .refuted = EVIDENCE_COMMAND}},
		{0, EVIDENCE_TREE | EVIDENCE_REVIEW, {.specs = 1, .moved = true}},
	};

	for (size_t i = 0; i < COUNT(outcomes); i++) {
		CLEANUP(simulator_free) struct simulator *other = NULL, *s = NULL;
		struct explore_edge e = {0};

		if (!(before->requested & outcomes[i].effect) &&
			!(before->claimed & outcomes[i].claim))
			continue;
		other = simulator_copy(at);
		other->environment = outcomes[i].environment;
		s = simulator_copy(other);
		if (explore_graph_take_step(r, s, &e, true) && e.cost)
			try_less_budget(r, other, e.cost);
	}
}

/* All actions of the round have their answers: steps. */
static void try_step(struct explore_round *r, const struct simulator *at)
{
	CLEANUP(simulator_free) struct simulator *s = simulator_copy(at);
	bool extends = r->n &&
		       json_str_is(json_first(r->printed), "trigger", EXPLORE_BUDGET_TRIGGER) &&
		       r->chosen[0]->text && str_starts(str_of(r->chosen[0]->name), "continue");
	struct explore_edge e = {.flags = extends ? EDGE_EXTENDED : 0},
			    refused = {.flags = EDGE_NOT_EXTENDED};

	if (!explore_graph_take_step(r, s, &e, false))
		return;
	try_effects(r, at, &s->environment);
	if (extends)
		step_with(r, at, "budget_extensions", 2, &refused);
	else if (e.cost)
		try_less_budget(r, at, e.cost);
}

/* ---- answers ---- */

static void explore_graph_choose(struct explore_round *r, size_t i, const struct simulator *at);

/* Records the chosen answer to action `i`. Answers that lead to the same key are tried once. */
static void try_answer(
	struct explore_round *r, size_t i, const struct simulator *at, struct explore_texts *keys)
{
	CLEANUP(simulator_free) struct simulator *s = simulator_copy(at);
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	struct simulator_call call = {.action = json_get_str(json_at(r->printed, i), "id"),
		.word = r->chosen[i]->word,
		.text = str_of(r->chosen[i]->text)};
	struct error ignored;
	bool added;

	if (explore_graph_invoke(r->graph, s, &call, NULL, &ignored) < 0)
		return;
	explore_key_now(&r->graph->rules, s, r->graph->nodes.items[r->node].changes, &key);
	(void)explore_texts_add(keys, &r->arena, key.s, &added);
	if (added)
		explore_graph_choose(r, i + 1, s);
}

/* Tries every answer to action `i` and to those after it. */
static void explore_graph_choose(struct explore_round *r, size_t i, const struct simulator *at)
{
	CLEANUP(explore_texts_release) struct explore_texts keys = {0};
	size_t max_bad = r->n <= ALL_OUTCOMES ? r->n : r->n <= FEW ? 2 : 1;

	if (i == r->n) {
		try_step(r, at);
		return;
	}
	for (size_t c = 0; c < r->choices[i].n && r->graph->complete; c++) {
		const struct explore_answer *answer = &r->choices[i].items[c];

		if ((c && r->n_bad >= max_bad) || (answer->running && r->running))
			continue;
		r->chosen[i] = answer;
		r->n_bad += c > 0;
		if (answer->running)
			r->running = json_get_str(json_at(r->printed, i), "id");
		if (answer->silent)
			explore_graph_choose(r, i + 1, at);
		else
			try_answer(r, i, at, &keys);
		if (answer->running)
			r->running = NULL;
		r->n_bad -= c > 0;
	}
}

/* ---- nodes ---- */

static void expand_work(struct explore_round *r, const struct simulator *at)
{
	r->input = INPUT_ANSWERS;
	r->n = json_len(r->printed);
	r->chosen = arena_alloc(&r->arena, (r->n + 1) * sizeof(*r->chosen));
	r->choices = explore_choices(
		&r->arena, at, r->printed, r->graph->nodes.items[r->node].changes > 0);
	explore_graph_choose(r, 0, at);
}

struct simulator_call explore_user_call(enum explore_input input)
{
	if (input == INPUT_USER)
		return (struct simulator_call){
			.key = "troubleshooter_input", .text = STR("Go on.")};
	return (struct simulator_call){.key = "troubleshooter_calls", .text = STR("0")};
}

/* A person does what the run waits for. */
static void expand_user(struct explore_round *r, struct simulator *s, enum explore_input input)
{
	struct simulator_call call = explore_user_call(input);
	struct explore_edge e = {.flags = EDGE_USER};
	struct error ignored;

	r->input = input;
	(void)s->kind->invoke(s, &call, NULL, &ignored);
	(void)explore_graph_take_step(r, s, &e, false);
}

static void expand(struct explore_graph *g, uint32_t node)
{
	CLEANUP(simulator_free)
	struct simulator *at = simulator_new(g->workflow, "T-1", g->kind);
	const struct explore_node n = g->nodes.items[node];
	struct explore_round r = {.graph = g, .node = node};
	struct simulator_call again = {0};
	struct error ignored;

	g->round = &r;
	if (n.document)
		g->kind->put(at->backend, at->path, str_of(n.document));
	if (n.document && (*n.facts || n.placed))
		simulator_put_facts(at, n.facts, n.placed);
	if (n.kind == NODE_START)
		try_step(&r, at);
	else if (n.kind != NODE_ERROR)
		(void)explore_graph_invoke(g, at, &again, &r.printed, &ignored);
	if (n.kind == NODE_WORK && json_get(json_first(r.printed), "id"))
		expand_work(&r, at);
	else if (n.kind == NODE_QUESTION || n.kind == NODE_GIVEN_UP)
		expand_user(&r, at, n.kind == NODE_QUESTION ? INPUT_USER : INPUT_RESET);
	json_free(&r.printed);
	arena_release(&r.arena);
}

/* Breadth first: the nodes behind the one that is expanded are the frontier. */
void explore_graph_build(struct explore_graph *g, const struct workflow *w,
	const struct explore_options *options, const struct simulator_kind *kind)
{
	uint32_t i = 0;
	bool added;

	*g = (struct explore_graph){
		.workflow = w, .kind = kind, .max_nodes = options->states, .complete = true};
	explore_key_rules(&g->arena, w, &g->rules);
	g->taken = arena_alloc(&g->arena, w->n_edges + 1);
	g->visited = arena_alloc(&g->arena, w->n_states + 1);
	(void)explore_graph_add_node(g, "start", &added);
	g->nodes.items[0].state = w->initial;
	g->nodes.items[0].changes = options->changes;
	for (; i < g->nodes.n && g->complete; i++) {
		g->nodes.items[i].edge = (uint32_t)g->edges.n;
		expand(g, i);
		free(g->nodes.items[i].document);
		g->nodes.items[i].document = NULL;
	}
}

void explore_graph_release(struct explore_graph *g)
{
	for (size_t i = 0; i < g->nodes.n; i++)
		free(g->nodes.items[i].document);
	vec_release(&g->nodes);
	vec_release(&g->edges);
	explore_texts_release(&g->keys);
	arena_release(&g->arena);
}
