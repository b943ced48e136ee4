/*
 * The cadence of the unattended loop.
 */
#include "src/tick/tick.h"
#include "tests/lib/scratch.h"

TEST(idle_ticks_wait_longer_each_time)
{
	static const int64_t expected[] = {60, 120, 240, 300, 300};

	for (size_t i = 0; i < COUNT(expected); i++) {
		assert_int_equal(tick_interval(30, (int64_t)i + 1), expected[i]);
	}
	assert_int_equal(tick_interval(30, 0), 30);
	assert_int_equal(tick_interval(1, 1), 2);
	assert_int_equal(tick_interval(300, 1), 300);
}

static const char *spawner(const char *given, const char *variable)
{
	static struct error err;

	assert_int_equal(setenv("AI_SDLC_ORCHESTRATOR_SPAWNER", variable, 1), 0);
	return tick_spawner("inline", &given, &err) < 0 ? strstr(err.text, "SPAWNER must be")
							: given;
}

TEST(the_spawner_is_of_the_option_then_of_the_environment)
{
	assert_string_equal(spawner(NULL, "mock"), "mock");
	assert_string_equal(spawner("harness", "mock"), "harness");
	assert_string_equal(spawner(NULL, ""), "inline");
	assert_string_equal(spawner("harness", "bogus"), "harness");
	assert_string_equal(spawner(NULL, "bogus"),
		"SPAWNER must be inline, claude-cli, harness, api-key or mock, not 'bogus'");
	assert_int_equal(unsetenv("AI_SDLC_ORCHESTRATOR_SPAWNER"), 0);
}
