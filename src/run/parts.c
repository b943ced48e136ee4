/* parts.c: what lives and dies with a worktree: a branch of each of its pool's databases. */
#include "src/run/databases.h"
#include "src/run/run_internal.h"
#include "src/sandbox/sandbox.h"
#include "src/store/disk.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

#define BRANCH_FILES ".databases" /* below the directory of the worktrees, never in one */

/* ---- the two rooms together ---- */

int pool_databases_in_use(
	struct pool_databases *d, const char *branch, bool *used, struct error *err)
{
	struct allocation of;

	if (pool_find(d->arena, d->pool, branch, false, &of, err) < 0)
		return -1;
	*used = of.branch && (of.state != ALLOCATION_LIVE || pool_live(d->arena, d->pool, &of));
	return 0;
}

static bool is_in_use(void *data, const char *branch)
{
	struct error ignored;
	bool used;

	return pool_databases_in_use(data, branch, &used, &ignored) < 0 || used; /* unsure */
}

int pool_databases_open(
	struct arena *a, struct pool *p, struct pool_databases *out, struct error *err)
{
	*out = (struct pool_databases){
		.site = {.state = p->state,
			.repo = p->repo,
			.common = p->common,
			.files = path_join(a, p->dir, BRANCH_FILES),
			.artifacts = p->artifacts,
			.pools = (const struct database_pool_spec *const *)p->spec.databases,
			.n_pools = p->spec.n_databases,
			.in_use = is_in_use,
			.data = out},
		.arena = a,
		.pool = p};
	return branchdb_open(a, &out->site, &out->db, err);
}

void pool_databases_close(struct pool_databases *d)
{
	branchdb_close(&d->db);
}

