#include "tests/lib/harness_rig.h"

/*
 * An agent's text about its work is never mistaken for its program's message about the service:
 * real messages, and texts that look like them.
 */

struct row {
	const char *output, *status;
	bool limited;
};

/* `output` is printed unchanged, with exit status 1 if the run failed. */
static void check(
	const struct harness *h, const char *program, const struct row *rows, size_t n, bool errors)
{
	for (size_t i = 0; i < n; i++) {
		bool good = strcmp(rows[i].status, "success") == 0;
		const char *status;

		stand_in(program, arena_printf(&arena, "cat <<'END'%s\n%s\nEND\nexit %d",
					  errors ? " >&2" : "", rows[i].output, !good));
		assert_int_equal(harness_rig_invoke(h, (struct harness_input){.timeout_s = 20}), 0);
		status = harness_status_names[harness_got.status];
		if (strcmp(status, rows[i].status) != 0 ||
			harness_got.rate_limited != rows[i].limited)
			fail_msg("%s, row %zu: %s%s: '%s'", program, i, status,
				harness_got.rate_limited ? ", a limit" : "", harness_got.detail);
	}
}

#define SAYS(error, text)                                                                          \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"m" text "\",\"model\":\"claude-x\","        \
	"\"usage\":{\"output_tokens\":5},\"content\":[]}" error "}\n"
#define WORKED SAYS("", "1")
#define ENDS(fields, text)                                                                         \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true," fields                   \
	"\"result\":\"" text "\"}"
#define COMPLETED "\"num_turns\":9,\"api_error_status\":null,\"terminal_reason\":\"completed\","

TEST(claude_is_believed_in_its_own_fields)
{
	static const struct row rows[] = {
		/* As the program prints them. */
		{SAYS(",\"error\":\"authentication_failed\"", "2")
				ENDS("\"num_turns\":1,\"api_error_status\":null,"
				     "\"terminal_reason\":\"api_error\",",
					"Not logged in \xc2\xb7 Please run /login"),
			"unavailable", false},
		{SAYS(",\"error\":\"rate_limit\"", "2")
				ENDS("\"api_error_status\":429,\"terminal_reason\":\"api_error\",",
					"API Error: Request rejected (429) \xc2\xb7 slow down"),
			"unavailable", true},
		{WORKED ENDS("\"num_turns\":9,\"api_error_status\":500,"
			     "\"terminal_reason\":\"api_error\",",
			 "API Error: 500 down"),
			"unavailable", false},
		{SAYS(",\"error\":\"billing_error\"", "2")
				ENDS("\"api_error_status\":400,\"terminal_reason\":\"api_error\",",
					"Your balance"),
			"unavailable", false},
		{SAYS(",\"error\":\"max_output_tokens\"", "2")
				ENDS("\"api_error_status\":null,\"terminal_reason\":\"api_error\",",
					"API Error: the answer is too long"),
			"failure", false},
		/* Programs without these fields. */
		{ENDS("\"num_turns\":1,", "API Error: 529 overloaded"), "unavailable", false},
		{ENDS("", "Claude AI usage limit reached|17"), "unavailable", true},
		{SAYS(",\"error\":\"rate_limit\"", "2") ENDS("", "slow down"), "unavailable", true},
		/* Texts of the agent. */
		{ENDS(COMPLETED, "API Error: 500 is what the user gets"), "failure", false},
		{ENDS(COMPLETED, "Not logged in users see an empty page"), "failure", false},
		{ENDS(COMPLETED, "You've hit your own bug"), "failure", false},
		{ENDS("", "make test prints API Error: 500 in its log"), "failure", false},
		{ENDS("\"num_turns\":9,", "API Error: 500 is what the test gets"), "failure",
			false},
		{WORKED ENDS("", "Invalid API key is what the test gets"), "failure", false},
		{WORKED ENDS("", "usage limit reached: the test fails"), "failure", false},
		{SAYS(",\"error\":\"rate_limit\"", "2") SAYS("", "3")
				ENDS("", "the test of rate_limit fails"),
			"failure", false},
	};

	check(&harness_claude_code, "claude", rows, COUNT(rows), false);
}

#define FAILED(text)                                                                               \
	"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n"     \
	"{\"type\":\"turn.failed\",\"error\":{\"message\":\"" text "\"}}"

