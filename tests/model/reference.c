/* reference.c: what the engine must do, by the rows of reference_tables.c. */
#include "tests/model/reference.h"
#include "tests/model/reference_tables.h"

enum { MAX_CALLS = 3, MAX_EXTENSIONS = 2 };

static const struct model_text written_here;

/* ---- the document ---- */

static bool is(const char *a, const char *b)
{
	return a && b && *a == *b && strcmp(a, b) == 0;
}

struct model_slot *model_slot(struct model *m, const char *name)
{
	struct model_slot **s = &m->slots;

	while (*s && !is((*s)->name, name))
		s = &(*s)->next;
	if (!*s) {
		*s = arena_alloc(m->arena, sizeof(**s));
		**s = (struct model_slot){.name = name, .value = "", .text = &written_here};
	}
	return *s;
}

static const char *get(struct model *m, const char *name)
{
	return model_slot(m, name)->value;
}

static unsigned long count(struct model *m, const char *name)
{
	return strtoul(get(m, name), NULL, 10);
}

/* Makes the changes of a list. */
static void change(struct model *m, const char *list)
{
	for (const char *const *c = arena_items(m->arena, str_of(list)); *c; c++) {
		const char *name = *c + 1;
		struct model_slot *s = model_slot(m, name);

		if (**c == '!') {
			model_slot(m, *c)->value = MODEL_WRITTEN;
			m->failed |= strstr(m->how.fails, *c) != NULL;
		} else if (**c == '?') {
			change(m, !*get(m, "pr_url") ? ""
				  : m->how.red       ? "!checks, +Last Failure"
						     : "!checks");
		} else if (**c == '1') {
			s->value = arena_printf(m->arena, "%lu", count(m, name) + 1);
		} else if (**c == '+' || **c == '-') {
			s->value = **c == '+' ? MODEL_WRITTEN : "";
			s->text = &written_here;
		} else if (*s->value &&
			   count(m, arena_printf(m->arena, "attempts %s", get(m, "state")))) {
			model_slot(m, arena_printf(m->arena, "Earlier %s", name))->value = s->value;
			s->value = "";
		}
	}
}

/* Of a declared state; else NULL. */
static const struct declared_rules *rules_of(struct model *m, const char *state)
{
	const struct workflow_state *st = workflow_state(m->workflow, state);

	return st && st->declared ? &st->declared->rules : NULL;
}

/* The trigger of a counter at its limit: in the state, or for the troubleshooter (NULL). `only`:
 * this one, or any (NULL). */
static const char *at_limit(struct model *m, const char *state, const char *only)
{
	const char *most = (const char *)&m->workflow->limits;

	const struct declared_rules *own = state ? rules_of(m, state) : NULL;

	if (own && own->limit && count(m, arena_printf(m->arena, "visits %s", state)) > own->limit)
		return own->limit_trigger;
	for (const struct limit *l = reference_limits; l->counter; l++)
		if ((state ? is(l->state, state) : !l->state) && (!only || is(l->trigger, only)) &&
			count(m, l->counter) >=
				*(const unsigned long *)(const void *)(most + l->limit))
			return l->trigger;
	return NULL;
}

/* What the state requests now; the last one has no section. */
static const struct action *actions_of(struct model *m, const char *state)
{
	const struct workflow_state *st = workflow_state(m->workflow, state);
	VEC(struct action) list = {0};

	for (size_t i = 0; st && st->declared && i < st->declared->n; i++) {
		const struct declared_action *d = &st->declared->items[i];
		struct action a = {
			state, d->writes, d->agent, "", DECLARED, d->evidence.kinds, {{0}}};

		for (size_t k = 0; k < d->n_reads; k++)
			a.reads = arena_printf(m->arena, "%s%s,", a.reads, d->reads[k]);
		for (size_t k = 0; k < d->n_outcomes; k++)
			a.results[k] = (struct result){d->outcomes[k].word, d->outcomes[k].trigger};
		vec_push_in(m->arena, &list, a);
	}
	for (const struct action *a = reference_actions; a->state; a++) {
		if (!is(a->state, state) ||
			(is(state, "reviewing") && !*get(m, "pr_url") != is(a->section, "PR URL")))
			continue;
		vec_push_in(m->arena, &list, *a);
		if (is(a->section, "Fix"))
			list.items[list.n - 1].section = arena_printf(m->arena, "Fix %lu",
				1 + count(m, "fix_iteration") + count(m, "review_fix_iteration"));
	}
	vec_push_in(m->arena, &list, (struct action){0});
	return list.items;
}

