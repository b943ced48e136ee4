#include "src/merge/land.h"
#include "src/base/clock.h"
#include "src/merge/rebase_internal.h"
#include "src/sys/forge.h"
#include "src/sys/path.h"

enum { POLL_MS = 1000, POLL_MAX_MS = 30000 };
enum { PUSH_S = 300, GRACE_S = 30, TIMED_OUT = 124, OUTPUT_SHOWN = 4000 };

static const char *const words[] = {
	[LAND_LANDED] = "landed",
	[LAND_CONFLICT] = "conflict",
	[LAND_CHANGED] = "changed",
	[LAND_CHECKS_FAILED] = "checks_failed",
	[LAND_MOVED] = "moved",
	[LAND_NEEDS_PERSON] = "needs_person",
};

const char *land_word(enum land_fate f)
{
	return words[f];
}

json *land_json(const struct land *l)
{
	return JSON_OBJECT(JSON_TEXT("result", land_word(l->fate)),
		JSON_IF(l->reason, JSON_TEXT("reason", l->reason)), JSON_TEXT("branch", l->branch),
		JSON_TEXT("target", l->target), JSON_IF(l->head, JSON_TEXT("head", l->head)),
		JSON_IF(l->onto, JSON_TEXT("onto", l->onto)),
		JSON_IF(l->commit, JSON_TEXT("commit", l->commit)),
		JSON_IF(l->tree, JSON_TEXT("tree", l->tree)),
		JSON_IF(l->patch, JSON_TEXT("patch", l->patch)),
		JSON_IF(l->paths, JSON_VALUE("paths", json_names(l->paths))),
		JSON_IF(l->output, JSON_TEXT("output", l->output)),
		JSON_IF(l->already, JSON_BOOL("already", true)), JSON_INT("fence", l->fence));
}

struct landing {
	struct rebasing git; /* runs in the repository */
	const struct land_ask *ask;
	struct land *out;
	const char *fork;  /* where the branch has left the target */
	const char *after; /* what is to be pushed */
};

static const char *repo_of(const struct landing *l)
{
	return l->git.p->repo;
}

static int merge_land_end(struct landing *l, enum land_fate fate, const char *reason)
{
	l->out->fate = fate;
	l->out->reason = reason;
	return 0;
}

static const char *last_of(struct arena *a, struct str text)
{
	CLEANUP(buf_release) struct buf repaired = BUF_INIT;

	text = str_trim(text);
	buf_add(&repaired,
		str_sub(text, text.n > OUTPUT_SHOWN ? text.n - OUTPUT_SHOWN : 0, text.n));
	buf_utf8_repair(&repaired);
	return arena_dup(a, buf_str(&repaired));
}

/* ---- what is landed ---- */

static int merge_land_find_head(struct landing *l, struct error *err)
{
	struct arena *a = l->git.a;
	const char *branch = l->out->branch, *local;

	if (rebase_sha(&l->git, arena_printf(a, "refs/heads/%s", branch), &local, err) < 0)
		return -1;
	l->out->head = local ? local : l->git.theirs;
	if (!l->out->head)
		return error_set(err, ERR_STATE,
			"no branch '%s', neither here nor on 'origin': 'dev-team land' lists what "
			"can land",
			branch);
	return 0;
}

static int merge_land_learn(struct landing *l, struct error *err)
{
	struct arena *a = l->git.a;
	const char *target = l->out->target, *there;

	if (rebase_remote(&l->git, &there, &l->git.theirs, err) < 0)
		return -1;
	if (!there)
		return error_set(err, ERR_STATE, "no branch '%s' on the remote 'origin'", target);
	if (rebase_fetch(&l->git, err) < 0 ||
		rebase_sha(&l->git, arena_printf(a, "refs/remotes/origin/%s", target),
			&l->out->onto, err) < 0 ||
		merge_land_find_head(l, err) < 0)
		return -1;
	if (!l->out->onto)
		return error_set(err, ERR_SYSTEM, "'git fetch' did not bring '%s'", target);
	l->fork = git_fork_point(a, repo_of(l), l->out->onto, l->out->head);
	return l->fork ? 0
		       : error_set(err, ERR_STATE,
				 "'%s' and '%s' have no common history that this clone knows",
				 l->out->branch, target);
}

