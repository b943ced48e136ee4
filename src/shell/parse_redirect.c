#include "src/shell/parse_internal.h"

static size_t past_digits(const struct parser *p, size_t at)
{
	while (p->s[at] >= '0' && p->s[at] <= '9')
		at++;
	return at;
}

bool redirect_here(const struct parser *p)
{
	size_t i = past_digits(p, p->at);
	char c = p->s[i];

	return c == '<' || c == '>' || (i == p->at && c == '&' && p->s[i + 1] == '>');
}

enum form { FORM_WORD, FORM_OTHER, FORM_DOCUMENT, FORM_DENIED };

struct operator
{
	const char *text, *denied;
	enum form form;
	enum redirect_kind kind;
	int fd;
	bool clobber, both;
};

/* The longest first. */
static const struct operator operators[] = {
	{"&>>", NULL, FORM_WORD, REDIRECT_BOTH_APPEND, 1, false, true},
	{"<<<", NULL, FORM_WORD, REDIRECT_TEXT, 0, false, false},
	{"<<-", NULL, FORM_DOCUMENT, REDIRECT_TEXT, 0, false, false},
	{"&>", NULL, FORM_WORD, REDIRECT_BOTH, 1, false, true},
	{"<<", NULL, FORM_DOCUMENT, REDIRECT_TEXT, 0, false, false},
	{">>", NULL, FORM_WORD, REDIRECT_APPEND, 1, false, false},
	{">|", NULL, FORM_WORD, REDIRECT_WRITE, 1, true, false},
	{">&", NULL, FORM_OTHER, REDIRECT_DUP, 1, false, false},
	{"<&", NULL, FORM_OTHER, REDIRECT_DUP, 0, false, false},
	{"<>", "redirection '<>'", FORM_DENIED, REDIRECT_READ, 0, false, false},
	{"<(", "process substitution '<( )'", FORM_DENIED, REDIRECT_READ, 0, false, false},
	{">(", "process substitution '>( )'", FORM_DENIED, REDIRECT_READ, 0, false, false},
	{"<", NULL, FORM_WORD, REDIRECT_READ, 0, false, false},
	{">", NULL, FORM_WORD, REDIRECT_WRITE, 1, false, false},
};

