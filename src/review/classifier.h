/*
 * classifier.h: which reviewers a change needs. A model's answer is taken when it is whole and
 * sure; in every other case all of them review (it falls open). Without a model a rule set decides.
 * docs/review-classifier.md.
 */
#ifndef DT_CLASSIFIER_H
#define DT_CLASSIFIER_H

#include "src/artifact/happening.h"

enum reviewer { REVIEW_TESTING, REVIEW_CRITIC, REVIEW_SECURITY, REVIEWERS };
const char *reviewer_word(enum reviewer r);

struct change_stats {
	const char *const *paths;
	size_t files;
	int64_t added, removed; /* lines */
	bool whitespace_only;   /* nothing but blanks has changed */
};

struct classification {
	bool chosen[REVIEWERS];
	bool confident;
	double confidence;
	const char *rationale[REVIEWERS];                                    /* may be NULL */
	const char *model_override[REVIEWERS], *harness_override[REVIEWERS]; /* NULL: none */
};

enum fell_open { NOT_OPEN, OPEN_PARSE_ERROR, OPEN_SCHEMA, OPEN_UNSURE, OPEN_INVOCATION };
const char *fell_open_word(enum fell_open f); /* "parse-error" ...; NULL for NOT_OPEN */

struct review_decision {
	struct classification of;
	enum fell_open open;
	const char *raw;   /* what the model said; may be NULL */
	const char *fault; /* why it was not taken; may be NULL */
};

/* The rule set, in its order. */
void classify_by_rules(struct arena *a, const struct change_stats *s, struct classification *out);
/* `raw` NULL: the model could not be asked. */
void classify_answer(struct arena *a, const char *raw, struct review_decision *out);

/* DIR/ISSUE/review/classifier.json and a line in DIR/_classifier/calibration.jsonl. */
int classifier_record(const char *artifacts, const char *issue, const struct change_stats *s,
	const struct review_decision *d, struct error *err);

#endif
