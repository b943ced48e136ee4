/*
 * requeue.h: whether a failed issue is queued again with its score or scored again, and the history
 * of its triages and failures, ISSUE/triage-history.jsonl. docs/merge-gate.md#requeue.
 *
 * A line of the history is a triage (`trigger` is one of the four words), a failure (`failure`) or
 * an end of counting (`reset`). Invalid lines are skipped.
 */
#ifndef DT_REQUEUE_H
#define DT_REQUEUE_H

#include "src/event/event.h"
#include "src/sys/forge.h"

enum { TRIAGE_STALE_S = 24 * 3600, FAILURE_WINDOW_S = 24 * 3600, STORM_LIMIT = 10 };

struct past_failure {
	const char *type;
	int64_t at;
};

enum requeue_trigger { TRIGGER_TRUST_SCORE, TRIGGER_OPERATOR, TRIGGER_TIME, TRIGGER_FAILURE };
/* "trust-score", "operator-requeue", "time-threshold", "failure-type" */
extern const char *const requeue_words[];

struct requeue_ask {
	const char *failure; /* MergeConflict ...; NULL: none, an operator requests it */
	const struct triage_history *past; /* without this failure */
	int64_t now;
	bool operator_asked;
};
/* -1: ERR_USAGE for a failure of no class. */
int requeue_decide(const struct requeue_ask *ask, enum requeue_trigger *out, struct error *err);

struct triage {
	const char *trigger, *detail; /* "original", "time-threshold" ...; detail may be NULL */
	double composite, cost_usd;   /* composite NAN: as it was, else 0; cost 0: unknown */
	const char *model;            /* NULL */
	int64_t at;                   /* 0: now */
};
/* Appends to triage-history.jsonl; *count of re-triages within a day of it, *storm above the limit
 * (and a RetriageStorm event). -1: ERR_USAGE: unknown trigger. */
int triage_append(const char *artifacts, const char *issue, const struct triage *t, unsigned *count,
	bool *storm, struct error *err);

struct triage_history {
	struct triage *triages;
	size_t n;
	struct past_failure *failures; /* since the last reset */
	size_t n_failures;
	int64_t last_triage; /* -1: none: the issue has no score */
	size_t skipped;      /* number of invalid lines */
};
/* No file: an empty one. Texts in the arena. */
int triage_read(struct arena *a, const char *artifacts, const char *issue,
	struct triage_history *out, struct error *err);
/* Triages other than the original one, at most a day before `now`. */
unsigned triage_recent(const struct triage_history *h, int64_t now);
/* The issue was merged: reset its failure count. */
int triage_reset(const char *artifacts, const char *issue, const char *why, struct error *err);

struct requeue_places {
	int64_t old, fresh; /* in the queue; -1: unknown */
};
/* Decides from the issue's history, adds the failure to it, emits Requeue. */
int requeue_issue(const char *artifacts, const char *issue, const char *failure,
	bool operator_asked, const struct requeue_places *places, enum requeue_trigger *out,
	struct error *err);
/* The same, and, unless the issue keeps its score, a triage with the score `composite` (NAN: as it
 * was). failure NULL: a person requests it. *storm: as of triage_append(). */
int requeue_and_triage(const char *artifacts, const char *issue, const char *failure,
	double composite, bool *storm, struct error *err);

/* Why an issue whose pull request was approved comes back. */
struct requeue_pull {
	const char *failure;  /* NULL: a person requests it */
	const char *reason;   /* for people */
	const char *feedback; /* for the agent that repairs it */
};
/* NULL: it can be merged, as far as is known. approved_at: RFC 3339, UTC; reviews before do not
 * count; NULL: none does. */
const struct requeue_pull *requeue_find(const struct forge_open_pull *p, const char *approved_at);

#endif
