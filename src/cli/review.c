#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/review/classifier.h"
#include "src/run/locate.h"
#include "src/sys/path.h"

enum { REASON_MAX = 4000, PR_MAX = 999999999 };

struct review_options {
	const char *artifacts, *diff, *base, *answer, *issue, *reviewer, *reason, *skips;
	int64_t pr;
	bool json;
};

static const struct option classify_options[] = {
	OPTION_TEXT(struct review_options, diff, "diff", "FILE",
		"the output of 'git diff'; '-' is standard input"),
	OPTION_TEXT(struct review_options, base, "base", "REF", "or: what REF...HEAD changes"),
	OPTION_TEXT(struct review_options, answer, "answer", "FILE",
		"a model's answer; if the file does not exist, the model could not be called"),
	OPTION_CHOICE(struct review_options, skips, "skips", "testing|critic|security",
		"print nothing; exit status 0 only if it is certain that this one is not needed"),
	OPTION_FLAG(struct review_options, json, "json", "print the decision as one JSON object"),
	OPTION_END,
};
static const struct option issue_options[] = {
	OPTION_TEXT(struct review_options, issue, "issue", "ID",
		"the issue of the change; without it 'classify' records nothing"),
	OPTION_NUMBER(struct review_options, pr, "pr", "NUMBER", 1, PR_MAX, "its pull request"),
	CLI_ARTIFACTS(struct review_options),
	OPTION_END,
};
static const struct option feedback_options[] = {
	OPTION_ROW(CHOICE, const char *, struct review_options, reviewer, "reviewer",
		"testing|critic|security", "the reviewer that was missing", 0, 0, true, 0),
	OPTION_REQUIRED(struct review_options, reason, "reason", "TEXT", "why"),
	OPTION_END,
};

/* ---- classify ---- */

/*
 * A program that failed also leaves an empty pipe; it must not be read as "nothing has changed".
 */
static int read_diff(const char *file, struct buf *text, struct error *err)
{
	if (cli_read_text(text, file, DIFF_MAX, err) < 0)
		return -1;
	if (text->len || strcmp(file, "-") != 0)
		return 0;
	return error_set(err, ERR_INPUT,
		"standard input is empty: the program that produced the diff may have failed (an "
		"empty file or "
		"--base can say that nothing has changed)");
}

static int read_change(struct invocation *in, struct change_stats *out, struct error *err)
{
	const struct review_options *o = in->values;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *repo;

	if (!o->diff == !o->base)
		return error_set(err, ERR_USAGE, "give --diff or --base");
	if (o->base)
		return locate_repository(in->arena, NULL, &repo, err) < 0
			       ? -1
			       : review_diff_commits(in->arena, repo, o->base, out, err);
	if (read_diff(o->diff, &text, err) < 0)
		return -1;
	return review_diff_read(in->arena, strcmp(o->diff, "-") == 0 ? "standard input" : o->diff,
		buf_str(&text), out, err);
}

static int review_check_skipped(
	const char *word, const struct review_decision *d, struct error *err)
{
	enum reviewer r;

	return reviewer_find(word, &r) && !d->of.chosen[r]
		       ? 0
		       : error_set(err, ERR_CHECK, "the change needs a review by '%s'", word);
}

static int run_classify(struct invocation *in, struct error *err)
{
	const struct review_options *o = in->values;
	struct review_decision d;
	struct change_stats s;
	const char *dir;

	if (o->diff && o->answer && strcmp(o->diff, "-") == 0 && strcmp(o->answer, "-") == 0)
		return error_set(err, ERR_USAGE, "--diff and --answer cannot both be '-'");
	if (read_change(in, &s, err) < 0 ||
		classifier_decide(in->arena, &s, o->answer, &d, err) < 0)
		return -1;
	if (o->issue && (locate_artifacts(in->arena, o->artifacts, NULL, &dir, err) < 0 ||
				classifier_record(dir, o->issue, (unsigned)o->pr, &s, &d, err) < 0))
		return -1;
	if (d.open != NOT_OPEN)
		error_log("dev-team: all three review (%s): %s", fell_open_word(d.open), d.fault);
	if (o->skips)
		return review_check_skipped(o->skips, &d, err);
	for (int r = 0; r < REVIEWERS; r++)
		if (d.of.chosen[r])
			buf_addf(in->out, "%s\n", reviewer_word((enum reviewer)r));
	cli_put_json(in, o->json, review_decision_json(&d));
	return 0;
}

/* ---- feedback ---- */

static int run_feedback(struct invocation *in, struct error *err)
{
	const struct review_options *o = in->values;
	struct review_feedback f = {.issue = o->issue, .pr = (unsigned)o->pr, .reason = o->reason};
	const char *dir;

	if (!f.issue && !f.pr)
		return error_set(err, ERR_USAGE, "feedback needs --issue or --pr");
	if (strlen(f.reason) > REASON_MAX)
		return error_set(err, ERR_USAGE, "--reason must be 1 to %d bytes", REASON_MAX);
	(void)reviewer_find(o->reviewer, &f.added);
	if ((f.issue && path_check_id(f.issue, err) < 0) ||
		locate_artifacts(in->arena, o->artifacts, NULL, &dir, err) < 0)
		return -1;
	return classifier_feedback(dir, &f, err);
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("classify", NULL, run_classify,
		"print which of testing, critic and security have to review a change",
		.details = "A model's answer decides if it is complete and confident; without "
			   "--answer the rules decide; in every other case all three review. Exit "
			   "status 3: the diff is not understood, so all three have to review.",
		.options = {classify_options, issue_options}),
	CLI_SUBCOMMAND("feedback", NULL, run_feedback,
		"record in the calibration log which reviewer was missing",
		.options = {feedback_options, issue_options}),
	NULL,
};

const struct verb verb_review = {
	.name = "review",
	.group = "Workflows",
	.about = "decide which reviewers a change needs, and record which one was missing",
	.examples = "git diff main...HEAD | dev-team review classify --diff -\n"
		    "dev-team review feedback --pr 7 --reviewer security --reason 'new token'",
	.size = sizeof(struct review_options),
	.subcommands = subcommands,
};
