#include "context/lease.h"
#include "src/base/number.h"
#include "src/event/usage.h"
#include "src/machine/failure.h"
#include "src/machine/wait.h"
#include "src/merge/requeue.h"
#include "src/run/locate.h"
#include "src/run/run.h"
#include "src/run/status.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/base/clock.h"
#include "src/verify/attest.h"
#include "src/tick/board.h"
#include "src/tick/dispatch.h"
#include "src/tick/recover.h"
#include "src/tick/tick.h"

enum { UNBEGUN_SHOWN = 20 }; /* agents read it */

struct tick {
	struct arena *arena;
	const struct tick_call *call;
	const char *repo, *items;  /* directory of the documents */
	struct run_step_call step; /* of each item, but for what is its own */
	struct backlog backlog;
	struct task_list begin; /* as of tick_candidates() */
	struct tick_memory memory;
	struct playbook playbook;
	struct admission_facts facts; /* empty until they are needed */
	bool gate;                    /* it is being decided what may start */
	size_t dispatched, candidates, rejected;
	json *actions;
	json *waits;        /* as of run_step_shared() */
	size_t unlisted;    /* tasks that have not begun, beyond these */
	size_t live;        /* items that take a slot */
	size_t open;        /* tasks that are neither done nor have a pull request */
	size_t n;           /* tasks */
	bool *seen;         /* by task; also those that are not wanted */
	struct error fault; /* why an item could not be stepped; the last one */
};

static void tick_free(struct tick *t)
{
	json_free(&t->actions);
	json_free(&t->waits);
	tick_memory_close(&t->memory);
}

static void tick_add_wait(struct tick *t, const struct task *task, const char *why,
	const char *reason, const char *next)
{
	if (strcmp(why, "admission") == 0 && json_len(t->waits) >= UNBEGUN_SHOWN)
		t->unlisted++;
	else
		json_push(t->waits,
			JSON_OBJECT(JSON_TEXT("item", task_name(task)), JSON_TEXT("reason", reason),
				JSON_TEXT("for", why), JSON_IF(next, JSON_TEXT("continue", next))));
}

/* ---- the work item of a task ---- */

static void add_paths(struct buf *out, const char *head, const struct task_texts *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		buf_addf(out, "%s- %s", i ? "\n" : head, paths->items[i]);
}

/* What is asked for: the text of the task. */
static const char *spec_of(struct arena *a, const struct task *t)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, "# %s: %s\n\nThis is the task in '%s'. Do not change that file.\n\n", t->id,
		t->title, t->file);
	buf_add(&text, str_trim(t->body));
	add_paths(&text, "\n\n## References\n\n", &t->references);
	add_paths(&text,
		arena_printf(a,
			"\n\n## Other repositories\n\nAs seen from the main checkout, not from "
			"your worktree. What the task needs there: commit it on a branch '%s', "
			"push that, open a pull request there, and name it in yours.\n\n",
			admission_branch(a, t)),
		&t->permitted);
	return arena_dup(a, buf_str(&text));
}

/* Whether the step has added a wait for another session; or for a time, if `until`. */
static bool has_wait(const json *waits, size_t before, bool until)
{
	size_t n = json_len(waits);
	const json *last = n > before ? json_at(waits, n - 1) : NULL;

	return json_str_is(last, "for", "owner") || (until && json_get(last, "until"));
}

static size_t max_of(const struct tick *t)
{
	int64_t max = t->call->max_concurrent;

	return max ? (size_t)max : t->call->mode == TICK_QUEUE ? BOARD_TASKS : 1;
}

static struct recovery recovery_of(struct tick *t, const struct task *task)
{
	return (struct recovery){t->arena, &t->memory, &t->playbook, t->repo,
		tick_memory_document(&t->memory, task->id), task, NULL};
}

