#include "src/machine/engine.h"
#include "src/machine/verdict.h"
#include "tests/lib/unit.h"

static void approvals(const char *const *texts, bool want)
{
	for (; *texts; texts++)
		if (verdict_approved(str_of(*texts)) != want)
			fail_msg("should be %s: %s", want ? "approved" : "rejected", *texts);
}

TEST(a_json_last_line_decides)
{
	static const char *const yes[] = {
		"{\"status\": \"approved\"}",
		"I had doubts: changes_requested was near.\n{\"status\":\"approved\"}",
		"{\"status\":\"changes_requested\"}\ntext\n{\"status\":\"approved\",\"n\":1}\n\n",
		"  {\"status\":\"approved\"}  \r\n",
		"{\"status\":\"approved\"}\nThanks for reading.",
		"{\"status\":\"approved\"}\n```\n",
		NULL,
	};
	static const char *const no[] = {
		"approved, approved, approved\n{\"status\":\"changes_requested\"}",
		"{\"status\":\"approved\"}\n{\"status\":\"changes_requested\"}",
		"{\"status\":\"blocked\"}",
		"{\"status\":1}",
		"{}",
		"> {\"status\":\"changes_requested\"}\n{\"status\":\"approved\"}\n> end of quote. "
		"I do not agree",
		"{\"status\":\"approved\"}\nThat was the developer's line. I reject it.",
		"{\"status\":\"approved\"}\nOn second look "
		"no:\n{\"status\":\"changes_requested\",\"where\":\"C:\\src\"}",
		"{\"status\":\"approved\"}\n{\"status\":\"changes_requested\",\"status\":\"x\"}",
		"{\"status\":\"approved\"}\n{\"status\":\"changes_requested\"",
		NULL,
	};

	approvals(yes, true);
	approvals(no, false);
}

TEST(the_last_fenced_block_counts_when_no_line_is_json)
{
	static const char *const yes[] = {
		"```json\n{\n  \"status\": \"approved\"\n}\n```\n",
		"```\n{\n\"status\": \"changes_requested\"\n}\n```\nlater\n```json\n{\n\"status\": "
		"\"approved\"\n}\n```",
		NULL,
	};
	static const char *const no[] = {
		"```json\n{\n  \"status\": \"changes_requested\"\n}\n```\nthe word approved",
		"```json\n{\n  \"status\": \"apprised\"\n",
		NULL,
	};

	approvals(yes, true);
	approvals(no, false);
}

TEST(without_json_whole_words_approve)
{
	static const char *const yes[] = {
		"approved",
		"Approved.",
		"LGTM. This change is APPROVED!",
		"No blocking issues. Approved.",
		"No issues found, approved.",
		"- tests pass\n- approved",
		"**approved**",
		"\xe2\x80\x9c"
		"approved\xe2\x80\x9d",
		"Verdict \xe2\x80\x94 approved",
		"No changes requested. Approved.",
		"Nothing was rejected.\n\nApproved",
		"There is nothing left to do.\n\nApproved",
		NULL,
	};

	approvals(yes, true);
}

TEST(without_json_what_speaks_against_it_is_no_approval)
{
	static const char *const no[] = {
		"",
		"fine by me",
		"not approved",
		"This is not yet approved.",
		"cannot be approved",
		"It can not, in this form, be approved",
		"This cannot be\napproved as it is.",
		"I can't say approved",
		"I can\xe2\x80\x99t say approved",
		"never approved",
		"Nothing here is approved",
		"no way this is approved",
		"disapproved",
		"unapproved",
		"preapproved",
		"not_approved",
		"approved_by_nobody",
		"approved? no",
		"approved: false",
		"approved once the tests pass",
		"approved if CI is green",
		"would be approved after the fix",
		"approved\nchanges_requested",
		"One file is approved. The other is not approved.",
		"unless fixed it is not to be approved",
		"Verdict\xe2\x80\x94not approved",
		"\xe2\x80\x9cnot\xe2\x80\x9d approved",
		"not\xc2\xa0"
		"approved",
		"Changes requested. Earlier: approved",
		"Changes are required. Approved otherwise.\nchanges requested",
		"I had approved it; I reject it now",
		"approved earlier, rejected now",
		"approved by the linter. The reviewer rejects it.",
		"I disagree that this is approved",
		"Approved by me: nothing",
		"Should be approved after fixing X",
		"It is far from approved",
		"fails to be approved",
		"approved after the fix",
		"Approved \xe2\x9d\x8c",
		"The gate says approved but tests fail",
		NULL,
	};

	approvals(no, false);
}

TEST(an_unknown_status_falls_back_to_the_words)
{
	static const char *const yes[] = {"Approved.\n{\"status\":\"ok\"}", NULL};
	static const char *const no[] = {
		"not approved\n{\"status\":\"ok\"}", "{\"status\":\"not approved\"}", NULL};

	approvals(yes, true);
	approvals(no, false);
}

