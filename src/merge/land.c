#include "src/merge/land.h"
#include "src/base/clock.h"
#include "src/merge/publish.h"
#include "src/sys/forge.h"
#include "src/sys/git.h"

enum { POLL_MS = 1000, POLL_MAX_MS = 30000 };
enum { GRACE_S = 30, TIMED_OUT = 124, OUTPUT_SHOWN = 4000 };

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
	struct publish git; /* runs in the repository */
	const struct land_ask *ask;
	struct land *out;
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

/* *landed: the target has the branch's commits, or one commit with the same changes. */
static int merge_land_find_landed(struct landing *l, bool *landed, struct error *err)
{
	struct publish *w = &l->git;
	struct land *out = l->out;
	const char *patch = l->ask->patch ? l->ask->patch : out->patch;
	size_t n = 1;

	if (publish_contains(w, w->head, w->onto, landed, err) < 0)
		return -1;
	out->commit = *landed ? w->onto : NULL;
	if (!*landed && git_count_commits(repo_of(l), w->fork, w->head, &n, err) < 0)
		return -1;
	if (!*landed && patch[0])
		out->commit = git_find_same_patch(w->a, repo_of(l), w->fork, w->onto, patch, n);
	*landed = out->commit != NULL;
	return 0;
}

static bool merge_land_is_approved(const struct landing *l)
{
	const struct land_ask *ask = l->ask;

	return !ask->approved || strcmp(ask->approved, l->out->head) == 0 ||
	       (ask->patch && strcmp(ask->patch, l->out->patch) == 0);
}

/* ---- the check ---- */

static int merge_land_check(
	struct landing *l, const char *const *env, bool *passed, struct error *err)
{
	unsigned limit_s = l->ask->check_s ? l->ask->check_s : LAND_CHECK_S;
	const char *limit = arena_printf(l->git.a, "%u", limit_s);
	const char *const argv[] = {"timeout", "-k", "5", limit, "sh", "-c",
		"exec 2>&1; eval \"$1\"", "sh", l->ask->check, NULL};
	const struct git_call c = {.cwd = l->git.dir,
		.argv = argv,
		.name = "the check",
		.timeout_s = limit_s + GRACE_S,
		.env = env};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct git_commit tip = {0};
	int status;

	*passed = true;
	if (!l->ask->check)
		return 0;
	if (git_read_commits(l->git.a, repo_of(l), &l->git.after, 1, &tip, err) < 0 ||
		gate_git(l->git.g, &c, &out, &status, err) < 0)
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
	const char *const *env;
	int rc = publish_begin_part(&l->git, &env, err);

	if (rc == 0)
		rc = l->git.fault ? merge_land_end(l, LAND_CONFLICT, l->git.fault)
				  : merge_land_check(l, env, good, err);
	publish_end_part(&l->git);
	return rc;
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
	struct publish *w = &l->git;

	if (publish_learn(w, err) < 0)
		return -1;
	w->head = w->after;
	w->fork = git_fork_point(w->a, repo_of(l), w->onto, w->after);
	return merge_land_find_landed(l, landed, err);
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
	if (forge_merge(l->git.a, repo_of(l), &p, l->git.after, l->ask->method, &refused, err) < 0)
		return -1;
	if (!refused)
		return await_merge(l, &p, err);
	if (forge_view(l->git.a, repo_of(l), &p, NULL, &now, err) < 0)
		return -1;
	*again = now.head && strcmp(now.head, l->git.after) != 0;
	return *again ? merge_land_end(l, LAND_MOVED, "others pushed to the pull request meanwhile")
		      : merge_land_end(l, LAND_NEEDS_PERSON, refused);
}

/* ---- one try ---- */

static int merge_land_publish(struct landing *l, bool *again, struct error *err)
{
	struct error said = {0};
	enum pushed end;

	if (publish_push(&l->git, !l->ask->pull, &end, &said, err) < 0)
		return -1;
	*again = end == PUSH_LATE;
	if (end == PUSH_LATE)
		return merge_land_end(l, LAND_MOVED, "others pushed to the target meanwhile");
	if (end == PUSH_REFUSED)
		return merge_land_end(l, LAND_NEEDS_PERSON, arena_dup(l->git.a, str_of(said.text)));
	if (l->ask->pull)
		return merge_pull(l, again, err);
	l->out->commit = l->git.after;
	return merge_land_end(l, LAND_LANDED, NULL);
}

