#include <stdarg.h>
#include "src/schema/schema.h"
#include "src/schema/schema_internal.h"

/* Nested alternatives can multiply: the number of nodes visited is bounded. */
enum { BUDGET = 20000000 };

/* Where the check is in the instance. */
struct schema_location {
	const struct schema_location *up;
	const char *key; /* NULL: an item */
	size_t index;
	const json *value;
};

struct schema_tally {
	size_t n;          /* faults */
	size_t mismatches; /* of these, faults that mean that another alternative was intended */
};

struct schema_checker {
	struct arena *arena;
	struct schema_fault *list;
	const json **values; /* the value of each fault */
	size_t listed;
	long budget;
	bool mute;           /* only the tally counts */
	const json *subject; /* the value whose alternatives are tried */
	struct schema_tally tally;
};

static void check_node(
	struct schema_checker *c, const struct schema_node *n, const struct schema_location *loc);

static void add_pointer(
	struct schema_checker *c, struct buf *out, const struct schema_location *loc)
{
	if (!loc->up)
		return;
	add_pointer(c, out, loc->up);
	if (loc->key)
		buf_adds(out, schema_pointer_add(c->arena, "", loc->key));
	else
		buf_addf(out, "/%zu", loc->index);
}

/* A wrong constant anywhere, or a wrong type or word of the value whose alternatives are tried. */
static bool mismatch(
	const struct schema_checker *c, const char *keyword, const struct schema_location *loc)
{
	if (strcmp(keyword, "const") == 0)
		return true;
	return loc->value == c->subject &&
	       (strcmp(keyword, "type") == 0 || strcmp(keyword, "enum") == 0);
}

static void list_fault(struct schema_checker *c, const char *keyword,
	const struct schema_location *loc, const char *text)
{
	CLEANUP(buf_release) struct buf at = BUF_INIT;

	add_pointer(c, &at, loc);
	c->values[c->listed] = loc->value;
	c->list[c->listed++] = (struct schema_fault){arena_dup(c->arena, buf_str(&at)), keyword,
		arena_dup(c->arena, str_of(text)), 0, 0};
}

static bool silent(const struct schema_checker *c)
{
	return c->mute || c->listed == SCHEMA_FAULTS_MAX;
}

static const char *show_value(const struct schema_checker *c, const json *value)
{
	return silent(c) ? "" : schema_display(c->arena, value);
}

static const char *show_text(const struct schema_checker *c, const char *text)
{
	return silent(c) ? "" : schema_display_text(c->arena, text);
}

PRINTF(4, 5)
static void schema_check_add_fault(struct schema_checker *c, const struct schema_rule *r,
	const struct schema_location *loc, const char *fmt, ...)
{
	CLEANUP(base_free) char *text = NULL;
	const char *keyword = r ? r->keyword->name : "false";
	va_list ap;

	c->tally.n++;
	c->tally.mismatches += mismatch(c, keyword, loc);
	if (silent(c))
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		base_oom();
	va_end(ap);
	list_fault(c, keyword, loc, text);
}

static void out_of_budget(struct schema_checker *c, const struct schema_location *loc)
{
	c->budget = -1; /* reported once */
	while (loc->up)
		loc = loc->up;
	c->tally.n++;
	c->tally.mismatches++;
	if (c->listed < SCHEMA_FAULTS_MAX)
		list_fault(c, "", loc, "the check takes too long with this schema");
}

void check_node(
	struct schema_checker *c, const struct schema_node *n, const struct schema_location *loc)
{
	unsigned kinds = schema_kinds(loc->value);

	if (c->budget < 0)
		return;
	if (c->budget-- == 0) {
		out_of_budget(c, loc);
		return;
	}
	if (n->never)
		schema_check_add_fault(c, NULL, loc, "no value is allowed here");
	for (const struct schema_rule *r = n->rules; r; r = r->next)
		if (r->keyword->check && (!r->keyword->kinds || (r->keyword->kinds & kinds)))
			r->keyword->check(c, r, loc);
}

static struct schema_tally check_silently(
	struct schema_checker *c, const struct schema_node *n, const struct schema_location *loc)
{
	struct schema_tally before = c->tally, got;
	const json *subject = c->subject;
	bool mute = c->mute;

