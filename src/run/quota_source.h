/*
 * quota_source.h: plans whose `quotaSource` is not `self-tracked`. Before the ledger decides, a
 * command of the user reports the usage, and its figure replaces that of the ledger. The command
 * runs before the ledger is opened, because an open ledger blocks other processes.
 */
#ifndef DT_RUN_QUOTA_SOURCE_H
#define DT_RUN_QUOTA_SOURCE_H

#include "src/event/usage.h"
#include "src/quota/quota.h"

struct quota_reading {
	const struct subscription_plan *plan;
	unsigned seat;
	int64_t used, resets_at; /* tokens; when the window ends, 0: not said */
	const char *fault;       /* why the ledger's figure counts; NULL */
};
struct quota_readings {
	struct quota_reading *items;
	size_t n, cap;
};
/* Of the seats of the request. -1: nothing may start: a plan of `authoritative-api` has no answer
 * (ERR_STATE: no command; ERR_SYSTEM), or the user's settings are refused. */
int quota_source_read(struct arena *a, const struct quota_request *r, struct quota_readings *out,
	struct error *err);
/* Sets the windows of the open ledger; reports LedgerSourceFallback, and LedgerReconciliation where
 * the first figure replaces one that was counted. */
int quota_source_apply(struct arena *a, struct quota *q, const struct quota_request *r,
	const struct quota_readings *readings, const char *artifacts, struct error *err);
/* Adds what was read from a cache to the input tokens, if the user's settings say so of a plan of
 * the request. Unknown figures stay so. */
int quota_source_add_reads(struct arena *a, const struct quota_request *r, const struct usage *used,
	struct quota_usage *out, struct error *err);
/* LedgerReconciliation. `was`: the window before. */
int quota_source_report(const char *artifacts, const struct quota_request *r,
	const struct quota_window *was, int64_t used, struct error *err);

#endif
