/* parse.c: a document read: frontmatter, sentinel lines, sections. */
#include "context/internal.h"
#include "src/base/clock.h"

#define OPEN     "<!-- section:"
#define CLOSE    " -->"
#define HEAD_MAX ((size_t)1 << 20)
#define FORMAT   1 /* of the document; a document without the key has it too */

/* ---- frontmatter ---- */

static int context_parse_check_text(const struct context *c, struct error *err)
{
	unsigned line, col;
	size_t bad;

	if (c->text.n > CONTEXT_MAX)
		return error_at(err, c->file, 1, 1, "the document is larger than 16 MiB");
	bad = str_utf8_fault(c->text);
	if (!bad)
		return 0;
	str_position(c->text, bad - 1, &line, &col);
	return error_at(
		err, c->file, line, col, "%s", c->text.p[bad - 1] ? "invalid UTF-8" : "a NUL byte");
}

/* *head: where the frontmatter begins; c->head_end: where its closing line begins. */
static int context_parse_find_head(struct context *c, size_t *head, size_t *body, struct error *err)
{
	struct str rest = c->text, line;
	size_t at;

	if (str_starts(rest, "\xef\xbb\xbf"))
		rest = str_sub(rest, 3, rest.n);
	if (!str_line(&rest, &line) || !str_is(line, "---"))
		return error_at(err, c->file, 1, 1, "no frontmatter: the first line must be '---'");
	c->newline = line.p[line.n] == '\r' ? "\r\n" : "\n";
	*head = (size_t)(rest.p - c->text.p);
	do {
		at = (size_t)(rest.p - c->text.p);
		if (!str_line(&rest, &line))
			return error_at(err, c->file, 1, 1, "the frontmatter has no closing '---'");
	} while (!str_is(line, "---") && !str_is(line, "..."));
	c->head_end = at;
	*body = (size_t)(rest.p - c->text.p);
	if (at - *head > HEAD_MAX)
		return error_at(err, c->file, 2, 1, "the frontmatter is larger than 1 MiB");
	return 0;
}

static int check_map(
	const struct context *c, const char *key, const struct yaml *node, struct error *err)
{
	unsigned long ignored;

	if (yaml_is_null(node))
		return 0;
	if (node->kind != YAML_MAP)
		return error_at(
			err, c->file, node->line, node->col, "'%s' must be a map of numbers", key);
	for (size_t i = 0; i < node->n; i++)
		if (yaml_uint(node->map[i].value, c->file, node->map[i].key->text.p,
			    CONTEXT_COUNT_MAX, &ignored, err) < 0)
			return -1;
	return 0;
}

static int context_parse_check_value(const struct context *c, const struct key_row *row,
	const struct yaml *node, struct error *err)
{
	unsigned long ignored;
	int64_t time;

	if (row->kind == KEY_ANY)
		return 0;
	if (row->kind == KEY_MAP)
		return check_map(c, row->name, node, err);
	if (node->kind != YAML_SCALAR)
		return error_at(err, c->file, node->line, node->col,
			"'%s' must be a text, not a list or map", row->name);
	if (row->kind == KEY_UNTIL && node->text.n && !yaml_is_null(node) &&
		!clock_parse_rfc3339(node->text, &time))
		return error_at(err, c->file, node->line, node->col,
			"'%s' must be a time such as 2026-11-21T03:48:12Z, not '%.60s'", row->name,
			node->text.p);
	if (row->kind != KEY_COUNT || yaml_is_null(node))
		return 0;
	return yaml_uint(node, c->file, row->name, CONTEXT_COUNT_MAX, &ignored, err);
}

static void add_parsed_field(struct context *c, size_t head, const struct yaml_pair *pair)
{
	struct field *f = context_add_field(c, pair->key->text);

	f->node = pair->value;
	f->from = head + pair->value->from;
	f->to = head + pair->value->to;
	if (pair->value->kind != YAML_SCALAR)
		f->value = arena_str(&c->arena, str_trim(str_sub(c->text, f->from, f->to)));
	else
		f->value = yaml_is_null(pair->value) ? (struct str){"", 0} : pair->value->text;
}