	c->tally = (struct schema_tally){0};
	c->mute = true;
	c->subject = loc->value;
	check_node(c, n, loc);
	c->mute = mute;
	c->subject = subject;
	got = c->tally;
	c->tally = before;
	return got;
}

static const struct schema_rule *find_rule(const struct schema_node *n, const char *keyword)
{
	const struct schema_rule *r = n->rules;

	while (r && strcmp(r->keyword->name, keyword) != 0)
		r = r->next;
	return r;
}

#define CHECK(name)                                                                                \
	static void check_##name(struct schema_checker *c, const struct schema_rule *r,            \
		const struct schema_location *loc)

CHECK(type)
{
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	if (schema_kinds(loc->value) & r->kinds)
		return;
	for (unsigned bit = 1; bit <= IS_OBJECT; bit <<= 1) {
		if (!(r->kinds & bit))
			continue;
		buf_adds(&words, words.len ? " or " : "");
		buf_adds(&words, schema_kind_display(bit));
	}
	if (schema_kinds(loc->value) & (IS_OBJECT | IS_ARRAY))
		schema_check_add_fault(c, r, loc, "must be %s", words.s);
	else
		schema_check_add_fault(
			c, r, loc, "must be %s, not %s", words.s, show_value(c, loc->value));
}

static bool is_one_of(const struct schema_rule *r, const json *value)
{
	CLEANUP(buf_release) struct buf form = BUF_INIT;

	schema_canonical(&form, value);
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(form.s, r->names[i]) == 0)
			return true;
	return false;
}

CHECK(values)
{
	if (!is_one_of(r, loc->value))
		schema_check_add_fault(c, r, loc, "%s is not %s%s", show_value(c, loc->value),
			r->keyword->value == VALUE_ENUM ? "one of " : "", r->text);
}

/* How a number lies beyond a bound; NULL: it is within it. */
static const char *out_of_bounds(const char *keyword, double value, double bound)
{
	if (strcmp(keyword, "maximum") == 0)
		return value > bound ? "more than" : NULL;
	if (strcmp(keyword, "minimum") == 0)
		return value < bound ? "less than" : NULL;
	if (strcmp(keyword, "exclusiveMaximum") == 0)
		return value >= bound ? "not below" : NULL;
	return value <= bound ? "not above" : NULL;
}

CHECK(bound)
{
	const char *fault = out_of_bounds(r->keyword->name, json_number(loc->value, 0), r->number);

	if (fault)
		schema_check_add_fault(
			c, r, loc, "%s is %s %.15g", show_value(c, loc->value), fault, r->number);
}

static bool schema_check_whole(double n)
{
	return n == (double)(int64_t)n;
}

/* Both at most JSON_MAX_INT. Decimal fractions are not exact: 0.3 is three times 0.1 all the same.
 */
static bool is_multiple(double v, double of)
{
	double times = v / of, rest;

	if (schema_check_whole(v) && schema_check_whole(of))
		return (int64_t)v % (int64_t)of == 0;
	if (!(times < 9e15 && times > -9e15))
		return false;
	rest = v - (double)(int64_t)(times + (times < 0 ? -0.5 : 0.5)) * of;
	return (rest < 0 ? -rest : rest) <= of * 1e-6;
}

CHECK(multiple_of)
{
	if (!is_multiple(json_number(loc->value, 0), r->number))
		schema_check_add_fault(c, r, loc, "%s is not a multiple of %.15g",
			show_value(c, loc->value), r->number);
}

static bool is_maximum(const struct schema_rule *r)
{
	return strncmp(r->keyword->name, "max", 3) == 0;
}

/* Whether the number of characters, items or members is outside of the bound. */
static bool is_beyond(const struct schema_rule *r, size_t n)
{
	return is_maximum(r) ? (double)n > r->number : (double)n < r->number;
}

CHECK(length)
{
	if (is_beyond(r, str_characters(str_of(json_text(loc->value)))))
		schema_check_add_fault(c, r, loc, "%s is %s than %.0f character%s",
			show_value(c, loc->value), is_maximum(r) ? "longer" : "shorter", r->number,
			r->number == 1 ? "" : "s");
}

CHECK(count)
{
	size_t n = json_len(loc->value);

	if (is_beyond(r, n))
		schema_check_add_fault(c, r, loc, "has %zu %s, at %s %.0f are %s", n,
			json_is_array(loc->value) ? "items" : "members",
			is_maximum(r) ? "most" : "least", r->number,
			is_maximum(r) ? "allowed" : "required");
}

