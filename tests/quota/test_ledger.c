#include "src/config/decode.h"
#include "src/sys/process.h"
#include "tests/lib/run.h"
#include "tests/quota/quota_rig.h"

#define PEAK     "2026-04-08T19:00:00Z" /* noon in Los Angeles */
#define OFF_PEAK "2026-04-08T06:00:00Z"

static const double queue_of_four[] = {.95, .5, .4, .3};

/* ---- sums ---- */

TEST(parts_and_charges_are_exact)
{
	assert_int_equal(quota_part(1000000, 0.95), 950000);
	assert_int_equal(quota_part(1, 0.95), 0);
	assert_int_equal(quota_part(1, 1), 1);
	assert_int_equal(quota_part(1000000, 0), 0);
	assert_int_equal(quota_part(JSON_MAX_INT, 1), JSON_MAX_INT);
	assert_int_equal(quota_part(JSON_MAX_INT, 0.5), JSON_MAX_INT / 2);
	assert_int_equal(quota_charge(200000, 2000000), 100000);
	assert_int_equal(quota_charge(1900001, 2000000), 950001); /* rounded up */
	assert_int_equal(quota_charge(10, 3000000), 4);
	assert_int_equal(quota_charge(7, 1000000), 7);
	assert_int_equal(quota_charge(JSON_MAX_INT, 1500000), JSON_MAX_INT / 3 * 2);
}

/* A number in a comment is that of a vector of the reference; "decision N" is of its last section.
 */

/* ---- vectors of windows ---- */

QUOTA_TEST(a_full_window_denies)
{
	struct subscription_plan p = plan_p();
	int64_t now = time_of(PEAK);
	struct quota_decision d;

	for (int i = 0; i < 10; i++) /* 9 */
		(void)settle(request(&p, 1, arena_printf(&arena, "r%d", i), now), 90000, 10000);
	d = admit(request(&p, 1, "a", now), 100000, 50000);
	assert_int_equal(d.verdict, QUOTA_DENIED);
	assert_string_equal(d.blocked_by, "hardCap");
	assert_int_equal(window_now(request(&p, 1, "a", now)).consumed, 1000000);
}

QUOTA_TEST(off_peak_tokens_count_half)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(OFF_PEAK));

	(void)settle(r, 100000, 100000); /* 10 */
	assert_int_equal(window_now(r).consumed, 100000);
}

QUOTA_TEST(the_cap_is_exact)
{
	static const struct {
		const char *t;
		int64_t tokens;
		enum quota_verdict verdict;
	} rows[] = {
		/* 11 */
		{PEAK, 950000, QUOTA_GRANTED},
		{PEAK, 950001, QUOTA_DENIED},
		{OFF_PEAK, 1900000, QUOTA_GRANTED},
		{OFF_PEAK, 1900002, QUOTA_DENIED},
		{OFF_PEAK, 1900001, QUOTA_DENIED},
	};
	struct subscription_plan p = plan_p();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quota_request r = request(&p, 1, "a", time_of(rows[i].t));

		r.dry = true;
		assert_int_equal(admit(r, rows[i].tokens, 0).verdict, rows[i].verdict);
	}
}

QUOTA_TEST(windows_roll_over_when_they_are_looked_at)
{
	struct subscription_plan p = plan_p();
	struct quota_window w;

	/* 15: long ago: 0; a minute ago: as it was. */
	(void)settle(request(&p, 1, "a", time_of("2020-01-01T00:00:00Z")), 500000, 0);
	assert_int_equal(window_now(request(&p, 1, "-", time_of(PEAK))).consumed, 0);
	(void)settle(request(&p, 1, "b", time_of("2026-04-08T18:59:00Z")), 12345, 0);
	w = window_now(request(&p, 1, "-", time_of(PEAK)));
	assert_int_equal(w.consumed, 12345);
	/* It begins with its first use, not when it is looked at. */
	assert_string_equal(text_of(w.start), "2026-04-08T18:59:00Z");
	assert_string_equal(text_of(w.end), "2026-04-08T23:59:00Z");
	assert_int_equal(window_now(request(&p, 1, "-", w.end - 1)).consumed, 12345);
	assert_int_equal(window_now(request(&p, 1, "-", w.end)).consumed, 0);
	/* 21b: the reference keeps the old window until it is loaded again; here it is over. */
	assert_int_equal(window_now(request(&p, 1, "-", w.end + 2 * 86400)).end, 0);

	/* Decision 6: a monthly cap is the month of the calendar, in UTC: the reference counts from
	 * the first use, and from 31 January to 3 March. */
	w = (struct quota_window){.billing = BILLING_MONTHLY};
	window_start(&w, time_of("2026-01-31T23:59:59Z"));
	assert_string_equal(text_of(w.start), "2026-01-01T00:00:00Z");
	assert_string_equal(text_of(w.end), "2026-02-01T00:00:00Z");
	w = (struct quota_window){.billing = BILLING_PER_TOKEN};
	window_start(&w, time_of(PEAK));
	assert_int_equal(w.end, 0);
}

