#include "tests/lib/replay_rig.h"

struct history_place place;
struct replay_seen v;
static json *result;

int replay_setup(void **state)
{
	int rc = engine_rig_setup(state);

	assert_int_equal(history_find(&t.arena, t.path, &place, &t.err), 0);
	return rc;
}

int replay_teardown(void **state)
{
	json_free(&result);
	return engine_rig_teardown(state);
}

void verify(void)
{
	const json *first;

	json_free(&result);
	assert_int_equal(replay_verify(&place, &result, &t.err), 0);
	first = json_get(result, "first");
	v = (struct replay_seen){.commits = json_get_int(result, "commits", -1),
		.events = json_get_int(result, "events", -1),
		.replayed = json_get_int(result, "replayed", -1),
		.differ = json_get_int(result, "differ", -1),
		.first = {.op = json_get_str(first, "op"),
			.what = json_get_str(first, "what"),
			.recorded = json_get_str(first, "recorded"),
			.replayed = json_get_str(first, "replayed"),
			.by = json_get_str(first, "by"),
			.line = json_get_int(first, "line", 0)},
		.taken = json_get(result, "taken")};
}

void assert_same(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	verify();
	json_print_pretty(&text, result);
	if (v.differ)
		print_error("%s", text.s);
	assert_int_equal(v.differ, 0);
}

int64_t taken(const char *op)
{
	return json_get_int(v.taken, op, 0);
}

char *at_rev(int64_t rev)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_int_equal(history_document(&place, rev, &text, NULL, &t.err), 0);
	return arena_dup(&t.arena, buf_str(&text));
}

int64_t last_rev(void)
{
	CLEANUP(history_close) struct history h = {0};
	int64_t rev = 0;

	assert_int_equal(history_open(&h, &place, &(struct store_range){0}, &t.err), 0);
	while (history_next(&h, &t.err) > 0)
		rev = h.commit.rev;
	return rev;
}

void replay_edit(const char *from, const char *to)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *old = document(), *found = strstr(old, from);

	assert_non_null(found);
	buf_add(&text, (struct str){old, (size_t)(found - old)});
	buf_adds(&text, to);
	buf_adds(&text, found + strlen(from));
	write_by_hand(text.s);
}

void a_run(void)
{
	t.checks = "build: failed";
	t.comments = "ada: why?";
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	answer("ADR-7/researching/2", "briefed", "The brief.\n\n");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	answer("ADR-7/implementing/1", "implemented", "  Did it.");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	t.running = "ADR-7/validating/1";
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	t.running = NULL;
	answer("ADR-7/validating/1", "passed", "passed");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	answer("ADR-7/reviewing/1", "pr_created", "https://github.com/o/r/pull/7");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	answer("ADR-7/reviewing/2", "changes_requested", "No.");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
}

char *journal_path(void)
{
	return arena_printf(&t.arena, "%s/ADR-7.events.jsonl", t.dir);
}
