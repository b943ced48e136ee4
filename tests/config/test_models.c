#include "src/base/clock.h"
#include "src/config/model.h"
#include "tests/lib/scratch.h"

static struct error err;

static int64_t when(const char *text)
{
	int64_t t;

	assert_true(model_date_parse(str_of(text), &t));
	return t;
}

static struct model_registry shipped(void)
{
	struct model_registry r;

	assert_int_equal(model_registry_load(&arena, NULL, &r, &err), 0);
	return r;
}

static struct model_registry registry(const char *text)
{
	struct model_registry r;

	assert_int_equal(model_registry_parse(&arena, str_of(text), "m.yaml", &r, &err), 0);
	return r;
}

/* `old` with the given dates ("": none), and its replacement. */
static struct model_registry dated(const char *deprecated, const char *removed)
{
	return registry(arena_printf(&arena,
		"models:\n"
		"  - alias: old\n    modelId: old-1\n    deprecatedAt: %s\n    removedAt: %s\n"
		"    replacementAlias: new\n"
		"  - {alias: new, modelId: new-2}\n",
		deprecated, removed));
}

TEST(the_shipped_aliases_resolve_to_their_ids)
{
	static const struct {
		const char *alias, *id;
	} rows[] = {{"haiku", "claude-haiku-4-5-20251001"}, {"sonnet", "claude-sonnet-4-6"},
		{"opus", "claude-opus-4-7"}, {"opus[1m]", "claude-opus-4-7[1m]"}};
	struct model_registry r = shipped();

	assert_int_equal(r.n, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct model_resolved m;

		assert_int_equal(model_resolve(&r, rows[i].alias, NULL, 0, &m, &err), 0);
		assert_string_equal(m.id, rows[i].id);
		assert_true(m.alias && !m.deprecated && !m.grace && !m.removed);
		assert_non_null(m.entry->use);
	}
}

TEST(the_chain_is_stage_pipeline_default)
{
	static const struct {
		const char *stage, *pipeline, *id, *source;
	} rows[] = {
		{"opus", "haiku", "claude-opus-4-7", "stage"},
		{NULL, "haiku", "claude-haiku-4-5-20251001", "pipeline"},
		{"inherit", "haiku", "claude-haiku-4-5-20251001", "pipeline"},
		{NULL, NULL, "claude-sonnet-4-6", "default"},
		{"inherit", NULL, "claude-sonnet-4-6", "default"},
		{"inherit", "inherit", "claude-sonnet-4-6", "default"},
		{"claude-sonnet-4-6", NULL, "claude-sonnet-4-6", "stage"},
		{"inherit", "gpt-5-mini", "gpt-5-mini", "pipeline"},
	};
	struct model_registry r = shipped();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct model_resolved m;

		assert_int_equal(
			model_resolve(&r, rows[i].stage, rows[i].pipeline, 0, &m, &err), 0);
		assert_string_equal(m.id, rows[i].id);
		assert_string_equal(m.source, rows[i].source);
	}
}

TEST(explicit_ids_pass_and_slips_of_aliases_do_not)
{
	static const char *const ids[] = {"claude-opus-4-7[1m]", "gpt-5", "o3", "gemini-2.5-pro",
		"openai/gpt-oss:20b", "deepseek/deepseek-chat", "us.anthropic.claude-x-v1:0"};
	static const char *const slips[] = {"mystery-model", "Sonnet", "sonnet ", "", "opus[2m]",
		"opus[]", "haiku-next", "-x1", "--model=1", "a b1", "sonnet\n1", "INHERIT",
		"g\xc3\xa4-1"};
	struct model_registry r = shipped();
	struct model_resolved m;

	for (size_t i = 0; i < COUNT(ids); i++) {
		assert_int_equal(model_resolve(&r, ids[i], NULL, 0, &m, &err), 0);
		assert_string_equal(m.id, ids[i]);
		assert_true(!m.alias && !m.entry);
	}
	for (size_t i = 0; i < COUNT(slips); i++) {
		assert_fails(model_resolve(&r, slips[i], NULL, 0, &m, &err), err, ERR_INPUT);
	}
	assert_int_equal(model_resolve(&r, "mystery-model", NULL, 0, &m, &err), -1);
	assert_error(&err,
		"dev-team: unknown model alias 'mystery-model': there are haiku, sonnet, opus, "
		"opus[1m]; an id has a digit, '/' or ':' in it");
}

enum { OK, DEPRECATED, GRACE = 2, REMOVED = 4 };

