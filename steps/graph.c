/*
 * graph.c: the state of a manifest. What is ready is requested, with the prompt of its persona and
 * the answers of the nodes that chose it; when nothing is left, the run has succeeded unless a node
 * failed and no edge was taken for it.
 */
#include "src/machine/node.h"
#include "steps/steps.h"

/* ---- the brief of a node ---- */

struct prompt_values {
	struct step_context *c;
	const struct manifest *m;
	const struct manifest_node *n;
};

static const char *steps_graph_value_of(const struct prompt_values *v, struct str name)
{
	struct step_context *c = v->c;
	const char *const values[] = {c->id, v->n->id, v->n->actor->name,
		v->n->block_name ? v->n->block_name : "", v->n->task ? v->n->task : "",
		arena_printf(c->arena, "%lu", 1 + node_retries(c->arena, c->doc, v->n->id))};
	unsigned at;

	if (str_index(name, template_names, &at))
		return values[at];
	for (size_t i = 0; i < v->m->n_variables; i++)
		if (str_is(name, v->m->variables[i].name))
			return v->m->variables[i].value;
	return "";
}

static void steps_graph_add_value(void *data, struct str name, struct buf *out)
{
	buf_adds(out, steps_graph_value_of(data, name));
}

/* The events of the run that the persona subscribed to. */
static void steps_graph_add_events(
	struct step_context *c, const struct manifest_persona *p, struct buf *out)
{
	struct str rest = context_section(c->doc, MANIFEST_EVENTS), line;
	bool any = false;

	while (p->subscribes.n && str_line(&rest, &line)) {
		CLEANUP(json_free) json *event = NULL;
		struct error ignored;
		bool wanted = false;

		if (json_parse(&event, line, &ignored) < 0 || !json_get_str(event, "event"))
			continue;
		for (size_t i = 0; i < p->subscribes.n; i++)
			wanted |= json_str_is(event, "event", p->subscribes.list[i]);
		if (!wanted)
			continue;
		buf_adds(out, any ? "" : "\n\nEvents of this run:\n");
		buf_addf(out, "\n- %.*s", (int)line.n, line.p);
		any = true;
	}
}

static const char *prompt_of(
	struct step_context *c, const struct manifest *m, const struct manifest_node *n)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct prompt_values values = {c, m, n};

	(void)template_render(str_of(n->actor->prompt), steps_graph_add_value, &values, &out);
	steps_graph_add_events(c, n->actor, &out);
	return arena_dup(c->arena, str_trim(buf_str(&out)));
}

static void add_read(struct step_context *c, struct step_request *r, const char *section)
{
	for (size_t i = 0; i < r->reads.n; i++)
		if (!strcmp(r->reads.items[i], section))
			return;
	steps_add_reads(c, r, section);
}

/* The answers of the nodes that chose it, and what it names. A child has no `Earlier` of its own.
 */
static void add_handoff(
	struct step_context *c, const struct node_view *v, size_t node, struct step_request *r)
{
	const struct manifest *m = c->declared->manifest;
	const char *earlier = arena_printf(c->arena, CONTEXT_EARLIER "%s", m->nodes[node].id);

	if (m->in_first[node] == m->in_first[node + 1] && r->kind == ACTION_AGENT)
		add_read(c, r, CONTEXT_SPEC);
	for (size_t k = m->in_first[node]; k < m->in_first[node + 1]; k++)
		if (v->taken[m->in_edges[k]])
			add_read(c, r, m->edges[m->in_edges[k]].from);
	for (size_t i = 0; i < m->nodes[node].reads.n; i++)
		add_read(c, r, m->nodes[node].reads.list[i]);
	if (r->kind == ACTION_CHILD && context_has_section(c->doc, earlier))
		add_read(c, r, earlier);
}

static const char *format_of(struct step_context *c, const struct declared_action *item)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < item->n_outcomes; i++)
		buf_addf(&text, "%s%s", i ? " | " : "", item->outcomes[i].word);
	return arena_dup(c->arena, buf_str(&text));
}

/* ---- merges ---- */

/* The program's own command: no policy applies to it. */
static struct step_request *request_merge(
	struct step_context *c, const struct node_view *v, const struct manifest_node *n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *last = node_merge_report(c->arena, c->doc, n->id);
	const struct declared_action *item = workflow_item(c->declared, n->id);
	const json *of = n->merge_node < SIZE_MAX ? v->actions[n->merge_node] : NULL;
	struct step_request *r;

	buf_adds(&text, "dev-team merge --json");
	if (n->close)
		buf_adds(&text, " --close");
	else
		buf_addf(&text, " --context-file \"$DEV_TEAM_CONTEXT_FILE\" %s",
			steps_quote(c, of && json_get_str(of, "item") ? json_get_str(of, "item")
								      : n->merge));
	if (json_get_str(last, "head"))
		buf_addf(&text, " --since %s", steps_quote(c, json_get_str(last, "head")));
	r = steps_request_command(c, MANIFEST_STATE, "", item->timeout_s, item->writes);
	r->command = arena_dup(c->arena, buf_str(&text));
	r->policy = r->violation = NULL;
	return r;
}

