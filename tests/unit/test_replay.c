#include "src/replay/fork.h"
#include "src/replay/restore.h"
#include "src/replay/verify.h"
#include "tests/unit/engine_rig.h"

static struct history_place place;
static struct verified v;

static int replay_setup(void **state)
{
	int rc = rig_setup(state);

	assert_int_equal(history_find(&t.arena, t.path, &place, &t.err), 0);
	return rc;
}

#define replay_test(f) cmocka_unit_test_setup_teardown(f, replay_setup, rig_teardown)

static void verify(void)
{
	assert_int_equal(verify_history(&t.arena, &place, &v, &t.err), 0);
}

static void assert_same(void)
{
	verify();
	if (v.differ)
		print_error("revision %lld (%s), line %zu of %s:\n%s\n%s\n", (long long)v.first.rev,
			v.first.op, v.first.line, v.first.what, v.first.recorded, v.first.replayed);
	assert_int_equal(v.differ, 0);
}

static size_t taken(const char *op)
{
	for (size_t i = 0; i < v.n_taken; i++)
		if (strcmp(v.taken[i].op, op) == 0)
			return v.taken[i].n;
	return 0;
}

static char *at_rev(int64_t rev)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	assert_int_equal(history_document(&place, rev, &text, NULL, &t.err), 0);
	return arena_dup(&t.arena, buf_str(&text));
}

static int64_t last_rev(void)
{
	CLEANUP(history_close) struct history h = {0};
	int64_t rev = 0;

	assert_int_equal(history_open(&h, &place, &t.err), 0);
	while (history_next(&h, &t.err) > 0)
		rev = h.commit.rev;
	return rev;
}

static void write_by_hand(const char *text)
{
	tree_write(t.path, str_of(text));
}

/* `from` in the document becomes `to`, as an editor does it. */
static void edit(const char *from, const char *to)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *old = document(), *found = strstr(old, from);

	assert_non_null(found);
	buf_add(&text, (struct str){old, (size_t)(found - old)});
	buf_adds(&text, to);
	buf_adds(&text, found + strlen(from));
	write_by_hand(text.s);
}

