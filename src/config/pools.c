#include <pwd.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/base/zone.h"
#include "src/config/resource_internal.h"

/* ---- worktree pools ---- */

#define IN(member)       CONFIG_AT(worktree_pool_spec, member)
#define COUNT_IN(member) .count_at = offsetof(struct worktree_pool_spec, member)

static const struct config_field cleanup_fields[] = {
	{BOOL("onMerge", on_merge), .preset = "true",
		.about = "The sweep removes it when its branch is merged into the target on "
			 "origin."},
	{BOOL("onAbort", on_abort), .preset = "true",
		.about = "The sweep removes it when its run has failed."},
	{BOOL("onTimeout", on_timeout), .preset = "true",
		.about = "The sweep removes it when its run has failed because an agent took too "
			 "long."},
	{0},
};

static const struct config_field setup_fields[] = {
	{TEXTS("copy", setup.copy), .form = &config_relative, .once = true, .preset = "[]",
		.about = "Files and directories that are copied from the main working tree; git "
			 "must ignore them."},
	{TEXTS("link", setup.link), .form = &config_relative, .once = true, .preset = "[]",
		.about = "The same as symbolic links, for caches."},
	{TEXTS("commands", setup.commands), .form = &config_line, .preset = "[]",
		.about = "Commands of `sh` that run in the worktree, in order."},
	{DURATION("timeout", setup.timeout_s), .min = 1, .preset = "PT10M",
		.about = "How long each command may run."},
	{0},
};

static const struct config_field worktree_fields[] = {
	{TEXT("rootDir", root, root), .derived = "as `layout` says",
		.about = "Directory of this repository's worktrees."},
	{SWITCH("layout", repo_local, "workspace-scoped", "repo-local"),
		.preset = "workspace-scoped",
		.about = "Without `rootDir`: `.dev-team/worktrees` in the main working tree, or "
			 "`worktrees/NAME-DIGITS` in the state directory."},
	{INTEGER("staleThresholdDays", stale_days, 1, 36500), .preset = "14",
		.about = "After so many days the sweep considers a worktree abandoned."},
	{INTEGER("basePort", base_port, 1024, 65000), .preset = "3190",
		.about = "Ports are 100 to 999 above it."},
	{SWITCH("ownershipGuard", strict, "advisory", "strict"), .preset = "strict",
		.about = "A worktree of another clone causes a warning, or is refused."},
	{GROUP("cleanup", cleanup_fields), .about = "When worktrees are removed."},
	{GROUP("setup", setup_fields), .about = "Done once, when a worktree is created."},
	{NAMES("databaseBranchPools", database_pools), .once = true, .preset = "[]",
		.about = "`DatabaseBranchPool`s; each worktree gets a branch of each."},
	{NAMES("subscriptionPlans", plans), .preset = "[]",
		.about = "`SubscriptionPlan`s; a plan named twice is two seats."},
	{0},
};
#undef IN
#undef COUNT_IN

static char *expand_home(struct arena *a, const char *path)
{
	const char *home = getenv("HOME");
	const struct passwd *me = home && *home == '/' ? NULL : getpwuid(getuid());

	if (path[0] != '~')
		return arena_dup(a, str_of(path));
	if (me)
		home = me->pw_dir;
	return arena_printf(a, "%s%s", home ? home : "", path + 1);
}

static void complete_pool(struct arena *a, const struct yaml *tree, void *of)
{
	struct worktree_pool_spec *p = of;

	(void)tree;
	if (p->root)
		p->root = expand_home(a, p->root);
}

/* Two databases in one variable of an agent. */
static void injection_rules(const struct resource_check *c)
{
	const struct worktree_pool_spec *p = c->doc->of;
	const struct text_list *names = &p->database_pools;

	for (size_t i = 0; i < names->n; i++) {
		const struct database_pool_spec *x =
			resources_database(c->resources, names->list[i]);

		for (size_t k = 0; x && x->target_env && k < i; k++) {
			const struct database_pool_spec *y =
				resources_database(c->resources, names->list[k]);

			if (y && y->target_env && strcmp(x->target_env, y->target_env) == 0)
				resource_fault(c, "spec.databaseBranchPools",
					"'%.100s' and '%.100s' are both injected as '%s'",
					names->list[k], names->list[i], x->target_env);
		}
	}
}

