#include <yaml.h>
#include "src/base/number.h"
#include "src/base/vec.h"
#include "src/base/yaml.h"

/* The text comes from outside, and its keys may be made to collide: hence MAX_KEYS. */
enum { MAX_DEPTH = 16, MAX_KEYS = 10000, KEY_SHOWN = 200, FEW_KEYS = 16 };

struct yaml_reader {
	yaml_parser_t parser;
	struct arena *arena;
	const char *file;
	unsigned line; /* line of the file at which the text begins */
	struct str text;
	size_t seen_char, seen_byte;   /* the same offset in characters and in bytes */
	bool (*owned)(struct str key); /* NULL: all keys are */
	bool foreign;                  /* below a key of another owner */
	struct error *err;
};

static int yaml_fault(struct yaml_reader *r, yaml_mark_t at, const char *text)
{
	return error_at(
		r->err, r->file, r->line + (unsigned)at.line, (unsigned)at.column + 1, "%s", text);
}

/* libyaml's marks count characters; the tree needs bytes. Marks come in order, so the text is read
 * once. */
static size_t byte_of(struct yaml_reader *r, size_t chars)
{
	if (chars < r->seen_char)
		r->seen_char = r->seen_byte = 0;
	while (r->seen_char < chars && r->seen_byte < r->text.n) {
		r->seen_byte++;
		while (r->seen_byte < r->text.n &&
			((unsigned char)r->text.p[r->seen_byte] & 0xc0) == 0x80)
			r->seen_byte++;
		r->seen_char++;
	}
	return r->seen_byte;
}

static struct yaml *yaml_node_new(
	struct yaml_reader *r, enum yaml_kind kind, const yaml_event_t *ev)
{
	struct yaml *node = arena_alloc(r->arena, sizeof(*node));

	node->kind = kind;
	node->line = r->line + (unsigned)ev->start_mark.line;
	node->col = (unsigned)ev->start_mark.column + 1;
	node->from = byte_of(r, ev->start_mark.index);
	node->to = byte_of(r, ev->end_mark.index);
	return node;
}

static int yaml_next(struct yaml_reader *r, yaml_event_t *ev)
{
	unsigned line, col;

	if (yaml_parser_parse(&r->parser, ev))
		return 0;
	/* A fault before the scanner has no mark, only an offset in bytes. */
	if (r->parser.error == YAML_READER_ERROR) {
		str_position(r->text, r->parser.problem_offset, &line, &col);
		return error_at(r->err, r->file, r->line + line - 1, col, "%s", r->parser.problem);
	}
	return error_at(r->err, r->file, r->line + (unsigned)r->parser.problem_mark.line,
		(unsigned)r->parser.problem_mark.column + 1, "%s",
		r->parser.problem ? r->parser.problem : "this is not YAML");
}

static int read_node(struct yaml_reader *r, yaml_event_t *ev, unsigned depth, struct yaml **out);

static int yaml_read_list(struct yaml_reader *r, struct yaml *list, unsigned depth)
{
	size_t cap = 0;

	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t ev = {0};
		struct yaml *item;

		if (yaml_next(r, &ev) < 0)
			return -1;
		if (ev.type == YAML_SEQUENCE_END_EVENT) {
			list->to = byte_of(r, ev.end_mark.index);
			return 0;
		}
		if (read_node(r, &ev, depth, &item) < 0)
			return -1;
		list->list = vec_grow(r->arena, list->list, list->n, &cap, 1, sizeof(*list->list));
		list->list[list->n++] = item;
	}
}

static int yaml_check_key(struct yaml_reader *r, const struct yaml *map, const struct yaml *key)
{
	if (key->kind != YAML_SCALAR)
		return error_at(r->err, r->file, key->line, key->col,
			"a key must be a single word or text");
	if (yaml_get(map, key->text.p))
		return error_at(r->err, r->file, key->line, key->col, "duplicate key '%s'",
			arena_printable(r->arena, key->text, KEY_SHOWN));
	if (map->n == MAX_KEYS)
		return error_at(r->err, r->file, key->line, key->col,
			"more than %d keys in one map", MAX_KEYS);
	return 0;
}

/* Where the key is in the index, or would be. */
static unsigned *yaml_index_slot(const struct yaml *map, struct str key)
{
	size_t at = str_hash(key) & (map->n_index - 1);

	while (map->index[at] && !str_eq(map->map[map->index[at] - 1].key->text, key))
		at = (at + 1) & (map->n_index - 1);
	return &map->index[at];
}

/* At most half of the index is in use. */
static void yaml_index_last(struct arena *a, struct yaml *map)
{
	size_t from = map->n - 1;

	if (map->n < FEW_KEYS)
		return;
	if (2 * map->n > map->n_index) {
		map->n_index = map->n_index ? 2 * map->n_index : 4 * FEW_KEYS;
		map->index = arena_alloc(a, map->n_index * sizeof(*map->index));
		from = 0;
	}
	for (size_t i = from; i < map->n; i++)
		*yaml_index_slot(map, map->map[i].key->text) = (unsigned)i + 1;
}

