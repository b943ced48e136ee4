#include "src/sys/git.h"
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
