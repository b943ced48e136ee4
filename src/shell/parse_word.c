/*
 * parse_word.c: one word with its quotes. What bash would expand and the tree cannot say is denied
 * where it begins.
 */
#include "src/shell/parse_internal.h"

enum { BRACES_MAX = 63 };

struct scan {
	struct parser *p;
	struct word *word;
	size_t from;     /* of the token */
	uint64_t commas; /* a bit for each open brace: a comma or `..` stood behind it */
	unsigned braces;
	bool bracket; /* an unquoted `[` was there */
	bool equals;  /* an unquoted `=` was there: bash expands `~` behind `:` */
};

static bool name_begins(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool name_goes_on(char c)
{
	return name_begins(c) || (c >= '0' && c <= '9');
}

static struct part *part_push(struct scan *s, enum part_kind kind, size_t from, bool quoted)
{
	struct word *w = s->word;
	struct part *part;

	w->parts = array_push(s->p->a, w->parts, w->n, sizeof(*w->parts));
	part = &w->parts[w->n++];
	*part = (struct part){.kind = kind, .at = {from, from}, .quoted = quoted};
	return part;
}

/* Bytes from the cursor to `to` mean themselves. */
static void parse_word_add_text(struct scan *s, size_t from, size_t to, bool quoted)
{
	struct parser *p = s->p;
	struct word *w = s->word;
	struct part *part = w->n ? &w->parts[w->n - 1] : NULL;

	if (!part || part->kind != PART_TEXT || part->quoted != quoted) {
		part = part_push(s, PART_TEXT, p->at, quoted);
		part->text.p = p->out + p->used;
	}
	memcpy(p->out + p->used, p->s + from, to - from);
	p->used += to - from;
	part->text.n += to - from;
	part->at.to = to;
	take(p, to);
}

static int deny_construct(struct parser *p, size_t length, const char *what)
{
	return deny(p->v, RULE_CONSTRUCT, span_here(p, length), "%s", what);
}

/* A here document that waits for the end of its line would begin somewhere inside the quotes. */
static int check_lines(struct parser *p, size_t from, size_t to)
{
	if (!p->documents || !memchr(p->s + from, '\n', to - from))
		return 0;
	return deny(p->v, RULE_CONSTRUCT, (struct span){from, to},
		"quotes over the end of a line that has a here document");
}

static int single_quotes(struct scan *s)
{
	struct parser *p = s->p;
	const char *end = memchr(p->s + p->at + 1, '\'', p->n - p->at - 1);
	size_t to;

	if (!end)
		return deny(p->v, RULE_SYNTAX, (struct span){p->at, p->n},
			"unterminated single quotes");
	to = (size_t)(end - p->s);
	if (check_lines(p, p->at, to) < 0)
		return -1;
	s->word->quoted = true;
	take(p, p->at + 1);
	if (to > p->at)
		parse_word_add_text(s, p->at, to, true);
	take(p, to + 1);
	return 0;
}

static int variable(struct scan *s, size_t from, size_t to, size_t end, bool quoted)
{
	struct parser *p = s->p;
	struct part *part;

	if (to - from == 1 && p->s[from] == '_')
		return deny_construct(p, end - p->at, "special parameter '_'");
	if (quoted && p->s[end] == '\\' && p->s[end + 1] == '\n')
		return deny_construct(
			p, end - p->at + 2, "line continuation behind the name of a variable");
	part = part_push(s, PART_VARIABLE, p->at, quoted);
	part->text = (struct str){p->s + from, to - from};
	part->at.to = end;
	s->word->dynamic = true;
	take(p, end);
	return 0;
}

/* At `${`. */
static int braced(struct scan *s, bool quoted)
{
	struct parser *p = s->p;
	size_t from = p->at + 2, to = from;

	if (p->s[to] == '?')
		to++;
	else if (name_begins(p->s[from]))
		while (name_goes_on(p->s[to]))
			to++;
	if (to > from && p->s[to] == '}')
		return variable(s, from, to, to + 1, quoted);
	if (to > from && p->s[to])
		return deny_construct(
			p, to + 1 - p->at, "parameter expansion with an operator or an index");
	if (to == p->n)
		return deny(p->v, RULE_SYNTAX, span_here(p, to - p->at), "unterminated '${'");
	return deny_construct(p, 3, "parameter expansion other than '${name}'");
}

/* At `$(`. */
static int output(struct scan *s, bool quoted)
{
	struct parser *p = s->p;
	size_t from = p->at;
	struct node *node;
	struct part *part;

	if (p->s[from + 2] == '(')
		return deny_construct(p, 3, "arithmetic expansion '$(( ))'");
	if (parse_output(p, &node) < 0)
		return -1;
	part = part_push(s, PART_OUTPUT, from, quoted);
	part->node = node;
	part->at.to = p->at;
	s->word->dynamic = true;
	return 0;
}

static int dollar(struct scan *s, bool quoted)
{
	struct parser *p = s->p;
	size_t to = p->at + 1;
	char c = p->s[to];

	if (name_begins(c)) {
		while (name_goes_on(p->s[to]))
			to++;
		if ((unsigned char)p->s[to] >= 0x80)
			return deny_construct(p, to + 1 - p->at,
				"a name that some locales take to go on: write '${name}'");
		return variable(s, p->at + 1, to, to, quoted);
	}
	if (c == '?')
		return variable(s, p->at + 1, to + 1, to + 1, quoted);
	if (c == '{')
		return braced(s, quoted);
	if (c == '(')
		return output(s, quoted);
	if (c == '[')
		return deny_construct(p, 2, "arithmetic expansion '$[ ]'");
	if (c == '\'')
		return deny_construct(p, 2, "quotes '$'..''");
	if (c == '"' && !quoted)
		return deny_construct(p, 2, "quotes '$\"..\"'");
	if (c && strchr("0123456789@*#-$!", c))
		return deny_construct(p, 2, "positional or special parameter");
	if ((c == '\\' && p->s[to + 1] == '\n') || (unsigned char)c >= 0x80)
		return deny_construct(p, 2, "'$' in front of what could be a name");
	/* The whole word is then not split: a fault of bash's, and not for us to have. */
	if (!quoted && s->word->dynamic)
		return deny_construct(p, 1, "'$' behind an expansion");
	parse_word_add_text(s, p->at, to, quoted);
	return 0;
}

/* The backslash in double quotes: an escape only before $ ` " \ and newline. */
static int double_escape(struct scan *s)
{
	struct parser *p = s->p;
	char c = p->s[p->at + 1];

	if (c == '\n') {
		if (check_lines(p, p->at, p->at + 2) < 0)
			return -1;
		take(p, p->at + 2);
	} else if (c && strchr("$`\"\\", c)) {
		parse_word_add_text(s, p->at + 1, p->at + 2, true);
	} else {
		parse_word_add_text(s, p->at, p->at + 1, true);
	}
	return 0;
}

static int double_text(struct scan *s)
{
	struct parser *p = s->p;
	size_t to = p->at;

	while (p->s[to] && !strchr("\"\\$`", p->s[to]))
		to++;
	if (check_lines(p, p->at, to) < 0)
		return -1;
	parse_word_add_text(s, p->at, to, true);
	return 0;
}

static int double_quotes(struct scan *s)
{
	struct parser *p = s->p;
	size_t from = p->at;

	s->word->quoted = true;
	take(p, from + 1);
	for (;;) {
		char c = p->s[p->at];
		int rc;

		if (c == '"')
			break;
		if (!c)
			return deny(p->v, RULE_SYNTAX, (struct span){from, p->n},
				"unterminated double quotes");
		if (c == '`')
			return deny_construct(p, 1, "command substitution with backticks");
		rc = c == '\\' ? double_escape(s) : c == '$' ? dollar(s, true) : double_text(s);
		if (rc < 0)
			return -1;
	}
	take(p, p->at + 1);
	return 0;
}

static size_t character_length(char c)
{
	unsigned char u = (unsigned char)c;

	return u < 0xc0 ? 1 : u < 0xe0 ? 2 : u < 0xf0 ? 3 : 4;
}

static int escape(struct scan *s)
{
	struct parser *p = s->p;
	char c = p->s[p->at + 1];

	if (!c)
		return deny(p->v, RULE_SYNTAX, span_here(p, 1), "nothing behind the backslash");
	if (c == '\n')
		return deny_construct(p, 2, "line continuation inside a word");
	s->word->quoted = true;
	parse_word_add_text(s, p->at + 1, p->at + 1 + character_length(c), true);
	return 0;
}

/*
 * bash expands from an open brace to any closing one of the same level that has a comma or `..`
 * between them; closing braces before the first of those do not count for it. An open brace whose
 * partner is missing is text.
 */
static int brace(struct scan *s, char c, size_t at)
{
	if (c == '{') {
		if (s->braces == BRACES_MAX)
			return deny(s->p->v, RULE_LIMIT, (struct span){at, at + 1},
				"more than %d braces inside one another", BRACES_MAX);
		s->commas <<= 1;
		s->braces++;
		return 0;
	}
	if (s->commas & 1)
		return deny(
			s->p->v, RULE_CONSTRUCT, (struct span){s->from, at + 1}, "brace expansion");
	if (s->braces > 1) {
		s->commas >>= 1;
		s->braces--;
	}
	return 0;
}

/* `first`: where this stretch without quotes begins. */
static int tilde(struct scan *s, size_t first, size_t at)
{
	const char *text = s->p->s;

	if (at != s->word->at.from &&
		(at == first || !(text[at - 1] == '=' || (text[at - 1] == ':' && s->equals))))
		return 0;
	return deny(s->p->v, RULE_CONSTRUCT, (struct span){at, at + 1}, "tilde expansion");
}

/* Inside a word it is text for bash; others see a comment where it stands behind quotes. */
static int hash(struct scan *s, size_t first, size_t at)
{
	if (at != first || at == s->word->at.from)
		return 0;
	return deny(s->p->v, RULE_CONSTRUCT, (struct span){at, at + 1},
		"'#' behind quotes or an expansion");
}

static int special(struct scan *s, size_t first, size_t at)
{
	const char *c = s->p->s + at;

	switch (*c) {
	case '#':
		return hash(s, first, at);
	case '~':
		return tilde(s, first, at);
	case '=':
		s->equals = true;
		return 0;
	case '{':
	case '}':
		return *c == '{' || s->braces ? brace(s, *c, at) : 0;
	case ',':
		s->commas |= s->braces > 0;
		return 0;
	case '.':
		s->commas |= s->braces > 0 && c[1] == '.';
		return 0;
	case '[':
		s->bracket = true;
		return 0;
	case ']':
		s->word->pattern |= s->bracket;
		return 0;
	case '*':
	case '?':
		s->word->pattern = true;
		return 0;
	default:
		return 0;
	}
}

static int parse_word_plain(struct scan *s)
{
	struct parser *p = s->p;
	size_t first = p->at, to = first;

	while (!is_meta(p->s[to]) && !strchr("'\"\\$`", p->s[to])) {
		if (special(s, first, to) < 0)
			return -1;
		to++;
	}
	parse_word_add_text(s, first, to, false);
	return 0;
}

/* What stands right behind the word can change what it is. */
static int check_end(const struct scan *s)
{
	struct parser *p = s->p;
	const char *text = p->s;
	size_t at = p->at, i = s->from;
	struct span span = {s->from, at + 1};

	if (text[at] == '(') {
		char last = at ? text[at - 1] : '\0';

		if (s->equals && last == '=')
			return deny(p->v, RULE_CONSTRUCT, span, "array");
		if (last && strchr("?*+@!", last))
			return deny(p->v, RULE_CONSTRUCT, span, "extended pattern");
		return deny(p->v, RULE_CONSTRUCT, span, "'(' behind a word: function definition");
	}
	if (text[at] != '<' && text[at] != '>')
		return 0;
	if (text[i] == '{' && name_begins(text[i + 1]) && text[at - 1] == '}')
		return deny(p->v, RULE_REDIRECT, span,
			"redirection that puts its number into a variable");
	while (text[i] >= '0' && text[i] <= '9')
		i++;
	return i != at || i == s->from ? 0 : unexpected(p);
}

static int parse_word_scan_word(struct scan *s, struct word *out)
{
	struct parser *p = s->p;
	int rc = 0;

	s->word = out;
	*out = (struct word){.at = {p->at, p->at}};
	if (p->words++ == SHELL_WORDS)
		return deny(p->v, RULE_LIMIT, span_here(p, 1), "more than %d words", SHELL_WORDS);
	while (rc == 0 && !token_ends(p, p->at)) {
		switch (p->s[p->at]) {
		case '\'':
			rc = single_quotes(s);
			break;
		case '"':
			rc = double_quotes(s);
			break;
		case '\\':
			rc = escape(s);
			break;
		case '$':
			rc = dollar(s, false);
			break;
		case '`':
			rc = deny_construct(p, 1, "command substitution with backticks");
			break;
		default:
			rc = parse_word_plain(s);
		}
	}
	p->after_word = true;
	out->at.to = p->at;
	return rc < 0 ? -1 : check_end(s);
}

int parse_word(struct parser *p, struct word *out)
{
	struct scan s = {.p = p, .from = p->at};

	return parse_word_scan_word(&s, out);
}

int parse_value(struct parser *p, size_t from, struct word *out)
{
	struct scan s = {.p = p, .from = from, .equals = true};
	int rc = parse_word_scan_word(&s, out);

	out->pattern = false;
	return rc;
}

const char *shell_word_text(struct arena *a, const struct word *w)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (w->dynamic || w->pattern)
		return NULL;
	buf_adds(&text, "");
	for (size_t i = 0; i < w->n; i++)
		buf_add(&text, w->parts[i].text);
	return arena_dup(a, buf_str(&text));
}
