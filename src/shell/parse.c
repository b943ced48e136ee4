/*
 * parse.c: finds where commands begin and end. Operators, parentheses and reserved words are
 * followed only as far as that needs. Functions that can fail return 0, or -1 with the denial in
 * p->v.
 */
#include "src/base/vec.h"
#include "src/shell/parse.h"

enum { SHELL_DOCUMENTS = 8 };

/* A here document whose lines come behind the next newline. */
struct document {
	struct redirect *redirect;
	struct str delimiter;
	bool strip, literal;
};

struct parser {
	struct arena *a;
	struct verdict *v;
	const char *s; /* s[n] is NUL, and the only one */
	size_t n, at;
	char *out; /* texts with their quotes resolved, one behind the other */
	size_t used;
	struct document documents[SHELL_DOCUMENTS];
	unsigned n_documents, read; /* those that wait, and those that were read */
	char open[SHELL_DEPTH];     /* what is open: a letter for each */
	unsigned depth, commands, words;
	struct command **last;
	bool joined; /* there is more than simple commands one after the other */
};

/* ---- bytes ---- */

/* C1 control characters are two bytes in UTF-8. */
static bool is_control(struct str text, size_t i)
{
	unsigned char c = (unsigned char)text.p[i];

	if (c < 0x20)
		return c != '\t' && c != '\n';
	return c == 0x7f || (c == 0xc2 && (unsigned char)text.p[i + 1] < 0xa0);
}

static int check_bytes(struct str text, struct verdict *v)
{
	size_t fault = str_utf8_fault(text);

	if (text.n > SHELL_MAX)
		return deny(v, RULE_INPUT_LENGTH, (struct span){SHELL_MAX, text.n},
			"more than %d bytes", SHELL_MAX);
	if (fault)
		return deny(v, RULE_INPUT_BYTES, (struct span){fault - 1, fault},
			text.p[fault - 1] ? "invalid UTF-8" : "NUL in the text");
	for (size_t i = 0; i < text.n; i++)
		if (is_control(text, i))
			return deny(v, RULE_INPUT_BYTES, (struct span){i, i + 1},
				"control character 0x%02x",
				(unsigned char)text.p[i + ((unsigned char)text.p[i] == 0xc2)]);
	return 0;
}

/* A byte that ends a word: blank, newline, | & ; < > ( ) or the end of the text. */
static bool shell_is_meta(char c)
{
	return !c || strchr(" \t\n|&;<>()", c);
}

/* bash knows no other blanks, whatever the locale. */
static bool shell_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_continued(const struct parser *p, size_t at)
{
	return p->s[at] == '\\' && p->s[at + 1] == '\n';
}

/* And continued lines, and a comment. */
static void shell_skip_blanks(struct parser *p)
{
	for (;;) {
		if (is_continued(p, p->at))
			p->at += 2;
		else if (shell_is_blank(p->s[p->at]))
			p->at++;
		else
			break;
	}
	if (p->s[p->at] == '#')
		p->at += strcspn(p->s + p->at, "\n");
}

/* bash joins lines first: what follows must not make another operator of it. */
static int shell_take_operator(struct parser *p, size_t length)
{
	size_t from = p->at, next;

	p->at += length;
	for (next = p->at; is_continued(p, next);)
		next += 2;
	if (next != p->at && p->s[next] && strchr("|&;<>()-", p->s[next]))
		return deny(p->v, RULE_CONSTRUCT, (struct span){from, next + 1},
			"line continuation inside an operator");
	return 0;
}

static struct span shell_span_here(const struct parser *p, size_t length)
{
	size_t left = p->n - p->at;

	return (struct span){p->at, p->at + (length < left ? length : left)};
}

static int shell_construct(struct parser *p, size_t length, const char *what)
{
	return deny(p->v, RULE_CONSTRUCT, shell_span_here(p, length), "%s", what);
}

/* The token at the cursor cannot stand there. */
static int shell_unexpected(struct parser *p)
{
	size_t n = strcspn(p->s + p->at, " \t\n|&;<>()");
	struct str shown;

	if (!n && p->at < p->n)
		n = p->s[p->at + 1] == p->s[p->at] ? 2 : 1;
	shown = str_cut((struct str){p->s + p->at, n}, 40);
	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, shell_span_here(p, n), "unexpected end");
	if (p->s[p->at] == '\n')
		return deny(p->v, RULE_SYNTAX, shell_span_here(p, n), "unexpected end of the line");
	return deny(p->v, RULE_SYNTAX, shell_span_here(p, n), "unexpected '%.*s%s'", (int)shown.n,
		shown.p, shown.n < n ? ".." : "");
}

