#include "steps/steps.h"

static void spec_finding_decide(struct step_context *c)
{
	steps_set_trigger(c, "spec_found");
}

const struct step step_spec_finding = {
	.state = "spec-finding",
	.about = "find the one _spec_*.md that names the work item",
	.pending = "",
	.triggers = (const char *const[]){"spec_found", NULL},
	.before_decide = EFFECT_FIND_SPEC,
	.decide = spec_finding_decide,
};
