/* The question before a dispatch. The journal of each test is replayed at its end. */
#include "src/base/clock.h"
#include "tests/lib/engine_rig.h"

static void ask_about(const char *id, enum admission_answer answer)
{
	t.asked_about = id;
	t.admission = (struct admission){
		.answer = answer, .reason = "the budget is spent", .until = clock_now() + 60};
}

ENGINE_TEST(nobody_is_asked_by_default)
{
	steps_to("ADR-7/researching/1");
	assert_false(events_have("admission"));
}

ENGINE_TEST(a_refused_call_of_the_troubleshooter_is_made_when_it_is_allowed)
{
	ask_about("ADR-7/troubleshooter/1", ADMISSION_NO);
	steps_to("ADR-7/researching/1");
	returns_to("ADR-7/researching/2");
	returns_to("ADR-7/researching/3");
	returns_to("failed: needs your answer: the budget is spent");
	assert_value("question", "the budget is spent");
	assert_count("troubleshooter_calls", 0);
	assert_true(events_have("\"type\":\"failure\",\"action\":\"ADR-7/troubleshooter/1\","
				"\"reason\":\"the budget is spent\""));
	ask_about("", ADMISSION_NO);
	steps_to("ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
	assert_value("question", "");
	assert_count("troubleshooter_calls", 1);
}

ENGINE_TEST(a_remedy_for_failed_answers_is_tried_in_place_of_the_troubleshooter)
{
	ask_about("ADR-7/troubleshooter/1", ADMISSION_REMEDY);
	t.admission.until = 0;
	steps_to("ADR-7/researching/1");
	answered("ADR-7/researching/1", "failed", "a", "ADR-7/researching/2");
	answered("ADR-7/researching/2", "failed", "b", "ADR-7/researching/3");
	answered("ADR-7/researching/3", "failed", "out of words", "ADR-7/researching/4");
	assert_non_null(strstr(t.failed, "out of words"));
	assert_value("user_note", "the budget is spent");
	assert_count(WIRE_FAILURES, 0);
	assert_count("troubleshooter_calls", 0);
	ask_about("", ADMISSION_NO);
	answered("ADR-7/researching/4", "failed", "a", "ADR-7/researching/5");
	answered("ADR-7/researching/5", "failed", "b", "ADR-7/researching/6");
	answered(
		"ADR-7/researching/6", "failed", "c", "ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
}

ENGINE_TEST(a_remedy_for_reviews_sets_their_counter_back)
{
	ask_about("ADR-7/troubleshooter/1", ADMISSION_REMEDY);
	t.admission.until = 0;
	by_hand("fixing-pr", PR WIRE_SIGNOFFS ": 2\n", "");
	steps_to("ADR-7/fixing-pr/1");
	assert_string_equal(t.failed, "changes_requested");
	assert_count(WIRE_SIGNOFFS, 0);
}

ENGINE_TEST(a_remedy_that_waits_is_tried_when_its_time_has_come)
{
	ask_about("ADR-7/troubleshooter/1", ADMISSION_REMEDY);
	by_hand("reviewing", PR WIRE_REVIEWS ": 3\n", "");
	steps_to("waiting: it is tried again later");
	assert_count(WIRE_REVIEWS, 0);
	set("wait_until", "2026-11-21T00:00:00Z");
	steps_to("ADR-7/reviewing/1");
}

/* What was not answered has no text, and what the user has answered needs no remedy. */
ENGINE_TEST(no_remedy_is_asked_for_silence_or_in_place_of_the_users_answer)
{
	ask_about("ADR-7/troubleshooter/1", ADMISSION_REMEDY);
	steps_to("ADR-7/researching/1");
	returns_to("ADR-7/researching/2");
	returns_to("ADR-7/researching/3");
	returns_to("ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
	by_hand("fixing-pr",
		PR WIRE_SIGNOFFS ": 2\nquestion: Which?\nquestion_trigger: signoff_deadlock\n"
				 "troubleshooter_input: This\n",
		"");
	steps_to("ADR-7/troubleshooter/1 signoff_deadlock:2");
	assert_null(t.failed);
}

ENGINE_TEST(what_another_state_has_requested_is_discarded_while_a_dispatch_waits)
{
	steps_to("ADR-7/researching/1");
	assert_non_null(strstr(document(), "ADR-7/researching/1"));
	set("state", "implementing");
	ask_about("ADR-7/implementing/1", ADMISSION_WAIT);
	steps_to("waiting: the budget is spent");
	assert_null(strstr(document(), "ADR-7/researching/1"));
}

ENGINE_TEST(a_question_that_cannot_be_answered_stops_the_step_and_is_asked_again)
{
	ask_about("ADR-7/researching/1", ADMISSION_FAILED);
	(void)error_set(&t.admission.error, ERR_SYSTEM, "the ledger cannot be read");
	assert_fails(step_as("ADR-7", false, NULL), t.err, ERR_SYSTEM);
	assert_string_equal(t.err.text, "the ledger cannot be read");
	ask_about("", ADMISSION_NO);
	steps_to("ADR-7/researching/1");
	assert_value("question", "");
}

ENGINE_TEST(what_is_in_front_of_a_refused_request_is_dispatched)
{
	workflow("---\nstates:\n  gates:\n    all:\n"
		 "      - {agent: a, skill: a, writes: A, results: {good: ok}}\n"
		 "      - {agent: b, skill: b, writes: B, results: {good: ok}}\n"
		 "      - {agent: c, skill: c, writes: C, results: {good: ok}}\n"
		 "---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> gates : go\n"
		 "gates --> done : ok\ndone --> [*]\n```\n");
	ask_about("ADR-7/gates/2", ADMISSION_WAIT);
	steps_to("ADR-7/gates/1");
	answered("ADR-7/gates/1", "good", "x", "waiting: the budget is spent");
	assert_value("wait_reason", "the budget is spent");
	assert_count("actions_dispatched", 1);
	ask_about("", ADMISSION_NO);
	setenv("DEV_TEAM_NOW", "2026-11-21T01:35:55Z", 1);
	steps_to("ADR-7/gates/2 ADR-7/gates/3");
}

/* The rest follows when the troubleshooter has granted another budget. */
ENGINE_TEST(an_array_does_not_exceed_the_budget_of_actions)
{
	workflow("---\nlimits: {max_actions: 3}\nstates:\n  one: {agent: a, skill: a, writes: One, "
		 "results: {good: on}}\n  gates:\n    all:\n"
		 "      - {agent: a, skill: a, writes: A, results: {good: ok}}\n"
		 "      - {agent: b, skill: b, writes: B, results: {good: ok}}\n"
		 "      - {agent: c, skill: c, writes: C, results: {good: ok}}\n"
		 "---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> one : go\n"
		 "one --> gates : on\ngates --> done : ok\ndone --> [*]\n```\n");
	steps_to("ADR-7/one/1");
	answered("ADR-7/one/1", "good", "x", "ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/1", "good", "x");
	answered("ADR-7/gates/2", "good", "x", "ADR-7/troubleshooter/1 budget_exceeded:3");
	answered("ADR-7/troubleshooter/1", "continue", "x", "ADR-7/gates/3");
	answered("ADR-7/gates/3", "good", "x", "success: 'gates' gave 'ok'");
}
