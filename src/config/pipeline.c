#include "src/config/resource_internal.h"
#include "src/sys/git.h"

/* ---- stages ---- */

#define IN(member)       CONFIG_AT(stage_spec, member)
#define COUNT_IN(member) .count_at = offsetof(struct stage_spec, member)

#define NOT_SUPPORTED "a stage that relies on it must not run without it"

const char *const resource_harness_words[] = {
	"claude-code", "codex", "gemini-cli", "opencode", "aider", "generic-api", NULL};
static const char *const stage_harness_words[] = {
	"claude-code", "codex", "gemini-cli", "opencode", "aider", "generic-api", "inherit", NULL};
const char *const resource_capability_words[] = {"freshContext", "customTools", "streaming",
	"worktreeAwareCwd", "skills", "artifactWrites", NULL};

static const struct config_field estimate_fields[] = {
	{INTEGER("input", estimate_in, 0, (double)JSON_MAX_INT), .required = true,
		.about = "Input tokens."},
	{INTEGER("output", estimate_out, 0, (double)JSON_MAX_INT), .required = true,
		.about = "Output tokens."},
	{BOOL("frozen", estimate_frozen), .preset = "false",
		.about = "Measured values do not replace the estimate."},
	{0},
};

static const struct config_field failure_fields[] = {
	{WORD("strategy", on_failure, "abort", "retry", "pause", "continue"), .required = true,
		.about = "What happens to the run."},
	{INTEGER("maxRetries", max_retries, 1, 10), .required_when = "strategy",
		.required_is = (const char *const[]){"retry", NULL},
		.about = "How often the stage is retried."},
	{DURATION("retryDelay", retry_delay_s), .preset = "PT0S",
		.about = "The wait before each retry."},
	{CHECKED_TEXT("notification", line), .inert = true,
		.about = "Name of a template of `notifications`."},
	{WORD_TEXT("on", failure_on, "AdapterUnavailable", "AdmissionDenied", "AgentTimeout",
		 "ArtifactSchemaInvalid", "BranchQuotaExceeded", "BudgetExceeded", "CIFailure",
		 "HarnessUnavailable", "IndependenceViolated", "MigrationFailed"),
		.derived = "any failure", .about = "The failure that `onFailure` applies to."},
	{0},
};

static const struct config_field stage_fields[] = {
	{TEXT("name", id, name), .required = true, .about = "Unique in the pipeline."},
	{TEXT("agent", id, agent), .about = "The agent that works in the stage."},
	{CHECKED_WORD("kind", "agent", "review-classifier", "review-fanout"), .inert = true,
		.preset = "agent",
		.about = "An agent; the choice of the reviewers; the reviewers."},
	{WORD("isolation", isolation, "worktree", "inplace"),
		.derived = "`worktree` where the pipeline has `parallelism`, else `inplace`",
		.about = "Runs in a worktree of its own, or in the main checkout."},
	{BOOL("holdsMergeGate", holds_gate), .preset = "false",
		.about = "Runs under the merge gate, one at a time."},
	{TEXT("model", model, model), .inherits = "defaultModel",
		.about = "An alias, an id, or `inherit`: the pipeline's."},
	{NUMBER("maxBudgetUsd", max_budget_usd), .above = true,
		.about = "What one call may cost, in USD; more is `BudgetExceeded`."},
	{HARNESS("harness", harness, stage_harness_words), .inherits = "defaultHarness",
		.about = "The program that runs the agent; `inherit`: the pipeline's."},
	{TEXTS("harnessFallback", fallback), CONFIG_SEEN(stage_spec, fallback_declared),
		.once = true, .words = resource_harness_words, .inherits = "defaultHarnessFallback",
		.hint = "UnknownHarness",
		.about = "The harnesses to try next, in order, if it is not available."},
	{TEXTS("requiresIndependentHarnessFrom", independent_of), .form = &config_id, .once = true,
		.about = "Earlier stages: the stage runs on none of their harnesses."},
	{TEXTS("requires", needs), .once = true, .words = resource_capability_words,
		.about = "Capabilities that the harness must have."},
	{WORD("schedule", schedule, "now", "off-peak", "quota-permitting", "defer-if-low-priority"),
		.preset = "now", .about = "When the stage may start."},
	{GROUP("estimatedTokens", estimate_fields), .optional = true, .derived = "50000 and 10000",
		.about = "Expected use of tokens."},
	{WORD("databaseAccess", database, "none", "read", "write", "migrate"), .preset = "none",
		.about = "No database; a branch to read; a branch of its own; the same under the "
			 "merge gate."},
	{GROUP("onFailure", failure_fields), .optional = true,
		CONFIG_SEEN(stage_spec, failure_declared), .about = "What to do after a failure."},
	{DURATION("timeout", timeout_s), .min = 1, .derived = "`PT30M`",
		.about = "How long the stage may run."},
	{WORD_TEXT("artifact", artifact, "plan", "implementation", "validation", "review", "pr"),
		.about = "The artifact that the stage writes, by the name of its schema."},
	{CHECKED_TEXT("type", line), .inert = true, .about = "For other programs."},
	{OPEN("context"), .inert = true, .about = "For other programs."},
	{OPEN("config"), .inert = true, .about = "For other programs."},
	{REFUSED("approval", NOT_SUPPORTED)},
	{REFUSED("condition", NOT_SUPPORTED)},
	{REFUSED("constraints", NOT_SUPPORTED)},
	{REFUSED("credentials", NOT_SUPPORTED)},
	{REFUSED("qualityGates", NOT_SUPPORTED)},
	{0},
};
#undef IN
#undef COUNT_IN

