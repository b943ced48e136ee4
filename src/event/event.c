#include "src/event/event.h"
#include "src/base/clock.h"
#include "src/config/resource.h"
#include "src/sys/path.h"

static const char events_file[] = "_events.jsonl";

static bool (*const is_kind[])(const json *) = {
	[EVENT_FIELD_TEXT] = json_is_string,
	[EVENT_FIELD_NUMBER] = json_is_number,
	[EVENT_FIELD_BOOL] = json_is_bool,
	[EVENT_FIELD_LIST] = json_is_array,
	[EVENT_FIELD_OBJECT] = json_is_object,
};

static bool has_field(const struct event_type *type, const char *name)
{
	for (const struct event_field *f = type->fields; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return true;
	return false;
}

static int check_fields(const struct event_type *type, const json *fields, struct error *err)
{
	for (const struct event_field *f = type->fields; f->name; f++) {
		const json *value = json_get(fields, f->name);

		if (value ? !is_kind[f->kind](value) : !f->optional)
			return error_set(err, ERR_SYSTEM, "field '%s' of event '%s' is %s", f->name,
				type->name, value ? "of the wrong kind" : "missing");
	}
	for (const json *m = json_first(fields); m; m = json_next(m))
		if (!has_field(type, json_key(m)))
			return error_set(err, ERR_SYSTEM, "event '%s' has no field '%s'",
				type->name, json_key(m));
	return 0;
}

static bool about_issue(const struct event *e)
{
	return e->issue && strcmp(e->issue, PIPELINE_SCOPE) != 0;
}

static json *event_json(const struct event *e)
{
	const struct event_type *type = event_type(e->id);
	json *line = JSON_OBJECT(JSON_TEXT("type", type->name), JSON_TIME("timestamp", clock_now()),
		JSON_TEXT("severity", type->severity),
		JSON_IF(about_issue(e), JSON_TEXT("issueId", e->issue)),
		JSON_IF(e->stage, JSON_TEXT("stage", e->stage)));

	for (const json *m = json_first(e->fields); m; m = json_next(m))
		json_put(line, json_key(m), json_copy(m));
	return line;
}

int event_emit(const char *dir, const struct event *e, struct error *err)
{
	CLEANUP(json_free) json *line = NULL;

	if (check_fields(event_type(e->id), e->fields, err) < 0)
		return -1;
	if (about_issue(e) && path_check_id(e->issue, err) < 0)
		return -1;
	if (e->stage && str_utf8_fault(str_of(e->stage)))
		return error_set(err, ERR_USAGE, "the name of a stage is not UTF-8");
	if (!dir)
		return 0;
	line = event_json(e);
	return artifact_append(dir, NULL, events_file, line, err);
}

int event_report(const char *dir, enum event_id id, const char *issue, const char *stage,
	json *fields, struct error *err)
{
	const struct event e = {.id = id, .issue = issue, .stage = stage, .fields = fields};
	int rc = event_emit(dir, &e, err);

	json_free(&fields);
	return rc;
}

/* Other programs may write timestamps that are not RFC 3339: those compare as text. */
static bool event_earlier(const char *timestamp, const char *since)
{
	int64_t t, s;

	if (clock_parse_rfc3339(str_of(timestamp), &t) && clock_parse_rfc3339(str_of(since), &s))
		return t < s;
	return strcmp(timestamp, since) < 0;
}

static bool selected(const json *event, const char *since, const char *type)
{
	return (!since || !event_earlier(json_get_str(event, "timestamp"), since)) &&
	       (!type || strcmp(json_get_str(event, "type"), type) == 0);
}

static bool is_event(const json *line)
{
	return json_is_object(line) && json_get_str(line, "type") &&
	       json_get_str(line, "timestamp");
}

int event_list(const char *dir, const char *since, const char *type, json **out, size_t *skipped,
	struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;
	size_t invalid = 0;
	bool missing;

	*out = NULL;
	if (artifact_read_text(dir, NULL, events_file, &text, &missing, err) < 0)
		return -1;
	*out = json_array();
	for (rest = buf_str(&text); str_line(&rest, &line);) {
		CLEANUP(json_free) json *event = NULL;
		struct error why;

		if (!str_trim(line).n)
			continue;
		if (json_parse(&event, line, &why) < 0 || !is_event(event))
			invalid++;
		else if (selected(event, since, type))
			json_push(*out, json_copy(event));
	}
	if (skipped)
		*skipped = invalid;
	return 0;
}

/* ---- what loading the resources of a pipeline reports ---- */

struct fault_report {
	struct arena *a;
	const char *dir;
	const struct resources *r;
	const struct resource_doc *doc;
	struct error *err;
};

/* The fault at `node` whose text contains `class`; NULL. */
static const struct error *event_fault_at(
	const struct fault_report *t, const struct yaml *node, const char *class)
{
	for (size_t i = 0; node && i < t->r->n_faults; i++) {
		const struct error *f = &t->r->faults[i];

		if (f->line == node->line && f->col == node->col &&
			strcmp(f->file, t->doc->file) == 0 && strstr(f->text, class))
			return f;
	}
	return NULL;
}

static const char *stage_name(const struct yaml *stage)
{
	const struct yaml *name = yaml_get(stage, "name");

	return name && name->kind == YAML_SCALAR ? name->text.p : "?";
}

/* The items of a list; none when it is missing or not a list. */
static size_t list_length(const struct yaml *list)
{
	return list && list->kind == YAML_LIST ? list->n : 0;
}

static int emit_unknown(const struct fault_report *t, const struct yaml *node, const char *stage)
{
	const char *name = node && node->kind == YAML_SCALAR ? node->text.p : "not a name";

	if (!event_fault_at(t, node, "(UnknownHarness)"))
		return 0;
	return event_report(t->dir, EVENT_UNKNOWN_HARNESS, NULL, stage,
		JSON_OBJECT(JSON_TEXT("harness", name)), t->err);
}

/* The harness under key `one` of a map, and the list under `many`. */
static int emit_unknown_of(const struct fault_report *t, const struct yaml *map, const char *one,
	const char *many, const char *stage)
{
	const struct yaml *list = yaml_get(map, many);

	if (emit_unknown(t, yaml_get(map, one), stage) < 0)
		return -1;
	for (size_t i = 0; i < list_length(list); i++)
		if (emit_unknown(t, list->list[i], stage) < 0)
			return -1;
	return 0;
}

static void event_collect(
	const struct fault_report *t, const struct yaml *stage, json *cycles, json *databases)
{
	const struct yaml *list = yaml_get(stage, "requiresIndependentHarnessFrom");

	for (size_t i = 0; i < list_length(list); i++) {
		const struct error *f =
			event_fault_at(t, list->list[i], "(CyclicIndependenceConstraint)");

		if (f)
			json_push_str(cycles,
				str_of(arena_printf(t->a, "%s: %s", stage_name(stage), f->text)));
	}
	if (event_fault_at(t, yaml_get(stage, "databaseAccess"), "(DatabaseIsolationRequired)"))
		json_push_str(databases, str_of(stage_name(stage)));
}

static int emit_list(
	const struct fault_report *t, enum event_id id, const char *key, const json *list)
{
	return json_first(list) ? event_report(t->dir, id, NULL, NULL,
					  JSON_OBJECT(JSON_VALUE(key, json_copy(list))), t->err)
				: 0;
}

static int report_pipeline(const struct fault_report *t)
{
	CLEANUP(json_free) json *cycles = json_array();
	CLEANUP(json_free) json *databases = json_array();
	const struct yaml *spec = yaml_get(t->doc->tree, "spec"),
			  *stages = yaml_get(spec, "stages");

	if (emit_unknown_of(t, spec, "defaultHarness", "defaultHarnessFallback", NULL) < 0)
		return -1;
	for (size_t i = 0; i < list_length(stages); i++) {
		const struct yaml *stage = stages->list[i];

		if (emit_unknown_of(t, stage, "harness", "harnessFallback", stage_name(stage)) < 0)
			return -1;
		event_collect(t, stage, cycles, databases);
	}
	if (emit_list(t, EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT, "constraints", cycles) < 0)
		return -1;
	return emit_list(t, EVENT_DATABASE_ISOLATION_REQUIRED, "stages", databases);
}

int event_report_faults(
	struct arena *a, const char *dir, const struct resources *r, struct error *err)
{
	struct fault_report t = {.a = a, .dir = dir, .r = r, .err = err};

	for (size_t i = 0; i < r->n_docs; i++) {
		t.doc = &r->docs[i];
		if (t.doc->kind == &resource_kind_pipeline && report_pipeline(&t) < 0)
			return -1;
	}
	return 0;
}

json *event_parallelism_json(const struct pipeline *p, const struct parallelism *r)
{
	json *j = JSON_OBJECT(JSON_TEXT("pipeline", p->name), JSON_INT("maxConcurrent", r->max),
		JSON_TEXT("source", parallelism_word(r->source)),
		JSON_IF(r->before != r->max, JSON_INT("clampedFrom", r->before)));
	json *list;

	if (r->source != PARALLELISM_PLANS)
		return j;
	list = json_array();
	for (size_t i = 0; i < r->plans.n; i++)
		json_push_str(list, str_of(r->plans.list[i]));
	json_put(j, "plans", list);
	json_put(j, "harnesses", list = json_object());
	for (size_t i = 0; i < r->n_shares; i++)
		json_put_int(list, r->shares[i].harness, r->shares[i].value);
	return j;
}

int event_report_parallelism(
	const char *dir, const struct pipeline *p, const struct parallelism *r, struct error *err)
{
	CLEANUP(json_free) json *fields = event_parallelism_json(p, r), *members = json_object();
	const struct event event = {.id = EVENT_RESOLVED_PARALLELISM, .fields = fields};
	json *row, *record;

	if (!dir)
		return 0;
	row = json_object();
	record = json_copy(fields);
	json_drop(record, "pipeline");
	json_put(row, p->name, record);
	json_put(members, "resolvedParallelism", row);
	if (artifact_merge_runtime(dir, PIPELINE_SCOPE, members, err) < 0)
		return -1;
	return event_emit(dir, &event, err);
}
