#include "src/event/event.h"
#include "src/base/clock.h"
#include "src/sys/git.h"
#include "src/sys/path.h"
#include "src/merge/rebase_internal.h"

enum { PUSH_S = 300 };

static const char *const words[] = {
	[REBASE_CURRENT] = "current",
	[REBASE_PUSHED] = "pushed",
	[REBASE_CONFLICT] = "suspended",
	[REBASE_EXHAUSTED] = "exhausted",
	[REBASE_MOVED] = "moved",
};

const char *rebase_word(enum rebase_fate f)
{
	return words[f];
}

/* Names that git accepts for branches must do no harm in a refspec. */
static bool branch_ok(const char *s)
{
	struct str name = str_of(s);

	return name.n && name.n < 250 && s[0] != '-' && s[0] != '/' && s[name.n - 1] != '/' &&
	       !strpbrk(s, " ~^:?*[\\+\n\t\x7f") && !strstr(s, "..") && !strstr(s, "@{") &&
	       !strstr(s, "//") && !str_ends(name, ".lock");
}

static int rebase_find_target(struct rebasing *w, struct error *err)
{
	struct git_default known;

	if (w->target)
		return 0;
	if (git_read_default(w->a, w->path, &known, err) < 0)
		return -1;
	w->target = known.branch ? known.branch : "main";
	w->out->target = w->target;
	return 0;
}

static int check_names(const struct rebase_ask *ask, const char *target, struct error *err)
{
	if (!branch_ok(target))
		return error_set(err, ERR_USAGE, "'%.200s' is not a valid branch name", target);
	if (!branch_ok(ask->of->branch))
		return error_set(
			err, ERR_USAGE, "'%.200s' is not a valid branch name", ask->of->branch);
	if (strcmp(target, ask->of->branch) == 0)
		return error_set(err, ERR_STATE,
			"'%s' is the target branch, which is never rebased or pushed", target);
	return 0;
}

