/*
 * One loop at a time: claims, take-overs, and the calls of a loop that lost the work item.
 */
#include "context/lease.h"
#include "tests/lib/engine_rig.h"

#define BOTH                                                                                       \
	"---\nlimits: {lease_minutes: 60, consecutive_failures: 1}\nstates:\n  both:\n    all:\n"  \
	"      - {agent: a, skill: s, writes: One, results: {good: ok, bad: no}}\n"                \
	"      - {command: make, writes: Two, results: {passed: ok, failed: no}}\n---\n"           \
	"```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> both : start\n"                       \
	"both --> done : ok\nboth --> failed : no\ndone --> [*]\nfailed --> [*]\n```\n"

static void at(const char *time)
{
	setenv("DEV_TEAM_NOW", arena_printf(&t.arena, "2026-11-21T%sZ", time), 1);
}

static int step_by(const char *owner, bool take_over, bool returned)
{
	int rc;

	t.owner = owner;
	t.take_over = take_over;
	rc = step_as("ADR-7", returned, NULL);
	t.owner = NULL;
	t.take_over = false;
	return rc;
}

#define owner_gets(owner, want)                                                                    \
	do {                                                                                       \
		assert_int_equal(step_by(owner, false, false), 0);                                 \
		assert_string_equal(summary(), want);                                              \
	} while (0)
#define taker_gets(owner, want)                                                                    \
	do {                                                                                       \
		assert_int_equal(step_by(owner, true, false), 0);                                  \
		assert_string_equal(summary(), want);                                              \
	} while (0)
#define assert_refused(rc, want)                                                                   \
	do {                                                                                       \
		assert_int_equal(rc, -1);                                                          \
		assert_int_equal(t.err.code, ERR_STATE);                                           \
		assert_string_equal(t.err.text, want);                                             \
	} while (0)

static int record_by(const char *owner, const char *id, const char *word, const char *text)
{
	return answer_with((struct answer_offer){
		.owner = owner, .id = id, .word = word, .text = str_of(text)});
}

static struct lease_holder holder(void)
{
	static struct arena names;
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;

	assert_int_equal(context_open(&f, t.path, CONTEXT_READ_ONLY, &t.err), 0);
	assert_int_equal(lease_read(&f, &h, &t.err), 0);
	arena_release(&names);
	h.owner = h.owner ? arena_dup(&names, str_of(h.owner)) : NULL;
	h.from = NULL;
	return h;
}

ENGINE_TEST(a_second_loop_changes_nothing)
{
	char *doc, *log;

	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	doc = document();
	log = events();
	assert_refused(step_by("bob", false, true),
		"'ADR-7' is held by 'ann' since 2026-11-21T01:34:55Z, until "
		"2026-11-21T02:34:55Z; to take it over: --owner NAME --take-over");
	assert_int_equal(step_by(NULL, false, true), -1);
	assert_string_equal(document(), doc);
	assert_string_equal(events(), log);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
}

ENGINE_TEST(each_call_of_the_owner_renews)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	at("02:30:00");
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	assert_int_equal(holder().until - holder().since, (2 * 3600 + 55 * 60 + 5) - 60 * 60);
	at("03:29:59");
	answer("ADR-7/both/1", "good", "Yes."); /* no owner was named: the id belongs to ann */
	at("04:29:58");
	assert_int_equal(record_by("ann", "ADR-7/both/1", "good", "Yes."), 0);
	assert_int_equal(t.outcome, ANSWER_AGAIN);
	at("05:29:57");
	assert_true(holder().live);
	at("05:29:58");
	assert_false(holder().live);
	assert_int_equal(holder().fence, 1);
}

ENGINE_TEST(a_take_over_asks_anew)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	taker_gets("bob", "ADR-7/both/3 ADR-7/both/4");
	owner_gets("bob", "ADR-7/both/3 ADR-7/both/4");
	assert_count("actions_dispatched", 4);
	assert_count(WIRE_FAILURES, 0);
	assert_true(
		events_have("\"type\":\"lease\",\"owner\":\"bob\",\"from\":\"ann\",\"fence\":2"));
	assert_true(events_have("\"instead_of\":\"ADR-7/both/2\""));
	assert_true(document_has("logs/ADR-7-both-20261121T013455Z-4.log"));
	assert_refused(step_by("ann", false, false),
		"'ADR-7' is held by 'bob' since 2026-11-21T01:34:55Z, until 2026-11-21T02:34:55Z, "
		"who took it over from you; to take it over again: --owner NAME --take-over");
	taker_gets("ann", "ADR-7/both/5 ADR-7/both/6");
	assert_int_equal(holder().fence, 3);
}

