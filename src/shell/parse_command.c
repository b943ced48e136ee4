#include "src/shell/parse_internal.h"

/* Bytes of NAME where NAME= begins here, or 0. Only plain assignments are in the subset. */
static int assignment_here(struct parser *p, size_t *length)
{
	const char *s = p->s + p->at;
	size_t n = 0;

	*length = 0;
	while (s[n] == '_' || (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
		(n && s[n] >= '0' && s[n] <= '9'))
		n++;
	if (!n)
		return 0;
	if (s[n] == '[')
		return deny(p->v, RULE_CONSTRUCT, span_here(p, n + 1), "element of an array");
	if (s[n] == '+' && s[n + 1] == '=')
		return deny(p->v, RULE_CONSTRUCT, span_here(p, n + 2), "assignment with '+='");
	if (s[n] == '=')
		*length = n;
	return 0;
}

static int parse_assignment(struct parser *p, struct node *n, size_t length)
{
	struct assignment *a;
	size_t from = p->at;

	n->assignments =
		array_push(p->a, n->assignments, n->n_assignments, sizeof(*n->assignments));
	a = &n->assignments[n->n_assignments++];
	a->name = (struct str){p->s + from, length};
	take(p, from + length + 1);
	if (parse_value(p, from, &a->value) < 0)
		return -1;
	a->at = (struct span){from, p->at};
	n->at.to = p->at;
	return 0;
}

/* bash would take a reserved word behind an assignment or a redirection for a program's name. */
static int parse_command_check_name(struct parser *p)
{
	bool after = p->after_word;
	enum reserved r;

	p->after_word = false;
	r = reserved_here(p);
	p->after_word = after;
	return r == RESERVED_NONE ? 0 : unexpected(p);
}

/* Not an assignment for bash, but for others who read it. */
static int check_equals(struct parser *p, const struct word *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->parts[i].kind == PART_TEXT && !w->parts[i].quoted &&
			memchr(w->parts[i].text.p, '=', w->parts[i].text.n))
			return deny(p->v, RULE_CONSTRUCT, w->at, "'=' in the name of a program");
	return 0;
}

static int parse_argument(struct parser *p, struct node *n)
{
	size_t length = 0;
	struct word *w;

	if (!n->n_words) {
		if (assignment_here(p, &length) < 0)
			return -1;
		if (length)
			return parse_assignment(p, n, length);
		if (parse_command_check_name(p) < 0)
			return -1;
	}
	n->words = array_push(p->a, n->words, n->n_words, sizeof(*n->words));
	w = &n->words[n->n_words++];
	if (parse_word(p, w) < 0 || (n->n_words == 1 && check_equals(p, w) < 0))
		return -1;
	n->at.to = p->at;
	return 0;
}

static int parse_simple(struct parser *p, struct node **out)
{
	struct node *n = node_new(p, NODE_COMMAND, p->at);

	for (;;) {
		if (redirect_here(p)) {
			if (parse_redirect(p, n) < 0)
				return -1;
		} else if (word_here(p)) {
			if (parse_argument(p, n) < 0)
				return -1;
		} else {
			break;
		}
		skip_blanks(p);
	}
	if (p->s[p->at] == '(' && n->n_words == 1)
		return deny(p->v, RULE_CONSTRUCT, (struct span){n->at.from, p->at + 1},
			"function definition");
	*out = n;
	return 0;
}

static int deny_reserved(struct parser *p, enum reserved r)
{
	const char *what = r == RESERVED_TEST       ? "conditional command '[[ ]]'"
			   : r == RESERVED_COPROC   ? "coprocess"
			   : r == RESERVED_FUNCTION ? "function definition"
			   : r == RESERVED_SELECT   ? "'select' command"
						    : NULL;

	if (!what)
		return unexpected(p);
	return deny(p->v, RULE_CONSTRUCT, span_here(p, strlen(reserved_text(r))), "%s", what);
}

int parse_command(struct parser *p, struct node **out)
{
	enum reserved r = reserved_here(p);

	if (p->commands++ == SHELL_COMMANDS)
		return deny(
			p->v, RULE_LIMIT, span_here(p, 1), "more than %d commands", SHELL_COMMANDS);
	switch (r) {
	case RESERVED_NONE:
		if (p->s[p->at] == '(')
			return parse_compound(p, r, out);
		if (word_here(p) || redirect_here(p))
			return parse_simple(p, out);
		return unexpected(p);
	case RESERVED_OPEN:
	case RESERVED_IF:
	case RESERVED_WHILE:
	case RESERVED_UNTIL:
	case RESERVED_FOR:
	case RESERVED_CASE:
		return parse_compound(p, r, out);
	default:
		return deny_reserved(p, r);
	}
}