static void report_end(struct tick *t, const struct task *task, bool good, const char *reason)
{
	struct recovery r = recovery_of(t, task);
	const char *url = recover_pull_url(&r);
	json *of = tick_memory_of(&t->memory, task);
	const char *began = json_get_str(of, "dispatched");
	int64_t since = 0;
	struct error err;

	if (good && attest_write(t->arena, t->repo, task->id,
			    tick_memory_document(&t->memory, task->id), json_get(of, "others"),
			    &err) < 0)
		error_log("dev-team: %s has no attestation: %s", task->id, err.text);
	if (!good || json_get(of, "labelled")) {
		recover_mark(&r, good ? FORGE_UNLABEL : FORGE_LABEL);
		json_drop(of, "labelled");
		JSON_ADD(of, JSON_IF(!good, JSON_BOOL("labelled", true)));
	}
	tick_memory_report(&t->memory, EVENT_TICK_COMPLETED, task,
		JSON_OBJECT(JSON_TEXT("outcome", good ? "approved" : "needs-human-attention"),
			JSON_TEXT("reason", reason), JSON_IF(url, JSON_TEXT("prUrl", url)),
			JSON_IF(began && clock_parse(began, &since) == 0,
				JSON_INT("durationMs", (clock_now() - since) * 1000))));
}

/* It waits for a person: it is not stepped, and takes no slot. */
static bool is_parked(struct tick *t, const struct task *task)
{
	const char *why = tick_memory_parked(&t->memory, task);
	bool item = tick_memory_parked_item(&t->memory, task);

	if (item && !why)
		tick_memory_forget_failures(&t->memory, task);
	if (why)
		tick_add_wait(t, task, item ? "retry" : "release",
			arena_printf(t->arena, "parked: %s", why),
			arena_printf(t->arena, "dev-team %s %s", item ? "retry" : "backlog release",
				task->id));
	return why != NULL;
}

/* *again: the item has failed, and goes on. */
static int tick_add_end(
	struct tick *t, const struct task *task, const json *done, bool *again, struct error *err)
{
	struct recovery r = recovery_of(t, task);
	json *others = json_array();
	bool good = json_str_is(done, "result", "success"),
	     new = tick_memory_end(&t->memory, task, json_get_str(done, "reason"));
	const char *why = json_get_str(done, "reason"), *also,
		   *what = good ? "merge what is approved" : "failed";

	json_set(tick_memory_of(&t->memory, task), "others", others);
	if (sibling_read(t->arena, t->repo, admission_branch(t->arena, task), task->permitted.items,
		    good ? task->permitted.n : 0, others, err) < 0)
		return -1;
	also = sibling_text(t->arena, others, false);
	if (new && !good && recover_item(&r, why, again, err) < 0)
		return -1;
	if (*again)
		return 0;
	if (new)
		report_end(t, task, good, why);
	if (good && recover_pull_url(&r)) {
		admission_read_pulls(&t->backlog, &t->facts);
		if (recover_pull(&r, &t->facts, again, err) < 0)
			return -1;
	}
	if (*again || is_parked(t, task))
		return 0;
	t->open -= good;
	if (json_str_is(tick_memory_find(&t->memory, task), "pull", "merged"))
		what = "merged, but not pulled into this checkout";
	tick_add_wait(t, task, good ? "merge" : "retry",
		arena_printf(t->arena, "%s: %s%s%s", what, why, also ? "; " : "", also ? also : ""),
		good ? NULL : arena_printf(t->arena, "dev-team retry %s", task->id));
	return 0;
}

static void add_board_wait(struct tick *t, const struct task *task, const char *why)
{
	tick_add_wait(t, task, "board", why ? why : BOARD_READY,
		why ? arena_printf(t->arena, "dev-team board approve %s", task->id)
		    : "/dev-team:poll");
}

/* What a step requested is the caller's work, or is put on the board. *idle: as recover_idle(). */
static int tick_add_actions(struct tick *t, const struct task *task,
	const struct run_step_call *step, const json *actions, bool *idle, struct error *err)
{
	struct recovery r = recovery_of(t, task);
	bool queue = t->call->mode == TICK_QUEUE;
	const char *why = NULL;

	if (queue || board_has(&t->memory, task)) {
		/* Without a new one, the session that asks has taken them, or all are approved. */
		if (board_put(&t->memory, task, actions) || queue)
			why = board_refusal(&t->memory, task);
	}
	if (queue || why) {
		if (step->owner)
			run_step_release_lease(step);
		add_board_wait(t, task, why);
		return 0;
	}
	if (board_has(&t->memory, task)) /* there it may wait as long as people like */
		JSON_SET(tick_memory_of(&t->memory, task), JSON_TIME("released", clock_now()));
	if (recover_idle(&r, idle, err) < 0)
		return -1;
	if (*idle || is_parked(t, task)) {
		t->live--;
		if (!*idle && step->owner)
			run_step_release_lease(step);
		return 0;
	}
	for (const json *i = json_first(actions); i; i = json_next(i))
		json_push(t->actions, JSON_ADD(json_copy(i), JSON_TEXT("taskId", task->id)));
	return 0;
}

