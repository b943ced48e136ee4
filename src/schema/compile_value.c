#include "src/schema/schema_internal.h"

static int not_so(struct compiler *c, const struct rule *r, const char *what)
{
	return compile_fault(c, r->at, "'%s' must be %s", r->keyword->name, what);
}

static int read_draft(struct compiler *c, struct rule *r, const json *value)
{
	static const char draft[] = "https://json-schema.org/draft/2020-12/schema";
	const char *text = json_text(value);

	if (!text || strncmp(text, draft, sizeof(draft) - 1) != 0 ||
		(text[sizeof(draft) - 1] && strcmp(text + sizeof(draft) - 1, "#") != 0))
		return compile_fault(c, r->at, "'$schema' must be '%s'", draft);
	return 0;
}

static int read_kinds(struct compiler *c, struct rule *r, const json *value)
{
	const json *list = json_is_array(value) ? json_first(value) : value;

	while (list) {
		unsigned bit = json_text(list) ? kind_named(json_text(list)) : 0;

		if (!bit || (r->kinds & bit))
			break;
		r->kinds |= bit;
		list = json_is_array(value) ? json_next(list) : NULL;
	}
	if (list || !r->kinds)
		return not_so(c, r,
			"one or several different of 'array', 'boolean', 'integer', 'null', "
			"'number', 'object', 'string'");
	return 0;
}

static int read_number(struct compiler *c, struct rule *r, const json *value)
{
	r->number = json_number(value, 0);
	if (!json_is_number(value))
		return not_so(c, r, "a number");
	if (r->keyword->value == VALUE_ABOVE_ZERO && !(r->number > 0))
		return not_so(c, r, "above 0");
	return 0;
}

static int read_count(struct compiler *c, struct rule *r, const json *value)
{
	int64_t count = json_int(value, -1);

	r->number = (double)count;
	return count < 0 ? not_so(c, r, "a whole number from 0 on") : 0;
}

