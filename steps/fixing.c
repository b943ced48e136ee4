#include "steps/mending.h"

static const struct mending kind = {
	.counter = "fix_iteration",
	.limit = offsetof(struct limits, max_fix_iterations),
	.message = "Fixing",
	.notes = "Last Failure",
};

static void ask(struct moment *m)
{
	mending_ask(m, &kind);
}

static void decide(struct moment *m)
{
	(void)mending_decide(m, &kind);
}

const struct step step_fixing = {
	.state = "fixing",
	.about = "mend what validation found",
	.pending = "fix",
	.triggers = (const char *const[]){"fix_done", "max_retries", NULL},
	.ask = ask,
	.decide = decide,
};
