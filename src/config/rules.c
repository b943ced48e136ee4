#include <stdarg.h>
#include <sys/stat.h>
#include "src/config/kinds.h"
#include "src/config/resource.h"

struct rules {
	struct arena *a;
	const struct resources *r;
	struct config_reader *reader;
};

/* A fault at `path` of the document, or at the nearest node above it. */
static void rule_fault(const struct rules *s, const struct resource_doc *doc, const char *path,
	const char *fmt, ...) PRINTF(4, 5);
static void rule_fault(const struct rules *s, const struct resource_doc *doc, const char *path,
	const char *fmt, ...)
{
	char text[sizeof(s->reader->faults.items->text)];
	char *where = arena_dup(s->a, str_of(path));
	const struct yaml *at;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	while (!(at = config_node(doc->tree, where))) {
		char *dot = strrchr(where, '.');

		*(dot ? dot : where) = '\0';
	}
	config_fault(s->reader, at, "%s", text);
}

static bool there(const struct resources *r, const char *kind, const char *name)
{
	for (size_t i = 0; i < r->n_docs; i++)
		if (strcmp(r->docs[i].kind->name, kind) == 0 && strcmp(r->docs[i].name, name) == 0)
			return true;
	return false;
}

static void reference_rules(const struct rules *s, const struct resource_doc *doc, const char *path,
	const struct words *names, const char *kind)
{
	const struct yaml *list = config_node(doc->tree, path);

	/* Looks at the document, because refused items are not in `names`. */
	for (size_t i = 0; list && names->n && i < list->n; i++) {
		const struct yaml *item = list->kind == YAML_LIST ? list->list[i] : NULL;

		if (item && item->kind == YAML_SCALAR && config_name.valid(item->text) &&
			!there(s->r, kind, item->text.p))
			config_fault(
				s->reader, item, "there is no %s '%.253s'", kind, item->text.p);
	}
}

/* ---- pipelines ---- */

#define CYCLE "(CyclicIndependenceConstraint)"

static char *stage_path(const struct rules *s, size_t i, const char *rest)
{
	return arena_printf(s->a, "spec.stages[%zu].%s", i, rest);
}

static void same_name(const struct rules *s, const struct resource_doc *doc, size_t i)
{
	const struct pipeline *p = doc->of;

	for (size_t k = 0; k < i; k++) {
		if (!*p->stages[i].name || strcmp(p->stages[i].name, p->stages[k].name) != 0)
			continue;
		rule_fault(s, doc, stage_path(s, i, "name"), "duplicate stage '%s': also line %u",
			p->stages[i].name, p->stages[k].line);
		return;
	}
}

/* Only an earlier stage has run on a harness already. */
static void independence(const struct rules *s, const struct resource_doc *doc, size_t i)
{
	const struct pipeline *p = doc->of;
	const struct stage_spec *stage = &p->stages[i];
	char *path = stage_path(s, i, "requiresIndependentHarnessFrom");
	const struct yaml *list = config_node(doc->tree, path);

	for (size_t k = 0; list && stage->independent_of.n && k < list->n; k++) {
		const struct yaml *item = list->list[k];
		const struct stage_spec *other =
			item->kind == YAML_SCALAR ? pipeline_stage(p, item->text.p) : NULL;

		if (item->kind != YAML_SCALAR || !config_id.valid(item->text))
			continue;
		if (!other)
			config_fault(
				s->reader, item, "there is no stage '%.100s' " CYCLE, item->text.p);
		else if (other == stage)
			config_fault(s->reader, item,
				"stage '%s' must be independent of itself " CYCLE, stage->name);
		else if (other > stage)
			config_fault(s->reader, item, "stage '%s' comes after '%s' " CYCLE,
				other->name, stage->name);
	}
}

/* What git refuses in the name of a branch, whatever the placeholders are. */
static bool branch_odd(const char *name)
{
	struct str s = str_of(name);

	return strstr(name, "..") || strstr(name, "//") || strstr(name, "/.") ||
	       strstr(name, "@{") || str_ends(s, "/") || str_ends(s, ".") || str_ends(s, ".lock") ||
	       strstr(name, ".lock/");
}

/* Whether a brace is not closed or empty. */
static bool placeholders_odd(const char *p)
{
	while (*p) {
		size_t n = strcspn(p, "{}");

		if (p[n] == '}')
			return true;
		if (!p[n])
			return false;
		p += n + 1;
		n = strcspn(p, "{}");
		if (!n || p[n] != '}')
			return true;
		p += n + 1;
	}
	return false;
}

/* Length of a known placeholder at the beginning of `text`; 0: there is none. */
static size_t placeholder_at(const char *text)
{
	static const char *const known[] = {"{id}", "{issueId}", "{issueNumber}"};

	for (size_t i = 0; i < COUNT(known); i++)
		if (str_starts(str_of(text), known[i]))
			return strlen(known[i]);
	return 0;
}

