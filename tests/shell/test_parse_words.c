#include "tests/lib/shell_cases.h"

TEST(a_command_is_its_words)
{
	static const struct drawn cases[] = {
		{"git  status\t-s",
			"0-14 command (0-3 word 'git', 5-11 word 'status', 12-14 word '-s')"},
		{"a;", "0-1 command (0-1 word 'a')"},
		{" a ", "1-2 command (1-2 word 'a')"},
		{"a\n\n", "0-1 command (0-1 word 'a')"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(quotes_are_part_of_their_word)
{
	static const struct drawn cases[] = {
		{"a 'b c'\"d e\"\\ f''", "0-17 command (0-1 word 'a', 2-17 word 'b cd e f')"},
		{"a '' \"\" \"\\$\\`\\\"\\\\\\a\\n\"", "0-22 command (0-1 word 'a', 2-4 word '', "
						       "5-7 word '', 8-22 word '$`\"\\\\a\\n')"},
		{"a \"b\\\nc\"", "0-8 command (0-1 word 'a', 2-8 word 'bc')"},
		{"a\\\303\251b \\#c d#e",
			"0-13 command (0-5 word 'a\303\251b', 6-9 word '#c', 10-13 word 'd#e')"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(patterns_are_marked_and_quoted_ones_are_none)
{
	static const struct drawn cases[] = {
		{"ls *.c a? [a-z] '*' \\? [ ] a] [a \"[\"a] [!\"]\"] {} a[b'c'd]",
			"0-57 command (0-2 word 'ls', 3-6 word *'.c' (pattern), 7-9 word 'a'? "
			"(pattern), 10-15 word [a-z] (pattern), 16-19 word '*', 20-22 word '?', "
			"23-24 word '[', 25-26 word ']', 27-29 word 'a]', 30-32 word '[a', 33-38 "
			"word '[a]', 39-45 word [!']'] (pattern), 46-48 word '{}', 49-57 word "
			"'a'[b'c'd] (pattern))"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(braces_that_bash_leaves_alone_are_text)
{
	static const struct drawn cases[] = {
		{"a {} HEAD@{1} x^{tree} {a} @{u}..@{1} HEAD@{1}..HEAD@{0} a,b {a,b } {'a,b'} "
		 "{a\\,b} ..{a}",
			"0-88 command (0-1 word 'a', 2-4 word '{}', 5-13 word 'HEAD@{1}', 14-22 "
			"word 'x^{tree}', 23-26 word '{a}', 27-37 word '@{u}..@{1}', 38-56 word "
			"'HEAD@{1}..HEAD@{0}', 57-60 word 'a,b', 61-65 word '{a,b', 66-67 word "
			"'}', 68-75 word '{a,b}', 76-82 word '{a,b}', 83-88 word '..{a}')"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(tildes_inside_words_are_text)
{
	static const struct drawn cases[] = {
		{"ls backup~ HEAD~2 a:~ 'x'~ \\~ \"~\" a\\=~ a=\\~ a~b=c",
			"0-49 command (0-2 word 'ls', 3-10 word 'backup~', 11-17 word 'HEAD~2', "
			"18-21 word 'a:~', 22-26 word 'x~', 27-29 word '~', 30-33 word '~', 34-38 "
			"word 'a=~', 39-43 word 'a=~', 44-49 word 'a~b=c')"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(a_lone_dollar_is_text)
{
	static const struct drawn cases[] = {
		{"a $ a$ \"$\" \"a$ b\" $/ \"^a$\\|b$\" $. x$=y",
			"0-38 command (0-1 word 'a', 2-3 word '$', 4-6 word 'a$', 7-10 word '$', "
			"11-17 word 'a$ b', 18-20 word '$/', 21-30 word '^a$\\|b$', 31-33 word "
			"'$.', 34-38 word 'x$=y')"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(variables_and_output_are_parts_of_words)
{
	static const struct drawn cases[] = {
		{"a $b \"$c\"d ${e}f \"${g}\"",
			"0-23 command (0-1 word 'a', 2-4 word ${b}, 5-10 word \"${c}\"'d', 11-16 "
			"word ${e}'f', 17-23 word \"${g}\")"},
		{"a $(b \"$(c)\") \"$(d | e)\"",
			"0-24 command (0-1 word 'a', 2-13 word $( 'b' \"$( 'c' )\" ) (2-13 output "
			"of (4-12 command (4-5 word 'b', 6-12 word \"$( 'c' )\" (7-11 output of "
			"(9-10 command (9-10 word 'c')))))), 14-24 word \"$( 'd' | 'e' )\" (15-23 "
			"output of (17-22 pipeline (17-18 command (17-18 word 'd'), 21-22 command "
			"(21-22 word 'e')))))"},
		{"a $? \"${?}\"", "0-11 command (0-1 word 'a', 2-4 word ${?}, 5-11 word \"${?}\")"},
		{"a=$b c=\"$d\" e", "0-13 command (0-4 assignment a = ${b}, 5-11 assignment c = "
				    "\"${d}\", 12-13 word 'e')"},
		{"a $b* $b$c", "0-10 command (0-1 word 'a', 2-5 word ${b}* (pattern), 6-10 word "
			       "${b}${c})"},
		{"a $(b # c )\n)", "0-13 command (0-1 word 'a', 2-13 word $( 'b' ) (2-13 output of "
				   "(4-5 command (4-5 word 'b'))))"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(assignments_come_before_the_name_only)
{
	static const struct drawn cases[] = {
		{"A=1 B='2 3' C= d E=4",
			"0-20 command (0-3 assignment A = '1', 4-11 assignment B = '2 3', 12-14 "
			"assignment C = , 15-16 word 'd', 17-20 word 'E=4')"},
		{"A=b*", "0-4 command (0-4 assignment A = 'b*')"},
		{"A=1", "0-3 command (0-3 assignment A = '1')"},
		{"a\\=b c", "0-6 command (0-4 word 'a=b', 5-6 word 'c')"},
		{"A= >f b", "0-7 command (0-2 assignment A = , 6-7 word 'b', 3-5 redirection: 1 "
			    "writes to 'f')"},
		{"_a9=b:c", "0-7 command (0-7 assignment _a9 = 'b:c')"},
	};

	assert_drawn(cases, COUNT(cases));
}

/* KIND FROM-TO 'TEXT', with `q` where it is quoted; a blank between two. */
static void assert_parts(const struct word *w, const char *expected)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (size_t i = 0; i < w->n; i++) {
		const struct part *p = &w->parts[i];

		buf_addf(&out, "%s%c%s %zu-%zu '%.*s'", i ? " " : "", "tvo"[p->kind],
			p -> quoted ? "q" : "", p->at.from, p->at.to, (int)p->text.n, p->text.p);
	}
	assert_string_equal(out.s ? out.s : "", expected);
}

TEST(parts_know_their_quotes_and_bytes)
{
	static const struct {
		const char *text, *parts;
		bool quoted, dynamic, pattern;
	} cases[] = {
		{"ab", "t 0-2 'ab'", false, false, false},
		{"'ab'", "tq 1-3 'ab'", true, false, false},
		{"a'b'\"c\"\\de", "t 0-1 'a' tq 2-9 'bcd' t 9-10 'e'", true, false, false},
		{"''", "", true, false, false},
		{"''\"\"a", "t 4-5 'a'", true, false, false},
		{"\"$a\"", "vq 1-3 'a'", true, true, false},
		{"\"a $b c\"", "tq 1-3 'a ' vq 3-5 'b' tq 5-7 ' c'", true, true, false},
		{"${a}$b$?", "v 0-4 'a' v 4-6 'b' v 6-8 '?'", false, true, false},
		{"\"a\\\nb\\$c\\d\"", "tq 1-10 'ab$c\\d'", true, false, false},
		{"*'*'", "t 0-1 '*' tq 2-3 '*'", true, false, true},
		{"[a'b'", "t 0-2 '[a' tq 3-4 'b'", true, false, false},
		{"[a'b']", "t 0-2 '[a' tq 3-4 'b' t 5-6 ']'", true, false, true},
		{"a$(b)\"$(c)\"", "t 0-1 'a' o 1-5 '' oq 6-10 ''", true, true, false},
		{"\\\303\251x", "tq 0-3 '\303\251' t 3-4 'x'", true, false, false},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct node *tree = shell_tree(str_of(cases[i].text));

		assert_int_equal(tree->n_words, 1);
		assert_parts(&tree->words[0], cases[i].parts);
		assert_int_equal(tree->words[0].quoted, cases[i].quoted);
		assert_int_equal(tree->words[0].dynamic, cases[i].dynamic);
		assert_int_equal(tree->words[0].pattern, cases[i].pattern);
	}
}

TEST(no_pattern_is_expanded_in_values)
{
	const struct node *tree = shell_tree(STR("a=* b <<<[c] >d* <<'e*'\ne*\n"));

	assert_false(tree->assignments[0].value.pattern);
	assert_false(tree->redirects[0].word.pattern);
	assert_true(tree->redirects[1].word.pattern);
	assert_false(tree->redirects[2].word.pattern);
	tree = shell_tree(STR("case a* in b*) ;; esac"));
	assert_false(tree->words[0].pattern);
	assert_true(tree->arms[0].patterns[0].pattern);
}

UNIT_GROUP(NULL, arena_end)
