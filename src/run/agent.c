#include <math.h>
#include <sys/stat.h>
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/event/artifact.h"
#include "src/machine/brief.h"
#include "src/local/script.h"
#include "src/merge/gate.h"
#include "src/merge/requeue.h"
#include "src/run/run_internal.h"
#include "src/sys/path.h"

enum { TIMEOUT_S = 1800, LIMIT_SHOWN = 200 };

/* One call of a real agent. */
struct agent_call {
	const struct run_item *run;
	struct arena *arena;
	const json *action;
	const char *id, *stage;        /* stage: its name in the pipeline, else the state's */
	const struct stage_spec *spec; /* NULL: the pipeline has no such stage, or there is none */
	struct model_resolved model;
	struct chain chain;
	struct run_log log; /* of what it prints */
	struct harness_input input;
	const char *skill_dir;           /* what is next to the skill; NULL: it has no file */
	struct artifact_target artifact; /* schema NULL: the stage need not leave one */
	const char *free;                /* the harness whose work is within a quota; NULL: none */
	/* The last attempt. */
	const struct harness *used; /* NULL: no harness could be used */
	struct harness_result result;
	bool invalid;    /* the artifact was invalid twice */
	struct str text; /* the answer without the artifact's block */
};

/* ---- the artifact of a stage ---- */

/* The layout has three reviews; the name of the stage selects one. */
static const char *review_name(const char *stage)
{
	return strstr(stage, "testing")    ? "review/testing.json"
	       : strstr(stage, "security") ? "review/security.json"
					   : "review/critic.json";
}

static void add_block_form(const struct artifact_target *want, struct buf *prompt)
{
	buf_addf(prompt,
		"Where you may not write that file, put the JSON into your last message instead, "
		"before its last line, between a line ```json %s and a line ```.\n",
		path_base(want->name).p);
}

static int request_artifact(struct agent_call *c, struct buf *prompt, struct error *err)
{
	const struct run_item *r = c->run;
	const char *kind = c->spec ? c->spec->artifact : NULL;

	if (!kind)
		return 0;
	c->artifact = (struct artifact_target){.dir = r->artifacts,
		.issue = r->call.id,
		.stage = c->stage,
		.name = strcmp(kind, "review") == 0 ? review_name(c->stage)
						    : arena_printf(c->arena, "%s.json", kind),
		.schema = kind,
		.version = r->pipeline->artifact_version};
	if (artifact_remove(r->artifacts, r->call.id, c->artifact.name, err) < 0)
		return -1;
	buf_adds(prompt, "\n## Your artifact\n\n");
	buf_adds(prompt, artifact_prompt(c->arena, &c->artifact));
	add_block_form(&c->artifact, prompt);
	return 0;
}

