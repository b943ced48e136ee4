#include "steps/steps.h"
#include "src/machine/verdict.h"

#define PR    "PR URL"
#define NOTES "Review Notes"

static void ask_pull_request(struct moment *m)
{
	struct request *r;

	if (context_has_section(m->doc, PR))
		return;
	r = ask_agent(m, "developer", "developer-create-pr", m->id, PR, "pr_created | failed");
	r->message = arena_printf(m->arena, "Opening a pull request for %s", m->id);
	ask_reads(m, r, "Researcher Brief");
	ask_reads(m, r, "Implementation Summary");
	ask_reads_fixes(m, r);
}

static void ask(struct moment *m)
{
	struct request *r;

	if (!context_get(m->doc, "pr_url").n) {
		ask_pull_request(m);
		return;
	}
	if (context_has_section(m->doc, NOTES))
		return;
	r = ask_agent(
		m, "reviewer", "reviewer-review", m->id, NOTES, "approved | changes_requested");
	r->message = arena_printf(m->arena, "Reviewing %s", m->id);
	ask_reads(m, r, "Researcher Brief");
}

static void take_pull_request(struct moment *m)
{
	struct str url = verdict_pr_url(context_section(m->doc, PR));

	if (strcmp(answer_word(m, PR), "failed") == 0) {
		could_not(m, PR, "the developer could not open a pull request");
	} else if (!url.n) {
		could_not(m, PR, "the answer has no pull-request URL");
	} else {
		context_set(m->doc, "pr_url", url);
		m->meaning = MEANS_ASK_AGAIN;
	}
}

static void decide(struct moment *m)
{
	const char *word;
	bool approved;

	if (!context_get(m->doc, "pr_url").n) {
		take_pull_request(m);
		return;
	}
	word = answer_word(m, NOTES);
	approved = strcmp(word, "approved") == 0 ||
		   (strcmp(word, "changes_requested") != 0 &&
			   verdict_approved(context_section(m->doc, NOTES)));
	context_set_count(
		m->doc, "review_cycle_count", context_count(m->doc, "review_cycle_count") + 1);
	gives(m, approved ? "approved" : "changes_requested");
}

const struct step step_reviewing = {
	.state = "reviewing",
	.about = "open the pull request, then have it reviewed",
	.pending = "review",
	.verdicts = (const char *const[]){NOTES, NULL},
	.triggers = (const char *const[]){"approved", "changes_requested", NULL},
	.ask = ask,
	.decide = decide,
};
