#include "src/base/json.h"
#include "src/config/resource_internal.h"

static const struct config_field *describe_find(const struct config_field *fields, const char *key)
{
	while (strcmp(fields->key, key) != 0)
		fields++;
	return fields;
}

/* A value as it would be written without quotes. */
static json *describe_plain(const char *text)
{
	const struct yaml node = {.kind = YAML_SCALAR, .plain = true, .text = str_of(text)};

	return config_json(&node);
}

static json *preset(const struct config_field *f)
{
	return f->kind == CONFIG_TEXTS ? json_array() : describe_plain(f->preset);
}

/* ---- the JSON Schema ---- */

/* `list` NULL: a new one. */
static json *list_with(json *list, json *item)
{
	if (!list)
		list = json_array();
	json_push(list, item);
	return list;
}

static json *text_schema(const struct config_field *f)
{
	const struct config_form *form = f->form;

	if (f->words)
		return JSON_OBJECT(
			JSON_TEXT("type", "string"), JSON_VALUE("enum", json_names(f->words)));
	return JSON_OBJECT(JSON_TEXT("type", "string"), JSON_INT("minLength", 1),
		JSON_INT("maxLength", form->max),
		JSON_IF(form->pattern, JSON_TEXT("pattern", form->pattern)),
		/* A duration is longer than zero if a digit of it is. */
		JSON_IF(f->kind == CONFIG_DURATION && f->min > 0,
			JSON_VALUE("allOf",
				list_with(NULL, JSON_OBJECT(JSON_TEXT("pattern", "[1-9]"))))));
}

static json *number_schema(const struct config_field *f)
{
	return JSON_OBJECT(JSON_TEXT("type", f->kind == CONFIG_NUMBER ? "number" : "integer"),
		JSON_NUMBER(f->above ? "exclusiveMinimum" : "minimum", f->min),
		JSON_NUMBER("maximum", f->max ? f->max : (double)JSON_MAX_INT));
}

static json *map_schema(json *j, const struct config_field *fields);

static json *list_schema(const struct config_field *f)
{
	return JSON_OBJECT(JSON_TEXT("type", "array"),
		JSON_IF(f->min > 0, JSON_INT("minItems", f->min)), JSON_INT("maxItems", f->max),
		JSON_IF(f->once, JSON_BOOL("uniqueItems", true)),
		JSON_VALUE("items", f->kind == CONFIG_TEXTS
					    ? text_schema(f)
					    : map_schema(json_object(), f->fields)));
}

static json *field_schema(const struct config_field *f)
{
	switch (f->kind) {
	case CONFIG_INTEGER:
	case CONFIG_NUMBER:
		return number_schema(f);
	case CONFIG_BOOL:
		return JSON_OBJECT(JSON_TEXT("type", "boolean"));
	case CONFIG_TEXTS:
	case CONFIG_LIST:
		return list_schema(f);
	case CONFIG_GROUP:
		return map_schema(json_object(), f->fields);
	case CONFIG_OPEN:
		return JSON_OBJECT(JSON_TEXT("type", f->list ? "array" : "object"));
	case CONFIG_LABELS:
		return JSON_OBJECT(JSON_TEXT("type", "object"),
			JSON_VALUE(
				"additionalProperties", JSON_OBJECT(JSON_TEXT("type", "string"))));
	default: /* texts of all kinds */
		return text_schema(f);
	}
}

/* {"if": the deciding key has one of the values, "then": this one is required}. If the deciding key
 * is missing, its default decides: a schema's `properties` also accepts a missing key. The values
 * have the type that the deciding key has: `true` is no text. */
static json *condition_schema(const struct config_field *fields, const struct config_field *f)
{
	const char *when = f->required_when;
	json *values = NULL, *is, *key = NULL;

	for (size_t i = 0; f->required_is[i]; i++)
		values = list_with(values, describe_plain(f->required_is[i]));
	is = JSON_OBJECT(JSON_VALUE(when, JSON_OBJECT(JSON_VALUE("enum", values))));
	if (!describe_find(fields, when)->preset)
		key = list_with(NULL, json_string(str_of(when)));
	return JSON_OBJECT(JSON_VALUE("if", JSON_OBJECT(JSON_VALUE("properties", is),
						    JSON_IF(key, JSON_VALUE("required", key)))),
		JSON_VALUE("then", JSON_OBJECT(JSON_VALUE("required",
					   list_with(NULL, json_string(str_of(f->key)))))));
}

