/*
 * record.c: the lock, the records of the allocations, and what they say compared with what is
 * there.
 */
#include <strings.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { RECORDS_MAX = 100000, LOCK_MS = 600000, DAY_S = 86400 };

/* `value` NULL: deletes it; else it is taken. */
static int record_commit(struct op *o, const struct allocation *of, json *value)
{
	const struct store_op op = {.what = value ? STORE_PUT : STORE_DEL,
		.key = FORMAT("at/%s", of->slug),
		.value = value ? json_print_in(o->a, value) : (struct str){0}};
	const struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result = {0};

	return store_txn(o->p->store, o->a, &t, &result, o->err) == STORE_OK ? 0 : -1;
}

int record_put(struct op *o, const struct allocation *of)
{
	/* Relative to the repository if it is in it, so that the repository can be moved. */
	size_t skip = path_is_below(o->p->repo, of->path) ? strlen(o->p->repo) + 1 : 0;

	return record_commit(o, of,
		JSON_OBJECT(JSON_INT("state", of->state), JSON_TEXT("path", of->path + skip),
			JSON_INT("created", of->created), JSON_BOOL("madeBranch", of->made_branch),
			JSON_INT("port", of->port), JSON_INT("ports", of->ports),
			JSON_INT("slots", of->slots), JSON_TEXT("branch", of->branch),
			JSON_TEXT("pool", of->pool), JSON_TEXT("base", of->base),
			JSON_TEXT("tip", of->tip), JSON_TEXT("sparse", of->sparse),
			JSON_TEXT("admin", of->admin), JSON_TEXT("parent", of->parent),
			JSON_TEXT("run", of->run), JSON_TEXT("holder", of->holder)));
}

int record_drop(struct op *o, struct allocation *of)
{
	of->removed = record_commit(o, of, NULL) == 0;
	return of->removed ? 0 : -1;
}

bool record_is_held(struct arena *a, const struct allocation *of)
{
	return of->holder && !process_name_ended(a, of->holder);
}

int record_check(struct op *o, const struct allocation *of)
{
	return of->fault ? REFUSE("'%s' is half made or half removed: %s", of->path, of->fault) : 0;
}

const char *admin_file(struct op *o, const struct allocation *of, const char *name)
{
	return FORMAT("%s/worktrees/%s%s", o->p->common, of->admin ? of->admin : ".none", name);
}

const char *admin_leads(struct op *o, const struct allocation *of)
{
	return git_worktree_directory(o->a, admin_file(o, of, ""));
}

/* What is there now. `git worktree move` changes only what the worktree's git directory says. In a
 * copy of the repository the path can be that of the original. */
static void record_look(struct op *o, struct allocation *of)
{
	const char *common = o->p->common;
	const char *to = pool_ownership(o->a, of->path, common).ok ? NULL : admin_leads(o, of);
	struct stat st;

	if (to && pool_ownership(o->a, to, common).ok && path_exists(admin_file(o, of, ADMIN_MARK)))
		of->path = to;
	if (lstat(of->path, &st) == 0 && S_ISDIR(st.st_mode))
		of->changed = st.st_mtime;
	/* A time in the future counts as new. */
	of->there = of->changed && worktree_there(of->path);
	of->stale = of->there && of->changed < clock_now() - (int64_t)o->p->spec.stale_days * DAY_S;
}