/* The lines between the fences; the last such block counts. */
static bool agent_find_block(
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

/* Writes the artifact that is a block of the message. */
static int extract_artifact(
	struct agent_call *c, struct str message, struct str *rest, struct error *err)
{
	const struct artifact_target *want = &c->artifact;
	struct str block;
	size_t from, to;

	*rest = message;
	if (!agent_find_block(message, path_base(want->name).p, &block, &from, &to))
		return 0;
	*rest = str_of(arena_printf(
		c->arena, "%.*s%.*s", (int)from, message.p, (int)(message.n - to), message.p + to));
	return artifact_write_text(want->dir, want->issue, want->name, block, err);
}

static int write_narrative(struct agent_call *c, struct error *err)
{
	const struct artifact_target *want = &c->artifact;
	struct str text = str_trim(c->text);
	int stem = (int)(strlen(want->name) - strlen(".json"));

	return artifact_write_text(want->dir, want->issue,
		arena_printf(c->arena, "%.*s.md", stem, want->name),
		str_of(arena_printf(c->arena, "%.*s\n", (int)text.n, text.p)), err);
}

/* ---- what was used ---- */

/* Budgets do not count it. */
static void free_of_charge(json *note)
{
	double listed = json_number(json_get(note, "cost_usd"), -1);

	if (listed < 0)
		return;
	json_put_number(note, "list_cost_usd", listed);
	json_drop(note, "cost_usd");
	json_put_number(note, "cost_usd", 0);
}

static json *agent_note_of(
	const struct agent_call *c, const struct harness *h, const struct harness_result *r)
{
	json *note = JSON_OBJECT(JSON_TEXT("action", c->id), JSON_TEXT("harness", h->name),
		JSON_IF(r->model, JSON_TEXT("model", r->model)),
		JSON_TEXT("status", harness_status_names[r->status]),
		JSON_IF(r->detail, JSON_TEXT("detail", r->detail)));

	usage_put(note, &r->usage, usage_members, false);
	if (c->free && strcmp(c->free, h->name) == 0)
		free_of_charge(note);
	return note;
}

/* Books what the agent used. If that fails, the run reports it and continues. */
static void agent_note_left(void *data, const struct harness *h, const struct harness_result *r)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct agent_call *c = data;
	CLEANUP(json_free) json *note = agent_note_of(c, h, r);
	struct error err;

	run_quota_settle(c->arena, c->run, c->action, h->name, &r->usage, true);
	if (context_open(&f, c->run->call.context_file, CONTEXT_MUST_EXIST, &err) < 0) {
		error_print(&err);
		return;
	}
	agents_note_run(&f, note);
	if (context_log(&f, &err) < 0)
		error_print(&err);
}

/* ---- the call ---- */

static const char *model_for(void *data, const char *name)
{
	const struct agent_call *c = data;

	return harness_model_for(name, &c->model);
}

/* `--pass-env` must not bring back what the databases of the worktree set or removed. */
static bool is_of_database(const struct run_item *r, const char *entry)
{
	size_t n = strcspn(entry, "=");

	for (const char *const *e = r->database_env; e && *e; e++)
		if (strncmp(*e, entry, n) == 0 && strcspn(*e, "=") == n)
			return true;
	return false;
}

/* The variables that scripted agents get too, those of databases, the gate's, and those of
 * --pass-env. */
static const char *const *agent_environment(
	struct agent_call *c, bool judged, const char *user_directory)
{
	const char *branch = c->run->worktree.of.branch;
	const char *state = user_directory ? arena_printf(c->arena, "%s/state", user_directory)
					   : getenv("DEV_TEAM_STATE_DIR");
	const char *const *const more[] = {
		c->run->database_env, c->run->gate ? c->run->gate->env : NULL, c->run->pass_env};
	const char *const own[][2] = {{"DEV_TEAM_BRANCH", branch ? branch : ""},
		{HARNESS_POLICY, c->run->policy}, {HARNESS_ROLE, json_get_str(c->action, "agent")},
		{HARNESS_SKILL, c->skill_dir ? c->skill_dir : ""}, {"DEV_TEAM_STATE_DIR", state}};
	struct run_environment env = {0};

	run_action_environment(c->arena, c->run, c->action, &env);
	for (size_t i = 0; i < (judged ? COUNT(own) : 1); i++)
		if (own[i][1])
			vec_push_in(c->arena, &env,
				arena_printf(c->arena, "%s=%s", own[i][0], own[i][1]));
	for (size_t i = 0; i < COUNT(more); i++)
		for (const char *const *e = more[i]; e && *e; e++)
			if (strchr(*e, '=') && (i == 0 || !is_of_database(c->run, *e)))
				vec_push_in(c->arena, &env, *e);
	vec_push_in(c->arena, &env, NULL);
	return env.items;
}

unsigned run_agent_timeout(const struct run_item *r, const struct stage_spec *s)
{
	if (r->request->timeout_s)
		return (unsigned)r->request->timeout_s;
	return s && s->timeout_s ? (unsigned)s->timeout_s : TIMEOUT_S;
}

static void keep_line(void *log, struct str line)
{
	masked_output_add(log, line);
	masked_output_add(log, STR("\n"));
}

/* A worktree of its own: in the user's checkout git is read-only inside, and the user watches. */
static bool is_worktree(const struct agent_call *c, const char *directory)
{
	struct stat st;

	return lstat(path_join(c->arena, directory, ".git"), &st) == 0 && S_ISREG(st.st_mode);
}