static const struct operator* operator_at(const struct parser *p, size_t at)
{
	for (size_t i = 0; i < COUNT(operators); i++)
		if (!strncmp(p->s + at, operators[i].text, strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

/* The number in front, if any. */
static int parse_number(struct parser *p, struct redirect *r)
{
	size_t end = past_digits(p, p->at);

	if (end == p->at)
		return 0;
	if (end - p->at > 1 || p->s[p->at] > '2')
		return deny(p->v, RULE_REDIRECT, (struct span){p->at, end},
			"file descriptor other than 0, 1 and 2");
	r->fd = p->s[p->at] - '0';
	take(p, end);
	return 0;
}

/* Behind >& and <&. */
static int parse_other(struct parser *p, struct redirect *r)
{
	char c = p->s[p->at];

	if (p->words++ == SHELL_WORDS)
		return deny(p->v, RULE_LIMIT, span_here(p, 1), "more than %d words", SHELL_WORDS);
	if (p->at == p->n || c == '\n')
		return unexpected(p);
	if ((c != '-' && (c < '0' || c > '2')) || !token_ends(p, p->at + 1))
		return deny(p->v, RULE_REDIRECT, (struct span){r->at.from, p->at + 1},
			"only 0, 1, 2 and - can stand behind '>&' and '<&'");
	if (c == '-')
		r->kind = REDIRECT_CLOSE;
	else
		r->other = c - '0';
	take(p, p->at + 1);
	p->after_word = true;
	return 0;
}

/* `text`: of <<<. */
static int parse_target(struct parser *p, bool text, struct word *w)
{
	if (!word_here(p))
		return unexpected(p);
	return text ? parse_value(p, p->at, w) : parse_word(p, w);
}

/* bash takes the quotes off and compares; what it might take off otherwise is denied. */
static int parse_delimiter(struct parser *p, struct word *w, struct str *out)
{
	bool plain;

	if (parse_target(p, false, w) < 0)
		return -1;
	w->pattern = false;
	*out = w->n ? w->parts[0].text : STR("");
	for (size_t i = 1; i < w->n && !w->dynamic; i++)
		out->n += w->parts[i].text.n; /* they stand one behind the other */
	plain = w->n == 1 || (w->n == 2 && p->s[w->at.from] == '\\');
	plain = plain && !w->dynamic;
	for (size_t i = 0; plain && i < out->n; i++)
		plain = !strchr("$`\\'\"\n", out->p[i]);
	if (plain)
		return 0;
	return deny(p->v, RULE_CONSTRUCT, w->at, "the end of a here document must be a plain word");
}

static int parse_document(struct parser *p, struct node *n, struct redirect *r, bool strip)
{
	struct pending *d = arena_alloc(p->a, sizeof(*d));

	r->document = true;
	if (parse_delimiter(p, &r->word, &d->delimiter) < 0)
		return -1;
	d->node = n;
	d->redirect = n->n_redirects - 1;
	d->parens = p->parens;
	d->strip = strip;
	d->literal = r->word.quoted;
	*(p->documents ? &p->last->next : &p->documents) = d;
	p->last = d;
	return 0;
}

struct redirect *redirect_push(struct parser *p, struct node *n)
{
	n->redirects = array_push(p->a, n->redirects, n->n_redirects, sizeof(*n->redirects));
	n->redirects[n->n_redirects] = (struct redirect){0};
	return &n->redirects[n->n_redirects++];
}

int parse_redirect(struct parser *p, struct node *n)
{
	size_t from = p->at;
	struct redirect *r = redirect_push(p, n);
	const struct operator* op = operator_at(p, past_digits(p, p->at));
	int rc;

	if (op->form == FORM_DENIED)
		return deny(p->v, op->text[1] == '(' ? RULE_CONSTRUCT : RULE_REDIRECT,
			(struct span){from, past_digits(p, from) + 2}, "%s", op->denied);
	*r = (struct redirect){.kind = op->kind,
		.at = {from, from},
		.fd = op->fd,
		.clobber = op->clobber,
		.both_ways = op->both};
	if (parse_number(p, r) < 0 || take_operator(p, strlen(op->text)) < 0)
		return -1;
	skip_blanks(p);
	if (op->form == FORM_DOCUMENT) {
		rc = parse_document(p, n, r, op->text[2] == '-');
	} else if (op->form == FORM_OTHER) {
		rc = parse_other(p, r);
	} else {
		rc = parse_target(p, op->kind == REDIRECT_TEXT, &r->word);
	}
	r->at.to = p->at;
	n->at.to = p->at;
	return rc;
}

static int check_body(struct parser *p, size_t to)
{
	for (size_t i = p->at; i < to; i++)
		if (strchr("$`\\", p->s[i]))
			return deny(p->v, RULE_CONSTRUCT, (struct span){i, i + 1},
				"'%c' in a here document whose delimiter has no quotes", p->s[i]);
	return 0;
}

/* True at the line of the delimiter. */
static bool document_ends(const struct parser *p, const struct pending *d, size_t from, size_t to)
{
	return str_eq((struct str){p->s + from, to - from}, d->delimiter);
}

static int parse_redirect_read_document(struct parser *p, const struct pending *d)
{
	struct redirect *r = &d->node->redirects[d->redirect];

	r->body.from = p->at;
	r->text.p = p->out + p->used;
	for (;;) {
		size_t from = p->at, to;
		const char *end = memchr(p->s + from, '\n', p->n - from);

		to = end ? (size_t)(end - p->s) : p->n;
		while (d->strip && p->s[from] == '\t')
			from++;
		if (document_ends(p, d, from, to)) {
			take(p, to + (end != NULL));
			r->body.to = p->at;
			return 0;
		}
		if (!end)
			return deny(p->v, RULE_SYNTAX, r->at, "here document without its end");
		if (!d->literal && check_body(p, to) < 0)
			return -1;
		memcpy(p->out + p->used, p->s + from, to + 1 - from);
		p->used += to + 1 - from;
		r->text.n += to + 1 - from;
		take(p, to + 1);
	}
}

/* What is opened from here on is another one than what was closed. */
void close_parens(struct parser *p)
{
	p->parens--;
	for (struct pending *d = p->documents; d; d = d->next)
		if (d->parens > p->parens)
			d->parens = p->parens;
}

int read_documents(struct parser *p)
{
	while (p->documents) {
		struct pending *d = p->documents;

		if (d->parens < p->parens)
			return deny(p->v, RULE_CONSTRUCT, d->node->redirects[d->redirect].at,
				"here document whose line ends inside what follows it");
		if (parse_redirect_read_document(p, d) < 0)
			return -1;
		p->documents = d->next;
	}
	return 0;
}
