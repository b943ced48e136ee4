#include "src/event/event.h"

/* The table of all events, and what is generated from it. */

#define FIELD(name, kind)                                                                          \
	{                                                                                          \
		name, EVENT_FIELD_##kind, false                                                    \
	}
#define OPTIONAL(name, kind)                                                                       \
	{                                                                                          \
		name, EVENT_FIELD_##kind, true                                                     \
	}

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
		"the branch does not rebase onto its target; the run is suspended",
		{FIELD("branch", TEXT), FIELD("target", TEXT), FIELD("paths", LIST),
			FIELD("attempt", NUMBER)}},
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
	[EVENT_LEDGER_KEY_AMBIGUOUS] = {"LedgerKeyAmbiguous", "warning",
		"the account of a harness cannot be determined",
		{FIELD("harness", TEXT), FIELD("pipeline", TEXT)}},
	[EVENT_DATABASE_ISOLATION_REQUIRED] = {"DatabaseIsolationRequired", "critical",
		"concurrent stages use a database, and there is no pool of database branches",
		{FIELD("stages", LIST)}},
	[EVENT_QUEUED] = {"queued", "info", "an issue waits for a worker",
		{FIELD("queueSize", NUMBER)}},
	[EVENT_STARTED] = {"started", "info", "a worker started an issue",
		{FIELD("inFlight", NUMBER)}},
	[EVENT_COMPLETED] = {"completed", "info", "an issue succeeded",
		{FIELD("durationMs", NUMBER)}},
	[EVENT_FAILED] = {"failed", "error", "an issue failed",
		{FIELD("durationMs", NUMBER), FIELD("error", TEXT)}},
};

const struct event_type *event_type(enum event_id id)
{
	return &types[id];
}

static const struct {
	const char *type, *shown;
} kinds[] = {
	[EVENT_FIELD_TEXT] = {"string", "text"},
	[EVENT_FIELD_NUMBER] = {"number", "number"},
	[EVENT_FIELD_BOOL] = {"boolean", "true or false"},
	[EVENT_FIELD_LIST] = {"array", "list"},
	[EVENT_FIELD_OBJECT] = {"object", "object"},
};

/* An object with one member. */
static json *member(const char *key, const char *value)
{
	json *j = json_object();

	json_put_str(j, key, str_of(value));
	return j;
}

static void put_common(json *properties, json *required, const struct event_type *type)
{
	json *timestamp = member("type", "string");

	json_put_str(timestamp, "format", STR("date-time"));
	json_put(properties, "type", member("const", type->name));
	json_put(properties, "timestamp", timestamp);
	json_put(properties, "severity", member("const", type->severity));
	json_put(properties, "issueId", member("type", "string"));
	json_put(properties, "stage", member("type", "string"));
	json_push_str(required, STR("type"));
	json_push_str(required, STR("timestamp"));
	json_push_str(required, STR("severity"));
}

static json *type_schema(const struct event_type *type)
{
	json *j = json_object(), *required = json_array(), *properties = json_object();

	put_common(properties, required, type);
	for (const struct event_field *f = type->fields; f->name; f++) {
		json_put(properties, f->name, member("type", kinds[f->kind].type));
		if (!f->optional)
			json_push_str(required, str_of(f->name));
	}
	json_put_str(j, "description", str_of(type->about));
	json_put_str(j, "type", STR("object"));
	json_put(j, "required", required);
	json_put(j, "properties", properties);
	json_put_bool(j, "additionalProperties", false);
	return j;
}

void event_schema(struct buf *out)
{
	CLEANUP(json_free) json *j = json_object();
	json *one_of = json_array(), *defs = json_object();

	for (size_t i = 0; i < EVENT_COUNT; i++) {
		CLEANUP(buf_release) struct buf ref = BUF_INIT;

		buf_addf(&ref, "#/$defs/%s", types[i].name);
		json_push(one_of, member("$ref", ref.s));
		json_put(defs, types[i].name, type_schema(&types[i]));
	}
	json_put_str(j, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_put_str(j, "$id", STR("schemas/events.schema.json"));
	json_put_str(j, "title", STR("Event"));
	json_put_str(j, "description", STR("One line of _events.jsonl."));
	json_put(j, "oneOf", one_of);
	json_put(j, "$defs", defs);
	json_print_pretty(out, j);
}

static void put_row(struct buf *out, const struct event_type *type)
{
	buf_addf(out, "| `%s` | %s | ", type->name, type->severity);
	for (const struct event_field *f = type->fields; f->name; f++)
		buf_addf(out, "%s`%s` (%s%s)", f == type->fields ? "" : ", ", f->name,
			kinds[f->kind].shown, f->optional ? "; optional" : "");
	buf_addf(out, " | %s |\n", type->about);
}

void event_page(struct buf *out)
{
	buf_adds(out,
		"# Events of pipelines\n"
		"\n"
		"A run of a pipeline reports its events in `_events.jsonl` in the directory of "
		"artifacts\n"
		"([artifacts.md](artifacts.md)): one JSON object a line, synced to disk before the "
		"run goes on. This page\n"
		"and [events.schema.json](../schemas/events.schema.json) are generated from one "
		"table,\n"
		"`src/event/event_table.c`; a test compares them with it and checks every line "
		"that the tests write.\n"
		"The events of one work item are in its own journal: [events.md](events.md).\n"
		"\n"
		"Every event has `type`, `timestamp` (RFC 3339, UTC) and `severity`: `info`, "
		"`advisory`, `warning`, `error`\n"
		"or `critical`; and `issueId` and `stage` if it is about one. It has no fields but "
		"these and those of the\n"
		"table. `dev-team artifacts events` prints the file. It skips a line that a crash "
		"left incomplete; the next\n"
		"event that is written removes that line.\n"
		"\n"
		"| Event | Severity | Fields | Meaning |\n"
		"|---|---|---|---|\n");
	for (size_t i = 0; i < EVENT_COUNT; i++)
		put_row(out, &types[i]);
	buf_adds(out, "\n"
		      "Some events of the wider format are never emitted. The gate rebases and "
		      "does not merge, so its conflicts\n"
		      "are `RebaseConflict`, not `MergeConflict`. Every requested issue is "
		      "admitted in the order of the queue, so\n"
		      "there is no `AdmissionDenied`, `admission-deferred` or `Delayed Requeue`. "
		      "The outcome of CI and of retries\n"
		      "(`CIFailure`, `MaxRetriesExhausted`) is in the journal of the work item, "
		      "and in `Requeue` as its `failure`.\n");
}
