#include <poll.h>
#include "src/base/error.h"
#include "src/run/run_artifact.h"
#include "src/run/run_serving.h"

enum { TIMEOUT_S = 1800 }; /* of an agent, where neither the command line nor its stage says */

unsigned serving_timeout(const struct serving *s)
{
	if (s->staff->timeout_s)
		return s->staff->timeout_s;
	return s->spec && s->spec->timeout_s ? (unsigned)s->spec->timeout_s : TIMEOUT_S;
}

static const char *model_for(void *data, const char *name)
{
	const struct serving *s = data;
	const struct harness *h;
	struct error ignored;
	bool fits;

	return harness_find(name, &h, &ignored) < 0 ? NULL : harness_model(h, &s->model, &fits);
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
		arena_printf(s->arena, "DEV_TEAM_REPO=%s", t->repo),
		arena_printf(s->arena, "DEV_TEAM_BRANCH=%s", t->branch ? t->branch : "")};
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

/* One call of the chain, and what it needs to be made again. */
struct call {
	struct serving *s;
	struct harness_input input;
	struct words effective;
	struct harness_result result;
	const struct harness *used;
	struct artifact_target want;
	bool wanted;     /* the stage has an artifact */
	bool invalid;    /* and it was wrong twice */
	struct str text; /* the answer, less the artifact's block */
};

/* Waits `ms` at most for the interrupt. */
static bool interrupted(const struct call *c, int ms)
{
	struct pollfd fd = {.fd = c->input.cancel, .events = POLLIN};

	return poll(&fd, fd.fd > 0 ? 1 : 0, ms) > 0;
}

/* What was broken off says nothing of the agent. */
static int call_once(struct call *c, struct error *err)
{
	const struct staff *t = c->s->staff;
	struct chain_call call = {.artifacts = t->artifacts,
		.issue = t->id,
		.stage = c->s->stage,
		.effective = c->effective,
		.model_for = model_for,
		.listener = serving_listen,
		.data = c->s};

	if (chain_run(c->s->arena, &call, &c->input, &c->result, &c->used, err) < 0)
		return -1;
	return interrupted(c, 0) ? error_set(err, ERR_STATE, "interrupted") : 0;
}

/* The second try is the same harness's; what it says beside the artifact is no answer. */
static int call_again(void *data, const char *sharpened, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	struct call *c = data;
	struct call second = *c;
	const char *name = harness_name(c->used);
	struct str rest;

	run_artifact_again(&c->want, sharpened, c->text, &prompt);
	second.input.prompt = buf_str(&prompt);
	second.effective = (struct words){&name, 1};
	if (call_once(&second, err) < 0)
		return -1;
	usage_add(&c->result.usage, &second.result.usage);
	if (!second.used || second.result.status != HARNESS_SUCCESS)
		return error_set(err, ERR_CHECK, "the second try ended with '%s'",
			harness_status_name(second.result.status));
	return run_artifact_take(c->s->arena, &c->want, str_of(second.result.text), &rest, err);
}

/* An answer without its artifact is none. */
static int settle(struct call *c, struct error *err)
{
	struct serving *s = c->s;
	enum artifact_outcome end;
	const char *fault;

	c->text = str_of(c->result.text);
	if (!c->wanted || !c->used || c->result.status != HARNESS_SUCCESS)
		return 0;
	if (run_artifact_take(s->arena, &c->want, c->text, &c->text, err) < 0 ||
		artifact_validate_retry(s->arena, &c->want, call_again, c, &end, &fault, err) < 0)
		return -1;
	if (end != ARTIFACT_INVALID)
		return run_artifact_narrate(s->arena, &c->want, c->text, err);
	c->invalid = true;
	c->result.status = HARNESS_FAILURE;
	c->result.detail = fault;
	return 0;
}

static void set_input(
	struct call *c, struct str prompt, const struct instructions *role, int cancel)
{
	const struct serving *s = c->s;
	const struct staff *t = s->staff;
	bool inplace = s->spec && s->spec->isolation == ISOLATION_INPLACE &&
		       s->spec->isolation_declared && t->main_repo;

	c->effective = s->chain.effective;
	c->input = (struct harness_input){.prompt = prompt,
		.cwd = inplace ? t->main_repo : t->repo,
		.port = t->port,
		.artifacts = t->artifacts,
		.env = environment(c->s),
		.tools = role->tools,
		.timeout_s = serving_timeout(s),
		.max_budget_usd = s->spec ? s->spec->max_budget_usd : 0,
		.cancel = cancel};
}

/* The stage's failure policy is meant for this end of it. */
static bool policy_applies(const struct call *c)
{
	const struct stage_spec *spec = c->s->spec;
	enum harness_status status = c->result.status;
	const char *name = c->invalid                  ? "ArtifactSchemaInvalid"
			   : status == HARNESS_TIMEOUT ? "AgentTimeout"
			   : status == HARNESS_BUDGET  ? "BudgetExceeded"
						       : "";

	if (!spec || !spec->failure_declared || !c->used || status == HARNESS_SUCCESS)
		return false;
	return !spec->failure_on || strcmp(spec->failure_on, name) == 0;
}

/* Once, and as often more as `retry` says. */
static int call_and_retry(struct call *c, struct error *err)
{
	const struct stage_spec *spec = c->s->spec;

	for (unsigned tries = 0;; tries++) {
		struct harness_result before = c->result;

		c->invalid = false;
		if (call_once(c, err) < 0 || settle(c, err) < 0)
			return -1;
		if (tries)
			usage_add(&c->result.usage, &before.usage);
		if (!policy_applies(c) || spec->on_failure != FAILURE_RETRY ||
			tries >= spec->max_retries)
			return 0;
		log_line("dev-team: '%s' ended with '%s': tried again, %u of %u", c->s->stage,
			harness_status_name(c->result.status), tries + 1, spec->max_retries);
		if (interrupted(c, (int)(spec->retry_delay_s * 1000)))
			return error_set(err, ERR_STATE, "interrupted");
	}
}

/* `abort` and `pause` stop the run; with the others the machine counts the failure and asks again.
 */
static int apply_policy(const struct call *c, struct error *err)
{
	const struct stage_spec *spec = c->s->spec;
	bool pause;

	if (!policy_applies(c) ||
		(spec->on_failure != FAILURE_ABORT && spec->on_failure != FAILURE_PAUSE))
		return 0;
	pause = spec->on_failure == FAILURE_PAUSE;
	return error_set(err, pause ? ERR_STATE : ERR_CHECK,
		"stage '%s' ended with '%s': its onFailure is '%s'%s", spec->name,
		c->invalid ? "ArtifactSchemaInvalid" : harness_status_name(c->result.status),
		pause ? "pause" : "abort", pause ? "; the same command goes on" : "");
}

int serving_call(struct serving *s, struct buf *prompt, const struct instructions *role, int cancel,
	struct served *out, struct error *err)
{
	const struct staff *t = s->staff;
	struct call c = {.s = s};

	c.wanted = run_artifact_wanted(s->arena, s->spec,
		t->pipeline ? t->pipeline->artifact_version : NULL, t->artifacts, t->id, &c.want);
	if (c.wanted && run_artifact_ask(s->arena, &c.want, prompt, err) < 0)
		return -1;
	set_input(&c, buf_str(prompt), role, cancel);
	if (call_and_retry(&c, err) < 0 ||
		serving_ended(s, c.used, &c.result, c.text, out, err) < 0)
		return -1;
	return apply_policy(&c, err);
}
