#include <poll.h>
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/run/run_internal.h"

/* ---- heartbeat and outcome ---- */

void run_write_state(const struct run_config *s, const char *stage, enum run_status status)
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

/* An agent may work longer than the lease of the work item lasts. */
static void renew_lease(const struct run_config *s)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct lease_holder h;

	if (context_open(&f, s->context_file, CONTEXT_MUST_EXIST, &ignored) < 0 ||
		lease_read(&f, &h, &ignored) < 0 || !h.live || h.until - clock_now() > h.ttl_s / 2)
		return;
	(void)context_op(&f, "run");
	lease_renew(&f, &h);
	(void)context_log(&f, &ignored);
}

void run_heartbeat(void *data, const struct harness_event *e)
{
	struct agent_call *s = data;
	int64_t now = clock_now();
	struct error ignored;

	(void)e;
	if (now >= s->heartbeat_at && now - s->heartbeat_at < HEARTBEAT_S)
		return;
	s->heartbeat_at = now;
	run_write_state(s->config, s->stage, RUN_RUNNING);
	renew_lease(s->config);
	/* A process that lost the gate is killed by the one that took it. */
	if (s->gate)
		(void)gate_check(s->gate, &ignored);
}

static json *note_of(
	const struct agent_call *s, const struct harness *h, const struct harness_result *r)
{
	static const struct usage_member members[] = {{USAGE_MS, "ms"},
		{USAGE_INPUT, "input_tokens"}, {USAGE_OUTPUT, "output_tokens"},
		{USAGE_COST, "cost_usd"}, {0}};
	json *note = json_object();

	json_put_str(note, "action", str_of(s->id));
	json_put_str(note, "harness", str_of(h ? harness_name(h) : ""));
	if (r->model)
		json_put_str(note, "model", str_of(r->model));
	json_put_str(note, "status", str_of(harness_status_name(r->status)));
	if (r->detail)
		json_put_str(note, "detail", str_of(r->detail));
	usage_put(note, &r->usage, members, false);
	return note;
}

static int none_left(const struct agent_call *s, const struct harness_result *r, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; i < s->chain.effective.n; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", s->chain.effective.list[i]);
	return error_set(err, ERR_SYSTEM, "no harness can be used for '%s' (%s): %.600s", s->id,
		names.s ? names.s : "none declared", r->detail ? r->detail : "unavailable");
}

int agent_call_outcome(struct agent_call *s, const struct harness *h,
	const struct harness_result *r, struct str text, struct agent_answer *out,
	struct error *err)
{
	if (!h)
		return none_left(s, r, err);
	if (chain_record(s->config->artifacts, s->config->id, s->stage, h, &s->chain, r, err) < 0)
		return -1;
	out->note = note_of(s, h, r);
	out->answered = r->status == HARNESS_SUCCESS && str_trim(text).n;
	out->text = text;
	out->how = arena_printf(s->arena, "%s: %s", harness_name(h),
		r->status == HARNESS_SUCCESS ? "no answer" : harness_status_name(r->status));
	if (r->status != HARNESS_SUCCESS && r->detail)
		error_log("dev-team: %s on %s: %s: %.400s", s->id, harness_name(h),
			harness_status_name(r->status), r->detail);
	return 0;
}

/* ---- harness, model, prompt ---- */

enum { GATE_STEP_MS = 1000 };

/* The state in `ADR-7/researching/1`. */
static const char *state_of(struct arena *a, const char *id)
{
	const char *first = strchr(id, '/'), *last = strrchr(id, '/');

	if (!first || last <= first)
		return id;
	return arena_dup(a, (struct str){first + 1, (size_t)(last - first - 1)});
}

/* The first stage named STATE-AGENT, STATE or AGENT. */
static const struct stage_spec *stage_of(
	struct arena *a, const struct pipeline *p, const char *state, const char *agent)
{
	const char *const names[] = {arena_printf(a, "%s-%s", state, agent), state, agent};

	for (size_t i = 0; p && i < COUNT(names); i++)
		if (pipeline_stage(p, names[i]))
			return pipeline_stage(p, names[i]);
	return NULL;
}

/* The chain of --harness, else the usable one of the stage, else the default of the pipeline. */
static struct words candidates(struct arena *a, const struct agent_call *s)
{
	const struct run_config *t = s->config;
	const char **list;
	size_t n = 0;

	if (t->chain.n || !t->pipeline)
		return t->chain;
	if (s->spec)
		return t->plan.stages[s->spec - t->pipeline->stages].chain;
	list = arena_alloc(a, (t->pipeline->default_fallback.n + 1) * sizeof(*list));
	list[n++] = t->pipeline->default_harness;
	for (size_t i = 0; i < t->pipeline->default_fallback.n; i++)
		list[n++] = t->pipeline->default_fallback.list[i];
	return (struct words){list, n};
}

