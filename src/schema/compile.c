#include <stdarg.h>
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/schema/schema_internal.h"

struct compiler {
	struct arena *arena;
	const char *name;
	struct str text;
	VEC(struct schema_node *) nodes;
	struct error *err;
};

PRINTF(3, 4)
static int compile_fault(struct compiler *c, const char *at, const char *fmt, ...)
{
	char text[sizeof(c->err->text)];
	unsigned line = 1, col = 1;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)schema_locate_json(c->text, at, &line, &col);
	return error_at(c->err, c->name, line, col, "%s", text);
}

char *schema_pointer_add(struct arena *a, const char *at, const char *key)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_adds(&b, at);
	buf_addc(&b, '/');
	for (; *key; key++) {
		if (*key == '~' || *key == '/')
			buf_adds(&b, *key == '~' ? "~0" : "~1");
		else
			buf_addc(&b, *key);
	}
	return arena_dup(a, buf_str(&b));
}

static struct schema_node *compile_node(struct compiler *c, const char *at, const json *value);

static int bad_value(struct compiler *c, const struct schema_rule *r, const char *what)
{
	return compile_fault(c, r->at, "'%s' must be %s", r->keyword->name, what);
}

static int read_draft(struct compiler *c, struct schema_rule *r, const json *value)
{
	static const char draft[] = "https://json-schema.org/draft/2020-12/schema";
	const char *text = json_text(value);

	if (!text || strncmp(text, draft, sizeof(draft) - 1) != 0 ||
		(text[sizeof(draft) - 1] && strcmp(text + sizeof(draft) - 1, "#") != 0))
		return compile_fault(c, r->at, "'$schema' must be '%s'", draft);
	return 0;
}

static int read_kinds(struct compiler *c, struct schema_rule *r, const json *value)
{
	const json *list = json_is_array(value) ? json_first(value) : value;

	while (list) {
		unsigned bit = json_text(list) ? schema_kind_find(json_text(list)) : 0;

		if (!bit || (r->kinds & bit))
			break;
		r->kinds |= bit;
		list = json_is_array(value) ? json_next(list) : NULL;
	}
	if (list || !r->kinds)
		return bad_value(c, r,
			"one or more different of 'array', 'boolean', 'integer', 'null', "
			"'number', 'object', 'string'");
	return 0;
}

static int compile_read_number(struct compiler *c, struct schema_rule *r, const json *value)
{
	r->number = json_number(value, 0);
	if (!json_is_number(value))
		return bad_value(c, r, "a number");
	if (r->keyword->value == VALUE_ABOVE_ZERO && !(r->number > 0))
		return bad_value(c, r, "greater than 0");
	return 0;
}

static int read_count(struct compiler *c, struct schema_rule *r, const json *value)
{
	int64_t count = json_int(value, -1);

	r->number = (double)count;
	return count < 0 ? bad_value(c, r, "a whole number, at least 0") : 0;
}

static int compile_read_bool(struct compiler *c, struct schema_rule *r, const json *value)
{
	r->number = json_is_true(value);
	return json_is_bool(value) ? 0 : bad_value(c, r, "true or false");
}

static bool differ(const char **names, size_t n)
{
	VEC(const char *) sorted = {0};
	bool good = true;

	for (size_t i = 0; i < n; i++)
		vec_push(&sorted, names[i]);
	vec_sort(&sorted, vec_by_text);
	for (size_t i = 1; i < n; i++)
		good = good && strcmp(sorted.items[i], sorted.items[i - 1]) != 0;
	vec_release(&sorted);
	return good;
}

static void make_room(struct compiler *c, struct schema_rule *r, const json *value)
{
	size_t n = json_len(value);

	r->names = arena_alloc(c->arena, (n + 1) * sizeof(const char *));
	r->nodes = arena_alloc(c->arena, (n + 1) * sizeof(struct schema_node *));
	r->patterns = arena_alloc(c->arena, (n + 1) * sizeof(struct regex *));
}