/* ---- requests ---- */

/* Of a script; what somebody writes in its place is no answer. */
bool model_is_script(const struct model_slot *s)
{
	return s->asks && str_starts(str_of(s->asks), "script");
}

bool model_is_open(const struct model_slot *s)
{
	return s->id && !s->word && (s->trigger || model_is_script(s) || !*s->value);
}

static bool has_answer(struct model *m, const struct action *a)
{
	const struct model_slot *s = model_slot(m, a->section);

	return *s->value && (a->agent || is(a->section, "spec_path") || (s->id && s->word));
}

struct model_slot *model_request(struct model *m, const char *id)
{
	struct model_slot *s = m->slots;

	while (s && !is(s->id, id))
		s = s->next;
	return s;
}

/* All, or those that are open: what is answered stays, and is no answer to the next array. */
static void drop_requests(struct model *m, bool all)
{
	for (struct model_slot *s = m->slots; s; s = s->next) {
		s->id = all || model_is_open(s) ? NULL : s->id;
		s->carried = true;
	}
}

static void dispatch(struct model *m, struct model_slot *s)
{
	const char *attempts = arena_printf(m->arena, "attempts %s", s->state);

	change(m, arena_printf(m->arena, "1%s, 1actions_dispatched", attempts));
	s->id = arena_printf(m->arena, "T-1/%s/%s", s->state, get(m, attempts));
}

/* A report and fixes that are not there are not read. */
static void request(struct model *m, const struct action *a, const char *trigger)
{
	struct model_slot *s = model_slot(m, a->section), **link = &m->slots;
	const char *asks = arena_printf(m->arena, "%s [", a->agent ? a->agent : "script");

	for (const char *const *r = arena_items(m->arena, str_of(a->reads)); *r; r++)
		for (unsigned n = 1; n <= (is(*r, "Fix") ? 20 : 1); n++) {
			const char *name = is(*r, "Fix") ? arena_printf(m->arena, "Fix %u", n) : *r;

			if (*get(m, name) || (name == *r && !is(name, "Debug Report")))
				asks = arena_printf(m->arena, "%s%s,", asks, name);
		}
	for (unsigned i = 0; a->results[i].word; i++)
		asks = arena_printf(m->arena, "%s%s%s", asks, i ? " | " : "] ", a->results[i].word);
	while (*link != s)
		link = &(*link)->next;
	*link = s->next; /* to the end: the array has the order of the requests */
	while (*link)
		link = &(*link)->next;
	*link = s;
	*s = (struct model_slot){.name = s->name,
		.value = s->value,
		.text = s->text,
		.state = a->state,
		.asks = asks,
		.trigger = trigger,
		.user_answered = trigger && *get(m, "troubleshooter_input")};
	dispatch(m, s);
}

/* ---- transitions ---- */

/* The changes of the state. */
static void react(struct model *m, const char *when)
{
	const char *state = get(m, "state");

	for (const struct state_change *c = reference_changes; c->state; c++)
		if (is(c->state, state) && is(c->when, when))
			change(m, c->changes);
}

/* `failed` need not be in the diagram. */
static bool is_end(struct model *m)
{
	const struct workflow_state *st = workflow_state(m->workflow, get(m, "state"));

	return !st || st->terminal;
}

/* ---- failures of single actions ---- */

static const struct declared_state *with_order(struct model *m);

static const char *failures_of(struct model *m, const char *section)
{
	return arena_printf(m->arena, "failures %s", section);
}

/* No action counts more than all of them. */
static unsigned long failed(struct model *m, const char *section)
{
	unsigned long n = count(m, failures_of(m, section)),
		      most = count(m, "consecutive_failures");

	return n < most ? n : most;
}

/* The counts of the present state's actions are written, and no others. */
static void begin_counting(struct model *m)
{
	for (struct model_slot *s = m->slots; s; s = s->next) {
		const char *name = s->name + strlen("failures ");
		bool known = false;

		if (strncmp(s->name, "failures ", strlen("failures ")) != 0)
			continue;
		for (const struct action *a = actions_of(m, get(m, "state"));
			with_order(m) && a->section; a++)
			known |= is(a->section, name) || is(name, "<end>");
		s->value = known && failed(m, name) ? arena_printf(m->arena, "%lu", failed(m, name))
						    : "";
	}
}

