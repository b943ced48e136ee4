#include "context/file.h"
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/event/event.h"
#include "src/graph/manifest.h"
#include "src/machine/brief.h"
#include "src/policy/policy.h"
#include "src/run/run_internal.h"
#include "src/sandbox/sandbox.h"
#include "src/setup/setup.h"
#include "src/sys/process.h"
#include "steps/steps.h"

enum { CHAIN_MAX = 8 };

/* ---- the pipeline ---- */

int run_setup_shared(struct arena *a, struct run_item *r, struct error *err)
{
	const struct run_request *q = r->request;
	struct pipeline_choice choice = {.name = q->pipeline,
		.resources = q->resources,
		.repo = r->call.repo,
		.missing = ERR_USAGE};
	struct parallelism resolved;

	if (locate_artifacts(a, q->artifacts, r->call.repo, &r->artifacts, err) < 0)
		return -1;
	choice.artifacts = r->artifacts;
	if (q->pipeline && locate_pipeline(a, &choice, &r->resources, &r->pipeline, err) < 0)
		return -1;
	r->max_concurrent = q->max_concurrent ? (unsigned)q->max_concurrent : 1;
	if (q->max_concurrent || !r->pipeline)
		return 0;
	parallelism_resolve(a, &r->resources, r->pipeline, parallelism_mode(), &resolved);
	r->max_concurrent = resolved.max;
	return event_report_parallelism(r->artifacts, r->pipeline, &resolved, err);
}

/* ---- the worktree ---- */

/* Of the pipeline's pattern, in which each placeholder stands for the work item's id. */
static char *branch_of(struct arena *a, const char *id, const struct pipeline *p)
{
	static const char *const placeholders[] = {"{issueId}", "{issueNumber}", "{id}"};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct str rest = str_of(p && p->branch_pattern ? p->branch_pattern : "dev-team/{id}");

	while (rest.n) {
		size_t i = 0;

		while (i < COUNT(placeholders) && !str_starts(rest, placeholders[i]))
			i++;
		if (i < COUNT(placeholders))
			buf_adds(&out, id);
		else
			buf_addc(&out, rest.p[0]);
		rest = str_sub(rest, i < COUNT(placeholders) ? strlen(placeholders[i]) : 1, rest.n);
	}
	return arena_dup(a, buf_str(&out));
}

int run_pool_open(struct arena *a, const struct run_worktree *w, const char *repo, struct pool *out,
	struct error *err)
{
	const struct pool_choice choice = {.resources = w->resources, .repo = repo};
	struct worktree_pool_spec spec;
	char *state;

	if (w->pool)
		spec = *w->pool;
	else if (locate_pool_spec(a, &choice, &spec, err) < 0)
		return -1;
	return context_state_directory(a, &state, err) < 0
		       ? -1
		       : pool_open(a, &spec, repo, state, w->artifacts, out, err);
}

/* All of its stages are to run in the user's checkout. */
static bool is_in_place(const struct pipeline *p)
{
	for (size_t i = 0; p && i < p->n_stages; i++)
		if (p->stages[i].isolation != ISOLATION_INPLACE || !p->stages[i].isolation_declared)
			return false;
	return p && p->n_stages;
}

/* The first step makes the worktree. It outlives the run: its branch may wait for a merge (`pool
 * reclaim`, `pool sweep`). */
static int plan_worktree(struct arena *a, struct run_item *r, struct error *err)
{
	const struct pipeline *p = r->pipeline;

	if (strcmp(branch_of(a, "1", p), branch_of(a, "2", p)) == 0)
		return error_set(err, ERR_INPUT,
			"branching.pattern '%s' gives all work items one branch: it needs "
			"{issueId}",
			p->branch_pattern);
	r->worktree = (struct run_worktree){.arena = a,
		.resources = r->request->resources,
		.artifacts = r->artifacts,
		.branch = branch_of(a, r->call.id, p),
		.target = p ? p->target_branch : NULL,
		.run = arena_printf(a, "run %s", r->call.id),
		.parent = r->request->parent,
		.slots = (unsigned)r->request->slots};
	r->call.worktree = &r->worktree;
	r->call.in_place |= !r->call.own_worktree && is_in_place(p);
	r->call.run = p ? r : NULL;
	if (!p)
		return 0;
	r->worktree.pool = resources_pool(&r->resources, p->worktree_pool);
	if (!r->worktree.pool)
		r->worktree.pool = locate_item_pool(&r->resources);
	return 0;
}

/* Of an action of a child; its worktree is there. */
static int find_child_place(struct arena *a, const struct run_item *r, const json *action,
	struct run_item *out, struct error *err)
{
	const char *id = json_get_str(action, "id");
	CLEANUP(pool_close) struct pool pool = {0};
	struct allocate_ask ask = {0};
	bool created;

