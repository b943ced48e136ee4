#include <signal.h>
#include <sys/wait.h>
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/event/event.h"
#include "src/machine/agents.h"
#include "src/machine/engine.h"
#include "src/machine/wait.h"
#include "src/merge/gate.h"
#include "src/setup/setup.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/store/disk.h"
#include "src/sys/path.h"

/* One owner for all runs: a lock of its own keeps a second run of a work item out, and the next
 * run may continue one that was killed. */
#define RUN_OWNER "dev-team run"

/* How often a run that waits looks whether it was stopped. */
enum { WAIT_TICK_MS = 1000 };

/* ---- the actions of one array, each in a child process ---- */

struct action_outcome {
	int rc;
	struct error err; /* if rc is -1 */
	struct run_outcome of;
};

_Static_assert(
	sizeof(struct action_outcome) <= 4096, "an outcome must go through a pipe in one piece");

struct action_job {
	struct run_action action;
	bool ended, cancelled;
};

struct action_jobs {
	struct run_item *run;
	struct arena *arena;
	VEC(struct action_job) list;
	VEC(json *) arrays; /* of the steps after the first */
	run_next *next;     /* NULL: a step of the item of the run */
	void *next_data;
	struct error *err;
	bool failed;
};

/* `o`: of an action that has ended. */
static void report_to_caller(
	const struct run_item *r, int what, const json *action, const struct run_outcome *o)
{
	if (r->request->report)
		r->request->report(&(struct run_report){.what = what,
			.ms = clock_ticks() - r->started_ms,
			.several = !*r->call.context_file,
			.action = action,
			.word = o ? o->word : NULL,
			.usage = o ? &o->usage : NULL});
}

static void action_started(void *data, size_t item, size_t running)
{
	const struct action_jobs *j = data;

	(void)running;
	report_to_caller(j->run, RUN_REPORT_BEGIN, j->list.items[item].action.action, NULL);
}

static void action_line(void *data, size_t item, struct str line)
{
	(void)data;
	(void)item;
	error_log("%.*s", (int)line.n, line.p);
}

/* `stop --now` ends what works, as a signal does. */
static void look_around(void *data)
{
	const struct action_jobs *j = data;
	CLEANUP(arena_release) struct arena a = {0};
	const char *asked = run_stop_asked(&a, j->run->call.context_file);

	report_to_caller(j->run, RUN_REPORT_TICK, NULL, NULL);
	if (asked && strcmp(asked, "now") == 0 && !j->run->stopped) {
		j->run->stopped = true;
		(void)raise(SIGTERM);
	}
}

static int act_in_child(void *data, size_t item, int report, int log)
{
	const struct action_jobs *j = data;
	const struct run_action *action = &j->list.items[item].action;
	CLEANUP(pool_close) struct pool gated = {0};
	struct action_outcome o = {0};
	struct run_item of = {0};
	ssize_t ignored;

	run_interrupt_child();
	(void)dup2(log, STDERR_FILENO);
	o.rc = run_setup_action(j->arena, j->run, action->action, &of, &o.err);
	if (o.rc == 0)
		o.rc = run_setup_databases(j->arena, &of, action->action, &o.err);
	if (o.rc == 0)
		o.rc = run_gate_take(j->arena, &of, action->action, &gated, &o.err);
	if (o.rc == 0)
		o.rc = run_action_execute(&of, action, &o.of, &o.err);
	gate_drop(&of.gate);
	ignored = write(report, &o, sizeof(o));
	(void)ignored;
	return 0;
}

/* The first failure is reported; a child that was killed has written no outcome. */
static int take_outcome(void *data, size_t item, int status, struct str report)
{
	struct action_jobs *j = data;
	const json *action = j->list.items[item].action.action;
	struct action_outcome o;
	bool whole = report.n == sizeof(o);

	(void)status;
	if (whole)
		memcpy(&o, report.p, sizeof(o));
	j->list.items[item].ended = true;
	if (j->list.items[item].cancelled) {
		report_to_caller(
			j->run, RUN_REPORT_END, action, &(struct run_outcome){.word = "cancelled"});
		return 0;
	}
	if (whole && o.rc == 0) {
		report_to_caller(j->run, RUN_REPORT_END, action, &o.of);
		return 0;
	}
	if (!j->failed && whole)
		*j->err = o.err;
	else if (!j->failed)
		error_set(j->err, ERR_SYSTEM, "the process of action '%s' was killed",
			json_get_str(action, "id"));
	j->failed = true;
	return -1;
}

