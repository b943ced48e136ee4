/*
 * run.c: the loop of a run. It has one or several work items; an item that can be stepped is
 * stepped, its actions and those of its children are carried out, each in a child process, and the
 * item is stepped again, until it has ended or has stopped.
 */
#include <signal.h>
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/event/event.h"
#include "src/machine/engine.h"
#include "src/merge/gate.h"
#include "src/setup/setup.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* One owner for all runs of a host, so that the next one may continue what a killed one has left.
 * The lease names the process, too, and keeps a second run of an item out. */
#define RUN_OWNER "dev-team run on "

/* How often a run that waits looks whether it was stopped, and leases are looked at. */
enum { WAIT_TICK_MS = 1000, LEASE_MS = 60000 };

struct action_outcome {
	int rc;
	struct error err; /* if rc is -1 */
	struct run_outcome of;
};

_Static_assert(
	sizeof(struct action_outcome) <= 4096, "an outcome must go through a pipe in one piece");

/* An item of the run. */
struct run_work {
	struct run_item of;
	/* WORK_ENDED: it is stepped no more, and its last actions may work still. */
	enum { WORK_QUEUED, WORK_ACTIVE, WORK_WAITS, WORK_ENDED, WORK_OVER } phase;
	bool due;     /* it is to be stepped */
	bool ordered; /* a step takes each answer */
	bool failed;  /* `err` says why it has stopped */
	struct error err;
	bool gate_busy; /* it waits for the merge gate */
	json *done;     /* how it has ended, or what it waits for; NULL: neither */
	int status;     /* the exit status of a run of this item */
	int64_t started_ms;
};

struct action_job {
	struct run_action action;
	struct run_work *work; /* NULL: it has ended, and may be repeated */
	bool started, ended, cancelled;
};

struct run_loop {
	const struct run_request *request;
	struct arena *arena;
	struct run_work *works;
	size_t n, max, active; /* items; those that may be, and are, begun and not over */
	const char *artifacts; /* of the events; NULL: a run of one item has none */
	VEC(struct action_job) jobs;
	VEC(json *) arrays;       /* that the actions are in */
	struct held_actions held; /* of run_actions() */
	run_next *next;           /* NULL: a step of the item */
	void *next_data;
	int cancel; /* of run_interrupt_begin() */
	int64_t started_ms, leases_ms;
	int status; /* of what is of no item; 0 */
};

/* Lines of several items begin with the item. */
static void talk_about(const struct run_loop *l, const struct run_work *w)
{
	error_log_about(l->n > 1 && w ? w->of.call.id : NULL);
}

/* `o`: of an action that has ended. */
static void report_to_caller(const struct run_loop *l, const struct run_work *w, int what,
	const json *action, const struct run_outcome *o)
{
	talk_about(l, w);
	if (l->request->report)
		l->request->report(&(struct run_report){.what = what,
			.ms = clock_ticks() - l->started_ms,
			.several = l->next != NULL,
			.action = action,
			.word = o ? o->word : NULL,
			.usage = o ? &o->usage : NULL});
}

/* ---- an action, in its child process ---- */

static int act_in_child(void *data, size_t item, int report, int log)
{
	const struct run_loop *l = data;
	const struct action_job *job = &l->jobs.items[item];
	CLEANUP(pool_close) struct pool gated = {0};
	struct action_outcome o = {0};
	struct run_item of = {0};
	const json *action = job->action.action;
	ssize_t ignored;

	run_interrupt_child();
	talk_about(l, NULL);
	(void)dup2(log, STDERR_FILENO);
	o.rc = run_setup_action(l->arena, &job->work->of, action, &of, &o.err);
	if (o.rc == 0)
		o.rc = run_setup_databases(l->arena, &of, action, &o.err);
	if (o.rc == 0)
		o.rc = run_gate_take(l->arena, &of, action, &gated, &o.err);
	if (o.rc == 0)
		o.rc = run_action_execute(&of, &job->action, &o.of, &o.err);
	gate_drop(&of.gate);
	ignored = write(report, &o, sizeof(o));
	(void)ignored;
	return 0;
}

static void action_started(void *data, size_t item)
{
	const struct run_loop *l = data;
	struct action_job *job = &l->jobs.items[item];

	job->started = true;
	report_to_caller(l, job->work, RUN_REPORT_BEGIN, job->action.action, NULL);
}

