#include <assert.h>
#include <limits.h>
#include <cjson/cJSON.h>
#include "src/base/json.h"
#include "src/base/json_internal.h"

/* A sanitizer sees what is done with each piece only when it is one of malloc()'s. */
#ifndef __SANITIZE_ADDRESS__
__attribute__((constructor)) static void use_pool(void)
{
	cJSON_Hooks hooks = {pool_alloc, pool_free};

	cJSON_InitHooks(&hooks);
}
#endif

static void *need(void *p)
{
	if (!p)
		base_oom();
	return p;
}

/*
 * The short way: strict JSON with whole numbers and the short escapes, which is all that this
 * program writes. What is anything else is left to the library; both read it alike.
 */
struct quick {
	const char *p, *end;
	unsigned depth;
};

enum { QUICK_DEPTH = 100, QUICK_DIGITS = 15 };

static json *quick_value(struct quick *q);

static json *quick_node(int type)
{
	json *j = need(cJSON_malloc(sizeof(*j)));

	memset(j, 0, sizeof(*j));
	j->type = type;
	return j;
}

static char quick_peek(struct quick *q)
{
	while (q->p < q->end && (*q->p == ' ' || *q->p == '\n' || *q->p == '\t' || *q->p == '\r'))
		q->p++;
	return q->p < q->end ? *q->p : '\0';
}

/* The character of an escape; 0: the library's to read. */
static char unescaped(char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = c ? strchr(from, c) : NULL;

	return at ? to[at - from] : '\0';
}

/* q->p is behind the opening quote. */
static char *quick_text(struct quick *q)
{
	const char *from = q->p, *to = from;
	bool escapes = false;
	char *text, *w;

	for (; to < q->end && *to != '"'; to++) {
		if ((unsigned char)*to < ' ')
			return NULL;
		if (*to != '\\')
			continue;
		escapes = true;
		if (++to == q->end || !unescaped(*to))
			return NULL;
	}
	if (to == q->end)
		return NULL;
	q->p = to + 1;
	w = text = need(cJSON_malloc((size_t)(to - from) + 1));
	if (!escapes) {
		memcpy(text, from, (size_t)(to - from));
		text[to - from] = '\0';
		return text;
	}
	for (; from < to; from++)
		*w++ = *from == '\\' ? unescaped(*++from) : *from;
	*w = '\0';
	return text;
}

static json *quick_number(struct quick *q)
{
	const char *from = q->p;
	int64_t n = 0;
	json *j;

	while (q->p < q->end && *q->p >= '0' && *q->p <= '9' && q->p - from <= QUICK_DIGITS)
		n = n * 10 + (*q->p++ - '0');
	if (q->p - from > QUICK_DIGITS || (*from == '0' && q->p - from > 1) || q->p == q->end ||
		!strchr(",]} \n", *q->p))
		return NULL;
	j = quick_node(cJSON_Number);
	j->valuedouble = (double)n;
	j->valueint = n > INT_MAX ? INT_MAX : (int)n;
	return j;
}

/* Takes `item`; the first child's `prev` is the last one. */
static void quick_push(json *parent, json *item)
{
	if (!parent->child) {
		parent->child = item;
	} else {
		item->prev = parent->child->prev;
		item->prev->next = item;
	}
	parent->child->prev = item;
}

static bool quick_member(struct quick *q, json *parent, char close)
{
	char *key = NULL;
	json *item;

	if (close == '}') {
		if (quick_peek(q) != '"')
			return false;
		q->p++;
		key = quick_text(q);
		if (key && quick_peek(q) == ':')
			q->p++;
		else
			return cJSON_free(key), false;
	}
	item = quick_value(q);
	if (!item)
		return cJSON_free(key), false;
	item->string = key;
	quick_push(parent, item);
	return true;
}

static json *quick_members(struct quick *q, int type, char close)
{
	json *parent = quick_node(type);

	q->p++;
	if (quick_peek(q) == close) {
		q->p++;
		return parent;
	}
	while (quick_member(q, parent, close)) {
		char c = quick_peek(q);

		if (c != ',' && c != close)
			break;
		q->p++;
		if (c == close)
			return parent;
	}
	json_free(&parent);
	return NULL;
}

static json *quick_word(struct quick *q, const char *word, int type)
{
	size_t n = strlen(word);

	if ((size_t)(q->end - q->p) < n || memcmp(q->p, word, n) != 0)
		return NULL;
	q->p += n;
	return quick_node(type);
}

static json *quick_string(struct quick *q)
{
	char *text;
	json *j;

	q->p++;
	text = quick_text(q);
	if (!text)
		return NULL;
	j = quick_node(cJSON_String);
	j->valuestring = text;
	return j;
}

static json *quick_value(struct quick *q)
{
	char first = quick_peek(q);
	json *j;

	if (++q->depth > QUICK_DEPTH)
		return NULL;
	switch (first) {
	case '{':
		j = quick_members(q, cJSON_Object, '}');
		break;
	case '[':
		j = quick_members(q, cJSON_Array, ']');
		break;
	case '"':
		j = quick_string(q);
		break;
	case 't':
		j = quick_word(q, "true", cJSON_True);
		break;
	case 'f':
		j = quick_word(q, "false", cJSON_False);
		break;
	case 'n':
		j = quick_word(q, "null", cJSON_NULL);
		break;
	default:
		j = first >= '0' && first <= '9' ? quick_number(q) : NULL;
	}
	q->depth--;
	return j;
}

/* NULL: not in this way. */
static json *quick_parse(struct str text)
{
	struct quick q = {.p = text.p, .end = text.p + text.n};
	json *j = quick_value(&q);

	if (j && quick_peek(&q) != '\0')
		json_free(&j);
	return j && q.p == q.end ? j : (json_free(&j), NULL);
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
	if (text.n && (*out = quick_parse(text))) {
		what = json_hole(*out);
		if (!what)
			return 0;
		json_free(out);
		return error_at(err, "json", 1, 1, "%s", what);
	}
	if (!text.n || json_nul_escape(text))
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
	if (!rest.n && !(what = json_hole(*out)))
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

bool json_is_bool(const json *j)
{
	return cJSON_IsBool(j);
}

bool json_is_null(const json *j)
{
	return cJSON_IsNull(j);
}

bool json_is_number(const json *j)
{
	return cJSON_IsNumber(j);
}

const json *json_get(const json *object, const char *key)
{
	const json *c = object ? object->child : NULL;

	while (c && (!c->string || c->string[0] != key[0] || strcmp(c->string, key) != 0))
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

void json_put_number(json *object, const char *key, double value)
{
	assert(value <= (double)JSON_MAX_INT && value >= -(double)JSON_MAX_INT);
	json_put(object, key, need(cJSON_CreateNumber(value)));
}

void json_put_null(json *object, const char *key)
{
	json_put(object, key, need(cJSON_CreateNull()));
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

void json_push_int(json *array, int64_t value)
{
	assert(value <= JSON_MAX_INT && value >= -JSON_MAX_INT);
	json_push(array, need(cJSON_CreateNumber((double)value)));
}

void json_print_other(struct buf *out, const json *j)
{
	char *text = need(cJSON_PrintUnformatted(j));

	buf_adds(out, text);
	cJSON_free(text);
}
