#include "tests/lib/harness_rig.h"
#include "src/base/clock.h"

/*
 * An agent's text about its work is never mistaken for its program's message about the service:
 * real messages, and texts that look like them.
 */

struct row {
	const char *outcome, *output;
};

/* `output` is printed unchanged, with exit status 1 if the run failed. */
static void check(
	const struct harness *h, const char *program, const struct row *rows, size_t n, bool errors)
{
	for (size_t i = 0; i < n; i++) {
		const struct harness_case one = {.outcome = rows[i].outcome,
			.script = arena_printf(&arena, "cat <<'END'%s\n%s\nEND\nexit %d",
				errors ? " >&2" : "", rows[i].output,
				strcmp(rows[i].outcome, "success") != 0)};

		harness_assert_cases(h, program, &one, 1);
	}
}

#define SAYS(error, text)                                                                          \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"m" text "\",\"model\":\"claude-x\","        \
	"\"usage\":{\"output_tokens\":5},\"content\":[]}" error "}\n"
#define WORKED SAYS("", "1")
#define ENDS(fields, text)                                                                         \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true," fields                   \
	"\"result\":\"" text "\"}"
#define GOOD                                                                                       \
	"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":2,"         \
	"\"result\":\"done\"}"
#define API_ERROR(status) "\"api_error_status\":" status ",\"terminal_reason\":\"api_error\","
#define COMPLETED         "\"num_turns\":9,\"api_error_status\":null,\"terminal_reason\":\"completed\","

TEST(claude_is_believed_in_its_own_fields)
{
	static const struct row rows[] = {
		/* As the program prints them. */
		{"unavailable", SAYS(",\"error\":\"authentication_failed\"", "2")
					ENDS("\"num_turns\":1," API_ERROR("null"),
						"Not logged in \xc2\xb7 Please run /login")},
		{"limited", SAYS(",\"error\":\"rate_limit\"", "2") ENDS(API_ERROR("429"),
				    "API Error: Request rejected (429) \xc2\xb7 slow down")},
		{"unavailable",
			WORKED ENDS("\"num_turns\":9," API_ERROR("500"), "API Error: 500 down")},
		{"unavailable", SAYS(",\"error\":\"billing_error\"", "2")
					ENDS(API_ERROR("400"), "Your balance")},
		{"failure", SAYS(",\"error\":\"max_output_tokens\"", "2")
				    ENDS(API_ERROR("null"), "API Error: the answer is too long")},
		/* Of several results the last one counts, but a budget that is used up stays so. */
		{"success", WORKED ENDS(API_ERROR("500"), "API Error: 500 down") "\n" GOOD},
		{"success", SAYS(",\"error\":\"rate_limit\"", "2")
				    ENDS(API_ERROR("429"), "API Error: slow down") "\n" GOOD},
		{"success", WORKED ENDS(COMPLETED, "it failed") "\n" GOOD},
		{"budget-exceeded",
			"{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\"}\n" GOOD},
		{"unavailable", WORKED GOOD "\n" ENDS(API_ERROR("500"), "API Error: 500 down")},
		{"unavailable", ENDS(API_ERROR("500"), "API Error: 500 down") "\n" GOOD "\n" ENDS(
					API_ERROR("500"), "API Error: 500 down")},
		/* Programs without these fields. */
		{"unavailable", ENDS("\"num_turns\":1,", "API Error: 529 overloaded")},
		{"limited", ENDS("", "Claude AI usage limit reached|17")},
		{"limited", SAYS(",\"error\":\"rate_limit\"", "2") ENDS("", "slow down")},
		/* Texts of the agent. */
		{"failure", ENDS(COMPLETED, "API Error: 500 is what the user gets")},
		{"failure", ENDS(COMPLETED, "Not logged in users see an empty page")},
		{"failure", ENDS(COMPLETED, "You've hit your own bug")},
		{"failure", ENDS("", "make test prints API Error: 500 in its log")},
		{"failure", ENDS("\"num_turns\":9,", "API Error: 500 is what the test gets")},
		{"failure", WORKED ENDS("", "Invalid API key is what the test gets")},
		{"failure", WORKED ENDS("", "usage limit reached: the test fails")},
		{"failure", SAYS(",\"error\":\"rate_limit\"", "2") SAYS("", "3")
				    ENDS("", "the test of rate_limit fails")},
	};

	check(&harness_claude_code, "claude", rows, COUNT(rows), false);
}

