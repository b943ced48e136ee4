/* admission.c: the filters, in their order, and the trace of a decision. */
#include <ctype.h>
#include <strings.h>
#include "src/tick/admission.h"

enum { SHOWN_MAX = 5, OVERLAP_SHOWN = 3 };

struct admission_case {
	const struct admission_facts *facts;
	const struct task *task;
	struct arena *arena;
	struct admission *out;
};

static const char *detail(struct admission_case *c, const char *reason, json *j)
{
	c->out->detail = j;
	return reason;
}

/* The first ids of a list, for a reason. */
static const char *first_ids(struct arena *a, const struct task_list *list)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (size_t i = 0; i < list->n && i < SHOWN_MAX; i++)
		buf_addf(&out, "%s%s", i ? ", " : "", task_name(list->items[i]));
	return arena_dup(a, buf_str(&out));
}

/* ---- branches ---- */

const char *admission_branch(struct arena *a, const struct task *t)
{
	return arena_printf(a, "dev-team/%s", t->id);
}

const struct task *admission_branch_task(const struct backlog *b, const char *branch)
{
	const char *slash = strrchr(branch, '/');
	char id[160];
	int n = snprintf(id, sizeof(id), "%s", slash ? slash + 1 : branch);

	for (char *end = id + (n < (int)sizeof(id) ? n : 0); end > id;) {
		const struct task *t = backlog_find(b, id);

		if (t)
			return t;
		while (end > id && *--end != '-')
			;
		*end = '\0';
	}
	return NULL;
}

static const struct forge_open_pull *tick_admission_find_pull(
	const struct admission_case *c, const struct task *t, const char *branch)
{
	for (size_t i = 0; i < c->facts->pulls.n; i++) {
		const struct forge_open_pull *p = &c->facts->pulls.items[i];

		if (branch ? strcmp(p->branch, branch) == 0
			   : admission_branch_task(c->facts->backlog, p->branch) == t)
			return p;
	}
	return NULL;
}

/* ---- the filters ---- */

static const char *open_pull_exists(struct admission_case *c)
{
	const char *branch = admission_branch(c->arena, c->task);
	const struct forge_open_pull *p = tick_admission_find_pull(c, NULL, branch);

	if (!p)
		return NULL;
	return detail(c,
		arena_printf(c->arena, "open PR #%lld %s (%s) already exists for branch %s",
			(long long)p->number, p->url ? p->url : "", p->draft ? "draft" : "open",
			branch),
		JSON_OBJECT(JSON_TEXT("kind", "open-pull-request-exists"),
			JSON_INT("prNumber", p->number), JSON_BOOL("isDraft", p->draft),
			JSON_TEXT("branchName", branch),
			JSON_IF(p->url, JSON_TEXT("prUrl", p->url))));
}

/* A parent whose children are all done needs closing, not work. */
static const char *orphan_parent(struct admission_case *c)
{
	const struct backlog *b = c->facts->backlog;
	struct task_list done = {0};

	for (size_t i = 0; !c->task->parent.id && i < b->n; i++) {
		const struct task *t = &b->tasks[i];

		if (t == c->task || t->hidden || !t->parent.id ||
			!task_same_id(t->parent.id, c->task->id))
			continue;
		if (t->state != TASK_DONE)
			return NULL;
		vec_push_in(c->arena, &done, t);
	}
	if (!done.n)
		return NULL;
	return detail(c,
		arena_printf(c->arena,
			"orphan-parent-needs-closure (%zu completed child%s, no open: %s)", done.n,
			done.n == 1 ? "" : "ren", first_ids(c->arena, &done)),
		JSON_OBJECT(JSON_TEXT("kind", "orphan-parent-needs-closure"),
			JSON_VALUE("completedChildren", backlog_ids_json(&done))));
}

static const char *in_flight(
	struct admission_case *c, const char *text, const char *signal, struct json_member extra)
{
	return detail(c, arena_printf(c->arena, "already in flight: %s", text),
		JSON_OBJECT(JSON_TEXT("kind", "already-in-flight"), JSON_TEXT("signal", signal),
			JSON_TEXT("description", text), extra));
}

/* The id in a command line, not followed by a digit. */
static bool names_id(const char *command, const char *id)
{
	size_t n = strlen(id);

	for (; *command; command++)
		if (strncasecmp(command, id, n) == 0 && !isdigit((unsigned char)command[n]))
			return true;
	return false;
}

static const struct admission_sign *find_sign(
	const struct admission_sign *list, size_t n, const struct task *t)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].task == t)
			return &list[i];
	return NULL;
}

