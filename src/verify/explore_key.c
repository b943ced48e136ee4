#include "src/base/number.h"
#include "src/graph/manifest.h"
#include "src/verify/explore.h"
#include "src/machine/action.h"
#include "src/machine/node.h"
#include "src/machine/verdict.h"
#include "steps/steps.h"

static size_t explore_key_index_of(const struct workflow *w, const char *state)
{
	const struct workflow_state *st = workflow_state(w, state);

	return st ? (size_t)(st - w->states) : w->n_states;
}

/* The transitive closure of the diagram. */
void explore_key_rules(struct arena *a, const struct workflow *w, struct explore_key_rules *r)
{
	size_t n = w->n_states;
	bool more = true;

	*r = (struct explore_key_rules){w, arena_alloc(a, n * n + 1)};
	while (more) {
		more = false;
		for (size_t i = 0; i < w->n_edges; i++) {
			size_t from = explore_key_index_of(w, w->edges[i].from),
			       to = explore_key_index_of(w, w->edges[i].to);

			for (size_t s = 0; s < n; s++) {
				if (r->reachable[s * n + to] ||
					(s != from && !r->reachable[s * n + from]))
					continue;
				r->reachable[s * n + to] = more = true;
			}
		}
	}
}

/* Whether the work item is in `state` or may enter it again. */
static bool may_enter(const struct explore_key_rules *r, const struct context *c, unsigned changes,
	const char *state)
{
	size_t from = explore_key_index_of(r->workflow, context_get(c, "state").p),
	       to = explore_key_index_of(r->workflow, state);

	if (to == r->workflow->n_states)
		return false;
	return changes || from == to || from == r->workflow->n_states ||
	       r->reachable[from * r->workflow->n_states + to];
}

