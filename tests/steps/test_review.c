/* Reviews: reviewing, signoff. */
#include "tests/lib/step_rig.h"

#define URL     "https://github.com/o/r/pull/7"
#define VERDICT "approved | changes_requested"

STEP_TEST(reviewing_without_a_pr_url_has_the_developer_open_one)
{
	given("", SECTION(WIRE_FIX " 1", "a"));
	requests(&step_reviewing, 1);
	assert_agent(0, "developer", "developer-create-pr", "ADR-7",
		WIRE_BRIEF ", " WIRE_SUMMARY ", " WIRE_FIX " 1", WIRE_PULL_REQUEST,
		"pr_created | failed");
}

STEP_TEST(reviewing_the_first_url_in_the_answer_becomes_pr_url)
{
	static const char *const urls[] = {
		URL,
		"https://ghe.example.org/team/sub/pull/12",
		"https://gitlab.com/group/sub/project/-/merge_requests/3",
	};

	for (size_t i = 0; i < COUNT(urls); i++) {
		char sections[300];

		(void)snprintf(sections, sizeof(sections),
			SECTION(WIRE_PULL_REQUEST, "See https://example.org/docs and <%s>, not "
						   "https://github.com/o/r/pull/99.\n"
						   "{\"status\":\"pr_created\"}"),
			urls[i]);
		given("", sections);
		requests(&step_reviewing, 0);
		decide(&step_reviewing);
		assert_int_equal(step_case.context.result, STEP_ASK_AGAIN);
		assert_true(str_is(context_get(&step_case.doc, WIRE_PULL_REQUEST_KEY), urls[i]));
		assert_count(WIRE_REVIEWS, 0);
	}
}

STEP_TEST(reviewing_an_answer_without_a_url_is_asked_again)
{
	put_answered(WIRE_PULL_REQUEST, "pr_created | failed", "pr_created");
	given("", SECTION(WIRE_PULL_REQUEST, "I opened it: https://github.com/o/r"));
	decide_fails(&step_reviewing, STEP_FAILED, WIRE_PULL_REQUEST);
	assert_str(context_get(&step_case.doc, WIRE_PULL_REQUEST_KEY), "");
}

STEP_TEST(reviewing_a_developer_who_failed_is_asked_again_url_or_not)
{
	put_answered(WIRE_PULL_REQUEST, "pr_created | failed", "failed");
	given("", SECTION(WIRE_PULL_REQUEST, "push refused for " URL));
	decide_fails(&step_reviewing, STEP_FAILED, WIRE_PULL_REQUEST);
	assert_str(context_get(&step_case.doc, WIRE_PULL_REQUEST_KEY), "");
}

STEP_TEST(reviewing_with_a_pr_url_asks_the_reviewer)
{
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n", SECTION(WIRE_PULL_REQUEST, URL));
	requests(&step_reviewing, 1);
	assert_agent(0, "reviewer", "reviewer-review", "ADR-7", WIRE_BRIEF, WIRE_NOTES, VERDICT);
}

STEP_TEST(a_workflow_names_the_reviewer_of_both_states)
{
	step_case.workflow.reviewer = "code-reviewer";
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n", SECTION(WIRE_PULL_REQUEST, URL));
	requests(&step_reviewing, 1);
	assert_agent(
		0, "code-reviewer", "reviewer-review", "ADR-7", WIRE_BRIEF, WIRE_NOTES, VERDICT);
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n", "");
	requests(&step_signoff, 3);
	assert_agent(0, "code-reviewer", "reviewer-sign-off", "ADR-7", WIRE_BRIEF,
		WIRE_SIGNOFF_REVIEW, VERDICT);
}

/* The notes of the reviewer, and the trigger that results. */
static void judged(const char *notes, const char *word, const char *trigger)
{
	CLEANUP(buf_release) struct buf sections = BUF_INIT;

	json_free(&step_case.outstanding);
	step_case.outstanding = json_array();
	if (word)
		put_answered(WIRE_NOTES, VERDICT, word);
	buf_addf(&sections, SECTION(WIRE_NOTES, "%s"), notes);
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n" WIRE_REVIEWS ": 1\n", sections.s);
	requests(&step_reviewing, 0);
	decides(&step_reviewing, trigger);
	assert_count(WIRE_REVIEWS, 2);
	assert_true(context_has_section(&step_case.doc, WIRE_NOTES));
}

