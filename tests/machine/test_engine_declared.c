/* States that a workflow declares, through the engine. */
#include "tests/lib/engine_rig.h"

static const char file[] =
	"---\n"
	"states:\n"
	"  audit:\n"
	"    {agent: reviewer, skill: s, writes: Audit, results: {approved: clean, no: audit_no}}\n"
	"  lint:\n"
	"    {command: make lint, timeout: 9, writes: Lint, results: {passed: clean, failed: "
	"bad}}\n"
	"  gates:\n"
	"    all:\n"
	"      - {agent: reviewer, skill: s, writes: A, results: {approved: ok, no: a_no}}\n"
	"      - {command: make check, writes: B, results: {passed: ok, failed: b_no}}\n"
	"---\n"
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> audit : start\n"
	"audit --> lint : clean\naudit --> failed : audit_no\n"
	"lint --> gates : clean\nlint --> audit : bad\n"
	"gates --> done : ok\ngates --> lint : a_no\ngates --> audit : b_no\n"
	"done --> [*]\nfailed --> [*]\n```\n";

static int setup(void **state)
{
	engine_rig_setup(state);
	workflow(file);
	return 0;
}

#define DECLARED_TEST(name) UNIT_TEST(name, setup, engine_rig_teardown)

DECLARED_TEST(agent_script_and_several_at_once_to_the_end)
{
	steps_to("ADR-7/audit/1");
	answered("ADR-7/audit/1", "approved", "x", "ADR-7/lint/1");
	answered("ADR-7/lint/1", "passed", "passed", "ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/2", "passed", "passed");
	answered("ADR-7/gates/1", "approved", "x", "success: 'gates' gave 'ok'");
}

/* An older document is put back; an answer to one of its actions does not revive the other. */
DECLARED_TEST(an_answer_revives_no_other_id_of_an_older_document)
{
	char *asked;

	steps_to("ADR-7/audit/1");
	answered("ADR-7/audit/1", "approved", "x", "ADR-7/lint/1");
	answered("ADR-7/lint/1", "passed", "passed", "ADR-7/gates/1 ADR-7/gates/2");
	asked = document();
	answer("ADR-7/gates/1", "approved", "x");
	write_by_hand(asked);
	answer("ADR-7/gates/2", "passed", "passed");
	assert_fails(answer_as("ADR-7/gates/1", "approved", "another"), t.err, ERR_STATE);
	steps_to("ADR-7/gates/3");
}

