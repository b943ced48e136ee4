/* state.json and its heartbeat. */
#include "tests/lib/unit.h"
#include "src/event/artifact.h"
#include "src/base/clock.h"
#include "tests/lib/scratch.h"

enum { NOW = 1795224895 };

static struct error err;
static struct run_state got;
static bool there;

/* Reference vectors: AISDLC-247, plan, running: read back unchanged, with a heartbeat; absent:
 * none. */
SCRATCH_TEST(a_state_is_read_as_it_was_written)
{
	struct run_state s = {.issue = "AISDLC-247",
		.stage = "plan",
		.status = RUN_RUNNING,
		.started = NOW - 60,
		.heartbeat = 7};

	clock_fix(NOW);
	assert_int_equal(run_state_write(at("art"), &s, &err), 0);
	assert_int_equal(s.heartbeat, 7); /* the caller's is unchanged */
	assert_int_equal(run_state_read(&arena, at("art"), s.issue, &got, &there, &err), 0);
	clock_fix(-1);
	assert_true(there);
	assert_string_equal(got.issue, "AISDLC-247");
	assert_string_equal(got.stage, "plan");
	assert_int_equal(got.status, RUN_RUNNING);
	assert_int_equal(got.started, NOW - 60);
	assert_int_equal(got.heartbeat, NOW);
	assert_null(got.harness);
	assert_null(got.model);
	assert_null(got.worktree);
	assert_int_equal(got.port, 0);
	assert_int_equal(run_state_read(&arena, at("art"), "A-1", &got, &there, &err), 0);
	assert_false(there);
	assert_int_equal(run_state_read(&arena, at("no"), "A-1", &got, &there, &err), 0);
	assert_false(there);
}

SCRATCH_TEST(every_status_and_member_comes_back)
{
	for (int k = RUN_PENDING; k <= RUN_SKIPPED; k++) {
		struct run_state s = {"A-1", "review", (enum run_status)k, NOW, 0, "codex", "gpt-5",
			"/w/a\xc3\xa4", 65535};

		assert_int_equal(run_state_write(at("art"), &s, &err), 0);
		assert_int_equal(run_state_read(&arena, at("art"), "A-1", &got, &there, &err), 0);
		assert_int_equal(got.status, k);
		assert_string_equal(got.harness, "codex");
		assert_string_equal(got.model, "gpt-5");
		assert_string_equal(got.worktree, "/w/a\xc3\xa4");
		assert_int_equal(got.port, 65535);
	}
}

SCRATCH_TEST(what_cannot_be_written_is_refused)
{
	struct run_state s = {.issue = "_pipeline", .stage = "plan"};

	assert_int_equal(run_state_write(at("art"), &s, &err), -1);
	s = (struct run_state){.issue = "A-1"};
	assert_int_equal(run_state_write(at("art"), &s, &err), -1);
	s = (struct run_state){.issue = "A-1", .stage = "\xff"};
	assert_int_equal(run_state_write(at("art"), &s, &err), -1);
	assert_false(path_exists(at("art")));
}

/* From the reference, with fractions of a second and other members. */
SCRATCH_TEST(a_state_of_another_program_is_read)
{
	tree_write(at("art/A-1/state.json"),
		STR("{\"issueId\":\"A-1\",\"currentStage\":\"plan\",\"startedAt\":"
		    "\"2026-11-21T01:34:55.250Z\",\"lastHeartbeat\":\"2026-11-21T03:34:56+02:00\","
		    "\"status\":\"success\",\"databaseBranchKeys\":[\"k\"],\"port\":70000}"));
	assert_int_equal(run_state_read(&arena, at("art"), "A-1", &got, &there, &err), 0);
	assert_int_equal(got.started, NOW);
	assert_int_equal(got.heartbeat, NOW + 1);
	assert_int_equal(got.port, 0);
}

SCRATCH_TEST(what_is_no_state_is_refused)
{
	static const struct {
		const char *text, *fault;
	} rows[] = {
		{"{", "1:2: expected a string in double quotes"},
		{"[]", "1:1: 'issueId' is not the directory's name"},
		{"{\"issueId\":\"B-1\"}", "1:1: 'issueId' is not the directory's name"},
		{"{\"issueId\":\"A-1\"}", "1:1: 'currentStage' is missing"},
		{"{\"issueId\":\"A-1\",\"currentStage\":\"p\",\"status\":\"done\"}",
			"1:1: 'status' is not one of 'pending', 'running', 'success', 'failure', "
			"'skipped'"},
		{"{\"issueId\":\"A-1\",\"currentStage\":\"p\",\"status\":\"running\"}",
			"1:1: 'startedAt' is not a time"},
		{"{\"issueId\":\"A-1\",\"currentStage\":\"p\",\"status\":\"running\","
		 "\"startedAt\":\"2026-11-21T01:34:55Z\",\"lastHeartbeat\":\"now\"}",
			"1:1: 'lastHeartbeat' is not a time"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char line[2048];

		scratch_write("art/A-1/state.json", rows[i].text);
		assert_fails(run_state_read(&arena, at("art"), "A-1", &got, &there, &err), err,
			ERR_INPUT);
		error_format(&err, line, sizeof(line));
		assert_string_equal(line,
			arena_printf(&arena, "%s:%s", at("art/A-1/state.json"), rows[i].fault));
	}
}

TEST(a_heartbeat_gets_stale)
{
	static const struct {
		int64_t age;
		bool stale;
	} rows[] = {{301, true}, {300, false}, {299, false}, {0, false}, {-1000, false},
		{INT64_C(1) << 40, true}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run_state s = {.heartbeat = NOW};

		assert_int_equal(run_state_stale(&s, NOW + rows[i].age), rows[i].stale);
	}
}

SCRATCH_TEST(all_states_are_listed)
{
	static const char *const issues[] = {"B-2", "A-10", "A-1"};
	struct run_state *list;
	size_t n;

	assert_int_equal(run_state_list(&arena, at("art"), &list, &n, &err), 0);
	assert_int_equal(n, 0);
	for (size_t i = 0; i < COUNT(issues); i++) {
		struct run_state s = {.issue = issues[i], .stage = "plan", .status = RUN_SUCCESS};

		assert_int_equal(run_state_write(at("art"), &s, &err), 0);
	}
	scratch_write("art/stray", "a plain file");
	scratch_write("art/_pipeline/state.json", "{}");
	scratch_write("art/C-1/plan.json", "{}"); /* no state yet */
	scratch_write("art/D-1/state.json", "{");
	scratch_write("out/state.json", "{}");
	assert_int_equal(symlink(at("out"), at("art/E-1")), 0);
	assert_int_equal(run_state_list(&arena, at("art"), &list, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_string_equal(list[0].issue, "A-1");
	assert_string_equal(list[1].issue, "A-10");
	assert_string_equal(list[2].issue, "B-2");
	assert_int_equal(run_state_list(&arena, at("art/stray"), &list, &n, &err), -1);
}
