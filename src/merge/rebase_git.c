#include "src/sys/path.h"
#include "src/merge/rebase_internal.h"

enum { FETCH_S = 300, ASK_S = 60, SHA_MIN = 40, SHA_MAX = 64 };

int rebase_git(struct rebasing *w, const char *const *argv, const char *name, unsigned timeout_s,
	struct buf *out, int *status, struct error *err)
{
	const struct git_call c = {.cwd = w->path,
		.argv = argv,
		.name = name,
		.timeout_s = timeout_s,
		.batch_ssh = w->batch_ssh,
		.env = w->env};

	return gate_git(w->g, &c, out, status, err);
}

static bool is_sha(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789abcdef", s.p[i]))
			return false;
	return s.n >= SHA_MIN && s.n <= SHA_MAX;
}

int rebase_sha(struct rebasing *w, const char *ref, const char **sha, struct error *err)
{
	const char *const argv[] = {"git", "rev-parse", "--verify", "--quiet",
		arena_printf(w->a, "%s^{commit}", ref), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	*sha = NULL;
	if (rebase_git(w, argv, "git rev-parse", 0, &out, &status, err) < 0)
		return -1;
	if (status == 0 && is_sha(str_trim(buf_str(&out))))
		*sha = arena_dup(w->a, str_trim(buf_str(&out)));
	return 0;
}

int rebase_contains(
	struct rebasing *w, const char *sha, const char *in, bool *yes, struct error *err)
{
	const char *const argv[] = {"git", "merge-base", "--is-ancestor", sha, in, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (rebase_git(w, argv, "git merge-base", 0, &out, &status, err) < 0)
		return -1;
	*yes = status == 0;
	return status > 1 ? -1 : 0;
}

int rebase_was_at(struct rebasing *w, const char *sha, bool *yes, struct error *err)
{
	const char *const argv[] = {"git", "log", "-g", "--format=%H",
		arena_printf(w->a, "refs/heads/%s", w->branch), "--", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int status;

	*yes = false;
	if (rebase_git(w, argv, "git log", 0, &out, &status, err) < 0)
		return -1;
	for (rest = buf_str(&out); str_line(&rest, &line);)
		*yes = *yes || str_is(line, sha);
	return 0;
}

int rebase_dirty(struct rebasing *w, const char **what, struct error *err)
{
	static const char *const argv[] = {"git", "status", "--porcelain", "-z",
		"--untracked-files=all", "--no-renames", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	*what = NULL;
	if (rebase_git(w, argv, "git status", 0, &out, NULL, err) < 0)
		return -1;
	if (out.len > 3) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		buf_adds(&name, out.s + 3);
		buf_utf8_repair(&name);
		*what = arena_dup(w->a, buf_str(&name));
	}
	return 0;
}

int rebase_conflicts(struct rebasing *w, const char *const **paths, struct error *err)
{
	static const char *const argv[] = {
		"git", "diff", "--name-only", "--no-renames", "--diff-filter=U", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char **list;
	size_t n = 0;

	if (rebase_git(w, argv, "git diff", 0, &out, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < out.len; i++)
		n += out.s[i] == '\0';
	list = arena_alloc(w->a, (n + 1) * sizeof(*list));
	n = 0;
	for (size_t i = 0; i < out.len; i += strlen(out.s + i) + 1) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		buf_adds(&name, out.s + i);
		buf_utf8_repair(&name);
		list[n++] = arena_dup(w->a, buf_str(&name));
	}
	*paths = list;
	return 0;
}

static const char *sha_of(struct rebasing *w, struct str said, const char *name)
{
	struct str line;

	while (str_line(&said, &line)) {
		size_t tab = str_find(line, STR("\t"));

		if (is_sha(str_sub(line, 0, tab)) && tab < line.n &&
			str_is(str_sub(line, tab + 1, line.n), name))
			return arena_dup(w->a, str_sub(line, 0, tab));
	}
	return NULL;
}

int rebase_remote(struct rebasing *w, const char **target, const char **branch, struct error *err)
{
	const char *of_target = arena_printf(w->a, "refs/heads/%s", w->target);
	const char *of_branch = arena_printf(w->a, "refs/heads/%s", w->branch);
	const char *const argv[] = {
		"git", "ls-remote", "--refs", "origin", of_target, of_branch, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (rebase_git(w, argv, "git ls-remote", ASK_S, &out, NULL, err) < 0)
		return -1;
	*target = sha_of(w, buf_str(&out), of_target);
	*branch = sha_of(w, buf_str(&out), of_branch);
	return 0;
}

static const char *refspec(struct rebasing *w, const char *branch)
{
	return arena_printf(w->a, "+refs/heads/%s:refs/remotes/origin/%s", branch, branch);
}

int rebase_fetch(struct rebasing *w, struct error *err)
{
	const char *const argv[] = {"git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0",
		"-c", "maintenance.auto=false", "fetch", "--quiet", "--no-tags",
		"--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "origin",
		refspec(w, w->target), w->theirs ? refspec(w, w->branch) : NULL, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	return rebase_git(w, argv, "git fetch", FETCH_S, &out, NULL, err);
}