/* A run that meets all that comes from outside. */
static void a_run(void)
{
	t.checks = "build: failed";
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

static void what_was_done_comes_out_the_same_again(void **state)
{
	(void)state;
	a_run();
	assert_same();
	assert_int_equal(v.redone, v.commits);
	assert_true(v.commits > 12);
	assert_true(v.events > 15);
}

static void a_push_that_failed_is_done_again(void **state)
{
	(void)state;
	by_hand("validating", "", "");
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/validating/1", "passed", "passed");
	t.push_fails = true;
	assert_int_equal(step_as("ADR-7", true, NULL), -1);
	t.push_fails = false;
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
}

static void time_is_that_of_then(void **state)
{
	(void)state;
	a_run();
	setenv("DEV_TEAM_NOW", "2031-01-01T00:00:00Z", 1);
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
	assert_true(document_has("last_updated: 2031-01-01T00:00:00Z"));
}

static void a_lie_is_found_and_told_with_its_line(void **state)
{
	CLEANUP(context_close) struct context_file f = {0};

	(void)state;
	t.lies = true;
	a_run();
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	json_put_str(context_op(&f, "set"), "key", STR("fix_iteration"));
	json_put_str(f.op, "value", STR("1"));
	context_set_count(&f.doc, "fix_iteration", 2);
	assert_int_equal(context_save(&f, &t.err), 0);
	context_close(&f);
	f = (struct context_file){0};
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	verify();
	assert_int_equal(v.differ, 1);
	assert_string_equal(v.first.op, "set");
	assert_string_equal(v.first.what, "document");
	assert_string_equal(v.first.recorded, "fix_iteration: 2");
	assert_string_equal(v.first.replayed, "fix_iteration: 1");
	assert_int_equal(v.first.line, 5);
}

static void events_that_were_not_so_are_found(void **state)
{
	CLEANUP(context_close) struct context_file f = {0};

	(void)state;
	t.lies = true;
	a_run();
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	json_put_str(context_op(&f, "set"), "key", STR("note"));
	json_put_str(f.op, "value", STR("x"));
	(void)context_event(&f, "done");
	context_set(&f.doc, "note", STR("x"));
	assert_int_equal(context_save(&f, &t.err), 0);
	context_close(&f);
	f = (struct context_file){0};
	verify();
	assert_int_equal(v.differ, 1);
	assert_string_equal(v.first.what, "events");
	assert_non_null(strstr(v.first.recorded, "\"type\":\"done\""));
	assert_non_null(strstr(v.first.replayed, "\"type\":\"set\""));
}

static void an_edit_by_hand_is_an_input_and_found_by_the_store(void **state)
{
	(void)state;
	a_run();
	edit("The brief.", "Another brief.");
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_int_equal(unlink(t.path), 0);
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_same();
	assert_int_equal(taken("edit"), 1);
	assert_int_equal(taken("removed"), 1);
}

static void a_refused_answer_is_taken_as_it_is(void **state)
{
	(void)state;
	a_run();
	assert_int_equal(answer_as("ADR-7/nonesuch/1", "fixed", "?"), -1);
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_same();
	assert_int_equal(taken("record"), 1);
}

static void a_workflow_that_changed_is_used_from_there_on(void **state)
{
	(void)state;
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	workflow("---\nlimits: {max_actions: 7}\n---\n" IMPLEMENT);
	answer("ADR-7/researching/1", "briefed", "b");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_true(events_have("\"type\":\"workflow\""));
	assert_same();
}

static void a_damaged_journal_is_told_with_its_line(void **state)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *journal = arena_printf(&t.arena, "%s/ADR-7.events.jsonl", t.dir), *at, line[2048];

	(void)state;
	t.lies = true;
	a_run();
	assert_true(tree_read(journal, &text));
	at = strstr(text.s, "researching -> ");
	at = at ? at : strstr(text.s, "implementing");
	at[0] ^= 1;
	tree_write(journal, buf_str(&text));
	assert_int_equal(verify_history(&t.arena, &place, &v, &t.err), -1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_true(t.err.line > 0);
	error_format(&t.err, line, sizeof(line));
	assert_non_null(strstr(line, "ADR-7.events.jsonl:"));
}

static void every_revision_can_be_had_byte_for_byte(void **state)
{
	char *first, *second;

	(void)state;
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	first = document();
	assert_string_equal(at_rev(last_rev()), first);
	write_by_hand("not a document \xff\n");
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	assert_string_equal(at_rev(last_rev()), "not a document \xff\n");
	second = at_rev(last_rev() - 1);
	assert_string_equal(second, first);
}

static void a_revision_that_there_is_not_is_told(void **state)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	(void)state;
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_int_equal(history_document(&place, 99, &text, NULL, &t.err), -1);
	assert_int_equal(t.err.code, ERR_INPUT);
	assert_non_null(strstr(t.err.text, "has no revision 99: the last is "));
}

static void a_broken_edit_is_undone_and_stays_in_the_history(void **state)
{
	struct restored done;
	char *good;

	(void)state;
	a_run();
	good = document();
	edit("state: ", "estate: ");
	assert_int_equal(restore_document(&place, 0, &done, &t.err), 0);
	assert_string_equal(document(), good);
	assert_int_equal(done.stood, done.to + 1);
	assert_non_null(strstr(at_rev(done.stood), "estate: "));
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_same();
}

static void a_document_that_is_gone_is_put_back(void **state)
{
	struct restored done;
	char *good;

	(void)state;
	a_run();
	good = document();
	assert_int_equal(unlink(t.path), 0);
	assert_int_equal(restore_document(&place, 0, &done, &t.err), 0);
	assert_string_equal(document(), good);
	assert_same();
}

static void a_good_document_is_only_replaced_on_demand(void **state)
{
	struct restored done;

	(void)state;
	a_run();
	assert_int_equal(restore_document(&place, 0, &done, &t.err), 0);
	assert_int_equal(done.to, 0);
	assert_int_equal(restore_document(&place, 2, &done, &t.err), 0);
	assert_string_equal(document(), at_rev(2));
	assert_int_equal(restore_document(&place, 2, &done, &t.err), 0);
	assert_int_equal(done.stood, 0);
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
}

