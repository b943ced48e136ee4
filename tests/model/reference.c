/* reference.c: what the engine must do. The tables first; below, what a call makes of them. */
#include "tests/model/reference.h"

#define BRIEF   "Researcher Brief,"
#define SUMMARY "Implementation Summary,"
#define LOG     "Troubleshooter Log"
#define RESULTS "-Signoff Review, -Signoff Research, -Signoff Build Result, "

enum { MAX_CALLS = 3, MAX_EXTENSIONS = 2 };

/* What an answer without a word is: WORK: good; VERDICT: as its text says; DECLARED: none, or of a
 * script as its text says. PROOF: whatever the word is, the text must be good. */
enum reading { WORK, VERDICT, PROOF, DECLARED };

struct result {
	const char *word, *trigger;
};

/* What a state requests, and which trigger each word means. The first word is the good one. `again`
 * repeats the request, `ask` calls the troubleshooter, `-` stays in the state. */
static const struct action {
	const char *state, *section, *agent, *reads;
	enum reading reading;
	struct result results[WORKFLOW_RESULTS_MAX];
} actions[] = {
	{"spec-finding", "spec_path", NULL, "", WORK, {{"", "spec_found"}}},
	{"debugging", "Debug Report", "debugger", "", PROOF,
		{{"reproduced", "debug_done"}, {"not_reproduced", "reproduction_failed"}}},
	{"researching", "Researcher Brief", "researcher", "Debug Report,", WORK,
		{{"briefed", "research_done"}, {"failed", "again"}}},
	{"implementing", "Implementation Summary", "developer", BRIEF, WORK,
		{{"implemented", "impl_done"}, {"failed", "again"},
			{"needs_clarification", "ask"}}},
	{"validating", "Validate Result", NULL, "", VERDICT,
		{{"passed", "clean"}, {"failed", "build_failed"}}},
	{"fixing", "Fix", "developer", BRIEF "Last Failure," SUMMARY "Fix,", WORK,
		{{"fixed", "fix_done"}, {"failed", "again"}}},
	{"reviewing", "PR URL", "developer", BRIEF SUMMARY "Fix,", PROOF,
		{{"pr_created", "-"}, {"failed", "again"}}},
	{"reviewing", "Review Notes", "reviewer", BRIEF, VERDICT,
		{{"approved", "approved"}, {"changes_requested", "changes_requested"}}},
	{"fixing-pr", "Fix", "developer", BRIEF "Review Notes," SUMMARY "Fix,", WORK,
		{{"fixed", "fix_done"}, {"failed", "again"}}},
	{"signoff", "Signoff Review", "reviewer", BRIEF, VERDICT,
		{{"approved", "approved"}, {"changes_requested", "changes_requested"}}},
	{"signoff", "Signoff Research", "researcher", BRIEF SUMMARY "Fix,", VERDICT,
		{{"validated", "approved"}, {"failed", "changes_requested"}}},
	{"signoff", "Signoff Build Result", NULL, "", VERDICT,
		{{"passed", "approved"}, {"failed", "changes_requested"}}},
	{"troubleshooter", LOG, "troubleshooter", "", DECLARED,
		{{"continue", ""}, {"terminate", ""}, {"needs_user_input", ""}}},
};

/* What changes when a state is entered, lacks an answer, requests, has a bad answer in a section,
 * or gives a trigger. +NAME: a key or section is written; -NAME: removed, or set to 0; =NAME: moved
 * to `Earlier NAME`, if the state has requested something before; 1NAME: a counter is incremented;
 * !NAME: an effect is carried out; ?checks: if there is a pull request, and red ones are noted. */
static const struct {
	const char *state, *when, *changes;
} changes[] = {
	{"spec-finding", "lacks", "!spec, +spec_path"},
	{"debugging", "entered", "=Debug Report"},
	{"debugging", "reproduction_failed", "+Last Failure"},
	{"researching", "entered", "=Researcher Brief"},
	{"implementing", "entered", "=Implementation Summary"},
	{"validating", "clean", "!commit, !push, -Validate Result, -Last Failure"},
	{"validating", "build_failed", "-Validate Result, +Last Failure"},
	{"fixing", "fix_done", "1fix_iteration"},
	{"reviewing", "entered", "-Review Notes"},
	{"reviewing", "-", "+pr_url"},
	{"reviewing", "approved", "1review_cycle_count"},
	{"reviewing", "changes_requested", "1review_cycle_count"},
	{"fixing-pr", "requests", "?checks"},
	{"fixing-pr", "fix_done", "1review_fix_iteration, -Review Notes"},
	{"signoff", "entered", RESULTS},
	{"signoff", "requests", "!push"},
	{"signoff", "Signoff Review", "1review_cycle_count"},
	{"signoff", "approved", RESULTS "-Last Failure, -signoff_cycle_count, -review_cycle_count"},
	{"signoff", "changes_requested",
		RESULTS "+Last Failure, +Review Notes, 1signoff_cycle_count"},
};