static void action_line(void *data, size_t item, struct str line)
{
	const struct run_loop *l = data;

	talk_about(l, l->jobs.items[item].work);
	error_log("%.*s", (int)line.n, line.p);
}

/* ---- actions of an item ---- */

static int plan_one(
	const struct run_item *r, const json *action, struct run_action *p, struct error *err)
{
	size_t uses;

	*p = (struct run_action){.action = action};
	if (scripted_find(&r->scripted, action, &p->entry, err) < 0)
		return -1;
	if (!p->entry)
		return 0;
	if (scripted_count_turns(json_get_str(action, "context_file"), p->entry,
		    json_get_str(action, "id"), &uses, err) < 0)
		return -1;
	return scripted_turn_of(&r->scripted, p->entry, uses, action, &p->turn, err);
}

static bool is_started(const struct run_loop *l, const struct run_work *w, const char *id)
{
	if (run_held_has(&l->held, id))
		return true;
	for (size_t i = 0; i < l->jobs.n; i++)
		if (l->jobs.items[i].work == w &&
			json_str_is(l->jobs.items[i].action.action, "id", id))
			return true;
	return false;
}

/* Adds the actions that are new. No action of an array starts before all of them can. */
static int add_array(struct run_loop *l, struct run_work *w, const json *array)
{
	size_t before = l->jobs.n, n;

	for (const json *action = json_first(array); action; action = json_next(action)) {
		struct action_job job = {.work = w};

		if (is_started(l, w, json_get_str(action, "id")))
			continue;
		if (plan_one(&w->of, action, &job.action, &w->err) < 0) {
			l->jobs.n = before;
			return -1;
		}
		vec_push(&l->jobs, job);
	}
	n = w->of.n_started + l->jobs.n - before;
	if ((int64_t)n > l->request->max_actions) {
		l->jobs.n = before;
		return error_set(&w->err, ERR_STATE,
			"stopped after %zu action%s (see --max-actions)", w->of.n_started,
			w->of.n_started == 1 ? "" : "s");
	}
	w->of.n_started = n;
	return 0;
}

/* How many work; `document`: of this item, NULL: of all. */
static size_t count_working(
	const struct run_loop *l, const struct run_work *w, const char *document)
{
	size_t n = 0;

	for (size_t i = 0; i < l->jobs.n; i++)
		n += l->jobs.items[i].work == w && !l->jobs.items[i].ended &&
		     !l->jobs.items[i].cancelled &&
		     (!document ||
			     json_str_is(l->jobs.items[i].action.action, "context_file", document));
	return n;
}

static void find_cancelled(struct run_loop *l, const struct run_work *w)
{
	for (size_t i = 0; i < l->jobs.n; i++) {
		struct action_job *job = &l->jobs.items[i];

		if (job->work == w && !job->ended && !job->cancelled)
			job->cancelled =
				run_is_cancelled(json_get_str(job->action.action, "context_file"),
					json_get_str(job->action.action, "id"));
	}
}

static bool is_cancelled(void *data, size_t item)
{
	const struct run_loop *l = data;

	return l->jobs.items[item].cancelled || l->jobs.items[item].ended;
}

static bool has_jobs(const struct run_loop *l, const struct run_work *w)
{
	for (size_t i = 0; i < l->jobs.n; i++)
		if (l->jobs.items[i].work == w && !l->jobs.items[i].ended)
			return true;
	return false;
}

/* The item is stepped no more, and no more of its actions are started; `now`: those that work are
 * ended. */
static void end_jobs(struct run_loop *l, struct run_work *w, bool now)
{
	w->phase = WORK_ENDED;
	w->failed = true;
	for (size_t i = 0; i < l->jobs.n; i++) {
		struct action_job *job = &l->jobs.items[i];

		if (job->work == w && !job->ended) {
			job->ended = !job->started;
			job->cancelled |= now;
		}
	}
}

/* Of an item, what failed ends the run. Actions of several items go on, but for this one, whose
 * agent has not come back without an answer: it is started again later. */
static void hold_job(struct run_loop *l, struct action_job *job, const struct error *why)
{
	const char *id = json_get_str(job->action.action, "id");
	struct run_work *w = job->work;

	w->of.call.returned = NULL;
	w->of.call.returned_alone = false;
	if (!l->next || run_interrupt_caught()) {
		if (!w->failed)
			end_jobs(l, w, false);
		return;
	}
	w->failed = true;
	job->work = NULL;
	if (run_held_add(&l->held, l->arena, id) && count_working(l, w, NULL))
		error_print(why); /* else this run ends with it */
}

