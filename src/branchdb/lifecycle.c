/* lifecycle.c: a branch is recorded, made, migrated, used, and removed. */
#include "src/branchdb/adapter.h"
#include "src/branchdb/branchdb_internal.h"
#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/sys/secrets.h"

enum { WATCH_MS = 1000, WAIT_MS = 600000, AGAIN_S = 60, ACTIVE_S = 60, FAULT_SHOWN = 300 };

static const struct database_pool_spec *lifecycle_find_spec(
	const struct branchdb *db, const char *name)
{
	for (size_t i = 0; i < db->site->n_pools; i++)
		if (strcmp(db->site->pools[i]->name, name) == 0)
			return db->site->pools[i];
	return NULL;
}

static int lifecycle_tell(
	const struct branchdb *db, enum event_id id, const char *issue, json *fields)
{
	struct error ignored;

	return event_report(db->site->artifacts, id, issue, NULL, fields, &ignored);
}

/* The branch of this pool that `branchFrom` names: by git branch or by key. NULL: it is a branch of
 * the upstream's own. */
static int lifecycle_find_parent(struct branchdb *db, const struct database_pool_spec *pool,
	struct branchdb_branch **out, struct error *err)
{
	struct branchdb_list all;

	*out = NULL;
	if (!pool->branch_from)
		return 0;
	if (branchdb_list(db, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.items[i].pool, pool->name) == 0 &&
			(strcmp(all.items[i].of, pool->branch_from) == 0 ||
				strcmp(all.items[i].key, pool->branch_from) == 0))
			*out = &all.items[i];
	return 0;
}

/* ---- removal ---- */

/* Branches of others that were made from this one go on with its migrations. */
static void tell_divergence(
	struct branchdb *db, const struct branchdb_branch *b, const char *reason)
{
	const struct database_pool_spec *pool = lifecycle_find_spec(db, b->pool);
	struct branchdb_branch *parent = NULL;
	struct branchdb_list all;
	struct error ignored;
	json *children;

	if (!pool || !pool->from_branch || lifecycle_find_parent(db, pool, &parent, &ignored) < 0 ||
		!parent || strcmp(parent->key, b->key) != 0 ||
		branchdb_list(db, &all, &ignored) < 0)
		return;
	children = json_array();
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.items[i].pool, b->pool) == 0 &&
			strcmp(all.items[i].key, b->key) != 0)
			json_push(
				children, JSON_OBJECT(JSON_TEXT("branchKey", all.items[i].key),
						  JSON_TIME("lastActivity", all.items[i].active)));
	if (json_len(children))
		(void)lifecycle_tell(db, EVENT_MIGRATION_DIVERGED, NULL,
			JSON_OBJECT(JSON_VALUE("reclaimedBranch",
					    JSON_OBJECT(JSON_TEXT("branchKey", b->key),
						    JSON_TEXT("reason", reason))),
				JSON_VALUE("divergentChildren", children),
				JSON_TEXT("recommendation",
					"operator triage: the children have migrations of a branch "
					"that no longer exists")));
	else
		json_free(&children);
}

static int adapter_for(
	const char *name, struct adapter_call *c, const struct adapter **out, struct error *err)
{
	*out = adapter_find(name);
	if (!*out)
		return error_set(err, ERR_INPUT, "there is no adapter '%s' in this program", name);
	return adapter_check(*out, c, err);
}

static int lifecycle_drop_branch(
	struct branchdb *db, const struct branchdb_branch *b, struct error *err)
{
	struct adapter_call c = {.arena = db->arena,
		.site = db->site,
		.pool = lifecycle_find_spec(db, b->pool),
		.key = b->key,
		.parent = ""}; /* none is needed */
	const struct adapter *d;

	if (!c.pool)
		return error_set(err, ERR_STATE,
			"database branch '%s' is of the DatabaseBranchPool '%s', which the "
			"resources no longer have",
			b->key, b->pool);
	if (adapter_for(b->adapter, &c, &d, err) < 0 || d->drop(&c, err) < 0)
		return error_prefix(err, "database branch '%s' cannot be removed", b->key);
	return 0;
}

/* It stays in the records, with the reason, and is tried again. */
static void keep_fault(struct branchdb *db, struct branchdb_branch *b, const struct error *why)
{
	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	struct error ignored;
	bool refused;

	secrets_add(db->arena, &secrets, NULL, NULL);
	secrets_mask(&secrets, str_of(why->text), &masked);
	b->owner = NULL;
	b->fault = arena_printable(db->arena, buf_str(&masked), FAULT_SHOWN);
	b->active = clock_now();
	(void)branch_write(db, b, false, NULL, &refused, &ignored);
}