#define FAILED(text)                                                                               \
	"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n"     \
	"{\"type\":\"turn.failed\",\"error\":{\"message\":\"" text "\"}}"

TEST(codex_is_believed_in_whole_forms)
{
	static const struct row rows[] = {
		{"unavailable", FAILED("unexpected status 401 Unauthorized: bad key, url: "
				       "http://x/v1/responses")},
		{"limited", FAILED("exceeded retry limit, last status: 429 Too Many Requests")},
		{"limited", FAILED("Quota exceeded. Check your plan and billing details.")},
		{"limited", FAILED("You've hit your usage limit. Upgrade to Pro")},
		{"unavailable", FAILED("Connection failed: error sending request")},
		{"limited", FAILED("stream disconnected before completion: Rate limit reached for "
				   "gpt-5")},
		{"unavailable",
			FAILED("stream disconnected before completion: error sending request")},
		{"unavailable",
			FAILED("Selected model is at capacity. Please try a different model.")},
		{"failure", FAILED("unexpected status 404 Not Found: x")},
		{"failure", FAILED("stream disconnected before completion: Incomplete response "
				   "returned, reason: content_filter")},
		{"failure", FAILED("make test ended with exit status 56")},
		{"failure", FAILED("exit status: 503")},
		{"failure", FAILED("patch rejected at line 429 of parser.c")},
		{"failure", FAILED("unexpected status 503 in the fixture")},
		{"failure", FAILED("unexpected status 5000 Items: x")},
		{"failure", FAILED("the refresh token test fails")},
		{"failure", FAILED("Rate limit tests fail")},
		{"failure", FAILED("Quota exceeded test fails")},
		{"failure", FAILED("Usage limit is not checked")},
		{"failure", FAILED("Connection failed in the test of the pool")},
		{"failure", FAILED("run codex login first")},
		/* While it retries: only the time limit is reported. */
		{"success",
			"{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (Connection failed: "
			"error sending request)\"}\n{\"type\":\"turn.completed\",\"usage\":{}}"},
		{"success", "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\","
			    "\"text\":\"Reconnecting... waiting for "
			    "network\"}}\n{\"type\":\"turn.completed\",\"usage\":{}}"},
		{"success", "{\"type\":\"error\",\"message\":\"the test prints Reconnecting... "
			    "waiting for network\"}\n{\"type\":\"turn.completed\",\"usage\":{}}"},
	};

	check(&harness_codex, "codex", rows, COUNT(rows), false);
}

#define GEMINI(text)                                                                               \
	"{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"unknown\","               \
	"\"message\":\"" text "\"}}"

TEST(gemini_is_believed_in_whole_forms)
{
	static const struct row rows[] = {
		{"unavailable", GEMINI("[API Error: "
				       "{\\\"error\\\":{\\\"code\\\":401,\\\"message\\\":\\\"bad "
				       "key\\\",\\\"status\\\":\\\"UNAUTHENTICATED\\\"}}]")},
		{"limited", GEMINI("[API Error: slow down (Status: RESOURCE_EXHAUSTED)]\\nPlease "
				   "wait and try again later.")},
		{"unavailable", GEMINI("[API Error: down (Status: UNAVAILABLE)]")},
		{"limited",
			GEMINI("[API Error: You have exhausted your daily quota on this model.]")},
		{"unavailable",
			GEMINI("[API Error: exception TypeError: fetch failed sending request]")},
		{"failure", GEMINI("[API Error: too long (Status: INVALID_ARGUMENT)]")},
		{"failure", GEMINI("[API Error: scripted 404]")},
		{"failure", GEMINI("[API Error: the api key of the fixture is wrong]")},
		{"failure", GEMINI("[API Error: "
				   "{\\\"error\\\":{\\\"code\\\":400,\\\"message\\\":\\\"the text "
				   "has \\\\\\\"code\\\\\\\":429 in it\\\"}}]")},
		{"failure", GEMINI("the authentication tests do not pass")},
		{"failure", GEMINI("the service is unavailable in the quota test")},
		{"failure", GEMINI("You have exhausted your patience")},
		{"failure", GEMINI("Quota exceeded is not tested")},
		{"failure", GEMINI("see \\\"code\\\":503 in the fixture")},
	};

	check(&harness_gemini_cli, "gemini", rows, COUNT(rows), false);
}

