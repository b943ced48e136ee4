#include "steps/steps.h"

#define REPORT "Debug Report"

static void ask(struct moment *m)
{
	if (!context_has_section(m->doc, REPORT))
		ask_agent(m, "debugger", "debugger-investigate", m->id, REPORT,
			"reproduced | not_reproduced")
			->message = arena_printf(m->arena, "Reproducing %s", m->id);
}

/* The word, when the agent gave one, is clearer than the heading of its report. */
static void decide(struct moment *m)
{
	struct str report = context_section(m->doc, REPORT);
	bool headed = str_find(report, STR("# Debug report for")) < report.n;

	if (headed && strcmp(answer_word(m, REPORT), "not_reproduced") != 0) {
		gives(m, "debug_done");
		return;
	}
	context_put(m->doc, "Last Failure",
		str_of(arena_printf(
			m->arena, "Bug could not be reproduced.\n\n%s", clipped(m, report).p)));
	gives(m, "reproduction_failed");
}

const struct step step_debugging = {
	.state = "debugging",
	.about = "reproduce the bug and find its cause",
	.pending = "debug",
	.triggers = (const char *const[]){"debug_done", "reproduction_failed", NULL},
	.answer = REPORT,
	.ask = ask,
	.decide = decide,
};
