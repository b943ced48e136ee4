#include "src/config/resource_internal.h"

static const struct config_field *find(const struct config_field *fields, const char *key)
{
	while (strcmp(fields->key, key) != 0)
		fields++;
	return fields;
}

/* A value as it would be written without quotes. */
static struct yaml plain(const char *text)
{
	return (struct yaml){.kind = YAML_SCALAR, .plain = true, .text = str_of(text)};
}

/* ---- the JSON Schema ---- */

static void put_type(json *j, const char *type)
{
	json_put_str(j, "type", str_of(type));
}

static void put_names(json *j, const char *key, const char *const *names)
{
	json *list = json_array();

	for (; *names; names++)
		json_push_str(list, str_of(*names));
	json_put(j, key, list);
}

static void put_text_schema(json *j, const struct config_field *f)
{
	const struct config_form *form = f->form;

	put_type(j, "string");
	if (f->words) {
		put_names(j, "enum", f->words);
		return;
	}
	json_put_int(j, "minLength", 1);
	json_put_int(j, "maxLength", form->max);
	if (form->pattern)
		json_put_str(j, "pattern", str_of(form->pattern));
	if (f->kind == CONFIG_DURATION && f->min > 0) {
		json *all = json_array(), *digit = json_object();

		/* A duration is longer than zero if a digit of it is. */
		json_put_str(digit, "pattern", STR("[1-9]"));
		json_push(all, digit);
		json_put(j, "allOf", all);
	}
}

static void put_number_schema(json *j, const struct config_field *f)
{
	put_type(j, f->kind == CONFIG_NUMBER ? "number" : "integer");
	json_put_number(j, f->above ? "exclusiveMinimum" : "minimum", f->min);
	json_put_number(j, "maximum", f->max ? f->max : (double)JSON_MAX_INT);
}

static void put_map_schema(json *j, const struct config_field *fields);

static void put_list_schema(json *j, const struct config_field *f)
{
	json *items = json_object();

	put_type(j, "array");
	if (f->min > 0)
		json_put_int(j, "minItems", (int64_t)f->min);
	json_put_int(j, "maxItems", (int64_t)f->max);
	if (f->once)
		json_put_bool(j, "uniqueItems", true);
	if (f->kind == CONFIG_TEXTS)
		put_text_schema(items, f);
	else
		put_map_schema(items, f->fields);
	json_put(j, "items", items);
}

static void put_labels_schema(json *j)
{
	json *text = json_object();

	put_type(text, "string");
	put_type(j, "object");
	json_put(j, "additionalProperties", text);
}

static void put_field_schema(json *j, const struct config_field *f)
{
	switch (f->kind) {
	case CONFIG_INTEGER:
	case CONFIG_NUMBER:
		put_number_schema(j, f);
		break;
	case CONFIG_BOOL:
		put_type(j, "boolean");
		break;
	case CONFIG_TEXTS:
	case CONFIG_LIST:
		put_list_schema(j, f);
		break;
	case CONFIG_GROUP:
		put_map_schema(j, f->fields);
		break;
	case CONFIG_OPEN:
		put_type(j, f->list ? "array" : "object");
		break;
	case CONFIG_LABELS:
		put_labels_schema(j);
		break;
	default: /* texts of all kinds */
		put_text_schema(j, f);
	}
}

static json *preset_json(const struct config_field *f)
{
	const struct yaml node = plain(f->preset);

	return f->kind == CONFIG_TEXTS ? json_array() : config_json(&node);
}

/* {"if": the deciding key has one of the values, "then": this one is required}. If the deciding key
 * is missing, its default decides: a schema's `properties` also accepts a missing key. The values
 * have the type that the deciding key has: `true` is no text. */
static json *condition_schema(const struct config_field *fields, const struct config_field *f)
{
	json *j = json_object(), *when = json_object(), *key = json_object(), *is = json_object(),
	     *then = json_object(), *values = json_array();

	for (size_t i = 0; f->required_is[i]; i++) {
		const struct yaml node = plain(f->required_is[i]);

		json_push(values, config_json(&node));
	}
	json_put(is, "enum", values);
	json_put(key, f->required_when, is);
	json_put(when, "properties", key);
	if (!find(fields, f->required_when)->preset)
		put_names(when, "required", (const char *const[]){f->required_when, NULL});
	put_names(then, "required", (const char *const[]){f->key, NULL});
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

static void put_map_schema(json *j, const struct config_field *fields)
{
	json *required = json_array(), *properties = json_object(), *all = json_array();

	put_type(j, "object");
	for (const struct config_field *f = fields; f->key; f++) {
		json *property;

		if (f->kind == CONFIG_REFUSED)
			continue;
		property = json_object();
		put_field_schema(property, f);
		if (f->about)
			json_put_str(property, "description", str_of(f->about));
		if (f->preset)
			json_put(property, "default", preset_json(f));
		json_put(properties, f->key, property);
		if (f->required)
			json_push_str(required, str_of(f->key));
		if (f->required_when)
			json_push(all, condition_schema(fields, f));
	}
	put_list(j, "required", required);
	json_put(j, "properties", properties);
	json_put_bool(j, "additionalProperties", false);
	put_list(j, "allOf", all);
}

void resource_schema(const struct resource_kind *kind, struct buf *out)
{
	CLEANUP(json_free) json *j = json_object();

	json_put_str(j, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_put_str(j, "title", str_of(kind->name));
	json_put_str(j, "description", str_of(kind->about));
	put_map_schema(j, kind->fields);
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

static void add(const struct showing *s, struct shown_field field)
{
	vec_push_in(s->a, s->out, field);
}

static void put_written(const struct showing *s, const char *path, const struct config_field *f,
	const struct yaml *node, const char *why)
{
	add(s, (struct shown_field){path, value_of(s, f, node), ORIGIN_WRITTEN, s->doc->file,
		       node->line, why, f->inert});
}

static void put_default(const struct showing *s, const char *path, const struct config_field *f)
{
	const struct yaml text = plain(f->preset), list = {.kind = YAML_LIST};

	add(s, (struct shown_field){.path = path,
		       .value = value_of(s, f, f->kind == CONFIG_TEXTS ? &list : &text),
		       .origin = ORIGIN_DEFAULT});
}

static void put_computed(
	const struct showing *s, const char *path, enum origin origin, json *value, const char *why)
{
	add(s, (struct shown_field){.path = path, .value = value, .origin = origin, .why = why});
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
	const char *why;
	enum origin origin = ORIGIN_DEFAULT;
	struct parallelism n;
	struct yaml number;

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
	number = plain(arena_printf(s->a, "%u", n.max));
	put_computed(s, path, origin, config_json(&number), why);
}

static void put_missing(const struct showing *s, const char *path, const struct config_field *f)
{
	const struct pipeline *p = s->doc->of;

	if (f->inherits)
		put_inherited(s, path, f);
	else if (f->preset)
		put_default(s, path, f);
	else if (strcmp(f->key, "isolation") == 0)
		put_computed(s, path, ORIGIN_DERIVED,
			json_string(p->parallel ? STR("worktree") : STR("inplace")),
			p->parallel ? "the pipeline has `parallelism`"
				    : "the pipeline has no `parallelism`");
	else if (strcmp(f->key, "worktreePool") == 0 && p->parallel)
		put_computed(
			s, path, ORIGIN_DERIVED, json_string(str_of(p->worktree_pool)), f->derived);
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
