/*
 * sweep.c: worktrees that are merged, left by a failed run, or old. The reasons only name
 * candidates: pool_keep() decides.
 */
#include "src/base/vec.h"
#include "src/event/artifact.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

struct sweep {
	struct arena *arena;
	struct pool *pool;
	struct records all;
	struct trees trees;
	const char *target; /* short name of the branch on origin; NULL: there is none */
	struct run_state *runs;
	size_t n_runs;
	struct error *err;
};

static int find_target(struct sweep *s)
{
	struct git_default known;

	s->target = s->pool->target;
	if (s->target)
		return 0;
	if (git_read_default(s->arena, s->pool->repo, &known, s->err) < 0)
		return -1;
	s->target = known.remote ? known.branch : NULL;
	return 0;
}

/* Its branch is checked out there, has moved from where it began, and is part of the target as
 * fetched last. */
static int is_merged(struct sweep *s, const struct allocation *of, bool *merged)
{
	const struct tree *t = trees_at(&s->trees, of->path);
	const char *args[] = {"merge-base", "--is-ancestor", t ? t->head : NULL,
		arena_printf(s->arena, "refs/remotes/origin/%s", s->target ? s->target : ""), NULL};
	const char *line, *said;

	*merged = false;
	if (!s->pool->on_merge || !s->target || !of->tip || !t || !t->branch ||
		strcmp(t->branch, of->branch) != 0 || strcmp(t->branch, s->target) == 0 ||
		strcmp(t->head, of->tip) == 0)
		return 0;
	if (pool_git_line(s->arena, s->pool, NULL, args, &line, &said, s->err) < 0)
		return -1;
	*merged = line != NULL;
	return 0;
}

static bool is_run_of(const struct run_state *r, const struct allocation *of)
{
	const char *run = of->run;

	if (r->heartbeat < of->created)
		return false; /* of an earlier worktree of this name */
	if (r->worktree)
		return strcmp(r->worktree, of->path) == 0;
	if (run && str_starts(str_of(run), "run "))
		run += strlen("run ");
	return run && strcmp(run, r->issue) == 0;
}

/* A call of an agent timed out, and no later call replaced it. */
static int has_timed_out(struct sweep *s, const struct run_state *r, bool *is)
{
	CLEANUP(json_free) json *runtime = NULL;
	const json *stages;

	*is = false;
	if (artifact_read_runtime(s->pool->artifacts, r->issue, &runtime, s->err) < 0)
		return -1;
	stages = runtime ? json_get(runtime, "stages") : NULL;
	for (const json *row = json_first(stages); row && !*is; row = json_next(row))
		*is = json_str_is(row, "status", "timeout");
	return 0;
}

/* How the last run in it has ended. */
static int find_failure(struct sweep *s, const struct allocation *of, const char **reason)
{
	const struct run_state *last = NULL;
	bool late;

	for (size_t i = 0; i < s->n_runs; i++)
		if (is_run_of(&s->runs[i], of) && (!last || s->runs[i].heartbeat > last->heartbeat))
			last = &s->runs[i];
	if (!last || last->status != RUN_FAILURE)
		return 0;
	if (has_timed_out(s, last, &late) < 0)
		return -1;
	if (late ? s->pool->on_timeout : s->pool->on_abort)
		*reason = late ? "timeout" : "aborted";
	return 0;
}

static int find_reason(struct sweep *s, struct pool_entry *e)
{
	bool merged = false;

	if (e->recorded && e->there && is_merged(s, &e->of, &merged) < 0)
		return -1;
	e->reason = merged ? "merged" : NULL;
	if (e->recorded && e->there && !merged && find_failure(s, &e->of, &e->reason) < 0)
		return -1;
	if (!e->reason)
		e->reason = e->stale                                               ? "stale"
			    : e->recorded && !e->there && !path_exists(e->of.path) ? "gone"
										   : NULL;
	return 0;
}

static int sweep_one(struct sweep *s, struct pool_entry *e, bool apply, bool confirmed)
{
	struct error fault;

	if (e->keep)
		return 0;
	if (pool_keep(s->arena, s->pool, &s->all, &e->of, confirmed, &e->keep, &e->why, s->err) < 0)
		return -1;
	if (e->keep || !apply)
		return 0;
	/* One that cannot be removed must not block the others. */
	e->removed = pool_remove(s->arena, s->pool, &e->of, confirmed, &fault) == 0;
	if (!e->removed) {
		e->keep = KEEP_UNSURE;
		e->why = arena_dup(s->arena, str_of(fault.text));
	}
	return e->removed ? records_read(s->arena, s->pool, &s->all, s->err) : 0;
}

static int sweep_locked(struct sweep *s, bool apply, bool confirmed, int64_t now,
	struct pool_entry **out, size_t *n)
{
	struct pool_entry *list;
	size_t count, kept = 0;

	if (find_target(s) < 0 || trees_read(s->arena, s->pool, &s->trees, s->err) < 0 ||
		entries_read(s->arena, s->pool, &s->all, now, &list, &count, s->err) < 0 ||
		(s->pool->artifacts && run_state_list(s->arena, s->pool->artifacts, &s->runs,
					       &s->n_runs, s->err) < 0))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (list[i].of.state != ALLOCATION_LIVE)
			continue;
		if (find_reason(s, &list[i]) < 0)
			return -1;
		if (!list[i].reason)
			continue;
		if (sweep_one(s, &list[i], apply, confirmed) < 0)
			return -1;
		list[kept++] = list[i];
	}
	*out = list;
	*n = kept;
	return 0;
}

int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, int64_t now,
	struct pool_entry **out, size_t *n, struct error *err)
{
	struct sweep s = {.arena = a, .pool = p, .err = err};
	int rc;

	if (pool_begin(a, p, &s.all, err) < 0)
		return -1;
	rc = sweep_locked(&s, apply, confirmed, now, out, n);
	pool_end(p);
	return rc;
}
