#include "src/base/number.h"
#include "src/harness/adapter.h"

/*
 * Aider prints text for people: lines about itself, the answer, `Tokens: 2.3k sent, 120 received.
 * Cost: $0.01 message, $0.02 session.`, and what it did to files, possibly several times. Its exit
 * status is 0 even if the API refused everything.
 */

/* No files except its cache, no questions, no network except the API. */
static const char *const options[] = {"--message-file", "/dev/stdin", "--yes-always", "--no-pretty",
	"--no-fancy-input", "--no-stream", "--no-check-update", "--no-show-release-notes",
	"--no-show-model-warnings", "--no-analytics", "--no-gitignore", "--no-detect-urls",
	"--no-suggest-shell-commands", "--no-dirty-commits", "--chat-history-file", "/dev/null",
	"--input-history-file", "/dev/null"};

static void aider_command(struct command *c, const struct harness_input *input)
{
	for (size_t i = 0; i < COUNT(options); i++)
		command_add(c, options[i]);
	command_option(c, "--model", input->model);
	if (harness_input_allows_writes(input))
		return;
	command_option(c, "--chat-mode", "ask");
	command_add(c, "--no-auto-commits");
}

/* The number at the start of `text`, and the byte after it. */
static double leading_number(struct str text, char *unit)
{
	size_t n = 0;
	double value = 0;

	while (n < text.n && strchr("0123456789.", text.p[n]))
		n++;
	(void)number_double(str_sub(text, 0, n), 0, 1e15, &value);
	*unit = n < text.n ? text.p[n] : ' ';
	return value;
}

/* `2.3k sent`: 2300 before ` sent`. 0 if the line does not have `word`. */
static int64_t count_before(struct str line, const char *word)
{
	size_t end = str_find(line, str_of(word)), from = end;
	char unit;
	double n;

	if (end == line.n)
		return 0;
	while (from && strchr("0123456789.,kM", line.p[from - 1]))
		from--;
	n = leading_number(str_sub(line, from, end), &unit);
	n *= unit == 'k' ? 1e3 : unit == 'M' ? 1e6 : 1;
	return n < (double)JSON_MAX_INT ? (int64_t)(n + 0.5) : JSON_MAX_INT;
}

/* Each cost line has the sum of the session. */
static void aider_take_cost(struct session *s, struct str line)
{
	static const char before[] = " message, $";
	struct str rest = str_sub(line, str_find(line, STR("Cost: $")), line.n);
	size_t at = str_find(rest, STR(before));
	char unit;

	if (at < rest.n)
		s->usage.cost_usd =
			leading_number(str_sub(rest, at + strlen(before), rest.n), &unit);
}

static bool is_about_itself(struct str line)
{
	static const char *const starts[] = {"Aider v", "Model: ", "Main model: ", "Weak model: ",
		"Editor model: ", "Git repo: ", "Repo-map: ", "Added ", "Using ",
		"Warning: ", "Applied edit to ", "Commit ", "You can use /undo",
		"Creating empty file", "The API provider"};

	for (size_t i = 0; i < COUNT(starts); i++)
		if (str_starts(line, starts[i]))
			return true;
	return str_trim(line).n == 0;
}

/* The service failed, as its library reports it. */
static bool is_service_fault(struct str line)
{
	return harness_api_text_starts(line, "litellm.AuthenticationError: ",
		"litellm.RateLimitError: ", "litellm.APIConnectionError: ", "litellm.APIError: ",
		"litellm.InternalServerError: ", "litellm.ServiceUnavailableError: ",
		"litellm.Timeout: ", "litellm.PermissionDeniedError: ",
		"litellm.BudgetExceededError: ");
}

static void set_retrying(struct session *s, struct str fault)
{
	session_retrying(s, str_starts(fault, "litellm.RateLimitError"), fault);
}

/* After an answer, the same line may come from a test or linter that aider ran: it is kept in the
 * note until aider says that it retries. */
static void aider_take_fault(struct session *s, struct str line)
{
	if (s->finished) {
		buf_clear(&s->note);
		buf_add(&s->note, is_service_fault(line) ? line : STR(""));
	} else if (is_service_fault(line)) {
		set_retrying(s, line);
	} else {
		session_verdict(s, HARNESS_FAILURE, line);
	}
}

static void take_retry(struct session *s)
{
	if (s->note.len)
		set_retrying(s, buf_str(&s->note));
	buf_clear(&s->note);
}

static void aider_take_answer(struct session *s, struct buf *answer, struct str tokens)
{
	usage_add_tokens(&s->usage, count_before(tokens, " sent"),
		count_before(tokens, " received"),
		count_before(tokens, " cache write") + count_before(tokens, " cache hit"));
	session_text(s, str_trim(buf_str(answer)));
	session_resumed(s);
	s->finished = true;
	buf_clear(&s->note);
	buf_clear(answer);
}

/* The answer is the text between aider's own lines and the next line of tokens; the last answer
 * counts. A fault quoted inside an answer is not a fault. */
static void aider_whole(struct session *s, struct str output)
{
	CLEANUP(buf_release) struct buf answer = BUF_INIT;
	struct str line;

	while (str_line(&output, &line)) {
		if (str_starts(line, "Tokens: ")) {
			aider_take_answer(s, &answer, line);
		} else if (str_starts(line, "litellm.") && !answer.len) {
			aider_take_fault(s, line);
		} else if (str_starts(line, "Retrying in ") && str_ends(line, " seconds...")) {
			take_retry(s);
		} else if (answer.len || !is_about_itself(line)) {
			buf_add(&answer, line);
			buf_addc(&answer, '\n');
		}
		aider_take_cost(s, line);
	}
}

static void aider_judge(struct session *s, struct str errors)
{
	(void)errors;
	if (!s->retrying)
		return;
	session_verdict(s, HARNESS_UNAVAILABLE, buf_str(&s->retry_reason));
	s->rate_limited = s->retry_limited;
}

const struct harness harness_aider = {
	.name = "aider",
	.binary = "aider",
	.range = ">=0.75.0",
	.install = "python -m pip install aider-install && aider-install",
	.can = {HARNESS_PARTIAL, HARNESS_NO, HARNESS_YES, HARNESS_YES, HARNESS_NO, HARNESS_YES},
	.credentials = HARNESS_NAMES("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
		"OPENROUTER_API_KEY", "DEEPSEEK_API_KEY"),
	.variables = HARNESS_NAMES("OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_API_BASE",
		"ANTHROPIC_BASE_URL", "OLLAMA_API_BASE", "AIDER_*"),
	.aliases = HARNESS_NAMES("OPENAI_API_BASE=OPENAI_BASE_URL"),
	.models_open = true,
	.needs_finish = true,
	.command = aider_command,
	.whole = aider_whole,
	.judge = aider_judge,
};
