/* The engine: what answers claim is checked before it counts. */
#include "tests/lib/engine_rig.h"

#define SMALL                                                                                      \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> implementing : start\n"               \
	"implementing --> validating : impl_done\nvalidating --> done : clean\n"                   \
	"validating --> fixing : build_failed\nfixing --> validating : fix_done\n"                 \
	"fixing --> failed : max_retries\ndone --> [*]\nfailed --> [*]\n```\n"

/* The work item is where the developer was asked. */
static void begin(void)
{
	workflow_with_evidence(SMALL);
	steps_to("ADR-7/implementing/1");
}

static void refute(unsigned kinds, const char *fault)
{
	t.refuted = kinds;
	t.fault = fault;
}

/* The item is at the review of its pull request, and everything before was as claimed. */
static void begin_review(void)
{
	workflow_with_evidence(IMPLEMENT);
	steps_to("ADR-7/researching/1");
	answered("ADR-7/researching/1", "briefed", "Brief.", "ADR-7/implementing/1");
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/validating/1");
	answered("ADR-7/validating/1", "passed", "passed", "ADR-7/reviewing/1");
	answered("ADR-7/reviewing/1", "pr_created", "https://github.com/o/r/pull/7",
		"ADR-7/reviewing/2");
}

#define failure_says(text)                                                                         \
	assert_true(str_find(str_of(section(CONTEXT_FAILED_ANSWER)), STR(text)) == 0)

ENGINE_TEST(evidence_is_asked_once_for_each_claim)
{
	begin();
	assert_int_equal(t.collected, 1); /* what the work will be compared with */
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/validating/1");
	assert_int_equal(t.asked, EVIDENCE_WORK);
	assert_string_equal(t.since, "c1");
	assert_int_equal(t.collected, 2); /* which the script is compared with, too */
	steps_to("ADR-7/validating/1");
	assert_int_equal(t.collected, 2);
	answered("ADR-7/validating/1", "passed", "passed", "success: 'validating' gave 'clean'");
	assert_int_equal(t.asked, EVIDENCE_WORK | EVIDENCE_TREE);
	assert_int_equal(t.collected, 3);
	assert_int_equal(count(events(), "\"type\":\"evidence\""), 2);
	steps_to("success: 'validating' gave 'clean'");
	assert_int_equal(t.collected, 3);
}

ENGINE_TEST(work_that_is_not_there_is_a_failed_answer_with_the_reason)
{
	begin();
	refute(EVIDENCE_WORK, "the branch has no commits");
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/implementing/2");
	assert_count("consecutive_failures", 1);
	failure_says("the branch has no commits (");
	assert_true(events_have("\"reason\":\"the branch has no commits\""));
	answered("ADR-7/implementing/2", "implemented", "Made.", "ADR-7/implementing/3");
	answered("ADR-7/implementing/3", "implemented", "Made.",
		"ADR-7/troubleshooter/1 consecutive_failures:3");
}

ENGINE_TEST(work_counts_from_its_first_request)
{
	begin();
	returns_to("ADR-7/implementing/2");
	t.head = "c2";
	answered("ADR-7/implementing/2", "implemented", "Made.", "ADR-7/validating/1");
	assert_string_equal(t.since, "c1");
	answered("ADR-7/validating/1", "failed", "failed", "ADR-7/fixing/1");
	t.head = "c3";
	answered("ADR-7/fixing/1", "fixed", "Fixed.", "ADR-7/validating/2");
	assert_string_equal(t.since, "c2");
}

ENGINE_TEST(a_passed_script_whose_files_changed_has_failed)
{
	begin();
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/validating/1");
	t.head = "c2";
	answered("ADR-7/validating/1", "passed", "passed", "ADR-7/fixing/1");
	assert_true(
		str_find(str_of(section(WIRE_LAST_FAILURE)),
			STR("failed: HEAD is not the commit for which the script was requested")) <
		strlen(section(WIRE_LAST_FAILURE)));
	answered("ADR-7/fixing/1", "fixed", "Fixed.", "ADR-7/validating/2");
	refute(EVIDENCE_TREE, "'a.c' has uncommitted changes");
	answered("ADR-7/validating/2", "passed", "passed", "ADR-7/fixing/2");
	assert_count("fix_iteration", 1);
}

