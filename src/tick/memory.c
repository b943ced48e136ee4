#include "context/file.h"
#include "src/base/clock.h"
#include "src/machine/failure.h"
#include "src/run/locate.h"
#include "src/store/disk.h"
#include "src/sys/path.h"
#include "src/run/status.h"
#include "src/tick/memory.h"
#include "src/tick/tick.h"

enum { LOCK_WAIT_MS = 60000, MEMORY_MAX = 64 << 20 };

int64_t tick_memory_count(json *of, const char *key)
{
	int64_t n = json_get_int(of, key, 0);

	n = n < TICK_COUNT_MAX ? n + 1 : n;
	JSON_SET(of, JSON_INT(key, n));
	return n;
}

static int read_memory(struct tick_memory *m, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error why;

	if (!path_exists(m->path)) {
		m->all = JSON_OBJECT(JSON_VALUE("tasks", json_object()));
		return 0;
	}
	if (sys_read_file(&text, m->path, MEMORY_MAX, NULL, err) < 0)
		return -1;
	if (json_parse(&m->all, buf_str(&text), &why) < 0 ||
		!json_is_object(json_get(m->all, "tasks")))
		return error_set(err, ERR_STATE,
			"'%s' is damaged: remove it; then all counters begin at 0", m->path);
	return 0;
}

int tick_memory_open(struct arena *a, const char *repo, const char *items, struct tick_memory *m,
	struct error *err)
{
	*m = (struct tick_memory){.arena = a, .path = path_join(a, items, ".tick.json")};
	if (locate_artifacts(a, NULL, repo, &m->artifacts, err) < 0 ||
		path_mkdirs(items, err) < 0 ||
		disk_lock_take(&m->lock, path_join(a, items, ".tick.lock"), LOCK_WAIT_MS, err) <
			0 ||
		read_memory(m, err) < 0) {
		tick_memory_close(m);
		return -1;
	}
	m->tick = json_get_int(m->all, "tick", 0) + 1;
	return 0;
}

int tick_memory_look(struct arena *a, const char *items, struct tick_memory *m, struct error *err)
{
	*m = (struct tick_memory){.arena = a, .path = path_join(a, items, ".tick.json")};
	return read_memory(m, err);
}

int tick_memory_save(struct tick_memory *m, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	JSON_SET(m->all, JSON_INT("tick", m->tick));
	json_print(&text, m->all);
	buf_addc(&text, '\n');
	return disk_replace(disk_real(), ".tmp", m->path, buf_str(&text), err);
}

void tick_memory_close(struct tick_memory *m)
{
	json_free(&m->all);
	disk_lock_drop(&m->lock);
}

/* ---- what is remembered of a task ---- */

json *tick_memory_of(struct tick_memory *m, const struct task *t)
{
	return json_inner(json_inner(m->all, "tasks"), task_name(t));
}

const json *tick_memory_find(const struct tick_memory *m, const struct task *t)
{
	return json_get(json_get(m->all, "tasks"), task_name(t));
}

const char *tick_memory_document(const struct tick_memory *m, const char *id)
{
	struct str dir = path_dir(m->path);

	return arena_printf(m->arena, "%.*s/%s.md", (int)dir.n, dir.p, id);
}

const char *tick_memory_parked(const struct tick_memory *m, const struct task *t)
{
	CLEANUP(context_close) struct context_file f = {0};
	const json *of = tick_memory_find(m, t);
	struct error ignored;

	if (!json_get(of, "parked") || (tick_memory_parked_item(m, t) &&
					       context_open(&f, tick_memory_document(m, t->id),
						       CONTEXT_READ_ONLY, &ignored) == 0 &&
					       !failure_is(&f.doc)))
		return NULL;
	return json_get_str(of, "failure");
}

const char *tick_memory_until(const struct tick_memory *m, const struct task *t)
{
	const char *time = json_get_str(tick_memory_find(m, t), "notBefore");
	int64_t until;

	return time && clock_parse(time, &until) == 0 && until > clock_now() ? time : NULL;
}

const char *tick_memory_hold(const struct tick_memory *m, const struct task *t)
{
	const char *parked = tick_memory_parked(m, t);

	return parked                    ? arena_printf(m->arena, "parked: %s", parked)
	       : tick_memory_until(m, t) ? "it is tried again later"
					 : NULL;
}

void tick_memory_name(const struct tick_memory *m, struct backlog *b)
{
	for (const json *of = json_first(json_get(m->all, "tasks")); of; of = json_next(of)) {
		const struct task *t = backlog_find(b, json_key(of));

		if (t && (json_get(of, "dispatched") || t->id_line == 1))
			b->tasks[t - b->tasks].id = arena_dup(b->arena, str_of(json_key(of)));
	}
}