static int yaml_read_map(struct yaml_reader *r, struct yaml *map, unsigned depth)
{
	size_t cap = 0;

	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t ev = {0}, val = {0};
		struct yaml_pair pair;

		if (yaml_next(r, &ev) < 0)
			return -1;
		if (ev.type == YAML_MAPPING_END_EVENT) {
			map->to = byte_of(r, ev.end_mark.index);
			return 0;
		}
		if (read_node(r, &ev, depth, &pair.key) < 0 || yaml_check_key(r, map, pair.key) < 0)
			return -1;
		if (depth == 1)
			r->foreign = r->owned && !r->owned(pair.key->text);
		if (yaml_next(r, &val) < 0 || read_node(r, &val, depth, &pair.value) < 0)
			return -1;
		if (depth == 1)
			r->foreign = false;
		map->map = vec_grow(r->arena, map->map, map->n, &cap, 1, sizeof(*map->map));
		map->map[map->n++] = pair;
		yaml_index_last(r->arena, map);
	}
}

static int read_scalar(struct yaml_reader *r, yaml_event_t *ev, struct yaml **out)
{
	struct str value = {(const char *)ev->data.scalar.value, ev->data.scalar.length};

	if (ev->data.scalar.anchor && !r->foreign)
		return yaml_fault(r, ev->start_mark, "anchors are not allowed");
	if (ev->data.scalar.tag && !r->foreign)
		return yaml_fault(r, ev->start_mark, "tags are not allowed");
	if (value.n && memchr(value.p, 0, value.n))
		return yaml_fault(r, ev->start_mark, "a text with a NUL byte is not allowed");
	*out = yaml_node_new(r, YAML_SCALAR, ev);
	(*out)->text = arena_str(r->arena, value);
	(*out)->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

static int read_node(struct yaml_reader *r, yaml_event_t *ev, unsigned depth, struct yaml **out)
{
	if (depth > MAX_DEPTH)
		return yaml_fault(r, ev->start_mark, "nested deeper than 16 levels");
	switch (ev->type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(r, ev, out);
	case YAML_SEQUENCE_START_EVENT:
		if ((ev->data.sequence_start.anchor || ev->data.sequence_start.tag) && !r->foreign)
			return yaml_fault(r, ev->start_mark, "anchors and tags are not allowed");
		*out = yaml_node_new(r, YAML_LIST, ev);
		return yaml_read_list(r, *out, depth + 1);
	case YAML_MAPPING_START_EVENT:
		if ((ev->data.mapping_start.anchor || ev->data.mapping_start.tag) && !r->foreign)
			return yaml_fault(r, ev->start_mark, "anchors and tags are not allowed");
		*out = yaml_node_new(r, YAML_MAP, ev);
		return yaml_read_map(r, *out, depth + 1);
	case YAML_ALIAS_EVENT:
		if (!r->foreign)
			return yaml_fault(r, ev->start_mark, "aliases are not allowed");
		*out = yaml_node_new(r, YAML_SCALAR, ev);
		(*out)->text = arena_str(r->arena, str_sub(r->text, (*out)->from, (*out)->to));
		return 0;
	default:
		return yaml_fault(r, ev->start_mark, "this is not YAML");
	}
}

static int yaml_read_document(struct yaml_reader *r, struct yaml **out)
{
	bool seen = false;

	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t ev = {0};

		if (yaml_next(r, &ev) < 0)
			return -1;
		switch (ev.type) {
		case YAML_STREAM_END_EVENT:
			return 0;
		case YAML_DOCUMENT_START_EVENT:
			if (seen)
				return yaml_fault(
					r, ev.start_mark, "a second document is not allowed");
			seen = true;
			break;
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		default:
			if (read_node(r, &ev, 0, out) < 0)
				return -1;
		}
	}
}

int yaml_parse_owned(struct arena *a, struct str text, const char *file, unsigned line,
	bool (*owned)(struct str key), struct yaml **out, struct error *err)
{
	struct yaml_reader r = {
		.arena = a, .file = file, .line = line, .text = text, .owned = owned, .err = err};
	int rc;

	if (yaml_plain(a, text, line, out))
		return 0;
	*out = arena_alloc(a, sizeof(**out));
	(*out)->kind = YAML_MAP;
	(*out)->line = line;
	(*out)->col = 1;
	if (!yaml_parser_initialize(&r.parser))
		base_oom();
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&r.parser, (const unsigned char *)(text.n ? text.p : ""), text.n);
	rc = yaml_read_document(&r, out);
	yaml_parser_delete(&r.parser);
	return rc;
}

