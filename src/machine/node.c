/*
 * node.c: the end of the nodes of a manifest. An answer ends its node once its claim is verified:
 * its events are noted, the context of the project is updated, and its routes are chosen, all in
 * the commit that takes the answer. A failed validation is tried again under a new id instead, as
 * long as its limits allow.
 */
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/machine/engine_internal.h"
#include "src/machine/node.h"
#include "src/machine/verdict.h"

/* ---- where the nodes are ---- */

static const char *count_key(struct arena *a, const char *what, const char *name)
{
	return arena_printf(a, "%s.%s", what, name);
}

unsigned long node_retries(struct arena *a, const struct context *doc, const char *node)
{
	return context_attempts(doc, count_key(a, "retry", node));
}

/* Each conflict that is tried again asks for one resolution. */
static unsigned long resolutions(struct arena *a, const struct context *doc, const char *node)
{
	return context_attempts(doc, count_key(a, "resolve", node));
}

bool node_is_resolving(struct arena *a, const struct context *doc, const char *node)
{
	return node_retries(a, doc, node) > resolutions(a, doc, node);
}

json *node_merge_report(struct arena *a, const struct context *doc, const char *node)
{
	return verdict_json(context_section(doc, arena_printf(a, CONTEXT_EARLIER "%s", node)));
}

const struct declared_outcome *node_outcome(
	const struct context *doc, const struct declared_action *item, const json *action)
{
	struct str word = action_word(doc, action);

	unsigned at;

	/* Somebody resolves a conflict: his words are those of other nodes. */
	if (item->command && action_kind(action) == ACTION_AGENT)
		return str_index(word, node_status_names, &at) ? &item->outcomes[at] : NULL;
	for (size_t i = 0; i < item->n_outcomes; i++)
		if (str_is(word, item->outcomes[i].word))
			return &item->outcomes[i];
	return NULL;
}

static void view_ended(const struct manifest *m, size_t node, const json *action,
	struct node_view *v, struct node_progress *p)
{
	unsigned how = NODE_SUCCESS;

	(void)str_index(str_of(json_get_str(action, "ended")),
		manifest_node_merges(&m->nodes[node]) ? merge_status_names : node_status_names,
		&how);
	p->at = PROGRESS_ENDED;
	v->ended[node] = true;
	v->how[node] = how < NODE_STATUSES ? how : NODE_FAILURE;
	for (size_t k = m->out_first[node]; k < m->out_first[node + 1]; k++)
		v->taken[m->out_edges[k]] =
			json_has_text(json_get(action, "routes"), m->edges[m->out_edges[k]].to);
}

void node_view_load(struct arena *a, const struct context *doc, const struct declared_state *d,
	const json *actions, struct node_view *out)
{
	const struct manifest *m = d->manifest;
	struct node_progress *progress = arena_alloc(a, d->n * sizeof(*progress));

	*out = (struct node_view){.status = arena_alloc(a, d->n * sizeof(*out->status)),
		.how = arena_alloc(a, d->n * sizeof(*out->how)),
		.ended = arena_alloc(a, d->n * sizeof(*out->ended)),
		.actions = arena_alloc(a, d->n * sizeof(*out->actions)),
		.taken = arena_alloc(a, m->n_edges * sizeof(*out->taken) + 1)};
	for (const json *one = json_first(actions); one; one = json_next(one)) {
		const struct declared_action *it =
			workflow_item(d, json_get_str(one, "write_section"));
		size_t i = it ? (size_t)(it - d->items) : d->n;

		if (!it)
			continue;
		out->actions[i] = one;
		if (json_get_str(one, "ended"))
			view_ended(m, i, one, out, &progress[i]);
		else
			progress[i].at =
				action_answered(doc, one) ? PROGRESS_ANSWERED : PROGRESS_OPEN;
	}
	manifest_frontier(m, progress, out->taken, out->status);
}

/* ---- where they were ---- */