static int plan_one(
	const struct run_item *r, const json *action, struct run_action *p, struct error *err)
{
	size_t uses;

	*p = (struct run_action){.action = action};
	if (agents_find(&r->scripted, action, &p->entry, err) < 0)
		return -1;
	if (!p->entry)
		return 0;
	if (agents_count_turns(json_get_str(action, "context_file"), p->entry,
		    json_get_str(action, "id"), &uses, err) < 0)
		return -1;
	return agents_turn(&r->scripted, p->entry, uses, action, &p->turn, err);
}

static bool is_started(const struct action_jobs *j, const char *id)
{
	for (size_t i = 0; i < j->list.n; i++)
		if (json_str_is(j->list.items[i].action.action, "id", id))
			return true;
	return false;
}

/* Adds the actions that are new. No action of an array starts before all of them can. */
static int add_array(struct action_jobs *j, const json *array)
{
	struct run_item *r = j->run;
	size_t before = j->list.n;

	for (const json *action = json_first(array); action; action = json_next(action)) {
		struct action_job job = {0};

		if (is_started(j, json_get_str(action, "id")))
			continue;
		if (plan_one(r, action, &job.action, j->err) < 0)
			return -1;
		vec_push_in(j->arena, &j->list, job);
	}
	if ((int64_t)(r->n_started + j->list.n - before) > r->request->max_actions)
		return error_set(j->err, ERR_STATE,
			"stopped after %zu action%s (see --max-actions)", r->n_started,
			r->n_started == 1 ? "" : "s");
	r->n_started += j->list.n - before;
	return 0;
}

/* How many work; `document`: of this item, NULL: of all. */
static size_t count_working(const struct action_jobs *j, const char *document)
{
	size_t n = 0;

	for (size_t i = 0; i < j->list.n; i++)
		n += !j->list.items[i].ended && !j->list.items[i].cancelled &&
		     (!document ||
			     json_str_is(j->list.items[i].action.action, "context_file", document));
	return n;
}

/* Whether the document says that nobody waits for the action any more. */
static bool is_fenced(const char *document, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct str rest, one;

	if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0)
		return false;
	rest = context_get(&f.doc, "cancelled");
	while (arena_shell_word(&f.arena, &rest, &one))
		if (str_is(one, id))
			return true;
	return false;
}

static void find_cancelled(struct action_jobs *j)
{
	for (size_t i = 0; i < j->list.n; i++) {
		struct action_job *job = &j->list.items[i];

		if (!job->ended && !job->cancelled)
			job->cancelled = is_fenced(json_get_str(job->action.action, "context_file"),
				json_get_str(job->action.action, "id"));
	}
}

static bool is_cancelled(void *data, size_t item)
{
	const struct action_jobs *j = data;

	return j->list.items[item].cancelled && !j->list.items[item].ended;
}

static int step_next(
	struct action_jobs *j, struct run_step_call *call, struct buf *line, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	bool ordered = false;

	if (j->next)
		return j->next(j->next_data, call, line, err);
	call->ordered = &ordered;
	return run_step(&a, call, line, err);
}

/* An action has ended while others run: makes a step and adds what has become ready. */
static int take_next(void *data, size_t item, size_t *n)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct action_jobs *j = data;
	struct run_step_call call = j->run->call;
	const json *action = j->list.items[item].action.action;
	json *array;

	if (!count_working(j, NULL))
		return 0; /* the next round */
	call.returned = json_get_str(action, "id");
	call.returned_alone = count_working(j, json_get_str(action, "context_file")) > 0;
	if (step_next(j, &call, &line, j->err) < 0 ||
		json_parse(&array, line.len ? buf_str(&line) : STR("[]"), j->err) < 0) {
		j->failed = true;
		return -1;
	}
	vec_push(&j->arrays, array);
	find_cancelled(j);
	if (!json_str_is(json_first(array), "action", "done") && add_array(j, array) < 0)
		return -1;
	*n = j->list.n;
	return 0;
}

static int run_carry_out(struct action_jobs *jobs, const json *array, bool ordered)
{
	struct run_item *r = jobs->run;
	struct run_children children = {.max = RUN_CHILDREN_MAX,
		.report_size = sizeof(struct action_outcome),
		.cancel = r->cancel,
		.log = true,
		.run = act_in_child,
		.started = action_started,
		.line = action_line,
		.tick = look_around,
		.ended = take_outcome,
		.more = ordered ? take_next : NULL,
		.cancelled = ordered ? is_cancelled : NULL,
		.data = jobs};
	int rc;

	r->call.returned = "";
	r->call.take_over = false;
	if (add_array(jobs, array) < 0)
		return -1;
	children.n = jobs->list.n;
	rc = run_children(&children, jobs->err);
	for (size_t i = 0; i < jobs->arrays.n; i++)
		json_free(&jobs->arrays.items[i]);
	vec_release(&jobs->arrays);
	return rc;
}

