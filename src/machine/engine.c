#include "src/base/json.h"
#include "src/config/violation.h"
#include "src/machine/engine_internal.h"
#include "src/machine/verdict.h"

/* More transitions than this without an action mean that the workflow runs in a circle. */
enum { MAX_TURNS = 1000 };

const char *engine_state(const struct engine_run *r)
{
	return context_get(r->doc, "state").p;
}

const struct declared_state *engine_declared(const struct engine_run *r)
{
	const struct workflow_state *st = workflow_state(r->e->workflow, engine_state(r));

	return st ? st->declared : NULL;
}

/* `done` and `failed` are terminal in every workflow: a run can be ended from outside. */
bool engine_is_terminal(const struct workflow *w, const char *state)
{
	const struct workflow_state *st = workflow_state(w, state);

	return st ? st->terminal : strcmp(state, "failed") == 0 || strcmp(state, "done") == 0;
}

void engine_say(struct engine_run *r, const char *text)
{
	const struct environment *env = r->e->environment;

	if (env->say)
		env->say(env->data, text);
}

/* Outstanding actions */

/* Keeps the outstanding actions for which `keep` is true. Returns how many were removed. */
typedef bool keep_action(struct engine_run *r, const json *action, const void *arg);

static size_t filter_outstanding(struct engine_run *r, keep_action *keep, const void *arg)
{
	size_t removed = 0;

	for (const json *a = json_first(r->outstanding), *next; a; a = next) {
		next = json_next(a);
		if (keep(r, a, arg))
			continue;
		json_remove(r->outstanding, a);
		removed++;
	}
	if (removed)
		action_store(r->doc, r->outstanding);
	return removed;
}

static void clear_outstanding(struct engine_run *r)
{
	json_free(&r->outstanding);
	r->outstanding = json_array();
	action_store(r->doc, r->outstanding);
	context_set(r->doc, "pending_agent", (struct str){0});
}

/* Sorted by bytes. */
struct section_list {
	const char *const *names;
	size_t n;
};

static bool writes_elsewhere(struct engine_run *r, const json *action, const void *arg)
{
	const struct section_list *list = arg;
	const char *section = json_get_str(action, "write_section");

	(void)r;
	return !list->n || !bsearch(&section, list->names, list->n, sizeof(section), vec_by_text);
}

void engine_drop_sections(struct engine_run *r, const char *const *sorted, size_t n)
{
	const struct section_list list = {sorted, n};

	(void)filter_outstanding(r, writes_elsewhere, &list);
}

static bool is_step_answer(struct engine_run *r, const json *action, const void *arg)
{
	(void)arg;
	return action_answered(r->doc, action) && !action_is_troubleshooter(action);
}

void engine_carry_answers(struct engine_run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_answered(r->doc, a) && !json_get(a, "carried"))
			json_put_bool((json *)a, "carried", true);
	action_store(r->doc, r->outstanding);
}

void engine_drop_unanswered(struct engine_run *r)
{
	(void)filter_outstanding(r, is_step_answer, NULL);
	engine_carry_answers(r);
	context_set(r->doc, "pending_agent", (struct str){0});
}

/* `kept`: the file with the text of the answer that failed; NULL: there was none. */
static json *note_failure(
	struct engine_run *r, const char *action, const char *reason, const char *kept)
{
	r->failure = true;
	return JSON_ADD(context_event(r->e->file, "failure"), JSON_TEXT("action", action),
		JSON_TEXT("reason", reason),
		JSON_INT("count", context_count(r->doc, "consecutive_failures")),
		JSON_IF(kept, JSON_TEXT("kept", kept)));
}

/* Counts an attempt in `counts`, and says in its event which action has failed, and how often. */
static void count_attempt(json *counts, const char *section, unsigned long least, json *event)
{
	JSON_SET(event, JSON_INT("count", engine_add_failure(counts, section, least)),
		JSON_IF(strcmp(section, CONTEXT_FAILURES_END) != 0,
			JSON_TEXT("write_section", section)));
}

static bool is_manifest(const struct engine_run *r)
{
	return engine_declared(r) && engine_declared(r)->manifest;
}