TEST(dates_decide_and_both_are_inclusive)
{
	static const struct {
		const char *deprecated, *removed, *now;
		int is;
	} rows[] = {
		{"", "", "2026-04-15", OK},
		{"2026-01-01", "2026-04-01", "2026-04-15", REMOVED},
		{"2026-01-01", "", "2026-04-15", DEPRECATED},
		{"2026-01-01", "2026-12-01", "2026-04-15", DEPRECATED},
		{"2026-01-01", "2026-05-01", "2026-04-16", DEPRECATED | GRACE},
		{"2027-01-01", "", "2026-04-15", OK},
		{"2027-01-01", "2027-06-01", "2026-04-15", OK},
		{"2026-01-01", "2026-05-01", "2026-04-01", DEPRECATED | GRACE},
		{"2026-01-01", "2026-05-01", "2026-03-31T23:59:59Z", DEPRECATED},
		{"2026-01-01", "2026-05-01", "2026-04-30T23:59:59Z", DEPRECATED | GRACE},
		{"2026-01-01", "2026-05-01", "2026-05-01", REMOVED},
		{"2026-01-01", "2026-05-01", "2030-01-01", REMOVED},
		{"2026-01-01", "", "2025-12-31T23:59:59Z", OK},
		{"2026-01-01", "", "2026-01-01", DEPRECATED},
		{"", "2026-05-01", "2026-05-01", REMOVED}, /* never deprecated */
		{"", "2026-05-01", "2026-04-20", OK},
		{"2026-05-01", "2026-05-01", "2026-04-20", OK},
		{"~", "null", "2026-04-20", OK},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct model_registry r = dated(rows[i].deprecated, rows[i].removed);
		struct model_resolved m;
		bool removed = rows[i].is & REMOVED;

		assert_int_equal(model_resolve(&r, "old", NULL, when(rows[i].now), &m, &err),
			removed ? -1 : 0);
		assert_int_equal(m.removed, removed);
		assert_int_equal(m.deprecated, !!(rows[i].is & DEPRECATED));
		assert_int_equal(m.grace, !!(rows[i].is & GRACE));
		assert_string_equal(m.id, "old-1");
		if (removed)
			assert_int_equal(err.code, ERR_STATE);
	}
}

TEST(a_removed_one_says_what_to_use)
{
	struct model_registry r = dated("2026-01-01", "2026-04-01");
	struct model_resolved m;

	assert_int_equal(model_resolve(&r, NULL, "old", when("2026-04-15"), &m, &err), -1);
	assert_error(&err,
		"dev-team: model 'old' (old-1) was removed at 2026-04-01T00:00:00Z: use 'new'");
}

TEST(what_nobody_tells_of_is_warned_of)
{
	struct model_registry stale = dated("2026-01-01", ""), ends = dated("", "2026-05-01");
	struct model_registry both = dated("2026-01-01", "2026-05-01");
	const int64_t sixty = when("2026-01-01") + 60 * MODEL_DAY_S;

	assert_false(model_stale(&stale.list[0], sixty));
	assert_true(model_stale(&stale.list[0], sixty + 1));
	assert_false(model_stale(&both.list[0], sixty + 1));
	assert_false(model_stale(&stale.list[1], sixty + 1));
	assert_true(model_removal_unannounced(&ends.list[0], when("2026-04-20")));
	assert_false(model_removal_unannounced(&ends.list[0], when("2026-03-20")));
	assert_false(model_removal_unannounced(&ends.list[0], when("2026-05-20")));
	assert_false(model_removal_unannounced(&both.list[0], when("2026-04-20")));
}

TEST(dates_are_days_or_seconds_in_utc)
{
	static const char *const good[] = {"2026-05-01", "2026-05-01T00:00:00Z",
		"2026-05-01T00:00:00.000Z", "2026-05-01T00:00:00.9Z"};
	static const char *const bad[] = {"", "2026", "2026-13-01", "2026-02-30", "2026-05-01T",
		"2026-05-01T00:00Z", "2026-05-01T00:00:00", "2026-05-01T00:00:00+02:00",
		"2026-05-01T00:00:00.Z", "2026-05-01T00:00:00ZZ", "2026-05-01T00:00:00.5",
		"1970-01-01", "1969-12-31", "tomorrow", "01-05-2026", "2026-05-01 00:00:00Z",
		"2026-05-01T24:00:00Z", "2026-5-1"};
	int64_t t, first = when("2026-05-01");

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(when(good[i]) == first);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(model_date_parse(str_of(bad[i]), &t));
}

