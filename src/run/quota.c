/* quota.c: an action of a run in the quota ledger: reserved before it is dispatched, settled with
 * what its harness used. docs/quota.md. */
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/machine/action.h"
#include "src/quota/quota.h"
#include "src/run/run_internal.h"
#include "src/setup/setup.h"
#include "src/sys/digest.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

#define SESSION_HARNESS "claude-code" /* the client that steps items in sessions */

/* The ledger serves all repositories: `OWNER/REPO/ID/STATE/N`, as the document is at
 * STATE/OWNER/REPO of the state directory; of a document elsewhere, with the digest of its
 * directory. */
static const char *ledger_name(struct arena *a, const char *document, const char *id)
{
	const char *dir = arena_dup(a, path_dir(document));
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

int run_quota_open(struct arena *a, struct quota *q, bool write, struct error *err)
{
	char *state;

	return context_state_directory(a, &state, err) < 0 ? -1 : quota_open(q, state, write, err);
}

/* ---- the work item of an action ---- */

/* What the ledger must know of an item to tell which of its reservations are over. */
struct item_view {
	const struct context_file *file;
	size_t prefix; /* of the names of its actions, before the ids */
	json *outstanding;
};

static void close_view(struct item_view *v)
{
	json_free(&v->outstanding);
}

/* An action that was dispatched, and that nobody waits for any more. One that was admitted and not
 * dispatched yet will be asked about again. */
static bool quota_is_over(void *data, const char *action)
{
	const struct item_view *v = data;
	const char *id = action + v->prefix;
	CLEANUP(arena_release) struct arena a = {0};
	const json *found = action_find(v->outstanding, id);
	struct str part;
	unsigned long n = action_number(id, &part);

	return n <= context_attempts(&v->file->doc, arena_dup(&a, part)) &&
	       (!found || action_answered(&v->file->doc, found));
}

/* Sets what the request must know of the item. The view must outlive it. Close it. */
static int view_item(struct arena *a, const struct context_file *f, const char *item,
	struct item_view *v, struct quota_request *q, struct error *err)
{
	*v = (struct item_view){.file = f, .prefix = strlen(ledger_name(a, f->path, ""))};
	(void)clock_parse(context_get(&f->doc, "started").p, &q->begun);
	q->item = ledger_name(a, f->path, arena_printf(a, "%s/", item));
	q->over = quota_is_over;
	q->over_data = v;
	return action_load(&f->doc, &v->outstanding, err);
}

int run_quota_end_item(struct arena *a, const char *document, const char *item, struct error *err)
{
	CLEANUP(quota_close) struct quota ledger = {0};
	struct quota_request q = {
		.item = ledger_name(a, document, arena_printf(a, "%s/", item)), .now = clock_now()};
	bool there;
	char *state;
	size_t n;

	if (context_state_directory(a, &state, err) < 0 || quota_exists(state, &there, err) < 0)
		return -1;
	return !there ? 0
	       : quota_open(&ledger, state, true, err) < 0
		       ? -1
		       : quota_end_item(a, &ledger, &q, &n, err);
}

/* ---- what is asked ---- */

/* Of the model that the harness runs the stage on; unknown if that is the harness's own. */
static int quota_set_price(const struct run_item *r, const struct stage_spec *stage,
	const struct harness *h, struct quota_request *q, struct error *err)
{
	const struct pipeline *p = r->pipeline;
	const char *model = r->request->model, *id;
	const struct model_entry *priced;
	struct model_resolved m;
	bool fits;

	if (r->pins && stage >= p->stages && stage < p->stages + p->n_stages && !model)
		m = r->pins[stage - p->stages].model;
	else if (model_resolve(&r->models, model ? model : stage->model, p->default_model,
			 clock_now(), &m, err) < 0)
		return -1;
	id = harness_model(h, &m, &fits);
	priced = id ? model_priced(&r->models, id) : NULL;
	if (priced) {
		q->input_usd = priced->input_usd;
		q->output_usd = priced->output_usd;
	}
	return 0;
}

/* The registry of models, where a plan is paid per token: for the others no price matters. */
static int quota_load_models(
	struct arena *a, const char *repo, struct run_item *r, struct error *err)
{
	struct text_list plans = pipeline_plans(a, &r->resources, r->pipeline);

	for (size_t i = 0; i < plans.n; i++) {
		const struct subscription_plan *p = resources_plan(&r->resources, plans.list[i]);

		if (p && p->billing == BILLING_PER_TOKEN)
			return locate_models(a, NULL, repo, &r->models, err);
	}
	return 0;
}

static bool quota_is_priced(const struct quota_request *q)
{
	for (size_t i = 0; i < q->n_seats; i++)
		if (q->seats[i]->billing == BILLING_PER_TOKEN)
			return true;
	return false;
}

static int request_stage(struct arena *a, const struct run_item *r, const struct stage_spec *stage,
	const char *harness, struct quota_request *out, struct error *err)
{
	const struct harness *h;
	const char *account;

	return harness_find(harness, &h, err) < 0 || harness_account(a, h, &account, err) < 0 ||
			       quota_request(a, &r->resources, r->pipeline, stage, h->name, account,
				       out, err) < 0 ||
			       (quota_is_priced(out) && quota_set_price(r, stage, h, out, err) < 0)
		       ? -1
		       : 0;
}

int run_quota_request(struct arena *a, const struct resources *resources, const struct pipeline *p,
	const struct stage_spec *stage, const char *harness, struct quota_request *out,
	struct error *err)
{
	static const struct run_request none = {.agents = NULL};
	struct run_item r = {.request = &none, .resources = *resources, .pipeline = p};

	return quota_load_models(a, NULL, &r, err) < 0
		       ? -1
		       : request_stage(a, &r, stage, harness, out, err);
}

/* Of the first harness of the action's chain, or of `harness`. n_seats 0: nothing to ask. */
static int make_request(struct arena *a, const struct run_item *r, const char *id,
	const char *agent, const char *harness, struct quota_request *out, struct error *err)
{
	const struct stage_spec *stage = run_agent_stage(a, r->pipeline, id, agent);
	const struct stage_spec plain = {
		.name = arena_dup(a, run_action_state(id)), .schedule = SCHEDULE_NOW};
	struct text_list chain = run_agent_harnesses(a, r, stage);

	if (!harness && !chain.n)
		return *out = (struct quota_request){.now = 0}, 0;
	if (request_stage(
		    a, r, stage ? stage : &plain, harness ? harness : chain.list[0], out, err) < 0)
		return -1;
	out->action = ledger_name(a, r->call.context_file, id);
	out->owner = r->call.in_run ? process_own_name(a) : process_client_name(a);
	return 0;
}

/* A limit in USD could not be kept. */
static int check_price(const struct pipeline *p, const struct stage_spec *s,
	const struct quota_request *q, struct error *err)
{
	const char *limit = s->max_budget_usd > 0        ? "maxBudgetUsd"
			    : p->cost_budget_usd > 0     ? "costBudget"
			    : p->cost_budget_day_usd > 0 ? "costBudgetPerDay"
							 : NULL;

	for (size_t i = 0; limit && !(q->input_usd > 0) && i < q->n_seats; i++)
		if (q->seats[i]->billing == BILLING_PER_TOKEN)
			return error_at(err, p->file, s->line, s->col,
				"stage '%s': '%s' limits its cost, it is paid per token by the "
				"plan '%s', and the price of its model is unknown: add 'price' to "
				"the registry of models",
				s->name, limit, q->seats[i]->name);
	return 0;
}

int run_quota_check(struct arena *a, const struct run_item *r, struct error *err)
{
	const struct pipeline *p = r->pipeline;
	struct quota_request q;

	if (!p)
		return 0;
	if (quota_check(a, &r->resources, p, r->artifacts, clock_now(), err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++) {
		const struct stage_spec *s = &p->stages[i];

		if (make_request(a, r, s->name, s->name, r->chain.n ? r->chain.list[0] : s->harness,
			    &q, err) < 0 ||
			check_price(p, s, &q, err) < 0)
			return -1;
	}
	return 0;
}

int run_quota_session(struct arena *a, const struct run_step_call *call,
	const struct run_item **out, struct error *err)
{
	static const struct run_request none = {.agents = NULL};
	struct run_item *r = arena_alloc(a, sizeof(*r));

	*out = NULL;
	*r = (struct run_item){.request = &none, .call = *call};
	if (locate_session_pipeline(a, call->repo, &r->resources, &r->pipeline, err) < 0)
		return -1;
	if (!r->pipeline)
		return 0;
	chain_add_name(a, &r->chain, SESSION_HARNESS);
	if (locate_artifacts(a, NULL, call->repo, &r->artifacts, err) < 0 ||
		quota_load_models(a, call->repo, r, err) < 0 ||
		quota_check_tenants(&r->resources, err) < 0)
		return error_prefix(err, "the 'pipeline' of " SETTINGS_FILE);
	*out = r;
	return 0;
}

/* ---- before the dispatch ---- */

static int quota_ask(struct arena *a, const struct run_item *r, const struct quota_request *q,
	const char *issue, struct quota_decision *d, struct error *err)
{
	CLEANUP(quota_close) struct quota ledger = {0};
	struct quota_readings readings;

	return quota_source_read(a, q, &readings, err) < 0 ||
			       run_quota_open(a, &ledger, true, err) < 0 ||
			       quota_source_apply(a, &ledger, q, &readings, r->artifacts, err) <
				       0 ||
			       quota_admit(a, &ledger, q, d, err) < 0 ||
			       quota_report(r->artifacts, issue, q->stage, &d->events, err) < 0 ||
			       quota_write_copies(a, &ledger, r->artifacts, q, false, err) < 0
		       ? -1
		       : 0;
}

/* What shares the budget: the item at the top, and all below it. */
static const char *budget_item(struct arena *a, const struct context_file *f)
{
	const char *top = run_top_document(a, f);
	struct str name = path_base(top);

	return ledger_name(a, top, arena_dup(a, str_sub(name, 0, name.n - strlen(".md"))));
}

/*
 * Asks for the harnesses of the chain in their order: the next one if one is at its usage limit.
 * *harness: the one that is granted; *d of the first if none is. q->n_seats 0: there is no plan.
 */
static int ask_chain(struct arena *a, const struct run_item *r, const struct context_file *f,
	const char *id, const char *agent, double budget, const char **harness,
	struct quota_decision *d, bool *asked, struct error *err)
{
	struct text_list chain =
		run_agent_harnesses(a, r, run_agent_stage(a, r->pipeline, id, agent));
	const char *item = arena_dup(a, (struct str){id, strcspn(id, "/")});
	int64_t first = 0;

	*asked = false;
	*harness = NULL;
	for (size_t i = 0; i < chain.n; i++) {
		CLEANUP(close_view) struct item_view view = {.file = f};
		struct quota_request q;

		if (make_request(a, r, id, agent, chain.list[i], &q, err) < 0 ||
			view_item(a, f, item, &view, &q, err) < 0)
			return -1;
		*harness = chain.list[i];
		if (!q.n_seats)
			return *d = (struct quota_decision){.verdict = QUOTA_GRANTED}, 0;
		q.budget_usd = budget;
		q.budget_item = budget_item(a, f);
		quota_release_decision(d);
		*asked = true;
		if (quota_ask(a, r, &q, item, d, err) < 0)
			return -1;
		if (d->verdict != QUOTA_WAIT || strcmp(d->blocked_by, "limit") != 0)
			return 0;
		first = first && first < d->until ? first : d->until;
	}
	if (*asked)
		d->until = first;
	return 0;
}

static const char *denial(struct arena *a, const struct quota_decision *d)
{
	char text[CLOCK_TEXT];

	clock_text(d->until, text);
	return arena_printf(a, "AdmissionDenied by %s: %s: change the plan or the stage%s%s",
		d->blocked_by, d->why, d->until ? ", or run the same command again from " : "",
		d->until ? text : "");
}

static void quota_answer(struct run_entry *e, struct arena *a, const struct stage_spec *stage,
	const struct quota_decision *d, struct admission *out)
{
	static const enum admission_answer answers[] = {[QUOTA_GRANTED] = ADMISSION_YES,
		[QUOTA_WAIT] = ADMISSION_WAIT,
		[QUOTA_DENIED] = ADMISSION_NO};

	out->answer = answers[d->verdict];
	if (d->verdict == QUOTA_WAIT) {
		out->until = d->until;
		out->reason = d->why;
	}
	if (d->verdict != QUOTA_DENIED)
		return;
	e->denied = stage;
	e->denied_why = arena_dup(e->arena, str_of(d->why));
	out->reason = denial(a, d);
}

void run_quota_admit(struct run_entry *e, struct arena *a, const struct context_file *f,
	const char *id, const struct step_request *request, struct admission *out)
{
	CLEANUP(quota_release_decision) struct quota_decision d = {.verdict = QUOTA_GRANTED};
	const struct run_item *r = e->call->run;
	const char *harness;
	bool asked;

	if (r->request->agents)
		return;
	if (ask_chain(a, r, f, id, request->agent, run_budget_left(a, e, f), &harness, &d, &asked,
		    &out->error) == 0) {
		if (asked)
			quota_answer(
				e, a, run_agent_stage(a, r->pipeline, id, request->agent), &d, out);
		return;
	}
	out->answer = ADMISSION_FAILED;
	(void)error_prefix(&out->error, "the quota ledger cannot be asked");
}

/* It was admitted when it was requested. Since then a usage limit, or the end of its window with
 * the run that held the reservation, may have come. */
int run_quota_start(struct arena *a, const struct run_item *r, const json *action,
	const char **harness, struct run_answer *out, struct error *err)
{
	CLEANUP(quota_release_decision) struct quota_decision d = {.verdict = QUOTA_GRANTED};
	CLEANUP(context_close) struct context_file f = {0};
	bool asked;

	*harness = NULL;
	if (!r->pipeline || r->request->agents)
		return 0;
	if (context_open(&f, r->call.context_file, CONTEXT_READ_ONLY, err) < 0 ||
		ask_chain(a, r, &f, json_get_str(action, "id"), json_get_str(action, "agent"), -1,
			harness, &d, &asked, err) < 0)
		return -1;
	if (d.verdict == QUOTA_DENIED)
		return error_set(err, ERR_STATE, "%s", denial(a, &d));
	out->within_quota = d.within_quota;
	if (d.verdict == QUOTA_WAIT) {
		out->how = "waits for its quota";
		out->limit = d.why;
		out->resets_at = d.until;
	}
	return 0;
}

int run_quota_denied(const struct run_entry *e, struct str line, struct error *err)
{
	const struct stage_spec *s = e->denied;
	if (!s || !str_starts(line, "[{\"action\":\"done\"") ||
		run_failure_end(e->call->run, s, "AdmissionDenied", err) == 0)
		return 0;
	return error_prefix(err, "%s", e->denied_why);
}

/* ---- after the action ---- */

/* Without figures the estimate counts, which only a reservation has. */
static int run_quota_settle_here(struct arena *a, const struct run_item *r, struct quota *ledger,
	const struct quota_request *q, const struct quota_usage *u, struct error *err)
{
	CLEANUP(quota_release_settled) struct quota_settled s = {.reserved = false};

	if (quota_settle(a, ledger, q, u, &s, err) < 0)
		return u->input < 0 && err->code == ERR_USAGE ? 0 : -1;
	return quota_report(r->artifacts, r->call.id, q->stage, &s.events, err) < 0 ||
			       quota_write_copies(a, ledger, r->artifacts, q, true, err) < 0
		       ? -1
		       : 0;
}

static int request_of(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, struct quota_request *out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (make_request(a, r, json_get_str(action, "id"), json_get_str(action, "agent"), harness,
		    out, err) < 0)
		return -1;
	if (!out->n_seats)
		return 0;
	if (context_open(&f, r->call.context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	(void)clock_parse(context_get(&f.doc, "started").p, &out->begun);
	return 0;
}

static void log_fault(const json *action, const struct error *err)
{
	error_log("dev-team: '%s' is not booked in the quota ledger: %s",
		json_get_str(action, "id"), err->text);
}

/* Opens the ledger when it is needed. */
static int settle_on(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, const struct usage *used, struct quota_usage *u, struct quota *ledger,
	struct error *err)
{
	struct quota_request q;

	if (request_of(a, r, action, harness, &q, err) < 0)
		return -1;
	if (!q.n_seats)
		return 0;
	return quota_source_add_reads(a, &q, used, u, err) < 0 ||
			       (!ledger->store && run_quota_open(a, ledger, true, err) < 0) ||
			       run_quota_settle_here(a, r, ledger, &q, u, err) < 0
		       ? -1
		       : 0;
}

/* A harness of the chain that did not do the work may hold a reservation: it counts as estimated,
 * because the action may have been interrupted there. */
static int settle_chain(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, const struct usage *used, bool part, struct error *err)
{
	bool known = used->input_tokens >= 0 && used->output_tokens >= 0;
	CLEANUP(quota_close) struct quota ledger = {0};
	struct text_list chain = run_agent_harnesses(a, r,
		run_agent_stage(
			a, r->pipeline, json_get_str(action, "id"), json_get_str(action, "agent")));
	struct text_list all = {0};

	if (part && !known)
		return 0;
	chain_add_name(a, &all, harness);
	for (size_t i = 0; i < chain.n && !part; i++)
		chain_add_name(a, &all, chain.list[i]);
	for (size_t i = 0; i < all.n; i++) {
		struct quota_usage u = {.input = -1, .output = -1};

		if (!i && known)
			u = (struct quota_usage){.input = used->input_tokens + used->cache_written,
				.output = used->output_tokens,
				.partial = part};
		if (settle_on(a, r, action, all.list[i], used, &u, &ledger, err) < 0)
			return -1;
	}
	return 0;
}

void run_quota_settle(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, const struct usage *used, bool part)
{
	struct error err;

	if (r->pipeline && settle_chain(a, r, action, harness, used, part, &err) < 0)
		log_fault(action, &err);
}

void run_quota_limit(struct arena *a, const struct run_item *r, const json *action,
	const char *harness, int64_t until)
{
	CLEANUP(quota_close) struct quota ledger = {0};
	struct quota_request q;
	struct error err;

	if (!r->pipeline || until <= clock_now())
		return;
	if (request_of(a, r, action, harness, &q, &err) < 0 ||
		(q.n_seats && (run_quota_open(a, &ledger, true, &err) < 0 ||
				      quota_limit(a, &ledger, &q, until, &err) < 0)))
		log_fault(action, &err);
}

bool run_quota_session_asks(struct arena *a, const char *repo)
{
	struct settings settings;
	struct error ignored;

	return settings_load(a, repo, &settings, &ignored) == 0 && settings.pipeline;
}

void run_quota_session_settle(struct arena *a, const char *repo, const char *document,
	const char *id, const char *agent, const struct usage *used)
{
	CLEANUP(json_free)
	json *action = JSON_OBJECT(JSON_TEXT("id", id), JSON_TEXT("agent", agent));
	const struct run_step_call call = {.repo = repo,
		.context_file = document,
		.id = arena_dup(a, (struct str){id, strcspn(id, "/")})};
	const struct run_item *r;
	struct error err;

	if (run_quota_session(a, &call, &r, &err) < 0)
		log_fault(action, &err);
	else if (r)
		run_quota_settle(a, r, action, SESSION_HARNESS, used, false);
}

void run_quota_session_limit(
	struct arena *a, const char *repo, const char *document, const char *id, int64_t until)
{
	CLEANUP(json_free) json *action = JSON_OBJECT(JSON_TEXT("id", id), JSON_TEXT("agent", ""));
	const struct run_step_call call = {.repo = repo, .context_file = document, .id = id};
	const struct run_item *r;
	struct error err;

	if (run_quota_session(a, &call, &r, &err) < 0)
		log_fault(action, &err);
	else if (r)
		run_quota_limit(a, r, action, NULL, until);
}