DECLARED_TEST(an_answered_action_of_an_older_document_leaves_it_at_once)
{
	char *asked;

	by_hand("gates", "", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	asked = document();
	answer("ADR-7/gates/1", "approved", "x");
	write_by_hand(asked);
	steps_to("ADR-7/gates/2");
	assert_false(document_has("ADR-7/gates/1\""));
}

DECLARED_TEST(a_state_that_is_entered_again_asks_again)
{
	steps_to("ADR-7/audit/1");
	answered("ADR-7/audit/1", "approved", "x", "ADR-7/lint/1");
	answered("ADR-7/lint/1", "failed", "failed", "ADR-7/audit/2");
	assert_section("Audit", "");
	assert_section("Lint", "failed");
	answered("ADR-7/audit/2", "approved", "x", "ADR-7/lint/2");
	assert_section("Lint", "");
}

static const char audited[] =
	"---\nstates:\n"
	"  audit: {agent: reviewer, skill: s, writes: Audit, results: {approved: clean, no: bad}}\n"
	"---\n"
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> reviewing : start\n"
	"reviewing --> audit : approved\nreviewing --> fixing : changes_requested\n"
	"audit --> signoff : clean\naudit --> fixing : bad\n"
	"fixing --> reviewing : fix_done\nfixing --> done : max_retries\n"
	"signoff --> done : approved\nsignoff --> fixing : changes_requested\n"
	"done --> [*]\n```\n";

DECLARED_TEST(an_old_approval_does_not_count_for_what_was_changed_since)
{
	workflow(audited);
	by_hand("reviewing", PR, "");
	steps_to("ADR-7/reviewing/1");
	answered("ADR-7/reviewing/1", "approved", "x", "ADR-7/audit/1");
	answered("ADR-7/audit/1", "no", "x", "ADR-7/fixing/1");
	answered("ADR-7/fixing/1", "fixed", "x", "ADR-7/reviewing/2");
	assert_section(WIRE_NOTES, "");
}

DECLARED_TEST(an_old_signoff_does_not_count_after_the_troubleshooter_led_away)
{
	workflow(IMPLEMENT);
	by_hand("signoff", PR WIRE_FAILURES ": 2\n", "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	returns_to("ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
	answer("ADR-7/troubleshooter/1", "continue", "x");
	returns_to("ADR-7/signoff/4 ADR-7/signoff/5 ADR-7/signoff/6");
	answer("ADR-7/signoff/4", "changes_requested", "Part A is approved, part B is not there.");
	returns_to("ADR-7/signoff/7");
	for (int i = 0; i < 3; i++)
		assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_string_equal(summary(), "ADR-7/troubleshooter/2 " WIRE_FAILURES ":3");
	answered("ADR-7/troubleshooter/2", NULL,
		"{\"action\":\"continue\",\"state_changes\":"
		"[{\"key\":\"state\",\"value\":\"signoff\"}]}",
		"ADR-7/signoff/10 ADR-7/signoff/11 ADR-7/signoff/12");
	assert_section(WIRE_SIGNOFF_REVIEW, "");
}

DECLARED_TEST(one_bad_answer_of_several_takes_its_own_way)
{
	by_hand("gates", "", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/1", "approved", "x");
	answered("ADR-7/gates/2", "failed", "failed — log: /l", "ADR-7/audit/1");
}

DECLARED_TEST(a_malformed_answer_is_kept_counted_and_asked_again_alone)
{
	by_hand("gates", "", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/2", "passed", "passed");
	write_by_hand(arena_printf(&t.arena, "%s" SECTION("A", "I like it"), document()));
	returns_to("ADR-7/gates/3");
	assert_count(WIRE_FAILURES, 1);
	assert_true(document_has("I like it"));
	assert_section("B", "passed");
	returns_to("ADR-7/gates/4"); /* the other answer, which was kept, is not progress */
	assert_count(WIRE_FAILURES, 2);
	answered("ADR-7/gates/4", NULL, "{\"status\":\"approved\"}", "success: 'gates' gave 'ok'");
}

DECLARED_TEST(three_malformed_answers_call_the_troubleshooter_and_lose_no_other_answer)
{
	by_hand("gates", "", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	answered("ADR-7/gates/1", "approved", "fine by me", "ADR-7/gates/3");
	for (int i = 3; i < 6; i++)
		assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_string_equal(summary(), "ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
	answered("ADR-7/troubleshooter/1", "continue", "x", "ADR-7/gates/6");
	answered("ADR-7/gates/6", "passed", "passed", "success: 'gates' gave 'ok'");
}

DECLARED_TEST(the_troubleshooter_cannot_write_a_declared_states_verdict)
{
	by_hand("gates", WIRE_FAILURES ": 3\n", "");
	steps_to("ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
	answered("ADR-7/troubleshooter/1", NULL,
		"{\"action\":\"continue\",\"state_changes\":"
		"[{\"section\":\"A\",\"text\":\"{\\\"status\\\":\\\"approved\\\"}\"}]}",
		"ADR-7/gates/1 ADR-7/gates/2");
}

/* Replaces the text in the document by blanks. */
static void empty_by_hand(const char *text)
{
	char *all = document(), *at = strstr(all, text);

	assert_non_null(at);
	memset(at, ' ', strlen(text));
	write_by_hand(all);
}

DECLARED_TEST(a_section_emptied_by_hand_is_asked_for_anew_whatever_was_recorded)
{
	by_hand("gates", "", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	answered("ADR-7/gates/1", "approved", "fine by me", "ADR-7/gates/3");
	empty_by_hand("fine by me");
	answered("ADR-7/gates/3", "passed", "passed", "ADR-7/gates/4");
	answered("ADR-7/gates/4", "no", "not any more", "ADR-7/lint/1");
}

DECLARED_TEST(answers_that_are_kept_while_a_person_is_waited_for_are_not_progress_later)
{
	by_hand("gates", "troubleshooter_calls: 3\nactions_dispatched: 58\n", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/1", "approved", "fine by me");
	answer("ADR-7/gates/2", "passed", "passed");
	empty_by_hand("fine by me");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_non_null(strstr(summary(), "was called 3 times for 'budget_exceeded'"));
	assert_true(document_has("\"answered\":\"passed\",\"carried\":true"));
}

static const char ordered[] =
	"---\nstates:\n  build:\n    all:\n"
	"      - {agent: a, skill: s, args: [ID], writes: Plan, results: {done: ok}}\n"
	"      - {agent: a, skill: s, args: [ID], writes: Server, results: {done: ok}}\n"
	"      - {agent: a, skill: s, args: [ID], after: [Plan], writes: Client, results: {done: "
	"ok}}\n"
	"      - {agent: a, skill: s, args: [ID], after: [Plan], writes: Text, results: {done: "
	"ok}}\n"
	"---\n"
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> build : start\n"
	"build --> done : ok\ndone --> [*]\n```\n";

/* The agents of the later array may not have been started when the last one of the earlier array
 * returns without an answer. */
DECLARED_TEST(only_what_was_dispatched_together_with_the_returned_action_is_missing)
{
	workflow(ordered);
	steps_to("ADR-7/build/1 ADR-7/build/2");
	answer("ADR-7/build/1", "done", "x");
	steps_to("ADR-7/build/2 ADR-7/build/3 ADR-7/build/4");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/build/2"), 0);
	assert_string_equal(summary(), "ADR-7/build/3 ADR-7/build/4 ADR-7/build/5");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/build/3"), 0);
	assert_string_equal(summary(), "ADR-7/build/5 ADR-7/build/6 ADR-7/build/7");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/build/6,ADR-7/build/5,ADR-7/build/5"), 0);
	assert_string_equal(summary(), "ADR-7/build/8 ADR-7/build/9 ADR-7/build/10");
}

DECLARED_TEST(an_answer_that_was_kept_does_not_hide_the_silence_of_others_in_a_list)
{
	by_hand("gates", "", "");
	steps_to("ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/1", "approved", "x");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/gates/1,ADR-7/gates/2"), 0);
	assert_string_equal(summary(), "ADR-7/gates/3");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/gates/1,ADR-7/gates/3"), 0);
	assert_string_equal(summary(), "ADR-7/gates/4");
}
