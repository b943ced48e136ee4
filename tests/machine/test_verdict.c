#include "src/local/local.h"
#include "src/machine/verdict.h"
#include "tests/lib/unit.h"

/* The status of the text is `want`; NULL: it has none. */
static void status_is(const char *text, const char *want)
{
	char word[64] = "";
	bool named = verdict_word(str_of(text), "status", word, sizeof(word));

	if (named != (want != NULL) || (want && strcmp(word, want) != 0))
		fail_msg("should be %s, is %s: %s", want ? want : "none", named ? word : "none",
			text);
}

TEST(the_last_json_object_decides)
{
	status_is("{\"status\": \"approved\"}", "approved");
	status_is(
		"I had doubts: changes_requested was near.\n{\"status\":\"approved\"}", "approved");
	status_is("{\"status\":\"changes_requested\"}\ntext\n{\"status\":\"approved\",\"n\":1}\n\n",
		"approved");
	status_is("{\"status\":\"approved\"}\n{\"status\":\"changes_requested\"}",
		"changes_requested");
	status_is("  {\"status\":\"approved\"}  \r\n", "approved");
	status_is("{\"status\":\"approved\"}\n(used 12 tokens)\n```\n", "approved");
	status_is("{\"status\":\"Not one of the words\"}", "Not one of the words");
}

TEST(an_object_of_several_lines_decides)
{
	status_is("Two blockers.\n\n{\n  \"status\": \"changes_requested\"\n}\n",
		"changes_requested");
	status_is("{\"status\":\"approved\"}\nNo:\n{\n  \"status\": \"changes_requested\",\n  "
		  "\"at\": [\n    {\"line\": 3}\n  ]\n}",
		"changes_requested");
	status_is("The word is {\"status\": \"approved\"}", NULL);
	status_is("{\n  \"status\": \"approved\"\n}\n(used 12 tokens)", "approved");
	status_is("{\"status\":\"approved\"}\nNo:\n{\n  \"status\": \"changes_requested\",\n  "
		  "\"at\": [\n    {\"line\": 3}\n  ]\n}\nSee a.c.",
		"changes_requested");
	status_is("Fine.\r\n\r\n```json\r\n{\r\n  \"status\": \"approved\",\r\n  \"findings\": "
		  "[]\r\n}\r\n"
		  "```\r\n",
		"approved");
	status_is(
		"{\n  \"status\": \"approved\",\n  \"why\": \"a } in a \\\"string\\\", and {\"\n}\n"
		"That {is} all.",
		"approved");
	status_is("\xEF\xBB\xBF{\n\t\"status\":\n\t\t\"approved\"\n}", "approved");
	status_is("- verdict:\n    {\n      \"status\": \"approved\"\n    }\n", "approved");
	status_is("{\"status\":\"approved\"}\n```\nint f(void)\n{\n\treturn 0;\n}\n```\n",
		"approved");
}

