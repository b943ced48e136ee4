/*
 * Results: every member wrong in every way, and the words that objects say.
 */
#include "src/machine/verdict.h"
#include "src/tick/dispatch.h"
#include "tests/lib/scratch.h"

static struct error err;

#define GOOD                                                                                       \
	"\"version\":1,\"taskId\":\"T-1\",\"subagentType\":\"developer\",\"status\":\"success\","  \
	"\"output\":\"x\",\"durationMs\":0,\"writtenAt\":\"2026-11-21T01:34:55Z\""

static int parse(const char *text, struct dispatch_result *r)
{
	int rc = dispatch_parse(&arena, "r.json", str_of(text), r, &err);

	json_free(&r->all);
	return rc;
}

TEST(every_member_of_a_result_is_checked)
{
	static const char *const keys[] = {"version", "taskId", "subagentType", "status", "output",
		"durationMs", "writtenAt", "parsed", "requestId", "result", "error"};
	static const char *const wrong[] = {
		"null", "true", "[]", "{}", "-1", "2", "\"\"", "\"wat\""};
	/* What is right of `wrong`, by the key. */
	static const char *const right[] = {"", "7", "7", "", "7", "5", "", "3", "7", "7", ""};
	struct dispatch_result r;

	for (size_t i = 0; i < COUNT(keys); i++)
		for (size_t k = 0; k < COUNT(wrong); k++) {
			json *all;
			char at = (char)('0' + k);

			assert_int_equal(json_parse(&all, STR("{" GOOD "}"), &err), 0);
			json_drop(all, keys[i]);
			if (i < 7) {
				assert_int_equal(
					parse(json_print_in(&arena, json_copy(all)).p, &r), -1);
				assert_non_null(strstr(err.text, "it is missing"));
			}
			json_free(&all);
			assert_int_equal(json_parse(&all, STR("{" GOOD "}"), &err), 0);
			json_drop(all, keys[i]);
			{
				json *value;

				assert_int_equal(json_parse(&value, str_of(wrong[k]), &err), 0);
				json_put(all, keys[i], value);
			}
			if ((parse(json_print_in(&arena, all).p, &r) == 0) !=
				(strchr(right[i], at) != NULL))
				fail_msg("%s: %s: %s", keys[i], wrong[k], err.text);
		}
}

TEST(what_is_no_result_is_refused)
{
	static const char *const texts[] = {"", "not-json", "[]", "7", "{\"foo\":\"bar\"}",
		"{" GOOD ",\"more\":1}", "{" GOOD ",\"version\":1}", "{" GOOD "} {}"};
	struct dispatch_result r;

	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(parse(texts[i], &r), -1);
		assert_int_equal(err.code, ERR_INPUT);
	}
	assert_int_equal(parse("{" GOOD "}", &r), 0);
	assert_string_equal(r.task, "T-1");
}

#define RESULT(task, more)                                                                         \
	"{\"version\":1,\"taskId\":\"" task "\",\"subagentType\":\"developer\",\"durationMs\":0,"  \
	"\"writtenAt\":\"2026-11-21T01:34:55Z\"," more "}"

TEST(a_result_names_a_task_and_a_success_has_an_answer)
{
	static const struct {
		const char *text;
		int rc;
	} cases[] = {
		{RESULT("T 1", "\"status\":\"success\",\"output\":\"x\""), -1},
		{RESULT("../../x", "\"status\":\"success\",\"output\":\"x\""), -1},
		{RESULT("T-1", "\"status\":\"success\",\"output\":\" \\n\""), -1},
		{RESULT("T-1", "\"status\":\"success\",\"output\":\"\",\"parsed\":{}"), 0},
		{RESULT("T-1", "\"status\":\"error\",\"output\":\"\""), 0},
		{RESULT("T-1", "\"status\":\"error\",\"output\":\"\",\"error\":7"), -1},
		{RESULT("T-1", "\"status\":\"error\",\"output\":\"\",\"error\":\"\""), -1},
		{RESULT("T-1", "\"status\":\"error\",\"output\":\"\",\"error\":\"no disk\""), 0},
	};
	struct dispatch_result r;

	for (size_t i = 0; i < COUNT(cases); i++)
		if (parse(cases[i].text, &r) != cases[i].rc)
			fail_msg("%s: %s", cases[i].text, err.text);
}