/* 15: the reference takes a damaged file for an empty window. A store that is damaged is refused,
 * because an empty window would let twice the quota start. */
QUOTA_TEST(a_damaged_entry_is_refused)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));
	struct store_result result;
	struct quota_decision d;
	static const char *const texts[] = {"{", "{}",
		"{\"harness\":\"h\",\"account\":\"a\",\"tenant\":\"t\",\"windows\":[{\"plan\":"
		"\"p\","
		"\"seat\":1,\"consumed\":-5}]}"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct store_op op = {
			.what = STORE_PUT, .key = entry_key(&arena, &r), .value = str_of(texts[i])};

		assert_int_equal(
			store_txn(quota.store, &arena, &(struct store_txn){.ops = &op, .n_ops = 1},
				&result, &err),
			STORE_OK);
		assert_fails(quota_admit(&arena, &quota, &r, &d, &err), err, ERR_INPUT);
	}
}

QUOTA_TEST(pay_per_token_never_blocks)
{
	struct subscription_plan p = plan_p();
	struct quota_request r;

	p.billing = BILLING_PER_TOKEN;
	p.quota_tokens = 0;
	r = request(&p, 1, "a", time_of(PEAK));
	assert_int_equal(admit(r, 9999999, 9999999).verdict, QUOTA_GRANTED); /* 14 */
	(void)settle(r, 9999999, 9999999);
	assert_int_equal(window_now(r).consumed, 2 * 9999999);
}

UNIT_TEST(names_of_the_copies, NULL, arena_end)
{
	/* Decisions 4 and 13: the reference cuts the last two to `pipeline`, so that they share a
	 * file. */
	static const char *const accounts[] = {
		"abcdef0123456789", "../../etc", "pipeline:alpha", "pipeline:beta"};
	const char *names[COUNT(accounts)];

	for (size_t i = 0; i < COUNT(accounts); i++)
		names[i] = quota_file_name(&arena, &(struct quota_entry){.harness = "claude-code",
							   .account = accounts[i],
							   .tenant = "mytenant"});
	assert_string_equal(names[0], "claude-code-abcdef01-mytenant.json"); /* 13 */
	assert_null(strchr(names[1], '/'));
	assert_string_not_equal(names[2], names[3]);
}

/* ---- decisions ---- */

struct row {
	enum schedule schedule;
	const char *t;
	int64_t used, tokens; /* used: at t, a minute ago */
	const char *max_wait; /* NULL: PT8H */
	double score;         /* -1: none */
	bool no_off_peak;
	enum quota_verdict verdict;
	const char *until, *event;
};

static const char *first_event(const struct quota_events *e)
{
	return e->n ? event_type((enum event_id)e->items[0].id)->name : NULL;
}

static void check_row(size_t i, const struct row *row)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(row->t)), before = r;
	struct quota_decision d;
	const char *event;

	p.off_peak = !row->no_off_peak;
	before.account = r.account = arena_printf(&arena, "row-%zu", i);
	before.now -= 60;
	before.action = "before";
	if (row->used)
		(void)settle(before, row->used, 0);
	r.schedule = row->schedule;
	r.declared_in = row->tokens;
	r.scored = row->score >= 0;
	r.score = row->score;
	r.queue = queue_of_four;
	r.n_queue = COUNT(queue_of_four);
	if (row->max_wait && config_parse_duration(str_of(row->max_wait), &r.max_wait_s) < 0)
		fail();
	assert_int_equal(quota_admit(&arena, &quota, &r, &d, &err), 0);
	event = first_event(&d.events);
	if (d.verdict != row->verdict ||
		strcmp(text_of(d.until), row->until ? row->until : "never") != 0 ||
		strcmp(event ? event : "", row->event ? row->event : "") != 0)
		fail_msg("row %zu: %d %s %s", i, d.verdict, text_of(d.until), event);
	quota_release_events(&d.events);
}

