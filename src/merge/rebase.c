#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/merge/publish.h"
#include "src/sys/git.h"

static const char *const words[] = {
	[REBASE_CURRENT] = "current",
	[REBASE_PUSHED] = "pushed",
	[REBASE_CONFLICT] = "suspended",
	[REBASE_MOVED] = "moved",
};

const char *rebase_word(enum rebase_fate f)
{
	return words[f];
}

json *rebase_json(const struct rebase *r)
{
	return JSON_OBJECT(JSON_TEXT("outcome", rebase_word(r->fate)),
		JSON_TEXT("branch", r->branch), JSON_TEXT("target", r->target),
		JSON_TEXT("before", r->before ? r->before : ""),
		JSON_IF(r->after, JSON_TEXT("after", r->after)),
		JSON_IF(r->onto, JSON_TEXT("onto", r->onto)),
		JSON_IF(r->paths, JSON_VALUE("paths", json_names(r->paths))),
		JSON_IF(r->fault, JSON_TEXT("fault", r->fault)), JSON_INT("fence", r->fence),
		JSON_IF(r->kept, JSON_TEXT("kept", r->kept)));
}

/* ---- what can be rebased ---- */

/* Another clone has worktrees of its own; its branches are not ours to push. */
static int rebase_check_clone(struct publish *w, struct error *err)
{
	struct ownership own = pool_ownership(w->a, w->path, w->p->common);

	return own.ok ? 0
		      : error_set(err, ERR_STATE, "'%s' belongs to another clone: '%s'", w->path,
				own.actual ? own.actual : own.reason);
}

static int rebase_check_head(struct publish *w, struct error *err)
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

static int rebase_check_clean(struct publish *w, struct error *err)
{
	static const char *const argv[] = {"git", "status", "--porcelain", "-z",
		"--untracked-files=all", "--no-renames", NULL};
	const struct git_call c = {.cwd = w->path, .argv = argv, .name = "git status"};
	CLEANUP(buf_release) struct buf out = BUF_INIT, name = BUF_INIT;

	if (gate_git(w->g, &c, &out, NULL, err) < 0)
		return -1;
	if (out.len <= 3)
		return 0;
	buf_adds(&name, out.s + 3);
	buf_utf8_repair(&name);
	return error_set(err, ERR_STATE, "uncommitted changes in '%s': '%s'", w->path, name.s);
}

/* ---- afterwards ---- */

static int tell_conflict(
	struct publish *w, const struct rebase_ask *ask, const struct rebase *r, struct error *err)
{
	CLEANUP(json_free)
	json *fields = JSON_OBJECT(JSON_TEXT("branch", w->branch), JSON_TEXT("target", w->target),
		JSON_VALUE("paths", json_names(r->paths)));
	struct event h = {.id = EVENT_REBASE_CONFLICT, .issue = ask->issue, .fields = fields};

	return r->paths ? event_emit(w->p->artifacts, &h, err) : 0;
}

/* For people who look at the run: Suspended, until a rebase succeeds. */
static int tell_run(
	struct publish *w, const struct rebase_ask *ask, const struct rebase *r, struct error *err)
{
	CLEANUP(json_free) json *members = NULL;

	if (!w->p->artifacts || !ask->issue)
		return 0;
	members = JSON_OBJECT(JSON_VALUE("mergeGate",
		JSON_OBJECT(JSON_TEXT("state", r->fate == REBASE_CONFLICT ? "Suspended" : "Active"),
			JSON_TEXT("outcome", rebase_word(r->fate)), JSON_TEXT("branch", w->branch),
			JSON_TEXT("target", w->target), JSON_INT("fence", r->fence),
			JSON_TIME("at", clock_now()))));
	return artifact_merge_runtime(w->p->artifacts, ask->issue, members, err);
}

/* What was written in the worktree meanwhile stays, and then its branch too. */
static void rebase_follow(struct publish *w, struct rebase *r)
{
	struct error why = {0};
	bool moved;

	if (publish_follow(w->a, w->path, w->head, w->after, &moved, &why) < 0)
		r->kept = arena_dup(w->a, str_of(why.text));
	else if (moved)
		r->kept = "it has got commits meanwhile";
}

/* The worktree follows last: until then the next rebase repeats what a killed one had begun. */
static int rebase_finish(struct publish *w, struct rebase *r, struct error *err)
{
	if (w->part_began && w->part->keep(w->part->data, err) < 0)
		return -1;
	r->after = w->after;
	r->fate = strcmp(w->after, w->head) == 0 && w->theirs && strcmp(w->theirs, w->head) == 0
			  ? REBASE_CURRENT
			  : REBASE_PUSHED;
	rebase_follow(w, r);
	return gate_check(w->g, err);
}

/* ---- one rebase ---- */

/* Deleted, or with commits of others. */
static int rebase_find_moved(struct publish *w, bool *moved, struct error *err)
{
	const char *known = NULL;

	if (publish_find_foreign(w, moved, err) < 0 ||
		(!w->theirs &&
			publish_read_sha(w, arena_printf(w->a, "refs/remotes/origin/%s", w->branch),
				&known, err) < 0))
		return -1;
	*moved = *moved || known;
	return 0;
}

static int rebase_prepare(struct publish *w, struct error *err)
{
	const char *const *ignored;

	w->after = w->head;
	if (strcmp(w->fork, w->onto) == 0)
		return 0;
	if (publish_rebase(w, err) < 0)
		return -1;
	return w->after ? publish_begin_part(w, &ignored, err) : 0;
}

static int rebase_publish(struct publish *w, struct rebase *r, struct error *err)
{
	struct error said = {0};
	enum pushed end = PUSH_DONE;

	if ((!w->theirs || strcmp(w->theirs, w->after) != 0) &&
		publish_push(w, false, &end, &said, err) < 0)
		return -1;
	if (end == PUSH_DONE)
		return rebase_finish(w, r, err);
	r->fate = REBASE_MOVED;
	if (end == PUSH_LATE)
		return 0;
	*err = said;
	return -1;
}

static int rebase_play(struct publish *w, struct rebase *r, struct error *err)
{
	bool moved;

	if (publish_learn(w, err) < 0 || rebase_find_moved(w, &moved, err) < 0)
		return -1;
	r->before = w->head;
	r->onto = w->onto;
	r->fate = REBASE_MOVED;
	if (moved)
		return 0;
	if (rebase_prepare(w, err) < 0)
		return -1;
	r->paths = w->paths;
	r->fault = w->fault;
	r->fate = REBASE_CONFLICT;
	return r->paths || r->fault ? 0 : rebase_publish(w, r, err);
}

int gate_rebase(struct arena *a, struct pool *p, const struct rebase_ask *ask, struct gate *held,
	struct rebase *out, struct error *err)
{
	struct publish w = {.a = a,
		.p = p,
		.g = held,
		.path = ask->of->path,
		.branch = ask->of->branch,
		.target = ask->target,
		.part = ask->part};
	struct error ignored;
	int rc;

	*out = (struct rebase){.branch = w.branch, .fence = gate_fence(held)};
	if (publish_begin(&w, err) < 0 || rebase_check_clone(&w, err) < 0 ||
		rebase_check_head(&w, err) < 0 || rebase_check_clean(&w, err) < 0)
		return -1;
	out->target = w.target;
	rc = rebase_play(&w, out, err);
	if (rc == 0)
		rc = tell_conflict(&w, ask, out, err) < 0 ? -1 : tell_run(&w, ask, out, err);
	(void)publish_end(&w, &ignored);
	return rc;
}
