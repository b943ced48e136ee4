#include "src/machine/agents.h"
#include "src/sys/digest.h"
#include "tests/lib/replay_rig.h"
#include "tests/lib/wire.h"

REPLAY_TEST(a_run_is_replayed_without_a_difference)
{
	a_run();
	assert_same();
	assert_int_equal(v.replayed, v.commits);
	assert_true(v.commits > 11);
	assert_true(v.events > 15);
}

REPLAY_TEST(a_failed_push_is_replayed)
{
	by_hand("validating", "", "");
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/validating/1", "passed", "passed");
	t.push_fails = true;
	assert_int_equal(step_as("ADR-7", true, NULL), -1);
	t.push_fails = false;
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
}

REPLAY_TEST(the_clock_is_the_recorded_one)
{
	a_run();
	setenv("DEV_TEAM_NOW", "2031-01-01T00:00:00Z", 1);
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
	assert_true(document_has("last_updated: 2031-01-01T00:00:00Z"));
}

REPLAY_TEST(a_slow_push_takes_its_recorded_time)
{
	t.owner = "ada";
	t.push_ends = "2026-11-21T02:02:02Z";
	a_run();
	assert_true(document_has("last_updated: 2026-11-21T02:02:02Z"));
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	setenv("DEV_TEAM_NOW", "2026-11-21T04:00:00Z", 1); /* the lease runs to 04:02:02 */
	t.owner = "bob";
	assert_int_equal(step_as("ADR-7", true, NULL), -1);
	setenv("DEV_TEAM_NOW", "2026-11-21T04:02:02Z", 1);
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
}

REPLAY_TEST(the_end_of_a_lease_after_the_clock_was_set_back_is_taken_as_recorded)
{
	FILES_ONLY;
	t.owner = "ada";
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	setenv("DEV_TEAM_NOW", "2026-11-20T00:00:00Z", 1);
	t.owner = "bob";
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	setenv("DEV_TEAM_NOW", "2026-11-19T00:00:00Z", 1);
	answer("ADR-7/researching/1", "briefed", "b");
	assert_same();
	assert_int_equal(taken("clock set back"), 2);
	assert_int_equal(v.replayed, v.commits - 2);
}

/* Earlier versions committed the end of such a lease with the operation that found it. */
REPLAY_TEST(a_lease_that_only_the_replay_shortens_is_no_difference)
{
	CLEANUP(context_close) struct context_file f = {0};

	FILES_ONLY;
	t.owner = "ada";
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	f.now -= 10;
	assert_int_equal(context_set_key(&f, "note", STR("x"), &t.err), 0);
	assert_same();
	assert_int_equal(v.replayed, v.commits);
}

REPLAY_TEST(a_lease_that_is_given_back_is_taken_as_recorded)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;

	FILES_ONLY;
	t.owner = "ada";
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	assert_int_equal(lease_read(&f, &h, &t.err), 0);
	(void)context_op(&f, "give back");
	lease_release(&f, &h);
	assert_int_equal(context_log(&f, &t.err), 0);
	assert_same();
	assert_int_equal(taken("give back"), 1);
	assert_int_equal(v.replayed, v.commits - 1);
}

/* Saves `done` under `key` in an operation that says that it sets `key` to `said`. `event`: the
 * type of its event; NULL: none. */
static void save_as(
	const char *op, const char *key, const char *said, const char *done, const char *event)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	json_put_texts(context_op(&f, op), "key", key, "value", said);
	if (event)
		json_put_texts(context_event(&f, event), "key", key, "value", said);
	context_set(&f.doc, key, str_of(done));
	assert_int_equal(context_save(&f, &t.err), 0);
}

REPLAY_TEST(a_changed_document_is_reported_with_its_line)
{
	t.diverges = true;
	a_run();
	save_as("set", WIRE_FIXES, "1", "2", NULL);
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	verify();
	assert_int_equal(v.differ, 1);
	assert_string_equal(v.first.op, "set");
	assert_string_equal(v.first.what, "document");
	assert_string_equal(v.first.recorded, WIRE_FIXES ": 2");
	assert_string_equal(v.first.replayed, WIRE_FIXES ": 1");
	assert_int_equal(v.first.line, 5);
	assert_null(v.first.by);
}

