#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include "tests/lib/harness_rig.h"

#define INVOKE(...) harness_rig_invoke(&harness_claude_code, (struct harness_input){__VA_ARGS__})

TEST(a_result_gives_text_cost_and_tokens)
{
	assert_string_equal(run_claude("cat >prompt; echo '" RESULT_LINE "'"), "success");
	assert_int_equal(harness_got.exit_code, 0);
	assert_string_equal(harness_got.text, "done");
	assert_string_equal(harness_got.model, "claude-sonnet-4-6");
	assert_true(harness_got.usage.cost_usd > 0.2499 && harness_got.usage.cost_usd < 0.2501);
	assert_int_equal(harness_got.usage.input_tokens, 120);
	assert_int_equal(harness_got.usage.output_tokens, 30);
	assert_int_equal(harness_got.usage.cache_tokens, 7);
	assert_null(harness_got.detail);
	assert_string_equal(harness_events.s, "started completed");
}

TEST(the_prompt_goes_to_standard_input_alone)
{
	stand_in("claude", "cat >prompt; echo \"$*\" >words; echo '" RESULT_LINE "'");
	assert_int_equal(
		INVOKE(.prompt = STR("say \"it\" & $HOME\n"), .model = "claude-opus-4-7[1m]"), 0);
	assert_string_equal(scratch_read("prompt"), "say \"it\" & $HOME\n");
	assert_string_equal(scratch_read("words"),
		"-p --output-format stream-json --verbose --model claude-opus-4-7[1m] "
		"--allowedTools Bash,Read,Edit,Write,Agent,Skill\n");
}

/* `--tools` takes the others away; it knows neither patterns nor the tools of MCP servers. */
TEST(tools_of_the_input_are_those_that_are_allowed)
{
	const struct {
		const char *const *tools;
		const char *words;
	} rows[] = {
		{(const char *const[]){"Read", "Bash(git log:*)", "mcp__tracker__*", NULL},
			"--tools Read,Bash --allowedTools Read,Bash(git log:*),mcp__tracker__*\n"},
		{(const char *const[]){"mcp__tracker__issue", NULL},
			"--tools  --allowedTools mcp__tracker__issue\n"},
		{(const char *const[]){NULL}, "--tools \n"},
	};

	stand_in("claude", "echo \"$*\" >words; echo '" RESULT_LINE "'");
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(INVOKE(.tools = rows[i].tools), 0);
		assert_non_null(strstr(scratch_read("words"), rows[i].words));
	}
}

