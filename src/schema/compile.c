#include <stdarg.h>
#include "src/schema/scan.h"
#include "src/schema/schema_internal.h"

int compile_fault(struct compiler *c, const char *at, const char *fmt, ...)
{
	char text[sizeof(c->err->text)];
	unsigned line = 1, col = 1;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)json_locate(c->text, at, &line, &col);
	return error_at(c->err, c->name, line, col, "%s", text);
}

char *pointer_add(struct arena *a, const char *at, const char *key)
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

static struct node *node_new(struct compiler *c, const char *at)
{
	struct node *n = arena_alloc(c->arena, sizeof(*n));

	n->at = at;
	n->end = (struct rule **)&n->rules;
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->nodes = xrealloc(c->nodes, c->cap * sizeof(struct node *));
	}
	c->nodes[c->n++] = n;
	return n;
}

static int compile_rule(struct compiler *c, struct node *n, const json *member)
{
	const char *name = json_key(member);
	const struct keyword *k = keyword_named(name);
	char *at = pointer_add(c->arena, n->at, name);
	struct rule *r;

	if (!k)
		return compile_fault(
			c, at, "unknown keyword %s of a schema", text_shown(c->arena, name));
	r = arena_alloc(c->arena, sizeof(*r));
	*r = (struct rule){.keyword = k, .at = at};
	if (compile_value(c, r, member) < 0)
		return -1;
	*n->end = r;
	n->end = (struct rule **)&r->next;
	return 0;
}

struct node *compile_node(struct compiler *c, const char *at, const json *value)
{
	struct node *n = node_new(c, at);

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
	return strcmp((*(struct node *const *)a)->at, (*(struct node *const *)b)->at);
}

static int find_pointer(const void *at, const void *node)
{
	return strcmp(at, (*(struct node *const *)node)->at);
}

/* `#/a%20b` as `/a b`. */
static char *unescaped(struct arena *a, const char *ref)
{
	char *out = arena_dup(a, str_of(ref + 1)), *to = out;

	for (const char *p = ref + 1; *p; p++) {
		char hex[3] = {p[0] == '%' ? p[1] : 0, p[0] == '%' && p[1] ? p[2] : 0, 0}, *end;
		long v = strtol(hex, &end, 16);

		if (hex[0] && end == hex + 2 && v > 0) {
			*to++ = (char)v;
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

static int lead_ref(struct compiler *c, struct rule *r)
{
	char *at = unescaped(c->arena, r->text);
	struct node **found = bsearch(at, c->nodes, c->n, sizeof(struct node *), find_pointer);

	if (!found)
		return compile_fault(
			c, r->at, "'$ref' leads to no schema: %s", text_shown(c->arena, r->text));
	r->nodes = arena_alloc(c->arena, sizeof(struct node *));
	r->nodes[0] = *found;
	r->n = 1;
	return 0;
}

static int lead_refs(struct compiler *c)
{
	qsort(c->nodes, c->n, sizeof(struct node *), by_pointer);
	for (size_t i = 0; i < c->n; i++)
		for (const struct rule *r = c->nodes[i]->rules; r; r = r->next)
			if (r->keyword->value == VALUE_REF && lead_ref(c, (struct rule *)r) < 0)
				return -1;
	return 0;
}

enum { NOT_SEEN, ON_THE_WAY, SEEN };

/*
 * Round by keywords that hold the same instance: no instance would ever come to an end. Below a
 * member or an item the instance gets smaller. The way is kept here: a chain of `$ref` may be long.
 */
struct step {
	struct node *node;
	const struct rule *rule;
	size_t i;
};

static int circle_from(struct compiler *c, struct node *first, struct step *way)
{
	size_t n = 0;

	way[n++] = (struct step){first, first->rules, 0};
	first->visit = ON_THE_WAY;
	while (n) {
		struct step *s = &way[n - 1];
		struct node *next;

		while (s->rule && (!s->rule->keyword->in_place || s->i >= s->rule->n)) {
			s->rule = s->rule->next;
			s->i = 0;
		}
		if (!s->rule) {
			s->node->visit = SEEN;
			n--;
			continue;
		}
		next = s->rule->nodes[s->i++];
		if (next->visit == ON_THE_WAY)
			return compile_fault(c, s->rule->at, "'%s' leads round in a circle",
				s->rule->keyword->name);
		if (next->visit == NOT_SEEN) {
			next->visit = ON_THE_WAY;
			way[n++] = (struct step){next, next->rules, 0};
		}
	}
	return 0;
}

static int refuse_circles(struct compiler *c)
{
	CLEANUP(free_ptr) struct step *way = xmalloc(c->n * sizeof(*way));

	for (size_t i = 0; i < c->n; i++)
		if (c->nodes[i]->visit == NOT_SEEN && circle_from(c, c->nodes[i], way) < 0)
			return -1;
	return 0;
}

int schema_compile(
	struct arena *a, const char *name, struct str text, struct schema **out, struct error *err)
{
	CLEANUP(json_free) json *tree = NULL;
	CLEANUP(free_ptr) struct node **nodes = NULL;
	struct compiler c = {.arena = a, .name = name, .text = text, .err = err};
	struct node *root;
	int rc = -1;

	if (text.n > SCHEMA_MAX)
		return error_set(err, ERR_INPUT, "'%s' is too large for a schema", name);
	if (json_read(&tree, name, text, err) < 0)
		return -1;
	root = compile_node(&c, "", tree);
	if (root && lead_refs(&c) == 0)
		rc = refuse_circles(&c);
	nodes = c.nodes;
	if (rc < 0)
		return -1;
	*out = arena_alloc(a, sizeof(**out));
	**out = (struct schema){arena_dup(a, str_of(name)), root};
	return 0;
}
