#include "src/event/event.h"

/* The table of all events, and their JSON Schema. */

#define FIELD(name, kind)                                                                          \
	{                                                                                          \
		name, EVENT_FIELD_##kind, false                                                    \
	}
#define OPTIONAL(name, kind)                                                                       \
	{                                                                                          \
		name, EVENT_FIELD_##kind, true                                                     \
	}

/* Why a filter does not let a task start; then what it found. */
#define REJECTION FIELD("tick", NUMBER), FIELD("reason", TEXT), FIELD("trace", LIST)

static const struct event_type types[EVENT_COUNT] = {
	[EVENT_RESOLVED_PARALLELISM] = {"ResolvedParallelism", "info",
		"the pipeline was loaded and the limit of concurrent issues is known",
		{FIELD("pipeline", TEXT), FIELD("maxConcurrent", NUMBER), FIELD("source", TEXT),
			OPTIONAL("plans", LIST), OPTIONAL("harnesses", OBJECT),
			OPTIONAL("clampedFrom", NUMBER)}},
	[EVENT_REQUEUE] = {"Requeue", "info", "a failed issue was put back into the queue",
		{FIELD("trigger", TEXT), FIELD("rescored", BOOL), OPTIONAL("failure", TEXT),
			OPTIONAL("oldPosition", NUMBER), OPTIONAL("newPosition", NUMBER)}},
	[EVENT_RETRIAGE_STORM] = {"RetriageStorm", "warning",
		"one issue was triaged more than ten times in a day",
		{FIELD("count", NUMBER), FIELD("windowHours", NUMBER)}},
	[EVENT_WORKTREE_OWNERSHIP_MISMATCH] = {"WorktreeOwnershipMismatch", "critical",
		"a worktree to adopt belongs to another clone",
		{FIELD("worktreePath", TEXT), FIELD("reason", TEXT), FIELD("expectedClone", TEXT),
			OPTIONAL("actualClone", TEXT), FIELD("guard", TEXT)}},
	[EVENT_PORT_COLLISION] = {"PortCollision", "info",
		"the port derived from the worktree's path is taken",
		{FIELD("worktreePath", TEXT), FIELD("candidate", NUMBER), OPTIONAL("port", NUMBER),
			FIELD("attempted", LIST)}},
	[EVENT_REBASE_CONFLICT] = {"RebaseConflict", "critical",
		"the branch does not rebase onto its target: nothing was pushed",
		{FIELD("branch", TEXT), FIELD("target", TEXT), FIELD("paths", LIST)}},
	[EVENT_MODEL_DEPRECATED] = {"ModelDeprecated", "advisory",
		"the deprecation date of a model alias has passed",
		{FIELD("alias", TEXT), FIELD("modelId", TEXT), OPTIONAL("removedAt", TEXT),
			OPTIONAL("replacementAlias", TEXT)}},
	[EVENT_MODEL_DEPRECATION_GRACE_PERIOD] = {"ModelDeprecationGracePeriod", "warning",
		"a model alias will be removed within 30 days",
		{FIELD("alias", TEXT), FIELD("removedAt", TEXT)}},
	[EVENT_MODEL_REMOVED] = {"ModelRemoved", "critical",
		"the removal date of a model alias has passed; the pipeline does not load",
		{FIELD("alias", TEXT), FIELD("modelId", TEXT), FIELD("removedAt", TEXT)}},
	[EVENT_UNKNOWN_HARNESS] = {"UnknownHarness", "critical",
		"a stage names a harness that is not registered", {FIELD("harness", TEXT)}},
	[EVENT_HARNESS_UNAVAILABLE] = {"HarnessUnavailable", "critical",
		"the harness of a stage cannot be used",
		{FIELD("harness", TEXT), FIELD("reason", TEXT), OPTIONAL("detail", TEXT)}},
	[EVENT_HARNESS_PROBE_FAILED] = {"HarnessProbeFailed", "warning",
		"the version of a harness could not be determined",
		{FIELD("harness", TEXT), OPTIONAL("detail", TEXT)}},
	[EVENT_HARNESS_FALLBACK] = {"HarnessFallback", "info",
		"the next harness of the fallback chain was used",
		{FIELD("from", TEXT), FIELD("to", TEXT), FIELD("reason", TEXT),
			OPTIONAL("detail", TEXT)}},
	[EVENT_INDEPENDENCE_VIOLATED] = {"IndependenceViolated", "error",
		"every harness left was used by the stages that this one must be independent of",
		{FIELD("chain", LIST), FIELD("effectiveChain", LIST), FIELD("forbidden", LIST),
			FIELD("from", LIST), FIELD("onFailure", TEXT)}},
	[EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT] = {"CyclicIndependenceConstraint", "critical",
		"a stage requires independence from itself or from a later stage",
		{FIELD("constraints", LIST)}},
	[EVENT_BUDGET_EXCEEDED] = {"BudgetExceeded", "warning", "a stage cost more than its budget",
		{OPTIONAL("harness", TEXT), FIELD("maxBudgetUsd", NUMBER),
			FIELD("costUsd", NUMBER)}},
	[EVENT_AGENT_TIMEOUT] = {"AgentTimeout", "warning", "a stage exceeded its time limit",
		{FIELD("harness", TEXT), FIELD("seconds", NUMBER)}},
	[EVENT_ARTIFACT_SCHEMA_RETRY] = {"ArtifactSchemaRetry", "info",
		"an artifact was valid on the second attempt",
		{FIELD("artifact", TEXT), FIELD("fault", TEXT)}},
	[EVENT_ARTIFACT_SCHEMA_INVALID] = {"ArtifactSchemaInvalid", "critical",
		"an artifact was invalid on the second attempt too",
		{FIELD("artifact", TEXT), FIELD("fault", TEXT)}},
	[EVENT_ADMISSION_DENIED] = {"AdmissionDenied", "info", "a cap did not let a stage start",
		{FIELD("ledgerKey", OBJECT), FIELD("blockedBy", TEXT), FIELD("detail", TEXT)}},
	[EVENT_OFF_PEAK_DEFERRAL_EXCEEDED] = {"OffPeakDeferralExceeded", "advisory",
		"the next off-peak hours are further away than a stage may wait",
		{FIELD("ledgerKey", OBJECT), OPTIONAL("nextOffPeak", TEXT)}},
	[EVENT_OFF_PEAK_SCHEDULE_STALE] = {"OffPeakScheduleStale", "advisory",
		"the off-peak hours of a plan were not verified for 30 days",
		{FIELD("plan", TEXT), OPTIONAL("lastVerified", TEXT), FIELD("level", TEXT)}},
	[EVENT_QUOTA_CONTENTION] = {"QuotaContention", "advisory",
		"a stage at the head of the queue does not fit into the quota",
		{FIELD("ledgerKey", OBJECT), FIELD("detail", TEXT)}},
	[EVENT_MISSING_ESTIMATE] = {"MissingEstimate", "advisory",
		"a stage has no estimate, so the default is used",
		{FIELD("input", NUMBER), FIELD("output", NUMBER)}},
	[EVENT_ESTIMATE_BOOTSTRAPPED] = {"EstimateBootstrapped", "info",
		"the measured estimate of a stage replaces the default",
		{FIELD("input", NUMBER), FIELD("output", NUMBER), FIELD("inputRatio", NUMBER),
			FIELD("outputRatio", NUMBER)}},
	[EVENT_ESTIMATE_VARIANCE] = {"EstimateVariance", "warning",
		"a stage used over 50 % more or less than was declared",
		{FIELD("declared", NUMBER), FIELD("observed", NUMBER), FIELD("ratio", NUMBER)}},
	[EVENT_LEDGER_POOLED] = {"LedgerPooled", "info",
		"a second pipeline uses the quota of an account",
		{FIELD("ledgerKey", OBJECT), FIELD("pipelines", LIST)}},
	[EVENT_TENANT_SHARE_INVALID] = {"TenantShareInvalid", "critical",
		"the shares of an account's tenants are incomplete, or their sum is not 1",
		{FIELD("harness", TEXT), OPTIONAL("accountId", TEXT), FIELD("detail", TEXT)}},
	[EVENT_LEDGER_KEY_AMBIGUOUS] = {"LedgerKeyAmbiguous", "warning",
		"the account of a harness cannot be determined",
		{FIELD("harness", TEXT), FIELD("pipeline", TEXT)}},
	[EVENT_LEDGER_RECONCILIATION] = {"LedgerReconciliation", "warning",
		"the use that the vendor shows replaces the one that was counted",
		{FIELD("ledgerKey", OBJECT), FIELD("plan", TEXT), FIELD("seat", NUMBER),
			FIELD("selfTracked", NUMBER), FIELD("authoritative", NUMBER),
			FIELD("absoluteDivergence", NUMBER),
			OPTIONAL("relativeDivergence", NUMBER)}},
	[EVENT_LEDGER_SOURCE_FALLBACK] = {"LedgerSourceFallback", "advisory",
		"what the vendor says is used is not known, and the one that was counted applies",
		{FIELD("ledgerKey", OBJECT), FIELD("plan", TEXT), FIELD("seat", NUMBER),
			FIELD("detail", TEXT)}},
	[EVENT_BURN_DOWN_REPORT] = {"BurnDownReport", "info",
		"how a window is used, at most every five minutes",
		{FIELD("harness", TEXT), FIELD("ledgerKey", OBJECT), FIELD("plan", TEXT),
			FIELD("seat", NUMBER), OPTIONAL("windowEnd", TEXT),
			FIELD("subscriptionTokensConsumed", NUMBER),
			OPTIONAL("quotaTokens", NUMBER),
			FIELD("subscriptionUtilizationFraction", NUMBER),
			FIELD("pacingTarget", NUMBER), FIELD("projectedUtilization", NUMBER),
			FIELD("queueDepth", NUMBER), FIELD("recommendation", TEXT)}},
	[EVENT_TIER_ANALYSIS] = {"TierAnalysis", "advisory",
		"the quota of a plan kept stages from starting in the last seven days",
		{FIELD("plan", TEXT), FIELD("contentionEvents", NUMBER), FIELD("confidence", TEXT),
			FIELD("monthlyUsd", NUMBER), OPTIONAL("recommended", TEXT),
			OPTIONAL("recommendedMonthlyUsd", NUMBER)}},
	[EVENT_DATABASE_ISOLATION_REQUIRED] = {"DatabaseIsolationRequired", "critical",
		"concurrent stages use a database, and there is no pool of database branches",
		{FIELD("stages", LIST)}},
	[EVENT_BRANCH_TOPOLOGY_FORBIDDEN] = {"BranchTopologyForbidden", "critical",
		"a database branch would be made from the branch of an item in progress",
		{FIELD("pool", TEXT), FIELD("branchFrom", TEXT)}},
	[EVENT_BRANCH_QUOTA_EXCEEDED] = {"BranchQuotaExceeded", "error",
		"a pool has as many database branches as it may",
		{FIELD("pool", TEXT), FIELD("adapter", TEXT), FIELD("limit", NUMBER)}},
	[EVENT_ADAPTER_UNAVAILABLE] = {"AdapterUnavailable", "error",
		"a database cannot be reached; the branch was not made",
		{FIELD("pool", TEXT), FIELD("adapter", TEXT), FIELD("detail", TEXT)}},
	[EVENT_BRANCH_ALLOCATION_LATENCY] = {"BranchAllocationLatency", "info",
		"a database branch was made and migrated",
		{FIELD("pool", TEXT), FIELD("adapter", TEXT), FIELD("durationMs", NUMBER),
			OPTIONAL("method", TEXT)}},
	[EVENT_MIGRATION_FAILED] = {"MigrationFailed", "critical",
		"the migrations of a new database branch failed; the branch was removed",
		{FIELD("pool", TEXT), FIELD("branchKey", TEXT), FIELD("detail", TEXT)}},
	[EVENT_MIGRATION_CONFLICT] = {"MigrationConflict", "critical",
		"after a rebase the migrations do not run on a fresh database branch; nothing was "
		"pushed",
		{FIELD("pool", TEXT), FIELD("branchKey", TEXT), FIELD("branch", TEXT),
			FIELD("detail", TEXT)}},
	[EVENT_MIGRATION_DIVERGED] = {"MigrationDiverged", "warning",
		"a database branch that others were made from was removed",
		{FIELD("reclaimedBranch", OBJECT), FIELD("divergentChildren", LIST),
			FIELD("recommendation", TEXT)}},
	[EVENT_QUEUED] = {"queued", "info", "an issue waits for a worker",
		{FIELD("queueSize", NUMBER)}},
	[EVENT_STARTED] = {"started", "info", "a worker started an issue",
		{FIELD("inFlight", NUMBER)}},
	[EVENT_COMPLETED] = {"completed", "info", "an issue succeeded",
		{FIELD("durationMs", NUMBER)}},
	[EVENT_FAILED] = {"failed", "error", "an issue failed",
		{FIELD("durationMs", NUMBER), FIELD("error", TEXT)}},
	[EVENT_TICK] = {"OrchestratorTick", "info", "a tick started tasks, or became idle",
		{FIELD("tick", NUMBER), FIELD("candidates", NUMBER), FIELD("dispatched", NUMBER)}},
	[EVENT_TICK_DISPATCHED] = {"OrchestratorDispatched", "info", "a task was started",
		{FIELD("tick", NUMBER), FIELD("trace", LIST), OPTIONAL("base", TEXT)}},
	[EVENT_TICK_COMPLETED] = {"OrchestratorCompleted", "info", "the work item of a task ended",
		{FIELD("tick", NUMBER), FIELD("outcome", TEXT), FIELD("reason", TEXT),
			OPTIONAL("prUrl", TEXT), OPTIONAL("durationMs", NUMBER)}},
	[EVENT_TICK_FAILED] = {"OrchestratorFailed", "error",
		"a step of a task failed, or its work item ended as failed",
		{FIELD("tick", NUMBER), FIELD("mode", TEXT), FIELD("reason", TEXT),
			FIELD("failures", NUMBER), OPTIONAL("prUrl", TEXT)}},
	[EVENT_TICK_RECOVERED] = {"OrchestratorRecovered", "info",
		"the playbook repeats what has failed",
		{FIELD("tick", NUMBER), FIELD("mode", TEXT), FIELD("action", TEXT),
			FIELD("attempt", NUMBER), OPTIONAL("prUrl", TEXT)}},
	[EVENT_TICK_IDLE_NO_WORK] = {"OrchestratorIdleNoWork", "info",
		"a tick had nothing to do and no candidate",
		{FIELD("tick", NUMBER), FIELD("idleStreak", NUMBER)}},
	[EVENT_TICK_IDLE_ALL_FILTERED] = {"OrchestratorIdleAllFiltered", "info",
		"a tick had nothing to do, as filters rejected all candidates",
		{FIELD("tick", NUMBER), FIELD("idleStreak", NUMBER),
			FIELD("rejectedCount", NUMBER)}},
	[EVENT_TICK_STUCK] = {"OrchestratorStuckCandidate", "warning",
		"a task was rejected more than five times in a row",
		{FIELD("tick", NUMBER), FIELD("reason", TEXT),
			FIELD("ticksSinceFirstSkip", NUMBER)}},
	[EVENT_TICK_PARKED] = {"OrchestratorTaskParked", "error",
		"a task that keeps failing waits for a person",
		{FIELD("tick", NUMBER), FIELD("reason", TEXT), FIELD("failures", NUMBER)}},
	[EVENT_TICK_RELEASED] = {"OrchestratorTaskReleased", "info",
		"a person has released a parked task",
		{FIELD("tick", NUMBER), FIELD("reason", TEXT)}},
	[EVENT_TICK_DECIDED] = {"OrchestratorRequestDecided", "info",
		"a person has decided about a request on the board, or about all of a task",
		{FIELD("tick", NUMBER), FIELD("decision", TEXT), FIELD("subject", TEXT)}},
	[EVENT_TICK_GATE_FAILED] = {"OrchestratorGateFailed", "critical",
		"a tick could not read what decides which tasks may start",
		{FIELD("tick", NUMBER), FIELD("reason", TEXT), FIELD("failures", NUMBER)}},
	[EVENT_TICK_QUARANTINED] = {"OrchestratorWorkQuarantined", "warning",
		"the commits of a task that exist nowhere else were given a branch",
		{FIELD("tick", NUMBER), FIELD("branch", TEXT), FIELD("quarantineRef", TEXT),
			FIELD("commitSha", TEXT), FIELD("commitCount", NUMBER)}},
	[EVENT_TICK_PULL_OPENED] = {"PrOpened", "info", "a task has a pull request",
		{FIELD("tick", NUMBER), FIELD("prUrl", TEXT), OPTIONAL("prOpenedAt", TEXT)}},
	[EVENT_TICK_MERGED] = {"DispatchToMergeCompleted", "info",
		"the pull request of a task that is done was merged",
		{FIELD("tick", NUMBER), FIELD("dispatchedAt", TEXT), OPTIONAL("mergedAt", TEXT),
			OPTIONAL("totalLifecycleMs", NUMBER)}},
	[EVENT_TICK_SWEPT] = {"OrchestratorWorktreeSwept", "info",
		"the worktree of a task that is done was removed",
		{FIELD("tick", NUMBER), FIELD("branch", TEXT)}},
	[EVENT_TICK_OPEN_PULL_REQUEST] = {"OrchestratorBlockedByOpenPullRequest", "info",
		"the branch of a task has an open pull request",
		{REJECTION, FIELD("prNumber", NUMBER), FIELD("isDraft", BOOL),
			FIELD("branchName", TEXT), OPTIONAL("prUrl", TEXT)}},
	[EVENT_TICK_ORPHAN_PARENT] = {"OrchestratorOrphanParent", "info",
		"all parts of a task are done: close it",
		{REJECTION, FIELD("completedChildren", LIST)}},
	[EVENT_TICK_IN_FLIGHT] = {"OrchestratorTaskAlreadyInFlight", "info",
		"somebody works on a task",
		{REJECTION, FIELD("signal", TEXT), FIELD("description", TEXT),
			OPTIONAL("prNumber", NUMBER), OPTIONAL("worktreePath", TEXT),
			OPTIONAL("subprocessPid", NUMBER), OPTIONAL("state", TEXT)}},
	[EVENT_TICK_DEPENDENCY] = {"OrchestratorBlockedByDependency", "info",
		"a task waits for others",
		{REJECTION, FIELD("blockers", LIST), OPTIONAL("missing", TEXT)}},
	[EVENT_TICK_OVERLAP] = {"OrchestratorBlockedByBlastRadiusOverlap", "info",
		"a task changes files that another one changes at the time",
		{REJECTION, FIELD("inFlightTaskId", TEXT), FIELD("overlap", LIST),
			FIELD("overlapCount", NUMBER)}},
	[EVENT_TICK_DISPATCHABILITY] = {"OrchestratorBlockedByDispatchability", "info",
		"a task is marked as not to be started",
		{REJECTION, FIELD("dispatchableReason", TEXT)}},
	[EVENT_TICK_DOR] = {"OrchestratorBlockedByDor", "info", "a task must be clarified first",
		{REJECTION, FIELD("verdict", TEXT), OPTIONAL("signedAt", TEXT)}},
	[EVENT_TICK_EXTERNAL] = {"OrchestratorAwaitingExternal", "info",
		"a person must clear what a task waits for",
		{REJECTION, FIELD("externalDeps", LIST), FIELD("allExternalDeps", LIST)}},
	[EVENT_TICK_BLOCKED] = {"TaskBlocked", "info", "a person has blocked a task",
		{REJECTION, OPTIONAL("until", TEXT), OPTIONAL("unblockedBy", TEXT)}},
	[EVENT_TICK_CAPTURES] = {"OrchestratorBlockedByCaptures", "info",
		"captures that name a task are undecided", {REJECTION, FIELD("capturedFor", TEXT)}},
};

