#include "tests/lib/shell_cases.h"

TEST(lists_and_pipelines)
{
	static const struct drawn cases[] = {
		{"a | b|c", "0-7 pipeline\n"
			    "  0-1 command\n"
			    "    0-1 word 'a'\n"
			    "  4-5 command\n"
			    "    4-5 word 'b'\n"
			    "  6-7 command\n"
			    "    6-7 word 'c'\n"},
		{"a |& b", "0-6 pipeline\n"
			   "  0-1 command\n"
			   "    0-1 word 'a'\n"
			   "    2-4 redirection: 2 becomes a copy of 1\n"
			   "  5-6 command\n"
			   "    5-6 word 'b'\n"},
		{"(a) |& b 2>f |& c", "0-17 pipeline\n"
				      "  0-3 subshell\n"
				      "    1-2 command\n"
				      "      1-2 word 'a'\n"
				      "    4-6 redirection: 2 becomes a copy of 1\n"
				      "  7-12 command\n"
				      "    7-8 word 'b'\n"
				      "    9-12 redirection: 2 writes to 'f'\n"
				      "    13-15 redirection: 2 becomes a copy of 1\n"
				      "  16-17 command\n"
				      "    16-17 word 'c'\n"},
		{"a && b || c && d", "0-16 and\n"
				     "  0-11 or\n"
				     "    0-6 and\n"
				     "      0-1 command\n"
				     "        0-1 word 'a'\n"
				     "      5-6 command\n"
				     "        5-6 word 'b'\n"
				     "    10-11 command\n"
				     "      10-11 word 'c'\n"
				     "  15-16 command\n"
				     "    15-16 word 'd'\n"},
		{"a; b & c &", "0-10 list\n"
			       "  0-1 command\n"
			       "    0-1 word 'a'\n"
			       "  3-6 background\n"
			       "    3-4 command\n"
			       "      3-4 word 'b'\n"
			       "  7-10 background\n"
			       "    7-8 command\n"
			       "      7-8 word 'c'\n"},
		{"a &\nb\n\n c # d\n# e\n f", "0-20 list\n"
					      "  0-3 background\n"
					      "    0-1 command\n"
					      "      0-1 word 'a'\n"
					      "  4-5 command\n"
					      "    4-5 word 'b'\n"
					      "  8-9 command\n"
					      "    8-9 word 'c'\n"
					      "  19-20 command\n"
					      "    19-20 word 'f'\n"},
		{"a |\n # x\n b &&\n\n c", "0-18 and\n"
					   "  0-11 pipeline\n"
					   "    0-1 command\n"
					   "      0-1 word 'a'\n"
					   "    10-11 command\n"
					   "      10-11 word 'b'\n"
					   "  17-18 command\n"
					   "    17-18 word 'c'\n"},
		{"! a", "0-3 not\n"
			"  2-3 command\n"
			"    2-3 word 'a'\n"},
		{"! a | b && c", "0-12 and\n"
				 "  0-7 not\n"
				 "    2-7 pipeline\n"
				 "      2-3 command\n"
				 "        2-3 word 'a'\n"
				 "      6-7 command\n"
				 "        6-7 word 'b'\n"
				 "  11-12 command\n"
				 "    11-12 word 'c'\n"},
		{"a \\\n  && b \\\n  | c", "0-18 and\n"
					   "  0-1 command\n"
					   "    0-1 word 'a'\n"
					   "  9-18 pipeline\n"
					   "    9-10 command\n"
					   "      9-10 word 'b'\n"
					   "    17-18 command\n"
					   "      17-18 word 'c'\n"},
		{"a\\\n  b", "0-6 command\n"
			     "  0-1 word 'a'\n"
			     "  5-6 word 'b'\n"},
		{"!a ! \\! a!", "0-10 command\n"
				"  0-2 word '!a'\n"
				"  3-4 word '!'\n"
				"  5-7 word '!'\n"
				"  8-10 word 'a!'\n"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(time_takes_a_pipeline)
{
	static const struct drawn cases[] = {
		{"time a | b", "0-10 time\n"
			       "  5-10 pipeline\n"
			       "    5-6 command\n"
			       "      5-6 word 'a'\n"
			       "    9-10 command\n"
			       "      9-10 word 'b'\n"},
		{"time -p a", "0-9 time\n"
			      "  8-9 command\n"
			      "    8-9 word 'a'\n"},
		{"! time a", "0-8 not\n"
			     "  2-8 time\n"
			     "    7-8 command\n"
			     "      7-8 word 'a'\n"},
		{"time (a)", "0-8 time\n"
			     "  5-8 subshell\n"
			     "    6-7 command\n"
			     "      6-7 word 'a'\n"},
		{"time '-p'", "0-9 time\n"
			      "  5-9 command\n"
			      "    5-9 word '-p'\n"},
		{"a | 'time' b", "0-12 pipeline\n"
				 "  0-1 command\n"
				 "    0-1 word 'a'\n"
				 "  4-12 command\n"
				 "    4-10 word 'time'\n"
				 "    11-12 word 'b'\n"},
		{"env time a", "0-10 command\n"
			       "  0-3 word 'env'\n"
			       "  4-8 word 'time'\n"
			       "  9-10 word 'a'\n"},
		{"time A=b c", "0-10 time\n"
			       "  5-10 command\n"
			       "    5-8 assignment A = 'b'\n"
			       "    9-10 word 'c'\n"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(compound_commands)
{
	static const struct drawn cases[] = {
		{"(a; b)", "0-6 subshell\n"
			   "  1-5 list\n"
			   "    1-2 command\n"
			   "      1-2 word 'a'\n"
			   "    4-5 command\n"
			   "      4-5 word 'b'\n"},
		{"( (a) )", "0-7 subshell\n"
			    "  2-5 subshell\n"
			    "    3-4 command\n"
			    "      3-4 word 'a'\n"},
		{"{ a; b; }", "0-9 group\n"
			      "  2-6 list\n"
			      "    2-3 command\n"
			      "      2-3 word 'a'\n"
			      "    5-6 command\n"
			      "      5-6 word 'b'\n"},
		{"{ a & }", "0-7 group\n"
			    "  2-5 background\n"
			    "    2-3 command\n"
			    "      2-3 word 'a'\n"},
		{"{ (a) }", "0-7 group\n"
			    "  2-5 subshell\n"
			    "    3-4 command\n"
			    "      3-4 word 'a'\n"},
		{"{(a)}", "0-5 group\n"
			  "  1-4 subshell\n"
			  "    2-3 command\n"
			  "      2-3 word 'a'\n"},
		{"{ a\n}", "0-5 group\n"
			   "  2-3 command\n"
			   "    2-3 word 'a'\n"},
		{"{ a; } >f 2>&1", "0-14 group\n"
				   "  2-3 command\n"
				   "    2-3 word 'a'\n"
				   "  7-9 redirection: 1 writes to 'f'\n"
				   "  10-14 redirection: 2 becomes a copy of 1\n"},
		{"if a; then b; fi", "0-16 if\n"
				     "  3-4 command\n"
				     "    3-4 word 'a'\n"
				     "  11-12 command\n"
				     "    11-12 word 'b'\n"},
		{"if a\nthen b\nelif c; d\nthen e\nelse f\nfi <g",
			"0-41 if\n"
			"  3-4 command\n"
			"    3-4 word 'a'\n"
			"  10-11 command\n"
			"    10-11 word 'b'\n"
			"  17-21 list\n"
			"    17-18 command\n"
			"      17-18 word 'c'\n"
			"    20-21 command\n"
			"      20-21 word 'd'\n"
			"  27-28 command\n"
			"    27-28 word 'e'\n"
			"  34-35 command\n"
			"    34-35 word 'f'\n"
			"  39-41 redirection: 0 reads from 'g'\n"},
		{"if (a) then b; fi", "0-17 if\n"
				      "  3-6 subshell\n"
				      "    4-5 command\n"
				      "      4-5 word 'a'\n"
				      "  12-13 command\n"
				      "    12-13 word 'b'\n"},
		{"while a; do b; done <f", "0-22 while\n"
					   "  6-7 command\n"
					   "    6-7 word 'a'\n"
					   "  12-13 command\n"
					   "    12-13 word 'b'\n"
					   "  20-22 redirection: 0 reads from 'f'\n"},
		{"until a\ndo b; done", "0-18 until\n"
					"  6-7 command\n"
					"    6-7 word 'a'\n"
					"  11-12 command\n"
					"    11-12 word 'b'\n"},
		{"for x in a 'b c' *.c; do d $x; done", "0-35 for x\n"
							"  9-10 word 'a'\n"
							"  11-16 word 'b c'\n"
							"  17-20 word *'.c' (pattern)\n"
							"  25-29 command\n"
							"    25-26 word 'd'\n"
							"    27-29 word ${x}\n"},
		{"for x in; do a; done", "0-20 for x\n"
					 "  13-14 command\n"
					 "    13-14 word 'a'\n"},
		{"for x in do done; do a; done", "0-28 for x\n"
						 "  9-11 word 'do'\n"
						 "  12-16 word 'done'\n"
						 "  21-22 command\n"
						 "    21-22 word 'a'\n"},
		{"for _a1 in b # c\ndo d; done", "0-27 for _a1\n"
						 "  11-12 word 'b'\n"
						 "  20-21 command\n"
						 "    20-21 word 'd'\n"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(arms_of_case)
{
	static const struct drawn cases[] = {
		{"case a in esac", "0-14 case\n"
				   "  5-6 word 'a'\n"},
		{"case $a in b) c;; esac", "0-22 case\n"
					   "  5-7 word ${a}\n"
					   "  11-17 arm\n"
					   "    11-12 pattern 'b'\n"
					   "    14-15 command\n"
					   "      14-15 word 'c'\n"},
		{"case 'a' in (b|\"c\"|[d-f]*) g; h;; *) ;; esac",
			"0-44 case\n"
			"  5-8 word 'a'\n"
			"  12-33 arm\n"
			"    13-14 pattern 'b'\n"
			"    15-18 pattern 'c'\n"
			"    19-25 pattern [d-f]* (pattern)\n"
			"    27-31 list\n"
			"      27-28 command\n"
			"        27-28 word 'g'\n"
			"      30-31 command\n"
			"        30-31 word 'h'\n"
			"  34-39 arm\n"
			"    34-35 pattern * (pattern)\n"},
		{"case a\nin\n# x\nb)\nc\n;;\nd) e\nesac", "0-31 case\n"
							   "  5-6 word 'a'\n"
							   "  14-21 arm\n"
							   "    14-15 pattern 'b'\n"
							   "    17-18 command\n"
							   "      17-18 word 'c'\n"
							   "  22-26 arm\n"
							   "    22-23 pattern 'd'\n"
							   "    25-26 command\n"
							   "      25-26 word 'e'\n"},
		{"case a in b) esac", "0-17 case\n"
				      "  5-6 word 'a'\n"
				      "  10-12 arm\n"
				      "    10-11 pattern 'b'\n"},
		{"case a in if) b;; in) c;; done) d;; esac", "0-40 case\n"
							     "  5-6 word 'a'\n"
							     "  10-17 arm\n"
							     "    10-12 pattern 'if'\n"
							     "    14-15 command\n"
							     "      14-15 word 'b'\n"
							     "  18-25 arm\n"
							     "    18-20 pattern 'in'\n"
							     "    22-23 command\n"
							     "      22-23 word 'c'\n"
							     "  26-35 arm\n"
							     "    26-30 pattern 'done'\n"
							     "    32-33 command\n"
							     "      32-33 word 'd'\n"},
		{"case * in a) b & esac >f", "0-24 case\n"
					     "  5-6 word '*'\n"
					     "  10-16 arm\n"
					     "    10-11 pattern 'a'\n"
					     "    13-16 background\n"
					     "      13-14 command\n"
					     "        13-14 word 'b'\n"
					     "  22-24 redirection: 1 writes to 'f'\n"},
		{"case a in b) (c)esac", "0-20 case\n"
					 "  5-6 word 'a'\n"
					 "  10-16 arm\n"
					 "    10-11 pattern 'b'\n"
					 "    13-16 subshell\n"
					 "      14-15 command\n"
					 "        14-15 word 'c'\n"},
	};

	assert_drawn(cases, COUNT(cases));
}

TEST(reserved_words_are_words_where_no_command_begins)
{
	static const struct drawn cases[] = {
		{"a if then fi } { ! time in case [[", "0-34 command\n"
						       "  0-1 word 'a'\n"
						       "  2-4 word 'if'\n"
						       "  5-9 word 'then'\n"
						       "  10-12 word 'fi'\n"
						       "  13-14 word '}'\n"
						       "  15-16 word '{'\n"
						       "  17-18 word '!'\n"
						       "  19-23 word 'time'\n"
						       "  24-26 word 'in'\n"
						       "  27-31 word 'case'\n"
						       "  32-34 word '[['\n"},
		{"a; \"if\" b; 'then'", "0-17 list\n"
					"  0-1 command\n"
					"    0-1 word 'a'\n"
					"  3-9 command\n"
					"    3-7 word 'if'\n"
					"    8-9 word 'b'\n"
					"  11-17 command\n"
					"    11-17 word 'then'\n"},
		{"i\\f a", "0-5 command\n"
			   "  0-3 word 'if'\n"
			   "  4-5 word 'a'\n"},
		{"echo done; echo fi", "0-18 list\n"
				       "  0-9 command\n"
				       "    0-4 word 'echo'\n"
				       "    5-9 word 'done'\n"
				       "  11-18 command\n"
				       "    11-15 word 'echo'\n"
				       "    16-18 word 'fi'\n"},
		{"iff a; {a b; }a c; a}", "0-21 list\n"
					  "  0-5 command\n"
					  "    0-3 word 'iff'\n"
					  "    4-5 word 'a'\n"
					  "  7-11 command\n"
					  "    7-9 word '{a'\n"
					  "    10-11 word 'b'\n"
					  "  13-17 command\n"
					  "    13-15 word '}a'\n"
					  "    16-17 word 'c'\n"
					  "  19-21 command\n"
					  "    19-21 word 'a}'\n"},
	};

	assert_drawn(cases, COUNT(cases));
}

UNIT_GROUP(NULL, arena_end)
