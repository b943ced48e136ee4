#include "src/base/log.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/cli/subcommands.h"
#include "src/review/classifier.h"

enum { ARTIFACTS, DIFF, BASE, ANSWER, ISSUE, PR, REVIEWER, REASON, JSON };

enum { ANSWER_MAX = 1 << 20, REASON_MAX = 4000 };

static const struct option_spec options[] = {
	ARTIFACTS_OPTION,
	[DIFF] = {"diff", "FILE", "what 'git diff' printed; '-' is standard input", false},
	[BASE] = {"base", "REF", "or: what REF...HEAD changes", false},
	[ANSWER] = {"answer", "FILE",
		"what a model said; one that is not there: it could not be asked", false},
	[ISSUE] = {"issue", "ID", "whose change it is; without it nothing is recorded", false},
	[PR] = {"pr", "NUMBER", "its pull request", false},
	[REVIEWER] = {"reviewer", "NAME",
		"for 'feedback': who was missed: testing, critic or security", false},
	[REASON] = {"reason", "TEXT", "for 'feedback': why", false},
	[JSON] = {"json", NULL, "the result as JSON", false},
	{0},
};

static int read_pr(struct invocation *in, unsigned *pr, struct error *err)
{
	const char *text = in->args->value[PR];
	char *end;
	unsigned long n;

	*pr = 0;
	if (!text)
		return 0;
	n = strtoul(text, &end, 10);
	if (text[0] < '1' || text[0] > '9' || *end || n > 999999999)
		return error_set(err, ERR_USAGE,
			"bad value '%.40s' of --pr: must be the number of a pull request", text);
	*pr = (unsigned)n;
	return 0;
}

/* ---- classify ---- */

/*
 * No byte on a pipe is what is left of a program that failed, too: to it, "nothing has changed"
 * must not be the answer.
 */
static int read_pipe(struct buf *text, struct error *err)
{
	if (read_input(text, DIFF_MAX, err) < 0)
		return -1;
	return text->len ? 0
			 : error_set(err, ERR_INPUT,
				   "standard input is empty: what made the diff may have failed "
				   "(an empty file or --base can say that nothing has changed)");
}

static int read_change(struct invocation *in, struct change_stats *out, struct error *err)
{
	const char *file = in->args->value[DIFF], *ref = in->args->value[BASE];
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *repo;

	if (!file == !ref)
		return error_set(err, ERR_USAGE, "give --diff or --base");
	if (ref)
		return repo_root(in->arena, NULL, &repo, err) < 0
			       ? -1
			       : review_diff_commits(in->arena, repo, ref, out, err);
	if (strcmp(file, "-") == 0)
		return read_pipe(&text, err) < 0 ? -1
						 : review_diff_read(in->arena, "standard input",
							   buf_str(&text), out, err);
	if (file_read(&text, file, DIFF_MAX, NULL, err) < 0)
		return -1;
	return review_diff_read(in->arena, file, buf_str(&text), out, err);
}

/* NULL: it could not be asked. What is too long is no answer either. */
static int read_answer(struct invocation *in, const char **raw, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *file = in->args->value[ANSWER];
	bool missing = false;

	*raw = NULL;
	if (strcmp(file, "-") == 0) {
		if (fd_read_all(&text, STDIN_FILENO, ANSWER_MAX, "standard input", err) < 0)
			return -1;
	} else if (file_read(&text, file, ANSWER_MAX, &missing, err) < 0) {
		if (!missing && err->code != ERR_INPUT)
			return -1;
		log_line("dev-team: no answer in '%s': all of them review", file);
		return 0;
	}
	for (size_t i = 0; i < text.len; i++)
		if (!text.s[i])
			text.s[i] = '?'; /* nothing may end an answer early */
	*raw = arena_dup(in->arena, buf_str(&text));
	return 0;
}

static int decide(struct invocation *in, const struct change_stats *s, struct review_decision *d,
	struct error *err)
{
	const char *raw;

