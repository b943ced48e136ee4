#include "src/sys/path.h"
#include "src/merge/rebase_internal.h"

enum { FETCH_S = 300, ASK_S = 60, REPLAY_S = 600, SHA_MIN = 40, SHA_MAX = 64 };

int rebase_git(struct rebasing *w, const char *const *argv, const char *name, unsigned timeout_s,
	struct buf *out, int *status, struct error *err)
{
	const struct git_call c = {.cwd = w->path,
		.argv = argv,
		.name = name,
		.timeout_s = timeout_s,
		.env = w->env,
		.batch_ssh = w->batch_ssh};

	return gate_git(w->g, &c, out, status, err);
}

int rebase_git_in(struct rebasing *w, const char *dir, const char *const *argv, const char *name,
	unsigned timeout_s, struct buf *out, int *status, struct error *err)
{
	const char *path = w->path;
	int rc;

	w->path = dir;
	rc = rebase_git(w, argv, name, timeout_s, out, status, err);
	w->path = path;
	return rc;
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

/* ---- the throw-away worktree ---- */

int rebase_discard(struct rebasing *w, struct error *err)
{
	const char *const argv[] = {
		"git", "worktree", "remove", "--force", "--force", w->dir, NULL};
	const char *const rest[] = {"rm", "-rf", "--", w->dir, NULL};
	static const char *const prune[] = {"git", "worktree", "prune", NULL};
	const char *repo = w->p->repo;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool there;
	int status;

	if (path_check_exists(w->dir, &there, err) < 0)
		return -1;
	if (there && rebase_git_in(w, repo, argv, "git worktree remove", 0, &out, &status, err) < 0)
		return -1;
	if (rebase_git_in(w, repo, rest, "rm", 0, &out, NULL, err) < 0)
		return -1;
	return rebase_git_in(w, repo, prune, "git worktree prune", 0, &out, NULL, err);
}

int rebase_check_out(struct rebasing *w, const char *head, struct error *err)
{
	const char *const argv[] = {"git", REBASE_QUIET, "worktree", "add", "--quiet", "--detach",
		"--force", w->dir, head, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (pool_make_directory(w->a, w->p, err) < 0 || rebase_discard(w, err) < 0)
		return -1;
	return rebase_git_in(w, w->p->repo, argv, "git worktree add", REPLAY_S, &out, NULL, err);
}

/* Of the rebase that has stopped in the throw-away worktree. */
static int read_conflicts(struct rebasing *w, const char *const **paths, struct error *err)
{
	static const char *const argv[] = {
		"git", "diff", "--name-only", "--no-renames", "--diff-filter=U", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char **list;
	size_t n = 0;

	if (rebase_git_in(w, w->dir, argv, "git diff", 0, &out, NULL, err) < 0)
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

int rebase_replay(struct rebasing *w, const char *onto, const char **after,
	const char *const **paths, struct error *err)
{
	const char *const argv[] = {"git", REBASE_QUIET, "-c", "rebase.updateRefs=false", "-c",
		"merge.directoryRenames=false", "-c", "rebase.autoSquash=false", "rebase",
		"--merge", "--no-autostash", onto, NULL};
	static const char *const head[] = {"git", "rev-parse", "HEAD", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error said = {0};
	int status = 0;

	*after = NULL;
	if (rebase_git_in(w, w->dir, argv, "git rebase", REPLAY_S, &out, &status, &said) < 0) {
		*err = said;
		return -1;
	}
	if (status == 0 && rebase_git_in(w, w->dir, head, "git rev-parse", 0, &out, NULL, err) == 0)
		*after = arena_dup(w->a, str_trim(buf_str(&out)));
	if (status == 0)
		return *after ? 0 : -1;
	if (read_conflicts(w, paths, err) < 0)
		return -1;
	if ((*paths)[0])
		return 0;
	*paths = NULL;
	*err = said;
	return -1;
}

/* --keep: files that somebody has changed stay, and the branch too. It compares times of files,
 * which a copy or a build may have touched: they are read first. */
int rebase_follow(struct arena *a, const char *dir, const char *from, const char *to, bool *moved,
	struct error *err)
{
	static const char *const refresh[] = {
		"git", REBASE_QUIET, "update-index", "-q", "--refresh", NULL};
	const char *const reset[] = {"git", REBASE_QUIET, "reset", "--keep", "--quiet", to, NULL};
	struct git_command c = {.dir = dir, .name = "git update-index", .argv = refresh};
	struct error ignored;
	struct git_tip tip;

	*moved = false;
	if (strcmp(from, to) == 0)
		return 0;
	if (git_read_tip(a, dir, &tip, err) < 0)
		return -1;
	*moved = !tip.commit || strcmp(tip.commit, from) != 0;
	if (*moved)
		return 0;
	(void)git_command(&c, NULL, NULL, &ignored);
	c.name = "git reset";
	c.argv = reset;
	return git_command(&c, NULL, NULL, err);
}
