#include "src/shell/parse_internal.h"

struct node *node_new(struct parser *p, enum node_kind kind, size_t from)
{
	struct node *n = arena_alloc(p->a, sizeof(*n));

	n->kind = kind;
	n->at = (struct span){from, from};
	return n;
}

void node_push(struct parser *p, struct node *n, struct node *child)
{
	n->children = array_push(p->a, n->children, n->n, sizeof(*n->children));
	n->children[n->n++] = child;
	n->at.to = child->at.to;
}

static bool list_ends(const struct parser *p)
{
	const char *s = p->s + p->at;

	if (!*s || *s == ')')
		return true;
	if (*s == ';')
		return s[1] == ';' || s[1] == '&';
	switch (reserved_here(p)) {
	case RESERVED_CLOSE:
	case RESERVED_DO:
	case RESERVED_DONE:
	case RESERVED_ELIF:
	case RESERVED_ELSE:
	case RESERVED_ESAC:
	case RESERVED_FI:
	case RESERVED_THEN:
		return true;
	default:
		return false;
	}
}

/* `|&` is `2>&1 |` for bash, behind all other redirections of the command. */
static int both_into_pipe(struct parser *p, struct node *left)
{
	struct redirect *r = redirect_push(p, left);

	r->kind = REDIRECT_DUP;
	r->at = span_here(p, 2);
	r->fd = 2;
	r->other = 1;
	r->both_ways = true;
	return take_operator(p, 2);
}

static int parse_list_check_prefix(struct parser *p)
{
	enum reserved r = reserved_here(p);

	if (r != RESERVED_NOT && r != RESERVED_TIME)
		return 0;
	return deny(p->v, RULE_SYNTAX, span_here(p, strlen(reserved_text(r))),
		"'%s' cannot stand here", reserved_text(r));
}

static int parse_commands(struct parser *p, struct node **out)
{
	struct node *pipe = NULL, *child, *before;

	if (parse_list_check_prefix(p) < 0 || parse_command(p, &child) < 0)
		return -1;
	for (skip_blanks(p); p->s[p->at] == '|' && p->s[p->at + 1] != '|'; skip_blanks(p)) {
		if ((p->s[p->at + 1] == '&' ? both_into_pipe(p, child) : take_operator(p, 1)) < 0)
			return -1;
		if (!pipe) {
			pipe = node_new(p, NODE_PIPE, child->at.from);
			node_push(p, pipe, child);
		}
		before = child;
		if (skip_newlines(p) < 0 || parse_list_check_prefix(p) < 0 ||
			parse_command(p, &child) < 0)
			return -1;
		child->before = before;
		node_push(p, pipe, child);
	}
	*out = pipe ? pipe : child;
	return 0;
}

/* Behind `time`: only -p, which bash knows unquoted alone. */
static int time_option(struct parser *p, struct node *n)
{
	skip_blanks(p);
	if (p->s[p->at] != '-')
		return 0;
	if (p->s[p->at + 1] != 'p' || !token_ends(p, p->at + 2))
		return deny(
			p->v, RULE_CONSTRUCT, span_here(p, 2), "option of 'time' other than -p");
	n->posix = true;
	take(p, p->at + 2);
	skip_blanks(p);
	if (p->s[p->at] == '-')
		return deny(
			p->v, RULE_CONSTRUCT, span_here(p, 2), "option of 'time' other than -p");
	return 0;
}

/* At the word; its child comes later. */
static int parse_prefix(struct parser *p, enum reserved r, struct node **out)
{
	*out = node_new(p, r == RESERVED_NOT ? NODE_NOT : NODE_TIME, p->at);
	if (r == RESERVED_TIME && p->outputs)
		return deny(p->v, RULE_CONSTRUCT, span_here(p, 4), "'time' inside '$( )'");
	take_reserved(p, r);
	if (p->s[p->at] == '(' && r == RESERVED_NOT)
		return deny(p->v, RULE_CONSTRUCT, span_here(p, 1), "extended pattern '!( )'");
	if (r == RESERVED_TIME && time_option(p, *out) < 0)
		return -1;
	skip_blanks(p);
	return 0;
}

/* `! time a | b`, each of the two at most once and in this order, as others than bash read it too.
 */
static int parse_pipeline(struct parser *p, struct node **out)
{
	struct node *no = NULL, *timed = NULL;

	skip_blanks(p);
	if (reserved_here(p) == RESERVED_NOT && parse_prefix(p, RESERVED_NOT, &no) < 0)
		return -1;
	if (reserved_here(p) == RESERVED_TIME && parse_prefix(p, RESERVED_TIME, &timed) < 0)
		return -1;
	if (parse_commands(p, out) < 0)
		return -1;
	if (timed) {
		node_push(p, timed, *out);
		*out = timed;
	}
	if (no) {
		node_push(p, no, *out);
		*out = no;
	}
	return 0;
}

static int parse_and_or(struct parser *p, struct node **out)
{
	struct node *left, *right;

	if (parse_pipeline(p, &left) < 0)
		return -1;
	for (;;) {
		const char *s;
		struct node *both;

		skip_blanks(p);
		s = p->s + p->at;
		if ((s[0] != '&' && s[0] != '|') || s[1] != s[0])
			break;
		both = node_new(p, *s == '&' ? NODE_AND : NODE_OR, left->at.from);
		if (take_operator(p, 2) < 0 || skip_newlines(p) < 0 ||
			parse_pipeline(p, &right) < 0)
			return -1;
		node_push(p, both, left);
		node_push(p, both, right);
		left = both;
	}
	*out = left;
	return 0;
}

/* What ends `*n`, if anything: ; & or a newline. */
static int parse_separator(struct parser *p, struct node **n, bool *more)
{
	char c = p->s[p->at];

	*more = (c == ';' && !list_ends(p)) || c == '&' || c == '\n';
	if (c == '&') {
		struct node *back = node_new(p, NODE_BACKGROUND, (*n)->at.from);

		node_push(p, back, *n);
		*n = back;
		back->at.to = p->at + 1;
	}
	if (c != '\n' && *more && take_operator(p, 1) < 0)
		return -1;
	return *more ? skip_newlines(p) : 0;
}

int parse_list(struct parser *p, struct node **out)
{
	struct node *list = NULL, *child;
	bool more = true;

	if (skip_newlines(p) < 0)
		return -1;
	if (list_ends(p))
		return unexpected(p);
	for (size_t n = 0; more && !list_ends(p); n++) {
		if (parse_and_or(p, &child) < 0 || parse_separator(p, &child, &more) < 0)
			return -1;
		if (n == 0) {
			*out = child;
			continue;
		}
		if (n == 1) {
			list = node_new(p, NODE_LIST, (*out)->at.from);
			node_push(p, list, *out);
			*out = list;
		}
		node_push(p, list, child);
	}
	return 0;
}
