/* The check of a pipeline: the chain, notes and events of its stages, and the accounts of its
 * plans. */
#include "src/harness/pipeline.h"
#include "tests/lib/event_log.h"
#include "tests/lib/harness_rig.h"
#include "tests/lib/match.h"

static struct model_registry registry;

static const struct harness_availability *nowhere(const struct harness *h)
{
	static const struct harness_availability no = {
		false, HARNESS_BINARY_MISSING, "not on PATH", NULL};

	(void)h;
	return &no;
}

/* The chain, then each note: "fault: ..." or "warning: ...". */
static const char *checked(struct stage_spec *stage,
	const struct harness_availability *(*available)(const struct harness *h))
{
	struct pipeline p = {.name = "p",
		.file = "p.yaml",
		.default_model = "sonnet",
		.stages = stage,
		.n_stages = 1};
	struct pipeline_question q = {.pipeline = &p,
		.registry = &registry,
		.artifacts = at("artifacts"),
		.available = available};
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct pipeline_check l;

	stage->name = "s";
	stage->line = 7;
	stage->col = 3;
	assert_int_equal(harness_check_pipeline(&arena, &q, &l, &harness_err), 0);
	buf_adds(&b, "[");
	for (size_t i = 0; i < l.stages[0].chain.n; i++)
		buf_addf(&b, "%s%s", i ? " " : "", l.stages[0].chain.list[i]);
	buf_adds(&b, "]");
	for (size_t i = 0; i < l.notes.n; i++)
		buf_addf(&b, " %s: %s", l.notes.items[i].fault ? "fault" : "warning",
			l.notes.items[i].text);
	assert_int_equal(pipeline_check_fault(&l, &p, &harness_err), l.n_faults ? -1 : 0);
	return arena_dup(&arena, buf_str(&b));
}

#define DEFAULT_WARNING(h)                                                                         \
	" warning: harness '" h "' does not drive 'claude-sonnet-4-6' (alias 'sonnet'): its own "  \
	"default model is used"