static int set_input(
	struct agent_call *c, struct str prompt, const struct instructions *role, struct error *err)
{
	const struct run_item *r = c->run;
	bool inplace =
		c->spec && c->spec->isolation == ISOLATION_INPLACE && c->spec->isolation_declared;
	const char *directory = inplace ? r->call.repo : run_action_directory(r, c->action);
	bool judged = r->policy && is_worktree(c, directory);
	const char *own;
	unsigned uid, gid;

	action_user(c->action, &uid, &gid);
	if (script_user_directory(c->arena, judged ? uid : 0, gid, &own, err) < 0)
		return -1;

	c->input = (struct harness_input){.prompt = prompt,
		.cwd = directory,
		.judged = judged,
		.contained = judged && r->contain ? r->policy : NULL,
		.port = r->worktree.of.port,
		.artifacts = r->artifacts,
		.env = agent_environment(c, judged, own),
		.tools = role->tools,
		.timeout_s = run_agent_timeout(r, c->spec),
		.max_budget_usd = c->spec ? c->spec->max_budget_usd : 0,
		.cancel = r->cancel,
		.inherit = c->run->gate ? gate_descriptor(c->run->gate) : 0,
		.output = keep_line,
		.output_data = &c->log.out,
		.uid = uid,
		.gid = gid};
	return 0;
}

/* Runs the input on the first usable harness. The result of an interrupted call says nothing about
 * the agent. */
static int run_chain(struct agent_call *c, const struct harness_input *input,
	struct text_list chain, struct harness_result *result, const struct harness **used,
	struct error *err)
{
	struct chain_call call = {.artifacts = c->run->artifacts,
		.issue = c->run->call.id,
		.stage = c->stage,
		.effective = chain,
		.model_for = model_for,
		.left = agent_note_left,
		.data = c};

	if (chain_run(c->arena, &call, input, result, used, err) < 0)
		return -1;
	return run_interrupt_wait(0) ? error_set(err, ERR_STATE, "interrupted") : 0;
}

static void add_retry_prompt(const struct agent_call *c, const char *sharpened, struct buf *prompt)
{
	struct str message = c->text, line;

	buf_adds(
		prompt, "You have just ended a task. Nothing of the work is to be done again.\n\n");
	buf_adds(prompt, sharpened);
	add_block_form(&c->artifact, prompt);
	buf_adds(prompt, "\nYour last message was:\n\n");
	while (str_line(&message, &line)) {
		buf_adds(prompt, line.n ? "> " : ">");
		buf_add(prompt, line);
		buf_addc(prompt, '\n');
	}
}

/* Asks the same harness for the artifact again; the rest of its message is not an answer. */
static int call_again(void *data, const char *sharpened, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	struct agent_call *c = data;
	struct harness_input input = c->input;
	struct harness_result result = c->result;
	const struct harness *used = c->used;
	const char *name = used->name;
	struct str rest;

	add_retry_prompt(c, sharpened, &prompt);
	input.prompt = buf_str(&prompt);
	if (run_chain(c, &input, (struct text_list){&name, 1}, &result, &used, err) < 0)
		return -1;
	if (used)
		usage_add(&c->result.usage, &result.usage);
	if (!used || result.status != HARNESS_SUCCESS)
		return error_set(err, ERR_CHECK, "the second attempt ended with '%s'",
			harness_status_names[result.status]);
	return extract_artifact(c, str_of(result.text), &rest, err);
}

/* An answer without its artifact is a failure. */
static int check_artifact(struct agent_call *c, struct error *err)
{
	enum artifact_outcome end;
	const char *fault;

	c->text = str_of(c->result.text);
	c->invalid = false;
	if (!c->artifact.schema || !c->used || c->result.status != HARNESS_SUCCESS)
		return 0;
	if (extract_artifact(c, c->text, &c->text, err) < 0 ||
		artifact_validate_retry(c->arena, &c->artifact, call_again, c, &end, &fault, err) <
			0)
		return -1;
	if (end != ARTIFACT_INVALID)
		return write_narrative(c, err);
	c->invalid = true;
	c->result.status = HARNESS_FAILURE;
	c->result.detail = fault;
	return 0;
}

