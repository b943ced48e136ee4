#include "src/config/describe.h"

static json *of_text(const struct row *row)
{
	const struct form_facts *form = form_facts(row->form);
	json *j = json_object();

	json_put_str(j, "type", STR("string"));
	if (row->words) {
		json *list = json_array();

		for (size_t i = 0; row->words[i]; i++)
			json_push_str(list, str_of(row->words[i]));
		json_put(j, "enum", list);
		return j;
	}
	json_put_int(j, "minLength", 1);
	json_put_int(j, "maxLength", form->max);
	if (form->pattern)
		json_put_str(j, "pattern", str_of(form->pattern));
	return j;
}

static json *of_number(const struct row *row)
{
	json *j = json_object();

	json_put_str(j, "type", row->kind == ROW_NUMBER ? STR("number") : STR("integer"));
	json_put_number(j, row->above ? "exclusiveMinimum" : "minimum", row->min);
	json_put_number(j, "maximum", row->max ? row->max : (double)JSON_MAX_INT);
	return j;
}

static json *of_rows(const struct row *rows);

static json *of_list(const struct row *row, json *items)
{
	json *j = json_object();

	json_put_str(j, "type", STR("array"));
	if (row->min > 0)
		json_put_int(j, "minItems", (int64_t)row->min);
	json_put_int(j, "maxItems", (int64_t)row->max);
	if (row->once)
		json_put_bool(j, "uniqueItems", true);
	json_put(j, "items", items);
	return j;
}

static json *of_labels(void)
{
	json *j = json_object(), *text = json_object();

	json_put_str(text, "type", STR("string"));
	json_put_str(j, "type", STR("object"));
	json_put(j, "additionalProperties", text);
	return j;
}

static json *of_type(const char *type)
{
	json *j = json_object();

	json_put_str(j, "type", str_of(type));
	return j;
}

static json *of_row(const struct row *row)
{
	switch (row->kind) {
	case ROW_COUNT:
	case ROW_WHOLE:
	case ROW_NUMBER:
		return of_number(row);
	case ROW_BOOL:
		return of_type("boolean");
	case ROW_TEXTS:
		return of_list(row, of_text(row));
	case ROW_GROUP:
		return of_rows(row->rows);
	case ROW_LIST:
		return of_list(row, of_rows(row->rows));
	case ROW_OPEN:
		return of_type(row->list ? "array" : "object");
	case ROW_LABELS:
		return of_labels();
	default: /* texts of all kinds */
		return of_text(row);
	}
}

static json *otherwise(const struct row *row)
{
	const struct yml node = {.kind = YML_SCALAR, .plain = true, .text = str_of(row->otherwise)};

	return row->kind == ROW_TEXTS ? json_array() : yml_json(&node);
}

/* As it is for the key that decides: `true` is no text. */
static json *needed_is(const struct row *row)
{
	json *list = json_array();

	for (size_t i = 0; row->needed_is[i]; i++) {
		const struct yml node = {
			.kind = YML_SCALAR, .plain = true, .text = str_of(row->needed_is[i])};

		json_push(list, yml_json(&node));
	}
	return list;
}

static json *one_name(const char *name)
{
	json *list = json_array();

	json_push_str(list, str_of(name));
	return list;
}

static const struct row *row_of(const struct row *rows, const char *key)
{
	while (strcmp(rows->key, key) != 0)
		rows++;
	return rows;
}

/* {"if": the other key is one of those, "then": it must be there}. A key with a default decides by
 * it when it is missing, and a schema's `properties` holds for what is missing. */
static json *of_need(const struct row *rows, const struct row *row)
{
	json *j = json_object(), *when = json_object(), *key = json_object(), *is = json_object(),
	     *then = json_object();

	json_put(is, "enum", needed_is(row));
	json_put(key, row->needed_when, is);
	json_put(when, "properties", key);
	if (!row_of(rows, row->needed_when)->otherwise)
		json_put(when, "required", one_name(row->needed_when));
	json_put(then, "required", one_name(row->key));
	json_put(j, "if", when);
	json_put(j, "then", then);
	return j;
}

static void put_list(json *to, const char *key, json *list)
{
	if (json_len(list))
		json_put(to, key, list);
	else
		json_free(&list);
}

static json *of_rows(const struct row *rows)
{
	json *j = of_type("object"), *required = json_array(), *properties = json_object(),
	     *all = json_array();

	for (const struct row *row = rows; row->key; row++) {
		json *property;

		if (row->kind == ROW_REFUSED)
			continue;
		property = of_row(row);
		if (row->about)
			json_put_str(property, "description", str_of(row->about));
		if (row->otherwise)
			json_put(property, "default", otherwise(row));
		json_put(properties, row->key, property);
		if (row->needed)
			json_push_str(required, str_of(row->key));
		if (row->needed_when)
			json_push(all, of_need(rows, row));
	}
	put_list(j, "required", required);
	json_put(j, "properties", properties);
	json_put_bool(j, "additionalProperties", false);
	put_list(j, "allOf", all);
	return j;
}

void kind_schema(const struct resource_kind *kind, struct buf *out)
{
	CLEANUP(json_free) json *j = json_object(), *rows = of_rows(kind->rows);

	json_put_str(j, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_put_str(j, "title", str_of(kind->name));
	json_put_str(j, "description", str_of(kind->about));
	for (const json *m = json_first(rows); m; m = json_next(m))
		json_put(j, json_key(m), json_copy(m));
	json_print_pretty(out, j);
}
