/* The states that one agent serves: debugging, researching, implementing; and the table of steps.
 */
#include "tests/lib/step_rig.h"

static void debugging_asks_the_debugger_for_a_report(void **state)
{
	(void)state;
	given("", "");
	asks(&step_debugging);
	assert_int_equal(t.moment.n_requests, 1);
	assert_agent(0, "debugger", "debugger-investigate", "ADR-7", "", "Debug Report",
		"reproduced | not_reproduced");
}

static void debugging_asks_nothing_once_there_is_a_report(void **state)
{
	(void)state;
	given("", SECTION("Debug Report", "x"));
	assert_asks_nothing(&step_debugging);
}

static void debugging_a_headed_report_is_debug_done(void **state)
{
	(void)state;
	given("", SECTION("Debug Report", "# Debug report for ADR-7\n\nIt leaks."));
	decides(&step_debugging);
	assert_gives("debug_done");
	assert_section("Last Failure", "");
	assert_section("Debug Report", "# Debug report for ADR-7\n\nIt leaks.");
}

static void debugging_the_heading_may_stand_below_other_text(void **state)
{
	(void)state;
	given("", SECTION("Debug Report", "Done.\n\n# Debug report for ADR-7\n"));
	decides(&step_debugging);
	assert_gives("debug_done");
}

static void debugging_any_other_report_is_reproduction_failed_and_last_failure_has_it(void **state)
{
	(void)state;
	given("", SECTION("Debug Report", "I tried."));
	decides(&step_debugging);
	assert_gives("reproduction_failed");
	assert_section("Last Failure", "Bug could not be reproduced.\n\nI tried.");
}

static void debugging_the_word_not_reproduced_outdoes_the_heading(void **state)
{
	(void)state;
	recorded("Debug Report", "reproduced | not_reproduced", "not_reproduced");
	given("", SECTION("Debug Report", "# Debug report for ADR-7"));
	decides(&step_debugging);
	assert_gives("reproduction_failed");
}

static void debugging_the_word_reproduced_is_no_report(void **state)
{
	(void)state;
	recorded("Debug Report", "reproduced | not_reproduced", "reproduced");
	given("", SECTION("Debug Report", "yes"));
	decides(&step_debugging);
	assert_gives("reproduction_failed");
}

static void researching_asks_for_a_brief_with_the_id_and_the_spec(void **state)
{
	(void)state;
	given("spec_path: docs/_spec_Widget.md\n", "");
	t.moment.research_skill = "my:skill";
	asks(&step_researching);
	assert_int_equal(t.moment.n_requests, 1);
	assert_agent(0, "researcher", "my:skill", "ADR-7 docs/_spec_Widget.md", "",
		"Researcher Brief", "briefed | failed");
}

static void researching_without_a_spec_has_the_id_alone(void **state)
{
	(void)state;
	given("", "");
	asks(&step_researching);
	assert_string_equal(t.moment.requests[0].args, "ADR-7");
}

static void researching_reads_the_debug_report_if_there_is_one(void **state)
{
	(void)state;
	given("", SECTION("Debug Report", "x"));
	asks(&step_researching);
	assert_agent(0, "researcher", "researcher-plan", "ADR-7", "Debug Report",
		"Researcher Brief", "briefed | failed");
}

static void researching_a_path_with_blanks_or_quotes_stays_one_argument(void **state)
{
	(void)state;
	given("spec_path: \"a b/_spec_it's.md\"\n", "");
	asks(&step_researching);
	assert_string_equal(t.moment.requests[0].args, "ADR-7 'a b/_spec_it'\\''s.md'");
}

static void researching_a_brief_is_research_done(void **state)
{
	(void)state;
	given("", SECTION("Researcher Brief", "Do this."));
	assert_asks_nothing(&step_researching);
	decides(&step_researching);
	assert_gives("research_done");
}

static void researching_failed_means_that_it_is_asked_again(void **state)
{
	(void)state;
	recorded("Researcher Brief", "briefed | failed", "failed");
	given("", SECTION("Researcher Brief", "The spec is not there."));
	decides(&step_researching);
	assert_could_not(STEP_FAILED, "Researcher Brief");
}

static void researching_failed_may_stand_in_the_text_alone(void **state)
{
	(void)state;
	given("", SECTION("Researcher Brief", "No.\n{\"status\":\"failed\"}"));
	decides(&step_researching);
	assert_could_not(STEP_FAILED, "Researcher Brief");
}

