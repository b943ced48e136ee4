#include "tests/lib/shell_cases.h"
#include "tests/lib/shell_tree.h"

TEST(a_drawing_has_a_line_for_each_node)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	shell_draw(&out, shell_tree(STR("{ a b; } 2>f | c")));
	assert_string_equal(out.s, "0-16 pipeline\n"
				   "  0-12 group\n"
				   "    2-5 command\n"
				   "      2-3 word 'a'\n"
				   "      4-5 word 'b'\n"
				   "    9-12 redirection: 2 writes to 'f'\n"
				   "  15-16 command\n"
				   "    15-16 word 'c'\n");
}

TEST(lists_and_pipelines)
{
	static const struct drawn cases[] = {
		{"a | b|c", "0-7 pipeline (0-1 command (0-1 word 'a'), 4-5 command (4-5 word 'b'), "
			    "6-7 command (6-7 word 'c'))"},
		{"a |& b", "0-6 pipeline (0-1 command (0-1 word 'a', 2-4 redirection: 2 becomes a "
			   "copy of 1), 5-6 command (5-6 word 'b'))"},
		{"(a) |& b 2>f |& c",
			"0-17 pipeline (0-3 subshell (1-2 command (1-2 word 'a'), 4-6 redirection: "
			"2 becomes a copy of 1), 7-12 command (7-8 word 'b', 9-12 redirection: 2 "
			"writes to 'f', 13-15 redirection: 2 becomes a copy of 1), 16-17 command "
			"(16-17 word 'c'))"},
		{"a && b || c && d", "0-16 and (0-11 or (0-6 and (0-1 command (0-1 word 'a'), 5-6 "
				     "command (5-6 word 'b')), 10-11 command (10-11 word 'c')), "
				     "15-16 command (15-16 word 'd'))"},
		{"a; b & c &", "0-10 list (0-1 command (0-1 word 'a'), 3-6 background (3-4 command "
			       "(3-4 word 'b')), 7-10 background (7-8 command (7-8 word 'c')))"},
		{"a &\nb\n\n c # d\n# e\n f",
			"0-20 list (0-3 background (0-1 command (0-1 word 'a')), 4-5 command (4-5 "
			"word 'b'), 8-9 command (8-9 word 'c'), 19-20 command (19-20 word 'f'))"},
		{"a |\n # x\n b &&\n\n c",
			"0-18 and (0-11 pipeline (0-1 command (0-1 word 'a'), 10-11 command (10-11 "
			"word 'b')), 17-18 command (17-18 word 'c'))"},
		{"! a", "0-3 not (2-3 command (2-3 word 'a'))"},
		{"! a | b && c", "0-12 and (0-7 not (2-7 pipeline (2-3 command (2-3 word 'a'), 6-7 "
				 "command (6-7 word 'b'))), 11-12 command (11-12 word 'c'))"},
		{"a \\\n  && b \\\n  | c",
			"0-18 and (0-1 command (0-1 word 'a'), 9-18 pipeline (9-10 command (9-10 "
			"word 'b'), 17-18 command (17-18 word 'c')))"},
		{"a\\\n  b", "0-6 command (0-1 word 'a', 5-6 word 'b')"},
		{"!a ! \\! a!",
			"0-10 command (0-2 word '!a', 3-4 word '!', 5-7 word '!', 8-10 word 'a!')"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(time_takes_a_pipeline)
{
	static const struct drawn cases[] = {
		{"time a | b", "0-10 time (5-10 pipeline (5-6 command (5-6 word 'a'), 9-10 command "
			       "(9-10 word 'b')))"},
		{"time -p a", "0-9 time (8-9 command (8-9 word 'a'))"},
		{"! time a", "0-8 not (2-8 time (7-8 command (7-8 word 'a')))"},
		{"time (a)", "0-8 time (5-8 subshell (6-7 command (6-7 word 'a')))"},
		{"time '-p'", "0-9 time (5-9 command (5-9 word '-p'))"},
		{"a | 'time' b", "0-12 pipeline (0-1 command (0-1 word 'a'), 4-12 command (4-10 "
				 "word 'time', 11-12 word 'b'))"},
		{"env time a", "0-10 command (0-3 word 'env', 4-8 word 'time', 9-10 word 'a')"},
		{"time A=b c", "0-10 time (5-10 command (5-8 assignment A = 'b', 9-10 word 'c'))"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(compound_commands)
{
	static const struct drawn cases[] = {
		{"(a; b)", "0-6 subshell (1-5 list (1-2 command (1-2 word 'a'), 4-5 command (4-5 "
			   "word 'b')))"},
		{"( (a) )", "0-7 subshell (2-5 subshell (3-4 command (3-4 word 'a')))"},
		{"{ a; b; }", "0-9 group (2-6 list (2-3 command (2-3 word 'a'), 5-6 command (5-6 "
			      "word 'b')))"},
		{"{ a & }", "0-7 group (2-5 background (2-3 command (2-3 word 'a')))"},
		{"{ (a) }", "0-7 group (2-5 subshell (3-4 command (3-4 word 'a')))"},
		{"{(a)}", "0-5 group (1-4 subshell (2-3 command (2-3 word 'a')))"},
		{"{ a\n}", "0-5 group (2-3 command (2-3 word 'a'))"},
		{"{ a; } >f 2>&1", "0-14 group (2-3 command (2-3 word 'a'), 7-9 redirection: 1 "
				   "writes to 'f', 10-14 redirection: 2 becomes a copy of 1)"},
		{"if a; then b; fi",
			"0-16 if (3-4 command (3-4 word 'a'), 11-12 command (11-12 word 'b'))"},
		{"if a\nthen b\nelif c; d\nthen e\nelse f\nfi <g",
			"0-41 if (3-4 command (3-4 word 'a'), 10-11 command (10-11 word 'b'), "
			"17-21 list (17-18 command (17-18 word 'c'), 20-21 command (20-21 word "
			"'d')), 27-28 command (27-28 word 'e'), 34-35 command (34-35 word 'f'), "
			"39-41 redirection: 0 reads from 'g')"},
		{"if (a) then b; fi", "0-17 if (3-6 subshell (4-5 command (4-5 word 'a')), 12-13 "
				      "command (12-13 word 'b'))"},
		{"while a; do b; done <f",
			"0-22 while (6-7 command (6-7 word 'a'), 12-13 command (12-13 word 'b'), "
			"20-22 redirection: 0 reads from 'f')"},
		{"until a\ndo b; done",
			"0-18 until (6-7 command (6-7 word 'a'), 11-12 command (11-12 word 'b'))"},
		{"for x in a 'b c' *.c; do d $x; done",
			"0-35 for x (9-10 word 'a', 11-16 word 'b c', 17-20 word *'.c' (pattern), "
			"25-29 command (25-26 word 'd', 27-29 word ${x}))"},
		{"for x in; do a; done", "0-20 for x (13-14 command (13-14 word 'a'))"},
		{"for x in do done; do a; done", "0-28 for x (9-11 word 'do', 12-16 word 'done', "
						 "21-22 command (21-22 word 'a'))"},
		{"for _a1 in b # c\ndo d; done",
			"0-27 for _a1 (11-12 word 'b', 20-21 command (20-21 word 'd'))"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(arms_of_case)
{
	static const struct drawn cases[] = {
		{"case a in esac", "0-14 case (5-6 word 'a')"},
		{"case $a in b) c;; esac", "0-22 case (5-7 word ${a}, 11-17 arm (11-12 pattern "
					   "'b', 14-15 command (14-15 word 'c')))"},
		{"case 'a' in (b|\"c\"|[d-f]*) g; h;; *) ;; esac",
			"0-44 case (5-8 word 'a', 12-33 arm (13-14 pattern 'b', 15-18 pattern 'c', "
			"19-25 pattern [d-f]* (pattern), 27-31 list (27-28 command (27-28 word "
			"'g'), 30-31 command (30-31 word 'h'))), 34-39 arm (34-35 pattern * "
			"(pattern)))"},
		{"case a\nin\n# x\nb)\nc\n;;\nd) e\nesac",
			"0-31 case (5-6 word 'a', 14-21 arm (14-15 pattern 'b', 17-18 command "
			"(17-18 word 'c')), 22-26 arm (22-23 pattern 'd', 25-26 command (25-26 "
			"word 'e')))"},
		{"case a in b) esac", "0-17 case (5-6 word 'a', 10-12 arm (10-11 pattern 'b'))"},
		{"case a in if) b;; in) c;; done) d;; esac",
			"0-40 case (5-6 word 'a', 10-17 arm (10-12 pattern 'if', 14-15 command "
			"(14-15 word 'b')), 18-25 arm (18-20 pattern 'in', 22-23 command (22-23 "
			"word 'c')), 26-35 arm (26-30 pattern 'done', 32-33 command (32-33 word "
			"'d')))"},
		{"case * in a) b & esac >f",
			"0-24 case (5-6 word '*', 10-16 arm (10-11 pattern 'a', 13-16 background "
			"(13-14 command (13-14 word 'b'))), 22-24 redirection: 1 writes to 'f')"},
		{"case a in b) (c)esac", "0-20 case (5-6 word 'a', 10-16 arm (10-11 pattern 'b', "
					 "13-16 subshell (14-15 command (14-15 word 'c'))))"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(reserved_words_are_words_where_no_command_begins)
{
	static const struct drawn cases[] = {
		{"a if then fi } { ! time in case [[",
			"0-34 command (0-1 word 'a', 2-4 word 'if', 5-9 word 'then', 10-12 word "
			"'fi', 13-14 word '}', 15-16 word '{', 17-18 word '!', 19-23 word 'time', "
			"24-26 word 'in', 27-31 word 'case', 32-34 word '[[')"},
		{"a; \"if\" b; 'then'",
			"0-17 list (0-1 command (0-1 word 'a'), 3-9 command (3-7 word 'if', 8-9 "
			"word 'b'), 11-17 command (11-17 word 'then'))"},
		{"i\\f a", "0-5 command (0-3 word 'if', 4-5 word 'a')"},
		{"echo done; echo fi", "0-18 list (0-9 command (0-4 word 'echo', 5-9 word 'done'), "
				       "11-18 command (11-15 word 'echo', 16-18 word 'fi'))"},
		{"iff a; {a b; }a c; a}",
			"0-21 list (0-5 command (0-3 word 'iff', 4-5 word 'a'), 7-11 command (7-9 "
			"word '{a', 10-11 word 'b'), 13-17 command (13-15 word '}a', 16-17 word "
			"'c'), 19-21 command (19-21 word 'a}'))"},
	};

	assert_drawn(cases, COUNT(cases));
}

UNIT_GROUP(NULL, arena_end)