static bool is_in_policy(const struct stage_spec *s, const char *name)
{
	return s && s->failure_declared && (!s->failure_on || strcmp(s->failure_on, name) == 0);
}

bool run_failure_applies(
	const struct stage_spec *s, const char *name, enum failure_strategy strategy)
{
	return is_in_policy(s, name) && s->on_failure == strategy;
}

/* True: the issue was triaged too often. Best effort. A failure that is in no class of requeue.h is
 * left out. A run has no other score than the last one. */
static bool requeue_failed(const struct run_item *r, const struct stage_spec *s, const char *name)
{
	bool storm = false;
	struct error why;

	if (r->artifacts && is_in_policy(s, name) &&
		requeue_and_triage(r->artifacts, r->call.id, name, NAN, &storm, &why) < 0 &&
		why.code != ERR_USAGE)
		error_print(&why);
	return storm;
}

int run_failure_end(
	const struct run_item *r, const struct stage_spec *s, const char *name, struct error *err)
{
	bool storm = requeue_failed(r, s, name),
	     pause = run_failure_applies(s, name, FAILURE_PAUSE);

	if (!pause && !run_failure_applies(s, name, FAILURE_ABORT))
		return storm ? error_set(err, ERR_STATE,
				       "stage '%s' ended with '%s', and '%s' was triaged more than "
				       "%d times in a day (RetriageStorm): find the cause before "
				       "it is "
				       "run again",
				       s->name, name, r->call.id, STORM_LIMIT)
			     : 0;
	return error_set(err, pause ? ERR_STATE : ERR_CHECK,
		"stage '%s' ended with '%s': its onFailure is '%s'%s", s->name, name,
		pause ? "pause" : "abort", pause ? "; the same command continues" : "");
}

/* A usage limit is no failure; NULL: neither is this. */
static const char *failure_of(const struct agent_call *c)
{
	enum harness_status status = c->result.status;

	return c->used && status == HARNESS_SUCCESS ? NULL
	       : c->invalid                         ? "ArtifactSchemaInvalid"
	       : !c->used                  ? c->result.rate_limited ? NULL : "HarnessUnavailable"
	       : status == HARNESS_TIMEOUT ? "AgentTimeout"
	       : status == HARNESS_BUDGET  ? "BudgetExceeded"
					   : harness_status_names[status];
}

static bool failed_with(const struct agent_call *c, enum failure_strategy strategy)
{
	const char *name = failure_of(c);

	return name && run_failure_applies(c->spec, name, strategy);
}

/* Once, and then as often as `retry` allows. */
static int call_and_retry(struct agent_call *c, struct error *err)
{
	const struct stage_spec *spec = c->spec;

	for (unsigned tries = 0;; tries++) {
		const struct harness_result before = c->result;
		const struct harness *before_used = c->used;

		if (run_chain(c, &c->input, c->chain.effective, &c->result, &c->used, err) < 0 ||
			check_artifact(c, err) < 0)
			return -1;
		if (before_used && !c->used)
			agent_note_left(c, before_used, &before);
		else if (before_used)
			usage_add(&c->result.usage, &before.usage);
		if (!failed_with(c, FAILURE_RETRY) || tries >= spec->max_retries)
			return 0;
		error_log("dev-team: '%s' ended with '%s': retry %u of %u", c->stage, failure_of(c),
			tries + 1, spec->max_retries);
		if (run_interrupt_wait((int)(spec->retry_delay_s * 1000)))
			return error_set(err, ERR_STATE, "interrupted");
	}
}

/* ---- the outcome ---- */

/* What a harness says about time, the network and access; a usage limit is not a failure. */
static bool is_hard(const struct harness_result *r)
{
	static const char *const signs[] = {"403", "forbidden", "permission denied", "econn",
		"enotfound", "etimedout", "network", "connection refused", "timed out"};

	for (size_t i = 0; r->status != HARNESS_SUCCESS && r->detail && i < COUNT(signs); i++)
		if (strcasestr(r->detail, signs[i]))
			return !r->rate_limited;
	return r->status == HARNESS_TIMEOUT;
}

