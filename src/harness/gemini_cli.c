#include "src/harness/api_status.h"

enum {
	ATTEMPTS = 3,   /* of its ten; the third has failed after about twenty seconds */
	EXIT_LOGIN = 41 /* no way to log in is set up */
};

static const char *const models[] = {
	"gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", NULL};
static const char *const families[] = {"gemini-", NULL};
static const char *const credentials[] = {"GEMINI_API_KEY", "GOOGLE_API_KEY", NULL};
static const char *const variables[] = {"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
	"GOOGLE_GENAI_*", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
	"GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_*", NULL};
/* Nobody is there to be asked whether the folder can be trusted; the program would start itself a
 * second time for its memory. */
static const char *const settings[] = {
	"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true", NULL};

/* What needs a leave is refused when there is nobody to give it. */
static const char *approval(const struct harness_input *input)
{
	if (input_allows(input, "Bash"))
		return "yolo";
	return input_may_write(input) ? "auto_edit" : "default";
}

static int command(struct command *c, const struct harness_input *input, struct error *err)
{
	(void)err;
	command_option(c, "--output-format", "stream-json");
	command_option(c, "-m", input->model);
	command_option(c, "--approval-mode", approval(input));
	return 0;
}

/* The last message comes in pieces, which are kept in the note. */
static void take_message(struct session *s, const json *value)
{
	const char *text = json_get_str(value, "content");

	if (!text || !str_is(str_of(json_get_str(value, "role")), "assistant"))
		return;
	session_going(s);
	if (!json_is_true(json_get(value, "delta")))
		buf_clear(&s->note);
	if (s->note.len < TEXT_KEPT)
		buf_adds(&s->note, text);
	session_text(s, buf_str(&s->note));
}

static void take_tool(struct session *s, const json *value)
{
	buf_clear(&s->note);
	session_progress(s, 0, json_get_str(value, "tool_name"));
}

static void take_models(struct session *s, const json *used)
{
	int64_t most = -1;

	for (const json *m = json_first(used); m; m = json_next(m)) {
		int64_t output = json_get_int(m, "output_tokens", 0);

		if (output > most)
			session_model(s, str_of(json_key(m)));
		most = output > most ? output : most;
	}
}

static void take_stats(struct session *s, const json *stats)
{
	int64_t input = json_get_int(stats, "input_tokens", 0);
	int64_t output = json_get_int(stats, "output_tokens", 0);
	int64_t cached = json_get_int(stats, "cached", 0);

	if (!stats)
		return;
	/* Here the cached ones are among the others. */
	session_tokens(s, input >= cached ? input - cached : 0, output, cached);
	session_progress(s, input + output, NULL);
	take_models(s, json_get(stats, "models"));
}

/* `[API Error: {"error":{"code":401,...` or words alone. -1: it does not say. */
static long status_in(struct str text)
{
	size_t at = str_find(text, STR("\"code\":"));

	return at < text.n ? status_at(str_trim(str_sub(text, at + 7, text.n))) : -1;
}

/* What the program says of the API; all else is of what the agent did. */
static bool is_of_api(struct str text)
{
	static const char *const begins[] = {"[API Error", "You have exhausted your",
		"Error when talking to Gemini API", "Quota exceeded", "Rate limit exceeded",
		"Please set an Auth method", "Invalid auth method", "Failed to login",
		"Failed to authenticate", NULL};

	return text_begins(text, begins);
}

static void take_error(struct session *s, struct str text)
{
	bool of_api = is_of_api(text);
	long status = of_api ? status_in(text) : -1;

	if (status >= 0)
		api_status_verdict(s, status, text);
	else if (of_api && (api_words_unavailable(text) || !str_starts(text, "[")))
		session_verdict(s, HARNESS_UNAVAILABLE, text);
	else
		session_verdict(s, HARNESS_FAILURE, text.n ? text : STR("it failed"));
	s->rate_limited = s->rate_limited || (of_api && api_words_limited(text));
}

static void take_result(struct session *s, const json *value)
{
	take_stats(s, json_get(value, "stats"));
	if (str_is(str_of(json_get_str(value, "status")), "success"))
		s->finished = true;
	else
		take_error(s, str_of(json_get_str(json_get(value, "error"), "message")));
}

static void object(struct session *s, const json *value)
{
	struct str type = str_of(json_get_str(value, "type"));

	if (str_is(type, "init"))
		session_model(s, str_of(json_get_str(value, "model")));
	else if (str_is(type, "message"))
		take_message(s, value);
	else if (str_is(type, "tool_use"))
		take_tool(s, value);
	else if (str_is(type, "result"))
		take_result(s, value);
}

/* `Attempt 2 failed with status 429. Retrying with backoff...`: it is said nowhere else. */
static void error_line(struct session *s, struct str line)
{
	struct str why = str_sub(line, 0, str_find(line, STR(" Retrying with backoff")));
	bool limited = str_find(why, STR("status 429")) < why.n;

	if (why.n == line.n || !str_starts(line, "Attempt "))
		return;
	if (strtol(line.p + 8, NULL, 10) >= ATTEMPTS)
		session_give_up(s, limited, why);
	else
		session_retrying(s, limited, why);
}

static void judge(struct session *s, const struct ending *e)
{
	struct str rest = str_trim(e->errors), line, last = {NULL, 0};

	if (e->exit_code != EXIT_LOGIN)
		return;
	while (str_line(&rest, &line))
		last = line.n ? line : last;
	session_verdict(s, HARNESS_UNAVAILABLE, last.n ? last : STR("no login is set up"));
}

const struct harness harness_gemini_cli = {
	.name = "gemini-cli",
	.binary = "gemini",
	.range = ">=0.11.0", /* older ones print no events */
	.install = "npm install -g @google/gemini-cli",
	.can = {[FRESH_CONTEXT] = CAPABLE_YES,
		[CUSTOM_TOOLS] = CAPABLE_NO,
		[STREAMING] = CAPABLE_YES,
		[WORKTREE_CWD] = CAPABLE_YES,
		[SKILLS] = CAPABLE_NO,
		[ARTIFACT_WRITES] = CAPABLE_YES},
	.context_tokens = 2000000,
	.models = models,
	.families = families,
	.credentials = credentials,
	.variables = variables,
	.settings = settings,
	.needs_finish = true,
	.command = command,
	.object = object,
	.error_line = error_line,
	.judge = judge,
};
