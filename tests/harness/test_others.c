#include "tests/lib/harness_rig.h"

/* Lines as Gemini CLI 0.61.0 and OpenCode 1.18.33 print them, and as Aider's manual has them. */

static const char *run_harness(const struct harness *h, const char *program, const char *script)
{
	stand_in(program, script);
	assert_int_equal(
		harness_rig_invoke(h, (struct harness_input){.timeout_s = WAIT_LIMIT_S}), 0);
	return harness_status_names[harness_got.status];
}

static const char *words_of(
	const struct harness *h, const char *program, const char *const *tools, const char *model)
{
	stand_in(program, "cat >prompt; echo \"$* perm=$OPENCODE_PERMISSION\" >words");
	assert_int_equal(
		harness_rig_invoke(h, (struct harness_input){.tools = tools, .model = model}), 0);
	return arena_dup(&arena, str_trim(str_of(scratch_read("words"))));
}

static void the_prompt_arrives(void)
{
	assert_string_equal(scratch_read("prompt"), "do it");
}

static const char *const reads[] = {"Read", "Skill", NULL};
static const char *const edits[] = {"Read", "Edit", NULL};
static const char *const runs[] = {"Bash(git log:*)", "Edit", NULL};

#define GEMINI_INIT                                                                                \
	"echo '{\"type\":\"init\",\"session_id\":\"x\",\"model\":\"gemini-2.5-pro\"}'; "           \
	"echo '{\"type\":\"message\",\"role\":\"user\",\"content\":\"do it\"}'; "
#define GEMINI_SAYS(text)                                                                          \
	"echo '{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"" text                   \
	"\",\"delta\":true}'; "
#define GEMINI_TOOL                                                                                \
	"echo '{\"type\":\"tool_use\",\"tool_name\":\"write_file\",\"tool_id\":\"1\"}'; "          \
	"echo '{\"type\":\"tool_result\",\"tool_id\":\"1\",\"status\":\"success\"}'; "
#define GEMINI_STATS                                                                               \
	"\"stats\":{\"total_tokens\":127,\"input_tokens\":120,\"output_tokens\":7,"                \
	"\"cached\":20,\"input\":100,\"models\":{\"gemini-2.5-flash\":{\"output_tokens\":2},"      \
	"\"gemini-2.5-pro\":{\"output_tokens\":5}}}"
#define GEMINI_DONE "echo '{\"type\":\"result\",\"status\":\"success\"," GEMINI_STATS "}'"
#define GEMINI_FAILS(text)                                                                         \
	"cat <<'END'\n{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"unknown\","  \
	"\"message\":\"" text "\"}," GEMINI_STATS "}\nEND\n"
#define GEMINI_RETRY(n, what)                                                                      \
	"echo 'Attempt " n " failed" what ". Retrying with backoff... _ApiError: {' >&2; "

TEST(gemini_tells_its_last_message_and_all_tokens)
{
	assert_string_equal(run_harness(&harness_gemini_cli, "gemini",
				    GEMINI_INIT GEMINI_SAYS("I look") GEMINI_TOOL GEMINI_SAYS(
					    "All ") GEMINI_SAYS("done") GEMINI_DONE),
		"success");
	assert_string_equal(harness_got.text, "All done");
	assert_string_equal(harness_got.model, "gemini-2.5-pro");
	assert_int_equal(harness_got.usage.input_tokens, 100);
	assert_int_equal(harness_got.usage.cache_tokens, 20);
	assert_int_equal(harness_got.usage.output_tokens, 7);
	assert_true(harness_got.usage.cost_usd < 0);
	assert_string_equal(harness_events.s, "started progress progress completed");
}

TEST(gemini_is_allowed_what_the_tools_say)
{
	const char *all = "--output-format stream-json -m gemini-2.5-flash --approval-mode yolo "
			  "perm=";

	assert_string_equal(words_of(&harness_gemini_cli, "gemini", NULL, "gemini-2.5-flash"), all);
	the_prompt_arrives();
	assert_string_equal(words_of(&harness_gemini_cli, "gemini", runs, "gemini-2.5-flash"), all);
	assert_string_equal(words_of(&harness_gemini_cli, "gemini", edits, NULL),
		"--output-format stream-json --approval-mode auto_edit perm=");
	assert_string_equal(words_of(&harness_gemini_cli, "gemini", reads, NULL),
		"--output-format stream-json --approval-mode default perm=");
}

