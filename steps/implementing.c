#include "steps/steps.h"

#define SUMMARY "Implementation Summary"

static void ask(struct moment *m)
{
	struct request *r;

	if (context_has_section(m->doc, SUMMARY))
		return;
	r = ask_agent(m, "developer", "developer-implement", m->id, SUMMARY,
		"implemented | failed | needs_clarification");
	r->message = arena_printf(m->arena, "Implementing %s", m->id);
	ask_reads(m, r, "Researcher Brief");
}

static void decide(struct moment *m)
{
	const char *word = answer_word(m, SUMMARY);

	if (strcmp(word, "failed") == 0) {
		could_not(m, SUMMARY, "the developer could not implement it");
	} else if (strcmp(word, "needs_clarification") == 0) {
		could_not(m, SUMMARY, "the developer needs clarification");
		m->meaning = MEANS_UNCLEAR;
	} else {
		gives(m, "impl_done");
	}
}

const struct step step_implementing = {
	.state = "implementing",
	.about = "hand the brief to the developer",
	.pending = "implement",
	.triggers = (const char *const[]){"impl_done", NULL},
	.answer = SUMMARY,
	.ask = ask,
	.decide = decide,
};
