#include "steps/mending.h"

static const struct mending kind = {
	.counter = "review_fix_iteration",
	.limit = offsetof(struct limits, max_review_fix_iterations),
	.message = "Fixing the pull request of",
	.notes = "Review Notes",
};

static void ask(struct moment *m)
{
	mending_ask(m, &kind);
}

/* The old notes go, so that a reviewer who is asked next is asked anew. */
static void decide(struct moment *m)
{
	if (mending_decide(m, &kind))
		context_put(m->doc, "Review Notes", (struct str){0});
}

const struct step step_fixing_pr = {
	.state = "fixing-pr",
	.about = "mend what the reviewers found",
	.pending = "fix-pr",
	.triggers = (const char *const[]){"fix_done", "max_retries", NULL},
	.before_ask = EFFECT_PR_CHECKS,
	.ask = ask,
	.decide = decide,
};
