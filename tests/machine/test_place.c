/* Where an item is worked on: chosen when the run starts, kept in the store. */
#include "src/machine/brief.h"
#include "tests/lib/engine_rig.h"

static const json *printed_action(json **array)
{
	assert_int_equal(json_parse(array, buf_str(&t.out), &t.err), 0);
	return json_first(*array);
}

ENGINE_TEST(each_action_names_the_directory_of_the_item)
{
	CLEANUP(json_free) json *array = NULL, *again = NULL;

	t.enters = "/w/ADR-7";
	steps_to("ADR-7/researching/1");
	assert_string_equal(json_get_str(printed_action(&array), "directory"), "/w/ADR-7");
	steps_to("ADR-7/researching/1");
	assert_string_equal(json_get_str(printed_action(&again), "directory"), "/w/ADR-7");
}

ENGINE_TEST(without_places_an_action_names_no_directory)
{
	CLEANUP(json_free) json *array = NULL;

	steps_to("ADR-7/researching/1");
	assert_null(json_get(printed_action(&array), "directory"));
}

ENGINE_TEST(scripts_and_effects_have_the_directory_of_the_item)
{
	CLEANUP(json_free) json *array = NULL;

	t.enters = "/w/ADR-7";
	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	assert_int_equal(t.entered, 2); /* once in each step */
	answer("ADR-7/implementing/1", "implemented", "x");
	steps_to("ADR-7/validating/1");
	assert_true(str_starts(str_of(json_get_str(printed_action(&array), "command")),
		"cd '/w/ADR-7' || exit 125; "));
	answer("ADR-7/validating/1", "passed", "passed");
	steps_to("ADR-7/reviewing/1");
	assert_string_equal(t.commit_directory, "/w/ADR-7");
}

ENGINE_TEST(a_place_that_was_made_again_replaces_the_old_one)
{
	CLEANUP(json_free) json *array = NULL;

	t.enters = "/w/ADR-7";
	steps_to("ADR-7/researching/1");
	t.enters = "/w/other";
	answer("ADR-7/researching/1", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	assert_string_equal(json_get_str(printed_action(&array), "directory"), "/w/other");
}

ENGINE_TEST(an_item_without_a_spec_gets_no_place)
{
	t.enters = "/w/ADR-7";
	t.n_specs = 0;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_int_equal(t.entered, 0);
}

ENGINE_TEST(without_its_place_a_run_does_not_begin)
{
	t.enters = "/w/ADR-7";
	t.enter_fails = true;
	assert_fails(step_as("ADR-7", false, NULL), t.err, ERR_STATE);
	t.enter_fails = false;
	steps_to("ADR-7/researching/1");
}

/* What an agent writes into the document does not move its work elsewhere. */
ENGINE_TEST(a_hand_edit_does_not_change_the_place)
{
	CLEANUP(json_free) json *array = NULL;

	t.enters = "/w/ADR-7";
	steps_to("ADR-7/researching/1");
	set("place", "/elsewhere");
	answer("ADR-7/researching/1", "briefed", "x");
	steps_to("ADR-7/implementing/1");
	assert_string_equal(json_get_str(printed_action(&array), "directory"), "/w/ADR-7");
}

ENGINE_TEST(a_brief_names_the_directory)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf brief = BUF_INIT;
	const struct instructions none = {0};

	t.enters = "/w/ADR-7";
	steps_to("ADR-7/researching/1");
	assert_int_equal(context_open(&f, t.path, CONTEXT_READ_ONLY, &t.err), 0);
	assert_int_equal(
		brief_add(&brief, BRIEF_RECORD, &f, "ADR-7/researching/1", &none, &none, &t.err),
		0);
	assert_non_null(strstr(brief.s, "\nDirectory: /w/ADR-7\n"));
}
