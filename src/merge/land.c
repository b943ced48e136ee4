#include "src/merge/land.h"
#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/merge/publish.h"
#include "src/sys/forge.h"

enum { POLL_MS = 1000, POLL_MAX_MS = 30000, OUTPUT_SHOWN = 4000 };

static const struct {
	const char *word;
	int status;
} fates[] = {
	[LAND_LANDED] = {"landed", 0},
	[LAND_CONFLICT] = {"conflict", ERR_CHECK},
	[LAND_CHANGED] = {"changed", ERR_CHECK},
	[LAND_CHECKS_FAILED] = {"checks_failed", ERR_CHECK},
	[LAND_MOVED] = {"moved", ERR_STATE},
	[LAND_NEEDS_PERSON] = {"needs_person", ERR_STATE},
};

const char *land_word(const struct land *l)
{
	if (l->alone && l->fate == LAND_LANDED)
		return l->already ? "current" : "pushed";
	return fates[l->fate].word;
}

int land_status(const struct land *l)
{
	return fates[l->fate].status;
}

json *land_json(const struct land *l)
{
	return JSON_OBJECT(JSON_TEXT("result", land_word(l)),
		JSON_IF(l->reason, JSON_TEXT("reason", l->reason)), JSON_TEXT("branch", l->branch),
		JSON_TEXT("target", l->target), JSON_IF(l->head, JSON_TEXT("head", l->head)),
		JSON_IF(l->onto, JSON_TEXT("onto", l->onto)),
		JSON_IF(l->commit, JSON_TEXT("commit", l->commit)),
		JSON_IF(l->tree, JSON_TEXT("tree", l->tree)),
		JSON_IF(l->patch, JSON_TEXT("patch", l->patch)),
		JSON_IF(l->paths, JSON_VALUE("paths", json_names(l->paths))),
		JSON_IF(l->output, JSON_TEXT("output", l->output)),
		JSON_IF(l->already, JSON_BOOL("already", true)),
		JSON_IF(l->kept, JSON_TEXT("kept", l->kept)), JSON_INT("fence", l->fence));
}

struct landing {
	struct publish git; /* runs in the repository */
	const struct land_ask *ask;
	struct land *out;
	struct forge_pull pull; /* that of the ask */
	bool part_began;
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

static int merge_land_find_landed(struct landing *l, bool *landed, struct error *err)
{
	struct publish *w = &l->git;
	struct land *out = l->out;
	const char *patch = l->ask->patch ? l->ask->patch : out->patch;

	if (git_find_landed(w->a, repo_of(l), w->head, w->onto, patch, &out->commit, err) < 0)
		return -1;
	*landed = out->commit != NULL;
	out->patch = *landed ? patch : out->patch;
	return 0;
}

/* `from`, `to`: what it is now. */
static int merge_land_changed(struct landing *l, const char *base, const char *was,
	const char *from, const char *to, const char *reason)
{
	struct publish *w = &l->git;

	base = base ? base : git_fork_point(w->a, repo_of(l), w->onto, was);
	l->out->output = git_compare_changes(w->a, repo_of(l), base, was, from, to);
	return merge_land_end(l, LAND_CHANGED, reason);
}

/* The same commit has other changes if the target has lost some of those that it was made on. */
static bool merge_land_is_approved(const struct landing *l)
{
	const struct land_ask *ask = l->ask;

	return !ask->approved || (ask->patch ? strcmp(ask->patch, l->out->patch) == 0
					     : strcmp(ask->approved, l->out->head) == 0);
}

/* ---- the check ---- */

static int merge_land_check(
	struct landing *l, const char *const *env, bool *passed, struct error *err)
{
	unsigned limit_s = l->ask->check_s ? l->ask->check_s : LAND_CHECK_S;
	const char *check = l->ask->check;
	static const char script[] = "exec 2>&1; test ! -f .gitmodules || git submodule --quiet "
				     "update --init --recursive; eval \"$1\"";
	const char *const argv[] = {"sh", "-c", script, "sh", check, NULL};
	const struct git_command c = {.dir = l->git.dir,
		.argv = argv,
		.name = "the check",
		.limit_s = limit_s,
		.late = true,
		.env = env};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct git_commit tip = {0};
	int status;

	*passed = true;
	if (!check)
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
		status == GIT_LATE
			? arena_printf(l->git.a, "'%s' did not end within %u s", check, limit_s)
			: arena_printf(l->git.a, "'%s' ended with status %d", check, status));
}

