#include <errno.h>
#include <time.h>
#include "src/base/clock.h"
#include "src/base/number.h"

enum { CLOCK_LENGTH = 20 }; /* of what clock_text() writes */

static int64_t fixed_at = -1;

void clock_fix(int64_t t)
{
	fixed_at = t;
}

/* ---- the calendar ---- */

/*
 * Days since 1970-01-01 of the Gregorian calendar and back, for the years 0 to 9999. The C library
 * reads the time zone's file even for UTC and is many times slower. Years begin in March here, so
 * that the leap day is the last day of a year.
 */
static int64_t clock_days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = year + 400 - (month < 3),
		in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468 - 146097;
}

struct date {
	int64_t year, month, day;
};

static struct date date_of(int64_t days)
{
	int64_t z = days + 719468, era = z / 146097, d = z % 146097;
	int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
	int64_t in_year = d - (365 * y + y / 4 - y / 100), m = (5 * in_year + 2) / 153;
	int64_t month = m < 10 ? m + 3 : m - 9;

	return (struct date){era * 400 + y + (month < 3), month, in_year - (153 * m + 2) / 5 + 1};
}

/* ---- times that are read ---- */

static bool skip_char(struct str *s, const char *either)
{
	if (!s->n || !s->p[0] || !strchr(either, s->p[0]))
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

/* Exactly `n` digits, min..max. */
static bool clock_skip_number(struct str *s, size_t n, uint64_t min, uint64_t max, int64_t *out)
{
	uint64_t value;

	if (s->n < n || !number_parse(str_sub(*s, 0, n), min, max, &value))
		return false;
	*out = (int64_t)value;
	*s = str_sub(*s, n, s->n);
	return true;
}

static bool skip_date(struct str *s, int64_t *days)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t year, month, day;
	bool leap;

	if (!clock_skip_number(s, 4, 0, 9999, &year) || !skip_char(s, "-") ||
		!clock_skip_number(s, 2, 1, 12, &month) || !skip_char(s, "-") ||
		!clock_skip_number(s, 2, 1, 31, &day))
		return false;
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	*days = clock_days_of(year, month, day);
	return day <= lengths[month - 1] + (month == 2 && leap);
}

static bool skip_fraction(struct str *s)
{
	uint64_t ignored;
	size_t n;

	if (!skip_char(s, "."))
		return true;
	n = number_digits(*s, &ignored);
	*s = str_sub(*s, n, s->n);
	return n > 0;
}

/* Seconds that the clock of the text is offset of UTC. */
static bool skip_offset(struct str *s, int64_t *offset)
{
	int64_t hours, minutes;
	bool minus;

	*offset = 0;
	if (skip_char(s, "Zz"))
		return true;
	minus = s->n && s->p[0] == '-';
	if (!skip_char(s, "+-") || !clock_skip_number(s, 2, 0, 23, &hours) || !skip_char(s, ":") ||
		!clock_skip_number(s, 2, 0, 59, &minutes))
		return false;
	*offset = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
	return true;
}

bool clock_parse_date(struct str text, int64_t *t)
{
	int64_t days;

	if (!skip_date(&text, &days) || text.n)
		return false;
	*t = days * 86400;
	return true;
}

/* A leap second is the last one of a UTC day. */
bool clock_parse_rfc3339(struct str text, int64_t *t)
{
	int64_t days, hour, minute, second, offset;

	if (!skip_date(&text, &days) || !skip_char(&text, "Tt") ||
		!clock_skip_number(&text, 2, 0, 23, &hour) || !skip_char(&text, ":") ||
		!clock_skip_number(&text, 2, 0, 59, &minute) || !skip_char(&text, ":") ||
		!clock_skip_number(&text, 2, 0, 60, &second) || !skip_fraction(&text) ||
		!skip_offset(&text, &offset) || text.n)
		return false;
	*t = days * 86400 + hour * 3600 + minute * 60 + second - offset;
	return second < 60 || ((*t % 86400) + 86400) % 86400 == 0;
}

int clock_parse(const char *text, int64_t *t)
{
	bool form = strlen(text) == CLOCK_LENGTH && text[10] == 'T' &&
		    text[CLOCK_LENGTH - 1] == 'Z' && strncmp(text, "0000", 4) != 0;

	return form && clock_parse_rfc3339(str_of(text), t) ? 0 : -1;
}

/* ---- the time of day ---- */

/* -1: it runs. */
static int64_t fixed_time(void)
{
	const char *fixed = getenv("DEV_TEAM_NOW");
	int64_t t;

	return fixed_at < 0 && fixed && clock_parse(fixed, &t) == 0 ? t : fixed_at;
}

int64_t clock_now_ms(void)
{
	int64_t fixed = fixed_time();
	struct timespec ts;

	if (fixed >= 0)
		return fixed * 1000;
	if (clock_gettime(CLOCK_REALTIME, &ts) < 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_now(void)
{
	return clock_now_ms() / 1000;
}

/* `digits` of the number, then the separator. */
static char *print_number(char *out, size_t digits, int64_t n, const char *separator)
{
	for (size_t i = digits; i; n /= 10)
		out[--i] = (char)('0' + n % 10);
	return stpcpy(out + digits, separator);
}

/* `dash` separates the parts of the date, `colon` those of the time. */
static void clock_print(int64_t t, const char *dash, const char *colon, char out[CLOCK_TEXT])
{
	static const int64_t last = 253402300799; /* 9999-12-31T23:59:59Z */
	int64_t of_day;
	struct date d;

	t = t < 0 ? 0 : t > last ? last : t;
	of_day = t % 86400;
	d = date_of(t / 86400);
	out = print_number(out, 4, d.year, dash);
	out = print_number(out, 2, d.month, dash);
	out = print_number(out, 2, d.day, "T");
	out = print_number(out, 2, of_day / 3600, colon);
	out = print_number(out, 2, of_day / 60 % 60, colon);
	(void)print_number(out, 2, of_day % 60, "Z");
}

void clock_text(int64_t t, char out[CLOCK_TEXT])
{
	clock_print(t, "-", ":", out);
}

void clock_stamp(int64_t t, char out[CLOCK_TEXT])
{
	clock_print(t, "", "", out);
}

void clock_name(int64_t ms, char out[CLOCK_TEXT])
{
	clock_print(ms / 1000, "-", "-", out);
	out[19] = '-';
	(void)print_number(out + 20, 3, ms % 1000, "");
}

int64_t clock_ticks(void)
{
	struct timespec ts = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool clock_move(int64_t t)
{
	char text[CLOCK_TEXT];

	if (fixed_time() < 0)
		return false;
	clock_text(t, text);
	fixed_at = t;
	(void)setenv("DEV_TEAM_NOW", text, 1);
	return true;
}

void clock_pause(unsigned ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	if (fixed_time() >= 0)
		return;
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}
