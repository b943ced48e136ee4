/*
 * order.c: the order of a declared state's actions. `after` and `when` make a graph: an edge from
 * each action to those that need its answer. A cycle, an unknown section and an action that can
 * never be dispatched are refused when the workflow is read, so that nothing has to look for them
 * later.
 */
#include "src/base/graph.h"
#include "src/config/decode.h"
#include "src/workflow/workflow.h"

static int order_compare_writes(const void *a, const void *b)
{
	const struct declared_action *x = *(const struct declared_action *const *)a,
				     *y = *(const struct declared_action *const *)b;
	int c = strcmp(x->writes, y->writes);

	return c ? c : (x < y ? -1 : x > y);
}

const struct declared_action *workflow_item(const struct declared_state *d, const char *section)
{
	size_t low = 0, high = d->n;

	while (low < high) {
		size_t at = (low + high) / 2;
		int c = strcmp(section, d->by_section[at]->writes);

		if (!c)
			return d->by_section[at];
		if (c < 0)
			high = at;
		else
			low = at + 1;
	}
	return NULL;
}

/* ---- when the file is read ---- */

struct order_check {
	struct config_reader *reader;
	struct declared_state *state;
	struct yaml *const *maps; /* one for each item */
	bool faulty;
};

#define order_fault(c, at, ...)                                                                    \
	(config_fault((c)->reader, at, __VA_ARGS__), (void)((c)->faulty = true))

static void sort_items(struct order_check *c)
{
	struct declared_state *d = c->state;
	VEC(const struct declared_action *) sorted = {0};

	for (size_t i = 0; i < d->n; i++)
		vec_push_in(c->reader->arena, &sorted, &d->items[i]);
	vec_sort(&sorted, order_compare_writes);
	d->by_section = sorted.items;
	for (size_t i = 1; i < d->n; i++) {
		const struct declared_action *it = d->by_section[i], *other = d->by_section[i - 1];

		if (strcmp(it->writes, other->writes) != 0)
			continue;
		order_fault(c, yaml_get(c->maps[it - d->items], "writes"),
			"section '%s' is also written by the action in line %u", it->writes,
			other->line);
	}
}

static const struct yaml *order_key_of(const struct order_check *c, size_t item, const char *key)
{
	return yaml_get(c->maps[item], key);
}

/* Bit k: outcome k. */
static uint32_t all_words(const struct declared_action *it)
{
	return it->n_outcomes < 32 ? ((uint32_t)1 << it->n_outcomes) - 1 : UINT32_MAX;
}

static uint32_t word_bit(const struct declared_action *it, const char *word)
{
	for (size_t k = 0; k < it->n_outcomes; k++)
		if (!strcmp(it->outcomes[k].word, word))
			return (uint32_t)1 << k;
	return 0;
}

/* Finds the items that `after` names. */
static void order_resolve(struct order_check *c, size_t item)
{
	struct declared_action *it = &c->state->items[item];

	it->needs = arena_alloc(c->reader->arena, (it->n_after + 1) * sizeof(*it->needs));
	for (size_t i = 0; i < it->n_after; i++) {
		const struct declared_action *other = workflow_item(c->state, it->after[i]);

		if (!other) {
			order_fault(c, order_key_of(c, item, "after")->list[i],
				"'after' names the section '%s', which no action of this state "
				"writes",
				it->after[i]);
			continue;
		}
		for (size_t k = 0; k < i; k++)
			if (!strcmp(it->after[k], it->after[i]))
				order_fault(c, order_key_of(c, item, "after")->list[i],
					"'after' names the section '%s' twice", it->after[i]);
		it->needs[i].item = (size_t)(other - c->state->items);
		it->needs[i].words = all_words(other);
		c->state->items[it->needs[i].item].needed = true;
	}
}