/* An existing answer remains valid; what is still running is not started twice. */
ENGINE_TEST(a_take_over_keeps_what_is_there)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	answer("ADR-7/both/1", "good", "Yes.");
	t.running = "ADR-7/both/2";
	taker_gets("bob", "ADR-7/both/2");
	assert_false(events_have("instead_of"));
	t.running = NULL;
	answer("ADR-7/both/2", "passed", "passed");
	owner_gets("bob", "success: 'both' gave 'ok'");
}

ENGINE_TEST(a_take_over_counts_no_failure)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	assert_int_equal(step_by("bob", true, true), 0);
	assert_string_equal(summary(), "ADR-7/both/3 ADR-7/both/4");
	assert_count(WIRE_FAILURES, 0);
}

ENGINE_TEST(the_troubleshooter_is_called_anew)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	assert_int_equal(step_by("ann", false, true), 0);
	assert_string_equal(summary(), "ADR-7/troubleshooter/1 " WIRE_FAILURES ":1");
	taker_gets("bob", "ADR-7/troubleshooter/2 " WIRE_FAILURES ":1");
	assert_count("troubleshooter_calls", 1);
	assert_int_equal(
		answer_as("ADR-7/troubleshooter/1", "continue", "{\"action\":\"continue\"}"), -1);
	answer("ADR-7/troubleshooter/2", "continue", "{\"action\":\"continue\"}");
	owner_gets("bob", "ADR-7/both/3 ADR-7/both/4");
}

ENGINE_TEST(nobody_holds_what_is_done)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	answer("ADR-7/both/1", "good", "Yes.");
	answer("ADR-7/both/2", "passed", "passed");
	owner_gets("ann", "success: 'both' gave 'ok'");
	assert_null(holder().owner);
	owner_gets("bob", "success: 'both' gave 'ok'");
	assert_null(holder().owner);
	set("state", "both"); /* where the earlier answer of the script is none */
	owner_gets("bob", "ADR-7/both/3");
	assert_int_equal(holder().fence, 2); /* no number is used twice */
}

ENGINE_TEST(an_end_by_hand_is_anybodys)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	set("state", "failed");
	assert_int_equal(step_by("bob", false, false), 0);
	assert_null(holder().owner);
}

ENGINE_TEST(a_lease_that_ran_out_is_the_owners_until_another_comes)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	at("09:00:00");
	assert_int_equal(record_by("ann", "ADR-7/both/1", "good", "Yes."), 0);
	assert_true(holder().live);
	at("11:00:00");
	owner_gets("ann", "ADR-7/both/2");
	assert_int_equal(holder().fence, 3);
	at("12:00:00");
	owner_gets("bob", "ADR-7/both/3");
	assert_true(events_have("\"reason\":\"the lease had expired\""));
	assert_refused(record_by("ann", "ADR-7/both/3", "passed", "passed"),
		arena_printf(&t.arena,
			"'ann' no longer holds 'ADR-7': 'bob' took it over at "
			"2026-11-21T12:00:00Z; "
			"what was offered is kept in "
			"%s/logs/ADR-7-refused-ADR-7_both_3-65e78fe3b71cd4a04ec690633c9ef6e1.txt",
			t.dir));
}

ENGINE_TEST(without_a_name_a_lease_that_ran_out_is_left_alone)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	at("09:00:00");
	steps_to("ADR-7/both/1 ADR-7/both/2");
	assert_string_equal(holder().owner, "ann");
	assert_false(holder().live);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
}

/* No lease lasts longer than its full length from now. */
ENGINE_TEST(a_clock_that_jumps_back_blocks_no_session_for_ever)
{
	workflow(BOTH);
	at("12:00:00");
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	at("03:00:00");
	assert_refused(step_by("bob", false, false),
		"'ADR-7' is held by 'ann' since 2026-11-21T03:00:00Z, until 2026-11-21T04:00:00Z; "
		"to take it over: --owner NAME --take-over");
	assert_int_equal(holder().since, holder().until - 3600);
	at("04:00:00");
	owner_gets("bob", "ADR-7/both/3 ADR-7/both/4");
}

