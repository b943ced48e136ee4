#include "src/harness/api_status.h"

enum {
	ATTEMPTS = 3,    /* of its ten; the third has failed after about twenty seconds */
	EXIT_LOGIN = 41, /* no way to log in is set up */
	LIMIT = 429
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
	usage_add_tokens(&s->usage, input >= cached ? input - cached : 0, output, cached);
	session_progress(s, input + output, NULL);
	take_models(s, json_get(stats, "models"));
}

/* What stands in `[API Error: ...]`, behind which there may be advice; empty: it is another text.
 */
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

/* `{"error":{"code":401,...}}`. -1: it is another text. */
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

/* `slow down (Status: RESOURCE_EXHAUSTED)`. -1: it is another text. */
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

/* What it knows of the API by itself. -1: it is another text. */
static long words_in(struct str text)
{
	static const char *const limits[] = {"You have exhausted your daily quota on this model.",
		"You have exhausted your capacity on this model.", NULL};
	static const char *const unreached[] = {"fetch failed", "exception TypeError: fetch failed",
		"exception Error: connect ECONNREFUSED ", NULL};

	if (text_begins(text, limits))
		return LIMIT;
	return text_begins(text, unreached) ? 0 : -1;
}

static long status_in(struct str text)
{
	struct str inner = in_brackets(text);
	long status = code_in(inner);

	if (!inner.n)
		return text_begins(text, (const char *const[]){"You have exhausted your ", NULL})
			       ? words_in(text)
			       : -1;
	if (status < 0)
		status = name_in(inner);
	return status < 0 ? words_in(inner) : status;
}

static void take_error(struct session *s, struct str text)
{
	long status = status_in(text);

	if (status >= 0)
		api_status_verdict(s, status, text);
	else
		session_verdict(s, HARNESS_FAILURE, text.n ? text : STR("it failed"));
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

static bool skip(struct str *text, const char *words)
{
	if (!str_starts(*text, words))
		return false;
	*text = str_sub(*text, strlen(words), text->n);
	return true;
}

/* `Attempt 2 failed with status 429. Retrying with backoff... ` to the number of the attempt and
 * *status (0: it was not reached). 0: it is another line. */
static long attempt_in(struct str line, long *status)
{
	long n = 0;
	size_t digits = 0;

	*status = 0;
	if (!skip(&line, "Attempt "))
		return 0;
	for (; digits < line.n && line.p[digits] >= '0' && line.p[digits] <= '9' && digits < 4;
		digits++)
		n = n * 10 + line.p[digits] - '0';
	line = str_sub(line, digits, line.n);
	if (!skip(&line, " failed"))
		return 0;
	if (skip(&line, " with status ")) {
		*status = status_at(line);
		line = str_sub(line, *status < 0 ? 0 : 3, line.n);
	} else if (skip(&line, " with 429 error (no Retry-After header)")) {
		*status = LIMIT;
	} else if (!skip(&line, " with 5xx error")) {
		*status = 0;
	}
	return str_starts(line, ". Retrying with backoff...") ? n : 0;
}

/* It is said nowhere else that it tries again. */
static void error_line(struct session *s, struct str line)
{
	long status, n = attempt_in(line, &status);
	struct str why = str_sub(line, 0, str_find(line, STR(" Retrying with backoff")));

	if (n >= ATTEMPTS)
		session_give_up(s, status == LIMIT, why);
	else if (n)
		session_retrying(s, status == LIMIT, why);
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
