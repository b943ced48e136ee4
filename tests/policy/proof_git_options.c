/*
 * The rows of git's commands against the git that is here. Where a row says that an option takes
 * the next word for its value and git does not, that word would be an option that nobody looked at.
 */
#include <sys/stat.h>
#include "src/sys/process.h"
#include "src/policy/bin_git.h"
#include "src/policy/notation.h"
#include "tests/lib/unit.h"
#include "tests/lib/scratch.h"

static struct error err;

#define MARK "--no-such-option-1"

static const struct git_command *const tables[] = {git_rows_history, git_rows_look, git_rows_change,
	git_rows_refs, git_rows_remotes, git_rows_places};

static const char *const environment[] = {"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
	"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "LC_ALL=C", NULL};

static void run(const char *const *argv, struct buf *out)
{
	struct process_end end;
	const struct process p = {.argv = argv,
		.cwd = base,
		.env = environment,
		.output = -1,
		.out = out,
		.out_max = 1 << 16,
		.timeout_s = 600};

	buf_clear(out);
	buf_adds(out, "");
	if (process_run(&p, &end, &err) < 0)
		fail_msg("%s", err.text);
}

static int make_repository(void **state)
{
	static const char *const init[] = {"git", "init", "-q", "-b", "main", NULL};
	static const char *const commit[] = {
		"git", "commit", "-q", "--allow-empty", "-m", "x", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (scratch_make(state) < 0)
		return -1;
	run(init, &out);
	run(commit, &out);
	assert_int_equal(out.len, 0);
	return 0;
}

static bool has(const struct buf *text, const char *word)
{
	return strstr(text->s, word) != NULL;
}

/* git says that it does not know MARK, so it looked at it as at an option. */
static bool looked_at(const struct buf *out)
{
	return has(out, "unknown option `no-such-option-1") || has(out, "unknown option `" MARK) ||
	       has(out, "unrecognized argument: " MARK) || has(out, "invalid option: " MARK);
}

/* `git` and the words of the command; how many. */
static size_t begin(const struct git_command *g, const char **argv)
{
	const char *blank = strchr(g->name, ' ');
	size_t n = 0;

	argv[n++] = "git";
	argv[n++] = arena_dup(
		&arena, (struct str){g->name, blank ? (size_t)(blank - g->name) : strlen(g->name)});
	if (blank)
		argv[n++] = blank + 1;
	return n;
}

static bool needs_next_word(const struct git_command *g, const struct option_row *row)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *argv[6] = {NULL};
	size_t n = begin(g, argv);

	if (row->value != OPTION_NEEDS)
		return false;
	argv[n++] = arena_dup(&arena, row->name);
	argv[n++] = MARK;
	run(argv, &out);
	if (looked_at(&out))
		fail_msg("git %s: the value of %s is not the next word:\n%s", g->name, argv[n - 2],
			out.s);
	return true;
}

static bool shares_options(const struct git_command *g)
{
	static const char *const like_log[] = {
		"show", "whatchanged", "reflog", "reflog show", "stash list", "annotate"};

	for (size_t i = 0; i < COUNT(like_log); i++)
		if (!strcmp(g->name, like_log[i]))
			return true;
	return false;
}

static unsigned each_option(bool (*one)(const struct git_command *g, const struct option_row *row))
{
	unsigned n = 0;

	for (size_t t = 0; t < COUNT(tables); t++)
		for (const struct git_command *g = tables[t]; g->name; g++) {
			struct notation rows;

			if (shares_options(g))
				continue;
			assert_int_equal(notation_options(&arena, g->options, &rows, &err), 0);
			for (size_t i = 0; i < rows.n; i++)
				n += one(g, &rows.rows[i]);
		}
	return n;
}

UNIT_TEST(values_are_the_next_word_for_git_too, make_repository, scratch_remove)
{
	assert_true(each_option(needs_next_word) > 300);
}

/* In a place that no command touches. */
#define CANARY ".git/canary.sh"

static bool starts_nothing(const struct git_command *g, const struct option_row *row)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *argv[6] = {NULL}, *name = arena_dup(&arena, row->name);
	size_t n = begin(g, argv);

	if (row->value == OPTION_ALONE)
		return false;
	argv[n++] = arena_printf(&arena, "%s%s%s", name, name[1] == '-' ? "=" : "", at(CANARY));
	argv[n++] = "HEAD";
	run(argv, &out);
	if (access(at(".git/ran"), F_OK) == 0)
		fail_msg("git %s %s starts a program", g->name, name);
	return true;
}

UNIT_TEST(no_option_starts_a_program, make_repository, scratch_remove)
{
	const char *open = arena_printf(&arena, "-O%s", at(CANARY));
	const char *const shows[] = {"git", "grep", "--no-index", open, "canary", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	scratch_write(CANARY, "#!/bin/sh\ntouch \"${0%/*}/ran\"\n");
	assert_int_equal(chmod(at(CANARY), 0755), 0);
	scratch_write("f", "canary\n");
	run(shows, &out);
	assert_int_equal(access(at(".git/ran"), F_OK), 0);
	assert_int_equal(unlink(at(".git/ran")), 0);
	assert_true(each_option(starts_nothing) > 300);
}
