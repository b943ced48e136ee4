#include "src/base/number.h"
#include "src/config/decode.h"

static bool in(char c, unsigned set, const char *more)
{
	return ((set & CONFIG_LOWER) && c >= 'a' && c <= 'z') ||
	       ((set & CONFIG_UPPER) && c >= 'A' && c <= 'Z') ||
	       ((set & CONFIG_DIGIT) && c >= '0' && c <= '9') || (c && strchr(more, c));
}

bool config_made_of(
	struct str s, unsigned first, const char *first_more, unsigned rest, const char *rest_more)
{
	if (!s.n || !in(s.p[0], first, first_more))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!in(s.p[i], rest, rest_more))
			return false;
	return true;
}

static bool forms_is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return s.n > 0;
}

static bool is_lines(struct str s)
{
	return s.n > 0;
}

#define MADE_OF(name, ...)                                                                         \
	static bool is_##name(struct str s)                                                        \
	{                                                                                          \
		return config_made_of(s, __VA_ARGS__);                                             \
	}
MADE_OF(name, CONFIG_LOWER, "", CONFIG_LOWER | CONFIG_DIGIT, "-")
MADE_OF(id, CONFIG_ALNUM, "", CONFIG_ALNUM, "._-")
MADE_OF(env, CONFIG_LETTER, "_", CONFIG_ALNUM, "_")
MADE_OF(branch, CONFIG_ALNUM, "_", CONFIG_ALNUM, "._/#@+-")
MADE_OF(pattern, CONFIG_ALNUM, "_{", CONFIG_ALNUM, "._/#@+{}-")
MADE_OF(zone, CONFIG_LETTER, "", CONFIG_ALNUM, "_/+-")

/* `opus[1m]`: what is in the brackets is a part of the name. */
static bool is_model(struct str s)
{
	size_t open = str_find(s, STR("["));

	if (open < s.n) {
		struct str inner = str_sub(s, open + 1, s.n - 1);

		if (s.p[s.n - 1] != ']' ||
			(inner.n && !config_made_of(inner, CONFIG_ALNUM, "", CONFIG_ALNUM, "")))
			return false;
	}
	return config_made_of(str_sub(s, 0, open), CONFIG_ALNUM, "", CONFIG_ALNUM, "._:/-");
}

/* One or two digits up to `max`, cut off *s. */
static bool take_hour(struct str *s, uint64_t max)
{
	uint64_t hour;
	size_t digits = number_digits(*s, &hour);

	*s = str_sub(*s, digits, s->n);
	return digits && digits <= 2 && hour <= max;
}

static bool is_hours(struct str s)
{
	if (!take_hour(&s, 23) || !s.n || s.p[0] != '-')
		return false;
	s = str_sub(s, 1, s.n);
	return take_hour(&s, 24) && !s.n;
}

static bool is_days(struct str s)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", NULL};
	struct str day;

	if (!forms_is_text(s))
		return false;
	while (str_next_item(&s, &day))
		if (!str_in(day, days))
			return false;
	return true;
}

static bool forms_is_date(struct str s)
{
	uint64_t ignored;

	return s.n == 10 && s.p[4] == '-' && s.p[7] == '-' &&
	       number_parse(str_sub(s, 0, 4), 0, 9999, &ignored) &&
	       number_parse(str_sub(s, 5, 7), 1, 12, &ignored) &&
	       number_parse(str_sub(s, 8, 10), 1, 31, &ignored);
}

static bool is_root(struct str s)
{
	return forms_is_text(s) && (s.p[0] == '/' || str_is(s, "~") || str_starts(s, "~/"));
}

static bool forms_is_below(struct str s)
{
	return forms_is_text(s) && s.p[0] != '/';
}

/* ---- durations ---- */

enum { DIGITS_MAX = 9 }; /* so that no sum comes near the end of an int64_t */

