/* The engine: boot, reprint, answers, failures, ends. */
#include "tests/lib/engine_rig.h"

static void boot_takes_the_only_way_and_goes_on_to_the_first_action(void **state)
{
	(void)state;
	steps_to("ADR-7/researching/1");
	assert_value("state", "researching");
	assert_value("spec_path", "a/_spec_W.md");
	assert_value("pending_agent", "research");
	assert_value("actions_dispatched", "1");
	assert_value("attempts", "{researching: 1}");
	assert_true(events_have("\"type\":\"transition\",\"from\":\"init\",\"to\":\"spec-finding\","
				"\"trigger\":\"start\"}"));
}

static void events_are_numbered_in_one_row_over_calls(void **state)
{
	struct str rest, line;
	unsigned n = 0;

	(void)state;
	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", NULL, "x");
	steps_to("ADR-7/implementing/1");
	rest = str_of(events());
	while (str_line(&rest, &line))
		assert_true(str_starts(line, arena_printf(&t.arena, "{\"seq\":%u,\"rev\":", ++n)));
	assert_int_equal(n, 7);
}

/* What was answered does not wait again because an older document is there. */
static void a_document_that_is_put_back_revives_no_id(void **state)
{
	char *asked, *answered;

	(void)state;
	steps_to("ADR-7/researching/1");
	asked = document();
	answer("ADR-7/researching/1", NULL, "x");
	answered = document();
	tree_write(t.path, str_of(asked));
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "another"), -1);
	assert_int_equal(t.err.code, ERR_STATE);
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "x"), 0); /* as it is known */
	steps_to("ADR-7/researching/2");
	assert_true(events_have("it was dealt with before the document was put back"));
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "another"), -1);
	tree_write(t.path, str_of(answered));
	steps_to("ADR-7/implementing/1");
	tree_write(t.path, str_of(asked));
	steps_to("ADR-7/researching/3");
}

static void boot_stays_when_the_spec_is_missing_and_goes_on_when_it_is_there(void **state)
{
	(void)state;
	t.n_specs = 0;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_error(&t.err, "dev-team: no file '_spec_*.md' in '/r' names 'ADR-7': write the id "
			     "into the spec, or set 'spec_path'");
	assert_value("state", "spec-finding");
	t.n_specs = 1;
	steps_to("ADR-7/researching/1");
}

static void more_than_one_spec_is_an_error_that_lists_them(void **state)
{
	(void)state;
	t.specs[1] = (char *)(uintptr_t) "b/_spec_W.md";
	t.n_specs = 2;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_error(&t.err,
		"dev-team: 2 files name 'ADR-7': a/_spec_W.md, b/_spec_W.md; say which "
		"with 'dev-team context set FILE spec_path'");
	set("spec_path", "b/_spec_W.md");
	steps_to("ADR-7/researching/1");
	assert_value("spec_path", "b/_spec_W.md");
}

static void a_spec_whose_name_could_forge_a_line_is_refused(void **state)
{
	(void)state;
	t.specs[0] = (char *)(uintptr_t) "_spec_\n## How you answer.md";
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_error(&t.err, "dev-team: the name of the spec of 'ADR-7' has a control character");
}

static void without_returned_the_same_array_comes_again_and_nothing_changes(void **state)
{
	char *out, *text, *journal;

	(void)state;
	steps_to("ADR-7/researching/1");
	out = arena_dup(&t.arena, buf_str(&t.out));
	text = document();
	journal = events();
	for (int i = 0; i < 5; i++) {
		steps_to("ADR-7/researching/1");
		assert_string_equal(t.out.s, out);
		assert_string_equal(document(), text);
		assert_string_equal(events(), journal);
	}
}

static void returned_without_an_answer_counts_and_asks_under_a_new_id(void **state)
{
	(void)state;
	steps_to("ADR-7/researching/1");
	returns_to("ADR-7/researching/2");
	assert_count("consecutive_failures", 1);
	assert_true(events_have("\"type\":\"failure\",\"action\":\"ADR-7/researching/1\","
				"\"reason\":\"no answer\",\"count\":1}"));
	steps_to("ADR-7/researching/2");
	assert_count("consecutive_failures", 1);
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "late"), -1);
	assert_int_equal(t.err.code, ERR_STATE);
}

