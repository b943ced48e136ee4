/*
 * docs/resources.md contains the tables that the program prints; the shipped resources are valid
 * and match the shipped workflows. Run from the project's directory. The harnesses and capabilities
 * that a resource may name are those of src/harness.
 */
#include "src/config/resource_internal.h"
#include "src/config/resource.h"
#include "src/workflow/workflow.h"
#include "tests/lib/resource_rig.h"
#include "src/harness/harness.h"

TEST(the_page_has_the_tables)
{
	CLEANUP(buf_release) struct buf page = BUF_INIT;

	assert_true(tree_read("docs/resources.md", &page));
	for (size_t i = 0; resource_kinds[i]; i++) {
		CLEANUP(buf_release) struct buf block = BUF_INIT;
		const struct resource_kind *k = resource_kinds[i];

		buf_addf(&block, "\n## %s\n\n<!-- resources schema %s --markdown -->\n", k->name,
			k->name);
		resource_page(k, &block);
		buf_adds(&block, "<!-- end -->\n");
		if (str_find(buf_str(&page), buf_str(&block)) == page.len)
			fail_msg("docs/resources.md must have:\n%s", block.s);
	}
}

TEST(the_page_has_the_plans)
{
	static const char *const plans[] = {"claude-code-pro", "claude-code-max-5x",
		"claude-code-max-20x", "codex-plus", "codex-pro", "pay-per-token"};
	CLEANUP(buf_release) struct buf page = BUF_INIT;

	assert_true(tree_read("docs/resources.md", &page));
	for (size_t i = 0; i < COUNT(plans); i++) {
		char *row = arena_printf(
			&arena, "\n| `%s` | %u |\n", plans[i], subscription_plan_seats(plans[i]));

		if (str_find(buf_str(&page), str_of(row)) == page.len)
			fail_msg("docs/resources.md must have:%s", row);
	}
	assert_int_equal(subscription_plan_seats("of my own"), 1);
}

static void every_field_says_what_it_is(const struct config_field *rows)
{
	for (; rows->key; rows++) {
		if (rows->kind == CONFIG_REFUSED ? !rows->hint : !rows->about)
			fail_msg("'%s' says nothing", rows->key);
		if (rows->fields)
			every_field_says_what_it_is(rows->fields);
	}
}

TEST(all_fields_are_told)
{
	for (size_t i = 0; resource_kinds[i]; i++)
		every_field_says_what_it_is(resource_kinds[i]->fields);
}

TEST(what_is_shipped_is_good)
{
	struct resources r = resource_load_all("resources");
	const struct worktree_pool_spec *pool = resources_pool(&r, "default");
	struct worktree_pool_spec made = resource_default_pool(&arena);

	assert_string_equal(resource_faults_text(&r), "");
	assert_int_equal(r.n_plans, 6);
	assert_non_null(pool);
	assert_true(!pool->root && !made.root && pool->repo_local == made.repo_local);
	assert_int_equal(pool->stale_days, made.stale_days);
	assert_int_equal(pool->base_port, made.base_port);
	assert_true(pool->strict == made.strict && pool->on_merge == made.on_merge &&
		    pool->on_abort == made.on_abort && pool->on_timeout == made.on_timeout);
	for (size_t i = 0; i < r.n_docs; i++)
		if (r.docs[i].kind == &resource_kind_subscription_plan)
			assert_int_equal(subscription_plan_seats(r.docs[i].name),
				strcmp(r.docs[i].name, "claude-code-pro") == 0       ? 3
				: strcmp(r.docs[i].name, "claude-code-max-20x") == 0 ? 10
				: strcmp(r.docs[i].name, "codex-plus") == 0          ? 2
										     : 5);
}

/* A stage is a state, or STATE-AGENT. */
static bool fits(const struct workflow *w, const char *stage)
{
	for (size_t i = 0; i < w->n_states; i++) {
		size_t n = strlen(w->states[i].name);

		if (strncmp(stage, w->states[i].name, n) == 0 && (!stage[n] || stage[n] == '-'))
			return true;
	}
	return false;
}

