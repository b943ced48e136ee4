#include "steps/steps.h"

#define SUMMARY "Implementation Summary"

static void request(struct step_context *c)
{
	struct step_request *r;

	if (context_has_section(c->doc, SUMMARY))
		return;
	r = steps_request_agent(c, "developer", "developer-implement", c->id, SUMMARY,
		"implemented | failed | needs_clarification");
	r->message = arena_printf(c->arena, "Implementing %s", c->id);
	steps_add_reads(c, r, "Researcher Brief");
}

static void decide(struct step_context *c)
{
	const char *word = steps_answer_word(c, SUMMARY);

	if (strcmp(word, "failed") == 0) {
		steps_set_failed(c, SUMMARY, "the developer could not implement it");
	} else if (strcmp(word, "needs_clarification") == 0) {
		steps_set_failed(c, SUMMARY, "the developer needs clarification");
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
	.answer = SUMMARY,
	.request = request,
	.decide = decide,
};
