/*
 * list.c: one walk over the records, and the worktrees of git in the pool's directory; and what
 * list, find, audit and sweep make of it.
 */
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/vec.h"
#include "src/event/artifact.h"
#include "src/machine/failure.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { DAY_S = 86400 };

struct entries {
	struct pool_entry *items;
	size_t n, cap;
};

/* ---- the walk ---- */

static int list_by_path(const void *x, const void *y)
{
	const struct pool_entry *a = x, *b = y;

	return strcmp(a->of.path, b->of.path);
}

/* The age is the directory's modification time; a time in the future counts as new. */
static void list_add(struct op *o, struct entries *list, struct pool_entry e)
{
	struct stat st;

	if (lstat(e.of.path, &st) == 0 && S_ISDIR(st.st_mode)) {
		e.changed = st.st_mtime;
		e.there = worktree_there(e.of.path);
	}
	e.stale = e.there && e.changed < clock_now() - (int64_t)o->p->spec.stale_days * DAY_S;
	vec_push_in(o->a, list, e);
}

/* Without a record are those made by plain git, or whose records were lost. */
static int entries_read(struct op *o, struct entries *list)
{
	for (size_t i = 0; i < o->all.n; i++)
		list_add(o, list, (struct pool_entry){.of = o->all.items[i], .recorded = true});
	if (trees_read(o) < 0)
		return -1;
	for (size_t i = 1; i < o->trees.n; i++) {
		const struct tree *t = &o->trees.items[i];
		const char *slug = path_base(t->path).p;
		const struct allocation *of = records_find(o, slug);
		struct ownership own;

		if (!path_beneath(o->p->dir, t->path) || slug[0] == '.' ||
			(of && strcmp(of->path, t->path) == 0))
			continue;
		own = pool_ownership(o->a, t->path, o->p->common);
		list_add(o, list,
			(struct pool_entry){
				.of = {.path = t->path,
					.slug = slug,
					.branch = t->branch ? t->branch : "",
					.pool = o->p->spec.name,
					.admin = own.reason == OWNED_OK ? path_base(own.actual).p
									: NULL,
					.state = ALLOCATION_LIVE}});
	}
	vec_sort(list, list_by_path);
	return 0;
}

int pool_list(
	struct arena *a, struct pool *p, struct pool_entry **out, size_t *n, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	struct entries list = {0};

	if (records_read(&o) < 0 || entries_read(&o, &list) < 0)
		return -1;
	*out = list.items;
	*n = list.n;
	return 0;
}

int entry_find(struct op *o, const char *what, struct pool_entry *out, bool *found)
{
	const char *path = path_settle(o->a, what);
	struct entries list = {0};

	*found = false;
	if (entries_read(o, &list) < 0)
		return -1;
	for (int by = 0; by < 3 && *what; by++)
		for (size_t i = 0; i < list.n && !*found; i++) {
			const struct allocation *of = &list.items[i].of;
			const char *const names[] = {of->branch, of->slug, of->path};

			*found = strcmp(names[by], by == 2 ? path : what) == 0;
			if (*found)
				*out = list.items[i];
		}
	return 0;
}

int pool_find(struct arena *a, struct pool *p, const char *what, struct pool_entry *out,
	bool *found, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};

	if (records_read(&o) < 0 || entry_find(&o, what, out, found) < 0)
		return -1;
	*found = *found && out->recorded;
	return 0;
}

int pool_find_live(struct arena *a, struct pool *p, const char *what, struct allocation *out,
	struct error *err)
{
	struct pool_entry e;
	bool found;

	if (pool_find(a, p, what, &e, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERR_STATE, "no worktree of '%s' in this pool", what);
	*out = e.of;
	/* A look that failed is no sign that it does not exist. */
	if (!e.there && path_check_exists(path_join(a, out->path, ".git"), &found, err) < 0)
		return -1;
	return worktree_there(out->path) && out->state == ALLOCATION_LIVE
		       ? 0
		       : error_set(err, ERR_STATE, "the worktree of '%s' does not exist", what);
}

/* ---- audit ---- */

/* Ports are chosen and recorded under one lock, and a parent with children stays: there is nothing
 * to compare. */
static void audit_entry(struct op *o, const struct pool_entry *e, pool_report *report, void *data)
{
	struct ownership own = pool_ownership(o->a, e->of.path, o->p->common);
	const char *kind = NULL, *text = NULL;

	if (e->of.fault) {
		kind = e->of.state == ALLOCATION_MAKING ? "half-made" : "half-removed";
		text = e->of.fault;
	} else if (!e->there) {
		kind = e->recorded ? "record-without-worktree" : "orphan-admin";
		text = e->recorded ? "there is no worktree: 'pool reclaim' returns its ports"
				   : "git has a worktree there, and it no longer exists: run 'git "
				     "worktree prune'";
	} else if (!e->recorded) {
		kind = "unrecorded-worktree";
		text = "it has no record: 'pool adopt' makes one, 'pool reclaim' removes it";
	} else if (own.reason != OWNED_OK) {
		kind = "foreign-worktree";
		text = arena_printf(o->a, "it belongs to '%s' (%s)", own.actual ? own.actual : "",
			owned_word(own.reason));
	} else if (!path_exists(own.actual)) {
		kind = "worktree-without-admin";
		text = arena_printf(o->a, "git has no worktree there: '%s'", own.actual);
	}
	if (kind)
		report(data, kind, e->of.path, text);
}

static int audit_directory(struct op *o, pool_report *report, void *data)
{
	struct directory_names names = {0};
	bool missing = false;

	if (directory_list(o->a, o->p->dir, &names, &missing, o->err) < 0 && !missing)
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		const char *path = path_join(o->a, o->p->dir, names.items[i]);

		if (names.items[i][0] != '.' && path_is_directory(path) &&
			!records_find(o, names.items[i]) && !trees_at(o, path))
			report(data, "stray-folder", path,
				"it is not a worktree of this repository");
	}
	return 0;
}

