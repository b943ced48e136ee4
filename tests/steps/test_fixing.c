/* Validation and fixes: validating, fixing, fixing-pr. */
#include "tests/lib/step_rig.h"

STEP_TEST(validating_runs_the_repositorys_own_script)
{
	given("", "");
	requests(&step_validating, 1);
	assert_script(0, "bash scripts/validate.sh", 1800, WIRE_VALIDATION);
}

STEP_TEST(validating_runs_the_workflows_command_in_its_time)
{
	given("", "");
	step_case.workflow.validate = "make check";
	step_case.workflow.validate_timeout_s = 7;
	request(&step_validating);
	assert_script(0, "make check", 7, WIRE_VALIDATION);
}

STEP_TEST(validating_passed_is_clean_and_pushes)
{
	put_answered(WIRE_VALIDATION, "passed | failed", "passed");
	given("", SECTION(WIRE_VALIDATION, "passed — log: /l/a b.log\n")
			  SECTION(WIRE_LAST_FAILURE, "old"));
	requests(&step_validating, 0);
	decides(&step_validating, "clean");
	assert_int_equal(step_case.context.effects, EFFECT_PUSH);
	assert_section(WIRE_LAST_FAILURE, "");
	assert_section(WIRE_VALIDATION, "");
	assert_str(context_get(&step_case.doc, "build_log"), "/l/a b.log");
}

STEP_TEST(validating_failed_is_build_failed_and_last_failure_names_the_log)
{
	put_answered(WIRE_VALIDATION, "passed | failed", "failed");
	given("", SECTION(WIRE_VALIDATION, "It passed. log: /l/x.log"));
	decides(&step_validating, "build_failed");
	assert_int_equal(step_case.context.effects, EFFECT_NONE);
	assert_str(context_get(&step_case.doc, "build_log"), "/l/x.log");
	assert_section(
		WIRE_LAST_FAILURE, "Validation failed. Log: /l/x.log\n\nIt passed. log: /l/x.log");
	assert_section(WIRE_VALIDATION, "");
}

STEP_TEST(validating_takes_the_log_of_the_action_when_the_answer_names_none)
{
	put_answered(WIRE_VALIDATION, "passed | failed", "passed");
	json_put_str((json *)json_at(step_case.outstanding, 0), "log_file", STR("/l/own.log"));
	given("", SECTION(WIRE_VALIDATION, "passed"));
	decides(&step_validating, "clean");
	assert_str(context_get(&step_case.doc, "build_log"), "/l/own.log");
}

STEP_TEST(fixing_asks_for_fix_1_at_first)
{
	given("", SECTION(WIRE_LAST_FAILURE, "x"));
	requests(&step_fixing, 1);
	assert_agent(0, "developer", "developer-fix", "ADR-7",
		WIRE_BRIEF ", " WIRE_LAST_FAILURE ", " WIRE_SUMMARY, WIRE_FIX " 1",
		"fixed | failed | needs_clarification");
}

STEP_TEST(fixing_n_counts_both_iterations_and_reads_the_fixes_so_far)
{
	given(WIRE_FIXES ": 1\n" WIRE_REVIEW_FIXES ": 1\n",
		SECTION(WIRE_FIX " 1", "a") SECTION(WIRE_FIX " 2", "b"));
	request(&step_fixing);
	assert_agent(0, "developer", "developer-fix", "ADR-7",
		WIRE_BRIEF ", " WIRE_LAST_FAILURE ", " WIRE_SUMMARY ", " WIRE_FIX " 1, " WIRE_FIX
			   " 2",
		WIRE_FIX " 3", "fixed | failed | needs_clarification");
}

#define FIXED "{\"status\":\"fixed\"}"

STEP_TEST(fixing_a_fix_is_fix_done_and_counts_one)
{
	given(WIRE_FIXES ": 1\n", SECTION(WIRE_FIX " 1", "a") SECTION(WIRE_FIX " 2", FIXED));
	requests(&step_fixing, 0);
	decides(&step_fixing, "fix_done");
	assert_count(WIRE_FIXES, 2);
	assert_count(WIRE_REVIEW_FIXES, 0);
	assert_section(WIRE_FIX " 2", FIXED);
}

