#include "src/base/log.h"
#include "src/cli/models.h"
#include "src/cli/subcommands.h"
#include "src/base/clock.h"
#include "src/cli/common.h"
#include "src/cli/registry.h"

static const struct option_spec options[] = {
	ARTIFACTS_OPTION,
	RESOURCES_OPTION,
	[MODELS_REGISTRY] = {"registry", "FILE",
		"the models there are; default: .dev-team/models.yaml of the repository, else the "
		"built-in ones",
		false},
	[MODELS_PIPELINE] = {"pipeline", "NAME",
		"of the resources: each of its stages, with its default", false},
	[MODELS_ISSUE] = {"issue", "ID",
		"for 'resolve --pipeline --artifacts': pin them for this issue, too", false},
	[MODELS_STAGES] = {"stages", "STAGE:MODEL,...", "for 'bump-plan': these", false},
	[MODELS_DRY_RUN] = {"dry-run", NULL, "for 'bump-plan', which changes nothing: needed",
		false},
	[MODELS_JSON] = {"json", NULL, "the result as JSON", false},
	{0},
};

int models_registry(struct invocation *in, struct model_registry *out, struct error *err)
{
	const char *file = in->args->value[MODELS_REGISTRY];

	return file ? model_registry_load(in->arena, file, out, err) : registry_open(in->arena, out, err);
}

int models_pipeline(struct invocation *in, const struct pipeline **out, struct error *err)
{
	const char *name = in->args->value[MODELS_PIPELINE];
	struct resources *r = arena_alloc(in->arena, sizeof(*r));
	char *dir;

	*out = NULL;
	if (!name)
		return 0;
	if (resources_folder(in->arena, in->args->value[RESOURCES], NULL, &dir, err) < 0)
		return -1;
	if (!dir)
		return error_set(err, ERR_USAGE,
			"no folder of resources: give --resources, or make .dev-team/resources");
	if (resources_need(in->arena, dir, r, err) < 0)
		return -1;
	*out = resources_pipeline(r, name);
	return *out ? 0
		    : error_set(err, ERR_INPUT, "there is no pipeline '%.100s' in '%.400s'", name,
			      dir);
}

void models_put_text(json *object, const char *key, const char *text)
{
	if (text)
		json_put_str(object, key, str_of(text));
	else
		json_put_null(object, key);
}

void models_put_time(json *object, const char *key, int64_t t)
{
	char text[CLOCK_TEXT];

	clock_text(t, text);
	models_put_text(object, key, t ? text : NULL);
}

void models_put(struct invocation *in, const json *j)
{
	json_print(in->out, j);
	buf_addc(in->out, '\n');
}

/* ---- list ---- */

static const char *state_of(const struct model_registry *r, const char *alias, int64_t now)
{
	struct model_resolved m;
	struct error ignored;

	(void)model_resolve(r, alias, NULL, now, &m, &ignored);
	return m.removed ? "removed" : m.grace ? "grace" : m.deprecated ? "deprecated" : "active";
}

static json *entry_json(const struct model_registry *r, const struct model_entry *e, int64_t now)
{
	json *j = json_object();

	json_put_str(j, "alias", str_of(e->alias));
	json_put_str(j, "modelId", str_of(e->id));
	json_put_str(j, "state", str_of(state_of(r, e->alias, now)));
	models_put_time(j, "deprecatedAt", e->deprecated);
	models_put_time(j, "removedAt", e->removed);
	models_put_text(j, "replacementAlias", e->replacement);
	models_put_text(j, "use", e->use);
	json_put_bool(j, "stale", model_stale(e, now));
	return j;
}

static void put_entry(struct invocation *in, const struct model_registry *r,
	const struct model_entry *e, int64_t now)
{
	buf_addf(in->out, "%-12s %-28s %-10s", e->alias, e->id, state_of(r, e->alias, now));
	if (e->replacement)
		buf_addf(in->out, " use %s", e->replacement);
	else if (e->use)
		buf_addf(in->out, " %s", e->use);
	while (in->out->s[in->out->len - 1] == ' ')
		buf_cut(in->out, in->out->len - 1);
	buf_addc(in->out, '\n');
}

static int run_list(struct invocation *in, struct error *err)
{
	CLEANUP(json_free) json *list = json_array();
	struct model_registry r;
	int64_t now = clock_now();

	if (models_registry(in, &r, err) < 0)
		return -1;
	for (size_t i = 0; i < r.n; i++) {
		if (model_stale(&r.list[i], now))
			log_line("dev-team: model '%s' has been deprecated for over %d days, and "
				 "lacks "
				 "'removedAt'",
				r.list[i].alias, MODEL_STALE_DAYS);
		if (in->args->value[MODELS_JSON])
			json_push(list, entry_json(&r, &r.list[i], now));
		else
			put_entry(in, &r, &r.list[i], now);
	}
	if (in->args->value[MODELS_JSON])
		models_put(in, list);
	return 0;
}

/* ---- the parts ---- */

enum { COMMON = OPTION(MODELS_REGISTRY) | OPTION(MODELS_JSON) };

static const struct subcommand parts[] = {
	{"list", run_list, COMMON, 0, 0},
	{"resolve", models_resolve,
		COMMON | OPTION(MODELS_PIPELINE) | OPTION(RESOURCES) | OPTION(ARTIFACTS) |
			OPTION(MODELS_ISSUE),
		0, MAX_WORDS},
	{"bump-plan", models_bump,
		COMMON | OPTION(MODELS_PIPELINE) | OPTION(RESOURCES) | OPTION(MODELS_STAGES) |
			OPTION(MODELS_DRY_RUN),
		0, 0},
	{0},
};

static int run(struct invocation *in, struct error *err)
{
	return subcommand_run(&verb_models, parts, in, err);
}

const struct verb verb_models = {
	.name = "models",
	.synopsis = "list|resolve|bump-plan [OPTION...] [MODEL...]",
	.about = "the models there are, what a stage gets, and what has to be changed soon",
	.details =
		"  list               aliases, ids, and which of them end\n"
		"  resolve MODEL...   the id of each: of an alias, of an id itself, of 'inherit' "
		"the default's;\n"
		"                     with --pipeline of each of its stages; with --artifacts they "
		"are pinned\n"
		"  bump-plan          stages whose model is deprecated or removed, and what to "
		"use instead\n"
		"\n"
		"Exit status 3: the registry is refused, or a model is not known. 4: a model was "
		"removed.",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
