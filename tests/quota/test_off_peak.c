#include "tests/quota/off_peak_model.h"
#include "tests/quota/quota_rig.h"

static struct subscription_plan plan_of(struct off_peak_window *w, size_t n)
{
	struct subscription_plan p = plan_p();

	p.windows = w;
	p.n_windows = n;
	return p;
}

TEST(off_peak_at_an_instant)
{
#define LA "America/Los_Angeles"
	static const struct {
		const char *hours, *days, *t;
		bool off_peak;
	} rows[] = {
		/* 1 */
		{"22-06", NULL, "2026-04-08T06:00:00Z", true},
		{"22-06", NULL, "2026-04-08T19:00:00Z", false},
		/* 2 */
		{"22-06", NULL, "2026-04-08T05:00:00Z", true},
		{"22-06", NULL, "2026-04-08T12:59:59Z", true},
		{"22-06", NULL, "2026-04-08T13:00:00Z", false},
		/* 3: winter time */
		{"22-06", NULL, "2026-01-08T05:30:00Z", false},
		{"22-06", NULL, "2026-01-08T06:00:00Z", true},
		/* 5 */
		{"0-23", "Sat,Sun", "2026-04-08T19:00:00Z", false},
		{"0-23", "Sat,Sun", "2026-04-04T19:00:00Z", true},
		/* 6: Saturday 23:30 */
		{"0-23", "Sat,Sun", "2026-04-05T06:30:00Z", false},
		{"0-24", "Sat,Sun", "2026-04-05T06:30:00Z", true},
		/* Hours that wrap belong to the day on which they began, which the reference does
		 * not do: Sunday 03:00 is of Saturday, Saturday 03:00 is of Friday. */
		{"22-06", "Sat", "2026-04-05T10:00:00Z", true},
		{"22-06", "Sat", "2026-04-04T10:00:00Z", false},
		{"22-06", "Sat", "2026-04-05T05:00:00Z", true},
		{"22-06", "Sat", "2026-04-06T05:00:00Z", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct off_peak_window w = {LA, rows[i].hours, rows[i].days};
		struct subscription_plan p = plan_of(&w, 1);

		if (quota_off_peak(&p, time_of(rows[i].t)) != rows[i].off_peak)
			fail_msg("%s %s at %s", rows[i].hours, rows[i].days, rows[i].t);
		p.off_peak = false;
		assert_false(quota_off_peak(&p, time_of(rows[i].t)));
	}
}

TEST(how_long_ago_the_hours_were_verified)
{
	static const struct {
		const char *verified;
		enum quota_freshness freshness;
	} rows[] = {
		/* 7 */
		{"2026-04-15", QUOTA_FRESH},
		{"2026-04-01", QUOTA_FRESH}, /* 30 days */
		{"2026-03-31", QUOTA_STALE},
		{"2026-03-01", QUOTA_STALE},
		{"2026-01-31", QUOTA_STALE}, /* 90 days */
		{"2026-01-30", QUOTA_OUTDATED},
		{"2025-12-01", QUOTA_OUTDATED},
		/* The reference says `error`; the specification says that a missing date is a
		 * warning. */
		{NULL, QUOTA_STALE},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct subscription_plan p = plan_p();

		p.verified = rows[i].verified;
		assert_int_equal(
			quota_freshness(&p, time_of("2026-05-01T00:00:00Z")), rows[i].freshness);
	}
}

UNIT_TEST(next_off_peak_hours, NULL, arena_end)
{
	static const struct {
		const char *tz, *hours, *days, *t, *start, *end;
	} rows[] = {
		/* Exact to the minute; the reference keeps the minutes of the question: 05:37:12.
		 */
		{LA, "22-06", NULL, "2026-04-08T04:37:12Z", "2026-04-08T05:00:00Z",
			"2026-04-08T13:00:00Z"},
		/* When it is off-peak already, the next beginning. */
		{LA, "22-06", NULL, "2026-04-08T06:00:00Z", "2026-04-09T05:00:00Z",
			"2026-04-08T13:00:00Z"},
		{LA, "0-24", NULL, "2026-04-08T06:00:00Z", "never", "never"},
		{LA, "0-24", "Sat,Sun", "2026-04-08T06:00:00Z", "2026-04-11T07:00:00Z",
			"2026-04-13T07:00:00Z"},
		/* Both days of daylight saving, in six zones: the hours 2-3 are left out in
		 * spring, and 1-2 comes twice in autumn. */
		{LA, "2-3", NULL, "2026-03-08T09:00:00Z", "2026-03-09T09:00:00Z",
			"2026-03-09T10:00:00Z"},
		{LA, "2-3", "Sun", "2026-03-02T09:00:00Z", "2026-03-15T09:00:00Z",
			"2026-03-15T10:00:00Z"},
		{LA, "1-2", NULL, "2026-11-01T07:30:00Z", "2026-11-01T08:00:00Z",
			"2026-11-01T10:00:00Z"},
		{"Europe/Berlin", "2-4", NULL, "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z",
			"2026-03-29T02:00:00Z"},
		{"Europe/Berlin", "22-03", NULL, "2026-10-24T19:30:00Z", "2026-10-24T20:00:00Z",
			"2026-10-25T02:00:00Z"},
		/* By half an hour, in the south. */
		{"Australia/Lord_Howe", "2-3", NULL, "2026-10-03T15:00:00Z", "2026-10-03T15:30:00Z",
			"2026-10-03T16:00:00Z"},
		{"Australia/Lord_Howe", "1-3", NULL, "2026-04-04T13:00:00Z", "2026-04-04T14:00:00Z",
			"2026-04-04T16:30:00Z"},
		/* An offset of half an hour, without daylight saving. */
		{"Asia/Kolkata", "0-6", NULL, "2026-04-04T13:00:00Z", "2026-04-04T18:30:00Z",
			"2026-04-05T00:30:00Z"},
		/* By one hour, in the south. */
		{"Pacific/Auckland", "1-4", NULL, "2026-09-26T12:00:00Z", "2026-09-26T13:00:00Z",
			"2026-09-26T15:00:00Z"},
		{"Pacific/Auckland", "1-4", NULL, "2026-04-04T11:00:00Z", "2026-04-04T12:00:00Z",
			"2026-04-04T16:00:00Z"},
		/* At an offset of half an hour. */
		{"America/St_Johns", "2-3", NULL, "2026-03-08T04:00:00Z", "2026-03-09T04:30:00Z",
			"2026-03-09T05:30:00Z"},
		{"America/St_Johns", "1-2", NULL, "2026-11-01T03:00:00Z", "2026-11-01T03:30:00Z",
			"2026-11-01T05:30:00Z"},
		/* Two hours at once: 1-3 does not come, 0-2 comes in two parts. */
		{"Antarctica/Troll", "1-4", NULL, "2026-03-28T23:00:00Z", "2026-03-29T01:00:00Z",
			"2026-03-29T02:00:00Z"},
		{"Antarctica/Troll", "0-2", NULL, "2026-10-24T23:30:00Z", "2026-10-25T01:00:00Z",
			"2026-10-25T00:00:00Z"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct off_peak_window w = {rows[i].tz, rows[i].hours, rows[i].days};
		struct subscription_plan p = plan_of(&w, 1);
		const char *start = text_of(quota_off_peak_next(&p, time_of(rows[i].t), false)),
			   *end = text_of(quota_off_peak_next(&p, time_of(rows[i].t), true));

		if (strcmp(start, rows[i].start) != 0 || strcmp(end, rows[i].end) != 0)
			fail_msg("%zu: %s %s from %s: %s, %s", i, rows[i].tz, rows[i].hours,
				rows[i].t, start, end);
	}
}

/* 5,000 instants. */
UNIT_TEST(random_schedules, NULL, arena_end)
{
	compare_schedules(50, random_seed(NULL));
}
