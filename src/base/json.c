#include <assert.h>
#include <cjson/cJSON.h>
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/base/vec.h"

static void *json_need(void *p)
{
	if (!p)
		base_oom();
	return p;
}

/* ---- parsing ---- */

/* cJSON ends a string at a NUL, so one with an escaped NUL would come back shorter. A backslash
 * outside of a string is a syntax error, so every one that counts begins an escape. */
static bool has_nul_escape(struct str text)
{
	const char *p = text.p, *end = text.p + text.n;

	while ((p = memchr(p, '\\', (size_t)(end - p))) && end - p >= 6) {
		if (memcmp(p, "\\u0000", 6) == 0)
			return true;
		p += 2;
	}
	return false;
}

enum { FEW_KEYS = 16 };

struct json_keys {
	const char **items;
	size_t n, cap;
};

static bool has_key(const json *from, const json *to, const char *key)
{
	for (; from != to; from = from->next)
		if (*from->string == *key && strcmp(from->string, key) == 0)
			return true;
	return false;
}

/* Many keys are sorted first: the text comes from outside. */
static bool has_duplicate_key(const json *object, struct json_keys *keys)
{
	size_t n = 0;

	for (const json *c = object->child; c && n < FEW_KEYS; c = c->next, n++)
		if (has_key(object->child, c, c->string))
			return true;
	if (n < FEW_KEYS)
		return false;
	keys->n = 0;
	for (const json *c = object->child; c; c = c->next)
		vec_push(keys, c->string);
	vec_sort(keys, vec_by_text);
	for (size_t i = 1; i < keys->n; i++)
		if (strcmp(keys->items[i - 1], keys->items[i]) == 0)
			return true;
	return false;
}

/* What cJSON accepts and would not give back as it came; NULL: nothing. */
static const char *json_validate(const json *j, bool exact, struct json_keys *keys)
{
	const char *fault = NULL;

	if (exact && cJSON_IsNumber(j) &&
		!(j->valuedouble <= (double)JSON_MAX_INT &&
			j->valuedouble >= -(double)JSON_MAX_INT))
		return "a number is too large";
	if (cJSON_IsObject(j) && has_duplicate_key(j, keys))
		return "duplicate key";
	for (const json *c = j->child; c && !fault; c = c->next)
		fault = json_validate(c, exact, keys);
	return fault;
}

static int json_refuse(json **j, struct error *err, size_t offset, const char *fault)
{
	json_free(j);
	return error_at(err, "json", 1, (unsigned)offset + 1, "%s", fault);
}

int json_parse_foreign(json **out, struct str text, struct error *err)
{
	const char *end = text.p;
	size_t bad = str_utf8_fault(text), rest;

	*out = NULL;
	if (bad)
		return json_refuse(out, err, bad - 1, "invalid UTF-8");
	if (!text.n)
		return json_refuse(out, err, 0, "empty text");
	*out = cJSON_ParseWithLengthOpts(text.p, text.n, &end, 0);
	rest = (size_t)(end - text.p);
	if (!*out)
		return json_refuse(out, err, rest, "this is not JSON");
	while (rest < text.n && strchr(" \t\r\n", text.p[rest]))
		rest++;
	if (rest < text.n)
		return json_refuse(out, err, rest, "text after the JSON value");
	return 0;
}

static int json_parse_checked(json **out, struct str text, bool exact, struct error *err)
{
	struct json_keys keys = {0};
	const char *fault;

	if (json_parse_foreign(out, text, err) < 0)
		return -1;
	if (has_nul_escape(text))
		return json_refuse(out, err, 0, "a NUL character is not allowed");
	fault = json_validate(*out, exact, &keys);
	vec_release(&keys);
	return fault ? json_refuse(out, err, 0, fault) : 0;
}

int json_parse(json **out, struct str text, struct error *err)
{
	return json_parse_checked(out, text, true, err);
}

int json_parse_event(json **out, struct str text, struct error *err)
{
	return json_parse_checked(out, text, false, err);
}

