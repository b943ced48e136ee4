#include "steps/steps.h"

/* The developer fixes what validation found (`fixing`) or what the reviewers found (`fixing-pr`).
 */
struct fix_loop {
	const char *counter; /* of the iterations */
	unsigned long limit; /* of that counter */
	const char *message; /* precedes the work item and the section */
	const char *notes;   /* section that says what is wrong */
};

static struct fix_loop validation_loop(const struct step_context *c)
{
	return (struct fix_loop){
		"fix_iteration", c->workflow->limits.max_fix_iterations, "Fixing", "Last Failure"};
}

static struct fix_loop review_loop(const struct step_context *c)
{
	return (struct fix_loop){"review_fix_iteration",
		c->workflow->limits.max_review_fix_iterations, "Fixing the pull request of",
		"Review Notes"};
}

static bool is_spent(const struct step_context *c, struct fix_loop loop)
{
	return context_count(c->doc, loop.counter) >= loop.limit;
}

/* Asks the developer for `Fix N`, unless it exists or the limit is reached. */
static void request_fix(struct step_context *c, struct fix_loop loop)
{
	const char *section = steps_fix_section(c);
	struct step_request *r;

	if (is_spent(c, loop) || context_has_section(c->doc, section))
		return;
	r = steps_request_agent(c, "developer", "developer-fix", c->id, section, "fixed | failed");
	r->message = arena_printf(c->arena, "%s %s, %s", loop.message, c->id, section);
	steps_add_reads(c, r, "Researcher Brief");
	steps_add_reads(c, r, loop.notes);
	steps_add_reads(c, r, "Implementation Summary");
	steps_add_fixes(c, r);
}

/* True for fix_done; false for max_retries and a failed answer. */
static bool decide_fix(struct step_context *c, struct fix_loop loop)
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
	context_set_count(c->doc, loop.counter, context_count(c->doc, loop.counter) + 1);
	steps_set_trigger(c, "fix_done");
	return true;
}

static void request_validation(struct step_context *c)
{
	request_fix(c, validation_loop(c));
}

static void decide_validation(struct step_context *c)
{
	(void)decide_fix(c, validation_loop(c));
}

static void request_review(struct step_context *c)
{
	request_fix(c, review_loop(c));
}

/* Removes the old notes, so that the next reviewer is asked again. */
static void decide_review(struct step_context *c)
{
	if (decide_fix(c, review_loop(c)))
		context_put(c->doc, "Review Notes", (struct str){0});
}

static const char *const triggers[] = {"fix_done", "max_retries", NULL};

const struct step step_fixing = {
	.state = "fixing",
	.about = "fix what validation found",
	.pending = "fix",
	.triggers = triggers,
	.request = request_validation,
	.decide = decide_validation,
};

const struct step step_fixing_pr = {
	.state = "fixing-pr",
	.about = "fix what the reviewers found",
	.pending = "fix-pr",
	.triggers = triggers,
	.before_request = EFFECT_PR_CHECKS,
	.request = request_review,
	.decide = decide_review,
};
