#include "src/base/clock.h"
#include "src/harness/pipeline.h"
#include "tests/lib/event_log.h"
#include "tests/lib/scratch.h"

static struct error err;

static const char registry_text[] =
	"models:\n"
	"  - {alias: sonnet, modelId: claude-sonnet-4-6}\n"
	"  - {alias: old, modelId: old-1, deprecatedAt: 2026-01-01, removedAt: 2026-05-01,\n"
	"     replacementAlias: sonnet}\n";

static struct model_registry registry(const char *text)
{
	struct model_registry r;

	assert_int_equal(model_registry_parse(&arena, str_of(text), "m.yaml", &r, &err), 0);
	return r;
}

static int64_t when(const char *day)
{
	int64_t t;

	assert_int_equal(clock_parse(arena_printf(&arena, "%sT00:00:00Z", day), &t), 0);
	clock_fix(t);
	return t;
}

static struct stage_spec stages[] = {{.name = "plan", .line = 7, .col = 5},
	{.name = "build", .model = "old", .line = 9, .col = 5}};
static const struct pipeline pipeline = {
	.name = "p", .file = "p.yaml", .default_model = "sonnet", .stages = stages, .n_stages = 2};

static int count(const char *text, const char *needle)
{
	int n = 0;

	for (; (text = strstr(text, needle)); text++)
		n++;
	return n;
}

static int pin(const struct model_registry *r, const char *dir, const char *issue, int64_t now,
	struct model_pin **pins)
{
	struct pipeline_question q = {
		.pipeline = &pipeline, .registry = r, .artifacts = dir, .now = now};

	return harness_pin_models(&arena, &q, issue, pins, &err);
}

static struct model_pin *pinned(const char *text, const char *issue, const char *day)
{
	struct model_registry r = registry(text);
	struct model_pin *pins;

	assert_int_equal(pin(&r, base, issue, when(day), &pins), 0);
	return pins;
}

static int unfix(void **state)
{
	clock_fix(-1);
	return scratch_remove(state);
}

#define PIN_TEST(name) UNIT_TEST(name, scratch_make, unfix)

PIN_TEST(every_stage_is_resolved_and_pinned)
{
	struct model_pin *pins = pinned(registry_text, "A-1", "2026-02-01");

	assert_string_equal(pins[0].model.id, "claude-sonnet-4-6");
	assert_string_equal(pins[0].model.source, "default"); /* declared nowhere */
	assert_string_equal(pins[1].model.id, "old-1");
	assert_false(pins[0].kept);
	for (int i = 0; i < 2; i++) {
		const char *text = scratch_read(i ? "A-1/runtime.json" : "_pipeline/runtime.json");

		assert_int_equal(count(text, "\"modelId\": \"old-1\""), 1);
		assert_int_equal(count(text, "\"alias\": \"sonnet\""), 1);
	}
}

PIN_TEST(a_run_keeps_its_pinned_models)
{
	static const char newer[] = "models:\n"
				    "  - {alias: sonnet, modelId: claude-sonnet-5}\n"
				    "  - {alias: old, modelId: old-2}\n";
	struct model_pin *pins;

	(void)pinned(registry_text, "A-1", "2026-02-01");
	pins = pinned(newer, "A-1", "2026-02-02");
	assert_true(pins[0].kept && pins[1].kept);
	assert_string_equal(pins[0].model.id, "claude-sonnet-4-6");
	assert_string_equal(pins[1].model.id, "old-1");
	pins = pinned(newer, "B-2", "2026-02-02");
	assert_string_equal(pins[0].model.id, "claude-sonnet-5");
	assert_int_equal(count(scratch_read("A-1/runtime.json"), "claude-sonnet-4-6"), 1);
}

/* Agents can write to the directory, and the id goes onto a command line. */
PIN_TEST(a_malformed_id_is_not_a_pin)
{
	CLEANUP(json_free) json *j = NULL;
	struct model_pin *pins;

	assert_int_equal(
		json_parse(&j, STR("{\"models\":{\"plan\":{\"modelId\":\"--x\"}}}"), &err), 0);
	assert_int_equal(artifact_merge_runtime(base, "A-1", j, &err), 0);
	pins = pinned(registry_text, "A-1", "2026-02-01");
	assert_string_equal(pins[0].model.id, "claude-sonnet-4-6");
	assert_false(pins[0].kept);
}

PIN_TEST(deprecation_is_announced_and_its_grace_period_once)
{
	static const char moved[] = "models:\n"
				    "  - {alias: sonnet, modelId: claude-sonnet-4-6}\n"
				    "  - {alias: old, modelId: old-1, deprecatedAt: 2026-01-01, "
				    "removedAt: 2026-05-05,\n"
				    "     replacementAlias: sonnet}\n";

	(void)pinned(registry_text, "A-1", "2025-12-31");
	assert_string_equal(scratch_read("_events.jsonl"), "");
	(void)pinned(registry_text, "A-1", "2026-02-01");
	assert_int_equal(count(scratch_read("_events.jsonl"), "\"ModelDeprecated\""), 1);
	assert_int_equal(count(scratch_read("_events.jsonl"), "GracePeriod"), 0);
	(void)pinned(registry_text, "A-1", "2026-04-10");
	(void)pinned(registry_text, "B-2", "2026-04-11");
	assert_int_equal(count(scratch_read("_events.jsonl"), "\"ModelDeprecated\""), 3);
	assert_int_equal(count(scratch_read("_events.jsonl"), "GracePeriod"), 1);
	assert_int_equal(
		count(scratch_read("_events.jsonl"),
			"\"alias\":\"old\",\"modelId\":\"old-1\",\"removedAt\":\"2026-05-01T00:"
			"00:00Z\",\"replacementAlias\":\"sonnet\"}"),
		3);
	assert_int_equal(event_log_count(base, "ModelDeprecated"), 3);
	(void)pinned(moved, "B-2", "2026-04-12"); /* another day is news */
	assert_int_equal(event_log_count(base, "ModelDeprecationGracePeriod"), 2);
	assert_int_equal(count(scratch_read("_events.jsonl"), "GracePeriod"), 2);
}

PIN_TEST(a_removed_model_is_refused_although_pinned)
{
	struct model_registry r = registry(registry_text);
	struct model_pin *pins;

	(void)pinned(registry_text, "A-1", "2026-02-01");
	assert_fails(pin(&r, base, "A-1", when("2026-05-01"), &pins), err, ERR_STATE);
	assert_error(&err, "dev-team: stage 'build': model 'old' (old-1) was removed at "
			   "2026-05-01T00:00:00Z: use 'sonnet'");
	assert_int_equal(event_log_count(base, "ModelRemoved"), 1);
}

PIN_TEST(an_unknown_model_is_refused_at_its_stage)
{
	struct model_registry r = registry("models:\n  - {alias: sonnet, modelId: s-1}\n");
	struct model_pin *pins;

	assert_int_equal(pin(&r, NULL, NULL, 0, &pins), -1);
	assert_error(&err,
		"p.yaml:9:5: stage 'build': unknown model alias 'old': there are sonnet; an id has "
		"a digit, '/' or ':' in it");
}
