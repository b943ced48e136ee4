#include "src/run/scripted_agents.h"
#include "tests/lib/scratch.h"
#include "tests/lib/wire.h"

static struct error err;
static const struct scripted_entry *found;
static const struct scripted_turn *turn;

static struct scripted_agents parsed(const char *text)
{
	struct scripted_agents s;

	if (scripted_parse(&arena, "a.yaml", str_of(text), &s, &err) < 0)
		fail_msg("%u:%u: %s", err.line, err.col, err.text);
	return s;
}

static void refused(const char *text, const char *message)
{
	struct scripted_agents s;

	assert_fails(scripted_parse(&arena, "a.yaml", str_of(text), &s, &err), err, ERR_INPUT);
	assert_error(&err, message);
}

static json *action(const char *kind, const char *id, const char *section, const char *format)
{
	json *j = json_object();

	json_put_str(j, "action", str_of(kind));
	json_put_str(j, "id", str_of(id));
	json_put_str(j, WIRE_WRITES, str_of(section));
	json_put_str(j, WIRE_FORMAT, str_of(format));
	return j;
}

static json *agent(const char *id, const char *section)
{
	return action(WIRE_AGENT_ACTION, id, section, "fixed | failed");
}

static json *script(const char *section)
{
	return action(WIRE_SCRIPT_ACTION, "A-1/validating/1", section, "passed | failed");
}

/* Text of the turn that an agent gets; NULL: none. */
static const char *text_for(
	const struct scripted_agents *s, const char *id, const char *section, size_t use)
{
	CLEANUP(json_free) json *j = agent(id, section);

	if (scripted_find(s, j, &found, &err) < 0)
		return NULL;
	assert_int_equal(scripted_turn_of(s, found, use, j, &turn, &err), 0);
	return turn->text.p;
}

TEST(an_answer_has_its_parts_and_its_place)
{
	struct scripted_agents s = parsed("answers:\n"
					  "  Fix 1:\n"
					  "    - run: make\n"
					  "      timeout: 5\n"
					  "      text_from: run\n"
					  "      result: fixed\n"
					  "    - text: |\n"
					  "        two\n"
					  "        lines\n"
					  "    - silent: true\n");
	const struct scripted_turn *t = s.answers.list[0].turns;

	assert_int_equal(s.answers.n, 1);
	assert_int_equal(s.scripts.n, 0);
	assert_int_equal(s.answers.list[0].n, 3);
	assert_string_equal(t[0].run, "make");
	assert_true(t[0].from_run);
	assert_int_equal(t[0].timeout_s, 5);
	assert_string_equal(t[0].result, "fixed");
	assert_int_equal(t[0].line, 3);
	assert_int_equal(t[0].col, 7);
	assert_string_equal(t[1].text.p, "two\nlines\n");
	assert_null(t[1].run);
	assert_null(t[1].result);
	assert_int_equal(t[1].timeout_s, 600);
	assert_true(t[2].silent);
}

TEST(a_file_may_be_empty_and_an_entry_may_be_one_answer)
{
	struct scripted_agents s = parsed("answers: {Fix 1: {text: one}}\n");

	assert_int_equal(parsed("").answers.n, 0);
	assert_int_equal(parsed("answers: {}\nscripts: {}\n").scripts.n, 0);
	assert_string_equal(text_for(&s, "A-1/fixing/1", "Fix 1", 0), "one");
}

TEST(a_list_is_used_in_order_and_its_last_stays)
{
	struct scripted_agents s = parsed("answers: {Fix 1: [{text: a}, {text: b}]}\n");

	assert_string_equal(text_for(&s, "A-1/fixing/1", "Fix 1", 0), "a");
	assert_string_equal(text_for(&s, "A-1/fixing/1", "Fix 1", 1), "b");
	assert_string_equal(text_for(&s, "A-1/fixing/1", "Fix 1", 2), "b");
	assert_string_equal(text_for(&s, "A-1/fixing/1", "Fix 1", 99), "b");
}