/* ---- one work item ---- */

/* `done`: as was printed of the item. Of several children that wait, the first to go on counts. */
static bool still_waits(const char *document, const json *done)
{
	CLEANUP(context_close) struct context_file f = {0};
	const json *children = json_get(done, "children");
	struct error ignored;

	for (const json *c = json_first(children); c; c = json_next(c))
		if (json_get(c, "until") && !still_waits(json_get_str(c, "context_file"), c))
			return false;
	if (children)
		return true;
	return context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       wait_is_open(&f.doc, clock_now());
}

/* Until the time that the item waits for, or until a person has removed the wait. 1: continue. */
static int wait_for_time(struct run_item *r, const json *done)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *document = r->call.context_file;
	int64_t until;

	r->call.returned = NULL; /* the agents were held up */
	report_to_caller(r, RUN_REPORT_DONE, done, NULL);
	if (clock_parse(json_get_str(done, "until"), &until) == 0 && clock_move(until))
		return run_interrupt_wait(0) ? -1 : 1;
	while (still_waits(document, done)) {
		if (run_interrupt_wait(WAIT_TICK_MS))
			return -1;
		if (run_stop_asked(&a, document)) {
			r->stopped = true;
			return -1;
		}
	}
	return 1;
}

/* 1: continue. 0: done. `line`: the array. *status: the exit status. */
static int run_round(struct run_item *r, struct buf *line, int *status, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *array = NULL;
	struct run_step_call call = r->call;
	bool ordered = false, first_round = !r->n_steps++;
	const json *first;

	call.ordered = &ordered;
	buf_clear(line);
	if (!first_round && run_stop_asked(&a, call.context_file)) {
		r->stopped = true;
		return -1;
	}
	if (run_step(&a, &call, line, err) < 0 || run_setup_entered(&a, r, err) < 0 ||
		json_parse(&array, buf_str(line), err) < 0)
		return -1;
	if (first_round)
		run_options_note(r);
	first = json_first(array);
	if (strcmp(json_get_str(first, "action"), "done") != 0) {
		struct action_jobs jobs = {.run = r, .arena = &a, .err = err};

		return run_interrupt_caught() || run_carry_out(&jobs, array, ordered) < 0 ? -1 : 1;
	}
	if (json_get_str(first, "until"))
		return wait_for_time(r, first);
	report_to_caller(r, RUN_REPORT_DONE, first, NULL);
	*status = json_get(first, "for")                    ? ERR_STATE
		  : json_str_is(first, "result", "success") ? 0
							    : ERR_CHECK;
	return 0;
}

/* An item that has a worktree does not accept what is for the checkout. */
static bool has_worktree(const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(arena_release) struct arena a = {0};
	struct item_place place;
	struct error ignored;

	return context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       place_load(&a, &f, &place, &ignored) == 0 && place.directory && !place.in_place;
}

/* The command that continues the item. */
static void log_continuation(const struct run_item *r, const char *before)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct run_request q = *r->request;

	if (!path_exists(r->call.context_file))
		return;
	if (has_worktree(r->call.context_file))
		q.call.in_place = q.call.allow_dirty = false;
	buf_adds(&text, "dev-team run ");
	status_add_address(&text, r->call.id, r->call.context_file);
	run_options_add(&q, r->call.repo, &text);
	status_add_repository(&text, r->call.repo);
	error_log("dev-team: %sto continue: %s", before, text.s);
}

/* Recorded answers are kept; the caller sees a program that the signal ended. */
static int raise_again(const struct run_item *r, int signal, struct error *err)
{
	log_continuation(r, "interrupted; ");
	(void)raise(signal);
	return error_set(err, ERR_STATE, "interrupted by signal %d", signal);
}

static int stop_here(const struct run_item *r, struct error *err)
{
	run_stop_forget(r->call.context_file);
	return error_set(err, ERR_STATE, "'%s' was stopped by 'dev-team stop'", r->call.id);
}

