#include "src/config/rows.h"

static bool digits(struct str *s)
{
	size_t n = 0;

	while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
		n++;
	*s = str_sub(*s, n, s->n);
	return n > 0;
}

static bool skip(struct str *s, const char *any)
{
	if (!s->n || !s->p[0] || !strchr(any, s->p[0]))
		return false;
	*s = str_sub(*s, 1, s->n);
	return true;
}

/* As JSON writes it: no sign `+`, no zeros before, digits on both sides of the point. */
static bool is_number(struct str s)
{
	struct str whole;

	(void)skip(&s, "-");
	whole = s;
	if (!digits(&s) || (whole.p[0] == '0' && whole.n - s.n > 1))
		return false;
	if (skip(&s, ".") && !digits(&s))
		return false;
	if (skip(&s, "eE")) {
		(void)skip(&s, "+-");
		if (!digits(&s))
			return false;
	}
	return !s.n;
}

enum scalar scalar_of(const struct yml *node)
{
	if (!node->plain)
		return SCALAR_TEXT;
	if (yml_is_null(node))
		return SCALAR_NULL;
	if (str_is(node->text, "true") || str_is(node->text, "false"))
		return SCALAR_BOOL;
	return is_number(node->text) ? SCALAR_NUMBER : SCALAR_TEXT;
}

static json *scalar_json(const struct yml *node)
{
	struct error err;
	json *j = NULL;

	/* A number that is too large for JSON's reader is shown as what it was. */
	if (scalar_of(node) == SCALAR_TEXT ||
		(!yml_is_null(node) && json_parse(&j, node->text, &err) < 0))
		return json_string(node->text);
	if (!j && json_parse(&j, STR("null"), &err) < 0)
		return json_string(STR(""));
	return j;
}

json *yml_json(const struct yml *node)
{
	json *j;

	if (node->kind == YML_SCALAR)
		return scalar_json(node);
	j = node->kind == YML_MAP ? json_object() : json_array();
	for (size_t i = 0; i < node->n; i++)
		if (node->kind == YML_MAP)
			json_put(j, node->map[i].key->text.p, yml_json(node->map[i].value));
		else
			json_push(j, yml_json(node->list[i]));
	return j;
}

const struct yml *yml_at(const struct yml *tree, const char *path)
{
	while (tree && *path) {
		size_t n = strcspn(path, ".[");
		char key[64];

		if (*path == '[') {
			size_t i = strtoul(path + 1, NULL, 10);

			tree = tree->kind == YML_LIST && i < tree->n ? tree->list[i] : NULL;
			path += strcspn(path, "]") + 1;
		} else {
			snprintf(key, sizeof(key), "%.*s", (int)n, path);
			tree = yml_get(tree, key);
			path += n;
		}
		path += *path == '.';
	}
	return tree;
}

size_t utf8_count(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}