/* Takes one entry of `when` into the needs that it is about. A misspelt word would never come. */
static void apply_when(struct order_check *c, size_t item, const struct declared_when *when)
{
	struct declared_action *it = &c->state->items[item];
	const struct yaml *v = order_key_of(c, item, "when");
	const struct yaml *list = when->section ? yaml_get(v, when->section) : v;
	bool named = false;

	for (size_t i = 0; i < it->n_after; i++)
		if (!when->section || !strcmp(when->section, it->after[i])) {
			it->needs[i].words = when->n_words ? 0 : it->needs[i].words;
			named = true;
		}
	if (!named)
		order_fault(c, v->map[when - it->when].key,
			"'when' names the section '%s', which 'after' does not name",
			when->section);
	for (size_t w = 0; named && w < when->n_words; w++) {
		uint32_t known = 0, bit;

		for (size_t i = 0; i < it->n_after; i++) {
			if (when->section && strcmp(when->section, it->after[i]) != 0)
				continue;
			bit = word_bit(&c->state->items[it->needs[i].item], when->words[w]);
			it->needs[i].words |= bit;
			known |= bit;
		}
		if (!known)
			order_fault(c, list->list[w],
				when->section ? "'%s' is no result of the action that writes '%s'"
					      : "'%s' is a result of none of the actions that "
						"'after' names",
				when->words[w], when->section);
	}
}

static void check_join(struct order_check *c, size_t item)
{
	struct declared_action *it = &c->state->items[item];

	it->any = it->join && !strcmp(it->join, "any");
	if (it->n_when && !it->n_after)
		order_fault(c, order_key_of(c, item, "when"),
			"'when' needs 'after': it names words of the answers that 'after' names");
	else if (it->join && !it->n_after)
		order_fault(c, order_key_of(c, item, "join"),
			"'join' needs 'after': it is about the answers that 'after' names");
	else
		for (size_t i = 0; i < it->n_when; i++)
			apply_when(c, item, &it->when[i]);
}

/* `'A' -> 'B' -> 'A'`: in the order in which they would have to be answered. */
static void order_report_cycle(void *data, const size_t *path, size_t n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct order_check *c = data;

	buf_addf(&text, "'%s'", c->state->items[path[0]].writes);
	for (size_t i = n; i > 0; i--)
		buf_addf(&text, " -> '%s'", c->state->items[path[i - 1]].writes);
	order_fault(c, order_key_of(c, path[0], "after"),
		"the actions wait for each other in a circle: %.400s", text.s);
}

/* It may be skipped. With `any`, only if that goes for each of the answers. */
static bool is_optional(const struct declared_state *d, const struct declared_action *it)
{
	size_t sure = 0;

	for (size_t i = 0; i < it->n_after; i++) {
		const struct declared_action *before = &d->items[it->needs[i].item];

		sure += !before->optional && it->needs[i].words == all_words(before);
	}
	return it->any ? !sure : sure < it->n_after;
}

/* An item comes after all that it needs. */
static void sort_by_needs(struct order_check *c)
{
	struct declared_state *d = c->state;
	struct arena *a = c->reader->arena;
	VEC(size_t) first = {0}, to = {0};
	struct graph_order o;

	for (size_t i = 0; i < d->n; i++) {
		vec_push_in(a, &first, to.n);
		for (size_t k = 0; k < d->items[i].n_after; k++)
			vec_push_in(a, &to, d->items[i].needs[k].item);
	}
	vec_push_in(a, &first, to.n);
	graph_walk(a, &(struct graph){d->n, first.items, to.items}, order_report_cycle, c, &o);
	d->order = o.order;
	for (size_t i = 0; i < d->n; i++)
		d->items[o.order[i]].optional = is_optional(d, &d->items[o.order[i]]);
}

/* The words with which each item lets need `i` of `it` be met, into `row`. Returns the first item
 * for which none is left, or `n`. */
static size_t find_words(const struct declared_state *d, const struct declared_action *it, size_t i,
	const uint32_t *words, uint32_t *row)
{
	size_t before = it->needs[i].item, none = d->n;

	for (size_t k = d->n; k-- > 0;) {
		row[k] &=
			words[before * d->n + k] & (k == before ? it->needs[i].words : UINT32_MAX);
		if (!row[k])
			none = k;
	}
	return none;
}