QUOTA_TEST(decisions)
{
	static const struct row rows[] = {
		/* now: above the cap it waits a minute at most */
		{SCHEDULE_NOW, PEAK, 0, 950000, NULL, -1, false, QUOTA_GRANTED, NULL, NULL},
		{SCHEDULE_NOW, PEAK, 900000, 50000, NULL, -1, false, QUOTA_GRANTED, NULL, NULL},
		{SCHEDULE_NOW, PEAK, 900000, 50001, NULL, -1, false, QUOTA_DENIED,
			"2026-04-08T23:59:00Z", "AdmissionDenied"},
		{SCHEDULE_NOW, PEAK, 900000, 50001, NULL, .95, false, QUOTA_DENIED,
			"2026-04-08T23:59:00Z", "QuotaContention"},
		{SCHEDULE_NOW, PEAK, 900000, 50001, NULL, .3, false, QUOTA_DENIED,
			"2026-04-08T23:59:00Z", "AdmissionDenied"},
		/* 59 s before the off-peak hours, in which it fits */
		{SCHEDULE_NOW, "2026-04-09T04:59:01Z", 900000, 90000, NULL, -1, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
		{SCHEDULE_NOW, "2026-04-09T04:58:59Z", 900000, 90000, NULL, -1, false, QUOTA_DENIED,
			"2026-04-09T05:00:00Z", "AdmissionDenied"},
		/* quota-permitting, decision 11: until the window's end, or the off-peak hours in
		 * it
		 */
		{SCHEDULE_QUOTA_PERMITTING, PEAK, 900000, 50000, NULL, -1, false, QUOTA_GRANTED,
			NULL, NULL},
		{SCHEDULE_QUOTA_PERMITTING, PEAK, 900000, 50001, NULL, -1, false, QUOTA_WAIT,
			"2026-04-08T23:59:00Z", NULL},
		{SCHEDULE_QUOTA_PERMITTING, "2026-04-09T03:00:00Z", 900000, 90000, NULL, -1, false,
			QUOTA_WAIT, "2026-04-09T05:00:00Z", NULL},
		/* more than the cap at noon: it fits when tokens count half; never if not even then
		 */
		{SCHEDULE_QUOTA_PERMITTING, PEAK, 0, 1000000, NULL, -1, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
		{SCHEDULE_QUOTA_PERMITTING, PEAK, 0, 1900001, NULL, -1, false, QUOTA_DENIED, NULL,
			"AdmissionDenied"},
		/* off-peak. 18 */
		{SCHEDULE_OFF_PEAK, "2026-04-08T04:00:00Z", 0, 60000, NULL, -1, false, QUOTA_WAIT,
			"2026-04-08T05:00:00Z", NULL},
		/* 19 */
		{SCHEDULE_OFF_PEAK, PEAK, 0, 60000, NULL, -1, false, QUOTA_GRANTED, NULL,
			"OffPeakDeferralExceeded"},
		{SCHEDULE_OFF_PEAK, PEAK, 0, 60000, "P2D", -1, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
		{SCHEDULE_OFF_PEAK, PEAK, 0, 60000, "PT10H", -1, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
		{SCHEDULE_OFF_PEAK, PEAK, 0, 60000, "PT9H59M59S", -1, false, QUOTA_GRANTED, NULL,
			"OffPeakDeferralExceeded"},
		/* decision 3: the reference starts it at 115 % of the quota; never above the cap */
		{SCHEDULE_OFF_PEAK, PEAK, 950000, 60000, NULL, -1, false, QUOTA_DENIED,
			"2026-04-08T23:59:00Z", "OffPeakDeferralExceeded"},
		/* in the off-peak hours as `now` */
		{SCHEDULE_OFF_PEAK, OFF_PEAK, 0, 60000, NULL, -1, false, QUOTA_GRANTED, NULL, NULL},
		{SCHEDULE_OFF_PEAK, OFF_PEAK, 1900000, 60000, NULL, -1, false, QUOTA_DENIED,
			"2026-04-08T10:59:00Z", "AdmissionDenied"},
		/* no off-peak hours: as `now` */
		{SCHEDULE_OFF_PEAK, PEAK, 0, 60000, NULL, -1, true, QUOTA_GRANTED, NULL, NULL},
		/* the next off-peak hours are in the used window: those in which it fits */
		{SCHEDULE_OFF_PEAK, "2026-04-09T04:00:00Z", 945000, 20000, NULL, -1, false,
			QUOTA_WAIT, "2026-04-09T08:59:00Z", NULL},
		/* defer-if-low-priority. 21: at the head of the queue */
		{SCHEDULE_DEFER_LOW, PEAK, 700000, 60000, "P2D", .95, false, QUOTA_GRANTED, NULL,
			NULL},
		/* 21a: exactly 70 % used, and not at the head */
		{SCHEDULE_DEFER_LOW, PEAK, 700000, 60000, "P2D", .1, false, QUOTA_GRANTED, NULL,
			NULL},
		{SCHEDULE_DEFER_LOW, PEAK, 700001, 60000, "P2D", .1, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
		{SCHEDULE_DEFER_LOW, PEAK, 800000, 60000, "P2D", -1, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
		/* 22 */
		{SCHEDULE_DEFER_LOW, PEAK, 800000, 60000, NULL, .1, true, QUOTA_GRANTED, NULL,
			NULL},
		/* 23: the head of a queue of four is two */
		{SCHEDULE_DEFER_LOW, PEAK, 800000, 60000, "P2D", .5, false, QUOTA_GRANTED, NULL,
			NULL},
		{SCHEDULE_DEFER_LOW, PEAK, 800000, 60000, "P2D", .4, false, QUOTA_WAIT,
			"2026-04-09T05:00:00Z", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check_row(i, &rows[i]);
}

QUOTA_TEST(plans_that_nothing_fits_into)
{
	static const struct {
		int64_t quota;
		double cap;
	} rows[] = {{1, 0.95}, {1000000, 0}, {59999, 1}};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (enum schedule s = SCHEDULE_NOW; s <= SCHEDULE_DEFER_LOW; s++) {
			struct subscription_plan p = plan_p();
			struct quota_request r = request(&p, 1, "a", time_of(PEAK));

			p.off_peak = false;
			p.quota_tokens = rows[i].quota;
			p.hard_cap = rows[i].cap;
			r.schedule = s;
			assert_int_equal(admit(r, 50000, 10000).verdict, QUOTA_DENIED);
		}
}

/* ---- reserve and settle ---- */

QUOTA_TEST(a_reservation_has_the_name_of_its_action)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));
	struct quota_settled s;
	struct quota_entry e;

	assert_int_equal(admit(r, 600000, 0).verdict, QUOTA_GRANTED);
	assert_true(admit(r, 600000, 0).repeated);
	assert_int_equal(quota_look(&arena, &quota, &r, &e, &err), 0);
	assert_int_equal(e.holds.n, 1);
	assert_int_equal(quota_reserved(&e, &e.windows.items[0]), 600000);
	/* What is reserved is not there for another one. */
	assert_int_equal(admit(request(&p, 1, "b", r.now), 400000, 0).verdict, QUOTA_DENIED);
	assert_int_equal(admit(request(&p, 1, "b", r.now), 350000, 0).verdict, QUOTA_GRANTED);
	/* It is settled once; an overrun is reported, booked, and blocks the next. */
	s = settle(r, 700000, 1);
	assert_true(s.reserved && !s.repeated);
	assert_int_equal(s.overrun, 100001);
	s = settle(r, 5, 5);
	assert_true(s.repeated);
	assert_int_equal(s.input, 700000);
	assert_true(admit(r, 600000, 0).repeated);
	assert_int_equal(window_now(r).consumed, 700001);
	assert_int_equal(admit(request(&p, 1, "c", r.now), 1, 0).verdict, QUOTA_DENIED);
	/* Its release without a figure: the estimate. */
	s = settle(request(&p, 1, "b", r.now), -1, -1);
	assert_int_equal(s.input, 350000);
	assert_int_equal(window_now(r).consumed, 1050001);
}

QUOTA_TEST(usage_that_cannot_be)
{
	static const struct quota_usage rows[] = {{-1, 5, 0, false}, {5, -2, 0, false},
		{INT64_MAX, 5, 0, false}, {1000000000001, 0, 0, false}, {5, 5, INT64_MAX, false},
		{-1, -1, 0, false}};
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));
	struct quota_settled s;

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_fails(quota_settle(&arena, &quota, &r, &rows[i], &s, &err), err, ERR_USAGE);
	assert_int_equal(window_now(r).consumed, 0);
	/* Long ago: noted, and in no window. */
	assert_int_equal(
		quota_settle(&arena, &quota, &r,
			&(struct quota_usage){.input = 5, .output = 5, .at = r.now - 5 * 3600}, &s,
			&err),
		0);
	assert_true(s.past);
	quota_release_events(&s.events);
	assert_int_equal(window_now(r).consumed, 0);
}

static int write_own_name(unsigned i, void *data)
{
	(void)i;
	(void)snprintf(data, 500, "%s", process_own_name(&arena));
	return 0;
}

/* It counts until its window ends; that of an owner who lives goes on. */
QUOTA_TEST(reservations_of_the_dead)
{
	struct subscription_plan p = plan_p();
	struct quota_request dead = request(&p, 1, "dead", time_of(PEAK)),
			     alive = request(&p, 1, "alive", time_of(PEAK));
	char *name = run_shared(500);
	struct quota_entry e;

	assert_int_equal(run_processes(1, write_own_name, name), 1);
	dead.owner = name;
	alive.owner = process_own_name(&arena);
	(void)admit(dead, 300000, 0);
	(void)admit(alive, 200000, 0);
	assert_int_equal(quota_look(&arena, &quota, &dead, &e, &err), 0);
	assert_int_equal(quota_reserved(&e, &e.windows.items[0]), 500000);
	dead.now += 5 * 3600;
	assert_int_equal(quota_look(&arena, &quota, &dead, &e, &err), 0);
	assert_int_equal(quota_reserved(&e, &e.windows.items[0]), 200000);
	alive.now = dead.now;
	(void)settle(alive, 100000, 0);
	assert_int_equal(window_now(alive).consumed, 100000);
}

QUOTA_TEST(seats_share_the_work)
{
	struct subscription_plan p = plan_p(), paid = plan_p();
	struct quota_request r = request(&p, 2, "a", time_of(PEAK));
	struct quota_decision d = admit(r, 600000, 0);

	assert_int_equal(d.seat, 1);
	r.action = "b";
	d = admit(r, 600000, 0);
	assert_int_equal(d.seat, 2);
	r.action = "c";
	d = admit(r, 600000, 0);
	assert_int_equal(d.verdict, QUOTA_DENIED);
	/* Before it is denied, it is paid per token, unless the quota must permit it. */
	paid.name = "pay-per-token";
	paid.billing = BILLING_PER_TOKEN;
	r.seats[1] = &paid;
	d = admit(r, 600000, 0);
	assert_string_equal(d.plan, "pay-per-token");
	r.action = "d";
	r.schedule = SCHEDULE_QUOTA_PERMITTING;
	assert_int_equal(admit(r, 600000, 0).verdict, QUOTA_WAIT);
}

/* What is paid per token is reserved in USD, and the cap that blocks it is named. */
QUOTA_TEST(limits_in_usd)
{
	struct subscription_plan p = plan_p(), paid = plan_p();
	struct quota_request r = request(&paid, 1, "o/r/A-1/plan/1", time_of(PEAK));
	struct quota_decision d;

	paid.name = "paid";
	paid.billing = BILLING_PER_TOKEN;
	r.max_usd = -1;
	r.budget_usd = 1;
	r.budget_item = "o/r/A-1";
	/* Without a price no limit can be kept. */
	d = admit(r, 100000, 20000);
	assert_int_equal(d.verdict, QUOTA_DENIED);
	assert_string_equal(d.blocked_by, "costBudget");
	r.input_usd = 3;
	r.output_usd = 15;
	r.max_usd = 0.59;
	d = admit(r, 100000, 20000);
	assert_string_equal(d.blocked_by, "maxBudgetUsd");
	r.max_usd = 0.6;
	d = admit(r, 100000, 20000);
	assert_int_equal(d.verdict, QUOTA_GRANTED);
	assert_int_equal(d.cost, 600000);
	/* What is reserved for the item and its children counts; another item has its own. */
	r.action = "o/r/A-1.test/plan/1";
	assert_string_equal(admit(r, 100000, 20000).blocked_by, "costBudget");
	r.action = "o/r/A-10/plan/1";
	r.budget_item = "o/r/A-10";
	assert_int_equal(admit(r, 100000, 20000).verdict, QUOTA_GRANTED);
	/* Within a quota it costs nothing, and a spill waits for the next window. */
	r = request(&p, 2, "o/r/A-2/plan/1", time_of(PEAK));
	r.seats[1] = &paid;
	r.max_usd = 0.1;
	r.budget_usd = -1;
	r.input_usd = 3;
	r.output_usd = 15;
	d = admit(r, 900000, 0);
	assert_true(d.verdict == QUOTA_GRANTED && d.within_quota && !d.cost);
	r.action = "o/r/A-2/plan/2";
	d = admit(r, 90000, 0);
	assert_int_equal(d.verdict, QUOTA_DENIED);
	assert_string_equal(d.blocked_by, "maxBudgetUsd");
	r.schedule = SCHEDULE_QUOTA_PERMITTING;
	assert_int_equal(admit(r, 90000, 0).verdict, QUOTA_WAIT);
}

/* The plan of a reservation was removed, and the quota set below its use. */
QUOTA_TEST(plans_that_have_changed)
{
	struct subscription_plan p = plan_p(), other = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));
	struct quota_entry e;

	(void)admit(r, 600000, 0);
	p.quota_tokens = 500000;
	assert_int_equal(admit(request(&p, 1, "b", r.now), 1, 0).verdict, QUOTA_DENIED);
	other.name = "other";
	r = request(&other, 1, "a", r.now);
	(void)settle(r, 500000, 0);
	assert_int_equal(quota_look(&arena, &quota, &r, &e, &err), 0);
	assert_int_equal(e.windows.items[0].consumed, 500000);
	assert_int_equal(e.windows.items[1].consumed, 0);
}

QUOTA_TEST(after_a_limit_one_request_goes_first)
{
	struct subscription_plan p = plan_p();
	struct quota_request a = request(&p, 1, "a", time_of(PEAK)),
			     b = request(&p, 1, "b", time_of(PEAK));
	struct quota_decision d;

	assert_int_equal(quota_limit(&arena, &quota, &a, a.now + 3600, &err), 0);
	d = admit(a, 1000, 0);
	assert_int_equal(d.verdict, QUOTA_WAIT);
	assert_int_equal(d.until, a.now + 3600);
	d = admit(b, 1000, 0);
	assert_int_equal(d.verdict, QUOTA_WAIT);
	a.now = b.now += 3600;
	assert_int_equal(admit(a, 1000, 0).verdict, QUOTA_GRANTED);
	d = admit(b, 1000, 0);
	assert_int_equal(d.verdict, QUOTA_WAIT);
	assert_int_equal(d.until, b.now + QUOTA_PROBE_S);
	(void)settle(a, 900, 100);
	assert_int_equal(admit(b, 1000, 0).verdict, QUOTA_GRANTED);
}

/* What was used before the limit counts in the window of its reservation, which stays. */
QUOTA_TEST(what_was_used_before_a_limit)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 2, "a", time_of(PEAK));
	struct quota_usage part = {6000, 300, 0, true};
	struct quota_settled s;
	struct quota_entry e;

	(void)admit(request(&p, 2, "other", r.now), 500, 0);
	assert_int_equal(admit(r, 90000, 0).seat, 2);
	r.now += 60;
	for (int i = 0; i < 2; i++) { /* repeated, it changes nothing */
		assert_int_equal(quota_settle(&arena, &quota, &r, &part, &s, &err), 0);
		assert_int_equal(s.repeated, i);
		quota_release_settled(&s);
	}
	assert_int_equal(quota_look(&arena, &quota, &r, &e, &err), 0);
	assert_int_equal(e.windows.items[1].consumed, 6300);
	assert_int_equal(quota_reserved(&e, &e.windows.items[1]), 90000);
	/* A second limit; then it ends. */
	r.now += 60;
	assert_int_equal(quota_settle(&arena, &quota, &r, &part, &s, &err), 0);
	quota_release_settled(&s);
	assert_true(admit(r, 90000, 0).repeated);
	(void)settle(r, 1000, 0);
	assert_int_equal(quota_look(&arena, &quota, &r, &e, &err), 0);
	assert_int_equal(e.windows.items[1].consumed, 13600);
	assert_int_equal(e.holds.n, 1);
}