/* Three times, so that it would be given up if these were attempts. */
#define THRICE(line) line "\n" line "\n" line

TEST(lines_of_standard_error_are_taken_as_wholes)
{
	static const struct row gemini[] = {
		{"unavailable", "Attempt 3 failed. Retrying with backoff... Error: x"},
		{"limited", "Attempt 3 failed with status 429. Retrying with backoff... x"},
		{"limited", "Attempt 3 failed with 429 error (no Retry-After header). Retrying "
			    "with backoff..."},
		{"unavailable", "Attempt 3 failed with 5xx error. Retrying with backoff... x"},
		{"failure", "Attempt 3 at the parser failed. Retrying with backoff"},
		{"failure", "Attempt 3 failed with status 1. Retrying with backoff..."},
		{"failure", "it says: Attempt 3 failed. Retrying with backoff..."},
		{"failure", "Attempt 3 failed to do so. Retrying with backoff..."},
	};
	static const struct row opencode[] = {
		{"limited",
			THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" small=false "
			       "error.error=\"AI_APICallError: You exceeded your current quota\"")},
		{"unavailable", THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" "
				       "small=false error.error=\"AI_APICallError: slow down\"")},
		{"unavailable",
			THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" small=false "
			       "error.error=\"AI_APICallError: the test of the rate limit\"")},
		{"failure", THRICE("timestamp=x level=ERROR run=1 message=\"stream error\" "
				   "small=false error.error=\"the quota test fails\"")},
		{"failure", THRICE("the log says message=\"stream error\" "
				   "error.error=\"AI_APICallError: rate limit\"")},
		{"failure", THRICE("timestamp=x level=ERROR message=failed "
				   "error.error=\"AI_APICallError: x\" why=\" message=\"stream "
				   "error\" \"")},
	};

	check(&harness_gemini_cli, "gemini", gemini, COUNT(gemini), true);
	check(&harness_opencode, "opencode", opencode, COUNT(opencode), true);
}

#define OPENCODE(name, data)                                                                       \
	"{\"type\":\"error\",\"error\":{\"name\":\"" name "\",\"data\":{" data "}}}"

TEST(opencode_is_believed_in_its_own_fields)
{
	static const struct row rows[] = {
		{"unavailable", OPENCODE("APIError", "\"message\":\"bad key\",\"statusCode\":401")},
		{"unavailable", OPENCODE("APIError", "\"message\":\"Cannot connect to API: x\"")},
		{"unavailable", OPENCODE("APIError", "\"message\":\"x\",\"isRetryable\":true")},
		{"unavailable", OPENCODE("ProviderAuthError", "\"message\":\"x\"")},
		{"failure", OPENCODE("APIError",
				    "\"message\":\"the quota test fails\",\"isRetryable\":false")},
		{"failure", OPENCODE("APIError", "\"message\":\"see 429\",\"statusCode\":400")},
		{"failure",
			OPENCODE("UnknownError", "\"message\":\"the authentication tests fail\"")},
		{"failure", OPENCODE("MessageAbortedError", "\"message\":\"rate limit\"")},
	};

	check(&harness_opencode, "opencode", rows, COUNT(rows), false);
}

#define TOKENS "Tokens: 12 sent, 5 received."

TEST(aider_is_believed_where_no_answer_stands)
{
	static const struct row rows[] = {
		{"limited", "litellm.RateLimitError: slow down\nRetrying in 0.2 seconds..."},
		{"unavailable",
			"All done\n" TOKENS "\nlitellm.APIError: down\nRetrying in 0.2 seconds..."},
		{"success", "The test says:\nlitellm.RateLimitError: slow down\n" TOKENS},
		{"success", "The test says:\nlitellm.BadRequestError: no\n" TOKENS},
		{"success", "All done\n" TOKENS
			    "\nApplied edit to a.py\nlitellm.APIError: is what pytest prints"},
		{"failure", "litellm.APIErrorTests fail"},
	};

	check(&harness_aider, "aider", rows, COUNT(rows), false);
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)

