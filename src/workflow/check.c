#include "context/context.h"
#include "src/base/vec.h"
#include "src/workflow/workflow.h"

/*
 * Faults are collected and reported in the order of the file. The triggers of a state come from the
 * table of built-in steps or from its declaration; only transitions that can happen are followed.
 */
struct workflow_fault {
	unsigned line, col;
	size_t n; /* order of finding, for faults at one place */
	char *text;
};

struct workflow_check {
	struct arena arena;
	const struct workflow *w;
	const struct workflow_builtin *builtin;
	VEC(struct workflow_fault) faults;
	const struct workflow_state *initial;
	bool *live;    /* one a edge of w: it can happen */
	bool *reached; /* one a state: from the initial one */
	bool *ends;    /* one a state: an end can be reached */
};

static void add_fault(struct workflow_check *c, unsigned line, unsigned col, char *text)
{
	vec_push_in(&c->arena, &c->faults, (struct workflow_fault){line, col, c->faults.n, text});
}
#define workflow_check_fault(c, line, col, ...)                                                    \
	add_fault(c, line, col, arena_printf(&(c)->arena, __VA_ARGS__))

static int workflow_check_compare_faults(const void *pa, const void *pb)
{
	const struct workflow_fault *a = pa, *b = pb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->col != b->col)
		return a->col < b->col ? -1 : 1;
	return a->n < b->n ? -1 : a->n > b->n;
}

static const struct workflow_builtin *step_of(const struct workflow_check *c, const char *state)
{
	for (const struct workflow_builtin *s = c->builtin; s && s->state; s++)
		if (!strcmp(s->state, state))
			return s;
	return NULL;
}

/* An edge out of `s` must have the trigger that is given at this place. */
static void check_trigger(struct workflow_check *c, const struct workflow_state *s,
	const char *trigger, unsigned line, unsigned col)
{
	for (size_t i = 0; i < c->w->n_edges; i++) {
		const struct workflow_edge *e = &c->w->edges[i];

		if (&c->w->states[e->from_state] == s && !strcmp(e->trigger, trigger)) {
			c->live[i] = true;
			return;
		}
	}
	workflow_check_fault(c, line, col, "state '%s' has no transition for its trigger '%s'",
		s->name, trigger);
}

/* Where one visit more than its limit leads; NULL: it has no limit, or no edge for that. */
static const struct workflow_state *behind_limit(
	const struct workflow_check *c, const struct workflow_state *s)
{
	const char *trigger = s->declared ? s->declared->rules.limit_trigger : NULL;

	for (size_t i = 0; trigger && i < c->w->n_edges; i++) {
		const struct workflow_edge *e = &c->w->edges[i];

		if (&c->w->states[e->from_state] == s && !strcmp(e->trigger, trigger))
			return &c->w->states[e->to_state];
	}
	return NULL;
}

/* Once all limits of a circle are reached, no step ends. Its first state reports it. */
static void check_limits(struct workflow_check *c, const struct workflow_state *s)
{
	const char *way = arena_printf(&c->arena, "'%s'", s->name);
	const struct workflow_state *to = behind_limit(c, s);

	for (size_t n = 1; to && to > s && n < c->w->n_states; n++) {
		way = arena_printf(&c->arena, "%s -> '%s'", way, to->name);
		to = behind_limit(c, to);
	}
	if (to == s)
		workflow_check_fault(c, s->declared->rules.limit_line, s->declared->rules.limit_col,
			"the limits lead in a circle: %s -> '%s'", way, s->name);
}

/* The triggers of a declared state are those of its items' result words, and of its limit. */
static void check_declared(struct workflow_check *c, const struct workflow_state *s)
{
	const struct declared_state *d = s->declared;

	if (d->n > c->w->limits.max_actions)
		workflow_check_fault(c, d->line, d->col,
			"state '%s' has %zu actions, but 'max_actions' is %lu", s->name, d->n,
			c->w->limits.max_actions);
	if (d->rules.limit)
		check_trigger(
			c, s, d->rules.limit_trigger, d->rules.limit_line, d->rules.limit_col);
	check_limits(c, s);
	for (size_t i = 0; i < d->n; i++) {
		const struct declared_action *it = &d->items[i];
		const struct declared_outcome *good = it->outcomes;

		for (size_t k = 0; k < it->n_outcomes; k++)
			check_trigger(c, s, it->outcomes[k].trigger, it->outcomes[k].line,
				it->outcomes[k].col);
		if (strcmp(good->trigger, d->items[0].outcomes->trigger) != 0)
			workflow_check_fault(c, good->line, good->col,
				"good word '%s' gives '%s', but '%s' in line %u gives '%s': all "
				"items of '%s' must agree",
				good->word, good->trigger, d->items[0].outcomes->word,
				d->items[0].outcomes->line, d->items[0].outcomes->trigger, s->name);
	}
}

