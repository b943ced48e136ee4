#include <strings.h>
#include "src/base/vec.h"
#include "src/sys/path.h"
#include "src/worktree/pool_internal.h"

enum { PAGE = 256, LOCK_MS = 600000 };

/* ---- as JSON ---- */

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
} texts[] = {
	TEXT("branch", branch),
	TEXT("pool", pool),
	TEXT("base", base),
	TEXT("tip", tip),
	TEXT("sparse", sparse),
	TEXT("admin", admin),
	TEXT("run", run),
	TEXT("host", holder.host),
	TEXT("boot", holder.boot),
	TEXT("space", holder.space),
};

static const char **text_of(const struct allocation *of, size_t i)
{
	return (const char **)((char *)of + texts[i].offset);
}

/* Relative to the repository if it is in it, so that the repository can be moved. */
static const char *root_of(struct arena *a, const struct pool *p, const char *path)
{
	const char *dir = arena_dup(a, path_dir(path));

	return path_beneath(p->repo, dir) ? dir + strlen(p->repo) + 1 : dir;
}

static struct str record_print(struct arena *a, const struct pool *p, const struct allocation *of)
{
	json *j = JSON_OBJECT(
		JSON_TEXT("state", states[of->state]), JSON_TEXT("root", root_of(a, p, of->path)));

	for (size_t i = 0; i < COUNT(texts); i++)
		if (*text_of(of, i))
			json_put_str(j, texts[i].key, str_of(*text_of(of, i)));
	JSON_ADD(j, JSON_INT("port", of->port), JSON_INT("ports", of->ports),
		JSON_INT("slots", of->slots), JSON_INT("slotPorts", of->slot_ports),
		JSON_IF(of->parent, JSON_TEXT("parent", path_base(of->parent).p)),
		JSON_INT("pid", of->holder.pid), JSON_INT("start", of->holder.start),
		JSON_INT("created", of->created), JSON_BOOL("madeBranch", of->made_branch),
		JSON_BOOL("confirmed", of->confirmed));
	return json_print_in(a, j);
}

static int record_parse(struct arena *a, const struct pool *p, const struct store_kv *kv,
	struct allocation *out, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	const char *root, *state;
	unsigned at;

	if (json_parse(&j, kv->value, err) < 0)
		return error_prefix(err, "record '%.*s'", (int)kv->key.n, kv->key.p);
	*out = (struct allocation){
		.slug = arena_dup(a, str_sub(kv->key, 3, kv->key.n)), .repo = p->repo};
	for (size_t i = 0; i < COUNT(texts); i++)
		*text_of(out, i) = json_dup(a, j, texts[i].key);
	root = json_dup(a, j, "root");
	state = json_get_str(j, "state");
	for (at = 0; state && at < COUNT(states) && strcmp(state, states[at]) != 0; at++)
		;
	if (!root || !state || at == COUNT(states) || !out->branch || !out->pool)
		return error_set(err, ERR_INPUT, "'%.*s' is not a record of a worktree",
			(int)kv->key.n, kv->key.p);
	out->state = (enum allocation_state)at;
	out->path = path_join(a, path_join(a, p->repo, root), out->slug);
	out->parent = json_dup(a, j, "parent");
	out->port = (unsigned)json_get_int(j, "port", 0);
	out->ports = (unsigned)json_get_int(j, "ports", 0);
	out->slots = (unsigned)json_get_int(j, "slots", 0);
	out->slot_ports = (unsigned)json_get_int(j, "slotPorts", 0);
	out->holder.pid = (pid_t)json_get_int(j, "pid", 0);
	out->holder.start = (uint64_t)json_get_int(j, "start", 0);
	out->created = json_get_int(j, "created", 0);
	out->made_branch = json_is_true(json_get(j, "madeBranch"));
	out->confirmed = json_is_true(json_get(j, "confirmed"));
	return 0;
}

/* ---- in the store ---- */

struct allocation *records_find(const struct records *r, const char *slug)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcasecmp(r->items[i].slug, slug) == 0)
			return &r->items[i];
	return NULL;
}

size_t records_children(const struct records *r, const struct allocation *of, const char **first)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].parent && strcmp(r->items[i].parent, of->path) == 0 && n++ == 0)
			*first = r->items[i].path;
	return n;
}

int records_read(struct arena *a, struct pool *p, struct records *out, struct error *err)
{
	const char *after = NULL;
	struct store_kv *kv;
	size_t got = PAGE;
	int64_t at;

	for (*out = (struct records){0}; got == PAGE; after = arena_dup(a, kv[got - 1].key)) {
		if (store_list(p->store, a, "at/", after, PAGE, &kv, &got, &at, err) != STORE_OK)
			return -1;
		for (size_t i = 0; i < got; i++) {
			struct allocation of;

			if (record_parse(a, p, &kv[i], &of, err) < 0)
				return -1;
			vec_push_in(a, out, of);
		}
		if (!got)
			break;
	}
	for (size_t i = 0; i < out->n; i++) {
		struct allocation *of = &out->items[i], *parent;

		parent = of->parent ? records_find(out, of->parent) : NULL;
		if (of->parent)
			of->parent = parent ? parent->path : path_join(a, p->dir, of->parent);
	}
	return 0;
}

static int commit(struct arena *a, struct pool *p, struct store_op op, struct error *err)
{
	const struct store_txn t = {.ops = &op, .n_ops = 1};
	struct store_result result = {0};

	return store_txn(p->store, a, &t, &result, err) == STORE_OK ? 0 : -1;
}

int record_put(struct arena *a, struct pool *p, const struct allocation *of, struct error *err)
{
	const struct store_op op = {STORE_PUT, .key = arena_printf(a, "at/%s", of->slug),
		.value = record_print(a, p, of)};

	return commit(a, p, op, err);
}

int record_drop(struct arena *a, struct pool *p, const char *slug, struct error *err)
{
	const struct store_op op = {STORE_DEL, .key = arena_printf(a, "at/%s", slug)};

	return commit(a, p, op, err);
}

/* ---- the lock ---- */

/* What cannot be settled now stays, and an audit reports it. */
static int settle_all(struct arena *a, struct pool *p, struct records *r, struct error *err)
{
	const struct records before = *r;
	struct allocation *of;
	struct error why;
	bool any = false;

	for (size_t i = 0; i < r->n; i++) {
		of = &r->items[i];
		any |= of->state != ALLOCATION_LIVE;
		if (of->state != ALLOCATION_LIVE && pool_settle(a, p, of, &why) < 0)
			of->fault = arena_dup(a, str_of(why.text));
	}
	if (any && records_read(a, p, r, err) < 0)
		return -1;
	for (size_t i = 0; any && i < before.n; i++)
		if ((of = records_find(r, before.items[i].slug)))
			of->fault = before.items[i].fault;
	return 0;
}

int pool_lock(struct arena *a, struct pool *p, struct error *err)
{
	return disk_lock_take(&p->lock, path_join(a, p->common, "dev-team-worktrees.lock"),
		pool_lock_wait(LOCK_MS), err);
}

int pool_begin(struct arena *a, struct pool *p, struct records *out, struct error *err)
{
	if (pool_lock(a, p, err) < 0)
		return -1;
	if (records_read(a, p, out, err) == 0 && settle_all(a, p, out, err) == 0)
		return 0;
	pool_end(p);
	return -1;
}

void pool_end(struct pool *p)
{
	disk_lock_drop(&p->lock);
}
