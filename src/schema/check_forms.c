#include "src/schema/schema_internal.h"

#define HOLD(name)                                                                                 \
	void hold_##name(struct checker *c, const struct node *n, const struct rule *r,            \
		const struct spot *s)

HOLD(ref)
{
	(void)n;
	hold_node(c, r->nodes[0], s);
}

HOLD(all_of)
{
	(void)n;
	for (size_t i = 0; i < r->n; i++)
		hold_node(c, r->nodes[i], s);
}

/*
 * What people want to know of a value that fits no form is what is wrong with it as the one form
 * that it is meant to be: the only one whose fixed words and kinds it has.
 */
static void tell_no_form(
	struct checker *c, const struct rule *r, const struct spot *s, const struct node *meant)
{
	if (meant && !c->mute)
		hold_node(c, meant, s);
	else
		hold_fault(c, r, s, "it is none of the %zu forms that may stand here", r->n);
}

HOLD(any_of)
{
	const struct node *meant = NULL;
	size_t like = 0;

	(void)n;
	for (size_t i = 0; i < r->n; i++) {
		struct tally t = hold_quietly(c, r->nodes[i], s);

		if (t.n == 0)
			return;
		if (t.mismatches == 0 && ++like)
			meant = r->nodes[i];
	}
	tell_no_form(c, r, s, like == 1 ? meant : NULL);
}

HOLD(one_of)
{
	const struct node *meant = NULL;
	size_t fits = 0, like = 0;

	(void)n;
	for (size_t i = 0; i < r->n; i++) {
		struct tally t = hold_quietly(c, r->nodes[i], s);

		fits += t.n == 0;
		if (t.n && t.mismatches == 0 && ++like)
			meant = r->nodes[i];
	}
	if (fits == 0)
		tell_no_form(c, r, s, like == 1 ? meant : NULL);
	else if (fits > 1)
		hold_fault(c, r, s, "it is %zu forms at once, and must be one", fits);
}

HOLD(not )
{
	(void)n;
	if (hold_quietly(c, r->nodes[0], s).n == 0)
		hold_fault(c, r, s, "it is what may not stand here");
}

HOLD(if)
{
	bool holds = hold_quietly(c, r->nodes[0], s).n == 0;
	const struct rule *then = node_rule(n, holds ? "then" : "else");

	if (then)
		hold_node(c, then->nodes[0], s);
}
