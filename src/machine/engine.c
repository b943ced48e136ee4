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

static bool writes_elsewhere(struct engine_run *r, const json *action, const void *section)
{
	(void)r;
	return !json_str_is(action, "write_section", section);
}

void engine_drop_section(struct engine_run *r, const char *section)
{
	(void)filter_outstanding(r, writes_elsewhere, section);
}

static bool is_step_answer(struct engine_run *r, const json *action, const void *arg)
{
	(void)arg;
	return action_answered(r->doc, action) && !action_is_troubleshooter(action);
}

/* A kept answer is marked `carried`: it is not progress of the next array. */
void engine_drop_unanswered(struct engine_run *r)
{
	(void)filter_outstanding(r, is_step_answer, NULL);
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!json_get(a, "carried"))
			json_put_bool((json *)a, "carried", true);
	action_store(r->doc, r->outstanding);
	context_set(r->doc, "pending_agent", (struct str){0});
}

static void note_failure(struct engine_run *r, const char *action, const char *reason)
{
	r->failure = true;
	JSON_ADD(context_event(r->e->file, "failure"), JSON_TEXT("action", action),
		JSON_TEXT("reason", reason),
		JSON_INT("count", context_count(r->doc, "consecutive_failures")));
}

/* Keeps `<work item>/<state>/<n>` of the present state. */
static bool belongs_to_state(struct engine_run *r, const json *action, const void *prefix)
{
	if (action_is_troubleshooter(action) ||
		str_starts(str_of(json_get_str(action, "id")), prefix))
		return true;
	note_failure(r, json_get_str(action, "id"), "the state was changed by hand");
	return false;
}

/* Somebody set the state by hand. Discards the old state's requests. */
static void discard_other_states(struct engine_run *r)
{
	const char *prefix = arena_printf(&r->arena, "%s/%s/", r->e->id, engine_state(r));

	if (filter_outstanding(r, belongs_to_state, prefix) && !json_len(r->outstanding))
		context_set(r->doc, "pending_agent", (struct str){0});
}

static bool is_current(struct engine_run *r, const json *action, const void *noted)
{
	if (action_answered(r->doc, action) || action_is_noted(noted, json_get_str(action, "id")) ||
		engine_script_running(r, action))
		return true;
	note_failure(r, json_get_str(action, "id"),
		"it was dealt with before the document was put back");
	return false;
}

/*
 * Somebody restored an older document: actions in it that were answered, fenced or given up since
 * are asked for again under new ids. A script that still runs keeps its own.
 */
static int discard_stale(struct engine_run *r, struct error *err)
{
	CLEANUP(json_free) json *noted = NULL;

	if (action_noted(r->e->file, &noted, err) < 0)
		return -1;
	(void)filter_outstanding(r, is_current, noted);
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

	for (const char *const *v = step && !step->keeps_verdicts ? step->verdicts : NULL; v && *v;
		v++)
		context_remove(r->doc, *v);
	if (step && step->answer && context_attempts(r->doc, state) > 0)
		set_aside(r, step->answer);
	for (size_t i = 0; st && st->declared && i < st->declared->n; i++)
		context_remove(r->doc, st->declared->items[i].writes);
}

void engine_enter(struct engine_run *r, const char *to, const char *trigger, const char *why)
{
	char *from = arena_dup(&r->arena, context_get(r->doc, "state"));

	json_put_texts(context_event(r->e->file, "transition"), "from", from, "to", to, "trigger",
		trigger);
	clear_outstanding(r);
	clear_answers(r, to);
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

static enum advance finish(struct engine_run *r)
{
	bool good = strcmp(engine_state(r), "done") == 0;
	struct str why = context_get(r->doc, "outcome"), url = context_get(r->doc, "pr_url");
	const char *reason = why.n  ? why.p
			     : good ? "the workflow is at its end"
				    : "the run has failed";

	clear_outstanding(r); /* the state may have been set by hand */
	if (good && url.n)
		reason = arena_printf(&r->arena, "%s; %s", reason, url.p);
	engine_dispatch_done(r, good ? "success" : "failed", reason, NULL);
	return ADVANCE_STOP;
}

/* Waiting for answers, and counting retries */

/* The agents are back without these answers: asks for them again under new ids. */
static enum advance retry_unanswered(struct engine_run *r, bool progress)
{
	unsigned long count = progress ? 0 : context_count(r->doc, "consecutive_failures") + 1;
	const json *call = engine_troubleshooter_action(r);

	context_set_count(r->doc, "consecutive_failures", count);
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a))
			note_failure(r, json_get_str(a, "id"), "no answer");
	r->returned = false;
	if (call)
		return engine_troubleshooter_call(r,
			arena_dup(&r->arena, str_of(json_get_str(call, "trigger"))),
			(unsigned long)json_get_int(call, "cycle_count", 0));
	engine_drop_unanswered(r);
	return ADVANCE_ON;
}