static bool has_dots(const struct resource_check *c, const char *path)
{
	return strstr(arena_printf(c->reader->arena, "/%s/", path), "/../");
}

/* Where no directory can be created, or should be. */
static bool root_odd(const struct resource_check *c, const char *root)
{
	static const char *const system[] = {"/proc/", "/sys/", "/dev/"};
	const char *whole = arena_printf(c->reader->arena, "%s/", root);

	if (has_dots(c, root) || strspn(root, "/.") == strlen(root))
		return true;
	for (size_t i = 0; i < COUNT(system); i++)
		if (str_starts(str_of(whole), system[i]))
			return true;
	return false;
}

/* They would leave the worktree, or be git's own. */
static void setup_paths(const struct resource_check *c, const char *key)
{
	const struct yaml *list =
		config_node(c->doc->tree, arena_printf(c->reader->arena, "spec.setup.%s", key));

	for (size_t i = 0; list && i < list->n; i++) {
		const struct yaml *item = list->list[i];

		if (item->kind == YAML_SCALAR &&
			(has_dots(c, item->text.p) || str_is(item->text, ".git") ||
				str_is(item->text, ".") || str_starts(item->text, ".git/")))
			config_fault(c->reader, item,
				"'%.200s' must be a path within the repository, without '..', and "
				"not git's own",
				item->text.p);
	}
}

static void check_pool(const struct resource_check *c)
{
	const struct worktree_pool_spec *p = c->doc->of;

	if (p->root && root_odd(c, p->root))
		resource_fault(c, "spec.rootDir",
			"'rootDir' must not be a directory of the system or contain '..'");
	if (p->root && p->repo_local)
		resource_fault(
			c, "spec.rootDir", "'rootDir' and 'layout: repo-local' exclude each other");
	resource_check_references(
		c, "spec.databaseBranchPools", &p->database_pools, &resource_kind_database_pool);
	resource_check_references(
		c, "spec.subscriptionPlans", &p->plans, &resource_kind_subscription_plan);
	injection_rules(c);
	setup_paths(c, "copy");
	setup_paths(c, "link");
}

const struct resource_kind resource_kind_worktree_pool = {
	KIND("WorktreePool", worktree_pool_spec, worktree_fields, pools), .complete = complete_pool,
	.check = check_pool, .about = "Where worktrees are created and when they are removed."};

struct worktree_pool_spec resource_default_pool(struct arena *a)
{
	struct resources r;

	resources_default(a, &r);
	return *resources_pool(&r, NULL);
}

/* ---- database branch pools ---- */

#define IN(member)       CONFIG_AT(database_pool_spec, member)
#define COUNT_IN(member) .count_at = offsetof(struct database_pool_spec, member)

static const struct config_field upstream_fields[] = {
	{TEXT("connectionStringEnv", variable, connection_env), .required = true,
		.about = "The variable that holds the address of the database."},
	{TEXT("branchFrom", line, branch_from),
		.about = "What branches are created from: a stable branch or a snapshot."},
	{0},
};

static const struct config_field injection_fields[] = {
	{TEXT("targetEnv", variable, target_env), .required = true,
		.about = "The variable that gives an agent the address of its branch."},
	{TEXTS("additionalEnvs", additional_envs), .form = &config_variable, .once = true,
		.preset = "[]", .about = "Variables for parts of it: `PGHOST`, `PGDATABASE` ..."},
	{0},
};

static const struct config_field lifecycle_fields[] = {
	{WORD_TEXT("createOn", create_on, "worktree-allocation", "first-write-stage"),
		.preset = "worktree-allocation", .about = "When a branch is created."},
	{WORD_TEXT("reclaimOn", reclaim_on, "pr-merge", "worktree-reclaim", "manual"),
		.preset = "pr-merge", .about = "When it is destroyed."},
	{INTEGER("maxConcurrent", max_concurrent, 1, 1000000),
		.derived = "the largest of the pipelines; 20 without one",
		.about = "The maximum number of branches at the same time."},
	{DURATION("branchTtl", ttl_s), .min = 1, .about = "Maximum age of a branch."},
	{DURATION("abandonAfter", abandon_s), .min = 1, .preset = "P7D",
		.about = "How long an unused branch is kept."},
	{INTEGER("warmPoolSize", warm, 0, 20), .preset = "0",
		.about = "How many branches are created in advance."},
	{0},
};