STEP_TEST(fixing_failed_means_that_it_is_asked_again)
{
	put_answered(WIRE_FIX " 1", "fixed | failed", "failed");
	given("", SECTION(WIRE_FIX " 1", "Could not."));
	decide_fails(&step_fixing, STEP_FAILED, WIRE_FIX " 1");
	assert_count(WIRE_FIXES, 0);
}

STEP_TEST(fixing_needs_clarification_goes_to_the_troubleshooter)
{
	put_answered(WIRE_FIX " 1", "fixed | failed | needs_clarification", "needs_clarification");
	given("", SECTION(WIRE_FIX " 1", "Which of the two?"));
	decide_fails(&step_fixing, STEP_UNCLEAR, WIRE_FIX " 1");
	assert_count(WIRE_FIXES, 0);
}

STEP_TEST(fixing_four_times_asks_a_fifth_time)
{
	given(WIRE_FIXES ": 4\n", "");
	request(&step_fixing);
	assert_string_equal(step_case.context.requests.items[0].writes, WIRE_FIX " 5");
}

STEP_TEST(fixing_five_times_is_max_retries_and_asks_nobody)
{
	given(WIRE_FIXES ": 5\n", "");
	requests(&step_fixing, 0);
	decides(&step_fixing, "max_retries");
	assert_count(WIRE_FIXES, 5);
}

STEP_TEST(fixing_the_workflow_sets_the_limit)
{
	step_case.workflow.limits.max_fix_iterations = 0;
	given("", "");
	requests(&step_fixing, 0);
	decides(&step_fixing, "max_retries");
}

STEP_TEST(fixing_fixes_of_reviews_do_not_use_up_its_limit)
{
	given(WIRE_FIXES ": 4\n" WIRE_REVIEW_FIXES ": 3\n", "");
	request(&step_fixing);
	assert_string_equal(step_case.context.requests.items[0].writes, WIRE_FIX " 8");
}

STEP_TEST(fixing_pr_reads_the_review_notes)
{
	given(WIRE_FIXES ": 1\n", SECTION(WIRE_FIX " 1", "a") SECTION(WIRE_NOTES, "n"));
	requests(&step_fixing_pr, 1);
	assert_agent(0, "developer", "developer-fix", "ADR-7",
		WIRE_BRIEF ", " WIRE_NOTES ", " WIRE_SUMMARY ", " WIRE_FIX " 1", WIRE_FIX " 2",
		"fixed | failed | needs_clarification");
	assert_int_equal(step_fixing_pr.before_request, EFFECT_PR_CHECKS | EFFECT_PR_COMMENTS);
}

STEP_TEST(fixing_pr_a_fix_counts_one_and_clears_the_review_notes)
{
	given(WIRE_FIXES ": 1\n",
		SECTION(WIRE_FIX " 1", "a") SECTION(WIRE_FIX " 2", FIXED) SECTION(WIRE_NOTES, "n"));
	requests(&step_fixing_pr, 0);
	decides(&step_fixing_pr, "fix_done");
	assert_count(WIRE_FIXES, 1);
	assert_count(WIRE_REVIEW_FIXES, 1);
	assert_section(WIRE_NOTES, "");
}

STEP_TEST(fixing_pr_failed_keeps_the_review_notes)
{
	given("", SECTION(WIRE_FIX " 1", "{\"status\":\"failed\"}") SECTION(WIRE_NOTES, "n"));
	decide_fails(&step_fixing_pr, STEP_FAILED, WIRE_FIX " 1");
	assert_count(WIRE_REVIEW_FIXES, 0);
	assert_section(WIRE_NOTES, "n");
}

STEP_TEST(fixing_pr_three_times_is_max_retries)
{
	given(WIRE_REVIEW_FIXES ": 3\n", SECTION(WIRE_NOTES, "n"));
	requests(&step_fixing_pr, 0);
	decides(&step_fixing_pr, "max_retries");
	assert_section(WIRE_NOTES, "n");
}

STEP_TEST(fixing_pr_twice_asks_a_third_time_whatever_fixing_has_used)
{
	given(WIRE_FIXES ": 5\n" WIRE_REVIEW_FIXES ": 2\n", "");
	request(&step_fixing_pr);
	assert_string_equal(step_case.context.requests.items[0].writes, WIRE_FIX " 8");
}