TEST(faults_of_a_registry_have_a_place)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"", "m.yaml:1:1: 'models' is missing"},
		{"models: []\n", "m.yaml:1:9: 'models' must have 1 to 1000 entries, not 0"},
		{"models: [{alias: a, modelId: b}]\nmore: 1\n",
			"m.yaml:2:1: unknown key 'more': must be 'models'"},
		{"- x\n", "m.yaml:1:1: a registry of models must be a map, not a list"},
		{"models:\n  - x\n", "m.yaml:2:5: 'models' must be a map, not 'x'"},
		{"models:\n  - alias: a\n", "m.yaml:2:5: 'modelId' is missing"},
		{"models:\n  - modelId: a\n", "m.yaml:2:5: 'alias' is missing"},
		{"models:\n  - alias: 1a\n    modelId: b\n",
			"m.yaml:2:12: 'alias' must be a letter, then letters, digits, '.', '_' and "
			"'-', perhaps with '[...]' behind, other than 'inherit', not '1a'"},
		{"models:\n  - alias: inherit\n    modelId: b\n",
			"m.yaml:2:12: 'alias' must be a letter, then letters, digits, '.', '_' and "
			"'-', perhaps with '[...]' behind, other than 'inherit', not 'inherit'"},
		{"models:\n  - alias: a\n    modelId: --b\n",
			"m.yaml:3:14: 'modelId' must be a letter or digit, then letters, digits "
			"and '._:/-[]', not '--b'"},
		{"models:\n  - alias: a\n    modelId: b\n    until: 1\n",
			"m.yaml:4:5: unknown key 'until'"},
		{"models:\n  - alias: a\n    modelId: b\n    removedAt: soon\n",
			"m.yaml:4:16: 'removedAt' must be a day or a time in UTC, like 2026-05-01 "
			"or 2026-05-01T00:00:00Z, not 'soon'"},
		{"models:\n  - {alias: a, modelId: b}\n  - {alias: a, modelId: c}\n",
			"m.yaml:3:13: model 'a' is listed twice"},
		{"models:\n  - {alias: a, modelId: b, deprecatedAt: 2026-01-01}\n",
			"m.yaml:2:42: model 'a' is deprecated and lacks 'replacementAlias'"},
		{"models:\n  - {alias: a, modelId: b, replacementAlias: c}\n",
			"m.yaml:2:46: model 'a' has a 'replacementAlias' that is not an alias"},
		{"models:\n  - {alias: a, modelId: b, replacementAlias: a}\n",
			"m.yaml:2:46: model 'a' cannot replace itself"},
		{"models:\n  - {alias: a, modelId: b, deprecatedAt: 2026-02-01, removedAt: "
		 "2026-01-01, replacementAlias: c}\n  - {alias: c, modelId: d}\n",
			"m.yaml:2:65: model 'a' is removed before it is deprecated"},
		{"models:\n  - {alias: a, alias: b, modelId: c}\n",
			"m.yaml:2:16: duplicate key 'alias'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct model_registry r;

		assert_int_equal(
			model_registry_parse(&arena, str_of(rows[i].text), "m.yaml", &r, &err), -1);
		assert_error(&err, rows[i].error);
	}
}

static const char haiku_ends[] =
	"models:\n"
	"  - {alias: sonnet, modelId: claude-sonnet-4-6}\n"
	"  - {alias: haiku, modelId: claude-haiku-4-5-20251001, deprecatedAt: 2026-03-01,\n"
	"     removedAt: 2026-09-01, replacementAlias: haiku-next}\n"
	"  - {alias: haiku-next, modelId: claude-haiku-5-0-20270115}\n"
	"  - {alias: later, modelId: later-1, deprecatedAt: 2027-01-01, replacementAlias: sonnet}\n"
	"  - {alias: cut, modelId: cut-1, removedAt: 2026-02-01}\n";

TEST(the_bump_plan_lists_the_stages_that_have_to_change)
{
	static const char one[] = "plan:sonnet";
	static const char ask[] = "plan:sonnet,triage:haiku,odd:mystery-model,own:gpt-5,"
				  "future:later,gone:cut,heir:inherit";
	const struct pipeline haiku = {.default_model = "haiku", .default_model_declared = true};
	struct model_registry r = registry(haiku_ends);
	struct model_bump *rows;
	size_t n;

	assert_int_equal(
		model_bump_plan(&arena, &r, NULL, one, when("2026-06-15"), &rows, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(
		model_bump_plan(&arena, &r, NULL, ask, when("2026-06-15"), &rows, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(rows[0].stage, "triage");
	assert_string_equal(rows[0].entry->id, "claude-haiku-4-5-20251001");
	assert_string_equal(rows[0].replacement_id, "claude-haiku-5-0-20270115");
	assert_true(!rows[0].grace && !rows[0].removed);
	assert_string_equal(rows[1].stage, "gone");
	assert_true(rows[1].removed && !rows[1].replacement_id);
	assert_int_equal(
		model_bump_plan(&arena, &r, &haiku, ask, when("2026-08-20"), &rows, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_true(rows[0].grace && rows[2].grace);
	assert_string_equal(rows[2].stage, "heir");
}

TEST(a_replacement_that_nobody_knows_has_no_id)
{
	struct model_entry list[] = {{.alias = "a",
		.id = "a-1",
		.deprecated = when("2026-01-01"),
		.removed = when("2026-05-01"),
		.replacement = "nowhere"}};
	struct model_registry r = {.list = list, .n = 1};
	struct model_bump *rows;
	size_t n;

	assert_int_equal(
		model_bump_plan(&arena, &r, NULL, "s:a", when("2026-04-20"), &rows, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_null(rows[0].replacement_id);
	assert_true(rows[0].grace);
}

UNIT_GROUP(NULL, arena_end)
