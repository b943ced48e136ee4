#include "src/verify/key.h"
#include "src/machine/actions.h"
#include "src/machine/verdict.h"
#include "steps/steps.h"

#define KIND         "; " /* stands before the kind in a key */
#define SECTIONS_END "] " /* stands before what is outstanding */

static size_t index_of(const struct workflow *w, const char *state)
{
	const struct workflow_state *fs = workflow_state(w, state);

	return fs ? (size_t)(fs - w->states) : w->n_states;
}

/* Which states can be entered from each, along the diagram. */
void key_rules_init(struct arena *a, const struct workflow *w, struct key_rules *r)
{
	size_t n = w->n_states, *from = arena_alloc(a, (w->n_edges + 1) * sizeof(*from)),
	       *to = arena_alloc(a, (w->n_edges + 1) * sizeof(*to));
	bool more = true;

	*r = (struct key_rules){w, arena_alloc(a, n * n + 1)};
	for (size_t i = 0; i < w->n_edges; i++) {
		from[i] = index_of(w, w->edges[i].from);
		to[i] = index_of(w, w->edges[i].to);
		r->reach[from[i] * n + to[i]] = true;
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < w->n_edges; i++)
			for (size_t s = 0; s < n; s++) {
				bool *there = &r->reach[s * n + to[i]];

				more |= !*there && r->reach[s * n + from[i]];
				*there |= r->reach[s * n + from[i]];
			}
	}
}

/* Whether `state` may be entered again, or is where the work item is. */
static bool ahead(
	const struct key_rules *r, const struct context *c, unsigned changes, const char *state)
{
	size_t from = index_of(r->w, context_get(c, "state").p), to = index_of(r->w, state);

	if (to == r->w->n_states)
		return false;
	return changes || from == to || from == r->w->n_states ||
	       r->reach[from * r->w->n_states + to];
}