static void merge_land_end_part(struct landing *l)
{
	if (l->part_began)
		l->ask->part->end(l->ask->part->data);
	l->part_began = false;
}

/* What goes along with a rebase begins with its files, and before the check. */
static int prepare_and_check(struct landing *l, bool *good, struct error *err)
{
	const struct rebase_part *part = l->ask->part;
	bool rebased = strcmp(l->git.after, l->git.head) != 0;
	const char *const *env = NULL, *fault = NULL;

	*good = true;
	l->part_began = part && (rebased || l->ask->check);
	if (l->part_began && part->begin(part->data, l->git.dir, rebased, &env, &fault, err) < 0)
		return -1;
	if (fault) {
		*good = false;
		return merge_land_end(l, LAND_CONFLICT, fault);
	}
	return merge_land_check(l, env, good, err);
}

/* ---- a pull request that the forge merges ---- */

/* Looks again and again, after longer pauses each time, until a look sets the fate, or as much time
 * as the checks may take has passed: then it is `late`. A look gets the time since the first one;
 * 1: it is over. */
static int merge_land_poll(struct landing *l,
	int (*look)(struct landing *l, int64_t ms, struct error *err), enum land_fate late,
	const char *what, struct error *err)
{
	int64_t began = clock_ticks(), now = 0;
	unsigned pause = POLL_MS;

	for (; now / 1000 < l->ask->check_s; now = clock_ticks() - began) {
		int rc = look(l, now, err);

		if (rc || gate_pause(l->git.g, pause, err) < 0)
			return rc > 0 ? 0 : -1;
		pause = pause * 2 < POLL_MAX_MS ? pause * 2 : POLL_MAX_MS;
	}
	return merge_land_end(
		l, late, arena_printf(l->git.a, "%s within %u s", what, l->ask->check_s));
}

/* Those that have passed are a landing, as far as this is concerned. */
static int look_at_checks(struct landing *l, int64_t ms, struct error *err)
{
	struct forge_checks checks;

	if (forge_checks(l->git.a, repo_of(l), l->ask->pull, &checks, err) < 0)
		return -1;
	if (checks.state == FORGE_CHECKS_FAILED) {
		l->out->output = checks.failed;
		(void)merge_land_end(l, LAND_CHECKS_FAILED, "checks of the pull request failed");
	} else if (checks.state == FORGE_CHECKS_PASSED ||
		   (checks.state == FORGE_CHECKS_NONE && ms >= LAND_NO_CHECKS_S * 1000)) {
		(void)merge_land_end(l, LAND_LANDED, NULL);
	} else {
		return 0;
	}
	return 1;
}

/* The forge merges at once, or by a queue. */
static int look_at_merge(struct landing *l, int64_t ms, struct error *err)
{
	struct forge_view now;
	bool landed;

	(void)ms;
	if (forge_view(l->git.a, repo_of(l), &l->pull, NULL, &now, err) < 0 ||
		publish_learn(&l->git, err) < 0 || merge_land_find_landed(l, &landed, err) < 0)
		return -1;
	if (landed)
		(void)merge_land_end(l, LAND_LANDED, NULL);
	else if (!now.state || strcmp(now.state, "open") != 0)
		(void)merge_land_end(l, LAND_NEEDS_PERSON,
			arena_printf(l->git.a,
				"the pull request is %s, but '%s' has not its changes",
				now.state ? now.state : "missing", l->out->target));
	else
		return 0;
	return 1;
}

/* Before anything is pushed. */
static int merge_land_check_pull(struct landing *l, struct error *err)
{
	struct forge_view now = {0};

	if (!l->ask->pull)
		return 0;
	if (forge_find_pull(str_of(l->ask->pull), &l->pull) &&
		forge_view(l->git.a, repo_of(l), &l->pull, NULL, &now, err) < 0)
		return -1;
	if (now.tool && !now.missing)
		return 0;
	return now.tool ? error_set(err, ERR_STATE, "'%s' knows no pull request '%s'", now.tool,
				  l->ask->pull)
			: error_set(err, ERR_STATE,
				  "neither 'gh' nor 'glab' can be asked about '%s': install the "
				  "one of this forge, or merge it on the forge",
				  l->ask->pull);
}

