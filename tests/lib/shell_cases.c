#include "tests/lib/shell_cases.h"
#include "tests/lib/shell_tree.h"

struct node *shell_tree(struct str text)
{
	struct verdict v = {0};
	struct node *tree = NULL;

	if (shell_parse(&arena, text, &tree, &v) < 0)
		fail_msg("'%.*s': %zu-%zu: %s", (int)text.n, text.p, v.at.from, v.at.to, v.reason);
	assert_false(v.denied);
	return tree;
}

static void draw_on_one_line(struct buf *out, const struct node *tree)
{
	CLEANUP(buf_release) struct buf drawing = BUF_INIT;
	struct str rest, line;
	size_t level = 0;

	shell_draw(&drawing, tree);
	for (rest = buf_str(&drawing); str_line(&rest, &line);) {
		size_t blanks = strspn(line.p, " ");

		assert_true(blanks % 2 == 0 && blanks / 2 <= level + 1);
		if (blanks / 2 > level)
			buf_adds(out, " (");
		for (; level > blanks / 2; level--)
			buf_addc(out, ')');
		if (out->len && out->s[out->len - 1] != '(')
			buf_adds(out, ", ");
		level = blanks / 2;
		buf_add(out, str_sub(line, blanks, line.n));
	}
	for (; level; level--)
		buf_addc(out, ')');
}

void assert_drawn(const struct drawn *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CLEANUP(buf_release) struct buf out = BUF_INIT;
		const struct node *tree = shell_tree(str_of(cases[i].text));

		draw_on_one_line(&out, tree);
		if (strcmp(out.s, cases[i].drawing) != 0)
			fail_msg("'%s':\n%s", cases[i].text, out.s);
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