/* Keeps `<work item>/<state>/<n>` of the present state; of a manifest the part is the node. */
static bool belongs_to_state(struct engine_run *r, const json *action, const void *prefix)
{
	if (action_is_troubleshooter(action) || (json_get(action, "node") && is_manifest(r)) ||
		str_starts(str_of(json_get_str(action, "id")), prefix))
		return true;
	note_failure(r, json_get_str(action, "id"), "the state was changed by hand", NULL);
	return false;
}

/* Somebody set the state by hand. Discards the old state's requests. */
static void discard_other_states(struct engine_run *r)
{
	const char *prefix = arena_printf(&r->arena, "%s/%s/", r->e->id, engine_state(r));

	if (filter_outstanding(r, belongs_to_state, prefix) && !json_len(r->outstanding))
		context_set(r->doc, "pending_agent", (struct str){0});
}

struct noted_walk {
	const json *noted, **last;
};

static bool engine_is_current(struct engine_run *r, const json *action, const void *arg)
{
	const struct noted_walk *w = arg;

	if (action_answered(r->doc, action) ||
		action_is_noted(w->noted, json_get_str(action, "id"), w->last) ||
		engine_script_running(r, action))
		return true;
	note_failure(r, json_get_str(action, "id"),
		"it was dealt with before the document was put back", NULL);
	return false;
}

/*
 * Somebody restored an older document: actions in it that were answered, fenced or given up since
 * are asked for again under new ids. A script that still runs keeps its own.
 */
static int discard_stale(struct engine_run *r, struct error *err)
{
	CLEANUP(json_free) json *noted = NULL;
	const json *last = NULL;

	if (action_noted(r->e->file, &noted, err) < 0)
		return -1;
	(void)filter_outstanding(r, engine_is_current, &(struct noted_walk){noted, &last});
	return 0;
}

/* Transitions */

/* Moves the answer of an earlier visit out of the way, so that the agent is asked again. */
static void set_aside(struct engine_run *r, const char *section)
{
	struct str text = context_section(r->doc, section);

	if (!text.n)
		return;
	context_put(r->doc, arena_printf(&r->arena, CONTEXT_EARLIER "%s", section), text);
	context_remove(r->doc, section);
}

/*
 * Re-entering a state repeats its requests if it is declared, if it returns a verdict (earlier ones
 * are not about the present work), or if its agent was called in this run before.
 */
static void clear_answers(struct engine_run *r, const char *state)
{
	const struct workflow_state *st = workflow_state(r->e->workflow, state);
	const struct step *step = r->e->step_for(r->e->workflow, state);

	for (const char *const *v = step ? step->verdicts : NULL; v && *v; v++)
		context_remove(r->doc, *v);
	if (step && step->answer && context_attempts(r->doc, state) > 0)
		set_aside(r, step->answer);
	for (size_t i = 0; st && st->declared && i < st->declared->n; i++)
		context_remove(r->doc, st->declared->items[i].writes);
	if (st && st->declared && st->declared->rules.limit)
		context_add_visit(r->doc, state);
}

static void keep_results(struct engine_run *r)
{
	json_free(&r->results);
	r->results = json_array();
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_answered(r->doc, a))
			json_push(r->results, json_copy(a));
}

void engine_enter(struct engine_run *r, const char *to, const char *trigger, const char *why)
{
	char *from = arena_dup(&r->arena, context_get(r->doc, "state"));

	json_put_texts(context_event(r->e->file, "transition"), "from", from, "to", to, "trigger",
		trigger);
	if (engine_declared(r) && engine_declared(r)->order && strcmp(to, "failed") == 0)
		keep_results(r);
	clear_outstanding(r);
	clear_answers(r, to);
	engine_forget_each(r);
	context_set(r->doc, "state", str_of(to));
	context_set_count(r->doc, "troubleshooter_calls", 0);
	if (!engine_is_terminal(r->e->workflow, to))
		return;
	if (!why)
		why = arena_printf(&r->arena, "'%s' gave '%s'", from, trigger);
	context_set(r->doc, "outcome", str_of(why));
	json_put_texts(context_event(r->e->file, "done"), "result",
		strcmp(to, "done") == 0 ? "success" : "failed", "reason", why);
}

static enum advance transition(struct engine_run *r, const char *trigger, struct error *err)
{
	const char *to = workflow_target(r->e->workflow, engine_state(r), trigger);

	if (!to)
		return error_at(err, r->e->workflow->file, 0, 0,
			"state '%s' has no transition for '%s'", engine_state(r), trigger);
	engine_enter(r, to, trigger, NULL);
	return ADVANCE_ON;
}

