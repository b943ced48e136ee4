#include "src/base/number.h"
#include "src/machine/engine_internal.h"
#include "src/machine/failure.h"
#include "src/machine/verdict.h"

/* MAX_CALLS in a row without progress stop the run until a person looks. MAX_EXTENSIONS budgets may
 * be added without asking the user. */
enum { MAX_CALLS = 3, MAX_EXTENSIONS = 2, REASON_MAX = 500 };

/* The counters that call the troubleshooter when they reach the workflow's limit, in order of
 * precedence. */
static const struct threshold {
	const char *trigger, *counter;
	size_t limit; /* offset in struct workflow_limits */
} thresholds[] = {
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset)                                        \
	{trigger, #key, offsetof(struct workflow_limits, limit)},
#include "context/counters.h"
};

static const struct threshold *find_threshold(const char *trigger)
{
	for (size_t i = 0; i < COUNT(thresholds); i++)
		if (strcmp(thresholds[i].trigger, trigger) == 0)
			return &thresholds[i];
	return NULL;
}

static bool is_reached(const struct engine_run *r, const struct threshold *t)
{
	const char *limits = (const char *)&r->e->workflow->limits;

	return context_count(r->doc, t->counter) >=
	       *(const unsigned long *)(const void *)(limits + t->limit);
}

const json *engine_troubleshooter_action(const struct engine_run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_is_troubleshooter(a))
			return a;
	return NULL;
}

/* A state without a step needs help before its budget matters. */
const char *engine_troubleshooter_due(
	const struct engine_run *r, const struct step *step, unsigned long *count)
{
	for (size_t i = 0; i < COUNT(thresholds) - !step; i++) {
		*count = context_count(r->doc, thresholds[i].counter);
		if (is_reached(r, &thresholds[i]))
			return thresholds[i].trigger;
	}
	*count = 0;
	return step ? NULL : "unknown_state";
}

/* The counter behind a trigger that is reported a second time. */
static unsigned long count_of(const struct engine_run *r, const char *trigger)
{
	const struct threshold *t = find_threshold(trigger);

	return t ? context_count(r->doc, t->counter) : strcmp(trigger, "needs_clarification") == 0;
}

/* Nothing in the document says whether a question was resolved. */
static bool cause_is_gone(const struct engine_run *r, const char *trigger)
{
	const struct threshold *t = find_threshold(trigger);

	if (strcmp(trigger, "unknown_state") == 0)
		return r->e->step_for(r->e->workflow, engine_state(r)) != NULL;
	return t && !is_reached(r, t);
}

void engine_troubleshooter_discard(struct engine_run *r)
{
	const json *call = engine_troubleshooter_action(r);

	if (!call || action_answered(r->doc, call) ||
		!cause_is_gone(r, json_get_str(call, "trigger")))
		return;
	json_put_texts(context_event(r->e->file, "failure"), "action", json_get_str(call, "id"),
		"reason", "what it was called for is gone");
	engine_drop_unanswered(r);
	context_set(r->doc, "troubleshooter_input", (struct str){0}); /* it was for this call */
	context_set_count(r->doc, "troubleshooter_calls", 0);
}

/* Where actions wait for each other, the last failed answer may be of one that goes on. */
static bool is_of_reached(struct engine_run *r, struct str answer)
{
	CLEANUP(json_free) json *sections = engine_reached(r);
	bool found = !sections;

	for (const json *s = json_first(sections); s && !found; s = json_next(s))
		found = str_starts(answer, arena_printf(&r->arena, "%s: ", json_text(s)));
	return found;
}

/* What has failed, for a remedy. The user's answer comes before any. Of reviews only that they are
 * not satisfied: what else they say is about the work. */
static const char *failed_text(struct engine_run *r, const char *trigger)
{
	struct str answer = context_section(r->doc, CONTEXT_FAILED_ANSWER);

	if (context_get(r->doc, "troubleshooter_input").n)
		return NULL;
	if (strcmp(trigger, "consecutive_failures") == 0)
		return answer.n && is_of_reached(r, answer) ? arena_dup(&r->arena, answer) : NULL;
	return strcmp(trigger, "signoff_deadlock") == 0 || strcmp(trigger, "review_loop") == 0
		       ? "changes_requested"
		       : NULL;
}

enum advance engine_troubleshooter_call(
	struct engine_run *r, const char *trigger, unsigned long count)
{
	unsigned long calls = context_count(r->doc, "troubleshooter_calls");

