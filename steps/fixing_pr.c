#include "steps/steps.h"

static bool spent(const struct moment *m)
{
	return context_count(m->doc, "review_fix_iteration") >=
	       m->workflow->limits.max_review_fix_iterations;
}

static void ask(struct moment *m)
{
	const char *section = fix_section(m);
	struct request *r;

	if (spent(m) || context_has_section(m->doc, section))
		return;
	r = ask_agent(m, "developer", "developer-fix", m->id, section, "fixed | failed");
	r->message = arena_printf(m->arena, "Fixing the pull request of %s, %s", m->id, section);
	ask_reads(m, r, "Researcher Brief");
	ask_reads(m, r, "Review Notes");
	ask_reads(m, r, "Implementation Summary");
	ask_reads_fixes(m, r);
}

/* The old notes go, so that a reviewer who is asked next is asked anew. */
static void decide(struct moment *m)
{
	const char *section = fix_section(m);

	if (spent(m)) {
		gives(m, "max_retries");
	} else if (strcmp(answer_word(m, section), "failed") == 0) {
		could_not(m, section, "the developer could not fix it");
	} else {
		context_set_count(m->doc, "review_fix_iteration",
			context_count(m->doc, "review_fix_iteration") + 1);
		context_put(m->doc, "Review Notes", (struct str){0});
		gives(m, "fix_done");
	}
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
