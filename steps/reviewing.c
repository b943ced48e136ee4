#include "steps/steps.h"
#include "src/machine/verdict.h"

static void reviewing_request(struct step_context *c)
{
	struct step_request *r;

	if (!context_get(c->doc, "pr_url").n) {
		steps_request_agent(c, "Opening a pull request for", "developer",
			"developer-create-pr", CONTEXT_PULL_REQUEST, "pr_created | failed",
			STEPS_READS(CONTEXT_BRIEF, CONTEXT_SUMMARY, STEPS_FIXES));
		return;
	}
	r = steps_request_agent(c, "Reviewing", steps_reviewer(c), "reviewer-review",
		CONTEXT_REVIEW_NOTES, "approved | changes_requested",
		STEPS_READS(CONTEXT_BRIEF, STEPS_LANDING));
	if (r && c->workflow->review_comments)
		r->args = arena_printf(c->arena, "%s comment", c->id);
}

static void take_pull_request(struct step_context *c)
{
	struct str url = verdict_pr_url(context_section(c->doc, CONTEXT_PULL_REQUEST));

	if (steps_answer_is(c, CONTEXT_PULL_REQUEST, "failed")) {
		steps_set_failed(
			c, CONTEXT_PULL_REQUEST, "the developer could not open a pull request");
	} else if (!url.n) {
		steps_set_failed(c, CONTEXT_PULL_REQUEST, "the answer has no pull-request URL");
	} else {
		c->result = STEP_ASK_AGAIN;
		if (steps_claim(c, CONTEXT_PULL_REQUEST, EVIDENCE_PULL))
			context_set(c->doc, "pr_url", url);
	}
}

static void reviewing_decide(struct step_context *c)
{
	bool approved = steps_answer_is(c, CONTEXT_REVIEW_NOTES, "approved");

	if (!context_get(c->doc, "pr_url").n) {
		take_pull_request(c);
		return;
	}
	steps_set_trigger(c, approved ? "approved" : "changes_requested");
	if (approved && !steps_claim(c, CONTEXT_REVIEW_NOTES, EVIDENCE_REVIEW))
		return;
	context_set_count(
		c->doc, "review_cycle_count", context_count(c->doc, "review_cycle_count") + 1);
}

const struct step step_reviewing = {
	.state = "reviewing",
	.about = "open the pull request, then have it reviewed",
	.pending = "review",
	.verdicts = (const char *const[]){CONTEXT_REVIEW_NOTES, NULL},
	.triggers = (const char *const[]){"approved", "changes_requested", NULL},
	.before_request = EFFECT_PR_COMMENTS,
	.evidence = EVIDENCE_PULL | EVIDENCE_REVIEW,
	.request = reviewing_request,
	.decide = reviewing_decide,
};
