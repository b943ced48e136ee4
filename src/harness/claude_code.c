#include "src/harness/adapter.h"
#include "src/sys/path.h"

enum { HOOK_S = 60 }; /* more than it takes in any case */

#define API_ERROR "error " /* in the note, before the code of the last message */

/* Nobody answers a permission prompt: a tool that is not listed is refused. */
static const char *const all_tools[] = {"Bash", "Read", "Edit", "Write", "Agent", "Skill", NULL};

/* Those of the command line have precedence over the project's. A hook that fails denies the call.
 */
static const char *hook_settings(struct arena *a)
{
	const char *self = path_own_program(a);
	CLEANUP(buf_release) struct buf text = BUF_INIT, program = BUF_INIT;
	CLEANUP(json_free) json *settings = NULL;
	json *hooks = json_array(), *rows = json_array();

	buf_add_shell(&program, str_of(self ? self : "dev-team"));
	buf_adds(&program, " hook PreToolUse || exit 2");
	json_push(hooks, JSON_OBJECT(JSON_TEXT("type", "command"), JSON_TEXT("command", program.s),
				 JSON_INT("timeout", HOOK_S)));
	json_push(rows, JSON_OBJECT(JSON_TEXT("matcher", "*"), JSON_VALUE("hooks", hooks)));
	settings = JSON_OBJECT(JSON_BOOL("disableAllHooks", false),
		JSON_VALUE("hooks", JSON_OBJECT(JSON_VALUE("PreToolUse", rows))));
	json_print(&text, settings);
	return arena_dup(a, buf_str(&text));
}

/* Takes away the other tools, of agents that it starts too: `--allowedTools` takes none away, and
 * the client allows Read, Agent and more by itself. `--tools` knows neither patterns, such as
 * `Bash(git log:*)`, nor the tools of MCP servers, which are refused unless they are allowed. */
static void restrict_tools(struct command *c, const char *const *tools)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;

	for (; *tools; tools++)
		if (!str_starts(str_of(*tools), "mcp__"))
			buf_addf(&names, "%s%.*s", names.len ? "," : "", (int)strcspn(*tools, "("),
				*tools);
	command_option(c, "--tools", names.len ? names.s : "");
}

static void claude_code_command(struct command *c, const struct harness_input *input)
{
	command_add(c, "-p");
	command_option(c, "--output-format", "stream-json");
	command_add(c, "--verbose");
	command_option(c, "--model", input->model);
	if (input->max_budget_usd > 0)
		command_option(c, "--max-budget-usd",
			arena_printf(c->arena, "%.6f", input->max_budget_usd));
	if (input->judged)
		command_option(c, "--settings", hook_settings(c->arena));
	if (input->tools)
		restrict_tools(c, input->tools);
	command_list(c, "--allowedTools", input->tools ? input->tools : all_tools);
}

/* A message comes in pieces that all carry its usage, which counts once. The note has the id of the
 * last message. */
static void claude_code_take_usage(struct session *s, const json *message, const char *activity)
{
	const json *usage = json_get(message, "usage");
	struct str id = harness_member(message, "id");
	int64_t tokens = 0;

	if (id.n && !str_eq(id, buf_str(&s->note))) {
		buf_clear(&s->note);
		buf_add(&s->note, id);
		tokens = json_get_int(usage, "input_tokens", 0) +
			 json_get_int(usage, "output_tokens", 0);
	}
	session_progress(s, tokens, activity);
}

/* There is no message of a model; `word` says why. */
static void take_api_error(struct session *s, struct str word)
{
	buf_clear(&s->note);
	buf_adds(&s->note, API_ERROR);
	buf_add(&s->note, word);
	session_progress(s, 0, NULL);
}

/* The text of the last message, for a result that is empty. What precedes a tool is no answer. */
static void take_text(struct session *s, const json *block)
{
	struct str text = harness_member(block, "text");

	if (str_is(harness_member(block, "type"), "tool_use"))
		session_text(s, STR(""));
	else if (str_is(harness_member(block, "type"), "text") && str_trim(text).n)
		session_text(s, text);
}

static void take_assistant(struct session *s, const json *value)
{
	const json *message = json_get(value, "message");
	const char *activity = NULL;

	for (const json *block = json_first(json_get(message, "content")); block;
		block = json_next(block))
		if (str_is(harness_member(block, "type"), "tool_use"))
			activity = json_get_str(block, "name");
	if (json_get_str(value, "error")) {
		take_api_error(s, harness_member(value, "error"));
		return;
	}
	session_resumed(s);
	if (!json_get_str(value, "parent_tool_use_id")) { /* not of a sub-agent */
		s->finished = false;
		for (const json *block = json_first(json_get(message, "content")); block;
			block = json_next(block))
			take_text(s, block);
	}
	session_model(s, harness_member(message, "model"));
	claude_code_take_usage(s, message, activity);
}

