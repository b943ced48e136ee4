/*
 * event.h: the events that a run of a pipeline reports to people and programs, one JSON object a
 * line in $ARTIFACTS_DIR/_events.jsonl. event_table.c describes every event; the JSON Schema of the
 * lines (schemas/events.schema.json) is generated from that table; docs/pipeline-events.md has its
 * rows.
 */
#ifndef DT_EVENT_H
#define DT_EVENT_H

#include "src/config/resource.h"
#include "src/event/artifact.h"

enum event_id {
	EVENT_RESOLVED_PARALLELISM,
	EVENT_REQUEUE,
	EVENT_RETRIAGE_STORM,
	EVENT_WORKTREE_OWNERSHIP_MISMATCH,
	EVENT_PORT_COLLISION,
	EVENT_REBASE_CONFLICT,
	EVENT_MODEL_DEPRECATED,
	EVENT_MODEL_DEPRECATION_GRACE_PERIOD,
	EVENT_MODEL_REMOVED,
	EVENT_UNKNOWN_HARNESS,
	EVENT_HARNESS_UNAVAILABLE,
	EVENT_HARNESS_PROBE_FAILED,
	EVENT_HARNESS_FALLBACK,
	EVENT_INDEPENDENCE_VIOLATED,
	EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT,
	EVENT_BUDGET_EXCEEDED,
	EVENT_AGENT_TIMEOUT,
	EVENT_ARTIFACT_SCHEMA_RETRY,
	EVENT_ARTIFACT_SCHEMA_INVALID,
	EVENT_ADMISSION_DENIED,
	EVENT_OFF_PEAK_DEFERRAL_EXCEEDED,
	EVENT_OFF_PEAK_SCHEDULE_STALE,
	EVENT_QUOTA_CONTENTION,
	EVENT_MISSING_ESTIMATE,
	EVENT_ESTIMATE_BOOTSTRAPPED,
	EVENT_ESTIMATE_VARIANCE,
	EVENT_LEDGER_POOLED,
	EVENT_TENANT_SHARE_INVALID,
	EVENT_LEDGER_KEY_AMBIGUOUS,
	EVENT_LEDGER_RECONCILIATION,
	EVENT_LEDGER_SOURCE_FALLBACK,
	EVENT_BURN_DOWN_REPORT,
	EVENT_TIER_ANALYSIS,
	EVENT_DATABASE_ISOLATION_REQUIRED,
	EVENT_BRANCH_TOPOLOGY_FORBIDDEN,
	EVENT_BRANCH_QUOTA_EXCEEDED,
	EVENT_ADAPTER_UNAVAILABLE,
	EVENT_BRANCH_ALLOCATION_LATENCY,
	EVENT_MIGRATION_FAILED,
	EVENT_MIGRATION_CONFLICT,
	EVENT_MIGRATION_DIVERGED,
	EVENT_QUEUED,
	EVENT_STARTED,
	EVENT_COMPLETED,
	EVENT_FAILED,
	/* Of the orchestrator (src/tick): */
	EVENT_TICK,
	EVENT_TICK_DISPATCHED,
	EVENT_TICK_COMPLETED,
	EVENT_TICK_FAILED,
	EVENT_TICK_RECOVERED,
	EVENT_TICK_IDLE_NO_WORK,
	EVENT_TICK_IDLE_ALL_FILTERED,
	EVENT_TICK_STUCK,
	EVENT_TICK_PARKED,
	EVENT_TICK_RELEASED,
	EVENT_TICK_DECIDED,
	EVENT_TICK_GATE_FAILED,
	EVENT_TICK_QUARANTINED,
	EVENT_TICK_PULL_OPENED,
	EVENT_TICK_MERGED,
	EVENT_TICK_SWEPT,
	EVENT_TICK_OPEN_PULL_REQUEST,
	EVENT_TICK_ORPHAN_PARENT,
	EVENT_TICK_IN_FLIGHT,
	EVENT_TICK_DEPENDENCY,
	EVENT_TICK_OVERLAP,
	EVENT_TICK_DISPATCHABILITY,
	EVENT_TICK_DOR,
	EVENT_TICK_EXTERNAL,
	EVENT_TICK_BLOCKED,
	EVENT_TICK_CAPTURES,
	EVENT_COUNT
};

enum event_field_kind {
	EVENT_FIELD_TEXT,
	EVENT_FIELD_NUMBER,
	EVENT_FIELD_BOOL,
	EVENT_FIELD_LIST,
	EVENT_FIELD_OBJECT,
};

struct event_field {
	const char *name; /* NULL ends the list */
	enum event_field_kind kind;
	bool optional;
};

/* One row of the table. */
struct event_type {
	const char *name, *severity, *about;
	struct event_field fields[14]; /* besides type, timestamp, severity, issueId and stage */
};
const struct event_type *event_type(enum event_id id);

struct event {
	enum event_id id;
	const char *issue, *stage; /* NULL: the event is about no issue or stage */
	const json *fields;        /* an object, borrowed; NULL: no fields */
};

/*
 * Appends a line: type, timestamp, severity, issueId and stage (if there is one), then the fields.
 * `dir` NULL: there is no directory of artifacts, nothing is written. `issue` may be
 * PIPELINE_SCOPE, which means no issue. ERR_SYSTEM: a field is missing, unknown or of the
 * wrong kind, which is a fault of the caller; nothing is written.
 */
int event_emit(const char *dir, const struct event *e, struct error *err);
/* The same; takes `fields`. */
int event_report(const char *dir, enum event_id id, const char *issue, const char *stage,
	json *fields, struct error *err);

/*
 * The events as an array: from `since` on (RFC 3339; NULL: all), of `type` (NULL: any). Lines that
 * are not events are left out and counted in *skipped (may be NULL). Without a file it is empty.
 */
int event_list(const char *dir, const char *since, const char *type, json **out, size_t *skipped,
	struct error *err);

/* The JSON Schema of a line, generated from the table. */
void event_schema(struct buf *out);

/* ---- what loading the resources of a pipeline reports ---- */

/* Emits UnknownHarness, CyclicIndependenceConstraint and DatabaseIsolationRequired for the faults
 * of the pipelines, to the directory of artifacts (NULL: nothing is written). */
int event_report_faults(
	struct arena *a, const char *dir, const struct resources *r, struct error *err);

/* {pipeline, maxConcurrent, source, clampedFrom, plans, harnesses}, the fields of the event. */
json *event_parallelism_json(const struct pipeline *p, const struct parallelism *r);
/* Writes resolvedParallelism.PIPELINE in DIR/_pipeline/runtime.json and emits ResolvedParallelism.
 * `dir` NULL: nothing is written. */
int event_report_parallelism(
	const char *dir, const struct pipeline *p, const struct parallelism *r, struct error *err);

#endif