static const char *digest(struct landing *l, const char *from, const char *to)
{
	char patch[GIT_PATCH_TEXT];

	git_patch_digest(repo_of(l), from, to, patch);
	return arena_dup(l->git.a, str_of(patch));
}

/* *landed: the target has the branch's commits, or one commit with the same changes. */
static int merge_land_find_landed(struct landing *l, bool *landed, struct error *err)
{
	struct land *out = l->out;
	const char *patch = l->ask->patch ? l->ask->patch : out->patch;
	size_t n = 1;

	if (rebase_contains(&l->git, out->head, out->onto, landed, err) < 0)
		return -1;
	out->commit = *landed ? out->onto : NULL;
	if (!*landed && git_count_commits(repo_of(l), l->fork, out->head, &n, err) < 0)
		return -1;
	if (!*landed && patch[0])
		out->commit =
			git_find_same_patch(l->git.a, repo_of(l), l->fork, out->onto, patch, n);
	*landed = out->commit != NULL;
	return 0;
}

static bool same_changes(struct landing *l, const char *commit)
{
	const char *fork = git_fork_point(l->git.a, repo_of(l), l->out->onto, commit);

	return fork && l->out->patch[0] && strcmp(digest(l, fork, commit), l->out->patch) == 0;
}

/* What others pushed to the branch was not approved, and a push would discard it. The same changes
 * are those of an earlier landing. */
static int find_foreign(struct landing *l, bool *foreign, struct error *err)
{
	bool ours = true;

	*foreign = false;
	if (!l->git.theirs || strcmp(l->git.theirs, l->out->head) == 0)
		return 0;
	if (rebase_contains(&l->git, l->git.theirs, l->out->head, &ours, err) < 0 ||
		(!ours && rebase_contains(&l->git, l->git.theirs, l->out->onto, &ours, err) < 0))
		return -1;
	*foreign = !ours && !same_changes(l, l->git.theirs);
	return 0;
}

static bool merge_land_is_approved(const struct landing *l)
{
	const struct land_ask *ask = l->ask;

	return !ask->approved || strcmp(ask->approved, l->out->head) == 0 ||
	       (ask->patch && strcmp(ask->patch, l->out->patch) == 0);
}

/* ---- one try ---- */