/* The initial state and terminal states have no step. */
static void workflow_check_state(struct workflow_check *c, const struct workflow_state *s)
{
	const struct workflow_builtin *step = step_of(c, s->name);
	const char *why = s == c->initial ? "is left at once" : "is an end";

	if ((step || s->declared) && (s == c->initial || s->terminal))
		workflow_check_fault(
			c, s->line, s->col, "state '%s' %s, so its step never runs", s->name, why);
	else if (s == c->initial || s->terminal)
		return;
	else if (s->declared)
		check_declared(c, s);
	else if (step)
		for (const char *const *t = step->triggers; *t; t++)
			check_trigger(c, s, *t, s->line, s->col);
	else
		workflow_check_fault(c, s->line, s->col,
			"unknown state '%s': no step serves it and the frontmatter does not "
			"declare it",
			s->name);
}

static void check_initial(struct workflow_check *c)
{
	const struct workflow_state *s = c->initial;
	size_t n = 0;

	for (size_t i = 0; i < c->w->n_edges; i++) {
		const struct workflow_edge *e = &c->w->edges[i];

		if (!strcmp(e->from, s->name)) {
			c->live[i] = true;
			n++;
		}
		if (!strcmp(e->to, s->name))
			workflow_check_fault(c, e->line, e->col,
				"edge leads back to the initial state '%s', which no step serves",
				s->name);
	}
	if (n != 1)
		workflow_check_fault(c, s->line, s->col,
			"initial state '%s' must have exactly one way out, not %zu", s->name, n);
}

/* Follows every edge out of a state without a step, so that one fault is reported once. */
static void revive_unknown(struct workflow_check *c)
{
	for (size_t i = 0; i < c->w->n_edges; i++) {
		const struct workflow_edge *e = &c->w->edges[i];

		if (!c->w->states[e->from_state].declared && !step_of(c, e->from))
			c->live[i] = true;
	}
}

/* Marks what can be reached from the marked states, along the edges or against them. */
static void workflow_check_spread(struct workflow_check *c, bool *mark, bool against)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < c->w->n_edges; i++) {
			const struct workflow_edge *e = &c->w->edges[i];
			size_t from = against ? e->to_state : e->from_state,
			       to = against ? e->from_state : e->to_state;

			if (!c->live[i] || !mark[from] || mark[to])
				continue;
			mark[to] = more = true;
		}
	}
}

static void check_ways(struct workflow_check *c)
{
	const struct workflow_state *first = c->initial;
	const struct workflow_state *success = workflow_state(c->w, "done");
	bool any = false;

	c->reached[first - c->w->states] = true;
	for (size_t i = 0; i < c->w->n_states; i++)
		any |= c->ends[i] = c->w->states[i].terminal;
	workflow_check_spread(c, c->reached, false);
	workflow_check_spread(c, c->ends, true);
	if (!any)
		workflow_check_fault(c, first->line, first->col,
			"no state is an end: 'done --> [*]' is missing");
	else if (!success || !success->terminal)
		workflow_check_fault(c, first->line, first->col,
			"no end is called 'done', so that this workflow can never succeed");
	for (size_t i = 0; i < c->w->n_states; i++) {
		const struct workflow_state *s = &c->w->states[i];

		if (!c->reached[i])
			workflow_check_fault(c, s->line, s->col,
				"state '%s' cannot be reached from '%s'", s->name, first->name);
		else if (any && !c->ends[i] && s != first)
			workflow_check_fault(
				c, s->line, s->col, "state '%s' cannot reach an end", s->name);
	}
}

