/*
 * Decisions of the specification about DatabaseBranchPool (its section 15), as far as no server is
 * needed. A number in a comment is that of a vector of the reference. Vectors 9 and 15 are in
 * tests/spec/proof-database-rules.md and proof-database-vendors.md.
 */
#include <sys/wait.h>
#include "src/branchdb/branchdb.h"
#include "src/branchdb/branchdb_internal.h"
#include "src/sys/secrets.h"
#include "tests/lib/run.h"
#include "tests/lib/shell.h"

static struct error err;
static struct resources resources;
static struct branchdb_site site;
static struct branchdb db;

#define POOL(adapter, more)                                                                        \
	"apiVersion: dev-team/v1\nkind: DatabaseBranchPool\nmetadata: {name: app}\nspec:\n"        \
	"  adapter: " adapter "\n  upstream: {connectionStringEnv: UP}\n  injection: {targetEnv: " \
	"TARGET, additionalEnvs: [PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD]}\n" more
#define SQLITE(more) POOL("sqlite-copy", more)
#define EXTERNAL(address)                                                                          \
	POOL("external", "  credentials: {acknowledgeUntrusted: true, reclaimCommand: 'true', "    \
			 "allocateCommand: \"echo '" address "' #\"}\n")

static const struct database_pool_spec *have_pool(const char *yaml)
{
	static const struct database_pool_spec *pools[1];

	if (resources_parse(&arena, "r.yaml", str_of(yaml), &resources, &err) < 0)
		fail_msg("%s", err.text);
	pools[0] = resources_database(&resources, NULL);
	site = (struct branchdb_site){.state = at("state"),
		.repo = base,
		.common = "/the/repository",
		.files = at("files"),
		.pools = pools,
		.n_pools = 1};
	branchdb_close(&db);
	assert_int_equal(branchdb_open(&arena, &site, &db, &err), 0);
	setenv("UP", at("up"), 1);
	setenv("DEV_TEAM_LOCK_WAIT_MS", "600000", 1); /* the last one waits for all others */
	return pools[0];
}

static int branchdb_begin(void **state)
{
	return scratch_make(state);
}

static int branchdb_end(void **state)
{
	branchdb_close(&db);
	return scratch_remove(state);
}
#define BRANCHDB_TEST(name) UNIT_TEST(name, branchdb_begin, branchdb_end)

static int make(const struct database_pool_spec *pool, const char *branch, bool read_only,
	struct branchdb_branch *out)
{
	const struct branchdb_request q = {
		.pool = pool, .branch = branch, .worktree = base, .read_only = read_only};

	return branchdb_allocate(&db, &q, out, &err);
}

/* `NAME` alone: it is removed. NULL: it is left as it is. */
static const char *entry_of(const struct branchdb_environment *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->items[i], name, n) == 0 &&
			(!env->items[i][n] || env->items[i][n] == '='))
			return env->items[i];
	return NULL;
}

