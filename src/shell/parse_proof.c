/*
 * parse_proof.c: adds up what the tree holds and compares it with what the lexer took. What was
 * read and is not in the tree would run, or not run, unseen.
 */
#include "src/shell/parse_internal.h"

struct sum {
	size_t of[CLAIMS];
};

static size_t length(struct span at)
{
	return at.to - at.from;
}

static void add_node(struct sum *sum, const struct node *n);

/* Of `$( )` only `$` and `)` are the word's. */
static void add_word(struct sum *sum, const struct word *w)
{
	sum->of[CLAIM_WORD] += length(w->at);
	for (size_t i = 0; i < w->n; i++) {
		if (w->parts[i].kind != PART_OUTPUT)
			continue;
		sum->of[CLAIM_WORD] -= length(w->parts[i].at) - 2;
		add_node(sum, w->parts[i].node);
	}
}

static void add_words(struct sum *sum, const struct word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_word(sum, &words[i]);
}

static void add_redirect(struct sum *sum, const struct redirect *r)
{
	add_word(sum, &r->word);
	sum->of[CLAIM_DOCUMENT] += length(r->body);
}

static void add_own(struct sum *sum, const struct node *n)
{
	for (size_t i = 0; i < n->n_assignments; i++) {
		sum->of[CLAIM_WORD] += n->assignments[i].name.n + 1;
		add_word(sum, &n->assignments[i].value);
	}
	add_words(sum, n->words, n->n_words);
	for (size_t i = 0; i < n->n_redirects; i++)
		add_redirect(sum, &n->redirects[i]);
	for (size_t i = 0; i < n->n_arms; i++) {
		add_words(sum, n->arms[i].patterns, n->arms[i].n);
		if (n->arms[i].body)
			add_node(sum, n->arms[i].body);
	}
	sum->of[CLAIM_WORD] += n->name.n;
}

/* Bytes of reserved words. */
static size_t reserved_bytes(const struct node *n)
{
	size_t pairs = n->n / 2;

	switch (n->kind) {
	case NODE_NOT:
		return strlen("!");
	case NODE_TIME:
		return strlen("time") + (n->posix ? strlen("-p") : 0);
	case NODE_GROUP:
		return strlen("{}");
	case NODE_IF:
		return strlen("iffi") + pairs * strlen("then") + (pairs - 1) * strlen("elif") +
		       (n->n % 2) * strlen("else");
	case NODE_WHILE:
	case NODE_UNTIL:
		return strlen("whiledodone");
	case NODE_FOR:
		return strlen("forindodone");
	case NODE_CASE:
		return strlen("caseinesac");
	default:
		return 0;
	}
}

/* Long chains of && and || hang on the left: down those without recursion. */
static void add_node(struct sum *sum, const struct node *n)
{
	for (;;) {
		add_own(sum, n);
		sum->of[CLAIM_RESERVED] += reserved_bytes(n);
		for (size_t i = 1; i < n->n; i++)
			add_node(sum, n->children[i]);
		if (!n->n)
			return;
		n = n->children[0];
	}
}

int parse_proof(const struct parser *p, const struct node *tree)
{
	struct sum sum = {0};
	size_t taken = 0;

	add_node(&sum, tree);
	for (size_t i = 0; i < CLAIMS; i++)
		taken += p->claimed[i];
	if (taken == p->n && p->at == p->n && sum.of[CLAIM_WORD] == p->claimed[CLAIM_WORD] &&
		sum.of[CLAIM_RESERVED] == p->claimed[CLAIM_RESERVED] &&
		sum.of[CLAIM_DOCUMENT] == p->claimed[CLAIM_DOCUMENT])
		return 0;
	return deny(p->v, RULE_INTERNAL, (struct span){0, p->n},
		"the tree does not hold all of the text");
}
