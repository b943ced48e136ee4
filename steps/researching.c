#include "steps/steps.h"

#define BRIEF "Researcher Brief"

/* A path with a blank in it is quoted, so that the skill still sees two arguments. */
static const char *arguments(struct moment *m)
{
	CLEANUP(buf_release) struct buf args = BUF_INIT;
	struct str spec = context_get(m->doc, "spec_path");

	buf_adds(&args, m->id);
	if (spec.n)
		buf_addc(&args, ' ');
	if (spec.n && strpbrk(spec.p, " \t\n'\"\\$`"))
		buf_add_shell(&args, spec);
	else
		buf_add(&args, spec);
	return arena_dup(m->arena, buf_str(&args));
}

static void ask(struct moment *m)
{
	struct request *r;

	if (context_has_section(m->doc, BRIEF))
		return;
	r = ask_agent(m, "researcher", m->research_skill, arguments(m), BRIEF, "briefed | failed");
	r->message = arena_printf(m->arena, "Researching %s", m->id);
	ask_reads_if_there(m, r, "Debug Report");
}

static void decide(struct moment *m)
{
	if (strcmp(answer_word(m, BRIEF), "failed") == 0)
		could_not(m, BRIEF, "the researcher could not write a brief");
	else
		gives(m, "research_done");
}

const struct step step_researching = {
	.state = "researching",
	.about = "write the brief that all later agents read",
	.pending = "research",
	.triggers = (const char *const[]){"research_done", NULL},
	.answer = BRIEF,
	.ask = ask,
	.decide = decide,
};
