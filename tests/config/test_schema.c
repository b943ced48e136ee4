/*
 * The generated schema and the decoder accept and refuse the same documents: complete ones, and
 * each of them with one value, key or item changed.
 */
#include "src/config/decode.h"
#include "src/config/resource.h"
#include "src/schema/schema.h"
#include "tests/lib/resource_rig.h"

#define PIPELINE HEAD("Pipeline", "p")
#define POOL     HEAD("WorktreePool", "w")
#define PLAN     HEAD("SubscriptionPlan", "s")
#define DATABASE HEAD("DatabaseBranchPool", "d")

static const char *const full[] = {
	PIPELINE
	"  parallelism: {maxConcurrent: 3, worktreePool: w, mergeStrategy: serialized-rebase}\n"
	"  branching: {pattern: 'x/{id}', targetBranch: main, cleanup: manual}\n"
	"  defaultModel: opus\n  defaultHarness: codex\n"
	"  defaultHarnessFallback: [aider, opencode]\n  subscriptionPlans: [a, a, b]\n"
	"  tenant: T1\n  tenantQuotaShare: 0.5\n  accountId: an account\n"
	"  costBudget: 12.5\n  offPeakMaxWait: PT8H\n  artifactSchemaVersion: v1\n"
	"  triggers: [{event: x}]\n  providers: {a: 1}\n  routing: {}\n"
	"  pullRequest: {}\n  notifications: {}\n  stages:\n    - {name: first}\n"
	"    - name: s.2\n      agent: dev_1\n      kind: review-fanout\n"
	"      isolation: inplace\n      holdsMergeGate: true\n      model: 'opus[1m]'\n"
	"      maxBudgetUsd: 0.01\n      harness: inherit\n"
	"      harnessFallback: [gemini-cli]\n"
	"      requiresIndependentHarnessFrom: [first]\n"
	"      requires: [skills, customTools]\n      schedule: off-peak\n"
	"      estimatedTokens: {input: 0, output: 5, frozen: true}\n"
	"      databaseAccess: migrate\n"
	"      onFailure: {strategy: retry, maxRetries: 2, retryDelay: PT1M, notification: n, on: "
	"AgentTimeout}\n"
	"      timeout: P1DT2H\n      artifact: plan\n      type: t\n      context: {}\n"
	"      config: {a: [1]}\nstatus: {phase: Running}\n",
	POOL "  rootDir: ~/x\n  layout: workspace-scoped\n  staleThresholdDays: 1\n"
	     "  basePort: 1024\n  ownershipGuard: advisory\n"
	     "  cleanup: {onMerge: false, onAbort: true, onTimeout: false}\n"
	     "  databaseBranchPools: [d, e]\n  subscriptionPlans: [a]\n",
	"apiVersion: ai-sdlc.io/v1alpha1\nkind: WorktreePool\nmetadata:\n  name: w\n"
	"  namespace: team\n  labels: {a: b, c: \"1\"}\n  annotations: {}\nspec: {}\n",
	PLAN "  harness: claude-code\n  billingMode: session-window\n  windowDuration: PT5H\n"
	     "  windowQuotaTokens: 1\n  offPeak:\n    enabled: true\n    multiplier: 2.0\n"
	     "    schedule:\n      - {tz: America/Los_Angeles, hours: 22-06}\n"
	     "      - {tz: UTC, hours: '0-24', daysOfWeek: 'Sat, Sun'}\n"
	     "    lastVerified: 2026-04-15\n  pacingTarget: 0\n  hardCap: 1\n"
	     "  quotaSource: self-tracked\n",
	PLAN "  harness: codex\n  billingMode: monthly-cap\n  windowQuotaTokens: 5\n",
	PLAN "  harness: codex\n  billingMode: pay-per-token\n",
	DATABASE "  adapter: neon\n  upstream: {connectionStringEnv: URL_DEV, branchFrom: dev}\n"
		 "  injection: {targetEnv: URL, additionalEnvs: [PGHOST, PGPORT]}\n"
		 "  lifecycle: {createOn: first-write-stage, reclaimOn: manual, maxConcurrent: 1, "
		 "branchTtl: P14D, abandonAfter: P1W, warmPoolSize: 20}\n"
		 "  allowBranchFromBranch: true\n"
		 "  migrations: {runOnBranchCreate: true, migrationCommand: \"a\\nb\", "
		 "migrationCwd: sub/x}\n"
		 "  credentials: {apiTokenEnv: T, projectId: p}\n",
	DATABASE "  adapter: external\n  upstream: {connectionStringEnv: A}\n"
		 "  injection: {targetEnv: B}\n  migrations: {runOnBranchCreate: false}\n",
	DATABASE "  adapter: external\n  upstream: {connectionStringEnv: A}\n"
		 "  injection: {targetEnv: B}\n  migrations: {migrationCommand: x}\n",
};

