/* inject.c: what a stage learns of its branch: variables, and nothing of the upstream. */
#include <strings.h>
#include "src/branchdb/adapter.h"
#include "src/branchdb/branchdb_internal.h"
#include "src/sys/path.h"
#include "src/sys/postgres.h"
#include "src/sys/process.h"
#include "src/sys/secrets.h"

enum { MIGRATION_S = 1800, OUTPUT_MAX = 64 << 10 };

/* ---- parts of an address ---- */

static const char *inject_part_of(const struct postgres_address *p, const char *variable)
{
	const struct {
		const char *names[3], *value;
	} table[] = {{{"PGHOST", "POSTGRES_HOST", "DB_HOST"}, p->host},
		{{"PGPORT", "POSTGRES_PORT", "DB_PORT"}, p->port ? p->port : "5432"},
		{{"PGDATABASE", "POSTGRES_DB", "DB_NAME"}, p->database},
		{{"PGUSER", "POSTGRES_USER", "DB_USER"}, p->user},
		{{"PGPASSWORD", "POSTGRES_PASSWORD", "DB_PASSWORD"}, p->password}};

	for (size_t i = 0; i < COUNT(table); i++)
		for (size_t k = 0; k < COUNT(table[i].names); k++)
			if (strcasecmp(variable, table[i].names[k]) == 0)
				return table[i].value;
	return NULL;
}

static void inject_add_set(
	struct arena *a, struct branchdb_environment *out, const char *name, const char *value)
{
	vec_reserve_in(a, out, 2);
	out->items[out->n++] = arena_printf(a, "%s=%s", name, value);
	out->items[out->n] = NULL;
}

static void add_removal(struct arena *a, struct branchdb_environment *out, const char *name)
{
	vec_reserve_in(a, out, 2);
	out->items[out->n++] = name;
	out->items[out->n] = NULL;
}

/* A variable that the address has no part for is removed: it would be of another database. */
static void inject_add_parts(struct arena *a, const struct database_pool_spec *pool,
	const char *address, struct branchdb_environment *out)
{
	struct postgres_address parts = {0};
	struct error ignored;

	if (pool->additional_envs.n && !strstr(address, "file:") && address[0] != '/')
		(void)postgres_parse(a, address, &parts, &ignored);
	for (size_t i = 0; i < pool->additional_envs.n; i++) {
		const char *name = pool->additional_envs.list[i],
			   *value = inject_part_of(&parts, name);

		if (value && (parts.host || parts.database))
			inject_add_set(a, out, name, value);
		else
			add_removal(a, out, name);
	}
}

int branchdb_inject(struct branchdb *db, const struct database_pool_spec *pool,
	const struct branchdb_branch *b, bool read_only, struct branchdb_environment *out,
	struct error *err)
{
	const struct adapter *d = adapter_find(b->adapter);
	struct adapter_call c = {.arena = db->arena,
		.site = db->site,
		.pool = pool,
		.key = b->key,
		.parent = "",
		.read_only = read_only && d->read_only};
	const char *address;

	if (adapter_check(d, &c, err) < 0)
		return -1;
	if (d->address(&c, &address, err) < 0)
		return error_prefix(err, "database branch '%s'", b->key);
	adapter_keep_secret(address);
	if (strcmp(pool->connection_env, pool->target_env) != 0)
		add_removal(db->arena, out, pool->connection_env);
	inject_add_set(db->arena, out, pool->target_env, address);
	inject_add_parts(db->arena, pool, address, out);
	return 0;
}

void branchdb_withhold(
	struct arena *a, const struct database_pool_spec *pool, struct branchdb_environment *out)
{
	add_removal(a, out, pool->connection_env);
	add_removal(a, out, pool->target_env);
	for (size_t i = 0; i < pool->additional_envs.n; i++)
		add_removal(a, out, pool->additional_envs.list[i]);
}

/* `SCHEME://USER@HOST:PORT/...` of another vendor; a host in brackets without them. */
static bool read_authority(struct arena *a, const char *address, struct branchdb_endpoint *out)
{
	const char *begin = strstr(address, "://"), *end, *at, *colon;
	struct str host;

	if (!begin)
		return false;
	begin += strlen("://");
	end = begin + strcspn(begin, "/?#");
	for (at = end; at > begin && at[-1] != '@'; at--)
		;
	host = (struct str){at, (size_t)(end - at)};
	for (colon = end; colon > at && colon[-1] != ':' && colon[-1] != ']'; colon--)
		;
	if (colon > at && colon[-1] == ':') {
		out->port = arena_dup(a, (struct str){colon, (size_t)(end - colon)});
		host.n = (size_t)(colon - 1 - at);
	}
	if (str_starts(host, "[") && str_ends(host, "]"))
		host = str_sub(host, 1, host.n - 1);
	out->host = arena_dup(a, host);
	return host.n && out->port && *out->port;
}

bool branchdb_find_endpoint(struct arena *a, const char *address, struct branchdb_endpoint *out)
{
	const char *file = sqlite_file_of(a, address);
	struct postgres_address parts;
	struct error ignored;

	*out = (struct branchdb_endpoint){0};
	if (file) {
		out->directory = arena_dup(a, path_dir(file));
		out->read_only = str_ends(str_of(address), "?mode=ro");
		return true;
	}
	if (strstr(address, "://") && !postgres_is_url(address))
		return read_authority(a, address, out);
	if (postgres_parse(a, address, &parts, &ignored) < 0)
		return false;
	out->host = parts.host && *parts.host ? parts.host : "/var/run/postgresql";
	out->port = parts.port && *parts.port ? parts.port : "5432";
	return true;
}

/* ---- migrations ---- */

int branch_migrate(struct arena *a, const struct branchdb_request *q, const char *const *env,
	struct error *err)
{
	const struct database_pool_spec *pool = q->pool;
	const char *const argv[] = {"sh", "-c", pool->migration_command, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const struct process p = {.argv = argv,
		.cwd = pool->migration_cwd ? path_join(a, q->worktree, pool->migration_cwd)
					   : q->worktree,
		.env = env,
		.output = -1,
		.out = &out,
		.out_max = OUTPUT_MAX,
		.timeout_s = MIGRATION_S};
	struct process_end end;

	CLEANUP(buf_release) struct buf masked = BUF_INIT;
	struct secrets secrets = {0};
	bool there;

	buf_adds(&out, "");
	buf_adds(&masked, "");
	if (path_check_exists(p.cwd, &there, err) < 0)
		return -1;
	if (!there)
		return error_set(err, ERR_CHECK, "'%s' of 'migrations of %s' does not exist", p.cwd,
			pool->name);
	if (process_run(&p, &end, err) < 0)
		return -1;
	secrets_add(a, &secrets, NULL, NULL);
	secrets_mask(&secrets, buf_str(&out), &masked);
	if (process_check(&p, &end, arena_printf(a, "migrations of %s", pool->name),
		    buf_str(&masked), err) == 0)
		return 0;
	err->code = ERR_CHECK;
	return -1;
}
