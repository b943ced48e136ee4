#include "src/base/clock.h"
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "src/harness/pipeline.h"
#include "src/run/locate.h"

struct models_options {
	const char *registry, *pipeline, *resources, *artifacts, *issue, *stages;
	bool dry_run, json;
};

static const struct option registry_options[] = {
	OPTION_TEXT(struct models_options, registry, "registry", "FILE",
		"the models; default: .dev-team/models.yaml of the repository, else the shipped "
		"ones"),
	CLI_JSON(struct models_options),
	OPTION_END,
};
static const struct option pipeline_options[] = {
	OPTION_TEXT(struct models_options, pipeline, "pipeline", "NAME",
		"every stage of this pipeline, with its default"),
	CLI_RESOURCES(struct models_options),
	OPTION_END,
};
static const struct option resolve_options[] = {
	CLI_ARTIFACTS(struct models_options),
	OPTION_TEXT(struct models_options, issue, "issue", "ID",
		"with --pipeline and --artifacts: also pin the ids for this issue"),
	OPTION_END,
};
static const struct option bump_options[] = {
	OPTION_TEXT(struct models_options, stages, "stages", "STAGE:MODEL,...",
		"check these instead of a pipeline"),
	OPTION_FLAG(
		struct models_options, dry_run, "dry-run", "required, as nothing is ever changed"),
	OPTION_END,
};

/* *out NULL: --pipeline was not given. */
static int open_pipeline(struct invocation *in, const struct pipeline **out, struct error *err)
{
	const struct models_options *o = in->values;
	const struct pipeline_choice choice = {
		.name = o->pipeline, .resources = o->resources, .missing = ERR_INPUT};
	struct resources *r = arena_alloc(in->arena, sizeof(*r));

	*out = NULL;
	return o->pipeline ? locate_pipeline(in->arena, &choice, r, out, err) : 0;
}

static void warn_if_stale(const struct model_entry *e, int64_t now)
{
	if (model_stale(e, now))
		error_log("dev-team: model '%s' has been deprecated for over %d days, and lacks "
			  "'removedAt'",
			e->alias, MODEL_STALE_DAYS);
}

/* ---- list ---- */

static json *entry_json(const struct model_entry *e, const char *state, int64_t now)
{
	return JSON_OBJECT(JSON_TEXT("alias", e->alias), JSON_TEXT("modelId", e->id),
		JSON_TEXT("state", state), JSON_TIME("deprecatedAt", e->deprecated),
		JSON_TIME("removedAt", e->removed), JSON_TEXT("replacementAlias", e->replacement),
		JSON_TEXT("use", e->use), JSON_BOOL("stale", model_stale(e, now)),
		JSON_IF(e->price_verified,
			JSON_VALUE("price", JSON_OBJECT(JSON_NUMBER("input", e->input_usd),
						    JSON_NUMBER("output", e->output_usd),
						    JSON_TIME("verified", e->price_verified)))));
}

static void models_put_entry(struct buf *out, const struct model_entry *e, const char *state)
{
	buf_addf(out, "%-12s %-28s %-10s", e->alias, e->id, state);
	if (e->replacement)
		buf_addf(out, " use %s", e->replacement);
	else if (e->use)
		buf_addf(out, " %s", e->use);
	cli_end_row(out);
}

static int models_run_list(struct invocation *in, struct error *err)
{
	const struct models_options *o = in->values;
	struct model_registry r;
	int64_t now = clock_now();
	json *list;

	if (locate_models(in->arena, o->registry, NULL, &r, err) < 0)
		return -1;
	list = json_array();
	for (size_t i = 0; i < r.n; i++) {
		const char *state = model_state(&r.list[i], now);

		warn_if_stale(&r.list[i], now);
		json_push(list, entry_json(&r.list[i], state, now));
		models_put_entry(in->out, &r.list[i], state);
	}
	cli_put_json(in, o->json, list);
	return 0;
}

/* ---- resolve ---- */