/* ---- keys for states that are not there ---- */

/* `other`: NULL, or a state for which the key is, too. */
static void check_key(struct workflow_check *c, const char *name, unsigned line, unsigned col,
	const char *state, const char *other)
{
	if (line && !workflow_state(c->w, state) && !(other && workflow_state(c->w, other)))
		workflow_check_fault(c, line, col,
			"'%s' has no effect: the workflow has no state '%s'", name, state);
}

static void check_keys(struct workflow_check *c)
{
	const struct workflow_places *p = &c->w->places;

#define CHECK_KEY(name, ...) check_key(c, #name, p->name.line, p->name.col, __VA_ARGS__)
	CHECK_KEY(max_fix_iterations, "fixing", NULL);
	CHECK_KEY(max_review_fix_iterations, "fixing-pr", NULL);
	CHECK_KEY(signoff_deadlock, "signoff", NULL);
	CHECK_KEY(review_loop, "reviewing", NULL);
	CHECK_KEY(validate, "validating", "signoff");
	CHECK_KEY(validate_timeout, "validating", "signoff");
	CHECK_KEY(checks, "signoff", NULL);
	CHECK_KEY(research_skill, "researching", NULL);
	CHECK_KEY(reviewer, "reviewing", "signoff");
	CHECK_KEY(review_comments, "reviewing", NULL);
#undef CHECK_KEY
}

/* ---- tasks of declared agents ---- */

static bool finds_spec(const struct workflow_state *s)
{
	return !strcmp(s->name, "spec-finding");
}

static bool writes(const struct workflow_state *s, const char *section)
{
	for (size_t i = 0; s->declared && i < s->declared->n; i++)
		if (!strcmp(s->declared->items[i].writes, section))
			return true;
	return false;
}

static bool writes_brief(const struct workflow_state *s)
{
	return !strcmp(s->name, "researching") || !strcmp(s->name, "debugging") ||
	       writes(s, CONTEXT_BRIEF);
}

/* Marks the states that can be reached without leaving one that `gives` something. */
static bool *find_without(struct workflow_check *c, bool (*gives)(const struct workflow_state *s))
{
	bool *reached = arena_alloc(&c->arena, c->w->n_states), *live = c->live;

	c->live = arena_alloc(&c->arena, c->w->n_edges + 1);
	for (size_t i = 0; i < c->w->n_edges; i++)
		c->live[i] = live[i] && !gives(&c->w->states[c->w->edges[i].from_state]);
	reached[c->initial - c->w->states] = true;
	workflow_check_spread(c, reached, false);
	c->live = live;
	return reached;
}

/* The machine writes it in every workflow. */
static bool is_machine_section(const char *section)
{
	static const char *const names[] = {CONTEXT_LAST_FAILURE, CONTEXT_FAILED_ANSWER,
		CONTEXT_COMMENTS, CONTEXT_TROUBLE_LOG, NULL};

	return str_in(str_of(section), names) || str_starts(str_of(section), CONTEXT_EARLIER);
}

/* What a state writes is cleared when it is entered, and what the machine writes is not there at a
 * first visit. An agent has its id then; a child needs a text at each visit. */
static bool has_text(const struct workflow_check *c, const struct workflow_state *s,
	const struct declared_action *it, const char *section)
{
	bool first = false, again = false;

	if (!strcmp(section, it->writes) || (!it->n_after && writes(s, section)))
		return false;
	for (size_t i = 0; i < c->w->n_edges; i++) {
		bool initial = !strcmp(c->w->edges[i].from, c->initial->name);

		if (!c->live[i] || strcmp(c->w->edges[i].to, s->name) != 0)
			continue;
		first |= initial;
		again |= !initial;
	}
	return (again && !(it->child && first)) || !is_machine_section(section);
}

static void check_task(
	struct workflow_check *c, const struct workflow_state *s, const struct declared_action *it)
{
	bool has_task = it->task;