/* A counter that is only compared with its limit is the same from the limit on. */
static void add_counters(const struct explore_key_rules *r, const struct context *c,
	unsigned changes, struct buf *out)
{
	const struct workflow_limits *l = &r->workflow->limits;
	const struct {
		const char *key, *state; /* NULL: it matters in every state */
		unsigned long limit;
	} rows[] = {
#define COUNTER_LOOP(key, limit, state, counts, reset)      {#key, state, (unsigned long)-1},
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset) {#key, NULL, l->limit},
#define COUNTER_BUDGET(key, limit, trigger, counts, reset)
#include "context/counters.h"
		{"troubleshooter_calls", NULL, (unsigned long)-1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned long n = context_count(c, rows[i].key);

		if (rows[i].state && !may_enter(r, c, changes, rows[i].state))
			continue;
		buf_addf(out, "%zu:%lu ", i, n < rows[i].limit ? n : rows[i].limit);
	}
}

/* How often each action of a state with an order has failed, which counts for no more than
 * `consecutive_failures`. */
static void explore_key_add_failures(
	const struct explore_key_rules *r, const struct context *c, struct buf *out)
{
	const struct workflow_state *st = workflow_state(r->workflow, context_get(c, "state").p);
	const struct declared_state *d = st ? st->declared : NULL;
	int64_t most = (int64_t)context_count(c, "consecutive_failures"),
		limit = (int64_t)r->workflow->limits.consecutive_failures;
	CLEANUP(json_free) json *counts = context_failures(c);

	most = most < limit ? most : limit;
	for (size_t i = 0; d && most && json_first(counts) && i <= d->n; i++) {
		const char *of = i < d->n ? d->items[i].writes : CONTEXT_FAILURES_END;
		int64_t n = json_get_int(counts, of, 0);

		if (n)
			buf_addf(out, "%zu!%lld ", i, (long long)(n < most ? n : most));
	}
}

/* Whether it is a section `Fix N`; *ahead: of the fix that is due next. */
static bool explore_key_is_fix(const struct context *c, struct str name, int64_t *ahead)
{
	uint64_t n;

	if (!str_starts(name, CONTEXT_FIX) ||
		!number_parse(str_sub(name, 4, name.n), 0, UINT32_MAX, &n))
		return false;
	*ahead = (int64_t)n - (int64_t)context_fixes(c) - 1;
	return true;
}

/* Not a section that only people and agents read. */
static bool explore_key_decides(struct str name)
{
	return !str_is(name, CONTEXT_ACTIONS) && !str_is(name, CONTEXT_LAST_FAILURE) &&
	       !str_is(name, CONTEXT_FAILED_ANSWER) && !str_is(name, CONTEXT_TROUBLE_LOG) &&
	       !str_is(name, MANIFEST_EVENTS) && !str_starts(name, CONTEXT_EARLIER);
}

const char *const *explore_key_sections(struct arena *a, const struct context *c)
{
	VEC(const char *) list = {0};
	int64_t ahead;

	for (size_t i = 0; i < context_sections(c); i++) {
		char *name = arena_dup(a, context_section_name(c, i));

		if (explore_key_is_fix(c, str_of(name), &ahead) && ahead < 0)
			continue;
		if (explore_key_decides(str_of(name)) && context_has_section(c, name))
			vec_push_in(a, &list, name);
	}
	vec_sort(&list, vec_by_text);
	vec_push_in(a, &list, NULL);
	return list.items;
}

/* Whether a step that is built in looks for the section. */
static bool explore_key_is_builtin(const char *section)
{
	bool found = !strcmp(section, CONTEXT_PULL_REQUEST) || !strcmp(section, CONTEXT_SPEC);

	for (size_t i = 0; steps[i]; i++) {
		found |= steps[i]->answer && !strcmp(section, steps[i]->answer);
		for (const char *const *v = steps[i]->verdicts; v && *v; v++)
			found |= !strcmp(section, *v);
	}
	return found;
}

/* Whether only declared states write the section, and the item is in none of them: each removes it
 * when it is entered. */
static bool explore_key_is_left(
	const struct explore_key_rules *r, const struct context *c, const char *section)
{
	const struct workflow_state *st = workflow_state(r->workflow, context_get(c, "state").p);
	bool written = false;

	if (!st || (st->declared && workflow_item(st->declared, section)))
		return false;
	for (size_t i = 0; i < r->workflow->n_declared && !written; i++)
		written = workflow_item(&r->workflow->declared[i], section) != NULL;
	return written && !explore_key_is_builtin(section);
}

/* Of the fix that is due next only matters that it is there, not its number. */
static void explore_key_add_sections(const struct explore_key_rules *r, const struct context *c,
	unsigned changes, struct buf *out)
{
	const char *const *list = explore_key_sections((struct arena *)&c->arena, c);
	int64_t ahead;

	buf_adds(out, "[");
	for (; *list; list++) {
		if (explore_key_is_fix(c, str_of(*list), &ahead))
			buf_addf(out, "Fix+%d,", (int)ahead);
		else if (changes || !explore_key_is_left(r, c, *list))
			buf_addf(out, "%s,", *list);
	}
	buf_adds(out, EXPLORE_KEY_OUTSTANDING);
}

/* ---- the nodes of a manifest ---- */

/* Where its nodes are; `settled`: ended or skipped, so that nothing of it is looked at again but
 * what it chose. */
struct key_nodes {
	const struct declared_state *d; /* NULL: the item is in no such state */
	struct node_view view;
	bool *settled;
};

static void load_nodes(const struct explore_key_rules *r, const struct context *c,
	const json *actions, struct key_nodes *out)
{
	struct arena *a = (struct arena *)&c->arena;
	const struct workflow_state *st = workflow_state(r->workflow, context_get(c, "state").p);

	*out = (struct key_nodes){0};
	if (!st || !st->declared || !st->declared->manifest)
		return;
	out->d = st->declared;
	out->settled = arena_alloc(a, out->d->n * sizeof(*out->settled));
	node_view_load(a, c, out->d, actions, &out->view);
	for (size_t i = 0; i < out->d->n; i++)
		out->settled[i] = out->view.ended[i] || out->view.status[i] == ITEM_SKIPPED;
}

/* Of a node that has ended: which nodes that are not settled it chose, and whether its failure is
 * one of the run. */
static const char *explore_key_ended_key(
	const struct key_nodes *k, size_t node, const struct context *c, const json *action)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct manifest *m = k->d->manifest;
	bool handled = k->view.how[node] == NODE_SUCCESS;

	buf_addf(&text, "(%s%s", m->nodes[node].id,
		json_get(action, "carried") ? EXPLORE_KEY_CARRIED : " ");
	for (size_t i = m->out_first[node]; i < m->out_first[node + 1]; i++) {
		size_t edge = m->out_edges[i];

		handled |= k->view.taken[edge];
		if (k->view.taken[edge] && !k->settled[m->edges[edge].to_node])
			buf_addf(&text, ">%s", m->edges[edge].to);
	}
	buf_adds(&text, handled ? ") " : " failed) ");
	return arena_dup((struct arena *)&c->arena, buf_str(&text));
}

