#include "src/shell/parse_internal.h"
#include "tests/lib/shell_cases.h"
#include "tests/lib/shell_same.h"

static const char *printed(const char *text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	shell_print(&out, shell_tree(str_of(text)));
	return arena_dup(&arena, buf_str(&out));
}

TEST(the_canonical_text_quotes_every_word)
{
	static const struct {
		const char *text, *canonical;
	} cases[] = {
		{"git  log\t-1 # x", "'git' 'log' '-1'"},
		{"a \"b\"c\\ d'e' ''", "'a' 'bc de' ''"},
		{"a \"it's\" \\'", "'a' 'it'\\''s' ''\\'''"},
		{"a *.c \"*\".[ch] [!a-z]\"-\"~ '?'", "'a' *'.c' '*.'[ch] [!a-z]'-~' '?'"},
		{"a [[:alpha:]_,{}]x", "'a' [[:alpha:]_',{}']x"},
		{"A= B=$c\\ d e=*", "A= B=${c}' d' e='*'"},
		{"a $b\"$c d\"$? \"$e\"''", "'a' ${b}\"${c}\"' d'${?} \"${e}\""},
		{"a $b''", "'a' ${b}''"},
		{"a \"$(b|c \"$d\")\"e", "'a' \"$( 'b' | 'c' \"${d}\" )\"'e'"},
		{"a $( (b) )", "'a' $( ( 'b' ) )"},
		{"'if' a; \\time b; \"!\" c", "'if' 'a'; 'time' 'b'; '!' 'c'"},
		{"a>b 2>>c <d 2>&1 >&- &>e &>>f >|g <<<h",
			"'a' 1>'b' 2>>'c' 0<'d' 2>&1 1>&- &>'e' &>>'f' 1>|'g' 0<<<'h'"},
		{">a", "1>'a'"},
		{"A=b >c", "A='b' 1>'c'"},
		{"a|b |& c&&d||! e;f&g", "'a' | 'b' |& 'c' && 'd' || ! 'e'; 'f' & 'g'"},
		{"time -p a | b", "time -p 'a' | 'b'"},
		{"! time a &", "! time 'a' &"},
		{"(a;b&)>f", "( 'a'; 'b' & ) 1>'f'"},
		{"{ a;b&\n}", "{ 'a'; 'b' & }"},
		{"if a\nthen b\nelif c;then d\nelse e;fi 2>f",
			"if 'a'; then 'b'; elif 'c'; then 'd'; else 'e'; fi 2>'f'"},
		{"while a;do b;done", "while 'a'; do 'b'; done"},
		{"until a;do b;done", "until 'a'; do 'b'; done"},
		{"for x in a *; do b $x; done", "for x in 'a' *; do 'b' ${x}; done"},
		{"for x in; do b; done", "for x in ; do 'b'; done"},
		{"case $x in(a|b*)c;;*)esac", "case ${x} in 'a' | 'b'*) 'c' ;; *) ;; esac"},
		{"cat <<E\nb\nE", "'cat' 0<<'EOF'\nb\nEOF\n"},
		{"cat <<-'E' | b\n\tEOF\n\tEOF__\nx EOF_____\n\tE\nc",
			"'cat' 0<<'EOF___' |\nEOF\nEOF__\nx EOF_____\nEOF___\n'b'; 'c'"},
		{"a <<E <<F && b\n1\nE\n2\nF\n", "'a' 0<<'EOF' 0<<'EOF' &&\n1\nEOF\n2\nEOF\n'b'"},
		{"(a <<E) >f\n1\nE\n", "( 'a' 0<<'EOF'\n1\nEOF\n) 1>'f'"},
		{"a \"$(b <<E\n1\nE\n)\" c", "'a' \"$( 'b' 0<<'EOF'\n1\nEOF\n)\" 'c'"},
		{"a \\\n  b", "'a' 'b'"},
		{"a '\n' \"\t\"", "'a' '\n' '\t'"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(printed(cases[i].text), cases[i].canonical);
		assert_string_equal(printed(cases[i].canonical), cases[i].canonical);
		assert_prints_back(shell_tree(str_of(cases[i].text)));
	}
}

static bool same(const char *a, const char *b)
{
	bool there = shell_same(shell_tree(str_of(a)), shell_tree(str_of(b)));

	assert_int_equal(there, shell_same(shell_tree(str_of(b)), shell_tree(str_of(a))));
	return there;
}

TEST(quotes_and_blanks_make_no_other_tree)
{
	assert_true(same("a b", "  'a'\t\"b\" # c\n"));
	assert_true(same("a 'b c'", "a b\\ \"c\""));
	assert_true(same("a ?*b", "a ?*'b'"));
	assert_true(same("a $b", "a ${b}"));
	assert_true(same("a;b", "a\n\nb;"));
	assert_true(same("a <<E\nx\nE", "a <<-'F'\n\tx\n\tF\n"));
	assert_true(same("a >b", "a 1> 'b'"));
	assert_true(same("case a in (b) c;; esac", "case a in b) c\nesac"));
}

TEST(every_difference_is_seen)
{
	static const char *const texts[] = {"a", "b", "a b", "a ''", "a *", "a '*'", "a [b]",
		"a '['b]", "a $b", "a \"$b\"", "a $c", "a $b''", "a $(b)", "a \"$(b)\"", "a $(c)",
		"a=b", "a=c", "A=b", "a=b a", "a >b", "a >>b", "a 2>b", "a >|b", "a <b", "a &>b",
		"a &>>b", "a >c", "a 2>&1", "a >&2", "a 2>&2", "a 2>&-", "a >&-", "a <<<b",
		"a <<E\nb\nE", "a <<E\nc\nE", "a|b", "a|&b", "a 2>&1|b", "a|b|c", "a&&b", "a||b",
		"a&&b||c", "a||b&&c", "a;b", "a&b", "a&", "a&b&", "! a", "time a", "time -p a",
		"! time a", "(a)", "{ a;}", "(a;b)", "(a)>b", "( (a))", "if a;then b;fi",
		"if a;then b;else c;fi", "if a;then b;elif c;then d;fi", "while a;do b;done",
		"until a;do b;done", "for x in a;do b;done", "for y in a;do b;done",
		"for x in;do b;done", "case a in esac", "case a in b)esac", "case a in b)c;;esac",
		"case a in b|c)d;;esac", "case a in b)c;;c)d;;esac", "case b in b)esac"};

	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t j = 0; j < COUNT(texts); j++)
			if (same(texts[i], texts[j]) != (i == j))
				fail_msg("'%s' and '%s'", texts[i], texts[j]);
}

