#include "steps/steps.h"

static struct fix_loop loop_of(const struct step_context *c)
{
	return (struct fix_loop){.counter = "fix_iteration",
		.limit = c->workflow->limits.max_fix_iterations,
		.message = "Fixing",
		.notes = "Last Failure"};
}

static void request(struct step_context *c)
{
	struct fix_loop loop = loop_of(c);

	fix_loop_request(c, &loop);
}

static void decide(struct step_context *c)
{
	struct fix_loop loop = loop_of(c);

	(void)fix_loop_decide(c, &loop);
}

const struct step step_fixing = {
	.state = "fixing",
	.about = "fix what validation found",
	.pending = "fix",
	.triggers = (const char *const[]){"fix_done", "max_retries", NULL},
	.request = request,
	.decide = decide,
};
