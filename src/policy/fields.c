#include <stdarg.h>
#include "src/policy/fields.h"

enum { SHOWN = 60, TEXT_MAX = 4096, LIST_MAX = 1000 };

static const uint64_t most_bytes = (uint64_t)1 << 50;

int field_fault(const struct fields *f, const struct yml *at, const char *fmt, ...)
{
	char text[sizeof(f->err->text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!f->file)
		return error_set(f->err, ERR_INPUT, "%s", text);
	return error_at(f->err, f->file, at->line, at->col, "%s", text);
}

static const char *shown(const struct fields *f, const struct yml *v)
{
	struct buf b = BUF_INIT;
	char *copy;

	if (v->kind != YML_SCALAR)
		return v->kind == YML_LIST ? "a list" : "a map";
	for (size_t i = 0; i < v->text.n && b.len < SHOWN; i++) {
		unsigned char c = (unsigned char)v->text.p[i];

		if (c < ' ' || c >= 0x7f)
			buf_addf(&b, "\\x%02x", c);
		else
			buf_addc(&b, (char)c);
	}
	copy = arena_printf(f->arena, "'%s%s'", b.s ? b.s : "", b.len >= SHOWN ? ".." : "");
	buf_release(&b);
	return copy;
}

static const struct field *field_named(const struct field *table, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(key, table[i].key))
			return &table[i];
	return NULL;
}

int fields_read(const struct fields *f, const struct yml *map, const char *what,
	const struct field *table, size_t n, void *into)
{
	if (map->kind != YML_MAP)
		return field_fault(f, map, "%s must be a map, not %s", what, shown(f, map));
	for (size_t i = 0; i < map->n; i++) {
		const struct yml_pair *pair = &map->map[i];
		const struct field *field = field_named(table, n, pair->key->text);

		if (!field)
			return field_fault(f, pair->key, "unknown key %s", shown(f, pair->key));
		if (field->read(f, pair->value, field->key, (char *)into + field->offset) < 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (table[i].needed && !yml_get(map, table[i].key))
			return field_fault(f, map, "%s lacks '%s'", what, table[i].key);
	return 0;
}

static bool printable(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
			return false;
	return true;
}

int field_text(const struct fields *f, const struct yml *v, const char *key, const char **out)
{
	if (v->kind != YML_SCALAR || yml_is_null(v))
		return field_fault(f, v, "'%s' must be a text", key);
	if (!v->text.n || v->text.n > TEXT_MAX || !printable(v->text))
		return field_fault(f, v,
			"'%s' must be 1 to %d characters without control characters, not %s", key,
			TEXT_MAX, shown(f, v));
	*out = v->text.p;
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Which of the items is given twice is looked up only when one is. */
static int fault_of_twice(
	const struct fields *f, const struct yml *list, const char *key, const char *text)
{
	const struct yml *last = list;

	for (size_t i = 0; i < list->n; i++)
		if (str_is(list->list[i]->text, text))
			last = list->list[i];
	return field_fault(f, last, "'%s' is listed twice under '%s'", text, key);
}

int field_texts(const struct fields *f, const struct yml *v, const char *key,
	bool (*valid)(struct str text), const char *form, struct texts *out)
{
	if (v->kind != YML_LIST)
		return field_fault(f, v, "'%s' must be a list, not %s", key, shown(f, v));
	if (v->n > LIST_MAX)
		return field_fault(f, v, "'%s' has more than %d entries", key, LIST_MAX);
	*out = (struct texts){arena_alloc(f->arena, (v->n + 1) * sizeof(*out->p)), v->n};
	for (size_t i = 0; i < v->n; i++) {
		const struct yml *item = v->list[i];

		if (item->kind != YML_SCALAR || yml_is_null(item) || !valid(item->text))
			return field_fault(
				f, item, "%s under '%s' is not %s", shown(f, item), key, form);
		out->p[i] = item->text.p;
	}
	qsort(out->p, out->n, sizeof(*out->p), by_bytes);
	for (size_t i = 1; i < out->n; i++)
		if (strcmp(out->p[i], out->p[i - 1]) == 0)
			return fault_of_twice(f, v, key, out->p[i]);
	return 0;
}

int field_word(const struct fields *f, const struct yml *v, const char *key,
	const char *const *words, size_t n, size_t *out)
{
	struct buf list = BUF_INIT;
	int rc;

	for (*out = 0; v->kind == YML_SCALAR && *out < n; ++*out)
		if (str_is(v->text, words[*out]))
			return 0;
	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", words[i]);
	rc = field_fault(f, v, "'%s' must be %s, not %s", key, list.s, shown(f, v));
	buf_release(&list);
	return rc;
}

int field_bool(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	bool yes = v->kind == YML_SCALAR && v->plain && str_is(v->text, "true");

	if (!yes && (v->kind != YML_SCALAR || !v->plain || !str_is(v->text, "false")))
		return field_fault(f, v, "'%s' must be true or false, not %s", key, shown(f, v));
	*(bool *)into = yes;
	return 0;
}

/* Decimal digits, at most fifteen. */
static bool number(struct str text, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < text.n && i < 16; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		*out = *out * 10 + (uint64_t)(text.p[i] - '0');
	}
	return text.n && text.n < 16;
}

static int unsigned_or_none(const struct fields *f, const struct yml *v, const char *key,
	const char *what, uint64_t most, void *into)
{
	uint64_t n = 0;

	if (v->kind == YML_SCALAR && str_is(v->text, "none"))
		return *(unsigned *)into = 0, 0;
	if (v->kind != YML_SCALAR || !number(v->text, &n) || !n || n > most)
		return field_fault(f, v, "'%s' must be %s1 to %llu or none, not %s", key, what,
			(unsigned long long)most, shown(f, v));
	*(unsigned *)into = (unsigned)n;
	return 0;
}

int field_seconds(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	return unsigned_or_none(f, v, key, "seconds, ", 86400, into);
}

int field_count(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	return unsigned_or_none(f, v, key, "", 1000000, into);
}

int field_size(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	static const char units[] = "KMG";
	struct str text = v->text;
	unsigned shift = 0;
	uint64_t n = 0;

	if (v->kind == YML_SCALAR && str_is(text, "none"))
		return *(uint64_t *)into = 0, 0;
	if (v->kind == YML_SCALAR && text.n > 1 && strchr(units, text.p[text.n - 1])) {
		shift = 10 * (unsigned)(strchr(units, text.p[text.n - 1]) - units + 1);
		text.n--;
	}
	if (v->kind != YML_SCALAR || !number(text, &n) || !n || n > most_bytes >> shift)
		return field_fault(f, v,
			"'%s' must be bytes, like 65536, 64K, 512M or 2G, at most 1048576G, or "
			"none, not %s",
			key, shown(f, v));
	*(uint64_t *)into = n << shift;
	return 0;
}

int field_id(const struct fields *f, const struct yml *v, const char *key, void *into)
{
	uint64_t n = 0;

	if (v->kind != YML_SCALAR || !number(v->text, &n) || !n || n > 4294967294)
		return field_fault(f, v, "'%s' must be a number from 1 to 4294967294, not %s", key,
			shown(f, v));
	*(unsigned *)into = (unsigned)n;
	return 0;
}

bool name_valid(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '_';

		if (!word && (i == 0 || !memchr(".+-", c, 3)))
			return false;
	}
	return text.n && text.n <= 64;
}