/* Runs to the end and adds the last array. */
static int run_item_loop(struct run_item *r, struct buf *out, struct error *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	int rc, signal, status = 0;

	if (run_interrupt_begin(&r->cancel, err) < 0)
		return -1;
	run_stop_forget(r->call.context_file);
	do
		rc = run_round(r, &line, &status, err);
	while (rc > 0);
	signal = rc < 0 ? run_interrupt_caught() : 0;
	run_interrupt_end();
	report_to_caller(r, RUN_REPORT_OVER, NULL, NULL);
	if (rc == 0) {
		buf_addf(out, "%s\n", line.s);
		return status;
	}
	run_step_release_lease(&r->call);
	if (r->stopped)
		return stop_here(r, err);
	return signal ? raise_again(r, signal, err) : -1;
}

/* Two runs of one work item would carry out every action twice. */
static int lock_run(struct arena *a, const char *document, const char *id, struct disk_lock **lock,
	struct error *err)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;
	int rc;

	if (path_mkdirs(arena_dup(a, path_dir(document)), err) < 0)
		return -1;
	rc = disk_lock_take(lock, status_run_lock(a, document), 0, err);
	return rc < 0 && err->code == ERR_STATE && status_run_active(a, document, &holder)
		       ? error_set(err, ERR_STATE,
				 "another 'dev-team run' works on '%s' (%s): 'dev-team stop %s' "
				 "ends it",
				 id, holder.s, id)
		       : rc;
}