/*
 * An item is dispatched only if every item before it gives one of certain words: those that all
 * ways from it allow, or, with `any`, one of the ways that are possible. If no word is left for one
 * of them, the item can never be dispatched. Without `any` the reverse is true as well.
 */
static void order_check_words(struct order_check *c)
{
	const struct declared_state *d = c->state;
	struct arena a = {0};
	uint32_t *words = arena_alloc(&a, d->n * d->n * sizeof(*words));
	uint32_t *row = arena_alloc(&a, d->n * sizeof(*row));

	for (size_t o = 0; o < d->n; o++) {
		size_t item = d->order[o], none = d->n, possible = 0;
		const struct declared_action *it = &d->items[item];
		uint32_t *mine = words + item * d->n;

		memset(mine, it->any ? 0 : 0xff, d->n * sizeof(*mine));
		for (size_t i = 0; i < it->n_after; i++) {
			size_t missing;

			memset(row, 0xff, d->n * sizeof(*row));
			missing = find_words(d, it, i, words, it->any ? row : mine);
			none = missing < d->n ? missing : none;
			possible += missing == d->n;
			for (size_t k = 0; it->any && missing == d->n && k < d->n; k++)
				mine[k] |= row[k];
		}
		if (none == d->n || (it->any && possible))
			continue;
		order_fault(c, order_key_of(c, item, "after"),
			"the action that writes '%s' can never be dispatched: no result of '%s' "
			"lets it",
			it->writes, d->items[none].writes);
		memset(mine, 0xff, d->n * sizeof(*mine)); /* what is after it is not at fault */
	}
	arena_release(&a);
}

void workflow_order(struct config_reader *r, struct declared_state *d, struct yaml *const *maps)
{
	struct order_check c = {.reader = r, .state = d, .maps = maps};
	bool ordered = false;

	for (size_t i = 0; i < d->n; i++)
		if (!d->items[i].writes)
			return; /* the reader has said so */
	sort_items(&c);
	for (size_t i = 0; i < d->n && !c.faulty; i++)
		ordered |= d->items[i].n_after || d->items[i].n_when || d->items[i].join ||
			   d->items[i].child;
	if (!ordered)
		return;
	for (size_t i = 0; i < d->n; i++)
		order_resolve(&c, i);
	for (size_t i = 0; i < d->n && !c.faulty; i++)
		check_join(&c, i);
	if (c.faulty)
		return;
	sort_by_needs(&c);
	if (!c.faulty)
		order_check_words(&c);
}

/* ---- when a step looks ---- */

/* `all`: the first answer that does not let it go on ends the wait. `any`: all must be there, or
 * never come, so that the item reads whatever there is to read. */
static enum item_status order_status_of(const struct declared_state *d,
	const struct declared_action *it, const enum item_status *status, const char *const *words)
{
	size_t open = 0, met = 0;

	for (size_t i = 0; i < it->n_after; i++) {
		size_t n = it->needs[i].item;
		bool answered = status[n] == ITEM_ANSWERED && words[n];
		bool lets = answered && it->needs[i].words & word_bit(&d->items[n], words[n]);

		if (!it->any && (status[n] == ITEM_SKIPPED || (answered && !lets)))
			return ITEM_SKIPPED;
		open += !answered && status[n] != ITEM_SKIPPED;
		met += lets;
	}
	if (open)
		return ITEM_WAITING;
	return it->any && !met ? ITEM_SKIPPED : ITEM_READY;
}

void workflow_frontier(
	const struct declared_state *d, const char *const *words, enum item_status *status)
{
	for (size_t o = 0; o < d->n; o++) {
		size_t i = d->order ? d->order[o] : o;

		if (status[i] == ITEM_WAITING)
			status[i] = order_status_of(d, &d->items[i], status, words);
	}
}

const char *workflow_status_name(enum item_status status)
{
	static const char *const names[] = {[ITEM_WAITING] = "waiting",
		[ITEM_READY] = "ready",
		[ITEM_DISPATCHED] = "dispatched",
		[ITEM_ANSWERED] = "answered",
		[ITEM_SKIPPED] = "skipped"};

	return names[status];
}