static int list_worktrees(struct pool_databases *d, const char *const **out, struct error *err)
{
	VEC(const char *) names = {0};
	struct allocation *list;
	size_t n;

	if (pool_list(d->arena, d->pool, &list, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (list[i].state == ALLOCATION_LIVE)
			vec_push_in(d->arena, &names, list[i].branch);
	vec_push_in(d->arena, &names, NULL);
	*out = names.items;
	return 0;
}

static int inject_one(struct pool_databases *d, const struct database_pool_spec *pool,
	const struct allocation *of, enum database_access access, const char *issue,
	struct branchdb_environment *out, struct error *err)
{
	struct branchdb_request q = {
		.pool = pool, .branch = of->branch, .worktree = of->path, .issue = issue};
	bool read_only = access == DATABASE_READ;
	struct branchdb_branch *own, b;

	if (read_only && branchdb_shares(pool)) {
		if (branchdb_find(&d->db, pool, of->branch, &own, err) < 0)
			return -1;
		q.read_only = !own;
	}
	if (branchdb_allocate(&d->db, &q, &b, err) < 0)
		return -1;
	return branchdb_inject(&d->db, pool, &b, read_only, out, err);
}

/* Adds to `names` those of the variables that are set from `from` on, the target's first. */
static void add_names(const struct branchdb_environment *env, size_t from, struct buf *names)
{
	const char *between = names->len ? " " : "";

	for (size_t i = from; i < env->n; i++) {
		const char *is = strchr(env->items[i], '=');

		if (!is)
			continue;
		buf_addf(names, "%s%.*s", between, (int)(is - env->items[i]), env->items[i]);
		between = ",";
	}
}

int pool_databases_environment(struct pool_databases *d, const struct allocation *of,
	enum database_access access, const char *issue, struct branchdb_environment *out,
	struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	/* A variable of one database may be the upstream's of another one. */
	pool_databases_withhold(d->arena, d->pool->spec.databases, d->pool->spec.n_databases, out);
	for (size_t i = 0; access != DATABASE_NONE && i < d->pool->spec.n_databases; i++) {
		size_t from = out->n;

		if (inject_one(d, d->pool->spec.databases[i], of, access, issue, out, err) < 0)
			return -1;
		add_names(out, from, &names);
	}
	if (names.len) {
		vec_push_in(d->arena, out,
			arena_printf(d->arena, POOL_DATABASES_VARIABLE "=%s", names.s));
		vec_push_in(d->arena, out, NULL);
		out->n--;
	}
	return 0;
}

void pool_databases_withhold(struct arena *a, const struct database_pool_spec **list, size_t n,
	struct branchdb_environment *out)
{
	for (size_t i = 0; i < n; i++)
		branchdb_withhold(a, list[i], out);
	vec_push_in(a, out, POOL_DATABASES_VARIABLE);
	vec_push_in(a, out, NULL);
	out->n--;
}

void pool_databases_keep_upstreams(
	const struct database_pool_spec **list, size_t n, struct branchdb_environment *env)
{
	size_t kept = 0;

	for (size_t i = 0; i < env->n; i++) {
		bool upstream = false;

		for (size_t k = 0; k < n; k++)
			upstream |= strcmp(env->items[i], list[k]->connection_env) == 0;
		if (!upstream)
			env->items[kept++] = env->items[i];
	}
	env->items[kept] = NULL;
	env->n = kept;
}

/* ---- an action of a run ---- */

/* Scripts and scripted agents inherit it; harnesses get it as a list. */
static int parts_inherit(struct arena *a, const char *const *env, struct error *err)
{
	for (size_t i = 0; env[i]; i++)
		if (!strchr(env[i], '='))
			(void)unsetenv(env[i]);
	for (size_t i = 0; env[i]; i++) {
		const char *is = strchr(env[i], '=');

		if (is &&
			setenv(arena_printf(a, "%.*s", (int)(is - env[i]), env[i]), is + 1, 1) < 0)
			return error_errno(err, "cannot set a variable of a database");
	}
	return 0;
}

static int stage_environment(struct arena *a, const struct run_item *r,
	const struct stage_spec *stage, struct branchdb_environment *out, struct error *err)
{
	CLEANUP(pool_databases_close) struct pool_databases d = {0};
	CLEANUP(pool_close) struct pool pool = {0};
	struct allocation of;

	if (!r->worktree.of.branch)
		return error_set(err, ERR_STATE,
			"stage '%s' has 'databaseAccess', and works in the checkout: a database "
			"branch belongs to a worktree",
			stage->name);
	return run_pool_open(a, &r->worktree, r->call.repo, &pool, err) < 0 ||
			       pool_find(a, &pool, r->worktree.of.branch, true, &of, err) < 0 ||
			       pool_databases_open(a, &pool, &d, err) < 0
		       ? -1
		       : pool_databases_environment(&d, &of, stage->database, r->call.id, out, err);
}

/* What src/branchdb begins its message with. */
static const char *database_failure(const struct error *err)
{
	static const char *const names[] = {
		"AdapterUnavailable", "BranchQuotaExceeded", "MigrationFailed"};

	for (size_t i = 0; i < COUNT(names); i++)
		if (str_starts(str_of(err->text), names[i]))
			return names[i];
	return NULL;
}

/* As often as the stage's onFailure says. */
static int stage_environment_tried(struct arena *a, const struct run_item *r,
	const struct stage_spec *stage, struct branchdb_environment *env, struct error *err)
{
	for (unsigned tries = 0;; tries++) {
		const char *name;
		struct error why;

		if (stage_environment(a, r, stage, env, &why) == 0)
			return 0;
		*err = why;
		name = database_failure(err);
		if (!name)
			return -1;
		if (!run_failure_applies(stage, name, FAILURE_RETRY) || tries >= stage->max_retries)
			return run_failure_end(r, stage, name, err) < 0
				       ? error_prefix(err, "%.600s", why.text)
				       : -1;
		error_log("dev-team: %s: retry %u of %u", why.text, tries + 1, stage->max_retries);
		if (run_interrupt_wait((int)(stage->retry_delay_s * 1000)))
			return error_set(err, ERR_STATE, "interrupted");
	}
}

int run_setup_databases(struct arena *a, struct run_item *r, const json *action, struct error *err)
{
	const struct worktree_pool_spec *pool = r->worktree.pool;
	const char *agent = json_get_str(action, "agent");
	const struct stage_spec *stage =
		run_agent_stage(a, r->pipeline, json_get_str(action, "id"), agent ? agent : "");
	struct branchdb_environment env = {0};

	if (!pool || !pool->n_databases)
		return 0;
	if (!stage || stage->database == DATABASE_NONE)
		pool_databases_withhold(a, pool->databases, pool->n_databases, &env);
	else if (stage_environment_tried(a, r, stage, &env, err) < 0)
		return -1;
	if (!agent && stage && stage->holds_gate)
		pool_databases_keep_upstreams(pool->databases, pool->n_databases, &env);
	r->database_env = env.items;
	return parts_inherit(a, env.items, err);
}

/* ---- branches made in advance ---- */

static int refill_run(
	struct pool_databases *d, const char *name, const char *const *argv, struct error *err)
{
	struct git_command c = {.dir = d->pool->repo, .name = name, .argv = argv};
	int rc;

	if (pool_lock(d->arena, d->pool, err) < 0)
		return -1;
	c.inherit = disk_lock_descriptor(d->pool->lock);
	rc = git_command(&c, NULL, NULL, err);
	pool_unlock(d->pool);
	return rc;
}

/* What a killed refill left goes, too: git does not remove a worktree that it has half removed. Not
 * `git worktree prune`, which also forgets those of the user whose directory has moved. */
static int drop_throw_away(struct pool_databases *d, const char *dir, struct error *err)
{
	const char *const remove[] = {"sh", "-c",
		"rm -rf -- \"$1\" && { git worktree remove --force --force \"$1\" || :; }", "sh",
		dir, NULL};

	return refill_run(d, "git worktree", remove, err);
}

static int refill_in(struct pool_databases *d, const char *dir, size_t *made, struct error *err)
{
	struct git_default known;
	const char *commit = "HEAD";
	size_t n;

	if (git_read_default(d->arena, d->pool->repo, &known, err) < 0)
		return -1;
	if (known.commit)
		commit = known.commit;
	const char *const add[] = {
		"git", "worktree", "add", "--quiet", "--detach", dir, commit, NULL};

	if (drop_throw_away(d, dir, err) < 0 || refill_run(d, "git worktree", add, err) < 0)
		return -1;
	for (size_t i = 0; i < d->pool->spec.n_databases; i++) {
		if (!d->pool->spec.databases[i]->warm)
			continue;
		if (branchdb_refill(&d->db, d->pool->spec.databases[i], dir, &n, err) < 0)
			return -1;
		*made += n;
	}
	return 0;
}

int pool_databases_refill(struct pool_databases *d, size_t *made, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	const char *dir = path_join(d->arena, d->pool->dir, ".warm");
	struct error ignored;
	int rc;

	*made = 0;
	if (pool_make_directory(d->arena, d->pool, err) < 0)
		return -1;
	if (disk_lock_take(&lock, arena_printf(d->arena, "%s.lock", dir), 0, err) < 0)
		return err->code == ERR_STATE ? 0 : -1;
	rc = refill_in(d, dir, made, err);
	(void)drop_throw_away(d, dir, &ignored);
	return rc;
}

/* By a process that outlives this one, or else by the next command. */
static void leave_refill(struct arena *a, struct pool_databases *d)
{
	const struct database_pool_spec *first = d->pool->spec.databases[0];
	const char *program = path_own_program(a);
	bool lacks = false;
	struct error ignored;

	for (size_t i = 0; i < d->pool->spec.n_databases && !lacks; i++)
		(void)branchdb_lacks_warm(&d->db, d->pool->spec.databases[i], &lacks, &ignored);
	if (lacks && program && first->file)
		process_leave((const char *const[]){program, "db", "refill", "--repo",
			d->pool->repo, "--pool", d->pool->spec.name, "--resources",
			arena_dup(a, path_dir(first->file)), NULL});
}

/* ---- the part ---- */

static int part_create(struct arena *a, struct pool *p, const struct allocation *of,
	const char *issue, struct error *err)
{
	CLEANUP(pool_databases_close) struct pool_databases d = {0};

	for (size_t i = 0; i < p->spec.n_databases; i++) {
		const struct branchdb_request q = {.pool = p->spec.databases[i],
			.branch = of->branch,
			.worktree = of->path,
			.issue = issue};
		struct branchdb_branch b;

		if (strcmp(q.pool->create_on, "worktree-allocation") != 0)
			continue;
		if ((!d.pool && pool_databases_open(a, p, &d, err) < 0) ||
			branchdb_allocate(&d.db, &q, &b, err) < 0)
			return -1;
	}
	if (d.pool)
		leave_refill(a, &d);
	return 0;
}

static bool outlives(const struct pool *p, const struct branchdb_branch *b)
{
	for (size_t i = 0; i < p->spec.n_databases; i++)
		if (strcmp(p->spec.databases[i]->name, b->pool) == 0)
			return strcmp(p->spec.databases[i]->reclaim_on, "manual") == 0;
	return false;
}

/* Also of databases that the resources no longer name. */
static bool has_branches(const struct pool *p)
{
	struct error ignored;
	bool there = false;

	return p->spec.n_databases || (store_exists(store_backend(), p->state, "databases",
					       "databases", &there, &ignored) == 0 &&
					      there);
}

static void part_release(struct arena *a, struct pool *p, const struct allocation *of)
{
	CLEANUP(pool_databases_close) struct pool_databases d = {0};
	struct branchdb_list all = {0};
	struct error why;

	if (!has_branches(p))
		return;
	if (pool_databases_open(a, p, &d, &why) < 0 || branchdb_list(&d.db, &all, &why) < 0)
		error_print(&why);
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.items[i].of, of->branch) == 0 &&
			(of->state == ALLOCATION_MAKING || !outlives(p, &all.items[i])) &&
			branchdb_remove(&d.db, &all.items[i], "manual-reclaim", &why) < 0)
			error_print(&why);
}

