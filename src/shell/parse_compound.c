#include "src/shell/parse_internal.h"

/* The word that must come now; `opener`: what is left open when the text ends here. */
static int expect(struct parser *p, enum reserved r, struct span opener)
{
	if (reserved_here(p) == r) {
		take_reserved(p, r);
		return 0;
	}
	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, opener, "'%.*s' without its '%s'",
			(int)(opener.to - opener.from), p->s + opener.from, reserved_text(r));
	return unexpected(p);
}

/* A list and the word that ends it. */
static int parse_until(struct parser *p, struct node *n, enum reserved r, struct span opener)
{
	struct node *child;

	if (skip_newlines(p) < 0)
		return -1;
	if (p->at == p->n)
		return expect(p, r, opener);
	if (parse_list(p, &child) < 0)
		return -1;
	node_push(p, n, child);
	return expect(p, r, opener);
}

static int parse_subshell(struct parser *p, struct node *n)
{
	struct span opener = span_here(p, 1);
	struct node *child;

	if (p->s[p->at + 1] == '(')
		return deny(p->v, RULE_CONSTRUCT, span_here(p, 2), "arithmetic command '(( ))'");
	p->parens++;
	if (take_operator(p, 1) < 0 || skip_newlines(p) < 0)
		return -1;
	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, opener, "'(' without its ')'");
	if (parse_list(p, &child) < 0)
		return -1;
	node_push(p, n, child);
	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, opener, "'(' without its ')'");
	close_parens(p);
	return p->s[p->at] == ')' ? take_operator(p, 1) : unexpected(p);
}

/* Also behind `elif`. */
static int parse_if(struct parser *p, struct node *n, struct span opener)
{
	for (;;) {
		struct node *child;
		enum reserved r;

		if (parse_until(p, n, RESERVED_THEN, opener) < 0 || parse_list(p, &child) < 0)
			return -1;
		node_push(p, n, child);
		r = reserved_here(p);
		if (r != RESERVED_ELIF && r != RESERVED_ELSE)
			return expect(p, RESERVED_FI, opener);
		take_reserved(p, r);
		if (r == RESERVED_ELSE)
			return parse_until(p, n, RESERVED_FI, opener);
	}
}

static int parse_loop(struct parser *p, struct node *n, struct span opener)
{
	if (parse_until(p, n, RESERVED_DO, opener) < 0)
		return -1;
	return parse_until(p, n, RESERVED_DONE, opener);
}

/* Inside a `case`, bash does not know the word behind a newline. */
static int parse_in(struct parser *p, struct span opener)
{
	if (p->s[opener.from] == 'f')
		skip_blanks(p);
	else if (skip_newlines(p) < 0)
		return -1;
	if (keyword_here(p, RESERVED_IN)) {
		take_reserved(p, RESERVED_IN);
		return 0;
	}
	if (p->s[opener.from] == 'f' && (p->s[p->at] == ';' || keyword_here(p, RESERVED_DO)))
		return deny(p->v, RULE_CONSTRUCT, opener, "'for' without 'in'");
	return unexpected(p);
}

static bool name_byte(char c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (!first && c >= '0' && c <= '9');
}

static int parse_compound_parse_name(struct parser *p, struct str *out)
{
	size_t to = p->at;

	if (p->s[to] == '(')
		return deny(p->v, RULE_CONSTRUCT, span_here(p, 2), "arithmetic 'for'");
	while (name_byte(p->s[to], to == p->at))
		to++;
	if (to == p->at || !token_ends(p, to) || reserved_here(p) != RESERVED_NONE)
		return unexpected(p);
	*out = (struct str){p->s + p->at, to - p->at};
	take(p, to);
	p->after_word = true;
	return 0;
}

static struct word *word_push(struct parser *p, struct word **words, size_t *n)
{
	*words = array_push(p->a, *words, *n, sizeof(**words));
	return &(*words)[(*n)++];
}

static int parse_for(struct parser *p, struct node *n, struct span opener)
{
	skip_blanks(p);
	if (parse_compound_parse_name(p, &n->name) < 0 || parse_in(p, opener) < 0)
		return -1;
	for (skip_blanks(p); word_here(p); skip_blanks(p)) {
		/* bash takes it for the end of a `case` around */
		if (!n->n_words && keyword_here(p, RESERVED_ESAC))
			return unexpected(p);
		if (parse_word(p, word_push(p, &n->words, &n->n_words)) < 0)
			return -1;
	}
	if (p->s[p->at] == ';' && p->s[p->at + 1] != ';' && take_operator(p, 1) < 0)
		return -1;
	if (skip_newlines(p) < 0 || expect(p, RESERVED_DO, opener) < 0)
		return -1;
	return parse_until(p, n, RESERVED_DONE, opener);
}