TEST(codex_is_believed_in_whole_forms)
{
	static const struct row rows[] = {
		{FAILED("unexpected status 401 Unauthorized: bad key, url: http://x/v1/responses"),
			"unavailable", false},
		{FAILED("exceeded retry limit, last status: 429 Too Many Requests"), "unavailable",
			true},
		{FAILED("Quota exceeded. Check your plan and billing details."), "unavailable",
			true},
		{FAILED("You've hit your usage limit. Upgrade to Pro"), "unavailable", true},
		{FAILED("Connection failed: error sending request"), "unavailable", false},
		{FAILED("stream disconnected before completion: Rate limit reached for gpt-5"),
			"unavailable", true},
		{FAILED("stream disconnected before completion: error sending request"),
			"unavailable", false},
		{FAILED("Selected model is at capacity. Please try a different model."),
			"unavailable", false},
		{FAILED("unexpected status 404 Not Found: x"), "failure", false},
		{FAILED("stream disconnected before completion: Incomplete response returned, "
			"reason: content_filter"),
			"failure", false},
		{FAILED("make test ended with exit status 56"), "failure", false},
		{FAILED("exit status: 503"), "failure", false},
		{FAILED("patch rejected at line 429 of parser.c"), "failure", false},
		{FAILED("unexpected status 503 in the fixture"), "failure", false},
		{FAILED("unexpected status 5000 Items: x"), "failure", false},
		{FAILED("the refresh token test fails"), "failure", false},
		{FAILED("Rate limit tests fail"), "failure", false},
		{FAILED("Quota exceeded test fails"), "failure", false},
		{FAILED("Usage limit is not checked"), "failure", false},
		{FAILED("Connection failed in the test of the pool"), "failure", false},
		{FAILED("run codex login first"), "failure", false},
		/* While it retries: only the time limit is reported. */
		{"{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (Connection failed: error "
		 "sending request)\"}\n{\"type\":\"turn.completed\",\"usage\":{}}",
			"success", false},
		{"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":"
		 "\"Reconnecting... waiting for network\"}}\n"
		 "{\"type\":\"turn.completed\",\"usage\":{}}",
			"success", false},
		{"{\"type\":\"error\",\"message\":\"the test prints Reconnecting... waiting for "
		 "network\"}\n{\"type\":\"turn.completed\",\"usage\":{}}",
			"success", false},
	};

	check(&harness_codex, "codex", rows, COUNT(rows), false);
}

#define GEMINI(text)                                                                               \
	"{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"unknown\","               \
	"\"message\":\"" text "\"}}"

TEST(gemini_is_believed_in_whole_forms)
{
	static const struct row rows[] = {
		{GEMINI("[API Error: {\\\"error\\\":{\\\"code\\\":401,\\\"message\\\":\\\"bad key"
			"\\\",\\\"status\\\":\\\"UNAUTHENTICATED\\\"}}]"),
			"unavailable", false},
		{GEMINI("[API Error: slow down (Status: RESOURCE_EXHAUSTED)]\\nPlease wait and try "
			"again later."),
			"unavailable", true},
		{GEMINI("[API Error: down (Status: UNAVAILABLE)]"), "unavailable", false},
		{GEMINI("[API Error: You have exhausted your daily quota on this model.]"),
			"unavailable", true},
		{GEMINI("[API Error: exception TypeError: fetch failed sending request]"),
			"unavailable", false},
		{GEMINI("[API Error: too long (Status: INVALID_ARGUMENT)]"), "failure", false},
		{GEMINI("[API Error: scripted 404]"), "failure", false},
		{GEMINI("[API Error: the api key of the fixture is wrong]"), "failure", false},
		{GEMINI("[API Error: {\\\"error\\\":{\\\"code\\\":400,\\\"message\\\":"
			"\\\"the text has \\\\\\\"code\\\\\\\":429 in it\\\"}}]"),
			"failure", false},
		{GEMINI("the authentication tests do not pass"), "failure", false},
		{GEMINI("the service is unavailable in the quota test"), "failure", false},
		{GEMINI("You have exhausted your patience"), "failure", false},
		{GEMINI("Quota exceeded is not tested"), "failure", false},
		{GEMINI("see \\\"code\\\":503 in the fixture"), "failure", false},
	};

	check(&harness_gemini_cli, "gemini", rows, COUNT(rows), false);
}

