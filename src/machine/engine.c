#include "src/config/violation.h"
#include "src/machine/asked.h"
#include "src/machine/engine_internal.h"
#include "src/machine/verdict.h"

/* More transitions than this without an action means that the workflow runs in a circle. */
enum { MAX_TURNS = 1000 };

#define KEPT_ANSWER "Failed Answer"

const char *run_state(const struct run *r)
{
	return context_get(r->doc, "state").p;
}

void run_store(struct run *r)
{
	actions_store(r->doc, r->outstanding);
}

void run_clear(struct run *r)
{
	json_free(&r->outstanding);
	r->outstanding = json_array();
	run_store(r);
	context_set(r->doc, "pending_agent", (struct str){0});
}

/* An answer that stays while the rest of its array is asked anew. */
static json *carry(const json *action)
{
	json *copy = json_copy(action);

	if (!json_get(copy, "carried"))
		json_put_bool(copy, "carried", true);
	return copy;
}

void run_keep_answers(struct run *r)
{
	json *rest = json_array();

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_answered(r->doc, a) && !action_is_troubleshooter(a))
			json_push(rest, carry(a));
	json_free(&r->outstanding);
	r->outstanding = rest;
	run_store(r);
	context_set(r->doc, "pending_agent", (struct str){0});
}

const json *run_troubleshooter(const struct run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_is_troubleshooter(a))
			return a;
	return NULL;
}

/* `failed` is where a run is ended from outside, so it is an end in every workflow. */
bool run_is_terminal(const struct run *r, const char *state)
{
	const struct flow_state *fs = workflow_state(r->m->workflow, state);

	return fs ? fs->terminal : strcmp(state, "failed") == 0 || strcmp(state, "done") == 0;
}

/* Asked in this run before: then its answer is an old one. */
static bool was_asked(const struct run *r, const char *state)
{
	return context_attempts(r->doc, state) > 0;
}

/* Out of the way, so that the agent is asked anew, but not away. */
static void set_aside(struct run *r, const char *section)
{
	struct str text = context_section(r->doc, section);

	if (!text.n)
		return;
	context_put(r->doc, arena_printf(&r->arena, "Earlier %s", section), text);
	context_put(r->doc, section, (struct str){0});
}

/* A state that is entered again asks again: a declared one, who judges (what was judged before is
 * not the work as it is now), and an agent's whose answer is from an earlier visit. */
static void clear_answers(struct run *r, const char *state)
{
	const struct flow_state *fs = workflow_state(r->m->workflow, state);
	const struct step *step = r->m->step_for(r->m->workflow, state);

	for (size_t i = 0; step && step->verdicts && step->verdicts[i]; i++)
		context_put(r->doc, step->verdicts[i], (struct str){0});
	if (step && step->answer && was_asked(r, state))
		set_aside(r, step->answer);
	for (size_t i = 0; fs && fs->declared && i < fs->declared->n; i++)
		context_put(r->doc, fs->declared->items[i].writes, (struct str){0});
}

void run_enter(struct run *r, const char *to, const char *trigger, const char *why)
{
	json *event = context_event(r->m->file, "transition");
	char *from = arena_dup(&r->arena, context_get(r->doc, "state"));
	bool end = run_is_terminal(r, to);

	json_put_str(event, "from", str_of(from));
	json_put_str(event, "to", str_of(to));
	json_put_str(event, "trigger", str_of(trigger));
	run_clear(r);
	clear_answers(r, to);
	context_set(r->doc, "state", str_of(to));
	context_set_count(r->doc, "troubleshooter_calls", 0);
	if (!end)
		return;
	if (!why)
		why = arena_printf(&r->arena, "'%s' gave '%s'", from, trigger);
	context_set(r->doc, "outcome", str_of(why));
	event = context_event(r->m->file, "done");
	json_put_str(event, "result", str_of(strcmp(to, "done") == 0 ? "success" : "failed"));
	json_put_str(event, "reason", str_of(why));
}

static enum advance transition(struct run *r, const char *trigger, struct error *err)
{
	const char *to = workflow_target(r->m->workflow, run_state(r), trigger);