BRANCHDB_TEST(an_address_leads_to_a_directory_or_a_server)
{
	static const struct {
		const char *address, *directory, *host, *port;
		bool read_only;
	} rows[] = {
		{"/a/b/branch.sqlite", "/a/b", NULL, NULL, false},
		{"file:///a%20b/c.sqlite?mode=ro", "/a b", NULL, NULL, true},
		{"postgresql://u:p%40@h.example:6543/d", NULL, "h.example", "6543", false},
		{"postgres://u@[::1]/d", NULL, "::1", "5432", false},
		{"postgresql:///d?host=/run/pg&port=7", NULL, "/run/pg", "7", false},
		{"dbname=d", NULL, "/var/run/postgresql", "5432", false},
		{"mysql://u:p@h:3306/d", NULL, "h", "3306", false},
		{"mysql://u:p:@[::1]:3306", NULL, "::1", "3306", false},
		{"mysql://h/d", NULL, NULL, NULL, false},
		{"some text", NULL, NULL, NULL, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct branchdb_endpoint at;
		bool known = branchdb_find_endpoint(&arena, rows[i].address, &at);

		assert_int_equal(known, rows[i].directory || rows[i].host);
		if (!known)
			continue;
		assert_int_equal(at.read_only, rows[i].read_only);
		assert_string_equal(at.directory ? at.directory : "",
			rows[i].directory ? rows[i].directory : "");
		assert_string_equal(at.host ? at.host : "", rows[i].host ? rows[i].host : "");
		assert_string_equal(at.port ? at.port : "", rows[i].port ? rows[i].port : "");
	}
}

BRANCHDB_TEST(parts_of_an_address_are_variables)
{
	static const struct {
		const char *yaml, *host, *port, *database, *user, *password;
	} rows[] = {
		/* 1 */
		{EXTERNAL("postgres://alice:secret@h.example:6543/mydb"), "PGHOST=h.example",
			"PGPORT=6543", "PGDATABASE=mydb", "PGUSER=alice", "PGPASSWORD=secret"},
		/* 5: the reference keeps the brackets, with which libpq finds no host. */
		{EXTERNAL("postgres://u:p%2Fw@[::1]/d"), "PGHOST=::1", "PGPORT=5432",
			"PGDATABASE=d", "PGUSER=u", "PGPASSWORD=p/w"},
		{EXTERNAL("mysql://u:p@h/db"), "PGHOST", "PGPORT", "PGDATABASE", "PGUSER",
			"PGPASSWORD"},
		/* 3 */
		{EXTERNAL("postgresql://u:p@h/db"), "PGHOST=h", "PGPORT=5432", "PGDATABASE=db",
			"PGUSER=u", "PGPASSWORD=p"},
		{EXTERNAL("not-a-url"), "PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD"},
		/* 2 */
		{EXTERNAL("file:///tmp/db.sqlite"), "PGHOST", "PGPORT", "PGDATABASE", "PGUSER",
			"PGPASSWORD"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct database_pool_spec *pool = have_pool(rows[i].yaml);
		struct branchdb_environment env = {0};
		struct branchdb_branch b;
		const char *const pairs[][2] = {{"PGHOST", rows[i].host}, {"PGPORT", rows[i].port},
			{"PGDATABASE", rows[i].database}, {"PGUSER", rows[i].user},
			{"PGPASSWORD", rows[i].password}};

		assert_int_equal(make(pool, "b", false, &b), 0);
		assert_int_equal(branchdb_inject(&db, pool, &b, false, &env, &err), 0);
		for (size_t k = 0; k < COUNT(pairs); k++)
			assert_string_equal(entry_of(&env, pairs[k][0]), pairs[k][1]);
		assert_string_equal(entry_of(&env, "UP"), "UP");
		assert_true(str_starts(str_of(entry_of(&env, "TARGET")), "TARGET="));
	}
}

/* What is masked once a branch of the pool is injected. */
static struct secrets secrets_of(const struct database_pool_spec *pool)
{
	struct branchdb_environment env = {0};
	struct secrets secrets = {0};
	struct branchdb_branch b;

	assert_int_equal(make(pool, "b", false, &b), 0);
	assert_int_equal(branchdb_inject(&db, pool, &b, false, &env, &err), 0);
	secrets_add(&arena, &secrets, NULL, NULL);
	return secrets;
}

BRANCHDB_TEST(every_form_of_a_secret_is_masked)
{
	const struct database_pool_spec *pool =
		have_pool(EXTERNAL("postgres://alice:super%2Fsecret@h:5432/db"));
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct secrets secrets = secrets_of(pool);

	secrets_mask(&secrets,
		STR("a postgres://alice:super%2Fsecret@h:5432/db b super/secret c super%2Fsecret "
		    "d"),
		&out);
	assert_string_equal(out.s, "a **** b **** c **** d");
}

/* 6, 7: the reference masks the password alone, not the one of a query, and no path. Here nothing
 * of a connection string is shown, whatever its form. */
BRANCHDB_TEST(a_whole_connection_string_is_masked)
{
	static const char *const rows[] = {"postgres://alice:supersecret@h:5432/db", "not-a-url",
		"/var/lib/x.sqlite", "postgres://alice@h/db?password=hunter22",
		"host=h password=hunter23"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *yaml = arena_printf(&arena, EXTERNAL("%s"), rows[i]);
		const struct database_pool_spec *pool = have_pool(yaml);
		CLEANUP(buf_release) struct buf out = BUF_INIT;
		struct secrets secrets = secrets_of(pool);

		secrets_mask_values(
			&secrets, str_of(arena_printf(&arena, "a %s b", rows[i])), &out);
		assert_string_equal(out.s, "a **** b");
	}
}

/* 10 */
BRANCHDB_TEST(adapters_are_a_closed_list)
{
	assert_int_equal(
		resources_parse(&arena, "r.yaml", STR(POOL("mystery-db", "")), &resources, &err),
		-1);
	assert_string_equal(err.text,
		"'adapter' must be 'sqlite-copy', 'neon', 'pg-snapshot-restore', 'supabase' or "
		"'external', not 'mystery-db'");
}

/* 17: a key that is made of a hostile name is one argument. 18: without a connection string, and
 * when the command fails, there is no branch. */
BRANCHDB_TEST(commands_of_the_user_get_the_key_as_an_argument)
{
	static const struct {
		const char *command, *fault;
	} rows[] = {{"sh -c 'printf \"%s.\" $# \"$1\" >args; echo x' sh", NULL},
		{"true", "DatabaseBranchPool 'app': 'allocateCommand' of 'app' must print one "
			 "line, the "
			 "connection string"},
		{"echo x; false", "DatabaseBranchPool 'app': 'allocateCommand' of 'app' ended with "
				  "status 1"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *yaml = arena_printf(&arena,
			POOL("external",
				"  credentials:\n    acknowledgeUntrusted: true\n"
				"    reclaimCommand: 'true'\n    allocateCommand: |-\n      %s\n"),
			rows[i].command);
		struct branchdb_branch b;
		int rc = make(have_pool(yaml), arena_printf(&arena, "feat-%zu\"; touch pwned #", i),
			false, &b);

		assert_int_equal(rc, rows[i].fault ? -1 : 0);
		if (rows[i].fault)
			assert_string_equal(err.text, rows[i].fault);
		else
			assert_sh("sed 's/dt-[0-9a-f]*-/dt-/; s/-[0-9a-f]*[.]$/./' args; ls pwned "
				  "2>&1 | "
				  "grep -c cannot",
				"1.dt-feat-0-touch-pwned.1\n");
	}
}

/* Decision 13. */
BRANCHDB_TEST(keys_are_safe_names)
{
	static const char *const branches[] = {"main", "dev-team/ADR-1", "feat/x\"; rm -rf / #",
		"\xc3\xa4\xc3\xb6\xc3\xbc", "..",
		"a-very/long/name-of-a-branch/that-goes-on-for/more-than-63-bytes-of-text",
		"FEAT/X", "feat/x"};
	VEC(char *) keys = {0};

	(void)have_pool(SQLITE(""));
	for (size_t i = 0; i < COUNT(branches); i++) {
		char *key = branch_key(&arena, &site, "app", branches[i]);

		assert_true(strlen(key) <= BRANCH_KEY_MAX);
		assert_int_equal(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(key));
		assert_true(str_starts(str_of(key), branch_mark(&arena, &site, "app")));
		for (size_t k = 0; k < keys.n; k++)
			assert_string_not_equal(key, keys.items[k]);
		vec_push_in(&arena, &keys, key);
	}
	assert_string_not_equal(
		branch_key(&arena, &site, "app", "x"), branch_key(&arena, &site, "other", "x"));
}

/* 11, 14, 19. Of 19 the volume is not needed: `storageVolume` is refused as without effect. */
BRANCHDB_TEST(what_an_adapter_needs_is_named)
{
	static const struct {
		const char *yaml, *up, *fault;
	} rows[] = {
		{SQLITE(""), "/no/such/file",
			"the variable 'UP' names no file that is a SQLite database"},
		{SQLITE(""), "",
			"'upstream.connectionStringEnv' names the variable 'UP', which is not set"},
		{SQLITE(""), "/tmp", "the variable 'UP' names no file that is a SQLite database"},
		{SQLITE(""), "dev.sqlite",
			"the variable 'UP' must hold the absolute path of a SQLite database, or "
			"'file://' "
			"and such a path"},
		{POOL("neon", ""), "postgres://u@h/d",
			"the adapter 'neon' needs 'credentials.apiTokenEnv'"},
		{POOL("neon", "  credentials: {apiTokenEnv: NO_TOKEN}\n"), "postgres://u@h/d",
			"'apiTokenEnv' names the variable 'NO_TOKEN', which is not set"},
		{POOL("neon", "  credentials: {apiTokenEnv: HOME}\n"), "postgres://u@h/d",
			"the adapter 'neon' needs 'credentials.projectId'"},
		{POOL("neon", "  credentials: {apiTokenEnv: HOME, projectId: p}\n"),
			"postgres://u@h/d", "the adapter 'neon' needs 'upstream.branchFrom'"},
		{POOL("neon", "  credentials: {apiTokenEnv: HOME, projectId: p/../q}\n"),
			"postgres://u@h/d",
			"'credentials.projectId' must be letters, digits, '-' and '_'"},
		{POOL("pg-snapshot-restore", ""), "not-a-url",
			"the variable 'UP': it is no connection string of PostgreSQL"},
		{POOL("pg-snapshot-restore", ""), "postgres://u:s3cret@h",
			"the variable 'UP' names no database"},
		{POOL("pg-snapshot-restore",
			 "  credentials: {adminConnectionStringEnv: NO_ADMIN}\n"),
			"postgres://h/d",
			"'adminConnectionStringEnv' names the variable 'NO_ADMIN', which is not "
			"set"},
		{POOL("external", ""), "x",
			"the adapter 'external' needs 'credentials.allocateCommand'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct database_pool_spec *pool = have_pool(rows[i].yaml);

		setenv("UP", rows[i].up, 1);
		assert_int_equal(branchdb_check(&db, pool, true, &err), -1);
		assert_string_equal(err.text, rows[i].fault);
	}
}

/* 11, 14: the rows that have all. */
BRANCHDB_TEST(what_an_adapter_has_suffices)
{
	const struct database_pool_spec *pool = have_pool(SQLITE(""));

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	assert_int_equal(branchdb_check(&db, pool, true, &err), 0);
	setenv("UP", arena_printf(&arena, "file://%s", at("up")), 1);
	assert_int_equal(branchdb_check(&db, pool, true, &err), 0);
	pool = have_pool(
		"apiVersion: dev-team/v1\nkind: DatabaseBranchPool\nmetadata: {name: app}\n"
		"spec:\n  adapter: neon\n  upstream: {connectionStringEnv: UP, branchFrom: main}\n"
		"  injection: {targetEnv: TARGET}\n"
		"  credentials: {apiTokenEnv: HOME, projectId: p}\n");
	setenv("UP", "postgres://u@h/d", 1);
	if (branchdb_check(&db, pool, false, &err) < 0)
		fail_msg("%s", err.text);
}

/* 13: the reference shares a hard link, through which a reader sees what is written upstream and a
 * program may write there. Here it is a copy. */
BRANCHDB_TEST(readers_share_a_copy_that_cannot_be_written)
{
	const struct database_pool_spec *pool = have_pool(SQLITE(""));
	struct branchdb_environment env = {0};
	struct branchdb_branch one, two;

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	assert_true(branchdb_shares(pool));
	assert_int_equal(make(pool, "a", true, &one), 0);
	assert_int_equal(make(pool, "b", true, &two), 0);
	assert_string_equal(one.key, two.key);
	assert_int_equal(branchdb_inject(&db, pool, &one, true, &env, &err), 0);
	assert_true(str_ends(str_of(entry_of(&env, "TARGET")), "branch.sqlite?mode=ro"));
	assert_sh("sqlite3 \"file:$(ls files/*/branch.sqlite)?mode=ro\" 'DROP TABLE t' 2>&1 | grep "
		  "-o readonly; "
		  "test up -ef files/*/branch.sqlite || echo copy",
		"readonly\ncopy\n");
	setenv("UP", arena_printf(&arena, "file://%s", at("up")), 1);
	env.n = 0;
	assert_int_equal(branchdb_inject(&db, pool, &one, false, &env, &err), 0);
	assert_true(str_starts(str_of(entry_of(&env, "TARGET")), "TARGET=file:///"));
}

/* ---- processes ---- */

enum { MANY = 20, LIMIT = 12 };

static int allocate_one(unsigned i, void *data)
{
	const struct database_pool_spec *pool = data;
	struct branchdb_branch b;

	if (branchdb_open(&arena, &site, &db, &err) < 0)
		return 2;
	return make(pool, arena_printf(&arena, "b%u", i), false, &b) == 0 ? 0 : 1;
}

BRANCHDB_TEST(many_at_once_never_exceed_the_limit)
{
	const struct database_pool_spec *pool =
		have_pool(SQLITE("  lifecycle: {maxConcurrent: 12}\n"));
	struct branchdb_list all;

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	branchdb_close(&db);
	assert_int_equal(run_processes(MANY, allocate_one, (void *)(uintptr_t)pool), LIMIT);
	assert_int_equal(branchdb_open(&arena, &site, &db, &err), 0);
	assert_int_equal(branchdb_list(&db, &all, &err), 0);
	assert_int_equal(all.n, LIMIT);
	assert_sh("ls files | wc -l", "12\n");
}

BRANCHDB_TEST(a_warm_branch_is_handed_out_once)
{
	const struct database_pool_spec *pool =
		have_pool(SQLITE("  lifecycle: {maxConcurrent: 20, warmPoolSize: 3}\n"));
	struct branchdb_list all;
	size_t made, handed = 0;
	bool lacks;

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	assert_int_equal(branchdb_lacks_warm(&db, pool, &lacks, &err), 0);
	assert_true(lacks);
	assert_int_equal(branchdb_refill(&db, pool, base, &made, &err), 0);
	assert_int_equal(made, 3);
	assert_int_equal(branchdb_refill(&db, pool, base, &made, &err), 0);
	assert_int_equal(made, 0);
	branchdb_close(&db);
	assert_int_equal(run_processes(MANY, allocate_one, (void *)(uintptr_t)pool), MANY);
	assert_int_equal(branchdb_open(&arena, &site, &db, &err), 0);
	assert_int_equal(branchdb_list(&db, &all, &err), 0);
	assert_int_equal(all.n, MANY);
	for (size_t i = 0; i < all.n; i++) {
		assert_null(all.items[i].warm);
		handed += strcmp(all.items[i].key, all.items[i].slot) != 0;
	}
	assert_int_equal(handed, 3);
	assert_sh("ls files | wc -l", "20\n");
	assert_int_equal(branchdb_refill(&db, pool, base, &made, &err), 0);
	assert_int_equal(made, 0); /* at the limit */
}

/* Two need the shared branch at the same time: one makes it, the other waits. */
static int share_one(unsigned i, void *data)
{
	const struct database_pool_spec *pool = data;
	struct branchdb_branch b;

	(void)i;
	return branchdb_open(&arena, &site, &db, &err) < 0 || make(pool, "x", true, &b) < 0;
}

BRANCHDB_TEST(many_who_read_make_one_branch)
{
	const struct database_pool_spec *pool = have_pool(SQLITE(""));

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	branchdb_close(&db);
	assert_int_equal(run_processes(8, share_one, (void *)(uintptr_t)pool), 8);
	assert_sh("ls files | wc -l", "1\n");
}

/* A process that died while it created or removed one. */
static int die_in(unsigned i, void *data)
{
	const struct database_pool_spec *pool = data;
	bool refused;
	struct branchdb_branch b = {.key = branch_key(&arena, &site, "app", "x"),
		.slot = branch_key(&arena, &site, "app", "x"),
		.pool = "app",
		.adapter = "sqlite-copy",
		.of = "x"};

	(void)pool;
	if (branchdb_open(&arena, &site, &db, &err) < 0)
		return 1;
	branch_claim(&db, &b, i ? BRANCHDB_REMOVING : BRANCHDB_CREATING);
	return branch_write(&db, &b, false, NULL, &refused, &err) < 0 || refused;
}

BRANCHDB_TEST(what_a_dead_process_left_is_removed)
{
	const struct database_pool_spec *pool = have_pool(SQLITE(""));
	struct branchdb_due_list due = {0};
	struct branchdb_leaks leaks = {0};
	static const char *const none[] = {NULL};
	struct branchdb_branch b;

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	branchdb_close(&db);
	assert_int_equal(run_processes(1, die_in, (void *)(uintptr_t)pool), 1);
	assert_int_equal(branchdb_open(&arena, &site, &db, &err), 0);
	sh(arena_printf(&arena, "mkdir -p files/%s && echo half >files/%s/branch.sqlite.new",
		branch_key(&arena, &site, "app", "x"), branch_key(&arena, &site, "app", "x")));
	assert_int_equal(branchdb_audit(&db, none, &leaks, &err), 0);
	assert_int_equal(leaks.n, 1);
	assert_string_equal(leaks.items[0].kind, "half-made-branch");
	assert_int_equal(branchdb_sweep(&db, true, false, &due, &err), 0);
	assert_int_equal(due.n, 1);
	assert_true(due.items[0].removed);
	assert_sh("ls files", "");
	assert_int_equal(make(pool, "x", false, &b), 0);
	assert_int_equal(branchdb_remove(&db, &b, "manual-reclaim", &err), 0);
	assert_sh("ls files", "");
}

static int sweep_in(unsigned i, void *data)
{
	struct branchdb_due_list due = {0};

	(void)i, (void)data;
	site.in_use = NULL;
	return branchdb_open(&arena, &site, &db, &err) < 0 ||
	       branchdb_sweep(&db, true, false, &due, &err) < 0 || due.n != 1 ||
	       !due.items[0].removed;
}

/* Between the look of one process and its removal. */
static bool another_sweeps(void *data, const char *branch)
{
	(void)data, (void)branch;
	assert_int_equal(run_processes(1, sweep_in, NULL), 1);
	return false;
}

BRANCHDB_TEST(what_another_process_has_swept_meanwhile_is_no_fault)
{
	const struct database_pool_spec *pool =
		have_pool(SQLITE("  lifecycle: {branchTtl: PT1H}\n"));
	struct branchdb_due_list due = {0};
	struct branchdb_branch b;

	sh("sqlite3 up 'CREATE TABLE t (x)'");
	setenv("DEV_TEAM_NOW", "2026-11-21T01:00:00Z", 1);
	assert_int_equal(make(pool, "x", false, &b), 0);
	setenv("DEV_TEAM_NOW", "2026-11-21T03:00:00Z", 1);
	site.in_use = another_sweeps;
	assert_int_equal(branchdb_sweep(&db, true, false, &due, &err), 0);
	unsetenv("DEV_TEAM_NOW");
	assert_int_equal(due.n, 0);
	assert_sh("ls files", "");
}

UNIT_GROUP(NULL, arena_end)