CHECK(pattern)
{
	if (!regex_match(r->patterns[0], str_of(json_text(loc->value))))
		schema_check_add_fault(
			c, r, loc, "%s does not match '%s'", show_value(c, loc->value), r->text);
}

CHECK(format)
{
	struct str text = str_of(json_text(loc->value));

	if ((r->patterns && !regex_match(r->patterns[0], text)) ||
		(r->accepts && !r->accepts(text)))
		schema_check_add_fault(
			c, r, loc, "%s is not a valid %s", show_value(c, loc->value), r->text);
}

struct item {
	char *form;
	size_t index;
	const json *value;
};

static int by_form(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int d = strcmp(x->form, y->form);

	return d ? d : x->index < y->index ? -1 : x->index > y->index;
}

static void report_duplicates(struct schema_checker *c, const struct schema_rule *r,
	const struct schema_location *loc, const struct item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct schema_location item = {loc, NULL, items[i].index, items[i].value};

		if (strcmp(items[i].form, items[i - 1].form) == 0)
			schema_check_add_fault(
				c, r, &item, "%s is a duplicate", show_value(c, item.value));
	}
}

CHECK(unique_items)
{
	size_t count = json_len(loc->value), i = 0;
	CLEANUP(base_free) struct item *items = NULL;
	struct arena forms = {0};

	if (r->number == 0 || count < 2)
		return;
	items = xmalloc(count * sizeof(*items));
	for (const json *m = json_first(loc->value); m; m = json_next(m), i++)
		items[i] = (struct item){schema_canonical_text(&forms, m), i, m};
	qsort(items, count, sizeof(*items), by_form);
	report_duplicates(c, r, loc, items, count);
	arena_release(&forms);
}

/* Moves `child`, all zero at first, to the next item or member of the instance. */
static bool next_child(const struct schema_location *loc, struct schema_location *child)
{
	child->index += child->up != NULL;
	child->value = child->up ? json_next(child->value) : json_first(loc->value);
	child->up = loc;
	child->key = child->value ? json_key(child->value) : NULL;
	return child->value;
}

CHECK(items)
{
	const struct schema_rule *prefix = find_rule(r->node, "prefixItems");
	struct schema_location item = {0};

	while (next_child(loc, &item))
		if (!prefix || item.index >= prefix->n)
			check_node(c, r->nodes[0], &item);
}

CHECK(prefix_items)
{
	struct schema_location item = {0};

	while (next_child(loc, &item) && item.index < r->n)
		check_node(c, r->nodes[item.index], &item);
}

CHECK(contains)
{
	struct schema_location item = {0};

	while (next_child(loc, &item))
		if (check_silently(c, r->nodes[0], &item).n == 0)
			return;
	schema_check_add_fault(c, r, loc, "no item matches the schema of 'contains'");
}

CHECK(required)
{
	for (size_t i = 0; i < r->n; i++)
		if (!json_get(loc->value, r->names[i]))
			schema_check_add_fault(
				c, r, loc, "%s is missing", show_text(c, r->names[i]));
}

CHECK(dependent_required)
{
	for (size_t i = 0; i + 1 < r->n; i += 2)
		if (json_get(loc->value, r->names[i]) && !json_get(loc->value, r->names[i + 1]))
			schema_check_add_fault(c, r, loc, "%s is missing; %s requires it",
				show_text(c, r->names[i + 1]), show_text(c, r->names[i]));
}

CHECK(properties)
{
	for (size_t i = 0; i < r->n; i++) {
		struct schema_location member = {
			loc, r->names[i], 0, json_get(loc->value, r->names[i])};

		if (member.value)
			check_node(c, r->nodes[i], &member);
	}
}

CHECK(pattern_properties)
{
	struct schema_location member = {0};

	while (next_child(loc, &member))
		for (size_t i = 0; i < r->n; i++)
			if (regex_match(r->patterns[i], str_of(member.key)))
				check_node(c, r->nodes[i], &member);
}

static bool is_evaluated(const struct schema_node *n, const char *key)
{
	const struct schema_rule *named = find_rule(n, "properties");
	const struct schema_rule *patterns = find_rule(n, "patternProperties");

	for (size_t i = 0; named && i < named->n; i++)
		if (strcmp(named->names[i], key) == 0)
			return true;
	for (size_t i = 0; patterns && i < patterns->n; i++)
		if (regex_match(patterns->patterns[i], str_of(key)))
			return true;
	return false;
}