/* How often each node was tried that may be tried again. */
static void add_retries(const struct key_nodes *k, const struct context *c, struct buf *out)
{
	static const char *const counts[] = {"retry", "resolve"};
	struct arena *a = (struct arena *)&c->arena;

	for (size_t i = 0; k->d && i < k->d->n; i++)
		for (size_t n = 0; n < COUNT(counts) && !k->settled[i]; n++) {
			const char *key =
				arena_printf(a, "%s.%s", counts[n], k->d->items[i].writes);

			if (context_attempts(c, key))
				buf_addf(out, "%s=%lu ", key, context_attempts(c, key));
		}
}

/* The events that a condition may look at. */
static void explore_key_add_events(
	const struct key_nodes *k, const struct context *c, struct buf *out)
{
	const struct manifest *m = k->d ? k->d->manifest : NULL;

	for (size_t e = 0; m && e < m->n_edges; e++)
		for (size_t i = 0; i < m->edges[e].n_when && !k->settled[m->edges[e].from_node];
			i++) {
			const struct manifest_condition *w = &m->edges[e].when[i];

			if (w->kind == CONDITION_EVENT &&
				context_attempts(c, arena_printf((struct arena *)&c->arena,
							    "event.%s", w->event)))
				buf_addf(out, "%zu:%s ", e, w->event);
		}
}

/* ---- what is outstanding ---- */

/* What the steps read in an answer. */
static void add_verdict(const struct context *c, const json *action, struct buf *out)
{
	struct str text = action_text(c, action), word = action_word(c, action);
	CLEANUP(json_free)
	json *j = action_is_troubleshooter(action) ? verdict_json(text) : NULL;
	const json *changes = json_get(j, "state_changes");

	buf_add(out, word);
	if (j && changes)
		json_print(out, changes);
	buf_addf(out, "%d", verdict_pr_url(text).n > 0);
}

static const char *outstanding_key(const struct context *c, const json *action)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str section = str_of(json_get_str(action, "write_section"));
	const char *trigger = json_get_str(action, "trigger");
	const char *violation = json_get_str(action, "violation");
	int64_t ahead;

	buf_addf(&text, "(%s", explore_key_is_fix(c, section, &ahead) ? "Fix" : section.p);
	if (trigger)
		buf_addf(&text, ":%s", trigger);
	buf_adds(&text, json_get(action, "carried") ? EXPLORE_KEY_CARRIED : " ");
	if (action_answered(c, action))
		add_verdict(c, action, &text);
	buf_adds(&text, violation ? violation : "");
	buf_adds(&text, ") ");
	return arena_dup((struct arena *)&c->arena, buf_str(&text));
}