STEP_TEST(reviewing_json_status_is_the_verdict)
{
	judged("Fine.\n{\"status\":\"approved\"}", NULL, "approved");
	judged("approved?\n{\"status\":\"changes_requested\"}", NULL, "changes_requested");
	judged("```json\n{\n \"status\": \"approved\"\n}\n```\nfooter", NULL, "approved");
}

STEP_TEST(reviewing_the_recorded_word_outdoes_the_prose)
{
	judged("The design is approved, the tests are missing.", "changes_requested",
		"changes_requested");
	judged("Good.", "approved", "approved");
}

#define READS WIRE_BRIEF ", " WIRE_SUMMARY ", " WIRE_FIX " 1"

STEP_TEST(signoff_asks_three_at_once_after_a_push)
{
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n", SECTION(WIRE_FIX " 1", "a"));
	assert_int_equal(step_signoff.before_request, EFFECT_PUSH | EFFECT_PR_COMMENTS);
	requests(&step_signoff, 3);
	assert_agent(0, "reviewer", "reviewer-sign-off", "ADR-7", WIRE_BRIEF, WIRE_SIGNOFF_REVIEW,
		VERDICT);
	assert_agent(1, "researcher", "researcher-validate", "ADR-7", READS, WIRE_SIGNOFF_RESEARCH,
		"validated | failed");
	assert_script(2,
		"(bash scripts/validate.sh) && ("
		"dev-team checks '" URL "')",
		3600, WIRE_SIGNOFF_BUILD);
}

STEP_TEST(signoff_only_validates_if_no_program_knows_the_checks)
{
	given(WIRE_PULL_REQUEST_KEY ": https://codeberg.org/o/r/pulls/7\n", "");
	step_case.workflow.validate_timeout_s = 60;
	request(&step_signoff);
	assert_script(2, "bash scripts/validate.sh", 1860, WIRE_SIGNOFF_BUILD);
}

STEP_TEST(signoff_without_a_pr_url_gh_finds_it_by_the_branch)
{
	given("", "");
	request(&step_signoff);
	assert_script(2,
		"(bash scripts/validate.sh) && ("
		"dev-team checks)",
		3600, WIRE_SIGNOFF_BUILD);
}

STEP_TEST(signoff_runs_the_workflows_checks)
{
	step_case.workflow.checks = "make ci";
	step_case.workflow.validate = "make check; make lint";
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n", "");
	request(&step_signoff);
	assert_script(2, "(make check; make lint) && (make ci)", 3600, WIRE_SIGNOFF_BUILD);
}

STEP_TEST(signoff_validates_under_the_policy_that_the_checks_are_excepted_from)
{
	static const char *const except[] = {"checks"};

	step_case.workflow.security = (struct workflow_security){
		.policy = "build", .except = (void *)except, .n_except = 1};
	given(WIRE_PULL_REQUEST_KEY ": " URL "\n", "");
	request(&step_signoff);
	assert_script(2, "dev-team checks '" URL "'", 3600, WIRE_SIGNOFF_BUILD);
	assert_string_equal(step_case.context.requests.items[2].first, "bash scripts/validate.sh");
}

#define R SECTION(WIRE_SIGNOFF_REVIEW, "{\"status\":\"approved\"}")
#define V SECTION(WIRE_SIGNOFF_RESEARCH, "{\"status\":\"validated\"}")
#define B SECTION(WIRE_SIGNOFF_BUILD, "{\"status\":\"passed\"}")

STEP_TEST(signoff_after_a_partial_answer_asks_what_is_missing_one_at_a_time)
{
	static const struct {
		const char *sections, *next;
	} rows[] = {
		{R, WIRE_SIGNOFF_RESEARCH},
		{V, WIRE_SIGNOFF_REVIEW},
		{B, WIRE_SIGNOFF_REVIEW},
		{R V, WIRE_SIGNOFF_BUILD},
		{R B, WIRE_SIGNOFF_RESEARCH},
		{V B, WIRE_SIGNOFF_REVIEW},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		given("", rows[i].sections);
		requests(&step_signoff, 1);
		assert_string_equal(step_case.context.requests.items[0].writes, rows[i].next);
	}
}

