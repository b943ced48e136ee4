#include "src/verify/history.h"
#include "tests/lib/replay_rig.h"
#include "tests/lib/wire.h"

REPLAY_TEST(every_revision_is_restored_byte_for_byte)
{
	char *first, *second;

	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	first = document();
	assert_string_equal(at_rev(last_rev()), first);
	write_by_hand("not a document \xff\n");
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_string_equal(at_rev(last_rev()), "not a document \xff\n");
	second = at_rev(last_rev() - 1);
	assert_string_equal(second, first);
}

REPLAY_TEST(an_unknown_revision_is_refused)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_fails(history_document(&place, 99, &text, NULL, &t.err), t.err, ERR_INPUT);
	assert_non_null(strstr(t.err.text, "has no revision 99: the last is "));
}

REPLAY_TEST(a_broken_edit_is_undone_and_stays_in_the_history)
{
	FILES_ONLY;
	struct history_restored done;
	char *good;

	a_run();
	good = document();
	replay_edit("state: ", "estate: ");
	assert_int_equal(history_restore(&place, 0, &done, &t.err), 0);
	assert_string_equal(document(), good);
	assert_int_equal(done.replaced, done.to + 1);
	assert_non_null(strstr(at_rev(done.replaced), "estate: "));
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_same();
}

/* Commits of events alone have no document of their own. */
REPLAY_TEST(the_last_good_revision_is_the_one_that_changed_the_document)
{
	FILES_ONLY;
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int64_t changed, made;

	a_run();
	changed = last_rev();
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	(void)context_op(&f, "exec");
	(void)context_event(&f, "noted");
	assert_int_equal(context_log(&f, &t.err), 0);
	assert_int_equal(last_rev(), changed + 1);
	assert_int_equal(history_last_good(&place, NULL, &text, &made, &t.err), 0);
	assert_int_equal(made, changed);
	assert_string_equal(text.s, document());
}

REPLAY_TEST(a_deleted_document_is_restored)
{
	FILES_ONLY;
	struct history_restored done;
	char *good;

	a_run();
	good = document();
	assert_int_equal(unlink(t.path), 0);
	assert_int_equal(history_restore(&place, 0, &done, &t.err), 0);
	assert_string_equal(document(), good);
	assert_same();
}

REPLAY_TEST(a_good_document_is_only_replaced_on_demand)
{
	FILES_ONLY;
	struct history_restored done;

	a_run();
	assert_int_equal(history_restore(&place, 0, &done, &t.err), 0);
	assert_int_equal(done.to, 0);
	assert_int_equal(history_restore(&place, 2, &done, &t.err), 0);
	assert_string_equal(document(), at_rev(2));
	assert_int_equal(history_restore(&place, 2, &done, &t.err), 0);
	assert_int_equal(done.replaced, 0);
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
}

REPLAY_TEST(ids_are_not_reused_after_a_restore)
{
	struct history_restored done;
	int64_t rev;

	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	rev = last_rev();
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	answer("ADR-7/researching/2", "briefed", "The brief.");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_int_equal(history_restore(&place, rev, &done, &t.err), 0);
	returns_to("ADR-7/researching/3");
}

static char *fork_as(const char *id, int64_t rev, struct history_forked *made)
{
	char *to = arena_printf(&t.arena, "%s/%s.md", t.dir, id);

	return history_fork(&t.arena, &place, rev, id, to, made, &t.err) < 0 ? NULL : to;
}

REPLAY_TEST(a_fork_requests_again_under_its_own_ids)
{
	FILES_ONLY;
	struct history_forked made;
	char *source, *old = t.path;

	a_run();
	source = document();
	setenv("DEV_TEAM_NOW", "2031-01-01T00:00:00Z", 1);
	t.path = fork_as("ADR-8", last_rev(), &made);
	assert_non_null(t.path);
	assert_int_equal(made.dropped, 1);
	assert_int_equal(made.carried, 0);
	assert_value("started", "2031-01-01T00:00:00Z");
	assert_value("last_updated", "2031-01-01T00:00:00Z");
	assert_value(WIRE_ITEM_KEY, "ADR-8");
	assert_section(CONTEXT_ACTIONS, "");
	assert_true(document_has("# ADR-8 Dev Team Context"));
	assert_int_equal(step_as("ADR-8", false, NULL), 0);
	assert_string_equal(summary(), "ADR-8/fixing-pr/2");
	assert_string_equal(read_all(old), source);
	assert_int_equal(history_find(&t.arena, t.path, &place, &t.err), 0);
	assert_same();
	assert_int_equal(taken("fork"), 1);
}