/* What the resolver is to do, whatever its persona says. */
static const char *resolution(
	struct step_context *c, const struct manifest_node *n, const char *prompt)
{
	CLEANUP(json_free) json *last = node_merge_report(c->arena, c->doc, n->id);
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *branch = json_get_str(last, "branch");

	buf_addf(&out,
		"%s\n\n`%s` conflicts with the branch that is checked out. Run `git merge "
		"--no-edit %s`, resolve each conflict so that both sides keep their meaning, "
		"leave no markers, and commit the merge. End with `success` once it is committed; "
		"with `failure` if it cannot be resolved at all.",
		prompt, branch ? branch : n->merge, branch ? branch : n->merge);
	for (const json *p = json_first(json_get(last, "paths")); p; p = json_next(p))
		buf_addf(&out, "%s`%.400s`",
			p == json_first(json_get(last, "paths")) ? "\n\nIn conflict: " : ", ",
			json_text(p));
	return arena_dup(c->arena, buf_str(&out));
}

static struct step_request *request_resolution(
	struct step_context *c, const struct declared_action *item)
{
	return steps_request_agent(c, "", item->agent, item->skill, item->writes,
		"success | validation_fail | failure", STEPS_READS(NULL));
}

/* ---- requests ---- */

/* Nothing but an answer to this request may be taken for one. */
static void request_node(struct step_context *c, const struct node_view *v, size_t node)
{
	const struct manifest_node *n = &c->declared->manifest->nodes[node];
	const struct declared_action *item = &c->declared->items[node];
	bool merges = manifest_node_merges(n),
	     resolving = merges && node_is_resolving(c->arena, c->doc, n->id);
	struct step_request *r;

	context_remove(c->doc, item->writes);
	if (resolving)
		r = request_resolution(c, item);
	else if (merges)
		r = request_merge(c, v, n);
	else if (item->command)
		r = steps_request_command(
			c, MANIFEST_STATE, item->command, item->timeout_s, item->writes);
	else if (item->child)
		r = steps_request_child(c, item, format_of(c, item));
	else
		r = steps_request_agent(c, "", item->agent, item->skill, item->writes,
			format_of(c, item), STEPS_READS(NULL));
	r->node = n;
	r->message = arena_printf(c->arena, "%s: %s", MANIFEST_STATE, n->id);
	if (merges && !resolving)
		r->format = format_of(c, item);
	if (r->agent) {
		r->args = item->skill ? c->id : NULL;
		r->prompt = prompt_of(c, c->declared->manifest, n);
	}
	if (resolving)
		r->prompt = resolution(c, n, r->prompt);
	if (r->kind != ACTION_SCRIPT)
		add_handoff(c, v, node, r);
}

/* An answer that has not ended its node: its claim must be verified, or it has no word. */
static void look_at(struct step_context *c, const struct declared_action *item, const json *action)
{
	const struct declared_outcome *o = node_outcome(c->doc, item, action);
	struct step_claim claim = {.section = item->writes,
		.kinds = item->evidence.kinds,
		.script = action_kind(action) == ACTION_SCRIPT,
		.declared = true};

	vec_push_in(c->arena, &c->answers,
		(struct step_answer){
			item->writes, json_get_str(action, "result_format"), o ? o->word : ""});
	if (o)
		vec_push_in(c->arena, &c->claims, claim);
}

static void steps_graph_request(struct step_context *c)
{
	const struct declared_state *d = c->declared;
	struct node_view v;

	node_view_load(c->arena, c->doc, d, c->actions, &v);
	for (size_t i = 0; i < d->n; i++) {
		c->open |= v.status[i] == ITEM_DISPATCHED;
		if (v.status[i] == ITEM_READY)
			request_node(c, &v, i);
		else if (v.status[i] == ITEM_ANSWERED && !v.ended[i])
			look_at(c, &d->items[i], v.actions[i]);
	}
}

/* ---- the decision ---- */

static bool is_handled(const struct manifest *m, const struct node_view *v, size_t node)
{
	for (size_t k = m->out_first[node]; k < m->out_first[node + 1]; k++)
		if (v->taken[m->out_edges[k]])
			return true;
	return false;
}

static void steps_graph_decide(struct step_context *c)
{
	CLEANUP(buf_release) struct buf failures = BUF_INIT;
	const struct declared_state *d = c->declared;
	struct node_view v;

	node_view_load(c->arena, c->doc, d, c->actions, &v);
	for (size_t i = 0; i < d->n; i++)
		if (v.ended[i] && v.how[i] != NODE_SUCCESS && !is_handled(d->manifest, &v, i))
			steps_add_failure(c, &failures, d->items[i].writes);
	steps_set_trigger(c, failures.len ? "failure" : "success");
	if (failures.len)
		context_put(c->doc, CONTEXT_LAST_FAILURE, buf_str(&failures));
}

const struct step steps_graph = {
	.state = "(" MANIFEST_STATE ")",
	.about = "the state of a manifest",
	.pending = MANIFEST_STATE,
	.triggers = (const char *const[]){NULL}, /* they are the manifest's */
	.together = true,
	.request = steps_graph_request,
	.decide = steps_graph_decide,
};