/* The run of the item above it carries out the actions of this one, too. */
static int check_above(struct arena *a, const char *document, const char *id, struct error *err)
{
	CLEANUP(buf_release) struct buf holder = BUF_INIT;
	const char *parent = run_parent(a, document);

	if (!parent)
		return 0;
	parent = arena_dup(a, (struct str){parent, strcspn(parent, "/")});
	document = run_child_document(a, document, parent);
	return status_run_active(a, document, &holder)
		       ? error_set(err, ERR_STATE,
				 "another 'dev-team run' works on '%s', which '%s' is a part of "
				 "(%s): 'dev-team stop %s' ends it",
				 parent, id, holder.s, parent)
		       : check_above(a, document, id, err);
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

static int run_one(struct arena *a, const struct run_request *q, const char *id, struct buf *out,
	struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	struct run_item r = {.request = q, .call = q->call, .started_ms = clock_ticks()};
	int rc;

	r.call.id = id;
	if (!r.call.owner)
		r.call.owner = RUN_OWNER;
	r.call.in_run = true;
	if (run_step_resolve(a, &r.call, err) < 0 ||
		check_ended(a, &r, q->call.workflow, err) < 0 ||
		check_above(a, r.call.context_file, r.call.id, err) < 0 ||
		lock_run(a, r.call.context_file, r.call.id, &lock, err) < 0)
		return -1;
	rc = run_setup(a, &r, err) < 0 ? -1 : run_item_loop(&r, out, err);
	if (rc < 0 && !r.n_started)
		run_setup_undo(a, &r);
	if (rc >= 0 || !r.n_steps)
		return rc;
	error_print(err);
	log_continuation(&r, "");
	return (int)err->code;
}

/* Without agents: the harness of the settings. */
static int default_agents(struct arena *a, struct run_request *q, struct error *err)
{
	struct settings settings;
	struct error ignored;
	const char *repo;

	if (q->harness || q->pipeline || q->agents ||
		locate_repository(a, q->call.repo, &repo, &ignored) < 0)
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

/* ---- the actions of items that somebody else steps ---- */

static int carry_rounds(struct run_item *r, run_next *next, void *data, struct error *err)
{
	for (;;) {
		CLEANUP(arena_release) struct arena a = {0};
		CLEANUP(buf_release) struct buf line = BUF_INIT;
		CLEANUP(json_free) json *array = NULL;
		struct action_jobs jobs = {
			.run = r, .arena = &a, .err = err, .next = next, .next_data = data};
		struct run_step_call call = r->call;

		if (run_interrupt_caught() || next(data, &call, &line, err) < 0)
			return -1;
		if (!line.len)
			return 0;
		if (json_parse(&array, buf_str(&line), err) < 0 ||
			run_carry_out(&jobs, array, true) < 0)
			return -1;
	}
}

int run_actions(struct arena *a, const struct run_request *given, run_next *next, void *data,
	struct error *err)
{
	struct run_request q = *given;
	struct run_item r = {.request = &q, .started_ms = clock_ticks()};
	int rc, signal;

	if (default_agents(a, &q, err) < 0 || run_check_agents(a, &q, err) < 0 ||
		locate_repository(a, q.call.repo, &q.call.repo, err) < 0)
		return -1;
	r.call = q.call;
	r.call.id = "backlog";
	r.call.owner = RUN_OWNER;
	r.call.in_run = true;
	if (run_step_resolve(a, &r.call, err) < 0 || run_setup(a, &r, err) < 0 ||
		run_interrupt_begin(&r.cancel, err) < 0)
		return -1;
	/* Of no item: each action names its own. */
	r.call.context_file = "";
	r.call.worktree = NULL;
	rc = carry_rounds(&r, next, data, err);
	signal = run_interrupt_caught();
	run_interrupt_end();
	if (r.n_started)
		report_to_caller(&r, RUN_REPORT_OVER, NULL, NULL);
	return signal ? error_set(err, ERR_STATE, "interrupted by signal %d", signal) : rc;
}

/* ---- several work items, each in a child process ---- */

struct parallel_run {
	json *row;       /* of the result; NULL: it was not started */
	int64_t started; /* clock_ticks() */
};

struct parallel_runs {
	const char *const *ids;
	struct parallel_run *items;
	struct arena *arena;
	struct run_request request; /* of each */
	const char *artifacts;      /* directory of the events */
	bool failed;                /* one ended failed */
	int rc;                     /* -1: one could not be run to its end */
	struct error *err;
};

static void run_emit(struct parallel_runs *s, enum event_id what, size_t item, json *fields)
{
	if (event_report(s->artifacts, what, s->ids[item], NULL, fields, s->err) < 0)
		s->rc = -1;
}

static int run_in_child(void *data, size_t item, int report, int log)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const struct parallel_runs *s = data;
	struct error err = {0};
	int rc;

	run_interrupt_end();
	error_status_line(NULL); /* it is our parent's, and no part of what we log */
	(void)unsetenv("PORT");  /* several runs cannot share it */
	if (dup2(report, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		return ERR_SYSTEM;
	rc = run_one(s->arena, &s->request, s->ids[item], &out, &err);
	if (rc >= 0 && sys_write_all(STDOUT_FILENO, buf_str(&out), "the result", &err) < 0)
		rc = -1;
	if (rc >= 0)
		return rc;
	error_print(&err);
	return (int)err.code;
}

static void report_item(const struct parallel_runs *s, int what, const char *id)
{
	if (s->request.report)
		s->request.report(&(struct run_report){.what = what, .id = id});
}

static void item_tick(void *data)
{
	report_item(data, RUN_REPORT_TICK, NULL);
}

static void item_started(void *data, size_t item, size_t running)
{
	struct parallel_runs *s = data;

	s->items[item].started = clock_ticks();
	report_item(s, RUN_REPORT_ITEM_BEGIN, s->ids[item]);
	run_emit(s, EVENT_STARTED, item, JSON_OBJECT(JSON_INT("inFlight", running)));
}

static void item_line(void *data, size_t item, struct str line)
{
	const struct parallel_runs *s = data;

	error_log("%s  %.*s", s->ids[item], (int)line.n, line.p);
}

/* The exit code of a run that did not reach its end. */
static enum err code_of(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : ERR_SYSTEM;

	return code >= ERR_USAGE && code <= ERR_SYSTEM ? (enum err)code : ERR_SYSTEM;
}

/* The last array of a run has its result; a run that did not reach its end prints none. */
static int item_ended(void *data, size_t item, int status, struct str report)
{
	CLEANUP(json_free) json *array = NULL;
	struct parallel_runs *s = data;
	struct error ignored;
	bool whole = WIFEXITED(status) && str_trim(report).n &&
		     json_parse(&array, str_trim(report), &ignored) == 0;
	const json *done = whole ? json_first(array) : NULL;
	const char *reason = done ? json_get_str(done, "reason") : NULL,
		   *result = done ? json_get_str(done, "result") : NULL;
	bool success = result && strcmp(result, "success") == 0;
	int64_t ms = clock_ticks() - s->items[item].started;

	report_item(s, RUN_REPORT_ITEM_END, s->ids[item]);
	s->items[item].row = JSON_OBJECT(JSON_TEXT("id", s->ids[item]),
		JSON_TEXT("result", result ? result : "stopped"),
		JSON_TEXT("reason", reason ? reason : "the run stopped; see above"),
		JSON_IF(done && json_get_str(done, "log"),
			JSON_TEXT("log", json_get_str(done, "log"))),
		JSON_IF(done && json_get_str(done, "continue"),
			JSON_TEXT("continue", json_get_str(done, "continue"))));
	run_emit(s, success ? EVENT_COMPLETED : EVENT_FAILED, item,
		JSON_OBJECT(JSON_INT("durationMs", ms),
			JSON_IF(!success,
				JSON_TEXT("error", reason ? reason : "the run stopped"))));
	s->failed |= !success;
	if (!result && s->rc == 0)
		s->rc = error_set(s->err, code_of(status), "the run of '%s' stopped: see above",
			s->ids[item]);
	return 0;
}

static void print_rows(struct parallel_runs *s, size_t n, struct buf *out)
{
	json *all = json_array();

	for (size_t i = 0; i < n; i++)
		if (s->items[i].row)
			json_push(all, s->items[i].row);
	json_print_line(out, all);
}

/* In the order of `ids`, whether others fail or not. */
static int run_all(struct parallel_runs *s, size_t n, struct error *err)
{
	struct run_children children = {.n = n,
		.max = (size_t)s->request.max_concurrent,
		.log = true,
		.run = run_in_child,
		.started = item_started,
		.line = item_line,
		.ended = item_ended,
		.tick = item_tick,
		.data = s};
	struct error fault;

	for (size_t i = 0; i < n; i++)
		run_emit(s, EVENT_QUEUED, i, JSON_OBJECT(JSON_INT("queueSize", n)));
	if (s->rc < 0 || run_interrupt_begin(&children.cancel, err) < 0)
		return -1;
	if (run_children(&children, &fault) < 0 && !run_interrupt_caught()) {
		*err = fault;
		s->rc = -1;
	}
	if (run_interrupt_caught())
		s->rc = error_set(
			err, ERR_STATE, "interrupted by signal %d", run_interrupt_caught());
	run_interrupt_end();
	report_item(s, RUN_REPORT_OVER, NULL);
	return 0;
}

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

static int run_several(struct arena *a, const struct run_request *q, const char *const *ids,
	size_t n, struct buf *out, struct error *err)
{
	struct parallel_runs s = {.ids = ids,
		.items = arena_alloc(a, n * sizeof(*s.items)),
		.arena = a,
		.request = *q,
		.err = err};
	struct run_item r = {.request = q};

	if (run_check_ids(ids, n, err) < 0 ||
		locate_repository(a, q->call.repo, &r.call.repo, err) < 0 ||
		run_setup_shared(a, &r, err) < 0)
		return -1;
	s.artifacts = r.artifacts;
	s.request.max_concurrent = r.max_concurrent;
	if (run_all(&s, n, err) < 0)
		return -1;
	print_rows(&s, n, out);
	if (s.rc == 0)
		return s.failed ? ERR_CHECK : 0;
	/* The results of the others are printed all the same. */
	error_print(err);
	return (int)err->code;
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
	return locate_repository(a, q->call.repo, &q->call.repo, err) < 0
		       ? -1
		       : new_item_ids(a, q->call.repo, words, n, ids, err);
}

/* Its spec has the words: after a refusal the id continues it. */
static int run_words(struct arena *a, const struct run_request *q, const char *id, struct buf *out,
	struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = run_one(a, q, id, out, err);

	if (rc >= 0)
		return rc;
	error_print(err);
	buf_addf(&text, "dev-team run %s", id);
	if (q->call.workflow)
		buf_add_argument(&text, " --workflow ", q->call.workflow);
	run_options_add(q, q->call.repo, &text);
	status_add_repository(&text, q->call.repo);
	error_log("dev-team: to continue: %s", text.s);
	return (int)err->code;
}

/* Before a spec is written. */
static int check_workflow(struct arena *a, const struct run_request *q, struct error *err)
{
	const char *repo, *path;
	struct error ignored;

	if (!q->call.workflow || locate_repository(a, q->call.repo, &repo, &ignored) < 0)
		return 0;
	return locate_workflow(a, q->call.workflow, q->call.plugin_root, repo, &path, err);
}

int run_items(struct arena *a, const struct run_request *given, const char *const *words, size_t n,
	struct buf *out, struct error *err)
{
	struct run_request q = *given;
	struct item_ids ids = {0};

	if (default_agents(a, &q, err) < 0 || run_check_agents(a, &q, err) < 0 ||
		check_workflow(a, &q, err) < 0 || find_items(a, &q, words, n, &ids, err) < 0 ||
		check_number(&q, ids.n, err) < 0)
		return -1;
	if (ids.n > 1)
		return run_several(a, &q, ids.items, ids.n, out, err);
	return (ids.are_words ? run_words : run_one)(a, &q, ids.items[0], out, err);
}
