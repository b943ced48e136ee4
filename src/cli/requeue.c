#include "src/merge/requeue.h"
#include "src/base/clock.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/cli/subcommands.h"

enum {
	ARTIFACTS,
	FAILURE,
	OPERATOR,
	OLD,
	FRESH,
	TRIGGER,
	DETAIL,
	COMPOSITE,
	COST,
	MODEL,
	JSON,
};

static const struct option_spec options[] = {
	ARTIFACTS_OPTION,
	[FAILURE] = {"failure", "NAME", "for 'decide': what failed, such as CIFailure", false},
	[OPERATOR] = {"operator", NULL, "for 'decide': an operator asks for it", false},
	[OLD] = {"old-position", "N", "for 'decide': where it stood in the queue", false},
	[FRESH] = {"new-position", "N", "for 'decide': where it stands now", false},
	[TRIGGER] = {"trigger", "NAME",
		"for 'triage': original, time-threshold, failure-type or operator-requeue", false},
	[DETAIL] = {"detail", "TEXT", "for 'triage': more of why", false},
	[COMPOSITE] = {"composite", "NUMBER", "for 'triage': the score", false},
	[COST] = {"cost", "USD", "for 'triage': what it cost", false},
	[MODEL] = {"model", "NAME", "for 'triage': what scored it", false},
	[JSON] = {"json", NULL, "the result as one line of JSON", false},
	{0},
};

static int read_number(const struct invocation *in, int k, double *out, struct error *err)
{
	const char *text = in->args->value[k];
	char *end;
	double value;

	if (!text)
		return 0;
	value = strtod(text, &end);
	if (!*text || *end || strspn(text, "-0123456789.eE") != strlen(text) || value > 1e9 ||
		value < -1e9)
		return error_set(
			err, ERR_USAGE, "bad value '%.40s' of --%s", text, options[k].name);
	*out = value;
	return 0;
}

static int read_place(const struct invocation *in, int k, int64_t *out, struct error *err)
{
	double value = -1;

	if (read_number(in, k, &value, err) < 0)
		return -1;
	*out = (int64_t)value;
	if (in->args->value[k] && (value < 0 || (double)*out != value))
		return error_set(err, ERR_USAGE, "bad value '%.40s' of --%s", in->args->value[k],
			options[k].name);
	return 0;
}

static int need(const struct invocation *in, int k, struct error *err)
{
	if (in->args->value[k] && *in->args->value[k])
		return 0;
	return error_set(
		err, ERR_USAGE, "'requeue %s' needs --%s", in->args->words[0], options[k].name);
}

static void put_line(struct invocation *in, json *j)
{
	json_print(in->out, j);
	buf_addc(in->out, '\n');
	json_free(&j);
}

/* The issue's id is one, and where its artifacts are. */
static int where(const struct invocation *in, char **dir, struct error *err)
{
	if (id_check(in->args->words[1], err) < 0)
		return -1;
	return artifacts_folder(in->arena, in->args->value[ARTIFACTS], NULL, dir, err);
}

static int run_decide(struct invocation *in, struct error *err)
{
	const char *issue = in->args->words[1];
	char *dir;
	struct requeue_places places;
	enum requeue_trigger got;

	if (where(in, &dir, err) < 0 ||
		(!in->args->value[OPERATOR] && need(in, FAILURE, err) < 0) ||
		read_place(in, OLD, &places.old, err) < 0 ||
		read_place(in, FRESH, &places.fresh, err) < 0 ||
		requeue_issue(dir, issue, in->args->value[FAILURE],
			in->args->value[OPERATOR] != NULL, &places, &got, err) < 0)
		return -1;
	if (in->args->value[JSON]) {
		json *j = json_object();

		json_put_str(j, "trigger", str_of(requeue_word(got)));
		json_put_bool(j, "rescore", got != TRIGGER_TRUST_SCORE);
		put_line(in, j);
	} else {
		buf_addf(in->out, "%s: %s\n",
			got == TRIGGER_TRUST_SCORE ? "keep the score" : "score it anew",
			requeue_word(got));
	}
	return 0;
}

static int run_triage(struct invocation *in, struct error *err)
{
	const char *issue = in->args->words[1];
	char *dir;
	struct triage t = {.trigger = in->args->value[TRIGGER],
		.detail = in->args->value[DETAIL],
		.model = in->args->value[MODEL]};
	unsigned count;
	bool storm;

	if (where(in, &dir, err) < 0 || need(in, TRIGGER, err) < 0 ||
		need(in, COMPOSITE, err) < 0 || read_number(in, COMPOSITE, &t.composite, err) < 0 ||
		read_number(in, COST, &t.cost_usd, err) < 0 ||
		triage_append(dir, issue, &t, &count, &storm, err) < 0)
		return -1;
	if (in->args->value[JSON]) {
		json *j = json_object();

		json_put_int(j, "retriagesInWindow", count);
		json_put_bool(j, "storm", storm);
		put_line(in, j);
	} else {
		buf_addf(in->out, "%u in the last 24 hours%s\n", count,
			storm ? ": a storm (RetriageStorm)" : "");
	}
	return 0;
}