/* ---- events ---- */

void tick_memory_report(struct tick_memory *m, enum event_id id, const struct task *t, json *fields)
{
	struct error err;

	json_put_int(fields, "tick", m->tick);
	if (event_report(m->artifacts, id, t ? t->id : NULL, NULL, fields, &err) < 0)
		error_log("dev-team: an event was not written: %s", err.text);
}

static const char *const of_rejection[] = {"filter", "reason", "since", "rejected", NULL};
static const char *const of_failures[] = {"failures", "ends", "failure", "parked", "item",
	"remedies", "notBefore", "requeues", "pull", "reported", NULL};

static void memory_forget(json *of, const char *const *keys)
{
	for (; *keys; keys++)
		json_drop(of, *keys);
}

void tick_memory_reject(struct tick_memory *m, const struct admission *d)
{
	json *of = tick_memory_of(m, d->task);
	const char *filter = d->failed ? d->failed->name : "status",
		   *reason = d->failed ? d->reason : d->refused;
	int64_t n;

	m->news |= !json_get(of, "reason");
	if (!json_str_is(of, "reason", reason) || !json_str_is(of, "filter", filter)) {
		JSON_SET(of, JSON_TEXT("filter", filter), JSON_TEXT("reason", reason),
			JSON_TIME("since", clock_now()));
		if (d->failed)
			tick_memory_report(m, d->failed->event, d->task, admission_event_fields(d));
	}
	n = tick_memory_count(of, "rejected");
	if (n == TICK_STUCK + 1)
		tick_memory_report(m, EVENT_TICK_STUCK, d->task,
			JSON_OBJECT(
				JSON_TEXT("reason", filter), JSON_INT("ticksSinceFirstSkip", n)));
}

int tick_memory_begin(struct tick_memory *m, const struct admission *d, struct error *err)
{
	json_set(tick_memory_of(m, d->task), "start",
		JSON_OBJECT(JSON_VALUE("trace", admission_trace(d)),
			JSON_IF(d->base, JSON_TEXT("base", d->base))));
	return tick_memory_save(m, err);
}

void tick_memory_dispatch(struct tick_memory *m, const struct task *t)
{
	json *of = tick_memory_of(m, t);
	bool slot = json_is_true(json_get(of, "slot"));

	memory_forget(of, of_rejection);
	tick_memory_report(m, EVENT_TICK_DISPATCHED, t, json_copy(json_get(of, "start")));
	json_drop(of, "start");
	json_drop(of, "slot"); /* in one order, also where a tick was killed before this */
	JSON_SET(of, JSON_TIME("dispatched", clock_now()), JSON_IF(slot, JSON_BOOL("slot", true)));
}

void tick_memory_park(
	struct tick_memory *m, const struct task *t, const char *reason, int64_t failures)
{
	json *of = tick_memory_of(m, t);

	json_drop(of, "item");
	JSON_SET(of, JSON_TEXT("failure", reason), JSON_TIME("parked", clock_now()));
	tick_memory_report(m, EVENT_TICK_PARKED, t,
		JSON_OBJECT(JSON_TEXT("reason", reason), JSON_INT("failures", failures)));
}

void tick_memory_fail(struct tick_memory *m, const struct task *t, const char *mode,
	const char *reason, unsigned what)
{
	json *of = tick_memory_of(m, t);
	bool item = what & TICK_ITEM_FAILED;
	const char *url = json_get_str(of, "prUrl");
	int64_t n = tick_memory_count(of, item ? "ends" : "failures"),
		max = item ? TICK_ENDS_MAX : TICK_FAILURES_MAX;

	JSON_SET(of, JSON_TEXT("failure", reason));
	tick_memory_report(m, EVENT_TICK_FAILED, t,
		JSON_OBJECT(JSON_TEXT("mode", mode), JSON_TEXT("reason", reason),
			JSON_INT("failures", n), JSON_IF(url, JSON_TEXT("prUrl", url))));
	if (json_get(of, "parked") || (n < max && !(what & TICK_HOPELESS)))
		return;
	tick_memory_park(m, t, reason, n);
	JSON_ADD(of, JSON_IF(item, JSON_BOOL("item", true)));
}

bool tick_memory_parked_item(const struct tick_memory *m, const struct task *t)
{
	return json_is_true(json_get(tick_memory_find(m, t), "item"));
}

