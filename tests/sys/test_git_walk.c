#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "tests/lib/git_rig.h"

static bool is_spec(struct str name)
{
	return str_starts(name, "_spec_") && str_ends(name, ".md");
}

static void found_are(const char *expected)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	char **paths;
	size_t n;

	assert_int_equal(git_find_files(&arena, at("r"), is_spec, &paths, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		buf_addf(&got, "%s\n", paths[i]);
	assert_string_equal(got.s ? got.s : "", expected);
}

GIT_TEST(files_are_found_sorted_and_ignored_ones_are_not)
{
	found_are("");
	sh("cd r && mkdir -p b/c out/deep sub && printf 'out/\\n*_x.md\\n' >.gitignore\n"
	   "touch _spec_z.md b/c/_spec_a.md b/_spec_x.md out/_spec_o.md out/deep/_spec_o.md\n"
	   "touch .git/_spec_g.md b/other.md sub/_spec_hidden.md && echo _spec_h* >sub/.gitignore\n"
	   "touch 'b/_spec_with space.md'");
	found_are("_spec_z.md\nb/_spec_with space.md\nb/c/_spec_a.md\n");
}

GIT_TEST(what_is_tracked_is_found_whatever_the_patterns_say)
{
	sh("cd r && mkdir out && echo out/ >.gitignore && touch out/_spec_in.md out/_spec_un.md\n"
	   "touch out/_spec_gone.md && git add -f out/_spec_in.md out/_spec_gone.md\n"
	   "rm out/_spec_gone.md");
	found_are("out/_spec_in.md\n");
}

GIT_TEST(a_split_index_is_read)
{
	sh("cd r && mkdir out && echo out/ >.gitignore && touch out/_spec_in.md &&\n"
	   "git add -f out/_spec_in.md && git update-index --split-index");
	found_are("out/_spec_in.md\n");
}

GIT_TEST(links_other_repositories_and_odd_names_are_not_looked_into)
{
	sh("cd r && mkdir real && touch real/_spec_r.md && ln -s real link && ln -s .. loop\n"
	   "ln -s real/_spec_r.md _spec_link.md && mkdir _spec_dir.md && mkfifo _spec_fifo.md\n"
	   "git init -q nested && touch nested/_spec_n.md\n"
	   "git worktree add -q tree -b t && touch tree/_spec_t.md\n"
	   "touch \"$(printf '_spec_\\377.md')\"");
	found_are("real/_spec_r.md\n");
}

GIT_TEST(files_are_found_in_a_linked_work_tree)
{
	char **paths;
	size_t n;

	sh("git -C r worktree add -q ../w -b other; mkdir w/d; touch w/d/_spec_w.md");
	assert_int_equal(git_find_files(&arena, at("w"), is_spec, &paths, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(paths[0], "d/_spec_w.md");
}

#define DEEP(n) "d=$(printf 'd/%.0s' $(seq 1 " n ")); mkdir -p $d; touch ${d}_spec_" n ".md\n"

GIT_TEST(deep_directories_are_walked_up_to_a_depth)
{
	char **paths;
	size_t n;

	sh("cd r\n" DEEP("128") DEEP("129") DEEP("150") "git add ${d}_spec_150.md\n" DEEP("2000"));
	assert_int_equal(git_find_files(&arena, at("r"), is_spec, &paths, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_true(str_ends(str_of(paths[0]), "/_spec_128.md"));
	assert_true(str_ends(str_of(paths[1]), "/_spec_150.md"));
}

/* ---- without libgit2 ---- */

static int plain(char ***paths, size_t *n)
{
	return git_find_files_plain(&arena, at("r"), is_spec, paths, n, &err);
}

static void plain_are(const char *expected)
{
	CLEANUP(buf_release) struct buf got = BUF_INIT;
	char **paths;
	size_t n = 0;

	assert_int_equal(plain(&paths, &n), 1);
	for (size_t i = 0; i < n; i++)
		buf_addf(&got, "%s\n", paths[i]);
	assert_string_equal(got.s ? got.s : "", expected);
}

GIT_TEST(usual_patterns_need_no_libgit2)
{
	char **paths;
	size_t n;

	sh("cd r && printf '\\357\\273\\277*.o\\r\\n# _spec_*\\n\\n/build/\\nnode_modules/\\n"
	   "*.py[cod]\\n.env*\\n!.env.example\\n**/target/x\\n' >.gitignore\n"
	   "mkdir -p docs/build build node_modules/p\n"
	   "touch docs/build/_spec_d.md build/_spec_b.md node_modules/p/_spec_n.md _spec_a.md\n"
	   "touch node_modules/p/_spec_t.md docs/_spec_gone.md\n"
	   "git add -f node_modules/p/_spec_t.md docs/_spec_gone.md && rm docs/_spec_gone.md");
	plain_are("_spec_a.md\ndocs/build/_spec_d.md\nnode_modules/p/_spec_t.md\n");
	found_are("_spec_a.md\ndocs/build/_spec_d.md\nnode_modules/p/_spec_t.md\n");
	sh("cd r && git worktree add -q ../w -b other 2>/dev/null && touch ../w/_spec_w.md");
	assert_int_equal(git_find_files_plain(&arena, at("w"), is_spec, &paths, &n, &err), 1);
	assert_int_equal(n, 1);
}

/* Where it is done without libgit2, git itself lists the same files. */
GIT_TEST(what_patterns_may_ignore_is_left_to_libgit2)
{
	static const char *const patterns[] = {"_spec_a.md", "/_spec_a.md", "_SPEC_A.MD", "*.md",
		"_spec_?.md", "_spec_[a].md", "\\_spec_a.md", "d", "d/", "/d", "/d/", "D/", "d/e",
		"d/e/", "d/**", "**/e", "d/*", "*", "/*", "*\\n!*.md", "*\\n!*/\\n!*.md", "e", "/e",
		"!d\\nd", "d\\n!d", "d\\n!d/", "d/\\n!/d/e/_spec_e.md", "*/", "d ", "d\\t", "d\\r",
		"\\357\\273\\277d", "#d", "\\\\#d", "d*", "*d", "?", "[d]", "[!d]", "d//", "//d",
		"d/e\\n!d/e", "_spec_*\\n!_spec_e.md", ".*", "**", "x/../d", "[", "d/[", "**d",
		"d**", "e/_spec_e.md", "d/e/_spec_e.md", "*/_spec_d.md"};
	size_t without = 0;

	sh("cd r && mkdir -p d/e && touch _spec_a.md d/_spec_d.md d/e/_spec_e.md");
	for (size_t i = 0; i < COUNT(patterns); i++) {
		CLEANUP(buf_release) struct buf got = BUF_INIT;
		char **paths, *script;
		size_t n;
		int rc;

		sh(arena_printf(&arena, "printf '%s\\n' >r/.gitignore", patterns[i]));
		rc = plain(&paths, &n);
		assert_in_range(rc, 0, 1);
		without += (size_t)rc;
		for (size_t k = 0; rc && k < n; k++)
			buf_addf(&got, "%s\n", paths[k]);
		script = arena_printf(&arena,
			"cd r && git ls-files -co --exclude-standard '_spec_*.md' "
			"'*/_spec_*.md' | LC_ALL=C sort -u");
		if (rc)
			assert_sh(script, got.s ? got.s : "");
	}
	assert_in_range(without, 15, COUNT(patterns));
}

GIT_TEST(a_repository_that_is_not_plain_is_left_to_libgit2)
{
	static const char *const scripts[] = {"git config core.excludesFile /dev/null",
		"git config core.bare true", "git config core.worktree ..",
		"git config include.path x", "git config extensions.worktreeConfig true",
		"touch x && git add x && git update-index --index-version 4",
		"touch x && git add x && git update-index --split-index", "rm .git/HEAD",
		"printf 'DIRC\\0\\0\\0\\2\\0\\0\\0\\1' >.git/index", "mkdir .gitignore",
		"printf '[core]\\n\\tExcludesFile = x\\n' >>../.home/.gitconfig"};
	char **paths;
	size_t n;

	plain_are("");
	for (size_t i = 0; i < COUNT(scripts); i++) {
		sh("rm -rf keep && cp -a r keep");
		sh(arena_printf(&arena, "cd r && %s", scripts[i]));
		if (plain(&paths, &n) != 0)
			fail_msg("not left to libgit2: %s", scripts[i]);
		sh("rm -rf r && mv keep r");
	}
}