TEST(an_id_wins_over_a_section_and_that_over_fix_n)
{
	struct scripted_agents s = parsed("answers:\n"
					  "  Fix N: {text: any}\n"
					  "  Fix 2: {text: second}\n"
					  "  A-1/fixing/9: {text: ninth}\n");

	assert_string_equal(text_for(&s, "A-1/fixing/1", "Fix 1", 0), "any");
	assert_string_equal(text_for(&s, "A-1/fixing/2", "Fix 2", 0), "second");
	assert_string_equal(text_for(&s, "A-1/fixing/9", "Fix 2", 0), "ninth");
	assert_string_equal(text_for(&s, "A-1/fixing/3", "Fix 11", 0), "any");
	assert_null(text_for(&s, "A-1/fixing/3", "Fix", 0));
	assert_null(text_for(&s, "A-1/fixing/3", "Fix ", 0));
	assert_null(text_for(&s, "A-1/fixing/3", "Fix 1a", 0));
	assert_null(text_for(&s, "A-1/fixing/3", "Fixture", 0));
}

TEST(a_script_is_run_unless_it_has_an_answer)
{
	struct scripted_agents s = parsed("scripts:\n"
					  "  Lint: [{text: failed}, exec]\n");
	CLEANUP(json_free) json *lint = script("Lint"), *other = script(WIRE_VALIDATION);

	assert_int_equal(scripted_find(&s, other, &found, &err), 0);
	assert_null(found);
	assert_int_equal(scripted_find(&s, lint, &found, &err), 0);
	assert_int_equal(scripted_turn_of(&s, found, 0, lint, &turn, &err), 0);
	assert_false(turn->exec);
	assert_int_equal(scripted_turn_of(&s, found, 1, lint, &turn, &err), 0);
	assert_true(turn->exec);
}

TEST(an_agent_without_an_answer_is_named)
{
	struct scripted_agents s = parsed("answers: {Fix 1: {text: x}}\n");
	CLEANUP(json_free) json *j = agent("A-1/fixing/2", "Fix 2");

	assert_fails(scripted_find(&s, j, &found, &err), err, ERR_INPUT);
	assert_error(&err, "a.yaml: no answer for 'A-1/fixing/2', section 'Fix 2'");
}

TEST(an_entry_on_the_wrong_side_is_named)
{
	struct scripted_agents s = parsed("answers:\n  Lint: {text: passed}\n"
					  "scripts:\n  Fix 1: {text: x}\n");
	CLEANUP(json_free) json *a = agent("A-1/fixing/1", "Fix 1"), *b = script("Lint");

	assert_int_equal(scripted_find(&s, a, &found, &err), -1);
	assert_error(&err, "a.yaml:4:3: 'Fix 1' is an agent's: it belongs under 'answers'");
	assert_int_equal(scripted_find(&s, b, &found, &err), -1);
	assert_error(&err, "a.yaml:2:3: 'Lint' is a script's: it belongs under 'scripts'");
}

TEST(a_result_that_the_action_does_not_take_is_refused)
{
	struct scripted_agents s = parsed("answers: {Fix 1: {text: x, result: mended}}\n");
	CLEANUP(json_free) json *j = agent("A-1/fixing/1", "Fix 1");

	assert_int_equal(scripted_find(&s, j, &found, &err), 0);
	assert_int_equal(scripted_turn_of(&s, found, 0, j, &turn, &err), -1);
	assert_error(&err,
		"a.yaml:1:36: unknown result 'mended' for 'A-1/fixing/1': must be fixed | failed");
}