/* Two issues on one branch would share a worktree. */
static void pattern(const struct rules *s, const struct resource_doc *doc, const char *p)
{
	size_t found = 0;

	for (const char *at = p; *at; at++) {
		if (*at != '{')
			continue;
		if (!placeholder_at(at)) {
			rule_fault(s, doc, "spec.branching.pattern",
				"'%.*s' is none of {id}, {issueId}, {issueNumber}",
				(int)strcspn(at, "}") + 1, at);
			return;
		}
		found++;
	}
	if (!found)
		rule_fault(s, doc, "spec.branching.pattern",
			"'%.200s' gives every issue the same branch: {id} must be in it", p);
}

static void branching(const struct rules *s, const struct resource_doc *doc)
{
	const struct pipeline *p = doc->of;

	if (p->target_branch && branch_odd(p->target_branch))
		rule_fault(s, doc, "spec.branching.targetBranch",
			"'%.200s' is not the name of a git branch", p->target_branch);
	if (p->branch_pattern &&
		(branch_odd(p->branch_pattern) || placeholders_odd(p->branch_pattern)))
		rule_fault(s, doc, "spec.branching.pattern",
			"'%.200s' does not give the name of a git branch", p->branch_pattern);
	else if (p->branch_pattern)
		pattern(s, doc, p->branch_pattern);
}

static void isolation(const struct rules *s, const struct resource_doc *doc,
	const struct worktree_pool_spec *pool, unsigned max)
{
	const struct pipeline *p = doc->of;

	for (size_t i = 0; i < p->n_stages; i++) {
		if (p->stages[i].database == DATABASE_NONE || pool->database_pools.n)
			continue;
		rule_fault(s, doc, stage_path(s, i, "databaseAccess"),
			"stage '%s' uses a database, up to %u issues run it at the same time, and "
			"WorktreePool '%.200s' names no DatabaseBranchPool "
			"(DatabaseIsolationRequired)",
			p->stages[i].name, max, pool->name);
	}
}

/* The last stage in a worktree; later ones in the main checkout, such as tagging, merge nothing. */
static void final_stage(const struct rules *s, const struct resource_doc *doc, unsigned max)
{
	const struct pipeline *p = doc->of;
	size_t last = p->n_stages - 1, i = p->n_stages;

	while (i && p->stages[i - 1].isolation != ISOLATION_WORKTREE)
		i--;
	if (i)
		last = i - 1;
	if (!p->stages[last].holds_gate)
		rule_fault(s, doc, stage_path(s, last, "holdsMergeGate"),
			"the final stage '%s' must have 'holdsMergeGate: true': up to %u issues "
			"reach it at the same time",
			p->stages[last].name, max);
}

/* Whatever the value of AI_SDLC_PARALLELISM. */
static void parallel(const struct rules *s, const struct resource_doc *doc)
{
	const struct pipeline *p = doc->of;
	const struct worktree_pool_spec *pool = resources_pool(s->r, p->worktree_pool);
	bool named = config_node(doc->tree, "spec.parallelism.worktreePool");
	struct parallelism n;

	parallelism_resolve(s->a, s->r, p, PARALLELISM_ON, &n);
	if (!pool && (named || n.max > 1))
		rule_fault(s, doc, "spec.parallelism.worktreePool",
			"there is no WorktreePool '%.253s'%s", p->worktree_pool,
			named ? "" : ", which several issues at the same time require");
	if (n.max < 2 || !p->n_stages)
		return;
	if (pool)
		isolation(s, doc, pool, n.max);
	final_stage(s, doc, n.max);
}

static void pipeline_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct pipeline *p = doc->of;

	for (size_t i = 0; i < p->n_stages; i++) {
		same_name(s, doc, i);
		independence(s, doc, i);
	}
	branching(s, doc);
	if (strcmp(p->default_model, "inherit") == 0)
		rule_fault(s, doc, "spec.defaultModel", "'defaultModel' cannot be 'inherit'");
	if (p->tenant_share >= 0 && !p->tenant)
		rule_fault(
			s, doc, "spec.tenantQuotaShare", "'tenantQuotaShare' requires a 'tenant'");
	reference_rules(s, doc, "spec.subscriptionPlans", &p->plans, "SubscriptionPlan");
	if (p->parallel)
		parallel(s, doc);
}

/* ---- worktree pools, database branch pools ---- */

/* Two databases in one variable of an agent. */
static void injection_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct worktree_pool_spec *p = doc->of;
	const struct words *names = &p->database_pools;

	for (size_t i = 0; i < names->n; i++) {
		const struct database_pool_spec *x = resources_database(s->r, names->list[i]);

		for (size_t k = 0; x && x->target_env && k < i; k++) {
			const struct database_pool_spec *y =
				resources_database(s->r, names->list[k]);

			if (y && y->target_env && strcmp(x->target_env, y->target_env) == 0)
				rule_fault(s, doc, "spec.databaseBranchPools",
					"'%.100s' and '%.100s' are both injected as '%s'",
					names->list[k], names->list[i], x->target_env);
		}
	}
}