REPLAY_TEST(events_that_differ_are_found)
{
	t.diverges = true;
	a_run();
	save_as("set", "note", "x", "x", "done");
	save_as("edit", "note", "y", "y", "done"); /* the store adds none to an edit by hand */
	verify();
	assert_int_equal(v.differ, 2);
	assert_string_equal(v.first.what, "events");
	assert_non_null(strstr(v.first.recorded, "\"type\":\"done\""));
	assert_non_null(strstr(v.first.replayed, "\"type\":\"set\""));
}

REPLAY_TEST(an_edit_by_hand_is_an_input)
{
	FILES_ONLY;
	a_run();
	replay_edit("The brief.", "Another brief.");
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_int_equal(unlink(t.path), 0);
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_same();
	assert_int_equal(taken("edit"), 1);
	assert_int_equal(taken("removed"), 1);
	assert_int_equal(v.replayed, v.commits - 2);
}

REPLAY_TEST(an_edit_that_mends_a_broken_one_is_an_input)
{
	FILES_ONLY;
	char *good;

	a_run();
	good = document();
	replay_edit("state: ", "estate: ");
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	write_by_hand(good);
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_same();
	assert_int_equal(taken("edit"), 2);
}

REPLAY_TEST(a_refused_answer_is_taken_as_recorded)
{
	a_run();
	assert_int_equal(answer_as("ADR-7/nonesuch/1", "fixed", "?"), -1);
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_same();
	assert_int_equal(taken("record"), 1);
}

REPLAY_TEST(an_answer_to_no_outstanding_action_is_taken_as_recorded)
{
	CLEANUP(context_close) struct context_file f = {0};

	t.diverges = true;
	a_run();
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	json_put_texts(context_op(&f, "record"), "action", "ADR-7/nonesuch/1");
	context_set(&f.doc, "note", STR("x"));
	assert_int_equal(context_save(&f, &t.err), 0);
	verify();
	assert_int_equal(v.differ, 0);
	assert_int_equal(taken("record"), 1);
}

/* They are commits of events alone. */
REPLAY_TEST(turns_of_agents_are_replayed)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *members = json_object();

	a_run();
	json_put_str(members, "agent", STR("developer"));
	json_put_int(members, "turns", 7);
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	(void)context_op(&f, "run");
	agents_note_turn(&f, "fixer", "ADR-7/fixing-pr/1");
	agents_note_run(&f, members);
	assert_int_equal(context_log(&f, &t.err), 0);
	context_close(&f);
	f = (struct context_file){0};
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_same();
	assert_int_equal(v.replayed, v.commits);
	assert_int_equal(taken("run"), 0);
	assert_true(events_have("\"agent\":\"developer\",\"turns\":7"));
}

REPLAY_TEST(a_changed_workflow_is_used_from_its_first_step_on)
{
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	workflow("---\nlimits: {max_actions: 7}\n---\n" IMPLEMENT);
	answer("ADR-7/researching/1", "briefed", "b");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_true(events_have("\"type\":\"workflow\""));
	assert_same();
}

/* The machine stopped between the save of a first step that failed and the release of its lease. */
REPLAY_TEST(a_killed_step_is_replayed_up_to_its_last_commit)
{
	FILES_ONLY;
	CLEANUP(buf_release) struct buf journal = BUF_INIT;
	struct str rest, line;
	char *first;

	t.owner = "ann";
	t.n_specs = 0;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	t.n_specs = 1;
	first = at_rev(1);
	assert_true(tree_read(journal_path(), &journal));
	rest = buf_str(&journal);
	while (str_line(&rest, &line) && !str_starts(line, "{\"commit\":"))
		;
	tree_write(journal_path(), (struct str){journal.s, (size_t)(rest.p - journal.s)});
	write_by_hand(first);
	assert_same();
	assert_int_equal(v.commits, 1);
	steps_to("ADR-7/researching/1");
	assert_same();
	assert_int_equal(v.commits, 2);
}

REPLAY_TEST(a_step_that_failed_between_its_saves_is_replayed)
{
	t.n_specs = 0;
	assert_int_equal(step_as("ADR-7", false, NULL), -1);
	t.n_specs = 1;
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	assert_same();
}

