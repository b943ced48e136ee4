#include <time.h>
#include "src/base/clock.h"

static int64_t fixed_at = -1;

void clock_fix(int64_t t)
{
	fixed_at = t;
}

int clock_parse(const char *text, int64_t *t)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (!end || *end)
		return -1;
	*t = (int64_t)timegm(&tm);
	return 0;
}

int64_t clock_now(void)
{
	const char *fixed = getenv("DEV_TEAM_NOW");
	struct timespec ts;
	int64_t t;

	if (fixed_at >= 0)
		return fixed_at;
	if (fixed && clock_parse(fixed, &t) == 0)
		return t;
	if (clock_gettime(CLOCK_REALTIME, &ts) < 0)
		return 0;
	return (int64_t)ts.tv_sec;
}

static struct tm broken_down(int64_t t)
{
	time_t when = (time_t)t;
	struct tm tm = {0};

	gmtime_r(&when, &tm);
	return tm;
}

void clock_text(int64_t t, char out[CLOCK_TEXT])
{
	struct tm tm = broken_down(t);

	if (!strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm))
		out[0] = '\0';
}

void clock_stamp(int64_t t, char out[CLOCK_TEXT])
{
	struct tm tm = broken_down(t);

	if (!strftime(out, CLOCK_TEXT, "%Y%m%dT%H%M%SZ", &tm))
		out[0] = '\0';
}

int64_t clock_ticks(void)
{
	struct timespec ts = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
