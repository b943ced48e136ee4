#include "src/quota/quota_internal.h"

/* Before the ledger is asked: the request of a stage, what is checked once, and events. */

static bool has_window(const struct quota_request *r)
{
	for (size_t i = 0; i < r->n_seats; i++)
		if (r->seats[i]->billing == BILLING_WINDOW)
			return true;
	return false;
}

static int add_seats(struct arena *a, const struct resources *r, const struct pipeline *p,
	struct quota_request *out, struct error *err)
{
	struct text_list plans = pipeline_plans(a, r, p);

	out->seats = arena_alloc(a, (plans.n + 1) * sizeof(*out->seats));
	for (size_t i = 0; i < plans.n; i++) {
		const struct subscription_plan *plan = resources_plan(r, plans.list[i]);

		if (!plan || strcmp(plan->harness, out->harness) != 0)
			continue;
		if (quota_check_zones(plan, err) < 0)
			return -1;
		out->seats[out->n_seats++] = plan;
	}
	return 0;
}

int quota_request(struct arena *a, const struct resources *r, const struct pipeline *p,
	const struct stage_spec *stage, const char *harness, const char *account,
	struct quota_request *out, struct error *err)
{
	*out = (struct quota_request){.harness = harness,
		.account = p->account ? p->account : account,
		.tenant = p->tenant ? p->tenant : QUOTA_TENANT,
		.share = p->tenant && p->tenant_share >= 0 ? p->tenant_share : 1,
		.pipeline = p->name,
		.stage = stage->name,
		.schedule = stage->schedule,
		.max_wait_s = p->off_peak_max_wait_s,
		.declared_in = stage->estimate_in,
		.declared_out = stage->estimate_out,
		.frozen = stage->estimate_frozen,
		.max_usd = stage->max_budget_usd > 0 ? stage->max_budget_usd : -1,
		.budget_usd = -1,
		.now = clock_now()};
	if (add_seats(a, r, p, out, err) < 0)
		return -1;
	if (out->account)
		return 0;
	if (has_window(out))
		return error_set(err, ERR_STATE,
			"LedgerKeyAmbiguous: the account of '%s' is unknown, and a plan of '%s' "
			"has a session window: set 'accountId' in the pipeline",
			harness, p->name);
	out->ambiguous = true;
	out->account = arena_printf(a, "pipeline:%s", p->name);
	return 0;
}

/* ---- tenants ---- */

static bool same_account(const struct pipeline *x, const struct pipeline *y)
{
	return strcmp(x->default_harness, y->default_harness) == 0 &&
	       strcmp(x->account ? x->account : "", y->account ? y->account : "") == 0;
}

static int refuse_tenants(const struct pipeline *p, struct error *err, const char *why)
{
	return error_set(err, ERR_INPUT, "TenantShareInvalid: on account '%s' of '%s' %s",
		p->account ? p->account : "(derived)", p->default_harness, why);
}

static const struct pipeline *pipeline_at(const struct resources *r, size_t i)
{
	return r->docs[i].kind == &resource_kind_pipeline ? r->docs[i].of : NULL;
}

/* A tenant counts once, whatever the number of its pipelines. */
static int check_shares(const struct resources *r, size_t of, struct error *err)
{
	const struct pipeline *p = pipeline_at(r, of);
	CLEANUP(arena_release) struct arena a = {0};
	double sum = 0;

	for (size_t i = 0; i < r->n_docs; i++) {
		const struct pipeline *x = pipeline_at(r, i);
		bool seen = false;

		if (!x || !same_account(p, x))
			continue;
		if (!x->tenant || x->tenant_share < 0)
			return refuse_tenants(p, err,
				arena_printf(
					&a, "'%s' lacks 'tenant' or 'tenantQuotaShare'", x->name));
		for (size_t k = 0; k < i; k++) {
			const struct pipeline *y = pipeline_at(r, k);

			if (!y || !same_account(p, y) || !y->tenant ||
				strcmp(x->tenant, y->tenant) != 0)
				continue;
			seen = true;
			if (x->tenant_share != y->tenant_share)
				return refuse_tenants(p, err,
					arena_printf(&a, "tenant '%s' has two shares", x->tenant));
		}
		sum += seen ? 0 : x->tenant_share;
	}
	if (sum < 0.999 || sum > 1.001)
		return refuse_tenants(
			p, err, arena_printf(&a, "the shares of the tenants are %g, not 1", sum));
	return 0;
}

int quota_check_tenants(const struct resources *r, struct error *err)
{
	for (size_t i = 0; i < r->n_docs; i++) {
		const struct pipeline *p = pipeline_at(r, i);

		if (p && (p->tenant || p->tenant_share >= 0) && check_shares(r, i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- what is checked once ---- */

static int report_stale(
	const char *artifacts, const struct subscription_plan *p, int64_t now, struct error *err)
{
	static const char *const levels[] = {[QUOTA_STALE] = "warning", [QUOTA_OUTDATED] = "error"};
	enum quota_freshness f = quota_freshness(p, now);

	if (f == QUOTA_FRESH)
		return 0;
	return event_report(artifacts, EVENT_OFF_PEAK_SCHEDULE_STALE, NULL, NULL,
		JSON_OBJECT(JSON_TEXT("plan", p->name),
			JSON_IF(p->verified, JSON_TEXT("lastVerified", p->verified)),
			JSON_TEXT("level", levels[f])),
		err);
}

static int report_tenants(const char *artifacts, const struct pipeline *p, struct error *err)
{
	struct error ignored;

	(void)event_report(artifacts, EVENT_TENANT_SHARE_INVALID, NULL, NULL,
		JSON_OBJECT(JSON_TEXT("harness", p->default_harness),
			JSON_IF(p->account, JSON_TEXT("accountId", p->account)),
			JSON_TEXT("detail", err->text)),
		&ignored);
	return -1;
}

int quota_check(struct arena *a, const struct resources *r, const struct pipeline *p,
	const char *artifacts, int64_t now, struct error *err)
{
	struct text_list plans = pipeline_plans(a, r, p);

	if (quota_check_tenants(r, err) < 0)
		return report_tenants(artifacts, p, err);
	for (size_t i = 0; i < plans.n; i++) {
		const struct subscription_plan *plan = resources_plan(r, plans.list[i]);

		if (plan && (report_stale(artifacts, plan, now, err) < 0 ||
				    quota_report_tier(artifacts, plan, now, err) < 0))
			return -1;
	}
	return 0;
}

/* ---- events ---- */

void events_add(struct arena *a, struct quota_events *e, enum event_id id, json *fields)
{
	vec_push_in(a, e, (struct quota_event){id, fields});
}

void quota_release_events(struct quota_events *e)
{
	for (size_t i = 0; i < e->n; i++)
		json_free(&e->items[i].fields);
	e->n = 0;
}

void quota_release_decision(struct quota_decision *d)
{
	quota_release_events(&d->events);
}

void quota_release_settled(struct quota_settled *s)
{
	quota_release_events(&s->events);
}

int quota_report(const char *artifacts, const char *issue, const char *stage,
	const struct quota_events *e, struct error *err)
{
	for (size_t i = 0; i < e->n; i++)
		if (event_emit(artifacts,
			    &(struct event){.id = (enum event_id)e->items[i].id,
				    .issue = issue,
				    .stage = stage,
				    .fields = e->items[i].fields},
			    err) < 0)
			return -1;
	return 0;
}
