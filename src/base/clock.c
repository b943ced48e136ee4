#include <time.h>
#include "src/base/clock.h"
#include "src/base/base.h"

static int64_t fixed_at = -1;

void clock_fix(int64_t t)
{
	fixed_at = t;
}

/*
 * Days since 1970-01-01 of the Gregorian calendar and back, for the years 0 to 9999. The C library
 * reads the time zone's file even for UTC and is many times slower. Years begin in March here, so
 * that the leap day is the last day of a year.
 */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = year - (month < 3), in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468;
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

/* Reads n digits at *p and advances it; -1 when they are not digits, or a number over `max`. */
static int64_t number(const char **p, int n, int64_t max)
{
	int64_t value = 0;

	for (; n; n--, ++*p) {
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + **p - '0';
	}
	return value <= max ? value : -1;
}

int clock_parse(const char *text, int64_t *t)
{
	static const struct {
		int digits, min, max;
		char end;
	} parts[] = {{4, 1, 9999, '-'}, {2, 1, 12, '-'}, {2, 1, 31, 'T'}, {2, 0, 23, ':'},
		{2, 0, 59, ':'}, {2, 0, 60, 'Z'}};
	int64_t v[COUNT(parts)];

	for (size_t i = 0; i < COUNT(parts); i++) {
		v[i] = number(&text, parts[i].digits, parts[i].max);
		if (v[i] < parts[i].min || *text++ != parts[i].end)
			return -1;
	}
	if (*text)
		return -1;
	*t = days_of(v[0], v[1], v[2]) * 86400 + v[3] * 3600 + v[4] * 60 + v[5];
	return 0;
}

int64_t clock_now(void)
{
	const char *fixed = getenv("DEV_TEAM_NOW");
	struct timespec ts;
	int64_t t;

	if (fixed_at >= 0)
		return fixed_at;
	if (fixed && clock_parse(fixed, &t) == 0 && t >= 0)
		return t;
	if (clock_gettime(CLOCK_REALTIME, &ts) < 0)
		return 0;
	return (int64_t)ts.tv_sec;
}

static char *put(char *p, int64_t value, int digits, char end)
{
	for (int i = digits; i--; value /= 10)
		p[i] = (char)('0' + value % 10);
	p += digits;
	if (end)
		*p++ = end;
	return p;
}

/* `dash` separates the parts of the date, `colon` those of the time; 0: nothing. */
static void print(int64_t t, char dash, char colon, char *p)
{
	static const int64_t last = 253402300799; /* 9999-12-31T23:59:59Z */
	int64_t of_day;
	struct date d;

	t = t < 0 ? 0 : t > last ? last : t;
	of_day = t % 86400;
	d = date_of(t / 86400);
	p = put(p, d.year, 4, dash);
	p = put(p, d.month, 2, dash);
	p = put(p, d.day, 2, 'T');
	p = put(p, of_day / 3600, 2, colon);
	p = put(p, of_day / 60 % 60, 2, colon);
	p = put(p, of_day % 60, 2, 'Z');
	*p = '\0';
}

void clock_text(int64_t t, char out[CLOCK_TEXT])
{
	print(t, '-', ':', out);
}

void clock_stamp(int64_t t, char out[CLOCK_TEXT])
{
	print(t, 0, 0, out);
}

int64_t clock_ticks(void)
{
	struct timespec ts = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
