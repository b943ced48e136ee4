#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/schema/schema_internal.h"

static const struct {
	unsigned bit;
	const char *word, *shown;
} kinds[] = {
	{IS_NULL, "null", "null"},
	{IS_BOOL, "boolean", "true or false"},
	{IS_INTEGER, "integer", "a whole number"},
	{IS_NUMBER, "number", "a number"},
	{IS_TEXT, "string", "a string"},
	{IS_ARRAY, "array", "an array"},
	{IS_OBJECT, "object", "an object"},
};

unsigned schema_kind_find(const char *word)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i].word, word) == 0)
			return kinds[i].bit;
	return 0;
}

const char *schema_kind_display(unsigned bit)
{
	size_t i = 0;

	while (i + 1 < COUNT(kinds) && !(kinds[i].bit & bit))
		i++;
	return kinds[i].shown;
}

unsigned schema_kinds(const json *j)
{
	double n;

	if (json_is_object(j))
		return IS_OBJECT;
	if (json_is_array(j))
		return IS_ARRAY;
	if (json_is_string(j))
		return IS_TEXT;
	if (json_is_bool(j))
		return IS_BOOL;
	if (!json_is_number(j))
		return IS_NULL;
	n = json_number(j, 0.5);
	return n >= -(double)JSON_MAX_INT && n <= (double)JSON_MAX_INT && n == (double)(int64_t)n
		       ? IS_INTEGER | IS_NUMBER
		       : IS_NUMBER;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(json_key(*(const json *const *)a), json_key(*(const json *const *)b));
}

static void object_canonical(struct buf *out, const json *j)
{
	size_t n = json_len(j), i = 0;
	CLEANUP(base_free) const json **members = xmalloc((n + 1) * sizeof(const json *));

	for (const json *m = json_first(j); m; m = json_next(m))
		members[i++] = m;
	qsort(members, n, sizeof(const json *), by_key);
	buf_addc(out, '{');
	for (i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		json_print_text(out, str_of(json_key(members[i])));
		buf_addc(out, ':');
		schema_canonical(out, members[i]);
	}
	buf_addc(out, '}');
}

void schema_canonical(struct buf *out, const json *j)
{
	unsigned kind = schema_kinds(j);

	if (kind == IS_OBJECT) {
		object_canonical(out, j);
	} else if (kind == IS_ARRAY) {
		buf_addc(out, '[');
		for (const json *m = json_first(j); m; m = json_next(m)) {
			if (m != json_first(j))
				buf_addc(out, ',');
			schema_canonical(out, m);
		}
		buf_addc(out, ']');
	} else if (kind & IS_INTEGER) {
		buf_addf(out, "%lld", (long long)json_number(j, 0)); /* -0 is 0 */
	} else {
		json_print(out, j);
	}
}

char *schema_canonical_text(struct arena *a, const json *j)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	schema_canonical(&b, j);
	return arena_dup(a, buf_str(&b));
}

enum { DISPLAY_MAX = 60 };

/* In quotes, cut between characters. */
const char *schema_display_text(struct arena *a, const char *text)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	struct str whole, shown;

	json_print_text(&b, str_of(text));
	whole = str_sub(buf_str(&b), 1, b.len - 1);
	shown = str_cut(whole, DISPLAY_MAX);
	return arena_printf(a, "'%.*s%s'", (int)shown.n, shown.p, shown.n < whole.n ? "..." : "");
}

const char *schema_display(struct arena *a, const json *j)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	unsigned kind = schema_kinds(j);

	if (kind == IS_TEXT)
		return schema_display_text(a, json_text(j));
	if (kind == IS_OBJECT || kind == IS_ARRAY)
		return schema_kind_display(kind);
	schema_canonical(&b, j);
	return arena_dup(a, buf_str(&b));
}

/* ---- the keyword `format` ---- */

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

static bool format_date_time(struct str text)
{
	int64_t t;

	return clock_parse_rfc3339(text, &t);
}

static bool format_date(struct str text)
{
	int64_t t;

	return clock_parse_date(text, &t);
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

schema_format_fn *schema_format_find(const char *name)
{
	static const struct {
		const char *name;
		schema_format_fn *accepts;
	} formats[] = {{"date", format_date}, {"date-time", format_date_time},
		{"duration", format_duration}, {"uri", format_uri}};

	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return formats[i].accepts;
	return NULL;
}
