#include "src/schema/schema_internal.h"

#define HOLD(name)                                                                                 \
	void hold_##name(struct checker *c, const struct node *n, const struct rule *r,            \
		const struct spot *s)

HOLD(max_items)
{
	(void)n;
	if ((double)json_len(s->value) > r->number)
		hold_fault(c, r, s, "there are %zu items, at most %.0f may be", json_len(s->value),
			r->number);
}

HOLD(min_items)
{
	(void)n;
	if ((double)json_len(s->value) < r->number)
		hold_fault(c, r, s, "there are %zu items, at least %.0f must be",
			json_len(s->value), r->number);
}

struct item {
	char *form;
	size_t index;
	const json *value;
};

static int by_form(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int d = strcmp(x->form, y->form);

	return d ? d : x->index < y->index ? -1 : x->index > y->index;
}

static void tell_twins(struct checker *c, const struct rule *r, const struct spot *s,
	const struct item *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct spot item = {s, NULL, items[i].index, items[i].value};

		if (strcmp(items[i].form, items[i - 1].form) == 0)
			hold_fault(c, r, &item, "%s comes twice", hold_shown(c, item.value));
	}
}

HOLD(unique_items)
{
	size_t count = json_len(s->value), i = 0;
	CLEANUP(free_ptr) struct item *items = NULL;
	struct arena forms = {0};

	(void)n;
	if (r->number == 0 || count < 2)
		return;
	items = xmalloc(count * sizeof(*items));
	for (const json *m = json_first(s->value); m; m = json_next(m), i++)
		items[i] = (struct item){value_of(&forms, m), i, m};
	qsort(items, count, sizeof(*items), by_form);
	tell_twins(c, r, s, items, count);
	arena_release(&forms);
}

HOLD(items)
{
	const struct rule *prefix = node_rule(n, "prefixItems");
	size_t i = 0, from = prefix ? prefix->n : 0;

	for (const json *m = json_first(s->value); m; m = json_next(m), i++) {
		struct spot item = {s, NULL, i, m};

		if (i >= from)
			hold_node(c, r->nodes[0], &item);
	}
}

HOLD(prefix_items)
{
	size_t i = 0;

	(void)n;
	for (const json *m = json_first(s->value); m && i < r->n; m = json_next(m), i++) {
		struct spot item = {s, NULL, i, m};

		hold_node(c, r->nodes[i], &item);
	}
}

HOLD(contains)
{
	size_t i = 0;

	(void)n;
	for (const json *m = json_first(s->value); m; m = json_next(m), i++) {
		struct spot item = {s, NULL, i, m};

		if (hold_quietly(c, r->nodes[0], &item).n == 0)
			return;
	}
	hold_fault(c, r, s, "no item of it is as one must be");
}

HOLD(max_properties)
{
	(void)n;
	if ((double)json_len(s->value) > r->number)
		hold_fault(c, r, s, "there are %zu members, at most %.0f may be",
			json_len(s->value), r->number);
}

HOLD(min_properties)
{
	(void)n;
	if ((double)json_len(s->value) < r->number)
		hold_fault(c, r, s, "there are %zu members, at least %.0f must be",
			json_len(s->value), r->number);
}

HOLD(required)
{
	(void)n;
	for (size_t i = 0; i < r->n; i++)
		if (!json_get(s->value, r->names[i]))
			hold_fault(c, r, s, "%s is missing", hold_shown_text(c, r->names[i]));
}

HOLD(dependent_required)
{
	(void)n;
	for (size_t i = 0; i + 1 < r->n; i += 2)
		if (json_get(s->value, r->names[i]) && !json_get(s->value, r->names[i + 1]))
			hold_fault(c, r, s, "%s is missing, which %s needs",
				hold_shown_text(c, r->names[i + 1]),
				hold_shown_text(c, r->names[i]));
}

HOLD(properties)
{
	(void)n;
	for (size_t i = 0; i < r->n; i++) {
		struct spot member = {s, r->names[i], 0, json_get(s->value, r->names[i])};

		if (member.value)
			hold_node(c, r->nodes[i], &member);
	}
}

HOLD(pattern_properties)
{
	(void)n;
	for (const json *m = json_first(s->value); m; m = json_next(m)) {
		struct spot member = {s, json_key(m), 0, m};

		for (size_t i = 0; i < r->n; i++)
			if (pattern_match(r->patterns[i], str_of(json_key(m))))
				hold_node(c, r->nodes[i], &member);
	}
}

static bool is_named(const struct node *n, const char *key)
{
	const struct rule *named = node_rule(n, "properties");
	const struct rule *patterns = node_rule(n, "patternProperties");

	for (size_t i = 0; named && i < named->n; i++)
		if (strcmp(named->names[i], key) == 0)
			return true;
	for (size_t i = 0; patterns && i < patterns->n; i++)
		if (pattern_match(patterns->patterns[i], str_of(key)))
			return true;
	return false;
}

HOLD(additional_properties)
{
	for (const json *m = json_first(s->value); m; m = json_next(m)) {
		struct spot member = {s, json_key(m), 0, m};

		if (is_named(n, json_key(m)))
			continue;
		if (r->nodes[0]->never)
			hold_fault(
				c, r, &member, "unknown key %s", hold_shown_text(c, json_key(m)));
		else
			hold_node(c, r->nodes[0], &member);
	}
}

/* The name stands in the place of the value. */
HOLD(property_names)
{
	(void)n;
	for (const json *m = json_first(s->value); m; m = json_next(m)) {
		CLEANUP(json_free) json *name = json_string(str_of(json_key(m)));
		struct spot spot = {s, json_key(m), 0, name}, member = {s, json_key(m), 0, m};

		if (hold_quietly(c, r->nodes[0], &spot).n)
			hold_fault(c, r, &member, "%s is no name that may stand here",
				hold_shown_text(c, json_key(m)));
	}
}
