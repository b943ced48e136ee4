/* What the parser finds, and what it refuses where. */
#include "tests/lib/scratch.h"
#include "tests/lib/shell_cases.h"

static void assert_result(struct str text, const char *wanted)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct verdict v = {0};
	struct command *commands;

	if (shell_parse(&arena, text, &commands, &v) < 0) {
		assert_null(commands);
		assert_true(v.denied && v.reason[0] && v.at.from <= v.at.to && v.at.to <= text.n);
		buf_addf(&out, "%s %zu-%zu", rule_id(v.rule), v.at.from, v.at.to);
	} else {
		shell_draw(&out, commands);
	}
	if (strcmp(out.s, wanted) != 0)
		fail_msg("'%.*s': %s", (int)text.n, text.p, out.s);
}

struct row {
	const char *text, *wanted;
};

static void assert_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_result(str_of(rows[i].text), rows[i].wanted);
}
#define ASSERT_ROWS(rows) assert_rows(rows, COUNT(rows))

TEST(each_command_of_a_text_is_found)
{
	static const struct row rows[] = {
		{"git  status\t-s # x", "['git' 'status' '-s']"},
		{"a | b|c |& d && e || f; g & h &\ni\n\n# k\nl;", "['a'] ['b'] ['c'] ['d'] ['e'] "
								  "['f'] ['g'] ['h'] ['i'] ['l']"},
		{"a |\n # x\n b &&\n\n c", "['a'] ['b'] ['c']"},
		{"a \\\n  && b\\\n  c", "['a'] ['b' 'c']"},
		{"! a; !a ! \\! a!; time b | c; ! time d",
			"['a'] ['!a' '!' '!' 'a!'] ['b'] ['c'] ['d']"},
		{"(a; (b)) 2>f; { c; } >g", "['a'] ['b'] [ 2>'f'] ['c'] [ 1>'g']"},
		{"if a; then b; elif c\nthen d; else e; fi <f", "['a'] ['b'] ['c'] ['d'] ['e'] "
								"[ 0<'f']"},
		{"while a; do b; done; until c\ndo d; done | e", "['a'] ['b'] ['c'] ['d'] ['e']"},
		{"for x in a $(b) *; do c $x; done; for y in; do d; done", "['b'] ['c' ?] ['d']"},
		{"for _x1\\\n in a; do b; done", "['b']"},
		{"a $(b \"$(c)\" | d) e", "['a' ? 'e'] ['b' ?] ['c'] ['d']"},
		{"A=$(a) B=2 C= b D=3; E=f", "[==='b' 'D=3'] ['a'] [=]"},
		{"a if then fi } { ! time in case [[", "['a' 'if' 'then' 'fi' '}' '{' '!' 'time' "
						       "'in' 'case' '[[']"},
		{"\"if\" b; i\\f; iff; {a; a}", "['if' 'b'] ['if'] ['iff'] ['{a'] ['a}']"},
		{"case $(a) in b|'c' | [d]*) e; f;; (g)\nh;; *) ;; i) esac >f; j",
			"['a'] ['e'] ['f'] "
			"['h'] [ 1>'f'] ['j']"},
		{"case a in b) (c); esac | d; case a in esac", "['c'] ['d']"},
		{"[ -f x ] && a", "['[' '-f' 'x' ']'] ['a']"},
	};

	ASSERT_ROWS(rows);
}

TEST(words_have_their_quotes_resolved)
{
	static const struct row rows[] = {
		{"a 'b c'\"d e\"\\ f'' '' \"\"", "['a' 'b cd e f' '' '']"},
		{"a \"\\$\\`\\\"\\\\\\a\\n\" \"b\\\nc\"", "['a' '$`\"\\\\a\\n' 'bc']"},
		{"a\\\303\251b \\#c d#e 'f'#g", "['a\303\251b' '#c' 'd#e' 'f#g']"},
		{"a *.c b? [a-z] '*' \\? [ ] a] [a \"[\"a] a[b'c'd]",
			"['a' ? ? ? '*' '?' '[' ']' 'a]' '[a' '[a]' ?]"},
		{"a {} HEAD@{1} x^{tree} {a} a,b {a,b } {'a,b'} "
		 "{a\\,b} ..{a}",
			"['a' '{}' 'HEAD@{1}' 'x^{tree}' '{a}' 'a,b' '{a,b' '}' "
			"'{a,b}' '{a,b}' '..{a}']"},
		{"a backup~ HEAD~2 'x'~ \\~ \"~\" a\\=\\~ a~b=c",
			"['a' 'backup~' 'HEAD~2' 'x~' '~' '~' 'a=~' 'a~b=c']"},
		{"a $ a$ \"$\" \"a$ b\" $/ \"^a$\\|b$\" $. x$=y",
			"['a' '$' 'a$' '$' 'a$ b' '$/' '^a$\\|b$' '$.' 'x$=y']"},
		{"a $b \"$c\"d ${e}f $? \"${?}\" $_", "['a' ? ? ? ? ? ?]"},
	};

	ASSERT_ROWS(rows);
}

