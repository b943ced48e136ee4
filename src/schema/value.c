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

static int value_by_key(const void *a, const void *b)
{
	return strcmp(json_key(*(const json *const *)a), json_key(*(const json *const *)b));
}

static void object_canonical(struct buf *out, const json *j)
{
	size_t n = json_len(j), i = 0;
	CLEANUP(base_free) const json **members = xmalloc((n + 1) * sizeof(const json *));

	for (const json *m = json_first(j); m; m = json_next(m))
		members[i++] = m;
	qsort(members, n, sizeof(const json *), value_by_key);
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

static bool is_date_time(struct str text)
{
	int64_t t;

	return clock_parse_rfc3339(text, &t);
}

static bool value_is_date(struct str text)
{
	int64_t t;

	return clock_parse_date(text, &t);
}

/* RFC 3339, appendix A: no unit is left out between two others. */
#define D        "[0-9]+"
#define DATE     "(?:" D "Y(?:" D "M(?:" D "D)?)?|" D "M(?:" D "D)?|" D "D)"
#define TIME     "T(?:" D "H(?:" D "M(?:" D "S)?)?|" D "M(?:" D "S)?|" D "S)"
#define DURATION "^P(?:" D "W|" DATE "(?:" TIME ")?|" TIME ")$"

/* RFC 3986, appendix A. */
#define UNRESERVED  "A-Za-z0-9._~!$&'()*+,;="
#define CHARS(more) "(?:[" UNRESERVED more "-]|%[0-9A-Fa-f]{2})"
#define BYTE        "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define H16         "[0-9A-Fa-f]{1,4}"
/* N groups; at most N + 1 before `::`; the last 32 bits. */
#define GROUPS(n) "(?:" H16 ":){" #n "}"
#define FRONT(n)  "(?:(?:" H16 ":){0," #n "}" H16 ")?::"
#define LAST      "(?:" H16 ":" H16 "|" BYTE "(?:\\." BYTE "){3})"
/* clang-format off */
#define IPV6 "(?:" GROUPS(6) LAST "|::" GROUPS(5) LAST \
	"|" FRONT(0) GROUPS(4) LAST "|" FRONT(1) GROUPS(3) LAST "|" FRONT(2) GROUPS(2) LAST \
	"|" FRONT(3) GROUPS(1) LAST "|" FRONT(4) LAST "|" FRONT(5) H16 "|" FRONT(6) ")"
#define HOST "(?:\\[(?:" IPV6 "|[vV][0-9A-Fa-f]+\\.[" UNRESERVED ":-]+)\\]|" CHARS("") "*)"
#define AUTHORITY "//(?:" CHARS(":") "*@)?" HOST "(?::[0-9]*)?"
#define PATH CHARS(":@/") "*"
#define TAIL CHARS(":@/?") "*"
#define URI "^[A-Za-z][A-Za-z0-9+.-]*:" \
	"(?:" AUTHORITY "(?:/" PATH ")?|/?" CHARS(":@") PATH "|/?)(?:\\?" TAIL ")?(?:#" TAIL ")?$"
/* clang-format on */

/* http and https need a host. */
static bool has_host(struct str uri)
{
	struct str scheme = str_sub(uri, 0, str_find(uri, STR(":")));
	const char *host, *at;

	if (scheme.n < 4 || scheme.n > 5 || strncasecmp(scheme.p, "https", scheme.n) != 0)
		return true;
	if (!str_starts(str_sub(uri, scheme.n, uri.n), "://"))
		return false;
	host = scheme.p + scheme.n + 3;
	at = host + strcspn(host, "/?#@");
	if (*at == '@')
		host = at + 1;
	return *host && !strchr(":/?#", *host);
}

const struct schema_format *schema_format_find(const char *name)
{
	static const struct schema_format formats[] = {{"date", value_is_date, NULL},
		{"date-time", is_date_time, NULL}, {"duration", NULL, DURATION},
		{"uri", has_host, URI}};

	for (size_t i = 0; i < COUNT(formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}