TEST(the_prose_of_an_answer_ends_before_its_object)
{
	static const struct {
		const char *text, *prose;
	} rows[] = {
		{"Fine.\n\n{\"status\": \"approved\"}\n", "Fine."},
		{"Fine.\n```json\n{\"status\": \"approved\"}\n```\n", "Fine."},
		{"It is {\"status\": \"approved\"}", "It is {\"status\": \"approved\"}"},
		{"Fine.\n{\"status\": \"approved\", \"n\": 1}",
			"Fine.\n{\"status\": \"approved\", \"n\": 1}"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_true(str_is(verdict_prose(str_of(rows[i].text)), rows[i].prose));
}

/* What is said of the result `word` (NULL: that of the text) beside the text; NULL: nothing. */
static const char *fault_of(struct arena *a, const char *text, const char *format, const char *word)
{
	static struct error err;

	return verdict_text_word(a, str_of(text), "status", format, &word, &err) < 0 ? err.text
										     : NULL;
}

#define REVIEW   "approved | changes_requested"
#define WORK     "implemented | failed | needs_clarification"
#define CRITERIA "validated | failed"

TEST(an_object_of_the_text_must_agree_with_the_word)
{
	static const struct {
		const char *format, *word, *text, *fault; /* fault NULL: it agrees */
	} rows[] = {
		{WORK, "implemented", "Verdict: {\"status\": \"failed\"}\n", "own 'failed'"},
		{WORK, "implemented", "It is `{\"status\":\"failed\"}`.", "own 'failed'"},
		{WORK, NULL,
			"{\"status\":\"implemented\"}\n- "
			"**{\"status\":\"failed\",\"at\":{\"a\":1}}**\n",
			"own 'failed'"},
		{WORK, "implemented", "{\"status\":\"failed\"}\nNow it passes.", "own 'failed'"},
		{WORK, "implemented", "It printed {\"status\":\"failed\"} before the fix.", NULL},
		{WORK, "implemented", "f(a) { return {}; }", NULL},
		{WORK, "implemented", "{", NULL},
		{WORK, "implemented", "{\"status\":\"ok\"}", NULL},
		{WORK, NULL, "Done.", "the answer has no result: must be " WORK},
		{WORK, NULL, "{\"status\":\"ok\"}", "unknown result 'ok': must be " WORK},
		{WORK, "approved", "Done.", "unknown result 'approved': must be " WORK},
		/* a reviewer's verdict */
		{REVIEW, "approved", "Bad.\n{\"approved\": false}", "'approved' is false"},
		{REVIEW, "approved", "So: {\"approved\":false}.", "'approved' is false"},
		{REVIEW, "approved", "{\n  \"approved\": false\n}\nSee above.",
			"'approved' is false"},
		{REVIEW, NULL, "{\"status\":\"approved\",\"approved\":false}",
			"'approved' is false"},
		{REVIEW, "approved", "{\"approved\":\"no\"}", "must be true or false"},
		{REVIEW, "approved", "{\"approved\":null}", "must be true or false"},
		{REVIEW, "approved",
			"{\"findings\":[{\"severity\":\"minor\"},{\"severity\":\"critical\"}]}",
			"a finding is 'critical'"},
		{REVIEW, "approved", "{\"approved\":true,\"findings\":[{\"severity\":\"Major\"}]}",
			"a finding is 'Major'"},
		{REVIEW, NULL, "{\"status\":\"approved\",\"findings\":[{\"severity\":\"major\"}]}",
			"a finding is 'major'"},
		{REVIEW, "changes_requested", "{\"approved\":true}", "'approved' is true"},
		{REVIEW, "changes_requested",
			"{\"approved\":true,\"findings\":[{\"severity\":\"major\"}]}", NULL},
		{REVIEW, "changes_requested", "{\"approved\":false}", NULL},
		{REVIEW, "approved", "{\"approved\":true,\"findings\":[{\"severity\":\"minor\"}]}",
			NULL},
		{REVIEW, "approved", "{\"approved\":false}\nNow it is:\n{\"approved\":true}", NULL},
		{"approved | refused", "approved", "{\"approved\":false}", "'approved' is false"},
		{"approved | refused", "refused", "{\"approved\":true}", "'approved' is true"},
		{"approved | refused", "refused", "{\"approved\":false}", NULL},
		{"refused | approved", "approved", "{\"approved\":false}", "'approved' is false"},
		{"refused | approved", "refused", "{\"approved\":false}", NULL},
		{"sound | unsound", "sound", "{\"approved\":false}", "'approved' is false"},
		{"sound | unsound", "unsound", "{\"approved\":false}", NULL},
		/* a developer's envelope */
		{WORK, "implemented", "{\"commitSha\":null}", "'commitSha' is null"},
		{WORK, "implemented",
			"{\"verifications\":{\"build\":\"passed\",\"test\":\"failed\",\"lint\":"
			"\"passed\","
			"\"format\":\"passed\"}}",
			"'verifications.test' is failed"},
		{WORK, "failed", "{\"commitSha\":\"abc\"}", NULL},
		{WORK, "implemented", "{\"commitSha\":\"abc\"}", NULL},
		{WORK, "needs_clarification", "{\"commitSha\":null}", NULL},
		/* before a last line with the word */
		{WORK, NULL, "{\"commitSha\":null}\n{\"status\":\"implemented\"}",
			"'commitSha' is null"},
		{REVIEW, NULL,
			"```json\n{\n\"approved\":false\n}\n```\n\n{\"status\":\"approved\"}",
			"'approved' is false"},
		{REVIEW, NULL,
			"{\"status\":\"changes_requested\",\"approved\":false}\n"
			"{\"status\":\"approved\"}",
			NULL},
		{WORK, NULL, "Was {\"commitSha\":null}; now:\n{\"status\":\"implemented\"}", NULL},
		/* parts of the work: what was fixed, an example, an incomplete report */
		{WORK, NULL,
			"{\"status\":\"implemented\",\"findings\":[{\"severity\":\"major\","
			"\"fixed\":"
			"true}]}",
			NULL},
		{WORK, "implemented", "A new request is {\"approved\":false}.", NULL},
		{WORK, "implemented", "It returns\n{\"approved\":\"pending\"}", NULL},
		{WORK, "implemented", "{\"verifications\":[\"make test\"],\"commitSha\":7}", NULL},
		{WORK, NULL, "{\"status\":\"implemented\",\"verifications\":{\"test\":\"passed\"}}",
			NULL},
		{WORK, NULL, "{\"status\":\"implemented\",\"verifications\":{\"test\":\"failed\"}}",
			"'verifications.test' is failed"},
		{REVIEW, NULL, "{\"status\":\"approved\",\"commitSha\":null}", NULL},
		{REVIEW, NULL, "{\"status\":\"approved\",\"verifications\":{\"test\":\"passed\"}}",
			NULL},
		/* criteria */
		{CRITERIA, "validated", "[{\"status\":\"partial\"}]", "'partial', not 'pass'"},
		{CRITERIA, NULL, "[{\"status\":\"fail\"}]\n{\"status\":\"validated\"}",
			"'fail', not 'pass'"},
		{CRITERIA, "validated", "{\"approved\":false}", "'approved' is false"},
		{CRITERIA, "failed", "{\"approved\":true}", "'approved' is true"},
		{CRITERIA, "failed", "[{\"status\":\"fail\"}]", NULL},
		/* a node of a manifest */
		{"success | failure", "success", "{\"status\":\"success\",\"approved\":false}",
			NULL},
	};
	struct arena a = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *fault = fault_of(&a, rows[i].text, rows[i].format, rows[i].word);

		if (!fault != !rows[i].fault || (fault && !strstr(fault, rows[i].fault)))
			fail_msg("%s beside %s: %s", rows[i].word ? rows[i].word : "nothing",
				rows[i].text, fault ? fault : "agrees");
	}
	arena_release(&a);
}

TEST(the_commit_that_an_answer_names_is_in_the_objects_that_must_agree)
{
	static const struct {
		const char *text, *commit;
	} rows[] = {
		{"{\"status\":\"implemented\",\"commitSha\":\"c1\"}", "c1"},
		{"Made.\n```json\n{\n  \"commitSha\": \"c1\",\n  \"summary\": \"s\"\n}\n```\n",
			"c1"},
		{"See: {\"commitSha\":\"c1\"}.", "c1"},
		{"```json\n{\"commitSha\":\"c1\"}\n```\n\n{\"status\":\"implemented\"}\n", "c1"},
		{"{\"commitSha\":\"c1\"}\n{\"commitSha\":\"c2\"}", "c2"},
		{"{\"commitSha\":\"c1\"} was an example.\n{\"status\":\"implemented\"}", NULL},
		{"{\"commitSha\":7}", NULL},
		{"{\"commitSha\":null}", NULL},
		{"{\"a\":{\"commitSha\":\"c1\"}}", NULL},
		{"\"commitSha\":\"c1\"", NULL},
		{"", NULL},
	};
	struct arena a = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *commit = verdict_commit(&a, str_of(rows[i].text));

		if (!commit != !rows[i].commit || (commit && strcmp(commit, rows[i].commit) != 0))
			fail_msg("%s: %s", rows[i].text, commit ? commit : "none");
	}
	arena_release(&a);
}