REPLAY_TEST(a_commit_that_is_not_saved_again_is_reported)
{
	t.diverges = true;
	a_run();
	save_as("set", "note", "x", "x", NULL);
	save_as("set", "note", "x", "y", NULL);
	verify();
	assert_int_equal(v.differ, 2); /* the first was saved without its event */
	assert_string_equal(v.first.what, "events");
	assert_int_equal(v.first.line, 1);
	assert_non_null(strstr(v.first.replayed, "\"type\":\"set\",\"key\":\"note\""));
}

REPLAY_TEST(an_operation_that_cannot_be_run_again_is_taken_as_recorded)
{
	CLEANUP(context_close) struct context_file f = {0};

	t.diverges = true;
	a_run();
	save_as("exec", "note", "w", "w", NULL);
	save_as("exec", "note", "x", "x", NULL);
	save_as("nonesuch", "note", "y", "y", NULL);
	save_as("run", "note", "z", "z", NULL); /* has events alone if the program wrote it */
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	(void)context_op(&f, "set"); /* without its key */
	context_set(&f.doc, "note", STR("0"));
	assert_int_equal(context_save(&f, &t.err), 0);
	verify();
	assert_int_equal(v.differ, 0);
	assert_int_equal(v.replayed, v.commits - 5);
	assert_int_equal(taken("set"), 1);
	assert_int_equal(taken("exec"), 2);
	assert_int_equal(taken("nonesuch"), 1);
	assert_int_equal(taken("run"), 1);
}

REPLAY_TEST(each_revision_that_differs_is_counted_once)
{
	t.diverges = true;
	a_run();
	save_as("set", WIRE_REVIEW_FIXES, "1", "2", "set");
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	save_as("set", WIRE_REVIEW_FIXES, "4", "3", "set");
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	verify();
	assert_int_equal(v.differ, 2);
	assert_string_equal(v.first.replayed, WIRE_REVIEW_FIXES ": 1");
}

/* Saves `set` of `note` with a key of the store that `set` does not touch. */
REPLAY_TEST(keys_of_the_store_are_taken_as_recorded)
{
	CLEANUP(context_close) struct context_file f = {0};

	a_run();
	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	json_put_str(context_op(&f, "set"), "key", STR("note"));
	json_put_str(f.op, "value", STR("x"));
	json_put_texts(context_event(&f, "set"), "key", "note", "value", "x");
	context_set(&f.doc, "note", STR("x"));
	context_put_key(&f, "workflow", STR("another"));
	assert_int_equal(context_save(&f, &t.err), 0);
	context_close(&f);
	f = (struct context_file){0};
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	assert_same();
}

/* Commits an operation that does nothing. */
static void log_as(const char *op)
{
	CLEANUP(context_close) struct context_file f = {0};

	assert_int_equal(context_open(&f, t.path, CONTEXT_MUST_EXIST, &t.err), 0);
	json_put_texts(context_op(&f, op), "key", "note", "value", "x");
	(void)context_event(&f, "nothing");
	assert_int_equal(context_log(&f, &t.err), 0);
}

/* What the replay saves instead of what was recorded is undone. */
REPLAY_TEST(a_replay_continues_from_what_was_recorded)
{
	t.diverges = true;
	t.owner = "ann";
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	log_as("set");
	assert_string_equal(at_rev(last_rev()), document());
	t.owner = "bob";
	t.take_over = true;
	assert_int_equal(step_as("ADR-7", true, NULL), 0);
	verify();
	assert_int_equal(v.differ, 1);
	assert_string_equal(v.first.what, "document");
	assert_string_equal(v.first.replayed, "note: x");
}

REPLAY_TEST(a_document_that_was_moved_and_renamed_is_followed)
{
	FILES_ONLY;
	char *path = arena_printf(&t.arena, "%s/else/Z.md", t.dir);

	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answer("ADR-7/researching/1", "briefed", "b");
	tree_mkdirs(arena_printf(&t.arena, "%s/else", t.dir));
	assert_int_equal(rename(t.path, path), 0);
	assert_int_equal(
		rename(journal_path(), arena_printf(&t.arena, "%s/else/Z.events.jsonl", t.dir)), 0);
	t.path = path;
	returns_to("ADR-7/implementing/1");
	assert_int_equal(history_find(&t.arena, t.path, &place, &t.err), 0);
	assert_same();
	assert_true(v.commits > 3);
}

