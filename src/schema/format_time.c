#include "src/schema/format_internal.h"

/* Text that is read from its front. */
static bool take(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

static bool digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* Exactly `n` digits, min..max. */
static bool number(struct str *s, size_t n, int64_t min, int64_t max, int64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (!digit(*s, i))
			return false;
		*out = *out * 10 + (s->p[i] - '0');
	}
	*s = str_sub(*s, n, s->n);
	return *out >= min && *out <= max;
}

static bool leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Years begin in March here, so that the odd day is the last of one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = year + 400 - (month < 3),
		in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468 - 146097;
}

static bool take_date(struct str *s, int64_t *days)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t year, month, day;

	if (!number(s, 4, 0, 9999, &year) || !take(s, '-') || !number(s, 2, 1, 12, &month) ||
		!take(s, '-') || !number(s, 2, 1, 31, &day))
		return false;
	if (day > lengths[month - 1] + (month == 2 && leap(year)))
		return false;
	*days = days_of(year, month, day);
	return true;
}

static bool take_fraction(struct str *s)
{
	size_t n = 1;

	if (!s->n || s->p[0] != '.')
		return true;
	while (digit(*s, n))
		n++;
	*s = str_sub(*s, n, s->n);
	return n > 1;
}

/* Seconds that the clock of the text is ahead of UTC. */
static bool take_offset(struct str *s, int64_t *ahead)
{
	int64_t hours, minutes;
	bool minus;

	*ahead = 0;
	if (take(s, 'Z') || take(s, 'z'))
		return true;
	minus = take(s, '-');
	if (!minus && !take(s, '+'))
		return false;
	if (!number(s, 2, 0, 23, &hours) || !take(s, ':') || !number(s, 2, 0, 59, &minutes))
		return false;
	*ahead = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
	return true;
}

/* Leap seconds come at the end of a day of UTC alone. */
static bool take_time(struct str *s, int64_t days, int64_t *t)
{
	int64_t hour, minute, second, ahead;

	if (!number(s, 2, 0, 23, &hour) || !take(s, ':') || !number(s, 2, 0, 59, &minute) ||
		!take(s, ':') || !number(s, 2, 0, 60, &second) || !take_fraction(s) ||
		!take_offset(s, &ahead))
		return false;
	*t = days * 86400 + hour * 3600 + minute * 60 + second - ahead;
	return second < 60 || ((*t % 86400) + 86400) % 86400 == 0;
}

bool time_parse(struct str text, int64_t *t)
{
	int64_t days;

	return take_date(&text, &days) && (take(&text, 'T') || take(&text, 't')) &&
	       take_time(&text, days, t) && !text.n;
}

bool format_date_time(struct str text)
{
	int64_t t;

	return time_parse(text, &t);
}

bool format_date(struct str text)
{
	int64_t days;

	return take_date(&text, &days) && !text.n;
}

/* Numbers, each with its unit: of `letters` some that follow one another. True: there was one. */
static bool take_units(struct str *s, const char *letters)
{
	const char *from = letters;

	while (s->n) {
		size_t n = 0;
		const char *at;

		while (digit(*s, n))
			n++;
		at = n && n < s->n && s->p[n] ? strchr(letters, s->p[n]) : NULL;
		if (!at || (letters != from && at != letters))
			break;
		letters = at + 1;
		*s = str_sub(*s, n + 1, s->n);
	}
	return letters != from;
}

/* As RFC 3339 has it: P1Y2M3DT4H5M6S with no unit left out between two, or P7W. */
bool format_duration(struct str text)
{
	bool any;

	if (!take(&text, 'P'))
		return false;
	if (str_ends(text, "W"))
		return take_units(&text, "W") && !text.n;
	any = take_units(&text, "YMD");
	if (take(&text, 'T'))
		return take_units(&text, "HMS") && !text.n;
	return any && !text.n;
}