/* The program retries. Retrying does not cure a bad login. */
static void take_system(struct session *s, const json *value)
{
	CLEANUP(buf_release) struct buf why = BUF_INIT;
	int64_t status = json_get_int(value, "error_status", 0);
	const char *error = json_get_str(value, "error");

	if (!str_is(harness_member(value, "subtype"), "api_retry"))
		return;
	if (status)
		buf_addf(&why, "the API answered %lld (%s)", (long long)status,
			error ? error : "unknown");
	else
		buf_adds(&why, "the API cannot be reached");
	if (status == API_UNAUTHORIZED || status == API_FORBIDDEN)
		session_abort(s, false, buf_str(&why));
	else
		session_retrying(s, status == API_LIMIT, buf_str(&why));
}

/* The total of all models, those of sub-agents too. */
static void claude_code_take_cost(struct session *s, const json *value)
{
	static const struct usage_form of_model = {.input = "inputTokens",
		.output = "outputTokens",
		.cache_read = "cacheReadInputTokens",
		.cache_write = "cacheCreationInputTokens"};
	static const struct usage_form of_turn = {.input = "input_tokens",
		.output = "output_tokens",
		.cache_read = "cache_read_input_tokens",
		.cache_write = "cache_creation_input_tokens"};
	double cost = json_number(json_get(value, "total_cost_usd"), -1);
	const json *models_used = json_get(value, "modelUsage"), *usage = json_get(value, "usage");

	if (cost > s->usage.cost_usd)
		s->usage.cost_usd = cost;
	if (json_first(models_used)) {
		usage_clear_tokens(&s->usage);
		for (const json *m = json_first(models_used); m; m = json_next(m))
			(void)session_usage(s, m, &of_model);
		session_model_most_used(s, models_used, "outputTokens");
	} else if (usage && s->usage.input_tokens < 0) {
		(void)session_usage(s, usage, &of_turn);
	}
}

/* ---- faults ---- */

static bool text_is_limit(struct str text)
{
	return harness_api_text_starts(text, "Claude AI usage limit reached",
		"Claude usage limit reached", "You've hit your ", "API Error: 429 ",
		"API Error: Request rejected (429)");
}

/* Texts of versions that report neither a status nor a reason. */
static bool text_is_unavailable(struct str text)
{
	return harness_api_text_starts(text, "Invalid API key", "Not logged in",
		       "Credit balance is too low", "Failed to authenticate.",
		       "OAuth token has expired", "API Error: Connection ", "API Error: 401 ",
		       "API Error: 403 ", "API Error: 500 ", "API Error: 502 ", "API Error: 503 ",
		       "API Error: 529 ") ||
	       text_is_limit(text);
}

/* What the code of the last message says: the service is at fault, or the request was. */
enum code_fault { CODE_NONE, CODE_SERVICE, CODE_LIMIT, CODE_BILLING, CODE_CONTENT };

static enum code_fault code_fault(const struct session *s)
{
	static const struct {
		const char *code;
		enum code_fault fault;
	} rows[] = {{"authentication_failed", CODE_SERVICE}, {"server_error", CODE_SERVICE},
		{"overloaded", CODE_SERVICE}, {"rate_limit", CODE_LIMIT},
		{"billing_error", CODE_BILLING}, {"invalid_request", CODE_CONTENT},
		{"model_not_found", CODE_CONTENT}, {"max_output_tokens", CODE_CONTENT}};
	struct str note = buf_str(&s->note);

	if (!str_starts(note, API_ERROR))
		return CODE_NONE;
	note = str_sub(note, strlen(API_ERROR), note.n);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_is(note, rows[i].code))
			return rows[i].fault;
	return CODE_NONE;
}

/* A request refused for lack of credit is the fault of the service too. */
static bool status_unavailable(const struct session *s, int64_t status, struct str text)
{
	return harness_api_status_unavailable(status) || code_fault(s) == CODE_BILLING ||
	       harness_api_text_starts(text, "Credit balance is too low");
}

/*
 * The API was not reached, refused the login, was at a limit or failed. The program reports that in
 * fields of its own. Its text counts only if it has no such fields and no model has answered yet:
 * later it may be the agent's.
 */
static bool claude_code_is_unavailable(const struct session *s, const json *value, struct str text)
{
	int64_t status = json_get_int(value, "api_error_status", 0);
	struct str reason = harness_member(value, "terminal_reason");
	enum code_fault code = code_fault(s);

	if (status)
		return status_unavailable(s, status, text);
	if (code != CODE_NONE)
		return code != CODE_CONTENT;
	if (reason.n)
		return str_is(reason, "api_error");
	return !s->worked && json_get_int(value, "num_turns", 1) <= 1 && text_is_unavailable(text);
}