static int context_parse_check_identity(const struct context *c, struct error *err)
{
	static const char *const required[] = {"state", "work_item_id"};

	for (size_t i = 0; i < COUNT(required); i++) {
		const struct field *f = context_field(c, required[i]);

		if (!f || !f->value.n)
			return error_at(err, c->file, f ? f->node->line : 1, f ? f->node->col : 1,
				"'%s' is missing", required[i]);
	}
	return 0;
}

/* A `format` that is not a number is a key of the user's. */
static int context_parse_check_format(struct context *c, const struct yaml *map, struct error *err)
{
	const struct yaml *node = yaml_get(map, "format");
	struct error ignored;
	unsigned long format;

	if (!node || yaml_uint(node, c->file, "format", CONTEXT_COUNT_MAX, &format, &ignored) < 0 ||
		format == FORMAT)
		return 0;
	c->other_format = true;
	return error_at(err, c->file, node->line, node->col,
		"the document has format %lu; this version supports format %d", format, FORMAT);
}

static int parse_head(struct context *c, size_t head, struct error *err)
{
	struct yaml *map;

	if (yaml_parse_owned(&c->arena, str_sub(c->text, head, c->head_end), c->file, 2,
		    context_owns, &map, err) < 0)
		return -1;
	/* A new key is added as a line in column 1. */
	if (map->kind != YAML_MAP || map->col != 1 || c->text.p[head + map->from] == '{')
		return error_at(err, c->file, map->line, map->col,
			"the frontmatter must be 'key: value' lines");
	if (context_parse_check_format(c, map, err) < 0)
		return -1;
	for (size_t i = 0; i < map->n; i++)
		add_parsed_field(c, head, &map->map[i]);
	for (size_t i = 0; i < context_n_keys; i++) {
		const struct yaml *node = yaml_get(map, context_keys[i].name);

		if (node && context_parse_check_value(c, &context_keys[i], node, err) < 0)
			return -1;
	}
	return context_parse_check_identity(c, err);
}

/* ---- sentinels and sections ---- */

bool section_name_valid(struct str name)
{
	if (!name.n || name.n > 80 || str_utf8_fault(name) || str_trim(name).n != name.n ||
		str_find(name, STR("--")) < name.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f || name.p[i] == '>' ||
			name.p[i] == '<')
			return false;
	return true;
}

/*
 * A comment opens at text[at]. If the line resembles a sentinel (blanks, `<!--`, blanks,
 * backslashes, `section:`), returns the offset of `section:` and sets *slash to that of the
 * backslashes before it; else 0. Looks only at the bytes around, so that the cost does not depend
 * on the length of the line.
 */
static size_t sentinel_at(struct str text, size_t at, size_t *slash)
{
	size_t i = at;

	while (i && memchr(" \t", text.p[i - 1], 2))
		i--;
	if (i && text.p[i - 1] != '\n')
		return 0;
	for (i = at + 4; i < text.n && memchr(" \t", text.p[i], 2);)
		i++;
	*slash = i;
	while (i < text.n && text.p[i] == '\\')
		i++;
	return str_starts(str_sub(text, i, text.n), "section:") ? i : 0;
}

static size_t next_comment(struct str text, size_t from)
{
	const char *at = text.p + from, *end = text.p + text.n;

	/* memchr() is faster than a search for four bytes. */
	while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
		if (end - at >= 4 && memcmp(at, "<!--", 4) == 0)
			return (size_t)(at - text.p);
		at++;
	}
	return text.n;
}

/* Copies text. In each line that resembles a sentinel, adds or removes one backslash. */
static void change_backslashes(struct buf *out, struct str text, bool escape)
{
	size_t from = 0, slash = 0;

	for (size_t pos = next_comment(text, 0); pos < text.n; pos = next_comment(text, pos + 4)) {
		size_t at = sentinel_at(text, pos, &slash);

		if (!at || (!escape && at == slash))
			continue;
		buf_add(out, str_sub(text, from, escape ? at : at - 1));
		if (escape)
			buf_addc(out, '\\');
		from = at;
	}
	buf_add(out, str_sub(text, from, text.n));
}