TEST(faults_of_form_are_refused_at_their_place)
{
	refused("- x\n", "a.yaml:1:1: a script of agents must be a map, not a list");
	refused("answer: {}\n", "a.yaml:1:1: unknown key 'answer': must be 'answers' or 'scripts'");
	refused("answers: x\n", "a.yaml:1:10: 'answers' must be a map, not 'x'");
	refused("scripts: [x]\n", "a.yaml:1:10: 'scripts' must be a map, not a list");
	refused("answers:\n", "a.yaml:1:9: 'answers' must be a map, not nothing");
	refused("answers: {}\nanswers: {}\n", "a.yaml:2:1: duplicate key 'answers'");
	refused("answers:\n  A: {text: x}\n  A: {text: y}\n", "a.yaml:3:3: duplicate key 'A'");
	refused("answers: {A: {text: x, text: y}}\n", "a.yaml:1:24: duplicate key 'text'");
	refused("answers: {A: {text: &x y}}\n", "a.yaml:1:21: anchors are not allowed");
	refused("answers: {A: {\n", "a.yaml:2:1: did not find expected node content");
	refused("answers: {'a<b': {text: x}}\n",
		"a.yaml:1:11: name 'a<b' must be the name of a section or the id of an action");
	refused("answers: {../x/1: {text: x}}\n",
		"a.yaml:1:11: name '../x/1' must be the name of a section or the id of an action");
	refused("answers: {A: []}\n", "a.yaml:1:14: 'A' must have 1 to 1000000 entries, not 0");
	refused("answers: {A: text}\n", "a.yaml:1:14: 'A' must be a map, not 'text'");
	refused("answers: {A: exec}\n", "a.yaml:1:14: 'A' must be a map, not 'exec'");
	refused("scripts: {A: [run]}\n", "a.yaml:1:15: 'A' must be a map or exec, not 'run'");
}

TEST(faults_of_an_answer_are_refused_at_their_place)
{
	refused("answers: {A: {texts: x}}\n",
		"a.yaml:1:15: unknown key 'texts': must be 'run', 'text', "
		"'text_from', 'result', 'silent' or 'timeout'");
	refused("answers: {A: {text: [x]}}\n",
		"a.yaml:1:21: 'text' must be a text that is not empty, not a list");
	refused("answers: {A: {text: ~}}\n",
		"a.yaml:1:21: 'text' must be a text that is not empty, not nothing");
	refused("answers: {A: {text: '  '}}\n",
		"a.yaml:1:21: 'text' must be a text that is not empty, not '  '");
	refused("answers: {A: {run: '', text: x}}\n",
		"a.yaml:1:20: 'run' must be a text of 1 to 100000 bytes, not ''");
	refused("answers: {A: {run: {}}}\n",
		"a.yaml:1:20: 'run' must be a text of 1 to 100000 bytes, not a map");
	refused("answers: {A: {result: a b, text: x}}\n",
		"a.yaml:1:23: 'result' must be a result word, not 'a b'");
	refused("answers: {A: {text_from: file}}\n",
		"a.yaml:1:26: 'text_from' must be 'run', not 'file'");
	refused("answers: {A: {silent: yes}}\n",
		"a.yaml:1:23: 'silent' must be true or false, not 'yes'");
	refused("answers: {A: {silent: false, text: x}}\n",
		"a.yaml:1:23: 'silent' must be true, or be left out");
	refused("answers: {A: {silent: 'true'}}\n",
		"a.yaml:1:23: 'silent' must be true or false, not 'true'");
	refused("answers: {A: {run: x, silent: true, timeout: 1m}}\n",
		"a.yaml:1:46: 'timeout' must be a whole number from 1 to 86400, not '1m'");
	refused("answers: {A: {run: x, silent: true, timeout: 0}}\n",
		"a.yaml:1:46: 'timeout' must be a whole number from 1 to 86400, not '0'");
	refused("answers: {A: {run: x, silent: true, timeout: 86401}}\n",
		"a.yaml:1:46: 'timeout' must be a whole number from 1 to 86400, not '86401'");
}

TEST(what_does_not_go_together_is_refused)
{
	refused("answers: {A: {silent: true, text: x}}\n",
		"a.yaml:1:14: 'silent' and an answer exclude each other");
	refused("answers: {A: {silent: true, result: x}}\n",
		"a.yaml:1:14: 'silent' and an answer exclude each other");
	refused("answers: {A: {run: x, text: y, text_from: run}}\n",
		"a.yaml:1:14: 'text' and 'text_from' exclude each other");
	refused("answers: {A: {text_from: run}}\n", "a.yaml:1:14: 'text_from' needs 'run'");
	refused("answers: {A: {text: x, timeout: 5}}\n", "a.yaml:1:14: 'timeout' needs 'run'");
	refused("answers: {A: {run: x}}\n",
		"a.yaml:1:14: no answer: give 'text', 'text_from: run' or 'silent: true'");
	refused("answers: {A: {}}\n",
		"a.yaml:1:14: no answer: give 'text', 'text_from: run' or 'silent: true'");
}