	for (size_t i = 0; i < it->n_reads; i++)
		has_task |= has_text(c, s, it, it->reads[i]);
	for (size_t i = 0; i < it->n_args; i++) {
		if (!strcmp(it->args[i], "SPEC_PATH"))
			workflow_check_fault(c, it->line, it->col,
				"'SPEC_PATH' is not set here: no state 'spec-finding' comes "
				"before");
		has_task |= strcmp(it->args[i], "ID") != 0;
	}
	if (!has_task && it->child)
		workflow_check_fault(c, it->line, it->col,
			"the child '%s' gets no task: it has no 'task', reads no section that was "
			"written before, and no state 'spec-finding' comes before",
			it->child);
	else if (!has_task)
		workflow_check_fault(c, it->line, it->col,
			"the agent '%s' gets no task: it reads no section that was written before, "
			"has no argument but the id, and no state 'spec-finding' comes before",
			it->agent);
}

static void check_tasks(struct workflow_check *c)
{
	const bool *without_spec = find_without(c, finds_spec);

	for (size_t i = 0; i < c->w->n_states; i++) {
		const struct declared_state *d = c->w->states[i].declared;

		for (size_t k = 0; d && without_spec[i] && k < d->n; k++)
			if (d->items[k].agent || d->items[k].child)
				check_task(c, &c->w->states[i], &d->items[k]);
	}
}

/* The developer of the built-in state works by the brief. */
static void check_brief(struct workflow_check *c)
{
	const struct workflow_state *s = workflow_state(c->w, "implementing");

	if (s && !s->declared && find_without(c, writes_brief)[s - c->w->states])
		workflow_check_fault(c, s->line, s->col,
			"the developer of '%s' gets no task: no state before it writes the "
			"'" CONTEXT_BRIEF "', as 'researching' does",
			s->name);
}

/* The machine, or a built-in state, writes it. */
static bool is_known_section(const struct workflow_check *c, const char *section)
{
	static const char *const names[] = {CONTEXT_SPEC, CONTEXT_PULL_REQUEST, NULL};

	for (const struct workflow_builtin *s = c->builtin; s && s->state; s++)
		if ((s->answer && !strcmp(s->answer, section)) ||
			(s->verdicts && str_in(str_of(section), s->verdicts)))
			return true;
	return is_machine_section(section) || str_in(str_of(section), names) ||
	       str_starts(str_of(section), CONTEXT_FIX);
}

/* Its text would be replaced or removed before anybody reads it, or counted as the answer. */
static bool is_overwritten(const struct workflow *w, const char *section)
{
	return is_machine_section(section) ||
	       (!strcmp(section, CONTEXT_SPEC) && workflow_state(w, "spec-finding"));
}

static void check_reads(struct workflow_check *c, const struct declared_action *it)
{
	for (size_t i = 0; i < it->n_reads; i++) {
		bool written = is_known_section(c, it->reads[i]);

		for (size_t k = 0; k < c->w->n_states && !written; k++)
			written = writes(&c->w->states[k], it->reads[i]);
		if (!written)
			workflow_check_fault(c, it->line, it->col,
				"'reads' names the section '%s', which nothing writes",
				it->reads[i]);
	}
}

static void check_sections(struct workflow_check *c)
{
	for (size_t i = 0; i < c->w->n_declared; i++)
		for (size_t k = 0; k < c->w->declared[i].n; k++) {
			const struct declared_action *it = &c->w->declared[i].items[k];

			if (is_overwritten(c->w, it->writes))
				workflow_check_fault(c, it->line, it->col,
					"'writes' names the section '%s', which the machine writes",
					it->writes);
			check_reads(c, it);
		}
}

/* ---- work that is not pushed ---- */

enum { LOCAL_CLEAN, LOCAL_WORK };

static unsigned claims_of(const struct workflow_check *c, const struct workflow_state *s)
{
	const struct workflow_builtin *step = step_of(c, s->name);
	unsigned kinds = step ? step->evidence : 0;

	for (size_t i = 0; s->declared && i < s->declared->n; i++)
		kinds |= s->declared->items[i].evidence.kinds;
	return kinds;
}

static bool has_effect(const struct workflow_state *s, const char *effect)
{
	const struct declared_rules *rules = s->declared ? &s->declared->rules : NULL;

	for (size_t i = 0; rules && i < rules->n_effects; i++)
		if (!strcmp(rules->effects[i], effect))
			return true;
	return false;
}