TEST(a_fence_around_the_object_does_not_matter)
{
	status_is("```json\n{\n  \"status\": \"approved\"\n}\n```\n", "approved");
	status_is("```\n{\n\"status\": \"changes_requested\"\n}\n```\nlater\n```json\n{\n"
		  "\"status\": \"approved\"\n}\n```",
		"approved");
	status_is(
		"{\"status\":\"approved\"}\n```json\n{\n\"status\": \"changes_requested\"\n}\n```",
		"changes_requested");
	status_is("```json\n{\n  \"status\": \"apprised\"\n", NULL);
}

TEST(what_looks_like_a_later_verdict_hides_an_earlier_one)
{
	status_is("{\"status\":\"approved\"}\nOn second look "
		  "no:\n{\"status\":\"changes_requested\",\"where\":\"C:\\src\"}",
		NULL);
	status_is("{\"status\":\"approved\"}\n{\"status\":\"x\",\"status\":\"y\"}", NULL);
	status_is("{\"status\":\"approved\"}\n{\"status\":\"changes_requested\"", NULL);
	status_is("{\"status\":\"approved\"}\nNo:\n{\n  \"status\": \"changes_requested\",\n}\n",
		NULL);
	status_is("{\"status\":\"approved\"}\nNo:\n{\n  \"status\": \"changes_req", NULL);
}