	*d = (struct review_decision){0};
	if (!in->args->value[ANSWER])
		return classifier_apply_rules(in->arena, s, &d->of), 0;
	if (in->args->value[DIFF] && strcmp(in->args->value[DIFF], "-") == 0 &&
		strcmp(in->args->value[ANSWER], "-") == 0)
		return error_set(err, ERR_USAGE, "--diff and --answer cannot both be '-'");
	if (read_answer(in, &raw, err) < 0)
		return -1;
	classifier_read_answer(in->arena, raw, d);
	classifier_add_required(in->arena, s, d);
	return 0;
}

static void put_decision(struct invocation *in, const struct review_decision *d)
{
	CLEANUP(json_free) json *j = NULL;

	if (d->open != NOT_OPEN)
		log_line(
			"dev-team: all of them review (%s): %s", fell_open_word(d->open), d->fault);
	if (!in->args->value[JSON]) {
		for (int r = 0; r < REVIEWERS; r++)
			if (d->of.chosen[r])
				buf_addf(in->out, "%s\n", reviewer_word((enum reviewer)r));
		return;
	}
	j = review_decision_json(d);
	json_print(in->out, j);
	buf_addc(in->out, '\n');
}

static int run_classify(struct invocation *in, struct error *err)
{
	struct review_decision d;
	struct change_stats s;
	unsigned pr;
	char *dir;

	if (read_pr(in, &pr, err) < 0 || read_change(in, &s, err) < 0 ||
		decide(in, &s, &d, err) < 0)
		return -1;
	if (in->args->value[ISSUE]) {
		if (artifacts_folder(in->arena, in->args->value[ARTIFACTS], NULL, &dir, err) < 0 ||
			classifier_record(dir, in->args->value[ISSUE], pr, &s, &d, err) < 0)
			return -1;
	}
	put_decision(in, &d);
	return 0;
}

/* ---- feedback ---- */

static int read_feedback(struct invocation *in, struct review_feedback *f, struct error *err)
{
	const char *reviewer = in->args->value[REVIEWER];

	f->issue = in->args->value[ISSUE];
	f->reason = in->args->value[REASON];
	if (read_pr(in, &f->pr, err) < 0)
		return -1;
	if (!f->issue && !f->pr)
		return error_set(err, ERR_USAGE, "feedback needs --issue or --pr");
	if (!reviewer || !reviewer_find(reviewer, &f->added))
		return error_set(
			err, ERR_USAGE, "feedback needs --reviewer testing, critic or security");
	if (!f->reason || !f->reason[0] || strlen(f->reason) > REASON_MAX)
		return error_set(
			err, ERR_USAGE, "feedback needs --reason: 1 to %d bytes", REASON_MAX);
	return f->issue ? id_check(f->issue, err) : 0;
}

static int run_feedback(struct invocation *in, struct error *err)
{
	struct review_feedback f;
	char *dir;

	if (read_feedback(in, &f, err) < 0 ||
		artifacts_folder(in->arena, in->args->value[ARTIFACTS], NULL, &dir, err) < 0)
		return -1;
	return classifier_feedback(dir, &f, err);
}

static const struct subcommand parts[] = {
	{"classify", run_classify,
		OPTION(ARTIFACTS) | OPTION(DIFF) | OPTION(BASE) | OPTION(ANSWER) | OPTION(ISSUE) |
			OPTION(PR) | OPTION(JSON),
		0, 0},
	{"feedback", run_feedback,
		OPTION(ARTIFACTS) | OPTION(ISSUE) | OPTION(PR) | OPTION(REVIEWER) | OPTION(REASON),
		0, 0},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_review, parts, in, err);
}

const struct verb verb_review = {
	.name = "review",
	.synopsis = "classify|feedback [OPTION...]",
	.about = "say which reviewers a change needs, and learn whom it missed",
	.details = "  classify   testing, critic and security, as many as the change needs: by the "
		   "answer of a\n"
		   "             model where it is whole and sure, by rules without one, else all "
		   "three\n"
		   "  feedback   note in the calibration log whom people had to add\n"
		   "\n"
		   "Exit status 3: the diff is not understood; whoever asks takes all three then.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