/* Replaces every value. Quoted ones begin with a `"` here. */
static const char *const values[] = {"", "~", "null", "true", "false", "yes", "0", "1", "2", "-1",
	"1.0", "0.5", "1.5", "-0", "1e1", "1e0", "21", "20", "65000", "65001", "1023", "36501",
	"999999999999999", "010", "0x10", "1_000", ".5", "5.", "+5", ".inf", "\"", "\" ", "\"1",
	"\"true", "\"null", "x", "X", "a b", "a-b", "A_B", "9a", "-a", "a.b", "a..b", "../a", "/a",
	"~/a", "~a", "a/b", "{id}", "a{b", "a@b", "a#b", "a:b", "opus[1m]", "opus[", "opus]",
	"[1m]", "opus[1m]x", "opus[1-m]", "\"a\x01b", "\"a\tb", "\"a\nb", "\"a\x7f", "\"\xc3\xa9",
	"\"/\xc3\xa9", "UTC", "America/New_York", "22-06", "24-1", "0-25", "0-24", "1-", "-1",
	"001-2", "Sat", "Sat,Sun", "Sat, Sun", "Sat,", "sat", "\" Sat", "Sat Sun", "2026-02-30",
	"2026-13-01", "2026-00-10", "2026-1-1", "2026-04-15x", "PT5H", "P", "PT", "P1D", "P1DT",
	"P1W", "P1M", "PT1M", "PT1H1M1S", "PT1S1M", "P1WT1H", "PT1.5H", "PT0S", "P0D", "pt5h",
	"P1000000000D", "P999999999D", "plan", "retry", "abort", "inherit", "codex", "mystery",
	"monthly-cap", "session-window", "pay-per-token", "worktree", "now", "none", "strict",
	"parallel-merge", "ai-sdlc.io/v1alpha1", "ai-sdlc.dev/v1alpha1", "ai-sdlc.io/v1beta1",
	"Pipeline", "WorktreePool", "v1", "v2"};

static const struct resource_kind *kind;
static struct schema *schema;
static size_t compared, refused;

static void compare(const struct yaml *tree, const char *what)
{
	struct arena a = {0};
	struct config_reader reader = {
		.arena = &a, .file = "r.yaml", .json_types = true, .limit = 1};
	struct schema_faults out = {0};
	json *j = config_json(tree);
	size_t n;

	config_fields(&reader, kind->fields, tree, arena_alloc(&a, kind->size));
	n = schema_check(&a, schema, j, &out);
	if (!n != !reader.faults.n) {
		struct buf b = BUF_INIT;

		json_print(&b, j);
		fail_msg("%s: the loader %s%s, the schema %s%s%s: %s", what,
			reader.faults.n ? "refuses: " : "takes it",
			reader.faults.n ? reader.faults.items[0].text : "",
			n ? "refuses: " : "takes it", n ? out.list[0].at : "",
			n ? out.list[0].text : "", b.s);
	}
	compared++;
	refused += n > 0;
	json_free(&j);
	arena_release(&a);
}

static void with_values(const struct yaml *tree, struct yaml *node, const char *what)
{
	const struct yaml old = *node;
	char *longest;

	for (size_t i = 0; i < COUNT(values); i++) {
		bool quoted = values[i][0] == '"';

		*node = (struct yaml){.kind = YAML_SCALAR,
			.plain = !quoted,
			.text = str_of(values[i] + quoted),
			.line = 1,
			.col = 1};
		compare(tree, arena_printf(&arena, "%s = %s", what, values[i]));
	}
	for (size_t n = 90; n < 70000; n = n * 5 / 4 + 1) {
		longest = arena_alloc(&arena, n + 1);
		memset(longest, 'a', n);
		*node = (struct yaml){.kind = YAML_SCALAR, .plain = true, .text = {longest, n}};
		compare(tree, arena_printf(&arena, "%s = %zu letters", what, n));
	}
	*node = (struct yaml){.kind = YAML_LIST, .line = 1, .col = 1};
	compare(tree, arena_printf(&arena, "%s = []", what));
	node->kind = YAML_MAP;
	compare(tree, arena_printf(&arena, "%s = {}", what));
	*node = old;
}

