#include "tests/lib/replay_rig.h"

struct history_place place;
struct replay_result v;

int replay_setup(void **state)
{
	int rc = engine_rig_setup(state);

	assert_int_equal(history_find(&t.arena, t.path, &place, &t.err), 0);
	return rc;
}

void verify(void)
{
	assert_int_equal(replay_verify(&t.arena, &place, &v, &t.err), 0);
}

void assert_same(void)
{
	verify();
	if (v.differ)
		print_error("revision %lld (%s), line %zu of %s:\n%s\n%s\n", (long long)v.first.rev,
			v.first.op, v.first.line, v.first.what, v.first.recorded, v.first.replayed);
	assert_int_equal(v.differ, 0);
}

size_t taken(const char *op)
{
	for (size_t i = 0; i < v.taken.n; i++)
		if (strcmp(v.taken.items[i].op, op) == 0)
			return v.taken.items[i].n;
	return 0;
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
