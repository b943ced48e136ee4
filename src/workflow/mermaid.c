#include <stdarg.h>
#include "src/workflow/mermaid.h"
#include "src/workflow/diagram.h"
#include "src/workflow/words.h"

struct cursor {
	struct str rest; /* lines still to come */
	struct str raw;  /* the line being read; `line` is its number */
	unsigned line;
};

struct reader {
	struct diagram diagram;
	const char *file;
	struct error *err;
	struct cursor cur;
};

static struct place place_of(const struct reader *r, const char *p)
{
	struct place at = {r->cur.line, 1};

	for (const char *q = r->cur.raw.p; q < p; q++)
		at.col += ((unsigned char)*q & 0xc0) != 0x80;
	return at;
}

static int fault(struct reader *r, const char *p, const char *fmt, ...) PRINTF(3, 4);
static int fault(struct reader *r, const char *p, const char *fmt, ...)
{
	struct place at = place_of(r, p);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_at(r->err, r->file, at.line, at.col, "%s", text);
}

static bool next_line(struct reader *r)
{
	if (!str_line(&r->cur.rest, &r->cur.raw))
		return false;
	r->cur.line++;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip(struct str *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

/* Cuts the next name off *s, with the blanks around it: up to a blank, a colon, a brace or an
 * arrow. */
static struct str take_name(struct str *s)
{
	struct str name;
	size_t n = 0;

	*s = str_trim(*s);
	if (str_starts(*s, "[*]")) {
		n = 3;
	} else {
		while (n < s->n && !is_blank(s->p[n]) && s->p[n] != ':' && s->p[n] != '{' &&
			!str_starts(str_sub(*s, n, s->n), "-->"))
			n++;
	}
	name = str_sub(*s, 0, n);
	skip(s, n);
	if (str_starts(*s, ":::")) { /* a style class, which changes only the looks */
		skip(s, 3);
		while (s->n && !is_blank(s->p[0]) && !str_starts(*s, "-->"))
			skip(s, 1);
	}
	*s = str_trim(*s);
	return name;
}

static int read_name(struct reader *r, struct str name, size_t *index)
{
	return diagram_state(&r->diagram, name, place_of(r, name.p), index);
}

static int unexpected(struct reader *r, struct str rest, struct str after)
{
	char a[SHOWN], b[SHOWN];

	if (rest.p[0] == '{')
		return fault(r, rest.p,
			"composite states are not read: give the states inside '%s' to the diagram "
			"itself",
			shown(after, b));
	return fault(r, rest.p, "unexpected '%s' after '%s'%s", shown(rest, a), shown(after, b),
		strchr("-=.<", rest.p[0]) ? ": an edge is 'a --> b : trigger'" : "");
}

static int read_edge(struct reader *r, struct str from, struct str s)
{
	struct str to = take_name(&s), label = {0};
	bool start = str_is(from, "[*]"), end = str_is(to, "[*]");
	struct place at = place_of(r, from.p);
	size_t a = 0, b = 0;

	if (!to.n)
		return fault(r, s.n ? s.p : to.p, "edge leads nowhere: a state must follow '-->'");
	if (s.n && s.p[0] != ':')
		return unexpected(r, s, to);
	if (s.n)
		label = str_trim(str_sub(s, 1, s.n));
	if (start && end)
		return fault(r, from.p, "edge from '[*]' to '[*]' names no state");
	if (end && label.n)
		return fault(r, label.p,
			"edge to '[*]' takes no trigger: lead it to a state of its own that ends");
	if ((!start && read_name(r, from, &a) < 0) || (!end && read_name(r, to, &b) < 0))
		return -1;
	if (start)
		return diagram_initial(&r->diagram, b, place_of(r, to.p));
	if (end)
		return diagram_end(&r->diagram, a, at);
	return diagram_edge(
		&r->diagram, a, b, label, label.n ? place_of(r, label.p) : place_of(r, from.p));
}

/* `x --> y : t`, `x : text`, `x`. A comment may follow. */
static int read_statement(struct reader *r, struct str s)
{
	struct str name;
	size_t index;

	for (size_t i = 1; i + 1 < s.n; i++)
		if (is_blank(s.p[i - 1]) && s.p[i] == '%' && s.p[i + 1] == '%')
			s.n = i;
	s = str_trim(s);
	if (str_is(s, "--"))
		return fault(r, s.p,
			"regions ('--') are not read: declare a state with 'all:' for several at "
			"once");
	name = take_name(&s);
	if (!name.n)
		return fault(r, s.p, "line begins with no state");
	if (str_starts(s, "-->"))
		return read_edge(r, name, str_sub(s, 3, s.n));
	if (s.n && s.p[0] != ':')
		return unexpected(r, s, name);
	if (str_is(name, "[*]"))
		return fault(r, name.p, "'[*]' stands only at an end of an edge");
	if (read_name(r, name, &index) < 0)
		return -1;
	return diagram_label(&r->diagram, index,
		s.n ? str_trim(str_sub(s, 1, s.n)) : (struct str){0}, place_of(r, name.p));
}

/* After `state`: `"label" as name`, `name`, `name : text`. */
static int read_state(struct reader *r, struct str s)
{
	static const char *const kinds[] = {
		"<<fork>>", "<<join>>", "<<choice>>", "[[fork]]", "[[join]]", "[[choice]]"};
	struct str label, name;
	size_t end, index;

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (str_ends(s, kinds[i]))
			return fault(r, s.p + s.n - strlen(kinds[i]),
				"'%s' is not read: what a state answers decides its way out",
				kinds[i]);
	if (s.p[0] != '"')
		return read_statement(r, s);
	end = str_find(str_sub(s, 1, s.n), STR("\"")) + 1;
	if (end >= s.n)
		return fault(r, s.p, "label is not closed");
	label = str_trim(str_sub(s, 1, end));
	s = str_trim(str_sub(s, end + 1, s.n));
	if (!str_starts(s, "as") || s.n < 3 || !is_blank(s.p[2]))
		return fault(
			r, s.n ? s.p : label.p, "label without a state: 'as NAME' must follow");
	skip(&s, 3);
	name = take_name(&s);
	if (s.n)
		return unexpected(r, s, name);
	if (read_name(r, name, &index) < 0)
		return -1;
	return diagram_label(&r->diagram, index, label, place_of(r, label.p));
}

/* Skips lines up to the one that has `end`; the one being read counts from `from` on. */
static int skip_until(struct reader *r, struct str from, const char *end, const char *what)
{
	struct cursor begin = r->cur;

	while (str_find(from, str_of(end)) == from.n) {
		if (!next_line(r)) {
			r->cur = begin;
			return fault(r, str_trim(begin.raw).p, "%s is not closed: '%s' must follow",
				what, end);
		}
		from = r->cur.raw;
	}
	return 0;
}

static int read_note(struct reader *r, struct str s)
{
	struct str at = s;

	if (s.p[0] == '"')
		return 0; /* a floating note is one line */
	if (str_starts(s, "left of ") || str_starts(s, "right of ")) {
		skip(&s, s.p[0] == 'l' ? 8 : 9);
		if (take_name(&s).n && (!s.n || s.p[0] == ':'))
			return s.n ? 0 : skip_until(r, s, "end note", "note");
	}
	return fault(
		r, at.p, "note without a state: 'left of NAME' or 'right of NAME' must follow");
}

static int read_direction(struct reader *r, struct str s)
{
	static const char *const known[] = {"TB", "TD", "BT", "LR", "RL"};
	char text[SHOWN];

	for (size_t i = 0; i < COUNT(known); i++)
		if (str_is(s, known[i]))
			return 0;
	return fault(r, s.p, "unknown direction '%s': one of TB, BT, LR, RL", shown(s, text));
}

static int read_looks(struct reader *r, struct str s)
{
	(void)r;
	(void)s;
	return 0;
}

static const struct keyword {
	const char *word;
	int (*read)(struct reader *r, struct str rest);
} keywords[] = {
	{"state", read_state},
	{"note", read_note},
	{"direction", read_direction},
	{"classDef", read_looks},
	{"class", read_looks},
	{"style", read_looks},
	{"click", read_looks},
	{"scale", read_looks},
	{"title", read_looks},
	{"hide", read_looks},
};

/* `word`, a blank, and something that does not make the word a state's name. */
static bool is_keyword(struct str s, const char *word, struct str *rest)
{
	size_t n = strlen(word);

	if (!str_starts(s, word) || s.n <= n || !is_blank(s.p[n]))
		return false;
	*rest = str_trim(str_sub(s, n, s.n));
	return rest->n && rest->p[0] != ':' && !str_starts(*rest, "-->");
}

/* What mermaid keeps for people and screen readers. 1: it was that. */
static int read_extras(struct reader *r, struct str s)
{
	struct str rest;

	if (str_starts(s, "%%{"))
		return skip_until(r, s, "}%%", "directive") < 0 ? -1 : 1;
	if (!s.n || str_starts(s, "%%") || s.p[0] == '#')
		return 1;
	if (!str_starts(s, "accTitle") && !str_starts(s, "accDescr"))
		return 0;
	rest = str_trim(str_sub(s, 8, s.n));
	if (str_starts(rest, ":"))
		return 1;
	if (str_starts(rest, "{") && s.p[3] == 'D')
		return skip_until(r, rest, "}", "description") < 0 ? -1 : 1;
	return 0;
}

static int read_line(struct reader *r)
{
	struct str s = str_trim(r->cur.raw), rest;
	int rc = read_extras(r, s);

	if (rc)
		return rc < 0 ? -1 : 0;
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (is_keyword(s, keywords[i].word, &rest))
			return keywords[i].read(r, rest);
	return read_statement(r, s);
}

/* A `---` block, comments and directives may stand before `stateDiagram-v2`. */
static int read_header(struct reader *r)
{
	for (bool first = true; next_line(r); first = false) {
		struct str s = str_trim(r->cur.raw);
		char text[SHOWN];
		int rc;

		if (str_is(s, "stateDiagram-v2") || str_is(s, "stateDiagram"))
			return 0;
		if (first && str_is(s, "---"))
			rc = skip_until(r, (struct str){s.p, 0}, "---", "front matter");
		else
			rc = read_extras(r, s);
		if (rc < 0)
			return -1;
		if (!rc && !str_is(s, "---"))
			return fault(r, s.p,
				"'%s' is not read: the diagram must begin with 'stateDiagram-v2'",
				shown(s, text));
	}
	return fault(r, r->cur.raw.p, "diagram is empty: 'stateDiagram-v2' must come first");
}

int mermaid_parse(struct arena *a, const char *file, unsigned line, struct str text,
	struct workflow *w, struct error *err)
{
	struct reader *r = arena_alloc(a, sizeof(*r));

	r->diagram.arena = a;
	r->diagram.file = r->file = file;
	r->diagram.err = r->err = err;
	r->cur.rest = text;
	r->cur.raw = (struct str){text.p, 0};
	r->cur.line = line - 1;
	if (read_header(r) < 0)
		return -1;
	while (next_line(r))
		if (read_line(r) < 0)
			return -1;
	return diagram_finish(&r->diagram, (struct place){line, 1}, w);
}