/* ---- pipelines ---- */

#define IN(member)       CONFIG_AT(pipeline, member)
#define COUNT_IN(member) .count_at = offsetof(struct pipeline, member)

static const struct config_field parallelism_fields[] = {
	{INTEGER("maxConcurrent", max_concurrent, 1, CONCURRENT_MAX),
		.derived = "computed from the plans (below)",
		.about = "How many issues are worked on at the same time."},
	{TEXT("worktreePool", name, worktree_pool), .derived = "the pipeline's name",
		.about = "The `WorktreePool` to use."},
	{CHECKED_WORD("mergeStrategy", "serialized-rebase"), .preset = "serialized-rebase",
		.hint = "parallel-merge is reserved and forbidden",
		.about = "One after another, under the merge gate."},
	{0},
};

static const struct config_field branching_fields[] = {
	{TEXT("pattern", branch_pattern, branch_pattern), .required = true,
		.about = "Name of an issue's branch: `work/{id}`; `{issueId}` and `{issueNumber}` "
			 "mean the same."},
	{TEXT("targetBranch", branch, target_branch), .preset = "main",
		.about = "Target of pull requests."},
	{CHECKED_WORD("cleanup", "on-merge", "on-close", "manual"), .inert = true,
		.about = "When other programs delete the branch."},
	{0},
};

static const struct config_field spec_fields[] = {
	{LIST("stages", pipeline, stages, 1, 200, stage_fields), .required = true,
		CONFIG_PLACE(stage_spec, line), .about = "The stages, in order."},
	{GROUP("parallelism", parallelism_fields), CONFIG_SEEN(pipeline, parallel),
		.about = "Without it, issues are worked on one after another."},
	{GROUP("branching", branching_fields), .about = "Branches of issues."},
	{TEXT("defaultModel", model, default_model), CONFIG_SEEN(pipeline, default_model_declared),
		.preset = "sonnet", .about = "Model of the stages that name none."},
	{HARNESS("defaultHarness", default_harness, resource_harness_words),
		.preset = "claude-code", .about = "Harness of the stages that name none."},
	{TEXTS("defaultHarnessFallback", default_fallback), .once = true,
		.words = resource_harness_words, .preset = "[]", .hint = "UnknownHarness",
		.about = "Fallbacks of the stages that name none."},
	{NAMES("subscriptionPlans", plans), .preset = "[]",
		.about = "`SubscriptionPlan`s besides those of the pool; a plan named twice is two "
			 "seats."},
	{TEXT("tenant", id, tenant), .about = "The tenant whose share of an account is used."},
	{NUMBER("tenantQuotaShare", tenant_share), CONFIG_RANGE(0, 1),
		.about = "The tenant's share of the account's quota."},
	{TEXT("accountId", line, account), .derived = "found from the credentials",
		.about = "Name of the account."},
	{NUMBER("costBudget", cost_budget_usd), .above = true,
		.about = "What all agents of a work item and its children together may cost, in "
			 "USD."},
	{NUMBER("costBudgetPerDay", cost_budget_day_usd), .above = true,
		.about = "What they may cost in one day, UTC."},
	{DURATION("offPeakMaxWait", off_peak_max_wait_s), .preset = "PT8H",
		.about = "How long an `off-peak` stage may wait."},
	{WORD_TEXT("artifactSchemaVersion", artifact_version, "v1"), .preset = "v1",
		.about = "Version of the artifacts' schemas."},
	{OPEN("triggers"), .list = true, .inert = true, .about = "For other programs."},
	{OPEN("providers"), .inert = true, .about = "For other programs."},
	{OPEN("routing"), .inert = true, .about = "For other programs."},
	{OPEN("pullRequest"), .inert = true, .about = "For other programs."},
	{OPEN("notifications"), .inert = true, .about = "For other programs."},
	{REFUSED("costPolicy", "use the stages' 'maxBudgetUsd'")},
	{REFUSED("priorityPolicy", "the queue has a score of its own")},
	{0},
};

