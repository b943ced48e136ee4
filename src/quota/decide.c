#include "src/quota/quota_internal.h"
#include "src/sys/process.h"

/*
 * When a stage may start. A window fits a stage at a time if what is used and reserved in it, and
 * what the stage takes of it then, are at most its cap. After the end of a window nothing is
 * expected to be used: whoever waits asks again then.
 */

enum { HORIZON_S = 15 * 86400 };

#define HEADROOM 0.3 /* over which low priority is not deferred */

static bool per_token(const struct ask *k, size_t i)
{
	return k->r->seats[i]->billing == BILLING_PER_TOKEN;
}

static int64_t used(const struct ask *k, size_t i)
{
	return k->windows[i]->consumed + quota_reserved(k->entry, k->windows[i]);
}

static bool fits_at(const struct ask *k, size_t i, int64_t t)
{
	const struct quota_window *w = k->windows[i];
	int64_t in_use = w->end && t >= w->end ? 0 : used(k, i);
	int64_t charge = quota_charge(k->tokens, quota_multiplier(k->r->seats[i], t));

	return in_use <= w->cap && charge <= w->cap - in_use;
}

/* 0: at no time. */
static int64_t earliest_of(const struct ask *k, size_t i, bool off_peak)
{
	const struct subscription_plan *p = k->r->seats[i];
	int64_t end = k->windows[i]->end, t = k->r->now, last = (end > t ? end : t) + HORIZON_S;

	for (;;) {
		int64_t next = quota_off_peak_next(p, t, false);

		if ((!off_peak || quota_off_peak(p, t)) && fits_at(k, i, t))
			return t;
		if (end > t && (!next || end < next))
			next = end;
		if (!next || next > last)
			return 0;
		t = next;
	}
}

/* Of the seats with a quota. */
static int64_t earliest(const struct ask *k, bool off_peak)
{
	int64_t first = 0;

	for (size_t i = 0; i < k->r->n_seats; i++) {
		int64_t t = per_token(k, i) ? 0 : earliest_of(k, i, off_peak);

		if (t && (!first || t < first))
			first = t;
	}
	return first;
}

/* ---- what is paid per token ---- */

int64_t quota_cost(const struct ask *k)
{
	double usd =
		(double)k->out->input * k->r->input_usd + (double)k->out->output * k->r->output_usd;

	return (int64_t)usd + (usd > (double)(int64_t)usd);
}

/* Reserved for the items that share the budget. */
static int64_t cost_reserved(const struct ask *k)
{
	size_t n = k->r->budget_item ? strlen(k->r->budget_item) : 0;
	int64_t sum = 0;

	for (size_t i = 0; n && i < k->entry->holds.n; i++) {
		const struct quota_hold *h = &k->entry->holds.items[i];

		if (strncmp(h->action, k->r->budget_item, n) == 0 &&
			(h->action[n] == '/' || h->action[n] == '.'))
			sum += h->cost;
	}
	return sum;
}

/* The cap in USD that keeps the stage from being paid per token; NULL: none. Without a price any
 * cap does. */
static const char *cost_cap(const struct ask *k)
{
	const struct quota_request *r = k->r;
	bool priced = r->input_usd > 0;
	double cost = (double)quota_cost(k) / 1e6, open = (double)cost_reserved(k) / 1e6;

	if (r->max_usd >= 0 && (!priced || cost > r->max_usd))
		return "maxBudgetUsd";
	return r->budget_usd >= 0 && (!priced || open + cost > r->budget_usd) ? "costBudget" : NULL;
}

/* ---- which seat ---- */

/* What is left of the cap afterwards, as a part of it. */
static double headroom(const struct ask *k, size_t i)
{
	const struct quota_window *w = k->windows[i];

	return w->cap ? 1 - (double)used(k, i) / (double)w->cap : 0;
}

static bool better(const struct ask *k, size_t x, size_t y)
{
	double a = headroom(k, x), b = headroom(k, y);

	if (a != b)
		return a > b;
	return quota_off_peak(k->r->seats[x], k->r->now) &&
	       !quota_off_peak(k->r->seats[y], k->r->now);
}

/* A seat with a quota, where the work costs nothing, before one that is paid per token. n_seats:
 * none. */