	if (calls < MAX_CALLS) {
		if (engine_dispatch_troubleshooter(r, trigger, count, failed_text(r, trigger)))
			context_set_count(r->doc, "troubleshooter_calls", calls + 1);
		return r->print ? ADVANCE_STOP : ADVANCE_ON;
	}
	engine_drop_unanswered(r);
	context_set(r->doc, "troubleshooter_input", (struct str){0}); /* the calls had it */
	context_set(r->doc, "question_trigger", str_of(trigger));
	engine_dispatch_done(r, "failed",
		arena_printf(&r->arena,
			"the troubleshooter was called %d times for '%s' and nothing got done; "
			"look at '%s', and remove the cause",
			MAX_CALLS, trigger, r->e->file->path),
		NULL);
	return ADVANCE_STOP;
}

/* A section whose text is a verdict, of a step or of a declared state. */
static bool is_verdict(const struct engine_run *r, const char *section)
{
	const struct workflow *w = r->e->workflow;

	for (size_t i = 0; i < w->n_states; i++) {
		const struct step *step = r->e->step_for(w, w->states[i].name);
		const struct declared_state *d = w->states[i].declared;

		if (step && str_in(str_of(section), step->verdicts))
			return true;
		for (size_t k = 0; d && k < d->n; k++)
			if (strcmp(d->items[k].writes, section) == 0)
				return true;
	}
	return false;
}

/* It may have work judged again or say what is left to do, but not approve in an agent's place. */
static const char *section_fault(const struct engine_run *r, const char *section, const char *text)
{
	char word[64];

	if (!section_name_valid(str_of(section)) || strcmp(section, CONTEXT_ACTIONS) == 0 ||
		strcmp(section, CONTEXT_TROUBLE_LOG) == 0)
		return "this section is not the troubleshooter's to write";
	if (strcmp(section, CONTEXT_REVIEW_NOTES) == 0)
		return verdict_word(str_of(text), "status", word, sizeof(word)) &&
				       strcmp(word, "approved") == 0
			       ? "only a reviewer approves"
			       : NULL;
	if (*text && is_verdict(r, section))
		return "this section is a verdict: it may only be emptied, to be asked for anew";
	return NULL;
}

/* The approval behind which `to` lies: every way to it, from the workflow's first state and from
 * the present one, leaves an approval. NULL: there is none. */
static const char *approval_before(struct engine_run *r, const struct workflow_state *to)
{
	const struct workflow *w = r->e->workflow;
	const struct workflow_state *first = workflow_state(w, w->initial),
				    *now = workflow_state(w, engine_state(r));
	bool *leads = arena_alloc(&r->arena, w->n_states * sizeof(*leads)), more = true;
	const char *approval = NULL;

	leads[to - w->states] = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < w->n_edges; i++) {
			const struct workflow_edge *e = &w->edges[i];
			const struct declared_state *d = w->states[e->from_state].declared;

			if (!leads[e->to_state] || leads[e->from_state])
				continue;
			if (d && d->items->approve)
				approval = d->name;
			else
				leads[e->from_state] = more = true;
		}
	}
	return leads[first - w->states] || (now && leads[now - w->states]) ? NULL : approval;
}

/* Only the user may declare work done that its reviewers have not approved, or pass an approval. */
static const char *state_fault(struct engine_run *r, const char *to)
{
	const struct workflow_state *st = workflow_state(r->e->workflow, to);
	const char *approval;

	if (!st)
		return "no such state in the workflow";
	if (context_get(r->doc, "troubleshooter_input").n)
		return NULL;
	if (st->terminal && strcmp(to, "done") == 0)
		return "only the user can say that it is done: answer needs_user_input first";
	approval = approval_before(r, st);
	return approval ? arena_printf(&r->arena,
				  "it lies behind the approval '%s', which only a person gives: "
				  "answer needs_user_input first",
				  approval)
			: NULL;
}

/* An iteration whose section exists already would count as answered without being requested; so
 * would a later one, when it is reached. */
