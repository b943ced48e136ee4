/*
 * The cadence of the unattended loop.
 */
#include "src/tick/tick.h"
#include "tests/lib/scratch.h"

TEST(idle_ticks_wait_longer_each_time)
{
	static const int64_t expected[] = {60, 120, 240, 300, 300};
	int64_t interval = 30;

	for (size_t i = 0; i < COUNT(expected); i++) {
		interval = tick_interval(30, interval, true);
		assert_int_equal(interval, expected[i]);
	}
	assert_int_equal(tick_interval(30, interval, false), 30);
	assert_int_equal(tick_interval(1, 1, true), 2);
	assert_int_equal(tick_interval(300, 300, true), 300);
}

TEST(the_spawner_is_of_the_option_then_of_the_environment)
{
	assert_string_equal(tick_spawner(NULL, "inline"), "inline");
	assert_int_equal(setenv("AI_SDLC_ORCHESTRATOR_SPAWNER", "mock", 1), 0);
	assert_string_equal(tick_spawner(NULL, "inline"), "mock");
	assert_string_equal(tick_spawner("harness", "inline"), "harness");
	assert_int_equal(setenv("AI_SDLC_ORCHESTRATOR_SPAWNER", "", 1), 0);
	assert_string_equal(tick_spawner(NULL, "inline"), "inline");
	assert_int_equal(unsetenv("AI_SDLC_ORCHESTRATOR_SPAWNER"), 0);
}
