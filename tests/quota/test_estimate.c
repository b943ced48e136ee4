#include "tests/quota/quota_rig.h"

#define PEAK "2026-04-08T19:00:00Z"

TEST(averages)
{
	struct quota_sample s[25];
	int64_t in, out;

	quota_average((struct quota_sample[]){{1000, 100, 0}, {2000, 200, 0}, {4000, 400, 0}}, 3,
		&in, &out); /* 29 */
	assert_int_equal(in, 2497);
	assert_int_equal(out, 250);
	quota_average(
		(struct quota_sample[]){{10000, 1000, 0}, {20000, 2000, 0}}, 2, &in, &out); /* 31 */
	assert_int_equal(in, 15405);
	assert_int_equal(out, 1541);
	for (int i = 0; i < 25; i++) /* 30: the last 20 */
		s[i] = (struct quota_sample){1000 + 10 * i, 0, 0};
	quota_average(s + 5, QUOTA_SAMPLES, &in, &out);
	assert_int_equal(in, 1191);
}

/* The names of the events of an admission, or of a settlement. */
static const char *names(struct quota_events *e)
{
	const char *text = "";

	for (size_t i = 0; i < e->n; i++)
		text = arena_printf(&arena, "%s%s%s", text, i ? " " : "",
			event_type((enum event_id)e->items[i].id)->name);
	quota_release_events(e);
	return text;
}

static void admits(struct quota_request r, int64_t input, int64_t output, const char *events)
{
	struct quota_decision d;

	assert_int_equal(quota_admit(&arena, &quota, &r, &d, &err), 0);
	assert_int_equal(d.input, input);
	assert_int_equal(d.output, output);
	assert_string_equal(names(&d.events), events);
}

static void settles(struct quota_request r, int64_t input, int64_t output, const char *events)
{
	struct quota_settled s;

	assert_int_equal(quota_settle(&arena, &quota, &r,
				 &(struct quota_usage){.input = input, .output = output}, &s, &err),
		0);
	assert_string_equal(names(&s.events), events);
}

static struct quota_request of(
	const struct subscription_plan *p, const char *stage, const char *action)
{
	struct quota_request r = request(p, 1, action, time_of(PEAK));

	r.stage = stage;
	r.frozen = false;
	return r;
}

QUOTA_TEST(an_estimate_is_measured)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = of(&p, "s", "1");

	admits(r, 50000, 10000, "MissingEstimate"); /* 25 */
	settles(r, 10000, 2000, "");
	/* 26, decision 12: the reference reports it when it records. The specification: when the
	 * measured estimate first replaces the default, once. */
	r.action = "2";
	admits(r, 10000, 2000, "EstimateBootstrapped");
	r.action = "3";
	admits(r, 10000, 2000, "");
	settles(r, 20000, 4000, "");
	r.action = "4";
	admits(r, 15405, 3081, "");
}

QUOTA_TEST(an_estimate_is_declared)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = of(&p, "s", "1");

	r.declared_in = 50000;
	r.declared_out = 10000;
	admits(r, 50000, 10000, "");
	settles(r, 200000, 50000, "EstimateVariance"); /* 27 */
	r.action = "2";
	settles(r, 50000, 10000, "");
	r.action = "3";
	settles(r, 80000, 10000, ""); /* 50 % more is not over 50 % */
	r.action = "4";
	settles(r, 80001, 10000, "EstimateVariance");
	r.frozen = true;
	r.action = "5";
	admits(r, 50000, 10000, "");
	settles(r, 200000, 50000, "");
}
