#include "tests/lib/resource_rig.h"

TEST(durations_are_seconds)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} rows[] = {
		{"PT5H", 18000},
		{"PT8H", 28800},
		{"PT10H", 36000},
		{"PT30M", 1800},
		{"PT45S", 45},
		{"P2D", 172800},
		{"P7D", 604800},
		{"P14D", 1209600},
		{"P1W", 604800},
		{"P1DT2H3M4S", 93784},
		{"PT1H30M", 5400},
		{"PT1H1S", 3601},
		{"PT1M1S", 61},
		{"P1DT1S", 86401},
		{"PT36H", 129600},
		{"PT90M", 5400},
		{"PT005H", 18000},
		{"P0D", 0},
		{"PT0S", 0},
		{"P999999999D", 86399999913600},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t got = -1;

		if (config_parse_duration(str_of(rows[i].text), &got) < 0)
			fail_msg("'%s' is refused", rows[i].text);
		assert_int_equal(got, rows[i].seconds);
	}
}

TEST(what_is_no_duration)
{
	static const char *const rows[] = {"", "P", "PT", "P1DT", "5H", "PT5", "pt5h", "P5H",
		"PT5D", "P1Y", "P1M", "P1M2D", "PT1.5H", "PT1,5H", "-PT5H", "PT-5H", "+PT5H",
		" PT5H", "PT5H ", "PT5H\n", "PT5M1H", "PT5H5H", "PT1S1M", "P1W2D", "P1D1W",
		"P1WT1H", "P1D2D", "PTT5H", "PT5HT1M", "P 5D", "P1000000000D",
		"PT99999999999999999999S", "P١D"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t got = 7;

		if (config_parse_duration(str_of(rows[i]), &got) == 0)
			fail_msg("'%s' is taken", rows[i]);
		assert_int_equal(got, 7);
	}
}

TEST(the_switch_of_parallel_runs)
{
	static const struct {
		enum parallelism_mode mode;
		const char *values[17]; /* ended by NULL */
	} rows[] = {
		{PARALLELISM_ON, {"", "   ", "\t\n", "on", "On", "1", "true", "maybe", "enable",
					 "yes", "offf", "o f f", "00", "no", "experiment"}},
		{PARALLELISM_EXPERIMENTAL, {"experimental", "  EXPERIMENTAL ", "Experimental\n"}},
		{PARALLELISM_OFF, {"off", "  OFF ", "disabled", "Disabled", "false", "FALSE", "0",
					  "\t0\r\n"}},
	};

	unsetenv(PARALLELISM_VARIABLE);
	assert_int_equal(parallelism_mode(), PARALLELISM_ON);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (const char *const *value = rows[i].values; *value; value++) {
			setenv(PARALLELISM_VARIABLE, *value, 1);
			if (parallelism_mode() != rows[i].mode)
				fail_msg("'%s'", *value);
		}
	unsetenv(PARALLELISM_VARIABLE);
}

UNIT_GROUP(NULL, arena_end)
