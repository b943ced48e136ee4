#include "context/internal.h"

#define OPEN  "<!-- section:"
#define CLOSE " -->"

bool section_name_valid(struct str name)
{
	if (!name.n || name.n > 80 || utf8_fault(name) || str_trim(name).n != name.n)
		return false;
	if (str_find(name, STR("--")) < name.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f || name.p[i] == '>' ||
			name.p[i] == '<')
			return false;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * A comment opens at text[at]. If the line can be taken for a sentinel, loosely (blanks, `<!--`,
 * blanks, backslashes, `section:`), this is the offset of `section:`, and *slash that of the
 * backslashes before it; else 0. Looks only at the bytes around, so that a long line costs no more
 * than a short one.
 */
static size_t looks_like_sentinel(struct str text, size_t at, size_t *slash)
{
	size_t i = at;

	while (i && is_blank(text.p[i - 1]))
		i--;
	if (i && text.p[i - 1] != '\n')
		return 0;
	for (i = at + 4; i < text.n && is_blank(text.p[i]);)
		i++;
	*slash = i;
	while (i < text.n && text.p[i] == '\\')
		i++;
	return str_starts(str_sub(text, i, text.n), "section:") ? i : 0;
}

static size_t next_comment(struct str text, size_t from)
{
	const char *at = text.p + from, *end = text.p + text.n;

	/* One byte is searched for faster than four. */
	while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
		if (end - at >= 4 && memcmp(at, "<!--", 4) == 0)
			return (size_t)(at - text.p);
		at++;
	}
	return text.n;
}

/* Copies text; in each line that looks like a sentinel, adds one backslash or takes one away. */
static void rewrite(struct buf *out, struct str text, bool escape)
{
	size_t from = 0, slash = 0;

	for (size_t pos = next_comment(text, 0); pos < text.n; pos = next_comment(text, pos + 4)) {
		size_t at = looks_like_sentinel(text, pos, &slash);

		if (!at || (!escape && at == slash))
			continue;
		buf_add(out, str_sub(text, from, escape ? at : at - 1));
		if (escape)
			buf_addc(out, '\\');
		from = at;
	}
	buf_add(out, str_sub(text, from, text.n));
}

void sentinel_escape(struct buf *out, struct str text)
{
	rewrite(out, text, true);
}

void sentinel_unescape(struct buf *out, struct str text)
{
	rewrite(out, text, false);
}

static int refuse(
	const struct context *c, size_t at, const char *what, struct str name, struct error *err)
{
	unsigned line, col;

	text_place(c->text, at, &line, &col);
	return error_at(err, c->file, line, col, "%s '%.*s'", what,
		(int)(name.n < 80 ? name.n : 80), name.p);
}

/* The line at `at` begins like a sentinel in column 1: takes it as one or says why not. */
static int take_sentinel(struct context *c, size_t at, struct error *err)
{
	struct str rest = str_sub(c->text, at, c->text.n), line = rest, name;
	struct section *s;

	(void)str_line(&rest, &line);
	line = str_trim(line);
	if (!str_starts(line, OPEN) || !str_ends(line, CLOSE) || line.n < strlen(OPEN CLOSE))
		return refuse(c, at, "a sentinel must be '<!-- section:NAME -->', not", line, err);
	name = str_sub(line, strlen(OPEN), line.n - strlen(CLOSE));
	if (!section_name_valid(name))
		return refuse(c, at, "bad section name", name, err);
	if (context_find_section(c, name))
		return refuse(c, at, "duplicate section", name, err);
	if (c->n_sections == MAX_SECTIONS)
		return refuse(c, at, "more than 10000 sections, at", name, err);
	if (c->n_sections)
		c->sections[c->n_sections - 1].to = at;
	s = context_add_section(c, name);
	s->from = at;
	s->body = (size_t)(rest.p - c->text.p);
	s->to = c->text.n;
	return 0;
}

int context_parse_sections(struct context *c, size_t body, struct error *err)
{
	for (size_t pos = next_comment(c->text, body); pos < c->text.n;
		pos = next_comment(c->text, pos + 4)) {
		size_t slash = 0, at = looks_like_sentinel(c->text, pos, &slash);

		if (at && at == slash && c->text.p[pos - 1] == '\n' &&
			take_sentinel(c, pos, err) < 0)
			return -1;
	}
	return 0;
}