struct drawn_walk {
	struct arena *arena;
	const struct declared_state *d;
	struct node_drawn *out;
	bool *seen; /* what a later event says counts */
};

/* A context_visit. */
static bool draw_event(const json *event, void *data)
{
	static const struct {
		const char *type;
		enum item_status at;
	} types[] = {{"node", ITEM_ANSWERED}, {"node_skipped", ITEM_SKIPPED},
		{"node_retry", ITEM_READY}, {"dispatch", ITEM_DISPATCHED}};
	struct drawn_walk *w = data;
	const char *node = json_get_str(event, "node"), *ts = json_get_str(event, "ts");
	const struct declared_action *it = node ? workflow_item(w->d, node) : NULL;
	struct node_drawn *n = it ? &w->out[it - w->d->items] : NULL;
	int64_t at = 0;

	for (size_t i = 0; n && i < COUNT(types); i++) {
		if (!json_str_is(event, "type", types[i].type))
			continue;
		if (!w->seen[it - w->d->items])
			n->at = types[i].at;
		w->seen[it - w->d->items] = true;
		if (ts)
			(void)clock_parse(ts, &at);
		if (types[i].at == ITEM_ANSWERED) {
			n->how = json_dup(w->arena, event, "status");
			n->end = n->end ? n->end : at;
		} else if (types[i].at == ITEM_DISPATCHED) {
			n->attempts++;
			n->begin = n->begin ? n->begin : at;
		}
	}
	return true;
}

int node_drawn_load(struct arena *a, const char *document, const struct declared_state *d,
	struct node_drawn **out, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct drawn_walk w = {.arena = a,
		.d = d,
		.out = arena_alloc(a, d->n * sizeof(*w.out)),
		.seen = arena_alloc(a, d->n * sizeof(bool))};

	*out = w.out;
	return context_open(&f, document, CONTEXT_READ_ONLY, err) < 0
		       ? -1
		       : context_read_events(&f, "\"node\"", draw_event, &w, err);
}

/* ---- events ---- */

/* The count is the index of `history_has_event`. */
static void emit_event(struct engine_run *r, const char *node, const json *action, const char *name,
	const json *payload)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *id = json_get_str(action, "id");
	json *line = JSON_OBJECT(JSON_TEXT("event", name), JSON_TEXT("node", node),
		JSON_TEXT("action", id),
		JSON_IF(payload, JSON_VALUE("payload", json_copy(payload))));

	(void)context_next_attempt(r->doc, count_key(&r->arena, "event", name));
	buf_add(&text, context_section(r->doc, MANIFEST_EVENTS));
	buf_adds(&text, text.len ? "\n" : "");
	json_print(&text, line);
	json_free(&line);
	context_put(r->doc, MANIFEST_EVENTS, buf_str(&text));
	JSON_ADD(context_event(r->e->file, "domain_event"), JSON_TEXT("event", name),
		JSON_TEXT("node", node), JSON_TEXT("action", id),
		JSON_IF(payload, JSON_VALUE("payload", json_copy(payload))));
}

/* ---- the end of one node ---- */

struct node_end {
	struct engine_run *r;
	const struct declared_state *d;
	size_t node;
	json *action;
	enum node_status how;
	json *answer; /* the JSON of an agent, or of a merge; NULL: none */
	json *facts;
	json *observed; /* [{"type": EVENT, "payload": {}}]: what the machine has seen */
	json *update;   /* of the project by the machine; NULL: none */
};

static void node_end_release(struct node_end *e)
{
	json_free(&e->answer);
	json_free(&e->facts);
	json_free(&e->observed);
	json_free(&e->update);
}

static const struct manifest_node *node_of(const struct node_end *e)
{
	return &e->d->manifest->nodes[e->node];
}

/* The agent of a child has had its effects in the child. */
static bool has_updates(const struct node_end *e)
{
	return action_kind(e->action) == ACTION_AGENT && e->answer &&
	       (json_get(e->answer, "flags") || json_get(e->answer, "artifacts") ||
		       json_get(e->answer, "tasks"));
}

