#include <signal.h>
#include <sys/wait.h>
#include "src/branchdb/branchdb.h"
#include "src/sys/path.h"
#include "src/sys/sqlite.h"
#include "tests/bench/bench.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"

/* Rows of database branches. */

enum { COPIES = 3, HANDED = 15, MIB = 1024 };

struct bench {
	struct arena arena;
	const char *dir, *program, *bare;
};

static double timed_program(const struct bench *b, const char *const *argv, struct buf *out)
{
	struct run r = {.argv = argv, .cwd = b->dir, .limit_s = WAIT_LIMIT_S};
	double from = bench_now(), ms;

	run(&r);
	ms = bench_now() - from;
	if (r.status)
		die("'%s %s': %s", argv[0], argv[1], r.err.s ? r.err.s : "");
	if (out)
		buf_add(out, buf_str(&r.out));
	run_release(&r);
	return ms;
}

static double timed(const struct bench *b, const char *script, struct buf *out)
{
	return timed_program(b, (const char *const[]){"sh", "-c", script, NULL}, out);
}

/* ---- copies : cp and sync ---- */

static double copy_once(struct bench *b, const char **method)
{
	double from = bench_now();
	struct error err;

	if (sqlite_copy(path_join(&b->arena, b->dir, "up"), path_join(&b->arena, b->dir, "copy"),
		    false, method, &err) < 0)
		die("%s", err.text);
	return bench_now() - from;
}

static pid_t start_writer(const struct bench *b)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	(void)setpgid(0, 0);
	if (chdir(b->dir) < 0)
		_exit(126);
	execlp("sh", "sh", "-c",
		"while :; do sqlite3 -cmd '.timeout 60000' up 'INSERT INTO w VALUES (1)'; done",
		NULL);
	_exit(127);
}

static void measure_copy(struct bench *b, const char *label, const char *target)
{
	static const char plain[] = "cp --reflink=never up plain && sync plain";
	double ours[COPIES], theirs[COPIES];
	const char *method = "";

	(void)timed(b, plain, NULL); /* once to warm the caches, not counted */
	for (unsigned i = 0; i < COPIES; i++) {
		ours[i] = copy_once(b, &method);
		theirs[i] = timed(b, plain, NULL);
		(void)timed(b, "rm -f copy plain; sync -f .", NULL);
	}
	bench_row(arena_printf(&b->arena, "%s (%s) : cp, sync", label, method), ours, theirs,
		COPIES, target);
	if (strcmp(method, "reflink") != 0)
		printf("%-42s reflink: untested, the file system has none\n", "");
}

static void measure_copies(struct bench *b)
{
	pid_t writer;

	(void)timed(b,
		arena_printf(&b->arena,
			"sqlite3 up 'PRAGMA journal_mode=WAL; CREATE TABLE w (x); CREATE TABLE t "
			"(b BLOB); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
			"WHERE i < %d) INSERT INTO t SELECT randomblob(1 << 20) FROM n'",
			MIB),
		NULL);
	measure_copy(b, "database of 1 GiB", "<= 1.2x");
	writer = start_writer(b);
	measure_copy(b, "the same, under a writer", "<= 4.0x");
	(void)kill(-writer, SIGKILL);
	(void)waitpid(writer, NULL, 0);
	(void)timed(b, "rm -f up up-wal up-shm", NULL);
}

/* ---- a hand-over : a durable change ---- */

static const struct database_pool_spec *load_pool(struct bench *b, struct resources *r)
{
	static const char yaml[] =
		"apiVersion: dev-team/v1\nkind: DatabaseBranchPool\nmetadata: {name: app}\n"
		"spec:\n  adapter: external\n  upstream: {connectionStringEnv: HOME}\n"
		"  injection: {targetEnv: APP_DB}\n"
		"  lifecycle: {warmPoolSize: 20, maxConcurrent: 40}\n"
		"  migrations: {migrationCommand: 'true', migrationCwd: scripts}\n"
		"  credentials: {acknowledgeUntrusted: true, reclaimCommand: 'true', "
		"allocateCommand: 'echo x #'}\n";
	struct error err;

	if (resources_parse(&b->arena, "app.yaml", str_of(yaml), r, &err) < 0)
		die("%s", err.text);
	return resources_database(r, NULL);
}

static double hand_over(
	struct bench *b, const struct branchdb_site *site, const char *branch, bool warm)
{
	const struct branchdb_request q = {
		.pool = site->pools[0], .branch = branch, .worktree = b->dir};
	CLEANUP(branchdb_close) struct branchdb db = {0};
	struct branchdb_branch out;
	double from = bench_now();
	struct error err;
	size_t made;

	if (branchdb_open(&b->arena, site, &db, &err) < 0 ||
		(warm ? branchdb_refill(&db, q.pool, b->dir, &made, &err)
		      : branchdb_allocate(&db, &q, &out, &err)) < 0)
		die("%s", err.text);
	return bench_now() - from;
}

static void measure_hand_over(struct bench *b)
{
	double ours[HANDED], plain[HANDED];
	const char *const record[] = {b->bare, "record", NULL};
	struct resources r = {0};
	const struct database_pool_spec *pools[] = {load_pool(b, &r)};
	const struct branchdb_site site = {.state = path_join(&b->arena, b->dir, "state"),
		.repo = b->dir,
		.common = path_join(&b->arena, b->dir, ".git"),
		.files = path_join(&b->arena, b->dir, "files"),
		.pools = pools,
		.n_pools = 1};

	(void)hand_over(b, &site, "", true);
	(void)timed(b, "head -c 600 /dev/urandom >record", NULL);
	for (unsigned i = 0; i < HANDED; i++) {
		ours[i] = hand_over(b, &site, arena_printf(&b->arena, "feat/%u", i), false);
		plain[i] = timed_program(b, record, NULL);
	}
	bench_row("hand-over of a branch made in advance : bare", ours, plain, HANDED, "<= 2.0x");
}

/* ---- a stage without a database ---- */

static void count_libraries(struct bench *b)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	(void)timed(b,
		arena_printf(&b->arena,
			"mkdir -p .dev-team/resources && cat >.dev-team/resources/a.yaml <<'END' "
			"&& "
			"cat >.dev-team/resources/p.yaml <<'END2'\n"
			"apiVersion: dev-team/v1\nkind: DatabaseBranchPool\nmetadata: {name: app}\n"
			"spec: {adapter: sqlite-copy, upstream: {connectionStringEnv: UP}, "
			"injection: {targetEnv: APP_DB}, lifecycle: {createOn: "
			"first-write-stage}}\nEND\n"
			"apiVersion: dev-team/v1\nkind: WorktreePool\nmetadata: {name: p}\n"
			"spec: {databaseBranchPools: [app]}\nEND2\n"
			"%s pool allocate feat/none >out 2>&1\n"
			"LD_DEBUG=files %s db env --worktree feat/none --access none -- true 2>ld\n"
			"grep -c 'libpq\\|libsqlite3' ld || :",
			b->program, b->program),
		&out);
	printf("%-42s %8s                                      0\n",
		"libraries of a stage without a database",
		arena_dup(&b->arena, str_trim(buf_str(&out))));
}

void bench_databases(const char *dir, const char *program, const char *bare)
{
	struct bench b = {.dir = dir, .program = program, .bare = bare};

	count_libraries(&b);
	measure_hand_over(&b);
	measure_copies(&b);
	arena_release(&b.arena);
}
