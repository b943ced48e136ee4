/*
 * check.c: what the fields of a manifest cannot tell by themselves: names that nothing has, cycles,
 * nodes that cannot be reached, routes that are not a choice, limits above their cap, variables of
 * templates that nothing provides. Every fault is reported at its own place.
 */
#include "context/context.h"
#include "src/base/graph.h"
#include "src/config/decode.h"
#include "src/graph/manifest.h"

/* ---- names ---- */

/* Where items of a list are by name; the name is the first member of an item. At most half of the
 * slots are in use: the index of an item and 1. */
struct name_table {
	const char *items;
	size_t size;
	uint32_t *slots;
	size_t n_slots;
};

static const char *table_name(const struct name_table *t, size_t index)
{
	const char *name;

	memcpy(&name, t->items + index * t->size, sizeof(name));
	return name;
}

/* Where the name is, or would be. */
static uint32_t *table_slot(const struct name_table *t, const char *name)
{
	size_t at = str_hash(str_of(name)) & (t->n_slots - 1);

	while (t->slots[at] && strcmp(table_name(t, t->slots[at] - 1), name) != 0)
		at = (at + 1) & (t->n_slots - 1);
	return &t->slots[at];
}

static size_t table_find(const struct name_table *t, const char *name)
{
	uint32_t slot = *table_slot(t, name);

	return slot ? slot - 1 : SIZE_MAX;
}

struct manifest_check {
	struct config_reader *reader;
	const struct yaml *spec, *topology;
	struct manifest *m;
	struct name_table personas, blocks, nodes, events, variables;
	bool *persona_used, *block_used;
	bool *needs_task, *needs_block; /* by persona: its template has the variable */
};

static const struct yaml *item_map(const struct yaml *of, const char *list, size_t i)
{
	return yaml_get(of, list)->list[i];
}

/* The value of a key of an item, or the item. */
static const struct yaml *key_place(
	const struct yaml *of, const char *list, size_t i, const char *key)
{
	const struct yaml *map = item_map(of, list, i), *v = yaml_get(map, key);

	return v ? v : map;
}

static void build_table(struct manifest_check *c, struct name_table *t, const void *items,
	size_t size, size_t n, const struct yaml *of, const char *list, const char *key)
{
	*t = (struct name_table){.items = items, .size = size, .n_slots = 2};
	while (t->n_slots < 2 * n)
		t->n_slots *= 2;
	t->slots = arena_alloc(c->reader->arena, t->n_slots * sizeof(*t->slots));
	for (size_t i = 0; i < n; i++) {
		uint32_t *slot = table_slot(t, table_name(t, i));

		if (*slot)
			config_fault(c->reader, key_place(of, list, i, key),
				"duplicate %s '%s': the first is in line %u", key, table_name(t, i),
				key_place(of, list, *slot - 1, key)->line);
		else
			*slot = (uint32_t)i + 1;
	}
}

