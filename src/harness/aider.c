#include "src/harness/api_status.h"

/*
 * Aider prints for people: lines about itself, the answer, `Tokens: 2.3k sent, 120 received. Cost:
 * $0.01 message, $0.02 session.`, and what it did to files. It may go through that several times.
 * Its exit status is 0 also when the API has refused everything.
 */

static const char *const credentials[] = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
	"OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", NULL};
static const char *const variables[] = {"OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_API_BASE",
	"ANTHROPIC_BASE_URL", "OLLAMA_API_BASE", "AIDER_*", NULL};
static const char *const stand_ins[] = {"OPENAI_API_BASE=OPENAI_BASE_URL", NULL};

/* No files of its own but what it caches, no questions, nothing to anybody but the API. */
static const char *const options[] = {"--message-file", "/dev/stdin", "--yes-always", "--no-pretty",
	"--no-fancy-input", "--no-stream", "--no-check-update", "--no-show-release-notes",
	"--no-show-model-warnings", "--no-analytics", "--no-gitignore", "--no-detect-urls",
	"--no-suggest-shell-commands", "--no-dirty-commits", "--chat-history-file", "/dev/null",
	"--input-history-file", "/dev/null", NULL};

static int command(struct command *c, const struct harness_input *input, struct error *err)
{
	(void)err;
	for (const char *const *o = options; *o; o++)
		command_add(c, *o);
	command_option(c, "--model", input->model);
	if (input_may_write(input))
		return 0;
	command_option(c, "--chat-mode", "ask");
	command_add(c, "--no-auto-commits");
	return 0;
}

/* `2.3k` is 2300. What there is none of is 0. */
static int64_t count_before(struct str line, const char *word)
{
	size_t end = str_find(line, str_of(word)), from = end;
	char number[32];
	char *unit;
	double n;

	if (end == line.n)
		return 0;
	while (from && strchr("0123456789.,kM", line.p[from - 1]))
		from--;
	snprintf(number, sizeof(number), "%.*s", (int)(end - from), line.p + from);
	n = strtod(number, &unit) * (*unit == 'k' ? 1e3 : *unit == 'M' ? 1e6 : 1);
	return n < (double)JSON_MAX_INT ? (int64_t)(n + 0.5) : JSON_MAX_INT;
}

static void take_usage(struct session *s, struct str line)
{
	usage_add_tokens(&s->usage, count_before(line, " sent"), count_before(line, " received"),
		count_before(line, " cache write") + count_before(line, " cache hit"));
}

/* The sum of the session is in each of the lines. */
static void take_cost(struct session *s, struct str line)
{
	size_t from = str_find(line, STR("Cost: $"));
	struct str rest = str_sub(line, from, line.n);
	size_t sum = str_find(rest, STR(" message, $"));

	if (sum < rest.n)
		s->usage.cost_usd = strtod(rest.p + sum + 11, NULL);
}

static bool is_chrome(struct str line)
{
	static const char *const begins[] = {"Aider v", "Model: ", "Main model: ", "Weak model: ",
		"Editor model: ", "Git repo: ", "Repo-map: ", "Added ", "Using ",
		"Warning: ", "Applied edit to ", "Commit ", "You can use /undo",
		"Creating empty file", "The API provider", NULL};

	for (const char *const *b = begins; *b; b++)
		if (str_starts(line, *b))
			return true;
	return str_trim(line).n == 0;
}

/* Of `litellm.RateLimitError: ...`, in the words of the library. */
static bool is_of_service(struct str line)
{
	static const char *const forms[] = {"litellm.AuthenticationError: ",
		"litellm.RateLimitError: ", "litellm.APIConnectionError: ", "litellm.APIError: ",
		"litellm.InternalServerError: ", "litellm.ServiceUnavailableError: ",
		"litellm.Timeout: ", "litellm.PermissionDeniedError: ",
		"litellm.BudgetExceededError: ", NULL};

	return text_begins(line, forms);
}

/* Why it got no answer, and in the next line what that means. Once it had one, the same may be what
 * a test or a linter prints that it has run: it is kept in the note until it says that it tries
 * again. */
static void take_fault(struct session *s, struct str line)
{
	if (s->finished) {
		buf_clear(&s->note);
		buf_add(&s->note, is_of_service(line) ? line : STR(""));
	} else if (is_of_service(line)) {
		session_retrying(s, str_starts(line, "litellm.RateLimitError"), line);
	} else {
		session_verdict(s, HARNESS_FAILURE, line);
	}
}

static bool tries_again(struct str line)
{
	return str_starts(line, "Retrying in ") && str_ends(line, " seconds...");
}

static void take_retry(struct session *s)
{
	struct str why = buf_str(&s->note);

	if (why.n)
		session_retrying(s, str_starts(why, "litellm.RateLimitError"), why);
	buf_clear(&s->note);
}

static void take_answer(struct session *s, struct buf *answer, struct str line)
{
	take_usage(s, line);
	session_text(s, str_trim(buf_str(answer)));
	session_going(s);
	s->finished = true;
	buf_clear(&s->note);
	buf_clear(answer);
}

/* The answer is what stands between what it says of itself and the next line of tokens; the last
 * answer counts. What the answer quotes is no fault. */
static void whole(struct session *s, struct str output)
{
	CLEANUP(buf_release) struct buf answer = BUF_INIT;
	struct str line;

	while (str_line(&output, &line)) {
		if (str_starts(line, "Tokens: ")) {
			take_answer(s, &answer, line);
		} else if (str_starts(line, "litellm.") && !answer.len) {
			take_fault(s, line);
		} else if (tries_again(line)) {
			take_retry(s);
		} else if (answer.len || !is_chrome(line)) {
			buf_add(&answer, line);
			buf_addc(&answer, '\n');
		}
		take_cost(s, line);
	}
}

static void judge(struct session *s, const struct ending *e)
{
	(void)e;
	if (!s->retrying)
		return;
	session_verdict(s, HARNESS_UNAVAILABLE, buf_str(&s->retry_why));
	s->rate_limited = s->retry_limited;
}

const struct harness harness_aider = {
	.name = "aider",
	.binary = "aider",
	.range = ">=0.75.0",
	.install = "python -m pip install aider-install && aider-install",
	.can = {[FRESH_CONTEXT] = CAPABLE_PARTIAL,
		[CUSTOM_TOOLS] = CAPABLE_NO,
		[STREAMING] = CAPABLE_YES,
		[WORKTREE_CWD] = CAPABLE_YES,
		[SKILLS] = CAPABLE_NO,
		[ARTIFACT_WRITES] = CAPABLE_YES},
	.credentials = credentials,
	.variables = variables,
	.stand_ins = stand_ins,
	.models_open = true,
	.needs_finish = true,
	.form = OUTPUT_WHOLE,
	.command = command,
	.whole = whole,
	.judge = judge,
};