TEST(validated_is_the_only_yes_of_a_validation)
{
	assert_true(verdict_validated(STR("{\"status\":\"validated\"}")));
	assert_true(verdict_validated(STR("all criteria hold\n{\"status\":\"validated\"}\n")));
	assert_true(verdict_validated(STR("validated")));
	assert_true(verdict_validated(STR("1 of 1 holds\n\nValidated.\n")));
	assert_false(verdict_validated(STR("")));
	assert_false(verdict_validated(STR("not validated")));
	assert_false(verdict_validated(STR("partially validated")));
	assert_false(verdict_validated(STR("validated it and found two faults")));
	assert_false(verdict_validated(STR("validated\n{\"status\":\"failed\"}")));
	assert_false(verdict_validated(STR("[{\"criterion\":\"x\",\"status\":\"fail\"}]")));
	assert_false(verdict_validated(STR("{\"status\":\"Validated\"}")));
}

TEST(passed_must_be_the_first_whole_word)
{
	assert_true(verdict_passed(STR("passed")));
	assert_true(verdict_passed(STR("  passed \xe2\x80\x94 log: /x/y.log")));
	assert_true(verdict_passed(STR("passed\n")));
	assert_false(verdict_passed(STR("failed \xe2\x80\x94 log: /x/passed.log")));
	assert_false(verdict_passed(STR("not passed")));
	assert_false(verdict_passed(STR("passed_not")));
	assert_false(verdict_passed(STR("passedness")));
	assert_false(verdict_passed(STR("")));
}

/* Around a result word and around an id the same characters are not part of it. */
TEST(punctuation_beyond_ascii_ends_a_word)
{
	static const char *const marks[] = {"\xc2\xa0", "\xc2\xbb", "—", "’", "→", "✓", "≠", "。"},
				 *const letters[] = {"é", "ß", "字", "ー", "ａ"};

	for (size_t i = 0; i < COUNT(marks) + COUNT(letters); i++) {
		bool mark = i < COUNT(marks);
		const char *c = mark ? marks[i] : letters[i - COUNT(marks)];
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_addf(&text, "passed%s", c);
		assert_int_equal(verdict_passed(buf_str(&text)), mark);
		buf_clear(&text);
		buf_addf(&text, "%sapproved%s", c, c);
		assert_int_equal(verdict_approved(buf_str(&text)), mark);
		assert_int_equal(environment_text_names(buf_str(&text), STR("approved")), mark);
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
	url_is("https://github.com/o/r/pull/", "");
	url_is("https://github.com/o/r/pull/new/branch", "");
	url_is("https://github.com/pull/1", "");
	url_is("github.com/o/r/pull/1", "");
	url_is("https://github.com/o/r/pull/12abc", "");
	url_is("", "");
}

TEST(a_status_that_is_too_long_is_none)
{
	char word[8];

	assert_false(verdict_status(STR("{\"status\":\"approved\"}"), word, sizeof(word)));
	assert_true(verdict_status(STR("{\"status\":\"fixed\"}"), word, sizeof(word)));
	assert_string_equal(word, "fixed");
}

TEST(an_approval_that_the_text_behind_it_takes_back_is_no_status)
{
	static const char *const against[] = {"approved", "validated"};
	char word[40] = "none";

	for (size_t i = 0; i < COUNT(against); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_addf(&text, "{\"status\":\"%s\"}\n\n", against[i]);
		assert_true(verdict_status(buf_str(&text), word, sizeof(word)));
		assert_string_equal(word, against[i]);
		buf_adds(&text, "This is not approved: it breaks the build.\n");
		assert_false(verdict_status(buf_str(&text), word, sizeof(word)));
	}
	assert_true(verdict_status(
		STR("{\"status\":\"fixed\"}\nThis is not approved yet."), word, sizeof(word)));
}

TEST(a_long_last_line_still_counts)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_adds(&text, "{\"status\":\"approved\"}\n{\"notes\":\"");
	for (int i = 0; i < 100000; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, "\",\"status\":\"changes_requested\"}\n");
	assert_false(verdict_approved(buf_str(&text)));
}

/* Each of these took minutes once; with a quadratic reader the test would not end. */
TEST(large_hostile_texts_are_read_in_one_go)
{
	static const char *const parts[] = {"https://", "http", "https://h/o/r/pull/",
		"{\"status\":", "{}", "```\n", "not ", "approved", "<!--", "\xe2\x80\x94"};

	for (size_t i = 0; i < COUNT(parts); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		while (text.len < (size_t)1 << 20)
			buf_adds(&text, parts[i]);
		assert_int_equal(verdict_pr_url(buf_str(&text)).n, 0);
		(void)verdict_approved(buf_str(&text));
		assert_false(verdict_validated(buf_str(&text)));
	}
}
