#include "src/policy/binary.h"

/* The name as a word of one text. */
static void put_name(struct arena *a, struct word *w, struct str path)
{
	w->parts = arena_alloc(a, sizeof(*w->parts));
	w->parts[0] = (struct part){.kind = PART_TEXT, .at = w->at, .quoted = true, .text = path};
	w->n = 1;
	w->quoted = true;
}

static void name_command(struct arena *a, const struct policy *p, struct node *n)
{
	struct verdict unused = {0};
	struct str name, path = STR("");
	const struct binary *row;

	if (!n->n_words || n->words[0].n != 1 || n->words[0].dynamic)
		return;
	name = n->words[0].parts[0].text;
	row = binary_find(a, p, name);
	if (!row || row->flags & BINARY_BUILTIN)
		return;
	if (trusted_program(a, name, n->words[0].at, &path, &unused) < 0)
		return;
	/* What is not installed is not found: nothing on the shell's PATH may stand in for it. */
	if (!path.n && !memchr(name.p, '/', name.n))
		path = str_of(arena_printf(a, "/usr/bin/%.*s", (int)name.n, name.p));
	if (path.n)
		put_name(a, &n->words[0], path);
}

static void name_outputs(struct arena *a, const struct policy *p, struct word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < words[i].n; k++)
			if (words[i].parts[k].kind == PART_OUTPUT)
				tree_name_programs(a, p, words[i].parts[k].node);
}

void tree_name_programs(struct arena *a, const struct policy *p, struct node *n)
{
	if (n->kind == NODE_COMMAND)
		name_command(a, p, n);
	name_outputs(a, p, n->words, n->n_words);
	for (size_t i = 0; i < n->n_assignments; i++)
		name_outputs(a, p, &n->assignments[i].value, 1);
	for (size_t i = 0; i < n->n_redirects; i++)
		name_outputs(a, p, &n->redirects[i].word, 1);
	for (size_t i = 0; i < n->n; i++)
		tree_name_programs(a, p, n->children[i]);
	for (size_t i = 0; i < n->n_arms; i++)
		if (n->arms[i].body)
			tree_name_programs(a, p, n->arms[i].body);
}
