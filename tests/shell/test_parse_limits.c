#include "tests/lib/shell_cases.h"

static struct str nested(const char *open, size_t n, const char *inner, const char *close)
{
	return repeated(repeated("", open, n, inner).p, close, n, "");
}

TEST(a_text_of_64_kib_is_the_longest)
{
	shell_tree(repeated("echo ", "x", SHELL_MAX - 5, ""));
	assert_denied_as(repeated("echo ", "x", SHELL_MAX - 4, ""),
		"input.length 65536-65537: more than 65536 bytes");
	assert_denied_as(repeated("", " ", SHELL_MAX + 1, ""),
		"input.length 65536-65537: more than 65536 bytes");
}

TEST(there_are_at_most_32_levels)
{
	static const char *const forms[][3] = {
		{"( ", "a", ")"},
		{"{ ", "a;", "};"},
		{"a \"$(", "b", ")\""},
		{"if ", "a;", "then b; fi;"},
		{"if a; then ", "b;", "fi;"},
		{"while a; do ", "b;", "done;"},
		{"for x in a; do ", "b;", "done;"},
		{"case a in b) ", "c;", "esac;"},
		{"case a in b) a $(", "c", ");; esac"},
	};

	for (size_t i = 0; i < COUNT(forms); i++) {
		size_t each = i == COUNT(forms) - 1 ? 2 : 1, n = SHELL_DEPTH / each;
		struct verdict v = {0};
		struct node *tree;
		struct str text;

		(void)shell_tree(nested(forms[i][0], n, forms[i][1], forms[i][2]));
		text = nested(forms[i][0], n + 1, forms[i][1], forms[i][2]);
		assert_int_equal(shell_parse(&arena, text, &tree, &v), -1);
		assert_int_equal(v.rule, RULE_LIMIT);
		assert_string_equal(v.reason, "more than 32 levels inside one another");
	}
}

TEST(towers_are_denied_at_the_first_level_too_many)
{
	assert_denied_as(repeated("", "( ", SHELL_MAX / 2, ""),
		"limit 64-65: more than 32 levels inside one another");
	assert_denied_as(repeated("", "$(", SHELL_MAX / 2, ""),
		"limit 64-65: more than 32 levels inside one another");
	assert_denied_as(repeated("", "\"$(a ", SHELL_MAX / 5, ""),
		"limit 161-162: more than 32 levels inside one another");
	assert_denied_as(
		repeated("a ", "{", 64, ""), "limit 65-66: more than 63 braces inside one another");
}

TEST(there_are_at_most_512_commands)
{
	shell_tree(repeated("", "a;", SHELL_COMMANDS, ""));
	assert_denied_as(repeated("", "a;", SHELL_COMMANDS + 1, ""),
		"limit 1024-1025: more than 512 commands");
	shell_tree(repeated("a", "|a", SHELL_COMMANDS - 1, ""));
	assert_denied_as(
		repeated("a", "|a", SHELL_COMMANDS, ""), "limit 1024-1025: more than 512 commands");
	(void)shell_tree(repeated("a", "&&a||a", (SHELL_COMMANDS - 1) / 2, ""));
	shell_tree(repeated("a", " $(a)", SHELL_COMMANDS - 1, ""));
	assert_denied_as(repeated("a", " $(a)", SHELL_COMMANDS, ""),
		"limit 2559-2560: more than 512 commands");
	/* Compound ones count too. */
	shell_tree(repeated("", "(a);", SHELL_COMMANDS / 2, ""));
	assert_denied_as(repeated("", "(a);", SHELL_COMMANDS / 2 + 1, ""),
		"limit 1024-1025: more than 512 commands");
}

TEST(there_are_at_most_4096_words)
{
	shell_tree(repeated("a", " b", SHELL_WORDS - 1, ""));
	assert_denied_as(
		repeated("a", " b", SHELL_WORDS, ""), "limit 8192-8193: more than 4096 words");
	shell_tree(repeated("a", " >b", SHELL_WORDS - 1, ""));
	assert_denied_as(
		repeated("a", " >b", SHELL_WORDS, ""), "limit 12288-12289: more than 4096 words");
	shell_tree(repeated("a", " <&1", SHELL_WORDS - 1, ""));
	assert_denied_as(
		repeated("a", " <&1", SHELL_WORDS, ""), "limit 16384-16385: more than 4096 words");
	shell_tree(repeated("", "A=b ", SHELL_WORDS, ""));
	assert_denied_as(repeated("", "A=b ", SHELL_WORDS + 1, ""),
		"limit 16386-16387: more than 4096 words");
	shell_tree(repeated("case a in b", "|b", SHELL_WORDS - 2, ") ;; esac"));
	assert_denied_as(repeated("case a in b", "|b", SHELL_WORDS - 1, ") ;; esac"),
		"limit 8200-8201: more than 4096 words");
	shell_tree(repeated("for x in", " a", SHELL_WORDS - 1, "; do b; done"));
	assert_denied_as(repeated("for x in", " a", SHELL_WORDS, "; do b; done"),
		"limit 8205-8206: more than 4096 words");
}

/* Deep chains, long words and many parts are no limit of their own. */
TEST(what_is_long_but_allowed_is_read_whole)
{
	const struct node *tree = shell_tree(repeated("a ", "'b'c", SHELL_MAX / 4 - 1, ""));

	assert_int_equal(tree->words[1].n, 2 * (SHELL_MAX / 4 - 1));
	tree = shell_tree(repeated("a \"", "$b", SHELL_MAX / 2 - 2, "\""));
	assert_int_equal(tree->words[1].n, SHELL_MAX / 2 - 2);
	tree = shell_tree(repeated("a <<'E'\n", "b\n", SHELL_MAX / 2 - 5, "E"));
	assert_int_equal(tree->redirects[0].text.n, 2 * (SHELL_MAX / 2 - 5));
	shell_tree(repeated("a ", "{}", SHELL_MAX / 2 - 1, ""));
	shell_tree(repeated("a ", "\\\n", SHELL_MAX / 2 - 2, "b"));
	shell_tree(repeated("", "#\n", SHELL_MAX / 2 - 1, "a"));
}

UNIT_GROUP(NULL, arena_end)