static bool has_part(const char *path, const char *part)
{
	struct str rest = str_of(path);

	while (rest.n) {
		size_t slash = str_find(rest, STR("/"));

		if (str_is(str_sub(rest, 0, slash), part))
			return true;
		rest = str_sub(rest, slash < rest.n ? slash + 1 : rest.n, rest.n);
	}
	return false;
}

/* Where no directory can be created, or should be. */
static bool root_odd(const char *root)
{
	static const char *const system[] = {"/proc", "/sys", "/dev"};

	if (has_part(root, "..") || strspn(root, "/.") == strlen(root))
		return true;
	for (size_t i = 0; i < COUNT(system); i++) {
		size_t n = strlen(system[i]);

		if (strncmp(root, system[i], n) == 0 && (!root[n] || root[n] == '/'))
			return true;
	}
	return false;
}

static void pool_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct worktree_pool_spec *p = doc->of;

	if (p->root && p->root_declared && root_odd(p->root))
		rule_fault(s, doc, "spec.rootDir",
			"'rootDir' must not be a directory of the system or contain '..'");
	if (p->repo_local && p->root_declared)
		rule_fault(s, doc, "spec.rootDir",
			"'rootDir' and 'layout: repo-local' exclude each other");
	reference_rules(
		s, doc, "spec.databaseBranchPools", &p->database_pools, "DatabaseBranchPool");
	reference_rules(s, doc, "spec.subscriptionPlans", &p->plans, "SubscriptionPlan");
	injection_rules(s, doc);
}

static void database_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct database_pool_spec *d = doc->of;

	if (d->migration_cwd && has_part(d->migration_cwd, ".."))
		rule_fault(s, doc, "spec.migrations.migrationCwd",
			"'migrationCwd' leads out of the worktree");
}

static void name_rules(const struct rules *s, const struct resource_doc *doc)
{
	for (const struct resource_doc *other = s->r->docs; other < doc; other++) {
		const struct yaml *at = config_node(other->tree, "metadata.name");

		if (other->kind != doc->kind || !*doc->name || strcmp(other->name, doc->name) != 0)
			continue;
		rule_fault(s, doc, "metadata.name", "duplicate %s '%.253s': also %s:%u",
			doc->kind->name, doc->name, other->file, at ? at->line : 1);
		return;
	}
}

/* ---- subscription plans ---- */

#define ZONES "/usr/share/zoneinfo"

static unsigned number(const char *digits, size_t n)
{
	unsigned v = 0;

	for (size_t i = 0; i < n; i++)
		v = v * 10 + (unsigned)(digits[i] - '0');
	return v;
}

static bool is_day(const char *date)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned y = number(date, 4), m = number(date + 5, 2), d = number(date + 8, 2);
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return d <= days[m - 1] + (unsigned)(m == 2 && leap);
}

/* A host without any zones accepts all of them. */
static bool zone_known(struct arena *a, const char *tz)
{
	struct stat st;

	if (stat(ZONES "/Etc/UTC", &st) < 0)
		return true;
	return stat(arena_printf(a, ZONES "/%s", tz), &st) == 0 && S_ISREG(st.st_mode);
}

static void plan_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct subscription_plan *p = doc->of;

	if (p->verified && !is_day(p->verified))
		rule_fault(s, doc, "spec.offPeak.lastVerified", "the day '%s' does not exist",
			p->verified);
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct off_peak_window *w = &p->windows[i];
		char *at = arena_printf(s->a, "spec.offPeak.schedule[%zu]", i);

		if (w->tz && !zone_known(s->a, w->tz))
			rule_fault(s, doc, arena_printf(s->a, "%s.tz", at),
				"unknown time zone '%s'", w->tz);
		if (w->hours &&
			strtoul(w->hours, NULL, 10) == strtoul(strchr(w->hours, '-') + 1, NULL, 10))
			rule_fault(s, doc, arena_printf(s->a, "%s.hours", at),
				"'%s' is an empty range", w->hours);
	}
}

void resource_rules_check(struct config_reader *reader, const struct resources *r)
{
	static const struct {
		const struct config_field *fields;
		void (*check)(const struct rules *s, const struct resource_doc *doc);
	} checks[] = {
		{pipeline_fields, pipeline_rules},
		{worktree_pool_fields, pool_rules},
		{subscription_plan_fields, plan_rules},
		{database_pool_fields, database_rules},
	};
	const struct rules s = {reader->arena, r, reader};

	for (const struct resource_doc *doc = r->docs; doc < r->docs + r->n_docs; doc++) {
		reader->file = doc->file;
		name_rules(&s, doc);
		for (size_t k = 0; k < COUNT(checks); k++)
			if (checks[k].fields == doc->kind->fields)
				checks[k].check(&s, doc);
	}
}
