#include "src/harness/api_status.h"
#include "src/harness/version.h"

enum { FORBIDDEN = 403, LIMIT = 429 };

#define API_ERROR "error " /* in the note: the word of the last message stands behind it */

static const char *const models[] = {"claude-haiku-4-5-20251001", "claude-sonnet-4-6",
	"claude-opus-4-7", "claude-opus-4-7[1m]", NULL};
static const char *const families[] = {"claude-", NULL};
static const char *const credentials[] = {"ANTHROPIC_API_KEY", "CLAUDE_CODE_API_KEY",
	"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", NULL};
static const char *const variables[] = {"ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
	"ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_*", "CLAUDE_CONFIG_DIR",
	"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX", NULL};
/* Agents in the background would end the run before its last word; ten retries take minutes. */
static const char *const settings[] = {"DISABLE_AUTOUPDATER=1",
	"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_MAX_RETRIES=6", NULL};

/* Nobody can be asked: what is not allowed here is refused. */
static const char *const all_tools[] = {"Bash", "Read", "Edit", "Write", "Agent", "Skill", NULL};

static bool knows_budget(void)
{
	const struct availability *v = harness_available(&harness_claude_code);

	return v->version && version_in(str_of(v->version), STR(">=2.1.0"));
}

static int command(struct command *c, const struct harness_input *input, struct error *err)
{
	(void)err;
	command_add(c, "-p");
	command_option(c, "--output-format", "stream-json");
	command_add(c, "--verbose");
	command_option(c, "--model", input->model);
	if (input->max_budget_usd > 0 && knows_budget())
		command_option(c, "--max-budget-usd",
			arena_printf(c->arena, "%.6f", input->max_budget_usd));
	command_list(c, "--allowedTools", input->tools ? input->tools : all_tools);
	return 0;
}

static struct str text_of(const json *object, const char *key)
{
	return str_of(json_get_str(object, key));
}

static int64_t tokens_of(const json *usage, const char *key)
{
	return json_get_int(usage, key, 0);
}

/* A message comes in pieces that all have its usage: counted once. The note has the id of the last
 * one. */
static void take_usage(struct session *s, const json *message, const char *doing)
{
	const json *usage = json_get(message, "usage");
	struct str id = text_of(message, "id");
	int64_t tokens = 0;

	if (id.n && !str_eq(id, buf_str(&s->note))) {
		buf_clear(&s->note);
		buf_add(&s->note, id);
		tokens = tokens_of(usage, "input_tokens") + tokens_of(usage, "output_tokens");
	}
	session_progress(s, tokens, doing);
}

/* In place of a message of a model: a word for why there is none. */
static void take_api_error(struct session *s, struct str word)
{
	buf_clear(&s->note);
	buf_adds(&s->note, API_ERROR);
	buf_add(&s->note, word);
	session_progress(s, 0, NULL);
}

static void take_assistant(struct session *s, const json *value)
{
	const json *message = json_get(value, "message");
	const char *doing = NULL;

	for (const json *block = json_first(json_get(message, "content")); block;
		block = json_next(block))
		if (str_is(text_of(block, "type"), "tool_use"))
			doing = json_get_str(block, "name");
	if (json_get_str(value, "error")) {
		take_api_error(s, text_of(value, "error"));
		return;
	}
	session_going(s);
	session_model(s, text_of(message, "model"));
	take_usage(s, message, doing);
}

/* The program tries the API again. A login does not become good by that. */
static void take_retry(struct session *s, const json *value)
{
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	int64_t status = json_get_int(value, "error_status", 0);
	const char *error = json_get_str(value, "error");

	if (status)
		buf_addf(&why, "the API answered %lld (%s)", (long long)status,
			error ? error : "unknown");
	else
		buf_adds(&why, "the API cannot be reached");
	if (status == 401 || status == FORBIDDEN)
		session_give_up(s, false, buf_str(&why));
	else
		session_retrying(s, status == LIMIT, buf_str(&why));
}

static void take_system(struct session *s, const json *value)
{
	if (str_is(text_of(value, "subtype"), "api_retry"))
		take_retry(s, value);
}

/* Of all models, sub-agents' too; the one that wrote most is the one that answered. */
static void take_models(struct session *s, const json *models_used)
{
	int64_t most = -1;

	s->usage = (struct usage){-1, -1, -1, s->usage.cost_usd, 0};
	for (const json *m = json_first(models_used); m; m = json_next(m)) {
		int64_t output = tokens_of(m, "outputTokens");

		usage_add_tokens(&s->usage, tokens_of(m, "inputTokens"), output,
			tokens_of(m, "cacheReadInputTokens") +
				tokens_of(m, "cacheCreationInputTokens"));
		if (output > most)
			session_model(s, str_of(json_key(m)));
		most = output > most ? output : most;
	}
}

static void take_cost(struct session *s, const json *value)
{
	double cost = json_number(json_get(value, "total_cost_usd"), -1);
	const json *used = json_get(value, "modelUsage"), *usage = json_get(value, "usage");

	if (cost > s->usage.cost_usd)
		s->usage.cost_usd = cost;
	if (json_first(used)) {
		take_models(s, used);
	} else if (usage && s->usage.input_tokens < 0) {
		usage_add_tokens(&s->usage, tokens_of(usage, "input_tokens"),
			tokens_of(usage, "output_tokens"),
			tokens_of(usage, "cache_read_input_tokens") +
				tokens_of(usage, "cache_creation_input_tokens"));
	}
}

/* ---- why there is no answer ---- */