static void ids_that_were_given_out_are_not_given_out_again(void **state)
{
	struct restored done;

	(void)state;
	a_run();
	assert_int_equal(restore_document(&place, 2, &done, &t.err), 0);
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_string_equal(summary(), "ADR-7/researching/3");
}

static char *fork_as(const char *id, int64_t rev, struct forked *made)
{
	char *to = arena_printf(&t.arena, "%s/%s.md", t.dir, id);

	return fork_item(&t.arena, &place, rev, id, to, made, &t.err) < 0 ? NULL : to;
}

static void a_fork_asks_anew_under_ids_of_its_own(void **state)
{
	struct forked made;
	char *source, *old = t.path;

	(void)state;
	a_run();
	source = document();
	t.path = fork_as("ADR-8", last_rev(), &made);
	assert_non_null(t.path);
	assert_int_equal(made.dropped, 1);
	assert_int_equal(made.carried, 0);
	assert_value("work_item_id", "ADR-8");
	assert_value("revision", "1");
	assert_section(CONTEXT_ACTIONS, "");
	assert_true(document_has("# ADR-8 Dev Team Context"));
	assert_int_equal(step_as("ADR-8", false, NULL), 0);
	assert_string_equal(summary(), "ADR-8/fixing-pr/2");
	assert_string_equal(read_all(old), source);
	assert_int_equal(history_find(&t.arena, t.path, &place, &t.err), 0);
	assert_same();
	assert_int_equal(taken("fork"), 1);
}

static void a_fork_keeps_answers_that_are_there(void **state)
{
	struct forked made;

	(void)state;
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

static void a_fork_keeps_the_word_of_the_troubleshooter(void **state)
{
	struct forked made;

	(void)state;
	by_hand("implementing", "consecutive_failures: 3\n", "");
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/troubleshooter/1", "continue", "{\"action\":\"continue\",\"reason\":\"go\"}");
	t.path = fork_as("ADR-8", last_rev(), &made);
	assert_non_null(t.path);
	assert_int_equal(made.carried, 1);
	assert_int_equal(step_as("ADR-8", false, NULL), 0);
	assert_string_equal(summary(), "ADR-8/implementing/1");
	assert_value("consecutive_failures", "0");
}

static void a_fork_never_takes_the_place_of_another(void **state)
{
	struct forked made;
	char *other = arena_printf(&t.arena, "%s/ADR-8.md", t.dir);

	(void)state;
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	tree_write(other, STR("mine"));
	assert_null(fork_as("ADR-8", 1, &made));
	assert_int_equal(t.err.code, ERR_STATE);
	assert_string_equal(read_all(other), "mine");
	assert_null(fork_as("ADR-7", 1, &made));
	assert_int_equal(t.err.code, ERR_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		replay_test(what_was_done_comes_out_the_same_again),
		replay_test(a_push_that_failed_is_done_again),
		replay_test(time_is_that_of_then),
		replay_test(a_lie_is_found_and_told_with_its_line),
		replay_test(events_that_were_not_so_are_found),
		replay_test(an_edit_by_hand_is_an_input_and_found_by_the_store),
		replay_test(a_refused_answer_is_taken_as_it_is),
		replay_test(a_workflow_that_changed_is_used_from_there_on),
		replay_test(a_damaged_journal_is_told_with_its_line),
		replay_test(every_revision_can_be_had_byte_for_byte),
		replay_test(a_revision_that_there_is_not_is_told),
		replay_test(a_broken_edit_is_undone_and_stays_in_the_history),
		replay_test(a_document_that_is_gone_is_put_back),
		replay_test(a_good_document_is_only_replaced_on_demand),
		replay_test(ids_that_were_given_out_are_not_given_out_again),
		replay_test(a_fork_asks_anew_under_ids_of_its_own),
		replay_test(a_fork_keeps_answers_that_are_there),
		replay_test(a_fork_keeps_the_word_of_the_troubleshooter),
		replay_test(a_fork_never_takes_the_place_of_another),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