static void add_query(struct arena *a, const struct manifest_condition *w, struct text_list *flags,
	struct text_list *paths)
{
	struct text_list *list = w->kind == CONDITION_FLAG ? flags : paths;
	const char *text = w->kind == CONDITION_FLAG ? w->flag : w->path;
	const char **items;

	if (w->kind != CONDITION_FLAG && w->kind != CONDITION_FILE)
		return;
	items = arena_alloc(a, (list->n + 1) * sizeof(*items));
	if (list->n)
		memcpy(items, list->list, list->n * sizeof(*items));
	items[list->n] = text;
	*list = (struct text_list){items, list->n + 1};
}

/* Also shows the context to the nodes that read it. */
static int node_ask(struct engine_run *r, struct project_query *q, json **facts, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct environment *env = r->e->environment;
	const struct environment_input input = {.what = "project", .project = q, .always = true};

	q->all = r->e->workflow->declared->manifest->reads_project;
	if (!env->project || (!q->update && !q->flags.n && !q->paths.n && !q->all))
		return 0;
	if (env->project(env->data, &r->arena, &input, facts, err) < 0)
		return -1;
	context_seen(r->e->file, "project", json_copy(*facts));
	if (!json_get(*facts, "project"))
		return 0;
	json_print_pretty(&text, json_get(*facts, "project"));
	context_put(r->doc, MANIFEST_PROJECT, buf_str(&text));
	return 0;
}

/* Before the first node. */
static int show_project(struct engine_run *r, struct error *err)
{
	CLEANUP(json_free) json *facts = NULL;
	struct project_query q = {.document = r->e->file->path, .action = ""};

	return context_has_section(r->doc, MANIFEST_PROJECT) ? 0 : node_ask(r, &q, &facts, err);
}

/* Updates the context of the project, and asks what the conditions look at. */
static int node_ask_project(struct node_end *e, struct error *err)
{
	struct engine_run *r = e->r;
	const struct manifest *m = e->d->manifest;
	struct project_query q = {.document = r->e->file->path,
		.directory = r->place.directory,
		.action = json_get_str(e->action, "id"),
		.update = e->update        ? e->update
			  : has_updates(e) ? e->answer
					   : NULL};

	for (size_t k = m->out_first[e->node]; k < m->out_first[e->node + 1]; k++)
		for (size_t i = 0; i < m->edges[m->out_edges[k]].n_when; i++)
			add_query(
				&r->arena, &m->edges[m->out_edges[k]].when[i], &q.flags, &q.paths);
	return node_ask(r, &q, &e->facts, err);
}

static bool holds(const struct node_end *e, const struct manifest_condition *w)
{
	const struct context *doc = e->r->doc;
	bool is = w->kind == CONDITION_ALWAYS;

	if (w->kind == CONDITION_FLAG)
		is = json_has_text(json_get(e->facts, "flags"), w->flag);
	else if (w->kind == CONDITION_FILE)
		is = json_has_text(json_get(e->facts, "files"), w->path);
	else if (w->kind == CONDITION_EVENT)
		is = context_attempts(doc, count_key(&e->r->arena, "event", w->event)) > 0;
	return is == w->is;
}

static bool has_event(const struct node_end *e, const char *name)
{
	for (const json *one = json_first(json_get(e->answer, "events")); one; one = json_next(one))
		if (answer_event_name(one) && !strcmp(answer_event_name(one), name))
			return true;
	for (const json *one = json_first(e->observed); one; one = json_next(one))
		if (json_str_is(one, "type", name))
			return true;
	return false;
}

static void observe(struct node_end *e, const char *name, json *payload)
{
	json_push(e->observed, JSON_OBJECT(JSON_TEXT("type", name),
				       JSON_IF(payload, JSON_VALUE("payload", payload))));
}