/* What is wrong with the call is no failure of a task. */
static int check_call(struct tick *t, struct error *err)
{
	const struct tick_call *c = t->call;

	t->step = c->like ? *c->like
			  : (struct run_step_call){.plugin_root = c->plugin_root,
				    .owner = c->owner,
				    .take_over = c->take_over,
				    .new_session = c->new_session,
				    .returned = c->returned,
				    .returned_alone = c->result != NULL}; /* it has one answer */
	t->step.id = t->step.workflow = TICK_WORKFLOW;
	t->step.context_file = t->items;
	t->step.repo = t->repo;
	t->step.own_worktree = true;
	t->step.remedy = recover_remedy;
	return run_step_resolve(t->arena, &t->step, err);
}

/* `base`: the branch that its own begins with; NULL: the default one. */
static int step_item(struct tick *t, const struct task *task, const char *base,
	const char *returned, bool *again, struct error *err)
{
	CLEANUP(json_free) json *done = NULL, *actions = json_array();
	struct run_worktree worktree = {.target = base};
	struct recovery remedies = recovery_of(t, task);
	size_t waits = json_len(t->waits);
	struct run_step_call step = t->step;
	bool ended = false, idle = false, slot;

	step.id = task->id;
	step.context_file = tick_memory_document(&t->memory, task->id);
	step.returned = returned;
	step.returned_alone &= returned && *returned; /* "": all have */
	step.worktree = base ? &worktree : NULL;
	step.spec = spec_of(t->arena, task);
	step.remedy_data = &remedies;
	step.ended = &ended;
	*again = false;
	if (run_step_shared(t->arena, &step, actions, t->waits, &done, err) < 0)
		return -1;
	if (remedies.remedy)
		recover_count(&remedies, remedies.remedy);
	slot = json_len(actions) ||
	       (t->call->mode != TICK_POLL && has_wait(t->waits, waits, false));
	t->live += slot;
	json_drop(tick_memory_of(&t->memory, task), "slot");
	JSON_ADD(tick_memory_of(&t->memory, task), JSON_IF(slot, JSON_BOOL("slot", true)));
	if (!json_len(actions) && !has_wait(t->waits, waits, true))
		(void)board_put(&t->memory, task, NULL);
	if (done)
		return tick_add_end(t, task, done, again, err);
	tick_memory_succeed(&t->memory, task);
	if (json_len(actions) && tick_add_actions(t, task, &step, actions, &idle, err) < 0)
		return -1;
	return idle ? step_item(t, task, base, "", again, err) : 0;
}

/* The playbook lets it wait for a while. */
static bool is_early(struct tick *t, const struct task *task)
{
	const char *time = tick_memory_until(&t->memory, task);

	if (time)
		json_push(t->waits, JSON_OBJECT(JSON_TEXT("item", task->id),
					    JSON_TEXT("reason", "it is tried again later"),
					    JSON_TEXT("until", time)));
	return time != NULL;
}

/* One item that cannot go on does not keep the others. */
static void try_item(struct tick *t, const struct task *task, const char *base)
{
	struct recovery r = recovery_of(t, task);
	struct error err = {0};
	bool again = false;

	t->backlog.tasks[task - t->backlog.tasks].begun = true;
	if (step_item(t, task, base, t->step.returned, &again, &err) == 0 &&
		(!again || is_early(t, task) || step_item(t, task, base, NULL, &again, &err) == 0))
		return;
	error_log("dev-team: %s: %s", task->id, err.text);
	recover_step(&r, err.text);
	(void)is_parked(t, task);
	t->fault = err;
}

/* Not one of another workflow. What is wrong with its document, its step says. */
static bool tick_has_item(struct tick *t, const struct task *task)
{
	const char *document = tick_memory_document(&t->memory, task->id), *workflow;
	struct error err;

	if (!task->begun || !path_exists(document))
		return false;
	if (run_step_workflow(t->arena, document, t->repo, &workflow, &err) < 0)
		return err.code == ERR_INPUT;
	return strcmp(workflow, TICK_WORKFLOW) == 0 ||
	       str_is(path_base(workflow), TICK_WORKFLOW ".md");
}