/* The end of the item reports the first failure. A child that was killed has written no outcome. */
static void take_outcome(void *data, size_t item, int status, struct str report)
{
	struct run_loop *l = data;
	struct action_job *job = &l->jobs.items[item];
	struct run_work *w = job->work;
	const json *action = job->action.action;
	const char *document = json_get_str(action, "context_file");
	struct action_outcome o = {.rc = -1};

	(void)status;
	if (report.n == sizeof(o))
		memcpy(&o, report.p, sizeof(o));
	else
		error_set(&o.err, ERR_SYSTEM, "the process of action '%s' was killed",
			json_get_str(action, "id"));
	job->ended = true;
	if (job->cancelled) {
		report_to_caller(l, w, RUN_REPORT_END, action,
			&(struct run_outcome){.word = "cancelled", .usage = USAGE_NONE});
	} else if (o.rc == 0) {
		report_to_caller(l, w, RUN_REPORT_END, action, &o.of);
	} else if (!w->failed) {
		w->err = o.err;
	} else if (!l->next && !run_interrupt_caught()) {
		talk_about(l, w);
		error_print(&o.err);
	}
	if (!job->cancelled && o.rc) {
		hold_job(l, job, &o.err);
	} else if (!count_working(l, w, NULL) && !l->held.n) {
		w->of.call.returned = "";
		w->of.call.returned_alone = false;
	} else {
		/* With an action that is held, the array may be gone before the next step. */
		w->of.call.returned = arena_dup(l->arena, str_of(json_get_str(action, "id")));
		w->of.call.returned_alone = count_working(l, w, document) > 0;
	}
	w->due = w->ordered || !count_working(l, w, NULL);
}

/* ---- a step of an item ---- */

/* `first`: of an array that is `done`. */
static void take_done(struct run_loop *l, struct run_work *w, const json *first)
{
	json_free(&w->done);
	w->done = json_copy(first);
	report_to_caller(l, w, RUN_REPORT_DONE, first, NULL);
	w->phase = json_get(first, "until") ? WORK_WAITS : WORK_ENDED;
	if (w->phase == WORK_WAITS)
		run_step_keep_lease(&w->of.call, w->of.call.context_file, true);
	w->status = json_get(first, "for")                    ? ERR_STATE
		    : json_str_is(first, "result", "success") ? 0
							      : ERR_CHECK;
}

/* While others of its actions work, `done` only says that there is nothing more now. */
static int take_array(struct run_loop *l, struct run_work *w, const json *array)
{
	const json *first = json_first(array);
	bool done = json_str_is(first, "action", "done");

	if (first && !done)
		return add_array(l, w, array);
	if (count_working(l, w, NULL))
		return 0;
	if (done && !l->held.n)
		take_done(l, w, first);
	else
		w->phase = WORK_ENDED;
	return 0;
}

static int next_step(struct run_loop *l, struct run_work *w, struct buf *line)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct run_step_call call = w->of.call;
	struct error err; /* not of what has failed before */

	if (l->next && l->next(l->next_data, &call, line, &err) < 0)
		return w->failed ? -1 : (w->err = err, -1);
	if (l->next)
		return 0;
	call.ordered = &w->ordered;
	call.gate_busy = &w->gate_busy;
	if (run_step(&a, &call, line, &w->err) < 0)
		return -1;
	run_setup_entered(&w->of);
	return 0;
}

/* An effect needs the merge gate, which others have: the step is repeated. */
static int wait_for_gate(struct run_work *w, bool waited)
{
	if (!waited)
		error_log("dev-team: %s waits: %s", w->of.call.id, w->err.text);
	w->of.n_steps--;
	json_free(&w->done);
	w->phase = WORK_WAITS;
	return 0;
}