static void without_each(const struct yaml *tree, struct yaml *node, const char *what)
{
	const struct yaml old = *node;

	for (size_t i = 0; i < old.n; i++) {
		size_t size = old.kind == YAML_MAP ? sizeof(*old.map) : sizeof(*old.list);
		char *copy = arena_alloc(&arena, old.n * size);
		const char *from =
			old.kind == YAML_MAP ? (const char *)old.map : (const char *)old.list;

		memcpy(copy, from, i * size);
		memcpy(copy + i * size, from + (i + 1) * size, (old.n - i - 1) * size);
		node->n = old.n - 1;
		node->index = NULL;
		if (old.kind == YAML_MAP)
			node->map = (struct yaml_pair *)(void *)copy;
		else
			node->list = (struct yaml **)(void *)copy;
		compare(tree, arena_printf(&arena, "%s without %zu", what, i));
		*node = old;
	}
}

/* An unknown key; a duplicate of the first item; very many items. */
static void with_more(const struct yaml *tree, struct yaml *node, const char *what)
{
	static struct yaml key = {
		.kind = YAML_SCALAR, .plain = true, .text = {"nonesuch", 8}, .line = 1, .col = 1};
	const struct yaml old = *node;
	size_t n = node->kind == YAML_MAP ? node->n + 1 : 201;

	if (node->kind == YAML_MAP) {
		node->map = arena_alloc(&arena, n * sizeof(*node->map));
		if (old.n)
			memcpy(node->map, old.map, old.n * sizeof(*old.map));
		node->map[node->n++] = (struct yaml_pair){&key, &key};
		node->index = NULL;
		compare(tree, arena_printf(&arena, "%s and one more", what));
	} else if (node->n) {
		node->list = arena_alloc(&arena, n * sizeof(*node->list));
		memcpy(node->list, old.list, old.n * sizeof(*node->list));
		for (size_t i = old.n; i < n; i++)
			node->list[i] = old.list[0];
		static const size_t sizes[] = {99, 100, 101, 200, 201};

		node->n = old.n + 1;
		compare(tree, arena_printf(&arena, "%s, the first one again", what));
		for (size_t i = 0; i < COUNT(sizes); i++) {
			node->n = sizes[i];
			compare(tree, arena_printf(&arena, "%s, %zu of them", what, sizes[i]));
		}
	}
	*node = old;
}

static void change(const struct yaml *tree, struct yaml *node, const char *what)
{
	with_values(tree, node, what);
	if (node->kind != YAML_SCALAR) {
		without_each(tree, node, what);
		with_more(tree, node, what);
	}
	for (size_t i = 0; node->kind == YAML_MAP && i < node->n; i++)
		change(tree, node->map[i].value,
			arena_printf(&arena, "%s.%s", what, node->map[i].key->text.p));
	for (size_t i = 0; node->kind == YAML_LIST && i < node->n; i++)
		change(tree, node->list[i], arena_printf(&arena, "%s[%zu]", what, i));
}

static struct yaml *parsed(const char *text)
{
	struct error err = {0};
	struct yaml *tree;

	if (yaml_parse(&arena, str_of(text), "r.yaml", 1, &tree, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return tree;
}

static void choose(const char *name)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};

	kind = resource_kind(name);
	assert_non_null(kind);
	resource_schema(kind, &text);
	if (schema_compile(&arena, name, buf_str(&text), &schema, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
}

TEST(schema_and_loader_agree)
{
	for (size_t i = 0; i < COUNT(full); i++) {
		struct yaml *tree = parsed(full[i]);
		size_t before;

		choose(config_node(tree, "kind")->text.p);
		before = refused;
		compare(tree, "as it is");
		if (refused != before)
			fail_msg("refused as it is: %s", full[i]);
		change(tree, tree, "");
	}
	print_message("%zu documents, %zu of them refused\n", compared, refused);
	assert_true(compared > 10000 && refused > 1000 && compared - refused > 1000);
}

/* A document of one kind is not valid as another. */
TEST(a_schema_is_for_its_kind)
{
	for (size_t k = 0; resource_kinds[k]; k++) {
		choose(resource_kinds[k]->name);
		for (size_t i = 0; i < COUNT(full); i++)
			compare(parsed(full[i]), full[i]);
	}
}

UNIT_GROUP(NULL, arena_end)