int pool_audit(struct arena *a, struct pool *p, pool_report *report, void *data, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	struct entries list = {0};
	int rc;

	if (op_begin(&o) < 0)
		return -1;
	rc = entries_read(&o, &list);
	for (size_t i = 0; rc == 0 && i < list.n; i++)
		audit_entry(&o, &list.items[i], report, data);
	rc = rc == 0 ? audit_directory(&o, report, data) : rc;
	for (const struct pool_part *const *part = pool_parts; *part && rc == 0; part++)
		rc = (*part)->inspect(a, p, report, data, err);
	pool_unlock(p);
	return rc;
}

/* ---- sweep: the reasons only name candidates, pool_keep() decides ---- */

/* Its branch is checked out there, has moved from where it began, and is part of the target, a
 * branch of origin, as fetched last. */
static int sweep_is_merged(
	struct op *o, const struct allocation *of, const char *target, bool *merged)
{
	const struct tree *t = trees_at(o, of->path);
	const char *const args[] = {"merge-base", "--is-ancestor", t ? t->head : NULL,
		arena_printf(o->a, "refs/remotes/origin/%s", target ? target : ""), NULL};

	*merged = false;
	if (!o->p->spec.on_merge || !target || !of->tip || !t || !t->branch ||
		strcmp(t->branch, of->branch) != 0 || strcmp(t->branch, target) == 0 ||
		strcmp(t->head, of->tip) == 0)
		return 0;
	if (op_git(o, NULL, args) < 0)
		return -1;
	*merged = o->line != NULL;
	return 0;
}

/* The item has failed in it; "timeout" if a call of an agent timed out, and no later call replaced
 * it. */
static int sweep_find_failure(struct op *o, const struct allocation *of, const char **reason)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *runtime = NULL;
	const struct pool *p = o->p;
	int64_t changed;
	bool late = false;

	if (!pool_item_open(o->a, p, of, &f) || !failure_is(&f.doc) ||
		clock_parse(context_get(&f.doc, "last_updated").p, &changed) < 0 ||
		changed < of->created) /* in an earlier worktree of this name */
		return 0;
	if (p->artifacts && artifact_read_runtime(p->artifacts,
				    context_get(&f.doc, "work_item_id").p, &runtime, o->err) < 0)
		return -1;
	for (const json *row = json_first(runtime ? json_get(runtime, "stages") : NULL);
		row && !late; row = json_next(row))
		late = json_str_is(row, "status", "timeout");
	if (late ? p->spec.on_timeout : p->spec.on_abort)
		*reason = late ? "timeout" : "aborted";
	return 0;
}

static int sweep_find_reason(struct op *o, struct pool_entry *e, const char *target)
{
	bool merged = false, counts = e->recorded && e->there;

	if (e->of.state != ALLOCATION_LIVE)
		return 0;
	if (counts && sweep_is_merged(o, &e->of, target, &merged) < 0)
		return -1;
	e->reason = merged ? "merged" : NULL;
	if (counts && !merged && sweep_find_failure(o, &e->of, &e->reason) < 0)
		return -1;
	if (!e->reason && e->stale)
		e->reason = "stale";
	if (e->recorded && !e->there && !path_exists(e->of.path))
		e->reason = "gone";
	return 0;
}

/* One that cannot be removed must not block the others. */
static int sweep_entry(struct op *o, struct pool_entry *e, bool apply, bool confirmed)
{
	struct error *err = o->err, why;

	if (pool_keep(o, &e->of, confirmed, &e->keep, &e->why) < 0)
		return -1;
	if (e->keep || !apply)
		return 0;
	o->err = &why;
	e->removed = pool_remove(o, &e->of) == 0;
	o->err = err;
	if (!e->removed) {
		e->keep = KEEP_UNSURE;
		e->why = arena_dup(o->a, str_of(why.text));
	}
	return 0;
}

int pool_sweep(struct arena *a, struct pool *p, bool apply, bool confirmed, struct pool_entry **out,
	size_t *n, struct error *err)
{
	struct op o = {.a = a, .p = p, .err = err};
	struct entries list = {0};
	struct git_default known;
	const char *target;
	int rc;

	*n = 0;
	if (git_read_default(a, p->repo, &known, err) < 0 || op_begin(&o) < 0)
		return -1;
	target = p->target ? p->target : known.remote ? known.branch : NULL;
	rc = entries_read(&o, &list);
	*out = list.items;
	for (size_t i = 0; rc == 0 && i < list.n; i++) {
		struct pool_entry *e = &list.items[i];

		rc = sweep_find_reason(&o, e, target);
		if (rc == 0 && e->reason) {
			rc = sweep_entry(&o, e, apply, confirmed);
			list.items[(*n)++] = *e;
		}
	}
	pool_unlock(p);
	return rc;
}