/* Also of a tick that was killed before it could, as soon as there is the item. */
static void report_start(struct tick *t, const struct task *task)
{
	struct triage_history before;
	struct error ignored;

	if (!json_get(tick_memory_find(&t->memory, task), "start") || !tick_has_item(t, task))
		return;
	t->dispatched++;
	if (triage_read(t->arena, t->memory.artifacts, task->id, &before, &ignored) < 0 ||
		(!before.n && triage_append(t->memory.artifacts, task->id,
				      &(struct triage){
					      .trigger = "original", .composite = task->priority},
				      &(unsigned){0}, &(bool){false}, &ignored) < 0))
		error_log("dev-team: %s has no triage: %s", task->id, ignored.text);
	tick_memory_dispatch(&t->memory, task);
	(void)tick_memory_save(&t->memory, &ignored); /* so that a kill repeats it seldom */
}

static const char *full_board(struct tick *t)
{
	const char *oldest = board_oldest(&t->memory);

	return arena_printf(t->arena, "the board is full: %zu tasks%s%s", max_of(t),
		oldest ? "; its oldest request waits since " : "", oldest ? oldest : "");
}

static bool is_mine(struct tick *t, const struct task *task)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	struct error ignored;

	return t->step.owner &&
	       context_open(&f, tick_memory_document(&t->memory, task->id), CONTEXT_READ_ONLY,
		       &ignored) == 0 &&
	       lease_read(&f, &h, &ignored) == 0 && lease_held_by(&h, t->step.owner);
}

/* Whether its item has not ended; `asks`: and a step of it would request something. */
static bool tick_is_open(struct tick *t, const char *id, bool asks)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	return context_open(&f, tick_memory_document(&t->memory, id), CONTEXT_READ_ONLY,
		       &ignored) == 0 &&
	       !failure_is(&f.doc) && !(asks && wait_is_open(&f.doc, clock_now())) &&
	       !str_is(context_get(&f.doc, "state"), "done");
}

/* Whether its item is left alone, as the board and the slots say. */
static bool is_kept(struct tick *t, const struct task *task, bool mine)
{
	bool on_board = board_has(&t->memory, task), full = t->live >= max_of(t);
	const char *why;

	switch (t->call->mode) {
	case TICK_QUEUE:
		if (!on_board && full)
			tick_add_wait(t, task, "board", full_board(t), NULL);
		return !on_board && full;
	case TICK_POLL:
		if (!on_board)
			return true;
		break;
	case TICK_CARRY_OUT:
		full = full && tick_is_open(t, task->id, true);
	}
	why = on_board ? board_refusal(&t->memory, task) : NULL;
	if (mine || (!why && !full))
		return false;
	if (t->call->mode == TICK_CARRY_OUT && !why)
		tick_add_wait(t, task, "slot", "it goes on when a slot is free", NULL);
	else
		add_board_wait(t, task, why);
	return true;
}

/* Its agents have cost what the task may cost: it is parked, unless nothing more would be asked. */
static void park_spent(struct tick *t, const struct task *task)
{
	CLEANUP(json_free) json *item = NULL;
	struct usage used;

	if (task->max_budget_usd <= 0 || !tick_has_item(t, task) ||
		!tick_is_open(t, task->id, true))
		return;
	item = status_item(tick_memory_document(&t->memory, task->id), true);
	usage_get(json_get(item, "usage"), &used);
	if (used.cost_usd >= task->max_budget_usd && !tick_memory_parked(&t->memory, task))
		tick_memory_park(&t->memory, task,
			arena_printf(t->arena,
				"its agents have cost $%.2f, and 'maxBudgetUsd' is $%.2f: raise it",
				used.cost_usd, task->max_budget_usd),
			0);
}

/* It is done: its worktree is given back, unless something in it is nowhere else. Once, since it
 * is not remembered any more. */
