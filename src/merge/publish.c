#include "src/merge/publish.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum { FETCH_S = 300, PUSH_S = 300, ASK_S = 60, REPLAY_S = 600, SHA_MIN = 40, SHA_MAX = 64 };

/* ---- git under the gate ---- */

/* Of the repository, in w->path. */
static int publish_git(struct publish *w, const char *const *argv, const char *name,
	unsigned timeout_s, struct buf *out, int *status, struct error *err)
{
	const struct git_call c = {.cwd = w->path,
		.argv = argv,
		.name = name,
		.timeout_s = timeout_s,
		.batch_ssh = w->batch_ssh};

	return gate_git(w->g, &c, out, status, err);
}

static int publish_git_in(struct publish *w, const char *dir, const char *const *argv,
	const char *name, unsigned timeout_s, struct buf *out, int *status, struct error *err)
{
	const struct git_call c = {.cwd = dir, .argv = argv, .name = name, .timeout_s = timeout_s};

	return gate_git(w->g, &c, out, status, err);
}

static bool publish_is_sha(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789abcdef", s.p[i]))
			return false;
	return s.n >= SHA_MIN && s.n <= SHA_MAX;
}

int publish_read_sha(struct publish *w, const char *ref, const char **sha, struct error *err)
{
	const char *const argv[] = {"git", "rev-parse", "--verify", "--quiet",
		arena_printf(w->a, "%s^{commit}", ref), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	*sha = NULL;
	if (publish_git(w, argv, "git rev-parse", 0, &out, &status, err) < 0)
		return -1;
	if (status == 0 && publish_is_sha(str_trim(buf_str(&out))))
		*sha = arena_dup(w->a, str_trim(buf_str(&out)));
	return 0;
}

int publish_contains(
	struct publish *w, const char *sha, const char *in, bool *yes, struct error *err)
{
	const char *const argv[] = {"git", "merge-base", "--is-ancestor", sha, in, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int status;

	if (publish_git(w, argv, "git merge-base", 0, &out, &status, err) < 0)
		return -1;
	*yes = status == 0;
	return status > 1 ? -1 : 0;
}

const char *publish_digest(struct publish *w, const char *from, const char *to)
{
	char patch[GIT_PATCH_TEXT];

	git_patch_digest(w->p->repo, from, to, patch);
	return arena_dup(w->a, str_of(patch));
}

/* ---- what the remote has ---- */

static const char *publish_find_line(struct publish *w, struct str said, const char *name)
{
	struct str line;

	while (str_line(&said, &line)) {
		size_t tab = str_find(line, STR("\t"));

		if (publish_is_sha(str_sub(line, 0, tab)) && tab < line.n &&
			str_is(str_sub(line, tab + 1, line.n), name))
			return arena_dup(w->a, str_sub(line, 0, tab));
	}
	return NULL;
}

/* The commits of both branches; NULL: the branch does not exist. */
static int publish_ask_remote(
	struct publish *w, const char **target, const char **branch, struct error *err)
{
	const char *of_target = arena_printf(w->a, "refs/heads/%s", w->target);
	const char *of_branch = arena_printf(w->a, "refs/heads/%s", w->branch);
	const char *const argv[] = {
		"git", "ls-remote", "--refs", "origin", of_target, of_branch, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (publish_git(w, argv, "git ls-remote", ASK_S, &out, NULL, err) < 0)
		return -1;
	*target = publish_find_line(w, buf_str(&out), of_target);
	*branch = publish_find_line(w, buf_str(&out), of_branch);
	return 0;
}

static const char *refspec(struct publish *w, const char *branch)
{
	return arena_printf(w->a, "+refs/heads/%s:refs/remotes/origin/%s", branch, branch);
}

static int publish_fetch(struct publish *w, struct error *err)
{
	const char *const argv[] = {"git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0",
		"-c", "maintenance.auto=false", "fetch", "--quiet", "--no-tags",
		"--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "origin",
		refspec(w, w->target), w->theirs ? refspec(w, w->branch) : NULL, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	return publish_git(w, argv, "git fetch", FETCH_S, &out, NULL, err);
}

int publish_begin(struct publish *w, struct error *err)
{
	struct git_default known;

	w->dir = path_join(w->a, w->p->dir, ".landing");
	if (!w->target) {
		if (git_read_default(w->a, w->p->repo, &known, err) < 0)
			return -1;
		w->target = known.head ? known.head : known.branch ? known.branch : "main";
	}
	if (strcmp(w->target, w->branch) == 0)
		return error_set(err, ERR_STATE, "'%s' is the target branch itself", w->branch);
	return gate_check(w->g, err);
}

int publish_learn(struct publish *w, struct error *err)
{
	struct arena *a = w->a;
	const char *there, *local;

	if (publish_ask_remote(w, &there, &w->theirs, err) < 0)
		return -1;
	if (!there)
		return error_set(
			err, ERR_STATE, "no branch '%s' on the remote 'origin'", w->target);
	if (publish_fetch(w, err) < 0 ||
		publish_read_sha(w, arena_printf(a, "refs/remotes/origin/%s", w->target), &w->onto,
			err) < 0 ||
		publish_read_sha(w, arena_printf(a, "refs/heads/%s", w->branch), &local, err) < 0)
		return -1;
	if (!w->onto)
		return error_set(err, ERR_SYSTEM, "'git fetch' did not bring '%s'", w->target);
	w->head = local ? local : w->theirs;
	if (!w->head)
		return error_set(err, ERR_STATE,
			"no branch '%s', neither here nor on 'origin': 'dev-team land' lists what "
			"can land",
			w->branch);
	w->fork = git_fork_point(a, w->p->repo, w->onto, w->head);
	if (!w->fork)
		return error_set(err, ERR_STATE,
			"'%s' and '%s' have no common history that this clone knows", w->branch,
			w->target);
	w->patch = publish_digest(w, w->fork, w->head);
	return 0;
}

/* ---- whose it is ---- */

static bool has_same_changes(struct publish *w, const char *commit)
{
	const char *fork = git_fork_point(w->a, w->p->repo, w->onto, commit);

	return fork && w->patch[0] && strcmp(publish_digest(w, fork, commit), w->patch) == 0;
}

/* By the reflog. */
static int publish_was_at(struct publish *w, const char *sha, bool *yes, struct error *err)
{
	const char *const argv[] = {"git", "log", "-g", "--format=%H",
		arena_printf(w->a, "refs/heads/%s", w->branch), "--", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest, line;
	int status;

	if (publish_git(w, argv, "git log", 0, &out, &status, err) < 0)
		return -1;
	for (rest = buf_str(&out); str_line(&rest, &line);)
		*yes = *yes || str_is(line, sha);
	return 0;
}

/* A killed process had rebased it, and it is still checked out. */
static bool publish_is_left(struct publish *w, const char *sha)
{
	struct error ignored;
	struct git_tip tip;

	return path_exists(path_join(w->a, w->dir, ".git")) &&
	       git_read_tip(w->a, w->dir, &tip, &ignored) == 0 && tip.commit &&
	       strcmp(tip.commit, sha) == 0;
}

int publish_find_foreign(struct publish *w, bool *foreign, struct error *err)
{
	const char *const in[] = {w->head, w->onto};
	bool ours = !w->theirs || strcmp(w->theirs, w->head) == 0;

	for (size_t i = 0; i < COUNT(in) && !ours; i++)
		if (publish_contains(w, w->theirs, in[i], &ours, err) < 0)
			return -1;
	ours = ours || publish_is_left(w, w->theirs) || has_same_changes(w, w->theirs);
	if (!ours && publish_was_at(w, w->theirs, &ours, err) < 0)
		return -1;
	*foreign = !ours;
	return 0;
}

/* ---- the throw-away worktree ---- */

static int publish_worktree(struct publish *w, const char *const *argv, const char *name,
	unsigned timeout_s, int *status, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	int rc;

	if (pool_lock(w->a, w->p, err) < 0)
		return -1;
	rc = publish_git_in(w, w->p->repo, argv, name, timeout_s, &out, status, err);
	pool_unlock(w->p);
	return rc;
}

static int publish_discard(struct publish *w, struct error *err)
{
	const char *const argv[] = {
		"git", "worktree", "remove", "--force", "--force", w->dir, NULL};
	const char *const rest[] = {"rm", "-rf", "--", w->dir, NULL};
	static const char *const prune[] = {"git", "worktree", "prune", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	bool there;
	int status;

	if (path_check_exists(w->dir, &there, err) < 0)
		return -1;
	if (there && publish_worktree(w, argv, "git worktree remove", 0, &status, err) < 0)
		return -1;
	if (publish_git_in(w, w->p->repo, rest, "rm", 0, &out, NULL, err) < 0)
		return -1;
	return publish_worktree(w, prune, "git worktree prune", 0, NULL, err);
}

static int publish_check_out(struct publish *w, struct error *err)
{
	const char *const argv[] = {"git", PUBLISH_QUIET, "worktree", "add", "--quiet", "--detach",
		"--force", w->dir, w->head, NULL};

	if (pool_make_directory(w->a, w->p, err) < 0 || publish_discard(w, err) < 0)
		return -1;
	return publish_worktree(w, argv, "git worktree add", REPLAY_S, NULL, err);
}

/* Of the rebase that has stopped there. */
static int publish_read_conflicts(struct publish *w, struct error *err)
{
	static const char *const argv[] = {
		"git", "diff", "--name-only", "--no-renames", "--diff-filter=U", "-z", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	VEC(const char *) list = {0};

	if (publish_git_in(w, w->dir, argv, "git diff", 0, &out, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < out.len; i += strlen(out.s + i) + 1) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;

		buf_adds(&name, out.s + i);
		buf_utf8_repair(&name);
		vec_push_in(w->a, &list, arena_dup(w->a, buf_str(&name)));
	}
	vec_push_in(w->a, &list, NULL);
	w->paths = list.n > 1 ? list.items : NULL;
	return 0;
}

static int publish_replay(struct publish *w, struct error *err)
{
	const char *const argv[] = {"git", PUBLISH_QUIET, "-c", "rebase.updateRefs=false", "-c",
		"merge.directoryRenames=false", "-c", "rebase.autoSquash=false", "rebase",
		"--merge", "--no-autostash", w->onto, NULL};
	static const char *const head[] = {"git", "rev-parse", "HEAD", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct error said = {0};
	int status = 0;

	if (publish_git_in(w, w->dir, argv, "git rebase", REPLAY_S, &out, &status, &said) < 0) {
		*err = said;
		return -1;
	}
	w->after = NULL;
	if (status == 0) {
		if (publish_git_in(w, w->dir, head, "git rev-parse", 0, &out, NULL, err) < 0)
			return -1;
		w->after = arena_dup(w->a, str_trim(buf_str(&out)));
		return 0;
	}
	if (publish_read_conflicts(w, err) < 0)
		return -1;
	if (w->paths)
		return 0;
	*err = said;
	return -1;
}

int publish_rebase(struct publish *w, struct error *err)
{
	w->after = w->head;
	w->paths = NULL;
	if (gate_check(w->g, err) < 0 || publish_check_out(w, err) < 0)
		return -1;
	return strcmp(w->fork, w->onto) == 0 ? 0 : publish_replay(w, err);
}

int publish_begin_part(struct publish *w, const char *const **env, struct error *err)
{
	bool rebased = strcmp(w->after, w->head) != 0;

	*env = NULL;
	w->fault = NULL;
	w->part_began = w->part != NULL;
	return w->part ? w->part->begin(w->part->data, w->dir, rebased, env, &w->fault, err) : 0;
}

void publish_end_part(struct publish *w)
{
	if (w->part_began)
		w->part->end(w->part->data);
	w->part_began = false;
}

int publish_end(struct publish *w, struct error *err)
{
	struct error ignored;

	publish_end_part(w);
	return gate_check(w->g, &ignored) < 0 ? 0 : publish_discard(w, err);
}

/* ---- the push ---- */

static int publish_settle(struct publish *w, bool land, enum pushed *out, struct error *err)
{
	const char *target, *branch, *now, *before;

	if (publish_ask_remote(w, &target, &branch, err) < 0)
		return -1;
	now = land ? target : branch;
	before = land ? w->onto : w->theirs;
	if (now && strcmp(now, w->after) == 0)
		*out = PUSH_DONE;
	else if (strcmp(now ? now : "", before ? before : "") == 0)
		*out = PUSH_REFUSED;
	else
		*out = PUSH_LATE;
	return 0;
}

int publish_push(
	struct publish *w, bool land, enum pushed *out, struct error *said, struct error *err)
{
	struct arena *a = w->a;
	const char *to = arena_printf(a, "refs/heads/%s", w->target);
	const char *own = arena_printf(a, "refs/heads/%s", w->branch);
	const char *theirs = w->theirs ? w->theirs : "";
	const char *branch = arena_printf(a, "+%s:%s", w->after, own);
	bool both = land && theirs[0] && strcmp(theirs, w->after) != 0;
	const char *const argv[] = {"git", "-c", "gc.auto=0", "push", "--porcelain",
		both ? "--atomic" : "--no-atomic", "--no-follow-tags",
		arena_printf(a, "--force-with-lease=%s:%s", to, w->onto),
		arena_printf(a, "--force-with-lease=%s:%s", own, theirs), "origin",
		land ? arena_printf(a, "%s:%s", w->after, to) : branch, both ? branch : NULL, NULL};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int status;

	*out = PUSH_DONE;
	if (gate_check(w->g, err) < 0)
		return -1;
	if (publish_git(w, argv, "git push", PUSH_S, &text, &status, said) < 0) {
		*err = *said;
		return -1;
	}
	return status == 0 ? 0 : publish_settle(w, land, out, err);
}

/* --keep: files that somebody has changed stay, and the branch too. It compares times of files,
 * which a copy or a build may have touched: they are read first. */
int publish_follow(struct arena *a, const char *dir, const char *from, const char *to, bool *moved,
	struct error *err)
{
	static const char *const refresh[] = {
		"git", PUBLISH_QUIET, "update-index", "-q", "--refresh", NULL};
	const char *const reset[] = {"git", PUBLISH_QUIET, "reset", "--keep", "--quiet", to, NULL};
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