static int read_names(struct compiler *c, struct schema_rule *r, const json *value)
{
	make_room(c, r, value);
	for (const json *m = json_first(value); json_is_array(value) && m; m = json_next(m)) {
		if (!json_text(m))
			return bad_value(c, r, "an array of strings");
		r->names[r->n++] = arena_dup(c->arena, str_of(json_text(m)));
	}
	if (!json_is_array(value) || !differ(r->names, r->n))
		return bad_value(c, r, "an array of different strings");
	return 0;
}

static int read_pattern_text(
	struct compiler *c, const struct schema_rule *r, const char *text, struct regex **out)
{
	struct error why;

	if (regex_compile(c->arena, str_of(text), out, &why) < 0)
		return compile_fault(
			c, r->at, "%s: %s", why.text, schema_display_text(c->arena, text));
	return 0;
}

static int read_pattern(struct compiler *c, struct schema_rule *r, const json *value)
{
	if (!json_text(value))
		return bad_value(c, r, "a string");
	r->patterns = arena_alloc(c->arena, sizeof(struct regex *));
	r->text = arena_dup(c->arena, str_of(json_text(value)));
	return read_pattern_text(c, r, r->text, r->patterns);
}

static int read_format(struct compiler *c, struct schema_rule *r, const json *value)
{
	const struct schema_format *format =
		json_text(value) ? schema_format_find(json_text(value)) : NULL;

	if (!format)
		return bad_value(c, r, "one of 'date', 'date-time', 'duration', 'uri'");
	r->text = format->name;
	r->accepts = format->accepts;
	if (!format->pattern)
		return 0;
	r->patterns = arena_alloc(c->arena, sizeof(struct regex *));
	return read_pattern_text(c, r, format->pattern, r->patterns);
}

static int read_const(struct compiler *c, struct schema_rule *r, const json *value)
{
	r->names = arena_alloc(c->arena, sizeof(const char *));
	r->names[0] = schema_canonical_text(c->arena, value);
	r->text = schema_display(c->arena, value);
	r->n = 1;
	return 0;
}

static int read_enum(struct compiler *c, struct schema_rule *r, const json *value)
{
	CLEANUP(buf_release) struct buf shown = BUF_INIT;

	if (!json_is_array(value) || !json_first(value))
		return bad_value(c, r, "an array of values");
	make_room(c, r, value);
	for (const json *m = json_first(value); m; m = json_next(m)) {
		if (r->n)
			buf_adds(&shown, ", ");
		buf_adds(&shown, schema_display(c->arena, m));
		r->names[r->n++] = schema_canonical_text(c->arena, m);
	}
	r->text = arena_dup(c->arena, buf_str(&shown));
	return differ(r->names, r->n) ? 0 : bad_value(c, r, "an array of different values");
}

static int compile_add_node(
	struct compiler *c, struct schema_rule *r, const char *at, const json *value)
{
	r->nodes[r->n] = compile_node(c, at, value);
	return r->nodes[r->n++] ? 0 : -1;
}

static int read_schema(struct compiler *c, struct schema_rule *r, const json *value)
{
	r->nodes = arena_alloc(c->arena, sizeof(struct schema_node *));
	return compile_add_node(c, r, r->at, value);
}

static int read_schemas(struct compiler *c, struct schema_rule *r, const json *value)
{
	if (!json_is_array(value) || !json_first(value))
		return bad_value(c, r, "an array of schemas");
	make_room(c, r, value);
	for (const json *m = json_first(value); m; m = json_next(m))
		if (compile_add_node(c, r, arena_printf(c->arena, "%s/%zu", r->at, r->n), m) < 0)
			return -1;
	return 0;
}

static int compile_read_map(struct compiler *c, struct schema_rule *r, const json *value)
{
	if (!json_is_object(value))
		return bad_value(c, r, "an object of schemas");
	make_room(c, r, value);
	for (const json *m = json_first(value); m; m = json_next(m)) {
		const char *key = json_key(m);

		r->names[r->n] = arena_dup(c->arena, str_of(key));
		if (r->keyword->value == VALUE_PATTERN_MAP &&
			read_pattern_text(c, r, key, &r->patterns[r->n]) < 0)
			return -1;
		if (compile_add_node(c, r, schema_pointer_add(c->arena, r->at, key), m) < 0)
			return -1;
	}
	return 0;
}