	out->call.context_file = json_dup(a, action, "context_file");
	out->call.id = arena_dup(a, (struct str){id, strcspn(id, "/")});
	ask.branch = arena_printf(a, "dev-team/%s", out->call.id);
	if (run_pool_open(a, &r->worktree, r->call.repo, &pool, err) < 0)
		return -1;
	pool.artifacts = NULL;
	return pool_allocate(a, &pool, &ask, &out->worktree.of, &created, err);
}

int run_setup_action(struct arena *a, const struct run_item *r, const json *action,
	struct run_item *out, struct error *err)
{
	const struct allocation *of = &out->worktree.of;

	*out = *r;
	if (!json_str_is(action, "context_file", r->call.context_file) &&
		find_child_place(a, r, action, out, err) < 0)
		return -1;
	return of->path && setenv("PORT", arena_printf(a, "%u", of->port), 1) < 0
		       ? error_errno(err, "cannot set PORT")
		       : 0;
}

void run_setup_entered(struct run_item *r)
{
	const struct allocation *of = &r->worktree.of;

	if (of->path && !r->entered)
		error_log("dev-team: %s works in '%s', port %u", r->call.id, of->path, of->port);
	r->entered = of->path != NULL;
}

void run_setup_undo(struct arena *a, struct run_item *r)
{
	CLEANUP(pool_close) struct pool pool = {0};
	struct error ignored;
	bool removed;

	if (r->worktree.created &&
		run_pool_open(a, &r->worktree, r->call.repo, &pool, &ignored) == 0)
		(void)pool_reclaim(a, &pool, r->worktree.of.path, false, &removed, &ignored);
}

/* ---- harnesses and models ---- */

/* `a,b,c`: a harness and its fallbacks. */
int run_read_harnesses(struct arena *a, const char *text, struct text_list *out, struct error *err)
{
	struct str rest = str_of(text), item;
	const struct harness *h;

	while (str_next_item(&rest, &item)) {
		const char *name = arena_dup(a, item);

		if (out->n == CHAIN_MAX)
			return error_set(
				err, ERR_USAGE, "--harness has more than %d names", CHAIN_MAX);
		if (harness_find(name, &h, err) < 0) {
			err->code = ERR_USAGE;
			return error_prefix(err, "--harness");
		}
		chain_add_name(a, out, name);
	}
	return 0;
}

/* The first harness must be available; unavailable fallbacks are dropped. */
static int probe_chain(struct arena *a, struct run_item *r, struct error *err)
{
	struct text_list kept = {0};

	for (size_t i = 0; i < r->chain.n; i++) {
		const char *name = r->chain.list[i], *reason;
		const struct harness_availability *is;
		const struct harness *h;

		if (harness_find(name, &h, err) < 0)
			return -1;
		is = harness_available(h);
		if (is->available) {
			chain_add_name(a, &kept, name);
			continue;
		}
		reason = harness_reason_names[is->reason];
		if (i) {
			error_log("dev-team: fallback '%s' is dropped: %s: %.600s", name, reason,
				is->detail);
			continue;
		}
		if (event_report(r->artifacts, EVENT_HARNESS_UNAVAILABLE, r->call.id, NULL,
			    JSON_OBJECT(JSON_TEXT("harness", name), JSON_TEXT("reason", reason),
				    JSON_TEXT("detail", is->detail)),
			    err) < 0)
			return -1;
		return error_set(err, ERR_SYSTEM, "harness '%s' cannot be used: %s: %.600s", name,
			reason, is->detail);
	}
	r->chain = kept;
	return 0;
}

/* The first harness must take the id; a fallback runs its own default model. */
static int check_model(const struct run_item *r, const struct model_resolved *m, struct error *err)
{
	const struct harness *h;
	bool fits;

	for (size_t i = 0; i < r->chain.n; i++) {
		const char *name = r->chain.list[i];

		if (harness_find(name, &h, err) < 0)
			return -1;
		if (harness_model(h, m, &fits))
			continue;
		if (i == 0 && !fits)
			return error_set(err, ERR_USAGE, "--model: harness '%s' has no model '%s'",
				name, m->asked);
		error_log("dev-team: '%s' has no model '%s': using its default", name, m->asked);
	}
	return 0;
}

/* The model of --harness, which has no stages. */
static int check_run_model(struct run_item *r, struct error *err)
{
	const char *model = r->request->model;
	struct model_resolved m;

	if (r->pipeline && !model)
		return 0;
	if (model_resolve(&r->models, model, NULL, clock_now(), &m, err) < 0 ||
		harness_emit_model(r->artifacts, NULL, &m, err) < 0)
		return -1;
	return model ? check_model(r, &m, err) : 0;
}

