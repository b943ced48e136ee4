#include "steps/steps.h"

/* Quotes a path with a space in it, so that the skill still sees two arguments. */
static const char *researching_arguments(struct step_context *c)
{
	const char *spec = context_get(c->doc, "spec_path").p;

	if (!*spec)
		return c->id;
	return arena_printf(c->arena, "%s %s", c->id,
		strpbrk(spec, " \t\n'\"\\$`") ? steps_quote(c, spec) : spec);
}

static void researching_request(struct step_context *c)
{
	const char *report =
		context_has_section(c->doc, CONTEXT_DEBUG_REPORT) ? CONTEXT_DEBUG_REPORT : NULL;
	struct step_request *r = steps_request_agent(c, "Researching", "researcher",
		c->research_skill, CONTEXT_BRIEF, "briefed | failed | needs_clarification",
		STEPS_READS(report));

	if (r)
		r->args = researching_arguments(c);
}

static void researching_decide(struct step_context *c)
{
	if (steps_answer_is(c, CONTEXT_BRIEF, "failed")) {
		steps_set_failed(c, CONTEXT_BRIEF, "the researcher could not write a brief");
	} else if (steps_answer_is(c, CONTEXT_BRIEF, "needs_clarification")) {
		steps_set_failed(c, CONTEXT_BRIEF, "the researcher needs clarification");
		c->result = STEP_UNCLEAR;
	} else {
		steps_set_trigger(c, "research_done");
	}
}

const struct step step_researching = {
	.state = "researching",
	.about = "write the brief that all later agents read",
	.pending = "research",
	.triggers = (const char *const[]){"research_done", NULL},
	.answer = CONTEXT_BRIEF,
	.request = researching_request,
	.decide = researching_decide,
};