static enum advance boot(struct engine_run *r, struct error *err)
{
	const struct workflow_edge *edge = workflow_only_edge(r->e->workflow, engine_state(r));

	if (!edge)
		return error_at(err, r->e->workflow->file, 0, 0,
			"the initial state '%s' must have exactly one way out", engine_state(r));
	engine_enter(r, edge->to, edge->trigger, NULL);
	r->booted = true;
	return ADVANCE_ON;
}

/* Whoever carries them out ends them. */
static void print_cancelled(struct engine_run *r)
{
	struct str rest = context_get(r->doc, "cancelled"), id;
	json *list;

	if (!rest.n)
		return;
	list = json_array();
	while (arena_shell_word(&r->arena, &rest, &id))
		json_push_str(list, id);
	json_put((json *)json_first(r->print), "cancel", list);
}

static enum advance engine_finish(struct engine_run *r, struct error *err)
{
	bool good = strcmp(engine_state(r), "done") == 0;
	struct str why = context_get(r->doc, "outcome"), url = context_get(r->doc, "pr_url");
	const char *reason = why.n  ? why.p
			     : good ? "the workflow is at its end"
				    : "the run has failed",
		   *fault = NULL;

	clear_outstanding(r); /* the state may have been set by hand */
	if (good && engine_evidence_at_end(r, &fault, err) < 0)
		return ADVANCE_FAILED;
	if (fault) {
		good = false;
		reason = arena_printf(&r->arena, "it is not done: %s", fault);
	}
	if (good && url.n)
		reason = arena_printf(&r->arena, "%s; %s", reason, url.p);
	engine_dispatch_done(r, good ? "success" : "failed", reason, NULL);
	print_cancelled(r);
	return ADVANCE_STOP;
}

/* Waiting for answers, and counting retries */

/* Its actions wait for each other, so that a step takes the answers that have arrived. */
static bool engine_is_ordered(const struct engine_run *r)
{
	return engine_declared(r) && engine_declared(r)->order && !engine_troubleshooter_action(r);
}

/* The progress of a child is in its own document. */
bool engine_in_progress(const struct engine_run *r, const json *action)
{
	return action_kind(action) == ACTION_CHILD || engine_script_running(r, action);
}

/* A running script is not missing: a retry would start a second one next to it. Nor is the answer
 * of a person. */
static bool waits_for_script(const struct engine_run *r)
{
	if (action_open_approval(r->doc, r->outstanding))
		return true;
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a) && engine_script_running(r, a))
			return true;
	return false;
}

static bool engine_is_named(const struct engine_run *r, const json *action)
{
	const char *id = json_get_str(action, "id");

	return r->named.n && bsearch(&id, r->named.items, r->named.n, sizeof(id), vec_by_text);
}

const json *engine_find_named(const struct engine_run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (engine_is_named(r, a))
			return a;
	return NULL;
}

struct array_list {
	int64_t *items;
	size_t n, cap;
};

/* Those that the actions that have returned were dispatched in. */
static void list_arrays(struct engine_run *r, struct array_list *out)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		int64_t array = json_get_int(a, "array", 0);

		if (engine_is_named(r, a) && (!out->n || out->items[out->n - 1] != array))
			vec_push_in(&r->arena, out, array);
	}
}

static bool is_of_arrays(const json *action, const struct array_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (json_get_int(action, "array", 0) == l->items[i])
			return true;
	return !l->n;
}

/* `arrays`: only what was dispatched in one of them is missing. Without: all is, or the named
 * actions alone. */
static bool engine_is_missing(
	struct engine_run *r, const json *action, const struct array_list *arrays)
{
	if (action_answered(r->doc, action) || engine_in_progress(r, action))
		return false;
	if (r->e->returned_alone)
		return engine_is_named(r, action);
	return is_of_arrays(action, arrays);
}

struct missing {
	struct array_list arrays;
	json *counts; /* by section; NULL: those of the state are not counted one by one */
};

static bool note_missing(struct engine_run *r, const json *action, const void *arg)
{
	const struct missing *m = arg;
	json *event;
	bool late;

	if (!engine_is_missing(r, action, &m->arrays))
		return true;
	late = engine_review_is_late(r, action);
	event = note_failure(
		r, json_get_str(action, "id"), late ? "reviewer-timeout" : "no answer", NULL);
	if (m->counts)
		count_attempt(m->counts, json_get_str(action, "write_section"),
			late ? r->e->workflow->limits.consecutive_failures : 1, event);
	return false;
}

