#include "src/graph/manifest.h"
#include "src/store/store.h"
#include "tests/lib/run.h"
#include "tests/lib/scratch.h"

static struct error err;

static const char *const flags[] = {"a", "b"};

/* The flags that are set after the action has ended with this update; NULL: it has none. */
static const char *ask(const char *action, const char *update)
{
	CLEANUP(json_free) json *facts = NULL, *given = NULL;
	struct project_query q = {.document = at("c/ADR-7.md"),
		.directory = base,
		.action = action,
		.flags = {flags, COUNT(flags)},
		.paths = {(const char *const[]){"here", "gone"}, 2}};

	if (update)
		assert_int_equal(json_parse(&given, str_of(update), &err), 0);
	q.update = given;
	if (project_ask(&arena, &q, &facts, &err) < 0)
		return err.text;
	return arena_dup(&arena, json_print_in(&arena, json_copy(facts)));
}

static const char *value(const char *key)
{
	CLEANUP(store_close) struct store *s = NULL;
	struct store_kv kv;

	assert_int_equal(
		store_open(&s, store_backend(), at("shared"), "context", STORE_READ, 0, &err), 0);
	assert_int_equal(store_get(s, &arena, key, &kv, &err), STORE_OK);
	return kv.mod ? arena_dup(&arena, kv.value) : "";
}

SCRATCH_TEST(an_action_changes_the_project_once)
{
	setenv("AGENT_PROJECT_CONTEXT_PATH", at("shared"), 1);
	scratch_write("here", "");
	assert_string_equal(ask("A/n/1", NULL), "{\"flags\":[],\"files\":[\"here\"]}");
	assert_string_equal(ask("A/n/1", "{\"flags\":{\"a\":true,\"b\":false},\"artifacts\":{\"r\":"
					 "\"r.md\"},\"tasks\":[{\"id\":\"T-1\",\"title\":\"x\"},{"
					 "\"id\":\"T-1\",\"title\":\"y\"}]}"),
		"{\"flags\":[\"a\"],\"files\":[\"here\"]}");
	/* as after a kill before the answer was saved: another run has changed the flag meanwhile
	 */
	assert_string_equal(ask("A/n/2", "{\"flags\":{\"a\":false,\"b\":true}}"),
		"{\"flags\":[\"b\"],\"files\":[\"here\"]}");
	assert_string_equal(ask("A/n/1", "{\"flags\":{\"a\":true}}"),
		"{\"flags\":[\"b\"],\"files\":[\"here\"]}");
	assert_string_equal(value("artifact/r"), "r.md");
	assert_string_equal(value("task/T-1"), "{\"id\":\"T-1\",\"title\":\"x\"}");
	unsetenv("AGENT_PROJECT_CONTEXT_PATH");
}

enum { RUNS = 8, NODES = 12 };

/* One of the flags is the run's own; all runs set the other one. */
static int run_nodes(unsigned run, void *data)
{
	(void)data;
	for (unsigned i = 0; i < NODES; i++) {
		const char *facts = ask(arena_printf(&arena, "R-%u/n/%u", run, i),
			arena_printf(&arena, "{\"flags\":{\"a\":true,\"r%u-%u\":true}}", run, i));

		if (!strstr(facts, "\"flags\":[\"a\"]"))
			return 1;
	}
	return 0;
}

SCRATCH_TEST(flags_of_runs_at_the_same_time_are_all_there)
{
	setenv("AGENT_PROJECT_CONTEXT_PATH", at("shared"), 1);
	run_wait_for_locks();
	assert_int_equal(run_processes(RUNS, run_nodes, NULL), RUNS);
	for (unsigned run = 0; run < RUNS; run++)
		for (unsigned i = 0; i < NODES; i++)
			assert_string_equal(
				value(arena_printf(&arena, "flag/r%u-%u", run, i)), "true");
	unsetenv("AGENT_PROJECT_CONTEXT_PATH");
}

SCRATCH_TEST(a_project_that_cannot_be_opened_is_an_error)
{
	scratch_write("file", "");
	setenv("AGENT_PROJECT_CONTEXT_PATH", at("file"), 1);
	assert_non_null(strstr(ask("A/n/1", NULL), "the context of the project, '"));
	unsetenv("AGENT_PROJECT_CONTEXT_PATH");
}
