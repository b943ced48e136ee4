#include <signal.h>
#include <sys/wait.h>
#include "tests/lib/policy_tree.h"

static struct place place;

static int ask(const char *cwd, const char *path, enum access access)
{
	verdict = (struct verdict){0};
	return where(&arena, &root, &policy, str_of(cwd), str_of(path), access, (struct span){3, 7},
		&place, &verdict);
}

static void leads(const char *cwd, const char *path, const char *to)
{
	if (ask(cwd, path, ACCESS_READ) < 0)
		fail_msg("'%s': %s", path, verdict_text());
	if (!str_is(place.path, to))
		fail_msg("'%s' leads to '%.*s'", path, (int)place.path.n, place.path.p);
	assert_true(str_is(place.full, *to ? at(path_join(&arena, "tree", to)) : root.path));
	assert_false(place.outside);
}

static void refused(const char *path, enum access access, enum rule rule)
{
	if (ask("", path, access) == 0)
		fail_msg("'%s' leads to '%.*s'", path, (int)place.full.n, place.full.p);
	assert_denied_by(rule, path);
}

static void outside(const char *cwd, const char *path)
{
	if (ask(cwd, path, ACCESS_READ) == 0)
		fail_msg("'%s' leads to '%.*s'", path, (int)place.full.n, place.full.p);
	assert_denied_by(RULE_PATH_OUTSIDE, path);
}

POLICY_TREE_TEST(paths_below_the_root_are_followed_to_their_real_place)
{
	leads("", "README.md", "README.md");
	leads("", "./src/../README.md", "README.md");
	leads("", "inlink/deep.txt", "sub/deep.txt");
	leads("", ".", "");
	leads("", "sub/..", "");
	leads("sub", "..", "");
	leads("sub", "../src//main.c", "src/main.c");
	leads("", "src/", "src");
	leads("", "inlink/", "sub");
	leads("", "", "");
	leads("sub", "", "sub");
	leads("", at("tree"), "");
	leads("sub", at("tree/src/main.c"), "src/main.c");
	leads("", at("tree/"), "");
	leads("", at("tree/../tree/src"), "src");
	leads("", "../tree/src", "src");
	assert_true(place.exists && place.folder);
}

POLICY_TREE_TEST(paths_that_lead_out_are_denied)
{
	outside("", "..");
	outside("", "../secret");
	outside("sub", "../../secret");
	outside("", "sub/../../secret");
	outside("", "esc");
	outside("", "esc/passwd");
	outside("", "esc/../etc/passwd");
	outside("", "inlink/../../secret");
	outside("", "/");
	outside("", "/etc/passwd");
	outside("", at("tree-other/secret"));
	outside("", at("tree-other"));
	outside("", at("tre"));
	outside("", at("tree/../secret"));
	outside("", "/no/such/folder");
	outside("", "../no-such");
	outside("", "esc/no-such");
}

POLICY_TREE_TEST(doors_of_the_kernel_are_denied)
{
	static const char *const doors[] = {"/proc/self/root/etc/shadow",
		"/proc/self/cwd/../secret", "/proc/self/fd/0", "/proc/1/root", "/proc/version",
		"/sys/kernel", "/dev/stdin", "/dev/fd/0", "/dev/tty", "/dev/sda", "/dev/full",
		"/dev/tcp/localhost/80"};

	for (size_t i = 0; i < COUNT(doors); i++)
		outside("", doors[i]);
	link_to("/proc/self/cwd", "tree/here");
	link_to("/dev/null", "tree/nothing");
	outside("", "here/README.md");
	outside("", "nothing");
	policy.read = (struct texts){(const char *[]){"/proc", "/dev"}, 2};
	outside("", "/proc/version");
	outside("", "/proc/self/root/etc/passwd");
	outside("", "/dev/tty");
}

POLICY_TREE_TEST(three_devices_may_be_read_and_one_written)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom"};

	for (size_t i = 0; i < COUNT(devices); i++) {
		assert_int_equal(ask("src", devices[i], ACCESS_READ), 0);
		assert_true(place.outside && place.exists);
	}
	assert_int_equal(ask("", "/dev/null", ACCESS_WRITE), 0);
	refused("/dev/zero", ACCESS_WRITE, RULE_PATH_OUTSIDE);
}

