#include <sys/stat.h>
#include "src/config/rules.h"

#define ZONES "/usr/share/zoneinfo"

static unsigned number(const char *digits, size_t n)
{
	unsigned v = 0;

	for (size_t i = 0; i < n; i++)
		v = v * 10 + (unsigned)(digits[i] - '0');
	return v;
}

static bool is_day(const char *date)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	unsigned y = number(date, 4), m = number(date + 5, 2), d = number(date + 8, 2);
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return d <= days[m - 1] + (unsigned)(m == 2 && leap);
}

/* Where the host has no zones at all, nothing can be said. */
static bool zone_known(struct arena *a, const char *tz)
{
	struct stat st;

	if (stat(ZONES "/Etc/UTC", &st) < 0)
		return true;
	return stat(arena_printf(a, ZONES "/%s", tz), &st) == 0 && S_ISREG(st.st_mode);
}

void plan_rules(const struct rules *s, const struct resource_doc *doc)
{
	const struct subscription_plan *p = doc->of;

	if (p->verified && !is_day(p->verified))
		rule_fault(
			s, doc, "spec.offPeak.lastVerified", "there is no day '%s'", p->verified);
	for (size_t i = 0; i < p->n_windows; i++) {
		const struct off_peak_window *w = &p->windows[i];
		char *at = arena_printf(s->a, "spec.offPeak.schedule[%zu]", i);

		if (w->tz && !zone_known(s->a, w->tz))
			rule_fault(s, doc, arena_printf(s->a, "%s.tz", at),
				"unknown time zone '%s'", w->tz);
		if (w->hours &&
			strtoul(w->hours, NULL, 10) == strtoul(strchr(w->hours, '-') + 1, NULL, 10))
			rule_fault(s, doc, arena_printf(s->a, "%s.hours", at),
				"'%s' is no time at all", w->hours);
	}
}