	if (!to) {
		error_set(err, ERR_INPUT, "state '%s' has no transition for '%s'", run_state(r),
			trigger);
		(void)snprintf(err->file, sizeof(err->file), "%s", r->m->workflow->file);
		return ADVANCE_FAILED;
	}
	run_enter(r, to, trigger, NULL);
	return ADVANCE_ON;
}

static enum advance boot(struct run *r, struct error *err)
{
	const struct edge *edge = workflow_only_edge(r->m->workflow, run_state(r));

	if (!edge) {
		error_set(err, ERR_INPUT, "the initial state '%s' must have exactly one way out",
			run_state(r));
		(void)snprintf(err->file, sizeof(err->file), "%s", r->m->workflow->file);
		return ADVANCE_FAILED;
	}
	run_enter(r, edge->to, edge->trigger, NULL);
	return context_save(r->m->file, err) < 0 ? ADVANCE_FAILED : ADVANCE_ON;
}

static enum advance finish(struct run *r)
{
	bool good = strcmp(run_state(r), "done") == 0;
	struct str why = context_get(r->doc, "outcome"), url = context_get(r->doc, "pr_url");
	const char *reason = why.n  ? why.p
			     : good ? "the workflow is at its end"
				    : "the run has failed";

	if (good && url.n)
		reason = arena_printf(&r->arena, "%s; %s", reason, url.p);
	print_done(r, good ? "success" : "failed", reason, NULL);
	return ADVANCE_STOP;
}

void run_note_failure(struct run *r, const char *action, const char *reason, unsigned long count)
{
	json *event = context_event(r->m->file, "failure");

	r->counted = true;
	json_put_str(event, "action", str_of(action));
	json_put_str(event, "reason", str_of(reason));
	json_put_int(event, "count", (int64_t)count);
}

/* The agents are back and these brought nothing: what they were asked is asked anew under new ids.
 */
static enum advance drop_unanswered(struct run *r, size_t fresh, struct error *err)
{
	unsigned long count = fresh ? 0 : context_count(r->doc, "consecutive_failures") + 1;
	const json *trouble = run_troubleshooter(r);
	const char *trigger = NULL;
	unsigned long cycle = 0;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a))
			run_note_failure(r, json_get_str(a, "id"), "no answer", count);
	if (trouble) {
		trigger = arena_dup(&r->arena, str_of(json_get_str(trouble, "trigger")));
		cycle = (unsigned long)json_get_int(trouble, "cycle_count", 0);
	}
	context_set_count(r->doc, "consecutive_failures", count);
	run_keep_answers(r);
	r->returned = false;
	return trigger ? trouble_call(r, trigger, cycle, err) : ADVANCE_ON;
}

/* A repeated `--returned=ID` whose id has been dealt with counts nothing twice. */
static bool agents_are_back(const struct run *r)
{
	const json *one =
		r->m->returned_id ? actions_find(r->outstanding, r->m->returned_id) : NULL;

	return r->returned && (!r->m->returned_id || (one && !json_get(one, "carried")));
}

/* A script that still runs is not missing, or a second one would be started beside it. */
static bool script_at_work(const struct run *r)
{
	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (!action_answered(r->doc, a) && run_at_work(r, a))
			return true;
	return false;
}

/*
 * ADVANCE_ON: all that is outstanding is answered, or nothing is outstanding. An answer carried
 * over from an earlier array does not count for this one, or a silent rest would be asked for ever.
 */
static enum advance wait_for_answers(struct run *r, struct error *err)
{
	size_t n = json_len(r->outstanding), answered = 0, fresh = 0;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (!action_answered(r->doc, a))
			continue;
		answered++;
		fresh += !json_get(a, "carried");
	}
	if (answered == n) {
		r->fresh = fresh > 0 && !r->counted;
		return ADVANCE_ON;
	}
	if (agents_are_back(r) && !script_at_work(r))
		return drop_unanswered(r, fresh, err);
	print_outstanding(r);
	return ADVANCE_STOP;
}

static void moment_init(struct run *r, struct moment *m)
{
	const struct flow_state *fs = workflow_state(r->m->workflow, run_state(r));

	*m = (struct moment){.arena = &r->arena,
		.doc = r->doc,
		.workflow = r->m->workflow,
		.declared = fs ? fs->declared : NULL,
		.id = r->m->id,
		.research_skill = r->m->research_skill,
		.repo = r->m->repo,
		.outstanding = r->outstanding};
}