REPLAY_TEST(a_fork_keeps_answers)
{
	struct history_forked made;

	by_hand("signoff", PR, "");
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/signoff/1", "approved", "Approved.");
	t.path = fork_as("ADR-8", last_rev(), &made);
	assert_non_null(t.path);
	assert_int_equal(made.carried, 1);
	assert_int_equal(made.dropped, 2);
	assert_non_null(strstr(section(CONTEXT_ACTIONS), "\"id\":\"ADR-8/signoff/1\""));
	assert_null(strstr(section(CONTEXT_ACTIONS), "ADR-7/"));
	assert_int_equal(step_as("ADR-8", false, NULL), 0);
	assert_string_equal(summary(), "ADR-8/signoff/4");
}

REPLAY_TEST(a_fork_has_no_pull_request)
{
	struct history_forked made;

	by_hand("reviewing", "", "");
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/reviewing/1", "pr_created", "https://git.example/o/r/pull/7");
	t.path = fork_as("ADR-8", last_rev(), &made);
	assert_non_null(t.path);
	assert_int_equal(made.carried, 0);
	assert_section(CONTEXT_PULL_REQUEST, "");
	assert_int_equal(step_as("ADR-8", false, NULL), 0);
	assert_string_equal(summary(), "ADR-8/reviewing/2");
}

REPLAY_TEST(a_fork_calls_the_troubleshooter_again)
{
	struct history_forked made;

	by_hand("implementing", WIRE_FAILURES ": 3\n", "");
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/troubleshooter/1", "continue", "{\"action\":\"continue\",\"reason\":\"go\"}");
	t.path = fork_as("ADR-8", last_rev(), &made);
	assert_non_null(t.path);
	assert_int_equal(made.carried, 0);
	assert_int_equal(made.dropped, 1);
	assert_int_equal(step_as("ADR-8", false, NULL), 0);
	assert_string_equal(summary(), "ADR-8/troubleshooter/2 " WIRE_FAILURES ":3");
}

/* Nor is a lock left beside the files of another. */
static void refuses_to_fork(const char *name, const char *text)
{
	char *other = arena_printf(&t.arena, "%s/%s", t.dir, name);
	struct history_forked made;
	size_t before;

	tree_write(other, str_of(text));
	before = tree_entries(t.dir);
	assert_null(fork_as("ADR-8", 1, &made));
	assert_int_equal(t.err.code, ERR_STATE);
	assert_string_equal(
		t.err.text, arena_printf(&t.arena, "'%s/ADR-8.md' is there already", t.dir));
	assert_string_equal(read_all(other), text);
	assert_int_equal(tree_entries(t.dir), before);
	assert_int_equal(unlink(other), 0);
}

REPLAY_TEST(a_fork_never_replaces_a_document)
{
	FILES_ONLY;
	struct history_forked made;

	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	refuses_to_fork("ADR-8.md", "mine");
	refuses_to_fork("ADR-8.events.jsonl", "mine\n");
	assert_non_null(fork_as("ADR-8", 1, &made));
	assert_null(fork_as("ADR-7", 1, &made));
	assert_int_equal(t.err.code, ERR_STATE);
}

REPLAY_TEST(a_revision_that_is_broken_or_missing_is_refused)
{
	FILES_ONLY;
	CLEANUP(buf_release) struct buf diff = BUF_INIT;
	struct history_forked made;

	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	replay_edit("\"action\":\"spawn_agent\"", "\"action\":\"other\"");
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_null(fork_as("ADR-8", last_rev(), &made));
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_null(fork_as("ADR-8", 99, &made));
	assert_int_equal(history_diff(&t.arena, &place, 99, 0, &diff, &t.err), -1);
	assert_int_equal(history_diff(&t.arena, &place, 1, 0, &diff, &t.err), 0);
	assert_non_null(strstr(diff.s, "\n+{\"action\":\"other\""));
}