size_t shell_name_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return *text >= '0' && *text <= '9' ? 0 : n;
}

/* ---- words ---- */

/* At the `(` of a subshell or of `$(`; past its `)`. */
static int shell_nested(struct parser *p);

/* One word with its quotes. What bash would expand into something that only it knows makes the word
 * unknown, or is denied where it begins. */
struct scan {
	struct parser *p;
	size_t from;
	bool bracket;      /* an unquoted `[` was there */
	bool brace, comma; /* an unquoted `{`; and a comma or `..` behind it */
	bool unknown;      /* known only when the command runs */
};

static size_t past_name(const struct parser *p, size_t at)
{
	size_t n = shell_name_length(p->s + at);

	return n ? at + n : at + (p->s[at] == '?');
}

/* `n` bytes at the cursor mean themselves. */
static int word_add_bytes(struct scan *s, size_t n)
{
	struct parser *p = s->p;

	/* The here document would begin somewhere inside the quotes. */
	if (p->n_documents && memchr(p->s + p->at, '\n', n))
		return shell_construct(
			p, n, "quotes over the end of a line that has a here document");
	memcpy(p->out + p->used, p->s + p->at, n);
	p->used += n;
	p->at += n;
	return 0;
}

static int single_quotes(struct scan *s)
{
	struct parser *p = s->p;
	const char *end = strchr(p->s + p->at + 1, '\'');

	if (!end)
		return deny(p->v, RULE_SYNTAX, (struct span){p->at, p->n},
			"unterminated single quotes");
	p->at++;
	if (word_add_bytes(s, (size_t)(end - p->s) - p->at) < 0)
		return -1;
	p->at++;
	return 0;
}

/* At `$(`. bash prints what it has parsed in it and runs what it then reads in the print. Behind a
 * here document some versions lose what joins commands on that way. */
static int output(struct parser *p)
{
	struct span at = shell_span_here(p, 3);
	unsigned commands = p->commands, read = p->read;

	if (p->s[p->at + 2] == '(')
		return deny(p->v, RULE_CONSTRUCT, at, "arithmetic expansion '$(( ))'");
	p->at++;
	if (shell_nested(p) < 0)
		return -1;
	if (p->read > read && p->commands > commands + 1)
		return deny(p->v, RULE_CONSTRUCT, at,
			"here document in '$( )' that is more than one command");
	return 0;
}

/* At `${`. */
static int braced(struct parser *p)
{
	size_t from = p->at + 2, to = past_name(p, from);

	if (to == p->n)
		return deny(p->v, RULE_SYNTAX, shell_span_here(p, to - p->at), "unterminated '${'");
	if (to == from || p->s[to] != '}')
		return shell_construct(p, to + 1 - p->at, "expansion other than '${name}'");
	p->at = to + 1;
	return 0;
}

static int dollar(struct scan *s, bool quoted)
{
	struct parser *p = s->p;
	size_t from = p->at + 1, to = past_name(p, from);
	char c = p->s[from];

	if (to > from) {
		s->unknown = true;
		p->at = to;
		return 0;
	}
	s->unknown |= c == '{' || c == '(';
	if (c == '{')
		return braced(p);
	if (c == '(')
		return output(p);
	if (c == '[')
		return shell_construct(p, 2, "arithmetic expansion '$[ ]'");
	if (!quoted && (c == '\'' || c == '"'))
		return shell_construct(p, 2, "quotes with '$'");
	if (c && strchr("0123456789@*#-$!", c))
		return shell_construct(p, 2, "positional or special parameter");
	if (c == '\\' && p->s[from + 1] == '\n')
		return shell_construct(p, 3, "line continuation behind '$'");
	return word_add_bytes(s, 1);
}

/* The backslash in double quotes: an escape only before $ ` " \ and newline. */
static int double_escape(struct scan *s)
{
	char c = s->p->s[s->p->at + 1];

	if (!c || !strchr("$`\"\\\n", c))
		return word_add_bytes(s, 1);
	s->p->at++;
	if (word_add_bytes(s, 1) < 0)
		return -1;
	s->p->used -= c == '\n';
	return 0;
}

