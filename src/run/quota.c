/* quota.c: an action of a run in the quota ledger: reserved before it is dispatched, settled with
 * what its harness used. docs/quota.md. */
#include "src/base/clock.h"
#include "src/quota/quota.h"
#include "src/run/run_internal.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* The ledger serves all repositories: `OWNER/REPO/ID/STATE/N`, as the document is at
 * STATE/OWNER/REPO of the state directory; of a document elsewhere, with the digest of its
 * directory. */
static const char *ledger_name(struct arena *a, const struct run_item *r, const char *id)
{
	const char *dir = arena_dup(a, path_dir(r->call.context_file));
	CLEANUP(base_free) char *real = realpath(dir, NULL);
	char *state = NULL, digest[DIGEST_TEXT];
	struct error ignored;
	size_t n;

	dir = arena_dup(a, str_of(real ? real : dir));
	if (context_state_directory(a, &state, &ignored) == 0) {
		n = strlen(state);
		if (strncmp(dir, state, n) == 0 && dir[n] == '/')
			return arena_printf(a, "%s/%s", dir + n + 1, id);
	}
	digest_text(str_of(dir), digest);
	return arena_printf(a, "%s/%s", digest, id);
}

/* Of the first harness of the action's chain, or of `harness`. n_seats 0: nothing to ask. */
static int make_request(struct arena *a, const struct run_item *r, const char *id,
	const char *agent, const char *harness, struct quota_request *out, struct error *err)
{
	const struct stage_spec *stage = run_agent_stage(a, r->pipeline, id, agent);
	const struct stage_spec plain = {
		.name = arena_dup(a, run_action_state(id)), .schedule = SCHEDULE_NOW};
	struct text_list chain = run_agent_harnesses(a, r, stage);
	const struct harness *h;
	const char *account;

	if (!harness && !chain.n)
		return *out = (struct quota_request){.now = 0}, 0;
	if (harness_find(harness ? harness : chain.list[0], &h, err) < 0 ||
		harness_account(a, h, &account, err) < 0 ||
		quota_request(a, &r->resources, r->pipeline, stage ? stage : &plain, h->name,
			account, out, err) < 0)
		return -1;
	out->action = ledger_name(a, r, id);
	out->owner = process_own_name(a);
	return 0;
}

static int open_ledger(struct arena *a, struct quota *q, struct error *err)
{
	char *state;

	return context_state_directory(a, &state, err) < 0 ? -1
							   : quota_open(q, state, STORE_WRITE, err);
}

