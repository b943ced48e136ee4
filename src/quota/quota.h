/*
 * quota.h: the quota ledger: how many tokens of which SubscriptionPlan are used, who holds
 * reservations, and whether and when the next action may start. docs/quota.md.
 *
 * There is one store of a user, `ledger` of the state directory. An entry of it is an account's:
 * (harness, accountId, tenant). The seats of the account's plans are windows in the entry; a plan
 * named twice is two seats. A caller admits an action before it prints or starts it, which reserves
 * the estimate, and settles it with what it used. Both are named after the action's id: repeating
 * them changes nothing. consumed + reserved never rises over `hardCap` through an admission.
 *
 * Tokens are input and output together. Off-peak tokens count less: divided by the multiplier,
 * rounded up. Sums are exact integers. Times are seconds since 1970.
 *
 * Ownership: results live in the caller's arena.
 */
#ifndef DT_QUOTA_H
#define DT_QUOTA_H

#include "src/base/vec.h"
#include "src/config/resource.h"
#include "src/store/store.h"

#define QUOTA_TENANT "__default__" /* without a tenant */
#define QUOTA_SCOPE  "_ledger"     /* of the directory of artifacts: copies for people */

enum {
	QUOTA_WAIT_NOW_S = 60, /* a `now` stage waits at most so long; else it is denied */
	QUOTA_PROBE_S = 60,    /* how long to wait while one request tries out a limit */
	QUOTA_INPUT_DEFAULT = 50000,
	QUOTA_OUTPUT_DEFAULT = 10000,
	QUOTA_SAMPLES = 20, /* of an estimate */
};

/* ---- off-peak hours (off_peak.c) ---- */

/* Whether t is in the plan's off-peak hours. Hours that wrap past midnight belong to the day on
 * which they began. */
bool quota_off_peak(const struct subscription_plan *p, int64_t t);
/* The first second after t at which off-peak hours begin, or (`end`) end; 0: not within 15 days. */
int64_t quota_off_peak_next(const struct subscription_plan *p, int64_t t, bool end);
/* -1, ERR_STATE: the host lacks a zone of the plan. */
int quota_check_zones(const struct subscription_plan *p, struct error *err);
/* How long ago the hours were verified: up to 30 days, up to 90 or never, longer. */
enum quota_freshness { QUOTA_FRESH, QUOTA_STALE, QUOTA_OUTDATED };
enum quota_freshness quota_freshness(const struct subscription_plan *p, int64_t now);

/* ---- windows and their entry (entry.c) ---- */

struct quota_window {
	const char *plan;
	unsigned seat; /* 1, 2, ... of the plan */
	enum billing billing;
	int64_t length;     /* s, of a session window */
	int64_t start, end; /* 0, 0: nothing has been used in it yet; end 0: it never ends */
	int64_t consumed;
	int64_t quota, cap; /* with the tenant's share; as the plan said last; 0, 0: none */
	double pacing;
	bool vendor; /* the vendor's figure has replaced the ledger's */
};

struct quota_hold { /* a reservation */
	const char *action, *pipeline, *stage;
	const char *owner; /* process_own_name(), process_client_name(); NULL: unknown */
	const char *plan;
	unsigned seat;
	int64_t input, output; /* the estimate */
	int64_t charge;        /* what is reserved of the window */
	int64_t multiplier;    /* in millionths */
	int64_t since;
	int64_t begun; /* of the request */
	int64_t cost;  /* reserved, in millionths of a USD; within a quota 0 */
};

struct quota_wait {
	const char *action, *pipeline, *stage, *why;
	int64_t since, until;
};

struct quota_entry {
	const char *harness, *account, *tenant;
	VEC(struct quota_window) windows;
	VEC(struct quota_hold) holds;
	VEC(struct quota_wait) waits;
	VEC(const char *) pipelines; /* that have used it */
	/* A usage limit: nothing starts before; then `probe`, one action, goes first. */
	int64_t limit_until;
	const char *probe;
	int64_t mod;
};

/* What the holds of a window reserve. */
int64_t quota_reserved(const struct quota_entry *e, const struct quota_window *w);
/* Of a whole quota. Exact: rounded down. */
int64_t quota_part(int64_t quota, double fraction);
/* What `tokens` use of a window, at a multiplier in millionths. Exact: rounded up. */
int64_t quota_charge(int64_t tokens, int64_t multiplier);
int64_t quota_multiplier(const struct subscription_plan *p, int64_t t);

/* ---- the ledger ---- */

struct quota {
	struct store *store;
};

/* `write`: no other process changes the ledger before it is closed. -1: as store_open(). Close it
 * with quota_close(), also after -1. */
int quota_open(struct quota *q, const char *state, bool write, struct error *err);
void quota_close(struct quota *q); /* for CLEANUP */
/* Whether any plan was used on this host. */
int quota_exists(const char *state, bool *there, struct error *err);

