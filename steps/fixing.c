#include "steps/steps.h"

static bool spent(const struct moment *m)
{
	return context_count(m->doc, "fix_iteration") >= m->workflow->limits.max_fix_iterations;
}

static void ask(struct moment *m)
{
	const char *section = fix_section(m);
	struct request *r;

	if (spent(m) || context_has_section(m->doc, section))
		return;
	r = ask_agent(m, "developer", "developer-fix", m->id, section, "fixed | failed");
	r->message = arena_printf(m->arena, "Fixing %s, %s", m->id, section);
	ask_reads(m, r, "Researcher Brief");
	ask_reads(m, r, "Last Failure");
	ask_reads(m, r, "Implementation Summary");
	ask_reads_fixes(m, r);
}

static void decide(struct moment *m)
{
	const char *section = fix_section(m);

	if (spent(m)) {
		gives(m, "max_retries");
	} else if (strcmp(answer_word(m, section), "failed") == 0) {
		could_not(m, section, "the developer could not fix it");
	} else {
		context_set_count(
			m->doc, "fix_iteration", context_count(m->doc, "fix_iteration") + 1);
		gives(m, "fix_done");
	}
}

const struct step step_fixing = {
	.state = "fixing",
	.about = "mend what validation found",
	.pending = "fix",
	.triggers = (const char *const[]){"fix_done", "max_retries", NULL},
	.ask = ask,
	.decide = decide,
};