/* A counter that is compared with its limit alone is the same from there on. */
static void add_counters(
	const struct key_rules *r, const struct context *c, unsigned changes, struct buf *out)
{
	const struct workflow_limits *l = &r->w->limits;
	const struct {
		const char *key, *state; /* NULL: looked at in all states */
		unsigned long limit;
	} rows[] = {
		{"fix_iteration", "fixing", (unsigned long)-1},
		{"review_fix_iteration", "fixing-pr", (unsigned long)-1},
		{"signoff_cycle_count", NULL, l->signoff_deadlock},
		{"review_cycle_count", NULL, l->review_loop},
		{"consecutive_failures", NULL, l->consecutive_failures},
		{"troubleshooter_calls", NULL, (unsigned long)-1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned long n = context_count(c, rows[i].key);

		if (rows[i].state && !ahead(r, c, changes, rows[i].state))
			continue;
		buf_addf(out, "%zu:%lu ", i, n < rows[i].limit ? n : rows[i].limit);
	}
}

static bool fix_number(struct str name, unsigned long *n)
{
	if (!str_starts(name, "Fix ") || strspn(name.p + 4, "0123456789") != name.n - 4)
		return false;
	*n = strtoul(name.p + 4, NULL, 10);
	return true;
}

/* What nothing but people and agents reads. */
static bool decides(struct str name)
{
	return !str_is(name, CONTEXT_ACTIONS) && !str_is(name, "Last Failure") &&
	       !str_is(name, "Failed Answer") && !str_is(name, "Troubleshooter Log") &&
	       !str_starts(name, "Earlier ");
}

static bool counts(const struct context *c, size_t i, struct str *name)
{
	unsigned long n, due = 1 + context_count(c, "fix_iteration") +
			       context_count(c, "review_fix_iteration");

	*name = context_section_name(c, i);
	*name = str_of(arena_dup((struct arena *)&c->arena, *name));
	if (fix_number(*name, &n) && n < due)
		return false;
	return decides(*name) && context_has_section(c, name->p);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *key_sections(struct arena *a, const struct context *c)
{
	size_t all = context_sections(c), n = 0;
	const char **list = arena_alloc(a, (all + 1) * sizeof(*list));
	struct str name;

	for (size_t i = 0; i < all; i++)
		if (counts(c, i, &name))
			list[n++] = arena_dup(a, name);
	qsort(list, n, sizeof(*list), by_text);
	return list;
}

/* The number of the fix that is due is no matter, only that it is due. */
static void add_sections(const struct context *c, struct buf *out)
{
	const char *const *list = key_sections((struct arena *)&c->arena, c);
	unsigned long n, due = 1 + context_count(c, "fix_iteration") +
			       context_count(c, "review_fix_iteration");

	buf_adds(out, "[");
	for (; *list; list++) {
		if (fix_number(str_of(*list), &n))
			buf_addf(out, "Fix+%lu,", n - due);
		else
			buf_addf(out, "%s,", *list);
	}
	buf_adds(out, SECTIONS_END);
}

/* All that the steps read out of a text. */
static void add_reading(const struct context *c, const json *action, struct buf *out)
{
	struct str text = action_text(c, action), word = action_word(c, action);
	CLEANUP(json_free) json *j = action_is_troubleshooter(action) ? verdict_json(text) : NULL;
	const json *changes = json_get(j, "state_changes");

	buf_add(out, word);
	if (j && changes)
		json_print(out, changes);
	if (!word.n)
		buf_addf(out, "%d%d", verdict_approved(text), verdict_validated(text));
	buf_addf(out, "%d%d%d", verdict_passed(text), verdict_pr_url(text).n > 0,
		str_find(text, STR("# Debug report for")) < text.n);
}

static const char *outstanding_key(const struct context *c, const json *action)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str section = str_of(json_get_str(action, "write_section"));
	const char *trigger = json_get_str(action, "trigger");
	unsigned long n;

	buf_addf(&text, "(%s", fix_number(section, &n) ? "Fix" : section.p);
	if (trigger)
		buf_addf(&text, ":%s", trigger);
	buf_adds(&text, json_get(action, "carried") ? KEY_CARRIED : " ");
	if (action_answered(c, action))
		add_reading(c, action, &text);
	buf_adds(&text, ") ");
	return arena_dup((struct arena *)&c->arena, buf_str(&text));
}

/* In an order of their own: which was asked first is no matter. */
static void add_outstanding(const struct context *c, struct buf *out)
{
	CLEANUP(json_free) json *array = NULL;
	const char **list;
	struct error err;
	size_t n = 0;

	if (actions_load(c, &array, &err) < 0) {
		buf_adds(out, "broken");
		return;
	}
	list = arena_alloc((struct arena *)&c->arena, (json_len(array) + 1) * sizeof(*list));
	for (const json *a = json_first(array); a; a = json_next(a))
		list[n++] = outstanding_key(c, a);
	qsort(list, n, sizeof(*list), by_text);
	for (size_t i = 0; i < n; i++)
		buf_adds(out, list[i]);
	if (!n && context_get(c, "pending_agent").n)
		buf_adds(out, "pending ");
}

static void add_asked(
	const struct key_rules *r, const struct context *c, unsigned changes, struct buf *out)
{
	for (size_t i = 0; i < r->w->n_states; i++) {
		const char *state = r->w->states[i].name;
		const struct step *step = step_for(r->w, state);

		if (step && step->answer && context_attempts(c, state) &&
			ahead(r, c, changes, state))
			buf_addf(out, "%s ", state);
	}
}

void key_of(const struct key_rules *r, const struct context *c, unsigned changes, struct buf *out)
{
	add_counters(r, c, changes, out);
	buf_adds(out, KIND);
	key_kind(r, c, changes, out);
}

const char *key_kind_in(const char *key)
{
	const char *kind = strstr(key, KIND);

	return kind ? kind + strlen(KIND) : key;
}

void key_open_in(const char *key, struct buf *out)
{
	const char *kind = key_kind_in(key), *open = strstr(kind, SECTIONS_END);

	buf_add(out, str_sub(str_of(kind), 0, str_find(str_of(kind), STR(" "))));
	buf_adds(out, open ? open + strlen(SECTIONS_END) : "");
}

/* All but the counters. */
void key_kind(const struct key_rules *r, const struct context *c, unsigned changes, struct buf *out)
{
	buf_addf(out, "%s %u ", context_get(c, "state").p, changes);
	if (context_get(c, "question").n)
		buf_adds(out, "question ");
	buf_addf(out, "%s ", context_get(c, "question_trigger").p);
	buf_addf(out, "%d%d%d ", context_get(c, "troubleshooter_input").n > 0,
		context_get(c, "spec_path").n > 0, context_get(c, "pr_url").n > 0);
	add_asked(r, c, changes, out);
	add_sections(c, out);
	add_outstanding(c, out);
}

bool key_budget(const struct context *c)
{
	CLEANUP(json_free) json *array = NULL;
	struct error err;

	if (str_is(context_get(c, "question_trigger"), BUDGET_TRIGGER))
		return true;
	if (actions_load(c, &array, &err) < 0)
		return false;
	for (const json *a = json_first(array); a; a = json_next(a))
		if (action_is_troubleshooter(a) &&
			strcmp(json_get_str(a, "trigger"), BUDGET_TRIGGER) == 0)
			return true;
	return false;
}

void key_trim(const struct key_rules *r, struct context *c)
{
	bool budget = key_budget(c);

	for (size_t i = 0; i < context_sections(c); i++) {
		struct str name = context_section_name(c, i);
		char *copy = arena_dup(&c->arena, name);

		if (!decides(name) && !str_is(name, CONTEXT_ACTIONS))
			context_put(c, copy, (struct str){0});
	}
	context_set_count(c, "actions_dispatched", budget ? r->w->limits.max_actions : 0);
	if (context_has(c, "budget_extensions"))
		context_set_count(c, "budget_extensions", 0);
}
