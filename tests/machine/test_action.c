/* Outstanding actions in the document: which lines are refused, and which words an action accepts.
 */
#include "src/machine/action.h"
#include "tests/lib/unit.h"

#define HEAD   "---\nstate: x\nwork_item_id: A\n---\n\n<!-- section:Actions -->\n\n"
#define COMMON "\"id\":\"A/x/1\",\"result_format\":\"a | b\",\"write_section\":\"Notes\""
#define AGENT  "{\"action\":\"spawn_agent\"," COMMON ",\"agent\":\"a\",\"skill\":\"s\""
#define SCRIPT "{\"action\":\"run_script\"," COMMON ",\"command\":\"c\",\"log_file\":\"l\""

static struct error err;

static int load(struct context *c, const char *lines, json **array)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text, HEAD "%s\n", lines);
	assert_int_equal(context_parse(c, "f.md", buf_str(&text), &err), 0);
	return action_load(c, array, &err);
}

static void refused(const char *lines, unsigned line, const char *fault)
{
	CLEANUP(context_release) struct context c = {0};
	CLEANUP(json_free) json *array = NULL;
	char want[200], got[400];

	assert_fails(load(&c, lines, &array), err, ERR_INPUT);
	(void)snprintf(want, sizeof(want), "f.md:%u:1: section 'Actions': %s", line, fault);
	error_format(&err, got, sizeof(got));
	assert_string_equal(got, want);
}

static void taken(const char *lines, size_t n)
{
	CLEANUP(context_release) struct context c = {0};
	CLEANUP(json_free) json *array = NULL;

	assert_int_equal(load(&c, lines, &array), 0);
	assert_int_equal(json_len(array), n);
}

TEST(a_request_that_the_engine_would_not_write_is_refused_at_its_line)
{
	static const struct {
		const char *line, *fault;
	} rows[] = {
		{"{", "this is not JSON"},
		{"[]", "this is not an object"},
		{"{\"action\":\"done\"}",
			"'action' must be spawn_agent, run_script, approve or run_item"},
		{"{\"action\":\"spawn_agent\"}", "'id' is missing"},
		{"{\"action\":\"run_script\",\"id\":\"A/x/1\"}", "'result_format' is missing"},
		{"{\"action\":\"run_script\",\"id\":\"A/x/1\",\"result_format\":\"a\"}",
			"'write_section' is missing or bad"},
		{"{\"action\":\"run_script\",\"id\":\"A/"
		 "x/1\",\"result_format\":\"a\",\"write_section\":\"a--b\"}",
			"'write_section' is missing or bad"},
		{AGENT ",\"answered\":1}", "'answered' must be a text"},
		{"{\"action\":\"spawn_agent\"," COMMON ",\"agent\":\"a\"}",
			"a spawn_agent needs 'agent' and 'skill'"},
		{"{\"action\":\"spawn_agent\"," COMMON ",\"skill\":\"s\"}",
			"a spawn_agent needs 'agent' and 'skill'"},
		{AGENT ",\"read_sections\":\"Notes\"}", "'read_sections' must be a list"},
		{AGENT ",\"read_sections\":[\"Notes\",3]}",
			"'read_sections' must be names of sections"},
		{"{\"action\":\"run_script\"," COMMON ",\"command\":\"c\"}",
			"a run_script needs 'command' and 'log_file'"},
		{"{\"action\":\"run_script\"," COMMON ",\"log_file\":\"l\"}",
			"a run_script needs 'command' and 'log_file'"},
		{SCRIPT ",\"timeout_s\":0}", "'timeout_s' must be 1 to 604800"},
		{SCRIPT ",\"timeout_s\":604801}", "'timeout_s' must be 1 to 604800"},
		{SCRIPT ",\"security\":3}", "'security' needs 'policy'"},
		{SCRIPT ",\"security\":{\"violation\":\"hard_abort\"}}",
			"'security' needs 'policy'"},
		{SCRIPT ",\"first\":{\"script\":\"s\"}}", "'first' needs 'policy' and 'script'"},
		{SCRIPT ",\"security\":{\"policy\":\"p\","
			"\"violation\":"
			"\"ignore\"}}",
			"'violation' must be 'hard_abort' or 'validation_fail'"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		CLEANUP(buf_release) struct buf after = BUF_INIT;

		refused(rows[i].line, 8, rows[i].fault);
		buf_addf(&after, AGENT "}\n\n%s", rows[i].line);
		refused(after.s, 10, rows[i].fault);
	}
}

TEST(what_the_engine_writes_is_read_and_blank_lines_are_skipped)
{
	taken(AGENT "}\n\n" SCRIPT "}", 2);
	taken(AGENT ",\"answered\":\"a\",\"read_sections\":[\"Notes\",\"Plan\"]}", 1);
	taken(SCRIPT ",\"timeout_s\":1}\n" SCRIPT ",\"timeout_s\":604800}", 2);
	taken(SCRIPT ",\"security\":{\"policy\":\"p\",\"violation\":"
		     "\"hard_abort\"}}",
		1);
}

TEST(an_action_accepts_each_word_of_its_format_and_no_other)
{
	CLEANUP(json_free) json *a = json_object();

	json_put_str(a, "result_format", STR("approved | changes_requested|no"));
	assert_true(action_accepts(a, STR("approved")));
	assert_true(action_accepts(a, STR("changes_requested")));
	assert_true(action_accepts(a, STR("no")));
	assert_false(action_accepts(a, STR("approve")));
	assert_false(action_accepts(a, STR("approved | no")));
	assert_false(action_accepts(a, STR("")));
}

TEST(a_text_has_the_word_of_its_json_alone)
{
	CLEANUP(json_free) json *script = json_object(), *agent = json_object();
	char word[16] = "";

	json_put_str(script, "action", STR("run_script"));
	json_put_str(script, "result_format", STR("passed | failed"));
	json_put_str(agent, "action", STR("spawn_agent"));
	json_put_str(agent, "result_format", STR("passed | failed"));
	assert_false(action_word_in(script, STR("failed: a.c:3"), word, sizeof(word)));
	assert_false(action_word_in(script, STR("passed"), word, sizeof(word)));
	assert_false(action_word_in(agent, STR("passed"), word, sizeof(word)));
	assert_true(action_word_in(agent, STR("{\"status\":\"passed\"}"), word, sizeof(word)));
	assert_string_equal(word, "passed");
	json_put_str(agent, "trigger", STR("review_loop"));
	assert_false(action_word_in(agent, STR("{\"status\":\"passed\"}"), word, sizeof(word)));
	assert_true(action_word_in(agent, STR("{\"action\":\"continue\"}"), word, sizeof(word)));
	assert_string_equal(word, "continue");
}