/* Sorted, since the order of the requests does not matter. */
static void add_outstanding(
	const struct explore_key_rules *r, const struct context *c, struct buf *out)
{
	CLEANUP(json_free) json *array = NULL;
	VEC(const char *) list = {0};
	struct key_nodes nodes;
	struct error ignored;

	(void)action_load(c, &array, &ignored);
	load_nodes(r, c, array, &nodes);
	add_retries(&nodes, c, out);
	explore_key_add_events(&nodes, c, out);
	for (const json *a = json_first(array); a; a = json_next(a)) {
		const struct declared_action *it =
			nodes.d ? workflow_item(nodes.d, json_get_str(a, "write_section")) : NULL;
		size_t i = it ? (size_t)(it - nodes.d->items) : 0;

		vec_push_in((struct arena *)&c->arena, &list,
			it && nodes.view.ended[i] && nodes.view.actions[i] == a
				? explore_key_ended_key(&nodes, i, c, a)
				: outstanding_key(c, a));
	}
	vec_sort(&list, vec_by_text);
	for (size_t i = 0; i < list.n; i++)
		buf_adds(out, list.items[i]);
}

/* Whether a state was entered before matters: its old answer is set aside. */
static void explore_key_add_attempts(const struct explore_key_rules *r, const struct context *c,
	unsigned changes, struct buf *out)
{
	for (size_t i = 0; i < r->workflow->n_states; i++) {
		const char *state = r->workflow->states[i].name;
		const struct step *step = steps_find(r->workflow, state);

		if (step && step->answer && context_attempts(c, state) &&
			may_enter(r, c, changes, state))
			buf_addf(out, "%s ", state);
	}
}

/* How often a state with a limit was entered, while it may be entered again. */
static void add_visits(const struct explore_key_rules *r, const struct context *c, unsigned changes,
	struct buf *out)
{
	for (size_t i = 0; i < r->workflow->n_declared; i++) {
		const struct declared_state *d = &r->workflow->declared[i];

		if (d->rules.limit && may_enter(r, c, changes, d->name))
			buf_addf(out, "%s=%lu ", d->name, context_visits(c, d->name));
	}
}

static void explore_key_add_key(const struct explore_key_rules *r, const struct context *c,
	unsigned changes, struct buf *out)
{
	add_counters(r, c, changes, out);
	explore_key_add_failures(r, c, out);
	buf_addf(out, EXPLORE_KEY_STATE "%s %u ", context_get(c, "state").p, changes);
	if (context_get(c, "question").n)
		buf_adds(out, "question ");
	buf_addf(out, "%s ", context_get(c, "question_trigger").p);
	buf_addf(out, "%d%d%d ", context_get(c, "troubleshooter_input").n > 0,
		context_get(c, "spec_path").n > 0, context_get(c, "pr_url").n > 0);
	explore_key_add_attempts(r, c, changes, out);
	add_visits(r, c, changes, out);
	explore_key_add_sections(r, c, changes, out);
	add_outstanding(r, c, out);
}

void explore_key_now(const struct explore_key_rules *r, const struct simulator *s, unsigned changes,
	struct buf *out)
{
	CLEANUP(context_release) struct context doc = {0};
	struct error ignored;

	buf_adds(out, "");
	if (simulator_read(s, &doc, &ignored) < 0)
		return;
	buf_addf(out, "%d%d ", strstr(s->facts, "\"validated\"") != NULL,
		strstr(s->facts, "\"approved\"") != NULL);
	explore_key_add_key(r, &doc, changes, out);
}

void explore_key_trim(struct context *c, unsigned long dispatched)
{
	for (size_t i = 0; i < context_sections(c); i++) {
		struct str name = context_section_name(c, i);
		char *copy = arena_dup(&c->arena, name);

		if (!explore_key_decides(name) && !str_is(name, CONTEXT_ACTIONS))
			context_remove(c, copy);
	}
	context_set_count(c, "actions_dispatched", dispatched);
	if (context_has(c, "budget_extensions"))
		context_set_count(c, "budget_extensions", 0);
}
