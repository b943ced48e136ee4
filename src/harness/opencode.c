#include "src/harness/api_status.h"

enum { ATTEMPTS = 3 }; /* it makes them without end; the third has failed after about ten seconds */

static const char *const credentials[] = {"OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
	"GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENROUTER_API_KEY", NULL};
static const char *const variables[] = {"OPENCODE_*", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", NULL};
static const char *const settings[] = {"OPENCODE_DISABLE_AUTOUPDATE=1", NULL};

/* Its models are named with their provider; the usual ones may be given without. */
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

/* It allows all tools unless told otherwise; what would be asked is refused. */
static void set_permission(struct command *c, const struct harness_input *input)
{
	bool bash = input_allows(input, "Bash"), edit = input_may_write(input);

	if (bash && edit)
		return;
	command_set(c, input,
		edit ? "OPENCODE_PERMISSION={\"bash\":\"deny\"}"
		     : "OPENCODE_PERMISSION={\"bash\":\"deny\",\"edit\":\"deny\"}");
}

/* Without a title it asks a model for one. Its log is the only place where it says that it tries
 * again. */
static int command(struct command *c, const struct harness_input *input, struct error *err)
{
	(void)err;
	command_add(c, "run");
	command_option(c, "--format", "json");
	command_option(c, "--title", "dev-team");
	command_add(c, "--print-logs");
	command_option(c, "--log-level", "ERROR");
	command_option(c, "-m", model_of(c->arena, input->model));
	set_permission(c, input);
	return 0;
}

static void take_step(struct session *s, const json *part)
{
	const json *tokens = json_get(part, "tokens"), *cache = json_get(tokens, "cache");
	int64_t input = json_get_int(tokens, "input", 0);
	int64_t output = json_get_int(tokens, "output", 0) + json_get_int(tokens, "reasoning", 0);
	double cost = json_number(json_get(part, "cost"), 0);

	usage_add_tokens(&s->usage, input, output,
		json_get_int(cache, "read", 0) + json_get_int(cache, "write", 0));
	s->usage.cost_usd = (s->usage.cost_usd < 0 ? 0 : s->usage.cost_usd) + (cost > 0 ? cost : 0);
	session_progress(s, input + output, NULL);
	if (!str_is(str_of(json_get_str(part, "reason")), "tool-calls"))
		s->finished = true;
}

/* A fault of the API without a status: there was no answer. */
static bool unreached(struct str name, const json *data)
{
	static const char *const forms[] = {"Cannot connect to API", "Unable to connect. ", NULL};

	return str_is(name, "APIError") &&
	       (json_is_true(json_get(data, "isRetryable")) ||
		       text_begins(str_of(json_get_str(data, "message")), forms));
}

/* A fault that it has no name for is told better by the end of its log. */
static void take_error(struct session *s, const json *error)
{
	struct str name = str_of(json_get_str(error, "name"));
	const json *data = json_get(error, "data");
	struct str text = str_of(json_get_str(data, "message"));
	int64_t status = json_get_int(data, "statusCode", -1);

	if (status > 0)
		api_status_verdict(s, (long)status, text);
	else if (str_is(name, "ProviderAuthError") || unreached(name, data))
		session_verdict(s, HARNESS_UNAVAILABLE, text.n ? text : name);
	else if (!str_is(name, "UnknownError"))
		session_verdict(s, HARNESS_FAILURE, text.n ? text : name);
}

static void object(struct session *s, const json *value)
{
	struct str type = str_of(json_get_str(value, "type"));
	const json *part = json_get(value, "part");

	if (str_is(type, "error")) {
		take_error(s, json_get(value, "error"));
		return;
	}
	session_going(s);
	buf_clear(&s->note);
	if (str_is(type, "text"))
		session_text(s, str_of(json_get_str(part, "text")));
	else if (str_is(type, "tool_use"))
		session_progress(s, 0, json_get_str(part, "tool"));
	else if (str_is(type, "step_finish"))
		take_step(s, part);
}

#define LOG_FIRST "timestamp="
#define LOG_KIND  " message=\"stream error\" "
#define LOG_WHY   " error.error=\""
#define LOG_API   "AI_APICallError: "

/* What the program's own line says in its last quotes, as in
 * `timestamp=... level=ERROR ... message="stream error" ... error.error="AI_APICallError: slow
 * down"`; empty: it is another line. */
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

/* The log has no status. */
static bool is_limit(struct str why)
{
	static const char *const forms[] = {LOG_API "Rate limit", LOG_API "Too many requests",
		LOG_API "You exceeded your current quota", LOG_API "Quota exceeded",
		LOG_API "Resource has been exhausted", LOG_API "Usage limit", NULL};

	return text_begins(why, forms);
}

/* The note has a byte for each attempt since it last got further. */
static void error_line(struct session *s, struct str line)
{
	struct str why = reason_in(line);

	if (!why.n)
		return;
	buf_addc(&s->note, '.');
	if (s->note.len >= ATTEMPTS)
		session_give_up(s, is_limit(why), why);
	else
		session_retrying(s, is_limit(why), why);
}

const struct harness harness_opencode = {
	.name = "opencode",
	.binary = "opencode",
	.range = ">=1.0.0",
	.install = "npm install -g opencode-ai",
	.can = {[FRESH_CONTEXT] = CAPABLE_YES,
		[CUSTOM_TOOLS] = CAPABLE_YES,
		[STREAMING] = CAPABLE_YES,
		[WORKTREE_CWD] = CAPABLE_YES,
		[SKILLS] = CAPABLE_PARTIAL,
		[ARTIFACT_WRITES] = CAPABLE_YES},
	.credentials = credentials,
	.variables = variables,
	.settings = settings,
	.models_open = true,
	.needs_finish = true,
	.command = command,
	.object = object,
	.error_line = error_line,
};