static int double_quotes(struct scan *s)
{
	struct parser *p = s->p;
	size_t from = p->at++;
	int rc = 0;

	while (rc == 0 && p->s[p->at] != '"') {
		switch (p->s[p->at]) {
		case '\0':
			return deny(p->v, RULE_SYNTAX, (struct span){from, p->n},
				"unterminated double quotes");
		case '`':
			return shell_construct(p, 1, "command substitution with backticks");
		case '\\':
			rc = double_escape(s);
			break;
		case '$':
			rc = dollar(s, true);
			break;
		default:
			rc = word_add_bytes(s, strcspn(p->s + p->at, "\"\\$`"));
		}
	}
	p->at += rc == 0;
	return rc;
}

static int plain(struct scan *s)
{
	struct parser *p = s->p;
	const char *c = p->s + p->at;

	switch (*c) {
	case '~':
		if (p->at == s->from || c[-1] == '=' || c[-1] == ':')
			return shell_construct(p, 1, "tilde expansion");
		break;
	case '{':
		s->brace = true;
		break;
	case ',':
	case '.':
		s->comma |= s->brace && (*c == ',' || c[1] == '.');
		break;
	case '}':
		if (s->comma) /* in more cases than bash, which looks for pairs */
			return deny(p->v, RULE_CONSTRUCT, (struct span){s->from, p->at + 1},
				"brace expansion");
		break;
	case '[':
		s->bracket = true;
		break;
	case ']':
		s->unknown |= s->bracket;
		break;
	case '*':
	case '?':
		s->unknown = true;
		break;
	}
	return word_add_bytes(s, 1);
}

static int escaped(struct scan *s)
{
	struct parser *p = s->p;

	if (!p->s[p->at + 1])
		return deny(
			p->v, RULE_SYNTAX, shell_span_here(p, 1), "nothing behind the backslash");
	if (p->s[p->at + 1] == '\n')
		return shell_construct(p, 2, "line continuation inside a word");
	p->at++;
	return word_add_bytes(s, 1);
}

/* What stands right behind the word can change what it is. */
static int check_end(const struct scan *s)
{
	struct parser *p = s->p;
	char c = p->s[p->at];

	if (c == '(')
		return deny(p->v, RULE_CONSTRUCT, (struct span){s->from, p->at + 1},
			"'(' behind a word: function, array or pattern");
	if ((c == '<' || c == '>') && p->s[s->from] == '{' && p->s[p->at - 1] == '}')
		return deny(p->v, RULE_REDIRECT, (struct span){s->from, p->at + 1},
			"redirection that puts its number into a variable");
	return 0;
}

static int part(struct scan *s)
{
	switch (s->p->s[s->p->at]) {
	case '\'':
		return single_quotes(s);
	case '"':
		return double_quotes(s);
	case '\\':
		return escaped(s);
	case '$':
		return dollar(s, false);
	case '`':
		return shell_construct(s->p, 1, "command substitution with backticks");
	default:
		return plain(s);
	}
}

/* A continued line with a blank behind it ends the word, too. */
static bool word_ends(const struct parser *p)
{
	const char *c = p->s + p->at;

	return shell_is_meta(*c) || (c[0] == '\\' && c[1] == '\n' && shell_is_blank(c[2]));
}

static int shell_word(struct parser *p, struct word *out)
{
	struct scan s = {.p = p, .from = p->at};
	size_t begin = p->used;

	if (p->words++ == SHELL_WORDS)
		return deny(
			p->v, RULE_LIMIT, shell_span_here(p, 1), "more than %d words", SHELL_WORDS);
	while (!word_ends(p))
		if (part(&s) < 0)
			return -1;
	p->out[p->used++] = '\0';
	*out = (struct word){{s.from, p->at}, s.unknown ? NULL : p->out + begin};
	return check_end(&s);
}

/* ---- redirections ---- */

static size_t past_digits(const struct parser *p)
{
	return p->at + strspn(p->s + p->at, "0123456789");
}

static bool shell_redirect_here(const struct parser *p)
{
	size_t i = past_digits(p);
	char c = p->s[i];

	return c == '<' || c == '>' || (i == p->at && c == '&' && p->s[i + 1] == '>');
}

