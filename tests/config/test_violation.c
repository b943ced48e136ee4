/* How a pipeline reads the report of `policy exec`. */
#include "src/config/violation.h"
#include "tests/lib/unit.h"
#include "tests/lib/scratch.h"

static struct violation_report violation;
static struct error err;

static int read_as(const char *wished, const char *report)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;

	err = (struct error){0};
	(void)json_parse(&j, str_of(report), &ignored);
	return violation_read(&arena, j, wished, &violation, &err);
}

TEST(what_was_allowed_is_no_violation)
{
	assert_int_equal(read_as(NULL, "{\"verdict\":\"run\",\"status\":1}"), 0);
}

TEST(a_denial_says_rule_word_path_and_reason)
{
	assert_int_equal(read_as(NULL, "{\"verdict\":\"deny\",\"rule\":\"path.outside\",\"from\":3,"
				       "\"to\":5,\"word\":\"../x\",\"path\":\"/x\","
				       "\"reason\":\"leads outside\"}"),
		1);
	assert_int_equal(violation.violation, VIOLATION_HARD_ABORT);
	assert_string_equal(
		violation_line(&arena, &violation), "path.outside '../x' -> /x: leads outside");
	assert_int_equal(read_as(NULL, "{\"verdict\":\"deny\",\"rule\":\"syntax\"}"), 1);
	assert_string_equal(violation_line(&arena, &violation), "syntax: no reason given");
}

TEST(the_workflow_decides_then_the_policy_then_nobody)
{
	const char *mild = "{\"verdict\":\"deny\",\"rule\":\"write\",\"reason\":\"r\","
			   "\"violation\":\"validation_fail\"}";

	assert_int_equal(read_as(NULL, mild), 1);
	assert_int_equal(violation.violation, VIOLATION_VALIDATION_FAIL);
	assert_int_equal(read_as("hard_abort", mild), 1);
	assert_int_equal(violation.violation, VIOLATION_HARD_ABORT);
	assert_int_equal(read_as("validation_fail", "{\"verdict\":\"deny\"}"), 1);
	assert_int_equal(violation.violation, VIOLATION_VALIDATION_FAIL);
	assert_int_equal(read_as("perhaps", mild), 1);
	assert_int_equal(violation.violation, VIOLATION_HARD_ABORT);
}

TEST(what_is_no_report_lets_nothing_pass)
{
	static const char *const texts[] = {"", "[]", "{}", "3", "{\"verdict\":\"yes\"}",
		"{\"verdict\":true}", "{\"status\":0}"};

	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(read_as(NULL, texts[i]), -1);
		assert_error(&err, "dev-team: the report of the policy has no verdict");
	}
}

TEST(the_line_is_one_line)
{
	assert_int_equal(
		read_as(NULL, "{\"verdict\":\"deny\",\"rule\":\"a\\nb\",\"word\":\"c\\u001b[1m\","
			      "\"reason\":\"d\\re\"}"),
		1);
	assert_string_equal(violation_line(&arena, &violation), "a?b 'c?[1m': d?e");
}

TEST(what_an_answer_says_reads_back)
{
	CLEANUP(json_free) json *j = NULL;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_int_equal(
		read_as("validation_fail", "{\"verdict\":\"deny\",\"policy\":\"p\",\"rule\":\"git."
					   "option\",\"word\":\"-x\",\"reason\":\"r\"}"),
		1);
	j = violation_json(&violation);
	json_print(&text, j);
	assert_string_equal(text.s,
		"{\"status\":\"failed\",\"policy\":\"p\",\"violation\":\"validation_fail\","
		"\"rule\":\"git.option\",\"word\":\"-x\",\"reason\":\"r\"}");
	assert_string_equal(violation_json_line(&arena, j), "git.option '-x': r");
}

UNIT_GROUP(NULL, arena_end)