static void observe_status(struct node_end *e)
{
	if (e->how == NODE_VALIDATION_FAIL)
		observe(e, "validation_failed", NULL);
	if (e->how == NODE_SUCCESS && e->d->items[e->node].evidence.kinds & EVIDENCE_WORK)
		observe(e, "code_committed", NULL);
}

static bool node_is_taken(const struct node_end *e, const struct manifest_edge *edge)
{
	size_t n = 0;

	if (!(edge->on >> e->how & 1) || (edge->event && !has_event(e, edge->event)))
		return false;
	for (size_t i = 0; i < edge->n_when; i++)
		n += holds(e, &edge->when[i]);
	return edge->any && edge->n_when ? n > 0 : n == edge->n_when;
}

static json *choose_routes(const struct node_end *e)
{
	const struct manifest *m = e->d->manifest;
	json *routes = json_array();

	for (size_t k = m->out_first[e->node]; k < m->out_first[e->node + 1]; k++) {
		const struct manifest_edge *edge = &m->edges[m->out_edges[k]];

		if (node_is_taken(e, edge) && !json_has_text(routes, edge->to))
			json_push_str(routes, str_of(edge->to));
	}
	return routes;
}

/* Those that the answer names, and those that the machine has observed. */
static void emit_events(const struct node_end *e)
{
	const char *node = node_of(e)->id;

	for (const json *one = json_first(json_get(e->answer, "events")); one; one = json_next(one))
		if (answer_event_name(one) && !answer_updates_fault(&e->r->arena, e->answer,
						      json_get(e->action, "events")))
			emit_event(e->r, node, e->action, answer_event_name(one),
				json_get(one, "payload"));
	for (const json *one = json_first(e->observed); one; one = json_next(one))
		if (action_kind(e->action) != ACTION_CHILD)
			emit_event(e->r, node, e->action, json_get_str(one, "type"),
				json_get(one, "payload"));
}

/* The answer of a retried attempt is what the next one reads. */
static void retry(const struct node_end *e, unsigned limit)
{
	struct engine_run *r = e->r;
	const char *node = node_of(e)->id;
	unsigned long n = context_next_attempt(r->doc, count_key(&r->arena, "retry", node));
	struct str text = context_section(r->doc, node);

	JSON_ADD(context_event(r->e->file, "node_retry"), JSON_TEXT("node", node),
		JSON_TEXT("action", json_get_str(e->action, "id")), JSON_INT("again", n),
		JSON_INT("limit", limit));
	context_put(r->doc, arena_printf(&r->arena, CONTEXT_EARLIER "%s", node), text);
	context_remove(r->doc, node);
	json_remove(r->outstanding, e->action);
	action_store(r->doc, r->outstanding);
}

static unsigned retry_limit(const struct node_end *e)
{
	const struct engine *of = e->r->e;
	bool merges = manifest_node_merges(node_of(e));
	unsigned limit = node_of(e)->max_retries, cap = merges ? of->merge_cap : of->retry_cap;

	return cap < limit ? cap : limit;
}

/* ---- merges ---- */

/* The work item whose branch is merged. */
static const char *merged_item(const struct node_end *e)
{
	size_t of = node_of(e)->merge_node;

	for (const json *a = json_first(e->r->outstanding); a && of < SIZE_MAX; a = json_next(a))
		if (json_get_str(a, "item") && json_str_is(a, "node", e->d->manifest->nodes[of].id))
			return json_get_str(a, "item");
	return e->r->e->id;
}

static json *copy_members(json *to, const json *from, const char *const *names)
{
	for (; *names; names++)
		if (json_get(from, *names))
			json_put(to, *names, json_copy(json_get(from, *names)));
	return to;
}

/* What is remembered of the conflict below the task of that item. */
static json *conflict_json(const struct node_end *e, unsigned long attempts, unsigned limit)
{
	static const char *const members[] = {
		"branch", "into", "head", "commit", "reason", "paths", NULL};

	return copy_members(JSON_OBJECT(JSON_TEXT("node", node_of(e)->id),
				    JSON_INT("attempts", attempts), JSON_INT("limit", limit)),
		e->answer, members);
}

