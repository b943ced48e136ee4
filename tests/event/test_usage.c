#include "src/event/usage.h"
#include "tests/lib/unit.h"

TEST(unknown_figures_stay_unknown)
{
	static const struct usage_member members[] = {{USAGE_COST, "cost"}, {USAGE_INPUT, "in"},
		{USAGE_OUTPUT, "out"}, {USAGE_CACHE, "cache"}, {USAGE_MS, "ms"}, {0}};
	struct usage u = USAGE_NONE, second = {5, -1, JSON_MAX_INT, 0.5, 20, 0};
	CLEANUP(json_free) json *j = json_object();
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	u.ms = 10;
	usage_put(j, &u, members, true);
	json_print(&text, j);
	assert_string_equal(
		text.s, "{\"cost\":null,\"in\":null,\"out\":null,\"cache\":null,\"ms\":10}");
	usage_add(&u, &second);
	usage_add(&u, &second);
	assert_int_equal(u.input_tokens, 10);
	assert_int_equal(u.output_tokens, -1);
	assert_int_equal(u.cache_tokens, JSON_MAX_INT);
	assert_int_equal(u.ms, 50);
	json_free(&j);
	j = json_object();
	buf_clear(&text);
	usage_put(j, &u, members + 1, false);
	json_print(&text, j);
	assert_string_equal(text.s, "{\"in\":10,\"cache\":999999999999999,\"ms\":50}");
	assert_true(u.cost_usd > 0.99 && u.cost_usd < 1.01);
}
