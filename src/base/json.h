/*
 * json.h: JSON read and written. The only user of cJSON; closes its holes: duplicate keys, text
 * after the value, invalid UTF-8, NUL characters and numbers that it would not print as they came
 * are refused.
 *
 * Ownership: a tree from json_parse(), json_object() or json_array() is the caller's until
 * json_free() or until it is put into another tree. Texts that getters return belong to the tree.
 */
#ifndef DT_JSON_H
#define DT_JSON_H

#include "src/base/buf.h"

struct cJSON;
typedef struct cJSON json;

/* The largest magnitude of a number. cJSON prints fifteen digits. */
#define JSON_MAX_INT ((int64_t)999999999999999)

/* The whole of `text` must be one value. -1: ERR_INPUT, line 1, column of the fault in bytes. */
int json_parse(json **out, struct str text, struct error *err);
/* The same, with numbers of any size, which are not exact: of an event that is read. */
int json_parse_event(json **out, struct str text, struct error *err);
/* The same of a text of another program that is read and never written: numbers of any size, NUL
 * characters, which end their text, and keys that come twice, of which the first counts. */
int json_parse_foreign(json **out, struct str text, struct error *err);
void json_free(json **j); /* for CLEANUP too; sets *j to NULL */

bool json_is_object(const json *j);
bool json_is_array(const json *j);
bool json_is_string(const json *j);
bool json_is_true(const json *j);
bool json_is_bool(const json *j);
bool json_is_null(const json *j); /* the value null; false for an absent value */
bool json_is_number(const json *j);
const json *json_get(const json *object, const char *key);     /* NULL if absent */
const char *json_get_str(const json *object, const char *key); /* NULL if absent or not a string */
/* A copy in the arena; NULL if absent or not a string. */
char *json_dup(struct arena *a, const json *object, const char *key);
/* True if `key` is a string and equals `text`. */
bool json_str_is(const json *object, const char *key, const char *text);
/* A whole number 0..JSON_MAX_INT, or `otherwise`. */
int64_t json_get_int(const json *object, const char *key, int64_t otherwise);
int64_t json_int(const json *j, int64_t otherwise);  /* the same of a value, which may be NULL */
double json_number(const json *j, double otherwise); /* any number; `j` may be NULL */
const char *json_text(const json *j);                /* a string's text, or NULL */
size_t json_len(const json *array);
const json *json_at(const json *array, size_t i);
/* First member or item, and the one after it; json_key() is a member's name. */
const json *json_first(const json *j);
const json *json_next(const json *item);
const char *json_key(const json *member);

/*
 * Builders. A text with invalid UTF-8, a number over JSON_MAX_INT or a key put twice is a bug of
 * the caller and fails an assertion, because texts are checked where they enter the program.
 */
json *json_object(void);
json *json_array(void);
json *json_string(struct str value);
json *json_copy(const json *j);
void json_put_str(json *object, const char *key, struct str value);
/* Several texts at once: json_put_texts(j, "key", text, "other", text). */
#define json_put_texts(object, ...) json_put_pairs(object, (const char *const[]){__VA_ARGS__, NULL})
void json_put_pairs(json *object, const char *const *pairs); /* ended by a NULL key */
void json_put_int(json *object, const char *key, int64_t value);
/* Printed with the digits that it takes to read the same number back. */
void json_put_number(json *object, const char *key, double value);
void json_put_bool(json *object, const char *key, bool value);
void json_put_null(json *object, const char *key);
void json_put(json *object, const char *key, json *value); /* takes value */
void json_set(json *object, const char *key, json *value); /* takes value; replaces or adds */
void json_drop(json *object, const char *key);
json *json_inner(json *object, const char *key); /* the object `key`; made if it is none */
void json_push(json *array, json *value);        /* takes value */
void json_remove(json *array, const json *item);
void json_push_str(json *array, struct str value);
void json_push_int(json *array, int64_t value);