#define TABLE(c, table, of, list, key)                                                             \
	build_table(c, &(c)->table, (c)->m->list, sizeof(*(c)->m->list), (c)->m->n_##list, of,     \
		#list, key)

static bool check_event(struct manifest_check *c, const struct yaml *at, const char *name)
{
	if (manifest_has_event(c->m, name))
		return true;
	config_fault(c->reader, at, "unknown event '%s': 'events' must declare it", name);
	return false;
}

/* An answer could claim what the machine observes, or take the place of what others wrote. */
static void check_taken_names(struct manifest_check *c)
{
	static const char *const taken[] = {
		CONTEXT_SPEC, CONTEXT_ACTIONS, "lock", "troubleshooter", MANIFEST_STATE, NULL};

	for (size_t i = 0; i < c->m->n_events; i++)
		for (const struct domain_event *t = domain_events; t->name; t++)
			if (!strcmp(c->m->events[i].name, t->name))
				config_fault(c->reader, key_place(c->spec, "events", i, "name"),
					"every manifest has the event '%s': it cannot be declared",
					t->name);
	for (size_t i = 0; i < c->m->n_nodes; i++)
		if (str_in(str_of(c->m->nodes[i].id), taken))
			config_fault(c->reader, key_place(c->spec, "nodes", i, "id"),
				"'%s' is taken by the program: a node needs another id",
				c->m->nodes[i].id);
}

/* ---- personas ---- */

struct variable_check {
	struct manifest_check *c;
	size_t persona;
	const struct yaml *at;
};

static void check_variable(void *data, struct str name, struct buf *out)
{
	struct variable_check *v = data;
	const char *text = arena_dup(v->c->reader->arena, name);

	(void)out;
	v->c->needs_task[v->persona] |= str_is(name, "task");
	v->c->needs_block[v->persona] |= str_is(name, "block");
	if (!str_in(name, template_names) && table_find(&v->c->variables, text) == SIZE_MAX)
		config_fault(v->c->reader, v->at,
			"nothing provides the variable '%.64s' of the template: declare it in "
			"'variables'",
			text);
}

static void check_templates(struct manifest_check *c)
{
	c->needs_task = arena_alloc(c->reader->arena, c->m->n_personas + 1);
	c->needs_block = arena_alloc(c->reader->arena, c->m->n_personas + 1);
	for (size_t i = 0; i < c->m->n_personas; i++) {
		struct variable_check v = {c, i, key_place(c->spec, "personas", i, "systemPrompt")};

		if (template_render(str_of(c->m->personas[i].prompt), check_variable, &v, NULL))
			config_fault(c->reader, v.at,
				"'{{' of the template is not closed, or names nothing: "
				"'{{NAME}}' stands for a variable");
	}
}

static void check_personas(struct manifest_check *c)
{
	for (size_t i = 0; i < c->m->n_personas; i++) {
		const struct manifest_persona *p = &c->m->personas[i];
		const struct yaml *list = yaml_get(item_map(c->spec, "personas", i), "subscribes");

		for (size_t k = 0; k < p->subscribes.n; k++)
			(void)check_event(c, list->list[k], p->subscribes.list[k]);
		if (!c->persona_used[i])
			config_fault(c->reader, item_map(c->spec, "personas", i),
				"no node has the persona '%s'", p->name);
	}
}

/* ---- blocks ---- */

bool block_is_sequential(const struct manifest_block *b)
{
	return !b || b->kind == BLOCK_SEQUENTIAL || b->kind == BLOCK_RETRY_UNROLLED;
}

static const struct manifest_block *block_above(
	const struct manifest_check *c, const struct manifest_block *b)
{
	size_t i = b->within ? table_find(&c->blocks, b->within) : SIZE_MAX;

	return i < SIZE_MAX ? &c->m->blocks[i] : NULL;
}

/* How deep it is; 0: it is within itself. */
static size_t block_depth(const struct manifest_check *c, const struct manifest_block *b)
{
	size_t depth = 1;

	while ((b = block_above(c, b)))
		if (++depth > c->m->n_blocks)
			return 0;
	return depth;
}

static void check_blocks(struct manifest_check *c)
{
	for (size_t i = 0; i < c->m->n_blocks; i++) {
		struct manifest_block *b = &c->m->blocks[i];
		const struct yaml *within = key_place(c->topology, "blocks", i, "within");
		size_t above = b->within ? table_find(&c->blocks, b->within) : SIZE_MAX;

		if (b->within && above == SIZE_MAX)
			config_fault(c->reader, within, "unknown block '%s'", b->within);
		else if (above < SIZE_MAX)
			c->block_used[above] = true;
		if (b->limited && b->max_retries > c->m->max_retries)
			config_fault(c->reader, key_place(c->topology, "blocks", i, "maxRetries"),
				"'maxRetries' is %u, above the cap of the topology, %u",
				b->max_retries, c->m->max_retries);
		b->depth = block_depth(c, b);
		if (!b->depth)
			config_fault(c->reader, within, "block '%s' is within itself", b->name);
		else if (b->depth > c->m->max_depth)
			config_fault(c->reader, within,
				"block '%s' is %zu deep, above the cap of the topology, %u",
				b->name, b->depth, c->m->max_depth);
	}
}

static void check_blocks_used(struct manifest_check *c)
{
	for (size_t i = 0; i < c->m->n_blocks; i++)
		if (!c->block_used[i])
			config_fault(c->reader, item_map(c->topology, "blocks", i),
				"no node is in the block '%s'", c->m->blocks[i].name);
}

/* ---- nodes ---- */

static unsigned retry_cap(const struct manifest *m, const struct manifest_block *b)
{
	return b && b->limited ? b->max_retries : m->max_retries;
}

static void set_retries(struct manifest_check *c, struct manifest_node *n, const struct yaml *at)
{
	unsigned cap = retry_cap(c->m, n->block);

	if (n->resolver && !n->limited)
		n->max_retries = cap;
	else if (!n->limited)
		n->max_retries = n->block && n->block->kind == BLOCK_RETRY_UNROLLED ? cap
				 : n->block && n->block->limited                    ? cap
										    : 0;
	else if (n->max_retries > cap)
		config_fault(c->reader, at, "'maxRetries' is %u, above the cap of its %s, %u",
			n->max_retries, n->block && n->block->limited ? "block" : "topology", cap);
}

/* What is merged has a branch of its own. */
static void check_merge(struct manifest_check *c, struct manifest_node *n, const struct yaml *map)
{
	bool merges = manifest_node_merges(n), remote = n->merge && strchr(n->merge, '/');
	size_t at = n->merge && !remote ? table_find(&c->nodes, n->merge) : SIZE_MAX;
	const struct manifest_node *of = at < SIZE_MAX ? &c->m->nodes[at] : NULL;

	n->merge_node = at;
	if (n->merge && !remote && !of)
		config_fault(c->reader, yaml_get(map, "merge"), "unknown node '%s'", n->merge);
	else if (of && !of->worktree && !of->workflow)
		config_fault(c->reader, yaml_get(map, "merge"),
			"node '%s' has no branch of its own: 'worktree: true' gives it one",
			n->merge);
	if (n->resolver && !merges)
		config_fault(c->reader, yaml_get(map, "resolver"),
			"'resolver' goes with 'merge' or 'close'");
	if (merges && n->limited && n->max_retries && !n->resolver)
		config_fault(c->reader, yaml_get(map, "maxRetries"),
			"'maxRetries' needs a 'resolver', which tries it");
	if (merges && n->evidence.n)
		config_fault(c->reader, yaml_get(map, "evidence"),
			"'evidence' does not go with 'merge' and 'close', which verify the merge");
	if (merges && !n->resolver && (n->reads.n || n->task))
		config_fault(c->reader, map,
			"node '%s' has no 'resolver', who alone reads 'task' and 'reads'", n->id);
}

static void check_worker(struct manifest_check *c, size_t i)
{
	struct manifest_node *n = &c->m->nodes[i];
	const struct yaml *map = item_map(c->spec, "nodes", i);
	int workers = !!n->persona + !!n->command + !!n->workflow + !!n->merge + n->close;
	const char *who = n->persona ? n->persona : n->resolver;
	size_t at = who ? table_find(&c->personas, who) : SIZE_MAX;

	if (workers != 1)
		config_fault(c->reader, map,
			"node '%s' must have one of 'persona', 'command', 'workflow', 'merge' and "
			"'close', not %s",
			n->id, workers ? "several" : "none");
	if (who && at == SIZE_MAX)
		config_fault(c->reader, yaml_get(map, n->persona ? "persona" : "resolver"),
			"unknown persona '%s'", who);
	if (at < SIZE_MAX) {
		c->persona_used[at] = true;
		n->actor = &c->m->personas[at];
		if ((c->needs_task[at] && !n->task) || (c->needs_block[at] && !n->block_name))
			config_fault(c->reader, map,
				"the template of '%s' has the variable '%s', which this node does "
				"not provide: it has no '%s'",
				who, c->needs_task[at] && !n->task ? "task" : "block",
				c->needs_task[at] && !n->task ? "task" : "block");
	}
	check_merge(c, n, map);
	if (n->worktree && !n->persona)
		config_fault(c->reader, yaml_get(map, "worktree"),
			"'worktree' goes with 'persona': a workflow has a worktree of its own, "
			"and a command runs in that of the item");
	if (n->workflow && n->evidence.n)
		config_fault(c->reader, yaml_get(map, "evidence"),
			"'evidence' does not go with 'workflow', which verifies its own");
	if (!n->command && yaml_get(map, "timeout"))
		config_fault(c->reader, yaml_get(map, "timeout"), "'timeout' goes with 'command'");
	if (n->command && (n->reads.n || n->task))
		config_fault(c->reader, map,
			"node '%s' is a command, which reads nothing: 'task' "
			"and 'reads' go with 'persona' and 'workflow'",
			n->id);
}

static void check_nodes(struct manifest_check *c)
{
	for (size_t i = 0; i < c->m->n_nodes; i++) {
		struct manifest_node *n = &c->m->nodes[i];
		const struct yaml *block = key_place(c->spec, "nodes", i, "block");
		size_t at = n->block_name ? table_find(&c->blocks, n->block_name) : SIZE_MAX;

		check_worker(c, i);
		if (n->block_name && at == SIZE_MAX)
			config_fault(c->reader, block, "unknown block '%s'", n->block_name);
		if (at < SIZE_MAX) {
			c->block_used[at] = true;
			n->block = &c->m->blocks[at];
		}
		set_retries(c, n, key_place(c->spec, "nodes", i, "maxRetries"));
	}
}

/* ---- edges ---- */

enum { ALL_STATUSES = (1 << NODE_STATUSES) - 1 };

/* Such an event happens in each run, or the machine emits it. */
static void check_condition(
	struct manifest_check *c, const struct manifest_condition *w, const struct yaml *map)
{
	static const char *const keys[] = {NULL, "flag", "event", "path"};

	for (size_t k = 1; k < COUNT(keys); k++)
		if (k != w->kind && yaml_get(map, keys[k]))
			config_fault(c->reader, yaml_get(map, keys[k]),
				"'%s' does not go with this type", keys[k]);
	if (w->kind == CONDITION_EVENT)
		(void)check_event(c, yaml_get(map, "event"), w->event);
}

static size_t find_end(struct manifest_check *c, size_t edge, const char *key, const char *name)
{
	size_t at = table_find(&c->nodes, name);

	if (at == SIZE_MAX)
		config_fault(c->reader, key_place(c->spec, "edges", edge, key), "unknown node '%s'",
			name);
	return at;
}

static const char *const *status_names(const struct manifest_node *n)
{
	return manifest_node_merges(n) ? merge_status_names : node_status_names;
}

static bool has_failure(const struct manifest_node *n)
{
	return n->persona || manifest_node_merges(n);
}

static void check_edge(struct manifest_check *c, size_t i)
{
	struct manifest_edge *e = &c->m->edges[i];
	const struct yaml *map = item_map(c->spec, "edges", i), *when = yaml_get(map, "when");
	const struct manifest_node *n;

	e->from_node = find_end(c, i, "from", e->from);
	e->to_node = find_end(c, i, "to", e->to);
	if (e->event)
		(void)check_event(c, yaml_get(map, "event"), e->event);
	for (size_t k = 0; k < e->n_when; k++)
		check_condition(c, &e->when[k], when->list[k]);
	if (e->from_node == SIZE_MAX)
		return;
	n = &c->m->nodes[e->from_node];
	for (size_t k = 0; k < NODE_STATUSES; k++)
		if (!strcmp(e->status, "always") || !strcmp(e->status, status_names(n)[k]))
			e->on |= 1u << k;
	if (!e->on) {
		config_fault(c->reader, yaml_get(map, "on"),
			"the edge is never taken: '%s' ends as %s, %s or %s", n->id,
			status_names(n)[0], status_names(n)[1], status_names(n)[2]);
		e->on = ALL_STATUSES; /* what is after it is not at fault */
	}
	if (e->on == 1u << NODE_FAILURE &&
		(!has_failure(n) || !n->block || n->block->kind == BLOCK_SEQUENTIAL))
		config_fault(c->reader, key_place(c->spec, "edges", i, "on"),
			has_failure(n) ? "the edge is never taken: '%s' is in a sequential block, "
					 "where a failure ends the run"
				       : "the edge is never taken: '%s' has no persona, so that it "
					 "cannot answer 'failure'",
			n->id);
	if (e->event && n->command)
		config_fault(c->reader, yaml_get(map, "event"),
			"the edge is never taken: '%s' is a command, whose result has no events",
			n->id);
}

/* Lists of edges by node. */
static void index_edges(struct manifest_check *c, size_t **first, size_t **edges, bool into)
{
	struct manifest *m = c->m;
	struct arena *a = c->reader->arena;
	size_t *at = arena_alloc(a, (m->n_nodes + 1) * sizeof(*at));

	*first = arena_alloc(a, (m->n_nodes + 2) * sizeof(**first));
	*edges = arena_alloc(a, (m->n_edges + 1) * sizeof(**edges));
	for (size_t i = 0; i < m->n_edges; i++)
		(*first)[(into ? m->edges[i].to_node : m->edges[i].from_node) + 1]++;
	for (size_t i = 0; i < m->n_nodes; i++)
		(*first)[i + 1] += (*first)[i];
	memcpy(at, *first, m->n_nodes * sizeof(*at));
	for (size_t i = 0; i < m->n_edges; i++)
		(*edges)[at[into ? m->edges[i].to_node : m->edges[i].from_node]++] = i;
}

/* ---- the graph ---- */

static size_t edge_between(const struct manifest *m, size_t from, size_t to)
{
	size_t i = m->out_first[from];

	while (m->edges[m->out_edges[i]].to_node != to)
		i++;
	return m->out_edges[i];
}

/* The graph that is walked leads from each node to those before it. */
static void graph_check_report_cycle(void *data, const size_t *path, size_t n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct manifest_check *c = data;
	const struct manifest *m = c->m;
	size_t from = n > 1 ? path[1] : path[0];

	buf_addf(&text, "'%s'", m->nodes[path[0]].id);
	for (size_t i = n; i > 0; i--)
		buf_addf(&text, " -> '%s'", m->nodes[path[i - 1]].id);
	config_fault(c->reader, item_map(c->spec, "edges", edge_between(m, from, path[0])),
		"the edges run in a circle: %.700s", text.s);
}

static bool sort_nodes(struct manifest_check *c)
{
	struct manifest *m = c->m;
	struct arena *a = c->reader->arena;
	size_t *to = arena_alloc(a, (m->n_edges + 1) * sizeof(*to)), before = c->reader->faults.n;
	struct graph_order o;

	for (size_t i = 0; i < m->n_edges; i++)
		to[i] = m->edges[m->in_edges[i]].from_node;
	graph_walk(
		a, &(struct graph){m->n_nodes, m->in_first, to}, graph_check_report_cycle, c, &o);
	m->order = o.order;
	return c->reader->faults.n == before;
}

static void check_reached(struct manifest_check *c)
{
	struct manifest *m = c->m;
	const struct yaml *at = yaml_get(c->spec, "entry");
	size_t entry = m->entry ? table_find(&c->nodes, m->entry) : 0;
	bool *reached = arena_alloc(c->reader->arena, m->n_nodes);

	if (entry == SIZE_MAX) {
		config_fault(c->reader, at, "unknown node '%s'", m->entry);
		return;
	}
	if (m->in_first[entry + 1] > m->in_first[entry])
		config_fault(c->reader, at ? at : item_map(c->spec, "nodes", entry),
			"'%s' is the entry, and '%s' leads to it", m->nodes[entry].id,
			m->edges[m->in_edges[m->in_first[entry]]].from);
	m->entry = m->nodes[entry].id;
	for (size_t o = 0; o < m->n_nodes; o++) {
		size_t i = m->order[o];

		reached[i] = i == entry;
		for (size_t k = m->in_first[i]; k < m->in_first[i + 1]; k++)
			reached[i] |= reached[m->edges[m->in_edges[k]].from_node];
		if (!reached[i])
			config_fault(c->reader, key_place(c->spec, "nodes", i, "id"),
				"node '%s' cannot be reached from '%s'", m->nodes[i].id, m->entry);
	}
}

/* ---- nodes that no answer lets be dispatched ---- */

/*
 * As for the actions of a workflow (src/workflow/order.c): each node keeps the statuses of others
 * with which it can be dispatched. A node all of whose edges have a status in common always has
 * that one left, so that only the others, which split the run, need a column. Columns do not depend
 * on each other; so many are looked at together that they take at most COLUMNS_BYTES.
 */
struct route_columns {
	size_t *of;          /* by node; SIZE_MAX: it has none */
	const size_t *nodes; /* by column */
	size_t n;            /* columns */
	unsigned char *rows; /* a row of n for each node */
	unsigned char *on;   /* by node: on which statuses it chooses the one that is looked at */
	bool *faulty;        /* by node */
};

enum { COLUMNS_BYTES = 64 << 20 };

static void join_route(struct route_columns *t, size_t from, bool any, unsigned char *mine)
{
	const unsigned char *row = t->rows + from * t->n;
	size_t own = t->of[from];
	unsigned char before = own < t->n ? mine[own] : 0;

	for (size_t i = 0; i < t->n; i++)
		mine[i] = any ? mine[i] | row[i] : mine[i] & row[i];
	if (own < t->n)
		mine[own] = any ? before | t->on[from] : before & t->on[from];
}

/* Several edges from one node to another are one route. The first column of which no status is
 * left; n: of each there is one. */
static size_t join_routes(const struct manifest *m, size_t node, struct route_columns *t)
{
	bool any = !strcmp(m->nodes[node].join, "any");
	size_t first = m->in_first[node], end = m->in_first[node + 1], none = 0;
	unsigned char *mine = t->rows + node * t->n;

	memset(mine, any && first < end ? 0 : ALL_STATUSES, t->n);
	for (size_t k = first; k < end; k++) {
		const struct manifest_edge *e = &m->edges[m->in_edges[k]];

		t->on[e->from_node] |= (unsigned char)e->on;
	}
	for (size_t k = first; k < end; k++) {
		size_t from = m->edges[m->in_edges[k]].from_node;

		if (t->on[from])
			join_route(t, from, any, mine);
		t->on[from] = 0;
	}
	while (none < t->n && mine[none])
		none++;
	return none;
}

static void check_columns(struct manifest_check *c, struct route_columns *t)
{
	const struct manifest *m = c->m;

	for (size_t o = 0; o < m->n_nodes; o++) {
		size_t i = m->order[o], none = join_routes(m, i, t);

		if (none == t->n)
			continue;
		if (!t->faulty[i])
			config_fault(c->reader, key_place(c->spec, "nodes", i, "id"),
				"node '%s' can never be dispatched: no status of '%s' lets all "
				"that it waits for choose it",
				m->nodes[i].id, m->nodes[t->nodes[none]].id);
		t->faulty[i] = true;
		/* What is after it is not at fault. */
		memset(t->rows + i * t->n, ALL_STATUSES, t->n);
	}
}

static bool splits(const struct manifest *m, size_t node)
{
	unsigned on = ALL_STATUSES;

	for (size_t k = m->out_first[node]; k < m->out_first[node + 1]; k++)
		on &= m->edges[m->out_edges[k]].on;
	return !on;
}

static void check_possible(struct manifest_check *c)
{
	const struct manifest *m = c->m;
	struct arena a = {0};
	size_t *nodes = arena_alloc(&a, m->n_nodes * sizeof(*nodes)), n = 0;
	size_t most = COLUMNS_BYTES / m->n_nodes;
	struct route_columns t = {.of = arena_alloc(&a, m->n_nodes * sizeof(*t.of)),
		.on = arena_alloc(&a, m->n_nodes),
		.faulty = arena_alloc(&a, m->n_nodes * sizeof(*t.faulty))};

	for (size_t i = 0; i < m->n_nodes; i++)
		if (splits(m, i))
			nodes[n++] = i;
	t.rows = n ? arena_alloc(&a, m->n_nodes * (n < most ? n : most)) : NULL;
	for (size_t from = 0; from < n; from += t.n) {
		t.n = n - from < most ? n - from : most;
		t.nodes = nodes + from;
		memset(t.of, 0xff, m->n_nodes * sizeof(*t.of));
		for (size_t k = 0; k < t.n; k++)
			t.of[t.nodes[k]] = k;
		check_columns(c, &t);
	}
	arena_release(&a);
}

/* ---- routes ---- */

/* The two are conditions of which only one can hold. */
static bool excludes(const struct manifest_condition *a, const struct manifest_condition *b)
{
	if (a->kind != b->kind || a->is == b->is)
		return false;
	return a->kind == CONDITION_FLAG    ? !strcmp(a->flag, b->flag)
	       : a->kind == CONDITION_EVENT ? !strcmp(a->event, b->event)
	       : a->kind == CONDITION_FILE  ? !strcmp(a->path, b->path)
					    : false;
}

static bool may_both_hold(const struct manifest_edge *a, const struct manifest_edge *b)
{
	if (!(a->on & b->on))
		return false;
	if ((a->any && a->n_when > 1) || (b->any && b->n_when > 1))
		return true;
	for (size_t i = 0; i < a->n_when; i++)
		for (size_t k = 0; k < b->n_when; k++)
			if (excludes(&a->when[i], &b->when[k]))
				return false;
	return true;
}

/* The outermost block around a node whose nodes are dispatched together; NULL: there is none. Two
 * nodes that have the same one are dispatched together. */
static const struct manifest_block *outermost_together(
	const struct manifest_check *c, const struct manifest_node *n)
{
	const struct manifest_block *found = NULL;

	for (const struct manifest_block *b = n->block; b; b = block_above(c, b))
		if (!block_is_sequential(b))
			found = b;
	return found;
}

/* Marks what comes after `from`, itself included. */
static void mark_after(const struct manifest *m, size_t from, bool *seen, size_t *stack)
{
	size_t n = 1;

	memset(seen, 0, m->n_nodes * sizeof(*seen));
	stack[0] = from;
	seen[from] = true;
	while (n) {
		size_t at = stack[--n];

		for (size_t k = m->out_first[at]; k < m->out_first[at + 1]; k++) {
			size_t next = m->edges[m->out_edges[k]].to_node;

			if (!seen[next])
				stack[n++] = next;
			seen[next] = true;
		}
	}
}

/* A branch is merged once it is there. */
static void check_merge_order(struct manifest_check *c)
{
	const struct manifest *m = c->m;
	struct arena a = {0};
	bool *seen = arena_alloc(&a, m->n_nodes * sizeof(*seen));
	size_t *stack = arena_alloc(&a, m->n_nodes * sizeof(*stack)), of = SIZE_MAX;

	for (size_t i = 0; i < m->n_nodes; i++) {
		if (m->nodes[i].merge_node == SIZE_MAX)
			continue;
		if (m->nodes[i].merge_node != of)
			mark_after(m, m->nodes[i].merge_node, seen, stack);
		of = m->nodes[i].merge_node;
		if (!seen[i])
			config_fault(c->reader, key_place(c->spec, "nodes", i, "merge"),
				"'%s' does not come after '%s', whose branch it merges",
				m->nodes[i].id, m->nodes[i].merge);
	}
	arena_release(&a);
}

/* An edge of the node that is looked at. */
struct route {
	size_t edge, to, at; /* at: where `to` is in the order of the nodes */
	const struct manifest_block *block;
};

struct route_check {
	struct manifest_check *c;
	size_t *position; /* of each node in the order */
	bool *seen;       /* what comes after `marked` */
	size_t *stack, marked;
	VEC(struct route) routes;
};

static int compare_routes(const void *pa, const void *pb)
{
	const struct route *a = pa, *b = pb;

	return a->at != b->at      ? (a->at < b->at ? -1 : 1)
	       : a->edge < b->edge ? -1
				   : a->edge > b->edge;
}

/* `a` is first in the order, so that only it can lead to `b`. */
static void check_pair(struct route_check *r, const struct route *a, const struct route *b)
{
	struct manifest_check *c = r->c;
	const struct manifest *m = c->m;
	bool swapped = a->edge > b->edge;
	const struct manifest_edge *first = &m->edges[swapped ? b->edge : a->edge],
				   *second = &m->edges[swapped ? a->edge : b->edge];
	const struct yaml *place;

	if (!may_both_hold(first, second))
		return;
	place = item_map(c->spec, "edges", swapped ? a->edge : b->edge);
	if (a->to == b->to) {
		config_fault(c->reader, place,
			"two edges from '%s' to '%s' can both be taken: the first is in line %u",
			first->from, first->to, first->line);
		return;
	}
	if (r->marked != a->to)
		mark_after(m, a->to, r->seen, r->stack);
	r->marked = a->to;
	if (!r->seen[b->to])
		config_fault(c->reader, place,
			"two routes from '%s' can both be taken, to '%s' (line %u) and to '%s': "
			"give them conditions that exclude each other, or put both nodes into one "
			"parallel block",
			first->from, first->to, first->line, second->to);
}

/* Only pairs that are not dispatched together anyway are looked at. */
static void check_routes_of(struct route_check *r, size_t node)
{
	const struct manifest *m = r->c->m;
	bool together = true;

	r->routes.n = 0;
	for (size_t k = m->out_first[node]; k < m->out_first[node + 1]; k++) {
		size_t to = m->edges[m->out_edges[k]].to_node;

		vec_push(&r->routes, ((struct route){m->out_edges[k], to, r->position[to],
					     outermost_together(r->c, &m->nodes[to])}));
	}
	vec_sort(&r->routes, compare_routes);
	for (size_t i = 0; i < r->routes.n; i++)
		together &= r->routes.items[i].block &&
			    r->routes.items[i].block == r->routes.items[0].block;
	for (size_t i = 0; i < r->routes.n; i++)
		for (size_t k = i + 1; k < r->routes.n; k++) {
			const struct route *a = &r->routes.items[i], *b = &r->routes.items[k];

			if (a->to == b->to || !a->block || a->block != b->block)
				check_pair(r, a, b);
			else if (together)
				break;
			if (r->c->reader->faults.n >= r->c->reader->limit)
				return;
		}
}

static void check_routes(struct manifest_check *c)
{
	const struct manifest *m = c->m;
	struct arena a = {0};
	struct route_check r = {.c = c,
		.position = arena_alloc(&a, m->n_nodes * sizeof(*r.position)),
		.seen = arena_alloc(&a, m->n_nodes * sizeof(*r.seen)),
		.stack = arena_alloc(&a, m->n_nodes * sizeof(*r.stack)),
		.marked = SIZE_MAX};

	for (size_t o = 0; o < m->n_nodes; o++)
		r.position[m->order[o]] = o;
	for (size_t i = 0; i < m->n_nodes; i++)
		check_routes_of(&r, i);
	vec_release(&r.routes);
	arena_release(&a);
}

/* ---- relationships ---- */

static const struct manifest_relationship *find_relationship(
	const struct manifest *m, const char *parent, const char *child)
{
	for (size_t i = 0; i < m->n_relationships; i++)
		if (!strcmp(m->relationships[i].parent, parent) &&
			!strcmp(m->relationships[i].child, child))
			return &m->relationships[i];
	return NULL;
}

static bool leads_hierarchy(const struct manifest *m, const struct manifest_edge *e)
{
	const struct manifest_node *to = &m->nodes[e->to_node];

	return to->block && to->block->kind == BLOCK_HIERARCHICAL && to->persona &&
	       m->nodes[e->from_node].persona && m->nodes[e->from_node].block != to->block;
}

static void check_led(struct manifest_check *c, size_t node)
{
	const struct manifest *m = c->m;

	for (size_t r = 0; r < m->n_relationships; r++) {
		const struct manifest_relationship *rel = &m->relationships[r];
		size_t n = 0;

		if (!m->nodes[node].persona || strcmp(m->nodes[node].persona, rel->parent) != 0)
			continue;
		for (size_t k = m->out_first[node]; k < m->out_first[node + 1]; k++) {
			const struct manifest_edge *e = &m->edges[m->out_edges[k]];

			n += leads_hierarchy(m, e) &&
			     !strcmp(m->nodes[e->to_node].persona, rel->child);
			if (rel->max_children && n == rel->max_children + 1)
				config_fault(c->reader, item_map(c->spec, "edges", m->out_edges[k]),
					"'%s' leads more than %u nodes of the persona '%s', the "
					"'maxChildren' of line %u",
					e->from, rel->max_children, rel->child, rel->line);
		}
	}
}

/* depth[i]: how many nodes of one relationship's child precede i in its block, itself included. */
static void check_led_depth(struct manifest_check *c)
{
	const struct manifest *m = c->m;
	size_t *depth = arena_alloc(c->reader->arena, m->n_nodes * sizeof(*depth));

	for (size_t o = 0; o < m->n_nodes; o++) {
		size_t i = m->order[o];
		const struct manifest_node *n = &m->nodes[i];

		depth[i] = 1;
		for (size_t k = m->in_first[i]; k < m->in_first[i + 1]; k++) {
			const struct manifest_edge *e = &m->edges[m->in_edges[k]];
			const struct manifest_node *from = &m->nodes[e->from_node];

			if (n->block && from->block == n->block && n->actor &&
				from->actor == n->actor && depth[e->from_node] >= depth[i])
				depth[i] = depth[e->from_node] + 1;
		}
		for (size_t r = 0; r < m->n_relationships && n->persona && n->block &&
				   n->block->kind == BLOCK_HIERARCHICAL;
			r++)
			if (!strcmp(m->relationships[r].child, n->persona) &&
				m->relationships[r].max_depth &&
				depth[i] > m->relationships[r].max_depth)
				config_fault(c->reader, item_map(c->spec, "nodes", i),
					"node '%s' is %zu deep below '%s', above the 'maxDepth' of "
					"line %u, %u",
					n->id, depth[i], m->relationships[r].parent,
					m->relationships[r].line, m->relationships[r].max_depth);
	}
}

static void check_relationships(struct manifest_check *c)
{
	const struct manifest *m = c->m;

	for (size_t i = 0; i < m->n_relationships; i++) {
		const char *const keys[] = {"parent", "child"};
		const char *const names[] = {m->relationships[i].parent, m->relationships[i].child};

		for (size_t k = 0; k < COUNT(keys); k++)
			if (table_find(&c->personas, names[k]) == SIZE_MAX)
				config_fault(c->reader,
					key_place(c->spec, "relationships", i, keys[k]),
					"unknown persona '%s'", names[k]);
	}
	for (size_t i = 0; i < m->n_edges; i++) {
		const struct manifest_edge *e = &m->edges[i];
		const char *parent = m->nodes[e->from_node].persona;

		if (leads_hierarchy(m, e) &&
			!find_relationship(m, parent, m->nodes[e->to_node].persona))
			config_fault(c->reader, item_map(c->spec, "edges", i),
				"'%s' is in a hierarchical block, and no relationship lets the "
				"persona '%s' lead '%s'",
				e->to, parent, m->nodes[e->to_node].persona);
	}
	for (size_t i = 0; i < m->n_nodes; i++)
		check_led(c, i);
	check_led_depth(c);
}

/* ---- all of it ---- */

void manifest_check(struct config_reader *r, const struct yaml *tree, struct manifest *m)
{
	const struct yaml *spec = yaml_get(tree, "spec");
	struct manifest_check c = {
		.reader = r, .spec = spec, .topology = yaml_get(spec, "topology"), .m = m};

	TABLE(&c, personas, spec, personas, "name");
	TABLE(&c, blocks, c.topology, blocks, "name");
	TABLE(&c, nodes, spec, nodes, "id");
	TABLE(&c, events, spec, events, "name");
	TABLE(&c, variables, spec, variables, "name");
	c.persona_used = arena_alloc(r->arena, m->n_personas + 1);
	c.block_used = arena_alloc(r->arena, m->n_blocks + 1);
	if (yaml_get(spec, "securityViolation") && !m->policy)
		config_fault(r, yaml_get(spec, "securityViolation"),
			"'securityViolation' needs 'policy': nothing is denied without one");
	if (!m->drop_uid != !m->drop_gid)
		config_fault(r, yaml_get(spec, m->drop_uid ? "dropUid" : "dropGid"),
			"'dropUid' and 'dropGid' go together");
	check_taken_names(&c);
	check_templates(&c);
	check_blocks(&c);
	check_nodes(&c);
	check_blocks_used(&c);
	check_personas(&c);
	for (size_t i = 0; i < m->n_edges; i++)
		check_edge(&c, i);
	for (size_t i = 0; i < m->n_edges; i++)
		if (m->edges[i].from_node == SIZE_MAX || m->edges[i].to_node == SIZE_MAX)
			return;
	index_edges(&c, &m->in_first, &m->in_edges, true);
	index_edges(&c, &m->out_first, &m->out_edges, false);
	if (!sort_nodes(&c))
		return;
	check_reached(&c);
	check_possible(&c);
	check_routes(&c);
	check_merge_order(&c);
	check_relationships(&c);
}