/* The time of a usage limit: the vendors' sentences, and what only looks like one. The clock is
 * 2026-11-21T01:34:55Z, a Saturday. */
TEST(the_reset_of_a_usage_limit_is_read)
{
	static const struct {
		const char *text, *reset; /* "": unknown */
	} rows[] = {
		{"Claude AI usage limit reached|1795233600", "2026-11-21T04:00:00Z"},
		{"You've hit your session limit · resets 3pm (UTC)", "2026-11-21T15:00:00Z"},
		/* A time that has passed is not tomorrow's, a date not next year's. */
		{"You've hit your session limit · resets 1:30am (UTC)", "2026-11-21T01:30:00Z"},
		{"resets 11:50pm (UTC)", "2026-11-20T23:50:00Z"},
		{"resets 11:30pm (UTC)", "2026-11-21T23:30:00Z"},
		{"Try again at Nov 21, 1:30 AM (UTC)", "2026-11-21T01:30:00Z"},
		{"Try again at Jun 02, 12:14 AM (UTC)", "2026-06-02T00:14:00Z"},
		{"Try again at May 02, 12:14 AM (UTC)", "2027-05-02T00:14:00Z"},
		{"You've hit your weekly limit · resets Nov 28, 3pm (UTC)", "2026-11-28T15:00:00Z"},
		{"Your limit will reset at 4am (UTC).", "2026-11-21T04:00:00Z"},
		{"Your limit will reset at 12am (UTC).", "2026-11-21T00:00:00Z"},
		{"You've hit your usage limit. Upgrade or try again in 3 hours 12 minutes.",
			"2026-11-21T04:46:55Z"},
		{"You've hit your usage limit. Try again in 1 day 2 hours and 1 minute.",
			"2026-11-22T03:35:55Z"},
		{"You've hit your usage limit. Try again at Jan 2nd, 2027 3:45 PM (UTC)",
			"2027-01-02T15:45:00Z"},
		{"resets Jan 2 at 3pm (UTC)", "2027-01-02T15:00:00Z"},
		{"stream disconnected before completion: Rate limit reached for gpt-5 on tokens "
		 "per min. Please try again in 1.5s.",
			"2026-11-21T01:34:57Z"},
		{"[API Error: {\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\","
		 "\"details\":[{\"retryDelay\":\"34s\"}]}}]",
			"2026-11-21T01:35:29Z"},
		{"You have exhausted your capacity. Your quota will reset after 18h22m58s.",
			"2026-11-21T19:57:53Z"},
		{"slow down (retry after 120 s)", "2026-11-21T01:36:55Z"},
		{"slow down (retry after 120)", "2026-11-21T01:36:55Z"},
		{"Try again in 1 week.", "2026-11-28T01:34:55Z"},
		{"Try again in 2 wks 1 d 3 hrs 4 mins 5 secs", "2026-12-06T04:39:00Z"},
		{"Try again in 1.5 hours.", "2026-11-21T03:04:55Z"},
		{"Try again in 0.25 days", "2026-11-21T07:34:55Z"},
		{"try again in 20ms", "2026-11-21T01:34:56Z"},
		{"Try again in 3 hours, 2 requests left", "2026-11-21T04:34:55Z"},
		{"Try again in 3.", "2026-11-21T01:34:58Z"},
		{"Try again in 1 month.", ""},
		{"Try again in 1.5 months.", ""},
		{"Try again in 3 moons", ""},
		{"Try again in 1000000 weeks 1000000 weeks", ""},
		{"exceeded retry limit, last status: 429 Too Many Requests", ""},
		{"resets soon", ""},
		{"resets 25pm (UTC)", ""},
		{"try again in a while", ""},
		{"usage limit reached|", ""},
		{"", ""},
	};
	const int64_t now = 1795224895, new_year = 1798761600;

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t t = harness_limit_reset(str_of(rows[i].text), now);
		char text[CLOCK_TEXT] = "";

		if (t)
			clock_text(t, text);
		assert_string_equal(text, rows[i].reset);
	}
	assert_int_equal(harness_limit_reset(STR("try again at Dec 31, 11:50 PM (UTC)"), new_year),
		new_year - 600);
}
