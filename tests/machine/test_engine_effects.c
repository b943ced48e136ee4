/* The engine: commits, pushes and checks, and the consequences of their failure. */
#include "tests/lib/engine_rig.h"

ENGINE_TEST(work_is_committed_before_it_is_validated_and_pushed_after)
{
	by_hand("fixing", PR, "");
	steps_to("ADR-7/fixing/1");
	answered("ADR-7/fixing/1", "fixed", "Done.", "ADR-7/validating/1");
	assert_int_equal(t.commits, 1);
	assert_int_equal(t.pushes, 0);
	answered("ADR-7/validating/1", "passed", "passed — log: /l", "ADR-7/reviewing/1");
	assert_int_equal(t.commits, 1);
	assert_int_equal(t.pushes, 1);
	assert_true(events_have("\"type\":\"effect\",\"effect\":\"commit\"}"));
	assert_true(events_have("\"type\":\"effect\",\"effect\":\"push\"}"));
}

ENGINE_TEST(without_a_remote_the_push_is_skipped_and_said)
{
	t.no_remote = t.nothing_to_commit = true;
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	assert_string_equal(t.messages.s, "no remote 'origin', or nothing new for it: "
					  "nothing is pushed\n");
	assert_true(events_have("\"effect\":\"push skipped\"}"));
}

ENGINE_TEST(a_failing_effect_leaves_the_file_as_it_was_and_is_tried_again)
{
	char *text, *journal;

	by_hand("fixing-pr", PR, "");
	steps_to("ADR-7/fixing-pr/1");
	answer("ADR-7/fixing-pr/1", "fixed", "Done.");
	text = document();
	journal = events();
	t.commit_fails = true;
	assert_fails(step_as("ADR-7", true, NULL), t.err, ERR_SYSTEM);
	assert_string_equal(document(), text);
	t.commit_fails = false;
	t.push_fails = true;
	assert_int_equal(step_as("ADR-7", true, NULL), -1);
	assert_error(&t.err, "dev-team: cannot push");
	assert_string_equal(document(), text);
	assert_memory_equal(events(), journal, strlen(journal));
	assert_true(str_ends(str_of(events()), "\"type\":\"effect\",\"effect\":\"commit\"}\n"));
	assert_int_equal(t.out.len, 0);
	t.push_fails = false;
	t.nothing_to_commit = true;
	returns_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	assert_true(events_have("\"effect\":\"push\"}"));
}

ENGINE_TEST(a_push_that_fails_before_signoff_asks_nobody_yet)
{
	by_hand("signoff", PR, "");
	t.push_fails = true;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_value("actions_dispatched", "");
	t.push_fails = false;
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
}

ENGINE_TEST(a_push_that_the_remote_refuses_after_the_validation_is_told_to_the_developer)
{
	by_hand("validating", "", "");
	steps_to("ADR-7/validating/1");
	t.push_fault = "'git push' failed: ! [rejected]";
	answered("ADR-7/validating/1", "passed", "passed", "ADR-7/fixing/1");
	assert_non_null(strstr(section(WIRE_LAST_FAILURE), t.push_fault));
	assert_true(events_have("\"reason\":\"'git push' failed: ! [rejected]\""));
	t.push_fault = NULL;
	answered("ADR-7/fixing/1", "fixed", "Done.", "ADR-7/validating/2");
	answered("ADR-7/validating/2", "passed", "passed", "ADR-7/reviewing/1");
	assert_int_equal(t.pushes, 1);
}

ENGINE_TEST(a_push_that_the_remote_refuses_before_signoff_is_told_to_the_developer)
{
	by_hand("signoff", PR, "");
	t.push_fault = "'git push' failed: ! [rejected]";
	steps_to("ADR-7/fixing-pr/1");
	assert_section(WIRE_LAST_FAILURE, t.push_fault);
	assert_section(WIRE_NOTES, t.push_fault);
	t.push_fault = NULL;
	answered("ADR-7/fixing-pr/1", "fixed", "Done.",
		"ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
}

/* An amended commit may replace it. */
ENGINE_TEST(what_was_pushed_last_is_remembered)
{
	by_hand("validating", "", "");
	steps_to("ADR-7/validating/1");
	answered("ADR-7/validating/1", "passed", "passed", "ADR-7/reviewing/1");
	assert_null(t.pushed);
	t.head = "c2";
	set("state", "signoff");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	assert_string_equal(t.pushed, "c1");
}

ENGINE_TEST(failing_checks_are_added_to_last_failure_once)
{
	static const char want[] = "old\n\n---\n\nFailing checks of "
				   "https://github.com/o/r/pull/7:\n\nlint fail";

	t.checks = "lint fail";
	by_hand("fixing-pr", PR, SECTION(WIRE_LAST_FAILURE, "old"));
	steps_to("ADR-7/fixing-pr/1");
	assert_section(WIRE_LAST_FAILURE, want);
	returns_to("ADR-7/fixing-pr/2");
	assert_section(WIRE_LAST_FAILURE, want);
}

/* The last comments stay if no program can read newer ones. */
ENGINE_TEST(open_comments_replace_those_of_the_request_before)
{
	static const char *const states[] = {"fixing-pr", "reviewing", "signoff"};

	for (size_t i = 0; i < COUNT(states); i++) {
		t.comments = "ada: why?";
		by_hand(states[i], PR, "");
		assert_int_equal(step_as("ADR-7", false, NULL), 0);
		assert_section(WIRE_COMMENTS, "ada: why?");
		t.comments = NULL;
		assert_int_equal(step_as("ADR-7", true, NULL), 0);
		assert_section(WIRE_COMMENTS, "ada: why?");
		t.comments = "";
		assert_int_equal(step_as("ADR-7", true, NULL), 0);
		assert_section(WIRE_COMMENTS, "");
	}
}

ENGINE_TEST(comments_that_cannot_be_asked_do_not_stop_the_run)
{
	t.comments_fail = true;
	by_hand("reviewing", PR, SECTION(WIRE_COMMENTS, "old"));
	steps_to("ADR-7/reviewing/1");
	assert_section(WIRE_COMMENTS, "old");
	assert_string_equal(t.messages.s,
		"cannot read the comments of 'https://github.com/o/r/pull/7': "
		"gh is not logged in\n");
	assert_true(events_have("\"effect\":\"comments not read\"}"));
}

ENGINE_TEST(checks_that_cannot_be_asked_do_not_stop_the_run)
{
	t.checks_fail = true;
	by_hand("fixing-pr", PR, SECTION(WIRE_LAST_FAILURE, "old"));
	steps_to("ADR-7/fixing-pr/1");
	assert_section(WIRE_LAST_FAILURE, "old");
	assert_string_equal(t.messages.s,
		"cannot read the checks of 'https://github.com/o/r/pull/7': "
		"gh is not logged in\n");
	assert_true(events_have("\"effect\":\"checks not read\"}"));
}
