#include "src/config/parallelism.h"
#include "src/config/rules.h"

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

/* Only what ran before can have run on another harness. */
static void independence(const struct rules *s, const struct resource_doc *doc, size_t i)
{
	const struct pipeline *p = doc->of;
	const struct stage_spec *stage = &p->stages[i];
	char *path = stage_path(s, i, "requiresIndependentHarnessFrom");
	const struct yml *list = yml_at(doc->tree, path);

	for (size_t k = 0; list && stage->independent_of.n && k < list->n; k++) {
		const struct yml *item = list->list[k];
		const struct stage_spec *other =
			item->kind == YML_SCALAR ? pipeline_stage(p, item->text.p) : NULL;

		if (item->kind != YML_SCALAR || !form_facts(FORM_ID)->good(item->text))
			continue;
		if (!other)
			fault_add(s->faults, doc->file, item, "there is no stage '%.100s' " CYCLE,
				item->text.p);
		else if (other == stage)
			fault_add(s->faults, doc->file, item,
				"stage '%s' must be independent of itself " CYCLE, stage->name);
		else if (other > stage)
			fault_add(s->faults, doc->file, item, "stage '%s' comes after '%s' " CYCLE,
				other->name, stage->name);
	}
}

/* What git does not take as a part of a branch, whatever stands in the placeholders. */
static bool branch_odd(const char *name)
{
	struct str s = str_of(name);

	return strstr(name, "..") || strstr(name, "//") || strstr(name, "/.") ||
	       strstr(name, "@{") || str_ends(s, "/") || str_ends(s, ".") || str_ends(s, ".lock") ||
	       strstr(name, ".lock/");
}

/* Each `{` has its `}` behind it, with a word between. */
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

/* Bytes of one that can be filled in at the beginning of `text`; 0: there is none. */
static size_t placeholder_at(const char *text)
{
	static const char *const known[] = {"{id}", "{issueId}", "{issueNumber}"};

	for (size_t i = 0; i < COUNT(known); i++)
		if (str_starts(str_of(text), known[i]))
			return strlen(known[i]);
	return 0;
}

/* Two issues on one branch would work in one worktree. */
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
			"'%.200s' is no name of a git branch", p->target_branch);
	if (p->branch_pattern &&
		(branch_odd(p->branch_pattern) || placeholders_odd(p->branch_pattern)))
		rule_fault(s, doc, "spec.branching.pattern",
			"'%.200s' gives no name of a git branch", p->branch_pattern);
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
			"stage '%s' uses a database, up to %u of it run at one time, and "
			"WorktreePool '%.200s' names no DatabaseBranchPool "
			"(DatabaseIsolationRequired)",
			p->stages[i].name, max, pool->name);
	}
}

/* The last one in a worktree: those behind it in the main checkout, such as tagging, merge nothing.
 */
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
			"come to it at one time",
			p->stages[last].name, max);
}

/* Whatever AI_SDLC_PARALLELISM says today. */
static void parallel(const struct rules *s, const struct resource_doc *doc)
{
	const struct pipeline *p = doc->of;
	const struct worktree_pool_spec *pool = resources_pool(s->r, p->worktree_pool);
	bool named = yml_at(doc->tree, "spec.parallelism.worktreePool");
	struct parallelism n;

	parallelism_resolve(s->a, s->r, p, PARALLELISM_ON, &n);
	if (!pool && (named || n.max > 1))
		rule_fault(s, doc, "spec.parallelism.worktreePool",
			"there is no WorktreePool '%.253s'%s", p->worktree_pool,
			named ? "" : ", which more than one issue at one time needs");
	if (n.max < 2 || !p->n_stages)
		return;
	if (pool)
		isolation(s, doc, pool, n.max);
	final_stage(s, doc, n.max);
}

void pipeline_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct pipeline *p = doc->of;

	for (size_t i = 0; i < p->n_stages; i++) {
		same_name(s, doc, i);
		independence(s, doc, i);
	}
	branching(s, doc);
	if (strcmp(p->default_model, "inherit") == 0)
		rule_fault(s, doc, "spec.defaultModel",
			"'defaultModel' is what 'inherit' stands for, and cannot be it");
	if (p->tenant_share >= 0 && !p->tenant)
		rule_fault(s, doc, "spec.tenantQuotaShare",
			"'tenantQuotaShare' is the share of a 'tenant', and there is none");
	reference_rules(s, doc, "spec.subscriptionPlans", &p->plans, "SubscriptionPlan");
	if (p->parallel)
		parallel(s, doc);
}