void json_free(json **j)
{
	cJSON_Delete(*j);
	*j = NULL;
}

/* ---- reading ---- */

#define IS(kind, Kind)                                                                             \
	bool json_is_##kind(const json *j)                                                         \
	{                                                                                          \
		return cJSON_Is##Kind(j);                                                          \
	}
IS(object, Object)
IS(array, Array)
IS(string, String)
IS(true, True)
IS(bool, Bool)
IS(null, Null)
IS(number, Number)

const json *json_get(const json *object, const char *key)
{
	const json *c = object ? object->child : NULL;

	while (c && (!c->string || *c->string != *key || strcmp(c->string, key) != 0))
		c = c->next;
	return c;
}

const char *json_text(const json *j)
{
	return cJSON_IsString(j) ? j->valuestring : NULL;
}

const char *json_get_str(const json *object, const char *key)
{
	return json_text(json_get(object, key));
}

char *json_dup(struct arena *a, const json *object, const char *key)
{
	const char *text = json_get_str(object, key);

	return text ? arena_dup(a, str_of(text)) : NULL;
}

bool json_str_is(const json *object, const char *key, const char *text)
{
	const char *value = json_get_str(object, key);

	return value && strcmp(value, text) == 0;
}

int64_t json_get_int(const json *object, const char *key, int64_t otherwise)
{
	return json_int(json_get(object, key), otherwise);
}

int64_t json_int(const json *j, int64_t otherwise)
{
	if (!cJSON_IsNumber(j) ||
		!(j->valuedouble >= 0 && j->valuedouble <= (double)JSON_MAX_INT) ||
		j->valuedouble != (double)(int64_t)j->valuedouble)
		return otherwise;
	return (int64_t)j->valuedouble;
}

double json_number(const json *j, double otherwise)
{
	return cJSON_IsNumber(j) ? j->valuedouble : otherwise;
}

size_t json_len(const json *array)
{
	return (size_t)cJSON_GetArraySize(array);
}

const json *json_at(const json *array, size_t i)
{
	return cJSON_GetArrayItem(array, (int)i);
}

const json *json_first(const json *j)
{
	return j ? j->child : NULL;
}

const json *json_next(const json *item)
{
	return item->next;
}

const char *json_key(const json *member)
{
	return member->string;
}

/* ---- building ---- */

json *json_object(void)
{
	return json_need(cJSON_CreateObject());
}

json *json_array(void)
{
	return json_need(cJSON_CreateArray());
}

json *json_copy(const json *j)
{
	return json_need(cJSON_Duplicate(j, 1));
}

json *json_string(struct str value)
{
	json *j = json_need(cJSON_CreateNull());

	assert(!str_utf8_fault(value));
	j->type = cJSON_String;
	j->valuestring = str_dup(value);
	return j;
}

static json *base_json_number(double value)
{
	assert(value <= (double)JSON_MAX_INT && value >= -(double)JSON_MAX_INT);
	return json_need(cJSON_CreateNumber(value));
}

void json_put(json *object, const char *key, json *value)
{
	assert(!json_get(object, key));
	if (!cJSON_AddItemToObject(object, key, value))
		base_oom();
}

void json_put_str(json *object, const char *key, struct str value)
{
	json_put(object, key, json_string(value));
}

void json_put_pairs(json *object, const char *const *pairs)
{
	for (; *pairs; pairs += 2)
		json_put_str(object, pairs[0], str_of(pairs[1]));
}

void json_put_int(json *object, const char *key, int64_t value)
{
	json_put(object, key, base_json_number((double)value));
}

void json_put_number(json *object, const char *key, double value)
{
	json_put(object, key, base_json_number(value));
}

void json_put_null(json *object, const char *key)
{
	json_put(object, key, json_need(cJSON_CreateNull()));
}

void json_put_bool(json *object, const char *key, bool value)
{
	json_put(object, key, json_need(cJSON_CreateBool(value)));
}

void json_drop(json *object, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
}