ENGINE_TEST(files_that_were_changed_when_the_script_was_requested_are_not_validated)
{
	begin();
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/validating/1");
	refute(EVIDENCE_TREE, "'a.c' has uncommitted changes");
	returns_to("ADR-7/validating/2");
	refute(0, NULL);
	answered("ADR-7/validating/2", "passed", "passed", "ADR-7/fixing/1");
}

ENGINE_TEST(a_pull_request_that_is_refuted_is_asked_for_again)
{
	begin_review();
	assert_int_equal(t.asked, EVIDENCE_PULL);
	assert_string_equal(t.pr_asked, "https://github.com/o/r/pull/7");
	assert_value("pr_url", "https://github.com/o/r/pull/7");
	engine_rig_forget();
	workflow_with_evidence(IMPLEMENT);
	by_hand("reviewing", "", "");
	steps_to("ADR-7/reviewing/1");
	refute(EVIDENCE_PULL, "it is closed");
	answered("ADR-7/reviewing/1", "pr_created", "https://github.com/o/r/pull/7",
		"ADR-7/reviewing/2");
	assert_value("pr_url", "");
	failure_says("it is closed (");
}

ENGINE_TEST(a_pull_request_that_somebody_wrote_into_the_document_is_asked_for)
{
	workflow_with_evidence(IMPLEMENT);
	by_hand("reviewing", PR, "");
	steps_to("ADR-7/reviewing/1");
	refute(EVIDENCE_PULL, "it is of another branch");
	answered("ADR-7/reviewing/1", "approved", "Good.", "ADR-7/reviewing/2");
	assert_value("pr_url", "");
	failure_says("it is of another branch (");
	refute(0, NULL);
	answered("ADR-7/reviewing/2", "pr_created", "https://github.com/o/r/pull/8",
		"ADR-7/reviewing/3");
}

ENGINE_TEST(work_that_cannot_be_committed_is_a_failed_answer)
{
	begin();
	t.commit_fault = "'.env' may hold a secret";
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/implementing/2");
	failure_says("'.env' may hold a secret (");
	assert_int_equal(t.asked, 0);
	t.commit_fault = NULL;
	answered("ADR-7/implementing/2", "implemented", "Made.", "ADR-7/validating/1");
}

ENGINE_TEST(the_commit_that_work_or_an_approval_names_is_asked_about)
{
	begin_review();
	answered("ADR-7/reviewing/2", "approved", "{\"approved\":true,\"commitSha\":\"c7\"}",
		"success: 'reviewing' gave 'approved'; https://github.com/o/r/pull/7");
	assert_string_equal(t.named, "c7");
	engine_rig_forget();
	begin();
	answered("ADR-7/implementing/1", "needs_clarification", "{\"commitSha\":\"c8\"}",
		"ADR-7/troubleshooter/1 needs_clarification:1");
	engine_rig_forget();
	begin();
	refute(EVIDENCE_WORK, "there is no such commit");
	answered("ADR-7/implementing/1", "implemented", "{\"commitSha\":\"c9\"}",
		"ADR-7/implementing/2");
	assert_string_equal(t.named, "c9");
	failure_says("there is no such commit (");
}

ENGINE_TEST(an_approval_of_an_earlier_commit_is_void)
{
	begin_review();
	t.head = "c2";
	answered("ADR-7/reviewing/2", "approved", "Good.", "ADR-7/reviewing/3");
	failure_says("HEAD is not the commit that was reviewed, and its changes differ (");
	assert_section(WIRE_NOTES, "");
	assert_count("review_cycle_count", 0);
	t.tree = "t2";
	answered("ADR-7/reviewing/3", "approved", "Good.", "ADR-7/reviewing/4");
	failure_says("the files of HEAD are not those that were validated (");
	t.tree = "t1";
	answered("ADR-7/reviewing/4", "approved", "Good.",
		"success: 'reviewing' gave 'approved'; https://github.com/o/r/pull/7");
}