static void end_counting(struct model *m)
{
	unsigned long most = 0;

	for (struct model_slot *s = m->slots; s; s = s->next)
		if (strncmp(s->name, "failures ", 9) == 0 && strtoul(s->value, NULL, 10) > most)
			most = strtoul(s->value, NULL, 10);
	model_slot(m, "consecutive_failures")->value = arena_printf(m->arena, "%lu", most);
}

/* A ruling of the troubleshooter is for the actions that have reached the limit. */
static void forget_reached(struct model *m)
{
	begin_counting(m);
	for (struct model_slot *s = m->slots; s; s = s->next)
		if (strncmp(s->name, "failures ", 9) == 0 &&
			strtoul(s->value, NULL, 10) >= m->workflow->limits.consecutive_failures)
			s->value = "";
	end_counting(m);
}

static void forget_each(struct model *m)
{
	bool any = false;

	for (struct model_slot *s = m->slots; s; s = s->next)
		if (strncmp(s->name, "failures ", 9) == 0) {
			any |= *s->value != '\0';
			s->value = "";
		}
	change(m, any ? "-consecutive_failures" : "");
}

/* `to` NULL: where the trigger leads. `why`: a failure that ends the run, or NULL. */
static bool enter(struct model *m, const char *to, const char *trigger, const char *why)
{
	const char *from = get(m, "state");

	to = to ? to : workflow_target(m->workflow, from, trigger);
	m->failed |= !to;
	if (m->failed)
		return false;
	model_slot(m, "path")->value =
		arena_printf(m->arena, "%s%s -> %s %s; ", get(m, "path"), from, to, trigger);
	model_slot(m, "state")->value = to;
	model_slot(m, "outcome")->value =
		why         ? why
		: is_end(m) ? arena_printf(m->arena, "'%s' gave '%s'", from, trigger)
			    : "";
	drop_requests(m, true);
	forget_each(m);
	change(m, why ? "-troubleshooter_calls, +Last Failure" : "-troubleshooter_calls");
	for (const struct action *a = actions_of(m, to); a->kind == DECLARED; a++)
		model_slot(m, a->section)->value = "";
	if (rules_of(m, to) && rules_of(m, to)->limit)
		change(m, arena_printf(m->arena, "1visits %s", to));
	react(m, "entered");
	return true;
}

/* ---- the troubleshooter ---- */

/* When it was called too often, a person must look. */
static bool call_troubleshooter(struct model *m, const char *trigger)
{
	drop_requests(m, false);
	change(m, "-question");
	model_slot(m, "question_trigger")->value = trigger;
	if (count(m, "troubleshooter_calls") >= MAX_CALLS) {
		change(m, "-troubleshooter_input");
		return false;
	}
	change(m, "-question_trigger, 1troubleshooter_calls");
	request(m, actions_of(m, "troubleshooter"), trigger);
	return false;
}

/* A person has removed the reason of the call. */
static bool is_gone(struct model *m, const char *trigger)
{
	return is(trigger, "unknown_state")
		       ? actions_of(m, get(m, "state"))->section != NULL
		       : !is(trigger, "needs_clarification") && !at_limit(m, NULL, trigger);
}

static bool take_decision(struct model *m, struct model_slot *call)
{
	bool budget = is(call->trigger, "budget_exceeded"), goes_on = is(call->word, "continue");
	const struct model_text *said = call->text;
	const char *calls = get(m, "troubleshooter_calls");

	call->id = NULL;
	if (budget && goes_on && *get(m, "troubleshooter_input"))
		change(m, "-budget_extensions");
	change(m, "-troubleshooter_input");
	if (is(call->word, "terminate"))
		return enter(m, "failed", "terminated",
			arena_printf(m->arena, "ended by the troubleshooter: %s", said->reason));
	if (!goes_on || (budget && count(m, "budget_extensions") >= MAX_EXTENSIONS)) {
		change(m, "+question");
		model_slot(m, "question_trigger")->value = call->trigger;
		return true;
	}
	change(m, budget ? "-actions_dispatched, 1budget_extensions" : "");
	forget_reached(m);
	for (const struct limit *l = reference_limits; !is(l->trigger, "budget_exceeded"); l++)
		if (!is(l->trigger, "consecutive_failures") && at_limit(m, NULL, l->trigger))
			model_slot(m, l->counter)->value = "";
	for (size_t i = 0; said->changes && said->changes[i].name; i++) {
		struct model_slot *s = model_slot(m, said->changes[i].name);

		if (is(s->name, "state"))
			(void)enter(m, said->changes[i].value, "troubleshooter", NULL);
		else
			s->value = said->changes[i].value;
		s->text = &written_here; /* also over what a person wrote there */
	}
	model_slot(m, "troubleshooter_calls")->value = calls; /* this is no progress */
	return true;
}

