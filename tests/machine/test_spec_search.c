/* Which text names a work item, and which file is a spec. */
#include "src/local/local.h"
#include "tests/lib/unit.h"

static bool names(const char *text, const char *id)
{
	return environment_text_names(str_of(text), str_of(id));
}

TEST(an_id_is_found_as_a_whole_word)
{
	static const char *const texts[] = {
		"ADR-1",
		"see ADR-1 for more",
		"ADR-1 begins, and it ends with ADR-1",
		"(ADR-1)",
		"ends with ADR-1.",
		"ADR-1.\nNext line",
		"ADR-1, ADR-2",
		"# ADR-1: title",
		"path/ADR-1/x",
		"[ADR-1](x)",
		"\"ADR-1\"",
		"`ADR-1`",
		"ADR-10 and ADR-1",
		"see ...ADR-1",
		"a\tADR-1\r\n",
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_true(names(texts[i], "ADR-1"));
}

TEST(a_part_of_another_id_is_not_the_id)
{
	static const char *const texts[] = {
		"",
		"ADR-",
		"ADR-10",
		"ADR-1.2",
		"ADR-1-2",
		"ADR-1_x",
		"XADR-1",
		"X-ADR-1",
		"x_ADR-1",
		"v.ADR-1",
		"adr-1",
		"ADR 1",
		"ADR-1x",
		"ADR-11, ADR-12, xADR-1",
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_false(names(texts[i], "ADR-1"));
}

TEST(an_id_of_digits_is_not_a_part_of_a_number)
{
	assert_true(names("Issue #444", "444"));
	assert_true(names("Issue 444.", "444"));
	assert_false(names("1444", "444"));
	assert_false(names("4440", "444"));
	assert_false(names("0.444", "444"));
	assert_false(names("444.5", "444"));
}

TEST(the_dots_of_an_id_stand_for_themselves)
{
	assert_true(names("v1.2 is out", "v1.2"));
	assert_false(names("v1x2 is out", "v1.2"));
	assert_false(names("v1.2.3 is out", "v1.2"));
}

TEST(quotes_and_dashes_beyond_ascii_end_a_word_but_letters_do_not)
{
	assert_true(names("the “ADR-1” plan", "ADR-1"));
	assert_true(names("ADR-1—the plan", "ADR-1"));
	assert_true(names("→ADR-1", "ADR-1"));
	assert_true(names("«ADR-1»", "ADR-1"));
	assert_true(names("a\xc2\xa0"
			  "ADR-1\xc2\xa0"
			  "b",
		"ADR-1"));
	assert_true(names("「ADR-1」", "ADR-1"));
	assert_false(names("éADR-1", "ADR-1"));
	assert_false(names("ADR-1é", "ADR-1"));
	assert_false(names("ADR-1中", "ADR-1"));
}

TEST(bytes_that_are_no_text_are_only_passed_over)
{
	assert_true(environment_text_names(STR("\0\x01 ADR-1 \xff"), STR("ADR-1")));
	assert_false(environment_text_names(STR("\xe2"), STR("ADR-1")));
	assert_true(environment_text_names(STR("ADR-1\xe2"), STR("ADR-1")));
	assert_true(names("\x80 ADR-1", "ADR-1"));
}

TEST(a_spec_is_called_underscore_spec_something_md)
{
	assert_true(environment_is_spec(STR("_spec_Widget.md")));
	assert_true(environment_is_spec(STR("_spec_x.md")));
	assert_false(environment_is_spec(STR("_spec_.md")));
	assert_false(environment_is_spec(STR("_spec_Widget.txt")));
	assert_false(environment_is_spec(STR("_spec_Widget.MD")));
	assert_false(environment_is_spec(STR("spec_Widget.md")));
	assert_false(environment_is_spec(STR("my_spec_Widget.md")));
	assert_false(environment_is_spec(STR("_spec_Widget.md.orig")));
	assert_false(environment_is_spec(STR("")));
}

TEST(a_specs_own_name_may_name_the_item)
{
	assert_true(environment_spec_matches(STR("_spec_ADR-1.md"), STR("ADR-1")));
	assert_true(environment_spec_matches(STR("_spec_Widget ADR-1.md"), STR("ADR-1")));
	assert_false(environment_spec_matches(STR("_spec_ADR-10.md"), STR("ADR-1")));
	assert_false(environment_spec_matches(STR("_spec_Widget_ADR-1.md"), STR("ADR-1")));
	assert_false(environment_spec_matches(STR("_spec_Widget.md"), STR("md")));
	assert_false(environment_spec_matches(STR("ADR-1.md"), STR("ADR-1")));
	assert_false(environment_spec_matches(STR("_spec_Widget.md"), STR("spec")));
}