static const char *iteration_fault(struct engine_run *r, const char *key, uint64_t value)
{
	uint64_t next = 1 + value + context_fixes(r->doc) - context_count(r->doc, key), written;

	if (strcmp(key, "fix_iteration") != 0 && strcmp(key, "review_fix_iteration") != 0)
		return NULL;
	for (size_t i = 0; i < context_sections(r->doc); i++) {
		struct str name = context_section_name(r->doc, i);

		if (str_starts(name, CONTEXT_FIX) &&
			number_parse(str_sub(name, strlen(CONTEXT_FIX), name.n), 0, UINT64_MAX,
				&written) &&
			written >= next)
			return arena_printf(&r->arena,
				"section '" CONTEXT_FIX "%llu' is written already",
				(unsigned long long)written);
	}
	return NULL;
}

static const char *set_count(struct engine_run *r, const char *key, const char *value)
{
	const char *fault;
	uint64_t count;

	if (!number_parse(str_of(value), 0, CONTEXT_COUNT_MAX, &count))
		return "must be a whole number";
	fault = iteration_fault(r, key, count);
	if (!fault)
		context_set_count(r->doc, key, count);
	return fault;
}

/* It may not set its own bounds: the number of its calls and the budget. */
static const char *troubleshooter_set_key(struct engine_run *r, const char *key, const char *value)
{
	static const char *const settable[] = {"state", "spec_path", "pr_url",
#define COUNTER_LOOP(key, limit, state, counts, reset)      #key,
#define COUNTER_TRIGGER(key, limit, trigger, counts, reset) #key,
#define COUNTER_BUDGET(key, limit, trigger, counts, reset)
#include "context/counters.h"
		NULL};

	if (!str_in(str_of(key), settable))
		return "this key is not the troubleshooter's to set";
	if (context_is_counter(key))
		return set_count(r, key, value);
	if (strcmp(key, "state") == 0) {
		const char *fault = state_fault(r, value);

		if (!fault)
			engine_enter(r, value, "troubleshooter", NULL);
		return fault;
	}
	if (strcmp(key, "pr_url") == 0 && *value && !str_is(verdict_pr_url(str_of(value)), value))
		return "must be the URL of a pull request";
	context_set(r->doc, key, str_of(value));
	return NULL;
}

static const char *troubleshooter_value_of(struct engine_run *r, const json *change)
{
	const char *text = json_get_str(change, "value");
	int64_t number = json_get_int(change, "value", -1);

	if (text)
		return text;
	return number >= 0 ? arena_printf(&r->arena, "%lld", (long long)number) : NULL;
}

static const char *change_one(struct engine_run *r, const json *change)
{
	const char *key = json_get_str(change, "key"), *section = json_get_str(change, "section"),
		   *text = json_get_str(change, "text"),
		   *value = troubleshooter_value_of(r, change), *fault;

	if (json_is_string(change))
		return NULL; /* a sentence for people */
	if (key && value)
		return troubleshooter_set_key(r, key, value);
	if (!section || !text)
		return "must be a text, {\"key\",\"value\"} or {\"section\",\"text\"}";
	fault = section_fault(r, section, text);
	if (!fault)
		context_put(r->doc, section, str_of(text));
	return fault;
}

/* A change that is refused is noted and shown; the others are made. */
static void change_state(struct engine_run *r, const json *answer)
{
	const json *changes = json_get(answer, "state_changes");

	for (const json *c = json_is_array(changes) ? json_first(changes) : NULL; c;
		c = json_next(c)) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		json *event = context_event(r->e->file, "change");
		const char *fault;

		json_print(&text, c);
		json_put_str(event, "change", buf_str(&text));
		fault = change_one(r, c);
		if (fault) {
			json_set(event, "type", json_string(STR("refusal")));
			json_put_str(event, "reason", str_of(fault));
			engine_say(r, arena_printf(&r->arena,
					      "the troubleshooter's change %s is refused: %s",
					      text.s, fault));
		}
	}
}

static void reset_thresholds(struct engine_run *r, const char *trigger)
{
	const struct threshold *t = find_threshold(trigger);

	engine_forget_reached(r); /* of the first */
	/* One refused sign-off may bring two counters to their limits: the ruling is for both. */
	for (size_t i = 1; i < COUNT(thresholds); i++)
		if (t == &thresholds[i] ||
			(i + 1 < COUNT(thresholds) && is_reached(r, &thresholds[i])))
			context_set_count(r->doc, thresholds[i].counter, 0);
}

void engine_troubleshooter_remedy(
	struct engine_run *r, const char *trigger, const struct admission *remedy)
{
	const char *note = failure_note(&r->arena, r->doc, remedy->reason);

	reset_thresholds(r, trigger);
	engine_drop_unanswered(r);
	if (note)
		context_set(r->doc, "user_note", str_of(note));
}

