/*
 * classifier.h: which reviewers a change needs. The answer of a model is used when it is valid and
 * confident; otherwise the classifier fails open and all reviewers are chosen. Without a model the
 * rules decide. docs/review-classifier.md.
 *
 * Ownership: results live in the given arena or belong to the caller's input.
 */
#ifndef DT_CLASSIFIER_H
#define DT_CLASSIFIER_H

#include "src/base/json.h"

#define CLASSIFIER_SCOPE "_classifier" /* in place of an issue's id, for artifact.h */
#define CALIBRATION_LOG  "calibration.jsonl"

enum reviewer { REVIEW_TESTING, REVIEW_CRITIC, REVIEW_SECURITY, REVIEWERS };
const char *reviewer_word(enum reviewer r);
bool reviewer_find(const char *word, enum reviewer *out);

/* ---- the change ---- */

/* Properties of a path beside its name; one bit each. */
enum change_trait {
	TRAIT_EXECUTABLE = 1, /* after the change */
	TRAIT_MODE = 2,       /* the mode changes */
	TRAIT_SYMLINK = 4,
	TRAIT_SUBMODULE = 8,
	TRAIT_BINARY = 16, /* git shows no lines of it */
};

struct change_stats {
	const char *const *paths; /* a renamed or copied file counts with both names */
	const unsigned *traits;   /* one a path; NULL: unknown */
	size_t files;
	int64_t added, removed; /* lines */
	bool whitespace_only;   /* only whitespace at the ends of lines has changed */
	bool excerpts;          /* the diff shows only lines near the changed ones */
};

enum { DIFF_MAX = 256 << 20, DIFF_FILES_MAX = 100000 };

/*
 * Parses the output of `git diff`. What cannot be understood with certainty is refused, because a
 * misread diff would get too few reviewers. `name` is the file's, for messages. -1: ERR_INPUT with
 * FILE:LINE:COL.
 */
int review_diff_read(struct arena *a, const char *name, struct str text, struct change_stats *out,
	struct error *err);
/*
 * What HEAD has changed since the merge base with `base` (a branch, a tag or a commit; origin/HEAD:
 * the default branch of origin), regardless of the repository's settings. -1: ERR_STATE, there is
 * no such commit or not exactly one merge base.
 */
int review_diff_commits(struct arena *a, const char *repo, const char *base,
	struct change_stats *out, struct error *err);

/* ---- the decision ---- */

struct classification {
	bool chosen[REVIEWERS];
	bool confident;
	double confidence;
	const char *rationale[REVIEWERS];                                    /* may be NULL */
	const char *model_override[REVIEWERS], *harness_override[REVIEWERS]; /* NULL: none */
};

/* Why all reviewers were chosen in spite of the answer. */
enum fell_open { NOT_OPEN, OPEN_PARSE_ERROR, OPEN_SCHEMA, OPEN_UNSURE, OPEN_INVOCATION };
const char *fell_open_word(enum fell_open f); /* "parse-error" ...; NULL for NOT_OPEN */

struct review_decision {
	struct classification of;
	enum fell_open open;
	const char *raw;                /* the model's answer; may be NULL */
	const char *fault;              /* why it was not used; may be NULL */
	bool added_by_rules[REVIEWERS]; /* chosen by the rules, not by the model */
};

void classifier_apply_rules(
	struct arena *a, const struct change_stats *s, struct classification *out);
/* `raw` NULL: the model could not be asked. */
void classifier_read_answer(struct arena *a, const char *raw, struct review_decision *out);
/*
 * Adds the reviewers that the rules require by a path's kind (authentication, unusual names,
 * agents' instructions, dependencies). The text of a change could instruct the model that reads it,
 * so the model cannot remove these.
 */
void classifier_add_required(
	struct arena *a, const struct change_stats *s, struct review_decision *decision);

/* All of it: by the rules, or by the model's answer in the file `answer` (`-`: standard input) and
 * the rules. A file that does not exist or is too long is no answer. */
int classifier_decide(struct arena *a, const struct change_stats *s, const char *answer,
	struct review_decision *out, struct error *err);

/* ---- the record ---- */

/* The content of classifier.json; the caller frees it. */
json *review_decision_json(const struct review_decision *d);
/* Writes DIR/ISSUE/review/classifier.json and appends a line to DIR/_classifier/calibration.jsonl.
 * `pr` 0: not known yet. */
int classifier_record(const char *artifacts, const char *issue, unsigned pr,
	const struct change_stats *s, const struct review_decision *d, struct error *err);

struct review_feedback {
	const char *issue; /* NULL: the one that `pr` belongs to, by the log or by pr.json */
	unsigned pr;       /* 0: none */
	enum reviewer added;
	const char *reason;
};
/*
 * Notes in the newest calibration line of the issue that people wanted another reviewer. -1:
 * ERR_STATE, there is no such line, it has feedback already, or the pull request is another
 * issue's.
 */
int classifier_feedback(const char *artifacts, const struct review_feedback *f, struct error *err);

#endif