/* ---- answers ---- */

/* Of the answer in the section; one without a word: it gives none of the action's. */
static const struct result *result_of(struct model *m, const struct action *a)
{
	const struct model_slot *s = model_slot(m, a->section);
	const char *word = s->id && s->word ? s->word : s->text->status;
	const struct result *r = a->results;

	while (r->word && *r->word && !is(r->word, word))
		r++;
	return a->kind == URL && !s->text->has_url ? a->results + 1 : r;
}

/* What is not answered is requested again. `section`: of the answer that has failed, or NULL. */
static bool retry(struct model *m, bool progress, const char *section)
{
	const struct model_slot *call = model_slot(m, LOG);
	const char *trigger = model_is_open(call) ? call->trigger : NULL;

	m->how.returned = false;
	if (section && with_order(m)) {
		begin_counting(m);
		change(m, arena_printf(m->arena, "1%s", failures_of(m, section)));
		end_counting(m);
	} else {
		change(m, progress ? "-consecutive_failures" : "1consecutive_failures");
	}
	drop_requests(m, false);
	return !trigger || call_troubleshooter(m, trigger);
}

/* ---- evidence ---- */

static unsigned required(const struct model *m, const struct action *a)
{
	return a->kind == DECLARED ? a->evidence : a->evidence & m->workflow->evidence.kinds;
}

static bool is_success(const struct model *m, const char *state)
{
	const struct workflow_state *st = workflow_state(m->workflow, state);

	return is(state, "done") && st && st->terminal;
}

static const struct declared_action *item_of(const struct declared_state *d, const char *section)
{
	const struct declared_action *item = d->items;

	while (!is(item->writes, section))
		item++;
	return item;
}

/* The word lets the item be dispatched, as far as the answer in `section` matters. */
static bool is_accepted(const struct declared_action *item, const char *section, const char *word)
{
	bool named = false;

	for (size_t i = 0; i < item->n_when; i++) {
		const struct declared_when *w = &item->when[i];

		if (w->section && !is(w->section, section))
			continue;
		named = true;
		for (size_t k = 0; k < w->n_words; k++)
			if (is(w->words[k], word))
				return true;
	}
	return !named;
}

/* Every way to the item, or with `any` one of them, is open whatever is answered. */
static bool may_be_skipped(const struct declared_state *d, const struct declared_action *item)
{
	size_t sure = 0;

	for (size_t i = 0; i < item->n_after; i++) {
		const struct declared_action *before = item_of(d, item->after[i]);
		bool is_sure = !may_be_skipped(d, before);

		for (size_t k = 0; k < before->n_outcomes; k++)
			is_sure &= is_accepted(item, before->writes, before->outcomes[k].word);
		sure += is_sure;
	}
	return is(item->join, "any") ? !sure : sure < item->n_after;
}

/* What success requires. */
static unsigned required_at_end(struct model *m)
{
	const struct workflow *w = m->workflow;
	unsigned kinds = w->evidence.given ? w->evidence.kinds : 0;

	for (size_t i = 0; i < w->n_states; i++) {
		const struct declared_state *d = w->states[i].declared;

		for (size_t k = 0; d && k < d->n; k++)
			if (!may_be_skipped(d, &d->items[k]))
				kinds |= d->items[k].evidence.kinds;
		for (const struct action *a = reference_actions; !d && a->state; a++)
			if (is(a->state, w->states[i].name))
				kinds |= required(m, a);
	}
	return w->evidence.command ? kinds : kinds & EVIDENCE_ALL;
}

/* What was found earlier is not so of HEAD. */
static bool is_outdated(const struct model *m, unsigned kinds)
{
	return (kinds & EVIDENCE_TREE && (m->how.moved || !m->validated)) ||
	       (kinds & EVIDENCE_REVIEW && (m->how.moved || !m->approved));
}