static void resume(struct engine_run *r, const char *trigger, const json *answer)
{
	unsigned long calls = context_count(r->doc, "troubleshooter_calls");

	reset_thresholds(r, trigger);
	change_state(r, answer);
	engine_drop_unanswered(r);
	/* a transition that it makes itself is not progress */
	context_set_count(r->doc, "troubleshooter_calls", calls);
}

static void troubleshooter_end_run(struct engine_run *r, const char *reason)
{
	context_put(r->doc, CONTEXT_LAST_FAILURE,
		str_of(arena_printf(&r->arena, "Ended by the troubleshooter: %s", reason)));
	engine_enter(r, "failed", "terminated",
		arena_printf(&r->arena, FAILURE_TERMINATED "%s", reason));
}

static void ask_user(struct engine_run *r, const char *trigger, const char *reason)
{
	engine_drop_unanswered(r);
	context_set(r->doc, "question", str_of(reason));
	context_set(r->doc, "question_trigger", str_of(trigger));
	context_set(r->doc, "pending_agent", STR("user"));
}

/* After MAX_EXTENSIONS only the user may add budgets. */
static bool may_extend(struct engine_run *r, const char *trigger)
{
	unsigned long n = context_count(r->doc, "budget_extensions");

	if (strcmp(trigger, "budget_exceeded") != 0)
		return true;
	if (context_get(r->doc, "troubleshooter_input").n)
		n = 0;
	if (n >= MAX_EXTENSIONS)
		return false;
	context_set_count(r->doc, "budget_extensions", n + 1);
	return true;
}

/* Without the member: that of a question, else what the answer says first. */
static const char *reason_of(struct arena *a, struct str text, const json *answer)
{
	const char *reason = json_get_str(answer, "reason"),
		   *question = json_get_str(answer, "question");
	struct str line = {0};

	if ((reason && *reason) || (question && *question))
		return reason && *reason ? reason : question;
	text = str_trim(text);
	if (!str_line(&text, &line) || str_starts(line, "{"))
		return "no reason given";
	return arena_printable(a, line, REASON_MAX);
}

enum advance engine_troubleshooter_answered(struct engine_run *r, const json *action)
{
	const char *trigger = arena_dup(&r->arena, str_of(json_get_str(action, "trigger")));
	struct str word = action_word(r->doc, action);
	CLEANUP(json_free) json *answer = verdict_json(action_text(r->doc, action));
	const char *reason = reason_of(&r->arena, action_text(r->doc, action), answer);

	if (!word.n)
		return engine_troubleshooter_call(r, trigger, count_of(r, trigger));
	if (str_is(word, "continue") && !may_extend(r, trigger))
		ask_user(r, trigger,
			arena_printf(&r->arena,
				"the budget of %lu actions was extended %d times; the "
				"troubleshooter would go on: %s. Go on?",
				r->e->workflow->limits.max_actions, MAX_EXTENSIONS, reason));
	else if (str_is(word, "continue"))
		resume(r, trigger, answer);
	else if (str_is(word, "terminate"))
		troubleshooter_end_run(r, reason);
	else
		ask_user(r, trigger, reason);
	context_set(r->doc, "troubleshooter_input", (struct str){0});
	return ADVANCE_ON;
}

enum advance engine_troubleshooter_wait(struct engine_run *r)
{
	const char *question = arena_dup(&r->arena, context_get(r->doc, "question"));
	const char *trigger = arena_dup(&r->arena, context_get(r->doc, "question_trigger"));
	bool given_up = context_count(r->doc, "troubleshooter_calls") >= MAX_CALLS;

	if (engine_admit_again(r))
		return ADVANCE_ON;
	if (*question && !context_get(r->doc, "troubleshooter_input").n) {
		engine_dispatch_done(r, "failed",
			arena_printf(&r->arena, "needs your answer: %s", question), question);
		return ADVANCE_STOP;
	}
	context_set(r->doc, "question_trigger", (struct str){0});
	if (!*question)
		return given_up ? engine_troubleshooter_call(r, trigger, 0) : ADVANCE_ON;
	context_set(r->doc, "question", (struct str){0});
	context_set_count(r->doc, "troubleshooter_calls", 0);
	if (!*trigger)
		trigger = "needs_clarification";
	return engine_troubleshooter_call(r, trigger, count_of(r, trigger));
}
