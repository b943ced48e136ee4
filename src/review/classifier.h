/*
 * classifier.h: which reviewers a change needs. A model's answer is taken when it is whole and
 * sure; in every other case all of them review (it falls open). Without a model a rule set decides.
 * docs/review-classifier.md.
 *
 * Ownership: texts that come out live in the arena that was passed in, or belong to the caller's
 * input.
 */
#ifndef DT_CLASSIFIER_H
#define DT_CLASSIFIER_H

#include "src/event/event.h"

#define CLASSIFIER_SCOPE "_classifier" /* in place of an issue's id, for artifact.h */
#define CALIBRATION_LOG  "calibration.jsonl"

enum reviewer { REVIEW_TESTING, REVIEW_CRITIC, REVIEW_SECURITY, REVIEWERS };
const char *reviewer_word(enum reviewer r);
bool reviewer_find(const char *word, enum reviewer *out);

/* What a path is beside its name; a bit each. */
enum change_trait {
	TRAIT_EXECUTABLE = 1, /* it is executable afterwards */
	TRAIT_MODE = 2,       /* its mode changes */
	TRAIT_SYMLINK = 4,
	TRAIT_SUBMODULE = 8,
	TRAIT_BINARY = 16, /* git shows no lines of it */
};

struct change_stats {
	const char *const *paths; /* a renamed or copied file counts with both names */
	const unsigned *traits;   /* one a path; NULL: not known */
	size_t files;
	int64_t added, removed; /* lines */
	bool whitespace_only;   /* nothing but blanks at the ends of lines has changed, in files
				   where they mean nothing */
	bool excerpts;          /* of the files only what is near the changed lines was seen */
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
	const char *raw;                /* what the model said; may be NULL */
	const char *fault;              /* why it was not taken; may be NULL */
	bool added_by_rules[REVIEWERS]; /* chosen though the model did not */
};

/* The rule set, in its order. */
void classify_by_rules(struct arena *a, const struct change_stats *s, struct classification *out);
/* `raw` NULL: the model could not be asked. */
void classify_answer(struct arena *a, const char *raw, struct review_decision *out);
/*
 * A model reads the change, and the change may speak to it: where the rules know why somebody has
 * to look (files of authentication, dependencies, agents' instructions, files that are not what
 * their name says), those reviewers are added to what it chose.
 */
void classify_floor(
	struct arena *a, const struct change_stats *s, struct review_decision *decision);

/* What the rules take a path for. In the order of how much it asks for; the first that fits. */
enum path_kind {
	PATH_AUTH,       /* authentication, secrets, keys */
	PATH_ODD,        /* a name or a trait that others may read differently */
	PATH_AGENT,      /* what agents are told, or may do */
	PATH_DEPENDENCY, /* a lock file, or what CI runs */
	PATH_DOCS,       /* prose and pictures */
	PATH_OTHER,
	PATH_KINDS
};
enum path_kind path_kind(const char *path, unsigned traits);
const char *path_kind_word(enum path_kind k);

/* DIR/ISSUE/review/classifier.json and a line in DIR/_classifier/calibration.jsonl. `pr` 0: not
 * known yet. */
int classifier_record(const char *artifacts, const char *issue, unsigned pr,
	const struct change_stats *s, const struct review_decision *d, struct error *err);
/* The object of the first, the caller's to free. */
json *decision_json(const struct review_decision *d);

/*
 * Notes in the calibration log that people wanted another reviewer: in the newest line of `issue`.
 * issue NULL: of the one that `pr` belongs to (by the log or by pr.json). -1: ERR_STATE, there is
 * no such line, it has its note already, or the pull request is another issue's.
 */
struct feedback {
	const char *issue; /* may be NULL */
	unsigned pr;       /* 0: none */
	enum reviewer added;
	const char *reason;
};
int classifier_feedback(const char *artifacts, const struct feedback *f, struct error *err);

#endif