static bool says_limit(struct str text)
{
	static const char *const forms[] = {"Claude AI usage limit reached",
		"Claude usage limit reached", "You've hit your ", "API Error: 429 ",
		"API Error: Request rejected (429)", NULL};

	return text_begins(text, forms);
}

/* What programs that tell neither a status nor a reason say of themselves. */
static bool says_unavailable(struct str text)
{
	static const char *const forms[] = {"Invalid API key", "Not logged in",
		"Credit balance is too low", "Failed to authenticate.", "OAuth token has expired",
		"API Error: Connection ", "API Error: 401 ", "API Error: 403 ", "API Error: 500 ",
		"API Error: 502 ", "API Error: 503 ", "API Error: 529 ", NULL};

	return text_begins(text, forms) || says_limit(text);
}

/* Whether the program's word for the last message is one of these. */
static bool word_in(const struct session *s, const char *const *words)
{
	struct str note = buf_str(&s->note), word;

	if (!str_starts(note, API_ERROR))
		return false;
	word = str_sub(note, strlen(API_ERROR), note.n);
	for (; *words; words++)
		if (str_is(word, *words))
			return true;
	return false;
}

static bool word_of_limit(const struct session *s)
{
	static const char *const words[] = {"rate_limit", NULL};

	return word_in(s, words);
}

static bool word_of_service(const struct session *s)
{
	static const char *const words[] = {"authentication_failed", "billing_error", "rate_limit",
		"server_error", "overloaded", NULL};

	return word_in(s, words);
}

/* Of what was asked, not of the service. */
static bool word_of_content(const struct session *s)
{
	static const char *const words[] = {
		"invalid_request", "model_not_found", "max_output_tokens", NULL};

	return word_in(s, words);
}

/* A request that it refuses (400) or a model that it does not have (404) is ours, unless it refuses
 * it for want of money. */
static bool status_unavailable(const struct session *s, int64_t status, struct str text)
{
	static const char *const money[] = {"Credit balance is too low", NULL};
	static const char *const billing[] = {"billing_error", NULL};

	return status == 401 || status == FORBIDDEN || status == 408 || status == LIMIT ||
	       status >= 500 || word_in(s, billing) || text_begins(text, money);
}

/*
 * The API did not answer as it should: not reached (no status), no login, a limit, a fault of its
 * own. That is in fields of the program's; the text is the agent's when it has worked, and is
 * believed only of programs that have no such fields, and before that.
 */
static bool is_unavailable(const struct session *s, const json *value, struct str text)
{
	int64_t status = json_get_int(value, "api_error_status", 0);
	struct str reason = text_of(value, "terminal_reason");

	if (status)
		return status_unavailable(s, status, text);
	if (word_of_service(s) || word_of_content(s))
		return word_of_service(s);
	if (reason.n)
		return str_is(reason, "api_error");
	return !s->worked && json_get_int(value, "num_turns", 1) <= 1 && says_unavailable(text);
}

static bool is_limit(const struct session *s, const json *value, struct str text)
{
	int64_t status = json_get_int(value, "api_error_status", 0);

	return status ? status == LIMIT : word_of_limit(s) || says_limit(text);
}

static void take_error(struct session *s, const json *value, struct str text)
{
	struct str subtype = text_of(value, "subtype");

	if (str_is(subtype, "error_max_budget_usd")) {
		session_verdict(s, HARNESS_BUDGET, text.n ? text : subtype);
	} else if (is_unavailable(s, value, text)) {
		session_verdict(s, HARNESS_UNAVAILABLE, text);
		s->rate_limited = is_limit(s, value, text);
	} else {
		session_verdict(s, HARNESS_FAILURE, text.n ? text : subtype);
	}
}

/* There may be several: one for each time that the agent came to rest. */
static void take_result(struct session *s, const json *value)
{
	struct str text = text_of(value, "result");
	bool asked = json_get_int(value, "num_turns", 1) > 0;

	take_cost(s, value);
	session_going(s);
	if (json_is_true(json_get(value, "is_error")) ||
		str_starts(text_of(value, "subtype"), "error")) {
		take_error(s, value, text);
		return;
	}
	s->finished = s->finished || asked;
	if (text.n)
		session_text(s, text);
}

static void object(struct session *s, const json *value)
{
	struct str type = text_of(value, "type");

	if (str_is(type, "assistant"))
		take_assistant(s, value);
	else if (str_is(type, "system"))
		take_system(s, value);
	else if (str_is(type, "result"))
		take_result(s, value);
}

/* A prompt whose inline command fails makes a result without a question to a model. */
static void judge(struct session *s, const struct ending *e)
{
	if (!e->exit_code && !s->finished && s->text.len && !s->judged)
		session_verdict(s, HARNESS_FAILURE,
			str_of(arena_printf(s->arena, "no model was asked: %s", s->text.s)));
}

const struct harness harness_claude_code = {
	.name = "claude-code",
	.binary = "claude",
	.range = ">=2.0.0",
	.install = "npm install -g @anthropic-ai/claude-code",
	.can = {[FRESH_CONTEXT] = CAPABLE_YES,
		[CUSTOM_TOOLS] = CAPABLE_YES,
		[STREAMING] = CAPABLE_YES,
		[WORKTREE_CWD] = CAPABLE_YES,
		[SKILLS] = CAPABLE_YES,
		[ARTIFACT_WRITES] = CAPABLE_YES},
	.context_tokens = 1000000,
	.models = models,
	.families = families,
	.credentials = credentials,
	.variables = variables,
	.settings = settings,
	.needs_finish = true,
	.command = command,
	.object = object,
	.judge = judge,
};