/* Each of these was once an approval, or the report of a script that passed. */
TEST(prose_is_not_read)
{
	static const char *const prose[] = {"", "Approved.", "approved",
		"LGTM. This change is APPROVED!",
		"The last version was approved. This one breaks the build and deletes user data.",
		"Has it been approved?",
		"Blocking: a.c:3 overflows. Once fixed it can be approved.",
		"```diff\n+ // APPROVED by bob\n```", "No blocking issues. Approved.",
		"**approved**", "Was it approved? I cannot tell.",
		"Approved by the linter only, see below", "The title says approved",
		"1 of 1 holds\n\nvalidated", "Validated.", "passed",
		"passed \xe2\x80\x94 log: /x/y.log", "# Debug report for ADR-1", "status: approved",
		"\"status\": \"approved\"", "[{\"status\":\"approved\"}]",
		"`{\"status\":\"approved\"}`", "{\"status\":1}", "{}", "{\"Status\":\"approved\"}"};

	for (size_t i = 0; i < COUNT(prose); i++)
		status_is(prose[i], NULL);
}

TEST(a_word_that_is_too_long_is_none_of_the_words)
{
	char word[8];

	assert_true(verdict_word(STR("{\"status\":\"approved\"}"), "status", word, sizeof(word)));
	assert_string_equal(word, "?");
	assert_true(verdict_word(STR("{\"action\":\"fixed\"}"), "action", word, sizeof(word)));
	assert_string_equal(word, "fixed");
}

TEST(punctuation_beyond_ascii_ends_a_word)
{
	static const char *const marks[] = {"\xc2\xa0", "\xc2\xbb", "—", "’", "→", "✓", "≠", "。"},
				 *const letters[] = {"é", "ß", "字", "ー", "ａ"};

	for (size_t i = 0; i < COUNT(marks) + COUNT(letters); i++) {
		bool mark = i < COUNT(marks);
		const char *c = mark ? marks[i] : letters[i - COUNT(marks)];
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_addf(&text, "%sADR-1%s", c, c);
		assert_int_equal(environment_text_names(buf_str(&text), STR("ADR-1")), mark);
	}
}

static void url_is(const char *text, const char *want)
{
	struct str got = verdict_pr_url(str_of(text));

	if (!str_is(got, want))
		fail_msg("in '%s' found '%.*s', not '%s'", text, (int)got.n, got.p, want);
}

