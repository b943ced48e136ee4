#include "steps/steps.h"

static void request(struct step_context *c)
{
	steps_request_agent(c, "Implementing", "developer", "developer-implement", CONTEXT_SUMMARY,
		"implemented | failed | needs_clarification", STEPS_READS(CONTEXT_BRIEF));
}

static void decide(struct step_context *c)
{
	const char *word = steps_answer_word(c, CONTEXT_SUMMARY);

	if (strcmp(word, "failed") == 0) {
		steps_set_failed(c, CONTEXT_SUMMARY, "the developer could not implement it");
	} else if (strcmp(word, "needs_clarification") == 0) {
		steps_set_failed(c, CONTEXT_SUMMARY, "the developer needs clarification");
		c->result = STEP_UNCLEAR;
	} else {
		steps_set_trigger(c, "impl_done");
	}
}

const struct step step_implementing = {
	.state = "implementing",
	.about = "hand the brief to the developer",
	.pending = "implement",
	.triggers = (const char *const[]){"impl_done", NULL},
	.answer = CONTEXT_SUMMARY,
	.request = request,
	.decide = decide,
};