TEST(redirections_and_here_documents)
{
	static const struct row rows[] = {
		{"a <b >c >>d >|e 2>f &>g &>>h", "['a' 0<'b' 1>'c' 1>'d' 1>'e' 2>'f' 1>'g' 1>'h']"},
		{"a 2>&1 >&2 <&0 2>&- <&- >& 1", "['a' 2>&1 1>&2 0>&0 2>&- 0>&- 1>&1]"},
		{">a; b <<<c <<< \"$d\" 2a>e \"2\">f",
			"[ 1>'a'] ['b' '2a' '2' 0<<<'c' 0<<<? 1>'e' 1>'f']"},
		{"a <<E\nb\nE", "['a' 0<<<'b\n']"},
		{"a <<'E' >f && b\n$x `y` \\z\nE\nc", "['a' 0<<<'$x `y` \\z\n' 1>'f'] ['b'] ['c']"},
		{"a <<-E\n\t\tx\n\t y\n\tE\n", "['a' 0<<<'x\n y\n']"},
		{"a <<E | b <<\"F\" # x\n1\nE\n2\nF\n", "['a' 0<<<'1\n'] ['b' 0<<<'2\n']"},
		{"a <<\\E-1 \\\n | b\nE\nE-1", "['a' 0<<<'E\n'] ['b']"},
		{"(a <<E\n E\nE\n)", "['a' 0<<<' E\n']"},
		{"a \"$(b <<'E'\n)\nE\n)\"", "['a' ?] ['b' 0<<<')\n']"},
	};

	ASSERT_ROWS(rows);
}

TEST(what_is_not_in_the_subset_is_refused)
{
	static const struct row rows[] = {
		{"a ~", "construct 2-3"},
		{"A=~ b", "construct 2-3"},
		{"a b=c:~/d", "construct 6-7"},
		{"a >~/b", "construct 3-4"},
		{"a {b,c}", "construct 2-7"},
		{"a b{1..3}c", "construct 2-9"},
		{"a {b,{c,d}}", "construct 2-10"},
		{"a {b}c,d}", "construct 2-9"},
		{"a @{u}..@{1}", "construct 2-12"},
		{"a ${b:-c}", "construct 2-6"},
		{"a \"${#b}\"", "construct 3-6"},
		{"a ${b", "syntax 2-5"},
		{"a $((1))", "construct 2-5"},
		{"a $[1]", "construct 2-4"},
		{"a $'b'", "construct 2-4"},
		{"a $\"b\"", "construct 2-4"},
		{"a \"$@\"", "construct 3-5"},
		{"a $1", "construct 2-4"},
		{"$\\\n(a)", "construct 0-3"},
		{"`a`", "construct 0-1"},
		{"a \"`b`\"", "construct 3-4"},
		{"a <(b)", "construct 2-4"},
		{"a 2>(b)", "construct 3-5"},
		{"a <>b", "redirect 2-4"},
		{"a 3>b", "redirect 2-3"},
		{"a 02>b", "redirect 2-4"},
		{"a >&b", "redirect 4-5"},
		{"a 2>&1-", "redirect 5-6"},
		{"{a}<b", "redirect 0-4"},
		{"a $(<b)", "construct 4-6"},
		{"a \"$(b <<E; c\nE\n)\"", "construct 3-6"},
		{"[[ a ]]", "construct 0-2"},
		{"((a))", "construct 0-2"},
		{"a() { b; }", "construct 0-2"},
		{"a () { b; }", "syntax 2-3"},
		{"function a { b; }", "construct 0-8"},
		{"case a in b) c;& esac", "syntax 14-15"},
		{"a=(b)", "construct 2-3"},
		{"a+=b", "construct 0-3"},
		{"a[0]=b c", "construct 0-2"},
		{"!(a)", "construct 0-2"},
		{"if(a)", "construct 0-3"},
		{"for a; do b; done", "construct 5-6"},
		{"for a$ in b; do c; done", "construct 4-6"},
		{"for 'a' in b; do c; done", "construct 4-7"},
		{"for 1a in b; do c; done", "construct 4-6"},
		{"time -v a", "construct 5-7"},
		{"a\\\nb", "construct 1-3"},
		{"a |\\\n|b", "construct 2-6"},
		{"a <<\\\n-E\n", "construct 2-7"},
	};

	ASSERT_ROWS(rows);
}