POLICY_TREE_TEST(what_does_not_exist_is_where_its_parent_is)
{
	leads("", "new.c", "new.c");
	assert_false(place.exists || place.folder);
	leads("", "new/", "new");
	leads("", "a/b/c//d/", "a/b/c/d");
	leads("sub", "./x/./y", "sub/x/y");
	leads("", "inlink/x", "sub/x");
	leads("", at("tree/x/y"), "x/y");
	leads("no-such/b", "x", "no-such/b/x");
	leads("no-such", "", "no-such");
	outside("", "x/..");
	outside("", "x/../README.md");
	outside("", "x/../../secret");
	outside("", "x/./../y");
	outside("no-such", "../README.md");
	outside("", "README.md/x");
}

POLICY_TREE_TEST(links_to_nothing_are_denied)
{
	link_to("../gone", "tree/out");
	link_to("gone", "tree/in");
	link_to("loop", "tree/loop");
	outside("", "out");
	outside("", "in");
	outside("", "in/x");
	outside("", "loop");
	refused("out", ACCESS_WRITE, RULE_PATH_OUTSIDE);
	refused("in", ACCESS_WRITE, RULE_PATH_OUTSIDE);
}

POLICY_TREE_TEST(absolute_links_that_stay_inside_are_followed)
{
	link_to(at("tree/sub"), "tree/absolute");
	link_to("../tree/src", "tree/detour");
	link_to(at("tree"), "alias");
	leads("", "absolute/deep.txt", "sub/deep.txt");
	leads("", "absolute/new", "sub/new");
	leads("", "detour/main.c", "src/main.c");
	leads("", at("alias/src/main.c"), "src/main.c");
	leads("", at("alias"), "");
	leads("", at("alias/new/file"), "new/file");
	outside("", at("alias/../secret"));
}

POLICY_TREE_TEST(protected_files_are_read_but_not_written)
{
	static const char *const kept[] = {".git", ".git/config", ".git/hooks/pre-commit",
		".git/index", ".GIT/x", "sub/.git/config", ".claude", ".claude/settings.json",
		"sub/.claude/settings.json", ".mcp.json", ".codex/config.toml", ".gemini/x",
		"opencode.json", ".aider.conf.yml", ".dev-team/x", "src/../.git/x", "./.mcp.json"};
	static const char *const free[] = {".gitignore", ".github/x", "sub/.gitattributes",
		"claude", ".git.x", ".claude-plugin/x", ".mcp.jsonl", "build/.mcp.json.bak"};

	for (size_t i = 0; i < COUNT(kept); i++) {
		assert_int_equal(ask("", kept[i], ACCESS_READ), 0);
		refused(kept[i], ACCESS_WRITE, RULE_PATH_PROTECTED);
	}
	for (size_t i = 0; i < COUNT(free); i++)
		assert_int_equal(ask("", free[i], ACCESS_WRITE), 0);
}

POLICY_TREE_TEST(what_holds_protected_files_is_protected_as_a_whole)
{
	assert_int_equal(ask("", ".", ACCESS_WRITE), 0);
	policy.protect = (struct texts){(const char *[]){"./build/keep/", "ci.yml", "inlink/x"}, 3};
	refused("build/keep/it", ACCESS_WRITE, RULE_PATH_PROTECTED);
	refused("ci.yml", ACCESS_WRITE, RULE_PATH_PROTECTED);
	refused("sub/x", ACCESS_WRITE, RULE_PATH_PROTECTED);
	refused("sub/x/y", ACCESS_WRITE, RULE_PATH_PROTECTED);
	assert_int_equal(ask("", "build", ACCESS_WRITE), 0);
}

POLICY_TREE_TEST(what_a_protected_link_leads_to_is_protected)
{
	tree_mkdirs(at("tree/dotfiles/claude"));
	link_to("dotfiles/claude", "tree/.claude");
	open_root("tree");
	refused("dotfiles/claude/settings.json", ACCESS_WRITE, RULE_PATH_PROTECTED);
	assert_int_equal(ask("", "dotfiles/x", ACCESS_WRITE), 0);
}