/* What was dispatched before the limit asks again, and keeps its reservation meanwhile. */
QUOTA_TEST(outstanding_actions_begin_again_one_by_one)
{
	struct subscription_plan p = plan_p();
	struct quota_request a = request(&p, 1, "a", time_of(PEAK)),
			     b = request(&p, 1, "b", time_of(PEAK));
	struct quota_decision d;
	struct quota_entry e;

	(void)admit(a, 1000, 0);
	(void)admit(b, 1000, 0);
	assert_int_equal(quota_limit(&arena, &quota, &a, a.now + 3600, &err), 0);
	assert_int_equal(admit(a, 1000, 0).verdict, QUOTA_WAIT);
	a.now = b.now += 3600;
	d = admit(b, 1000, 0);
	assert_true(d.verdict == QUOTA_GRANTED && d.repeated);
	d = admit(a, 1000, 0);
	assert_int_equal(d.verdict, QUOTA_WAIT);
	assert_int_equal(d.until, a.now + QUOTA_PROBE_S);
	assert_int_equal(quota_look(&arena, &quota, &a, &e, &err), 0);
	assert_int_equal(quota_reserved(&e, &e.windows.items[0]), 2000);
	(void)settle(b, 900, 100);
	d = admit(a, 1000, 0);
	assert_true(d.verdict == QUOTA_GRANTED && d.repeated);
}

