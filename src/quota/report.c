#include "src/base/number.h"
#include "src/event/artifact.h"
#include "src/quota/quota_internal.h"
#include "src/sys/digest.h"
#include "src/sys/process.h"

/* What people and other programs see of the ledger. */

enum { ACCOUNT_CHARACTERS = 8 };

#define PACE_BELOW 0.10
#define PACE_ABOVE 0.05
/* Of a window, before a few calls say nothing about the rest of it. */
#define PACE_AFTER 0.05

double quota_projected(const struct quota_window *w, int64_t now)
{
	double part = w->quota ? (double)w->consumed / (double)w->quota : 0;

	if (!w->end || now <= w->start)
		return part;
	return part * (double)(w->end - w->start) / (double)(now - w->start);
}

bool quota_too_early(const struct quota_window *w, int64_t now)
{
	return (double)(now - w->start) < PACE_AFTER * (double)(w->end - w->start);
}

const char *quota_pace(double projected, double target)
{
	return projected < target - PACE_BELOW   ? "under-pacing"
	       : projected > target + PACE_ABOVE ? "over-pacing"
						 : "on-pace";
}

json *quota_window_json(const struct quota_entry *e, const struct quota_window *w, int64_t now)
{
	double projected = quota_projected(w, now);

	return JSON_OBJECT(JSON_TEXT("plan", w->plan), JSON_INT("seat", w->seat),
		JSON_TIME("windowStart", w->start), JSON_TIME("windowEnd", w->end),
		JSON_INT("consumedTokens", w->consumed),
		JSON_INT("reservedTokens", quota_reserved(e, w)),
		w->quota ? JSON_INT("quotaTokens", w->quota) : JSON_TEXT("quotaTokens", NULL),
		JSON_INT("hardCapTokens", w->cap),
		JSON_NUMBER("utilizationFraction",
			w->quota ? (double)w->consumed / (double)w->quota : 0),
		JSON_NUMBER("pacingTarget", w->pacing),
		JSON_NUMBER("projectedUtilization", projected),
		JSON_TEXT("recommendation", quota_pace(projected, w->pacing)));
}

static json *open_hold_json(const struct quota_hold *h)
{
	CLEANUP(arena_release) struct arena a = {0};

	return JSON_OBJECT(JSON_TEXT("action", h->action), JSON_TEXT("pipeline", h->pipeline),
		JSON_TEXT("stage", h->stage), JSON_TEXT("plan", h->plan), JSON_INT("seat", h->seat),
		JSON_INT("tokens", h->charge), JSON_TIME("since", h->since),
		JSON_BOOL("ownerEnded", h->owner && process_name_ended(&a, h->owner)));
}

json *quota_entry_json(const struct quota_entry *e, int64_t now)
{
	json *windows = json_array(), *holds = json_array(), *waits = json_array();

	for (size_t i = 0; i < e->windows.n; i++)
		json_push(windows, quota_window_json(e, &e->windows.items[i], now));
	for (size_t i = 0; i < e->holds.n; i++)
		json_push(holds, open_hold_json(&e->holds.items[i]));
	for (size_t i = 0; i < e->waits.n; i++) {
		const struct quota_wait *w = &e->waits.items[i];

		json_push(waits, JSON_OBJECT(JSON_TEXT("action", w->action),
					 JSON_TEXT("stage", w->stage), JSON_TIME("since", w->since),
					 JSON_TIME("until", w->until), JSON_TEXT("why", w->why)));
	}
	return JSON_OBJECT(JSON_TEXT("harness", e->harness), JSON_TEXT("accountId", e->account),
		JSON_TEXT("tenant", e->tenant), JSON_VALUE("windows", windows),
		JSON_VALUE("reservations", holds), JSON_VALUE("waiting", waits),
		JSON_VALUE("pipelines", entry_pipelines_json(e)),
		JSON_TIME("limitUntil", e->limit_until));
}

/* ---- what was used when ---- */

static int by_time(const void *x, const void *y)
{
	const struct quota_point *a = x, *b = y;

	return a->at < b->at ? -1 : a->at > b->at;
}