int run_quota_check(struct arena *a, const struct run_item *r, struct error *err)
{
	const struct pipeline *p = r->pipeline;
	struct quota_request ignored;

	if (!p)
		return 0;
	if (quota_check(a, &r->resources, p, r->artifacts, clock_now(), err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++) {
		const struct stage_spec *s = &p->stages[i];

		if (make_request(a, r, s->name, s->name, r->chain.n ? r->chain.list[0] : s->harness,
			    &ignored, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- before the dispatch ---- */

static int ask(struct arena *a, const struct run_item *r, const struct quota_request *q,
	const char *issue, struct quota_decision *d, struct error *err)
{
	CLEANUP(quota_close) struct quota ledger = {0};

	return open_ledger(a, &ledger, err) < 0 || quota_admit(a, &ledger, q, d, err) < 0 ||
			       quota_report(r->artifacts, issue, q->stage, &d->events, err) < 0 ||
			       quota_write_copies(a, &ledger, r->artifacts, q, err) < 0
		       ? -1
		       : 0;
}

static void answer(struct run_entry *e, struct arena *a, const struct stage_spec *stage,
	const struct quota_decision *d, struct admission *out)
{
	static const enum admission_answer answers[] = {[QUOTA_GRANTED] = ADMISSION_YES,
		[QUOTA_WAIT] = ADMISSION_WAIT,
		[QUOTA_DENIED] = ADMISSION_NO};

	out->answer = answers[d->verdict];
	out->until = d->until;
	if (d->verdict == QUOTA_WAIT)
		out->reason = d->why;
	if (d->verdict != QUOTA_DENIED)
		return;
	e->denied = stage;
	out->reason = arena_printf(a,
		"AdmissionDenied by %s: %s: change the plan or the stage, or run the same command "
		"again later",
		d->blocked_by, d->why);
}

void run_quota_admit(struct run_entry *e, struct arena *a, const char *id,
	const struct step_request *request, struct admission *out)
{
	CLEANUP(quota_release_decision) struct quota_decision d = {.verdict = QUOTA_GRANTED};
	const struct run_item *r = e->run;
	struct error err = {0};
	struct quota_request q;

	if (r->request->agents)
		return;
	if (make_request(a, r, id, request->agent, NULL, &q, &err) == 0) {
		if (!q.n_seats)
			return;
		if (ask(a, r, &q, arena_dup(a, (struct str){id, strcspn(id, "/")}), &d, &err) ==
			0) {
			answer(e, a, run_agent_stage(a, r->pipeline, id, request->agent), &d, out);
			return;
		}
	}
	out->answer = ADMISSION_NO;
	out->reason = arena_printf(a,
		"the quota ledger cannot be asked: %s: repair that, then run the same command "
		"again",
		err.text);
}

int run_quota_denied(const struct run_entry *e, struct str line, struct error *err)
{
	const struct stage_spec *s = e->denied;
	bool pause = s && s->on_failure == FAILURE_PAUSE;

	if (!s || !s->failure_declared || (!pause && s->on_failure != FAILURE_ABORT) ||
		(s->failure_on && strcmp(s->failure_on, "AdmissionDenied") != 0) ||
		!str_starts(line, "[{\"action\":\"done\""))
		return 0;
	return error_set(err, pause ? ERR_STATE : ERR_CHECK,
		"stage '%s' ended with 'AdmissionDenied': its onFailure is '%s'%s", s->name,
		pause ? "pause" : "abort", pause ? "; the same command continues" : "");
}

/* ---- after the action ---- */

/* Without figures the estimate counts, which only a reservation has. */
static int settle(struct arena *a, const struct run_item *r, const struct quota_request *q,
	const struct quota_usage *u, struct error *err)
{
	CLEANUP(quota_close) struct quota ledger = {0};
	CLEANUP(quota_release_settled) struct quota_settled s = {.reserved = false};

	if (open_ledger(a, &ledger, err) < 0)
		return -1;
	if (quota_settle(a, &ledger, q, u, &s, err) < 0)
		return u->input < 0 && err->code == ERR_USAGE ? 0 : -1;
	return quota_report(r->artifacts, r->call.id, q->stage, &s.events, err) < 0 ||
			       quota_write_copies(a, &ledger, r->artifacts, q, err) < 0
		       ? -1
		       : 0;
}

static int request_of(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, struct quota_request *out, struct error *err)
{
	return make_request(
		a, r, json_get_str(action, "id"), json_get_str(action, "agent"), harness, out, err);
}

static void log_fault(const json *action, const struct error *err)
{
	error_log("dev-team: '%s' is not booked in the quota ledger: %s",
		json_get_str(action, "id"), err->text);
}

/* A fallback uses its own account; the reservation, of the first harness, counts as estimated. */
void run_quota_settle(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, const struct usage *used)
{
	bool known = used->input_tokens >= 0 && used->output_tokens >= 0;
	struct quota_usage u = {.input = -1, .output = -1}, estimate = u;
	struct quota_request q, first;
	struct error err;

	if (!r->pipeline)
		return;
	if (known)
		u = (struct quota_usage){.input = used->input_tokens + used->cache_written,
			.output = used->output_tokens};
	if (request_of(a, r, action, harness, &q, &err) < 0 ||
		(q.n_seats && settle(a, r, &q, &u, &err) < 0) ||
		request_of(a, r, action, NULL, &first, &err) < 0 ||
		(first.n_seats && strcmp(first.harness, q.harness) != 0 &&
			settle(a, r, &first, &estimate, &err) < 0))
		log_fault(action, &err);
}

void run_quota_limit(struct arena *a, const struct run_item *r, const json *action, int64_t until)
{
	CLEANUP(quota_close) struct quota ledger = {0};
	struct quota_request q;
	struct error err;

	if (!r->pipeline || until <= clock_now())
		return;
	if (request_of(a, r, action, NULL, &q, &err) < 0 ||
		(q.n_seats && (open_ledger(a, &ledger, &err) < 0 ||
				      quota_limit(a, &ledger, &q, until, &err) < 0)))
		log_fault(action, &err);
}