/* Skills name the default branch. */
static struct str rename_branch(const struct agent_call *s, struct str text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *usual = arena_printf(s->arena, "dev-team/%s", s->config->id);

	if (!s->config->branch || strcmp(s->config->branch, usual) == 0)
		return text;
	while (text.n) {
		size_t at = str_find(text, str_of(usual));

		buf_add(&out, str_sub(text, 0, at));
		if (at == text.n)
			break;
		buf_adds(&out, s->config->branch);
		text = str_sub(text, at + strlen(usual), text.n);
	}
	return arena_str(s->arena, buf_str(&out));
}

static int make_prompt(
	struct agent_call *s, struct buf *prompt, struct instructions *role, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct instructions skill;
	const struct run_config *t = s->config;

	if (instructions_agent(
		    s->arena, t->root, t->repo, json_get_str(s->action, "agent"), role, err) < 0 ||
		instructions_skill(s->arena, t->root, t->repo, json_get_str(s->action, "skill"),
			json_get_str(s->action, "args"), &skill, err) < 0)
		return -1;
	skill.text = rename_branch(s, skill.text);
	if (context_open(&f, t->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	return brief_prompt(&f, s->id, role, &skill, prompt, err);
}

/* No independent harness is left: emits the event and applies the stage's failure policy. */
static int handle_violation(struct agent_call *s, struct error *err)
{
	const struct run_config *t = s->config;

	if (chain_emit_violation(t->artifacts, t->id, s->spec, &s->chain, err) < 0)
		return -1;
	if (chain_violation_strategy(s->spec) != FAILURE_CONTINUE)
		return error_set(err, ERR_STATE,
			"no independent harness for '%s': every harness of its chain ran a stage "
			"that "
			"it must be independent of",
			s->stage);
	error_log("dev-team: '%s' runs on a harness that is not independent", s->stage);
	s->chain.effective = s->chain.declared;
	return 0;
}

static int choose_chain(struct agent_call *s, struct error *err)
{
	struct words independent_of = {0};
	struct chain_uses uses;

	if (chain_uses_read(s->arena, s->config->artifacts, s->config->id, &uses, err) < 0)
		return -1;
	if (s->spec)
		independent_of = s->spec->independent_of;
	chain_filter(s->arena, candidates(s->arena, s), independent_of, &uses, &s->chain);
	return s->chain.violated && s->spec ? handle_violation(s, err) : 0;
}

/* The one pinned when the run began, unless --model overrides it. */
static int choose_model(struct agent_call *s, struct error *err)
{
	const struct run_config *t = s->config;
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

static int begin(struct agent_call *s, struct error *err)
{
	const struct run_config *t = s->config;
	const char *state;

	s->id = json_get_str(s->action, "id");
	state = state_of(s->arena, s->id);
	s->spec = stage_of(s->arena, t->pipeline, state, json_get_str(s->action, "agent"));
	s->stage = s->spec ? s->spec->name : state;
	return choose_model(s, err) < 0 ? -1 : choose_chain(s, err);
}

/* Waits as long as the stage may take, in short steps so that an interrupt is seen. */
static int take_gate(struct agent_call *s, struct pool *p, int cancel, struct error *err)
{
	struct pollfd fd = {.fd = cancel, .events = POLLIN};
	int64_t until = clock_ticks() + (int64_t)agent_call_timeout_s(s) * 1000;

	for (bool logged = false;; logged = true) {
		if (gate_take(s->arena, p, s->id, GATE_STEP_MS, 0, &s->gate, err) == 0)
			return 0;
		if (err->code != ERR_STATE || clock_ticks() > until)
			return -1;
		if (!logged)
			error_log("dev-team: %s waits for the gate: %.400s", s->id, err->text);
		run_heartbeat(s, NULL);
		if (cancel > 0 && poll(&fd, 1, 0) > 0)
			return error_set(err, ERR_STATE, "interrupted");
	}
}

/* Only one stage of the pool that merges or migrates may run at a time. */
static int call_with_gate(struct agent_call *s, struct buf *prompt, const struct instructions *role,
	int cancel, struct agent_answer *out, struct error *err)
{
	const struct run_config *t = s->config;
	struct pool pool;
	int rc;

	if (run_pool_open(s->arena, t->repo, t->resources, t->artifacts, t->pipeline, &pool, err) <
		0)
		return -1;
	rc = take_gate(s, &pool, cancel, err);
	if (rc == 0)
		rc = agent_call_invoke(s, prompt, role, cancel, out, err);
	gate_drop(&s->gate);
	pool_close(&pool);
	return rc;
}

int run_dispatch_action(struct arena *a, const struct run_config *t, const json *action, int cancel,
	struct agent_answer *out, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	struct agent_call s = {.config = t, .action = action, .arena = a};
	struct instructions role;

	*out = (struct agent_answer){0};
	if (begin(&s, err) < 0 || make_prompt(&s, &prompt, &role, err) < 0)
		return -1;
	if (s.spec && gate_stage_holds(s.spec))
		return call_with_gate(&s, &prompt, &role, cancel, out, err);
	return agent_call_invoke(&s, &prompt, &role, cancel, out, err);
}