TEST(what_gemini_says_of_the_api_is_told_apart)
{
	static const struct harness_case cases[] = {
		{"unavailable",
			GEMINI_FAILS("[API Error: "
				     "{\\\"error\\\":{\\\"code\\\":401,\\\"message\\\":\\\"bad "
				     "key\\\"}}]") "exit 145",
			"[API Error: {\"error\":{\"code\":401,\"message\":\"bad key\"}}]"},
		{"limited",
			GEMINI_FAILS("[API Error: {\\\"error\\\":{\\\"code\\\":429}}]") "exit 173",
			"[API Error: {\"error\":{\"code\":429}}]"},
		{"failure",
			GEMINI_FAILS("[API Error: {\\\"error\\\":{\\\"code\\\":400}}]") "exit 144",
			"[API Error: {\"error\":{\"code\":400}}]"},
		{"limited",
			GEMINI_FAILS("You have exhausted your daily quota on this model.") "exit 1",
			"You have exhausted your daily quota on this model."},
		{"failure", GEMINI_FAILS("the authentication tests do not pass") "exit 1",
			"the authentication tests do not pass"},
		{"failure", GEMINI_FAILS("quota of the disk, code\\\":503") "exit 1", NULL},
		{"failure", GEMINI_FAILS("[API Error: no such model]") "exit 1",
			"[API Error: no such model]"},
		{"unavailable", GEMINI_FAILS("[API Error: fetch failed]") "exit 1",
			"[API Error: fetch failed]"},
		{"unavailable",
			"echo 'YOLO mode is enabled.' >&2; echo 'Please set an Auth method' >&2; "
			"exit 41",
			"Please set an Auth method"},
		{"unavailable", "exit 41", "no login is configured"},
		{"failure", "echo 'Unknown argument: x' >&2; exit 42",
			"exit status 42: Unknown argument: x"},
		{"failure", GEMINI_INIT "exit 0", "it exited without a result"},
		/* The third failed attempt ends it. */
		{"limited",
			GEMINI_RETRY("1", " with status 429") GEMINI_RETRY("2", " with status 429")
				GEMINI_RETRY("3", " with status 429") "sleep 1000",
			"Attempt 3 failed with status 429."},
		{"unavailable",
			GEMINI_RETRY("1", "") GEMINI_RETRY("2", "")
				GEMINI_RETRY("3", "") "sleep 1000",
			"Attempt 3 failed."},
		{"success",
			GEMINI_RETRY("1", " with status 500") GEMINI_RETRY("2", " with status 500")
				GEMINI_SAYS("done") GEMINI_DONE,
			NULL},
		{"success", "echo 'Attempt 9 failed, says the model' >&2; " GEMINI_DONE, NULL},
	};

	harness_assert_cases(&harness_gemini_cli, "gemini", cases, COUNT(cases));
}

#define OPENCODE(type, part) "echo '{\"type\":\"" type "\",\"part\":{" part "}}'; "
#define OPENCODE_STEP(reason, cost)                                                                \
	OPENCODE("step_finish",                                                                    \
		"\"reason\":\"" reason "\",\"cost\":" cost ",\"tokens\":{\"total\":117,"           \
		"\"input\":100,\"output\":7,\"reasoning\":3,\"cache\":{\"write\":5,\"read\":2}}")
#define OPENCODE_FAULT(name, data)                                                                 \
	"echo '{\"type\":\"error\",\"error\":{\"name\":\"" name "\",\"data\":{" data "}}}'; exit " \
	"1"
#define OPENCODE_ERROR(name, data)                                                                 \
	"echo '{\"type\":\"error\",\"error\":{\"name\":\"" name "\",\"data\":{" data "}}}'; "
#define OPENCODE_LOG(what)                                                                         \
	"echo 'timestamp=x level=ERROR run=y message=\"stream error\" providerID=dt "              \
	"error.error=\"" what "\"' >&2; "

TEST(opencode_sums_its_steps_up)
{
	assert_string_equal(
		run_harness(&harness_opencode, "opencode",
			OPENCODE("step_start", "") OPENCODE("text", "\"text\":\"I look\"") OPENCODE(
				"tool_use", "\"tool\":\"bash\"") OPENCODE_STEP("tool-calls", "0.25")
				OPENCODE("text", "\"text\":\"All done\"")
					OPENCODE_STEP("stop", "0.5")),
		"success");
	assert_string_equal(harness_got.text, "All done");
	assert_int_equal(harness_got.usage.input_tokens, 200);
	assert_int_equal(harness_got.usage.output_tokens, 20);
	assert_int_equal(harness_got.usage.cache_tokens, 14);
	assert_true(harness_got.usage.cost_usd > 0.749 && harness_got.usage.cost_usd < 0.751);
	assert_null(harness_got.model);
}

