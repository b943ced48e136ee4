/* The states with one agent: debugging, researching, implementing; and the table of steps. */
#include "tests/lib/step_rig.h"

STEP_TEST(debugging_asks_the_debugger_for_a_report)
{
	given("", "");
	requests(&step_debugging, 1);
	assert_agent(0, "debugger", "debugger-investigate", "ADR-7", "", WIRE_DEBUG_REPORT,
		"reproduced | not_reproduced");
}

STEP_TEST(debugging_asks_nothing_once_there_is_a_report)
{
	given("", SECTION(WIRE_DEBUG_REPORT, "x"));
	requests(&step_debugging, 0);
}

STEP_TEST(debugging_reproduced_is_debug_done)
{
	put_answered(WIRE_DEBUG_REPORT, "reproduced | not_reproduced", "reproduced");
	given("", SECTION(WIRE_DEBUG_REPORT, "It leaks."));
	decides(&step_debugging, "debug_done");
	assert_section(WIRE_LAST_FAILURE, "");
	assert_section(WIRE_DEBUG_REPORT, "It leaks.");
}

STEP_TEST(debugging_not_reproduced_is_reproduction_failed_and_last_failure_has_it)
{
	put_answered(WIRE_DEBUG_REPORT, "reproduced | not_reproduced", "not_reproduced");
	given("", SECTION(WIRE_DEBUG_REPORT, "# Debug report for ADR-7"));
	decides(&step_debugging, "reproduction_failed");
	assert_section(
		WIRE_LAST_FAILURE, "Bug could not be reproduced.\n\n# Debug report for ADR-7");
}

STEP_TEST(researching_asks_for_a_brief_with_the_id_and_the_spec)
{
	given(WIRE_SPEC_KEY ": docs/_spec_Widget.md\n", "");
	step_case.context.research_skill = "my:skill";
	requests(&step_researching, 1);
	assert_agent(0, "researcher", "my:skill", "ADR-7 docs/_spec_Widget.md", "", WIRE_BRIEF,
		"briefed | failed | needs_clarification");
}

STEP_TEST(researching_without_a_spec_has_the_id_alone)
{
	given("", "");
	request(&step_researching);
	assert_string_equal(step_case.context.requests.items[0].args, "ADR-7");
}

STEP_TEST(researching_reads_the_debug_report_if_there_is_one)
{
	given("", SECTION(WIRE_DEBUG_REPORT, "x"));
	request(&step_researching);
	assert_agent(0, "researcher", "researcher-plan", "ADR-7", WIRE_DEBUG_REPORT, WIRE_BRIEF,
		"briefed | failed | needs_clarification");
}

STEP_TEST(researching_a_path_with_blanks_or_quotes_stays_one_argument)
{
	given(WIRE_SPEC_KEY ": \"a b/_spec_it's.md\"\n", "");
	request(&step_researching);
	assert_string_equal(
		step_case.context.requests.items[0].args, "ADR-7 'a b/_spec_it'\\''s.md'");
}

STEP_TEST(researching_a_brief_is_research_done)
{
	given("", SECTION(WIRE_BRIEF, "Do this.\n{\"status\":\"briefed\"}"));
	requests(&step_researching, 0);
	decides(&step_researching, "research_done");
}

STEP_TEST(researching_failed_means_that_it_is_asked_again)
{
	put_answered(WIRE_BRIEF, "briefed | failed | needs_clarification", "failed");
	given("", SECTION(WIRE_BRIEF, "The spec is not there."));
	decide_fails(&step_researching, STEP_FAILED, WIRE_BRIEF);
}

STEP_TEST(researching_failed_may_stand_in_the_text_alone)
{
	given("", SECTION(WIRE_BRIEF, "No.\n{\"status\":\"failed\"}"));
	decide_fails(&step_researching, STEP_FAILED, WIRE_BRIEF);
}

STEP_TEST(researching_needs_clarification_goes_to_the_troubleshooter)
{
	put_answered(WIRE_BRIEF, "briefed | failed | needs_clarification", "needs_clarification");
	given("", SECTION(WIRE_BRIEF, "Which colour?"));
	decide_fails(&step_researching, STEP_UNCLEAR, WIRE_BRIEF);
}

STEP_TEST(implementing_asks_the_developer)
{
	given("", SECTION(WIRE_BRIEF, "x") SECTION(WIRE_DEBUG_REPORT, "x"));
	requests(&step_implementing, 1);
	assert_agent(0, "developer", "developer-implement", "ADR-7", WIRE_BRIEF, WIRE_SUMMARY,
		"implemented | failed | needs_clarification");
}

STEP_TEST(implementing_a_summary_is_impl_done)
{
	given("", SECTION(WIRE_SUMMARY, "Did it.\n{\"status\":\"implemented\"}"));
	requests(&step_implementing, 0);
	decides(&step_implementing, "impl_done");
}

STEP_TEST(implementing_failed_means_that_it_is_asked_again)
{
	given("", SECTION(WIRE_SUMMARY, "{\"status\":\"failed\"}"));
	decide_fails(&step_implementing, STEP_FAILED, WIRE_SUMMARY);
}

STEP_TEST(implementing_needs_clarification_goes_to_the_troubleshooter)
{
	put_answered(
		WIRE_SUMMARY, "implemented | failed | needs_clarification", "needs_clarification");
	given("", SECTION(WIRE_SUMMARY, "Which colour?"));
	decide_fails(&step_implementing, STEP_UNCLEAR, WIRE_SUMMARY);
}

STEP_TEST(spec_finding_needs_nobody_and_gives_spec_found)
{
	given("", "");
	assert_null(step_spec_finding.request);
	assert_int_equal(step_spec_finding.before_decide, EFFECT_FIND_SPEC);
	decides(&step_spec_finding, "spec_found");
}

STEP_TEST(every_state_of_the_table_has_its_step_and_its_triggers)
{
	static const struct {
		const char *state, *triggers[3];
	} want[] = {
		{"spec-finding", {"spec_found", NULL}},
		{"debugging", {"debug_done", "reproduction_failed", NULL}},
		{"researching", {"research_done", NULL}},
		{"implementing", {"impl_done", NULL}},
		{"validating", {"clean", "build_failed", NULL}},
		{"fixing", {"fix_done", "max_retries", NULL}},
		{"reviewing", {"approved", "changes_requested", NULL}},
		{"fixing-pr", {"fix_done", "max_retries", NULL}},
		{"signoff", {"approved", "changes_requested", NULL}},
	};
	const struct workflow_builtin *got = steps_builtin();

	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(got[i].state, want[i].state);
		for (size_t k = 0; want[i].triggers[k]; k++)
			assert_string_equal(got[i].triggers[k], want[i].triggers[k]);
		assert_null(got[i].triggers[want[i].triggers[1] ? 2 : 1]);
	}
	assert_null(got[COUNT(want)].state);
}

STEP_TEST(a_step_serves_only_states_of_the_workflow)
{
	static struct workflow_state states[] = {{.name = "researching"}, {.name = "strange"}};
	struct workflow w = {.states = states, .n_states = COUNT(states)};

	assert_ptr_equal(steps_find(&w, "researching"), &step_researching);
	assert_null(steps_find(&w, "strange"));
	assert_null(steps_find(&w, "implementing"));
	assert_null(steps_find(&w, ""));
}