static void researching_prose_that_says_failed_is_a_brief(void **state)
{
	(void)state;
	given("", SECTION("Researcher Brief", "The old code failed. Mend it."));
	decides(&step_researching);
	assert_gives("research_done");
}

static void implementing_asks_the_developer(void **state)
{
	(void)state;
	given("", SECTION("Researcher Brief", "x") SECTION("Debug Report", "x"));
	asks(&step_implementing);
	assert_int_equal(t.moment.n_requests, 1);
	assert_agent(0, "developer", "developer-implement", "ADR-7", "Researcher Brief",
		"Implementation Summary", "implemented | failed | needs_clarification");
}

static void implementing_a_summary_is_impl_done(void **state)
{
	(void)state;
	given("", SECTION("Implementation Summary", "Did it."));
	assert_asks_nothing(&step_implementing);
	decides(&step_implementing);
	assert_gives("impl_done");
}

static void implementing_failed_means_that_it_is_asked_again(void **state)
{
	(void)state;
	given("", SECTION("Implementation Summary", "{\"status\":\"failed\"}"));
	decides(&step_implementing);
	assert_could_not(STEP_FAILED, "Implementation Summary");
}

static void implementing_needs_clarification_goes_to_the_troubleshooter(void **state)
{
	(void)state;
	recorded("Implementation Summary", "implemented | failed | needs_clarification",
		"needs_clarification");
	given("", SECTION("Implementation Summary", "Which colour?"));
	decides(&step_implementing);
	assert_could_not(STEP_UNCLEAR, "Implementation Summary");
}

static void spec_finding_needs_nobody_and_gives_spec_found(void **state)
{
	(void)state;
	given("", "");
	assert_null(step_spec_finding.request);
	assert_int_equal(step_spec_finding.before_decide, EFFECT_FIND_SPEC);
	decides(&step_spec_finding);
	assert_gives("spec_found");
}

static void every_state_of_the_table_has_its_step_and_its_triggers(void **state)
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

	(void)state;
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(got[i].state, want[i].state);
		for (size_t k = 0; want[i].triggers[k]; k++)
			assert_string_equal(got[i].triggers[k], want[i].triggers[k]);
		assert_null(got[i].triggers[want[i].triggers[1] ? 2 : 1]);
	}
	assert_null(got[COUNT(want)].state);
}

static void a_step_serves_only_states_of_the_workflow(void **state)
{
	static struct workflow_state states[] = {{.name = "researching"}, {.name = "strange"}};
	struct workflow w = {.states = states, .n_states = COUNT(states)};

	(void)state;
	assert_ptr_equal(step_for(&w, "researching"), &step_researching);
	assert_null(step_for(&w, "strange"));
	assert_null(step_for(&w, "implementing"));
	assert_null(step_for(&w, ""));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		step_test(debugging_asks_the_debugger_for_a_report),
		step_test(debugging_asks_nothing_once_there_is_a_report),
		step_test(debugging_a_headed_report_is_debug_done),
		step_test(debugging_the_heading_may_stand_below_other_text),
		step_test(
			debugging_any_other_report_is_reproduction_failed_and_last_failure_has_it),
		step_test(debugging_the_word_not_reproduced_outdoes_the_heading),
		step_test(debugging_the_word_reproduced_is_no_report),
		step_test(researching_asks_for_a_brief_with_the_id_and_the_spec),
		step_test(researching_without_a_spec_has_the_id_alone),
		step_test(researching_reads_the_debug_report_if_there_is_one),
		step_test(researching_a_path_with_blanks_or_quotes_stays_one_argument),
		step_test(researching_a_brief_is_research_done),
		step_test(researching_failed_means_that_it_is_asked_again),
		step_test(researching_failed_may_stand_in_the_text_alone),
		step_test(researching_prose_that_says_failed_is_a_brief),
		step_test(implementing_asks_the_developer),
		step_test(implementing_a_summary_is_impl_done),
		step_test(implementing_failed_means_that_it_is_asked_again),
		step_test(implementing_needs_clarification_goes_to_the_troubleshooter),
		step_test(spec_finding_needs_nobody_and_gives_spec_found),
		step_test(every_state_of_the_table_has_its_step_and_its_triggers),
		step_test(a_step_serves_only_states_of_the_workflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
