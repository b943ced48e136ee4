#include "src/harness/version.h"

enum { DIGITS_MAX = 18 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_number(struct str *rest, uint64_t *out)
{
	size_t n = 0;

	*out = 0;
	for (; n < rest->n && is_digit(rest->p[n]); n++) {
		if (n == DIGITS_MAX)
			return false;
		*out = *out * 10 + (uint64_t)(rest->p[n] - '0');
	}
	*rest = str_sub(*rest, n, rest->n);
	return n > 0;
}

/* X.Y.Z at the beginning, which is cut off *rest. */
static bool take_version(struct str *rest, struct version *out)
{
	for (int i = 0; i < 3; i++) {
		if (i && !(rest->n && *rest->p == '.'))
			return false;
		if (i)
			*rest = str_sub(*rest, 1, rest->n);
		if (!take_number(rest, &out->part[i]))
			return false;
	}
	return true;
}

bool version_parse(struct str text, struct version *out)
{
	return take_version(&text, out);
}

const char *version_find(struct arena *a, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		struct str rest = str_sub(text, i, text.n);
		struct version v;

		if (!is_digit(text.p[i]) || (i && is_digit(text.p[i - 1])))
			continue;
		if (take_version(&rest, &v))
			return arena_dup(a, str_sub(text, i, text.n - rest.n));
	}
	return NULL;
}

static int compare(const struct version *a, const struct version *b)
{
	for (int i = 0; i < 3; i++)
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	return 0;
}

static const struct {
	const char *sign;
	bool less, equal, greater;
} relations[] = {
	/* A longer sign before one that it begins with. */
	{">=", false, true, true},
	{"<=", true, true, false},
	{">", false, false, true},
	{"<", true, false, false},
	{"=", false, true, false},
};

/* One constraint. *holds for `v`; false: it is written in another way. */
static bool read_constraint(struct str text, const struct version *v, bool *holds)
{
	struct version bound;
	size_t i = 0;
	int order;

	while (i < COUNT(relations) && !str_starts(text, relations[i].sign))
		i++;
	if (i == COUNT(relations))
		return false;
	text = str_sub(text, strlen(relations[i].sign), text.n);
	if (!take_version(&text, &bound) || text.n)
		return false;
	order = compare(v, &bound);
	*holds = order < 0    ? relations[i].less
		 : order == 0 ? relations[i].equal
			      : relations[i].greater;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool next_word(struct str *rest, struct str *word)
{
	size_t from = 0, to;

	while (from < rest->n && is_blank(rest->p[from]))
		from++;
	for (to = from; to < rest->n && !is_blank(rest->p[to]); to++)
		;
	*word = str_sub(*rest, from, to);
	*rest = str_sub(*rest, to, rest->n);
	return word->n > 0;
}

bool version_in(struct str version, struct str range)
{
	struct version v;
	struct str word;
	bool holds;

	if (!version_parse(version, &v))
		return false;
	while (next_word(&range, &word))
		if (!read_constraint(word, &v, &holds) || !holds)
			return false;
	return true;
}

bool range_valid(struct str range)
{
	struct version any = {{0}};
	struct str word;
	bool holds;

	while (next_word(&range, &word))
		if (!read_constraint(word, &any, &holds))
			return false;
	return true;
}
