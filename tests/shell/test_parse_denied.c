#include "tests/lib/shell_cases.h"

#define DOCUMENT_END       "the end of a here document must be a plain word"
#define SPLIT_DOCUMENT     "here document whose line ends inside what follows it"
#define QUOTED_LINE_END    "quotes over the end of a line that has a here document"
#define IN_OUTPUT          "here document in '$( )' that is more than one command or pipeline"
#define UNQUOTED_DELIMITER " in a here document whose delimiter has no quotes"

TEST(what_bash_would_expand_is_denied)
{
	static const struct denied cases[] = {
		{"a ~", "construct 2-3: tilde expansion"},
		{"a ~/b", "construct 2-3: tilde expansion"},
		{"a ~b", "construct 2-3: tilde expansion"},
		{"a b=~", "construct 4-5: tilde expansion"},
		{"a b=c:~/d", "construct 6-7: tilde expansion"},
		{"A=~ b", "construct 2-3: tilde expansion"},
		{"A=b:~", "construct 4-5: tilde expansion"},
		{"a --b=~/c", "construct 6-7: tilde expansion"},
		{"a b=\"c\":~", "construct 8-9: tilde expansion"},
		{"a >~/b", "construct 3-4: tilde expansion"},
		{"a <<<b:~", "construct 7-8: tilde expansion"},
		{"for x in ~; do a; done", "construct 9-10: tilde expansion"},
		{"case ~ in a) b;; esac", "construct 5-6: tilde expansion"},
		{"a {b,c}", "construct 2-7: brace expansion"},
		{"a b{1..3}c", "construct 2-9: brace expansion"},
		{"{a,b}", "construct 0-5: brace expansion"},
		{"a {b,{c,d}}", "construct 2-10: brace expansion"},
		{"a {b}c,d}", "construct 2-9: brace expansion"},
		{"a \"b\"{c,\"d\"}", "construct 2-12: brace expansion"},
		{"a >{b,c}", "construct 3-8: brace expansion"},
		{"A={b,c}", "construct 0-7: brace expansion"},
		{"a $b{c,d}", "construct 2-9: brace expansion"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(expansions_with_operators_are_denied)
{
	static const struct denied cases[] = {
		{"a ${b:-c}", "construct 2-6: parameter expansion with an operator or an index"},
		{"a \"${b#c}\"", "construct 3-7: parameter expansion with an operator or an index"},
		{"a ${#b}", "construct 2-5: parameter expansion other than '${name}'"},
		{"a ${!b}", "construct 2-5: parameter expansion other than '${name}'"},
		{"a ${1}", "construct 2-5: parameter expansion other than '${name}'"},
		{"a ${b[0]}", "construct 2-6: parameter expansion with an operator or an index"},
		{"a ${}", "construct 2-5: parameter expansion other than '${name}'"},
		{"a ${b", "syntax 2-5: unterminated '${'"},
		{"a ${", "syntax 2-4: unterminated '${'"},
		{"a ${@}", "construct 2-5: parameter expansion other than '${name}'"},
		{"a $((1))", "construct 2-5: arithmetic expansion '$(( ))'"},
		{"a \"$((1+2))\"", "construct 3-6: arithmetic expansion '$(( ))'"},
		{"a $[1]", "construct 2-4: arithmetic expansion '$[ ]'"},
		{"a $'b'", "construct 2-4: quotes '$'..''"},
		{"a $\"b\"", "construct 2-4: quotes '$\"..\"'"},
		{"a \"$'b'\"", "construct 3-5: quotes '$'..''"},
		{"a $1", "construct 2-4: positional or special parameter"},
		{"a $0", "construct 2-4: positional or special parameter"},
		{"a \"$@\"", "construct 3-5: positional or special parameter"},
		{"a $*", "construct 2-4: positional or special parameter"},
		{"a $#", "construct 2-4: positional or special parameter"},
		{"a $-", "construct 2-4: positional or special parameter"},
		{"a $$", "construct 2-4: positional or special parameter"},
		{"a $!", "construct 2-4: positional or special parameter"},
		{"a $_", "construct 2-4: special parameter '_'"},
		{"a ${_}", "construct 2-6: special parameter '_'"},
		{"a $b\303\251",
			"construct 2-5: a name that some locales take to go on: write '${name}'"},
		{"a $\303\251", "construct 2-4: '$' in front of what could be a name"},
		{"a $b$", "construct 4-5: '$' behind an expansion"},
		{"a $\\\nb", "construct 2-4: '$' in front of what could be a name"},
		{"a \"$b\\\nc\"", "construct 3-7: line continuation behind the name of a variable"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(substitutions_other_than_known_ones_are_denied)
{
	static const struct denied cases[] = {
		{"a `b`", "construct 2-3: command substitution with backticks"},
		{"`a`", "construct 0-1: command substitution with backticks"},
		{"a \"`b`\"", "construct 3-4: command substitution with backticks"},
		{"a <(b)", "construct 2-4: process substitution '<( )'"},
		{"a >(b)", "construct 2-4: process substitution '>( )'"},
		{"a 2>(b)", "construct 2-5: process substitution '>( )'"},
		{"a b<(c)", "construct 3-5: process substitution '<( )'"},
		{"a $()", "syntax 2-5: empty '$( )'"},
		{"a $( )", "syntax 2-6: empty '$( )'"},
		{"a $(<b)", "construct 2-7: '$( )' without a command"},
		{"a $(>b)", "construct 2-7: '$( )' without a command"},
		{"a $(\\\n(b))", "construct 3-7: line continuation inside an operator"},
		{"a $(time b)", "construct 4-8: 'time' inside '$( )'"},
		{"a \"$(b <<E; c\nE\n)\"", "construct 3-17: " IN_OUTPUT},
		{"a \"$(b <<E && c\nE\n)\"", "construct 3-19: " IN_OUTPUT},
		{"a $(if b <<E\nE\nthen c; fi)", "construct 2-26: " IN_OUTPUT},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(redirections_of_other_forms_are_denied)
{
	static const struct denied cases[] = {
		{"a <>b", "redirect 2-4: redirection '<>'"},
		{"a 3>b", "redirect 2-3: file descriptor other than 0, 1 and 2"},
		{"a 10>b", "redirect 2-4: file descriptor other than 0, 1 and 2"},
		{"a 02>b", "redirect 2-4: file descriptor other than 0, 1 and 2"},
		{"a 3>&1", "redirect 2-3: file descriptor other than 0, 1 and 2"},
		{"a 2>&3", "redirect 2-6: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a >&b", "redirect 2-5: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a >&$b", "redirect 2-5: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a >& \"1\"", "redirect 2-6: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a >&1b", "redirect 2-5: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a 2>&-b", "redirect 2-6: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a 2>&1-", "redirect 2-6: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a {b}>c", "redirect 2-6: redirection that puts its number into a variable"},
		{"{a}<b", "redirect 0-4: redirection that puts its number into a variable"},
		{"a <&", "syntax 4-4: unexpected end"},
		{"a >&\nb", "syntax 4-5: unexpected end of the line"},
		{"a >", "syntax 3-3: unexpected end"},
		{"a <\nb", "syntax 3-4: unexpected end of the line"},
		{"a > | b", "syntax 4-5: unexpected '|'"},
		{"a >>", "syntax 4-4: unexpected end"},
		{"a < <b", "syntax 4-5: unexpected '<'"},
		{"a >2>b", "syntax 4-5: unexpected '>'"},
		{"a >&>b", "redirect 2-5: only 0, 1, 2 and - can stand behind '>&' and '<&'"},
		{"a > #b", "syntax 6-6: unexpected end"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(here_documents_that_expand_are_denied)
{
	static const struct denied cases[] = {
		{"a <<E\n$b\nE", "construct 6-7: '$'" UNQUOTED_DELIMITER},
		{"a <<E\n`b`\nE", "construct 6-7: '`'" UNQUOTED_DELIMITER},
		{"a <<E\n\\b\nE", "construct 6-7: '\\'" UNQUOTED_DELIMITER},
		{"a <<-E\n\tx$\n\tE", "construct 9-10: '$'" UNQUOTED_DELIMITER},
		{"a <<E\nb", "syntax 2-5: here document without its end"},
		{"a <<E", "syntax 2-5: here document without its lines"},
		{"a <<E\nE \n", "syntax 2-5: here document without its end"},
		{"a <<'E'\n E", "syntax 2-7: here document without its end"},
		{"a <<E b <<F\nE\n", "syntax 8-11: here document without its end"},
		{"a <<''\n\n", "construct 4-6: " DOCUMENT_END},
		{"a <<$b\nx", "construct 4-6: " DOCUMENT_END},
		{"a <<\"$b\"\nx", "construct 4-8: " DOCUMENT_END},
		{"a <<`b`\n", "construct 4-5: command substitution with backticks"},
		{"a <<E\"F\"\nx\nEF\n", "construct 4-8: " DOCUMENT_END},
		{"a <<'E\nF'\n", "construct 4-9: " DOCUMENT_END},
		{"a <<", "syntax 4-4: unexpected end"},
		{"a <<\n", "syntax 4-5: unexpected end of the line"},
		{"a <<|b", "syntax 4-5: unexpected '|'"},
		{"a <<\"E\\\"\"\n", "construct 4-9: " DOCUMENT_END},
		{"a <<E 'b\nc'\nE\n", "construct 6-10: " QUOTED_LINE_END},
		{"a <<E \"b\nc\"\nE\n", "construct 7-10: " QUOTED_LINE_END},
		{"a <<E $(b\n)\nE\n", "construct 2-5: " SPLIT_DOCUMENT},
		{"a <<E | (b\nE\n)", "construct 2-5: " SPLIT_DOCUMENT},
		{"a <<E; case b in b) c\nE\n;; esac", "construct 2-5: " SPLIT_DOCUMENT},
		{"a $(b <<E)\nE\n", "syntax 9-10: '$( )' ends on the line of a here document"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(compound_forms_outside_of_the_subset_are_denied)
{
	static const struct denied cases[] = {
		{"[[ a ]]", "construct 0-2: conditional command '[[ ]]'"},
		{"[[ -f a && -f b ]]", "construct 0-2: conditional command '[[ ]]'"},
		{"((a))", "construct 0-2: arithmetic command '(( ))'"},
		{"((a=1))", "construct 0-2: arithmetic command '(( ))'"},
		{"$((a))", "construct 0-3: arithmetic expansion '$(( ))'"},
		{"( (a)", "syntax 0-1: '(' without its ')'"},
		{"a() { b; }", "construct 0-2: '(' behind a word: function definition"},
		{"a () { b; }", "construct 0-3: function definition"},
		{"function a { b; }", "construct 0-8: function definition"},
		{"function a() { b; }", "construct 0-8: function definition"},
		{"coproc a", "construct 0-6: coprocess"},
		{"select a in b; do c; done", "construct 0-6: 'select' command"},
		{"for ((a=1;b;c)); do d; done", "construct 4-6: arithmetic 'for'"},
		{"for a; do b; done", "construct 0-3: 'for' without 'in'"},
		{"for a do b; done", "construct 0-3: 'for' without 'in'"},
		{"for a in b; { c; }", "syntax 12-13: unexpected '{'"},
		{"case a in b) c;& esac", "construct 14-16: 'case' arm that goes on into the next"},
		{"case a in b) c;;& d) e;; esac",
			"construct 14-17: 'case' arm that goes on into the next"},
		{"case a in b) ;& esac", "construct 13-15: 'case' arm that goes on into the next"},
		{"a=(b)", "construct 0-3: array"},
		{"a=()", "construct 0-3: array"},
		{"a+=b", "construct 0-3: assignment with '+='"},
		{"a[0]=b", "construct 0-2: element of an array"},
		{"a[b c]=d", "construct 0-2: element of an array"},
		{"a[0]", "construct 0-2: element of an array"},
		{"!(a)", "construct 1-2: extended pattern '!( )'"},
		{"a @(b)", "construct 2-4: extended pattern"},
		{"a +(b)", "construct 2-4: extended pattern"},
		{"a ?(b)", "construct 2-4: extended pattern"},
		{"a *(b)", "construct 2-4: extended pattern"},
		{"a !(b)", "construct 2-4: extended pattern"},
		{"a(b)", "construct 0-2: '(' behind a word: function definition"},
		{"a\"b\"(c)", "construct 0-5: '(' behind a word: function definition"},
		{"time -v a", "construct 5-7: option of 'time' other than -p"},
		{"time -- a", "construct 5-7: option of 'time' other than -p"},
		{"time -p -- a", "construct 8-10: option of 'time' other than -p"},
		{"\\\n!(a)", "construct 3-4: extended pattern '!( )'"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(continued_lines_inside_of_tokens_are_denied)
{
	static const struct denied cases[] = {
		{"a\\\nb", "construct 1-3: line continuation inside a word"},
		{"a b\\\nc d", "construct 3-5: line continuation inside a word"},
		{"\"a\"\\\nb", "construct 3-5: line continuation inside a word"},
		{"a\\\n|b", "construct 1-3: line continuation inside a word"},
		{"a |\\\n|b", "construct 2-6: line continuation inside an operator"},
		{"a &\\\n& b", "construct 2-6: line continuation inside an operator"},
		{"a >\\\n>b", "construct 2-6: line continuation inside an operator"},
		{"a <\\\n<E\nE\n", "construct 2-6: line continuation inside an operator"},
		{"a ;\\\n;", "construct 2-6: line continuation inside an operator"},
		{"(\\\n(a))", "construct 0-4: line continuation inside an operator"},
		{"a 2>&\\\n-", "construct 3-8: line continuation inside an operator"},
		{"a\\\n", "construct 1-3: line continuation inside a word"},
		{"a=\\\nb", "construct 2-4: line continuation inside a word"},
		{"a # b\\\nc", "construct 5-7: backslash at the end of a comment"},
		{"$\\\n(a)", "construct 0-2: '$' in front of what could be a name"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(text_that_is_not_complete_is_denied)
{
	static const struct denied cases[] = {
		{"a 'b", "syntax 2-4: unterminated single quotes"},
		{"a \"b", "syntax 2-4: unterminated double quotes"},
		{"a \"b\\", "syntax 2-5: unterminated double quotes"},
		{"a \\", "syntax 2-3: nothing behind the backslash"},
		{"a $(b", "syntax 2-4: unterminated '$('"},
		{"a \"$(b", "syntax 3-5: unterminated '$('"},
		{"a \"$(b\"", "syntax 6-7: unterminated double quotes"},
		{"(a", "syntax 0-1: '(' without its ')'"},
		{"( ", "syntax 0-1: '(' without its ')'"},
		{"{ a", "syntax 0-1: '{' without its '}'"},
		{"{ a; ", "syntax 0-1: '{' without its '}'"},
		{"{ a }", "syntax 0-1: '{' without its '}'"},
		{"{", "syntax 0-1: '{' without its '}'"},
		{"if a", "syntax 0-2: 'if' without its 'then'"},
		{"if a; then b", "syntax 0-2: 'if' without its 'fi'"},
		{"if a; then b; else", "syntax 0-2: 'if' without its 'fi'"},
		{"if a; fi", "syntax 6-8: unexpected 'fi'"},
		{"while a; do b", "syntax 0-5: 'while' without its 'done'"},
		{"while a; done", "syntax 9-13: unexpected 'done'"},
		{"until a", "syntax 0-5: 'until' without its 'do'"},
		{"for", "syntax 3-3: unexpected end"},
		{"for x", "syntax 5-5: unexpected end"},
		{"for x in", "syntax 0-3: 'for' without its 'do'"},
		{"for x in a; do b", "syntax 0-3: 'for' without its 'done'"},
		{"case", "syntax 4-4: unexpected end"},
		{"case a", "syntax 6-6: unexpected end"},
		{"case a in", "syntax 0-4: 'case' without its 'esac'"},
		{"case a in b", "syntax 11-11: unexpected end"},
		{"case a in b)", "syntax 12-12: unexpected end"},
		{"case a in b) c;;", "syntax 0-4: 'case' without its 'esac'"},
		{"a |", "syntax 3-3: unexpected end"},
		{"a &&", "syntax 4-4: unexpected end"},
		{"a ||\n", "syntax 5-5: unexpected end"},
		{"!", "syntax 1-1: unexpected end"},
		{"time", "syntax 4-4: unexpected end"},
		{"! ", "syntax 2-2: unexpected end"},
		{"a | ! b", "syntax 4-5: '!' cannot stand here"},
		{"a && ;", "syntax 5-6: unexpected ';'"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(text_that_is_not_well_formed_is_denied)
{
	static const struct denied cases[] = {
		{")", "syntax 0-1: unexpected ')'"},
		{"a )", "syntax 2-3: unexpected ')'"},
		{";", "syntax 0-1: unexpected ';'"},
		{";;", "syntax 0-2: unexpected ';;'"},
		{"a ;; b", "syntax 2-4: unexpected ';;'"},
		{"; a", "syntax 0-1: unexpected ';'"},
		{"& a", "syntax 0-1: unexpected '&'"},
		{"a & ; b", "syntax 4-5: unexpected ';'"},
		{"a &&& b", "syntax 4-5: unexpected '&'"},
		{"a | | b", "syntax 4-5: unexpected '|'"},
		{"a ||| b", "syntax 4-5: unexpected '|'"},
		{"| a", "syntax 0-1: unexpected '|'"},
		{"&& a", "syntax 0-2: unexpected '&&'"},
		{"a; }", "syntax 3-4: unexpected '}'"},
		{"}", "syntax 0-1: unexpected '}'"},
		{"then", "syntax 0-4: unexpected 'then'"},
		{"a; then b", "syntax 3-7: unexpected 'then'"},
		{"do", "syntax 0-2: unexpected 'do'"},
		{"done", "syntax 0-4: unexpected 'done'"},
		{"fi", "syntax 0-2: unexpected 'fi'"},
		{"esac", "syntax 0-4: unexpected 'esac'"},
		{"elif a", "syntax 0-4: unexpected 'elif'"},
		{"else", "syntax 0-4: unexpected 'else'"},
		{"in a", "syntax 0-2: unexpected 'in'"},
		{"]]", "syntax 0-2: unexpected ']]'"},
		{"if ; then a; fi", "syntax 3-4: unexpected ';'"},
		{"if a; then; fi", "syntax 10-11: unexpected ';'"},
		{"while do a; done", "syntax 6-8: unexpected 'do'"},
		{"( )", "syntax 2-3: unexpected ')'"},
		{"()", "syntax 1-2: unexpected ')'"},
		{"{ }", "syntax 2-3: unexpected '}'"},
		{"{ ; }", "syntax 2-3: unexpected ';'"},
		{"(a) b", "syntax 4-5: unexpected 'b'"},
		{"(a) (b)", "syntax 4-5: unexpected '('"},
		{"{ a; } b", "syntax 7-8: unexpected 'b'"},
		{"if a; then b; fi c", "syntax 17-18: unexpected 'c'"},
		{"{ (a) >f }", "syntax 9-10: unexpected '}'"},
		{"{ a; } if b", "syntax 7-9: unexpected 'if'"},
		{"! ! a", "syntax 2-3: '!' cannot stand here"},
		{"time time a", "syntax 5-9: 'time' cannot stand here"},
		{"time ! a", "syntax 5-6: '!' cannot stand here"},
		{"a | time b", "syntax 4-8: 'time' cannot stand here"},
		{"A=1 if b; then c; fi", "syntax 4-6: unexpected 'if'"},
		{"A=1 { a; }", "syntax 4-5: unexpected '{'"},
		{"A=1 time b", "syntax 4-8: unexpected 'time'"},
		{">f if a", "syntax 3-5: unexpected 'if'"},
		{"a (b)", "construct 0-3: function definition"},
		{"a b (c)", "syntax 4-5: unexpected '('"},
		{"a $(b;;)", "syntax 5-7: unexpected ';;'"},
		{"a $(b))", "syntax 6-7: unexpected ')'"},
		{"for 1 in a; do b; done", "syntax 4-5: unexpected '1'"},
		{"for a-b in c; do d; done", "syntax 4-7: unexpected 'a-b'"},
		{"for if in a; do b; done", "syntax 4-6: unexpected 'if'"},
		{"for \"a\" in b; do c; done", "syntax 4-7: unexpected '\"a\"'"},
		{"for x in a do b; done", "syntax 17-21: unexpected 'done'"},
		{"for x in a & do b; done", "syntax 11-12: unexpected '&'"},
		{"for x\nin a; do b; done", "syntax 5-6: unexpected end of the line"},
		{"a:=b", "construct 0-4: '=' in the name of a program"},
		{"for x in esac; do a; done", "syntax 9-13: unexpected 'esac'"},
		{"for x in a;; do b; done", "syntax 10-12: unexpected ';;'"},
		{"case a b in c) d;; esac", "syntax 7-8: unexpected 'b'"},
		{"case a in b c) d;; esac", "syntax 12-13: unexpected 'c'"},
		{"case a in b|) c;; esac", "syntax 12-13: unexpected ')'"},
		{"case a in |b) c;; esac", "syntax 10-11: unexpected '|'"},
		{"case a in ) b;; esac", "syntax 10-11: unexpected ')'"},
		{"case a in b||c) d;; esac", "syntax 11-13: unexpected '||'"},
		{"case a in (esac) b;; esac", "syntax 11-15: unexpected 'esac'"},
		{"case a in a) (b)c) d;; esac", "syntax 16-17: unexpected 'c'"},
		{"case a in b) c; d", "syntax 0-4: 'case' without its 'esac'"},
		{"case a in b) c;; ;; esac", "syntax 17-19: unexpected ';;'"},
		{"case a in b # c\n) d;; esac", "syntax 15-16: unexpected end of the line"},
		{"a \"b\"#c", "construct 5-6: '#' behind quotes or an expansion"},
		{"a $b#c", "construct 4-5: '#' behind quotes or an expansion"},
		{"a ''#", "construct 4-5: '#' behind quotes or an expansion"},
		{"a \\ #b", "construct 4-5: '#' behind quotes or an expansion"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(text_without_a_command_is_empty)
{
	static const struct denied cases[] = {
		{"", "input.empty 0-0: no command"},
		{" ", "input.empty 0-1: no command"},
		{"\n", "input.empty 0-1: no command"},
		{"\t\n # a\n", "input.empty 0-7: no command"},
		{"# a", "input.empty 0-3: no command"},
		{"\\\n", "input.empty 0-2: no command"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(bytes_that_do_not_belong_are_denied)
{
	static const struct denied cases[] = {
		{"a\015b", "input.bytes 1-2: control character 0x0d"},
		{"a\015\n", "input.bytes 1-2: control character 0x0d"},
		{"\001", "input.bytes 0-1: control character 0x01"},
		{"a\033[31m", "input.bytes 1-2: control character 0x1b"},
		{"a\177", "input.bytes 1-2: control character 0x7f"},
		{"a\302\205b", "input.bytes 1-2: control character 0x85"},
		{"a\302\237", "input.bytes 1-2: control character 0x9f"},
		{"a\377", "input.bytes 1-2: invalid UTF-8"},
		{"a\303", "input.bytes 1-2: invalid UTF-8"},
		{"a\300\200", "input.bytes 1-2: invalid UTF-8"},
		{"a\355\240\200", "input.bytes 1-2: invalid UTF-8"},
		{"a\364\220\200\200", "input.bytes 1-2: invalid UTF-8"},
		{"'\010'", "input.bytes 1-2: control character 0x08"},
		{"# \014", "input.bytes 2-3: control character 0x0c"},
	};

	assert_denied(cases, COUNT(cases));
}

TEST(nul_is_denied)
{
	assert_denied_as(STR("git status\0; rm"), "input.bytes 10-11: NUL in the text");
	assert_denied_as(STR("\0"), "input.bytes 0-1: NUL in the text");
}

UNIT_GROUP(NULL, arena_end)
