/*
 * What is remembered between ticks: counters, parking, and which events are written.
 */
#include "src/store/disk.h"
#include "src/tick/memory.h"
#include "tests/lib/scratch.h"

static struct backlog backlog;
static struct tick_memory memory;
static struct error err;

static const struct task *open_task(const char *keys)
{
	scratch_write(BACKLOG_TASKS "/x-1.md",
		arena_printf(
			&arena, "---\nid: X-1\ntitle: t\nstatus: To Do\n%s---\n- [ ] a\n", keys));
	assert_int_equal(backlog_read(&arena, base, &backlog, &err), 0);
	return backlog_find(&backlog, "X-1");
}

/* As the next tick finds it. */
static void again(void)
{
	if (memory.path) {
		assert_int_equal(tick_memory_save(&memory, &err), 0);
		tick_memory_close(&memory);
	}
	memory = (struct tick_memory){
		.arena = &arena, .path = arena_printf(&arena, "%s/.tick.json", base)};
	if (tick_memory_look(&arena, base, &memory, &err) < 0)
		fail_msg("%s", err.text);
	memory.tick = json_get_int(memory.all, "tick", 0) + 1;
}

static int memory_end(void **state)
{
	tick_memory_close(&memory);
	memory.path = NULL;
	return scratch_remove(state);
}
#define MEMORY_TEST(name) UNIT_TEST(name, scratch_make, memory_end)

MEMORY_TEST(steps_that_fail_five_times_in_a_row_park)
{
	const struct task *t = open_task("");

	for (int i = 0; i < 2; i++) {
		for (int k = 1; k < TICK_FAILURES_MAX; k++) {
			again();
			tick_memory_fail(&memory, t, "step", "no room", TICK_STEP_FAILED);
			assert_null(tick_memory_parked(&memory, t));
		}
		again();
		if (i == 0)
			tick_memory_succeed(&memory, t); /* they are not in a row */
	}
	tick_memory_fail(&memory, t, "step", "no room left", TICK_STEP_FAILED);
	again();
	tick_memory_sweep(&memory, &backlog);
	again();
	assert_int_equal(memory.tick, 12);
	assert_string_equal(tick_memory_parked(&memory, t), "no room left");
}

MEMORY_TEST(items_that_fail_three_times_park_though_steps_succeed)
{
	const struct task *t = open_task("");

	for (int i = 1; i <= TICK_ENDS_MAX; i++) {
		again();
		tick_memory_succeed(&memory, t);
		assert_true(tick_memory_end(&memory, t, "nobody can"));
		assert_false(tick_memory_end(&memory, t, "nobody can"));
		assert_null(tick_memory_parked(&memory, t));
		tick_memory_fail(&memory, t, "item", "nobody can", TICK_ITEM_FAILED);
	}
	assert_string_equal(tick_memory_parked(&memory, t), "nobody can");
}

static const char *waiting_reason(const char *keys)
{
	const struct task *t = open_task(keys);

	return tick_waiting_reason(&backlog, t);
}

MEMORY_TEST(the_reason_to_wait_is_the_first_dependency_that_is_open)
{
	scratch_write(BACKLOG_TASKS "/x-2.md", "---\nid: X-2\ntitle: t\nstatus: Done\n---\n");
	scratch_write(BACKLOG_TASKS "/x-3.md",
		"---\nid: X-3\ntitle: t\nstatus: To Do\ndependencies: X-1\n---\n- [ ] a\n");
	assert_string_equal(waiting_reason("dependencies: [X-2, x-3]\n"), "waits for 'x-3'");
	assert_string_equal(waiting_reason("dependencies: [X-2, X-9, X-3]\n"),
		"needs 'X-9', which does not exist");
	assert_string_equal(waiting_reason("dependencies: X-2\n"),
		"the next tick with a free slot looks at it");
}

static bool is_kept_with(const char *file)
{
	scratch_write(BACKLOG_TASKS "/x-1 - t.md", file);
	assert_int_equal(backlog_read(&arena, base, &backlog, &err), 0);
	tick_memory_name(&memory, &backlog);
	tick_memory_sweep(&memory, &backlog);
	return json_get(json_get(memory.all, "tasks"), "X-1");
}

/* That its file cannot be read in one tick must not end the counters of a task. */
MEMORY_TEST(a_task_without_a_file_and_a_work_item_is_forgotten)
{
	static const char *const files[] = {"---\nid: X-1\ntitle: t\nstatus: Done\n---\n",
		"---\nid: x-1\ntitle: t\nstatus: Draft\n---\n", "---\nstatus: [\n---\n"};
	const char *file = arena_printf(&arena, "%s/%s/x-1.md", base, BACKLOG_TASKS);
	const struct task *t = open_task("");

	again();
	tick_memory_fail(&memory, t, "step", "no room", TICK_STEP_FAILED);
	assert_int_equal(unlink(file), 0);
	for (size_t i = 0; i < COUNT(files); i++)
		assert_true(is_kept_with(files[i]));
	assert_string_equal(backlog.tasks[0].id, "X-1");
	scratch_write("X-1.md", "");
	assert_true(is_kept_with("---\nid: X-2\ntitle: t\nstatus: Draft\n---\n"));
	assert_int_equal(unlink(arena_printf(&arena, "%s/X-1.md", base)), 0);
	scratch_write(BACKLOG_TASKS "/x.md", "no task");
	assert_true(is_kept_with("---\nid: X-2\ntitle: t\nstatus: Draft\n---\n"));
	assert_int_equal(unlink(arena_printf(&arena, "%s/%s/x.md", base, BACKLOG_TASKS)), 0);
	assert_false(is_kept_with("---\nid: X-2\ntitle: t\nstatus: Draft\n---\n"));
}

MEMORY_TEST(counters_have_a_limit_and_a_damaged_file_is_refused)
{
	static const char *const damaged[] = {"", "[]", "{", "{\"tasks\":[]}", "{\"tick\":1}"};
	const struct task *t = open_task("");

	again();
	json_put_int(tick_memory_of(&memory, t), "failures", TICK_COUNT_MAX);
	assert_int_equal(tick_memory_count(tick_memory_of(&memory, t), "failures"), TICK_COUNT_MAX);
	json_put_str(memory.all, "idle", STR("99999999999999999999999999"));
	assert_int_equal(tick_memory_count(memory.all, "idle"), 1);
	tick_memory_close(&memory);
	for (size_t i = 0; i < COUNT(damaged); i++) {
		scratch_write(".tick.json", damaged[i]);
		assert_int_equal(tick_memory_look(&arena, base, &memory, &err), -1);
		assert_int_equal(err.code, ERR_STATE);
		assert_non_null(strstr(err.text, "is damaged: remove it"));
		tick_memory_close(&memory);
	}
}