/* Asks again for what is missing of an ordered state; what else is outstanding stays so. */
static bool retry_missing(struct engine_run *r, bool progress)
{
	CLEANUP(json_free) json *counts = r->returned ? engine_failures(r) : NULL;
	struct missing m = {.counts = counts};

	list_arrays(r, &m.arrays);
	if (!r->returned || (r->e->returned_id && !m.arrays.n) ||
		!filter_outstanding(r, note_missing, &m))
		return false;
	if (counts)
		engine_set_failures(r, counts);
	else if (!progress) /* what progress is, its claims have yet to show */
		engine_count_unanswered(r, context_count(r->doc, "consecutive_failures") + 1);
	r->returned = false;
	engine_carry_answers(r);
	return true;
}

/* The missing actions that this owner did not dispatch. */
struct foreign_search {
	struct engine_run *r;
	size_t left; /* missing actions whose dispatch was not seen yet */
	const char *first, *text;
};

/* A context_visit. */
static bool find_foreign(const json *event, void *data)
{
	struct foreign_search *s = data;
	const char *id = json_get_str(event, "action"), *owner = json_get_str(event, "owner"),
		   *own = s->r->e->owner;
	const json *a = json_str_is(event, "type", "dispatch") && id
				? action_find(s->r->outstanding, id)
				: NULL;

	if (!a || !engine_is_missing(s->r, a, &(struct array_list){0}))
		return true;
	if (owner && own ? strcmp(owner, own) != 0 : owner != own) {
		s->first = json_get_str(a, "id");
		s->text = arena_printf(&s->r->arena, "'%s'%s%s", s->first, s->text ? ", " : "",
			s->text ? s->text : "");
	}
	return --s->left > 0;
}

/* Agents that another session has started may still work: the ids say which of them are back. */
static int check_returned(struct engine_run *r, struct error *err)
{
	CLEANUP(buf_release) struct buf command = BUF_INIT;
	struct foreign_search s = {.r = r};

	if (!r->e->returned_checked || !r->returned || r->e->returned_id || r->wait.until ||
		!engine_is_ordered(r))
		return 0;
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		s.left += engine_is_missing(r, a, &(struct array_list){0});
	if (s.left)
		context_each_event(r->e->file, "\"dispatch\"", find_foreign, &s);
	if (!s.text)
		return 0;
	buf_add_argument(&command, "dev-team step ", r->e->id);
	if (r->e->owner)
		buf_add_argument(&command, " --owner ", r->e->owner);
	buf_add_argument(&command, " --returned=", s.first);
	return error_set(err, ERR_STATE,
		"another owner dispatched %.400s%s; name those that have returned, separated by "
		"commas: %s",
		s.text, strlen(s.text) > 400 ? "..." : "", command.s);
}

/* The agents are back without these answers: asks for them again under new ids. */
static enum advance retry_unanswered(struct engine_run *r, bool progress)
{
	unsigned long count = progress ? 0 : context_count(r->doc, "consecutive_failures") + 1;
	const json *call = engine_troubleshooter_action(r);

	engine_count_unanswered(r, count);
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		(void)note_missing(r, a, &(struct missing){0});
	r->returned = false;
	if (call)
		return engine_troubleshooter_call(r,
			arena_dup(&r->arena, str_of(json_get_str(call, "trigger"))),
			(unsigned long)json_get_int(call, "cycle_count", 0));
	engine_drop_unanswered(r);
	return ADVANCE_ON;
}

/* A repeated `--returned=ID` counts only while one of its actions is still outstanding. */
static bool agents_are_back(const struct engine_run *r)
{
	bool back = !r->e->returned_id;

	for (const json *a = json_first(r->outstanding); a && !back; a = json_next(a))
		back = engine_is_named(r, a) && !json_get(a, "carried");
	return r->returned && !r->e->returned_alone && back;
}

/*
 * ADVANCE_ON: nothing is outstanding, or all of it is answered, or the state is ordered. An answer
 * carried over from an earlier array is not progress of this one, or a silent agent would be asked
 * for ever.
 */
