#include "src/base/log.h"
#include "src/base/clock.h"
#include "src/cli/models.h"
#include "src/cli/common.h"
#include "src/harness/models_pin.h"

static void push_event(json *list, const char *type, const struct model_entry *e)
{
	json *j = json_object();

	json_put_str(j, "type", str_of(type));
	json_put_str(j, "alias", str_of(e->alias));
	if (strcmp(type, "ModelDeprecationGracePeriod") != 0)
		json_put_str(j, "modelId", str_of(e->id));
	if (strcmp(type, "ok") != 0)
		models_put_time(j, "removedAt", e->removed);
	if (strcmp(type, "ModelDeprecated") == 0)
		models_put_text(j, "replacementAlias", e->replacement);
	json_push(list, j);
}

/* What is told of it; of one that is well, `ok`; of an id, which nobody knows the dates of,
 * nothing. */
static json *events_json(const struct model_resolved *m)
{
	json *list = json_array();

	if (m->deprecated)
		push_event(list, "ModelDeprecated", m->entry);
	if (m->grace)
		push_event(list, "ModelDeprecationGracePeriod", m->entry);
	if (m->entry && !m->deprecated)
		push_event(list, "ok", m->entry);
	return list;
}

static json *row_json(const char *stage, const struct model_resolved *m, bool kept)
{
	json *j = json_object();

	if (stage)
		json_put_str(j, "stage", str_of(stage));
	json_put_str(j, "asked", str_of(m->asked));
	models_put_text(j, "alias", m->alias ? m->asked : NULL);
	json_put_str(j, "modelId", str_of(m->id));
	json_put_str(j, "source", str_of(m->source));
	if (stage)
		json_put_bool(j, "pinned", kept);
	json_put(j, "events", events_json(m));
	return j;
}

/* What people should know beside the id. */
static void warn(const struct model_resolved *m, int64_t now)
{
	const struct model_entry *e = m->entry;
	char day[CLOCK_TEXT];

	if (!e)
		return;
	clock_text(e->removed, day);
	if (m->deprecated)
		log_line("dev-team: model '%s' is deprecated%s%s: use '%s'", e->alias,
			e->removed ? ", and removed at " : "", e->removed ? day : "",
			e->replacement);
	if (model_stale(e, now))
		log_line("dev-team: model '%s' has been deprecated for over %d days, and lacks "
			 "'removedAt'",
			e->alias, MODEL_STALE_DAYS);
	if (model_removal_unannounced(e, now))
		log_line("dev-team: model '%s' is removed at %s, and was never deprecated",
			e->alias, day);
}

static void put_row(struct invocation *in, json *list, const char *stage,
	const struct model_resolved *m, bool kept)
{
	warn(m, clock_now());
	if (in->args->value[MODELS_JSON])
		json_push(list, row_json(stage, m, kept));
	else if (stage)
		buf_addf(in->out, "%-24s %-12s %s\n", stage, m->asked, m->id);
	else
		buf_addf(in->out, "%s\n", m->id);
}

/* -1: no option for it. NULL: nothing is written. */
static int pin_folder(struct invocation *in, char **dir, struct error *err)
{
	const char *given = in->args->value[ARTIFACTS];

	*dir = NULL;
	if (in->args->value[MODELS_ISSUE] && !given)
		return error_set(err, ERR_USAGE, "--issue needs --artifacts, to pin them in");
	return given ? artifacts_folder(in->arena, given, NULL, dir, err) : 0;
}

static int resolve_stages(struct invocation *in, const struct model_registry *r,
	const struct pipeline *p, json *list, struct error *err)
{
	struct model_pin *pins;
	char *dir;

	if (in->args->n > 1)
		return error_set(err, ERR_USAGE, "give models or --pipeline, not both");
	if (pin_folder(in, &dir, err) < 0 ||
		models_pin(in->arena, r, p, dir, in->args->value[MODELS_ISSUE], clock_now(), &pins,
			err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		put_row(in, list, pins[i].stage, &pins[i].model, pins[i].kept);
	return 0;
}

static int resolve_words(
	struct invocation *in, const struct model_registry *r, json *list, struct error *err)
{
	if (in->args->n < 2)
		return error_set(err, ERR_USAGE, "give models, or --pipeline");
	if (in->args->value[ARTIFACTS] || in->args->value[MODELS_ISSUE])
		return error_set(err, ERR_USAGE, "--artifacts and --issue need --pipeline");
	for (size_t i = 1; i < in->args->n; i++) {
		struct model_resolved m;

		if (model_resolve(r, in->args->words[i], NULL, clock_now(), &m, err) < 0)
			return -1;
		put_row(in, list, NULL, &m, false);
	}
	return 0;
}

int models_resolve(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = json_array();
	struct model_registry r;
	const struct pipeline *p;

	if (models_registry(in, &r, err) < 0 || models_pipeline(in, &p, err) < 0)
		return -1;
	if ((p ? resolve_stages(in, &r, p, list, err) : resolve_words(in, &r, list, err)) < 0)
		return -1;
	if (in->args->value[MODELS_JSON])
		models_put(in, list);
	return 0;
}