TEST(the_first_pull_request_url_is_found)
{
	url_is("see https://github.com/o/r/pull/12.", "https://github.com/o/r/pull/12");
	url_is("(https://github.com/o/r/pull/12/files)", "https://github.com/o/r/pull/12");
	url_is("[PR](https://ghe.corp.example:8443/o/r/pull/7#issue)",
		"https://ghe.corp.example:8443/o/r/pull/7");
	url_is("https://gitlab.com/g/sub/p/-/merge_requests/3",
		"https://gitlab.com/g/sub/p/-/merge_requests/3");
	url_is("compare https://github.com/o/r/compare/a and <https://github.com/o/r/pull/1>",
		"https://github.com/o/r/pull/1");
	url_is("two: https://h/o/r/pull/2 https://h/o/r/pull/3", "https://h/o/r/pull/2");
	url_is("made https://codeberg.org/o/r/pulls/4", "https://codeberg.org/o/r/pulls/4");
	url_is("https://bitbucket.org/o/r/pull-requests/5/diff",
		"https://bitbucket.org/o/r/pull-requests/5");
	url_is("https://github.com/o/r/pull/", "");
	url_is("https://github.com/o/r/pull/new/branch", "");
	url_is("https://github.com/pull/1", "");
	url_is("github.com/o/r/pull/1", "");
	url_is("https://github.com/o/r/pull/12abc", "");
	url_is("", "");
}

TEST(a_criterion_that_is_not_met_is_found)
{
	static const struct {
		const char *text, *status;
	} rows[] = {
		{"[{\"criterion\": \"1\", \"status\": \"pass\"}]", NULL},
		{"[{\"status\":\"pass\"},{\"status\":\"partial\"}]", "partial"},
		{"Checked.\n\n```json\n[\n  {\"status\": \"fail\"},\n  {\"status\": "
		 "\"pass\"}\n]\n```\n{\"status\":\"validated\"}\n",
			"fail"},
		{"[{\"status\":\"fail\"}]\nNow:\n[{\"status\":\"pass\"}]", NULL},
		{"[{\"status\":\"fail\"}]\n[1, 2]\n[{\"name\":\"x\"}]\n[]", "fail"},
		{"see [{\"status\":\"fail\"}] there", "fail"},
		{"- [ ] open [1]: [ {\"status\":\"fail\"} ]", "fail"},
		{"{\"criteria\":[{\"status\":\"fail\"}],\"status\":\"validated\"}", "fail"},
		{"[{\"status\":\"pass\"},{\"criterion\":\"2\"}]", "missing"},
		{"[{\"status\":null}]", "missing"},
		{"[{\"status\":\"pass\"},1]", "missing"},
		{"[{\"status\":\"fail\",\"parts\":[{\"status\":\"pass\"}]}]", "fail"},
		{"[{\"name\":\"x\"}]", NULL},
		{"[not json]\n[", NULL},
		{"", NULL},
	};

	struct arena a = {0};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *fault = fault_of(&a, rows[i].text, CRITERIA, "validated");
		const char *want =
			rows[i].status ? arena_printf(&a, "the status '%s'", rows[i].status) : NULL;

		if (!fault != !want || (fault && !strstr(fault, want)))
			fail_msg("%s: '%s'", rows[i].text, fault ? fault : "met");
	}
	arena_release(&a);
}

TEST(a_long_last_line_still_counts)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "{\"status\":\"approved\"}\n{\"notes\":\"");
	for (int i = 0; i < 100000; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\",\"status\":\"changes_requested\"}\n");
	status_is(text.s, "changes_requested");
}

/* Each of these took minutes once; with a quadratic reader the test would not end. */
TEST(large_hostile_texts_are_read_in_one_go)
{
	static const char *const parts[] = {"https://", "http", "https://h/o/r/pull/",
		"{\"status\":", "{}", "```\n", "not ", "approved", "<!--", "\xe2\x80\x94", "[\n",
		"]\n"};
	struct arena a = {0};

	for (size_t i = 0; i < COUNT(parts); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		char word[64];

		while (text.len < (size_t)1 << 20)
			buf_adds(&text, parts[i]);
		assert_int_equal(verdict_pr_url(buf_str(&text)).n, 0);
		assert_false(verdict_word(buf_str(&text), "status", word, sizeof(word)));
		assert_null(fault_of(&a, text.s, CRITERIA, "validated"));
	}
	arena_release(&a);
}
