#include "src/base/vec.h"
#include "src/base/yaml.h"

/*
 * Accepted are, in ASCII: keys of letters, digits, `_` and `-`; values that begin with a letter, a
 * digit, `/` or `_` and continue with these, `.`, `-`, `+`, single blanks, and colons with no blank
 * behind them; `"..."` without escapes; `{key: value, ...}` of plain values; `[value, ...]`, which
 * may continue on further lines that begin with a blank; and empty lines and comments between them.
 */
enum { KEYS = 64, KEY_BYTES = 128 };

struct plain {
	struct arena *arena;
	struct str text;
	size_t at;    /* the next byte */
	size_t start; /* of its line */
	unsigned line;
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_first_char(char c)
{
	return is_word_char(c) || c == '/';
}

static bool is_inner_char(char c)
{
	return is_first_char(c) || c == '.' || c == '-' || c == '+';
}

static char peek(const struct plain *p, size_t ahead)
{
	return p->at + ahead < p->text.n ? p->text.p[p->at + ahead] : '\n';
}

static struct yaml *scalar(struct plain *p, size_t from)
{
	struct yaml *node = arena_alloc(p->arena, sizeof(*node));

	*node = (struct yaml){.kind = YAML_SCALAR,
		.text = arena_str(p->arena, str_sub(p->text, from, p->at)),
		.plain = true,
		.line = p->line,
		.col = (unsigned)(from - p->start) + 1,
		.from = from,
		.to = p->at};
	return node;
}

static struct yaml *read_key(struct plain *p)
{
	size_t from = p->at;

	while (is_word_char(peek(p, 0)) || (p->at > from && peek(p, 0) == '-'))
		p->at++;
	if (p->at == from || p->at - from > KEY_BYTES || peek(p, 0) != ':')
		return NULL;
	return scalar(p, from);
}

/* Stops at the first byte that is not part of the value; the caller checks what follows. */
static struct yaml *read_value(struct plain *p, bool flow)
{
	size_t from = p->at;

	if (!is_first_char(peek(p, 0)))
		return NULL;
	while (is_inner_char(peek(p, 0)) ||
		(!flow && (peek(p, 0) == ':' || peek(p, 0) == ' ') && is_inner_char(peek(p, 1))))
		p->at++;
	return scalar(p, from);
}

/* False for a duplicate key, and for more keys than are worth comparing. */
static bool push(struct plain *p, struct yaml *map, struct yaml *key, struct yaml *value)
{
	for (size_t i = 0; i < map->n; i++)
		if (str_eq(map->map[i].key->text, key->text))
			return false;
	if (map->n == KEYS)
		return false;
	if (!map->map)
		map->map = arena_alloc(p->arena, KEYS * sizeof(*map->map));
	map->map[map->n++] = (struct yaml_pair){key, value};
	return true;
}

/* `"..."` without escapes. */
static struct yaml *read_quoted(struct plain *p)
{
	size_t from = p->at++;
	struct yaml *node;

	while (peek(p, 0) >= ' ' && peek(p, 0) < 0x7f && peek(p, 0) != '"' && peek(p, 0) != '\\')
		p->at++;
	if (peek(p, 0) != '"')
		return NULL;
	p->at++;
	node = scalar(p, from);
	node->text = arena_str(p->arena, str_sub(p->text, from + 1, p->at - 1));
	node->plain = false;
	return node;
}

static struct yaml *node_new(struct plain *p, enum yaml_kind kind)
{
	struct yaml *node = arena_alloc(p->arena, sizeof(*node));

	*node = (struct yaml){.kind = kind,
		.line = p->line,
		.col = (unsigned)(p->at - p->start) + 1,
		.from = p->at};
	return node;
}

static struct yaml *read_flow_map(struct plain *p)
{
	struct yaml *map = node_new(p, YAML_MAP);

	for (p->at++; peek(p, 0) != '}'; p->at += peek(p, 0) == ',' ? 2 : 0) {
		struct yaml *key = read_key(p), *value;

		if (!key || peek(p, 1) != ' ')
			return NULL;
		p->at += 2;
		value = read_value(p, true);
		if (!value || !push(p, map, key, value))
			return NULL;
		if (peek(p, 0) != '}' &&
			(peek(p, 0) != ',' || !is_word_char(peek(p, 2)) || peek(p, 1) != ' '))
			return NULL;
	}
	map->to = ++p->at;
	return map;
}

/* To the next item of a list, also on a further line. */
static bool skip_blanks(struct plain *p)
{
	while (peek(p, 0) == ' ')
		p->at++;
	while (p->at < p->text.n && peek(p, 0) == '\n') {
		p->start = ++p->at;
		p->line++;
		if (peek(p, 0) != ' ' && peek(p, 0) != '\n')
			return false;
		while (peek(p, 0) == ' ')
			p->at++;
	}
	return p->at < p->text.n;
}

static void list_push(struct plain *p, struct yaml *list, size_t *cap, struct yaml *item)
{
	list->list = vec_grow(p->arena, list->list, list->n, cap, 1, sizeof(*list->list));
	list->list[list->n++] = item;
}

static struct yaml *read_list(struct plain *p)
{
	struct yaml *list = node_new(p, YAML_LIST), *item;
	size_t cap = 0;

	p->at++;
	while (skip_blanks(p) && (list->n || peek(p, 0) != ']')) {
		item = peek(p, 0) == '"' ? read_quoted(p) : read_value(p, true);
		if (!item)
			return NULL;
		list_push(p, list, &cap, item);
		if (!skip_blanks(p))
			return NULL;
		if (peek(p, 0) == ']')
			break;
		if (peek(p, 0) != ',' || (peek(p, 1) != ' ' && peek(p, 1) != '\n'))
			return NULL;
		p->at++;
	}
	list->to = ++p->at;
	return p->at <= p->text.n && p->text.p[p->at - 1] == ']' ? list : NULL;
}

/* An empty line or a comment. */
static bool read_comment(struct plain *p)
{
	if (peek(p, 0) == '#')
		while (peek(p, 0) >= ' ' && peek(p, 0) < 0x7f)
			p->at++;
	if (p->at >= p->text.n || peek(p, 0) != '\n')
		return false;
	p->start = ++p->at;
	p->line++;
	return true;
}

static bool read_line(struct plain *p, struct yaml *map)
{
	struct yaml *key, *value;

	if (peek(p, 0) == '#' || peek(p, 0) == '\n')
		return read_comment(p);
	key = read_key(p);
	if (!key)
		return false;
	if (!map->n)
		*map = (struct yaml){
			.kind = YAML_MAP, .line = key->line, .col = 1, .from = key->from};
	p->at++;
	if (peek(p, 0) == '\n')
		value = scalar(p, p->at);
	else if (peek(p, 0) != ' ')
		return false;
	else if (p->at++, peek(p, 0) == '{')
		value = read_flow_map(p);
	else if (peek(p, 0) == '[')
		value = read_list(p);
	else if (peek(p, 0) == '"')
		value = read_quoted(p);
	else
		value = read_value(p, false);
	if (!value || p->at >= p->text.n || p->text.p[p->at] != '\n')
		return false;
	p->start = ++p->at;
	p->line++;
	return push(p, map, key, value);
}

bool yaml_plain(struct arena *a, struct str text, unsigned line, struct yaml **out)
{
	struct plain p = {.arena = a, .text = text, .line = line};
	struct yaml *map = node_new(&p, YAML_MAP);

	while (p.at < text.n)
		if (!read_line(&p, map))
			return false;
	map->to = p.at;
	*out = map;
	return map->n > 0;
}