void json_set(json *object, const char *key, json *value)
{
	if (!json_get(object, key))
		json_put(object, key, value);
	else if (!cJSON_ReplaceItemInObjectCaseSensitive(object, key, value))
		base_oom();
}

json *json_inner(json *object, const char *key)
{
	if (!json_is_object(json_get(object, key)))
		json_set(object, key, json_object());
	return (json *)(uintptr_t)json_get(object, key);
}

void json_push(json *array, json *value)
{
	if (!cJSON_AddItemToArray(array, value))
		base_oom();
}

void json_remove(json *array, const json *item)
{
	cJSON_Delete(cJSON_DetachItemViaPointer(array, (json *)(uintptr_t)item));
}

void json_push_str(json *array, struct str value)
{
	json_push(array, json_string(value));
}

void json_push_int(json *array, int64_t value)
{
	json_push(array, base_json_number((double)value));
}

static void json_put_text(json *object, const char *key, const char *text)
{
	json *value = json_need(text ? cJSON_CreateString(text) : cJSON_CreateNull());

	if (text)
		buf_utf8_repair(&(struct buf){.s = value->valuestring, .len = strlen(text)});
	json_put(object, key, value);
}

json *json_add(json *j, const struct json_member *m)
{
	char time[CLOCK_TEXT];

	for (; m->key; m++)
		switch (m->kind) {
		case JSON_KIND_NONE:
			break;
		case JSON_KIND_TEXT:
			json_put_text(j, m->key, m->text);
			break;
		case JSON_KIND_NUMBER:
			json_put_number(j, m->key, m->number);
			break;
		case JSON_KIND_BOOL:
			json_put_bool(j, m->key, m->integer);
			break;
		case JSON_KIND_TIME:
			clock_text(m->integer, time);
			json_put_text(j, m->key, m->integer ? time : NULL);
			break;
		case JSON_KIND_VALUE:
			json_put(j, m->key, m->value);
			break;
		}
	return j;
}

void json_replace(json *object, json *members)
{
	for (const json *m = json_first(members); m; m = json_next(m))
		json_set(object, json_key(m), json_copy(m));
	json_free(&members);
}

json *json_names(const char *const *names)
{
	json *list = json_array();

	for (; names && *names; names++)
		json_push_str(list, str_of(*names));
	return list;
}

json *json_texts(const char *const *texts, size_t n)
{
	json *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_push_str(list, str_of(texts[i]));
	return list;
}

const char **json_dup_texts(struct arena *a, const json *array, size_t *n)
{
	const char **texts = arena_alloc(a, (json_len(array) + 1) * sizeof(*texts));

	*n = 0;
	for (const json *one = json_first(array); one; one = json_next(one))
		if (json_text(one))
			texts[(*n)++] = arena_dup(a, str_of(json_text(one)));
	texts[*n] = NULL;
	return texts;
}

bool json_has_text(const json *array, const char *text)
{
	for (const json *one = json_first(array); one; one = json_next(one))
		if (json_text(one) && strcmp(json_text(one), text) == 0)
			return true;
	return false;
}

/* ---- writing ---- */

static void print_escape(struct buf *out, unsigned char c)
{
	static const char *const names[] = {['"'] = "\\\"",
		['\\'] = "\\\\",
		['\b'] = "\\b",
		['\f'] = "\\f",
		['\n'] = "\\n",
		['\r'] = "\\r",
		['\t'] = "\\t"};

	if (names[c])
		buf_adds(out, names[c]);
	else
		buf_addf(out, "\\u%04x", c);
}

enum { BLOCK = 8 }; /* bytes that are looked at at once */

/* Whether a byte of the block at p must be escaped: subtracting sets the high bit of a byte that is
 * smaller, if only because of one below it. */
static bool has_escape(const char *p)
{
	const uint64_t ones = 0x0101010101010101u, high = ones << 7;
	uint64_t block, quote, backslash;

	memcpy(&block, p, sizeof(block));
	quote = block ^ ones * '"';
	backslash = block ^ ones * '\\';
	return (((block - ones * ' ') & ~block) | ((quote - ones) & ~quote) |
		       ((backslash - ones) & ~backslash)) &
	       high;
}

