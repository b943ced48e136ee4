#include "src/verify/walk.h"

static uint64_t hash_of(const char *key)
{
	uint64_t h = 14695981039346656037u;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 1099511628211u;
	return h ^ h >> 32;
}

static void rehash(struct walk *k)
{
	free(k->table);
	k->n_table = k->n_table ? k->n_table * 2 : 4096;
	k->table = xmalloc(k->n_table * sizeof(*k->table));
	memset(k->table, 0, k->n_table * sizeof(*k->table));
	for (uint32_t i = 0; i < k->n_nodes; i++) {
		size_t at = k->nodes[i].hash & (k->n_table - 1);

		while (k->table[at])
			at = (at + 1) & (k->n_table - 1);
		k->table[at] = i + 1;
	}
}

uint32_t walk_node(struct walk *k, const char *key, bool *fresh)
{
	uint64_t hash = hash_of(key);
	size_t at;

	if ((size_t)k->n_nodes * 2 >= k->n_table)
		rehash(k);
	for (at = hash & (k->n_table - 1); k->table[at]; at = (at + 1) & (k->n_table - 1)) {
		uint32_t i = k->table[at] - 1;

		*fresh = false;
		if (k->nodes[i].hash == hash && strcmp(k->nodes[i].key, key) == 0)
			return i;
	}
	*fresh = true;
	if (k->n_nodes == k->cap_nodes) {
		k->cap_nodes = k->cap_nodes ? k->cap_nodes * 2 : 1024;
		k->nodes = xrealloc(k->nodes, k->cap_nodes * sizeof(*k->nodes));
	}
	k->nodes[k->n_nodes] = (struct node){
		.key = arena_dup(&k->arena, str_of(key)), .hash = hash, .parent = NONE};
	k->table[at] = k->n_nodes + 1;
	return k->n_nodes++;
}

bool walk_edge(struct walk *k, const struct edge_to *e)
{
	struct node *from = &k->nodes[e->from];

	for (uint32_t i = from->edge; i < from->edge + from->n_edges; i++)
		if (k->edges[i].to == e->to && k->edges[i].flags == e->flags &&
			k->edges[i].cost >= e->cost)
			return false;
	if (k->n_edges == k->cap_edges) {
		k->cap_edges = k->cap_edges ? k->cap_edges * 2 : 4096;
		k->edges = xrealloc(k->edges, k->cap_edges * sizeof(*k->edges));
	}
	k->edges[k->n_edges++] = *e;
	from->n_edges++;
	return true;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

const struct form *walk_form(struct walk *k, const struct form *f)
{
	struct form *copy;

	for (size_t i = 0; i < k->n_forms; i++)
		if (same(k->forms[i]->name, f->name) && same(k->forms[i]->text, f->text))
			return k->forms[i];
	if (k->n_forms == k->cap_forms) {
		k->cap_forms = k->cap_forms ? k->cap_forms * 2 : 64;
		k->forms = xrealloc(k->forms, k->cap_forms * sizeof(*k->forms));
	}
	copy = arena_alloc(&k->arena, sizeof(*copy));
	*copy = *f;
	copy->name = arena_dup(&k->arena, str_of(f->name));
	copy->word = f->word ? arena_dup(&k->arena, str_of(f->word)) : NULL;
	copy->text = f->text ? arena_dup(&k->arena, str_of(f->text)) : NULL;
	return k->forms[k->n_forms++] = copy;
}

static void insert(uint64_t *table, size_t size, uint64_t hash)
{
	size_t at = hash & (size - 1);

	while (table[at])
		at = (at + 1) & (size - 1);
	table[at] = hash;
}

static void grow_seen(struct walk *k)
{
	size_t size = k->cap_seen ? k->cap_seen * 2 : 1024;
	uint64_t *more = xmalloc(size * sizeof(*more));

	memset(more, 0, size * sizeof(*more));
	for (size_t i = 0; i < k->cap_seen; i++)
		if (k->seen[i])
			insert(more, size, k->seen[i]);
	free(k->seen);
	k->seen = more;
	k->cap_seen = size;
}

bool walk_first(struct walk *k, const char *kind)
{
	uint64_t hash = hash_of(kind) | 1;
	size_t at;

	if (k->n_seen * 2 >= k->cap_seen)
		grow_seen(k);
	for (at = hash & (k->cap_seen - 1); k->seen[at]; at = (at + 1) & (k->cap_seen - 1))
		if (k->seen[at] == hash)
			return false;
	k->seen[at] = hash;
	k->n_seen++;
	return true;
}

static const char *keep(struct walk *k, const char *text)
{
	return text ? arena_dup(&k->arena, str_of(text)) : NULL;
}

void walk_broken_by(struct walk *k, uint32_t node, const char *what, const char *detail,
	const struct offer *offers, size_t n)
{
	struct offer *copy = arena_alloc(&k->arena, (n + 1) * sizeof(*copy));

	if (k->n_broken == BROKEN_TOLD)
		return;
	for (size_t i = 0; i < n; i++)
		copy[i] = (struct offer){keep(k, offers[i].action), keep(k, offers[i].word),
			keep(k, offers[i].text)};
	k->broken[k->n_broken++] = (struct broken){.node = node,
		.text = arena_printf(&k->arena, "%s%s%s", what, *detail ? ": " : "", detail),
		.offers = copy,
		.n_offers = n};
}

void walk_broken(struct walk *k, uint32_t node, const char *what, const char *detail)
{
	walk_broken_by(k, node, what, detail, NULL, 0);
}

void walk_init(
	struct walk *k, const struct workflow *w, unsigned changes, bool plain, size_t max_nodes)
{
	bool fresh;

	*k = (struct walk){.w = w, .plain = plain, .max_nodes = max_nodes};
	key_rules_init(&k->arena, w, &k->rules);
	k->taken = arena_alloc(&k->arena, w->n_edges + 1);
	k->visited = arena_alloc(&k->arena, w->n_states + 1);
	(void)walk_node(k, "start", &fresh);
	k->nodes[0].kind = NODE_START;
	k->nodes[0].state = w->initial;
	k->nodes[0].changes = changes;
	k->nodes[0].printed = k->nodes[0].doc = NULL;
}

/* Nodes stand in the order in which they were found, so this is breadth first. */
void walk_all(struct walk *k)
{
	uint32_t i = 0;

	for (; i < k->n_nodes && k->n_nodes <= k->max_nodes; i++) {
		k->nodes[i].edge = k->n_edges;
		expand(k, i);
		free(k->nodes[i].doc);
		k->nodes[i].doc = NULL;
	}
	k->complete = i == k->n_nodes;
}

void walk_drop(struct walk *k)
{
	for (uint32_t i = 0; i < k->n_nodes; i++) {
		free(k->nodes[i].doc);
		free(k->nodes[i].printed);
	}
	free(k->nodes);
	free(k->edges);
	free(k->table);
	free(k->forms);
	free(k->seen);
	arena_release(&k->arena);
}
