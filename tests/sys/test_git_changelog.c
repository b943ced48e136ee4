#include "src/sys/git.h"
#include "tests/lib/unit.h"

/* NULL: it is left to somebody. */
static void joins(const char *text, bool second_first, const char *expected)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool joined = git_join_lists(str_of(text), second_first, &out);

	if (joined != (expected != NULL) || (joined && strcmp(out.s, expected) != 0))
		fail_msg("%s gives %s", text, joined ? out.s : "nothing");
}

#define BETWEEN(one, two)                                                                          \
	"# Changes\n\n<<<<<<< HEAD\n" one "=======\n" two ">>>>>>> abc (x)\n\nOld text.\n"

TEST(both_lists_are_kept_in_the_order_that_is_asked_for)
{
	static const char text[] = BETWEEN("- main\n\n  more\n", "* branch\n+ two\n");

	joins(text, false, "# Changes\n\n- main\n\n  more\n* branch\n+ two\n\nOld text.\n");
	joins(text, true, "# Changes\n\n* branch\n+ two\n- main\n\n  more\n\nOld text.\n");
	joins("<<<<<<< a\r\n- 1\r\n=======\r\n- 2\r\n>>>>>>> b\r\n", false, "- 1\r\n- 2\r\n");
	joins("<<<<<<< a\n=======\n- 2\n>>>>>>> b", false, "- 2\n");
	joins(BETWEEN("- 1\n", "- 2\n") BETWEEN("- 3\n", "- 4\n"), false,
		"# Changes\n\n- 1\n- 2\n\nOld text.\n# Changes\n\n- 3\n- 4\n\nOld text.\n");
}

TEST(what_is_no_list_or_not_whole_is_left)
{
	joins(BETWEEN("- main\n", "Prose.\n"), false, NULL);
	joins(BETWEEN("### Added\n- main\n", "- branch\n"), false, NULL);
	joins(BETWEEN("- 1\n", "- 2\n") BETWEEN("---\n", "- 4\n"), false, NULL);
	joins("- no\n- conflict\n", false, NULL);
	joins("<<<<<<< a\n- 1\n=======\n- 2\n", false, NULL);
	joins("<<<<<<< a\n- 1\n", false, NULL);
	joins("<<<<<<< a\n- 1\n<<<<<<< b\n=======\n- 2\n>>>>>>> c\n", false, NULL);
	joins("<<<<<<< a\n- 1\n=======\n- 2\n=======\n- 3\n>>>>>>> c\n", false, NULL);
	joins("<<<<<<< a\n- 1\n||||||| base\n=======\n- 2\n>>>>>>> c\n", false, NULL);
	joins("", false, NULL);
}

TEST(too_large_a_changelog_is_left)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, out = BUF_INIT;

	buf_adds(&text, BETWEEN("- 1\n", "- 2\n"));
	while (text.len < 1000000)
		buf_addc(&text, '\n');
	assert_true(git_join_lists(buf_str(&text), false, &out));
	buf_addc(&text, '\n');
	assert_false(git_join_lists(buf_str(&text), false, &out));
}

TEST(a_changelog_is_known_by_its_name_in_any_directory)
{
	assert_true(git_is_changelog("CHANGELOG.md"));
	assert_true(git_is_changelog("packages/a/changelog.md"));
	assert_false(git_is_changelog("CHANGELOG.md/f"));
	assert_false(git_is_changelog("CHANGELOG"));
	assert_false(git_is_changelog("OLD-CHANGELOG.md"));
}
