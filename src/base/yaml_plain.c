#include "src/base/vec.h"
#include "src/base/yaml.h"

/*
 * Accepted are, in ASCII: keys of letters, digits, `_` and `-`; values that begin with a letter, a
 * digit, `/` or `_` and continue with printable characters and single blanks, but no colon in front
 * of a blank and no `#` behind one, and in brackets with fewer; `"..."` and `'...'` without
 * escapes; `{key: value, ...}` of plain values; `[value, ...]`, which may continue on further lines
 * that begin with a blank; a list of lines `- value` below a key; and empty lines and comments
 * between keys.
 */
enum { KEYS = 64, KEYS_STEP = 16, KEY_BYTES = 128 };

struct plain {
	struct arena *arena;
	struct str text;
	size_t at;    /* the next byte */
	size_t start; /* of its line */
	unsigned line;
	struct yaml *last; /* list of lines, which ends where the next key begins; or NULL */
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

static char yaml_plain_peek(const struct plain *p, size_t ahead)
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

	while (is_word_char(yaml_plain_peek(p, 0)) ||
		(p->at > from && yaml_plain_peek(p, 0) == '-'))
		p->at++;
	if (p->at == from || p->at - from > KEY_BYTES || yaml_plain_peek(p, 0) != ':')
		return NULL;
	return scalar(p, from);
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static bool yaml_plain_is_visible(char c)
{
	return c > ' ' && c < 0x7f;
}

static bool is_block_char(const struct plain *p)
{
	char c = yaml_plain_peek(p, 0), next = yaml_plain_peek(p, 1);

	if (c == ' ')
		return yaml_plain_is_visible(next) && next != '#' && next != ':';
	return yaml_plain_is_visible(c) && (c != ':' || yaml_plain_is_visible(next));
}

/* Stops at the first byte that is not part of the value; the caller checks what follows. */
static struct yaml *yaml_plain_read_value(struct plain *p, bool flow)
{
	size_t from = p->at;

	if (!is_first_char(yaml_plain_peek(p, 0)))
		return NULL;
	while (flow ? is_inner_char(yaml_plain_peek(p, 0)) : is_block_char(p))
		p->at++;
	return scalar(p, from);
}

/* False for a duplicate key, and for more keys than are worth comparing. */
static bool yaml_plain_push(struct plain *p, struct yaml *map, struct yaml *key, struct yaml *value)
{
	for (size_t i = 0; i < map->n; i++)
		if (str_eq(map->map[i].key->text, key->text))
			return false;
	if (map->n == KEYS)
		return false;
	if (map->n % KEYS_STEP == 0) {
		size_t cap = map->n;

		map->map = vec_grow(p->arena, map->map, map->n, &cap, KEYS_STEP, sizeof(*map->map));
	}
	map->map[map->n++] = (struct yaml_pair){key, value};
	return true;
}

/* `"..."` and `'...'` without escapes. */
static struct yaml *read_quoted(struct plain *p)
{
	size_t from = p->at++;
	char quote = p->text.p[from];
	struct yaml *node;

	while (yaml_plain_peek(p, 0) >= ' ' && yaml_plain_peek(p, 0) < 0x7f &&
		yaml_plain_peek(p, 0) != quote && (quote == '\'' || yaml_plain_peek(p, 0) != '\\'))
		p->at++;
	if (yaml_plain_peek(p, 0) != quote || (quote == '\'' && yaml_plain_peek(p, 1) == quote))
		return NULL;
	p->at++;
	node = scalar(p, from);
	node->text = arena_str(p->arena, str_sub(p->text, from + 1, p->at - 1));
	node->plain = false;
	return node;
}

static struct yaml *yaml_plain_node_new(struct plain *p, enum yaml_kind kind)
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
	struct yaml *map = yaml_plain_node_new(p, YAML_MAP);

	for (p->at++; yaml_plain_peek(p, 0) != '}'; p->at += yaml_plain_peek(p, 0) == ',' ? 2 : 0) {
		struct yaml *key = read_key(p), *value;

		if (!key || yaml_plain_peek(p, 1) != ' ')
			return NULL;
		p->at += 2;
		value = yaml_plain_read_value(p, true);
		if (!value || !yaml_plain_push(p, map, key, value))
			return NULL;
		if (yaml_plain_peek(p, 0) != '}' &&
			(yaml_plain_peek(p, 0) != ',' || !is_word_char(yaml_plain_peek(p, 2)) ||
				yaml_plain_peek(p, 1) != ' '))
			return NULL;
	}
	map->to = ++p->at;
	return map;
}

/* To the next item of a list, also on a further line. */
static bool yaml_plain_skip_blanks(struct plain *p)
{
	while (yaml_plain_peek(p, 0) == ' ')
		p->at++;
	while (p->at < p->text.n && yaml_plain_peek(p, 0) == '\n') {
		p->start = ++p->at;
		p->line++;
		if (yaml_plain_peek(p, 0) != ' ' && yaml_plain_peek(p, 0) != '\n')
			return false;
		while (yaml_plain_peek(p, 0) == ' ')
			p->at++;
	}
	return p->at < p->text.n;
}

