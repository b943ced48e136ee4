#include "src/config/resource_internal.h"

#define MODE_VARIABLE "AI_SDLC_PARALLELISM"

static const struct config_field *find(const struct config_field *fields, const char *key)
{
	while (strcmp(fields->key, key) != 0)
		fields++;
	return fields;
}

/* ---- the JSON Schema ---- */

/* A duration is longer than zero if a digit of it is. */
static json *above_zero(void)
{
	json *list = json_array(), *digit = json_object();

	json_put_str(digit, "pattern", STR("[1-9]"));
	json_push(list, digit);
	return list;
}

static json *schema_text(const struct config_field *f)
{
	const struct config_form *form = f->form;
	json *j = json_object();

	json_put_str(j, "type", STR("string"));
	if (f->words) {
		json *list = json_array();

		for (size_t i = 0; f->words[i]; i++)
			json_push_str(list, str_of(f->words[i]));
		json_put(j, "enum", list);
		return j;
	}
	json_put_int(j, "minLength", 1);
	json_put_int(j, "maxLength", form->max);
	if (form->pattern)
		json_put_str(j, "pattern", str_of(form->pattern));
	if (f->kind == CONFIG_DURATION && f->min > 0)
		json_put(j, "allOf", above_zero());
	return j;
}

static json *schema_number(const struct config_field *f)
{
	json *j = json_object();

	json_put_str(j, "type", f->kind == CONFIG_NUMBER ? STR("number") : STR("integer"));
	json_put_number(j, f->above ? "exclusiveMinimum" : "minimum", f->min);
	json_put_number(j, "maximum", f->max ? f->max : (double)JSON_MAX_INT);
	return j;
}

static json *schema_map(const struct config_field *fields);

static json *schema_list(const struct config_field *f, json *items)
{
	json *j = json_object();

	json_put_str(j, "type", STR("array"));
	if (f->min > 0)
		json_put_int(j, "minItems", (int64_t)f->min);
	json_put_int(j, "maxItems", (int64_t)f->max);
	if (f->once)
		json_put_bool(j, "uniqueItems", true);
	json_put(j, "items", items);
	return j;
}

static json *schema_labels(void)
{
	json *j = json_object(), *text = json_object();

	json_put_str(text, "type", STR("string"));
	json_put_str(j, "type", STR("object"));
	json_put(j, "additionalProperties", text);
	return j;
}

static json *schema_type(const char *type)
{
	json *j = json_object();

	json_put_str(j, "type", str_of(type));
	return j;
}

static json *schema_field(const struct config_field *f)
{
	switch (f->kind) {
	case CONFIG_INTEGER:
	case CONFIG_NUMBER:
		return schema_number(f);
	case CONFIG_BOOL:
		return schema_type("boolean");
	case CONFIG_TEXTS:
		return schema_list(f, schema_text(f));
	case CONFIG_GROUP:
		return schema_map(f->fields);
	case CONFIG_LIST:
		return schema_list(f, schema_map(f->fields));
	case CONFIG_OPEN:
		return schema_type(f->list ? "array" : "object");
	case CONFIG_LABELS:
		return schema_labels();
	default: /* texts of all kinds */
		return schema_text(f);
	}
}

static json *preset_json(const struct config_field *f)
{
	const struct yaml node = {.kind = YAML_SCALAR, .plain = true, .text = str_of(f->preset)};

	return f->kind == CONFIG_TEXTS ? json_array() : config_json(&node);
}

/* With the type that the deciding key has: `true` is no text. */
static json *condition_values(const struct config_field *f)
{
	json *list = json_array();

	for (size_t i = 0; f->required_is[i]; i++) {
		const struct yaml node = {
			.kind = YAML_SCALAR, .plain = true, .text = str_of(f->required_is[i])};

		json_push(list, config_json(&node));
	}
	return list;
}

static json *one_name(const char *name)
{
	json *list = json_array();

	json_push_str(list, str_of(name));
	return list;
}

/* {"if": the deciding key has one of the values, "then": this one is required}. If the deciding key
 * is missing, its default decides: a schema's `properties` also accepts a missing key. */
