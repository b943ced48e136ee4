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
	status_is("{\"status\":\"approved\"}\n```\nint f(void)\n{\n\treturn 0;\n}\n```\n",
		"approved");
}

TEST(an_object_that_ends_the_text_is_found_within_its_line)
{
	static const char *const found[] = {"{\"status\":\"failed\"}",
		"Verdict: {\"status\": \"failed\"}\n", "It is `{\"status\":\"failed\"}`.",
		"{\"status\":\"approved\"}\n- **{\"status\":\"failed\",\"at\":{\"a\":1}}**\n"};
	static const char *const none[] = {"", "{", "}", "f(a) { return {}; }",
		"It printed {\"status\":\"failed\"} before the fix.",
		"{\"status\":\"failed\"}\nNow it passes."};
	char word[16];

	for (size_t i = 0; i < COUNT(found); i++) {
		assert_true(verdict_last_word(str_of(found[i]), "status", word, sizeof(word)));
		assert_string_equal(word, "failed");
	}
	for (size_t i = 0; i < COUNT(none); i++)
		assert_false(verdict_last_word(str_of(none[i]), "status", word, sizeof(word)));
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

	for (size_t i = 0; i < COUNT(rows); i++) {
		char status[64] = "";

		if (verdict_open_criterion(str_of(rows[i].text), status, sizeof(status)) !=
				(rows[i].status != NULL) ||
			strcmp(status, rows[i].status ? rows[i].status : "") != 0)
			fail_msg("%s: '%s'", rows[i].text, status);
	}
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

	for (size_t i = 0; i < COUNT(parts); i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		char word[64];

		while (text.len < (size_t)1 << 20)
			buf_adds(&text, parts[i]);
		assert_int_equal(verdict_pr_url(buf_str(&text)).n, 0);
		assert_false(verdict_word(buf_str(&text), "status", word, sizeof(word)));
		assert_false(verdict_open_criterion(buf_str(&text), word, sizeof(word)));
	}
}
