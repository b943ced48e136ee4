#include "steps/steps.h"
#include "src/machine/verdict.h"

static void request(struct step_context *c)
{
	if (!context_get(c->doc, "pr_url").n)
		steps_request_agent(c, "Opening a pull request for", "developer",
			"developer-create-pr", CONTEXT_PULL_REQUEST, "pr_created | failed",
			STEPS_READS(CONTEXT_BRIEF, CONTEXT_SUMMARY, STEPS_FIXES));
	else
		steps_request_agent(c, "Reviewing", "reviewer", "reviewer-review",
			CONTEXT_REVIEW_NOTES, "approved | changes_requested",
			STEPS_READS(CONTEXT_BRIEF));
}

static void take_pull_request(struct step_context *c)
{
	struct str url = verdict_pr_url(context_section(c->doc, CONTEXT_PULL_REQUEST));

	if (strcmp(steps_answer_word(c, CONTEXT_PULL_REQUEST), "failed") == 0) {
		steps_set_failed(
			c, CONTEXT_PULL_REQUEST, "the developer could not open a pull request");
	} else if (!url.n) {
		steps_set_failed(c, CONTEXT_PULL_REQUEST, "the answer has no pull-request URL");
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
	word = steps_answer_word(c, CONTEXT_REVIEW_NOTES);
	approved = strcmp(word, "approved") == 0 ||
		   (strcmp(word, "changes_requested") != 0 &&
			   verdict_approved(context_section(c->doc, CONTEXT_REVIEW_NOTES)));
	context_set_count(
		c->doc, "review_cycle_count", context_count(c->doc, "review_cycle_count") + 1);
	steps_set_trigger(c, approved ? "approved" : "changes_requested");
}

const struct step step_reviewing = {
	.state = "reviewing",
	.about = "open the pull request, then have it reviewed",
	.pending = "review",
	.verdicts = (const char *const[]){CONTEXT_REVIEW_NOTES, NULL},
	.triggers = (const char *const[]){"approved", "changes_requested", NULL},
	.request = request,
	.decide = decide,
};