CHECK(additional_properties)
{
	struct schema_location member = {0};

	while (next_child(loc, &member)) {
		if (is_evaluated(r->node, member.key))
			continue;
		if (r->nodes[0]->never)
			schema_check_add_fault(
				c, r, &member, "unknown key %s", show_text(c, member.key));
		else
			check_node(c, r->nodes[0], &member);
	}
}

/* The schema applies to the key as a string. */
CHECK(property_names)
{
	struct schema_location member = {0};

	while (next_child(loc, &member)) {
		CLEANUP(json_free) json *name = json_string(str_of(member.key));
		struct schema_location key = {loc, member.key, 0, name};

		if (check_silently(c, r->nodes[0], &key).n)
			schema_check_add_fault(c, r, &member, "%s is not an allowed key",
				show_text(c, member.key));
	}
}

CHECK(ref)
{
	check_node(c, r->nodes[0], loc);
}

CHECK(all_of)
{
	for (size_t i = 0; i < r->n; i++)
		check_node(c, r->nodes[i], loc);
}

/*
 * When exactly one alternative has the value's constants and type, its faults are reported instead
 * of "none matches".
 */
static void report_no_match(struct schema_checker *c, const struct schema_rule *r,
	const struct schema_location *loc, const struct schema_node *meant)
{
	if (meant && !c->mute)
		check_node(c, meant, loc);
	else
		schema_check_add_fault(c, r, loc, "matches none of the %zu allowed schemas", r->n);
}

/* `anyOf` and `oneOf` */
CHECK(alternatives)
{
	bool any = strcmp(r->keyword->name, "anyOf") == 0;
	const struct schema_node *meant = NULL;
	size_t fits = 0, like = 0;

	for (size_t i = 0; i < r->n && !(any && fits); i++) {
		struct schema_tally t = check_silently(c, r->nodes[i], loc);

		fits += t.n == 0;
		if (t.n && t.mismatches == 0 && ++like)
			meant = r->nodes[i];
	}
	if (fits == 0)
		report_no_match(c, r, loc, like == 1 ? meant : NULL);
	else if (fits > 1)
		schema_check_add_fault(c, r, loc,
			"matches %zu of the allowed schemas and must match exactly one", fits);
}

CHECK(not )
{
	if (check_silently(c, r->nodes[0], loc).n == 0)
		schema_check_add_fault(c, r, loc, "matches a schema that is not allowed here");
}

CHECK(if)
{
	bool holds = check_silently(c, r->nodes[0], loc).n == 0;
	const struct schema_rule *then = find_rule(r->node, holds ? "then" : "else");

	if (then)
		check_node(c, then->nodes[0], loc);
}

