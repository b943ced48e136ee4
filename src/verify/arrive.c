#include "src/verify/arrive.h"

/* What the journal says of one step. */
struct told {
	uint32_t dispatched;
	bool changed, terminated, limit;
};

static bool is(const json *event, const char *key, const char *value)
{
	const char *text = json_get_str(event, key);

	return text && strcmp(text, value) == 0;
}

static void note_state(struct walk *k, const char *name)
{
	const struct workflow_state *fs = workflow_state(k->w, name);

	if (fs)
		k->visited[fs - k->w->states] = true;
}

static void note_transition(struct walk *k, const json *event)
{
	const char *from = json_get_str(event, "from"), *trigger = json_get_str(event, "trigger");

	note_state(k, json_get_str(event, "to"));
	for (size_t i = 0; i < k->w->n_edges; i++)
		if (strcmp(k->w->edges[i].from, from) == 0 &&
			strcmp(k->w->edges[i].trigger, trigger) == 0)
			k->taken[i] = true;
}

static void take_line(struct walk *k, bool natural, struct str line, struct told *t)
{
	CLEANUP(json_free) json *event = NULL;
	struct error ignored;

	if (json_parse(&event, line, &ignored) < 0)
		return;
	if (is(event, "type", "dispatch"))
		t->dispatched++;
	t->changed |= is(event, "type", "change");
	if (!is(event, "type", "transition"))
		return;
	t->limit |= is(event, "trigger", "max_retries");
	t->terminated |=
		is(event, "trigger", "terminated") || is(event, "trigger", "security_violation");
	if (natural)
		note_transition(k, event);
}

static bool has(struct str line, const char *text)
{
	return str_find(line, str_of(text)) < line.n;
}

/* Only lines that may matter are parsed. */
static void listen(struct walk *k, bool natural, const struct stage *s, struct told *t)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;
	struct str rest, line;

	*t = (struct told){0};
	if (!stage_journal(s, &journal))
		return;
	rest = buf_str(&journal);
	while (str_line(&rest, &line))
		if (has(line, "\"type\":\"dispatch\"") || has(line, "\"type\":\"change\"") ||
			has(line, "\"type\":\"transition\""))
			take_line(k, natural, line, t);
}

static enum node_kind kind_of(const struct walk *k, const struct context *c, const json *printed)
{
	const json *first = json_first(printed);
	const struct workflow_state *fs = workflow_state(k->w, context_get(c, "state").p);

	if (!is(first, "action", "done"))
		return NODE_WORK;
	if (json_get(first, "question"))
		return NODE_QUESTION;
	return fs && !fs->terminal ? NODE_GIVEN_UP : NODE_END;
}

static void fill(
	struct walk *k, uint32_t i, const struct stage *s, const json *printed, unsigned changes)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct node *n = &k->nodes[i];
	struct buf doc = BUF_INIT;
	struct error err;

	json_print(&text, printed);
	n->printed = strdup(text.s);
	n->changes = changes;
	n->good = is(json_first(printed), "result", "success");
	n->state = "";
	if (!n->printed)
		base_oom();
	if (stage_look(s, &f, &err) < 0)
		return;
	n->kind = kind_of(k, &f.doc, printed);
	n->state = arena_dup(&k->arena, context_get(&f.doc, "state"));
	n->asked = context_attempts(&f.doc, n->state) > 0;
	key_trim(&k->rules, &f.doc);
	(void)context_render(&f.doc, &doc, NULL, &err);
	n->doc = doc.s;
}

static const struct label *keep_label(struct walk *k, const struct label *l)
{
	struct label *copy = arena_alloc(&k->arena, sizeof(*copy));
	const struct form **forms = arena_alloc(&k->arena, (l->n + 1) * sizeof(struct form *));

	for (size_t i = 0; i < l->n; i++)
		forms[i] = walk_form(k, l->forms[i]);
	*copy = (struct label){l->op, l->n, forms};
	return copy;
}

static void lead_to(struct walk *k, struct arrival *a, uint32_t to, bool fresh)
{
	struct edge_to e = {
		.from = a->node, .to = to, .cost = a->cost, .flags = a->flags, .label = &a->label};

	a->fresh_edge = walk_edge(k, &e);
	if (!a->fresh_edge)
		return;
	k->edges[k->n_edges - 1].label = keep_label(k, &a->label);
	if (fresh)
		k->nodes[to].parent = k->n_edges - 1;
}

static bool refills(const struct form *f)
{
	return has(str_of(f->name), "actions_dispatched") ||
	       has(str_of(f->name), "budget_extensions");
}

bool arrive_refills(const struct stage *s, const struct form *f)
{
	CLEANUP(buf_release) struct buf journal = BUF_INIT;

	return refills(f) && stage_journal(s, &journal) &&
	       has(buf_str(&journal), "\"type\":\"change\"");
}

void arrive(struct arrival *a, struct play *p, const json *printed)
{
	struct walk *k = p->walk;
	unsigned changes = k->nodes[a->node].changes;
	bool natural = changes == k->nodes[0].changes && !(a->first && a->first->change), fresh;
	struct told told;
	uint32_t to;

	listen(k, natural, p->stage, &told);
	if (told.changed && a->first && a->first->change) {
		a->flags |= EDGE_CHANGE | (refills(a->first) ? EDGE_REFILL : 0);
		changes -= changes > 0;
	}
	a->flags |= (told.limit ? EDGE_LIMIT : 0) | (told.terminated ? EDGE_TERMINATE : 0);
	a->cost = told.dispatched;
	play_key(p, changes);
	to = walk_node(k, p->key.s, &fresh);
	a->to = to;
	a->key = k->nodes[to].key;
	if (fresh)
		fill(k, to, p->stage, printed, changes);
	lead_to(k, a, to, fresh);
}

void arrive_at(struct walk *k, struct arrival *a, uint32_t to, uint32_t cost)
{
	a->to = to;
	a->key = k->nodes[to].key;
	a->cost = cost;
	lead_to(k, a, to, false);
}

void arrive_at_error(struct walk *k, struct arrival *a, const struct error *err)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const struct node *from = &k->nodes[a->node];
	const char *state = from->state;
	char line[2048];
	bool fresh;
	uint32_t to;

	error_format(err, line, sizeof(line));
	buf_addf(&key, "error in %s: %s", state, line);
	to = walk_node(k, key.s, &fresh);
	a->to = to;
	a->key = k->nodes[to].key;
	a->cost = 0;
	if (fresh) {
		k->nodes[to].kind = NODE_ERROR;
		k->nodes[to].state = state;
		k->nodes[to].changes = k->nodes[a->node].changes;
		k->nodes[to].printed = strdup(line);
	}
	lead_to(k, a, to, fresh);
}