TEST(stages_are_held_to_what_there_is)
{
	static const struct {
		const char *harness, *fallback, *model, *needs, *checked, *events;
	} rows[] = {
		{"claude-code", "", NULL, NULL, "[claude-code]", ""},
		{"claude-code", "", "inherit", "customTools", "[claude-code]", ""},
		{"mystery", "", NULL, NULL,
			"[] fault: unknown harness 'mystery': one of claude-code, codex, [..]",
			"UnknownHarness"},
		{"claude-code", "mystery", NULL, NULL,
			"[claude-code] fault: unknown harness 'mystery': one of claude-code, "
			"codex, [..]",
			"UnknownHarness"},
		/* Models: an id must be driven, an alias gives way to the harness's own. */
		{"codex", "", "gpt-5", NULL, "[codex] warning: harness 'codex': no version",
			"HarnessProbeFailed"},
		{"codex", "", "sonnet", NULL,
			"[codex] warning: harness 'codex': no version" DEFAULT_WARNING("codex"),
			"HarnessProbeFailed"},
		{"codex", "", "claude-sonnet-4-6", NULL,
			"[] fault: harness 'codex' does not drive model 'claude-sonnet-4-6'", ""},
		{"claude-code", "", "gpt-5", NULL,
			"[] fault: harness 'claude-code' does not drive model 'gpt-5'", ""},
		{"claude-code", "codex", "claude-opus-4-7", NULL,
			"[claude-code] warning: fallback dropped: harness 'codex' does not drive "
			"model 'claude-opus-4-7'",
			""},
		{"claude-code", "codex", NULL, NULL,
			"[claude-code codex] warning: harness 'codex': no "
			"version" DEFAULT_WARNING("codex"),
			"HarnessProbeFailed"},
		/* Capabilities: in full or not at all. */
		{"codex", "", "gpt-5", "customTools",
			"[] fault: harness 'codex' lacks 'customTools'", ""},
		{"codex", "", "gpt-5", "skills", "[] fault: harness 'codex' lacks 'skills'", ""},
		{"claude-code", "codex", NULL, "skills",
			"[claude-code] warning: fallback dropped: harness 'codex' lacks 'skills'",
			""},
		{"claude-code", "", NULL, "telepathy",
			"[] fault: unknown capability 'telepathy' fault: harness 'claude-code' "
			"lacks 'telepathy'",
			""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stage_spec s = {.harness = rows[i].harness,
			.fallback = words(rows[i].fallback),
			.model = rows[i].model,
			.needs = words(rows[i].needs)};
		const char *got = checked(&s, harness_rig_available);

		if (!match_lines(str_of(rows[i].checked), str_of(got)))
			fail_msg("row %zu: %s", i, got);
		assert_string_equal(harness_rig_event_types(), rows[i].events);
	}
}

TEST(a_primary_that_is_not_there_fails_and_a_fallback_is_dropped)
{
	struct stage_spec s = {.harness = "claude-code", .fallback = words("codex")};

	assert_string_equal(checked(&s, nowhere),
		"[] fault: harness 'claude-code' is unavailable: binary-missing: not on PATH "
		"warning: fallback dropped: harness 'codex' is unavailable: binary-missing: not "
		"on PATH");
	assert_error(&harness_err, "p.yaml:7:3: stage 's': harness 'claude-code' is unavailable: "
				   "binary-missing: not on PATH");
	assert_string_equal(harness_rig_event_types(), "HarnessUnavailable");
}

TEST(an_impossible_independence_and_an_unknown_model_are_faults)
{
	struct stage_spec s = {.harness = "claude-code", .independent_of = words("s t")};

	assert_string_equal(checked(&s, harness_rig_available),
		"[claude-code] fault: it must be independent of 's', which is the stage itself "
		"fault: it must be independent of 't', which is an unknown stage");
	assert_string_equal(harness_rig_event_types(), "CyclicIndependenceConstraint");
	s = (struct stage_spec){.harness = "claude-code", .model = "mystery"};
	assert_memory_equal(checked(&s, harness_rig_available), "[] fault: ", 10);
	assert_string_equal(harness_rig_event_types(), "");
}

/* Once for each harness, and only where a plan is to be shared by account. */
TEST(an_account_that_cannot_be_told_is_an_event)
{
	struct stage_spec stages[] = {
		{.name = "a", .harness = "claude-code", .fallback = words("codex")},
		{.name = "b", .harness = "codex", .fallback = words("claude-code")},
	};
	struct pipeline p = {.name = "p",
		.default_model = "sonnet",
		.plans = words("claude-code-pro"),
		.stages = stages,
		.n_stages = 2};
	struct pipeline_question q = {.pipeline = &p,
		.registry = &registry,
		.artifacts = at("artifacts"),
		.available = harness_rig_available};
	const struct worktree_pool_spec pool = {.plans = words("codex-pro")};
	struct pipeline_check l;

	assert_int_equal(harness_check_pipeline(&arena, &q, &l, &harness_err), 0);
	assert_int_equal(event_log_count(at("artifacts"), "LedgerKeyAmbiguous"), 2);
	tree_remove(at("artifacts"));
	setenv("ANTHROPIC_API_KEY", "some-key", 1);
	assert_int_equal(harness_check_pipeline(&arena, &q, &l, &harness_err), 0);
	assert_int_equal(event_log_count(at("artifacts"), "LedgerKeyAmbiguous"), 1);
	tree_remove(at("artifacts"));
	unsetenv("ANTHROPIC_API_KEY");
	p.plans.n = 0;
	assert_int_equal(harness_check_pipeline(&arena, &q, &l, &harness_err), 0);
	assert_int_equal(event_log_count(at("artifacts"), "LedgerKeyAmbiguous"), 0);
	q.pool = &pool; /* plans are the pool's, most of the time */
	assert_int_equal(harness_check_pipeline(&arena, &q, &l, &harness_err), 0);
	assert_int_equal(event_log_count(at("artifacts"), "LedgerKeyAmbiguous"), 2);
	tree_remove(at("artifacts"));
	p.account = "ours";
	assert_int_equal(harness_check_pipeline(&arena, &q, &l, &harness_err), 0);
	assert_int_equal(event_log_count(at("artifacts"), "LedgerKeyAmbiguous"), 0);
	tree_remove(at("artifacts"));
}

static int load_registry(void **state)
{
	return harness_rig_enter(state) < 0
		       ? -1
		       : model_registry_load(&arena, NULL, &registry, &harness_err);
}

UNIT_GROUP(load_registry, harness_rig_leave)
