#include "src/schema/format.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool skip_char(struct str *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

static bool digit_at(struct str s, size_t i)
{
	return i < s.n && digit(s.p[i]);
}

/* Exactly `n` digits, min..max. */
static bool number(struct str *s, size_t n, int64_t min, int64_t max, int64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (!digit_at(*s, i))
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

/* Days since 1970. Years begin in March here, so that the leap day is the last of one. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = year + 400 - (month < 3),
		in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;

	return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468 - 146097;
}

static bool read_date(struct str *s, int64_t *days)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t year, month, day;

	if (!number(s, 4, 0, 9999, &year) || !skip_char(s, '-') || !number(s, 2, 1, 12, &month) ||
		!skip_char(s, '-') || !number(s, 2, 1, 31, &day))
		return false;
	if (day > lengths[month - 1] + (month == 2 && leap(year)))
		return false;
	*days = days_of(year, month, day);
	return true;
}

static bool skip_fraction(struct str *s)
{
	size_t n = 1;

	if (!s->n || s->p[0] != '.')
		return true;
	while (digit_at(*s, n))
		n++;
	*s = str_sub(*s, n, s->n);
	return n > 1;
}

/* Seconds that the clock of the text is offset of UTC. */
static bool read_offset(struct str *s, int64_t *offset)
{
	int64_t hours, minutes;
	bool minus;

	*offset = 0;
	if (skip_char(s, 'Z') || skip_char(s, 'z'))
		return true;
	minus = skip_char(s, '-');
	if (!minus && !skip_char(s, '+'))
		return false;
	if (!number(s, 2, 0, 23, &hours) || !skip_char(s, ':') || !number(s, 2, 0, 59, &minutes))
		return false;
	*offset = (hours * 3600 + minutes * 60) * (minus ? -1 : 1);
	return true;
}

/* A leap second is the last one of a UTC day. */
static bool read_time(struct str *s, int64_t days, int64_t *t)
{
	int64_t hour, minute, second, offset;

	if (!number(s, 2, 0, 23, &hour) || !skip_char(s, ':') || !number(s, 2, 0, 59, &minute) ||
		!skip_char(s, ':') || !number(s, 2, 0, 60, &second) || !skip_fraction(s) ||
		!read_offset(s, &offset))
		return false;
	*t = days * 86400 + hour * 3600 + minute * 60 + second - offset;
	return second < 60 || ((*t % 86400) + 86400) % 86400 == 0;
}

bool format_time_parse(struct str text, int64_t *t)
{
	int64_t days;

	return read_date(&text, &days) && (skip_char(&text, 'T') || skip_char(&text, 't')) &&
	       read_time(&text, days, t) && !text.n;
}

static bool format_date_time(struct str text)
{
	int64_t t;

	return format_time_parse(text, &t);
}

static bool format_date(struct str text)
{
	int64_t days;

	return read_date(&text, &days) && !text.n;
}

/* Numbers, each with its unit, in the order of `letters` without gaps. True: there was one. */
static bool skip_units(struct str *s, const char *letters)
{
	const char *from = letters;

	while (s->n) {
		size_t n = 0;
		const char *at;

		while (digit_at(*s, n))
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
static bool format_duration(struct str text)
{
	bool any;

	if (!skip_char(&text, 'P'))
		return false;
	if (str_ends(text, "W"))
		return skip_units(&text, "W") && !text.n;
	any = skip_units(&text, "YMD");
	if (skip_char(&text, 'T'))
		return skip_units(&text, "HMS") && !text.n;
	return any && !text.n;
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool hex(char c)
{
	return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Unreserved, sub-delims, escapes of a percent sign, and what `more` has. */
static bool all_of(struct str s, const char *more)
{
	static const char always[] = "-._~!$&'()*+,;=";

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%' && i + 2 < s.n && hex(s.p[i + 1]) && hex(s.p[i + 2]))
			i += 2;
		else if (!letter(c) && !digit(c) &&
			 (!c || (!strchr(always, c) && !strchr(more, c))))
			return false;
	}
	return true;
}

/* One to four hexadecimal digits. */
static bool group16(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!hex(s.p[i]))
			return false;
	return s.n >= 1 && s.n <= 4;
}

static bool byte10(struct str s)
{
	int n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!digit(s.p[i]))
			return false;
		n = n * 10 + (s.p[i] - '0');
		if (n > 255)
			return false;
	}
	return s.n >= 1 && s.n <= 3 && (s.n == 1 || s.p[0] != '0');
}

static bool ipv4(struct str s)
{
	for (int i = 0; i < 3; i++) {
		size_t dot = str_find(s, STR("."));

		if (dot == s.n || !byte10(str_sub(s, 0, dot)))
			return false;
		s = str_sub(s, dot + 1, s.n);
	}
	return byte10(s);
}

/* The number of 16-bit groups; -1: malformed. `last`: an IPv4 address may end it. */
static int groups(struct str s, bool last)
{
	int n = 0;

	while (s.n) {
		size_t colon = str_find(s, STR(":"));
		struct str part = str_sub(s, 0, colon);

		if (colon == s.n && last && ipv4(part))
			return n + 2;
		if (!group16(part) || colon + 1 == s.n)
			return -1;
		n++;
		s = colon < s.n ? str_sub(s, colon + 1, s.n) : (struct str){0};
	}
	return n;
}

static bool ipv6(struct str s)
{
	size_t gap = str_find(s, STR("::"));
	int front, back;

	if (gap == s.n)
		return groups(s, true) == 8;
	front = groups(str_sub(s, 0, gap), false);
	back = groups(str_sub(s, gap + 2, s.n), true);
	return front >= 0 && back >= 0 && front + back <= 7;
}

/* The text between `[` and `]`. */
static bool literal(struct str s)
{
	size_t dot;

	if (!s.n || (s.p[0] != 'v' && s.p[0] != 'V'))
		return ipv6(s);
	dot = str_find(s, STR("."));
	for (size_t i = 1; i < dot; i++)
		if (!hex(s.p[i]))
			return false;
	return dot > 1 && dot + 1 < s.n && !memchr(s.p, '%', s.n) &&
	       all_of(str_sub(s, dot + 1, s.n), ":");
}

static bool port(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!digit(s.p[i]))
			return false;
	return true;
}