/* Another clone has worktrees of its own; its branches are not ours to push. */
static int check_clone(struct rebasing *w, struct error *err)
{
	static const char *const argv[] = {
		"git", "rev-parse", "--path-format=absolute", "--git-common-dir", NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(base_free) char *real = NULL;

	if (!w->p->common)
		return 0;
	if (rebase_git(w, argv, "git rev-parse", 0, &out, NULL, err) < 0)
		return -1;
	real = realpath(arena_dup(w->a, str_trim(buf_str(&out))), NULL);
	if (!real || strcmp(real, w->p->common) != 0)
		return error_set(err, ERR_STATE, "'%s' belongs to another clone: '%s'", w->path,
			real ? real : out.s);
	return 0;
}

static int rebase_check_head(struct rebasing *w, struct error *err)
{
	struct git_head h;

	if (git_read_head(w->a, w->path, &h, err) < 0)
		return -1;
	w->batch_ssh = !h.own_ssh;
	if (h.busy)
		return error_set(err, ERR_STATE, "a %s is in progress in '%s'", h.busy, w->path);
	if (!h.branch || strcmp(h.branch, w->branch) != 0)
		return error_set(err, ERR_STATE, "'%s' has %s%s%s checked out, not '%s'", w->path,
			h.branch ? "'" : "", h.branch ? h.branch : "no branch", h.branch ? "'" : "",
			w->branch);
	if (h.unborn)
		return error_set(err, ERR_STATE, "no commit on branch '%s' yet", w->branch);
	if (!h.origin)
		return error_set(err, ERR_STATE,
			"no remote 'origin' in '%s': there is nothing to rebase onto or push to",
			w->path);
	return 0;
}

static int check_clean(struct rebasing *w, struct error *err)
{
	const char *dirty;

	if (rebase_dirty(w, &dirty, err) < 0)
		return -1;
	if (dirty)
		return error_set(
			err, ERR_STATE, "uncommitted changes in '%s': '%s'", w->path, dirty);
	return 0;
}

static int rebase_begin(struct rebasing *w, struct error *err)
{
	const char *own = arena_printf(w->a, "refs/heads/%s", w->branch);
	const char *seen = arena_printf(w->a, "refs/remotes/origin/%s", w->branch);

	if (gate_check(w->g, err) < 0 || rebase_read(w->a, w->p, w->path, &w->rec, err) < 0)
		return -1;
	if (w->rec.branch && strcmp(w->rec.branch, w->branch) != 0)
		w->rec = (struct rebase_record){.mod = w->rec.mod}; /* of an earlier allocation */
	if (check_clone(w, err) < 0 || rebase_check_head(w, err) < 0 || check_clean(w, err) < 0)
		return -1;
	if (rebase_sha(w, own, &w->out->before, err) < 0 || rebase_sha(w, seen, &w->known, err) < 0)
		return -1;
	if (w->ask->again)
		w->rec.attempts = 0;
	return 0;
}

/* Where the rebase begins: a killed one may have pushed already. */
static int intend(struct rebasing *w, struct error *err)
{
	bool killed = w->rec.after && strcmp(w->rec.state, "rebasing") == 0;
	bool pushed = killed && strcmp(w->rec.before, w->out->before) == 0;

	w->from = pushed ? w->rec.after : w->out->before;
	w->unverified = killed && strcmp(w->rec.after, w->from) == 0;
	w->rec.path = w->path;
	w->rec.branch = w->branch;
	w->rec.target = w->target;
	w->rec.before = w->out->before;
	w->rec.onto = w->rec.expected = NULL;
	w->rec.paths = NULL;
	return rebase_save(w, "rebasing", err);
}

static int rebase_learn(struct rebasing *w, struct error *err)
{
	const char *target;

	if (rebase_remote(w, &target, &w->theirs, err) < 0)
		return -1;
	if (!target)
		return error_set(
			err, ERR_STATE, "no branch '%s' on the remote 'origin'", w->target);
	if (rebase_fetch(w, err) < 0 ||
		rebase_sha(w, arena_printf(w->a, "refs/remotes/origin/%s", w->target),
			&w->out->onto, err) < 0)
		return -1;
	if (w->theirs && rebase_sha(w, arena_printf(w->a, "refs/remotes/origin/%s", w->branch),
				 &w->theirs, err) < 0)
		return -1;
	if (!w->out->onto)
		return error_set(err, ERR_SYSTEM, "'git fetch' did not bring '%s'", w->target);
	w->rec.onto = w->out->onto;
	w->rec.expected = w->theirs ? w->theirs : "";
	if (!w->theirs || strcmp(w->theirs, w->from) != 0) {
		w->from = w->out->before;
		w->unverified = false;
	}
	return rebase_save(w, "rebasing", err);
}

/* The remote's commit must be one that this branch has or once had: otherwise a push would discard
 * what somebody else has pushed, or restore what they have deleted. */
static int somebody_pushed(struct rebasing *w, bool *yes, struct error *err)
{
	bool ours;

	*yes = !w->theirs && w->known;
	if (!w->theirs || strcmp(w->theirs, w->out->before) == 0 ||
		(w->rec.after && strcmp(w->rec.after, w->theirs) == 0))
		return 0;
	if (rebase_contains(w, w->theirs, w->out->before, &ours, err) < 0)
		return -1;
	if (!ours && rebase_was_at(w, w->theirs, &ours, err) < 0)
		return -1;
	*yes = !ours;
	return 0;
}

static int tell_conflict(struct rebasing *w, struct error *err)
{
	CLEANUP(json_free)
	json *fields = JSON_OBJECT(JSON_TEXT("branch", w->branch), JSON_TEXT("target", w->target),
		JSON_VALUE("paths", json_names(w->out->paths)),
		JSON_INT("attempt", w->out->attempt));
	struct event h = {.id = EVENT_REBASE_CONFLICT, .issue = w->ask->issue, .fields = fields};

	return event_emit(w->p->artifacts, &h, err);
}

/* For people who look at the run: Suspended, until a rebase succeeds. */
static int tell_run(struct rebasing *w, struct error *err)
{
	CLEANUP(json_free) json *members = NULL;
	bool suspended = w->out->fate == REBASE_CONFLICT || w->out->fate == REBASE_EXHAUSTED;

	if (!w->p->artifacts || !w->ask->issue)
		return 0;
	members = JSON_OBJECT(JSON_VALUE("mergeGate",
		JSON_OBJECT(JSON_TEXT("state", suspended ? "Suspended" : "Active"),
			JSON_TEXT("outcome", rebase_word(w->out->fate)),
			JSON_TEXT("branch", w->branch), JSON_TEXT("target", w->target),
			JSON_INT("attempt", w->out->attempt), JSON_INT("fence", w->out->fence),
			JSON_TIME("at", clock_now()))));
	return artifact_merge_runtime(w->p->artifacts, w->ask->issue, members, err);
}

/* What was written in the worktree meanwhile stays, and then its branch too. */
static int merge_rebase_follow(struct rebasing *w, struct error *err)
{
	struct error why = {0};
	bool moved;

	if (!w->out->after)
		return 0;
	if (rebase_follow(w->a, w->path, w->out->before, w->out->after, &moved, &why) < 0)
		w->out->kept = arena_dup(w->a, str_of(why.text));
	else if (moved)
		w->out->kept = "it has got commits meanwhile";
	return gate_check(w->g, err);
}

static int rebase_finish(struct rebasing *w, enum rebase_fate fate, struct error *err)
{
	bool current = fate == REBASE_CURRENT || fate == REBASE_PUSHED;

	w->out->fate = fate;
	w->published = current;
	if (merge_rebase_follow(w, err) < 0 ||
		(current && w->ask->keep && w->ask->keep(w->ask->data, err) < 0))
		return -1;
	if (w->out->after)
		w->rec.attempts = 0;
	w->out->attempt = w->rec.attempts;
	if (rebase_save(w, rebase_word(fate), err) < 0)
		return -1;
	if (w->out->paths && tell_conflict(w, err) < 0)
		return -1;
	return tell_run(w, err);
}

static int conflict(struct rebasing *w, struct error *err)
{
	unsigned max = w->ask->attempts_max ? w->ask->attempts_max : REBASE_ATTEMPTS;

	w->rec.attempts++;
	w->rec.paths = w->out->paths;
	return rebase_finish(w, w->rec.attempts >= max ? REBASE_EXHAUSTED : REBASE_CONFLICT, err);
}

static int rebase_push(struct rebasing *w, int *status, struct error *said, struct error *err)
{
	const char *name = arena_printf(w->a, "refs/heads/%s", w->branch);
	const char *const argv[] = {"git", "-c", "gc.auto=0", "push", "--porcelain",
		"--no-follow-tags",
		arena_printf(w->a, "--force-with-lease=%s:%s", name, w->rec.expected), "origin",
		arena_printf(w->a, "%s:%s", w->out->after, name), NULL};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	if (gate_check(w->g, err) < 0)
		return -1;
	if (rebase_git(w, argv, "git push", PUSH_S, &out, status, said) == 0)
		return 0;
	*err = *said;
	return -1;
}

/* A push that failed may have succeeded on the remote, or have come too late: ask the remote. */
static int settle_push(struct rebasing *w, const struct error *said, struct error *err)
{
	const char *target, *now;

	if (rebase_remote(w, &target, &now, err) < 0)
		return -1;
	if (now && strcmp(now, w->out->after) == 0)
		return rebase_finish(w, REBASE_PUSHED, err);
	if (strcmp(now ? now : "", w->rec.expected) == 0) {
		*err = *said;
		return -1;
	}
	w->out->after = NULL;
	return rebase_finish(w, REBASE_MOVED, err);
}

static int rebase_publish(struct rebasing *w, struct error *err)
{
	struct error said = {0};
	int status;

	w->rec.after = w->out->after;
	if (rebase_save(w, "rebasing", err) < 0 || rebase_push(w, &status, &said, err) < 0)
		return -1;
	return status == 0 ? rebase_finish(w, REBASE_PUSHED, err) : settle_push(w, &said, err);
}

static int play(struct rebasing *w, struct error *err)
{
	bool moved, has;

	if (intend(w, err) < 0 || rebase_learn(w, err) < 0 || somebody_pushed(w, &moved, err) < 0)
		return -1;
	if (moved)
		return rebase_finish(w, REBASE_MOVED, err);
	if (rebase_contains(w, w->out->onto, w->from, &has, err) < 0)
		return -1;
	w->out->after = w->from;
	if ((!has || w->unverified) &&
		(gate_check(w->g, err) < 0 || rebase_check_out(w, w->from, err) < 0))
		return -1;
	if (!has && rebase_replay(w, w->out->onto, &w->out->after, &w->out->paths, err) < 0)
		return -1;
	if (!w->out->after)
		return conflict(w, err);
	if ((!has || w->unverified) && w->ask->verify &&
		w->ask->verify(w->ask->data, w->dir, &w->out->fault, err) < 0)
		return -1;
	if (w->out->fault) {
		w->out->after = NULL;
		return conflict(w, err);
	}
	if (w->theirs && strcmp(w->theirs, w->out->after) == 0)
		return rebase_finish(w,
			strcmp(w->out->after, w->out->before) == 0 ? REBASE_CURRENT : REBASE_PUSHED,
			err);
	return rebase_publish(w, err);
}

int gate_rebase(struct arena *a, struct pool *p, const struct rebase_ask *ask, struct gate *held,
	struct rebase *out, struct error *err)
{
	struct rebasing w = {.a = a,
		.p = p,
		.g = held,
		.ask = ask,
		.path = ask->of->path,
		.dir = path_join(a, p->dir, ".landing"),
		.branch = ask->of->branch,
		.target = ask->target,
		.out = out};
	unsigned max = ask->attempts_max ? ask->attempts_max : REBASE_ATTEMPTS;
	struct error ignored;
	int rc;

	*out = (struct rebase){.branch = w.branch, .target = w.target, .fence = gate_fence(held)};
	if (rebase_find_target(&w, err) < 0 || check_names(ask, w.target, err) < 0 ||
		rebase_begin(&w, err) < 0)
		return -1;
	if (w.rec.attempts >= max)
		return rebase_finish(&w, REBASE_EXHAUSTED, err);
	rc = play(&w, err);
	if (gate_check(held, &ignored) == 0) {
		if (rc < 0 && !w.published)
			(void)rebase_save(&w, "failed", &ignored);
		(void)rebase_discard(&w, &ignored);
	}
	return rc;
}
