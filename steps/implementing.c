#include "steps/steps.h"

static void implementing_request(struct step_context *c)
{
	steps_request_agent(c, "Implementing", "developer", "developer-implement", CONTEXT_SUMMARY,
		"implemented | failed | needs_clarification", STEPS_READS(CONTEXT_BRIEF));
}

static void implementing_decide(struct step_context *c)
{
	if (steps_answer_is(c, CONTEXT_SUMMARY, "failed")) {
		steps_set_failed(c, CONTEXT_SUMMARY, "the developer could not implement it");
	} else if (steps_answer_is(c, CONTEXT_SUMMARY, "needs_clarification")) {
		steps_set_failed(c, CONTEXT_SUMMARY, "the developer needs clarification");
		c->result = STEP_UNCLEAR;
	} else {
		steps_set_trigger(c, "impl_done");
		(void)steps_claim(c, CONTEXT_SUMMARY, EVIDENCE_WORK);
	}
}

const struct step step_implementing = {
	.state = "implementing",
	.about = "hand the brief to the developer",
	.pending = "implement",
	.triggers = (const char *const[]){"impl_done", NULL},
	.evidence = EVIDENCE_WORK,
	.answer = CONTEXT_SUMMARY,
	.request = implementing_request,
	.decide = implementing_decide,
};