static int merge_land_check(struct landing *l, bool *passed, struct error *err)
{
	unsigned limit_s = l->ask->check_s ? l->ask->check_s : LAND_CHECK_S;
	const char *limit = arena_printf(l->git.a, "%u", limit_s);
	const char *const argv[] = {"timeout", "-k", "5", limit, "sh", "-c",
		"exec 2>&1; eval \"$1\"", "sh", l->ask->check, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct git_commit tip = {0};
	int status;

	*passed = true;
	if (!l->ask->check)
		return 0;
	if (git_read_commits(l->git.a, repo_of(l), &l->after, 1, &tip, err) < 0 ||
		rebase_git_in(&l->git, l->git.dir, argv, "the check", limit_s + GRACE_S, &out,
			&status, err) < 0)
		return -1;
	*passed = status == 0;
	l->out->tree = tip.tree;
	if (*passed)
		return 0;
	l->out->output = last_of(l->git.a, buf_str(&out));
	return merge_land_end(l, LAND_CHECKS_FAILED,
		status == TIMED_OUT ? arena_printf(l->git.a, "'%s' did not end within %s s",
					      l->ask->check, limit)
				    : arena_printf(l->git.a, "'%s' ended with status %d",
					      l->ask->check, status));
}

static int prepare_and_check(struct landing *l, bool *good, struct error *err)
{
	const struct land_ask *ask = l->ask;
	const char *fault = NULL;
	int rc;

	if (!ask->prepare)
		return merge_land_check(l, good, err);
	rc = ask->prepare(ask->data, l->git.dir, strcmp(l->after, l->out->head) != 0, &l->git.env,
		&fault, err);
	if (rc == 0)
		rc = fault ? merge_land_end(l, LAND_CONFLICT, fault)
			   : merge_land_check(l, good, err);
	l->git.env = NULL;
	ask->settle(ask->data);
	return rc;
}

/* Target and branch together: a forge then takes the pull request for merged. With a pull request
 * the branch alone. */
static int merge_land_push(struct landing *l, int *status, struct error *said, struct error *err)
{
	struct arena *a = l->git.a;
	const char *to = arena_printf(a, "refs/heads/%s", l->out->target);
	const char *own = arena_printf(a, "refs/heads/%s", l->out->branch);
	const char *theirs = l->git.theirs ? l->git.theirs : "";
	const char *branch = arena_printf(a, "+%s:%s", l->after, own);
	bool both = theirs[0] && strcmp(theirs, l->after) != 0;
	const char *const argv[] = {"git", "-c", "gc.auto=0", "push", "--porcelain", "--atomic",
		"--no-follow-tags", arena_printf(a, "--force-with-lease=%s:%s", to, l->out->onto),
		arena_printf(a, "--force-with-lease=%s:%s", own, theirs), "origin",
		l->ask->pull ? branch : arena_printf(a, "%s:%s", l->after, to),
		both && !l->ask->pull ? branch : NULL, NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (gate_check(l->git.g, err) < 0)
		return -1;
	if (rebase_git(&l->git, argv, "git push", PUSH_S, &out, status, said) == 0)
		return 0;
	*err = *said;
	return -1;
}

/* A push that failed may have succeeded on the remote: it is asked. *again: others were faster. */
static int merge_land_settle(
	struct landing *l, const struct error *said, bool *again, struct error *err)
{
	const char *now, *ignored;

	if (rebase_remote(&l->git, &now, &ignored, err) < 0)
		return -1;
	*again = !now || strcmp(now, l->out->onto) != 0;
	if (now && strcmp(now, l->after) == 0) {
		*again = false;
		l->out->commit = l->after;
		return merge_land_end(l, LAND_LANDED, NULL);
	}
	if (*again)
		return merge_land_end(l, LAND_MOVED, "others pushed to the target meanwhile");
	return merge_land_end(l, LAND_NEEDS_PERSON, arena_dup(l->git.a, str_of(said->text)));
}

/* ---- a pull request that the forge merges ---- */

/* Longer each time. */
static int pause_before_poll(struct landing *l, unsigned *ms, struct error *err)
{
	unsigned now = *ms;

	*ms = now * 2 < POLL_MAX_MS ? now * 2 : POLL_MAX_MS;
	return gate_pause(l->git.g, now, err);
}

/* *passed false: the fate is set. */
static int await_checks(struct landing *l, bool *passed, struct error *err)
{
	int64_t began = clock_ticks(), waited;
	unsigned ms = POLL_MS;
	struct forge_checks checks;

	for (;;) {
		if (forge_checks(l->git.a, repo_of(l), l->ask->pull, &checks, err) < 0)
			return -1;
		waited = (clock_ticks() - began) / 1000;
		*passed = checks.state == FORGE_CHECKS_PASSED ||
			  (checks.state == FORGE_CHECKS_NONE && waited >= LAND_NO_CHECKS_S);
		if (*passed)
			return 0;
		if (checks.state == FORGE_CHECKS_FAILED) {
			l->out->output = checks.failed;
			return merge_land_end(
				l, LAND_CHECKS_FAILED, "checks of the pull request failed");
		}
		if (waited >= l->ask->check_s)
			return merge_land_end(l, LAND_CHECKS_FAILED,
				arena_printf(l->git.a,
					"the checks of the pull request did not end within %u s",
					l->ask->check_s));
		if (pause_before_poll(l, &ms, err) < 0)
			return -1;
	}
}

/* Whether the target has what was pushed. */
static int look_again(struct landing *l, bool *landed, struct error *err)
{
	const char *before = l->out->onto;

	if (merge_land_learn(l, err) < 0)
		return -1;
	l->out->head = l->after;
	l->fork = git_fork_point(l->git.a, repo_of(l), l->out->onto, l->after);
	if (merge_land_find_landed(l, landed, err) < 0)
		return -1;
	l->out->onto = before;
	return 0;
}

/* The forge merges at once, or by a queue. */
static int await_merge(struct landing *l, const struct forge_pull *p, struct error *err)
{
	int64_t began = clock_ticks();
	unsigned ms = POLL_MS;
	struct forge_view now;
	bool landed;

	for (;;) {
		if (forge_view(l->git.a, repo_of(l), p, NULL, &now, err) < 0 ||
			look_again(l, &landed, err) < 0)
			return -1;
		if (landed)
			return merge_land_end(l, LAND_LANDED, NULL);
		if (!now.state || strcmp(now.state, "open") != 0)
			return merge_land_end(l, LAND_NEEDS_PERSON,
				arena_printf(l->git.a,
					"the pull request is %s, but '%s' has not its changes",
					now.state ? now.state : "missing", l->out->target));
		if ((clock_ticks() - began) / 1000 >= l->ask->check_s)
			return merge_land_end(l, LAND_NEEDS_PERSON,
				arena_printf(l->git.a, "the forge has not merged within %u s",
					l->ask->check_s));
		if (pause_before_poll(l, &ms, err) < 0)
			return -1;
	}
}

/* Before anything is pushed. */
static int merge_land_check_pull(struct landing *l, struct error *err)
{
	struct forge_view now = {0};
	struct forge_pull p;

	if (!l->ask->pull)
		return 0;
	if (forge_find_pull(str_of(l->ask->pull), &p) &&
		forge_view(l->git.a, repo_of(l), &p, NULL, &now, err) < 0)
		return -1;
	if (!now.tool)
		return error_set(err, ERR_STATE,
			"neither 'gh' nor 'glab' can be asked about '%s': install the one of this "
			"forge, or merge it on the forge",
			l->ask->pull);
	return now.missing ? error_set(err, ERR_STATE, "'%s' knows no pull request '%s'", now.tool,
				     l->ask->pull)
			   : 0;
}

static int merge_pull(struct landing *l, bool *again, struct error *err)
{
	struct forge_pull p;
	struct forge_view now;
	const char *refused;
	bool passed;

	(void)forge_find_pull(str_of(l->ask->pull), &p);
	if (await_checks(l, &passed, err) < 0)
		return -1;
	if (!passed)
		return 0;
	if (forge_merge(l->git.a, repo_of(l), &p, l->after, l->ask->method, &refused, err) < 0)
		return -1;
	if (!refused)
		return await_merge(l, &p, err);
	if (forge_view(l->git.a, repo_of(l), &p, NULL, &now, err) < 0)
		return -1;
	*again = now.head && strcmp(now.head, l->after) != 0;
	return *again ? merge_land_end(l, LAND_MOVED, "others pushed to the pull request meanwhile")
		      : merge_land_end(l, LAND_NEEDS_PERSON, refused);
}

static int merge_land_publish(struct landing *l, bool *again, struct error *err)
{
	struct error said = {0};
	int status;

	if (merge_land_push(l, &status, &said, err) < 0)
		return -1;
	if (status == 0 && l->ask->pull)
		return merge_pull(l, again, err);
	if (status != 0)
		return merge_land_settle(l, &said, again, err);
	l->out->commit = l->after;
	return merge_land_end(l, LAND_LANDED, NULL);
}

/* The rebased changes are compared with their context: what others changed beside them is a reason
 * to look again. */
static int rebase_and_check(struct landing *l, bool *good, struct error *err)
{
	*good = false;
	l->after = l->out->head;
	if (rebase_check_out(&l->git, l->out->head, err) < 0 ||
		(strcmp(l->fork, l->out->onto) != 0 &&
			rebase_replay(&l->git, l->out->onto, &l->after, &l->out->paths, err) < 0))
		return -1;
	if (!l->after)
		return merge_land_end(l, LAND_CONFLICT,
			arena_printf(l->git.a, "'%s' does not rebase onto '%s'", l->out->branch,
				l->out->target));
	if (strcmp(l->after, l->out->onto) == 0) { /* git leaves out what the target has */
		l->out->already = true;
		l->out->commit = l->after;
		return merge_land_end(l, LAND_LANDED, NULL);
	}
	if (strcmp(digest(l, l->out->onto, l->after), l->out->patch) != 0)
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(l->git.a,
				"on '%s' these are not the approved changes any more: others "
				"changed the lines around them",
				l->out->target));
	return prepare_and_check(l, good, err);
}

static int try(struct landing *l, bool *again, struct error *err)
{
	struct land *out = l->out;
	bool landed, foreign, good;

	*again = false;
	if (gate_check(l->git.g, err) < 0 || merge_land_learn(l, err) < 0)
		return -1;
	out->patch = digest(l, l->fork, out->head);
	if (merge_land_find_landed(l, &landed, err) < 0 || find_foreign(l, &foreign, err) < 0)
		return -1;
	if (landed) {
		out->already = true;
		return merge_land_end(l, LAND_LANDED, NULL);
	}
	if (!out->patch[0])
		return error_set(
			err, ERR_STATE, "'%s' changes nothing on '%s'", out->branch, out->target);
	if (!merge_land_is_approved(l))
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(l->git.a,
				"'%s' is at %.12s, with other changes than the approved "
				"commit %.12s",
				out->branch, out->head, l->ask->approved));
	if (foreign)
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(l->git.a, "'%s' on 'origin' has commits that are not here",
				out->branch));
	if (rebase_and_check(l, &good, err) < 0)
		return -1;
	return good ? merge_land_publish(l, again, err) : 0;
}

