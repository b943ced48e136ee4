/*
 * list.c: find, list, audit and sweep: what the records say, compared with what is there.
 */
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/event/artifact.h"
#include "src/machine/failure.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

int pool_list(
	struct arena *a, struct pool *p, struct allocation **out, size_t *n, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	int rc = records_read(&o);

	*out = o.all.items;
	*n = o.all.n;
	return rc;
}

int pool_find(struct arena *a, struct pool *p, const char *what, bool live, struct allocation *out,
	struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	const struct allocation *of;

	if (records_read(&o) < 0)
		return -1;
	of = records_find(&o, what, true);
	if (live && (!of || !of->there || of->state != ALLOCATION_LIVE))
		return error_set(err, ERR_STATE, "no worktree of '%s' in this pool", what);
	*out = of ? *of : (struct allocation){0};
	return 0;
}

/* ---- audit ---- */

/* Ports are chosen and recorded under one lock, and a parent with children stays: there is nothing
 * to compare. */
static void audit_record(struct op *o, const struct allocation *of, pool_report *report, void *data)
{
	struct ownership own = pool_ownership(o->a, of->path, o->p->common);

	if (of->fault)
		report(data, of->state == ALLOCATION_MAKING ? "half-made" : "half-removed",
			of->path, of->fault);
	else if (!of->there)
		report(data, "record-without-worktree", of->path,
			"there is no worktree: 'pool reclaim' returns its ports");
	else if (!own.ok || !path_exists(own.actual))
		report(data, "foreign-worktree", of->path,
			arena_printf(o->a, "git has no worktree there: '%s' (%s)",
				own.actual ? own.actual : "", own.reason));
}

int pool_audit(struct arena *a, struct pool *p, pool_report *report, void *data, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	int rc;

	if (op_begin(&o) < 0)
		return -1;
	rc = trees_read(&o);
	for (size_t i = 0; i < o.all.n; i++)
		audit_record(&o, &o.all.items[i], report, data);
	for (size_t i = 1; i < o.trees.n; i++) { /* of plain git, or its record was lost */
		const char *path = o.trees.items[i].path, *slug = path_base(path).p;
		const struct allocation *of = records_find(&o, slug, false);

		if (path_is_below(p->dir, path) && slug[0] != '.' &&
			(!of || strcmp(of->path, path) != 0))
			report(data, "unrecorded-worktree", path,
				"it has no record: 'pool adopt' makes one; if it no longer "
				"exists, run 'git worktree prune'");
	}
	for (const struct pool_part *const *part = pool_parts; *part && rc == 0; part++)
		rc = (*part)->inspect(a, p, report, data, err);
	pool_unlock(p);
	return rc;
}

/* ---- sweep: the reasons only name candidates, pool_keep() decides ---- */

/* 1: its branch is checked out there, has moved from where it began, and is part of the target, a
 * branch of origin, as fetched last. */
static int sweep_is_merged(struct op *o, const struct allocation *of, const char *target)
{
	const struct tree *t = trees_find(o, of->path, NULL);
	const char *const args[] = {"merge-base", "--is-ancestor", t ? t->head : NULL,
		arena_printf(o->a, "refs/remotes/origin/%s", target ? target : ""), NULL};

	if (!o->p->spec.on_merge || !target || !of->tip || !t || !t->branch ||
		strcmp(t->branch, of->branch) != 0 || strcmp(t->branch, target) == 0 ||
		strcmp(t->head, of->tip) == 0)
		return 0;
	return op_git(o, NULL, args) < 0 ? -1 : o->line != NULL;
}

/* The item has failed in it; "timeout" if a call of an agent timed out, and no later call replaced
 * it. NULL: it has not, as far as can be read, or the pool does not want to know. */
static const char *sweep_failure(struct op *o, const struct allocation *of)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *runtime = NULL;
	const struct pool *p = o->p;
	struct error ignored;
	int64_t changed;
	bool late = false;

	if (!pool_item_open(o->a, p, of, &f) || !failure_is(&f.doc) ||
		clock_parse(context_get(&f.doc, "last_updated").p, &changed) < 0 ||
		changed < of->created || /* in an earlier worktree of this name */
		(p->artifacts &&
			artifact_read_runtime(p->artifacts, context_get(&f.doc, "work_item_id").p,
				&runtime, &ignored) < 0))
		return NULL;
	for (const json *row = json_first(runtime ? json_get(runtime, "stages") : NULL);
		row && !late; row = json_next(row))
		late = json_str_is(row, "status", "timeout");
	if (late)
		return p->spec.on_timeout ? "timeout" : NULL;
	return p->spec.on_abort ? "aborted" : NULL;
}

static int sweep_find_reason(struct op *o, struct allocation *of, const char *target)
{
	int merged = of->there ? sweep_is_merged(o, of, target) : 0;

	if (of->there)
		of->reason = merged > 0 ? "merged" : sweep_failure(o, of);
	else if (!path_exists(of->path))
		of->reason = "gone";
	if (!of->reason && of->stale)
		of->reason = "stale";
	return merged < 0 ? -1 : 0;
}

/* One that cannot be removed must not block the others. */
static int sweep_one(struct op *o, struct allocation *of, bool apply, bool confirmed)
{
	struct error *err = o->err, why;

	if (pool_keep(o, of, confirmed) < 0)
		return -1;
	if (of->keep || !apply)
		return 0;
	o->err = &why;
	of->removed = pool_remove(o, of) == 0;
	o->err = err;
	if (!of->removed) {
		of->keep = "unsure";
		of->why = arena_dup(o->a, str_of(why.text));
	}
	return 0;
}

int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, struct allocation **out,
	size_t *n, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	VEC(struct allocation) due = {0};
	struct git_default known;
	const char *target;
	int rc;

	if (git_read_default(a, p->repo, &known, err) < 0 || op_begin(&o) < 0)
		return -1;
	target = p->target ? p->target : known.remote ? known.branch : NULL;
	rc = trees_read(&o);
	for (size_t i = 0; rc == 0 && i < o.all.n; i++) {
		struct allocation *of = &o.all.items[i];

		rc = of->state == ALLOCATION_LIVE ? sweep_find_reason(&o, of, target) : 0;
		if (of->reason)
			vec_push_in(a, &due, *of);
	}
	for (size_t i = 0; rc == 0 && i < due.n; i++)
		rc = sweep_one(&o, &due.items[i], apply, confirmed);
	pool_unlock(p);
	*out = due.items;
	*n = due.n;
	return rc;
}
