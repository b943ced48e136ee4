/*
 * step_rig.h: one decision of one step, without an engine: a document, a moment, what the step asks
 * and what it says. Included by the tests of the steps alone.
 */
#ifndef DT_TESTS_STEP_RIG_H
#define DT_TESTS_STEP_RIG_H

#include "steps/steps.h"
#include "tests/lib/unit.h"
#include "tests/lib/wire.h"

#define SECTION(name, text) "\n<!-- section:" name " -->\n\n" text "\n"

struct rig {
	struct arena arena;
	struct context doc;
	struct workflow workflow;
	struct step_context moment;
	json *outstanding;
};

static struct rig t;

static int rig_setup(void **state)
{
	(void)state;
	t = (struct rig){.workflow = {.limits = WORKFLOW_LIMITS}, .outstanding = json_array()};
	return 0;
}

static int rig_teardown(void **state)
{
	(void)state;
	json_free(&t.outstanding);
	context_release(&t.doc);
	arena_release(&t.arena);
	return 0;
}

#define STEP_TEST(name) UNIT_TEST(name, rig_setup, rig_teardown)

/* A document with `keys` (lines of frontmatter) and `sections`, and the moment that sees it. */
static inline void given(const char *keys, const char *sections)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct error err = {0};

	buf_addf(&text, "---\nstate: x\n" WIRE_ITEM_KEY ": ADR-7\n%s---\n%s", keys, sections);
	context_release(&t.doc);
	assert_int_equal(context_parse(&t.doc, "c.md", buf_str(&text), &err), 0);
	t.moment = (struct step_context){.arena = &t.arena,
		.doc = &t.doc,
		.workflow = &t.workflow,
		.id = "ADR-7",
		.research_skill = "researcher-plan",
		.repo = "/r",
		.outstanding = t.outstanding};
}

/* An answer of `section` stands recorded with `word`. */
static inline void recorded(const char *section, const char *format, const char *word)
{
	json *a = json_object();

	json_put_str(a, "action", STR(WIRE_AGENT_ACTION));
	json_put_str(a, "id", STR("ADR-7/x/1"));
	json_put_str(a, WIRE_WRITES, str_of(section));
	json_put_str(a, WIRE_FORMAT, str_of(format));
	json_put_str(a, "answered", str_of(word));
	json_push(t.outstanding, a);
}

static inline void asks(const struct step *step)
{
	step->request(&t.moment);
}

static inline void decides(const struct step *step)
{
	step->decide(&t.moment);
}

static inline void assert_asks_nothing(const struct step *step)
{
	asks(step);
	assert_int_equal(t.moment.requests.n, 0);
}

/* What a request is for; `reads` are the sections with ", " between them. */
static inline void assert_agent(size_t i, const char *agent, const char *skill, const char *args,
	const char *reads, const char *writes, const char *format)
{
	const struct step_request *r = &t.moment.requests.items[i];
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	assert_true(i < t.moment.requests.n);
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

static inline void assert_script(
	size_t i, const char *command, unsigned timeout_s, const char *writes)
{
	const struct step_request *r = &t.moment.requests.items[i];

	assert_true(i < t.moment.requests.n);
	assert_null(r->agent);
	assert_string_equal(r->command, command);
	assert_int_equal(r->timeout_s, timeout_s);
	assert_string_equal(r->writes, writes);
	assert_string_equal(r->format, "passed | failed");
	assert_true(r->message && *r->message);
}

static inline void assert_gives(const char *trigger)
{
	assert_int_equal(t.moment.result, STEP_TRANSITION);
	assert_string_equal(t.moment.trigger, trigger);
}

static inline void assert_could_not(enum step_result meaning, const char *section)
{
	assert_int_equal(t.moment.result, meaning);
	assert_string_equal(t.moment.section, section);
	assert_true(t.moment.reason && *t.moment.reason);
}

#define assert_section(name, literal) assert_str(context_section(&t.doc, name), literal)
#define assert_count(key, n)          assert_int_equal(context_count(&t.doc, key), n)

#endif