/* The bytes before the first that must be escaped. */
static size_t plain_length(struct str s)
{
	size_t n = 0;

	while (s.n - n >= BLOCK && !has_escape(s.p + n))
		n += BLOCK;
	while (n < s.n && (unsigned char)s.p[n] >= ' ' && s.p[n] != '"' && s.p[n] != '\\')
		n++;
	return n;
}

void json_print_text(struct buf *out, struct str s)
{
	size_t n;

	buf_reserve(out, s.n + 2);
	out->s[out->len++] = '"';
	while ((n = plain_length(s)) < s.n) {
		buf_add(out, str_sub(s, 0, n));
		print_escape(out, (unsigned char)s.p[n]);
		s = str_sub(s, n + 1, s.n);
	}
	buf_add(out, s);
	buf_addc(out, '"');
}

static void new_line(struct json_writer *w)
{
	if (!w->pretty)
		return;
	buf_addc(w->out, '\n');
	for (unsigned i = 0; i < w->level; i++)
		buf_adds(w->out, "  ");
}

/* The text before a value: the comma after the previous value, and its key. */
static void begin_value(struct json_writer *w, const char *key)
{
	if (w->comma)
		buf_addc(w->out, ',');
	if (w->level)
		new_line(w);
	if (key) {
		json_print_text(w->out, str_of(key));
		buf_addc(w->out, ':');
		if (w->pretty)
			buf_addc(w->out, ' ');
	}
	w->comma = true;
}

void json_write_open(struct json_writer *w, const char *key, char bracket)
{
	begin_value(w, key);
	buf_addc(w->out, bracket);
	w->comma = false;
	w->level++;
}

void json_write_close(struct json_writer *w, char bracket)
{
	w->level--;
	if (w->comma)
		new_line(w);
	buf_addc(w->out, bracket);
	w->comma = true;
}

void json_write_str(struct json_writer *w, const char *key, struct str value)
{
	begin_value(w, key);
	json_print_text(w->out, value);
}

void json_write_int(struct json_writer *w, const char *key, int64_t value)
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[24], *p = digits + sizeof(digits);

	begin_value(w, key);
	do
		*--p = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (value < 0)
		*--p = '-';
	buf_add(w->out, (struct str){p, (size_t)(digits + sizeof(digits) - p)});
}

/* A fraction, a negative number, or a word, as cJSON prints it. */
static void write_other(struct json_writer *w, const char *key, const json *j)
{
	char *text = json_need(cJSON_PrintUnformatted(j));

	begin_value(w, key);
	buf_adds(w->out, text);
	cJSON_free(text);
}

void json_write(struct json_writer *w, const char *key, const json *j)
{
	if (cJSON_IsObject(j) || cJSON_IsArray(j)) {
		json_write_open(w, key, cJSON_IsObject(j) ? '{' : '[');
		for (const json *c = j->child; c; c = c->next)
			json_write(w, c->string, c);
		json_write_close(w, cJSON_IsObject(j) ? '}' : ']');
	} else if (cJSON_IsString(j)) {
		json_write_str(w, key, str_of(j->valuestring));
	} else if (json_int(j, -1) >= 0) {
		json_write_int(w, key, json_int(j, -1));
	} else {
		write_other(w, key, j);
	}
}

void json_print(struct buf *out, const json *j)
{
	struct json_writer w = {.out = out};

	json_write(&w, NULL, j);
}

void json_print_line(struct buf *out, json *j)
{
	json_print(out, j);
	buf_addc(out, '\n');
	json_free(&j);
}

struct str json_print_in(struct arena *a, json *j)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	json_print(&text, j);
	json_free(&j);
	return arena_str(a, buf_str(&text));
}

void json_print_pretty(struct buf *out, const json *j)
{
	struct json_writer w = {.out = out, .pretty = true};

	json_write(&w, NULL, j);
	buf_addc(out, '\n');
}