/* The longest first. fd -1: not in the subset. */
static const struct operator
{
	const char *text;
	enum redirect_kind kind;
	int fd;
}
operators[] = {
	{"&>>", REDIRECT_WRITE, 1},
	{"<<<", REDIRECT_TEXT, 0},
	{"<<-", REDIRECT_TEXT, 0},
	{"&>", REDIRECT_WRITE, 1},
	{"<<", REDIRECT_TEXT, 0},
	{">>", REDIRECT_WRITE, 1},
	{">|", REDIRECT_WRITE, 1},
	{">&", REDIRECT_DUP, 1},
	{"<&", REDIRECT_DUP, 0},
	{"<>", REDIRECT_READ, -1},
	{"<(", REDIRECT_READ, -1},
	{">(", REDIRECT_READ, -1},
	{"<", REDIRECT_READ, 0},
	{">", REDIRECT_WRITE, 1},
};

/* The number in front, if any. */
static int parse_number(struct parser *p, int *fd)
{
	size_t end = past_digits(p);

	if (end == p->at)
		return 0;
	if (end - p->at > 1 || p->s[p->at] > '2')
		return deny(p->v, RULE_REDIRECT, (struct span){p->at, end},
			"file descriptor other than 0, 1 and 2");
	*fd = p->s[p->at] - '0';
	p->at = end;
	return 0;
}

/* Behind >& and <&. */
static int parse_other(struct parser *p, struct redirect *r)
{
	char c = p->s[p->at];

	if (!c || !strchr("-012", c) || !shell_is_meta(p->s[p->at + 1]))
		return deny(p->v, RULE_REDIRECT, shell_span_here(p, 1),
			"only 0, 1, 2 and - can stand behind '>&' and '<&'");
	if (c == '-')
		r->kind = REDIRECT_CLOSE;
	else
		r->other = c - '0';
	p->at++;
	return 0;
}