TEST(text_that_is_not_complete_is_refused)
{
	static const struct row rows[] = {
		{"", "input.empty 0-0"},
		{" # a\n", "input.empty 0-5"},
		{"a 'b", "syntax 2-4"},
		{"a \"b\\", "syntax 2-5"},
		{"a \\", "syntax 2-3"},
		{"a $(b", "syntax 3-4"},
		{"a $( )", "syntax 5-6"},
		{"(a", "syntax 0-1"},
		{"a)", "syntax 1-2"},
		{"{ a }", "syntax 5-5"},
		{"if a; then b", "syntax 12-12"},
		{"if a; b; fi", "syntax 9-11"},
		{"if a; then fi", "syntax 11-13"},
		{"while a; done", "syntax 9-13"},
		{"done", "syntax 0-4"},
		{"(if a)", "syntax 5-6"},
		{"case a in b c) d;; esac", "syntax 12-13"},
		{"case a in b) c; done", "syntax 16-20"},
		{"case a in b) c &&;; esac", "syntax 17-19"},
		{"case a in b) c", "syntax 14-14"},
		{"a; esac", "syntax 3-7"},
		{"a &&", "syntax 4-4"},
		{"a | | b", "syntax 4-5"},
		{"| a", "syntax 0-1"},
		{"a;; b", "syntax 1-3"},
		{"a | ! b", "syntax 4-5"},
		{"a && ; b", "syntax 5-6"},
		{"(a) b", "syntax 4-5"},
		{"A=1 if b", "syntax 4-6"},
		{"th\\\nen", "construct 2-4"},
		{"a; then\\\n b", "syntax 3-8"},
		{"a >", "syntax 3-3"},
		{"a > | b", "syntax 4-5"},
		{"a <<E\n$b\nE", "construct 6-7"},
		{"a <<E\nb", "syntax 2-5"},
		{"a <<E", "syntax 2-5"},
		{"a <<''\n\n", "construct 4-5"},
		{"a <<E\"F\"\nx\nEF\n", "construct 4-5"},
		{"a <<$b\nx", "construct 4-5"},
		{"a <<E 'b\nc'\nE\n", "construct 7-10"},
		{"a <<E $(b\n)\nE\n", "construct 7-8"},
		{"a $(b <<E)\nE\n", "syntax 3-4"},
		{"a\rb", "input.bytes 1-2"},
		{"a \xc2\x85", "input.bytes 2-3"},
		{"a \xff", "input.bytes 2-3"},
	};

	ASSERT_ROWS(rows);
	assert_result((struct str){"a\0b", 3}, "input.bytes 1-2");
}

static struct str nested(const char *open, size_t n, const char *inner, const char *close)
{
	return repeated(repeated("", open, n, inner).p, close, n, "");
}

static enum rule limit_of(struct str text)
{
	struct verdict v = {0};
	struct command *commands;

	return shell_parse(&arena, text, &commands, &v) == 0 ? RULES : v.rule;
}

TEST(limits_are_exact)
{
	static const char *const forms[][3] = {
		{"( ", "a", ")"},
		{"{ ", "a;", "};"},
		{"a \"$(", "b", ")\""},
		{"if ", "a;", "then b; fi;"},
		{"while a; do ", "b;", "done;"},
		{"for x in a; do ", "b;", "done;"},
	};
	static const struct {
		const char *first, *more;
		size_t most;
		enum rule rule;
	} rows[] = {
		{"echo ", "x", SHELL_MAX - 5, RULE_INPUT_LENGTH},
		{"", "a;", SHELL_COMMANDS, RULE_LIMIT},
		{"a", "|a", SHELL_COMMANDS - 1, RULE_LIMIT},
		{"a", " $(a)", SHELL_COMMANDS - 1, RULE_LIMIT},
		{"a", " b", SHELL_WORDS - 1, RULE_LIMIT},
		{"a", " >b", SHELL_WORDS - 1, RULE_LIMIT},
	};

	for (size_t i = 0; i < COUNT(forms); i++)
		for (size_t n = SHELL_DEPTH; n <= SHELL_DEPTH + 1; n++)
			assert_int_equal(limit_of(nested(forms[i][0], n, forms[i][1], forms[i][2])),
				n > SHELL_DEPTH ? RULE_LIMIT : RULES);
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t n = rows[i].most; n <= rows[i].most + 1; n++)
			assert_int_equal(limit_of(repeated(rows[i].first, rows[i].more, n, "")),
				n > rows[i].most ? rows[i].rule : RULES);
	assert_int_equal(limit_of(repeated("", "$(", SHELL_MAX / 2, "")), RULE_LIMIT);
	assert_int_equal(limit_of(repeated("a", " <<E", 9, "\n")), RULE_LIMIT);
}

TEST(a_single_command_is_the_whole_text)
{
	static const struct {
		const char *text;
		bool alone;
	} rows[] = {{"a b", true}, {" a <<'E' >&2 # x\nb\nE\n", true}, {"a;", true}, {"a &", false},
		{"a; b", false}, {"(a)", false}, {"! a", false}, {"a $(b)", false}, {"a\nb", false},
		{"{ a; }", false}};
	struct verdict v = {0};
	struct command *c;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(shell_parse(&arena, str_of(rows[i].text), &c, &v), 0);
		assert_int_equal(c->alone, rows[i].alone);
	}
}

UNIT_GROUP(NULL, arena_end)