/* A rebase, for one. */
ENGINE_TEST(an_approval_is_kept_while_the_changes_are_the_same)
{
	begin_review();
	t.head = "c2";
	t.patch = "p1";
	t.same_as = "c1";
	answered("ADR-7/reviewing/2", "approved", "Good.",
		"success: 'reviewing' gave 'approved'; https://github.com/o/r/pull/7");
	engine_rig_forget();
	begin_review();
	answered("ADR-7/reviewing/2", "changes_requested", "Bad.", "ADR-7/fixing-pr/1");
	t.head = "c2";
	answered("ADR-7/fixing-pr/1", "fixed", "Fixed.",
		"ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "approved", "Good.");
	answer("ADR-7/signoff/2", "validated", "Good.");
	t.same_as = "c0";
	t.head = "c3";
	answered("ADR-7/signoff/3", "passed", "passed",
		"ADR-7/signoff/4 ADR-7/signoff/5 ADR-7/signoff/6");
}

ENGINE_TEST(success_needs_all_of_it_once_more)
{
	static const unsigned kinds[] = {
		EVIDENCE_WORK, EVIDENCE_TREE, EVIDENCE_PULL, EVIDENCE_REVIEW};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		begin_review();
		refute(kinds[i], "it is gone");
		answered("ADR-7/reviewing/2", "approved", "Good.", "ADR-7/reviewing/3");
		assert_int_equal(t.asked, EVIDENCE_ALL);
		failure_says("it is gone (");
		engine_rig_forget();
		refute(0, NULL);
	}
}

ENGINE_TEST(only_for_success_may_a_pull_request_that_was_confirmed_be_merged)
{
	begin_review();
	assert_string_equal(t.confirmed, "");
	answered("ADR-7/reviewing/2", "approved", "Good.",
		"success: 'reviewing' gave 'approved'; https://github.com/o/r/pull/7");
	assert_string_equal(t.confirmed, "https://github.com/o/r/pull/7");
}