static bool is_agent_of(
	struct arena *a, const struct run_item *r, const struct workflow *w, const char *name)
{
	struct instructions role;
	struct error ignored;

	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->declared[i].n; k++) {
			const char *agent = w->declared[i].items[k].agent;

			if (agent && strcmp(agent, name) == 0)
				return true;
		}
	return instructions_agent(a, r->plugin_root, r->call.repo, name, &role, &ignored) == 0 &&
	       role.path;
}

/* A stage is named STATE, STATE-AGENT or AGENT; see run_agent_stage(). */
static bool is_stage_of(
	struct arena *a, const struct run_item *r, const struct workflow *w, const char *name)
{
	for (size_t i = 0; i < w->n_states; i++) {
		size_t n = strlen(w->states[i].name);

		if (strncmp(name, w->states[i].name, n) == 0 &&
			(!name[n] || (name[n] == '-' && is_agent_of(a, r, w, name + n + 1))))
			return true;
	}
	return is_agent_of(a, r, w, name);
}

/* Its pipeline is that of the item. */
static bool has_children(const struct workflow *w)
{
	for (size_t i = 0; i < w->n_declared; i++)
		for (size_t k = 0; k < w->declared[i].n; k++)
			if (w->declared[i].items[k].child)
				return true;
	return false;
}

