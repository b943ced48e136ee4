/* States that a workflow declares: an agent, a script, several at once. */
#include "tests/lib/step_rig.h"

static const char file[] =
	"---\n"
	"states:\n"
	"  audit:\n"
	"    agent: reviewer\n"
	"    skill: my:audit\n"
	"    args: [ID, for, SPEC_PATH]\n"
	"    reads: [" WIRE_BRIEF ", " WIRE_FIX " 1]\n"
	"    writes: Security Audit\n"
	"    results: {approved: clean, changes_requested: audit_failed, hopeless: give_up}\n"
	"  lint:\n"
	"    command: make lint\n"
	"    timeout: 9\n"
	"    writes: Lint\n"
	"    results: {passed: clean, failed: lint_failed}\n"
	"  gates:\n"
	"    all:\n"
	"      - {agent: reviewer, skill: s, writes: A, results: {approved: ok, no: a_no}}\n"
	"      - {command: make check, writes: B, results: {passed: ok, failed: b_no}}\n"
	"      - {agent: debugger, skill: d, writes: C, results: {fine: ok, bad: c_bad}}\n"
	"---\n"
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> audit : start\naudit --> lint : "
	"clean\n"
	"lint --> gates : clean\ngates --> done : ok\ndone --> [*]\n```\n";

static void at(const char *state, const char *keys, const char *sections)
{
	struct error err = {0};

	assert_int_equal(
		workflow_parse(&step_case.arena, "w.md", str_of(file), &step_case.workflow, &err),
		0);
	given(keys, sections);
	step_case.context.declared = workflow_state(&step_case.workflow, state)->declared;
	assert_non_null(step_case.context.declared);
	assert_ptr_equal(steps_find(&step_case.workflow, state), &steps_declared);
}

STEP_TEST(an_agent_state_asks_as_it_is_declared)
{
	at("audit", WIRE_SPEC_KEY ": a/_spec_b.md\n", "");
	requests(&steps_declared, 1);
	assert_agent(0, "reviewer", "my:audit", "ADR-7 for a/_spec_b.md",
		WIRE_BRIEF ", " WIRE_FIX " 1", "Security Audit",
		"approved | changes_requested | hopeless");
}

STEP_TEST(each_result_word_gives_its_trigger)
{
	static const struct {
		const char *sections, *trigger;
	} rows[] = {
		{SECTION("Security Audit", "{\"status\":\"approved\"}"), "clean"},
		{SECTION("Security Audit", "{\"status\":\"changes_requested\"}"), "audit_failed"},
		{SECTION("Security Audit", "{\"status\":\"hopeless\"}"), "give_up"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		at("audit", "", rows[i].sections);
		requests(&steps_declared, 0);
		decides(&steps_declared, rows[i].trigger);
	}
}

STEP_TEST(a_recorded_word_gives_its_trigger_whatever_the_prose)
{
	put_answered("Security Audit", "approved | changes_requested | hopeless", "hopeless");
	at("audit", "", SECTION("Security Audit", "approved"));
	decides(&steps_declared, "give_up");
}

STEP_TEST(a_script_state_runs_its_command_in_the_repository)
{
	at("lint", "", "");
	requests(&steps_declared, 1);
	assert_script(0, "make lint", 9, "Lint");
}

STEP_TEST(a_script_state_has_the_triggers_of_its_words)
{
	at("lint", "", SECTION("Lint", "{\"status\":\"passed\"}"));
	decides(&steps_declared, "clean");
	at("lint", "", SECTION("Lint", "{\"status\":\"failed\"}"));
	decides(&steps_declared, "lint_failed");
}

#define YES_A SECTION("A", "{\"status\":\"approved\"}")
#define YES_B SECTION("B", "{\"status\":\"passed\"}")
#define YES_C SECTION("C", "{\"status\":\"fine\"}")
#define NO_A  SECTION("A", "{\"status\":\"no\"}")
#define NO_B  SECTION("B", "{\"status\":\"failed\"}")
#define NO_C  SECTION("C", "{\"status\":\"bad\"}")

STEP_TEST(several_are_asked_at_once)
{
	at("gates", "", "");
	requests(&steps_declared, 3);
	assert_agent(0, "reviewer", "s", "", "", "A", "approved | no");
	assert_script(1, "make check", 600, "B");
	assert_agent(2, "debugger", "d", "", "", "C", "fine | bad");
}

STEP_TEST(as_many_are_asked_as_are_declared)
{
	enum { MANY = 20 };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};

	buf_adds(&text, "---\nstates:\n  many:\n    all:\n");
	for (int i = 0; i < MANY; i++)
		buf_addf(&text,
			"      - {agent: a%d, skill: s, writes: W%d, reads: [R1, R2, R3, R4, R5, "
			"R6], "
			"results: {approved: ok, no: bad}}\n",
			i, i);
	buf_adds(&text, "---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> many : start\n"
			"many --> done : ok\ndone --> [*]\n```\n");
	assert_int_equal(
		workflow_parse(&step_case.arena, "w.md", buf_str(&text), &step_case.workflow, &err),
		0);
	given("", "");
	step_case.context.declared = workflow_state(&step_case.workflow, "many")->declared;
	requests(&steps_declared, MANY);
	for (int i = 0; i < MANY; i++)
		assert_agent((size_t)i, arena_printf(&step_case.arena, "a%d", i), "s", "",
			"R1, R2, R3, R4, R5, R6", arena_printf(&step_case.arena, "W%d", i),
			"approved | no");
}

STEP_TEST(of_several_what_is_missing_is_requested_together)
{
	at("gates", "", YES_B);
	requests(&steps_declared, 2);
	assert_string_equal(step_case.context.requests.items[0].writes, "A");
	assert_string_equal(step_case.context.requests.items[1].writes, "C");
	at("gates", "", YES_A YES_B);
	requests(&steps_declared, 1);
	assert_string_equal(step_case.context.requests.items[0].writes, "C");
}

STEP_TEST(of_several_all_good_gives_the_good_trigger)
{
	at("gates", "", YES_C YES_B YES_A);
	requests(&steps_declared, 0);
	decides(&steps_declared, "ok");
}

STEP_TEST(of_several_the_first_bad_one_in_file_order_decides)
{
	static const struct {
		const char *sections, *trigger;
	} rows[] = {
		{NO_A YES_B YES_C, "a_no"},
		{YES_A NO_B YES_C, "b_no"},
		{YES_A YES_B NO_C, "c_bad"},
		{NO_C NO_B YES_A, "b_no"},
		{NO_C NO_B NO_A, "a_no"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		at("gates", "", rows[i].sections);
		decides(&steps_declared, rows[i].trigger);
	}
}