TEST(opencode_is_allowed_what_the_tools_say)
{
	static const struct {
		const char *const *tools;
		const char *model, *words;
	} rows[] = {
		{NULL, NULL, "perm="},
		{runs, "claude-sonnet-4-6", "-m anthropic/claude-sonnet-4-6 perm="},
		{edits, "gpt-5", "-m openai/gpt-5 perm={\"bash\":\"deny\"}"},
		{reads, "gemini-2.5-pro",
			"-m google/gemini-2.5-pro perm={\"bash\":\"deny\",\"edit\":\"deny\"}"},
		{NULL, "dt/m1", "-m dt/m1 perm="},
		{NULL, "m1", "-m m1 perm="},
	};
	const char *before = "run --format json --title dev-team --print-logs --log-level ERROR ";

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(
			words_of(&harness_opencode, "opencode", rows[i].tools, rows[i].model),
			arena_printf(&arena, "%s%s", before, rows[i].words));
		the_prompt_arrives();
	}
}

/* The caller's settings are not replaced; those of the user's environment are. */
TEST(a_permission_of_the_run_stands)
{
	static const char *const env[] = {"OPENCODE_PERMISSION={}", NULL};

	setenv("OPENCODE_PERMISSION", "{\"bash\":\"allow\"}", 1);
	assert_non_null(strstr(words_of(&harness_opencode, "opencode", reads, NULL),
		"perm={\"bash\":\"deny\",\"edit\":\"deny\"}"));
	unsetenv("OPENCODE_PERMISSION");
	stand_in("opencode", "echo \"$OPENCODE_PERMISSION\" >words");
	assert_int_equal(harness_rig_invoke(&harness_opencode,
				 (struct harness_input){.tools = reads, .env = env}),
		0);
	assert_string_equal(scratch_read("words"), "{}\n");
}

TEST(what_opencode_says_of_the_api_is_told_apart)
{
	static const struct harness_case cases[] = {
		{"unavailable",
			OPENCODE_FAULT("APIError", "\"message\":\"bad key\",\"statusCode\":401"),
			"bad key"},
		{"limited",
			OPENCODE_FAULT("APIError", "\"message\":\"slow down\",\"statusCode\":429"),
			"slow down"},
		{"failure",
			OPENCODE_FAULT("APIError", "\"message\":\"too long\",\"statusCode\":400"),
			"too long"},
		{"failure",
			OPENCODE_FAULT("APIError", "\"message\":\"no model\",\"statusCode\":404"),
			"no model"},
		{"unavailable", OPENCODE_FAULT("ProviderAuthError", "\"providerID\":\"x\""),
			"ProviderAuthError"},
		{"failure", OPENCODE_FAULT("MessageOutputLengthError", ""),
			"MessageOutputLengthError"},
		{"failure",
			"echo 'ProviderModelNotFoundError: x/y' >&2; " OPENCODE_FAULT(
				"UnknownError", "\"message\":\"Unexpected server error.\""),
			"exit status 1: ProviderModelNotFoundError: x/y"},
		/* retried */
		{"success",
			OPENCODE_ERROR("APIError", "\"isRetryable\":true")
				OPENCODE_STEP("stop", "0"),
			NULL},
		{"success",
			OPENCODE_ERROR("APIError", "\"message\":\"busy\",\"statusCode\":429")
				OPENCODE_STEP("stop", "0") "exit 1",
			NULL},
		{"success", OPENCODE_ERROR("UnknownError", "") OPENCODE_STEP("stop", "0") "exit 1",
			NULL},
		{"unavailable",
			OPENCODE_ERROR("APIError", "\"isRetryable\":true")
				OPENCODE_STEP("tool-calls", "0") "exit 1",
			NULL},
		{"failure",
			OPENCODE_STEP("stop", "0") OPENCODE_FAULT("MessageOutputLengthError", ""),
			"MessageOutputLengthError"},
		{"failure", OPENCODE_STEP("tool-calls", "0"), "it exited without a result"},
		{"limited",
			OPENCODE_LOG("AI_APICallError: Rate limit reached")
				OPENCODE_LOG("AI_APICallError: Rate limit reached") OPENCODE_LOG(
					"AI_APICallError: Rate limit reached") "sleep 1000",
			"AI_APICallError: Rate limit reached"},
		{"unavailable",
			OPENCODE_LOG("AI_APICallError: Cannot connect to API")
				OPENCODE_LOG("AI_APICallError: Cannot connect to API") OPENCODE_LOG(
					"AI_APICallError: Cannot connect to API") "sleep 1000",
			"AI_APICallError: Cannot connect to API"},
	};

	harness_assert_cases(&harness_opencode, "opencode", cases, COUNT(cases));
}

#define AIDER_HEAD                                                                                 \
	"Aider v0.86.1\\nModel: openai/m1 with whole edit format\\nGit repo: .git with 1 files\\n" \
	"Repo-map: using 1024 tokens\\n\\n"
#define AIDER_TOKENS(cost) "Tokens: 2.3k sent, 1M cache hit, 120 received. " cost "\\n"
#define AIDER(text)        "printf '" text "'"