static json *schema_condition(const struct config_field *fields, const struct config_field *f)
{
	json *j = json_object(), *when = json_object(), *key = json_object(), *is = json_object(),
	     *then = json_object();

	json_put(is, "enum", condition_values(f));
	json_put(key, f->required_when, is);
	json_put(when, "properties", key);
	if (!find(fields, f->required_when)->preset)
		json_put(when, "required", one_name(f->required_when));
	json_put(then, "required", one_name(f->key));
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

static json *schema_map(const struct config_field *fields)
{
	json *j = schema_type("object"), *required = json_array(), *properties = json_object(),
	     *all = json_array();

	for (const struct config_field *f = fields; f->key; f++) {
		json *property;

		if (f->kind == CONFIG_REFUSED)
			continue;
		property = schema_field(f);
		if (f->about)
			json_put_str(property, "description", str_of(f->about));
		if (f->preset)
			json_put(property, "default", preset_json(f));
		json_put(properties, f->key, property);
		if (f->required)
			json_push_str(required, str_of(f->key));
		if (f->required_when)
			json_push(all, schema_condition(fields, f));
	}
	put_list(j, "required", required);
	json_put(j, "properties", properties);
	json_put_bool(j, "additionalProperties", false);
	put_list(j, "allOf", all);
	return j;
}

void resource_schema(const struct resource_kind *kind, struct buf *out)
{
	CLEANUP(json_free) json *j = json_object(), *fields = schema_map(kind->fields);

	json_put_str(j, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_put_str(j, "title", str_of(kind->name));
	json_put_str(j, "description", str_of(kind->about));
	for (const json *m = json_first(fields); m; m = json_next(m))
		json_put(j, json_key(m), json_copy(m));
	json_print_pretty(out, j);
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
	switch (f->kind) {
	case CONFIG_INTEGER:
	case CONFIG_NUMBER:
		put_range(b, f);
		break;
	case CONFIG_BOOL:
		buf_adds(b, "`true` or `false`");
		break;
	case CONFIG_GROUP:
		buf_adds(b, "map");
		break;
	case CONFIG_LIST:
		buf_addf(b, "list of %s%.15g maps", f->min > 0 ? "1 to " : "at most ", f->max);
		break;
	case CONFIG_OPEN:
		buf_adds(b, f->list ? "any list" : "any map");
		break;
	case CONFIG_LABELS:
		buf_adds(b, "map of texts");
		break;
	case CONFIG_TEXTS:
		buf_adds(b, f->once ? "list, no duplicates: " : "list: ");
		/* fallthrough */
	default:
		if (f->words)
			put_words(b, f->words);
		else
			buf_adds(b, f->form->what);
	}
}

static void put_page_default(struct buf *b, const struct config_field *f)
{
	if (f->required)
		buf_adds(b, "**required**");
	else if (f->required_when) {
		buf_addf(b, "**required** when `%s` is ", f->required_when);
		put_words(b, f->required_is);
	} else if (f->preset)
		buf_addf(b, "`%s`", f->preset);
	else if (f->inherits)
		buf_addf(b, "`%s`", f->inherits);
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

struct showing {
	struct arena *a;
	const struct resources *r;
	const struct resource_doc *doc;
	enum parallelism_mode mode;
	const void *at; /* the struct that the fields are of */
	struct shown *out;
};

static bool tells(const char *key)
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
			v->kind == YAML_SCALAR && (plain || tells(key)) ? config_json(v)
									: json_string(STR("****")));
	}
	return j;
}

static json *value_of(
	const struct showing *s, const struct config_field *f, const struct yaml *node)
{
	const char *text;

	if (f->kind == CONFIG_OPEN && node->kind == YAML_MAP)
		return masked(node);
	if (f->form != &config_root || f->kind != CONFIG_TEXT)
		return config_json(node);
	memcpy(&text, (const char *)s->at + f->at, sizeof(text));
	return json_string(str_of(text));
}

static void put_written(const struct showing *s, const char *path, const struct config_field *f,
	const struct yaml *node, const char *why)
{
	vec_push_in(s->a, s->out,
		(struct shown_field){.path = path,
			.value = value_of(s, f, node),
			.origin = ORIGIN_WRITTEN,
			.file = s->doc->file,
			.line = node->line,
			.why = why,
			.inert = f->inert});
}

static void put_default(const struct showing *s, const char *path, const struct config_field *f)
{
	const struct yaml text = {.kind = YAML_SCALAR, .plain = true, .text = str_of(f->preset)};
	const struct yaml list = {.kind = YAML_LIST};

	vec_push_in(s->a, s->out,
		(struct shown_field){.path = path,
			.value = value_of(s, f, f->kind == CONFIG_TEXTS ? &list : &text),
			.origin = ORIGIN_DEFAULT});
}

static void put_derived(
	const struct showing *s, const char *path, const char *value, const char *why)
{
	vec_push_in(s->a, s->out,
		(struct shown_field){.path = path,
			.value = json_string(str_of(value)),
			.origin = ORIGIN_DERIVED,
			.why = why});
}

