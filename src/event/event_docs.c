#include "src/event/event.h"

/* What is made from the table: for programs, and for people. */

static const struct {
	char kind;
	const char *type, *shown;
} kinds[] = {
	{'s', "string", "text"},
	{'n', "number", "number"},
	{'b', "boolean", "true or false"},
	{'a', "array", "list"},
	{'o', "object", "object"},
};

static size_t kind_at(char kind)
{
	size_t i = 0;

	while (i + 1 < COUNT(kinds) && kinds[i].kind != kind)
		i++;
	return i;
}

static json *word(const char *key, const char *value)
{
	json *j = json_object();

	json_put_str(j, key, str_of(value));
	return j;
}

static void put_field(json *properties, json *required, const struct event_field *f)
{
	json_put(properties, f->name, word("type", kinds[kind_at(f->kind)].type));
	if (!f->may_miss)
		json_push_str(required, str_of(f->name));
}

static void put_common(json *properties, json *required, enum event_id what)
{
	json *stamp = word("type", "string");

	json_put_str(stamp, "format", STR("date-time"));
	json_put(properties, "type", word("const", event_name(what)));
	json_put(properties, "timestamp", stamp);
	json_put(properties, "severity", word("const", event_severity(what)));
	json_put(properties, "issueId", word("type", "string"));
	json_put(properties, "stage", word("type", "string"));
	json_push_str(required, STR("type"));
	json_push_str(required, STR("timestamp"));
	json_push_str(required, STR("severity"));
}

static json *row_schema(enum event_id what)
{
	json *j = json_object(), *required = json_array(), *properties = json_object();
	struct event_field f;
	const char *at = NULL;

	put_common(properties, required, what);
	while (event_next_field(what, &at, &f))
		put_field(properties, required, &f);
	json_put_str(j, "description", str_of(event_about(what)));
	json_put_str(j, "type", STR("object"));
	json_put(j, "required", required);
	json_put(j, "properties", properties);
	json_put_bool(j, "additionalProperties", false);
	return j;
}

void event_schema(struct buf *out)
{
	CLEANUP(json_free) json *j = json_object();
	json *forms = json_array(), *defs = json_object();

	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		const char *name = event_name((enum event_id)i);
		struct buf ref = BUF_INIT;

		buf_addf(&ref, "#/$defs/%s", name);
		json_push(forms, word("$ref", ref.s));
		json_put(defs, name, row_schema((enum event_id)i));
		buf_release(&ref);
	}
	json_put_str(j, "$schema", STR("https://json-schema.org/draft/2020-12/schema"));
	json_put_str(j, "$id", STR("schemas/events.schema.json"));
	json_put_str(j, "title", STR("Event"));
	json_put_str(j, "description", STR("One line of _events.jsonl."));
	json_put(j, "oneOf", forms);
	json_put(j, "$defs", defs);
	json_print_pretty(out, j);
}

static void put_row(struct buf *out, enum event_id what)
{
	struct event_field f;
	const char *at = NULL, *between = "";

	buf_addf(out, "| `%s` | %s | ", event_name(what), event_severity(what));
	while (event_next_field(what, &at, &f)) {
		buf_addf(out, "%s`%s` (%s%s)", between, f.name, kinds[kind_at(f.kind)].shown,
			f.may_miss ? "; may be missing" : "");
		between = ", ";
	}
	buf_addf(out, " | %s |\n", event_about(what));
}

void event_page(struct buf *out)
{
	buf_adds(out,
		"# Events of pipelines\n"
		"\n"
		"What a run of a pipeline tells people and programs stands in `_events.jsonl` of "
		"the folder of\n"
		"artifacts ([artifacts.md](artifacts.md)): one JSON object a line, written whole "
		"and synced before\n"
		"anything else is done. This page and "
		"[events.schema.json](../schemas/events.schema.json) are made from\n"
		"one table, `src/event/event_rows.h`; a test holds both to it, and every line "
		"that is written.\n"
		"What happens to a single work item is in its own journal: "
		"[events.md](events.md).\n"
		"\n"
		"Every event has `type`, `timestamp` (RFC 3339, UTC) and `severity`, one of "
		"`info`, `advisory`,\n"
		"`warning`, `error` and `critical`; `issueId` and `stage` where it is about one. "
		"The other fields are\n"
		"those of the table, and no others. `dev-team artifacts events` reads the file: a "
		"line that a kill\n"
		"left half-written is passed over and cut by the next writer.\n"
		"\n"
		"| Event | Severity | Fields | Means |\n"
		"|---|---|---|---|\n");
	for (unsigned i = 0; i < EVENT_COUNT; i++)
		put_row(out, (enum event_id)i);
	buf_adds(out,
		"\n"
		"Some events of the wider format have nobody here who could tell them. The gate "
		"rebases and never\n"
		"merges: its conflicts are `RebaseConflict`, not `MergeConflict`. Every issue that "
		"is asked for is\n"
		"admitted, in the order of the queue: no `AdmissionDenied`, `admission-deferred` "
		"or "
		"`Delayed Requeue`.\n"
		"What becomes of CI and of tries (`CIFailure`, `MaxRetriesExhausted`) is in the "
		"journal of the work\n"
		"item, and in `Requeue` as its `failure`.\n");
}
