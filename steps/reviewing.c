#include "steps/steps.h"
#include "src/machine/verdict.h"

#define PR    "PR URL"
#define NOTES "Review Notes"

static void request_pull_request(struct step_context *c)
{
	struct step_request *r;

	if (context_has_section(c->doc, PR))
		return;
	r = steps_request_agent(
		c, "developer", "developer-create-pr", c->id, PR, "pr_created | failed");
	r->message = arena_printf(c->arena, "Opening a pull request for %s", c->id);
	steps_add_reads(c, r, "Researcher Brief");
	steps_add_reads(c, r, "Implementation Summary");
	steps_add_fixes(c, r);
}

static void request(struct step_context *c)
{
	struct step_request *r;

	if (!context_get(c->doc, "pr_url").n) {
		request_pull_request(c);
		return;
	}
	if (context_has_section(c->doc, NOTES))
		return;
	r = steps_request_agent(
		c, "reviewer", "reviewer-review", c->id, NOTES, "approved | changes_requested");
	r->message = arena_printf(c->arena, "Reviewing %s", c->id);
	steps_add_reads(c, r, "Researcher Brief");
}

static void take_pull_request(struct step_context *c)
{
	struct str url = verdict_pr_url(context_section(c->doc, PR));

	if (strcmp(steps_answer_word(c, PR), "failed") == 0) {
		steps_set_failed(c, PR, "the developer could not open a pull request");
	} else if (!url.n) {
		steps_set_failed(c, PR, "the answer has no pull-request URL");
	} else {
		context_set(c->doc, "pr_url", url);
		c->result = STEP_ASK_AGAIN;
	}
}

static void decide(struct step_context *c)
{
	const char *word;
	bool approved;

	if (!context_get(c->doc, "pr_url").n) {
		take_pull_request(c);
		return;
	}
	word = steps_answer_word(c, NOTES);
	approved = strcmp(word, "approved") == 0 ||
		   (strcmp(word, "changes_requested") != 0 &&
			   verdict_approved(context_section(c->doc, NOTES)));
	context_set_count(
		c->doc, "review_cycle_count", context_count(c->doc, "review_cycle_count") + 1);
	steps_set_trigger(c, approved ? "approved" : "changes_requested");
}

const struct step step_reviewing = {
	.state = "reviewing",
	.about = "open the pull request, then have it reviewed",
	.pending = "review",
	.verdicts = (const char *const[]){NOTES, NULL},
	.triggers = (const char *const[]){"approved", "changes_requested", NULL},
	.request = request,
	.decide = decide,
};