TEST(commands_that_the_system_could_not_pass_on_are_refused)
{
	CLEANUP(buf_release) struct buf b = BUF_INIT;

	buf_adds(&b, "answers: {A: {silent: true, run: '");
	for (int i = 0; i <= SCRIPTED_RUN_MAX; i++)
		buf_addc(&b, 'x');
	buf_adds(&b, "'}}\n");
	refused(b.s, "a.yaml:1:34: 'run' must be a text of 1 to 100000 bytes, not "
		     "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..'");
}

TEST(a_file_that_cannot_be_read_is_named)
{
	struct scripted_agents s;

	assert_fails(scripted_load(&arena, "/nonexistent/a.yaml", &s, &err), err, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "/nonexistent/a.yaml"));
}

/* Commits an event; the keys are the members that are not NULL. */
static void commit_event(const char *type, const char *action, const char *entry)
{
	CLEANUP(store_close) struct store *s = NULL;
	CLEANUP(json_free) json *events = json_array();
	struct store_txn txn = {.events = events};
	struct store_result result;
	json *e = json_object();

	json_put_texts(e, "type", type, "action", action);
	if (entry)
		json_put_str(e, "entry", str_of(entry));
	json_push(events, e);
	assert_int_equal(store_open(&s, store_backend(), at("."), "A-1", STORE_WRITE, 0, &err), 0);
	assert_int_equal(store_txn(s, &arena, &txn, &result, &err), STORE_OK);
}

static size_t uses(const char *key, const char *id)
{
	const struct scripted_entry entry = {.key = key, .n = 9};
	size_t n;

	if (scripted_count_turns(at("A-1.md"), &entry, id, &n, &err) < 0)
		fail_msg("%s", err.text);
	return n;
}

TEST(turns_are_counted_by_entry_over_interruptions)
{
	assert_int_equal(uses("X", "A-1/s/1"), 0);
	commit_event("started", "", NULL);
	commit_event("scripted", "A-1/s/1", "X");
	commit_event("scripted", "A-1/s/2", "Y");
	commit_event("answer", "A-1/s/1", NULL);
	commit_event("scripted", "A-1/s/3", "X");
	assert_int_equal(uses("X", "A-1/s/4"), 2);
	assert_int_equal(uses("Y", "A-1/s/4"), 1);
	assert_int_equal(uses("Z", "A-1/s/4"), 0);
	/* An action that is repeated gets the same turn. */
	assert_int_equal(uses("X", "A-1/s/1"), 0);
	assert_int_equal(uses("X", "A-1/s/3"), 1);
}

TEST(a_work_item_that_was_started_anew_is_counted_anew)
{
	commit_event("scripted", "A-1/s/7", "X");
	commit_event("started", "", NULL);
	commit_event("scripted", "A-1/s/1", "X");
	assert_int_equal(uses("X", "A-1/s/2"), 1);
}

TEST(counting_stops_where_the_turn_is_known)
{
	const struct scripted_entry once = {.key = "X", .n = 1}, twice = {.key = "X", .n = 2};
	size_t n;

	for (int i = 0; i < 3; i++) {
		commit_event("scripted", "A-1/s/1", "X");
		commit_event("dispatch", "A-1/s/2", NULL);
	}
	assert_int_equal(scripted_count_turns(at("A-1.md"), &once, "A-1/s/2", &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(scripted_count_turns(at("A-1.md"), &twice, "A-1/s/2", &n, &err), 0);
	assert_int_equal(n, 1);
}

UNIT_GROUP(scratch_make, scratch_remove)
