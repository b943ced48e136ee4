#include "src/harness/adapter.h"

enum { ATTEMPTS = 3 }; /* it retries for ever; the third attempt fails after about ten seconds */

/* Its models are named PROVIDER/MODEL; the provider of the usual families is added. */
static const char *model_of(struct arena *a, const char *model)
{
	static const struct {
		const char *family, *provider;
	} rows[] = {{"claude-", "anthropic"}, {"gpt-", "openai"}, {"o3", "openai"},
		{"o4", "openai"}, {"codex-", "openai"}, {"gemini-", "google"}};

	if (!model || strchr(model, '/'))
		return model;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_starts(str_of(model), rows[i].family))
			return arena_printf(a, "%s/%s", rows[i].provider, model);
	return model;
}

/* It allows all tools by default, and refuses what it would ask about. */
static void set_permission(struct command *c, const struct harness_input *input)
{
	bool bash = harness_input_allows(input, "Bash"), edit = harness_input_allows_writes(input);

	if (bash && edit)
		return;
	command_set_env(c, input,
		edit ? "OPENCODE_PERMISSION={\"bash\":\"deny\"}"
		     : "OPENCODE_PERMISSION={\"bash\":\"deny\",\"edit\":\"deny\"}");
}

/* Without a title it asks a model for one. Retries are reported in its log only. */
static void opencode_command(struct command *c, const struct harness_input *input)
{
	command_add(c, "run");
	command_option(c, "--format", "json");
	command_option(c, "--title", "dev-team");
	command_add(c, "--print-logs");
	command_option(c, "--log-level", "ERROR");
	command_option(c, "-m", model_of(c->arena, input->model));
	set_permission(c, input);
}

static void opencode_take_step(struct session *s, const json *part)
{
	static const struct usage_form form = {.input = "input",
		.output = "output",
		.reasoning = "reasoning",
		.cache_read = "cache.read",
		.cache_write = "cache.write"};
	double cost = json_number(json_get(part, "cost"), 0);

	s->usage.cost_usd = (s->usage.cost_usd < 0 ? 0 : s->usage.cost_usd) + (cost > 0 ? cost : 0);
	session_progress(s, session_usage(s, json_get(part, "tokens"), &form), NULL);
	s->finished = !str_is(harness_member(part, "reason"), "tool-calls");
	if (str_is(harness_member(part, "reason"), "stop") && session_recover(s))
		s->recovered = true;
}

/* A fault of the API without a status: no answer came. */
static bool unreached(struct str name, const json *data)
{
	return str_is(name, "APIError") &&
	       (json_is_true(json_get(data, "isRetryable")) ||
		       harness_api_text_starts(harness_member(data, "message"),
			       "Cannot connect to API", "Unable to connect. "));
}

/* The end of its log explains a fault without a name better. */
static void opencode_take_error(struct session *s, const json *value)
{
	const json *error = json_get(value, "error");
	struct str name = harness_member(error, "name");
	const json *data = json_get(error, "data");
	struct str text = harness_member(data, "message");
	int64_t status = json_get_int(data, "statusCode", -1);

	s->faulted = true;
	s->recovered = false;
	if (status > 0)
		session_api_verdict(s, (long)status, text);
	else if (str_is(name, "ProviderAuthError") || unreached(name, data))
		session_verdict(s, HARNESS_UNAVAILABLE, text.n ? text : name);
	else if (!str_is(name, "UnknownError"))
		session_verdict(s, HARNESS_FAILURE, text.n ? text : name);
}

static void take_part(struct session *s, const json *value)
{
	struct str type = harness_member(value, "type");
	const json *part = json_get(value, "part");

	session_resumed(s);
	buf_clear(&s->note);
	if (str_is(type, "text"))
		session_text(s, harness_member(part, "text"));
	else if (str_is(type, "tool_use"))
		session_progress(s, 0, json_get_str(part, "tool"));
	else if (str_is(type, "step_finish"))
		opencode_take_step(s, part);
}

static const struct harness_handler handlers[] = {
	{"error", opencode_take_error}, {NULL, take_part}, {0}};

#define LOG_FIRST "timestamp="
#define LOG_KIND  " message=\"stream error\" "
#define LOG_WHY   " error.error=\""
#define LOG_API   "AI_APICallError: "

/* The reason in `timestamp=... level=ERROR ... message="stream error" ...
 * error.error="AI_APICallError: slow down"`; empty for any other line. */
static struct str reason_in(struct str line)
{
	size_t from = str_find(line, STR(LOG_WHY));
	struct str why = str_sub(line, from, line.n);

	if (!str_starts(line, LOG_FIRST) || str_find(line, STR(LOG_KIND)) >= from || !why.n)
		return (struct str){NULL, 0};
	why = str_sub(why, strlen(LOG_WHY), why.n);
	if (str_ends(why, "\""))
		why.n--;
	return str_starts(why, LOG_API) ? why : (struct str){NULL, 0};
}

/* The log does not have the status. */
static bool opencode_is_limit(struct str why)
{
	return harness_api_text_starts(why, LOG_API "Rate limit", LOG_API "Too many requests",
		LOG_API "You exceeded your current quota", LOG_API "Quota exceeded",
		LOG_API "Resource has been exhausted", LOG_API "Usage limit");
}

/* The note has a byte for each attempt since the last progress. */
static void opencode_error_line(struct session *s, struct str line)
{
	struct str why = reason_in(line);

	if (!why.n)
		return;
	buf_addc(&s->note, '.');
	if (s->note.len >= ATTEMPTS)
		session_abort(s, opencode_is_limit(why), why);
	else
		session_retrying(s, opencode_is_limit(why), why);
}

const struct harness harness_opencode = {
	.name = "opencode",
	.binary = "opencode",
	.range = ">=1.0.0",
	.install = "npm install -g opencode-ai",
	.can = {HARNESS_YES, HARNESS_YES, HARNESS_YES, HARNESS_YES, HARNESS_PARTIAL, HARNESS_YES},
	.credentials = HARNESS_NAMES("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY"),
	.variables = HARNESS_NAMES("OPENCODE_*", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
	.settings = HARNESS_NAMES("OPENCODE_DISABLE_AUTOUPDATE=1"),
	.models_open = true,
	.needs_finish = true,
	.command = opencode_command,
	.handlers = handlers,
	.error_line = opencode_error_line,
};
