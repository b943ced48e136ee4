/*
 * limit.c: when a usage limit is reset, from the sentence that reports it. The vendors' programs
 * have no field for it. The forms are those of docs/harness.md; what is none of them is unknown.
 */
#include <ctype.h>
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

/* ---- how long: `3 hours 12 minutes`, `18h22m58s`, `34.07s`, `1.5 days`, `120` (seconds) ---- */

enum { SECOND_MS = 1000, MINUTE_MS = 60000, HOUR_MS = 3600000, DAY_MS = 86400000 };
#define WEEK_MS         INT64_C(604800000)
#define LONGEST_WAIT_MS (5000 * WEEK_MS)

/* The word that follows a number, which it takes; 0: it is no unit that is known. */
static int64_t unit_of(struct str *s)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"ms", 1}, {"milliseconds", 1}, {"millisecond", 1}, {"s", SECOND_MS},
		{"seconds", SECOND_MS}, {"second", SECOND_MS}, {"secs", SECOND_MS},
		{"sec", SECOND_MS}, {"m", MINUTE_MS}, {"minutes", MINUTE_MS}, {"minute", MINUTE_MS},
		{"mins", MINUTE_MS}, {"min", MINUTE_MS}, {"h", HOUR_MS}, {"hours", HOUR_MS},
		{"hour", HOUR_MS}, {"hrs", HOUR_MS}, {"hr", HOUR_MS}, {"d", DAY_MS},
		{"days", DAY_MS}, {"day", DAY_MS}, {"w", WEEK_MS}, {"weeks", WEEK_MS},
		{"week", WEEK_MS}, {"wks", WEEK_MS}, {"wk", WEEK_MS}};
	size_t n = 0;

	while (n < s->n && isalpha((unsigned char)s->p[n]))
		n++;
	for (size_t i = 0; i < COUNT(units); i++)
		if (strlen(units[i].name) == n && skip_word(s, units[i].name))
			return units[i].ms;
	return 0;
}

/* Rounded up to a whole second; 0: it is no duration. A number alone is seconds; behind a unit that
 * is not known nothing counts, and without one before it there is no duration. */
static int64_t limit_read_duration(struct str s)
{
	int64_t sum = 0, unit;
	uint64_t n, digits;
	struct str fraction;

	for (bool first = true; sum < LONGEST_WAIT_MS; first = false) {
		limit_skip_blanks(&s);
		if (!first && skip_word(&s, "and "))
			limit_skip_blanks(&s);
		if (!limit_skip_number(&s, 1000000, &n))
			break;
		fraction = str_starts(s, ".") ? str_sub(s, 1, s.n) : (struct str){0};
		fraction = str_sub(fraction, 0, number_digits(fraction, &digits));
		s = str_sub(s, fraction.n ? fraction.n + 1 : 0, s.n);
		limit_skip_blanks(&s);
		unit = first && !(s.n && isalpha((unsigned char)s.p[0])) ? SECOND_MS : unit_of(&s);
		if (!unit)
			break;
		sum += (int64_t)n * unit;
		for (size_t i = 0; i < fraction.n; i++)
			sum += (fraction.p[i] - '0') * (unit /= 10);
	}
	return sum < LONGEST_WAIT_MS ? (sum + SECOND_MS - 1) / SECOND_MS : 0;
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

/*
 * The sentence may be read shortly after its time. To take that for tomorrow or for next year would
 * be a long wait for nothing, so the time that is meant is the first one after now - `past`.
 */
enum { TIME_PAST_S = 2 * 3600, DATE_PAST_S = 183 * 86400, DAY_S = 86400, YEAR_S = 365 * 86400 };

static int64_t time_meant(struct str s, time_t now)
{
	struct tm tm, local;
	bool year = false, dated;
	time_t t, earliest;
	int step;

	(void)localtime_r(&now, &local);
	tm = local;
	dated = limit_read_date(&s, &tm, &year);
	if (!read_hour(&s, &tm))
		return 0;
	local = tm;
	t = mktime(&tm);
	earliest = now - (dated ? DATE_PAST_S : TIME_PAST_S);
	step = (t <= earliest) - (t > earliest + (dated ? YEAR_S : DAY_S));
	if (!step || year)
		return t;
	local.tm_mday += dated ? 0 : step;
	local.tm_year += dated ? step : 0;
	return mktime(&local);
}

static int64_t limit_read_time(struct str s, int64_t now)
{
	CLEANUP(zone_leave) struct zone zone = {0};

	enter_zone(&zone, str_sub(s, str_find(s, STR("(")), s.n));
	limit_skip_blanks(&s);
	tzset();
	return time_meant(s, (time_t)now);
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
