/*
 * record.c: the lock, and the records of the allocations.
 */
#include <strings.h>
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { PAGE = 256, LOCK_MS = 600000 };

static const char *const states[] = {
	[ALLOCATION_MAKING] = "making",
	[ALLOCATION_LIVE] = "live",
	[ALLOCATION_REMOVING] = "removing",
};

#define TEXT(key, member)                                                                          \
	{                                                                                          \
		key, offsetof(struct allocation, member)                                           \
	}
static const struct {
	const char *key;
	size_t offset;
} texts[] = {TEXT("branch", branch), TEXT("pool", pool), TEXT("base", base), TEXT("tip", tip),
	TEXT("sparse", sparse), TEXT("admin", admin), TEXT("parent", parent), TEXT("run", run),
	TEXT("host", holder.host), TEXT("boot", holder.boot), TEXT("space", holder.space)};
static const struct {
	const char *key;
	size_t offset;
} numbers[] = {TEXT("port", port), TEXT("ports", ports), TEXT("slots", slots)};

static void *worktree_record_member(const struct allocation *of, size_t offset)
{
	return (char *)of + offset;
}

static int worktree_record_commit(struct op *o, const struct store_op *op)
{
	const struct store_txn t = {.ops = op, .n_ops = 1};
	struct store_result result = {0};

	return store_txn(o->p->store, o->a, &t, &result, o->err) == STORE_OK ? 0 : -1;
}

int record_put(struct op *o, const struct allocation *of)
{
	const char *dir = arena_dup(o->a, path_dir(of->path));
	/* Relative to the repository if it is in it, so that the repository can be moved. */
	const char *root = path_beneath(o->p->repo, dir) ? dir + strlen(o->p->repo) + 1 : dir;
	json *j = JSON_OBJECT(JSON_TEXT("state", states[of->state]), JSON_TEXT("root", root),
		JSON_INT("pid", of->holder.pid), JSON_INT("start", of->holder.start),
		JSON_INT("created", of->created), JSON_BOOL("madeBranch", of->made_branch));
	struct store_op put = {STORE_PUT, .key = arena_printf(o->a, "at/%s", of->slug)};

	for (size_t i = 0; i < COUNT(numbers); i++)
		JSON_ADD(j, JSON_INT(numbers[i].key,
				    *(unsigned *)worktree_record_member(of, numbers[i].offset)));
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char *text = *(const char **)worktree_record_member(of, texts[i].offset);

		if (text)
			json_put_str(j, texts[i].key, str_of(text));
	}
	put.value = json_print_in(o->a, j);
	return worktree_record_commit(o, &put);
}

int record_drop(struct op *o, const struct allocation *of)
{
	return worktree_record_commit(
		o, &(struct store_op){STORE_DEL, .key = arena_printf(o->a, "at/%s", of->slug)});
}

static int record_parse(struct op *o, const struct store_kv *kv, struct allocation *out)
{
	CLEANUP(json_free) json *j = NULL;
	const char *root, *state;
	size_t at = 0;

	if (json_parse(&j, kv->value, o->err) < 0)
		return error_prefix(o->err, "record '%.*s'", (int)kv->key.n, kv->key.p);
	*out = (struct allocation){.repo = o->p->repo,
		.slug = arena_dup(o->a, str_sub(kv->key, strlen("at/"), kv->key.n)),
		.created = json_get_int(j, "created", 0),
		.made_branch = json_is_true(json_get(j, "madeBranch")),
		.holder = {.pid = (pid_t)json_get_int(j, "pid", 0),
			.start = (uint64_t)json_get_int(j, "start", 0)}};
	for (size_t i = 0; i < COUNT(numbers); i++)
		*(unsigned *)worktree_record_member(out, numbers[i].offset) =
			(unsigned)json_get_int(j, numbers[i].key, 0);
	for (size_t i = 0; i < COUNT(texts); i++)
		*(const char **)worktree_record_member(out, texts[i].offset) =
			json_dup(o->a, j, texts[i].key);
	root = json_get_str(j, "root");
	state = json_get_str(j, "state");
	while (state && at < COUNT(states) && strcmp(state, states[at]) != 0)
		at++;
	if (!root || !state || at == COUNT(states) || !out->branch || !out->pool)
		return error_set(o->err, ERR_INPUT, "'%.*s' is not a record of a worktree",
			(int)kv->key.n, kv->key.p);
	out->state = (enum allocation_state)at;
	out->path = path_join(o->a, path_join(o->a, o->p->repo, root), out->slug);
	return 0;
}

int records_read(struct op *o)
{
	const char *after = NULL;
	struct allocation of;
	struct store_kv *kv;
	size_t got;
	int64_t at;

	o->all = (struct records){0};
	do {
		if (store_list(o->p->store, o->a, "at/", after, PAGE, &kv, &got, &at, o->err) !=
			STORE_OK)
			return -1;
		for (size_t i = 0; i < got; i++) {
			if (record_parse(o, &kv[i], &of) < 0)
				return -1;
			vec_push_in(o->a, &o->all, of);
		}
		after = got ? arena_dup(o->a, kv[got - 1].key) : NULL;
	} while (got == PAGE);
	return 0;
}

struct allocation *records_find(const struct op *o, const char *slug)
{
	for (size_t i = 0; i < o->all.n; i++)
		if (strcasecmp(o->all.items[i].slug, slug) == 0)
			return &o->all.items[i];
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

/* What cannot be settled now stays, and an audit reports it. */
static int settle_all(struct op *o)
{
	const struct records before = o->all;
	struct op one = *o;
	struct allocation *of;
	struct error why;
	bool any = false;

	one.err = &why;
	for (size_t i = 0; i < before.n; i++)
		if (before.items[i].state != ALLOCATION_LIVE) {
			any = true;
			if (pool_settle(&one, &before.items[i]) < 0)
				before.items[i].fault = arena_dup(o->a, str_of(why.text));
		}
	if (any && records_read(o) < 0)
		return -1;
	for (size_t i = 0; any && i < before.n; i++)
		if ((of = records_find(o, before.items[i].slug)))
			of->fault = before.items[i].fault;
	return 0;
}

int op_begin(struct op *o)
{
	if (pool_lock(o->a, o->p, o->err) < 0)
		return -1;
	if (records_read(o) == 0 && settle_all(o) == 0)
		return 0;
	pool_unlock(o->p);
	return -1;
}
