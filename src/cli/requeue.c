#include "src/base/clock.h"
#include "src/cli/cli.h"
#include "src/merge/requeue.h"
#include "src/run/locate.h"
#include "src/sys/path.h"

struct requeue_options {
	const char *artifacts, *failure, *trigger, *detail, *model;
	int64_t old_position, new_position;
	double composite, cost;
	bool by_operator, json;
};

#define POSITION_MAX 1000000000
#define SCORE_MAX    1000000000

static const struct option artifacts_options[] = {
	CLI_ARTIFACTS(struct requeue_options),
	OPTION_END,
};
static const struct option decide_options[] = {
	OPTION_TEXT(struct requeue_options, failure, "failure", "NAME",
		"what failed, such as CIFailure; required without --operator"),
	OPTION_FLAG(struct requeue_options, by_operator, "operator",
		"an operator requests a new score"),
	OPTION_NUMBER(struct requeue_options, old_position, "old-position", "N", 0, POSITION_MAX,
		"the issue's previous position in the queue"),
	OPTION_NUMBER(struct requeue_options, new_position, "new-position", "N", 0, POSITION_MAX,
		"its position now"),
	OPTION_END,
};
static const struct option triage_options[] = {
	OPTION_REQUIRED(struct requeue_options, trigger, "trigger", "NAME",
		"original, time-threshold, failure-type or operator-requeue"),
	OPTION_ROW(DECIMAL, double, struct requeue_options, composite, "composite", "NUMBER",
		"the score", -SCORE_MAX, SCORE_MAX, true, 0),
	OPTION_TEXT(struct requeue_options, detail, "detail", "TEXT", "more about the reason"),
	OPTION_DECIMAL(struct requeue_options, cost, "cost", "USD", -SCORE_MAX, SCORE_MAX,
		"what the scoring cost"),
	OPTION_TEXT(struct requeue_options, model, "model", "NAME", "the model that scored it"),
	OPTION_END,
};
static const struct requeue_options defaults = {.old_position = -1, .new_position = -1};

/* Checks the issue's id and finds its artifacts. */
static int find_artifacts(const struct invocation *in, const char **dir, struct error *err)
{
	const struct requeue_options *o = in->values;

	if (path_check_id(in->words[0], err) < 0)
		return -1;
	return locate_artifacts(in->arena, o->artifacts, NULL, dir, err);
}

static int run_decide(struct invocation *in, struct error *err)
{
	const struct requeue_options *o = in->values;
	const struct requeue_places places = {o->old_position, o->new_position};
	enum requeue_trigger trigger;
	const char *word;
	bool keep;
	const char *dir;

	if (!o->by_operator && !o->failure)
		return error_set(err, ERR_USAGE, "requeue decide: --failure is missing");
	if (find_artifacts(in, &dir, err) < 0 ||
		requeue_issue(
			dir, in->words[0], o->failure, o->by_operator, &places, &trigger, err) < 0)
		return -1;
	keep = trigger == TRIGGER_TRUST_SCORE;
	word = requeue_words[trigger];
	buf_addf(in->out, "%s: %s\n", keep ? "keep the score" : "score it again", word);
	cli_put_json(
		in, o->json, JSON_OBJECT(JSON_TEXT("trigger", word), JSON_BOOL("rescore", !keep)));
	return 0;
}

static int run_triage(struct invocation *in, struct error *err)
{
	const struct requeue_options *o = in->values;
	struct triage t = {.trigger = o->trigger,
		.detail = o->detail,
		.model = o->model,
		.composite = o->composite,
		.cost_usd = o->cost};
	unsigned count;
	bool storm;
	const char *dir;

	if (find_artifacts(in, &dir, err) < 0 ||
		triage_append(dir, in->words[0], &t, &count, &storm, err) < 0)
		return -1;
	buf_addf(in->out, "%u in the last 24 hours%s\n", count,
		storm ? ": a storm (RetriageStorm)" : "");
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_INT("retriagesInWindow", count), JSON_BOOL("storm", storm)));
	return 0;
}