ENGINE_TEST(a_take_over_stands_though_the_step_fails)
{
	by_hand("validating", "", "");
	owner_gets("ann", "ADR-7/validating/1");
	answer("ADR-7/validating/1", "passed", "passed");
	t.push_fails = true;
	assert_fails(step_by("bob", true, false), t.err, ERR_SYSTEM);
	assert_string_equal(holder().owner, "bob");
	assert_fails(step_by("ann", false, false), t.err, ERR_STATE);
	t.push_fails = false;
	owner_gets("bob", "ADR-7/reviewing/1");
}

ENGINE_TEST(a_run_that_cannot_begin_is_nobodys)
{
	t.n_specs = 0;
	assert_fails(step_by("ann", false, false), t.err, ERR_INPUT);
	assert_null(holder().owner);
	t.n_specs = 1;
	owner_gets("bob", "ADR-7/researching/1");
	by_hand("validating", "", "");
	owner_gets("ann", "ADR-7/validating/1");
	answer("ADR-7/validating/1", "passed", "passed");
	t.push_fails = true;
	assert_int_equal(step_by("ann", false, false), -1);
	assert_string_equal(holder().owner, "ann"); /* who tries again */
}

ENGINE_TEST(a_late_answer_is_told_who_took_over)
{
	workflow(BOTH);
	owner_gets("ann", "ADR-7/both/1 ADR-7/both/2");
	at("02:00:00");
	taker_gets("bob", "ADR-7/both/3 ADR-7/both/4");
	assert_refused(answer_as("ADR-7/both/1", "good", "Late."),
		arena_printf(&t.arena,
			"action 'ADR-7/both/1' is stale: 'bob' took the work item over at "
			"2026-11-21T02:00:00Z, and 'ADR-7/both/3' is asked for instead; what was "
			"offered is kept in "
			"%s/logs/ADR-7-refused-ADR-7_both_1-5283e563715529652bfd872da3b4d412.txt",
			t.dir));
	assert_int_equal(holder().until - holder().since, 3600); /* and renews nothing */
}

ENGINE_TEST(an_answer_that_was_used_may_come_again)
{
	char *doc;

	by_hand("researching", "", "");
	steps_to("ADR-7/researching/1");
	answer("ADR-7/researching/1", "briefed", "A brief.\n");
	steps_to("ADR-7/implementing/1");
	doc = document();
	assert_int_equal(record_by(NULL, "ADR-7/researching/1", "briefed", " A brief."), 0);
	assert_int_equal(t.outcome, ANSWER_AGAIN);
	assert_int_equal(record_by(NULL, "ADR-7/researching/1", NULL, "A brief."), 0);
	assert_int_equal(t.outcome, ANSWER_AGAIN);
	assert_int_equal(record_by(NULL, "ADR-7/researching/1", "failed", "A brief."), -1);
	assert_int_equal(record_by(NULL, "ADR-7/researching/1", "briefed", "Other."), -1);
	assert_int_equal(record_by(NULL, "ADR-7/researching/2", "briefed", "A brief."), -1);
	assert_string_equal(document(), doc);
}

TEST(names_are_checked)
{
	static const char *const good[] = {"a", "Ada L.", "3f2a-11", "\xc3\x84nne", "${X}"};
	static const char *const bad[] = {"", " a", "a ", "a'b", "a\"b", "a`b", "a\nb", "a\x7f",
		"a\xc2\x85", "\xff", "a\xe2\x80\xa8z"};
	struct error err;
	char name[OWNER_MAX + 2];

	for (size_t i = 0; i < COUNT(good); i++)
		assert_int_equal(lease_check_owner(good[i], &err), 0);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_fails(lease_check_owner(bad[i], &err), err, ERR_USAGE);
	}
	memset(name, 'x', sizeof(name));
	name[OWNER_MAX + 1] = '\0';
	assert_int_equal(lease_check_owner(name, &err), -1);
	name[OWNER_MAX] = '\0';
	assert_int_equal(lease_check_owner(name, &err), 0);
}
