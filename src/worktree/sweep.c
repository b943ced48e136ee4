/*
 * sweep.c: worktrees that are merged, left by a failed run, or old. The reasons only name
 * candidates: pool_keep() decides.
 */
#include "src/base/clock.h"
#include "src/event/artifact.h"
#include "src/machine/failure.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

struct sweep {
	struct op o;
	const char *target; /* branch of origin; NULL: there is none */
	bool apply, confirmed;
};

/* Its branch is checked out there, has moved from where it began, and is part of the target as
 * fetched last. */
static int sweep_is_merged(struct sweep *s, const struct allocation *of, bool *merged)
{
	const struct tree *t = trees_at(&s->o, of->path);
	const char *const args[] = {"merge-base", "--is-ancestor", t ? t->head : NULL,
		arena_printf(s->o.a, "refs/remotes/origin/%s", s->target ? s->target : ""), NULL};

	*merged = false;
	if (!s->o.p->on_merge || !s->target || !of->tip || !t || !t->branch ||
		strcmp(t->branch, of->branch) != 0 || strcmp(t->branch, s->target) == 0 ||
		strcmp(t->head, of->tip) == 0)
		return 0;
	if (op_git(&s->o, NULL, args) < 0)
		return -1;
	*merged = s->o.line != NULL;
	return 0;
}

/* The item has failed in it; "timeout" if a call of an agent timed out, and no later call replaced
 * it. */
static int find_failure(struct sweep *s, const struct allocation *of, const char **reason)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *runtime = NULL;
	const struct pool *p = s->o.p;
	int64_t changed;
	bool late = false;

	if (!pool_item_open(s->o.a, p, of, &f) || !failure_is(&f.doc) ||
		clock_parse(context_get(&f.doc, "last_updated").p, &changed) < 0 ||
		changed < of->created) /* in an earlier worktree of this name */
		return 0;
	if (p->artifacts && artifact_read_runtime(p->artifacts,
				    context_get(&f.doc, "work_item_id").p, &runtime, s->o.err) < 0)
		return -1;
	for (const json *row = json_first(runtime ? json_get(runtime, "stages") : NULL);
		row && !late; row = json_next(row))
		late = json_str_is(row, "status", "timeout");
	if (late ? p->on_timeout : p->on_abort)
		*reason = late ? "timeout" : "aborted";
	return 0;
}

static int find_reason(struct sweep *s, struct pool_entry *e)
{
	bool merged = false;

	if (e->recorded && e->there && sweep_is_merged(s, &e->of, &merged) < 0)
		return -1;
	e->reason = merged ? "merged" : NULL;
	if (e->recorded && e->there && !merged && find_failure(s, &e->of, &e->reason) < 0)
		return -1;
	if (!e->reason && e->stale)
		e->reason = "stale";
	if (e->recorded && !e->there && !path_exists(e->of.path))
		e->reason = "gone";
	return 0;
}

static int sweep_one(struct sweep *s, struct pool_entry *e)
{
	struct op o = s->o;
	struct error fault;

	if (e->keep)
		return 0;
	if (pool_keep(&s->o, &e->of, s->confirmed, &e->keep, &e->why) < 0)
		return -1;
	if (e->keep || !s->apply)
		return 0;
	/* One that cannot be removed must not block the others. */
	o.err = &fault;
	e->removed = pool_remove(&o, &e->of) == 0;
	if (e->removed)
		return records_read(&s->o);
	e->keep = KEEP_UNSURE;
	e->why = arena_dup(o.a, str_of(fault.text));
	return 0;
}

static int sweep_pool(struct sweep *s, int64_t now, struct pool_entry **out, size_t *n)
{
	struct pool_entry *list;
	struct pool *p = s->o.p;
	struct git_default known;
	size_t count, kept = 0;

	if (git_read_default(s->o.a, p->repo, &known, s->o.err) < 0 || trees_read(&s->o) < 0 ||
		entries_read(&s->o, now, &list, &count) < 0)
		return -1;
	s->target = p->target ? p->target : known.remote ? known.branch : NULL;
	for (size_t i = 0; i < count; i++) {
		if (list[i].of.state != ALLOCATION_LIVE)
			continue;
		if (find_reason(s, &list[i]) < 0 || (list[i].reason && sweep_one(s, &list[i]) < 0))
			return -1;
		if (list[i].reason)
			list[kept++] = list[i];
	}
	*out = list;
	*n = kept;
	return 0;
}

int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, int64_t now,
	struct pool_entry **out, size_t *n, struct error *err)
{
	struct sweep s = {
		.o = {.a = a, .p = p, .err = err}, .apply = apply, .confirmed = confirmed};
	int rc;

	if (op_begin(&s.o) < 0)
		return -1;
	rc = sweep_pool(&s, now, out, n);
	pool_unlock(p);
	return rc;
}