/* The text of an answer that is no use goes out of the way, but not away. */
static int keep_answer(struct run *r, const struct moment *m, struct error *err)
{
	struct str text = context_section(r->doc, m->section);
	char *stem = arena_printf(&r->arena, "%s-%s-failed", r->m->file->name, run_state(r)), *path;

	if (context_keep(r->m->file, stem, text, &path, err) < 0)
		return -1;
	context_put(r->doc, KEPT_ANSWER,
		str_of(arena_printf(&r->arena, "%s (%s)\n\n%s", m->reason, path, text.p)));
	context_put(r->doc, m->section, (struct str){0});
	return 0;
}

/* Only the action that failed is asked again; the good answers beside it stay. */
static const char *forget_action(struct run *r, const char *section)
{
	const char *id = section;
	json *rest = json_array();

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (strcmp(json_get_str(a, "write_section"), section) == 0)
			id = arena_dup(&r->arena, str_of(json_get_str(a, "id")));
		else
			json_push(rest, json_copy(a));
	}
	json_free(&r->outstanding);
	r->outstanding = rest;
	run_store(r);
	return id;
}

static enum advance failed(struct run *r, const struct moment *m, struct error *err)
{
	unsigned long count;
	const char *id;

	if (keep_answer(r, m, err) < 0)
		return ADVANCE_FAILED;
	id = forget_action(r, m->section);
	if (m->meaning == MEANS_UNCLEAR) {
		context_set_count(r->doc, "consecutive_failures", 0);
		return trouble_call(r, "needs_clarification", 1, err);
	}
	count = context_count(r->doc, "consecutive_failures") + 1;
	context_set_count(r->doc, "consecutive_failures", count);
	run_note_failure(r, id, m->reason, count);
	r->returned = false;
	return ADVANCE_ON;
}

static enum advance decide(
	struct run *r, const struct step *step, struct moment *m, struct error *err)
{
	if (run_effects(r, step->before_decide, err) < 0)
		return ADVANCE_FAILED;
	step->decide(m);
	if (m->meaning == MEANS_FAILED || m->meaning == MEANS_UNCLEAR)
		return failed(r, m, err);
	context_set_count(r->doc, "consecutive_failures", 0);
	context_put(r->doc, KEPT_ANSWER, (struct str){0});
	if (m->meaning == MEANS_ASK_AGAIN) {
		run_clear(r);
		return ADVANCE_ON;
	}
	if (run_effects(r, m->effects, err) < 0)
		return ADVANCE_FAILED;
	return transition(r, m->trigger, err);
}

/*
 * The document says that an agent was asked (`pending_agent`) but not what: written by hand, or by
 * another program of this format. Then its silence is known from the document alone.
 */
static void count_silence(struct run *r, const struct moment *m)
{
	struct str pending = context_get(r->doc, "pending_agent");
	unsigned long count = context_count(r->doc, "consecutive_failures") + 1;

	if (!r->returned || r->m->returned_id || json_len(r->outstanding) || !pending.n ||
		m->partly)
		return;
	context_set_count(r->doc, "consecutive_failures", count);
	run_note_failure(r, arena_dup(&r->arena, pending), "no answer", count);
	r->returned = false;
}

static enum advance ask(
	struct run *r, const struct step *step, const struct moment *m, struct error *err)
{
	unsigned long count;
	const char *trouble;

	if (r->fresh)
		context_set_count(r->doc, "consecutive_failures", 0);
	count_silence(r, m);
	trouble = trouble_due(r, step, &count);
	if (trouble)
		return trouble_call(r, trouble, count, err);
	if (!json_len(r->outstanding) && run_effects(r, step->before_ask, err) < 0)
		return ADVANCE_FAILED;
	dispatch_requests(r, step, m);
	return ADVANCE_STOP;
}

static enum advance serve(struct run *r, struct error *err)
{
	const struct step *step = r->m->step_for(r->m->workflow, run_state(r));
	struct moment m;