/* *changed: another process has changed the record since it was read, and nothing was done. */
static int remove_as_read(struct branchdb *db, const struct branchdb_branch *b, const char *reason,
	bool *changed, struct error *err)
{
	struct branchdb_branch now = *b;
	bool refused;

	if (branch_busy(db, b))
		return error_set(err, ERR_STATE, "database branch '%s' is being %s by %s", b->key,
			b->state == BRANCHDB_CREATING ? "created" : "removed", b->owner);
	branch_claim(db, &now, BRANCHDB_REMOVING);
	if (branch_write(db, &now, false, NULL, changed, err) < 0)
		return -1;
	if (*changed)
		return 0;
	if (b->state == BRANCHDB_LIVE)
		tell_divergence(db, b, reason);
	if (lifecycle_drop_branch(db, &now, err) < 0) {
		keep_fault(db, &now, err);
		return -1;
	}
	return branch_write(db, &now, true, NULL, &refused, err);
}

int branchdb_remove(
	struct branchdb *db, const struct branchdb_branch *b, const char *reason, struct error *err)
{
	bool changed;

	if (remove_as_read(db, b, reason, &changed, err) < 0)
		return -1;
	return changed ? error_set(err, ERR_STATE,
				 "another process has changed database branch '%s': try again",
				 b->key)
		       : 0;
}

int branchdb_remove_unlisted(struct branchdb *db, const struct database_pool_spec *pool,
	const char *key, struct error *err)
{
	const struct branchdb_branch b = {.key = key, .pool = pool->name, .adapter = pool->adapter};

	if (!str_starts(str_of(key), branch_mark(db->arena, db->site, pool->name)))
		return error_set(err, ERR_STATE,
			"'%.100s' is no branch that this repository has made of '%s'", key,
			pool->name);
	return lifecycle_drop_branch(db, &b, err);
}

/* ---- the sweep ---- */

static const char *due_reason(const struct branchdb *db, const struct branchdb_branch *b)
{
	const struct database_pool_spec *pool = lifecycle_find_spec(db, b->pool);
	int64_t now = clock_now();

	if (b->state != BRANCHDB_LIVE)
		return "interrupted";
	if (!pool)
		return NULL;
	if (pool->ttl_s && now - b->created > pool->ttl_s)
		return "ttl-expired";
	if (pool->abandon_s && now - b->active > pool->abandon_s)
		return "abandoned";
	return NULL;
}

static bool is_left_alone(struct branchdb *db, const struct branchdb_branch *b, bool again)
{
	int64_t since = clock_now() - b->active;

	if (b->state == BRANCHDB_LIVE)
		return db->site->in_use && *b->of && db->site->in_use(db->site->data, b->of);
	return branch_busy(db, b) || (!again && b->fault && since >= 0 && since < AGAIN_S);
}

int branchdb_sweep(struct branchdb *db, bool apply, bool again, struct branchdb_due_list *out,
	struct error *err)
{
	struct branchdb_list all;

