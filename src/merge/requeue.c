#include <math.h>
#include "src/base/clock.h"
#include "src/merge/requeue.h"
#include "src/sys/path.h"

static const struct requeue_rule {
	enum { REQUEUE_NEVER, REQUEUE_COUNTED, REQUEUE_ALWAYS } class;
	unsigned threshold; /* counted: so many within the window, including this one */
	const char *failures[11];
} requeue_rules[] = {
	{REQUEUE_NEVER, 0,
		{"MergeConflict", "RebaseConflict", "HarnessUnavailable", "BranchQuotaExceeded",
			"PortCollision", "OffPeakDeferralExceeded", "WorktreeOwnershipMismatch",
			"AdapterUnavailable", "AdmissionDenied", "IndependenceViolated"}},
	{REQUEUE_COUNTED, 3, {"CIFailure"}},
	{REQUEUE_COUNTED, 2, {"BudgetExceeded", "AgentTimeout", "ArtifactSchemaInvalid"}},
	{REQUEUE_ALWAYS, 0,
		{"MaxRetriesExhausted", "MigrationConflict", "MigrationFailed",
			"EstimateVariance"}},
};

const char *const requeue_words[] = {
	[TRIGGER_TRUST_SCORE] = "trust-score",
	[TRIGGER_OPERATOR] = "operator-requeue",
	[TRIGGER_TIME] = "time-threshold",
	[TRIGGER_FAILURE] = "failure-type",
};

/* ---- the history ---- */

enum { HISTORY_MAX = 16 << 20 };

static const char name[] = "triage-history.jsonl";
static const char original[] = "original";

static bool known_trigger(const char *word)
{
	for (size_t i = TRIGGER_OPERATOR; i < COUNT(requeue_words); i++)
		if (strcmp(word, requeue_words[i]) == 0)
			return true;
	return strcmp(word, original) == 0;
}

/* False: it is none of ours. */
static bool triage_take(struct arena *a, const json *line, struct triage_history *h)
{
	const char *time = json_get_str(line, "timestamp"), *type = json_get_str(line, "failure");
	const char *trigger = json_get_str(line, "trigger");
	int64_t at;

	if (!time || clock_parse(time, &at) < 0)
		return false;
	if (trigger) {
		h->triages[h->n++] = (struct triage){.trigger = arena_dup(a, str_of(trigger)),
			.detail = json_dup(a, line, "triggerDetail"),
			.composite = json_number(json_get(line, "composite"), 0),
			.cost_usd = json_number(json_get(line, "costUsd"), 0),
			.model = json_dup(a, line, "model"),
			.at = at};
		h->last_triage = at > h->last_triage ? at : h->last_triage;
	} else if (json_get_str(line, "reset")) {
		h->n_failures = 0;
	} else if (type) {
		h->failures[h->n_failures++] =
			(struct past_failure){arena_dup(a, str_of(type)), at};
	}
	return trigger || type || json_get_str(line, "reset");
}

int triage_read(struct arena *a, const char *artifacts, const char *issue,
	struct triage_history *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	size_t lines = 1;
	bool missing;
	char *path;

	*out = (struct triage_history){.last_triage = -1};
	if (artifact_path(a, artifacts, issue, name, &path, err) < 0)
		return -1;
	if (sys_read_file(&text, path, HISTORY_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < text.len; i++)
		lines += text.s[i] == '\n';
	out->triages = arena_alloc(a, lines * sizeof(*out->triages));
	out->failures = arena_alloc(a, lines * sizeof(*out->failures));
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		CLEANUP(json_free) json *of = NULL;
		struct error odd;

		out->skipped += str_trim(line).n &&
				(json_parse(&of, line, &odd) < 0 || !triage_take(a, of, out));
	}
	return 0;
}

unsigned triage_recent(const struct triage_history *h, int64_t now)
{
	unsigned n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += strcmp(h->triages[i].trigger, original) != 0 &&
		     now - h->triages[i].at <= FAILURE_WINDOW_S;
	return n;
}

/* Digits of 0.3 - 0.1 after the ninth carry no information. */
static double difference(double a, double b)
{
	double d = (a - b) * 1e9;

	return (double)(int64_t)(d < 0 ? d - 0.5 : d + 0.5) / 1e9;
}

