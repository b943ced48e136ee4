/* renewal.c: a rebased branch gets databases that its migrations were repeated on. */
#include "src/run/databases.h"

/* The worktree's own branch of one database: replaced by a fresh one, or as it is. */
static int renew_one(struct pool_renewal *r, const struct database_pool_spec *pool,
	const char *files, bool rebased, struct branchdb_environment *env, struct error *err)
{
	const struct branchdb_request q = {
		.pool = pool, .branch = r->branch, .worktree = files, .issue = r->issue};
	struct branchdb_branch *own, fresh;

	if (branchdb_find(&r->d.db, pool, r->branch, &own, err) < 0)
		return -1;
	if (!own)
		return 0;
	if (!rebased || !pool->migration_command)
		return branchdb_inject(&r->d.db, pool, own, false, env, err);
	if (branchdb_renew(&r->d.db, &q, &fresh, err) < 0)
		return -1;
	vec_push_in(r->arena, &r->fresh, fresh);
	return branchdb_inject(&r->d.db, pool, &fresh, false, env, err);
}

static int pool_renewal_begin(void *data, const char *files, bool rebased, const char *const **env,
	const char **conflict, struct error *err)
{
	struct pool_renewal *r = data;
	struct branchdb_environment list = {0};
	struct pool *p = r->pool;

	*conflict = NULL;
	*env = NULL;
	if (!p->spec.n_databases)
		return 0;
	pool_databases_withhold(r->arena, p->spec.databases, p->spec.n_databases, &list);
	*env = list.items;
	if (pool_databases_open(r->arena, p, &r->d, err) < 0)
		return -1;
	for (size_t i = 0; i < p->spec.n_databases; i++) {
		if (renew_one(r, p->spec.databases[i], files, rebased, &list, err) == 0)
			continue;
		if (err->code != ERR_CHECK)
			return -1;
		*conflict = arena_dup(r->arena, str_of(err->text));
		return 0;
	}
	*env = list.items;
	return 0;
}

static int pool_renewal_keep(void *data, struct error *err)
{
	struct pool_renewal *r = data;
	struct pool *p = r->pool;

	while (r->fresh.n) {
		const struct branchdb_branch *b = &r->fresh.items[r->fresh.n - 1];

		for (size_t i = 0; i < p->spec.n_databases; i++)
			if (strcmp(p->spec.databases[i]->name, b->pool) == 0 &&
				branchdb_replace(&r->d.db, p->spec.databases[i], b, err) < 0)
				return -1;
		r->fresh.n--;
	}
	return 0;
}

static void pool_renewal_end(void *data)
{
	struct pool_renewal *r = data;
	struct error why;

	for (size_t i = 0; i < r->fresh.n; i++)
		if (branchdb_remove(&r->d.db, &r->fresh.items[i], "renewed", &why) < 0)
			error_print(&why);
	r->fresh.n = 0;
	pool_databases_close(&r->d);
}

struct rebase_part pool_renewal_part(struct pool_renewal *r)
{
	return (struct rebase_part){pool_renewal_begin, pool_renewal_keep, pool_renewal_end, r};
}
