#include "src/event/pipeline_report.h"
#include "src/config/kinds.h"
#include "src/event/event.h"

struct report {
	struct arena *a;
	const char *dir;
	const struct resources *r;
	const struct resource_doc *doc;
	struct error *err;
};

/* The fault at `node` whose text contains `class`; NULL. */
static const struct error *fault_at(
	const struct report *t, const struct yaml *node, const char *class)
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

/* Takes `fields`. */
static int emit(const struct report *t, enum event_id id, const char *stage, json *fields)
{
	const struct event event = {.id = id, .stage = stage, .fields = fields};
	int rc = event_emit(t->dir, &event, t->err);

	json_free(&fields);
	return rc;
}

static int emit_unknown(const struct report *t, const struct yaml *node, const char *stage)
{
	json *fields;

	if (!fault_at(t, node, "(UnknownHarness)"))
		return 0;
	fields = json_object();
	json_put_str(
		fields, "harness", node->kind == YAML_SCALAR ? node->text : STR("what is no name"));
	return emit(t, EVENT_UNKNOWN_HARNESS, stage, fields);
}

/* The harness under key `one` of a map, and the list under `many`. */
static int emit_unknown_of(const struct report *t, const struct yaml *map, const char *one,
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

static void collect(const struct report *t, const struct yaml *stage, json *cycles, json *databases)
{
	const struct yaml *list = yaml_get(stage, "requiresIndependentHarnessFrom");

	for (size_t i = 0; i < list_length(list); i++) {
		const struct error *f =
			fault_at(t, list->list[i], "(CyclicIndependenceConstraint)");

		if (f)
			json_push_str(cycles,
				str_of(arena_printf(t->a, "%s: %s", stage_name(stage), f->text)));
	}
	if (fault_at(t, yaml_get(stage, "databaseAccess"), "(DatabaseIsolationRequired)"))
		json_push_str(databases, str_of(stage_name(stage)));
}

static int emit_list(const struct report *t, enum event_id id, const char *key, const json *list)
{
	json *fields;

	if (!json_first(list))
		return 0;
	fields = json_object();
	json_put(fields, key, json_copy(list));
	return emit(t, id, NULL, fields);
}

static int report_pipeline(const struct report *t)
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
		collect(t, stage, cycles, databases);
	}
	if (emit_list(t, EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT, "constraints", cycles) < 0)
		return -1;
	return emit_list(t, EVENT_DATABASE_ISOLATION_REQUIRED, "stages", databases);
}

int pipeline_report_faults(
	struct arena *a, const char *dir, const struct resources *r, struct error *err)
{
	struct report t = {.a = a, .dir = dir, .r = r, .err = err};

	for (size_t i = 0; i < r->n_docs; i++) {
		t.doc = &r->docs[i];
		if (t.doc->kind->fields == pipeline_fields && report_pipeline(&t) < 0)
			return -1;
	}
	return 0;
}

json *pipeline_parallelism_json(const struct pipeline *p, const struct parallelism *r)
{
	json *j = json_object(), *list;

	json_put_str(j, "pipeline", str_of(p->name));
	json_put_int(j, "maxConcurrent", r->max);
	json_put_str(j, "source", str_of(parallelism_word(r->source)));
	if (r->before != r->max)
		json_put_int(j, "clampedFrom", r->before);
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

int pipeline_report_parallelism(
	const char *dir, const struct pipeline *p, const struct parallelism *r, struct error *err)
{
	CLEANUP(json_free) json *fields = pipeline_parallelism_json(p, r), *members = json_object();
	const struct event event = {.id = EVENT_RESOLVED_PARALLELISM, .fields = fields};
	json *row, *record;

	if (!dir)
		return 0;
	row = json_object();
	record = json_copy(fields);
	json_drop(record, "pipeline");
	json_put(row, p->name, record);
	json_put(members, "resolvedParallelism", row);
	if (runtime_merge(dir, PIPELINE_SCOPE, members, err) < 0)
		return -1;
	return event_emit(dir, &event, err);
}