/* Of one stage: the account, its plans, and how the stage is scheduled. */
struct quota_request {
	const char *harness, *account, *tenant; /* quota_request() sets all three */
	double share;                           /* of the tenant; 1: everything */
	const struct subscription_plan **seats; /* of this harness */
	size_t n_seats;                         /* 0: there is no plan, and nothing to ask */
	bool ambiguous; /* LedgerKeyAmbiguous: `account` is the pipeline's */
	const char *pipeline, *stage;
	enum schedule schedule;
	int64_t max_wait_s;
	int64_t declared_in, declared_out; /* 0, 0: not declared */
	bool frozen;
	/* For the caller to set. */
	const char *action, *owner;
	/* The work item of the action: when it began (0: unknown), and what the names of its
	 * actions begin with. Its reservations of which over() is true (NULL: all), and those of an
	 * earlier item of the same name, are booked as estimated in the same transaction. */
	int64_t begun;
	const char *item;
	bool (*over)(void *data, const char *action);
	void *over_data;
	/* Of work that is paid per token: USD of a million tokens (0, 0: unknown); what one action
	 * may cost, and what is left of the budget of the items whose names begin with
	 * `budget_item` (-1: no limit). */
	double input_usd, output_usd, max_usd, budget_usd;
	const char *budget_item;
	bool scored; /* the issue has a score, and the queue has these */
	double score;
	const double *queue; /* NULL: unknown */
	size_t n_queue;
	bool dry; /* only look: nothing is reserved or noted */
	int64_t now;
};

/*
 * Fills in *out for a stage of a pipeline that runs on `harness`. `account`: of the credentials, or
 * NULL; the pipeline's `accountId` goes before it. -1: ERR_STATE, LedgerKeyAmbiguous: the account
 * is unknown and a plan has a session window; a zone is unknown.
 */
int quota_request(struct arena *a, const struct resources *r, const struct pipeline *p,
	const struct stage_spec *stage, const char *harness, const char *account,
	struct quota_request *out, struct error *err);
/* -1, ERR_INPUT: TenantShareInvalid. For all pipelines that have been loaded. */
int quota_check_tenants(const struct resources *r, struct error *err);

/* Once, when a pipeline starts: the tenants' shares, and OffPeakScheduleStale for its plans.
 * `artifacts`: where events are reported; NULL: nowhere. */
int quota_check(struct arena *a, const struct resources *r, const struct pipeline *p,
	const char *artifacts, int64_t now, struct error *err);

enum quota_verdict {
	QUOTA_GRANTED, /* the estimate is reserved */
	QUOTA_WAIT,    /* ask again at `until` */
	QUOTA_DENIED,  /* AdmissionDenied: the stage's `onFailure` applies */
};

/* An event for people and programs, as in event.h. */
struct quota_event {
	int id;       /* enum event_id */
	json *fields; /* quota_release_events() frees it */
};
struct quota_events {
	struct quota_event *items;
	size_t n, cap;
};

struct quota_decision {
	enum quota_verdict verdict;
	int64_t until; /* WAIT; DENIED: when the estimate would fit, 0: at no time */
	bool repeated; /* GRANTED: the action had it already, or used it up */
	/* "hardCap", "maxBudgetUsd", "costBudget", "off-peak", "limit"; NULL: nothing */
	const char *blocked_by;
	const char *why;  /* for people */
	const char *plan; /* GRANTED */
	unsigned seat;
	int64_t input, output, charge; /* the estimate, and what it takes of the window */
	int64_t cost;                  /* in millionths of a USD */
	bool within_quota;             /* GRANTED: it costs nothing */
	struct quota_events events;
};

/*
 * Decides, and reserves or notes the wait, in one transaction. Call it before an action is printed
 * or started. An action that has its reservation only waits for the reset of a usage limit.
 * -1: ERR_STATE (there are too many reservations; the ledger is locked), ERR_SYSTEM.
 */
int quota_admit(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_decision *out, struct error *err);

/* What an action used. */
struct quota_usage {
	int64_t input, output; /* tokens; -1, -1: unknown, the estimate counts */
	int64_t at;            /* when; 0: now */
	bool partial; /* before a usage limit: the action is repeated, and keeps its reservation */
};
struct quota_settled {
	bool repeated; /* it was settled before with figures: nothing has changed */
	bool reserved; /* it had a reservation */
	bool past;     /* its window has ended: it is noted, and counts in no window */
	int64_t input, output, charge;
	int64_t overrun; /* tokens above the estimate */
	const char *plan;
	unsigned seat;
	struct quota_events events;
};

