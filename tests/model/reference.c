/* reference.c: what the engine must do, call by call. */
#include "tests/model/reference.h"

#define BRIEF        "Researcher Brief,"
#define SUMMARY      "Implementation Summary,"
#define LOG          "Troubleshooter Log"
#define NOTES        "Review Notes"
#define WRITTEN_HERE ((struct model_text){.sum = NULL})

/* ---- the tables ---- */

static const struct model_kind kinds[] = {
	{"debugging", "Debug Report", "debugger", "", "reproduced | not_reproduced", ""},
	{"researching", "Researcher Brief", "researcher", "Debug Report,", "briefed | failed",
		"failed"},
	{"implementing", "Implementation Summary", "developer", BRIEF,
		"implemented | failed | needs_clarification", "failed | needs_clarification"},
	{"validating", "Validate Result", NULL, "", "passed | failed", ""},
	{"fixing", "Fix", "developer", BRIEF "Last Failure," SUMMARY "Fix,", "fixed | failed",
		"failed"},
	{"reviewing", "PR URL", "developer", BRIEF SUMMARY "Fix,", "pr_created | failed", "failed"},
	{"reviewing", NOTES, "reviewer", BRIEF, "approved | changes_requested", ""},
	{"fixing-pr", "Fix", "developer", BRIEF "Review Notes," SUMMARY "Fix,", "fixed | failed",
		"failed"},
	{"signoff", "Signoff Review", "reviewer", BRIEF, "approved | changes_requested", ""},
	{"signoff", "Signoff Research", "researcher", BRIEF SUMMARY "Fix,", "validated | failed",
		""},
	{"signoff", "Signoff Build Result", NULL, "", "passed | failed", ""},
	{"troubleshooter", LOG, "troubleshooter", "", "continue | terminate | needs_user_input",
		""},
};

/*
 * What changes when a state is entered, before its requests, and when all of its answers are good
 * or one is not: +SECTION is written, -SECTION removed, =SECTION moved to `Earlier SECTION` if the
 * state was entered before; 1COUNTER is incremented, 0COUNTER reset; !EFFECT is carried out.
 */
static const struct model_state {
	const char *name, *entered, *requested;
	const char *good, *on_good, *bad, *on_bad; /* trigger and changes */
	enum model_counter limit;                  /* of its visits; MODEL_COUNTERS: none */
} states[] = {
	{"spec-finding", "", "", "spec_found", "!spec", NULL, "", MODEL_COUNTERS},
	{"debugging", "=Debug Report", "", "debug_done", "", "reproduction_failed", "+Last Failure",
		MODEL_COUNTERS},
	{"researching", "=Researcher Brief", "", "research_done", "", NULL, "", MODEL_COUNTERS},
	{"implementing", "=Implementation Summary", "", "impl_done", "", NULL, "", MODEL_COUNTERS},
	{"validating", "", "", "clean", "!commit, !push, -Validate Result, -Last Failure",
		"build_failed", "-Validate Result, +Last Failure", MODEL_COUNTERS},
	{"fixing", "", "", "fix_done", "1fix_iteration", NULL, "", MODEL_FIXES},
	{"reviewing", "-Review Notes", "", "approved", "1review_cycle_count", "changes_requested",
		"1review_cycle_count", MODEL_COUNTERS},
	{"fixing-pr", "", "!checks", "fix_done", "1review_fix_iteration, -Review Notes", NULL, "",
		MODEL_REVIEW_FIXES},
	{"signoff", "-Signoff Review, -Signoff Research, -Signoff Build Result", "!push",
		"approved",
		"-Signoff Review, -Signoff Research, -Signoff Build Result, -Last Failure, "
		"0signoff_cycle_count, 0review_cycle_count",
		"changes_requested",
		"-Signoff Review, -Signoff Research, -Signoff Build Result, +Last Failure, +Review "
		"Notes, 1signoff_cycle_count",
		MODEL_COUNTERS},
};
static const struct model_state declared_state = {
	"", "", "", NULL, "", NULL, "+Last Failure", MODEL_COUNTERS};

#define LIMIT(member) offsetof(struct workflow_limits, member)