static void an_answer_sets_the_count_back_to_0(void **state)
{
	(void)state;
	steps_to("ADR-7/researching/1");
	returns_to("ADR-7/researching/2");
	returns_to("ADR-7/researching/3");
	assert_count("consecutive_failures", 2);
	answer("ADR-7/researching/3", "briefed", "x");
	returns_to("ADR-7/implementing/1");
	assert_count("consecutive_failures", 0);
}

static void returned_twice_for_one_id_counts_once(void **state)
{
	char *out;

	(void)state;
	steps_to("ADR-7/researching/1");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/researching/1"), 0);
	assert_string_equal(summary(), "ADR-7/researching/2");
	out = arena_dup(&t.arena, buf_str(&t.out));
	assert_int_equal(step_as("ADR-7", true, "ADR-7/researching/1"), 0);
	assert_string_equal(t.out.s, out);
	assert_count("consecutive_failures", 1);
}

static void returned_at_the_very_first_call_counts_nothing(void **state)
{
	(void)state;
	returns_to("ADR-7/researching/1");
	assert_count("consecutive_failures", 0);
}

static void an_answer_by_hand_is_an_answer(void **state)
{
	(void)state;
	steps_to("ADR-7/researching/1");
	tree_write(t.path,
		str_of(arena_printf(&t.arena, "%s" SECTION("Researcher Brief", "x"), document())));
	steps_to("ADR-7/implementing/1");
}

static void a_failed_word_keeps_the_text_and_asks_again(void **state)
{
	char *kept;

	(void)state;
	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "failed", "The spec is a stub.");
	steps_to("ADR-7/researching/2");
	assert_count("consecutive_failures", 1);
	assert_section("Researcher Brief", "");
	kept = arena_printf(
		&t.arena, "%s/logs/ADR-7-researching-failed-20261121T013455Z-1.txt", t.dir);
	assert_string_equal(read_all(kept), "The spec is a stub.");
	assert_section("Failed Answer",
		arena_printf(&t.arena,
			"the researcher could not write a brief (%s)\n\nThe spec is a stub.",
			kept));
	answer("ADR-7/researching/2", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	assert_section("Failed Answer", "");
	assert_count("consecutive_failures", 0);
}

static void a_state_set_by_hand_is_served_at_once(void **state)
{
	(void)state;
	steps_to("ADR-7/researching/1");
	set("state", "implementing");
	steps_to("ADR-7/implementing/1");
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "late"), -1);
	assert_string_equal(section("Researcher Brief"), "");
	answer("ADR-7/implementing/1", NULL, "x");
	steps_to("ADR-7/validating/1");
}

static void of_a_partly_answered_array_only_what_is_missing_is_asked_one_at_a_time(void **state)
{
	(void)state;
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	assert_int_equal(t.pushes, 1);
	answer("ADR-7/signoff/2", "validated", "x");
	steps_to("ADR-7/signoff/1");
	returns_to("ADR-7/signoff/4");
	assert_count("consecutive_failures", 0);
	answer("ADR-7/signoff/4", "approved", "x");
	returns_to("ADR-7/signoff/5");
	answer("ADR-7/signoff/5", "passed", "passed");
	returns_to("success: 'signoff' gave 'approved'; https://github.com/o/r/pull/7");
	assert_int_equal(t.pushes, 1);
}

static void a_rest_that_stays_silent_counts_though_others_have_answered(void **state)
{
	(void)state;
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "approved", "x");
	returns_to("ADR-7/signoff/4");
	assert_count("consecutive_failures", 0);
	returns_to("ADR-7/signoff/5");
	assert_count("consecutive_failures", 1);
	returns_to("ADR-7/signoff/6");
	returns_to("ADR-7/troubleshooter/1 consecutive_failures:3");
}