/*
 * Books what the action r->action used and, unless it is `partial`, ends its reservation, once, in
 * one transaction; also for an action without a reservation. What was booked as estimated is
 * replaced by figures that come later. -1: ERR_USAGE (negative, over 10^12 or in the future, or
 * unknown without a reservation), ERR_STATE, ERR_SYSTEM.
 */
int quota_settle(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_usage *u, struct quota_settled *out, struct error *err);
/* Books the reservations of r->item that are over, on all accounts, as estimated, and forgets what
 * it waits for. *n: how many there were. Needs `item`, `begun`, `over` and `now` alone. */
int quota_end_item(struct arena *a, struct quota *q, const struct quota_request *r, size_t *n,
	struct error *err);
/* Sets what is used of a window, and when it ends (0: as it is), to what the vendor shows. *of: a
 * window of the entry, or of a seat of the request; set to what the ledger had. Of the request only
 * key, time and seats count. -1: also ERR_USAGE. */
int quota_reconcile(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_window *of, int64_t used, int64_t resets_at, struct error *err);
/* A usage limit was reported: nothing starts on this account before `until`. */
int quota_limit(struct arena *a, struct quota *q, const struct quota_request *r, int64_t until,
	struct error *err);
/* Reports the events of a decision or a settlement; `artifacts`, `issue` and `stage` as in event.h.
 */
int quota_report(const char *artifacts, const char *issue, const char *stage,
	const struct quota_events *e, struct error *err);
void quota_release_events(struct quota_events *e);
void quota_release_decision(struct quota_decision *d); /* for CLEANUP: its events */
void quota_release_settled(struct quota_settled *s);

/* The entry of the request, as it is at r->now; one without windows if it is new. */
int quota_look(struct arena *a, struct quota *q, const struct quota_request *r,
	struct quota_entry *out, struct error *err);
/* All entries, as they are at `now`. */
int quota_list(struct arena *a, struct quota *q, int64_t now, struct quota_entry **out, size_t *n,
	struct error *err);

/* ---- estimates (estimate.c) ---- */

struct quota_sample {
	int64_t input, output, at;
};
/* Weighted by 0.85 to the power of the age, the last sample being the newest; rounded. */
void quota_average(const struct quota_sample *s, size_t n, int64_t *input, int64_t *output);

enum quota_estimate_source {
	ESTIMATE_FROZEN,
	ESTIMATE_MEASURED,
	ESTIMATE_DECLARED,
	ESTIMATE_DEFAULT, /* MissingEstimate */
};
struct quota_estimate {
	enum quota_estimate_source source;
	int64_t input, output;
};

/* ---- what a schedule makes of a plan (simulate.c) ---- */

struct quota_simulation {
	const struct subscription_plan *plan; /* with a session window */
	bool naive;                           /* without a ledger; else: */
	enum schedule schedule;               /* of every task */
	int64_t max_wait_s;
	size_t tasks, days;
	int64_t from; /* midnight, UTC */
	uint64_t seed;
};
struct quota_simulated {
	size_t done, denied, interrupted, resets;
	size_t violations; /* starts that brought what is used and reserved above the hard cap */
	double unused;     /* of the quota at a reset, on average */
	int64_t waited_s;  /* of all tasks */
};
void quota_simulate(const struct quota_simulation *of, struct quota_simulated *out);

/* ---- reports (report.c) ---- */

struct quota_point {
	int64_t at, consumed; /* since then; all so far */
};
/* What is known of the use of a window, in the order of time. Entries of quota_list(). */
int quota_points(struct arena *a, struct quota *q, const struct quota_entry *e,
	const struct quota_window *w, struct quota_point **out, size_t *n, struct error *err);

/* At the end of the window at the present pace, as a part of the quota. */
double quota_projected(const struct quota_window *w, int64_t now);
/* Whether too little of the window has passed for a forecast that means anything to people. */
bool quota_too_early(const struct quota_window *w, int64_t now);
/* "under-pacing", "on-pace", "over-pacing" */
const char *quota_pace(double projected, double target);
/* Which plan of the harness to take if so many stages did not fit into this one in a week. */
struct quota_tier {
	const char *confidence;
	double usd, next_usd; /* a month */
	const char *next;     /* NULL: this one, or it is not known */
};
struct quota_tier quota_tier(const char *plan, size_t contentions);
/* A window as JSON, with its sums. */
json *quota_window_json(const struct quota_entry *e, const struct quota_window *w, int64_t now);
json *quota_entry_json(const struct quota_entry *e, int64_t now);
/* HARNESS-ACCOUNT-TENANT.json: eight characters of the account, or of its digest. */
char *quota_file_name(struct arena *a, const struct quota_entry *e);
/* Writes the copies for people: the entry and, when an action was settled, the estimates. */
int quota_write_copies(struct arena *a, struct quota *q, const char *artifacts,
	const struct quota_request *r, bool settled, struct error *err);

#endif
