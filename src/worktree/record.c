/*
 * record.c: the lock, and the records of the allocations.
 */
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { RECORDS_MAX = 100000, LOCK_MS = 600000, DAY_S = 86400 };

static const char *const keys[] = {
	"branch", "pool", "base", "tip", "sparse", "admin", "parent", "run", "holder"};

static const char **record_text(struct allocation *of, size_t i)
{
	const char **const texts[COUNT(keys)] = {&of->branch, &of->pool, &of->base, &of->tip,
		&of->sparse, &of->admin, &of->parent, &of->run, &of->holder};

	return texts[i];
}

static int record_commit(struct op *o, const struct store_op *op)
{
	const struct store_txn t = {.ops = op, .n_ops = 1};
	struct store_result result = {0};

	return store_txn(o->p->store, o->a, &t, &result, o->err) == STORE_OK ? 0 : -1;
}

int record_put(struct op *o, const struct allocation *of)
{
	/* Relative to the repository if it is in it, so that the repository can be moved. */
	size_t skip = path_is_below(o->p->repo, of->path) ? strlen(o->p->repo) + 1 : 0;
	json *j = JSON_OBJECT(JSON_INT("state", of->state), JSON_TEXT("path", of->path + skip),
		JSON_INT("created", of->created), JSON_BOOL("madeBranch", of->made_branch),
		JSON_INT("port", of->port), JSON_INT("ports", of->ports),
		JSON_INT("slots", of->slots));
	struct allocation copy = *of;
	struct store_op put = {STORE_PUT, .key = arena_printf(o->a, "at/%s", of->slug)};

	for (size_t i = 0; i < COUNT(keys); i++)
		if (*record_text(&copy, i))
			json_put_str(j, keys[i], str_of(*record_text(&copy, i)));
	put.value = json_print_in(o->a, j);
	return record_commit(o, &put);
}

int record_drop(struct op *o, const struct allocation *of)
{
	const struct store_op drop = {STORE_DEL, .key = arena_printf(o->a, "at/%s", of->slug)};

	if (record_commit(o, &drop) < 0)
		return -1;
	records_forget(o, of->slug);
	return 0;
}

bool record_is_held(struct arena *a, const struct allocation *of)
{
	return of->holder && !process_name_ended(a, of->holder);
}

int record_check(struct op *o, const struct allocation *of)
{
	return of->fault ? error_set(o->err, ERR_STATE, "'%s' is half made or half removed: %s",
				   of->path, of->fault)
			 : 0;
}

const char *admin_file(struct op *o, const struct allocation *of, const char *name)
{
	return arena_printf(
		o->a, "%s/worktrees/%s%s", o->p->common, of->admin ? of->admin : ".none", name);
}

const char *admin_leads(struct op *o, const struct allocation *of)
{
	const char *text = sys_read_small(o->a, admin_file(o, of, "/gitdir"), PATH_MAX);

	if (text)
		text = path_real(o->a, path_join(o->a, admin_file(o, of, ""),
					       arena_dup(o->a, str_trim(str_of(text)))));
	return text ? arena_dup(o->a, path_dir(text)) : NULL;
}

/* What is there now. `git worktree move` changes only what the worktree's git directory says. */
static void record_look(struct op *o, struct allocation *of)
{
	const char *to = worktree_there(of->path) ? NULL : admin_leads(o, of);
	struct stat st;

	if (to && worktree_there(to) && path_exists(admin_file(o, of, ADMIN_MARK)))
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
		.slots = (unsigned)json_get_int(j, "slots", 0)};
	for (size_t i = 0; i < COUNT(keys); i++)
		*record_text(out, i) = json_dup(o->a, j, keys[i]);
	/* What is not known is not taken for an interrupted creation, which is thrown away. */
	if (!json_get_str(j, "path") || !out->branch || !out->pool ||
		(unsigned)out->state > ALLOCATION_REMOVING)
		return error_set(o->err, ERR_INPUT, "'%.*s' is not a record of a worktree",
			(int)kv->key.n, kv->key.p);
	out->path = path_join(o->a, o->p->repo, json_dup(o->a, j, "path"));
	record_look(o, out);
	return 0;
}

int records_read(struct op *o)
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

void records_forget(struct op *o, const char *slug)
{
	struct allocation *of = records_find(o, slug, false);

	if (of)
		vec_remove(&o->all, (size_t)(of - o->all.items));
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

int op_begin(struct op *o)
{
	struct error *err = o->err, why;

	if (pool_lock(o->a, o->p, err) < 0)
		return -1;
	if (records_read(o) < 0) {
		pool_unlock(o->p);
		return -1;
	}
	/* What cannot be settled now stays, and an audit reports it. */
	o->err = &why;
	for (size_t i = o->all.n; i-- > 0;) {
		struct allocation of = o->all.items[i];
		bool settled = of.state == ALLOCATION_LIVE || pool_settle(o, &of) == 0;

		if (!settled)
			of.fault = arena_dup(o->a, str_of(why.text));
		if (records_find(o, of.slug, false))
			o->all.items[i] = of;
	}
	o->err = err;
	return 0;
}