static enum advance check_answers(struct engine_run *r)
{
	const struct step *step;
	size_t answered = 0;
	bool progress = false;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (!action_answered(r->doc, a))
			continue;
		answered++;
		progress |= !json_get(a, "carried") && action_kind(a) != ACTION_SCRIPT;
	}
	if (answered < json_len(r->outstanding) && engine_is_ordered(r)) {
		if (retry_missing(r, progress))
			return ADVANCE_ON; /* looks again */
		answered = json_len(r->outstanding);
	}
	if (answered == json_len(r->outstanding)) {
		r->progress = progress && !r->failure;
		return ADVANCE_ON;
	}
	if (agents_are_back(r) && !waits_for_script(r))
		return retry_unanswered(r, progress);
	step = r->e->step_for(r->e->workflow, engine_state(r));
	engine_dispatch_again(r, step && step->together);
	return ADVANCE_STOP;
}

/* Whether an agent, a person or a child has answered. A script that passes, and a state without
 * requests, say nothing about the agents around them. */
static bool has_agents_answer(const struct engine_run *r, const struct step_context *c)
{
	for (size_t i = 0; i < c->answers.n; i++) {
		const json *a = action_writing(r->outstanding, c->answers.items[i].section);

		if (!a || action_kind(a) != ACTION_SCRIPT)
			return true;
	}
	return false;
}

/* An answer is good. `all`: those of the state are; else one that says nothing about other actions
 * with counts of their own. */
static void engine_forget_failures(struct engine_run *r, bool all)
{
	if (all || !engine_counts_each(r))
		context_set_count(r->doc, "consecutive_failures", 0);
	if (context_count(r->doc, "usage_waits"))
		context_set_count(r->doc, "usage_waits", 0);
}

/* `section`: of the action, or CONTEXT_FAILURES_END; NULL: it is not known. */
static void count_failure(struct engine_run *r, const char *action, const char *section,
	const char *reason, const char *kept)
{
	CLEANUP(json_free) json *counts = section ? engine_failures(r) : NULL;
	unsigned long count = context_count(r->doc, "consecutive_failures");
	json *event;

	if (!counts)
		context_set_count(r->doc, "consecutive_failures", count + 1);
	event = note_failure(r, action, reason, kept);
	if (counts) {
		count_attempt(counts, section, 1, event);
		engine_set_failures(r, counts);
	}
	r->returned = false;
}

/*
 * The document says that an agent was asked (`pending_agent`) but not for what: a person or another
 * program wrote it. Silence is then known from the document alone.
 */
static void count_silence(struct engine_run *r, const struct step_context *c)
{
	struct str pending = context_get(r->doc, "pending_agent");

	if (!r->returned || r->e->returned_id || json_len(r->outstanding) || !pending.n ||
		c->partly)
		return;
	count_failure(r, pending.p, NULL, "no answer", NULL);
}

/* Steps */

/* Moves the text of a failed answer to logs/ and to the section `Failed Answer`, which names the
 * action where others go on meanwhile. */
static int keep_failed_answer(
	struct engine_run *r, const struct step_context *c, char **path, struct error *err)
{
	struct str text = context_section(r->doc, c->section);
	char *stem = arena_printf(&r->arena, "%s-%s-failed", r->e->file->name, engine_state(r));
	bool each = engine_counts_each(r) && !c->at_end;

	if (context_keep(r->e->file, stem, text, path, err) < 0)
		return -1;
	context_put(r->doc, CONTEXT_FAILED_ANSWER,
		str_of(arena_printf(&r->arena, "%s%s%s (%s)\n\n%s", each ? c->section : "",
			each ? ": " : "", c->reason, *path, text.p)));
	context_remove(r->doc, c->section);
	return 0;
}

/* Asks only for the failed action again; the good answers of its array stay. */
static enum advance handle_failed_answer(
	struct engine_run *r, const struct step_context *c, struct error *err)
{
	const json *action = action_writing(r->outstanding, c->section);
	const char *id = action ? json_dup(&r->arena, action, "id") : c->section;
	char *kept;

	if (keep_failed_answer(r, c, &kept, err) < 0)
		return ADVANCE_FAILED;
	engine_drop_sections(r, &c->section, 1);
	engine_drop_unanswered(r); /* what is kept is not progress of the next array */
	if (c->result == STEP_UNCLEAR) {
		context_set_count(r->doc, "consecutive_failures", 0);
		return engine_troubleshooter_call(r, "needs_clarification", 1);
	}
	count_failure(r, id, c->at_end ? CONTEXT_FAILURES_END : c->section, c->reason, kept);
	return ADVANCE_ON;
}