void context_escape(struct buf *out, struct str text)
{
	change_backslashes(out, text, true);
}

void context_unescape(struct buf *out, struct str text)
{
	change_backslashes(out, text, false);
}

static int refuse_at(
	const struct context *c, size_t at, const char *what, struct str name, struct error *err)
{
	unsigned line, col;

	str_position(c->text, at, &line, &col);
	return error_at(err, c->file, line, col, "%s '%.*s'", what,
		(int)(name.n < 80 ? name.n : 80), name.p);
}

/* The line at `at` begins like a sentinel in column 1: starts a section or refuses it. */
static int parse_sentinel(struct context *c, size_t at, struct error *err)
{
	struct str rest = str_sub(c->text, at, c->text.n), line = rest, name;
	struct section *s;

	(void)str_line(&rest, &line);
	line = str_trim(line);
	if (!str_starts(line, OPEN) || !str_ends(line, CLOSE) || line.n < strlen(OPEN CLOSE))
		return refuse_at(
			c, at, "a sentinel must be '<!-- section:NAME -->', not", line, err);
	name = str_sub(line, strlen(OPEN), line.n - strlen(CLOSE));
	if (!section_name_valid(name))
		return refuse_at(c, at, "bad section name", name, err);
	if (context_find_section(c, name))
		return refuse_at(c, at, "duplicate section", name, err);
	if (c->sections.n == CONTEXT_SECTIONS_MAX)
		return refuse_at(c, at, "more than 10000 sections, at", name, err);
	if (c->sections.n)
		c->sections.items[c->sections.n - 1].to = at;
	s = context_add_section(c, name);
	s->from = at;
	s->body = (size_t)(rest.p - c->text.p);
	s->to = c->text.n;
	return 0;
}

static int parse_sections(struct context *c, size_t body, struct error *err)
{
	for (size_t pos = next_comment(c->text, body); pos < c->text.n;
		pos = next_comment(c->text, pos + 4)) {
		size_t slash = 0, at = sentinel_at(c->text, pos, &slash);

		if (at && at == slash && c->text.p[pos - 1] == '\n' &&
			parse_sentinel(c, pos, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- documents ---- */

int context_parse_buf(struct context *c, const char *file, struct buf *text, struct error *err)
{
	size_t head = 0, body = 0;

	*c = (struct context){.own = *text, .newline = "\n"};
	*text = (struct buf)BUF_INIT;
	c->file = arena_dup(&c->arena, str_of(file));
	c->text = buf_str(&c->own);
	if (context_parse_check_text(c, err) < 0 ||
		context_parse_find_head(c, &head, &body, err) < 0 || parse_head(c, head, err) < 0)
		return -1;
	return parse_sections(c, body, err);
}

int context_parse_sections(struct context *c, struct str text, struct error *err)
{
	size_t head = 0, body = 0;

	*c = (struct context){.text = text, .file = (char *)""};
	return context_parse_find_head(c, &head, &body, err) < 0 ? -1
								 : parse_sections(c, body, err);
}

/* The texts of sections are checked and escaped when they are set; to parse them again would cost
 * as much as the load. */
int context_check(const struct context *c, struct str text, struct error *err)
{
	CLEANUP(context_release) struct context again = {.text = text, .file = c->file};
	size_t head = 0, body = 0, sections = 0;
	struct error why = {0};

	for (size_t i = 0; i < c->sections.n; i++)
		sections += !c->sections.items[i].removed;
	if (sections > CONTEXT_SECTIONS_MAX)
		error_set(&why, ERR_INPUT, "more than %d sections", CONTEXT_SECTIONS_MAX);
	else if (context_parse_find_head(&again, &head, &body, &why) == 0 &&
		 parse_head(&again, head, &why) == 0)
		return 0;
	return error_set(
		err, ERR_INPUT, "'%s' cannot be saved like this: %.600s", c->file, why.text);
}

int context_parse(struct context *c, const char *file, struct str text, struct error *err)
{
	struct buf copy = BUF_INIT;

	buf_add(&copy, text);
	return context_parse_buf(c, file, &copy, err);
}