	if (branchdb_list(db, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		struct branchdb_due due = {.of = all.items[i]};
		struct error why;
		bool changed = false; /* another process sees to it */

		due.reason = due_reason(db, &due.of);
		if (!due.reason || is_left_alone(db, &due.of, again))
			continue;
		due.removed = apply && remove_as_read(db, &due.of, due.reason, &changed, &why) == 0;
		if (apply && !due.removed)
			due.fault = arena_dup(db->arena, str_of(why.text));
		if (!changed)
			vec_push_in(db->arena, out, due);
	}
	return 0;
}

/* ---- creation ---- */

struct creation {
	struct branchdb *db;
	const struct branchdb_request *ask;
	const struct adapter *adapter;
	struct adapter_call call;
	struct branchdb_branch of;
	int64_t began; /* clock_ticks() */
	bool full;     /* no more may be made in advance */
	bool fresh;    /* of branchdb_renew() */
	struct error *err;
};

static int refuse_topology(struct creation *k)
{
	const struct database_pool_spec *pool = k->ask->pool;

	(void)lifecycle_tell(k->db, EVENT_BRANCH_TOPOLOGY_FORBIDDEN, k->ask->issue,
		JSON_OBJECT(
			JSON_TEXT("pool", pool->name), JSON_TEXT("branchFrom", pool->branch_from)));
	return error_set(k->err, ERR_STATE,
		"BranchTopologyForbidden: 'branchFrom: %s' of '%s' is the branch of an item in "
		"progress: name a stable one, or set 'allowBranchFromBranch: true'",
		pool->branch_from, pool->name);
}

static int set_parent(struct creation *k)
{
	struct branchdb_branch *parent;

	if (lifecycle_find_parent(k->db, k->ask->pool, &parent, k->err) < 0)
		return -1;
	if (!parent || strcmp(parent->key, k->of.key) == 0)
		return 0;
	if (!k->ask->pool->from_branch)
		return refuse_topology(k);
	if (!k->adapter->from_branch)
		return error_set(k->err, ERR_STATE,
			"the adapter '%s' makes no branch from a branch: '%s'", k->adapter->name,
			k->ask->pool->branch_from);
	k->call.parent = parent->key;
	return 0;
}

static int refuse_quota(struct creation *k, unsigned limit, bool vendor)
{
	const struct database_pool_spec *pool = k->ask->pool;

	(void)lifecycle_tell(k->db, EVENT_BRANCH_QUOTA_EXCEEDED, k->ask->issue,
		JSON_OBJECT(JSON_TEXT("pool", pool->name), JSON_TEXT("adapter", pool->adapter),
			JSON_INT("limit", limit)));
	if (vendor)
		return error_prefix(k->err, "BranchQuotaExceeded: '%s'", pool->name);
	return error_set(k->err, ERR_STATE,
		"BranchQuotaExceeded: '%s' has %u branches, as many as it may: reclaim one "
		"('dev-team "
		"db list'), or raise 'lifecycle.maxConcurrent'",
		pool->name, limit);
}

/* A fresh branch is the second of its worktree for a while: one at a time, under the merge gate. */
static unsigned lifecycle_limit_of(const struct creation *k)
{
	unsigned limit = k->ask->pool->max_branches + (k->fresh ? 1 : 0);

	return k->adapter->max && k->adapter->max < limit ? k->adapter->max : limit;
}

static int await_other(struct creation *k, const struct branchdb_branch *b)
{
	struct store_change *list;
	enum store_status got;
	int64_t next;
	size_t n;

	if (clock_ticks() - k->began > WAIT_MS)
		return error_set(k->err, ERR_STATE, "database branch '%s' is not finished by %s",
			b->key, b->owner);
	got = store_watch(k->db->store, k->db->arena, "at/", store_cursor(k->db->store), WATCH_MS,
		64, &list, &n, &next, k->err);
	return got == STORE_OK || got == STORE_COMPACTED ? 0 : -1;
}

/* Removes the branches that are due, or else one that was made in advance, or waits for one that is
 * just being made. *found false: there is none, and no more room than before. */
static int find_room(struct creation *k, unsigned limit, bool *found)
{
	struct branchdb_due_list due = {0};
	struct branchdb_branch *warm = NULL;
	struct branchdb_list all;
	struct branch_counts now;
	bool changed;

	if (branchdb_sweep(k->db, true, true, &due, k->err) < 0 ||
		branch_count(k->db, k->of.pool, &now, k->err) < 0 ||
		branchdb_list(k->db, &all, k->err) < 0)
		return -1;
	*found = true;
	if (now.all < limit)
		return 0;
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].warm && strcmp(all.items[i].pool, k->of.pool) == 0 &&
			!all.items[i].fault && (!warm || all.items[i].state == BRANCHDB_LIVE))
			warm = &all.items[i];
	*found = warm != NULL;
	if (!warm)
		return 0;
	return branch_busy(k->db, warm) ? await_other(k, warm)
					: remove_as_read(k->db, warm, "evicted", &changed, k->err);
}

/* Records it, if the limit allows. *refused: look again. */
static int record_creation(struct creation *k, bool *refused)
{
	unsigned limit = lifecycle_limit_of(k);
	struct branch_counts now;

	if (branch_count(k->db, k->of.pool, &now, k->err) < 0)
		return -1;
	k->full = k->ask->warm && (now.all >= limit || now.warm >= k->ask->pool->warm);
	if (k->full)
		return 0;
	if (now.all >= limit) {
		if (find_room(k, limit, refused) < 0)
			return -1;
		return *refused ? 0 : refuse_quota(k, limit, false);
	}
	branch_claim(k->db, &k->of, BRANCHDB_CREATING);
	k->of.mod = 0;
	k->of.created = k->of.active = clock_now();
	return branch_write(k->db, &k->of, false, &now.counter, refused, k->err);
}