static bool is_refuted(struct model *m, const struct action *a, unsigned at_end)
{
	unsigned kinds = required(m, a);
	bool moved = m->how.moved || !m->is_dated(m->data, a->section);

	return (kinds & (EVIDENCE_TREE | EVIDENCE_REVIEW) && moved) ||
	       ((kinds | at_end) & m->how.refuted);
}

/* Of the claims in the list, ended by one without a section, which are refuted. */
static const struct action *refuted_of(
	struct model *m, const struct action *list, unsigned at_end, bool *any)
{
	VEC(struct action) refuted = {0};

	for (const struct action *a = list; a->section; a++)
		if (is_refuted(m, a, at_end))
			vec_push_in(m->arena, &refuted, *a);
	*any = refuted.n || at_end & m->how.refuted;
	for (const struct action *a = list; a->section && !*any; a++) {
		m->validated |= (required(m, a) & EVIDENCE_TREE) != 0;
		m->approved |= (required(m, a) & EVIDENCE_REVIEW) != 0;
	}
	if (!*any && is_outdated(m, at_end)) {
		*any = true;
		return list;
	}
	vec_push_in(m->arena, &refuted, (struct action){0});
	return refuted.items;
}

/* An agent is asked again; only a script has failed. A review is void as a whole. Without a claim
 * the first answer of the state is at fault. */
static bool refuse(struct model *m, const struct action *list, const struct action *all)
{
	struct action one[2] = {0};
	const struct action *first;
	unsigned kinds = 0;

	while (!list->section && all->section && !model_slot(m, all->section)->id)
		all++;
	if (!list->section && !all->section)
		return enter(m, "failed", "evidence", MODEL_WRITTEN);
	if (!list->section) {
		one[0] = (struct action){.section = all->section, .agent = "any"};
		list = one;
	}
	first = list;
	for (const struct action *a = list; a->section; a++)
		kinds |= required(m, a);
	while (first->section && !first->agent)
		first++;
	for (const struct action *a = list; a->section; a++) {
		struct model_slot *s = model_slot(m, a->section);
		static const struct model_text failed = {.status = "failed"};

		if (!first->section) {
			s->value = MODEL_WRITTEN;
			s->text = &failed;
			s->word = s->id ? "failed" : s->word;
		} else if (a->section == first->section || kinds & EVIDENCE_REVIEW) {
			s->id = NULL;
			change(m, arena_printf(m->arena, "-%s", a->section));
		}
	}
	if (!first->section)
		return true;
	if (kinds & EVIDENCE_REVIEW && is(get(m, "state"), "signoff"))
		change(m, "1signoff_cycle_count");
	else if (kinds & EVIDENCE_REVIEW && rules_of(m, get(m, "state")))
		change(m, "1review_cycle_count");
	change(m, "+Failed Answer");
	return retry(m, false, first->evidence ? first->section : "<end>");
}

/* True: `list` claims nothing that is refuted. */
static bool verify(struct model *m, const struct action *list, const char *trigger, bool claims)
{
	const char *to =
		is(trigger, "-") ? NULL : workflow_target(m->workflow, get(m, "state"), trigger);
	unsigned at_end = to && is_success(m, to) ? required_at_end(m) : 0, kinds = 0;
	static const struct action none;
	bool any = false;

	for (const struct action *a = list; claims && a->section; a++) {
		change(m, a->evidence & EVIDENCE_WORK ? "!commit" : "");
		kinds |= required(m, a);
	}
	if (m->failed || !(kinds | at_end))
		return true;
	change(m, "!evidence");
	list = refuted_of(m, claims ? list : &none, at_end, &any);
	m->done |= at_end && !any;
	if (!any)
		return true;
	m->refusals = list;
	return false;
}

/* Of a declared state whose answers are good. */
static const char *effects_of(struct model *m)
{
	const struct declared_rules *rules = rules_of(m, get(m, "state"));
	const char *list = "";

	for (size_t i = 0; i < rules->n_effects; i++)
		list = arena_printf(
			m->arena, "%s%s!%s", list, *list ? ", " : "", rules->effects[i]);
	return list;
}