static json *triage_json(const struct triage *t)
{
	json *j = json_object();
	char at[CLOCK_TEXT];

	clock_text(t->at, at);
	json_put_str(j, "timestamp", str_of(at));
	json_put_str(j, "trigger", str_of(t->trigger));
	if (t->detail)
		json_put_str(j, "triggerDetail", str_of(t->detail));
	json_put_number(j, "composite", t->composite);
	if (t->cost_usd > 0)
		json_put_number(j, "costUsd", t->cost_usd);
	return j;
}

static json *failure_json(const struct failure *f)
{
	json *j = json_object();
	char at[CLOCK_TEXT];

	clock_text(f->at, at);
	json_put_str(j, "timestamp", str_of(at));
	json_put_str(j, "failure", str_of(f->type));
	return j;
}

static void put_history(struct invocation *in, const struct triage_history *h)
{
	json *j = json_object(), *triages = json_array(), *failures = json_array();

	for (size_t i = 0; i < h->n; i++)
		json_push(triages, triage_json(&h->triages[i]));
	for (size_t i = 0; i < h->n_failures; i++)
		json_push(failures, failure_json(&h->failures[i]));
	json_put(j, "triages", triages);
	json_put(j, "failures", failures);
	json_put_int(j, "retriagesInWindow", triage_recent(h, clock_now()));
	json_put_int(j, "skippedLines", (int64_t)h->skipped);
	put_line(in, j);
}

static int run_history(struct invocation *in, struct error *err)
{
	const char *issue = in->args->words[1];
	char *dir;
	struct triage_history h;
	char at[CLOCK_TEXT];

	if (where(in, &dir, err) < 0 || triage_read(in->arena, dir, issue, &h, err) < 0)
		return -1;
	if (in->args->value[JSON]) {
		put_history(in, &h);
		return 0;
	}
	for (size_t i = 0; i < h.n; i++) {
		const struct triage *t = &h.triages[i];

		clock_text(t->at, at);
		buf_addf(in->out, "%s  triage   %s %g%s%s\n", at, t->trigger, t->composite,
			t->detail ? ": " : "", t->detail ? t->detail : "");
	}
	for (size_t i = 0; i < h.n_failures; i++) {
		clock_text(h.failures[i].at, at);
		buf_addf(in->out, "%s  failure  %s\n", at, h.failures[i].type);
	}
	return 0;
}

static int run_merged(struct invocation *in, struct error *err)
{
	const char *issue = in->args->words[1];
	char *dir;
	return where(in, &dir, err) < 0 ? -1 : triage_reset(dir, issue, "merged", err);
}

static const struct subcommand parts[] = {
	{"decide", run_decide,
		OPTION(ARTIFACTS) | OPTION(FAILURE) | OPTION(OPERATOR) | OPTION(OLD) |
			OPTION(FRESH) | OPTION(JSON),
		1, 1},
	{"triage", run_triage,
		OPTION(ARTIFACTS) | OPTION(TRIGGER) | OPTION(DETAIL) | OPTION(COMPOSITE) |
			OPTION(COST) | OPTION(MODEL) | OPTION(JSON),
		1, 1},
	{"history", run_history, OPTION(ARTIFACTS) | OPTION(JSON), 1, 1},
	{"merged", run_merged, OPTION(ARTIFACTS), 1, 1},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_requeue, parts, in, err);
}

const struct verb verb_requeue = {
	.name = "requeue",
	.synopsis = "decide|triage|history|merged ISSUE [OPTION...]",
	.about = "say whether a failed issue is scored anew, and keep the history of its triages",
	.details =
		"  decide ISSUE --failure NAME     by who asks, the age of its score, what failed "
		"and how often;\n"
		"                                  the failure is added to the history\n"
		"  triage ISSUE --trigger NAME --composite NUMBER\n"
		"                                  adds a triage; more than ten again in a day "
		"are a storm\n"
		"  history ISSUE                   what there is\n"
		"  merged ISSUE                    what failed before counts no more\n"
		"\n"
		"Failures: MergeConflict, RebaseConflict, HarnessUnavailable, "
		"BranchQuotaExceeded, PortCollision,\n"
		"OffPeakDeferralExceeded, WorktreeOwnershipMismatch (the score is kept); CIFailure "
		"(anew on the\n"
		"third in 24 hours), BudgetExceeded, AgentTimeout (on the second); "
		"MaxRetriesExhausted,\n"
		"MigrationConflict, MigrationFailed, EstimateVariance (always anew).",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