/* The rebased changes are compared with their context: what others changed beside them is a reason
 * to look again. */
static int rebase_and_check(struct landing *l, bool *good, struct error *err)
{
	struct publish *w = &l->git;

	*good = false;
	if (publish_rebase(w, err) < 0)
		return -1;
	l->out->paths = w->paths;
	if (!w->after)
		return merge_land_end(l, LAND_CONFLICT,
			arena_printf(w->a, "'%s' does not rebase onto '%s'", w->branch, w->target));
	if (strcmp(w->after, w->onto) == 0) { /* git leaves out what the target has */
		l->out->already = true;
		l->out->commit = w->after;
		return merge_land_end(l, LAND_LANDED, NULL);
	}
	if (strcmp(publish_digest(w, w->onto, w->after), w->patch) != 0)
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(w->a,
				"on '%s' these are not the approved changes any more: others "
				"changed the lines around them",
				w->target));
	return prepare_and_check(l, good, err);
}

static int try(struct landing *l, bool *again, struct error *err)
{
	struct publish *w = &l->git;
	struct land *out = l->out;
	bool landed, foreign, good;

	*again = false;
	if (gate_check(w->g, err) < 0 || publish_learn(w, err) < 0)
		return -1;
	out->head = w->head;
	out->onto = w->onto;
	out->patch = w->patch;
	if (merge_land_find_landed(l, &landed, err) < 0 ||
		publish_find_foreign(w, &foreign, err) < 0)
		return -1;
	if (landed) {
		out->already = true;
		return merge_land_end(l, LAND_LANDED, NULL);
	}
	if (!w->patch[0])
		return error_set(
			err, ERR_STATE, "'%s' changes nothing on '%s'", w->branch, w->target);
	if (!merge_land_is_approved(l))
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(w->a,
				"'%s' is at %.12s, with other changes than the approved "
				"commit %.12s",
				w->branch, w->head, l->ask->approved));
	if (foreign)
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(
				w->a, "'%s' on 'origin' has commits that are not here", w->branch));
	if (rebase_and_check(l, &good, err) < 0)
		return -1;
	return good ? merge_land_publish(l, again, err) : 0;
}

int land_branch(struct arena *a, struct pool *p, const struct land_ask *ask, struct gate *held,
	struct land *out, struct error *err)
{
	struct landing l = {.git = {.a = a,
				    .p = p,
				    .g = held,
				    .path = p->repo,
				    .branch = ask->branch,
				    .target = ask->target,
				    .part = ask->part},
		.ask = ask,
		.out = out};
	struct error ignored;
	bool again = true;
	int rc = 0;

	*out = (struct land){.branch = ask->branch, .fence = gate_fence(held)};
	if (publish_begin(&l.git, err) < 0 || merge_land_check_pull(&l, err) < 0)
		return -1;
	out->target = l.git.target;
	for (unsigned i = 0; rc == 0 && again && i < LAND_TRIES; i++)
		rc = try(&l, &again, err);
	(void)publish_end(&l.git, rc < 0 ? &ignored : err);
	return rc;
}

/* ---- afterwards ---- */

int land_return(
	struct arena *a, struct pool *p, const struct land *l, const char **kept, struct error *err)
{
	const struct allocation *of;
	struct error why = {0};
	bool removed, moved;

	*kept = NULL;
	if (pool_find(a, p, l->branch, &of, err) < 0)
		return -1;
	if (!of || !of->there)
		return 0;
	if (publish_follow(a, of->path, l->head, l->commit, &moved, &why) < 0 ||
		pool_reclaim(a, p, l->branch, false, &removed, &why) < 0)
		*kept = arena_dup(a, str_of(why.text));
	return 0;
}