/* Its delimiter: letters and digits, in quotes or behind a backslash or not. */
static int parse_document(struct parser *p, struct redirect *r, bool strip)
{
	struct document *d = &p->documents[p->n_documents];
	const char *s = p->s + p->at;
	bool quoted = *s == '\'' || *s == '"';
	size_t before = quoted || *s == '\\', n;

	n = strspn(s + before, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-.");
	if (!n || (quoted && s[1 + n] != *s) || !shell_is_meta(s[before + n + quoted]))
		return shell_construct(p, 1, "the end of a here document must be a plain word");
	if (p->n_documents++ == SHELL_DOCUMENTS)
		return deny(p->v, RULE_LIMIT, shell_span_here(p, 1), "more than %d here documents",
			SHELL_DOCUMENTS);
	*d = (struct document){r, {s + before, n}, strip, before > 0};
	p->at += before + n + quoted;
	return 0;
}

static int parse_target(struct parser *p, struct redirect *r, const struct operator* op)
{
	shell_skip_blanks(p);
	if (op->kind == REDIRECT_DUP)
		return parse_other(p, r);
	if (op->kind == REDIRECT_TEXT && op->text[2] != '<')
		return parse_document(p, r, op->text[2] == '-');
	return shell_is_meta(p->s[p->at]) ? shell_unexpected(p) : shell_word(p, &r->word);
}

static int shell_redirect(struct parser *p, struct command *c)
{
	struct redirect *r = arena_alloc(p->a, sizeof(*r)), **last = &c->redirects;
	size_t from = p->at;
	const struct operator* op = operators;

	if (parse_number(p, &r->fd) < 0)
		return -1;
	while (strncmp(p->s + p->at, op->text, strlen(op->text)) != 0) /* there is one */
		op++;
	if (op->fd < 0)
		return deny(p->v, op->text[1] == '(' ? RULE_CONSTRUCT : RULE_REDIRECT,
			shell_span_here(p, 2), "'%s' is not in the subset", op->text);
	r->kind = op->kind;
	if (p->at == from)
		r->fd = op->fd;
	if (shell_take_operator(p, strlen(op->text)) < 0 || parse_target(p, r, op) < 0)
		return -1;
	r->at = (struct span){from, p->at};
	while (*last)
		last = &(*last)->next;
	*last = r;
	return 0;
}

/* ---- the lines of here documents ---- */

static int read_line(struct parser *p, const struct document *d, size_t to)
{
	for (size_t i = p->at; i < to && !d->literal; i++)
		if (strchr("$`\\", p->s[i]))
			return deny(p->v, RULE_CONSTRUCT, (struct span){i, i + 1},
				"'%c' in a here document whose delimiter has no quotes", p->s[i]);
	memcpy(p->out + p->used, p->s + p->at, to + 1 - p->at);
	p->used += to + 1 - p->at;
	p->at = to + 1;
	return 0;
}

static int read_document(struct parser *p, const struct document *d)
{
	d->redirect->word = (struct word){{p->at, p->at}, p->out + p->used};
	for (;;) {
		size_t to;

		while (d->strip && p->s[p->at] == '\t')
			p->at++;
		to = p->at + strcspn(p->s + p->at, "\n");
		if (str_eq((struct str){p->s + p->at, to - p->at}, d->delimiter)) {
			p->at = to + (p->s[to] != '\0');
			p->out[p->used++] = '\0';
			d->redirect->word.at.to = p->at;
			return 0;
		}
		if (!p->s[to])
			return deny(p->v, RULE_SYNTAX, d->redirect->at,
				"here document without its end");
		if (read_line(p, d, to) < 0)
			return -1;
	}
}

/* At a newline: past it and the here documents behind it. */
static int shell_newline(struct parser *p)
{
	unsigned n = p->n_documents;

	p->at++;
	p->n_documents = 0;
	p->read += n;
	for (unsigned i = 0; i < n; i++)
		if (read_document(p, &p->documents[i]) < 0)
			return -1;
	return 0;
}

/* ---- reserved words ---- */

/* Words that bash takes for its own where a command may begin. `needs`: what must be open, which
 * the word closes; `opens`: what is open then; `-`: not in the subset. */
static const struct keyword {
	const char *text;
	char needs, opens;
} keywords[] = {
	{"if", 0, 'i'},
	{"then", 'i', 't'},
	{"elif", 't', 'i'},
	{"else", 't', 't'},
	{"fi", 't', 0},
	{"while", 0, 'w'},
	{"until", 0, 'w'},
	{"for", 0, 'w'},
	{"do", 'w', 'd'},
	{"done", 'd', 0},
	{"case", 0, 'c'},
	{"esac", 'c', 0},
	{"{", 0, '{'},
	{"}", '{', 0},
	{"!", 0, 0},
	{"time", 0, 0},
	{"[[", '-', 0},
	{"coproc", '-', 0},
	{"function", '-', 0},
	{"select", '-', 0},
};

static const struct keyword *keyword_of(struct str text)
{
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (str_is(text, keywords[i].text))
			return &keywords[i];
	return NULL;
}

/* Whether a command may begin, must begin or has ended. */
enum list_state { LIST_MAY, LIST_MUST, LIST_ENDED };

struct list {
	enum list_state state;
	bool piped; /* `|` stands in front */
};

static int shell_open(struct parser *p, char what)
{
	if (p->depth == SHELL_DEPTH)
		return deny(p->v, RULE_LIMIT, shell_span_here(p, 1),
			"more than %d levels inside one another", SHELL_DEPTH);
	p->open[p->depth++] = what;
	return 0;
}

static char innermost(const struct parser *p)
{
	return p->depth ? p->open[p->depth - 1] : 0;
}

/* A word, and the blanks around it. */
static int shell_word_between(struct parser *p, struct word *word)
{
	shell_skip_blanks(p);
	if (shell_is_meta(p->s[p->at]))
		return shell_unexpected(p);
	if (shell_word(p, word) < 0)
		return -1;
	shell_skip_blanks(p);
	return 0;
}

/* `WORD in` of `for` and `case`. */
static int shell_word_in(struct parser *p, struct word *word)
{
	if (shell_word_between(p, word) < 0)
		return -1;
	if (strncmp(p->s + p->at, "in", 2) != 0 || !shell_is_meta(p->s[p->at + 2]))
		return shell_construct(p, 1, "'for' or 'case' without 'in'");
	p->at += 2;
	return 0;
}

/* The list goes on with `;` or a newline, and `do`. */
static int shell_for(struct parser *p)
{
	struct word word;
	size_t n;

	shell_skip_blanks(p);
	n = shell_name_length(p->s + p->at);
	if (shell_word_in(p, &word) < 0)
		return -1;
	if (!n || n != word.at.to - word.at.from)
		return deny(p->v, RULE_CONSTRUCT, word.at, "'for' without the name of a variable");
	for (shell_skip_blanks(p); !shell_is_meta(p->s[p->at]); shell_skip_blanks(p))
		if (shell_word(p, &word) < 0)
			return -1;
	return 0;
}

/* `PATTERN | PATTERN)`; the list of the arm ends with `;;` or `esac`. */
static int shell_patterns(struct parser *p, struct list *l)
{
	char c = p->s[p->at];
	struct word word;

	p->at += c == '(';
	do {
		if (shell_word_between(p, &word) < 0)
			return -1;
		c = p->s[p->at];
		if (c != '|' && c != ')')
			return shell_unexpected(p);
		p->at++;
	} while (c == '|');
	l->state = LIST_MAY;
	return shell_open(p, 'p');
}

static int shell_keyword(struct parser *p, struct list *l, const struct keyword *k)
{
	size_t n = strlen(k->text);
	struct word word;

	if (k->needs == 'c' && innermost(p) == 'p')
		p->depth--;
	if (k->needs == '-')
		return deny(p->v, RULE_CONSTRUCT, shell_span_here(p, n),
			"'%s' is not in the subset", k->text);
	if (k->needs ? innermost(p) != k->needs || l->state == LIST_MUST : l->piped && !k->opens)
		return shell_unexpected(p);
	p->depth -= k->needs != 0;
	if (k->opens && shell_open(p, k->opens) < 0)
		return -1;
	p->at += n;
	p->joined = true;
	l->piped = false;
	l->state = k->needs && !k->opens ? LIST_ENDED : LIST_MUST;
	if (strcmp(k->text, "for") == 0) {
		l->state = LIST_ENDED;
		return shell_for(p);
	}
	if (k->opens == 'c') {
		l->state = LIST_MAY;
		return shell_word_in(p, &word);
	}
	if (strcmp(k->text, "time") != 0)
		return 0;
	shell_skip_blanks(p);
	return p->s[p->at] == '-' ? shell_construct(p, 2, "option of 'time'") : 0;
}

/* ---- simple commands ---- */

static int command_new(struct parser *p, struct command **out)
{
	struct command *c = *out = arena_alloc(p->a, sizeof(*c));

	if (p->commands++ == SHELL_COMMANDS)
		return deny(p->v, RULE_LIMIT, shell_span_here(p, 1), "more than %d commands",
			SHELL_COMMANDS);
	c->at = (struct span){p->at, p->at};
	*p->last = c;
	p->last = &c->next;
	return 0;
}

/* Bytes of `NAME=` at the cursor, or 0. */
static int find_assignment(struct parser *p, size_t *length)
{
	const char *s = p->s + p->at;
	size_t n = shell_name_length(s);

	*length = 0;
	if (!n)
		return 0;
	if (s[n] == '[')
		return shell_construct(p, n + 1, "element of an array");
	if (s[n] == '+' && s[n + 1] == '=')
		return shell_construct(p, n + 2, "assignment with '+='");
	if (s[n] == '=')
		*length = n + 1;
	return 0;
}

static int shell_argument(struct parser *p, struct command *c)
{
	struct word value, *w;
	size_t length = 0;

	if (!c->n_words && find_assignment(p, &length) < 0)
		return -1;
	if (length) {
		c->n_assignments++;
		p->at += length;
		return shell_word(p, &value);
	}
	c->words = vec_grow(p->a, c->words, c->n_words, &c->room, 1, sizeof(*c->words));
	w = &c->words[c->n_words++];
	if (shell_word(p, w) < 0)
		return -1;
	/* Behind an assignment or a redirection it is a program's name for bash. */
	if (c->n_words == 1 && keyword_of((struct str){p->s + w->at.from, w->at.to - w->at.from})) {
		p->at = w->at.from;
		return shell_unexpected(p);
	}
	return 0;
}

static int shell_simple(struct parser *p, struct command *c)
{
	for (;; shell_skip_blanks(p)) {
		bool redirect = shell_redirect_here(p);

		if (!redirect && shell_is_meta(p->s[p->at]))
			break;
		if ((redirect ? shell_redirect(p, c) : shell_argument(p, c)) < 0)
			return -1;
		c->at.to = p->at;
	}
	return c->at.to > c->at.from ? 0 : shell_unexpected(p);
}

/* ---- lists ---- */

static int shell_operator(struct parser *p, struct list *l)
{
	const char *s = p->s + p->at;
	bool twice = s[1] == s[0], both = s[0] == '|' && s[1] == '&';

	if (s[0] == ';' && twice && innermost(p) == 'p' && l->state != LIST_MUST) {
		p->depth--;
		l->state = LIST_MAY;
		return shell_take_operator(p, 2);
	}
	if (l->state != LIST_ENDED || (s[0] == ';' && (twice || s[1] == '&')))
		return shell_unexpected(p);
	p->joined |= s[0] != ';';
	l->piped = s[0] == '|' && !twice;
	l->state = s[0] == ';' || (s[0] == '&' && !twice) ? LIST_MAY : LIST_MUST;
	return shell_take_operator(p, twice || both ? 2 : 1);
}

static int shell_item(struct parser *p, struct list *l)
{
	const char *s = p->s + p->at;
	const struct keyword *k;
	struct command *c;

	k = keyword_of((struct str){s, strcspn(s, " \t\n|&;<>()")});
	if (innermost(p) == 'c' && !(k && k->needs == 'c'))
		return shell_patterns(p, l);
	if (strchr("|&;", *s) && !shell_redirect_here(p))
		return shell_operator(p, l);
	if (l->state == LIST_ENDED) { /* of a compound command */
		if (!shell_redirect_here(p))
			return shell_unexpected(p);
		return command_new(p, &c) < 0 ? -1 : shell_simple(p, c);
	}
	if (k && s[strlen(k->text)] != '(')
		return shell_keyword(p, l, k);
	l->state = LIST_ENDED;
	if (*s == '(' && s[1] == '(')
		return shell_construct(p, 2, "arithmetic command '(( ))'");
	if (*s == '(')
		return shell_nested(p);
	if (command_new(p, &c) < 0 || shell_simple(p, c) < 0)
		return -1;
	if (p->depth && !c->n_words && !c->n_assignments)
		return deny(p->v, RULE_CONSTRUCT, c->at, "redirection without a command");
	return 0;
}

/* Up to `)` or the end of the text. */
static int shell_list(struct parser *p)
{
	struct list l = {.state = p->depth ? LIST_MUST : LIST_MAY};
	unsigned depth = p->depth;

	for (;;) {
		shell_skip_blanks(p);
		if (!p->s[p->at] || p->s[p->at] == ')')
			break;
		if (p->s[p->at] != '\n') {
			if (shell_item(p, &l) < 0)
				return -1;
			continue;
		}
		if (shell_newline(p) < 0)
			return -1;
		if (l.state == LIST_ENDED)
			l.state = LIST_MAY;
	}
	return l.state == LIST_MUST || p->depth != depth ? shell_unexpected(p) : 0;
}

static int shell_nested(struct parser *p)
{
	struct span at = shell_span_here(p, 1);

	if (p->n_documents)
		return shell_construct(p, 1, "'(' on the line of a here document");
	if (shell_open(p, '(') < 0 || shell_take_operator(p, 1) < 0 || shell_list(p) < 0)
		return -1;
	if (!p->s[p->at])
		return deny(p->v, RULE_SYNTAX, at, "'(' without its ')'");
	if (p->n_documents)
		return deny(p->v, RULE_SYNTAX, at, "')' on the line of a here document");
	p->depth--;
	p->at++;
	p->joined = true;
	return 0;
}

int shell_parse(struct arena *a, struct str text, struct command **out, struct verdict *v)
{
	struct parser p = {.a = a, .v = v, .n = text.n, .last = out};

	*out = NULL;
	if (check_bytes(text, v) < 0)
		return -1;
	p.s = arena_dup(a, text);
	p.out = arena_alloc(a, 2 * text.n + 2);
	if (shell_list(&p) == 0) {
		if (p.at != p.n)
			(void)shell_unexpected(&p);
		else if (p.n_documents)
			(void)deny(v, RULE_SYNTAX, p.documents[0].redirect->at,
				"here document without its lines");
		else if (!*out)
			(void)deny(v, RULE_INPUT_EMPTY, (struct span){0, p.n}, "no command");
	}
	if (v->denied) {
		*out = NULL;
		return -1;
	}
	(*out)->alone = !p.joined && !(*out)->next;
	return 0;
}