ENGINE_TEST(a_sign_off_is_void_as_a_whole)
{
	begin_review();
	answered("ADR-7/reviewing/2", "changes_requested", "Bad.", "ADR-7/fixing-pr/1");
	t.head = "c2";
	answered("ADR-7/fixing-pr/1", "fixed", "Fixed.",
		"ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	answer("ADR-7/signoff/1", "approved", "Good.");
	answer("ADR-7/signoff/2", "validated", "Good.");
	t.head = "c3";
	answered("ADR-7/signoff/3", "passed", "passed",
		"ADR-7/signoff/4 ADR-7/signoff/5 ADR-7/signoff/6");
	assert_count("review_cycle_count", 1);
	assert_count("signoff_cycle_count", 1);
	answer("ADR-7/signoff/4", "approved", "Good.");
	answer("ADR-7/signoff/5", "validated", "Good.");
	answered("ADR-7/signoff/6", "passed", "passed",
		"success: 'signoff' gave 'approved'; https://github.com/o/r/pull/7");
}

ENGINE_TEST(done_that_was_set_by_hand_is_checked)
{
	begin();
	set("state", "done");
	steps_to("failed: it is not done: nothing was validated");
}

ENGINE_TEST(an_end_without_any_action_needs_its_evidence_too)
{
	workflow_with_evidence(
		"---\nevidence: [work]\n---\n```mermaid\nstateDiagram-v2\n[*] --> init\n"
		"init --> done : start\ndone --> [*]\nfailed --> [*]\n```\n");
	refute(EVIDENCE_WORK, "the branch has no commits");
	steps_to("failed: it is not done: the branch has no commits");
}

/* The script in front of the review passed on files that have changed as well. */
ENGINE_TEST(a_void_review_is_requested_again_with_the_script_before_it)
{
	workflow_with_evidence(
		"---\nstates:\n  gate:\n    all:\n"
		"      - {command: make, writes: A, results: {passed: ok, failed: no}, evidence: "
		"[tree]}\n"
		"      - {agent: a, skill: s, writes: B, results: {good: ok, bad: no}, evidence: "
		"[review]}\n"
		"---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> gate : start\n"
		"gate --> done : ok\ngate --> failed : no\ndone --> [*]\nfailed --> [*]\n```\n");
	steps_to("ADR-7/gate/1 ADR-7/gate/2");
	answer("ADR-7/gate/1", "passed", "passed");
	refute(EVIDENCE_TREE | EVIDENCE_REVIEW, "it is gone");
	answered("ADR-7/gate/2", "good", "x", "ADR-7/gate/3 ADR-7/gate/4");
}

ENGINE_TEST(a_state_without_actions_that_leads_to_the_end_needs_evidence_too)
{
	workflow_with_evidence(
		"---\nevidence: [work]\n---\n```mermaid\nstateDiagram-v2\n[*] --> init\n"
		"init --> spec-finding : start\nspec-finding --> done : spec_found\n"
		"done --> [*]\nfailed --> [*]\n```\n");
	refute(EVIDENCE_WORK, "the branch has no commits");
	steps_to("failed: the branch has no commits");
	assert_section(WIRE_LAST_FAILURE, "the branch has no commits");
}

/* A fact that cannot be read is not a fact that is missing: nothing is committed. */
ENGINE_TEST(facts_that_cannot_be_read_stop_the_step)
{
	CLEANUP(context_close) struct context_file f = {0};

	begin();
	answer("ADR-7/implementing/1", "implemented", "Made.");
	assert_int_equal(context_open(&f, t.path, 0, &t.err), 0);
	assert_int_equal(context_open_keys(&f, &t.err), 0);
	context_put_key(&f, "evidence", STR("{"));
	assert_int_equal(context_save(&f, &t.err), 0);
	context_close(&f);
	t.diverges = true;
	assert_fails(step_as("ADR-7", true, NULL), t.err, ERR_INPUT);
	assert_non_null(strstr(t.err.text, "key 'evidence' of"));
	assert_int_equal(t.commits, 0);
}

ENGINE_TEST(what_cannot_be_read_stops_the_step_and_loses_nothing)
{
	begin();
	answer("ADR-7/implementing/1", "implemented", "Made.");
	t.evidence_fails = true;
	assert_fails(step_as("ADR-7", true, NULL), t.err, ERR_SYSTEM);
	assert_section(WIRE_SUMMARY, "Made.");
	t.evidence_fails = false;
	returns_to("ADR-7/validating/1");
}

ENGINE_TEST(without_evidence_nothing_is_asked)
{
	workflow(SMALL);
	steps_to("ADR-7/implementing/1");
	refute(EVIDENCE_ALL, "no");
	answered("ADR-7/implementing/1", "implemented", "Made.", "ADR-7/validating/1");
	answered("ADR-7/validating/1", "passed", "passed", "success: 'validating' gave 'clean'");
	assert_int_equal(t.asked, 0); /* only HEAD, for the push */
	assert_int_equal(t.commits, 1);
}

#define DECLARED(rule)                                                                             \
	"---\nstates:\n  polish:\n    agent: a\n    skill: s\n    writes: Polish\n"                \
	"    results: {polished: ok, failed: no}\n    evidence: " rule "\n---\n"                   \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> polish : start\n"                     \
	"polish --> done : ok\npolish --> failed : no\ndone --> [*]\nfailed --> [*]\n```\n"

ENGINE_TEST(a_declared_state_names_its_own_evidence)
{
	workflow_with_evidence(DECLARED("[work, {command: check}]"));
	steps_to("ADR-7/polish/1");
	refute(EVIDENCE_COMMAND, "'check' failed");
	answered("ADR-7/polish/1", "polished", "Done.", "ADR-7/polish/2");
	assert_int_equal(t.asked, EVIDENCE_WORK | EVIDENCE_COMMAND);
	failure_says("'check' failed (");
	answered("ADR-7/polish/2", "failed", "No.", "failed: 'polish' gave 'no'");
}

ENGINE_TEST(a_pull_request_of_a_declared_state_is_in_its_answer)
{
	workflow_with_evidence(DECLARED("[pull_request]"));
	steps_to("ADR-7/polish/1");
	answered("ADR-7/polish/1", "polished", "See https://codeberg.org/o/r/pulls/3 .",
		"success: 'polish' gave 'ok'; https://codeberg.org/o/r/pulls/3");
	assert_string_equal(t.pr_asked, "https://codeberg.org/o/r/pulls/3");
	assert_value("pr_url", "https://codeberg.org/o/r/pulls/3");
}

#define ORDERED                                                                                    \
	"---\nstates:\n  build:\n    all:\n"                                                       \
	"      - {agent: a, skill: s, writes: Make, evidence: [work], results: {made: ok}}\n"      \
	"      - {agent: a, skill: s, writes: Other, results: {made: ok}}\n"                       \
	"      - {agent: a, skill: s, writes: Look, after: [Make], results: {good: ok, no: "       \
	"again}}\n---\n"                                                                           \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> build : start\n"                      \
	"build --> done : ok\nbuild --> build : again\ndone --> [*]\n```\n"

ENGINE_TEST(nothing_is_dispatched_after_a_claim_that_is_refuted)
{
	workflow_with_evidence(ORDERED);
	steps_to("ADR-7/build/1 ADR-7/build/2");
	answer("ADR-7/build/1", "made", "Made.");
	steps_to("ADR-7/build/2"); /* whose agent could change what is looked at */
	assert_null(strstr(events(), "\"type\":\"evidence\""));
	refute(EVIDENCE_WORK, "the branch has no commits");
	answered("ADR-7/build/2", "made", "Made.", "ADR-7/build/3");
	failure_says("Make: the branch has no commits (");
	refute(0, NULL);
	answered("ADR-7/build/3", "made", "Made.", "ADR-7/build/4");
	assert_true(document_has("\"write_section\":\"Look\""));
	answered("ADR-7/build/4", "good", "Good.", "success: 'build' gave 'ok'");
}

ENGINE_TEST(a_claim_of_another_visit_is_checked_again)
{
	workflow_with_evidence(ORDERED);
	steps_to("ADR-7/build/1 ADR-7/build/2");
	answer("ADR-7/build/1", "made", "Made.");
	answered("ADR-7/build/2", "made", "Made.", "ADR-7/build/3");
	answered("ADR-7/build/3", "no", "No.", "ADR-7/build/4 ADR-7/build/5");
	answer("ADR-7/build/4", "made", "Made.");
	refute(EVIDENCE_WORK, "the branch has no commits");
	answered("ADR-7/build/5", "made", "Made.", "ADR-7/build/6");
}

/* The same result, dishonest in every round, next to an agent that says nothing. */
ENGINE_TEST(a_refuted_claim_beside_a_silent_agent_reaches_the_limit_of_failures)
{
	static const char *const ids[] = {"ADR-7/build/1", "ADR-7/build/3", "ADR-7/build/5"};

	workflow_with_evidence(ORDERED);
	steps_to("ADR-7/build/1 ADR-7/build/2");
	refute(EVIDENCE_WORK, "the branch has no commits");
	for (size_t i = 0; i < COUNT(ids); i++) {
		answer(ids[i], "made", "Made.");
		assert_int_equal(step_as("ADR-7", true, NULL), 0);
	}
	assert_string_equal(summary(), "ADR-7/troubleshooter/1 " WIRE_FAILURES ":3");
}

/* Its state takes both results for good, so that nothing would ever change. */
ENGINE_TEST(a_script_whose_state_cannot_fail_ends_the_run_where_the_evidence_is_against_it)
{
	workflow_with_evidence("---\nevidence: [work]\nstates:\n  look:\n    all:\n"
			       "      - {command: make look, writes: Look, "
			       "results: {passed: ok, failed: ok}}\n"
			       "      - {agent: a, skill: s, writes: More, after: [Look], "
			       "when: [passed], results: {seen: ok}}\n---\n"
			       "```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> look : start\n"
			       "look --> done : ok\ndone --> [*]\nfailed --> [*]\n```\n");
	steps_to("ADR-7/look/1");
	refute(EVIDENCE_WORK, "the branch has no commits");
	answered("ADR-7/look/1", "failed", "failed", "failed: the branch has no commits");
	assert_int_equal(count(section("Look"), "failed: "), 1);
}

/* They count as failures of the state as well, which an answer of one action does not reset. */
ENGINE_TEST(void_approvals_of_a_declared_state_reach_the_limit_of_reviews)
{
	workflow_with_evidence("---\nevidence: []\nlimits: {consecutive_failures: 9}\nstates:\n  "
			       "judge:\n    all:\n"
			       "      - {agent: a, skill: s, writes: One, results: {made: ok}}\n"
			       "      - {agent: a, skill: s, writes: Two, evidence: [review], "
			       "after: [One], results: {approved: ok}}\n---\n"
			       "```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> judge : start\n"
			       "judge --> done : ok\ndone --> [*]\nfailed --> [*]\n```\n");
	steps_to("ADR-7/judge/1");
	refute(EVIDENCE_REVIEW, "HEAD is not the pull request's commit");
	answered("ADR-7/judge/1", "made", "Made.", "ADR-7/judge/2");
	answered("ADR-7/judge/2", "approved", "Good.", "ADR-7/judge/3");
	answered("ADR-7/judge/3", "made", "Made.", "ADR-7/judge/4");
	assert_count("consecutive_failures", 1);
	answered("ADR-7/judge/4", "approved", "Good.", "ADR-7/judge/5");
	answered("ADR-7/judge/5", "made", "Made.", "ADR-7/judge/6");
	answered("ADR-7/judge/6", "approved", "Good.", "ADR-7/troubleshooter/1 review_loop:3");
}

/* What an agent could have taken out of the workflow. */
ENGINE_TEST(a_workflow_that_requires_less_or_other_than_before_is_refused)
{
	static const struct {
		const char *was, *now, *fault;
	} rows[] = {
		{"evidence: [work, tree]\n", "evidence: [work]\n", "does not require 'tree'"},
		{"evidence: [work, {command: a}]\n", "evidence: [work, {command: b}]\n",
			"does not require the same command"},
		{"forge: a\n", "forge: b\n", "has not the same 'forge'"},
		{"validate: a\n", "", "has not the same 'validate'"},
		{"", "checks: a\n", "has not the same 'checks'"},
		{"", "allow_secrets: [a.pem]\n", "has not the same 'allow_secrets' (a.pem)"},
		{"allow_secrets: [a.pem, b.pem]\n", "allow_secrets: [a.pem]\n", NULL},
		{"", "limits: {max_fix_iterations: 1}\n", NULL},
	};

	t.diverges = true; /* the replay has the last workflow alone */
	for (size_t i = 0; i < COUNT(rows); i++) {
		engine_rig_forget();
		workflow_with_evidence(
			arena_printf(&t.arena, "---\n%s---\n" IMPLEMENT, rows[i].was));
		steps_to("ADR-7/researching/1");
		workflow_with_evidence(
			arena_printf(&t.arena, "---\n%s---\n" IMPLEMENT, rows[i].now));
		if (rows[i].fault) {
			assert_fails(step_as("ADR-7", false, NULL), t.err, ERR_STATE);
			if (!strstr(t.err.text, rows[i].fault))
				fail_msg("'%s' is not in '%s'", rows[i].fault, t.err.text);
		} else {
			steps_to("ADR-7/researching/1");
		}
	}
}