TEST(aider_tells_its_last_answer)
{
	static const struct {
		const char *script, *text;
		int64_t input, output, cache;
		double cost;
	} rows[] = {
		{AIDER(AIDER_HEAD "All\\n\\n{\"a\": 1}\\ndone\\n\\n" AIDER_TOKENS(
			 "Cost: $0.01 message, $0.02 session.") "Applied edit to a.c\\n"),
			"All\n\n{\"a\": 1}\ndone", 2300, 120, 1000000, 0.02},
		{AIDER(AIDER_HEAD "One\\n" AIDER_TOKENS("") "Applied edit to a.c\\nCommit 1 x\\n"
							    "Two\\n" AIDER_TOKENS("")),
			"Two", 4600, 240, 2000000, -1},
		{AIDER("Tokens: 12 sent, 3 cache write, 4 cache hit, 5 received.\\n"
		       "Cost: $0.00012 message, $0.00034 session.\\n"),
			"", 12, 5, 7, 0.00034},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(
			run_harness(&harness_aider, "aider", rows[i].script), "success");
		assert_string_equal(harness_got.text, rows[i].text);
		assert_int_equal(harness_got.usage.input_tokens, rows[i].input);
		assert_int_equal(harness_got.usage.output_tokens, rows[i].output);
		assert_int_equal(harness_got.usage.cache_tokens, rows[i].cache);
		assert_true(harness_got.usage.cost_usd > rows[i].cost - 1e-9);
		assert_true(harness_got.usage.cost_usd < rows[i].cost + 1e-9);
	}
}

TEST(what_aider_says_of_the_api_is_told_apart)
{
	static const struct harness_case cases[] = {
		{"limited",
			AIDER(AIDER_HEAD "litellm.RateLimitError: slow down\\nThe API provider has "
					 "rate limited you.\\nRetrying in 0.2 seconds...\\n"),
			"litellm.RateLimitError: slow down"},
		{"unavailable", AIDER("litellm.AuthenticationError: bad key\\n"),
			"litellm.AuthenticationError: bad key"},
		{"unavailable", AIDER("litellm.APIConnectionError: refused\\n"),
			"litellm.APIConnectionError: refused"},
		{"failure", AIDER("litellm.BadRequestError: too long\\n"),
			"litellm.BadRequestError: too long"},
		{"failure", AIDER("litellm.NotFoundError: no model\\n"),
			"litellm.NotFoundError: no model"},
		{"success",
			AIDER("litellm.InternalServerError: x\\nRetrying in 0.2 seconds...\\nAll "
			      "done\\n" AIDER_TOKENS("")),
			NULL},
		{"failure", "echo 'no key' >&2; exit 1", "exit status 1: no key"},
		{"failure", "exit 0", "it exited without a result"},
	};

	harness_assert_cases(&harness_aider, "aider", cases, COUNT(cases));
}

TEST(aider_reads_the_prompt_and_asks_nobody)
{
	stand_in("aider", "cat /dev/stdin >prompt; echo \"$*\" >words");
	assert_int_equal(harness_rig_invoke(&harness_aider, (struct harness_input){0}), 0);
	the_prompt_arrives();
	assert_non_null(strstr(words_of(&harness_aider, "aider", NULL, "openai/m1"),
		" --yes-always --no-pretty "));
	assert_null(strstr(words_of(&harness_aider, "aider", edits, NULL), "--chat-mode"));
	assert_non_null(strstr(words_of(&harness_aider, "aider", reads, NULL),
		" --chat-mode ask --no-auto-commits"));
}

TEST(the_range_is_that_of_the_versions_there_are)
{
	stand_in("gemini", "echo 0.61.0");
	stand_in("opencode", "echo 1.18.33");
	stand_in("aider", "echo 'aider 0.86.1'");
	setenv("GOOGLE_GENAI_USE_VERTEXAI", "true", 1);
	assert_string_equal(harness_probed(&harness_gemini_cli, WAIT_LIMIT_S), "true - 0.61.0");
	unsetenv("GOOGLE_GENAI_USE_VERTEXAI");
	assert_string_equal(harness_probed(&harness_opencode, WAIT_LIMIT_S), "true - 1.18.33");
	assert_string_equal(harness_probed(&harness_aider, WAIT_LIMIT_S), "true - 0.86.1");
}

TEST(a_probe_has_the_time_that_it_is_given)
{
	const struct harness_availability *v;

	stand_in("aider", "sleep 1000");
	setenv("DEV_TEAM_PROBE_SECONDS", "1", 1);
	v = harness_available(&harness_aider);
	unsetenv("DEV_TEAM_PROBE_SECONDS");
	assert_false(v->available);
	assert_string_equal(v->detail, "'aider --version' did not end within 1 s");
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
