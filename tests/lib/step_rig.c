#include "tests/lib/step_rig.h"
#include "src/machine/verdict.h"

struct step_rig step_case;

int step_rig_setup(void **state)
{
	(void)state;
	step_case = (struct step_rig){
		.workflow = {.limits = WORKFLOW_LIMITS}, .outstanding = json_array()};
	return 0;
}

int step_rig_teardown(void **state)
{
	(void)state;
	json_free(&step_case.outstanding);
	context_release(&step_case.doc);
	arena_release(&step_case.arena);
	return 0;
}

void put_answered(const char *section, const char *format, const char *word)
{
	bool script = strcmp(format, "passed | failed") == 0;
	json *a = json_object();

	json_put_str(a, "action", str_of(script ? WIRE_SCRIPT_ACTION : WIRE_AGENT_ACTION));
	json_put_str(a, "id", STR("ADR-7/x/1"));
	json_put_str(a, WIRE_WRITES, str_of(section));
	json_put_str(a, WIRE_FORMAT, str_of(format));
	json_put_str(a, "answered", str_of(word));
	json_push(step_case.outstanding, a);
}

/* A script's section counts with the result of its action only. Actions of earlier sections go. */
static void answer_scripts(void)
{
	static const char *const written[] = {"Lint", "B", WIRE_VALIDATION, WIRE_SIGNOFF_BUILD};
	char word[64];

	for (; step_case.derived; step_case.derived--)
		json_remove(step_case.outstanding,
			json_at(step_case.outstanding, json_len(step_case.outstanding) - 1));
	for (size_t i = 0; i < COUNT(written); i++)
		if (verdict_word(context_section(&step_case.doc, written[i]), "status", word,
			    sizeof(word))) {
			put_answered(written[i], "passed | failed", word);
			step_case.derived++;
		}
}

void given(const char *keys, const char *sections)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};

	buf_addf(&text, "---\nstate: x\n" WIRE_ITEM_KEY ": ADR-7\n%s---\n%s", keys, sections);
	context_release(&step_case.doc);
	assert_int_equal(context_parse(&step_case.doc, "c.md", buf_str(&text), &err), 0);
	answer_scripts();
	step_case.context = (struct step_context){.arena = &step_case.arena,
		.doc = &step_case.doc,
		.workflow = &step_case.workflow,
		.id = "ADR-7",
		.research_skill = "researcher-plan",
		.actions = step_case.outstanding};
}

void request(const struct step *step)
{
	step_case.context.step = step;
	step->request(&step_case.context);
}

void decide(const struct step *step)
{
	struct step_context *c = &step_case.context;

	c->answers.n = c->claims.n = 0;
	c->verified = false;
	if (step->request)
		request(step);
	for (size_t i = 0; i < c->answers.n; i++)
		if (!*c->answers.items[i].word)
			fail_msg("the answer in '%s' has no word", c->answers.items[i].section);
	c->step = step;
	step->decide(c);
	if (c->claims.n) { /* as the engine does when they hold */
		c->verified = true;
		step->decide(c);
	}
}

void requests(const struct step *step, size_t n)
{
	request(step);
	assert_int_equal(step_case.context.requests.n, n);
}

void assert_agent(size_t i, const char *agent, const char *skill, const char *args,
	const char *reads, const char *writes, const char *format)
{
	const struct step_request *r = &step_case.context.requests.items[i];
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	assert_true(i < step_case.context.requests.n);
	assert_string_equal(r->agent, agent);
	assert_string_equal(r->skill, skill);
	assert_string_equal(r->args ? r->args : "", args);
	for (size_t k = 0; k < r->reads.n; k++)
		buf_addf(&list, "%s%s", k ? ", " : "", r->reads.items[k]);
	assert_string_equal(list.s ? list.s : "", reads);
	assert_string_equal(r->writes, writes);
	assert_string_equal(r->format, format);
	assert_true(r->message && *r->message);
	assert_null(r->command);
}

void assert_script(size_t i, const char *command, unsigned timeout_s, const char *writes)
{
	const struct step_request *r = &step_case.context.requests.items[i];

	assert_true(i < step_case.context.requests.n);
	assert_null(r->agent);
	assert_string_equal(r->command, command);
	assert_int_equal(r->timeout_s, timeout_s);
	assert_string_equal(r->writes, writes);
	assert_string_equal(r->format, "passed | failed");
	assert_true(r->message && *r->message);
}

void decides(const struct step *step, const char *trigger)
{
	decide(step);
	assert_int_equal(step_case.context.result, STEP_TRANSITION);
	assert_string_equal(step_case.context.trigger, trigger);
}

void decide_fails(const struct step *step, enum step_result meaning, const char *section)
{
	decide(step);
	assert_int_equal(step_case.context.result, meaning);
	assert_string_equal(step_case.context.section, section);
	assert_true(step_case.context.reason && *step_case.context.reason);
}
