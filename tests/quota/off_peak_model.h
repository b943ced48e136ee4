/*
 * off_peak_model.h: off-peak hours, minute by minute: each schedule is a table of the 168 hours of
 * a week, and every minute of 16 days is looked up in it by the clock of its zone. Random schedules
 * are compared with it.
 */
#ifndef DT_TESTS_OFF_PEAK_MODEL_H
#define DT_TESTS_OFF_PEAK_MODEL_H

#include <time.h>
#include "tests/lib/random.h"
#include "tests/quota/quota_rig.h"

enum { MODEL_MINUTES = 17 * 1440, MODEL_LAST = 15 * 1440, MODEL_WINDOWS = 3, MODEL_ASKS = 100 };

struct off_peak_model {
	int64_t start;
	bool on[MODEL_MINUTES];
};

RIG void model_add(
	struct off_peak_model *m, const char *tz, unsigned from, unsigned to, unsigned days)
{
	bool hours[7][24] = {{false}};

	for (unsigned d = 0; d < 7; d++)
		for (unsigned h = from; (days >> d & 1) && h < (to > from ? to : to + 24); h++)
			hours[(d + h / 24) % 7][h % 24] = true;
	(void)setenv("TZ", tz, 1);
	tzset();
	for (int i = 0; i < MODEL_MINUTES; i++) {
		time_t t = (time_t)(m->start + i * 60);
		struct tm tm;

		(void)localtime_r(&t, &tm);
		m->on[i] |= hours[tm.tm_wday][tm.tm_hour];
	}
	(void)setenv("TZ", "UTC", 1);
	tzset();
}

/* The first minute after `i` at which it becomes `on`; 0: none in 15 days. */
RIG int64_t model_next(const struct off_peak_model *m, int i, bool on)
{
	for (int k = i + 1; k <= i + MODEL_LAST; k++)
		if (m->on[k] == on && m->on[k - 1] != on)
			return m->start + k * 60;
	return 0;
}

RIG const char *random_days(struct random *r, unsigned *days)
{
	static const char *const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	const char *text = "";

	*days = random_below(r, 3) ? 0x7f : 1 + random_below(r, 0x7f);
	if (*days == 0x7f)
		return NULL;
	for (unsigned d = 0; d < 7; d++)
		if (*days >> d & 1)
			text = arena_printf(&arena, "%s%s%s", text, *text ? "," : "", names[d]);
	return text;
}

/* Half of the schedules are looked at around a day on which clocks are changed. */
RIG int64_t random_start(struct random *r)
{
	static const char *const changes[] = {
		"2026-03-08", "2026-11-01", "2026-03-29", "2026-10-25", "2026-10-04", "2026-04-05"};
	int64_t t = 1767225600 + (int64_t)random_below(r, 365) * 86400;

	if (random_below(r, 2))
		(void)clock_parse_date(str_of(changes[random_below(r, COUNT(changes))]), &t);
	return t - 86400;
}

RIG void compare_with_model(
	struct off_peak_model *m, const struct subscription_plan *p, struct random *r)
{
	for (int k = 0; k < MODEL_ASKS; k++) {
		int i = (int)random_below(r, 2 * 1440 - 1);
		int64_t t = m->start + i * 60 + random_below(r, 60);

		if (quota_off_peak(p, t) != m->on[i] ||
			quota_off_peak_next(p, t, false) != model_next(m, i, true) ||
			quota_off_peak_next(p, t, true) != model_next(m, i, false))
			fail_msg("%s %s %s at %s: %d, then %s, %s; model: %d, then %s, %s",
				p->windows[0].tz, p->windows[0].hours, p->windows[0].days,
				text_of(t), quota_off_peak(p, t),
				text_of(quota_off_peak_next(p, t, false)),
				text_of(quota_off_peak_next(p, t, true)), m->on[i],
				text_of(model_next(m, i, true)), text_of(model_next(m, i, false)));
	}
}

RIG void compare_schedules(unsigned n, uint64_t seed)
{
	static const char *const zones[] = {"America/Los_Angeles", "Europe/Berlin",
		"Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo", "Asia/Kathmandu",
		"Antarctica/Troll", "Pacific/Auckland", "Africa/Casablanca", "Etc/UTC",
		"America/St_Johns", "Asia/Beirut"};
	static struct off_peak_model m;
	struct random r = {seed};

	for (unsigned i = 0; i < n; i++) {
		struct off_peak_window w[MODEL_WINDOWS];
		struct subscription_plan p = plan_p();

		m = (struct off_peak_model){.start = random_start(&r)};
		p.windows = w;
		p.n_windows = 1 + random_below(&r, MODEL_WINDOWS);
		for (size_t k = 0; k < p.n_windows; k++) {
			unsigned from = random_below(&r, 24), to = random_below(&r, 25), days;

			if (to == from)
				to = from + 1;
			w[k].tz = zones[random_below(&r, COUNT(zones))];
			w[k].hours = arena_printf(&arena, "%u-%02u", from, to);
			w[k].days = random_days(&r, &days);
			model_add(&m, w[k].tz, from, to, days);
		}
		compare_with_model(&m, &p, &r);
		arena_release(&arena);
	}
}

#endif
