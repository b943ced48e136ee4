#include <poll.h>
#include "src/base/error.h"
#include "src/event/artifact.h"
#include "src/run/run_internal.h"

/* ---- the artifact of a stage ---- */

/* The layout has three reviews; the name of the stage selects one. */
static const char *review_name(struct arena *a, const char *stage)
{
	static const char *const reviewers[] = {"testing", "security"};

	for (size_t i = 0; i < COUNT(reviewers); i++)
		if (strstr(stage, reviewers[i]))
			return arena_printf(a, "review/%s.json", reviewers[i]);
	return "review/critic.json";
}

static bool artifact_of_stage(struct arena *a, const struct stage_spec *stage, const char *version,
	const char *dir, const char *issue, struct artifact_target *out)
{
	if (!stage || !stage->artifact)
		return false;
	*out = (struct artifact_target){.dir = dir,
		.issue = issue,
		.stage = stage->name,
		.name = strcmp(stage->artifact, "review") == 0
				? review_name(a, stage->name)
				: arena_printf(a, "%s.json", stage->artifact),
		.schema = stage->artifact,
		.version = version};
	return true;
}

/* `plan.json` of `review/critic.json`. */
static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static void add_block_form(const struct artifact_target *want, struct buf *prompt)
{
	buf_addf(prompt,
		"Where you may not write that file, put the JSON into your last message instead, "
		"before its last line, between a line ```json %s and a line ```.\n",
		base_name(want->name));
}

static int request_artifact(
	struct arena *a, const struct artifact_target *want, struct buf *prompt, struct error *err)
{
	if (artifact_remove(want->dir, want->issue, want->name, err) < 0)
		return -1;
	buf_adds(prompt, "\n## Your artifact\n\n");
	buf_adds(prompt, artifact_prompt(a, want));
	add_block_form(want, prompt);
	return 0;
}

/* The lines between the fences; the last such block counts. */
static bool find_block(
	struct str text, const char *name, struct str *block, size_t *from, size_t *to)
{
	struct str rest = text, line;
	bool open = false, found = false;
	size_t began = 0;

	while (str_line(&rest, &line)) {
		struct str word = str_trim(line);
		size_t at = (size_t)(line.p - text.p), behind = text.n - rest.n;

		if (!open && str_starts(word, "```json ") &&
			str_is(str_trim(str_sub(word, strlen("```json "), word.n)), name)) {
			open = true;
			began = at;
			*block = str_sub(text, behind, behind);
		} else if (open && str_is(word, "```")) {
			block->n = (size_t)(line.p - block->p);
			*from = began;
			*to = behind;
			open = false;
			found = true;
		}
	}
	return found;
}

static int extract_artifact(struct arena *a, const struct artifact_target *want, struct str message,
	struct str *rest, struct error *err)
{
	struct str block;
	size_t from, to;

	*rest = message;
	if (!find_block(message, base_name(want->name), &block, &from, &to))
		return 0;
	*rest = str_of(arena_printf(
		a, "%.*s%.*s", (int)from, message.p, (int)(message.n - to), message.p + to));
	return artifact_write_text(want->dir, want->issue, want->name, block, err);
}

static void add_retry_prompt(const struct artifact_target *want, const char *sharpened,
	struct str message, struct buf *prompt)
{
	struct str line;

	buf_adds(
		prompt, "You have just ended a task. Nothing of the work is to be done again.\n\n");
	buf_adds(prompt, sharpened);
	add_block_form(want, prompt);
	buf_adds(prompt, "\nYour last message was:\n\n");
	while (str_line(&message, &line)) {
		buf_adds(prompt, line.n ? "> " : ">");
		buf_add(prompt, line);
		buf_addc(prompt, '\n');
	}
}

static int write_narrative(
	struct arena *a, const struct artifact_target *want, struct str message, struct error *err)
{
	int stem = (int)(strlen(want->name) - strlen(".json"));

	return artifact_write_text(want->dir, want->issue,
		arena_printf(a, "%.*s.md", stem, want->name),
		str_of(arena_printf(a, "%.*s\n", (int)str_trim(message).n, str_trim(message).p)),
		err);
}

/* ---- the call ---- */

enum { TIMEOUT_S = 1800 }; /* of an agent, unless the command line or its stage sets it */

unsigned agent_call_timeout_s(const struct agent_call *s)
{
	if (s->config->timeout_s)
		return s->config->timeout_s;
	return s->spec && s->spec->timeout_s ? (unsigned)s->spec->timeout_s : TIMEOUT_S;
}

static const char *model_for(void *data, const char *name)
{
	const struct agent_call *s = data;
	const struct harness *h;
	struct error ignored;
	bool fits;

	return harness_find(name, &h, &ignored) < 0 ? NULL : harness_model(h, &s->model, &fits);
}

