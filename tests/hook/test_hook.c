/* hook.c: which events have an answer. */
#include "src/hook/hook_internal.h"
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

/* Each command is one of an agent's; the rule denies. */
static const struct {
	const char *rule, *command;
	bool decides;
} rules[] = {
	{"Bash", "ls", true},
	{"Bash(*)", "ls", true},
	{"Bash(echo one)", "cd w && echo one", true},
	{"Bash(git push:*)", "cd w && git push origin x", true},
	{"Bash(npm *)", "npm test", true},
	{"Bash(git push:*)", "git status", false},
	{"Read(./.env)", "cat .env", false},
	{"Bashful", "ls", false},
};

UNIT_TEST(a_rule_of_the_user_keeps_its_command_as_it_was_written, scratch_make, scratch_remove)
{
	static const char *const places[] = {
		"p/.claude/settings.json", "p/.claude/settings.local.json", "config/settings.json"};

	setenv("CLAUDE_CONFIG_DIR", at("config"), 1);
	for (size_t i = 0; i < COUNT(rules); i++)
		for (size_t k = 0; k < COUNT(places); k++) {
			scratch_write(places[k],
				arena_printf(&arena, "{\"permissions\": {\"%s\": [\"%s\"]}}",
					k ? "deny" : "ask", rules[i].rule));
			assert_int_equal(hook_user_decides(&arena, at("p"), rules[i].command),
				rules[i].decides);
			(void)unlink(at(places[k]));
		}
	scratch_write(places[0], "{");
	assert_false(hook_user_decides(&arena, at("p"), "ls"));
	assert_false(hook_user_decides(&arena, NULL, "ls"));
	unsetenv("CLAUDE_CONFIG_DIR");
}

UNIT_GROUP(NULL, arena_end)
