/* hook.c: which events have an answer. */
#include "src/hook/hook.h"
#include "tests/lib/shell.h"

static struct error err;

TEST(an_event_that_is_not_known_has_no_answer_and_no_limit)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_int_equal(hook_answer(&arena, "Tomorrow", STR("no JSON"), &out, &err), 0);
	assert_int_equal(hook_answer(&arena, "", STR("{}"), &out, &err), 0);
	assert_int_equal(out.len, 0);
	assert_int_equal(hook_limit("Tomorrow"), 0);
}

/* The client waits for 30 seconds, and then makes the call. */
TEST(an_event_is_answered_before_the_client_gives_up)
{
	static const char *const events[] = {"PreToolUse", "SessionStart", "Stop", "AgentCall",
		"AgentHandback", "SubagentStart", "SubagentStop", "PostToolUse"};

	for (size_t i = 0; i < COUNT(events); i++)
		assert_in_range(hook_limit(events[i]), 1, 29);
}

TEST(a_slash_command_that_is_not_json_is_an_error)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	assert_fails(
		hook_answer(&arena, "UserPromptExpansion", STR("{\"command_name\":"), &out, &err),
		err, ERR_INPUT);
	assert_int_equal(out.len, 0);
}

UNIT_GROUP(NULL, arena_end)