const struct model_rule model_rules[MODEL_COUNTERS] = {
	{"consecutive_failures", "consecutive_failures", LIMIT(consecutive_failures)},
	{"review_cycle_count", "review_loop", LIMIT(review_loop)},
	{"signoff_cycle_count", "signoff_deadlock", LIMIT(signoff_deadlock)},
	{"actions_dispatched", "budget_exceeded", LIMIT(max_actions)},
	{"fix_iteration", "max_retries", LIMIT(max_fix_iterations)},
	{"review_fix_iteration", "max_retries", LIMIT(max_review_fix_iterations)},
	{"troubleshooter_calls", NULL, 0},
	{"budget_extensions", NULL, 0},
};

enum progress { AGAIN, WAIT, FAILED };

static bool is(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* One of `a | b | c`. */
static bool is_word(struct model *m, const char *words, const char *word)
{
	return word &&
	       strstr(arena_printf(m->arena, " %s ", words), arena_printf(m->arena, " %s ", word));
}

static bool is_reached(const struct model *m, enum model_counter c)
{
	const char *limits = (const char *)&m->workflow->limits;

	return m->counter[c] >=
	       *(const unsigned long *)(const void *)(limits + model_rules[c].limit);
}

/* The first counter at its limit that calls the troubleshooter; with a trigger: for that. */
static enum model_counter reached(const struct model *m, const char *trigger)
{
	for (enum model_counter c = 0; c <= MODEL_DISPATCHED; c++)
		if ((!trigger || is(trigger, model_rules[c].trigger)) && is_reached(m, c))
			return c;
	return MODEL_COUNTERS;
}

/* ---- states, sections and requests ---- */

static const struct declared_state *declared(const struct model *m, const char *state)
{
	const struct workflow_state *st = workflow_state(m->workflow, state);

	return st ? st->declared : NULL;
}

/* NULL: nothing is known about the state. */
static const struct model_state *rule_of(const struct model *m, const char *state)
{
	for (size_t i = 0; i < COUNT(states); i++)
		if (is(states[i].name, state))
			return &states[i];
	return declared(m, state) ? &declared_state : NULL;
}

static bool is_end(const struct model *m)
{
	const struct workflow_state *state = workflow_state(m->workflow, m->state);

	return state ? state->terminal : is(m->state, "done") || is(m->state, "failed");
}

struct model_section *model_section(struct model *m, const char *name)
{
	for (size_t i = 0; i < m->sections.n; i++)
		if (is(m->sections.items[i].name, name))
			return &m->sections.items[i];
	return NULL;
}

static void drop(struct model *m, const char *name)
{
	struct model_section *s = model_section(m, name);

	if (s)
		vec_remove(&m->sections, (size_t)(s - m->sections.items));
}

static void put(struct model *m, const char *name, struct model_text text)
{
	drop(m, name);
	vec_push_in(m->arena, &m->sections, (struct model_section){name, text});
}

/* The `i`-th of what a state requests; without a section: there is none. */
static struct model_kind kind(struct model *m, const char *state, size_t i)
{
	const struct declared_state *d = declared(m, state);
	struct model_kind k = {state, NULL, NULL, "", "", ""};

	for (size_t row = 0; !d && row < COUNT(kinds); row++)
		if (is(kinds[row].state, state) && i-- == 0)
			k = kinds[row];
	if (is(k.section, "Fix"))
		k.section = arena_printf(m->arena, "Fix %lu",
			1 + m->counter[MODEL_FIXES] + m->counter[MODEL_REVIEW_FIXES]);
	if (!d || i >= d->n)
		return k;
	k.section = d->items[i].writes;
	k.agent = d->items[i].agent;
	for (size_t r = 0; r < d->items[i].n_reads; r++)
		k.reads = arena_printf(m->arena, "%s%s,", k.reads, d->items[i].reads[r]);
	for (size_t o = 0; o < d->items[i].n_outcomes; o++)
		k.words = arena_printf(
			m->arena, "%s%s%s", k.words, o ? " | " : "", d->items[i].outcomes[o].word);
	return k;
}

static const char *id_of(struct model *m, const struct model_request *r)
{
	return arena_printf(m->arena, "T-1/%s/%u", r->state, r->attempt);
}

struct model_request *model_request(struct model *m, const char *id, const char *section)
{
	for (size_t i = 0; i < m->requests.n; i++)
		if (is(id, id_of(m, &m->requests.items[i])) ||
			is(section, m->requests.items[i].section))
			return &m->requests.items[i];
	return NULL;
}

static struct model_kind kind_of(struct model *m, const struct model_request *r)
{
	struct model_kind k;
	size_t i = 0;

	do
		k = kind(m, r->state, i++);
	while (k.section && !is(k.section, r->section) && strncmp(k.section, "Fix ", 4) != 0);
	return k;
}

static bool is_open(struct model *m, const struct model_request *r)
{
	return !r->word && (r->trigger || !model_section(m, r->section));
}

static bool is_other(struct model *m, const struct model_request *r)
{
	return !r->trigger && !is(r->state, m->state);
}

static bool is_stale(struct model *m, const struct model_request *r)
{
	(void)m;
	return r->stale;
}

static void remove_request(struct model *m, const struct model_request *r, const char *why)
{
	m->failed |= why != NULL;
	if (why)
		buf_addf(&m->events, "failure %s %s %lu\n", id_of(m, r), why,
			m->counter[MODEL_FAILURES]);
	vec_remove(&m->requests, (size_t)(r - m->requests.items));
}

/* Removes these requests, with a failure each unless `why` is NULL. */
static void give_up(struct model *m, bool (*which)(struct model *m, const struct model_request *r),
	const char *why)
{
	for (size_t i = 0; i < m->requests.n;)
		if (which(m, &m->requests.items[i]))
			remove_request(m, &m->requests.items[i], why);
		else
			i++;
}

/* Removes what is open. What is answered was answered before the next array. */
static void keep_answered(struct model *m)
{
	give_up(m, is_open, NULL);
	for (size_t i = 0; i < m->requests.n; i++)
		m->requests.items[i].carried = true;
}

static unsigned *attempts_of(struct model *m, const char *state)
{
	for (size_t i = 0; i < m->attempts.n; i++)
		if (is(m->attempts.items[i].state, state))
			return &m->attempts.items[i].n;
	vec_push_in(m->arena, &m->attempts, (struct model_attempts){state, 0});
	return &m->attempts.items[m->attempts.n - 1].n;
}

static void number(struct model *m, struct model_request *r)
{
	r->attempt = ++*attempts_of(m, r->state);
	r->stale = false;
	m->counter[MODEL_DISPATCHED]++;
	buf_addf(&m->events, "dispatch %s %s\n", id_of(m, r), r->trigger ? r->trigger : "");
}

static void dispatch(struct model *m, const char *state, const char *section, const char *trigger)
{
	struct model_request r = {.state = state, .section = section, .trigger = trigger};

	if (model_request(m, NULL, section))
		remove_request(m, model_request(m, NULL, section), NULL);
	number(m, &r);
	vec_push_in(m->arena, &m->requests, r);
}

/* ---- changes ---- */

static unsigned long *counter_of(struct model *m, const char *key)
{
	for (size_t i = 0; i < MODEL_COUNTERS; i++)
		if (is(key, model_rules[i].key))
			return &m->counter[i];
	return NULL;
}

/* False when it fails. */
static bool effect(struct model *m, const struct model_step *how, const char *name)
{
	const char *event = NULL;

	if (is(name, "spec"))
		return m->spec |= how->spec_found;
	if (is(name, "push") ? how->push_fails : is(name, "commit") && how->commit_fails)
		return false;
	if (is(name, "push"))
		event = how->remote ? "push" : "push skipped";
	else if (is(name, "commit"))
		event = how->commits ? "commit" : NULL;
	else if (m->pull_request && is(how->checks, "unknown"))
		event = "checks not asked";
	else if (m->pull_request && is(how->checks, "red"))
		put(m, "Last Failure", WRITTEN_HERE);
	if (event)
		buf_addf(&m->events, "effect %s\n", event);
	return true;
}

/* Those of a state; false when an effect fails. */
static bool change(struct model *m, const struct model_step *how, const char *changes)
{
	struct str rest = str_of(changes), item;

	while (rest.n && str_next_item(&rest, &item)) {
		const char *name = arena_dup(m->arena, str_sub(item, 1, item.n));
		const struct model_section *s = model_section(m, name);

		if (item.p[0] == '!' && !effect(m, how, name))
			return false;
		if (item.p[0] == '=' && s)
			put(m, arena_printf(m->arena, "Earlier %s", name), s->text);
		if (item.p[0] == '+')
			put(m, name, WRITTEN_HERE);
		else if (item.p[0] == '-' || item.p[0] == '=')
			drop(m, name);
		else if (item.p[0] != '!')
			*counter_of(m, name) = item.p[0] == '0' ? 0 : *counter_of(m, name) + 1;
	}
	return true;
}

/* `why`: the outcome, if the state is an end. */
static enum progress enter(struct model *m, const char *to, const char *trigger, const char *why)
{
	const struct model_state *rule = rule_of(m, to);
	const struct declared_state *d = declared(m, to);

	buf_addf(&m->events, "transition %s %s %s\n", m->state, to, trigger);
	if (!why)
		why = arena_printf(m->arena, "'%s' gave '%s'", m->state, trigger);
	m->state = to;
	m->outcome = is_end(m) ? why : NULL;
	m->requests.n = 0;
	m->counter[MODEL_CALLS] = 0;
	for (size_t i = 0; d && i < d->n; i++)
		drop(m, d->items[i].writes);
	if (rule && (rule->entered[0] != '=' || *attempts_of(m, to)))
		(void)change(m, NULL, rule->entered);
	return AGAIN;
}

/* `trigger` NULL: by the only transition. */
static enum progress follow(struct model *m, const char *trigger)
{
	for (size_t i = 0; i < m->workflow->n_edges; i++) {
		const struct workflow_edge *e = &m->workflow->edges[i];

		if (is(e->from, m->state) && (!trigger || is(e->trigger, trigger)))
			return enter(m, e->to, e->trigger, NULL);
	}
	return FAILED;
}

static enum progress end_run(struct model *m, const char *trigger, const char *why)
{
	put(m, "Last Failure", WRITTEN_HERE);
	return enter(m, "failed", trigger, why);
}

/* ---- the troubleshooter ---- */

static enum progress call_troubleshooter(struct model *m, const char *trigger)
{
	keep_answered(m);
	m->question = NULL;
	m->question_trigger = m->counter[MODEL_CALLS] < 3 ? NULL : trigger;
	if (m->question_trigger)
		return WAIT;
	m->counter[MODEL_CALLS]++;
	dispatch(m, "troubleshooter", LOG, trigger);
	return WAIT;
}

/* The user is asked, or the calls were too many. */
static enum progress ask(struct model *m)
{
	if (m->question && !m->input)
		return WAIT;
	if (m->question)
		m->counter[MODEL_CALLS] = 0;
	else if (m->counter[MODEL_CALLS] < 3)
		return m->question_trigger = NULL, AGAIN;
	return call_troubleshooter(m, m->question_trigger);
}

/* A transition that it makes is not progress. */
static void make_change(struct model *m, const struct model_change *c)
{
	unsigned long calls = m->counter[MODEL_CALLS];

	buf_adds(&m->events, c->refused ? "refusal\n" : "change\n");
	if (c->refused)
		return;
	if (counter_of(m, c->key))
		*counter_of(m, c->key) = strtoul(c->value, NULL, 10);
	m->pull_request &= !is(c->key, "pr_url");
	m->spec &= !is(c->key, "spec_path");
	if (c->section && *c->value)
		put(m, c->section, WRITTEN_HERE);
	else if (c->section)
		drop(m, c->section);
	if (is(c->key, "state"))
		(void)enter(m, c->value, "troubleshooter", NULL);
	m->counter[MODEL_CALLS] = calls;
}

static enum progress take_decision(struct model *m, const struct model_request *call)
{
	const char *trigger = call->trigger, *word = call->word;
	struct model_text said = model_section(m, LOG)->text;
	unsigned long *extended = &m->counter[MODEL_EXTENSIONS];
	bool budget = is(trigger, "budget_exceeded") && is(word, "continue");

	remove_request(m, call, NULL);
	if (budget && m->input)
		*extended = 0;
	if (is(word, "terminate"))
		return end_run(m, "terminated",
			arena_printf(m->arena, "ended by the troubleshooter: %s", said.reason));
	if (!is(word, "continue") || (budget && *extended >= 2)) {
		m->question = said.reason;
		m->question_trigger = trigger;
		return AGAIN;
	}
	*extended += budget;
	m->counter[MODEL_FAILURES] = 0;
	for (enum model_counter c = 0; c <= MODEL_DISPATCHED; c++)
		if (c == MODEL_DISPATCHED ? budget : is_reached(m, c))
			m->counter[c] = 0;
	for (size_t i = 0; i < said.changes.n; i++)
		make_change(m, &said.changes.items[i]);
	return AGAIN;
}

/* A person has removed the reason of the call. */
static bool is_gone(struct model *m, const char *trigger)
{
	if (is(trigger, "unknown_state"))
		return rule_of(m, m->state);
	return !is(trigger, "needs_clarification") && reached(m, trigger) == MODEL_COUNTERS;
}

/* ---- answers ---- */

/* NULL: the answer has no word. */
static const char *word_of(struct model *m, const struct model_kind *k)
{
	const struct model_request *r = model_request(m, NULL, k->section);
	const struct model_text *text = &model_section(m, k->section)->text;

	if (r && r->word && *r->word)
		return r->word;
	return k->agent ? text->status : text->good ? "passed" : "failed";
}

static bool is_good(struct model *m, const struct model_kind *k)
{
	bool good = model_section(m, k->section)->text.good;
	const char *word = word_of(m, k);

	if (is(k->state, "debugging"))
		return good && !is(word, "not_reproduced");
	return word ? !strncmp(k->words, word, strlen(word)) : good;
}

/* An answer that is none. */
static bool is_bad(struct model *m, const struct model_kind *k)
{
	const char *word = word_of(m, k);

	return is_word(m, k->none, word) || (!word && declared(m, k->state)) ||
	       (is(k->section, "PR URL") && !model_section(m, k->section)->text.good);
}

/* The action is requested again, unless the developer has a question. */
static enum progress refuse(struct model *m, const struct model_kind *k, struct model_step *how)
{
	const struct model_request *r = model_request(m, NULL, k->section);
	bool unclear = is(word_of(m, k), "needs_clarification");

	m->counter[MODEL_FAILURES] = unclear ? 0 : m->counter[MODEL_FAILURES] + 1;
	if (r)
		remove_request(m, r, unclear ? NULL : "failed");
	else if (!unclear)
		buf_addf(&m->events, "failure %s failed %lu\n", k->section,
			m->counter[MODEL_FAILURES]);
	how->returned = false;
	drop(m, k->section);
	put(m, "Failed Answer", WRITTEN_HERE);
	keep_answered(m);
	return unclear ? call_troubleshooter(m, "needs_clarification") : AGAIN;
}

/* The trigger of a declared state's answer. */
static const char *trigger_of(const struct declared_action *item, const char *word)
{
	size_t i = 0;

	while (i + 1 < item->n_outcomes && !is(item->outcomes[i].word, word))
		i++;
	return item->outcomes[i].trigger;
}

/* A reviewer is asked once there is a pull request. */
static bool is_due(const struct model *m, const struct model_kind *k)
{
	return k->section &&
	       (!is(k->state, "reviewing") || m->pull_request == is(k->section, NOTES));
}

static bool is_spent(const struct model *m, const struct model_state *rule)
{
	return rule && rule->limit < MODEL_COUNTERS && is_reached(m, rule->limit);
}

/* The trigger of the first answer that is not good, and what changes. */
static enum progress leave(
	struct model *m, const struct model_step *how, const struct model_state *rule)
{
	const struct declared_state *d = declared(m, m->state);
	const char *trigger = d ? d->items[0].outcomes[0].trigger : rule->good;
	struct model_kind k;
	bool good = true;

	for (size_t i = 0; (k = kind(m, m->state, i)).section && (d || rule->bad); i++) {
		if (!is_due(m, &k) || is_good(m, &k))
			continue;
		if (good)
			trigger = d ? trigger_of(&d->items[i], word_of(m, &k)) : rule->bad;
		m->counter[MODEL_REVIEWS] += is(k.section, "Signoff Review");
		good = false;
	}
	return change(m, how, good ? rule->on_good : rule->on_bad) ? follow(m, trigger) : FAILED;
}

/* All answers of the state are there. */
static enum progress decide(struct model *m, struct model_step *how)
{
	const struct model_state *rule = rule_of(m, m->state);
	bool spent = is_spent(m, rule);
	struct model_kind k;

	for (size_t i = 0; !spent && (k = kind(m, m->state, i)).section; i++)
		if (is_due(m, &k) && is_bad(m, &k))
			return refuse(m, &k, how);
	m->counter[MODEL_FAILURES] = 0;
	drop(m, "Failed Answer");
	if (spent)
		return follow(m, "max_retries");
	if (!is(m->state, "reviewing") || m->pull_request)
		return leave(m, how, rule);
	m->pull_request = true;
	m->requests.n = 0;
	return AGAIN;
}

/* ---- step ---- */

/* What is missing is requested, once some answers are there one at a time. */
static enum progress run_state(struct model *m, struct model_step *how, bool fresh)
{
	const struct model_state *rule = rule_of(m, m->state);
	size_t present = 0, missing = 0;
	enum model_counter c;
	struct model_kind k;

	for (size_t i = 0; (k = kind(m, m->state, i)).section; i++)
		if (is_due(m, &k))
			(*(model_section(m, k.section) ? &present : &missing))++;
	if (is_spent(m, rule) || (rule && !missing))
		return decide(m, how);
	if (fresh)
		m->counter[MODEL_FAILURES] = 0;
	c = reached(m, NULL);
	if (c < (rule ? MODEL_COUNTERS : MODEL_DISPATCHED))
		return call_troubleshooter(m, model_rules[c].trigger);
	if (!rule)
		return call_troubleshooter(m, "unknown_state");
	if (!m->requests.n && !change(m, how, rule->requested))
		return FAILED;
	for (size_t i = 0; missing && (k = kind(m, m->state, i)).section; i++)
		if (is_due(m, &k) && !model_section(m, k.section)) {
			dispatch(m, m->state, k.section, NULL);
			missing = present ? 0 : missing;
		}
	return WAIT;
}

static bool is_back(struct model *m, const struct model_step *how)
{
	const struct model_request *r = model_request(m, how->returned_id, NULL);

	return how->returned && (!how->returned_id || (r && !r->carried));
}

/* The agents are back, and some did not answer. */
static enum progress retry(struct model *m, struct model_step *how, bool fresh)
{
	const struct model_request *call = model_request(m, NULL, LOG);
	const char *trigger = call ? call->trigger : NULL;

	how->returned = false;
	m->counter[MODEL_FAILURES] = fresh ? 0 : m->counter[MODEL_FAILURES] + 1;
	give_up(m, is_open, "no answer");
	keep_answered(m);
	return trigger ? call_troubleshooter(m, trigger) : AGAIN;
}

static enum progress settle(struct model *m, struct model_step *how)
{
	const struct model_request *call = model_request(m, NULL, LOG);
	bool fresh = false, runs = false, open = false;
	enum progress next;

	for (size_t i = 0; i < m->requests.n; i++) {
		const struct model_request *r = &m->requests.items[i];

		open |= is_open(m, r);
		fresh |= !is_open(m, r) && !r->carried;
		runs |= is_open(m, r) && is(how->running, id_of(m, r));
		if (r != call && r->word && model_section(m, r->section) &&
			model_section(m, r->section)->text.hard_abort)
			return end_run(m, "security_violation",
				arena_printf(m->arena, "security violation in '%s'", id_of(m, r)));
	}
	if (call && !call->word && is_gone(m, call->trigger)) {
		buf_addf(&m->events, "failure %s what it was called for is gone -1\n",
			id_of(m, call));
		keep_answered(m);
		m->counter[MODEL_CALLS] = 0;
		return AGAIN;
	}
	if (open)
		return is_back(m, how) && !runs ? retry(m, how, fresh) : WAIT;
	if (!call)
		return run_state(m, how, fresh && !m->failed);
	next = take_decision(m, call);
	m->input = false;
	return next;
}

static enum progress turn(struct model *m, struct model_step *how)
{
	if (is(m->state, m->workflow->initial))
		return follow(m, NULL);
	if (is_end(m))
		return m->requests.n = 0, WAIT;
	m->outcome = NULL;
	if (m->question || m->question_trigger)
		return ask(m);
	give_up(m, is_other, "the state was changed by hand");
	return settle(m, how);
}

/* A report and fixes that are not there are not read. */
static void print_request(struct model *m, const struct model_request *r)
{
	struct model_kind k = kind_of(m, r);
	struct str reads = str_of(k.reads), name;

	buf_addf(&m->printed, "%s %s %s [", id_of(m, r), k.agent ? k.agent : "script",
		r->trigger ? r->trigger : "");
	while (reads.n && str_next_item(&reads, &name)) {
		for (unsigned i = 1; str_is(name, "Fix") && i < 100; i++)
			if (model_section(m, arena_printf(m->arena, "Fix %u", i)))
				buf_addf(&m->printed, "Fix %u,", i);
		if (name.n && !str_is(name, "Fix") &&
			(!str_is(name, "Debug Report") || model_section(m, "Debug Report")))
			buf_addf(&m->printed, "%.*s,", (int)name.n, name.p);
	}
	buf_addf(&m->printed, "] %s: %s\n", r->section, k.words);
}

/* The end, a question, or what is open: of that only the first if others are answered. */
static void print(struct model *m)
{
	bool good = is(m->state, "done"), some = false;

	if (is_end(m))
		buf_addf(&m->printed, "done %s %s\n", good ? "success" : "failed",
			m->outcome ? m->outcome
			: good     ? "the workflow is at its end"
				   : "the run has failed");
	else if (m->question)
		buf_adds(&m->printed, "done failed question\n");
	else if (m->question_trigger)
		buf_addf(&m->printed,
			"done failed the troubleshooter was called 3 times for '%s'\n",
			m->question_trigger);
	for (size_t i = 0; i < m->requests.n; i++)
		some |= !is_open(m, &m->requests.items[i]);
	for (size_t i = 0; i < m->requests.n && !(some && m->printed.len); i++)
		if (is_open(m, &m->requests.items[i]))
			print_request(m, &m->requests.items[i]);
}

bool model_step(struct model *m, const struct model_step *how)
{
	struct model_step step = *how;
	enum progress progress = AGAIN;

	if (!m->state) {
		m->state = m->workflow->initial;
		buf_adds(&m->events, "started\n");
	}
	for (size_t i = 0; how->take_over && i < m->requests.n; i++)
		if (is_open(m, &m->requests.items[i]) &&
			!is(how->running, id_of(m, &m->requests.items[i])))
			number(m, &m->requests.items[i]);
	step.returned &= !how->take_over;
	give_up(m, is_stale, "failed");
	for (int turns = 0; turns < 100 && progress == AGAIN; turns++)
		progress = turn(m, &step);
	print(m);
	return progress == WAIT;
}

/* ---- record ---- */

/* The word of an answer to `r`. False: it is refused. */
static bool choose_word(struct model *m, const struct model_request *r,
	const struct model_text *text, const char **word)
{
	struct model_kind k = kind_of(m, r);

	if (!*word && is_word(m, k.words, text->status))
		*word = text->status;
	if (!*word && !k.agent)
		*word = text->good ? "passed" : "failed";
	if (!*word)
		return !r->trigger;
	return is_word(m, k.words, *word) && (!text->status || is(*word, text->status));
}

bool model_record(struct model *m, const char *id, const char *word, const struct model_text *text)
{
	struct model_request *r = model_request(m, id, NULL);

	r = r && r->stale ? NULL : r;
	if (text->malformed || (r && !choose_word(m, r, text, &word)))
		return false;
	word = word ? word : "";
	for (size_t i = 0; i < m->answers.n; i++) {
		const struct model_answer *a = &m->answers.items[i];

		if (!is(a->id, id))
			continue;
		if (r && !*a->word)
			r->word = word;
		return is(a->sum, text->sum) && (!*a->word || !*word || is(a->word, word));
	}
	if (!r || !is_open(m, r))
		return false;
	r->word = word;
	put(m, r->section, *text);
	if (r->trigger)
		model_section(m, r->section)->text.sum = NULL;
	return true;
}
