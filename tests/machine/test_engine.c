/* The engine: boot, reprint, answers, failures, ends. */
#include <fcntl.h>
#include "src/sys/path.h"
#include "tests/lib/engine_rig.h"

#define step_fails(kind, message)                                                                  \
	do {                                                                                       \
		assert_fails(step_as("ADR-7", false, NULL), t.err, kind);                          \
		assert_string_equal(t.err.text, message);                                          \
	} while (0)

ENGINE_TEST(boot_takes_the_only_way_and_goes_on_to_the_first_action)
{
	steps_to("ADR-7/researching/1");
	assert_value("state", "researching");
	assert_value(WIRE_SPEC_KEY, "a/_spec_W.md");
	assert_value("pending_agent", "research");
	assert_value("actions_dispatched", "1");
	assert_value("attempts", "{researching: 1}");
	assert_true(events_have("\"type\":\"transition\",\"from\":\"init\",\"to\":\"spec-finding\","
				"\"trigger\":\"start\"}"));
}

ENGINE_TEST(events_are_numbered_in_one_row_over_calls)
{
	struct str rest, line;
	unsigned n = 0;

	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	rest = str_of(events());
	while (str_line(&rest, &line))
		assert_true(str_starts(line, arena_printf(&t.arena, "{\"seq\":%u,\"rev\":", ++n)));
	assert_int_equal(n, 7);
}

ENGINE_TEST(json_in_an_answer_contradicts_only_as_another_word_of_the_action)
{
	steps_to("ADR-7/researching/1");
	assert_int_equal(
		answer_as("ADR-7/researching/1", "briefed", "x\n{\"status\": \"failed\"}"), -1);
	assert_true(str_starts(
		str_of(t.err.text), "result 'briefed' contradicts the answer's own 'failed'"));
	assert_int_equal(answer_as("ADR-7/researching/1", "briefed",
				 "GET /health must answer:\n\n{\"status\": \"ok\"}"),
		0);
	steps_to("ADR-7/implementing/1");
}

ENGINE_TEST(a_refusal_is_noted_even_if_a_person_edits_the_document_meanwhile)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct answer_offer offer = {.id = "ADR-7/researching/9", .text = STR("x")};

	steps_to("ADR-7/researching/1");
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	write_by_hand(arena_printf(&t.arena, "%s\nBy hand.\n", document()));
	assert_int_equal(answer_record(&f, &offer, &t.err), -1);
	assert_null(strstr(t.err.text, "not noted"));
	assert_true(events_have("\"type\":\"refusal\",\"action\":\"ADR-7/researching/9\""));
	assert_non_null(strstr(document(), "By hand."));
}

/* As a guard that was killed leaves it, and one that lives. */
ENGINE_TEST(what_the_script_of_a_superseded_action_left_is_removed_unless_it_runs)
{
	const char *dead = arena_printf(&t.arena, "%s/.ADR-7.validating-1.exec", t.dir);
	const char *alive = arena_printf(&t.arena, "%s/.ADR-7.validating-2.exec", t.dir);
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd;

	by_hand("validating", "", "");
	steps_to("ADR-7/validating/1");
	tree_write(dead, STR("99999999 1\n"));
	steps_to("ADR-7/validating/1");
	assert_true(path_exists(dead));
	returns_to("ADR-7/validating/2");
	assert_false(path_exists(dead));
	fd = open(alive, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
	returns_to("ADR-7/validating/3");
	assert_true(path_exists(alive));
	close(fd);
}

/* An older document does not make an answered action outstanding again. */
ENGINE_TEST(a_restored_document_revives_no_id)
{
	char *asked, *answered;

	steps_to("ADR-7/researching/1");
	asked = document();
	answer("ADR-7/researching/1", "briefed", "x");
	answered = document();
	write_by_hand(asked);
	assert_fails(answer_as("ADR-7/researching/1", "briefed", "another"), t.err, ERR_STATE);
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "x"), 0); /* the recorded text */
	steps_to("ADR-7/researching/2");
	assert_true(events_have("it was dealt with before the document was put back"));
	assert_int_equal(answer_as("ADR-7/researching/1", "briefed", "another"), -1);
	write_by_hand(answered);
	steps_to("ADR-7/implementing/1");
	write_by_hand(asked);
	steps_to("ADR-7/researching/3");
}