POLICY_TREE_TEST(directories_of_the_policy_may_be_read)
{
	link_to("usr", "usr-link");
	tree_mkdirs(at("usr/include"));
	scratch_write("usr/include/x.h", "x");
	scratch_write("usr-other/y.h", "y");
	policy.read = (struct texts){(const char *[]){at("usr-link"), "relative"}, 2};
	assert_int_equal(ask("src", at("usr/include/x.h"), ACCESS_READ), 0);
	assert_true(place.outside && place.exists);
	assert_true(str_is(place.full, at("usr/include/x.h")));
	assert_int_equal(ask("", at("usr-link"), ACCESS_READ), 0);
	assert_int_equal(ask("", "../usr/include/x.h", ACCESS_READ), 0);
	outside("", at("usr-other/y.h"));
	refused(at("usr/include/x.h"), ACCESS_WRITE, RULE_PATH_OUTSIDE);
}

POLICY_TREE_TEST(odd_names_are_data)
{
	char longest[5000];

	scratch_write("tree/two\nlines", "x");
	scratch_write("tree/gone (deleted)", "x");
	scratch_write("tree/caf\xc3\xa9.txt", "x");
	leads("", "caf\xc3\xa9.txt", "caf\xc3\xa9.txt");
	leads("", "two\nlines", "two\nlines");
	leads("", "\x1b[31m", "\x1b[31m");
	leads("", "gone (deleted)", "gone (deleted)");
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	outside("", longest);
	for (size_t i = 1; i < sizeof(longest) - 1; i += 2)
		longest[i] = '/';
	longest[3999] = '\0';
	outside("", longest);
	verdict = (struct verdict){0};
	assert_int_equal(where(&arena, &root, &policy, STR(""), STR("a\0b"), ACCESS_READ,
				 (struct span){0}, &place, &verdict),
		-1);
	refused("../\x1b[31m\n", ACCESS_READ, RULE_PATH_OUTSIDE);
	assert_null(strchr(verdict_text(), '\x1b'));
	assert_null(strchr(verdict_text(), '\n'));
}

POLICY_TREE_TEST(the_verdict_names_word_and_place)
{
	char expected[1024];

	refused("src/../../secret", ACCESS_READ, RULE_PATH_OUTSIDE);
	(void)snprintf(expected, sizeof(expected),
		"deny path.outside 3-7 'src/../../secret' -> %s: path that leads outside the root",
		at("secret"));
	assert_string_equal(verdict_text(), expected);
	refused("inlink/.git", ACCESS_WRITE, RULE_PATH_PROTECTED);
	(void)snprintf(expected, sizeof(expected),
		"deny path.protected 3-7 'inlink/.git' -> %s: write to what is protected by '.git'",
		at("tree/sub/.git"));
	assert_string_equal(verdict_text(), expected);
}

POLICY_TREE_TEST(a_directory_swapped_for_a_link_is_never_taken_for_inside)
{
	unsigned inside = 0, denied = 0;
	const char *real = at("tree/sub/secret");
	pid_t child;

	scratch_write("tree/sub/secret", "x");
	child = policy_tree_swap(at("tree/sub"), at("tree/aside"), base);
	for (int i = 0; i < 20000; i++) {
		const char *path = i % 3 == 0   ? "sub/secret"
				   : i % 3 == 1 ? "inlink/secret"
						: "sub/x/y";

		if (ask(i & 1 ? "" : "src/..", path, ACCESS_WRITE) < 0) {
			denied++;
			continue;
		}
		inside++;
		if (!str_starts(place.full, at("tree/")))
			fail_msg("%s", place.full.p);
		if (i % 3 != 2 && place.exists && !str_is(place.full, real) &&
			!str_is(place.full, at("tree/aside/secret")))
			fail_msg("%s", place.full.p);
	}
	kill(child, 9);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(inside + denied, 20000);
}