/* ---- work items ---- */

static bool ends_in_one(void *data, const char *action)
{
	(void)data;
	return str_ends(str_of(action), "/1");
}

static struct quota_request of_item(
	const struct subscription_plan *p, const char *action, int64_t begun)
{
	struct quota_request r = request(p, 1, action, time_of(PEAK));

	r.item = "o/r/A-1/";
	r.begun = begun;
	r.over = ends_in_one;
	return r;
}

static size_t holds_now(struct quota_request r)
{
	struct quota_entry e;

	if (quota_look(&arena, &quota, &r, &e, &err) < 0)
		fail_msg("%s", err.text);
	return e.holds.n;
}

QUOTA_TEST(reservations_that_are_over_are_booked)
{
	struct subscription_plan p = plan_p();
	struct quota_request next = of_item(&p, "o/r/A-1/plan/2", 7),
			     other = of_item(&p, "o/r/A-10/plan/1", 7);
	struct quota_settled s;

	other.item = "o/r/A-10/";
	(void)admit(of_item(&p, "o/r/A-1/plan/1", 7), 1000, 0);
	(void)admit(other, 500, 0);
	assert_int_equal(holds_now(next), 2);
	(void)admit(next, 2000, 0);
	assert_int_equal(holds_now(next), 2);
	assert_int_equal(window_now(next).consumed, 1000);
	/* Figures that come later replace the estimate, once. */
	s = settle(of_item(&p, "o/r/A-1/plan/1", 7), 300, 0);
	assert_false(s.repeated);
	assert_int_equal(window_now(next).consumed, 300);
	assert_true(settle(of_item(&p, "o/r/A-1/plan/1", 7), 9, 9).repeated);
	assert_int_equal(window_now(next).consumed, 300);
}