static void update_task(struct node_end *e, const char *state, json *conflict)
{
	const char *item = merged_item(e);
	json *tasks = json_array();

	json_push(tasks, JSON_OBJECT(JSON_TEXT("id", item),
				 JSON_TEXT("title", arena_printf(&e->r->arena, "Merge %s", item)),
				 JSON_TEXT("state", state),
				 JSON_VALUE("metadata",
					 JSON_OBJECT(JSON_VALUE("mergeConflict", conflict)))));
	e->update = JSON_OBJECT(JSON_VALUE("tasks", tasks));
}

static json *branch_payload(const struct node_end *e, bool paths)
{
	const char *const members[] = {"branch", "commit", paths ? "paths" : NULL, NULL};

	return copy_members(json_object(), e->answer, members);
}

/* True: somebody resolves the conflict before the next attempt. */
static bool observe_merge(struct node_end *e, unsigned limit)
{
	struct engine_run *r = e->r;
	unsigned long tried = node_retries(&r->arena, r->doc, node_of(e)->id);
	bool given_up = resolutions(&r->arena, r->doc, node_of(e)->id) > tried;

	if (e->how == NODE_SUCCESS) {
		if (tried) {
			observe(e, "merge_conflict_resolved", branch_payload(e, false));
			update_task(e, "merged", conflict_json(e, tried, limit));
		}
		observe(e, "branch_merged", branch_payload(e, false));
	}
	if (e->how != NODE_VALIDATION_FAIL)
		return false;
	observe(e, "merge_conflict_detected", branch_payload(e, true));
	if (tried < limit && !given_up && node_of(e)->resolver) {
		observe(e, "merge_retry_started",
			JSON_OBJECT(JSON_INT("attempt", tried + 1), JSON_INT("limit", limit)));
		update_task(e, "resolving_conflict", conflict_json(e, tried + 1, limit));
		return true;
	}
	observe(e, "merge_conflict_unresolved", JSON_OBJECT(JSON_INT("attempts", tried)));
	update_task(e, "conflict", conflict_json(e, tried, limit));
	return false;
}

/* The next attempt to merge shows whether the conflict is resolved. One who says that it cannot be
 * done is not asked again. */
static void end_resolution(const struct node_end *e)
{
	struct engine_run *r = e->r;
	const char *key = count_key(&r->arena, "resolve", node_of(e)->id);

	(void)context_next_attempt(r->doc, key);
	if (str_is(action_word(r->doc, e->action), node_status_names[NODE_FAILURE]))
		(void)context_next_attempt(r->doc, key);
	context_remove(r->doc, node_of(e)->id);
	json_remove(r->outstanding, e->action);
	action_store(r->doc, r->outstanding);
}

void engine_fence(struct engine_run *r, const char *why)
{
	CLEANUP(buf_release) struct buf ids = BUF_INIT;
	json *cancelled = json_array();

	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		if (action_answered(r->doc, a))
			continue;
		buf_addf(&ids, "%s%s", ids.len ? " " : "", json_get_str(a, "id"));
		json_push_str(cancelled, str_of(json_get_str(a, "id")));
	}
	if (!ids.len) {
		json_free(&cancelled);
		return;
	}
	context_set(r->doc, "cancelled", buf_str(&ids));
	JSON_ADD(context_event(r->e->file, "cancelled"), JSON_TEXT("reason", why),
		JSON_VALUE("actions", cancelled));
}

/* Nothing that is outstanding is waited for. */
static void abort_nodes(const struct node_end *e)
{
	struct engine_run *r = e->r;
	const char *why = arena_printf(&r->arena, "the node '%s' has failed", node_of(e)->id);

	engine_fence(r, why);
	context_set(r->doc, "failed_node", str_of(node_of(e)->id));
	context_put(r->doc, CONTEXT_LAST_FAILURE,
		str_of(arena_printf(
			&r->arena, "%s:\n\n%s", node_of(e)->id, action_text(r->doc, e->action).p)));
	engine_enter(r, "failed", "failure", why);
}

