#include "src/sys/path.h"
#include "src/config/resource.h"
#include "tests/bench/bench.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

enum { FILES = 100, TRIES = 40 };

#define HEAD(kind, name)                                                                           \
	"# what it is for, in a line of comment\napiVersion: dev-team/v1\nkind: " kind             \
	"\nmetadata:\n  name: " name "\n  labels:\n    team: shop\nspec:\n"

static void put_stage(struct buf *b, unsigned i)
{
	static const char *const names[] = {"triage", "plan", "implement", "validate", "review-a",
		"review-b", "review-c", "fix-pr", "simplify", "land"};

	buf_addf(b,
		"    - name: %s\n      agent: developer\n      model: opus\n"
		"      harness: claude-code\n      harnessFallback: [codex, gemini-cli]\n"
		"      schedule: quota-permitting\n      timeout: PT30M\n"
		"      estimatedTokens: { input: 250000, output: 40000 }\n"
		"      onFailure:\n        strategy: retry\n        maxRetries: 2\n",
		names[i]);
	if (i > 3)
		buf_addf(
			b, "      requiresIndependentHarnessFrom: [%s, implement]\n", names[i - 1]);
	if (i == COUNT(names) - 1)
		buf_adds(b, "      holdsMergeGate: true\n");
}

static void put_pipeline(struct buf *b, unsigned i)
{
	buf_addf(b, HEAD("Pipeline", "p%u"), i);
	buf_addf(b,
		"  parallelism:\n    worktreePool: w%u\n  branching:\n    pattern: "
		"'shop/issue-{issueNumber}'\n    targetBranch: main\n  stages:\n",
		i);
	for (unsigned k = 0; k < 10; k++)
		put_stage(b, k);
}

static void put_pool(struct buf *b, unsigned i)
{
	buf_addf(b, HEAD("WorktreePool", "w%u"), i);
	buf_addf(b,
		"  rootDir: ~/.dev-team/worktrees\n  layout: workspace-scoped\n  basePort: %u\n"
		"  ownershipGuard: strict\n  cleanup:\n    onMerge: true\n    onAbort: false\n"
		"  subscriptionPlans:\n    - s%u\n    - s%u\n  databaseBranchPools:\n    - d%u\n",
		3190 + i * 10, i, i + 1, i);
}

static void put_plan(struct buf *b, unsigned i)
{
	buf_addf(b, HEAD("SubscriptionPlan", "s%u"), i);
	buf_adds(b, "  harness: claude-code\n  billingMode: session-window\n  windowDuration: "
		    "PT5H\n  windowQuotaTokens: 1000000 # as the vendor says\n  offPeak:\n"
		    "    enabled: true\n    multiplier: 2.0\n    schedule:\n"
		    "      - { tz: 'America/Los_Angeles', hours: '22-06' }\n"
		    "      - { tz: 'America/Los_Angeles', hours: '0-7', daysOfWeek: 'Sat,Sun' }\n"
		    "    lastVerified: '2026-04-15'\n  pacingTarget: 0.85\n  hardCap: 0.95\n");
}

static void put_database(struct buf *b, unsigned i)
{
	buf_addf(b, HEAD("DatabaseBranchPool", "d%u"), i);
	buf_adds(b,
		"  adapter: neon\n  upstream:\n    connectionStringEnv: DATABASE_URL_DEV\n"
		"    branchFrom: dev\n  injection:\n    targetEnv: DATABASE_URL\n"
		"    additionalEnvs: [PGHOST, PGDATABASE]\n  lifecycle:\n    maxConcurrent: 10\n"
		"    branchTtl: P14D\n  migrations:\n    migrationCommand: 'pnpm db:migrate'\n"
		"  credentials:\n    apiTokenEnv: NEON_API_TOKEN\n");
}

/* 20 pipelines of 10 stages, 20 pools, 40 plans, 20 databases. */
static void lay(struct arena *a, const char *dir)
{
	for (unsigned i = 0; i < FILES; i++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		if (i < 20)
			put_pipeline(&b, i);
		else if (i < 40)
			put_pool(&b, i - 20);
		else if (i < 80)
			put_plan(&b, i - 40);
		else
			put_database(&b, i - 80);
		tree_write(arena_printf(a, "%s/%02u.yaml", dir, i), buf_str(&b));
	}
}

static double load(const char *dir)
{
	CLEANUP(arena_release) struct arena a = {0};
	double from = bench_now();
	struct resources r;
	struct error err;

	if (resources_load(&a, dir, &r, &err) < 0)
		die("%s", err.text);
	if (r.n_faults || r.n_docs != FILES)
		die("%s:%u: %s", r.faults->file, r.faults->line, r.faults->text);
	return bench_now() - from;
}

static double read_alone(struct arena *a, const char *dir, size_t *bytes)
{
	double from = bench_now();

	*bytes = 0;
	for (unsigned i = 0; i < FILES; i++) {
		CLEANUP(buf_release) struct buf b = BUF_INIT;
		struct error err;

		if (sys_read_file(
			    &b, arena_printf(a, "%s/%02u.yaml", dir, i), 1 << 20, NULL, &err) < 0)
			die("%s", err.text);
		*bytes += b.len;
	}
	return bench_now() - from;
}

void bench_resources(const char *dir)
{
	CLEANUP(arena_release) struct arena a = {0};
	char *directory = arena_printf(&a, "%s/resources", dir);
	double loads[TRIES], reads[TRIES];
	size_t bytes = 0;

	lay(&a, directory);
	(void)load(directory);
	for (unsigned i = 0; i < TRIES; i++) {
		loads[i] = load(directory);
		reads[i] = read_alone(&a, directory, &bytes);
	}
	bench_row(arena_printf(
			  &a, "load %d resource files, %zu KiB : read them", FILES, bytes / 1024),
		loads, reads, TRIES, "A < 20");
}