static int refuse_adapter(struct creation *k)
{
	if (k->call.fault == ADAPTER_QUOTA) {
		k->err->code = ERR_STATE;
		return refuse_quota(k, lifecycle_limit_of(k), true);
	}
	if (k->call.fault != ADAPTER_UNAVAILABLE)
		return error_prefix(k->err, "DatabaseBranchPool '%s'", k->of.pool);
	(void)lifecycle_tell(k->db, EVENT_ADAPTER_UNAVAILABLE, k->ask->issue,
		JSON_OBJECT(JSON_TEXT("pool", k->of.pool), JSON_TEXT("adapter", k->of.adapter),
			JSON_TEXT("detail", k->err->text)));
	return error_prefix(k->err, "AdapterUnavailable: '%s'", k->of.pool);
}

/* A vendor's limit is met a second time only after room was made. */
static int make_branch(struct creation *k)
{
	bool found;

	k->call.fault = ADAPTER_OTHER;
	if (k->adapter->create(&k->call, k->err) == 0)
		return 0;
	if (k->call.fault == ADAPTER_QUOTA && !k->ask->warm) {
		(void)find_room(k, 0, &found);
		k->call.fault = ADAPTER_OTHER;
		if (k->adapter->create(&k->call, k->err) == 0)
			return 0;
	}
	return refuse_adapter(k);
}

static int migrate_branch(struct creation *k)
{
	const struct branchdb_request *q = k->ask;
	struct branchdb_environment env = {0};

	if (!q->pool->migration_command || q->read_only || (!q->pool->on_create && !k->fresh))
		return 0;
	if (branchdb_inject(k->db, q->pool, &k->of, false, &env, k->err) < 0)
		return -1;
	if (branch_migrate(k->db->arena, q, env.items, k->err) == 0)
		return 0;
	if (k->err->code != ERR_CHECK) /* it was not run: that says nothing about the migration */
		return error_prefix(k->err, "migrations of '%s'", k->of.pool);
	(void)lifecycle_tell(k->db, k->fresh ? EVENT_MIGRATION_CONFLICT : EVENT_MIGRATION_FAILED,
		q->issue,
		JSON_OBJECT(JSON_TEXT("pool", k->of.pool), JSON_TEXT("branchKey", k->of.key),
			JSON_IF(k->fresh, JSON_TEXT("branch", q->branch)),
			JSON_TEXT("detail", k->err->text)));
	return k->fresh ? error_prefix(k->err,
				  "MigrationConflict: on a fresh branch of '%s', after the rebase "
				  "of '%s'",
				  k->of.pool, q->branch)
			: error_prefix(k->err, "MigrationFailed");
}

static int finish_creation(struct creation *k)
{
	bool refused;

	branch_claim(k->db, &k->of, BRANCHDB_LIVE);
	k->of.method = k->call.method;
	if (branch_write(k->db, &k->of, false, NULL, &refused, k->err) < 0)
		return -1;
	(void)lifecycle_tell(k->db, EVENT_BRANCH_ALLOCATION_LATENCY, k->ask->issue,
		JSON_OBJECT(JSON_TEXT("pool", k->of.pool), JSON_TEXT("adapter", k->of.adapter),
			JSON_INT("durationMs", clock_ticks() - k->began),
			JSON_IF(k->of.method, JSON_TEXT("method", k->of.method))));
	return 0;
}

/* *refused: another process was faster. */
static int create_new(struct creation *k, bool *refused)
{
	struct error why;

	*refused = false;
	if (set_parent(k) < 0 || adapter_check(k->adapter, &k->call, k->err) < 0 ||
		record_creation(k, refused) < 0)
		return -1;
	if (*refused || k->full)
		return 0;
	if (make_branch(k) == 0 && migrate_branch(k) == 0)
		return k->fresh ? 0 : finish_creation(k);
	(void)branchdb_remove(k->db, &k->of, "failed", &why);
	return -1;
}

/* Used again; a clock that was set back counts as now. */
static int touch_branch(struct branchdb *db, struct branchdb_branch *b, struct error *err)
{
	int64_t now = clock_now();
	bool refused;

	if (now >= b->active && now - b->active < ACTIVE_S)
		return 0;
	b->active = now;
	return branch_write(db, b, false, NULL, &refused, err);
}

/* *over: the branch was made in advance, and is k->of. */
static int hand_over(struct creation *k, bool *over)
{
	const struct branchdb_request *q = k->ask;
	struct branchdb_branch *parent;

	if (!q->pool->warm || q->warm || q->read_only)
		return 0;
	if (lifecycle_find_parent(k->db, q->pool, &parent, k->err) < 0)
		return -1;
	if (parent)
		return 0;
	if (branch_take_warm(k->db, q, k->of.slot, &k->of, over, k->err) < 0)
		return -1;
	if (*over)
		(void)lifecycle_tell(k->db, EVENT_BRANCH_ALLOCATION_LATENCY, q->issue,
			JSON_OBJECT(JSON_TEXT("pool", k->of.pool),
				JSON_TEXT("adapter", k->of.adapter),
				JSON_INT("durationMs", clock_ticks() - k->began),
				JSON_TEXT("method", "warm")));
	return 0;
}