/* [user@]host[:port] */
static bool authority(struct str s, bool host_needed)
{
	size_t at = str_find(s, STR("@")), end;

	if (at < s.n) {
		if (!all_of(str_sub(s, 0, at), ":"))
			return false;
		s = str_sub(s, at + 1, s.n);
	}
	if (s.n && s.p[0] == '[') {
		end = str_find(s, STR("]"));
		if (end == s.n || !literal(str_sub(s, 1, end)))
			return false;
		end++;
	} else {
		end = str_find(s, STR(":"));
		if (!all_of(str_sub(s, 0, end), "") || (host_needed && !end))
			return false;
	}
	return end == s.n || (s.p[end] == ':' && port(str_sub(s, end + 1, s.n)));
}

static bool scheme(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!letter(s.p[i]) && (!i || (!digit(s.p[i]) && !strchr("+-.", s.p[i]))))
			return false;
	return s.n > 0;
}

static bool is_web(struct str s)
{
	return (s.n == 4 && strncasecmp(s.p, "http", 4) == 0) ||
	       (s.n == 5 && strncasecmp(s.p, "https", 5) == 0);
}

static bool hierarchy(struct str s, bool web)
{
	struct str path = s;

	if (str_starts(s, "//")) {
		size_t end = 2;

		while (end < s.n && s.p[end] != '/')
			end++;
		if (!authority(str_sub(s, 2, end), web))
			return false;
		path = str_sub(s, end, s.n);
	} else if (web) {
		return false;
	}
	return all_of(path, ":@/");
}

static bool format_uri(struct str text)
{
	size_t hash = str_find(text, STR("#")), colon, ask;
	struct str rest;

	if (hash < text.n && !all_of(str_sub(text, hash + 1, text.n), ":@/?"))
		return false;
	text = str_sub(text, 0, hash);
	ask = str_find(text, STR("?"));
	if (ask < text.n && !all_of(str_sub(text, ask + 1, text.n), ":@/?"))
		return false;
	text = str_sub(text, 0, ask);
	colon = str_find(text, STR(":"));
	if (colon == text.n || !scheme(str_sub(text, 0, colon)))
		return false;
	rest = str_sub(text, colon + 1, text.n);
	return hierarchy(rest, is_web(str_sub(text, 0, colon)));
}

static const char *const names[] = {"date", "date-time", "duration", "uri", NULL};
static format_fn *const functions[] = {
	format_date, format_date_time, format_duration, format_uri, NULL};

const char *const *format_names(void)
{
	return names;
}

format_fn *format_named(const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return functions[i];
	return NULL;
}