static int record_parse(struct op *o, const struct store_kv *kv, struct allocation *out)
{
	CLEANUP(json_free) json *j = NULL;

	if (json_parse(&j, kv->value, o->err) < 0)
		return error_prefix(o->err, "record '%.*s'", (int)kv->key.n, kv->key.p);
	*out = (struct allocation){
		.slug = arena_dup(o->a, str_sub(kv->key, strlen("at/"), kv->key.n)),
		.state = (enum allocation_state)json_get_int(j, "state", -1),
		.created = json_get_int(j, "created", 0),
		.made_branch = json_is_true(json_get(j, "madeBranch")),
		.port = (unsigned)json_get_int(j, "port", 0),
		.ports = (unsigned)json_get_int(j, "ports", 0),
		.slots = (unsigned)json_get_int(j, "slots", 0),
		.branch = json_dup(o->a, j, "branch"),
		.pool = json_dup(o->a, j, "pool"),
		.base = json_dup(o->a, j, "base"),
		.tip = json_dup(o->a, j, "tip"),
		.sparse = json_dup(o->a, j, "sparse"),
		.admin = json_dup(o->a, j, "admin"),
		.parent = json_dup(o->a, j, "parent"),
		.run = json_dup(o->a, j, "run"),
		.holder = json_dup(o->a, j, "holder")};
	/* What is not known is not taken for an interrupted creation, which is thrown away. */
	if (!json_get_str(j, "path") || !out->branch || !out->pool ||
		(unsigned)out->state > ALLOCATION_REMOVING)
		return error_set(o->err, ERR_INPUT, "'%.*s' is not a record of a worktree",
			(int)kv->key.n, kv->key.p);
	out->path = path_join(o->a, o->p->repo, json_dup(o->a, j, "path"));
	record_look(o, out);
	return 0;
}

static int records_read(struct op *o)
{
	struct allocation of;
	struct store_kv *kv;
	size_t n;
	int64_t at;

	o->all.n = 0;
	if (store_list(o->p->store, o->a, "at/", NULL, RECORDS_MAX, &kv, &n, &at, o->err) !=
		STORE_OK)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (record_parse(o, &kv[i], &of) < 0)
			return -1;
		vec_push_in(o->a, &o->all, of);
	}
	return 0;
}

struct allocation *records_find(const struct op *o, const char *what, bool paths)
{
	const char *path = paths ? path_real(o->a, what) : NULL;

	for (int by = paths ? 0 : 1; by < (paths ? 3 : 2); by++)
		for (size_t i = 0; i < o->all.n; i++) {
			struct allocation *of = &o->all.items[i];

			if (by == 1 ? strcasecmp(of->slug, what) == 0
				    : strcmp(by ? of->path : of->branch, by ? path : what) == 0)
				return of;
		}
	return NULL;
}

/* ---- the lock ---- */

int pool_lock(struct arena *a, struct pool *p, struct error *err)
{
	return disk_lock_take(&p->lock, path_join(a, p->common, "dev-team-worktrees.lock"),
		(unsigned)number_env("DEV_TEAM_LOCK_WAIT_MS", 3600000, LOCK_MS), err);
}

void pool_unlock(struct pool *p)
{
	disk_lock_drop(&p->lock);
}

const char *op_try(
	struct op *o, int (*act)(struct op *o, struct allocation *of), struct allocation *of)
{
	struct error *err = o->err, why;
	int rc;

	o->err = &why;
	rc = act(o, of);
	o->err = err;
	return rc < 0 ? arena_dup(o->a, str_of(why.text)) : NULL;
}

int op_begin(struct op *o)
{
	if (pool_lock(o->a, o->p, o->err) < 0)
		return -1;
	if (records_read(o) < 0) {
		pool_unlock(o->p);
		return -1;
	}
	/* What cannot be settled now stays, and an audit reports it. */
	for (size_t i = o->all.n; i-- > 0;) {
		struct allocation *of = &o->all.items[i];

		if (of->state != ALLOCATION_LIVE)
			of->fault = op_try(o, pool_settle, of);
		if (of->removed)
			vec_remove(&o->all, i);
	}
	return 0;
}

/* ---- find, list, audit ---- */

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
		return error_set(err, ERR_STATE,
			"no worktree of '%s' in this pool: 'dev-team pool list' shows them", what);
	*out = of ? *of : (struct allocation){0};
	return 0;
}

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
			FORMAT("git has no worktree there: '%s' (%s)%s",
				own.actual ? own.actual : "", own.reason, own.remedy));
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
	if (pool_part && rc == 0)
		rc = pool_part->inspect(a, p, report, data, err);
	pool_unlock(p);
	return rc;
}