/* Pairs of names: if the first is present, the second is required. */
static int read_names_map(struct compiler *c, struct schema_rule *r, const json *value)
{
	size_t pairs = 0;

	if (!json_is_object(value))
		return bad_value(c, r, "an object of arrays of strings");
	for (const json *m = json_first(value); m; m = json_next(m))
		pairs += json_len(m);
	r->names = arena_alloc(c->arena, (2 * pairs + 1) * sizeof(const char *));
	for (const json *m = json_first(value); m; m = json_next(m)) {
		if (!json_is_array(m))
			return bad_value(c, r, "an object of arrays of strings");
		for (const json *t = json_first(m); t; t = json_next(t)) {
			if (!json_text(t))
				return bad_value(c, r, "an object of arrays of strings");
			r->names[r->n++] = arena_dup(c->arena, str_of(json_key(m)));
			r->names[r->n++] = arena_dup(c->arena, str_of(json_text(t)));
		}
	}
	return 0;
}

static int read_ref(struct compiler *c, struct schema_rule *r, const json *value)
{
	const char *text = json_text(value);

	if (!text || text[0] != '#' || (text[1] && text[1] != '/'))
		return bad_value(c, r, "'#' or '#/...': a place in the same schema");
	r->text = arena_dup(c->arena, str_of(text));
	return 0;
}

static int compile_value(struct compiler *c, struct schema_rule *r, const json *value)
{
	static int (*const readers[])(struct compiler *, struct schema_rule *, const json *) = {
		[VALUE_DRAFT] = read_draft,
		[VALUE_KINDS] = read_kinds,
		[VALUE_NUMBER] = compile_read_number,
		[VALUE_ABOVE_ZERO] = compile_read_number,
		[VALUE_COUNT] = read_count,
		[VALUE_BOOL] = compile_read_bool,
		[VALUE_NAMES] = read_names,
		[VALUE_PATTERN] = read_pattern,
		[VALUE_FORMAT] = read_format,
		[VALUE_CONST] = read_const,
		[VALUE_ENUM] = read_enum,
		[VALUE_SCHEMA] = read_schema,
		[VALUE_SCHEMAS] = read_schemas,
		[VALUE_SCHEMA_MAP] = compile_read_map,
		[VALUE_PATTERN_MAP] = compile_read_map,
		[VALUE_NAMES_MAP] = read_names_map,
		[VALUE_REF] = read_ref,
	};

	return r->keyword->value == VALUE_ANNOTATION ? 0 : readers[r->keyword->value](c, r, value);
}

static int compile_rule(struct compiler *c, struct schema_node *n, const json *member)
{
	const char *name = json_key(member);
	const struct schema_keyword *k = schema_keyword_find(name);
	char *at = schema_pointer_add(c->arena, n->at, name);
	struct schema_rule *r;

	if (!k)
		return compile_fault(
			c, at, "unknown schema keyword %s", schema_display_text(c->arena, name));
	r = arena_alloc(c->arena, sizeof(*r));
	*r = (struct schema_rule){.keyword = k, .node = n, .at = at};
	if (compile_value(c, r, member) < 0)
		return -1;
	*n->end = r;
	n->end = (struct schema_rule **)&r->next;
	return 0;
}

static struct schema_node *compile_node(struct compiler *c, const char *at, const json *value)
{
	struct schema_node *n = arena_alloc(c->arena, sizeof(*n));

	n->at = at;
	n->end = (struct schema_rule **)&n->rules;
	vec_push(&c->nodes, n);
	if (json_is_bool(value)) {
		n->never = !json_is_true(value);
		return n;
	}
	if (!json_is_object(value)) {
		compile_fault(c, at, "a schema must be an object, true or false");
		return NULL;
	}
	for (const json *m = json_first(value); m; m = json_next(m))
		if (compile_rule(c, n, m) < 0)
			return NULL;
	return n;
}

static int by_pointer(const void *a, const void *b)
{
	return strcmp((*(struct schema_node *const *)a)->at, (*(struct schema_node *const *)b)->at);
}