static int step_work(struct run_loop *l, struct run_work *w)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	bool first = !w->of.n_steps++, waited = w->gate_busy;
	json *array;

	talk_about(l, w);
	w->due = false;
	if (!first && !l->next && run_stop_asked(&a, w->of.call.context_file)) {
		w->of.stopped = true;
		return -1;
	}
	w->gate_busy = false;
	if (next_step(l, w, &line) < 0)
		return w->gate_busy ? wait_for_gate(w, waited) : -1;
	if (json_parse(&array, line.len ? buf_str(&line) : STR("[]"), &w->err) < 0)
		return -1;
	vec_push(&l->arrays, array);
	if (first && !l->next) {
		run_stop_forget(w->of.call.context_file);
		run_options_note(&w->of);
	}
	/* What has ended with this step may be requested again. */
	for (size_t i = 0; i < l->jobs.n && !count_working(l, w, NULL); i++)
		if (l->jobs.items[i].work == w && l->jobs.items[i].ended)
			l->jobs.items[i].work = NULL;
	find_cancelled(l, w);
	w->of.call.returned = l->held.n ? NULL : "";
	w->of.call.returned_alone = w->of.call.take_over = false;
	return take_array(l, w, array);
}

/* ---- the beginning and the end of an item ---- */

/* Events of several items. A fault is one of the whole run. */
static void run_emit(struct run_loop *l, enum event_id what, const struct run_work *w, json *fields)
{
	struct error err;

	if (event_report(l->artifacts, what, w->of.call.id, NULL, fields, &err) == 0)
		return;
	error_print(&err);
	l->status = (int)err.code;
}

/* An item that has ended goes on under no other workflow. */
static int check_ended(
	struct arena *a, const struct run_item *r, const char *given, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct run_step_call *c = &r->call;
	const char *was;
	struct error ignored;

	if (!given || !path_exists(c->context_file) ||
		context_open(&f, c->context_file, CONTEXT_READ_ONLY, &ignored) < 0 ||
		!context_get(&f.doc, "outcome").n ||
		run_step_workflow(a, c->context_file, c->repo, &was, &ignored) < 0 ||
		locate_workflow(a, was, c->plugin_root, c->repo, &was, &ignored) < 0 ||
		strcmp(was, c->workflow) == 0)
		return 0;
	return error_set(err, ERR_STATE,
		"'%s' has ended under the workflow '%s', not under '%s': 'dev-team land %s' lands "
		"it, "
		"'dev-team reset %s' lets it begin again",
		c->id, was, given, c->id, c->id);
}

/* The run of the item above it carries out the actions of this one, too. */
static int check_above(struct arena *a, const struct run_step_call *call, struct error *err)
{
	const char *above = run_above(a, call->context_file);

	return above ? error_set(err, ERR_STATE,
			       "a 'dev-team run' works on '%s', which '%s' is a part of (%s): "
			       "'dev-team stop %s' ends it",
			       above, call->id,
			       status_run_active(
				       a, run_child_document(a, call->context_file, above)),
			       above)
		     : 0;
}

static int prepare_work(struct run_loop *l, struct run_work *w)
{
	struct run_step_call *call = &w->of.call;
	const char *workflow = call->workflow;

	return run_step_resolve(l->arena, call, &w->err) < 0 ||
			       check_ended(l->arena, &w->of, workflow, &w->err) < 0 ||
			       check_above(l->arena, call, &w->err) < 0 ||
			       run_place_wait(l->arena, call->context_file, call->id, &w->err) <
				       0 ||
			       run_setup(l->arena, &w->of, &w->err) < 0
		       ? -1
		       : 0;
}

/* Whether 'dev-team stop' has asked that the item does not begin. */
static bool leave_queue(const struct run_loop *l, const struct run_work *w)
{
	return l->n > 1 && (size_t)(w - l->works) >= l->max &&
	       run_queue_leave(l->arena, w->of.call.repo, w->of.call.id);
}

static void begin_work(struct run_loop *l, struct run_work *w)
{
	talk_about(l, w);
	w->phase = WORK_ACTIVE;
	w->due = true;
	w->started_ms = clock_ticks();
	l->active++;
	if (leave_queue(l, w)) {
		w->of.stopped = true;
		end_jobs(l, w, false);
		return;
	}
	run_emit(l, EVENT_STARTED, w, JSON_OBJECT(JSON_INT("inFlight", l->active)));
	if (prepare_work(l, w) < 0)
		end_jobs(l, w, false);
}

/* An item that has a worktree does not accept what is for the checkout. */
static bool has_worktree(const char *document)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct item_place place;
	struct error ignored;

	return place_read(&a, document, &place, &ignored) == 0 && place.directory &&
	       !place.in_place;
}