static json *map_schema(json *j, const struct config_field *fields)
{
	json *keys = NULL, *properties = json_object(), *all = NULL;

	for (const struct config_field *f = fields; f->key; f++) {
		if (f->kind == CONFIG_REFUSED)
			continue;
		json_put(properties, f->key,
			JSON_ADD(field_schema(f),
				JSON_IF(f->about, JSON_TEXT("description", f->about)),
				JSON_IF(f->preset, JSON_VALUE("default", preset(f)))));
		if (f->required)
			keys = list_with(keys, json_string(str_of(f->key)));
		if (f->required_when)
			all = list_with(all, condition_schema(fields, f));
	}
	return JSON_ADD(j, JSON_TEXT("type", "object"), JSON_IF(keys, JSON_VALUE("required", keys)),
		JSON_VALUE("properties", properties), JSON_BOOL("additionalProperties", false),
		JSON_IF(all, JSON_VALUE("allOf", all)));
}

void resource_schema(const struct resource_kind *kind, struct buf *out)
{
	CLEANUP(json_free)
	json *j = JSON_OBJECT(JSON_TEXT("$schema", "https://json-schema.org/draft/2020-12/schema"),
		JSON_TEXT("title", kind->name), JSON_TEXT("description", kind->about));

	json_print_pretty(out, map_schema(j, kind->fields));
}

/* ---- the page for people ---- */

static void put_words(struct buf *b, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		buf_addf(b, "%s`%s`", i ? ", " : "", words[i]);
}

static void put_range(struct buf *b, const struct config_field *f)
{
	buf_adds(b, f->kind == CONFIG_NUMBER ? "number" : "whole number");
	if (f->max && f->max < (double)JSON_MAX_INT)
		buf_addf(b, " %s%.15g to %.15g", f->above ? "above " : "", f->min, f->max);
	else
		buf_addf(b, " %s %.15g", f->above ? "above" : "from", f->min);
}

static void put_value(struct buf *b, const struct config_field *f)
{
	if (f->kind == CONFIG_TEXTS)
		buf_adds(b, f->once ? "list, no duplicates: " : "list: ");
	if (f->kind == CONFIG_INTEGER || f->kind == CONFIG_NUMBER)
		put_range(b, f);
	else if (f->kind == CONFIG_BOOL)
		buf_adds(b, "`true` or `false`");
	else if (f->kind == CONFIG_GROUP)
		buf_adds(b, "map");
	else if (f->kind == CONFIG_LIST)
		buf_addf(b, "list of %s%.15g maps", f->min > 0 ? "1 to " : "at most ", f->max);
	else if (f->kind == CONFIG_OPEN)
		buf_adds(b, f->list ? "any list" : "any map");
	else if (f->kind == CONFIG_LABELS)
		buf_adds(b, "map of texts");
	else if (f->words)
		put_words(b, f->words);
	else
		buf_adds(b, f->form->what);
}

static void put_page_default(struct buf *b, const struct config_field *f)
{
	if (f->required)
		buf_adds(b, "**required**");
	else if (f->required_when) {
		buf_addf(b, "**required** when `%s` is ", f->required_when);
		put_words(b, f->required_is);
	} else if (f->preset || f->inherits)
		buf_addf(b, "`%s`", f->preset ? f->preset : f->inherits);
	else if (f->derived)
		buf_adds(b, f->derived);
}