/* Corrects the checksum of the commit whose line begins here. */
static void reseal(struct buf *text, char *commit)
{
	int64_t from = strtoll(strstr(commit, "\"from\":") + strlen("\"from\":"), NULL, 10);
	char *end = strchrnul(commit, '\n'), *sum = end, digest[DIGEST_TEXT];

	while (strncmp(sum, ",\"sum\":\"", strlen(",\"sum\":\"")) != 0)
		sum--;
	digest_text((struct str){text->s + from, (size_t)(sum - text->s - from)}, digest);
	memcpy(sum + strlen(",\"sum\":\""), digest, DIGEST_TEXT - 1);
}

/* Changes a byte of the last delta that has `what`, and the checksum of its commit. */
static void forge_change(struct buf *text, const char *what)
{
	char *change = NULL;
	int64_t rev;

	for (char *at = text->s; (at = strstr(at, "\n{\"change\":")); at++)
		if (strstr(at, what) && strstr(at, what) < strchr(at + 1, '\n'))
			change = at + 1;
	assert_non_null(change);
	rev = strtoll(change + strlen("{\"change\":"), NULL, 10);
	strstr(change, what)[0] ^= 1;
	reseal(text,
		strstr(change, arena_printf(&t.arena, "\n{\"commit\":%lld,", (long long)rev)) + 1);
}

/* Changes the first byte after the last `what` of a commit, and its checksum. */
static void forge_input(struct buf *text, const char *what)
{
	char *found = NULL, *line;

	for (char *at = text->s; (at = strstr(at, what)); at++)
		found = at;
	assert_non_null(found);
	found[strlen(what)] ^= 1;
	for (line = found; line > text->s && line[-1] != '\n';)
		line--;
	reseal(text, line);
}

/* Makes each forgery in the journal as it is now. */
static void assert_each_forged(const char *const *what, size_t n,
	void (*forge)(struct buf *text, const char *what), void (*check)(void))
{
	CLEANUP(buf_release) struct buf before = BUF_INIT;

	assert_true(tree_read(journal_path(), &before));
	for (size_t i = 0; i < n; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		buf_add(&text, buf_str(&before));
		forge(&text, what[i]);
		tree_write(journal_path(), buf_str(&text));
		check();
	}
}

static void assert_differs(void)
{
	verify();
	assert_true(v.differ > 0);
}

static void assert_damaged(void)
{
	json *none = NULL;

	assert_fails(replay_verify(&place, &none, &t.err), t.err, ERR_INPUT);
	assert_true(t.err.line > 0);
	assert_null(none);
}

REPLAY_TEST(another_outcome_of_an_effect_is_found)
{
	FILES_ONLY;
	static const char *const inputs[] = {"{\"what\":\"evidence\",\"value\":{\"head\":\"",
		"{\"what\":\"place\",\"value\":{\"directory\":\"../.."};

	t.diverges = true;
	t.enters = "/w/ADR-7";
	workflow_with_evidence(IMPLEMENT);
	assert_int_equal(step_as("ADR-7", false, NULL), 0);
	answered("ADR-7/researching/1", "briefed", "b", "ADR-7/implementing/1");
	answered("ADR-7/implementing/1", "implemented", "i", "ADR-7/validating/1");
	assert_same();
	assert_each_forged(inputs, COUNT(inputs), forge_input, assert_differs);
}

REPLAY_TEST(a_change_that_does_not_give_its_text_is_damage)
{
	FILES_ONLY;
	static const char *const changes[] = {"researching", "Fixed.", "implementing"};

	t.diverges = true;
	a_run();
	answer("ADR-7/fixing-pr/1", "fixed", "Fixed.");
	assert_each_forged(changes, COUNT(changes), forge_change, assert_damaged);
}

REPLAY_TEST(a_damaged_journal_is_reported_with_its_line)
{
	FILES_ONLY;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *journal = journal_path(), *at, line[2048];

	t.diverges = true;
	a_run();
	assert_true(tree_read(journal, &text));
	at = strstr(text.s, "researching -> ");
	at = at ? at : strstr(text.s, "implementing");
	at[0] ^= 1;
	tree_write(journal, buf_str(&text));
	assert_damaged();
	error_format(&t.err, line, sizeof(line));
	assert_non_null(strstr(line, "ADR-7.events.jsonl:"));
}