void tick_memory_forget_failures(struct tick_memory *m, const struct task *t)
{
	memory_forget(tick_memory_of(m, t), of_failures);
}

void tick_memory_succeed(struct tick_memory *m, const struct task *t)
{
	memory_forget(
		tick_memory_of(m, t), (const char *const[]){"failures", "ended", "pull", NULL});
}

bool tick_memory_end(struct tick_memory *m, const struct task *t, const char *reason)
{
	json *of = tick_memory_of(m, t);

	if (json_str_is(of, "ended", reason))
		return false;
	JSON_SET(of, JSON_TEXT("ended", reason), JSON_TIME("endedAt", clock_now()));
	return true;
}

void tick_memory_idle(struct tick_memory *m, bool idle, size_t rejected)
{
	if (!idle || (m->news && json_get(m->all, "idle")))
		json_drop(m->all, "idle");
	else if (tick_memory_count(m->all, "idle") == 1)
		tick_memory_report(m,
			rejected ? EVENT_TICK_IDLE_ALL_FILTERED : EVENT_TICK_IDLE_NO_WORK, NULL,
			JSON_OBJECT(JSON_INT("idleStreak", 1),
				JSON_IF(rejected, JSON_INT("rejectedCount", rejected))));
}

bool tick_memory_is_gone(const struct tick_memory *m, const struct backlog *b, const char *id)
{
	return !backlog_find(b, id) && b->n == b->n_named &&
	       !path_exists(tick_memory_document(m, id));
}

void tick_memory_sweep(struct tick_memory *m, const struct backlog *b)
{
	json *tasks = json_inner(m->all, "tasks"), *next;

	for (json *of = (json *)(uintptr_t)json_first(tasks); of; of = next) {
		const struct task *t = backlog_find(b, json_key(of));

		next = (json *)(uintptr_t)json_next(of);
		if (t && t->state != TASK_READY && t->state != TASK_STACKED)
			memory_forget(of, of_rejection);
		if (!json_len(of) || tick_memory_is_gone(m, b, json_key(of)))
			json_remove(tasks, of);
	}
}

/* ---- release ---- */

int tick_memory_edit(struct arena *a, const char *repo, struct backlog *b, struct tick_memory *m,
	const char **items, struct error *err)
{
	if (status_directory(a, repo, items, err) < 0 || backlog_read(a, repo, b, err) < 0 ||
		tick_memory_open(a, repo, *items, m, err) < 0)
		return -1;
	tick_memory_name(m, b);
	m->tick--;
	return 0;
}

static void release_one(struct tick_memory *m, const struct task *t, size_t *n)
{
	json *of = tick_memory_of(m, t);

	if (json_get(of, "parked")) {
		++*n;
		tick_memory_report(m, EVENT_TICK_RELEASED, t,
			JSON_OBJECT(JSON_TEXT("reason", json_get_str(of, "failure"))));
		JSON_SET(of, JSON_TIME("released", clock_now()));
	}
	memory_forget(of, of_failures);
}

int tick_release(struct arena *a, const char *repo, const char *task, size_t *n, struct error *err)
{
	CLEANUP(tick_memory_close) struct tick_memory m = {0};
	const struct task *one = NULL;
	const char *items;
	struct backlog b;

	*n = 0;
	if (tick_memory_edit(a, repo, &b, &m, &items, err) < 0 ||
		(task && backlog_require(&b, task, &one, err) < 0))
		return -1;
	for (size_t i = 0; i < b.n; i++)
		if ((!one || one == &b.tasks[i]) && !b.tasks[i].hidden)
			release_one(&m, &b.tasks[i], n);
	tick_memory_sweep(&m, &b);
	return tick_memory_save(&m, err);
}

/* ---- status ---- */

const char *tick_waiting_reason(struct backlog *b, const struct task *t)
{
	const char *refusal = task_refusal(b->arena, t);

	if (refusal)
		return refusal;
	if (t->state == TASK_STARTED)
		return "it is in progress";
	for (size_t i = 0; i < t->n_dependencies && t->state == TASK_WAITING; i++) {
		const struct task_dependency *d = &t->dependencies[i];

		if (d->task == TASK_NONE)
			return arena_printf(b->arena, "needs '%s', which does not exist", d->id);
		if (b->tasks[d->task].state != TASK_DONE)
			return arena_printf(b->arena, "waits for '%s'", d->id);
	}
	if (!t->dispatchable || t->blocked)
		return t->dispatchable ? t->blocked : t->not_dispatchable_reason;
	return "the next tick with a free slot looks at it";
}
