/* audit.c: records against worktrees, and against what the adapters list. */
#include "src/branchdb/adapter.h"
#include "src/branchdb/branchdb_internal.h"

static void branchdb_audit_add_leak(struct branchdb *db, struct branchdb_leaks *out,
	const char *kind, const char *key, const char *text)
{
	vec_push_in(db->arena, out, (struct branchdb_leak){kind, key, text});
}

static bool is_eager(const struct database_pool_spec *pool)
{
	return strcmp(pool->create_on, "worktree-allocation") == 0;
}

static bool outlives_worktree(const struct branchdb *db, const char *pool)
{
	for (size_t i = 0; i < db->site->n_pools; i++)
		if (strcmp(db->site->pools[i]->name, pool) == 0)
			return strcmp(db->site->pools[i]->reclaim_on, "manual") == 0;
	return false;
}

static void check_record(struct branchdb *db, const struct branchdb_branch *b,
	const char *const *worktrees, struct branchdb_leaks *out)
{
	if (branch_busy(db, b))
		return;
	if (b->state != BRANCHDB_LIVE)
		branchdb_audit_add_leak(db, out,
			b->state == BRANCHDB_CREATING ? "half-made-branch" : "half-removed-branch",
			b->key, b->fault ? b->fault : "no process is working on it");
	else if (*b->of && !str_in(str_of(b->of), worktrees) && !outlives_worktree(db, b->pool))
		branchdb_audit_add_leak(db, out, "branch-without-worktree", b->key,
			arena_printf(db->arena,
				"its worktree, of branch '%s', no longer exists: 'dev-team db "
				"reclaim %s'",
				b->of, b->key));
}

static const struct branchdb_branch *recorded(
	const struct branchdb_list *all, const char *pool, const char *key)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->items[i].key, key) == 0 && strcmp(all->items[i].pool, pool) == 0)
			return &all->items[i];
	return NULL;
}

static bool in_slot(const struct branchdb_list *all, const char *pool, const char *slot)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->items[i].slot, slot) == 0 && strcmp(all->items[i].pool, pool) == 0)
			return true;
	return false;
}

static bool branchdb_audit_is_listed(const struct adapter_keys *keys, const char *key)
{
	for (size_t i = 0; i < keys->n; i++)
		if (strcmp(keys->items[i], key) == 0)
			return true;
	return false;
}

static void compare_lists(struct branchdb *db, const struct database_pool_spec *pool,
	const struct branchdb_list *all, const struct adapter_keys *keys,
	struct branchdb_leaks *out)
{
	for (size_t i = 0; i < keys->n; i++)
		if (!recorded(all, pool->name, keys->items[i]))
			branchdb_audit_add_leak(db, out, "unrecorded-branch", keys->items[i],
				arena_printf(db->arena,
					"it has no record; if no program uses it: 'dev-team db "
					"reclaim "
					"%s'",
					keys->items[i]));
	for (size_t i = 0; i < all->n; i++)
		if (all->items[i].state == BRANCHDB_LIVE &&
			strcmp(all->items[i].pool, pool->name) == 0 &&
			!branchdb_audit_is_listed(keys, all->items[i].key))
			branchdb_audit_add_leak(db, out, "missing-branch", all->items[i].key,
				arena_printf(db->arena, "it is recorded, and '%s' no longer has it",
					pool->name));
}

static void check_pool_branches(struct branchdb *db, const struct database_pool_spec *pool,
	const struct branchdb_list *all, struct branchdb_leaks *out)
{
	struct adapter_call c = {.arena = db->arena,
		.site = db->site,
		.pool = pool,
		.parent = "",
		.key = branch_mark(db->arena, db->site, pool->name)};
	const struct adapter *d = adapter_find(pool->adapter);
	struct adapter_keys keys = {0};
	struct error why;
	int rc = -1;

	if (!d)
		return;
	if (adapter_check(d, &c, &why) == 0)
		rc = d->list(&c, &keys, &why);
	if (rc < 0)
		branchdb_audit_add_leak(db, out, "unknown-branches", pool->name,
			arena_dup(db->arena, str_of(why.text)));
	else if (rc == 0)
		compare_lists(db, pool, all, &keys, out);
}

int branchdb_audit(struct branchdb *db, const char *const *worktrees, struct branchdb_leaks *out,
	struct error *err)
{
	struct branchdb_list all;

	if (branchdb_list(db, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		check_record(db, &all.items[i], worktrees, out);
	for (size_t i = 0; i < db->site->n_pools; i++) {
		const struct database_pool_spec *pool = db->site->pools[i];

		check_pool_branches(db, pool, &all, out);
		for (size_t k = 0; is_eager(pool) && worktrees[k]; k++)
			if (!in_slot(&all, pool->name,
				    branch_key(db->arena, db->site, pool->name, worktrees[k])))
				branchdb_audit_add_leak(db, out, "worktree-without-branch",
					worktrees[k],
					arena_printf(db->arena,
						"it has no branch of '%s': 'dev-team db allocate "
						"%s'",
						pool->name, worktrees[k]));
	}
	return 0;
}