int quota_points(struct arena *a, struct quota *q, const struct quota_entry *e,
	const struct quota_window *w, struct quota_point **out, size_t *n, struct error *err)
{
	VEC(struct quota_point) list = {0};
	struct store_kv *kv;
	int64_t at, sum = 0;
	size_t got;

	if (store_list(q->store, a, done_prefix(a, e), NULL, SIZE_MAX, &kv, &got, &at, err) !=
		STORE_OK)
		return -1;
	for (size_t i = 0; i < got; i++) {
		struct quota_done d = {.estimated = false};

		if (quota_done_parse(&kv[i], a, &d, err) < 0)
			return -1;
		if (w->start && d.window == w->start && d.seat == w->seat && d.plan &&
			strcmp(d.plan, w->plan) == 0)
			vec_push_in(a, &list, (struct quota_point){d.at, d.charge});
	}
	vec_sort(&list, by_time);
	for (size_t i = 0; i < list.n; i++) {
		sum += list.items[i].consumed;
		list.items[i].consumed = sum;
		if (list.items[i].at < w->start)
			list.items[i].at = w->start;
	}
	*out = list.items;
	*n = list.n;
	return 0;
}

/* ---- tiers ---- */

enum { WEEK_S = 7 * 86400, CONFIDENT_FROM = 5, SURE_ABOVE = 20, REPORT_S = 300 };

struct quota_tier quota_tier(const char *plan, size_t contentions)
{
	/* Of one harness next to each other, the dearer one behind. */
	static const struct {
		const char *plan;
		double usd;
		bool last;
	} rows[] = {{"claude-code-pro", 20, false}, {"claude-code-max-5x", 100, false},
		{"claude-code-max-20x", 200, true}, {"codex-plus", 20, false},
		{"codex-pro", 200, true}};
	struct quota_tier out = {.confidence = contentions < CONFIDENT_FROM ? "low"
					       : contentions <= SURE_ABOVE  ? "medium"
									    : "high"};

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (strcmp(rows[i].plan, plan) != 0)
			continue;
		out.usd = rows[i].usd;
		if (!rows[i].last && contentions) {
			out.next = rows[i + 1].plan;
			out.next_usd = rows[i + 1].usd;
		}
	}
	return out;
}

static size_t count_contentions(
	const json *events, const struct subscription_plan *p, bool *reported)
{
	size_t n = 0;

	for (const json *e = json_first(events); e; e = json_next(e)) {
		bool denied = json_str_is(e, "type", "AdmissionDenied") &&
			      json_str_is(e, "blockedBy", "hardCap");

		*reported |=
			json_str_is(e, "type", "TierAnalysis") && json_str_is(e, "plan", p->name);
		n += (denied || json_str_is(e, "type", "QuotaContention")) &&
		     json_str_is(json_get(e, "ledgerKey"), "harness", p->harness);
	}
	return n;
}

/* At most once a week. */
int quota_report_tier(
	const char *artifacts, const struct subscription_plan *p, int64_t now, struct error *err)
{
	CLEANUP(json_free) json *events = NULL;
	char since[CLOCK_TEXT];
	bool reported = false;
	struct quota_tier t;
	size_t n;

	clock_text(now - WEEK_S, since);
	if (!artifacts || event_list(artifacts, since, NULL, &events, NULL, err) < 0)
		return artifacts ? -1 : 0;
	n = count_contentions(events, p, &reported);
	if (!n || reported)
		return 0;
	t = quota_tier(p->name, n);
	return event_report(artifacts, EVENT_TIER_ANALYSIS, NULL, NULL,
		JSON_OBJECT(JSON_TEXT("plan", p->name), JSON_INT("contentionEvents", n),
			JSON_TEXT("confidence", t.confidence), JSON_NUMBER("monthlyUsd", t.usd),
			JSON_IF(t.next, JSON_TEXT("recommended", t.next)),
			JSON_IF(t.next, JSON_NUMBER("recommendedMonthlyUsd", t.next_usd))),
		err);
}

/* ---- copies for people ---- */

/* A digest of credentials is shown by its beginning; any other name by the digest of it, so that
 * two that begin alike do not share a file. */
char *quota_file_name(struct arena *a, const struct quota_entry *e)
{
	struct str account = str_of(e->account);
	char digest[DIGEST_TEXT];
	uint64_t ignored;

	if (account.n <= ACCOUNT_CHARACTERS || !number_hex(str_cut(account, 16), &ignored)) {
		digest_text(account, digest);
		account = str_of(digest);
	}
	return arena_printf(
		a, "%s-%.*s-%s.json", e->harness, ACCOUNT_CHARACTERS, account.p, e->tenant);
}

static json *estimates_json(struct estimate_record *e, json *old, const struct quota_request *r)
{
	json *stages = json_get(old, "stages") ? json_copy(json_get(old, "stages")) : json_object(),
	     *samples = json_array();
	int64_t input, output;

	quota_average(e->samples.items, e->samples.n, &input, &output);
	for (size_t i = 0; i < e->samples.n; i++)
		json_push(samples, JSON_OBJECT(JSON_INT("input", e->samples.items[i].input),
					   JSON_INT("output", e->samples.items[i].output),
					   JSON_TIME("at", e->samples.items[i].at)));
	json_set(stages, r->stage,
		JSON_OBJECT(JSON_TEXT("stage", r->stage), JSON_TEXT("pipeline", r->pipeline),
			JSON_VALUE("samples", samples),
			JSON_VALUE("rollingEstimate", JSON_OBJECT(JSON_INT("input", input),
							      JSON_INT("output", output)))));
	return JSON_OBJECT(JSON_INT("version", 1), JSON_VALUE("stages", stages));
}