static void assert_sections_are_cleared(void)
{
	assert_section(WIRE_SIGNOFF_REVIEW, "");
	assert_section(WIRE_SIGNOFF_RESEARCH, "");
	assert_section(WIRE_SIGNOFF_BUILD, "");
}

STEP_TEST(signoff_all_three_good_is_approved_and_clears_the_counters)
{
	given(WIRE_SIGNOFFS ": 1\n" WIRE_REVIEWS ": 2\n", R V B SECTION(WIRE_LAST_FAILURE, "old"));
	requests(&step_signoff, 0);
	decides(&step_signoff, "approved");
	assert_count(WIRE_SIGNOFFS, 0);
	assert_count(WIRE_REVIEWS, 0);
	assert_section(WIRE_LAST_FAILURE, "");
	assert_sections_are_cleared();
}

#define NO  "No.\n{\"status\":\"changes_requested\"}"
#define RED "{\"status\":\"failed\"}"

STEP_TEST(signoff_failures_are_joined_and_become_notes_and_last_failure)
{
	given(WIRE_SIGNOFFS ": 1\n" WIRE_REVIEWS ": 2\n",
		SECTION(WIRE_SIGNOFF_REVIEW, NO) V SECTION(WIRE_SIGNOFF_BUILD, RED));
	decides(&step_signoff, "changes_requested");
	assert_section(WIRE_NOTES,
		WIRE_SIGNOFF_REVIEW ":\n\n" NO "\n\n---\n\n" WIRE_SIGNOFF_BUILD ":\n\n" RED);
	assert_section(WIRE_LAST_FAILURE,
		WIRE_SIGNOFF_REVIEW ":\n\n" NO "\n\n---\n\n" WIRE_SIGNOFF_BUILD ":\n\n" RED);
	assert_count(WIRE_SIGNOFFS, 2);
	assert_count(WIRE_REVIEWS, 2);
	assert_sections_are_cleared();
}

/* One of the three is invalid: which one, and its text. */
static void rejects(const char *review, const char *research, const char *build)
{
	CLEANUP(buf_release) struct buf sections = BUF_INIT;

	buf_addf(&sections,
		SECTION(WIRE_SIGNOFF_REVIEW, "%s") SECTION(WIRE_SIGNOFF_RESEARCH, "%s")
			SECTION(WIRE_SIGNOFF_BUILD, "%s"),
		review, research, build);
	given("", sections.s);
	decides(&step_signoff, "changes_requested");
	assert_count(WIRE_SIGNOFFS, 1);
}

STEP_TEST(signoff_each_of_the_three_may_say_no)
{
	static const char yes[] = "{\"status\":\"approved\"}", ok[] = "{\"status\":\"validated\"}",
			  green[] = "{\"status\":\"passed\"}";

	rejects(NO, ok, green);
	rejects(yes, "{\"status\":\"failed\"}", green);
	rejects(yes, ok, RED);
}

STEP_TEST(signoff_recorded_words_outdo_the_prose)
{
	put_answered(WIRE_SIGNOFF_REVIEW, VERDICT, "changes_requested");
	put_answered(WIRE_SIGNOFF_RESEARCH, "validated | failed", "validated");
	put_answered(WIRE_SIGNOFF_BUILD, "passed | failed", "passed");
	given("", SECTION(WIRE_SIGNOFF_REVIEW, "approved") SECTION(WIRE_SIGNOFF_RESEARCH, "All met")
			  B);
	decides(&step_signoff, "changes_requested");
	assert_section(WIRE_NOTES, WIRE_SIGNOFF_REVIEW ":\n\napproved");
}

/* The troubleshooter may write any other section, so it could approve in place of the script. */
STEP_TEST(what_a_script_or_a_reviewer_writes_is_a_verdict_of_its_step)
{
	size_t found = 0;

	for (size_t i = 0; steps[i]; i++) {
		given(WIRE_PULL_REQUEST_KEY ": " URL "\n", "");
		if (steps[i]->request)
			request(steps[i]);
		for (size_t k = 0; k < step_case.context.requests.n; k++) {
			const struct step_request *r = &step_case.context.requests.items[k];

			if (r->agent &&
				!str_in(str_of(r->format),
					(const char *const[]){VERDICT, "validated | failed", NULL}))
				continue;
			assert_true(str_in(str_of(r->writes), steps[i]->verdicts));
			found++;
		}
	}
	assert_int_equal(found, 5);
}