/* The variables that scripted agents get too, then those of --pass-env. */
static const char *const *environment(struct agent_call *s)
{
	const struct run_config *t = s->config;
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

/* One call of the chain, with the data to repeat it. */
struct call_attempt {
	struct agent_call *s;
	struct harness_input input;
	struct words effective;
	struct harness_result result;
	const struct harness *used;
	struct artifact_target want;
	bool wanted;     /* the stage has an artifact */
	bool invalid;    /* and it was invalid twice */
	struct str text; /* the answer without the artifact's block */
};

/* Waits at most `ms` for the interrupt. */
static bool interrupted(const struct call_attempt *c, int ms)
{
	struct pollfd fd = {.fd = c->input.cancel, .events = POLLIN};

	return poll(&fd, fd.fd > 0 ? 1 : 0, ms) > 0;
}

/* The result of an interrupted call says nothing about the agent. */
static int call_once(struct call_attempt *c, struct error *err)
{
	const struct run_config *t = c->s->config;
	struct chain_call call = {.artifacts = t->artifacts,
		.issue = t->id,
		.stage = c->s->stage,
		.effective = c->effective,
		.model_for = model_for,
		.listener = run_heartbeat,
		.data = c->s};

	if (chain_run(c->s->arena, &call, &c->input, &c->result, &c->used, err) < 0)
		return -1;
	return interrupted(c, 0) ? error_set(err, ERR_STATE, "interrupted") : 0;
}

/* Asks the same harness for the artifact again; the rest of its message is not an answer. */
static int call_again(void *data, const char *sharpened, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	struct call_attempt *c = data;
	struct call_attempt second = *c;
	const char *name = harness_name(c->used);
	struct str rest;

	add_retry_prompt(&c->want, sharpened, c->text, &prompt);
	second.input.prompt = buf_str(&prompt);
	second.effective = (struct words){&name, 1};
	if (call_once(&second, err) < 0)
		return -1;
	usage_add(&c->result.usage, &second.result.usage);
	if (!second.used || second.result.status != HARNESS_SUCCESS)
		return error_set(err, ERR_CHECK, "the second attempt ended with '%s'",
			harness_status_name(second.result.status));
	return extract_artifact(c->s->arena, &c->want, str_of(second.result.text), &rest, err);
}

/* An answer without its artifact is a failure. */
static int check_artifact(struct call_attempt *c, struct error *err)
{
	struct agent_call *s = c->s;
	enum artifact_outcome end;
	const char *fault;

	c->text = str_of(c->result.text);
	if (!c->wanted || !c->used || c->result.status != HARNESS_SUCCESS)
		return 0;
	if (extract_artifact(s->arena, &c->want, c->text, &c->text, err) < 0 ||
		artifact_validate_retry(s->arena, &c->want, call_again, c, &end, &fault, err) < 0)
		return -1;
	if (end != ARTIFACT_INVALID)
		return write_narrative(s->arena, &c->want, c->text, err);
	c->invalid = true;
	c->result.status = HARNESS_FAILURE;
	c->result.detail = fault;
	return 0;
}

static void set_input(
	struct call_attempt *c, struct str prompt, const struct instructions *role, int cancel)
{
	const struct agent_call *s = c->s;
	const struct run_config *t = s->config;
	bool inplace = s->spec && s->spec->isolation == ISOLATION_INPLACE &&
		       s->spec->isolation_declared && t->main_repo;

	c->effective = s->chain.effective;
	c->input = (struct harness_input){.prompt = prompt,
		.cwd = inplace ? t->main_repo : t->repo,
		.port = t->port,
		.artifacts = t->artifacts,
		.env = environment(c->s),
		.tools = role->tools,
		.timeout_s = agent_call_timeout_s(s),
		.max_budget_usd = s->spec ? s->spec->max_budget_usd : 0,
		.cancel = cancel};
}

/* True if the stage's onFailure applies to this result. */
static bool policy_applies(const struct call_attempt *c)
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

/* Once, and then as often as `retry` allows. */
static int call_and_retry(struct call_attempt *c, struct error *err)
{
	const struct stage_spec *spec = c->s->spec;

	for (unsigned tries = 0;; tries++) {
		struct harness_result before = c->result;

		c->invalid = false;
		if (call_once(c, err) < 0 || check_artifact(c, err) < 0)
			return -1;
		if (tries)
			usage_add(&c->result.usage, &before.usage);
		if (!policy_applies(c) || spec->on_failure != FAILURE_RETRY ||
			tries >= spec->max_retries)
			return 0;
		error_log("dev-team: '%s' ended with '%s': retry %u of %u", c->s->stage,
			harness_status_name(c->result.status), tries + 1, spec->max_retries);
		if (interrupted(c, (int)(spec->retry_delay_s * 1000)))
			return error_set(err, ERR_STATE, "interrupted");
	}
}

/* `abort` and `pause` stop the run; otherwise the machine counts the failure and asks again. */
static int apply_policy(const struct call_attempt *c, struct error *err)
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
		pause ? "pause" : "abort", pause ? "; the same command continues" : "");
}

int agent_call_invoke(struct agent_call *s, struct buf *prompt, const struct instructions *role,
	int cancel, struct agent_answer *out, struct error *err)
{
	const struct run_config *t = s->config;
	struct call_attempt c = {.s = s};

	c.wanted = artifact_of_stage(s->arena, s->spec,
		t->pipeline ? t->pipeline->artifact_version : NULL, t->artifacts, t->id, &c.want);
	if (c.wanted && request_artifact(s->arena, &c.want, prompt, err) < 0)
		return -1;
	set_input(&c, buf_str(prompt), role, cancel);
	if (call_and_retry(&c, err) < 0 ||
		agent_call_outcome(s, c.used, &c.result, c.text, out, err) < 0)
		return -1;
	return apply_policy(&c, err);
}
