#include "tests/lib/run.h"
#include "tests/lib/tree.h"
#include "tests/lib/match.h"

static bool match_line(struct str want, struct str got)
{
	size_t hole = str_find(want, STR("[..]"));
	struct str tail;

	if (hole == want.n)
		return str_eq(want, got);
	if (got.n < hole || !str_eq(str_sub(want, 0, hole), str_sub(got, 0, hole)))
		return false;
	tail = str_sub(want, hole + 4, want.n);
	for (size_t i = hole; i <= got.n; i++)
		if (match_line(tail, str_sub(got, i, got.n)))
			return true;
	return false;
}

bool match_lines(struct str want, struct str got)
{
	struct str w, g, rest = want;

	if (!str_line(&rest, &w))
		return got.n == 0;
	if (!str_is(w, "..."))
		return str_line(&got, &g) && match_line(w, g) && match_lines(rest, got);
	do {
		if (match_lines(rest, got))
			return true;
	} while (str_line(&got, &g));
	return false;
}

void replace_all(struct buf *out, struct str text, struct str path, struct str name)
{
	for (;;) {
		size_t at = str_find(text, path);

		buf_add(out, str_sub(text, 0, at));
		if (at == text.n)
			return;
		buf_add(out, name);
		text = str_sub(text, at + path.n, text.n);
	}
}

void diff_add(struct buf *out, struct str want, struct str got)
{
	CLEANUP(base_free) char *dir = tree_scratch("diff");
	const char *const argv[] = {
		"diff", "-a", "-u", "--label", "expected", "--label", "got", "want", "got", NULL};
	struct run r = {.argv = argv, .cwd = dir};
	struct arena a = {0};

	tree_write(arena_printf(&a, "%s/want", dir), want);
	tree_write(arena_printf(&a, "%s/got", dir), got);
	run(&r);
	buf_add(out, buf_str(&r.out));
	buf_add(out, buf_str(&r.err));
	run_release(&r);
	arena_release(&a);
	tree_remove(dir);
}