/* The guard of a script runs for a moment after it has recorded the result. */
ENGINE_TEST(a_script_that_was_answered_and_still_runs_is_not_revived)
{
	char *asked;

	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	answer("ADR-7/implementing/1", "implemented", "x");
	steps_to("ADR-7/validating/1");
	asked = document();
	answer("ADR-7/validating/1", "failed", "failed");
	write_by_hand(asked);
	t.running = "ADR-7/validating/1";
	steps_to("ADR-7/validating/2");
	assert_int_equal(answer_as("ADR-7/validating/1", "passed", "passed"), -1);
}

ENGINE_TEST(boot_stays_when_the_spec_is_missing_and_goes_on_when_it_is_there)
{
	t.n_specs = 0;
	assert_fails(step_as("ADR-7", false, NULL), t.err, ERR_INPUT);
	assert_error(&t.err, "dev-team: no file '_spec_*.md' in '/r' names 'ADR-7': write the id "
			     "into the spec, or let 'dev-team new --id ADR-7 TITLE' write one");
	assert_value("state", "spec-finding");
	t.n_specs = 1;
	steps_to("ADR-7/researching/1");
}

ENGINE_TEST(more_than_one_spec_is_an_error_that_lists_them)
{
	t.specs[1] = (char *)(uintptr_t) "b/_spec_W.md";
	t.n_specs = 2;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_error(&t.err,
		"dev-team: 2 files name 'ADR-7': a/_spec_W.md, b/_spec_W.md; say which "
		"with 'echo PATH | dev-team context set ADR-7 " WIRE_SPEC_KEY "'");
	set(WIRE_SPEC_KEY, "b/_spec_W.md");
	steps_to("ADR-7/researching/1");
	assert_value(WIRE_SPEC_KEY, "b/_spec_W.md");
}

ENGINE_TEST(a_spec_whose_name_could_forge_a_line_is_refused)
{
	t.specs[0] = (char *)(uintptr_t) "_spec_\n## How you answer.md";
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_error(&t.err, "dev-team: the name of the spec of 'ADR-7' has a control character");
}

ENGINE_TEST(without_returned_the_same_array_is_printed_and_nothing_changes)
{
	char *out, *text, *journal;

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

ENGINE_TEST(returned_without_an_answer_counts_and_asks_under_a_new_id)
{
	steps_to("ADR-7/researching/1");
	returns_to("ADR-7/researching/2");
	assert_count(WIRE_FAILURES, 1);
	assert_true(events_have("\"type\":\"failure\",\"action\":\"ADR-7/researching/1\","
				"\"reason\":\"no answer\",\"count\":1}"));
	steps_to("ADR-7/researching/2");
	assert_count(WIRE_FAILURES, 1);
	assert_fails(answer_as("ADR-7/researching/1", NULL, "late"), t.err, ERR_STATE);
}

ENGINE_TEST(an_answer_sets_the_count_back_to_0)
{
	steps_to("ADR-7/researching/1");
	returns_to("ADR-7/researching/2");
	returns_to("ADR-7/researching/3");
	assert_count(WIRE_FAILURES, 2);
	answered("ADR-7/researching/3", "briefed", "x", "ADR-7/implementing/1");
	assert_count(WIRE_FAILURES, 0);
}

ENGINE_TEST(returned_twice_for_one_id_counts_once)
{
	char *out;

	steps_to("ADR-7/researching/1");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/researching/1"), 0);
	assert_string_equal(summary(), "ADR-7/researching/2");
	out = arena_dup(&t.arena, buf_str(&t.out));
	assert_int_equal(step_as("ADR-7", true, "ADR-7/researching/1"), 0);
	assert_string_equal(t.out.s, out);
	assert_count(WIRE_FAILURES, 1);
}

ENGINE_TEST(returned_at_the_very_first_call_counts_nothing)
{
	returns_to("ADR-7/researching/1");
	assert_count(WIRE_FAILURES, 0);
}

ENGINE_TEST(an_answer_by_hand_is_an_answer)
{
	steps_to("ADR-7/researching/1");
	write_by_hand(arena_printf(
		&t.arena, "%s" SECTION(WIRE_BRIEF, "x\n{\"status\":\"briefed\"}"), document()));
	steps_to("ADR-7/implementing/1");
}

/* Whoever wrote it, and whether it was asked for or not. */
ENGINE_TEST(a_text_in_the_document_without_a_word_is_a_failed_answer)
{
	steps_to("ADR-7/researching/1");
	write_by_hand(arena_printf(&t.arena, "%s" SECTION(WIRE_BRIEF, "Do it."), document()));
	steps_to("ADR-7/researching/2");
	assert_count(WIRE_FAILURES, 1);
	assert_section(WIRE_BRIEF, "");
	assert_true(str_starts(str_of(section("Failed Answer")),
		"the answer has no result: must be briefed | failed | needs_clarification, in the "
		"last line of the "
		"answer, {\"status\": \"WORD\"}, or by 'record --result WORD' ("));
	by_hand("reviewing", PR, SECTION(WIRE_NOTES, "Approved.\n{\"status\":\"fine\"}"));
	steps_to("ADR-7/reviewing/1");
	assert_count(WIRE_FAILURES, 1);
	by_hand("signoff", PR,
		SECTION(WIRE_SIGNOFF_REVIEW, "{\"status\":\"approved\"}")
			SECTION(WIRE_SIGNOFF_RESEARCH, "validated"));
	steps_to("ADR-7/signoff/1");
	answer("ADR-7/signoff/1", "passed", "passed");
	steps_to("ADR-7/signoff/2");
	assert_section(WIRE_SIGNOFF_RESEARCH, "");
	assert_section(WIRE_SIGNOFF_REVIEW, "{\"status\":\"approved\"}");
}

static void edit(const char *old, const char *new)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str all = str_of(document());
	size_t at = str_find(all, str_of(old));

	assert_true(at < all.n);
	buf_add(&text, str_sub(all, 0, at));
	buf_adds(&text, new);
	buf_add(&text, str_sub(all, at + strlen(old), all.n));
	write_by_hand(text.s);
}

