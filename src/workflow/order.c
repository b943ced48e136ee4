/*
 * order.c: the order of a declared state's actions. `after` and `when` make a graph: an edge from
 * each action to those that need its answer. A cycle, an unknown section and an action that can
 * never be dispatched are refused when the workflow is read, so that nothing has to look for them
 * later.
 */
#include "src/config/decode.h"
#include "src/workflow/workflow.h"

static int compare_writes(const void *a, const void *b)
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

enum order_visit { ORDER_UNSEEN, ORDER_ON_PATH, ORDER_LEFT };

struct order_check {
	struct config_reader *reader;
	struct declared_state *state;
	struct yaml *const *maps; /* one for each item */
	enum order_visit *seen;
	size_t *path, on_path; /* of the search: indices of items */
	size_t ordered;        /* items in `state->order` */
	bool faulty;
};

static void sort_items(struct order_check *c)
{
	struct declared_state *d = c->state;
	VEC(const struct declared_action *) sorted = {0};

	for (size_t i = 0; i < d->n; i++)
		vec_push_in(c->reader->arena, &sorted, &d->items[i]);
	vec_sort(&sorted, compare_writes);
	d->by_section = sorted.items;
	for (size_t i = 1; i < d->n; i++) {
		const struct declared_action *it = d->by_section[i], *other = d->by_section[i - 1];

		if (strcmp(it->writes, other->writes) != 0)
			continue;
		config_fault(c->reader, yaml_get(c->maps[it - d->items], "writes"),
			"section '%s' is also written by the action in line %u", it->writes,
			other->line);
		c->faulty = true;
	}
}

static const struct yaml *element(
	const struct order_check *c, size_t item, const char *key, size_t i)
{
	const struct yaml *list = yaml_get(c->maps[item], key);

	return list->kind == YAML_LIST ? list->list[i] : list;
}

/* Bit i: outcome i of `it` is one of the words of `of`; without words, all of them. */
static uint32_t allowed_words(const struct declared_action *of, const struct declared_action *it)
{
	uint32_t bits = 0;

	for (size_t k = 0; k < it->n_outcomes; k++) {
		bool named = !of->n_when;

		for (size_t i = 0; i < of->n_when; i++)
			named |= !strcmp(of->when[i], it->outcomes[k].word);
		bits |= (uint32_t)named << k;
	}
	return bits;
}

/* Finds the items that `after` names. */
static void resolve(struct order_check *c, size_t item)
{
	struct declared_action *it = &c->state->items[item];

	it->needs = arena_alloc(c->reader->arena, (it->n_after + 1) * sizeof(*it->needs));
	for (size_t i = 0; i < it->n_after; i++) {
		const struct declared_action *other = workflow_item(c->state, it->after[i]);

		if (!other) {
			config_fault(c->reader, element(c, item, "after", i),
				"'after' names the section '%s', which no action of this state "
				"writes",
				it->after[i]);
			c->faulty = true;
			continue;
		}
		it->needs[i] = (size_t)(other - c->state->items);
		c->state->items[it->needs[i]].needed = true;
	}
}

/* A misspelt word would never come. */
static void check_when(struct order_check *c, size_t item)
{
	const struct declared_action *it = &c->state->items[item];

	if (it->n_when && !it->n_after) {
		config_fault(c->reader, yaml_get(c->maps[item], "when"),
			"'when' needs 'after': it names words of the answers that 'after' names");
		c->faulty = true;
		return;
	}
	for (size_t w = 0; w < it->n_when; w++) {
		const struct declared_action one = {.when = &it->when[w], .n_when = 1};
		uint32_t known = 0;

		for (size_t i = 0; i < it->n_after; i++)
			known |= allowed_words(&one, &c->state->items[it->needs[i]]);
		if (known)
			continue;
		config_fault(c->reader, element(c, item, "when", w),
			"'%s' is a result of none of the actions that 'after' names", it->when[w]);
		c->faulty = true;
	}
}

/* `'A' -> 'B' -> 'A'`, from `item` on the path back to it. */
static void report_cycle(struct order_check *c, size_t item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t from = c->on_path;

	while (c->path[from - 1] != item)
		from--;
	buf_addf(&text, "'%s'", c->state->items[item].writes);
	for (size_t i = c->on_path; i >= from; i--)
		buf_addf(&text, " -> '%s'", c->state->items[c->path[i - 1]].writes);
	config_fault(c->reader, yaml_get(c->maps[item], "after"),
		"the actions wait for each other in a circle: %.400s", text.s);
	c->faulty = true;
}