/* Sorted by name. Unknown keywords are refused: ignoring one would accept what it forbids. */
static const struct schema_keyword keywords[] = {
	{"$comment", VALUE_ANNOTATION, 0, false, NULL},
	{"$defs", VALUE_SCHEMA_MAP, 0, false, NULL},
	{"$id", VALUE_ANNOTATION, 0, false, NULL},
	{"$ref", VALUE_REF, 0, true, check_ref},
	{"$schema", VALUE_DRAFT, 0, false, NULL},
	{"additionalProperties", VALUE_SCHEMA, IS_OBJECT, false, check_additional_properties},
	{"allOf", VALUE_SCHEMAS, 0, true, check_all_of},
	{"anyOf", VALUE_SCHEMAS, 0, true, check_alternatives},
	{"const", VALUE_CONST, 0, false, check_values},
	{"contains", VALUE_SCHEMA, IS_ARRAY, false, check_contains},
	{"default", VALUE_ANNOTATION, 0, false, NULL},
	{"dependentRequired", VALUE_NAMES_MAP, IS_OBJECT, false, check_dependent_required},
	{"deprecated", VALUE_ANNOTATION, 0, false, NULL},
	{"description", VALUE_ANNOTATION, 0, false, NULL},
	{"else", VALUE_SCHEMA, 0, true, NULL},
	{"enum", VALUE_ENUM, 0, false, check_values},
	{"examples", VALUE_ANNOTATION, 0, false, NULL},
	{"exclusiveMaximum", VALUE_NUMBER, IS_NUMBER, false, check_bound},
	{"exclusiveMinimum", VALUE_NUMBER, IS_NUMBER, false, check_bound},
	{"format", VALUE_FORMAT, IS_TEXT, false, check_format},
	{"if", VALUE_SCHEMA, 0, true, check_if},
	{"items", VALUE_SCHEMA, IS_ARRAY, false, check_items},
	{"maxItems", VALUE_COUNT, IS_ARRAY, false, check_count},
	{"maxLength", VALUE_COUNT, IS_TEXT, false, check_length},
	{"maxProperties", VALUE_COUNT, IS_OBJECT, false, check_count},
	{"maximum", VALUE_NUMBER, IS_NUMBER, false, check_bound},
	{"minItems", VALUE_COUNT, IS_ARRAY, false, check_count},
	{"minLength", VALUE_COUNT, IS_TEXT, false, check_length},
	{"minProperties", VALUE_COUNT, IS_OBJECT, false, check_count},
	{"minimum", VALUE_NUMBER, IS_NUMBER, false, check_bound},
	{"multipleOf", VALUE_ABOVE_ZERO, IS_NUMBER, false, check_multiple_of},
	{"not", VALUE_SCHEMA, 0, true, check_not},
	{"oneOf", VALUE_SCHEMAS, 0, true, check_alternatives},
	{"pattern", VALUE_PATTERN, IS_TEXT, false, check_pattern},
	{"patternProperties", VALUE_PATTERN_MAP, IS_OBJECT, false, check_pattern_properties},
	{"prefixItems", VALUE_SCHEMAS, IS_ARRAY, false, check_prefix_items},
	{"properties", VALUE_SCHEMA_MAP, IS_OBJECT, false, check_properties},
	{"propertyNames", VALUE_SCHEMA, IS_OBJECT, false, check_property_names},
	{"readOnly", VALUE_ANNOTATION, 0, false, NULL},
	{"required", VALUE_NAMES, IS_OBJECT, false, check_required},
	{"then", VALUE_SCHEMA, 0, true, NULL},
	{"title", VALUE_ANNOTATION, 0, false, NULL},
	{"type", VALUE_KINDS, 0, false, check_type},
	{"uniqueItems", VALUE_BOOL, IS_ARRAY, false, check_unique_items},
	{"writeOnly", VALUE_ANNOTATION, 0, false, NULL},
	{0},
};

static int schema_check_by_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct schema_keyword *)row)->name);
}

const struct schema_keyword *schema_keyword_find(const char *name)
{
	return bsearch(
		name, keywords, COUNT(keywords) - 1, sizeof(keywords[0]), schema_check_by_name);
}

/* Sorts the faults, listed in the order of the schema, by their place in the instance. */
static void sort_faults(const struct schema_checker *c, const json *j, struct schema_faults *out)
{
	for (size_t i = 0; i < c->listed; i++)
		if (c->values[i] == j)
			out->list[out->n++] = c->list[i];
	for (const json *m = json_first(j); m && out->n < c->listed; m = json_next(m))
		sort_faults(c, m, out);
}

size_t schema_check(
	struct arena *a, const struct schema *s, const json *instance, struct schema_faults *out)
{
	struct schema_checker c = {.arena = a, .budget = BUDGET};
	struct schema_location whole = {.value = instance};

	c.list = arena_alloc(a, SCHEMA_FAULTS_MAX * sizeof(*c.list));
	c.values = arena_alloc(a, SCHEMA_FAULTS_MAX * sizeof(const json *));
	check_node(&c, s->root, &whole);
	*out = (struct schema_faults){
		.list = arena_alloc(a, SCHEMA_FAULTS_MAX * sizeof(*out->list))};
	sort_faults(&c, instance, out);
	return c.tally.n;
}

int schema_check_text(struct arena *a, const struct schema *s, const char *file, struct str text,
	struct schema_faults *out, struct error *err)
{
	CLEANUP(json_free) json *instance = NULL;

	*out = (struct schema_faults){0};
	if (schema_read_json(&instance, file, text, err) < 0)
		return -1;
	(void)schema_check(a, s, instance, out);
	for (size_t i = 0; i < out->n; i++)
		(void)schema_locate_json(
			text, out->list[i].at, &out->list[i].line, &out->list[i].col);
	return 0;
}