static int sweep_on_opening(struct pool_databases *d, struct error *err)
{
	struct branchdb_due_list due = {0};

	if (branchdb_sweep(&d->db, true, false, &due, err) < 0)
		return -1;
	for (size_t i = 0; i < due.n; i++)
		if (!due.items[i].removed)
			error_log("dev-team: %s", due.items[i].fault);
	return 0;
}

static int part_inspect(
	struct arena *a, struct pool *p, pool_report *report, void *data, struct error *err)
{
	CLEANUP(pool_databases_close) struct pool_databases d = {0};
	struct branchdb_leaks leaks = {0};
	const char *const *worktrees;

	if (report ? !has_branches(p) : !p->spec.n_databases)
		return 0;
	if (pool_databases_open(a, p, &d, err) < 0)
		return -1;
	if (!report)
		return sweep_on_opening(&d, err);
	if (list_worktrees(&d, &worktrees, err) < 0 ||
		branchdb_audit(&d.db, worktrees, &leaks, err) < 0)
		return -1;
	for (size_t i = 0; i < leaks.n; i++)
		report(data, leaks.items[i].kind, leaks.items[i].key, leaks.items[i].text);
	return 0;
}

void pool_databases_use(void)
{
	static const struct pool_part databases = {
		.create = part_create, .inspect = part_inspect, .release = part_release};

	pool_set_part(&databases);
}