static const char *already_in_flight(struct admission_case *c)
{
	const struct admission_facts *f = c->facts;
	const struct forge_open_pull *p = tick_admission_find_pull(c, c->task, NULL);
	const struct admission_sign *sign = find_sign(f->worktrees.items, f->worktrees.n, c->task);

	if (p)
		return in_flight(c, arena_printf(c->arena, "PR #%lld open", (long long)p->number),
			"open-pr", JSON_INT("prNumber", p->number));
	if (sign)
		return in_flight(c, "active worktree", "active-worktree",
			JSON_TEXT("worktreePath", sign->where));
	sign = find_sign(f->items.items, f->items.n, c->task);
	if (sign)
		return in_flight(c,
			arena_printf(c->arena, "its work item is in the state '%s'", sign->where),
			"work-item", JSON_TEXT("state", sign->where));
	for (size_t i = 0; i < f->processes.n; i++)
		if (names_id(f->processes.items[i].command, c->task->id))
			return in_flight(c,
				arena_printf(c->arena, "live subprocess PID %d",
					(int)f->processes.items[i].pid),
				"live-subprocess",
				JSON_INT("subprocessPid", f->processes.items[i].pid));
	return NULL;
}

/* A stacked task starts on the open branch of the one task that it waits for. */
static bool is_stacked_on(struct admission_case *c)
{
	const struct task *base = backlog_base(c->facts->backlog, c->task);
	const struct forge_open_pull *p = base ? tick_admission_find_pull(c, base, NULL) : NULL;

	c->out->base = p ? p->branch : NULL;
	return p != NULL;
}

static const char *dependency_readiness(struct admission_case *c)
{
	const char *missing = NULL, *reason;
	struct task_list blockers;

	for (size_t k = 0; !missing && k < c->task->n_dependencies; k++)
		if (c->task->dependencies[k].task == TASK_NONE)
			missing = c->task->dependencies[k].id;
	backlog_blockers(c->facts->backlog, c->task, &blockers);
	if ((!blockers.n && !missing) || (!missing && is_stacked_on(c)))
		return NULL;
	reason = missing ? arena_printf(c->arena, "dependency '%s' does not exist", missing)
			 : arena_printf(c->arena, "%zu blocker(s) still open: %s", blockers.n,
				   first_ids(c->arena, &blockers));
	return detail(c, reason,
		JSON_OBJECT(JSON_TEXT("kind", "dependency-blocked"),
			JSON_VALUE("blockers", backlog_ids_json(&blockers)),
			JSON_IF(missing, JSON_TEXT("missing", missing))));
}

/* A path that ends with `/` is a directory: what begins with it is in it. */
static bool paths_meet(const char *one, const char *other)
{
	size_t m = strlen(one), n = strlen(other);

	return strcmp(one, other) == 0 || (one[m - 1] == '/' && strncmp(one, other, m) == 0) ||
	       (other[n - 1] == '/' && strncmp(one, other, n) == 0);
}

/* Why it must not be started beside `other`, which is in flight. */
static const char *tick_admission_meets(struct admission_case *c, const struct task *other)
{
	CLEANUP(buf_release) struct buf shown = BUF_INIT;
	json *list;
	size_t n = 0;

	if (!other || other == c->task || other->state == TASK_DONE)
		return NULL;
	list = json_array();
	for (size_t i = 0; i < c->task->references.n; i++) {
		const char *path = c->task->references.items[i];
		size_t k = 0;

		while (k < other->references.n && !paths_meet(path, other->references.items[k]))
			k++;
		if (k == other->references.n || ++n > OVERLAP_SHOWN)
			continue;
		buf_addf(&shown, "%s%s", n > 1 ? ", " : "", path);
		json_push_str(list, str_of(path));
	}
	if (n > OVERLAP_SHOWN)
		buf_addf(&shown, "… (+%zu more)", n - OVERLAP_SHOWN);
	if (!n) {
		json_free(&list);
		return NULL;
	}
	return detail(c,
		arena_printf(
			c->arena, "blast-radius overlap with in-flight %s: %s", other->id, shown.s),
		JSON_OBJECT(JSON_TEXT("kind", "blast-radius-overlap"),
			JSON_TEXT("inFlightTaskId", other->id), JSON_VALUE("overlap", list),
			JSON_INT("overlapCount", n)));
}

static const char *blast_radius(struct admission_case *c)
{
	const struct admission_facts *f = c->facts;
	const char *reason = NULL;

	if (f->ignore_overlap ||
		(f->ignore_overlap_of && task_same_id(f->ignore_overlap_of, c->task->id)))
		return NULL;
	for (size_t i = 0; !reason && i < f->pulls.n; i++)
		reason = tick_admission_meets(
			c, admission_branch_task(f->backlog, f->pulls.items[i].branch));
	for (size_t i = 0; !reason && i < f->worktrees.n; i++)
		reason = tick_admission_meets(c, f->worktrees.items[i].task);
	for (size_t i = 0; !reason && i < f->items.n; i++)
		reason = tick_admission_meets(c, f->items.items[i].task);
	for (size_t i = 0; !reason && i < f->started.n; i++)
		reason = tick_admission_meets(c, f->started.items[i]);
	return reason;
}

