#include <time.h>
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/base/zone.h"
#include "src/quota/quota.h"

/*
 * Off-peak hours are hours of a clock on the wall, which daylight saving moves. They begin and end
 * only where that clock shows a whole hour or is put forward or back; between two such instants
 * nothing changes.
 */

enum {
	DAY_S = 86400,
	HOUR_S = 3600,
	STALE_DAYS = 30,
	OUTDATED_DAYS = 90,
	HORIZON_S = 15 * DAY_S, /* weekly hours that daylight saving skips come after 14 days */
};

struct hours {
	int from, to;
	unsigned days; /* bit 0: Sunday */
};

static unsigned off_peak_days_of(const char *text)
{
	static const char *const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", NULL};
	struct str rest = str_of(text), day;
	unsigned days = 0, i;

	if (!text)
		return 0x7f;
	while (str_next_item(&rest, &day))
		if (str_index(day, names, &i))
			days |= 1u << i;
	return days;
}

/* `22-06`, checked when the plan was read. */
static struct hours hours_of(const struct off_peak_window *w)
{
	uint64_t from, to;
	size_t n = number_digits(str_of(w->hours), &from);

	(void)number_digits(str_of(w->hours + n + 1), &to);
	return (struct hours){(int)from, (int)to, off_peak_days_of(w->days)};
}

static bool within(const struct hours *h, const struct tm *tm)
{
	unsigned today = h->days >> tm->tm_wday & 1,
		 before = h->days >> ((tm->tm_wday + 6) % 7) & 1;
	int hour = tm->tm_hour;

	if (h->from < h->to)
		return today && hour >= h->from && hour < h->to;
	return (today && hour >= h->from) || (before && hour < h->to);
}

/* In the zone that is set. */
static void local_time(int64_t t, struct tm *tm)
{
	time_t at = (time_t)t;

	(void)localtime_r(&at, tm);
}

/* The next whole hour, or an earlier instant at which the clock is put forward or back. *tm: the
 * local time of `at`, then of the result. */
static int64_t next_boundary(int64_t at, struct tm *tm)
{
	int64_t low = at, high = at + HOUR_S - tm->tm_min * 60 - tm->tm_sec;
	long offset = tm->tm_gmtoff;

	local_time(high, tm);
	if (tm->tm_gmtoff == offset)
		return high;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;

		local_time(middle, tm);
		if (tm->tm_gmtoff == offset)
			low = middle;
		else
			high = middle;
	}
	local_time(high, tm);
	return high;
}

/* The hours of one window at a time, and the next change of that. */
struct phase {
	bool on;
	int64_t change; /* INT64_MAX: not in the time that is looked at */
};

static struct phase phase_at(const struct off_peak_window *w, int64_t t, bool next)
{
	CLEANUP(zone_leave) struct zone zone = {0};
	struct phase out = {.change = INT64_MAX};
	struct hours h = hours_of(w);
	struct tm tm;

	if (!zone_enter(&zone, w->tz))
		return out;
	local_time(t, &tm);
	out.on = within(&h, &tm);
	for (int64_t at = t; next && at <= t + HORIZON_S;) {
		at = next_boundary(at, &tm);
		if (within(&h, &tm) != out.on) {
			out.change = at;
			break;
		}
	}
	return out;
}

bool quota_off_peak(const struct subscription_plan *p, int64_t t)
{
	for (size_t i = 0; p->off_peak && i < p->n_windows; i++)
		if (phase_at(&p->windows[i], t, false).on)
			return true;
	return false;
}

/* Those of all windows together; only windows that change at t are looked at again. */
static struct phase phases_at(const struct subscription_plan *p, int64_t t, struct phase *of)
{
	struct phase all = {.change = INT64_MAX};

	for (size_t i = 0; i < p->n_windows; i++) {
		if (of[i].change <= t)
			of[i] = phase_at(&p->windows[i], t, true);
		all.on |= of[i].on;
		if (of[i].change < all.change)
			all.change = of[i].change;
	}
	return all;
}

int64_t quota_off_peak_next(const struct subscription_plan *p, int64_t t, bool end)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct phase *of = arena_alloc(&a, (p->n_windows + 1) * sizeof(*of)), all;
	int64_t last = t + HORIZON_S;

	if (!p->off_peak)
		return 0;
	for (all = phases_at(p, t, of); all.change <= last;) {
		bool was = all.on;

		t = all.change;
		all = phases_at(p, t, of);
		if (all.on != was && all.on == !end)
			return t;
	}
	return 0;
}

int quota_check_zones(const struct subscription_plan *p, struct error *err)
{
	for (size_t i = 0; p->off_peak && i < p->n_windows; i++)
		if (!zone_known(p->windows[i].tz))
			return error_set(err, ERR_STATE,
				"this host has no time zone '%.100s' of the plan '%.100s': install "
				"its time zones (tzdata)",
				p->windows[i].tz, p->name);
	return 0;
}

enum quota_freshness quota_freshness(const struct subscription_plan *p, int64_t now)
{
	int64_t verified, days;

	if (!p->off_peak)
		return QUOTA_FRESH;
	if (!p->verified || !clock_parse_date(str_of(p->verified), &verified))
		return QUOTA_STALE;
	days = (now - verified) / DAY_S;
	return days <= STALE_DAYS      ? QUOTA_FRESH
	       : days <= OUTDATED_DAYS ? QUOTA_STALE
				       : QUOTA_OUTDATED;
}