static void close_task(struct tick *t, const struct task *task)
{
	CLEANUP(pool_close) struct pool pool = {0};
	const char *began = json_get_str(tick_memory_find(&t->memory, task), "dispatched"),
		   *branch = admission_branch(t->arena, task);
	const struct pool_choice choice = {.repo = t->repo};
	struct recovery r = recovery_of(t, task);
	bool removed = false, before;
	struct forge_view pull;
	int64_t since, merged = 0;
	struct error err;
	json *of;

	if (!began || clock_parse(began, &since) < 0)
		return;
	of = tick_memory_of(&t->memory, task);
	before = json_get(of, "sweeping"); /* by a tick that was killed before it could report it */
	JSON_SET(of, JSON_BOOL("sweeping", true));
	pull = recover_view(&r);
	if (pull.merged && !clock_parse_rfc3339(str_of(pull.merged), &merged))
		merged = 0;
	if (!pull.missing && (!pull.state || strcmp(pull.state, "merged") == 0))
		tick_memory_report(&t->memory, EVENT_TICK_MERGED, task,
			JSON_OBJECT(JSON_TEXT("dispatchedAt", began),
				JSON_IF(merged, JSON_TIME("mergedAt", merged)),
				JSON_IF(merged,
					JSON_INT("totalLifecycleMs", (merged - since) * 1000))));
	if (tick_memory_save(&t->memory, &err) < 0 ||
		locate_pool(t->arena, &choice, &pool, &err) < 0 ||
		pool_reclaim(t->arena, &pool, branch, false, &removed, &err) < 0)
		error_log("dev-team: the worktree of %s stays: %s", task->id, err.text);
	if (removed || before)
		tick_memory_report(&t->memory, EVENT_TICK_SWEPT, task,
			JSON_OBJECT(JSON_TEXT("branch", branch)));
}

/* Those that need no new slot are stepped before the others. */
static void step_task(struct tick *t, const struct task *task, bool first)
{
	const struct task *base = task->stacked ? backlog_base(&t->backlog, task) : NULL;
	bool on_board = board_has(&t->memory, task),
	     mine = on_board ? is_mine(t, task)
			     : t->call->mode == TICK_CARRY_OUT &&
				       json_is_true(json_get(
					       tick_memory_find(&t->memory, task), "slot")),
	     old = t->call->mode == TICK_QUEUE ? on_board : mine;

	if (task->hidden || old < first || t->seen[task - t->backlog.tasks])
		return;
	t->seen[task - t->backlog.tasks] = true;
	t->n++;
	if (task->state == TASK_DONE) {
		close_task(t, task);
		json_drop(json_inner(t->memory.all, "tasks"), task_name(task));
		return;
	}
	t->open++;
	report_start(t, task);
	if (task->id)
		park_spent(t, task);
	if (task->id && is_parked(t, task)) {
		(void)board_put(&t->memory, task, NULL);
		json_drop(tick_memory_of(&t->memory, task), "slot");
	} else if (task->id && !is_early(t, task) && tick_has_item(t, task) &&
		   !is_kept(t, task, mine))
		try_item(t, task, base ? admission_branch(t->arena, base) : NULL);
}

/* ---- tasks that begin ---- */

int tick_check_enabled(struct error *err)
{
	return env_is_off("AI_SDLC_AUTONOMOUS_ORCHESTRATOR")
		       ? error_set(err, ERR_STATE,
				 "AI_SDLC_AUTONOMOUS_ORCHESTRATOR switches the orchestrator off: "
				 "unset it")
		       : 0;
}

int tick_candidates(
	const struct backlog *b, const char *id, struct task_list *out, struct error *err)
{
	const struct task *task;

	if (!id) {
		backlog_frontier(b, backlog_order(), true, out);
		return 0;
	}
	*out = (struct task_list){0};
	for (struct str rest = str_of(id), one; str_next_item(&rest, &one);) {
		if (backlog_require(b, arena_dup(b->arena, one), &task, err) < 0)
			return -1;
		vec_push_in(b->arena, out, task);
	}
	return 0;
}

static int try_candidate(struct tick *t, const struct task *task, struct error *err)
{
	CLEANUP(admission_release) struct admission d = {0};

	if (tick_memory_hold(&t->memory, task))
		return 0;
	t->candidates++;
	admission_decide(&t->facts, task, &d);
	if (d.refused || d.failed) {
		if (tick_has_item(t, task))
			return 0;
		t->rejected++;
		tick_memory_reject(&t->memory, &d);
		tick_add_wait(t, task, "admission", d.refused ? d.refused : d.reason, NULL);
		return 0;
	}
	if (tick_memory_begin(&t->memory, &d, err) < 0)
		return -1;
	try_item(t, task, d.base);
	report_start(t, task);
	return 0;
}

