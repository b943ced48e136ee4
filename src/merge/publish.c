#include "src/merge/publish.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

enum { REMOTE_S = 300, LOCAL_S = 600 };

#define REPLAY GIT_QUIET, "-c", "merge.directoryRenames=false", "-c", "merge.conflictStyle=merge"

struct publish_call {
	const char *dir; /* NULL: the repository */
	const char *name;
	const char *const *argv;
	struct buf *out;
	int *status; /* NULL: another status than 0 is an error */
	bool remote;
	bool worktrees; /* it adds or removes one */
};
/* GIT(w, err, call members, .argv = WORDS(...)) */
#define WORDS(...)       ((const char *const[]){__VA_ARGS__, NULL})
#define GIT(w, err, ...) publish_git(w, &(struct publish_call){__VA_ARGS__}, err)

static int publish_git(struct publish *w, const struct publish_call *call, struct error *err)
{
	CLEANUP(buf_release) struct buf own = BUF_INIT;
	const struct git_command c = {.dir = call->dir ? call->dir : w->p->repo,
		.name = call->name,
		.argv = call->argv,
		.limit_s = call->remote ? REMOTE_S : LOCAL_S,
		.batch_ssh = call->remote && w->batch_ssh};
	int rc;

	if (call->worktrees && pool_lock(w->a, w->p, err) < 0)
		return -1;
	rc = gate_git(w->g, &c, call->out ? call->out : &own, call->status, err);
	if (call->worktrees)
		pool_unlock(w->p);
	return rc;
}

static const char *heads(struct publish *w, const char *branch)
{
	return arena_printf(w->a, "refs/heads/%s", branch);
}

static const char *tracking(struct publish *w, const char *branch)
{
	return arena_printf(w->a, "refs/remotes/origin/%s", branch);
}

bool publish_contains(struct publish *w, const char *of, const char *sha)
{
	const char *fork = git_fork_point(w->a, w->p->repo, sha, of);

	return fork && strcmp(fork, sha) == 0;
}

const char *publish_digest(struct publish *w, const char *from, const char *to)
{
	char patch[GIT_PATCH_TEXT];

	git_patch_digest(w->p->repo, from, to, patch);
	return arena_dup(w->a, str_of(patch));
}

/* ---- what the remote has ---- */

/* Of lines `ID TAB NAME`. */
static const char *publish_find_line(struct publish *w, struct str said, const char *name)
{
	struct str line;

	while (str_line(&said, &line)) {
		size_t tab = str_find(line, STR("\t"));

		if (str_is(str_sub(line, tab + 1, line.n), name))
			return arena_dup(w->a, str_sub(line, 0, tab));
	}
	return NULL;
}

/* The commits of both branches; NULL: the branch does not exist. */
static int publish_ask_remote(
	struct publish *w, const char **target, const char **branch, struct error *err)
{
	const char *a = heads(w, w->target), *b = heads(w, w->branch);
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (GIT(w, err, .name = "git ls-remote", .out = &out, .remote = true,
		    .argv = WORDS(GIT_QUIET, "ls-remote", "--refs", "origin", a, b)) < 0)
		return -1;
	*target = publish_find_line(w, buf_str(&out), a);
	*branch = publish_find_line(w, buf_str(&out), b);
	return 0;
}

static const char *refspec(struct publish *w, const char *branch)
{
	return arena_printf(w->a, "+%s:%s", heads(w, branch), tracking(w, branch));
}

/* A git that was killed while it pushed has left it. */
static void publish_clear_lock(struct publish *w, const char *branch)
{
	const char *path = arena_printf(w->a, "%s/%s.lock", w->p->common, tracking(w, branch));

	/* git has no branch with such a name, which would lead out of the directory of refs. */
	if (!strstr(branch, ".."))
		process_clear_abandoned(path);
}

/* What is here already, by the ids of both and of the branch here, is not fetched. */
static int publish_fetch(struct publish *w, const char *const ids[3], struct error *err)
{
	w->deleted = ids[1] && !w->theirs;
	if (ids[0] && strcmp(ids[0], w->onto) == 0 &&
		(!w->theirs || (ids[1] && strcmp(ids[1], w->theirs) == 0)))
		return 0;
	publish_clear_lock(w, w->target);
	publish_clear_lock(w, w->branch);
	return GIT(w, err, .name = "git fetch", .remote = true,
		.argv = WORDS(GIT_QUIET, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
			"--no-write-fetch-head", "--refmap=", "origin", refspec(w, w->target),
			w->theirs ? refspec(w, w->branch) : NULL));
}