/* True if an answer gives none of its words, or contradicts it. Nothing is read between the lines:
 * it has failed. */
static bool lacks_word(struct engine_run *r, struct step_context *c)
{
	for (size_t i = 0; i < c->answers.n; i++) {
		const struct step_answer *a = &c->answers.items[i];
		const char *word = NULL;
		struct error err = {0};

		if (*a->word)
			continue;
		(void)verdict_text_word(&r->arena, context_section(r->doc, a->section), "status",
			a->format, &word, &err);
		c->result = STEP_FAILED;
		c->section = a->section;
		c->reason = arena_dup(&r->arena, str_of(err.text));
		return true;
	}
	return false;
}

static enum advance engine_decide(
	struct engine_run *r, const struct step *step, struct step_context *c, struct error *err)
{
	struct error second;
	bool refused = false;

	if (engine_carry_out(r, step->before_decide, err) < 0) {
		/* Nevertheless, any session may correct the document and step. But after a fault of
		 * the system there is nothing to correct. */
		if (r->booted && err->code != ERR_SYSTEM) {
			if (r->holds)
				lease_release(r->e->file, &r->holder);
			(void)context_save(r->e->file, &second);
		}
		return ADVANCE_FAILED;
	}
	if (!lacks_word(r, c))
		step->decide(c);
	if (c->result != STEP_FAILED && c->result != STEP_UNCLEAR &&
		engine_evidence_check(r, c, &refused, err) < 0)
		return ADVANCE_FAILED;
	if (c->result == STEP_FAILED || c->result == STEP_UNCLEAR)
		return handle_failed_answer(r, c, err);
	if (refused)
		return ADVANCE_ON;
	if (c->claims.n) {
		c->verified = true;
		step->decide(c);
	}
	if (has_agents_answer(r, c))
		engine_forget_failures(r, true);
	context_remove(r->doc, CONTEXT_FAILED_ANSWER);
	if (c->result == STEP_ASK_AGAIN) {
		clear_outstanding(r);
		return ADVANCE_ON;
	}
	return transition(r, c->trigger, err);
}

/* If the remote does not take the push, no agent starts; the next brief says why. */
static enum advance refuse_request(struct engine_run *r, const struct step *step, struct error *err)
{
	context_put(r->doc, CONTEXT_LAST_FAILURE, str_of(r->fault));
	context_put(r->doc, CONTEXT_REVIEW_NOTES, str_of(r->fault));
	note_failure(r, step->state, r->fault, NULL);
	r->fault = NULL;
	return transition(r, step->refused, err);
}

/* What the agents leave uncommitted may be committed when they have answered, or was shown to a
 * person. */
static bool needs_marks(
	const struct engine_run *r, const struct step *step, const struct step_context *c)
{
	if (engine_claims_of(r->e->workflow, step, engine_state(r)) &
		(EVIDENCE_WORK | EVIDENCE_SHOWN))
		return true;
	for (size_t i = 0; c->declared && i < c->declared->rules.n_effects; i++)
		if (strcmp(c->declared->rules.effects[i], "commit") == 0)
			return true;
	return false;
}

/* Those behind them are requested once these have their answers. */
static bool admit_requests(struct engine_run *r, struct step_context *c)
{
	unsigned long left =
		r->e->workflow->limits.max_actions - context_count(r->doc, "actions_dispatched");

	if (c->requests.n > left)
		c->requests.n = left;
	c->requests.n = engine_admit_requests(
		r, engine_state(r), c->requests.items, c->requests.n, c->open);
	return c->requests.n;
}

static enum advance engine_request(
	struct engine_run *r, const struct step *step, struct step_context *c, struct error *err)
{
	unsigned long count;
	const char *trigger;

