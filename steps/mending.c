#include "steps/mending.h"

static bool spent(const struct moment *m, const struct mending *kind)
{
	const char *limits = (const char *)&m->workflow->limits;

	return context_count(m->doc, kind->counter) >=
	       *(const unsigned long *)(limits + kind->limit);
}

void mending_ask(struct moment *m, const struct mending *kind)
{
	const char *section = fix_section(m);
	struct request *r;

	if (spent(m, kind) || context_has_section(m->doc, section))
		return;
	r = ask_agent(m, "developer", "developer-fix", m->id, section, "fixed | failed");
	r->message = arena_printf(m->arena, "%s %s, %s", kind->message, m->id, section);
	ask_reads(m, r, "Researcher Brief");
	ask_reads(m, r, kind->notes);
	ask_reads(m, r, "Implementation Summary");
	ask_reads_fixes(m, r);
}

bool mending_decide(struct moment *m, const struct mending *kind)
{
	const char *section = fix_section(m);

	if (spent(m, kind)) {
		gives(m, "max_retries");
		return false;
	}
	if (strcmp(answer_word(m, section), "failed") == 0) {
		could_not(m, section, "the developer could not fix it");
		return false;
	}
	context_set_count(m->doc, kind->counter, context_count(m->doc, kind->counter) + 1);
	gives(m, "fix_done");
	return true;
}