/* An item that was deleted and begun again has actions of the same names. */
QUOTA_TEST(an_item_that_is_begun_again)
{
	struct subscription_plan p = plan_p();
	struct quota_request first = of_item(&p, "o/r/A-1/plan/3", 7),
			     again = of_item(&p, "o/r/A-1/plan/3", 8);
	struct quota_decision d;

	(void)settle(of_item(&p, "o/r/A-1/plan/2", 7), 100, 0);
	(void)admit(first, 1000, 0);
	d = admit(again, 1000, 0);
	assert_true(d.verdict == QUOTA_GRANTED && !d.repeated);
	assert_int_equal(holds_now(again), 1);
	assert_int_equal(window_now(again).consumed, 1100);
	d = admit(of_item(&p, "o/r/A-1/plan/2", 8), 1000, 0);
	assert_true(d.verdict == QUOTA_GRANTED && !d.repeated);
}

QUOTA_TEST(the_end_of_an_item)
{
	struct subscription_plan p = plan_p(), small = plan_p();
	struct quota_request all = {.item = "o/r/A-1/", .now = time_of(PEAK)}, other;
	size_t n;

	(void)admit(of_item(&p, "o/r/A-1/plan/4", 7), 1000, 0);
	(void)admit(of_item(&p, "o/r/A-1/plan/5", 7), 2000, 0);
	(void)admit(of_item(&p, "o/r/A-2/plan/5", 7), 4000, 0);
	small.name = "small";
	small.quota_tokens = 10;
	other = of_item(&small, "o/r/A-1/plan/6", 7);
	other.schedule = SCHEDULE_QUOTA_PERMITTING;
	other.account = "x";
	(void)admit(other, 9, 0);
	assert_int_equal(quota_end_item(&arena, &quota, &all, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(holds_now(other), 0);
	assert_int_equal(window_now(other).consumed, 9);
	other = of_item(&p, "o/r/A-1/plan/4", 7);
	assert_int_equal(window_now(other).consumed, 3000);
	assert_int_equal(holds_now(other), 1);
	assert_int_equal(quota_end_item(&arena, &quota, &all, &n, &err), 0);
	assert_int_equal(n, 0);
}

QUOTA_TEST(a_clock_that_is_put_back)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of("2027-04-08T19:00:00Z"));
	struct quota_window w;

	(void)settle(r, 900000, 0);
	r.now = time_of(PEAK);
	w = window_now(r);
	assert_int_equal(w.consumed, 900000);
	assert_int_equal(w.end, r.now + 5 * 3600);
}