	if (r->progress)
		engine_forget_failures(r, false);
	count_silence(r, c);
	trigger = engine_troubleshooter_due(r, step, &count);
	if (trigger && c->open) { /* what is outstanding comes first */
		engine_dispatch_again(r, true);
		return ADVANCE_STOP;
	}
	if (trigger)
		return engine_troubleshooter_call(r, trigger, count);
	if (!json_len(r->outstanding) && engine_carry_out(r, step->before_request, err) < 0)
		return ADVANCE_FAILED;
	if (r->fault)
		return refuse_request(r, step, err);
	if (!admit_requests(r, c))
		return ADVANCE_STOP;
	if (engine_take_inputs(r, err) < 0)
		return ADVANCE_FAILED;
	if (needs_marks(r, step, c) &&
		engine_mark_changes(r,
			c->declared ? c->declared->items[0].writes : c->requests.items[0].writes,
			err) < 0)
		return ADVANCE_FAILED;
	if (engine_evidence_requested(r, step, c, err) < 0)
		return ADVANCE_FAILED;
	engine_dispatch(r, step, c);
	return ADVANCE_STOP;
}

/* Before other actions rely on them. Agents that still work could change what is looked at, so that
 * this waits for them. */
static enum advance check_claims(struct engine_run *r, struct step_context *c, struct error *err)
{
	bool refused;

	c->result = STEP_ASK_AGAIN;
	if (engine_evidence_check(r, c, &refused, err) < 0)
		return ADVANCE_FAILED;
	if (c->result == STEP_FAILED)
		return handle_failed_answer(r, c, err);
	if (!refused)
		engine_evidence_note_checked(r, c);
	return ADVANCE_ON;
}

static enum advance advance_once(struct engine_run *r, struct error *err)
{
	const struct step *step = r->e->step_for(r->e->workflow, engine_state(r));
	struct step_context c = {.step = step,
		.arena = &r->arena,
		.doc = r->doc,
		.workflow = r->e->workflow,
		.declared = engine_declared(r),
		.id = r->e->id,
		.research_skill = r->e->research_skill,
		.actions = r->outstanding};

	if (!step) {
		unsigned long count;
		const char *trigger = engine_troubleshooter_due(r, NULL, &count);

		return engine_troubleshooter_call(r, trigger, count);
	}
	if (c.declared && c.declared->order &&
		engine_evidence_checked(r, step, &c.checked, err) < 0)
		return ADVANCE_FAILED;
	engine_forget_answered(r, c.checked);
	if (c.declared && c.declared->manifest && engine_end_nodes(r, &c, err) < 0)
		return ADVANCE_FAILED;
	if (engine_is_terminal(r->e->workflow, engine_state(r)))
		return ADVANCE_ON;
	if (step->request)
		step->request(&c);
	if (c.claims.n && !c.open)
		return check_claims(r, &c, err);
	if (c.requests.n)
		return engine_request(r, step, &c, err);
	if (!c.open)
		return engine_decide(r, step, &c, err);
	engine_dispatch_again(r, true);
	return ADVANCE_STOP;
}

/* A script that its policy stopped with `hard_abort`, or NULL. */
static const json *hard_abort(const struct engine_run *r)
{
	enum violation which;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_answered(r->doc, a) &&
			violation_find(json_get_str(a, "violation"), &which) &&
			which == VIOLATION_HARD_ABORT)
			return a;
	return NULL;
}

/* Ends the run without waiting for the other actions of the array. */
static enum advance abort_run(struct engine_run *r, const json *action)
{
	CLEANUP(json_free) json *report = verdict_json(action_text(r->doc, action));
	const char *why = arena_printf(&r->arena, ENGINE_VIOLATION "'%s': %s",
		json_get_str(action, "id"), violation_json_line(&r->arena, report));

	context_put(r->doc, CONTEXT_LAST_FAILURE, str_of(why));
	if (is_manifest(r))
		engine_fence(r, why);
	engine_enter(r, "failed", "security_violation", why);
	return ADVANCE_ON;
}

/* An answer of the user counts while a question is open, and for the call that takes it. */
static void drop_stray_input(struct engine_run *r)
{
	const json *call = engine_troubleshooter_action(r);

	if (!context_get(r->doc, "troubleshooter_input").n || context_get(r->doc, "question").n ||
		(call && json_get(call, "user_answered")))
		return;
	engine_say(r, "no question is open: 'troubleshooter_input' is dropped");
	context_set(r->doc, "troubleshooter_input", (struct str){0});
}

/* What is open is dropped, a question too. What runs is not stopped: its answer is refused. */
static enum advance cancel(struct engine_run *r)
{
	engine_drop_question(r);
	wait_drop(r->doc);
	if (r->e->parent)
		engine_fence(r, ENGINE_CANCELLED);
	context_put(r->doc, CONTEXT_LAST_FAILURE, STR(ENGINE_CANCELLED));
	engine_enter(r, "failed", "cancelled", ENGINE_CANCELLED);
	return ADVANCE_ON;
}

