#include "src/base/clock.h"
#include "src/merge/requeue.h"

const struct requeue_rule requeue_rules[] = {
	{"MergeConflict", REQUEUE_NEVER, 0},
	{"RebaseConflict", REQUEUE_NEVER, 0},
	{"HarnessUnavailable", REQUEUE_NEVER, 0},
	{"BranchQuotaExceeded", REQUEUE_NEVER, 0},
	{"PortCollision", REQUEUE_NEVER, 0},
	{"OffPeakDeferralExceeded", REQUEUE_NEVER, 0},
	{"WorktreeOwnershipMismatch", REQUEUE_NEVER, 0},
	{"CIFailure", REQUEUE_COUNTED, 3},
	{"BudgetExceeded", REQUEUE_COUNTED, 2},
	{"AgentTimeout", REQUEUE_COUNTED, 2},
	{"MaxRetriesExhausted", REQUEUE_ALWAYS, 0},
	{"MigrationConflict", REQUEUE_ALWAYS, 0},
	{"MigrationFailed", REQUEUE_ALWAYS, 0},
	{"EstimateVariance", REQUEUE_ALWAYS, 0},
	{0},
};

static const char *const words[] = {
	[TRIGGER_TRUST_SCORE] = "trust-score",
	[TRIGGER_OPERATOR] = "operator-requeue",
	[TRIGGER_TIME] = "time-threshold",
	[TRIGGER_FAILURE] = "failure-type",
};

const char *requeue_word(enum requeue_trigger t)
{
	return words[t];
}

static const struct requeue_rule *rule_of(const char *failure)
{
	for (const struct requeue_rule *r = requeue_rules; r->failure; r++)
		if (strcmp(r->failure, failure) == 0)
			return r;
	return NULL;
}

static unsigned count_recent(const struct requeue_ask *ask)
{
	unsigned n = 0;

	for (size_t i = 0; i < ask->n_past; i++)
		n += strcmp(ask->past[i].type, ask->failure) == 0 &&
		     ask->now - ask->past[i].at <= FAILURE_WINDOW_S;
	return n;
}

static bool by_failure(const struct requeue_ask *ask, const struct requeue_rule *rule)
{
	if (rule->class == REQUEUE_COUNTED)
		return count_recent(ask) + 1 >= rule->threshold;
	return rule->class == REQUEUE_ALWAYS;
}

/* An operator's request is not questioned; an old or missing score is not reused, whatever has
 * failed. */
int requeue_decide(const struct requeue_ask *ask, enum requeue_trigger *out, struct error *err)
{
	bool asked = ask->operator_asked && !ask->failure;
	const struct requeue_rule *rule = asked ? NULL : rule_of(ask->failure);

	if (!rule && !asked)
		return error_set(err, ERR_USAGE, "unknown failure '%.60s'", ask->failure);
	if (ask->operator_asked)
		*out = TRIGGER_OPERATOR;
	else if (ask->last_triage < 0 || ask->now - ask->last_triage > TRIAGE_STALE_S)
		*out = TRIGGER_TIME;
	else
		*out = by_failure(ask, rule) ? TRIGGER_FAILURE : TRIGGER_TRUST_SCORE;
	return 0;
}

static int merge_requeue_tell(const char *artifacts, const char *issue, const char *failure,
	const struct requeue_places *places, enum requeue_trigger trigger, struct error *err)
{
	CLEANUP(json_free)
	json *fields = JSON_OBJECT(JSON_TEXT("trigger", requeue_word(trigger)),
		JSON_BOOL("rescored", trigger != TRIGGER_TRUST_SCORE),
		JSON_IF(failure, JSON_TEXT("failure", failure)),
		JSON_IF(places && places->old >= 0, JSON_INT("oldPosition", places->old)),
		JSON_IF(places && places->fresh >= 0, JSON_INT("newPosition", places->fresh)));
	struct event h = {.id = EVENT_REQUEUE, .issue = issue, .fields = fields};

	return event_emit(artifacts, &h, err);
}

static int note(const char *artifacts, const char *issue, const char *failure,
	enum requeue_trigger trigger, int64_t now, struct error *err)
{
	CLEANUP(json_free) json *line = NULL;

	if (!failure) /* the triage that follows names the trigger */
		return 0;
	line = JSON_OBJECT(JSON_TIME("timestamp", now), JSON_TEXT("failure", failure),
		JSON_TEXT("decision", requeue_word(trigger)));
	return artifact_append(artifacts, issue, "triage-history.jsonl", line, err);
}

int requeue_issue(const char *artifacts, const char *issue, const char *failure,
	bool operator_asked, const struct requeue_places *places, enum requeue_trigger *out,
	struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	struct triage_history h;
	struct requeue_ask ask = {.failure = failure, .operator_asked = operator_asked};

	if (triage_read(&a, artifacts, issue, &h, err) < 0)
		return -1;
	ask.past = h.failures;
	ask.n_past = h.n_failures;
	ask.last_triage = h.last_triage;
	ask.now = clock_now();
	if (requeue_decide(&ask, out, err) < 0 ||
		note(artifacts, issue, failure, *out, ask.now, err) < 0)
		return -1;
	return merge_requeue_tell(artifacts, issue, failure, places, *out, err);
}

int requeue_and_triage(const char *artifacts, const char *issue, const char *failure,
	double composite, bool *storm, struct error *err)
{
	enum requeue_trigger trigger;
	unsigned count;

	*storm = false;
	if (requeue_issue(artifacts, issue, failure, !failure, NULL, &trigger, err) < 0)
		return -1;
	return trigger == TRIGGER_TRUST_SCORE
		       ? 0
		       : triage_append(artifacts, issue,
				 &(struct triage){.trigger = requeue_word(trigger),
					 .detail = failure,
					 .composite = composite},
				 &count, storm, err);
}

/* ---- pull requests that were approved ---- */

static const struct requeue_pull conflicts = {"MergeConflict",
	"its pull request conflicts with the target",
	"The approved pull request conflicts with its target. Fetch, rebase the branch onto the "
	"target, keep what both sides want, run the tests, and push with --force-with-lease."};
static const struct requeue_pull checks = {"CIFailure", "a check of its pull request failed",
	"A check of the approved pull request failed: `gh pr checks` names it. Read its log, find "
	"the first fault, repair its cause, and push."};
static const struct requeue_pull review = {NULL, "changes of its pull request are requested",
	"A person has requested changes of the approved pull request. Read the review, do what it "
	"says, answer its comments, and push."};

const struct requeue_pull *requeue_find(const struct forge_open_pull *p, const char *approved_at)
{
	if (p->conflicts)
		return &conflicts;
	if (p->checks_failed)
		return &checks;
	return p->changes_requested && approved_at && strcmp(p->changes_requested, approved_at) > 0
		       ? &review
		       : NULL;
}