/* The good trigger means that the branch is on the remote. */
static bool publishes(
	const struct workflow_check *c, const struct workflow_state *s, const char *trigger)
{
	const struct workflow_builtin *step = step_of(c, s->name);

	if (s->declared)
		return !strcmp(trigger, s->declared->items->outcomes->trigger) &&
		       (has_effect(s, "push") ||
			       claims_of(c, s) & (EVIDENCE_PULL | EVIDENCE_REVIEW));
	return step && !strcmp(trigger, step->triggers[0]) &&
	       step->evidence & (EVIDENCE_TREE | EVIDENCE_PULL | EVIDENCE_REVIEW);
}

/* Whether there is work that was not pushed after a transition. */
static bool local_after(const struct workflow_check *c, const struct workflow_edge *e, bool local)
{
	const struct workflow_state *s = &c->w->states[e->from_state];

	if (publishes(c, s, e->trigger))
		return false;
	return local || claims_of(c, s) & EVIDENCE_WORK || has_effect(s, "commit");
}

/* seen: for each state, with and without such work. */
static void spread_local(const struct workflow_check *c, bool (*seen)[2], size_t state, bool local)
{
	if (seen[state][local])
		return;
	seen[state][local] = true;
	for (size_t i = 0; i < c->w->n_edges; i++)
		if (c->w->edges[i].from_state == state)
			spread_local(c, seen, c->w->edges[i].to_state,
				local_after(c, &c->w->edges[i], local));
}

bool workflow_may_stay_local(const struct workflow *w, const struct workflow_builtin *builtin)
{
	const struct workflow_state *first = workflow_state(w, w->initial),
				    *done = workflow_state(w, "done");
	struct workflow_check c = {.w = w, .builtin = builtin, .initial = first};
	bool(*seen)[2] = arena_alloc(&c.arena, w->n_states * sizeof(*seen)), local;

	spread_local(&c, seen, (size_t)(first - w->states), LOCAL_CLEAN);
	local = done && seen[done - w->states][LOCAL_WORK];
	arena_release(&c.arena);
	return local;
}

static void check_declarations(struct workflow_check *c)
{
	for (size_t i = 0; i < c->w->n_declared; i++) {
		const struct declared_state *d = &c->w->declared[i];

		if (step_of(c, d->name))
			workflow_check_fault(c, d->line, d->col,
				"state '%s' is built in and cannot be declared", d->name);
		if (!workflow_state(c->w, d->name))
			workflow_check_fault(c, d->line, d->col,
				"state '%s' is declared but not in the diagram", d->name);
	}
}

/* Finds the edges that can be taken. */
static void check_states(struct workflow_check *c)
{
	const struct workflow *w = c->w;

	c->live = arena_alloc(&c->arena, w->n_edges + 1);
	c->reached = arena_alloc(&c->arena, w->n_states);
	c->ends = arena_alloc(&c->arena, w->n_states);
	check_initial(c);
	for (size_t i = 0; i < w->n_states; i++)
		workflow_check_state(c, &w->states[i]);
	revive_unknown(c);
}

static size_t print_faults(struct workflow_check *c, struct buf *out)
{
	vec_sort(&c->faults, workflow_check_compare_faults);
	for (size_t i = 0; i < c->faults.n; i++)
		buf_addf(out, "%s:%u:%u: %s\n", c->w->file, c->faults.items[i].line,
			c->faults.items[i].col, c->faults.items[i].text);
	arena_release(&c->arena);
	return c->faults.n;
}

size_t workflow_check(
	const struct workflow *w, const struct workflow_builtin *builtin, struct buf *out)
{
	struct workflow_check c = {
		.w = w, .builtin = builtin, .initial = workflow_state(w, w->initial)};

	check_states(&c);
	check_declarations(&c);
	check_ways(&c);
	check_keys(&c);
	check_tasks(&c);
	check_brief(&c);
	check_sections(&c);
	return print_faults(&c, out);
}

size_t workflow_check_tasks(
	const struct workflow *w, const struct workflow_builtin *builtin, struct buf *out)
{
	struct workflow_check c = {
		.w = w, .builtin = builtin, .initial = workflow_state(w, w->initial)};

	check_states(&c);
	c.faults.n = 0;
	check_tasks(&c);
	return print_faults(&c, out);
}