/* The parser's last check, applied to trees with missing parts. */
TEST(a_tree_that_lost_something_is_no_proof)
{
	struct verdict v = {0};
	struct parser p = {.v = &v, .n = 11, .at = 11};
	struct node *tree = shell_tree(STR("if a; then b c; fi"));

	p.n = p.at = strlen("if a; then b c; fi");
	p.claimed[CLAIM_WORD] = 3;
	p.claimed[CLAIM_RESERVED] = strlen("ifthenfi");
	p.claimed[CLAIM_OPERATOR] = 2;
	p.claimed[CLAIM_BLANK] = 5;
	assert_int_equal(parse_proof(&p, tree), 0);
	tree->children[1]->n_words = 1;
	assert_int_equal(parse_proof(&p, tree), -1);
	assert_int_equal(v.rule, RULE_INTERNAL);
	tree->children[1]->n_words = 2;
	v.denied = false;
	tree->n = 1;
	assert_int_equal(parse_proof(&p, tree), -1);
	tree->n = 2;
	p.at--;
	assert_int_equal(parse_proof(&p, tree), -1);
	p.at++;
	p.claimed[CLAIM_BLANK]--;
	assert_int_equal(parse_proof(&p, tree), -1);
	p.claimed[CLAIM_BLANK]++;
	assert_int_equal(parse_proof(&p, tree), 0);
}

UNIT_GROUP(NULL, arena_end)
