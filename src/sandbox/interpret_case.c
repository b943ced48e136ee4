#include <fnmatch.h>
#include <locale.h>
#include "src/sandbox/interpret_internal.h"

/* What stood in quotes means itself. */
static char *pattern_of(struct arena *a, const struct word *w)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < w->n; i++) {
		const struct part *p = &w->parts[i];

		for (size_t k = 0; k < p->text.n; k++) {
			if (p->quoted)
				buf_addc(&text, '\\');
			buf_addc(&text, p->text.p[k]);
		}
	}
	return arena_dup(a, buf_str(&text));
}

/* Characters, not bytes, are what `?` stands for. */
static void take_characters(void)
{
	static locale_t characters;

	if (!characters)
		characters = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (characters)
		(void)uselocale(characters);
}

/* 1: it fits, 0: it does not, -1: it cannot be told. */
static int arm_fits(struct turn *t, const struct arm *arm, const char *text)
{
	for (size_t i = 0; i < arm->n; i++) {
		if (arm->patterns[i].dynamic)
			return deny(&t->verdict, RULE_VALUE_DYNAMIC, arm->patterns[i].at,
				"a pattern of case that is not known");
		if (fnmatch(pattern_of(&t->arena, &arm->patterns[i]), text, 0) == 0)
			return 1;
	}
	return 0;
}

/* The arm's body, NULL when there is none; -1 with the denial. */
static int choose(struct turn *t, const struct node *n, const struct node **body)
{
	struct arg word;

	if (expand_single(&t->expander, &n->words[0], &word) < 0)
		return -1;
	for (size_t i = 0; i < n->n_arms; i++) {
		int fits = arm_fits(t, &n->arms[i], arena_dup(&t->arena, word.text));

		if (fits < 0)
			return -1;
		if (fits) {
			*body = n->arms[i].body;
			return 0;
		}
	}
	return 0;
}

int run_case(struct shell *sh, const struct node *n)
{
	CLEANUP(turn_end) struct turn t;
	const struct node *body = NULL;

	take_characters();
	turn_begin(&t, sh);
	if (choose(&t, n, &body) < 0)
		return turn_failed(&t);
	return body ? run_node(sh, body) : 0;
}
