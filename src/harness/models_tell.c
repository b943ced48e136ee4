#include "src/base/clock.h"
#include "src/harness/models_pin.h"

/* Member of _pipeline/runtime.json: {ALIAS: the removal that was told of}. */
#define TOLD "modelGraceTold"

static void put_time(json *j, const char *key, int64_t t)
{
	char text[CLOCK_TEXT];

	if (!t)
		return;
	clock_text(t, text);
	json_put_str(j, key, str_of(text));
}

static int tell(const char *dir, const char *stage, enum event_id what, const json *fields,
	struct error *err)
{
	struct event h = {.id = what, .stage = stage, .fields = fields};

	return event_emit(dir, &h, err);
}

static int tell_model(const char *dir, const char *stage, const struct model_entry *e,
	enum event_id what, struct error *err)
{
	CLEANUP(json_free) json *j = json_object();

	json_put_str(j, "alias", str_of(e->alias));
	json_put_str(j, "modelId", str_of(e->id));
	put_time(j, "removedAt", e->removed);
	if (what == EVENT_MODEL_DEPRECATED && e->replacement)
		json_put_str(j, "replacementAlias", str_of(e->replacement));
	return tell(dir, stage, what, j, err);
}

/* A removal that was moved is news again. */
static int told(const char *dir, const struct model_entry *e, bool *yes, struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	char day[CLOCK_TEXT];
	const char *before;

	if (runtime_read(dir, PIPELINE_SCOPE, &runtime, err) < 0)
		return -1;
	clock_text(e->removed, day);
	before = json_get_str(json_get(runtime, TOLD), e->alias);
	*yes = before && strcmp(before, day) == 0;
	return 0;
}

/* Told first and noted then: a kill between the two tells it twice, never not at all. */
static int tell_grace(
	const char *dir, const char *stage, const struct model_entry *e, struct error *err)
{
	CLEANUP(json_free) json *fields = json_object();
	CLEANUP(json_free) json *note = json_object();
	json *of = json_object();
	bool already = false;

	put_time(of, e->alias, e->removed);
	json_put(note, TOLD, of);
	json_put_str(fields, "alias", str_of(e->alias));
	put_time(fields, "removedAt", e->removed);
	if (told(dir, e, &already, err) < 0)
		return -1;
	if (already)
		return 0;
	if (tell(dir, stage, EVENT_MODEL_DEPRECATION_GRACE_PERIOD, fields, err) < 0)
		return -1;
	return runtime_merge(dir, PIPELINE_SCOPE, note, err);
}

int model_tell(
	const char *dir, const char *stage, const struct model_resolved *m, struct error *err)
{
	if (!dir || !m->entry)
		return 0;
	if (m->removed)
		return tell_model(dir, stage, m->entry, EVENT_MODEL_REMOVED, err);
	if (m->deprecated && tell_model(dir, stage, m->entry, EVENT_MODEL_DEPRECATED, err) < 0)
		return -1;
	return m->grace ? tell_grace(dir, stage, m->entry, err) : 0;
}
