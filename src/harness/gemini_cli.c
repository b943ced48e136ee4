#include "src/base/number.h"
#include "src/harness/adapter.h"

enum {
	ATTEMPTS = 3,    /* of ten; the third fails after about twenty seconds */
	EXIT_LOGIN = 41, /* no login is configured */
};

/* Nobody answers a permission prompt: what would need one is refused. */
static const char *gemini_cli_approval(const struct harness_input *input)
{
	if (harness_input_allows(input, "Bash"))
		return "yolo";
	return harness_input_allows_writes(input) ? "auto_edit" : "default";
}

static void gemini_cli_command(struct command *c, const struct harness_input *input)
{
	command_option(c, "--output-format", "stream-json");
	command_option(c, "-m", input->model);
	command_option(c, "--approval-mode", gemini_cli_approval(input));
}

/* The last message comes in pieces, which the note collects. */
static void gemini_cli_take_message(struct session *s, const json *value)
{
	const char *text = json_get_str(value, "content");

	if (!text || !str_is(harness_member(value, "role"), "assistant"))
		return;
	session_resumed(s);
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

static void take_stats(struct session *s, const json *stats)
{
	static const struct usage_form form = {.input = "input_tokens",
		.output = "output_tokens",
		.cache_read = "cached",
		.input_has_cached = true};

	if (!stats)
		return;
	session_progress(s, session_usage(s, stats, &form), NULL);
	session_model_most_used(s, json_get(stats, "models"), "output_tokens");
}

/* The content of `[API Error: ...]`, which advice may follow; empty for any other text. */
static struct str in_brackets(struct str text)
{
	static const char first[] = "[API Error: ";
	size_t end = text.n;

	if (!str_starts(text, first))
		return (struct str){NULL, 0};
	while (end && text.p[end - 1] != ']')
		end--;
	return end > strlen(first) ? str_sub(text, strlen(first), end - 1) : (struct str){NULL, 0};
}

/* `{"error":{"code":401,...}}`. -1: any other text. */
static long code_in(struct str text)
{
	CLEANUP(json_free) json *value = NULL;
	struct error ignored;
	int64_t code;

	if (!str_starts(text, "{") || json_parse(&value, text, &ignored) < 0)
		return -1;
	code = json_get_int(json_get(value, "error"), "code", -1);
	return code >= 100 && code < 600 ? (long)code : -1;
}

/* `slow down (Status: RESOURCE_EXHAUSTED)`. -1: any other text. */
static long name_in(struct str text)
{
	static const struct {
		const char *end;
		long status;
	} rows[] = {
		{" (Status: UNAUTHENTICATED)", 401},
		{" (Status: PERMISSION_DENIED)", 403},
		{" (Status: RESOURCE_EXHAUSTED)", 429},
		{" (Status: INTERNAL)", 500},
		{" (Status: UNAVAILABLE)", 503},
		{" (Status: DEADLINE_EXCEEDED)", 504},
		{" (Status: INVALID_ARGUMENT)", 400},
		{" (Status: FAILED_PRECONDITION)", 400},
		{" (Status: NOT_FOUND)", 404},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_ends(text, rows[i].end))
			return rows[i].status;
	return -1;
}

/* Faults that the program words itself. -1: any other text. */
static long words_in(struct str text)
{
	if (harness_api_text_starts(text, "You have exhausted your daily quota on this model.",
		    "You have exhausted your capacity on this model."))
		return API_LIMIT;
	return harness_api_text_starts(text, "fetch failed", "exception TypeError: fetch failed",
		       "exception Error: connect ECONNREFUSED ")
		       ? 0
		       : -1;
}

static long status_in(struct str text)
{
	struct str inner = in_brackets(text);
	long status = code_in(inner);

	if (!inner.n)
		return harness_api_text_starts(text, "You have exhausted your ") ? words_in(text)
										 : -1;
	if (status < 0)
		status = name_in(inner);
	return status < 0 ? words_in(inner) : status;
}

static void gemini_cli_take_error(struct session *s, struct str text)
{
	long status = status_in(text);

	if (status >= 0)
		session_api_verdict(s, status, text);
	else
		session_verdict(s, HARNESS_FAILURE, text.n ? text : STR("it failed"));
}

static void gemini_cli_take_result(struct session *s, const json *value)
{
	take_stats(s, json_get(value, "stats"));
	if (str_is(harness_member(value, "status"), "success"))
		s->finished = true;
	else
		gemini_cli_take_error(s, harness_member(json_get(value, "error"), "message"));
}

static void take_init(struct session *s, const json *value)
{
	session_model(s, harness_member(value, "model"));
}

static const struct harness_handler handlers[] = {
	{"init", take_init},
	{"message", gemini_cli_take_message},
	{"tool_use", take_tool},
	{"result", gemini_cli_take_result},
	{0},
};

static bool gemini_cli_skip(struct str *text, const char *words)
{
	if (!str_starts(*text, words))
		return false;
	*text = str_sub(*text, strlen(words), text->n);
	return true;
}

/* `Attempt 2 failed with status 429. Retrying with backoff... `: returns the number of the attempt
 * and *status (0: not reached). 0: any other line. */
static uint64_t attempt_in(struct str line, long *status)
{
	uint64_t n;
	size_t digits;

	*status = 0;
	if (!gemini_cli_skip(&line, "Attempt "))
		return 0;
	digits = number_digits(line, &n);
	line = str_sub(line, digits, line.n);
	if (!gemini_cli_skip(&line, " failed"))
		return 0;
	if (gemini_cli_skip(&line, " with status ")) {
		*status = harness_api_status_parse(line);
		line = str_sub(line, *status < 0 ? 0 : 3, line.n);
	} else if (gemini_cli_skip(&line, " with 429 error (no Retry-After header)")) {
		*status = API_LIMIT;
	} else if (!gemini_cli_skip(&line, " with 5xx error")) {
		*status = 0;
	}
	return str_starts(line, ". Retrying with backoff...") ? n : 0;
}

/* Retries are reported on stderr only. */
static void gemini_cli_error_line(struct session *s, struct str line)
{
	long status;
	uint64_t n = attempt_in(line, &status);
	struct str why = str_sub(line, 0, str_find(line, STR(" Retrying with backoff")));

	if (n >= ATTEMPTS)
		session_abort(s, status == API_LIMIT, why);
	else if (n)
		session_retrying(s, status == API_LIMIT, why);
}

static void gemini_cli_judge(struct session *s, struct str errors)
{
	struct str rest = str_trim(errors), line, last = {NULL, 0};

	if (s->exit_code != EXIT_LOGIN)
		return;
	while (str_line(&rest, &line))
		last = line.n ? line : last;
	session_verdict(s, HARNESS_UNAVAILABLE, last.n ? last : STR("no login is configured"));
}

const struct harness harness_gemini_cli = {
	.name = "gemini-cli",
	.binary = "gemini",
	.range = ">=0.11.0", /* older ones print no events */
	.install = "npm install -g @google/gemini-cli",
	.can = {HARNESS_YES, HARNESS_NO, HARNESS_YES, HARNESS_YES, HARNESS_NO, HARNESS_YES},
	.context_tokens = 2000000,
	.models = HARNESS_NAMES("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"),
	.families = HARNESS_NAMES("gemini-"),
	.credentials = HARNESS_NAMES("GEMINI_API_KEY", "GOOGLE_API_KEY"),
	.logins = HARNESS_NAMES(".gemini/oauth_creds.json", "$GOOGLE_APPLICATION_CREDENTIALS",
		"$GOOGLE_GENAI_USE_VERTEXAI"),
	.login = "run 'gemini' and choose how to log in",
	.variables = HARNESS_NAMES("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
		"GOOGLE_GENAI_*", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		"GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_*"),
	/* No user is there to trust the directory, and the program would restart itself to set its
	 * memory limit. */
	.settings = HARNESS_NAMES("GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"),
	.needs_finish = true,
	.command = gemini_cli_command,
	.handlers = handlers,
	.error_line = gemini_cli_error_line,
	.judge = gemini_cli_judge,
};
