/*
 * parse_output.c: `$( )`.
 */
#include "src/shell/parse_internal.h"

static bool reads_a_file(const struct node *n)
{
	return n->kind == NODE_COMMAND && !n->n_words && !n->n_assignments;
}

struct survey {
	bool document, compound;
};

static void survey(const struct node *n, struct survey *out)
{
	for (;;) {
		out->compound |= n->kind > NODE_PIPE;
		for (size_t i = 0; i < n->n_redirects; i++)
			out->document |= n->redirects[i].document;
		for (size_t i = 0; i < n->n_arms; i++)
			if (n->arms[i].body)
				survey(n->arms[i].body, out);
		for (size_t i = 1; i < n->n; i++)
			survey(n->children[i], out);
		if (!n->n)
			return;
		n = n->children[0];
	}
}

/*
 * bash prints what it has parsed in $( ) and runs what it then reads in the print. Behind a here
 * document some versions lose what joins commands on that way.
 */
static int check_output(struct parser *p, const struct node *n, size_t from)
{
	struct span at = {from, p->at + 1};
	struct survey found = {0};

	if (reads_a_file(n))
		return deny(p->v, RULE_CONSTRUCT, at, "'$( )' without a command");
	survey(n, &found);
	if (found.document && found.compound)
		return deny(p->v, RULE_CONSTRUCT, at,
			"here document in '$( )' that is more than one command or pipeline");
	return 0;
}

int parse_output(struct parser *p, struct node **out)
{
	struct span open = span_here(p, 2);

	if (enter(p) < 0)
		return -1;
	take(p, p->at + 1);
	p->parens++;
	p->outputs++;
	if (take_operator(p, 1) < 0 || skip_newlines(p) < 0)
		return -1;
	if (p->s[p->at] == ')')
		return deny(p->v, RULE_SYNTAX, (struct span){open.from, p->at + 1}, "empty '$( )'");
	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, open, "unterminated '$('");
	if (parse_list(p, out) < 0)
		return -1;
	if (p->at == p->n)
		return deny(p->v, RULE_SYNTAX, open, "unterminated '$('");
	if (p->s[p->at] != ')')
		return unexpected(p);
	if (p->documents && p->last->parens >= p->parens)
		return deny(p->v, RULE_SYNTAX, span_here(p, 1),
			"'$( )' ends on the line of a here document");
	if (check_output(p, *out, open.from) < 0)
		return -1;
	take(p, p->at + 1);
	close_parens(p);
	p->outputs--;
	leave(p);
	return 0;
}
