#include <assert.h>
#include <cjson/cJSON.h>
#include "src/base/json.h"

static void *need(void *p)
{
	if (!p)
		base_oom();
	return p;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, because a text of many keys comes from outside. */
static bool duplicate_key(const json *object)
{
	size_t n = (size_t)cJSON_GetArraySize(object), i = 0;
	CLEANUP(free_ptr) const char **keys = xmalloc(n * sizeof(*keys));
	bool found = false;

	for (const json *c = object->child; c; c = c->next)
		keys[i++] = c->string;
	qsort(keys, n, sizeof(*keys), by_text);
	for (i = 1; i < n && !found; i++)
		found = strcmp(keys[i - 1], keys[i]) == 0;
	return found;
}

/* What the library lets through and would not give back as it came; NULL when all is well. */
static const char *hole(const json *j)
{
	const char *what = NULL;

	if (cJSON_IsNumber(j) && !(j->valuedouble <= (double)JSON_MAX_INT &&
					 j->valuedouble >= -(double)JSON_MAX_INT))
		return "a number is too large";
	if (cJSON_IsObject(j) && duplicate_key(j))
		return "duplicate key";
	for (const json *c = j->child; c && !what; c = c->next)
		what = hole(c);
	return what;
}

/* cJSON ends texts at a NUL: a text with an escaped one would come back shorter in silence. */
static bool has_nul_escape(struct str text)
{
	size_t at = 0;

	for (; (at += str_find(str_sub(text, at, text.n), STR("\\u0000"))) < text.n; at++) {
		size_t slashes = 0;

		while (slashes <= at && at - slashes < text.n && text.p[at - slashes] == '\\') {
			slashes++;
			if (slashes > at)
				break;
		}
		if (slashes % 2)
			return true;
	}
	return false;
}

int json_parse(json **out, struct str text, struct error *err)
{
	const char *end = text.p;
	size_t bad = utf8_fault(text);
	const char *what = NULL;
	struct str rest;

	*out = NULL;
	if (bad)
		return error_at(err, "json", 1, (unsigned)bad, "invalid UTF-8");
	if (!text.n || has_nul_escape(text))
		return error_at(err, "json", 1, 1,
			text.n ? "a NUL character is not allowed" : "empty text");
	*out = cJSON_ParseWithLengthOpts(text.p, text.n, &end, 0);
	if (!*out) {
		const char *where = cJSON_GetErrorPtr();

		if (!where || where < text.p || where > text.p + text.n)
			where = end;
		return error_at(err, "json", 1, (unsigned)(where - text.p) + 1, "this is not JSON");
	}
	rest = str_trim((struct str){end, (size_t)(text.p + text.n - end)});
	if (!rest.n && !(what = hole(*out)))
		return 0;
	json_free(out);
	return error_at(err, "json", 1, rest.n ? (unsigned)(rest.p - text.p) + 1 : 1, "%s",
		rest.n ? "text after the JSON value" : what);
}

void json_free(json **j)
{
	cJSON_Delete(*j);
	*j = NULL;
}

bool json_is_object(const json *j)
{
	return cJSON_IsObject(j);
}

bool json_is_array(const json *j)
{
	return cJSON_IsArray(j);
}

bool json_is_string(const json *j)
{
	return cJSON_IsString(j);
}

bool json_is_true(const json *j)
{
	return cJSON_IsTrue(j);
}

const json *json_get(const json *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *json_text(const json *j)
{
	return cJSON_IsString(j) ? j->valuestring : NULL;
}

const char *json_get_str(const json *object, const char *key)
{
	return json_text(json_get(object, key));
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

json *json_object(void)
{
	return need(cJSON_CreateObject());
}

json *json_array(void)
{
	return need(cJSON_CreateArray());
}

json *json_copy(const json *j)
{
	return need(cJSON_Duplicate(j, 1));
}

json *json_string(struct str value)
{
	CLEANUP(free_ptr) char *text = xmalloc(value.n + 1);

	assert(!utf8_fault(value));
	if (value.n)
		memcpy(text, value.p, value.n);
	text[value.n] = '\0';
	return need(cJSON_CreateString(text));
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

void json_put_int(json *object, const char *key, int64_t value)
{
	assert(value <= JSON_MAX_INT && value >= -JSON_MAX_INT);
	json_put(object, key, need(cJSON_CreateNumber((double)value)));
}

void json_put_bool(json *object, const char *key, bool value)
{
	json_put(object, key, need(cJSON_CreateBool(value)));
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

void json_push(json *array, json *value)
{
	if (!cJSON_AddItemToArray(array, value))
		base_oom();
}

void json_push_str(json *array, struct str value)
{
	json_push(array, json_string(value));
}

void json_print(struct buf *out, const json *j)
{
	char *text = need(cJSON_PrintUnformatted(j));

	buf_adds(out, text);
	cJSON_free(text);
}

static void print_escape(struct buf *out, unsigned char c)
{
	static const char *const names[] = {
		['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};

	if (c < COUNT(names) && names[c])
		buf_adds(out, names[c]);
	else
		buf_addf(out, "\\u%04x", c);
}

void json_print_text(struct buf *out, struct str s)
{
	size_t from = 0;

	buf_addc(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(out, str_sub(s, from, i));
		print_escape(out, c);
		from = i + 1;
	}
	if (s.n)
		buf_add(out, str_sub(s, from, s.n));
	buf_addc(out, '"');
}