/* The command that continues the item, unless another run works on it. */
static void log_continuation(const struct run_item *r, const char *before)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct run_request q = *r->request;

	if (!path_exists(r->call.context_file) || status_run_active(&a, r->call.context_file))
		return;
	if (has_worktree(r->call.context_file))
		q.call.in_place = q.call.allow_dirty = false;
	buf_adds(&text, "dev-team run ");
	status_add_address(&text, r->call.id, r->call.context_file, r->call.repo);
	run_options_add(&q, r->call.repo, &text);
	status_add_repository(&text, r->call.repo);
	error_log("dev-team: %sto continue: %s", before, text.s);
}

/* Recorded answers are kept. */
static void stop_work(struct run_loop *l, struct run_work *w)
{
	struct run_item *r = &w->of;
	int signal = r->stopped ? 0 : run_interrupt_caught();

	if (r->n_steps)
		run_step_release_lease(&r->call);
	if (!r->n_started)
		run_setup_undo(l->arena, r);
	if (r->stopped) {
		if (r->n_steps)
			run_stop_forget(r->call.context_file);
		error_set(&w->err, ERR_STATE, "'%s' was stopped by 'dev-team stop'", r->call.id);
	} else if (signal) {
		error_set(&w->err, ERR_STATE, "interrupted by signal %d", signal);
	}
	w->status = (int)w->err.code;
	talk_about(l, w);
	if (!signal && (l->n > 1 || r->n_steps))
		error_print(&w->err);
	if (r->n_steps)
		log_continuation(r, signal ? "interrupted; " : "");
}

static void end_work(struct run_loop *l, struct run_work *w)
{
	const char *reason = w->failed ? "the run stopped" : json_get_str(w->done, "reason");

	w->phase = WORK_OVER;
	l->active--;
	if (l->n > 1 && w->of.pipeline)
		run_gate_end(l->arena, &w->of, w->of.call.id);
	if (l->n == 1)
		report_to_caller(l, NULL, RUN_REPORT_OVER, NULL, NULL);
	if (w->failed && !l->next)
		stop_work(l, w);
	run_emit(l, w->status ? EVENT_FAILED : EVENT_COMPLETED, w,
		JSON_OBJECT(JSON_INT("durationMs", clock_ticks() - w->started_ms),
			JSON_IF(w->status, JSON_TEXT("error", reason))));
}

/* ---- the loop ---- */

/* Does what can be done without waiting. */
static void advance(struct run_loop *l)
{
	for (size_t i = 0; i < l->n && !run_interrupt_caught(); i++) {
		struct run_work *w = &l->works[i];

		if (w->phase == WORK_QUEUED && l->active < l->max)
			begin_work(l, w);
		if (w->phase == WORK_WAITS && !run_still_waits(w->of.call.context_file, w->done)) {
			w->phase = WORK_ACTIVE;
			w->due = true;
			if (!w->gate_busy)
				w->of.call.returned = NULL; /* the agents were held up */
		}
		if (w->phase == WORK_ACTIVE && w->due && step_work(l, w) < 0)
			end_jobs(l, w, false);
		if (w->phase == WORK_ENDED && !has_jobs(l, w))
			end_work(l, w);
	}
	talk_about(l, NULL);
}

/* `stop` lets what works end, and ends an item that waits; `stop --now` ends what works, too. */
static void look_for_stop(struct run_loop *l, struct run_work *w)
{
	CLEANUP(arena_release) struct arena a = {0};
	bool live = w->phase == WORK_ACTIVE || w->phase == WORK_WAITS;
	const char *asked = live ? run_stop_asked(&a, w->of.call.context_file) : NULL;

	if (!asked || (w->phase == WORK_ACTIVE && strcmp(asked, "now") != 0))
		return;
	w->of.stopped = true;
	end_jobs(l, w, true);
}

/* An action may work, and an item wait, for longer than a lease lasts. */
static void keep_leases(struct run_loop *l)
{
	if (clock_ticks() - l->leases_ms < LEASE_MS)
		return;
	l->leases_ms = clock_ticks();
	for (size_t i = 0; i < l->jobs.n; i++)
		if (!l->jobs.items[i].ended)
			run_step_keep_lease(&l->jobs.items[i].work->of.call,
				json_get_str(l->jobs.items[i].action.action, "context_file"),
				false);
	for (size_t i = 0; i < l->n && !l->next; i++)
		if (l->works[i].phase == WORK_ACTIVE || l->works[i].phase == WORK_WAITS)
			run_step_keep_lease(&l->works[i].of.call, l->works[i].of.call.context_file,
				l->works[i].phase == WORK_WAITS);
}