static bool ends_run(const struct node_end *e)
{
	const struct manifest_block *b = node_of(e)->block;

	return e->how == NODE_FAILURE && (!b || b->kind == BLOCK_SEQUENTIAL);
}

/* What the machine has seen. True: it is tried again. */
static bool observe_end(struct node_end *e, unsigned limit)
{
	struct engine_run *r = e->r;

	e->observed = json_array();
	if (manifest_node_merges(node_of(e)))
		return observe_merge(e, limit);
	observe_status(e);
	return e->how == NODE_VALIDATION_FAIL &&
	       node_retries(&r->arena, r->doc, node_of(e)->id) < limit;
}

static int end_node(struct node_end *e, struct error *err)
{
	struct engine_run *r = e->r;
	bool merges = manifest_node_merges(node_of(e)), again;
	const char *status = (merges ? merge_status_names : node_status_names)[e->how];
	unsigned limit = retry_limit(e);
	json *routes;

	if (merges && action_kind(e->action) == ACTION_AGENT) {
		end_resolution(e);
		return 0;
	}
	if (merges || action_kind(e->action) != ACTION_SCRIPT)
		e->answer = verdict_json(action_text(r->doc, e->action));
	again = observe_end(e, limit);
	if ((!again || e->update) && node_ask_project(e, err) < 0)
		return -1;
	emit_events(e);
	if (again) {
		retry(e, limit);
		return 0;
	}
	routes = choose_routes(e);
	JSON_ADD(context_event(r->e->file, "node"), JSON_TEXT("node", node_of(e)->id),
		JSON_TEXT("action", json_get_str(e->action, "id")), JSON_TEXT("status", status),
		JSON_VALUE("routes", json_copy(routes)));
	json_set(e->action, "ended", json_string(str_of(status)));
	json_set(e->action, "routes", routes);
	action_store(r->doc, r->outstanding);
	if (ends_run(e))
		abort_nodes(e);
	return 0;
}

/* ---- all of them ---- */

static void note_skipped(struct engine_run *r, const struct declared_state *d)
{
	struct node_view v;

	node_view_load(&r->arena, r->doc, d, r->outstanding, &v);
	for (size_t i = 0; i < d->n; i++) {
		const char *node = d->items[i].writes;
		const char *key = count_key(&r->arena, "skip", node);

		if (v.status[i] != ITEM_SKIPPED || context_attempts(r->doc, key))
			continue;
		(void)context_next_attempt(r->doc, key);
		JSON_ADD(context_event(r->e->file, "node_skipped"), JSON_TEXT("node", node));
	}
}

int engine_end_nodes(struct engine_run *r, const struct step_context *c, struct error *err)
{
	const struct declared_state *d = c->declared;
	const json *next;

	if (d->manifest->reads_project && show_project(r, err) < 0)
		return -1;
	for (const json *a = json_first(r->outstanding); a; a = next) {
		CLEANUP(node_end_release)
		struct node_end e = {.r = r, .d = d, .action = (json *)a};
		const struct declared_action *it =
			workflow_item(d, json_get_str(a, "write_section"));
		const struct declared_outcome *o =
			it && action_answered(r->doc, a) ? node_outcome(r->doc, it, a) : NULL;

		next = json_next(a);
		if (!o || json_get(a, "ended"))
			continue;
		if (o == it->outcomes && it->evidence.kinds &&
			!json_has_text(c->checked, json_get_str(a, "id")))
			continue;
		e.node = (size_t)(it - d->items);
		e.how = (enum node_status)(o - it->outcomes);
		if (end_node(&e, err) < 0)
			return -1;
		if (engine_is_terminal(r->e->workflow, engine_state(r)))
			return 0;
	}
	note_skipped(r, d);
	return 0;
}
