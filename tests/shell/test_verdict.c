#include "src/shell/verdict.h"
#include "tests/lib/unit.h"

static const struct span at = {3, 9};

static const char *line(const struct verdict *v)
{
	static char text[1024];
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	verdict_line(&b, v);
	snprintf(text, sizeof(text), "%s", b.s);
	return text;
}

static const char *object(const struct verdict *v)
{
	static char text[1024];
	CLEANUP(buf_release) struct buf b = BUF_INIT;
	CLEANUP(json_free) json *j = verdict_object(v);

	json_print(&b, j);
	snprintf(text, sizeof(text), "%s", b.s);
	return text;
}

TEST(every_rule_has_an_id_and_a_question)
{
	for (int r = 0; r < RULES; r++) {
		assert_true(strlen(rule_id((enum rule)r)) >= 3);
		assert_true(strlen(rule_about((enum rule)r)) > 5);
	}
	assert_string_equal(rule_id(RULES), "internal");
}

TEST(nothing_against_it_is_run)
{
	struct verdict v = {0};

	assert_string_equal(line(&v), "run");
	assert_string_equal(object(&v), "{\"verdict\":\"run\"}");
}

TEST(a_denial_names_rule_bytes_word_path_and_reason)
{
	struct verdict v = {0};

	assert_int_equal(deny_word(&v, RULE_PATH_OUTSIDE, at, STR("esc/x"), STR("/etc/x"),
				 "'%s' is outside", "esc/x"),
		-1);
	assert_string_equal(
		line(&v), "deny path.outside 3-9 'esc/x' -> /etc/x: 'esc/x' is outside");
	assert_string_equal(object(&v),
		"{\"verdict\":\"deny\",\"rule\":\"path.outside\",\"from\":3,\"to\":9,"
		"\"word\":\"esc/x\",\"path\":\"/etc/x\",\"reason\":\"'esc/x' is outside\"}");
}

TEST(what_is_not_there_is_left_out)
{
	struct verdict v = {0}, w = {0};

	deny(&v, RULE_SYNTAX, at, "the quote is not closed");
	assert_string_equal(line(&v), "deny syntax 3-9: the quote is not closed");
	assert_string_equal(object(&v), "{\"verdict\":\"deny\",\"rule\":\"syntax\",\"from\":3,"
					"\"to\":9,\"reason\":\"the quote is not closed\"}");
	deny_word(&w, RULE_COMMAND, at, (struct str){0}, STR(""), "an empty word");
	assert_string_equal(line(&w), "deny command 3-9 '': an empty word");
}

TEST(the_first_denial_stays)
{
	struct verdict v = {0};

	deny(&v, RULE_NAME_LISTED, at, "first");
	assert_int_equal(deny(&v, RULE_WRITE, (struct span){0, 1}, "second"), -1);
	assert_string_equal(line(&v), "deny name.listed 3-9: first");
}

/* Otherwise a word could end the line, colour the terminal or reverse the text. */
TEST(hostile_words_cannot_break_the_line)
{
	struct verdict v = {0};

	deny_word(&v, RULE_NAME_LISTED, at,
		STR("a\nb\x1b[31m\x7f\xff\xc2\x85\xe2\x80\xae\xc3\xa9z"), STR("/t\r"), "no '%s'",
		"\x07");
	assert_string_equal(line(&v), "deny name.listed 3-9 "
				      "'a?b?[31m????\xc3\xa9z' "
				      "-> /t?: no '?'");
}

TEST(a_word_that_is_no_utf8_gives_valid_json)
{
	struct verdict v = {0};

	deny_word(&v, RULE_INPUT_BYTES, at, STR("a\xff\0b"), STR(""), "byte 0xff");
	assert_string_equal(object(&v), "{\"verdict\":\"deny\",\"rule\":\"input.bytes\",\"from\":3,"
					"\"to\":9,\"word\":\"a??b\",\"reason\":\"byte 0xff\"}");
}

TEST(a_long_reason_is_cut_and_stays_valid)
{
	struct verdict v = {0};
	char wide[400];

	for (size_t i = 0; i + 2 < sizeof(wide); i += 2)
		memcpy(wide + i, "\xc3\xa9", 3);
	deny(&v, RULE_COMMAND, at, "x%s", wide);
	assert_true(strlen(v.reason) < sizeof(v.reason));
	assert_non_null(strstr(object(&v), "\"reason\":\"x\xc3\xa9"));
}
