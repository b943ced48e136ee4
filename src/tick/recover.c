#include "context/file.h"
#include "src/base/clock.h"
#include "src/machine/failure.h"
#include "src/merge/requeue.h"
#include "src/run/run.h"
#include "src/setup/setup.h"
#include "src/tick/recover.h"
#include "src/verify/history.h"

/* All that is known about the failure. */
static int recover_add_failure(
	const struct recovery *r, const char *reason, struct buf *text, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct failure why;

	if (context_open(&f, r->document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	failure_explain(r->arena, &f, "init", &why);
	buf_addf(text, "%s\n%s\n%s", reason, context_section(&f.doc, CONTEXT_LAST_FAILURE).p,
		why.words ? why.words : "");
	return 0;
}

/* ---- again ---- */

/* A context_change; `attempt` NULL: the document stays. */
static int recover_put_back(struct context_file *f, void *attempt, struct error *err)
{
	int64_t rev = 0;

	return attempt && history_last_request(f, NULL, true, &rev, err) < 0
		       ? -1
		       : history_put_back(attempt, f, rev, err);
}

/* In this state, else with the last request to an agent, or, without `back`, with those that are
 * outstanding; `feedback` is for the next briefs. */
static int go_on(const struct recovery *r, bool back, const char *state, const char *feedback,
	struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct history_attempt attempt = {.arena = r->arena};
	struct workflow w;
	const char *note;

	history_set_place(r->arena, r->document, &attempt.place);
	attempt.workflow = run_load_workflow(r->arena, r->document, r->repo, &w) ? &w : NULL;
	if (context_open(&f, r->document, CONTEXT_MUST_EXIST, err) < 0 ||
		(back && context_update(&f, recover_put_back, state ? NULL : &attempt, err) < 0))
		return -1;
	note = failure_note(r->arena, &f.doc, feedback);
	if (note && context_set_key(&f, "user_note", str_of(note), err) < 0)
		return -1;
	return state ? context_set_key(&f, "state", str_of(state), err) : 0;
}

/* Whether the playbook does something about it once more. */
static bool has_remedy(const struct recovery *r, const struct playbook_mode *mode)
{
	const json *done = json_get(tick_memory_find(r->memory, r->task), "remedies");

	return mode && mode->action == PLAYBOOK_RETRY &&
	       json_get_int(done, mode->name, 0) < mode->budget;
}

void recover_count(const struct recovery *r, const struct playbook_mode *mode)
{
	json *done = json_inner(tick_memory_of(r->memory, r->task), "remedies");
	const char *url = recover_pull_url(r);

	tick_memory_report(r->memory, EVENT_TICK_RECOVERED, r->task,
		JSON_OBJECT(JSON_TEXT("mode", mode->name),
			JSON_TEXT("action", playbook_actions[mode->action]),
			JSON_INT("attempt", tick_memory_count(done, mode->name)),
			JSON_IF(url, JSON_TEXT("prUrl", url))));
}

const char *recover_remedy(void *recovery, const char *failed, int64_t *until)
{
	struct recovery *r = recovery;
	const struct playbook_mode *mode = playbook_find(r->playbook, str_of(failed));

	r->remedy = has_remedy(r, mode) ? mode : NULL;
	*until = r->remedy && mode->wait_s ? clock_now() + mode->wait_s : 0;
	return r->remedy ? mode->feedback : NULL;
}

/* ---- a pull request that was approved ---- */

const char *recover_pull_url(const struct recovery *r)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct str url;

	if (context_open(&f, r->document, CONTEXT_READ_ONLY, &ignored) < 0)
		return NULL;
	url = context_get(&f.doc, "pr_url");
	return url.n ? arena_dup(r->arena, url) : NULL;
}

bool recover_mark(const struct recovery *r, enum forge_mark mark)
{
	const char *url = recover_pull_url(r), *label = mark == FORGE_READY ? NULL : RECOVER_LABEL;
	struct forge_pull pull;
	struct error err;

	if (!url || !forge_find_pull(str_of(url), &pull) ||
		forge_mark(r->arena, r->repo, &pull, mark, label, &err) == 0)
		return true;
	error_log("dev-team: %s is not %s: %s", url, label ? "labelled" : "marked as ready",
		err.text);
	return false;
}

/* Remembered before anything is done, so that a kill cannot lose the count. */
static int come_back(
	const struct recovery *r, const struct requeue_pull *fault, bool *again, struct error *err)
{
	json *of = tick_memory_of(r->memory, r->task);
	int64_t n = tick_memory_count(of, "requeues");
	bool storm;

	if (n > RECOVER_PULLS_MAX) {
		tick_memory_park(r->memory, r->task, fault->reason, n);
		return 0;
	}
	JSON_SET(of, JSON_TIME("notBefore", clock_now() + (RECOVER_WAIT_S << (n - 1))));
	if (tick_memory_save(r->memory, err) < 0 ||
		requeue_and_triage(r->memory->artifacts, r->task->id, fault->failure,
			r->task->priority, &storm, err) < 0)
		return -1;
	if (storm) {
		tick_memory_park(r->memory, r->task, "a storm of triages (RetriageStorm)", n);
		return 0;
	}
	error_log("dev-team: %s comes back: %s", r->task->id, fault->reason);
	*again = true;
	if (go_on(r, true, RECOVER_STATE, fault->feedback, err) < 0)
		return -1;
	json_drop(of, "ended"); /* its next end is another one, whoever makes that step */
	return 0;
}

struct forge_view recover_view(const struct recovery *r)
{
	const char *url = recover_pull_url(r);
	struct forge_view view = {.missing = !url};
	struct forge_pull pull;
	struct error ignored;

	if (url && forge_find_pull(str_of(url), &pull) &&
		forge_view(r->arena, r->repo, &pull, NULL, &view, &ignored) < 0)
		view = (struct forge_view){0};
	return view;
}

/* It is not open any more: asked about once. Best effort. */
static void look_at_closed(const struct recovery *r)
{
	json *of = tick_memory_of(r->memory, r->task);
	struct forge_view view = {0};
	struct error ignored;

	if (!json_get(of, "pull"))
		view = recover_view(r);
	if (!view.state)
		return;
	JSON_SET(of, JSON_TEXT("pull", view.state));
	if (strcmp(view.state, "closed") == 0)
		tick_memory_park(r->memory, r->task, "its pull request was closed", 0);
	else if (strcmp(view.state, "merged") == 0)
		(void)triage_reset(r->memory->artifacts, r->task->id, "merged", &ignored);
}

int recover_pull(const struct recovery *r, const struct admission_facts *facts, bool *again,
	struct error *err)
{
	json *of = tick_memory_of(r->memory, r->task);
	const char *url = recover_pull_url(r), *at = json_get_str(of, "endedAt");
	const struct forge_open_pull *pull = facts->pulls.items;
	const struct forge_open_pull *end = pull ? pull + facts->pulls.n : NULL;
	const struct requeue_pull *fault;
	struct forge_pull own;

	if (!url || !forge_find_pull(str_of(url), &own))
		return 0;
	while (pull < end &&
		!str_is(own.number, arena_printf(r->arena, "%lld", (long long)pull->number)))
		pull++;
	if (pull == end) {
		if (!facts->pulls_fault)
			look_at_closed(r);
		return 0;
	}
	/* Once: a person may make it a draft again. */
	if (pull->draft && !json_str_is(of, "readied", at) && recover_mark(r, FORGE_READY))
		JSON_SET(of, JSON_TEXT("readied", at));
	fault = requeue_find(pull, at);
	return fault ? come_back(r, fault, again, err) : 0;
}

/* ---- work that exists nowhere else ---- */

#define RECOVER_GIT(line, ...)                                                                     \
	remote_git_line(r->arena, r->repo, (const char *const[]){"git", __VA_ARGS__, NULL}, line,  \
		&ignored)

/* A branch keeps the commits, whatever becomes of the item's own. Best effort. */
static void quarantine(const struct recovery *r)
{
	const char *branch = admission_branch(r->arena, r->task), *ref;
	char *count = NULL, *made = NULL, *commit = NULL, time[CLOCK_TEXT];
	struct error ignored;

	clock_name(clock_now_ms(), time);
	ref = arena_printf(
		r->arena, "quarantine/%s-%s", arena_lower(r->arena, str_of(r->task->id)), time);
	if (RECOVER_GIT(&count, "rev-list", "--count", branch, "--not", "--remotes",
		    "--branches=quarantine/*") < 0 ||
		!count || strcmp(count, "0") == 0 ||
		RECOVER_GIT(&made, "branch", ref, branch) < 0 ||
		RECOVER_GIT(&commit, "rev-parse", "--verify", "-q", ref) < 0 || !commit)
		return;
	error_log("dev-team: %s: %s commits that are not on a remote are kept in '%s'", r->task->id,
		count, ref);
	tick_memory_report(r->memory, EVENT_TICK_QUARANTINED, r->task,
		JSON_OBJECT(JSON_TEXT("branch", branch), JSON_TEXT("quarantineRef", ref),
			JSON_TEXT("commitSha", commit), JSON_INT("commitCount", atoll(count))));
}

/* ---- decisions ---- */

/* The playbook does something about it (*again), else it counts. */
static int settle(const struct recovery *r, const struct playbook_mode *mode, const char *reason,
	enum tick_failure what, bool *again, struct error *err)
{
	json *of = tick_memory_of(r->memory, r->task);
	bool hopeless = mode && (mode->action == PLAYBOOK_PARK || mode->idle_s);

	*again = has_remedy(r, mode) && !failure_is_final(str_of(reason));
	if (!*again) {
		if (mode && mode->action == PLAYBOOK_PARK && !mode->idle_s)
			reason = arena_printf(r->arena, "%s; %s", reason, mode->feedback);
		tick_memory_fail(r->memory, r->task, mode ? mode->name : "unknown", reason,
			what | (hopeless ? TICK_HOPELESS : 0));
		return 0;
	}
	if (go_on(r, !mode->idle_s, NULL, mode->feedback, err) < 0)
		return -1;
	json_drop(of, "notBefore");
	JSON_ADD(of, JSON_IF(mode->wait_s, JSON_TIME("notBefore", clock_now() + mode->wait_s)));
	recover_count(r, mode);
	return 0;
}

int recover_item(const struct recovery *r, const char *reason, bool *again, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (recover_add_failure(r, reason, &text, err) < 0 ||
		settle(r, playbook_find(r->playbook, buf_str(&text)), reason, TICK_ITEM_FAILED,
			again, err) < 0)
		return -1;
	if (!*again)
		quarantine(r);
	return 0;
}

void recover_step(const struct recovery *r, const char *reason)
{
	const struct playbook_mode *mode = playbook_find(r->playbook, str_of(reason));
	struct error ignored; /* there is no item yet */
	bool again = false;

	if (settle(r, mode, reason, TICK_STEP_FAILED, &again, &ignored) < 0)
		(void)settle(r, NULL, reason, TICK_STEP_FAILED, &again, &ignored);
}

int recover_idle(const struct recovery *r, bool *again, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	json *of = tick_memory_of(r->memory, r->task);
	const char *since, *released = json_get_str(of, "released");
	const struct playbook_mode *mode;
	int64_t changed;
	struct str url;

	if (context_open(&f, r->document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	url = context_get(&f.doc, "pr_url");
	since = context_get(&f.doc, "last_updated").p;
	if (released && strcmp(released, since) > 0)
		since = released;
	if (!url.n || clock_parse(since, &changed) < 0)
		return 0;
	if (!json_str_is(of, "prUrl", url.p))
		tick_memory_report(r->memory, EVENT_TICK_PULL_OPENED, r->task,
			JSON_OBJECT(
				JSON_TEXT("prUrl", url.p), JSON_TIME("prOpenedAt", clock_now())));
	JSON_SET(of, JSON_TEXT("prUrl", url.p));
	mode = playbook_find_idle(r->playbook, clock_now() - changed);
	return mode ? settle(r, mode, mode->feedback, TICK_STEP_FAILED, again, err) : 0;
}
