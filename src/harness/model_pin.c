#include "src/base/clock.h"
#include "src/harness/pipeline.h"

/* Members of runtime.json: {STAGE: {alias, modelId, source}} and, of the pipeline only, {ALIAS: the
 * removal date that was announced}. */
#define PINNED    "models"
#define ANNOUNCED "modelGraceTold"

/* ---- events ---- */

/* NULL if there is no date. */
static const char *date_text(int64_t t, char text[CLOCK_TEXT])
{
	if (!t)
		return NULL;
	clock_text(t, text);
	return text;
}

/* A removal date that was moved is announced again. */
static int is_announced(const char *dir, const struct model_entry *e, const char *date, bool *yes,
	struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	const char *before;

	if (artifact_read_runtime(dir, PIPELINE_SCOPE, &runtime, err) < 0)
		return -1;
	before = json_get_str(json_get(runtime, ANNOUNCED), e->alias);
	*yes = before && strcmp(before, date) == 0;
	return 0;
}

/* Emitted before it is recorded: a crash in between announces it twice rather than never. */
static int emit_grace(
	const char *dir, const char *stage, const struct model_entry *e, struct error *err)
{
	CLEANUP(json_free) json *members = json_object();
	json *announced = json_object();
	char date[CLOCK_TEXT];
	bool already;

	clock_text(e->removed, date);
	json_put_str(announced, e->alias, str_of(date));
	json_put(members, ANNOUNCED, announced);
	if (is_announced(dir, e, date, &already, err) < 0)
		return -1;
	if (already)
		return 0;
	if (harness_emit(dir, NULL, stage, EVENT_MODEL_DEPRECATION_GRACE_PERIOD, err, "alias",
		    e->alias, "removedAt", date, NULL) < 0)
		return -1;
	return artifact_merge_runtime(dir, PIPELINE_SCOPE, members, err);
}

int harness_emit_model(
	const char *dir, const char *stage, const struct model_resolved *m, struct error *err)
{
	const struct model_entry *e = m->entry;
	char text[CLOCK_TEXT];
	const char *date;

	if (!dir || !e)
		return 0;
	date = date_text(e->removed, text);
	if (m->removed)
		return harness_emit(dir, NULL, stage, EVENT_MODEL_REMOVED, err, "alias", e->alias,
			"modelId", e->id, "removedAt", date, NULL);
	if (m->deprecated && harness_emit(dir, NULL, stage, EVENT_MODEL_DEPRECATED, err, "alias",
				     e->alias, "modelId", e->id, "removedAt", date,
				     "replacementAlias", e->replacement, NULL) < 0)
		return -1;
	return m->grace ? emit_grace(dir, stage, e, err) : 0;
}

/* ---- pinning ---- */

/* Agents can write to the directory, and the id goes onto command lines: a malformed id is ignored.
 */
static const char *pinned_id(const json *runtime, const char *stage)
{
	const char *id = json_get_str(json_get(json_get(runtime, PINNED), stage), "modelId");

	return id && model_id_valid(str_of(id)) ? id : NULL;
}

static json *pin_row(const struct model_pin *pin)
{
	json *row = json_object();

	if (pin->model.alias)
		json_put_str(row, "alias", str_of(pin->model.asked));
	else
		json_put_null(row, "alias");
	json_put_str(row, "modelId", str_of(pin->model.id));
	json_put_str(row, "source", str_of(pin->model.source));
	return row;
}

static int write_pins(const char *dir, const char *issue, const struct model_pin *pins, size_t n,
	struct error *err)
{
	CLEANUP(json_free) json *members = json_object();
	json *rows = json_object();

	for (size_t i = 0; i < n; i++)
		if (!pins[i].kept || strcmp(issue, PIPELINE_SCOPE) == 0)
			json_put(rows, pins[i].stage, pin_row(&pins[i]));
	json_put(members, PINNED, rows);
	return json_first(rows) ? artifact_merge_runtime(dir, issue, members, err) : 0;
}

/* Adds the place of the stage. */
static int fault_at_stage(const struct pipeline *p, const struct stage_spec *s, struct error *err)
{
	if (err->code == ERR_INPUT && p->file && s->line)
		(void)snprintf(err->file, sizeof(err->file), "%s", p->file);
	err->line = err->file[0] ? s->line : 0;
	err->col = err->file[0] ? s->col : 0;
	return error_prefix(err, "stage '%s'", s->name);
}

static int pin_stage(struct arena *a, const struct pipeline_question *q, const struct stage_spec *s,
	const char *pinned, struct model_pin *pin, struct error *err)
{
	const struct pipeline *p = q->pipeline;
	int rc = model_resolve(q->registry, s->model,
		p->default_model_declared ? p->default_model : NULL, q->now, &pin->model, err);
	struct error ignored;

	pin->stage = s->name;
	if (pinned && !pin->model.removed) {
		pin->model.id = arena_dup(a, str_of(pinned));
		pin->kept = true;
		rc = 0;
	}
	if (rc == 0)
		return harness_emit_model(q->artifacts, s->name, &pin->model, err);
	(void)harness_emit_model(q->artifacts, s->name, &pin->model, &ignored);
	return fault_at_stage(p, s, err);
}

int harness_pin_models(struct arena *a, const struct pipeline_question *q, const char *issue,
	struct model_pin **out, struct error *err)
{
	CLEANUP(json_free) json *before = NULL;
	const struct pipeline *p = q->pipeline;

	*out = arena_alloc(a, (p->n_stages + 1) * sizeof(**out));
	if (q->artifacts && issue && artifact_read_runtime(q->artifacts, issue, &before, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		if (pin_stage(a, q, &p->stages[i], pinned_id(before, p->stages[i].name), &(*out)[i],
			    err) < 0)
			return -1;
	if (!q->artifacts)
		return 0;
	if (write_pins(q->artifacts, PIPELINE_SCOPE, *out, p->n_stages, err) < 0)
		return -1;
	return issue ? write_pins(q->artifacts, issue, *out, p->n_stages, err) : 0;
}
