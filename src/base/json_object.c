#include "src/base/clock.h"
#include "src/base/json_object.h"

static void put_text(json *object, const char *key, const char *text)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	if (!text) {
		json_put_null(object, key);
		return;
	}
	buf_adds(&b, text);
	buf_utf8_repair(&b);
	json_put_str(object, key, buf_str(&b));
}

json *json_add(json *j, const struct json_member *m)
{
	char time[CLOCK_TEXT];

	for (; m->key; m++)
		switch (m->kind) {
		case JSON_KIND_NONE:
			break;
		case JSON_KIND_TEXT:
			put_text(j, m->key, m->text);
			break;
		case JSON_KIND_INT:
			json_put_int(j, m->key, m->integer);
			break;
		case JSON_KIND_NUMBER:
			json_put_number(j, m->key, m->number);
			break;
		case JSON_KIND_BOOL:
			json_put_bool(j, m->key, m->integer);
			break;
		case JSON_KIND_TIME:
			clock_text(m->integer, time);
			put_text(j, m->key, m->integer ? time : NULL);
			break;
		case JSON_KIND_VALUE:
			json_put(j, m->key, m->value);
			break;
		}
	return j;
}

json *json_names(const char *const *names)
{
	json *list = json_array();

	for (; names && *names; names++)
		json_push_str(list, str_of(*names));
	return list;
}