int publish_begin(struct publish *w, struct error *err)
{
	struct git_default known;
	struct git_head head;

	w->dir = path_join(w->a, w->p->dir, ".landing");
	if (git_read_head(w->a, w->p->repo, &head, err) < 0)
		return -1;
	if (!head.origin)
		return error_set(err, ERR_STATE,
			"no remote 'origin' in '%s': there is nothing to land on or push to",
			w->p->repo);
	w->batch_ssh = !head.own_ssh && !getenv("GIT_SSH_COMMAND") && !getenv("GIT_SSH");
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
	const char *const names[] = {
		tracking(w, w->target), tracking(w, w->branch), heads(w, w->branch)};
	const char *ids[COUNT(names)];

	if (publish_ask_remote(w, &w->onto, &w->theirs, err) < 0)
		return -1;
	if (!w->onto)
		return error_set(
			err, ERR_STATE, "no branch '%s' on the remote 'origin'", w->target);
	if (git_read_ids(w->a, w->p->repo, names, COUNT(names), ids, err) < 0 ||
		publish_fetch(w, ids, err) < 0)
		return -1;
	w->head = ids[2] ? ids[2] : w->theirs;
	if (!w->head)
		return error_set(err, ERR_STATE,
			"no branch '%s', neither here nor on 'origin': 'dev-team land' lists what "
			"can land",
			w->branch);
	w->fork = git_fork_point(w->a, w->p->repo, w->onto, w->head);
	if (!w->fork)
		return error_set(err, ERR_STATE,
			"'%s' and '%s' have no common history that this clone knows", w->branch,
			w->target);
	w->patch = publish_digest(w, w->fork, w->head);
	return 0;
}

/* ---- whose it is ---- */

int publish_find_lost(struct publish *w, const char **lost, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *at, *fork;
	int status;

	*lost = NULL;
	if (GIT(w, err, .name = "git merge-base", .out = &out, .status = &status,
		    .argv = WORDS("git", "merge-base", "--fork-point", tracking(w, w->target),
			    w->head)) < 0)
		return -1;
	at = arena_dup(w->a, str_trim(buf_str(&out)));
	if (status /* not known */ || strcmp(at, w->fork) == 0)
		return 0;
	fork = git_fork_point(w->a, w->p->repo, at, w->onto);
	if (!fork)
		return error_set(err, ERR_SYSTEM, "cannot compare %s with '%s'", at, w->target);
	*lost = strcmp(fork, at) == 0 ? NULL : at;
	return 0;
}

static bool has_same_changes(struct publish *w, const char *commit)
{
	const char *fork = git_fork_point(w->a, w->p->repo, w->onto, commit);

	return fork && w->patch[0] && strcmp(publish_digest(w, fork, commit), w->patch) == 0;
}

/* A killed process had rebased it, and it is still checked out. */
static bool publish_is_left(struct publish *w, const char *sha)
{
	struct git_tip tip;

	return path_exists(path_join(w->a, w->dir, ".git")) &&
	       git_read_tip(w->a, w->dir, &tip, &(struct error){0}) == 0 && tip.commit &&
	       strcmp(tip.commit, sha) == 0;
}

bool publish_is_foreign(struct publish *w)
{
	return w->theirs && !publish_contains(w, w->head, w->theirs) &&
	       !publish_contains(w, w->onto, w->theirs) && !publish_is_left(w, w->theirs) &&
	       !has_same_changes(w, w->theirs) &&
	       !git_branch_was_at(w->p->common, w->branch, w->theirs);
}

/* ---- the throw-away worktree ---- */

/* Also what a killed landing left. Not by `git worktree prune`, which forgets those of the user
 * whose directory has moved, too. */
static int publish_discard(struct publish *w, struct error *err)
{
	static const char script[] =
		"drop() { git worktree remove --force --force \"$1\"; }; "
		"drop \"$1\" 2>/dev/null || { rm -rf -- \"$1\" && { drop \"$1\" || :; }; }";
	bool there;

	if (path_check_exists(w->dir, &there, err) < 0)
		return -1;
	return !there ? 0
		      : GIT(w, err, .name = "git worktree remove", .worktrees = true,
				.argv = WORDS("sh", "-c", script, "sh", w->dir));
}