/* Numbers with units, in the order of the units, each at most once; weeks stand alone. */
int config_parse_duration(struct str text, int64_t *seconds)
{
	static const struct {
		char letter;
		bool of_time; /* behind the `T` */
		int64_t seconds;
	} units[] = {{'W', false, 604800}, {'D', false, 86400}, {'H', true, 3600}, {'M', true, 60},
		{'S', true, 1}};
	bool time = false, any = false;
	int64_t sum = 0;
	size_t next = 0;

	if (!str_starts(text, "P"))
		return -1;
	for (size_t i = 1; i < text.n; i++) {
		uint64_t value;
		size_t digits = number_digits(str_sub(text, i, text.n), &value);

		if (text.p[i] == 'T' && !time) {
			time = true;
			any = false;
			continue;
		}
		i += digits;
		while (next < COUNT(units) && i < text.n &&
			(units[next].letter != text.p[i] || units[next].of_time != time))
			next++;
		if (i == text.n || next == COUNT(units) || !digits || digits > DIGITS_MAX)
			return -1;
		sum += (int64_t)value * units[next].seconds;
		next = units[next].letter == 'W' ? COUNT(units) : next + 1;
		any = true;
	}
	*seconds = any ? sum : *seconds;
	return any ? 0 : -1;
}

static bool is_duration(struct str s)
{
	int64_t seconds;

	return config_parse_duration(s, &seconds) == 0;
}

#define NO_CONTROL "[^\x01-\x1f\x7f]"
#define DAY        " *(Sun|Mon|Tue|Wed|Thu|Fri|Sat) *"
#define N          "[0-9]{1,9}"
#define SECONDS    N "S"
#define MINUTES    "(" N "M(" SECONDS ")?|" SECONDS ")"
#define TIME       "T(" N "H(" MINUTES ")?|" MINUTES ")"

#define FORM(name, is, most, text, ...)                                                            \
	const struct config_form config_##name = {                                                 \
		.valid = is, .max = most, .what = text, __VA_ARGS__}

FORM(line, forms_is_text, 4096, "a text of one line", .pattern = "^" NO_CONTROL "+$");
FORM(lines, is_lines, 65536, "a text that is not empty", .pattern = NULL);
FORM(name, is_name, 253, "a name: lower-case letters, digits and '-', a letter first",
	.pattern = "^[a-z][a-z0-9-]*$");
FORM(id, is_id, 100, "letters, digits, '.', '_' and '-', a letter or digit first",
	.pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$");
FORM(variable, is_env, 128, "the name of an environment variable",
	.pattern = "^[A-Za-z_][A-Za-z0-9_]*$", .secret = true);
FORM(branch, is_branch, 200, "the name of a git branch",
	.pattern = "^[A-Za-z0-9_][A-Za-z0-9._/#@+-]*$");
FORM(branch_pattern, is_pattern, 200, "the name of a git branch with {placeholders}",
	.pattern = "^[A-Za-z0-9_{][A-Za-z0-9._/#@+{}-]*$");
FORM(model, is_model, 200, "an alias or the id of a model",
	.pattern = "^[A-Za-z0-9][A-Za-z0-9._:/-]*(\\[[A-Za-z0-9]*\\])?$");
FORM(zone, is_zone, 100, "a time zone such as 'America/Los_Angeles'",
	.pattern = "^[A-Za-z][A-Za-z0-9_/+-]*$");
FORM(hours, is_hours, 5, "two hours such as '22-06'",
	.pattern = "^([01]?[0-9]|2[0-3])-([01]?[0-9]|2[0-4])$");
FORM(days, is_days, 100, "days such as 'Sat,Sun'", .pattern = "^" DAY "(," DAY ")*$");
FORM(date, forms_is_date, 10, "a date such as '2026-04-15'",
	.pattern = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$");
FORM(root, is_root, 4096, "an absolute path, or one that begins with '~/'",
	.pattern = "^(/" NO_CONTROL "*|~|~/" NO_CONTROL "*)$");
FORM(relative, forms_is_below, 4096, "a relative path",
	.pattern = "^[^/\x01-\x1f\x7f]" NO_CONTROL "*$");
FORM(duration, is_duration, 50, "a duration such as 'PT5H' or 'P14D'",
	.pattern = "^P(" N "W|" N "D(" TIME ")?|" TIME ")$");