/* ---- tenants ---- */

TEST(shares_of_tenants)
{
	static const struct {
		struct {
			const char *tenant;
			double share;
			const char *account;
		} p[3];
		const char *fault; /* NULL: they are valid */
	} rows[] = {
		/* 17 */
		{{{"t1", .6, NULL}, {"t2", .4, NULL}}, NULL},
		{{{"t1", .6, NULL}, {"t2", .5, NULL}}, "1.1"},
		{{{"t1", 1, NULL}, {NULL, -1, NULL}}, "lacks"},
		{{{"t1", 1, "x"}, {"t2", 1, "y"}}, NULL},
		/* Decision 5: a tenant counts once; the reference adds up its pipelines. */
		{{{"t1", .6, NULL}, {"t1", .6, NULL}, {"t2", .4, NULL}}, NULL},
		{{{"t1", .6, NULL}, {"t1", .4, NULL}}, "two shares"},
		/* A share without a tenant has no meaning; the reference lets it pass. */
		{{{NULL, 1, NULL}}, "lacks"},
		{{{NULL, -1, NULL}, {NULL, -1, NULL}}, NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pipeline p[3];
		struct resource_doc docs[3];
		struct resources r = {.docs = docs};
		struct error e = {0};

		for (size_t k = 0; k < 3 && rows[i].p[k].share != 0; k++, r.n_docs++) {
			p[k] = (struct pipeline){.name = "p",
				.default_harness = "claude-code",
				.tenant = rows[i].p[k].tenant,
				.tenant_share = rows[i].p[k].share,
				.account = rows[i].p[k].account};
			docs[k] =
				(struct resource_doc){.kind = &resource_kind_pipeline, .of = &p[k]};
		}
		assert_int_equal(quota_check_tenants(&r, &e), rows[i].fault ? -1 : 0);
		if (rows[i].fault && !strstr(e.text, rows[i].fault))
			fail_msg("row %zu: %s", i, e.text);
	}
}

/* Decision 5. */
QUOTA_TEST(a_tenant_has_its_share)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));

	r.tenant = "t1";
	r.share = 0.6;
	assert_int_equal(admit(r, 570001, 0).verdict, QUOTA_DENIED);
	assert_int_equal(admit(r, 570000, 0).verdict, QUOTA_GRANTED);
	r.tenant = "t2";
	r.share = 0.4;
	assert_int_equal(admit(r, 380000, 0).verdict, QUOTA_GRANTED);
}

/* ---- pace ---- */