static bool inherits(const char *word)
{
	return !word || strcmp(word, "inherit") == 0;
}

static void complete_stage(const struct pipeline *p, const struct yaml *node, struct stage_spec *s)
{
	if (!s->name)
		s->name = "";
	if (inherits(s->model))
		s->model = NULL;
	if (inherits(s->harness))
		s->harness = p->default_harness;
	if (!s->fallback_declared)
		s->fallback = p->default_fallback;
	s->isolation_declared = yaml_get(node, "isolation") != NULL;
	if (!s->isolation_declared)
		s->isolation = p->parallel ? ISOLATION_WORKTREE : ISOLATION_INPLACE;
}

static void complete(struct arena *a, const struct yaml *tree, void *of)
{
	struct pipeline *p = of;
	const struct yaml *stages = config_node(tree, "spec.stages");

	(void)a;
	if (!p->worktree_pool)
		p->worktree_pool = p->name;
	if (!config_node(tree, "spec.tenantQuotaShare"))
		p->tenant_share = -1;
	for (size_t i = 0; i < p->n_stages; i++)
		complete_stage(p, stages->list[i], &p->stages[i]);
}

const struct stage_spec *pipeline_stage(const struct pipeline *p, const char *name)
{
	for (size_t i = 0; i < p->n_stages; i++)
		if (strcmp(p->stages[i].name, name) == 0)
			return &p->stages[i];
	return NULL;
}

/* ---- rules ---- */

#define CYCLE "(CyclicIndependenceConstraint)"

static char *stage_path(const struct resource_check *c, size_t i, const char *rest)
{
	return arena_printf(c->reader->arena, "spec.stages[%zu].%s", i, rest);
}

static void same_name(const struct resource_check *c, size_t i)
{
	const struct pipeline *p = c->doc->of;

	for (size_t k = 0; k < i; k++) {
		if (!*p->stages[i].name || strcmp(p->stages[i].name, p->stages[k].name) != 0)
			continue;
		resource_fault(c, stage_path(c, i, "name"), "duplicate stage '%s': also line %u",
			p->stages[i].name, p->stages[k].line);
		return;
	}
}

/* Only an earlier stage has run on a harness already. */
static void independence(const struct resource_check *c, size_t i)
{
	const struct pipeline *p = c->doc->of;
	const struct stage_spec *stage = &p->stages[i];
	char *path = stage_path(c, i, "requiresIndependentHarnessFrom");
	const struct yaml *list = config_node(c->doc->tree, path);

	for (size_t k = 0; list && stage->independent_of.n && k < list->n; k++) {
		const struct yaml *item = list->list[k];
		const struct stage_spec *other =
			item->kind == YAML_SCALAR ? pipeline_stage(p, item->text.p) : NULL;

		if (item->kind != YAML_SCALAR || !config_id.valid(item->text))
			continue;
		if (!other)
			config_fault(
				c->reader, item, "there is no stage '%.100s' " CYCLE, item->text.p);
		else if (other == stage)
			config_fault(c->reader, item,
				"stage '%s' must be independent of itself " CYCLE, stage->name);
		else if (other > stage)
			config_fault(c->reader, item, "stage '%s' comes after '%s' " CYCLE,
				other->name, stage->name);
	}
}

/* What each failure of `on` can lead to (NULL: any strategy), and what the stage must have for it
 * to occur. */
#define STOP       "'abort' or 'pause'"
#define STOP_RETRY "'abort', 'pause' or 'retry'"
static const struct {
	const char *on, *strategies, *requires;
} failures[] = {
	{"AdapterUnavailable", STOP_RETRY, "databaseAccess"},
	{"AdmissionDenied", STOP, NULL},
	{"ArtifactSchemaInvalid", NULL, "artifact"},
	{"BranchQuotaExceeded", STOP_RETRY, "databaseAccess"},
	{"CIFailure", STOP, NULL},
	{"IndependenceViolated", "'abort', 'pause' or 'continue'",
		"requiresIndependentHarnessFrom"},
	{"MigrationFailed", STOP_RETRY, "databaseAccess"},
};

