#include "src/event/event.h"
#include "src/config/kinds.h"
#include "src/event/pipeline_report.h"

struct telling {
	struct arena *a;
	const char *dir;
	const struct resources *r;
	const struct resource_doc *doc;
	struct error *err;
};

/* The fault at `node` that has `class` in its text; NULL. */
static const struct error *fault_at(
	const struct telling *t, const struct yml *node, const char *class)
{
	for (size_t i = 0; node && i < t->r->n_faults; i++) {
		const struct error *f = &t->r->faults[i];

		if (f->line == node->line && f->col == node->col &&
			strcmp(f->file, t->doc->file) == 0 && strstr(f->text, class))
			return f;
	}
	return NULL;
}

static const char *name_of(const struct yml *stage)
{
	const struct yml *name = yml_get(stage, "name");

	return name && name->kind == YML_SCALAR ? name->text.p : "?";
}

static int tell(const struct telling *t, enum event_id what, const char *stage, const json *fields)
{
	const struct event h = {.id = what, .stage = stage, .fields = fields};

	return event_emit(t->dir, &h, t->err);
}

static int unknown(const struct telling *t, const struct yml *node, const char *stage)
{
	CLEANUP(json_free) json *fields = NULL;

	if (!fault_at(t, node, "(UnknownHarness)"))
		return 0;
	fields = json_object();
	json_put_str(
		fields, "harness", node->kind == YML_SCALAR ? node->text : STR("what is no name"));
	return tell(t, EVENT_UNKNOWN_HARNESS, stage, fields);
}

/* A name, and those of a list. */
static int unknown_in(const struct telling *t, const struct yml *map, const char *one,
	const char *many, const char *stage)
{
	const struct yml *list = yml_get(map, many);

	if (unknown(t, yml_get(map, one), stage) < 0)
		return -1;
	for (size_t i = 0; list && list->kind == YML_LIST && i < list->n; i++)
		if (unknown(t, list->list[i], stage) < 0)
			return -1;
	return 0;
}

static void collect(const struct telling *t, const struct yml *stage, json *cycles, json *databases)
{
	const struct yml *list = yml_get(stage, "requiresIndependentHarnessFrom");

	for (size_t i = 0; list && list->kind == YML_LIST && i < list->n; i++) {
		const struct error *f =
			fault_at(t, list->list[i], "(CyclicIndependenceConstraint)");

		if (f)
			json_push_str(cycles,
				str_of(arena_printf(t->a, "%s: %s", name_of(stage), f->text)));
	}
	if (fault_at(t, yml_get(stage, "databaseAccess"), "(DatabaseIsolationRequired)"))
		json_push_str(databases, str_of(name_of(stage)));
}

static int tell_list(const struct telling *t, enum event_id what, const char *key, const json *list)
{
	CLEANUP(json_free) json *fields = NULL;

	if (!json_first(list))
		return 0;
	fields = json_object();
	json_put(fields, key, json_copy(list));
	return tell(t, what, NULL, fields);
}

static int tell_pipeline(const struct telling *t)
{
	CLEANUP(json_free) json *cycles = json_array();
	CLEANUP(json_free) json *databases = json_array();
	const struct yml *spec = yml_get(t->doc->tree, "spec"), *stages = yml_get(spec, "stages");

	if (unknown_in(t, spec, "defaultHarness", "defaultHarnessFallback", NULL) < 0)
		return -1;
	for (size_t i = 0; stages && stages->kind == YML_LIST && i < stages->n; i++) {
		const struct yml *stage = stages->list[i];

		if (unknown_in(t, stage, "harness", "harnessFallback", name_of(stage)) < 0)
			return -1;
		collect(t, stage, cycles, databases);
	}
	if (tell_list(t, EVENT_CYCLIC_INDEPENDENCE_CONSTRAINT, "constraints", cycles) < 0)
		return -1;
	return tell_list(t, EVENT_DATABASE_ISOLATION_REQUIRED, "stages", databases);
}

int pipeline_report_faults(
	struct arena *a, const char *dir, const struct resources *r, struct error *err)
{
	struct telling t = {.a = a, .dir = dir, .r = r, .err = err};

	for (size_t i = 0; i < r->n_docs; i++) {
		t.doc = &r->docs[i];
		if (t.doc->kind->fields == pipeline_fields && tell_pipeline(&t) < 0)
			return -1;
	}
	return 0;
}