#define LIMIT(member) offsetof(struct workflow_limits, member)

/* What happens when a counter is at its limit: in a state its trigger, else the troubleshooter is
 * called. The first that applies. */
static const struct limit {
	const char *counter, *trigger, *state;
	size_t limit;
} limits[] = {
	{"consecutive_failures", "consecutive_failures", NULL, LIMIT(consecutive_failures)},
	{"review_cycle_count", "review_loop", NULL, LIMIT(review_loop)},
	{"signoff_cycle_count", "signoff_deadlock", NULL, LIMIT(signoff_deadlock)},
	{"actions_dispatched", "budget_exceeded", NULL, LIMIT(max_actions)},
	{"fix_iteration", "max_retries", "fixing", LIMIT(max_fix_iterations)},
	{"review_fix_iteration", "max_retries", "fixing-pr", LIMIT(max_review_fix_iterations)},
};

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

/* The trigger of a counter at its limit: in the state, or for the troubleshooter (NULL). `only`:
 * this one, or any (NULL). */
static const char *at_limit(struct model *m, const char *state, const char *only)
{
	const char *most = (const char *)&m->workflow->limits;

	for (const struct limit *l = limits; l < limits + COUNT(limits); l++)
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
		struct action a = {state, d->writes, d->agent, "", DECLARED, {{0}}};

		for (size_t k = 0; k < d->n_reads; k++)
			a.reads = arena_printf(m->arena, "%s%s,", a.reads, d->reads[k]);
		for (size_t k = 0; k < d->n_outcomes; k++)
			a.results[k] = (struct result){d->outcomes[k].word, d->outcomes[k].trigger};
		vec_push_in(m->arena, &list, a);
	}
	for (size_t i = 0; i < COUNT(actions); i++) {
		const struct action *a = &actions[i];

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

bool model_is_open(const struct model_slot *s)
{
	return s->id && !s->word && (s->trigger || !*s->value);
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
	*s = (struct model_slot){s->name, s->value, s->text, NULL, a->state, asks, trigger, NULL,
		false, false, NULL};
	dispatch(m, s);
}

/* ---- transitions ---- */

/* The changes of the state. */
static void react(struct model *m, const char *when)
{
	const char *state = get(m, "state");

	for (size_t i = 0; i < COUNT(changes); i++)
		if (is(changes[i].state, state) && is(changes[i].when, when))
			change(m, changes[i].changes);
}

/* `failed` need not be in the diagram. */
static bool is_end(struct model *m)
{
	const struct workflow_state *st = workflow_state(m->workflow, get(m, "state"));

	return !st || st->terminal;
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
	change(m, why ? "-troubleshooter_calls, +Last Failure" : "-troubleshooter_calls");
	for (const struct action *a = actions_of(m, to); a->reading == DECLARED; a++)
		model_slot(m, a->section)->value = "";
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
	if (count(m, "troubleshooter_calls") >= MAX_CALLS)
		return false;
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
	change(m, "-consecutive_failures");
	for (const struct limit *l = limits; !is(l->trigger, "budget_exceeded"); l++)
		if (at_limit(m, NULL, l->trigger))
			model_slot(m, l->counter)->value = "";
	for (size_t i = 0; said->changes && said->changes[i].name; i++)
		if (is(said->changes[i].name, "state"))
			(void)enter(m, said->changes[i].value, "troubleshooter", NULL);
		else
			model_slot(m, said->changes[i].name)->value = said->changes[i].value;
	model_slot(m, "troubleshooter_calls")->value = calls; /* this is no progress */
	return true;
}

/* ---- answers ---- */

/* Of the answer in the section; one without a word: it is refused. */
static const struct result *result_of(struct model *m, const struct action *a)
{
	const struct model_slot *s = model_slot(m, a->section);
	const char *word = s->id && s->word && *s->word ? s->word : s->text->status;
	const struct result *r = a->results;

	if (!a->agent && (!word || !s->text->good))
		word = s->text->good ? "passed" : "failed";
	while (r->word && !is(r->word, word))
		r++;
	if (a->reading == PROOF && !s->text->good)
		return a->results + 1;
	return r->word || a->reading == DECLARED
		       ? r
		       : a->results + (a->reading == VERDICT && !s->text->good);
}

/* What is not answered is requested again. */
static bool retry(struct model *m, bool progress)
{
	const struct model_slot *call = model_slot(m, LOG);
	const char *trigger = model_is_open(call) ? call->trigger : NULL;

	m->how.returned = false;
	change(m, progress ? "-consecutive_failures" : "1consecutive_failures");
	drop_requests(m, false);
	return !trigger || call_troubleshooter(m, trigger);
}

/* All answers are there. The first one that is not good decides, else the first one. */
static bool decide(struct model *m, const struct action *list)
{
	const char *spent = at_limit(m, get(m, "state"), NULL), *trigger = spent;
	const struct action *bad = NULL;

	for (const struct action *a = list; !spent && a->section; a++) {
		const struct result *r = result_of(m, a);
		bool asks = is(r->trigger, "ask");

		if (!r->word || is(r->trigger, "again") || asks) {
			model_slot(m, a->section)->id = NULL;
			change(m, arena_printf(m->arena, "-%s, +Failed Answer", a->section));
			return retry(m, asks) &&
			       (!asks || call_troubleshooter(m, "needs_clarification"));
		}
		if (!trigger || (!bad && r > a->results))
			trigger = r->trigger;
		if (r > a->results)
			react(m, (bad = a)->section);
	}
	change(m, "-consecutive_failures, -Failed Answer");
	change(m, bad && bad->reading == DECLARED ? "+Last Failure" : "");
	react(m, trigger);
	drop_requests(m, true);
	return is(trigger, "-") || enter(m, NULL, trigger, NULL);
}

/* ---- step ---- */

/* What is missing is requested, once some answers are there one at a time. */
static bool work(struct model *m, bool progress, bool outstanding)
{
	const char *state = get(m, "state"), *trigger;
	const struct action *list = actions_of(m, state), *a;
	bool some = false, missing = false;

	for (a = list; a->section; a++) {
		if (!*get(m, a->section))
			react(m, "lacks");
		some |= *get(m, a->section) != '\0';
		missing |= !*get(m, a->section);
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
	for (a = list; a->section && missing; a++)
		if (!*get(m, a->section)) {
			request(m, a, NULL);
			missing = !some;
		}
	return false;
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

	if (is(state, m->workflow->initial))
		return enter(m, first->to, first->trigger, NULL);
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
		progress |= s->id && !model_is_open(s) && !s->carried;
	}
	if (model_is_open(call) && is_gone(m, call->trigger)) {
		drop_requests(m, false);
		change(m, "-troubleshooter_calls");
		return true;
	}
	if (open)
		return m->how.returned && (!m->how.returned_id || (named && !named->carried)) &&
		       !(script && model_is_open(script)) && retry(m, progress);
	return call->id ? take_decision(m, call) : work(m, progress && !m->dropped, outstanding);
}

void model_step(struct model *m)
{
	if (!*get(m, "state"))
		model_slot(m, "state")->value = m->workflow->initial;
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
	if (is_end(m))
		drop_requests(m, true);
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
	if (word)
		return known && (!named || is(word, text->status)) ? word : NULL;
	if (named)
		return text->status;
	return s->trigger ? NULL : a->agent ? "" : text->good ? "passed" : "failed";
}

/* The same answer to the same action again is accepted; a word that was missing is added. */
bool model_record(struct model *m, const char *id, const char *word, const struct model_text *text)
{
	struct model_slot *s = model_request(m, id), *earlier = model_slot(m, id);

	s = s && s->stale ? NULL : s;
	word = s ? choose_word(m, s, word, text) : word;
	if (text->malformed || (s && !word))
		return false;
	if (*earlier->value && s && s->word && !*s->word)
		s->word = word;
	if (*earlier->value)
		return is(earlier->value, text->sum);
	if (!s || !model_is_open(s))
		return false;
	s->word = word;
	s->value = s->trigger ? MODEL_WRITTEN : text->sum;
	return true;
}
