#include "src/harness/chain.h"
#include "tests/lib/harness_rig.h"

static const char *joined(struct text_list w)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (size_t i = 0; i < w.n; i++)
		buf_addf(&b, "%s%s", i ? " " : "", w.list[i]);
	return arena_dup(&arena, buf_str(&b));
}

/* "stage=harness stage=harness" */
static struct chain_uses uses_of(const char *text)
{
	struct text_list w = words(text);
	struct chain_uses uses = {0};

	for (size_t i = 0; i < w.n; i++) {
		size_t at = strcspn(w.list[i], "=");

		vec_push_in(&arena, &uses,
			(struct chain_use){arena_dup(&arena, (struct str){w.list[i], at}),
				w.list[i] + at + 1});
	}
	return uses;
}

/* The number of harnesses that the issue has used; the first in *first unless that is NULL. */
static size_t uses_read(const char **first)
{
	struct chain_uses uses;

	assert_int_equal(chain_uses_read(&arena, at("artifacts"), "I-1", &uses, &harness_err), 0);
	if (first && uses.n)
		*first = uses.items[0].harness;
	return uses.n;
}

TEST(harnesses_of_earlier_stages_are_excluded)
{
	static const struct {
		const char *candidates, *from, *ran, *effective, *forbidden;
		bool violated;
	} rows[] = {
		{"codex claude-code", "implement", "implement=claude-code", "codex", "claude-code",
			false},
		{"codex claude-code", "implement", "implement=codex", "claude-code", "codex",
			false},
		{"claude-code", "implement", "implement=claude-code", "", "claude-code", true},
		{"claude-code codex gemini-cli", "implement plan",
			"implement=claude-code plan=codex", "gemini-cli", "claude-code codex",
			false},
		{"claude-code codex", "implement phantom", "implement=claude-code", "codex",
			"claude-code", false},
		{"claude-code codex", "implement", "", "claude-code codex", "", false},
		{"claude-code codex", "", "implement=claude-code", "claude-code codex", "", false},
		{"codex claude-code aider", "implement", "implement=gemini-cli",
			"codex claude-code aider", "gemini-cli", false},
		{"", "", "", "", "", true},
		{"codex codex aider codex", "", "", "codex aider", "", false},
		{"codex aider", "implement", "implement=codex implement=aider", "", "codex aider",
			true},
		{"codex aider codex", "a b", "a=codex b=codex", "aider", "codex", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct chain c;
		struct chain_uses uses = uses_of(rows[i].ran);

		chain_filter(&arena, words(rows[i].candidates), words(rows[i].from), &uses, &c);
		assert_string_equal(joined(c.effective), rows[i].effective);
		assert_string_equal(joined(c.forbidden), rows[i].forbidden);
		assert_int_equal(c.violated, rows[i].violated);
	}
}

TEST(independence_names_earlier_stages_only)
{
	static const struct {
		const char *plan, *implement, *review, *faults;
	} rows[] = {
		{"", "plan", "plan implement", ""},
		{"implement", "", "", "plan implement a later stage;"},
		{"", "implement", "", "implement implement the stage itself;"},
		{"", "", "nonexistent", "review nonexistent unknown stage;"},
		{"review", "", "review plan gone",
			"plan review a later stage;review review the stage itself;"
			"review gone unknown stage;"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stage_spec stages[] = {
			{.name = "plan", .independent_of = words(rows[i].plan)},
			{.name = "implement", .independent_of = words(rows[i].implement)},
			{.name = "review", .independent_of = words(rows[i].review)},
		};
		struct pipeline p = {.stages = stages, .n_stages = COUNT(stages)};
		CLEANUP(buf_release) struct buf b = BUF_INIT;

		for (size_t s = 0; s < p.n_stages; s++)
			for (size_t k = 0; k < stages[s].independent_of.n; k++) {
				const char *from = stages[s].independent_of.list[k],
					   *why = chain_independence_fault(&p, s, from);

				if (why)
					buf_addf(&b, "%s %s %s;", stages[s].name, from, why);
			}
		assert_string_equal(b.s ? b.s : "", rows[i].faults);
	}
}

TEST(a_violation_continues_unless_on_failure_applies)
{
	struct stage_spec s = {.on_failure = FAILURE_ABORT};

	assert_int_equal(chain_violation_strategy(&s), FAILURE_CONTINUE);
	s.failure_declared = true;
	assert_int_equal(chain_violation_strategy(&s), FAILURE_ABORT);
	s.failure_on = "IndependenceViolated";
	assert_int_equal(chain_violation_strategy(&s), FAILURE_ABORT);
	s.failure_on = "CIFailure";
	assert_int_equal(chain_violation_strategy(&s), FAILURE_CONTINUE);
}

static const char *model_for(void *data, const char *harness)
{
	(void)data;
	return strcmp(harness, "codex") == 0 ? "gpt-5" : "claude-sonnet-4-6";
}

/* Runs `chain` as stage `stage` of issue I-1 and tells who did it, or "-", and what became of it.
 */
static const char *run_chain(const char *stage, const char *chain, unsigned timeout_s)
{
	struct harness_input input = {.prompt = STR("x"), .timeout_s = timeout_s};
	struct chain_call call = {.artifacts = at("artifacts"),
		.issue = "I-1",
		.stage = stage,
		.effective = words(chain),
		.model_for = model_for,
		.available = harness_rig_available};
	const struct harness *used;

	if (chain_run(&arena, &call, &input, &harness_got, &used, &harness_err) < 0)
		fail_msg("%s", harness_err.text);
	return arena_printf(
		&arena, "%s %s", used ? used->name : "-", harness_status_names[harness_got.status]);
}

#define CODEX_DONE "cat >/dev/null; echo '{\"type\":\"turn.completed\",\"usage\":{}}'"
#define LIMITED                                                                                    \
	"echo '{\"type\":\"result\",\"is_error\":true,\"api_error_status\":429,"                   \
	"\"result\":\"slow\"}'; exit 1"

TEST(only_unavailability_leads_to_a_fallback)
{
	static const struct {
		const char *claude, *codex, *chain, *outcome, *events;
	} rows[] = {
		{"echo '" RESULT_LINE "'", CODEX_DONE, "claude-code codex", "claude-code success",
			""},
		{"exit 1", CODEX_DONE, "claude-code codex", "claude-code failure", ""},
		{"echo '{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\"}'", CODEX_DONE,
			"claude-code codex", "claude-code budget-exceeded", "BudgetExceeded"},
		{LIMITED, CODEX_DONE, "claude-code codex", "codex success",
			"HarnessFallback HarnessProbeFailed"},
		{LIMITED, "exit 1", "claude-code codex", "codex failure",
			"HarnessFallback HarnessProbeFailed"},
		{LIMITED, CODEX_DONE, "claude-code", "- unavailable", "HarnessUnavailable"},
		{LIMITED, CODEX_DONE, "", "- unavailable", ""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		stand_in("claude", rows[i].claude);
		stand_in("codex", rows[i].codex);
		assert_string_equal(run_chain("s", rows[i].chain, WAIT_LIMIT_S), rows[i].outcome);
		assert_string_equal(harness_rig_event_types(), rows[i].events);
	}
}

TEST(a_time_limit_leads_to_no_fallback)
{
	stand_in("claude", "exec sleep 1000");
	stand_in("codex", CODEX_DONE);
	assert_string_equal(run_chain("s", "claude-code codex", 1), "claude-code timeout");
	assert_string_equal(harness_rig_event_types(), "AgentTimeout");
}

TEST(harnesses_that_ran_are_recorded_and_excluded)
{
	struct chain c = {
		.declared = words("claude-code codex"), .effective = words("claude-code codex")};
	struct stage_spec review = {.name = "review",
		.harness = "claude-code",
		.fallback = words("codex"),
		.independent_of = words("implement plan")};
	const struct harness *const ran[] = {&harness_codex, &harness_claude_code};

	assert_int_equal(uses_read(NULL), 0);
	harness_got = (struct harness_result){
		.status = HARNESS_SUCCESS, .model = "m", .usage = {.cost_usd = 0.5}};
	/* A second attempt on another harness does not undo the work of the first. */
	for (size_t i = 0; i < COUNT(ran); i++) {
		struct chain_uses uses;

		assert_int_equal(chain_record(at("artifacts"), "I-1", "implement", ran[i], &c,
					 &harness_got, &harness_err),
			0);
		assert_int_equal(
			chain_uses_read(&arena, at("artifacts"), "I-1", &uses, &harness_err), 0);
		assert_int_equal(uses.n, i + 1);
		chain_filter(&arena, chain_candidates(&arena, &review), review.independent_of,
			&uses, &c);
		assert_string_equal(joined(c.effective), i ? "" : "claude-code");
		assert_string_equal(joined(c.forbidden), i ? "codex claude-code" : "codex");
	}
	assert_true(c.violated);
	assert_int_equal(
		chain_emit_violation(at("artifacts"), "I-1", &review, &c, &harness_err), 0);
	assert_string_equal(harness_rig_event_types(), "IndependenceViolated");
}

/* It may have changed files before it became unavailable. */
TEST(a_harness_that_became_unavailable_at_work_has_run)
{
	const char *first = NULL;

	stand_in("claude", "echo '{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"usage\":"
			   "{\"output_tokens\":9},\"content\":[]}}'; " LIMITED);
	stand_in("codex", CODEX_DONE);
	assert_string_equal(
		run_chain("implement", "claude-code codex", WAIT_LIMIT_S), "codex success");
	assert_int_equal(uses_read(&first), 1);
	assert_string_equal(first, "claude-code");
	tree_remove(at("artifacts"));

	stand_in("claude", LIMITED);
	assert_string_equal(
		run_chain("implement", "claude-code codex", WAIT_LIMIT_S), "codex success");
	assert_int_equal(uses_read(NULL), 0);
	tree_remove(at("artifacts"));
}

TEST(without_artifacts_no_event_is_emitted)
{
	struct harness_input input = {.prompt = STR("x")};
	struct chain_call call = {
		.effective = words("claude-code"), .available = harness_rig_available};
	const struct harness *used;

	stand_in("claude", LIMITED);
	assert_int_equal(chain_run(&arena, &call, &input, &harness_got, &used, &harness_err), 0);
	assert_null(used);
	assert_true(harness_got.rate_limited);
	call.effective = words("nobody");
	assert_int_equal(chain_run(&arena, &call, &input, &harness_got, &used, &harness_err), -1);
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
