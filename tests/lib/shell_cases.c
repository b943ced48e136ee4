#include "tests/lib/shell_cases.h"

struct node *shell_tree(struct str text)
{
	struct verdict v = {0};
	struct node *tree = NULL;

	if (shell_parse(&arena, text, &tree, &v) < 0)
		fail_msg("'%.*s': %zu-%zu: %s", (int)text.n, text.p, v.at.from, v.at.to, v.reason);
	assert_false(v.denied);
	return tree;
}

void assert_prints_back(const struct node *tree)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	shell_print(&out, tree);
	if (!shell_same(tree, shell_tree(buf_str(&out))))
		fail_msg("another tree: %s", out.s);
}

void assert_drawn(const struct drawn *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT;
		const struct node *tree = shell_tree(str_of(cases[i].text));

		shell_draw(&out, tree);
		if (strcmp(out.s, cases[i].drawing) != 0)
			fail_msg("'%s':\n%s", cases[i].text, out.s);
		assert_prints_back(tree);
	}
}

void assert_denied_as(struct str text, const char *line)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct verdict v = {0};
	struct node *tree = NULL;

	assert_int_equal(shell_parse(&arena, text, &tree, &v), -1);
	assert_null(tree);
	verdict_line(&out, &v);
	if (!str_starts(buf_str(&out), "deny ") || strcmp(out.s + strlen("deny "), line) != 0)
		fail_msg("'%.*s': %s", (int)text.n, text.p, out.s);
}

void assert_denied(const struct denied *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_denied_as(str_of(cases[i].text), cases[i].line);
}