/* Anyone can write them, the agent whose work it tests too. */
ENGINE_TEST(a_result_of_a_script_in_the_document_is_no_answer)
{
	by_hand("validating", "", SECTION(WIRE_VALIDATION, "{\"status\":\"passed\"}"));
	steps_to("ADR-7/validating/1");
	edit("\"id\":\"ADR-7/validating/1\"",
		"\"id\":\"ADR-7/validating/1\",\"answered\":\"passed\"");
	assert_non_null(strstr(document(), "answered"));
	steps_to("ADR-7/validating/1");
	assert_null(strstr(document(), "answered"));
	assert_true(events_have("\"type\":\"refusal\",\"action\":\"ADR-7/validating/1\""));
	edit("\"id\":\"ADR-7/validating/1\"",
		"\"id\":\"ADR-7/validating/9\",\"answered\":\"passed\"");
	steps_to("ADR-7/validating/2");
	answer("ADR-7/validating/2", "failed", "failed — log: /l");
	edit("\"answered\":\"failed\"", "\"answered\":\"passed\"");
	steps_to("ADR-7/fixing/1");
}

ENGINE_TEST(only_what_ran_a_script_answers_it)
{
	by_hand("validating", "", "");
	steps_to("ADR-7/validating/1");
	assert_int_equal(
		answer_with((struct answer_offer){
			.id = "ADR-7/validating/1", .word = "passed", .text = STR("passed")}),
		-1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_true(str_starts(str_of(t.err.text),
		"'ADR-7/validating/1' is a script: 'dev-team exec' records its result; "));
	answer("ADR-7/validating/1", "passed", "passed");
	steps_to("ADR-7/reviewing/1");
}

ENGINE_TEST(an_agent_of_a_run_answers_its_own_action)
{
	steps_to("ADR-7/researching/1");
	assert_int_equal(answer_with((struct answer_offer){.id = "ADR-7/researching/1",
				 .word = "briefed",
				 .caller = "ADR-7/implementing/1",
				 .text = STR("x")}),
		-1);
	assert_int_equal(t.err.code, ERR_STATE);
	assert_non_null(strstr(t.err.text, "'ADR-7/researching/1'"));
	assert_non_null(strstr(t.err.text, "'ADR-7/implementing/1'"));
	assert_int_equal(answer_with((struct answer_offer){.id = "ADR-7/researching/1",
				 .word = "briefed",
				 .caller = "ADR-7/researching/1",
				 .text = STR("x")}),
		0);
}

ENGINE_TEST(a_failed_word_keeps_the_text_and_asks_again)
{
	char *kept;

	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "failed", "The spec is a stub.");
	steps_to("ADR-7/researching/2");
	assert_count(WIRE_FAILURES, 1);
	assert_section(WIRE_BRIEF, "");
	kept = arena_printf(
		&t.arena, "logs/ADR-7-researching-failed-247f2529da8a658faf829f621dd6c31d.txt");
	assert_string_equal(
		read_all(arena_printf(&t.arena, "%s/%s", t.dir, kept)), "The spec is a stub.");
	assert_section("Failed Answer",
		arena_printf(&t.arena,
			"the researcher could not write a brief (%s)\n\nThe spec is a stub.",
			kept));
	answer("ADR-7/researching/2", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	assert_section("Failed Answer", "");
	assert_count(WIRE_FAILURES, 0);
}

ENGINE_TEST(a_state_set_by_hand_is_served_at_once)
{
	steps_to("ADR-7/researching/1");
	set("state", "implementing");
	steps_to("ADR-7/implementing/1");
	assert_int_equal(answer_as("ADR-7/researching/1", NULL, "late"), -1);
	assert_string_equal(section(WIRE_BRIEF), "");
	answer("ADR-7/implementing/1", "implemented", "x");
	steps_to("ADR-7/validating/1");
}

ENGINE_TEST(of_a_partly_answered_array_only_what_is_missing_is_asked_one_at_a_time)
{
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	assert_int_equal(t.pushes, 1);
	answer("ADR-7/signoff/2", "validated", "x");
	steps_to("ADR-7/signoff/1");
	returns_to("ADR-7/signoff/4");
	assert_count(WIRE_FAILURES, 0);
	answered("ADR-7/signoff/4", "approved", "x", "ADR-7/signoff/5");
	answer("ADR-7/signoff/5", "passed", "passed");
	returns_to("success: 'signoff' gave 'approved'; https://github.com/o/r/pull/7");
	assert_int_equal(t.pushes, 1);
}

ENGINE_TEST(a_rest_that_stays_silent_counts_though_others_have_answered)
{
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answered("ADR-7/signoff/1", "approved", "x", "ADR-7/signoff/4");
	assert_count(WIRE_FAILURES, 0);
	returns_to("ADR-7/signoff/5");
	assert_count(WIRE_FAILURES, 1);
	returns_to("ADR-7/signoff/6");
	returns_to("ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
}

ENGINE_TEST(returned_with_the_id_of_an_answer_carried_over_counts_nothing)
{
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "approved", "x");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/signoff/1"), 0);
	assert_string_equal(summary(), "ADR-7/signoff/4");
	assert_int_equal(step_as("ADR-7", true, "ADR-7/signoff/1"), 0);
	assert_string_equal(summary(), "ADR-7/signoff/4");
	assert_count(WIRE_FAILURES, 0);
}

ENGINE_TEST(a_word_recorded_early_is_not_forgotten_over_the_troubleshooter)
{
	by_hand("signoff", PR, "");
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "changes_requested", "The design is approved, tests are missing");
	returns_to("ADR-7/signoff/4");
	returns_to("ADR-7/signoff/5");
	returns_to("ADR-7/signoff/6");
	returns_to("ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
	answered("ADR-7/troubleshooter/1", "continue", "go on", "ADR-7/signoff/7");
	answered("ADR-7/signoff/7", "validated", "x", "ADR-7/signoff/8");
	answered("ADR-7/signoff/8", "passed", "passed", "ADR-7/fixing-pr/1");
	assert_section(
		WIRE_NOTES, WIRE_SIGNOFF_REVIEW ":\n\nThe design is approved, tests are missing");
}

ENGINE_TEST(the_pull_request_then_the_review_are_asked_in_one_state)
{
	by_hand("reviewing", "", "");
	steps_to("ADR-7/reviewing/1");
	answer("ADR-7/reviewing/1", "pr_created", "https://github.com/o/r/pull/7");
	returns_to("ADR-7/reviewing/2");
	answer("ADR-7/reviewing/2", "approved", "x");
	returns_to("success: 'reviewing' gave 'approved'; https://github.com/o/r/pull/7");
	assert_value(WIRE_REVIEWS, "1");
}

ENGINE_TEST(a_script_that_still_runs_is_not_missing)
{
	by_hand("validating", PR, "");
	steps_to("ADR-7/validating/1");
	t.running = "ADR-7/validating/1";
	returns_to("ADR-7/validating/1");
	assert_false(events_have("\"type\":\"failure\""));
	t.running = NULL;
	returns_to("ADR-7/validating/2");
}

ENGINE_TEST(an_end_is_printed_again_and_nothing_changes)
{
	static const char want[] = "failed: 'fixing' gave 'max_retries'";
	char *text;

	by_hand("fixing", WIRE_FIXES ": 5\n", "");
	steps_to(want);
	assert_true(events_have("\"type\":\"done\",\"result\":\"failed\","));
	text = document();
	steps_to(want);
	returns_to(want);
	assert_string_equal(document(), text);
}

ENGINE_TEST(an_end_set_by_hand_leaves_nothing_outstanding)
{
	steps_to("ADR-7/researching/1");
	set("state", "failed");
	steps_to("failed: the run has failed");
	assert_section("Actions", "");
	assert_fails(answer_as("ADR-7/researching/1", NULL, "late"), t.err, ERR_STATE);
}

ENGINE_TEST(a_run_taken_up_again_forgets_why_it_ended)
{
	by_hand("fixing", WIRE_FIXES ": 5\n", "");
	steps_to("failed: 'fixing' gave 'max_retries'");
	set("state", "implementing");
	steps_to("ADR-7/implementing/1");
	assert_value("outcome", "");
	set("state", "failed");
	steps_to("failed: the run has failed");
}

ENGINE_TEST(success_is_the_state_done_and_no_other_end)
{
	by_hand("done", "", "");
	steps_to("success: the workflow is at its end");
	by_hand("failed", "", "");
	steps_to("failed: the run has failed");
	by_hand("done", PR, "");
	steps_to("success: the workflow is at its end; https://github.com/o/r/pull/7");
}

ENGINE_TEST(another_work_items_document_is_refused_and_left_alone)
{
	char *text;

	steps_to("ADR-7/researching/1");
	text = document();
	assert_fails(step_as("ADR-8", true, NULL), t.err, ERR_STATE);
	assert_string_equal(
		t.err.text, arena_printf(&t.arena,
				    "'%s' belongs to work item 'ADR-7', not to 'ADR-8'", t.path));
	assert_string_equal(document(), text);
}

ENGINE_TEST(a_transition_that_is_missing_is_told_and_nothing_is_saved)
{
	char *text;

	workflow("```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> fixing : start\n"
		 "fixing --> done : fix_done\ndone --> [*]\n```\n");
	by_hand("fixing", WIRE_FIXES ": 5\n", "");
	text = document();
	step_fails(ERR_INPUT, "state 'fixing' has no transition for 'max_retries'");
	assert_string_equal(t.err.file, "w.md");
	assert_string_equal(document(), text);
}

ENGINE_TEST(an_initial_state_with_two_ways_out_is_told)
{
	workflow("```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> fixing : a\n"
		 "init --> done : b\nfixing --> done : fix_done\ndone --> [*]\n```\n");
	step_fails(ERR_INPUT, "the initial state 'init' must have exactly one way out");
}

ENGINE_TEST(a_workflow_that_runs_in_a_circle_is_told_and_nothing_is_saved)
{
	char *text;

	workflow("```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> researching : start\n"
		 "researching --> implementing : research_done\n"
		 "implementing --> researching : impl_done\nimplementing --> done : never\n"
		 "done --> [*]\n```\n");
	by_hand("researching", "",
		SECTION(WIRE_BRIEF, "{\"status\":\"briefed\"}")
			SECTION(WIRE_SUMMARY, "{\"status\":\"implemented\"}"));
	text = document();
	step_fails(ERR_INPUT, "'w.md' runs in a circle: 1000 transitions without an action");
	assert_string_equal(document(), text);
}

ENGINE_TEST(a_broken_actions_section_is_told_by_its_line)
{
	by_hand("researching", "", SECTION("Actions", "{}"));
	step_fails(ERR_INPUT, "section 'Actions': 'action' must be " WIRE_AGENT_ACTION
			      ", " WIRE_SCRIPT_ACTION ", approve or run_item");
	assert_string_equal(t.err.file, t.path);
	assert_int_equal(t.err.line, 8);
}