/* *over: k->of is the result. */
static int look_once(struct creation *k, bool *over)
{
	struct branchdb_branch now;
	bool refused;

	if (branch_read(k->db, k->of.pool, k->of.slot, &now, k->err) < 0 ||
		(!now.mod && hand_over(k, over) < 0))
		return -1;
	if (*over)
		return 0;
	if (!now.mod) {
		if (create_new(k, &refused) < 0)
			return -1;
		*over = !refused;
		return 0;
	}
	if (branch_busy(k->db, &now))
		return await_other(k, &now);
	/* Its owner may have finished it, and ended, since it was read. */
	if (now.state != BRANCHDB_LIVE)
		return remove_as_read(k->db, &now, "interrupted", &refused, k->err);
	k->of = now;
	*over = true;
	return touch_branch(k->db, &k->of, k->err);
}

/* `name`: what its key is made of. */
static int begin_creation(struct creation *k, struct branchdb *db, const struct branchdb_request *q,
	const char *name, struct error *err)
{
	*k = (struct creation){.db = db,
		.ask = q,
		.adapter = adapter_find(q->pool->adapter),
		.of = {.key = branch_key(db->arena, db->site, q->pool->name, name),
			.warm = q->warm,
			.pool = q->pool->name,
			.adapter = q->pool->adapter,
			.of = q->read_only || q->warm ? "" : q->branch},
		.began = clock_ticks(),
		.err = err};
	k->of.slot = k->of.key;
	k->call = (struct adapter_call){.arena = db->arena,
		.site = db->site,
		.pool = q->pool,
		.key = k->of.key,
		.read_only = q->read_only};
	return k->adapter ? 0
			  : error_set(err, ERR_INPUT, "there is no adapter '%s' in this program",
				    q->pool->adapter);
}

int branchdb_allocate(struct branchdb *db, const struct branchdb_request *q,
	struct branchdb_branch *out, struct error *err)
{
	struct creation k;
	bool over = false;

	if (begin_creation(&k, db, q, q->read_only ? "" : q->branch, err) < 0)
		return -1;
	while (!over)
		if (look_once(&k, &over) < 0)
			return -1;
	*out = k.of;
	return 0;
}

/* ---- after a rebase ---- */

int branchdb_renew(struct branchdb *db, const struct branchdb_request *q,
	struct branchdb_branch *out, struct error *err)
{
	struct creation k;
	bool refused = true;

	if (begin_creation(&k, db, q, branch_fresh_name(db->arena, q->branch), err) < 0)
		return -1;
	k.fresh = true;
	while (refused)
		if (create_new(&k, &refused) < 0)
			return -1;
	k.of.method = k.call.method;
	*out = k.of;
	return 0;
}

int branchdb_replace(struct branchdb *db, const struct database_pool_spec *pool,
	const struct branchdb_branch *fresh, struct error *err)
{
	struct branchdb_branch own = *fresh, *former;
	bool refused;

	if (branchdb_find(db, pool, fresh->of, &former, err) < 0)
		return -1;
	if (former && branch_busy(db, former))
		return error_set(err, ERR_STATE, "database branch '%s' is being removed by %s",
			former->key, former->owner);
	if (former && former->state == BRANCHDB_LIVE)
		tell_divergence(db, former, "renewed");
	if (branch_rename(db, &own, branch_key(db->arena, db->site, pool->name, fresh->of),
		    fresh->of, former, &refused, err) < 0)
		return -1;
	if (refused)
		return error_set(err, ERR_STATE,
			"another process has changed the database branch of '%s': try again",
			fresh->of);
	if (!former)
		return 0;
	if (lifecycle_drop_branch(db, former, err) < 0) {
		keep_fault(db, former, err);
		return 0;
	}
	return branch_write(db, former, true, NULL, &refused, err);
}

/* ---- checks ---- */

int branchdb_check(
	struct branchdb *db, const struct database_pool_spec *pool, bool reach, struct error *err)
{
	struct adapter_call c = {.arena = db->arena, .site = db->site, .pool = pool};
	const struct adapter *d;

	if (adapter_for(pool->adapter, &c, &d, err) < 0)
		return -1;
	return reach ? d->reach(&c, err) : 0;
}

bool branchdb_shares(const struct database_pool_spec *pool)
{
	const struct adapter *d = adapter_find(pool->adapter);

	return d && d->read_only;
}
