#include "src/policy/table.h"

static struct confusion *of_class(struct arena *a, struct confusions *all, const char *class)
{
	struct confusion *grown;

	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->p[i].class, class) == 0)
			return &all->p[i];
	if (all->n == all->cap) {
		all->cap = all->cap ? 2 * all->cap : 16;
		grown = arena_alloc(a, all->cap * sizeof(*grown));
		if (all->n)
			memcpy(grown, all->p, all->n * sizeof(*grown));
		all->p = grown;
	}
	all->p[all->n] = (struct confusion){.class = class};
	return &all->p[all->n++];
}

void confusion_add(
	struct arena *a, struct confusions *all, const struct table_row *row, bool allowed)
{
	struct confusion *c = of_class(a, all, row->class);

	(row->tier == 2 ? c->second : c->count)[row->allow][allowed]++;
}

struct confusion confusion_sum(const struct confusions *all)
{
	struct confusion sum = {.class = "all"};

	for (size_t i = 0; i < all->n; i++)
		for (unsigned k = 0; k < 4; k++) {
			sum.count[k / 2][k % 2] += all->p[i].count[k / 2][k % 2];
			sum.second[k / 2][k % 2] += all->p[i].second[k / 2][k % 2];
		}
	return sum;
}

bool confusion_bad(const struct confusion *c)
{
	return c->count[true][false] || c->count[false][true] || c->second[false][true];
}

static void line(struct buf *out, const struct confusion *c)
{
	buf_addf(out, "%-16.16s %13u %13u %13u %13u %13u %13u\n", c->class, c->count[true][true],
		c->count[true][false], c->second[true][true], c->second[true][false],
		c->count[false][false] + c->second[false][false],
		c->count[false][true] + c->second[false][true]);
}

void confusion_print(struct buf *out, const struct confusions *all)
{
	const struct confusion sum = confusion_sum(all);

	buf_addf(out, "%-16s %13s %13s %13s %13s %13s %13s\n", "class", "allow->allow",
		"allow->deny", "2: ..->allow", "2: ..->deny", "deny->deny", "deny->allow");
	for (size_t i = 0; i < all->n; i++)
		line(out, &all->p[i]);
	line(out, &sum);
}

json *confusion_json(const struct confusion *c)
{
	return JSON_OBJECT(JSON_TEXT("class", c->class),
		JSON_INT("allow_allow", c->count[true][true]),
		JSON_INT("allow_deny", c->count[true][false]),
		JSON_INT("tier2_allow_allow", c->second[true][true]),
		JSON_INT("tier2_allow_deny", c->second[true][false]),
		JSON_INT("deny_deny", c->count[false][false] + c->second[false][false]),
		JSON_INT("deny_allow", c->count[false][true] + c->second[false][true]));
}