/* Tasks for which there is no room. */
static void add_full(struct tick *t, const struct task_list *list)
{
	for (size_t i = 0; i < list->n && t->call->mode == TICK_QUEUE; i++)
		if (!tick_memory_parked(&t->memory, list->items[i]) &&
			!tick_has_item(t, list->items[i]))
			tick_add_wait(t, list->items[i], "board", full_board(t), NULL);
}

/* What keeps one item from its first step probably keeps all. */
static int tick_admit(struct tick *t, struct error *err)
{
	size_t max = max_of(t), i = 0;
	struct task_list list = t->begin;
	bool blocked;

	if (!list.n || !t->open)
		return 0;
	if (t->live < max && admission_gather(&t->backlog, &t->facts, err) < 0)
		return -1;
	/* Without the program it is said once, as the first step of an item says it. */
	if (t->facts.pulls_fault && !json_get(t->memory.all, "idle") &&
		!path_find_program(t->arena, "gh", &blocked) && !tick_has_item(t, list.items[0]) &&
		!run_has_other_items(t->arena, tick_memory_document(&t->memory, list.items[0]->id)))
		error_log("the open pull requests are not known: %s", t->facts.pulls_fault);
	for (; i < list.n && t->live < max && !t->fault.code; i++)
		if (try_candidate(t, list.items[i], err) < 0)
			return -1;
	list.items += i;
	list.n -= i;
	add_full(t, &list);
	return 0;
}

/* ---- the result ---- */

/* Tasks that are not on the frontier, and have no item. */
static void add_waiting(struct tick *t)
{
	for (size_t i = 0; i < t->backlog.n && !t->call->task; i++) {
		const struct task *task = &t->backlog.tasks[i];

		if (task->hidden || task->state == TASK_READY || task->state == TASK_STACKED ||
			task->state == TASK_DONE || (task->id && tick_has_item(t, task)) ||
			tick_memory_parked(&t->memory, task))
			continue;
		tick_add_wait(t, task, "admission", tick_waiting_reason(&t->backlog, task), NULL);
	}
}

/* Begun tasks whose file is gone, since the checkout is at another branch for example. */
static void tick_add_lost(struct tick *t)
{
	const json *of = json_first(json_get(t->memory.all, "tasks"));

	for (; of && !t->call->task; of = json_next(of)) {
		const struct task lost = {.id = json_key(of)};

		if (backlog_find(&t->backlog, lost.id) || !tick_is_open(t, lost.id, false))
			continue;
		t->open++;
		tick_add_wait(t, &lost, "admission",
			"its task file is gone: put it back, or end it",
			arena_printf(t->arena, "dev-team cancel %s", lost.id));
	}
}

/* The unattended loop reports each once, and each loop what waits for a release. */
static void report_failures(struct tick *t)
{
	for (const json *w = json_first(t->waits); w; w = json_next(w)) {
		const char *reason = json_get_str(w, "reason");
		bool released = json_str_is(w, "for", "release");
		const struct task *task;
		json *of;

		if (!(released || json_str_is(w, "for", "retry")) ||
			!(task = backlog_find(&t->backlog, json_get_str(w, "item"))))
			continue;
		of = tick_memory_of(&t->memory, task);
		if ((released || t->call->like) && json_str_is(of, "reported", reason))
			continue;
		JSON_SET(of, JSON_TEXT("reported", reason));
		error_log("dev-team: %s %s: %s", task->id, reason, json_get_str(w, "continue"));
	}
}

