/* Answers: what is taken, taken again or refused, and what becomes of a refused text. */
#include "src/machine/answer.h"
#include "tests/lib/engine_rig.h"

static int record(const char *id, const char *word, struct str text)
{
	return answer_with((struct answer_offer){.id = id, .word = word, .text = text});
}

/* The text of a refused answer, which the message names. */
static char *refused_text(void)
{
	const char *at = strstr(t.err.text, "; what was offered is kept in ");

	assert_non_null(at);
	return read_all(at + strlen("; what was offered is kept in "));
}

ENGINE_TEST(the_word_of_an_answer_by_hand_can_follow_with_the_same_text)
{
	by_hand("implementing", "", "");
	steps_to("ADR-7/implementing/1");
	write_by_hand(arena_printf(
		&t.arena, "%s\n<!-- section:%s -->\n\nDone.\n", document(), CONTEXT_SUMMARY));
	assert_fails(
		record("ADR-7/implementing/1", "implemented", STR("Other.")), t.err, ERR_STATE);
	assert_non_null(strstr(t.err.text, "action 'ADR-7/implementing/1' has an answer already"));
	assert_int_equal(record("ADR-7/implementing/1", "implemented", STR("Done.\n")), 0);
	assert_int_equal(t.outcome, ANSWER_TAKEN);
	assert_int_equal(count(events(), "\"type\":\"answer\""), 1);
	assert_int_equal(record("ADR-7/implementing/1", "implemented", STR("Done.")), 0);
	assert_int_equal(t.outcome, ANSWER_AGAIN);
	assert_int_equal(record("ADR-7/implementing/1", "failed", STR("Done.")), -1);
	assert_int_equal(count(events(), "\"type\":\"answer\""), 1);
}

ENGINE_TEST(a_text_that_cannot_be_an_answer_is_refused_and_kept)
{
	steps_to("ADR-7/researching/1");
	assert_fails(record("ADR-7/researching/1", "briefed", STR(" \n")), t.err, ERR_INPUT);
	assert_true(str_starts(str_of(t.err.text), "the answer is empty"));
	assert_fails(record("ADR-7/researching/1", "briefed", STR("ab\xff")), t.err, ERR_INPUT);
	assert_true(str_starts(str_of(t.err.text), "the answer is not UTF-8 text: byte 3"));
	assert_string_equal(refused_text(), "ab\xff");
	assert_fails(record("ADR-7/researching/1", "done", STR("A brief.")), t.err, ERR_INPUT);
	assert_true(str_starts(str_of(t.err.text), "unknown result 'done': must be "));
	assert_string_equal(refused_text(), "A brief.");
	assert_fails(record("ADR-7/researching/1", NULL, STR("Briefed.")), t.err, ERR_INPUT);
	assert_true(str_starts(str_of(t.err.text),
		"the answer has no result: must be briefed | failed | needs_clarification, in the "
		"last line of the "
		"answer, {\"status\": \"WORD\"}, or by 'record --result WORD'; "));
	assert_int_equal(count(events(), "\"type\":\"refusal\""), 4);
	assert_int_equal(count(events(), "\"type\":\"answer\""), 0);
	answer("ADR-7/researching/1", "briefed", "A brief.");
}

ENGINE_TEST(an_action_of_another_item_and_one_that_was_never_asked_are_two_refusals)
{
	steps_to("ADR-7/researching/1");
	assert_fails(record("ADR-8/researching/1", NULL, STR("x")), t.err, ERR_STATE);
	assert_true(str_starts(str_of(t.err.text),
		"action 'ADR-8/researching/1' belongs to another work item, not to 'ADR-7'"));
	assert_fails(record("ADR-7/researching/2", NULL, STR("x")), t.err, ERR_STATE);
	assert_true(str_starts(str_of(t.err.text),
		"action 'ADR-7/researching/2' is unknown: 'ADR-7' has not requested it"));
	assert_string_equal(refused_text(), "x");
	assert_true(events_have("\"type\":\"refusal\",\"action\":\"ADR-7/researching/2\""));
	assert_false(events_have("\"section\":"));
}

/* The section tells for which request another agent may be asked; a text that comes too late has
 * none. */
ENGINE_TEST(only_a_wrong_text_is_noted_with_its_section)
{
	steps_to("ADR-7/researching/1");
	assert_fails(record("ADR-7/researching/1", "done", STR("A brief.")), t.err, ERR_INPUT);
	assert_int_equal(count(events(), "\"section\":\"" WIRE_BRIEF "\""), 1);
	answer("ADR-7/researching/1", "briefed", "A brief.");
	assert_fails(record("ADR-7/researching/1", "briefed", STR("Another.")), t.err, ERR_STATE);
	assert_int_equal(count(events(), "\"type\":\"refusal\""), 2);
	assert_int_equal(count(events(), "\"section\":\"" WIRE_BRIEF "\""), 1);
}

ENGINE_TEST(an_answer_for_which_the_document_has_no_room_is_refused_and_kept)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct agent_run run = {.action = "ADR-7/researching/1",
		.agent = "7",
		.harness = "claude-code",
		.status = "success",
		.used = {.input_tokens = 5, .output_tokens = 1}};
	struct answer_offer offer = {.id = run.action, .word = "briefed", .run = &run};
	char *before;

	steps_to("ADR-7/researching/1");
	before = document();
	while (text.len < CONTEXT_MAX)
		buf_adds(&text, "0123456789abcdef");
	offer.text = buf_str(&text);
	assert_fails(answer_with(offer), t.err, ERR_INPUT);
	assert_int_equal(strlen(refused_text()), CONTEXT_MAX);
	assert_string_equal(document(), before);
	assert_int_equal(count(events(), "\"type\":\"answer\""), 0);
	assert_int_equal(count(events(), "\"type\":\"refusal\""), 1);
	assert_int_equal(count(events(), "\"type\":\"" AGENT_RUN "\""), 1);
	answer("ADR-7/researching/1", "briefed", "A brief.");
}

ENGINE_TEST(the_file_of_a_refused_text_has_a_name_without_slashes)
{
	steps_to("ADR-7/researching/1");
	assert_int_equal(record("ADR-7/../\x80 x", NULL, STR("x")), -1);
	assert_string_equal(refused_text(), "x");
	assert_non_null(strstr(t.err.text, "/logs/ADR-7-refused-ADR-7_..___x-"));
	assert_true(events_have("\"type\":\"refusal\",\"action\":\"?\""));
}
