#include <errno.h>
#include "src/base/clock.h"
#include "tests/lib/unit.h"

TEST(an_error_without_a_place_names_the_program)
{
	struct error e;

	assert_fails(error_set(&e, ERR_STATE, "locked by '%s'", "me"), e, ERR_STATE);
	assert_error(&e, "dev-team: locked by 'me'");
}

TEST(an_error_at_a_place_begins_with_it)
{
	struct error e;

	assert_fails(error_at(&e, "a/b.md", 3, 7, "bad '%s'", "x"), e, ERR_INPUT);
	assert_error(&e, "a/b.md:3:7: bad 'x'");
	error_at(&e, "a/b.md", 0, 0, "bad");
	assert_error(&e, "a/b.md: bad");
}

TEST(an_error_of_the_system_tells_the_reason)
{
	struct error e;

	errno = ENOSPC;
	assert_fails(error_errno(&e, "cannot write '%s'", "f"), e, ERR_SYSTEM);
	assert_error(&e, "dev-team: cannot write 'f': No space left on device");
}

TEST(a_prefix_keeps_code_and_place)
{
	struct error e;

	error_at(&e, "f", 1, 2, "inner");
	assert_fails(error_prefix(&e, "cannot resume '%d'", 7), e, ERR_INPUT);
	assert_error(&e, "f:1:2: cannot resume '7': inner");
}

TEST(a_second_error_forgets_the_place_of_the_first)
{
	struct error e;

	error_at(&e, "f", 1, 2, "inner");
	error_set(&e, ERR_USAGE, "other");
	assert_error(&e, "dev-team: other");
}

TEST(texts_that_are_too_long_are_cut_not_lost)
{
	char longer[5000], line[2048];
	struct error e;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	error_set(&e, ERR_INPUT, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	errno = EIO;
	error_errno(&e, "%s", longer);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	for (int i = 0; i < 10; i++)
		error_prefix(&e, "%s", longer);
	error_at(&e, longer, 1, 1, "%s", longer);
	error_format(&e, line, sizeof(line));
	assert_true(strlen(line) < sizeof(line));
}

TEST(the_clock_can_be_fixed)
{
	char text[CLOCK_TEXT];

	setenv("DEV_TEAM_NOW", "2026-11-21T01:34:55Z", 1);
	assert_int_equal(clock_now(), 1795224895);
	clock_text(clock_now(), text);
	assert_string_equal(text, "2026-11-21T01:34:55Z");
	clock_stamp(clock_now(), text);
	assert_string_equal(text, "20261121T013455Z");
}

TEST(a_clock_fixed_wrongly_is_the_real_one)
{
	static const char *const wrong[] = {
		"", "yesterday", "2026-11-21T01:34:55", "2026-11-21T01:34:55Zx"};

	for (size_t i = 0; i < COUNT(wrong); i++) {
		setenv("DEV_TEAM_NOW", wrong[i], 1);
		assert_true(clock_now() > 1700000000);
		assert_int_not_equal(clock_now(), 1795224895);
	}
	unsetenv("DEV_TEAM_NOW");
}
