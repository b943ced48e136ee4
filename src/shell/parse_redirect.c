#include "src/shell/parse_internal.h"

static size_t past_digits(const struct parser *p)
{
	return p->at + strspn(p->s + p->at, "0123456789");
}

bool shell_redirect_here(const struct parser *p)
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

/* There is one. */
static const struct operator* operator_here(const struct parser *p)
{
	size_t i = 0;

	while (strncmp(p->s + p->at, operators[i].text, strlen(operators[i].text)) != 0)
		i++;
	return &operators[i];
}

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

int shell_redirect(struct parser *p, struct command *c)
{
	struct redirect *r = arena_alloc(p->a, sizeof(*r)), **last = &c->redirects;
	size_t from = p->at;
	const struct operator* op;

	if (parse_number(p, &r->fd) < 0)
		return -1;
	op = operator_here(p);
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

int shell_newline(struct parser *p)
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