static const struct config_field migration_fields[] = {
	{BOOL("runOnBranchCreate", on_create), .preset = "true",
		.about = "Whether a new branch is migrated."},
	{TEXT("migrationCommand", lines, migration_command), .required_when = "runOnBranchCreate",
		.required_is = (const char *const[]){"true", NULL},
		.about = "The command for that, run in the worktree."},
	{TEXT("migrationCwd", relative, migration_cwd), .derived = "the worktree",
		.about = "A directory below the worktree."},
	{0},
};

static const struct config_field database_fields[] = {
	{WORD_TEXT("adapter", adapter, "sqlite-copy", "neon", "pg-snapshot-restore", "supabase",
		 "external"),
		.required = true, .about = "How branches are created."},
	{GROUP("upstream", upstream_fields), .required = true,
		.about = "The database that they are branches of."},
	{GROUP("injection", injection_fields), .required = true,
		.about = "How agents find their branch."},
	{GROUP("lifecycle", lifecycle_fields), .about = "Creation and removal of branches."},
	{BOOL("allowBranchFromBranch", from_branch), .preset = "false",
		.about = "A branch may be created from another issue's branch."},
	{GROUP("migrations", migration_fields), .optional = true,
		CONFIG_SEEN(database_pool_spec, migrations),
		.about = "How the schema is brought up to date."},
	{OPEN("credentials"), IN(credentials),
		.about = "The adapter's own: names of variables and commands, never secrets "
			 "themselves."},
	{0},
};
#undef IN
#undef COUNT_IN

/* The keys of `credentials` that an adapter has. */
enum credential_kind { CREDENTIAL_VARIABLE, CREDENTIAL_TEXT, CREDENTIAL_BOOL };
static const struct {
	const char *adapter, *key;
	enum credential_kind kind;
} credentials[] = {
	{"neon", "apiTokenEnv", CREDENTIAL_VARIABLE},
	{"neon", "projectId", CREDENTIAL_TEXT},
	{"supabase", "apiTokenEnv", CREDENTIAL_VARIABLE},
	{"supabase", "projectId", CREDENTIAL_TEXT},
	{"pg-snapshot-restore", "adminConnectionStringEnv", CREDENTIAL_VARIABLE},
	{"pg-snapshot-restore", "force", CREDENTIAL_BOOL},
	{"external", "allocateCommand", CREDENTIAL_TEXT},
	{"external", "reclaimCommand", CREDENTIAL_TEXT},
	{"external", "listCommand", CREDENTIAL_TEXT},
	{"external", "acknowledgeUntrusted", CREDENTIAL_BOOL},
};

static bool credential_fits(const struct yaml *v, enum credential_kind kind)
{
	if (v->kind != YAML_SCALAR)
		return false;
	if (kind == CREDENTIAL_VARIABLE)
		return config_variable.valid(v->text);
	return kind == CREDENTIAL_BOOL ? str_is(v->text, "true") || str_is(v->text, "false")
				       : config_lines.valid(v->text);
}

static void check_credential(const struct resource_check *c, const char *adapter, const char *key,
	const struct yaml *value)
{
	static const char *const whats[] = {
		"the name of an environment variable", "a text", "'true' or 'false'"};
	size_t i = 0;

	if (strcmp(key, "storageVolume") == 0) {
		config_fault(c->reader, value,
			"'storageVolume' has no effect: branches are databases of the same server");
		return;
	}
	while (i < COUNT(credentials) && (strcmp(credentials[i].adapter, adapter) != 0 ||
						 strcmp(credentials[i].key, key) != 0))
		i++;
	if (i == COUNT(credentials))
		config_fault(c->reader, value, "the adapter '%s' has no credential '%.100s'",
			adapter, key);
	else if (!credential_fits(value, credentials[i].kind))
		config_fault(c->reader, value, "'%s' must be %s", key, whats[credentials[i].kind]);
}