/* `pattern | pattern)` with or without `(` in front. */
static int parse_patterns(struct parser *p, struct arm *arm)
{
	if (p->s[p->at] == '(' && take_operator(p, 1) < 0)
		return -1;
	for (;;) {
		skip_blanks(p);
		if (!word_here(p) || keyword_here(p, RESERVED_ESAC))
			return unexpected(p);
		if (parse_word(p, word_push(p, &arm->patterns, &arm->n)) < 0)
			return -1;
		skip_blanks(p);
		if (p->s[p->at] == ')')
			return take_operator(p, 1);
		if (p->s[p->at] != '|' || p->s[p->at + 1] == '|' || p->s[p->at + 1] == '&')
			return unexpected(p);
		if (take_operator(p, 1) < 0)
			return -1;
	}
}

/* *more: `;;` stands behind it, so that another can follow. */
static int parse_arm(struct parser *p, struct arm *arm, bool *more)
{
	arm->at = (struct span){p->at, p->at};
	if (parse_patterns(p, arm) < 0)
		return -1;
	arm->at.to = p->at;
	if (skip_newlines(p) < 0)
		return -1;
	if (p->s[p->at] != ';' && reserved_here(p) != RESERVED_ESAC) {
		if (parse_list(p, &arm->body) < 0)
			return -1;
		arm->at.to = arm->body->at.to;
	}
	*more = p->s[p->at] == ';';
	if (!*more)
		return 0;
	if (p->s[p->at + 1] == '&' || (p->s[p->at + 1] == ';' && p->s[p->at + 2] == '&'))
		return deny(p->v, RULE_CONSTRUCT, span_here(p, p->s[p->at + 1] == '&' ? 2 : 3),
			"'case' arm that goes on into the next");
	if (p->s[p->at + 1] != ';')
		return unexpected(p);
	arm->at.to = p->at + 2;
	return take_operator(p, 2);
}

static int parse_case(struct parser *p, struct node *n, struct span opener)
{
	skip_blanks(p);
	if (!word_here(p))
		return unexpected(p);
	if (parse_word(p, word_push(p, &n->words, &n->n_words)) < 0 || parse_in(p, opener) < 0)
		return -1;
	n->words[0].pattern = false;
	for (bool more = true;;) {
		struct arm *arm;

		if (skip_newlines(p) < 0)
			return -1;
		if (!more || p->at == p->n || reserved_here(p) == RESERVED_ESAC)
			return expect(p, RESERVED_ESAC, opener);
		n->arms = array_push(p->a, n->arms, n->n_arms, sizeof(*n->arms));
		arm = &n->arms[n->n_arms++];
		*arm = (struct arm){0};
		if (parse_arm(p, arm, &more) < 0)
			return -1;
	}
}

/* Its arms end in `)`: here documents from before it are as with parentheses. */
static int parse_case_alone(struct parser *p, struct node *n, struct span opener)
{
	int rc;

	p->parens++;
	rc = parse_case(p, n, opener);
	close_parens(p);
	return rc;
}

static int parse_body(struct parser *p, struct node *n, enum reserved r, struct span opener)
{
	if (r == RESERVED_NONE)
		return parse_subshell(p, n);
	take_reserved(p, r);
	switch (n->kind) {
	case NODE_GROUP:
		return parse_until(p, n, RESERVED_CLOSE, opener);
	case NODE_IF:
		return parse_if(p, n, opener);
	case NODE_FOR:
		return parse_for(p, n, opener);
	case NODE_CASE:
		return parse_case_alone(p, n, opener);
	default:
		return parse_loop(p, n, opener);
	}
}

static enum node_kind parse_compound_kind_of(enum reserved r)
{
	switch (r) {
	case RESERVED_OPEN:
		return NODE_GROUP;
	case RESERVED_IF:
		return NODE_IF;
	case RESERVED_WHILE:
		return NODE_WHILE;
	case RESERVED_UNTIL:
		return NODE_UNTIL;
	case RESERVED_FOR:
		return NODE_FOR;
	case RESERVED_CASE:
		return NODE_CASE;
	default:
		return NODE_SUBSHELL;
	}
}

int parse_compound(struct parser *p, enum reserved r, struct node **out)
{
	size_t length = r == RESERVED_NONE ? 1 : strlen(reserved_text(r));
	struct node *n = node_new(p, parse_compound_kind_of(r), p->at);

	if (enter(p) < 0 || parse_body(p, n, r, span_here(p, length)) < 0)
		return -1;
	leave(p);
	n->at.to = p->at;
	for (skip_blanks(p); redirect_here(p); skip_blanks(p))
		if (parse_redirect(p, n) < 0)
			return -1;
	*out = n;
	return 0;
}