/* All answers are there. The first one that is not good decides, else the first one. */
static bool decide(struct model *m, const struct action *list)
{
	const char *spent = at_limit(m, get(m, "state"), NULL), *trigger = spent;
	const struct action *bad = NULL;

	for (const struct action *a = list; !spent && a->section; a++) {
		const struct result *r = result_of(m, a);
		bool asks = is(r->trigger, "ask"), good;

		if (!r->word || is(r->trigger, "again") || asks) {
			model_slot(m, a->section)->id = NULL;
			change(m, arena_printf(m->arena, "-%s, +Failed Answer", a->section));
			return retry(m, asks, a->section) &&
			       (!asks || call_troubleshooter(m, "needs_clarification"));
		}
		good = r == a->results || (with_order(m) && is(r->trigger, a->results->trigger));
		if (!trigger || (!bad && !good))
			trigger = r->trigger;
		if (!good)
			react(m, (bad = a)->section);
	}
	if (!verify(m, list, trigger, !bad && !spent))
		return refuse(m, m->refusals, list);
	if (list->kind == DECLARED && !bad && !spent)
		change(m, effects_of(m));
	if (m->failed)
		return false;
	for (const struct action *a = list; !spent && a->section; a++)
		change(m, a->agent ? "-consecutive_failures" : "");
	change(m, "-Failed Answer");
	change(m, bad && bad->kind == DECLARED ? "+Last Failure" : "");
	react(m, trigger);
	drop_requests(m, true);
	return is(trigger, "-") || enter(m, NULL, trigger, NULL);
}

/* ---- a state whose actions wait for each other ---- */

bool model_is_together(struct model *m)
{
	const struct workflow_state *st = workflow_state(m->workflow, get(m, "state"));

	return st && st->declared;
}

static const struct declared_state *with_order(struct model *m)
{
	const struct workflow_state *st = workflow_state(m->workflow, get(m, "state"));

	for (size_t i = 0; st && st->declared && i < st->declared->n; i++)
		if (st->declared->items[i].n_after)
			return st->declared;
	return NULL;
}

static bool is_waited_for(const struct declared_state *d, const char *section)
{
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->items[i].n_after; k++)
			if (is(d->items[i].after[k], section))
				return true;
	return false;
}

/* The answer claims something that is not checked yet, and others wait for it. */
static bool is_claim(struct model *m, const struct declared_state *d, const struct action *a)
{
	return *get(m, a->section) && a->evidence && result_of(m, a) == a->results &&
	       is_waited_for(d, a->section) && !model_slot(m, a->section)->checked;
}

/* 'a': answered, 'o': outstanding, 'r': can be requested, 's': left out, 'w': it waits. */
static char place_of(struct model *m, const struct declared_state *d, const char *section)
{
	const struct declared_action *item = item_of(d, section);
	const struct action *a;
	size_t waits = 0, lets = 0;

	for (a = actions_of(m, get(m, "state")); !is(a->section, section); a++)
		;
	if (has_answer(m, a))
		return 'a';
	if (model_slot(m, section)->id && model_is_open(model_slot(m, section)))
		return 'o';
	for (size_t i = 0; i < item->n_after; i++) {
		char before = place_of(m, d, item->after[i]);
		const char *word = NULL;

		for (a = actions_of(m, get(m, "state")); !is(a->section, item->after[i]); a++)
			;
		if (before == 'a' && !is_claim(m, d, a))
			word = result_of(m, a)->word;
		lets += word && is_accepted(item, item->after[i], word);
		waits += before != 's' && !word;
		if (!is(item->join, "any") &&
			(before == 's' || (word && !is_accepted(item, item->after[i], word))))
			return 's';
	}
	if (waits)
		return 'w';
	return item->n_after && !lets ? 's' : 'r';
}

/* Those of the list whose place is `place`, or, without one, that claim something. */
static const struct action *those(struct model *m, const struct declared_state *d, char place)
{
	VEC(struct action) found = {0};

	for (const struct action *a = actions_of(m, get(m, "state")); a->section; a++)
		if (place ? place_of(m, d, a->section) == place : is_claim(m, d, a)) {
			vec_push_in(m->arena, &found, *a);
			/* checked before, or another good word */
			if (place && (model_slot(m, a->section)->checked ||
					     result_of(m, a) != a->results))
				found.items[found.n - 1].evidence = 0;
		}
	vec_push_in(m->arena, &found, (struct action){0});
	return found.items;
}

static bool check_claims(struct model *m, const struct action *claims)
{
	if (!verify(m, claims, "-", true))
		return refuse(m, m->refusals, claims);
	for (; claims->section; claims++)
		model_slot(m, claims->section)->checked = true;
	return !m->failed;
}

