#include "tests/lib/shell_same.h"

static bool same_node(const struct node *a, const struct node *b);

/* Goes through a word byte by byte, and through its other parts as a whole. */
struct walk {
	const struct word *w;
	size_t part, byte;
	bool bracket;
};

static const struct part *walk_part(struct walk *k)
{
	while (k->part < k->w->n && k->w->parts[k->part].kind == PART_TEXT &&
		k->byte == k->w->parts[k->part].text.n) {
		k->part++;
		k->byte = 0;
	}
	return k->part < k->w->n ? &k->w->parts[k->part] : NULL;
}

/* The next byte of a text, and whether it is part of a pattern. */
static unsigned walk_byte(struct walk *k, const struct part *part)
{
	char c = part->text.p[k->byte++];
	bool active = k->w->pattern && !part->quoted && shell_pattern_byte(c, &k->bracket);

	return (unsigned char)c | (unsigned)active << 8;
}

static bool same_part(const struct part *a, const struct part *b)
{
	if (a->quoted != b->quoted)
		return false;
	if (a->kind == PART_VARIABLE)
		return str_eq(a->text, b->text);
	return same_node(a->node, b->node);
}

/* Quotes make an empty result a word; where there is text it is never empty. */
static bool kept(const struct word *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->parts[i].kind == PART_TEXT)
			return true;
	return w->quoted;
}

static bool same_word(const struct word *a, const struct word *b)
{
	struct walk one = {.w = a}, two = {.w = b};

	if (a->dynamic != b->dynamic || a->pattern != b->pattern || kept(a) != kept(b))
		return false;
	for (;;) {
		const struct part *p = walk_part(&one), *q = walk_part(&two);

		if (!p || !q)
			return p == q;
		if (p->kind != q->kind)
			return false;
		if (p->kind == PART_TEXT) {
			if (walk_byte(&one, p) != walk_byte(&two, q))
				return false;
		} else {
			if (!same_part(p, q))
				return false;
			one.part++;
			two.part++;
		}
	}
}

static bool same_words(const struct word *a, size_t n, const struct word *b, size_t m)
{
	bool same = n == m;

	for (size_t i = 0; same && i < n; i++)
		same = same_word(&a[i], &b[i]);
	return same;
}

static bool same_redirect(const struct redirect *a, const struct redirect *b)
{
	if (a->kind != b->kind || a->fd != b->fd || a->other != b->other ||
		a->document != b->document || a->clobber != b->clobber ||
		a->both_ways != b->both_ways)
		return false;
	return a->document ? str_eq(a->text, b->text) : same_word(&a->word, &b->word);
}

static bool same_command(const struct node *a, const struct node *b)
{
	bool same = a->n_assignments == b->n_assignments && a->n_redirects == b->n_redirects;

	for (size_t i = 0; same && i < a->n_assignments; i++)
		same = str_eq(a->assignments[i].name, b->assignments[i].name) &&
		       same_word(&a->assignments[i].value, &b->assignments[i].value);
	for (size_t i = 0; same && i < a->n_redirects; i++)
		same = same_redirect(&a->redirects[i], &b->redirects[i]);
	return same && same_words(a->words, a->n_words, b->words, b->n_words);
}

static bool same_arm(const struct arm *a, const struct arm *b)
{
	if (!same_words(a->patterns, a->n, b->patterns, b->n) || !a->body != !b->body)
		return false;
	return !a->body || same_node(a->body, b->body);
}

static bool same_node(const struct node *a, const struct node *b)
{
	bool same = a->kind == b->kind && a->n == b->n && a->n_arms == b->n_arms &&
		    a->posix == b->posix && str_eq(a->name, b->name) && same_command(a, b);

	for (size_t i = 0; same && i < a->n_arms; i++)
		same = same_arm(&a->arms[i], &b->arms[i]);
	for (size_t i = 0; same && i < a->n; i++)
		same = same_node(a->children[i], b->children[i]);
	return same;
}

bool shell_same(const struct node *a, const struct node *b)
{
	return same_node(a, b);
}