static void put_fields(struct buf *b, const char *prefix, const struct config_field *fields)
{
	for (; fields->key; fields++) {
		CLEANUP(buf_release) struct buf inner = BUF_INIT;

		buf_addf(b, "| `%s%s` | ", prefix, fields->key);
		if (fields->kind == CONFIG_REFUSED) {
			buf_addf(b, "**refused** | | %s |\n", fields->hint);
			continue;
		}
		put_value(b, fields);
		buf_adds(b, " | ");
		put_page_default(b, fields);
		buf_addf(b, " | %s%s |\n", fields->about, fields->inert ? " Not acted on." : "");
		buf_addf(&inner, "%s%s%s.", prefix, fields->key,
			fields->kind == CONFIG_LIST ? "[]" : "");
		if (fields->fields)
			put_fields(b, inner.s, fields->fields);
	}
}

void resource_page(const struct resource_kind *kind, struct buf *out)
{
	buf_addf(out, "%s\n\n| Field | Is | Default | Means |\n|---|---|---|---|\n", kind->about);
	put_fields(out, "", kind->fields);
}

/* ---- a resource as it was read ---- */

struct value_collector {
	struct arena *a;
	const struct resources *r;
	const struct resource_doc *doc;
	enum parallelism_mode mode;
	const void *at; /* the struct that the fields are of */
	struct resource_values *out;
};

/* By its ending: the value of such a key is a name or a command, not a secret. */
static bool names_no_secret(const char *key)
{
	static const char *const ends[] = {"Env", "Id", "Command", "Volume"};

	for (size_t i = 0; i < COUNT(ends); i++)
		if (str_ends(str_of(key), ends[i]))
			return true;
	return false;
}

/* An open map is the adapter's own and may contain a secret itself. */
static json *masked(const struct yaml *map)
{
	json *j = json_object();

	for (size_t i = 0; i < map->n; i++) {
		const struct yaml *v = map->map[i].value;
		bool plain = v->kind == YAML_SCALAR && config_scalar(v) == SCALAR_BOOL;
		const char *key = map->map[i].key->text.p;

		json_put(j, key,
			v->kind == YAML_SCALAR && (plain || names_no_secret(key))
				? config_json(v)
				: json_string(STR("****")));
	}
	return j;
}

/* `node` NULL: the default. */
static json *describe_value_of(
	const struct value_collector *s, const struct config_field *f, const struct yaml *node)
{
	const char *text;

	if (f->kind == CONFIG_OPEN && node && node->kind == YAML_MAP)
		return masked(node);
	if (f->form != &config_root || f->kind != CONFIG_TEXT)
		return node ? config_json(node) : preset(f);
	memcpy(&text, (const char *)s->at + f->at, sizeof(text));
	return json_string(str_of(text));
}

static void put_written(const struct value_collector *s, const char *path,
	const struct config_field *f, const struct yaml *node, const char *why)
{
	enum origin origin = s->doc->file ? ORIGIN_WRITTEN : ORIGIN_DEFAULT;

	vec_push_in(s->a, s->out,
		(struct resource_value){path, describe_value_of(s, f, node), origin, s->doc->file,
			node->line, why, f->inert});
}

static void put_other(const struct value_collector *s, const char *path, enum origin origin,
	json *value, const char *why)
{
	vec_push_in(s->a, s->out,
		(struct resource_value){
			.path = path, .value = value, .origin = origin, .why = why});
}

/* The pipeline's field is used in place of the stage's. */
static void put_inherited(
	const struct value_collector *s, const char *path, const struct config_field *f)
{
	const struct config_field *spec =
		describe_find(resource_kind_pipeline.fields, "spec")->fields;
	const struct config_field *from = describe_find(spec, f->inherits);
	const struct yaml *node =
		config_node(s->doc->tree, arena_printf(s->a, "spec.%s", f->inherits));

	if (node)
		put_written(s, path, f, node, f->inherits);
	else
		put_other(s, path, ORIGIN_DEFAULT, describe_value_of(s, from, NULL), NULL);
}

static const char *plans_text(struct arena *a, const struct parallelism *n)
{
	const char *text = "";

	for (size_t i = 0; i < n->plans.n; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " + " : "", n->plans.list[i]);
	return text;
}

