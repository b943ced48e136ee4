#include "src/config/models_form.h"
#include "src/base/clock.h"

enum { ALIAS_MAX = 64, MODEL_ID_MAX = 200, DAY_LEN = 10, SECOND_LEN = 19 };

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool made_of(struct str s, const char *also)
{
	for (size_t i = 0; i < s.n; i++)
		if (!letter(s.p[i]) && !digit(s.p[i]) && (!s.p[i] || !strchr(also, s.p[i])))
			return false;
	return true;
}

bool model_alias_form(struct str s)
{
	size_t open = str_find(s, STR("["));

	if (!s.n || s.n > ALIAS_MAX || !letter(s.p[0]) || !made_of(str_sub(s, 0, open), "._-"))
		return false;
	if (open == s.n)
		return true;
	return s.n - open > 2 && s.p[s.n - 1] == ']' &&
	       made_of(str_sub(s, open + 1, s.n - 1), "._-");
}

bool model_id_form(struct str s)
{
	return s.n && s.n <= MODEL_ID_MAX && (letter(s.p[0]) || digit(s.p[0])) &&
	       made_of(s, "._:/-[]");
}

/* As clock_parse() knows it: the day with its first second, or the second without its fraction. */
static bool whole(struct str s, char out[CLOCK_TEXT])
{
	struct str rest;
	size_t i = 1;

	if (s.n == DAY_LEN)
		return snprintf(out, CLOCK_TEXT, "%.10sT00:00:00Z", s.p) > 0;
	if (s.n <= SECOND_LEN)
		return false;
	rest = str_sub(s, SECOND_LEN, s.n);
	while (rest.p[0] == '.' && i < rest.n && digit(rest.p[i]))
		i++;
	if (i > 1)
		rest = str_sub(rest, i, rest.n);
	return str_is(rest, "Z") && snprintf(out, CLOCK_TEXT, "%.19sZ", s.p) > 0;
}

bool model_date(struct str s, int64_t *t)
{
	char text[CLOCK_TEXT], again[CLOCK_TEXT];

	if (utf8_fault(s) || !whole(s, text) || clock_parse(text, t) < 0 || *t <= 0)
		return false;
	clock_text(*t, again); /* the 31st of a month of 30 days would come back as another day */
	return strcmp(text, again) == 0;
}