TEST(what_contradicts_the_status_is_refused)
{
	static const char *const more[][2] = {{",\"error\":\"disk is full\"", "'error'"},
		{",\"result\":\"implemented\"", "'result'"}, {",\"parsed\":{}", "'parsed'"}};
	struct dispatch_result r;

	for (size_t i = 0; i < COUNT(more); i++) {
		char *text = arena_printf(&arena, "{" GOOD "%s}", more[i][0]);
		char *error = arena_printf(&arena, "{%s%s}",
			"\"version\":1,\"taskId\":\"T-1\",\"subagentType\":\"developer\","
			"\"status\":\"error\",\"output\":\"x\",\"durationMs\":0,"
			"\"writtenAt\":\"2026-11-21T01:34:55Z\"",
			more[i][0]);

		assert_int_equal(parse(i ? text : error, &r), 0);
		assert_int_equal(parse(i ? error : text, &r), -1);
		assert_non_null(strstr(err.text, more[i][1]));
		assert_non_null(strstr(err.text, "contradicts the status"));
	}
}

#define CHECKS(build)                                                                              \
	"\"verifications\":{\"build\":" build                                                      \
	",\"test\":\"passed\",\"lint\":\"skipped\",\"format\":\"passed\"}"
#define ENVELOPE(commit, build)                                                                    \
	"{\"summary\":\"s\",\"filesChanged\":[],\"commitSha\":" commit                             \
	"," CHECKS(build) ",\"acceptanceCriteriaMet\":[1]}"
#define MEMBERS(summary, files, met)                                                               \
	"{\"summary\":" summary ",\"filesChanged\":" files                                         \
	",\"commitSha\":\"abc\"," CHECKS("\"passed\"") ",\"acceptanceCriteriaMet\":" met "}"

/* word NULL: none; "": refused */
static const struct {
	const char *parsed, *word;
} developers[] =
	{
		{ENVELOPE("\"abc\"", "\"passed\""), "implemented"},
		{ENVELOPE("\"abc\"", "\"failed\""), "failed"},
		{ENVELOPE("\"abc\"", "\"bogus\""), ""},
		{ENVELOPE("null", "\"passed\""), "failed"},
		{ENVELOPE("7", "\"passed\""), ""},
		{"{\"summary\":\"s\"," CHECKS("\"passed\"") "}", "failed"},
		{"{\"commitSha\":\"abc\"}", "failed"},
		{MEMBERS("\"s\"", "[\"a.c\"]", "[1,2]"), "implemented"},
		{MEMBERS("7", "[]", "[]"), ""},
		{MEMBERS("\"s\"", "\"none\"", "[]"), ""},
		{MEMBERS("\"s\"", "[7]", "[]"), ""},
		{MEMBERS("\"s\"", "[]", "{\"a\":1}"), ""},
		{MEMBERS("\"s\"", "[]", "[0]"), ""},
		{MEMBERS("\"s\"", "[]", "[\"1\"]"), ""},
		{"{\"commitSha\":\"abc\",\"verifications\":[]}", ""},
		{"{\"status\":\"needs_clarification\"}", "needs_clarification"},
		{"42", NULL},
		{"{}", NULL},
},
  reviewers[] = {
	  {"{\"approved\":true}", "approved"},
	  {"{\"approved\":true,\"findings\":[{\"severity\":\"minor\"},{\"severity\":\"wat\"}]}",
		  "approved"},
	  {"{\"approved\":true,\"findings\":[{\"severity\":\"critical\"}]}", "changes_requested"},
	  {"{\"approved\":true,\"findings\":[{\"severity\":\"major\"}]}", "changes_requested"},
	  {"{\"approved\":false,\"findings\":[]}", "changes_requested"},
	  {"{\"approved\":\"false\"}", ""}, /* D9 */
	  {"{\"approved\":1}", ""},
	  {"{\"approved\":true,\"findings\":{}}", ""},
};

static void check_word(const char *text, const char *format, const char *expected)
{
	CLEANUP(json_free) json *parsed = NULL;
	const char *word = NULL;
	int rc;

	assert_int_equal(json_parse(&parsed, str_of(text), &err), 0);
	rc = verdict_object_word(&arena, parsed, format, &word, &err);
	if (expected && !*expected)
		assert_int_equal(rc, -1);
	else if (rc < 0 || !word != !expected || (word && strcmp(word, expected) != 0))
		fail_msg("%s: %s", text, rc < 0 ? err.text : word ? word : "none");
}

TEST(an_object_says_a_word_of_the_format)
{
	CLEANUP(json_free) json *verdict = NULL;

	for (size_t i = 0; i < COUNT(developers); i++)
		check_word(developers[i].parsed, "implemented | failed | needs_clarification",
			developers[i].word);
	for (size_t i = 0; i < COUNT(reviewers); i++)
		check_word(reviewers[i].parsed, "approved | changes_requested", reviewers[i].word);
	assert_int_equal(json_parse(&verdict, STR("{\"approved\":false}"), &err), 0);
	assert_int_equal(verdict_object_word(&arena, verdict, "approved | changes_requested",
				 &(const char *){"approved"}, &err),
		-1);
}
