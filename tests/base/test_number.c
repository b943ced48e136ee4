#include "src/base/number.h"
#include "tests/lib/unit.h"

TEST(digits_are_read_up_to_the_first_other_byte)
{
	static const struct {
		const char *text;
		size_t n;
		uint64_t value;
	} cases[] = {
		{"", 0, 0},
		{"x1", 0, 0},
		{"12h", 2, 12},
		{"007", 3, 7},
		{"18446744073709551615", 20, UINT64_MAX},
		{"18446744073709551616 ", 20, UINT64_MAX},
		{"184467440737095516150", 21, UINT64_MAX},
		{"99999999999999999999999x", 23, UINT64_MAX},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t value = 1;

		assert_int_equal(number_digits(str_of(cases[i].text), &value), cases[i].n);
		assert_true(value == cases[i].value);
	}
}

TEST(a_whole_number_is_digits_within_its_range)
{
	static const char *const good[] = {"5", "10", "0000000000000000000000007"};
	static const char *const bad[] = {
		"", " 5", "5 ", "+5", "-5", "0x5", "5.0", "4", "11", "18446744073709551621"};
	uint64_t value = 0;

	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(number_parse(str_of(good[i]), 5, 10, &value));
	assert_int_equal(value, 7);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(number_parse(str_of(bad[i]), 5, 10, &value));
	assert_false(number_parse((struct str){0}, 0, 10, &value));
	assert_int_equal(value, 7);
	assert_int_equal(number_or(STR("8"), 10, 3), 8);
	assert_int_equal(number_or(STR("11"), 10, 3), 3);
}

TEST(a_variable_that_is_no_number_counts_as_not_set)
{
	unsetenv("DEV_TEAM_TEST_NUMBER");
	assert_int_equal(number_env("DEV_TEAM_TEST_NUMBER", 10, 3), 3);
	setenv("DEV_TEAM_TEST_NUMBER", "9", 1);
	assert_int_equal(number_env("DEV_TEAM_TEST_NUMBER", 10, 3), 9);
	setenv("DEV_TEAM_TEST_NUMBER", "9s", 1);
	assert_int_equal(number_env("DEV_TEAM_TEST_NUMBER", 10, 3), 3);
}

TEST(hexadecimal_digits_are_read_in_either_case)
{
	uint64_t value = 0;

	assert_true(number_hex(STR("00fF"), &value) && value == 255);
	assert_true(number_hex(STR("FFFFFFFFFFFFFFFF"), &value) && value == UINT64_MAX);
	assert_false(number_hex(STR(""), &value));
	assert_false(number_hex(STR("g"), &value));
	assert_false(number_hex(STR("0x1"), &value));
	assert_false(number_hex(STR("10000000000000000"), &value));
}

TEST(a_number_with_a_fraction_has_one_form)
{
	static const char *const bad[] = {"", "-", ".5", "5.", "+5", "1e", "1e+", "1.5.2", "1 ",
		"inf", "nan", "0x10", "11", "-11", "1e999",
		"0.00000000000000000000000000000000000000000000000000000000000000001"};
	double value = 0;

	assert_true(number_double(STR("-1.5"), -10, 10, &value) && value == -1.5);
	assert_true(number_double(STR("0.1e+2"), -10, 10, &value) && value == 10);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(number_double(str_of(bad[i]), -10, 10, &value));
	assert_false(number_double(STR("1\0"
				       "2"),
		-10, 10, &value));
	assert_true(value == 10);
}

TEST(a_refusal_names_the_range_and_the_text)
{
	struct error err = {0};

	assert_fails(
		number_refuse(&err, ERR_USAGE, "--port", STR("80x"), 1, 65535), err, ERR_USAGE);
	assert_error(&err, "dev-team: '--port' must be a whole number from 1 to 65535, not '80x'");
}