int yaml_parse(struct arena *a, struct str text, const char *file, unsigned line, struct yaml **out,
	struct error *err)
{
	return yaml_parse_owned(a, text, file, line, NULL, out, err);
}

struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	struct str want = str_of(key);

	if (map && map->index) {
		unsigned at = *yaml_index_slot(map, want);

		return at ? map->map[at - 1].value : NULL;
	}
	for (size_t i = 0; map && map->kind == YAML_MAP && i < map->n; i++)
		if (map->map[i].key->text.n == want.n && str_eq(map->map[i].key->text, want))
			return map->map[i].value;
	return NULL;
}

bool yaml_is_null(const struct yaml *node)
{
	return node->kind == YAML_SCALAR && node->plain &&
	       (node->text.n == 0 || str_is(node->text, "~") || str_is(node->text, "null"));
}

int yaml_uint(const struct yaml *node, const char *file, const char *what, unsigned long max,
	unsigned long *out, struct error *err)
{
	bool scalar = node->kind == YAML_SCALAR;
	uint64_t value;

	if (scalar && number_parse(node->text, 0, max, &value)) {
		*out = value;
		return 0;
	}
	(void)number_refuse(
		err, ERR_INPUT, what, scalar ? node->text : STR("a list or map"), 0, max);
	return error_place(err, file, node->line, node->col);
}

bool yaml_cut_front(struct str *text, struct str *front)
{
	struct str rest = *text, line;

	if (!str_line(&rest, &line) || !str_is(line, "---"))
		return false;
	front->p = rest.p;
	do {
		if (!str_line(&rest, &line))
			return false;
	} while (!str_is(line, "---"));
	front->n = (size_t)(line.p - front->p);
	*text = rest;
	return true;
}

void yaml_add_replaced(struct buf *b, struct str text, size_t from, size_t to, struct str scalar)
{
	struct str old = str_sub(text, from, to);

	if (from && text.p[from - 1] == ':' && scalar.n)
		buf_addc(b, ' ');
	buf_add(b, scalar);
	if (str_ends(old, "\n"))
		buf_adds(b, str_ends(old, "\r\n") ? "\r\n" : "\n");
}

static bool plain_char(unsigned char c)
{
	return c > ' ' && c < 0x7f && !strchr("\"'`{}[],&*!|>%@#:\\", c);
}

/* Conservative: in doubt a text is quoted. A colon with no space behind it needs no quotes. */
static bool yaml_is_plain(struct str v)
{
	if (!v.n || v.n > 200 || strchr("-?:~=<", v.p[0]) || v.p[v.n - 1] == ':' ||
		v.p[v.n - 1] == ' ')
		return false;
	for (size_t i = 0; i < v.n; i++) {
		unsigned char c = (unsigned char)v.p[i];
		bool inner_space = c == ' ' && i > 0 && v.p[i - 1] != ' ';
		bool inner_colon = c == ':' && i + 1 < v.n && plain_char((unsigned char)v.p[i + 1]);

		if (!plain_char(c) && !inner_space && !inner_colon)
			return false;
	}
	return !str_is(v, "null") && !str_is(v, "true") && !str_is(v, "false") &&
	       !str_is(v, "yes") && !str_is(v, "no");
}

/* The escape for a character of several bytes that YAML refuses, or reads as a line break; NULL for
 * all others. *bytes becomes its length. */
static const char *wide_escape(struct str s, size_t *bytes)
{
	static const char *const cases[][2] = {
		{"\xe2\x80\xa8", "\\L"},
		{"\xe2\x80\xa9", "\\P"},
		{"\xef\xbb\xbf", "\\uFEFF"},
		{"\xef\xbf\xbe", "\\uFFFE"},
		{"\xef\xbf\xbf", "\\uFFFF"},
	};

	*bytes = 3;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (str_starts(s, cases[i][0]))
			return cases[i][1];
	return NULL;
}

void yaml_add_scalar(struct buf *b, struct str value)
{
	const char *escape;
	size_t bytes;

	if (!value.n || yaml_is_plain(value)) {
		buf_add(b, value);
		return;
	}
	buf_addc(b, '"');
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c == '"' || c == '\\')
			buf_addf(b, "\\%c", c);
		else if (c == '\n')
			buf_adds(b, "\\n");
		else if (c == '\t')
			buf_adds(b, "\\t");
		else if (c < 0x20 || c == 0x7f)
			buf_addf(b, "\\x%02x", c);
		else if (c == 0xc2 && i + 1 < value.n && (unsigned char)value.p[i + 1] < 0xa0)
			buf_addf(b, "\\x%02x", (unsigned char)value.p[++i]);
		else if ((escape = wide_escape(str_sub(value, i, value.n), &bytes))) {
			buf_adds(b, escape);
			i += bytes - 1;
		} else
			buf_addc(b, (char)c);
	}
	buf_addc(b, '"');
}