/* The events of an alias; `ok` for one that is active; none for an id, whose dates are unknown. */
static json *models_events_json(const struct model_resolved *m)
{
	const struct model_entry *e = m->entry;
	json *list = json_array();

	if (m->deprecated)
		json_push(list, JSON_OBJECT(JSON_TEXT("type", "ModelDeprecated"),
					JSON_TEXT("alias", e->alias), JSON_TEXT("modelId", e->id),
					JSON_TIME("removedAt", e->removed),
					JSON_TEXT("replacementAlias", e->replacement)));
	if (m->grace)
		json_push(list,
			JSON_OBJECT(JSON_TEXT("type", "ModelDeprecationGracePeriod"),
				JSON_TEXT("alias", e->alias), JSON_TIME("removedAt", e->removed)));
	if (e && !m->deprecated)
		json_push(list, JSON_OBJECT(JSON_TEXT("type", "ok"), JSON_TEXT("alias", e->alias),
					JSON_TEXT("modelId", e->id)));
	return list;
}

static json *resolved_json(const char *stage, const struct model_resolved *m, bool kept)
{
	return JSON_OBJECT(JSON_IF(stage, JSON_TEXT("stage", stage)), JSON_TEXT("asked", m->asked),
		JSON_TEXT("alias", m->alias ? m->asked : NULL), JSON_TEXT("modelId", m->id),
		JSON_TEXT("source", m->source), JSON_IF(stage, JSON_BOOL("pinned", kept)),
		JSON_VALUE("events", models_events_json(m)));
}

static void warn(const struct model_resolved *m, int64_t now)
{
	const struct model_entry *e = m->entry;
	char day[CLOCK_TEXT];

	if (!e)
		return;
	clock_text(e->removed, day);
	if (m->deprecated)
		error_log("dev-team: model '%s' is deprecated%s%s: use '%s'", e->alias,
			e->removed ? ", and will be removed at " : "", e->removed ? day : "",
			e->replacement);
	warn_if_stale(e, now);
	if (model_removal_unannounced(e, now))
		error_log("dev-team: model '%s' is removed at %s, and was never deprecated",
			e->alias, day);
}

static void add_resolved(
	struct buf *text, json *list, const char *stage, const struct model_resolved *m, bool kept)
{
	warn(m, clock_now());
	json_push(list, resolved_json(stage, m, kept));
	if (stage)
		buf_addf(text, "%-24s %-12s %s\n", stage, m->asked, m->id);
	else
		buf_addf(text, "%s\n", m->id);
}