static size_t choose_seat(const struct ask *k, bool spill)
{
	size_t best = k->r->n_seats;

	for (size_t i = 0; i < k->r->n_seats; i++)
		if (!per_token(k, i) && fits_at(k, i, k->r->now) &&
			(best == k->r->n_seats || better(k, i, best)))
			best = i;
	for (size_t i = 0; spill && !cost_cap(k) && best == k->r->n_seats && i < k->r->n_seats; i++)
		if (per_token(k, i))
			return i;
	return best;
}

static size_t count_per_token(const struct ask *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->r->n_seats; i++)
		n += per_token(k, i);
	return n;
}

static bool only_per_token(const struct ask *k)
{
	return count_per_token(k) == k->r->n_seats;
}

/* ---- the queue ---- */

static int by_score(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* The first quarter of the queue, and the one behind it. */
static bool at_head(const struct ask *k)
{
	size_t n = k->r->n_queue;
	double *sorted;

	if (!k->r->scored || !k->r->queue)
		return false;
	if (!n)
		return true;
	sorted = arena_alloc(k->arena, n * sizeof(*sorted));
	memcpy(sorted, k->r->queue, n * sizeof(*sorted));
	vec_sort_items(sorted, n, sizeof(*sorted), by_score);
	return k->r->score >= sorted[n / 4];
}

/* ---- outcomes ---- */

static void decide_wait_until(struct ask *k, int64_t until, const char *blocked_by, const char *why)
{
	k->out->verdict = QUOTA_WAIT;
	k->out->until = until;
	k->out->blocked_by = blocked_by;
	k->out->why = why;
}

static bool grant(struct ask *k, bool spill)
{
	k->seat = choose_seat(k, spill);
	if (k->seat == k->r->n_seats)
		return false;
	k->out->verdict = QUOTA_GRANTED;
	return true;
}

/* For people: what is in the way, of the seat that has most left. */
static const char *hard_cap_text(const struct ask *k)
{
	const struct quota_window *w;
	size_t best = 0;

	while (per_token(k, best))
		best++;
	for (size_t i = best + 1; i < k->r->n_seats; i++)
		if (!per_token(k, i) && better(k, i, best))
			best = i;
	w = k->windows[best];
	return arena_printf(k->arena,
		"%lld tokens do not fit: %lld of %lld are used and %lld reserved in '%s', and the "
		"hard cap is %lld",
		(long long)k->tokens, (long long)w->consumed, (long long)w->quota,
		(long long)(used(k, best) - w->consumed), w->plan, (long long)w->cap);
}

static const char *cost_text(const struct ask *k, const char *cap)
{
	if (!(k->r->input_usd > 0))
		return arena_printf(k->arena,
			"'%s' is set, and the price of the model is unknown: add it to the models",
			cap);
	return arena_printf(k->arena,
		"%lld + %lld tokens cost $%.4f, and '%s' leaves $%.4f, of which $%.4f are reserved",
		(long long)k->out->input, (long long)k->out->output, (double)quota_cost(k) / 1e6,
		cap, strcmp(cap, "costBudget") == 0 ? k->r->budget_usd : k->r->max_usd,
		strcmp(cap, "costBudget") == 0 ? (double)cost_reserved(k) / 1e6 : 0);
}

static void decide_deny(struct ask *k)
{
	const char *cap = count_per_token(k) ? cost_cap(k) : NULL;

	k->out->verdict = QUOTA_DENIED;
	k->out->until = cap ? 0 : earliest(k, false);
	k->out->blocked_by = cap ? cap : "hardCap";
	k->out->why = cap ? cost_text(k, cap) : hard_cap_text(k);
	events_add(k->arena, &k->out->events, EVENT_ADMISSION_DENIED,
		JSON_OBJECT(JSON_VALUE("ledgerKey", ledger_key_json(k->r)),
			JSON_TEXT("blockedBy", k->out->blocked_by),
			JSON_TEXT("detail", k->out->why)));
}

static void contend(struct ask *k)
{
	if (k->r->scored && at_head(k) && !only_per_token(k))
		events_add(k->arena, &k->out->events, EVENT_QUOTA_CONTENTION,
			JSON_OBJECT(JSON_VALUE("ledgerKey", ledger_key_json(k->r)),
				JSON_TEXT("detail", hard_cap_text(k))));
}

/* ---- the schedules ---- */

/* An estimate over the whole cap fits at no time, so no wait would end. */
static void wait_or_deny(struct ask *k, int64_t most)
{
	int64_t t = earliest(k, false);

	if (t && t - k->r->now <= most)
		decide_wait_until(k, t, "hardCap", hard_cap_text(k));
	else
		decide_deny(k);
}

static void decide_now(struct ask *k)
{
	if (grant(k, true))
		return;
	contend(k);
	wait_or_deny(k, QUOTA_WAIT_NOW_S);
}

static bool off_peak_now(const struct ask *k)
{
	for (size_t i = 0; i < k->r->n_seats; i++)
		if (quota_off_peak(k->r->seats[i], k->r->now))
			return true;
	return false;
}

/* The first that begin; 0: no plan has any. */
static int64_t next_off_peak(const struct ask *k)
{
	int64_t first = 0;

	for (size_t i = 0; i < k->r->n_seats; i++) {
		int64_t t = quota_off_peak_next(k->r->seats[i], k->r->now, false);

		if (t && (!first || t < first))
			first = t;
	}
	return first;
}

static int64_t waits_since(const struct ask *k)
{
	for (size_t i = 0; i < k->entry->waits.n; i++)
		if (strcmp(k->entry->waits.items[i].action, k->r->action) == 0)
			return k->entry->waits.items[i].since;
	return k->r->now;
}

static void decide_off_peak(struct ask *k)
{
	int64_t next = next_off_peak(k), fits;
	char text[CLOCK_TEXT];

	if (!next || off_peak_now(k)) {
		decide_now(k);
		return;
	}
	fits = only_per_token(k) ? next : earliest(k, true);
	if (fits && fits - waits_since(k) <= k->r->max_wait_s) {
		decide_wait_until(k, fits, "off-peak", "it is scheduled for off-peak hours");
		return;
	}
	clock_text(next, text);
	events_add(k->arena, &k->out->events, EVENT_OFF_PEAK_DEFERRAL_EXCEEDED,
		JSON_OBJECT(JSON_VALUE("ledgerKey", ledger_key_json(k->r)),
			JSON_TEXT("nextOffPeak", text)));
	decide_now(k);
	if (k->out->verdict == QUOTA_GRANTED)
		k->out->why = arena_printf(k->arena,
			"OffPeakDeferralExceeded: the next off-peak hours begin at %s, later than "
			"it may wait",
			text);
}

/* In floating point, as the specification's reference computes it: 0.7 used leaves more than 0.3.
 */
static bool much_left(const struct ask *k)
{
	for (size_t i = 0; i < k->r->n_seats; i++) {
		const struct quota_window *w = k->windows[i];

		if (per_token(k, i) ||
			(w->quota && 1 - (double)used(k, i) / (double)w->quota > HEADROOM))
			return true;
	}
	return false;
}

/* ---- usage limits ---- */

static bool probe_works(const struct ask *k)
{
	const struct quota_entry *e = k->entry;

	for (size_t i = 0; i < e->holds.n; i++)
		if (strcmp(e->holds.items[i].action, e->probe) == 0)
			return !e->holds.items[i].owner ||
			       !process_name_ended(k->arena, e->holds.items[i].owner);
	return false;
}

bool quota_decide_limit(struct ask *k)
{
	struct quota_entry *e = k->entry;
	int64_t now = k->r->now;

	if (!e->limit_until)
		return false;
	if (now < e->limit_until) {
		decide_wait_until(
			k, e->limit_until, "limit", "the account has reached its usage limit");
		return true;
	}
	if (e->probe && strcmp(e->probe, k->r->action) != 0 && probe_works(k)) {
		decide_wait_until(k, now + QUOTA_PROBE_S, "limit",
			"another action tries out whether the usage limit is reset");
		return true;
	}
	return false;
}

void quota_decide(struct ask *k)
{
	if (quota_decide_limit(k))
		return;
	switch (k->r->schedule) {
	case SCHEDULE_NOW:
		decide_now(k);
		break;
	case SCHEDULE_QUOTA_PERMITTING:
		if (!grant(k, only_per_token(k)))
			wait_or_deny(k, INT64_MAX);
		break;
	case SCHEDULE_OFF_PEAK:
		decide_off_peak(k);
		break;
	case SCHEDULE_DEFER_LOW:
		if (at_head(k) || much_left(k))
			decide_now(k);
		else
			decide_off_peak(k);
		break;
	}
}
