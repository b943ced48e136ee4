/* reference.c: what the engine must do, call by call. */
#include "tests/model/reference.h"

const char *const model_counter_names[MODEL_COUNTERS] = {"fix_iteration", "review_fix_iteration",
	"signoff_cycle_count", "consecutive_failures", "review_cycle_count", "actions_dispatched",
	"troubleshooter_calls", "budget_extensions"};

#define BRIEF          "Researcher Brief,"
#define SUMMARY        "Implementation Summary,"
#define REVIEW_WORDS   "approved | changes_requested"
#define SCRIPT_WORDS   "passed | failed"
#define WRITTEN_HERE   ((struct model_text){.sum = NULL})
#define TROUBLESHOOTER "troubleshooter"

static const struct model_kind kinds[] = {
	{"debugging", "Debug Report", "debugger", "", "reproduced | not_reproduced"},
	{"researching", "Researcher Brief", "researcher", "Debug Report,", "briefed | failed"},
	{"implementing", "Implementation Summary", "developer", BRIEF,
		"implemented | failed | needs_clarification"},
	{"validating", "Validate Result", NULL, "", SCRIPT_WORDS},
	{"fixing", "Fix", "developer", BRIEF "Last Failure," SUMMARY "Fix,", "fixed | failed"},
	{"reviewing", "PR URL", "developer", BRIEF SUMMARY "Fix,", "pr_created | failed"},
	{"reviewing", "Review Notes", "reviewer", BRIEF, REVIEW_WORDS},
	{"fixing-pr", "Fix", "developer", BRIEF "Review Notes," SUMMARY "Fix,", "fixed | failed"},
	{"signoff", "Signoff Review", "reviewer", BRIEF, REVIEW_WORDS},
	{"signoff", "Signoff Research", "researcher", BRIEF SUMMARY "Fix,", "validated | failed"},
	{"signoff", "Signoff Build Result", NULL, "", SCRIPT_WORDS},
	{TROUBLESHOOTER, "Troubleshooter Log", TROUBLESHOOTER, "",
		"continue | terminate | needs_user_input"},
};

