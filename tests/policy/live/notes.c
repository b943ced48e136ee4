#include "tests/policy/live/notes.h"

/* Lines are sorted in the end: offsets have leading zeros. */
static void add_note(struct buf *out, size_t at, const char *what, const struct buf *text)
{
	buf_addf(out, "%08zu %s", at, what);
	if (text)
		json_print_text(out, buf_str(text));
	else
		buf_addc(out, '?');
	buf_addc(out, '\n');
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *out)
{
	CLEANUP(buf_release) struct buf copy = BUF_INIT;
	char *lines[4096], *end;
	size_t n = 0;

	buf_add(&copy, buf_str(out));
	for (char *at = copy.s; at && *at && n < COUNT(lines); at = end + 1) {
		end = strchr(at, '\n');
		*end = '\0';
		lines[n++] = at;
	}
	qsort(lines, n, sizeof(*lines), by_text);
	buf_clear(out);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s\n", lines[i]);
}

/* ---- ours ---- */

static void note_word(struct buf *out, size_t at, const char *what, const struct word *w)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, w->text ? w->text : "");
	add_note(out, at, what, w->text ? &text : NULL);
}

static void note_redirect(struct buf *out, const struct redirect *r)
{
	static const char *const signs[] = {"<", ">", ">&", ">&", "<<<"};
	const char digit[] = {(char)('0' + r->other), '\0'};
	struct word word = r->word;
	char what[8];

	(void)snprintf(what, sizeof(what), "%d%s", r->fd, signs[r->kind]);
	if (r->kind == REDIRECT_DUP || r->kind == REDIRECT_CLOSE)
		word.text = r->kind == REDIRECT_DUP ? digit : "-";
	note_word(out, r->at.from, what, &word);
}

static bool is_declaration(const char *name)
{
	static const char *const names[] = {
		"declare", "export", "let", "local", "nameref", "readonly", "typeset", NULL};

	return name && str_in(str_of(name), names);
}

/* The `)` of an arm of `case` stands behind the here document on its line. Within the word of a
 * command around it, which contains all, it is known by an `in`. */
static bool waits_over_arm(
	const struct redirect *r, const struct command *commands, const struct buf *text)
{
	for (size_t i = r->at.to; i < r->word.at.from; i++) {
		struct str line = str_sub(buf_str(text), r->at.to, i);
		const struct command *c = commands;

		while (c &&
			!(c->at.from <= i && i < c->at.to &&
				(c->at.from > r->at.from || str_find(line, STR(" in ")) == line.n)))
			c = c->next;
		if (!c && text->s[i] == ')')
			return true;
		if (text->s[i] == '\n' && text->s[i - 1] != '\\')
			break;
	}
	return false;
}

/* `<<-E` becomes `<  E`, and its lines blanks. */
static void note_read(struct buf *out, const struct redirect *r, struct buf *text)
{
	CLEANUP(buf_release) struct buf delimiter = BUF_INIT;
	size_t at = r->at.from + strcspn(text->s + r->at.from, "<") + 1;
	char what[8];

	text->s[at] = ' ';
	if (text->s[at + 1] == '-')
		text->s[at + 1] = ' ';
	memset(text->s + r->word.at.from, ' ', r->word.at.to - r->word.at.from);
	for (size_t i = at; i < r->at.to; i++)
		if (!strchr(" \t\n\\'\"", text->s[i]))
			buf_addc(&delimiter, text->s[i]);
	(void)snprintf(what, sizeof(what), "%d<", r->fd);
	add_note(out, r->at.from, what, &delimiter);
}

/* Whether the text of another here document begins where that of `r` ends. */
static bool is_followed(const struct redirect *r, const struct command *commands)
{
	for (const struct command *c = commands; c; c = c->next)
		for (const struct redirect *o = c->redirects; o; o = o->next)
			if (o != r && o->kind == REDIRECT_TEXT && o->word.at.from == r->word.at.to)
				return true;
	return false;
}

bool notes_ours(struct buf *out, const struct command *commands, struct buf *text)
{
	bool comparable = true;

	for (const struct command *c = commands; c; c = c->next) {
		for (size_t i = 0; i < c->n_words; i++) {
			struct word w = c->words[i];
			bool capital =
				!i && is_declaration(w.text) && text->s[w.at.from] == w.text[0];
			char name[16];

			if (capital) {
				(void)snprintf(name, sizeof(name), "%s", w.text);
				name[0] = text->s[w.at.from] = (char)(name[0] - 'a' + 'A');
				w.text = name;
			}
			note_word(out, w.at.from, i ? "word " : "name ", &w);
		}
		for (const struct redirect *r = c->redirects; r; r = r->next)
			if (r->kind == REDIRECT_TEXT && waits_over_arm(r, commands, text)) {
				comparable &= !is_followed(r, commands);
				note_read(out, r, text);
			} else {
				note_redirect(out, r);
			}
	}
	sort_lines(out);
	return comparable;
}

/* ---- shfmt's ---- */

