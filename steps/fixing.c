#include "steps/steps.h"

/* The developer fixes what validation found (`fixing`) or what the reviewers found (`fixing-pr`).
 */
struct fix_loop {
	const char *counter; /* of the iterations */
	const char *doing;
	const char *notes; /* section that says what is wrong */
};

static const struct fix_loop validation_loop = {"fix_iteration", "Fixing", CONTEXT_LAST_FAILURE};
static const struct fix_loop review_loop = {
	"review_fix_iteration", "Fixing the pull request of", CONTEXT_REVIEW_NOTES};

static const struct fix_loop *loop_of(const struct step_context *c)
{
	return c->step == &step_fixing_pr ? &review_loop : &validation_loop;
}

static bool fixing_is_spent(const struct step_context *c, const struct fix_loop *loop)
{
	const struct workflow_limits *l = &c->workflow->limits;

	return context_count(c->doc, loop->counter) >=
	       (loop == &review_loop ? l->max_review_fix_iterations : l->max_fix_iterations);
}

/* Asks the developer for `Fix N`, unless it exists or the limit is reached. */
static void fixing_request(struct step_context *c)
{
	const struct fix_loop *loop = loop_of(c);
	const char *section = steps_fix_section(c);
	struct step_request *r;

	if (fixing_is_spent(c, loop))
		return;
	r = steps_request_agent(c, loop->doing, "developer", "developer-fix", section,
		"fixed | failed | needs_clarification",
		STEPS_READS(CONTEXT_BRIEF, loop->notes, CONTEXT_SUMMARY, STEPS_FIXES));
	if (r)
		r->message = arena_printf(c->arena, "%s, %s", r->message, section);
}

static void fixing_decide(struct step_context *c)
{
	const struct fix_loop *loop = loop_of(c);
	const char *section = steps_fix_section(c);

	if (fixing_is_spent(c, loop)) {
		steps_set_trigger(c, "max_retries");
	} else if (steps_answer_is(c, section, "failed")) {
		steps_set_failed(c, section, "the developer could not fix it");
	} else if (steps_answer_is(c, section, "needs_clarification")) {
		steps_set_failed(c, section, "the developer needs clarification");
		c->result = STEP_UNCLEAR;
	} else {
		steps_set_trigger(c, "fix_done");
		if (!steps_claim(c, section, EVIDENCE_WORK))
			return;
		context_set_count(c->doc, loop->counter, context_count(c->doc, loop->counter) + 1);
		if (loop == &review_loop) /* so that the next reviewer is asked again */
			context_remove(c->doc, loop->notes);
	}
}

static const char *const triggers[] = {"fix_done", "max_retries", NULL};

const struct step step_fixing = {
	.state = "fixing",
	.about = "fix what validation found",
	.pending = "fix",
	.triggers = triggers,
	.evidence = EVIDENCE_WORK,
	.request = fixing_request,
	.decide = fixing_decide,
};

const struct step step_fixing_pr = {
	.state = "fixing-pr",
	.about = "fix what the reviewers found",
	.pending = "fix-pr",
	.triggers = triggers,
	.before_request = EFFECT_PR_CHECKS | EFFECT_PR_COMMENTS,
	.evidence = EVIDENCE_WORK,
	.request = fixing_request,
	.decide = fixing_decide,
};