/* There is an answer with a word, and what it claims is so. */
static bool is_settled(struct model *m, const struct action *a)
{
	const struct model_slot *s = model_slot(m, a->section);
	const struct result *r = result_of(m, a);

	if (!s->id)
		return *s->value;
	return !model_is_open(s) && r->word && (!a->evidence || r != a->results || s->checked);
}

static void forget_settled(struct model *m)
{
	const struct action *list = actions_of(m, get(m, "state"));
	bool any = false;

	for (const struct action *a = list; a->section; a++)
		any |= failed(m, a->section) && is_settled(m, a);
	if (!any)
		return;
	begin_counting(m);
	for (const struct action *a = list; a->section; a++)
		if (is_settled(m, a))
			model_slot(m, failures_of(m, a->section))->value = "";
	end_counting(m);
}

static bool work_in_order(struct model *m, bool open)
{
	const struct declared_state *d = with_order(m);
	const struct action *claims = those(m, d, '\0'), *ready = those(m, d, 'r');
	const char *trigger;

	forget_settled(m);
	if (claims->section && !open)
		return check_claims(m, claims);
	if (!ready->section)
		return !open && decide(m, those(m, d, 'a'));
	trigger = at_limit(m, NULL, NULL);
	if (trigger)
		return !open && call_troubleshooter(m, trigger);
	for (; ready->section && !at_limit(m, NULL, "budget_exceeded"); ready++)
		request(m, ready, NULL);
	for (struct model_slot *s = m->slots; s; s = s->next)
		s->carried |= s->id && !model_is_open(s);
	return false;
}

/* `named`: only what was requested with it is missing. */
static bool is_missing(
	const struct model *m, const struct model_slot *s, const struct model_slot *named)
{
	return s->id && model_is_open(s) && !is(m->how.running, s->id) &&
	       (!named || s->array == named->array);
}

/* True: something is requested again. */
static bool retry_missing(struct model *m, const struct model_slot *named)
{
	bool missing = false;

	for (const struct model_slot *s = m->slots; s; s = s->next)
		missing |= is_missing(m, s, named);
	if (!missing)
		return false;
	begin_counting(m);
	for (struct model_slot *s = m->slots; s; s = s->next)
		if (is_missing(m, s, named)) {
			s->id = NULL;
			change(m, arena_printf(m->arena, "1%s", failures_of(m, s->name)));
		}
	m->how.returned = false;
	end_counting(m);
	for (struct model_slot *s = m->slots; s; s = s->next)
		s->carried |= s->id && !model_is_open(s);
	return true;
}

/* ---- step ---- */

/* What is missing is requested; of a built-in state, once some answers are there, one at a time. */
static bool work(struct model *m, bool progress, bool outstanding)
{
	const char *state = get(m, "state"), *trigger;
	const struct action *list = actions_of(m, state), *a;
	bool some = false, missing = false;

	for (a = list; a->section; a++) {
		if (!has_answer(m, a))
			react(m, "lacks");
		some |= has_answer(m, a);
		missing |= !has_answer(m, a);
	}
	if (at_limit(m, state, NULL) || (list->section && !missing))
		return decide(m, list);
	change(m, progress ? "-consecutive_failures" : "");
	trigger = at_limit(m, NULL, NULL);
	if (!list->section && (!trigger || is(trigger, "budget_exceeded")))
		trigger = "unknown_state";
	if (trigger)
		return call_troubleshooter(m, trigger);
	if (!outstanding)
		react(m, "requests");
	for (a = list; a->section && missing && !at_limit(m, NULL, "budget_exceeded"); a++)
		if (!has_answer(m, a)) {
			request(m, a, NULL);
			missing = !some || model_is_together(m);
		}
	return false;
}

/* Once, before the first state that requests something. */
static bool enter_place(struct model *m)
{
	if (!m->placed && !is(get(m, "state"), "spec-finding"))
		change(m, "!place");
	m->placed |= *get(m, "!place") != '\0';
	return !m->failed;
}