static void look_around(struct run_loop *l)
{
	for (size_t i = 0; i < l->n && !l->next; i++)
		look_for_stop(l, &l->works[i]);
	keep_leases(l);
}

/* Once nothing works, the actions are forgotten before the next step. */
static size_t run_look_again(void *data, bool tick)
{
	struct run_loop *l = data;
	bool works = false;

	if (tick) {
		report_to_caller(l, NULL, RUN_REPORT_TICK, NULL, NULL);
		look_around(l);
	}
	for (size_t i = 0; i < l->n; i++)
		works |= has_jobs(l, &l->works[i]);
	l->works[0].due |= run_held_due(&l->held);
	if (works)
		advance(l);
	return l->jobs.n;
}

static void forget_jobs(struct run_loop *l)
{
	for (size_t i = 0; i < l->arrays.n; i++)
		json_free(&l->arrays.items[i]);
	vec_release(&l->arrays);
	vec_release(&l->jobs);
}

static int carry_out(struct run_loop *l, struct error *err)
{
	const struct run_children children = {.n = l->jobs.n,
		.max = RUN_CHILDREN_MAX,
		.report_size = sizeof(struct action_outcome),
		.cancel = l->cancel,
		.run = act_in_child,
		.started = action_started,
		.line = action_line,
		.ended = take_outcome,
		.more = run_look_again,
		.cancelled = is_cancelled,
		.data = l};
	int rc = run_children(&children, err);

	forget_jobs(l);
	return rc;
}

/* False: no item waits. */
static bool wait_for_first(struct run_loop *l)
{
	int64_t first = INT64_MAX, until;
	bool waits = false;

	for (size_t i = 0; i < l->n; i++) {
		if (l->works[i].phase != WORK_WAITS)
			continue;
		waits = true;
		if (!l->works[i].gate_busy &&
			clock_parse(json_get_str(l->works[i].done, "until"), &until) == 0 &&
			until < first)
			first = until;
	}
	if (!waits || (first < INT64_MAX && clock_move(first)))
		return waits;
	(void)run_interrupt_wait(WAIT_TICK_MS);
	look_around(l);
	return true;
}

/* Until all items are over, or until an interrupt. */
static void run_to_end(struct run_loop *l)
{
	struct error err;

	for (;;) {
		advance(l);
		if (run_interrupt_caught() || (!l->jobs.n && !wait_for_first(l)))
			break;
		if (!l->jobs.n || carry_out(l, &err) == 0 || run_interrupt_caught())
			continue;
		for (size_t i = 0; i < l->n; i++)
			if (l->works[i].phase == WORK_ACTIVE) {
				l->works[i].err = err;
				end_jobs(l, &l->works[i], false);
			}
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->works[i].phase == WORK_QUEUED) {
			(void)leave_queue(l, &l->works[i]);
		} else if (l->works[i].phase != WORK_OVER) {
			l->works[i].failed |= l->works[i].phase != WORK_ENDED;
			end_work(l, &l->works[i]);
		}
}

/* *signal: the one that ended it, or 0. */
static int run_loop(struct run_loop *l, int *signal, struct error *err)
{
	l->started_ms = l->leases_ms = clock_ticks();
	if (run_interrupt_begin(&l->cancel, err) < 0)
		return -1;
	for (size_t i = 0; i < l->n; i++)
		l->works[i].of.cancel = l->cancel;
	run_to_end(l);
	forget_jobs(l);
	vec_release(&l->held);
	*signal = run_interrupt_caught();
	run_interrupt_end();
	if (l->n > 1)
		report_to_caller(l, NULL, RUN_REPORT_OVER, NULL, NULL);
	return 0;
}

/* Without agents: the harness of the settings. */
static int default_agents(struct arena *a, struct run_request *q, struct error *err)
{
	struct settings settings;
	struct error ignored;
	const char *repo;

	if (q->harness || q->pipeline || q->agents ||
		run_step_repository(a, &q->call, &repo, &ignored) < 0)
		return 0;
	if (settings_load(a, repo, &settings, err) < 0)
		return -1;
	q->harness = settings.harness;
	return 0;
}

