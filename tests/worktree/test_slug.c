#include "src/worktree/pool_internal.h"
#include "tests/lib/pool_rig.h"

GIT_TEST(a_branch_makes_the_name_of_a_directory)
{
	static const struct {
		const char *branch, *slug; /* NULL: refused */
	} rows[] = {
		{"feat/issue-42", "feat-issue-42"},
		{"feat//issue///42", "feat-issue-42"},
		{"//foo//", "foo"},
		{"-foo-", "foo"},
		{"--foo--bar--", "foo-bar"},
		{"feat.add-foo_bar", "feat.add-foo_bar"},
		{"ai-sdlc/issue-247", "ai-sdlc-issue-247"},
		{"dev-team/ADR-1.2", "ADR-1.2"},
		{"dev-team/feat/x", "feat-x"},
		{"dev-team/.x", NULL},
		{"Feat/ABC", "Feat-ABC"},
		{"a b\tc", "a-b-c"},
		{"a-/-b", "a-b"},
		{"feat/\xc3\xbcn\xc3\xaf", "feat-n"},
		{"\xc3\xbc", NULL},
		{"a@{b}", "a-b"},
		{"x", "x"},
		{"_", "_"},
		{"v1..2", "v1..2"},
		{"", NULL},
		{"@!?", NULL},
		{"---", NULL},
		{"///", NULL},
		{".", NULL},
		{"..", NULL},
		{"../..", NULL},
		{"/../x", NULL},
		{".hidden", NULL},
		{"-.-", NULL},
		{"a.lock", NULL},
		{"a.", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *slug = NULL;
		int rc = pool_slug(&arena, rows[i].branch, &slug, &err);

		if (rc != (rows[i].slug ? 0 : -1))
			fail_msg("'%s' gave %d", rows[i].branch, rc);
		if (rc < 0)
			assert_int_equal(err.code, ERR_USAGE);
		else
			assert_string_equal(slug, rows[i].slug);
	}
}

GIT_TEST(a_name_is_at_most_190_bytes_long)
{
	char branch[192], *slug;

	memset(branch, 'a', sizeof(branch));
	branch[190] = '\0';
	assert_int_equal(pool_slug(&arena, branch, &slug, &err), 0);
	branch[190] = 'a';
	branch[191] = '\0';
	assert_true(refused(pool_slug(&arena, branch, &slug, &err), ERR_USAGE, "190 bytes"));
}

UNIT_GROUP(NULL, arena_end)