/* `abort` and `pause` stop the run; otherwise the machine counts the failure and asks again. */
static int apply_failure_policy(const struct agent_call *c, struct error *err)
{
	const char *name = failure_of(c);

	return name ? run_failure_end(c->run, c->spec, name, err) : 0;
}

/* Every harness is at its limit or cannot be used. A limit says nothing about the agent. */
static int no_harness(const struct agent_call *c, struct run_answer *out, struct error *err)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	if (c->result.rate_limited) {
		out->how = "usage limit";
		out->limit = arena_printf(c->arena, "usage limit of '%s': %s", c->id,
			arena_printable(c->arena, str_of(c->result.detail), LIMIT_SHOWN));
		out->resets_at = c->result.resets_at;
		return 0;
	}
	out->hard = json_get(c->action, "node") && is_hard(&c->result);
	out->how =
		out->hard ? arena_printable(c->arena, str_of(c->result.detail), LIMIT_SHOWN) : NULL;
	if (out->hard)
		return 0;
	if (apply_failure_policy(c, err) < 0)
		return error_prefix(err, "%.600s", c->result.detail);
	out->how = "no harness";
	if (failed_with(c, FAILURE_CONTINUE))
		return 0;
	for (size_t i = 0; i < c->chain.effective.n; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", c->chain.effective.list[i]);
	return error_set(err, ERR_SYSTEM, "no harness can be used for '%s' (%s): %.600s", c->id,
		names.s ? names.s : "none declared", c->result.detail);
}

/* Records the result in runtime.json and fills the answer. */
static int agent_record_result(
	const struct agent_call *c, struct run_answer *out, struct error *err)
{
	const struct harness_result *r = &c->result;
	bool success = r->status == HARNESS_SUCCESS;
	const char *status = harness_status_names[r->status];

	if (!c->used)
		return no_harness(c, out, err);
	if (chain_record(c->run->artifacts, c->run->call.id, c->stage, c->used, &c->chain, r, err) <
		0)
		return -1;
	out->note = agent_note_of(c, c->used, r);
	out->cache_written = r->usage.cache_written;
	out->answered = success && str_trim(c->text).n;
	out->text = c->text;
	out->hard = is_hard(r);
	out->how = arena_printf(c->arena, "%s: %s", c->used->name, success ? "no answer" : status);
	if (!success && r->detail)
		error_log(
			"dev-team: %s on %s: %s: %.400s", c->id, c->used->name, status, r->detail);
	return 0;
}

static int agent_invoke(struct agent_call *c, struct buf *prompt, const struct instructions *role,
	struct run_answer *out, struct error *err)
{
	if (request_artifact(c, prompt, err) < 0 || set_input(c, buf_str(prompt), role, err) < 0)
		return -1;
	if (call_and_retry(c, err) < 0 || agent_record_result(c, out, err) < 0)
		return -1;
	return apply_failure_policy(c, err);
}

/* ---- stage, harness, model, prompt ---- */

const struct stage_spec *run_agent_stage(
	struct arena *a, const struct pipeline *p, const char *id, const char *agent)
{
	const char *state = arena_dup(a, run_action_state(id));
	const char *const names[] = {arena_printf(a, "%s-%s", state, agent), state, agent};
	const struct stage_spec *found = NULL;

	for (size_t i = 0; p && !found && i < COUNT(names); i++)
		found = pipeline_stage(p, names[i]);
	return found;
}

/* The one pinned when the run began, unless --model overrides it. */
static int choose_model(struct agent_call *c, struct error *err)
{
	const struct run_item *r = c->run;
	const char *model = r->request->model,
		   *own = json_get_str(json_get(c->action, "execution"), "modelConstraint");

	if (!model && own && strcmp(own, "inherit") != 0)
		model = own;
	if (c->spec && !model) {
		c->model = r->pins[c->spec - r->pipeline->stages].model;
		return 0;
	}
	if (model_resolve(&r->models, model, r->pipeline ? r->pipeline->default_model : NULL,
		    clock_now(), &c->model, err) < 0)
		return error_prefix(err, "stage '%s'", c->stage);
	return 0;
}