/* A misspelt stage would otherwise run with the defaults, unnoticed. */
static int check_stages(struct arena *a, const struct run_item *r, struct error *err)
{
	const struct pipeline *p = r->pipeline;
	struct workflow w;

	if (manifest_workflow_load(a, r->call.workflow, &w, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages && !has_children(&w); i++)
		if (!is_stage_of(a, r, &w, p->stages[i].name))
			return error_at(err, p->file, p->stages[i].line, p->stages[i].col,
				"stage '%s' is named after no state and no agent of the workflow: "
				"it would never run",
				p->stages[i].name);
	return 0;
}

/* The model of each stage is fixed before the first one runs, and each can run on its harness. */
static int load_pipeline(struct arena *a, struct run_item *r, struct error *err)
{
	struct pipeline_question q = {.pipeline = r->pipeline,
		.registry = &r->models,
		.pool = r->worktree.pool,
		.artifacts = r->artifacts,
		.now = clock_now()};

	if (harness_pin_models(a, &q, r->call.id, &r->pins, err) < 0 || check_run_model(r, err) < 0)
		return -1;
	if (r->chain.n)
		return 0;
	if (harness_check_pipeline(a, &q, &r->check, err) < 0)
		return -1;
	for (size_t i = 0; i < r->check.notes.n; i++)
		if (!r->check.notes.items[i].fault)
			error_log("dev-team: stage '%s': %s", r->check.notes.items[i].stage->name,
				r->check.notes.items[i].text);
	return pipeline_check_fault(&r->check, r->pipeline, err);
}

/* The first of the harnesses that may run agents whose client has hooks, or has none. */
static const char *find_program(struct arena *a, const struct run_item *r, bool hooks)
{
	const struct pipeline *p = r->pipeline;
	size_t n = p && !r->chain.n ? p->n_stages : 0;
	const struct harness *h;
	struct error ignored;

	for (size_t s = 0; s <= n; s++) {
		struct text_list chain = run_agent_harnesses(a, r, s ? &p->stages[s - 1] : NULL);

		for (size_t i = 0; i < chain.n; i++)
			if (harness_find(chain.list[i], &h, &ignored) == 0 && h->binary &&
				h->has_hooks == hooks)
				return h->name;
	}
	return NULL;
}

/* As in the client: `developer`, unless the settings say otherwise. */
static int load_policy(struct arena *a, struct run_item *r, struct error *err)
{
	const char *version, *other = find_program(a, r, false);
	struct settings settings;
	struct policy policy;

	if (settings_load(a, r->call.repo, &settings, err) < 0)
		return -1;
	r->policy = settings.policy ? settings.policy : "developer";
	if (strcmp(r->policy, "none") == 0) {
		r->policy = NULL;
		return 0;
	}
	r->contain = settings.policy != NULL;
	if (policy_load(a, r->policy, &policy, err) < 0)
		return error_prefix(err, "the 'policy' of " SETTINGS_FILE);
	if (r->contain && other && policy.network == NETWORK_NONE && !policy.hosts.n)
		return error_set(err, ERR_INPUT,
			"the policy '%s' of " SETTINGS_FILE
			" has neither 'hosts' nor 'network: host', and '%s' runs under it as a "
			"whole and must reach its service (docs/policy.md)",
			policy.name, other);
	if (r->call.in_place || (!find_program(a, r, true) && !(r->contain && other)) ||
		sandbox_probe(a, &version, err) == 0)
		return 0;
	return error_prefix(err, "agents need a sandbox, unless " SETTINGS_FILE
				 " has 'policy: none' (docs/policy.md)");
}

static int load_real_agents(struct arena *a, struct run_item *r, struct error *err)
{
	const struct run_request *q = r->request;

	if (harness_read_env(a, "--pass-env", q->pass_env, false, &r->pass_env, err) < 0 ||
		locate_plugin(a, q->call.plugin_root, &r->plugin_root, err) < 0 ||
		(q->harness && run_read_harnesses(a, q->harness, &r->chain, err) < 0) ||
		locate_models(a, NULL, r->call.repo, &r->models, err) < 0)
		return -1;
	if (r->pipeline ? load_pipeline(a, r, err) < 0 || check_stages(a, r, err) < 0
			: check_run_model(r, err) < 0)
		return -1;
	return probe_chain(a, r, err) < 0 ? -1 : load_policy(a, r, err);
}

/* The script's answer is played, so that the repository needs none. */
static bool plays_validation(const struct scripted_agents *s)
{
	for (size_t i = 0; i < s->scripts.n; i++)
		if (strcmp(s->scripts.list[i].key, STEPS_VALIDATION) == 0 ||
			strstr(s->scripts.list[i].key, "/validating/"))
			return true;
	return false;
}

/* Whether an action of the workflow has this id, or writes this section. */
static bool is_key_of(struct arena *a, const struct run_item *r, const struct workflow *w,
	struct str key, unsigned depth);

/* The same of a child of an item. */
static bool is_key_below(struct arena *a, const struct run_item *r, const struct workflow *w,
	const struct declared_action *item, struct str key, unsigned depth)
{
	struct workflow child;
	struct error ignored;
	const char *path;

	return item->child && depth < RUN_DEPTH_MAX &&
	       run_child_workflow(a, w->file, item->workflow, r->call.plugin_root, r->call.repo,
		       &path, &ignored) == 0 &&
	       manifest_workflow_load(a, path, &child, &ignored) == 0 &&
	       is_key_of(a, r, &child, key, depth + 1);
}

static bool is_key_of(struct arena *a, const struct run_item *r, const struct workflow *w,
	struct str key, unsigned depth)
{
	static const char *const others[] = {CONTEXT_PULL_REQUEST, CONTEXT_TROUBLE_LOG, NULL};
	const char *state = arena_dup(a, run_action_state(arena_dup(a, key)));

	if (memchr(key.p, '/', key.n)
			? strcmp(state, "troubleshooter") == 0 || workflow_state(w, state) ||
				  (w->n_declared && w->declared->manifest &&
					  workflow_item(w->declared, state))
			: str_starts(key, CONTEXT_FIX) || str_in(key, others))
		return true;
	for (size_t i = 0; i < w->n_states; i++) {
		const struct step *step = steps_find(w, w->states[i].name);
		const struct declared_state *d = w->states[i].declared;

		if (!d && step &&
			((step->answer && str_is(key, step->answer)) ||
				(step->verdicts && str_in(key, step->verdicts))))
			return true;
		for (size_t k = 0; d && k < d->n; k++)
			if (str_is(key, d->items[k].writes) ||
				is_key_below(a, r, w, &d->items[k], key, depth))
				return true;
	}
	return false;
}

/* A misspelt key would leave its action to a real agent, or without an answer. */
static int report_unused(struct arena *a, const struct run_item *r, struct error *err)
{
	const struct scripted_entries *both[] = {&r->scripted.answers, &r->scripted.scripts};
	struct workflow w;

	if (manifest_workflow_load(a, r->call.workflow, &w, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(both); i++)
		for (size_t k = 0; k < both[i]->n; k++) {
			const struct scripted_entry *e = &both[i]->list[k];

			if (!is_key_of(a, r, &w, str_of(e->key), 0))
				error_log("%s:%u:%u: unused key '%s': no action of the workflow "
					  "has this id or section",
					r->scripted.file, e->line, e->col, e->key);
		}
	return 0;
}

int run_setup(struct arena *a, struct run_item *r, struct error *err)
{
	const struct run_request *q = r->request;

	r->real = q->harness || q->pipeline;
	r->keeper = process_own_name(a);
	if (run_setup_shared(a, r, err) < 0 || plan_worktree(a, r, err) < 0)
		return -1;
	if (q->agents && (scripted_load(a, q->agents, &r->scripted, err) < 0 ||
				 report_unused(a, r, err) < 0))
		return -1;
	r->scripted.others = r->real;
	r->call.scripted = !r->real;
	r->call.validated = plays_validation(&r->scripted);
	return r->real && (load_real_agents(a, r, err) < 0 || run_quota_check(a, r, err) < 0) ? -1
											      : 0;
}
