#include <fnmatch.h>
#include <locale.h>
#include "src/policy/glob_match.h"
#include "tests/lib/policy_tree.h"

static struct texts got;

static int expand(const char *cwd, const char *pattern)
{
	verdict = (struct verdict){0};
	return glob_expand(&arena, &root, &policy, str_of(cwd), str_of(pattern),
		(struct span){0, 1}, &got, &verdict);
}

/* `expected`: the matches with a newline behind each. */
static void gives(const char *cwd, const char *pattern, const char *expected)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;

	if (expand(cwd, pattern) < 0)
		fail_msg("'%s': %s", pattern, verdict_text());
	for (size_t i = 0; i < got.n; i++)
		buf_addf(&all, "%s\n", got.p[i]);
	if (strcmp(all.s, expected))
		fail_msg("'%s' gives\n%s", pattern, all.s);
}

static void refused(const char *pattern)
{
	if (expand("", pattern) == 0)
		fail_msg("'%s' gives %zu", pattern, got.n);
	assert_denied_by(RULE_PATH_GLOB, pattern);
}

POLICY_TREE_TEST(matches_come_in_byte_order)
{
	scratch_write("tree/src/B.c", "");
	scratch_write("tree/src/\xc3\xa9.c", "");
	scratch_write("tree/src/.hidden.c", "");
	gives("", "src/*.c", "src/B.c\nsrc/main.c\nsrc/util.c\nsrc/\xc3\xa9.c\n");
	gives("src", "*.c", "B.c\nmain.c\nutil.c\n\xc3\xa9.c\n");
	gives("", "src/[!B]*.h", "src/h.h\n");
	gives("", "src/.h*", "src/.hidden.c\n");
	gives("", "src/.[!.]*", "src/.hidden.c\n");
	gives("", "./s*/*.h", "./src/h.h\n");
	gives("sub", "../src/m*", "../src/main.c\n");
	gives("", at("tree/src/m*"), arena_printf(&arena, "%s\n", at("tree/src/main.c")));
	gives("", "a\\ */", "a b/\n");
}

/* `?` is a byte here, and a character there. */
POLICY_TREE_TEST(what_depends_on_the_locale_is_refused)
{
	scratch_write("tree/sub/\xc3\xa9.c", "");
	refused("sub/?.c");
	refused("sub/??.c");
	refused("sub/[!a].c");
	refused("sub/[\xc3\xa9].c");
	refused("sub/[[:alpha:]]*");
	gives("", "sub/?*.c", "sub/\xc3\xa9.c\n");
	gives("", "sub/*.[ch]", "sub/\xc3\xa9.c\n");
	gives("", "sub/d?ep.*", "sub/deep.txt\n");
	scratch_write("tree/sub/.\xc3\xa9", "");
	gives("", "sub/*?.c", "sub/\xc3\xa9.c\n");
}

POLICY_TREE_TEST(slashes_are_kept_before_a_wildcard)
{
	gives("", "src//*.h", "src//h.h\n");
	gives("", "s[u]b///D*", "s[u]b///D*\n");
	gives("", "su*//d*", "sub/deep.txt\n");
	gives("", "s[ru][bc]//", "src/\nsub/\n");
	gives("", "s*/./Makefile", "sub/./Makefile\n");
	gives("", "R*/", "R*/\n");
	gives("", "src\\/*.h", "src/h.h\n");
}

POLICY_TREE_TEST(without_a_match_a_pattern_is_itself)
{
	gives("", "*.no", "*.no\n");
	gives("", "no/*", "no/*\n");
	gives("no", "*", "*\n");
	gives("", "\\*x*", "*x*\n");
	gives("", "README.md/*", "README.md/*\n");
	gives("", "*/no-such", "*/no-such\n");
	gives("", "[", "[\n");
	gives("", "a[b", "a[b\n");
	gives("", "*/README.md/x", "*/README.md/x\n");
	gives("", "-*", "-*\n");
	gives("", "", "\n");
}

POLICY_TREE_TEST(links_inside_are_passed_through)
{
	gives("", "in*", "include\ninlink\n");
	gives("", "inl*/deep.txt", "inlink/deep.txt\n");
	gives("", "inl*/*.txt", "inlink/deep.txt\n");
	gives("", "inl*/", "inlink/\n");
	gives("", "inlink/d*", "inlink/deep.txt\n");
}

POLICY_TREE_TEST(what_leads_out_is_refused)
{
	refused("*");
	refused("*/passwd");
	refused("es*");
	refused("es*/");
	refused("esc/pass*");
	refused("*/pass*");
	refused("/e*/passwd");
	refused("/*");
	refused("../*");
	refused("../s*");
	refused("../tree-*/secret");
	refused("*/../secret");
	refused("s*/..");
	refused(".*");
	refused(".*/secret");
	refused("src/.?/x");
	refused(".[.]");
	refused("src/.[!a]");
	refused("inlink/../../s*");
	refused("/proc/self/ro*/etc/shadow");
	refused("/proc/self/fd/*");
	refused("/dev/n*ll");
	link_to("gone", "tree/dangling");
	refused("dang*");
	gives("", "dang*/", "dang*/\n");
	gives("", "es*/no-such", "es*/no-such\n");
}

