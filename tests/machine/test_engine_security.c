/* Scripts under a policy, through the engine: the request, and the consequences of a violation. */
#include "tests/lib/engine_rig.h"

#define STATES                                                                                     \
	"states:\n"                                                                                \
	"  lint: {command: make lint, timeout: 9, writes: Lint}\n"                                 \
	"  gates:\n"                                                                               \
	"    all:\n"                                                                               \
	"      - {agent: reviewer, skill: s, writes: A, results: {approved: ok, no: bad}}\n"       \
	"      - {command: make check, writes: B, results: {passed: ok, failed: bad}}\n"           \
	"---\n"                                                                                    \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> lint : start\n"                       \
	"lint --> gates : passed\nlint --> lint : failed\ngates --> done : ok\n"                   \
	"gates --> lint : bad\ndone --> [*]\nfailed --> [*]\n```\n"

static const char bound[] = "---\nsecurity: {policy: build}\n" STATES;
static const char mild[] = "---\nsecurity: {policy: ./p.yaml, violation: validation_fail}\n" STATES;
static const char partly[] = "---\nsecurity: {policy: build, except: [gates]}\n" STATES;
static const char loose[] = "---\n" STATES;

#define DENIED(violation)                                                                          \
	"failed \xe2\x80\x94 security violation: write 'x': so it is \xe2\x80\x94 log: /l\n\n"     \
	"{\"status\":\"failed\",\"policy\":\"build\",\"violation\":\"" violation                   \
	"\",\"rule\":\"write\",\"word\":\"x\",\"reason\":\"so it is\"}"

static bool printed(const char *text)
{
	return strstr(t.out.s, text) != NULL;
}

ENGINE_TEST(a_bound_script_is_asked_for_with_its_policy)
{
	workflow(bound);
	steps_to("ADR-7/lint/1");
	assert_true(printed("\"command\":\"dev-team policy exec --policy 'build' --cwd '/r' -- "
			    "'make lint'\""));
	assert_true(printed("\"security\":{\"policy\":\"build\",\"folder\":\"/r\",\"script\":"
			    "\"make lint\"}"));
}

ENGINE_TEST(a_file_of_the_repository_and_what_a_violation_means_are_passed_on)
{
	workflow(mild);
	steps_to("ADR-7/lint/1");
	assert_true(printed("\"security\":{\"policy\":\"/r/./p.yaml\",\"violation\":"
			    "\"validation_fail\",\"folder\":\"/r\",\"script\":\"make lint\"}"));
}

ENGINE_TEST(what_is_excepted_and_what_is_not_bound_runs_as_it_is)
{
	workflow(partly);
	steps_to("ADR-7/lint/1");
	assert_true(printed("security"));
	answered("ADR-7/lint/1", "passed", "passed", "ADR-7/gates/1 ADR-7/gates/2");
	assert_true(printed("\"command\":\"cd '/r' || exit 125; make check\""));
	assert_false(printed("security"));
}

ENGINE_TEST(what_comes_first_has_its_policy_in_any_directory)
{
	static const char signoff[] =
		"---\nsecurity: {policy: ./p.yaml, except: [checks]}\nchecks: make ci\n"
		"validate: make test\n---\n```mermaid\nstateDiagram-v2\n[*] --> init\n"
		"init --> signoff : start\nsignoff --> done : approved\n"
		"signoff --> failed : changes_requested\ndone --> [*]\nfailed --> [*]\n```\n";

	t.enters = "/it's; rm -rf $HOME";
	workflow(signoff);
	steps_to("ADR-7/signoff/1 ADR-7/signoff/2 ADR-7/signoff/3");
	assert_true(printed(
		"\"command\":\"cd '/it'\\\\''s; rm -rf $HOME' || exit 125; (dev-team policy "
		"exec --policy '/r/./p.yaml' --cwd '/it'\\\\''s; rm -rf $HOME' -- 'make test')"
		" && (make ci)\""));
	assert_false(printed("\"first\""));
}

ENGINE_TEST(a_hard_abort_fails_the_run_and_waits_for_nobody)
{
	workflow(bound);
	steps_to("ADR-7/lint/1");
	answered("ADR-7/lint/1", "passed", "passed", "ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/2", NULL, DENIED("hard_abort"));
	steps_to("failed: security violation in 'ADR-7/gates/2': write 'x': so it is");
	steps_to("failed: security violation in 'ADR-7/gates/2': write 'x': so it is");
	assert_int_equal(answer_as("ADR-7/gates/1", "approved", "late"), -1);
}

ENGINE_TEST(a_validation_fail_is_a_failure_like_any_other)
{
	workflow(bound);
	steps_to("ADR-7/lint/1");
	answer("ADR-7/lint/1", "failed", DENIED("validation_fail"));
	steps_to("ADR-7/lint/2");
}

/* The caller may have applied it: `exec --policy`. */
ENGINE_TEST(a_script_that_the_workflow_does_not_bind_can_be_stopped_too)
{
	workflow(loose);
	steps_to("ADR-7/lint/1");
	answer("ADR-7/lint/1", NULL, DENIED("hard_abort"));
	steps_to("failed: security violation in 'ADR-7/lint/1': write 'x': so it is");
}

ENGINE_TEST(what_an_agent_says_is_no_violation)
{
	workflow(bound);
	steps_to("ADR-7/lint/1");
	answered("ADR-7/lint/1", "passed", "passed", "ADR-7/gates/1 ADR-7/gates/2");
	answer("ADR-7/gates/1", NULL, "{\"status\":\"no\",\"violation\":\"hard_abort\"}");
	answer("ADR-7/gates/2", "passed", "passed");
	steps_to("ADR-7/lint/2");
}

ENGINE_TEST(an_unknown_meaning_is_no_violation)
{
	workflow(bound);
	steps_to("ADR-7/lint/1");
	answer("ADR-7/lint/1", NULL, DENIED("perhaps"));
	steps_to("ADR-7/lint/2");
}

ENGINE_TEST(event_and_answer_are_one_commit)
{
	FILES_ONLY;
	CLEANUP(buf_release) struct buf journal = BUF_INIT;
	const char *event, *answered;

	workflow(bound);
	steps_to("ADR-7/lint/1");
	answer("ADR-7/lint/1", "failed", DENIED("hard_abort"));
	assert_true(tree_read(arena_printf(&t.arena, "%s/ADR-7.events.jsonl", t.dir), &journal));
	event = strstr(journal.s, "\"type\":\"security_violation\",\"action\":\"ADR-7/lint/1\","
				  "\"policy\":\"build\",\"violation\":\"hard_abort\",\"rule\":"
				  "\"write\",\"word\":\"x\",\"reason\":\"so it is\"}");
	assert_non_null(event);
	answered = strstr(event, "\"type\":\"answer\"");
	assert_non_null(answered);
	assert_true(strstr(event, "{\"commit\":") > answered);
	steps_to("failed: security violation in 'ADR-7/lint/1': write 'x': so it is");
}

ENGINE_TEST(the_same_answer_again_is_noted_once)
{
	const char *event;

	workflow(bound);
	steps_to("ADR-7/lint/1");
	answer("ADR-7/lint/1", "failed", DENIED("hard_abort"));
	answer("ADR-7/lint/1", "failed", DENIED("hard_abort"));
	event = strstr(events(), "\"security_violation\"");
	assert_non_null(event);
	assert_null(strstr(event + 1, "\"security_violation\""));
}
