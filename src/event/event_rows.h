/*
 * Rows of event.h: id, name, severity, fields, what it tells. Fields: "name:kind" with a blank
 * between, kind one of s (text), n (number), b (true or false), a (array), o (object); `?` behind
 * the kind: may be missing. Sorted by room.
 */
EVENT(RESOLVED_PARALLELISM, "ResolvedParallelism", "info",
	"pipeline:s maxConcurrent:n source:s plans:a? harnesses:o? clampedFrom:n?",
	"the cap of issues at one time was settled when the pipeline was loaded")
EVENT(REQUEUE, "Requeue", "info", "trigger:s rescored:b failure:s? oldPosition:n? newPosition:n?",
	"a failed issue went back into the queue")
EVENT(RETRIAGE_STORM, "RetriageStorm", "warning", "count:n windowHours:n",
	"one issue was triaged again more than ten times in a day")
EVENT(WORKTREE_OWNERSHIP_MISMATCH, "WorktreeOwnershipMismatch", "critical",
	"worktreePath:s reason:s expectedClone:s actualClone:s? guard:s",
	"a worktree that should be adopted belongs to another clone")
EVENT(PORT_COLLISION, "PortCollision", "info", "worktreePath:s candidate:n port:n? attempted:a",
	"the port that the path gives is taken")
EVENT(REBASE_CONFLICT, "RebaseConflict", "critical", "branch:s target:s paths:a attempt:n",
	"the branch does not rebase onto its target; the run is suspended")
EVENT(MODEL_DEPRECATED, "ModelDeprecated", "advisory",
	"alias:s modelId:s removedAt:s? replacementAlias:s?", "an alias is past its deprecation")
EVENT(MODEL_DEPRECATION_GRACE_PERIOD, "ModelDeprecationGracePeriod", "warning",
	"alias:s removedAt:s", "an alias will be removed within 30 days")
EVENT(MODEL_REMOVED, "ModelRemoved", "critical", "alias:s modelId:s removedAt:s",
	"an alias is past its removal; the pipeline does not load")
EVENT(UNKNOWN_HARNESS, "UnknownHarness", "critical", "harness:s",
	"a stage names a harness that nobody has registered")
EVENT(HARNESS_UNAVAILABLE, "HarnessUnavailable", "critical", "harness:s reason:s detail:s?",
	"the harness of a stage cannot be used")
EVENT(HARNESS_PROBE_FAILED, "HarnessProbeFailed", "warning", "harness:s detail:s?",
	"the version of a harness could not be told")
EVENT(HARNESS_FALLBACK, "HarnessFallback", "info", "from:s to:s reason:s detail:s?",
	"the next harness of the chain was taken")
EVENT(INDEPENDENCE_VIOLATED, "IndependenceViolated", "error",
	"chain:a effectiveChain:a forbidden:a from:a onFailure:s",
	"no harness is left that the stages before have not used")
EVENT(CYCLIC_INDEPENDENCE_CONSTRAINT, "CyclicIndependenceConstraint", "critical", "constraints:a",
	"a stage wants to be independent of itself or of a later one")
EVENT(BUDGET_EXCEEDED, "BudgetExceeded", "warning", "harness:s? maxBudgetUsd:n costUsd:n",
	"a stage has cost more than it may")
EVENT(AGENT_TIMEOUT, "AgentTimeout", "warning", "harness:s seconds:n",
	"a stage took longer than it may")
EVENT(ARTIFACT_SCHEMA_RETRY, "ArtifactSchemaRetry", "info", "artifact:s fault:s",
	"an artifact was right at the second try")
EVENT(ARTIFACT_SCHEMA_INVALID, "ArtifactSchemaInvalid", "critical", "artifact:s fault:s",
	"an artifact was wrong at the second try too")
EVENT(LEDGER_KEY_AMBIGUOUS, "LedgerKeyAmbiguous", "warning", "harness:s pipeline:s",
	"no account can be told for a harness")
EVENT(DATABASE_ISOLATION_REQUIRED, "DatabaseIsolationRequired", "critical", "stages:a",
	"stages that run at the same time use a database, and there is no pool of branches")
EVENT(QUEUED, "queued", "info", "queueSize:n", "an issue waits for a worker")
EVENT(STARTED, "started", "info", "inFlight:n", "a worker has taken an issue")
EVENT(COMPLETED, "completed", "info", "durationMs:n", "an issue is done")
EVENT(FAILED, "failed", "error", "durationMs:n error:s", "an issue has failed")
