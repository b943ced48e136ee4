/* The explanation of a failure; tests/spec/failures.md shows the rest. */
#include "src/machine/failure.h"
#include "tests/lib/engine_rig.h"

static struct failure explained(void)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct failure why;

	assert_int_equal(context_open(&f, t.path, CONTEXT_READ_ONLY, &t.err), 0);
	assert_true(failure_is(&f.doc));
	failure_explain(&t.arena, &f, "init", &why);
	return why;
}

ENGINE_TEST(the_last_words_are_short_and_whole_characters)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct failure why;

	for (size_t i = 0; i < FAILURE_WORDS_MAX; i++)
		buf_adds(&text, "\xe2\x82\xac");
	by_hand("failed", "", "");
	write_by_hand(arena_printf(
		&t.arena, "%s" SECTION(WIRE_LAST_FAILURE, "First line\n%s"), document(), text.s));
	why = explained();
	assert_int_equal(strlen(why.words), FAILURE_WORDS_MAX);
	assert_int_equal(str_utf8_fault(str_of(why.words)), 0);
	assert_null(why.log);
	assert_true(str_starts(str_of(why.repair),
		"echo init | dev-team context set ")); /* nothing was requested */
}

ENGINE_TEST(the_first_of_several_lines_is_left_out_rather_than_cut)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	for (int i = 0; i < 100; i++)
		buf_addf(&text, "line %03d\n", i);
	by_hand("failed", "", "");
	write_by_hand(
		arena_printf(&t.arena, "%s" SECTION(WIRE_LAST_FAILURE, "%s"), document(), text.s));
	assert_true(str_starts(str_of(explained().words), "line 034\nline 035\n"));
}

/* A late answer of an agent that was given up is not what the run failed of. */
ENGINE_TEST(a_stale_answer_is_not_the_last_word)
{
	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "failed", "The spec is a stub.");
	steps_to("ADR-7/researching/2");
	assert_int_equal(answer_as("ADR-7/researching/1", "briefed", "Late."), -1);
	set("state", "failed");
	assert_string_equal(explained().words, "The spec is a stub.");
	assert_true(str_starts(str_of(explained().repair), "dev-team context restore '"));
}

/* Its harness says why; an answer before that was another agent's. */
ENGINE_TEST(the_last_words_of_an_agent_that_could_not_run_are_its_harnesss)
{
	CLEANUP(context_close) struct context_file f = {0};

	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "briefed", "The brief.");
	steps_to("ADR-7/implementing/1");
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	JSON_ADD(context_event(&f, "agent_run"), JSON_TEXT("action", "ADR-7/implementing/1"),
		JSON_TEXT("detail", "took longer than 9 s"));
	assert_int_equal(context_log(&f, &t.err), 0);
	context_close(&f);
	f = (struct context_file){0};
	set("state", "failed");
	assert_string_equal(explained().words, "took longer than 9 s");
}