static enum advance turn(struct engine_run *r, struct error *err)
{
	const json *call, *violation;
	enum advance next;

	if (engine_is_terminal(r->e->workflow, engine_state(r)))
		return engine_finish(r, err);
	if (r->e->cancel)
		return cancel(r);
	if (strcmp(engine_state(r), r->e->workflow->initial) == 0)
		return boot(r, err);
	next = engine_wait(r);
	if (next != ADVANCE_ON)
		return next;
	if (engine_enter_place(r, err) < 0)
		return ADVANCE_FAILED;
	if (context_get(r->doc, "outcome").n) /* it had ended, and begins again */
		context_set(r->doc, "landed", (struct str){0});
	context_set(r->doc, "outcome", (struct str){0});
	drop_stray_input(r);
	if (context_get(r->doc, "question").n || context_get(r->doc, "question_trigger").n)
		return engine_troubleshooter_wait(r);
	discard_other_states(r);
	violation = hard_abort(r);
	if (violation)
		return abort_run(r, violation);
	engine_troubleshooter_discard(r);
	next = check_answers(r);
	if (next != ADVANCE_ON)
		return next;
	call = engine_troubleshooter_action(r);
	return call ? engine_troubleshooter_answered(r, call) : advance_once(r, err);
}

static int engine_advance(struct engine_run *r, struct error *err)
{
	enum advance next = ADVANCE_ON;

	for (unsigned turns = 0; next == ADVANCE_ON; turns++) {
		if (turns == MAX_TURNS)
			return error_set(err, ERR_INPUT,
				"'%s' runs in a circle: %d transitions without an action",
				r->e->workflow->file, MAX_TURNS);
		next = turn(r, err);
	}
	if (next != ADVANCE_FAILED && r->no_admission) {
		*err = *r->no_admission;
		return -1;
	}
	return next == ADVANCE_FAILED ? -1 : 0;
}

static void end_attempt(struct engine_run *r)
{
	json_free(&r->noted);
	json_free(&r->outstanding);
	json_free(&r->results);
	json_free(&r->facts);
	json_free(&r->print);
	json_free(&r->marks);
	arena_release(&r->arena);
}

/* `retry` goes on from the results that such a state had. */
static bool has_order(const struct workflow *w)
{
	for (size_t i = 0; i < w->n_declared; i++)
		if (w->declared[i].order)
			return true;
	return false;
}

/*
 * A context_change: whatever an earlier attempt has saved is in the document, and its effects find
 * nothing to do, as after a kill.
 */
static int advance_and_save(struct context_file *f, void *data, struct error *err)
{
	struct engine_run *r = data;
	bool over; /* what was noted at its end stays */

	end_attempt(r);
	*r = (struct engine_run){.e = r->e,
		.doc = &f->doc,
		.returned = r->e->returned,
		.earlier = r->earlier | r->done};
	if (engine_begin(r, err) < 0 || discard_stale(r, err) < 0 || check_returned(r, err) < 0)
		return -1;
	over = has_order(r->e->workflow) && engine_is_terminal(r->e->workflow, engine_state(r));
	if (engine_advance(r, err) < 0 ||
		(!over && action_note(f, r->results ? r->results : r->outstanding, NULL, err) < 0))
		return -1;
	engine_release(r);
	return context_save(f, err);
}

/* Removes what scripts left whose actions were superseded. */
static void discard_superseded(struct engine_run *r)
{
	const struct environment *env = r->e->environment;
	VEC(const char *) ids = {0};

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		vec_push_in(&r->arena, &ids, json_get_str(a, "id"));
	vec_sort(&ids, vec_by_text);
	for (const json *one = json_first(r->noted); one && env->discard; one = json_next(one)) {
		const char *id = json_text(one);

		if (id && !(ids.n && bsearch(&id, ids.items, ids.n, sizeof(id), vec_by_text)))
			env->discard(r->e->file, id);
	}
}

int engine_step(struct engine *e, struct buf *out, struct error *err)
{
	struct engine_run r = {.e = e};
	int rc = context_update(e->file, advance_and_save, &r, err);

	if (rc == 0) {
		json_print(out, r.print);
		discard_superseded(&r);
	}
	end_attempt(&r);
	return rc;
}