static int merge_pull(struct landing *l, bool *again, struct error *err)
{
	const char *refused;
	struct forge_view now;

	if (merge_land_poll(l, look_at_checks, LAND_CHECKS_FAILED,
		    "the checks of the pull request did not end", err) < 0)
		return -1;
	if (l->out->fate != LAND_LANDED)
		return 0;
	if (forge_merge(l->git.a, repo_of(l), &l->pull, l->git.after, l->ask->method, &refused,
		    err) < 0)
		return -1;
	if (!refused)
		return merge_land_poll(
			l, look_at_merge, LAND_NEEDS_PERSON, "the forge has not merged", err);
	if (forge_view(l->git.a, repo_of(l), &l->pull, NULL, &now, err) < 0)
		return -1;
	*again = now.head && strcmp(now.head, l->git.after) != 0;
	return *again ? merge_land_end(l, LAND_MOVED, "others pushed to the pull request meanwhile")
		      : merge_land_end(l, LAND_NEEDS_PERSON, refused);
}

/* ---- one try ---- */

/* The worktree follows last: until then the next one repeats what a killed one had begun. */
static int merge_land_finish(struct landing *l, bool already, struct error *err)
{
	struct publish *w = &l->git;

	l->out->commit = w->after;
	l->out->already = already;
	if (l->ask->follow) {
		if (l->part_began && l->ask->part->keep(l->ask->part->data, err) < 0)
			return -1;
		l->out->kept =
			git_follow_branch(w->a, l->ask->follow, w->branch, w->head, w->after);
	}
	return merge_land_end(l, LAND_LANDED, NULL);
}

static int merge_land_publish(struct landing *l, bool *again, struct error *err)
{
	struct publish *w = &l->git;
	const char *said = NULL;
	enum pushed end;

	if (l->ask->follow && w->theirs && strcmp(w->theirs, w->after) == 0)
		return merge_land_finish(l, strcmp(w->after, w->head) == 0, err);
	if (publish_push(w, !l->ask->pull && !l->ask->follow, &end, &said, err) < 0)
		return -1;
	*again = end == PUSH_LATE;
	if (end == PUSH_LATE)
		return merge_land_end(l, LAND_MOVED,
			l->ask->follow ? "others pushed to the branch meanwhile"
				       : "others pushed to the target meanwhile");
	if (end == PUSH_REFUSED)
		return merge_land_end(l, LAND_NEEDS_PERSON, said);
	return l->ask->pull ? merge_pull(l, again, err) : merge_land_finish(l, false, err);
}

/* The rebased changes are compared with their context: what others changed beside them is a reason
 * to look again. */
static int rebase_and_check(struct landing *l, bool *good, struct error *err)
{
	struct publish *w = &l->git;
	const char *patch;

	*good = false;
	if (publish_rebase(w, l->ask->check != NULL, err) < 0)
		return -1;
	if (!w->after) {
		(void)merge_land_end(l, LAND_CONFLICT,
			arena_printf(w->a, "'%s' does not rebase onto '%s'", w->branch, w->target));
		l->out->paths = w->paths;
		return event_report(w->p->artifacts, EVENT_REBASE_CONFLICT, l->ask->issue, NULL,
			JSON_OBJECT(JSON_TEXT("branch", w->branch), JSON_TEXT("target", w->target),
				JSON_VALUE("paths", json_names(w->paths))),
			err);
	}
	if (!l->ask->follow && strcmp(w->after, w->onto) == 0) /* git leaves out what it has */
		return merge_land_finish(l, true, err);
	patch = publish_digest(w, w->onto, w->after);
	if (!l->ask->follow && !patch[0])
		return error_set(err, ERR_SYSTEM, "cannot read the changes of '%s'", w->branch);
	if (!l->ask->follow && strcmp(patch, w->patch) != 0)
		return merge_land_changed(l, w->fork, w->head, w->onto, w->after,
			arena_printf(w->a,
				"on '%s' these are not the approved changes any more: others "
				"changed the lines around them",
				w->target));
	return prepare_and_check(l, good, err);
}