const char *database_credential(const struct database_pool_spec *d, const char *key)
{
	const struct yaml *v = d->credentials ? yaml_get(d->credentials, key) : NULL;

	return v && v->kind == YAML_SCALAR && v->text.n ? v->text.p : NULL;
}

static bool names_database(const struct worktree_pool_spec *pool, const char *name)
{
	for (size_t i = 0; i < pool->database_pools.n; i++)
		if (strcmp(pool->database_pools.list[i], name) == 0)
			return true;
	return false;
}

/* As many as the pipelines that use the pool work on at the same time. */
static void set_default_limit(
	struct arena *a, const struct resources *r, struct database_pool_spec *d)
{
	d->max_branches = d->max_concurrent;
	for (size_t i = 0; !d->max_concurrent && i < r->n_docs; i++) {
		const struct pipeline *p = r->docs[i].of;
		const struct worktree_pool_spec *pool;
		struct parallelism now;

		if (r->docs[i].kind != &resource_kind_pipeline || !p->worktree_pool)
			continue;
		pool = resources_pool(r, p->worktree_pool);
		if (!pool || !names_database(pool, d->name))
			continue;
		parallelism_resolve(a, r, p, parallelism_mode(), &now);
		if (now.max > d->max_branches)
			d->max_branches = now.max;
	}
	if (!d->max_branches)
		d->max_branches = CONCURRENT_MAX;
}

void resources_link_databases(struct arena *a, struct resources *r)
{
	for (size_t i = 0; i < r->n_docs; i++) {
		struct worktree_pool_spec *pool = r->docs[i].of;

		if (r->docs[i].kind == &resource_kind_database_pool)
			set_default_limit(a, r, r->docs[i].of);
		if (r->docs[i].kind != &resource_kind_worktree_pool)
			continue;
		pool->databases =
			arena_alloc(a, (pool->database_pools.n + 1) * sizeof(*pool->databases));
		for (size_t k = 0; k < pool->database_pools.n; k++) {
			const struct database_pool_spec *d =
				resources_database(r, pool->database_pools.list[k]);

			if (d)
				pool->databases[pool->n_databases++] = d;
		}
	}
}

static void check_database(const struct resource_check *c)
{
	const struct database_pool_spec *d = c->doc->of;

	for (size_t i = 0; d->adapter && d->credentials && i < d->credentials->n; i++)
		check_credential(c, d->adapter, d->credentials->map[i].key->text.p,
			d->credentials->map[i].value);
	if (d->migration_cwd && has_dots(c, d->migration_cwd))
		resource_fault(c, "spec.migrations.migrationCwd",
			"'migrationCwd' leads out of the worktree");
}

const struct resource_kind resource_kind_database_pool = {
	KIND("DatabaseBranchPool", database_pool_spec, database_fields, databases),
	.check = check_database,
	.about = "Branches of a database, one for each worktree. docs/databases.md."};

/* ---- subscription plans ---- */

#define IN(member) CONFIG_AT(off_peak_window, member)

static const struct config_field window_fields[] = {
	{TEXT("tz", zone, tz), .required = true, .about = "Time zone of the hours."},
	{TEXT("hours", hours, hours), .required = true,
		.about = "From the first hour until before the second: `22-06`."},
	{TEXT("daysOfWeek", days, days), .derived = "all days", .about = "`Sat,Sun`."},
	{0},
};
#undef IN
#define IN(member) CONFIG_AT(subscription_plan, member)

static const struct config_field off_peak_fields[] = {
	{BOOL("enabled", off_peak), .required = true, .about = "Whether it applies."},
	{NUMBER("multiplier", multiplier), .required = true, .above = true, .min = 1,
		.about = "The factor by which the quota is larger then."},
	{LIST("schedule", subscription_plan, windows, 0, LIST_MAX, window_fields),
		.about = "The off-peak hours."},
	{TEXT("lastVerified", date, verified),
		.about = "When it was last compared with the vendor's terms."},
	{0},
};