static void print_end(struct tick *t, struct buf *out, int *status)
{
	CLEANUP(json_free) json *array = json_array();

	tick_add_lost(t);
	*status = t->open ? TICK_IDLE : TICK_FINISHED;
	if (t->open && t->call->mode == TICK_POLL && !json_len(t->waits))
		json_push(t->waits, JSON_OBJECT(JSON_TEXT("item", "board"),
					    JSON_TEXT("reason", "nothing is on it"),
					    JSON_TEXT("for", "board")));
	else if (t->open && t->call->mode != TICK_POLL)
		add_waiting(t);
	json_push(array,
		t->open ? JSON_ADD(run_waiting(t->waits, t->unlisted),
				  JSON_IF(!t->call->like,
					  JSON_INT("next_s",
						  tick_interval(TICK_INTERVAL_S,
							  json_get_int(t->memory.all, "idle", 0)))))
			: JSON_OBJECT(JSON_TEXT("action", "done"), JSON_TEXT("result", "success"),
				  JSON_TEXT("reason",
					  arena_printf(t->arena, "%zu of %zu tasks are finished",
						  t->n, t->n))));
	json_print(out, array);
}

static void note_tick(struct tick *t)
{
	bool idle = !json_len(t->actions) && !t->dispatched && !t->fault.code;

	json_drop(t->memory.all, "gateFailures");
	if (t->dispatched || (idle && !json_get(t->memory.all, "idle")))
		tick_memory_report(&t->memory, EVENT_TICK, NULL,
			JSON_OBJECT(JSON_INT("candidates", t->candidates),
				JSON_INT("dispatched", t->dispatched)));
	tick_memory_idle(&t->memory, idle, t->rejected);
	tick_memory_sweep(&t->memory, &t->backlog);
}

static int run_gate(struct tick *t, struct error *err)
{
	struct dispatch_place place = {t->repo, t->step.plugin_root, t->items, t->memory.artifacts};

	if (playbook_load(t->arena, t->repo, &t->playbook, err) < 0)
		return -1;
	if (t->call->result && dispatch_take(t->arena, &place, &t->memory, t->call->result,
				       &t->step.returned, err) < 0)
		return -1;
	t->gate = true;
	if (backlog_read(t->arena, t->repo, &t->backlog, err) < 0 ||
		admission_find_items(&t->backlog, t->items, err) < 0 ||
		tick_candidates(&t->backlog, t->call->task, &t->begin, err) < 0)
		return -1;
	t->gate = false;
	tick_memory_name(&t->memory, &t->backlog);
	t->seen = arena_alloc(t->arena, t->backlog.n + 1);
	memset(t->seen, t->call->task != NULL, t->backlog.n);
	for (size_t i = 0; t->call->task && i < t->begin.n; i++)
		t->seen[t->begin.items[i] - t->backlog.tasks] = false;
	for (size_t i = 0; i < 2 * t->backlog.n; i++)
		step_task(t, &t->backlog.tasks[i % t->backlog.n], i < t->backlog.n);
	t->gate = true;
	if (t->call->mode != TICK_POLL && tick_admit(t, err) < 0)
		return -1;
	t->gate = false;
	board_sweep(&t->memory, &t->backlog);
	return dispatch_emit(t->arena, &place, t->call->like ? NULL : t->actions, err);
}

int tick(struct arena *a, const struct tick_call *call, struct buf *out, int *status,
	struct error *err)
{
	CLEANUP(tick_free)
	struct tick t = {.arena = a, .call = call, .actions = json_array(), .waits = json_array()};
	int rc;

	*status = 0;
	/* Two ticks must not fill one slot. */
	if (run_place_repository(a, call->repo, NULL, &t.repo, err) < 0 ||
		status_directory(a, t.repo, &t.items, err) < 0 || check_call(&t, err) < 0 ||
		tick_memory_open(a, t.repo, t.items, &t.memory, err) < 0)
		return -1;
	rc = run_gate(&t, err);
	if (rc < 0 && t.gate && err->code == ERR_SYSTEM) {
		*status = TICK_GATE_FAILED;
		if (tick_memory_count(t.memory.all, "gateFailures") == 1)
			tick_memory_report(&t.memory, EVENT_TICK_GATE_FAILED, NULL,
				JSON_OBJECT(
					JSON_TEXT("reason", err->text), JSON_INT("failures", 1)));
	} else if (rc == 0) {
		if (call->passed)
			*call->passed = true;
		note_tick(&t);
		report_failures(&t);
	}
	if (tick_memory_save(&t.memory, rc < 0 ? &(struct error){0} : err) < 0 || rc < 0)
		return -1;
	if (json_len(t.actions)) {
		json_print(out, t.actions);
		return 0;
	}
	if (t.fault.code) {
		*err = t.fault;
		return -1;
	}
	print_end(&t, out, status);
	return 0;
}
