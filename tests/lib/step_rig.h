/*
 * step_rig.h: one call of one step, without an engine: a document, a step context, the requests and
 * the decision. Included by the tests of the steps alone.
 */
#ifndef DT_TESTS_STEP_RIG_H
#define DT_TESTS_STEP_RIG_H

#include "steps/steps.h"
#include "tests/lib/unit.h"
#include "tests/lib/wire.h"

struct step_rig {
	struct arena arena;
	struct context doc;
	struct workflow workflow;
	struct step_context context;
	json *outstanding;
	size_t derived; /* of these, the last ones: of scripts whose result is in a section */
};

extern struct step_rig step_case;

int step_rig_setup(void **state);
int step_rig_teardown(void **state);

#define STEP_TEST(name) UNIT_TEST(name, step_rig_setup, step_rig_teardown)

/* A document with `keys` (lines of frontmatter) and `sections`, and a step context for it. */
void given(const char *keys, const char *sections);

/* Adds an outstanding action for `section`, answered with `word`. */
void put_answered(const char *section, const char *format, const char *word);
void request(const struct step *step);
/* Every answer that is there must have a word, as the engine sees to it. */
void decide(const struct step *step);
/* It makes `n` requests. */
void requests(const struct step *step, size_t n);
/* It decides for a transition, or that `section` has no usable answer. */
void decides(const struct step *step, const char *trigger);
void decide_fails(const struct step *step, enum step_result meaning, const char *section);

/* Checks request `i`; `reads` are the sections with ", " between them. */
void assert_agent(size_t i, const char *agent, const char *skill, const char *args,
	const char *reads, const char *writes, const char *format);
void assert_script(size_t i, const char *command, unsigned timeout_s, const char *writes);

#define assert_section(name, literal) assert_str(context_section(&step_case.doc, name), literal)
#define assert_count(key, n)          assert_int_equal(context_count(&step_case.doc, key), n)

#endif
