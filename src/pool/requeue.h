/*
 * requeue.h: whether a failed issue goes back with its score or is scored anew, and the history of
 * its triages. docs/merge-gate.md#requeue.
 */
#ifndef DT_REQUEUE_H
#define DT_REQUEUE_H

#include "src/artifact/happening.h"

enum { TRIAGE_STALE_S = 24 * 3600, FAILURE_WINDOW_S = 24 * 3600, STORM_LIMIT = 10 };

struct failure {
	const char *type;
	int64_t at;
};

struct requeue_ask {
	const char *failure;        /* MergeConflict ... */
	const struct failure *past; /* earlier ones of this issue */
	size_t n_past;
	int64_t last_triage, now;
	bool operator_asked;
};
enum requeue_trigger { TRIGGER_TRUST_SCORE, TRIGGER_OPERATOR, TRIGGER_TIME, TRIGGER_FAILURE };
const char *requeue_word(enum requeue_trigger t);

/* -1: ERR_USAGE for a failure that is in no class. */
int requeue_decide(const struct requeue_ask *ask, enum requeue_trigger *out, struct error *err);

struct triage {
	const char *trigger, *detail; /* "original", "time-threshold" ...; detail may be NULL */
	double composite, cost_usd;
	int64_t at;
};
/* Appends to triage-history.jsonl; *count of re-triages within a day of it, *storm above the limit
 * (and RetriageStorm told). Lines that are none are skipped. */
int triage_append(const char *artifacts, const char *issue, const struct triage *t, unsigned *count,
	bool *storm, struct error *err);

#endif