POLICY_TREE_TEST(an_option_is_no_match)
{
	scratch_write("tree/src/-rf", "");
	gives("", "src/*rf", "src/-rf\n");
	verdict = (struct verdict){0};
	assert_int_equal(expand("src", "*"), -1);
	assert_string_equal(
		verdict_text(), "deny path.glob 0-1 '-rf': match that begins with a dash");
	assert_int_equal(expand("src", "-*"), -1);
	gives("src", "./*rf", "./-rf\n");
}

POLICY_TREE_TEST(a_readable_directory_outside_is_listed)
{
	policy.read = (struct texts){(const char *[]){at("tree-other")}, 1};
	gives("", at("tree-other/s*"), arena_printf(&arena, "%s\n", at("tree-other/secret")));
	refused("../s*");
}

POLICY_TREE_TEST(classes_of_unclear_meaning_are_refused)
{
	static const char *const odd[] = {"src/[[=m=]]*", "src/[[.m.]]*", "src/[[:foo:]m]*",
		"src/[[:alpha]*", "src/[a-[.z.]]*", "src/[a-[:z:]]*"};

	for (size_t i = 0; i < COUNT(odd); i++)
		refused(odd[i]);
	gives("", "src/[[:lower:]]*.h", "src/h.h\n");
	gives("", "src/[[:upper:][:digit:]h]*", "src/h.h\n");
}

POLICY_TREE_TEST(there_is_a_bound)
{
	char name[64], longest[5000];

	tree_mkdirs(at("tree/many"));
	for (unsigned i = 0; i < 4097; i++) {
		(void)snprintf(name, sizeof(name), "tree/many/%05u", i);
		scratch_write(name, "");
	}
	refused("many/*");
	gives("", "many/0000[0-2]", "many/00000\nmany/00001\nmany/00002\n");
	link_to(".", "tree/sub/l1");
	link_to(".", "tree/sub/l2");
	link_to(".", "tree/sub/l3");
	refused("sub/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*");
	memset(longest, '*', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	refused(longest);
}

/* Every pattern of three of these pieces against names, with the C library as the other opinion. */
static const char *const pieces[] = {"a", "*", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]",
	"[[:alpha:]]", "\\*", "[\\]]", "[a\\-c]", "-", "."};
static const char *const names[] = {"a", "b", "ab", "abc", "-", "*", "]", ".a", "a.", "aab", "a-b",
	"bca", "\xc3", "A", "aa.b", "...", "a]b"};

static void compare(const char *pattern)
{
	struct glob_part part;

	glob_compile(&arena, str_of(pattern), &part);
	for (size_t i = 0; i < COUNT(names); i++) {
		bool expected =
			fnmatch(pattern, names[i], names[i][0] == '.' ? FNM_PERIOD : 0) == 0;

		if (glob_matches(&part, str_of(names[i])) != expected)
			fail_msg("'%s' against '%s': %d expected", pattern, names[i], expected);
	}
}

TEST(the_c_library_agrees_on_names)
{
	char pattern[64];
	const size_t n = COUNT(pieces);

	for (size_t i = 0; i < n * n * n; i++) {
		(void)snprintf(pattern, sizeof(pattern), "%s%s%s", pieces[i % n], pieces[i / n % n],
			pieces[i / n / n]);
		compare(pattern);
		arena_release(&arena);
	}
}

/* What is not refused gives the same in both locales. */
TEST(locales_agree_on_what_is_left)
{
	static const char *const high[] = {"\303\251", "\303\251a", "a\303\251", "\303\251\303\251",
		"\342\202\254b", "a\360\237\230\200a", ".\303\251", "\303", "\251a"};
	char pattern[64];
	const size_t n = COUNT(pieces);

	for (size_t i = 0; i < n * n * n; i++) {
		struct glob_part part;

		(void)snprintf(pattern, sizeof(pattern), "%s%s%s", pieces[i % n], pieces[i / n % n],
			pieces[i / n / n]);
		glob_compile(&arena, str_of(pattern), &part);
		for (size_t j = 0; j < COUNT(high); j++) {
			bool utf8;

			if (glob_unsure(&part, str_of(high[j])))
				continue;
			if (!setlocale(LC_ALL, "C.UTF-8"))
				skip();
			utf8 = fnmatch(pattern, high[j], FNM_PERIOD) == 0;
			(void)setlocale(LC_ALL, "C");
			if (utf8 != glob_matches(&part, str_of(high[j])))
				fail_msg("'%s' against '%s': %d in UTF-8", pattern, high[j], utf8);
		}
		arena_release(&arena);
	}
}

TEST(a_hostile_pattern_costs_little)
{
	char pattern[600], name[256];
	struct glob_part part;

	for (size_t i = 0; i + 1 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "*a", 2);
	memset(name, 'a', sizeof(name));
	glob_compile(&arena, (struct str){pattern, 598}, &part);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(glob_matches(&part, (struct str){name, 255}));
	pattern[59] = 'b';
	glob_compile(&arena, (struct str){pattern, 60}, &part);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(glob_matches(&part, (struct str){name, 255}));
}

UNIT_GROUP(NULL, arena_end)