static int read_bool(struct compiler *c, struct rule *r, const json *value)
{
	r->number = json_is_true(value);
	return json_is_bool(value) ? 0 : not_so(c, r, "true or false");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool differ(const char **names, size_t n)
{
	CLEANUP(free_ptr) const char **sorted = xmalloc((n + 1) * sizeof(const char *));
	bool good = true;

	if (n)
		memcpy(sorted, names, n * sizeof(const char *));
	qsort(sorted, n, sizeof(const char *), by_text);
	for (size_t i = 1; i < n; i++)
		good = good && strcmp(sorted[i], sorted[i - 1]) != 0;
	return good;
}

static void make_room(struct compiler *c, struct rule *r, const json *value)
{
	size_t n = json_len(value);

	r->names = arena_alloc(c->arena, (n + 1) * sizeof(const char *));
	r->nodes = arena_alloc(c->arena, (n + 1) * sizeof(struct node *));
	r->patterns = arena_alloc(c->arena, (n + 1) * sizeof(struct pattern *));
}

static int read_names(struct compiler *c, struct rule *r, const json *value)
{
	make_room(c, r, value);
	for (const json *m = json_first(value); json_is_array(value) && m; m = json_next(m)) {
		if (!json_text(m))
			return not_so(c, r, "a list of texts");
		r->names[r->n++] = arena_dup(c->arena, str_of(json_text(m)));
	}
	if (!json_is_array(value) || !differ(r->names, r->n))
		return not_so(c, r, "a list of different texts");
	return 0;
}

static int read_pattern_text(
	struct compiler *c, const struct rule *r, const char *text, struct pattern **out)
{
	struct error why;

	if (pattern_compile(c->arena, str_of(text), out, &why) < 0)
		return compile_fault(c, r->at, "%s: %s", why.text, text_shown(c->arena, text));
	return 0;
}

static int read_pattern(struct compiler *c, struct rule *r, const json *value)
{
	if (!json_text(value))
		return not_so(c, r, "a text");
	r->patterns = arena_alloc(c->arena, sizeof(struct pattern *));
	r->text = arena_dup(c->arena, str_of(json_text(value)));
	return read_pattern_text(c, r, r->text, r->patterns);
}

static int read_format(struct compiler *c, struct rule *r, const json *value)
{
	r->format = json_text(value) ? format_named(json_text(value)) : NULL;
	if (!r->format)
		return not_so(c, r, "one of 'date', 'date-time', 'duration', 'uri'");
	r->text = arena_dup(c->arena, str_of(json_text(value)));
	return 0;
}

static int read_any(struct compiler *c, struct rule *r, const json *value)
{
	r->names = arena_alloc(c->arena, sizeof(const char *));
	r->names[0] = value_of(c->arena, value);
	r->text = value_shown(c->arena, value);
	r->n = 1;
	return 0;
}

static int read_anys(struct compiler *c, struct rule *r, const json *value)
{
	CLEANUP(buf_release) struct buf shown = BUF_INIT;

	if (!json_is_array(value) || !json_first(value))
		return not_so(c, r, "a list of values");
	make_room(c, r, value);
	for (const json *m = json_first(value); m; m = json_next(m)) {
		if (r->n)
			buf_adds(&shown, ", ");
		buf_adds(&shown, value_shown(c->arena, m));
		r->names[r->n++] = value_of(c->arena, m);
	}
	r->text = arena_dup(c->arena, buf_str(&shown));
	return differ(r->names, r->n) ? 0 : not_so(c, r, "a list of different values");
}

static int add_node(struct compiler *c, struct rule *r, const char *at, const json *value)
{
	r->nodes[r->n] = compile_node(c, at, value);
	return r->nodes[r->n++] ? 0 : -1;
}

static int read_schema(struct compiler *c, struct rule *r, const json *value)
{
	r->nodes = arena_alloc(c->arena, sizeof(struct node *));
	return add_node(c, r, r->at, value);
}

static int read_schemas(struct compiler *c, struct rule *r, const json *value)
{
	if (!json_is_array(value) || !json_first(value))
		return not_so(c, r, "a list of schemas");
	make_room(c, r, value);
	for (const json *m = json_first(value); m; m = json_next(m))
		if (add_node(c, r, arena_printf(c->arena, "%s/%zu", r->at, r->n), m) < 0)
			return -1;
	return 0;
}

static int read_map(struct compiler *c, struct rule *r, const json *value)
{
	if (!json_is_object(value))
		return not_so(c, r, "an object of schemas");
	make_room(c, r, value);
	for (const json *m = json_first(value); m; m = json_next(m)) {
		const char *key = json_key(m);

		r->names[r->n] = arena_dup(c->arena, str_of(key));
		if (r->keyword->value == VALUE_PATTERN_MAP &&
			read_pattern_text(c, r, key, &r->patterns[r->n]) < 0)
			return -1;
		if (add_node(c, r, pointer_add(c->arena, r->at, key), m) < 0)
			return -1;
	}
	return 0;
}

/* Pairs: if the first is there, the second must be. */
static int read_names_map(struct compiler *c, struct rule *r, const json *value)
{
	size_t pairs = 0;

	if (!json_is_object(value))
		return not_so(c, r, "an object of lists of texts");
	for (const json *m = json_first(value); m; m = json_next(m))
		pairs += json_len(m);
	r->names = arena_alloc(c->arena, (2 * pairs + 1) * sizeof(const char *));
	for (const json *m = json_first(value); m; m = json_next(m)) {
		if (!json_is_array(m))
			return not_so(c, r, "an object of lists of texts");
		for (const json *t = json_first(m); t; t = json_next(t)) {
			if (!json_text(t))
				return not_so(c, r, "an object of lists of texts");
			r->names[r->n++] = arena_dup(c->arena, str_of(json_key(m)));
			r->names[r->n++] = arena_dup(c->arena, str_of(json_text(t)));
		}
	}
	return 0;
}

static int read_ref(struct compiler *c, struct rule *r, const json *value)
{
	const char *text = json_text(value);

	if (!text || text[0] != '#' || (text[1] && text[1] != '/'))
		return not_so(c, r, "'#' or '#/...': a place in the same schema");
	r->text = arena_dup(c->arena, str_of(text));
	return 0;
}

static int read_nothing(struct compiler *c, struct rule *r, const json *value)
{
	(void)c;
	(void)r;
	(void)value;
	return 0;
}

int compile_value(struct compiler *c, struct rule *r, const json *value)
{
	static int (*const readers[])(struct compiler *, struct rule *, const json *) = {
		[VALUE_NOTHING] = read_nothing,
		[VALUE_DRAFT] = read_draft,
		[VALUE_KINDS] = read_kinds,
		[VALUE_NUMBER] = read_number,
		[VALUE_ABOVE_ZERO] = read_number,
		[VALUE_COUNT] = read_count,
		[VALUE_BOOL] = read_bool,
		[VALUE_NAMES] = read_names,
		[VALUE_PATTERN] = read_pattern,
		[VALUE_FORMAT] = read_format,
		[VALUE_ANY] = read_any,
		[VALUE_ANYS] = read_anys,
		[VALUE_SCHEMA] = read_schema,
		[VALUE_SCHEMAS] = read_schemas,
		[VALUE_SCHEMA_MAP] = read_map,
		[VALUE_PATTERN_MAP] = read_map,
		[VALUE_NAMES_MAP] = read_names_map,
		[VALUE_REF] = read_ref,
	};

	return readers[r->keyword->value](c, r, value);
}
