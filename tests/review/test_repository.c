#include "src/review/classifier.h"
#include "tests/lib/git_rig.h"

/* What the agent that made a change can do in the repository to hide parts of it. */

static struct change_stats stats;

/* The reviewers' first letters, "-" for none; "refused" when the change cannot be determined. */
static const char *reviewers(const char *from)
{
	struct classification c;
	char *text = arena_printf(&arena, "%s", "");

	if (review_diff_commits(&arena, at("r"), from, &stats, &err) < 0)
		return "refused";
	classifier_apply_rules(&arena, &stats, &c);
	for (int i = 0; i < REVIEWERS; i++)
		if (c.chosen[i])
			text = arena_printf(&arena, "%s%c", text, reviewer_word(i)[0]);
	return *text ? text : "-";
}

#define COMMIT "git add -A && git commit -qm x"

/* `main` has src/a.c, `topic` has a change in it. */
static void begin_topic(void)
{
	sh("cd r && mkdir src && printf 'int x;\\n' >src/a.c && " COMMIT
	   " && git checkout -qb topic && echo 'int evil;' >>src/a.c && " COMMIT);
}

GIT_TEST(nothing_in_the_repository_hides_a_change)
{
	static const char *const tricks[] = {
		"git replace 'HEAD^{tree}' 'main^{tree}'",
		"git replace HEAD main",
		"git replace HEAD:src/a.c main:src/a.c",
		"mkdir -p .git/info && echo \"$(git rev-parse main) $(git rev-parse topic)\" "
		">.git/info/grafts",
		"git rev-parse main >.git/shallow",
		"echo '*.c -diff' >.git/info/attributes",
		"echo '*.c diff=x' >.git/info/attributes && git config diff.x.textconv true && "
		"git config diff.x.command true && git config diff.x.binary true",
		"git config diff.external true",
		"git config diff.noprefix true && git config diff.mnemonicPrefix true",
		"git config diff.context 0 && git config diff.interHunkContext 50",
		"git config diff.ignoreSubmodules all && git config diff.renames copies",
		"git config diff.relative true && git config diff.wordRegex .",
		"git config color.diff always && git config diff.colorMoved zebra",
		"echo src/a.c >.git/order && git config diff.orderFile .git/order",
		"git config core.bigFileThreshold 1",
		"git config core.quotePath false && git config core.ignoreCase true",
		"git config diff.algorithm patience && git config core.whitespace cr-at-eol",
	};

	for (size_t i = 0; i < COUNT(tricks); i++) {
		sh("rm -rf r && git clone -q org/o.git r 2>/dev/null");
		begin_topic();
		sh(arena_printf(&arena, "cd r && %s", tricks[i]));
		if (strcmp(reviewers("main"), "tcs") != 0)
			fail_msg("%s: %s", tricks[i], err.text);
		assert_int_equal(stats.files, 1);
	}
}

GIT_TEST(a_submodule_is_seen_whatever_says_to_pass_over_it)
{
	sh("cd r && git checkout -qb topic && git update-index --add --cacheinfo 160000,$(git "
	   "rev-parse HEAD),lib && printf '[submodule \"lib\"]\\n\\tpath = lib\\n\\turl = "
	   "x\\n\\tignore = all\\n' >.gitmodules && git add .gitmodules && git commit -qm sub && "
	   "git checkout -qb next && git update-index --cacheinfo "
	   "160000,1234567890123456789012345678901234567890,lib && git commit -qm bump && git "
	   "config submodule.lib.ignore all");
	assert_string_equal(reviewers("topic"), "tcs");
	assert_int_equal(stats.files, 1);
}

/* A tag takes precedence over the branch of its name. */
GIT_TEST(a_name_of_two_things_is_refused)
{
	begin_topic();
	sh("cd r && git tag main HEAD && git config core.warnAmbiguousRefs false");
	assert_string_equal(reviewers("main"), "refused");
	assert_int_equal(err.code, ERR_STATE);
	assert_string_equal(err.text, "'main' does not name exactly one commit");
	assert_string_equal(reviewers("refs/heads/main"), "tcs");
}

/* Topic reverts what came by one of two ways; compared with the other, nothing has changed. */
GIT_TEST(histories_that_have_met_twice_are_refused)
{
	sh("cd r && git checkout -qb one && echo check >one.c && " COMMIT
	   " && git checkout -qb two main && echo two >two.c && " COMMIT
	   " && git checkout -q main && git merge -q one && git merge -q --no-edit two && "
	   "git checkout -qb topic two && git merge -q --no-edit one && git rm -q one.c && "
	   "git commit -qm gone");
	assert_string_equal(reviewers("main"), "refused");
	assert_string_equal(err.text, "there is not exactly one merge base");
	sh("cd r && git checkout -q --orphan alone && git commit -qm alone --allow-empty");
	assert_string_equal(reviewers("main"), "refused");
}

GIT_TEST(a_commit_may_be_named_in_all_ways)
{
	static const struct {
		const char *name, *seen;
	} rows[] = {
		{"HEAD~1", "tcs"},
		{"HEAD^", "tcs"},
		{"HEAD^1", "tcs"},
		{"topic~1", "tcs"},
		{"main", "tcs"},
		{"refs/heads/main", "tcs"},
		{"origin/main", "tcs"},
		{"HEAD", "-"},
		{"HEAD~9", "refused"},
		{"nosuch", "refused"},
		{"^main", "refused"},
		{"HEAD^@", "refused"},
		{"HEAD:src", "refused"},
		{"main..topic", "refused"},
		{"--all", "refused"},
		{"", "refused"},
		{"main topic", "refused"},
	};

	begin_topic();
	for (size_t i = 0; i < COUNT(rows); i++)
		if (strcmp(reviewers(rows[i].name), rows[i].seen) != 0)
			fail_msg("%s: %s", rows[i].name, err.text);
}

/* Twenty lines around the one whose blanks change, so that the delimiters of the text are outside
 * its hunk. */
static const char *blanks_within(const char *name, const char *begin, const char *end)
{
	sh(arena_printf(&arena,
		"cd r && git checkout -q main && git checkout -q -B topic && { echo '%s'; seq 10; "
		"echo '  if (a)'; seq 10; echo '%s'; } >%s && " COMMIT
		" && git branch -f from && sed -i 's/^  if/if/' %s && " COMMIT,
		begin, end, name, name));
	return reviewers("from");
}

GIT_TEST(blanks_in_a_text_over_many_lines_are_seen)
{
	static const struct {
		const char *name, *begin, *end, *seen;
	} rows[] = {
		{"p.go", "var p = `", "`", "tcs"},
		{"p.ts", "const p = `", "`", "tcs"},
		{"p.java", "String p = \"\"\"", "\"\"\";", "tcs"},
		{"p.cc", "auto p = R\"(", ")\";", "tcs"},
		{"p.c", "char *p = u8R\"(", ")\";", "tcs"},
		{"p.cs", "var p = $@\"", "\";", "tcs"},
		{"p.cs", "var p = @$\"", "\";", "tcs"},
		{"p.go", "func p() {", "}", "-"},
		{"p.c", "void p(void) {", "}", "-"},
		{"p.json", "{", "}", "-"},
		{"p.py", "def p():", "#", "tcs"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *seen = blanks_within(rows[i].name, rows[i].begin, rows[i].end);

		if (strcmp(seen, rows[i].seen) != 0)
			fail_msg("%s with %s: %s", rows[i].name, rows[i].begin, seen);
	}
}