/* Depth first, so that an item comes after all that it needs. */
static void visit(struct order_check *c, size_t item)
{
	struct declared_action *it = &c->state->items[item];

	it->optional = it->n_when;
	c->seen[item] = ORDER_ON_PATH;
	c->path[c->on_path++] = item;
	for (size_t i = 0; i < it->n_after; i++) {
		if (c->seen[it->needs[i]] == ORDER_ON_PATH)
			report_cycle(c, it->needs[i]);
		else if (c->seen[it->needs[i]] == ORDER_UNSEEN)
			visit(c, it->needs[i]);
		it->optional |= c->state->items[it->needs[i]].optional;
	}
	c->on_path--;
	c->seen[item] = ORDER_LEFT;
	c->state->order[c->ordered++] = item;
}

/*
 * An item is dispatched if and only if every item before it gives one of certain words: those that
 * all ways from it allow. If no word is left for one of them, the item can never be dispatched.
 */
static void check_words(struct order_check *c)
{
	const struct declared_state *d = c->state;
	struct arena a = {0};
	uint32_t *words = arena_alloc(&a, d->n * d->n * sizeof(*words));

	for (size_t o = 0; o < d->n; o++) {
		size_t item = d->order[o];
		const struct declared_action *it = &d->items[item];
		uint32_t *mine = words + item * d->n;

		memset(mine, 0xff, d->n * sizeof(*mine));
		for (size_t i = 0; i < it->n_after; i++) {
			size_t before = it->needs[i];

			mine[before] &= allowed_words(it, &d->items[before]);
			for (size_t k = 0; k < d->n; k++)
				mine[k] &= words[before * d->n + k];
		}
		for (size_t k = 0; k < d->n; k++) {
			if (mine[k])
				continue;
			config_fault(c->reader, yaml_get(c->maps[item], "after"),
				"the action that writes '%s' can never be dispatched: no result of "
				"'%s' lets it",
				it->writes, d->items[k].writes);
			mine[k] = UINT32_MAX; /* what is after it is not at fault */
			break;
		}
	}
	arena_release(&a);
}

void workflow_order(struct config_reader *r, struct declared_state *d, struct yaml *const *maps)
{
	struct order_check c = {.reader = r,
		.state = d,
		.maps = maps,
		.seen = arena_alloc(r->arena, d->n * sizeof(*c.seen)),
		.path = arena_alloc(r->arena, (d->n + 1) * sizeof(*c.path))};
	bool ordered = false;

	for (size_t i = 0; i < d->n; i++)
		if (!d->items[i].writes)
			return; /* the reader has said so */
	sort_items(&c);
	for (size_t i = 0; i < d->n && !c.faulty; i++)
		ordered |= d->items[i].n_after || d->items[i].n_when;
	if (!ordered)
		return;
	for (size_t i = 0; i < d->n; i++)
		resolve(&c, i);
	for (size_t i = 0; i < d->n && !c.faulty; i++)
		check_when(&c, i);
	if (c.faulty)
		return;
	d->order = arena_alloc(r->arena, d->n * sizeof(*d->order));
	for (size_t i = 0; i < d->n; i++)
		if (c.seen[i] == ORDER_UNSEEN)
			visit(&c, i);
	if (!c.faulty)
		check_words(&c);
}

/* ---- when a step looks ---- */

/* The answer of a needed item has a word that lets `it` go on. */
static bool lets(const struct declared_action *it, const char *word)
{
	for (size_t i = 0; i < it->n_when; i++)
		if (!strcmp(it->when[i], word))
			return true;
	return !it->n_when;
}

static enum item_status status_of(
	const struct declared_action *it, const enum item_status *status, const char *const *words)
{
	enum item_status found = ITEM_READY;

	for (size_t i = 0; i < it->n_after; i++) {
		size_t n = it->needs[i];

		if (status[n] == ITEM_SKIPPED ||
			(status[n] == ITEM_ANSWERED && words[n] && !lets(it, words[n])))
			return ITEM_SKIPPED;
		if (status[n] != ITEM_ANSWERED || !words[n])
			found = ITEM_WAITING;
	}
	return found;
}

void workflow_frontier(
	const struct declared_state *d, const char *const *words, enum item_status *status)
{
	for (size_t o = 0; o < d->n; o++) {
		size_t i = d->order ? d->order[o] : o;

		if (status[i] == ITEM_WAITING)
			status[i] = status_of(&d->items[i], status, words);
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
