#include "src/verify/history.h"
#include "tests/lib/unit.h"

static void counts(const char *from, const char *to, size_t added, size_t removed)
{
	size_t a, r;

	history_diff_count(str_of(from), str_of(to), &a, &r);
	assert_int_equal(a, added);
	assert_int_equal(r, removed);
}

TEST(lines_that_are_new_and_gone_are_counted)
{
	counts("", "", 0, 0);
	counts("a\nb\n", "a\nb\n", 0, 0);
	counts("", "a\nb\n", 2, 0);
	counts("a\nb\n", "", 0, 2);
	counts("a\nb\nc\n", "a\nx\nc\n", 1, 1);
	counts("a\nb\nc\n", "a\nc\n", 0, 1);
	counts("a\na\n", "a\na\na\n", 1, 0);
	counts("a\nb", "a\nb\n", 1, 1);
	counts("a\nb", "a\nbc", 1, 1);
}

TEST(a_line_that_only_moved_is_neither)
{
	counts("a\nb\nc\n", "c\na\nb\n", 0, 0);
	counts("a\nb\nc\n", "c\nx\nb\n", 1, 1);
}

static void first(const char *from, const char *to, size_t line, const char *a, const char *b)
{
	struct str x, y;

	assert_int_equal(history_diff_first(str_of(from), str_of(to), &x, &y), line);
	assert_true(str_is(x, a));
	assert_true(str_is(y, b));
}

TEST(the_first_line_that_differs_is_found)
{
	first("a\nb\n", "a\nc\n", 2, "b", "c");
	first("a\n", "a\nc\n", 2, "", "c");
	first("a\nb\n", "a\nb", 2, "b", "b");
	first("a \n", "a\n", 1, "a ", "a");
	first("", "x", 1, "", "x");
}

TEST(texts_that_are_the_same_have_none)
{
	struct str x, y;

	assert_int_equal(history_diff_first(STR("a\nb"), STR("a\nb"), &x, &y), 0);
	assert_int_equal(history_diff_first((struct str){0}, (struct str){0}, &x, &y), 0);
}
