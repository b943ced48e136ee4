/*
 * quota_internal.h: for the files of the room. One transaction at a time: the entry and the
 * action's record are read, changed in memory, and put back in one transaction, while this process
 * holds the store.
 */
#ifndef DT_QUOTA_INTERNAL_H
#define DT_QUOTA_INTERNAL_H

#include "src/base/clock.h"
#include "src/event/event.h"
#include "src/quota/quota.h"

enum { HOLDS_MAX = 150, WAITS_MAX = 50, PIPELINES_MAX = 50, ENDED_MAX = 40 };

/* ---- entry.c ---- */

char *entry_key(struct arena *a, const struct quota_request *r);
/* Of an action of the entry, settled; `begun`: of its item. */
char *done_key(struct arena *a, const struct quota_request *r, const char *action, int64_t begun);
/* Of all settled actions of the entry. */
char *done_prefix(struct arena *a, const struct quota_entry *e);
/* Reads the entry as it is at r->now: windows that have ended are empty, with the reservations
 * whose owners are dead. */
int entry_read(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_entry *out, struct error *err);
/* The entry as it is at `now`. */
void entry_roll_over(struct arena *a, struct quota_entry *e, int64_t now);
struct str entry_text(struct arena *a, const struct quota_entry *e);
/* The window of the i-th seat of the request, with what its plan says now; it is added if new. */
struct quota_window *entry_seat(
	struct arena *a, struct quota_entry *e, const struct quota_request *r, size_t i);
/* All seats of the request. */
void entry_seats(struct arena *a, struct quota_entry *e, const struct quota_request *r);
/* NULL: there is none. */
struct quota_window *entry_window(const struct quota_entry *e, const char *plan, unsigned seat);
json *entry_pipelines_json(const struct quota_entry *e);
/* Starts a window that nothing has been used in. */
void window_start(struct quota_window *w, int64_t t);
/* What a transaction changes besides the entry. */
struct quota_change {
	struct store_op ops[ENDED_MAX + 2];
	size_t n_ops;
};
int entry_commit(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_entry *e, const struct quota_change *c, struct error *err);
/* The hold of the request's action; e->holds.n: it has none. */
size_t entry_hold(const struct quota_entry *e, const struct quota_request *r);
void entry_forget_wait(struct quota_entry *e, const char *action);
json *ledger_key_json(const struct quota_request *r);

/* ---- ledger.c ---- */

/* What an action was settled with. */
struct quota_done {
	const char *action, *pipeline, *stage, *plan; /* plan NULL: no window */
	unsigned seat;
	int64_t input, output, charge, multiplier, at;
	int64_t window; /* start of the window that it counts in; 0: none */
	bool estimated; /* a figure that comes later replaces it */
};

int quota_done_parse(
	const struct store_kv *kv, struct arena *a, struct quota_done *d, struct error *err);
void quota_change_put(struct quota_change *c, const char *key, struct str value);

/* ---- estimate.c ---- */

struct estimate_record {
	const char *key;
	int64_t mod;
	bool bootstrapped; /* the measured estimate was used once */
	VEC(struct quota_sample) samples;
};
int estimate_read(struct arena *a, struct quota *q, const struct quota_request *r,
	struct estimate_record *out, struct error *err);
struct str estimate_text(
	struct arena *a, const struct quota_request *r, const struct estimate_record *e);
/* Adds MissingEstimate, and EstimateBootstrapped once: then *changed. */
struct quota_estimate estimate_resolve(struct arena *a, const struct quota_request *r,
	struct estimate_record *e, struct quota_events *events, bool *changed);
/* Adds EstimateVariance. */
void estimate_add(struct arena *a, const struct quota_request *r, struct estimate_record *e,
	const struct quota_sample *s, struct quota_events *events);

/* ---- report.c ---- */

int quota_report_tier(
	const char *artifacts, const struct subscription_plan *p, int64_t now, struct error *err);

/* ---- decide.c ---- */

/* What is asked: tokens, of an entry as it is now. */
struct ask {
	struct arena *arena;
	const struct quota_request *r;
	struct quota_entry *entry;
	struct quota_window **windows; /* of the seats of the request */
	int64_t tokens;
	struct quota_decision *out;
	size_t seat; /* GRANTED */
};
void quota_decide(struct ask *k);
/* What it costs if it is paid per token, in millionths of a USD, rounded up. */
int64_t quota_cost(const struct ask *k);
/* Nothing starts before the reset of a limit; then one request goes first. True: it must wait. */
bool quota_decide_limit(struct ask *k);

void events_add(struct arena *a, struct quota_events *e, enum event_id id, json *fields);

#endif
