#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/review/classifier.h"

enum {
	DIFF_S = 120,
	OUTPUT_MAX = 16 << 20, /* the limit of git_command() */
	CONTEXT_LINES = 3,
	WHOLE_FILE = 1000000,
};

static int check_base(const char *base, struct error *err)
{
	if (!base[0] || base[0] == '-' || strpbrk(base, " \t\n:?*[\\") || strstr(base, ".."))
		return error_set(err, ERR_USAGE,
			"bad value '%.100s' of --base: must be a branch, a tag or a commit", base);
	return 0;
}

/*
 * Ignores `shallow` and the commit-graph, which an agent in the repository can write. Git warns of
 * an ambiguous name, which makes the output invalid.
 */
static int run_git(
	const char *repo, const char *const *argv, struct buf *out, int *status, struct error *err)
{
	static const char *const env[] = {"GIT_SHALLOW_FILE=", "GIT_DIFF_OPTS", NULL};
	static const char *const first[] = {"git", "-c", "core.commitGraph=false", "-c",
		"core.warnAmbiguousRefs=true", "-c", "core.quotePath=true", "-c",
		"diff.suppressBlankEmpty=false", "-c", "core.attributesFile=/dev/null"};
	enum { WORDS = 48 };
	const char *words[WORDS + 1] = {NULL};
	const struct git_command c = {
		.dir = repo, .name = "git", .argv = words, .env = env, .limit_s = DIFF_S};
	size_t n = 0;

	for (; n < COUNT(first); n++)
		words[n] = first[n];
	for (size_t i = 0; argv[i] && n < WORDS; i++)
		words[n++] = argv[i];
	return git_command(&c, out, status, err);
}

/* The output must be one object id and nothing else. */
static const char *id_in(struct arena *a, const struct buf *out)
{
	struct str text = str_trim(buf_str(out));

	for (size_t i = 0; i < text.n; i++)
		if (!strchr("0123456789abcdef", text.p[i]))
			return NULL;
	return text.n >= 40 ? arena_dup(a, text) : NULL;
}

static int find_commit(
	struct arena *a, const char *repo, const char *name, const char **id, struct error *err)
{
	const char *const argv[] = {
		"rev-parse", "--verify", arena_printf(a, "%s^{commit}", name), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 0;

	if (run_git(repo, argv, &out, &status, err) < 0)
		return -1;
	*id = status ? NULL : id_in(a, &out);
	return *id ? 0
		   : error_set(err, ERR_STATE, "'%.100s' does not name exactly one commit", name);
}

/* With several merge bases, each may hide a change that was reverted since another one. */
static int find_merge_base(struct arena *a, const char *repo, const char *base, const char *head,
	const char **id, struct error *err)
{
	const char *const argv[] = {"merge-base", "--all", base, head, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status = 0;

	if (run_git(repo, argv, &out, &status, err) < 0)
		return -1;
	*id = status ? NULL : id_in(a, &out);
	return *id ? 0 : error_set(err, ERR_STATE, "there is not exactly one merge base");
}

/*
 * Overrides every setting and attribute of the user and the repository that could hide a change:
 * both names of a moved file, submodules, no external programs.
 */
static int print_diff(struct arena *a, const char *repo, const char *const ids[2], int lines,
	struct buf *out, struct error *err)
{
	const char *const argv[] = {"diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv",
		"--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/",
		"--submodule=short", "--ignore-submodules=none",
		arena_printf(a, "--unified=%d", lines), "--inter-hunk-context=0", "--full-index",
		"--diff-algorithm=myers", ids[0], ids[1], "--", NULL};

	return run_git(repo, argv, out, NULL, err);
}

/* Decides `whitespace_only` from whole files; a change too large for that is not. */
static int check_whole_files(struct arena *a, const char *repo, const char *const ids[2],
	struct change_stats *s, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct change_stats whole;

	if (print_diff(a, repo, ids, WHOLE_FILE, &text, err) < 0)
		return -1;
	if (text.len >= OUTPUT_MAX)
		return 0;
	if (review_diff_read(a, "git diff", buf_str(&text), &whole, err) < 0)
		return -1;
	s->whitespace_only = whole.whitespace_only;
	s->excerpts = false;
	return 0;
}

int review_diff_commits(struct arena *a, const char *repo, const char *base,
	struct change_stats *out, struct error *err)
{
	const char *ids[2], *from;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (check_base(base, err) < 0 || find_commit(a, repo, base, &from, err) < 0 ||
		find_commit(a, repo, "HEAD", &ids[1], err) < 0 ||
		find_merge_base(a, repo, from, ids[1], &ids[0], err) < 0 ||
		print_diff(a, repo, ids, CONTEXT_LINES, &text, err) < 0)
		return -1;
	if (text.len >= OUTPUT_MAX)
		return error_set(err, ERR_INPUT,
			"the change is over %d MiB: too large to be classified", OUTPUT_MAX >> 20);
	if (review_diff_read(a, "git diff", buf_str(&text), out, err) < 0)
		return -1;
	return out->whitespace_only ? check_whole_files(a, repo, ids, out, err) : 0;
}