static int write_estimates(struct arena *a, struct quota *q, const char *artifacts,
	const struct quota_request *r, struct error *err)
{
	CLEANUP(json_free) json *old = NULL, *fresh = NULL;
	struct estimate_record record;
	struct error ignored;

	if (estimate_read(a, q, r, &record, err) < 0)
		return -1;
	if (!record.samples.n)
		return 0;
	(void)artifact_read(artifacts, QUOTA_SCOPE, "stage-estimates.json", &old, &ignored);
	fresh = estimates_json(&record, old, r);
	return artifact_write_copy(artifacts, QUOTA_SCOPE, "stage-estimates.json", fresh, err);
}

static json *burn_down_json(const struct quota_entry *e, const struct quota_window *w, int64_t now)
{
	double part = w->quota ? (double)w->consumed / (double)w->quota : 0,
	       projected = quota_projected(w, now);
	const struct quota_request key = {
		.harness = e->harness, .account = e->account, .tenant = e->tenant};

	return JSON_OBJECT(JSON_TEXT("harness", e->harness),
		JSON_VALUE("ledgerKey", ledger_key_json(&key)), JSON_TEXT("plan", w->plan),
		JSON_INT("seat", w->seat), JSON_IF(w->end, JSON_TIME("windowEnd", w->end)),
		JSON_INT("subscriptionTokensConsumed", w->consumed),
		JSON_IF(w->quota, JSON_INT("quotaTokens", w->quota)),
		JSON_NUMBER("subscriptionUtilizationFraction", part),
		JSON_NUMBER("pacingTarget", w->pacing),
		JSON_NUMBER("projectedUtilization", projected), JSON_INT("queueDepth", e->waits.n),
		JSON_TEXT("recommendation", quota_pace(projected, w->pacing)));
}

static bool is_reported(
	const json *events, const struct quota_entry *e, const struct quota_window *w)
{
	for (const json *i = json_first(events); i; i = json_next(i)) {
		const json *key = json_get(i, "ledgerKey");

		if (json_str_is(key, "harness", e->harness) &&
			json_str_is(key, "accountId", e->account) &&
			json_str_is(key, "tenant", e->tenant) && json_str_is(i, "plan", w->plan) &&
			json_get_int(i, "seat", 0) == w->seat)
			return true;
	}
	return false;
}

/* The copy says when the account was reported last; after a kill the events do. */
static int report_burn_down(struct arena *a, const char *artifacts, const struct quota_entry *e,
	json *copy, int64_t now, struct error *err)
{
	CLEANUP(json_free) json *old = NULL, *events = NULL;
	const char *event = event_type(EVENT_BURN_DOWN_REPORT)->name;
	char since[CLOCK_TEXT];
	struct error ignored;
	int64_t last = 0;

	(void)artifact_read(artifacts, QUOTA_SCOPE, quota_file_name(a, e), &old, &ignored);
	if (json_get_str(old, "reported"))
		(void)clock_parse(json_get_str(old, "reported"), &last);
	if (now < last || now >= last + REPORT_S)
		last = 0;
	JSON_ADD(copy, JSON_TIME("reported", last ? last : now));
	clock_text(now - REPORT_S + 1, since);
	if (!last && event_list(artifacts, since, event, &events, NULL, err) < 0)
		return -1;
	for (size_t i = 0; !last && i < e->windows.n; i++)
		if (!is_reported(events, e, &e->windows.items[i]) &&
			event_report(artifacts, EVENT_BURN_DOWN_REPORT, NULL, NULL,
				burn_down_json(e, &e->windows.items[i], now), err) < 0)
			return -1;
	return 0;
}

int quota_write_copies(struct arena *a, struct quota *q, const char *artifacts,
	const struct quota_request *r, bool settled, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	struct quota_entry e;

	if (quota_look(a, q, r, &e, err) < 0)
		return -1;
	j = quota_entry_json(&e, r->now);
	if (report_burn_down(a, artifacts, &e, j, r->now, err) < 0 ||
		artifact_write_copy(artifacts, QUOTA_SCOPE, quota_file_name(a, &e), j, err) < 0)
		return -1;
	return settled ? write_estimates(a, q, artifacts, r, err) : 0;
}
