#include "context/lease.h"
#include "src/artifact/run_state.h"
#include "src/base/clock.h"
#include "src/base/path.h"
#include "src/cli/common.h"
#include "src/cli/run_staff.h"
#include "src/cli/run_worktree.h"
#include "src/machine/brief.h"
#include "src/pool/gate.h"

enum { TIMEOUT_S = 1800 }; /* of an agent, where neither the command line nor its stage says */

/* One action on its way through a harness. */
struct serving {
	const struct staff *staff;
	const json *action;
	const char *id, *stage; /* stage: the name that it has in the pipeline, or of its state */
	const struct stage_spec
		*spec; /* NULL: the pipeline has none for it, or there is no pipeline */
	struct model_resolved model;
	struct chain chain;
	int64_t beaten;    /* when state.json was written last */
	struct gate *gate; /* NULL: the stage needs none */
	struct arena *arena;
};

/* The middle of `ADR-7/researching/1`. */
static const char *state_of(struct arena *a, const char *id)
{
	const char *first = strchr(id, '/'), *last = strrchr(id, '/');

	if (!first || last <= first)
		return id;
	return arena_dup(a, (struct str){first + 1, (size_t)(last - first - 1)});
}

/* The stage named STATE-AGENT, STATE or AGENT, the first that there is. */
static const struct stage_spec *spec_of(
	struct arena *a, const struct pipeline *p, const char *state, const char *agent)
{
	const char *const names[] = {arena_printf(a, "%s-%s", state, agent), state, agent};

	for (size_t i = 0; p && i < COUNT(names); i++)
		if (pipeline_stage(p, names[i]))
			return pipeline_stage(p, names[i]);
	return NULL;
}

/* As --harness says, else those of the stage that are left; what has no stage runs on the
 * pipeline's default. */
static struct words candidates(struct arena *a, const struct serving *s)
{
	const struct staff *t = s->staff;
	const char **list;
	size_t n = 0;

	if (t->chain.n || !t->pipeline)
		return t->chain;
	if (s->spec)
		return t->load.stages[s->spec - t->pipeline->stages].chain;
	list = arena_alloc(a, (t->pipeline->default_fallback.n + 1) * sizeof(*list));
	list[n++] = t->pipeline->default_harness;
	for (size_t i = 0; i < t->pipeline->default_fallback.n; i++)
		list[n++] = t->pipeline->default_fallback.list[i];
	return (struct words){list, n};
}

static const char *model_for(void *data, const char *name)
{
	const struct serving *s = data;
	const struct harness *h;
	struct error ignored;
	bool fits;

	return harness_find(name, &h, &ignored) < 0 ? NULL : harness_model(h, &s->model, &fits);
}

static void write_state(const struct staff *s, const char *stage, enum run_status status)
{
	struct run_state now = {
		.issue = s->id, .stage = stage, .status = status, .worktree = s->repo};
	struct arena a = {0};
	struct error ignored;
	struct run_state was;
	bool there = false;

	if (run_state_read(&a, s->artifacts, s->id, &was, &there, &ignored) == 0 && there &&
		was.status == RUN_RUNNING)
		now.started = was.started;
	if (!now.started)
		now.started = clock_now();
	(void)run_state_write(s->artifacts, &now, &ignored);
	arena_release(&a);
}

void staff_state(const struct staff *s, const char *stage, bool over, bool good)
{
	write_state(s, stage, !over ? RUN_RUNNING : good ? RUN_SUCCESS : RUN_FAILURE);
}

/* An agent may work longer than the lease of the work item lasts without an answer. */
static void keep_lease(const struct staff *s)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct holder h;

	if (context_open(&f, s->context_file, CONTEXT_MUST_EXIST, &ignored) < 0 ||
		lease_read(&f, &h, &ignored) < 0 || !h.live || h.until - clock_now() > h.ttl_s / 2)
		return;
	(void)context_op(&f, "run");
	lease_renew(&f, &h);
	(void)context_log(&f, &ignored);
}

static void listen(void *data, const struct harness_event *e)
{
	struct serving *s = data;
	int64_t now = clock_now();
	struct error ignored;

	(void)e;
	if (now >= s->beaten && now - s->beaten < HEARTBEAT_S)
		return;
	s->beaten = now;
	write_state(s->staff, s->stage, RUN_RUNNING);
	keep_lease(s->staff);
	/* One that has lost it is ended by who took it: its processes carry the hold. */
	if (s->gate)
		(void)gate_check(s->gate, &ignored);
}