/* A repeated `--returned=ID` counts only while that action is still outstanding. */
static bool agents_are_back(const struct engine_run *r)
{
	const json *one = r->e->returned_id ? action_find(r->outstanding, r->e->returned_id) : NULL;

	return r->returned && (!r->e->returned_id || (one && !json_get(one, "carried")));
}

/* A running script is not missing: a retry would start a second one next to it. */
static bool waits_for_script(const struct engine_run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a) && engine_script_running(r, a))
			return true;
	return false;
}

/*
 * ADVANCE_ON: nothing is outstanding, or all of it is answered. An answer carried over from an
 * earlier array is not progress of this one, or a silent agent would be asked for ever.
 */
static enum advance check_answers(struct engine_run *r)
{
	size_t answered = 0;
	bool progress = false;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (!action_answered(r->doc, a))
			continue;
		answered++;
		progress |= !json_get(a, "carried");
	}
	if (answered == json_len(r->outstanding)) {
		r->progress = progress && !r->failure;
		return ADVANCE_ON;
	}
	if (agents_are_back(r) && !waits_for_script(r))
		return retry_unanswered(r, progress);
	engine_dispatch_again(r);
	return ADVANCE_STOP;
}

static void count_failure(struct engine_run *r, const char *action, const char *reason)
{
	context_set_count(
		r->doc, "consecutive_failures", context_count(r->doc, "consecutive_failures") + 1);
	note_failure(r, action, reason);
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
	count_failure(r, pending.p, "no answer");
}

/* Steps */

/* Moves the text of a failed answer to logs/ and to the section `Failed Answer`. */
static int keep_failed_answer(struct engine_run *r, const struct step_context *c, struct error *err)
{
	struct str text = context_section(r->doc, c->section);
	char *stem = arena_printf(&r->arena, "%s-%s-failed", r->e->file->name, engine_state(r));
	char *path;

	if (context_keep(r->e->file, stem, text, &path, err) < 0)
		return -1;
	context_put(r->doc, CONTEXT_FAILED_ANSWER,
		str_of(arena_printf(&r->arena, "%s (%s)\n\n%s", c->reason, path, text.p)));
	context_remove(r->doc, c->section);
	return 0;
}

/* Asks only for the failed action again; the good answers of its array stay. */
static enum advance handle_failed_answer(
	struct engine_run *r, const struct step_context *c, struct error *err)
{
	const char *id = c->section;

	if (keep_failed_answer(r, c, err) < 0)
		return ADVANCE_FAILED;
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (json_str_is(a, "write_section", c->section))
			id = arena_dup(&r->arena, str_of(json_get_str(a, "id")));
	engine_drop_section(r, c->section);
	engine_drop_unanswered(r); /* what is kept is not progress of the next array */
	if (c->result == STEP_UNCLEAR) {
		context_set_count(r->doc, "consecutive_failures", 0);
		return engine_troubleshooter_call(r, "needs_clarification", 1);
	}
	count_failure(r, id, c->reason);
	return ADVANCE_ON;
}

static enum advance decide(
	struct engine_run *r, const struct step *step, struct step_context *c, struct error *err)
{
	struct error second;

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
	step->decide(c);
	if (c->result == STEP_FAILED || c->result == STEP_UNCLEAR)
		return handle_failed_answer(r, c, err);
	context_set_count(r->doc, "consecutive_failures", 0);
	context_remove(r->doc, CONTEXT_FAILED_ANSWER);
	if (c->result == STEP_ASK_AGAIN) {
		clear_outstanding(r);
		return ADVANCE_ON;
	}
	if (engine_carry_out(r, c->effects, err) < 0)
		return ADVANCE_FAILED;
	return transition(r, c->trigger, err);
}

