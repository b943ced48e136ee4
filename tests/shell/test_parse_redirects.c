#include "tests/lib/shell_cases.h"

TEST(redirections)
{
	static const struct drawn cases[] = {
		{"a <b >c >>d >|e 2>f 1>g 0<h",
			"0-27 command (0-1 word 'a', 2-4 redirection: 0 reads from 'b', 5-7 "
			"redirection: 1 writes to 'c', 8-11 redirection: 1 appends to 'd', 12-15 "
			"redirection: 1 writes to 'e', 16-19 redirection: 2 writes to 'f', 20-23 "
			"redirection: 1 writes to 'g', 24-27 redirection: 0 reads from 'h')"},
		{"a 2>&1 1>&2 >&2 <&0 2>&- <&- >& 1 2>&1>f",
			"0-40 command (0-1 word 'a', 2-6 redirection: 2 becomes a copy of 1, 7-11 "
			"redirection: 1 becomes a copy of 2, 12-15 redirection: 1 becomes a copy "
			"of 2, 16-19 redirection: 0 becomes a copy of 0, 20-24 redirection: 2 is "
			"closed, 25-28 redirection: 0 is closed, 29-33 redirection: 1 becomes a "
			"copy of 1, 34-38 redirection: 2 becomes a copy of 1, 38-40 redirection: 1 "
			"writes to 'f')"},
		{"a &>b &>>c", "0-10 command (0-1 word 'a', 2-5 redirection: 1 and 2 write to 'b', "
			       "6-10 redirection: 1 and 2 append to 'c')"},
		{">a", "0-2 command (0-2 redirection: 1 writes to 'a')"},
		{"a <<<b <<<'c d' <<< \"$e\"",
			"0-24 command (0-1 word 'a', 2-6 redirection: 0 reads the text 'b', 7-15 "
			"redirection: 0 reads the text 'c d', 16-24 redirection: 0 reads the text "
			"\"${e}\")"},
		{"2>f a 2 >g 2a>h \"2\">i",
			"0-21 command (4-5 word 'a', 6-7 word '2', 11-13 word '2a', 16-19 word "
			"'2', 0-3 redirection: 2 writes to 'f', 8-10 redirection: 1 writes to 'g', "
			"13-15 redirection: 1 writes to 'h', 19-21 redirection: 1 writes to 'i')"},
		{"a > \\\n f", "0-8 command (0-1 word 'a', 2-8 redirection: 1 writes to 'f')"},
		{"(a)>b 2>&1", "0-10 subshell (1-2 command (1-2 word 'a'), 3-5 redirection: 1 "
			       "writes to 'b', 6-10 redirection: 2 becomes a copy of 1)"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(here_documents_are_read_behind_their_lines)
{
	static const struct drawn cases[] = {
		{"cat <<E\nbody\nE", "0-7 command (0-3 word 'cat', 4-7 redirection: 0 reads the "
				     "text of bytes 8-14)"},
		{"cat <<'E' >f && b\n$x `y` \\z\nE\nc",
			"0-31 list (0-17 and (0-12 command (0-3 word 'cat', 4-9 redirection: 0 "
			"reads the text of bytes 18-30, 10-12 redirection: 1 writes to 'f'), 16-17 "
			"command (16-17 word 'b')), 30-31 command (30-31 word 'c'))"},
		{"cat <<-E\n\t\tx\n\t y\n\tE\n", "0-8 command (0-3 word 'cat', 4-8 redirection: 0 "
						 "reads the text of bytes 9-20)"},
		{"a <<E <<'F F' | b <<\"G\"\n1\nE\n2\nF F\nG\n",
			"0-23 pipeline (0-13 command (0-1 word 'a', 2-5 redirection: 0 reads the "
			"text of bytes 24-28, 6-13 redirection: 0 reads the text of bytes 28-34), "
			"16-23 command (16-17 word 'b', 18-23 redirection: 0 reads the text of "
			"bytes 34-36))"},
		{"a <<\\EOF \\\n | b\nx\nEOF\n",
			"0-15 pipeline (0-8 command (0-1 word 'a', 2-8 redirection: 0 reads the "
			"text of bytes 16-22), 14-15 command (14-15 word 'b'))"},
		{"a <<E\nE\n", "0-5 command (0-1 word 'a', 2-5 redirection: 0 reads the text of "
			       "bytes 6-8)"},
		{"a <<E;b\n E\nE \nE\n",
			"0-7 list (0-5 command (0-1 word 'a', 2-5 redirection: 0 reads the text of "
			"bytes 8-16), 6-7 command (6-7 word 'b'))"},
		{"(a <<E)\nb\nE\n", "0-7 subshell (1-6 command (1-2 word 'a', 3-6 redirection: 0 "
				    "reads the text of bytes 8-12))"},
		{"a \"$(b <<'E'\nx\nE\n)\"",
			"0-19 command (0-1 word 'a', 2-19 word \"$( 'b' "
			"0<<'EOF'\\x0ax\\x0aEOF\\x0a)\" (3-18 output of (5-12 command (5-6 word "
			"'b', 7-12 redirection: 0 reads the text of bytes 13-17))))"},
		{"a <<E # c\nx\nE\n", "0-5 command (0-1 word 'a', 2-5 redirection: 0 reads the "
				      "text of bytes 10-14)"},
	};

	assert_drawn(cases, COUNT(cases));
}

static const struct redirect *redirect_of(const char *text, size_t i)
{
	const struct node *tree = shell_tree(str_of(text));

	while (tree->kind != NODE_COMMAND)
		tree = tree->children[0];
	assert_true(i < tree->n_redirects);
	return &tree->redirects[i];
}

TEST(documents_hold_what_is_read)
{
	assert_str(redirect_of("a <<E\nb\nc\nE\n", 0)->text, "b\nc\n");
	assert_str(redirect_of("a <<E\nE", 0)->text, "");
	assert_str(redirect_of("a <<'E'\n$x `y` \\\nE \n E\nE", 0)->text, "$x `y` \\\nE \n E\n");
	assert_str(redirect_of("a <<-E\n\t\tx\n\t y\t\n\n\tE", 0)->text, "x\n y\t\n\n");
	assert_str(redirect_of("a <<-'E' <<F\n\tb\nE\n\tc\nF\n", 1)->text, "\tc\n");
	assert_str(redirect_of("a <<E && b <<F\n1\nE\n2\nF\n", 0)->text, "1\n");
	assert_str(redirect_of("a <<\\E\\ F | b\n1\nE F\n", 0)->text, "1\n");
}

TEST(redirections_know_how_they_were_written)
{
	const struct redirect *r = redirect_of("a >|b", 0);

	assert_int_equal(r->kind, REDIRECT_WRITE);
	assert_true(r->clobber && !r->both_ways);
	r = redirect_of("a &>b", 0);
	assert_true(r->both_ways && r->kind == REDIRECT_BOTH && r->fd == 1);
	r = redirect_of("a 2>b |& c", 1);
	assert_true(r->both_ways && r->kind == REDIRECT_DUP && r->fd == 2 && r->other == 1);
	r = redirect_of("a <<E\nE", 0);
	assert_true(r->document && r->kind == REDIRECT_TEXT && r->fd == 0);
	r = redirect_of("a <<<b", 0);
	assert_true(!r->document && r->kind == REDIRECT_TEXT);
}

UNIT_GROUP(NULL, arena_end)