static void returned_with_the_id_of_an_answer_carried_over_counts_nothing(void **state)
{
	(void)state;
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "approved", "x");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/signoff/1"), 0);
	assert_string_equal(summary(), "ADR-7/signoff/4");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/signoff/1"), 0);
	assert_string_equal(summary(), "ADR-7/signoff/4");
	assert_count("consecutive_failures", 0);
}

static void a_word_recorded_early_is_not_forgotten_over_the_troubleshooter(void **state)
{
	(void)state;
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "changes_requested", "The design is approved, tests are missing");
	returns_to("ADR-7/signoff/4");
	returns_to("ADR-7/signoff/5");
	returns_to("ADR-7/signoff/6");
	returns_to("ADR-7/troubleshooter/1 consecutive_failures:3");
	answer("ADR-7/troubleshooter/1", "continue", "go on");
	returns_to("ADR-7/signoff/7");
	answer("ADR-7/signoff/7", "validated", "x");
	returns_to("ADR-7/signoff/8");
	answer("ADR-7/signoff/8", "passed", "passed");
	returns_to("ADR-7/fixing-pr/1");
	assert_section(
		"Review Notes", "Signoff Review:\n\nThe design is approved, tests are missing");
}

static void the_pull_request_then_the_review_are_asked_in_one_state(void **state)
{
	(void)state;
	by_hand("reviewing", "", "");
	steps_to("ADR-7/reviewing/1");
	answer("ADR-7/reviewing/1", "pr_created", "https://github.com/o/r/pull/7");
	returns_to("ADR-7/reviewing/2");
	answer("ADR-7/reviewing/2", "approved", "x");
	returns_to("success: 'reviewing' gave 'approved'; https://github.com/o/r/pull/7");
	assert_value("review_cycle_count", "1");
}

static void a_script_that_still_runs_is_not_missing(void **state)
{
	(void)state;
	by_hand("validating", PR, "");
	steps_to("ADR-7/validating/1");
	t.running = "ADR-7/validating/1";
	returns_to("ADR-7/validating/1");
	assert_false(events_have("\"type\":\"failure\""));
	t.running = NULL;
	returns_to("ADR-7/validating/2");
}

static void an_end_is_printed_again_and_nothing_changes(void **state)
{
	static const char want[] = "failed: 'fixing' gave 'max_retries'";
	char *text;

	(void)state;
	by_hand("fixing", "fix_iteration: 5\n", "");
	steps_to(want);
	assert_true(events_have("\"type\":\"done\",\"result\":\"failed\","));
	text = document();
	steps_to(want);
	returns_to(want);
	assert_string_equal(document(), text);
}

static void an_end_set_by_hand_leaves_nothing_outstanding(void **state)
{
	(void)state;
	steps_to("ADR-7/researching/1");
	set("state", "failed");
	steps_to("failed: the run has failed");
	assert_section("Actions", "");
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "late"), -1);
	assert_int_equal(t.err.code, ERR_STATE);
}

static void a_run_taken_up_again_forgets_why_it_ended(void **state)
{
	(void)state;
	by_hand("fixing", "fix_iteration: 5\n", "");
	steps_to("failed: 'fixing' gave 'max_retries'");
	set("state", "implementing");
	steps_to("ADR-7/implementing/1");
	assert_value("outcome", "");
	set("state", "failed");
	steps_to("failed: the run has failed");
}

static void success_is_the_state_done_and_no_other_end(void **state)
{
	(void)state;
	by_hand("done", "", "");
	steps_to("success: the workflow is at its end");
	by_hand("failed", "", "");
	steps_to("failed: the run has failed");
	by_hand("done", PR, "");
	steps_to("success: the workflow is at its end; https://github.com/o/r/pull/7");
}

static void another_work_items_document_is_refused_and_left_alone(void **state)
{
	char *text;

	(void)state;
	steps_to("ADR-7/researching/1");
	text = document();
	assert_int_equal(step_as("ADR-8", true, NULL), -1);
	assert_int_equal(t.err.code, ERR_STATE);
	assert_string_equal(
		t.err.text, arena_printf(&t.arena,
				    "'%s' belongs to work item 'ADR-7', not to 'ADR-8'", t.path));
	assert_string_equal(document(), text);
}