static enum advance request(struct engine_run *r, const struct step *step,
	const struct step_context *c, struct error *err)
{
	unsigned long count;
	const char *trigger;

	if (r->progress)
		context_set_count(r->doc, "consecutive_failures", 0);
	count_silence(r, c);
	trigger = engine_troubleshooter_due(r, step, &count);
	if (trigger)
		return engine_troubleshooter_call(r, trigger, count);
	if (!json_len(r->outstanding) && engine_carry_out(r, step->before_request, err) < 0)
		return ADVANCE_FAILED;
	engine_dispatch(r, step, c);
	return ADVANCE_STOP;
}

static enum advance advance_once(struct engine_run *r, struct error *err)
{
	const struct step *step = r->e->step_for(r->e->workflow, engine_state(r));
	const struct workflow_state *st = workflow_state(r->e->workflow, engine_state(r));
	struct step_context c = {.step = step,
		.arena = &r->arena,
		.doc = r->doc,
		.workflow = r->e->workflow,
		.declared = st ? st->declared : NULL,
		.id = r->e->id,
		.research_skill = r->e->research_skill,
		.repo = r->e->repo,
		.actions = r->outstanding};

	if (!step) {
		unsigned long count;
		const char *trigger = engine_troubleshooter_due(r, NULL, &count);

		return engine_troubleshooter_call(r, trigger, count);
	}
	if (step->request)
		step->request(&c);
	return c.requests.n ? request(r, step, &c, err) : decide(r, step, &c, err);
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
	CLEANUP(json_free) json *report = verdict_json(action_text(r->doc, action), NULL);
	const char *why = arena_printf(&r->arena, "security violation in '%s': %s",
		json_get_str(action, "id"), violation_json_line(&r->arena, report));

	context_put(r->doc, CONTEXT_LAST_FAILURE, str_of(why));
	engine_enter(r, "failed", "security_violation", why);
	return ADVANCE_ON;
}

static enum advance turn(struct engine_run *r, struct error *err)
{
	const json *call, *violation;
	enum advance next;

	if (strcmp(engine_state(r), r->e->workflow->initial) == 0)
		return boot(r, err);
	if (engine_is_terminal(r->e->workflow, engine_state(r)))
		return finish(r);
	context_set(r->doc, "outcome", (struct str){0});
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

static int advance(struct engine_run *r, struct error *err)
{
	enum advance next = ADVANCE_ON;

	for (unsigned turns = 0; next == ADVANCE_ON; turns++) {
		if (turns == MAX_TURNS)
			return error_set(err, ERR_INPUT,
				"'%s' runs in a circle: %d transitions without an action",
				r->e->workflow->file, MAX_TURNS);
		next = turn(r, err);
	}
	return next == ADVANCE_FAILED ? -1 : 0;
}

static void end_attempt(struct engine_run *r)
{
	json_free(&r->unanswered);
	json_free(&r->outstanding);
	json_free(&r->print);
	arena_release(&r->arena);
}

/*
 * A context_change: whatever an earlier attempt has saved is in the document, and its effects find
 * nothing to do, as after a kill.
 */
static int advance_and_save(struct context_file *f, void *data, struct error *err)
{
	struct engine_run *r = data;

	end_attempt(r);
	*r = (struct engine_run){.e = r->e,
		.doc = &f->doc,
		.returned = r->e->returned,
		.earlier = r->earlier | r->done};
	if (engine_begin(r, err) < 0 || discard_stale(r, err) < 0 || advance(r, err) < 0 ||
		action_note_unanswered(f, r->outstanding, NULL, err) < 0)
		return -1;
	engine_release(r);
	return context_save(f, err);
}

/* Removes what scripts left whose actions were superseded. */
static void discard_superseded(const struct engine_run *r)
{
	const struct environment *env = r->e->environment;

	for (const json *id = json_first(r->unanswered); id && env->discard; id = json_next(id))
		if (json_text(id) && !action_find(r->outstanding, json_text(id)))
			env->discard(r->e->file, json_text(id));
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
