/*
 * limit.c: when a usage limit is reset, from the sentence that reports it. The vendors' programs
 * have no field for it. The forms are those of docs/harness.md; what is none of them is unknown.
 */
#include <time.h>
#include "src/base/number.h"
#include "src/base/zone.h"
#include "src/harness/harness.h"

static void limit_skip_blanks(struct str *s)
{
	while (s->n && strchr(" ,", s->p[0]))
		*s = str_sub(*s, 1, s->n);
}

static bool skip_word(struct str *s, const char *word)
{
	size_t n = strlen(word);

	if (s->n < n || strncasecmp(s->p, word, n) != 0)
		return false;
	*s = str_sub(*s, n, s->n);
	return true;
}

static bool limit_skip_number(struct str *s, uint64_t max, uint64_t *out)
{
	size_t n = number_digits(*s, out);

	if (!n || *out > max)
		return false;
	*s = str_sub(*s, n, s->n);
	return true;
}

/* The text behind the first of these words, in any case. */
static bool behind(struct str text, const char *words, struct str *rest)
{
	for (*rest = text; rest->n; *rest = str_sub(*rest, 1, rest->n))
		if (skip_word(rest, words))
			return true;
	return false;
}

/* ---- how long: `3 hours 12 minutes`, `18h22m58s`, `34.07s`, `120` (seconds) ---- */

static int64_t unit_of(struct str *s)
{
	static const struct {
		const char *name;
		int64_t s;
	} units[] = {{"milliseconds", 0}, {"ms", 0}, {"seconds", 1}, {"second", 1}, {"secs", 1},
		{"sec", 1}, {"s", 1}, {"minutes", 60}, {"minute", 60}, {"mins", 60}, {"min", 60},
		{"m", 60}, {"hours", 3600}, {"hour", 3600}, {"hrs", 3600}, {"hr", 3600},
		{"h", 3600}, {"days", 86400}, {"day", 86400}, {"d", 86400}};

	for (size_t i = 0; i < COUNT(units); i++)
		if (skip_word(s, units[i].name))
			return units[i].s;
	return -1;
}

/* Rounded up to a whole second; 0: it is no duration. */
static int64_t limit_read_duration(struct str s)
{
	int64_t sum = 0, unit;
	uint64_t n, fraction;

	for (bool first = true;; first = false) {
		limit_skip_blanks(&s);
		if (!first && skip_word(&s, "and "))
			limit_skip_blanks(&s);
		if (!limit_skip_number(&s, 1000000, &n))
			return sum;
		if (skip_word(&s, ".") && limit_skip_number(&s, UINT64_MAX, &fraction))
			sum++;
		limit_skip_blanks(&s);
		unit = unit_of(&s);
		if (unit < 0)
			return first ? (int64_t)n : sum;
		sum += unit ? (int64_t)n * unit : 1;
	}
}

/* ---- when: `3pm (Europe/Berlin)`, `3:45 PM`, `Nov 28, 3pm`, `Nov 28th, 2026 3:45 PM` ---- */

static bool limit_read_date(struct str *s, struct tm *tm, bool *year)
{
	static const char *const months[] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	static const char *const endings[] = {"st", "nd", "rd", "th"};
	uint64_t n;
	int month = 0;

	while (month < (int)COUNT(months) && !skip_word(s, months[month]))
		month++;
	if (month == (int)COUNT(months))
		return false;
	while (s->n && s->p[0] != ' ')
		*s = str_sub(*s, 1, s->n);
	limit_skip_blanks(s);
	if (!limit_skip_number(s, 31, &n))
		return false;
	tm->tm_mon = month;
	tm->tm_mday = (int)n;
	for (size_t i = 0; i < COUNT(endings) && !skip_word(s, endings[i]); i++)
		;
	limit_skip_blanks(s);
	*year = number_digits(*s, &n) == 4 && limit_skip_number(s, 9999, &n);
	if (*year)
		tm->tm_year = (int)n - 1900;
	limit_skip_blanks(s);
	(void)skip_word(s, "at ");
	limit_skip_blanks(s);
	return true;
}

static bool read_hour(struct str *s, struct tm *tm)
{
	uint64_t hour, minute = 0;
	bool after, before;

	if (!limit_skip_number(s, 23, &hour) ||
		(skip_word(s, ":") && !limit_skip_number(s, 59, &minute)))
		return false;
	limit_skip_blanks(s);
	after = skip_word(s, "pm");
	before = !after && skip_word(s, "am");
	if ((after || before) && (hour < 1 || hour > 12))
		return false;
	tm->tm_hour = (int)(after || before ? hour % 12 + (after ? 12 : 0) : hour);
	tm->tm_min = (int)minute;
	tm->tm_sec = 0;
	tm->tm_isdst = -1;
	return true;
}

/* `(Europe/Berlin)`. Without a zone that this host knows, the clock of the text is the host's. */
static void enter_zone(struct zone *z, struct str s)
{
	char name[80];

	if (!skip_word(&s, "("))
		return;
	s = str_sub(s, 0, str_find(s, STR(")")));
	(void)snprintf(name, sizeof(name), "%.*s", (int)s.n, s.p);
	(void)zone_enter(z, name);
}

/* The next such time. */
static int64_t next_time(struct str s, time_t now)
{
	struct tm tm, local;
	bool year = false, dated;
	time_t t;

	(void)localtime_r(&now, &local);
	tm = local;
	dated = limit_read_date(&s, &tm, &year);
	if (!read_hour(&s, &tm))
		return 0;
	local = tm;
	t = mktime(&tm);
	if (t > now || year)
		return t;
	local.tm_mday += !dated;
	local.tm_year += dated;
	return mktime(&local);
}

static int64_t limit_read_time(struct str s, int64_t now)
{
	CLEANUP(zone_leave) struct zone zone = {0};

	enter_zone(&zone, str_sub(s, str_find(s, STR("(")), s.n));
	limit_skip_blanks(&s);
	tzset();
	return next_time(s, (time_t)now);
}

/* ---- the forms ---- */

int64_t harness_limit_reset(struct str text, int64_t now)
{
	static const char *const lasts[] = {"try again in ", "retry in ", "retry after ",
		"reset after ", "resets in ", "\"retryDelay\":\"", "\"retryDelay\": \"",
		"\\\"retryDelay\\\":\\\"", "\\\"retryDelay\\\": \\\""};
	static const char *const times[] = {"try again at ", "resets at ", "reset at ", "resets "};
	struct str rest;
	uint64_t epoch;

	if (behind(text, "limit reached|", &rest) &&
		limit_skip_number(&rest, 99999999999ull, &epoch))
		return (int64_t)epoch;
	for (size_t i = 0; i < COUNT(lasts); i++) {
		int64_t s = behind(text, lasts[i], &rest) ? limit_read_duration(rest) : 0;

		if (s)
			return now + s;
	}
	for (size_t i = 0; i < COUNT(times); i++) {
		int64_t t = behind(text, times[i], &rest) ? limit_read_time(rest, now) : 0;

		if (t > 0)
			return t;
	}
	return 0;
}