static int merge_land_find_target(struct landing *l, struct error *err)
{
	struct git_default known;

	if (!l->out->target) {
		if (git_read_default(l->git.a, repo_of(l), &known, err) < 0)
			return -1;
		l->out->target = known.head ? known.head : known.branch ? known.branch : "main";
	}
	l->git.target = l->out->target;
	if (strcmp(l->out->target, l->out->branch) == 0)
		return error_set(
			err, ERR_STATE, "'%s' is the target branch itself", l->out->branch);
	return 0;
}

int land_branch(struct arena *a, struct pool *p, const struct land_ask *ask, struct gate *held,
	struct land *out, struct error *err)
{
	struct landing l = {.git = {.a = a,
				    .p = p,
				    .g = held,
				    .path = p->repo,
				    .dir = path_join(a, p->dir, ".landing"),
				    .branch = ask->branch},
		.ask = ask,
		.out = out};
	struct error ignored;
	bool again = true;
	int rc = 0;

	*out = (struct land){
		.branch = ask->branch, .target = ask->target, .fence = gate_fence(held)};
	if (merge_land_find_target(&l, err) < 0 || merge_land_check_pull(&l, err) < 0)
		return -1;
	for (unsigned i = 0; rc == 0 && again && i < LAND_TRIES; i++)
		rc = try(&l, &again, err);
	(void)rebase_discard(&l.git, rc < 0 ? &ignored : err);
	return rc;
}

/* ---- afterwards ---- */

int land_return(
	struct arena *a, struct pool *p, const struct land *l, const char **kept, struct error *err)
{
	struct pool_entry entry;
	struct error why = {0};
	bool found, removed, moved;

	*kept = NULL;
	if (pool_find(a, p, l->branch, &entry, &found, err) < 0)
		return -1;
	if (!found || !entry.there)
		return 0;
	if (rebase_follow(a, entry.of.path, l->head, l->commit, &moved, &why) < 0 ||
		pool_reclaim(a, p, l->branch, false, &removed, &why) < 0)
		*kept = arena_dup(a, str_of(why.text));
	return 0;
}