/* 37 */
TEST(tiers)
{
	static const struct {
		size_t events;
		const char *confidence;
	} rows[] = {{1, "low"}, {4, "low"}, {5, "medium"}, {20, "medium"}, {21, "high"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quota_tier t = quota_tier("claude-code-pro", rows[i].events);

		assert_string_equal(t.confidence, rows[i].confidence);
		assert_string_equal(t.next, "claude-code-max-5x");
		assert_true(t.usd < 20.1 && t.next_usd > 99.9);
	}
	assert_null(quota_tier("claude-code-max-20x", 30).next);
	assert_null(quota_tier("codex-pro", 30).next);
	assert_null(quota_tier("ours", 30).next);
}

static size_t count_type(const char *type)
{
	CLEANUP(json_free) json *events = NULL;

	assert_int_equal(event_list(base, NULL, type, &events, NULL, &err), 0);
	return json_len(events);
}

QUOTA_TEST(a_tier_is_recommended_once_a_week)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", clock_now());
	struct quota_decision d;

	assert_int_equal(quota_report_tier(base, &p, clock_now(), &err), 0);
	assert_int_equal(count_type("TierAnalysis"), 0);
	r.declared_in = 2000000;
	assert_int_equal(quota_admit(&arena, &quota, &r, &d, &err), 0);
	assert_int_equal(quota_report(base, NULL, NULL, &d.events, &err), 0);
	quota_release_events(&d.events);
	for (int i = 0; i < 2; i++)
		assert_int_equal(quota_report_tier(base, &p, clock_now(), &err), 0);
	assert_int_equal(count_type("TierAnalysis"), 1);
}

/* The figures of a vendor replace the count. */
QUOTA_TEST(a_window_is_reconciled)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));
	struct quota_window w;

	(void)settle(r, 100000, 0);
	w = window_now(r);
	assert_int_equal(quota_reconcile(&arena, &quota, &r, &w, 970000, r.now + 3600, &err), 0);
	assert_int_equal(w.consumed, 100000);
	w = window_now(r);
	assert_true(w.vendor);
	assert_int_equal(w.consumed, 970000);
	assert_int_equal(w.end, r.now + 3600);
	assert_int_equal(admit(request(&p, 1, "b", r.now), 1, 0).verdict, QUOTA_DENIED);
	assert_fails(quota_reconcile(&arena, &quota, &r, &w, 1, r.now, &err), err, ERR_USAGE);
	assert_fails(quota_reconcile(&arena, &quota, &r, &w, 1, r.now + 5 * 3600 + 1, &err), err,
		ERR_USAGE);
}

QUOTA_TEST(points_of_a_burn_down)
{
	struct subscription_plan p = plan_p();
	struct quota_request r = request(&p, 1, "a", time_of(PEAK));
	struct quota_entry *list;
	struct quota_point *points;
	size_t n;

	(void)settle(request(&p, 1, "old", r.now - 6 * 3600), 7, 0);
	(void)settle(r, 100, 0);
	r.now += 60;
	r.action = "b";
	(void)settle(r, 50, 5);
	assert_int_equal(quota_list(&arena, &quota, r.now, &list, &n, &err), 0);
	assert_int_equal(quota_points(&arena, &quota, &list[0], &list[0].windows.items[0], &points,
				 &n, &err),
		0);
	assert_int_equal(n, 2);
	assert_int_equal(points[0].consumed, 100);
	assert_int_equal(points[1].at, r.now);
	assert_int_equal(points[1].consumed, 155);
}

/* With the ledger nothing starts over the cap; without it much does. */
TEST(schedules_of_a_month)
{
	struct subscription_plan p = plan_p();
	struct quota_simulation of = {.plan = &p,
		.max_wait_s = 8 * 3600,
		.tasks = 200,
		.days = 14,
		.from = time_of("2026-06-01T00:00:00Z"),
		.seed = 7};
	struct quota_simulated s, again;

	for (enum schedule i = SCHEDULE_NOW; i <= SCHEDULE_DEFER_LOW; i++) {
		of.schedule = i;
		quota_simulate(&of, &s);
		assert_int_equal(s.violations, 0);
		assert_true(s.done && s.done + s.denied <= of.tasks);
		quota_simulate(&of, &again);
		assert_memory_equal(&s, &again, sizeof(s));
	}
	of.naive = true;
	quota_simulate(&of, &s);
	assert_true(s.violations && s.interrupted);
}

TEST(pace)
{
	static const struct {
		double projected;
		const char *pace;
	} rows[] = {
		/* 33 */
		{.74, "under-pacing"},
		{.75, "on-pace"},
		{.9, "on-pace"},
		{.9001, "over-pacing"},
	};
	struct quota_window w = {.start = 1000, .end = 3000, .quota = 1000000, .consumed = 412000};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(quota_pace(rows[i].projected, .85), rows[i].pace);
	assert_true(quota_projected(&w, 2000) == .824); /* 34 */
	assert_string_equal(quota_pace(.824, .85), "on-pace");
	assert_true(quota_projected(&w, 1000) == .412); /* 35 */
}