/* *good: nothing is known that keeps it from being rebased and pushed. */
static int merge_land_judge(struct landing *l, bool *good, struct error *err)
{
	struct publish *w = &l->git;
	bool foreign = publish_is_foreign(w), landed;
	const char *lost = NULL;

	*good = false;
	if (l->ask->follow && (foreign || w->deleted))
		return merge_land_end(l, LAND_MOVED,
			arena_printf(w->a, "'%s' on 'origin' %s: nothing was pushed", w->branch,
				foreign ? "has commits that are not here" : "was deleted"));
	*good = l->ask->follow != NULL;
	if (*good || merge_land_find_landed(l, &landed, err) < 0)
		return *good ? 0 : -1;
	if (landed) {
		l->out->already = true;
		return merge_land_end(l, LAND_LANDED, NULL);
	}
	if (!w->patch[0])
		return error_set(
			err, ERR_STATE, "'%s' changes nothing on '%s'", w->branch, w->target);
	if (!l->ask->approved && publish_find_lost(w, &lost, err) < 0)
		return -1;
	if (lost)
		return merge_land_end(l, LAND_CHANGED,
			arena_printf(w->a,
				"'%s' has lost commits that '%s' was made on, up to %.12s. To land "
				"without them, first, on this branch: git rebase --onto origin/%s "
				"%.12s",
				w->target, w->branch, lost, w->target, lost));
	if (!merge_land_is_approved(l))
		return merge_land_changed(l, l->ask->base, l->ask->approved, w->fork, w->head,
			strcmp(w->head, l->ask->approved) == 0
				? arena_printf(w->a,
					  "'%s' has lost commits that '%s' was made on: it would "
					  "bring back more than what was approved",
					  w->target, w->branch)
				: arena_printf(w->a,
					  "'%s' is at %.12s, with other changes on '%s' than the "
					  "approved commit %.12s",
					  w->branch, w->head, w->target, l->ask->approved));
	if (foreign)
		return merge_land_changed(l, w->fork, w->head,
			git_fork_point(w->a, repo_of(l), w->onto, w->theirs), w->theirs,
			arena_printf(
				w->a, "'%s' on 'origin' has commits that are not here", w->branch));
	*good = true;
	return 0;
}

static int try(struct landing *l, bool *again, struct error *err)
{
	struct publish *w = &l->git;
	bool good;
	int rc;

	*again = false;
	if (gate_check(w->g, err) < 0 || publish_learn(w, err) < 0)
		return -1;
	l->out->head = w->head;
	l->out->onto = w->onto;
	l->out->patch = w->patch;
	rc = merge_land_judge(l, &good, err);
	if (rc == 0 && good)
		rc = rebase_and_check(l, &good, err);
	if (rc == 0 && good)
		rc = merge_land_publish(l, again, err);
	merge_land_end_part(l);
	return rc;
}

int land_branch(struct arena *a, struct pool *p, const struct land_ask *ask, struct gate *held,
	struct land *out, struct error *err)
{
	struct landing l = {
		.git = {.a = a, .p = p, .g = held, .branch = ask->branch, .target = ask->target},
		.ask = ask,
		.out = out};
	struct error ignored;
	bool again = true;
	int rc = 0;

	*out = (struct land){
		.branch = ask->branch, .alone = ask->follow != NULL, .fence = held->fence};
	if (publish_begin(&l.git, err) < 0 || merge_land_check_pull(&l, err) < 0)
		return -1;
	out->target = l.git.target;
	for (unsigned i = 0; rc == 0 && again && i < LAND_TRIES; i++)
		rc = try(&l, &again, err);
	/* What cannot be removed is reported, and removed when the command is repeated. */
	return publish_end(&l.git, rc < 0 ? &ignored : err) < 0 ? -1 : rc;
}

/* ---- afterwards ---- */

int land_return(struct arena *a, struct pool *p, const char *branch, const char *target,
	const char **kept, struct error *err)
{
	const char *const names[] = {arena_printf(a, "refs/heads/%s", branch),
		arena_printf(a, "refs/remotes/origin/%s", target)};
	const char *ids[2], *commit = NULL;
	struct allocation of;
	struct error why = {0};
	bool removed;

	*kept = NULL;
	if (pool_find(a, p, branch, false, &of, err) < 0)
		return -1;
	if (!of.there)
		return 0;
	if (git_read_ids(a, p->repo, names, 2, ids, err) < 0 ||
		(ids[0] && ids[1] &&
			git_find_landed(a, p->repo, ids[0], ids[1], NULL, &commit, err) < 0))
		return -1;
	*kept = commit ? git_follow_branch(a, of.path, branch, ids[0], commit)
		       : arena_printf(a, "'%s' has not all of its changes", target);
	if (!*kept && pool_reclaim(a, p, branch, false, &removed, &why) < 0)
		*kept = arena_dup(a, str_of(why.text));
	return 0;
}
