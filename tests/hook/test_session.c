/* session.c: what a session of the client drives. */
#include "src/hook/hook.h"
#include "tests/lib/shell.h"

static struct error err;
static struct hook_items items;

static int enter(void **state)
{
	if (scratch_make(state) < 0)
		return -1;
	return setenv("DEV_TEAM_STATE_DIR", at("s"), 1);
}

#define SESSION_TEST(name) UNIT_TEST(name, enter, scratch_remove)

static struct hook_item item_of(const char *id)
{
	return (struct hook_item){.context_file = arena_printf(&arena, "/state/%s.md", id),
		.id = id,
		.workflow = "implement-task",
		.repo = "/repo",
		.form = "command"};
}

static void begin(const char *session, const char *id)
{
	struct hook_item item = item_of(id);

	assert_int_equal(hook_session_begin(&arena, session, &item, &err), 0);
}

static void end(const char *session, const char *id)
{
	struct hook_item item = item_of(id);

	assert_int_equal(hook_session_end(&arena, session, item.context_file, &err), 0);
}

static size_t count(const char *session)
{
	assert_int_equal(hook_session_items(&arena, session, &items, &err), 0);
	return items.n;
}

#define RECORD "s/sessions/ann.events.jsonl"

SESSION_TEST(a_record_is_there_while_the_session_drives_an_item)
{
	assert_int_equal(count("ann"), 0);
	begin("ann", "A-1");
	begin("ann", "A-2");
	assert_int_equal(count("ann"), 2);
	assert_int_equal(count("bob"), 0);
	end("ann", "A-1");
	assert_int_equal(count("ann"), 1);
	assert_string_equal(items.items[0].id, "A-2");
	assert_string_equal(items.items[0].context_file, "/state/A-2.md");
	assert_string_equal(items.items[0].workflow, "implement-task");
	assert_string_equal(items.items[0].repo, "/repo");
	assert_string_equal(items.items[0].form, "command");
	assert_true(path_exists(at(RECORD)));
	end("ann", "A-2");
	assert_false(path_exists(at(RECORD)));
	assert_int_equal(count("ann"), 0);
	begin("ann", "A-1");
	assert_int_equal(count("ann"), 1);
}

SESSION_TEST(an_item_that_is_driven_already_writes_nothing)
{
	const char *before;

	begin("ann", "A-1");
	before = scratch_read(RECORD);
	begin("ann", "A-1");
	assert_string_equal(scratch_read(RECORD), before);
}

SESSION_TEST(the_end_of_what_is_not_driven_changes_nothing)
{
	end("ann", "A-1");
	assert_false(path_exists(at("s")));
	begin("ann", "A-1");
	end("ann", "A-2");
	end("bob", "A-1");
	assert_int_equal(count("ann"), 1);
	assert_false(path_exists(at("s/sessions/bob.events.jsonl")));
}

/* It becomes a file name. */
SESSION_TEST(a_session_id_is_checked)
{
	static const char *const bad[] = {"", "../x", "a/b", ".x", "a b", "a..b"};
	struct hook_item item = item_of("A-1");

	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_fails(hook_session_begin(&arena, bad[i], &item, &err), err, ERR_INPUT);
		assert_int_equal(count(bad[i]), 0);
		end(bad[i], "A-1");
	}
	assert_false(path_exists(at("s")));
	assert_int_equal(hook_session_check("d3e37afe-22b2-436d-a736-ff0f73fc5c2b", &err), 0);
}

static unsigned stop(const char *id, const char *mark)
{
	struct hook_item item = item_of(id);
	unsigned n;

	assert_int_equal(hook_session_stop(&arena, "ann", item.context_file, mark, &n, &err), 0);
	return n;
}

SESSION_TEST(ends_of_turns_are_counted_until_there_is_progress)
{
	const char *before;

	begin("ann", "A-1");
	begin("ann", "A-2");
	for (unsigned i = 1; i <= HOOK_STOPS_MAX; i++)
		assert_int_equal(stop("A-1", "m"), i);
	before = scratch_read(RECORD);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(stop("A-1", "m"), HOOK_STOPS_MAX + 1);
	assert_string_equal(scratch_read(RECORD), before);
	assert_int_equal(stop("A-2", "m"), 1);
	assert_int_equal(stop("A-1", "mm"), 1);
	assert_int_equal(stop("A-1", "m"), 1);
	end("ann", "A-1");
	begin("ann", "A-1");
	assert_int_equal(stop("A-1", "m"), 1);
	assert_int_equal(count("ann"), 2);
}

SESSION_TEST(only_a_session_that_drives_an_item_counts)
{
	unsigned n;

	assert_int_equal(hook_session_stop(&arena, "ann", "/x.md", "m", &n, &err), -1);
	assert_false(path_exists(at("s/sessions")));
}

SESSION_TEST(the_sessions_are_those_that_have_a_record)
{
	struct store_paths sessions;

	assert_int_equal(hook_sessions(&arena, &sessions, &err), 0);
	assert_int_equal(sessions.n, 0);
	begin("bob", "A-1");
	begin("ann", "A-2");
	assert_int_equal(hook_sessions(&arena, &sessions, &err), 0);
	assert_int_equal(sessions.n, 2);
	assert_string_equal(sessions.items[0], "ann");
	end("bob", "A-1");
	assert_int_equal(hook_sessions(&arena, &sessions, &err), 0);
	assert_int_equal(sessions.n, 1);
}

SESSION_TEST(a_record_that_cannot_be_read_is_an_error)
{
	scratch_write(RECORD, "no journal\n");
	assert_int_equal(hook_session_items(&arena, "ann", &items, &err), -1);
	assert_int_equal(hook_session_end(&arena, "ann", "/state/A-1.md", &err), -1);
}

TEST(only_a_done_that_asks_nothing_is_an_end)
{
	static const char *const more[] = {"", "{}", "[]", "[{\"action\":\"spawn_agent\"}]",
		"[{\"action\":\"done\",\"result\":\"failed\",\"question\":\"Which?\"}]"};

	for (size_t i = 0; i < COUNT(more); i++)
		assert_false(hook_is_end(str_of(more[i])));
	assert_true(hook_is_end(STR("[{\"action\":\"done\",\"result\":\"failed\"}]\n")));
}
