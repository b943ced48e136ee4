#include "src/harness/models_pin.h"

/* Member of runtime.json: {STAGE: {alias, modelId, source}}. */
#define PINNED "models"

static int read_pins(const char *dir, const char *issue, json **out, struct error *err)
{
	*out = NULL;
	return dir && issue ? runtime_read(dir, issue, out, err) : 0;
}

/* It goes onto command lines, and agents can write to the folder: what is no id is no pin. */
static const char *pin_of(const json *runtime, const char *stage)
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
	return json_first(rows) ? runtime_merge(dir, issue, members, err) : 0;
}

/* The place of the stage goes in front, whatever was wrong with its model. */
static int at_stage(const struct pipeline *p, const struct stage_spec *s, struct error *err)
{
	if (err->code == ERR_INPUT && p->file && s->line)
		(void)snprintf(err->file, sizeof(err->file), "%s", p->file);
	err->line = err->file[0] ? s->line : 0;
	err->col = err->file[0] ? s->col : 0;
	return error_prefix(err, "stage '%s'", s->name);
}

static int pin_stage(struct arena *a, const struct model_registry *r, const struct pipeline *p,
	const struct stage_spec *s, const char *dir, const char *pinned, int64_t now,
	struct model_pin *pin, struct error *err)
{
	int rc;

	pin->stage = s->name;
	rc = model_resolve(r, s->model, p->default_model_declared ? p->default_model : NULL, now,
		&pin->model, err);
	if (pinned && !pin->model.removed) {
		pin->model.id = arena_dup(a, str_of(pinned));
		pin->kept = true;
	} else if (rc < 0) {
		struct error untold;

		(void)model_tell(dir, s->name, &pin->model, &untold); /* what is wrong counts */
		return at_stage(p, s, err);
	}
	return model_tell(dir, s->name, &pin->model, err);
}

int models_pin(struct arena *a, const struct model_registry *r, const struct pipeline *p,
	const char *dir, const char *issue, int64_t now, struct model_pin **out, struct error *err)
{
	CLEANUP(json_free) json *before = NULL;

	*out = arena_alloc(a, (p->n_stages + 1) * sizeof(**out));
	if (read_pins(dir, issue, &before, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		if (pin_stage(a, r, p, &p->stages[i], dir, pin_of(before, p->stages[i].name), now,
			    &(*out)[i], err) < 0)
			return -1;
	if (!dir)
		return 0;
	if (write_pins(dir, PIPELINE_SCOPE, *out, p->n_stages, err) < 0)
		return -1;
	return issue ? write_pins(dir, issue, *out, p->n_stages, err) : 0;
}

static int pinned_in(struct arena *a, const char *dir, const char *issue, const char *stage,
	const char **id, struct error *err)
{
	CLEANUP(json_free) json *runtime = NULL;
	const char *found;

	if (runtime_read(dir, issue, &runtime, err) < 0)
		return -1;
	found = pin_of(runtime, stage);
	*id = found ? arena_dup(a, str_of(found)) : NULL;
	return 0;
}

int model_pinned(struct arena *a, const char *dir, const char *issue, const char *stage,
	const char **id, struct error *err)
{
	if (pinned_in(a, dir, issue, stage, id, err) < 0)
		return -1;
	return *id ? 0 : pinned_in(a, dir, PIPELINE_SCOPE, stage, id, err);
}
