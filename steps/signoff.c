#include "src/machine/verdict.h"
#include "src/sys/forge.h"
#include "steps/steps.h"

#define REVIEW   "Signoff Review"
#define RESEARCH "Signoff Research"
#define BUILD    "Signoff Build Result"

enum { CHECKS_TIMEOUT_S = 1800 };

/* The checks of the pull request, if its forge has a program that can tell. */
static const char *forge_checks_command(struct step_context *c)
{
	const char *url = context_get(c->doc, "pr_url").p;
	struct forge_pull p;

	if (!*url)
		return "dev-team checks";
	if (!forge_find_pull(str_of(url), &p) || (p.kind != FORGE_GITHUB && p.kind != FORGE_GITLAB))
		return NULL;
	return arena_printf(c->arena, "dev-team checks %s", steps_quote(c, url));
}

/* The branch was pushed: what is validated is the pushed commit. */
static struct step_request *request_checks(struct step_context *c)
{
	const char *checks = c->workflow->checks ? c->workflow->checks : forge_checks_command(c);
	unsigned limit = c->workflow->validate_timeout_s;
	unsigned timeout_s = (limit ? limit : STEPS_VALIDATE_S) + CHECKS_TIMEOUT_S;

	return checks ? steps_request_validated(c, "checks", checks, timeout_s, BUILD)
		      : steps_request_command(
				c, "checks", steps_validate_command(c), timeout_s, BUILD);
}

/* Three at once. */
static void signoff_request(struct step_context *c)
{
	struct step_request *r = steps_request_agent(c, "Signing off", steps_reviewer(c),
		"reviewer-sign-off", REVIEW, "approved | changes_requested",
		STEPS_READS(CONTEXT_BRIEF, STEPS_LANDING));

	if (r)
		r->message = arena_printf(c->arena, "%s: review", r->message);
	r = steps_request_agent(c, "Signing off", "researcher", "researcher-validate", RESEARCH,
		"validated | failed", STEPS_READS(CONTEXT_BRIEF, CONTEXT_SUMMARY, STEPS_FIXES));
	if (r)
		r->message = arena_printf(c->arena, "%s: exit criteria", r->message);
	r = request_checks(c);
	if (r)
		r->message = arena_printf(c->arena, "Signing off %s: validation and checks", c->id);
}

/* All three or none: what was approved must be what was checked. */
static bool signoff_claim(struct step_context *c)
{
	bool verified = steps_claim(c, REVIEW, EVIDENCE_REVIEW);

	steps_set_trigger(c, "approved");
	(void)steps_claim(c, RESEARCH, EVIDENCE_REVIEW);
	(void)steps_claim(c, BUILD, EVIDENCE_TREE);
	return verified;
}

static void signoff_judge(struct step_context *c, struct buf *failures)
{
	if (!steps_answer_is(c, REVIEW, "approved"))
		steps_add_failure(c, failures, REVIEW);
	if (!steps_answer_is(c, RESEARCH, "validated"))
		steps_add_failure(c, failures, RESEARCH);
	if (!steps_answer_is(c, BUILD, "passed"))
		steps_add_failure(c, failures, BUILD);
}

static void signoff_decide(struct step_context *c)
{
	CLEANUP(buf_release) struct buf failures = BUF_INIT;

	signoff_judge(c, &failures);
	if (!failures.len && !signoff_claim(c))
		return;
	if (failures.len) {
		context_put(c->doc, CONTEXT_REVIEW_NOTES, buf_str(&failures));
		context_set_count(c->doc, "signoff_cycle_count",
			context_count(c->doc, "signoff_cycle_count") + 1);
	} else {
		context_set_count(c->doc, "signoff_cycle_count", 0);
		context_set_count(c->doc, "review_cycle_count", 0);
	}
	context_put(c->doc, CONTEXT_LAST_FAILURE, buf_str(&failures));
	context_remove(c->doc, REVIEW);
	context_remove(c->doc, RESEARCH);
	context_remove(c->doc, BUILD);
	steps_set_trigger(c, failures.len ? "changes_requested" : "approved");
}

const struct step step_signoff = {
	.state = "signoff",
	.about = "three at once: review, exit criteria, validation and checks",
	.pending = "signoff",
	.triggers = (const char *const[]){"approved", "changes_requested", NULL},
	.before_request = EFFECT_PUSH | EFFECT_PR_COMMENTS,
	.refused = "changes_requested",
	.void_counter = "signoff_cycle_count",
	.evidence = EVIDENCE_REVIEW | EVIDENCE_TREE,
	.verdicts = (const char *const[]){REVIEW, RESEARCH, BUILD, NULL},
	.request = signoff_request,
	.decide = signoff_decide,
};
