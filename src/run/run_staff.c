#include <poll.h>
#include "src/base/error.h"
#include "src/base/clock.h"
#include "src/run/run_serving.h"
#include "src/run/run_worktree.h"
#include "src/machine/brief.h"

enum { GATE_STEP_MS = 1000 };

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

/* The skills know the branch by its usual name. */
static struct str rename_branch(const struct serving *s, struct str text)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *usual = arena_printf(s->arena, "dev-team/%s", s->staff->id);

	if (!s->staff->branch || strcmp(s->staff->branch, usual) == 0)
		return text;
	while (text.n) {
		size_t at = str_find(text, str_of(usual));

		buf_add(&out, str_sub(text, 0, at));
		if (at == text.n)
			break;
		buf_adds(&out, s->staff->branch);
		text = str_sub(text, at + strlen(usual), text.n);
	}
	return arena_str(s->arena, buf_str(&out));
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
	skill.text = rename_branch(s, skill.text);
	if (context_open(&f, t->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	return brief_prompt(&f, s->id, role, &skill, prompt, err);
}

/* Nothing independent is left: told, and then as the stage's failure policy says. */
static int violated(struct serving *s, struct error *err)
{
	const struct staff *t = s->staff;

	if (chain_emit_violation(t->artifacts, t->id, s->spec, &s->chain, err) < 0)
		return -1;
	if (chain_violation_strategy(s->spec) != FAILURE_CONTINUE)
		return error_set(err, ERR_STATE,
			"no independent harness for '%s': all of its chain has run the stages that "
			"it must be independent of",
			s->stage);
	log_line("dev-team: '%s' runs on a harness that it should be independent of", s->stage);
	s->chain.effective = s->chain.declared;
	return 0;
}

static int choose_chain(struct serving *s, struct error *err)
{
	struct words independent_of = {0};
	struct chain_uses uses;

	if (chain_uses_read(s->arena, s->staff->artifacts, s->staff->id, &uses, err) < 0)
		return -1;
	if (s->spec)
		independent_of = s->spec->independent_of;
	chain_filter(s->arena, candidates(s->arena, s), independent_of, &uses, &s->chain);
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

/* As long as the stage itself may take; in short waits, so that an interrupt is seen. */
static int take_gate(struct serving *s, struct pool *p, int cancel, struct error *err)
{
	struct pollfd fd = {.fd = cancel, .events = POLLIN};
	int64_t until = clock_ticks() + (int64_t)serving_timeout(s) * 1000;

	for (bool said = false;; said = true) {
		if (gate_take(s->arena, p, s->id, GATE_STEP_MS, 0, &s->gate, err) == 0)
			return 0;
		if (err->code != ERR_STATE || clock_ticks() > until)
			return -1;
		if (!said)
			log_line("dev-team: %s waits for the gate: %.400s", s->id, err->text);
		serving_listen(s, NULL);
		if (cancel > 0 && poll(&fd, 1, 0) > 0)
			return error_set(err, ERR_STATE, "interrupted");
	}
}

/* A stage that merges or migrates is the only one of the pool that does, for as long as it runs. */
static int through_gate(struct serving *s, struct buf *prompt, const struct instructions *role,
	int cancel, struct served *out, struct error *err)
{
	const struct staff *t = s->staff;
	struct pool pool;
	int rc;

	if (run_pool(s->arena, t->repo, t->resources, t->artifacts, t->pipeline, &pool, err) < 0)
		return -1;
	rc = take_gate(s, &pool, cancel, err);
	if (rc == 0)
		rc = serving_call(s, prompt, role, cancel, out, err);
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
		return through_gate(&s, &prompt, &role, cancel, out, err);
	return serving_call(&s, &prompt, &role, cancel, out, err);
}