static int resolve_stages(struct invocation *in, const struct model_registry *r,
	const struct pipeline *p, struct buf *text, json *list, struct error *err)
{
	const struct models_options *o = in->values;
	struct model_pin *pins;
	const char *dir = NULL;

	if (in->n)
		return error_set(err, ERR_USAGE, "give models or --pipeline, not both");
	if (o->issue && !o->artifacts)
		return error_set(err, ERR_USAGE, "--issue needs --artifacts, to pin them in");
	if ((o->artifacts && locate_artifacts(in->arena, o->artifacts, NULL, &dir, err) < 0) ||
		harness_pin_models(in->arena,
			&(struct pipeline_question){
				.pipeline = p, .registry = r, .artifacts = dir, .now = clock_now()},
			o->issue, &pins, err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_stages; i++)
		add_resolved(text, list, pins[i].stage, &pins[i].model, pins[i].kept);
	return 0;
}

static int resolve_words(struct invocation *in, const struct model_registry *r, struct buf *text,
	json *list, struct error *err)
{
	const struct models_options *o = in->values;

	if (!in->n)
		return error_set(err, ERR_USAGE, "give models, or --pipeline");
	if (o->artifacts || o->issue)
		return error_set(err, ERR_USAGE, "--artifacts and --issue need --pipeline");
	for (size_t i = 0; i < in->n; i++) {
		struct model_resolved m;

		if (model_resolve(r, in->words[i], NULL, clock_now(), &m, err) < 0)
			return -1;
		add_resolved(text, list, NULL, &m, false);
	}
	return 0;
}

static int models_run_resolve(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = json_array();
	const struct models_options *o = in->values;
	struct model_registry r;
	const struct pipeline *p;

	if (locate_models(in->arena, o->registry, NULL, &r, err) < 0 ||
		open_pipeline(in, &p, err) < 0)
		return -1;
	if ((p ? resolve_stages(in, &r, p, in->out, list, err)
	       : resolve_words(in, &r, in->out, list, err)) < 0)
		return -1;
	cli_put_json(in, o->json, json_copy(list));
	return 0;
}

/* ---- bump-plan ---- */

static json *bump_json(const struct model_bump *row)
{
	const struct model_entry *e = row->entry;
	return JSON_OBJECT(JSON_TEXT("stage", row->stage), JSON_TEXT("alias", e->alias),
		JSON_TEXT("currentModelId", e->id), JSON_TIME("deprecatedAt", e->deprecated),
		JSON_TIME("removedAt", e->removed), JSON_TEXT("replacementAlias", e->replacement),
		JSON_TEXT("replacementModelId", row->replacement_id),
		JSON_BOOL("inGracePeriod", row->grace), JSON_BOOL("removed", row->removed));
}

static void put_bump(struct buf *out, const struct model_bump *row)
{
	const struct model_entry *e = row->entry;
	char day[CLOCK_TEXT];

	clock_text(e->removed, day);
	if (row->stage)
		buf_addf(out, "%s: ", row->stage);
	buf_addf(out, "%s (%s) -> %s (%s)", e->alias, e->id, e->replacement ? e->replacement : "?",
		row->replacement_id ? row->replacement_id : "not known");
	if (e->removed)
		buf_addf(out, ", %s %s", row->removed ? "removed at" : "ends at", day);
	buf_adds(out, row->grace ? ": within 30 days\n" : "\n");
}

static int run_bump(struct invocation *in, struct error *err)
{
	const struct models_options *o = in->values;
	const struct pipeline *p;
	struct model_registry r;
	struct model_bump *rows;
	json *list;
	size_t n;

	if (!o->dry_run)
		return error_set(err, ERR_USAGE,
			"'models bump-plan' needs --dry-run: it only prints what to change");
	if (locate_models(in->arena, o->registry, NULL, &r, err) < 0 ||
		open_pipeline(in, &p, err) < 0)
		return -1;
	if (p && o->stages)
		return error_set(err, ERR_USAGE, "give --stages or --pipeline, not both");
	if (model_bump_plan(in->arena, &r, p, o->stages, clock_now(), &rows, &n, err) < 0)
		return -1;
	list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_push(list, bump_json(&rows[i]));
		put_bump(in->out, &rows[i]);
	}
	cli_put_json(in, o->json, list);
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("list", NULL, models_run_list,
		"list aliases, ids, and which of them are deprecated",
		.options = {registry_options}),
	CLI_SUBCOMMAND("resolve", "[MODEL...]", models_run_resolve,
		"print the id of each MODEL, or of each stage of a pipeline",
		.details =
			"MODEL is an alias, an id, or 'inherit', the default. With --artifacts the "
			"events of a pipeline's models are written there and its ids are pinned.",
		.options = {registry_options, pipeline_options, resolve_options}),
	CLI_SUBCOMMAND("bump-plan", NULL, run_bump,
		"list stages whose model is deprecated or removed, with the replacement",
		.options = {registry_options, pipeline_options, bump_options}),
	NULL,
};

const struct verb verb_models = {
	.name = "models",
	.group = "Workflows",
	.about = "list models, resolve the model of a stage, and plan replacements",
	.details = "Exit status: 3 if the registry is refused or a model is unknown; 4 if a model "
		   "was removed.",
	.examples = "dev-team models resolve sonnet inherit\n"
		    "dev-team models bump-plan --dry-run --pipeline implement-task",
	.size = sizeof(struct models_options),
	.subcommands = subcommands,
};
