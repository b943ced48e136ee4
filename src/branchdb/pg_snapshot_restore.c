/*
 * pg_snapshot_restore.c: a branch is a database of the same server: a copy by the server itself
 * (CREATE DATABASE ... TEMPLATE), or if somebody is connected to the upstream, a dump that is
 * restored with PostgreSQL's own programs.
 */
#include "src/branchdb/adapter.h"
#include "src/sys/path.h"
#include "src/sys/postgres.h"
#include "src/sys/process.h"

enum { TOOL_S = 3600, OUTPUT_MAX = 64 << 10 };
#define OBJECT_IN_USE  "55006"
#define NO_DATABASE    "3D000"
#define MAINTENANCE_DB "postgres"

static bool may_force(const struct adapter_call *c)
{
	const char *yes = database_credential(c->pool, "force");

	return yes && strcmp(yes, "true") == 0;
}

/* The string of whoever creates databases. */
static const char *admin_of(const struct adapter_call *c)
{
	const char *name = database_credential(c->pool, "adminConnectionStringEnv");
	const char *value = name ? getenv(name) : NULL;

	return value && *value ? value : c->upstream;
}

static int pg_connect(struct adapter_call *c, struct postgres **out, struct error *err)
{
	if (postgres_open(c->arena, out, admin_of(c), MAINTENANCE_DB, c->key ? c->key : "dev-team",
		    err) == 0)
		return 0;
	c->fault = ADAPTER_UNAVAILABLE;
	return -1;
}

static int pg_check(struct adapter_call *c, struct error *err)
{
	const char *admin = database_credential(c->pool, "adminConnectionStringEnv"), *value;
	struct postgres_address parts;

	if (admin && adapter_variable("adminConnectionStringEnv", admin, &value, err) < 0)
		return -1;
	if (admin)
		adapter_keep_secret(value);
	if (postgres_parse(c->arena, c->upstream, &parts, err) < 0)
		return error_prefix(err, "the variable '%s'", c->pool->connection_env);
	return parts.database || c->pool->branch_from
		       ? 0
		       : error_set(err, ERR_INPUT, "the variable '%s' names no database",
				 c->pool->connection_env);
}

static const char *pg_source(const struct adapter_call *c)
{
	struct postgres_address parts;
	struct error ignored;

	if (c->parent && *c->parent)
		return c->parent;
	if (c->pool->branch_from)
		return c->pool->branch_from;
	return postgres_parse(c->arena, c->upstream, &parts, &ignored) == 0 ? parts.database : "";
}

static int pg_programs(struct error *err)
{
	static const char *const names[] = {"pg_dump", "pg_restore"};
	CLEANUP(arena_release) struct arena a = {0};
	bool blocked;

	for (size_t i = 0; i < COUNT(names); i++)
		if (!path_find_program(&a, names[i], &blocked))
			return error_set(err, ERR_SYSTEM,
				"there is no '%s': install PostgreSQL's client programs", names[i]);
	return 0;
}

static int pg_reach(struct adapter_call *c, struct error *err)
{
	CLEANUP(postgres_close) struct postgres *p = NULL;
	struct postgres_column found = {0};
	char state[POSTGRES_STATE];

	if (pg_programs(err) < 0 || pg_connect(c, &p, err) < 0 ||
		postgres_query(c->arena, p, "SELECT datname FROM pg_database WHERE datname = $1",
			pg_source(c), &found, state, err) < 0)
		return -1;
	return found.n ? 0
		       : adapter_refuse(c, ADAPTER_UNAVAILABLE, err,
				 "the server has no database of the name that '%s' or 'branchFrom' "
				 "gives",
				 c->pool->connection_env);
}

/* ---- creation ---- */

/* Only a database that is going to be copied; asked for by `force: true`. */
static int end_sessions(
	struct adapter_call *c, struct postgres *p, const char *database, struct error *err)
{
	char state[POSTGRES_STATE];

	return postgres_query(c->arena, p,
		"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1 "
		"AND pid <> pg_backend_pid()",
		database, NULL, state, err);
}

static int copy_template(struct adapter_call *c, struct postgres *p, char *state, struct error *err)
{
	const char *statement = arena_printf(c->arena, "CREATE DATABASE %s TEMPLATE %s",
		postgres_quote(c->arena, c->key), postgres_quote(c->arena, pg_source(c)));

	return postgres_query(c->arena, p, statement, NULL, NULL, state, err);
}

/* The login is in the environment, never in an argument. */
static int pg_tool(struct adapter_call *c, const char *const *argv, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct postgres_address parts;
	struct process p = {.argv = argv,
		.output = -1,
		.out = &out,
		.out_max = OUTPUT_MAX,
		.timeout_s = TOOL_S};
	struct process_end end;

	if (postgres_parse(c->arena, admin_of(c), &parts, err) < 0)
		return -1;
	p.env = parts.environment;
	buf_adds(&out, "");
	if (process_run(&p, &end, err) < 0)
		return -1;
	return process_check(&p, &end, argv[0], buf_str(&out), err);
}