static const char *dispatchability(struct admission_case *c)
{
	const char *why = c->task->not_dispatchable_reason;

	if (c->task->dispatchable)
		return NULL;
	return detail(c, why,
		JSON_OBJECT(JSON_TEXT("kind", "not-dispatchable"),
			JSON_TEXT("dispatchableReason", why)));
}

static const char *dor_readiness(struct admission_case *c)
{
	const struct admission_readiness *last = NULL;

	for (size_t i = 0; i < c->facts->readiness.n; i++)
		if (task_same_id(c->facts->readiness.items[i].task, c->task->id))
			last = &c->facts->readiness.items[i];
	for (size_t i = 0; i < c->task->labels.n; i++)
		if (task_same_id(c->task->labels.items[i], "dor-bypass"))
			return NULL;
	if (!last || !last->verdict || strcmp(last->verdict, "needs-clarification") != 0 ||
		(last->outcome && strcmp(last->outcome, "override") == 0))
		return NULL;
	return detail(c,
		arena_printf(c->arena, "latest verdict=%s (signedAt=%s)", last->verdict,
			last->signed_at ? last->signed_at : "unknown"),
		JSON_OBJECT(JSON_TEXT("kind", "dor-blocked"), JSON_TEXT("verdict", last->verdict),
			JSON_IF(last->signed_at, JSON_TEXT("signedAt", last->signed_at))));
}

static bool is_cleared(const struct admission_case *c, const char *id)
{
	for (size_t i = 0; i < c->facts->cleared.n; i++)
		if (task_same_id(c->facts->cleared.items[i].task, c->task->id) &&
			strcmp(c->facts->cleared.items[i].of, id) == 0)
			return true;
	return false;
}

static const char *external_dependencies(struct admission_case *c)
{
	CLEANUP(buf_release) struct buf ids = BUF_INIT;
	json *blocking = json_array(), *all = json_array();
	size_t n = 0;

	for (size_t i = 0; i < c->task->n_external; i++) {
		const struct task_external *e = &c->task->external[i];

		json_push(all, JSON_OBJECT(JSON_TEXT("id", e->id), JSON_TEXT("kind", e->kind)));
		if (strcmp(e->kind, "manual") != 0 || is_cleared(c, e->id))
			continue;
		json_push(
			blocking, JSON_OBJECT(JSON_TEXT("id", e->id), JSON_TEXT("kind", e->kind)));
		buf_addf(&ids, "%s%s", n++ ? ", " : "", e->id);
	}
	if (!n) {
		json_free(&all);
		json_free(&blocking);
		return NULL;
	}
	return detail(c,
		arena_printf(c->arena, "%zu manual external dep(s) unresolved: %s", n, ids.s),
		JSON_OBJECT(JSON_TEXT("kind", "awaiting-external"),
			JSON_VALUE("externalDeps", blocking), JSON_VALUE("allExternalDeps", all)));
}

static const char *blocked(struct admission_case *c)
{
	const struct task *t = c->task;

	if (!t->blocked)
		return NULL;
	return detail(c, t->blocked,
		JSON_OBJECT(JSON_TEXT("kind", "blocked"), JSON_TEXT("reason", t->blocked),
			JSON_IF(t->blocked_until && *t->blocked_until,
				JSON_TEXT("until", t->blocked_until)),
			JSON_IF(t->unblocked_by && *t->unblocked_by,
				JSON_TEXT("unblockedBy", t->unblocked_by))));
}

static const char *captures_pending(struct admission_case *c)
{
	size_t i = 0;

	while (i < c->facts->captures.n && !task_same_id(c->facts->captures.items[i], c->task->id))
		i++;
	if (i == c->facts->captures.n)
		return NULL;
	return detail(c,
		arena_printf(c->arena, "task %s has pending captures (triage=tbd): decide on them",
			c->task->id),
		JSON_OBJECT(JSON_TEXT("kind", "captures-pending"),
			JSON_TEXT("capturedFor", c->task->id)));
}