static int find_pointer(const void *at, const void *node)
{
	return strcmp(at, (*(struct schema_node *const *)node)->at);
}

/* `#/a%20b` as `/a b`. */
static char *unescaped(struct arena *a, const char *ref)
{
	char *out = arena_dup(a, str_of(ref + 1)), *to = out;

	for (const char *p = ref + 1; *p; p++) {
		uint64_t byte;

		if (*p == '%' && p[1] && number_hex((struct str){p + 1, 2}, &byte) && byte) {
			*to++ = (char)byte;
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

static int resolve_ref(struct compiler *c, struct schema_rule *r)
{
	char *at = unescaped(c->arena, r->text);
	struct schema_node **found =
		bsearch(at, c->nodes.items, c->nodes.n, sizeof(struct schema_node *), find_pointer);

	if (!found)
		return compile_fault(c, r->at, "'$ref' does not lead to a schema: %s",
			schema_display_text(c->arena, r->text));
	r->nodes = arena_alloc(c->arena, sizeof(struct schema_node *));
	r->nodes[0] = *found;
	r->n = 1;
	return 0;
}

static int resolve_refs(struct compiler *c)
{
	vec_sort(&c->nodes, by_pointer);
	for (size_t i = 0; i < c->nodes.n; i++)
		for (const struct schema_rule *r = c->nodes.items[i]->rules; r; r = r->next)
			if (r->keyword->value == VALUE_REF &&
				resolve_ref(c, (struct schema_rule *)r) < 0)
				return -1;
	return 0;
}

enum { NOT_VISITED, VISITING, VISITED };

/*
 * Round by keywords that hold the same instance: no instance would ever come to an end. Below a
 * member or an item the instance gets smaller. The stack is kept here: a chain of `$ref` may be
 * long.
 */
struct cycle_step {
	struct schema_node *node;
	const struct schema_rule *rule;
	size_t i;
};

static int find_cycle(struct compiler *c, struct schema_node *first, struct cycle_step *stack)
{
	size_t n = 0;

	stack[n++] = (struct cycle_step){first, first->rules, 0};
	first->visit = VISITING;
	while (n) {
		struct cycle_step *s = &stack[n - 1];
		struct schema_node *next;

		while (s->rule && (!s->rule->keyword->in_place || s->i >= s->rule->n)) {
			s->rule = s->rule->next;
			s->i = 0;
		}
		if (!s->rule) {
			s->node->visit = VISITED;
			n--;
			continue;
		}
		next = s->rule->nodes[s->i++];
		if (next->visit == VISITING)
			return compile_fault(
				c, s->rule->at, "'%s' forms a cycle", s->rule->keyword->name);
		if (next->visit == NOT_VISITED) {
			next->visit = VISITING;
			stack[n++] = (struct cycle_step){next, next->rules, 0};
		}
	}
	return 0;
}

static int refuse_cycles(struct compiler *c)
{
	CLEANUP(base_free) struct cycle_step *stack = xmalloc(c->nodes.n * sizeof(*stack));

	for (size_t i = 0; i < c->nodes.n; i++)
		if (c->nodes.items[i]->visit == NOT_VISITED &&
			find_cycle(c, c->nodes.items[i], stack) < 0)
			return -1;
	return 0;
}

int schema_compile(
	struct arena *a, const char *name, struct str text, struct schema **out, struct error *err)
{
	CLEANUP(json_free) json *tree = NULL;
	struct compiler c = {.arena = a, .name = name, .text = text, .err = err};
	struct schema_node *root;
	int rc = -1;

	if (text.n > SCHEMA_MAX)
		return error_set(err, ERR_INPUT, "'%s' is too large for a schema", name);
	if (schema_read_json(&tree, name, text, err) < 0)
		return -1;
	root = compile_node(&c, "", tree);
	if (root && resolve_refs(&c) == 0)
		rc = refuse_cycles(&c);
	vec_release(&c.nodes);
	if (rc < 0)
		return -1;
	*out = arena_alloc(a, sizeof(**out));
	**out = (struct schema){arena_dup(a, str_of(name)), root};
	return 0;
}