/* Combinations that make no sense, before anything is done. */
static int run_check_agents(struct arena *a, const struct run_request *q, struct error *err)
{
	struct text_list names = {0};
	const char *lone = q->model       ? "model"
			   : q->timeout_s ? "timeout"
			   : q->pass_env  ? "pass-env"
					  : NULL;

	if (!q->harness && !q->pipeline && !q->agents)
		return error_set(err, ERR_USAGE,
			"no agents given: give --harness claude-code (or another one of 'dev-team "
			"harness list'), --pipeline NAME or --agents SCRIPT, or set 'harness' "
			"in " SETTINGS_FILE);
	if (!q->harness && !q->pipeline && lone)
		return error_set(err, ERR_USAGE, "--%s needs --harness or --pipeline", lone);
	return q->harness ? run_read_harnesses(a, q->harness, &names, err) : 0;
}

static struct run_step_call call_of_run(
	struct arena *a, const struct run_request *q, const char *id, const char *kind)
{
	struct run_step_call call = q->call;
	const char *process = process_own_name(a);

	call.id = id;
	call.owner = call.owner ? call.owner : arena_printf(a, RUN_OWNER "%s", process_host(a));
	call.in_run = true;
	call.client = process ? arena_printf(a, "%s%s", process, kind) : NULL;
	return call;
}

int run_actions(struct arena *a, const struct run_request *given, run_next *next, void *data,
	struct error *err)
{
	struct run_request q = *given;
	struct run_work w = {
		.of = {.request = &q}, .phase = WORK_ACTIVE, .due = true, .ordered = true};
	struct run_loop l = {
		.request = &q, .arena = a, .works = &w, .n = 1, .next = next, .next_data = data};
	int signal;

	if (default_agents(a, &q, err) < 0 || run_check_agents(a, &q, err) < 0 ||
		run_step_repository(a, &q.call, &q.call.repo, err) < 0)
		return -1;
	w.of.call = call_of_run(a, &q, "backlog", "");
	if (run_step_resolve(a, &w.of.call, err) < 0 || run_setup(a, &w.of, err) < 0)
		return -1;
	/* Of no item: each action names its own. */
	w.of.call.context_file = "";
	w.of.call.worktree = NULL;
	if (run_loop(&l, &signal, err) < 0)
		return -1;
	if (signal)
		return error_set(err, ERR_STATE, "interrupted by signal %d", signal);
	if (w.failed)
		*err = w.err;
	return w.failed ? -1 : 0;
}

/* ---- the result ---- */

static void print_rows(const struct run_loop *l, struct buf *out)
{
	CLEANUP(json_free)
	json *stopped = JSON_OBJECT(
		JSON_TEXT("result", "stopped"), JSON_TEXT("reason", "the run stopped; see above"));
	json *all = json_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct run_work *w = &l->works[i];
		const json *done = w->failed ? stopped : w->done;
		const char *log = json_get_str(done, "log"), *next = json_get_str(done, "continue");

		if (w->phase == WORK_QUEUED)
			continue;
		json_push(all, JSON_OBJECT(JSON_TEXT("id", w->of.call.id),
				       JSON_TEXT("result", json_get_str(done, "result")),
				       JSON_TEXT("reason", json_get_str(done, "reason")),
				       JSON_IF(log, JSON_TEXT("log", log)),
				       JSON_IF(next, JSON_TEXT("continue", next))));
	}
	json_print_line(out, all);
}

/* The results of all are printed, whatever became of others. */
static int end_several(const struct run_loop *l, int signal, struct buf *out, struct error *err)
{
	int status = l->status;

	print_rows(l, out);
	if (signal)
		status = error_set(err, ERR_STATE, "interrupted by signal %d", signal);
	for (size_t i = 0; i < l->n && !status; i++)
		if (l->works[i].failed)
			status = error_set(err, l->works[i].err.code,
				"the run of '%s' stopped: see above", l->works[i].of.call.id);
	if (status < 0) {
		error_print(err);
		status = (int)err->code;
	}
	for (size_t i = 0; i < l->n && !status; i++)
		status = l->works[i].status ? ERR_CHECK : 0;
	return status;
}

/* After an interrupt the caller sees a program that the signal ended. */
static int end_one(const struct run_work *w, int signal, struct buf *out, struct error *err)
{
	json *array;

	if (signal && !w->of.stopped)
		(void)raise(signal);
	if (w->failed) {
		*err = w->err;
		return w->of.n_steps ? w->status : -1;
	}
	array = json_array();
	json_push(array, json_copy(w->done));
	json_print_line(out, array);
	return w->status;
}

/* ---- what is run ---- */

