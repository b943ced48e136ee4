#include "steps/steps.h"

static struct fix_loop loop_of(const struct step_context *c)
{
	return (struct fix_loop){.counter = "review_fix_iteration",
		.limit = c->workflow->limits.max_review_fix_iterations,
		.message = "Fixing the pull request of",
		.notes = "Review Notes"};
}

static void request(struct step_context *c)
{
	struct fix_loop loop = loop_of(c);

	fix_loop_request(c, &loop);
}

/* Removes the old notes, so that the next reviewer is asked again. */
static void decide(struct step_context *c)
{
	struct fix_loop loop = loop_of(c);

	if (fix_loop_decide(c, &loop))
		context_put(c->doc, "Review Notes", (struct str){0});
}

const struct step step_fixing_pr = {
	.state = "fixing-pr",
	.about = "fix what the reviewers found",
	.pending = "fix-pr",
	.triggers = (const char *const[]){"fix_done", "max_retries", NULL},
	.before_request = EFFECT_PR_CHECKS,
	.request = request,
	.decide = decide,
};