static bool config_pipeline_has(const struct stage_spec *s, const char *field)
{
	return !field ||
	       (strcmp(field, "artifact") == 0                ? s->artifact != NULL
		       : strcmp(field, "databaseAccess") == 0 ? s->database != DATABASE_NONE
							      : s->independent_of.n > 0);
}

static void failure(const struct resource_check *c, size_t i)
{
	static const char *const words[] = {[FAILURE_ABORT] = "'abort'",
		[FAILURE_RETRY] = "'retry'",
		[FAILURE_PAUSE] = "'pause'",
		[FAILURE_CONTINUE] = "'continue'"};
	const struct pipeline *p = c->doc->of;
	const struct stage_spec *s = &p->stages[i];

	for (size_t k = 0; s->failure_declared && s->failure_on && k < COUNT(failures); k++) {
		if (strcmp(s->failure_on, failures[k].on) != 0)
			continue;
		if (!config_pipeline_has(s, failures[k].requires))
			resource_fault(c, stage_path(c, i, "onFailure.on"),
				"'%s' does not occur in a stage without '%s'", s->failure_on,
				failures[k].requires);
		else if (failures[k].strategies &&
			 !strstr(failures[k].strategies, words[s->on_failure]))
			resource_fault(c, stage_path(c, i, "onFailure.strategy"),
				"%s has no effect on '%s': 'strategy' must be %s",
				words[s->on_failure], s->failure_on, failures[k].strategies);
	}
}

/* Whether a brace is not closed or empty. */
static bool placeholders_odd(const char *p)
{
	while (*(p += strcspn(p, "{}"))) {
		size_t n = strcspn(p + 1, "{}");

		if (*p == '}' || !n || p[n + 1] != '}')
			return true;
		p += n + 2;
	}
	return false;
}

static bool is_placeholder(struct str word)
{
	return str_is(word, "{id}") || str_is(word, "{issueId}") || str_is(word, "{issueNumber}");
}

/* Two issues on one branch would share a worktree. */
static void pattern(const struct resource_check *c, const char *p)
{
	size_t found = 0;

	for (const char *at = p; (at = strchr(at, '{')); at++, found++) {
		struct str word = {at, strcspn(at, "}") + 1};

		if (!is_placeholder(word)) {
			resource_fault(c, "spec.branching.pattern",
				"'%.*s' is none of {id}, {issueId}, {issueNumber}", (int)word.n,
				word.p);
			return;
		}
	}
	if (!found)
		resource_fault(c, "spec.branching.pattern",
			"'%.200s' gives every issue the same branch: {id} must be in it", p);
}

static void branching(const struct resource_check *c)
{
	const struct pipeline *p = c->doc->of;

	if (p->target_branch && !git_is_branch_name(p->target_branch))
		resource_fault(c, "spec.branching.targetBranch",
			"'%.200s' is not the name of a git branch", p->target_branch);
	if (p->branch_pattern &&
		(!git_is_branch_name(p->branch_pattern) || placeholders_odd(p->branch_pattern)))
		resource_fault(c, "spec.branching.pattern",
			"'%.200s' does not give the name of a git branch", p->branch_pattern);
	else if (p->branch_pattern)
		pattern(c, p->branch_pattern);
}

static void isolation(
	const struct resource_check *c, const struct worktree_pool_spec *pool, unsigned max)
{
	const struct pipeline *p = c->doc->of;

	for (size_t i = 0; i < p->n_stages; i++) {
		if (p->stages[i].database == DATABASE_NONE || pool->database_pools.n)
			continue;
		resource_fault(c, stage_path(c, i, "databaseAccess"),
			"stage '%s' uses a database, up to %u issues run it at the same time, and "
			"WorktreePool '%.200s' names no DatabaseBranchPool "
			"(DatabaseIsolationRequired)",
			p->stages[i].name, max, pool->name);
	}
}

