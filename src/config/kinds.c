#include <pwd.h>
#include "src/config/envelope.h"

const char *const api_versions[] = {"ai-sdlc.dev/v1alpha1", "ai-sdlc.io/v1alpha1", NULL};

_Static_assert(offsetof(struct pipeline, name) == 0 &&
		       offsetof(struct worktree_pool_spec, name) == 0 &&
		       offsetof(struct subscription_plan, name) == 0 &&
		       offsetof(struct database_pool_spec, name) == 0,
	"metadata_rows puts the name there");

const struct row metadata_rows[] = {
	{.key = "name",
		.kind = ROW_TEXT,
		.form = FORM_NAME,
		.needed = true,
		.at = 0,
		.about = "No other of its kind has it."},
	{.key = "namespace",
		.kind = ROW_TEXT,
		.form = FORM_NAME,
		.inert = true,
		.at = NOWHERE,
		.about = "A team or a project."},
	{.key = "labels",
		.kind = ROW_LABELS,
		.inert = true,
		.at = NOWHERE,
		.about = "Texts to select by."},
	{.key = "annotations",
		.kind = ROW_LABELS,
		.inert = true,
		.at = NOWHERE,
		.about = "Texts for other programs."},
	{0},
};

static char *home_expanded(struct arena *a, const char *path)
{
	const char *home = getenv("HOME");
	const struct passwd *me = home && *home == '/' ? NULL : getpwuid(getuid());

	if (path[0] != '~')
		return arena_dup(a, str_of(path));
	if (me)
		home = me->pw_dir;
	return arena_printf(a, "%s%s", home ? home : "", path + 1);
}

static void settle_pool(struct arena *a, const struct yml *tree, void *of)
{
	struct worktree_pool_spec *p = of;

	(void)tree;
	if (p->root)
		p->root = home_expanded(a, p->root);
}

static void settle_plan(struct arena *a, const struct yml *tree, void *of)
{
	struct subscription_plan *p = of;

	(void)a;
	if (!yml_at(tree, "spec.offPeak"))
		p->multiplier = 1;
}

static void settle_database(struct arena *a, const struct yml *tree, void *of)
{
	(void)a;
	(void)tree;
	(void)of;
}

static bool inherits(const char *word)
{
	return !word || strcmp(word, "inherit") == 0;
}

static void settle_stage(
	const struct pipeline *p, const struct yml *node, struct stage_spec *s, bool isolated)
{
	s->line = node->line;
	s->col = node->col;
	if (!s->name)
		s->name = "";
	if (inherits(s->model))
		s->model = NULL;
	if (inherits(s->harness))
		s->harness = p->default_harness;
	if (!s->fallback_declared)
		s->fallback = p->default_fallback;
	s->isolation_declared = yml_get(node, "isolation") != NULL;
	if (!s->isolation_declared)
		s->isolation = isolated ? ISOLATION_WORKTREE : ISOLATION_INPLACE;
}

static void settle_pipeline(struct arena *a, const struct yml *tree, void *of)
{
	struct pipeline *p = of;
	const struct yml *stages = yml_at(tree, "spec.stages");

	(void)a;
	if (!p->worktree_pool)
		p->worktree_pool = p->name;
	if (!yml_at(tree, "spec.tenantQuotaShare"))
		p->tenant_share = -1;
	if (!p->default_harness) /* it was refused */
		p->default_harness = "claude-code";
	if (!p->default_model)
		p->default_model = "sonnet";
	for (size_t i = 0; i < p->n_stages; i++)
		settle_stage(p, stages->list[i], &p->stages[i], p->parallel);
}

#define KIND(text, type, table, settles, member, what)                                             \
	{                                                                                          \
		.name = text, .rows = table, .size = sizeof(struct type), .settle = settles,       \
		.list_at = offsetof(struct resources, member),                                     \
		.count_at = offsetof(struct resources, n_##member), .about = what                  \
	}

const struct resource_kind resource_kinds[] = {
	KIND("Pipeline", pipeline, pipeline_rows, settle_pipeline, pipelines,
		"Stages that an issue goes through, with whom, and how many issues at one time."),
	KIND("WorktreePool", worktree_pool_spec, worktree_pool_rows, settle_pool, pools,
		"Where worktrees are, and when they go."),
	KIND("SubscriptionPlan", subscription_plan, subscription_plan_rows, settle_plan, plans,
		"What a harness's account pays for. How many issues at one time is made of it; "
		"tokens are not counted."),
	KIND("DatabaseBranchPool", database_pool_spec, database_pool_rows, settle_database,
		databases,
		"Branches of a database, one for each worktree. It is read and checked; nobody "
		"makes them."),
	{0},
};

const struct resource_kind *resource_kind(const char *name)
{
	for (const struct resource_kind *k = resource_kinds; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

bool resource_kind_other(const char *name)
{
	static const char *const others[] = {"AdapterBinding", "AgentRole", "AutonomyPolicy",
		"DesignIntentDocument", "DesignSystemBinding", "DispatchConfig", "QualityGate"};

	for (size_t i = 0; i < COUNT(others); i++)
		if (strcmp(others[i], name) == 0)
			return true;
	return false;
}

struct worktree_pool_spec worktree_pool_default(struct arena *a)
{
	struct worktree_pool_spec p = {.name = "default", .file = NULL};
	struct faults faults = {.arena = a};
	const struct yml nothing = {.kind = YML_MAP};

	/* What is missing is said to no one: the defaults are what is wanted. */
	document_read(&faults, "", resource_kind("WorktreePool"), &nothing, &p);
	settle_pool(a, &nothing, &p);
	return p;
}
