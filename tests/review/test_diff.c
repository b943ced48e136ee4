#include "src/review/classifier.h"
#include "tests/lib/scratch.h"

static struct change_stats taken(const char *text)
{
	struct change_stats s;
	struct error err;
	char line[2048];

	if (review_diff_read(&arena, "d", str_of(text), &s, &err) < 0) {
		error_format(&err, line, sizeof(line));
		fail_msg("%s", line);
	}
	return s;
}

static const char *paths_of(const struct change_stats *s)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	for (size_t i = 0; i < s->files; i++)
		buf_addf(&b, "%s%s:%u", i ? "|" : "", s->paths[i], s->traits[i]);
	return arena_dup(&arena, buf_str(&b));
}

#define HEAD(name)    "diff --git a/" name " b/" name "\n"
#define SIDES(name)   "--- a/" name "\n+++ b/" name "\n"
#define FILE_OF(name) HEAD(name) "index 1..2 100644\n" SIDES(name) "@@ -1 +1,2 @@ f()\n-a\n+b\n+c\n"

TEST(paths_traits_and_lines_are_read)
{
	static const struct {
		const char *text, *paths;
		int64_t added, removed;
	} rows[] = {
		{"", "", 0, 0},
		{FILE_OF("src/a.c"), "src/a.c:0", 2, 1},
		{FILE_OF("a") FILE_OF("b"), "a:0|b:0", 4, 2},
		{HEAD("n") "new file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 "
			   "@@\n"
			   "+x\n\\ No newline at end of file\n",
			"n:1", 1, 0},
		{HEAD("n") "deleted file mode 100644\nindex 1..0\n--- a/n\n+++ /dev/null\n@@ -1 "
			   "+0,0 @@\n-x\n",
			"n:0", 0, 1},
		{HEAD("x.md") "old mode 100644\nnew mode 100755\n", "x.md:3", 0, 0},
		{HEAD("empty") "new file mode 100644\nindex 0..0\n", "empty:0", 0, 0},
		{HEAD("l.md") "new file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/l.md\n@@ "
			      "-0,0 +1 @@\n+../src\n\\ No newline at end of file\n",
			"l.md:4", 1, 0},
		{HEAD("sub") "index 1..2 160000\n" SIDES(
			 "sub") "@@ -1 +1 @@\n-Subproject commit 1\n"
				"+Subproject commit 2\n",
			"sub:8", 1, 1},
		{HEAD("b.png") "index 1..2 100644\nBinary files a/b.png and b/b.png differ\n",
			"b.png:16", 0, 0},
		{HEAD("b") "index 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ>Z\n\nliteral 0\n"
			   "HcmV?d00001\n\n" FILE_OF("c"),
			"b:16|c:0", 2, 1},
		{"diff --git a/old.md b/src/new.c\nsimilarity index 100%\nrename from "
		 "old.md\nrename to src/new.c\n",
			"old.md:0|src/new.c:0", 0, 0},
		{"diff --git a/o b/n\nsimilarity index 90%\ncopy from o\ncopy to n\nindex 1..2 "
		 "100644\n--- a/o\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n",
			"o:0|n:0", 1, 1},
		{HEAD("a b/c d") "old mode 100644\nnew mode 100644\n", "a b/c d:2", 0, 0},
		{HEAD("x b/x b/x") "old mode 100644\nnew mode 100644\n", "x b/x b/x:2", 0, 0},
		{HEAD("a b") "index 1..2 100644\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n",
			"a b:0", 1, 1},
		{"diff --git \"a/t\\tq\\\"\\303\\244\" \"b/t\\tq\\\"\\303\\244\"\nold mode "
		 "100644\nnew mode 100644\n",
			"t\tq\"\xc3\xa4:2", 0, 0},
		{"diff --git a/x \"b/y\\n\"\nsimilarity index 100%\nrename from x\nrename to "
		 "\"y\\n\"\n",
			"x:0|y\n:0", 0, 0},
		/* Lines of a hunk that look like headers are counted, not read. */
		{HEAD("a") "index 1..2 100644\n" SIDES("a") "@@ -1,2 +1,2 @@\n--- a/README.md\n+++ "
							    "b/README.md\n diff --git a/x b/x\n",
			"a:0", 1, 1},
		{HEAD("a") SIDES("a") "@@ -1,3 +1,3 @@\n x\n\n-a\n+b\n", "a:0", 1, 1},
		{HEAD("a") SIDES("a") "@@ -1 +1 @@\n-a\r\n+b\r\n@@ -9 +9 @@\n-a\n+b\n", "a:0", 2,
			2},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_stats s = taken(rows[i].text);

		assert_string_equal(paths_of(&s), rows[i].paths);
		assert_int_equal(s.added, rows[i].added);
		assert_int_equal(s.removed, rows[i].removed);
	}
}