struct text_list run_agent_harnesses(
	struct arena *a, const struct run_item *r, const struct stage_spec *stage)
{
	const struct pipeline *p = r->pipeline;

	if (r->chain.n || !p)
		return r->chain;
	if (stage)
		return r->check.stages[stage - p->stages].chain;
	return chain_candidates(a, &(struct stage_spec){.harness = p->default_harness,
					   .fallback = p->default_fallback});
}

/* No independent harness is left: emits the event and applies the stage's failure policy. */
static int handle_violation(struct agent_call *c, struct error *err)
{
	if (chain_emit_violation(c->run->artifacts, c->run->call.id, c->spec, &c->chain, err) < 0)
		return -1;
	(void)requeue_failed(c->run, c->spec, "IndependenceViolated");
	if (chain_violation_strategy(c->spec) != FAILURE_CONTINUE)
		return error_set(err,
			chain_violation_strategy(c->spec) == FAILURE_ABORT ? ERR_CHECK : ERR_STATE,
			"no independent harness for '%s': every harness of its chain ran a stage "
			"that it must be independent of",
			c->stage);
	error_log("dev-team: '%s' runs on a harness that is not independent", c->stage);
	c->chain.effective = c->chain.declared;
	return 0;
}

/* Those before it are at their usage limits. */
static void begin_chain_at(struct text_list *chain, const char *first)
{
	size_t i = 0;

	while (i < chain->n && strcmp(chain->list[i], first) != 0)
		i++;
	if (i < chain->n) {
		chain->list += i;
		chain->n -= i;
	}
}

static int choose_chain(struct agent_call *c, const char *first, struct error *err)
{
	struct text_list independent_of = c->spec ? c->spec->independent_of : (struct text_list){0};
	struct chain_uses uses;

	if (chain_uses_read(c->arena, c->run->artifacts, c->run->call.id, &uses, err) < 0)
		return -1;
	chain_filter(c->arena, run_agent_harnesses(c->arena, c->run, c->spec), independent_of,
		&uses, &c->chain);
	if (first)
		begin_chain_at(&c->chain.effective, first);
	return c->chain.violated && c->spec ? handle_violation(c, err) : 0;
}

static int make_prompt(
	struct agent_call *c, struct buf *prompt, struct instructions *role, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct run_item *r = c->run;
	struct instructions skill;

	if (context_open(&f, r->call.context_file, CONTEXT_READ_ONLY, err) < 0 ||
		brief_instructions(
			c->arena, &f, c->id, r->plugin_root, r->call.repo, role, &skill, err) < 0)
		return -1;
	if (skill.path)
		c->skill_dir = arena_dup(c->arena, path_dir(skill.path));
	return brief_add(prompt, BRIEF_PROMPT, &f, c->id, role, &skill, err);
}

int run_agent_call(struct arena *a, const struct run_item *r, const json *action, const char *first,
	struct run_answer *out, struct error *err)
{
	CLEANUP(buf_release) struct buf prompt = BUF_INIT;
	struct agent_call c = {.run = r,
		.arena = a,
		.action = action,
		.id = json_get_str(action, "id"),
		.free = out->within_quota ? first : NULL};
	struct instructions role;
	int rc;

	c.spec = run_agent_stage(a, r->pipeline, c.id, json_get_str(action, "agent"));
	c.stage = c.spec ? c.spec->name : arena_dup(a, run_action_state(c.id));
	if (choose_model(&c, err) < 0 || choose_chain(&c, first, err) < 0 ||
		make_prompt(&c, &prompt, &role, err) < 0)
		return -1;
	run_log_open(&c.log, r->call.context_file, c.id);
	rc = agent_invoke(&c, &prompt, &role, out, err);
	run_log_close(&c.log);
	return rc;
}