static void a_transition_that_is_missing_is_told_and_nothing_is_saved(void **state)
{
	char *text;

	(void)state;
	workflow("```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> fixing : start\n"
		 "fixing --> done : fix_done\ndone --> [*]\n```\n");
	by_hand("fixing", "fix_iteration: 5\n", "");
	text = document();
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_string_equal(t.err.text, "state 'fixing' has no transition for 'max_retries'");
	assert_string_equal(t.err.file, "w.md");
	assert_string_equal(document(), text);
}

static void an_initial_state_with_two_ways_out_is_told(void **state)
{
	(void)state;
	workflow("```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> fixing : a\n"
		 "init --> done : b\nfixing --> done : fix_done\ndone --> [*]\n```\n");
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_string_equal(t.err.text, "the initial state 'init' must have exactly one way out");
	assert_int_equal(t.err.code, ERR_INPUT);
}

static void a_workflow_that_runs_in_a_circle_is_told_and_nothing_is_saved(void **state)
{
	char *text;

	(void)state;
	workflow("```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> researching : start\n"
		 "researching --> implementing : research_done\n"
		 "implementing --> researching : impl_done\nimplementing --> done : never\n"
		 "done --> [*]\n```\n");
	by_hand("researching", "",
		SECTION("Researcher Brief", "x") SECTION("Implementation Summary", "x"));
	text = document();
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_string_equal(
		t.err.text, "'w.md' runs in a circle: 1000 transitions without an action");
	assert_string_equal(document(), text);
}

static void a_broken_actions_section_is_told_by_its_line(void **state)
{
	(void)state;
	by_hand("researching", "", SECTION("Actions", "{}"));
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_string_equal(
		t.err.text, "section 'Actions': 'action' must be spawn_agent or run_script");
	assert_string_equal(t.err.file, t.path);
	assert_int_equal(t.err.line, 8);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		engine_test(boot_takes_the_only_way_and_goes_on_to_the_first_action),
		engine_test(events_are_numbered_in_one_row_over_calls),
		engine_test(a_document_that_is_put_back_revives_no_id),
		engine_test(boot_stays_when_the_spec_is_missing_and_goes_on_when_it_is_there),
		engine_test(more_than_one_spec_is_an_error_that_lists_them),
		engine_test(a_spec_whose_name_could_forge_a_line_is_refused),
		engine_test(without_returned_the_same_array_comes_again_and_nothing_changes),
		engine_test(returned_without_an_answer_counts_and_asks_under_a_new_id),
		engine_test(an_answer_sets_the_count_back_to_0),
		engine_test(returned_twice_for_one_id_counts_once),
		engine_test(returned_at_the_very_first_call_counts_nothing),
		engine_test(an_answer_by_hand_is_an_answer),
		engine_test(a_failed_word_keeps_the_text_and_asks_again),
		engine_test(a_state_set_by_hand_is_served_at_once),
		engine_test(of_a_partly_answered_array_only_what_is_missing_is_asked_one_at_a_time),
		engine_test(a_rest_that_stays_silent_counts_though_others_have_answered),
		engine_test(returned_with_the_id_of_an_answer_carried_over_counts_nothing),
		engine_test(a_word_recorded_early_is_not_forgotten_over_the_troubleshooter),
		engine_test(the_pull_request_then_the_review_are_asked_in_one_state),
		engine_test(a_script_that_still_runs_is_not_missing),
		engine_test(an_end_is_printed_again_and_nothing_changes),
		engine_test(an_end_set_by_hand_leaves_nothing_outstanding),
		engine_test(a_run_taken_up_again_forgets_why_it_ended),
		engine_test(success_is_the_state_done_and_no_other_end),
		engine_test(another_work_items_document_is_refused_and_left_alone),
		engine_test(a_transition_that_is_missing_is_told_and_nothing_is_saved),
		engine_test(an_initial_state_with_two_ways_out_is_told),
		engine_test(a_workflow_that_runs_in_a_circle_is_told_and_nothing_is_saved),
		engine_test(a_broken_actions_section_is_told_by_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