TEST(what_is_not_surely_understood_is_refused_at_its_line)
{
	static const struct {
		const char *text;
		unsigned line;
	} rows[] = {
		{"\n", 1},
		{"From 1234 Mon Sep 17\n" FILE_OF("a"), 1},
		{"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 1},
		{"diff --cc a\n", 1},
		{"diff --git x x\nold mode 100644\n", 1},
		{"diff --git x x\nindex 1..2 100644\n--- x\n+++ x\n", 3},
		{"diff --git i/x w/x\nindex 1..2 100644\n--- i/x\n+++ w/x\n", 3},
		{"diff --git a/x b/y\nold mode 100644\nnew mode 100755\n", 1},
		{"diff --git a/x b/x\nsurprise\n", 2},
		{HEAD("x") "new file mode 040000\n", 2},
		{HEAD("x") "new file mode 10075\n", 2},
		{HEAD("x") "index 1..2 1x0644\n", 2},
		{HEAD("x") SIDES("x") "@@ -1 +1\n-a\n+b\n", 4},
		{HEAD("x") SIDES("x") "@@ -1,x +1 @@\n", 4},
		{HEAD("x") SIDES("x") "@@ -1,999999999999 +1 @@\n", 4},
		{HEAD("x") "@@ -1 +1 @@\n-a\n+b\n", 2},
		{HEAD("x") SIDES("x") "@@ -1,2 +1,2 @@\n-a\n+b\n", 6},
		{HEAD("x") SIDES("x") "@@ -1 +1 @@\n-a\n-b\n+b\n", 6},
		{HEAD("x") SIDES("x") "@@ -1,2 +1,2 @@\n*a\n", 5},
		{HEAD("x") SIDES("x") "@@ -1 +1 @@\n-a\n+b\n more\n", 7},
		{HEAD("x") "--- a/x\n+++ b/y\n", 1},
		{HEAD("x") "--- a/y\n+++ b/y\n", 1},
		{HEAD("x") "--- a/x\n--- a/y\n", 3},
		{"diff --git a/o b/n\nrename from o\nrename to n\n--- a/o\n+++ b/m\n", 5},
		{"diff --git \"a/x\\9\" \"b/x\\9\"\n", 1},
		{"diff --git \"a/x\\000\" \"b/x\\000\"\n", 1},
		{"diff --git \"a/x \"b/x\n", 1},
		{HEAD("x\r"), 1},
		{"diff --git a/x b/x\r\nindex 1..2 100644\r\n", 2},
		{HEAD("x") "Binary files a/x and b/x are alike\n", 2},
		{HEAD("x") "GIT binary patch\nliteral 3\nthis is text\n", 4},
		{HEAD("x") "rename from \n", 2},
		{FILE_OF("x") "-- \n2.39.0\n", 9},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_stats s;
		struct error err = {0};

		if (review_diff_read(&arena, "d", str_of(rows[i].text), &s, &err) == 0)
			fail_msg("taken: %s", rows[i].text);
		assert_int_equal(err.code, ERR_INPUT);
		if (err.line != rows[i].line)
			fail_msg("line %u: %s: %s", err.line, err.text, rows[i].text);
		assert_int_equal(s.files, 0);
	}
}

#define BLANKS(name, lines) HEAD(name) "index 1..2 100644\n" SIDES(name) lines

TEST(only_blanks_at_the_ends_of_lines_are_blanks)
{
	static const struct {
		const char *text;
		bool only;
	} rows[] = {
		{BLANKS("a.c", "@@ -1 +1 @@\n-a b\n+  a b\t\n"), true},
		{BLANKS("a.c", "@@ -1 +1 @@\n-a\n+a\r\n"), true},
		{BLANKS("a.c", "@@ -1 +1,3 @@\n-a\n+\n+\n+a\n"), true},
		{BLANKS("a.c", "@@ -1,2 +1 @@\n-\n x\n"), true},
		{BLANKS("a.c", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"), true},
		{BLANKS("a.c", "@@ -1,2 +1,2 @@\n-a\n+ a\n-b\n+ b\n"), true},
		{BLANKS("a.c", "@@ -1 +1 @@\n-a b\n+a  b\n"), false},
		{BLANKS("a.c", "@@ -1 +1 @@\n-rm -rf /tmp\n+rm -rf / tmp\n"), false},
		{BLANKS("a.c", "@@ -1 +1 @@\n-a\n+b\n"), false},
		{BLANKS("a.c", "@@ -1,3 +1,3 @@\n-a\n x\n+a\n y\n"), false}, /* moved */
		{BLANKS("a.c", "@@ -1 +1 @@\n-a \\\n+a \\ \n"), false},      /* no longer goes on */
		{BLANKS("a.c", "@@ -1,2 +1,2 @@\n q = `\n-a\n+ a\n"), false}, /* within a text */
		{BLANKS("a.c", "@@ -1 +1 @@\n-a\n+a\xc2\xa0\n"), false},
		{BLANKS("a.c", "@@ -1 +1 @@\n-a\n+ a\n") FILE_OF("b.c"), false},
		{FILE_OF("b.c") BLANKS("a.c", "@@ -1 +1 @@\n-a\n+ a\n"), false},
		{BLANKS("a.c", "@@ -1 +1 @@\n-a\n+ a\n") HEAD("n") "new file mode 100644\n", false},
		{HEAD("x") "old mode 100644\nnew mode 100755\n", false},
		{HEAD("a.c") "new file mode 100755\n--- /dev/null\n+++ b/a.c\n@@ -0,0 +1 @@\n+\n",
			false},
		{HEAD("a.md") "new file mode 100644\n--- /dev/null\n+++ b/a.md\n"
			      "@@ -0,0 +1,2 @@\n+ \n+\t\n",
			false},
		{HEAD("a.c") "deleted file mode 100644\n--- a/a.c\n+++ /dev/null\n"
			     "@@ -1 +0,0 @@\n-\n",
			false},
		{HEAD("a.c") "old mode 100644\nnew mode 100755\n--- a/a.c\n+++ b/a.c\n"
			     "@@ -1 +1 @@\n-a\n+ a\n",
			false},
		{"diff --git a/a.c b/b.c\nrename from a.c\nrename to b.c\n--- a/a.c\n"
		 "+++ b/b.c\n@@ -1 +1 @@\n-a\n+ a\n",
			false},
		{"", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_stats s = taken(rows[i].text);

		if (s.whitespace_only != rows[i].only)
			fail_msg("row %zu: %s", i, rows[i].text);
	}
}

TEST(many_files_are_read)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct change_stats s;

	for (int i = 0; i < 5000; i++)
		buf_addf(&b,
			"diff --git a/f%d b/f%d\nindex 1..2 100644\n--- a/f%d\n+++ b/f%d\n"
			"@@ -1 +1 @@\n-a\n+b\n",
			i, i, i, i);
	s = taken(b.s);
	assert_int_equal(s.files, 5000);
	assert_string_equal(s.paths[4999], "f4999");
	assert_int_equal(s.added, 5000);
}

UNIT_GROUP(NULL, arena_end)