struct scribe {
	struct buf *out;
	struct str source;
	size_t base; /* offsets are counted from here */
};

static size_t offset(const json *j, const char *name)
{
	return (size_t)json_get_int(json_get(j, name), "Offset", 0);
}

/* False: only the running shell knows it. */
static bool unquoted_literal(struct buf *text, const char *s, bool *bracket)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1] == '\n') {
			s++;
			continue;
		}
		if (*s == '*' || *s == '?' || (*s == ']' && *bracket))
			return false;
		*bracket |= *s == '[';
		s += *s == '\\' && s[1];
		buf_addc(text, *s);
	}
	return true;
}

static void double_literal(struct buf *text, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1] == '\n') {
			s++;
			continue;
		}
		s += *s == '\\' && s[1] && strchr("$`\"\\", s[1]);
		buf_addc(text, *s);
	}
}

static bool parts_text(struct buf *text, const json *parts, bool quoted, bool *bracket)
{
	bool known = true;

	for (const json *j = json_first(parts); j && known; j = json_next(j)) {
		const char *value = json_get_str(j, "Value");

		value = value ? value : "";
		if (json_str_is(j, "Type", "Lit") && quoted)
			double_literal(text, value);
		else if (json_str_is(j, "Type", "Lit"))
			known = unquoted_literal(text, value, bracket);
		else if (json_str_is(j, "Type", "SglQuoted") && !json_get(j, "Dollar"))
			buf_adds(text, value);
		else
			known = json_str_is(j, "Type", "DblQuoted") && !json_get(j, "Dollar") &&
				parts_text(text, json_get(j, "Parts"), true, bracket);
	}
	return known;
}

static void note_parts(const struct scribe *s, size_t at, const char *what, const json *word)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool bracket = false, known = parts_text(&text, json_get(word, "Parts"), false, &bracket);

	buf_adds(&text, "");
	add_note(s->out, at - s->base, what, known ? &text : NULL);
}

/* The body without the tabs that <<- takes off, those before the delimiter included. */
static void note_document(const struct scribe *s, size_t at, const char *what, const json *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	bool strip = s->source.p[offset(r, "OpPos") + 2] == '-', begins = true;

	buf_adds(&text, "");
	for (const json *j = json_first(json_get(json_get(r, "Hdoc"), "Parts")); j;
		j = json_next(j)) {
		const char *c = json_get_str(j, "Value");

		for (; c && *c; c++) {
			if (!(strip && begins && *c == '\t'))
				buf_addc(&text, *c);
			begins = *c == '\n' || (begins && *c == '\t');
		}
	}
	add_note(s->out, at - s->base, what, &text);
}

static void note_shfmt_redirect(const struct scribe *s, const json *r)
{
	const char *op = s->source.p + offset(r, "OpPos");
	const char *n = json_get_str(json_get(r, "N"), "Value");
	bool document = op[0] == '<' && op[1] == '<' && op[2] != '<';
	bool dup = (op[0] == '<' || op[0] == '>') && op[1] == '&';
	char what[8];

	(void)snprintf(what, sizeof(what), "%s%s",
		n              ? n
		: op[0] == '<' ? "0"
			       : "1",
		dup                            ? ">&"
		: op[0] == '<' && op[1] == '<' ? "<<<"
		: op[0] == '<'                 ? "<"
					       : ">");
	if (document)
		note_document(s, offset(r, "Pos"), what, r);
	else
		note_parts(s, offset(r, "Pos"), what, json_get(r, "Word"));
}

/* Every command and redirection below `j`, wherever it stands. */
static void note_tree(const struct scribe *s, const json *j)
{
	const char *type = json_is_object(j) ? json_get_str(j, "Type") : NULL;
	size_t i = 0;

	if (type && strcmp(type, "CallExpr") == 0)
		for (const json *w = json_first(json_get(j, "Args")); w; w = json_next(w), i++)
			note_parts(s, offset(w, "Pos"), i ? "word " : "name ", w);
	else if (type && (str_ends(str_of(type), "Clause") || strcmp(type, "FuncDecl") == 0) &&
		 !str_in(str_of(type), (const char *const[]){"IfClause", "WhileClause", "ForClause",
					       "CaseClause", "TimeClause", NULL}))
		add_note(s->out, offset(j, "Pos") - s->base, type, NULL);
	if (json_is_object(j))
		for (const json *r = json_first(json_get(j, "Redirs")); r; r = json_next(r))
			note_shfmt_redirect(s, r);
	if (json_is_object(j) || json_is_array(j))
		for (const json *below = json_first(j); below; below = json_next(below))
			note_tree(s, below);
}

const json *shfmt_statements(const json *file)
{
	return json_first(json_get(file, "Stmts"));
}

void notes_shfmt(struct buf *out, struct str source, const json **at, size_t from, size_t to)
{
	const struct scribe s = {out, source, from};

	for (; *at && offset(*at, "Pos") < to; *at = json_next(*at))
		note_tree(&s, *at);
	sort_lines(out);
}