const struct event_type *event_type(enum event_id id)
{
	return &types[id];
}

static const char *const kinds[] = {
	[EVENT_FIELD_TEXT] = "string",
	[EVENT_FIELD_NUMBER] = "number",
	[EVENT_FIELD_BOOL] = "boolean",
	[EVENT_FIELD_LIST] = "array",
	[EVENT_FIELD_OBJECT] = "object",
};

/* An object with one member. */
static json *event_table_member(const char *key, const char *value)
{
	return JSON_OBJECT(JSON_TEXT(key, value));
}

static json *type_schema(const struct event_type *type)
{
	static const char *const always[] = {"type", "timestamp", "severity", NULL};
	json *required = json_names(always),
	     *properties = JSON_OBJECT(JSON_VALUE("type", event_table_member("const", type->name)),
		     JSON_VALUE("timestamp", JSON_OBJECT(JSON_TEXT("type", "string"),
						     JSON_TEXT("format", "date-time"))),
		     JSON_VALUE("severity", event_table_member("const", type->severity)),
		     JSON_VALUE("issueId", event_table_member("type", "string")),
		     JSON_VALUE("stage", event_table_member("type", "string")));

	for (const struct event_field *f = type->fields; f->name; f++) {
		json_put(properties, f->name, event_table_member("type", kinds[f->kind]));
		if (!f->optional)
			json_push_str(required, str_of(f->name));
	}
	return JSON_OBJECT(JSON_TEXT("description", type->about), JSON_TEXT("type", "object"),
		JSON_VALUE("required", required), JSON_VALUE("properties", properties),
		JSON_BOOL("additionalProperties", false));
}

void event_schema(struct buf *out)
{
	json *one_of = json_array(), *defs = json_object(), *j;

	for (size_t i = 0; i < EVENT_COUNT; i++) {
		char ref[80];

		(void)snprintf(ref, sizeof(ref), "#/$defs/%s", types[i].name);
		json_push(one_of, event_table_member("$ref", ref));
		json_put(defs, types[i].name, type_schema(&types[i]));
	}
	j = JSON_OBJECT(JSON_TEXT("$schema", "https://json-schema.org/draft/2020-12/schema"),
		JSON_TEXT("$id", "schemas/events.schema.json"), JSON_TEXT("title", "Event"),
		JSON_TEXT("description", "One line of _events.jsonl."), JSON_VALUE("oneOf", one_of),
		JSON_VALUE("$defs", defs));
	json_print_pretty(out, j);
	json_free(&j);
}