static int run_history(struct invocation *in, struct error *err)
{
	const struct requeue_options *o = in->values;
	struct triage_history h;
	json *triages, *failures;
	char at[CLOCK_TEXT];
	const char *dir;

	if (find_artifacts(in, &dir, err) < 0 ||
		triage_read(in->arena, dir, in->words[0], &h, err) < 0)
		return -1;
	triages = json_array();
	for (size_t i = 0; i < h.n; i++) {
		const struct triage *t = &h.triages[i];

		json_push(triages,
			JSON_OBJECT(JSON_TIME("timestamp", t->at), JSON_TEXT("trigger", t->trigger),
				JSON_IF(t->detail, JSON_TEXT("triggerDetail", t->detail)),
				JSON_NUMBER("composite", t->composite),
				JSON_IF(t->cost_usd > 0, JSON_NUMBER("costUsd", t->cost_usd))));
		clock_text(t->at, at);
		buf_addf(in->out, "%s  triage   %s %g%s%s\n", at, t->trigger, t->composite,
			t->detail ? ": " : "", t->detail ? t->detail : "");
	}
	failures = json_array();
	for (size_t i = 0; i < h.n_failures; i++) {
		const struct past_failure *f = &h.failures[i];

		json_push(failures,
			JSON_OBJECT(JSON_TIME("timestamp", f->at), JSON_TEXT("failure", f->type)));
		clock_text(f->at, at);
		buf_addf(in->out, "%s  failure  %s\n", at, f->type);
	}
	cli_put_json(in, o->json,
		JSON_OBJECT(JSON_VALUE("triages", triages), JSON_VALUE("failures", failures),
			JSON_INT("retriagesInWindow", triage_recent(&h, clock_now())),
			JSON_INT("skippedLines", h.skipped)));
	return 0;
}

static int run_merged(struct invocation *in, struct error *err)
{
	const char *dir;

	return find_artifacts(in, &dir, err) < 0 ? -1
						 : triage_reset(dir, in->words[0], "merged", err);
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("decide", "ISSUE", run_decide,
		"record a failure and print whether ISSUE needs a new score",
		.details = "Decides by the operator's request, the age of the score, the kind of "
			   "failure and how often it occurred.\n"
			   "\n"
			   "The score is kept for MergeConflict, RebaseConflict, "
			   "HarnessUnavailable, BranchQuotaExceeded, PortCollision, "
			   "OffPeakDeferralExceeded and WorktreeOwnershipMismatch. The issue is "
			   "scored again on the third CIFailure in 24 hours, on the second "
			   "BudgetExceeded or AgentTimeout, and always for MaxRetriesExhausted, "
			   "MigrationConflict, MigrationFailed and EstimateVariance.",
		.options = {artifacts_options, decide_options,
			CLI_JSON_TABLE(struct requeue_options)}),
	CLI_SUBCOMMAND("triage", "ISSUE", run_triage,
		"record a triage of ISSUE; more than ten again within a day are a storm",
		.options = {artifacts_options, triage_options,
			CLI_JSON_TABLE(struct requeue_options)}),
	CLI_SUBCOMMAND("history", "ISSUE", run_history, "print the triages and failures of ISSUE",
		.options = {artifacts_options, CLI_JSON_TABLE(struct requeue_options)}),
	CLI_SUBCOMMAND("merged", "ISSUE", run_merged, "reset the failure count of ISSUE",
		.options = {artifacts_options}),
	NULL,
};

const struct verb verb_requeue = {
	.name = "requeue",
	.group = "Plumbing",
	.about = "decide whether a failed issue is scored again, and keep its triage history",
	.examples = "dev-team requeue decide ISSUE-7 --failure CIFailure",
	.size = sizeof(defaults),
	.defaults = &defaults,
	.subcommands = subcommands,
};