TEST(pipelines_fit_their_workflows)
{
	static const char *const names[] = {"implement-task", "fix-issue"};
	struct resources r = resource_load_all("resources");
	struct error err = {0};

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct pipeline *p = resources_pipeline(&r, names[i]);
		struct workflow w;

		assert_non_null(p);
		if (workflow_load(&arena, arena_printf(&arena, "workflows/%s.md", names[i]), &w,
			    &err) < 0)
			fail_msg("%s", err.text);
		for (size_t k = 0; k < p->n_stages; k++)
			if (!fits(&w, p->stages[k].name))
				fail_msg("%s has no state '%s'", names[i], p->stages[k].name);
	}
}

static const struct resource_value *field(const struct resource_values *s, const char *path)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->items[i].path, path) == 0)
			return &s->items[i];
	return NULL;
}

TEST(secrets_are_not_shown)
{
	struct resources r = resource_good(HEAD(
		"DatabaseBranchPool", "d") "  adapter: neon\n  upstream: {connectionStringEnv: A}\n"
					   "  injection: {targetEnv: B}\n"
					   "  credentials: {apiTokenEnv: TOKEN, projectId: p}\n");
	CLEANUP(resource_values_release) struct resource_values s = {0};
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	resource_list_values(&arena, &r, &r.docs[0], PARALLELISM_ON, &s);
	json_print(&b, field(&s, "spec.credentials")->value);
	assert_string_equal(b.s, "{\"apiTokenEnv\":\"TOKEN\",\"projectId\":\"p\"}");
	assert_null(field(&s, "spec.migrations.runOnBranchCreate"));
	assert_int_equal(field(&s, "spec.lifecycle.abandonAfter")->origin, ORIGIN_DEFAULT);
}

TEST(each_value_tells_where_it_comes_from)
{
	static const struct {
		const char *path;
		enum origin origin;
		unsigned line;
	} rows[] = {
		{"spec.defaultHarness", ORIGIN_WRITTEN, 6},
		{"spec.stages[0].harness", ORIGIN_WRITTEN, 6},
		{"spec.stages[1].harness", ORIGIN_WRITTEN, 9},
		{"spec.stages[0].model", ORIGIN_DEFAULT, 0},
		{"spec.stages[0].isolation", ORIGIN_DERIVED, 0},
		{"spec.parallelism.maxConcurrent", ORIGIN_DEFAULT, 0},
		{"spec.branching.targetBranch", ORIGIN_DEFAULT, 0},
	};
	struct resources r = resource_good(HEAD("Pipeline",
		"p") "  defaultHarness: codex\n  stages:\n  - {name: a, harness: inherit}\n"
		     "  - {name: b, harness: aider}\n");
	CLEANUP(resource_values_release) struct resource_values s = {0};

	resource_list_values(&arena, &r, &r.docs[0], PARALLELISM_ON, &s);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct resource_value *f = field(&s, rows[i].path);

		if (!f || f->origin != rows[i].origin || f->line != rows[i].line)
			fail_msg("%s", rows[i].path);
	}
	assert_null(field(&s, "spec.parallelism.worktreePool"));
	assert_null(field(&s, "spec.stages[0].onFailure.retryDelay"));
}

TEST(every_harness_can_be_named)
{
	size_t n = 0;

	for (size_t i = 0; resource_harness_words[i]; i++) {
		const struct harness *h;
		struct error err;

		if (harness_find(resource_harness_words[i], &h, &err) < 0)
			fail_msg("%s", err.text);
	}
	while (harness_all[n] && resource_harness_words[n])
		n++;
	assert_null(harness_all[n]);
	assert_null(resource_harness_words[n]);
}

TEST(every_capability_can_be_asked_for)
{
	for (unsigned c = 0; c < HARNESS_CAPABILITIES; c++)
		assert_string_equal(resource_capability_words[c], harness_capability_names[c]);
	assert_null(resource_capability_words[HARNESS_CAPABILITIES]);
}

UNIT_GROUP(NULL, arena_end)
