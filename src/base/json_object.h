/* json_object.h: builds JSON objects from lists of members. */
#ifndef DT_JSON_OBJECT_H
#define DT_JSON_OBJECT_H

#include "src/base/json.h"

/*
 * An object in one expression: JSON_OBJECT(JSON_TEXT("branch", b), JSON_INT("port", 3453)). The
 * members are printed in this order.
 */
struct json_member {
	const char *key; /* NULL: the end */
	enum json_kind {
		JSON_KIND_NONE,
		JSON_KIND_TEXT,
		JSON_KIND_INT,
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
#define JSON_MEMBER(key_, KIND, ...)                                                               \
	((struct json_member){.key = (key_), .kind = JSON_KIND_##KIND, __VA_ARGS__})
/* NULL is null; bytes that are not UTF-8, such as in a path, become '?'. */
#define JSON_TEXT(key, v)   JSON_MEMBER(key, TEXT, .text = (v))
#define JSON_INT(key, v)    JSON_MEMBER(key, INT, .integer = (int64_t)(v))
#define JSON_NUMBER(key, v) JSON_MEMBER(key, NUMBER, .number = (v))
#define JSON_BOOL(key, v)   JSON_MEMBER(key, BOOL, .integer = (v))
#define JSON_TIME(key, v)   JSON_MEMBER(key, TIME, .integer = (v)) /* 0 is null */
#define JSON_VALUE(key, v)  JSON_MEMBER(key, VALUE, .value = (v))  /* is taken */
/* The member, or none; its value is then not evaluated. */
#define JSON_IF(condition, member) ((condition) ? member : JSON_NONE)
#define JSON_NONE                  JSON_MEMBER("", NONE, .integer = 0)
json *json_names(const char *const *names); /* NULL-ended; NULL is an empty array */

#endif