/*
 * An object in one expression: JSON_OBJECT(JSON_TEXT("branch", b), JSON_INT("port", 3453)). The
 * members are printed in this order.
 */
struct json_member {
	const char *key; /* NULL: the end */
	enum json_kind {
		JSON_KIND_NONE,
		JSON_KIND_TEXT,
		JSON_KIND_NUMBER,
		JSON_KIND_BOOL,
		JSON_KIND_TIME,
		JSON_KIND_VALUE
	} kind;
	const char *text;
	int64_t integer;
	double number;
	json *value;
};
json *json_add(json *object, const struct json_member *members); /* returns the object */
#define JSON_ADD(object, ...)                                                                      \
	json_add(object, (const struct json_member[]){__VA_ARGS__, {.key = NULL}})
#define JSON_OBJECT(...) JSON_ADD(json_object(), __VA_ARGS__)
/* The same members replace what is there. */
#define JSON_SET(object, ...) json_replace(object, JSON_OBJECT(__VA_ARGS__))
void json_replace(json *object, json *members); /* takes members */
#define JSON_MEMBER(key_, KIND, ...)                                                               \
	((struct json_member){.key = (key_), .kind = JSON_KIND_##KIND, __VA_ARGS__})
/* NULL is null; bytes that are not UTF-8, such as in a path, become '?'. */
#define JSON_TEXT(key, v)   JSON_MEMBER(key, TEXT, .text = (v))
#define JSON_INT(key, v)    JSON_MEMBER(key, NUMBER, .number = (double)(int64_t)(v))
#define JSON_NUMBER(key, v) JSON_MEMBER(key, NUMBER, .number = (v))
#define JSON_BOOL(key, v)   JSON_MEMBER(key, BOOL, .integer = (v))
#define JSON_TIME(key, v)   JSON_MEMBER(key, TIME, .integer = (v)) /* 0 is null */
#define JSON_VALUE(key, v)  JSON_MEMBER(key, VALUE, .value = (v))  /* is taken */
/* The member, or none; its value is then not evaluated. */
#define JSON_IF(condition, member) ((condition) ? member : JSON_NONE)
#define JSON_NONE                  JSON_MEMBER("", NONE, .integer = 0)
json *json_names(const char *const *names); /* NULL-ended; NULL is an empty array */
json *json_texts(const char *const *texts, size_t n);
/* The strings of an array (NULL: none), in the arena; NULL-ended. */
const char **json_dup_texts(struct arena *a, const json *array, size_t *n);
bool json_has_text(const json *array, const char *text);

/* One line, no spaces, no newline. */
void json_print(struct buf *out, const json *j);
void json_print_line(struct buf *out, json *j);     /* with a newline; frees `j` */
struct str json_print_in(struct arena *a, json *j); /* in the arena; frees `j` */
/* For people and for files: one member or item a line, indented by two spaces a level, with a
 * newline at the end. */
void json_print_pretty(struct buf *out, const json *j);
/* A text as a JSON string, in its quotes. It must be valid UTF-8. */
void json_print_text(struct buf *out, struct str s);

/*
 * Writes JSON piece by piece, without a tree. The writer puts the commas; `key` is NULL in an array
 * and at the top. Texts must be valid UTF-8.
 *
 *     struct json_writer w = {.out = &line};
 *
 *     json_write_open(&w, NULL, '{');
 *     json_write_int(&w, "n", 1);
 *     json_write_close(&w, '}');
 */
struct json_writer {
	struct buf *out;
	bool pretty;    /* as json_print_pretty() */
	bool comma;     /* the next value follows another one */
	unsigned level; /* brackets that are open */
};

void json_write_open(struct json_writer *w, const char *key, char bracket);
void json_write_close(struct json_writer *w, char bracket);
void json_write_str(struct json_writer *w, const char *key, struct str value);
void json_write_int(struct json_writer *w, const char *key, int64_t value);
void json_write(struct json_writer *w, const char *key, const json *value);

#endif