/* True: there is more to do. */
static bool turn(struct model *m)
{
	const char *state = get(m, "state"), *trigger = get(m, "question_trigger");
	const struct workflow_edge *first = workflow_only_edge(m->workflow, state);
	const struct model_slot *named = model_request(m, m->how.returned_id),
				*script = model_request(m, m->how.running);
	struct model_slot *call = model_slot(m, LOG);
	bool open = false, progress = false, outstanding = false;

	if (m->how.cancel) {
		change(m, "-question, -question_trigger, -troubleshooter_input");
		return enter(m, "failed", "cancelled", "cancelled by the user");
	}
	if (is(state, m->workflow->initial))
		return enter(m, first->to, first->trigger, NULL);
	if (!enter_place(m))
		return false;
	if (!*get(m, "question") && !(call->id && call->user_answered))
		change(m, "-troubleshooter_input");
	if (*get(m, "question") && *get(m, "troubleshooter_input")) {
		change(m, "-troubleshooter_calls");
		return call_troubleshooter(m, trigger);
	}
	if (*get(m, "question") || (*trigger && count(m, "troubleshooter_calls") >= MAX_CALLS))
		return false;
	change(m, "-outcome, -question_trigger");
	for (struct model_slot *s = m->slots; s; s = s->next) {
		if (s->id && !s->trigger && !is(s->state, state)) {
			s->id = NULL;
			m->dropped = true;
		}
		if (s->id && !s->trigger && s->word && s->text->hard_abort)
			return enter(m, "failed", "security_violation",
				arena_printf(m->arena, "security violation in '%s'", s->id));
		outstanding |= s->id != NULL;
		open |= model_is_open(s);
		progress |= s->id && !model_is_open(s) && !s->carried && !model_is_script(s);
	}
	if (model_is_open(call) && is_gone(m, call->trigger)) {
		drop_requests(m, false);
		change(m, "-troubleshooter_calls");
		return true;
	}
	if (open && with_order(m) && !model_is_open(call)) {
		if (m->how.returned && (!m->how.returned_id || named) && retry_missing(m, named))
			return true;
		return work_in_order(m, true);
	}
	if (open)
		return m->how.returned && (!m->how.returned_id || (named && !named->carried)) &&
		       !(script && model_is_open(script)) && retry(m, progress, NULL);
	if (!call->id && with_order(m))
		return work_in_order(m, false);
	return call->id ? take_decision(m, call) : work(m, progress && !m->dropped, outstanding);
}

void model_step(struct model *m)
{
	if (!*get(m, "state"))
		model_slot(m, "state")->value = m->workflow->initial;
	m->failed |= m->how.cancel && is_end(m);
	for (struct model_slot *s = m->slots; s; s = s->next) {
		bool waits = model_is_open(s) && !is(m->how.running, s->id);

		if (waits && m->how.take_over) {
			dispatch(m, s);
		} else if (waits && s->stale) {
			s->id = NULL;
			m->dropped = true;
		}
	}
	m->how.returned &= !m->how.take_over;
	while (!m->failed && !is_end(m) && turn(m))
		;
	if (!is_end(m))
		return;
	drop_requests(m, true);
	if (!is_success(m, get(m, "state")) || m->done || !required_at_end(m))
		return;
	change(m, "!evidence");
	m->refuted = required_at_end(m) & m->how.refuted || is_outdated(m, required_at_end(m));
}

/* ---- record ---- */

/* The word that counts for an answer; NULL: the answer is refused. */
static const char *choose_word(struct model *m, const struct model_slot *s, const char *word,
	const struct model_text *text)
{
	const struct action *a = actions_of(m, s->state);
	bool known = false, named = false;

	while (a->section && !is(a->section, s->name) && !str_starts(str_of(a->section), "Fix "))
		a++;
	for (const struct result *r = a->results; r->word; r++) {
		known |= is(r->word, word);
		named |= is(r->word, text->status);
	}
	if (!word)
		return named ? text->status : NULL;
	return known && (!named || is(word, text->status)) ? word : NULL;
}

/* The same answer to the same action again is accepted. */
bool model_record(struct model *m, const char *id, const char *word, const struct model_text *text)
{
	struct model_slot *s = model_request(m, id), *earlier = model_slot(m, id);

	s = s && s->stale ? NULL : s;
	word = s ? choose_word(m, s, word, text) : word;
	if (text->malformed || (s && !word))
		return false;
	if (*earlier->value)
		return is(earlier->value, text->sum);
	if (!s || !model_is_open(s))
		return false;
	s->word = word;
	s->value = s->trigger ? MODEL_WRITTEN : text->sum;
	return true;
}
