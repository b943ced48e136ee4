#include "steps/steps.h"

static bool is_spent(const struct step_context *c, const struct fix_loop *loop)
{
	return context_count(c->doc, loop->counter) >= loop->limit;
}

void fix_loop_request(struct step_context *c, const struct fix_loop *loop)
{
	const char *section = steps_fix_section(c);
	struct step_request *r;

	if (is_spent(c, loop) || context_has_section(c->doc, section))
		return;
	r = steps_request_agent(c, "developer", "developer-fix", c->id, section, "fixed | failed");
	r->message = arena_printf(c->arena, "%s %s, %s", loop->message, c->id, section);
	steps_add_reads(c, r, "Researcher Brief");
	steps_add_reads(c, r, loop->notes);
	steps_add_reads(c, r, "Implementation Summary");
	steps_add_fixes(c, r);
}

bool fix_loop_decide(struct step_context *c, const struct fix_loop *loop)
{
	const char *section = steps_fix_section(c);

	if (is_spent(c, loop)) {
		steps_set_trigger(c, "max_retries");
		return false;
	}
	if (strcmp(steps_answer_word(c, section), "failed") == 0) {
		steps_set_failed(c, section, "the developer could not fix it");
		return false;
	}
	context_set_count(c->doc, loop->counter, context_count(c->doc, loop->counter) + 1);
	steps_set_trigger(c, "fix_done");
	return true;
}