/* Owners and rights are kept: roles belong to the server, and it is the same one. */
static int dump_and_restore(struct adapter_call *c, struct postgres *p, struct error *err)
{
	const char *file =
		path_join(c->arena, c->site->files, arena_printf(c->arena, "%s.dump", c->key));
	const char *const dump[] = {"pg_dump", "--format=custom", "--file", file, "--no-password",
		"--dbname", arena_printf(c->arena, "dbname='%s'", pg_source(c)), NULL};
	const char *const restore[] = {"pg_restore", "--exit-on-error", "--no-password", "--dbname",
		arena_printf(c->arena, "dbname='%s'", c->key), file, NULL};
	char state[POSTGRES_STATE];
	int rc;

	if (pg_programs(err) < 0 || path_mkdirs(c->site->files, err) < 0)
		return -1;
	rc = pg_tool(c, dump, err);
	if (rc == 0)
		rc = postgres_query(c->arena, p,
			arena_printf(c->arena, "CREATE DATABASE %s TEMPLATE template0",
				postgres_quote(c->arena, c->key)),
			NULL, NULL, state, err);
	if (rc == 0)
		rc = pg_tool(c, restore, err);
	(void)unlink(file);
	return rc;
}

/* The server itself waits five seconds for them to leave. */
static int is_connected(struct adapter_call *c, struct postgres *p, bool *busy, struct error *err)
{
	struct postgres_column found = {0};
	char state[POSTGRES_STATE];

	if (postgres_query(c->arena, p, "SELECT pid FROM pg_stat_activity WHERE datname = $1",
		    pg_source(c), &found, state, err) < 0)
		return -1;
	*busy = found.n > 0;
	return 0;
}

/* `'` and `\` in a name would end the pair of pg_dump's argument. */
static bool pg_snapshot_restore_is_plain(const char *name)
{
	return !strpbrk(name, "'\\");
}

static int pg_create(struct adapter_call *c, struct error *err)
{
	CLEANUP(postgres_close) struct postgres *p = NULL;
	char state[POSTGRES_STATE] = OBJECT_IN_USE;
	bool busy;

	if (pg_connect(c, &p, err) < 0 ||
		(may_force(c) && end_sessions(c, p, pg_source(c), err) < 0) ||
		is_connected(c, p, &busy, err) < 0)
		return -1;
	c->method = "template";
	if (!busy && copy_template(c, p, state, err) == 0)
		return 0;
	if (strcmp(state, NO_DATABASE) == 0)
		c->fault = ADAPTER_UNAVAILABLE;
	if (strcmp(state, OBJECT_IN_USE) != 0)
		return -1;
	if (!pg_snapshot_restore_is_plain(pg_source(c)))
		return error_set(err, ERR_STATE,
			"somebody is connected to the upstream, and its name has a quote or a "
			"backslash, which pg_dump cannot be told");
	c->method = "dump";
	return dump_and_restore(c, p, err);
}

/* ---- removal ---- */

/* A statement of ours that a dead process sent may still run, and create what is to be dropped. */
static int end_own_sessions(struct adapter_call *c, struct postgres *p, struct error *err)
{
	char state[POSTGRES_STATE];

	return postgres_query(c->arena, p,
		"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE "
		"application_name = $1 AND pid <> pg_backend_pid() AND usename = current_user",
		c->key, NULL, state, err);
}

static int pg_drop(struct adapter_call *c, struct error *err)
{
	CLEANUP(postgres_close) struct postgres *p = NULL;
	char state[POSTGRES_STATE];
	const char *statement = arena_printf(c->arena, "DROP DATABASE IF EXISTS %s%s",
		postgres_quote(c->arena, c->key), may_force(c) ? " WITH (FORCE)" : "");

	(void)unlink(
		path_join(c->arena, c->site->files, arena_printf(c->arena, "%s.dump", c->key)));
	if (pg_connect(c, &p, err) < 0 || end_own_sessions(c, p, err) < 0)
		return -1;
	if (postgres_query(c->arena, p, statement, NULL, NULL, state, err) == 0)
		return 0;
	if (strcmp(state, OBJECT_IN_USE) == 0)
		return adapter_refuse(c, ADAPTER_OTHER, err,
			"somebody is connected to it; close those sessions, or set "
			"'credentials.force: true'");
	return -1;
}

static int pg_list(struct adapter_call *c, struct adapter_keys *out, struct error *err)
{
	CLEANUP(postgres_close) struct postgres *p = NULL;
	struct postgres_column found = {0};
	char state[POSTGRES_STATE];

	if (pg_connect(c, &p, err) < 0 ||
		postgres_query(c->arena, p,
			"SELECT datname FROM pg_database WHERE starts_with(datname, $1) ORDER BY 1",
			c->key, &found, state, err) < 0)
		return -1;
	for (size_t i = 0; i < found.n; i++)
		vec_push_in(c->arena, out, found.items[i]);
	return 0;
}

static int pg_address(struct adapter_call *c, const char **out, struct error *err)
{
	(void)err;
	*out = postgres_with_database(c->arena, c->upstream, c->key);
	return 0;
}

const struct adapter adapter_pg_snapshot_restore = {.name = "pg-snapshot-restore",
	.max = 100,
	.check = pg_check,
	.reach = pg_reach,
	.create = pg_create,
	.drop = pg_drop,
	.list = pg_list,
	.address = pg_address};