static bool is(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static const struct workflow_state *state_of(const struct model *m, const char *name)
{
	for (size_t i = 0; i < m->workflow->n_states; i++)
		if (is(m->workflow->states[i].name, name))
			return &m->workflow->states[i];
	return NULL;
}

static bool is_end(const struct model *m)
{
	const struct workflow_state *state = state_of(m, m->state);

	return state ? state->terminal : is(m->state, "done") || is(m->state, "failed");
}

/* ---- sections ---- */

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

static unsigned *attempts_of(struct model *m, const char *state)
{
	for (size_t i = 0; i < m->attempts.n; i++)
		if (is(m->attempts.items[i].state, state))
			return &m->attempts.items[i].n;
	vec_push_in(m->arena, &m->attempts, (struct model_attempts){state, 0});
	return &m->attempts.items[m->attempts.n - 1].n;
}

/* ---- what a state requests ---- */

struct kind_list {
	struct model_kind *items;
	size_t n, cap;
};

static struct model_kind declared_kind(
	struct model *m, const char *state, const struct declared_action *d)
{
	struct model_kind k = {
		.state = state, .section = d->writes, .agent = d->agent, .reads = "", .words = ""};

	for (size_t i = 0; i < d->n_reads; i++)
		k.reads = arena_printf(m->arena, "%s%s,", k.reads, d->reads[i]);
	for (size_t i = 0; i < d->n_outcomes; i++)
		k.words = arena_printf(
			m->arena, "%s%s%s", k.words, i ? " | " : "", d->outcomes[i].word);
	return k;
}

static struct kind_list kinds_of(struct model *m, const char *state)
{
	const struct workflow_state *st = state_of(m, state);
	struct kind_list list = {0};

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (is(kinds[i].state, state))
			vec_push_in(m->arena, &list, kinds[i]);
	for (size_t i = 0; i < list.n; i++)
		if (is(list.items[i].section, "Fix"))
			list.items[i].section = arena_printf(m->arena, "Fix %lu",
				1 + m->counter[MODEL_FIXES] + m->counter[MODEL_REVIEW_FIXES]);
	for (size_t i = 0; st && st->declared && i < st->declared->n; i++)
		vec_push_in(m->arena, &list, declared_kind(m, state, &st->declared->items[i]));
	return list;
}

static struct model_kind kind_of(struct model *m, const struct model_request *r)
{
	struct kind_list list = kinds_of(m, r->state);

	for (size_t i = 0; i < list.n; i++)
		if (is(list.items[i].section, r->section) ||
			(!strncmp(list.items[i].section, "Fix ", 4) &&
				!strncmp(r->section, "Fix ", 4)))
			return list.items[i];
	return (struct model_kind){.words = ""};
}

/* What is missing in the present state. */
static struct kind_list missing_kinds(struct model *m)
{
	struct kind_list all = kinds_of(m, m->state), list = {0};

	for (size_t i = 0; i < all.n; i++)
		if (!model_section(m, all.items[i].section) &&
			(!is(m->state, "reviewing") || m->pull_request == (i == 1)))
			vec_push_in(m->arena, &list, all.items[i]);
	return list;
}

/* ---- requests ---- */

static const char *id_of(struct model *m, const struct model_request *r)
{
	return arena_printf(m->arena, "T-1/%s/%u", r->state, r->attempt);
}

static struct model_request *find_request(struct model *m, const char *id)
{
	for (size_t i = 0; i < m->requests.n; i++)
		if (is(id, id_of(m, &m->requests.items[i])))
			return &m->requests.items[i];
	return NULL;
}

static bool is_answered(struct model *m, const struct model_request *r)
{
	return r->word || (!r->trigger && model_section(m, r->section));
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

	for (size_t i = m->requests.n; i--;)
		if (is(m->requests.items[i].section, section))
			vec_remove(&m->requests, i);
	number(m, &r);
	vec_push_in(m->arena, &m->requests, r);
}

/* A report that is not there and fixes that are not there are not named. */
static void print_reads(struct model *m, struct str reads)
{
	struct str name;

	while (reads.n && str_next_item(&reads, &name)) {
		if (str_is(name, "Debug Report") && !model_section(m, "Debug Report"))
			continue;
		for (unsigned i = 1; str_is(name, "Fix") && i < 100; i++) {
			const char *fix = arena_printf(m->arena, "Fix %u", i);

			if (model_section(m, fix))
				buf_addf(&m->printed, "%s,", fix);
		}
		if (!str_is(name, "Fix") && name.n)
			buf_addf(&m->printed, "%.*s,", (int)name.n, name.p);
	}
}

static void print_request(struct model *m, const struct model_request *r)
{
	struct model_kind k = kind_of(m, r);

	buf_addf(&m->printed, "%s %s %s [", id_of(m, r), k.agent ? k.agent : "script",
		r->trigger ? r->trigger : "");
	print_reads(m, str_of(k.reads));
	buf_addf(&m->printed, "] %s: %s\n", r->section, k.words);
}

/* Prints what is outstanding: all of it, or the first when others are answered. */
static bool print_open(struct model *m)
{
	size_t answered = 0;

	for (size_t i = 0; i < m->requests.n; i++)
		answered += is_answered(m, &m->requests.items[i]);
	for (size_t i = 0; i < m->requests.n; i++) {
		if (is_answered(m, &m->requests.items[i]))
			continue;
		print_request(m, &m->requests.items[i]);
		if (answered)
			break;
	}
	return true;
}

static bool print_done(struct model *m, const char *result, const char *why)
{
	buf_addf(&m->printed, "done %s %s\n", result, why ? why : "");
	return true;
}

/* The word of the answer to an action of the present state. */
static const char *word_of(struct model *m, const struct model_kind *k)
{
	const struct model_section *s = model_section(m, k->section);

	for (size_t i = 0; i < m->requests.n; i++) {
		const struct model_request *r = &m->requests.items[i];

		if (is(r->section, k->section) && r->word && *r->word)
			return r->word;
	}
	if (!k->agent)
		return s && s->text.passes ? "passed" : "failed";
	return s ? s->text.status : NULL;
}

static void fail_request(struct model *m, size_t i, const char *why)
{
	buf_addf(&m->events, "failure %s %s %lu\n", id_of(m, &m->requests.items[i]), why,
		m->counter[MODEL_FAILURES]);
	vec_remove(&m->requests, i);
}

/* ---- transitions ---- */

static void enter(struct model *m, const char *to, const char *trigger)
{
	static const char *const moved[] = {"debugging", "researching", "implementing", NULL};
	static const char *const cleared[] = {"reviewing", "signoff", NULL};
	const char *outcome = arena_printf(m->arena, "'%s' gave '%s'", m->state, trigger);
	struct kind_list list = kinds_of(m, to);

	buf_addf(&m->events, "transition %s %s %s\n", m->state, to, trigger);
	m->state = to;
	m->pending = NULL;
	m->outcome = is_end(m) ? outcome : NULL;
	m->requests.n = 0;
	for (size_t i = 0; i < list.n; i++) {
		const char *name = list.items[i].section;
		const struct model_section *s = model_section(m, name);
		bool moves = str_in(str_of(to), moved) && *attempts_of(m, to) > 0;

		if (s && moves)
			put(m, arena_printf(m->arena, "Earlier %s", name), s->text);
		if (moves || state_of(m, to)->declared ||
			(str_in(str_of(to), cleared) && !is(name, "PR URL")))
			drop(m, name);
	}
}

/* `trigger` NULL: by the only transition. */
static bool follow(struct model *m, const char *trigger)
{
	for (size_t i = 0; i < m->workflow->n_edges; i++) {
		const struct workflow_edge *e = &m->workflow->edges[i];
		if (!is(e->from, m->state) || (trigger && !is(e->trigger, trigger)))
			continue;
		enter(m, e->to, e->trigger);
		m->counter[MODEL_CALLS] = 0;
		return true;
	}
	return false;
}

static bool effect(struct model *m, bool fails, bool done, const char *name)
{
	if (!fails && done)
		buf_addf(&m->events, "effect %s\n", name);
	return !fails;
}

static bool push(struct model *m, const struct model_step *how)
{
	return effect(m, how->push_fails, true, how->remote ? "push" : "push skipped");
}

/* ---- what the answers of a state mean ---- */

static bool says(struct model *m, const struct kind_list *list, size_t i, const char *good)
{
	return is(word_of(m, &list->items[i]), good);
}

static bool approves(struct model *m, const struct model_kind *k)
{
	const char *word = word_of(m, k);

	return word ? is(word, "approved") : model_section(m, k->section)->text.approves;
}

static const char *sign_off(struct model *m, const struct kind_list *list)
{
	bool validated = says(m, list, 1, "validated") ||
			 (!word_of(m, &list->items[1]) &&
				 model_section(m, list->items[1].section)->text.validates);
	bool approved = approves(m, &list->items[0]);
	bool good = approved && validated && says(m, list, 2, "passed");

	for (size_t i = 0; i < list->n; i++)
		drop(m, list->items[i].section);
	if (good) {
		m->counter[MODEL_SIGNOFFS] = m->counter[MODEL_REVIEWS] = 0;
		drop(m, "Last Failure");
		return "approved";
	}
	put(m, "Review Notes", WRITTEN_HERE);
	put(m, "Last Failure", WRITTEN_HERE);
	m->counter[MODEL_SIGNOFFS]++;
	m->counter[MODEL_REVIEWS] += !approved;
	return "changes_requested";
}

static const char *validate(
	struct model *m, const struct kind_list *list, const struct model_step *how)
{
	bool passed = says(m, list, 0, "passed");

	if (passed && (!effect(m, how->commit_fails, how->commits, "commit") || !push(m, how)))
		return NULL;
	drop(m, "Validate Result");
	if (passed)
		drop(m, "Last Failure");
	else
		put(m, "Last Failure", WRITTEN_HERE);
	return passed ? "clean" : "build_failed";
}

static const char *decide_declared(struct model *m, const struct kind_list *list)
{
	const struct declared_state *d = state_of(m, m->state)->declared;
	const char *good = d->items[0].outcomes[0].trigger;

	for (size_t i = 0; i < d->n; i++) {
		const char *word = word_of(m, &list->items[i]);

		for (size_t o = 1; o < d->items[i].n_outcomes; o++)
			if (is(word, d->items[i].outcomes[o].word)) {
				put(m, "Last Failure", WRITTEN_HERE);
				return d->items[i].outcomes[o].trigger;
			}
	}
	return good;
}

/* The trigger of the present state, all of whose answers are there; NULL: an effect failed. */
static const char *decide(struct model *m, const struct model_step *how)
{
	struct kind_list list = kinds_of(m, m->state);
	const struct model_section *first = list.n ? model_section(m, list.items[0].section) : NULL;

	if (is(m->state, "spec-finding")) {
		m->spec |= how->spec_found;
		return m->spec ? "spec_found" : NULL;
	}
	if (is(m->state, "debugging")) {
		if (first->text.has_report && !says(m, &list, 0, "not_reproduced"))
			return "debug_done";
		put(m, "Last Failure", WRITTEN_HERE);
		return "reproduction_failed";
	}
	if (is(m->state, "researching"))
		return "research_done";
	if (is(m->state, "implementing"))
		return "impl_done";
	if (is(m->state, "validating"))
		return validate(m, &list, how);
	if (is(m->state, "fixing"))
		return m->counter[MODEL_FIXES]++, "fix_done";
	if (is(m->state, "reviewing")) {
		m->counter[MODEL_REVIEWS]++;
		return approves(m, &list.items[1]) ? "approved" : "changes_requested";
	}
	if (is(m->state, "fixing-pr")) {
		m->counter[MODEL_REVIEW_FIXES]++;
		drop(m, "Review Notes");
		return "fix_done";
	}
	return is(m->state, "signoff") ? sign_off(m, &list) : decide_declared(m, &list);
}

/* ---- the troubleshooter ---- */

static const struct {
	const char *trigger;
	enum model_counter counter;
	size_t limit; /* in the limits of the workflow */
} thresholds[] = {
	{"consecutive_failures", MODEL_FAILURES,
		offsetof(struct workflow_limits, consecutive_failures)},
	{"signoff_deadlock", MODEL_SIGNOFFS, offsetof(struct workflow_limits, signoff_deadlock)},
	{"review_loop", MODEL_REVIEWS, offsetof(struct workflow_limits, review_loop)},
	{"budget_exceeded", MODEL_DISPATCHED, offsetof(struct workflow_limits, max_actions)},
};

/* Whether there is a reason to call it for `trigger`; NULL: for any, and the first is returned. */
static const char *due_trigger(const struct model *m, const char *trigger)
{
	const char *limits = (const char *)&m->workflow->limits;

	for (size_t i = 0; i < COUNT(thresholds); i++)
		if ((!trigger || is(trigger, thresholds[i].trigger)) &&
			m->counter[thresholds[i].counter] >=
				*(const unsigned long *)(const void *)(limits +
								       thresholds[i].limit))
			return thresholds[i].trigger;
	return NULL;
}

static void reset_counter(struct model *m, const char *trigger)
{
	for (size_t i = 0; i < COUNT(thresholds); i++)
		if (is(trigger, thresholds[i].trigger) ||
			(i + 1 < COUNT(thresholds) && due_trigger(m, thresholds[i].trigger)))
			m->counter[thresholds[i].counter] = 0;
	m->counter[MODEL_EXTENSIONS] += is(trigger, "budget_exceeded");
}

static bool call_troubleshooter(struct model *m, const char *trigger)
{
	for (size_t i = 0; i < m->requests.n; i++)
		m->requests.items[i].carried = true;
	m->question_trigger = trigger;
	if (m->counter[MODEL_CALLS] >= 3)
		return print_done(m, "failed",
			arena_printf(m->arena, "the troubleshooter was called 3 times for '%s'",
				trigger));
	m->question_trigger = NULL;
	m->counter[MODEL_CALLS]++;
	dispatch(m, TROUBLESHOOTER, "Troubleshooter Log", trigger);
	print_request(m, &m->requests.items[m->requests.n - 1]);
	return true;
}

static bool ask_user(struct model *m, const char *trigger, const char *question)
{
	m->question = question;
	m->question_trigger = trigger;
	return print_done(m, "failed", "question");
}

/* Whether the troubleshooter may make the change. */
static bool is_allowed(struct model *m, const struct model_change *c, bool answered)
{
	static const char *const verdicts[] = {
		"Validate Result", "Signoff Review", "Signoff Research", "Signoff Build Result"};
	unsigned long fix = 1 + m->counter[MODEL_FIXES] + m->counter[MODEL_REVIEW_FIXES];

	if (is(c->key, "state"))
		return state_of(m, c->value) && (!is(c->value, "done") || answered);
	for (size_t i = 0; i <= MODEL_REVIEW_FIXES; i++)
		if (is(c->key, model_counter_names[i]))
			return !model_section(
				m, arena_printf(m->arena, "Fix %lu",
					   fix - m->counter[i] + strtoul(c->value, NULL, 10)));
	for (size_t i = MODEL_REVIEW_FIXES; i <= MODEL_REVIEWS; i++)
		if (is(c->key, model_counter_names[i]))
			return true;
	for (size_t i = 0; c->section && i < COUNT(verdicts); i++)
		if (is(c->section, verdicts[i]))
			return !*c->value;
	for (size_t i = 0; c->section && i < m->workflow->n_declared; i++)
		for (size_t k = 0; k < m->workflow->declared[i].n; k++)
			if (is(c->section, m->workflow->declared[i].items[k].writes))
				return !*c->value;
	return !c->key || is(c->key, "pr_url") || is(c->key, "spec_path");
}

static void make_change(struct model *m, const struct model_change *c)
{
	for (size_t i = 0; i < MODEL_COUNTERS; i++)
		if (is(c->key, model_counter_names[i]))
			m->counter[i] = strtoul(c->value, NULL, 10);
	m->pull_request &= !is(c->key, "pr_url");
	m->spec &= !is(c->key, "spec_path");
	if (c->section && *c->value)
		put(m, c->section, WRITTEN_HERE);
	else if (c->section)
		drop(m, c->section);
	if (is(c->key, "state"))
		enter(m, c->value, "troubleshooter");
}

static void make_changes(struct model *m, const struct model_text *decision, bool answered)
{
	for (size_t i = 0; i < decision->changes.n; i++) {
		bool allowed = is_allowed(m, &decision->changes.items[i], answered);

		buf_addf(&m->events, "%s\n", allowed ? "change" : "refusal");
		if (allowed)
			make_change(m, &decision->changes.items[i]);
	}
}

/* ---- the answers ---- */

enum progress { GO_ON, PRINTED, FAILED };

static enum progress end_run(struct model *m, const char *trigger, const char *outcome)
{
	put(m, "Last Failure", WRITTEN_HERE);
	enter(m, "failed", trigger);
	m->outcome = outcome;
	m->counter[MODEL_CALLS] = 0;
	return GO_ON;
}

/* A person has removed the reason of a call. */
static bool is_gone(struct model *m, const char *trigger)
{
	if (is(trigger, "unknown_state"))
		return kinds_of(m, m->state).n || is(m->state, "spec-finding");
	return !is(trigger, "needs_clarification") && !due_trigger(m, trigger);
}

static enum progress settle_troubleshooter(struct model *m, size_t at, const struct model_step *how)
{
	struct model_request r = m->requests.items[at];
	const struct model_section *log = model_section(m, r.section);
	struct model_text said = log ? log->text : WRITTEN_HERE;
	bool answered = m->input;

	if (!r.word && is_gone(m, r.trigger)) {
		vec_remove(&m->requests, at);
		m->counter[MODEL_CALLS] = 0;
		buf_addf(
			&m->events, "failure %s what it was called for is gone -1\n", id_of(m, &r));
		return GO_ON;
	}
	if (!r.word && !how->returned)
		return print_request(m, &r), PRINTED;
	if (!r.word) {
		m->counter[MODEL_FAILURES]++;
		fail_request(m, at, "no answer");
		return call_troubleshooter(m, r.trigger), PRINTED;
	}
	vec_remove(&m->requests, at);
	if (answered)
		m->counter[MODEL_EXTENSIONS] = 0;
	m->input = false;
	if (is(r.word, "terminate"))
		return end_run(m, "terminated",
			arena_printf(m->arena, "ended by the troubleshooter: %s", said.reason));
	if (is(r.word, "needs_user_input") ||
		(is(r.trigger, "budget_exceeded") && m->counter[MODEL_EXTENSIONS] >= 2))
		return ask_user(m, r.trigger, said.reason), PRINTED;
	m->counter[MODEL_FAILURES] = 0;
	make_changes(m, &said, answered);
	reset_counter(m, r.trigger);
	return GO_ON;
}

/* The agents are back and some did not answer. */
static void give_up(struct model *m, bool fresh)
{
	m->counter[MODEL_FAILURES] = fresh ? 0 : m->counter[MODEL_FAILURES] + 1;
	for (size_t i = 0; i < m->requests.n;) {
		if (is_answered(m, &m->requests.items[i]))
			m->requests.items[i++].carried = true;
		else
			fail_request(m, i, "no answer");
	}
}

static bool is_bad(struct model *m, const struct model_kind *k, const char *word)
{
	static const char *const work[] = {"briefed", "implemented", "fixed", "pr_created"};

	for (size_t i = 0; i < COUNT(work); i++)
		if (!strncmp(k->words, work[i], strlen(work[i])) && is(word, "failed"))
			return true;
	if (is(word, "needs_clarification"))
		return true;
	if (is(k->section, "PR URL"))
		return !model_section(m, k->section)->text.has_pull_request;
	return state_of(m, k->state) && state_of(m, k->state)->declared && !word;
}

/* Gives up an answer that is none. *clarify: the developer has a question. */
static void refuse(struct model *m, const struct model_kind *k, bool *clarify)
{
	const char *id = k->section;
	size_t at = 0;

	while (at < m->requests.n && !is(m->requests.items[at].section, k->section))
		at++;
	if (at < m->requests.n)
		id = id_of(m, &m->requests.items[at]);
	if (is(word_of(m, k), "needs_clarification")) {
		*clarify = true;
		m->counter[MODEL_FAILURES] = 0;
	} else {
		buf_addf(&m->events, "failure %s failed %lu\n", id, ++m->counter[MODEL_FAILURES]);
	}
	m->pending = NULL;
	drop(m, k->section);
	put(m, "Failed Answer", WRITTEN_HERE);
	if (at < m->requests.n)
		vec_remove(&m->requests, at);
}

/* False when one of the answers is none; the others are kept. */
static bool check_answers(struct model *m, bool *clarify)
{
	struct kind_list list = kinds_of(m, m->state);
	bool good = true;

	for (size_t i = 0; i < list.n; i++)
		if (model_section(m, list.items[i].section) &&
			is_bad(m, &list.items[i], word_of(m, &list.items[i]))) {
			refuse(m, &list.items[i], clarify);
			good = false;
		}
	for (size_t i = 0; !good && i < m->requests.n; i++)
		m->requests.items[i].carried = true;
	return good;
}

static enum progress settle(struct model *m, const struct model_step *how, bool *clarify)
{
	size_t open = 0;
	bool runs = false, fresh = false;

	for (size_t i = 0; i < m->requests.n; i++) {
		const struct model_request *r = &m->requests.items[i];
		const struct model_section *s = model_section(m, r->section);

		if (r->trigger)
			return settle_troubleshooter(m, i, how);
		if (r->word && s && s->text.hard_abort)
			return end_run(m, "security_violation",
				arena_printf(m->arena, "security violation in '%s'", id_of(m, r)));
		open += !is_answered(m, r);
		fresh |= is_answered(m, r) && !r->carried;
		runs |= is(how->running, id_of(m, r));
	}
	if (m->requests.n && !is(m->requests.items[0].state, m->state)) {
		while (m->requests.n)
			fail_request(m, 0, "the state was changed by hand");
		return GO_ON;
	}
	if (open && (!how->returned || runs))
		return print_open(m), PRINTED;
	if (open)
		give_up(m, fresh);
	else if (m->requests.n && !missing_kinds(m).n)
		(void)check_answers(m, clarify);
	else if (fresh)
		m->counter[MODEL_FAILURES] = 0;
	return GO_ON;
}

/* ---- step ---- */

static bool at_limit(const struct model *m)
{
	const struct workflow_limits *l = &m->workflow->limits;

	return (is(m->state, "fixing") && m->counter[MODEL_FIXES] >= l->max_fix_iterations) ||
	       (is(m->state, "fixing-pr") &&
		       m->counter[MODEL_REVIEW_FIXES] >= l->max_review_fix_iterations);
}

/* Effects that precede the requests of a state. */
static bool prepare(struct model *m, const struct model_step *how)
{
	if (is(m->state, "signoff") && !m->requests.n && !push(m, how))
		return false;
	if (is(m->state, "fixing-pr") && m->pull_request && is(how->checks, "red"))
		put(m, "Last Failure", WRITTEN_HERE);
	if (is(m->state, "fixing-pr") && m->pull_request && is(how->checks, "unknown"))
		buf_adds(&m->events, "effect checks not asked\n");
	return true;
}

static bool request(struct model *m, const struct kind_list *list, bool partial)
{
	for (size_t i = 0; i < (partial ? 1 : list->n); i++) {
		dispatch(m, m->state, list->items[i].section, NULL);
		print_request(m, &m->requests.items[m->requests.n - 1]);
	}
	return true;
}

static void take_pull_request(struct model *m)
{
	struct kind_list list = kinds_of(m, m->state);

	if (!is(m->state, "reviewing") || m->pull_request || !model_section(m, "PR URL") ||
		is_bad(m, &list.items[0], word_of(m, &list.items[0])))
		return;
	m->pull_request = true;
	m->pending = NULL;
	m->counter[MODEL_FAILURES] = 0;
	drop(m, "Failed Answer");
	m->requests.n = 0;
}

static bool advance(struct model *m, const struct model_step *how, bool clarify)
{
	for (int turns = 0; turns < 100; turns++) {
		struct kind_list list;
		const char *trigger;
		bool partial;

		if (is_end(m)) {
			m->requests.n = 0;
			return print_done(m, is(m->state, "done") ? "success" : "failed",
				m->outcome             ? m->outcome
				: is(m->state, "done") ? "the workflow is at its end"
						       : "the run has failed");
		}
		if (is(m->state, m->workflow->initial) || at_limit(m)) {
			if (!follow(m, at_limit(m) ? "max_retries" : NULL))
				return false;
			continue;
		}
		take_pull_request(m);
		list = missing_kinds(m);
		if (!list.n && (kinds_of(m, m->state).n || is(m->state, "spec-finding"))) {
			if (!check_answers(m, &clarify))
				continue;
			m->counter[MODEL_FAILURES] = 0;
			trigger = decide(m, how);
			drop(m, "Failed Answer");
			if (!trigger || !follow(m, trigger))
				return false;
			continue;
		}
		partial = list.n < kinds_of(m, m->state).n && !is(m->state, "reviewing");
		if (how->returned && m->pending && !partial)
			buf_addf(&m->events, "failure %s no answer %lu\n", m->pending,
				++m->counter[MODEL_FAILURES]);
		trigger = clarify ? "needs_clarification" : due_trigger(m, NULL);
		trigger = trigger ? trigger : !list.n ? "unknown_state" : NULL;
		if (trigger)
			return call_troubleshooter(m, trigger);
		return prepare(m, how) && request(m, &list, partial);
	}
	return false;
}

static void renumber(struct model *m, const char *running)
{
	for (size_t i = 0; i < m->requests.n; i++) {
		struct model_request *r = &m->requests.items[i];

		if (!is_answered(m, r) && !is(running, id_of(m, r)))
			number(m, r);
	}
}

bool model_step(struct model *m, const struct model_step *how)
{
	struct model_step step = *how;
	bool clarify = false;
	enum progress progress;

	if (!m->state) {
		m->state = m->workflow->initial;
		buf_adds(&m->events, "started\n");
	}
	if (how->take_over) {
		renumber(m, how->running);
		step.returned = false;
	}
	for (size_t i = 0; i < m->requests.n;)
		if (m->requests.items[i].stale)
			fail_request(m, i, "failed");
		else
			i++;
	if (is_end(m))
		return advance(m, &step, false);
	if (is(m->state, m->workflow->initial) && !follow(m, NULL))
		return false;
	if (m->question && !m->input)
		return print_done(m, "failed", "question");
	if (m->question) {
		m->question = NULL;
		m->counter[MODEL_CALLS] = 0;
		return call_troubleshooter(m, m->question_trigger);
	}
	if (m->question_trigger && m->counter[MODEL_CALLS] >= 3)
		return call_troubleshooter(m, m->question_trigger);
	m->question_trigger = NULL;
	step.returned &= !how->returned_id || find_request(m, how->returned_id);
	if (m->requests.n)
		m->pending = NULL;
	progress = settle(m, &step, &clarify);
	return progress == PRINTED || (progress == GO_ON && advance(m, &step, clarify));
}

/* ---- record ---- */

/* One of `a | b | c`. */
static bool is_word(const char *words, const char *word)
{
	struct str rest = str_of(words), item;
	bool found = false;

	while (rest.n) {
		item = str_sub(rest, 0, str_find(rest, STR(" | ")));
		found |= str_is(item, word);
		rest = str_sub(rest, item.n + 3 < rest.n ? item.n + 3 : rest.n, rest.n);
	}
	return found;
}

static bool record_again(
	struct model *m, struct model_answer *a, const char *word, const struct model_text *text)
{
	if (!is(a->sum, text->sum) || (*a->word && *word && !is(a->word, word)))
		return false;
	if (!*a->word && find_request(m, a->id))
		find_request(m, a->id)->word = word;
	return true;
}

bool model_record(struct model *m, const char *id, const char *word, const struct model_text *text)
{
	struct model_request *r = find_request(m, id);
	struct model_kind k;

	if (text->malformed)
		return false;
	r = r && r->stale ? NULL : r;
	if (r) {
		k = kind_of(m, r);
		if (!word && text->status && is_word(k.words, text->status))
			word = text->status;
		if (!word && !k.agent)
			word = text->passes ? "passed" : "failed";
		if ((word && !is_word(k.words, word)) ||
			(word && text->status && !is(word, text->status)) || (!word && r->trigger))
			return false;
	}
	word = word ? word : "";
	for (size_t i = 0; i < m->answers.n; i++)
		if (is(m->answers.items[i].id, id))
			return record_again(m, &m->answers.items[i], word, text);
	if (!r || is_answered(m, r))
		return false;
	r->word = word;
	put(m, r->section, *text);
	if (r->trigger)
		model_section(m, r->section)->text.sum = NULL;
	return true;
}