/* The pipeline's field is used in place of the stage's. */
static void put_inherited(const struct showing *s, const char *path, const struct config_field *f)
{
	const struct config_field *spec = find(resource_kind_pipeline.fields, "spec")->fields;
	const struct config_field *from = find(spec, f->inherits);
	const struct yaml *node =
		config_node(s->doc->tree, arena_printf(s->a, "spec.%s", f->inherits));

	if (node)
		put_written(s, path, f, node, f->inherits);
	else
		put_default(s, path, from);
}

static const char *plans_text(struct arena *a, const struct parallelism *n)
{
	const char *text = "";

	for (size_t i = 0; i < n->plans.n; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " + " : "", n->plans.list[i]);
	return text;
}

static void put_concurrent(const struct showing *s, const char *path, const struct config_field *f,
	const struct yaml *node)
{
	CLEANUP(json_free) json *value = json_object();
	struct shown_field shown = {.path = path, .origin = ORIGIN_DEFAULT};
	struct parallelism n;

	parallelism_resolve(s->a, s->r, s->doc->of, s->mode, &n);
	if (n.source == PARALLELISM_DECLARED && node) {
		put_written(s, path, f, node, NULL);
		return;
	}
	json_put_int(value, "n", n.max);
	shown.value = json_copy(json_get(value, "n"));
	shown.why =
		n.source == PARALLELISM_PLANS ? plans_text(s->a, &n) : parallelism_word(n.source);
	if (n.source == PARALLELISM_PLANS)
		shown.origin = ORIGIN_DERIVED;
	if (n.source == PARALLELISM_DISABLED) {
		shown.origin = ORIGIN_ENVIRONMENT;
		shown.why = MODE_VARIABLE;
	}
	vec_push_in(s->a, s->out, shown);
}

static void put_missing(const struct showing *s, const char *path, const struct config_field *f)
{
	const struct pipeline *p = s->doc->of;

	if (f->inherits)
		put_inherited(s, path, f);
	else if (f->preset)
		put_default(s, path, f);
	else if (strcmp(f->key, "isolation") == 0)
		put_derived(s, path, p->parallel ? "worktree" : "inplace",
			p->parallel ? "the pipeline has `parallelism`"
				    : "the pipeline has no `parallelism`");
	else if (strcmp(f->key, "worktreePool") == 0 && p->parallel)
		put_derived(s, path, p->worktree_pool, f->derived);
}

static void show_fields(const struct showing *s, const char *prefix,
	const struct config_field *fields, const struct yaml *map);

static void show_list(const struct showing *s, const char *path, const struct config_field *f,
	const struct yaml *node)
{
	struct showing item = *s;
	const char *list;

	memcpy(&list, (const char *)s->at + f->at, sizeof(list));
	for (size_t i = 0; i < node->n; i++) {
		item.at = list + i * f->item_size;
		show_fields(
			&item, arena_printf(s->a, "%s[%zu].", path, i), f->fields, node->list[i]);
	}
}

static bool inherit(const struct config_field *f, const struct yaml *node)
{
	return f->inherits && node->kind == YAML_SCALAR && str_is(node->text, "inherit");
}

static void show_field(const struct showing *s, const char *prefix, const struct config_field *f,
	const struct yaml *node)
{
	const char *path = arena_printf(s->a, "%s%s", prefix, f->key);

	if (f->kind == CONFIG_GROUP) {
		if (node || !f->optional)
			show_fields(s, arena_printf(s->a, "%s.", path), f->fields, node);
	} else if (strcmp(f->key, "maxConcurrent") == 0 &&
		   s->doc->kind == &resource_kind_pipeline) {
		put_concurrent(s, path, f, node);
	} else if (!node || inherit(f, node)) {
		put_missing(s, path, f);
	} else if (f->kind == CONFIG_LIST) {
		show_list(s, path, f, node);
	} else {
		put_written(s, path, f, node, NULL);
	}
}

static void show_fields(const struct showing *s, const char *prefix,
	const struct config_field *fields, const struct yaml *map)
{
	for (; fields->key; fields++)
		if (fields->kind != CONFIG_REFUSED)
			show_field(s, prefix, fields, map ? yaml_get(map, fields->key) : NULL);
}

void resource_shown(struct arena *a, const struct resources *r, const struct resource_doc *doc,
	enum parallelism_mode mode, struct shown *out)
{
	const struct showing s = {a, r, doc, mode, doc->of, out};

	*out = (struct shown){0};
	show_fields(&s, "", doc->kind->fields, doc->tree);
}

void shown_release(struct shown *s)
{
	for (size_t i = 0; i < s->n; i++)
		json_free(&s->items[i].value);
}