static void list_push(struct plain *p, struct yaml *list, size_t *cap, struct yaml *item)
{
	list->list = vec_grow(p->arena, list->list, list->n, cap, 1, sizeof(*list->list));
	list->list[list->n++] = item;
}

static struct yaml *yaml_plain_read_list(struct plain *p)
{
	struct yaml *list = yaml_plain_node_new(p, YAML_LIST), *item;
	size_t cap = 0;

	p->at++;
	while (yaml_plain_skip_blanks(p) && (list->n || yaml_plain_peek(p, 0) != ']')) {
		item = is_quote(yaml_plain_peek(p, 0)) ? read_quoted(p)
						       : yaml_plain_read_value(p, true);
		if (!item)
			return NULL;
		list_push(p, list, &cap, item);
		if (!yaml_plain_skip_blanks(p))
			return NULL;
		if (yaml_plain_peek(p, 0) == ']')
			break;
		if (yaml_plain_peek(p, 0) != ',' ||
			(yaml_plain_peek(p, 1) != ' ' && yaml_plain_peek(p, 1) != '\n'))
			return NULL;
		p->at++;
	}
	list->to = ++p->at;
	return p->at <= p->text.n && p->text.p[p->at - 1] == ']' ? list : NULL;
}

static bool yaml_plain_end_line(struct plain *p)
{
	if (p->at >= p->text.n || p->text.p[p->at] != '\n')
		return false;
	p->start = ++p->at;
	p->line++;
	return true;
}

/* The column of the `-` on this line, counted from 0; SIZE_MAX: there is none. */
static size_t find_dash(const struct plain *p)
{
	size_t n = 0;

	while (yaml_plain_peek(p, n) == ' ')
		n++;
	return yaml_plain_peek(p, n) == '-' && yaml_plain_peek(p, n + 1) == ' ' ? n : SIZE_MAX;
}

/* Lines `- value`, of one column. */
static struct yaml *read_lines(struct plain *p, size_t column)
{
	struct yaml *list, *item;
	size_t cap = 0;

	p->at += column;
	list = yaml_plain_node_new(p, YAML_LIST);
	p->at = p->start;
	while (find_dash(p) == column) {
		p->at += column + 2;
		item = is_quote(yaml_plain_peek(p, 0)) ? read_quoted(p)
						       : yaml_plain_read_value(p, false);
		if (!item || !yaml_plain_end_line(p))
			return NULL;
		list_push(p, list, &cap, item);
	}
	p->last = list;
	return list;
}

/* An empty line or a comment. */
static bool read_comment(struct plain *p)
{
	if (yaml_plain_peek(p, 0) == '#')
		while (yaml_plain_peek(p, 0) >= ' ' && yaml_plain_peek(p, 0) < 0x7f)
			p->at++;
	if (p->at >= p->text.n || yaml_plain_peek(p, 0) != '\n')
		return false;
	p->start = ++p->at;
	p->line++;
	return true;
}

static void end_last(struct plain *p, size_t at)
{
	if (p->last)
		p->last->to = at;
	p->last = NULL;
}

/* Behind the colon: nothing, or a list in the lines below. */
static bool read_below(struct plain *p, struct yaml *map, struct yaml *key)
{
	struct yaml *value = scalar(p, p->at);
	size_t column;

	if (!yaml_plain_end_line(p))
		return false;
	column = find_dash(p);
	if (column != SIZE_MAX)
		value = read_lines(p, column);
	return value && yaml_plain_push(p, map, key, value);
}

static bool yaml_plain_read_line(struct plain *p, struct yaml *map)
{
	struct yaml *key, *value;

	if (yaml_plain_peek(p, 0) == '#' || yaml_plain_peek(p, 0) == '\n')
		return read_comment(p);
	key = read_key(p);
	if (!key)
		return false;
	end_last(p, key->from);
	if (!map->n)
		*map = (struct yaml){
			.kind = YAML_MAP, .line = key->line, .col = 1, .from = key->from};
	p->at++;
	if (yaml_plain_peek(p, 0) == '\n')
		return read_below(p, map, key);
	if (yaml_plain_peek(p, 0) != ' ')
		return false;
	p->at++;
	if (yaml_plain_peek(p, 0) == '{')
		value = read_flow_map(p);
	else if (yaml_plain_peek(p, 0) == '[')
		value = yaml_plain_read_list(p);
	else if (is_quote(yaml_plain_peek(p, 0)))
		value = read_quoted(p);
	else
		value = yaml_plain_read_value(p, false);
	return value && yaml_plain_end_line(p) && yaml_plain_push(p, map, key, value);
}

bool yaml_plain(struct arena *a, struct str text, unsigned line, struct yaml **out)
{
	struct plain p = {.arena = a, .text = text, .line = line};
	struct yaml *map = yaml_plain_node_new(&p, YAML_MAP);

	while (p.at < text.n)
		if (!yaml_plain_read_line(&p, map))
			return false;
	end_last(&p, p.at);
	map->to = p.at;
	*out = map;
	return map->n > 0;
}