	if (!step) {
		unsigned long count;
		const char *trigger = trouble_due(r, NULL, &count);

		return trouble_call(r, trigger, count, err);
	}
	moment_init(r, &m);
	if (step->ask)
		step->ask(&m);
	return m.n_requests ? ask(r, step, &m, err) : decide(r, step, &m, err);
}

/* The script that its policy stopped, where that ends the run; NULL: none. */
static const json *breach_of(const struct run *r)
{
	enum violation which;

	for (const json *a = json_first(r->outstanding); a; a = json_next(a))
		if (action_answered(r->doc, a) &&
			violation_named(json_get_str(a, "violation"), &which) &&
			which == VIOLATION_HARD_ABORT)
			return a;
	return NULL;
}

/* Nothing that is asked beside it is waited for. */
static enum advance abort_run(struct run *r, const json *action)
{
	CLEANUP(json_free) json *said = verdict_json(action_text(r->doc, action));
	const char *why = arena_printf(&r->arena, "security violation in '%s': %s",
		json_get_str(action, "id"), breach_told(&r->arena, said));

	context_put(r->doc, "Last Failure", str_of(why));
	run_enter(r, "failed", "security_violation", why);
	return ADVANCE_ON;
}

static enum advance turn(struct run *r, struct error *err)
{
	const json *trouble, *breach;
	enum advance got;

	if (strcmp(run_state(r), r->m->workflow->initial) == 0)
		return boot(r, err);
	if (run_is_terminal(r, run_state(r))) {
		run_clear(r); /* an end that was set by hand leaves nothing outstanding */
		return finish(r);
	}
	context_set(r->doc, "outcome", (struct str){0});
	if (context_get(r->doc, "question").n)
		return trouble_question(r, err);
	if (context_get(r->doc, "question_trigger").n)
		return trouble_given_up(r, err);
	run_drop_other_states(r);
	breach = breach_of(r);
	if (breach)
		return abort_run(r, breach);
	trouble_drop_if_gone(r);
	got = wait_for_answers(r, err);
	if (got != ADVANCE_ON)
		return got;
	trouble = run_troubleshooter(r);
	return trouble ? trouble_answered(r, trouble, err) : serve(r, err);
}

static int open_run(struct run *r, struct machine *m, struct error *err)
{
	struct str owner;

	if (m->file->created && context_create(m->file, m->id, m->workflow->initial, err) < 0)
		return -1;
	if (m->file->created)
		json_put_str(
			context_event(m->file, "started"), "workflow", str_of(m->workflow->file));
	owner = context_get(&m->file->doc, "work_item_id");
	if (!str_is(owner, m->id))
		return error_set(err, ERR_STATE, "'%s' belongs to work item '%s', not to '%s'",
			m->file->path, owner.p, m->id);
	*r = (struct run){.m = m, .doc = &m->file->doc, .returned = m->returned};
	if (run_operation(r, err) < 0)
		return -1;
	return actions_load(r->doc, &r->outstanding, err);
}

static int run(struct run *r, struct error *err)
{
	enum advance got = ADVANCE_ON;

	for (unsigned turns = 0; got == ADVANCE_ON; turns++) {
		if (turns == MAX_TURNS)
			return error_set(err, ERR_INPUT,
				"'%s' runs in a circle: %d transitions without an action",
				r->m->workflow->file, MAX_TURNS);
		got = turn(r, err);
	}
	return got == ADVANCE_FAILED ? -1 : 0;
}

int machine_step(struct machine *m, struct buf *out, struct error *err)
{
	struct run r = {0};
	int rc = open_run(&r, m, err);

	if (rc == 0)
		rc = run_claim(&r, err);
	if (rc == 0)
		rc = run_drop_dealt_with(&r, err);
	if (rc == 0)
		rc = run(&r, err);
	if (rc == 0)
		rc = asked_note(m->file, r.outstanding, err);
	if (rc == 0) {
		run_give_back(&r);
		rc = context_save(m->file, err);
	}
	if (rc < 0)
		run_let_go(&r);
	if (rc == 0)
		json_print(out, r.print);
	json_free(&r.outstanding);
	json_free(&r.print);
	arena_release(&r.arena);
	return rc;
}
