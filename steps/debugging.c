#include "steps/steps.h"

static void debugging_request(struct step_context *c)
{
	steps_request_agent(c, "Reproducing", "debugger", "debugger-investigate",
		CONTEXT_DEBUG_REPORT, "reproduced | not_reproduced", STEPS_READS(NULL));
}

static void debugging_decide(struct step_context *c)
{
	struct str report = context_section(c->doc, CONTEXT_DEBUG_REPORT);

	if (steps_answer_is(c, CONTEXT_DEBUG_REPORT, "reproduced")) {
		steps_set_trigger(c, "debug_done");
		return;
	}
	context_put(c->doc, CONTEXT_LAST_FAILURE,
		str_of(arena_printf(
			c->arena, "Bug could not be reproduced.\n\n%s", steps_clip(c, report).p)));
	steps_set_trigger(c, "reproduction_failed");
}

const struct step step_debugging = {
	.state = "debugging",
	.about = "reproduce the bug and find its cause",
	.pending = "debug",
	.triggers = (const char *const[]){"debug_done", "reproduction_failed", NULL},
	.answer = CONTEXT_DEBUG_REPORT,
	.request = debugging_request,
	.decide = debugging_decide,
};