const struct admission_filter admission_filters[ADMISSION_FILTERS] = {
	{"OpenPullRequestExists", "Open-PR-by-branch check", "open pull requests", false,
		EVENT_TICK_OPEN_PULL_REQUEST, open_pull_exists},
	{"OrphanParent", "Orphan-parent check", "the backlog", false, EVENT_TICK_ORPHAN_PARENT,
		orphan_parent},
	{"AlreadyInFlight", "Already-in-flight check",
		"open pull requests, worktrees, work items, processes", false, EVENT_TICK_IN_FLIGHT,
		already_in_flight},
	{"DependencyReadiness", "Dependency check", "the backlog; open pull requests if stacked",
		true, EVENT_TICK_DEPENDENCY, dependency_readiness},
	{"BlastRadiusOverlap", "Blast-radius overlap check",
		"references of the task and of those in flight", false, EVENT_TICK_OVERLAP,
		blast_radius},
	{"Dispatchability", "Dispatchability check", "the task", false, EVENT_TICK_DISPATCHABILITY,
		dispatchability},
	{"DorReadiness", "DoR readiness", "the calibration log", false, EVENT_TICK_DOR,
		dor_readiness},
	{"ExternalDependencies", "External deps", "the task; what was cleared", true,
		EVENT_TICK_EXTERNAL, external_dependencies},
	{"Blocked", "Operator-blocked check", "the task", false, EVENT_TICK_BLOCKED, blocked},
	{"CapturesPending", "Captures-pending check", "undecided captures", false,
		EVENT_TICK_CAPTURES, captures_pending},
};

/* ---- decisions ---- */

/* Where work begins there must be the task, so that the branch can finish it. */
static const char *admission_find_unpushed(const struct admission_case *c)
{
	const struct git_default *start = &c->facts->start;
	const char *id = "";
	struct error err;

	if (start->commit && git_read_file_id(c->arena, c->facts->backlog->repo, start->commit,
				     c->task->file, &id, &err) < 0)
		return arena_dup(c->arena, str_of(err.text));
	return id ? NULL
		  : arena_printf(c->arena, "'%s' is not on '%s': commit and push it", c->task->file,
			    start->branch);
}

void admission_decide(struct admission_facts *f, const struct task *t, struct admission *out)
{
	struct admission_case c = {f, t, f->backlog->arena, out};

	*out = (struct admission){.task = t, .refused = task_refusal(c.arena, t)};
	if (!out->refused && t->state == TASK_STARTED)
		out->refused = "it is in progress";
	while (!out->refused && !out->failed && out->n_passed < ADMISSION_FILTERS) {
		out->reason = admission_filters[out->n_passed].reject(&c);
		if (out->reason)
			out->failed = &admission_filters[out->n_passed];
		else
			out->n_passed++;
	}
	if (!out->refused && !out->failed)
		out->refused = admission_find_unpushed(&c);
	if (!out->refused && !out->failed)
		vec_push_in(f->backlog->arena, &f->started, t);
}

void admission_release(struct admission *d)
{
	json_free(&d->detail);
}

void admission_add_trace(struct buf *out, const struct admission *d)
{
	buf_addf(out, "%s: %s\n", task_name(d->task), d->task->title ? d->task->title : "");
	for (size_t i = 0; i < d->n_passed; i++)
		buf_addf(out, "  - %s: passed\n", admission_filters[i].title);
	if (d->failed)
		buf_addf(out, "  - %s: failed (%s)\n", d->failed->title, d->reason);
	if (d->refused)
		buf_addf(out, "  -> not started: %s\n", d->refused);
	else if (d->failed)
		buf_adds(out, "  -> skipped\n");
	else
		buf_addf(out, "  -> admitted%s%s\n", d->base ? ", on the branch " : "",
			d->base ? d->base : "");
}

json *admission_trace(const struct admission *d)
{
	json *list = json_array();

	for (size_t i = 0; i < d->n_passed; i++)
		json_push(list, JSON_OBJECT(JSON_TEXT("filter", admission_filters[i].name),
					JSON_BOOL("passed", true)));
	if (d->failed)
		json_push(list, JSON_OBJECT(JSON_TEXT("filter", d->failed->name),
					JSON_BOOL("passed", false), JSON_TEXT("reason", d->reason),
					JSON_VALUE("detail", json_copy(d->detail))));
	return list;
}

json *admission_event_fields(const struct admission *d)
{
	json *fields = JSON_OBJECT(
		JSON_TEXT("reason", d->reason), JSON_VALUE("trace", admission_trace(d)));

	for (const json *m = json_first(d->detail); m; m = json_next(m))
		if (strcmp(json_key(m), "kind") != 0 && strcmp(json_key(m), "reason") != 0)
			json_put(fields, json_key(m), json_copy(m));
	return fields;
}

json *admission_json(const struct admission *d)
{
	return JSON_OBJECT(JSON_TEXT("taskId", d->task->id), JSON_TEXT("title", d->task->title),
		JSON_TEXT("priority", task_priority_word(d->task->priority)),
		JSON_BOOL("admitted", !d->refused && !d->failed),
		JSON_IF(d->refused, JSON_TEXT("refused", d->refused)),
		JSON_VALUE("trace", admission_trace(d)),
		JSON_IF(d->base, JSON_TEXT("base", d->base)),
		JSON_IF(d->failed, JSON_TEXT("event", event_type(d->failed->event)->name)));
}
