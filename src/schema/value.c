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