/* A rebase would lose what merge commits have resolved: a branch that has some merges the target.
 */
static int publish_replay(struct publish *w, struct error *err)
{
	const char *why =
		arena_printf(w->a, "Merge branch 'origin/%s' into %s", w->target, w->branch);
	const char *const *rebase = WORDS(REPLAY, "rebase", "--merge", "--no-update-refs",
		"--no-autosquash", "--no-autostash", w->onto);
	const char *const *merge = WORDS(REPLAY, "merge", "--no-ff", "-m", why, w->onto);
	const char *const *again, *const *command;
	CLEANUP(buf_release) struct buf merges = BUF_INIT;
	struct git_tip tip;

	if (GIT(w, err, .name = "git rev-list", .out = &merges,
		    .argv = WORDS(
			    "git", "rev-list", "--merges", "-n1", w->head, "--not", w->onto)) < 0)
		return -1;
	again = WORDS(REPLAY, merges.len ? "merge" : "rebase", "--continue");
	for (command = merges.len ? merge : rebase;; command = again) {
		if (GIT(w, err, .dir = w->dir, .name = merges.len ? "git merge" : "git rebase",
			    .argv = command) == 0)
			break;
		if (w->g->interrupted ||
			git_join_changelogs(w->a, w->dir, merges.len > 0, &w->paths, err) < 0)
			return -1;
		if (w->paths)
			return 0;
	}
	if (git_read_tip(w->a, w->dir, &tip, err) < 0)
		return -1;
	w->after = tip.commit;
	return 0;
}

int publish_rebase(struct publish *w, bool files, struct error *err)
{
	bool current = strcmp(w->fork, w->onto) == 0;

	w->after = current ? w->head : NULL;
	w->paths = NULL;
	if (current && !files)
		return 0;
	if (gate_check(w->g, err) < 0 || pool_make_directory(w->a, w->p, err) < 0 ||
		publish_discard(w, err) < 0 ||
		GIT(w, err, .name = "git worktree add", .worktrees = true,
			.argv = WORDS(GIT_QUIET, "worktree", "add", "--quiet", "--detach",
				"--force", "--force", w->dir, w->head)) < 0)
		return -1;
	return current ? 0 : publish_replay(w, err);
}

int publish_end(struct publish *w, struct error *err)
{
	if (gate_check(w->g, err) < 0)
		return w->g->lost ? 0 : -1;
	return publish_discard(w, err);
}

/* ---- the push ---- */

static int publish_settle(struct publish *w, bool land, enum pushed *out, struct error *err)
{
	const char *target, *branch, *now, *before;

	if (publish_ask_remote(w, &target, &branch, err) < 0)
		return -1;
	now = land ? target : branch;
	before = land ? w->onto : w->theirs;
	*out = now && strcmp(now, w->after) == 0 ? PUSH_DONE
	       : strcmp(now ? now : "", before ? before : "") == 0 ? PUSH_REFUSED
								   : PUSH_LATE;
	return 0;
}

int publish_push(
	struct publish *w, bool land, enum pushed *out, const char **said, struct error *err)
{
	struct arena *a = w->a;
	const char *theirs = w->theirs ? w->theirs : "";
	const char *branch = arena_printf(a, "+%s:%s", w->after, heads(w, w->branch));
	bool both = land && theirs[0] && strcmp(theirs, w->after) != 0;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int status;

	*out = PUSH_DONE;
	if (gate_check(w->g, err) < 0)
		return -1;
	if (GIT(w, err, .name = "git push", .remote = true, .out = &text, .status = &status,
		    .argv = WORDS("git", "push", both ? "--atomic" : "--no-atomic",
			    "--no-follow-tags",
			    arena_printf(
				    a, "--force-with-lease=%s:%s", heads(w, w->target), w->onto),
			    arena_printf(
				    a, "--force-with-lease=%s:%s", heads(w, w->branch), theirs),
			    "origin",
			    land ? arena_printf(a, "%s:%s", w->after, heads(w, w->target)) : branch,
			    both ? branch : NULL)) < 0)
		return -1;
	if (git_check_status("git push", status, &text, true, err) == 0)
		return 0;
	*said = arena_dup(a, str_of(err->text));
	return publish_settle(w, land, out, err);
}