/* The last stage in a worktree; later ones in the main checkout, such as tagging, merge nothing. */
static void final_stage(const struct resource_check *c, unsigned max)
{
	const struct pipeline *p = c->doc->of;
	size_t last = p->n_stages - 1;

	for (size_t i = 0; i < p->n_stages; i++)
		if (p->stages[i].isolation == ISOLATION_WORKTREE)
			last = i;
	if (!p->stages[last].holds_gate)
		resource_fault(c, stage_path(c, last, "holdsMergeGate"),
			"the final stage '%s' must have 'holdsMergeGate: true': up to %u issues "
			"reach it at the same time",
			p->stages[last].name, max);
}

/* Whatever the value of AI_SDLC_PARALLELISM. */
static void parallel(const struct resource_check *c)
{
	const struct pipeline *p = c->doc->of;
	const struct worktree_pool_spec *pool = resources_pool(c->resources, p->worktree_pool);
	bool named = config_node(c->doc->tree, "spec.parallelism.worktreePool");
	struct parallelism n;

	parallelism_resolve(c->reader->arena, c->resources, p, PARALLELISM_ON, &n);
	if (!pool && (named || n.max > 1))
		resource_fault(c, "spec.parallelism.worktreePool",
			"there is no WorktreePool '%.253s'%s", p->worktree_pool,
			named ? "" : ", which several issues at the same time require");
	if (n.max < 2 || !p->n_stages)
		return;
	if (pool)
		isolation(c, pool, n.max);
	final_stage(c, n.max);
}

#define IGNORED    "dev-team/ignored"
#define SEPARATORS " ,\n"

static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += n)
		if ((at == list || strchr(SEPARATORS, at[-1])) && strchr(SEPARATORS, at[n]))
			return true;
	return false;
}

/* `spec.stages[0].kind` -> `stages.kind` */
static const char *field_name(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	for (path += strlen("spec."); *path;
		path += strcspn(path, "]") + (strchr(path, ']') != NULL)) {
		buf_add(&name, (struct str){path, strcspn(path, "[")});
		path += strcspn(path, "[");
	}
	return arena_dup(a, buf_str(&name));
}

/* What only another program that reads the same file acts on is refused, unless the file says so:
 * then `resources check` lists it. */
static void ignored(const struct resource_check *c)
{
	static const char where[] = "metadata.annotations." IGNORED;
	CLEANUP(resource_values_release) struct resource_values values = {0};
	const struct yaml *node = config_node(c->doc->tree, where);
	struct arena *a = c->reader->arena;
	const char *list = node && node->kind == YAML_SCALAR ? node->text.p : "", *known = "";

	resource_list_values(a, c->resources, c->doc, PARALLELISM_ON, &values);
	for (size_t i = 0; i < values.n; i++) {
		const struct resource_value *v = &values.items[i];
		const char *name;

		if (!v->inert || v->origin != ORIGIN_WRITTEN ||
			!str_starts(str_of(v->path), "spec."))
			continue;
		name = field_name(a, v->path);
		known = arena_printf(a, "%s %s", known, name);
		if (!is_named(list, name))
			resource_fault(c, v->path,
				"'%s' has no effect: remove it, or, if another program reads it, "
				"add '%s' to the annotation '" IGNORED "'",
				strrchr(name, '.') ? strrchr(name, '.') + 1 : name, name);
	}
	for (const char *at = list; *(at += strspn(at, SEPARATORS));
		at += strcspn(at, SEPARATORS)) {
		const char *name = arena_dup(a, (struct str){at, strcspn(at, SEPARATORS)});

		if (!is_named(known, name))
			resource_fault(c, where,
				"'%.100s' names no field of this file that has no effect", name);
	}
}

static void config_pipeline_check(const struct resource_check *c)
{
	const struct pipeline *p = c->doc->of;

	for (size_t i = 0; i < p->n_stages; i++) {
		same_name(c, i);
		independence(c, i);
		failure(c, i);
	}
	branching(c);
	ignored(c);
	if (strcmp(p->default_model, "inherit") == 0)
		resource_fault(c, "spec.defaultModel", "'defaultModel' cannot be 'inherit'");
	if (p->tenant_share >= 0 && !p->tenant)
		resource_fault(
			c, "spec.tenantQuotaShare", "'tenantQuotaShare' requires a 'tenant'");
	resource_check_references(
		c, "spec.subscriptionPlans", &p->plans, &resource_kind_subscription_plan);
	if (p->parallel)
		parallel(c);
}

const struct resource_kind resource_kind_pipeline = {
	KIND("Pipeline", pipeline, spec_fields, pipelines), .complete = complete,
	.check = config_pipeline_check,
	.about = "The stages that an issue passes through, their agents, and how many issues are "
		 "worked on at the same time."};