static int make_prompt(
	struct serving *s, struct buf *prompt, struct instructions *role, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct instructions skill;
	const struct staff *t = s->staff;

	if (instructions_agent(
		    s->arena, t->root, t->repo, json_get_str(s->action, "agent"), role, err) < 0 ||
		instructions_skill(s->arena, t->root, t->repo, json_get_str(s->action, "skill"),
			json_get_str(s->action, "args"), &skill, err) < 0)
		return -1;
	if (context_open(&f, t->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	return brief_prompt(&f, s->id, role, &skill, prompt, err);
}

static int tell(const struct serving *s, enum happening_id what, json *fields, struct error *err)
{
	struct happening h = {
		.what = what, .issue = s->staff->id, .stage = s->stage, .fields = fields};
	int rc = happening_tell(s->staff->artifacts, &h, err);

	json_free(&fields);
	return rc;
}

/* Nothing independent is left: told, and then as the stage's failure policy says. */
static int violated(struct serving *s, struct error *err)
{
	const struct staff *t = s->staff;

	if (chain_tell_violation(t->artifacts, t->id, s->spec, &s->chain, err) < 0)
		return -1;
	if (chain_violation_strategy(s->spec) != FAILURE_CONTINUE)
		return error_set(err, ERR_STATE,
			"no independent harness for '%s': all of its chain has run the stages that "
			"it must be independent of",
			s->stage);
	say("dev-team: '%s' runs on a harness that it should be independent of", s->stage);
	s->chain.effective = s->chain.declared;
	return 0;
}

static int choose_chain(struct serving *s, struct error *err)
{
	struct words independent_of = {0};
	struct ran *ran;
	size_t n;

	if (chain_ran(s->arena, s->staff->artifacts, s->staff->id, &ran, &n, err) < 0)
		return -1;
	if (s->spec)
		independent_of = s->spec->independent_of;
	chain_filter(s->arena, candidates(s->arena, s), independent_of, ran, n, &s->chain);
	return s->chain.violated && s->spec ? violated(s, err) : 0;
}

/* As it was pinned when the run began, unless --model says another. */
static int choose_model(struct serving *s, struct error *err)
{
	const struct staff *t = s->staff;
	const struct pipeline *p = t->pipeline;

	if (s->spec && !t->model) {
		s->model = t->pins[s->spec - p->stages].model;
		return 0;
	}
	if (model_resolve(&t->models, t->model, p ? p->default_model : NULL, clock_now(), &s->model,
		    err) < 0)
		return error_prefix(err, "stage '%s'", s->stage);
	return 0;
}

static int begin(struct serving *s, struct error *err)
{
	const struct staff *t = s->staff;
	const char *state;

	s->id = json_get_str(s->action, "id");
	state = state_of(s->arena, s->id);
	s->spec = spec_of(s->arena, t->pipeline, state, json_get_str(s->action, "agent"));
	s->stage = s->spec ? s->spec->name : state;
	return choose_model(s, err) < 0 ? -1 : choose_chain(s, err);
}

static unsigned timeout_of(const struct serving *s)
{
	if (s->staff->timeout_s)
		return s->staff->timeout_s;
	return s->spec && s->spec->timeout_s ? (unsigned)s->spec->timeout_s : TIMEOUT_S;
}

static json *note_of(
	const struct serving *s, const struct harness *h, const struct harness_result *r)
{
	json *note = json_object();

	json_put_str(note, "action", str_of(s->id));
	json_put_str(note, "harness", str_of(h ? harness_name(h) : ""));
	if (r->model)
		json_put_str(note, "model", str_of(r->model));
	json_put_str(note, "status", str_of(harness_status_word(r->status)));
	if (r->detail)
		json_put_str(note, "detail", str_of(r->detail));
	json_put_int(note, "ms", r->ms);
	if (r->input_tokens >= 0)
		json_put_int(note, "input_tokens", r->input_tokens);
	if (r->output_tokens >= 0)
		json_put_int(note, "output_tokens", r->output_tokens);
	if (r->cost_usd >= 0)
		json_put_number(note, "cost_usd", r->cost_usd);
	return note;
}

/* What other stages and people must know of how it ended. */
static int tell_end(const struct serving *s, const struct harness *h,
	const struct harness_result *r, struct error *err)
{
	json *fields;

	if (r->status != HARNESS_TIMEOUT && r->status != HARNESS_BUDGET)
		return 0;
	fields = json_object();
	json_put_str(fields, "harness", str_of(harness_name(h)));
	if (r->status == HARNESS_TIMEOUT) {
		json_put_int(fields, "seconds", timeout_of(s));
		return tell(s, HAPPENED_AGENT_TIMEOUT, fields, err);
	}
	json_put_number(fields, "maxBudgetUsd", s->spec ? s->spec->max_budget_usd : 0);
	json_put_number(fields, "costUsd", r->cost_usd < 0 ? 0 : r->cost_usd);
	return tell(s, HAPPENED_BUDGET_EXCEEDED, fields, err);
}

static int none_left(const struct serving *s, const struct harness_result *r, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; i < s->chain.effective.n; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", s->chain.effective.list[i]);
	return error_set(err, ERR_SYSTEM, "no harness can be used for '%s' (%s): %.600s", s->id,
		names.s ? names.s : "none declared", r->detail ? r->detail : "unavailable");
}

static int ended(struct serving *s, const struct harness *h, const struct harness_result *r,
	struct served *out, struct error *err)
{
	if (!h)
		return none_left(s, r, err);
	if (chain_note(s->staff->artifacts, s->staff->id, s->stage, h, &s->chain, r, err) < 0 ||
		tell_end(s, h, r, err) < 0)
		return -1;
	out->note = note_of(s, h, r);
	out->answered = r->status == HARNESS_SUCCESS && str_trim(str_of(r->text)).n;
	out->text = str_of(r->text);
	out->how = arena_printf(s->arena, "%s: %s", harness_name(h),
		r->status == HARNESS_SUCCESS ? "no answer" : harness_status_word(r->status));
	if (r->status != HARNESS_SUCCESS && r->detail)
		say("dev-team: %s on %s: %s: %.400s", s->id, harness_name(h),
			harness_status_word(r->status), r->detail);
	return 0;
}

/* What an agent can find out of where it is, by the names that scripted agents know; then what it
 * is to have of ours. */
static const char *const *environment(struct serving *s)
{
	const struct staff *t = s->staff;
	const char *const own[] = {arena_printf(s->arena, "DEV_TEAM_ID=%s", t->id),
		arena_printf(s->arena, "DEV_TEAM_ACTION=%s", s->id),
		arena_printf(
			s->arena, "DEV_TEAM_SECTION=%s", json_get_str(s->action, "write_section")),
		arena_printf(s->arena, "DEV_TEAM_CONTEXT_FILE=%s", t->context_file),
		arena_printf(s->arena, "DEV_TEAM_REPO=%s", t->repo)};
	const char *const *held = s->gate ? gate_environment(s->gate) : NULL;
	const char **env = arena_alloc(s->arena, (COUNT(own) + t->pass.n + 3) * sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; i < COUNT(own); i++)
		env[n++] = own[i];
	for (size_t i = 0; held && held[i] && i < 2; i++)
		env[n++] = held[i];
	for (size_t i = 0; i < t->pass.n; i++) {
		const char *name = t->pass.list[i], *value = getenv(name);

		if (value)
			env[n++] = arena_printf(s->arena, "%s=%s", name, value);
	}
	return env;
}

static int call_chain(struct serving *s, struct str prompt, const struct instructions *role,
	int cancel, struct served *out, struct error *err)
{
	const struct staff *t = s->staff;
	bool inplace = s->spec && s->spec->isolation == ISOLATION_INPLACE && t->main_repo;
	struct harness_input input = {.prompt = prompt,
		.cwd = inplace ? t->main_repo : t->repo,
		.port = t->port,
		.artifacts = t->artifacts,
		.env = environment(s),
		.tools = role->tools,
		.timeout_s = timeout_of(s),
		.max_budget_usd = s->spec ? s->spec->max_budget_usd : 0,
		.cancel = cancel};
	struct chain_call call = {.artifacts = t->artifacts,
		.issue = t->id,
		.stage = s->stage,
		.effective = s->chain.effective,
		.model_for = model_for,
		.listener = listen,
		.data = s};
	struct harness_result result;
	const struct harness *used;

	if (chain_run(s->arena, &call, &input, &result, &used, err) < 0)
		return -1;
	return ended(s, used, &result, out, err);
}

/* A stage that merges or migrates is the only one of the pool that does, for as long as it runs. */
static int through_gate(struct serving *s, struct str prompt, const struct instructions *role,
	int cancel, struct served *out, struct error *err)
{
	const struct staff *t = s->staff;
	struct pool pool;
	int rc;

	if (run_pool(s->arena, t->repo, t->resources, t->artifacts, t->pipeline, &pool, err) < 0)
		return -1;
	rc = gate_take(s->arena, &pool, s->id, GATE_WAIT_MS, 0, &s->gate, err);
	if (rc == 0)
		rc = call_chain(s, prompt, role, cancel, out, err);
	gate_drop(&s->gate);
	pool_close(&pool);
	return rc;
}

int staff_serve(struct arena *a, const struct staff *t, const json *action, int cancel,
	struct served *out, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	struct serving s = {.staff = t, .action = action, .arena = a};
	struct instructions role;

	*out = (struct served){0};
	if (begin(&s, err) < 0 || make_prompt(&s, &prompt, &role, err) < 0)
		return -1;
	if (s.spec && gate_stage_holds(s.spec))
		return through_gate(&s, buf_str(&prompt), &role, cancel, out, err);
	return call_chain(&s, buf_str(&prompt), &role, cancel, out, err);
}