static bool claude_code_is_limit(const struct session *s, const json *value, struct str text)
{
	int64_t status = json_get_int(value, "api_error_status", 0);

	return status ? status == API_LIMIT : code_fault(s) == CODE_LIMIT || text_is_limit(text);
}

static void claude_code_take_error(struct session *s, const json *value, struct str text)
{
	struct str subtype = harness_member(value, "subtype");

	if (str_is(subtype, "error_max_budget_usd")) {
		session_verdict(s, HARNESS_BUDGET, text.n ? text : subtype);
		return;
	}
	s->faulted = true;
	if (claude_code_is_unavailable(s, value, text)) {
		session_verdict(s, HARNESS_UNAVAILABLE, text);
		s->rate_limited = claude_code_is_limit(s, value, text);
	} else {
		session_verdict(s, HARNESS_FAILURE, text.n ? text : subtype);
	}
}

/* There may be several, one for each time the agent paused. */
static void claude_code_take_result(struct session *s, const json *value)
{
	struct str text = harness_member(value, "result");
	bool called = json_get_int(value, "num_turns", 1) > 0;

	claude_code_take_cost(s, value);
	session_resumed(s);
	if (json_is_true(json_get(value, "is_error")) ||
		str_starts(harness_member(value, "subtype"), "error")) {
		claude_code_take_error(s, value, text);
		return;
	}
	s->finished = s->finished || called;
	if (called && s->verdict != HARNESS_BUDGET)
		(void)session_recover(s);
	if (str_trim(text).n)
		session_text(s, text);
}

static const struct harness_handler handlers[] = {
	{"assistant", take_assistant},
	{"system", take_system},
	{"result", claude_code_take_result},
	{0},
};

/* A prompt with a failing inline command gives a result without calling a model. */
static void claude_code_judge(struct session *s, struct str errors)
{
	(void)errors;
	if (!s->exit_code && !s->finished && s->text.len && !s->model.len && !s->judged)
		session_verdict(s, HARNESS_FAILURE,
			str_of(arena_printf(s->arena, "no model was called: %s", s->text.s)));
}

enum { CONFIGURATION_MAX = 32 << 20 };

/* The client (measured with 2.1.329) notes there whom it is logged in as; a person has a plan of
 * each organization. Its tokens are in another file. */
static const char *login_id(struct arena *a)
{
	const char *own = getenv("CLAUDE_CONFIG_DIR"), *home = getenv("HOME");
	const char *dir = own && *own ? own : home, *person, *organization;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *all = NULL;
	const json *account;
	struct error ignored;
	bool missing;

	if (!dir || !*dir ||
		sys_read_file(&text, path_join(a, dir, ".claude.json"), CONFIGURATION_MAX, &missing,
			&ignored) < 0 ||
		json_parse(&all, str_trim(buf_str(&text)), &ignored) < 0)
		return NULL;
	account = json_get(all, "oauthAccount");
	person = json_get_str(account, "accountUuid");
	organization = json_get_str(account, "organizationUuid");
	return person ? arena_printf(a, "%s:%s", person, organization ? organization : "") : NULL;
}

const struct harness harness_claude_code = {
	.name = "claude-code",
	.binary = "claude",
	.range = ">=2.1.0",
	.install = "npm install -g @anthropic-ai/claude-code",
	.can = {HARNESS_YES, HARNESS_YES, HARNESS_YES, HARNESS_YES, HARNESS_YES, HARNESS_YES},
	.context_tokens = 1000000,
	.models = HARNESS_NAMES("claude-haiku-4-5-20251001", "claude-sonnet-4-6", "claude-opus-4-7",
		"claude-opus-4-7[1m]"),
	.families = HARNESS_NAMES("claude-"),
	.credentials = HARNESS_NAMES("ANTHROPIC_API_KEY", "CLAUDE_CODE_API_KEY",
		"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
	.logins =
		HARNESS_NAMES("$CLAUDE_CONFIG_DIR/.credentials.json", ".claude/.credentials.json"),
	.login = "run 'claude' and then '/login'",
	.login_id = login_id,
	.variables = HARNESS_NAMES("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
		"ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_*", "CLAUDE_CONFIG_DIR",
		"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "IS_SANDBOX"),
	/* Background agents would end the run before the last message; ten retries take minutes. */
	.settings = HARNESS_NAMES("DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_MAX_RETRIES=6"),
	.has_hooks = true,
	.needs_finish = true,
	.command = claude_code_command,
	.handlers = handlers,
	.judge = claude_code_judge,
};