static int run_check_ids(const char *const *ids, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (path_check_id(ids[i], err) < 0)
			return -1;
		for (size_t k = 0; k < i; k++)
			if (strcmp(ids[i], ids[k]) == 0)
				return error_set(err, ERR_USAGE, "'%s' is given twice", ids[i]);
	}
	return 0;
}

static int check_number(const struct run_request *q, size_t n, struct error *err)
{
	if (n > 1 && q->call.in_place)
		return error_set(
			err, ERR_USAGE, "--in-place works on one item at a time, not on %zu", n);
	if (n > 1 && q->call.context_file)
		return error_set(err, ERR_USAGE,
			"--context-file names the document of one work item, not of %zu", n);
	return 0;
}

/* Who names a document names an item. */
static int find_items(struct arena *a, struct run_request *q, const char *const *words, size_t n,
	struct item_ids *ids, struct error *err)
{
	for (size_t i = 0; i < n && q->call.context_file; i++)
		vec_push_in(a, ids, words[i]);
	if (ids->n)
		return 0;
	return run_step_repository(a, &q->call, &q->call.repo, err) < 0
		       ? -1
		       : new_item_ids(a, q->call.repo, words, n, ids, err);
}

/* Before a spec is written. */
static int check_workflow(struct arena *a, const struct run_request *q, struct error *err)
{
	const char *repo, *path;
	struct error ignored;

	if (!q->call.workflow || run_step_repository(a, &q->call, &repo, &ignored) < 0)
		return 0;
	return locate_workflow(a, q->call.workflow, q->call.plugin_root, repo, &path, err);
}

/* What several items have in common. */
static int begin_several(struct run_loop *l, const char *const *ids, struct error *err)
{
	struct run_item r = {.request = l->request};

	if (run_check_ids(ids, l->n, err) < 0 ||
		locate_repository(l->arena, l->request->call.repo, &r.call.repo, err) < 0 ||
		run_setup_shared(l->arena, &r, err) < 0)
		return -1;
	(void)unsetenv("PORT"); /* it would be that of each */
	l->artifacts = r.artifacts;
	l->max = r.max_concurrent;
	for (size_t i = l->max; i < l->n; i++)
		if (run_queue_enter(l->arena, r.call.repo, ids[i], err) < 0)
			return -1;
	for (size_t i = 0; i < l->n; i++)
		run_emit(l, EVENT_QUEUED, &l->works[i], JSON_OBJECT(JSON_INT("queueSize", l->n)));
	return l->status ? error_set(err, (enum err)l->status, "no event can be written") : 0;
}

static int run_ids(struct arena *a, const struct run_request *q, const char *const *ids, size_t n,
	struct buf *out, struct error *err)
{
	struct run_loop l = {.request = q,
		.arena = a,
		.works = arena_alloc(a, n * sizeof(*l.works)),
		.n = n,
		.max = 1};
	int signal, rc;

	for (size_t i = 0; i < n; i++)
		l.works[i] = (struct run_work){
			.of = {.request = q, .call = call_of_run(a, q, ids[i], LEASE_RUN)}};
	if ((n > 1 && begin_several(&l, ids, err) < 0) || run_loop(&l, &signal, err) < 0)
		return -1;
	rc = n > 1 ? end_several(&l, signal, out, err) : end_one(l.works, signal, out, err);
	for (size_t i = 0; i < n; i++)
		json_free(&l.works[i].done);
	return rc;
}

/* The spec has the words: after a refusal the id continues it. */
static void log_words(const struct run_request *q, const char *id)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "dev-team run %s", id);
	if (q->call.workflow)
		buf_add_argument(&text, " --workflow ", q->call.workflow);
	run_options_add(q, q->call.repo, &text);
	status_add_repository(&text, q->call.repo);
	error_log("dev-team: to continue: %s", text.s);
}

int run_items(struct arena *a, const struct run_request *given, const char *const *words, size_t n,
	struct buf *out, struct error *err)
{
	struct run_request q = *given;
	struct item_ids ids = {0};
	int rc;

	if (default_agents(a, &q, err) < 0 || run_check_agents(a, &q, err) < 0 ||
		check_workflow(a, &q, err) < 0 || find_items(a, &q, words, n, &ids, err) < 0 ||
		check_number(&q, ids.n, err) < 0)
		return -1;
	rc = run_ids(a, &q, ids.items, ids.n, out, err);
	if (rc >= 0 || !ids.are_words)
		return rc;
	error_print(err);
	log_words(&q, ids.items[0]);
	return (int)err->code;
}