/* Faults of a program and their results. `detail`: a part of it. */
TEST(whatever_a_program_does_has_a_result)
{
	static const struct {
		const char *script, *status, *detail;
		int exit_code;
	} rows[] = {
		{"echo 'claude: not authenticated' >&2; exit 1", "failure",
			"exit status 1: claude: not authenticated", 1},
		{"echo noise; echo '" RESULT_LINE "'; echo '[1,2'; echo 7", "success", NULL, 0},
		{"printf '%s' '" RESULT_LINE "'", "success", NULL, 0},
		{"printf '%s\\r\\n' '" RESULT_LINE "'", "success", NULL, 0},
		{"printf '%s' '{\"type\":\"result\",\"subtype\":\"succ'", "failure",
			"it exited without a result: {\"type\":\"result\",\"subtype\":\"succ", 0},
		{"echo garbage", "failure", "it exited without a result: garbage", 0},
		{"exit 0", "failure", "it exited without a result", 0},
		{"exit 2", "failure", "exit status 2", 2},
		{"kill -9 $$", "failure", "it was killed by signal 9", 137},
		{"kill -15 $$", "failure", "it was killed by signal 15", 143},
		{"exec <&-; echo '" RESULT_LINE "'", "success", NULL, 0},
		{"exec <&-; sleep 0; echo '" RESULT_LINE "'; exit 3", "failure", "exit status 3",
			3},
		{"printf '\\377\\376bad\\n' >&2; exit 1", "failure", "exit status 1: ??bad", 1},
		{"printf '{\"type\":\"result\",\"result\":\"a\\377b\"}\\n'", "success", NULL, 0},
		{"(setsid sleep 1000 &) ; echo '" RESULT_LINE "'", "success", NULL, 0},
		{"sleep 1000 & echo '" RESULT_LINE "'", "success", NULL, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(run_claude(rows[i].script), rows[i].status);
		assert_int_equal(harness_got.exit_code, rows[i].exit_code);
		if (!rows[i].detail)
			assert_null(harness_got.detail);
		else if (strcmp(harness_got.detail, rows[i].detail) != 0)
			fail_msg("row %zu: '%s'", i, harness_got.detail);
	}
}

#define ERROR_RESULT(status, reason, text)                                                         \
	"echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,"                    \
	"\"api_error_status\":" status ",\"terminal_reason\":\"" reason "\",\"result\":\"" text    \
	"\"}'; exit 1"
#define RETRY(status)                                                                              \
	"echo "                                                                                    \
	"'{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,\"error_status\":" status   \
	",\"error\":\"x\"}'; "

TEST(what_claude_tells_of_the_api_is_told_apart)
{
	static const struct harness_case cases[] = {
		{"limited", ERROR_RESULT("429", "api_error", "slow down"), NULL},
		{"unavailable", ERROR_RESULT("529", "api_error", "busy"), NULL},
		{"unavailable", ERROR_RESULT("500", "api_error", "down"), NULL},
		{"unavailable", ERROR_RESULT("401", "api_error", "bad key"), NULL},
		{"unavailable", ERROR_RESULT("403", "api_error", "no"), NULL},
		{"unavailable", ERROR_RESULT("null", "api_error", "refused"), NULL},
		{"unavailable", ERROR_RESULT("null", "api_error", "Not logged in"), NULL},
		{"failure", ERROR_RESULT("400", "api_error", "prompt is too long"), NULL},
		{"unavailable", ERROR_RESULT("400", "api_error", "Credit balance is too low"),
			NULL},
		/* The agent's report on its work is content, not an error. */
		{"failure",
			ERROR_RESULT("null", "completed", "it prints API Error: 500 in its log"),
			NULL},
		{"failure", ERROR_RESULT("null", "completed", "the user sees: usage limit reached"),
			NULL},
		{"failure", ERROR_RESULT("404", "api_error", "no such model"), NULL},
		{"failure", ERROR_RESULT("null", "completed", "I could not"), NULL},
		{"limited", ERROR_RESULT("null", "", "Claude AI usage limit reached|17"), NULL},
		{"failure", "echo '{\"type\":\"result\",\"subtype\":\"error_max_turns\"}'; exit 1",
			NULL},
		{"budget-exceeded",
			"echo '{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\"}'; exit 1",
			NULL},
		{"failure",
			"echo "
			"'{\"type\":\"result\",\"subtype\":\"success\",\"num_turns\":0,\"result\":"
			"\"Shell command failed\"}'",
			NULL},
		/* A login does not succeed when retried: the run ends at once. */
		{"unavailable", RETRY("401") "sleep 1000", NULL},
		{"success", RETRY("529") RETRY("null") "echo '" RESULT_LINE "'", NULL},
	};

	harness_assert_cases(&harness_claude_code, "claude", cases, COUNT(cases));
}

TEST(the_last_of_several_results_counts)
{
	assert_string_equal(run_claude("echo '" RESULT_LINE "'\n"
				       "echo '{\"type\":\"result\",\"result\":\"later\","
				       "\"num_turns\":1,\"total_cost_usd\":0.5}'\n"
				       "echo '{\"type\":\"result\",\"result\":\"\","
				       "\"num_turns\":0,\"total_cost_usd\":0.5}'"),
		"success");
	assert_string_equal(harness_got.text, "later");
	assert_true(harness_got.usage.cost_usd > 0.49);
}

#define SAID(parent, block)                                                                        \
	"echo '{\"type\":\"assistant\",\"parent_tool_use_id\":" parent                             \
	",\"message\":{\"id\":\"m\",\"model\":\"claude-x\",\"content\":[" block "]}}'\n"
#define SAID_TEXT(parent, text) SAID(parent, "{\"type\":\"text\",\"text\":\"" text "\"}")
#define RESULT_OF(text)                                                                            \
	"echo '{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"" text "\"}'\n"

TEST(the_last_message_replaces_an_empty_result)
{
	static const struct {
		const char *script, *text;
	} rows[] = {
		{SAID_TEXT("null", "first") SAID_TEXT("null", "last") RESULT_OF(""), "last"},
		{SAID_TEXT("null", "last") RESULT_OF("  "), "last"},
		{SAID_TEXT("null", "last") SAID_TEXT("\"t\"", "sub-agent") RESULT_OF(""), "last"},
		{SAID_TEXT("null", "last") RESULT_OF("result"), "result"},
		{SAID_TEXT("null", "I look") SAID(
			 "null", "{\"type\":\"tool_use\",\"name\":\"Bash\"}") RESULT_OF(""),
			""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(run_claude(rows[i].script), "success");
		assert_string_equal(harness_got.text, rows[i].text);
	}
}

TEST(tokens_of_sub_agents_are_counted)
{
	assert_string_equal(
		run_claude("echo '{\"type\":\"result\",\"result\":\"x\",\"modelUsage\":{"
			   "\"claude-haiku\":{\"inputTokens\":1,\"outputTokens\":2},"
			   "\"claude-opus\":{\"inputTokens\":10,\"outputTokens\":20}}}'"),
		"success");
	assert_int_equal(harness_got.usage.input_tokens, 11);
	assert_int_equal(harness_got.usage.output_tokens, 22);
	assert_string_equal(harness_got.model, "claude-opus");
	assert_true(harness_got.usage.cost_usd < 0);
}

TEST(progress_is_told_once_a_message)
{
	assert_string_equal(
		run_claude("for i in 1 2; do echo '{\"type\":\"assistant\",\"message\":{\"id\":"
			   "\"m1\",\"usage\":{\"input_tokens\":5,\"output_tokens\":1},"
			   "\"content\":[]}}'; done; echo '" RESULT_LINE "'"),
		"success");
	assert_string_equal(harness_events.s, "started progress progress completed");
}

TEST(a_cost_over_the_budget_is_no_success)
{
	stand_in("claude", "echo '" RESULT_LINE "'");
	assert_int_equal(INVOKE(.max_budget_usd = 0.25), 0);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
	assert_int_equal(INVOKE(.max_budget_usd = 0.2), 0);
	assert_int_equal(harness_got.status, HARNESS_BUDGET);
	assert_string_equal(harness_got.detail, "it cost 0.2500 USD; the limit is 0.2000 USD");
}

/* Runs a program that does not end, and returns its time limit: one that let it get as far as to
 * write the file `name`. */
static unsigned invoke_until(const char *name)
{
	for (unsigned limit = 1; limit < WAIT_LIMIT_S; limit *= 2) {
		assert_int_equal(INVOKE(.timeout_s = limit), 0);
		if (path_exists(name))
			return limit;
	}
	fail_msg("the program does not write '%s'", name);
	return 0;
}

TEST(at_the_time_limit_nothing_is_left)
{
	unsigned limit;
	pid_t pid;

	stand_in("claude", "sh -c 'sleep 1000' & echo $! >new; mv new pid; wait");
	limit = invoke_until("pid");
	assert_int_equal(harness_got.status, HARNESS_TIMEOUT);
	assert_string_equal(
		harness_got.detail, arena_printf(&arena, "it did not end within %u s", limit));
	pid = (pid_t)strtol(scratch_read("pid"), NULL, 10);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

TEST(a_program_that_stays_after_its_result_has_succeeded)
{
	stand_in("claude", "echo '" RESULT_LINE "'; >done; sleep 1000");
	(void)invoke_until("done");
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
	stand_in("claude", "echo '" RESULT_LINE "'; trap '' TERM; >stubborn; sleep 1000");
	(void)invoke_until("stubborn");
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
	/* it went on working */
	stand_in("claude",
		"echo '" RESULT_LINE "'\n" SAID_TEXT("null", "more") ">going; sleep 1000");
	(void)invoke_until("going");
	assert_int_equal(harness_got.status, HARNESS_TIMEOUT);
}

TEST(nobody_waits_for_a_program_that_stays_after_its_result)
{
	stand_in("claude", "echo '" RESULT_LINE "'; exec sleep 1000");
	assert_int_equal(INVOKE(.stay_ms = 1, .timeout_s = WAIT_LIMIT_S), 0);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
	stand_in(
		"claude", "echo '" RESULT_LINE "'; while :; do echo '{\"type\":\"system\"}'; done");
	assert_int_equal(INVOKE(.stay_ms = 1, .timeout_s = WAIT_LIMIT_S), 0);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
}

TEST(trying_again_until_the_time_limit_is_no_content)
{
	stand_in("claude", RETRY("429") ">tried; sleep 1000");
	(void)invoke_until("tried");
	assert_int_equal(harness_got.status, HARNESS_UNAVAILABLE);
	assert_true(harness_got.rate_limited);
}

TEST(a_cancelled_run_is_no_reason_for_another_harness)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	stand_in("claude", "sleep 1000");
	assert_int_equal(INVOKE(.cancel = fds[0]), 0);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(harness_got.status, HARNESS_FAILURE);
	assert_string_equal(harness_got.detail, "cancelled");
}

static void note_beat(void *data, const struct harness_event *e)
{
	if (e->kind == HARNESS_HEARTBEAT)
		base_close(&(int){open(data, O_WRONLY | O_NONBLOCK)});
}

TEST(heartbeats_come_while_it_runs)
{
	struct harness_input input = {
		.prompt = STR("x"), .timeout_s = WAIT_LIMIT_S, .heartbeat_ms = 20};

	stand_in("claude", "cat beat; echo '" RESULT_LINE "'");
	assert_int_equal(mkfifo("beat", 0600), 0);
	assert_int_equal(harness_invoke(&arena, &harness_claude_code, &input, note_beat,
				 (void *)at("beat"), &harness_got, &harness_err),
		0);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
}

TEST(a_flood_and_giant_lines_are_bounded)
{
	/* 20 MiB without an end of line, then many lines, then the result. */
	assert_string_equal(run_claude("head -c 20971520 /dev/zero | tr '\\0' x; echo; "
				       "yes | head -c 4000000; echo '" RESULT_LINE "'"),
		"success");
	assert_string_equal(run_claude("head -c 20971520 /dev/zero | tr '\\0' x; "
				       "head -c 9000000 /dev/zero >&2"),
		"failure");
	assert_non_null(strstr(harness_got.detail, "1 lines of more than 8 MiB were dropped"));
	assert_true(strlen(harness_got.detail) < 4096);
}

TEST(what_cannot_be_started_is_unavailable)
{
	no_stand_in("claude");
	assert_int_equal(INVOKE(0), 0);
	assert_int_equal(harness_got.status, HARNESS_UNAVAILABLE);
	assert_int_equal(harness_got.exit_code, -1);
	assert_string_equal(harness_got.detail, "no 'claude' on PATH");

	tree_write(stand_in_path("claude"), STR("#!/no/such/interpreter\n"));
	assert_int_equal(chmod(stand_in_path("claude"), 0755), 0);
	assert_int_equal(INVOKE(0), 0);
	assert_int_equal(harness_got.status, HARNESS_UNAVAILABLE);

	assert_int_equal(chmod(stand_in_path("claude"), 0644), 0);
	assert_int_equal(INVOKE(0), 0);
	assert_string_equal(harness_got.detail, "'claude' is not executable");
	assert_string_equal(harness_events.s, "started completed");
}

TEST(a_program_in_the_directory_of_the_agent_is_not_taken)
{
	const char *path = arena_printf(&arena, "%s", getenv("PATH"));

	no_stand_in("claude");
	tree_write("claude", STR("#!/bin/sh\necho taken\n"));
	assert_int_equal(chmod("claude", 0755), 0);
	setenv("PATH", ".::/usr/bin:/bin", 1);
	assert_int_equal(INVOKE(0), 0);
	setenv("PATH", path, 1);
	assert_int_equal(unlink("claude"), 0);
	assert_int_equal(harness_got.status, HARNESS_UNAVAILABLE);
}

TEST(an_input_that_is_none_is_refused)
{
	static const char *const tools[] = {"--dangerously-skip-permissions", NULL};

	assert_int_equal(INVOKE(.prompt = STR(" \n")), -1);
	assert_string_equal(harness_err.text, "the prompt is empty");
	assert_int_equal(INVOKE(.model = "--resume"), -1);
	assert_string_equal(harness_err.text, "'--resume' is not a model id");
	assert_int_equal(INVOKE(.model = "a b"), -1);
	assert_int_equal(INVOKE(.tools = tools), -1);
	assert_int_equal(INVOKE(.cwd = "/no/such"), -1);
	assert_int_equal(INVOKE(.cwd = "/dev/null"), -1);
}

#define CODEX_FAILS(text)                                                                          \
	"echo '{\"type\":\"turn.failed\",\"error\":{\"message\":\"" text "\"}}'; exit 1"

TEST(codex_is_understood)
{
	static const struct harness_case cases[] = {
		{"success", "echo '{\"type\":\"turn.completed\",\"usage\":{}}'", NULL},
		{"limited", CODEX_FAILS("exceeded retry limit, last status: 429 Too Many Requests"),
			NULL},
		{"limited", CODEX_FAILS("Quota exceeded. Check your plan"), NULL},
		{"unavailable", CODEX_FAILS("unexpected status 401 Unauthorized"), NULL},
		{"failure", CODEX_FAILS("unexpected status 400 Bad Request"), NULL},
		{"failure", CODEX_FAILS("make test ended with exit status 56"), NULL},
		{"failure", CODEX_FAILS("patch rejected at line 429 of parser.c"), NULL},
		{"failure", CODEX_FAILS("the refresh token test fails with status 503"), NULL},
		{"failure", CODEX_FAILS("unexpected status 5000 in the fixture"), NULL},
		{"unavailable", CODEX_FAILS("unexpected status 503 Service Unavailable: x"), NULL},
		{"unavailable", CODEX_FAILS("We\u2019re currently experiencing high demand, x"),
			NULL},
		{"unavailable", CODEX_FAILS("stream disconnected before completion: x"), NULL},
		{"unavailable",
			"echo '{\"type\":\"error\",\"message\":\"Reconnecting... waiting for "
			"network (x)\"}'; sleep 1000",
			NULL},
		{"success",
			"echo '{\"type\":\"error\",\"message\":\"Reconnecting... 2/5 (x)\"}'; echo "
			"'{\"type\":\"turn.completed\",\"usage\":{}}'",
			NULL},
		{"failure", "exit 0", NULL},
	};

	harness_assert_cases(&harness_codex, "codex", cases, COUNT(cases));
}

TEST(codex_gives_text_and_tokens)
{
	static const char *const reading[] = {"Read", NULL};

	stand_in("codex", "echo \"$*\" >words; cat >/dev/null\n"
			  "echo '{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":"
			  "\"agent_message\",\"text\":\"first\"}}'\n"
			  "echo '{\"type\":\"item.completed\",\"item\":{\"id\":\"j\",\"type\":"
			  "\"agent_message\",\"text\":\"last\"}}'\n"
			  "echo '{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":100,"
			  "\"cached_input_tokens\":40,\"output_tokens\":9}}'");
	assert_int_equal(harness_rig_invoke(&harness_codex,
				 (struct harness_input){.model = "gpt-5", .tools = reading}),
		0);
	assert_int_equal(harness_got.status, HARNESS_SUCCESS);
	assert_string_equal(harness_got.text, "last");
	assert_int_equal(harness_got.usage.input_tokens, 60);
	assert_int_equal(harness_got.usage.cache_tokens, 40);
	assert_int_equal(harness_got.usage.output_tokens, 9);
	assert_true(harness_got.usage.cost_usd < 0);
	assert_string_equal(scratch_read("words"),
		"exec --json --skip-git-repo-check -m gpt-5 -s read-only -c "
		"check_for_update_on_startup=false -\n");
}

UNIT_GROUP(harness_rig_enter, harness_rig_leave)
