#include <time.h>
#include "src/base/clock.h"
#include "tests/lib/unit.h"

/* The result of the C library. */
static void library(int64_t t, bool stamp, char out[CLOCK_TEXT])
{
	time_t when = (time_t)t;
	struct tm tm;

	gmtime_r(&when, &tm);
	assert_true(stamp ? strftime(out, CLOCK_TEXT, "%Y%m%dT%H%M%SZ", &tm)
			  : strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm));
}

static void assert_time(int64_t t)
{
	char is[CLOCK_TEXT], want[CLOCK_TEXT];
	int64_t back = -1;

	clock_text(t, is);
	library(t, false, want);
	assert_string_equal(is, want);
	assert_int_equal(clock_parse(is, &back), 0);
	assert_true(back == t);
	clock_stamp(t, is);
	library(t, true, want);
	assert_string_equal(is, want);
}

TEST(every_day_is_the_one_of_the_library)
{
	for (int64_t day = 0; day < 2932896; day += day < 60000 ? 1 : 97) {
		assert_time(day * 86400);
		assert_time(day * 86400 + 86399);
		assert_time(day * 86400 + day % 86400);
	}
	assert_time(253402300799);
}

TEST(a_name_has_milliseconds)
{
	char name[CLOCK_TEXT];

	clock_name(1777904624567, name);
	assert_string_equal(name, "2026-05-04T14-23-44-567");
	clock_name(clock_now_ms(), name);
	assert_int_equal(strlen(name), CLOCK_TEXT - 1);
}

TEST(a_time_before_1970_is_read)
{
	int64_t t;

	assert_int_equal(clock_parse("1969-12-31T23:59:59Z", &t), 0);
	assert_true(t == -1);
	assert_int_equal(clock_parse("0001-01-01T00:00:00Z", &t), 0);
	assert_true(t == -62135596800);
}

TEST(what_has_no_text_is_the_nearest_that_has_one)
{
	char text[CLOCK_TEXT];

	clock_text(-1, text);
	assert_string_equal(text, "1970-01-01T00:00:00Z");
	clock_text(INT64_MAX, text);
	assert_string_equal(text, "9999-12-31T23:59:59Z");
}

TEST(another_form_is_no_time)
{
	static const char *const bad[] = {"", "2026", "2026-11-21", "2026-11-21T01:34:55",
		"2026-11-21T01:34:55Zx", "2026-13-21T01:34:55Z", "2026-00-21T01:34:55Z",
		"2026-11-32T01:34:55Z", "2026-11-00T01:34:55Z", "2026-11-21T24:34:55Z",
		"2026-11-21T01:60:55Z", "2026-11-21T01:34:61Z", "2026-11-21 01:34:55Z",
		"+026-11-21T01:34:55Z", "26-11-21T01:34:55Z", "0000-11-21T01:34:55Z"};
	int64_t t;

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(clock_parse(bad[i], &t), -1);
}
