#include "steps/steps.h"
#include "src/machine/verdict.h"

#define REVIEW   "Signoff Review"
#define RESEARCH "Signoff Research"
#define BUILD    "Signoff Build Result"

enum { CHECKS_TIMEOUT_S = 1800 };

static void ask_review(struct moment *m)
{
	struct request *r = ask_agent(
		m, "reviewer", "reviewer-sign-off", m->id, REVIEW, "approved | changes_requested");

	r->message = arena_printf(m->arena, "Signing off %s: review", m->id);
	ask_reads(m, r, "Researcher Brief");
}

static void ask_research(struct moment *m)
{
	struct request *r = ask_agent(
		m, "researcher", "researcher-validate", m->id, RESEARCH, "validated | failed");

	r->message = arena_printf(m->arena, "Signing off %s: exit criteria", m->id);
	ask_reads(m, r, "Researcher Brief");
	ask_reads(m, r, "Implementation Summary");
	ask_reads_fixes(m, r);
}

static void ask_build(struct moment *m)
{
	CLEANUP(buf_release) struct buf rest = BUF_INIT;
	struct str url = context_get(m->doc, "pr_url");

	if (m->workflow->checks) {
		buf_adds(&rest, m->workflow->checks);
	} else {
		buf_adds(&rest, "gh pr checks ");
		if (url.n) {
			buf_add_shell(&rest, url);
			buf_addc(&rest, ' ');
		}
		buf_adds(&rest, "--watch");
	}
	ask_command(m, "checks", arena_dup(m->arena, buf_str(&rest)), CHECKS_TIMEOUT_S, BUILD)
		->message =
		arena_printf(m->arena, "Signing off %s: checks of the pull request", m->id);
}

/* Three at once; after a partial answer what is missing is asked for one at a time. */
static void ask(struct moment *m)
{
	bool review = context_has_section(m->doc, REVIEW),
	     research = context_has_section(m->doc, RESEARCH),
	     build = context_has_section(m->doc, BUILD), partly = review || research || build;

	m->partly = partly;
	if (!review)
		ask_review(m);
	if (!research && !(partly && m->n_requests))
		ask_research(m);
	if (!build && !(partly && m->n_requests))
		ask_build(m);
}

static void add_failure(struct moment *m, struct buf *failures, const char *section)
{
	if (failures->len)
		buf_adds(failures, "\n\n---\n\n");
	buf_addf(failures, "%s:\n\n", section);
	buf_add(failures, clipped(m, context_section(m->doc, section)));
}

static void judge(struct moment *m, struct buf *failures)
{
	const char *review = answer_word(m, REVIEW), *research = answer_word(m, RESEARCH),
		   *build = answer_word(m, BUILD);

	if (strcmp(review, "approved") != 0 &&
		(*review || !verdict_approved(context_section(m->doc, REVIEW))))
		add_failure(m, failures, REVIEW);
	if (strcmp(research, "validated") != 0 &&
		(*research || !verdict_validated(context_section(m->doc, RESEARCH))))
		add_failure(m, failures, RESEARCH);
	if (!verdict_passed(context_section(m->doc, BUILD)) || strcmp(build, "failed") == 0)
		add_failure(m, failures, BUILD);
}

static void decide(struct moment *m)
{
	CLEANUP(buf_release) struct buf failures = BUF_INIT;

	judge(m, &failures);
	if (failures.len) {
		context_put(m->doc, "Review Notes", buf_str(&failures));
		context_set_count(m->doc, "signoff_cycle_count",
			context_count(m->doc, "signoff_cycle_count") + 1);
	} else {
		context_set_count(m->doc, "signoff_cycle_count", 0);
		context_set_count(m->doc, "review_cycle_count", 0);
	}
	context_put(m->doc, "Last Failure", buf_str(&failures));
	context_put(m->doc, REVIEW, (struct str){0});
	context_put(m->doc, RESEARCH, (struct str){0});
	context_put(m->doc, BUILD, (struct str){0});
	gives(m, failures.len ? "changes_requested" : "approved");
}

const struct step step_signoff = {
	.state = "signoff",
	.about = "three at once: review, exit criteria, checks of the pull request",
	.pending = "signoff",
	.triggers = (const char *const[]){"approved", "changes_requested", NULL},
	.before_ask = EFFECT_PUSH,
	.verdicts = (const char *const[]){REVIEW, RESEARCH, BUILD, NULL},
	.ask = ask,
	.decide = decide,
};
