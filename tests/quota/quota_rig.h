/*
 * quota_rig.h: a ledger in a scratch directory, and the plan P and the key K of the specification's
 * vectors. Times of day are injected through the request.
 */
#ifndef DT_TESTS_QUOTA_RIG_H
#define DT_TESTS_QUOTA_RIG_H

#include "src/base/clock.h"
#include "src/quota/quota_internal.h"
#include "tests/lib/scratch.h"

/* Tests of this file are static functions in a header, so that a file takes what it needs. */
#define RIG __attribute__((unused)) static

static struct quota quota;
static struct error err;
static struct off_peak_window plan_hours[] = {{"America/Los_Angeles", "22-06", NULL}};

/* A session window of 5 hours and 1,000,000 tokens; 22-06 in Los Angeles counts half. */
RIG struct subscription_plan plan_p(void)
{
	return (struct subscription_plan){.name = "claude-code-max-5x",
		.harness = "claude-code",
		.billing = BILLING_WINDOW,
		.window_s = 5 * 3600,
		.quota_tokens = 1000000,
		.off_peak = true,
		.multiplier = 2,
		.windows = plan_hours,
		.n_windows = 1,
		.verified = "2026-04-15",
		.pacing = 0.85,
		.hard_cap = 0.95};
}

RIG int64_t time_of(const char *text)
{
	int64_t t;

	if (clock_parse(text, &t) < 0)
		fail_msg("'%s' is no time", text);
	return t;
}

RIG const char *text_of(int64_t t)
{
	char text[CLOCK_TEXT];

	clock_text(t, text);
	return t ? arena_dup(&arena, str_of(text)) : "never";
}

/* A request of the key K for `n` seats of `plan`. */
RIG struct quota_request request(
	const struct subscription_plan *plan, size_t n, const char *action, int64_t now)
{
	const struct subscription_plan **seats = arena_alloc(&arena, n * sizeof(*seats));

	for (size_t i = 0; i < n; i++)
		seats[i] = plan;
	return (struct quota_request){.harness = "claude-code",
		.account = "a3f2c891",
		.tenant = QUOTA_TENANT,
		.share = 1,
		.seats = seats,
		.n_seats = n,
		.pipeline = "p",
		.stage = "implement",
		.max_wait_s = 8 * 3600,
		.action = action,
		.frozen = true,
		.max_usd = -1,
		.budget_usd = -1,
		.now = now};
}

RIG struct quota_decision admit(struct quota_request r, int64_t input, int64_t output)
{
	struct quota_decision d;

	r.declared_in = input;
	r.declared_out = output;
	if (quota_admit(&arena, &quota, &r, &d, &err) < 0)
		fail_msg("%s", err.text);
	quota_release_events(&d.events);
	return d;
}

RIG struct quota_settled settle(struct quota_request r, int64_t input, int64_t output)
{
	struct quota_settled s;

	if (quota_settle(&arena, &quota, &r,
		    &(struct quota_usage){.input = input, .output = output}, &s, &err) < 0)
		fail_msg("%s", err.text);
	quota_release_events(&s.events);
	return s;
}

RIG struct quota_window window_now(struct quota_request r)
{
	struct quota_entry e;

	if (quota_look(&arena, &quota, &r, &e, &err) < 0)
		fail_msg("%s", err.text);
	return e.windows.items[0];
}

RIG int quota_rig_make(void **state)
{
	if (scratch_make(state) != 0)
		return -1;
	return quota_open(&quota, base, true, &err);
}

RIG int quota_rig_remove(void **state)
{
	quota_close(&quota);
	return scratch_remove(state);
}

#define QUOTA_TEST(name) UNIT_TEST(name, quota_rig_make, quota_rig_remove)

#endif