static json *triage_print(const struct triage *t, const struct triage_history *before)
{
	double last = before->n ? before->triages[before->n - 1].composite : 0;
	double composite = isnan(t->composite) ? last : t->composite;
	json *delta = NULL;

	if (before->n)
		delta = JSON_OBJECT(JSON_NUMBER("composite", difference(composite, last)));
	return JSON_OBJECT(JSON_TIME("timestamp", t->at ? t->at : clock_now()),
		JSON_TEXT("trigger", t->trigger),
		JSON_IF(t->detail, JSON_TEXT("triggerDetail", t->detail)),
		JSON_NUMBER("composite", composite),
		JSON_IF(delta, JSON_VALUE("deltaFromPrevious", delta)),
		JSON_IF(t->model, JSON_TEXT("model", t->model)),
		JSON_IF(t->cost_usd > 0, JSON_NUMBER("costUsd", t->cost_usd)));
}

int triage_append(const char *artifacts, const char *issue, const struct triage *t, unsigned *count,
	bool *storm, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *line = NULL;
	struct triage_history h;

	if (!known_trigger(t->trigger))
		return error_set(err, ERR_USAGE,
			"unknown trigger '%.60s': one of original, time-threshold, failure-type, "
			"operator-requeue",
			t->trigger);
	if (triage_read(&a, artifacts, issue, &h, err) < 0)
		return -1;
	line = triage_print(t, &h);
	if (artifact_append(artifacts, issue, name, line, err) < 0)
		return -1;
	*count = triage_recent(&h, clock_now()) + (strcmp(t->trigger, original) != 0);
	*storm = *count > STORM_LIMIT;
	return *storm ? event_report(artifacts, EVENT_RETRIAGE_STORM, issue, NULL,
				JSON_OBJECT(JSON_INT("count", *count),
					JSON_INT("windowHours", FAILURE_WINDOW_S / 3600)),
				err)
		      : 0;
}

int triage_reset(const char *artifacts, const char *issue, const char *why, struct error *err)
{
	CLEANUP(json_free)
	json *line = JSON_OBJECT(JSON_TIME("timestamp", clock_now()), JSON_TEXT("reset", why));

	return artifact_append(artifacts, issue, name, line, err);
}

/* ---- decisions ---- */

static const struct requeue_rule *rule_of(const char *failure)
{
	for (const struct requeue_rule *r = requeue_rules; r < requeue_rules + COUNT(requeue_rules);
		r++)
		for (size_t i = 0; r->failures[i]; i++)
			if (strcmp(r->failures[i], failure) == 0)
				return r;
	return NULL;
}

static bool by_failure(const struct requeue_ask *ask, const struct requeue_rule *rule)
{
	unsigned n = 1;

	for (size_t i = 0; i < ask->past->n_failures; i++)
		n += strcmp(ask->past->failures[i].type, ask->failure) == 0 &&
		     ask->now - ask->past->failures[i].at <= FAILURE_WINDOW_S;
	return rule->class == REQUEUE_ALWAYS ||
	       (rule->class == REQUEUE_COUNTED && n >= rule->threshold);
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
	else if (ask->past->last_triage < 0 || ask->now - ask->past->last_triage > TRIAGE_STALE_S)
		*out = TRIGGER_TIME;
	else
		*out = by_failure(ask, rule) ? TRIGGER_FAILURE : TRIGGER_TRUST_SCORE;
	return 0;
}

int requeue_issue(const char *artifacts, const char *issue, const char *failure,
	bool operator_asked, const struct requeue_places *places, enum requeue_trigger *out,
	struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	CLEANUP(json_free) json *line = NULL;
	struct triage_history h;
	const struct requeue_ask ask = {.failure = failure,
		.past = &h,
		.now = clock_now(),
		.operator_asked = operator_asked};

	if (triage_read(&a, artifacts, issue, &h, err) < 0 || requeue_decide(&ask, out, err) < 0)
		return -1;
	line = JSON_OBJECT(JSON_TIME("timestamp", ask.now), JSON_TEXT("failure", failure),
		JSON_TEXT("decision", requeue_words[*out]));
	/* Without a failure the triage that follows names the trigger. */
	if (failure && artifact_append(artifacts, issue, name, line, err) < 0)
		return -1;
	return event_report(artifacts, EVENT_REQUEUE, issue, NULL,
		JSON_OBJECT(JSON_TEXT("trigger", requeue_words[*out]),
			JSON_BOOL("rescored", *out != TRIGGER_TRUST_SCORE),
			JSON_IF(failure, JSON_TEXT("failure", failure)),
			JSON_IF(places && places->old >= 0, JSON_INT("oldPosition", places->old)),
			JSON_IF(places && places->fresh >= 0,
				JSON_INT("newPosition", places->fresh))),
		err);
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
				 &(struct triage){.trigger = requeue_words[trigger],
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