static void put_concurrent(const struct value_collector *s, const char *path,
	const struct config_field *f, const struct yaml *node)
{
	const char *why;
	enum origin origin = ORIGIN_DEFAULT;
	struct parallelism n;

	parallelism_resolve(s->a, s->r, s->doc->of, s->mode, &n);
	why = parallelism_word(n.source);
	if (n.source == PARALLELISM_DECLARED && node) {
		put_written(s, path, f, node, NULL);
		return;
	}
	if (n.source == PARALLELISM_PLANS) {
		origin = ORIGIN_DERIVED;
		why = plans_text(s->a, &n);
	} else if (n.source == PARALLELISM_DISABLED) {
		origin = ORIGIN_ENVIRONMENT;
		why = PARALLELISM_VARIABLE;
	}
	put_other(s, path, origin, describe_plain(arena_printf(s->a, "%u", n.max)), why);
}

static void put_missing(
	const struct value_collector *s, const char *path, const struct config_field *f)
{
	const struct pipeline *p = s->doc->of;

	if (f->inherits)
		put_inherited(s, path, f);
	else if (f->preset)
		put_other(s, path, ORIGIN_DEFAULT, describe_value_of(s, f, NULL), NULL);
	else if (strcmp(f->key, "isolation") == 0)
		put_other(s, path, ORIGIN_DERIVED,
			json_string(p->parallel ? STR("worktree") : STR("inplace")),
			p->parallel ? "the `parallelism` of the pipeline"
				    : "the lack of `parallelism`");
	else if (strcmp(f->key, "worktreePool") == 0 && p->parallel)
		put_other(
			s, path, ORIGIN_DERIVED, json_string(str_of(p->worktree_pool)), f->derived);
}

static void collect_fields(const struct value_collector *s, const char *prefix,
	const struct config_field *fields, const struct yaml *map);

static void collect_list(const struct value_collector *s, const char *path,
	const struct config_field *f, const struct yaml *node)
{
	struct value_collector item = *s;
	const char *list;

	memcpy(&list, (const char *)s->at + f->at, sizeof(list));
	for (size_t i = 0; list && i < node->n; i++) { /* NULL: what was written is refused */
		item.at = list + i * f->item_size;
		collect_fields(
			&item, arena_printf(s->a, "%s[%zu].", path, i), f->fields, node->list[i]);
	}
}

static bool describe_inherit(const struct config_field *f, const struct yaml *node)
{
	return f->inherits && node->kind == YAML_SCALAR && str_is(node->text, "inherit");
}

static void collect_field(const struct value_collector *s, const char *prefix,
	const struct config_field *f, const struct yaml *node)
{
	const char *path = arena_printf(s->a, "%s%s", prefix, f->key);

	if (f->kind == CONFIG_GROUP) {
		if (node || !f->optional)
			collect_fields(s, arena_printf(s->a, "%s.", path), f->fields, node);
	} else if (strcmp(f->key, "maxConcurrent") == 0 &&
		   s->doc->kind == &resource_kind_pipeline) {
		put_concurrent(s, path, f, node);
	} else if (!node || describe_inherit(f, node)) {
		put_missing(s, path, f);
	} else if (f->kind == CONFIG_LIST) {
		collect_list(s, path, f, node);
	} else {
		put_written(s, path, f, node, NULL);
	}
}

static void collect_fields(const struct value_collector *s, const char *prefix,
	const struct config_field *fields, const struct yaml *map)
{
	for (; fields->key; fields++)
		if (fields->kind != CONFIG_REFUSED)
			collect_field(s, prefix, fields, map ? yaml_get(map, fields->key) : NULL);
}

void resource_list_values(struct arena *a, const struct resources *r,
	const struct resource_doc *doc, enum parallelism_mode mode, struct resource_values *out)
{
	const struct value_collector s = {a, r, doc, mode, doc->of, out};

	*out = (struct resource_values){0};
	collect_fields(&s, "", doc->kind->fields, doc->tree);
}

void resource_values_release(struct resource_values *s)
{
	for (size_t i = 0; i < s->n; i++)
		json_free(&s->items[i].value);
}