static const struct config_field plan_fields[] = {
	{HARNESS("harness", harness, resource_harness_words), .required = true,
		.about = "The harness that the plan pays for."},
	{WORD("billingMode", billing, "session-window", "monthly-cap", "pay-per-token"),
		.required = true, .about = "How the vendor bills."},
	{DURATION("windowDuration", window_s), .min = 1, .required_when = "billingMode",
		.required_is = (const char *const[]){"session-window", NULL},
		.about = "Length of a session window; no other has one."},
	{INTEGER("windowQuotaTokens", quota_tokens, 1, (double)JSON_MAX_INT),
		.required_when = "billingMode",
		.required_is = (const char *const[]){"session-window", "monthly-cap", NULL},
		.about = "Tokens in one window."},
	{GROUP("offPeak", off_peak_fields), .optional = true, .about = "When tokens are cheaper."},
	{NUMBER("pacingTarget", pacing), CONFIG_RANGE(0, 1), .preset = "0.8",
		.about = "The part of a window's quota to be used by its end."},
	{NUMBER("hardCap", hard_cap), CONFIG_RANGE(0, 1), .preset = "0.95",
		.about = "The part of the quota above which nothing new starts."},
	{WORD("quotaSource", source, "self-tracked", "authoritative-api",
		 "authoritative-with-fallback"),
		.preset = "self-tracked",
		.about = "Where the used quota is known from: the quota ledger; the `quotaCommand` "
			 "of the user's own configuration; that, and the ledger if it fails."},
	{.key = "quotaCommand",
		.kind = CONFIG_REFUSED,
		.hint = "a repository names no program: it stands under 'plans' in config.yaml of "
			"the state directory"},
	{0},
};
#undef IN

static void complete_plan(struct arena *a, const struct yaml *tree, void *of)
{
	struct subscription_plan *p = of;

	(void)a;
	if (!config_node(tree, "spec.offPeak"))
		p->multiplier = 1;
}

/* `22-22`, also `6-06`. */
static bool is_empty_range(const char *hours)
{
	uint64_t from, to;

	(void)number_digits(str_of(hours), &from);
	(void)number_digits(str_of(strchr(hours, '-') + 1), &to);
	return from == to;
}

static void check_plan(const struct resource_check *c)
{
	const struct subscription_plan *p = c->doc->of;
	int64_t ignored;

	if (p->window_s && p->billing != BILLING_WINDOW)
		resource_fault(c, "spec.windowDuration",
			"'windowDuration' goes with 'billingMode: session-window'");
	if (p->quota_tokens && p->billing == BILLING_PER_TOKEN)
		resource_fault(
			c, "spec.windowQuotaTokens", "'billingMode: pay-per-token' has no quota");
	if (p->off_peak && !p->n_windows)
		resource_fault(
			c, "spec.offPeak.enabled", "'offPeak' has no effect without 'schedule'");
	if (p->source != QUOTA_SELF_TRACKED && p->billing == BILLING_PER_TOKEN)
		resource_fault(c, "spec.quotaSource", "a plan without a quota has no source of it");
	if (p->verified && !clock_parse_date(str_of(p->verified), &ignored))
		resource_fault(
			c, "spec.offPeak.lastVerified", "the day '%s' does not exist", p->verified);
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct off_peak_window *w = &p->windows[i];
		char *at = arena_printf(c->reader->arena, "spec.offPeak.schedule[%zu]", i);

		/* A host without any zones accepts all of them. */
		if (w->tz && zone_installed() && !zone_known(w->tz))
			resource_fault(c, arena_printf(c->reader->arena, "%s.tz", at),
				"unknown time zone '%s'", w->tz);
		if (w->hours && is_empty_range(w->hours))
			resource_fault(c, arena_printf(c->reader->arena, "%s.hours", at),
				"'%s' is an empty range", w->hours);
	}
}

const struct resource_kind resource_kind_subscription_plan = {
	KIND("SubscriptionPlan", subscription_plan, plan_fields, plans), .complete = complete_plan,
	.check = check_plan,
	.about =
		"What a harness's account pays for. It determines how many issues are worked on at "
		"the same time; the quota ledger counts its tokens."};