/* Three times, so that it would be given up if these were attempts. */
#define THRICE(line) line "\n" line "\n" line

TEST(lines_of_standard_error_are_taken_as_wholes)
{
	static const struct row gemini[] = {
		{"Attempt 3 failed. Retrying with backoff... Error: x", "unavailable", false},
		{"Attempt 3 failed with status 429. Retrying with backoff... x", "unavailable",
			true},
		{"Attempt 3 failed with 429 error (no Retry-After header). Retrying with "
		 "backoff...",
			"unavailable", true},
		{"Attempt 3 failed with 5xx error. Retrying with backoff... x", "unavailable",
			false},
		{"Attempt 3 at the parser failed. Retrying with backoff", "failure", false},
		{"Attempt 3 failed with status 1. Retrying with backoff...", "failure", false},
		{"it says: Attempt 3 failed. Retrying with backoff...", "failure", false},
		{"Attempt 3 failed to do so. Retrying with backoff...", "failure", false},
	};
	static const struct row opencode[] = {
		{THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" small=false "
			"error.error=\"AI_APICallError: You exceeded your current quota\""),
			"unavailable", true},
		{THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" small=false "
			"error.error=\"AI_APICallError: slow down\""),
			"unavailable", false},
		{THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" small=false "
			"error.error=\"AI_APICallError: the test of the rate limit\""),
			"unavailable", false},
		{THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" small=false "
			"error.error=\"the quota test fails\""),
			"failure", false},
		{THRICE("the log says message=\"stream error\" "
			"error.error=\"AI_APICallError: rate limit\""),
			"failure", false},
		{THRICE("timestamp=x level=ERROR message=failed error.error=\"AI_APICallError: x\" "
			"why=\" message=\"stream error\" \""),
			"failure", false},
	};

	check(&harness_gemini_cli, "gemini", gemini, COUNT(gemini), true);
	check(&harness_opencode, "opencode", opencode, COUNT(opencode), true);
}

#define OPENCODE(name, data)                                                                       \
	"{\"type\":\"error\",\"error\":{\"name\":\"" name "\",\"data\":{" data "}}}"

TEST(opencode_is_believed_in_its_own_fields)
{
	static const struct row rows[] = {
		{OPENCODE("APIError", "\"message\":\"bad key\",\"statusCode\":401"), "unavailable",
			false},
		{OPENCODE("APIError", "\"message\":\"Cannot connect to API: x\""), "unavailable",
			false},
		{OPENCODE("APIError", "\"message\":\"x\",\"isRetryable\":true"), "unavailable",
			false},
		{OPENCODE("ProviderAuthError", "\"message\":\"x\""), "unavailable", false},
		{OPENCODE("APIError", "\"message\":\"the quota test fails\",\"isRetryable\":false"),
			"failure", false},
		{OPENCODE("APIError", "\"message\":\"see 429\",\"statusCode\":400"), "failure",
			false},
		{OPENCODE("UnknownError", "\"message\":\"the authentication tests fail\""),
			"failure", false},
		{OPENCODE("MessageAbortedError", "\"message\":\"rate limit\""), "failure", false},
	};

	check(&harness_opencode, "opencode", rows, COUNT(rows), false);
}

#define TOKENS "Tokens: 12 sent, 5 received."

TEST(aider_is_believed_where_no_answer_stands)
{
	static const struct row rows[] = {
		{"litellm.RateLimitError: slow down\nRetrying in 0.2 seconds...", "unavailable",
			true},
		{"All done\n" TOKENS "\nlitellm.APIError: down\nRetrying in 0.2 seconds...",
			"unavailable", false},
		{"The test says:\nlitellm.RateLimitError: slow down\n" TOKENS, "success", false},
		{"The test says:\nlitellm.BadRequestError: no\n" TOKENS, "success", false},
		{"All done\n" TOKENS "\nApplied edit to a.py\nlitellm.APIError: is what pytest "
		 "prints",
			"success", false},
		{"litellm.APIErrorTests fail", "failure", false},
	};

	check(&harness_aider, "aider", rows, COUNT(rows), false);
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
