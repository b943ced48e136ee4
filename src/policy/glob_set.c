#include <ctype.h>
#include "src/policy/glob_match.h"

static const struct {
	const char *name;
	int (*has)(int c);
} classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
	{"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
	{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};

static void add(uint64_t set[4], unsigned c)
{
	set[c / 64] |= (uint64_t)1 << (c % 64);
}

static int is_word(int c)
{
	return c < 128 && (isalnum(c) || c == '_');
}

static int is_ascii(int c)
{
	return c < 128;
}

/* False: there is no such class. */
static bool add_class(uint64_t set[4], struct str name)
{
	int (*has)(int) = str_is(name, "word") ? is_word : str_is(name, "ascii") ? is_ascii : NULL;

	for (size_t i = 0; i < COUNT(classes); i++)
		if (str_is(name, classes[i].name))
			has = classes[i].has;
	for (unsigned c = 1; has && c < 128; c++)
		if (has((int)c))
			add(set, c);
	return has;
}

/* `[:name:]` at text[at]: where it ends. *odd when it has no end, and for `[=c=]` and `[.c.]`. */
static size_t add_inner(uint64_t set[4], struct str text, size_t at, bool *odd)
{
	struct str rest = str_sub(text, at + 2, text.n);
	size_t n = str_find(rest, STR(":]"));

	if (text.p[at + 1] != ':' || n == rest.n || !add_class(set, str_sub(rest, 0, n)))
		*odd = true;
	return n == rest.n ? text.n : at + 2 + n + 2;
}

static bool begins_inner(struct str text, size_t at)
{
	return text.p[at] == '[' && at + 1 < text.n && strchr(":=.", text.p[at + 1]);
}

static unsigned one_char(struct str text, size_t *at)
{
	if (text.p[*at] == '\\' && *at + 1 < text.n)
		++*at;
	return (unsigned char)text.p[(*at)++];
}

/* A character, or a range of them. */
static size_t add_range(uint64_t set[4], struct str text, size_t at, bool *odd)
{
	unsigned from = one_char(text, &at), to = from;

	if (at + 1 < text.n && text.p[at] == '-' && text.p[at + 1] != ']') {
		at++;
		*odd = *odd || begins_inner(text, at);
		to = one_char(text, &at);
	}
	for (unsigned c = from; c <= to; c++)
		add(set, c);
	return at;
}

size_t glob_set(struct str text, uint64_t set[4], bool *odd)
{
	uint64_t found[4] = {0};
	bool other = text.n && (text.p[0] == '!' || text.p[0] == '^'), strange = false;
	size_t first = other, at = first;

	while (at < text.n && (text.p[at] != ']' || at == first))
		at = begins_inner(text, at) ? add_inner(found, text, at, &strange)
					    : add_range(found, text, at, &strange);
	*odd = *odd || strange;
	if (at >= text.n)
		return 0;
	for (size_t i = 0; i < 4; i++)
		set[i] = other ? ~found[i] : found[i];
	return at + 1;
}
