/*
 * parse.c: finds where commands begin and end. Operators, parentheses and reserved words are
 * followed only as far as that needs.
 */
#include "src/base/vec.h"
#include "src/shell/parse_internal.h"

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

bool shell_is_meta(char c)
{
	return !c || strchr(" \t\n|&;<>()", c);
}

/* bash knows no other blanks, whatever the locale. */
bool shell_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_continued(const struct parser *p, size_t at)
{
	return p->s[at] == '\\' && p->s[at + 1] == '\n';
}

/* And continued lines, and a comment. */
void shell_skip_blanks(struct parser *p)
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
int shell_take_operator(struct parser *p, size_t length)
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

struct span shell_span_here(const struct parser *p, size_t length)
{
	size_t left = p->n - p->at;

	return (struct span){p->at, p->at + (length < left ? length : left)};
}

int shell_construct(struct parser *p, size_t length, const char *what)
{
	return deny(p->v, RULE_CONSTRUCT, shell_span_here(p, length), "%s", what);
}

int shell_unexpected(struct parser *p)
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

size_t shell_name_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return *text >= '0' && *text <= '9' ? 0 : n;
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

int shell_nested(struct parser *p)
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
